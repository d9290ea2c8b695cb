"""Predictions: what PyTorch does with small programs, written down before they run.

The programs are texts in `predictions.toml`, because a lab shows them and a check runs them with `xp = torch`. The answers are
data.
"""

from __future__ import annotations

import tomllib
from pathlib import Path

_PROGRAMS = tomllib.loads(Path(__file__).with_name("predictions.toml").read_text(encoding="utf-8"))
globals().update(_PROGRAMS)  # the tables `KERNELS`, `BACKWARD` and so on, each a dict by the names of programs

NOT_SHOWN = {
    "as_strided", "copy_", "detach", "empty", "empty_like", "empty_strided", "expand", "fill_", "resolve_conj", "transpose",
}  # fmt: skip


def view_or_copy() -> dict[str, str | list]:
    """The sizes, strides and storage offset of `y` in each of your programs, and whether it is a view of `x`.

    `draws.programs("view_or_copy", "Ada")` has the programs of a student with this name. For `x = xp.arange(6).view(2, 3)`,
    `a = x.t()` and `y = a[1:]` the prediction is `[[2, 2], [1, 3], 1, "view"]`. If the last line is `y = a.view(6)` instead, it
    raises an error, and the prediction is `[[3, 2], [1, 3], 0, "raises"]`.

    Returns:
        a dict with your name under "name", and a list under each letter from "a" to "d", and for the second draw from "e" to
        "h". The list has the sizes, the strides and the storage offset of `y`, and "view" if `y` has the storage of `x`, or
        "copy" if it has another one. If a line raises an error, the list has the sizes, strides and offset of the tensor on
        which this line works, and "raises".

    Source: `aten/src/ATen/TensorUtils.cpp`, `computeStride`; `aten/src/ATen/native/TensorShape.cpp`.
    """
    return {
        "name": "Ada",
        "a": [[4, 2, 2], [2, 1, 8], 0, "raises"],
        "b": [[4, 3], [6, 1], 3, "copy"],
        "c": [[2, 2, 2], [1, 2, 4], 4, "copy"],
        "d": [[3], [4], 1, "copy"],
    }


def kernels_run() -> dict[str, str | list[str]]:
    """The kernels that run below the comment in each of your programs, in order.

    `draws.programs("kernels_run", "Ada")` has the programs of a student with this name. For `y = x.exp()` of a tensor `x` on
    the CPU, the prediction is the list of "AutogradCPU exp" and "CPU exp".

    Returns:
        a dict with your name under "name", and a list of strings under each letter from "a" to "d", and for the second draw
        from "e" to "h". There is a string for each kernel: the key under which the dispatcher found it, a space, and the
        operator without its overload. A key that falls through has no kernel. Kernels of backends (`CPU`, `Meta`) may call
        operators themselves. These calls are left out. But the calls of a composite kernel with an implicit gradient are
        listed, also if it runs under the key of a backend.

    Source: `aten/src/ATen/core/dispatch/Dispatcher.h`, `Dispatcher::call` and `Dispatcher::redispatch`.
    """
    return {
        "name": "Ada",
        "a": ["AutogradCPU exp", "CPU exp", "AutocastCPU matmul", "AutogradCPU matmul", "AutogradCPU mm", "CPU mm"],
        "b": ["AutogradMeta matmul", "AutogradMeta mm", "Meta mm", "AutogradMeta matmul", "AutogradMeta mm", "Meta mm"],
        "c": ["CPU matmul", "CPU mm", "CPU mul"],
        "d": ["BackendSelect ones", "CPU ones", "AutogradCPU matmul", "AutogradCPU mm", "CPU mm"],
    }


def device_keys(program: str) -> list[str]:
    """The dispatch keys of the tensor `x` of a program of `DEVICES`, a new tensor with memory on a device.

    >>> DEVICES["example"]
    'x = xp.empty(2, device="cpu")'
    >>> device_keys("example")
    ['AutocastCPU', 'AutogradCPU', 'ADInplaceOrView', 'CPU']

    Args:
        program: a key of `DEVICES`.

    Returns:
        a list or a tuple of the names of the keys, the highest first. `x` has no key of a mode or of a subclass.

    Source: `c10/core/DispatchKeySet.h`, `getAutocastRelatedKeySetFromBackend` and `getAutogradRelatedKeySetFromBackend`;
    `c10/core/TensorImpl.cpp`, the constructor.
    """
    return {
        "example": ["AutocastCPU", "AutogradCPU", "ADInplaceOrView", "CPU"],
        "cuda": ["AutocastCUDA", "AutogradCUDA", "ADInplaceOrView", "CUDA"],
        "hip": ["AutogradOther", "ADInplaceOrView", "HIP"],
        "xpu": ["AutocastXPU", "XPU"],
        "mps": ["AutocastMPS", "AutogradMPS", "ADInplaceOrView", "MPS"],
        "mtia": ["AutocastMTIA", "AutogradMTIA", "ADInplaceOrView", "MTIA"],
        "xla": ["AutocastXLA", "AutogradXLA", "ADInplaceOrView", "XLA"],
        "own device": ["AutocastPrivateUse1", "AutogradPrivateUse1", "ADInplaceOrView", "PrivateUse1"],
        "sparse": ["AutocastCUDA", "AutogradCUDA", "ADInplaceOrView", "SparseCUDA"],
        "meta": ["AutogradMeta", "ADInplaceOrView", "Meta"],
    }[program]


def metadata_of_results() -> dict[str, str | list]:
    """The dtype, sizes and strides of `y` in each of your programs, or which check raises an error.

    `draws.programs("metadata_of_results", "Ada")` has the programs of a student with this name. For `x = xp.ones(3, 2).t()` and
    `y = x + 1`, the prediction is `["float32", [2, 3], [1, 2]]`. For `x = xp.ones(3, dtype=xp.int32)` and `y = x.add_(1.5)` it is
    `["raises", "dtype"]`.

    Returns:
        a dict with your name under "name", and a list under each letter from "a" to "d", and for the second draw from "e" to
        "h". The list has the name of the dtype, the sizes and the strides of `y`. If a line raises an error, the list has
        "raises" and a word that says what is refused: "sizes" if they do not broadcast, or not to the sizes of the tensor that is
        written in place, "dtype" if the result cannot be cast to the dtype of the tensor that is written, and "memory" if this
        tensor overlaps itself, or partly overlaps an operand. A division of integers or bools computes in float32.

    Source: `aten/src/ATen/TensorIterator.cpp`, `TensorIteratorBase::build`; `aten/src/ATen/native/TypeProperties.cpp`.
    """
    return {
        "name": "Ada",
        "a": ["float32", [2, 3], [1, 2]],
        "b": ["raises", "sizes"],
        "c": ["float32", [3, 4, 2], [8, 2, 1]],
        "d": ["float16", [4, 2, 3], [3, 12, 1]],
    }


def backward_order() -> dict[str, str | list[str]]:
    """The nodes that `loss.backward()` runs in each of your programs, in the order in which the engine runs them.

    `draws.programs("backward_order", "Ada")` has the programs of a student with this name. For `loss = x.exp().sum()` with a leaf
    `x` that requires grad, the prediction is the list of "SumBackward0", "ExpBackward0" and "AccumulateGrad".

    Returns:
        a dict with your name under "name", and a list of names of nodes under each letter from "a" to "d", and for the second draw
        from "e" to "h". A node has the name of its operator, such as "MulBackward0" for `*` and for `mul_`. Each leaf has an
        `AccumulateGrad` of its own, with an entry of its own.

    Source: `torch/csrc/autograd/engine.cpp`, `Engine::evaluate_function`.
    """
    return {
        "name": "Ada",
        "a": [
            "SumBackward0",
            "MulBackward0",
            "CosBackward0",
            "SubBackward0",
            "SinBackward0",
            "AddBackward0",
            "AccumulateGrad",
            "MulBackward0",
            "AccumulateGrad",
        ],
        "b": [
            "SumBackward0",
            "MulBackward0",
            "AddBackward0",
            "UnsqueezeBackward0",
            "MulBackward0",
            "CosBackward0",
            "AccumulateGrad",
        ],
        "c": ["SumBackward0", "AddBackward0", "MulBackward0", "AddBackward0", "SigmoidBackward0", "AccumulateGrad"],
        "d": [
            "SumBackward0",
            "MulBackward0",
            "ExpBackward0",
            "MulBackward0",
            "DivBackward0",
            "AccumulateGrad",
            "AccumulateGrad",
        ],
    }


def saved_tensors() -> dict[str, str | list[str]]:
    """The tensors that the nodes of each of your programs have saved when `loss` has been computed.

    `draws.programs("saved_tensors", "Ada")` has the programs of a student with this name. For `loss = x.exp().sum()` with a leaf
    `x` that requires grad, the prediction is the list of "ExpBackward0.result" alone. `sum` saves sizes, which are not a tensor.

    Returns:
        a dict with your name under "name", and a list of strings under each letter from "a" to "d", and for the second draw from
        "e" to "h". A string is a node's name, a dot, and the name that `derivatives.yaml` has for the tensor: `self`, `other` or
        `result`. First come those of the node that runs first in the backward pass. Those of one node are in alphabetical order.

    Source: `tools/autograd/derivatives.yaml`; `torch/csrc/autograd/saved_variable.cpp`.
    """
    return {
        "name": "Ada",
        "a": ["ExpBackward0.result", "DivBackward0.other"],
        "b": [
            "DivBackward0.other",
            "DivBackward0.self",
            "MulBackward0.other",
            "MulBackward0.self",
            "SqrtBackward0.result",
            "MulBackward0.other",
            "MulBackward0.self",
        ],
        "c": [
            "DivBackward0.other",
            "DivBackward0.self",
            "SigmoidBackward0.result",
            "DivBackward0.other",
            "DivBackward0.self",
        ],
        "d": [
            "MulBackward0.other",
            "MulBackward0.self",
            "MulBackward0.self",
            "MulBackward0.other",
            "MulBackward0.self",
        ],
    }


def shrink(program: str) -> str:
    """The smallest program that you find that fails as a program of `FAILING` fails, and for the same reason.

    "Fails as" means four things. The check runs both programs on torch and compares:

    - an exception of the same type leaves your program;
    - the first line of its message is the same, apart from dtypes and sizes in brackets, versions, and the hint at its end;
    - the same function of torch raises it, the last one in the traceback. For these programs it is `_engine_run_backward`;
    - it comes from the same node of the graph: the one that anomaly mode names in "Error detected in ...".

    "Small" means at most `TOKENS[program]` tokens: 38 for "attention", 64 for "critic" and 93 for "project". Python's `tokenize`
    counts. Each name, number, string and operator is one token, and so is each bracket, comma, colon and dot. Line ends,
    indentation and comments count nothing, so neither short names nor long lines make a program smaller.

    Your program is complete, with its imports, which are of `torch` and its public modules only, without `*`. In it no module or
    attribute begins with `_`, and no name that it defines begins with `__`, except `__init__`. It has no `try`, `global`, `async`
    or `match`. Each string in it is a word of at most 20 characters. Of Python's functions it may use `abs`, `all`, `any`, `bool`,
    `classmethod`, `dict`, `enumerate`, `float`, `int`, `len`, `list`, `map`, `max`, `min`, `print`, `property`, `range`,
    `reversed`, `round`, `set`, `slice`, `sorted`, `staticmethod`, `str`, `sum`, `super`, `tuple` and `zip`. So it runs no code that
    a string holds, such as an argument of `exec`.

    Args:
        program: a key of `FAILING`.

    Returns:
        a string, the text of your program. The lines after the first may all be indented, as in a docstring.

    Source: PyTorch's `CONTRIBUTING.md`, and its template of a bug report, which asks for a minimal and self-contained example;
    `torch/_functorch/fx_minifier.py`, `minifier`, which shrinks a graph in this way.
    """
    return {
        "attention": "import torch\nx = torch.ones(1, requires_grad=True)\ny = x.exp()\ny += 1\ny.backward()",
        "critic": "import torch\nlayer = torch.nn.Linear(1, 1)\ny = layer(layer(torch.ones(1)))\n"
        "with torch.no_grad():\n    layer.weight.zero_()\ny.backward()",
        "project": "import torch\nclass Project(torch.autograd.Function):\n    @staticmethod\n    def forward(ctx, x, weight):\n"
        "        return x\n    @staticmethod\n    def backward(ctx, grad):\n        return None, grad\n"
        "Project.apply(torch.ones(2), torch.ones(3, requires_grad=True)).sum().backward()",
    }[program]


def parameters_after() -> dict[str, str | list[int | None]]:
    """The values of `w` and `b`, and their gradients, at the end of each of your programs.

    `draws.programs("parameters_after", "Ada")` has the programs of a student with this name. If a program makes `w` of 4.0 and `b`
    of 8.0, and then `xp.optim.SGD([w, b], lr=1.0)`, `(2 * w).backward()` and `optimizer.step()`, the prediction is
    `[2, 8, 2, None]`: `w` has moved by its gradient of 2, and `b` has no gradient.

    Returns:
        a dict with your name under "name", and a list under each letter from "a" to "d", and for the second draw from "e" to
        "h". It has four entries: the values of `w`, `b`, `w.grad` and `b.grad`. An entry is an int, because all values are
        whole numbers, or None for a gradient that is None. A gradient that is 0 is 0.

    Source: `torch/optim/sgd.py`, `SGD.step`; `torch/optim/optimizer.py`, `Optimizer.zero_grad`.
    """
    return {
        "name": "Ada",
        "a": [8, -6, -4, 4],
        "b": [0, 4, None, 0],
        "c": [0, -6, None, 3],
        "d": [2, -10, None, None],
    }


def calls_received() -> dict[str, str | list[str]]:
    """The operators that modes and wrappers receive in each of your programs, in order.

    `draws.programs("calls_received", "Ada")` has the programs of a student with this name. `Mode("one")` is a
    `TorchDispatchMode`. It writes "one" and the operator into a list, and then calls the operator. `Noted` is a wrapper subclass.
    It writes "wrapper" and the operator, calls the operator with the tensors in its wrappers, and wraps the result. For
    `y = w @ x` of a wrapper `w` and a plain tensor `x`, in `Mode("one")`, the prediction is the list of "one mm" and
    "wrapper mm".

    Returns:
        a dict with your name under "name", and a list of strings under each letter from "a" to "d", and for the second draw
        from "e" to "h". There is a string for each operator that a mode or a wrapper receives: "one", "two" or "wrapper", a
        space, and the operator without its overload, such as "mul" for `*`, "add" for `+`, and "add_".

    Source: `torch/utils/_python_dispatch.py`, `TorchDispatchMode`; `torch/csrc/autograd/python_variable.cpp`.
    """
    return {
        "name": "Ada",
        "a": ["wrapper mm", "one mul", "wrapper mul", "one ones", "wrapper mm"],
        "b": ["wrapper mm", "wrapper mm", "one mm", "wrapper mm", "one add_", "wrapper add_"],
        "c": [
            "one t",
            "wrapper t",
            "one mm",
            "wrapper mm",
            "two mm",
            "one mm",
            "wrapper mm",
            "one relu",
            "wrapper relu",
            "wrapper add",
        ],
        "d": ["one mul", "wrapper mul", "one t", "one mm", "wrapper mm", "wrapper add"],
    }


def logged_by(line: str) -> str:
    """The file and the function of PyTorch that write a line of `LOGGED` into a log.

    The line is the beginning of a message, below the setting that shows it. The function is the one whose code calls the logger,
    which `logging` keeps as `record.pathname` and `record.funcName`.

    >>> print(LOGGED["example"])
    TORCH_LOGS=bytecode
    ORIGINAL BYTECODE f
    >>> logged_by("example")
    'torch/_dynamo/convert_frame.py log_bytecode'

    Args:
        line: a key of `LOGGED`.

    Returns:
        the path of the file from `torch/` on, with `/`, then one space, and the function's name alone, without its class.

    Source: `torch/_logging/_internal.py`, and the file itself, which is on your machine.
    """
    return {
        "example": "torch/_dynamo/convert_frame.py log_bytecode",
        "instruction": "torch/_dynamo/symbolic_convert.py step",
        "line": "torch/_dynamo/symbolic_convert.py starts_line",
        "node": "torch/_dynamo/output_graph.py _create_proxy",
        "break": "torch/_dynamo/symbolic_convert.py log_graph_break",
        "graph": "torch/_dynamo/output_graph.py compile_and_call_fx_graph",
        "guards": "torch/_dynamo/guards.py compile_check_fn",
        "again": "torch/_dynamo/guards.py get_and_maybe_log_recompilation_reasons",
        "size": "torch/fx/experimental/symbolic_shapes.py create_symbol",
    }[line]


def captured_graphs() -> dict[str, str | list[str]]:
    """The graphs that `torch.compile(f)` captures while `f` of each of your programs is called with each of `calls`.

    The settings are torch's defaults, so a number or a size becomes a symbol when it has changed once.

    `draws.programs("captured_graphs", "Ada")` has the programs of a student with this name. If `f` is `y = x.sin() * 2`, then
    `print(end="")`, then `return y + 1`, and is called with a tensor of size 3 twice, the prediction is the list of
    "1: sin mul, print" and "1: add, return". A call with a tensor of sizes (2, 3) adds "3: sin mul, print" and "3: add, return".

    Returns:
        a dict with your name under "name", and a list of strings under each letter from "a" to "d", and for the second draw
        from "e" to "h". There is a string for each new graph that has an operator, in the order in which they are captured. It
        has the number of the call, which begins at 1, a colon, the operators in order, a comma, and why the graph ends. Between
        these parts, and between operators, is one space. An operator has its method's name, or `add` for `+`, `mul` for `*` and
        `gt` for `>`. A graph ends at "return", at a "branch" on data, or at a "print".

    Source: `torch/_dynamo/output_graph.py`, `OutputGraph.compile_subgraph`.
    """
    return {
        "name": "Ada",
        "a": ["1: exp cos tanh mul, return", "3: exp cos tanh mul, return"],
        "b": ["1: cos mul mean gt, branch", "1: sin, return", "3: cos mul mean gt, branch"],
        "c": ["1: cos add tanh add, return", "2: cos add add, return", "4: cos add add, return"],
        "d": ["1: add sum gt, branch", "1: sin, return"],
    }


def generated_by(line: str) -> str:
    """The file and the function of PyTorch's Inductor that write a line of `GENERATED`.

    Below a setting, the line is the beginning of a message in a log, and the function is the one whose code calls the logger, as in
    `logged_by`. The others are beginnings of lines in the program that Inductor generates for a CPU. Here the function is the one
    whose code gives the text of the line to a method `writeline` or `writelines`: of an `IndentedBuffer`, or of the wrapper. It is
    not a function that returns the text, passes on a text that it is given, or copies it from buffer to buffer. If `writeline` gets
    an object that stands for a line, its text is made later, and the function that then writes the text counts.

    The settings are Inductor's defaults, but for `torch._inductor.config.cpp.simdlen = 1`: no loop is vectorised. Nothing is in its
    caches.

    >>> print(GENERATED["example"])
    TORCH_LOGS=ir_pre_fusion
    BEFORE FUSION
    >>> generated_by("example")
    'torch/_inductor/debug.py log_ir_pre_fusion'

    Args:
        line: a key of `GENERATED`.

    Returns:
        the path of the file from `torch/` on, with `/`, then one space, and the function's name alone, without its class.

    Source: `torch/_inductor/`, which is on your machine.
    """
    return {
        "example": "torch/_inductor/debug.py log_ir_pre_fusion",
        "operators": "torch/_inductor/compile_fx.py codegen_and_compile",
        "round": "torch/_inductor/scheduler.py fuse_nodes",
        "refused": "torch/_inductor/scheduler.py __call__",
        "program": "torch/_inductor/graph.py _compile_to_module_lines",
        "sizes": "torch/_inductor/codegen/wrapper.py _codegen_assert_size_stride",
        "product": "torch/_inductor/codegen/wrapper.py _generate_extern_kernel_out_helper",
        "kernel": "torch/_inductor/codegen/cpp.py define_kernel",
        "header": "torch/_inductor/codegen/cpp.py codegen_group",
        "loop": "torch/_inductor/codegen/cpp.py gen_loop_at",
    }[line]


def kernels_and_buffers() -> dict[str, str | list[str]]:
    """The kernels and library calls of each of your functions as it is compiled, and the bytes that are allocated for each.

    A function is compiled for the CPU, with Inductor's defaults and without autograd, for float32 tensors of `sizes`.
    `draws.programs("kernels_and_buffers", "Ada")` has the functions of a student with this name. For `x.relu() + 1` of a tensor of
    sizes (20, 30), the prediction is the list of "add relu 2400" alone.

    Returns:
        a dict with your name under "name", and a list of strings under each letter from "a" to "d", and for the second draw
        from "e" to "h". There is a string for each call in the wrapper, in order: the operators in the kernel, each once, in
        alphabetical order, then the bytes of all buffers that the wrapper allocates for this call, with one space between any
        two. A library call has one operator, `mm` for `@`. In a kernel, `+` is `add` and `*` is `mul`. The bytes are 0 if all
        results take over the memory of earlier buffers. The arguments of the function are never overwritten. On the CPU, the
        loop nests between two library calls are in one kernel. Two nests that read the same tensor in the same loops run
        together, where the first of them has to run.

    Source: `torch/_inductor/scheduler.py`, `Scheduler.fuse_nodes`; `torch/_inductor/codegen/wrapper.py`, `AllocateLine`.
    """
    return {
        "name": "Ada",
        "a": ["mm 2400", "add exp relu sum 80"],
        "b": ["mul neg 4800", "mm 4800"],
        "c": ["add mul sin 7200"],
        "d": ["add neg relu sum 120"],
    }


def collectives_of_a_step() -> dict[str, str | list[str]]:
    """The collectives that a rank calls below the comment in each of your programs, in order, with their bytes. There are four
    ranks.

    `draws.programs("collectives_of_a_step", "Ada")` has the programs of a student with this name. `linear(a, b)` is
    `nn.Linear(a, b, bias=False)`, of float32. For `model(x).sum().backward()` with
    `model = DistributedDataParallel(linear(100, 50))` the prediction is `["all_reduce 20000"]`.

    Returns:
        a dict with your name under "name", and a list of strings under each letter from "a" to "d", and for the second draw
        from "e" to "h". There is a string for each collective: "all_reduce", "all_gather" or "reduce_scatter", a space, and
        the bytes that the rank passes to the collective, as `Traffic` counts them. These are the whole tensor of an
        all-reduce, the rank's own part of an all-gather, and all parts of a reduce-scatter, with their padding. The order is
        that of the calls on one rank, and all ranks have the same.

    Source: `torch/csrc/distributed/c10d/reducer.cpp`, `Reducer::mark_bucket_ready`;
    `torch/distributed/fsdp/_fully_shard/_fsdp_param_group.py`, `FSDPParamGroup`.
    """
    return {
        "name": "Ada",
        "a": ["all_gather 8000", "all_gather 16000", "all_gather 2000", "all_gather 2000", "all_gather 16000",
              "reduce_scatter 4000", "all_reduce 2000", "reduce_scatter 16000", "all_reduce 8000", "reduce_scatter 32000",
              "all_reduce 16000"],
        "b": ["all_reduce 32000", "all_reduce 16000", "all_reduce 20000"],
        "c": ["all_gather 10000", "all_gather 8000", "all_gather 3200", "all_gather 3200", "all_gather 8000",
              "reduce_scatter 12800", "reduce_scatter 32000", "reduce_scatter 40000"],
        "d": ["all_reduce 12800", "all_reduce 24000"],
    }  # fmt: skip


def traffic_in_two_sentences(program: str) -> str:
    """Write two sentences, in your own words, that say what one step of a pattern of distributed training sends.

    The programs of `PATTERNS` are the four patterns, each with one step below its comments. All that the ranks send in the step is
    the step's traffic. Each sentence names this traffic. Neither sentence names anything that the step does not send, not even to
    deny it, or to say which rank has it.

    The first sentence says what is sent, and by which calls:

    - the calls: "all-reduce", "all-gather", "reduce-scatter", "all-to-all", "broadcast", or both "send" and "receive". In a
      sentence that names a collective, "send" and "receive" are ordinary words;
    - the tensors: "parameters" or "weights", "gradients", "activations". In "the gradients of the parameters" and in "the
      parameters' gradients" only the gradients are named.

    The second sentence says when, and how many bytes:

    - the parts of the step in which the traffic is: "forward", "backward";
    - "bytes", and what their number grows with: "parameters" or "weights", or else "batch" or "activations".

    `_`, a space or nothing may replace a hyphen, and other forms of these words count too, such as "reduce-scattered" or "sent".
    The check reads only these words, so a false sentence with the right words passes. For this reason it has few points. A
    person marks the question at the end of the lab.

    For a program in which rank 0 sends its parameters at the beginning of each forward, the text could be "Rank 0 broadcasts its
    parameters. These are 4 bytes for each parameter, once in each forward."

    Args:
        program: a key of `PATTERNS`.

    Returns:
        a string with exactly two sentences of 5 to 40 words. Each ends with a full stop. A full stop, a question mark or an
        exclamation mark before a space ends a sentence, except in "e.g." and "i.e.".

    Source: `torch/nn/parallel/distributed.py`; `torch/distributed/fsdp/`, `torch/distributed/tensor/parallel/` and
    `torch/distributed/pipelining/`.
    """
    return {
        "ddp": "The ranks all-reduce their gradients. They do so during backward, and the bytes are those of the parameters.",
        "fsdp": "Ranks all-gather parameters and reduce-scatter gradients. Forward and backward need the bytes of all parameters.",
        "tp": "The ranks all-reduce activations and, later, gradients. The bytes in forward and in backward grow with the batch.",
        "pp": "Ranks send and receive activations and gradients. The bytes in forward and in backward grow with the batch.",
    }[program]


def observed_nodes() -> dict[str, str | list[str]]:
    """The nodes whose values an observer sees after `prepare_fx`, and which observer, in each of your models.

    `draws.programs("observed_nodes", "Ada")` has the programs of a student with this name. Each is the `forward` of a model
    in evaluation mode. The layers `first` and `second` are `nn.Linear(4, 4)`, `x` has the sizes 4 and 4, `F` is
    `torch.nn.functional`, and the qconfig is the same for the whole model. For the body `return self.first(x).reshape(-1, 4)`
    the prediction is `["x 0", "first 1", "reshape 1"]`.

    Returns:
        a dict with your name under "name", and a list of strings under each letter from "a" to "d", and for the second draw
        from "e" to "h". There is a string for each observer node, in the order of the prepared graph: the name of the node
        that it reads, a space, and the number of its observer. Observers are numbered from 0 in this order, and an observer
        that several nodes share has one number. A node has the name of its layer, method or function: `+` is `add`, `*` is
        `mul`, and `-` is `sub`. An observer node follows the node that it reads, and nodes are in the order of the program.

    Source: `torch/ao/quantization/fx/prepare.py`, `insert_observers_for_model`.
    """
    return {
        "name": "Ada",
        "a": ["x 0", "relu 0", "add 1", "sin 2", "reshape 2", "first 3"],
        "b": ["x 0", "reshape 0", "mul 1", "first 2", "sub 3", "relu 3"],
        "c": ["x 0", "cat 0", "relu 0", "second 1", "exp 2", "first 3"],
        "d": ["x 0", "first 1", "second 2", "reshape 2", "mul 2"],
    }


def quantized_values() -> dict[str, str | list[int]]:
    """The numbers in `y` at the end of each of your programs. `quantize_per_tensor` is that of `torch.ops.quantized_decomposed`.

    `draws.programs("quantized_values", "Ada")` has the programs of a student with this name. For
    `quantize_per_tensor(x, 0.5, 10, 0, 255, torch.uint8)` of the numbers -1.0, 0.0, 1.0 and 1.1, the prediction is
    `[8, 10, 12, 12]`.

    Returns:
        a dict with your name under "name", and a list under each letter from "a" to "d", and for the second draw from "e" to
        "h". It has an integer for each element of `y`. A gradient of 1.0 is 1.

    Source: `torch/ao/quantization/fx/_decomposed.py`; `aten/src/ATen/native/quantized/AffineQuantizer.cpp`.
    """
    return {
        "name": "Ada",
        "a": [0, 0, 7, 15],
        "b": [0, -8, 2, -5],
        "c": [1, 0, 1, 0, 1],
        "d": [-6, -4, -6, 7, 7],
    }


def exported_sizes() -> dict[str, str | list[str]]:
    """The sizes of dimension 0 of each argument that each of your programs accepts when it is exported.

    `draws.programs("exported_sizes", "Ada")` has the programs of a student with this name. A module with this `forward` is exported
    with `args`. Dimension 0 of each argument is dynamic, as `dims` says in the same order. The sizes are those in
    `range_constraints`, or the constant. (That the program also runs with 0 or 1 rows, or refuses some sizes of a range, does not
    count.) For this program the prediction is the list of "5.." and "8":

        def forward(x, y):
            for _ in range(y.shape[0]):
                y = y + 1
            return x * 2 if x.shape[0] > 4 else x, y
        args = xp.ones(6, 3), xp.ones(8, 3)
        dims = [Dim.AUTO, Dim.AUTO]

    Returns:
        a dict with your name under "name", and a list of strings under each letter from "a" to "d", and for the second draw from
        "e" to "h". There is a string for each argument: "8" if only this size is left, "5.." for 5 and all larger sizes, "2..9" for
        a range with both ends. A named `Dim` that the program keeps has its own range, from 0 on if it has no `min`. If the export
        raises an error, the list is `["refused"]`.

    Source: `torch/export/dynamic_shapes.py`, `torch/fx/experimental/symbolic_shapes.py`.
    """
    return {
        "name": "Ada",
        "a": ["2..", "2..22"],
        "b": ["5..", "5.."],
        "c": ["1", "2..8", "2.."],
        "d": ["3..32", "4.."],
    }


def reserved_mebibytes(program: str) -> int:
    """The MiB of all segments that the caching allocator holds at the end of a program of `RESERVED`.

    `empty(n)` is a tensor of n bytes on a CUDA device with enough memory. The allocator has its usual settings, and is empty at the
    beginning. KiB is 1024 bytes, and MiB is 1024 KiB.

    >>> print(RESERVED["example"])
    a = empty(1.5 * MiB)
    b = empty(4 * MiB)
    del a
    >>> reserved_mebibytes("example")
    20

    Args:
        program: a key of `RESERVED`.

    Returns:
        an int, as `torch.cuda.memory_reserved() // MiB`.

    Source: `c10/cuda/CUDACachingAllocator.cpp`, `get_allocation_size`.
    """
    return {
        "example": 20, "small": 4, "own": 20, "again": 30, "lost": 14, "holes": 40, "neighbours": 20, "emptied": 20,
        "streams": 32,
    }[program]  # fmt: skip


def attended(program: str) -> list[float | None]:
    """Predict the result of a call of `MASKED` for each query, on torch.

    `F` is `torch.nn.functional`. `q` has four queries [1, 1], in the sizes 1, 1, 4 and 2. `k` has four keys [0, 0]. `loud` has the
    same keys, but the second one is [1000, 1000]. The values `v` are 4, 8, 12 and 24, in the sizes 1, 1, 4 and 1.

    >>> print(MASKED["example"])
    F.scaled_dot_product_attention(q, k, v)
    >>> attended("example")
    [12.0, 12.0, 12.0, 12.0]

    Args:
        program: a key of `MASKED`.

    Returns:
        a list or a tuple of numbers, one for each query. NaN is None.

    Source: `aten/src/ATen/native/transformers/attention.cpp`.
    """
    return {
        "example": [12.0, 12.0, 12.0, 12.0],
        "causal": [4.0, 6.0, 8.0, 12.0],
        "causal, two queries": [4.0, 6.0],
        "a bool mask": [14.0, 14.0, 14.0, 14.0],
        "a mask of zeros": [12.0, 12.0, 12.0, 12.0],
        "a mask of False": [0.0, 0.0, 0.0, 0.0],
        "by hand": [None, None, None, None],
        "a band": [4.0, 6.0, 10.0, 18.0],
        "loud": [8.0, 8.0, 8.0, 8.0],
        "loud and causal": [4.0, 8.0, 8.0, 8.0],
        "no scale": [12.0, 12.0, 12.0, 12.0],
    }[program]


def recorded_operators() -> dict[str, str | list[str]]:
    """The operators among the `events()` of torch's profiler for each of your programs, on a CPU, without gradients.

    `x` has 4 rows and 8 columns, `w` has 6 and 8, `v` has 8 and 6, `bias` has 6 elements, and `batch` has the sizes 2, 4 and 8.
    All are contiguous and float32, and `F` is `torch.nn.functional`. An operator that another one calls is recorded after it.
    `events()` has removed each event that is the only child of an event with the same name. The operators in `NOT_SHOWN` are
    left out.

    `draws.programs("recorded_operators", "Ada")` has the programs of a student with this name. For `a = x.softmax(-1)` and then
    `b = a.half()`, the prediction is the list of "softmax", "_softmax", "to" and "_to_copy".

    Returns:
        a dict with your name under "name", and a list of strings under each letter from "a" to "d", and for the second draw
        from "e" to "h". It has the names of the operators in the order in which they begin, without `aten::`.

    Source: `aten/src/ATen/native/LinearAlgebra.cpp`, `Linear.cpp`, `TensorConversions.cpp`, `TensorShape.cpp`;
    `tools/autograd/templates/python_variable_methods.cpp`.
    """
    return {
        "name": "Ada",
        "a": ["to", "matmul", "mm", "to", "exp"],
        "b": ["slice", "contiguous", "clone", "sin"],
        "c": ["to", "linear", "t", "addmm", "relu", "clamp_min", "sum", "item", "_local_scalar_dense"],
        "d": [
            "linear",
            "t",
            "matmul",
            "reshape",
            "view",
            "mm",
            "_unsafe_view",
            "reshape",
            "view",
            "matmul",
            "mm",
            "to",
            "_to_copy",
            "to",
            "_to_copy",
        ],
    }


def host_times(program: str) -> int:
    """Predict the time of the host's clock, in microseconds, at the end of a program of `HOST_TIMES`. It begins at 0.

    A launch takes the host 5 microseconds, whether of a kernel or of a copy. `kernel(100)` launches a kernel on the current stream
    which takes the device 100. The device copies `x` in 40, in each direction. From or to pageable memory the host takes 20
    more, in which it copies the elements itself. `x` and `number` are on the device, `side` is a stream, and `event` an event.
    `number` has one element, and to copy one element takes no time but that of the launch. All other calls take no time, except
    for what they wait for.

    >>> print(HOST_TIMES["example"])
    kernel(100)
    kernel(100)
    >>> host_times("example")
    10

    Args:
        program: a key of `HOST_TIMES`.

    Returns:
        the time in microseconds, an int or a float.

    Source: `aten/src/ATen/native/cuda/Copy.cu`; CUDA's "API synchronization behavior".
    """
    return {
        "example": 10, "wait for all": 205, "a number each time": 75, "a number at the end": 65, "an event": 105,
        "a question": 10, "one waits for another": 105, "two streams": 110, "from pinned memory": 15,
        "from pageable memory": 35, "to pageable memory": 165,
    }[program]  # fmt: skip


def tokenized(program: str) -> int:
    """The `answer` of a program of `TOKENIZED`, rounded to a whole number. `xp` is torch.

    `pieces`, `train` and `decode` are those of lab 12a. `encode(text, merges)` gives the tokens of a text after these merges, which
    are here written as texts: `("lo", "w")` joins the token "lo" and the token "w". The merges are in the order in which they were
    learned.

    >>> print(TOKENIZED["example"])
    answer = len(encode("low slow", [("l", "o"), ("lo", "w")]))
    >>> tokenized("example")
    4

    The tokens are "low", " ", "s" and "low".

    Args:
        program: a key of `TOKENIZED`.

    Returns:
        an int.

    Source: `tiktoken/_educational.py` of tiktoken, and `torch/nn/functional.py`.
    """
    return {
        "example": 4, "overlap": 5, "order": 4, "longer": 2, "pieces": 7, "across": 4, "bytes": 10, "cut": 3,
        "ignored": 3, "perplexity": 4, "three bytes": 4,
    }[program]  # fmt: skip


def autocast_dtypes() -> dict[str, str | list[str]]:
    """The dtypes of the tensors in `y` at the end of each of your programs, on a CPU.

    `linear` is `Linear(64, 64)` and `norm` is `LayerNorm(64)`. Their parameters are float32. `x` has the sizes 64 and 64 and is
    float32, `tokens` has 64 integers, and `F` is `torch.nn.functional`.

    `draws.programs("autocast_dtypes", "Ada")` has the programs of a student with this name. If under `autocast` `a` is
    `linear(x)` and `b` is `x + a`, and if `y` is `[a, b]`, the prediction is the list of "bfloat16" and "float32".

    Returns:
        a dict with your name under "name", and a list of strings under each letter from "a" to "d", and for the second draw
        from "e" to "h". There is "bfloat16", "float32" or "float64" for each tensor in `y`, in order. `xp.autograd.grad` returns
        a list of gradients, one for each tensor in its list.

    Source: `aten/src/ATen/autocast_mode.cpp`, the lists for the CPU; `torch/csrc/autograd/engine.cpp`, `validate_outputs`.
    """
    return {
        "name": "Ada",
        "a": ["bfloat16", "float32", "float32", "float32", "float32", "float32"],
        "b": ["bfloat16", "bfloat16", "float64", "float64", "float64", "float64"],
        "c": ["float32", "bfloat16", "bfloat16", "float32", "float32"],
        "d": ["float32", "float32", "bfloat16", "float32", "float32", "float32"],
    }


def graphs_of_generation(program: str) -> list[int]:
    """How many graphs `torch.compile(step)` captures in each call of `step` of a program of `GENERATIONS`.

    The settings are torch's defaults, so a size or a number becomes a symbol when it has changed once. A size of 1 never
    becomes a symbol.

    >>> print(GENERATIONS["example"])
    def step(x):
        return attend(x)
    calls = [(text[:4],), (text[4:8],), (text[:5],), (text[:6],)]
    >>> graphs_of_generation("example")
    [1, 0, 1, 0]

    Args:
        program: a key of `GENERATIONS`.

    Returns:
        a list with an int for each entry of `calls`, which are the arguments of `step`, in this order.

    Source: `torch/_dynamo/variables/builder.py`, `wrap_symint` and `_automatic_dynamic`.
    """
    return {
        "example": [1, 0, 1, 0],
        "whole": [1, 1, 0, 0],
        "list": [1, 1, 1, 1],
        "position": [1, 1, 0, 0],
        "tensor": [1, 0, 0, 0],
        "prompts": [1, 1, 0, 1, 0],
    }[program]


def uncoalesced_line(program: str) -> int | None:
    """The line of a kernel of `COALESCING` that is not coalesced, or None. There is no second one.

    A load or store is coalesced if the 32 lanes of a warp ask for as many sectors as their bytes fill, or for one more, because the
    bytes need not begin where a sector does. Bytes that several lanes ask for count once. The first line of a text is line 1.
    Blocks have 256 threads, in "transposed" 32 x 32. Arrays begin at a multiple of 256 bytes.

    >>> print(COALESCING["example"])
    __global__ void example(const float* a, float* out) {
      int i = blockIdx.x * blockDim.x + threadIdx.x;
      float x = a[2 * i];
      out[i] = x;
    }
    >>> uncoalesced_line("example")
    3

    Args:
        program: a key of `COALESCING`.

    Returns:
        a number of a line, or None.

    Source: CUDA's best practices guide, "Coalesced Access to Global Memory".
    """
    return {
        "example": 3, "sums of rows": 4, "sums of columns": None, "transposed": 4, "one further": None,
        "one for each block": None, "four in a row": 5, "four apart": None, "neighbours": None, "colours": 3,
    }[program]  # fmt: skip


def unsynchronised_line(program: str) -> int | None:
    """The line of a kernel of `SYNCHRONISATION` in which threads that work together go wrong, or None. There is no second one.

    It is

    - the line of a load from shared memory that races with a store by another thread, because no barrier is between them, or
    - the line of a `__syncthreads()` that some threads of a block reach and others do not, or
    - the line of a shuffle whose mask does not name exactly the lanes of the warp that call it.

    The first line of a text is line 1. A kernel is launched with one block of 128 threads.

    >>> print(SYNCHRONISATION["example"])
    __global__ void example(const float* a, float* out) {
      __shared__ float s[128];
      s[threadIdx.x] = a[threadIdx.x];
      out[threadIdx.x] = s[127 - threadIdx.x];
    }
    >>> unsynchronised_line("example")
    4

    Args:
        program: a key of `SYNCHRONISATION`.

    Returns:
        a number of a line, or None.

    Source: the tools racecheck and synccheck of NVIDIA's compute-sanitizer.
    """
    return {
        "example": 4, "neighbours": 5, "own element": None, "a tree": 9, "the last warp": 7, "a tail": 6, "used again": 6,
        "half a warp": 5, "half a mask": None, "a whole warp": 4, "one total": 8, "counts": None,
    }[program]  # fmt: skip


def faulty_line(program: str) -> int | None:
    """The line of a kernel of `TILES` that is wrong or slow, or None. There is no second one.

    It is

    - the line of a load from shared memory that races with a store by another thread, because no barrier is between them, or
    - the line of an access of shared memory with a bank conflict: lanes of a warp access different words of one bank, or
    - the line of an access of global memory that is not coalesced, as in lab 14a.

    The first line of a text is line 1. A kernel is launched with one block of 32 x 32 threads, and `n` is 64. Arrays begin at a
    multiple of 256 bytes.

    >>> print(TILES["example"])
    __global__ void example(const float* a, float* out) {
      __shared__ float tile[32][32];
      int x = threadIdx.x, y = threadIdx.y;
      tile[y][x] = a[y * 32 + x];
      __syncthreads();
      out[y * 32 + x] = tile[x][y];
    }
    >>> faulty_line("example")
    6

    Args:
        program: a key of `TILES`.

    Returns:
        a number of a line, or None.

    Source: the CUDA C++ best practices guide, "Shared Memory in Matrix Multiplication (C=AAT)".
    """
    return {
        "example": 6, "padded": None, "padded by two": 6, "stored by columns": 4, "straight out": 6, "rotated": None,
        "a product": None, "one barrier": 8, "too early": 7, "rows of b": 7, "columns of b": 9, "two buffers": None,
    }[program]  # fmt: skip


def block_load() -> dict[str, str | list[int]]:
    """The bytes and the sectors that the two loads in each of your programs ask for, in one instance of a kernel.

    `draws.programs("block_load", "Ada")` has the programs of a student with this name. The first line of a program has the dtypes
    of `x` and `y`, and the number of the instance, which is `tl.program_id(0)`. Both arrays begin at a multiple of 256 bytes. For
    this program the prediction is `[176, 6, 352, 3]`:

        # x: float32, y: float64, instance: 1
        at = tl.program_id(0) * 256 + tl.arange(0, 256)
        a = tl.load(x + at, mask=at < 300)
        b = tl.load(y + at // 4, mask=at < 300)

    Returns:
        a dict with your name under "name", and a list of four integers under each letter from "a" to "d", and for the second draw
        from "e" to "h": the bytes and the sectors of the load of `a`, and then those of the load of `b`. The bytes are those of
        all elements that are not masked off. An element counts as often as the block has it. A sector is 32 bytes of memory, and
        counts once for a load.

    Source: Triton's documentation of `triton.language.load`.
    """
    return {
        "name": "Ada",
        "a": [56, 8, 4, 2],
        "b": [600, 20, 4, 1],
        "c": [264, 11, 132, 5],
        "d": [976, 6, 256, 4],
    }


def masked_line(program: str) -> int | None:
    """The line of a kernel of `BLOCK_KERNELS` that is wrong or asks for too much, or None. There is no second one.

    It is

    - the line of a load or a store that accesses an element outside of the arrays, or
    - the line of a load whose `other` makes the result wrong for some numbers in `x`, or which needs one, or
    - the line that computes a block which is then added up, and is not 0 at the elements that the mask leaves out, although it was
      0 there when it was loaded, or
    - the line of a load of elements that the instance has loaded before.

    The first line of a text is line 1. `n` is 1000, and `BLOCK` is 1024, but 256 in "in blocks". A kernel whose line 3 begins with
    `at` works on `n` numbers, with one instance. The others work on 4 rows of `n` numbers, with an instance for each row. The array
    `x` ends with the last of these numbers, and `out` with the last one that is to be stored.

    >>> print(BLOCK_KERNELS["example"])
    @triton.jit
    def example(x, out, n, BLOCK: tl.constexpr):
        at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
        value = tl.load(x + at)
        tl.store(out + at, 2 * value, mask=at < n)
    >>> masked_line("example")
    4

    Args:
        program: a key of `BLOCK_KERNELS`.

    Returns:
        a number of a line, or None.

    Source: Triton's documentation of `triton.language.load`.
    """
    return {
        "example": 4, "a sum": None, "a maximum": 4, "copied": None, "added": 4, "a variance": 6, "softmax": None, "again": 6,
        "stored": 5, "one too many": 4, "in blocks": None, "ones": 5,
    }[program]  # fmt: skip


def masks_of_accesses(program: str) -> list[str]:
    """The masks of the loads and stores in the kernel that Inductor writes for a program of `ACCESSES`.

    The function is compiled for a GPU, for float32 tensors of `sizes`. It becomes one kernel. A result of rows is computed in one
    block if the row has up to 1,024 elements, and in loops over blocks if it has more.

    >>> print(ACCESSES["example"])
    def f(x):
        return x.relu()
    sizes = [(10,)]
    >>> masks_of_accesses("example")
    ['load xmask', 'store xmask']

    Args:
        program: a key of `ACCESSES`.

    Returns:
        a list with a string for each line of the kernel that loads or stores, in order: "load" or "store", a space, and the masks
        in alphabetical order with " & " between two, or "None" if there is none. The lines that store are the last ones. The masks
        are "xmask", "ymask" and "r0_mask". An element that two values need is loaded once, and again in each further loop. If an
        operand is transposed, the kernel has an axis y for rows and an axis x for columns.

    Source: `torch/_inductor/codegen/triton.py`, `TritonKernel.load` and `TritonKernel.store`.
    """
    return {
        "example": ["load xmask", "store xmask"],
        "nothing to mask": ["load None", "store None"],
        "bias": ["load xmask", "load xmask", "store xmask"],
        "transposed": ["load xmask & ymask", "load xmask & ymask", "store xmask & ymask"],
        "sum of two": ["load r0_mask & xmask", "load r0_mask", "store xmask"],
        "sum of columns": ["load xmask", "store xmask"],
        "small sum": ["load r0_mask", "store None"],
        "two results": ["load r0_mask & xmask", "store r0_mask & xmask", "store xmask", "store xmask"],
        "sums of 1,500": ["load r0_mask & xmask", "load r0_mask & xmask", "store xmask"],
    }[program]
