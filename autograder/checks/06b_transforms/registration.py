"""Registration: the operator as an autograd Function."""

from __future__ import annotations

from functools import partial

from ...engine.check import program
from ..cases import copied, explained
from ..shared_06.operators import arguments, linear, shape
from ..shared_06.registration import _passed

_ONE_CALL = ("forward", "backward", "twice", "grad", "jacrev")
_BATCHED = ("vmap", "vmap of grad", "grad of vmap")
_TRANSFORMS = (*_ONE_CALL, *_BATCHED, "compile")


def _transformed(torch, op, transform, inputs):
    """One of torch's transforms of an operator, applied to one, two or three tensors: a tuple of tensors."""
    func = torch.func

    def total(*inputs):
        return (op(*inputs) ** 2).sum()

    every, first_only = tuple(range(len(inputs))), (0, *[None] * (len(inputs) - 1))
    if transform in ("backward", "twice", "compile"):
        inputs = [tensor.detach().requires_grad_() for tensor in inputs]
    if transform == "forward":
        return (op(*inputs),)
    if transform == "backward":
        return torch.autograd.grad(total(*inputs), inputs)
    if transform == "twice":
        first = torch.autograd.grad(total(*inputs), inputs, create_graph=True)
        return torch.autograd.grad(sum((gradient**2).sum() for gradient in first), inputs)
    if transform == "grad":
        return func.grad(total, every)(*inputs)
    if transform == "jacrev":
        return func.jacrev(op, every)(*inputs)
    if transform == "compile":
        compiled = torch.compile(total, fullgraph=True, backend="aot_eager")
        return torch.autograd.grad(compiled(*inputs), inputs)
    batch = [torch.stack([tensor, tensor + 0.5, tensor - 1]) for tensor in inputs]
    if transform == "vmap":
        return func.vmap(op)(*batch), func.vmap(op, first_only)(batch[0], *inputs[1:])
    if transform == "vmap of grad":
        return func.vmap(func.grad(total, every))(*batch)
    own = func.grad(lambda *batch: func.vmap(total)(*batch).sum(), every)(*batch)
    return own + func.grad(lambda *batch: func.vmap(total, first_only)(*batch).sum(), every)(batch[0], *inputs[1:])


@program(
    "on_torch.custom_ops.fused_linear_function",
    cases=lambda st: _passed(st).flatmap(
        lambda case: st.sampled_from(_TRANSFORMS[:-1]).map(lambda transform: case | {"transform": transform})
    ),
    edges=[
        *[shape([2], activation="gelu", passed=4, transform=transform) for transform in _TRANSFORMS],
        *[shape([2], bias=False, activation="tanh", passed=4, transform=transform) for transform in _TRANSFORMS[:-1]],
        *[shape([2], bias=False, passed=2, transform=transform) for transform in _TRANSFORMS[:-1]],
        *[shape([2], passed=3, transform=transform) for transform in _TRANSFORMS[:-1]],
    ],
    hint=explained(
        calls_of_op="forward calls op once, with four arguments by position; a batch without weights of its own is one call too",
        result="forward without ctx, setup_context, backward, vmap; in the batching rule the class's own apply replaces op",
    ),
    draws=40,
)
def functions(xp, lead, features, outs, bias, activation, passed, transform):
    torch, calls = xp.custom_ops.torch, []

    def op(x, weight, bias, activation, /):
        calls.append(activation)  # autograd sees nothing of the rest, as with an operator
        return linear(
            torch, *[tensor if tensor is None else tensor.detach() for tensor in (x, weight, bias)], activation
        )

    made = xp.custom_ops.fused_linear_function(op)
    xp.custom_ops.fused_linear_function(None)  # a class of its own
    tensors = [tensor for tensor in arguments(torch, lead, features, outs, bias) if tensor is not None]
    rest = (() if bias or passed == 2 else (None,)) + (activation,) * (passed == 4)
    results = _transformed(torch, lambda *inputs: made.apply(*inputs, *rest), transform, tensors)
    bases = [base.__name__ for base in made.__mro__ if base is torch.autograd.Function]
    if transform in _BATCHED:  # once or never for each call of vmap, and not for each of the three examples
        calls = "few" if len(calls) <= 2 else len(calls)
    calls = calls if transform in (*_ONE_CALL, *_BATCHED) else []
    return {"result": [copied(tensor) for tensor in results], "bases": bases, "calls of op": calls}


@functions.oracle
def torch_functions(torch, lead, features, outs, bias, activation, passed, transform):
    tensors = [tensor for tensor in arguments(torch, lead, features, outs, bias) if tensor is not None]
    op = partial(linear, torch, activation=activation)
    results = _transformed(torch, op, transform if transform != "compile" else "backward", tensors)
    calls = [activation] if transform in _ONE_CALL else "few" if transform in _BATCHED else []
    return {"result": [copied(tensor) for tensor in results], "bases": ["Function"], "calls of op": calls}
