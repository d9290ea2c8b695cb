"""The patient's half of an examination: it runs in the process that has the patient's framework, the sound one, or torch."""

from __future__ import annotations

import base64
import io
import re
import sys
import zlib
from collections.abc import Callable
from typing import Any

from rushlight.aten.strided import Tensor
from rushlight.course.short_names import long_form

from .check import exercise_of, function_of
from .exercise import fill
from .observe import MAX_BYTES, MAX_TEXT, Malformed, Tree, accept, encode, observe_call, receive
from .subject import RushlightSide

MAX_FUNCTIONS = 2000
READS = {
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


class PatientSide(RushlightSide):
    """rushlight, as `observe` uses it. A program may return tensors that require grad, as on torch."""

    def take(self, value: Any) -> Tree | None:
        return super().take(value.detach() if isinstance(value, Tensor) and value.requires_grad else value)


def report(program: Callable, with_torch: bool) -> None:
    """Print what a program `name(xp)` gives: its `result`, the `operators` of torch that it calls, and the `functions` of rushlight
    that run, by module and name."""
    operators: list[str] = []
    functions: dict[str, None] = {}

    def enter(frame: Any, event: str, argument: object) -> None:
        module = frame.f_globals.get("__name__", "")
        if event == "call" and module.startswith("rushlight.") and len(functions) < MAX_FUNCTIONS:
            functions[f"{module}.{frame.f_code.co_name}"] = None

    if with_torch:
        from .torch_side import TorchSide

        result = observe_call(_recorded(program, operators), TorchSide(), {})
    else:
        sys.setprofile(enter)
        try:
            result = observe_call(program, PatientSide(), {})
        finally:
            sys.setprofile(None)
    send_printed({"result": result, "operators": operators, "functions": [*functions]})


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
    slot = function_of(exercise_of(long_form(path.removeprefix("rushlight.").removeprefix("rl."))))
    fill(
        slot,
        type(slot)(function.__code__, slot.__globals__, slot.__name__, function.__defaults__, function.__closure__),
    )
    slot.__globals__[f"{slot.__name__} as filled"].__kwdefaults__ = function.__kwdefaults__
    print(path)
