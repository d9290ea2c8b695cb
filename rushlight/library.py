"""Defining operators and registering kernels at run time, and calling operators by name.

The interface is that of `torch/library.py` and `torch/_ops.py`: one program of registrations runs on either. `rl.ops` is
PyTorch's `torch.ops`. Left out: `custom_op` and its like, which belong to real PyTorch; tags; abstract implementations.
"""

from __future__ import annotations

import sys
import traceback
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from rushlight import dispatch
from rushlight.dispatch import (
    ALIASES,
    FALLTHROUGH,
    RUNTIME_KEYS,
    DispatchKey,
    Kernel,
    Operator,
    bits,
    dispatch_key_set,
    fallbacks,
    fallthrough_kernel,
    keys_below,
    local,
    operators,
    redispatch,
)
from rushlight.schema import NUMBERS, Argument, bind, fit, parse_schema
from rushlight.storage import device

__all__ = ["Library", "fallthrough_kernel", "ops"]


def parse_key(name: str) -> DispatchKey:
    """The key of this name that something can be registered for."""
    key = DispatchKey.__members__.get(name)
    if key not in RUNTIME_KEYS and name not in ALIASES:
        raise RuntimeError(f"could not parse dispatch key: {name}")
    return key


class Library:
    """A set of definitions (`"DEF"`, once per namespace; `"FRAGMENT"`, as often as one likes) or of kernels only (`"IMPL"`).

    What it registered lasts until `_destroy`.

    Source: `torch/library.py`, `Library`.
    """

    def __init__(self, ns: str, kind: str, dispatch_key: str = "") -> None:
        if kind not in ("DEF", "IMPL", "FRAGMENT"):
            raise ValueError(f"Unsupported kind: {kind}")
        if kind == "DEF" and ns in _defined:
            raise RuntimeError(
                f"Only a single Library('{ns}', 'DEF') can be there, and one is; use the kind 'FRAGMENT' to add to it"
            )
        self.ns, self.kind, self.dispatch_key = ns, kind, dispatch_key
        self._undo: list[Callable[[], Any]] = []
        if kind == "DEF":
            _defined.add(ns)
            self._undo.append(lambda: _defined.discard(ns))

    def define(self, schema: str, alias_analysis: str = "") -> str:
        """Define an operator; returns its name with overload. Raises RuntimeError for a bad schema or a name twice."""
        if self.kind == "IMPL":
            raise RuntimeError("define() cannot be called on a Library of kind 'IMPL': it holds kernels only")
        parsed = parse_schema(schema, self.ns)
        if parsed.namespace != self.ns:
            raise RuntimeError(f"a Library of '{self.ns}' cannot define {parsed.full_name}")
        if parsed.full_name in operators:
            raise RuntimeError(
                f"Tried to register an operator ({parsed.full_name}) that is there: {operators[parsed.full_name].schema}"
            )
        operator = OpOverload(parsed, _here())
        operator.kernels.update(_waiting.get(operator.full_name, {}))
        self._undo.append(lambda: operators.pop(operator.full_name, None))
        return operator.full_name.partition("::")[2]

    def impl(
        self,
        op_name: str | Operator,
        fn: Callable,
        dispatch_key: str = "",
        *,
        with_keyset: bool = False,
        allow_override: bool = False,
    ) -> None:
        """Register `fn` as the kernel of an operator of this namespace for a key, `CompositeImplicitAutograd` unless said.

        `fn` takes the arguments as the caller of the operator would pass them; with `with_keyset` the key set of the call
        comes first. The operator may be defined later. Raises RuntimeError for a key that does not exist, and for one that
        has a kernel from Python already, unless `allow_override`.
        """
        if not callable(fn):
            raise TypeError(f"Input function is required to be a callable but found type {type(fn)}")
        key = parse_key(dispatch_key or self.dispatch_key or "CompositeImplicitAutograd")
        name = (
            op_name.full_name
            if isinstance(op_name, Operator)
            else f"{self.ns}::{op_name.partition('::')[2] or op_name}"
        )
        name = name.removesuffix(".default")
        if name.partition("::")[0] != self.ns:
            raise RuntimeError(f"a Library of '{self.ns}' cannot have kernels of {name}")
        if (name, key) in _from_python and not allow_override:
            raise RuntimeError(
                f"This is not allowed since there's already a kernel registered from python overriding {name}'s behavior "
                f"for {key.name} dispatch key"
            )
        kernel = FALLTHROUGH if fn is fallthrough_kernel else Kernel(fn, _here(), True, with_key_set=with_keyset)
        _from_python.add((name, key))
        before = operators[name].kernels.get(key) if name in operators else None
        self._undo.append(lambda: _take_back(name, key, before))
        _waiting.setdefault(name, {})[key] = kernel
        if name in operators:
            operators[name].register(key, kernel)

    def fallback(self, fn: Callable, dispatch_key: str = "", *, with_keyset: bool = False) -> None:
        """Register `fn(op, *args, **kwargs)` for a key of every operator that has nothing else there. The namespace must
        be `_`. With `with_keyset` the key set of the call comes first."""
        if self.ns != "_":
            raise RuntimeError(f"a fallback is for all namespaces: use Library('_', 'IMPL'), not '{self.ns}'")
        key = parse_key(dispatch_key or self.dispatch_key)
        if key not in RUNTIME_KEYS:
            raise RuntimeError(f"{key.name} is an alias key: register the fallback for a key that a table has")
        kernel = FALLTHROUGH if fn is fallthrough_kernel else Kernel(fn, _here(), boxed=True, with_key_set=with_keyset)
        before = fallbacks.get(key)
        _set_fallback(key, kernel)
        self._undo.append(lambda: _set_fallback(key, before))

    def _destroy(self) -> None:
        """Take back all that was registered, the last first."""
        while self._undo:
            self._undo.pop()()


_defined: set[str] = set()  # namespaces that have their DEF
_from_python: set[tuple[str, DispatchKey]] = set()
_waiting: dict[str, dict[DispatchKey, Kernel]] = {}  # kernels from Python by operator, which may be defined later


def _take_back(name: str, key: DispatchKey, before: Kernel | None) -> None:
    _from_python.discard((name, key))
    _waiting.get(name, {}).pop(key, None)
    if name in operators:
        operators[name].register(key, before)


def _set_fallback(key: DispatchKey, kernel: Kernel | None) -> None:
    if kernel is None:
        fallbacks.pop(key, None)
    else:
        fallbacks[key] = kernel
    dispatch.stand_aside(dispatch.aside)  # forget every table


def _here() -> str:
    """Where the caller of this module stands, for `_dispatch_dump`."""
    frame = next(f for f in reversed(traceback.extract_stack(sys._getframe(1))) if f.filename != __file__)
    return f"registered at {frame.filename}:{frame.lineno}"


# ------------------------------------------------------------------------------------------------------------
# What `functions.py` is made with


def declare(schema: str, *, factory: bool = False, **kernels: Callable) -> OpOverload:
    """An operator of PyTorch's own, with its kernels by key. A `factory` takes no tensor, and its backend is that of its
    argument `device`.

    Source: what `torchgen` writes: `RegisterSchema.cpp`, `RegisterCPU.cpp`, `RegisterBackendSelect.cpp`.
    """
    operator = OpOverload(schema)
    for key, function in kernels.items():
        operator.kernels[DispatchKey[key]] = Kernel(function)
    if factory:
        operator.kernels[DispatchKey.BackendSelect] = Kernel(partial(select_backend, operator), with_key_set=True)
    return operator


def select_backend(operator: Operator, key_set: int, *stack: Any) -> Any:
    """The kernel for `BackendSelect`: go on with the backend that the argument `device` names."""
    place = next(i for i, argument in enumerate(operator.schema.arguments) if argument.base == "Device")
    wanted = device(stack[place] or "cpu")
    return redispatch(operator, key_set & keys_below(DispatchKey.BackendSelect) | bits(wanted.backend), *stack)


def invoke(operator: Operator, *stack: Any) -> Any:
    """Call an operator with one argument for each of its schema's, through its table."""
    for argument, value in zip(operator.schema.arguments, stack):
        if argument.type == "Tensor" and not hasattr(value, "_key_set") and not _stands_for_tensor(argument, value):
            position = operator.schema.arguments.index(argument) + 1
            name = "input" if argument.name == "self" else argument.name
            raise TypeError(
                f"{operator.schema.name}(): argument '{name}' (position {position}) must be Tensor, not {type(value).__name__}"
            )
    return operator.table[dispatch_key_set(stack, local.included, local.excluded)](*stack)


def _stands_for_tensor(argument: Argument, value: Any) -> bool:
    """Numbers are operands like tensors, but for the first one (which reflected operators such as `2 - x` turn round)."""
    return argument.name in ("other", "exponent", "self", "src") and isinstance(value, NUMBERS)


def resolve(overloads: Sequence[Operator], args: tuple, kwargs: dict[str, Any]) -> Any:
    """Call the first of several overloads that these arguments fit.

    Source: `torch/csrc/utils/python_arg_parser.cpp`, `PythonArgParser::raw_parse`.
    """
    if "input" in kwargs:
        kwargs = {"self" if name == "input" else name: value for name, value in kwargs.items()}
    for operator in overloads:
        stack = fit(operator.schema, args, kwargs)
        if stack is not None:
            return invoke(operator, *stack)
    given = ", ".join([type(a).__name__ for a in args] + [f"{name}={type(a).__name__}" for name, a in kwargs.items()])
    expected = "\n".join(f" * {operator.schema}" for operator in overloads)
    raise TypeError(
        f"{overloads[0].schema.name}() received an invalid combination of arguments - got ({given}), but expected one of:\n"
        f"{expected}"
    )


# ------------------------------------------------------------------------------------------------------------
# Calling by name


class OpOverload(Operator):
    """An operator as `rl.ops.namespace.name.overload` gives it: callable as its schema says."""

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return invoke(self, *bind(self.schema, args, kwargs))

    def redispatch(self, keyset: int, *args: Any, **kwargs: Any) -> Any:
        return redispatch(self, keyset, *bind(self.schema, args, kwargs))

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
        return OpOverloadPacket(self.schema.namespace, self.schema.name)

    @property
    def __name__(self) -> str:
        return f"{self.schema.name}.{self._overloadname}"

    def __str__(self) -> str:
        return f"{self.schema.namespace}.{self.__name__}"

    def __repr__(self) -> str:
        return f"<OpOverload(op='{self.schema.namespace}.{self.schema.name}', overload='{self._overloadname}')>"


class OpOverloadPacket:
    """All overloads of one name. Called itself, it takes the first one whose schema fits."""

    def __init__(self, namespace: str, name: str):
        self._qualified_op_name, self.__name__ = f"{namespace}::{name}", name

    def overloads(self) -> list[str]:
        prefix = self._qualified_op_name
        names = (name for name in operators if name == prefix or name.startswith(prefix + "."))
        return [name.removeprefix(prefix).removeprefix(".") or "default" for name in names]

    def __getattr__(self, overload: str) -> OpOverload:
        name = self._qualified_op_name + ("" if overload == "default" else f".{overload}")
        if overload.startswith("__") or name not in operators:
            raise AttributeError(f"'{self._qualified_op_name}' has no overload {overload!r}, only {self.overloads()}")
        return operators[name]

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        problems = []
        for overload in self.overloads():
            operator = getattr(self, overload)
            try:
                stack = bind(operator.schema, args, kwargs)
            except RuntimeError as problem:
                problems.append(problem)
                continue
            return invoke(operator, *stack)
        raise problems[0]


class _Namespace:
    def __init__(self, name: str):
        self._name = name

    def __getattr__(self, name: str) -> OpOverloadPacket:
        packet = OpOverloadPacket(self._name, name)
        if name.startswith("__") or not packet.overloads():
            raise AttributeError(f"there is no operator '{self._name}::{name}'")
        return packet


class _Ops:
    """`ops.namespace.name.overload`."""

    def __getattr__(self, name: str) -> _Namespace:
        if name.startswith("__"):
            raise AttributeError(name)
        return _Namespace(name)


ops = _Ops()
