"""Lab 11b, blocks: how large they are, which one serves a request, how one is split, and how two become one."""

from __future__ import annotations

import math

from ...engine.check import program
from ..cases import drawn, field, first_apart, rows, several, type_name, when

KIB, MIB = 1 << 10, 1 << 20


# Sizes ---------------------------------------------------------------------------------------------------------------


def _size(st):
    near = st.builds(
        lambda power, by: max((1 << power) + by, 1), st.integers(0, 34), st.sampled_from([-1, 0, 1, 511, 512, 513])
    )
    return st.one_of(near, st.integers(1, 1 << 14), st.integers(1, 1 << 34))


@program(
    "c10.cuda.caching_allocator.round_size",
    cases=drawn(sizes=several(_size, 1, 4), divisions=[0, 0, 1, 2, 4, 8, 16]),
    edges=rows("sizes divisions", *(
        ([1], 0), ([511, 512, 513], 0), ([1024, 1025], 0), ([5000], 0), ([5000], 1), ([5000], 4), ([4096, 8192], 4),
        ([2047, 2048, 2049], 4), ([1023, 1024, 1025], 2), ([7169, 8191], 4), ([4097, 5120, 5121], 4), ([600], 8),
        ([3239531741, 250], 2),
        ([1100, 1822], 8), ([10 * MIB + 1], 8), ([10 * MIB + 1], 0), ([3 * (1 << 30) + 7], 16), ([100, 512], 4), ([1537], 2),
        ([2**60 + 1], 0), ([2**60 + 1], 4),
    )),
    hint=lambda case, mine, theirs: _about_sizes(case, mine, theirs),
)  # fmt: skip
def rounded(rl, sizes, divisions):
    results = [rl.c10.cuda.caching_allocator.round_size(size, divisions) for size in sizes]
    if divisions == 0:
        results += [rl.c10.cuda.caching_allocator.round_size(size) for size in sizes]
    return {"types": [*map(type_name, results)], "sizes": results}


def _about_sizes(case, mine, theirs):
    if first_apart(mine, theirs) != "sizes":
        return None
    rounded = zip(case["sizes"] * 2, field(mine, "sizes"), field(theirs, "sizes"))
    size, wrong, right = next(each for each in rounded if each[1] != each[2])
    is_divided = case["divisions"] > 1 and size > 512 * case["divisions"]
    if size == right:
        return "a size that is a border stays" if is_divided else "a size that is a multiple of 512 stays"
    if is_divided:
        return "the borders divide the interval between two powers of 2 into `divisions` equal parts"
    return (
        "a request of 512 * divisions bytes or less becomes a multiple of 512, as without divisions"
        if case["divisions"] > 1
        else None
    )


@rounded.oracle
def _(torch, sizes, divisions):
    results = [_next_border(size, divisions) for size in sizes] * (1 + (divisions == 0))
    return {"types": ["int"] * len(results), "sizes": results}


def _next_border(size, divisions):
    """The first border that is not below the size: multiples of 512, or the parts between two powers of 2."""
    if divisions > 1 and size > 512 * divisions:
        power = 512
        while power * 2 <= size:
            power *= 2
        return next(
            power + power * part // divisions
            for part in range(divisions + 1)
            if power * (divisions + part) >= size * divisions
        )
    return 512 * max(1, (size - 1) // 512 + 1)


# The best fit --------------------------------------------------------------------------------------------------------

FAR = 0  # a max_split_size that no block has: infinity, as in `Settings()`


@program(
    "c10.cuda.caching_allocator.find_free_block",
    cases=drawn(
        blocks=lambda st: st.lists(st.tuples(st.integers(0, 2), st.integers(1, 8)).map(list), max_size=6),
        order=lambda st: st.integers(0, 5), size=(1, 8), stream=(0, 2), max_split=[FAR, FAR, 2, 4, 6], rounding=[1, 2, 3, 40],
    ),
    edges=rows("blocks order size stream max_split rounding", *(
        ([], 0, 1, 0, FAR, 40), ([[0, 2]], 0, 1, 0, FAR, 40), ([[0, 2]], 0, 2, 0, FAR, 40), ([[0, 2]], 0, 3, 0, FAR, 40),
        ([[1, 2]], 0, 1, 0, FAR, 40), ([[0, 2]], 0, 1, 1, FAR, 40), ([[0, 2]], 0, 1, 2, FAR, 40),
        ([[0, 8], [0, 3], [0, 5]], 0, 2, 0, FAR, 40), ([[0, 8], [0, 3], [0, 5]], 0, 4, 0, FAR, 40),
        ([[0, 4], [0, 4], [0, 4]], 0, 2, 0, FAR, 40), ([[0, 4], [0, 4], [0, 4]], 1, 2, 0, FAR, 40),
        ([[0, 4], [0, 4], [0, 4]], 2, 2, 0, FAR, 40), ([[1, 3], [0, 5], [2, 2]], 0, 2, 0, FAR, 40),
        ([[1, 3], [0, 5], [2, 2]], 1, 2, 1, FAR, 40), ([[0, 6], [0, 5]], 0, 3, 0, 4, 40), ([[0, 4]], 0, 3, 0, 4, 40),
        ([[0, 3]], 0, 3, 0, 4, 40), ([[0, 4]], 0, 4, 0, 4, 40), ([[0, 5]], 0, 4, 0, 4, 2), ([[0, 6]], 0, 4, 0, 4, 2),
        ([[0, 7]], 0, 4, 0, 4, 2), ([[0, 7]], 0, 5, 0, 4, 2), ([[0, 7], [0, 8]], 0, 6, 0, 4, 2), ([[0, 8]], 0, 2, 0, FAR, 2),
        ([[0, 4]], 0, 2, 0, 6, 2), ([[0, 3], [0, 8]], 1, 2, 0, 6, 2), ([[0, 8], [0, 6]], 0, 5, 0, 5, 1),
        ([[0, 5], [0, 6]], 1, 5, 0, 5, 1), ([[2, 4], [1, 4], [0, 4]], 0, 4, 1, FAR, 40), ([[0, 4], [0, 8]], 0, 3, 0, 4, 40),
    )),
    hint=lambda case, mine, theirs: (
        "which blocks may serve a request that is below max_split_size, and which one that is not?"
        if case["max_split"] and first_apart(mine, theirs) in ("a block is found", "block")
        else None
    ),
    show=lambda torch, **case: _shown_search(**case),
)  # fmt: skip
def free_block(rl, blocks, order, size, stream, max_split, rounding):
    names = rl.c10.cuda.caching_allocator
    pool = names.BlockPool(is_small=True)
    for stream_of, units, ptr in _placed(blocks, order):
        pool.blocks.append(names.Block(stream_of, units * 512, ptr, pool))
    before = [*pool.blocks]
    settings = names.Settings(_bytes(max_split), max_non_split_rounding=rounding * 512)
    block = names.find_free_block(pool, size * 512, 1000 * stream, settings)
    same = (
        pool.blocks == before
        and pool.get_free_blocks_call_count == 0
        and all(block_before.is_free() for block_before in before)
    )
    return {
        "a block is found": block is not None,
        "block": block and {"stream": block.stream, "size": block.size, "ptr": block.ptr},
        "it is the pool's own": block is None or block in before,
        "the pool is as before": same,
    }


def _shown_search(blocks, order, size, stream, max_split, rounding):
    made = ", ".join(
        f"Block({stream_of}, {512 * units}, {ptr:#x}, pool)" for stream_of, units, ptr in _placed(blocks, order)
    )
    limits = [f"max_split_size={512 * max_split}"] * (max_split != FAR) + [f"max_non_split_rounding={512 * rounding}"]
    return "\n".join([
        "pool = BlockPool(is_small=True)",
        f"pool.blocks += [{made}]",
        f"find_free_block(pool, {512 * size}, {1000 * stream}, Settings({', '.join(limits)}))",
    ])  # fmt: skip


@free_block.oracle
def _(torch, blocks, order, size, stream, max_split, rounding):
    """The search in a sorted set, as it is written in C++."""
    in_order = sorted((stream_of, units, ptr) for stream_of, units, ptr in _placed(blocks, order))
    at = next((i for i, key in enumerate(in_order) if key >= (1000 * stream, size, -1)), len(in_order))
    block = in_order[at] if at < len(in_order) and in_order[at][0] == 1000 * stream else None
    if block and max_split and block[1] >= (max_split if size < max_split else size + rounding):
        block = None
    chosen = block and {"stream": block[0], "size": block[1] * 512, "ptr": block[2]}
    return {
        "a block is found": block is not None,
        "block": chosen,
        "it is the pool's own": True,
        "the pool is as before": True,
    }


def _bytes(max_split):
    return max_split * 512 if max_split else math.inf


def _placed(blocks, order):
    """Each block with an address; the addresses rise, fall, or neither, and the lowest is not 0 in every order."""
    ptrs = [0x10000 * ((i * (1, 5, 3)[order % 3] + order) % 7) for i in range(len(blocks))]
    return [(1000 * stream, units, ptr) for (stream, units), ptr in zip(blocks, ptrs, strict=True)]


# Split ---------------------------------------------------------------------------------------------------------------


@program(
    "c10.cuda.caching_allocator.alloc_found_block",
    cases=drawn(
        before=bool, after=bool, small=bool, expandable=bool, size=[1, 2, 3, 2048, 2049, 4096], remaining=[0, 1, 2, 2047,
        2048, 2049, 4096],
        max_split=[FAR, FAR, 2, 2049, 4096], requested=(1, 512), stream=(0, 2),
    ),
    edges=rows("before after small expandable size remaining max_split requested stream", *(
        (False, False, True, False, 1, 0, FAR, 100, 0), (False, False, True, False, 1, 1, FAR, 100, 0),
        (False, False, True, False, 1, 3, FAR, 100, 0), (True, False, True, False, 2, 1, FAR, 7, 1),
        (False, True, True, False, 2, 1, FAR, 7, 1), (True, True, True, False, 2, 1, FAR, 7, 1),
        (True, True, True, False, 2, 0, FAR, 7, 2),
        (True, True, True, False, 2, 1, 2, 7, 1), (False, False, False, False, 2049, 2048, FAR, 9, 0),
        (False, False, False, False, 2049, 2049, FAR, 9, 0), (True, True, False, False, 2049, 2049, FAR, 9, 0),
        (False, False, False, False, 2049, 4096, 2049, 9, 0), (False, False, False, False, 2049, 4096, 4096, 9, 0),
        (False, False, False, False, 4096, 2049, 4096, 9, 0), (False, False, False, False, 4096, 2047, FAR, 9, 0),
        (False, False, False, False, 4096, 1, FAR, 9, 0), (False, False, False, True, 2049, 1, FAR, 9, 0),
        (False, False, False, True, 2049, 0, FAR, 9, 0), (True, True, False, True, 4096, 2047, 2049, 9, 1),
        (False, False, True, True, 1, 2, FAR, 512, 0), (False, False, False, False, 1, 2048, FAR, 9, 0),
        (False, True, True, False, 4096, 1, FAR, 9, 0),
    )),
)  # fmt: skip
def taken(rl, before, after, small, expandable, size, remaining, max_split, requested, stream):
    names = rl.c10.cuda.caching_allocator
    pool = names.BlockPool(is_small=small, get_free_blocks_call_count=5)
    segment = ["a segment"]
    sizes = ([4] if before else []) + [size + remaining] + ([4] if after else [])
    blocks = chain(names, pool, [(number * 512, "allocated", True) for number in sizes], stream)
    block = blocks[before]
    block.allocated, block.segment = False, segment
    settings = names.Settings(_bytes(max_split), expandable_segments=expandable)
    result = names.alloc_found_block(block, size * 512, requested, settings)
    used_elsewhere = [*result.stream_uses]
    result.stream_uses.append(9)
    return {
        "the result": [result.ptr, result.size, result.allocated, result.requested_size],
        "the segment": [[part.ptr, part.size, part.allocated, part.stream] for part in linked(result)],
        "pool": [[part.ptr, part.size, part.gc_count_base, part is block] for part in pool.blocks],
        "of the result": [result.pool is pool, result.segment is segment, result.mapped, result.event_count, used_elsewhere],
        "of the others": [[part.requested_size, part.stream_uses] for part in linked(result) if part is not result],
    }  # fmt: skip


@taken.oracle
def _(torch, before, after, small, expandable, size, remaining, max_split, requested, stream):
    least = 1 if small or expandable else 2049
    split = remaining >= least and (small or expandable or not max_split or size < max_split)
    parts = [size, remaining] if split else [size + remaining]
    states = [(4, True)] * before + [(parts[0], True)] + [(state, False) for state in parts[1:]] + [(4, True)] * after
    segment, at = [], 0x1000
    for units, allocated in states:
        segment.append([at, units * 512, allocated, stream])
        at += units * 512
    ptr, whole, _, _ = segment[before]
    return {
        "the result": [ptr, whole, True, requested],
        "the segment": segment,
        "pool": [[ptr + size * 512, remaining * 512, 5, True]] if split else [],
        "of the result": [True, True, True, 0, []],
        "of the others": [[0, []]] * (len(segment) - 1),
    }


def chain(names, pool, described, stream=0):
    """Linked blocks, each of a size, in a state, and mapped or not. Free blocks are in the pool."""
    blocks, at = [], 0x1000
    for size, state, mapped in described:
        block = names.Block(stream, size, at, pool, mapped=mapped)
        block.allocated = state == "allocated"
        block.event_count = int(state == "waits for an event")
        block.stream_uses = [3] if state == "is used elsewhere" else []
        if block.is_free():
            (pool.blocks if mapped else pool.unmapped).append(block)
        if blocks:
            block.prev, blocks[-1].next = blocks[-1], block
        blocks.append(block)
        at += size
    return blocks


def linked(block):
    """The blocks of a segment from the first to the last. The links back must say the same."""
    for _ in range(20):
        block = block.prev or block
    blocks = [block]
    while blocks[-1].next is not None and len(blocks) < 20:
        blocks.append(blocks[-1].next)
    for before, after in zip([None, *blocks], blocks):
        assert after.prev is before, "two neighbours disagree about their links"
    return blocks


# Merge ---------------------------------------------------------------------------------------------------------------

STATES = ["free", "allocated", "waits for an event", "is used elsewhere"]


@program(
    "c10.cuda.caching_allocator.try_merge_blocks",
    cases=drawn(
        states=several(lambda st: st.one_of(st.just("free"), st.sampled_from(STATES)), 1, 4), at=(0, 3), right=bool,
        unmapped=several((0, 3), 0, 3, unique=True),
    ),
    edges=rows("states at right unmapped", *(
        (states, at, right, unmapped) for states, at, unmapped in (
            (["free"], 0, []), (["free", "free"], 0, []), (["free", "free"], 1, []), (["allocated", "free"], 1, []),
            (["free", "allocated"], 0, []), (["waits for an event", "free", "waits for an event"], 1, []),
            (["is used elsewhere", "free", "is used elsewhere"], 1, []), (["free", "free", "free"], 1, []),
            (["allocated", "free", "free", "allocated"], 1, []), (["allocated", "free", "free", "allocated"], 2, []),
            (["free", "free", "free", "free"], 1, []), (["free", "free", "free", "free"], 2, []),
            (["free", "free", "free"], 1, [0]), (["free", "free", "free"], 1, [2]), (["free", "free", "free"], 1, [1]),
            (["free", "free", "free"], 1, [0, 1]), (["free", "free", "free"], 1, [1, 2]), (["free", "free"], 0, [0, 1]),
        ) for right in (False, True)
    )),
    hint=when(lambda case: case["unmapped"], "memory does not merge with mere addresses, and these are in `pool.unmapped`"),
)  # fmt: skip
def merged(rl, states, at, right, unmapped):
    names = rl.c10.cuda.caching_allocator
    pool, at = names.BlockPool(is_small=True), at % len(states)
    described = [(512 << i, state, i not in unmapped) for i, state in enumerate(states)]
    described[at] = (512 << at, "allocated", at not in unmapped)  # it is in no list
    blocks = chain(names, pool, described)
    for block in blocks:
        block.requested_size = 100
    dst = blocks[at]
    dst.allocated = False
    result = names.try_merge_blocks(dst, dst.next if right else dst.prev, pool)
    return {
        "result": [type_name(result), result],
        "else of dst": [dst.stream, dst.requested_size, dst.is_free()],
        "the segment": [[part.ptr, part.size, part is dst, part.mapped] for part in linked(dst)],
        "free": sorted([part.ptr, part.size] for part in pool.blocks),
        "unmapped": sorted([part.ptr, part.size] for part in pool.unmapped),
    }


@merged.oracle
def _(torch, states, at, right, unmapped):
    at, start, parts = at % len(states), 0x1000, []
    for i, state in enumerate(states):  # a list for each block: its address, size, and what it is
        parts.append([start, 512 << i, i == at, i == at or state != "free", i in unmapped])
        start += 512 << i
    other = at + 1 if right else at - 1
    size = 0
    if 0 <= other < len(parts) and not parts[other][3] and parts[other][4] == parts[at][4]:
        size = parts[other][1]
        parts[at][0] = min(parts[at][0], parts[other][0])
        parts[at][1] += size
        del parts[other]
    return {
        "result": ["int", size],
        "else of dst": [0, 100, True],
        "the segment": [[*part[:3], not part[4]] for part in parts],
        "free": sorted(part[:2] for part in parts if not part[3] and not part[4]),
        "unmapped": sorted(part[:2] for part in parts if not part[3] and part[4]),
    }
