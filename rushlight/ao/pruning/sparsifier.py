"""Which weights become 0. A sparsifier keeps a mask for each weight, and the layer computes with `mask * weight`.

The mask is a parametrization of the weight, so an optimiser still has the whole weight. A masked weight has norm 0 for the next
mask, so it comes back only if the level falls, as in torch.
In PyTorch: `torch/ao/pruning/sparsifier/`. Left out: conversion to other layers, loading of state dicts.
"""

from __future__ import annotations

import copy
from abc import ABC, abstractmethod
from collections import defaultdict
from collections.abc import Callable
from typing import Any

from rushlight import nn
from rushlight.aten.generated import functions
from rushlight.aten.strided import Tensor
from rushlight.autograd.grad_mode import no_grad
from rushlight.c10.dtypes import bool_
from rushlight.nn.functional import pad
from rushlight.nn.utils import parametrize


class FakeSparsity(nn.Module):
    """A parametrization: `mask * x`. The mask is not in the state dict.
    Source: `torch/ao/pruning/sparsifier/utils.py`, `FakeSparsity`."""

    def __init__(self, mask: Tensor) -> None:
        super().__init__()
        self.register_buffer("mask", mask)

    def forward(self, x: Tensor) -> Tensor:
        assert self.mask.shape == x.shape, f"mask shape ({self.mask.shape}) must match x shape ({x.shape})"
        return self.mask * x

    def state_dict(self, *args: Any, **kwargs: Any) -> dict:
        return {}


class BaseSparsifier(ABC):
    """Masks for the weights of a model. A subclass has `update_mask`. Options of a group that are missing come from `defaults`.

    Source: `torch/ao/pruning/sparsifier/base_sparsifier.py`, `BaseSparsifier`."""

    def __init__(self, defaults: dict[str, Any] | None = None) -> None:
        self.defaults = defaults or {}
        self.state: dict[str, dict] = defaultdict(dict)
        self.groups: list[dict[str, Any]] = []
        self.enable_mask_update = True

    def prepare(self, model: nn.Module, config: list[dict[str, Any]] | None) -> None:
        """Give each weight of `config` a mask of ones; with None, the weights of all linear layers. The model changes in place.
        An entry of the config has the name of the tensor, `"tensor_fqn"`, and options."""
        self.model = model
        linears = [name for name, module in model.named_modules() if type(module) is nn.Linear]
        self.config = [{"tensor_fqn": f"{name}.weight".lstrip(".")} for name in linears] if config is None else config
        for entry in self.config:
            group = copy.deepcopy(self.defaults) | entry
            path, _, name = group["tensor_fqn"].rpartition(".")
            group |= {"module_fqn": path, "module": model.get_submodule(path), "tensor_name": name}
            self.groups.append(group)
        for group in self.groups:
            mask = functions.ones_like(getattr(group["module"], group["tensor_name"])).detach()
            self.state[group["tensor_fqn"]]["mask"] = mask
            parametrize.register_parametrization(group["module"], group["tensor_name"], FakeSparsity(mask))

    @abstractmethod
    def update_mask(self, module: nn.Module, tensor_name: str, **kwargs: Any) -> None: ...

    def step(self) -> None:
        """Compute all masks again, from the weights of now."""
        if not self.enable_mask_update:
            return
        with no_grad():
            for group in self.groups:
                self.update_mask(**group)

    def squash_mask(self) -> None:
        """Make the zeros part of the weights, and remove the masks."""
        for group in self.groups:
            parametrize.remove_parametrizations(group["module"], group["tensor_name"], leave_parametrized=True)

    def mask_of(self, module: nn.Module, tensor_name: str) -> Tensor:
        return module.parametrizations[tensor_name][0].mask


class NearlyDiagonalSparsifier(BaseSparsifier):
    """Keep the `nearliness` diagonals next to the main one, an odd number. 0 keeps nothing.
    Source: `torch/ao/pruning/sparsifier/nearly_diagonal_sparsifier.py`."""

    def __init__(self, nearliness: int = 1) -> None:
        super().__init__({"nearliness": nearliness})

    def update_mask(self, module: nn.Module, tensor_name: str, nearliness: int, **kwargs: Any) -> None:
        mask = self.mask_of(module, tensor_name)
        mask.zero_()
        if nearliness <= 0:
            return
        if nearliness % 2 == 0:
            raise ValueError("nearliness can only be an odd number")
        distance, (height, width) = nearliness // 2, mask.shape
        if distance >= min(height, width):
            raise ValueError("nearliness cannot be larger than the dimensions of tensor.")
        for row in range(height):
            mask[row, max(0, row - distance) : row + distance + 1].fill_(1)


def weight_norm_mask(
    norms: Tensor, sparsity_level: float, sparse_block_shape: tuple[int, int], zeros_per_block: int
) -> Tensor:
    """Which elements of a weight stay: blocks with a small mean lose their smallest elements.

    Cut the weight into blocks of `sparse_block_shape`, from the upper left corner. The blocks at the lower and the right edge may
    be smaller.

    1. The blocks with the smallest mean norm are chosen. Their number is `round(sparsity_level * blocks)`, with Python's `round`.
       But below a level of 1, at least one block is not chosen, and at a level of 1 or more, all blocks are chosen.
    2. In each chosen block, the `zeros_per_block` smallest elements become 0. All others stay.

    Between equal means, and between equal elements, any choice is right.

    Args:
        norms: the norm of each element, not negative, (height, width), at least 1 by 1.
        sparsity_level: above 0.
        sparse_block_shape: the height and the width of a block.
        zeros_per_block: 1 to the number of elements of a block. There are smaller blocks at an edge only if it is this number: then
            a chosen block loses all its elements.

    Returns:
        a new bool tensor in the sizes of `norms`, True where an element stays. `norms` does not change.

    >>> norms = rl.tensor([[1.0, 2.0, 5.0, 6.0], [3.0, 4.0, 7.0, 8.0]])
    >>> weight_norm_mask(norms, 0.5, (2, 2), 3).tolist()
    [[False, False, True, True], [False, True, True, True]]

    Source: `torch/ao/pruning/sparsifier/weight_norm_sparsifier.py`, `WeightNormSparsifier.update_mask`.
    """
    (height, width), (block_height, block_width) = norms.shape, sparse_block_shape
    pads = (0, -width % block_width, 0, -height % block_height)
    padded = functions.stack([pad(norms, pads), pad(functions.ones_like(norms), pads)])  # the ones count elements
    columns = padded.shape[2] // block_width
    blocks = padded.reshape(-1, block_height, columns, block_width).transpose(1, 2)
    blocks = blocks.reshape(2, -1, block_height * block_width)
    sums, sizes = blocks.sum(2)
    count = len(sums) if sparsity_level >= 1 else min(round(sparsity_level * len(sums)), len(sums) - 1)
    chosen = functions.argsort(sums / sizes)[:count]
    ranks = functions.argsort(functions.argsort(blocks[0], 1), 1)  # 0 for the smallest element of a block
    stays = functions.ones_like(ranks, dtype=bool_)
    stays[chosen] = ranks[chosen] >= zeros_per_block
    mask = stays.reshape(-1, columns, block_height, block_width).transpose(1, 2).reshape(padded.shape[1:])
    return mask[:height, :width]


class WeightNormSparsifier(BaseSparsifier):
    """Blocks of weights with a small norm become 0. With `zeros_per_block=2` and blocks of 1 by 4 at a level of 1, each four
    neighbours keep two: 2:4 sparsity.

    `norm` is 1 (the absolute value), 2 (the square) or a function.
    Source: `torch/ao/pruning/sparsifier/weight_norm_sparsifier.py`, `WeightNormSparsifier`."""

    def __init__(
        self,
        sparsity_level: float = 0.5,
        sparse_block_shape: tuple[int, int] = (1, 4),
        zeros_per_block: int | None = None,
        norm: int | Callable[[Tensor], Tensor] | None = None,
    ) -> None:
        if zeros_per_block is None:
            zeros_per_block = sparse_block_shape[0] * sparse_block_shape[1]
        norm = 2 if norm is None else norm
        if not callable(norm) and norm not in (1, 2):
            raise NotImplementedError(f"L-{norm} is not yet implemented.")
        self.norm_fn = norm if callable(norm) else {1: Tensor.abs, 2: lambda x: x * x}[norm]
        options = {"sparsity_level": sparsity_level, "sparse_block_shape": sparse_block_shape}
        super().__init__(options | {"zeros_per_block": zeros_per_block})

    def update_mask(
        self,
        module: nn.Module,
        tensor_name: str,
        sparsity_level: float,
        sparse_block_shape: tuple[int, int],
        zeros_per_block: int,
        **kwargs: Any,
    ) -> None:
        values = sparse_block_shape[0] * sparse_block_shape[1]
        if zeros_per_block > values:
            what = "Number of zeros per block cannot be more than the total number of elements in that block."
            raise ValueError(what)
        if zeros_per_block < 0:
            raise ValueError("Number of zeros per block should be positive.")
        mask = self.mask_of(module, tensor_name)
        if sparsity_level <= 0 or zeros_per_block == 0:
            mask.fill_(1)
        else:
            norms = self.norm_fn(getattr(module, tensor_name).detach())
            mask.copy_(weight_norm_mask(norms, sparsity_level, sparse_block_shape, zeros_per_block))
