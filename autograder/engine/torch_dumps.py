"""The code that real Inductor generates for small functions, and facts about that code.

For the checks of lab 08 the judge compiles functions with torch's own Dynamo, AOTAutograd and Inductor, up to the generated
code. C++ is not compiled, so no compiler is needed. The facts are recorded where Inductor decides them, from its scheduler's
nodes, its loops and the lines of its wrapper before they become text. Nothing here parses the text. The instruction set and the
number of threads belong to a program and not to this machine, so that a program gives the same text everywhere.

A process of its own makes the dumps once for each version of torch and of Python. They are kept in the user's cache.
"""

from __future__ import annotations

import contextlib
import hashlib
import io
import itertools
import json
import linecache
import logging
import multiprocessing
import os
import random
import sys
import tempfile
import warnings
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from functools import cache
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest.mock import patch

import torch

from ..course import cache_folder

# A fork has torch loaded already. (No thread of the judge holds a lock that a child could wait for.) On macOS the system's
# libraries may end a fork, and Windows has none.
PROCESSES = multiprocessing.get_context("fork" if sys.platform == "linux" else "spawn")

POOL = 24  # programs drawn for a class
LOGS = 12  # logs drawn for a class
seed = 0  # of the pool: a class has its own; all notebooks share one, so that a machine makes it once

Program = dict[str, Any]  # source: the text of a function f; inputs: [sizes, strides, dtype]; isa; threads
Dump = dict[str, Any]  # the program, the text, and facts about it: see `_Facts`


# Pools ---------------------------------------------------------------------------------------------------------------


def edges() -> list[Dump]:
    """The dumps of the programs that every class has, the smallest text first."""
    return _made(0)["edges"]


def edge_logs() -> list[Dump]:
    """The logs that every class has."""
    return _made(0)["edge logs"]


def pool() -> list[Dump]:
    """The dumps of this pool's random programs, the smallest first, because Hypothesis shrinks towards the first."""
    return _made(seed)["dumps"]


def logs() -> list[Dump]:
    """The logs of this pool's random calls, the smallest first."""
    return _made(seed)["logs"]


def known(source: str, given: dict) -> Dump:
    """The dump of a program. A program that is in no pool is compiled now."""
    wanted = json.loads(json.dumps(given)) | {"source": source}
    for number in dict.fromkeys((seed, 0)):
        for dump in itertools.chain(*_made(number).values()):
            if wanted.items() <= dump.items():
                return dump
    return _compiled_now(json.dumps(wanted))


@cache
def _compiled_now(program: str) -> Dump:
    return _in_a_child([json.loads(program)])[0]


@cache
def _made(number: int) -> dict[str, list[Dump]]:
    """All dumps of a pool."""
    made = Path(__file__).read_text(encoding="utf-8"), torch.__version__, sys.implementation.cache_tag, number
    path = cache_folder() / "dumps" / f"{hashlib.sha256(repr(made).encode()).hexdigest()[:16]}.json"
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        with _locked(path.with_suffix(".lock")):
            if not path.exists():
                _make(number, path)
    return json.loads(path.read_text(encoding="utf-8"))


@contextlib.contextmanager
def _locked(path: Path) -> Iterator[None]:
    """Within, no other process of this user makes the same dumps. Where files cannot be locked, each makes its own."""
    with path.open("w") as file:
        with contextlib.suppress(ImportError, OSError):
            import fcntl  # it does not exist on Windows

            fcntl.flock(file, fcntl.LOCK_EX)
        yield


def _make(number: int, path: Path) -> None:
    programs = {
        "edges": EDGES if number == 0 else [],
        "edge logs": EDGE_CALLS if number == 0 else [],
        "dumps": [random_program(random.Random(f"{number}/{i}")) for i in range(POOL if number else POOL // 2)],
        "logs": [random_calls(random.Random(f"{number}/calls/{i}")) for i in range(LOGS)],
    }
    made = iter(_in_a_child([*itertools.chain(*programs.values())]))
    dumps = {name: sorted(itertools.islice(made, len(some)), key=_length) for name, some in programs.items()}
    with tempfile.NamedTemporaryFile("w", dir=path.parent, delete=False, encoding="utf-8") as temporary:
        json.dump(dumps, temporary)
    os.replace(temporary.name, path)


def _length(dump: Dump) -> int:
    return len(dump["text"])


def _in_a_child(programs: list[Program]) -> list[Dump]:
    """The dumps of programs, from a process of its own, because compiling changes process-wide state of torch."""
    # torch reads its templates in the system's encoding, and the encoding of some Windows cannot decode them
    with patch.dict(os.environ, {"PYTHONUTF8": "1"}), ProcessPoolExecutor(1, PROCESSES) as child:
        return child.submit(_all, programs).result()


def _all(programs: list[Program]) -> list[Dump]:
    torch.set_num_threads(1)
    logging.disable(logging.WARNING)
    with contextlib.ExitStack() as stack:
        folder = stack.enter_context(tempfile.TemporaryDirectory())
        stack.enter_context(patch.dict(os.environ, {"TORCHINDUCTOR_CACHE_DIR": folder}))
        stack.enter_context(warnings.catch_warnings())
        warnings.simplefilter("ignore")
        return [(logged if "calls" in program else compiled)(program) for program in programs]


# Compiling -----------------------------------------------------------------------------------------------------------


def compiled(program: Program) -> Dump:
    """Compile a program up to the generated text, and record what Inductor knows about it."""
    import torch._inductor.compile_fx  # noqa: F401  (before anything is patched)
    from torch._inductor import config, cpp_builder, cpu_vec_isa

    isa = {"avx512": cpu_vec_isa.VecAVX512, "avx2": cpu_vec_isa.VecAVX2, "none": cpu_vec_isa.InvalidVecISA}
    chosen = isa[program["isa"]]()
    facts, names = _Facts(), {"torch": torch, "F": torch.nn.functional}
    exec(program["source"], names)
    torch._dynamo.reset()
    inputs = [_input(*described) for described in program["inputs"]]
    options = {"fx_graph_cache": False, "compile_threads": 1, "cpp.threads": program["threads"]}
    with contextlib.ExitStack() as stack:
        stack.enter_context(config.patch(options))
        stack.enter_context(torch._functorch.config.patch(enable_autograd_cache=False))
        stack.enter_context(patch.object(torch._functorch.aot_autograd, "AOT_COUNTER", itertools.count()))
        for compiler in ("gcc", "clang", "apple_clang", "intel_compiler", "msvc_cl"):  # whichever this machine has
            stack.enter_context(patch.object(cpp_builder, f"is_{compiler}", lambda answer=compiler == "gcc": answer))
        for module in _users_of(cpu_vec_isa.pick_vec_isa):
            stack.enter_context(patch.object(module, "pick_vec_isa", lambda: chosen))
        stack.enter_context(patch.object(type(chosen), "__bool__", lambda self: program["isa"] != "none"))
        stack.enter_context(facts.recorded())
        stack.enter_context(torch.no_grad())
        stack.enter_context(contextlib.suppress(_Generated))
        torch.compile(names["f"], dynamic=False)(*inputs)
    return program | facts.as_dict()


def _input(sizes: list[int], strides: list[int] | None, dtype: str) -> torch.Tensor:
    kind = getattr(torch, dtype)
    return (
        torch.ones(sizes, dtype=kind) if strides is None else torch.empty_strided(sizes, strides, dtype=kind).fill_(1)
    )


def _users_of(function: Callable) -> list:
    return [m for m in list(sys.modules.values()) if getattr(m, "__dict__", {}).get(function.__name__) is function]


class _Generated(Exception):
    """Raised instead of loading and running the generated code."""


def _not_run(args: list) -> None:
    raise _Generated


class _Facts:
    """Facts that Inductor knows about the code, recorded while it generates the code.

    text: the module. events: the calls of kernels and of external operators, and the allocations, in the order of the
    wrapper. kernels: by name, each one's operations, loops and reductions. moved: the bytes of each kernel call's arguments.
    """

    def __init__(self) -> None:
        self.text = ""
        self.events: list[list] = []
        self.kernels: dict[str, dict] = {}
        self.moved: list[int] = []
        self._loops: list[list] = []
        self._reductions: list[str] = []
        self._nest: Any = None
        self._inner: list[tuple[Any, int]] = []  # nests within the loops of others, and the depth at which each begins

    def as_dict(self) -> dict:
        return {"text": self.text, "events": self.events, "kernels": self.kernels, "moved": self.moved}

    @contextlib.contextmanager
    def recorded(self) -> Iterator[None]:
        """Within: records what Inductor generates."""
        from torch._inductor import graph
        from torch._inductor.codegen import cpp, wrapper

        with contextlib.ExitStack() as stack:

            def record_calls(owner: Any, name: str, note: Callable) -> None:
                original = getattr(owner, name)

                def both(*args: Any, **kwargs: Any) -> Any:
                    result = original(*args, **kwargs)
                    note(result, *args, **kwargs)
                    return result

                stack.enter_context(patch.object(owner, name, both))

            stack.enter_context(patch.object(graph.GraphLowering, "_compile_to_module_lines", self._keep))
            for kind, note in (
                (wrapper.AllocateLine, self._allocated),
                (wrapper.FreeLine, self._freed),
                (wrapper.FreeIfNotReusedLine, self._freed),
                (wrapper.ReuseLine, self._reused),
                (wrapper.KernelCallLine, self._called),
                (wrapper.ExternKernelOutLine, self._called_outside),
                (wrapper.ExternKernelAllocLine, self._called_outside),
            ):
                record_calls(kind, "codegen", lambda _, line, code, note=note: note(line))
            record_calls(cpp.CppScheduling, "define_kernel", self._defined)
            record_calls(cpp.CppKernel, "_gen_reduction_prefix", _mark_reduction)
            record_calls(cpp.LoopNest, "get_kernel", self._entered)
            record_calls(cpp.LoopLevel, "lines", self._looped)
            yield

    def _keep(self, code: Any) -> SimpleNamespace:
        self.text = code.value
        return SimpleNamespace(__file__="generated", call=_not_run)

    # The wrapper: memory and calls

    def _allocated(self, line: Any) -> None:
        size = _bytes(line.node.get_layout().storage_size(), line.node.get_dtype())
        self.events.append(["allocate", line.node.get_name(), size])

    def _freed(self, line: Any) -> None:
        if not getattr(line, "is_reused", False):
            self.events.append(["free", line.node.get_name()])

    def _reused(self, line: Any) -> None:
        self.events.append(["reuse", line.reused_as.get_name(), line.node.get_name()])

    def _called(self, line: Any) -> None:
        self.events.append(["kernel", line.kernel_name])

    def _called_outside(self, line: Any) -> None:
        operands = [operand.get_name() for operand in line.node.inputs]
        self.events.append(["outside", line.node.get_kernel_name(), operands, line.node.get_name()])

    # The kernels

    def _defined(self, name: str, scheduling: Any, source: str, nodes: Any, kernel_args: Any = None) -> None:
        from torch._inductor.utils import Placeholder, aggregate_origins
        from torch._inductor.virtualized import V

        origins = [node for node in aggregate_origins(nodes) if node.op == "call_function"]
        known = [node.meta["original_aten"] for node in origins if node.meta.get("original_aten") is not None]
        operations = sorted({overload._overloadpacket.__name__ for overload in known})
        source = source.replace(str(Placeholder.KERNEL_NAME), "kernel").replace("#pragma CMT", "//")
        kernel = {"operations": operations, "loops": self._loops, "reductions": self._reductions, "source": source}
        self.kernels.setdefault(name, kernel)
        self._loops, self._reductions = [], []

        args = scheduling.kernel_group.args if kernel_args is None else kernel_args
        in_place = {id(buffer): buffer for buffer in args.inplace_buffers.values() if hasattr(buffer, "other_names")}
        moved = [2 * _graph_bytes(V.graph, buffer.other_names[-1]) for buffer in in_place.values()]
        moved += [_graph_bytes(V.graph, name) for name in args.input_buffers if name not in args.inplace_buffers]
        written = [name for name, inner in args.output_buffers.items() if isinstance(inner, str)]
        moved += [_graph_bytes(V.graph, name) for name in written if name not in args.inplace_buffers]
        self.moved.append(sum(moved))

    def _entered(self, kernel: Any, nest: Any) -> None:
        self._nest = nest
        for inner in getattr(kernel, "inner", ()):  # several nests within the same outer loops
            self._inner.append((inner, len(nest.loops)))

    def _looped(self, lines: list[str] | None, loop: Any) -> None:
        if lines is None:
            return
        position = next(i for i, other in enumerate(self._nest.loops) if other is loop)
        depth = position + next((depth for nest, depth in self._inner if nest is self._nest), 0)
        self._loops.append([depth, str(loop.var), int(loop.size), int(loop.steps), int(loop.parallel)])
        if loop.is_reduction and not (position and self._nest.loops[position - 1].is_reduction):
            main = self._nest.kernel.kernels[0]
            self._reductions += [
                generator.reduction for generator in main.reduction_prefix_generators if generator.reduction
            ]


def _mark_reduction(
    prefix: Any, kernel: Any, acc: Any, acc_type: str, reduction: str, dtype: Any, init: Callable
) -> None:
    """Store the reduction of a scalar accumulator on its declaration."""
    from torch._inductor.codegen import cpp

    prefix.reduction = reduction if init is cpp.reduction_init and str(acc).startswith("tmp_acc") else None


def _bytes(count: Any, dtype: torch.dtype) -> int:
    return int(count) * dtype.itemsize


def _graph_bytes(graph: Any, name: str) -> int:
    return _bytes(graph.get_numel(name), graph.get_dtype(name))


# Recompilations ------------------------------------------------------------------------------------------------------

_SCALARS = {"float32": "Float", "float64": "Double", "int32": "Int", "int64": "Long", "bool": "Bool", "float16": "Half"}


def logged(program: Program) -> Dump:
    """Call compiled functions one after the other. The dump has Dynamo's log, and the reason for each recompilation.

    The reasons come from the calls themselves. Each call differs from every earlier call of its function, and is compared with
    them in the order in which Dynamo tries its versions, the newest first.
    """
    torch._dynamo.reset()
    linecache.cache["model.py"] = (0, None, program["source"].splitlines(keepends=True), "model.py")
    names: dict[str, Any] = {"torch": torch}
    exec(compile(program["source"], "model.py", "exec"), names)
    functions, versions, found = {}, {}, []
    with _recompiles_logged() as stream:
        for name, call in program["calls"]:
            if name not in functions:
                functions[name] = torch.compile(names[name], backend="eager", dynamic=False)
            functions[name](**{key: _argument(value) for key, value in call.items()})
            number = list(functions).index(name)
            known = versions.setdefault(name, [])
            if known:
                reasons = [[f"{number}/{i}", *_reason(version, call)] for i, version in reversed([*enumerate(known)])]
                found.append([names[name].__name__, reasons])
            known.append(call)
    torch._dynamo.reset()
    return program | {"text": stream.getvalue(), "recompilations": found}


@contextlib.contextmanager
def _recompiles_logged() -> Iterator[io.StringIO]:
    """Within: the output of TORCH_LOGS=recompiles goes to the stream, without today's date, this process and folder."""
    from torch._logging import _internal

    def at_no_time(record: logging.LogRecord) -> bool:
        record.created, record.msecs, record.process = 0.0, 0.0, 1
        record.pathname = str(Path(record.pathname).relative_to(Path(torch.__file__).parents[1]))
        return True

    stream = io.StringIO()
    handler = logging.StreamHandler(stream)
    handler.setFormatter(_internal.TorchLogsFormatter())
    handler.addFilter(at_no_time)
    logging.disable(logging.NOTSET)
    torch._logging.set_logs(recompiles=True)
    logger = torch._logging.getArtifactLogger("torch._dynamo.guards", "recompiles")
    with patch.object(logger, "propagate", False), patch.object(logger, "handlers", [handler]):
        yield stream
    torch._logging.set_logs()


def _argument(value: Any) -> Any:
    """The argument that a call describes."""
    if isinstance(value, dict) and "sizes" not in value:
        return {key: _argument(item) for key, item in value.items()}
    if isinstance(value, dict):
        return _input(value["sizes"], value["strides"], value["kind"]).requires_grad_(value["requires_grad"])
    return [_argument(item) for item in value] if isinstance(value, list) else value


def _reason(before: dict, after: dict) -> list:
    """How the first argument that differs does so: [argument, property, expected, actual]."""
    for name in before:
        if before[name] != after[name]:
            return _first_difference(name, before[name], after[name])
    raise ValueError("the same call twice")


def _first_difference(name: str, before: Any, after: Any) -> list:
    if isinstance(before, list):
        if len(before) != len(after):
            return [f"len({name})", "value", str(len(before)), None]
        position = next(i for i, pair in enumerate(zip(before, after)) if pair[0] != pair[1])
        return _first_difference(f"{name}[{position}]", before[position], after[position])
    if not isinstance(before, dict):
        return [name, "value", repr(before), None]
    if "sizes" not in before:
        key = next(key for key in before if before[key] != after[key])
        return _first_difference(f"{name}[{key!r}]", before[key], after[key])
    x, y = _argument(before), _argument(after)
    if x.dtype != y.dtype:
        return [name, "dtype", _SCALARS[before["kind"]], _SCALARS[after["kind"]]]
    if x.requires_grad != y.requires_grad:
        return [name, "requires_grad", str(int(x.requires_grad)), None]
    if x.dim() != y.dim():
        return [name, "rank", str(x.dim()), str(y.dim())]
    for what, mine, theirs in (("size", x.shape, y.shape), ("stride", x.stride(), y.stride())):
        for expected, actual in zip(mine, theirs):
            if expected != actual:
                return [name, what, str(expected), str(actual)]
    raise ValueError("the same tensor twice")


# Programs ------------------------------------------------------------------------------------------------------------


# The possible steps: {a}, {b} and {m} are earlier values, {d} is a dimension of the first.
_STEPS = [
    *["torch.relu({a})", "torch.tanh({a})", "torch.sigmoid({a})", "{a} * 2", "{a} + 1", "-{a}", "torch.exp({a})"],
    *["{a} + {b}", "{a} * {b}", "{a} - {b}", "torch.maximum({a}, {b})", "torch.where({a} > {b}, {a}, {b})"],
    *["{a}.sum({d})", "{a}.sum({d}, keepdim=True)", "{a}.amax({d})", "{a}.amin()", "{a}.mean({d}, keepdim=True)"],
    *["{a}.prod({d})", "{a}.argmax({d})", "{a}.argmin({d})", "({a} > 1).any({d})", "{a}.var({d})", "{a}.sum()"],
    *["F.softmax({a}, {d})", "F.layer_norm({a}, {a}.shape[-1:])", "torch.logsumexp({a}, {d})"],
    *["{a} @ {b}", "{a} @ {a}.t()", "{a}.t() @ {b}", "F.linear({a}, {b})", "torch.addmm({b}, {a}, {a}.t())"] * 2,
    *["{a}.t()", "{a}.reshape(-1)", "{a}[1:]", "{a}.unsqueeze(0)", "{a}.t().contiguous()"],
    *["torch.cat([{a}, {b}])", "torch.cat([{a}, {a} + 1], {d})", "torch.stack([{a}, {b}])"],
    *["{a}.to(torch.float64)", "{a}.to(torch.int64)", "{a}.sort({d})[0]", "{a}.cumsum({d})", "x0.add_({a})"],
]


def random_program(rng: random.Random) -> Program:
    """A function of one to three tensors, two to eight steps long."""
    rows, columns = rng.choice([1, 2, 3, 8, 16, 33, 40]), rng.choice([2, 5, 7, 16, 20, 50, 64, 100])
    shapes = [[rows, columns], [rows, columns], [columns], [columns, rows], [1, columns], [columns, columns]]
    inputs = []
    for _ in range(rng.randint(1, 3)):
        sizes = rng.choice(shapes[: 6 if inputs else 1])
        turned = len(sizes) == 2 and not rng.randrange(5)
        inputs.append([sizes, [1, sizes[0]] if turned else None, rng.choice(["float32"] * 5 + ["float64"])])
    values = {f"x{i}": _input(*described) for i, described in enumerate(inputs)}
    lines, steps = [], rng.randint(2, 8)
    while len(lines) < steps:
        names = list(values)
        a, b = rng.choice([*names[-2:], *names]), rng.choice(names)
        step = rng.choice(_STEPS).format(a=a, b=b, d=rng.choice([0, 1, -1]))
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                found = eval(step, {"torch": torch, "F": torch.nn.functional}, dict(values))
        except (RuntimeError, IndexError):
            continue
        if 0 < found.numel() <= 20000:
            name = f"v{len(lines)}"
            lines.append(f"    {name} = {step}")
            values[name] = found
    made = [name for name in values if name.startswith("v")]
    shown = [made[-1], *(name for name in made[:-1] if not rng.randrange(4))]
    source = "\n".join([f"def f({', '.join(list(values)[: len(inputs)])}):", *lines, f"    return {', '.join(shown)}"])
    isa, threads = rng.choice(["none", "avx2", "avx512"]), rng.choice([1, 1, 4])
    return {"source": source, "inputs": inputs, "isa": isa, "threads": threads}


_FUNCTIONS = """def step(x, weight):
    return torch.relu(x) * weight


def scale(x, count):
    return x * count


def total(parts, mode):
    result = parts[0].sum()
    if mode == "mean":
        result = result / parts[0].numel()
    return result
"""


def _tensor(sizes: list[int], strides: list[int] | None = None, kind: str = "float32", grad: bool = False) -> dict:
    return {"sizes": sizes, "strides": strides, "kind": kind, "requires_grad": grad}


def random_calls(rng: random.Random) -> Program:
    """Calls of one or two functions; those of one function differ in one argument, each from all earlier ones."""
    calls = []
    for name in rng.sample(["step", "scale", "total"], rng.choice([1, 1, 2])):
        tensors = [_tensor(sizes) for sizes in ([3], [4], [3, 4], [3, 5], [2, 4], [1, 3], [12], [3, 4, 2])]
        tensors += [_tensor([3, 4], [1, 3]), _tensor([3, 4], kind="float64"), _tensor([3, 4], grad=True)]
        tensors += [_tensor([3, 4], [8, 2]), _tensor([3], kind="int64"), _tensor([4], kind="int32")]
        values = {
            "step": [{"x": x, "weight": _tensor([1])} for x in tensors],
            "scale": [{"x": _tensor([3]), "count": count} for count in rng.sample([2, 3, 7, 12, -1, 2.5, 0.25], 7)],
            "total": [{"parts": [x], "mode": "sum"} for x in tensors]
            + [{"parts": [tensors[0]] * count, "mode": "sum"} for count in (2, 3)],
        }
        if name == "step" and rng.randrange(2):
            values["step"] = [{"x": _tensor([3, 4]), "weight": w} for w in tensors if w["sizes"] == [3, 4]]
        if (
            name == "scale"
        ):  # of one type, because Dynamo checks the type first, by a number that changes from process to process
            kind = rng.choice([int, float])
            values["scale"] = [call for call in values["scale"] if isinstance(call["count"], kind)]
        if name == "total" and rng.randrange(2):
            values["total"] = [{"parts": [tensors[0]], "mode": mode} for mode in ("sum", "mean", "it's", "a == b")]
        calls += [[name, call] for call in rng.sample(values[name], min(rng.randint(2, 4), len(values[name])))]
    return {"source": _FUNCTIONS, "calls": calls}


# The programs of every class -----------------------------------------------------------------------------------------


def _edge(result: str, *inputs: list, isa: str = "none", threads: int = 1, steps: str = "") -> Program:
    """The function that returns `result`, of inputs x, y and z: sizes, and if need be strides and dtype."""
    lines = [f"def f({', '.join('xyz'[: len(inputs)])}):", *steps.splitlines(), f"return {result}"]
    described = [[entry, None, "float32"] if not isinstance(entry[-1], str) else entry for entry in inputs]
    return {"source": "\n    ".join(lines), "inputs": described, "isa": isa, "threads": threads}


EDGES = [
    _edge("x + 1, x.sum()", [0, 3]),
    _edge("x + 1", [10]),
    _edge("x.t()", [2, 3]),
    _edge("x.double() + 1", [3]),
    _edge("x @ x", [3, 3]),
    _edge("(x @ x).relu()", [3, 3]),
    _edge("(((x @ x).relu() @ x).sin() @ x).relu()", [3, 3]),
    _edge("(x @ x).reshape(4, 9).sin() @ y", [[6, 6], None, "float64"], [[9, 20], None, "float64"]),
    _edge("x.t() @ y", [4, 3], [4, 5]),
    _edge(f"x{' @ x' * 13}", [3, 3]),
    _edge("x[y.reshape(2, 2)]", [[5], None, "complex64"], [[4], None, "int64"]),
    _edge(f"x + x.permute({[*range(10, -1, -1)]})", [2] * 11),
    _edge("(x + y.permute(3, 2, 1, 0)).tanh()", [2, 3, 4, 4000], [4000, 4, 3, 2], threads=16),
    _edge("x.tanh()", [33, 50], isa="avx512", threads=4),
    _edge("x.tanh()", [33, 50], isa="avx2"),
    _edge("x + y.t()", [40, 33], [33, 40], isa="avx512"),
    _edge("(x + y.permute(2, 1, 0)).sum(-1)", [3, 20, 400], [400, 20, 3], threads=4),
    _edge("x.sum(0), x.sum(1), x.prod(), x.mean()", [33, 50], isa="avx512", threads=4),
    _edge("x.sum(), x.double().sum(0)", [20000, 3], isa="avx2", threads=4),
    _edge("x.amax(1), x.amin(1), x.argmax(1), x.argmin(0), x.prod(1), (x > 1).any(1)", [20, 17]),
    _edge("x.amax(1), x.amin(), x.sum(), x.argmax(0), x.argmin(1), x.prod()", [[20, 17], None, "int64"]),
    _edge("x.any(), x.all(0), x.sum()", [[20, 17], None, "bool"]),
    _edge("x.var(), x.var(1), x.sum()", [30, 40]),
    _edge("x.sum(), x.var()", [30, 40]),
    _edge("x.var()", [[30, 40], None, "float64"]),
    _edge("torch.var_mean(x)[1], F.softmax(x, 1)", [16, 40], isa="avx512"),
    _edge("F.softmax(torch.relu(F.linear(x, y, z)) * 2, -1)", [33, 20], [50, 20], [50], isa="avx512", threads=4),
    _edge("torch.tanh(x @ y) @ y @ y.t() @ x", [16, 16], [16, 16]),
    _edge("torch.tanh(torch.tanh(x.relu() @ y) @ y) @ y", [16, 16], [16, 16], isa="avx2"),
    _edge("x[y].tanh(), torch.index_select(x, 1, y).sin()", [5, 4], [[3], None, "int64"]),
    _edge("(x.sort(1)[0] + 1) @ x @ x", [8, 8]),
    _edge("y.relu(), (y.relu() @ x).relu()", [8, 8], [8, 8], isa="avx2"),
    _edge("x.sort(1)[0] + 1, x.cumsum(0) * 2, F.layer_norm(x, x.shape[1:])", [12, 40], threads=4),
    _edge("torch.cat([x, x * 2], 1).to(torch.float64), x.t().contiguous() @ y", [4, 6], [4, 5]),
    _edge("x[y, :, z]", [[5, 4, 3], None, "complex64"], [[2], None, "int64"], [[2], None, "int64"]),
    _edge("torch.log1p(torch.expm1(torch.atan2(x, y)))", [33], [33]),
    _edge("torch.atan2(x, y) + 1", [33], [33]),
    _edge("torch.ops.aten.sigmoid_backward(x.log(), y)", [33], [33]),
    _edge("torch.searchsorted(x, y, sorter=z) + 1", [8], [5], [[8], None, "int64"]),
    _edge("torch.cat([x @ x, y @ y]).tanh() @ z", [6, 6], [6, 6], [6, 2000]),
    _edge(f"x{''.join(f' @ y * {factor}' for factor in range(2, 14))}", [6, 6], [6, 6]),
    _edge(
        ", ".join(f"(x + {i}).{('sum', 'amax', 'prod', 'amin')[i % 4]}()" for i in range(12)), [40, 17], isa="avx512"
    ),
    _edge("F.conv2d(x, y).relu(), torch.bmm(z, z)", [1, 2, 6, 6], [3, 2, 3, 3], [2, 5, 5]),
    _edge("x.mean(), x.t() @ x", [[40, 7], [1, 40], "float32"], steps="x.add_(1)"),
    _edge("((x @ x).sin() @ x).cos() @ x, x.to(torch.int32), x > 0, x.half(), x.bfloat16()", [[6, 6], None, "float64"]),
    _edge("torch.addmm(z, x, y).reshape(-1)[1:] + 1, (x @ y).reshape(2, 3, 5).tanh()", [6, 4], [4, 5], [5], threads=4),
]

_X, _Y = _tensor([3, 4]), _tensor([3, 5])
_LIKE_A_REASON = "# - 0/0: count == 1  # Recompiling function total in model.py:1"  # in the stack trace of the log
_TEN_MORE = [f"more_{number}" for number in range(10)]


def _calls(name: str, *given: dict) -> list:
    return [[name, item] for item in given]


EDGE_CALLS = [
    {"source": _FUNCTIONS, "calls": calls}
    for calls in (
        _calls("step", {"x": _X, "weight": _tensor([1])}),
        _calls("step", {"x": _X, "weight": _tensor([1])}, {"x": _Y, "weight": _tensor([1])}),
        _calls("step", *[{"x": x, "weight": _tensor([1])} for x in (_X, _tensor([3]), _tensor([3, 4], [1, 3]))]),
        _calls(
            "step",
            *[{"x": _X, "weight": w} for w in (_X, _tensor([3, 4], grad=True), _tensor([3, 4], None, "float64"))],
        ),
        _calls(
            "step",
            *[{"x": x, "weight": _tensor([1])} for x in (_tensor([1] * 10 + [12]), _tensor([1] * 10 + [13]), _X)],
        ),
        _calls("scale", *[{"x": _X, "count": count} for count in (2, -1, 12)]),
        _calls(
            "total",
            *[
                {"parts": [_X], "mode": mode}
                for mode in ("sum", "a == b", "it's", "# - 0/0: mode", "a # b", "a  b", "b")
            ],
        ),
        _calls("total", *[{"parts": parts, "mode": "sum"} for parts in ([_X], [_X, _X], [_Y])]),
        _calls("scale", {"x": _X, "count": 2.5}, {"x": _X, "count": 0.5})
        + _calls("total", {"parts": [_X], "mode": "sum"}, {"parts": [_X], "mode": "mean"}),
    )
] + [
    {"source": f"{_FUNCTIONS}\n\ntwice = lambda x: x * 2\n", "calls": _calls("twice", {"x": _X}, {"x": _Y})},
    {
        "source": f"{_FUNCTIONS}\n\ndef of_table(table):\n    return table['x'] * table['count']\n",
        "calls": _calls("of_table", *[{"table": {"x": x, "count": count}} for x, count in ((_X, 2), (_Y, 2), (_Y, 3))]),
    },
    {
        "source": f"{_FUNCTIONS}\n\ndef quoted(x, count):\n    return x * count  {_LIKE_A_REASON}\n",
        "calls": _calls("quoted", *[{"x": _X, "count": count} for count in (2, 3, 4)]),
    },
    {
        "source": "\n\n".join([_FUNCTIONS, *(f"def {name}(x):\n    return x\n" for name in _TEN_MORE)]),
        "calls": [[name, {"x": _X}] for name in _TEN_MORE]
        + _calls("total", *[{"parts": [x], "mode": "sum"} for x in (_X, _Y)]),
    },
]
