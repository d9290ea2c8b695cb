"""Lab 15b, an operator in the YAML files: what torchgen reads in entries, and which files it writes for them."""

from __future__ import annotations

import ast
import contextlib
import io
import os
import re
import sys
import tempfile
from functools import cache
from pathlib import Path
from unittest.mock import patch

from ...engine.check import program
from ..cases import copied, drawn, explained, numbers, only_read, words

READ = ("func", "variants", "python_module", "dispatch", "structured", "structured_delegate")  # keys that a case has
LEFT_OUT = {
    "autogen",
    "ufunc_inner_loop",
    "manual_cpp_binding",
    "manual_kernel_registration",
}  # with rules of their own
FAMILIES = words("""erf leaky_relu hardtanh softplus matmul index_add svd frac clamp_min addmm argmax gather dot cross
special_log_ndtr linalg_eigh fft_fft lerp eq cumsum hardswish sigmoid smm trapz conj_physical""")


def packaged(*parts):
    import torchgen

    return os.path.join(os.path.dirname(torchgen.__file__), "packaged", *parts)


@cache
def all_families():
    """All families of operators in PyTorch's file: lists of entries by name."""
    import yaml

    with open(packaged("ATen", "native", "native_functions.yaml"), encoding="utf-8") as file:
        entries = yaml.load(file, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))
    found = {}
    for entry in entries:
        found.setdefault(re.split(r"[.(]", entry["func"])[0].rstrip("_"), []).append(entry)
    return found


@cache
def families():
    """The families for which the rules of the contract are all, the small ones first."""
    from torchgen.packaged.autograd.gen_python_functions import SKIP_PYTHON_BINDINGS

    plain = {
        name: [{key: entry[key] for key in READ if entry.get(key) is not None} for entry in family]
        for name, family in all_families().items()
        if all(map(is_plain, family)) and not any(skip.match(name) for skip in SKIP_PYTHON_BINDINGS)
    }
    return dict(sorted(plain.items(), key=lambda item: len(str(item[1]))))


def is_plain(entry):
    """Whether an entry is no view, which needs a second family, no factory, and not random, which demands tags."""
    name, _, arguments = entry["func"].partition("(")
    usual = name != "record_stream" and not name.startswith("_") and "seeded" not in str(entry.get("tags"))
    return usual and not LEFT_OUT & entry.keys() and "(a)" not in arguments and "Tensor" in arguments.split(" -> ")[0]


def parsed(entries):
    """What torchgen reads in entries: its functions, and the kernels by key."""
    from torchgen.gen import parse_native_yaml_struct, parse_tags_yaml

    tags = parse_tags_yaml(packaged("ATen", "native", "tags.yaml"))
    return parse_native_yaml_struct([entry | {"__line__": 1} for entry in entries], tags)


def written(entries):
    """The files that torchgen writes for entries: their lines by the names of the contract."""
    import yaml
    from torchgen import gen, model
    from torchgen.packaged.autograd import gen_python_functions

    with tempfile.TemporaryDirectory() as folder, contextlib.ExitStack() as stack:
        source, out = Path(folder, "source"), Path(folder, "out")
        native, tags = source / "native" / "native_functions.yaml", source / "native" / "tags.yaml"
        native.parent.mkdir(parents=True)
        out.mkdir()
        (source / "templates").symlink_to(packaged("ATen", "templates"))
        tags.write_text(Path(packaged("ATen", "native", "tags.yaml")).read_text(encoding="utf-8"), encoding="utf-8")
        native.write_text(yaml.safe_dump(entries), encoding="utf-8")
        (source / "deprecated.yaml").write_text("[]")
        arguments = ["gen", "-s", source, "-d", out, "--aoti-install-dir", out, "--per-operator-headers"]
        stack.enter_context(patch.object(sys, "argv", [*map(str, arguments)]))
        stack.enter_context(patch.object(model, "dispatch_keys", [*model.dispatch_keys]))  # `main` removes some
        stack.enter_context(contextlib.redirect_stdout(io.StringIO()))
        gen.main()
        templates = packaged("autograd", "templates")
        gen_python_functions.gen(str(out), str(native), str(tags), str(source / "deprecated.yaml"), templates)
        files = {}
        for path in filter(Path.is_file, out.rglob("*")):
            name = re.sub(r"(Everything|_\d+)(?=\.cpp)", "", path.relative_to(out).as_posix())
            lines = path.read_text(encoding="utf-8").splitlines()
            files.setdefault(name, set()).update(
                line for line in lines if not line.startswith(("#include", "// @generated"))
            )
    return files


@cache
def written_before():
    """Torchgen makes kernels for the keys that its file has, so two entries are there, with `Meta` and a key of composites."""
    return written(all_families()["copy"])


def shown(torch, entries):
    lines = []
    for entry in entries:
        lines += [f"{'  ' if key != 'func' else '- '}{key}: {value}" for key, value in entry.items()]
    return "\n".join(lines)


MADE = [  # families that PyTorch's file does not have
    [{"func": "both(Tensor self) -> Tensor"}, {"func": "both_(Tensor(a!) self) -> Tensor(a!)", "variants": "method"}],
    [
        {
            "func": "halves.a(Tensor self) -> Tensor",
            "variants": "method",
            "dispatch": {"CPU, CUDA": "halves", "SparseCPU, SparseXPU": "halves_sparse", "MPS": "halves"},
        }
    ],
    [{"func": "few(Tensor self) -> Tensor", "python_module": "linalg", "dispatch": {}}],
    [
        {"func": "mixed.of(Tensor self) -> Tensor", "structured_delegate": "mixed.out"},
        {
            "func": "mixed.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)",
            "structured": True,
            "dispatch": {"CPU, SparseCPU": "mixed_out", "QuantizedCPU, MPS": "mixed_out_other"},
        },
    ],
]  # fmt: skip

RULES = {  # by a pattern in a file's name, the first that fits
    "RegisterSchema": "the schema of each operator is registered in RegisterSchema.cpp",
    r"Register(\w*MPS|XPU|MTIA)": "the keys in IGNORED_KEYS need another build",
    "ImplicitAutograd.cpp": "an entry without a dispatch is composite, if it does not delegate; an empty dispatch is one",
    "NonFunctional.cpp": "torchgen writes kernels of a structured family, for Meta and CompositeExplicitAutogradNonFunctional",
    "RegisterMeta": "torchgen writes kernels for Meta: of structured families, and in place where backends alone have kernels",
    "Register": "each key of a dispatch has a file Register and its name",
    "python_": "variants and python_module say which bindings there are; without variants, the operator is a function",
    "TensorBody": "an operator that is a method is declared in the class Tensor",
    r"_(ops|native)\.h": "each family has three headers with its name: ops/NAME.h, ops/NAME_ops.h, ops/NAME_native.h",
    "_dispatch.h": "the keys in FUNCTIONS_KEYS have a header ops/NAME_KEY_dispatch.h, with the key in lower case",
    "_meta.h": "a structured family has a header for the class with its checks, ops/NAME_meta.h",
}


def file_hint(case, mine, theirs):
    """Which rule the answer breaks."""
    yours, expected = ((side.get("list") if isinstance(side, dict) else side) for side in (mine, theirs))
    if not isinstance(yours, list) or not isinstance(expected, list):
        return None
    wrong = sorted({*map(str, yours)} ^ {*map(str, expected)})
    for pattern, rule in RULES.items():
        if any(re.search(pattern, name) for name in wrong):
            return rule
    return "the list is sorted, and has each name once" if not wrong else None


ASKED = re.compile(r"ops/.*|Register(?!Functionalization).*\.cpp|core/TensorBody.h|python_(?!return).*")


@program(
    "contribute.add.files_of",
    cases=drawn(entries=lambda st: st.deferred(lambda: st.sampled_from([*families().values()]))),
    edges=lambda: [{"entries": entries} for entries in [*MADE, *(families()[name] for name in FAMILIES if name in families())]],
    show=shown,
    hint=file_hint,
    draws=12,
)  # fmt: skip
def files(xp, entries):
    return only_read(xp.contribute.add.files_of, entries)


@files.oracle
def files_by_torchgen(torch, entries):
    after = written([*all_families()["copy"], *entries])
    grown = {name for name, lines in after.items() if lines - written_before().get(name, set())}
    return sorted(filter(ASKED.fullmatch, grown))


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
        "dispatch": dict(sorted(dispatch.items())),
        "autogen": sorted(map(str, function.autogen)),
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

METHODS = "pow square tanh conj mul div sub add neg"
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
    for node in ast.walk(ast.parse(formula.strip(), mode="eval")):
        if (
            isinstance(node, ast.BinOp)
            and isinstance(node.op, ast.Div)
            and is_whole(node.left)
            and is_whole(node.right)
        ):
            raise ValueError(f"in C++ the quotient of two whole numbers is a whole number: {ast.unparse(node)}")
    return eval(formula, {"__builtins__": {}}, values)


def is_whole(node):
    """Whether an expression is made of whole numbers only."""
    names = any(isinstance(part, ast.Name) for part in ast.walk(node))
    return not names and all(isinstance(part.value, int) for part in ast.walk(node) if isinstance(part, ast.Constant))


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
    from collections import Counter

    from torchgen.model import FunctionSchema
    from torchgen.packaged.autograd.load_derivatives import create_differentiability_info

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
