"""Checks of lab 13d: parameters without a gradient, on real torch."""

from __future__ import annotations

from ...engine.check import program
from ..cases import copied, drawing, numbers, rows, several
from ..shared_09 import explained_by_rank, on_ranks, on_ranks_quietly, recorded_traffic
from ..shared_13 import state_left

# Unused parameters by name -------------------------------------------------------------------------------------------

LAYERS = ["first", "second", "third", "fourth"]


def _layers(torch, frozen, tied):
    """A module with a layer of each name: its loss uses the layers that it is told, and in evaluation all of them."""
    nn = torch.nn

    class Layers(nn.Module):
        def __init__(self):
            super().__init__()
            for i, name in enumerate(LAYERS):
                layer = nn.Linear(2, 2)
                layer.weight.data.copy_(numbers(torch, [2, 2], i, "float32"))
                layer.requires_grad_(name not in frozen)
                setattr(self, name, layer)
            if tied:
                self.fourth.weight = self.first.weight
            self.second.eval()
            self.calls = 0

        def forward(self, x, used, times):
            self.calls += 1
            y = x
            for name in used if self.training else LAYERS:
                y = getattr(self, name)(y) * times + y
            self.third(y)  # the loss does not depend on it
            return y.sum()

    return Layers()


def _used(case, rank):
    return case["used"][rank % len(case["used"])]


@drawing
def _uses(draw, st):
    used = [draw(several(LAYERS, 0, 3, unique=True)(st)) for _ in range(draw(st.integers(2, 3)))]
    frozen = draw(several(LAYERS, 0, 1, unique=True)(st))
    case = {"ranks": len(used), "used": used, "frozen": frozen, "tied": draw(st.booleans())}
    return case | {
        "times": draw(st.sampled_from([1, 0])),
        "earlier": draw(st.booleans()),
        "requires": draw(st.booleans()),
    }


@program(
    "clinic.distributed.unused_parameters",
    cases=_uses,
    edges=rows(
        "ranks used frozen tied times earlier requires",
        (2, [["first", "second"], ["first", "third"]], [], False, 1, False, False),
        (2, [LAYERS, LAYERS], [], False, 1, True, True),
        (2, [["first"], ["first"]], ["second"], False, 1, True, False), (2, [[], []], [], False, 1, False, False),
        (3, [["first"], [], ["second", "first"]], [], False, 1, True, True),
        (2, [LAYERS, LAYERS], [], False, 0, False, False), (2, [["third"], ["fourth"]], [], True, 1, False, False),
        (2, [[], LAYERS], ["third"], True, 1, True, False),
        (2, [["first"], ["first"]], LAYERS, False, 1, False, True),
        (2, [["first"], []], LAYERS, False, 1, False, False),
    ),
    hint=explained_by_rank(
        raised={"wait": "do all ranks call the same collective, also one whose loss depends on no parameter?"},
        nowhere="the parameters that get a gradient on no rank; a gradient of zeros is a gradient",
        somewhere="the parameters that get a gradient on some ranks, but not on all of them",
        changed="the model is as before: `torch.autograd.grad` returns gradients and writes to no `grad`",
        inputs="the arguments keep their `grad` and their `requires_grad` too",
        calls="the model itself is called once, no copy of it",
        sent="one all-reduce",
    ),
    draws=8,
)  # fmt: skip
@on_ranks
def unused_parameters(rl, torch, group, used, frozen, tied, times, earlier, requires):
    rank, model = torch.distributed.get_rank(), _layers(torch, frozen, tied)
    for i, parameter in enumerate(model.parameters()):
        if earlier and parameter.requires_grad:
            parameter.grad = numbers(torch, parameter.shape, i, "float32")
    inputs = torch.ones(2, requires_grad=requires)
    with state_left(torch, model) as changed, recorded_traffic(["all_reduce"]) as seen:
        nowhere, somewhere = rl.clinic.distributed.unused_parameters(model, inputs, used[rank], times)
    sent = {kind: count for kind, (count, _) in seen["sent"].items()}
    shown = {
        "nowhere": _listed(nowhere),
        "somewhere": _listed(somewhere),
        "changed": " and ".join(changed),
        "calls": model.calls,
    }
    return shown | {
        "inputs": inputs.grad is None and inputs.requires_grad == requires,
        "sent": sent,
        "beyond": seen["beyond"],
    }


def _listed(names):
    return [*names] if isinstance(names, (list, tuple)) else type(names).__name__


@unused_parameters.oracle
def unused_after_backward(torch, ranks, used, frozen, tied, times, earlier, requires):
    counts = {}
    for names in used:
        model = _layers(torch, frozen, tied)
        loss = model(torch.ones(2), names, times)
        if loss.requires_grad:
            loss.backward()
        for name, parameter in model.named_parameters():
            if parameter.requires_grad:
                counts[name] = counts.get(name, 0) + (parameter.grad is not None)
    nowhere = [name for name, count in counts.items() if count == 0]
    shown = {"nowhere": nowhere, "somewhere": [name for name in counts if 0 < counts[name] < ranks], "changed": ""}
    return [shown | {"calls": 1, "inputs": True, "sent": {"all_reduce": 1}, "beyond": []}] * ranks


# The layer that was never called -------------------------------------------------------------------------------------


def _filled(torch, model, start):
    """The model, with numbers by rule in the place of its random ones. Its entries by name."""
    model.double()
    for i, (_, value) in enumerate(sorted(model.state_dict().items())):
        value.copy_(numbers(torch, value.shape, start + i) / 4 + 0.125)
    return model


def _inputs(torch, rows_, width, start, step):
    """Inputs of one, two or three dimensions."""
    shape = ([rows_, width], [width], [2, rows_, width])[step]
    return numbers(torch, shape, start + step).cumsum(0) / 2


@program(
    "clinic.distributed.tower",
    cases=lambda st: st.fixed_dictionaries(
        {"ranks": st.just(2), "width": st.integers(2, 4), "rows": st.integers(1, 3), "start": st.integers(0, 99)}
    ),
    edges=rows("ranks width rows start", (2, 3, 2, 0), (2, 2, 1, 5), (3, 4, 2, 3)),
    hint=explained_by_rank(
        raised={"Expected to have finished reduction": "a parameter is still not used: no gradient of it arrives"},
        names="the layers norm1, fc1, norm2 and fc2, and no others, in this order",
        trains="each parameter requires a gradient, and the step changes it",
        outputs="x + tanh(fc1(norm1(x))), and the same with the second norm and layer, for x with any leading dimensions",
        begins="the layers are made in the order norm1, fc1, norm2, fc2, and keep the values with which they are made",
        inputs="x does not change",
        number="only the layers take random numbers, and no seed is set",
    ),
    draws=4,
)
@on_ranks
def tower(rl, torch, group, width, rows, start):
    torch.manual_seed(start)
    model = rl.clinic.distributed.tower(width)
    begins, number, rank = _weights(model), torch.rand(()).item(), torch.distributed.get_rank()
    names, model = [*model.state_dict()], _filled(torch, model, start)
    parallel = torch.nn.parallel.DistributedDataParallel(model)
    optimizer, outputs, same = torch.optim.SGD(parallel.parameters(), lr=0.1), [], []
    before = {name: copied(parameter) for name, parameter in model.named_parameters()}
    for step in range(3):
        optimizer.zero_grad()
        x = _inputs(torch, rows, width, start + rank, step)
        before_ = copied(x)
        y = parallel(x)
        y.square().sum().backward()
        optimizer.step()
        outputs.append(copied(y))
        same.append(torch.equal(x, before_))
    trains = [name for name, parameter in model.named_parameters() if not torch.equal(parameter, before[name])]
    shown = {"names": names, "begins": begins, "number": number, "trains": sorted(trains), "outputs": outputs}
    return shown | {"inputs": all(same), "weights": _weights(model)}


def _weights(model):
    return {name: copied(value) for name, value in sorted(model.state_dict().items())}


@tower.oracle
@on_ranks_quietly
def tower_by_hand(torch, group, width, rows, start):
    nn, dist = torch.nn, torch.distributed
    torch.manual_seed(start)
    layers = {"norm1": nn.LayerNorm(width), "fc1": nn.Linear(width, width)}
    layers |= {"norm2": nn.LayerNorm(width), "fc2": nn.Linear(width, width)}
    model = nn.ModuleDict(layers)
    names, rank, outputs = [*model.state_dict()], dist.get_rank(), []
    begins, number = _weights(model), torch.rand(()).item()
    _filled(torch, model, start)
    for step in range(3):
        x = _inputs(torch, rows, width, start + rank, step)
        x = x + torch.tanh(model["fc1"](model["norm1"](x)))
        x = x + torch.tanh(model["fc2"](model["norm2"](x)))
        grads = torch.autograd.grad((x * x).sum(), [*model.parameters()])
        for parameter, grad in zip(model.parameters(), grads):
            dist.all_reduce(grad)
            parameter.data -= 0.1 * grad / dist.get_world_size()
        outputs.append(copied(x))
    shown = {"names": names, "begins": begins, "number": number, "trains": sorted(names), "outputs": outputs}
    return shown | {"inputs": True, "weights": _weights(model)}
