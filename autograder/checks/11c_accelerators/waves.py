"""Lab 11c, tiles and waves of a matrix product."""

from __future__ import annotations

from importlib import import_module

from ...engine.check import program
from ..cases import drawn, explained, listed, rows


@program(
    "cuda.waves.quantize",
    cases=drawn(
        m=(1, 900), n=(1, 900), tile=listed([64, 128, 256, 7], [32, 128, 256]), multiprocessors=[1, 4, 7, 108], blocks_each=(1, 3)
    ),
    edges=rows("m n tile multiprocessors blocks_each", *(
        (1, 1, [128, 128], 108, 1), (128, 128, [128, 128], 1, 1), (129, 128, [128, 128], 1, 1), (128, 129, [128, 128], 4, 1),
        (256, 512, [64, 128], 4, 1), (256, 512, [64, 128], 16, 1), (257, 512, [64, 128], 16, 1), (512, 257, [64, 128], 7, 2),
        (100, 900, [256, 32], 7, 3), (900, 100, [256, 32], 4, 2), (1024, 1024, [128, 128], 108, 1),
        (3072, 1152, [256, 128], 108, 1),         (3073, 1152, [256, 128], 108, 1), (20, 20, [7, 32], 2, 1),
        (1, 300, [128, 128], 3, 1),
    )),
    hint=explained(
        tiles="a tile that extends beyond the result is a tile; count the rows of tiles and the columns by themselves",
        waves="a wave has `blocks_each` tiles for each multiprocessor. The last wave may have places without a tile, "
        "but no wave is without a tile",
        tile_efficiency="the elements of the result, divided by those of all tiles",
        wave_efficiency="the tiles, divided by the places of all waves",
    ),
)  # fmt: skip
def quantized(rl, m, n, tile, multiprocessors, blocks_each):
    waves = import_module(f"{rl.__name__}.cuda.waves")
    usual = {"tile": (128, 128), "multiprocessors": 108, "blocks_each": 1}
    given = {"tile": tuple(tile), "multiprocessors": multiprocessors, "blocks_each": blocks_each}
    quantized = waves.quantize(m, n, **{name: value for name, value in given.items() if value != usual[name]})
    counts = {"tiles": quantized.tiles, "waves": quantized.waves}
    return counts | {"tile_efficiency": quantized.tile_efficiency, "wave_efficiency": quantized.wave_efficiency}


@quantized.oracle
def _(torch, m, n, tile, multiprocessors, blocks_each):
    """The tiles are dealt one by one. A tile that finds no place begins a wave."""
    tiles, waves, places, useful = 0, 0, 0, 0
    for top in range(0, m, tile[0]):
        for left in range(0, n, tile[1]):
            if not places:
                waves, places = waves + 1, multiprocessors * blocks_each
            tiles, places = tiles + 1, places - 1
            useful += min(tile[0], m - top) * min(tile[1], n - left)
    shares = {"tile_efficiency": useful / (tiles * tile[0] * tile[1]), "wave_efficiency": tiles / (tiles + places)}
    return {"tiles": tiles, "waves": waves} | shares
