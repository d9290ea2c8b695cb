"""How much of a GPU a matrix product uses: tiles and waves.

A kernel for a matrix product cuts the result into *tiles* of a fixed size. A thread block computes one tile, and a multiprocessor
computes one or a few thread blocks at a time. So the tiles come in *waves*, and in the last wave most of the device may be idle.
One more row can cost a whole wave.

In PyTorch the library decides: cuBLAS, or the template of Inductor (`torch/_inductor/kernel/mm.py`), whose grid has one program
for each tile. Left out: split-k and stream-k kernels, and caches.
"""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Waves", "quantize"]


@dataclass(frozen=True)
class Waves:
    """`tiles` and `waves` are counts; the two shares are between 0 and 1."""

    tiles: int
    waves: int
    tile_efficiency: float
    wave_efficiency: float


def quantize(
    m: int, n: int, tile: tuple[int, int] = (128, 128), multiprocessors: int = 108, blocks_each: int = 1
) -> Waves:
    """Tiles and waves for a result of `m` times `n` elements.

    A tile has `tile[0]` rows and `tile[1]` columns. The tiles cover the result as a grid. Those at the right and at the lower edge
    may extend beyond it, but each tile takes its full time. A wave has `blocks_each` places for a tile on each of the
    `multiprocessors`, and only the last wave may have places without a tile.

    Returns:
        `Waves(tiles, waves, tile_efficiency, wave_efficiency)`. `tile_efficiency` is the share of the elements in all tiles that
        belong to the result. `wave_efficiency` is the share of the places in all waves that have a tile.

    >>> quantize(1024, 1024, multiprocessors=60)
    Waves(tiles=64, waves=2, tile_efficiency=1.0, wave_efficiency=0.5333333333333333)

    Source: NVIDIA's "Matrix Multiplication Background User's Guide", "Tile Quantization" and "Wave Quantization".
    """
    tiles = -(-m // tile[0]) * -(-n // tile[1])
    places = multiprocessors * blocks_each
    waves = -(-tiles // places)
    return Waves(tiles, waves, m * n / (tiles * tile[0] * tile[1]), tiles / (waves * places))
