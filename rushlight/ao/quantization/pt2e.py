"""PT2E: a quantizer annotates an exported graph, and observers are inserted as the annotations say.

In an exported graph there are no modules: a node calls an ATen operator, and a weight is one of its inputs. Each backend has its
own quantizer, which knows operators. `prepare` knows annotations only. PyTorch 2.13 has no such module, because it has moved to
torchao, `torchao.quantization.pt2e`. Left out: specs with fixed or derived parameters, dynamic quantisation, operators that write
to their input, a spec for a bias, convert.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from rushlight.ao.quantization.fx.prepare import insert_observer, is_observer
from rushlight.ao.quantization.observer import ObserverBase
from rushlight.fx.graph import Graph
from rushlight.fx.graph_module import GraphModule
from rushlight.fx.node import Node
from rushlight.library import ops

aten = ops.aten
LAYERS = (
    aten.linear.default,
    aten.conv1d.default,
    aten.conv2d.default,
)  # called with the input, the weight, and maybe a bias
BINARY = (aten.add.Tensor, aten.mul.Tensor)
RELU = aten.relu.default
SHARING = (  # called with the input, or with a list of inputs
    RELU, aten.cat.default, aten.view.default, aten.permute.default, aten.flatten.using_ints, aten.max_pool2d.default,
    aten.adaptive_avg_pool2d.default, aten.hardtanh.default, aten.mean.dim, aten.squeeze.dim,
)  # fmt: skip
KEY = "quantization_annotation"  # of an annotation, in the meta of a node

# Annotations ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class QuantizationSpec:
    """How a value becomes integers. A setting that is None is the observer's default."""

    dtype: Any
    observer_or_fake_quant_ctr: Callable[..., ObserverBase]
    quant_min: int | None = None
    quant_max: int | None = None
    qscheme: Any = None
    ch_axis: int | None = None

    def observer(self) -> ObserverBase:
        settings = {name: value for name, value in vars(self).items() if value is not None}
        return settings.pop("observer_or_fake_quant_ctr")(**settings)


@dataclass(frozen=True)
class SharedQuantizationSpec:
    """The spec and the observer of another annotated value: of a node's result, or of an edge `(value, node)`, which is a value as
    an input of a node."""

    edge_or_node: tuple[Node, Node] | Node


@dataclass
class QuantizationAnnotation:
    """The spec of each input of a node, by the node of the input, and the spec of its result. A value that stays a floating-point
    number has None. An input may also be absent."""

    input_qspec_map: dict[Node, QuantizationSpec | SharedQuantizationSpec | None] = field(default_factory=dict)
    output_qspec: QuantizationSpec | SharedQuantizationSpec | None = None


def annotate(graph: Graph, activation: QuantizationSpec, weight: QuantizationSpec) -> None:
    """Annotate an exported graph: which values become integers, with which spec, and which values share one.

    The annotation of a node is `node.meta["quantization_annotation"]`, a `QuantizationAnnotation(input_qspec_map, output_qspec)`.
    Nodes that have one already keep it, because they belong to another quantizer. The others are visited in the order of the graph.
    `node.target` decides, and `node.args` has all inputs:

    - `LAYERS`: the input, `args[0]`, has the spec `activation`, the weight, `args[1]`, the spec `weight`, and the result the spec
      `activation`. A bias has no spec, because it is added to the sums of products.
    - `BINARY`: each of the two arguments that is a node has the spec `activation`, and the result too. A number has no spec.
    - `SHARING`: the operator only passes values on. `args[0]` is a node, or a list of nodes that is not empty. The first input has
      the spec `activation`. All other inputs and the result have `SharedQuantizationSpec((first, node))`. The same node may be in
      the list several times.
    - A *pattern* is a node of `LAYERS` or `BINARY` and a `RELU` that reads it. No other node reads the first one, and neither node
      was annotated before. The backend computes both at once, so no value between them is rounded: the first node has no spec for
      its result, and the relu has the spec `activation` for its result and none for its input.
    - All other nodes get no annotation.

    A value has one observer for each spec. So if the result of a node and the input of the next node have equal specs, you need no
    `SharedQuantizationSpec` between them.

    >>> spec = QuantizationSpec(rl.uint8, rl.ao.quantization.MinMaxObserver)
    >>> graph = rl.fx.Graph()
    >>> x = graph.placeholder("x")
    >>> total = graph.call_function(rl.ops.aten.add.Tensor, (x, 1))
    >>> both = graph.call_function(rl.ops.aten.cat.default, ([total, x],))
    >>> annotate(graph, spec, spec)
    >>> total.meta["quantization_annotation"] == QuantizationAnnotation({x: spec}, spec)
    True
    >>> both.meta["quantization_annotation"].output_qspec
    SharedQuantizationSpec(edge_or_node=(add_tensor, cat_default))

    Source: torchao, `XNNPACKQuantizer`, `_annotate_linear_relu`, `_annotate_cat`.
    """
    for node in graph.nodes:
        if KEY in node.meta:
            continue
        inputs, output = {}, activation
        if node.target in LAYERS:
            inputs = {node.args[0]: activation, node.args[1]: weight}
        elif node.target in BINARY:
            inputs = {arg: activation for arg in node.args if isinstance(arg, Node)}
        elif node.target in SHARING:
            first = node.args[0] if isinstance(node.args[0], Node) else node.args[0][0]
            output = SharedQuantizationSpec((first, node))
            inputs = dict.fromkeys(node.all_input_nodes, output) | {first: activation}
        else:
            continue
        relu = next(iter(node.users), node)
        if node.target not in SHARING and len(node.users) == 1 and relu.target is RELU and KEY not in relu.meta:
            relu.meta[KEY], output = QuantizationAnnotation({}, activation), None
        node.meta[KEY] = QuantizationAnnotation(inputs, output)


# Observers -----------------------------------------------------------------------------------------------------------


def prepare(model: GraphModule) -> GraphModule:
    """Insert the observers of an annotated model, in place. A value has an observer for each of its specs, and the nodes that read
    it with this spec read this observer. Values that share a spec have one observer, in whole groups: if a shares with b, and b
    with c, all three do. So an observer that is replaced is replaced for all its values.

    Source: torchao, `prepare_pt2e`, `_get_edge_or_node_to_group_id`."""
    annotations = {node: node.meta[KEY] for node in model.graph.nodes if KEY in node.meta}
    specs = {
        (value, node): spec for node, found in annotations.items() for value, spec in found.input_qspec_map.items()
    }
    specs |= {node: found.output_qspec for node, found in annotations.items()}
    specs = {at: spec for at, spec in specs.items() if spec is not None}

    def key_of(at: tuple[Node, Node] | Node) -> tuple[Node, QuantizationSpec]:
        spec = specs[at]
        if isinstance(spec, SharedQuantizationSpec):
            spec = key_of(spec.edge_or_node)[1]
        return at[0] if isinstance(at, tuple) else at, spec

    observers = {key_of(at): key_of(at)[1].observer() for at in specs}
    for at, spec in specs.items():
        if isinstance(spec, SharedQuantizationSpec):
            old, new = observers[key_of(at)], observers[key_of(spec.edge_or_node)]
            observers = {key: new if observer is old else observer for key, observer in observers.items()}
    calls = {key: insert_observer(model, key[0], observer) for key, observer in observers.items()}
    for at in specs:  # edges before results: then an edge with a spec of its own reads its own observer
        for user in [at[1]] if isinstance(at, tuple) else list(at.users):
            if not is_observer(model, user):
                user.replace_input_with(key_of(at)[0], calls[key_of(at)])
    model.recompile()
    return model
