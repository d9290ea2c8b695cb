"""The check of lab 00 that runs all pieces together."""

from ...engine.check import program
from .keys import OPERATORS, case_of, kernels, keys, keys_there, table_of
from .sources import layers

_PLACES = ("", "autocast", "inference")


@program(
    "together.trace",
    cases=lambda st: st.builds(
        lambda op, case: {"op": f"aten::{op}"} | case,
        st.sampled_from(OPERATORS),
        st.sampled_from([case_of(kind, place) for kind in ("plain", "meta", "conjugate") for place in _PLACES]),
    ),
    edges=[
        {"op": f"aten::{op}"} | case_of("plain", place) for op in ("add.Tensor", "matmul") for place in ("", "autocast")
    ],
    draws=20,
)
def path_of_a_call(xp, op, kind, before, places):
    trace, table = xp.trace, table_of(xp.trace.torch, op)
    served = keys_there(trace.torch, lambda x: trace.serving(table, trace.keys_in_order(x)), kind, before, places)
    return served and [*served, trace.layer_of(served[1].rpartition(":")[0])]


@path_of_a_call.oracle
def torch_path_of_a_call(torch, op, kind, before, places):
    served = kernels.torch_program(torch, op, keys.torch_program(torch, kind, before, places))
    return served and [*served, layers.torch_program(torch, served[1].rpartition(":")[0])]
