"""Synthetic digits: 10 x 10 images of a small font, at random places, with noise."""

from framework import torch

FONT = """
.###. ..#.. .###. .###. ...#. ##### ..##. ##### .###. .###.
#...# .##.. #...# #...# ..##. #.... .#... ....# #...# #...#
#..## ..#.. ....# ....# .#.#. ####. #.... ...#. #...# #...#
#.#.# ..#.. ...#. ..##. #..#. ....# ####. ..#.. .###. .####
##..# ..#.. ..#.. ....# ##### ....# #...# ..#.. #...# ....#
#...# ..#.. .#... #...# ...#. #...# #...# ..#.. #...# ...#.
.###. .###. ##### .###. ...#. .###. .###. ..#.. .###. .##..
"""
SIDE = 10


def placed() -> torch.Tensor:
    """Every digit at every place: (10, 24, 10, 10)."""
    rows = [line.split() for line in FONT.split("\n") if line]
    glyphs = torch.tensor([[[float(c == "#") for c in row[digit]] for row in rows] for digit in range(10)])
    images = torch.zeros(10, 24, SIDE, SIDE)
    for place in range(24):
        down, right = divmod(place, 6)
        images[:, place, down : down + 7, right : right + 5] = glyphs
    return images


def digits(count: int, noise: float = 0.3) -> tuple[torch.Tensor, torch.Tensor]:
    """Images (count, 1, 10, 10) and labels (count,)."""
    labels, places = torch.randint(0, 10, (count,)), torch.randint(0, 24, (count,))
    images = placed()[labels, places]
    return (images + noise * torch.randn(images.shape)).unsqueeze(1), labels


def tiled(images: torch.Tensor, columns: int) -> list[list[float]]:
    """Images (n, 10, 10), n a multiple of `columns`, as one large picture."""
    rows = images.reshape(-1, columns, SIDE, SIDE).permute(0, 2, 1, 3)
    return rows.reshape(-1, columns * SIDE).tolist()
