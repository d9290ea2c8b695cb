"""Move the computation of constants into a graph of its own, which runs once before the first call: `split_const_subgraphs`.

In PyTorch: `torch/fx/experimental/const_fold.py`. There, `split_module` makes both graphs.
"""

from __future__ import annotations

import copy
import operator
import re
from collections.abc import Callable
from typing import Any

from rushlight.aten.native.creation import tensor
from rushlight.aten.strided import Tensor
from rushlight.fx._symbolic_trace import symbolic_trace
from rushlight.fx.graph import Graph
from rushlight.fx.graph_module import GraphModule
from rushlight.fx.node import Node
from rushlight.nn.modules.containers import ParameterList
from rushlight.nn.modules.module import Module
from rushlight.nn.parameter import Parameter


class FoldedGraphModule(GraphModule):
    """A module with a second graph, `const_subgraph_module`. Its results become the attribute `fx_const_folded_attrs_name`
    before the first call."""

    def __init__(
        self,
        root: Module,
        graph: Graph,
        const_subgraph: Graph | None = None,
        fx_const_folded_attrs_name: str | None = None,
        device_for_folded_attrs: str = "cuda",
    ) -> None:
        super().__init__(root, graph)
        self.const_subgraph_module = None if const_subgraph is None else GraphModule(root, const_subgraph)
        self.has_folding_been_run = False
        self.fx_const_folded_attrs_name = fx_const_folded_attrs_name
        self.device_for_folded_attrs = device_for_folded_attrs

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if not self.has_folding_been_run:
            self.run_folding()
        return super().__call__(*args)

    def run_folding(self) -> None:
        """Compute the constants."""
        if self.const_subgraph_module is None or self.fx_const_folded_attrs_name is None:
            return
        assert not self.has_folding_been_run, "Folding has already been run"
        self.has_folding_been_run = True
        values = self.const_subgraph_module()
        several = isinstance(values, tuple)
        setattr(
            self,
            self.fx_const_folded_attrs_name,
            ParameterList([*map(self.parameter, values)]) if several else self.parameter(values),
        )

    def parameter(self, value: Tensor | int) -> Parameter:
        if isinstance(value, int):
            return Parameter(tensor([float(value)], device=self.device_for_folded_attrs), requires_grad=False)
        return Parameter(value.detach().clone(), requires_grad=value.requires_grad)


def get_unique_attr_name_in_module(mod_traced: GraphModule, name: str) -> str:
    """The name, as an identifier, with a number that makes it new in the module."""
    name = re.sub("[^0-9a-zA-Z_]+", "_", name)
    name = f"_{name}" if name[0].isdigit() else name
    while hasattr(mod_traced, name):
        base, number = re.findall(r"(.*?)(?:_(\d+))?$", name)[0]
        name = f"{base}_{int(number or 0) + 1}"
    return name


def _has_impure_ops(module: GraphModule) -> bool:
    inner = [module.get_submodule(node.target) for node in module.graph.nodes if node.op == "call_module"]
    return any(node.op == "call_function" and node.is_impure() for node in module.graph.nodes) or any(
        isinstance(one, GraphModule) and _has_impure_ops(one) for one in inner
    )


def constant_nodes(module: GraphModule, skip: Callable[[Node], bool] | None) -> dict[Node, None]:
    """The nodes that only use attributes of the module, in order."""
    found: dict[Node, None] = {}
    for node in module.graph.nodes:
        known = node.op not in ("placeholder", "output") and all(used in found for used in node.all_input_nodes)
        if not known or skip is not None and skip(node) or node.is_impure():
            continue
        called = module.get_submodule(node.target) if node.op == "call_module" else None
        if not (isinstance(called, GraphModule) and _has_impure_ops(called)):
            found[node] = None
    return found


def split_const_subgraphs(
    module: Module, skip_folding_node_fn: Callable[[Node], bool] | None = None, device_for_folded_attrs: str = "cpu"
) -> FoldedGraphModule:
    """A module that computes what does not depend on the inputs only once. Nodes for which `skip_folding_node_fn(node)` is true
    are not constants. The module that is given does not change.

    Source: `torch/fx/experimental/const_fold.py`, `split_const_subgraphs`.
    """
    traced = module if isinstance(module, GraphModule) else symbolic_trace(module)
    new = GraphModule(traced, copy.deepcopy(traced.graph))
    known = constant_nodes(new, skip_folding_node_fn)
    folded = [node for node in known if node.op != "get_attr" and any(user not in known for user in node.users)]
    if not folded:
        return FoldedGraphModule(traced, traced.graph)
    constants, copies = Graph(), dict[Node, Node]()
    for node in known:
        copies[node] = constants.node_copy(node, copies.__getitem__)
    results = tuple(copies[node] for node in folded)
    constants.output(results if len(results) > 1 else results[0])
    name = get_unique_attr_name_in_module(new, "_FX_CONST_FOLDED_ATTRS")
    setattr(new, name, ParameterList() if len(results) > 1 else Parameter(tensor([])))
    with new.graph.inserting_before(folded[0]):
        values = [new.graph.get_attr(name)]
        if len(folded) > 1:
            values = [new.graph.call_function(operator.getitem, (values[0], i)) for i in range(len(folded))]
    for node, value in zip(folded, values):
        value.meta = copy.copy(node.meta)
        node.replace_all_uses_with(value, delete_user_cb=lambda user: user not in known)
    new.graph.eliminate_dead_code()
    return FoldedGraphModule(new, new.graph, constants, name, device_for_folded_attrs)
