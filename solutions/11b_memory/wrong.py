"""Wrong answers to lab 11b that a student might well give and that no mutant of the reference is: each fails on an edge.

A function's name is its exercise's, two underscores, and what is wrong.
"""

import math

from rushlight.amp.grad_scaler import unscale_grads, update_scale
from rushlight.aten.generated import functions
from rushlight.c10.cuda.caching_allocator import (
    MIN_BLOCK_SIZE,
    SMALL_SIZE,
    Block,
    alloc_found_block,
    find_free_block,
    malloc,
    round_size,
    try_merge_blocks,
)
from rushlight.profiler._memory_profiler import CATEGORIES, coalesce_timeline, propagate_categories
from rushlight.utils.checkpoint import CONSUMED, RECOMPUTE, call_again, load_result
from rushlight.utils.data.timeline import batch_times

from ..shared import edited

# Blocks


def round_size__next_power_of_two(size, divisions=0):
    """With divisions, it rounds up to a power of 2."""
    if divisions > 1 and size > MIN_BLOCK_SIZE * divisions:
        return 1 << (size - 1).bit_length()
    return -(-size // MIN_BLOCK_SIZE) * MIN_BLOCK_SIZE


# a multiple becomes the next one
round_size__always_one_more = edited(round_size, ("-(-size // step)", "(size // step + 1)"))
round_size__moves_borders_up = edited(
    round_size, ("-(-size // step)", "(size // step + 1 if step > MIN_BLOCK_SIZE else -(-size // step))")
)
round_size__parts_of_less_than_a_block = edited(round_size, ("MIN_BLOCK_SIZE * divisions", "2 * MIN_BLOCK_SIZE"))


def find_free_block__first_fit(pool, size, stream, settings):
    for block in pool.blocks:
        if block.stream == stream and block.size >= size:
            if size < settings.max_split_size <= block.size:
                return None
            if size >= settings.max_split_size and block.size >= size + settings.max_non_split_rounding:
                return None
            return block
    return None


find_free_block__any_stream = edited(find_free_block, ("block.stream == stream and ", ""))
find_free_block__limit_as_int = edited(
    find_free_block, ("    fitting", "    int(settings.max_split_size)\n    fitting")
)
find_free_block__a_copy = edited(
    find_free_block, ("return best", "return Block(best.stream, best.size, best.ptr, pool)")
)
find_free_block__takes_it = edited(
    find_free_block, ("    return best\n", "    best.allocated = True\n    return best\n")
)
find_free_block__counts_calls = edited(
    find_free_block, ("    fitting", "    pool.get_free_blocks_call_count += 1\n    fitting")
)


def alloc_found_block__remainder_in_front(block, size, requested_size, settings):
    """The tensor gets the last bytes of the block."""
    remaining = block.size - size
    small = block.pool.is_small or settings.expandable_segments
    if remaining >= MIN_BLOCK_SIZE if small else size < settings.max_split_size and remaining > SMALL_SIZE:
        taken = Block(
            block.stream, size, block.ptr + remaining, block.pool, prev=block, next=block.next, segment=block.segment
        )
        if block.next is not None:
            block.next.prev = taken
        block.next, block.size = taken, remaining
        block.pool.insert(block)
        block = taken
    block.allocated, block.requested_size = True, requested_size
    return block


alloc_found_block__one_way = edited(alloc_found_block, ("before.next = block", "pass"))
alloc_found_block__small_by_size = edited(alloc_found_block, ("block.pool.is_small", "size <= SMALL_SIZE"))
alloc_found_block__small_by_segment = edited(alloc_found_block, ("block.pool.is_small", "block.size <= SMALL_BUFFER"))
alloc_found_block__names_the_rest_too = edited(
    alloc_found_block, ("rest.size = remaining", "rest.size, rest.requested_size = remaining, requested_size")
)
alloc_found_block__shared_streams = edited(
    alloc_found_block, ("segment=rest.segment)", "segment=rest.segment, stream_uses=rest.stream_uses)")
)


# a block that waits for another stream is merged, if it is in a list
try_merge_blocks__only_allocated_ones_stay = edited(
    try_merge_blocks,
    ("not src.is_free()", "src.allocated"),
    ("    (pool.blocks", "    if src in pool.blocks + pool.unmapped:\n        (pool.blocks"),
)


try_merge_blocks__keeps_the_address = edited(try_merge_blocks, ("        dst.ptr = src.ptr\n", ""))
try_merge_blocks__maps = edited(
    try_merge_blocks, ("dst.size += src.size", "dst.size, dst.mapped = dst.size + src.size, True")
)
try_merge_blocks__adds_the_requests = edited(
    try_merge_blocks, ("    return src.size", "    dst.requested_size += src.requested_size\n    return src.size")
)


_OVERSIZE = """\
    if block is None and allocator.release_available_cached_blocks(pool, rounded, stream):
        block = allocator.alloc_block(pool, rounded, stream)
"""
_ERROR = "raise allocator.out_of_memory(rounded, stream)"


malloc__empties_the_cache_first = edited(malloc, (_OVERSIZE, ""))


malloc__asks_for_the_segment = edited(
    malloc, ("alloc_block(pool, rounded", "alloc_block(pool, -(-rounded // SMALL_BUFFER) * SMALL_BUFFER")
)
malloc__rounds_to_512 = edited(malloc, ("settings.divisions(size)", "0"))
malloc__one_number_of_divisions = edited(malloc, ("settings.divisions(size)", "settings.roundup_power2_divisions"))
malloc__divisions_of_the_rounded = edited(malloc, ("divisions(size)", "divisions(round_size(size))"))
malloc__no_memory_is_no_limit = edited(malloc, ("allocator.allowed is not None", "allocator.allowed"))
malloc__usual_settings = edited(malloc, ("rounded, size, settings", "rounded, size, Settings()"))
malloc__an_error_of_its_own = edited(
    malloc, (_ERROR, "raise OutOfMemoryError(str(allocator.out_of_memory(rounded, stream)))")
)
malloc__any_error = edited(malloc, (_ERROR, "allocator.out_of_memory(rounded, stream)\n        raise RuntimeError"))


def reserved_mebibytes__what_the_tensors_need(program):
    """The sum of the sizes of the tensors that are left, rounded up."""
    return {
        "example": 4, "small": 3, "own": 20, "again": 30, "lost": 12, "holes": 18, "neighbours": 18, "emptied": 8, "streams": 16,
    }[program]  # fmt: skip


# Categories


# a parameter among the inputs makes an activation too, without any input
propagate_categories__all_inputs = edited(
    propagate_categories,
    ('categories & {"input", "activation"}', "categories"),
    ("{*from_input, ", '{"input", "activation", '),
)
propagate_categories__after_temporaries = edited(
    propagate_categories, ('(None, "autograd_detail")', '(None, "autograd_detail", "temporary")')
)
propagate_categories__all_versions_before = edited(
    propagate_categories,
    (
        "assigned.get((key, version - 1)) in",
        "next((assigned[key, v] for v in range(version) if (key, v) in assigned), None) in",
    ),
)
propagate_categories__first_version = edited(
    propagate_categories, ("assigned.get((key, version - 1))", "version and assigned.get((key, 0)) or None")
)


def propagate_categories__one_walk(nodes, known):
    """Both rules in one walk: a detail of autograd is then seen by the first rule."""
    assigned = dict(known)
    for node in nodes:
        if node.is_backward:
            for key, version in node.outputs:
                if assigned.get((key, version - 1)) in (None, "autograd_detail"):
                    assigned.setdefault((key, version), "autograd_detail")
            continue
        categories = {assigned.get(value) for value in node.inputs} - {"autograd_detail"}
        if categories & {"input", "activation"} and categories <= {"input", "activation", "parameter", "temporary"}:
            for value in node.outputs:
                assigned.setdefault(value, "activation")
    return assigned


# a key that was created twice is gone after the first destroy
coalesce_timeline__a_key_lives_once = edited(
    coalesce_timeline,
    ("times, sizes, last, now =", "live = set()\n    times, sizes, last, now ="),
    ('"destroy"):\n', '"destroy") and key in live:\n            live.remove(key)\n'),
    ('"destroy":\n', '"destroy":\n            live.add(key)\n'),
)
# the bytes that each moment adds, not those that there are
coalesce_timeline__changes = edited(coalesce_timeline, ("now := [*now]", "now := [0] * len(CATEGORIES)"))


# a write in place changes nothing
coalesce_timeline__ignores_versions = edited(
    coalesce_timeline, ('version += action == "increment_version"', "version += 0")
)
coalesce_timeline__keeps_a_category = edited(
    coalesce_timeline,
    (
        "categories.get((key, version)))] += size",
        "categories.get((key, version), categories.get((key, version - 1))))] += size",
    ),
)


def coalesce_timeline__what_is_live(events, categories):
    """It adds up the live tensors by their keys. Memory of no tensor has one key, but there may be several pieces."""
    sizes, live = {}, {}
    for time, action, (key, version), size in events:
        live[key] = version + (action == "increment_version"), size
        if action == "destroy":
            del live[key]
        sizes[time] = [0] * len(CATEGORIES)
        for other, (at, bytes_) in live.items():
            sizes[time][CATEGORIES.index(categories.get((other, at)))] += bytes_
    first = min((time for time in sizes if time != -1), default=-1)
    return [first if time == -1 else time for time in sizes], [*sizes.values()]


# Memory against time


# the memory of the entry is not freed
call_again__keeps_the_result = edited(call_again, ("    cache[func, number] = CONSUMED\n", ""))
call_again__takes_none_for_no_entry = edited(
    call_again, ("(func, number) not in cache", "cache.get((func, number)) is None")
)
call_again__counts_results = edited(
    call_again,
    ("    counts[func] = number + 1\n", ""),
    (
        "    if (func, number) not in cache:",
        "    if cache.get((func, number)) is not RECOMPUTE:\n        counts[func] = number + 1\n"
        "    if (func, number) not in cache:",
    ),
    (
        "        return func(*args, **kwargs)",
        "        result = func(*args, **kwargs)\n        counts[func] = number + 1\n        return result",
    ),
)


def call_again__counts_all_operators(cache, counts, func, args, kwargs):
    """One number for all operators."""
    number = sum(counts.values())
    counts[func] = counts.get(func, 0) + 1
    entry = cache.get((func, number))
    if entry is None or entry is CONSUMED:
        raise RuntimeError
    if entry is RECOMPUTE:
        return func(*args, **kwargs)
    cache[func, number] = CONSUMED
    return load_result(entry)


def unscale_grads__stops(grads, scale):
    """The gradients after a bad one stay as they are."""
    inverse = scale.double().reciprocal().float()
    for grad in grads:
        if not functions.isfinite(grad).all().item():
            return True
        grad.mul_(inverse)
    return False


# the list has new tensors, and those that the parameters hold stay as they are
unscale_grads__new_tensors = edited(
    unscale_grads,
    ("for grad in grads:", "for i, grad in enumerate(grads):"),
    ("grad.mul_(inverse)", "grads[i] = grad * inverse"),
)
unscale_grads__only_inf = edited(
    unscale_grads, ("not functions.isfinite(grad).all()", '(grad.abs() == float("inf")).any()')
)
unscale_grads__of_the_sum = edited(unscale_grads, ("isfinite(grad).all()", "isfinite(grad.sum())"))
unscale_grads__as_float32 = edited(unscale_grads, ("isfinite(grad)", "isfinite(grad.float())"))
unscale_grads__a_tensor = edited(unscale_grads, (".all().item()", ".all()"), ("or not ", "| ~"), ("False", "scale < 0"))
unscale_grads__a_number = edited(unscale_grads, ("return found_inf", "return float(found_inf)"))
unscale_grads__in_float64 = edited(unscale_grads, (".reciprocal().float()", ".reciprocal()"))


update_scale__grows_to_infinity = edited(update_scale, ("if functions.isfinite(grown).item():", "if True:"))


# a bad step does not begin the interval again
update_scale__keeps_the_count = edited(
    update_scale,
    ("scale.mul_(backoff_factor)\n        return 0", "scale.mul_(backoff_factor)\n        return growth_tracker"),
)
update_scale__divides_by_growth = edited(update_scale, ("scale.mul_(backoff_factor)", "scale.div_(growth_factor)"))


def batch_times__the_first_free_worker(load, step, num_workers, prefetch_factor=2):
    """A batch goes to whichever worker is free first."""
    times, asked, done = [], 0, [0] * num_workers
    for i, each in enumerate(load):
        if num_workers:
            ahead = prefetch_factor * num_workers
            worker = min(range(num_workers), key=done.__getitem__)
            done[worker] = max(times[i - ahead][1] if i >= ahead else 0, done[worker]) + each
            got = max(asked, done[worker])
        else:
            got = asked + each
        times.append((asked, got))
        asked = got + step[i]
    return times


# the workers never wait to be told
batch_times__far_ahead = edited(batch_times, ("if i >= ahead else 0", "if i < 0 else 0"))
batch_times__ahead_of_itself = edited(
    batch_times, ("got = asked + load[i]", "got = asked + load[i] - (step[i - 1] if i and prefetch_factor > 1 else 0)")
)


def round_size__in_floats(size, divisions=0):
    """A quotient and a logarithm are numbers of float64."""
    step = 512
    if divisions > 1 and size > 512 * divisions:
        step = 2 ** int(math.log2(size)) // divisions
    return math.ceil(size / step) * step
