"""Lab 09, checkpoints of shards: which pieces a region needs, and loading what other ranks have saved."""

from __future__ import annotations

import sys

from ...engine.check import program
from ...engine.recorder import called
from ..cases import copied, drawing, error_name, explained, listed, numbers, rows
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


@drawing
def _boxes(draw, st):
    """The pieces into which a tensor is cut, in any order, some perhaps missing, and a region."""
    n = draw(st.integers(0, 3))
    size = [draw(st.integers(1, 6)) for _ in range(n)]
    pieces = [([], [])]
    for length in size:
        cuts = sorted({0, length, *draw(st.lists(st.integers(0, length), max_size=2))})
        parts = list(zip(cuts, cuts[1:]))
        pieces = [([*o, a], [*s, b - a]) for o, s in pieces for a, b in parts]
    pieces = draw(st.permutations(pieces))[: draw(st.integers(1, len(pieces)))]
    offsets = [draw(st.integers(0, length)) for length in size]
    sizes = [draw(st.integers(0, length - start)) for length, start in zip(size, offsets)]
    return {"size": size, "pieces": [list(piece) for piece in pieces], "offsets": offsets, "sizes": sizes}


_quarters = [[[0, 0], [2, 3]], [[0, 3], [2, 2]], [[2, 0], [3, 3]], [[2, 3], [3, 2]]]


@program(
    "distributed.checkpoint.plan_load",
    cases=_boxes,
    edges=rows(
        "size pieces offsets sizes",
        ([5, 5], _quarters, [0, 0], [5, 5]), ([5, 5], _quarters, [1, 1], [3, 3]), ([5, 5], _quarters, [1, 1], [1, 2]),
        ([5, 5], _quarters, [2, 3], [3, 2]), ([5, 5], _quarters, [0, 3], [2, 1]), ([5, 5], _quarters, [4, 4], [1, 1]),
        ([5, 5], _quarters, [2, 0], [0, 5]), ([5, 5], _quarters[::-1], [0, 2], [5, 2]),
        ([5, 5], [_quarters[0], [[5, 0], [0, 5]], _quarters[3]], [0, 0], [5, 5]),
        ([5, 5], [[[0, 0], [5, 5]], [[0, 0], [5, 5]]], [3, 0], [2, 5]), ([], [[[], []]], [], []), ([], [[[], []]] * 2, [], []),
        ([6], [[[0], [2]], [[2], [2]], [[4], [2]]], [1], [4]), ([6], [[[0], [6]]], [2], [3]),
        ([6], [[[2], [2]]], [0], [6]),
    ),
    hint=explained(
        reads="in each dimension the overlap is from the larger start to the smaller end; `source` counts from the piece's "
        "offset, `target` from the region's; nothing is read where a length is 0"
    ),
)  # fmt: skip
def plans(xp, size, pieces, offsets, sizes):
    checkpoint = xp.distributed.checkpoint
    saved = [checkpoint.Piece(tuple(o), tuple(s)) for o, s in pieces]
    torchs = "torch.distributed.checkpoint.planner_helpers"  # takes long to import, and importing it counts as a call
    known = torchs in sys.modules
    with called([f"{torchs}.create_read_items_for_chunk_list"] * known) as beyond:
        reads = checkpoint.plan_load(saved, tuple(offsets), tuple(sizes))
    beyond += [torchs] * (torchs in sys.modules and not known)
    assert isinstance(reads, (list, tuple)), "the result is not a list"
    return {"reads": [[r.piece, *map(list, (r.source, r.target, r.lengths))] for r in reads], "beyond": beyond}


@plans.oracle
def torch_plans(torch, size, pieces, offsets, sizes):
    return {"reads": _reads_of_torch(torch, size, pieces, offsets, sizes), "beyond": []}


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
