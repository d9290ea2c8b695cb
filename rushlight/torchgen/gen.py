"""Write `functions.py` and `register_kernels.py` from `native_functions.yaml`: at build time, never at import.

The first file has each operator's schema as an `OpOverload`, the function `rl.name` and the method `Tensor.name`. It imports
no kernel. The second file registers the kernels by dispatch key. In PyTorch: `torchgen/` (`RegisterSchema.cpp`, `RegisterCPU.cpp`)
and `tools/autograd/gen_python_functions.py` (the functions that Python calls). The format is PyTorch's:

- `func`: the schema.
- `variants`: `function` (the default), `method`, or both. An operator with `none` is only in `rl.ops`.
- `dispatch`: kernels by dispatch key, `module::function` of `aten` or `aten/native`. Without `dispatch`, PyTorch takes the
  kernel of the same name for `CompositeImplicitAutograd`. Here the entry must name the kernel.
- A kernel may be a formula instead, in Python: the operator's arguments have their names, and `functions` has the
  operators. `autogen: name_, name.out` makes in-place and out= forms, which copy the result of the formula. With
  `casts: True` the dtype of `out` may differ from that of the result, as in `Structured`. `autogen: name_copy` of a view makes
  the operator that copies the view.
- `structured: True` with a `dispatch` to a `Structured`: the out= form. `structured_delegate: name.out` makes a
  functional or in-place form of it.
- `python_module: nn`: the function is in `rl.nn.functional` and not in `rl`. `python_module: functional` or `linalg`: a function
  written in Python calls it, in `aten/functional.py` or `linalg.py`.
- `aliases`: an entry of its own, with other names of operators. PyTorch has the same table for its JIT
  (`torch/csrc/jit/passes/normalize_ops.cpp`).
"""

import re
import subprocess
import sys
import textwrap
from collections.abc import Iterable
from dataclasses import dataclass, replace
from keyword import iskeyword
from pathlib import Path
from types import ModuleType

from rushlight.c10.schema import NUMPY_NAMES, REQUIRED, Argument, FunctionSchema, may_be_number, parse_schema

PACKAGE = Path(__file__).parents[1]
ROOMS = PACKAGE / "aten", PACKAGE / "aten" / "native"  # of kernels
SOURCE = PACKAGE / "aten" / "native" / "native_functions.yaml"
FUNCTIONS = PACKAGE / "aten" / "generated" / "functions.py"
KERNELS = PACKAGE / "aten" / "generated" / "register_kernels.py"
SKIPPED = (
    "absolute_",
    "addbmm_",
    "addr_",
    "alias",
    "copy",
    "index",
    "lift_fresh",
    "lift_fresh_copy",
    "renorm_",
    "slice",
    "zero",
)  # functions that are not in `rl`
CACHEMASK = "_affine_cachemask"  # operators without a function in Python


DUNDERS = {  # `x + y` calls `Tensor.__add__`, `2 + x` `Tensor.__radd__`, `x += y` `Tensor.__iadd__`
    "add": "add.Tensor", "radd": "add.Tensor", "iadd": "add_.Tensor",
    "sub": "sub.Tensor", "rsub": "rsub.Tensor", "isub": "sub_.Tensor",
    "mul": "mul.Tensor", "rmul": "mul.Tensor", "imul": "mul_.Tensor",
    "truediv": "div.Tensor", "itruediv": "div_.Tensor",
    "floordiv": "floor_divide", "rfloordiv": "floor_divide", "ifloordiv": "floor_divide_.Tensor",
    "mod": "remainder.Tensor", "rmod": "remainder.Tensor", "imod": "remainder_.Tensor",
    "pow": "pow.Tensor_Tensor", "rpow": "pow.Tensor_Tensor", "ipow": "pow_.Tensor",
    "and": "bitwise_and.Tensor", "rand": "bitwise_and.Tensor", "iand": "bitwise_and_.Tensor",
    "or": "bitwise_or.Tensor", "ror": "bitwise_or.Tensor", "ior": "bitwise_or_.Tensor",
    "xor": "bitwise_xor.Tensor", "rxor": "bitwise_xor.Tensor", "ixor": "bitwise_xor_.Tensor",
    "lshift": "bitwise_left_shift.Tensor", "rlshift": "bitwise_left_shift.Tensor", "ilshift": "bitwise_left_shift_.Tensor",
    "rshift": "bitwise_right_shift.Tensor", "rrshift": "bitwise_right_shift.Tensor",
    "irshift": "bitwise_right_shift_.Tensor",
    "eq": "eq.Tensor", "ne": "ne.Tensor", "lt": "lt.Tensor", "le": "le.Tensor", "gt": "gt.Tensor", "ge": "ge.Tensor",
    "matmul": "matmul", "rmatmul": "matmul",
}  # fmt: skip
FOR_NUMBERS = {  # if a number needs another operator
    "pow": "pow.Tensor_Scalar", "rpow": "pow.Scalar", "ipow": "pow_.Scalar",
    "rsub": "rsub.Scalar", "mod": "remainder.Scalar", "imod": "remainder_.Scalar",
}  # fmt: skip
OTHER_FIRST = ("rfloordiv", "rmod", "rpow", "rlshift", "rrshift", "rmatmul")
PREFIX = {"neg": "neg", "pos": "positive", "abs": "abs"}


@dataclass
class Native:
    """One entry of the file."""

    schema: FunctionSchema
    text: str
    dispatch: dict[str, str]
    variants: str = "function"
    structured: bool = False
    structured_delegate: str | None = None
    casts: bool = False
    python_module: str | None = None

    @property
    def name(self) -> str:
        """`add.Tensor`."""
        return self.schema.full_name.removeprefix("aten::")

    @property
    def variable(self) -> str:
        """`add_Tensor_op`."""
        return f"{self.name.replace('.', '_')}_op"

    @property
    def is_composite(self) -> bool:
        return "CompositeImplicitAutograd" in self.dispatch

    @property
    def is_view(self) -> bool:
        """Whether the result is a view of the first argument. Autograd does not treat the result of `detach` as a view,
        nor a view of another dtype."""
        alias = self.schema.returns[0].alias if self.schema.returns else ""
        return bool(alias) and "!" not in alias and not self.is_composite and self.name not in ("detach", "view.dtype")

    @property
    def out(self) -> Argument | None:
        """The argument `out`, if this is the out= form; with several results, the first one."""
        return self.written[0] if self.written else None

    @property
    def written(self) -> list[Argument]:
        """The out arguments: one for each result."""
        return [argument for argument in self.schema.arguments if argument.kwarg_only and argument.is_written]


def entries_of(path: Path) -> list[dict]:
    """The entries of a YAML file, by libyaml where it is there: PyYAML's own parser takes ten times as long."""
    import yaml

    return yaml.load(path.read_text(encoding="utf-8"), Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))


def load() -> dict[str, Native]:
    """Read all operators that `native_functions.yaml` declares, with the forms and the other names that are generated,
    by name with overload. Two operators of one name, a delegate that is not structured, and an operator without a
    kernel raise a `ValueError`. Source: `torchgen/gen.py`, `parse_native_yaml`."""
    natives = {}
    aliases: dict[str, str] = {}
    declared = []
    for entry in entries_of(SOURCE):
        if "aliases" in entry:
            aliases |= entry["aliases"]
            continue
        text, dispatch, forms = entry.pop("func"), entry.pop("dispatch", {}), entry.pop("autogen", "")
        schema = parse_schema(text)
        kernels = {key.strip(): kernel_of(dispatch[keys], schema) for keys in dispatch for key in keys.split(",")}
        native = Native(schema, text, kernels, **entry)
        declared += [native, *(form_of(native, form) for form in forms.split(", ") if form)]
    for alias, name in aliases.items():
        forms = [native for native in declared if native.schema.name in (name, name + "_")]
        declared += [renamed(native, alias, name) for native in forms]
    for native in declared:
        if native.name in natives:
            raise ValueError(f"{native.name} is declared twice")
        natives[native.name] = native
    for native in natives.values():
        delegate = native.structured_delegate
        if delegate and not natives.get(delegate, native).structured:
            raise ValueError(f"{native.name}: {delegate} is not a structured operator")
        if not native.dispatch and not delegate:
            raise ValueError(f"{native.name} has no kernel")
    return natives


def kernel_of(text: str, schema: FunctionSchema) -> str:
    """The expression for a kernel: `module::function`, or a formula."""
    if re.fullmatch(r"\w+::[\w.]+", text):
        return text.replace("::", ".")
    return f"lambda {', '.join(safe(argument.name) for argument in schema.arguments)}: {text}"


def safe(name: str) -> str:
    """`from_` for an argument `from`, which is a keyword in Python."""
    return name + "_" * iskeyword(name)


def form_of(native: Native, name: str) -> Native:
    """The in-place or out= form of an operator, which copies its result."""
    arguments, _, returns = native.text.partition("(")[2].rpartition(") -> ")
    stack = ", ".join(argument.name for argument in native.schema.arguments)
    result = f"invoke(functions.{native.variable}, {stack})"
    if name.partition(".")[0].endswith("_"):
        text = f"{name}({arguments.replace('Tensor self', 'Tensor(a!) self', 1)}) -> Tensor(a!)"
        kernel = f"lambda {stack}: structured.write_inplace(self, {result})"
    elif name == f"{native.schema.name}_copy.out":
        return form_of(form_of(native, name.removesuffix(".out")), name)
    elif name.partition(".")[0] == f"{native.schema.name}_copy":
        text = re.sub(r"\(a( -> \*)?\)", "", f"{name}({arguments}) -> {returns}")
        copied = replace(native, variants="function")
        kernel = f"lambda {stack}: tensor_shape.copies({result})"
        return derived(copied, text, ["CompositeExplicitAutogradNonFunctional"], kernel)
    else:
        names = [part.name or "out" for part in native.schema.returns]
        outs = [f"Tensor({letter}!) {out}" for letter, out in zip("abcdef", names)]
        parts = zip(native.schema.returns, outs)
        types = ", ".join(out if part.name else out.rpartition(" ")[0] for part, out in parts)
        text = f"{name}({arguments}{', ' if '*, ' in arguments else ', *, '}{', '.join(outs)}) -> "
        text += f"({types})" if len(outs) > 1 else types
        written = f"[{stack}], {', '.join(names)}, casts={native.casts}"
        is_named = len(names) > 1 or native.schema.name in ("logcumsumexp", "nanquantile", "quantile")
        written += f", name={native.schema.name!r}" if is_named else ""
        kernel = f"lambda {stack}, {', '.join(names)}: structured.write_out({result}, {written})"
    return derived(native, text, native.dispatch, kernel)


def renamed(native: Native, alias: str, name: str) -> Native:
    """The operator under another name."""
    text = native.text.replace(name, alias, 1)
    stack = ", ".join(argument.name for argument in native.schema.arguments)
    kernel = f"lambda {stack}: invoke(functions.{native.variable}, {stack})"
    return derived(native, text, ["CompositeImplicitAutograd"], kernel)


def derived(native: Native, text: str, keys: Iterable[str], kernel: str) -> Native:
    """The operator `native` with another schema, and one kernel for all `keys`. It is not structured."""
    plain = {"structured": False, "structured_delegate": None}
    return replace(native, schema=parse_schema(text), text=text, dispatch=dict.fromkeys(keys, kernel), **plain)


# Operators and their kernels -----------------------------------------------------------------------------------------


def kernels(native: Native, natives: dict[str, Native]) -> dict[str, str]:
    """The kernels to register: expressions by dispatch key."""
    if native.structured:
        return dict.fromkeys(("CPU", "Meta"), f"{native.dispatch['CPU']}.out")
    if not native.structured_delegate:
        return native.dispatch
    structured = natives[native.structured_delegate].dispatch["CPU"]
    if native.schema.is_mutable:
        return dict.fromkeys(("CPU", "Meta"), f"{structured}.inplace")
    return {"CPU": f"{structured}.functional", "Meta": f"{structured}.on_meta"} | native.dispatch


def declaration(native: Native) -> str:
    """The line of `functions.py` that declares the operator: `add_Tensor_op = declare("add.Tensor(...)")`."""
    quote = "'" if '"' in native.text else '"'
    return f"{native.variable} = declare({quote}{native.text}{quote})"


def registration(native: Native, natives: dict[str, Native]) -> str:
    """The line of `register_kernels.py` that registers the operator's kernels. An operator with a `device` and no
    tensor among its arguments is registered as a factory."""
    registered = ", ".join(f"{key}={kernel}" for key, kernel in kernels(native, natives).items())
    taken = {argument.base for argument in native.schema.arguments}
    factory = ", factory=True" if "Device" in taken and "Tensor" not in taken else ""
    return f'implement("{native.name}", {registered}{factory})'


# Functions and methods -----------------------------------------------------------------------------------------------


def function(name: str, overloads: list[Native], outs: list[Native], method: bool) -> str:
    """The definition of one function or method, for all overloads of a name."""
    arguments = overloads[0].schema.arguments
    is_factory = any(argument.base == "Device" for argument in arguments)
    has_keyword_name = any(iskeyword(argument.name) for argument in arguments)  # `from` of `uniform_`
    has_several_outs = any(len(native.written) > 1 for native in outs)
    if len(overloads) > 1 or len(outs) > 1 or has_several_outs or has_keyword_name:
        packed = ", ".join(native.variable for native in [*overloads, *([] if method else outs)])
        first = "self, " if method else ""
        lines = [f"def {name}({first}*args, **kwargs):"]
        lines += self_only_call(overloads) if method and not is_factory else []
        lines += ['    requires_grad = kwargs.pop("requires_grad", False)'] if is_factory else []
        several = [] if method else [written for written in (native.written for native in outs) if len(written) > 1]
        for written in several:
            lines.append(f"    kwargs = unpack_out(kwargs, {tuple(argument.name for argument in written)})")
        if is_factory and outs and not method:
            lines += ['    if (out := kwargs.pop("out", None)) is not None:']
            lines += ["        kwargs = check_out_options(out, kwargs)"]
        result = f"resolve(({packed},), ({first}*args), kwargs)".replace("(*args)", "args")
        if any(map(return_fields, overloads)):
            kind = f"return_types.{overloads[0].schema.name}"
            kinds = [f"{kind}_out if {written[0].name!r} in kwargs else " for written in several]
            result = f"return_types.named({''.join(kinds)}{kind}, {result})"
        lines += [f"    {returned(result, is_factory)}"]
        return "\n".join(lines) + "\n"
    (native,) = overloads
    out = outs[0] if outs and not method else None
    varargs = varargs_of(native.schema, method)
    more = ["requires_grad=False"] if is_factory else []
    more += ["**named"] if varargs is not None else []
    required = required_by_name(native.schema, method) if varargs is None else None
    more += ["**numpy_names"] if required is not None else []
    parameters = _parameters(native.schema, method, varargs, out is not None, required is not None)
    lines = [f"def {name}({', '.join([parameters, *more])}):"]
    if required is not None:
        test = " or ".join(["numpy_names", *(f"{parameter} is None" for parameter in required)])
        variables = ", ".join(form.variable for form in (native, out) if form is not None)
        result = with_fields(native, f"call_by_name([{variables}], locals())")
        lines += [f"    if {test}:", f"        return {result}"]
    for argument in native.schema.arguments:
        parameter = parameter_name(argument, method)
        if argument is varargs:
            lines.append(f'    {parameter} = int_list({parameter}, "{parameter}", named)')
        elif argument.base == "ScalarType":
            lines += [f"    if {parameter} is not None:", f"        {parameter} = as_dtype({parameter})"]
        elif argument.type.startswith("int[") and argument.type[4:5].isdigit():
            as_list = f"({parameter},) if {parameter}.__class__ is int else as_int_list({parameter})"
            lines += [f"    if {parameter}.__class__ is not tuple:", f"        {parameter} = {as_list}"]
        if argument.default == []:  # PyTorch's parser has None as this default
            lines.append(f"    {parameter} = () if {parameter} is None else {parameter}")
    lines += number_checks(native.schema, method)
    stack = [parameter_name(argument, method) for argument in native.schema.arguments]
    if out is not None:
        passed = [argument.name for argument in out.schema.arguments]
        given = [name for name, argument in zip(stack, native.schema.arguments) if argument.name in passed]
        lines += ["    if out is not None:"]
        lines += ["        check_out_options(out, {'dtype': dtype, 'device': device})"] if is_factory else []
        result = f"invoke({out.variable}, {', '.join([*given, 'out'])})"
        lines += [f"        {returned(result, is_factory)}"]
    return "\n".join(lines + call_lines(native, stack, is_factory)) + "\n"


def number_checks(schema: FunctionSchema, method: bool) -> list[str]:
    """Lines that take the number of a tensor that is passed for one, and refuse what is none. Only formulas call the operators
    of derivatives."""
    numbers = [a for a in schema.arguments if a.type.rstrip("?") in ("Scalar", "float")]
    names = [parameter_name(argument, method) for argument in numbers]
    if not names or schema.name.endswith("_backward") or schema.name.startswith("_"):
        return []
    test = " or ".join(f"{name}.__class__ not in PLAIN_NUMBERS" for name in names)
    passed = ", ".join(f"{name}={name}" for name in names)
    taken = ", ".join(names) + "," * (len(names) == 1)
    return [f"    if {test}:", f'        {taken} = numbers_of("{schema.name}", {passed})']


def return_fields(native: Native) -> tuple[str, ...]:
    """The names of several results. An operator with such names has a type of its own in `return_types`."""
    names = tuple(part.name for part in native.schema.returns)
    is_public = native.python_module in (None, "linalg") and not native.schema.name.endswith(CACHEMASK)
    return names if len(names) > 1 and all(names) and is_public else ()


def required_by_name(schema: FunctionSchema, method: bool) -> list[str] | None:
    """The required arguments, without tensors and what may be None, of a function that also takes the names that numpy has
    for its arguments (`NUMPY_NAMES`). The function then declares a default for all arguments. None for other functions, and for
    methods whose only such argument is `other`: `x.add(x2=y)` is left out, because the keywords cost time in every call."""
    names = {parameter_name(argument, method): argument for argument in schema.arguments}
    if not names.keys() & ({"dim", "keepdim"} if method else set(NUMPY_NAMES.values())):
        return None
    needed = [name for name, argument in names.items() if not (argument.has_default or argument.is_optional)]
    return [name for name in needed if names[name].base != "Tensor"]


def self_only_call(overloads: list[Native]) -> list[str]:
    """Lines for a method call without arguments, which needs no search: it runs the first overload that has a default for
    every argument but `self`."""
    for native in overloads:
        if native.schema.arguments[0].type == "Tensor" and all(a.has_default for a in native.schema.arguments[1:]):
            defaults = "".join(f", {default_of(argument)}" for argument in native.schema.arguments[1:])
            key_set = "(self._key_set | local.included) & ~local.excluded"
            call = f"{native.variable}.table[{key_set}](self{defaults})"
            return ["    if not (args or kwargs):", f"        return {with_fields(native, call)}"]
    return []


def call_lines(native: Native, stack: list[str], is_factory: bool) -> list[str]:
    """Lines that make the call. If all tensors are arguments of their own, they compute the key set inline."""
    arguments = ", ".join(stack)
    typed = list(zip(native.schema.arguments, stack))
    tensors = [parameter for argument, parameter in typed if argument.type == "Tensor"]
    optional = [parameter for argument, parameter in typed if argument.type == "Tensor?"]
    if not tensors or any(argument.base == "Tensor" and argument.is_list for argument, _ in typed):
        return [f"    {returned(with_fields(native, f'invoke({native.variable}, {arguments})'), is_factory)}"]
    keys = [f"{tensor}._key_set" for tensor in tensors]
    keys += [f"(0 if {tensor} is None else {tensor}._key_set)" for tensor in optional]
    keys = " | ".join([*keys, "local.included"])
    return [
        "    try:",
        f"        key_set = ({keys}) & ~local.excluded",
        "    except AttributeError:",
        f"        return {with_fields(native, f'invoke({native.variable}, {arguments})')}",
        f"    {returned(with_fields(native, f'{native.variable}.table[key_set]({arguments})'), is_factory)}",
    ]


def with_fields(native: Native, result: str) -> str:
    """The result of an operator whose results have names, as their type in `return_types`."""
    return f"return_types.named(return_types.{native.schema.name}, {result})" if return_fields(native) else result


def returned(result: str, is_factory: bool) -> str:
    """The `return` statement of a generated function. A factory makes its result a leaf with `requires_grad`."""
    return f"return leaf({result}, requires_grad)" if is_factory else f"return {result}"


def _parameters(schema: FunctionSchema, method: bool, varargs: Argument | None, out: bool, by_name: bool) -> str:
    positional, keywords = [], []
    for argument in sorted(schema.arguments, key=lambda argument: method and argument.name != "self"):
        name = parameter_name(argument, method)
        default = f"={default_of(argument)}" if argument.has_default else "=None" if by_name and name != "self" else ""
        parameter = f"*{name}" if argument is varargs else name + default
        (keywords if argument.kwarg_only else positional).append(parameter)
    keywords += ["out=None"] if out else []
    star = ["*"] if keywords and varargs is None else []
    return ", ".join(positional + star + keywords)


def parameter_name(argument: Argument, method: bool) -> str:
    """The name of an argument in a signature: a function calls `self` `input`, as PyTorch's functions do."""
    return "input" if argument.name == "self" and not method else argument.name


def default_of(argument: Argument) -> str:
    """The text of an argument's default in Python. A list becomes a tuple."""
    if argument.base == "MemoryFormat" and argument.has_default:
        return str(argument.default)
    if argument.base == "ScalarType" and argument.default not in (None, REQUIRED):
        return str(argument.default).rpartition(".")[2]
    if isinstance(argument.default, list):
        return repr(tuple(argument.default))  # all calls would share a list
    return f'"{argument.default}"' if isinstance(argument.default, str) else repr(argument.default)


def varargs_of(schema: FunctionSchema, method: bool) -> Argument | None:
    """The list of ints that may be passed without brackets: the only positional argument besides a method's `self`."""
    positional = schema.positional[1:] if method else schema.positional
    return positional[0] if len(positional) == 1 and positional[0].type == "int[]" else None


def dunder(name: str, natives: dict[str, Native]) -> str:
    """A method such as `__add__`. It returns NotImplemented for operands that are neither tensors nor numbers."""
    native = natives[DUNDERS[name]]
    for_numbers = natives[FOR_NUMBERS[name]] if name in FOR_NUMBERS else native
    position = 0 if name in OTHER_FIRST else 1  # of `other`
    takes_numbers = name in FOR_NUMBERS or may_be_number(native.schema, native.schema.arguments[position])
    operands = ["other", "self"] if name in OTHER_FIRST else ["self", "other"]
    arguments = ", ".join(operands + [default_of(argument) for argument in native.schema.arguments[2:]])
    lines = [
        f"def __{name}__(self, other):",
        "    if isinstance(other, Tensor):",
        "        key_set = (self._key_set | other._key_set | local.included) & ~local.excluded",
        f"        return {native.variable}.table[key_set]({arguments})",
        "    if isinstance(other, NUMBERS):",
        "        key_set = (self._key_set | local.included) & ~local.excluded",
        f"        return {for_numbers.variable}.table[key_set]({arguments})",
        "    return compare_array(self, other)" if name == "eq" else "    return NotImplemented",
    ]
    if not takes_numbers:
        del lines[4:7]
    return "\n".join(lines) + f"\n\n\nTensor.__{name}__ = __{name}__\n"


# The file ------------------------------------------------------------------------------------------------------------


def generate() -> dict[Path, str]:
    """The texts of the two files."""
    natives = load()
    return {FUNCTIONS: functions_file(natives), KERNELS: kernels_file(natives)}


def overloads_by_name(natives: dict[str, Native]) -> dict[str, list[Native]]:
    """Group operators by name without the overload: `add` has `add.Tensor`, `add.Scalar` and `add.out`."""
    names: dict[str, list[Native]] = {}
    for native in natives.values():
        names.setdefault(native.schema.name, []).append(native)
    return names


def template(name: str) -> str:
    """The text of `templates/name.in`."""
    return Path(__file__).with_name("templates").joinpath(f"{name}.in").read_text(encoding="utf-8")


def kernels_file(natives: dict[str, Native]) -> str:
    """The text of `register_kernels.py`: imports of the modules that have kernels, and one registration for each
    operator."""
    text = "\n".join(registration(native, natives) for native in natives.values())
    modules = {name for name in re.findall(r"\b(\w+)\.", text) if any((path / f"{name}.py").exists() for path in ROOMS)}
    in_native = {module for module in modules if (ROOMS[1] / f"{module}.py").exists()}
    sections = [
        template("register_kernels.py")
        + f"from rushlight.aten import {', '.join(sorted(modules - in_native))}\n"
        + wrapped("from rushlight.aten.native import (", sorted(in_native), ")")
        + "from rushlight.library import implement, invoke\n",
        text,
    ]
    return formatted("\n".join(sections) + "\n", KERNELS)


def functions_file(natives: dict[str, Native]) -> str:
    """The text of `functions.py`: a function for each name of operators, the methods of `Tensor`, and the
    declarations."""
    names = overloads_by_name(natives)
    functions, methods, public, types = [], [], [], []
    for name, group in names.items():
        overloads, outs = [n for n in group if n.out is None], [n for n in group if n.out is not None]
        as_functions = [n for n in overloads if "function" in n.variants]
        as_methods = [n for n in overloads if "method" in n.variants]
        if as_functions:
            functions.append(function(name, as_functions, outs, method=False))
            # As in `gen_python_functions.py`.
            skipped = name.endswith(("_backward", CACHEMASK)) or name in SKIPPED
            if as_functions[0].python_module is None and not skipped:
                public.append(name)
            if fields := next(filter(None, map(return_fields, as_functions)), None):
                kinds = [name, f"{name}_out"] if any(len(native.written) > 1 for native in outs) else [name]
                types += [f'return_types.define("{kind}", {fields})' for kind in kinds]
        if as_methods:
            own = f"_tensor_{name}" if f"tensor_{name}" in names else f"tensor_{name}"
            text = function(own, as_methods, [], method=True)
            methods.append(f"{text}\n\nTensor.{name} = {own}\n")
    dunders = [dunder(name, natives) for name, of in DUNDERS.items() if of in natives]
    prefixes = [f"Tensor.__{name}__ = Tensor.{of}\n" for name, of in PREFIX.items() if of in natives]
    sections = [
        template("functions.py") + wrapped("__all__ = [", [f'"{name}"' for name in sorted(public)], "]"),
        *functions,
        "# ---- Methods\n",
        *methods,
        *dunders,
        *prefixes,
        template("operators.py"),
        "# ---- Types of named results\n",
        "\n".join(types),
        "# ---- Operators\n",
        "\n".join(declaration(native) for native in natives.values()),
    ]
    return formatted("\n\n".join(sections) + "\n", FUNCTIONS)


def wrapped(head: str, items: list[str], tail: str) -> str:
    """A list with as many items on a line as fit. The formatter does not change it."""
    lines = textwrap.wrap(", ".join(items) + ",", 116, break_long_words=False, break_on_hyphens=False)
    return "\n    ".join([head, *lines]) + f"\n{tail}  # fmt: skip\n"


def formatted(text: str, target: Path) -> str:
    """The text as `ruff format` writes it for the file `target`."""
    command = [sys.executable, "-m", "ruff", "format", "--stdin-filename", str(target), "-"]
    return subprocess.run(command, input=text, capture_output=True, text=True, check=True).stdout


def stale(generator: ModuleType) -> dict[Path, str]:
    """The files of a generator (this module or `gen_autograd`) that are out of date, with their new text."""
    texts = generator.generate().items()
    return {path: text for path, text in texts if not path.exists() or path.read_text(encoding="utf-8") != text}


def write(generator: ModuleType) -> list[Path]:
    """Update a generator's files that are out of date. Returns their paths."""
    outdated = stale(generator)
    for path, text in outdated.items():
        path.write_text(text, encoding="utf-8")
    return [*outdated]
