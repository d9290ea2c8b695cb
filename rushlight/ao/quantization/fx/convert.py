"""A calibrated model becomes a quantised one: its observers become calls of quantise and dequantise, and its weights integers.

The result is the *reference* form. It computes with the numbers that integers stand for, so every backend can be compared with it.
In PyTorch: `torch/ao/quantization/fx/convert.py`, `_lower_to_native_backend.py`. Left out: custom and standalone modules, observers
per channel of activations, lowering of anything but linear layers.
"""

from __future__ import annotations

from rushlight.ao.nn import quantized
from rushlight.ao.nn.intrinsic import _FusedModule
from rushlight.ao.nn.quantized.reference import REFERENCE
from rushlight.ao.nn.quantized.reference import Linear as ReferenceLinear
from rushlight.ao.quantization.fx.fuse import parent_of
from rushlight.ao.quantization.fx.prepare import is_observer
from rushlight.fx.graph_module import GraphModule
from rushlight.fx.node import Node
from rushlight.library import ops


def replace_observer(model: GraphModule, node: Node) -> None:
    """Replace the node of an observer by two nodes that round a value to the numbers that the integers stand for.

    The two are at the place of the old node, in this order: a call of the operator
    `rl.ops.quantized_decomposed.quantize_per_tensor.default` on the value that was observed, then a call of
    `rl.ops.quantized_decomposed.dequantize_per_tensor.default` on the first one's result. Both have five more positional arguments:
    scale, zero point, smallest and largest integer, dtype. The users of the old node use the second new node, and the old node is
    erased. The graph gives the new nodes their names.

    `model.get_submodule(node.target)` is the observer. `observer.calculate_qparams()` returns scale and zero point as tensors with
    one element; in the graph they are a Python `float` and `int`. `observer.quant_min`, `observer.quant_max` and `observer.dtype`
    are the rest.

    >>> class Half(rl.nn.Module):
    ...     def forward(self, x):
    ...         return x * 0.5
    >>> mapping = rl.ao.quantization.QConfigMapping().set_global(rl.ao.quantization.default_qconfig)
    >>> model = rl.ao.quantization.prepare_fx(Half().eval(), mapping)
    >>> y = model(rl.tensor([0.0, 12.7]))
    >>> for node in list(model.graph.nodes)[1:4:2]:
    ...     replace_observer(model, node)
    >>> list(model.graph.nodes)[1].args[2:]
    (0, 0, 127, rushlight.uint8)

    Source: `torch/ao/quantization/fx/convert.py`, `_replace_observer_with_quantize_dequantize_node_decomposed`.
    """
    graph, (value,), observer = node.graph, node.args, model.get_submodule(node.target)
    scale, zero_point = observer.calculate_qparams()
    qparams = float(scale), int(zero_point), observer.quant_min, observer.quant_max, observer.dtype
    with graph.inserting_before(node):
        integers = graph.call_function(ops.quantized_decomposed.quantize_per_tensor.default, (value, *qparams))
        numbers = graph.call_function(ops.quantized_decomposed.dequantize_per_tensor.default, (integers, *qparams))
    node.replace_all_uses_with(numbers)
    graph.erase_node(node)


def replace_weight(model: GraphModule, node: Node) -> None:
    """Replace the module of a node by one with an integer weight, if the node has a qconfig."""
    qconfig = model.meta["observed"].get(node.name)
    modules = dict(model.named_modules(remove_duplicate=False))
    module = modules[node.target]
    inner = module[0] if isinstance(module, _FusedModule) else module
    if qconfig is None or type(inner) not in REFERENCE:
        return
    observer = qconfig.weight()
    observer(inner.weight)
    new = REFERENCE[type(inner)].from_float(inner, observer)
    if inner is module:
        setattr(*parent_of(modules, node.target), new)
    else:
        module[0] = new


def convert(model: GraphModule) -> GraphModule:
    """The reference form of a calibrated model. Source: `torch/ao/quantization/fx/convert.py`, `convert`."""
    for node in list(model.graph.nodes):
        if is_observer(model, node):
            replace_observer(model, node)
        elif node.op == "call_module":
            replace_weight(model, node)
    return without_unused(model)


def without_unused(model: GraphModule) -> GraphModule:
    """A module of the same graph, without the nodes and the submodules that it does not need."""
    model.graph.eliminate_dead_code()
    new = GraphModule(model, model.graph, type(model).__name__)
    new.delete_all_unused_submodules()
    return new


def lower(model: GraphModule) -> GraphModule:
    """A model whose linear layers compute with integers: dequantise, a reference linear (with relu) and quantise become one node.

    The dequantise node stays if another node uses it. Source: `torch/ao/quantization/fx/_lower_to_native_backend.py`."""
    modules = dict(model.named_modules(remove_duplicate=False))
    quantize = ops.quantized_decomposed.quantize_per_tensor.default
    dequantize = ops.quantized_decomposed.dequantize_per_tensor.default
    for node in list(model.graph.nodes):
        if node.op != "call_module" or len(node.users) != 1:
            continue
        module, before, (after,) = modules[node.target], node.args[0], node.users
        inner = module[0] if isinstance(module, _FusedModule) else module
        if type(inner) is not ReferenceLinear or before.target is not dequantize or after.target is not quantize:
            continue
        setattr(
            *parent_of(modules, node.target),
            quantized.Linear.from_reference(inner, before.args[1:3], after.args[1:], relu=inner is not module),
        )
        node.args = (before.args[0],)
        after.replace_all_uses_with(node)
        model.graph.erase_node(after)
    return without_unused(model)
