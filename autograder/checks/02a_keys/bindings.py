"""Checks of lab 02a: what the binding of an operator is made from, and the signature that a call from Python takes."""

import re

import numpy as np

from ...engine.check import program
from ..cases import as_lists, drawing, rows

# Entries of native_functions.yaml ------------------------------------------------------------------------------------

_TAGS = [
    "core",
    "pointwise",
    "reduction",
    "nondeterministic_seeded",
    "inplace_view",
    "dynamic_output_shape",
    "view_copy",
]
_FUNCS = [
    "relu(Tensor self) -> Tensor", "relu_(Tensor(a!) self) -> Tensor(a!)",
    "add.out(Tensor self, Tensor other, *, Scalar alpha=1, Tensor(a!) out) -> Tensor(a!)",
    "max.dim_max(Tensor self, int dim, *, Tensor(a!) max, Tensor(b!) max_values) -> (Tensor(a!) values, Tensor(b!) indices)",
    "__and__.Tensor(Tensor self, Tensor other) -> Tensor", "__iand__.Tensor(Tensor(a!) self, Tensor other) -> Tensor(a!)",
    "__ior__.Scalar(Tensor(a!) self, Scalar other) -> Tensor(a!)", "__or__.Scalar(Tensor self, Scalar other) -> Tensor",
    "fill_.Scalar(Tensor(a!) self, Scalar value) -> Tensor(a!)",
    "_foreach_add_.List(Tensor(a!)[] self, Tensor[] other, *, Scalar alpha=1) -> ()",
    "_foreach_add.Scalar_out(Tensor[] self, Scalar scalar, *, Tensor(a!)[] out) -> ()",
    "index_add(Tensor self, int dim, Tensor index, Tensor source, *, Scalar alpha=1) -> Tensor",
    "view(Tensor(a) self, int[] size) -> Tensor(a)", "t_(Tensor(a!) self) -> Tensor(a!)",
    "dot_product(Tensor a, Tensor b) -> Tensor", "record_stream(Tensor(a!) self, Stream s) -> ()",
    "rrelu_with_noise_(Tensor(a!) self, Tensor(b!) noise) -> Tensor(a!)", "__twice_(Tensor(a!) self) -> Tensor(a!)",
    "__int_mm(Tensor self, Tensor mat2) -> Tensor",
    "_foreach_add_.out(Tensor(a!)[] self, *, Tensor(b!)[] out) -> ()", "__iadd__.out(Tensor(a!)[] self, *, Tensor(b!)[] out) -> ()",
]  # fmt: skip


@drawing
def _entries(draw, st):
    entry = {"func": draw(st.sampled_from(_FUNCS))}
    writes_to_out = re.search(r"\*, .*!.*\) ->", entry["func"])
    allowed = ["function"] if writes_to_out else ["function", "method", "function, method", "method, function"]
    if variants := draw(st.sampled_from([None, *allowed])):
        entry["variants"] = variants
    tags = draw(st.lists(st.sampled_from(_TAGS), unique=True, max_size=3))
    if tags or draw(st.booleans()):
        entry["tags"] = tags[0] if len(tags) == 1 and draw(st.booleans()) else tags
    return {"entry": entry}


def _from_yaml(entry):
    return {name: as_lists(value) for name, value in entry.items()}


@program(
    "c10.schema.variants_and_tags",
    cases=_entries,
    edges=[
        *rows("entry", *(({"func": func},) for func in _FUNCS)),
        *rows(
            "entry",
            ({"func": _FUNCS[0], "variants": "function, method", "tags": "pointwise"},),
            ({"func": _FUNCS[1], "variants": "method, function", "tags": ["core", "pointwise"]},),
            ({"func": _FUNCS[2], "variants": "function", "tags": []},), ({"func": _FUNCS[4], "tags": ["core"]},),
            ({"func": _FUNCS[3], "variants": "function", "tags": "reduction"},),
        ),
    ],
    hint=lambda case, mine, theirs: (
        "the variants are separated by a comma and a space"
        if mine[:1] != theirs[:1]
        else "the schema's own tags stay; `out` is about an argument after the `*`, `inplace` about the name without overload"
    ) if isinstance(mine, list) and isinstance(theirs, list) else None,
)  # fmt: skip
def variants_and_tags(xp, entry):
    entry = _from_yaml(entry)
    before = repr(entry)
    found = [sorted(each) for each in xp.schema.variants_and_tags(entry)]
    assert repr(entry) == before, f"the entry is now {entry}"
    return found


@variants_and_tags.oracle
def torchgens_variants_and_tags(torch, entry):
    """What PyTorch's generator reads."""
    from torchgen.model import Location, NativeFunction

    entry = _from_yaml(entry) | {"device_check": "NoCheck"}  # which `_foreach_` operators need
    read, _ = NativeFunction.from_yaml(entry, Location("", 0), {*torch.Tag.__members__})
    return [sorted(variant.name for variant in read.variants), sorted(read.tags)]


# Signatures ----------------------------------------------------------------------------------------------------------

_SIGNATURES = [  # of methods and functions, in the order that the parser tries; "deprecated" ones, from deprecated.yaml, are last
    ["add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor",
     "add.deprecated(Tensor self, Scalar alpha, Tensor other) -> Tensor"],
    ["addcmul(Tensor self, Tensor tensor1, Tensor tensor2, *, Scalar value=1) -> Tensor",
     "addcmul.deprecated(Tensor self, Scalar value, Tensor tensor1, Tensor tensor2) -> Tensor"],
    ["all(Tensor self) -> Tensor", "all.dims(Tensor self, int[]? dim=None, bool keepdim=False) -> Tensor",
     "all.dim(Tensor self, int dim, bool keepdim=False) -> Tensor"],
    ["clamp.Tensor(Tensor self, Tensor? min=None, Tensor? max=None) -> Tensor",
     "clamp(Tensor self, Scalar? min=None, Scalar? max=None) -> Tensor"],
    ["div.Tensor(Tensor self, Tensor other) -> Tensor",
     "div.Tensor_mode(Tensor self, Tensor other, *, str? rounding_mode) -> Tensor",
     "div.Scalar_mode(Tensor self, Scalar other, *, str? rounding_mode) -> Tensor"],
    ["fmod.Tensor(Tensor self, Tensor other) -> Tensor", "fmod.Scalar(Tensor self, Scalar other) -> Tensor"],
    ["lerp.Tensor(Tensor self, Tensor end, Tensor weight) -> Tensor",
     "lerp.Scalar(Tensor self, Tensor end, Scalar weight) -> Tensor"],
    ["max(Tensor self) -> Tensor", "max.other(Tensor self, Tensor other) -> Tensor",
     "max.dim(Tensor self, int dim, bool keepdim=False) -> (Tensor values, Tensor indices)"],
    ["sort.stable(Tensor self, *, bool? stable, int dim=-1, bool descending=False) -> (Tensor values, Tensor indices)",
     "sort(Tensor self, int dim=-1, bool descending=False) -> (Tensor values, Tensor indices)"],
    ["squeeze(Tensor(a) self) -> Tensor(a)", "squeeze.dim(Tensor(a) self, int dim) -> Tensor(a)",
     "squeeze.dims(Tensor(a) self, int[] dim) -> Tensor(a)"],
    ["sum(Tensor self, *, ScalarType? dtype=None) -> Tensor",
     "sum.dim_IntList(Tensor self, int[1]? dim, bool keepdim=False, *, ScalarType? dtype=None) -> Tensor"],
    ["view.dtype(Tensor(a) self, ScalarType dtype) -> Tensor(a)", "view(Tensor(a) self, int[] size) -> Tensor(a)"],
    ["ones(int[] size, *, ScalarType? dtype=None) -> Tensor"],
    ["constant_pad_nd(Tensor self, int[] pad, Scalar value=0) -> Tensor"],
    ["permute(Tensor(a) self, int[] dims) -> Tensor(a)"], ["repeat(Tensor self, int[] repeats) -> Tensor"],
]  # fmt: skip
_SELECT = "select.int(Tensor(a) self, int dim, int index) -> Tensor(a)"
_OF_NAME = {each[0].partition("(")[0].partition(".")[0]: each for each in _SIGNATURES}
_FLOAT = {"dtype": "float32"}
_VALUES = ["matrix", "matrix", "1.5", "2", _FLOAT, 0, 1, -1, 2.5, True, False, None, [0], [1, 0], [], "floor"]
_NAMES = ["dim", "keepdim", "other", "alpha", "dtype", "min", "max", "rounding_mode", "value", "end", "weight", "stable",
          "descending", "size", "dims", "tensor1", "tensor2"]  # fmt: skip


@drawing
def _calls(draw, st):
    """A call that mostly fits one of the signatures, and sometimes any values."""
    schemas = draw(st.sampled_from(_SIGNATURES))
    schema = draw(st.sampled_from(schemas))
    args, kwargs, by_name = [], {}, False
    for argument in re.split(", ", schema.partition("(")[2].rpartition(") -> ")[0]):
        if argument in ("*", "Tensor self", "Tensor(a) self"):
            by_name = argument == "*"
            args += ["matrix"] * (not by_name)
            continue
        type, name = argument.partition("=")[0].split(" ")
        if "=" in argument and draw(st.booleans()):
            by_name = True
        elif by_name:
            kwargs[name] = draw(_value(st, type))
        else:
            args.append(draw(_value(st, type)))
    if draw(st.integers(0, 5)) == 0:
        kwargs[draw(st.sampled_from(_NAMES))] = draw(st.sampled_from(_VALUES))
    if args and args[-1] and isinstance(args[-1], list) and draw(st.booleans()):
        args[-1:] = args[-1]  # without brackets
    return {"schemas": schemas, "args": args, "keywords": [*map(list, kwargs.items())]}


def _value(st, type):
    """Mostly a value of the type."""
    usual = {
        "Tensor": ["matrix", "1.5", 2.5], "Scalar": [1, 2.5, True, "1.5", "2"], "int": [0, -1, "2"], "bool": [True, False],
        "int[]": [[0], [1, 0], 0, [], "2"], "int[1]": [[0], 0, [0, 1], "2"], "str": ["floor"], "ScalarType": [_FLOAT],
    }[type.rstrip("?")]  # fmt: skip
    return st.sampled_from([*usual * 3, *[None] * type.endswith("?"), *_VALUES])


def _edges(names, *calls):
    for name in names.split():
        for args, kwargs in calls:
            yield {"schemas": _OF_NAME[name], "args": ["matrix", *args], "keywords": [*map(list, kwargs.items())]}


_EDGES = [
    *_edges("add", ([2], {}), (["1.5"], {}), ([2, "matrix"], {}), (["1.5", "matrix"], {}), (["matrix"], {"alpha": 2}),
            ([], {"other": "matrix"}), ([], {}), (["matrix", 2], {}), (["floor"], {}), (["matrix"], {"alpha": "matrix"}),
            (["matrix"], {"alpha": "2"}), (["matrix"], {"beta": 2}), ([2], {"other": "matrix"}), ([None], {}), ([[0]], {}),
            ([], {"alpha": 2, "other": "matrix"}), ([True, 2], {}), ([True], {}), ([{"numpy": 2.5}], {})),
    *_edges("addcmul", ([2, "matrix", "matrix"], {}), (["matrix", "matrix"], {"value": 2}), (["1.5", "matrix", "matrix"], {}),
            ([2, "matrix"], {}), ([2, 2, "matrix"], {})),
    *_edges("all", ([], {}), ([0], {}), ([[0]], {}), ([None], {}), ([0, True], {}), ([[0, 1], True], {}), (["2"], {}),
            (["1.5"], {}), ([], {"keepdim": True}), ([True], {}), ([0, 1], {}), ([[]], {}), ([[0.5]], {}), ([["2"]], {})),
    *_edges("clamp", ([], {}), ([0], {}), (["matrix"], {}), (["1.5"], {}), ([None, 1], {}), ([0, "matrix"], {}),
            ([0, "1.5"], {}), (["matrix", None], {}), ([], {"max": 2.5})),
    *_edges("div", ([2], {}), (["matrix"], {}), ([2], {"rounding_mode": "floor"}), (["matrix"], {"rounding_mode": None}),
            (["1.5"], {"rounding_mode": "floor"}), ([2], {"rounding_mode": 1}), ([2, "floor"], {})),
    *_edges("fmod", ([2], {}), (["matrix"], {}), (["1.5"], {}), ([None], {})),
    *_edges("lerp", (["matrix", 0], {}), (["matrix", "matrix"], {}), (["matrix", "1.5"], {}), ([2, 2], {}),
            (["matrix"], {"weight": 2.5})),
    *_edges("max", ([], {}), ([0], {}), (["matrix"], {}), (["2"], {}), ([0, True], {}), ([0, 1], {}), ([True], {}), ([2.5], {}),
            ([], {"keepdim": True}), ([[0]], {})),
    *_edges("sort", ([], {}), ([0], {}), ([True], {}), ([0, True], {}), ([], {"stable": None}), ([0], {"stable": True}),
            ([], {"stable": True, "dim": 0}), ([], {"descending": True})),
    *_edges("squeeze", ([], {}), ([0], {}), ([[0]], {}), ([0, 1], {}), ([[0, 1]], {}), (["2"], {}), ([True], {}), ([None], {})),
    *_edges("sum", ([], {}), ([0], {}), (["2"], {}), ([[0]], {}), ([0, True], {}), ([True], {}), ([1.5], {}), ([None], {}),
            ([], {"dtype": _FLOAT}), ([0], {"dtype": _FLOAT}), ([_FLOAT], {}), ([], {"dim": 0}), ([0, 1], {}),
            ([], {"dtype": None}), ([[]], {}), ([], {"keepdim": True})),
    *_edges("view", ([4], {}), ([2, 2], {}), ([[2, 2]], {}), ([_FLOAT], {}), ([], {}), ([2.5], {}), ([2, 2.5], {}),
            (["2", 2], {}), ([], {"size": [4]}), ([], {"dtype": _FLOAT}), ([True, 4], {}), ([[2], 2], {}), (["2"], {})),
    *({"schemas": _OF_NAME["ones"], "args": args, "keywords": []}
      for args in ([2, 3], [2], [[2, 3]], [], [2.5], ["2", 1], [[2], 3])),
    {"schemas": _OF_NAME["ones"], "args": [2, 3], "keywords": [["dtype", _FLOAT]]},
    *_edges("constant_pad_nd", ([[1, 1]], {}), ([[1, 1], 2.5], {}), ([1, 1], {}), ([1], {}), ([], {"pad": [0, 1]})),
    *_edges("permute repeat", ([1, 0], {}), ([[1, 0]], {}), ([1], {}), ([1.5, 0], {}), ([], {}), ([[]], {}), (["matrix"], {}),
            ([1, "matrix"], {})),
    *({"schemas": [*_OF_NAME["permute"], _SELECT], "args": args, "keywords": keywords}
      for args, keywords in ((["matrix", 1], [["index", 0]]), (["matrix", 1, 0], []), (["matrix", [1, 0]], []))),
    *({"schemas": ["reflection_pad1d(Tensor self, int[2] padding) -> Tensor"], "args": ["matrix", *args], "keywords": []}
      for args in ([1, 2], [[1, 2]])),
    *_edges("permute", ([], {"dims": [1, 0]}), ([1], {"dims": [1, 0]}), ([1, 0], {"dims": [1, 0]})),
]  # fmt: skip


def _unpacked(xp, value):
    """A value of a case: `"matrix"` and texts of numbers are tensors, the latter without dimensions. Some numbers are numpy's."""
    if isinstance(value, dict):
        return np.float32(value["numpy"])
    if isinstance(value, (list, tuple)):
        return [_unpacked(xp, item) for item in value]
    if value == "matrix":
        return xp.tensor([[1.0, 2.0], [3.0, 4.0]])
    return xp.tensor(float(value) if "." in value else int(value)) if value in ("1.5", "2") else value


def _packed(xp, value):
    if isinstance(value, xp.Tensor):
        return f"a tensor with sizes {list(value.shape)}" if value.dim() else value.item()
    if isinstance(value, (list, tuple)):
        return [_packed(xp, item) for item in value]
    if isinstance(value, xp.dtype):
        return str(value).rpartition(".")[2]
    return value.item() if isinstance(value, np.generic) else value


def _about_signatures(case, mine, theirs):
    sizes = "sizes without brackets: where the `int[]` is the one positional argument beside `self`, and its value is no list"
    last = case["args"][-1] if case["args"] else None
    if theirs is None and isinstance(mine, list):
        if type(last) is int and "int[" in case["schemas"][mine[0]]:
            return sizes
        return "the call fits no schema: `bind` refuses it, or the type of a value is neither its argument's nor an allowed number"
    if mine is None:
        position, stack = theirs
        if "int[] " in case["schemas"][position] and (type(last) is int or position == 0):
            return sizes
        if type(last) is int and [last] in stack:
            return "`converted` converts each value before its type is looked at"
        if position == 0 and (isinstance(last, int | float) or last == {"numpy": 2.5}):
            return "a value that is a number may stand for a tensor where `may_be_number` says so"
        return "the call fits a schema: for each one the steps begin anew, with the caller's own args"
    if not isinstance(mine, list) or len(mine) != 2:
        return None
    if mine[0] == theirs[0]:
        return "the schema is right, and the stack is not: it is that of `bind`, with each value `converted` to its argument"
    return "the first schema that the call fits is chosen: each value of its stack has the type of its argument, or is a number"


@program("c10.schema.choose_signature", cases=_calls, edges=_EDGES, hint=_about_signatures)
def chosen_signature(xp, schemas, args, keywords):
    read = [xp.schema.parse_schema(text) for text in schemas]
    args, kwargs = tuple(_unpacked(xp, args)), {name: _unpacked(xp, value) for name, value in keywords}
    before = repr((args, kwargs))
    chosen = xp.schema.choose_signature(read, args, kwargs)
    assert repr((args, kwargs)) == before, f"the caller's args and kwargs are now {(args, kwargs)}"
    return chosen if chosen is None else [chosen[0], _packed(xp, chosen[1])]


@chosen_signature.oracle
def bound_signature(torch, schemas, args, keywords):
    """The overload that a binding calls, and its arguments by the signature's names."""
    from torch.utils._python_dispatch import TorchDispatchMode

    class Found(Exception):
        pass

    class FirstCall(TorchDispatchMode):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            if func is torch.ops.aten._local_scalar_dense.default:  # a tensor that is passed for a number
                return func(*args)
            declared = func._schema.arguments
            given = dict(zip([argument.name for argument in declared], args)) | (kwargs or {})
            raise Found(
                func, {argument.name: given.get(argument.name, argument.default_value) for argument in declared}
            )

    args, kwargs = _unpacked(torch, args), {name: _unpacked(torch, value) for name, value in keywords}
    for name in dict.fromkeys(re.match(r"\w+", text)[0] for text in schemas):  # mostly one
        function = next(filter(None, (getattr(room, name, None) for room in (torch.Tensor, torch, torch._C._nn))))
        try:
            with FirstCall():
                function(*args, **kwargs)
        except TypeError:
            continue
        except Found as found:
            func, values = found.args
        name = {"aten::maximum": "max.other"}.get(
            func._schema.name, str(func).removeprefix("aten.").removesuffix(".default")
        )
        of_operator = (f"{name}(", f"{name.partition('.')[0]}.deprecated(")
        chosen, *deprecated = [position for position, text in enumerate(schemas) if text.startswith(of_operator)]
        if deprecated:  # it calls the same operator, and is tried last
            by_position = _names(schemas[chosen].partition(", *")[0])
            if len(args) > len(by_position) or {*by_position[: len(args)]} & {*kwargs}:
                chosen = deprecated[0]
        return [chosen, [_packed(torch, values[name]) for name in _names(schemas[chosen].rpartition(") -> ")[0])]]
    return None


def _names(parameters):
    """The names of arguments, from the beginning of a schema."""
    return re.findall(r"(?<= )\w+(?=[=,])", parameters + ",")
