"""Records a student's function while it runs on a case: its arguments, the values at each of its lines, its result.

`walk.with_notes` writes these calls into a copy of the function. The copy runs in a subject, and what is noted leaves it as text.
"""

from __future__ import annotations

import json
import threading
from typing import Any

from .observe import MAX_RESULT, clean, result_of, show
from .subject import answer

MOST_NOTES = 150  # of one call
LONGEST = 120  # characters of a value
FEW = 8  # elements of a tensor that are shown

_arguments: dict[str, str] | None = None  # of the first call
_notes: list[list] = []  # of the first call: [line, label, value]
_calls = _depth = 0
_thread: int | None = None


def trace(check: str, cases: str) -> str:
    """Run a check's program on cases (JSON), and tell of each: the arguments of the function's first call, what it noted, and the
    program's result."""
    return json.dumps([_trace(check, case) for case in json.loads(cases)])


def _trace(check: str, case: dict) -> dict:
    global _arguments, _notes, _calls, _depth, _thread
    _arguments, _notes, _calls, _depth, _thread = None, [], 0, 0, None
    result = show(result_of(answer(check, [case])[0]))
    return {"arguments": _arguments, "notes": _notes, "result": clean(result, MAX_RESULT // 20)}


def enter(arguments: dict[str, Any]) -> None:
    global _arguments, _calls, _depth, _thread
    _calls += 1
    if _thread is None:
        _thread, _arguments = threading.get_ident(), {name: _text(value) for name, value in arguments.items()}
    _depth += _thread == threading.get_ident()


def leave() -> None:
    global _depth
    _depth -= _thread == threading.get_ident()


def note(line: int, label: str, value: Any) -> Any:
    """Note a value, and return it."""
    first = _calls == 1 and _depth == 1 and _thread == threading.get_ident()
    if first and len(_notes) < MOST_NOTES:
        _notes.append([line, label, _text(value)])
    return value


def raised(error: Exception) -> None:
    note(0, "raises", error)


def ran(line: int) -> None:
    note(line, "", None)


def _text(value: Any, depth: int = 0) -> str:
    """A value in words. What has no readable form is the name of its class in angle brackets. Calls no operator of a tensor."""
    try:
        return clean(_words(value, depth), LONGEST)
    except Exception:  # its class is the student's, or a wrapper without data
        return f"<{type(value).__name__}>"


def _words(value: Any, depth: int) -> str:
    if hasattr(value, "untyped_storage") and hasattr(value, "stride"):
        return _tensor(value)
    if isinstance(value, (list, tuple, set, frozenset)) and type(value).__repr__ in _PLAIN and depth < 4:
        items = ", ".join(_text(item, depth + 1) for item in value)
        return {list: f"[{items}]", tuple: f"({items}{',' * (len(value) == 1)})"}.get(type(value), f"{{{items}}}")
    if isinstance(value, Exception):
        return f"{type(value).__name__}: {value}"
    if isinstance(value, dict) and depth < 4:
        return f"{{{', '.join(f'{_text(key, depth + 1)}: {_text(item, depth + 1)}' for key, item in value.items())}}}"
    if callable(value) and hasattr(value, "__name__"):
        return f"{getattr(value, '__qualname__', value.__name__).rpartition('<locals>.')[2]}"
    said = repr(value)
    return said if " at 0x" not in said and "object at" not in said else f"<{type(value).__name__}>"


_PLAIN = {list.__repr__, tuple.__repr__, set.__repr__, frozenset.__repr__}


def _tensor(value: Any) -> str:
    sizes, strides, offset = tuple(value.shape), tuple(value.stride()), value.storage_offset()
    size = 1
    for length in sizes:
        size *= length
    steps, step = [], 1
    for length in reversed(sizes):
        steps.append(step)
        step *= max(length, 1)
    view = f", strides {strides}" * (strides != tuple(reversed(steps))) + f", offset {offset}" * (offset != 0)
    dtype = str(value.dtype).rpartition(".")[2]
    return f"{dtype} tensor {sizes}{view}{_elements(value) if 0 < size <= FEW else ''}"


def _elements(value: Any) -> str:
    try:
        return f" {value.numpy().tolist()}" if type(value).__name__ in ("Tensor", "Parameter") else ""
    except Exception:
        return ""
