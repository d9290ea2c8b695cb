"""Lab 09, fully sharded: shards, gathering them, reducing gradients, and clipping on shards."""

from __future__ import annotations

from ...engine.check import program
from ..cases import apart, copied, drawn, error_name, explained, first_of, numbers, rows, several, when
from ..shared_09 import UNEVEN, explained_by_rank, on_ranks, recorded_traffic, recorded_waits, units, with_strides

# Shards --------------------------------------------------------------------------------------------------------------


@program(
    "distributed.shards.shard_sizes",
    cases=drawn(size=(0, 60), ranks=(1, 12)),
    edges=rows(
        "size ranks",
        *[(4, 2), (5, 2), (5, 4), (6, 4), (7, 4), (1, 3), (0, 3), (9, 1), (9, 8), (10, 4), (600, 7)],
    ),
    hint=lambda case, mine, theirs: (
        None
        if not isinstance(mine, list)
        else "the sizes are right; an empty shard begins where the dimension ends"
        if [row[0] for row in mine if isinstance(row, list)] == [row[0] for row in theirs]
        else "ceil(size / ranks) for each rank as long as there are enough, as torch.chunk cuts, and 0 for each other rank"
    ),
    draws=40,
)
def shards(xp, size, ranks):
    return xp.distributed.shards.shard_sizes(size, ranks)


@shards.oracle
def torch_shards(torch, size, ranks):
    from torch.distributed.tensor import Shard

    return [[int(number) for number in Shard.local_shard_size_and_offset(size, ranks, rank)] for rank in range(ranks)]


def _whole_storage(torch, x):
    """All elements of a tensor's storage, flat."""
    return torch.empty(0, dtype=x.dtype).set_(x.untyped_storage()).clone()


def _seen_shard(torch, part):
    return {"part": copied(part), "strides": list(part.stride()), "memory": _whole_storage(torch, part)}


_KINDS = {"parameter": "float32"}


@program(
    "distributed.fsdp.shard",
    cases=drawn(shape=several((1, 5), 1, 3), ranks=(2, 4), layout=["", "backwards", "parameter"]),
    edges=rows(
        "shape ranks layout",
        ([4, 2], 2, ""), ([5, 2], 2, "parameter"), ([5], 4, ""),  # the parts have 2, 2, 1 and no rows
        ([1, 3], 4, ""), ([3, 2], 3, "backwards"), ([3, 4, 2], 4, "gaps"), ([9], 4, ""), ([], 2, ""), ([3, 2], 1, ""),
        ([0, 3], 2, ""),
    ),
    hint=first_of(when(apart("alone"), "a part has memory of its own"), explained(
        parts="ceil(size / ranks) rows each, fewer or none at the end; the memory behind a part is as long as the largest, "
        "with zeros",
        graph="a part has no gradient and no history",
    )),
    draws=8,
)  # fmt: skip
def sharding(xp, shape, ranks, layout):
    import torch

    x = with_strides(torch, shape, _KINDS.get(layout, "float64"), layout, 2)
    torch.use_deterministic_algorithms(True)  # so that memory which is never written is nan, and not zero by chance
    try:
        parts = [xp.distributed.fsdp.shard(x, rank, ranks) for rank in range(ranks)]
    finally:
        torch.use_deterministic_algorithms(False)
    alone = [not x.numel() or part.untyped_storage().data_ptr() != x.untyped_storage().data_ptr() for part in parts]
    graph = [part.requires_grad for part in parts]
    return {"parts": [_seen_shard(torch, part) for part in parts], "alone": alone, "graph": graph}


@sharding.oracle
def torch_sharding(torch, shape, ranks, layout):
    @on_ranks
    def sharded(torch, group):
        try:
            model, _ = _sharded(torch, [torch.nn.Parameter(numbers(torch, shape, 2, _KINDS.get(layout, "float64")))])
        except ValueError as error:
            return error_name(error)
        return _seen_shard(torch, model.parts[0].to_local())

    parts = sharded(torch, ranks)
    if isinstance(parts[0], str):
        raise ValueError(parts[0])
    return {"parts": parts, "alone": [True] * ranks, "graph": [False] * ranks}


# torch's own, and a unit of ours -------------------------------------------------------------------------------------


def _mesh(torch, group):
    from torch.distributed.device_mesh import DeviceMesh, init_device_mesh

    if group:
        return DeviceMesh.from_group(group, "cpu")
    return init_device_mesh("cpu", (torch.distributed.get_world_size(),))


def _sharded(torch, tensors, group=None):
    """torch's own: a module with these parameters, fully sharded, and the state that handles them."""
    from torch.distributed.fsdp import fully_shard

    class Model(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.parts = torch.nn.ParameterList([torch.nn.Parameter(tensor) for tensor in tensors])

        def forward(self, x, factors):
            pairs = zip(self.parts, factors)
            return x + sum((p * factor).sum() for p, factor in pairs if factor is not None)

    model = fully_shard(Model(), mesh=_mesh(torch, group))
    state = model._get_fsdp_state()
    state._lazy_init()
    return model, state._fsdp_param_groups[0]


def _shards_of(torch, tensors, rank, ranks):
    """The parts that torch.chunk makes, of some tensors or None."""
    shards = []
    for tensor in tensors:
        parts = () if tensor is None else torch.chunk(tensor, ranks)
        shards.append(None if tensor is None else parts[rank].clone() if rank < len(parts) else tensor[:0].clone())
    return shards


def _unit(torch, fsdp, tensors, group=None):
    """A unit of these parameters in which this rank has its shards, and the padded parts of all ranks, flat, by rank."""
    rank, ranks = torch.distributed.get_rank(group), torch.distributed.get_world_size(group)
    parameters, flat = [], [[] for _ in range(ranks)]
    for i, tensor in enumerate(tensors):
        module, rows = torch.nn.Module(), -(-tensor.shape[0] // ranks)
        length = rows * (tensor.numel() // tensor.shape[0])
        everything = torch.cat([tensor.detach().reshape(-1), tensor.new_zeros(length * ranks - tensor.numel())])
        for pieces, part in zip(flat, everything.split(length)):
            pieces.append(part)
        padded = everything.split(length)[rank].clone()
        [part] = _shards_of(torch, [tensor], rank, ranks)
        sharded = torch.nn.Parameter(padded[: part.numel()].view(part.shape))
        gathered = torch.full_like(everything, 77.0)
        whole = torch.nn.Parameter(gathered.data[: tensor.numel()].view(tensor.shape))
        gathered.untyped_storage().resize_(0)
        module.register_parameter(f"p{i}", sharded)
        parameters.append(fsdp.ShardedParameter(module, f"p{i}", padded, sharded, gathered, whole))
    return fsdp.Unit(parameters, group), torch.cat([part for pieces in flat for part in pieces])


def _wholes(torch, sizes, kind="float64"):
    return [numbers(torch, shape, i + 1, kind) for i, shape in enumerate(sizes)]


# Gathering -----------------------------------------------------------------------------------------------------------


@program(
    "distributed.fsdp.start_gather",
    cases=units(members=[[]]),
    edges=rows("ranks sizes members", (2, [[4, 2]], []), (2, UNEVEN, []), (4, UNEVEN, []), (3, UNEVEN[:2], [1, 2])),
    hint="one asynchronous all_gather_single of all `padded` one behind another, in the unit's group; the work and its result "
    "go to unit.arriving, without a wait",
    draws=6,
)
@on_ranks
def gathering(xp, torch, group, sizes):
    unit, _ = _unit(torch, xp.distributed.fsdp, _wholes(torch, sizes), group)
    names = ("all_gather_single", "all_gather_into_tensor", "all_gather")
    with recorded_traffic(["all_gather"]) as seen, recorded_waits(*names) as waited:
        xp.distributed.fsdp.start_gather(unit)
        waits = [*waited]
    work, everything = unit.arriving
    work.wait()
    memory = [parameter.gathered.untyped_storage().nbytes() for parameter in unit.parameters]
    state = {"whole": unit.is_gathered, "memory": memory, "waits": waits}
    return {
        "flat": copied(everything),
        "shards": [copied(parameter.padded) for parameter in unit.parameters],
        **state,
        **seen,
    }


@gathering.oracle
@on_ranks
def torch_gathering(torch, group, sizes):
    _, handled = _sharded(torch, _wholes(torch, sizes), group)
    with recorded_traffic(["all_gather"]) as seen:
        handled.unshard(async_op=True)
    handled._all_gather_result.all_gather_work.wait()
    flat = handled._all_gather_result.all_gather_output.clone()
    state = {"whole": False, "memory": [0] * len(sizes), "waits": []}
    shards = [parameter._sharded_param_data.clone() for parameter in handled.fsdp_params]
    handled.wait_for_unshard()
    return {"flat": flat, "shards": shards, **state, **seen}


class Arriving:
    """A work that fills a tensor when it is waited for."""

    def __init__(self, result, values):
        self.result, self.values = result, values

    def wait(self, *args):
        self.result.copy_(self.values)
        return True


@program(
    "distributed.fsdp.finish_gather",
    cases=units(times=(1, 2), members=[[]]),
    edges=rows(
        "ranks sizes times members",
        *[(2, [[4, 2]], 1, []), (2, UNEVEN, 2, []), (4, UNEVEN, 1, [])],
        *[(3, [[2, 3], [2, 2]], 2, []), (3, UNEVEN, 1, [1, 2])],
    ),
    hint="wait; give each `gathered` its bytes back; copy there the parameter's piece from each rank's part; write to `gathered`, "
    "because autograd sees a write to `whole`; the module gets `whole`",
    draws=6,
)
@on_ranks
def gathered(xp, torch, group, sizes, times):
    fsdp = xp.distributed.fsdp
    unit, values = _unit(torch, fsdp, _wholes(torch, sizes), group)
    objects = [parameter.whole for parameter in unit.parameters]
    with recorded_traffic() as seen:
        for time in range(times):
            for parameter in unit.parameters:
                parameter.gathered.untyped_storage().resize_(0)
            result = torch.full_like(values, -55.0)
            unit.arriving, unit.is_gathered = (Arriving(result, values + time), result), False
            fsdp.finish_gather(unit)
            result.fill_(-44.0)
    return {
        "wholes": [copied(getattr(parameter.module, parameter.name)) for parameter in unit.parameters],
        "same": [getattr(parameter.module, parameter.name) is old for parameter, old in zip(unit.parameters, objects)],
        "versions": [parameter.whole._version for parameter in unit.parameters],
        "memory": [_whole_storage(torch, parameter.gathered) for parameter in unit.parameters],
        "shared": [parameter.whole.data_ptr() == parameter.gathered.data_ptr() for parameter in unit.parameters],
        "state": [unit.arriving is None, unit.is_gathered],
        **seen,
    }


@gathered.oracle
@on_ranks
def torch_gathered(torch, group, sizes, times):
    model, handled = _sharded(torch, [whole + times - 1 for whole in _wholes(torch, sizes)], group)
    for parameter in handled.fsdp_params:  # the padding is gathered too, and stays zero in torch
        used = parameter._sharded_local_tensor.numel()
        parameter._sharded_param_data[used:] = times - 1
    model.unshard()
    wholes = [copied(part) for part in model.parts]
    versions = [part._version for part in model.parts]
    memory = [copied(parameter.all_gather_outputs[0]) for parameter in handled.fsdp_params]
    true = [True] * len(sizes)
    state = {"shared": true, "state": [True, True], "sent": {}, "beyond": []}
    return {"wholes": wholes, "same": true, "versions": versions, "memory": memory, **state}


# Gradients -----------------------------------------------------------------------------------------------------------


def _factors(torch, sizes, without, rank, time, layout=""):
    grads = [with_strides(torch, shape, "float64", layout, rank + 2 * i + time) for i, shape in enumerate(sizes)]
    return [None if i in without else grad for i, grad in enumerate(grads)]


@program(
    "distributed.fsdp.reduce_gradients",
    cases=units(without=several((0, 3), 0, 2, True), times=(1, 2), layout=["", "backwards"], members=[[]]),
    edges=rows(
        "ranks sizes without times layout members",
        (2, [[4, 2]], [], 1, "", []), (2, UNEVEN, [], 2, "backwards", []), (4, UNEVEN, [0, 2], 1, "", []),
        (3, UNEVEN, [1], 2, "gaps", [0, 2]), (2, [[2], [3]], [0, 1], 1, "", []),
    ),
    hint="what a rank gets is contiguous: first all parts for rank 0, parameter after parameter, each as long as `padded`; "
    "averages, not sums, are added to sharded.grad",
    draws=6,
)  # fmt: skip
@on_ranks
def reduction(xp, torch, group, sizes, without, times, layout):
    unit, _ = _unit(torch, xp.distributed.fsdp, _wholes(torch, sizes), group)
    for time in range(times):
        grads = _factors(torch, sizes, without, torch.distributed.get_rank(), time, layout)
        for parameter, grad in zip(unit.parameters, grads, strict=True):
            parameter.whole.grad = grad
        with recorded_traffic(["reduce_scatter"]) as seen:
            xp.distributed.fsdp.reduce_gradients(unit)
    free = [parameter.whole.grad is None for parameter in unit.parameters]
    return {"grads": [copied(parameter.sharded.grad) for parameter in unit.parameters], "free": free, **seen}


@reduction.oracle
@on_ranks
def torch_reduction(torch, group, sizes, without, times, layout):
    model, _ = _sharded(torch, _wholes(torch, sizes), group)
    x = torch.zeros((), dtype=torch.float64, requires_grad=True)
    for time in range(times):
        loss = model(x, _factors(torch, sizes, without, torch.distributed.get_rank(), time))
        with recorded_traffic(["all_gather", "reduce_scatter"]) as seen:
            loss.backward()
    seen["sent"].pop("all_gather", None)
    grads = [None if p.grad is None else copied(p.grad.to_local()) for p in model.parts]
    return {"grads": grads, "free": [True] * len(sizes), **seen}


# Steps on shards -----------------------------------------------------------------------------------------------------


def _grads(torch, sizes, without, start, scale=1.0, kind="float64"):
    scaled = [numbers(torch, shape, start + i, kind) * (i + 1) * scale for i, shape in enumerate(sizes)]
    return [None if i in without else grad for i, grad in enumerate(scaled)]


_CLIPPED = (
    "the powers are summed over the ranks, then the root is taken, once; all gradients are multiplied by "
    "min(1, max_norm / (norm + 1e-6)), in place"
)


@program(
    "distributed.fsdp.clip_grad_norm",
    cases=units(
        without=several((0, 3), 0, 2, True), max_norm=[0.1, 1.0, 2.5, 100.0], norm_type=["2", "2", "1", "3", "inf"],
        members=[[]], scale=[1.0],
    ),
    edges=rows(
        "ranks sizes without max_norm norm_type members scale",
        (2, [[4, 2]], [], 1.0, "2", [], 1.0), (2, UNEVEN, [1], 1.0, "2", [], 1.0), (2, UNEVEN, [], 1e6, "2", [], 1.0),
        (2, [[4, 2]], [], 1e-6, "2", [], 1e-8),  # the norm is less than max_norm, and more than that less 1e-6
        (2, UNEVEN, [0], 0.5, "1", [], 1.0), (2, UNEVEN, [0], 0.5, "3", [], 1.0), (2, [[4], [6, 2]], [], 0.5, "inf", [], 1.0),
        (2, [[1], [1, 2]], [], 0.5, "inf", [], 1.0),  # the second rank has nothing
        (2, [[4, 2]], [], 0.0, "2", [], 1.0), (2, UNEVEN, [0, 1, 2, 3], 1.0, "2", [], 1.0), (3, UNEVEN, [], 1.0, "2", [1, 2], 1.0),
        (3, UNEVEN, [], 1.0, "inf", [1, 2], 1.0),
    ) + rows(
        "ranks sizes without max_norm norm_type members scale kind",
        (2, [[4, 2]], [], 1.0, "2", [], 1.0, "float32"), (2, UNEVEN, [], 0.5, "inf", [], 1.0, "float32"),
    ),
    hint=explained_by_rank(
        dtype="the norm has the dtype of the gradients",
        norm=_CLIPPED, grads=_CLIPPED, in_place=_CLIPPED, sent=_CLIPPED,
        grad_mode="grad mode is not what it was before",
    ),
    draws=6,
)  # fmt: skip
@on_ranks
def clipping(xp, torch, group, sizes, without, max_norm, norm_type, scale, kind="float64"):
    rank, ranks = torch.distributed.get_rank(group), torch.distributed.get_world_size(group)
    parameters = _shards_of(torch, _wholes(torch, sizes, kind), rank, ranks)
    grads = _shards_of(torch, _grads(torch, sizes, without, 4, scale, kind), rank, ranks)
    for parameter, grad in zip(parameters, grads):
        parameter.requires_grad_().grad = grad
    memory = [None if grad is None else grad.detach() for grad in grads]
    traffic, recorded = recorded_traffic(["all_reduce"], ["torch.nn.utils.clip_grad_norm_"]), rank == 0
    with traffic as seen, torch.set_grad_enabled(recorded):
        norm = xp.distributed.fsdp.clip_grad_norm(parameters, max_norm, float(norm_type), group)
        stays = torch.is_grad_enabled() == recorded
    same = [parameter.grad is grad for parameter, grad in zip(parameters, grads)]
    count = {kind: number for kind, (number, _) in seen["sent"].items()}
    grads = [None if grad is None else copied(grad.div_(scale)) for grad in memory]
    dtype = str(norm.dtype) if any(grad is not None for grad in memory) else None
    norm = copied(norm if dtype else norm.double())
    shown = {"dtype": dtype, "norm": norm, "grads": grads, "in place": same}
    return shown | {"grad mode": stays, "sent": count, "beyond": seen["beyond"]}


@clipping.oracle
@on_ranks
def torch_clipping(torch, group, sizes, without, max_norm, norm_type, scale, kind="float64"):
    from torch.distributed.tensor import Shard, distribute_tensor

    mesh = _mesh(torch, group)
    rank, ranks = mesh.get_local_rank(), mesh.size()

    def deal(x):
        return x if norm_type == "inf" else distribute_tensor(x, mesh, [Shard(0)], src_data_rank=None)

    def local(x):  # torch refuses to look for the largest in an empty shard, so for "inf" it clips the whole tensors
        mine = _shards_of(torch, [x], rank, ranks)[0] if norm_type == "inf" else copied(x.to_local())
        return mine.div_(scale)

    parameters = [torch.nn.Parameter(deal(whole)) for whole in _wholes(torch, sizes, kind)]
    for parameter, grad in zip(parameters, _grads(torch, sizes, without, 4, scale, kind)):
        parameter.grad = None if grad is None else deal(grad)
    norm = torch.nn.utils.clip_grad_norm_(parameters, max_norm, float(norm_type))
    norm = norm.full_tensor() if hasattr(norm, "full_tensor") else norm
    grads = [None if parameter.grad is None else local(parameter.grad) for parameter in parameters]
    # torch sends one for each parameter
    sent = {} if all(parameter.grad is None for parameter in parameters) else {"all_reduce": 1}
    dtype = str(norm.dtype) if sent else None
    norm = copied(norm if dtype else norm.double())
    shown = {"dtype": dtype, "norm": norm, "grads": grads, "in place": [True] * len(sizes)}
    return shown | {"grad mode": True, "sent": sent, "beyond": []}


# All together --------------------------------------------------------------------------------------------------------


def _models(torch, widths):
    """A module of units, one of each width, between vectors of three numbers."""

    class Unit(torch.nn.Module):
        def __init__(self, width):
            super().__init__()
            self.one, self.two = torch.nn.Linear(3, width), torch.nn.Linear(width, 3)

        def forward(self, x):
            return self.two(torch.tanh(self.one(x)))

    class Model(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.first, self.units = torch.nn.Linear(2, 3), torch.nn.Sequential(*map(Unit, widths))

        def forward(self, x):
            return self.units(self.first(x)).square()

    torch.manual_seed(0)
    return Model().double()


def _train(torch, wrapped, widths):
    """Some steps with a module that `wrapped` shards. It returns the model, the function that makes a step, and the function
    that returns this rank's part of a parameter."""
    module = _models(torch, widths)
    model, step, local = wrapped(module, module.units)
    seen = []
    for time in range(3):
        with recorded_traffic(["all_gather", "reduce_scatter"]) as traffic:
            loss = model(numbers(torch, [4, 2], torch.distributed.get_rank() + time)).sum()
            loss.backward()
        parameters = [*module.parameters()]
        grads = [copied(local(parameter.grad)) for parameter in parameters]
        step(parameters)
        seen.append(
            {"loss": copied(loss), "grads": grads, "weights": [copied(local(parameter)) for parameter in parameters]}
        )
    return {"steps": seen, **traffic}


@program(
    "together.fully_sharded",
    cases=drawn(ranks=(2, 3), widths=several((1, 7), 1, 4), reshard=bool, forward=(0, 1)),
    edges=rows(
        "ranks widths reshard forward",
        *[(2, [4, 5, 3], True, 0), (3, [4, 5, 3], True, 1), (2, [40] * 8, True, 0), (2, [4, 5, 3], False, 0)],
    ),
    draws=3,
)
@on_ranks
def fully_sharded(xp, torch, group, widths, reshard, forward):
    fsdp, most, bound, states = xp.distributed.fsdp, [0], [0], {}

    def wrapped(module, units):
        options = {"reshard_after_forward": reshard, "forward_prefetch": forward, "backward_prefetch": 1}
        model = fsdp.FullyShardedDataParallel(module, units, **options)
        *sizes, rest = [sum(parameter.gathered.numel() * 8 for parameter in unit.parameters) for unit in model.units]
        bound[0] = rest + sum(sorted(sizes)[-2:] if reshard else sizes)  # two units at once, if they are freed
        for unit in units:
            unit.two.register_forward_hook(lambda *_: most.append(model.gathered_bytes()))
            unit.two.register_full_backward_hook(lambda *_: most.append(model.gathered_bytes()))
        return model, step, lambda x: x

    def step(parameters):
        fsdp.clip_grad_norm(parameters, 0.5)
        fsdp.adamw_step(parameters, states, lr=0.1)
        for parameter in parameters:
            parameter.grad = None

    return _train(torch, wrapped, widths) | {"bounded": max(most) <= bound[0]}


@fully_sharded.oracle
@on_ranks
def torch_fully_sharded(torch, group, widths, reshard, forward):
    def wrapped(module, units):
        from torch.distributed.fsdp import fully_shard

        for unit in units:
            fully_shard(unit, reshard_after_forward=reshard)
        fully_shard(module)
        for i, unit in enumerate(units):
            unit.set_modules_to_forward_prefetch([*units[i + 1 : i + 1 + forward]])
        optimizer = torch.optim.AdamW(module.parameters(), lr=0.1)

        def step(parameters):
            torch.nn.utils.clip_grad_norm_(parameters, 0.5)
            optimizer.step()
            optimizer.zero_grad()

        return module, step, lambda x: x.to_local()

    return _train(torch, wrapped, widths) | {"bounded": True}
