"""The schema of an operator, from the annotations of a Python function.

In PyTorch: `torch/_library/infer_schema.py`. Left out: tags, and types that `register_opaque_type` adds.
"""

from __future__ import annotations

import inspect
import typing
from collections.abc import Callable, Iterable, Iterator, Sequence
from types import GenericAlias
from typing import Any, NoReturn

from rushlight.aten.strided import Tensor
from rushlight.c10.dtypes import dtype
from rushlight.c10.storage import device

Number = int | float | bool


def sequences_of(item: Any) -> Iterator[Any]:
    """The annotations of a list of `item`."""
    yield from (typing.Sequence[item], typing.List[item], Sequence[item], list[item])  # noqa: UP006


def derived_types(base: Any, name: str, lists: bool, optional_items: bool, optional_lists: bool) -> dict[Any, str]:
    """The annotations that contain a type, and their names in a schema.
    Source: `torch/_library/infer_schema.py`, `derived_types`."""
    types = {base: name, typing.Optional[base]: f"{name}?"}  # noqa: UP045  (a union with `|` is equal, its text differs)
    if lists:
        types |= dict.fromkeys(sequences_of(base), f"{name}[]")
    if optional_items:
        types |= dict.fromkeys(sequences_of(typing.Optional[base]), f"{name}?[]")  # noqa: UP045
    if optional_lists:
        types |= {typing.Optional[each]: f"{name}[]?" for each in sequences_of(base)}  # noqa: UP045
    return types


SUPPORTED_PARAM_TYPES = {
    **derived_types(Tensor, "Tensor", True, True, False),
    **derived_types(int, "SymInt", True, False, True),
    **derived_types(float, "float", True, False, True),
    **derived_types(bool, "bool", True, False, True),
    **derived_types(str, "str", False, False, False),
    **derived_types(Number, "Scalar", True, False, False),
    **derived_types(dtype, "ScalarType", False, False, False),
    **derived_types(device, "Device", False, False, False),
}
"""For each annotation of a parameter its type in a schema. Source: `torch/_library/infer_schema.py`,
`SUPPORTED_PARAM_TYPES`."""
SUPPORTED_RETURN_TYPES: dict[Any, str] = {
    Tensor: "Tensor", typing.List[Tensor]: "Tensor[]", list[Tensor]: "Tensor[]", int: "SymInt", float: "float", bool: "bool",  # noqa: UP006
    Number: "Scalar",
}  # fmt: skip


def infer_schema(
    prototype_function: Callable, /, *, mutates_args: str | Iterable[str], op_name: str | None = None
) -> str:
    """The schema of an operator with the parameters, annotations and defaults of a function: `(Tensor x, float y=1.) -> Tensor`.

    Args:
        mutates_args: the names of the parameters, tensors or lists of them, that the function writes to, or "unknown": all.
        op_name: written before the schema.

    Raises:
        ValueError: a parameter or the result has no annotation, or one that no schema can express; a default that no schema can
            express; `*args`, `**kwargs` or a positional-only parameter; `mutates_args` names anything but a tensor parameter.

    Source: `torch/_library/infer_schema.py`, `infer_schema`.
    """
    signature = inspect.signature(prototype_function)
    names = mutates_args if isinstance(mutates_args, str) else tuple(mutates_args)

    def error_fn(what: str) -> NoReturn:
        raise ValueError(f"infer_schema(func): {what} Got func with signature {signature})")

    def evaluated(annotation: Any) -> Any:
        """The type of an annotation that is a string, or has strings in it."""
        if isinstance(annotation, str):
            try:
                return eval(annotation, prototype_function.__globals__)
            except NameError as error:
                problem = f"Unsupported type annotation {annotation}. It is not a type. ({error}). If you are using"
                lazy = "'from __future__ import annotations', note that annotations are evaluated lazily as strings; make sure"
                scope = "all types referenced in annotations are importable at module scope, not only inside a local function."
                error_fn(f"{problem} {lazy} {scope}")
            except Exception as error:
                problem = f"Unsupported type annotation {annotation}. It is not a type."
                error_fn(f"{problem} ({type(error).__name__}: {error})")
        parts = typing.get_args(annotation)
        types = tuple(map(evaluated, parts))
        return GenericAlias(typing.get_origin(annotation), types) if types != parts else annotation  # type: ignore[arg-type]

    def type_of(index: int, name: str, parameter: inspect.Parameter) -> str:
        if parameter.kind not in (parameter.POSITIONAL_OR_KEYWORD, parameter.KEYWORD_ONLY):
            error_fn("We do not support positional-only args, varargs, or varkwargs.")
        if parameter.annotation is parameter.empty:
            error_fn(f"Parameter {name} must have a type annotation.")
        annotation = evaluated(parameter.annotation)
        if annotation not in SUPPORTED_PARAM_TYPES:
            hint = ""
            if typing.get_origin(annotation) is tuple:
                hint = "We do not support Tuple inputs in schema. As a workaround, please try to use List instead. "
                hint += example if (example := _list_for(annotation)) else "\n\n"
            valid = f"The valid types are: {SUPPORTED_PARAM_TYPES.keys()}."
            error_fn(f"Parameter {name} has unsupported type {parameter.annotation}. {hint}{valid}")
        kind = SUPPORTED_PARAM_TYPES[annotation]
        if isinstance(names, str):
            if names != "unknown":
                problem = "mutates_args must either be a sequence of the names of the arguments that are mutated or the string"
                raise ValueError(f"{problem} 'unknown'. ")
            is_mutated = kind.startswith("Tensor")
        else:
            is_mutated = name in names
        if is_mutated and not kind.startswith("Tensor"):
            problem = "is in mutable_args but only Tensors or collections of Tensors can be mutated"
            error_fn(f"Parameter {name} {problem}")
        return f"Tensor(a{index}!){kind.removeprefix('Tensor')}" if is_mutated else kind

    def default_of(name: str, value: Any) -> str:
        if value is None or isinstance(value, (int, float)):
            return f"={value}"
        if isinstance(value, (str, device)):
            return f'="{value}"'
        if isinstance(value, dtype):
            return f"={str(value).rpartition('.')[2]}"
        request = "Please file an issue on GitHub so we can prioritize this."
        error_fn(f"Parameter {name} has an unsupported default value type {type(value)}. {request}")

    written = []
    for index, (name, parameter) in enumerate(signature.parameters.items()):
        kind = type_of(index, name, parameter)
        if parameter.kind is parameter.KEYWORD_ONLY and "*" not in written:
            written.append("*")
        default = "" if parameter.default is parameter.empty else default_of(name, parameter.default)
        written.append(f"{kind} {name}{default}")
    if names != "unknown" and (unseen := set(names) - signature.parameters.keys()):
        rule = (
            "mutates_args should contain the names of all args that the custom op mutates, or just the string 'unknown'"
        )
        error_fn(f"{unseen} in mutates_args were not found in the custom op's signature. {rule} if you don't know.")
    returned = parse_return(evaluated(signature.return_annotation), error_fn)
    return f"{op_name or ''}({', '.join(written)}) -> {returned}"


def _list_for(annotation: Any) -> str:
    """An example of a list that can replace a tuple."""
    types = [kind for kind in typing.get_args(annotation) if kind is not ...]
    as_list: Any = list[typing.Union[tuple(types)]] if types else list  # type: ignore[misc]  # noqa: UP007
    return f"For example, {as_list}.\n\n" if as_list in SUPPORTED_PARAM_TYPES else ""


def parse_return(annotation: Any, error_fn: Callable[[str], NoReturn]) -> str:
    """The returns of a schema for the annotation of a result. Source: `torch/_library/infer_schema.py`, `parse_return`."""
    if annotation is None:
        return "()"
    if annotation is inspect.Parameter.empty:
        error_fn("No return type annotation was provided. Please add one.")
    is_tuple = typing.get_origin(annotation) is tuple
    types = typing.get_args(annotation) if is_tuple else (annotation,)
    if not all(kind in SUPPORTED_RETURN_TYPES for kind in types):
        error_fn(f"Return has unsupported type {annotation}. The valid types are: {SUPPORTED_RETURN_TYPES}.")
    returns = ", ".join(SUPPORTED_RETURN_TYPES[kind] for kind in types)
    if not is_tuple:
        return returns
    return f"(({returns}))" if len(types) == 1 else f"({returns})"
