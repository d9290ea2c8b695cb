"""Four functions in all their legal cuts: what crosses from forward to backward, in bytes, and what the backward computes again.

The networks of pipes, the bans and their reasons are torch's. Rushlight's networks are the same, and both save the same tensors.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from itertools import combinations
from typing import Any, NamedTuple
from unittest.mock import patch

import networkx
import torch
from functorch.compile import aot_function, make_boxed_func
from torch._functorch import partitioners

import rushlight
from autograder.language import phrase
from rushlight import aot

PHASE, SIZE = "07", (620, 512)
WORDS = {  # torch's reason not to recompute a tensor, in a sentence
    "mm": phrase("{name} is a product of matrices, which is too expensive to compute twice."),
    "rand_like": phrase("{name} is random. A second run would draw other numbers."),
    "primal input": phrase("{name} is an argument of the function. No operator computes it."),
    "reduction op": phrase("{name} is small and its input is large, so it is better to save it."),
}


class Program(NamedTuple):
    """A function of `xp` and tensors, and the sizes of these; the last one requires grad."""

    code: str
    sizes: list[tuple[int, int]]

    def function(self, xp: Any) -> Callable:
        return eval(f"lambda {', '.join('xw'[: len(self.sizes)])}: {self.code}", {"xp": xp})

    def arguments(self, xp: Any) -> list:
        return [xp.ones(*size).requires_grad_(size == self.sizes[-1]) for size in self.sizes]


PROGRAMS = {
    phrase("an activation"): Program(
        "(lambda h: h * xp.sin(xp.nn.functional.softplus(h)))(x @ w)", [(32, 64), (64, 600)]
    ),
    phrase("a clamp"): Program("(x @ w).clamp(min=0)", [(32, 64), (64, 600)]),
    phrase("a random mask"): Program("xp.sin(xp.nn.functional.softplus(x)) * (xp.rand_like(x) > 0.1)", [(32, 600)]),
    phrase("a reduction"): Program("xp.sin(xp.sin(x.sum(1)))", [(1000, 16)]),
}
Cut = frozenset[str]  # the tensors that are saved


def torch_cut(program: Program, partition: Callable) -> tuple[list[str], dict, dict, float]:
    """Return the values that torch saves, the pipes of its network, the reasons of its bans, and the weight of the minimum cut."""
    seen: dict[str, Any] = {"pipes": {}, "reasons": {}, "weight": 0}
    minimum_cut = networkx.minimum_cut

    def watched(graph: Any, source: str, sink: str) -> Any:
        pipes = {(start, end): more for start, end, more in graph.edges(data=True)}
        seen["pipes"] = {edge: more["capacity"] for edge, more in pipes.items()}
        banned = {end.removesuffix("_in"): more["reason"] for (start, end), more in pipes.items() if start == "source"}
        seen["reasons"] = {name: reason.removeprefix("cannot recompute: ") for name, reason in banned.items()}
        seen["weight"], parts = minimum_cut(graph, source, sink)
        return seen["weight"], parts

    def kept(graph: Any, inputs: Any) -> Any:
        seen.setdefault("saved", [node.name for node in [*graph.graph.nodes][-1].args[0][1:]])
        return make_boxed_func(graph.forward)

    with patch.object(networkx, "minimum_cut", watched):
        result = aot_function(program.function(torch), kept, kept, partition_fn=partition)(*program.arguments(torch))
        result.sum().backward()  # torch makes the backward graph
    return seen["saved"], seen["pipes"], seen["reasons"], seen["weight"]


class Joint:
    """A joint graph, and its cuts. A tensor of the graph is known by its name; a view of an argument counts as the argument."""

    def __init__(self, program: Program) -> None:
        def function(*args: Any) -> tuple:
            return (program.function(rushlight)(*args),)

        def joint() -> Any:
            args = program.arguments(rushlight)
            return aot.joint.joint_graph(function, args, aot.joint.collect_metadata(function, args))

        def saved(partition: Callable) -> list[str]:
            forward, _ = partition(joint(), num_fwd_outputs=1)
            return [node.name for node in [*forward.graph.nodes][-1].args[0][1:]]

        self.graph = aot.partition.common_subexpressions(joint().graph)
        self.info = aot.partition.classify_nodes(self.graph, 1)
        self.pipes = aot.partition.network(self.graph, self.info)
        self.saved = [
            saved(partition) for partition in (aot.default_partition, aot.min_cut_rematerialization_partition)
        ]
        nodes = [node for node in self.graph.nodes if node.op != "output"]
        self.views = {node.name: node.args[0].name for node in nodes if aot.partition.operator_name(node) == "t"}
        self.late = [node for node in nodes if node in self.info.tangents_closure]
        self.early = {node.name: node for node in nodes if node not in self.late and node.name not in self.views}
        self.uses = {name: self._uses(node) for name, node in self.early.items()}
        self.needed = {name for name, uses in self.uses.items() if {node.name for node in self.late} & uses}
        self.inputs = {name: [user for user in self.early if name in self.uses[user]] for name in self.early}
        self.banned = {name for start, end in self.pipes if start == "source" for name in [end.removesuffix("_in")]}

    def _uses(self, node: Any) -> set[str]:
        """The nodes that use a tensor, or a view of it."""
        direct = {user.name for user in node.users if user.op != "output"}
        views = [user for user in node.users if user.name in self.views]
        return (direct - {*self.views}).union(*(self._uses(view) for view in views))

    def bytes_of(self, name: str) -> int:
        return aot.partition.size_of(self.early[name])

    def weight(self, cut: Cut) -> float:
        """Torch's cost of a cut. A view is saved in the place of its argument."""
        views = {base: view for view, base in self.views.items()}
        return sum(
            self.pipes[f"{name}_in", f"{name}_out"]
            for name in (views.get(name_of_cut, name_of_cut) for name_of_cut in cut)
        )

    def computed(self, cut: Cut) -> set[str]:
        """Return the values that the backward computes without a tangent."""
        computed: set[str] = set()
        waiting = [*self.needed]
        while waiting:
            name = waiting.pop()
            if name not in cut and name not in computed:
                computed.add(name)
                waiting += self.inputs[name]
        return computed

    def legal(self, cut: Cut) -> bool:
        """Whether nothing flows from the source to the sink, and the backward reads each tensor that is saved."""
        computed = self.computed(cut)
        return not computed & self.banned and cut == self.read(cut)

    def read(self, cut: Cut) -> Cut:
        """The saved tensors that the backward reads."""
        needed = self.needed.union(*(self.inputs[name] for name in self.computed(cut)))
        return cut & needed

    def cuts(self) -> Iterator[Cut]:
        for count in range(len(self.early) + 1):
            yield from filter(self.legal, map(frozenset, combinations(self.early, count)))

    def moved(self, cut: Cut, name: str) -> Cut | None:
        """The cut after a press on a tensor: what was saved is computed in the backward, from its inputs, or the other way."""
        if name in self.computed(cut):
            return self.read(cut | {name})
        if name in self.banned:
            return None
        inputs = {operand for operand in self.inputs[name] if operand not in self.computed(cut)}
        return self.read((cut - {name}) | inputs)


def listed(names: list[str]) -> str:
    *others, last = names
    first = ", ".join(others)
    return phrase(f"{first} and {last}") if others else last


def call(node: Any, shown: dict[str, str]) -> str:
    """A call of an operator, as a reader writes it."""
    name = aot.partition.operator_name(node)
    args = [
        shown.get(argument.name, argument.name) if hasattr(argument, "name") else f"{argument}"
        for argument in node.args
    ]
    infix = {"mm": "@", "mul": "*", "ge": ">=", "gt": ">"}.get(name or "")
    return f"{args[0]} {infix} {args[1]}" if infix else f"{name}({', '.join(a for a in args if a != 'None')})"


def figures(program: Program) -> dict[str, Any]:
    """Everything that the figure shows of one function."""
    joint = Joint(program)
    by_default, *_ = torch_cut(program, partitioners.default_partition)
    by_cut, pipes, reasons, weight = torch_cut(program, partitioners.min_cut_rematerialization_partition)
    constants = {
        edge for edge in pipes if edge[0].startswith("scalar_tensor_")
    }  # rushlight's graph has the number itself
    assert {edge: pipes[edge] for edge in pipes.keys() - constants} == joint.pipes
    assert joint.saved == [by_default, by_cut]
    arguments = [name for name in joint.early if name.startswith("primals")]
    shown = {name: name for name in joint.early} | dict(zip(arguments, "xw", strict=False))
    default, best = (frozenset(joint.views.get(name, name) for name in names) for names in (by_default, by_cut))
    cuts = sorted(joint.cuts(), key=lambda cut: (len(joint.computed(cut)), joint.weight(cut), sorted(cut)))
    assert {default, best} <= {*cuts} and joint.weight(best) == weight == min(map(joint.weight, cuts))
    results = {value.name for value in aot.partition.output_values(joint.graph)[:1]}
    rows = sorted(joint.early, key=lambda name: name in results)
    late = [node.name for node in joint.late]
    ends = [*rows, *late]
    edges = [[ends.index(name), ends.index(user)] for name in rows for user in sorted(joint.uses[name]) if user in ends]
    edges += [[ends.index(a.name), ends.index(b.name)] for a in joint.late for b in a.users if b.op != "output"]

    def move(cut: Cut, name: str) -> int | None:
        """The number of the next cut; -1 if torch bans it; None if the backward does not need the tensor."""
        if name not in cut and name not in joint.computed(cut):
            return None
        moved = joint.moved(cut, name)
        return -1 if moved is None else cuts.index(moved)

    def row(name: str) -> list:
        """Its name, its call, its bytes, whether the forward computes it, and why it must not be computed again."""
        node = joint.early[name]
        written = call(node, shown) if node.op == "call_function" else " x ".join(map(str, node.meta["val"].shape))
        refused = refusal(shown[name], node, reasons[name]) if any(move(cut, name) == -1 for cut in cuts) else ""
        return [shown[name], written, joint.bytes_of(name), int(node in joint.info.required_fw), refused]

    return {
        "code": program.code.replace("xp.nn.functional.", "").replace("xp.", ""),
        "rows": [row(name) for name in rows],
        "late": late,
        "edges": edges,
        "cuts": [
            {
                "saved": sorted(rows.index(name) for name in cut),
                "computed": sorted(rows.index(name) for name in joint.computed(cut)),
                "bytes": sum(map(joint.bytes_of, cut)),
                "weight": joint.weight(cut),
                "moves": [move(cut, name) for name in rows],
                "say": sentence(joint, cut, rows, shown),
            }
            for cut in cuts
        ],
        "default": cuts.index(default),
        "best": cuts.index(best),
    }


def refusal(name: str, node: Any, reason: str) -> str:
    """Why a tensor must be saved if the backward needs it."""
    words = WORDS[reason if reason in WORDS else aot.partition.operator_name(node) or ""]
    said = phrase(f'Torch\'s reason: "{reason}".')
    return f"{words.format(name=name)} {said}"


def sentence(joint: Joint, cut: Cut, rows: list[str], shown: dict[str, str]) -> str:
    computed = [name for name in rows if name in joint.computed(cut)]
    twice = [shown[name] for name in computed if joint.early[name] in joint.info.required_fw]
    once = [shown[name] for name in computed if shown[name] not in twice]
    saved = [shown[name] for name in rows if name in cut]
    names, count = listed(saved), len(saved)
    say = phrase(f"1 tensor crosses the border: {names}.")
    if count > 1:
        say = phrase(f"{count} tensors cross the border: {names}.")
    if twice:
        names = listed(twice)
        say += f" {phrase(f'The backward computes {names} again.')}"
    else:
        say += f" {phrase('Nothing is computed twice.')}"
    if once:
        names = listed(once)
        say += f" {phrase(f'Only the backward computes {names}.')}"
    return say


def data() -> dict[str, Any]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return {name: figures(program) for name, program in PROGRAMS.items()}
