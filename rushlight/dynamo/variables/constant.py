"""`ConstantVariable`: a value that is known, and Python's arithmetic on such values.

`fold` lets Python compute a result from known arguments. Classes, modules and functions of the framework are constants too, and
`calls.how_to_call` chooses the class that calls one. In PyTorch: `torch/_dynamo/variables/constant.py`, `misc.py`
(`PythonModuleVariable`).
"""

import operator
from collections.abc import Callable
from inspect import getattr_static
from types import BuiltinFunctionType, MethodDescriptorType, ModuleType, WrapperDescriptorType
from typing import Any

import rushlight as rl
from rushlight.aten.strided import Tensor
from rushlight.dynamo.exc import Unsupported
from rushlight.dynamo.guards import CONSTANTS, bind
from rushlight.dynamo.variables.base import Args, Translator, VariableTracker, known_value, observe_exceptions
from rushlight.dynamo.variables.iter import IteratorVariable

NOT_ITERABLE = (int, float, bool, type(None))
FIXED = (type, ModuleType, BuiltinFunctionType, MethodDescriptorType, WrapperDescriptorType)


class ConstantVariable(VariableTracker):
    """A known value: a number, a string, a class, a function of the framework, a module, a dtype."""

    def __init__(self, value: Any, source: str | None = None) -> None:
        self.value, self.source = value, source

    def __repr__(self) -> str:
        return f"ConstantVariable({self.value!r})"

    def python_type(self) -> type:
        return type(self.value)

    def as_python_constant(self) -> Any:
        return self.value

    def is_constant_none(self) -> bool:
        return self.value is None

    def is_same(self, other):
        return self.value is other.value if isinstance(other, ConstantVariable) else super().is_same(other)

    def var_getattr(self, tx, name):
        with observe_exceptions(tx, AttributeError):
            attribute = getattr(self.value, name)
        value = self.value
        if not isinstance(value, (ModuleType, type)):
            return ConstantVariable(attribute) if callable(attribute) or value is rl.ops else tx.constant(attribute)
        if isinstance(value, type) and isinstance(getattr_static(value, name, None), classmethod):
            return tx.builder.method(attribute.__func__, self)
        framework = str(getattr(value, "__name__", "")).startswith(("rushlight", "torch")) or self.source is None
        if not framework and not isinstance(attribute, FIXED):
            return tx.builder.lazy(attribute, f"{self.source}.{name}")
        if isinstance(attribute, Tensor):
            return tx.builder.lazy(attribute, f"{bind(tx.output.scope, value)}.{name}")
        return tx.builder.known(attribute)

    def call_function(self, tx, args, kwargs):
        if not callable(self.value):
            return super().call_function(tx, args, kwargs)
        return tx.call_callable(self.value, self, args, kwargs)

    def getitem(self, tx, key):
        return fold(tx, operator.getitem, [self, key])

    def contains(self, tx, item):
        if isinstance(self.value, (str, range, bytes)):
            return fold(tx, operator.contains, [self, item]).value
        if type(self.value) in NOT_ITERABLE:
            raise tx.error(TypeError, f"argument of type '{type(self.value).__name__}' is not iterable")
        return super().contains(tx, item)

    def iterate(self, tx):
        if isinstance(self.value, (range, str, bytes)):
            return IteratorVariable((ConstantVariable(item) for item in self.value), self)
        if type(self.value) in NOT_ITERABLE:
            raise tx.error(TypeError, f"'{type(self.value).__name__}' object is not iterable")
        return super().iterate(tx)

    def reconstruct(self, codegen):
        value = self.value
        if value is None or type(value) in (bool, int, str) or value is Ellipsis:
            return repr(value)
        return codegen.bind(value, "constant" if isinstance(value, (float, complex, tuple, bytes)) else "")


def fold(tx: Translator, function: Callable, args: Args, kwargs: dict | None = None) -> VariableTracker:
    """Let Python compute what is known. An exception becomes one of the captured function."""
    values = [known_value(arg) for arg in args]
    named = {key: known_value(arg) for key, arg in (kwargs or {}).items()}
    try:
        result = function(*values, **named)
    except Exception as error:
        if all(type(arg) in CONSTANTS for arg in error.args):
            raise tx.error(type(error), *error.args) from None
        raise Unsupported(f"{type(error).__name__} from {function}") from None
    return tx.constant(result)
