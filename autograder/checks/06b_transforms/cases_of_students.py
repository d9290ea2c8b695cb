"""Cases of a student for `fused_linear_vmap`."""

from __future__ import annotations

from types import SimpleNamespace

from ...engine.check import program
from ..cases import breaking, copied, no_cases
from ..shared_06.operators import arguments, linear
from .fused_linear import _batched

BREAKS, BODIES = "course.breaks.breaks_fused_linear_vmap", "06b.fused_linear_vmap"


@program(f"{BREAKS}.half", cases=no_cases, edges=[{}], examine=breaking(BODIES, "1/2"))
def breaks_half(xp):
    return xp.breaks.breaks_fused_linear_vmap()


@program(f"{BREAKS}.most", cases=no_cases, edges=[{}], examine=breaking(BODIES, "3/4"))
def breaks_most(xp):
    return xp.breaks.breaks_fused_linear_vmap()


@program(BREAKS, cases=no_cases, edges=[{}], examine=breaking(BODIES, "1"))
def breaks_fused_linear_vmap(xp, **case):
    """The cases, or the result of one of them, with the batch in front."""
    if not case:
        return xp.breaks.breaks_fused_linear_vmap()
    module = xp.custom_ops
    assert _is_a_batch(**case)
    inputs, in_dims = _batch_of_case(module.torch, **case)
    info = SimpleNamespace(batch_size=case["batch_size"], randomness="error")
    result, out_dim = module.fused_linear_vmap(module.fused_linear, info, in_dims, *inputs)
    return copied(result.movedim(out_dim, 0))


@breaks_fused_linear_vmap.oracle
def _(torch, **case):
    if not _is_a_batch(**case):
        raise TypeError("at most three sizes, all sizes up to 8, and a batch are needed")
    inputs, in_dims = _batch_of_case(torch, **case)
    return copied(torch.vmap(lambda *inputs: linear(torch, *inputs), in_dims)(*inputs))


def _is_a_batch(lead, features, outs, batch_size, x, weight, bias, **activation):
    fits = len(lead) <= 3 and all(0 <= size <= 8 for size in lead)
    fits = fits and all(1 <= size <= 8 for size in (features, outs, batch_size))
    return fits and any(place in ("first", "last") for place in (x, weight, bias))


def _batch_of_case(torch, lead, features, outs, batch_size, x, weight, bias, activation):
    """The arguments of a case that are passed, and the batch dimension of each."""
    inputs = arguments(torch, lead, features, outs, bias != "left out")
    places = [{"first": 0, "last": -1}.get(place) for place in (x, weight, bias)]
    made = _batched(torch, inputs, places, batch_size)
    dims = [place if place is None else place % tensor.dim() for place, tensor in zip(places, made)]
    passed = 4 if activation != "none" else 2 if bias == "left out" else 3
    return [*(x if x is None else x.detach() for x in made), activation][:passed], (*dims, None)[:passed]
