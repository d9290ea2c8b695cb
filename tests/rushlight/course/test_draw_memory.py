"""The pictures of memory fit on their paper, and say how large the blocks are."""

import pytest
from pictures import is_legible, is_whole
from sweep import sweep

import rushlight as rl
from rushlight.c10.cuda.caching_allocator import CachingAllocator

MIB = 1 << 20


def moments():
    allocator = CachingAllocator()
    blocks = [allocator.malloc(size) for size in (5 * MIB, 5 * MIB, 600 << 10, 12 * MIB)]
    before = allocator.snapshot()
    allocator.record_stream(blocks[0], 1)
    allocator.free(blocks[0])
    allocator.free(blocks[3])
    return [("four tensors", before), ("two are gone", allocator.snapshot())]


TIMES, SIZES = [5, 7, 9], [[4, 0, 1, 0, 0, 0, 0, 0], [4, 0, 1, 2, 6, 0, 0, 0], [4, 3, 1, 0, 2, 4, 1, 1]]
LOADERS = [("none", [(0, 30), (40, 70)], [10, 10]), ("two workers", [(0, 30), (40, 40)], [10, 10])]

PICTURES = {
    "a map": lambda: rl.draw.memory_map(moments()),
    "a step": lambda: rl.draw.memory_timeline(TIMES, SIZES, [("backward", 7)]),
    "a trade": lambda: rl.draw.memory_trade([("all", 9.5, 0), ("nothing", 1.0, 12)]),
    "loaders": lambda: rl.draw.batch_timeline(LOADERS),
}


@pytest.mark.parametrize("name", sweep([*PICTURES], every=6))
def test_nothing_is_cut_off(name):
    figure = PICTURES[name]()
    assert is_whole(figure) and is_legible(figure)


def test_a_map_names_the_size_of_each_segment_and_of_each_block_that_has_room():
    said = [text.get_text() for axes in rl.draw.memory_map(moments()).axes for text in axes.texts]
    assert said.count("5") == 4 and said.count("12") == 4


def test_a_loader_that_waits_is_hatched():
    [axes] = rl.draw.batch_timeline(LOADERS).axes
    assert sum(patch.get_hatch() is not None for patch in axes.patches) == 3
