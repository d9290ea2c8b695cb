"""Function schemas: an operator's name, arguments and returns, in one line.

    add_.Tensor(Tensor(a!) self, Tensor other, *, Scalar alpha=1) -> Tensor(a!)

PyTorch declares every operator like this, in `native_functions.yaml` and in `Library.define`; its parser is
`torch/csrc/jit/frontend/function_schema_parser.cpp`. A type may be followed by `?` (may be None), `[]` or `[2]` (a
list), and an alias annotation. Arguments and returns with the same letter may share memory. `!` marks memory that the
operator writes to. Left out: wildcards and sets in annotations, escapes within quotes, tuples as types, and `...`.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from rushlight.c10 import dtypes
from rushlight.c10.dtypes import INTEGRAL, PYTHON_DTYPES

REQUIRED = object()  # instead of a default: the caller must pass the argument

NAMES = {"Mean": 1}  # values of the named defaults in PyTorch's schemas; other names stay names

_ARGUMENT = re.compile(
    r"(?P<base>[A-Za-z_]\w*)(\s*\((?P<alias>[^()]*)\))?(?P<suffix>(\?|\[\d*\])*)"
    r"((\s+|(?<=[])?]))(?P<name>[A-Za-z_]\w*))?(\s*=\s*(?P<default>.+))?$",
    re.DOTALL,
)
_SCHEMA = re.compile(
    r"\s*(?:(?P<ns>\w+)::)?(?P<name>[A-Za-z_]\w*)(?:\.(?P<overload>\w+))?\s*\((?P<rest>.*)$", re.DOTALL
)


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
        return re.split(r"\W", self.type, maxsplit=1)[0]

    @property
    def is_optional(self) -> bool:
        return self.type.endswith("?")

    @cached_property
    def is_list(self) -> bool:
        return "[" in self.type

    @cached_property
    def length(self) -> int | None:
        """The length in `int[2]`, a list that the caller may pass as one element, which is then repeated. Else None."""
        match = re.search(r"\[(\d+)\]", self.type)
        return int(match[1]) if match else None

    @property
    def is_written(self) -> bool:
        return "!" in self.alias

    @property
    def has_default(self) -> bool:
        return self.default is not REQUIRED

    def __str__(self) -> str:
        type = self.type.replace(self.base, f"{self.base}({self.alias})", 1) if self.alias else self.type
        default = f"={_literal(self.default, self.length)}" if self.has_default else ""
        return f"{type} {self.name}{default}" if self.name else type


@dataclass(frozen=True)
class FunctionSchema:
    """The declaration of an operator: its name, its overload, its arguments and its results.
    Source: `aten/src/ATen/core/function_schema.h`."""

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
        return f"{self.full_name}({arguments}) -> {returns if len(self.returns) == 1 else f'({returns})'}"


# Parsing -------------------------------------------------------------------------------------------------------------


def split_at_commas(text: str) -> list[str]:
    """The parts of `text` between commas, without the white space around them.

    A comma inside parentheses, brackets or quotes (of either kind) does not separate. Inside quotes, parentheses, brackets
    and the other kind of quote have no meaning either. There are no backslashes. A part may be empty: `a,,b` has three. An
    empty text, or only white space, has no parts.

        >>> split_at_commas("Tensor self, int[] dims=[1, 2]")
        ['Tensor self', 'int[] dims=[1, 2]']

    Returns:
        a list or a tuple.

    Source: `torch/csrc/jit/frontend/schema_type_parser.cpp`, `SchemaTypeParser::parseList`.
    """
    if not text.strip():
        return []
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
        if letter == "," and not depth and not quote:
            parts.append(part.strip())
            part = ""
        else:
            part += letter
    return [*parts, part.strip()]


def parse_argument(text: str, kwarg_only: bool = False) -> Argument:
    """One argument, or one return: a type, an optional name, and an optional `=` with a default.

    A type is a word, an optional alias annotation in parentheses, and then any number of `?`, `[]` and `[2]`. White space
    separates the name from the type. White space around `=` is optional. `_ARGUMENT` matches all this, in groups.

        >>> read = parse_argument("Tensor(a!)[] outs")
        >>> read.name, read.type, read.alias, read.has_default
        ('outs', 'Tensor[]', 'a!', False)

    Args:
        text: `Tensor(a!)[]? x`, `int[2] dim=[0, 1]`, or for a return for example `Tensor(a!)`.
        kwarg_only: whether the argument comes after a `*`.

    Returns:
        an `Argument`. If there is no name, its `name` is "". If there is no default, its `default` is `REQUIRED`.
        `parse_default` reads the default.

    Raises:
        RuntimeError: the text does not have this form.

    Source: `torch/csrc/jit/frontend/function_schema_parser.cpp`, `SchemaParser::parseArgument`.
    """
    match = _ARGUMENT.match(text)
    if match is None:
        raise RuntimeError(f"cannot read the argument {text!r} of a schema")
    type = match["base"] + match["suffix"]
    default = REQUIRED if match["default"] is None else parse_default(match["default"], type)
    return Argument(match["name"] or "", type, default, kwarg_only, match["alias"] or "")


def parse_default(text: str, type: str) -> Any:
    """A default: None, a bool, a number, a quoted string, a list of these, a dtype's name for a `ScalarType`, or another name. A
    number becomes a float if the type is `float`. One number for a list of known length becomes that list, like the arguments of
    a call.

    Raises RuntimeError for any other text, and for a `Tensor` whose default is not None.
    """
    try:
        default: Any = ast.literal_eval(text)
    except (ValueError, SyntaxError):
        if not text.isidentifier():
            raise RuntimeError(f"cannot read the default {text!r} of a schema") from None
        if type.startswith("ScalarType"):
            return getattr(dtypes, {"bool": "bool_", "long": "int64"}.get(text, text), text)
        return NAMES.get(text, text)
    argument = Argument("", type)
    if argument.base == "Tensor" and default is not None:
        raise RuntimeError(f"a {type} can only have the default None, not {text}")
    if argument.length is not None and isinstance(default, (bool, int, float)):
        default = [default] * argument.length
    if argument.base == "float" and isinstance(default, list):
        return [float(item) for item in default]
    is_int = isinstance(default, int) and not isinstance(default, bool)
    return float(default) if is_int and argument.base == "float" else default


def _literal(default: Any, length: int | None = None) -> str:
    """A default in PyTorch's notation, where a dtype is a number."""
    if isinstance(default, dtypes.dtype):
        return str(default).rpartition(".")[2]
    if isinstance(default, str):
        return '"' + re.sub(r"([\\'\"])", r"\\\1", default) + '"'
    if isinstance(default, float):
        text = format(default, ".17g")
        return text if set(text) & set(".en") else f"{text}."
    if isinstance(default, list):
        if length is not None and length == len(default) and len(set(default)) == 1 and type(default[0]) is int:
            return repr(default[0])
        return f"[{', '.join(map(_literal, default))}]"
    return repr(default)


def parse_schema(text: str, namespace: str = "aten") -> FunctionSchema:
    """The schema that a line declares.

    The line is `name(arguments) -> returns`, with an optional `namespace::` before and `.overload` after the name. `_SCHEMA`
    matches it up to its first parenthesis. A `*` among the arguments is not an argument: those after it are keyword only.
    There may be several `*`, as in PyTorch. There is one return, with or without parentheses, or any number of returns in
    parentheses. The last `->` of the line comes before the returns.

        >>> read = parse_schema("add.Tensor(Tensor self, *, Scalar alpha=1) -> Tensor")
        >>> read.namespace, read.name, read.overload_name
        ('aten', 'add', 'Tensor')
        >>> [(argument.name, argument.kwarg_only) for argument in read.arguments]
        [('self', False), ('alpha', True)]

    Args:
        text: the line.
        namespace: the namespace if the line names none.

    Returns:
        a `FunctionSchema`. Its arguments and returns are tuples of `Argument` (`split_at_commas` splits the text,
        `parse_argument` makes an `Argument` from each part). The overload name is "" if there is none.

    Raises:
        RuntimeError: the line has no name; no `->` with something after it; arguments or returns whose parenthesis is not
            closed; anything but spaces between the `)` of the arguments and this `->`; several returns without parentheses; an
            argument without a name; a positional argument without a default after one that has a default, whatever the default
            is (PyTorch accepts an argument of a list type there, and you may too); or `default` as its overload name.

    Source: `torch/csrc/jit/frontend/function_schema_parser.cpp`, `SchemaParser::parseDeclaration`.
    """
    head = _SCHEMA.match(text)
    if head is None or head["overload"] == "default":
        raise RuntimeError(f"expected `name(arguments) -> returns`, but got {text!r}")
    inside, _, returned = head["rest"].rpartition("->")
    inside, returned = inside.rstrip(), returned.strip()
    if not inside.endswith(")") or not returned or returned.startswith("(") and not returned.endswith(")"):
        raise RuntimeError(f"expected `) -> returns` at the end of {text!r}")
    arguments, kwarg_only = [], False
    for part in split_at_commas(inside[:-1]):
        if part == "*":
            kwarg_only = True
        else:
            arguments.append(parse_argument(part, kwarg_only))
    optional = [argument.has_default for argument in arguments if not argument.kwarg_only]
    if not all(argument.name for argument in arguments) or optional != sorted(optional):
        raise RuntimeError(f"every argument of {text!r} needs a name, and those with a default come last")
    returns = split_at_commas(returned[1:-1]) if returned.startswith("(") else [returned]
    return FunctionSchema(
        head["ns"] or namespace,
        head["name"],
        head["overload"] or "",
        tuple(arguments),
        tuple(map(parse_argument, returns)),
    )


# Arguments of a call -------------------------------------------------------------------------------------------------


def bind(schema: FunctionSchema, args: Sequence, kwargs: dict[str, Any]) -> list:
    """The stack of a call: one value for each argument of the schema, in its order, with the defaults filled in.

        >>> schema = parse_schema("f(int a, int b=2, *, int c=3) -> int")
        >>> bind(schema, (1,), {"c": 5})
        [1, 2, 5]

    Args:
        schema: its `positional` arguments come before the keyword-only arguments.
        args, kwargs: a tuple and a dict, as Python passes them; do not change them. An argument that is not keyword only may
            be in either. A None that is passed is a value, not a missing argument.

    Returns:
        a list or a tuple.

    Raises:
        RuntimeError: there are more args than positional arguments; an argument without a default is missing; or a keyword
            is not the name of an argument, or is the name of one that is among the args.

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
        raise RuntimeError(explain_keywords(schema, args, kwargs))
    return stack


def explain_keywords(schema: FunctionSchema, args: Sequence, kwargs: dict[str, Any]) -> str:
    """The text of the error for a keyword argument that the schema does not have, or that was given twice.
    Source: `aten/src/ATen/core/function_schema_inl.h`, `findErrorInKwargs`."""
    known = {argument.name for argument in schema.arguments}
    twice = [argument.name for argument in schema.arguments[: len(args)] if argument.name in kwargs]
    unknown = [name for name in kwargs if name not in known]
    problem = f"Unknown keyword argument '{unknown[0]}'" if unknown else f"Argument '{twice[0]}' was given twice"
    return f"{problem} for operator '{schema.full_name}'. Schema: {schema}"


def unbind(schema: FunctionSchema, stack: Sequence) -> tuple[Sequence, dict[str, Any]]:
    """The args and kwargs that a kernel written in Python receives for a stack, without the defaults where possible.

        >>> schema = parse_schema("f(int a, int b=2, *, int c=3) -> int")
        >>> unbind(schema, [1, 2, 5])
        ((1,), {'c': 5})
        >>> unbind(schema, [1, 4, 3])
        ((1, 4), {})

    Args:
        schema: its `positional` arguments come before the keyword-only arguments. `is_default(argument, value)` tells whether a
            value is the default of an argument.
        stack: a list or a tuple with a value for each argument; do not change it.

    Returns:
        the args, a tuple or a list, and the kwargs, a dict in the order of the schema.

    Rules:
        The values of `schema.positional` become args. Values at the end that are their argument's default are dropped. A default
        that is followed by another value stays. The other values become kwargs by name, without those that are their argument's
        default.

    Source: `torch/csrc/autograd/python_variable.cpp`, `parseIValuesToPyArgsKwargs`.
    """
    positional = len(schema.positional)
    args = list(stack[:positional])
    while args and is_default(schema.arguments[len(args) - 1], args[-1]):
        args.pop()
    rest = zip(schema.arguments[positional:], stack[positional:])
    return tuple(args), {argument.name: value for argument, value in rest if not is_default(argument, value)}


def is_default(argument: Argument, value: Any) -> bool:
    """Whether a value is the argument's default: of the same type, and equal."""
    default = argument.default
    return argument.has_default and (value is default or type(value) is type(default) and value == default)


# Values between Python and the dispatcher ----------------------------------------------------------------------------


def cast(argument: Argument, value: Any) -> Any:
    """A value converted to the type of an argument or a return: a sequence to a list, an int to a float.

    Raises RuntimeError for a value that cannot be converted.

    Source: `torch/csrc/jit/python/pybind_utils.cpp`, `toIValue`.
    """
    if value is None and (argument.is_optional or argument.base == "Tensor" and not argument.is_list):
        return None
    if not argument.is_list:
        return _cast_base(argument.base, value)
    if argument.length is not None and not isinstance(value, (list, tuple)):
        value = [value] * argument.length
    if not isinstance(value, (list, tuple)):
        raise RuntimeError(f"Expected a list of {argument.base}, but found {type(value).__name__}")
    optional = argument.type.startswith(f"{argument.base}?")
    return [None if item is None and optional else _cast_base(argument.base, item) for item in value]


def _cast_base(base: str, value: Any) -> Any:
    kind = {"int": int, "SymInt": int, "float": float, "bool": bool}.get(base)
    if kind is None and _is_base(base, value):
        return value
    if kind is not None and hasattr(value, "_key_set") and value.numel() == 1:
        return kind(value.item())
    if kind is not None and isinstance(value, (bool, int, np.integer) if kind is int else NUMBERS):
        return kind(value)
    raise RuntimeError(f"Unable to cast {value!r}, a {type(value).__name__}, to {base}")


def cast_returns(schema: FunctionSchema, result: Any) -> Any:
    """The result of a kernel written in Python, converted to the types of the schema's returns: None for no return, a tuple
    for several.

    Raises RuntimeError for a result that cannot be converted, and TypeError for one value instead of several.

    Source: `torch/csrc/utils/python_dispatch.cpp` and `pybind_utils.h`, `pushPyOutToStack`.
    """
    returns = schema.returns
    if not returns:
        if result is not None:
            raise RuntimeError(f"Expected the kernel of {schema.full_name} to return None, but it returned {result!r}")
        return None
    if len(returns) == 1:
        return cast(returns[0], result)
    if not isinstance(result, (list, tuple)):
        raise TypeError(f"Expected the kernel of {schema.full_name} to return a tuple, not {result!r}")
    if len(result) != len(returns):
        raise RuntimeError(f"The kernel of {schema.full_name} should return {len(returns)} values, not {len(result)}")
    return tuple(map(cast, returns, result))


def variants_and_tags(entry: dict[str, Any]) -> tuple[list[str], list[str]]:
    """The variants and the tags of an operator, from its entry in PyTorch's `native_functions.yaml`.

    The tags are those of the entry, and those that the generator adds, depending on the schema: `out`, `inplace` and
    `pt2_compliant_tag`, which says that the operator works with `torch.compile`.

        >>> func = "relu_(Tensor(a!) self) -> Tensor(a!)"
        >>> variants_and_tags({"func": func, "variants": "function, method", "tags": "pointwise"})
        (['function', 'method'], ['pointwise', 'inplace', 'pt2_compliant_tag'])
        >>> variants_and_tags({"func": "add.out(Tensor self, Tensor other, *, Tensor(a!) out) -> Tensor(a!)"})
        (['function'], ['out', 'pt2_compliant_tag'])

    Args:
        entry: a dict, the entry as `yaml.safe_load` returns it: the schema as its `func`, and perhaps `variants`, a string, and
            `tags`, a string or a list of strings. It may not be changed.

    Returns:
        two lists, tuples or sets of strings, each in any order: the variants and the tags.

    Rules:
        The entry's `variants` say whether the operator is bound as a function, as a method, or as both, separated by a comma and
        a space. Without `variants` it is a function only. The tags are those in the entry's `tags` and these, which the generator
        adds:

        - `out` if an argument that is keyword-only is written to (`Argument.is_written`);
        - `inplace` if the name without overload says that the operator works in place. A name that ends in two underscores
          says so by its beginning, `__i`, as in `__iand__`. Any other name says so by a `_` at its end, as in `add_`. An operator
          that writes to `self` under another name has no such tag;
        - `pt2_compliant_tag` in any case: the operator works with `torch.compile`.

    Source: `torchgen/model.py`, `NativeFunction.from_yaml`; `aten/src/ATen/native/tags.yaml`.
    """
    schema, tags = parse_schema(entry["func"]), entry.get("tags", [])
    is_inplace = schema.name.startswith("__i") if schema.name.endswith("__") else schema.name.endswith("_")
    is_out = any(argument.kwarg_only and argument.is_written for argument in schema.arguments)
    made = ["out"] * is_out + ["inplace"] * is_inplace
    variants = entry.get("variants", "function").split(", ")
    return variants, [*([tags] if isinstance(tags, str) else tags), *made, "pt2_compliant_tag"]


# Matching a call with a schema ---------------------------------------------------------------------------------------

NUMBERS = (bool, int, float, np.generic)
PLAIN_NUMBERS = (int, float, type(None))  # the most frequent classes of what is passed for a number
PYTHON_TYPES: dict[str, type | tuple[type, ...]] = {
    "int": (int, np.integer),
    "bool": (bool, np.bool_),
    "float": NUMBERS,
    "Scalar": NUMBERS,
    "str": str,
}
_BOTH = "add sub mul div floor_divide where subtract multiply divide true_divide bitwise_and bitwise_or bitwise_xor"
_OTHER = "ldexp greater greater_equal less less_equal not_equal eq ne lt le gt ge"
NUMBER_OPERANDS = {  # the `Tensor` arguments that may be a number: PyTorch wraps it, or has an overload for it
    **dict.fromkeys([*_BOTH.split(), "bitwise_left_shift", "bitwise_right_shift"], ("self", "other")),
    **dict.fromkeys(_OTHER.split(), ("other",)),
    **{"remainder": ("self",), "copy": ("src",)},
}


NUMPY_NAMES = {"axis": "dim", "keepdims": "keepdim", "x": "input", "a": "input", "x1": "input", "x2": "other"}
"""Names that numpy has for arguments of Python functions.
Source: `torch/csrc/utils/python_arg_parser.cpp`, `numpy_compatibility_arg_names`."""


def may_be_number(schema: FunctionSchema, argument: Argument) -> bool:
    """Whether a Python number can be passed for a tensor.
    Source: `torch/csrc/utils/python_arg_parser.cpp`, `should_allow_numbers_as_tensors`."""
    return argument.type == "Tensor" and argument.name in NUMBER_OPERANDS.get(schema.name.removesuffix("_"), ())


def choose_signature(schemas: Sequence[FunctionSchema], args: tuple, kwargs: dict[str, Any]) -> tuple[int, list] | None:
    """The signature that a call from Python takes, and the stack of the call.

    A binding tries the schemas in their order, and takes the first that the call fits. A call fits a schema if these steps
    succeed:

    - *Sizes without brackets*, as in `x.view(2, 3)`. This concerns a schema with one positional argument, of the type `int[]`,
      not counting a first one named `self`. If `as_int_list` returns another object for the first value that the caller passes
      by position for it, a tuple of this value and all after it is passed instead. The next schema gets the caller's own args.
    - `bind` makes the stack.
    - `converted` converts each value of the stack to its argument.
    - After that each value is of the type of its argument (`is_of_type`), or it is a number (`NUMBERS`) and
      `may_be_number` allows a number for the argument.

        >>> schemas = [parse_schema(text) for text in ("f(int n, *, str how) -> int", "f(int[] size, *, int k=1) -> int")]
        >>> choose_signature(schemas, (2, 3), {})
        (1, [(2, 3), 1])

    Args:
        schemas: `FunctionSchema`s, one or more.
        args: the values by position. For a method, the first is the tensor whose method is called.
        kwargs: the values by name. Neither args nor kwargs may be changed.

    Returns:
        the position of the chosen schema in `schemas`, and the stack, a list with a value for each of its arguments. None if
        the call fits no schema.

    Source: `torch/csrc/utils/python_arg_parser.cpp`, `PythonArgParser::raw_parse` and `FunctionSignature::parse`.
    """
    for position, schema in enumerate(schemas):
        passed, is_method = args, [argument.name for argument in schema.positional[:1]] == ["self"]
        takes_sizes = [argument.type for argument in schema.positional[is_method:]] == ["int[]"]
        rest = args[is_method:]
        if takes_sizes and rest and as_int_list(rest[0]) is not rest[0]:
            passed = (*args[:is_method], rest)
        try:
            stack = bind(schema, passed, kwargs)
        except RuntimeError:
            continue
        stack = [*map(converted, schema.arguments, stack)]
        pairs = zip(schema.arguments, stack)
        if all(is_of_type(a, value) or isinstance(value, NUMBERS) and may_be_number(schema, a) for a, value in pairs):
            return position, stack
    return None


def converted(argument: Argument, value: Any) -> Any:
    """A value after conversion to its argument: for a `Scalar` the number of a tensor without dimensions, for a `ScalarType` the
    dtype of a Python type, for an `int[2]` a tuple of one int (`as_int_list`). Others are returned as they are."""
    if argument.base == "Scalar" and hasattr(value, "_key_set") and value.dim() == 0 and not value.requires_grad:
        return value.item()
    if argument.base == "ScalarType" and isinstance(value, type) and value in PYTHON_DTYPES:
        return PYTHON_DTYPES[value]
    return as_int_list(value) if argument.base == "int" and argument.length is not None else value


def as_int_list(value: Any) -> Any:
    """`int[1] dim` may be one int: Python's, numpy's or a tensor without dimensions."""
    is_number = isinstance(value, PYTHON_TYPES["int"]) and not isinstance(value, bool)
    is_tensor = hasattr(value, "_key_set") and _is_base("int", value) and not value.dtype.is_floating_point
    return (int(value),) if is_number or is_tensor else value


def is_of_type(argument: Argument, value: Any) -> bool:
    """Whether a value can be passed for an argument."""
    if value is None:
        return argument.is_optional or argument.default is None
    if argument.is_list:
        return isinstance(value, (list, tuple)) and all(_is_base(argument.base, item) for item in value)
    return _is_base(argument.base, value)


def _is_base(base: str, value: Any) -> bool:
    is_tensor = hasattr(value, "_key_set")
    if base == "Tensor":
        return is_tensor
    if base == "ScalarType":
        return hasattr(value, "itemsize") and hasattr(value, "category")
    if is_tensor and base in ("int", "float", "Scalar"):  # its number
        return value.dim() == 0 and (value.dtype.category == INTEGRAL if base == "int" else not value.requires_grad)
    return isinstance(value, PYTHON_TYPES.get(base, object)) and not (base == "int" and isinstance(value, bool))
