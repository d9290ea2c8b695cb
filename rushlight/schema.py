"""What an operator is called, what it takes and what it returns, written in one line.

    add_.Tensor(Tensor(a!) self, Tensor other, *, Scalar alpha=1) -> Tensor(a!)

PyTorch declares every operator like this, in `native_functions.yaml` and in `Library.define`; its parser is
`torch/csrc/jit/frontend/function_schema_parser.cpp`. A type may be followed by `?` (may be None), `[]` or `[2]` (a
list), and an alias annotation: arguments and returns with the same letter may share memory, `!` says that it is written
to. Left out: default values that are names (`Mean`), symbolic integers as a type of their own, wildcards and `...`.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

REQUIRED = object()  # in the place of a default: the argument has to be given

_ARGUMENT = re.compile(
    r"(?P<base>\w+)(?P<early>\??)(\((?P<alias>[^()]*)\))?(?P<suffix>(\?|\[\d*\])*)"
    r"(\s+(?P<name>\w+))?(\s*=\s*(?P<default>.+))?$",
    re.DOTALL,
)
_SCHEMA = re.compile(r"\s*(?:(?P<ns>\w+)::)?(?P<name>\w+)(?:\.(?P<overload>\w+))?\s*\((?P<rest>.*)$", re.DOTALL)


@dataclass(frozen=True)
class Argument:
    """One argument, or one return.

    `type` is its type without alias annotation, as written (`Tensor`, `int[2]`, `Scalar?`); `alias` the annotation
    (`a!`, `a`, or "" for none).
    """

    name: str
    type: str
    default: Any = REQUIRED
    kwarg_only: bool = False
    alias: str = ""

    @cached_property
    def base(self) -> str:
        return re.match(r"\w+", self.type)[0]

    @property
    def is_optional(self) -> bool:
        return self.type.endswith("?")

    @cached_property
    def is_list(self) -> bool:
        return "[" in self.type

    @property
    def is_written(self) -> bool:
        return "!" in self.alias

    @property
    def has_default(self) -> bool:
        return self.default is not REQUIRED

    def __str__(self) -> str:
        type = self.type.replace(self.base, f"{self.base}({self.alias})", 1) if self.alias else self.type
        default = f"={_literal(self.default)}" if self.has_default else ""
        return f"{type} {self.name}{default}" if self.name else type


@dataclass(frozen=True)
class FunctionSchema:
    """Source: `aten/src/ATen/core/function_schema.h`."""

    namespace: str
    name: str
    overload_name: str
    arguments: tuple[Argument, ...]
    returns: tuple[Argument, ...]

    @cached_property
    def full_name(self) -> str:
        """`aten::add.Tensor`."""
        return f"{self.namespace}::{self.name}" + (f".{self.overload_name}" if self.overload_name else "")

    @cached_property
    def positional(self) -> tuple[Argument, ...]:
        return tuple(argument for argument in self.arguments if not argument.kwarg_only)

    @cached_property
    def is_mutable(self) -> bool:
        return any(argument.is_written for argument in self.arguments)

    def __str__(self) -> str:
        positional = [str(argument) for argument in self.positional]
        keywords = [str(argument) for argument in self.arguments if argument.kwarg_only]
        arguments = ", ".join(positional + (["*", *keywords] if keywords else []))
        returns = ", ".join(map(str, self.returns))
        plain = len(self.returns) == 1 and not self.returns[0].name
        return f"{self.full_name}({arguments}) -> {returns if plain else f'({returns})'}"


# ------------------------------------------------------------------------------------------------------------
# Parsing


def split_at_commas(text: str) -> list[str]:
    """The parts of `text` between commas, stripped; commas inside brackets, parentheses or quotes do not count."""
    parts, part, depth, quote = [], "", 0, ""
    for letter in text:
        if quote:
            quote = "" if letter == quote else quote
        elif letter in "\"'":
            quote = letter
        elif letter in "([":
            depth += 1
        elif letter in ")]":
            depth -= 1
        if letter == "," and depth == 0 and not quote:
            parts.append(part.strip())
            part = ""
        else:
            part += letter
    return [*parts, part.strip()] if part.strip() or parts else []


def parse_argument(text: str, kwarg_only: bool = False) -> Argument:
    """One argument or return: a type with its annotations, perhaps a name, perhaps `=` and a default."""
    match = _ARGUMENT.match(text)
    if match is None:
        raise RuntimeError(f"cannot read the argument {text!r} of a schema")
    default = REQUIRED if match["default"] is None else parse_default(match["default"])
    type = match["base"] + match["early"] + match["suffix"]
    return Argument(match["name"] or "", type, default, kwarg_only, match["alias"] or "")


def parse_default(text: str) -> Any:
    """A default: None, a bool, a number, a quoted string, a list of these; any other word stands for itself."""
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError):
        return text


def _literal(default: Any) -> str:
    return f'"{default}"' if isinstance(default, str) else repr(default)


def parse_schema(text: str, namespace: str = "aten") -> FunctionSchema:
    """The schema that a line declares.

    The line is `name(arguments) -> returns`, with an optional `namespace::` before and `.overload` after the name. A
    `*` among the arguments is none: those after it are passed by keyword only. The returns are one type, or any number
    of them in parentheses; each may have a name.

    Args:
        text: the line.
        namespace: of a line that names none.

    Returns:
        a `FunctionSchema`; its arguments and returns are tuples of `Argument` (`parse_argument` makes one from its
        text, `split_at_commas` finds where each one ends).

    Raises:
        RuntimeError: the line has no name, an unclosed parenthesis, no `->`, or two arguments of one name.

    Source: `torch/csrc/jit/frontend/function_schema_parser.cpp`, `SchemaParser::parseDeclaration`.
    """
    head = _SCHEMA.match(text)
    if head is None:
        raise RuntimeError(f"expected `name(arguments) -> returns`, but got {text!r}")
    inside, _, returned = head["rest"].rpartition("->")
    inside, returned = inside.rstrip(), returned.strip()
    if not inside.endswith(")") or not returned:
        raise RuntimeError(f"expected `) -> returns` at the end of {text!r}")
    arguments, kwarg_only = [], False
    for part in split_at_commas(inside[:-1]):
        if part == "*":
            kwarg_only = True
        else:
            arguments.append(parse_argument(part, kwarg_only))
    names = [argument.name for argument in arguments]
    if "" in names or len(set(names)) < len(names):
        raise RuntimeError(f"every argument of {text!r} needs a name of its own")
    returns = split_at_commas(returned[1:-1]) if returned.startswith("(") else [returned]
    return FunctionSchema(
        head["ns"] or namespace,
        head["name"],
        head["overload"] or "",
        tuple(arguments),
        tuple(map(parse_argument, returns)),
    )


# ------------------------------------------------------------------------------------------------------------
# Arguments of a call


def bind(schema: FunctionSchema, args: Sequence, kwargs: dict[str, Any]) -> list:
    """The stack: one value for each argument of the schema, in its order, defaults filled in.

    Raises RuntimeError for what does not fit, as a call of `torch.ops.namespace.name` does.

    Source: `torch/csrc/jit/python/pybind_utils.h`, `createStackForSchema`.
    """
    positional, arguments = schema.positional, schema.arguments
    if len(args) > len(positional):
        raise RuntimeError(
            f"{schema.full_name}() expected at most {len(positional)} argument(s) but received {len(args)} "
            f"argument(s). Declaration: {schema}"
        )
    stack, used = list(args), 0
    for argument in arguments[len(args) :]:
        if argument.name in kwargs:
            stack.append(kwargs[argument.name])
            used += 1
        elif argument.has_default:
            stack.append(argument.default)
        else:
            raise RuntimeError(
                f"{schema.full_name}() is missing value for argument '{argument.name}'. Declaration: {schema}"
            )
    if used < len(kwargs):
        known = {argument.name for argument in arguments}
        name = next((name for name in kwargs if name not in known), None)
        problem = f"Unknown keyword argument '{name}'" if name else f"'{next(iter(kwargs))}' was given twice"
        raise RuntimeError(f"{problem} for operator '{schema.full_name}'. Schema: {schema}")
    return stack


def unbind(schema: FunctionSchema, stack: Sequence) -> tuple[tuple, dict[str, Any]]:
    """The stack as a Python kernel receives it: args and kwargs, less those at the end that have their default.

    Source: `torch/csrc/autograd/python_variable.cpp`, `parseIValuesToPyArgsKwargs`.
    """
    positional = len(schema.positional)
    args = list(stack[:positional])
    while args and _is_default(schema.arguments[len(args) - 1], args[-1]):
        args.pop()
    rest = zip(schema.arguments[positional:], stack[positional:])
    return tuple(args), {argument.name: value for argument, value in rest if not _is_default(argument, value)}


def _is_default(argument: Argument, value: Any) -> bool:
    default = argument.default
    return argument.has_default and (value is default or type(value) is type(default) and value == default)


# ------------------------------------------------------------------------------------------------------------
# Does a call fit a schema?

NUMBERS = (bool, int, float, np.generic)


def fit(schema: FunctionSchema, args: Sequence, kwargs: dict[str, Any]) -> list | None:
    """The stack of a call, if it is one of this schema, or None. An `int[]` that is the only positional argument, or the
    only one after `self`, may be given without brackets."""
    positional = schema.positional
    for listed in (0, 1):
        if len(positional) == listed + 1 and positional[listed].type == "int[]" and len(args) > listed + 1:
            args = (*args[:listed], args[listed:])
    try:
        stack = bind(schema, args, kwargs)
    except RuntimeError:
        return None
    stack = [_as_list(argument, value) for argument, value in zip(schema.arguments, stack)]
    return stack if all(map(is_of_type, schema.arguments, stack)) else None


def _as_list(argument: Argument, value: Any) -> Any:
    """`int[1] dim` may be given as one int."""
    sized = "[" in argument.type and argument.type.partition("[")[2][:1].isdigit()
    return (value,) if sized and isinstance(value, int) and not isinstance(value, bool) else value


def is_of_type(argument: Argument, value: Any) -> bool:
    """Whether a value can be passed for an argument."""
    if value is None:
        return argument.is_optional or argument.default is None
    if argument.is_list:
        return isinstance(value, (list, tuple)) and all(_is_base(argument.base, item) for item in value)
    return _is_base(argument.base, value)


def _is_base(base: str, value: Any) -> bool:
    match base:
        case "Tensor":
            return hasattr(value, "_key_set")
        case "int":
            return isinstance(value, int) and not isinstance(value, bool) or _is_index(value)
        case "bool":
            return isinstance(value, (bool, np.bool_))
        case "float" | "Scalar":
            return isinstance(value, NUMBERS) or hasattr(value, "_key_set") and value.dim() == 0
        case "str":
            return isinstance(value, str)
        case "ScalarType":
            return hasattr(value, "itemsize") and hasattr(value, "category")
        case _:
            return True


def _is_index(value: Any) -> bool:
    """A 0-dim tensor of integers, or a numpy integer."""
    return (
        isinstance(value, np.integer) or hasattr(value, "_key_set") and value.dim() == 0 and value.dtype.name != "bool"
    )
