"""Lab 15b, an operator in the YAML files: what torchgen reads in entries, and what it declares for them."""

from __future__ import annotations

import os
import re
from functools import cache

from ...engine.check import program
from ..cases import copied, drawn, explained, field, first_of, numbers, only_read, words

READ = ("func", "dispatch", "structured", "structured_delegate")  # keys of an entry that a case has
FAMILIES = words("""leaky_relu erf hardtanh softplus matmul __and__ index_add log_softmax svd linalg_eigh view topk
frac clamp mm lerp glu tril cumsum special_log_ndtr nonzero eq addmm argmax gather qr dot cross""")


def packaged(*parts):
    import torchgen

    return os.path.join(os.path.dirname(torchgen.__file__), "packaged", *parts)


@cache
def families():
    """The families of operators in PyTorch's file that torchgen can read alone: lists of entries by name, the small ones first."""
    import yaml

    with open(packaged("ATen", "native", "native_functions.yaml"), encoding="utf-8") as file:
        entries = yaml.load(file, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))
    found = {}
    for entry in entries:
        name = re.split(r"[.(]", entry["func"])[0]
        found.setdefault(name if name.startswith("__") else name.rstrip("_"), []).append(entry)
    alone = {name: family for name, family in found.items() if all(map(is_plain, family))}
    short = {
        name: [{key: entry[key] for key in READ if entry.get(key) is not None} for entry in family]
        for name, family in alone.items()
    }
    return dict(sorted(short.items(), key=lambda item: len(str(item[1]))))


def is_plain(entry):
    """Whether the keys in `READ` are enough: torchgen makes no other operators of it, and demands no tag."""
    demands = "seeded" in str(entry.get("tags")) or entry["func"].startswith("_foreach")
    return not demands and not {"autogen", "ufunc_inner_loop"} & entry.keys()


def parsed(entries):
    """What torchgen reads in entries: its functions, and the kernels by key."""
    from torchgen.gen import parse_native_yaml_struct, parse_tags_yaml

    tags = parse_tags_yaml(packaged("ATen", "native", "tags.yaml"))
    return parse_native_yaml_struct([entry | {"__line__": 1} for entry in entries], tags)


def declared(entries):
    """The names that torchgen declares for these entries, by file."""
    from torchgen.dest import compute_native_function_declaration
    from torchgen.gen import compute_meta_function_declaration, get_grouped_native_functions
    from torchgen.model import NativeFunctionsGroup

    read = parsed(entries)
    kernels, classes = set(), set()
    for group in get_grouped_native_functions(read.native_functions):
        for index in read.backend_indices.values():
            kernels |= {name_in(text) for text in compute_native_function_declaration(group, index)}
        if isinstance(group, NativeFunctionsGroup) and (text := compute_meta_function_declaration(group)):
            classes.add(name_in(text))
    return {"kernels": sorted(kernels), "classes": sorted(classes)}


def name_in(declaration):
    """The name of the class or function that a text of C++ declares."""
    return next(filter(None, re.search(r"struct TORCH_\w+ (\w+)|TORCH_\w+ .*?(\w+)\(", declaration).groups()))


def shown(torch, entries):
    lines = []
    for entry in entries:
        lines += [f"{'  ' if key != 'func' else '- '}{key}: {value}" for key, value in entry.items()]
    return "\n".join(lines)


MADE = [  # families that PyTorch's file does not have
    [{"func": "both(Tensor self) -> Tensor"}, {"func": "both_(Tensor(a!) self) -> Tensor(a!)"}],
    [
        {
            "func": "halves.a(Tensor self) -> Tensor",
            "dispatch": {"CPU, CUDA": "halves", "SparseCPU": "halves_sparse", "MPS": "halves"},
        }
    ],
    [{"func": "few(Tensor self) -> Tensor", "dispatch": {}}],
    [
        {"func": "mixed.of(Tensor self) -> Tensor", "structured_delegate": "mixed.out"},
        {
            "func": "mixed.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)",
            "structured": True,
            "dispatch": {"CPU, SparseCPU": "mixed_out", "QuantizedCPU, MPS": "mixed_out_other"},
        },
    ],
]


def kernel_hint(case, mine, theirs):
    """Which rule the first list breaks."""
    yours, expected = (field(side, "kernels") for side in (mine, theirs))
    if not isinstance(yours, list) or not isinstance(expected, list) or yours == expected:
        return None
    wrong = {*map(str, yours)} ^ {*expected}
    dispatched = {kernel for entry in case["entries"] for kernel in entry.get("dispatch", {}).values()}
    if not wrong:
        return "each list is sorted, and has each name once"
    if any(name.startswith("structured_") or f"structured_{name}" in [*yours, *expected] for name in wrong):
        return (
            "the kernel of a structured entry is a class for a key in STRUCTURED_KEYS, and a function for another key"
        )
    if wrong & dispatched:
        return "a kernel of a dispatch has its own name, also in an entry that delegates"
    return "an entry is composite without a dispatch, if it is not structured and does not delegate: its name, and _out for out="


@program(
    "contribute.add.kernels_of",
    cases=drawn(entries=lambda st: st.deferred(lambda: st.sampled_from([*families().values()]))),
    edges=lambda: [{"entries": entries} for entries in [*MADE, *(families()[name] for name in FAMILIES if name in families())]],
    show=shown,
    hint=first_of(
        kernel_hint,
        explained(classes="NativeMetaFunctions.h: one class for a family, with the name and overload of its functional operator"),
    ),
)  # fmt: skip
def kernels(xp, entries):
    files = only_read(xp.contribute.add.kernels_of, entries)
    named = {"kernels": files["NativeFunctions.h"], "classes": files["NativeMetaFunctions.h"]}
    return named | {"files": len(files)}


@kernels.oracle
def kernels_by_torchgen(torch, entries):
    return declared(entries) | {"files": 2}


# A family ------------------------------------------------------------------------------------------------------------

SCHEMAS = {
    "softcap": "softcap(Tensor self, float cap=30.0) -> Tensor",
    "softcap_": "softcap_(Tensor(a!) self, float cap=30.0) -> Tensor(a!)",
    "softcap.out": "softcap.out(Tensor self, float cap=30.0, *, Tensor(a!) out) -> Tensor(a!)",
}


def read_text(text):
    """The entries in a text."""
    import yaml

    if not isinstance(text, str) or len(text) > 5000:
        raise TypeError("the entries are a text")
    entries = yaml.safe_load(text)
    if not isinstance(entries, list) or not all(isinstance(entry, dict) for entry in entries):
        raise ValueError("the text is no list of entries: each begins with - and has lines `key: value`")
    return entries


def described(function, indices):
    """What torchgen knows of a function."""
    name = function.func.name
    dispatch = {str(key): index.index[name].kernel for key, index in indices.items() if name in index.index}
    return {
        "schema": str(function.func),
        "variants": sorted(variant.name for variant in function.variants),
        "structured": [function.structured, str(function.structured_delegate), str(function.structured_inherits)],
        "dispatch": dispatch,
        "device check": function.device_check.name,
        "tags": sorted(function.tags),
    }


@program(
    "contribute.add.softcap_entries",
    cases=lambda st: st.just({}),
    edges=[{}],
    draws=1,
    hint=explained(
        functions="the family has the three operators softcap, softcap_ and softcap.out",
        softcap="the functional operator: read its line of the contract, and the entry of erf",
        softcap_="the operator in place: its schema says that it writes to self and returns it, and it is a method only",
        out="the operator with out: it is structured, it inherits, and it has the dispatch",
    ),
)
def entries(xp):
    read = parsed(read_text(xp.contribute.add.softcap_entries()))
    found = {str(function.func.name): described(function, read.backend_indices) for function in read.native_functions}
    shown = {"functions": sorted(found)}
    return shown | {name.removeprefix("softcap."): found.get(name) for name in SCHEMAS}


@entries.oracle
def entries_by_torchgen(torch):
    """PyTorch's own entries of `erf`, renamed, and without the kernels of sparse tensors."""
    import yaml

    with open(packaged("ATen", "native", "native_functions.yaml"), encoding="utf-8") as file:
        family = [entry for entry in yaml.safe_load(file) if re.match(r"erf(_|\.out)?\(", entry["func"])]
    for entry in family:
        entry["func"] = SCHEMAS[entry["func"].partition("(")[0].replace("erf", "softcap")]
        entry["variants"] = "method" if entry["func"].startswith("softcap_") else entry.get("variants", "function")
        entry["tags"] = "pointwise"
        del entry["dispatch"]
        if "structured_delegate" in entry:
            entry["structured_delegate"] = "softcap.out"
        else:
            entry["dispatch"] = {"CPU, CUDA": "softcap_out"}
    read = parsed(family)
    found = {str(function.func.name): described(function, read.backend_indices) for function in read.native_functions}
    return {"functions": sorted(SCHEMAS)} | {name.removeprefix("softcap."): found[name] for name in SCHEMAS}


# Its derivative ------------------------------------------------------------------------------------------------------

METHODS = "pow square tanh conj mul div sub rsub add neg"
NAMES = {"grad", "self", "result", "cap", "self_t", "self_p"}


def evaluated(formula, values):
    """The value of a formula, which Python reads as C++ does."""
    names = re.findall(r"(?<![\w.])[A-Za-z_]\w*", re.sub(r"\d+(\.\d*)?(e-?\d+)?", "0", formula))
    methods = re.findall(r"\.\s*([A-Za-z_]\w*)", formula)
    if (
        {*names} - NAMES
        or {*methods} - {*METHODS.split()}
        or not re.fullmatch(r"[\w\s.+\-*/(),]*", formula)
        or "//" in formula
    ):
        raise ValueError(f"the formula has more than the names, signs and methods of the contract: {formula}")
    if "**" in formula:
        raise ValueError("C++ has no **")
    return eval(formula, {"__builtins__": {}}, values)


@program(
    "contribute.add.softcap_derivative",
    cases=drawn(shape=[[3], [2, 3]], cap=[30.0, 1.0, 0.5, 2.0, -2.0]),
    edges=[{"shape": [2, 3], "cap": cap} for cap in (30.0, 1.0, 0.5, -2.0)],
    hint=explained(
        saved="the node saves what the formula names: result and cap are enough",
        forward="the forward derivative is that of an operator that treats each element alone: auto_element_wise",
        gradient="the derivative of cap * tanh(x / cap) is 1 - tanh(x / cap)²",
    ),
    draws=5,
)
def derivative(xp, shape, cap):
    import torch

    (entry,) = read_text(xp.contribute.add.softcap_derivative())
    about, forward = differentiated(entry)
    x, grad = numbers(torch, shape, 1), numbers(torch, shape, 5)
    values = {"grad": grad, "self": x, "result": cap * torch.tanh(x / cap), "cap": cap, "self_t": grad, "self_p": x}
    about["gradient"] = copied(evaluated(str(entry["self"]), values))
    return about | {"forward": [copied(evaluated(formula, values)) for formula in forward]}


def differentiated(entry):
    """What torchgen's autograd reads in an entry for `softcap`, and the formulas of its forward derivative."""
    import sys
    from collections import Counter

    folder = packaged()
    sys.path.insert(0, folder)
    try:
        from autograd.load_derivatives import create_differentiability_info
    finally:
        sys.path.remove(folder)
    from torchgen.model import FunctionSchema

    text = [{"func": schema} for schema in SCHEMAS.values()]
    for item in text:
        delegate = (
            {"structured": True, "dispatch": {"CPU": "softcap_out"}}
            if "out" in item["func"]
            else {"structured_delegate": "softcap.out"}
        )
        item |= delegate | {"variants": "method" if item["func"].startswith("softcap_") else "function"}
    functions = parsed(text).native_functions
    by_signature = {}
    for function in functions:
        by_signature.setdefault(function.func.signature(), []).append(function)
    by_schema = {str(function.func): function for function in functions}
    formulas = {str(key): str(value) for key, value in entry.items() if key != "name"}
    given = {"name": entry["name"], "dispatch": {"Default": formulas}}
    _, about = create_differentiability_info(given, by_signature, by_schema, Counter(), set())
    (about,) = about.values()
    seen = {
        "name": str(FunctionSchema.parse(entry["name"])),
        "inputs": [name for derivative in about.derivatives for name in derivative.var_names],
        "saved": sorted({saved.nctype.name for saved in [*about.all_saved_inputs, *about.all_saved_outputs]}, key=str),
    }
    return seen, [derivative.formula for derivative in about.forward_derivatives]


@derivative.oracle
def derivative_by_torch(torch, shape, cap):
    x, grad = numbers(torch, shape, 1).requires_grad_(), numbers(torch, shape, 5)
    (gradient,) = torch.autograd.grad(cap * torch.tanh(x / cap), x, grad)
    about = {"name": SCHEMAS["softcap"], "inputs": ["self"], "saved": ["cap", "result"]}
    return about | {"gradient": gradient, "forward": [gradient]}  # each element alone: the derivative is diagonal
