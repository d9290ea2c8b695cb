"""The types of named results: `x.max(0)` is a `return_types.max`, a tuple with the attributes `values` and `indices`.

An operator has such a type if its schema names several results. In PyTorch: `torch/return_types.py`,
`tools/autograd/gen_python_functions.py` (`generate_return_type_definition`), on CPython's `structseq`.
"""

from collections.abc import Iterable
from operator import itemgetter
from typing import Any, Self

__all__ = ["all_return_types"]

all_return_types: list[type] = []


class StructSequence(tuple):
    """A tuple whose items have names, made from one sequence. Source: CPython's `Objects/structseq.c`."""

    __slots__ = ()
    __match_args__: tuple[str, ...] = ()
    n_fields = n_sequence_fields = n_unnamed_fields = 0

    def __new__(cls, iterable: Iterable[Any] = (), /) -> Self:
        self = tuple.__new__(cls, iterable)
        if len(self) != cls.n_fields:
            raise TypeError(f"{_name(cls)}() takes a {cls.n_fields}-sequence ({len(self)}-sequence given)")
        return self

    def __reduce__(self) -> tuple:
        return type(self), (tuple(self),)

    def __repr__(self) -> str:
        items = ",\n".join(f"{name}={value!r}" for name, value in zip(self.__match_args__, self))
        return f"{_name(type(self))}(\n{items})"


def _name(cls: type) -> str:
    return f"{cls.__module__}.{cls.__name__}"


def define(name: str, fields: tuple[str, ...]) -> None:
    """Make the type `return_types.name` with these fields."""
    members = {field: property(itemgetter(i)) for i, field in enumerate(fields)}
    counts = {"n_fields": len(fields), "n_sequence_fields": len(fields)}
    cls = type(name, (StructSequence,), members | counts | {"__slots__": (), "__match_args__": fields})
    cls.__module__ = __name__
    globals()[name] = cls
    all_return_types.append(cls)


def named(cls: type, result: Any) -> Any:
    """The result of an overload that returns several tensors, as this type. The result of another overload is unchanged."""
    return cls(result) if result.__class__ is tuple else result
