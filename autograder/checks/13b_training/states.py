"""Checks of lab 13b: tensors that a state dict does not save."""

from copy import deepcopy

from ...engine.check import program
from ...engine.observe import is_error
from ..cases import drawn, first_apart, listed, numbers, rows, several

KINDS = ["plain", "subclass", "buffer", "not persistent", "none", "parameter", "no buffer", "number", "list", "private",
         "learned", "property", "plain parameter", "alias", "alias of a buffer", "alias of a parameter",
         "alias, not persistent", "of the class"]  # fmt: skip
OWNERS = ["", "body", "body.0", "twice", "head"]


def _model(torch, tensors):
    class Own(torch.Tensor):
        pass

    model = torch.nn.Sequential()
    model.body, model.head = torch.nn.Sequential(torch.nn.Linear(2, 2)), torch.nn.BatchNorm1d(2)
    model.shared, model.other = model.body, torch.nn.Sequential(model.body[0])
    held = torch.ones(1)  # by several attributes
    for i, (owner, kind) in enumerate(tensors):
        module, name = model.get_submodule(owner if owner != "twice" else "other.0"), f"x{i % 3}"
        module.__dict__.pop(name, None)
        if kind == "property":
            module.__class__ = type(
                type(module).__name__, (type(module),), {"half": property(lambda self: torch.ones(1))}
            )
            continue
        if kind == "of the class":
            module.__class__ = type(type(module).__name__, (type(module),), {"shared_scale": torch.ones(1)})
            continue
        if kind == "parameter":
            module._buffers.pop(name, None)
            setattr(module, name, torch.nn.Parameter(torch.ones(1)))
            continue
        module._parameters.pop(name, None)
        module._buffers.pop(name, None)
        module._non_persistent_buffers_set.discard(name)
        if kind == "alias, not persistent":
            module.register_buffer(name, held, persistent=False)
            continue
        if kind in ("buffer", "not persistent", "no buffer"):
            value = torch.zeros(1) if kind != "no buffer" else None
            module.register_buffer(name, value, persistent=kind == "buffer")
        else:
            values = {"plain": torch.ones(1), "subclass": torch.zeros(1).as_subclass(Own), "number": 1.0}
            values |= {"private": torch.zeros(1), "learned": torch.ones(1, requires_grad=True)}
            values |= {"plain parameter": torch.nn.Parameter(torch.ones(1)), "alias": held}
            values |= {"alias of a buffer": model.head.running_mean, "alias of a parameter": model.head.weight}
            values |= {"none": None, "list": [torch.ones(1)]}
            module.__dict__["_" * (kind == "private") + name] = values[kind]
    return model


@program(
    "clinic.training.lost_state",
    cases=drawn(tensors=several(listed(OWNERS, KINDS), 0, 5)),
    edges=[
        *rows("tensors", *(([[owner, kind]],) for kind in KINDS for owner in ("", "body.0"))),
        *rows("tensors", *(([[owner, "plain"], ["", "plain"], ["head", "not persistent"]],) for owner in OWNERS)),
        *rows("tensors", ([[owner, "alias, not persistent"] for owner in ("head", "head", "body")],)),
        *rows("tensors", ([],), ([["head", "plain"], ["body", "plain"], ["", "buffer"]],)),
        *rows(
            "tensors", ([["", "alias"], ["body", "alias"], ["", "alias"]],), ([["body.0", "alias"], ["head", "alias"]],)
        ),
    ],
    hint="`named_modules()` gives each module once, and `vars(module)` its plain attributes. Where a tensor is held decides",
)
def lost_state(rl, tensors):
    import torch

    return rl.clinic.training.lost_state(_model(torch, tensors))


@lost_state.oracle
def _(torch, tensors):
    model = _model(torch, tensors)
    saved, names = model.state_dict(), []
    for prefix, module in model.named_modules():
        for name in dir(module):
            path = f"{prefix}.{name}".removeprefix(".")
            if (
                not hasattr(type(module), name)
                and isinstance(getattr(module, name), torch.Tensor)
                and path not in saved
            ):
                names.append(path)
    return sorted(names)


def _lived(torch, make, features, momentum, rows, start):
    """What a normaliser gives in training, in evaluation, and after what is done to models."""
    module = make(features, momentum)
    shown = {"in training": module.training, "parameters": len([*module.parameters()])}
    for i in range(3):
        x = numbers(torch, [rows, features], start + i).float().requires_grad_()
        result = module(x)
        (gradient,) = torch.autograd.grad((result * result.detach().cos()).sum(), x)
        shown |= {f"step {i}": result.detach(), f"gradient {i}": gradient}
    module.eval()
    x = numbers(torch, [rows, features], start + 5).float()
    shown |= {"evaluation": module(x), "again": module(x), "state": dict(module.state_dict())}
    loaded = make(features, momentum)
    loaded.load_state_dict(module.state_dict())
    copied = deepcopy(torch.nn.Sequential(module))
    shown |= {"loaded": loaded.eval()(x), "copied": copied(x), "double": copied.double()(x.double())}
    copied.train()(x.double() + 1)
    with torch.no_grad():
        shown["without a graph"] = make(features, momentum)(x.requires_grad_()).requires_grad
    x = x.detach()
    return shown | {"the copy moved": copied.state_dict(), "the first did not": module(x)}


def _about_lives(case, mine, theirs):
    if is_error(mine):
        return None
    wrong = str(first_apart(mine, theirs))
    if wrong.startswith("step"):
        return "in training the mean first moves towards the mean over the rows, and then it is subtracted"
    if wrong.startswith("gradient"):
        return "the mean is no part of the graph: a gradient does not go through it"
    if wrong in ("evaluation", "again", "the first did not"):
        return "in evaluation the mean does not move"
    if wrong == "in training":
        return "a new module is in training"
    if wrong == "parameters":
        return "the mean is no parameter, because no optimizer moves it"
    if wrong == "without a graph":
        return "nothing is recorded where grad mode is off"
    return "`state_dict`, `double` and `deepcopy` go through the registered tensors of a module, and through no others"


@program(
    "clinic.training.normaliser",
    cases=drawn(features=(1, 4), momentum=[0.1, 0.5, 1.0, 0.0], rows=(1, 4), start=(0, 9)),
    edges=rows(
        "features momentum rows start", (3, 0.5, 2, 0), (1, 0.1, 4, 1), (2, 1.0, 1, 2), (4, 0.0, 3, 3), (2, 0.25, 3, 5)
    ),
    hint=_about_lives,
)
def normaliser(rl, features, momentum, rows, start):
    import torch

    return _lived(torch, rl.clinic.training.normaliser, features, momentum, rows, start)


@normaliser.oracle
def _(torch, features, momentum, rows, start):
    class Normalising(torch.nn.Module):
        """With the running mean of torch's batch normalisation."""

        def __init__(self, features, momentum):
            super().__init__()
            self.mean, self.momentum = torch.nn.Buffer(torch.zeros(features)), momentum

        def forward(self, x):
            if self.training:  # a batch of batch normalisation has at least two rows
                twice, variance = x.detach().repeat(2, 1), torch.ones_like(self.mean)
                torch.nn.functional.batch_norm(twice, self.mean, variance, training=True, momentum=self.momentum)
            return x - self.mean

    return _lived(torch, Normalising, features, momentum, rows, start)
