"""Which qconfig a node has. In PyTorch: `torch/ao/quantization/fx/qconfig_mapping_utils.py`.

Left out: rules by the name of the module in which a function is called.
"""

from collections import Counter
from typing import Any

from rushlight.ao.nn.intrinsic import _FusedModule
from rushlight.ao.quantization.qconfig import QConfig
from rushlight.ao.quantization.qconfig_mapping import QConfigMapping, find_qconfig
from rushlight.fx.graph_module import GraphModule


def node_name_to_qconfig(model: GraphModule, mapping: QConfigMapping) -> dict[str, QConfig | None]:
    """The qconfig of each node, by name: that of the module or the function that the node calls."""
    qconfigs, modules, seen = {}, dict(model.named_modules(remove_duplicate=False)), Counter()
    for node in model.graph.nodes:
        name, called = "", node.target
        if node.op == "call_module":
            name, called = node.target, type(modules[node.target])
            if issubclass(called, _FusedModule):
                called = type(modules[node.target][0])
        qconfigs[node.name] = find_qconfig(mapping, name, called, _next(seen, name, called))
    return qconfigs


def _next(seen: Counter, name: str, called: Any) -> int:
    """How many nodes of the same parent have called the same before."""
    key = name.rpartition(".")[0], called
    seen[key] += 1
    return seen[key] - 1
