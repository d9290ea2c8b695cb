"""Three small graphs in all their groupings: which nodes may share a kernel, the C++, the memory, and the bytes that move.

The C++ is rushlight's, because torch's depends on the vectors of the machine. The decisions are torch's, and rushlight's agree.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from itertools import combinations, pairwise
from typing import Any, NamedTuple
from unittest.mock import patch

import torch
from torch._inductor import config
from torch._inductor.graph import GraphLowering
from torch._inductor.scheduler import Scheduler, WhyNoFuse

import rushlight
from autograder.language import phrase
from rushlight.inductor import graph, ir, memory, scheduler
from rushlight.inductor.cpp_scheduling import codegen_node
from rushlight.inductor.dependencies import extract_read_writes

PHASE, SIZE = "08", (744, 690)
Group = tuple[int, ...]  # the numbers of its nodes
Grouping = tuple[Group, ...]


class Program(NamedTuple):
    """A function of `xp` and tensors, the sizes of these, the names of its nodes, and the pairs that a reader can try."""

    code: str
    sizes: list[tuple[int, int]]
    names: list[str]
    pairs: list[tuple[int, int]]
    start: Grouping

    def function(self, xp: Any) -> Callable:
        return eval(f"lambda {', '.join('xwv'[: len(self.sizes)])}: {self.code}", {"xp": xp})


PROGRAMS = {
    phrase("softmax of a product"): Program(
        "xp.softmax(x @ w, -1)",
        [(32, 64), (64, 600)],
        ["mm", "max", "exp", "sum", "div"],
        [(0, 1), (1, 2), (2, 3), (3, 4), (2, 4)],
        ((0,), (1,), (2, 3), (4,)),
    ),
    phrase("a product between"): Program(
        "(lambda h: (h @ v) * h)(xp.relu(x @ w))",
        [(32, 64), (64, 48), (48, 48)],
        ["mm", "relu", "mm", "mul"],
        [(0, 1), (1, 2), (2, 3), (1, 3)],
        ((0,), (1,), (2,), (3,)),
    ),
    phrase("a transpose"): Program(
        "(lambda e: (e, e + 1, e + e.t()))(x.exp())",
        [(30, 30)],
        ["exp", "e + 1", "e + e.t()"],
        [(0, 1), (1, 2), (0, 2)],
        ((0,), (1,), (2,)),
    ),
}


class Stop(Exception):
    """Raised in the place of the generated code."""


def torch_decisions(program: Program) -> tuple[dict[tuple[int, int], str], set[Group]]:
    """For each pair of single nodes the reason why torch does not fuse them, or "". And the groups that it makes."""
    decisions: dict[tuple[int, int], str] = {}
    groups: set[Group] = set()
    fuse_nodes = Scheduler.fuse_nodes

    def watched(self: Scheduler, nodes: list) -> list:
        numbers = {node.get_name(): i for i, node in enumerate(nodes)}
        for i, j in program.pairs:
            reasons: list[str] = []
            with patch.object(WhyNoFuse, "__call__", lambda _, why, *args, seen=reasons: seen.append(why % args)):
                allowed = self.can_fuse(nodes[i], nodes[j])
            decisions[i, j] = "" if allowed else reasons[0]
        fused = fuse_nodes(self, nodes)
        groups.update(tuple(sorted(numbers[part.get_name()] for part in node.get_nodes())) for node in fused)
        raise Stop

    def stop(self: GraphLowering, code: Any) -> None:
        raise Stop

    torch._dynamo.reset()
    with ExitStack() as stack:
        stack.enter_context(patch.object(Scheduler, "fuse_nodes", watched))
        stack.enter_context(config.patch(fx_graph_cache=False))
        stack.enter_context(torch._functorch.config.patch(enable_autograd_cache=False))
        stack.enter_context(torch.no_grad())
        try:
            torch.compile(program.function(torch), dynamic=False)(*(torch.ones(sizes) for sizes in program.sizes))
        except Exception as error:
            if not groups:
                raise error
    return decisions, groups


def groupings(n: int) -> Iterator[Grouping]:
    """All groupings of the nodes 0 to n - 1."""
    if n == 0:
        yield ()
        return
    for rest in groupings(n - 1):
        yield (*rest, (n - 1,))
        for at, group in enumerate(rest):
            yield (*rest[:at], (*group, n - 1), *rest[at + 1 :])


class Graph:
    """A lowered program, and the kernel of each of its groups."""

    def __init__(self, program: Program) -> None:
        self.program = program
        example = [rushlight.zeros(*sizes) for sizes in program.sizes]
        self.lowered = graph.lower(rushlight.aot.make_fx(program.function(rushlight))(*example))
        self.nodes = scheduler.create_nodes(scheduler.live_operations(self.lowered))
        assert len(self.nodes) == len(program.names)
        self.buffers = [min(node.writes) for node in self.nodes]
        self.before = scheduler.compute_ancestors(self.nodes)
        outputs = {output.buffer for output in self.lowered.outputs if isinstance(output, ir.ReinterpretView)}
        self.kept = outputs | {*self.lowered.inputs}

    def between(self, group: Group) -> int | None:
        """A node outside a group that must run after one of its nodes and before another."""
        others = (k for k in range(len(self.nodes)) if k not in group)
        return next((k for k in others if {*group} & self.before[k] and any(k in self.before[j] for j in group)), None)

    def fused(self, group: Group) -> Any:
        node = self.nodes[group[0]]
        for i in group[1:]:
            if node is None or ir.ExternKernel in {type(node), type(self.nodes[i])}:
                return None
            node = scheduler.fuse(node, self.nodes[i])
        return node

    def why_not(self, group: Group) -> str:
        """Why some nodes cannot be one kernel; "" if they can."""
        names = self.program.names
        for i in group:
            if len(group) > 1 and isinstance(self.nodes[i], ir.ExternKernel):
                why = phrase("Its loops are in the library, so no other node can join them.")
                return f"{phrase(f'{names[i]} is a library call.')} {why}"
        if (k := self.between(group)) is not None:
            i = max(member for member in group if member in self.before[k])
            j = min(member for member in group if k in self.before[member])
            between, first, last = names[k], names[i], names[j]
            return phrase(f"{between} must run after {first} and before {last}, so one kernel cannot hold both.")
        if self.fused(group) is not None:
            return ""
        for i, j in combinations(group, 2):
            reads, _ = extract_read_writes(self.nodes[j].nests[0])
            _, write = extract_read_writes(self.nodes[i].nests[0])
            for read in reads:
                if read.buffer == write.buffer and read.index != write.index:
                    writer, written = names[i], f"{write.buffer}[{write.index}]"
                    there = phrase(f"{names[j]} reads {read.buffer}[{read.index}]")
                    return phrase(f"{there}, but the same iteration of {writer} writes {written}.")
        raise AssertionError(group)

    def step(self, group: Group) -> ir.Step:
        """The kernel or the call of a group."""
        node = self.fused(group)
        if isinstance(node, ir.ExternKernel):
            return node
        others = set().union(*(node.reads for i, node in enumerate(self.nodes) if i not in group))
        return codegen_node(node, node.writes - (self.kept | others), self.lowered.layouts, group[0])

    def code(self, group: Group) -> list[str]:
        """The loops of a group in C++, without pragmas, with the names of buffers."""
        step = self.step(group)
        if isinstance(step, ir.ExternKernel):
            return [f"{step.op}({', '.join(operand.buffer for operand in step.operands)}, out={step.output});"]
        pointers = re.findall(r"\w+_ptr\d", step.text.splitlines()[0])
        text = step.text
        for pointer, name in zip(pointers, step.arguments, strict=True):
            text = text.replace(pointer, name)
        lines = [line[2:] for line in text.rstrip().splitlines()[2:-2]]
        return [line for line in lines if "#pragma" not in line]

    def shown(self, grouping: Grouping) -> dict[str, Any]:
        """Return the fate of each buffer of a grouping, the bytes that move, and a sentence."""
        order = sorted(grouping)
        assert all(not {*later} & self.before[i] for group, later in pairwise(order) for i in group)
        steps = [self.step(group) for group in order]
        alive = self.kept.union(*(step.reads | step.writes for step in steps))
        layouts = {name: layout for name, layout in self.lowered.layouts.items() if name in alive}
        lowered = self.lowered
        plan = memory.plan(ir.Program(lowered.inputs, layouts, {}, steps, lowered.outputs, lowered.mutated))
        text = "".join(step.text for step in steps if isinstance(step, ir.Kernel))
        endings = []
        for name in self.buffers:
            before = plan.before.get(name)
            fate = phrase(f"reuses {before}") if before else phrase("its own memory")
            if name not in alive:
                fate = phrase("one row, on the stack") if f"row_{name}[" in text else phrase("only in a register")
            endings.append(fate)
        moved = sum(lowered.layouts[name].nbytes for step in steps for name in step.reads | step.writes)
        kernels = sum(isinstance(step, ir.Kernel) for step in steps)
        calls = len(steps) - kernels
        gone = [name for name in self.buffers if name not in alive]
        made = phrase("1 kernel") if kernels == 1 else phrase(f"{kernels} kernels")
        if calls:
            called = phrase("1 library call") if calls == 1 else phrase(f"{calls} library calls")
            made = phrase(f"{made} and {called}")
        say = phrase(f"{made} move {moved:,} bytes.")
        if len(gone) == 1:
            say += f" {phrase(f'{gone[0]} needs no memory any more.')}"
        elif gone:
            listed, last = ", ".join(gone[:-1]), gone[-1]
            say += f" {phrase(f'{listed} and {last} need no memory any more.')}"
        return {"fates": endings, "bytes": moved, "say": say}


def key(group: Group) -> str:
    return "".join(map(str, group))


def figures(program: Program) -> dict[str, Any]:
    """Everything that the figure shows of one program."""
    own, (reasons, groups) = Graph(program), torch_decisions(program)
    for pair, reason in reasons.items():
        assert bool(reason) == bool(own.why_not(pair)), (pair, reason)
    whole = scheduler.fuse_nodes(own.nodes, own.lowered.layouts)
    ours = {tuple(sorted(own.buffers.index(name) for name in node.writes)) for node in whole}
    assert ours == groups, (ours, groups)
    why, code, states = {}, {}, {}
    for grouping in groupings(len(own.nodes)):
        for group in grouping:
            if key(group) not in why:
                why[key(group)] = own.why_not(group)
                if not why[key(group)]:
                    code[key(group)] = own.code(group)
        if not any(why[key(group)] for group in grouping):
            states[" ".join(map(key, sorted(grouping)))] = own.shown(grouping)
    assert all(" ".join(map(key, sorted(group))) in states for group in (groups, program.start))
    nodes = []
    for name, node, buffer in zip(program.names, own.nodes, own.buffers):
        layout = own.lowered.layouts[buffer]
        if isinstance(node, ir.ExternKernel):
            kind = phrase("a library call")
        else:
            kind = phrase("a reduction") if node.inner else phrase("pointwise")
        nodes.append([name, kind, buffer, f"{layout.nbytes:,} bytes"])
    return {
        "code": program.code.replace("xp.", "torch."),
        "nodes": nodes,
        "pairs": [[i, j, reasons[i, j]] for i, j in program.pairs],
        "start": " ".join(map(key, program.start)),
        "best": " ".join(map(key, sorted(groups))),
        "why": {name: reason for name, reason in why.items() if reason},
        "loops": code,
        "states": states,
    }


def data() -> dict[str, Any]:
    return {name: figures(program) for name, program in PROGRAMS.items()}
