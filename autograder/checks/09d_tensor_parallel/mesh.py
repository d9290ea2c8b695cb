"""The device mesh: tensors that change their placements."""

from __future__ import annotations

import math
from contextlib import contextmanager

from ...engine.check import program
from ...engine.observe import difference
from ..cases import drawing, error_name, first_apart, numbers, rows
from ..shared_09 import on_ranks, recorded_traffic, rings

_WHOLE = ["R", "S0", "S1"]
_PARTS = ["P sum", "P max"]


def _placement(text):
    """The placement that "R", "S1" or "P max" means."""
    from torch.distributed.tensor import Partial, Replicate, Shard

    return Replicate() if text == "R" else Shard(int(text[1:])) if text[0] == "S" else Partial(text[2:])


def _local(torch, shape, source, rank, ranks):
    """A rank's part of a tensor before it is redistributed: the whole, a shard, or a summand that differs by rank."""
    if source[0] == "P":
        return numbers(torch, shape, rank)
    whole = numbers(torch, shape)
    if source == "R":
        return whole
    parts, dim = whole.chunk(ranks, int(source[1:])), int(source[1:])
    empty = whole.narrow(dim, 0, 0)
    return (parts[rank] if rank < len(parts) and shape[dim] else empty).contiguous()


def _padded_bytes(local, shape, source, target, ranks):
    """How many bytes all of a rank's pieces have if shards are as large as the first one."""
    sizes = [*shape]
    for placement in (source, target):
        sizes[int(placement[1:])] = -(-shape[int(placement[1:])] // ranks)
    return ranks * math.prod(sizes) * local.element_size()


@drawing
def _changes(draw, st):
    shape = draw(st.lists(st.integers(0, 5), min_size=2, max_size=3))
    of = [*_WHOLE, "S2"] if len(shape) == 3 else _WHOLE
    seldom = draw(st.integers(0, 5)) == 0
    change = st.tuples(st.sampled_from([*of, *_PARTS]), st.sampled_from([*of, *_PARTS] if seldom else of))
    changes = draw(st.lists(change.map(list), min_size=1, max_size=6))
    return draw(rings(st)) | {"shape": shape, "changes": changes}


_ALL = [[source, target] for source in [*_WHOLE, *_PARTS] for target in _WHOLE]
_CHANGES = rows(
    "ranks members shape changes",
    (2, None, [4, 2], [["S0", "R"]]), (2, None, [4, 2], [["P sum", "R"]]), (2, None, [4, 2], [["P sum", "S0"]]),
    (2, None, [4, 2], [["S0", "S1"]]), (2, None, [4, 2], _ALL),
    (2, None, [4, 2], [["R", "P sum"], ["S0", "P sum"], ["P sum", "P max"], ["P max", "P max"]]),
    (3, None, [5, 4], _ALL), (4, None, [5, 2], _ALL), (3, None, [1, 7], _ALL), (2, None, [0, 3], _ALL),
    (1, None, [3, 2], [["P sum", "R"], ["R", "S1"], ["R", "P sum"], ["S0", "P max"]]),
    (3, [1, 2], [3, 5], _ALL), (4, [0, 2, 3], [4, 5], _ALL),
    (3, None, [2, 4, 5], [["S2", "S0"], ["S1", "S2"], ["S2", "R"], ["P sum", "S2"], ["R", "S2"]]),
    (3, None, [5], [["S0", "R"], ["R", "S0"], ["P sum", "S0"], ["P min", "R"], ["P min", "S0"]]),
)  # fmt: skip


def _about_placements(case, mine, theirs):
    if not (isinstance(mine, list) and isinstance(theirs, list)):
        return None
    reasons = {
        "called": "the collective of the table, once, and of shards no larger than the first one",
        "shard afterwards": "the shard that is given is only read",
        "padding": "every rank's shard is as shard_sizes says, without any padding of the collective",
    }
    for rank, (ours, torchs) in enumerate(zip(mine, theirs)):
        for (source, target), one, other in zip(case["changes"], ours or [], torchs or []):
            if apart := difference(one, other):
                why = reasons.get(
                    "padding" if "local: shape" in apart else first_apart(one, other), "not as the table says"
                )
                return f"rank {rank}, from {source} to {target}: {why}"
    return None


@program("distributed.mesh.redistribute", cases=_changes, edges=_CHANGES, hint=_about_placements, draws=6)
@on_ranks
def redistribution(xp, torch, group, shape, changes):
    rank, count = torch.distributed.get_rank(group), torch.distributed.get_world_size(group)
    seen = []
    for number, (source, target) in enumerate(changes):
        local, whole = _local(torch, shape, source, rank, count), (tuple, list)[number % 2](shape)
        before, at = local.clone(), (_placement(source), _placement(target))
        try:
            with recorded_traffic(["all_reduce", "all_gather", "reduce_scatter", "all_to_all"]) as traffic:
                result = xp.distributed.mesh.redistribute(local, whole, *at, group)
        except RuntimeError as error:
            seen.append(error_name(error))
            continue
        called = traffic["sent"] if count > 1 else {}
        if "all_to_all" in called and called["all_to_all"][1] <= _padded_bytes(local, shape, source, target, count):
            called["all_to_all"].pop()  # torch pads what it sends
        result = result.clone(memory_format=torch.contiguous_format)
        after = None if torch.equal(local, before) else local
        seen.append({"local": result, "called": called, "shard afterwards": after, "beyond": traffic["beyond"]})
    return seen


@redistribution.oracle
@on_ranks
def torch_redistribution(torch, group, shape, changes):
    from torch.distributed.tensor import DeviceMesh, DTensor

    mesh = DeviceMesh.from_group(group or torch.distributed.group.WORLD, "cpu")
    seen, strides = [], torch.empty(shape).stride()
    for source, target in changes:
        local = _local(torch, shape, source, mesh.get_local_rank(), mesh.size())
        whole = {"run_check": False, "shape": torch.Size(shape), "stride": strides}
        spread = DTensor.from_local(local, mesh, [_placement(source)], **whole)
        try:
            with _recorded_collectives() as called:
                result = spread.redistribute(mesh, [_placement(target)]).to_local()
        except RuntimeError as error:
            seen.append(error_name(error))
            continue
        result = result.clone(memory_format=torch.contiguous_format)
        seen.append(
            {"local": result, "called": called if mesh.size() > 1 else {}, "shard afterwards": None, "beyond": []}
        )
    return seen


@contextmanager
def _recorded_collectives():
    """Within: records the collectives of DTensor by kind, how often and how many bytes, in a dict that is filled at the end.
    On CPUs DTensor makes an all-to-all of an all-gather, so its bytes are unknown."""
    import logging

    from torch.distributed.tensor import placement_types
    from torch.distributed.tensor.debug import CommDebugMode

    from rushlight.distributed import Traffic

    names = {"all_gather_into_tensor": "all_gather", "reduce_scatter_tensor": "reduce_scatter"}
    called, at_once, before = {}, [], placement_types.shard_dim_alltoall

    def all_to_all(*args):
        at_once.append(args)
        return before(*args)

    logging.disable(logging.WARNING)  # torch warns of that all-gather each time
    placement_types.shard_dim_alltoall = all_to_all
    try:
        with CommDebugMode() as counts, Traffic() as traffic:
            yield called
    finally:
        placement_types.shard_dim_alltoall = before
        logging.disable(logging.NOTSET)
    for op, count in counts.get_comm_counts().items():
        name = str(op).rpartition(".")[2]
        kind = names.get(name, name)
        called[kind] = [count, traffic.nbytes[kind]]
    if at_once:
        called.clear()
        called["all_to_all"] = [len(at_once)]
