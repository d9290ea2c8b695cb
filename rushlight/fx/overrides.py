"""`__torch_function__`: functions of rushlight check whether an argument is a proxy, or a tensor of a subclass that has one.

In PyTorch every function first checks its arguments for `__torch_function__` (`torch/overrides.py`,
`torch/csrc/utils/python_arg_parser.cpp`). Here this costs nothing until a recording starts, or the first such tensor exists: then
the code inside each function object is replaced by code that checks. So every reference to a function, in an alias or a table, is
covered.
"""

import inspect
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import partial
from types import FunctionType
from typing import Any, Protocol

from rushlight.aten import functional, indexing
from rushlight.aten.generated import functions
from rushlight.aten.strided import Tensor, disabled_torch_function_impl
from rushlight.autograd import engine, variable
from rushlight.c10.dispatch import local, multiple_dispatch_failed, overloaded_types
from rushlight.library import OpOverload, OpOverloadPacket
from rushlight.nn import functional as F

_recorders = 0
_has_subclasses = False
_slots: list[FunctionType] = []
_undo: list[Callable[[], None]] = []
_originals: dict[FunctionType, FunctionType] = {}  # the functions with their own code, while a recording runs


@contextmanager
def recording() -> Iterator[None]:
    """A context in which calls of rushlight's functions and methods with a proxy go to its `__torch_function__`."""
    start_recording()
    try:
        yield
    finally:
        stop_recording()


def start_recording() -> None:
    """Replace the code of all functions that a proxy can intercept. A recording inside another one only counts."""
    global _recorders
    _recorders += 1
    if _recorders > 1:
        return
    if not _slots:
        _slots.extend(overridable())
    for number, slot in enumerate(_slots):
        name = f"{number} while recording"  # a global of the slot's module that no program can name
        slot.__globals__[name] = intercept_function(slot)
        _undo.append(partial(setattr, slot, "__code__", slot.__code__))
        slot.__code__ = _template.__code__.replace(
            co_names=tuple(name if known == "function" else known for known in _template.__code__.co_names),
            co_name=slot.__name__,
            co_qualname=slot.__name__,
        )
    for kind in (OpOverload, OpOverloadPacket):
        _undo.append(partial(setattr, kind, "__call__", kind.__call__))
        kind.__call__ = intercept_operator(kind.__call__)


def intercept_subclasses() -> None:
    """From now on, functions and methods look for the `__torch_function__` of a tensor's class."""
    global _has_subclasses
    if not _has_subclasses:
        _has_subclasses = True
        start_recording()


def stop_recording() -> None:
    """Give the functions their own code back when the outermost recording ends."""
    global _recorders
    _recorders -= 1
    while not _recorders and _undo:
        _undo.pop()()
    if not _recorders:
        _originals.clear()


def original_of(function: FunctionType) -> FunctionType:
    """The function with its own code, also while a recording runs."""
    return _originals.get(function, function)


def _template(*args, **kwargs):
    return function(*args, **kwargs)  # noqa: F821  (`start_recording` puts another name there)


def overridable() -> list[FunctionType]:
    """The functions that check: operators, as functions and as methods, and the Python functions around them."""
    candidates = [*vars(functions).values(), *vars(F).values(), *vars(Tensor).values(), functional.broadcast_tensors]
    modules = {functions.__name__, F.__name__, functional.__name__, indexing.__name__, variable.__name__}
    own: dict[Any, None] = dict.fromkeys(
        function for function in candidates if isinstance(function, FunctionType) and function.__module__ in modules
    )
    own |= dict.fromkeys((engine.backward, engine.grad))
    return [function for function in own if function not in (F.sigmoid, F.tanh)]  # their methods check


def intercept_function(slot: FunctionType) -> Callable:
    """Return the function that replaces `slot`'s code. It calls the original code unless an argument is a proxy."""
    original = FunctionType(slot.__code__, slot.__globals__, slot.__name__, slot.__defaults__)
    original.__kwdefaults__ = slot.__kwdefaults__
    _originals[slot] = original

    def call_or_record(*args, **kwargs) -> Any:
        kinds = overloaded_types(overloaded((*args, *kwargs.values())))
        if not kinds:
            return original(*args, **kwargs)
        kind = kinds[0]
        method = method_name(slot) if args and type(args[0]) is kind and not issubclass(kind, Tensor) else None
        if method is not None:
            what = f"for 'Tensor' objects doesn't apply to a '{kind.__name__}' object"
            raise TypeError(f"descriptor '{method}' {what}")
        if slot.__module__ == F.__name__:
            args, kwargs = by_signature(original, args, kwargs)
        result = handle_torch_function(public_form(slot) if issubclass(kind, Tensor) else slot, kinds, args, kwargs)
        if result is NotImplemented and not slot.__name__.startswith(
            "__"
        ):  # not an operator of Python, which has two sides
            raise TypeError(multiple_dispatch_failed(slot.__name__, "__torch_function__", kinds))
        return result

    return call_or_record


def intercept_operator(call: Callable) -> Callable:
    """A call of an operator by name that checks its arguments."""

    def call_or_record(operator: OpOverload | OpOverloadPacket, *args, **kwargs) -> Any:
        kinds = overloaded_types(overloaded((*args, *kwargs.values())))
        if kinds:
            return handle_torch_function(operator, kinds, args, kwargs)
        return call(operator, *args, **kwargs)

    return call_or_record


class HasTorchFunction(Protocol):
    """The type of objects with `__torch_function__`: proxies and tensor subclasses."""

    @classmethod
    def __torch_function__(
        cls, orig_method: Callable, types: tuple[type, ...], args: tuple = (), kwargs: dict[str, Any] | None = None
    ) -> Any: ...


def overloaded(values: Iterable[Any]) -> Iterator[type[HasTorchFunction]]:
    """The classes of the objects with `__torch_function__` among these values, or in containers among them."""
    for value in values:
        kind = type(value)
        if kind is Tensor or local.torch_function_disabled and isinstance(value, Tensor):
            continue
        if isinstance(value, (dict, list, tuple)):
            yield from overloaded(value.values() if isinstance(value, dict) else value)
        function = getattr(kind, "__torch_function__", disabled_torch_function_impl)
        if function is not disabled_torch_function_impl:  # as it is for a parameter
            yield kind


def handle_torch_function(function: Any, kinds: tuple[Any, ...], args: tuple, kwargs: dict) -> Any:
    """The result of the first class that handles the call. Source: `torch/overrides.py`, `handle_torch_function`."""
    results = (kind.__torch_function__(function, kinds, args, kwargs) for kind in kinds)
    return next((result for result in results if result is not NotImplemented), NotImplemented)


def by_signature(function: Callable, args: tuple, kwargs: dict[str, Any]) -> tuple[tuple, dict[str, Any]]:
    """The arguments that a function of `nn.functional` passes on: all parameters, and those with a default by name."""
    signature = inspect.signature(function)
    bound = signature.bind(*args, **kwargs)
    bound.apply_defaults()
    by_name = {
        parameter.name for parameter in signature.parameters.values() if parameter.default is not parameter.empty
    }
    positional = tuple(value for name, value in bound.arguments.items() if name not in by_name)
    return positional, {name: value for name, value in bound.arguments.items() if name in by_name}


def public_form(function: FunctionType) -> Callable:
    """What a program writes for a function: `Tensor.add` for `Tensor.__add__`, with this name."""
    name = method_name(function)
    if name is not None:
        function = getattr(Tensor, name, function)
        function.__name__ = name
    return function


DUNDERS = {"truediv": "div", "itruediv": "div_", "mod": "remainder", "imod": "remainder_"}
NAMED = {"add", "sub", "mul", "pow", "matmul", "eq", "ne", "lt", "le", "gt", "ge", "neg", "abs"}


def method_name(function: Callable) -> str | None:
    """The recorded name of a method of Tensor: `add` for `__add__`, `add_` for `__iadd__`, `__getitem__` for itself. None for a
    function that is not a method."""
    for name, method in vars(Tensor).items():
        if method is function:
            short = name.strip("_") if name.startswith("__") else ""
            if short in NAMED:
                return short
            return f"{short[1:]}_" if short[1:] in NAMED and short[0] == "i" else DUNDERS.get(short, name)
    return None
