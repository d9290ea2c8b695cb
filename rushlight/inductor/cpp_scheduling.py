"""From a fused node to its kernel: order the loops, select a tiling, write the C++ function.

In PyTorch: `CppScheduling.codegen_node` in `torch/_inductor/codegen/cpp.py`.
"""

from rushlight.inductor.common import inplace_candidates, kernel_name, reads_and_writes
from rushlight.inductor.cpp import TYPES
from rushlight.inductor.cpp_kernel import CppKernel
from rushlight.inductor.ir import Kernel, Layout
from rushlight.inductor.loop_order import simplify_loops
from rushlight.inductor.scheduler_node import FusedSchedulerNode
from rushlight.inductor.tiling import CppTileKernel, select_tiling


def codegen_node(node: FusedSchedulerNode, unused: set[str], layouts: dict[str, Layout], number: int) -> Kernel:
    """The kernel of a fused node. No other step reads the buffers in `unused`, so they need no memory outside the kernel."""
    node = simplify_loops(node)
    kernel = (CppKernel if select_tiling(node) is None else CppTileKernel)(node, unused, layouts)
    body, arguments = kernel.codegen(), kernel.inputs + kernel.outputs
    origins = list(dict.fromkeys(name for nest in node.nests for name in nest.origins))
    name = kernel_name(origins, number)
    types = [f"{'const ' if buffer in kernel.inputs else ''}{TYPES[layouts[buffer].dtype]}*" for buffer in arguments]
    parameters = [f"{kind} {kernel.pointers[buffer]}" for kind, buffer in zip(types, arguments)]
    head = f"static int64_t {name}({', '.join(parameters)}) {{"
    text = "\n".join([head, "  int64_t bad = 0;", *body, "  return bad;", "}\n"])
    return Kernel(name, text, arguments, *reads_and_writes(kernel), inplace_candidates(kernel), origins)
