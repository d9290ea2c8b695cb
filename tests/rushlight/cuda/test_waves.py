"""Tiles and waves, counted one by one."""

import itertools

import pytest
from sweep import in_one_test

from rushlight.cuda.waves import quantize

SHAPES = [(1, 1), (128, 128), (129, 128), (128, 256), (1000, 77), (2048, 1920), (257, 511)]


@in_one_test
@pytest.mark.parametrize(("m", "n"), SHAPES)
@pytest.mark.parametrize("tile", [(128, 128), (256, 128), (64, 32)])
@pytest.mark.parametrize(("multiprocessors", "blocks_each"), [(1, 1), (4, 1), (3, 2), (132, 1)])
def test_tiles_and_waves_are_those_of_a_device_that_takes_tiles_one_by_one(m, n, tile, multiprocessors, blocks_each):
    corners = [*itertools.product(range(0, m, tile[0]), range(0, n, tile[1]))]
    waves, queue = 0, list(corners)
    while queue:
        waves += 1
        del queue[: multiprocessors * blocks_each]
    found = quantize(m, n, tile, multiprocessors, blocks_each)
    assert (found.tiles, found.waves) == (len(corners), waves)
    useful = sum(min(tile[0], m - i) * min(tile[1], n - j) for i, j in corners)
    assert found.tile_efficiency == pytest.approx(useful / (len(corners) * tile[0] * tile[1]))
    assert found.wave_efficiency == pytest.approx(len(corners) / (waves * multiprocessors * blocks_each))


def test_one_more_row_costs_a_wave():
    """108 multiprocessors, tiles of 256 by 128: 12 rows and 9 columns of tiles are one full wave."""
    assert [quantize(m, 9 * 128, (256, 128), 108).waves for m in (12 * 256, 12 * 256 + 1)] == [1, 2]
