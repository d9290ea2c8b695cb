"""Passes over a graph: dead code, common subexpressions, constants.

In PyTorch: `torch/fx/graph.py`, `Graph.eliminate_dead_code`; `torch/_functorch/compile_utils.py`, `fx_graph_cse`;
`torch/_inductor/constant_folding.py`, `constant_fold`. Left out: the graphs of modules within, symbolic sizes.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from typing import Any

from rushlight.aten.strided import Tensor
from rushlight.fx.graph import Graph
from rushlight.fx.graph_module import GraphModule
from rushlight.fx.interpreter import Interpreter
from rushlight.fx.node import RANDOM_OPERATORS, Node, is_written, map_arg
from rushlight.library import OpOverload, OpOverloadPacket

__all__ = ["common_subexpressions", "constant_fold", "eliminate_dead_code"]

# ------------------------------------------------------------------------------------------------------------
# Dead code


def eliminate_dead_code(graph: Graph, is_impure_node: Callable[[Node], bool] | None = None) -> bool:
    """Erase the nodes that nobody uses: `Graph.eliminate_dead_code`.

    A node stays if it has users, or does more than give a result: `node.is_impure()` says so, or in its stead
    `is_impure_node(node)`, if there is such a function. What only nodes use that are erased goes too.
    `graph.erase_node(node)` erases one that has no users. Before anything else the graph is checked, `graph.lint()`, for this
    counts on a node being defined before it is used.

    Returns:
        whether a node was erased.

    Source: `torch/fx/graph.py`, `Graph.eliminate_dead_code`.
    """
    graph.lint()
    count = len(graph.nodes)
    for node in reversed(graph.nodes):
        impure = node.is_impure() if is_impure_node is None else is_impure_node(node)
        if not impure and not node.users:
            graph.erase_node(node)
    return len(graph.nodes) < count


# ------------------------------------------------------------------------------------------------------------
# Common subexpressions


def is_random(node: Node) -> bool:
    """Whether a node calls an operator of `rl.ops.aten` that gives something else each time."""
    if isinstance(node.target, (OpOverload, OpOverloadPacket)) and str(node.target).startswith("aten."):
        return str(node.target).split(".")[1] in {*RANDOM_OPERATORS, "empty"}
    return False


def is_mutation(node: Node) -> bool:
    """Whether a node writes into something: of operators the schema says so, of other functions and of methods the name."""
    if isinstance(node.target, OpOverload):
        return is_written(node.target)
    if node.op in ("call_function", "call_method"):
        name = node.target if isinstance(node.target, str) else node.target.__name__
        if (name.endswith("_") and not name.endswith("__")) or {"set", "enter", "exit", "seed"} & set(name.split("_")):
            return True
    return node.kwargs.get("out") is not None


def fingerprint(arg: Any) -> Hashable:
    """Something that is equal for equal arguments, however deep, where a 1, a 1.0 and a True are not equal."""
    if isinstance(arg, (tuple, list)):
        return type(arg), *map(fingerprint, arg)
    if isinstance(arg, dict):
        return dict, *((key, fingerprint(value)) for key, value in arg.items())
    if isinstance(arg, slice):
        return slice, fingerprint(arg.start), fingerprint(arg.stop), fingerprint(arg.step)
    return type(arg), arg


def share_memory_with_output(graph: Graph) -> set[Node]:
    """The nodes whose tensor, as far as `node.meta["val"]` tells, is in the memory of one that the graph returns."""

    def memory(node: Node) -> Any:
        value = node.meta.get("val")
        return value.untyped_storage() if isinstance(value, Tensor) else None

    returned = {id(memory(node)) for node in graph.output_node().all_input_nodes} - {id(None)}
    return {node for node in graph.nodes if id(memory(node)) in returned}


def common_subexpressions(graph: Graph) -> Graph:
    """A copy of a graph in which nothing is computed twice. `graph` stays as it is.

    The nodes are copied in order: `new.node_copy(node, transform)` appends a copy of one to the graph `new`, and asks
    `transform(used)` for what stands there for each node that it uses. A node is not copied if the same was computed before:
    then the copy of the earlier node stands for it. It is the same if

    - `op` and target are equal, and so are the `fingerprint(...)` of `args` and of `kwargs`, with what stands for each node
      in its place (`map_arg(a, fn)` puts `fn(node)` in the place of each node in `a`);
    - nothing was written in between: neither the node itself nor one after the earlier node is one for which
      `is_mutation(node)` is true. What is computed later is then compared with the later one.

    Always copied, and never to stand for another, are placeholders, `get_attr` nodes and the output; nodes for which
    `is_random(node)` is true; and those in `share_memory_with_output(graph)`, for two results must not become one tensor.

    Source: `torch/_functorch/compile_utils.py`, `fx_graph_cse`.
    """
    new, unique = Graph(), share_memory_with_output(graph)
    copies = {}
    computed = {}
    for node in graph.nodes:
        if is_mutation(node):
            computed.clear()
        if node.op in ("placeholder", "get_attr", "output") or is_random(node) or node in unique:
            copies[node] = new.node_copy(node, copies.__getitem__)
            continue
        key = node.op, node.target, fingerprint(map_arg((node.args, node.kwargs), copies.__getitem__))
        if key not in computed:
            computed[key] = new.node_copy(node, copies.__getitem__)
        copies[node] = computed[key]
    return new


# ------------------------------------------------------------------------------------------------------------
# Constants


def has_tensor(values: Iterable[Any]) -> bool:
    """Whether there is a tensor among these, or in the tuples, lists and dicts among them."""
    for value in values:
        inner = value.values() if isinstance(value, dict) else value if isinstance(value, (tuple, list)) else ()
        if isinstance(value, Tensor) or has_tensor(inner):
            return True
    return False


def freeze(module: GraphModule, node: Node, value: Tensor) -> None:
    """Put a `get_attr` node of the same name in the place of a node; the module keeps the value in a new attribute."""
    number = 0
    while hasattr(module, f"_frozen_param{number}"):
        number += 1
    module.register_buffer(f"_frozen_param{number}", value)
    with module.graph.inserting_before(node):
        constant = module.graph.create_node("get_attr", f"_frozen_param{number}")
    node.replace_all_uses_with(constant)
    constant.meta.update(node.meta)
    module.graph.erase_node(node)
    constant.name = node.name


def constant_fold(module: GraphModule) -> None:
    """Compute now what does not depend on the inputs, and let the graph of the module look the results up.

    1. The values of some nodes are known, found in order: of each `get_attr` node; and of each node that uses none but
       nodes with known values, in which there is a tensor (`has_tensor(values)`; to make one out of nothing is cheaper than to
       look it up). But not of impure nodes: `node.is_impure()` is true of placeholders and the output, too.
       `Interpreter(module)` helps: `run_node(node)` computes a value, from those in the dict `env`, by node.
    2. Each node whose value is known and a Tensor, and that some node without a known value uses, is frozen:
       `freeze(module, node, value)`. A `get_attr` node stays as it is.
    3. Dead code is eliminated (`eliminate_dead_code(graph)`), and `module.recompile()` makes the new code.

    Source: `torch/_inductor/constant_folding.py`, `constant_fold`.
    """
    interpreter, looked_up = Interpreter(module), module.graph.find_nodes(op="get_attr")
    known = interpreter.env
    for node in looked_up:
        known[node] = interpreter.run_node(node)
    for node in module.graph.nodes:
        if node.is_impure() or any(used not in known for used in node.all_input_nodes):
            continue
        if has_tensor(known[used] for used in node.all_input_nodes):
            known[node] = interpreter.run_node(node)
    for node, value in known.items():
        needed = any(user not in known for user in node.users)
        if isinstance(value, Tensor) and needed and node not in looked_up:
            freeze(module, node, value)
    eliminate_dead_code(module.graph)
    module.recompile()
