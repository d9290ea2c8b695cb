"""Collate functions: one batch of tensors from a list of samples.

In PyTorch: `torch/utils/data/_utils/collate.py`. Left out: the table of functions by type (`collate`).
"""

from __future__ import annotations

from collections.abc import Mapping, MutableMapping, MutableSequence, Sequence
from copy import copy
from typing import Any

import numpy as np

from rushlight.aten.generated import functions
from rushlight.aten.native import creation
from rushlight.aten.strided import Tensor
from rushlight.c10.dtypes import float64


def default_collate(batch: Sequence) -> Any:
    """The samples of a batch, put together as what the first sample is:

    - tensors: stacked along a new first dimension;
    - numpy arrays: the same, as tensors of their dtype;
    - numpy's numbers and booleans (`np.number`, `np.bool_`): a tensor of their dtype, of one dimension;
    - floats: a tensor of one dimension, float64; integers and booleans: of the dtype that `tensor` gives them;
    - strings and bytes: `batch` itself;
    - mappings: for each key of the first sample, the values of all samples under it, collated;
    - named tuples: field by field, collated, as that named tuple;
    - other sequences: place by place, collated; the samples must be equally long.

    A mapping becomes one of the type of the first sample: a copy of that sample with other values, or, where it cannot be
    changed, what its type makes of a dict of the values. A sequence becomes one of the type of the first sample in the same way,
    but a tuple becomes a list. Where the type refuses this with a TypeError, the result is a plain dict or list. All of
    this paragraph is what `_mapping_like(first, values)` and `_sequence_like(first, values)` do.

    Raises:
        RuntimeError: sequences of different lengths; tensors of different sizes.
        KeyError: a mapping lacks a key of the first one.
        TypeError: anything else, and numpy arrays of strings or objects.

    Source: `torch/utils/data/_utils/collate.py`, `default_collate`.
    """
    first = batch[0]
    if isinstance(first, Tensor):
        return functions.stack(batch, 0)
    if isinstance(first, np.ndarray):
        return functions.stack([creation.as_tensor(each) for each in batch], 0)
    if isinstance(first, (np.bool_, np.number)):
        return creation.as_tensor(batch)
    if isinstance(first, float):
        return creation.tensor(batch, dtype=float64)
    if isinstance(first, int):
        return creation.tensor(batch)
    if isinstance(first, (str, bytes)):
        return batch
    if isinstance(first, Mapping):
        return _mapping_like(first, {key: default_collate([each[key] for each in batch]) for key in first})
    if isinstance(first, tuple) and hasattr(first, "_fields"):
        return type(first)(*(default_collate(values) for values in zip(*batch)))
    if isinstance(first, Sequence):
        if any(len(each) != len(first) for each in batch):
            raise RuntimeError("each element in list of batch should be of equal size")
        return _sequence_like(first, [default_collate(values) for values in zip(*batch)])
    raise TypeError(
        f"default_collate: batch must contain tensors, numpy arrays, numbers, dicts or lists; found {type(first)}"
    )


def default_convert(data: Any) -> Any:
    """One sample with its numpy arrays and numbers as tensors, in mappings and sequences too; all else as it is.

    Mappings and sequences keep their types as in `default_collate`. Arrays of strings or objects stay arrays.

    Source: `torch/utils/data/_utils/collate.py`, `default_convert`.
    """
    if isinstance(data, np.ndarray):
        return data if data.dtype.kind in "SaUO" else creation.as_tensor(data)
    if isinstance(data, (np.bool_, np.number)):
        return creation.as_tensor(data)
    if isinstance(data, Mapping):
        return _mapping_like(data, {key: default_convert(data[key]) for key in data})
    if isinstance(data, tuple) and hasattr(data, "_fields"):
        return type(data)(*(default_convert(each) for each in data))
    if isinstance(data, Sequence) and not isinstance(data, (str, bytes)):
        return _sequence_like(data, [default_convert(each) for each in data])
    return data


def _mapping_like(original: Mapping, values: dict) -> Mapping:
    """`values` as what `original` is: a subclass may hold more than its items, so it is copied where it can be."""
    try:
        if not isinstance(original, MutableMapping):
            return type(original)(values)
        out = copy(original)
        out.update(values)
        return out
    except TypeError:
        return values


def _sequence_like(original: Sequence, values: list) -> Sequence:
    if isinstance(original, tuple):
        return values
    try:
        if not isinstance(original, MutableSequence):
            return type(original)(values)
        out = copy(original)
        for i, value in enumerate(values):
            out[i] = value
        return out
    except TypeError:
        return values
