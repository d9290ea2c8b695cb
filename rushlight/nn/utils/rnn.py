"""Sequences of different lengths: padded to one tensor, or packed without padding for recurrent layers.

A packed sequence has the elements of all sequences at step 0, then those of all sequences that have a step 1, and so on. The
sequences are sorted, the longest first, so the batch of each step is a slice of the one before. In PyTorch:
`torch/nn/utils/rnn.py`, and `aten/src/ATen/native/PackedSequence.cpp`.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import partialmethod
from typing import Any, NamedTuple

import numpy as np

from rushlight.aten.generated import functions
from rushlight.aten.native import creation
from rushlight.aten.strided import Tensor
from rushlight.c10 import dtypes
from rushlight.c10.dtypes import int64
from rushlight.c10.memory_formats import contiguous_format


class _Fields(NamedTuple):
    data: Tensor
    batch_sizes: Tensor
    sorted_indices: Tensor | None
    unsorted_indices: Tensor | None


class PackedSequence(_Fields):
    """The elements, how many there are of each step, and the order of the sequences and its inverse (None if the caller sorted
    them)."""

    def __new__(
        cls, data: Tensor, batch_sizes: Tensor | None = None, sorted_indices: Tensor | None = None,
        unsorted_indices: Tensor | None = None,
    ) -> PackedSequence:  # fmt: skip
        if batch_sizes is None:
            data, batch_sizes = data
        inverse = invert_permutation(sorted_indices) if unsorted_indices is None else unsorted_indices
        return super().__new__(cls, data, batch_sizes, sorted_indices, inverse)

    def to(self, *args: Any, **kwargs: Any) -> PackedSequence:
        data = self.data.to(*args, **kwargs)
        return self if data is self.data else PackedSequence(data, *self[1:])

    cpu, cuda = partialmethod(to, "cpu"), partialmethod(to, "cuda")
    is_cuda = property(lambda self: self.data.device.type == "cuda")


for _dtype in dtypes.ALL:  # sequence.long(), sequence.float() and so on
    setattr(PackedSequence, _dtype.type_name.lower(), partialmethod(PackedSequence.to, _dtype))


def invert_permutation(permutation: Tensor | None) -> Tensor | None:
    """The permutation that undoes this one."""
    return None if permutation is None else functions.argsort(permutation)


def pack_padded_sequence(
    input: Tensor, lengths: Tensor | list[int], batch_first: bool = False, enforce_sorted: bool = True
) -> PackedSequence:
    """Pack (steps, batch, \\*), or (batch, steps, \\*) if `batch_first`, without the steps from each length on.
    Source: `torch/nn/utils/rnn.py`, `pack_padded_sequence`."""
    lengths, order = creation.as_tensor(lengths, dtype=int64), None
    input = input.transpose(0, 1) if batch_first else input
    if not enforce_sorted:
        lengths, order = functions.sort(lengths, descending=True)
        input = input.index_select(1, order)
    sizes, batch = np.array(lengths.tolist()), input.size(1)
    if input.numel() == 0:
        raise RuntimeError("Cannot pack empty tensors.")
    if sizes.size != batch:
        raise RuntimeError(f"Expected `len(lengths)` to be equal to batch_size, but got {sizes.size} ({batch=})")
    if (sizes <= 0).any():
        raise RuntimeError(
            "Length of all samples has to be greater than 0, but found an element in 'lengths' that is <= 0"
        )
    if (np.diff(sizes) > 0).any():
        raise RuntimeError("`lengths` array must be sorted in decreasing order when `enforce_sorted` is True")
    kept = np.arange(sizes[0])[:, None] < sizes
    data = input[: sizes[0]].flatten(0, 1).index_select(0, creation.tensor(np.flatnonzero(kept)))
    return PackedSequence(data, creation.tensor(kept.sum(1)), order)


def pad_packed_sequence(
    sequence: PackedSequence, batch_first: bool = False, padding_value: float = 0.0, total_length: int | None = None
) -> tuple[Tensor, Tensor]:
    """The padded tensor, in the first order of the sequences, and their lengths.
    Source: `torch/nn/utils/rnn.py`, `pad_packed_sequence`."""
    data, sizes, _, inverse = sequence
    sizes = np.array(sizes.tolist())
    steps = len(sizes) if total_length is None else total_length
    if steps < len(sizes):
        raise ValueError(
            f"Expected total_length to be at least the longest sequence, {len(sizes)}, but got {total_length}"
        )
    kept = np.zeros((steps, sizes[0]), bool)
    kept[: len(sizes)] = np.arange(sizes[0]) < sizes[:, None]
    source = np.where(kept, np.cumsum(kept).reshape(kept.shape) - 1, len(data))  # the last row is padding
    padding = functions.full_like(data[:1], padding_value)
    padded = functions.cat([data, padding]).index_select(0, creation.tensor(source.ravel())).unflatten(0, kept.shape)
    lengths = creation.tensor(kept.sum(0))
    if inverse is not None:
        padded, lengths = padded.index_select(1, inverse), lengths.index_select(0, inverse)
    return padded.transpose(0, 1).contiguous() if batch_first else padded, lengths


def pad_sequence(
    sequences: Iterable[Tensor], batch_first: bool = False, padding_value: float = 0.0, padding_side: str = "right"
) -> Tensor:
    """Sequences (steps, \\*) as one tensor (longest, batch, \\*), or with the batch first."""
    if not isinstance(sequences, Iterable):
        raise RuntimeError(
            f"pad_sequence: Expected iterable for input sequences, but got arg of type: {type(sequences)}"
        )
    sequences = tuple(sequences)
    if not sequences:
        raise RuntimeError("received an empty list of sequences")
    if padding_side not in ("left", "right"):
        raise RuntimeError(f"Expected padding_side to be one of left or right, but got {padding_side}.")
    longest = max(sequence.size(0) for sequence in sequences)
    padded = []
    for sequence in sequences:
        missing = longest - sequence.size(0)
        sides = (missing, 0) if padding_side == "left" else (0, missing)
        padded.append(functions.constant_pad_nd(sequence, [0, 0] * (sequence.dim() - 1) + [*sides], padding_value))
    return functions.stack(padded, 0 if batch_first else 1)


def unpad_sequence(padded_sequences: Tensor, lengths: Tensor, batch_first: bool = False) -> list[Tensor]:
    """The sequences of a padded tensor, each cut to its length."""
    batch, kept = padded_sequences if batch_first else padded_sequences.transpose(0, 1), lengths.tolist()
    return [row[:length].clone(memory_format=contiguous_format) for row, length in zip(batch, kept, strict=True)]


def pack_sequence(sequences: list[Tensor], enforce_sorted: bool = True) -> PackedSequence:
    """Pack sequences of different lengths: the longest first, unless `enforce_sorted` is False."""
    lengths = [sequence.size(0) for sequence in sequences]
    return pack_padded_sequence(pad_sequence(sequences), lengths, enforce_sorted=enforce_sorted)


def unpack_sequence(packed_sequences: PackedSequence) -> list[Tensor]:
    """The sequences of a packed sequence."""
    return unpad_sequence(*pad_packed_sequence(packed_sequences, batch_first=True), batch_first=True)
