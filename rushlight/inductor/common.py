"""What kernels have in common, in C++ and in Triton: their arguments, their names, and the memory that they can reuse.

In PyTorch: `torch/_inductor/codegen/common.py` (`Kernel`, `KernelArgs`), `get_fused_kernel_name` in `torch/_inductor/utils.py`.
"""

import re
from collections.abc import Sequence

from rushlight.inductor.ir import ComputedBuffer, Layout, loads
from rushlight.inductor.scheduler_node import FusedSchedulerNode, inner_loops


class FusedKernel:
    """The kernel of a fused node: the number of the inner loop of each nest, and a pointer for each buffer in memory."""

    def __init__(self, node: FusedSchedulerNode, unused: set[str], layouts: dict[str, Layout]) -> None:
        self.node, self.layouts, self.works_by_row = node, layouts, node.works_by_row
        self.numbers = inner_loops(node)
        self.local = {nest.buffer for nest in node.nests if nest.buffer in unused and self.needs_no_buffer(nest)}
        reads = dict.fromkeys(load.buffer for nest in node.nests for load in loads(nest.value))
        self.outputs = [nest.buffer for nest in node.nests if nest.buffer not in self.local]
        self.inputs = [name for name in reads if name not in self.outputs and name not in self.local]
        self.pointers = {name: f"in_ptr{n}" for n, name in enumerate(self.inputs)}
        self.pointers |= {name: f"out_ptr{n}" for n, name in enumerate(self.outputs)}

    def needs_no_buffer(self, nest: ComputedBuffer) -> bool:
        """Return whether a nest whose result only this kernel reads needs no memory outside the kernel."""
        return True

    def read_later(self, nest: ComputedBuffer) -> bool:
        """Return whether a later inner loop reads the elements of a row that a nest computes."""
        number = self.numbers[self.node.nests.index(nest)]
        later = [other for other, at in zip(self.node.nests, self.numbers) if at > number]
        return any(load.buffer == nest.buffer for other in later for load in loads(other.value))


def kernel_name(origins: Sequence[str], number: int, prefix: str = "cpp_fused") -> str:
    """The prefix, the first six operators in alphabetical order, and the number.
    Source: `torch/_inductor/utils.py`, `get_fused_kernel_name`."""
    operators = sorted({re.sub(r"_\d+$", "", name) for name in origins})
    return "_".join([prefix, *operators[:6], str(number)])


def reads_and_writes(kernel: FusedKernel) -> tuple[set[str], set[str]]:
    """The buffers that a kernel reads from memory, and those that it writes to memory."""
    reads, written = set(), set()
    for nest in kernel.node.nests:
        reads |= {load.buffer for load in loads(nest.value)} - written
        written.add(nest.buffer)
    return reads, written - kernel.local


def inplace_candidates(kernel: FusedKernel) -> dict[str, list[str]]:
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
