"""Defining operators and registering kernels at run time, and calling operators by name.

The interface is that of `torch/library.py` and `torch/_ops.py`: one program of registrations runs on both. `rl.ops` is
PyTorch's `torch.ops`. `custom_op` and the other functions that register by name are in `_library`, which imports this module.
Left out: tags; registering to `Dense` and `AutogradFunctionality` without a backend; the warning when a kernel overrides another.
"""

from __future__ import annotations

import sys
import traceback
import weakref
from collections.abc import Callable, Iterable, Sequence
from functools import cache, cached_property, lru_cache, partial
from importlib import import_module
from typing import Any

from rushlight.c10 import dispatch, fast_paths
from rushlight.c10.dispatch import DispatchKey, Kernel, Operator, fallthrough_kernel, local, operators, tensors_in
from rushlight.c10.dtypes import as_dtype
from rushlight.c10.schema import (
    NUMBERS,
    NUMPY_NAMES,
    Argument,
    bind,
    cast,
    choose_signature,
    is_default,
    may_be_number,
    parse_schema,
)
from rushlight.c10.storage import Device, device

__all__ = ["Library", "fallthrough_kernel", "ops"]


def parse_key(name: str) -> DispatchKey:
    """Return the key of this name. Kernels can be registered for it."""
    key = DispatchKey.__members__.get(name)
    if key not in dispatch.RUNTIME_KEYS and name not in dispatch.ALIASES:
        raise RuntimeError(f"could not parse dispatch key: {name}")
    return key


class Library:
    """A set of definitions (`"DEF"`, once per namespace; `"FRAGMENT"`, any number of times) or of kernels only (`"IMPL"`,
    optionally all for one `dispatch_key`).

    Its registrations last as long as the object, or until `_destroy`.

    Source: `torch/library.py`, `Library`; `aten/src/ATen/core/library.cpp`.
    """

    def __init__(self, ns: str, kind: str, dispatch_key: str = "") -> None:
        if kind not in ("DEF", "IMPL", "FRAGMENT"):
            raise ValueError(f"Unsupported kind: {kind}")
        if kind == "DEF" and ns in _defined:
            raise RuntimeError(f"Only a single Library('{ns}', 'DEF') can exist, and one does: add with a 'FRAGMENT'")
        if dispatch_key and kind != "IMPL":
            raise RuntimeError(f"a Library of kind '{kind}' takes no dispatch key: pass the key to impl()")
        if dispatch_key:
            parse_key(dispatch_key)
        self.ns, self.kind, self.dispatch_key = ns, kind, dispatch_key
        self._undo: list[Callable[[], Any]] = []
        if kind == "DEF":
            _defined.add(ns)
            self._undo.append(lambda: _defined.discard(ns))
        self._finalizer = weakref.finalize(self, _undo_all, self._undo)
        self._finalizer.atexit = False

    def define(self, schema: str, alias_analysis: str = "") -> str:
        """Define an operator and return its name, without overload. RuntimeError for a bad schema or a name that exists."""
        self._check_alive()
        if alias_analysis not in ("", "FROM_SCHEMA", "CONSERVATIVE"):
            raise RuntimeError(f"Invalid alias_analysis type {alias_analysis}")
        if self.kind == "IMPL":
            raise RuntimeError("define() cannot be called on a Library of kind 'IMPL': it holds kernels only")
        parsed = parse_schema(schema, self.ns)
        if parsed.namespace != self.ns:
            raise RuntimeError(f"a Library of '{self.ns}' cannot define {parsed.full_name}")
        name = parsed.full_name
        if name in operators:
            raise RuntimeError(f"Tried to register an operator ({name}) that exists: {operators[name].schema}")
        operator = OpOverload(parsed, _caller_location())
        for key, kernels in _registered.get(name, {}).items():
            operator.kernels[key] = kernels[-1]
        self._undo.append(lambda: operators.pop(name, None))
        return schema.partition("(")[0].strip().removesuffix(f".{parsed.overload_name}")

    def impl(
        self,
        op_name: str | Operator,
        fn: Callable,
        dispatch_key: str = "",
        *,
        with_keyset: bool = False,
        allow_override: bool = True,
    ) -> None:
        """Register `fn` as the kernel of an operator of this namespace for a key: `dispatch_key`, else the library's key, else
        `CompositeImplicitAutograd`. The operator may be defined later.

        `fn` takes the arguments as the caller of the operator passes them. With `with_keyset`, the key set of the call comes
        first. The latest of several kernels for one operator and key is active, as long as its library exists.

        Raises:
            TypeError: `fn` cannot be called.
            RuntimeError: the key does not exist, or is not the library's; the operator is of another namespace; it has a
                kernel from Python already and `allow_override` is False; the key is `Meta` and the operator has a kernel
                for `CompositeImplicitAutograd`, which also runs on `Meta`.
        """
        if not callable(fn):
            raise TypeError(f"Input function is required to be a callable but found type {type(fn)}")
        if not isinstance(op_name, (str, Operator)):
            raise RuntimeError(f"impl() should be passed the name of an operator or an OpOverload, got {type(op_name)}")
        name = op_name.full_name if isinstance(op_name, Operator) else op_name
        namespace, _, name = name.rpartition("::")
        if namespace not in ("", self.ns):
            raise RuntimeError(f"a Library of '{self.ns}' cannot have kernels of {namespace}::{name}")
        name, key = f"{self.ns}::{name}", parse_key(dispatch_key or self.dispatch_key or "CompositeImplicitAutograd")
        if not allow_override and any(kernel.pythonic for kernel in _registered.get(name, {}).get(key, ())):
            problem = f"there's already a kernel registered from python overriding {name}'s behavior for {key.name}"
            raise RuntimeError(
                f"This is not allowed since {problem} dispatch key; pass allow_override=True to override it"
            )
        composite = DispatchKey.CompositeImplicitAutograd
        if key == DispatchKey.Meta and name in operators and composite in operators[name].kernels:
            problem = f"{name} has a CompositeImplicitAutograd kernel, which runs on Meta too"
            raise RuntimeError(f"{problem}: register Meta kernels for the operators that it calls")
        self._check_alive()
        if self.dispatch_key and key.name != self.dispatch_key:
            raise RuntimeError(f"this Library is for {self.dispatch_key}: use another one for kernels of {key.name}")
        kernel = _kernel(fn, boxed=False, with_key_set=with_keyset)
        _register(name, key, kernel)
        self._undo.append(lambda: _deregister(name, key, kernel))

    def fallback(self, fn: Callable, dispatch_key: str = "", *, with_keyset: bool = False) -> None:
        """Register `fn(op, *args, **kwargs)` for a key of every operator that has no kernel for the key. With `with_keyset`, the
        key set of the call comes first.

        Raises RuntimeError if the namespace is not `_`, and for a key that has a fallback already, which most keys have.
        """
        if self.ns != "_":
            raise RuntimeError(f"a fallback is for all namespaces: use Library('_', 'IMPL'), not '{self.ns}'")
        name = dispatch_key or self.dispatch_key
        assert name, "dispatch_key must not be empty for fallback"
        self._check_alive()
        key = parse_key(name)
        if key not in dispatch.RUNTIME_KEYS or key in dispatch.fallbacks:
            raise RuntimeError(f"Tried to register multiple backend fallbacks for the same dispatch key {key.name}")
        _set_fallback(key, _kernel(fn, boxed=True, with_key_set=with_keyset))
        self._undo.append(lambda: _set_fallback(key, None))

    def _register_fake(self, op_name: str, fn: Callable) -> None:
        """Register the function that makes the results of an operator of this namespace without data.
        Source: `torch/_library/fake_impl.py`, `FakeImplHolder.register`, which also registers it for `Meta`."""
        self.impl(op_name, fn, "Meta")

    def _check_alive(self) -> None:
        assert self._finalizer.alive, "Library object has been destroyed"

    def _destroy(self) -> None:
        """Undo all registrations, the last one first."""
        self._finalizer()


_BY_NAME = {
    "_scoped_library", "CustomOpDef", "custom_op", "define", "impl", "infer_schema", "register_autocast", "register_autograd",
    "register_fake", "register_kernel",
}  # fmt: skip


def __getattr__(name: str) -> Any:
    if name in _BY_NAME:
        return getattr(
            import_module("rushlight._library.custom_ops"), name
        )  # it needs autograd, which needs this module
    raise AttributeError(f"module 'rushlight.library' has no attribute {name!r}")


_defined: set[str] = set()  # namespaces that have a DEF
_registered: dict[str, dict[DispatchKey, list[Kernel]]] = {}  # by operator, which may be defined later; the latest last


def is_overridden(*names: str) -> bool:
    """Whether a `Library` has a kernel for one of these operators, which a fast path must not leave out."""
    return bool(_registered) and not _registered.keys().isdisjoint(names)


def _kernel(fn: Callable, boxed: bool, with_key_set: bool) -> Kernel:
    if fn is fallthrough_kernel:
        return dispatch.FALLTHROUGH
    return Kernel(fn, _caller_location(), not boxed, boxed, with_key_set)


def _register(name: str, key: DispatchKey, kernel: Kernel) -> None:
    before = operators[name].kernels.get(key) if name in operators else None
    kernels = _registered.setdefault(name, {}).setdefault(key, [] if before is None else [before])
    kernels.append(kernel)
    if name in operators:
        operators[name].register(key, kernel)


def _deregister(name: str, key: DispatchKey, kernel: Kernel) -> None:
    kernels = _registered[name][key]
    kernels.remove(kernel)
    if not kernels:
        del _registered[name][key]
    if name in operators:
        operators[name].register(key, kernels[-1] if kernels else None)


def _set_fallback(key: DispatchKey, kernel: Kernel | None) -> None:
    if kernel is None:
        dispatch.fallbacks.pop(key, None)
    else:
        dispatch.fallbacks[key] = kernel
    fast_paths.clear_caches()


def _undo_all(undo: list[Callable[[], Any]]) -> None:
    while undo:
        undo.pop()()


def _caller_location() -> str:
    """File and line of the code that called this module, for `_dispatch_dump`."""
    frame = next(f for f in reversed(traceback.extract_stack(sys._getframe(1))) if f.filename != __file__)
    return f"registered at {frame.filename}:{frame.lineno}"


# Functions that the generated files call: `aten/generated/functions.py` and `register_kernels.py` --------------------


def declare(schema: str) -> OpOverload:
    """Define one of PyTorch's own operators, without kernels. Unless one is registered for `Autograd`, calls skip that key.
    Source: `RegisterSchema.cpp`, which `torchgen` generates."""
    operator = OpOverload(schema)
    operator.kernels[DispatchKey.Autograd] = dispatch.FALLTHROUGH
    return operator


def implement(name: str, *, factory: bool = False, **kernels: Callable) -> None:
    """Register the kernels of one of PyTorch's own operators, by key.

    A `factory` takes no tensor. Its argument `device` selects the backend.

    Source: `RegisterCPU.cpp`, `RegisterCompositeImplicitAutograd.cpp` and `RegisterBackendSelect.cpp`, which `torchgen` generates.
    """
    operator = operators[f"aten::{name}"]
    for key, function in kernels.items():
        operator.kernels[DispatchKey[key]] = Kernel(function)
    if factory:
        operator.kernels[DispatchKey.BackendSelect] = Kernel(partial(select_backend, operator), with_key_set=True)


def select_backend(operator: Operator, key_set: int, *stack: Any) -> Any:
    """The kernel for `BackendSelect`: redispatch to the backend that the argument `device` names, or that is the default in a
    block `with device(...)`."""
    position = operator.device_position
    if stack[position] is None and local.default_devices:
        stack = (*stack[:position], local.default_devices[-1], *stack[position + 1 :])
    return operator.below[key_set | backend_bits(stack[position])](*stack)


@lru_cache
def backend_bits(wanted: Device) -> int:
    """The key set of the backend of a device, by default of the CPU."""
    return dispatch.bits(device(wanted or "cpu").backend)


fast_paths.cache_clearers.append(backend_bits.cache_clear)


def invoke(operator: OpOverload, *stack: Any) -> Any:
    """Call an operator through its table, with one argument for each argument of its schema."""
    for position, argument in operator.tensor_arguments:
        value = stack[position]
        if argument.type != "Tensor":  # only calls by name accept None, as in PyTorch
            if not isinstance(value, (list, tuple)):
                which = f"{operator.schema.name}(): argument '{argument.name}'"
                raise TypeError(f"{which} must be tuple of Tensors, not {type(value).__name__}")
            for i, item in enumerate(value):
                if not hasattr(item, "_key_set"):
                    raise TypeError(f"expected Tensor as element {i} in argument 0, but got {type(item).__name__}")
            continue
        if hasattr(value, "_key_set"):
            continue
        if not (isinstance(value, NUMBERS) and may_be_number(operator.schema, argument)):
            name = "input" if argument.name == "self" else argument.name
            which = f"argument '{name}' (position {position + 1})"
            raise TypeError(f"{operator.schema.name}(): {which} must be Tensor, not {type(value).__name__}")
        if position == 0 and operator.schema.name in _OF_NUMBERS and not list(tensors_in(stack)):  # `rl.add(2, 3)`
            stack = (through_table(operators["aten::full"], ((), value, None, None, None, None)), *stack[1:])
    return through_table(operator, stack)


_OF_NUMBERS = ("add", "sub", "mul", "div", "floor_divide")


def through_table(operator: Operator, stack: Sequence) -> Any:
    """Call an operator with arguments that are known to fit its schema."""
    keys = local.included  # from here on `dispatch_key_set`, inlined
    for value in stack:
        if isinstance(value, (list, tuple)):
            for item in value:
                keys |= getattr(item, "_key_set", 0)
        elif value.__class__ not in _NO_TENSORS:
            keys |= getattr(value, "_key_set", 0)
    return operator.table[keys & (~local.excluded | dispatch.BACKEND_MASK)](*stack)


def leaf(tensor: Any, requires_grad: bool) -> Any:
    """A new tensor with `requires_grad` set: a keyword of the Python functions that no operator has."""
    return tensor.requires_grad_() if requires_grad else tensor


def check_out_options(out: Any, options: dict[str, Any]) -> dict[str, Any]:
    """The keywords that remain of a factory call with an `out`. The options may be passed too, but must agree with `out`.
    Source: `torch/csrc/autograd/utils/python_arg_parsing.h`; `torch/csrc/autograd/python_torch_functions_manual.cpp`,
    `check_out_type_matches`."""
    wanted, target = options.get("dtype"), options.get("device")
    if wanted is not None and (wanted := as_dtype(wanted)) is not out.dtype:
        raise RuntimeError(f"dtype {wanted.type_name} does not match dtype of out parameter ({out.dtype.type_name})")
    if target is not None and device(target).type != out.device.type:
        raise RuntimeError(f"device type {target} does not match device type of out parameter ({out.device})")
    left = {name: value for name, value in options.items() if name not in ("dtype", "layout", "device", "pin_memory")}
    return left | {"out": out}


def unpack_out(kwargs: dict[str, Any], names: tuple[str, ...]) -> dict[str, Any]:
    """The keywords of a call with several results. A tuple passed as `out` has one tensor for each of these names."""
    out = kwargs.get("out")
    if not isinstance(out, (tuple, list)):
        return kwargs
    if len(out) != len(names):
        raise TypeError(f"expected tuple of {len(names)} elements but got {len(out)}")
    return {name: value for name, value in kwargs.items() if name != "out"} | dict(zip(names, out))


def resolve(overloads: Sequence[Operator], args: tuple, kwargs: dict[str, Any]) -> Any:
    """Call the first overload whose schema fits these arguments.
    Source: `torch/csrc/utils/python_arg_parser.cpp`, `PythonArgParser::raw_parse`."""
    if "input" in kwargs and all(argument.name != "input" for argument in overloads[0].schema.arguments):
        kwargs = {"self" if name == "input" else name: value for name, value in kwargs.items()}
    if (
        "out" in kwargs and kwargs["out"] is None and any(operator.schema.is_mutable for operator in overloads)
    ):  # no method
        kwargs = {name: value for name, value in kwargs.items() if name != "out"}
    pattern = (overloads, *kwargs, argument_types(args), argument_types(kwargs.values()) if kwargs else ())
    known = _plans.get(pattern)
    if known is not None:
        table, tensors, arrange = known
        stack = arrange(args, kwargs)
        key_set = local.included
        for position in tensors:
            key_set |= stack[position]._key_set
        return table[key_set & ~local.excluded](*stack)
    chosen = choose_signature([operator.schema for operator in overloads], args, kwargs)
    if chosen is not None:
        operator, stack = overloads[chosen[0]], chosen[1]
        if None not in pattern:
            cache_plan(pattern, operator, args, kwargs, stack)
        return invoke(operator, *stack)
    renamed = {NUMPY_NAMES.get(name, name): value for name, value in kwargs.items()}
    twice = len(renamed) < len(kwargs) or {"self", "input"} <= renamed.keys()
    if renamed.keys() != kwargs.keys() and not twice:
        return resolve(overloads, args, renamed)
    given = ", ".join([type(a).__name__ for a in args] + [f"{name}={type(a).__name__}" for name, a in kwargs.items()])
    expected = "\n".join(f" * {operator.schema}" for operator in overloads)
    problem = f"{overloads[0].schema.name}() received an invalid combination of arguments - got ({given})"
    raise TypeError(f"{problem}, but expected one of:\n{expected}")


def call_by_name(overloads: Sequence[Operator], given: dict[str, Any]) -> Any:
    """Call an operator with arguments by name, which may be the names that numpy has. Other keywords are in `numpy_names`.
    Required arguments that were not passed are None, and so is what may be None."""
    named = given.pop("numpy_names")
    for argument in overloads[0].schema.arguments:
        name = "input" if argument.name == "self" and "input" in given else argument.name
        value = given[name]
        as_list = [*value] if isinstance(value, tuple) else value
        if value is None and not argument.is_optional or is_default(argument, as_list):
            del given[name]
    given = {name: value for name, value in given.items() if name != "out" or value is not None}
    return resolve(tuple(overloads), (), given | named)


def argument_types(values: Iterable[Any]) -> tuple | None:
    """The types of the arguments, if the types alone decide which overload fits, else None. A list must have ints only, because
    other lists may hold anything. A tensor without dimensions gives None, because it may be passed for a number."""
    kinds = []
    for value in values:
        kind = value.__class__
        if kind is list or kind is tuple:
            if not _INT.issuperset(map(type, value)):
                return None
            kind = (kind, len(value))
        elif kind not in _NO_TENSORS and hasattr(value, "_key_set") and not value._sizes:
            return None
        kinds.append(kind)
    return tuple(kinds)


_INT, _NO_TENSORS = {int}, {int, float, bool, str, type(None)}


_plans = fast_paths.Cache("c10")  # by the types of arguments: a table, which are tensors, and what makes the stack


def cache_plan(pattern: tuple, operator: Operator, args: tuple, kwargs: dict[str, Any], stack: list) -> None:
    """Cache, for calls with arguments of these types, a compiled function that makes the stack from the arguments."""
    parts, defaults = [], []
    by_position = min(len(args), len(operator.schema.positional))
    for i, (argument, value) in enumerate(zip(operator.schema.arguments, stack)):
        if i < by_position:
            source, passed = f"args[{i}]", args[i]
        elif argument.name in kwargs:
            source, passed = f"kwargs[{argument.name!r}]", kwargs[argument.name]
        else:
            source, passed = f"defaults[{len(defaults)}]", value
            defaults.append(value)
        if value is not passed:
            if i < by_position < len(args) and value is not args[i] and value == args[i:]:  # sizes without brackets
                source = f"args[{i}:]"
            elif value == (passed,):
                source = f"({source},)"
            else:
                return
        parts.append(source)
    tensors = [i for i, value in enumerate(stack) if hasattr(value, "_key_set")]
    if not tensors and may_be_number(operator.schema, operator.schema.arguments[0]):
        return
    arrange = eval(f"lambda args, kwargs: ({', '.join(parts)},)", {"defaults": defaults})
    _plans.add(pattern, (operator.table, tensors, arrange))


# Calling by name -----------------------------------------------------------------------------------------------------


def stack_of(operator: Operator, args: Sequence, kwargs: dict[str, Any]) -> list:
    """The stack of a call by name: the arguments in the schema's order (`bind`), each converted to its type (`cast`).
    Source: `torch/csrc/jit/python/pybind_utils.h`, `createStackForSchema` and `argumentToIValue`."""
    schema, stack = operator.schema, [*bind(operator.schema, args, kwargs)]
    for position, (argument, value) in enumerate(zip(schema.arguments, stack)):
        if isinstance(value, NUMBERS) and schema.namespace == "aten" and may_be_number(schema, argument):
            continue
        try:
            stack[position] = cast(argument, value)
        except RuntimeError as problem:
            expected = f"Expected a value of type '{argument.type}' for argument '{argument.name}'"
            details = f"Position: {position}\nDeclaration: {schema}\nCast error details: {problem}"
            actual = f"but instead found type '{type(value).__name__}'."
            raise RuntimeError(f"{schema.full_name}() {expected} {actual}\n{details}") from None
    return stack


class OpOverload(Operator):
    """The operator `rl.ops.namespace.name.overload`, which is called with the arguments of its schema."""

    @cached_property
    def tensor_arguments(self) -> list[tuple[int, Argument]]:
        """The positions and the arguments that take a tensor or a list of tensors, and not None."""
        kinds = ("Tensor", "Tensor[]", "Tensor?[]")
        return [(i, argument) for i, argument in enumerate(self.schema.arguments) if argument.type in kinds]

    @cached_property
    def device_position(self) -> int:
        """The position of the argument that names a device."""
        return next(i for i, argument in enumerate(self.schema.arguments) if argument.base == "Device")

    def __call__(self, /, *args: Any, **kwargs: Any) -> Any:
        return through_table(self, stack_of(self, args, kwargs))

    def redispatch(self, /, keyset: int, *args: Any, **kwargs: Any) -> Any:
        return dispatch.redispatch(self, keyset, *stack_of(self, args, kwargs))

    def name(self) -> str:
        return self.full_name

    @property
    def _schema(self):
        return self.schema

    @property
    def _overloadname(self) -> str:
        return self.schema.overload_name or "default"

    @property
    def overloadpacket(self) -> OpOverloadPacket:
        return packet(self.schema.namespace, self.schema.name)

    @property
    def __name__(self) -> str:
        return f"{self.schema.name}.{self._overloadname}"

    def __str__(self) -> str:
        return f"{self.schema.namespace}.{self.__name__}"

    def __deepcopy__(self, memo: Any) -> OpOverload:
        return self

    def __repr__(self) -> str:
        return f"<OpOverload(op='{self.schema.namespace}.{self.schema.name}', overload='{self._overloadname}')>"


class OpOverloadPacket:
    """All overloads of one name. A call runs the first overload whose schema fits."""

    def __init__(self, namespace: str, name: str):
        self._qualified_op_name, self.__name__ = f"{namespace}::{name}", name

    def overloads(self) -> list[str]:
        prefix = self._qualified_op_name
        names = (name for name in operators if name == prefix or name.startswith(prefix + "."))
        return [name.removeprefix(prefix).removeprefix(".") or "default" for name in names]

    def __getattr__(self, overload: str) -> OpOverload:
        if overload.startswith("__"):  # also while a copy is made, which has no name yet
            raise AttributeError(f"an operator has no overload {overload!r}")
        name = self._qualified_op_name + ("" if overload == "default" else f".{overload}")
        if name not in operators:
            raise AttributeError(f"'{self._qualified_op_name}' has no overload {overload!r}, only {self.overloads()}")
        return operators[name]

    def __call__(self, /, *args: Any, **kwargs: Any) -> Any:
        problems = []
        for overload in self.overloads():
            operator = getattr(self, overload)
            try:
                stack = stack_of(operator, args, kwargs)
            except RuntimeError as problem:
                problems.append(str(problem))
                continue
            return through_table(operator, stack)
        heading = ["No overload of the operator fits:"] if len(problems) > 1 else []
        raise RuntimeError("\n".join(heading + problems))

    def __str__(self) -> str:
        return self._qualified_op_name.replace("::", ".")

    def __repr__(self) -> str:
        return f"<OpOverloadPacket(op='{self}')>"


packet = cache(OpOverloadPacket)  # one object for each name, as in PyTorch


class _Namespace:
    def __init__(self, name: str):
        self._name = name

    def __getattr__(self, name: str) -> OpOverloadPacket:
        found = packet(self._name, name)
        if name.startswith("__") or not found.overloads():
            raise AttributeError(f"there is no operator '{self._name}::{name}'")
        return found


class _Ops:
    """`ops.namespace.name.overload`."""

    def __getattr__(self, name: str) -> _Namespace:
        if name.startswith("__"):
            raise AttributeError(name)
        return _Namespace(name)


ops = _Ops()
"""All operators by namespace: `ops.aten.add.Tensor` is an overload, and `ops.aten.add` all overloads of the name.
Source: `torch/_ops.py`, `_Ops`."""
