"""Names, attributes and objects: Python's rules of where to look for a name, followed on variables.

What is found has a source, by which a guard can find it again, or it is taken to stay as it is. What a capture writes is kept in
its variable (`attributes`), and done to the object itself only after the graph (`Output.effect`). In PyTorch:
`torch/_dynamo/variables/user_defined.py`, `nn_module.py`, `misc.py` (`SuperVariable`), `functions.py`.
"""

from __future__ import annotations

import builtins
import inspect
from types import BuiltinFunctionType, FunctionType, MethodDescriptorType, ModuleType, WrapperDescriptorType
from typing import Any

import rushlight as rl
from rushlight.aten.strided import Tensor
from rushlight.c10.dispatch import local
from rushlight.dynamo import calls, training
from rushlight.dynamo.guards import CONSTANTS, Guard, bind
from rushlight.dynamo.tensors import tensor_attribute
from rushlight.dynamo.training import set_grad_mode
from rushlight.dynamo.values import literal, raised
from rushlight.dynamo.variables import (
    Constant,
    DictVariable,
    ExceptionVariable,
    FunctionVariable,
    GradModeVariable,
    IteratorVariable,
    Lazy,
    ListVariable,
    MethodVariable,
    ObjectVariable,
    SetVariable,
    SuperVariable,
    TensorVariable,
    TupleVariable,
    Unsupported,
    Variable,
    constant_of,
)
from rushlight.library import OpOverload, OpOverloadPacket

# ------------------------------------------------------------------------------------------------------------
# Names of the module


def global_variable(frame: Any, name: str) -> Variable:
    """A name of the function's module, or a builtin one."""
    output, space = frame.output, frame.f_globals
    written = output.written.get(id(space), {})
    if name in written:
        return written[name]
    if name in space:
        if str(space.get("__name__", "")).startswith("rushlight."):  # the framework does not change under way
            return known_value(frame, space[name])
        return Lazy(space[name], f"{output.globals_name(space)}[{name!r}]")
    if hasattr(builtins, name):
        return Constant(getattr(builtins, name))
    raise raised(NameError, f"name '{name}' is not defined")


def known_value(frame: Any, value: Any) -> Variable:
    """A value that is taken to stay as it is: of a class, of the framework."""
    if isinstance(value, FunctionType):
        return frame.output.wrap_function(value, None)
    framework = (type(rl.ops), type(rl.ops.aten), OpOverload, OpOverloadPacket)
    if type(value) in CONSTANTS or isinstance(
        value, (type, ModuleType, BuiltinFunctionType, *calls.FOLDED_TYPES, *framework)
    ):
        return Constant(value)
    if type(value) in (tuple, list, dict, set, frozenset) and is_plain(value):
        return literal(value)
    name = bind(frame.output.scope, value)
    return Lazy(value, name)


def is_plain(value: Any) -> bool:
    items = (*value.keys(), *value.values()) if isinstance(value, dict) else value
    return all(type(item) in CONSTANTS or isinstance(item, (type, rl.dtype)) for item in items)


# ------------------------------------------------------------------------------------------------------------
# Attributes


def get_attribute(frame: Any, owner: Variable, name: str) -> Variable:
    """What `owner.name` gives."""
    match owner:
        case TensorVariable():
            return tensor_attribute(frame, owner, name)
        case ObjectVariable():
            return object_attribute(frame, owner, name)
        case SuperVariable(cls=cls, owner=instance):
            kind = instance.value if isinstance(instance, Constant) else instance.python_type()
            mro = kind.__mro__
            for base in mro[mro.index(cls) + 1 :]:
                if name in base.__dict__:
                    return bound(frame, base.__dict__[name], instance, kind)
            raise raised(AttributeError, f"'super' object has no attribute '{name}'")
        case Constant(value=value):
            return constant_attribute(frame, owner, value, name)
        case FunctionVariable(real=real):
            if name in owner.attributes:
                return owner.attributes[name]
            if real is not None and name in ("__name__", "__qualname__", "__module__", "__doc__"):
                return Constant(getattr(real, name))
            if name == "__name__":
                return Constant(owner.name)
            if real is not None and hasattr(real, name) and owner.source is not None:
                return Lazy(getattr(real, name), f"{owner.source}.{name}")
        case MethodVariable() if name == "__self__":
            return owner.owner
        case MethodVariable(function=Variable() as function) if name in ("__func__", "__name__"):
            return function if name == "__func__" else get_attribute(frame, function, name)
        case ExceptionVariable(args=args) if name == "args":
            return TupleVariable(list(args))
        case TupleVariable(cls=cls, items=items) if name in getattr(cls, "_fields", ()):
            return items[cls._fields.index(name)]
        case TupleVariable(cls=cls) if cls is not tuple and isinstance(class_attribute(cls, name), property):
            return calls.call(frame, frame.output.wrap_function(class_attribute(cls, name).fget, None), [owner], {})
        case IteratorVariable() if name in ("__next__", "send", "close"):
            return MethodVariable(name, owner)
        case ListVariable() | TupleVariable() | DictVariable() | SetVariable() if hasattr(owner.cls, name):
            if name == "__class__":
                return Constant(owner.cls)
            found = class_attribute(owner.cls, name)
            if isinstance(found, FunctionType):
                return MethodVariable(frame.output.wrap_function(found, None), owner)
            return MethodVariable(name, owner)
        case GradModeVariable() if name in ("__enter__", "__exit__", "_recreate_cm"):
            return MethodVariable(name, owner)
    if name == "__class__":
        return Constant(owner.python_type())
    raise Unsupported(f"the attribute {name} of {owner!r}")


def constant_attribute(frame: Any, owner: Constant, value: Any, name: str) -> Variable:
    """Of a module, a class, a number, a word."""
    try:
        found = getattr(value, name)
    except AttributeError as error:
        raise raised(AttributeError, str(error)) from None
    if isinstance(value, (ModuleType, type)):
        framework = str(getattr(value, "__name__", "")).startswith("rushlight") or owner.source is None
        if isinstance(value, type) and isinstance(class_attribute(value, name), classmethod):
            return MethodVariable(frame.output.wrap_function(found.__func__, None), owner)
        if framework or isinstance(
            found, (type, ModuleType, BuiltinFunctionType, MethodDescriptorType, WrapperDescriptorType)
        ):
            if isinstance(found, Tensor):
                return Lazy(found, f"{bind(frame.output.scope, value)}.{name}")
            return known_value(frame, found)
        return Lazy(found, f"{owner.source}.{name}")
    return Constant(found) if callable(found) or value is rl.ops else literal(found)


class _Slots:
    __slots__ = ("slot",)


MEMBERS = (type(_Slots.__dict__["slot"]),)


def object_attribute(frame: Any, owner: ObjectVariable, name: str) -> Variable:
    """Python's way to an attribute: what this capture wrote, data descriptors of the class, the object's dict, the class."""
    output = frame.output
    if name in owner.attributes:
        if owner.attributes[name] is None:
            raise raised(AttributeError, name)
        return owner.attributes[name]
    is_module = issubclass(owner.cls, rl.nn.Module)
    getter = class_attribute(owner.cls, "__getattribute__")
    if getter is not None and isinstance(getter, FunctionType):
        raise Unsupported(f"{owner.cls.__name__}.__getattribute__")
    in_class = class_attribute(owner.cls, name)
    if isinstance(in_class, property):
        return calls.call(frame, output.wrap_function(in_class.fget, None), [owner], {})
    state = getattr(owner.real, "__dict__", {}) if owner.real is not None else {}
    if name == "__dict__":
        if owner.real is None or owner.attributes:
            raise Unsupported("the dict of an object that was written to")
        variable = output.wrap(state, f"{owner.source}.__dict__")
        variable.frozen = True
        return variable
    if name == "__class__":
        return Constant(owner.cls)
    if owner.real is not None and not is_module and in_class is not None and isinstance(in_class, MEMBERS):  # a slot
        try:
            return Lazy(getattr(owner.real, name), f"{owner.source}.{name}")
        except AttributeError as error:
            raise raised(AttributeError, str(error)) from None
    if name in state:
        source = f"{owner.source}.{name}"
        return output.realize(Lazy(state[name], source)) if is_module else Lazy(state[name], source)
    if is_module and owner.real is not None:
        for registry in ("_parameters", "_buffers", "_modules"):
            if name in state.get(registry, ()):
                return output.realize(Lazy(state[registry][name], f"{owner.source}.{registry}[{name!r}]"))
    if in_class is not None:
        if owner.source is not None and hasattr(owner.real, "__dict__") and not hasattr(type(in_class), "__set__"):
            output.add_guard(Guard(owner.source, f"{name!r} not in {owner.source}.__dict__"))
        return bound(frame, in_class, owner, owner.cls)
    fallback = class_attribute(owner.cls, "__getattr__")
    if isinstance(fallback, FunctionType) and not is_module:
        return calls.call(frame, output.wrap_function(fallback, None), [owner, Constant(name)], {})
    if owner.source is not None:
        output.add_guard(Guard(owner.source, f"{name!r} not in {owner.source}.__dict__"))
    raise raised(AttributeError, f"'{owner.cls.__name__}' object has no attribute '{name}'")


def bound(frame: Any, found: Any, owner: Variable, cls: type) -> Variable:
    """What a class has, as it is seen through an object."""
    if isinstance(found, FunctionType):
        return MethodVariable(frame.output.wrap_function(found, None), owner)
    if isinstance(found, staticmethod):
        return known_value(frame, found.__func__)
    if isinstance(found, classmethod):
        return MethodVariable(frame.output.wrap_function(found.__func__, None), Constant(cls))
    if isinstance(found, property):
        return calls.call(frame, frame.output.wrap_function(found.fget, None), [owner], {})
    if isinstance(found, WrapperDescriptorType) and found is object.__init__:
        return Constant(lambda *args: None)
    if isinstance(found, (WrapperDescriptorType, MethodDescriptorType)) or hasattr(type(found), "__get__"):
        if isinstance(owner, (ObjectVariable, DictVariable, ListVariable, TupleVariable)):
            return MethodVariable(found.__name__, owner)
        raise Unsupported(f"{found!r}")
    if type(found) not in CONSTANTS or not cls.__module__.startswith("rushlight."):
        return Lazy(found, f"{bind(frame.output.scope, cls)}.{name_in(cls, found)}")
    return Constant(found)


def name_in(cls: type, value: Any) -> str:
    return next(name for base in cls.__mro__ for name, found in base.__dict__.items() if found is value)


def class_attribute(cls: type, name: str) -> Any:
    return inspect.getattr_static(cls, name, None)


def set_attribute(frame: Any, owner: Variable, name: str, value: Variable | None) -> None:
    """Write an attribute, or delete it where the value is None."""
    output = frame.output
    if isinstance(owner, TensorVariable) and name == "grad" and value is not None:
        training.set_grad(frame, owner, output.realize(value))
        return
    if isinstance(owner, FunctionVariable) and owner.source is None and owner.real is None and value is not None:
        owner.attributes[name] = value
        return
    if not isinstance(owner, ObjectVariable):
        raise Unsupported(f"writing the attribute {name} of {owner!r}")
    in_class = class_attribute(owner.cls, name)
    if isinstance(in_class, property) and in_class.fset is not None and value is not None:
        calls.call(frame, output.wrap_function(in_class.fset, None), [owner, value], {})
        return
    is_module = issubclass(owner.cls, rl.nn.Module)
    setter = class_attribute(owner.cls, "__setattr__")
    if isinstance(setter, FunctionType) and not is_module:
        if value is None:
            raise Unsupported(f"{owner.cls.__name__}.__delattr__")
        calls.call(frame, output.wrap_function(setter, None), [owner, Constant(name), value], {})
        return
    if is_module and value is not None:
        seen = output.realize(value)
        if isinstance(seen, TensorVariable) and seen.source == f"{owner.source}._parameters[{name!r}]":
            return  # p -= 1 writes to p, and then puts it where it was
        state = owner.real.__dict__ if owner.real is not None else {}
        special = isinstance(seen, ObjectVariable) and issubclass(seen.cls, rl.nn.Module) or owner.real is None
        special |= isinstance(seen, TensorVariable) and seen.kind is not Tensor
        if special or name in state.get("_parameters", ()) or name in state.get("_modules", ()):
            raise Unsupported(f"writing {name} of a module")
    if value is None and name not in owner.attributes:
        get_attribute(frame, owner, name)
    owner.attributes[name] = value
    if owner.source is not None:
        output.effect("attribute", owner, name)


# ------------------------------------------------------------------------------------------------------------
# Objects and classes


def new_object(frame: Any, cls: type, args: list[Variable], kwargs: dict[str, Variable]) -> Variable:
    """An object of a class, made in the capture."""
    if issubclass(cls, BaseException):
        if class_attribute(cls, "__init__") is not class_attribute(BaseException, "__init__") and isinstance(
            class_attribute(cls, "__init__"), FunctionType
        ):
            raise Unsupported(f"an exception of the class {cls.__name__}")
        return ExceptionVariable(cls, args)
    if issubclass(cls, tuple) and hasattr(cls, "_fields"):
        values = dict(zip(cls._fields, args)) | kwargs
        values = {**{k: Constant(v) for k, v in cls._field_defaults.items()}, **values}
        return TupleVariable([values[name] for name in cls._fields], cls=cls)
    if cls in (rl.no_grad, rl.enable_grad, rl.set_grad_enabled):
        if cls is rl.set_grad_enabled:
            mode = constant_of(args[0])
            variable = GradModeVariable(cls, mode)
            variable.before.append(local.grad_enabled)
            set_grad_mode(frame, mode)
            return variable
        if args:
            raise Unsupported("a mode as a decorator")
        return GradModeVariable(cls, cls.mode)
    plain = class_attribute(cls, "__new__") is class_attribute(object, "__new__")
    if not plain or type(cls) is not type or issubclass(cls, (rl.nn.Module, Tensor)):
        raise Unsupported(f"a new object of the class {cls.__name__}")
    variable = ObjectVariable(cls)
    init = class_attribute(cls, "__init__")
    if isinstance(init, FunctionType):
        calls.call(frame, frame.output.wrap_function(init, None), [variable, *args], kwargs)
    elif args or kwargs:
        raise raised(TypeError, f"{cls.__name__}() takes no arguments")
    return variable


def make_super(frame: Any, args: list[Variable]) -> Variable:
    """`super(cls, owner)`. Without arguments the class is in a cell of the frame and the owner is its first local."""
    if not args:
        cell = frame.cells.get("__class__")
        name = frame.code.co_varnames[0]
        owner = frame.locals.get(name) or frame.cells[name].contents
        args = [frame.output.realize(cell.contents), frame.output.realize(owner)]
    return SuperVariable(constant_of(args[0]), args[1])
