"""Passes over a graph: dead code, common subexpressions, constants.

In PyTorch: `torch/fx/graph.py`, `Graph.eliminate_dead_code`; `torch/_functorch/compile_utils.py`, `fx_graph_cse`;
`torch/_inductor/constant_folding.py`, `constant_fold`. Left out: graphs of submodules, symbolic sizes.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Hashable, Iterable
from typing import Any

from rushlight.aten.strided import Tensor
from rushlight.fx.graph import Graph
from rushlight.fx.graph_module import GraphModule
from rushlight.fx.interpreter import Interpreter
from rushlight.fx.node import RANDOM_OPERATORS, Node, map_arg
from rushlight.library import OpOverload, OpOverloadPacket

# Dead code -----------------------------------------------------------------------------------------------------------


def eliminate_dead_code(graph: Graph, is_impure_node: Callable[[Node], bool] | None = None) -> bool:
    """Erase the nodes without users: `Graph.eliminate_dead_code`.

    A node stays if it has users, or if it is impure: `node.is_impure()`. A function `is_impure_node(node)`, if it is not None,
    decides instead of `node.is_impure()`, also for placeholders and the output. Nodes that are only used by erased nodes are
    erased too. `graph.erase_node(node)` erases a node without users. First, check the graph with `graph.lint()`, because the pass
    relies on nodes being defined before they are used.

    Returns:
        whether a node was erased.

    >>> graph = rl.fx.symbolic_trace(lambda x: (rl.exp(x) * 2, x + 1)[1]).graph
    >>> eliminate_dead_code(graph), eliminate_dead_code(graph), list(graph.nodes)
    (True, False, [x, add, output])

    Source: `torch/fx/graph.py`, `Graph.eliminate_dead_code`.
    """
    graph.lint()
    count = len(graph.nodes)
    for node in reversed(graph.nodes):
        impure = node.is_impure() if is_impure_node is None else is_impure_node(node)
        if not impure and not node.users:
            graph.erase_node(node)
    return len(graph.nodes) < count


Graph.eliminate_dead_code = eliminate_dead_code


# Common subexpressions -----------------------------------------------------------------------------------------------


def is_random(node: Node) -> bool:
    """Return whether a node calls an operator of `rl.ops.aten` whose result differs each time."""
    if isinstance(node.target, (OpOverload, OpOverloadPacket)) and str(node.target).startswith("aten."):
        return str(node.target).split(".")[1] in {*RANDOM_OPERATORS, "empty"}
    return False


def is_mutation(node: Node) -> bool:
    """Return whether a node writes to memory: by the schema of an operator, and by the name of other functions and methods."""
    if isinstance(node.target, OpOverload):
        return node.target.schema.is_mutable
    if node.op in ("call_function", "call_method"):
        name = node.target if isinstance(node.target, str) else node.target.__name__
        if (name.endswith("_") and not name.endswith("__")) or {"set", "enter", "exit", "seed"} & set(name.split("_")):
            return True
    return node.kwargs.get("out") is not None


def fingerprint(arg: Any) -> Hashable:
    """A key that is equal for equal arguments, at any depth, with different keys for 1, 1.0 and True."""
    if isinstance(arg, (tuple, list)):
        return type(arg), *map(fingerprint, arg)
    if isinstance(arg, dict):
        return dict, *((key, fingerprint(value)) for key, value in arg.items())
    if isinstance(arg, slice):
        return slice, fingerprint(arg.start), fingerprint(arg.stop), fingerprint(arg.step)
    return type(arg), arg


def share_memory_with_output(graph: Graph) -> set[Node]:
    """The nodes whose tensor, `node.meta["val"]`, shares memory with a tensor that the graph returns."""

    def memory(node: Node) -> Any:
        value = node.meta.get("val")
        return value.untyped_storage() if isinstance(value, Tensor) else None

    returned = {id(memory(node)) for node in graph.output_node().all_input_nodes} - {id(None)}
    return {node for node in graph.nodes if id(memory(node)) in returned}


def common_subexpressions(graph: Graph) -> Graph:
    """A copy of a graph in which no value is computed twice. `graph` does not change.

    Copy the nodes in order: `new.node_copy(node, transform)` appends a copy of a node, with its `meta`, to the graph `new`, with
    each node that it uses replaced by `transform(used)`. Do not copy a node if an earlier node computes the same value: use the
    copy of the earlier node. Two nodes compute the same value if

    - their targets are equal, and the `fingerprint(...)` of their `args` and `kwargs` too, with each node replaced by its copy
      (`map_arg(a, fn)` replaces each node in `a` by `fn(node)`). Their `op` may be compared too: torch runs this pass on graphs in
      which all these nodes are `call_function`s;
    - there is no write in between: `is_mutation(node)` is false for the later node and for all nodes between the two, also for
      nodes that are always copied. So after a write, a node is compared only with the nodes since this write. The write itself
      is one of them.

    These nodes are always copied, and never used for another node: placeholders, `get_attr` nodes and the output; a node if
    `is_random(node)` is true; and nodes in `share_memory_with_output(graph)`, because two results must not become one tensor.

    >>> graph = rl.fx.symbolic_trace(lambda x: rl.sin(x * 2) + rl.sin(x * 2)).graph
    >>> list(graph.nodes), list(common_subexpressions(graph).nodes)
    ([x, mul, sin, mul_1, sin_1, add, output], [x, mul, sin, add, output])

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


# Constants -----------------------------------------------------------------------------------------------------------


def has_tensor(values: Iterable[Any]) -> bool:
    """Return whether there is a tensor among these values, or in the tuples, lists and dicts among them."""
    for value in values:
        inner = value.values() if isinstance(value, dict) else value if isinstance(value, (tuple, list)) else ()
        if isinstance(value, Tensor) or has_tensor(inner):
            return True
    return False


def freeze(module: GraphModule, node: Node, value: Tensor) -> None:
    """Replace a node by a `get_attr` node of the same name. A new attribute of the module has the value."""
    name = next(name for i in itertools.count() if not hasattr(module, name := f"_frozen_param{i}"))
    module.register_buffer(name, value)
    with module.graph.inserting_before(node):
        constant = module.graph.create_node("get_attr", name)
    node.replace_all_uses_with(constant)
    constant.meta.update(node.meta)
    module.graph.erase_node(node)
    constant.name = node.name


def constant_fold(module: GraphModule) -> None:
    """Compute the values that do not depend on the inputs, and make them attributes of the module.

    1. Find the nodes with a known value, in order: each `get_attr` node, and each node that uses only nodes with known values,
       if there is a tensor in these values (`has_tensor(values)`, which takes any iterable; to create a tensor costs less than to
       store it). Impure nodes have no known value. `node.is_impure()` is also true for placeholders and the output.
       `Interpreter(module)` computes a value by `run_node(node)`, from the values in its dict `env`, by node.
    2. Freeze each node whose value is a known Tensor, if a node without a known value uses it: `freeze(module, node, value)`. A
       `get_attr` node does not change.
    3. Eliminate dead code (`eliminate_dead_code(graph)`), and call `module.recompile()`.

    >>> graph = rl.fx.Graph()
    >>> x, w = (rl.fx.Proxy(node) for node in (graph.placeholder("x"), graph.get_attr("w")))
    >>> output = graph.output((x * rl.exp(w)).node)
    >>> module = rl.fx.GraphModule({"w": rl.zeros(2)}, graph)
    >>> constant_fold(module); [node.op for node in module.graph.nodes]
    ['placeholder', 'get_attr', 'call_function', 'output']

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
