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
    """Collate the samples of a batch, a list or a tuple. The type of the first sample decides how:

    - tensors: stacked along a new first dimension;
    - numpy arrays: stacked in the same way, as tensors of their dtype;
    - numpy's numbers and booleans (`np.number`, `np.bool_`): a tensor of their dtype, with one dimension;
    - floats: a float64 tensor with one dimension; integers and booleans: a tensor with the dtype that `tensor` gives them;
    - strings and bytes: `batch` itself;
    - instances of `collections.abc.Mapping`: for each key of the first sample, the values of all samples under that key, collated;
    - named tuples: field by field, collated, as that named tuple;
    - other instances of `collections.abc.Sequence`: index by index, collated; the samples must have equal lengths.

    The values of one key are collated as a list, the values of one field or index as a tuple. You see the difference if the
    values are strings, because then the list or tuple itself is the result.

    A mapping is returned with the type of the first sample: a copy of that sample with other values or, if the type is not
    mutable, the type called on a dict of the values. A sequence is returned with the type of the first sample in the same way,
    but a tuple becomes a list. If the type raises TypeError, the result is a plain dict or list. `_mapping_like(first, values)`
    and `_sequence_like(first, values)` do everything in this paragraph.

    Raises:
        RuntimeError: sequences of different lengths; tensors of different sizes.
        KeyError: a mapping lacks a key of the first one.
        TypeError: anything else, and numpy arrays of strings or objects.

    >>> default_collate([{"x": 1.5, "y": (1, "a")}, {"x": 2.5, "y": (2, "b")}])
    {'x': tensor([1.5000, 2.5000], dtype=rushlight.float64), 'y': [tensor([1, 2]), ('a', 'b')]}

    Source: `torch/utils/data/_utils/collate.py`, `default_collate`.
    """
    first = batch[0]
    if isinstance(first, Tensor):
        return functions.stack(batch, 0)
    if isinstance(first, np.ndarray):
        return functions.stack([creation.as_tensor(sample) for sample in batch], 0)
    if isinstance(first, (np.bool_, np.number)):
        return creation.as_tensor(batch)
    if isinstance(first, float):
        return creation.tensor(batch, dtype=float64)
    if isinstance(first, int):
        return creation.tensor(batch)
    if isinstance(first, (str, bytes)):
        return batch
    if isinstance(first, Mapping):
        return _mapping_like(first, {key: default_collate([sample[key] for sample in batch]) for key in first})
    if isinstance(first, tuple) and hasattr(first, "_fields"):
        return type(first)(*(default_collate(values) for values in zip(*batch)))
    if isinstance(first, Sequence):
        if any(len(sample) != len(first) for sample in batch):
            raise RuntimeError("each element in list of batch should be of equal size")
        return _sequence_like(first, [default_collate(values) for values in zip(*batch)])
    raise TypeError(
        f"default_collate: batch must contain tensors, numpy arrays, numbers, dicts or lists; found {type(first)}"
    )


def default_convert(data: Any) -> Any:
    """Convert the numpy arrays and numbers of one sample to tensors, also in mappings and sequences. Other values stay
    unchanged. Mappings and sequences keep their types as in `default_collate`. Arrays of strings or objects stay arrays.
    Source: `torch/utils/data/_utils/collate.py`, `default_convert`."""
    if isinstance(data, np.ndarray):
        return data if data.dtype.kind in "SaUO" else creation.as_tensor(data)
    if isinstance(data, (np.bool_, np.number)):
        return creation.as_tensor(data)
    if isinstance(data, Mapping):
        return _mapping_like(data, {key: default_convert(data[key]) for key in data})
    if isinstance(data, tuple) and hasattr(data, "_fields"):
        return type(data)(*(default_convert(item) for item in data))
    if isinstance(data, Sequence) and not isinstance(data, (str, bytes)):
        return _sequence_like(data, [default_convert(item) for item in data])
    return data


def _mapping_like(original: Mapping, values: dict) -> Mapping:
    """`values` with the type of `original`, which is copied if it is mutable, because a subclass may hold more than its items."""
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
