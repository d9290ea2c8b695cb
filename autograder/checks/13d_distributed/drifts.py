"""Checks of lab 13d: ranks that drift apart, on real torch."""

from __future__ import annotations

from ...engine.check import program
from ..cases import copied, drawing, numbers, rows
from ..shared_09 import explained_by_rank, on_ranks, on_ranks_quietly
from ..shared_13 import state_left

# The first tensor that differs ---------------------------------------------------------------------------------------

NAMES = ["weight", "bias", "inner.gain", "inner.small", "table", "count", "mask", "none", "inner.mean", "inner.phase"]
CHANGES = ["last bit", "nan", "swapped", "sign", "other", "replaced"]


def _model(torch, rank):
    """A module with parameters and buffers of many dtypes, which change in each step. Between the rows of its table there are
    others in memory, which no rank shares."""
    nn = torch.nn
    model = nn.Module()
    model.weight = nn.Parameter(numbers(torch, [3, 2], 1, "float32").t())
    model.bias = nn.Parameter(numbers(torch, [2], 2, "float64"))
    model.inner = nn.Module()
    model.inner.gain = nn.Parameter(torch.tensor(0.0))
    model.inner.small = nn.Parameter(numbers(torch, [4], 3, "bfloat16"), requires_grad=False)
    table = numbers(torch, [4, 2], 4, "float32")
    table[1::2] = rank
    model.register_buffer("table", table[::2])
    model.register_buffer("count", torch.tensor([0, 7, 2**60]))
    model.register_buffer("mask", torch.tensor([True, False, True]))
    model.register_buffer("none", torch.zeros(0, 3))
    model.inner.register_buffer("mean", numbers(torch, [3], 5, "float32"), persistent=False)
    model.inner.register_buffer("phase", torch.tensor([1 + 2j, 3j]))
    return model


def _tensor(model, name):
    module, _, last = name.rpartition(".")
    return getattr(model.get_submodule(module), last).detach()


def _change(torch, model, name, how):
    """Change a tensor of the model, in place or by a new one."""
    tensor = _tensor(model, name)
    if how == "replaced":
        module, _, last = name.rpartition(".")
        owner, old = model.get_submodule(module), tensor
        tensor = copied(old)
        is_parameter = last in owner._parameters
        setattr(owner, last, torch.nn.Parameter(tensor, last != "small") if is_parameter else tensor)
    if not tensor.numel():
        return
    if tensor.dtype == torch.complex64:
        tensor.add_(0.5j)
    elif tensor.dtype == torch.int64 and how == "last bit":
        tensor[-1] += 1  # of a number that no float has
    elif tensor.dtype in (torch.bool, torch.int64):
        tensor.copy_(~tensor if tensor.dtype == torch.bool else tensor.flip(0) if how == "swapped" else tensor + 1)
    elif how == "nan":
        tensor.fill_(float("nan"))
    elif how == "swapped" and tensor.dim():
        tensor.copy_(tensor.flip(-1))
    elif how == "sign":
        tensor.copy_(torch.where(tensor == 0, -0.0, tensor))
    elif how == "last bit":
        tensor.copy_(torch.nextafter(tensor, torch.full_like(tensor, 9.0)))
    else:
        tensor.add_(0.5)


@drawing
def _drifts(draw, st):
    ranks, steps = draw(st.sampled_from([2, 2, 3])), draw(st.integers(0, 3))
    drift = st.tuples(st.integers(0, 4), st.sampled_from(NAMES), st.sampled_from(CHANGES), st.integers(0, ranks - 1))
    return {
        "ranks": ranks,
        "steps": steps,
        "drifts": [list(each) for each in draw(st.lists(drift, max_size=3))],
        "nan": draw(st.booleans()),
    }


@program(
    "clinic.distributed.first_drift",
    cases=_drifts,
    edges=rows(
        "ranks steps drifts nan",
        (2, 3, [], False), (2, 0, [], False), (2, 0, [[0, "bias", "other", 1]], False),
        (2, 2, [[1, "weight", "last bit", 1]], False),
        (2, 3, [[2, "inner.mean", "other", 0]], False), (2, 3, [[3, "table", "swapped", 1]], True), (2, 2, [], True),
        (3, 2, [[1, "mask", "other", 2], [1, "inner.small", "last bit", 1]], False), (2, 3, [[1, "count", "swapped", 0]], False),
        (2, 3, [[1, "weight", "nan", 1]], True), (3, 3, [[2, "weight", "last bit", 2], [1, "inner.gain", "last bit", 1]], False),
        (2, 2, [[1, "none", "other", 1]], False), (2, 1, [[2, "bias", "other", 1]], False), (2, 1, [[1, "bias", "nan", 0]], False),
        (2, 1, [[0, "bias", "last bit", 1]], False), (2, 2, [[1, "count", "last bit", 1]], False),
        (2, 1, [[0, "inner.mean", "sign", 1]], False), (2, 1, [[0, "inner.gain", "nan", 1]], False),
        (2, 2, [[1, "inner.phase", "other", 1]], False), (3, 1, [[0, "inner.small", "other", 2]], False),
        *((2, 1, [[at, name, "other", 1]], False) for at in (0, 1) for name in NAMES if name != "none"),
        *((2, 2, [[1, name, "replaced", 1]], True) for name in ("count", "bias", "inner.mean")),
    ),
    hint=explained_by_rank(
        raised={"wait": "all ranks stop at the same step, so they must agree on it", "died": "do all ranks call the same?"},
        first="the number of steps that had been done, and the first name: all bytes of all parameters and buffers are compared",
        steps="no step is done after the first difference, and none is left out",
        state="nothing but `step` changes the numbers of the model and its gradients",
        changed="all but the numbers that `step` changes is as it was before",
    ),
    draws=8,
)  # fmt: skip
@on_ranks
def first_drift(rl, torch, group, steps, drifts, nan):
    rank, done = torch.distributed.get_rank(), []
    model = _model(torch, rank)

    def drift():
        for when, name, how, where in drifts:
            if when == len(done) and where == rank:
                _change(torch, model, name, how)
        left[:] = [*(_tensor(model, name).clone() for name in NAMES), *_gradient(model)]

    def as_left():
        now = [*(_tensor(model, name) for name in NAMES), *_gradient(model)]
        return len(now) == len(left) and all(_same_bytes(torch, *pair) for pair in zip(now, left))

    def step(i):
        same.append(as_left())
        done.append(i)
        model.bias.square().sum().backward()
        for name in NAMES:
            _change(torch, model, name, "other")
        if nan:
            _tensor(model, "inner.gain").fill_(float("nan"))
        torch.distributed.all_reduce(torch.ones(1))
        drift()

    left, same = [], []
    drift()
    with state_left(torch, model) as changed:
        found = rl.clinic.distributed.first_drift(model, step, steps)
    first = found if found is None else [int(found[0]), found[1]]
    steps_change = {"gradients"} | {"memory" for *_, how, _ in drifts if how == "replaced"}
    changed = [name for name in changed if name not in steps_change]
    return {"first": first, "steps": done, "state": all(same) and as_left(), "changed": " and ".join(changed)}


def _gradient(model):
    return [] if model.bias.grad is None else [model.bias.grad.clone()]


def _same_bytes(torch, a, b):
    a, b = (tensor.contiguous().view(-1).view(torch.uint8) for tensor in (a, b))
    return torch.equal(a, b)


@first_drift.oracle
def drift_of_replicas(torch, ranks, steps, drifts, nan):
    replicas = [_model(torch, rank) for rank in range(ranks)]
    for at in range(steps + 1):
        for rank, model in enumerate(replicas):
            for name in NAMES if at else ():
                _change(torch, model, name, "other")
            if nan and at:
                _tensor(model, "inner.gain").fill_(float("nan"))
            for when, name, how, where in drifts:
                if when == at and where == rank:
                    _change(torch, model, name, how)
        order = [name for name, _ in [*replicas[0].named_parameters(), *replicas[0].named_buffers()]]
        for name in order:
            own = [_tensor(model, name) for model in replicas]
            if not all(_same_bytes(torch, own[0], other) for other in own):
                return [{"first": [at, name], "steps": [*range(at)], "state": True, "changed": ""}] * ranks
    return [{"first": None, "steps": [*range(steps)], "state": True, "changed": ""}] * ranks


# The training that keeps them equal ----------------------------------------------------------------------------------


def _linear(torch, inputs, outputs, start):
    layer = torch.nn.Linear(inputs, outputs).double()
    layer.weight.data.copy_(numbers(torch, [outputs, inputs], start))
    layer.bias.data.copy_(numbers(torch, [outputs], start + 1))
    return layer


def _batch(torch, rows_, start):
    return numbers(torch, [rows_, 3], start), torch.tensor([(3 * i + start) % 4 for i in range(rows_)])


def _tuning(ranks, steps, rows_, start=1, lr=0.5):
    return {"ranks": ranks, "steps": steps, "rows": rows_, "start": start, "lr": lr}


@program(
    "clinic.distributed.fine_tune",
    cases=lambda st: st.fixed_dictionaries(
        {"ranks": st.sampled_from([2, 2, 3]), "steps": st.integers(0, 3), "rows": st.integers(1, 3),
         "start": st.integers(0, 9), "lr": st.sampled_from([0.5, 0.125])}
    ),
    edges=[_tuning(2, 3, 2), _tuning(2, 0, 1), _tuning(3, 2, 1, 4), _tuning(2, 1, 3, 7, 0.125)],
    hint=explained_by_rank(
        raised={"wait": "do all ranks call the same collectives?"},
        weights="all ranks begin with the values of rank 0, and average the gradients of all parameters, those of the head too",
        same="it returns the body that it got and the head that it made",
        heads="`make_head` is called once",
        changed="the modules keep their modes, and torch its state: no seed is set, and no group is destroyed",
    ),
    draws=6,
)  # fmt: skip
@on_ranks_quietly
def fine_tune(rl, torch, group, steps, rows, start, lr):
    rank, heads = torch.distributed.get_rank(), []
    body = torch.nn.Sequential(_linear(torch, 3, 5, start + rank), torch.nn.Tanh())

    def make_head():
        state = torch.get_rng_state()
        heads.append(_linear(torch, 5, 4, start + 2 * rank))
        torch.set_rng_state(state)
        return heads[-1]

    body[1].eval()
    batches = [_batch(torch, rows + rank, start + rank + 2 * i) for i in range(steps)]
    with state_left(torch, body, trained=True) as changed:
        trained = rl.clinic.distributed.fine_tune(body, make_head, iter(batches), lr)
    mine = [*body.parameters(), *heads[0].parameters()] if heads else []
    same = len(trained) == 2 and trained[0] is body and trained[1] in heads
    return {"heads": len(heads), "weights": [*map(copied, mine)], "same": same, "changed": " and ".join(changed)}


@fine_tune.oracle
def tuned_on_one_rank(torch, ranks, steps, rows, start, lr):
    body = torch.nn.Sequential(_linear(torch, 3, 5, start), torch.nn.Tanh())
    head = _linear(torch, 5, 4, start)
    parameters = [*body.parameters(), *head.parameters()]
    for i in range(steps):
        losses = []
        for rank in range(ranks):
            inputs, targets = _batch(torch, rows + rank, start + rank + 2 * i)
            losses.append(torch.nn.functional.cross_entropy(head(body(inputs)), targets))
        gradients = torch.autograd.grad(sum(losses) / ranks, parameters)
        for parameter, gradient in zip(parameters, gradients):
            parameter.data.sub_(gradient, alpha=lr)
    return [{"heads": 1, "weights": [*map(copied, parameters)], "same": True, "changed": ""}] * ranks
