"""The inside of the MiniGPT: its prediction after each block, the graph of its backward pass, and the path of one operation.

The *logit lens* applies the head to the residual stream between two blocks, as if the rest of the model were not there.
PyTorch has no function for it: forward hooks are enough. The graph of the backward pass is in PyTorch's nodes, `grad_fn` and
`next_functions`.
"""

from __future__ import annotations

from collections import Counter, defaultdict, deque
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Any

from rushlight.aten.strided import Tensor
from rushlight.autograd.grad_mode import no_grad
from rushlight.c10 import fast_paths

Edge = tuple[int, int, int]
"""From a node to a node, both as positions in a list, and which input of the second node it is: `input_nr`."""


def fused_operators() -> AbstractContextManager[None]:
    """Within: `layer_norm` and attention are one operator each, as in PyTorch, also in a notebook that plugs in a dispatcher,
    kernels or an engine. Outside they then consist of many operators, so that each of these pieces takes part, and their graph is
    another."""
    return fast_paths.disabled(None)


def logit_lens(model: Any, tokens: Tensor) -> list[Tensor]:
    """The scores that the head would give after each block of a MiniGPT.

    The residual stream x is a tensor (batch, n, width). It goes into the first block, and each block returns the next x. To
    read it, apply the model's last norm and then its head: `model.head(model.norm(x))`. No block may run more than once.

    Args:
        model: a model of `rushlight.course.gpt.gpt`, with `blocks`, `norm` and `head`. Afterwards it is as it was, with the
            hooks that it had, also if its forward pass raises an error, which is not caught.
        tokens: (batch, n), int64. They do not change.

    Returns:
        a list of layers + 1 tensors, each (batch, n, vocabulary): for the input of the first block, then for the output of each
        block. The last one is what `model(tokens)` returns. None requires grad.

    >>> from rushlight.course.gpt import gpt
    >>> model = gpt(rl, vocabulary=7, width=4, heads=2, layers=3, length=5)
    >>> [tuple(scores.shape) for scores in logit_lens(model, rl.tensor([[1, 6, 2]]))]
    [(1, 3, 7), (1, 3, 7), (1, 3, 7), (1, 3, 7)]
    """
    stream = []
    handles = [model.blocks[0].register_forward_pre_hook(lambda block, args: stream.append(args[0]))]
    handles += [block.register_forward_hook(lambda block, args, x: stream.append(x)) for block in model.blocks]
    try:
        with no_grad():
            model(tokens)
            return [model.head(model.norm(x)) for x in stream]
    finally:
        for handle in handles:
            handle.remove()


def backward_graph(result: Tensor, names: Mapping[str, Tensor]) -> tuple[list[str], list[Edge]]:
    """The nodes and the edges that a backward pass from `result` goes through.

    The search begins at the node of `result`. It takes the node that was found first of those not yet visited, and follows its
    `next_functions` in their order. An entry whose node is None is no edge.

    Args:
        result: a tensor with a `grad_fn`.
        names: some leaves by name, such as `dict(model.named_parameters())`. No leaf has two names.

    Returns:
        `(labels, edges)`. `labels` is a list with a string for each node, in the order in which the nodes are found. It is the
        node's `name()`. For the node of a leaf, which has an attribute `variable`, it is the leaf's name in `names`, or
        "AccumulateGrad" if no entry is this very tensor. Each node is there once, however many edges lead to it. `edges` is a
        list of tuples (from, to, input_nr), in the order in which the search follows them. `from` and `to` are positions in
        `labels`, and `input_nr` is the second part of the entry.

    >>> w = rl.ones(2, requires_grad=True)
    >>> backward_graph((w * w).sum(), {"w": w})
    (['SumBackward0', 'MulBackward0', 'w'], [(0, 1, 0), (1, 2, 0), (1, 2, 0)])

    Source: `torch/csrc/autograd/node.h`, `Node::next_edges`.
    """
    by_identity = {id(leaf): name for name, leaf in names.items()}

    def label(node):
        leaf = getattr(node, "variable", None)
        return node.name() if leaf is None else by_identity.get(id(leaf), "AccumulateGrad")

    index, labels, edges, waiting = {result.grad_fn: 0}, [label(result.grad_fn)], [], deque([result.grad_fn])
    while waiting:
        node = waiting.popleft()
        for successor, input_nr in node.next_functions:
            if successor is None:
                continue
            if successor not in index:
                index[successor] = len(labels)
                labels.append(label(successor))
                waiting.append(successor)
            edges.append((index[node], index[successor], input_nr))
    return labels, edges


def count_paths(nodes: int, edges: Sequence[Edge]) -> list[int]:
    """How many paths lead from node 0 to each node of a backward graph.

    Two edges between the same two nodes are two paths. A gradient is a sum over these paths. Their number doubles with each
    residual connection, so do not follow them one by one. A graph may also be a chain of thousands of nodes.

    Args:
        nodes: how many nodes there are, at least 1.
        edges: a list of tuples (from, to, input_nr), as `backward_graph` returns them, in any order. Each node can be reached from
            node 0, and no path leads back to a node.

    Returns:
        a list with an int for each node. Node 0 has 1, the path without an edge.

    >>> count_paths(3, [(0, 1, 0), (1, 2, 0), (1, 2, 0)])
    [1, 1, 2]
    """
    after, missing = defaultdict(list), Counter(to for _, to, _ in edges)
    for start, to, _ in edges:
        after[start].append(to)
    paths, ready = [1] + [0] * (nodes - 1), [0]
    while ready:
        node = ready.pop()
        for to in after[node]:
            paths[to] += paths[node]
            missing[to] -= 1
            if not missing[to]:
                ready.append(to)
    return paths


def trace_of_an_operation() -> str:
    """Write the TRACE of one operation of the MiniGPT on torch, of your choice, as a table in Markdown.

    The text has a line "TRACE of NAME". NAME is an operator of ATen, such as "gelu", that runs in a training step of `gpt(torch)`
    on the CPU: in the forward pass, in `cross_entropy`, or in the backward pass, perhaps inside another operator. It may have its
    namespace and an overload, as in "aten::gelu.default". `add`, `mm` and `matmul` are not allowed, because lab 00 has their
    TRACEs.

    The text has one table. Its columns are "function", "layer", "file", "what it does" and "how I know", in any order. Other
    columns are allowed. It has at least six rows, each for another function, in the order in which the functions are first called.
    No cell of the five columns is empty. A `|` within a cell has a backslash before it. In each row:

    - "function": the name of a function of PyTorch, such as `VariableType::mm`, and not a description. A function
      `at::_ops::X::call` or `at::_ops::X::redispatch` belongs to an operator: X is its name, with `_` before the overload, as in
      `add_Tensor`. At least one row has such a function for your own operator. A redispatch comes after its call, which has a row
      too;
    - "layer": "frontend", "dispatcher", "ATen" or "compiler". It is the layer of one of the row's files by `layer_of`, with two
      exceptions. The generated files `python_….cpp` are in the frontend, `VariableType_1.cpp` and `Operators_1.cpp` in the
      dispatcher, and `RegisterCPU_1.cpp` in ATen. If the file is a generator, such as `torchgen/gen.py`, or a YAML file, the layer
      may be that of the function by `FRAME_MAP`;
    - "file": at least one file of PyTorch's sources, with its path from PyTorch's root, or "as 2" for the files of row 2. Folders
      before the root, as in a backtrace, are allowed. The name alone is enough for a generated file, such as `VariableType_1.cpp`,
      and for a file whose path is in another row. Each path is on the `SOURCE_MAP`. Of these files, the installed torch has all in
      Python below `torch`, and all below `torch/include`, `torchgen` and `tools/autograd`. A function of the frontend whose file is
      in Python has its name in this file;
    - "how I know": a kind of evidence, or several, each by one of these whole words: a mode ("mode", "aten_calls"), the dispatch
      table ("table", "serving", "keys_in_order"), the YAML ("YAML", "registrations"), a stack ("stack", "backtrace", "traceback"),
      a graph ("graph", "grad_fn", "next_functions"), a profile ("profile", "profiler"), the sources ("source", "inspect"), a
      debugger ("debugger", "gdb", "lldb"), or a log ("log", "TORCH_LOGS", "output_code"). A row of ATen that has the YAML as
      evidence names a kernel that `native_functions.yaml` has on the CPU for an operator of your rows, such as `gelu_out_cpu` or
      its class `structured_gelu_out_cpu`, or its function is a wrapper, such as `wrapper_CPU_gelu`, or a method `meta`.

    The table has at least three layers and at least three kinds of evidence. The first row is in the frontend or the compiler. At
    least one row is a kernel: it is of ATen and has a file below `aten/src/ATen/native`. Before the first kernel comes a row of the
    dispatcher. Each row of the frontend that comes after a kernel says why the frontend runs again: its "function" or its "what it
    does" has "backward", "returns", "wraps" or "compiles". At least one row of ATen names a kernel that `native_functions.yaml` has
    on the CPU for your own operator. A composite operator's kernel counts as one on the CPU.

    The check reads the form, and asks the installed torch for names. A false row with the right names passes. A person marks your
    TRACE with the question at the end of the lab.

    Returns:
        the text. This is the beginning of one for `add`. More text may follow the table.

            TRACE of `add`

            | function | layer | file | what it does | how I know |
            |---|---|---|---|---|
            | `THPVariable_add` | frontend | `python_variable_methods.cpp` | parses the arguments | the stack of an error |
            | `at::_ops::add_Tensor::call` | dispatcher | `torchgen/gen.py` | AutogradCPU is highest | `serving` |

    Source: `torch/nn/modules/`, `torch/csrc/autograd/`, `aten/src/ATen/native/`; `torchgen/packaged/`, which is on your machine.
    """
    return """TRACE of `gelu`

function | layer | file | what it does | how I know
---|---|---|---|---
`GELU.forward` | frontend | `torch/nn/modules/activation.py` | calls `F.gelu`, which is a binding | the sources
`THPVariable_gelu` | frontend | `python_nn_functions.cpp` | parses the arguments, calls the operator | the stack, in gdb
`at::_ops::gelu::call` | dispatcher | `torchgen/gen.py` | AutogradCPU is the highest key | `keys_in_order`, `serving`
`VariableType::gelu` | dispatcher | `VariableType_1.cpp` | makes a node that saves the input | `serving`; `grad_fn`
`at::_ops::gelu::redispatch` | dispatcher | as 3 | CPU is the next key with a kernel | `serving` below autograd
`wrapper_CPU_gelu` | ATen | `RegisterCPU_3.cpp` | calls 7, allocates the result, calls 8 | `serving`; the stack, in gdb
`structured_gelu::meta` | ATen | `aten/src/ATen/native/Activation.cpp` | sizes and dtype of the result | the stack, in gdb
`structured_gelu_out_cpu::impl` | ATen | as 7 | for tanh, takes the loop for this CPU (for erf, oneDNN) | the YAML; the sources
`GeluKernelImpl` | ATen | `aten/src/ATen/native/cpu/Activation.cpp` | runs the loop, with SIMD | a debugger, stopped there
`GeluBackward0::apply` | dispatcher | `torch/csrc/autograd/generated/Functions.cpp` | calls `gelu_backward` | the graph; the stack
`GeluBackwardKernelImpl` | ATen | as 9 | runs the loop of the gradient, reached as 9 was, by 3 to 8 | a debugger, stopped there
"""
