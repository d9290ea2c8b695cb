"""Shared by the checks of training: modules that a list describes, and texts of tensors.

Both sides build a module from the same list, with numbers by rule: no generator draws a weight. The case is another list, of
assignments, hooks, loads or steps. All of it uses the public classes, which run the students' pieces.
"""

from __future__ import annotations

import warnings
from contextlib import contextmanager

from .cases import drawing, numbers


def plain(x):
    """A copy of the values of a tensor, without its history."""
    return None if x is None else x.detach().clone()


def elements(xp, x):
    """The same in a contiguous tensor."""
    return None if x is None else xp.empty(list(x.shape), dtype=x.dtype).copy_(x.detach())


def mostly(st, usual, seldom, times=5):
    """The usual strategy, `times` times as often as the other. (`one_of` takes each of its arguments once.)"""
    return st.integers(0, times).flatmap(lambda chosen: usual if chosen else seldom)


@contextmanager
def user_warnings():
    """The UserWarnings of the block, in a list that is filled at its end."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        kept = []
        yield kept
        kept += [warning for warning in caught if issubclass(warning.category, UserWarning)]


def empty_module(xp):
    class Part(xp.nn.Module):
        """A module without members."""

    return Part()


SHAPES = ([2], [], [2, 3], [1])


def parameter(xp, number, kind="float32"):
    """A parameter by its number. Every third is frozen."""
    data = numbers(xp, SHAPES[number % len(SHAPES)], number, kind)
    return xp.nn.Parameter(data, requires_grad=number % 3 != 2)


def own_parameter(xp, number):
    """The same, of a subclass."""

    class Own(xp.nn.Parameter):
        """A parameter."""

    first = parameter(xp, number)
    return Own(first.detach(), first.requires_grad)


def buffer(xp, number, kind="float32"):
    """A buffer by its number. Every second holds integers."""
    return numbers(xp, SHAPES[number % len(SHAPES)], number + 1, "int64" if number % 2 else kind)


class Tree:
    """Modules in modules, from a list of entries `[kind, name, number]`. Equal numbers mean the same object."""

    def __init__(self, xp, entries, make=empty_module):
        self.xp, self.make, self.parameters, self.buffers, self.modules = xp, make, {}, {}, []
        self.root = self.build(entries)

    def build(self, entries):
        module = self.make(self.xp)
        for kind, name, number in entries:
            if kind == "parameter":
                module.register_parameter(name, self.numbered(self.parameters, parameter, number))
            elif kind == "own parameter":
                module.register_parameter(name, self.numbered(self.parameters, own_parameter, number))
            elif kind in ("buffer", "scratch"):
                module.register_buffer(name, self.numbered(self.buffers, buffer, number), persistent=kind == "buffer")
            elif kind == "module":
                module.add_module(name, None if number is None else self.build(number))
            elif self.modules:  # a complete one again
                module.add_module(name, self.modules[number % len(self.modules)])
        self.modules.append(module)
        return module

    def numbered(self, known, make, number):
        if number is not None and number not in known:
            known[number] = make(self.xp, number)
        return known.get(number)

    def label(self, x):
        """The kind and the number of one of its objects."""
        every = {"parameter": self.parameters, "buffer": self.buffers, "module": dict(enumerate(self.modules))}
        labels = (
            f"{kind} {number}" for kind, known in every.items() for number, tensor in known.items() if tensor is x
        )
        return next(labels, "something else")


def as_code(torch, entries, **others):
    """The statements that build the modules of a case, and the other values of the case."""
    lines, complete = [], []

    def build(entries, path):
        lines.append(f"{path} = Module()")
        for kind, name, number in entries:
            inner, value = f"{path}.{name}", f"{kind.replace(' ', '_')}_{number}"
            if kind == "module" and number is not None:
                build(number, inner)
            elif kind == "again":
                lines.extend([f"{inner} = {complete[number % len(complete)]}"] if complete else [])
            else:
                how = "add_module" if kind == "module" else f"register_{kind.split()[-1].replace('scratch', 'buffer')}"
                more = ", persistent=False" if kind == "scratch" else ""
                lines.append(f"{path}.{how}({name!r}, {None if number is None else value}{more})")
        complete.append(path)

    build(entries, "root")
    return "\n".join([*lines, *(f"{name} = {value!r}" for name, value in others.items())])


def drawn_trees(st):
    number = mostly(st, st.integers(0, 5), st.none())

    @drawing
    def entries_of(draw, st, depth):
        entries = []
        for name in draw(st.permutations(["a", "b", "c", "ab", "d"]))[: draw(st.integers(0, 4))]:
            kinds = ["parameter", "parameter", "buffer", "scratch", "again"] + ["module"] * 3 * (depth > 0)
            kind = draw(st.sampled_from(kinds))
            if kind == "again":
                entries.append([kind, name, draw(st.integers(0, 3))])
            elif kind == "module":
                entries.append([kind, name, draw(mostly(st, entries_of(st, depth - 1), st.none()))])
            else:
                entries.append([kind, name, draw(number)])
        return entries

    return entries_of(st, 2)


SMALL = [["parameter", "w", 0], ["buffer", "n", 0], ["scratch", "s", 2]]
LARGE = [
    *(["parameter", "w", 0], ["parameter", "none", None], ["scratch", "s", 2], ["buffer", "empty", None]),
    ["module", "layer", [["parameter", "w", 1], ["parameter", "tied", 0], ["buffer", "n", 1], ["parameter", "v", 2]]],
    *(["module", "nobody", None], ["module", "block", [["module", "inner", SMALL], ["buffer", "seen", 3]]]),
    *(["again", "same", 0], ["buffer", "seen", 3]),
]
TIED = [
    ["module", "encoder", [["parameter", "weight", 0], ["parameter", "bias", 1]]],
    *(["again", "twin", 0], ["parameter", "head", 0], ["parameter", "again", 0]),
]


def tensor_state(x):
    """A tensor with all that belongs to it."""
    value = kind_of(x) if x.device.type == "meta" else plain(x)
    grad = None if x.grad is None else tensor_state(x.grad)
    flags = {"requires_grad": x.requires_grad, "is_leaf": x.is_leaf}
    return {"elements": value, "class": type(x).__name__, **flags, "grad": grad}


def kind_of(x):
    """The dtype, sizes, device and class of a tensor."""
    return f"{x.dtype} {tuple(x.shape)} {x.device.type} {type(x).__name__}".partition(".")[2]


# Layers --------------------------------------------------------------------------------------------------------------


def gradients_of(xp, result, *leaves):
    """The gradients of the leaves. Each element of the result has another weight."""
    if result.requires_grad:
        (result * numbers(xp, list(result.shape), 4, str(result.dtype).partition(".")[2])).sum().backward()
    return [None if leaf is None else elements(xp, leaf.grad) for leaf in leaves]


_LAYERS = ["linear", "linear", "norm", "relu", "gelu", "tanh", "residual", "tied", "dropout", "batch norm"]


def _model(xp, layers):
    """An embedding, the layers, and a head, of width 4, in float64; the weights are by rule."""
    nn = xp.nn

    class Residual(nn.Module):
        def __init__(self, inner):
            super().__init__()
            self.inner = inner

        def forward(self, x):
            return x + self.inner(x)

    made, linear = [nn.Embedding(5, 4)], nn.Linear(4, 4)
    for name in layers:
        made.append(
            {
                "linear": lambda: nn.Linear(4, 4),
                "norm": lambda: nn.LayerNorm(4),
                "batch norm": lambda: nn.BatchNorm1d(4),
                "relu": lambda: nn.ReLU(),
                "gelu": lambda: nn.GELU(),
                "tanh": lambda: nn.Tanh(),
                "residual": lambda: Residual(nn.Sequential(nn.Linear(4, 4), nn.GELU())),
                "tied": lambda: linear,
                "dropout": lambda: nn.Dropout(0.5).eval(),
            }[name]()
        )
    model = nn.Sequential(*made, nn.Linear(4, 4)).double()
    with xp.no_grad():
        for number, parameter in enumerate(model.parameters()):
            parameter.copy_(numbers(xp, list(parameter.shape), number) * 0.5)
    return model
