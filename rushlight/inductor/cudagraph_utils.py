"""Say why a compiled graph is not captured as one CUDA graph.

`torch.compile(mode="reduce-overhead")` captures what Inductor has generated as a CUDA graph. A capture keeps launches, addresses
and numbers. So a graph with work on the CPU, with an operator that must look at a number, or with an input that it writes to is
left as it is, and `TORCH_LOGS=cudagraphs` says why. `RUSHLIGHT_LOGS=cudagraphs` says it of each graph here: all are on the CPU.

In PyTorch: `torch/_inductor/cudagraph_utils.py`. There a graph is first cut into *partitions*, and each partition that may be
captured is captured by itself, unless `torch._inductor.config.graph_partition` is off. Left out: partitions, sizes that are not
known, sparse tensors, operators of a library with the tag `cudagraph_unsafe`, inputs that another graph has made.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

from rushlight.aten.strided import Tensor

__all__ = ["FORBIDDEN_CUDAGRAPH_OPS", "GraphNode", "graph_nodes", "why_no_graph"]

FORBIDDEN_CUDAGRAPH_OPS = frozenset([
    "aten._fused_moving_avg_obs_fq_helper.default", "aten._fused_moving_avg_obs_fq_helper_functional.default",
    "fbgemm.dense_to_jagged.default", "fbgemm.jagged_to_padded_dense.default", "run_and_save_rng_state", "run_with_rng_state",
    "aten._local_scalar_dense", "aten._assert_scalar",
])  # fmt: skip
INDEX_PUT_OPS = frozenset(["aten.index_put.default", "aten.index_put_.default", "aten._unsafe_index_put.default"])


@dataclass(frozen=True)
class GraphNode:
    """A node of a graph of operators. `inputs` names the nodes whose results it uses, in the order of its arguments."""

    name: str
    target: str  # of an operator, such as "aten.mul.Tensor"; "placeholder" for an input of the graph; "output"
    inputs: tuple[str, ...] = ()
    device: str | None = "cuda:0"  # of its result; None if this is no tensor
    dtype: str = "float32"  # of its result


def why_no_graph(nodes: Sequence[GraphNode], static_input_idxs: Collection[int] = ()) -> str | None:
    """The reason why a graph of operators is not captured as one CUDA graph, or None if it is captured.

    The first of these that holds:

    - `"incompatible op TARGET"`: a node may not be captured, and TARGET is the target of the first such node. It is one of
      `FORBIDDEN_CUDAGRAPH_OPS`. Or it is one of `INDEX_PUT_OPS`, and one of its indices is a mask, with dtype "bool" or "uint8":
      the number of elements that it selects is not known in advance. The inputs of such a node are a tensor, one or more
      indices, and the values.
    - `"cpu device (NAME)"`: NAME is the name of the first node with its result on the device "cpu". Here and in the next rule, a
      placeholder that no node uses does not count, and a node with the device None does not.
    - `"multiple devices: DEVICES"`: there are two or more devices. They are listed in the order of the nodes, each once,
      with ", " between them.
    - `"mutated inputs (N instances)"`: N placeholders are written, and N is not 0. A node with the target
      `"aten.copy_.default"` writes to its first input. A placeholder does not count if its number among the placeholders, from 0,
      is in `static_input_idxs`: its address stays the same, as that of a parameter does.

    Args:
        nodes: in the order of the graph.

    >>> inputs = [GraphNode("x", "placeholder"), GraphNode("y", "placeholder", device="cpu")]
    >>> why_no_graph([*inputs, GraphNode("mul", "aten.mul.Tensor", ("x", "y"))])
    'cpu device (y)'

    Source: `torch/_inductor/cudagraph_utils.py`; `torch/_inductor/utils.py`, `get_first_incompatible_cudagraph_node`.
    """
    dtypes = {node.name: node.dtype for node in nodes}
    used = {name for node in nodes for name in node.inputs}
    for node in nodes:
        masked = node.target in INDEX_PUT_OPS and any(dtypes[index] in ("bool", "uint8") for index in node.inputs[1:-1])
        if node.target in FORBIDDEN_CUDAGRAPH_OPS or masked:
            return f"incompatible op {node.target}"
    unused = {node.name for node in nodes if node.target == "placeholder"} - used
    counted = [node for node in nodes if node.device and node.name not in unused]
    for node in counted:
        if node.device == "cpu":
            return f"cpu device ({node.name})"
    devices = dict.fromkeys(node.device for node in counted)
    if len(devices) > 1:
        return f"multiple devices: {', '.join(devices)}"
    written = {node.inputs[0] for node in nodes if node.target == "aten.copy_.default"}
    placeholders = [node.name for node in nodes if node.target == "placeholder"]
    mutated = [name for i, name in enumerate(placeholders) if name in written and i not in static_input_idxs]
    return f"mutated inputs ({len(mutated)} instances)" if mutated else None


def graph_nodes(module: Any) -> list[GraphNode]:
    """The nodes of a graph module that is compiled for the CPU, whose nodes have their meta tensors in `meta["val"]`."""
    nodes = []
    for node in module.graph.nodes:
        target = str(node.target) if node.op == "call_function" else node.op
        inputs = tuple(argument.name for argument in node.all_input_nodes)
        value = node.meta.get("val")
        device = "cpu" if isinstance(value, Tensor) else None
        dtype = str(value.dtype).rpartition(".")[2] if device else ""
        nodes.append(GraphNode(node.name, target, inputs, device, dtype))
    return nodes
