"""Lab 06: custom operators and backends, on torch itself.

What a program shows is what it saw: numbers, schemas, names of keys, the calls in a captured graph, how often something was
compiled. It says of nothing whether it is right. Numbers are by rule, and what is called beyond what an exercise allows is
part of what is seen. What is registered goes into a namespace of its own, for each case another one.
"""

from __future__ import annotations

import logging
import math
import re
from collections import namedtuple
from contextlib import contextmanager, nullcontext
from types import SimpleNamespace

from ...check import program
from ...observe import difference
from ...recorder import fresh_namespace, recorded
from ..cases import tensor, tensors

# What both sides need ------------------------------------------------------------------------------------------------

words = str.split

# Operators by kind, as the recorder knows them. (Views, and what only allocates or copies, are allowed anywhere.)
SHAPES = words("""view unsqueeze cat stack repeat arange scalar_tensor zeros ones full fill zero zeros_like ones_like full_like
new_zeros new_ones new_full""")
PRODUCTS = words("mm bmm addmm baddbmm addbmm mv addmv dot vdot addr ger")
POINTWISE = words("""add sub rsub mul div neg pow square sqrt rsqrt reciprocal abs sign relu clamp clamp_min clamp_max maximum
minimum where masked_fill threshold tanh sigmoid cosh sinh erf erfc special_ndtr exp expm1 log addcmul addcdiv gt ge lt le eq
ne logical_and logical_not bitwise_not heaviside lerp""")
SUMS = ["sum", "mean", "cumsum"]
DELEGATES = ("torch._C._nn.linear", "torch._C._nn.gelu", "torch.autograd.grad", "torch.func.vjp", "torch.func.vmap")

ACTIVATIONS = ("none", "relu", "tanh", "gelu")


def numbers(torch, shape, start=0, kind="float64"):
    """Small numbers of both signs, and zeros, by rule; the same `start` gives the same ones."""
    values = [((7 * i + 3 * start) % 11) * 0.25 - 1 for i in range(math.prod(shape))]
    return torch.tensor(values, dtype=getattr(torch, kind)).reshape(shape)


def laid_out(torch, x, layout):
    """The same numbers, otherwise in memory."""
    if layout == "gaps":
        return torch.zeros([*x.shape, 2], dtype=x.dtype)[..., 1].copy_(x)
    if layout == "backwards" and x.dim():  # the first dimension is the innermost one
        return x.permute(*reversed(range(x.dim()))).contiguous().permute(*reversed(range(x.dim())))
    if layout == "equal" and x.numel():
        return x.reshape(-1)[:1].reshape([1] * x.dim()).expand(x.shape)
    return x


def plain(x):
    """What a tensor holds now, in a new tensor of which only the values say anything."""
    return None if x is None else x.new_empty(x.shape).copy_(x.detach())


def _torch():
    """For what is not handed it."""
    import torch

    return torch


def linear(torch, x, weight, bias, activation):
    """What the operator computes, as torch has it."""
    functional = torch.nn.functional
    z = functional.linear(x, weight, bias)
    return {"relu": torch.relu, "tanh": torch.tanh, "gelu": functional.gelu}.get(activation, lambda z: z)(z)


def arguments(torch, lead, features, outs, bias, layout="", kind="float64"):
    """x, weight and bias or None."""
    x, weight = numbers(torch, [*lead, features], 1, kind), numbers(torch, [outs, features], 2, kind)
    bias = numbers(torch, [outs], 3, kind) if bias else None
    return laid_out(torch, x, layout), laid_out(torch, weight, layout), bias


def error_name(error):
    return next(each for each in type(error).__mro__ if each.__module__ == "builtins").__name__


def field(name, mine, theirs):
    """One entry of two results that are dicts, for hints."""
    both = [dict(tree["dict"]) if isinstance(tree, dict) and "dict" in tree else {} for tree in (mine, theirs)]
    return both[0].get(name), both[1].get(name)


def first_apart(mine, theirs):
    """The name of the first entry in which two results that are dicts differ."""
    if not (isinstance(mine, dict) and isinstance(theirs, dict) and "dict" in mine and "dict" in theirs):
        return None
    mine, theirs = dict(mine["dict"]), dict(theirs["dict"])
    return next((name for name in theirs if difference(mine.get(name), theirs[name])), None)


def beyond_what_is_allowed(mine):
    """What to say of a result in which something has been called that is not allowed."""
    called = dict(mine["dict"]).get("beyond")
    names = ", ".join(each for each in called if isinstance(each, str)) if isinstance(called, list) else ""
    return f"it calls {names or 'something'}, which the contract does not allow: it says what the body is to be made of"


def explained(**reasons):
    """A hint that goes by the first entry of the result that differs; underscores stand for spaces."""

    def hint(case, mine, theirs):
        wrong = first_apart(mine, theirs)
        return beyond_what_is_allowed(mine) if wrong == "beyond" else reasons.get((wrong or "").replace(" ", "_"))

    return hint


def called_inside(call):
    """What a call returns, and the names of aten's operators that ran, also those that others are made of."""
    from torch.autograd.profiler_legacy import profile  # the other one starts a tracer that prints

    with profile() as seen:
        result = call()
    names = {event.name for event in seen.function_events}
    return result, {name.removeprefix("aten::") for name in names if name.startswith("aten::")}


def _shapes(st, **more):
    """Sizes of the three arguments, and what else a case has."""
    return st.fixed_dictionaries(
        {
            "lead": st.lists(st.integers(0, 3), max_size=3),
            "features": st.integers(1, 4),
            "outs": st.integers(1, 4),
            "bias": st.booleans(),
            "activation": st.sampled_from(ACTIVATIONS),
            **more,
        }
    )


def _shape(lead=(3,), features=2, outs=4, bias=True, activation="none", **more):
    return {"lead": list(lead), "features": features, "outs": outs, "bias": bias, "activation": activation} | more


# The schema ----------------------------------------------------------------------------------------------------------

_SIMPLE = ["Tensor", "int", "float", "bool", "str", "Number", "dtype", "device"]
_NO_TYPES = """dict; complex; list; bytes; None; tuple[int, int]; tuple[Tensor, ...]; tuple[Tensor]; tuple[int, None]; int | str;
int | str | None; list[str]; list[dtype]; Sequence[device]; list[dict]; dict | None; list[list[int]]; Tensor | int;
dict[str, int]; set[int]; Optional[complex]""".replace("\n", " ").split("; ")
_TYPES = [
    *_SIMPLE,
    *[f"{name} | None" for name in _SIMPLE],
    *[f"Optional[{name}]" for name in ("Tensor", "int", "str")],
    *[f"{many}[{name}]" for many in ("list", "Sequence") for name in ("Tensor", "int", "float", "bool", "Number")],
]
_RESULTS = ["Tensor", "list[Tensor]", "int", "float", "bool", "Number", "None", "tuple[Tensor, Tensor]"]
_RESULTS += ["tuple[Tensor, list[Tensor], int]", "tuple[float, bool]"]
_TEXTS = ["'Tensor'", "'int'", "'Tensor | None'"]  # annotations may be texts
_NO_RESULTS = ["str", "missing", "dtype", "list[int]", "Tensor | None"]
_DEFAULTS = ["", "", "", "None", "0", "-2", "0.5", "1e-05", "True", "'relu'", "float32", "cpu", "[1]", "(2, 3)"]


def _types(torch):
    """What the names in annotations and defaults stand for."""
    from collections.abc import Sequence
    from typing import Optional

    names = {"Tensor": torch.Tensor, "Number": torch.types.Number, "dtype": torch.dtype, "device": torch.device}
    return names | {"Sequence": Sequence, "Optional": Optional, "float32": torch.float32, "cpu": torch.device("cpu")}


def _function(torch, parameters, returns):
    """A function with these parameters, `[name, kind, annotation, default]`, and this result."""
    written, defaults = [], False
    for name, kind, annotation, default in sorted(parameters, key=lambda each: _KINDS.index(each[1])):
        if kind == "named" and not any(text.startswith("*") for text in written):
            written.append("*")
        star = {"many": "*", "rest": "**"}.get(kind, "")
        defaults = kind in ("first", "any") and (defaults or bool(default))
        default = "" if star else default or ("None" if defaults else "")
        annotation = "" if annotation == "missing" else f": {annotation}"
        written.append(f"{star}{name}{annotation}" + f" = {default}" * bool(default) + ", /" * (kind == "first"))
    names = _types(torch)
    result = "" if returns == "missing" else f" -> {returns}"
    text = f"def function({', '.join(written)}){result}: ..."
    code = compile(text, "<signature>", "exec", dont_inherit=True)  # else its annotations are text, as this file's are
    exec(code, names)
    return names["function"]


_KINDS = ["first", "any", "many", "named", "rest"]


def _about_types(case, mine, theirs):
    if first_apart(mine, theirs) == "beyond":
        return beyond_what_is_allowed(mine)
    if isinstance(theirs, dict) and "error" in theirs:
        return "this annotation is not among the types of the contract: ValueError"
    return "the types of SCHEMA_TYPES, each also with ? and, if it is in LISTED, with []; Number is a union of types itself"


@contextmanager
def without_its_table(torch):
    """Within: torch's own table of types is empty."""
    table = torch._library.infer_schema.SUPPORTED_PARAM_TYPES
    kept = dict(table)
    table.clear()
    try:
        yield
    finally:
        table.update(kept)


@program(
    "custom_ops.schema_type",
    cases=lambda st: st.fixed_dictionaries({"annotation": st.sampled_from([*_TYPES, *_NO_TYPES])}),
    edges=[{"annotation": annotation} for annotation in [*_TYPES, *_NO_TYPES]],
    hint=_about_types,
    draws=40,
)
def types(xp, annotation):
    torch = xp.custom_ops.torch
    annotation = eval(annotation, _types(torch))
    with recorded(watched=["torch.library.infer_schema"]) as beyond, without_its_table(torch):
        result = xp.custom_ops.schema_type(annotation)
    return {"result": result, "beyond": beyond}


@types.oracle
def torch_types(torch, annotation):
    function = _function(torch, [["x", "any", annotation, ""]], "None")
    logging.disable(logging.WARNING)  # it speaks of each type that it does not know
    try:
        schema = torch.library.infer_schema(function, mutates_args=())
    finally:
        logging.disable(logging.NOTSET)
    return {"result": schema.removeprefix("(").removesuffix(" x) -> ()"), "beyond": []}


def _signatures(st):
    usual = st.tuples(
        st.sampled_from("abcdef"),
        st.sampled_from(["any", "any", "any", "named"]),
        st.sampled_from([*["Tensor"] * 8, *_TYPES, *_TEXTS]),
        st.sampled_from(_DEFAULTS[:-2]),
    )
    seldom = st.tuples(
        st.sampled_from("abcdef"),
        st.sampled_from(_KINDS),
        st.sampled_from(["Tensor", "int", "missing", "dict"]),
        st.sampled_from(_DEFAULTS),
    )
    parameter = st.integers(0, 12).flatmap(lambda chosen: usual if chosen else seldom)
    listed = st.lists(parameter.map(list), max_size=5, unique_by=lambda each: each[0])
    stars = listed.map(
        lambda each: [p for i, p in enumerate(each) if p[1] not in {q[1] for q in each[:i]} & {"many", "rest", "first"}]
    )
    result = st.sampled_from([*_RESULTS, *_RESULTS, *_RESULTS, *_NO_RESULTS])

    @st.composite
    def draw_signature(draw):
        parameters = draw(stars)
        tensors = [each[0] for each in parameters if "Tensor" in each[2]]
        others = [each[0] for each in parameters] + ["z"]
        chosen = draw(st.lists(st.sampled_from(tensors), max_size=3, unique=True)) if tensors else []
        if not draw(st.integers(0, 9)):
            chosen = [*chosen, draw(st.sampled_from(others))]
        return {"parameters": parameters, "returns": draw(result), "mutates_args": chosen}

    return draw_signature()


def _signature(*parameters, returns="Tensor", mutates_args=()):
    return {"parameters": [list(each) for each in parameters], "returns": returns, "mutates_args": list(mutates_args)}


_X = ("x", "any", "Tensor", "")


def _about_schemas(case, mine, theirs):
    if first_apart(mine, theirs) == "beyond":
        return beyond_what_is_allowed(mine)
    mine, theirs = field("result", mine, theirs)
    if not isinstance(theirs, str):
        return "what has no place in a schema is a ValueError: the contract lists the cases"
    if isinstance(mine, str) and mine.partition("->")[2] != theirs.partition("->")[2]:
        return "the parameters are right so far; the results are as result_type writes them"
    if any("'" in each for each in (*[annotation for _, _, annotation, _ in case["parameters"]], case["returns"])):
        return "an annotation may be a text; it stands for the type that it means in the function's module"
    if case["mutates_args"]:
        return "the number in (a0!) is the parameter's place among all of them; it stands behind the word Tensor"
    return None


@program(
    "custom_ops.infer_schema",
    cases=_signatures,
    edges=[
        _signature(),
        _signature(_X),
        _signature(_X, ("n", "any", "int", "")),
        _signature(_X, ("n", "named", "int", "")),
        _signature(_X, ("n", "named", "int", ""), ("m", "named", "float", "0.5")),
        _signature(("n", "named", "int", ""), ("m", "named", "bool", "")),
        *[_signature(_X, ("n", "any", "int", default)) for default in _DEFAULTS[3:]],
        *[
            _signature(_X, ("n", "any", annotation, ""))
            for annotation in ("Tensor | None", "list[int]", "dict", "missing")
        ],
        *[_signature(("n", kind, annotation, "")) for kind in _KINDS for annotation in ("int", "Tensor", "missing")],
        *[_signature(_X, returns=returns) for returns in [*_RESULTS, *_NO_RESULTS, "'Tensor'", "'None'", "'str'"]],
        *[_signature(_X, ("n", "any", annotation, "None")) for annotation in [*_TEXTS, "'dict'"]],
        _signature(_X, ("y", "named", "'list[Tensor]'", ""), returns="'tuple[Tensor, int]'", mutates_args=["y"]),
        _signature(_X, mutates_args=["x"]),
        _signature(_X, ("y", "any", "Tensor", ""), mutates_args=["x"]),
        _signature(_X, ("y", "any", "Tensor", ""), mutates_args=["y"]),
        _signature(
            _X, ("n", "any", "int", ""), ("y", "any", "Tensor | None", "None"), mutates_args=["y"], returns="None"
        ),
        _signature(_X, ("y", "any", "list[Tensor]", ""), mutates_args=["y", "x"], returns="None"),
        _signature(_X, ("n", "named", "int", ""), ("y", "named", "Tensor", ""), mutates_args=["y"]),
        _signature(_X, ("n", "any", "int", ""), mutates_args=["n"]),
        _signature(_X, ("n", "any", "list[int]", ""), mutates_args=["n"]),
        _signature(_X, mutates_args=["y"]),
        _signature(_X, mutates_args=["x", "y"]),
        _signature(mutates_args=["x"]),
    ],
    hint=_about_schemas,
)
def schemas(xp, parameters, returns, mutates_args):
    function = _function(xp.custom_ops.torch, parameters, returns)
    with recorded(watched=["torch.library.infer_schema"]) as beyond:
        result = xp.custom_ops.infer_schema(function, mutates_args)
    return {"result": result, "beyond": beyond}


@schemas.oracle
def torch_schemas(torch, parameters, returns, mutates_args):
    logging.disable(logging.WARNING)
    try:
        schema = torch.library.infer_schema(_function(torch, parameters, returns), mutates_args=mutates_args)
    finally:
        logging.disable(logging.NOTSET)
    return {"result": schema, "beyond": []}


# The kernel and the fake one -----------------------------------------------------------------------------------------

_WRONG = {  # what is wrong with the arguments, and the error that it is
    "features": "RuntimeError",
    "bias size": "RuntimeError",
    "one bias for all": "RuntimeError",
    "bias dimensions": "RuntimeError",
    "weight dimensions": "RuntimeError",
    "weights": "RuntimeError",
    "no dimension": "RuntimeError",
    "dtype": "RuntimeError",
    "bias dtype": "RuntimeError",
    "activation": "ValueError",
}


def spoilt(torch, x, weight, bias, activation, wrong):
    """The arguments with one thing wrong."""
    kind = "float32" if x.dtype == torch.float64 else "float64"
    outs, features = weight.shape
    changed = {
        "features": lambda: {"x": x[..., :-1]},
        "bias size": lambda: {"bias": numbers(torch, [outs + 1], 3).to(x.dtype)},
        "one bias for all": lambda: {"bias": x.new_ones(1), "weight": x.new_ones(outs + 1, features)},
        "bias dimensions": lambda: {"bias": x.new_ones(1, outs)},
        "weight dimensions": lambda: {"weight": weight[0], "bias": None},
        "weights": lambda: {"weight": x.new_ones(2, outs, features)},
        "no dimension": lambda: {"x": x.new_ones(()), "weight": weight[:, :1]},
        "dtype": lambda: {"x": x.to(getattr(torch, kind))},
        "bias dtype": lambda: {"bias": numbers(torch, [outs], 3, kind)},
        "activation": lambda: {"activation": "sigmoid"},
    }[wrong]()
    return ({"x": x, "weight": weight, "bias": bias, "activation": activation} | changed).values()


def _kernels(st):
    return st.fixed_dictionaries(
        {
            "layout": st.sampled_from(["", "", "gaps", "backwards", "equal"]),
            "kind": st.sampled_from(["float32", "float64"]),
            "wrong": st.sampled_from([None] * 10 + sorted(_WRONG)),
        }
    ).flatmap(lambda more: _shapes(st).map(lambda case: case | more))


def _kernel_edges():
    usual = {"layout": "", "kind": "float64", "wrong": None}
    yield from (_shape(activation=name, **usual) for name in ACTIVATIONS)
    yield from (
        _shape(lead=lead, bias=bias, **usual) for lead in ([], [2, 3], [0], [2, 1, 2]) for bias in (True, False)
    )
    yield from (_shape(lead=[2, 3], **usual | {"layout": layout}) for layout in ("gaps", "backwards", "equal"))
    for features in (2, 1):  # with a single feature einsum leaves other strides
        backwards = usual | {"layout": "backwards", "features": features}
        yield from (_shape(lead=lead, bias=False, **backwards) for lead in ([3], [2, 3], [2, 3, 2]))
    yield _shape(activation="gelu", **usual | {"kind": "float32"})
    yield _shape(features=1, outs=1, **usual)
    yield from (_shape(lead=lead, **usual | {"wrong": wrong}) for wrong in _WRONG for lead in ([3], [2, 3]))
    yield from (_shape(bias=False, **usual | {"wrong": wrong}) for wrong in ("features", "dtype", "activation"))


_about_kernels = explained(
    result="activation(x @ weight.T + bias); x may have any number of leading dimensions, and bias may be None",
    contiguous="the result is contiguous, whatever the strides of the arguments",
    alone="the result is a new tensor",
    arguments="the arguments are to be left as they are",
)


@program("custom_ops.fused_linear", cases=_kernels, edges=list(_kernel_edges()), hint=_about_kernels)
def kernel(xp, lead, features, outs, bias, activation, layout, kind, wrong):
    torch = xp.custom_ops.torch
    inputs = [*arguments(torch, lead, features, outs, bias, layout, kind), activation]
    if wrong:
        inputs = [*spoilt(torch, *inputs, wrong)]
    before = [plain(each) for each in inputs[:3]]
    with recorded([*SHAPES, *PRODUCTS, *POINTWISE, *SUMS], DELEGATES) as beyond:
        result, called = called_inside(lambda: xp.custom_ops.fused_linear(*inputs))
    beyond += sorted({"linear"} & called)  # which the recorder sees in pieces
    owners = [each.untyped_storage().data_ptr() for each in inputs[:3] if each is not None and each.numel()]
    return {
        "result": plain(result),
        "contiguous": result.is_contiguous(),
        "alone": result.untyped_storage().data_ptr() not in owners,
        "arguments": [each is None or torch.equal(each, old) for each, old in zip(inputs[:3], before)],
        "beyond": beyond,
    }


@kernel.oracle
def torch_kernel(torch, lead, features, outs, bias, activation, layout, kind, wrong):
    if wrong:
        raise {"ValueError": ValueError, "RuntimeError": RuntimeError}[_WRONG[wrong]](wrong)
    inputs = arguments(torch, lead, features, outs, bias, layout, kind)
    result = plain(linear(torch, *inputs, activation))
    return {"result": result, "contiguous": True, "alone": True, "arguments": [True] * 3, "beyond": []}


def _fakes(st):
    return st.fixed_dictionaries(
        {
            "lead": st.lists(st.integers(2, 4), max_size=3),
            "layout": st.sampled_from(["", "gaps", "backwards"]),
            "kind": st.sampled_from(["float32", "float64", "float16"]),
            "place": st.sampled_from(["meta", "fake", "symbolic", "symbolic"]),
            "wrong": st.sampled_from([None] * 8 + sorted(_WRONG)),
        }
    ).flatmap(lambda more: _shapes(st).map(lambda case: case | more))


def _fake_edges():
    usual = {"layout": "", "kind": "float64", "wrong": None}
    for place in ("meta", "fake", "symbolic"):
        yield from (_shape(lead=lead, place=place, **usual) for lead in ([], [3], [2, 4]))
        yield _shape(lead=[2, 3], bias=False, place=place, **usual | {"layout": "backwards", "kind": "float32"})
        yield _shape(lead=[3], activation="gelu", place=place, **usual | {"layout": "gaps", "kind": "float16"})
        yield from (_shape(lead=[2, 3], place=place, **usual | {"wrong": wrong}) for wrong in _WRONG)
    yield from (_shape(bias=False, place="meta", **usual | {"wrong": wrong}) for wrong in ("features", "dtype"))
    yield _shape(lead=[0, 3], place="meta", **usual)


def without_data(torch, tensors, place):
    """Tensors like these, but of metadata only, the mode in which to work on them, and what is known of their sizes. With
    symbols, the sizes of the first one but the last are unknown."""
    from torch._dynamo.source import ConstantSource
    from torch._subclasses.fake_tensor import FakeTensorMode
    from torch.fx.experimental.symbolic_shapes import DimDynamic, ShapeEnv, StatelessSymbolicContext

    if place == "meta":
        return [each if each is None else each.to("meta") for each in tensors], nullcontext(), None
    known = ShapeEnv() if place == "symbolic" else None
    mode, fakes = FakeTensorMode(shape_env=known), []
    for number, each in enumerate(tensors):
        if each is None or place == "fake":
            fakes.append(each if each is None else mode.from_tensor(each, static_shapes=True))
            continue
        kinds = [DimDynamic.DYNAMIC if number == 0 else DimDynamic.STATIC] * (each.dim() - 1) + [DimDynamic.STATIC]
        context = StatelessSymbolicContext(dynamic_sizes=kinds[: each.dim()])
        fakes.append(mode.from_tensor(each, source=ConstantSource(f"t{number}"), symbolic_context=context))
    return fakes, mode, known


def metadata(x):
    sizes = {"sizes": [str(size) for size in x.shape], "strides": [str(step) for step in x.stride()]}
    return sizes | {"dtype": x.dtype, "device": str(x.device), "class": type(x).__name__}


_about_fakes = explained(
    strides="the strides are those of the kernel's result, which is contiguous",
    guards="a size of the batch has been compared with something: the graph is then captured anew for other batches",
    device="the device is that of the arguments, and the dtype too",
)


@program("custom_ops.fused_linear_fake", cases=_fakes, edges=list(_fake_edges()), hint=_about_fakes, draws=60)
def fake(xp, lead, features, outs, bias, activation, layout, kind, place, wrong):
    torch = xp.custom_ops.torch
    inputs = [*arguments(torch, lead, features, outs, bias, layout, kind), activation]
    if wrong:
        inputs = [*spoilt(torch, *inputs, wrong)]
    tensors, mode, known = without_data(torch, inputs[:3], place)
    with recorded(SHAPES, DELEGATES) as beyond, mode:
        result = xp.custom_ops.fused_linear_fake(*tensors, inputs[3])
    guards = [str(guard.expr) for guard in known.guards] if known else []
    return metadata(result) | {"guards": guards, "beyond": beyond if place == "meta" else []}


@fake.oracle
def torch_fake(torch, lead, features, outs, bias, activation, layout, kind, place, wrong):
    if wrong:
        raise {"ValueError": ValueError, "RuntimeError": RuntimeError}[_WRONG[wrong]](wrong)
    (x, weight, bias), mode, _ = without_data(torch, arguments(torch, lead, features, outs, bias, layout, kind), place)
    with mode:
        result = linear(torch, x, weight, bias, activation).contiguous()
    return metadata(result) | {"guards": [], "beyond": []}


# The derivative ------------------------------------------------------------------------------------------------------


class Context:
    """A stand-in for the ctx that torch makes."""

    def __init__(self, needs_input_grad, **attributes):
        self.needs_input_grad = tuple(needs_input_grad)
        vars(self).update(attributes)
        self.given = sorted(vars(self))

    def save_for_backward(self, *tensors):
        self.saved = tensors

    def set_materialize_grads(self, value):
        """As torch has it; here there is nothing to set."""

    def left(self, torch):
        """The names of the attributes that have been added and hold tensors."""
        values = [(name, each) for name, each in vars(self).items() if name not in (*self.given, "given", "saved")]
        return sorted(name for name, each in values if any(isinstance(part, torch.Tensor) for part in _parts(each)))


def _parts(value):
    if isinstance(value, dict):
        value = [*value.values()]
    return [inner for each in value for inner in _parts(each)] if isinstance(value, (list, tuple)) else [value]


def needs_of(needs, passed, more=0):
    """`needs_input_grad` where the first `passed` of the four arguments were passed, and torch added one of its own."""
    return (*needs, False)[:passed] + (False,) * more


_NEEDS = [tuple(bool(number >> bit & 1) for bit in range(3)) for number in range(8)]


def _contexts(st):
    """Cases in which arguments that were not passed are at their defaults."""

    def settled(case):
        passed = case["passed"] if case["activation"] == "none" else 4
        bias = case["bias"] and passed > 2
        needs = [*case["needs"][:2], case["needs"][2] and bias]
        return case | {"passed": passed, "bias": bias, "needs": needs}

    more = {"needs": st.sampled_from(_NEEDS).map(list), "passed": st.integers(2, 4)}
    return _shapes(st, **more).map(settled)


def _context(needs=(True, True, True), passed=4, **more):
    case = _shape(**{"lead": [3], "features": 2, "outs": 4} | more)
    bias = case["bias"] and passed > 2
    return case | {"needs": [*needs[:2], needs[2] and bias], "passed": passed, "bias": bias}


def _context_edges():
    yield from (_context(needs, activation=name) for needs in _NEEDS for name in ACTIVATIONS)
    yield from (_context(activation=name, bias=False) for name in ACTIVATIONS)
    yield from (_context(needs, passed) for needs in [(True, True, True), (True, False, True)] for passed in (2, 3))


def _where_it_does_not_matter(saved):
    """What was saved, where no backward will read it: None is as good as what could stand in its place."""
    names = ("x", "weight", "bias", "output")
    return [name if each == "None" else each for each, name in zip(saved, names)] if len(saved) == 4 else saved


_about_contexts = explained(
    saved="what is saved goes by what each gradient is computed from, and by whether it is asked for",
    kept_elsewhere="tensors belong in save_for_backward: kept in another way they make cycles, and are not seen to change",
    activation="the backward has to know the activation",
)


@program(
    "custom_ops.fused_linear_setup_context",
    cases=lambda st: _contexts(st).flatmap(lambda case: st.booleans().map(lambda more: case | {"more": more})),
    edges=[case | {"more": more} for case in _context_edges() for more in (True, False)],
    hint=_about_contexts,
)
def contexts(xp, lead, features, outs, bias, activation, needs, passed, more):
    torch = xp.custom_ops.torch
    x, weight, bias = arguments(torch, lead, features, outs, bias)
    output = linear(torch, x, weight, bias, activation)
    ctx = Context(needs_of(needs, passed, more))
    inputs = (x, weight, bias, activation)
    with recorded() as beyond:  # by name, as torch does
        xp.custom_ops.fused_linear_setup_context(ctx=ctx, inputs=inputs, output=output)
    names = {id(x): "x", id(weight): "weight", id(bias): "bias", id(output): "output", id(None): "None"}
    saved = [names.get(id(each), "something else") for each in getattr(ctx, "saved", ["nothing"])]
    return {
        "saved": saved if any(needs) else _where_it_does_not_matter(saved),
        "kept elsewhere": ctx.left(torch),
        "activation": getattr(ctx, "activation", None),
        "beyond": beyond,
    }


@contexts.oracle
def torch_contexts(torch, lead, features, outs, bias, activation, needs, passed, more):
    """What PyTorch's own nodes save, of the same three steps: a product, a sum, an activation."""
    x, weight, bias = arguments(torch, lead, features, outs, bias)
    tensors = [each if each is None else each.requires_grad_(need) for each, need in zip((x, weight, bias), needs)]
    saved = set()
    if activation == "gelu":
        saved = {"x", "weight"} | ({"bias"} if bias is not None else set())
    else:
        product = torch.mm(x.reshape(-1, features), weight.t())
        node = product.grad_fn
        saved |= {"x"} if getattr(node, "_saved_self", None) is not None else set()
        saved |= {"weight"} if getattr(node, "_saved_mat2", None) is not None else set()
        z = torch.ones(2, dtype=x.dtype, requires_grad=True)
        node = linear(torch, z, torch.eye(2, dtype=x.dtype), None, activation).grad_fn
        saved |= {"output"} if hasattr(node, "_saved_result") else set()
    names = [name if name in saved else "None" for name in ("x", "weight", "bias", "output")]
    names = names if any(needs) else _where_it_does_not_matter(names)
    assert [each is not None and each.requires_grad for each in tensors] == list(needs)
    return {"saved": names, "kept elsewhere": [], "activation": activation, "beyond": []}


def saved_for(x, weight, bias, output, activation, needs):
    """What the contract of `fused_linear_setup_context` leaves."""
    again, of_output = activation == "gelu", activation in ("relu", "tanh")
    kept = (needs[1] or again, needs[0] or again, again, of_output)
    return tuple(each if keep else None for each, keep in zip((x, weight, bias, output), kept))


def _backward_edges():
    for name in ACTIVATIONS:
        yield from (_context(needs, activation=name) | {"layout": ""} for needs in _NEEDS[1:])
        for lead in ([], [2, 3], [0], [1, 2, 2]):
            yield _context(activation=name, lead=lead) | {"layout": ""}
        yield _context(activation=name, lead=[4, 3], bias=False, features=3) | {"layout": ""}
        yield from (_context(activation=name, lead=[2, 3]) | {"layout": layout} for layout in ("equal", "backwards"))
    yield from (_context(passed=passed) | {"layout": ""} for passed in (2, 3))
    yield _context((True, True, False), 3, bias=False) | {"layout": ""}
    yield _context(features=1, outs=1, lead=[2, 2]) | {"layout": ""}


def _about_gradients(case, mine, theirs):
    if first_apart(mine, theirs) == "beyond":
        return beyond_what_is_allowed(mine)
    names = ("x", "weight", "bias", "activation")
    if isinstance(mine, dict) and "error" in mine:
        few = "op(x, weight) passes two arguments, so that needs_input_grad has two entries; what was not passed needs nothing"
        return few if case["passed"] < 4 else "x has any number of leading dimensions, also none, and grad any strides"
    if first_apart(mine, theirs) == "for nothing":
        return "a gradient that ctx.needs_input_grad does not ask for is not computed either"
    mine, theirs = field("gradients", mine, theirs)
    if not isinstance(theirs, list) or not isinstance(mine, list) or len(mine) != len(theirs):
        return "one result for each of the four arguments"
    wrong = next((i for i, pair in enumerate(zip(mine, theirs)) if difference(*pair)), None)
    if wrong is None:
        return None
    if (mine[wrong] is None) != (theirs[wrong] is None):
        return f"the gradient of {names[wrong]}: computed if and only if ctx.needs_input_grad asks for it"
    if "tensor" not in (mine[wrong] or {}) or mine[wrong]["tensor"]["shape"] != theirs[wrong]["tensor"]["shape"]:
        return f"the gradient of {names[wrong]} has its shape: what was shared in the forward is summed in the backward"
    return "first the derivative of the activation, by that of the result; then those of the product and of the sum"


def computed(torch, call, numbers):
    """What a call returns, and the names of those of the given `numbers` that it has computed, in whatever order."""
    results = []

    class Results(torch.utils._python_dispatch.TorchDispatchMode):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            result = func(*args, **(kwargs or {}))
            results.extend(each for each in _parts(result) if isinstance(each, torch.Tensor))
            return result

    with Results():
        result = call()
    wanted = {name: each.detach().flatten().sort().values for name, each in numbers.items()}
    found = [each.detach().flatten().sort().values for each in results if each.is_floating_point()]
    return result, [name for name, each in wanted.items() if any(_same(torch, each, other) for other in found)]


def _same(torch, x, y):
    return x.shape == y.shape and torch.allclose(x, y)


def not_asked_for(torch, lead, features, outs, bias, activation, needs, grad):
    """The gradients that nobody asks for, by name, where they cannot be taken for something else."""
    if math.prod(lead) < 2 or features == outs or 1 in (features, outs) or not any(needs):
        return {}
    inputs = [each for each in arguments(torch, lead, features, outs, bias) if each is not None]
    output = linear(torch, *[each.requires_grad_() for each in inputs], *[None] * (3 - len(inputs)), activation)
    found = zip(("x", "weight", "bias"), torch.autograd.grad(output, inputs, grad), needs)
    return {name: each for name, each, need in found if not need and each.any()}


@program(
    "custom_ops.fused_linear_backward",
    cases=lambda st: (
        st.tuples(_contexts(st), st.sampled_from(["", "equal", "gaps", "backwards"]))
        .filter(lambda drawn: any(drawn[0]["needs"]))
        .map(lambda drawn: drawn[0] | {"layout": drawn[1]})
    ),
    edges=list(_backward_edges()),
    hint=_about_gradients,
)
def gradients(xp, lead, features, outs, bias, activation, needs, passed, layout):
    torch = xp.custom_ops.torch
    x, weight, bias = arguments(torch, lead, features, outs, bias)
    output = linear(torch, x, weight, bias, activation)
    saved = saved_for(x, weight, bias, output, activation, needs)
    ctx = Context(needs_of(needs, passed), saved_tensors=saved, activation=activation)
    grad = laid_out(torch, numbers(torch, output.shape, 5), layout)
    before = [plain(each) for each in (*saved, grad)]
    others = not_asked_for(torch, lead, features, outs, bias is not None, activation, needs, grad)
    others = {} if layout == "equal" else others

    def backward():
        with recorded([*SHAPES, *PRODUCTS, *POINTWISE, *SUMS], DELEGATES) as beyond:
            return xp.custom_ops.fused_linear_backward(ctx, grad), beyond

    (results, beyond), more = computed(torch, backward, others)
    unchanged = [each is None or torch.equal(each, old) for each, old in zip((*saved, grad), before)]
    gradients = [plain(each) for each in results]
    return {"gradients": gradients, "for nothing": more, "arguments": unchanged, "beyond": beyond}


@gradients.oracle
def torch_gradients(torch, lead, features, outs, bias, activation, needs, passed, layout):
    x, weight, bias = arguments(torch, lead, features, outs, bias)
    asked = [each for each, need in zip((x, weight, bias), needs) if need]
    for each in asked:
        each.requires_grad_()
    output = linear(torch, x, weight, bias, activation)
    grad = laid_out(torch, numbers(torch, output.shape, 5), layout)
    found = iter(torch.autograd.grad(output, asked, grad) if asked else ())
    results = [next(found) if need else None for need in needs]
    return {"gradients": [*map(plain, results), None], "for nothing": [], "arguments": [True] * 5, "beyond": []}


def _twice_edges():
    yield from (_context(needs, activation=name) for name in ACTIVATIONS for needs in _NEEDS[1:])
    yield from (_context(activation=name, lead=lead) for name in ACTIVATIONS for lead in ([], [2, 2]))
    yield from (_context(activation=name, lead=[2], bias=False) for name in ACTIVATIONS)


def _about_second_derivatives(case, mine, theirs):
    return "for a second derivative the first one has to be made of differentiable operations, on what was saved and on grad"


def twice(torch, function, x, weight, bias, needs):
    """The derivatives of first derivatives of a function, with respect to all there is, and to the incoming gradient."""
    inputs = [each.requires_grad_(need) if each is not None else None for each, need in zip((x, weight, bias), needs)]
    asked = [each for each, need in zip(inputs, needs) if need]
    output = function(*inputs)
    grad = numbers(torch, output.shape, 5).requires_grad_()
    first = torch.autograd.grad(output, asked, grad, create_graph=True)
    total = sum((each * numbers(torch, each.shape, 6 + i)).sum() for i, each in enumerate(first))
    second = torch.autograd.grad(total, [*asked, grad], materialize_grads=True)
    return {"first": [plain(each) for each in first], "second": [plain(each) for each in second]}


@program(
    "custom_ops.fused_linear_backward.twice",
    cases=lambda st: _contexts(st).filter(lambda case: any(case["needs"])),
    edges=list(_twice_edges()),
    hint=_about_second_derivatives,
    draws=60,
)
def second_derivatives(xp, lead, features, outs, bias, activation, needs, passed):
    torch = xp.custom_ops.torch

    class Linear(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x, weight, bias):
            output = linear(torch, x, weight, bias, activation)
            ctx.save_for_backward(*saved_for(x, weight, bias, output, activation, needs))
            ctx.activation = activation
            return output

        @staticmethod
        def backward(ctx, grad):
            return xp.custom_ops.fused_linear_backward(ctx, grad)

    with recorded([*SHAPES, *PRODUCTS, *POINTWISE, *SUMS, "gelu", "tanh_backward"], ["torch.func.vjp"]) as beyond:
        found = twice(torch, Linear.apply, *arguments(torch, lead, features, outs, bias), needs)
    return found | {"beyond": beyond}


@second_derivatives.oracle
def torch_second_derivatives(torch, lead, features, outs, bias, activation, needs, passed):
    def function(*inputs):
        return linear(torch, *inputs, activation)

    return twice(torch, function, *arguments(torch, lead, features, outs, bias), needs) | {"beyond": []}


# The batching rule ---------------------------------------------------------------------------------------------------


def _batches(st):
    @st.composite
    def draw_batch(draw):
        case = draw(_shapes(st))
        passed = draw(st.integers(2, 4)) if case["activation"] == "none" else 4
        case["bias"] = case["bias"] and passed > 2
        dims = [len(case["lead"]) + 1, 2, 1]
        some = st.one_of(st.none(), st.integers(0, 5))
        in_dims = [None if (at := draw(some)) is None else at % (count + 1) for count in dims]
        if not case["bias"]:
            in_dims[2] = None
        if in_dims == [None] * 3:
            in_dims[draw(st.integers(0, 1))] = 0
        return case | {"in_dims": [*in_dims, None][:passed], "size": draw(st.integers(1, 5))}

    return draw_batch()


def _batch(*in_dims, size=5, **more):
    case = _shape(**{"lead": [3], "bias": len(in_dims) > 2} | more)
    passed = in_dims if case["activation"] == "none" else (*in_dims, None, None)[:4]
    return case | {"in_dims": [*passed], "size": size}


def _batch_edges():
    yield from (
        _batch(*dims, None) for dims in [(0, None), (1, None), (2, None), (None, 0), (None, 1), (None, 2), (1, 2)]
    )
    yield from (_batch(x, weight, bias) for x in (None, 0, 2) for weight in (None, 0, 1) for bias in (0, 1))
    yield from (
        _batch(0, weight, bias, activation=name) for name in ACTIVATIONS for weight in (None, 1) for bias in (None, 0)
    )
    yield from (_batch(x, w, lead=lead) for x, w in [(0, None), (0, 0), (None, 2)] for lead in ([], [3], [2, 3]))
    yield from (
        _batch(x, w, b, lead=lead) for x, w, b in [(0, None, 1), (1, 0, 0), (None, 2, 0)] for lead in ([], [2, 3])
    )
    yield from (_batch(x, 0, None, lead=[2, 3], bias=False, activation="tanh") for x in (None, 0))
    yield _batch(0, None, None, bias=False)
    yield _batch(0, 0, None, bias=False)
    yield _batch(0, 1, size=1)
    yield _batch(1, 0, 0, size=4, lead=[4], features=4, outs=4)
    yield _batch(1, 2, 1, size=4, lead=[4, 4], features=4, outs=4)
    yield _batch(0, 0, 0, lead=[0])


def batched(torch, inputs, in_dims, size):
    """Each argument that has a batch, in the dimension that is said."""
    made = []
    for each, dim in zip(inputs, [*in_dims, None, None][:3]):
        if each is not None and dim is not None:
            each = torch.stack([each + 0.25 * i for i in range(size)], dim)
        made.append(each)
    return made


_about_batches = explained(
    result="the second result says in which dimension of the first one the batch is; an example's x has any number of dimensions",
    calls_of_op="op is called once, with the activation, where only x has a batch, and not at all otherwise",
    products="a product for each example is a loop: the batch is one more dimension of a single product",
)


@program("custom_ops.fused_linear_vmap", cases=_batches, edges=list(_batch_edges()), hint=_about_batches)
def batches(xp, lead, features, outs, bias, activation, in_dims, size):
    torch = xp.custom_ops.torch
    calls, products = [], []

    def op(x, weight, bias=None, activation="none"):
        sizes = [each if each is None else list(each.shape) for each in (weight, bias)]
        calls.append([len(x.shape), *sizes, activation])
        return linear(torch, x, weight, bias, activation)

    class Products(torch.utils._python_dispatch.TorchDispatchMode):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            products.append(func.name().removeprefix("aten::").partition(".")[0] in PRODUCTS)
            return func(*args, **(kwargs or {}))

    inputs = batched(torch, arguments(torch, lead, features, outs, bias), in_dims, size)
    inputs = [*inputs, activation][: len(in_dims)]
    info = SimpleNamespace(batch_size=size, randomness="error")
    allowed = [*SHAPES, *PRODUCTS, *POINTWISE, "sum", "gelu"]
    with recorded(allowed, ["torch.func.vmap", "torch.vmap"]) as beyond, Products():
        result, out_dim = xp.custom_ops.fused_linear_vmap(op, info, tuple(in_dims), *inputs)
    result = plain(result.movedim(out_dim, 0))
    return {"result": result, "calls of op": calls, "products": sum(products) if sum(products) > 3 else "few"} | {
        "beyond": beyond
    }


@batches.oracle
def torch_batches(torch, lead, features, outs, bias, activation, in_dims, size):
    inputs = batched(torch, arguments(torch, lead, features, outs, bias), in_dims, size)

    def function(*inputs):
        return linear(torch, *inputs, *[None] * (3 - len(inputs)), activation)

    inputs = inputs[: len(in_dims)]
    result = torch.vmap(function, tuple(in_dims[:3]))(*inputs)
    alone = [*in_dims, None][1:3] == [None] * 2
    weights = [list(inputs[1].shape), list(inputs[2].shape) if bias else None]
    calls = [[len(lead) + 2, *weights, activation]] if alone else []
    return {"result": plain(result), "calls of op": calls, "products": "few", "beyond": []}


# Registered ----------------------------------------------------------------------------------------------------------

_SCHEMA = '(Tensor x, Tensor weight, Tensor? bias=None, str activation="none") -> Tensor'


def registered(torch, namespace, name):
    """An operator's schema, and the keys for which it has a kernel."""
    schema = torch._C._dispatch_dump(f"{namespace}::{name}").partition("schema: ")[2].partition("\n")[0]
    return {"schema": schema.replace(namespace, "ns"), "kernels": keys_of(torch, f"{namespace}::{name}")}


def keys_of(torch, name):
    """The keys for which an operator has a kernel, as the dispatcher tells them."""
    lines = torch._C._dispatch_dump(name).splitlines()
    return sorted(
        {line.partition(":")[0] for line in lines if ": registered at " in line and not line.startswith("debug")}
    )


def results_of(torch, op, lead, features, outs, bias, activation, passed):
    """What an operator computes, what it would, its gradients, and a batch of it."""
    x, weight, bias = inputs = arguments(torch, lead, features, outs, bias)
    asked = [each.requires_grad_() for each in inputs if each is not None]
    given = (x, weight, bias, activation)[:passed]
    result = op(*given)
    gradients = torch.autograd.grad((result * numbers(torch, result.shape, 4)).sum(), asked)
    meta = op(*[each.to("meta") if isinstance(each, torch.Tensor) else each for each in given])
    in_dims = (0, None, None, None)[:passed]
    batch = torch.vmap(op, in_dims)(torch.stack([x.detach() + i for i in range(3)]), *given[1:])
    own = torch.vmap(op, (0, 0, *in_dims[2:]))(
        *[torch.stack([each.detach(), each + 1]) for each in given[:2]], *given[2:]
    )
    found = {"result": plain(result), "gradients": [plain(each) for each in gradients], "meta": metadata(meta.detach())}
    return found | {"batch": plain(batch), "batch of weights": plain(own)}


def calls_of(torch, namespace, op, lead, features, outs, bias, activation, passed):
    """What of an operator arrives at a device, for one example and for a batch, and what is multiplied where there are no
    data."""
    given = (*arguments(torch, lead, features, outs, bias), activation)[:passed]
    batch = torch.stack([given[0], given[0] + 1])
    for each in given[:2]:
        each.requires_grad_()
    with recorded(SHAPES) as alone:
        op(*given)
    with recorded(SHAPES) as together:
        torch.vmap(op, (0, None, None, None)[:passed])(batch, *given[1:])
    meta = [each.to("meta") if isinstance(each, torch.Tensor) else each for each in given]
    _, without_data = called_inside(lambda: op(*meta))
    products = sorted(without_data & {*PRODUCTS, "matmul", "linear"})
    alone, together = ([name.replace(namespace, "ns") for name in names] for names in (alone, together))
    return {"arrives": alone, "arrives of a batch": together, "products without data": products}


_ARRIVES = {"arrives": ["ns::fused_linear"], "arrives of a batch": ["ns::fused_linear"], "products without data": []}


def _passed(st):
    def settled(case):
        passed = case["passed"] if case["activation"] == "none" else 4
        return case | {"passed": passed, "bias": case["bias"] and passed > 2}

    return _shapes(st, passed=st.integers(2, 4)).map(settled)


_PASSED = [_shape(lead=[2, 3], activation=name, passed=4) for name in ACTIVATIONS]
_PASSED += [
    _shape(lead=[3], passed=3),
    _shape(lead=[3], bias=False, passed=2),
    _shape(lead=[], bias=False, activation="relu", passed=4),
]

_about_registering = explained(
    schema="the schema is inferred from the annotations of the kernel, and says what is written to",
    kernels="one registration for each: the kernel, the fake one, the derivative, the batching rule",
    gradients="register_autograd takes the backward, and by name setup_context",
    meta="on tensors without data the fake kernel runs",
    batch="the batching rule gets the operator as its first argument",
    batch_of_weights="the batching rule gets the operator as its first argument",
    returned="what torch.library.custom_op made is returned",
    arrives_of_a_batch="what the batching rule calls is the operator, which stays one operator in a graph; not its kernel",
    products_without_data="the fake kernel computes no product: it is fused_linear_fake",
)


@program(
    "custom_ops.register_fused_linear", cases=_passed, edges=_PASSED, hint=_about_registering, draws=15, disposable=True
)
def registration(xp, lead, features, outs, bias, activation, passed):
    torch, namespace = xp.custom_ops.torch, fresh_namespace()
    op = xp.custom_ops.register_fused_linear(namespace)
    found = registered(torch, namespace, "fused_linear") | {"returned": type(op).__name__}
    sizes = (lead, features, outs, bias, activation, passed)
    return found | results_of(torch, op, *sizes) | calls_of(torch, namespace, op, *sizes)


@registration.oracle
def torch_registration(torch, lead, features, outs, bias, activation, passed):
    def op(x, weight, bias=None, activation="none"):
        return linear(torch, x, weight, bias, activation)

    namespace = fresh_namespace()
    own = torch.library.custom_op(f"{namespace}::fused_linear", op, mutates_args=(), schema=_SCHEMA)
    own.register_vmap(op)
    found = registered(torch, namespace, "fused_linear") | {"returned": type(own).__name__}
    return found | results_of(torch, op, lead, features, outs, bias, activation, passed) | _ARRIVES


def captured(torch, namespace, lead, features, outs, bias, activation, lengths):
    """What torch.compile and torch.export make of a function that calls an operator, for batches of some lengths."""
    op, graphs, results = getattr(torch.ops, namespace).fused_linear, [], []
    x, weight, bias = inputs = arguments(torch, lead, features, outs, bias)

    class Head(torch.nn.Module):
        def forward(self, x, weight, bias):
            return op(x, weight, bias, activation) * 2

    def backend(graph, inputs):
        graphs.append(graph)
        return graph.forward

    compiled = torch.compile(Head(), fullgraph=True, backend=backend)
    for length in lengths:
        results.append(plain(compiled(torch.cat([x] * length), weight, bias)))
    sizes = {"x": {0: torch.export.Dim("batch")}, "weight": None, "bias": None}
    exported = torch.export.export(Head(), inputs, dynamic_shapes=sizes).graph_module
    return {
        "calls": calls_in(graphs[-1], namespace),
        "compilations": len(graphs),
        "results": results,
        "exported": calls_in(exported, namespace),
    }


def calls_in(graph, namespace):
    """The functions that a graph calls. The operator's namespace is `ns`."""
    calls = [node.target for node in graph.graph.nodes if node.op == "call_function"]
    return [str(call).replace(namespace, "ns") for call in calls]


def _series(st):
    return _shapes(st, lengths=st.lists(st.integers(1, 6), min_size=1, max_size=4, unique=True)).map(
        lambda case: case | {"lead": [2, *case["lead"][:1]]}
    )


_about_compiling = explained(
    calls="in a graph the operator is one call",
    compilations="a comparison of sizes in the fake kernel makes a graph right for some batches only",
    exported="in an exported graph the operator is one call",
)


@program(
    "custom_ops.register_fused_linear.compiled",
    cases=_series,
    edges=[
        _shape(lead=[2], activation="gelu", lengths=[1, 2, 4, 3]),
        _shape(lead=[2, 3], bias=False, lengths=[3, 1]),
    ],
    hint=_about_compiling,
    draws=3,
    disposable=True,
)
def compiling(xp, lead, features, outs, bias, activation, lengths):
    namespace = fresh_namespace()
    xp.custom_ops.register_fused_linear(namespace)
    return captured(xp.custom_ops.torch, namespace, lead, features, outs, bias, activation, lengths)


@compiling.oracle
def torch_compiling(torch, lead, features, outs, bias, activation, lengths):
    def op(x, weight, bias=None, activation="none"):
        return linear(torch, x, weight, bias, activation)

    namespace = fresh_namespace()
    own = torch.library.custom_op(f"{namespace}::fused_linear", op, mutates_args=(), schema=_SCHEMA)
    own.register_fake(op)
    return captured(torch, namespace, lead, features, outs, bias, activation, lengths)


# As a Function -------------------------------------------------------------------------------------------------------

_TRANSFORMS = ("forward", "backward", "twice", "grad", "jacrev", "vmap", "vmap of grad", "grad of vmap", "compile")


def transformed(torch, op, transform, inputs):
    """What becomes of an operator of one, two or three tensors by one of torch's transforms."""
    func = torch.func

    def total(*inputs):
        return (op(*inputs) ** 2).sum()

    def gradients(*inputs):
        return torch.autograd.grad(total(*inputs), inputs)

    every, first_only = tuple(range(len(inputs))), (0, *[None] * (len(inputs) - 1))
    if transform in ("backward", "twice", "compile"):
        inputs = [each.detach().requires_grad_() for each in inputs]
    if transform == "forward":
        return op(*inputs)
    if transform == "backward":
        return gradients(*inputs)
    if transform == "twice":
        first = torch.autograd.grad(total(*inputs), inputs, create_graph=True)
        return torch.autograd.grad(sum((each**2).sum() for each in first), inputs)
    if transform == "grad":
        return func.grad(total, every)(*inputs)
    if transform == "jacrev":
        return func.jacrev(op, every)(*inputs)
    if transform == "compile":
        compiled = torch.compile(total, fullgraph=True, backend="aot_eager")
        return torch.autograd.grad(compiled(*inputs), inputs)
    batch = [torch.stack([each, each + 0.5, each - 1]) for each in inputs]
    if transform == "vmap":
        return func.vmap(op)(*batch), func.vmap(op, first_only)(batch[0], *inputs[1:])
    if transform == "vmap of grad":
        return func.vmap(func.grad(total, every))(*batch)
    own = func.grad(lambda *batch: func.vmap(total)(*batch).sum(), every)(*batch)
    return own + func.grad(lambda *batch: func.vmap(total, first_only)(*batch).sum(), every)(batch[0], *inputs[1:])


def _functions(st):
    return _passed(st).flatmap(
        lambda case: st.sampled_from(_TRANSFORMS[:-1]).map(lambda transform: case | {"transform": transform})
    )


_about_functions = explained(
    calls_of_op="forward calls op, once; a batch without weights of its own is one call too",
    result="forward without ctx, setup_context, backward, vmap; in the batching rule the class's own apply takes the place of op",
    bases="a subclass of torch.autograd.Function",
)


@program(
    "custom_ops.fused_linear_function",
    cases=_functions,
    edges=[
        *[_shape(lead=[2], activation="gelu", passed=4, transform=transform) for transform in _TRANSFORMS],
        *[
            _shape(lead=[2], activation="tanh", bias=False, passed=4, transform=transform)
            for transform in _TRANSFORMS[:-1]
        ],
        *[_shape(lead=[2], bias=False, passed=2, transform=transform) for transform in _TRANSFORMS[:-1]],
        *[_shape(lead=[2], passed=3, transform=transform) for transform in _TRANSFORMS[:-1]],
    ],
    hint=_about_functions,
    draws=40,
)
def functions(xp, lead, features, outs, bias, activation, passed, transform):
    torch, calls = xp.custom_ops.torch, []

    def op(x, weight, bias=None, activation="none"):
        calls.append(activation)  # what autograd sees nothing of, as of an operator
        return linear(torch, *[each if each is None else each.detach() for each in (x, weight, bias)], activation)

    made = xp.custom_ops.fused_linear_function(op)
    tensors = [each for each in arguments(torch, lead, features, outs, bias) if each is not None]
    rest = (() if bias or passed == 2 else (None,)) + (activation,) * (passed == 4)
    found = transformed(torch, lambda *inputs: made.apply(*inputs, *rest), transform, tensors)
    found = [plain(each) for each in (found if isinstance(found, tuple) else (found,))]
    alone = calls if transform in ("forward", "backward", "twice", "grad", "jacrev") else []
    return {
        "result": found,
        "bases": [each.__name__ for each in made.__mro__ if each is torch.autograd.Function],
        "calls of op": alone,
    }


@functions.oracle
def torch_functions(torch, lead, features, outs, bias, activation, passed, transform):
    tensors = [each for each in arguments(torch, lead, features, outs, bias) if each is not None]

    def op(x, weight, bias=None):
        return linear(torch, x, weight, bias, activation)

    found = transformed(torch, op, transform if transform != "compile" else "backward", tensors)
    found = [plain(each) for each in (found if isinstance(found, tuple) else (found,))]
    calls = [activation] if transform in ("forward", "backward", "twice", "grad", "jacrev") else []
    return {"result": found, "bases": ["Function"], "calls of op": calls}


# Key by key ----------------------------------------------------------------------------------------------------------

_about_libraries = explained(
    schema="the library defines SCHEMA",
    kernels="one kernel for each of CPU, Meta and Autograd, and the batching rule for FuncTorchBatched",
    result="for the key CPU: the kernel",
    gradients="for the key Autograd: the Function over the operator below autograd, or the two call one another for ever",
    meta="for the key Meta: the fake kernel",
    batch="the batching rule gets the operator as its first argument",
    arrives="the Function goes around the operator below autograd: it arrives there as one operator, and not its kernel's parts",
    arrives_of_a_batch="what the batching rule calls is the operator, which stays one operator in a graph; not its kernel",
    products_without_data="for the key Meta: the fake kernel, which computes no product",
    left_behind="what is registered with the library goes with it",
)


@program(
    "custom_ops.library_fused_linear", cases=_passed, edges=_PASSED, hint=_about_libraries, draws=15, disposable=True
)
def libraries(xp, lead, features, outs, bias, activation, passed):
    torch, namespace = xp.custom_ops.torch, fresh_namespace()
    owner = torch.library.Library(namespace, "DEF")  # of which there is one for a namespace
    library = xp.custom_ops.library_fused_linear(namespace)
    op = getattr(torch.ops, namespace).fused_linear
    found = registered(torch, namespace, "fused_linear")
    found |= {"returned": [each.__name__ for each in type(library).__mro__]}
    sizes = (lead, features, outs, bias, activation, passed)
    found |= results_of(torch, op, *sizes) | calls_of(torch, namespace, op, *sizes)
    library._destroy()
    owner._destroy()
    return found | {"left behind": keys_of(torch, f"{namespace}::fused_linear")}


@libraries.oracle
def torch_libraries(torch, lead, features, outs, bias, activation, passed):
    def op(x, weight, bias=None, activation="none"):
        return linear(torch, x, weight, bias, activation)

    namespace = fresh_namespace()
    library = torch.library.Library(namespace, "FRAGMENT")
    library.define("fused_linear" + _SCHEMA)
    for key in ("CPU", "Meta", "Autograd", "FuncTorchBatched"):
        library.impl("fused_linear", op, key)
    found = registered(torch, namespace, "fused_linear") | {"returned": ["Library", "object"]}
    found |= results_of(torch, op, lead, features, outs, bias, activation, passed) | _ARRIVES
    library._destroy()
    return found | {"left behind": keys_of(torch, f"{namespace}::fused_linear")}


# Changing arguments --------------------------------------------------------------------------------------------------


def _steps(st):
    layout = st.sampled_from(["", "gaps", "backwards"])
    return st.fixed_dictionaries(
        {
            "sizes": st.lists(st.integers(0, 4), max_size=3),
            "layouts": st.tuples(layout, layout, st.sampled_from(["", "gaps", "equal"])).map(list),
            "lr": st.sampled_from([0.0, 0.1, 0.5, 1.0, 2.0]),
            "momentum": st.sampled_from([0.0, 0.5, 0.9, 1.0]),
            "kind": st.sampled_from(["float32", "float64"]),
        }
    )


def _step(sizes=(3,), layouts=("", "", ""), lr=0.5, momentum=0.9, kind="float64"):
    return {"sizes": list(sizes), "layouts": list(layouts), "lr": lr, "momentum": momentum, "kind": kind}


def steps_of(torch, sizes, layouts, kind):
    """weight, buffer and gradient."""
    return [laid_out(torch, numbers(torch, sizes, i, kind).clone(), layout) for i, layout in enumerate(layouts)]


_about_steps = explained(
    weight="the weight goes down by lr times the new buffer, in its own memory, where a view of it sees it",
    buffer="the buffer is made smaller by momentum before the gradient is added, in its own memory, where a view of it sees it",
    grad="the gradient is only read",
    returned="nothing is returned: what is returned would share memory with an argument",
)


@program(
    "custom_ops.momentum_step",
    cases=_steps,
    edges=[
        *(_step(), _step([2, 3]), _step([]), _step([0, 2]), _step(lr=0.0), _step(momentum=0.0), _step(kind="float32")),
        *(_step([2, 3], ("gaps", "gaps", "")), _step([2, 3], ("backwards", "", "equal"))),
    ],
    hint=_about_steps,
)
def steps(xp, sizes, layouts, lr, momentum, kind):
    torch = xp.custom_ops.torch
    weight, buffer, grad = steps_of(torch, sizes, layouts, kind)
    views = [each.detach() for each in (weight, buffer, grad)]
    with recorded([*POINTWISE, *SHAPES]) as beyond:
        returned = xp.custom_ops.momentum_step(weight, buffer, grad, lr, momentum)
    weight, buffer, grad = map(plain, views)  # what is in memory now
    return {"weight": weight, "buffer": buffer, "grad": grad, "returned": returned, "beyond": beyond}


@steps.oracle
def torch_steps(torch, sizes, layouts, lr, momentum, kind):
    weight, buffer, grad = steps_of(torch, sizes, layouts, kind)
    weight.grad = grad
    optimizer = torch.optim.SGD([weight], lr=lr, momentum=momentum)
    optimizer.state[weight]["momentum_buffer"] = buffer
    optimizer.step()
    if momentum == 0:  # then torch keeps no buffer
        buffer = grad
    return {"weight": plain(weight), "buffer": plain(buffer), "grad": plain(grad), "returned": None, "beyond": []}


_about_mutation = explained(
    schema="mutates_args names what the operator writes to",
    kernels="an operator that writes to its arguments has a kernel for ADInplaceOrView, which raises their versions",
    calls="what writes to its arguments is made functional in the graph: then nothing is lost or out of order",
    versions="both that are written to have another version afterwards, the gradient has not",
)


def in_training(torch, namespace, sizes, layouts, lr, momentum, kind):
    """What a step does to versions, and what a graph and what it computes become of a function that makes two steps."""
    from functorch.compile import make_boxed_func
    from torch._dynamo.backends.common import aot_autograd

    op, graphs = getattr(torch.ops, namespace).momentum_step, []
    inputs = steps_of(torch, sizes, layouts, kind)
    before = [each._version for each in inputs]
    op(*inputs, lr, momentum)
    versions = [each._version != old for each, old in zip(inputs, before)]

    def keep(graph, inputs):
        graphs.append(graph)
        return make_boxed_func(graph.forward)

    def train(weight, buffer, grad):
        op(weight, buffer, grad, lr, momentum)
        seen = weight * 2
        op(weight, buffer, grad, lr, momentum)
        return seen + buffer

    inputs = steps_of(torch, sizes, layouts, kind)
    seen = torch.compile(train, fullgraph=True, backend=aot_autograd(fw_compiler=keep))(*inputs)
    return {
        "versions": versions,
        "calls": calls_in(graphs[-1], namespace),
        "seen": plain(seen),
        "after": [plain(each) for each in inputs],
    }


@program(
    "custom_ops.register_momentum_step",
    cases=lambda st: _steps(st).map(lambda case: case | {"sizes": [3, 2], "layouts": ["", "", ""]}),
    edges=[_step(), _step([2, 3])],
    hint=_about_mutation,
    draws=4,
    disposable=True,
)
def mutation(xp, sizes, layouts, lr, momentum, kind):
    torch, namespace = xp.custom_ops.torch, fresh_namespace()
    xp.custom_ops.register_momentum_step(namespace)
    found = registered(torch, namespace, "momentum_step")
    return found | in_training(torch, namespace, sizes, layouts, lr, momentum, kind)


@mutation.oracle
def torch_mutation(torch, sizes, layouts, lr, momentum, kind):
    def step(weight, buffer, grad, lr, momentum):
        buffer.mul_(momentum).add_(grad)
        weight.add_(buffer, alpha=-lr)

    namespace = fresh_namespace()
    schema = "(Tensor(a0!) weight, Tensor(a1!) buffer, Tensor grad, float lr, float momentum) -> ()"
    mutated = ("weight", "buffer")
    torch.library.custom_op(f"{namespace}::momentum_step", step, mutates_args=mutated, schema=schema)
    found = registered(torch, namespace, "momentum_step")
    return found | in_training(torch, namespace, sizes, layouts, lr, momentum, kind)


# What breaks ---------------------------------------------------------------------------------------------------------

_WAYS = [("custom_op", rule, body) for rule in ("none", "own") for body in ("torch", "numpy")]
_WAYS += [
    (kind, rule, body)
    for kind in ("ctx in forward", "setup_context")
    for rule in ("none", "own", "generated")
    for body in ("torch", "numpy")
]
_FATES = ("backward", "twice", "vmap", "grad", "vmap of grad", "jacrev", "jvp", "compile", "export")
_KNOWN = {}  # what has been tried: the judge tries each once


def _fate(kind, rule, body, transform):
    return {"kind": kind, "rule": rule, "body": body, "transform": transform}


def _about_fates(case, mine, theirs):
    return "try it: make such a function, apply the transform, and see"


@program(
    "custom_ops.what_breaks",
    cases=lambda st: st.tuples(st.sampled_from(_WAYS), st.sampled_from(_FATES)).map(
        lambda each: _fate(*each[0], each[1])
    ),
    edges=[
        _fate(*way, transform)
        for way in _WAYS
        for transform in _FATES
        if way[1] == "own" or transform not in ("compile", "export")  # which take a while
    ],
    hint=_about_fates,
    draws=5,
)
def fates(xp, kind, rule, body, transform):
    with recorded() as beyond:
        result = xp.custom_ops.what_breaks(kind, rule, body, transform)
    return {"result": result, "beyond": beyond}


@fates.oracle
def torch_fates(torch, kind, rule, body, transform):
    torch._C._functorch._set_vmap_fallback_warning_enabled(False)
    key = (kind, rule, body, transform)
    if key in _KNOWN:
        return {"result": _KNOWN[key], "beyond": []}

    def cube(x):
        return x * x * x if body == "torch" else torch.from_numpy(x.detach().numpy() ** 3)

    def backward(ctx, grad):
        (x,) = ctx.saved_tensors
        if body == "torch":
            return 3 * grad * x * x
        return torch.from_numpy(3 * grad.detach().numpy() * x.detach().numpy() ** 2)

    def setup_context(ctx, inputs, output):
        ctx.save_for_backward(*inputs)

    def forward_with_context(ctx, x):
        ctx.save_for_backward(x)
        return cube(x)

    def made():
        if kind == "custom_op":
            op = torch.library.custom_op(
                f"{fresh_namespace()}::cube", cube, mutates_args=(), schema="(Tensor x) -> Tensor"
            )
            op.register_fake(torch.empty_like)
            op.register_autograd(backward, setup_context=setup_context)
            if rule == "own":
                op.register_vmap(lambda info, in_dims, x: (op(x), in_dims[0]))
            return op
        methods = {"forward": cube, "setup_context": setup_context}
        if kind == "ctx in forward":
            methods = {"forward": forward_with_context}
        methods["backward"] = backward
        if rule == "own":
            methods["vmap"] = lambda info, in_dims, x: (function.apply(x), in_dims[0])
        members = {name: staticmethod(method) for name, method in methods.items()}
        members["generate_vmap_rule"] = rule == "generated"
        function = type("Cube", (torch.autograd.Function,), members)
        return function.apply

    def outcome(f):
        def total(x):
            return f(x).sum()

        x = numbers(torch, [2, 3])
        if transform in ("backward", "twice", "compile"):
            x.requires_grad_()
        if transform == "compile":
            f = torch.compile(f, fullgraph=True, backend="aot_eager")
        if transform in ("backward", "compile"):
            return torch.autograd.grad(f(x).sum(), x)[0]
        if transform == "twice":
            (first,) = torch.autograd.grad(f(x).sum(), x, create_graph=True)
            return torch.autograd.grad(first.sum(), x)[0]
        if transform == "export":

            class Cube(torch.nn.Module):
                def forward(self, x):
                    return f(x)

            return torch.export.export(Cube(), (x,)).module()(x)
        return {
            "vmap": lambda: torch.vmap(f)(x),
            "grad": lambda: torch.func.grad(total)(x),
            "vmap of grad": lambda: torch.vmap(torch.func.grad(total))(x),
            "jacrev": lambda: torch.func.jacrev(f)(x),
            "jvp": lambda: torch.func.jvp(f, (x,), (torch.ones_like(x),))[1],
        }[transform]()

    try:
        found = "right" if torch.allclose(outcome(made()), outcome(lambda x: x * x * x)) else "wrong"
    except Exception as error:
        found = error_name(error)
    _KNOWN[key] = found
    return {"result": found, "beyond": []}


# The head, trained ---------------------------------------------------------------------------------------------------


def _trainings(st):
    return _shapes(st, steps=st.integers(1, 3), compiled=st.booleans(), momentum=st.sampled_from([0.5, 0.9])).map(
        lambda case: case | {"lead": [2 + len(case["lead"])]}
    )


def losses_of(torch, head, step, compiled, lead, features, outs, bias, activation, steps, momentum):
    """A head trained by some steps: the losses, and its parameters afterwards."""
    x, *parameters = (each for each in arguments(torch, lead, features, outs, bias) if each is not None)
    target, losses = numbers(torch, [*lead, outs], 7), []
    parameters = [each.requires_grad_() for each in parameters]
    buffers = [torch.zeros_like(each) for each in parameters]

    def loss_of(*parameters):
        result = head(x, *parameters, *[None] * (2 - len(parameters)), activation)
        return ((result - target) ** 2).mean()

    if compiled:
        loss_of = torch.compile(loss_of, fullgraph=True, backend="aot_eager")
    for _ in range(steps):
        loss = loss_of(*parameters)
        gradients = torch.autograd.grad(loss, parameters)
        losses.append(plain(loss))
        with torch.no_grad():
            for parts in zip(parameters, buffers, gradients):
                step(*parts, 0.1, momentum)
    return {"losses": losses, "parameters": [plain(each) for each in parameters]}


@program(
    "together.custom_ops",
    cases=_trainings,
    edges=[_shape(steps=2, compiled=compiled, momentum=0.9, activation="gelu") for compiled in (False, True)],
    draws=4,
)
def training(xp, lead, features, outs, bias, activation, steps, compiled, momentum):
    torch, namespace = xp.custom_ops.torch, fresh_namespace()
    xp.custom_ops.register_fused_linear(namespace)
    xp.custom_ops.register_momentum_step(namespace)
    ops = getattr(torch.ops, namespace)
    sizes = (lead, features, outs, bias, activation, steps, momentum)
    return losses_of(torch, ops.fused_linear, ops.momentum_step, compiled, *sizes)


@training.oracle
def torch_training(torch, lead, features, outs, bias, activation, steps, compiled, momentum):
    def head(x, weight, bias, activation):
        return linear(torch, x, weight, bias, activation)

    def step(weight, buffer, grad, lr, momentum):
        weight.grad = grad
        optimizer = torch.optim.SGD([weight], lr=lr, momentum=momentum)
        optimizer.state[weight]["momentum_buffer"] = buffer
        optimizer.step()

    sizes = (lead, features, outs, bias, activation, steps, momentum)
    return losses_of(torch, head, step, False, *sizes)


# In C++ --------------------------------------------------------------------------------------------------------------

HEADERS = words(
    """torch/library.h ATen/core/Tensor.h ATen/Dispatch.h ATen/Parallel.h ATen/ops/empty.h ATen/ops/empty_like.h"""
)
# what a kernel may call of PyTorch's operators: what allocates, copies and turns, and what these call
_PLUMBING = {"empty", "empty_like", "empty_strided", "contiguous", "clone", "copy_", "to", "_to_copy", "detach"}
_PLUMBING |= {"as_strided", "view", "reshape", "expand", "expand_as", "select", "slice", "t", "transpose", "flatten"}
_PLUMBING |= {"unsqueeze", "squeeze", "narrow", "unbind", "_unsafe_view", "_reshape_alias", "alias", "permute"}


def calls_from_cpp(call):
    """What a call returns, and aten's operators that it called, computing ones only: the profiler sees them in C++ too."""
    result, names = called_inside(call)
    return result, sorted(names - _PLUMBING)


def foreign_headers(text):
    """PyTorch's headers that a text includes beyond those that the exercise names."""
    found = re.findall(r"^\s*#\s*include\s*[<\"]([^>\"]+)", text, re.MULTILINE)
    return sorted(name for name in found if name.startswith(("ATen/", "torch/", "caffe2/")) and name not in HEADERS)


def _lines(st):
    @st.composite
    def draw_lines(draw):
        x = draw(tensors(st, (1, 4), 4, ("float32", "float32", "float64", "float64", "int64")))["tensor"]
        fault = draw(st.sampled_from(["none"] * 9 + ["size", "dims", "type"])) if x["dtype"] != "int64" else "none"
        return _line(x, draw(st.sampled_from([1, 1, 2, 0])), draw(st.sampled_from([1e-5, 0.5, 2.0])), fault)

    return draw_lines()


def _line(x, step=1, eps=1e-5, fault="none"):
    size, dtype = x["sizes"][-1], x["dtype"]
    shape = {"size": [size + 1], "dims": [1, size]}.get(fault, [size])
    dtype = {"float32": "float64", "float64": "float32"}[dtype] if fault == "type" else dtype
    return {"x": {"tensor": x}, "weight": tensor(shape, [step] * len(shape), 1, dtype), "eps": eps}


def _line_edges():
    for sizes, strides, offset, dtype, step, eps in (
        ([2, 3], None, 0, "float32", 1, 1e-5),
        ([2, 3], None, 0, "float64", 1, 2.0),
        ([3], None, 2, "float32", 1, 0.5),
        ([3], [2], 1, "float64", 1, 0.5),
        ([3, 4], [1, 3], 1, "float32", 1, 1e-5),
        ([3, 4], [1, 3], 1, "float64", 2, 1e-5),
        ([3, 4], [0, 1], 5, "float32", 1, 1e-5),
        ([3, 4], [1, 0], 5, "float64", 0, 1e-5),
        ([3, 4], [9, 2], 1, "float32", 1, 1e-5),
        ([2, 3, 4], [1, 8, 2], 3, "float64", 3, 1e-5),
        ([2, 3, 4], [4, 8, 1], 0, "float32", 1, 1e-5),
        ([3, 2, 2, 2, 3], None, 1, "float64", 1, 0.25),
        ([1, 1], None, 0, "float32", 1, 1e-5),
        ([4, 1], [1, 1], 1, "float32", 1, 0.125),
        ([0, 3], None, 0, "float32", 1, 1e-5),
        ([2, 0], None, 0, "float64", 1, 1e-5),
        ([2, 0, 3], None, 0, "float64", 1, 1e-5),
        ([2, 37], None, 0, "float32", 1, 1e-5),
        ([4096, 32], None, 0, "float32", 1, 1e-5),  # short lines: a plain sum in float32 will do
        ([2, 3], None, 0, "int64", 1, 1e-5),
        ([0], None, 0, "int64", 1, 1e-5),
    ):
        yield _line(tensor(sizes, strides, offset, dtype)["tensor"], step, eps)
    for shape in ([2], [4], [1], [0], [1, 3], [2, 3], [3, 1], []):
        yield {"x": tensor([2, 3], dtype="float32"), "weight": tensor(shape, dtype="float32"), "eps": 1e-5}
    yield {"x": tensor([], [], 2, "float32"), "weight": tensor([1], dtype="float32"), "eps": 1e-5}
    yield {"x": tensor([], [], 2, "float32"), "weight": tensor([], dtype="float32"), "eps": 1e-5}
    yield _line(tensor([2, 3], dtype="float32")["tensor"], fault="type")
    yield _line(tensor([2, 3], dtype="float64")["tensor"], fault="type")


_DIED = (
    "the C++ ended the process that it ran in, as it would the notebook's: SIGFPE is an integer divided by 0 (a size, perhaps), "
    "SIGSEGV and SIGABRT are mostly an index outside memory, SIGALRM is a loop without an end"
)
CPP_SECONDS = 10  # a call takes a thousandth of one


def _about_lines(case, mine, theirs):
    if isinstance(mine, dict) and "no C++ compiler" in str(mine.get("message", "")):
        return "the machine that ran this has no C++ compiler: nothing is said about your text; tell whoever grades"
    if isinstance(mine, dict) and "child process died" in str(mine.get("message", "")):
        return _DIED
    if first_apart(mine, theirs) == "beyond":
        return "the arithmetic is the text's own: of ATen's operators it calls what allocates and copies, and includes no others"
    if first_apart(mine, theirs) == "result" and any(
        case[name]["tensor"]["strides"][-1:] != [1] for name in ("x", "weight")
    ):
        return "x and weight may have any strides; the lines of a contiguous copy come one after the other"
    return None


@program("cpp_ops.rms_norm_source", cases=_lines, edges=list(_line_edges()), hint=_about_lines, draws=12)
def lines_in_cpp(xp, x, weight, eps):
    text = xp.cpp_ops.rms_norm_source()
    operators = xp.cpp_ops.build(text)
    before = plain(x), plain(weight)

    def call():
        result, beyond = calls_from_cpp(lambda: operators.rms_norm(x, weight, eps))
        found = {"result": plain(result), "contiguous": result.is_contiguous()}
        return found | {"arguments": before + (plain(x), plain(weight)), "beyond": beyond + foreign_headers(text)}

    return xp.backend.forked(call, seconds=CPP_SECONDS)  # C++ can take its process along


@lines_in_cpp.oracle
def torch_lines_in_cpp(torch, x, weight, eps):
    if weight.dtype != x.dtype:
        raise RuntimeError("one dtype for both")
    result = torch.nn.functional.rms_norm(x, x.shape[-1:], weight, eps)
    return {"result": plain(result), "contiguous": True, "arguments": [plain(x), plain(weight)] * 2, "beyond": []}


def seen_by_tools(torch, op, namespace, lead, size, step, kind):
    """An operator's registration, what it makes of tensors without data, and what torch.compile makes of it."""
    graphs = []

    def backend(graph, inputs):
        graphs.append(graph)
        return graph.forward

    def arguments(length):
        x = numbers(torch, [length, *lead, size], 1, kind)
        return laid_out(torch, x, "backwards" if step > 1 else ""), numbers(torch, [size * step], 2, kind)[::step]

    def without_data(shape, weight_shape, weight_kind=kind):
        x = torch.empty(shape, dtype=getattr(torch, kind), device="meta")
        weight = torch.empty(weight_shape, dtype=getattr(torch, weight_kind), device="meta")
        try:
            made = op(x if step == 1 else x.mT.contiguous().mT, weight)
            return [made.device.type, str(made.dtype), list(made.shape), made.is_contiguous()]
        except Exception as error:
            return error_name(error)

    def normalise(x, weight):
        return op(x, weight) * 2

    compiled = torch.compile(normalise, fullgraph=True, backend=backend)
    found = registered(torch, namespace, "rms_norm")
    found["meta"] = [without_data([3, *lead, size], [size]), without_data([0, size], [size])]
    found["refused"] = [
        without_data([3, size], *fault)
        for fault in ([[size + 1]], [[1, size]], [[]], [[size], "float32" if kind == "float64" else "float64"])
    ] + [without_data([2, 0], [1]), without_data([0, 0], [1, 0])]
    results = [plain(compiled(*arguments(length))) for length in (2, 3, 5)]
    return found | {"results": results, "calls": calls_in(graphs[-1], namespace), "compilations": len(graphs)}


def _tools(st):
    return st.fixed_dictionaries(
        {
            "lead": st.lists(st.integers(2, 3), max_size=2),
            "size": st.integers(1, 4),
            "step": st.integers(1, 2),
            "kind": st.sampled_from(["float32", "float64"]),
        }
    )


def _about_tools(case, mine, theirs):
    if isinstance(mine, dict) and "no C++ compiler" in str(mine.get("message", "")):
        return "the machine that ran this has no C++ compiler: nothing is said about your text; tell whoever grades"
    if isinstance(mine, dict) and "child process died" in str(mine.get("message", "")):
        return _DIED
    return explained(
        schema="TORCH_LIBRARY defines the schema that the docstring gives",
        kernels="one kernel for CPU and one for Meta",
        meta="the kernel for Meta returns what the other would: sizes, dtype and contiguous strides",
        refused="the kernel for Meta makes the same checks of sizes and dtypes",
        compilations="sizes as numbers bind a graph to one batch: sym_size, sym_sizes, empty_symint leave them symbols",
    )(case, mine, theirs)


@program(
    "cpp_ops.rms_norm_source.compiled",
    cases=_tools,
    edges=[
        {"lead": [], "size": 3, "step": 1, "kind": "float32"},
        {"lead": [2, 3], "size": 4, "step": 2, "kind": "float64"},
    ],
    hint=_about_tools,
    draws=2,
    disposable=True,
)
def cpp_under_compile(xp, lead, size, step, kind):
    import torch._dynamo  # here, or every child imports it

    torch, operators = xp.cpp_ops.torch, xp.cpp_ops.build(xp.cpp_ops.rms_norm_source())
    op, namespace = operators.rms_norm.default, operators.name
    return xp.backend.forked(seen_by_tools, torch, op, namespace, lead, size, step, kind)


@cpp_under_compile.oracle
def torch_cpp_under_compile(torch, lead, size, step, kind):
    def rms_norm(x, weight, eps=1e-5):
        torch._check(x.dim() > 0)
        torch._check(weight.dim() == 1)
        torch._check(weight.shape[0] == x.shape[-1])
        if weight.dtype != x.dtype:
            raise RuntimeError("one dtype for both")
        if x.device.type == "meta":
            return torch.empty(x.shape, dtype=x.dtype, device=x.device)
        return torch.nn.functional.rms_norm(x, x.shape[-1:], weight, eps).contiguous()

    namespace = fresh_namespace()
    library = torch.library.Library(namespace, "DEF")
    library.define("rms_norm(Tensor x, Tensor weight, float eps=1e-5) -> Tensor")
    library.impl("rms_norm", rms_norm, "CPU")
    library.impl("rms_norm", rms_norm, "Meta")
    op = getattr(torch.ops, namespace).rms_norm.default
    return seen_by_tools(torch, op, namespace, lead, size, step, kind)


# A wrapper -----------------------------------------------------------------------------------------------------------

ROUNDING = ("round", "floor", "ceil", "trunc", "frac", "fix", "remainder", "fmod", "copysign", "sgn", "signbit")
LARGEST = ("amax", "amin", "max", "min", "aminmax", "sort", "topk", "linalg_vector_norm", "gather", "any", "all")
LARGEST += ("_local_scalar_dense",)  # of a number that a branch is about
BY_INDEX = ("index", "index_put", "index_fill", "index_select", "masked_scatter", "masked_select", "nonzero", "scatter")


def _rows(st):
    """Rows in quarters whose largest magnitude is odd in them: then nothing lies exactly between two integers."""

    @st.composite
    def draw_rows(draw):
        columns = draw(st.integers(1, 4))
        rows = []
        for _ in range(draw(st.integers(0, 4))):
            row = draw(st.lists(st.integers(-20, 20), min_size=columns, max_size=columns))
            if draw(st.integers(0, 4)):
                row[draw(st.integers(0, columns - 1))] = (21 + 2 * draw(st.integers(0, 9))) * draw(
                    st.sampled_from([1, -1])
                )
            else:
                row = [0] * columns
            rows.append([each / 4 for each in row])
        layout = draw(st.sampled_from(["", "", "gaps", "backwards"]))
        return {
            "rows": rows,
            "columns": columns,
            "kind": draw(st.sampled_from(["float32", "float64"])),
            "layout": layout,
        }

    return draw_rows()


def _row(*rows, kind="float64", layout=""):
    return {
        "rows": [[float(each) for each in row] for row in rows],
        "columns": len(rows[0]),
        "kind": kind,
        "layout": layout,
    }


_ROWS = [
    _row([1, -2, 3]),
    _row([-7, 2, 3], kind="float32"),
    _row([1, -2, 3], [4, 5, -6.75], layout="backwards"),
    _row([1, -2, 3], [4, 5, -6.75], layout="gaps", kind="float32"),
    _row([0, 0], [0, 1], [-0.25, 0]),
    _row([0, 0], kind="float32"),
    _row([127, 0.5, 1.5, 2.5, -0.5, -1.5, -2.5, 3.5]),
    _row([-127, 0.5, 1.5, 126.5, -125.5], kind="float32"),
    _row([5], [-5], [0]),
    _row([0.25, 0.25], [1000, 3]),
    {"rows": [], "columns": 3, "kind": "float64", "layout": ""},
]


@program(
    "wrapper.quantise_rows",
    cases=_rows,
    edges=_ROWS,
    hint=explained(
        int_data="x / scale, rounded to the nearest integer (a half to the even one), in int8",
        scale="a row's largest magnitude divided by 127; 1 for a row of zeros",
    ),
)
def rows_in_int8(xp, rows, columns, kind, layout):
    torch = xp.wrapper.torch
    x = laid_out(torch, torch.tensor(rows, dtype=getattr(torch, kind)).reshape(len(rows), columns), layout)
    with recorded([*POINTWISE, *ROUNDING, *LARGEST, *SHAPES, *BY_INDEX]) as beyond:
        int_data, scale = xp.wrapper.quantise_rows(x)
    return {"int_data": plain(int_data), "scale": plain(scale), "x": plain(x), "beyond": beyond}


@rows_in_int8.oracle
def torch_rows_in_int8(torch, rows, columns, kind, layout):
    x = torch.tensor(rows, dtype=getattr(torch, kind)).reshape(len(rows), columns)
    scale = x.abs().amax(1) / 127
    scale = torch.where(scale == 0, 1, scale)
    return {"int_data": torch.round(x / scale[:, None]).to(torch.int8), "scale": scale, "x": plain(x), "beyond": []}


Pair = namedtuple("Pair", "first second")


def planted(spec, quantised, others):
    """A tree of arguments: the quantised ones and the other objects in it are those that are given, by number."""
    if not isinstance(spec, (list, tuple)):
        return spec
    kind, *items = spec
    if kind in ("q", "o"):
        return (quantised if kind == "q" else others)[items[0]]
    if kind == "dict":
        return {key: planted(item, quantised, others) for key, item in items}
    made = [planted(item, quantised, others) for item in items]
    return {"list": list, "tuple": tuple, "named": lambda each: Pair(*each)}[kind](made)


def unearthed(tree, quantised, others):
    """A tree as words: types of containers, and which object is where."""
    for name, known in (("q", quantised), ("o", others)):
        for number, each in enumerate(known):
            if tree is each:
                return f"{name}{number}"
    if isinstance(tree, dict):
        return [type(tree).__name__, [[key, unearthed(item, quantised, others)] for key, item in tree.items()]]
    if isinstance(tree, (list, tuple)):
        return [type(tree).__name__, [unearthed(item, quantised, others) for item in tree]]
    return repr(tree)


def _trees(st):
    leaf = st.one_of(
        st.tuples(st.just("q"), st.integers(0, 2)),
        st.tuples(st.just("q"), st.integers(0, 2)),
        st.tuples(st.just("o"), st.integers(0, 2)),
        st.sampled_from([None, 3, 0.5, "q", True]),
    )

    def grown(inner):
        some = st.lists(inner, max_size=3)
        return st.one_of(
            st.builds(lambda items: ["list", *items], some),
            st.builds(lambda items: ["tuple", *items], some),
            st.builds(lambda items: ["dict", *zip("bac", items)], some),
            st.builds(lambda a, b: ["named", a, b], inner, inner),
        )

    def as_lists(spec):
        return [as_lists(each) for each in spec] if isinstance(spec, (list, tuple)) else spec

    return st.builds(lambda tree: {"tree": as_lists(tree)}, st.recursive(leaf, grown, max_leaves=8))


_TREES = [
    {"tree": tree}
    for tree in (
        ["q", 0],
        ["o", 0],
        None,
        3,
        ["list"],
        ["tuple"],
        ["dict"],
        ["list", ["q", 0], ["o", 1], ["q", 1]],
        ["tuple", ["q", 0], ["o", 1], ["q", 0]],
        ["dict", ["b", ["q", 1]], ["a", ["o", 0]], ["c", ["q", 0]]],
        ["named", ["q", 0], ["q", 1]],
        ["named", ["list", ["q", 0]], ["dict", ["a", ["q", 2]]]],
        ["tuple", ["list", ["tuple", ["q", 0], ["dict", ["a", ["list", ["q", 1]]]]]], 3, "q"],
        ["tuple", ["list", ["o", 0], ["o", 2]], ["dict", ["z", 1], ["a", None]]],
    )
]


@program(
    "wrapper.map_quantised",
    cases=_trees,
    edges=_TREES,
    hint=explained(
        result="containers are made anew with the same types, keys and order; everything else is the very object that was there",
        same_containers="a list or a dict is made anew also where nothing in it is quantised",
        tree="the tree itself is not changed",
        order="the function is called once for each place, in the order of the tree",
    ),
)
def trees(xp, tree):
    module, torch = xp.wrapper, xp.wrapper.torch
    quantised = [
        module.QuantisedTensor(torch.ones(2, 2, dtype=torch.int8), numbers(torch, [2], i), i % 2) for i in range(3)
    ]
    watched = [
        "tree_map",
        "tree_map_",
        "tree_map_only",
        "tree_map_only_",
        "tree_flatten",
        "tree_unflatten",
        "tree_leaves",
    ]
    return mapped(torch, tree, quantised, module.map_quantised, [f"torch.utils._pytree.{name}" for name in watched])


def mapped(torch, tree, quantised, function, watched=()):
    """A tree before and after a function that maps it, and the order in which the objects in it were come by."""
    others, met = [torch.zeros(2), torch.ones(2, dtype=torch.int8), object()], []
    planted_tree = planted(tree, quantised, others)

    def meet(each):
        met.append(unearthed(each, quantised, others))
        return f"mapped {met[-1]}"

    with recorded((), watched) as beyond:
        result = function(meet, planted_tree)
    found = {"result": unearthed(result, quantised, others), "tree": unearthed(planted_tree, quantised, others)}
    before = {id(each) for each in changeable(planted_tree)}
    same = sum(id(each) in before for each in changeable(result))
    return found | {"same containers": same, "order": met, "beyond": beyond}


def changeable(tree):
    """The lists and dicts of a tree. (A tuple cannot be changed: whether it is the same one cannot matter.)"""
    items = tree.values() if isinstance(tree, dict) else tree if isinstance(tree, (list, tuple)) else ()
    below = [each for item in items for each in changeable(item)]
    return [tree, *below] if isinstance(tree, (list, dict)) else below


@trees.oracle
def torch_trees(torch, tree):
    from torch.utils._pytree import tree_map_only

    quantised = [torch.nn.Parameter(torch.ones(2, 2)) for _ in range(3)]
    return mapped(torch, tree, quantised, lambda function, tree: tree_map_only(torch.nn.Parameter, function, tree))


def quantised_parts(torch, shape, axis, layout, kind, start=0):
    """int8 numbers of both signs and a scale for each index of a dimension."""
    count = math.prod(shape)
    int_data = torch.tensor([(37 * i + 11 * start) % 255 - 127 for i in range(count)], dtype=torch.int8).reshape(shape)
    scale = torch.tensor([(i % 5 + 1 + start) * 0.25 for i in range(shape[axis])], dtype=getattr(torch, kind))
    return laid_out(torch, int_data, layout), scale


def floats_of(int_data, scale, axis):
    """The matrix for which the two stand."""
    return int_data.to(scale.dtype) * scale.unsqueeze(1 - axis)


def _products(st):
    @st.composite
    def draw_product(draw):
        k, m = draw(st.integers(0, 4)), draw(st.integers(0, 4))
        n = draw(st.sampled_from([n for n in range(6) if n not in (k, m)]))
        layout = draw(st.sampled_from(["", "", "backwards", "gaps"]))
        kind = draw(st.sampled_from(["float32", "float64"]))
        return {"n": n, "k": k, "m": m, "axis": draw(st.integers(0, 1)), "layout": layout, "kind": kind}

    return draw_product()


def _product(n, k, m, axis, layout="", kind="float64"):
    return {"n": n, "k": k, "m": m, "axis": axis, "layout": layout, "kind": kind}


@program(
    "wrapper.quantised_mm",
    cases=_products,
    edges=[
        *(_product(3, 2, 4, axis, layout) for axis in (0, 1) for layout in ("", "backwards", "gaps")),
        *(_product(2, 3, 3, axis, kind="float32") for axis in (0, 1)),
        *(
            _product(n, k, m, axis)
            for n, k, m in ((1, 4, 2), (0, 2, 3), (2, 0, 3), (2, 3, 0), (5, 1, 1))
            for axis in (0, 1)
        ),
    ],
    hint=explained(
        product="a scale of a column of q is a factor of a column of the product, a scale of a row of q one of a column of x",
        of_the_sizes_of_q="the scale multiplies the smaller things, before or after the product; q itself is only cast",
    ),
)
def products_with_int8(xp, n, k, m, axis, layout, kind):
    module, torch = xp.wrapper, xp.wrapper.torch
    int_data, scale = quantised_parts(torch, [k, m], axis, layout, kind)
    q, x = module.QuantisedTensor(int_data, scale, axis), laid_out(torch, numbers(torch, [n, k], 1, kind), layout)
    with recorded([*PRODUCTS, *POINTWISE, "sum", *SHAPES]) as beyond, module.CountOperators() as counted:
        product = module.quantised_mm(x, q)
    names = {name.split(".")[1] for name, sizes in counted.calls if sizes in ((k, m), (m, k))}
    names -= {*_PLUMBING, "diagonal"}
    found = {"class": type(product).__name__, "product": plain(product), "of the sizes of q": sorted(names)}
    return found | {"parts": [plain(q.int_data), plain(q.scale), plain(x)], "beyond": beyond}


@products_with_int8.oracle
def torch_products_with_int8(torch, n, k, m, axis, layout, kind):
    parts = quantised_parts(torch, [k, m], axis, "", kind)
    x = numbers(torch, [n, k], 1, kind)
    found = {"class": "Tensor", "product": x @ floats_of(*parts, axis), "of the sizes of q": []}
    return found | {"parts": [*map(plain, parts), x], "beyond": []}


def operation(torch, name, q, x, y, square):
    """Something that is done with a matrix q (rows, columns), x (n, columns), y (n, rows), and plain matrices like q."""
    aten, functional = torch.ops.aten, torch.nn.functional
    d = square
    return {
        "t": lambda: q.t(),
        "mT": lambda: q.mT,
        "transpose": lambda: q.transpose(-1, 0),
        "transpose to itself": lambda: q.transpose(1, -1),
        "transpose to itself from the end": lambda: q.transpose(-1, 1),
        "transpose from the end": lambda: q.transpose(-2, -1),
        "t t": lambda: q.t().t(),
        "t of clone": lambda: q.clone().t(),
        "detach": lambda: q.detach(),
        "clone": lambda: q.clone(),
        "clone row-major": lambda: q.t().clone(memory_format=torch.contiguous_format),
        "detach of t": lambda: q.t().detach(),
        "linear": lambda: functional.linear(x, q),
        "linear with bias": lambda: functional.linear(x, q, y[0]),
        "mm": lambda: y @ q,
        "mm with t": lambda: torch.mm(x, q.t()),
        "addmm": lambda: torch.addmm(x, y, q, beta=2, alpha=0.5),
        "addmm with beta": lambda: torch.addmm(x, y, q, beta=3),
        "addmm with alpha": lambda: torch.addmm(y, x, q.t(), alpha=-2),
        "addmm with a row": lambda: torch.addmm(x[0], y, q),
        "addmm without its first": lambda: torch.addmm(x * math.nan, y, q, beta=0, alpha=3),
        "mm from the left": lambda: q @ x.t(),
        "mm of both": lambda: q @ q.t(),
        "addmm to it": lambda: torch.addmm(q, y.t(), x),
        "addmm to it, of both": lambda: torch.addmm(q @ q.t(), q, q.t()),
        "addmm from the left": lambda: torch.addmm(y.t(), q, x.t()),
        "add": lambda: q + 1,
        "sub": lambda: 1 - q,
        "add with alpha": lambda: torch.add(d, q, alpha=2),
        "sum": lambda: q.sum(0),
        "cat": lambda: torch.cat([d, q, q]),
        "weights by name": lambda: torch.histogram(d, 2, weight=q),
        "stack": lambda: torch.stack((q, d), dim=1),
        "where": lambda: torch.where(q > d, q, 0.0),
        "select": lambda: q[0] + 0,
        "double": lambda: q.to(torch.float16),
        "foreach": lambda: torch._foreach_mul([d, q], 2.0),
        "foreach of lists": lambda: torch._foreach_add([d, d], [q, d]),
        "into a plain one": lambda: d.clone().add_(q),
        "copy into a plain one": lambda: d.clone().copy_(q),
        "out of a plain one": lambda: aten.add.out(q, d, out=torch.empty_like(d)),
        "into": lambda: q.add_(1),
        "into with its sum": lambda: d.clone().add_(q) + q.mul_(2),
        "copy into": lambda: q.copy_(d),
        "out": lambda: torch.add(d, d, out=q),
        "mm out": lambda: aten.mm.out(y, d, out=q),
        "foreach into": lambda: torch._foreach_add_([d.clone(), q], 1.0),
        "zero": lambda: q.zero_(),
        "t in place": lambda: q.t_(),
        "gradient": lambda: torch.autograd.grad(functional.linear(x.requires_grad_(), q).square().sum(), x)[0],
    }[name]()


_OPERATIONS = (
    "transpose to itself from the end",
    *("t", "mT", "transpose", "transpose to itself", "transpose from the end", "t t", "t of clone", "detach", "clone"),
    *("clone row-major", "detach of t", "linear", "linear with bias", "mm", "mm with t", "addmm", "addmm with beta"),
    *("addmm with alpha", "addmm with a row", "addmm without its first", "weights by name"),
    *("mm from the left", "mm of both", "addmm to it", "addmm to it, of both"),
    *("addmm from the left", "add", "sub", "add with alpha", "sum", "cat", "stack", "where", "select", "double"),
    *("foreach", "foreach of lists", "into a plain one", "copy into a plain one", "out of a plain one", "into"),
    *("into with its sum", "copy into", "out", "mm out", "foreach into", "zero", "t in place", "gradient"),
)


def done_with(torch, name, q, rows, columns, n, kind, values):
    """An operation on a matrix that may be a wrapper, and the sizes of what it multiplied by element; `values` makes it plain."""
    from torch.autograd.profiler_legacy import profile

    x, y, square = (
        numbers(torch, shape, i, kind) for i, shape in enumerate(([n, columns], [n, rows], [rows, columns]))
    )
    try:
        with profile(record_shapes=True) as seen:
            result = operation(torch, name, q, x, y, square)
    except Exception as error:
        return {"result": error_name(error)}
    sizes = [
        sorted(shape) for event in seen.function_events if event.name == "aten::mul" for shape in event.input_shapes
    ]
    found = {"result": [values(each) for each in result] if isinstance(result, (list, tuple)) else values(result)}
    if "mm" in name or "linear" in name or name == "gradient":
        found["multiplied all of it"] = sorted([rows, columns]) in sizes
    return found


def _dispatches(st):
    @st.composite
    def draw_dispatch(draw):
        rows, columns = draw(st.integers(1, 4)), draw(st.integers(1, 4))
        case = {"name": draw(st.sampled_from(_OPERATIONS)), "rows": rows, "columns": columns}
        case["n"] = draw(st.sampled_from([n for n in range(1, 6) if n not in (rows, columns)]))
        return case | {"axis": draw(st.integers(0, 1)), "kind": draw(st.sampled_from(["float32", "float64"]))}

    return draw_dispatch()


_about_dispatch = explained(
    result="what stays quantised, what is a view of what, and what is refused: the docstring goes through the operators",
    multiplied_all_of_it="a product with a quantised matrix on the right is quantised_mm's, transposed or not",
    q="nothing may change the matrix: an operator that would write into it is refused",
)


@program(
    "wrapper.quantised_dispatch",
    cases=_dispatches,
    edges=[
        {"name": name, "rows": 3, "columns": 2, "n": 4, "axis": axis, "kind": "float64"}
        for name in _OPERATIONS
        for axis in (0, 1)
    ],
    hint=_about_dispatch,
)
def dispatches(xp, name, rows, columns, n, axis, kind):
    module, torch = xp.wrapper, xp.wrapper.torch
    parts = quantised_parts(torch, [rows, columns], axis, "", kind)
    q = module.QuantisedTensor(*parts, axis)

    def values(result):
        if not isinstance(result, module.QuantisedTensor):
            return [type(result).__name__, plain(result)]
        parts = [plain(result.int_data), plain(result.scale)]
        same = [getattr(result, part).data_ptr() == getattr(q, part).data_ptr() for part in ("int_data", "scale")]
        strides = [list(result.stride()), list(result.int_data.stride())]
        return [
            "QuantisedTensor",
            *parts,
            result.axis,
            *strides,
            *same,
            result._is_view(),
            torch._C._is_alias_of(result, q),
        ]

    found = done_with(torch, name, q, rows, columns, n, kind, values)
    return found | {"q": [plain(q.int_data), plain(q.scale), q.axis]}


@dispatches.oracle
def torch_dispatches(torch, name, rows, columns, n, axis, kind):
    int_data, scale = parts = quantised_parts(torch, [rows, columns], axis, "", kind)
    turned = {"t", "mT", "transpose", "transpose from the end", "t of clone", "clone row-major", "detach of t"}
    others = ("transpose to itself", "transpose to itself from the end", "t t", "detach", "clone")
    turned = dict.fromkeys(turned, True) | dict.fromkeys(others, False)
    copied = ("t of clone", "clone", "clone row-major")
    writes = ("into", "into with its sum", "copy into", "out", "mm out", "foreach into", "zero", "t in place")
    unchanged = {"q": [plain(int_data), plain(scale), axis]}
    if name in writes:
        return {"result": "TypeError"} | unchanged
    if name in turned:
        # which results are views of what, a plain tensor of int8 shows
        result = operation(torch, name, int_data, None, None, None)
        shown = [
            "QuantisedTensor",
            plain(result),
            scale,
            1 - axis if turned[name] else axis,
            *[list(result.stride())] * 2,
        ]
        shown += [name not in copied] * 2
        return {"result": [*shown, result._is_view(), torch._C._is_alias_of(result, int_data)]} | unchanged

    def values(result):
        return ["Tensor", plain(result)]

    found = done_with(torch, name, floats_of(*parts, axis), rows, columns, n, kind, values)
    if "multiplied all of it" in found:
        # not so where torch has nothing but to make the floats: on the left, on both sides, in a sum
        found["multiplied all of it"] = name in (
            *("mm from the left", "mm of both", "addmm to it", "addmm to it, of both", "addmm from the left"),
        )
    return found | unchanged


def traced(torch, head, leaves, lengths, columns, kind):
    """What the compiler makes of a head: how often, of which tensors, and the numbers."""
    from torch._dynamo.backends.common import aot_autograd

    graphs, results = [], []

    def keep(graph, inputs):
        graphs.append(sorted(str(each.dtype) for each in inputs if isinstance(each, torch.Tensor)))
        return graph.forward

    compiled = torch.compile(head, fullgraph=True, backend=aot_autograd(fw_compiler=keep))
    with torch.no_grad():
        for length in lengths:
            results.append(plain(compiled(numbers(torch, [length, columns], length, kind), *leaves)))
    return {"graphs": graphs, "results": results}


@program(
    "wrapper.quantised_dispatch.compiled",
    cases=lambda st: st.fixed_dictionaries(
        {
            "rows": st.integers(2, 4),
            "columns": st.integers(2, 4),
            "axis": st.integers(0, 1),
            "lengths": st.lists(st.integers(2, 7), min_size=1, max_size=3, unique=True),
            "kind": st.sampled_from(["float32", "float64"]),
        }
    ),
    edges=[
        {"rows": 3, "columns": 2, "axis": axis, "lengths": [4, 5, 7], "kind": kind}
        for axis, kind in ((0, "float32"), (1, "float64"))
    ],
    hint=explained(
        graphs="what the compiler takes apart and puts together again are int_data and scale; no operator may look at numbers",
    ),
    draws=3,
)
def wrappers_under_compile(xp, rows, columns, axis, lengths, kind):
    torch = xp.wrapper.torch
    q = xp.wrapper.QuantisedTensor(*quantised_parts(torch, [rows, columns], axis, "", kind), axis)

    def head(x, q, bias):
        return torch.relu(torch.nn.functional.linear(x, q, bias)) + q.sum()

    return traced(torch, head, [q, numbers(torch, [rows], 1, kind)], lengths, columns, kind)


@wrappers_under_compile.oracle
def torch_wrappers_under_compile(torch, rows, columns, axis, lengths, kind):
    def head(x, int_data, scale, bias):
        q = int_data.to(scale.dtype) * scale.unsqueeze(1 - axis)
        return torch.relu(torch.nn.functional.linear(x, q, bias)) + q.sum()

    parts = quantised_parts(torch, [rows, columns], axis, "", kind)
    return traced(torch, head, [*parts, numbers(torch, [rows], 1, kind)], lengths, columns, kind)


# A device ------------------------------------------------------------------------------------------------------------
#
# The device is there in a child process only (`backend.apart`), unless the notebook has registered it. One child sees several
# tensors, since starting one takes a tenth of a second.


def on_device(module, x):
    """A tensor of the CPU's once more on the device, with the same strides and offset. `empty_strided` makes its memory."""
    elements = x.untyped_storage().nbytes() // x.itemsize
    there = module.empty_strided([elements], [1], dtype=x.dtype)
    module.array_of(there)[...] = x.as_strided([elements], [1], 0).numpy()
    return module.torch.ops.inductor._reinterpret_tensor(there, x.shape, x.stride(), x.storage_offset())


def seen_there(module, t):
    """A tensor of the device's, or of the CPU's: where, what, and its numbers."""
    what = [t.device.type, list(t.shape), list(t.stride()), t.storage_offset(), str(t.dtype)]
    return [*what, module.array_of(t).tolist() if module else t.tolist()]


def _allocations(st):
    one = st.builds(
        lambda x, kind: [x["tensor"]["sizes"], x["tensor"]["strides"], kind],
        tensors(st, (0, 4), 3),
        st.sampled_from([None, "float32", "float64", "int64", "uint8", "bool", "float16"]),
    )
    default = st.sampled_from(["float32", "float64"])
    return st.fixed_dictionaries({"several": st.lists(one, min_size=1, max_size=6), "default": default})


@program(
    "backend.empty_strided",
    cases=_allocations,
    edges=[
        {
            "several": [
                [[2, 3], [3, 1], "float32"],
                [[2, 3], [1, 2], "float64"],
                [[2, 3], [4, 1], "uint8"],
                [[3], [2], "int64"],
                [[3, 2], [0, 1], "float16"],
                [[2, 2, 3], [6, 3, 1], "bool"],
                [[2, 2, 3], [12, 6, 2], "int32"],
            ],
            "default": "float32",
        },
        {
            "several": [[[], [], "float32"], [[0], [1], "float64"], [[2, 0, 3], [3, 3, 1], None], [[1], [5], None]],
            "default": "float64",
        },
        {"several": [[[2, 3], [3, 1], None], [[4], [1], None]], "default": "float32"},
    ],
    hint=explained(
        result="memory reaches just as far as the last element, in bytes; a tensor without elements needs none",
        apart="two tensors never share memory",
        refused="only strided layouts, and no pinned memory",
    ),
    draws=8,
)
def allocations(xp, several, default):
    module, torch = xp.backend, xp.backend.torch

    def allocate():
        torch.set_default_dtype(getattr(torch, default))
        try:
            made = [allocated(size, stride, kind) for size, stride, kind in several]
            again = module.empty_strided([3], [1])
            known = [each for each, _ in made if each.numel()]
            shared = [module.np.shares_memory(module.array_of(each), module.array_of(again)) for each in known]
            found = {"result": [what for _, what in made], "apart": not any(shared)}
            return found | {"refused": [refused(layout=torch.sparse_coo), refused(pin_memory=True)]}
        finally:
            torch.set_default_dtype(torch.float32)

    def allocated(size, stride, kind):
        dtype = {} if kind is None else {"dtype": getattr(torch, kind)}
        more = {"layout": torch.strided, "device": torch.device("rush"), "pin_memory": False} if len(size) == 2 else {}
        t = module.empty_strided(list(size), list(stride), **dtype, **more)
        memory = t.untyped_storage().memory
        array = module.array_of(t)
        array[...] = 1  # where it may be written
        what = [t.device.type, list(t.shape), list(t.stride()), t.storage_offset(), str(t.dtype)]
        return t, [*what, memory.nbytes, str(memory.dtype), memory.ndim, type(t).__name__]

    def refused(**options):
        try:
            return str(type(module.empty_strided([2], [1], **options)))
        except Exception as error:
            return error_name(error)

    return module.apart(allocate)


@allocations.oracle
def torch_allocations(torch, several, default):
    def allocated(size, stride, kind):
        t = torch.empty_strided(size, stride, dtype=getattr(torch, kind or default))
        what = ["rush", list(t.shape), list(t.stride()), 0, str(t.dtype)]
        return [*what, t.untyped_storage().nbytes(), "uint8", 1, "Tensor"]

    found = {"result": [allocated(*each) for each in several], "apart": True}
    return found | {"refused": ["RuntimeError", "RuntimeError"]}


def walk(module, base, steps):
    """Views of views: each step says of which, and what. Then all are written to, one after the other."""
    known, found = [base], []
    for place, size, stride, offset in steps:
        given = [list(size), list(stride)] + ([] if offset == "none" else [None if offset == "None" else offset])
        view = known[place % len(known)]
        try:
            view = module.as_strided(view, *given) if module else view.as_strided(*given)
        except Exception as error:
            found.append(error_name(error))
            continue
        same = view.untyped_storage()._cdata == base.untyped_storage()._cdata
        found.append([seen_there(module, view)[1:], view is known[place % len(known)], same])
        known.append(view)
    for number, view in enumerate(known):
        (module.array_of(view) if module else view.numpy())[...] = 100 + number
    return {"views": found, "memory": seen_there(module, known[0])[-1]}


def _walks(st):
    step = st.tuples(
        st.integers(0, 5),
        st.lists(st.integers(0, 3), max_size=3),
        st.lists(st.sampled_from([0, 1, 1, 2, 3, 5, -1]), min_size=3, max_size=3),
        st.sampled_from(["none", "None", 0, 1, 2, 4, 7, -1]),
    ).map(lambda each: [each[0], each[1], each[2][: len(each[1])], each[3]])
    return st.fixed_dictionaries(
        {
            "base": tensors(st, (1, 2), 4, ("float32", "int64")),
            "steps": st.lists(step, min_size=1, max_size=6),
        }
    )


@program(
    "backend.as_strided",
    cases=_walks,
    edges=[
        {
            "base": tensor([4, 3], None, 0, "float32"),
            "steps": [
                [0, [3, 4], [1, 3], "none"],
                [0, [2, 3], [3, 1], 6],
                [2, [3], [1], "None"],
                [2, [3], [1], 0],
                [2, [2], [1], 2],
                [0, [], [], 11],
                [0, [4], [0], 5],
                [0, [5, 3], [0, 1], 9],
                [0, [2, 2], [3, 1], "None"],
            ],
        },
        {
            "base": tensor([2, 3], None, 2, "int64", 2),
            "steps": [
                [0, [6], [1], 0],
                [0, [8], [1], "none"],
                [0, [9], [1], "none"],
                [0, [10], [1], 0],
                [0, [11], [1], 0],
                [0, [1], [1], 9],
                [0, [1], [1], 10],
                [0, [], [], 10],
                [0, [0], [1], 99],
                [0, [2, 0], [50, 1], "none"],
                [0, [2], [9], 0],
                [0, [2], [10], 0],
                [0, [2], [-1], 3],
                [0, [1], [-1], 3],
                [0, [2], [1], -1],
                [0, [0], [-1], 0],
                [0, [2, 3], [3, 2], 1],
                [0, [2, 3], [3, 3], 1],
            ],
        },
        {
            "base": tensor([3], [2], 1, "float32"),
            "steps": [[0, [6], [1], 0], [0, [5], [1], "none"], [0, [6], [1], "none"]],
        },
        {
            "base": tensor([0]),
            "steps": [[0, [0], [1], 0], [0, [2, 0], [0, 5], "none"], [0, [], [], 0], [0, [0], [1], 3]],
        },
    ],
    hint=explained(
        views="a view has the same storage; an offset that is given counts from the beginning of the memory",
        memory="what is written through one view is seen through all",
    ),
    draws=15,
)
def views_there(xp, base, steps):
    module = xp.backend

    def look():
        return walk(module, on_device(module, base), steps)

    return module.apart(look)


@views_there.oracle
def torch_views_there(torch, base, steps):
    return walk(None, base, steps)


KINDS = ("float32", "float64", "int64", "int32", "uint8", "bool", "float16")


def _copies(st):
    @st.composite
    def draw_copy(draw):
        to = draw(st.lists(st.integers(1, 3), max_size=3))
        shape = [1 if draw(st.integers(0, 3)) == 0 else size for size in to[draw(st.integers(0, len(to))) :]]
        if shape and draw(st.integers(0, 9)) == 0:
            shape[-1] += 1
        small = st.integers(0, 2)
        return [_laid(sizes, draw(small), draw(small), draw(st.sampled_from(KINDS))) for sizes in (shape, to)] + [None]

    return st.fixed_dictionaries({"several": st.lists(draw_copy(), min_size=1, max_size=5)})


def _laid(sizes, layout=0, offset=0, kind="float32"):
    """A tensor in rows, with gaps, or the other way round."""
    strides, step = [], 1
    for size in sizes if layout == 2 else reversed(sizes):
        strides.append(step * (2 if layout == 1 else 1))
        step *= max(size, 1)
    return tensor(sizes, strides if layout == 2 else strides[::-1], offset, kind, 1)


_COPIES = [
    [[_laid([2, 3], a), _laid([2, 3], b, 1), None] for a in (0, 1, 2) for b in (0, 1, 2)],
    [
        [_laid(source, 0, 1), _laid(target, 2), None]
        for source, target in (
            ([3], [2, 3]),
            ([2, 1], [2, 3]),
            ([], [2, 3]),
            ([], []),
            ([1, 3], [3]),
            ([2], [3]),
            ([2, 3], [3]),
            ([3], [0]),
            ([0], [0]),
            ([1], [2, 0]),
        )
    ],
    [
        [_laid([3], kind=source), _laid([3], kind=target), None]
        for source, target in (
            ("float32", "int64"),
            ("float64", "uint8"),
            ("int64", "float16"),
            ("float32", "bool"),
            ("bool", "float32"),
        )
    ],
    # the target is a part of the source's own memory: sizes, strides, offset
    [
        [_laid([5]), _laid([5]), [[5], [1], 1]],
        [tensor([5], [1], 1, "float32"), _laid([5]), [[5], [1], 0]],
        [_laid([3, 3]), _laid([3, 3]), [[3, 3], [1, 3], 0]],
        [_laid([3, 3]), _laid([3, 3]), [[3, 3], [3, 1], 0]],
        [_laid([1]), _laid([3]), [[2], [1], 0]],
    ],
]


@program(
    "backend.copy_from",
    cases=_copies,
    edges=[{"several": several} for several in _COPIES],
    hint=explained(
        result="elements are converted and broadcast, whatever the strides; the target receives what was in the source before",
        memory="nothing is written beside the target",
        returned="dst itself is returned",
        source="the source is only read",
    ),
    draws=15,
)
def copies(xp, several):
    module = xp.backend

    def copy(start, end, source, target, view):
        src = source if view else moved_on(source)
        src = on_device(module, src) if start == "rush" else src
        dst = on_device(module, target) if end == "rush" else same_again(target)
        if view:
            dst = module.torch.ops.inductor._reinterpret_tensor(src, *view[:2], view[2] - src.storage_offset())
        result = module.copy_from(src, dst, *[True][: len(several) % 2])
        found = {"result": seen_there(module, dst), "returned": result is dst, "memory": memory_of(module, dst)}
        return found | {"source": None if view else seen_there(module, src)}

    return module.apart(lambda: each_way(copy, several))


def each_way(copy, several):
    """What is seen of several copies, each on every way between two devices, entry by entry; or the name of the error."""
    rows = []
    for source, target, view in several:
        for start, end in (("rush", "rush"), *(() if view else (("cpu", "rush"), ("rush", "cpu")))):
            try:
                rows.append(copy(start, end, source, target, view))
            except Exception as error:
                rows.append(dict.fromkeys(("result", "returned", "memory", "source"), error_name(error)))
    return {name: [row[name] for row in rows] for name in ("result", "returned", "memory", "source")}


def same_again(x):
    """A tensor's memory once more, and the tensor in it."""
    elements = x.untyped_storage().nbytes() // x.itemsize
    return x.as_strided([elements], [1], 0).clone().as_strided(x.shape, x.stride(), x.storage_offset())


def moved_on(x):
    """The same again with other numbers, halves among them where there are any."""
    x = same_again(x)
    whole = x.as_strided([x.untyped_storage().nbytes() // x.itemsize], [1], 0)
    if str(whole.dtype) == "torch.bool":
        whole.logical_not_()
    else:
        whole.add_(2.5 if whole.is_floating_point() else 3)
    return x


def memory_of(module, x):
    """All of the memory in which a tensor is."""
    if x.device.type == "cpu":
        return x.as_strided([x.untyped_storage().nbytes() // x.itemsize], [1], 0).tolist()
    return x.untyped_storage().memory.view(module.array_of(x).dtype).tolist()


@copies.oracle
def torch_copies(torch, several):
    def copy(start, end, source, target, view):
        src = same_again(source) if view else moved_on(source)
        dst = src.as_strided(*view) if view else same_again(target)
        dst.copy_(src.clone())
        found = {"result": [end, *seen_there(None, dst)[1:]], "returned": True, "memory": memory_of(None, dst)}
        return found | {"source": None if view else [start, *seen_there(None, src)[1:]]}

    return each_way(copy, several)


def fallen_back(torch, name, place, layout):
    """An operator and its arguments, on a device: `place` puts a tensor there."""
    aten = torch.ops.aten

    def made(shape, start, kind="float64"):
        return place(laid_out(torch, numbers(torch, shape, start, kind), layout))

    x, y, row, one = made([3, 2], 1), made([3, 2], 2), made([2], 3), made([], 4)
    ints, none, there = (
        place(torch.tensor([2, 0])),
        place(torch.empty(0, dtype=torch.float64)),
        place(torch.ones(1)).device,
    )
    more = place(torch.zeros(3, 2, dtype=torch.int32)), place(torch.zeros(2, dtype=torch.int64))
    means = [place(numbers(torch, [3, 1], i)) for i in (5, 6)]  # torch takes it for granted that these are contiguous
    op, *rest = {
        "abs": lambda: (aten.abs.default, x),
        "add": lambda: (aten.add.Tensor, x, y, {"alpha": 2}),
        "add to itself": lambda: (aten.add.Tensor, x, x),
        "with a number of the CPU's": lambda: (aten.mul.Tensor, x, torch.tensor(3.0, dtype=torch.float16)),
        "into a number of the CPU's": lambda: (aten.sum.out, x, {"out": torch.tensor(3.0, dtype=torch.float16)}),
        "copy_ of sizes": lambda: (aten.copy_.default, x, row),
        "sort": lambda: (aten.sort.default, x),
        "cat": lambda: (aten.cat.default, [x, y, x], 1),
        "index": lambda: (aten.index.Tensor, x, [ints]),
        "clamp": lambda: (aten.clamp.Tensor, x, None, y),
        "number": lambda: (aten._local_scalar_dense.default, one),
        "equal": lambda: (aten.equal.default, x, y),
        "layer norm backward": lambda: (
            *(aten.native_layer_norm_backward.default, x, y, [2], *means, row, row),
            [True, False, True],
        ),
        "arange": lambda: (aten.arange.default, 5, {"device": there}),
        "full": lambda: (aten.full.default, [2], 3.0, {"device": there, "dtype": torch.float32}),
        "exp_": lambda: (aten.exp_.default, x),
        "add_": lambda: (aten.add_.Tensor, x, y),
        "add_ itself": lambda: (aten.add_.Tensor, x, x),
        "add_ a row": lambda: (aten.add_.Tensor, x, row, {"alpha": 3}),
        "index_put_": lambda: (aten.index_put_.default, x, [ints], row),
        "exp out": lambda: (aten.exp.out, x, {"out": y}),
        "exp out itself": lambda: (aten.exp.out, x, {"out": x}),
        "exp out of size 0": lambda: (aten.exp.out, x, {"out": none}),
        "min out": lambda: (aten.min.dim_min, x, 0, {"min": row, "min_indices": more[1]}),
        "frexp out": lambda: (aten.frexp.Tensor_out, x, {"mantissa": y, "exponent": more[0]}),
        "resize_": lambda: (
            aten.resize_.default,
            place(numbers(torch, [3, 2], 1)),
            [2],
        ),  # without gaps to come to light
        "running averages": lambda: (
            *(aten._native_batch_norm_legit.default, x, None, None, row, made([2], 1)),
            *(True, 0.5, 1e-5),
        ),
        "foreach": lambda: (aten._foreach_mul.Scalar, [x, y], 2.0),
        "foreach into": lambda: (aten._foreach_add_.Scalar, [x, y], 1.0),
        "foreach into the first": lambda: (aten._foreach_add_.List, [x, row], [y, row]),
        "unfold": lambda: (aten.unfold.default, x, 0, 2, 1),
        "t": lambda: (aten.t.default, x),
        "split": lambda: (aten.split.Tensor, x, 1),
        "mm of wrong sizes": lambda: (aten.mm.default, x, y),
        "no such dimension": lambda: (aten.cumsum.default, x, 5),
    }[name]()
    return op, [each for each in rest if not isinstance(each, dict)], next((e for e in rest if isinstance(e, dict)), {})


_FALLBACKS = (
    *("abs", "add", "add to itself", "with a number of the CPU's", "into a number of the CPU's", "copy_ of sizes"),
    *("sort", "cat", "index", "clamp", "number", "equal"),
    *("layer norm backward", "arange", "full", "exp_", "add_", "add_ itself", "add_ a row", "index_put_", "exp out"),
    *("exp out itself", "exp out of size 0", "min out", "frexp out", "resize_", "running averages", "foreach"),
    *("foreach into", "foreach into the first", "unfold", "t", "split", "mm of wrong sizes", "no such dimension"),
)


def called(module, torch, names, layout, call, place):
    """What some operators return, and what is in their arguments afterwards; whether an argument is what is returned."""
    rows = [called_once(module, *fallen_back(torch, name, place, layout), call) for name in names]
    return {name: [row[name] for row in rows] for name in ("result", "arguments", "memory", "called with")}


class Spied:
    """An operator that notes with what it is called: where that is, and which of the caller's own tensors are among it."""

    def __init__(self, op, known):
        self._op, self._known, self.seen = op, known, []

    def __getattr__(self, name):
        return getattr(self._op, name)

    def __call__(self, *args, **kwargs):
        flat = flattened(args, kwargs)
        places = [getattr(each, "device", each) for each in flat]
        self.seen = [str(place) for place in places if type(place).__name__ in ("device", "str")]
        self.seen += [any(each is one for one in flat) for each in self._known]
        return self._op(*args, **kwargs)


def flattened(args, kwargs):
    return [each for arg in [*args, *kwargs.values()] for each in (arg if isinstance(arg, list | tuple) else [arg])]


def called_once(module, op, args, kwargs, call):
    known = [each for each in flattened(args, kwargs) if hasattr(each, "untyped_storage")]
    before = [(each.untyped_storage()._cdata, each.shape) for each in known]
    spied = Spied(op, [each for each in known if str(each.dtype) == "torch.float16"])  # those stay on the CPU

    def told(value):
        if isinstance(value, list | tuple):
            return [told(each) for each in value]
        if not hasattr(value, "untyped_storage"):
            return value
        numbers = [number for number, each in enumerate(known) if each is value]
        seen = seen_there(module, value)
        return [f"argument {numbers[0]}"] if numbers else [*seen[:2], *seen[4:]]

    try:
        result = told(call(spied, *args, **kwargs))
    except Exception as error:
        result = error_name(error)
    found = {"result": result, "arguments": [[list(each.shape), seen_there(module, each)[-1]] for each in known]}
    same = [each.shape != shape or each.untyped_storage()._cdata == was for each, (was, shape) in zip(known, before)]
    return found | {"memory": same, "called with": spied.seen}


def _fallbacks(st):
    return st.fixed_dictionaries(
        {
            "names": st.lists(st.sampled_from(_FALLBACKS), min_size=1, max_size=8),
            "layout": st.sampled_from(["", "gaps", "backwards"]),
        }
    )


@program(
    "backend.cpu_fallback",
    cases=_fallbacks,
    edges=[{"names": [name], "layout": ""} for name in ("abs", "add_", "exp out")]
    + [{"names": list(_FALLBACKS), "layout": layout} for layout in ("", "gaps", "backwards")],  # all that can be drawn
    hint=explained(
        result="what the operator returns comes to the device; an argument that it writes into is itself what is returned",
        arguments="an argument that the schema says is written to holds afterwards what its copy holds",
        memory="an argument keeps its memory, unless the operator has given it other sizes",
        called_with="the operator is called with tensors on the CPU; those that are there already are passed as they are",
    ),
    draws=6,
)
def fallbacks(xp, names, layout):
    module, torch = xp.backend, xp.backend.torch

    def place(x):
        return on_device(module, x)

    return module.apart(lambda: called(module, torch, names, layout, module.cpu_fallback, place))


@fallbacks.oracle
def torch_fallbacks(torch, names, layout):
    def call(op, *args, **kwargs):
        if any(each.alias_info is not None and not each.alias_info.is_write for each in op._schema.returns):
            raise NotImplementedError("a view")
        return op(*args, **kwargs)

    found = called(None, torch, names, layout, call, lambda x: x)
    return {key: value if key == "called with" else renamed(value) for key, value in found.items()}


def renamed(told):
    """Words for what is on the CPU, said of the other device."""
    if isinstance(told, list):
        return [renamed(each) for each in told]
    return "rush" if told == "cpu" else told
