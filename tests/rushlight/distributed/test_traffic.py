import pytest
import torch
import torch.distributed as dist

from rushlight.distributed import Traffic, run_ranks

SAME = {
    "allreduce_": "all_reduce",
    "all_reduce": "all_reduce",
    "broadcast_": "broadcast",
    "allgather_": "all_gather",
    "_allgather_base_": "all_gather",
    "all_gather_into_tensor": "all_gather",
    "_reduce_scatter_base_": "reduce_scatter",
    "reduce_scatter_tensor": "reduce_scatter",
    "all_to_all_single": "all_to_all",
    "shard_dim_alltoall": "all_to_all",
    "scatter_": "scatter",
}


def layers():
    return torch.nn.Sequential(torch.nn.Linear(8, 8), torch.nn.ReLU(), torch.nn.Linear(8, 8))


def ddp():
    model = torch.nn.parallel.DistributedDataParallel(layers(), bucket_cap_mb=0.0001)
    model(torch.ones(2, 8, requires_grad=True)).sum().backward()


def fsdp():
    from torch.distributed.fsdp import fully_shard

    model = layers()
    for layer in (model[0], model[2], model):
        fully_shard(layer)
    model(torch.ones(2, 8, requires_grad=True)).square().sum().backward()


def dtensor():
    from torch.distributed.tensor import Replicate, Shard, distribute_tensor, init_device_mesh

    mesh = init_device_mesh("cpu", (dist.get_world_size(),))
    x = distribute_tensor(torch.ones(4, 6, requires_grad=True), mesh, [Shard(0)])
    y = x.redistribute(mesh, [Shard(1)]).redistribute(mesh, [Replicate()])
    z = x.redistribute(mesh, [Shard(1)]) @ distribute_tensor(torch.ones(6, 2), mesh, [Shard(0)])
    (y.sum() + z.redistribute(mesh, [Shard(0)]).sum()).full_tensor().backward()


def counted(work):
    """Return torch's counts of a program, rushlight's counts, and the traffic of each operation."""
    from torch.distributed.tensor.debug import CommDebugMode

    torch.manual_seed(0)
    with CommDebugMode() as torchs:
        work()
    with Traffic() as traffic:
        work()
    theirs: dict = {}
    for packet, count in torchs.get_comm_counts().items():
        kind = SAME[packet.__name__]
        theirs[kind] = theirs.get(kind, 0) + count
    return theirs, traffic


@pytest.mark.parametrize("work", [ddp, fsdp, dtensor], ids=lambda work: work.__name__)
def test_collectives_are_counted_as_torch_counts_them(work):
    for theirs, traffic in run_ranks(counted, 2, work):
        assert traffic.counts == theirs and len(theirs) > 1


def test_bytes_of_data_parallel_training_are_those_of_the_gradients_or_the_shards():
    (_, whole), (_, other) = run_ranks(counted, 2, ddp)
    size = 4 * sum(parameter.numel() for parameter in layers().parameters())
    assert whole.nbytes["all_reduce"] == other.nbytes["all_reduce"] == size
    assert whole.nbytes["broadcast"] >= size and other.nbytes["broadcast"] == 0  # its shapes are broadcast too
    for _, shards in run_ranks(counted, 2, fsdp):
        assert shards.nbytes["reduce_scatter"] == size and shards.nbytes["all_gather"] % (size // 2) == 0


def called():
    """For each call its operations: kind, bytes and peer."""
    rank, ranks = dist.get_rank(), dist.get_world_size()
    group = dist.new_group([1, 0, 2])

    def ones(count=4):
        return torch.ones(count)

    def meet():
        sends = [dist.P2POp(dist.isend, ones(), (rank + 1) % ranks), dist.P2POp(dist.irecv, ones(), (rank - 1) % ranks)]
        for work in dist.batch_isend_irecv(sends):
            work.wait()

    def coalesced():
        with dist._coalescing_manager():
            dist.all_reduce(ones())
            dist.all_reduce(ones(2))

    parts = [ones() for _ in range(ranks)]
    calls = {
        "all_reduce": lambda: dist.all_reduce(ones()),
        "all_gather": lambda: dist.all_gather([ones() for _ in range(ranks)], ones()),
        "reduce_scatter": lambda: dist.reduce_scatter(ones(), parts),
        "broadcast": lambda: dist.broadcast(ones(), 1),
        "broadcast in a group": lambda: dist.broadcast(ones(), 1, group=group),
        "reduce": lambda: dist.reduce(ones(), 0),
        "gather": lambda: dist.gather(ones(), [ones() for _ in range(ranks)] if rank == 0 else None),
        "scatter": lambda: dist.scatter(ones(), parts if rank == 0 else None),
        "all_to_all": lambda: dist.all_to_all_single(ones(ranks), ones(ranks)),
        "barrier": lambda: dist.barrier(),
        "send": lambda: dist.send(ones(), 1) if rank == 0 else dist.recv(ones(), 0) if rank == 1 else None,
        "meet": meet,
        "coalesced": coalesced,
        "objects": lambda: dist.broadcast_object_list([rank], 0),
        "nothing": lambda: ones().sum(),
    }
    found = {}
    for name, call in calls.items():
        with Traffic() as traffic:
            call()
        found[name] = [(kind, nbytes, peer) for kind, nbytes, _, peer in traffic.operations]
    return found


def test_bytes_are_those_that_a_rank_hands_over():
    each = run_ranks(called, 3)
    for name, kind in [
        ("all_reduce", "all_reduce"),
        ("all_gather", "all_gather"),
        ("reduce", "reduce"),
        ("gather", "gather"),
    ]:
        assert [found[name] for found in each] == [[(kind, 16, None)]] * 3
    assert [found["reduce_scatter"] for found in each] == [[("reduce_scatter", 48, None)]] * 3
    assert [found["all_to_all"] for found in each] == [[("all_to_all", 12, None)]] * 3
    assert [found["barrier"] for found in each] == [[("barrier", 0, None)]] * 3
    assert [found["coalesced"] for found in each] == [[("all_reduce", 24, None)]] * 3
    assert [found["nothing"] for found in each] == [[]] * 3
    for name in ("broadcast", "broadcast in a group"):
        assert [found[name] for found in each] == [[("broadcast", nbytes, None)] for nbytes in (0, 16, 0)]
    assert [found["scatter"] for found in each] == [[("scatter", nbytes, None)] for nbytes in (48, 0, 0)]
    assert [found["send"] for found in each] == [[("send", 16, 1)], [("recv", 0, 0)], []]
    assert [found["meet"] for found in each] == [
        [("send", 16, (r + 1) % 3), ("recv", 0, (r - 1) % 3)] for r in range(3)
    ]
    assert [kind for kind, _, _ in each[0]["objects"]] == ["broadcast"] * 2
    assert sum(nbytes for _, nbytes, _ in each[1]["objects"]) == 0 < each[0]["objects"][1][1]


def printed():
    with Traffic() as traffic:
        dist.all_reduce(torch.ones(500))
        dist.barrier()
    return traffic


def test_it_prints_as_a_table():
    assert [repr(traffic).splitlines() for traffic in run_ranks(printed, 2)] == [
        [
            "operation   calls  bytes",
            "all_reduce      1  2,000",
            "barrier         1      0",
            "all             2  2,000",
        ]
    ] * 2
