"""Cases of a student for `create_arg`."""

from __future__ import annotations

import enum
from collections import OrderedDict
from typing import NamedTuple

from ...engine.check import program
from ..cases import attempt, breaking, is_torch, no_cases
from . import drawn_graphs as fx

BREAKS, BODIES = "course.breaks.breaks_create_arg", "07a.create_arg"


@program(f"{BREAKS}.half", cases=no_cases, edges=[{}], examine=breaking(BODIES, "1/2"))
def breaks_half(xp):
    return xp.breaks.breaks_create_arg()


@program(f"{BREAKS}.most", cases=no_cases, edges=[{}], examine=breaking(BODIES, "3/4"))
def breaks_most(xp):
    return xp.breaks.breaks_create_arg()


@program(BREAKS, cases=no_cases, edges=[{}], examine=breaking(BODIES, "1"))
def breaks_create_arg(xp, **case):
    """The cases, or the argument that `create_arg` makes of one of them."""
    return recorded(xp, **case) if case else xp.breaks.breaks_create_arg()


@breaks_create_arg.oracle
def _(torch, value, within, tracer):
    return recorded(torch, value, within, tracer)


class Pair(NamedTuple):
    first: object
    second: object


class Status(enum.IntEnum):
    OK = 1


class Items(list):
    pass


class Word(str):
    pass


class Own:
    def __fx_create_arg__(self, tracer):
        return "its own", type(tracer).__name__


class OwnNumber(Own, int):
    pass


HOLDERS = {  # what holds the value
    "nothing": lambda value: value,
    "tuple": lambda value: (value, 3),
    "named tuple": lambda value: Pair(value, 3),
    "list": lambda value: [value],
    "list of a derived class": lambda value: Items([value]),
    "dict": lambda value: {"a": value},
    "dict of a derived class": lambda value: OrderedDict(a=value),
    "key": lambda value: {value: None},
    "start of a slice": lambda value: slice(value, None),
    "step of a slice": lambda value: slice(None, None, value),
}


def recorded(xp, value, within, tracer):
    proxy = xp.fx.proxy

    class Tracer(
        proxy.GraphAppendingTracer if is_torch(xp) else proxy.TracerBase
    ):  # rushlight's would wrap all functions
        def __init__(self, graph):
            super().__init__(*[graph] * is_torch(xp))
            self.graph = graph

        def create_arg(self, a):
            return a * 2 if tracer == "doubles" and type(a) in (int, str, Word) else super().create_arg(a)

    graph = xp.fx.Graph()
    used, node = Tracer(graph), graph.placeholder("x")
    x = used.proxy(node)
    values = {
        "x": x, "x.shape": x.shape, "the node of x": node, "3": 3, "'dim'": "dim", "None": None, "[x]": [x],
        "Colour.RED": fx.Colour.RED, "Status.OK": Status.OK, "Word('dim')": Word("dim"), "Own()": Own(),
        "OwnNumber(3)": OwnNumber(3), "range(3)": range(3), "{3}": {3},
    }  # fmt: skip
    holder = HOLDERS[within](values[value])
    try:
        held = attempt(lambda: typed(used.create_arg(holder)))
    except NotImplementedError:  # which the contract names
        held = "raises NotImplementedError"
    return {"held": held, "nodes": fx.shown(graph)}


def typed(arg):
    """An argument with the types of all that is in it."""
    kind = type(arg).__name__
    if isinstance(arg, (tuple, list)):
        return [kind, *map(typed, arg)]
    if isinstance(arg, dict):
        return [kind, *([typed(key), typed(item)] for key, item in arg.items())]
    if isinstance(arg, slice):
        return [kind, *map(typed, (arg.start, arg.stop, arg.step))]
    return [kind, str(arg).replace("rushlight", "torch")]
