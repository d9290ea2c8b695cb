"""Quantisation of a model that was captured as a graph, in three steps: prepare, calibrate, convert.

    prepared = prepare_fx(model.eval(), get_default_qconfig_mapping(), example_inputs)
    prepared(batch)                    # calibrate: observers see the values
    quantised = convert_fx(prepared)

In PyTorch: `torch/ao/quantization/quantize_fx.py`, which prints that it is deprecated. The same walk on graphs of `torch.export`
(PT2E) is in torchao. Left out: quantisation-aware training of a graph, custom configurations.
"""

import copy
from typing import Any

from rushlight.ao.quantization.fx.convert import convert, lower
from rushlight.ao.quantization.fx.fuse import fuse
from rushlight.ao.quantization.fx.prepare import prepare
from rushlight.ao.quantization.qconfig_mapping import QConfigMapping
from rushlight.fx._symbolic_trace import symbolic_trace
from rushlight.fx.graph_module import GraphModule
from rushlight.nn.modules.module import Module

__all__ = ["convert_fx", "convert_to_reference_fx", "fuse_fx", "prepare_fx"]


def fuse_fx(model: Module) -> GraphModule:
    """A copy of a model in evaluation mode, with relu and batch norm fused into the layers before them."""
    return fuse(symbolic_trace(copy.deepcopy(model)))


def prepare_fx(model: Module, qconfig_mapping: QConfigMapping, example_inputs: tuple[Any, ...] = ()) -> GraphModule:
    """A copy of a model with observers, which look at the values of every call. `example_inputs` are not used here.

    Source: `torch/ao/quantization/quantize_fx.py`, `prepare_fx`."""
    return prepare(fuse_fx(model), qconfig_mapping)


def _convert_to_reference_decomposed_fx(graph_module: GraphModule) -> GraphModule:
    """The reference form of a calibrated model: quantise, dequantise, and operators on the numbers in between."""
    return convert(copy.deepcopy(graph_module))


convert_to_reference_fx = _convert_to_reference_decomposed_fx


def convert_fx(graph_module: GraphModule) -> GraphModule:
    """A calibrated model whose linear layers compute with integers. The other operators are those of the reference form."""
    return lower(_convert_to_reference_decomposed_fx(graph_module))
