"""Checkpoints of shards, saved by some ranks and loaded by others."""

import pytest

torch = pytest.importorskip("torch")

from rushlight.distributed.checkpoint import Piece, Shard, Store, load_shards, plan_load  # noqa: E402


def shards(tensor, ranks, dim=0):
    """A shard for each rank, cut as torch.chunk cuts."""
    parts = list(torch.chunk(tensor, ranks, dim))
    parts += [tensor.narrow(dim, tensor.shape[dim], 0)] * (ranks - len(parts))
    starts = [sum(part.shape[dim] for part in parts[:rank]) for rank in range(ranks)]
    offsets = [tuple(start if d == dim else 0 for d in range(tensor.dim())) for start in starts]
    return [Shard(part.clone(), offset, tuple(tensor.shape)) for part, offset in zip(parts, offsets, strict=True)]


@pytest.mark.parametrize(("before", "after"), [(2, 4), (4, 2), (3, 1), (1, 3), (4, 3)])
def test_what_was_saved_is_loaded_at_another_world_size(tmp_path, before, after):
    whole = {"a": torch.arange(30.0).reshape(5, 6), "b": torch.arange(3)}
    for rank in range(before):
        Store(tmp_path).save({name: shards(x, before)[rank] for name, x in whole.items()}, rank)
    for rank in range(after):
        wanted = {"a": shards(whole["a"], after, 1)[rank], "b": shards(whole["b"], after)[rank]}
        state = {n: Shard(torch.full_like(s.data, -1), s.offsets, s.size) for n, s in wanted.items()}
        load_shards(Store(tmp_path), state)
        for name, shard in wanted.items():
            torch.testing.assert_close(state[name].data, shard.data)


def test_the_plan_is_that_of_torch():
    from torch.distributed.checkpoint.metadata import ChunkStorageMetadata, TensorProperties, TensorStorageMetadata
    from torch.distributed.checkpoint.planner_helpers import create_read_items_for_chunk_list

    boxes = [((0, 0), (2, 5)), ((2, 0), (2, 3)), ((2, 3), (2, 2)), ((4, 0), (1, 5)), ((5, 0), (0, 5))]
    chunks = [ChunkStorageMetadata(torch.Size(o), torch.Size(s)) for o, s in boxes]
    saved = TensorStorageMetadata(TensorProperties(), torch.Size((5, 5)), chunks)
    for offsets, sizes in [((0, 0), (5, 5)), ((1, 2), (3, 2)), ((0, 0), (0, 5)), ((4, 4), (1, 1))]:
        wanted = [ChunkStorageMetadata(torch.Size(offsets), torch.Size(sizes))]
        items = create_read_items_for_chunk_list("x", saved, wanted)
        theirs = sorted(
            (i.storage_index.index, *map(tuple, (i.storage_offsets, i.dest_offsets, i.lengths))) for i in items
        )
        mine = plan_load([Piece(*box) for box in boxes], offsets, sizes)
        assert [(r.piece, r.source, r.target, r.lengths) for r in mine] == theirs
