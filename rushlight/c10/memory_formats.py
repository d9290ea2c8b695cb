"""Memory formats: the order of a tensor's dimensions in memory.

`contiguous`, `clone` and `is_contiguous` take a memory format as an argument. PyTorch's are in
`c10/core/MemoryFormat.h`, and `torch/csrc/utils/tensor_memoryformats.cpp` gives them to Python.
The result of an operator takes its order from the operands. Left out:
`channels_last_3d`.
"""

from __future__ import annotations

from collections.abc import Sequence

__all__ = ["memory_format", "contiguous_format", "channels_last", "preserve_format"]


class memory_format:
    """The order of the dimensions in memory: `contiguous_format`, `preserve_format` and `channels_last` are the
    members. Source: `c10/core/MemoryFormat.h`."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __repr__(self) -> str:
        return f"rushlight.{self.name}"


contiguous_format = memory_format("contiguous_format")
"""The last dimension varies fastest in memory."""
channels_last = memory_format("channels_last")
"""Tensors of shape (batch, channels, height, width) with the channels next to each other in memory."""
preserve_format = memory_format("preserve_format")
"""The strides of the operand if it is dense and does not overlap, and otherwise dense strides in the operand's order of
dimensions."""


def channels_last_strides(sizes: Sequence[int]) -> tuple[int, ...]:
    """Strides that store (batch, channels, height, width) in the order batch, height, width, channels.
    Source: `c10/core/MemoryFormat.h`, `get_channels_last_strides_2d`."""
    if len(sizes) != 4:
        raise RuntimeError(f"channels_last needs a tensor of 4 dimensions, but got {len(sizes)}")
    batch, channels, height, width = sizes
    return (channels * width * height, 1, channels * width, channels)


def is_channels_last(sizes: Sequence[int], strides: Sequence[int]) -> bool:
    """Whether a tensor is stored in the order batch, height, width, channels. Unlike `is_contiguous`, false for some empty
    tensors.
    Source: `c10/core/Contiguity.h`, `_compute_channels_last_contiguous_2d`."""
    if len(sizes) != 4:
        return False
    expected = channels_last_strides(sizes)
    return all(size == 1 or stride == want for size, stride, want in zip(sizes, strides, expected))


def dense_strides(sizes: Sequence[int], *operand_strides: Sequence[int]) -> tuple[int, ...]:
    """Strides without holes for `sizes`, with the operands' order of dimensions.
    Source: `aten/src/ATen/ExpandUtils.cpp`, `infer_dense_strides`."""
    strides, step = [0] * len(sizes), 1
    for dim in reorder_dimensions(sizes, operand_strides):
        strides[dim] = step
        step *= max(sizes[dim], 1)
    return tuple(strides)


def reorder_dimensions(sizes: Sequence[int], operand_strides: Sequence[Sequence[int]]) -> tuple[int, ...]:
    """The dimensions of a loop, the fastest first, in the order that they have in the operands' memory.

    The order begins row-major: the last dimension first. Then, from the second to the last position of this order, the
    dimension at this position moves towards the front. It is compared with each dimension before it, the nearest first:

    - If the other dimension is slower, the two swap positions. The dimensions between them stay where they are.
    - If the other dimension is faster, the move ends.
    - If no operand can tell the two apart, nothing changes, and the comparison with the next one follows.

    To compare two dimensions, ask the operands in turn. An operand with stride 0 in one of the two cannot tell. Otherwise, the
    dimension with the smaller stride is faster. If the strides are equal and the size of the other dimension is larger than the
    size of the moving one, the other dimension is slower. In all other cases of equal strides this operand cannot tell. The
    first operand that can tell decides.

    Args:
        sizes: of the loop; a tuple or a list.
        operand_strides: for each operand a tuple or a list with one stride per size; 0 where it is broadcast.

    Returns:
        every dimension once, in a tuple or a list.

    >>> reorder_dimensions((2, 3, 4), [(0, 3, 1), (1, 8, 2)])
    (0, 2, 1)

    Source: `aten/src/ATen/TensorIterator.cpp`, `reorder_dimensions`.
    """
    order = list(reversed(range(len(sizes))))
    for i in range(1, len(order)):
        moving = i
        for other in reversed(range(i)):
            a, b, comparison = order[other], order[moving], 0  # negative if a is faster, 0 if no operand can tell
            for strides in operand_strides:
                if strides[a] and strides[b] and (strides[a] != strides[b] or sizes[a] > sizes[b]):
                    comparison = strides[a] - strides[b] or 1
                    break
            if comparison > 0:
                order[other], order[moving] = order[moving], order[other]
                moving = other
            elif comparison < 0:
                break
    return tuple(order)


def suggest_memory_format(sizes: Sequence[int], strides: Sequence[int]) -> memory_format:
    """The format that has a tensor's order of dimensions, with or without holes. If several match, the contiguous one.
    Source: `aten/src/ATen/core/TensorBase.h`, `suggest_memory_format`; `c10/core/MemoryFormat.h`, `is_channels_last_strides_2d`."""
    if len(sizes) != 4 or strides[1] == 0 or 0 in sizes:
        return contiguous_format
    smallest = 0
    for dim in (1, 3, 2, 0):
        if strides[dim] < smallest or dim == 0 and smallest == strides[1]:
            return contiguous_format
        smallest = strides[dim] * max(sizes[dim], 1)
    return channels_last
