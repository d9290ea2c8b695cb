"""`OutputGraph`: the result of a capture. It has the graph, its inputs, the guards, and the Python around the graph.

It grows while the translator runs. At its end, or where the graph breaks, `compile_subgraph` writes one function `run(L)`: it calls
the compiled graph, makes what the captured function made, and writes to things from before. In PyTorch:
`torch/_dynamo/output_graph.py`. Left out: symbolic sizes, and several graphs in one `run`.
"""

import re
from collections.abc import Callable
from operator import getitem
from typing import Any

import rushlight as rl
from rushlight import fx
from rushlight.aten.strided import Tensor
from rushlight.c10.dispatch import local
from rushlight.dynamo import guards
from rushlight.dynamo.codegen import PyCodegen
from rushlight.dynamo.exc import AutogradGradRestartAnalysis, Unsupported
from rushlight.dynamo.guards import Guard, bind
from rushlight.dynamo.side_effects import SideEffects, codegen_update_mutated
from rushlight.dynamo.variables.base import VariableTracker
from rushlight.dynamo.variables.builder import VariableBuilder
from rushlight.dynamo.variables.constant import ConstantVariable
from rushlight.dynamo.variables.lists import ContainerVariable, ListVariable, TupleVariable
from rushlight.dynamo.variables.tensor import TensorVariable


class OutputGraph:
    """One capture."""

    def __init__(self, f_globals: dict[str, Any]) -> None:
        self.graph = fx.Graph()
        self.scope: dict[str, Any] = {"G": f_globals}
        self.guards: list[Guard] = []
        self.guarded: set[str] = set()
        self.inputs: list[tuple[Any, str, Tensor]] = []  # node, source, the tensor
        self.side_effects = SideEffects()
        self.builder = VariableBuilder(self)
        self.by_fake: dict[int, TensorVariable] = {}  # id of a fake -> the variable that had it first
        self.held: list[Any] = []  # values whose ids are keys
        self.grad_mode_after: bool | None = None
        self.first_grad: int | None = None  # the root's instruction in which `autograd.grad` was first called
        self.last_input: fx.Node = self.graph._root
        state = bind(self.scope, local, "state")  # a guard without a source, because the recorded graph depends on it
        self.add_guard(Guard("", f"{state}.grad_enabled" if local.grad_enabled else f"not {state}.grad_enabled"))

    # Guards and inputs

    def add_guard(self, guard: Guard) -> None:
        if guard.text not in self.guarded:
            self.guarded.add(guard.text)
            self.guards.append(guard)

    def guard(self, value: Any, source: str) -> None:
        for text in guards.guards_for(value, source, self.scope):
            self.add_guard(Guard(source, text))

    def add_input(self, tensor: Tensor, source: str) -> TensorVariable:
        if tensor.is_meta or type(tensor) not in (Tensor, rl.nn.Parameter, rl.nn.Buffer) or tensor.is_inference():
            raise Unsupported(f"a tensor of the kind {type(tensor).__name__} on {tensor.device}")
        self.guard(tensor, source)
        sizes, grad = tuple(tensor._sizes), tensor.requires_grad
        fake = rl.empty_strided(sizes, tensor._strides, dtype=tensor.dtype, device="meta", requires_grad=grad)
        with self.graph.inserting_after(self.last_input):
            node = self.graph.placeholder(re.sub(r"[^a-zA-Z0-9]+", "_", source))  # `L_x_` for `L['x']`
        node.meta["example_value"] = fake
        self.last_input = node
        self.inputs.append((node, source, tensor))
        variable = TensorVariable(node, fake, source, tensor)
        self.by_fake[id(fake)] = variable
        return variable

    def guard_identities(self) -> None:
        """Two inputs must not turn into one. If one of them is written to, no other may share its memory."""
        sources = [source for _, source, _ in self.inputs]
        if len(sources) == 2:
            self.add_guard(Guard("", f"{sources[0]} is not {sources[1]}"))
        elif len(sources) > 2:
            self.add_guard(Guard("", f"len({{{', '.join(f'id({source})' for source in sources)}}}) == {len(sources)}"))
        if len(sources) > 1 and any(node.meta["example_value"]._version for node, _, _ in self.inputs):
            if len({id(tensor._storage) for _, _, tensor in self.inputs}) < len(sources):
                raise Unsupported("a change of a tensor that shares its memory with another input")
            written = ", ".join(f"id({source}._storage)" for source in sources)
            self.add_guard(Guard("", f"len({{{written}}}) == {len(sources)}"))

    # Nodes

    def emit(self, op: str, target: Any, args: tuple, kwargs: dict[str, Any], fake: Any) -> VariableTracker:
        """Record a node, and return the variable of its result. `args` hold nodes; `fake` is the operation's result for fakes."""
        node = self.graph.create_node(op, target, args, kwargs)
        node.meta["example_value"] = fake
        if isinstance(fake, Tensor):
            variable = TensorVariable(node, fake)
            first = self.by_fake.setdefault(id(fake), variable)
            if first is not variable:  # an operation in place returns the tensor that it was given
                variable.source, variable.real, variable.cls = first.source, first.real, first.cls
            self.held.append(fake)
            return variable
        if isinstance(fake, (tuple, list)) and fake and all(isinstance(item, Tensor | None) for item in fake):
            items = [
                ConstantVariable(None) if item is None else self.emit("call_function", getitem, (node, i), {}, item)
                for i, item in enumerate(fake)
            ]
            return ListVariable(items) if isinstance(fake, list) else TupleVariable(items, cls=type(fake))
        if fake is None:
            return ConstantVariable(None)
        raise Unsupported(f"an operation that gives {type(fake).__name__}: {node.target}")

    # Side effects

    def changed(self, container: ContainerVariable) -> None:
        """Record a write to a container, just before it. The graph breaks if the container must not change."""
        if container.frozen:
            raise Unsupported("writing to the dict of an object")
        if container.source is not None:
            self.side_effects.mutation(container)

    # The end

    def compile_subgraph(
        self, write_result: Callable[[PyCodegen], str], compile_graph: Callable[[fx.GraphModule, list], Callable]
    ) -> Callable:
        """Write `run(L)`. `write_result(codegen)` is the expression that `run` returns."""
        self.guard_identities()
        codegen = PyCodegen(self)
        result = write_result(codegen)
        if self.side_effects.get_modified_vars():
            codegen.lines += codegen_update_mutated(codegen, self.side_effects)
        if self.grad_mode_after is not None:
            codegen.lines.append(f"{bind(self.scope, rl._C._set_grad_enabled)}({self.grad_mode_after})")
        lines = ["def run(L):"]
        if any(node.op not in ("placeholder", "output") for node in self.graph.nodes):
            lines.append(self.call_graph(codegen.outputs, compile_graph))
        lines += [f"    {line}" for line in codegen.lines]
        lines.append(f"    return {result}")
        source, space = "\n".join(lines), dict(self.scope)
        exec(compile(source, "<after the graph>", "exec"), space)
        space["run"].source = source
        return space["run"]

    def call_graph(self, outputs: list[TensorVariable], compile_graph: Callable) -> str:
        """Compile the graph, and return the line that calls it. Inputs and items that nothing uses are dropped."""
        if self.first_grad is not None and any(is_consumed(variable.fake) for variable in outputs):
            raise AutogradGradRestartAnalysis("autograd.grad consumed returned tensor's grad_fn")
        self.graph.output(tuple(variable.node for variable in outputs))
        remove_grad_mode_pairs(self.graph)
        for node in reversed(list(self.graph.nodes)):
            if not node.users and node.op == "call_function" and node.target is getitem:
                self.graph.erase_node(node)
        used = [(source, tensor) for node, source, tensor in self.inputs if node.users]
        for node, _, _ in self.inputs:
            if not node.users:
                self.graph.erase_node(node)
        module = fx.GraphModule(rl.nn.Module(), self.graph)
        name = bind(self.scope, compile_graph(module, [tensor for _, tensor in used]), "graph")
        return f"    out = {name}({', '.join(source for source, _ in used)})"


def is_consumed(fake: Tensor) -> bool:
    """Return whether a backward pass has released the history of a tensor, or a part of it."""
    nodes, seen = [fake.grad_fn], {None}
    while nodes:
        node = nodes.pop()
        if node in seen:
            continue
        if node.released:
            return True
        seen.add(node)
        nodes += [edge.node for edge in node.next_edges]
    return False


def remove_grad_mode_pairs(graph: fx.Graph) -> None:
    """Remove a switch of the grad mode that the next node takes back."""
    kept: list[fx.Node] = []
    switches = {node for node in graph.nodes if node.target is rl._C._set_grad_enabled}
    for node in [node for node in graph.nodes if node.op != "placeholder"]:
        if node in switches and kept and kept[-1] in switches:
            modes = (switch.args[0] for switch in reversed(kept[:-1]) if switch in switches)
            if node.args[0] == next(modes, local.grad_enabled):
                graph.erase_node(node)
                graph.erase_node(kept.pop())
                continue
        kept.append(node)
