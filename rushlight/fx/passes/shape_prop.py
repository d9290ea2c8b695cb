"""Run a graph, and write the sizes and the dtype of each result into the metadata of its node: `ShapeProp`.

In PyTorch: `torch/fx/passes/shape_prop.py`. Left out: fake modes, quantized tensors, `channels_last_3d`.
"""

from __future__ import annotations

import traceback
from typing import Any, NamedTuple

from rushlight.aten.strided import Size, Tensor
from rushlight.c10.dtypes import dtype
from rushlight.c10.memory_formats import channels_last, contiguous_format, memory_format
from rushlight.fx.interpreter import Interpreter
from rushlight.fx.node import Node, map_aggregate


class TensorMetadata(NamedTuple):
    """What is known of a tensor without its elements."""

    shape: Size
    dtype: dtype
    requires_grad: bool
    stride: tuple[int, ...]
    memory_format: memory_format | None
    is_quantized: bool
    qparams: dict[str, Any]


def _extract_tensor_metadata(result: Tensor, include_contiguity: bool = True) -> TensorMetadata:
    formats = (contiguous_format, channels_last) if include_contiguity else ()
    found = next((one for one in formats if result.is_contiguous(memory_format=one)), None)
    return TensorMetadata(result.shape, result.dtype, result.requires_grad, result.stride(), found, False, {})


class ShapeProp(Interpreter):
    """Writes `node.meta["tensor_meta"]` and `node.meta["type"]` of each node that it runs."""

    def run_node(self, n: Node) -> Any:
        try:
            result = super().run_node(n)
        except Exception as error:
            traceback.print_exc()
            raise RuntimeError(f"ShapeProp error for: node={n.format_node()} with meta={n.meta}") from error
        tensors = []
        map_aggregate(result, lambda x: tensors.append(x) if isinstance(x, Tensor) else None)
        if tensors:
            n.meta["tensor_meta"] = map_aggregate(
                result, lambda x: _extract_tensor_metadata(x) if isinstance(x, Tensor) else x
            )
        n.meta["type"] = type(result)
        return result

    def propagate(self, *args: Any) -> Any:
        """Run the module, and return its result."""
        return self.run(*args)
