"""Checks of lab 13e: memory that is kept alive, on real torch."""

from __future__ import annotations

import gc

from ...engine.check import program
from ..cases import apart, attempt, drawn, explained, field, first_of, numbers, rows, several, when

# Who keeps what ------------------------------------------------------------------------------------------------------


def _recorded(torch, run):
    """What `run(alive)` returns. `alive()` is the number of bytes of all storages that operators of `run` have made so far and that
    still exist."""
    from torch.multiprocessing.reductions import StorageWeakRef
    from torch.utils._python_dispatch import TorchDispatchMode
    from torch.utils._pytree import tree_leaves

    made = {}

    def alive():
        gc.collect()
        for storage in [storage for storage in made if storage.expired()]:
            del made[storage]  # a later storage may get its address
        return sum(made.values())

    class Record(TorchDispatchMode):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            result = func(*args, **(kwargs or {}))
            for x in tree_leaves(result):
                if isinstance(x, torch.Tensor):
                    made[StorageWeakRef(x.untyped_storage())] = x.untyped_storage().nbytes()
            return result

    gc.freeze()  # what is there already is not looked at again and again
    try:
        with Record():
            return run(alive)
    finally:
        gc.unfreeze()


class Script:
    """A small training script, and what it may keep of a batch."""

    def __init__(self, torch, kind):
        self.torch = torch
        self.hidden, self.head = torch.nn.Linear(3, 3), torch.nn.Linear(3, 3, bias=False)
        self.parameters = [*self.hidden.parameters(), *self.head.parameters()]
        if kind == "adam":
            self.optimizer = torch.optim.Adam(self.parameters, lr=0.0)
        else:
            self.optimizer = torch.optim.SGD(self.parameters, lr=0.0, momentum=0.9)

    def loss(self, x):
        return self.head(self.hidden(x).tanh()).square().mean()

    def step(self, x, **how):
        loss = self.loss(x)
        loss.backward(**how)
        self.optimizer.step()
        return loss

    def activations(self, x):
        kept = []
        hook = self.hidden.register_forward_hook(lambda module, args, result: kept.append(result))
        self.loss(x).backward()
        hook.remove()
        return kept

    def without_graph(self, x):
        with self.torch.no_grad():
            return self.loss(x)

    def function(self, x):
        class Double(self.torch.autograd.Function):
            @staticmethod
            def forward(ctx, x):
                ctx.save_for_backward(x, x * 2)
                return x * 2

            @staticmethod
            def backward(ctx, grad):
                return grad * 2

        return Double.apply(self.head(x))

    def deep(self, x):
        x = self.head(x)
        for _ in range(3000):
            x = x.neg()
        return x

    def retained(self, x):
        x = self.head(x)
        x.retain_grad()
        x.sum().backward()
        return x

    def leaf(self, x):
        x = x.clone().requires_grad_()
        return x.exp(), x.sum().backward()


KEPT = {
    "loss": lambda script, x: script.loss(x),
    "loss after backward": lambda script, x: script.step(x),
    "loss of a kept graph": lambda script, x: script.step(x, retain_graph=True),
    "loss and number": lambda script, x: {"loss": script.loss(x), "number": script.loss(x).item()},
    "number": lambda script, x: script.loss(x).item(),
    "detached": lambda script, x: script.head(x).detach(),
    "node": lambda script, x: script.loss(x).grad_fn,
    "activations": lambda script, x: script.activations(x),
    "without a graph": lambda script, x: script.without_graph(x),
    "row": lambda script, x: (x * 2)[0],
    "row and all": lambda script, x: [x[0], {"all": (x, x)}],
    "second row and all": lambda script, x: [x[1], x],
    "keys": lambda script, x: {x * 2: "a note", "text": 1},
    "copied row": lambda script, x: (x * 2)[0].clone(),
    "others": lambda script, x: ["text", None, 3, (), {}, {1, 2}],
    "function": lambda script, x: script.function(x),
    "cat": lambda script, x: script.torch.cat([script.head(x), x.exp()]),
    "index": lambda script, x: script.head(x)[script.torch.arange(2)],
    "deep": lambda script, x: script.deep(x),
    "leaf": lambda script, x: script.leaf(x),
    "retained": lambda script, x: script.retained(x),
    "largest": lambda script, x: script.head(x).max(1),
    "parameters": lambda script, x: [script.head.weight, script.head(x), script.hidden.weight.grad],
    "itself": lambda script, x: _with_itself([x * 2]),
    "columns": lambda script, x: [*(x * 2).unbind(1)],
    "views": lambda script, x: list(x.split(1)),
}


def _with_itself(values):
    values.append(values)
    return values


def _owners(torch, first, second, kind, start):
    """The parameters, the state of the optimizer, and two lists of what is kept of some batches."""
    script = Script(torch, kind)
    script.step(torch.ones(2, 3))
    first, second = (
        [KEPT[name](script, torch.full((2, 3), (i + start) / 8)) for i, name in enumerate(names)]
        for names in (first, second)
    )
    return {
        "parameters": script.parameters, "state": script.optimizer.state, "first": first, "second": tuple(second),
    }  # fmt: skip


def _kept(*first, second=(), kind="sgd"):
    return {"first": [*first], "second": [*second], "kind": kind, "start": 1}


def _contents(thing, seen):
    """The objects in an owner, down to its tensors with their gradients: all that a walk must leave as it is."""
    if id(thing) in seen:
        return id(thing)
    seen.add(id(thing))
    parts = []
    if isinstance(thing, dict):
        parts = [*thing.keys(), *thing.values()]
    elif isinstance(thing, list | tuple):
        parts = thing
    elif hasattr(thing, "grad_fn"):
        parts = [thing.grad] if thing.is_leaf or thing.retains_grad else []
        return id(thing), thing._version, thing.grad_fn, thing.requires_grad, [_contents(x, seen) for x in parts]
    return id(thing), [_contents(x, seen) for x in parts]


def _are_fewer(case, mine, theirs):
    """Whether the first owner with another number has fewer bytes than it keeps."""
    both = field(mine, "bytes"), field(theirs, "bytes")
    differing = (ours[1] < wanted[1] for ours, wanted in zip(*both) if ours != wanted) if None not in both else ()
    return next(iter(differing), False)


@program(
    "clinic.memory.held_bytes",
    cases=drawn(
        first=several(sorted(KEPT), 0, 4), second=several(sorted(KEPT), 0, 3), kind=["sgd", "adam"], start=(0, 4)
    ),
    edges=[
        *(_kept(name, second=[name, "row and all"]) for name in KEPT), _kept(kind="adam"),
        _kept("loss", "loss", second=["activations", "node"], kind="adam"),
    ],
    hint=first_of(
        when(apart("only read"), "a list or dict of the owners, or a gradient, is another one after the call"),
        when(
            _are_fewer,
            "bytes are missing: what is reached from an owner? Elements, keys, gradients, nodes, and what each node has saved. A "
            "view keeps its whole storage",
        ),
        when(
            apart("bytes"),
            "bytes are counted again: a storage counts once, however many tensors have it, for the first owner that reaches it",
        ),
    ),
    draws=20,
)  # fmt: skip
def held_bytes(rl, **case):
    import torch

    owners = _owners(torch, **case)
    before = _contents(owners, set())
    sizes = [[name, int(size)] for name, size in rl.clinic.memory.held_bytes(owners).items()]
    return {"bytes": sizes, "only read": _contents(owners, set()) == before}


@held_bytes.oracle
def freed_when_an_owner_goes(torch, **case):
    def run(alive):
        owners, freed = _owners(torch, **case), {}
        for name in [*owners][::-1]:
            before = alive()
            del owners[name]
            freed[name] = before - alive()
        return {"bytes": [[name, freed[name]] for name in [*freed][::-1]], "only read": True}

    return _recorded(torch, run)


# A training loop that keeps nothing ----------------------------------------------------------------------------------

BATCHES = ["good", "good", "wide", "long", "four bits"]


def _batch(torch, kind, i):
    x, y = numbers(torch, [4, 5 if kind == "wide" else 3], i, "float32"), numbers(torch, [4, 2], i + 1, "float32")
    if kind == "backward":
        y = y.requires_grad_()
        y.register_hook(_refuse)
    if kind == "four bits":  # a difference with it raises a NotImplementedError
        y = torch.empty(y.shape, dtype=torch.uint4)
    return None if kind == "none" else x, y[:3] if kind == "long" else y


def _refuse(grad):
    raise RuntimeError("no gradient for a target")


def _model(torch, kind, start):
    inner = torch.nn.Sequential(torch.nn.Tanh(), torch.nn.Identity())  # one layer
    model = torch.nn.Sequential(torch.nn.Linear(3, 8), inner, torch.nn.Linear(8, 2))
    with torch.no_grad():
        for i, x in enumerate(model.parameters()):
            x.copy_(numbers(torch, [*x.shape], i + start, "float32") / 4)
    if kind == "adam":
        return model, torch.optim.Adam(model.parameters(), lr=0.01)
    trained = model[2] if kind == "last layer" else model
    return model, torch.optim.SGD(trained.parameters(), lr=0.01, momentum=0.9)


def _report(losses, activity, messages):
    """Lists of plain numbers and texts. A tensor has its class in its place."""
    return [
        [x if isinstance(x, float | str) else type(x).__name__ for x in each] for each in (losses, activity, messages)
    ]


CYCLES = 4
ENDS = {
    "disk": RuntimeError,
    "stream": ValueError,
    "none": TypeError,
    "backward": RuntimeError,
}  # the last two are of a batch


def _all_batches(torch, kinds, end):
    for i in range(CYCLES * len(kinds) + 1):
        yield _batch(torch, kinds[i % len(kinds)], i)
    if end in ("none", "backward"):
        yield _batch(torch, end, 0)
    elif end:
        raise ENDS[end](end)


@program(
    "clinic.memory.fit",
    cases=drawn(kinds=several(BATCHES, 1, 3), optimizer=["sgd", "adam", "last layer"], start=(0, 9), end=["", "", *ENDS]),
    edges=rows(
        "kinds optimizer start end", (["good"], "sgd", 1, ""), (["good", "wide"], "adam", 2, ""), (["good", "long"], "sgd", 3, ""),
        (["wide"], "sgd", 4, ""), (["long", "long", "good"], "sgd", 5, ""), (["long", "good", "wide"], "adam", 6, ""),
        (["wide", "wide", "long"], "adam", 7, ""), *((["good", "wide"], "sgd", 8, end) for end in ENDS),
        (["good"], "last layer", 9, ""), (["long", "good"], "last layer", 1, ""), (["good", "four bits"], "sgd", 2, ""),
    ),
    hint=explained(
        growth="bytes that are alive when the next batch is asked for, after each round of batches: what do the lists hold, and "
        "what does an error hold?",
        report="floats for each batch with a step and for each call of a layer, also in a batch without one, "
        "and a text for each error",
        other_hook="a hook that was there before is gone: only those of `fit` are removed",
        hooks="the hooks stay: each call of `fit` adds more of them",
        error="only a RuntimeError while a loss is computed is caught: any other one is raised further",
        gradients="after each batch with a step the parameters of the optimizer have no gradient. The others keep theirs",
    ),
    draws=8,
)  # fmt: skip
def fit(rl, kinds, optimizer, start, end):
    import torch

    def run(alive):
        model, held = _model(torch, optimizer, start)
        other = model[0].register_forward_hook(lambda *_: None)
        sizes = []

        def batches():
            for i, batch in enumerate(_all_batches(torch, kinds, end)):
                if i % len(kinds) == 0:
                    sizes.append(alive())
                yield batch

        report = attempt(rl.clinic.memory.fit, model, held, batches())
        hooks = [len(layer._forward_hooks) + len(layer._forward_pre_hooks) for layer in (model, *model)]
        return {
            "error": report if isinstance(report, str) else None,
            "report": None if isinstance(report, str) else _report(*report),
            "growth": [
                size - sizes[2] for size in sizes[2 : CYCLES + 1]
            ],  # the optimizer's state is made in the first step
            "other hook": other.id in model[0]._forward_hooks,
            "hooks": hooks,
            "weights": [x.detach() for x in model.parameters()],
            "gradients": [x.grad for x in model.parameters()],
        }

    return _recorded(torch, run)


@fit.oracle
def fitted_step_by_step(torch, kinds, optimizer, start, end):
    model, held = _model(torch, optimizer, start)
    losses, activity, messages = [], [], []
    for i in range(CYCLES * len(kinds) + 1):
        x, y = _batch(torch, kinds[i % len(kinds)], i)

        def forward(x=x, y=y):
            for layer in model:
                x = layer(x)
                activity.append(x.abs().mean().item())
            return torch.nn.functional.mse_loss(x, y) if (x.shape, x.dtype) == (y.shape, y.dtype) else x - y

        try:
            loss = forward()
        except RuntimeError as error:
            messages.append(str(error))
            continue
        loss.backward()
        held.step()
        held.zero_grad()
        losses.append(loss.item())
    return {
        "error": f"raises {ENDS[end].__name__}" if end else None,
        "report": None if end else [losses, activity, messages],
        "growth": [0] * (CYCLES - 1),
        "other hook": True,
        "hooks": [0, 1, 0, 0],
        "weights": [x.detach() for x in model.parameters()],
        "gradients": [x.grad for x in model.parameters()],
    }
