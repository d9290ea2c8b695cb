"""Observers in a graph: nodes that look at the values that will be integers, and pass them on.

In PyTorch: `torch/ao/quantization/fx/prepare.py`. Left out: custom and standalone modules, dynamic quantisation in a graph,
equalisation, inputs and outputs that are integers already, and operators that pass on a tensor which they get by name.
"""

from __future__ import annotations

import itertools
from typing import Any

from rushlight.ao.quantization.backend_config import BACKEND_CONFIG, ObservationType, observation_type
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

    The *inputs* of `node` are its first positional argument that is a node, or a list or tuple of nodes. A list is not empty.

    The *observer of a value* is the one that its node calls, if it calls an observer (`is_observer(model, value)`). Otherwise it is
    the observer of the node's first positional argument that is a node: there may be several nodes without observers between an
    observer and the value. A value without such an argument, such as a placeholder, has no observer.

    The observer of the first input replaces the observers of the other inputs, in their order, and then those that the users of
    `node` call. (Every user calls one.) At the first input that has no observer, the function ends. Inputs before this one keep
    their new observer.

    Returns:
        False if there is no input, or if an input has no observer. Otherwise True.

    >>> example = rl.ao.quantization.default_qconfig
    >>> class Joined(rl.nn.Module):
    ...     def forward(self, x, y):
    ...         return rl.cat([x, y])
    >>> model = rl.ao.quantization.prepare_fx(Joined().eval(), rl.ao.quantization.QConfigMapping().set_global(example))
    >>> len({id(observer) for observer in model.children()})
    1

    Source: `torch/ao/quantization/fx/prepare.py`, `_maybe_make_input_output_share_observers`.
    """

    def observer_of(node):
        while node and not is_observer(model, node):
            node = next((arg for arg in node.args if isinstance(arg, Node)), None)
        return node

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
        qconfigs: by the name of a node; None for a node that stays floating point. The others of
            its match have the same one. `qconfig.activation()` is a new observer.

    Visit each node that is in a match and has a qconfig, if `is_observed(pattern)`. A node may be the first and the last one of its
    match: then do both, in this order.

    - The first node (`nodes[-1]`) reads observed values. So each node in its `args` and `kwargs`, at any depth, is
      replaced by the node of an observer. Two kinds stay: a node that calls an observer (`is_observer(model, arg)`), and a size
      (`is_size(arg)`). For any other one, look for an observer among its users, of the same class as `qconfig.activation()`. If
      there is none, insert one (`insert_observer(model, arg, observer)` returns its node). Other users of this argument keep
      reading the argument itself, because they may need a number that is not rounded.
    - The last node (`last`) gets a new observer, and all other users of this node then read the observer
      (`user.replace_input_with(node, observer_node)`). Then call
      `share_observers(model, node)`, if `shares_observer(pattern, nodes)` says that the operator only passes values on.

    >>> class Twice(rl.nn.Module):
    ...     def forward(self, x):
    ...         return rl.exp(x * x) + 1
    >>> model = rl.fx.symbolic_trace(Twice())
    >>> matches = find_matches(model.graph, {}, BACKEND_CONFIG)
    >>> insert_observers(model, matches, dict.fromkeys(matches, rl.ao.quantization.default_qconfig))
    >>> [node.name.replace("activation_post_process", "call") for node in model.graph.nodes]
    ['x', 'call_0', 'mul', 'call_1', 'exp', 'call_2', 'add', 'call_3', 'output']
    >>> model.activation_post_process_2 is model.activation_post_process_3  # exp + 1 shares the observer of exp
    True

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
    for last, _, nodes in matches.values():  # torch gives all nodes that have a qconfig that of the last one
        qconfigs |= {node.name: qconfigs[last.name] for node in nodes if qconfigs[node.name] is not None}
    insert_observers(model, matches, qconfigs)
    prepared = GraphModule(model, model.graph, type(model).__name__)
    prepared.meta["observed"] = {name: qconfigs[name] for name in matches if qconfigs[name] is not None}
    return prepared
