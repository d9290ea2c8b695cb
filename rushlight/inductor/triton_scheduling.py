"""From a fused node to its kernel in Triton: order the loops, write the function and what its launcher must know.

In PyTorch: `TritonScheduling.codegen_node` and `TritonKernel.codegen_kernel` in `torch/_inductor/codegen/triton.py`.
"""

from rushlight.inductor.common import inplace_candidates, kernel_name, reads_and_writes
from rushlight.inductor.ir import Kernel, Layout
from rushlight.inductor.loop_order import simplify_loops
from rushlight.inductor.scheduler_node import FusedSchedulerNode
from rushlight.inductor.simd import next_power_of_two
from rushlight.inductor.triton_kernel import TYPES, TritonKernel

IMPORTS = """
import triton
import triton.language as tl

from rushlight.inductor import triton_helpers, triton_heuristics
from rushlight.inductor.triton_helpers import libdevice, math as tl_math
"""
SHORT = {"int1": "i1", "uint8": "u8", "int32": "i32", "int64": "i64", "float32": "fp32", "float64": "fp64"}


def codegen_node(node: FusedSchedulerNode, unused: set[str], layouts: dict[str, Layout], number: int) -> Kernel:
    """The kernel of a fused node. No other step reads the buffers in `unused`, so they need no memory outside the kernel."""
    kernel = TritonKernel(simplify_loops(node), unused, layouts)
    heuristic, kind = "pointwise", "poi"
    if node.inner:
        heuristic, kind = ("reduction", "red") if kernel.looped else ("persistent_reduction", "per")
    origins = list(dict.fromkeys(name for nest in kernel.node.nests for name in nest.origins))
    name = kernel_name(origins, number, f"triton_{kind}_fused")
    arguments = kernel.inputs + kernel.outputs
    blocks = [axis.block for axis in kernel.axes if axis.prefix != "r0_" or kernel.looped]
    signature = {kernel.pointers[buffer]: f"*{SHORT[TYPES[layouts[buffer].dtype]]}" for buffer in arguments}
    signature |= {f"{axis.prefix}numel": "i32" for axis in kernel.axes} | dict.fromkeys(blocks, "constexpr")
    parameters = [f"{name} : tl.constexpr" if kind == "constexpr" else name for name, kind in signature.items()]
    hints = {axis.prefix: next_power_of_two(axis.numel) for axis in kernel.axes}
    lines = [
        f"@triton_heuristics.{heuristic}(",
        f"    size_hints={hints},",
        *[f"    reduction_hint='{kernel.hint}',"] * bool(node.inner),
        f"    triton_meta={{'signature': {signature}}},",
        ")",
        "@triton.jit",
        f"def {name}({', '.join(parameters)}):",
        *(f"    {line}" for line in kernel.codegen()),
    ]
    # a kernel that computes elements again reads its inputs until the end
    inplace = dict.fromkeys(kernel.outputs, []) if kernel.looped else inplace_candidates(kernel)
    text = "\n".join([IMPORTS, *lines, ""])
    numels = tuple(axis.numel for axis in kernel.axes)
    return Kernel(name, text, arguments, *reads_and_writes(kernel), inplace, origins, numels)
