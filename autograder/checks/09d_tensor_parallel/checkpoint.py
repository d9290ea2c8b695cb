"""Lab 09, checkpoints of shards: cases of a student for the plan of a load, and loading what other ranks have saved."""

from __future__ import annotations

from ...engine.check import program
from ..cases import breaking, copied, error_name, explained, listed, no_cases, numbers, rows
from ..shared_09 import UNEVEN, units, with_strides


def _reads_of_torch(torch, size, pieces, offsets, sizes):
    """The reads of torch, sorted by the pieces' numbers: number, start in the piece, start in the region, lengths."""
    from torch.distributed.checkpoint.metadata import ChunkStorageMetadata, TensorProperties, TensorStorageMetadata
    from torch.distributed.checkpoint.planner_helpers import create_read_items_for_chunk_list

    chunks = [ChunkStorageMetadata(torch.Size(o), torch.Size(s)) for o, s in pieces]
    saved = TensorStorageMetadata(TensorProperties(), torch.Size(size), chunks)
    wanted = [ChunkStorageMetadata(torch.Size(offsets), torch.Size(sizes))]
    items = create_read_items_for_chunk_list("x", saved, wanted)
    rows = [[i.storage_index.index, *map(list, (i.storage_offsets, i.dest_offsets, i.lengths))] for i in items]
    return sorted(row for row in rows if 0 not in row[3])


BREAKS, BODIES = "course.breaks.breaks_plan_load", "09d.plan_load"


@program(f"{BREAKS}.half", cases=no_cases, edges=[{}], examine=breaking(BODIES, "1/2"))
def breaks_half(xp):
    return xp.course.breaks.breaks_plan_load()


@program(f"{BREAKS}.most", cases=no_cases, edges=[{}], examine=breaking(BODIES, "3/4"))
def breaks_most(xp):
    return xp.course.breaks.breaks_plan_load()


@program(BREAKS, cases=no_cases, edges=[{}], examine=breaking(BODIES, "1"))
def breaks_plan_load(xp, **case):
    """The cases, or what `plan_load` reads for one of them."""
    if not case:
        return xp.course.breaks.breaks_plan_load()
    assert _describes_boxes(**case)
    checkpoint, (*pieces, (offsets, sizes)) = xp.distributed.checkpoint, map(_box, [*case["pieces"], case["region"]])
    reads = checkpoint.plan_load([checkpoint.Piece(*piece) for piece in pieces], offsets, sizes)
    return [[read.piece, *map(list, (read.source, read.target, read.lengths))] for read in reads]


@breaks_plan_load.oracle
def _(torch, pieces, region):
    if not _describes_boxes(pieces, region):
        raise ValueError("it describes no pieces of a tensor and no region")
    *pieces, (offsets, sizes) = map(_box, [*pieces, region])
    return _reads_of_torch(torch, sizes, pieces, offsets, sizes)  # torch does not read the size of the whole tensor


def _describes_boxes(pieces, region):
    few = all(len(box) == len(region) and all(0 <= number <= 100 for number in box) for box in [*pieces, region])
    return few and len(region) % 2 == 0 < len(pieces)


def _box(numbers):
    """The offsets and the sizes, which a list has one after the other."""
    dims = len(numbers) // 2
    return tuple(numbers[:dims]), tuple(numbers[dims:])


def _dealt(torch, tensor, ranks, dim):
    """For each rank its part along a dimension, as torch.chunk cuts, and where it begins. Without dimensions it is the whole."""
    if not tensor.dim():
        return [(tensor, ())] * ranks
    dim = min(dim, tensor.dim() - 1)
    parts = [*torch.chunk(tensor, ranks, dim)]
    parts += [tensor.narrow(dim, tensor.shape[dim], 0)] * (ranks - len(parts))
    dealt, start = [], 0
    for part in parts:
        dealt.append((part, tuple(start if d == dim else 0 for d in range(tensor.dim()))))
        start += part.shape[dim]
    return dealt


def _names(torch, sizes):
    return {f"p{i}": numbers(torch, shape, i + 1) for i, shape in enumerate(sizes)}


_UNITS = units(
    before=listed((1, 4), (0, 1)), after=listed((1, 4), (0, 1)), only=(1, 4), kind=["float64", "float32"],
    layout=["", "backwards", "parameter"], wrong=["", "", "", "name", "larger", "smaller"],
)  # fmt: skip


@program(
    "distributed.checkpoint.load_shards",
    cases=lambda st: _UNITS(st).map(lambda case: {name: value for name, value in case.items() if name != "ranks"}),
    edges=rows(
        "sizes before after only kind layout wrong",
        (UNEVEN, [2, 0], [2, 0], 4, "float64", "", ""), (UNEVEN, [2, 0], [4, 0], 4, "float64", "", ""),
        (UNEVEN, [4, 0], [3, 1], 4, "float64", "backwards", ""), (UNEVEN, [3, 1], [1, 0], 2, "float32", "", ""),
        (UNEVEN, [1, 0], [2, 0], 4, "float64", "parameter", ""), (UNEVEN, [2, 0], [3, 0], 3, "float64", "", "name"),
        (UNEVEN, [2, 0], [3, 0], 3, "float64", "", "larger"), (UNEVEN, [2, 0], [3, 0], 3, "float64", "", "smaller"),
        (UNEVEN, [2, 0], [3, 0], 3, "float64", "", "turned"), ([[], [3]], [2, 0], [3, 0], 2, "float64", "", ""),
    ),
    hint=explained(
        ranks="store.read goes into shard.data, in place; before anything else, check the names and the sizes",
        reads="plan_load says what to read of which piece; call store.read once for each read",
    ),
    draws=20,
)  # fmt: skip
def loading(xp, sizes, before, after, only, kind, layout, wrong):
    import tempfile

    import torch

    checkpoint, reads = xp.distributed.checkpoint, []

    class Counted(checkpoint.Store):
        def read(self, file, name, source, lengths):
            reads.append([file, name, [*source], [*lengths]])
            return super().read(file, name, source, lengths)

    def load(store, rank):
        state = {}
        for name in [*wholes][:only]:
            part, offsets = _dealt(torch, wholes[name], *after)[rank]
            data = with_strides(torch, [*part.shape], kind, layout, 9)
            state[name] = checkpoint.Shard(data, offsets, tuple(wholes[name].shape))
        last = state[[*state][-1]]
        if wrong in ("larger", "smaller"):
            last.size = (last.size[0] + (1 if wrong == "larger" else -1), *last.size[1:])
        if wrong == "turned":
            last.size = last.size[::-1]
        if wrong == "name":
            state["elsewhere"] = last
        objects, raised = [shard.data for shard in state.values()], ""
        memory = [tensor.detach() for tensor in objects]
        try:
            recorded = rank == 0
            with torch.set_grad_enabled(recorded):
                checkpoint.load_shards(store, state)
                assert torch.is_grad_enabled() == recorded, "grad mode is not what it was before"
        except (KeyError, ValueError) as error:
            raised = error_name(error)
        same = [shard.data is old for shard, old in zip(state.values(), objects)]
        trained = [tensor.requires_grad == (layout == "parameter") for tensor in objects]
        assert all(trained), "a parameter does not require grad any more"
        return [raised, [copied(tensor) for tensor in memory], same]

    wholes = _names(torch, sizes)
    with tempfile.TemporaryDirectory() as folder:
        store = Counted(folder)
        for rank in range(before[0]):
            parts = {name: _dealt(torch, whole, *before)[rank] for name, whole in wholes.items()}
            store.save({n: checkpoint.Shard(*parts[n], tuple(whole.shape)) for n, whole in wholes.items()}, rank)
        seen = [load(store, rank) for rank in range(after[0])]
    return {"ranks": seen, "reads": sorted(reads)}


@loading.oracle
def torch_loading(torch, sizes, before, after, only, kind, layout, wrong):
    seen, reads, wholes = [], [], _names(torch, sizes)
    for rank in range(after[0]):
        loaded = []
        for name in [*wholes][:only]:
            part, offsets = _dealt(torch, wholes[name], *after)[rank]
            pieces = [(start, part.shape) for part, start in _dealt(torch, wholes[name], *before)]
            values = numbers(torch, [*part.shape], 9, kind) if wrong else part.to(getattr(torch, kind))
            loaded.append(copied(values))
            for number, source, _, lengths in _reads_of_torch(torch, wholes[name].shape, pieces, offsets, part.shape):
                reads.append([f"shards-{number}.pt", name, source, lengths])
        loaded += loaded[-1:] * (wrong == "name")
        raised = {"": "", "name": "KeyError"}.get(wrong, "ValueError")
        seen.append([raised, loaded, [True] * len(loaded)])
    return {"ranks": seen, "reads": [] if wrong else sorted(reads)}
