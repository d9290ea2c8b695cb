"""The batching rule of the fused linear operator."""

from __future__ import annotations

from types import SimpleNamespace

from ...engine.check import program
from ...engine.recorder import recorded
from ..cases import copied, drawing, explained
from ..shared_06 import operators
from ..shared_06.operators import ACTIVATIONS, SHAPES, arguments, linear, shape, shapes

# The batching rule ---------------------------------------------------------------------------------------------------


@drawing
def _batches(draw, st):
    case = draw(shapes()(st))
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


def _batch(*in_dims, size=5, **more):
    case = shape(**{"lead": [3], "bias": len(in_dims) > 2} | more)
    passed = in_dims if case["activation"] == "none" else (*in_dims, None, None)[:4]
    return case | {"in_dims": [*passed], "size": size}


def _batched(torch, inputs, in_dims, size):
    """The arguments, each with a batch in the dimension of `in_dims`, or without a batch for None."""
    made = []
    for tensor, dim in zip(inputs, [*in_dims, None, None][:3]):
        if tensor is not None and dim is not None:
            tensor = torch.stack([tensor + 0.25 * i for i in range(size)], dim)
        made.append(None if tensor is None else tensor.detach().requires_grad_())
    return made


def _gradients(torch, result, inputs):
    """Those of the arguments, if the examples and the results have different weights."""
    weights = torch.arange(1, result.numel() + 1, dtype=result.dtype).reshape(result.shape)
    tensors = [x for x in inputs if isinstance(x, torch.Tensor)]
    return [None if x is None else copied(x) for x in torch.autograd.grad(result, tensors, weights, allow_unused=True)]


@program(
    "on_torch.custom_ops.fused_linear_vmap",
    cases=_batches,
    edges=[
        *(_batch(x, w, None) for x, w in [(0, None), (1, None), (2, None), (None, 0), (None, 1), (None, 2), (1, 2)]),
        *(_batch(x, weight, bias) for x in (None, 0, 2) for weight in (None, 0, 1) for bias in (0, 1)),
        *(_batch(0, w, bias, activation=name) for name in ACTIVATIONS for w in (None, 1) for bias in (None, 0)),
        *(_batch(x, w, lead=lead) for x, w in [(0, None), (0, 0), (None, 2)] for lead in ([], [3], [2, 3])),
        *(_batch(*dims, lead=lead) for dims in [(0, None, 1), (1, 0, 0), (None, 2, 0)] for lead in ([], [2, 3])),
        *(_batch(x, 0, None, lead=[2, 3], bias=False, activation="tanh") for x in (None, 0)),
        *[_batch(0, None, None, bias=False), _batch(0, 0, None, bias=False), _batch(0, 1, size=1)],
        _batch(1, 0, 0, size=4, lead=[4], features=4, outs=4),
        *[_batch(1, 2, 1, size=4, lead=[4, 4], features=4, outs=4), _batch(0, 0, 0, lead=[0])],
    ],
    hint=explained(
        calls_of_op="op is called once, with the activation, if only x has a batch, and not at all otherwise",
        repeated="an operator for each example is a loop: the batch is one more dimension of a single operator",
        out_dim="the batch dimension of the result is counted from the front",
        gradients="the result can be differentiated by each argument that requires grad",
    ),
)
def batches(xp, lead, features, outs, bias, activation, in_dims, size):
    torch = xp.custom_ops.torch
    calls = []

    def op(x, weight, bias=None, activation="none", /):  # as the apply of a Function is called
        sizes = [tensor if tensor is None else list(tensor.shape) for tensor in (weight, bias)]
        calls.append([len(x.shape), *sizes, activation])
        return linear(torch, x, weight, bias, activation)

    inputs = _batched(torch, arguments(torch, lead, features, outs, bias), in_dims, size)
    inputs = [*inputs, activation][: len(in_dims)]
    info = SimpleNamespace(batch_size=size, randomness="error")
    allowed = [*SHAPES, *operators.PRODUCTS, *operators.POINTWISE, "sum", "gelu"]
    with recorded(allowed, ["torch.func.vmap", "torch.vmap"]) as beyond, operators.counting(torch) as counts:
        result, out_dim = xp.custom_ops.fused_linear_vmap(op, info, tuple(in_dims), *inputs)
    result = result.movedim(out_dim, 0)
    shown = {"result": copied(result.detach()), "gradients": _gradients(torch, result, inputs), "calls of op": calls}
    products = sum(counts[name] for name in operators.PRODUCTS)
    repeated = sorted(name for name in operators.POINTWISE if counts[name] > 4) + ["product"] * (products > 3)
    return shown | {"repeated": repeated, "out dim": "negative" if out_dim < 0 else "fine", "beyond": beyond}


@batches.oracle
def torch_batches(torch, lead, features, outs, bias, activation, in_dims, size):
    inputs = _batched(torch, arguments(torch, lead, features, outs, bias), in_dims, size)

    inputs = inputs[: len(in_dims)]
    rest = *[None] * (3 - len(inputs)), activation
    result = torch.vmap(lambda *inputs: linear(torch, *inputs, *rest), tuple(in_dims[:3]))(*inputs)
    alone = [*in_dims, None][1:3] == [None] * 2
    weights = [list(inputs[1].shape), list(inputs[2].shape) if bias else None]
    calls = [[len(lead) + 2, *weights, activation]] if alone else []
    shown = {"result": copied(result.detach()), "gradients": _gradients(torch, result, inputs)}
    return shown | {"calls of op": calls, "repeated": [], "out dim": "fine", "beyond": []}
