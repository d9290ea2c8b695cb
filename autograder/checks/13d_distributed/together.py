"""The check that runs the mended scripts of lab 13d together."""

from __future__ import annotations

from ...engine.check import program
from ..cases import copied, numbers, rows
from ..shared_09 import explained_by_rank, on_ranks


def _fill(torch, module, start):
    module.double()
    for i, (_, value) in enumerate(sorted(module.state_dict().items())):
        value.copy_(numbers(torch, value.shape, start + i) / 4 + 0.125)
    return module


def _batch(torch, tokens, start):
    targets = torch.tensor([(3 * i + start) % 4 - 1 for i in range(tokens)]).long()
    return numbers(torch, [tokens, 3], start).cumsum(0) / 2, targets


def _batches(torch, sizes, rank, start):
    """Batches of a rank: some of a step are longer than those of other ranks. Targets of -1 do not count."""
    return [_batch(torch, step[rank], start + rank + 2 * i) for i, step in enumerate(sizes)]


@program(
    "together.clinic_distributed",
    cases=lambda st: st.fixed_dictionaries(
        {"ranks": st.just(2), "start": st.integers(0, 9),
         "sizes": st.lists(st.lists(st.integers(0, 5), min_size=2, max_size=2), min_size=1, max_size=3)}
    ),
    edges=rows("ranks start sizes", (2, 1, [[2, 5], [4, 1]]), (2, 3, [[0, 3], [3, 3], [1, 0]]), (2, 5, [[4, 4]])),
    hint=explained_by_rank(
        raised={"wait": "one rank waits in a collective that the other one does not call"},
        unused="a parameter is not used", drift="the replicas differ", share="the accuracy is that of all tokens",
        weights="with two ranks the weights are not those of one process with all tokens",
    ),
    draws=4,
)  # fmt: skip
@on_ranks
def trained(rl, torch, group, sizes, start):
    clinic, nn, rank = rl.clinic.distributed, torch.nn, torch.distributed.get_rank()
    model = nn.Sequential(_fill(torch, clinic.tower(3), start + rank), _fill(torch, nn.Linear(3, 3), start))
    batches = _batches(torch, sizes, rank, start)
    parallel = nn.parallel.DistributedDataParallel(model)
    optimizer = torch.optim.SGD(parallel.parameters(), lr=0.25)

    def step(i):
        inputs, targets = batches[i]
        optimizer.zero_grad()
        clinic.mean_loss(parallel(inputs), torch.where(targets < 0, -100, targets)).backward()
        optimizer.step()

    drift = clinic.first_drift(model, step, len(batches))
    unused = clinic.unused_parameters(nn.Sequential(model, _sum(torch)), batches[0][0])
    share = clinic.accuracy(model, iter(batches))
    weights = [copied(value) for value in model.state_dict().values()]
    return {"drift": drift, "unused": [*map(list, unused)], "share": round(float(share), 6), "weights": weights}


def _sum(torch):
    class Sum(torch.nn.Module):
        def forward(self, x):
            return x.sum()

    return Sum()


@trained.oracle
def trained_in_one_process(torch, ranks, sizes, start):
    nn = torch.nn
    layers = {"norm1": nn.LayerNorm(3), "fc1": nn.Linear(3, 3), "norm2": nn.LayerNorm(3), "fc2": nn.Linear(3, 3)}
    tower, head = _fill(torch, nn.ModuleDict(layers), start), _fill(torch, nn.Linear(3, 3), start)
    parameters, hits = [*tower.parameters(), *head.parameters()], []

    def logits(x):
        x = x + torch.tanh(tower["fc1"](tower["norm1"](x)))
        return head(x + torch.tanh(tower["fc2"](tower["norm2"](x))))

    batches = [_batches(torch, sizes, rank, start) for rank in range(ranks)]
    for of_step in zip(*batches):
        inputs, targets = (torch.cat(parts) for parts in zip(*of_step))
        losses = nn.functional.cross_entropy(logits(inputs), targets, ignore_index=-1, reduction="sum")
        gradients = torch.autograd.grad(losses / max(int((targets >= 0).sum()), 1), parameters)
        for parameter, gradient in zip(parameters, gradients):
            parameter.data -= 0.25 * gradient
    for inputs, targets in [batch for own in batches for batch in own]:
        hits += (logits(inputs).argmax(1) == targets)[targets >= 0].tolist()
    share = round(sum(hits) / len(hits), 6) if hits else 0.0
    weights = [copied(parameter) for parameter in parameters]
    return [{"drift": None, "unused": [[], []], "share": share, "weights": weights}] * ranks
