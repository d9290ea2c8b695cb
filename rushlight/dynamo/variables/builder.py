"""`VariableBuilder`: from a value that existed before the capture to its variable, with its guards.

`wrap` is for a value with a source: a tensor becomes an input of the graph, any other value becomes a variable by its type, and the
items of a container become lazy variables. `known` is for a value that is taken never to change: one of a class or of the
framework. `constant` is for a new value that the capture has computed. Only this module knows which class of variable a Python type
has, and it imports all of them; a class of variable calls `tx.builder` or `tx.constant`. In PyTorch:
`torch/_dynamo/variables/builder.py` (`VariableBuilder`, `SourcelessBuilder`). Left out: NumPy arrays, symbolic integers,
subclasses of tensors.
"""

import enum
from collections import OrderedDict, defaultdict
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from types import BuiltinFunctionType, CellType, FunctionType, MethodType, ModuleType
from typing import Any

import rushlight as rl
from rushlight.aten.strided import Tensor
from rushlight.c10.dispatch import local
from rushlight.dynamo.exc import Unsupported
from rushlight.dynamo.guards import CONSTANTS, Guard, bind
from rushlight.dynamo.variables.base import Output, VariableTracker
from rushlight.dynamo.variables.constant import ConstantVariable
from rushlight.dynamo.variables.ctx_manager import EnteredGradMode, GradModeMethodVariable, GradModeVariable
from rushlight.dynamo.variables.dicts import MAPPINGS, ConstDictVariable, SetVariable, TensorKey
from rushlight.dynamo.variables.functions import UserFunctionVariable, UserMethodVariable
from rushlight.dynamo.variables.lazy import LazyVariableTracker
from rushlight.dynamo.variables.lists import ListVariable, TupleVariable
from rushlight.dynamo.variables.misc import CellVariable
from rushlight.dynamo.variables.nn_module import UnspecializedNNModuleVariable
from rushlight.dynamo.variables.user_defined import UserDefinedObjectVariable
from rushlight.library import OpOverload, OpOverloadPacket

_OPERATORS = (type(rl.ops), type(rl.ops.aten), OpOverload, OpOverloadPacket)
_FRAMEWORK_CLASSES = (type, ModuleType, BuiltinFunctionType, rl.dtype, rl.device, range, slice, *_OPERATORS)
_CONSTANT_CLASSES = (*_FRAMEWORK_CLASSES, rl.layout, rl.memory_format, enum.Enum)
_KNOWN_CLASSES = (*_FRAMEWORK_CLASSES, int, float, complex, str, bytes)


class VariableBuilder:
    """Makes variables for one `OutputGraph`, which knows the variable of each value that was wrapped, by the value's id."""

    def __init__(self, output: Output) -> None:
        self.output, self.side_effects = output, output.side_effects

    def lazy(self, value: Any, source: str) -> LazyVariableTracker:
        return LazyVariableTracker(value, source, self)

    def wrap(self, value: Any, source: str) -> VariableTracker:
        """The variable of a value from before, with its guards. A value with two sources has one variable."""
        known = self.side_effects.id_to_variable.get(id(value)) if not isinstance(value, CONSTANTS) else None
        if known is not None:
            if known.source is not None and known.source != source:
                self.output.add_guard(Guard(source, f"{source} is {known.source}"))
            return known
        variable = self._wrap(value, source)
        if not isinstance(variable, ConstantVariable):
            self.side_effects.track(value, variable)
        return variable

    def _wrap(self, value: Any, source: str) -> VariableTracker:
        if isinstance(value, Tensor):
            return self.output.add_input(value, source)
        kind = type(value)
        if kind in MAPPINGS:
            return self.mapping(value, source)
        self.output.guard(value, source)
        if isinstance(value, _CONSTANT_CLASSES) or kind in CONSTANTS:
            return ConstantVariable(value, source)
        if kind in (list, set, frozenset) or isinstance(value, tuple):
            container = self.container(value, kind, source)
            if container is not None:
                return container
        if kind is FunctionType:
            return self.function(value, source)
        if kind is MethodType:
            return self.bound_method(value, source)
        if kind is CellType:
            return self.cell(value, source)
        if kind in (rl.no_grad, rl.enable_grad):
            return GradModeVariable(kind, kind.mode, source=source)
        cls = UnspecializedNNModuleVariable if isinstance(value, rl.nn.Module) else UserDefinedObjectVariable
        return cls(kind, value, source)

    def container(self, value: Any, kind: type, source: str) -> VariableTracker | None:
        if kind is list:
            return ListVariable([self.lazy(item, f"{source}[{i}]") for i, item in enumerate(value)], source)
        if kind in (set, frozenset):
            known = all(type(item) in CONSTANTS for item in value)
            return SetVariable(set(value), source, kind) if known else None
        keys = [f".{name}" for name in getattr(kind, "_fields", ())] or [f"[{i}]" for i in range(len(value))]
        return TupleVariable([self.lazy(item, f"{source}{key}") for key, item in zip(keys, value)], source, kind)

    def mapping(self, value: dict, source: str) -> ConstDictVariable:
        """A dict. A guard on its class is enough until the function reads keys, if all keys are constants."""
        items: dict[Any, VariableTracker] = {}
        guard_keys = partial(self.output.guard, value, source)
        if all(type(key) in CONSTANTS for key in value):
            self.output.add_guard(Guard(source, f"type({source}) is {bind(self.output.scope, type(value))}"))
        else:
            guard_keys()
        for i, (key, item) in enumerate(value.items()):
            if type(key) in CONSTANTS:
                items[key] = self.lazy(item, f"{source}[{key!r}]")
                continue
            name = bind(self.output.scope, key, "key")
            self.output.add_guard(Guard(source, f"list({source})[{i}] is {name}"))
            if isinstance(key, Tensor):
                variable = self.wrap(key, f"list({source})[{i}]")
                items[TensorKey(variable)] = self.lazy(item, f"list({source}.values())[{i}]")
            else:
                items[key] = self.lazy(item, f"{source}[{name}]")
        factory = None
        if isinstance(value, defaultdict):
            factory = self.lazy(value.default_factory, f"{source}.default_factory")
        return ConstDictVariable(items, source, type(value), factory, guard_keys)

    # Functions

    def function(self, fn: FunctionType, source: str | None = None) -> UserFunctionVariable:
        """A function that exists. Without a source it is taken for one that never changes."""

        def base() -> str:
            return source if source is not None else bind(self.output.scope, fn)

        def default(item: Any, suffix: str) -> VariableTracker:
            if source is None and type(item) in CONSTANTS:
                return ConstantVariable(item)
            return self.lazy(item, f"{base()}{suffix}")

        defaults = [default(item, f".__defaults__[{i}]") for i, item in enumerate(fn.__defaults__ or ())]
        by_name = (fn.__kwdefaults__ or {}).items()
        kwdefaults = {name: default(item, f".__kwdefaults__[{name!r}]") for name, item in by_name}
        cells = enumerate(fn.__closure__ or ())
        closure = [self.cell(cell, f"{base()}.__closure__[{i}]") for i, cell in cells]
        return UserFunctionVariable(fn, defaults, kwdefaults, closure, source)

    def method(self, fn: FunctionType, obj: VariableTracker) -> UserMethodVariable:
        """A function that never changes, bound to its first argument."""
        return UserMethodVariable(self.function(fn), obj)

    def bound_method(self, value: MethodType, source: str) -> VariableTracker:
        if type(value.__self__) is EnteredGradMode:
            before = value.__self__.before
            self.output.add_guard(Guard(source, f"{source}.__self__.before is {before}"))
            manager = GradModeVariable(EnteredGradMode, local.grad_enabled, before, f"{source}.__self__")
            return GradModeMethodVariable(manager, "__exit__", source)
        obj = self.lazy(value.__self__, f"{source}.__self__")
        return UserMethodVariable(self.wrap(value.__func__, f"{source}.__func__"), obj, source)

    def cell(self, cell: CellType, source: str, contents: str | None = None) -> CellVariable:
        """A cell of a closure: one variable for all functions that share it."""
        known = self.side_effects.id_to_variable.get(id(cell))
        if known is not None and known.source != source:
            self.output.add_guard(Guard(source, f"{source} is {known.source}"))
        if known is None:
            known = CellVariable(None, source)
            with suppress(ValueError):  # an empty cell
                known.contents = self.lazy(cell.cell_contents, contents or f"{source}.cell_contents")
            self.side_effects.track(cell, known)
        return known

    # Values that never change

    def known(self, value: Any) -> VariableTracker:
        """A value of a class, or of the framework: it is taken to stay as it is."""
        if isinstance(value, FunctionType):
            return self.function(value)
        if type(value) in CONSTANTS or isinstance(value, _KNOWN_CLASSES):
            return ConstantVariable(value)
        if type(value) in (tuple, list, dict, set, frozenset):
            items = (*value.keys(), *value.values()) if isinstance(value, dict) else value
            if all(type(item) in CONSTANTS or isinstance(item, (type, rl.dtype)) for item in items):
                return constant(value)
        hint = "" if hasattr(value, "__name__") else f"object_{type(value).__name__}"  # not the name of its class
        return self.lazy(value, bind(self.output.scope, value, hint))


# Values that the capture computes ------------------------------------------------------------------------------------


def constant(value: Any) -> VariableTracker:
    """The variable of a new value that is known, with all its parts.
    Source: `torch/_dynamo/variables/builder.py`, `SourcelessBuilder.create`."""
    if isinstance(value, Tensor):
        raise Unsupported("a tensor that was made while the graph was captured")
    return CONTAINERS.get(type(value), ConstantVariable)(value)


def _sequence(value: list | tuple) -> VariableTracker:
    variable = ListVariable if type(value) is list else TupleVariable
    return variable([constant(item) for item in value], cls=type(value))


def _dict(value: dict) -> ConstDictVariable:
    return ConstDictVariable({key: constant(item) for key, item in value.items()}, cls=type(value))


def _set(value: set | frozenset) -> SetVariable:
    return SetVariable(set(value), cls=type(value))


CONTAINERS: dict[type, Callable[[Any], VariableTracker]] = {
    list: _sequence, tuple: _sequence, rl.Size: _sequence, dict: _dict, OrderedDict: _dict, set: _set, frozenset: _set,
}  # fmt: skip
