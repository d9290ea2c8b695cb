"""Pruning: weights that are set to 0 by a mask, which training keeps at 0. In PyTorch: `torch.ao.pruning`.

sparsifier   which weights: the smallest, blocks of them, or all far from the diagonal
scheduler    how many, step by step

Left out: pruning of rows and columns, of activations and of data. torchao has today's version of this package.
"""

# ruff: noqa: F401
from rushlight.ao.pruning.scheduler import BaseScheduler, CubicSL
from rushlight.ao.pruning.sparsifier import BaseSparsifier, FakeSparsity, NearlyDiagonalSparsifier, WeightNormSparsifier

__all__ = [
    "BaseScheduler", "BaseSparsifier", "CubicSL", "FakeSparsity", "NearlyDiagonalSparsifier", "WeightNormSparsifier",
]  # fmt: skip
