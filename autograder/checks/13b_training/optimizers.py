"""Checks of lab 13b: optimizers that hold other parameters than the model has."""

from copy import deepcopy

from ...engine.check import program
from ..cases import defaults, drawn, explained, field, first_apart, numbers, rows, several

EVENTS = [
    "head",
    "double",
    "assign",
    "copy",
    "load",
    "tie",
    "freeze",
    "new layer",
    "new group",
    "weight",
    "meta",
    "thaw",
    "same memory",
]


def _model(torch):
    model = torch.nn.Sequential()
    model.body, model.head = torch.nn.Linear(2, 2), torch.nn.Linear(2, 2)
    return model


def _after(torch, events):
    """A model and an optimizer that was made for it, and what has happened since."""
    model = _model(torch)
    if events[:1] == ["thaw"]:
        model.body.requires_grad_(False)
    optimizer = torch.optim.SGD([x for x in model.parameters() if x.requires_grad], lr=0.5, momentum=0.5)
    for event in events:
        state = {name: x.clone() for name, x in model.state_dict().items()}
        if event == "head":
            model.head = torch.nn.Linear(2, 2)
        elif event == "double":
            model.double()
        elif event == "assign":
            model.load_state_dict(state, assign=True)
        elif event == "load":
            model.load_state_dict(state)
        elif event == "copy":
            model = deepcopy(model)
        elif event == "tie":
            model.head.weight = model.body.weight
        elif event == "freeze":
            model.body.requires_grad_(False)
        elif event == "thaw":
            model.body.requires_grad_(True)
        elif event == "new layer":
            model.append(torch.nn.Linear(2, 2, bias=False))
        elif event == "new group":
            optimizer.add_param_group({"params": [torch.nn.Parameter(torch.ones(1))], "lr": 0.25})
        elif event == "weight":
            model.head.weight = torch.nn.Parameter(torch.ones(2, 2))
        elif event == "same memory":
            model.head.weight = torch.nn.Parameter(model.head.weight.data)
        elif event == "meta":
            model.body.to("meta").to_empty(device="cpu")
            for x in model.body.parameters():
                x.data.fill_(0.5)
    return model, optimizer


@program(
    "clinic.training.not_held",
    cases=drawn(events=several(EVENTS, 0, 4)),
    edges=rows("events", *(([event],) for event in EVENTS), ([],), (["head", "tie"],), (["freeze", "copy"],), (["tie", "head"],),
               (["new group", "head", "new layer"],), (["thaw", "assign"],), (["weight", "weight", "double"],),
               (["freeze", "head"],), (["tie", "copy"],), (["same memory", "new group"],)),
    hint=explained(
        names="an optimizer holds objects, in all of its groups: a parameter is one of them or not, whatever its name and values",
        others="these are parameters of the optimizer that the model does not have, frozen or not",
    ),
)  # fmt: skip
def not_held(rl, events):
    import torch

    model, optimizer = _after(torch, events)
    before = [x.detach().clone() for x in model.parameters()]
    names, count = rl.clinic.training.not_held(model, optimizer)
    unchanged = all(torch.equal(x, old) and x.grad is None for x, old in zip(model.parameters(), before))
    return {"names": names, "others": count, "nothing changed": unchanged}


@not_held.oracle
def _(torch, events):
    model, optimizer = _after(torch, events)
    named = {name: (x, x.detach().clone()) for name, x in model.named_parameters() if x.requires_grad}
    own = [*model.parameters()]
    others = [x for group in optimizer.param_groups for x in group["params"] if all(x is not p for p in own)]
    for x, _ in named.values():
        x.data = x.data.clone()  # memory of its own, so that a step moves only what the optimizer holds
        x.grad = torch.ones_like(x)
    optimizer.step()
    stayed = [name for name, (x, before) in named.items() if torch.equal(x, before)]
    return {"names": stayed, "others": len(others), "nothing changed": True}


KINDS = ["sgd", "adam", "adamw groups", "head only", "body only", "sgd groups", "reversed"]


def _bias_first(torch, linear):
    """A linear layer with these parameters, which has registered its bias before its weight."""

    class BiasFirst(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.bias, self.weight = linear.bias, linear.weight

        def forward(self, x):
            return torch.nn.functional.linear(x, self.weight, self.bias)

    return BiasFirst()


def _optimizer(torch, model, kind):
    body = [*model.body.parameters()]
    head = [x for x in (model.head.weight, model.head.bias) if x is not None]
    if kind == "head only":
        return torch.optim.SGD(head, lr=0.1, momentum=0.9)
    if kind == "body only":
        return torch.optim.SGD(body, lr=0.1, momentum=0.9)
    if kind == "reversed":
        return torch.optim.Adam([*head[::-1], *body], lr=0.1)
    if kind.endswith("groups"):
        groups = [{"params": [head[0], body[0]], "lr": 0.5}, {"params": [*body[1:], *head[1:]], "weight_decay": 0.25}]
        return torch.optim.AdamW(groups, lr=0.1) if kind[0] == "a" else torch.optim.SGD(groups, lr=0.1, momentum=0.9)
    return {"sgd": torch.optim.SGD, "adam": torch.optim.Adam}[kind]([*body, *head], lr=0.1)


def _stepped(torch, model, optimizer, steps):
    for _ in range(steps):
        optimizer.zero_grad()
        (model.head(model.body(torch.ones(2, 2)).tanh()) ** 2).sum().backward()
        optimizer.step()


def _made(torch, kind, steps, bias, turned, classes, frozen):
    model = _model(torch)
    model.head, head = (torch.nn.Linear(2, count, bias=bias) for count in (2, classes))
    head = _bias_first(torch, head) if turned else head
    with torch.no_grad():
        for i, x in enumerate([*model.parameters(), *head.parameters()]):
            x.copy_(numbers(torch, [*x.shape], i))
    optimizer = _optimizer(torch, model, kind)
    _stepped(torch, model, optimizer, steps)
    model.body.eval(), head.eval()
    if frozen:
        {"old": model.head, "new": head}[frozen].weight.requires_grad_(False)
    return model, head, optimizer


def _told(torch, model, optimizer, steps):
    names = {x: name for name, x in model.named_parameters()}
    groups = [
        {**group, "params": [names.get(x, "another") for x in group["params"]]} for group in optimizer.param_groups
    ]
    states = {names.get(x, "another"): sorted(map(str, state)) for x, state in optimizer.state.items()}
    modes = {name: module.training for name, module in model.named_modules()}
    grads = {name: x.grad for name, x in model.named_parameters()}
    _stepped(torch, model, optimizer, steps)
    values = {name: x.detach() for name, x in model.named_parameters()}
    shown = [[group["params"], float(group["lr"]), float(group["weight_decay"])] for group in groups]
    trained = {name: x.requires_grad for name, x in model.named_parameters()}
    return {"groups": shown, "states": sorted(states.items()), "values": values, "require grad": trained} | {
        "modes": modes,
        "gradients": grads,
    }


_heads = defaults(kind="", before=1, steps=2, bias=True, turned=False, classes=3, frozen="")


def _about_heads(case, mine, theirs):
    wrong = first_apart(mine, theirs)
    if wrong in ("values", "require grad"):
        return "the parameters of the new head are trained as they come: their values and `requires_grad` are those of the new task"
    if wrong == "groups" and sorted(str(field(mine, wrong))) == sorted(str(field(theirs, wrong))):
        return "the names say which parameter follows which: the new head may have registered them in another order"
    if wrong in ("groups", "states"):
        return "the optimizer holds the old head's parameters until you exchange them in `param_groups`; its state has them as keys"
    return None


@program(
    "clinic.training.replace_head",
    cases=drawn(kind=KINDS, before=(0, 2), steps=(1, 3), bias=bool, turned=bool, classes=(2, 3), frozen=["", "old", "new"]),
    edges=[
        *(_heads(kind, turned=turned) for kind in KINDS for turned in (False, True)),
        *(_heads(kind, before=0, steps=1, bias=False) for kind in KINDS),
        *(_heads(kind, frozen=frozen) for kind in ("sgd", "adamw groups") for frozen in ("old", "new")),
        *(_heads(kind, classes=2) for kind in ("adam", "head only")), _heads("sgd", classes=2, frozen="old"),
    ],
    hint=_about_heads,
)  # fmt: skip
def replace_head(rl, kind, before, steps, bias, turned, classes, frozen):
    import torch

    model, head, optimizer = _made(torch, kind, before, bias, turned, classes, frozen)
    rl.clinic.training.replace_head(model, head, optimizer)
    return {"it is there": model.head is head} | _told(torch, model, optimizer, steps)


@replace_head.oracle
def _(torch, kind, before, steps, bias, turned, classes, frozen):
    model, head, optimizer = _made(torch, kind, before, bias, turned, classes, frozen)
    states = {name: optimizer.state.get(x) for name, x in model.named_parameters()}
    model.head = head
    made = _optimizer(torch, model, kind)  # for the new head from the beginning
    for name, x in model.body.named_parameters(prefix="body"):
        if states[name]:
            made.state[x] = states[name]
    return {"it is there": True} | _told(torch, model, made, steps)
