"""Dependencies: the elements of buffers that one iteration of a loop nest reads and writes.

In PyTorch: `torch/_inductor/dependencies.py`. Left out: `StarDep`, a dependency on a whole buffer.
"""

from dataclasses import dataclass

from rushlight.inductor.index import Index
from rushlight.inductor.ir import ComputedBuffer, loads


@dataclass(frozen=True)
class MemoryDep:
    """An element of a buffer that one iteration of some loops reads or writes."""

    buffer: str
    index: Index


def extract_read_writes(computed: ComputedBuffer) -> tuple[list[MemoryDep], MemoryDep]:
    """The elements that one iteration of a loop nest reads, each once and in no particular order, and the element that it writes.
    Source: `torch/_inductor/dependencies.py`, `extract_read_writes`."""
    if computed.read_writes is None:
        reads = dict.fromkeys(MemoryDep(access.buffer, access.index) for access in loads(computed.value))
        computed.read_writes = list(reads), MemoryDep(computed.buffer, computed.index)
    return computed.read_writes
