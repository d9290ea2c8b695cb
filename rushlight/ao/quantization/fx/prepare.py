"""Observers in a graph: nodes that look at the values that will be integers, and pass them on.

In PyTorch: `torch/ao/quantization/fx/prepare.py`. Left out: custom and standalone modules, dynamic quantisation in a graph,
equalisation, inputs and outputs that are integers already, operators that pass on a tensor which they get by name, and matches of
which only a part has a qconfig.
"""

from __future__ import annotations

import itertools
from typing import Any

from rushlight.ao.quantization.backend_config import (
    BACKEND_CONFIG,
    ObservationType,
    observation_type,
)
from rushlight.ao.quantization.fx.match_utils import Match, find_matches
from rushlight.ao.quantization.fx.qconfig_mapping_utils import node_name_to_qconfig
from rushlight.ao.quantization.observer import ObserverBase
from rushlight.ao.quantization.qconfig import QConfig
from rushlight.ao.quantization.qconfig_mapping import QConfigMapping
from rushlight.fx.graph_module import GraphModule
from rushlight.fx.node import Node, map_arg
from rushlight.nn.modules.module import Module

# Observers as nodes --------------------------------------------------------------------------------------------------


def is_observer(model: GraphModule, node: Any) -> bool:
    """Whether a node calls an observer of the model. False for anything that is no node."""
    if not isinstance(node, Node) or node.op != "call_module":
        return False
    return isinstance(model.get_submodule(node.target), ObserverBase)


def insert_observer(model: GraphModule, node: Node, observer: Module) -> Node:
    """A new node right after `node`, which calls the observer on it. The observer is a new attribute `activation_post_process_N`,
    with the smallest N that is free. Other users of `node` do not change.

    Source: `torch/ao/quantization/fx/prepare.py`, `_insert_obs_or_fq`."""
    name = next(name for i in itertools.count() if not hasattr(model, name := f"activation_post_process_{i}"))
    setattr(model, name, observer)
    with model.graph.inserting_after(node):
        return model.graph.create_node("call_module", name, (node,), {})


def is_size(node: Any) -> bool:
    """Whether a node is a number that depends on sizes: `x.size(0)`, `x.shape`, or an item of these."""
    if node.op == "call_method":
        return node.target in ("size", "dim", "numel")
    if node.target is getattr:
        return node.args[1] in ("shape", "ndim")
    return getattr(node.target, "__name__", "") == "getitem" and is_size(node.args[0])


def share_observers(model: GraphModule, node: Node) -> bool:
    """One observer for the inputs and the output of an operator that only passes values on, such as `cat` or `transpose`.

    Then the integers before and after the operator have the same scale, and the operator moves integers without computing new
    ones. The nodes stay; only the modules that they call become one: `setattr(model, target, observer)`, where `target` is the
    target of an observer's node (a name without dots).

    1. The input is the first positional argument of `node` that is a node, or a list or tuple of nodes. Of a list, its first
       item counts. (No node has an empty list.)
    2. The observer is that of the input. The input may be computed from observed values by nodes without observers. So walk back
       from it until a node calls an observer (`is_observer(model, node)`): from each node to its first positional argument that is
       a node. If there is no such argument (a placeholder has none), or `node` has no input, nothing changes.
    3. If the input is a list or tuple, the observers of its other items become this observer too. Walk back from each
       item in the same way. An item without an observer ends the function: the items before it keep the change.
    4. Every user of `node` calls an observer. They all become this observer.

    Returns:
        whether step 4 was reached.

    >>> example = rl.ao.quantization.default_qconfig
    >>> class Joined(rl.nn.Module):
    ...     def forward(self, x, y):
    ...         return rl.cat([x, y])
    >>> model = rl.ao.quantization.prepare_fx(Joined().eval(), rl.ao.quantization.QConfigMapping().set_global(example))
    >>> len({id(observer) for observer in model.children()})
    1

    Source: `torch/ao/quantization/fx/prepare.py`, `_maybe_make_input_output_share_observers`.
    """

    def observer_of(each):
        while each and not is_observer(model, each):
            each = next((arg for arg in each.args if isinstance(arg, Node)), None)
        return each

    first = next((arg for arg in node.args if isinstance(arg, Node | list | tuple)), None)
    items = [first] if isinstance(first, Node | None) else first
    source = observer_of(items[0])
    if not source:
        return False
    shared = model.get_submodule(source.target)
    for item in items:
        other = observer_of(item)
        if not other:
            return False
        setattr(model, other.target, shared)
    for user in node.users:
        setattr(model, user.target, shared)
    return True


# The walk ------------------------------------------------------------------------------------------------------------


def insert_observers(model: GraphModule, matches: dict[str, Match], qconfigs: dict[str, QConfig | None]) -> None:
    """Insert the observers of a model, in one walk over the nodes that its graph has now.

    Args:
        model: its graph changes in place. `model.recompile()` is the caller's.
        matches: as `find_matches` returns them: by the name of a node `(last, pattern, nodes)`, with `nodes` from the last one to
            the first one. Nodes that are in no match, the output among them, get no observer of their own.
        qconfigs: by the name of a node; None for a node that stays floating point. `qconfig.activation()` is a new observer.

    For each node of a match that has a qconfig:

    - The first node of a match (`nodes[-1]`) reads observed values. Each node in its `args` and `kwargs`, at any depth, is
      replaced: an observer (`is_observer(model, arg)`) stays, and so does a size (`is_size(arg)`). For any other node, use the
      observer that it already has: a user that calls an observer of the same class as the new one. If there is none, insert a new
      one (`insert_observer(model, arg, observer)` returns its node). Other users of this argument keep reading it without an
      observer.
    - The last node of a match gets an observer, and all other users of this node then read the observer
      (`user.replace_input_with(node, observer_node)`). Then call
      `share_observers(model, node)`, if `shares_observer(pattern, nodes)` says that the operator only passes values on.

    A node may be the first and the last one. Patterns for which `is_observed(pattern)` is false are skipped.

    >>> class Twice(rl.nn.Module):
    ...     def forward(self, x):
    ...         return rl.exp(x * x) + 1
    >>> model = rl.fx.symbolic_trace(Twice())
    >>> matches = find_matches(model.graph, {}, BACKEND_CONFIG)
    >>> insert_observers(model, matches, dict.fromkeys(matches, rl.ao.quantization.default_qconfig))
    >>> [node.name.replace("activation_post_process", "observer") for node in model.graph.nodes]
    ['x', 'observer_0', 'mul', 'observer_1', 'exp', 'observer_2', 'add', 'observer_3', 'output']

    Source: `torch/ao/quantization/fx/prepare.py`, `insert_observers_for_model`.
    """

    def observed(arg):
        if is_observer(model, arg) or is_size(arg):
            return arg
        new = qconfig.activation()
        for user in arg.users:
            if is_observer(model, user) and type(model.get_submodule(user.target)) is type(new):
                return user
        return insert_observer(model, arg, new)

    for node in model.graph.nodes:
        qconfig = qconfigs.get(node.name)
        if node.name not in matches or not qconfig:
            continue
        last, pattern, nodes = matches[node.name]
        if not is_observed(pattern):
            continue
        if node is nodes[-1]:
            node.args, node.kwargs = map_arg(node.args, observed), map_arg(node.kwargs, observed)
        if node is last:
            users = list(node.users)
            observer = insert_observer(model, node, qconfig.activation())
            for user in users:
                user.replace_input_with(node, observer)
            if shares_observer(pattern, nodes):
                share_observers(model, node)


def is_observed(pattern: Any) -> bool:
    """Whether the table has observers for a pattern."""
    return BACKEND_CONFIG[pattern].observation_type is not ObservationType.INPUT_OUTPUT_NOT_OBSERVED


def shares_observer(pattern: Any, nodes: list[Node]) -> bool:
    """Whether the table says that the output of a match has the observer of its input."""
    tensors = [arg for arg in nodes[-1].args if isinstance(arg, Node) and not is_size(arg)]
    return observation_type(pattern, len(tensors)) is ObservationType.OUTPUT_SHARE_OBSERVER_WITH_INPUT


def prepare(model: GraphModule, qconfig_mapping: QConfigMapping) -> GraphModule:
    """A fused model with its observers. `model.meta["observed"]` has the qconfig of each node that `convert` may make integer.

    Source: `torch/ao/quantization/fx/prepare.py`, `prepare`."""
    modules = dict(model.named_modules(remove_duplicate=False))
    matches = find_matches(model.graph, modules, BACKEND_CONFIG)
    qconfigs = node_name_to_qconfig(model, qconfig_mapping)
    for _, _, nodes in matches.values():  # a match is computed as a whole
        if any(qconfigs[node.name] is None for node in nodes):
            qconfigs |= dict.fromkeys((node.name for node in nodes), None)
    insert_observers(model, matches, qconfigs)
    prepared = GraphModule(model, model.graph, type(model).__name__)
    prepared.meta["observed"] = {name: qconfigs[name] for name in matches if qconfigs[name] is not None}
    return prepared
