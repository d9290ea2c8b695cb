"""The caching allocator of a CUDA device: segments from the device, blocks for tensors.

`cudaMalloc` and `cudaFree` are slow, and `cudaFree` waits for the device. So PyTorch asks the device for large *segments*, gives
parts of them away as *blocks*, and keeps a freed block for the next request. No memory is behind this simulation: an address is an
integer, and `Runtime` only counts bytes. All decisions are PyTorch's: which block, how large, split or not, and what is given back.

Three rules make this right. The blocks of a segment cover it without gaps, linked in the order of their addresses. Two neighbours
that are free are merged at once, so a segment without a block in use is one block, and can be returned to the device. A block
serves its own stream, whose work runs in order, and it waits for the events of other streams that have used it. So no work reads
or writes memory that has a new owner.

In PyTorch: `c10/cuda/CUDACachingAllocator.cpp`, `DeviceCachingAllocator`. Left out: pools of CUDA graphs, other devices, divisions
by size, and the stacks of frames in a trace.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from itertools import count
from typing import Any

__all__ = ["Block", "BlockPool", "CachingAllocator", "OutOfMemoryError", "Runtime", "Settings"]

MIN_BLOCK_SIZE = 512  # bytes: the size of every block is a multiple
SMALL_SIZE = 1 << 20  # the largest request of the small pool
SMALL_BUFFER = 2 << 20  # a segment of the small pool
LARGE_BUFFER = 20 << 20  # a segment for requests between SMALL_SIZE and MIN_LARGE_ALLOC
MIN_LARGE_ALLOC = 10 << 20  # from this size on, a request gets a segment of its own
ROUND_LARGE = 2 << 20  # whose size is a multiple of this one

ADVICE = (
    "If reserved but unallocated memory is large try setting PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True to avoid "
    "fragmentation.  See documentation for Memory Management  "
    "(https://docs.pytorch.org/docs/stable/notes/cuda.html#optimizing-memory-usage-with-pytorch-cuda-alloc-conf)"
)


class OutOfMemoryError(RuntimeError):
    """The device has too little memory left for a request. In PyTorch `torch.OutOfMemoryError`.
    Source: `torch/csrc/Exceptions.cpp`; `c10/util/Exception.h`, `OutOfMemoryError`."""


@dataclass
class Settings:
    """The settings in `PYTORCH_CUDA_ALLOC_CONF`. In PyTorch: `c10/cuda/CUDAAllocatorConfig.h`."""

    max_split_size: float = math.inf  # bytes: blocks of so many or more are never split (`max_split_size_mb`)
    max_non_split_rounding: int = LARGE_BUFFER  # fewer bytes may be lost in such a block (`max_non_split_rounding_mb`)
    roundup_power2_divisions: int | dict[int, int] = 0  # a dict: for sizes below each key, in ascending order
    garbage_collection_threshold: float = 0.0
    expandable_segments: bool = False

    def divisions(self, size: int) -> int:
        """`roundup_power2_divisions` for a request of this size."""
        given = self.roundup_power2_divisions
        return next(value for limit, value in given.items() if size < limit) if isinstance(given, dict) else given


# Blocks and pools ----------------------------------------------------------------------------------------------------


@dataclass(eq=False)
class Block:
    """A part of a segment. The blocks of a segment are linked in the order of their addresses.

    A block is free if it is neither `allocated` nor waiting for events of other streams (`is_free`).
    """

    stream: int
    size: int
    ptr: int
    pool: BlockPool
    requested_size: int = 0
    allocated: bool = False
    prev: Block | None = None
    next: Block | None = None
    stream_uses: list[int] = field(default_factory=list)  # other streams that use it, by `record_stream`
    event_count: int = 0  # events that must be complete before the block is free
    mapped: bool = True  # False: addresses of an expandable segment without memory
    segment: ExpandableSegment | None = None
    gc_count_base: int = 0

    def is_split(self) -> bool:
        return self.prev is not None or self.next is not None

    def is_free(self) -> bool:
        return not (self.allocated or self.event_count or self.stream_uses)

    def is_active(self) -> bool:
        return not self.is_free()

    def gc_count(self) -> int:
        return self.pool.get_free_blocks_call_count - self.gc_count_base

    def __repr__(self) -> str:
        state = "allocated" if self.allocated else "free" if self.is_free() else "waiting"
        return f"Block({self.ptr:#x}, size={self.size}, stream={self.stream}, {state})"


@dataclass(eq=False)
class BlockPool:
    """The free blocks of small, or of large requests, in no order."""

    is_small: bool
    blocks: list[Block] = field(default_factory=list)
    unmapped: list[Block] = field(default_factory=list)
    get_free_blocks_call_count: int = 0

    def insert(self, block: Block) -> None:
        block.gc_count_base = self.get_free_blocks_call_count
        self.blocks.append(block)

    def in_order(self) -> list[Block]:
        """The blocks as PyTorch's `std::set` has them: by stream, size and address."""
        return sorted(self.blocks, key=lambda block: (block.stream, block.size, block.ptr))


def round_size(size: int, divisions: int = 0) -> int:
    """The size of the block for a request of `size` bytes.

    A block has at least `MIN_BLOCK_SIZE` = 512 bytes, and its size is a multiple of 512: the smallest one that is enough.

    With `divisions` of 2 or more, a power of 2, requests of more than 512 · `divisions` bytes are rounded more coarsely, so that
    tensors of similar sizes can use each other's blocks. The interval between two neighbouring powers of 2 is divided into
    `divisions` equal parts, and the size becomes the next border between two parts; a size that is a border stays. With 4
    divisions the borders between 4096 and 8192 are 4096, 5120, 6144, 7168 and 8192.

    Args:
        size: bytes, 1 or more.
        divisions: `roundup_power2_divisions`. 0 and 1 divide nothing.

    Returns:
        bytes, an int.

    >>> round_size(1), round_size(513), round_size(5000), round_size(5000, divisions=4)
    (512, 1024, 5120, 5120)

    Source: `c10/cuda/CUDACachingAllocator.cpp`, `round_size` and `roundup_power2_next_division`.
    """
    step = MIN_BLOCK_SIZE
    if divisions > 1 and size > MIN_BLOCK_SIZE * divisions:
        step = (1 << size.bit_length() - 1) // divisions
    return -(-size // step) * step


def get_allocation_size(size: int) -> int:
    """Return the size of the segment that the allocator requests from the device for a block of this size.
    Source: `c10/cuda/CUDACachingAllocator.cpp`, `get_allocation_size`."""
    if size <= SMALL_SIZE:
        return SMALL_BUFFER
    if size < MIN_LARGE_ALLOC:
        return LARGE_BUFFER
    return -(-size // ROUND_LARGE) * ROUND_LARGE


def find_free_block(pool: BlockPool, size: int, stream: int, settings: Settings) -> Block | None:
    """The block of a pool that serves a request: the *best fit*.

    A block may serve the request if it is large enough and of the same stream. Only there, the work on the old tensor certainly
    ends before the work on the new one begins. Of these blocks the smallest is the best fit, and of equal ones the block with the
    lowest address. Two rules about `settings.max_split_size` exclude blocks:

    - A block of so many bytes or more does not serve a request of fewer, because it would not be split.
    - A request of so many bytes or more is served only by a block that has fewer than `settings.max_non_split_rounding` bytes more
      than the request.

    Neither the pool nor a block changes.

    Args:
        pool: `pool.blocks` is a list of free blocks in no order.
        size: bytes, already rounded.
        settings: `max_split_size` may be infinite.

    Returns:
        the block, or None.

    >>> pool = BlockPool(is_small=True)
    >>> pool.blocks += [Block(0, 4096, 0x0, pool), Block(0, 1024, 0x2000, pool), Block(1, 512, 0x3000, pool)]
    >>> find_free_block(pool, 512, 0, Settings())
    Block(0x2000, size=1024, stream=0, free)

    Source: `c10/cuda/CUDACachingAllocator.cpp`, `get_free_block`.
    """
    fitting = [block for block in pool.blocks if block.stream == stream and block.size >= size]
    best = min(fitting, key=lambda block: (block.size, block.ptr), default=None)
    if best is None or size < settings.max_split_size <= best.size:
        return None
    if size >= settings.max_split_size and best.size >= size + settings.max_non_split_rounding:
        return None
    return best


def alloc_found_block(block: Block, size: int, requested_size: int, settings: Settings) -> Block:
    """Take a request's part of a free block, which is in no pool now. What remains goes back to the pool, or is lost.

    The remainder is the size of the block less `size`. It becomes a free block of its own

    - in the small pool, and with `settings.expandable_segments`: if it has `MIN_BLOCK_SIZE` bytes or more.
    - in the large pool: if it has *more* than `SMALL_SIZE` bytes, and `size` is below `settings.max_split_size`.

    Otherwise the whole block is used. If it is split, a new `Block` gets the first `size` bytes. `block` itself is the remainder:
    its `ptr` and its `size` change, and it is inserted into its pool with `pool.insert`. Both are linked in the segment: whatever
    was before `block` is now before the new block. The new block is in the same pool, on the same stream and in the same
    `segment` as `block`. In all else, it is as any new `Block`.

    The block that serves the request is then `allocated`, with this `requested_size`.

    Args:
        size: bytes, already rounded, at most those of `block`.
        requested_size: the bytes before rounding.

    Returns:
        the allocated block.

    >>> pool = BlockPool(is_small=True)
    >>> rest = Block(0, 2048, 0x1000, pool)
    >>> alloc_found_block(rest, 512, 100, Settings()), rest
    (Block(0x1000, size=512, stream=0, allocated), Block(0x1200, size=1536, stream=0, free))
    >>> pool.blocks == [rest], rest.prev.requested_size
    (True, 100)

    Source: `c10/cuda/CUDACachingAllocator.cpp`, `should_split` and `alloc_found_block`.
    """
    remaining = block.size - size
    if block.pool.is_small or settings.expandable_segments:
        split = remaining >= MIN_BLOCK_SIZE
    else:
        split = size < settings.max_split_size and remaining > SMALL_SIZE
    if split:
        rest, before = block, block.prev
        block = Block(rest.stream, size, rest.ptr, rest.pool, prev=before, next=rest, segment=rest.segment)
        if before is not None:
            before.next = block
        rest.prev = block
        rest.ptr += size
        rest.size = remaining
        rest.pool.insert(rest)
    block.allocated, block.requested_size = True, requested_size
    return block


def try_merge_blocks(dst: Block, src: Block | None, pool: BlockPool) -> int:
    """Merge `src`, a neighbour of `dst` in its segment, into `dst`, if it is free.

    Nothing happens if there is no neighbour, if `src` is not free (`is_free`), or if one of the two blocks is `mapped` and the
    other is not.

    Otherwise `dst` grows by the bytes of `src`, on the side where `src` is. `dst` and the neighbour on the far side of `src`, if
    there is one, are linked. `src` leaves the pool: the list `pool.blocks`, or `pool.unmapped` if it is not mapped.

    Args:
        dst: a free block which is in no list of the pool. You do not insert it: the caller does.
        src: `dst.prev` or `dst.next`.

    Returns:
        the bytes of `src`, or 0 if nothing happened.

    >>> pool = BlockPool(is_small=True)
    >>> left, right = Block(0, 512, 0x1000, pool), Block(0, 1024, 0x1200, pool)
    >>> left.next, right.prev = right, left
    >>> pool.insert(left)
    >>> try_merge_blocks(right, right.prev, pool), right, right.prev, pool.blocks
    (512, Block(0x1000, size=1536, stream=0, free), None, [])

    Source: `c10/cuda/CUDACachingAllocator.cpp`, `try_merge_blocks`.
    """
    if src is None or not src.is_free() or dst.mapped != src.mapped:
        return 0
    if dst.prev is src:
        dst.ptr = src.ptr
        dst.prev = src.prev
        if dst.prev is not None:
            dst.prev.next = dst
    else:
        dst.next = src.next
        if dst.next is not None:
            dst.next.prev = dst
    dst.size += src.size
    (pool.blocks if src.mapped else pool.unmapped).remove(src)
    return src.size


# The device ----------------------------------------------------------------------------------------------------------


class Runtime:
    """The part of the CUDA runtime that the allocator calls: bytes are counted, and addresses given once."""

    def __init__(self, total: int = 1 << 40) -> None:
        self.total, self.free_bytes = total, total
        self._next = count(1)
        self._sizes: dict[int, int] = {}  # of each segment, by address
        self._running: dict[int, list[Event]] = {}  # by stream: the events that are not complete yet

    def malloc(self, size: int) -> int | None:
        """`cudaMalloc`. Each segment begins at an address of its own: its number, times 2^40."""
        if size > self.free_bytes:
            return None
        ptr = self.reserve()
        self._sizes[ptr] = size
        self.free_bytes -= size
        return ptr

    def reserve(self) -> int:
        """Addresses without memory, `cuMemAddressReserve`."""
        return next(self._next) << 40

    def free(self, ptr: int) -> None:
        """`cudaFree`, which waits until the device has done all work."""
        self.synchronize()
        self.free_bytes += self._sizes.pop(ptr)

    def record_event(self, stream: int) -> Event:
        event = Event(stream)
        self._running.setdefault(stream, []).append(event)
        return event

    def synchronize(self, streams: Iterable[int] | None = None) -> None:
        """All work of these streams is done, by default of all."""
        for stream in [*self._running] if streams is None else streams:
            for event in self._running.pop(stream, ()):
                event.complete = True


@dataclass(eq=False)
class Event:
    """A point in a stream's work. It is complete when the work before it is done."""

    stream: int
    complete: bool = False


class ExpandableSegment:
    """A range of addresses, larger than the device, to which memory is mapped page by page.
    Source: `c10/cuda/CUDACachingAllocator.cpp`, `ExpandableSegment`."""

    def __init__(self, runtime: Runtime, page: int) -> None:
        self.runtime, self.page, self.ptr = runtime, page, runtime.reserve()
        self.size = -(-(runtime.total + runtime.total // 8) // page) * page

    def map(self, ptr: int, size: int) -> int:
        """Map whole pages from `ptr` on, and return their bytes, or 0 if the device has no more."""
        wanted = -(-size // self.page) * self.page
        if wanted > self.runtime.free_bytes:
            return 0
        self.runtime.free_bytes -= wanted
        return wanted

    def unmap(self, ptr: int, size: int) -> tuple[int, int]:
        """Give back all pages that are completely in a range: their address and bytes."""
        begin = -(-(ptr - self.ptr) // self.page) * self.page
        end = (ptr + size - self.ptr) // self.page * self.page
        if begin >= end:
            return ptr, 0
        self.runtime.free_bytes += end - begin
        return self.ptr + begin, end - begin


# Allocate and free ---------------------------------------------------------------------------------------------------


def malloc(allocator: CachingAllocator, size: int, stream: int = 0) -> Block:
    """A block for a tensor of `size` bytes, by the cheapest way that works.

    The `allocator` has a method for each part. `rounded` is the size of the block, after `settings.divisions(size)`.

        process_events()                                        the blocks whose events are complete by now become free
        get_pool(rounded)                                       the pool for a block of this size
        get_free_block(pool, rounded, stream)                   takes the best fit from the pool
        alloc_block(pool, rounded, stream, is_retry=False)      a new segment, as one block
        garbage_collect_cached_blocks()                         gives segments back that were free for the longest time
        release_available_cached_blocks(pool, rounded, stream)  gives free oversize blocks back, of `settings.max_split_size` bytes
                                                                or more, and returns whether they were large enough
        release_cached_blocks()                                 waits for all events, and gives every segment back that is free as
                                                                a whole
        out_of_memory(rounded, stream)                          records that there is no memory, and returns the error
        record_alloc(block)                                     enters an allocation into the trace and the statistics

    `get_free_block` and `alloc_block` return None if there is nothing. The four attempts are the pool, a new segment, a new segment
    after oversize blocks are given back, and a new segment after all that is free is given back. Nothing is given back for an
    attempt that is not made: each one is made only if all before it have failed. The third one is made only if the oversize
    blocks were large enough. The last one is a retry. If it fails too, the error is raised.

    Complete events may free a block that serves, so they come first. Once, before the second attempt, old segments are collected
    if the memory is limited (`allocator.allowed` is not None) and the setting `garbage_collection_threshold` is above 0.
    `alloc_found_block` splits the block that is found. Its result is recorded.

    Args:
        allocator: `allocator.settings` has the settings.
        size: bytes, 1 or more.

    Returns:
        the allocated block.

    Raises:
        OutOfMemoryError: the error that `out_of_memory` returns.

    >>> allocator = CachingAllocator(Runtime(total=20 << 20))
    >>> first = malloc(allocator, 3 << 20)
    >>> allocator.free(first)
    >>> [event["action"] for event in allocator.trace]
    ['segment_alloc', 'alloc', 'free_requested', 'free_completed']
    >>> malloc(allocator, 1)  # the device is full, so the free segment goes back to it
    Block(0x20000000000, size=512, stream=0, allocated)

    Source: `c10/cuda/CUDACachingAllocator.cpp`, `DeviceCachingAllocator::malloc`.
    """
    settings = allocator.settings
    allocator.process_events()
    rounded = round_size(size, settings.divisions(size))
    pool = allocator.get_pool(rounded)
    block = allocator.get_free_block(pool, rounded, stream)
    if block is None:
        if allocator.allowed is not None and settings.garbage_collection_threshold > 0:
            allocator.garbage_collect_cached_blocks()
        block = allocator.alloc_block(pool, rounded, stream)
    if block is None and allocator.release_available_cached_blocks(pool, rounded, stream):
        block = allocator.alloc_block(pool, rounded, stream)
    if block is None:
        allocator.release_cached_blocks()
        block = allocator.alloc_block(pool, rounded, stream, is_retry=True)
    if block is None:
        raise allocator.out_of_memory(rounded, stream)
    block = alloc_found_block(block, rounded, size, settings)
    allocator.record_alloc(block)
    return block


class CachingAllocator:
    """The allocator of one device. Source: `c10/cuda/CUDACachingAllocator.cpp`, `DeviceCachingAllocator`.

    `trace` has an entry for each event, as in `torch.cuda.memory._snapshot()["device_traces"]`.
    """

    def __init__(self, runtime: Runtime | None = None, settings: Settings | None = None) -> None:
        self.runtime, self.settings = runtime or Runtime(), settings or Settings()
        self.small_blocks, self.large_blocks = BlockPool(is_small=True), BlockPool(is_small=False)
        self.active_blocks: list[Block] = []
        self.events: dict[int, list[tuple[Event, Block]]] = {}  # by stream
        self.total_allocated_memory = 0  # bytes of all segments
        self.allowed: int | None = None  # bytes, set by `set_memory_fraction`
        self.trace: list[dict[str, Any]] = []
        self.stats = Statistics(self)

    # What a program calls

    malloc = malloc

    def free(self, block: Block) -> None:
        """The tensor of this block is gone. Without other streams the block is free at once."""
        block.allocated = False
        self._record("free_requested", block.ptr, block.requested_size, block.stream)
        if block.stream_uses:
            self.insert_events(block)
        else:
            self.free_block(block)
        self.stats.update()

    def record_stream(self, block: Block, stream: int) -> None:
        """Another stream uses the block too: after `free`, wait until that stream has come to this point."""
        if stream != block.stream and stream not in block.stream_uses:
            block.stream_uses.append(stream)

    def set_memory_fraction(self, fraction: float) -> None:
        """Limit the bytes of all segments. The whole device, 1.0, is no limit."""
        self.allowed = int(fraction * self.runtime.total) if fraction < 1 else None

    def snapshot(self) -> list[dict[str, Any]]:
        """The segments with their blocks, by address. Source: `c10/cuda/CUDACachingAllocator.cpp`, `snapshot`."""
        segments = []
        for head in self._blocks():
            if head.prev is not None and head.prev.mapped:
                continue
            blocks: list[dict[str, Any]] = []
            block: Block | None = head
            while block is not None and block.mapped:
                sizes = {"size": block.size, "requested_size": block.requested_size}
                blocks.append({"address": block.ptr} | sizes | {"state": _state(block)})
                block = block.next
            kind, total = "small" if head.pool.is_small else "large", sum(block["size"] for block in blocks)
            place = {"address": head.ptr, "total_size": total, "stream": head.stream, "segment_type": kind}
            segments.append(place | {"is_expandable": head.segment is not None, "blocks": blocks})
        return sorted(segments, key=lambda segment: segment["address"])

    # Steps of malloc

    def get_pool(self, size: int) -> BlockPool:
        return self.small_blocks if size <= SMALL_SIZE else self.large_blocks

    def get_free_block(self, pool: BlockPool, size: int, stream: int) -> Block | None:
        """Remove the best fit from the pool. Source: `c10/cuda/CUDACachingAllocator.cpp`, `get_free_block`."""
        if self.allowed is not None and self.settings.garbage_collection_threshold > 0:
            pool.get_free_blocks_call_count += 1
        block = find_free_block(pool, size, stream, self.settings)
        if block is not None and self.settings.expandable_segments:
            block = _least_expandable(pool, block)
        if block is not None:
            pool.blocks.remove(block)
        return block

    def alloc_block(self, pool: BlockPool, size: int, stream: int, is_retry: bool = False) -> Block | None:
        """A new segment, or more memory for an expandable one. Source: `c10/cuda/CUDACachingAllocator.cpp`, `alloc_block`."""
        bytes_ = get_allocation_size(size)
        if is_retry:
            self.stats.counts["num_alloc_retries"] += 1
        if self.allowed is not None and self.total_allocated_memory + bytes_ > self.allowed:
            return None
        if self.settings.expandable_segments:
            return self.try_allocate_expandable_block(pool, size, stream)
        ptr = self.runtime.malloc(bytes_)
        if ptr is None:
            return None
        self._account("segment_alloc", ptr, bytes_, stream)
        self.stats.add_segment(pool, 1)
        return Block(stream, bytes_, ptr, pool)

    def record_alloc(self, block: Block) -> None:
        """Enter an allocation into the trace and the statistics."""
        self.active_blocks.append(block)
        self._record("alloc", block.ptr, block.requested_size, block.stream)
        self.stats.update()

    def out_of_memory(self, size: int, stream: int) -> OutOfMemoryError:
        """The error for a request that cannot be served; it is recorded too."""
        self._record("oom", None, size, stream, device_free=self.runtime.free_bytes)
        self.stats.counts["num_ooms"] += 1
        allocated = self.stats.peaks["allocated_bytes.all"].current
        reserved = self.stats.peaks["reserved_bytes.all"].current
        allowed = "" if self.allowed is None else f"{format_size(self.allowed)} allowed; "
        in_use = self.runtime.total - self.runtime.free_bytes
        return OutOfMemoryError(
            f"CUDA out of memory. Tried to allocate {format_size(get_allocation_size(size))}. GPU 0 has a total capacity of "
            f"{format_size(self.runtime.total)} of which {format_size(self.runtime.free_bytes)} is free. Including non-PyTorch "
            f"memory, this process has {format_size(in_use)} memory in use. {allowed}Of the allocated memory "
            f"{format_size(allocated)} is allocated by PyTorch, and {format_size(reserved - allocated)} is reserved by PyTorch "
            f"but unallocated. {ADVICE}"
        )

    # Blocks become free

    def free_block(self, block: Block) -> None:
        """Merge a block with its free neighbours, and put it into its pool.
        Source: `c10/cuda/CUDACachingAllocator.cpp`, `free_block`."""
        self._record("free_completed", block.ptr, block.requested_size, block.stream)
        for neighbour in (block.prev, block.next):
            try_merge_blocks(block, neighbour, block.pool)
        self.active_blocks.remove(block)
        block.pool.insert(block)
        self.stats.update()

    def insert_events(self, block: Block) -> None:
        """Record an event on each stream that uses the block."""
        streams, block.stream_uses = block.stream_uses, []
        for stream in streams:
            block.event_count += 1
            self.events.setdefault(stream, []).append((self.runtime.record_event(stream), block))

    def process_events(self) -> None:
        """Free the blocks whose events are complete. A stream's events complete in order, so the first one that is not
        complete ends the search. Source: `c10/cuda/CUDACachingAllocator.cpp`, `process_events`."""
        for stream in [*self.events]:
            waiting = self.events[stream]
            while waiting and waiting[0][0].complete:
                self._finish(waiting.pop(0)[1])
            if not waiting:
                del self.events[stream]

    def synchronize_and_free_events(self) -> None:
        self.stats.counts["num_sync_all_streams"] += 1
        for stream in [*self.events]:
            for event, block in self.events[stream]:
                event.complete = True
                self._finish(block)
        self.events.clear()

    def _finish(self, block: Block) -> None:
        block.event_count -= 1
        if block.event_count == 0:
            self.free_block(block)

    # Memory goes back to the device

    def release_block(self, block: Block) -> None:
        self._account("segment_free", block.ptr, -block.size, block.stream)
        self.runtime.free(block.ptr)
        block.pool.blocks.remove(block)
        self.stats.add_segment(block.pool, -1)
        self.stats.update()

    def release_cached_blocks(self) -> None:
        """Give all segments back that are free as a whole. This waits for the device.
        Source: `c10/cuda/CUDACachingAllocator.cpp`, `release_cached_blocks`."""
        self.synchronize_and_free_events()
        for pool in (self.large_blocks, self.small_blocks):
            blocks = pool.in_order()
            for block in blocks:
                if block.segment is None and not block.is_split():
                    self.release_block(block)
            for block in blocks:
                if block.segment is not None:
                    self.unmap_block(block)

    empty_cache = release_cached_blocks

    def release_available_cached_blocks(self, pool: BlockPool, size: int, stream: int) -> bool:
        """Give oversize blocks back, only as many as needed: one that is large enough, or several, the largest first.
        Source: `c10/cuda/CUDACachingAllocator.cpp`, `release_available_cached_blocks`."""
        limit = self.settings.max_split_size
        if limit == math.inf:
            return False
        target = max(size, limit)
        mine = [block for block in pool.in_order() if block.stream == stream]
        enough = [block for block in mine if block.size >= target]
        if enough:
            self.release_block(enough[0])
            return True
        released = 0
        for block in reversed(mine):
            if released >= target or block.size < limit:
                break
            released += block.size
            self.release_block(block)
        return released >= target

    def garbage_collect_cached_blocks(self) -> None:
        """Give back the large blocks that were not used for the longest time.
        Source: `c10/cuda/CUDACachingAllocator.cpp`, `garbage_collect_cached_blocks`."""
        assert self.allowed is not None, "only limited memory is collected"
        threshold = int(self.settings.garbage_collection_threshold * self.allowed)
        target = self.total_allocated_memory - threshold
        reclaimed, freed = 0, True
        while reclaimed < target and freed:
            freeable = [block for block in self.large_blocks.in_order() if not block.is_split()]
            freed = False
            if not freeable:
                return
            mean_age = sum(block.gc_count() for block in freeable) / len(freeable)
            for block in freeable:
                if block.gc_count() >= mean_age:
                    freed = True
                    reclaimed += block.size
                    self.release_block(block)

    # Expandable segments

    def try_allocate_expandable_block(self, pool: BlockPool, size: int, stream: int) -> Block | None:
        """A block of at least this size, made of free and newly mapped memory at the lowest possible address.
        Source: `c10/cuda/CUDACachingAllocator.cpp`, `try_allocate_expandable_block`."""
        candidate = self._find_expandable_block(pool, size, stream)
        if not candidate.mapped and not self.map_block(candidate, min(candidate.size, size)):
            return None
        while candidate.size < size:
            unmapped = candidate.next
            assert unmapped is not None, "the found blocks are large enough together"
            if not self.map_block(unmapped, min(size - candidate.size, unmapped.size)):
                return None
            candidate = unmapped  # which has merged with the free block before it
        pool.blocks.remove(candidate)
        return candidate

    def _find_expandable_block(self, pool: BlockPool, size: int, stream: int) -> Block:
        for block in sorted(pool.unmapped, key=lambda block: block.ptr):
            if block.stream != stream:
                continue
            if block.prev is not None and block.prev.is_free():
                block = block.prev
            free_size = 0
            current: Block | None = block
            while free_size < size and current is not None and current.is_free():
                free_size, current = free_size + current.size, current.next
            if free_size >= size:
                return block
        segment = ExpandableSegment(self.runtime, SMALL_BUFFER if pool.is_small else LARGE_BUFFER)
        block = Block(stream, segment.size, segment.ptr, pool, mapped=False, segment=segment)
        pool.unmapped.append(block)
        return block

    def map_block(self, block: Block, size: int) -> bool:
        """Map memory to the first pages of a block, and merge it with its neighbours."""
        assert block.segment is not None
        mapped, pool = block.segment.map(block.ptr, size), block.pool
        if not mapped:
            return False
        pool.unmapped.remove(block)
        if mapped < block.size:
            pool.unmapped.append(_cut(block, mapped))
        block.mapped, address = True, block.ptr
        for neighbour in (block.prev, block.next):
            try_merge_blocks(block, neighbour, pool)
        pool.insert(block)
        self._account("segment_map", address, mapped, block.stream)
        self.stats.update()
        return True

    def unmap_block(self, block: Block) -> None:
        """Unmap the pages that are free as a whole. Source: `c10/cuda/CUDACachingAllocator.cpp`, `unmap_block`."""
        segment, pool = block.segment, block.pool
        assert segment is not None
        ptr, size = segment.unmap(block.ptr, block.size)
        if size:
            pool.blocks.remove(block)
            if ptr > block.ptr:
                before, block = block, _cut(block, ptr - block.ptr)
                before.requested_size, block.requested_size = 0, before.requested_size
                pool.insert(before)
            if block.size > size:
                pool.insert(_cut(block, size))
            block.mapped = False
            for neighbour in (block.prev, block.next):
                try_merge_blocks(block, neighbour, pool)
            pool.unmapped.append(block)
            self._account("segment_unmap", ptr, -size, block.stream)
            self.stats.update()
            if not block.is_split():
                pool.unmapped.remove(block)

    # Inside

    def _blocks(self) -> list[Block]:
        return [*self.small_blocks.blocks, *self.large_blocks.blocks, *self.active_blocks]

    def _account(self, action: str, addr: int, change: int, stream: int) -> None:
        """Enter memory that the device gave, or got back, into the trace and the statistics."""
        self.total_allocated_memory += change
        self.stats.counts["num_device_alloc" if change > 0 else "num_device_free"] += 1
        self._record(action, addr, abs(change), stream)

    def _record(self, action: str, addr: int | None, size: int, stream: int, **others: Any) -> None:
        where = {} if addr is None else {"addr": addr}
        self.trace.append({"action": action, **where, "size": size, "stream": stream, **others})


def _state(block: Block) -> str:
    return "active_allocated" if block.allocated else "inactive" if block.is_free() else "active_pending_free"


def _cut(block: Block, size: int) -> Block:
    """Let a block keep its first bytes, and return a new block, its neighbour, with the others. Source: `Block::splice`."""
    rest = Block(
        block.stream, block.size - size, block.ptr + size, block.pool, mapped=block.mapped, segment=block.segment
    )
    rest.prev, rest.next = block, block.next
    if block.next is not None:
        block.next.prev = rest
    block.next, block.size = rest, size
    return rest


def _least_expandable(pool: BlockPool, block: Block) -> Block:
    """The size of a free block before unmapped addresses is the size that it can grow to: prefer one that cannot grow."""

    def could_be(block: Block) -> int:
        return block.size + (block.next.size if block.next is not None and not block.next.mapped else 0)

    blocks = pool.in_order()
    for other in blocks[blocks.index(block) + 1 :]:
        if other.stream != block.stream or could_be(other) >= could_be(block):
            break
        block = other
    return block


# Statistics ----------------------------------------------------------------------------------------------------------


@dataclass
class Peak:
    """A number of the statistics with the highest value that it has had."""

    current: int = 0
    peak: int = 0

    def set(self, value: int) -> None:
        self.current, self.peak = value, max(self.peak, value)


class Statistics:
    """The figures of `torch.cuda.memory_stats`, by names such as "allocated_bytes.all.peak".
    Source: `c10/core/CachingDeviceAllocator.h`."""

    COUNTS = ("num_alloc_retries", "num_device_alloc", "num_device_free", "num_ooms", "num_sync_all_streams")

    def __init__(self, allocator: CachingAllocator) -> None:
        self.allocator = allocator
        self.counts = dict.fromkeys(self.COUNTS, 0)
        self.segments = {True: 0, False: 0}  # by `is_small`
        self.peaks: dict[str, Peak] = {}
        self.update()

    def add_segment(self, pool: BlockPool, by: int) -> None:
        self.segments[pool.is_small] += by

    def update(self) -> None:
        """Count what there is now."""
        blocks = self.allocator._blocks()
        for name, keep in POOLS.items():
            mine = [block for block in blocks if keep(block.pool.is_small)]
            self._set(f"segment.{name}", sum(number for small, number in self.segments.items() if keep(small)))
            self._set(f"reserved_bytes.{name}", sum(block.size for block in mine))
            for what, is_counted in COUNTED.items():
                counted = [block for block in mine if is_counted(block)]
                self._set(f"{what}.{name}", len(counted))
                self._set(
                    f"{what.replace('allocation', 'allocated')}_bytes.{name}", sum(block.size for block in counted)
                )
            active = (block.requested_size for block in mine if block.is_active())
            self._set(f"requested_bytes.{name}", sum(active))

    def _set(self, name: str, value: int) -> None:
        self.peaks.setdefault(name, Peak()).set(value)

    def reset_peaks(self) -> None:
        for peak in self.peaks.values():
            peak.peak = peak.current

    def as_dict(self) -> dict[str, int]:
        stats = {f"{name}.{which}": value for name, peak in self.peaks.items() for which, value in vars(peak).items()}
        return stats | self.counts


POOLS: dict[str, Callable[[bool], bool]] = {
    "all": lambda small: True,
    "small_pool": lambda small: small,
    "large_pool": lambda small: not small,
}
COUNTED: dict[str, Callable[[Block], bool]] = {
    "allocation": lambda block: block.allocated,
    "active": lambda block: block.is_active(),
    "inactive_split": lambda block: block.is_free() and block.is_split() and block.segment is None,
}


def format_size(size: int) -> str:
    """Bytes as an error's text names them. Source: `c10/core/Allocator.h`, `format_size`."""
    for unit, name in ((1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB")):
        if size > unit:
            return f"{size / unit:.2f} {name}"
    return f"{size} bytes"
