"""Variables: what the symbolic interpreter has on its stack in place of values.

A value that is known is a `Constant`; a tensor is a `TensorVariable`, a node of the graph and a meta tensor that says what it is
like; a container holds variables; a function, a method, an object are what Python knows of them. A variable with a `source` was
there before the captured function began, and can be found again by that expression. In PyTorch: `torch/_dynamo/variables`.
Left out: variables for generators that live on, for numpy, for streams, and for subclasses of tensors.
"""

from __future__ import annotations

from collections import OrderedDict, defaultdict
from collections.abc import Iterator
from types import CodeType, FunctionType
from typing import Any

from rushlight.aten.strided import Tensor

__all__ = [
    "Unsupported",
    "Raised",
    "Variable",
    "Lazy",
    "Constant",
    "TensorVariable",
    "ListVariable",
    "TupleVariable",
    "DictVariable",
    "SetVariable",
    "CellVariable",
    "FunctionVariable",
    "MethodVariable",
    "ObjectVariable",
    "ExceptionVariable",
    "GradModeVariable",
    "IteratorVariable",
    "SuperVariable",
    "TensorKey",
    "NULL",
    "constant_of",
    "is_constant",
]


class Unsupported(Exception):
    """Something cannot be captured: the graph breaks here. The message is the reason."""


class Raised(Exception):  # noqa: N818  (it is how an exception of the captured function travels)
    """The captured function raises: `variable` is the exception."""

    def __init__(self, variable: ExceptionVariable) -> None:
        super().__init__(variable)
        self.variable = variable


class Variable:
    """A value of the captured function, known as far as it must be."""

    source: str | None = None

    def python_type(self) -> type:
        raise Unsupported(f"type of {self!r}")

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.source or ''})"


class Lazy(Variable):
    """A value from before that nothing has looked at yet: no guard is needed as long as it only passes through."""

    def __init__(self, value: Any, source: str) -> None:
        self.value, self.source, self.real = value, source, None


class Constant(Variable):
    """A value of Python that is known: a number, a word, a class, a function of the framework, a module, a dtype."""

    def __init__(self, value: Any, source: str | None = None) -> None:
        self.value, self.source = value, source

    def python_type(self) -> type:
        return type(self.value)

    def __repr__(self) -> str:
        return f"Constant({self.value!r})"


class _Null:
    def __repr__(self) -> str:
        return "NULL"


NULL = Constant(_Null())  # CPython's mark below a callable that is no method


class TensorVariable(Variable):
    """A node of the graph. `fake` is a meta tensor with its sizes, strides, dtype and autograd state.

    `kind` is the class of the tensor and `device_type` where it really is.
    """

    def __init__(self, node, fake: Tensor, source: str | None = None, real: Tensor | None = None) -> None:
        self.node, self.fake, self.source, self.real = node, fake, source, real
        self.kind = type(real) if real is not None else Tensor
        self.named = node.op == "placeholder"

    def python_type(self) -> type:
        return self.kind


class _Container(Variable):
    cls: type
    frozen = False  # whether writing to it breaks the graph

    def python_type(self) -> type:
        return self.cls


class ListVariable(_Container):
    """A list: `items` are variables."""

    def __init__(self, items: list[Variable], source: str | None = None) -> None:
        self.items, self.source, self.cls = items, source, list


class TupleVariable(_Container):
    """A tuple, or a class of its own that is one: a named tuple, a `Size`."""

    def __init__(self, items: list[Variable], source: str | None = None, cls: type = tuple) -> None:
        self.items, self.source, self.cls = items, source, cls


class DictVariable(_Container):
    """A dict: keys are constants, or tensors by their identity; `items` maps them to variables. `factory`: a defaultdict's."""

    def __init__(
        self, items: dict[Any, Variable], source: str | None = None, cls: type = dict, factory: Variable | None = None
    ) -> None:
        self.items, self.source, self.cls, self.factory = items, source, cls, factory


class TensorKey:
    """A tensor as a key: equal to itself only."""

    def __init__(self, variable: TensorVariable) -> None:
        self.variable = variable

    def __hash__(self) -> int:
        return id(self.variable.fake)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, TensorKey) and other.variable.fake is self.variable.fake


class SetVariable(_Container):
    """A set of constants."""

    def __init__(self, items: set, source: str | None = None, cls: type = set) -> None:
        self.items, self.source, self.cls = items, source, cls


class CellVariable(Variable):
    """A cell of a closure. `contents` is None while it is empty."""

    def __init__(self, contents: Variable | None = None, source: str | None = None) -> None:
        self.contents, self.source = contents, source


class FunctionVariable(Variable):
    """A Python function: one that exists (`real`), or one that the captured function makes."""

    def __init__(
        self,
        code: CodeType,
        globals: dict[str, Any],  # noqa: A002
        name: str,
        defaults: list[Variable],
        kwdefaults: dict[str, Variable],
        closure: list[CellVariable],
        source: str | None = None,
        real: FunctionType | None = None,
    ) -> None:
        self.code, self.globals, self.name, self.defaults = code, globals, name, defaults
        self.kwdefaults, self.closure, self.source, self.real = kwdefaults, closure, source, real
        self.attributes: dict[str, Variable] = {}

    def python_type(self) -> type:
        return FunctionType


class MethodVariable(Variable):
    """A function, or the name of a method of a tensor or a container, bound to its first argument."""

    def __init__(self, function: Variable | str, owner: Variable, source: str | None = None) -> None:
        self.function, self.owner, self.source = function, owner, source


class ObjectVariable(Variable):
    """An object of a class that the user has written; of a module, too. `attributes` is what was written to it in the capture.

    `real` is the object, None for one that the captured function makes.
    """

    def __init__(self, cls: type, real: Any = None, source: str | None = None) -> None:
        self.cls, self.real, self.source = cls, real, source
        self.attributes: dict[str, Variable | None] = {}  # None: deleted

    def python_type(self) -> type:
        return self.cls


class ExceptionVariable(Variable):
    """An exception that the captured function makes or that came of a known operation."""

    def __init__(self, cls: type, args: list[Variable], cause: Variable | None = None) -> None:
        self.cls, self.args, self.cause = cls, args, cause

    def python_type(self) -> type:
        return self.cls


class GradModeVariable(Variable):
    """`no_grad()`, `enable_grad()`, `set_grad_enabled(mode)`; `before` is known once it was entered."""

    def __init__(self, cls: type, mode: bool, before: bool | None = None, source: str | None = None) -> None:
        self.cls, self.mode, self.source = cls, mode, source
        self.before = [] if before is None else [before]

    def python_type(self) -> type:
        return self.cls


class SuperVariable(Variable):
    """`super(cls, owner)`."""

    def __init__(self, cls: type, owner: Variable) -> None:
        self.cls, self.owner = cls, owner


class IteratorVariable(Variable):
    """An iterator: `steps` gives variables. That of a list also knows what it is over and how far it is; others may know what
    call has `made` them: what is called, its arguments and keyword arguments."""

    def __init__(
        self,
        steps: Iterator[Variable],
        over: Variable | None = None,
        cls: type | None = None,
        made: tuple | None = None,
    ) -> None:
        self.steps, self.over, self.taken, self.cls, self.made = steps, over, 0, cls, made

    def __next__(self) -> Variable:
        found = next(self.steps)
        self.taken += 1
        return found

    def python_type(self) -> type:
        return self.cls or type(iter([]))


# ------------------------------------------------------------------------------------------------------------
# Known values


def constant_of(variable: Variable) -> Any:
    """The Python value of a variable that is known through and through. Raises Unsupported if it is not."""
    match variable:
        case Constant(value=value):
            return value
        case Lazy(real=None):
            raise Unsupported("a value that was not looked at")
        case Lazy(real=real):
            return constant_of(real)
        case ListVariable(items=items):
            return [constant_of(item) for item in items]
        case TupleVariable(items=items, cls=cls):
            values = [constant_of(item) for item in items]
            return cls._make(values) if hasattr(cls, "_make") else cls(values)
        case DictVariable(items=items, cls=cls) if cls in (dict, OrderedDict) and not any(
            isinstance(key, TensorKey) for key in items
        ):
            return cls((key, constant_of(item)) for key, item in items.items())
        case SetVariable(items=items, cls=cls):
            return cls(items)
        case FunctionVariable(real=real) if real is not None:
            return real
    raise Unsupported(f"{variable!r} is not known while the graph is captured")


def is_constant(variable: Variable) -> bool:
    try:
        constant_of(variable)
    except Unsupported:
        return False
    return True


MAPPINGS = (dict, OrderedDict, defaultdict)
