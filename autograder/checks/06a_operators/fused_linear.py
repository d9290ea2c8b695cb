"""The fused linear operator: its kernel, its fake kernel, and its derivative."""

from __future__ import annotations

import math
from contextlib import nullcontext

from ...engine.check import program
from ...engine.observe import difference, has
from ...engine.recorder import recorded
from ..cases import (
    beyond_single,
    copied,
    drawn,
    explained,
    field,
    first_apart,
    first_of,
    numbers,
    several,
    when,
    with_layout,
)
from ..shared_06 import operators
from ..shared_06.operators import ACTIVATIONS, SHAPES, arguments, linear, metadata, shape, shapes

# The kernel and the fake kernel --------------------------------------------------------------------------------------


_WRONG = dict.fromkeys(
    ["features", "bias size", "one bias for all", "bias dimensions", "weight dimensions", "weights", "no dimension"]
    + ["dtype", "bias dtype"],
    RuntimeError,
) | {"activation": ValueError}  # what is wrong with the arguments, and the error that it is


def _spoilt(torch, x, weight, bias, activation, wrong):
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
        None: dict,
    }[wrong]()
    return ({"x": x, "weight": weight, "bias": bias, "activation": activation} | changed).values()


def _finite_or_not(torch, *sizes_and_layout):
    """The arguments of `operators.arguments`; if the layout is "infinite" or "nan", so is `x`; if "thirds", `x` is divided."""
    x, weight, bias = arguments(torch, *sizes_and_layout)
    x = x / 3 if sizes_and_layout[-2] == "thirds" else x
    special = {"infinite": -torch.inf, "nan": torch.nan}.get(sizes_and_layout[-2])
    return x if special is None else x.fill_(special), weight, bias


def _shapes_and(**more):
    """Cases of `shapes` after other parts, which win."""
    return lambda st: drawn(**more)(st).flatmap(lambda case: shapes()(st).map(lambda sizes: sizes | case))


def _usual(lead=(3,), layout="", kind="float64", wrong=None, **more):
    return shape([*lead], **more) | {"layout": layout, "kind": kind, "wrong": wrong}


@program(
    "on_torch.custom_ops.fused_linear",
    cases=_shapes_and(
        layout=["", "", "gaps", "backwards", "equal"], kind=["float32", "float64"], wrong=[None] * 10 + sorted(_WRONG),
    ),
    edges=[
        *(_usual(activation=name) for name in ACTIVATIONS),
        *(_usual(lead, bias=bias) for lead in ([], [2, 3], [0], [2, 1, 2]) for bias in (True, False)),
        *(_usual([2, 3], layout) for layout in ("gaps", "backwards", "equal")),
        *(_usual(lead, "backwards", features=features, bias=False)  # with a single feature einsum leaves other strides
          for features in (2, 1) for lead in ([3], [2, 3], [2, 3, 2])),
        _usual(activation="gelu", kind="float32"), _usual(features=1, outs=1),
        *(_usual(activation=name, layout="infinite", features=1) for name in ("none", "relu")),
        *(_usual(activation=name, layout="nan") for name in ACTIVATIONS),
        *(_usual(layout="thirds", activation=name) for name in ("none", "relu")),  # no number of single precision
        *(_usual([lead], outs=2, bias=False) for lead in (0, 2)),  # the result has the sizes of x, or of x and weight
        *(_usual(lead, wrong=wrong) for wrong in _WRONG for lead in ([3], [2, 3])),
        *(_usual(bias=False, wrong=wrong) for wrong in ("features", "dtype", "activation")),
    ],
    hint=explained(
        result="activation(x @ weight.T + bias); x may have any number of leading dimensions, and bias may be None",
        beyond_single="the product and the sum are computed in the dtype of the arguments, which may be float64",
        contiguous="the result is contiguous, whatever the strides of the arguments",
        arguments="the arguments do not change",
    ),
)  # fmt: skip
def kernel(xp, lead, features, outs, bias, activation, layout, kind, wrong):
    torch = xp.custom_ops.torch
    inputs = [*_spoilt(torch, *_finite_or_not(torch, lead, features, outs, bias, layout, kind), activation, wrong)]
    before = [copied(tensor) for tensor in inputs[:3]]
    with recorded([*operators.ARITHMETIC, "gelu"], operators.DELEGATES) as beyond:
        result, called = operators.operators_inside(lambda: xp.custom_ops.fused_linear(*inputs))
    beyond += sorted({"linear"} & called)  # which the recorder sees in pieces
    owners = [tensor.untyped_storage().data_ptr() for tensor in inputs[:3] if tensor is not None and tensor.numel()]
    return {
        "result": copied(result),
        "beyond single": beyond_single(torch, copied(result)) if layout == "thirds" else None,
        "contiguous": result.is_contiguous(),
        "alone": all(result is not tensor for tensor in inputs[:3])
        and result.untyped_storage().data_ptr() not in owners,
        "arguments": [
            tensor is None or torch.equal(tensor.nan_to_num(0.5), old.nan_to_num(0.5))
            for tensor, old in zip(inputs[:3], before)
        ],
        "beyond": beyond,
    }


@kernel.oracle
def torch_kernel(torch, lead, features, outs, bias, activation, layout, kind, wrong):
    if wrong:
        raise _WRONG[wrong](wrong)
    inputs = _finite_or_not(torch, lead, features, outs, bias, layout, kind)
    result = copied(linear(torch, *inputs, activation))
    shown = {"result": result, "beyond single": beyond_single(torch, result) if layout == "thirds" else None}
    return shown | {"contiguous": True, "alone": True, "arguments": [True] * 3, "beyond": []}


def _fake_edges():
    for place in ("meta", "fake", "symbolic", "unbacked"):
        yield from (_usual(lead, place=place) for lead in ([], [3], [2, 4]))
        yield _usual([2, 3], "backwards", "float32", bias=False, place=place)
        yield _usual([3], "gaps", "float16", activation="gelu", place=place)
        yield from (_usual([2, 3], wrong=wrong, place=place) for wrong in _WRONG)
    yield from (_usual(bias=False, wrong=wrong, place="meta") for wrong in ("features", "dtype"))
    yield _usual([0, 3], place="meta")


def _without_data(torch, tensors, place):
    """Tensors of metadata only like these, the mode to work in, and the known facts about their sizes. If `place` is
    "symbolic", the sizes of the first tensor, except the last one, are symbols, and if it is "unbacked" they may also be 0 or 1."""
    from torch._dynamo.source import ConstantSource
    from torch._subclasses.fake_tensor import FakeTensorMode
    from torch.fx.experimental.symbolic_shapes import DimDynamic, ShapeEnv, StatelessSymbolicContext

    if place == "meta":
        return [tensor if tensor is None else tensor.to("meta") for tensor in tensors], nullcontext(), None
    known = ShapeEnv() if place in ("symbolic", "unbacked") else None
    mode, fakes = FakeTensorMode(shape_env=known), []
    for number, tensor in enumerate(tensors):
        if tensor is None or place == "fake":
            fakes.append(tensor if tensor is None else mode.from_tensor(tensor, static_shapes=True))
            continue
        unknown = DimDynamic.UNBACKED if place == "unbacked" else DimDynamic.DYNAMIC
        kinds = [unknown if number == 0 else DimDynamic.STATIC] * (tensor.dim() - 1) + [DimDynamic.STATIC]
        context = StatelessSymbolicContext(dynamic_sizes=kinds[: tensor.dim()])
        fakes.append(mode.from_tensor(tensor, source=ConstantSource(f"t{number}"), symbolic_context=context))
    return fakes, mode, known


_COMPARED = "a size of the batch has been compared with something: the graph is then captured again for other batches"
_OF_ALL = "the device is that of the arguments, and the dtype too"


@program(
    "on_torch.custom_ops.fused_linear_fake",
    cases=_shapes_and(
        lead=several((2, 4), 0, 3), layout=["", "gaps", "backwards"], kind=["float32", "float64", "float16"],
        place=["meta", "fake", "symbolic", "unbacked"], wrong=[None] * 8 + sorted(_WRONG),
    ),
    edges=[*_fake_edges()],
    hint=first_of(
        when(lambda case, mine, theirs: has(mine, "type", "GuardOnDataDependentSymNode"), _COMPARED),
        explained(
            strides="the strides are those of the kernel's result, which is contiguous",
            guards=_COMPARED,
            device=_OF_ALL,
            dtype=_OF_ALL,
        ),
    ),
    draws=60,
)  # fmt: skip
def fake(xp, lead, features, outs, bias, activation, layout, kind, place, wrong):
    torch = xp.custom_ops.torch
    inputs = [*_spoilt(torch, *arguments(torch, lead, features, outs, bias, layout, kind), activation, wrong)]
    tensors, mode, known = _without_data(torch, inputs[:3], place)
    with recorded(SHAPES, operators.DELEGATES) as beyond, mode:
        result = xp.custom_ops.fused_linear_fake(*tensors, inputs[3])
    guards = [str(guard.expr) for guard in known.guards] if known else []
    return _described(result, lead) | {"guards": guards, "beyond": beyond if place == "meta" else []}


def _described(result, lead):
    """The metadata of a result. Without elements, its strides do not matter."""
    return {key: value for key, value in metadata(result).items() if key != "strides" or 0 not in lead}


@fake.oracle
def torch_fake(torch, lead, features, outs, bias, activation, layout, kind, place, wrong):
    if wrong:
        raise _WRONG[wrong](wrong)
    (x, weight, bias), mode, _ = _without_data(torch, arguments(torch, lead, features, outs, bias, layout, kind), place)
    with mode:
        result = linear(torch, x, weight, bias, activation).contiguous()
    return _described(result, lead) | {"guards": [], "beyond": []}


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
        """As in torch; here there is nothing to set."""

    def added_tensors(self, torch):
        """The names of the attributes that have been added and hold tensors."""
        values = [(name, value) for name, value in vars(self).items() if name not in (*self.given, "given", "saved")]
        return sorted(name for name, value in values if any(isinstance(part, torch.Tensor) for part in _parts(value)))


def _parts(value):
    if isinstance(value, dict):
        value = [*value.values()]
    return [inner for item in value for inner in _parts(item)] if isinstance(value, (list, tuple)) else [value]


def _needs_of(needs, passed, more=0):
    """`needs_input_grad` if the first `passed` of the four arguments were passed, and torch added one of its own."""
    return (*needs, False)[:passed] + (False,) * more


_NEEDS = [tuple(bool(number >> bit & 1) for bit in range(3)) for number in range(8)]


def _settled(case):
    """The case with arguments at their defaults if they are not passed; a bias that is None needs no gradient."""
    case = operators.settled(case)
    return case | {"needs": [*case["needs"][:2], case["needs"][2] and case["bias"]]}


def _contexts(st):
    return shapes(needs=[[*flags] for flags in _NEEDS], passed=(2, 4))(st).map(_settled)


def _context(needs=(True, True, True), passed=4, **more):
    return _settled(shape(**more, needs=needs, passed=passed))


_CONTEXTS = [
    *(_context(needs, activation=name) for needs in _NEEDS for name in ACTIVATIONS),
    *(_context(activation=name, bias=False) for name in ACTIVATIONS),
    *(_context(needs, passed) for needs in [(True, True, True), (True, False, True)] for passed in (2, 3)),
]


def _names_for_none(saved):
    """The saved names if no backward will read them: None is then as good as the tensor that it replaces."""
    names = ("x", "weight", "bias", "output")
    return [name if label == "None" else label for label, name in zip(saved, names)] if len(saved) == 4 else saved


@program(
    "on_torch.custom_ops.fused_linear_setup_context",
    cases=lambda st: _contexts(st).flatmap(lambda case: st.booleans().map(lambda more: case | {"more": more})),
    edges=[case | {"more": more} for case in _CONTEXTS for more in (True, False)],
    hint=first_of(
        when(
            lambda case, mine, theirs: "something else" in (field(mine, "saved") or []),
            "save the tensors themselves, as they were given",
        ),
        explained(
            saved="save only the tensors from which a gradient that is asked for is computed",
            kept_elsewhere="tensors belong in save_for_backward: other attributes make cycles, and changes of them are not seen",
            activation="the backward has to know the activation",
        ),
    ),
)
def contexts(xp, lead, features, outs, bias, activation, needs, passed, more):
    torch = xp.custom_ops.torch
    x, weight, bias = arguments(torch, lead, features, outs, bias)
    output = linear(torch, x, weight, bias, activation)
    ctx = Context(_needs_of(needs, passed, more))
    with recorded() as beyond:  # by name, as torch does
        xp.custom_ops.fused_linear_setup_context(ctx=ctx, inputs=(x, weight, bias, activation), output=output)
    names = {id(x): "x", id(weight): "weight", id(bias): "bias", id(output): "output", id(None): "None"}
    saved = [names.get(id(tensor), "something else") for tensor in getattr(ctx, "saved", ["nothing"])]
    return {
        "saved": saved if any(needs) else _names_for_none(saved),
        "kept elsewhere": ctx.added_tensors(torch),
        "activation": getattr(ctx, "activation", None),
        "beyond": beyond,
    }


@contexts.oracle
def torch_contexts(torch, lead, features, outs, bias, activation, needs, passed, more):
    """The tensors that PyTorch's own nodes save for the same three steps: a product, a sum, an activation."""
    x, weight, bias = arguments(torch, lead, features, outs, bias)
    tensors = [
        tensor if tensor is None else tensor.requires_grad_(need) for tensor, need in zip((x, weight, bias), needs)
    ]
    saved = set()
    if activation == "gelu":
        saved = {"x", "weight"} | ({"bias"} if bias is not None else set())
    else:
        node = torch.mm(x.reshape(-1, features), weight.t()).grad_fn
        saved |= {"x"} if getattr(node, "_saved_self", None) is not None else set()
        saved |= {"weight"} if getattr(node, "_saved_mat2", None) is not None else set()
        z = torch.ones(2, dtype=x.dtype, requires_grad=True)
        node = linear(torch, z, torch.eye(2, dtype=x.dtype), None, activation).grad_fn
        saved |= {"output"} if hasattr(node, "_saved_result") else set()
    names = [name if name in saved else "None" for name in ("x", "weight", "bias", "output")]
    names = names if any(needs) else _names_for_none(names)
    assert [tensor is not None and tensor.requires_grad for tensor in tensors] == list(needs)
    return {"saved": names, "kept elsewhere": [], "activation": activation, "beyond": []}


def _saved_for(x, weight, bias, output, activation, needs):
    """The tensors that `fused_linear_setup_context` saves by its contract."""
    recomputes, of_output = activation == "gelu", activation in ("relu", "tanh")
    kept = (needs[1] or recomputes, needs[0] or recomputes, recomputes, of_output)
    return tuple(tensor if is_kept else None for tensor, is_kept in zip((x, weight, bias, output), kept))


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


_IN_ORDER = (
    "first the derivative of the activation, from its result; then the derivatives of the product and of the sum"
)


def _about_gradients(case, mine, theirs):
    if isinstance(mine, dict) and "error" in mine:
        few = "op(x, weight) passes two arguments, so needs_input_grad has two entries: an argument not passed needs nothing"
        return few if case["passed"] < 4 else None
    if first_apart(mine, theirs) == "for nothing":
        return "a gradient that ctx.needs_input_grad does not ask for is not computed either"
    mine, theirs = field(mine, "gradients"), field(theirs, "gradients")
    if not isinstance(theirs, list) or not isinstance(mine, list) or len(mine) != len(theirs):
        return "one result for each of the four arguments"
    for name, one, other in zip(("x", "weight", "bias", "activation"), mine, theirs):
        if not difference(one, other):
            continue
        if (one is None) != (other is None):
            return f"the gradient of {name}: computed if and only if ctx.needs_input_grad asks for it"
        if "tensor" not in (one or {}) or one["tensor"]["shape"] != other["tensor"]["shape"]:
            return f"the gradient of {name} has its shape: what was shared in the forward is summed in the backward"
        return _IN_ORDER
    return None


def _computed(torch, call, numbers):
    """Return the result of a call, and the names of the given `numbers` that it computed, in any order."""
    results = []

    class Results(torch.utils._python_dispatch.TorchDispatchMode):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            result = func(*args, **(kwargs or {}))
            results.extend(part for part in _parts(result) if isinstance(part, torch.Tensor))
            return result

    with Results():
        result = call()
    wanted = {name: tensor.detach().flatten().sort().values for name, tensor in numbers.items()}
    sorted_results = [tensor.detach().flatten().sort().values for tensor in results if tensor.is_floating_point()]
    same = (
        name for name, x in wanted.items() if any(x.shape == y.shape and torch.allclose(x, y) for y in sorted_results)
    )
    return result, [*same]


def _not_asked_for(torch, lead, features, outs, bias, activation, needs, grad):
    """The gradients that are not asked for, by name, if they cannot be mistaken for another tensor."""
    if math.prod(lead) < 2 or features == outs or 1 in (features, outs) or not any(needs):
        return {}
    inputs = [tensor for tensor in arguments(torch, lead, features, outs, bias) if tensor is not None]
    output = linear(torch, *[tensor.requires_grad_() for tensor in inputs], *[None] * (3 - len(inputs)), activation)
    gradients = zip(("x", "weight", "bias"), torch.autograd.grad(output, inputs, grad), needs)
    return {name: gradient for name, gradient, need in gradients if not need and gradient.any()}


@program(
    "on_torch.custom_ops.fused_linear_backward",
    cases=lambda st: (
        st.tuples(_contexts(st), st.sampled_from(["", "equal", "gaps", "backwards"]))
        .filter(lambda drawn: any(drawn[0]["needs"]))
        .map(lambda drawn: drawn[0] | {"layout": drawn[1]})
    ),
    edges=[*_backward_edges()],
    hint=_about_gradients,
)
def gradients(xp, lead, features, outs, bias, activation, needs, passed, layout):
    torch = xp.custom_ops.torch
    x, weight, bias = arguments(torch, lead, features, outs, bias)
    output = linear(torch, x, weight, bias, activation)
    saved = _saved_for(x, weight, bias, output, activation, needs)
    ctx = Context(_needs_of(needs, passed), saved_tensors=saved, activation=activation)
    grad = with_layout(torch, numbers(torch, output.shape, 5), layout)
    before = [copied(tensor) for tensor in (*saved, grad)]
    others = _not_asked_for(torch, lead, features, outs, bias is not None, activation, needs, grad)
    others = {} if layout == "equal" else others

    def backward():
        with recorded(operators.ARITHMETIC, operators.DELEGATES) as beyond:
            return xp.custom_ops.fused_linear_backward(ctx, grad), beyond

    (results, beyond), more = _computed(torch, backward, others)
    unchanged = [tensor is None or torch.equal(tensor, old) for tensor, old in zip((*saved, grad), before)]
    gradients = [copied(gradient) for gradient in results]
    return {"gradients": gradients, "for nothing": more, "arguments": unchanged, "beyond": beyond}


@gradients.oracle
def torch_gradients(torch, lead, features, outs, bias, activation, needs, passed, layout):
    x, weight, bias = arguments(torch, lead, features, outs, bias)
    wanted = [tensor for tensor, need in zip((x, weight, bias), needs) if need]
    for tensor in wanted:
        tensor.requires_grad_()
    output = linear(torch, x, weight, bias, activation)
    grad = with_layout(torch, numbers(torch, output.shape, 5), layout)
    computed = iter(torch.autograd.grad(output, wanted, grad) if wanted else ())
    results = [next(computed) if need else None for need in needs]
    return {"gradients": [*map(copied, results), None], "for nothing": [], "arguments": [True] * 5, "beyond": []}


def _twice(torch, function, x, weight, bias, needs):
    """The derivatives of first derivatives of a function, with respect to all inputs and to the incoming gradient."""
    inputs = [
        tensor.requires_grad_(need) if tensor is not None else None for tensor, need in zip((x, weight, bias), needs)
    ]
    wanted = [tensor for tensor, need in zip(inputs, needs) if need]
    output = function(*inputs)
    grad = numbers(torch, output.shape, 5).requires_grad_()
    first = torch.autograd.grad(output, wanted, grad, create_graph=True)
    total = sum((gradient * numbers(torch, gradient.shape, 6 + i)).sum() for i, gradient in enumerate(first))
    second = torch.autograd.grad(total, [*wanted, grad], materialize_grads=True)
    return {"first": [copied(gradient) for gradient in first], "second": [copied(gradient) for gradient in second]}


@program(
    "on_torch.custom_ops.fused_linear_backward.twice",
    cases=lambda st: _contexts(st).filter(lambda case: any(case["needs"])),
    edges=[
        *(_context(needs, activation=name) for name in ACTIVATIONS for needs in _NEEDS[1:]),
        *(_context(activation=name, lead=lead) for name in ACTIVATIONS for lead in ([], [2, 2])),
        *(_context(activation=name, lead=[2], bias=False) for name in ACTIVATIONS),
    ],
    hint=explained(
        first=_IN_ORDER,
        second="for this the first derivative has to consist of differentiable operations on the saved tensors and on grad",
    ),
    draws=60,
)
def second_derivatives(xp, lead, features, outs, bias, activation, needs, passed):
    torch = xp.custom_ops.torch

    class Linear(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x, weight, bias):
            output = linear(torch, x, weight, bias, activation)
            ctx.save_for_backward(*_saved_for(x, weight, bias, output, activation, needs))
            ctx.activation = activation
            return output

        @staticmethod
        def backward(ctx, grad):
            return xp.custom_ops.fused_linear_backward(ctx, grad)

    with recorded([*operators.ARITHMETIC, "gelu", "tanh_backward"], ["torch.func.vjp"]) as beyond:
        shown = _twice(torch, Linear.apply, *arguments(torch, lead, features, outs, bias), needs)
    return shown | {"beyond": beyond}


@second_derivatives.oracle
def torch_second_derivatives(torch, lead, features, outs, bias, activation, needs, passed):
    inputs = arguments(torch, lead, features, outs, bias)
    return _twice(torch, lambda *inputs: linear(torch, *inputs, activation), *inputs, needs) | {"beyond": []}
