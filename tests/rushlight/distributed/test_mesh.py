import itertools

import pytest
import torch
import torch.distributed as dist
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.tensor import DTensor, Partial, Replicate, Shard, distribute_tensor
from torch.distributed.tensor.debug import CommDebugMode

from rushlight.distributed import Traffic, run_ranks
from rushlight.distributed.mesh import mesh_groups, redistribute, redistribute_on_mesh
from rushlight.distributed.shards import shard_sizes

WHOLE = [Replicate(), Shard(0), Shard(1)]
SHAPES = [(5, 4), (1, 6), (0, 3), (3, 2, 2)]


def spread(mesh, shape, placements):
    """A DTensor; a Partial has another summand on each rank."""
    full = torch.arange(float(torch.Size(shape).numel())).reshape(shape)
    sharded = [placement if placement.is_shard() else Replicate() for placement in placements]
    local = distribute_tensor(full, mesh, sharded).to_local()
    if any(placement.is_partial() for placement in placements):
        local = local * (dist.get_rank() + 1)
    return DTensor.from_local(local, mesh, placements, run_check=False, shape=full.shape, stride=full.stride())


def both(mesh, shape, source, target, ours):
    """The local results, ours and DTensor's, and what was called for each."""
    spreaded = spread(mesh, shape, source)
    with Traffic() as traffic:
        local = ours(spreaded.to_local().clone())
    with CommDebugMode() as counts:
        torchs = spreaded.redistribute(mesh, target).to_local()
    assert local.shape == torchs.shape, (shape, source, target)
    assert torch.equal(local, torchs), (shape, source, target)
    mine = dict(traffic.counts)
    if "all_to_all" in mine:  # without a GPU torch makes it of an all-gather
        mine["all_gather"] = mine.get("all_gather", 0) + mine.pop("all_to_all")
    names = {"all_gather_into_tensor": "all_gather", "reduce_scatter_tensor": "reduce_scatter"}
    called = {str(op).rpartition(".")[2]: count for op, count in counts.get_comm_counts().items()}
    return mine, {names.get(name, name): count for name, count in called.items()}


@pytest.mark.parametrize("ranks", [1, 2, 3])
def test_a_tensor_is_redistributed_as_a_dtensor_is_by_the_same_collectives(ranks):
    def pairs():
        mesh = init_device_mesh("cpu", (ranks,))
        for shape, source, target in itertools.product(SHAPES, [*WHOLE, Partial(), Partial("max")], WHOLE):
            mine, torchs = both(
                mesh, shape, [source], [target], lambda local: redistribute(local, shape, source, target)
            )
            assert ranks == 1 or mine == torchs, (shape, source, target, mine, torchs)

    run_ranks(pairs, ranks)


@pytest.mark.sweep
def test_on_a_mesh_of_two_dimensions_too():
    def pairs():
        mesh = init_device_mesh("cpu", (2, 2))
        kinds = [*WHOLE, Partial()]
        for source, target in itertools.product(itertools.product(kinds, kinds), itertools.product(WHOLE, WHOLE)):
            mine, torchs = both(
                mesh, (5, 3), source, target, lambda local: redistribute_on_mesh(local, (5, 3), mesh, source, target)
            )
            assert mine == torchs, (source, target, mine, torchs)

    run_ranks(pairs, 4)


def test_a_tensor_cannot_be_made_partial():
    def refused():
        with pytest.raises(RuntimeError):
            redistribute(torch.ones(2), (2,), Replicate(), Partial())
        with pytest.raises(RuntimeError):
            redistribute(torch.ones(2), (2,), Partial(), Partial("max"))
        return redistribute(torch.ones(2), (2,), Partial("max"), Partial("max")).tolist()

    assert run_ranks(refused, 1) == [[1.0, 1.0]]


@pytest.mark.parametrize("ranks", [1, 2, 3, 4, 7])
def test_shards_are_the_chunks_of_torch(ranks):
    for size in range(20):
        chunks = [len(each) for each in torch.arange(size).chunk(ranks)] if size else []
        assert [size for size, _ in shard_sizes(size, ranks)] == chunks + [0] * (ranks - len(chunks))


def test_groups_of_a_mesh_are_in_its_order():
    mesh = torch.tensor([[3, 1], [2, 0]])
    assert mesh_groups(mesh, 0) == [[3, 2], [1, 0]]
    assert mesh_groups(mesh, -1) == [[3, 1], [2, 0]]
    with pytest.raises(IndexError):
        mesh_groups(mesh, 2)
