"""Run a graph node by node. A subclass can observe and change each step.

In PyTorch: `torch/fx/interpreter.py`. Left out: progress bars, metadata for new nodes.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from copy import copy
from typing import Any

from rushlight.fx._symbolic_trace import KeepModules
from rushlight.fx.codegen import last_uses
from rushlight.fx.graph import Graph
from rushlight.fx.graph_module import GraphModule
from rushlight.fx.node import Node, map_aggregate, map_arg
from rushlight.fx.overrides import recording
from rushlight.fx.proxy import Proxy
from rushlight.nn.modules.module import Module


def run_node(interpreter: Interpreter, node: Node) -> Any:
    """The result of one node, given the results of those before it: `Interpreter.run_node`.

    `interpreter.env` is a dict that has the values by node. Replace each node in the arguments by its value: `map_arg(a, fn)`
    replaces each node in `a`, at any depth, by `fn(node)`. Then call the interpreter's method with the name of the node's `op`,
    such as `interpreter.call_function(target, args, kwargs)`, which a subclass may override.

    Raises:
        RuntimeError: the node uses a node that `interpreter.env` does not have. (None is a value.)

    >>> graph = rl.fx.Graph()
    >>> x = graph.placeholder("x")
    >>> interpreter = rl.fx.Interpreter(rl.fx.GraphModule({}, graph))
    >>> interpreter.env = {x: 5}
    >>> run_node(interpreter, graph.call_function(max, (x, 3)))
    5

    Source: `torch/fx/interpreter.py`, `Interpreter.run_node`.
    """

    def value_of(used: Node) -> Any:
        if used not in interpreter.env:
            raise RuntimeError(
                f"Node {node} referenced nonexistent value {used}! Run Graph.lint() to diagnose such issues"
            )
        return interpreter.env[used]

    return getattr(interpreter, node.op)(node.target, map_arg(node.args, value_of), map_arg(node.kwargs, value_of))


class Interpreter:
    """Runs the graph of a module, or another `graph` with this module's attributes. A subclass may override the method for each
    kind of node. `env` has the values of nodes; with `garbage_collect_values` only those that are still used."""

    def __init__(self, module: Module, garbage_collect_values: bool = True, graph: Graph | None = None) -> None:
        self.module = module
        self.submodules = dict(module.named_modules())
        self.graph = module.graph if graph is None else graph
        self.env: dict[Node, Any] = {}
        self.garbage_collect_values = garbage_collect_values
        self.extra_traceback = True
        self.user_to_last_uses = last_uses(self.graph.nodes) if garbage_collect_values else {}

    def run(self, *args: Any, initial_env: dict[Node, Any] | None = None, enable_io_processing: bool = True) -> Any:
        """Run all nodes with these inputs. Nodes in `initial_env` already have a value."""
        self.env = {} if initial_env is None else initial_env
        self.args_iter: Iterator[Any] = iter(self.graph.process_inputs(*args) if enable_io_processing else args)
        for node in self.graph.nodes:
            if node in self.env:
                continue
            try:
                self.env[node] = self.run_node(node)
            except Exception as error:
                if self.extra_traceback:
                    where = f"While executing {node.format_node()}\nOriginal traceback:\n{node.stack_trace}"
                    error.args = (f"{error.args[0]}\n\n{where}" if error.args else where, *error.args[1:])
                    if isinstance(error, KeyError):
                        raise RuntimeError(*error.args) from error
                raise
            for used in self.user_to_last_uses.get(node, ()):
                del self.env[used]
            if node.op == "output":
                return self.graph.process_outputs(self.env[node]) if enable_io_processing else self.env[node]
        return None

    def boxed_run(self, args_list: list[Any]) -> Any:
        """Run with the inputs in a list. The list is cleared, so that inputs can be freed before the end."""
        placeholders = self.graph.find_nodes(op="placeholder")
        if len(args_list) != len(placeholders):
            kind = "extra arguments" if len(args_list) > len(placeholders) else "missing arguments"
            what = f"expected {len(placeholders)} arguments for placeholders but received {len(args_list)} ({kind})"
            raise RuntimeError(f"Interpreter.boxed_run {what}")
        env = dict(zip(placeholders, args_list))
        args_list.clear()
        return self.run(initial_env=env)

    def run_node(self, n: Node) -> Any:
        return run_node(self, n)

    def placeholder(self, target: str, args: tuple, kwargs: dict[str, Any]) -> Any:
        if target.startswith("*"):
            return list(self.args_iter)
        try:
            return next(self.args_iter)
        except StopIteration as end:
            if args:
                return args[0]
            what = f"Expected positional argument for parameter {target}, but one was not passed in!"
            raise RuntimeError(what) from end

    def get_attr(self, target: str, args: tuple, kwargs: dict[str, Any]) -> Any:
        return self.fetch_attr(target)

    def call_function(self, target: Any, args: tuple, kwargs: dict[str, Any]) -> Any:
        return target(*args, **kwargs)

    def call_method(self, target: str, args: tuple, kwargs: dict[str, Any]) -> Any:
        receiver, *rest = args
        return getattr(receiver, target)(*rest, **kwargs)

    def call_module(self, target: str, args: tuple, kwargs: dict[str, Any]) -> Any:
        return self.fetch_attr(target)(*args, **kwargs)

    def output(self, target: str, args: tuple, kwargs: dict[str, Any]) -> Any:
        return args[0]

    def fetch_attr(self, target: str) -> Any:
        """The module's attribute at a qualified name. RuntimeError if there is none."""
        attribute, path = self.module, target.split(".")
        for i, atom in enumerate(path, 1):
            if not hasattr(attribute, atom):
                raise RuntimeError(f"Node referenced nonexistent target {'.'.join(path[:i])}")
            attribute = getattr(attribute, atom)
        return attribute

    def fetch_args_kwargs_from_env(self, n: Node) -> tuple[tuple, dict[str, Any]]:
        return self.map_nodes_to_values((n.args, n.kwargs), n)

    def map_nodes_to_values(self, args: Any, n: Node) -> Any:
        return map_arg(args, self.env.__getitem__)


class Transformer(Interpreter):
    """An interpreter whose values are proxies. Its methods record into a new graph, which `transform` returns as a module."""

    def __init__(self, module: GraphModule) -> None:
        super().__init__(module)
        self.new_graph = Graph()
        self.new_graph.set_codegen(module.graph._codegen)
        self.tracer = TransformerTracer(self.new_graph, module)

    def placeholder(self, target: str, args: tuple, kwargs: dict[str, Any]) -> Proxy:
        default = args[0] if args else inspect.Signature.empty
        return Proxy(self.new_graph.placeholder(target, default_value=default), self.tracer)

    def get_attr(self, target: str, args: tuple, kwargs: dict[str, Any]) -> Proxy:
        return self.tracer.create_proxy("get_attr", target, args, kwargs)

    def call_module(self, target: str, args: tuple, kwargs: dict[str, Any]) -> Any:
        module = self.fetch_attr(target)
        return self.tracer.call_module(module, module.forward, args, kwargs)

    def call_function(self, target: Any, args: tuple, kwargs: dict[str, Any]) -> Any:
        return self.tracer.create_proxy("call_function", target, args, kwargs)

    def run_node(self, n: Node) -> Any:
        self.tracer.current_meta = n.meta
        return super().run_node(n)

    def transform(self) -> GraphModule:
        """The module of the new graph."""
        with recording():
            result = super().run(enable_io_processing=False)
        if result is not None:
            output = self.new_graph.output(map_aggregate(result, lambda a: a.node if isinstance(a, Proxy) else a))
            output.meta.update(self.graph.output_node().meta)
        return GraphModule(self.module, self.new_graph)


_COPY_META_FIELDS = "nn_module_stack", "source_fn_stack", "recompute", "custom", "stack_trace"


class TransformerTracer(KeepModules):
    """Records into an existing graph. Every module is a leaf."""

    def __init__(self, graph: Graph, root: Module) -> None:
        super().__init__()
        self.graph, self.root, self.tensor_attrs = graph, root, {}
        self.current_meta: dict[str, Any] = {}

    def create_node(self, *args: Any, **kwargs: Any) -> Node:
        node = super().create_node(*args, **kwargs)
        node.meta.update(
            {name: copy(self.current_meta[name]) for name in _COPY_META_FIELDS if name in self.current_meta}
        )
        return node
