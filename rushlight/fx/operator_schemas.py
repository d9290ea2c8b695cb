"""The signatures of operators for passes over a graph, and the arguments of a call in one form: `normalize_function`.

In PyTorch: `torch/fx/operator_schemas.py`. Left out: operators of TorchScript that are not aten's.
"""

from __future__ import annotations

import inspect
import numbers
import types
import typing
from collections.abc import Callable
from contextlib import suppress
from inspect import Parameter
from typing import Any, NamedTuple

from rushlight import nn
from rushlight.aten.generated import functions
from rushlight.aten.strided import Tensor
from rushlight.c10.dtypes import dtype
from rushlight.c10.schema import Argument, FunctionSchema, bind
from rushlight.c10.storage import UntypedStorage, device
from rushlight.fx.node import Node, name_of, qualified_name
from rushlight.library import OpOverload, OpOverloadPacket, ops
from rushlight.nn.modules.module import Module

# Signatures ----------------------------------------------------------------------------------------------------------

# In TorchScript, dtypes, layouts and memory formats are integers. PyTorch takes the type of a generator from `typing`, too.
PYTHON_TYPES = {
    "Tensor": Tensor, "int": int, "SymInt": int, "float": float, "bool": bool, "str": str, "Scalar": numbers.Number,
    "complex": complex, "ScalarType": int, "Layout": int, "MemoryFormat": int, "Device": device,
    "Generator": typing.Generator, "Storage": UntypedStorage,
}  # fmt: skip


class ArgsKwargsPair(NamedTuple):
    """The arguments of a call after normalisation. Source: `torch/fx/operator_schemas.py`, `ArgsKwargsPair`."""

    args: tuple[Any, ...]
    kwargs: dict[str, Any]


def is_builtin(function: Any) -> bool:
    """Return whether this is a function that calls an operator, such as `rl.add`. In PyTorch these functions are in C++."""
    return isinstance(function, types.FunctionType) and function.__module__ == functions.__name__


def python_type(text: str) -> Any:
    """The Python type for a type in a schema. Source: `torch/fx/operator_schemas.py`, `_torchscript_type_to_python_type`."""
    if text.endswith("?"):
        return typing.Optional[python_type(text[:-1])]  # noqa: UP045  (as in PyTorch)
    if text.endswith("]"):
        return typing.List[python_type(text[: text.rindex("[")])]  # type: ignore[misc]  # noqa: UP006
    return PYTHON_TYPES.get(text, Any)


def signature_of(schema: FunctionSchema) -> inspect.Signature:
    """A schema as a signature, in which `self` is `input`, as in Python. A parameter `from` is positional only, and so are those
    before it. Source: `torch/fx/operator_schemas.py`, `_torchscript_schema_to_signature`."""
    before_from = [argument.name for argument in schema.arguments].index("from") if "from" in str(schema) else -1

    def parameter(i: int, argument: Argument) -> Parameter:
        kind = Parameter.KEYWORD_ONLY if argument.kwarg_only else Parameter.POSITIONAL_OR_KEYWORD
        kind = Parameter.POSITIONAL_ONLY if i <= before_from else kind
        default = argument.default if argument.has_default else Parameter.empty
        name = "input" if argument.name == "self" else argument.name
        return Parameter(name, kind, default=default, annotation=python_type(argument.type))

    returns = tuple(python_type(value.type) for value in schema.returns)
    annotation = returns[0] if len(returns) == 1 else returns or None
    return inspect.Signature(
        [parameter(i, argument) for i, argument in enumerate(schema.arguments)], return_annotation=annotation
    )


def get_signature_for_torch_op(op: Callable, return_schemas: bool = False) -> Any:
    """The signatures of an operator's overloads, or None if `op` is not an operator. With `return_schemas`, also the schemas."""
    packet = getattr(ops.aten, name_of(op), None) if is_builtin(op) else op
    if isinstance(packet, OpOverload):
        schemas = [packet.schema]
    elif isinstance(packet, OpOverloadPacket):
        schemas = [getattr(packet, overload).schema for overload in packet.overloads()]
    else:
        return (None, None) if return_schemas else None
    signatures = [*map(signature_of, schemas)]
    return (signatures, schemas) if return_schemas else signatures


def check_for_mutable_operation(target: Any, args: tuple, kwargs: dict[str, Any]) -> None:
    """Refuse a call of an operator if the one overload that its arguments fit writes to an argument.
    Source: `torch/fx/operator_schemas.py`, `check_for_mutable_operation`."""
    fitting = []
    for schema in get_signature_for_torch_op(target, return_schemas=True)[1] or []:
        with suppress(RuntimeError):
            bind(schema, args, kwargs)
            fitting.append(schema)
    if len(fitting) == 1 and fitting[0].is_mutable:
        why = "FX only supports functional code, so operations that mutate operands in-place (e.g. via `out` arguments)"
        raise RuntimeError(f"Tried to trace mutable operation {fitting[0]}. {why} are not supported")


# Types of arguments --------------------------------------------------------------------------------------------------


def create_type_hint(x: Any) -> Any:
    """A list or a tuple of types as one type, such as `list[int]`. The element is the type among them of which all others are
    subclasses, or Any."""
    if not isinstance(x, (list, tuple)):
        return x
    base = next((kind for kind in x if all(issubclass(other, kind) for other in x)), Any)
    return list[base] if isinstance(x, list) else tuple[base, ...]  # type: ignore[valid-type]


def type_matches(signature_type: Any, argument_type: Any) -> bool:
    """Return whether an argument of this type fits a parameter of a signature."""
    if signature_type is argument_type:
        return True
    if typing.get_origin(signature_type) in (typing.Union, types.UnionType):
        return any(type_matches(kind, argument_type) for kind in typing.get_args(signature_type))
    if typing.get_origin(signature_type) is list:
        (element,) = typing.get_args(signature_type)
        if argument_type is int and element is int or not isinstance(element, type):
            return argument_type is element is int
        given = [kind for kind in typing.get_args(argument_type) if kind is not Ellipsis]
        return typing.get_origin(argument_type) in (list, tuple) and all(issubclass(kind, element) for kind in given)
    if signature_type is int and argument_type is dtype:
        return True
    if signature_type is numbers.Number and argument_type in (int, float):
        return True
    return (
        isinstance(argument_type, type)
        and isinstance(signature_type, type)
        and issubclass(argument_type, signature_type)
    )


# Arguments of calls --------------------------------------------------------------------------------------------------


def fits(signature: inspect.Signature, args: tuple, kwargs: dict[str, Any], types_too: bool = False) -> bool:
    """Return whether a call fits a signature, for `types_too` with types in place of the arguments."""
    try:
        bound = signature.bind(*args, **kwargs).arguments
    except TypeError:
        return False
    return not types_too or all(
        type_matches(signature.parameters[name].annotation, kind) for name, kind in bound.items()
    )


def normalize_function(
    target: Callable,
    args: tuple,
    kwargs: dict[str, Any] | None = None,
    arg_types: tuple | None = None,
    kwarg_types: dict[str, Any] | None = None,
    normalize_to_only_use_kwargs: bool = False,
) -> ArgsKwargsPair | None:
    """The arguments of a call with all defaults, those that are not in `args` by name. None if no signature fits.

    The types of the arguments are for operators that have several overloads for the call. RuntimeError if there are several, and
    no types.
    """
    kwargs = kwargs or {}
    signatures = get_signature_for_torch_op(target)
    if signatures is None:
        signature = inspect.signature(inspect.unwrap(target))
        return normalized(signature, args, kwargs, normalize_to_only_use_kwargs)
    fitting = [signature for signature in signatures if fits(signature, args, kwargs)]
    if len(fitting) > 1 and arg_types is None and kwarg_types is None:
        raise RuntimeError(
            f"Tried to normalize arguments to {qualified_name(target)} but the schema match was ambiguous! Please provide "
            "argument types to the normalize_arguments() call. Available schemas:\n" + "\n".join(map(str, fitting))
        )
    if len(fitting) > 1:
        fitting = [signature for signature in fitting if fits(signature, arg_types or (), kwarg_types or {}, True)]
    return normalized(fitting[0], args, kwargs, normalize_to_only_use_kwargs) if fitting else None


def normalize_module(
    root: Module, target: str, args: tuple, kwargs: dict | None = None, normalize_to_only_use_kwargs: bool = False
) -> ArgsKwargsPair | None:
    """The arguments of a call of the module `target` in `root`, as `normalize_function`. None if it is not a module of `nn`."""
    try:
        module = root.get_submodule(target)
    except AttributeError as error:
        problem = f"Tried to normalize node with target {target} but root did not have that target!"
        raise RuntimeError(problem) from error
    if getattr(nn, type(module).__name__, None) is not type(module):
        return None
    signature = inspect.signature(inspect.unwrap(module.forward))
    return normalized(signature, args, kwargs or {}, normalize_to_only_use_kwargs)


def normalized(
    signature: inspect.Signature, args: tuple, kwargs: dict[str, Any], only_kwargs: bool
) -> ArgsKwargsPair | None:
    """The arguments of a call with all defaults, by position or only by keyword. None if the signature has `*args` or
    `**kwargs`. Source: `torch/fx/operator_schemas.py`, `_args_kwargs_to_normalized_args_kwargs`."""
    allowed = {Parameter.POSITIONAL_OR_KEYWORD, Parameter.KEYWORD_ONLY}
    random = ["input", "from", "to", "generator"]
    if any(p.kind not in allowed for p in signature.parameters.values()) and [*signature.parameters] != random:
        return None
    bound = signature.bind(*args, **kwargs)
    bound.apply_defaults()
    values = [*bound.arguments.items()]
    count = 0 if only_kwargs else len(args)
    return ArgsKwargsPair(tuple(value for _, value in values[:count]), dict(values[count:]))


def normalized_arguments(
    node: Node,
    root: Module,
    arg_types: tuple | None = None,
    kwarg_types: dict[str, Any] | None = None,
    normalize_to_only_use_kwargs: bool = False,
) -> ArgsKwargsPair | None:
    """`Node.normalized_arguments`: those of a function or a module with all defaults."""
    args, kwargs, only_kwargs = node.args, node.kwargs, normalize_to_only_use_kwargs
    if node.op == "call_function":
        return normalize_function(node.target, args, kwargs, arg_types, kwarg_types, only_kwargs)
    return normalize_module(root, node.target, args, kwargs, only_kwargs) if node.op == "call_module" else None


Node.normalized_arguments = normalized_arguments
