"""From a fused node to its kernel: order the loops, select a tiling, write the C++ function.

In PyTorch: `CppScheduling.codegen_node` in `torch/_inductor/codegen/cpp.py`.
"""

import re

from rushlight.inductor.cpp import TYPES
from rushlight.inductor.cpp_kernel import CppKernel
from rushlight.inductor.ir import Kernel, Layout, loads
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
    reads, written = set(), set()
    for nest in node.nests:
        reads |= {load.buffer for load in loads(nest.value)} - written
        written.add(nest.buffer)
    return Kernel(name, text, arguments, reads, written - kernel.local, inplace_candidates(kernel), origins)


def kernel_name(origins: list[str], number: int) -> str:
    """`cpp_fused`, the first six operators in alphabetical order, and the number. Source: `get_fused_kernel_name`."""
    operators = sorted({re.sub(r"_\d+$", "", name) for name in origins})
    return "_".join(["cpp_fused", *operators[:6], str(number)])


def inplace_candidates(kernel: CppKernel) -> dict[str, list[str]]:
    """For each output the inputs whose memory it can reuse, of the same layout. Each element of such an input is read for the
    last time by the iteration that writes the same element of the output, and before it is written."""
    node, layouts, candidates = kernel.node, kernel.layouts, {}
    readers: dict[str, list] = {name: [] for name in kernel.inputs}
    for nest, number in zip(node.nests, kernel.numbers):
        for load in loads(nest.value):
            if load.buffer in readers:
                readers[load.buffer].append((load.index, number))
    for nest, number in zip(node.nests, kernel.numbers):
        if nest.buffer not in kernel.local:
            candidates[nest.buffer] = [
                name
                for name in kernel.inputs
                if layouts[name] == layouts[nest.buffer] and not kernel.works_by_row(nest)
                if all(index == nest.index and at <= number for index, at in readers[name])
            ]
    return candidates
