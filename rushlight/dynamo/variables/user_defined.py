"""Objects and classes that the user has written.

`var_getattr` follows Python's rules of attribute lookup on variables. An attribute that the captured function writes is kept in
the variable, in `attributes`, and written to the object itself only after the graph. In PyTorch:
`torch/_dynamo/variables/user_defined.py`. Left out: metaclasses, `__new__`, `__getattribute__`, exceptions with an `__init__`.
"""

import operator
from collections.abc import Iterator
from inspect import getattr_static
from types import FunctionType, MemberDescriptorType, MethodDescriptorType, WrapperDescriptorType
from typing import Any

import rushlight as rl
from rushlight.aten.strided import Tensor
from rushlight.c10.dispatch import local
from rushlight.dynamo.exc import ObservedException, Unsupported
from rushlight.dynamo.guards import Guard
from rushlight.dynamo.variables.base import Translator, VariableTracker, observe_exceptions
from rushlight.dynamo.variables.constant import ConstantVariable
from rushlight.dynamo.variables.ctx_manager import GradModeVariable, set_grad_mode
from rushlight.dynamo.variables.iter import IteratorVariable
from rushlight.dynamo.variables.lists import TupleVariable
from rushlight.dynamo.variables.misc import ExceptionVariable, bind_class_attribute
from rushlight.dynamo.variables.torch import call_in_graph


class UserDefinedObjectVariable(VariableTracker):
    """An object of a class that the user has written. `real` is the object, None for one that the captured function makes. What the
    capture wrote to it is in `SideEffects`."""

    setter = "object.__setattr__"  # in the code after the graph

    def __init__(self, cls: type, real: Any = None, source: str | None = None) -> None:
        self.cls, self.real, self.source = cls, real, source

    def state(self) -> dict[str, Any]:
        return getattr(self.real, "__dict__", {})

    # Reading attributes

    def var_getattr(self, tx, name):
        written = tx.output.side_effects.written(self)
        if name in written:
            if written[name] is None:
                raise tx.error(AttributeError, name)
            return written[name]
        if isinstance(getattr_static(self.cls, "__getattribute__", None), FunctionType):
            raise Unsupported(f"{self.cls.__name__}.__getattribute__")
        in_class = getattr_static(self.cls, name, None)
        if isinstance(in_class, property):
            return tx.builder.function(in_class.fget).call_function(tx, [self], {})
        if name == "__dict__":
            if self.real is None or written:
                raise Unsupported("the dict of an object that was written to")
            variable = tx.builder.wrap(self.state(), f"{self.source}.__dict__")
            variable.frozen = True
            return variable
        if name == "__class__":
            return ConstantVariable(self.cls)
        attribute = self.instance_attribute(tx, name, in_class)
        if attribute is not None:
            return attribute
        if in_class is None:
            return self.missing_attribute(tx, name)
        if self.source is not None and hasattr(self.real, "__dict__") and not hasattr(type(in_class), "__set__"):
            tx.output.add_guard(Guard(self.source, f"{name!r} not in {self.source}.__dict__"))
        return bind_class_attribute(tx, in_class, self, self.cls)

    def instance_attribute(self, tx: Translator, name: str, in_class: Any) -> VariableTracker | None:
        """A slot, or an entry of the object's dict."""
        if self.real is not None and isinstance(in_class, MemberDescriptorType):
            with observe_exceptions(tx, AttributeError):
                return tx.builder.lazy(getattr(self.real, name), f"{self.source}.{name}")
        state = self.state()
        return tx.builder.lazy(state[name], f"{self.source}.{name}") if name in state else None

    def missing_attribute(self, tx: Translator, name: str) -> VariableTracker:
        fallback = getattr_static(self.cls, "__getattr__", None)
        if isinstance(fallback, FunctionType) and not isinstance(self.real, rl.nn.Module):
            return tx.builder.function(fallback).call_function(tx, [self, ConstantVariable(name)], {})
        if self.source is not None:
            tx.output.add_guard(Guard(self.source, f"{name!r} not in {self.source}.__dict__"))
        raise tx.error(AttributeError, f"'{self.cls.__name__}' object has no attribute '{name}'")

    # Writing attributes

    def var_setattr(self, tx, name, value):
        in_class = getattr_static(self.cls, name, None)
        if isinstance(in_class, property) and in_class.fset is not None and value is not None:
            tx.builder.function(in_class.fset).call_function(tx, [self, value], {})
        elif not self.intercept_setattr(tx, name, value):
            if value is None:
                self.var_getattr(tx, name)  # it must be there
            self.store_attribute(tx, name, value)

    def intercept_setattr(self, tx: Translator, name: str, value: VariableTracker | None) -> bool:
        """Return whether the class itself handles the write, using `__setattr__`."""
        setter = getattr_static(self.cls, "__setattr__", None)
        if not isinstance(setter, FunctionType):
            return False
        if value is None:
            raise Unsupported(f"{self.cls.__name__}.__delattr__")
        tx.builder.function(setter).call_function(tx, [self, ConstantVariable(name), value], {})
        return True

    def store_attribute(self, tx: Translator, name: str, value: VariableTracker | None) -> ConstantVariable:
        if value is None and not hasattr(self.real, name):  # written and deleted in one capture
            del tx.output.side_effects.store_attr_mutations[self][name]
        else:
            tx.output.side_effects.store_attr(self, name, value and value.realize())
        return ConstantVariable(None)

    def write_attribute(self, codegen, name, value):
        if value is None:
            return super().write_attribute(codegen, name, value)
        return f"{self.setter}({codegen(self)}, {name!r}, {codegen(value)})"

    def reconstruct(self, codegen):
        name = codegen.remember(self, f"object.__new__({codegen.bind(self.cls)})")
        for attribute, value in codegen.output.side_effects.written(self).items():
            codegen.lines.append(self.write_attribute(codegen, attribute, value))
        return name

    # Calls

    def call_function(self, tx, args, kwargs):
        method = getattr_static(self.cls, "__call__", None)
        if not isinstance(method, FunctionType):
            return super().call_function(tx, args, kwargs)
        return tx.builder.function(method).call_function(tx, [self, *args], kwargs)

    def call_method(self, tx, name, args, kwargs):
        if not isinstance(getattr_static(self.cls, name, None), (WrapperDescriptorType, MethodDescriptorType)):
            result = self.var_getattr(tx, name).call_function(tx, args, kwargs)
            if name not in ("__bool__", "__len__"):
                return result
            result = result.realize()  # Python looks at these results
            if name == "__bool__" and not isinstance(getattr(result, "value", None), bool):
                raise Unsupported(f"{self.cls.__name__}.__bool__ does not return a bool")
            return result
        match name:
            case "__setattr__":
                return self.store_attribute(tx, args[0].value, args[1])
            case "__eq__":
                return ConstantVariable(self.is_same(args[0].realize()))
        raise Unsupported(f"{self.cls.__name__}.{name}")

    def enter(self, tx):
        if self.cls is rl.autocast:
            raise Unsupported("autocast is not captured")
        if not hasattr(self.cls, "__enter__"):
            return super().enter(tx)
        return self.var_getattr(tx, "__exit__"), self.call_method(tx, "__enter__", [], {})

    # Items

    def getitem(self, tx, key):
        if key.is_tensor():
            return call_in_graph(tx, operator.getitem, [self, key], {})
        return self.call_method(tx, "__getitem__", [key], {})

    def setitem(self, tx, key, value):
        self.call_method(tx, "__setitem__", [key, value], {})

    def contains(self, tx, item):
        if not hasattr(self.cls, "__contains__"):
            return super().contains(tx, item)
        return tx.truth(self.call_method(tx, "__contains__", [item], {}))

    def iterate(self, tx):
        if hasattr(self.cls, "__iter__"):
            return self.call_method(tx, "__iter__", [], {})
        return IteratorVariable(self.by_index(tx)) if hasattr(self.cls, "__getitem__") else super().iterate(tx)

    def by_index(self, tx: Translator) -> Iterator[VariableTracker]:
        for i in range(1 << 30):
            try:
                yield self.getitem(tx, ConstantVariable(i))
            except ObservedException as error:
                if issubclass(error.variable.cls, IndexError):
                    return
                raise

    def next_variable(self, tx):
        if not hasattr(self.cls, "__next__"):
            return super().next_variable(tx)
        try:
            return self.call_method(tx, "__next__", [], {})
        except ObservedException as error:
            if error.variable.cls is StopIteration:
                return None
            raise


class UserDefinedClassVariable(ConstantVariable):
    """A class. A call of it makes a new object."""

    def call_function(self, tx, args, kwargs):
        cls = self.value
        if issubclass(cls, BaseException):
            if isinstance(getattr_static(cls, "__init__", None), FunctionType):
                raise Unsupported(f"an exception of the class {cls.__name__}")
            return ExceptionVariable(cls, args)
        if issubclass(cls, tuple) and hasattr(cls, "_fields"):
            defaults = {key: ConstantVariable(value) for key, value in cls._field_defaults.items()}
            values = defaults | dict(zip(cls._fields, args)) | kwargs
            return TupleVariable([values[name] for name in cls._fields], cls=cls)
        if cls in (rl.finfo, rl.iinfo):
            return ConstantVariable(cls(*(arg.as_python_constant() for arg in args)))
        if cls is rl.autocast:
            raise Unsupported("autocast is not captured")
        if cls is rl.set_grad_enabled:
            mode = args[0].as_python_constant()
            variable = GradModeVariable(cls, mode, before=local.grad_enabled)
            set_grad_mode(tx, mode)
            return variable
        if cls in (rl.no_grad, rl.enable_grad):
            if args:
                raise Unsupported("a mode as a decorator")
            return GradModeVariable(cls, cls.mode)
        plain = getattr_static(cls, "__new__", None) is getattr_static(object, "__new__", None)
        if not plain or type(cls) is not type or issubclass(cls, (rl.nn.Module, Tensor)):
            raise Unsupported(f"a new object of the class {cls.__name__}")
        variable = UserDefinedObjectVariable(cls)
        init = getattr_static(cls, "__init__", None)
        if isinstance(init, FunctionType):
            tx.builder.function(init).call_function(tx, [variable, *args], kwargs)
        elif args or kwargs:
            raise tx.error(TypeError, f"{cls.__name__}() takes no arguments")
        return variable
