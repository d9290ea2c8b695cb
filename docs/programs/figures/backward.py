"""Four backward passes, node by node: the order, gradients and freed tensors that hooks saw in torch, which rushlight repeats."""

from __future__ import annotations

import re
from typing import Any, NamedTuple

import torch

import rushlight
from autograder.language import phrase

PHASE, SIZE = "04", (744, 396)
VECTOR = {"x": [1.0, -2.0]}
LAYER = {"x": [[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]], "w": [[1.0, 0.0], [0.0, 1.0]], "b": [1.0, 2.0]}
NEEDED = phrase("# x requires grad"), phrase("# w and b require grad")
MIDDLE, TOP, BOTTOM = 0.5, 0, 1  # where a node is drawn, from above


class Program(NamedTuple):
    """Lines of code, the tensors that they begin with, and the column and height of each node: in the order of the lines, then
    the accumulators."""

    lines: list[str]
    places: list[tuple[int, float]]
    given: dict[str, list] = VECTOR


DIAMOND = [(3, MIDDLE), (2, TOP), (2, BOTTOM), (1, MIDDLE), (0, MIDDLE), (4, MIDDLE)]
PROGRAMS = {
    phrase("a diamond"): Program(["y = x * 2", "a = y ** 2", "b = y.relu()", "c = a + b", "loss = c.sum()"], DIAMOND),
    phrase("a broadcast"): Program(
        ["h = x @ w", "c = h + b", "loss = c.sum()"],
        [(2, TOP), (1, MIDDLE), (0, MIDDLE), (3, TOP), (2, BOTTOM)],
        LAYER,
    ),
    phrase("an in-place change"): Program(
        ["y = x * 2", "z = y * 3", "y.add_(1)", "c = y + z", "loss = c.sum()"], DIAMOND
    ),
    phrase("a change of a saved tensor"): Program(
        ["y = x * 2", "z = y * y", "y.add_(1)", "c = y + z", "loss = c.sum()"], DIAMOND
    ),
}


class Run:
    """A program that has run on one framework, and its graph. Nodes have the numbers of the lines that made them. The
    accumulators come after them, in the order of the leaves."""

    def __init__(self, program: Program, xp: Any) -> None:
        self.xp, self.program = xp, program
        self.tensors = {name: xp.tensor(value) for name, value in program.given.items()}
        self.leaves = [name for name in self.tensors if len(self.tensors) == 1 or name != "x"]
        for name in self.leaves:
            self.tensors[name].requires_grad_()
        self.nodes, self.saved = [], {}
        for line in program.lines:
            exec(line, {}, self.tensors)
            self.nodes.append(self.tensors[re.match(r"\w+", line)[0]].grad_fn)
            self.saved[self.nodes[-1]] = self.saved_by(self.nodes[-1])
        ends = [edge for node in self.nodes for edge, _ in node.next_functions if edge not in [None, *self.nodes]]
        for name in self.leaves:
            self.nodes.append(next(end for end in ends if end.variable is self.tensors[name]))
            self.saved[self.nodes[-1]] = {}
        self.names = [node.name().rpartition("::")[2] for node in self.nodes]
        self.edges = [
            [self.nodes.index(other) if other is not None else None for other, _ in node.next_functions]
            for node in self.nodes
        ]

    def source(self, i: int) -> str:
        """Return the line of code that made a node."""
        code, leaf = self.made_for(i)
        return phrase(f"of {code}") if code else phrase(f"for {leaf}")

    def label(self, i: int) -> str:
        name, (code, leaf) = self.names[i], self.made_for(i)
        return phrase(f"{name} of {code}") if code else phrase(f"{name} for {leaf}")

    def made_for(self, i: int) -> tuple[str, str]:
        """Return the code that made a node, or the leaf of an accumulator."""
        lines = self.program.lines
        return (lines[i].rpartition("= ")[2], "") if i < len(lines) else ("", self.leaves[i - len(lines)])

    def saved_by(self, node: Any) -> dict[str, str]:
        """The tensors of the program that a node saves, and the attributes that hold them."""
        addresses = {tensor.data_ptr(): name for name, tensor in self.tensors.items() if tensor.dim()}
        attributes = {}
        for attribute in dir(node):
            if attribute.startswith("_saved_") and hasattr(getattr(node, attribute), "data_ptr"):
                name = addresses.get(getattr(node, attribute).data_ptr())
                if name:
                    attributes[name] = attribute
        return attributes

    def freed(self) -> list[int]:
        """The nodes that hold no saved tensors any more."""
        indices = []
        for i, node in enumerate(self.nodes):
            try:
                for attribute in self.saved[node].values():
                    getattr(node, attribute)
            except RuntimeError as error:
                if "second time" in str(error):
                    indices.append(i)
        return indices

    def backward(self) -> list[dict]:
        """Record each node that runs by hooks: its gradients, those that it sends, and the nodes that were freed before."""
        steps: list[dict] = []

        def before(i: int, grads: tuple) -> None:
            steps.append({"node": i, "given": listed(grads), "freed": self.freed(), "sent": []})

        def after(grads: tuple) -> None:
            steps[-1]["sent"] = listed(grads)

        for i, node in enumerate(self.nodes):
            node.register_prehook(lambda grads, i=i: before(i, grads))
            if self.edges[i]:
                node.register_hook(lambda sent, given: after(sent))
        try:
            self.tensors["loss"].backward()
        except RuntimeError as error:
            steps[-1]["error"] = str(error)
        steps.append({"node": None, "freed": self.freed()})
        return steps

    def order(self) -> list[int]:
        """How high the `sequence_nr` of each node is; -1 for the accumulators, which have the highest possible."""
        numbers = [node._sequence_nr() for node in self.nodes]
        return [-1 if number >= 2**63 - 1 else sorted(numbers).index(number) for number in numbers]


def listed(grads: tuple) -> list:
    return [None if grad is None else grad.tolist() for grad in grads]


def added(a: Any, b: Any) -> Any:
    return [added(x, y) for x, y in zip(a, b)] if isinstance(a, list) else a + b


def sizes(value: Any) -> tuple[int, ...]:
    return (len(value), *sizes(value[0])) if isinstance(value, list) else ()


def shown(value: Any) -> str:
    flat = torch.tensor(value).flatten().tolist()
    if len(sizes(value)) > 1 and len({*flat}) == 1:
        return phrase(f"{sizes(value)} of {flat[0]:g}")
    return re.sub(r"\.0\b", "", str(value))


# A pass, step by step ------------------------------------------------------------------------------------------------


def frames(program: Program) -> dict:
    """The graph of a program, and the engine's state before its first step and after each.

    The dependencies and the queue are computed from torch's graph as the engine does. That they are right is seen from the
    order in which torch runs the nodes, and from the gradients that arrive.
    """
    seen = Run(program, torch)
    steps, fresh = seen.backward(), Run(program, torch)
    ours = Run(program, rushlight)
    assert (seen.names, seen.edges, seen.order()) == (ours.names, ours.edges, ours.order())
    assert [[*saved.values()] for saved in seen.saved.values()] == [[*saved.values()] for saved in ours.saved.values()]
    for mine, theirs in zip(ours.backward(), steps, strict=True):
        assert {**mine, "error": None} == {**theirs, "error": None} and ("error" in mine) == ("error" in theirs)

    numbers = [number if number >= 0 else len(seen.nodes) for number in seen.order()]
    waits = [sum(edges.count(i) for edges in seen.edges) for i in range(len(seen.nodes))]
    counts = rushlight.engine.count_dependencies([ours.tensors["loss"].grad_fn])
    assert waits == [counts[node] for node in ours.nodes]
    queue, buffers, ran = [waits.index(0)], {waits.index(0): 1.0}, []
    frames = [{"waits": [*waits], "queue": [], "tokens": [[queue[0], "1", ""]], "say": counted(seen)}]
    for step, following in zip(steps, steps[1:]):
        i = step["node"]
        highest = max(numbers[node] for node in queue)
        assert numbers[i] == highest and step["given"] == [buffers[i]]
        queue.sort(key=lambda each: (each != i, -numbers[each]))
        frame: dict[str, Any] = {"runs": i, "queue": [*queue], "tokens": []}
        queue.remove(i)
        ran.append(i)
        if "error" in step:
            frames.append({**frame, "waits": [*waits], "error": True, "say": refused(seen, i, step["error"])})
            break
        notes = {}
        if seen.edges[i]:
            alone = fresh.nodes[i](*(torch.tensor(grad) for grad in step["given"]))
            alone = alone if isinstance(alone, tuple) else (alone,)
        for place, (other, grad) in enumerate(zip(seen.edges[i], step["sent"])):
            if other is None:
                continue
            meets = other in buffers
            buffers[other] = added(buffers[other], grad) if meets else grad
            came = tuple(alone[place].shape)
            if came != sizes(grad):
                notes[other] = came, sizes(grad)
            text = f"{came} → {shown(grad)}" if other in notes else shown(grad)
            frame["tokens"].append([other, text, shown(buffers[other]) if meets else ""])
            waits[other] -= 1
            if waits[other] == 0:
                queue.append(other)
        freed = [name for name in seen.saved[seen.nodes[i]]]
        assert (i in following["freed"]) == bool(freed)
        if not seen.edges[i]:
            leaf = seen.leaves[i - len(program.lines)]
            assert seen.tensors[leaf].grad.tolist() == buffers[i]
            frame["grad"] = f"{leaf}.grad = {shown(buffers[i])}"
        frame["say"] = said(seen, frame, numbers, freed, notes)
        frames.append({**frame, "waits": [*waits]})
    nodes = []
    for i, (name, node, number) in enumerate(zip(seen.names, seen.nodes, seen.order())):
        nodes.append([name, seen.source(i), number, ", ".join(seen.saved[node]), *program.places[i]])
    return {
        "code": [NEEDED[len(program.given) > 1], *program.lines],
        "nodes": nodes,
        "edges": [[i, j] for i, edges in enumerate(seen.edges) for j in edges if j is not None],
        "frames": frames,
    }


def said(run: Run, frame: dict, numbers: list[int], freed: list[str], notes: dict) -> str:
    node, others = run.label(frame["runs"]), frame["queue"][1:]
    text = phrase(f"{node} has run.")
    if others and run.order()[frame["runs"]] < 0:
        text = phrase(f"{node} has run first, because accumulators have the highest number.")
    elif others:
        text = phrase(f"{node} has run first: it was made later, so its number is higher.")
    for other, (from_sizes, to_sizes) in notes.items():
        leaf = run.leaves[other - len(run.program.lines)]
        text += " " + phrase(
            f"The gradient for {leaf} had the sizes {from_sizes}, but {leaf} has {to_sizes}, so the engine summed it."
        )
    if grad := frame.get("grad"):
        text += f" {phrase(f'Now {grad}.')}"
    if freed:
        names = " and ".join(freed)
        text += f" {phrase(f'It has freed the saved tensor {names}.')}"
    for other, _, total in frame["tokens"]:
        node = run.label(other)
        text += f" {phrase(f'The engine has added the gradients for {node}.')}" if total else ""
    return text


def refused(run: Run, i: int, error: str) -> str:
    now, then = re.search(r"is at version (\d+); expected version (\d+)", error).groups()
    (name,) = run.saved[run.nodes[i]]
    line = next(line for line in run.program.lines if line.startswith(f"{name}."))
    node = run.label(i)
    refusal = phrase(f"{line} has made it version {now}, so the engine raises a RuntimeError.")
    return f"{phrase(f'{node} saved {name} at version {then}.')} {refusal}"


def counted(run: Run) -> str:
    text = phrase("The engine has counted the edges that lead to each node. The gradient of loss is 1.")
    if "y.add_(1)" in run.program.lines:
        text += f" {phrase('y.add_(1) gave y a new node, but z was computed from the old y.')}"
    return text


def data() -> dict:
    """For each program: its code, its nodes (name, code, number, saved tensors, column, height), edges and frames."""
    return {name: frames(program) for name, program in PROGRAMS.items()}
