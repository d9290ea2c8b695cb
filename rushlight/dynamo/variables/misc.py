"""Small kinds of variables: a method by its name, a cell of a closure, an exception, `super()`.

In PyTorch: `torch/_dynamo/variables/misc.py`. Left out: variables for generators that live on, for NumPy, for streams, and for
subclasses of tensors.
"""

from types import CellType, FunctionType, MethodDescriptorType, WrapperDescriptorType
from typing import Any

from rushlight.dynamo.exc import Unsupported
from rushlight.dynamo.guards import CONSTANTS, bind
from rushlight.dynamo.variables.base import Translator, VariableTracker


class GetAttrVariable(VariableTracker):
    """The method `name` of a tensor, a container or an iterator, bound to it."""

    has_identity = False

    def __init__(self, obj: VariableTracker, name: str, source: str | None = None) -> None:
        self.obj, self.name, self.source = obj, name, source

    def var_getattr(self, tx, name):
        return self.obj if name == "__self__" else super().var_getattr(tx, name)

    def call_function(self, tx, args, kwargs):
        return self.obj.call_method(tx, self.name, args, kwargs)

    def reconstruct(self, codegen):
        return codegen.name(f"{codegen(self.obj)}.{self.name}")


class CellVariable(VariableTracker):
    """A cell of a closure, with the interface of Python's own. `contents` is None while it is empty."""

    def __init__(self, contents: VariableTracker | None = None, source: str | None = None) -> None:
        self.contents, self.source = contents, source

    @property
    def cell_contents(self) -> VariableTracker:
        if self.contents is None:
            raise ValueError("Cell is empty")
        return self.contents

    def reconstruct(self, codegen):
        name = codegen.remember(self, f"{codegen.bind(CellType)}()")
        if self.contents is not None:
            codegen.lines.append(f"{name}.cell_contents = {codegen(self.contents)}")
        return name


class NewGlobalVariable(VariableTracker):
    """A global variable that the captured function writes."""

    def __init__(self, space: dict[str, Any]) -> None:
        self.space = space

    def write_attribute(self, codegen, name, value):
        return f"{codegen.bind(self.space, 'globals_of')}[{name!r}] = {codegen(value)}"


class ExceptionVariable(VariableTracker):
    """An exception that the captured function makes, or that a known operation raised."""

    def __init__(self, cls: type, args: list[VariableTracker]) -> None:
        self.cls, self.args = cls, args

    def var_getattr(self, tx, name):
        return tx.build_tuple(list(self.args)) if name == "args" else super().var_getattr(tx, name)

    def reconstruct(self, codegen):
        return codegen.name(f"{codegen.bind(self.cls)}({', '.join(map(codegen, self.args))})")


class SuperVariable(VariableTracker):
    """`super(cls, obj)`."""

    def __init__(self, cls: type, obj: VariableTracker) -> None:
        self.after, self.obj = cls, obj

    def var_getattr(self, tx, name):
        kind = self.obj.python_type()
        if issubclass(kind, type):  # in a class method
            kind = self.obj.as_python_constant()
        mro = kind.__mro__
        for base in mro[mro.index(self.after) + 1 :]:
            if name in base.__dict__:
                return bind_class_attribute(tx, base.__dict__[name], self.obj, kind)
        raise tx.error(AttributeError, f"'super' object has no attribute '{name}'")


def bind_class_attribute(tx: Translator, attribute: Any, obj: VariableTracker, cls: type) -> VariableTracker:
    """The value in the dict of a class as an access through `obj` gives it: a descriptor is called."""
    if isinstance(attribute, FunctionType):
        return tx.builder.method(attribute, obj)
    if isinstance(attribute, staticmethod):
        return tx.builder.known(attribute.__func__)
    if isinstance(attribute, classmethod):
        return tx.builder.method(attribute.__func__, tx.constant(cls))
    if isinstance(attribute, property):
        return tx.builder.function(attribute.fget).call_function(tx, [obj], {})
    if isinstance(attribute, WrapperDescriptorType) and attribute is object.__init__:
        return tx.constant(lambda *args: None)
    if isinstance(attribute, (WrapperDescriptorType, MethodDescriptorType)) or hasattr(type(attribute), "__get__"):
        if issubclass(obj.python_type(), type):
            raise Unsupported(f"{attribute!r}")
        return GetAttrVariable(obj, attribute.__name__)
    if type(attribute) not in CONSTANTS or not cls.__module__.startswith(("rushlight.", "torch.")):
        name = next(name for base in cls.__mro__ for name, value in base.__dict__.items() if value is attribute)
        return tx.builder.lazy(attribute, f"{bind(tx.output.scope, cls)}.{name}")
    return tx.constant(attribute)
