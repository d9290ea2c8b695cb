"""Python functions: those that exist, those that the captured function makes, and methods.

A call is inlined: the translator runs the function's instructions in the same graph, unless `calls.how_to_call` decides otherwise
for a function that exists. In PyTorch: `torch/_dynamo/variables/functions.py`. Left out: `functools.partial` and decorators of
`contextlib` as kinds of their own, and collectives.
"""

from types import CellType, CodeType, FunctionType, MethodType
from typing import Any

from rushlight.dynamo.exc import Unsupported
from rushlight.dynamo.variables.base import Args, Kwargs, Source, VariableTracker
from rushlight.dynamo.variables.constant import ConstantVariable
from rushlight.dynamo.variables.misc import CellVariable


class BaseUserFunctionVariable(VariableTracker):
    """A Python function: what a call of it needs, as variables."""

    cls = FunctionType
    code: CodeType
    globals: dict[str, Any]
    name: str
    defaults: Args
    kwdefaults: Kwargs
    closure: list[CellVariable]


class UserFunctionVariable(BaseUserFunctionVariable):
    """A function that exists. Without a source it is taken for one that never changes."""

    def __init__(
        self, fn: FunctionType, defaults: Args, kwdefaults: Kwargs, closure: list[CellVariable], source: Source = None
    ) -> None:
        self.fn, self.defaults, self.kwdefaults, self.closure, self.source = fn, defaults, kwdefaults, closure, source
        self.code, self.globals, self.name = fn.__code__, fn.__globals__, fn.__name__

    def as_python_constant(self) -> Any:
        return self.fn

    def is_same(self, other):
        return self.fn is other.fn if isinstance(other, UserFunctionVariable) else super().is_same(other)

    def var_getattr(self, tx, name):
        if name in ("__name__", "__qualname__", "__module__", "__doc__"):
            return ConstantVariable(getattr(self.fn, name))
        if hasattr(self.fn, name) and self.source is not None:
            return tx.builder.lazy(getattr(self.fn, name), f"{self.source}.{name}")
        return super().var_getattr(tx, name)

    def call_function(self, tx, args, kwargs):
        return tx.call_callable(self.fn, self, args, kwargs)

    def reconstruct(self, codegen):
        return codegen.bind(self.fn)


class NestedUserFunctionVariable(BaseUserFunctionVariable):
    """A function that the captured function makes. `attributes` is what was written to it."""

    def __init__(self, code: CodeType, globals: dict[str, Any]) -> None:  # noqa: A002
        self.code, self.globals, self.name = code, globals, code.co_name
        self.defaults, self.kwdefaults, self.closure = [], {}, []
        self.attributes: dict[str, VariableTracker] = {}

    def var_getattr(self, tx, name):
        if name in self.attributes:
            return self.attributes[name]
        return ConstantVariable(self.name) if name == "__name__" else super().var_getattr(tx, name)

    def var_setattr(self, tx, name, value):
        if value is None:
            raise Unsupported(f"writing the attribute {name} of {self!r}")
        self.attributes[name] = value

    def call_function(self, tx, args, kwargs):
        return tx.inline_user_function_return(self, args, kwargs)

    def reconstruct(self, codegen):
        code, space = codegen.bind(self.code, f"{self.name}_code"), codegen.bind(self.globals, "globals_of")
        defaults = f"({''.join(f'{codegen(item)}, ' for item in self.defaults)})" if self.defaults else "None"
        names, new_cells = [], []
        for cell in self.closure:  # a cell may contain the function itself
            if cell not in codegen.made:
                codegen.remember(cell, cell.source or f"{codegen.bind(CellType)}()")
                new_cells.append(cell)
            names.append(codegen(cell))
        closure = f"({''.join(f'{name}, ' for name in names)})" if names else "None"
        made = f"{codegen.bind(FunctionType)}({code}, {space}, {self.name!r}, {defaults}, {closure})"
        name = codegen.remember(self, made)
        for cell in new_cells:
            if cell.source is None and cell.contents is not None:
                codegen.lines.append(f"{codegen(cell)}.cell_contents = {codegen(cell.contents)}")
        if self.kwdefaults:
            written = ", ".join(f"{key!r}: {codegen(item)}" for key, item in self.kwdefaults.items())
            codegen.lines.append(f"{name}.__kwdefaults__ = {{{written}}}")
        for attribute, item in self.attributes.items():
            codegen.lines.append(f"{name}.{attribute} = {codegen(item)}")
        return name


class SkipFunctionVariable(ConstantVariable):
    """A callable that only Python can call."""

    def call_function(self, tx, args, kwargs):
        raise Unsupported(f"call of {getattr(self.value, '__name__', repr(self.value))}")


class UserMethodVariable(VariableTracker):
    """A function bound to its first argument, `obj`."""

    has_identity = False

    def __init__(self, function: VariableTracker, obj: VariableTracker, source: Source = None) -> None:
        self.function, self.obj, self.source = function, obj, source

    def var_getattr(self, tx, name):
        parts = {"__self__": self.obj, "__func__": self.function}
        if name in parts:
            return parts[name]
        return (self.function if name == "__name__" else super()).var_getattr(tx, name)

    def call_function(self, tx, args, kwargs):
        return self.function.call_function(tx, [self.obj, *args], kwargs)

    def reconstruct(self, codegen):
        return codegen.name(f"{codegen.bind(MethodType)}({codegen(self.function)}, {codegen(self.obj)})")
