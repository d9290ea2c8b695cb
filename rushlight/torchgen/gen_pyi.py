"""Write the types of the operators from their schemas, for type checkers and editors: at build time, never at import.

Three stubs in `rushlight/aten/generated/`: `functions.pyi` types the functions such as `rl.add`, `tensor_base.pyi` the methods that
`Tensor` gets when the framework is imported, and `return_types.pyi` the results that have names. Only type checkers read them.
In PyTorch: `tools/pyi/gen_pyi.py`, which writes the stubs of `torch._C._VariableFunctions`, `torch._C.TensorBase` and
`torch.return_types`; the types are those of `torchgen/api/python.py`. What no schema says is in `templates/`, as in PyTorch in
`torch/_C/__init__.pyi.in` and `torch/_C/_VariableFunctions.pyi.in`.
"""

import ast
import textwrap
from pathlib import Path

from rushlight.c10.dtypes import ALL
from rushlight.c10.schema import Argument, may_be_number
from rushlight.torchgen import gen
from rushlight.torchgen.gen import PACKAGE, Native, template

GENERATED = gen.FUNCTIONS.parent
FUNCTIONS, METHODS, RETURN_TYPES = (GENERATED / f"{name}.pyi" for name in ("functions", "tensor_base", "return_types"))
HEADER, FUNCTIONS_BY_HAND, METHODS_BY_HAND = map(template, ("header.pyi", "functions.pyi", "tensor_base.pyi"))
MODULES = ("autograd/variable", "aten/native/creation", "aten/functional", "aten/indexing", "aten/dlpack")
CONVERSION = """
    def {}(
        self, *, non_blocking: _bool = ..., copy: _bool = ..., memory_format: _memory_format | None = ...
    ) -> Tensor: ...
"""


def attributes() -> list[str]:
    """The functions that modules pass to `add_attributes` by their names, as attributes of the stub."""
    lines = []
    for module in MODULES:
        tree = ast.parse((PACKAGE / f"{module}.py").read_text(encoding="utf-8"))
        calls = (node.value for node in tree.body if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call))
        given = (keyword for call in calls if ast.unparse(call.func) == "add_attributes" for keyword in call.keywords)
        names = {keyword.arg: keyword.value.id for keyword in given if isinstance(keyword.value, ast.Name)}
        lines += [
            f"{name} = {Path(module).name}.{of}\n"
            for name, of in names.items()
            if f"def {name}(" not in METHODS_BY_HAND
        ]
    return lines


# Types ---------------------------------------------------------------------------------------------------------------

TYPES = {
    "Tensor": "Tensor", "Scalar": "Number", "int": "_int", "float": "_float", "bool": "_bool", "str": "_str",
    "ScalarType": "_dtype", "Layout": "_layout", "Device": "_device | _str", "Generator": "Generator",
    "MemoryFormat": "_memory_format",
}  # fmt: skip


def argument_type(native: Native, argument: Argument) -> str:
    """The Python type of an argument. Source: `torchgen/api/python.py`, `argument_type_str_pyi`."""
    type = TYPES[argument.base]
    if argument.is_list:
        item = f"{type} | None" if argument.type.startswith(f"{argument.base}?") else type
        type = f"Sequence[{item}]" if argument.length is None else f"{type} | Sequence[{item}]"
    elif may_be_number(native.schema, argument):
        type = "Tensor | Number"
    is_optional = argument.is_optional or argument.default is None
    return f"{type} | None" if is_optional else type


def result_type(native: Native) -> str:
    """The annotation of an operator's result: `Tensor`, a tuple, or a type of `return_types`."""
    if gen.return_fields(native):
        return f"return_types.{native.schema.name}"
    types = [f"tuple[{TYPES[part.base]}, ...]" if part.is_list else TYPES[part.base] for part in native.schema.returns]
    return types[0] if len(types) == 1 else f"tuple[{', '.join(types)}]"


# Signatures ----------------------------------------------------------------------------------------------------------


def signatures(name: str, overloads: list[Native], outs: list[Native], method: bool) -> str:
    """The function or method of all overloads of a name."""
    texts = [text for native in overloads for text in parameters(native, outs, method)]
    lines = [f"def {name}({text}) -> {result}: ...\n" for text, result in dict.fromkeys(texts)]
    return "".join(f"@overload\n{line}" for line in lines) if len(lines) > 1 else lines[0]


def parameters(native: Native, outs: list[Native], method: bool) -> list[tuple[str, str]]:
    """The parameters and the result of an overload: twice if a list of ints may also be passed without brackets."""
    schema, varargs = native.schema, gen.varargs_of(native.schema, method)
    positional, keywords = [], []
    for argument in sorted(schema.arguments, key=lambda argument: method and argument.name != "self"):
        name = gen.safe(gen.parameter_name(argument, method))
        default = f" = {gen.default_of(argument)}" if argument.has_default else ""
        text = name if name == "self" else f"{name}: {argument_type(native, argument)}{default}"
        (keywords if argument.kwarg_only else positional).append(text)
    if not method and (out := next((out for out in outs if is_out_form(out, native)), None)):
        type = "Tensor" if len(out.written) == 1 else f"tuple[{', '.join(['Tensor'] * len(out.written))}]"
        keywords.append(f"out: {type} | None = None")
    if any(argument.base == "Device" for argument in schema.arguments):
        keywords.append("requires_grad: _bool = False")
    first, rest = ["self"] if method else [], ["*", *keywords] if keywords else []
    texts = [", ".join(positional + rest)]
    if varargs is not None:
        texts.append(", ".join([*first, f"*{varargs.name}: _int", *keywords]))
    return [(text, result_type(native)) for text in texts]


def is_out_form(out: Native, native: Native) -> bool:
    """Whether `out` is the out= form of `native`. That of a factory has no arguments for the dtype or the device."""
    given = [(argument.name, argument.type) for argument in out.schema.arguments if not argument.is_written]
    known = [(argument.name, argument.type) for argument in native.schema.arguments]
    factory = ("dtype", "layout", "device", "pin_memory")
    return given == known or given == [argument for argument in known if argument[0] not in factory]


def dunder(name: str, natives: dict[str, Native]) -> str:
    """`__add__` and the like. An editor shows the operand's types. `==` differs from the method of `object` that it overrides."""
    native = natives[gen.DUNDERS[name]]
    position = 0 if name in gen.OTHER_FIRST else 1
    takes_numbers = name in gen.FOR_NUMBERS or may_be_number(native.schema, native.schema.arguments[position])
    other = "Tensor | Number" if takes_numbers else "Tensor"
    ignored = "  # type: ignore[override]" if name in ("eq", "ne") else ""
    return f"def __{name}__(self, other: {other}) -> Tensor: ...{ignored}\n"


# The files -----------------------------------------------------------------------------------------------------------


def generate() -> dict[Path, str]:
    """The texts of the three files."""
    natives = gen.load()
    names = gen.overloads_by_name(natives)
    files = functions_file(natives, names), methods_file(natives, names), return_types_file(natives)
    return dict(zip((FUNCTIONS, METHODS, RETURN_TYPES), files))


def functions_file(natives: dict[str, Native], names: dict[str, list[Native]]) -> str:
    """The text of `functions.pyi`: the signatures of all functions, and of the operators."""
    functions = []
    for name, group in names.items():
        overloads = [native for native in group if native.out is None and "function" in native.variants]
        outs = [native for native in group if native.out is not None]
        if overloads:
            functions.append(signatures(name, overloads, outs, method=False))
    operators = [f"{native.variable}: OpOverload\n" for native in natives.values()]
    text = HEADER.format("The types of `functions.py`") + FUNCTIONS_BY_HAND + "".join(functions + operators)
    return gen.formatted(text, FUNCTIONS)


def methods_file(natives: dict[str, Native], names: dict[str, list[Native]]) -> str:
    """The text of the stub of `Tensor`: its attributes, and a signature for each overload of each method."""
    methods = attributes()
    for name, group in names.items():
        overloads = [native for native in group if "method" in native.variants]
        if overloads and f" {name}(" not in METHODS_BY_HAND:
            methods.append(signatures(name, overloads, [], method=True))
    methods += [dunder(name, natives) for name in gen.DUNDERS]
    methods += [f"def __{name}__(self) -> Tensor: ...\n" for name in (*gen.PREFIX, "invert")]
    methods += [f"def __{name}__(self, other: Tensor | Number) -> Tensor: ...\n" for name in ("rtruediv", "rdiv")]
    conversions = [CONVERSION.format(dtype.type_name.lower()) for dtype in ALL]
    text = HEADER.format("The attributes and methods that `Tensor` has in addition to the body of its class")
    text += METHODS_BY_HAND + "".join(conversions) + textwrap.indent("".join(methods), "    ")
    return gen.formatted(text, METHODS)


def return_types_file(natives: dict[str, Native]) -> str:
    """The text of `return_types.pyi`: a class for each operator whose results have names."""
    classes = {native.schema.name: gen.return_fields(native) for native in natives.values() if native.out is None}
    texts = ['"""The types of results that have names. Generated from `native_functions.yaml`. Do not edit."""\n']
    texts += ["\nfrom rushlight.aten.strided import Tensor\n"]
    for name, fields in classes.items():
        if fields:
            tensors = ", ".join(["Tensor"] * len(fields))
            texts.append(f"\nclass {name}(tuple[{tensors}]):\n")
            texts += [f"    @property\n    def {field}(self) -> Tensor: ...\n" for field in fields]
    return gen.formatted("".join(texts), RETURN_TYPES)
