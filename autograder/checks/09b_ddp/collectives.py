"""An all-reduce of several tensors at once."""

from __future__ import annotations

from ...engine.check import program
from ..cases import listed, numbers, rows, several, with_layout
from ..shared_09 import _KINDS, _OPS, WatchedWork, explained_by_rank, on_ranks, recorded_traffic, recorded_waits, rings


def _to_coalesce(torch, tensors, rank):
    """The tensors of a description: [shape, dtype, layout] each."""
    made = []
    for i, (shape, kind, layout) in enumerate(tensors):
        tensor = with_layout(torch, numbers(torch, shape, 5 * rank + i, kind), layout)
        made.append(tensor.permute([*reversed(range(tensor.dim()))]) if layout == "turned" else tensor)
    return made


_tensor = listed(several((0, 3), 0, 3), _KINDS, ["plain", "plain", "gaps", "turned"])


@program(
    "distributed.collectives.all_reduce_coalesced",
    cases=lambda st: rings(st, op=_OPS, tensors=lambda _: several(_tensor, 0, 5)),
    edges=rows(
        "ranks members op tensors",
        (2, None, "SUM", [[[3], "float64", "plain"]]),
        (2, None, "SUM", [[[3], "float64", "plain"], [[2, 2], "float64", "plain"]]),
        (3, None, "SUM", [[[2], "int64", "plain"], [[3], "float32", "plain"], [[1], "int64", "plain"]]),
        (3, None, "MAX", [[[], "float64", "plain"], [[2, 3], "float64", "turned"], [[3], "int64", "gaps"]]),
        (2, None, "SUM", [[[2], "float32", "plain"], [[2], "float64", "plain"], [[3], "float32", "gaps"]]),
        (3, [1, 2], "SUM", [[[2, 2], "float64", "turned"], [[0, 2], "float64", "plain"]]),
        (3, [0, 2], "MAX", [[[0], "int64", "plain"], [[2], "float64", "plain"]]), (2, None, "SUM", []),
    ),
    hint=explained_by_rank(
        waits="nothing is waited for before wait() is called",
        written_before_wait="the tensors are written to by wait(), not before",
        works="wait() waits for one work of each all_reduce, which it returns if async_op=True",
        sent="one all_reduce for each dtype, of all the elements of that dtype in one buffer, in order of first appearance",
        tensors="each tensor takes its own elements back from its buffer, in its own shape",
    ),
    draws=6,
)  # fmt: skip
@on_ranks
def coalesced(xp, torch, group, op, tensors):
    given = _to_coalesce(torch, tensors, torch.distributed.get_rank(group))
    before, reduction = [tensor.clone() for tensor in given], getattr(torch.distributed.ReduceOp, op)
    memory = [tensor.detach() for tensor in given]
    with (
        recorded_traffic(["all_reduce"]) as seen,
        xp.distributed.Traffic() as traffic,
        recorded_waits("all_reduce") as waited,
    ):
        pending = xp.distributed.collectives.all_reduce_coalesced([*given], reduction, group)
        written = [i for i, pair in enumerate(zip(given, before)) if not torch.equal(*pair)]
        sent, waits = traffic.operations[:], [*waited]
        pending.wait()
    works = sum(isinstance(work, torch.distributed.Work | WatchedWork) for work in pending.works)
    seen = {"sent": [operation.nbytes for operation in sent], "beyond": seen["beyond"], "waits": waits}
    return seen | {
        "written before wait": written or None,
        "works": works,
        "tensors": [tensor.clone() for tensor in memory],
    }


@coalesced.oracle
@on_ranks
def one_by_one(torch, group, op, tensors):
    given, sent = _to_coalesce(torch, tensors, torch.distributed.get_rank(group)), {}
    for tensor in given:
        sent[tensor.dtype] = sent.get(tensor.dtype, 0) + tensor.nbytes
        flat = tensor.contiguous()
        torch.distributed.all_reduce(flat, getattr(torch.distributed.ReduceOp, op), group)
        tensor.copy_(flat)
    seen = {"sent": [*sent.values()], "beyond": [], "waits": [], "written before wait": None, "works": len(sent)}
    return seen | {"tensors": [tensor.clone() for tensor in given]}
