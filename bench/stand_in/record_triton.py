"""Recordings of the Triton code that Inductor writes, and of what Inductor knows about this code, made without a GPU.

On the stand-in of `cuda.c` and `kernels.c` Inductor believes that there is a CUDA device. It lowers, schedules and writes Triton
code for it. Triton does not compile the code, and no kernel runs on a device. `interpret_triton.py` runs most of them on the CPU.
For each kernel the facts are recorded where Inductor decides them: the nodes of its iteration ranges, its loads and stores, its
loops. Nothing here reads the text. The configurations are those that Inductor would try on the device. By hand, as `record.py`
says:

    cuda/bin/python bench/stand_in/record_triton.py

It writes `phases/recorded/stand_in/triton.json.gz`.
"""

from __future__ import annotations

import ast
import contextlib
import json
import logging
import os
import re
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from unittest.mock import patch

from bench.stand_in import record

OUTPUT = record.OUTPUT.with_name("triton.json.gz")


def _f(result: str, steps: str = "") -> str:
    """The source of the function that returns `result`, of as many of x, y, z, w as it names."""
    names = [name for name in "xyzw" if re.search(rf"\b{name}\b", steps + result)]
    return "\n    ".join([f"def f({', '.join(names)}):", *steps.splitlines(), f"return {result}\n"])


_ROWS = [32, 600]
_NORM = "F.layer_norm(x, x.shape[-1:], y, z)"

# name, source of a function f, its inputs: sizes, or [sizes, strides, dtype]
FUNCTIONS: list[tuple[str, str, list]] = [
    ("relu", _f("x.relu()"), [[10]]),
    ("nothing to mask", _f("x.relu() + 1"), [[16, 1024]]),
    ("pointwise", _f("torch.relu(x * 2 + y)"), [_ROWS, _ROWS]),
    ("pointwise, bf16", _f("torch.relu(x * 2 + y)"), [[_ROWS, None, "bfloat16"], [_ROWS, None, "bfloat16"]]),
    ("cast", _f("x.to(torch.bfloat16), x.double()"), [[33, 50]]),
    ("mask", _f("torch.where(x > 0, y, x * 0.1), x > 0"), [[33, 50], [33, 50]]),
    ("mask given", _f("torch.where(x, y, z)"), [[[7, 9], None, "bool"], [7, 9], [9]]),
    ("bias", _f("x + y"), [_ROWS, [600]]),
    ("column", _f("x * y"), [_ROWS, [32, 1]]),
    ("one number", _f("x * y + z"), [[30, 20], [1], [[], None, "float32"]]),
    ("one number, bf16", _f("x * y"), [[[40], None, "bfloat16"], [[1], None, "bfloat16"]]),
    ("outer", _f("x + y"), [[40, 1], [1, 30]]),
    ("three dimensions", _f("x + y * z"), [[4, 5, 6], [5, 1], [4, 1, 6]]),
    ("transposed", _f("x + y.t()"), [[40, 33], [33, 40]]),
    ("copy of a transpose", _f("x.t().contiguous()"), [[64, 48]]),
    ("permuted", _f("x + y.permute(2, 1, 0)"), [[3, 20, 40], [40, 20, 3]]),
    ("slice", _f("x[1:, 2:7] * 2"), [[9, 12]]),
    ("strided input", _f("x + 1"), [[[20, 30], [60, 2], "float32"]]),
    ("every other", _f("x[:, ::2] + x[:, 1::2]"), [[12, 40]]),
    ("rotated", _f("torch.roll(x, 3, 1)"), [[8, 10]]),
    ("embedding", _f("y[x] * 2"), [[[5], None, "int64"], [100, 16]]),
    ("in place", _f("x", "x.add_(1)"), [[6, 50]]),
    ("sum of rows", _f("x.sum(1)"), [_ROWS]),
    ("sum of columns", _f("x.sum(0)"), [_ROWS]),
    ("sum of columns, tall", _f("x.sum(0)"), [[6000, 12]]),
    ("sum", _f("x.sum()"), [_ROWS]),
    ("small sum", _f("x.sum()"), [[5, 7]]),
    ("long rows", _f("x.sum(1)"), [[700, 3000]]),
    ("largest", _f("x.amax(1), x.argmax(1)"), [[20, 17]]),
    ("sum of two", _f("(x * y).sum(-1)"), [[20, 300], [300]]),
    ("mean of bf16", _f("x.mean(1)"), [[[20, 300], None, "bfloat16"]]),
    ("variance", _f("x.var(1)"), [[300, 2000]]),
    ("any", _f("(x > 0).any(1)"), [[20, 70]]),
    ("sum of a transpose", _f("(x + y.t()).sum(1)"), [[40, 33], [33, 40]]),
    ("softmax", _f("torch.softmax(x, -1)"), [_ROWS]),
    ("softmax of columns", _f("torch.softmax(x, 0)"), [[50, 20]]),
    ("softmax, long rows", _f("torch.softmax(x, -1)"), [[256, 5000]]),
    ("softmax, rows of 1,100", _f("torch.softmax(x, -1)"), [[9, 1100]]),
    ("softmax, bf16", _f("torch.softmax(x, -1)"), [[_ROWS, None, "bfloat16"]]),
    ("log softmax", _f("torch.log_softmax(x, -1)"), [_ROWS]),
    ("layer norm", _f(_NORM), [_ROWS, [600], [600]]),
    ("layer norm, long rows", _f(_NORM), [[300, 3000], [3000], [3000]]),
    ("layer norm, rows of 1,100", _f(_NORM), [[9, 1100], [1100], [1100]]),
    ("sums of 1,500", _f("(x - x.amax(1, keepdim=True)).abs().sum(1)"), [[12, 1500]]),
    ("RMS norm", _f("x * torch.rsqrt((x * x).mean(-1, keepdim=True) + 1e-6) * y"), [[7, 100], [100]]),
    ("cross entropy", _f("-torch.log_softmax(x, -1).gather(1, y).mean()"), [_ROWS, [[32, 1], None, "int64"]]),
    ("softmax, backward", _f("(x * y - (x * y).sum(-1, keepdim=True) * y)"), [_ROWS, _ROWS]),
    ("two results", _f("x.relu(), x.sum(1), x.relu().amax(1)"), [[24, 80]]),
    ("head", _f("torch.log_softmax(F.linear(x, y, z), -1)"), [[32, 64], [600, 64], [600]]),
    ("softmax head", _f("torch.softmax(torch.relu(F.linear(x, y, z)) * 2, -1)"), [[32, 64], [600, 64], [600]]),
    ("two of the same", _f("torch.tanh(torch.tanh(x @ y) @ y) @ y"), [[16, 16], [16, 16]]),
    ("two layers", _f("F.linear(torch.relu(F.linear(x, y)), z).sum(0)"), [[24, 32], [40, 32], [48, 40]]),
    ("norm of a product", _f("F.layer_norm(x @ y, (40,)).relu() @ z"), [[16, 32], [32, 40], [40, 16]]),
]

# Programs with rushlight's kernel of `rushlight/on_torch/triton_ops.py`, for reading 06: as an operator that hides the kernel
# from the compiler, and as one that shows it. `fused` is the operator.
OPERATORS = {
    "custom_op": """\
@torch.library.custom_op("hidden::fused_linear", mutates_args=())
def fused(x: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
    return triton_ops.fused_linear(x, weight, bias, "relu")


@fused.register_fake
def _(x, weight, bias):
    return x.new_empty(len(x), len(weight))
""",
    "triton_op": """\
@torch.library.triton_op("shown::fused_linear", mutates_args=())
def fused(x: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
    (rows, inner), columns = x.shape, len(weight)
    result = x.new_empty(rows, columns)
    grid = triton.cdiv(rows, 32), triton.cdiv(columns, 32)
    torch.library.wrap_triton(triton_ops.fused_linear_kernel)[grid](
        x, weight, bias, result, rows, columns, inner, *x.stride(), *weight.stride(),
        has_bias=True, activation="relu", ROWS=32, COLUMNS=32, INNER=32,
    )
    return result
""",
}
# rushlight's kernel without any device: Triton's interpreter runs its text with numpy
INTERPRETED = """\
import json, torch, triton
from rushlight.on_torch import triton_ops
x, weight, bias = torch.randn(32, 64), torch.randn(600, 64), torch.randn(600)
ours, theirs = triton_ops.fused_linear(x, weight, bias, "relu"), torch.nn.functional.linear(x, weight, bias).relu()
print(json.dumps({"triton": triton.__version__, "agrees": torch.allclose(ours, theirs, atol=1e-4)}))
"""
AROUND = "def f(x, weight, bias):\n    return fused(x * 2, weight, bias) + 1\n"


class _Written(BaseException):
    """Raised with the text of the module, after it is written and before it is compiled."""


class _Facts:
    """Inductor's facts about the kernels and the calls of one module, recorded while it writes them."""

    def __init__(self) -> None:
        self.kernels: dict[str, dict[str, Any]] = {}
        self.events: list[list[Any]] = []
        self.accesses: list[dict[str, Any]] = []
        self.loops = 0

    @contextlib.contextmanager
    def recorded(self) -> Iterator[None]:
        from torch._inductor.codegen import triton, wrapper

        kernel, seen = triton.TritonKernel, self._seen
        lines = [(wrapper.AllocateLine, self._allocated), (wrapper.ReuseLine, self._reused)]
        lines += [(kind, self._freed) for kind in (wrapper.FreeLine, wrapper.FreeIfNotReusedLine)]
        lines += [(kind, self._outside) for kind in (wrapper.ExternKernelOutLine, wrapper.ExternKernelAllocLine)]
        lines += [(wrapper.KernelCallLine, self._called)]
        with contextlib.ExitStack() as stack:
            for owner, name, note in [
                (kernel, "load", lambda result, self, name, index: result.use_count == 1 and seen("load", self, name, index)),
                (kernel, "store", lambda _, self, name, index, *more, **mode: seen("store", self, name, index)),
                (kernel, "store_reduction", lambda _, self, name, index, value: seen("store", self, name, index)),
                (triton.TritonScheduling, "define_kernel", self._defined),
                *((line, "codegen", lambda _, line, code, note=note: note(line)) for line, note in lines),
            ]:  # fmt: skip
                stack.enter_context(_noted(owner, name, note))
            stack.enter_context(_noted(kernel, "codegen_body", self._looped, before=True))
            yield

    # The kernels

    def _looped(self, kernel: Any) -> None:
        """Before a body is written: whether it becomes a loop."""
        parts = kernel.indexing_code, kernel.loads, kernel.stores, kernel.compute
        parts += kernel.post_loop_combine, kernel.post_loop_store
        looped = kernel.inside_reduction and any(tree.is_loop for tree in kernel.range_trees)
        self.loops += any(map(bool, parts)) and looped

    def _seen(self, what: str, kernel: Any, name: str, index: Any) -> None:
        from torch._inductor.virtualized import V

        argument = (kernel.args.input if what == "load" else kernel.args.output)(name)
        elements = _elements(kernel, kernel.prepare_indexing(index))
        size = V.graph.get_dtype(name).itemsize
        self.accesses.append({"what": what, "argument": argument, "buffer": name, "elements": elements, "size": size})

    def _defined(self, name: str, scheduling: Any, source: str, nodes: Any, kernel: Any) -> None:
        from torch._inductor.virtualized import V

        removed = {*kernel.removed_buffers, *kernel.inplaced_to_remove, *V.graph.removed_buffers}
        accesses = [access for access in self.accesses if access["what"] == "load" or access["buffer"] not in removed]
        fact = {
            "kind": kernel._get_heuristic(),
            "numels": {prefix: int(numel) for prefix, numel in kernel.numels.items()},
            "loops": self.loops,
            "accesses": accesses,
            "configs": _configs(source),
            "all configs": _configs(source, max_autotune=True),
        }
        self.kernels.setdefault(name, fact)
        self.accesses, self.loops = [], 0

    # The wrapper

    def _allocated(self, line: Any) -> None:
        layout = line.node.get_layout()
        self.events.append(["allocate", line.node.get_name(), int(layout.storage_size()) * layout.dtype.itemsize])

    def _freed(self, line: Any) -> None:
        if not getattr(line, "is_reused", False):
            self.events.append(["free", line.node.get_name()])

    def _reused(self, line: Any) -> None:
        self.events.append(["reuse", line.reused_as.get_name(), line.node.get_name()])

    def _called(self, line: Any) -> None:
        self.events.append(["kernel", line.kernel_name, [str(argument) for argument in line.call_args]])

    def _outside(self, line: Any) -> None:
        self.events.append(
            ["outside", line.node.get_kernel_name(), [operand.get_name() for operand in line.node.inputs]]
        )


@contextlib.contextmanager
def _noted(owner: Any, name: str, note: Callable, before: bool = False) -> Iterator[None]:
    """Within: a method also tells `note`, with its result and its arguments, or before it runs with its arguments."""
    original = getattr(owner, name)

    def both(*args: Any, **kwargs: Any) -> Any:
        if before:
            note(*args, **kwargs)
        result = original(*args, **kwargs)
        if not before:
            note(result, *args, **kwargs)
        return result

    with patch.object(owner, name, both):
        yield


def _elements(kernel: Any, index: Any) -> int | None:
    """The number of different positions that an index has in a whole kernel; None if the index was itself loaded."""
    import numpy as np
    from torch.utils._sympy.symbol import SymT, symbol_is_type

    if any(symbol_is_type(symbol, SymT.TMP) for symbol in index.free_symbols):
        return None
    used = {symbol: kernel.range_tree_nodes[symbol] for symbol in index.free_symbols}
    trees = [tree for tree in kernel.range_trees if any(entry.root is tree for entry in used.values())]
    axes = np.meshgrid(*(np.arange(int(tree.numel)) for tree in trees), indexing="ij")
    position = {id(tree): axis for tree, axis in zip(trees, axes)}
    values = {
        str(symbol): position[id(entry.root)] // int(entry.divisor) % int(entry.length)
        for symbol, entry in used.items()
    }
    space = values | {"FloorDiv": np.floor_divide, "ModularIndexing": lambda x, y, z: x // y % z}
    return int(np.unique(eval(str(index), {}, space)).size)


class _Configs(BaseException):
    """Raised with the configurations, in the place where Inductor would look for a result of an earlier tuning."""


def _configs(source: str, **options: bool) -> list[dict[str, int]]:
    """The configurations that Inductor would try for a kernel, of the arguments of its decorator."""
    from torch._inductor.runtime import hints, triton_heuristics
    from torch._inductor.utils import Placeholder

    for name in (Placeholder.DESCRIPTIVE_NAME, Placeholder.KERNEL_NAME):
        source = source.replace(str(name), "kernel")
    tree = ast.parse(source)
    function = next(node for node in tree.body if isinstance(node, ast.FunctionDef))
    call = next(node for node in function.decorator_list if isinstance(node, ast.Call))
    space = {**vars(hints), "__file__": "kernel.py"}
    arguments = {keyword.arg: eval(ast.unparse(keyword.value), space) for keyword in call.keywords}
    arguments["inductor_meta"].update(options)

    def stop(configs: list, *rest: Any) -> None:
        raise _Configs(configs)

    with patch.object(triton_heuristics, "check_autotune_cache", stop):
        try:
            getattr(triton_heuristics, call.func.attr)(**arguments)
        except _Configs as found:
            return [
                config.kwargs | {"num_warps": config.num_warps, "num_stages": config.num_stages}
                for config in found.args[0]
            ]
    raise AssertionError("no configurations")


def written(name: str, source: str, inputs: list, space: dict[str, Any] | None = None) -> dict[str, Any]:
    """The text of the module that Inductor writes for a function, and the facts about it."""
    import torch
    from torch._inductor.compile_fx import compile_fx

    torch._dynamo.reset()
    space = {"torch": torch, "F": torch.nn.functional} | (space or {})
    exec(source, space)
    inputs = [
        described if described and isinstance(described[-1], str) else [described, None, "float32"]
        for described in inputs
    ]
    facts, arguments = _Facts(), []

    def backend(graph: Any, examples: list) -> Any:
        arguments.extend(node.name[2] for node in graph.graph.nodes if node.op == "placeholder")  # L_x_
        return compile_fx(graph, examples)

    with facts.recorded(), torch.no_grad():
        try:
            torch.compile(space["f"], dynamic=False, backend=backend)(*(_input(*described) for described in inputs))
        except _Written as found:
            text = re.sub(r"# (kernel|Original) path: .*\n", "", found.args[0])
    return {
        "name": name,
        "source": source,
        "inputs": inputs,
        "arguments": arguments,
        "text": text,
        "kernels": facts.kernels,
        "events": facts.events,
    }


def _input(sizes: list[int], strides: list[int] | None, dtype: str) -> Any:
    import torch

    if strides is None:
        return torch.empty(sizes, dtype=getattr(torch, dtype), device="cuda")
    return torch.empty_strided(sizes, strides, dtype=getattr(torch, dtype), device="cuda")


def around_an_operator(name: str, operator: str) -> dict[str, Any]:
    """Return Inductor's code for a function that calls rushlight's own kernel."""
    import torch
    import triton

    from rushlight.on_torch import triton_ops

    space: dict[str, Any] = {"torch": torch, "Tensor": torch.Tensor, "triton": triton, "triton_ops": triton_ops}
    with tempfile.TemporaryDirectory() as folder:  # PyTorch reads the types of a function's source from a file
        path = Path(folder, "operator.py")
        path.write_text(operator)
        exec(compile(operator, str(path), "exec"), space)
        module = written(name, AROUND, [[64, 64], [600, 64], [600]], space)
    return {key: module[key] for key in ("name", "source", "inputs", "text")} | {"operator": operator}


def interpreted() -> dict[str, Any]:
    """Whether rushlight's kernel, in Triton's interpreter on the CPU, computes what PyTorch computes there."""
    return _in_the_interpreter("-c", INTERPRETED)


def _in_the_interpreter(*command: str, given: str = "") -> Any:
    """Return the output of a program that uses Triton's interpreter. The interpreter must be chosen before Triton is imported."""
    environment = os.environ | {"RUSHLIGHT_DEVICE": "cpu"}
    run = subprocess.run(
        [sys.executable, *command], env=environment, input=given, stdout=subprocess.PIPE, text=True, check=True
    )
    return json.loads(run.stdout)


@contextlib.contextmanager
def on_the_device() -> Iterator[None]:
    """Within: Inductor stops when a module is written. Triton is told the target, and does not compile."""
    import torch._inductor.config as config
    import triton
    from torch._inductor.graph import GraphLowering
    from triton.backends.compiler import GPUTarget

    class Target:
        def get_current_target(self) -> GPUTarget:
            return GPUTarget("cuda", 90, 32)

    def stop(self: GraphLowering) -> None:
        raise _Written(self.codegen()[0].value)

    triton.runtime.driver.set_active(Target())
    logging.disable(logging.WARNING)
    config.fx_graph_cache, config.compile_threads = False, 1
    with warnings.catch_warnings(), patch.object(GraphLowering, "compile_to_module", stop):
        warnings.simplefilter("ignore")
        yield


def record_all() -> dict[str, Any]:
    with on_the_device():
        modules = [written(*function) for function in FUNCTIONS]
        operators = [around_an_operator(*operator) for operator in OPERATORS.items()]
    agree = _in_the_interpreter(str(record.HERE / "interpret_triton.py"), given=json.dumps(modules))
    assert False not in agree.values(), agree
    modules = [module | {"interpreted": agree[module["name"]]} for module in modules]
    about = record.provenance("What Inductor writes in Triton, and what it knows about it", "record_triton.py")
    return {"provenance": about, "modules": modules, "operators": operators, "interpreted": interpreted()}


if __name__ == "__main__":
    record.main(__doc__, OUTPUT, record_all, ["modules"], indent=1)
