"""The patient's half of an examination: it runs in the process that has the patient's framework, the sound one, or torch.

The backend "inductor" needs no C++ compiler here: rushlight's loops are interpreted, and torch's graph is run by its operators.
"""

from __future__ import annotations

import ast
import base64
import builtins
import contextlib
import functools
import io
import operator
import os
import re
import sys
import warnings
import zlib
from collections.abc import Callable, Iterator
from types import BuiltinFunctionType, CodeType, FrameType, FunctionType, GeneratorType, ModuleType, TracebackType
from typing import Any

import numpy as np

import rushlight
from rushlight.aten.strided import Tensor
from rushlight.course.short_names import long_form
from rushlight.dynamo import eval_frame

from . import interpreter
from .check import exercise_of, function_of
from .exercise import fill
from .observe import MAX_BYTES, MAX_TEXT, Malformed, Tree, accept, encode, observe_call, receive
from .subject import RushlightSide

if str(rushlight.__file__).endswith(
    ".pyc"
):  # an edition: the judge imports this module too, and its framework keeps its compiler
    eval_frame.BACKENDS["inductor"] = lambda module, inputs: interpreter.compile_fx(module, inputs)
MAX_FUNCTIONS = 2000
# The modules that a program may use: the others read files, run texts, or start processes
MODULES = re.compile(
    r"(rushlight|torch)\.(amp|ao|autograd|compiler|distributions|export|fft|func|fx|linalg|nn|ops|optim|random|special|testing)(\.\w+)*"
    r"|torch\.distributed|(rushlight|torch)\.utils(\.(checkpoint|data|flop_counter))?"
)
PRIVATE = ("_", "f_", "gi_", "cr_", "ag_", "tb_", "co_")  # the last ones begin the attributes of frames and code
INNER = {name for kind in (CodeType, FrameType, GeneratorType, TracebackType) for name in dir(kind)}
OPERATORS = {name for name, value in vars(operator).items() if isinstance(value, BuiltinFunctionType)}
OPERATORS |= vars(int).keys() - vars(object).keys()
READS = {
    "device",  # a factory calls it with the device's name
    "size",
    "stride",
    "dim",
    "numel",
    "storage_offset",
    "is_contiguous",
    "tolist",
    "item",
    "data_ptr",
    "untyped_storage",
}


class Widening:
    """A side of `observe` that takes bfloat16, which numpy does not have, as float32."""

    def take(self, value: Any) -> Tree | None:
        if str(getattr(value, "dtype", "")).endswith(".bfloat16"):
            return {"dict": [["bfloat16", super().take(value.float())]]}  # type: ignore[misc]
        return super().take(value)  # type: ignore[misc]


class PatientSide(Widening, RushlightSide):
    """rushlight, as `observe` uses it. A program may return tensors that require grad, as on torch."""

    def take(self, value: Any) -> Tree | None:
        return super().take(value.detach() if isinstance(value, Tensor) and value.requires_grad else value)


def with_torchs_names(tree: Tree) -> Tree:
    """An observation in which texts, such as a printed dtype, name torch in the place of rushlight."""
    if isinstance(tree, str):
        return tree.replace("rushlight.", "torch.")
    if isinstance(tree, list):
        return [*map(with_torchs_names, tree)]
    return {"dict": with_torchs_names(tree["dict"])} if isinstance(tree, dict) and "dict" in tree else tree


class Public:
    """A module of a framework, without what it has imported from Python, and without the modules that are not `MODULES`: a program
    must not find out where it runs."""

    def __init__(self, module: ModuleType):
        self.__wrapped__ = module

    def __getattr__(self, name: str) -> Any:
        try:
            value = getattr(module := self.__wrapped__, name)
        except AttributeError as error:
            raise AttributeError(str(error)) from None  # the first one holds the module
        if name == "compile" and module.__name__ == "torch":  # no C++ is compiled in a sandbox
            return lambda *args, **kwargs: value(*args, **{"backend": "aot_eager"} | kwargs)
        if isinstance(value, ModuleType):
            if MODULES.fullmatch(value.__name__):
                return Public(value)
            raise AttributeError(f"{name} is a module that a program does not use: it could read files with it")
        source = str(getattr(value, "__module__", None)) if callable(value) else "None"
        if source.partition(".")[0] not in ("None", "rushlight", "torch"):
            raise AttributeError(f"{name} is a function of Python: a program uses the framework only")
        return value

    def __reduce__(self) -> tuple:
        return Public, (self.__wrapped__,)  # for a program that runs on ranks


@contextlib.contextmanager
def program_runs(of_framework: bool) -> Iterator[None]:
    """Within: nothing warns. And code of rushlight refuses to read an attribute that leads to code, frames or modules, unless its
    own text names the attribute, and to compile a text that names one."""
    read, reader = getattr, operator.attrgetter

    def getattr_or_refuse(value: Any, name: str, *default: Any) -> Any:
        _refuse_name(name, sys._getframe(1))
        return read(value, name, *default)

    def attrgetter_or_refuse(*names: str) -> Callable:
        for name in names:
            _refuse_name(name, sys._getframe(1))
        return reader(*names)

    global _program_runs
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            if of_framework:
                _watch_texts()
                vars(builtins)["getattr"], operator.attrgetter = getattr_or_refuse, attrgetter_or_refuse  # type: ignore
                _program_runs = True
            yield
        finally:
            _program_runs, vars(builtins)["getattr"], operator.attrgetter = False, read, reader  # type: ignore


_program_runs = False
_on_pytorch = False  # a student's program runs on a patient that is PyTorch
OUTSIDE = re.compile(
    r"\b(import|inspect|linecache|getsource\w*|open|exec|eval|__(import|builtins|globals|code|dict|class)__)\b"
)


def _refuse_name(path: str, frame: FrameType) -> None:
    """Raise AttributeError if a path of attributes leads inside, and a function of rushlight that does not name it reads it."""
    inside = type(path) is str and ("__" in path or "_" in path and not INNER.isdisjoint(path.split(".")))
    if inside and frame.f_globals.get("__name__", "").startswith("rushlight."):
        for name in path.split("."):
            if (name in INNER or name.startswith("__")) and name not in {*OPERATORS, *frame.f_code.co_consts}:
                raise AttributeError(f"a text names {name}: a program uses public names of the framework only")


def _refuse_text(event: str, args: tuple) -> None:
    """The same for the names in a text that rushlight compiles, as an audit hook. Only Dynamo writes texts with such names. And a
    text that torch.fx compiles for a student's program leads to no other module."""
    if _on_pytorch and event == "compile" and isinstance(args[0], str | bytes):
        module = sys._getframe(1).f_globals.get("__name__", "")
        text = args[0] if isinstance(args[0], str) else args[0].decode()
        if module.startswith("torch.fx.") and (found := OUTSIDE.search(text)):
            raise AttributeError(f"a text names {found[0]}: a program uses the framework only")
    if _program_runs and event == "compile" and isinstance(args[0], str | bytes):
        frame = sys._getframe(1)
        if frame.f_globals.get("__name__", "").startswith("rushlight.") and "dynamo" not in frame.f_globals["__name__"]:
            for node in ast.walk(ast.parse(args[0])):
                _refuse_name(getattr(node, "attr", getattr(node, "id", "")), frame)


@functools.cache
def _watch_texts() -> None:
    """Begin to refuse texts, only when a program is about to run, because a hook slows each event of the process to its end."""
    sys.addaudithook(_refuse_text)


def report(program: Callable, with_torch: bool) -> None:
    """Print what a program `name(xp)` gives: its `result`, the `operators` of torch that it calls, and the `functions` of rushlight
    that run, by module and name."""
    operators: list[str] = []
    functions: dict[str, None] = {}
    with program_runs(of_framework=not with_torch):
        if with_torch:
            import torch
            import torch.utils.flop_counter  # `import torch` alone does not import it, and `import rushlight` does

            from .torch_side import TorchSide

            torch.manual_seed(0)

            class ClinicSide(Widening, TorchSide):
                pass

            result = observe_call(_recorded(program, operators), ClinicSide(Public(torch)), {})
        else:
            side = PatientSide()
            side.xp = Public(rushlight)
            rushlight.manual_seed(0)
            sys.setprofile(entering(functions))
            try:
                result = with_torchs_names(observe_call(program, side, {}))
            finally:
                sys.setprofile(None)
    send_printed({"result": result, "operators": operators, "functions": [*functions]})


def report_on_pytorch(program: Callable, ours: bool) -> None:
    """Print the `result` of a program `name(torch)`, and how many `graphs` Dynamo compiled: a mend that turns it off shows
    no fault. One of ours gets all of torch, and a student's what is public."""
    torch, side = _pytorch(ours)
    with program_runs(of_framework=False):
        result = observe_call(program, side, {})
    dynamo = sys.modules.get("torch._dynamo.utils")
    send_printed({"result": result, "graphs": dynamo.counters["stats"]["unique_graphs"] if dynamo else 0})


def report_test(test: Callable, ours: bool) -> None:
    """Print as `result` why a test `name(self, torch)` fails, or an empty text. Its class is that of PyTorch's own tests."""
    import unittest

    from torch.testing._internal.common_utils import TestCase

    torch, side = _pytorch(ours)
    kind = type("Test", (TestCase,), {"test": lambda self: test(self, side.xp)})
    found = unittest.TestResult()
    with program_runs(of_framework=False):
        kind("test").run(found)
    failed = [*found.failures, *found.errors]
    lines = [line for _, text in failed for line in text.splitlines()]
    first = [i for i, line in enumerate(lines) if re.match(r"[\w.]*(Error|Exception|Unsupported)\b", line)]
    said = " ".join(filter(None, lines[first[-1] if first else -1 :][:4])).partition(" To execute this test")[0]
    where = getattr(failed[-1][0], "_subDescription", str)() if failed else ""  # the arguments of its subTest
    send_printed({"result": f"{said} {where}".strip()})


def _pytorch(ours: bool) -> tuple[ModuleType, Any]:
    """torch, which compiles no C++ here, and how its values are observed."""
    import torch
    import torch.utils.flop_counter

    from .torch_side import TorchSide

    class Side(Widening, TorchSide):
        pass

    global _on_pytorch
    _watch_texts()
    _on_pytorch = not ours
    torch.manual_seed(0)
    compiled = torch.compile

    def compile_here(*args: Any, **kwargs: Any) -> Any:
        torch._dynamo.config.recompile_limit = 64  # beyond it the function would run eagerly, without a word
        return compiled(*args, **{"backend": "aot_eager"} | kwargs)

    torch.compile = compile_here
    return torch, Side(torch if ours else Public(torch))


def entering(functions: dict[str, None]) -> Callable:
    """A function for `sys.setprofile` that adds each function of rushlight that is called, by module and name."""

    def enter(frame: Any, event: str, argument: object) -> None:
        module = frame.f_globals.get("__name__", "")
        if event == "call" and module.startswith("rushlight.") and len(functions) < MAX_FUNCTIONS:
            functions[f"{module}.{frame.f_code.co_name}"] = None

    return enter


def in_child(cell: str) -> None:
    """Run a cell in a child of this process, which has imported torch and runs no code of a student. Print what the child prints.

    Windows has no forks. There the cell runs in this process.
    """
    if not hasattr(os, "fork"):
        return exec(cell, {})
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            with contextlib.redirect_stdout(io.StringIO()) as printed:
                exec(cell, {})
            with os.fdopen(writing, "w") as pipe:
                pipe.write(printed.getvalue())
        finally:
            os._exit(0)
    os.close(writing)
    with os.fdopen(reading) as pipe:
        print(pipe.read())
    os.waitpid(child, 0)


def send_printed(message: Tree) -> None:
    """Print a message as a line that `read_report` reads."""
    print(base64.b64encode(zlib.compress(encode(message))).decode())


def read_report(line: str) -> dict:
    """What `send_printed` has printed. Raises Malformed if it is something else, or more than a message may be."""
    try:
        inflate = zlib.decompressobj()
        message = receive(io.BytesIO(inflate.decompress(base64.b64decode(line), MAX_TEXT + MAX_BYTES)))
        accept(message["result"])
    except (ValueError, EOFError, LookupError, TypeError, zlib.error):
        raise Malformed("the program printed something, or did not end") from None
    return message


def _recorded(program: Callable, operators: list[str]) -> Callable:
    """The program, which records the functions of torch that it calls. Attributes, methods that only read one,
    and private functions do not count."""
    from torch.overrides import TorchFunctionMode

    class Record(TorchFunctionMode):
        def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            if (name := func.__name__) not in READS and not re.match("_[^_]|__get__|__set__", name):
                operators.append(name)
            return func(*args, **(kwargs or {}))

    def run(xp: Any) -> Any:
        with Record():
            return program(xp)

    return run


def mend(answer: Callable) -> None:
    """Let the framework run the function that `answer()` returns in the place of the one that it names, and print this name.

    The function sees the names of the module in which it is planted.
    """
    path, function = answer()
    if not isinstance(function, FunctionType):
        raise TypeError(f"the second value is no function with a body of its own, but {type(function).__name__}")
    slot = function_of(exercise_of(long_form(path.removeprefix("rushlight.").removeprefix("rl."))))
    planted = FunctionType(
        function.__code__, slot.__globals__, slot.__name__, function.__defaults__, function.__closure__
    )
    planted.__kwdefaults__ = function.__kwdefaults__
    for cell in function.__closure__ or ():
        if cell.cell_contents is function:  # it calls itself
            cell.cell_contents = planted
    fill(slot, planted)
    print(path)
