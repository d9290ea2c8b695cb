"""`x[...]` and `x[...] = value`: basic indexing, which is a chain of views.

Every int is a `select`, every slice a `slice`, every `None` an `unsqueeze`; `...` stands for the dimensions
that are not mentioned. PyTorch does the same in `torch/csrc/autograd/python_variable_indexing.cpp`. Left out:
advanced indexing, by tensors, lists and masks, which copies.
"""

from __future__ import annotations

import operator

import numpy as np

from rushlight import functions
from rushlight.dtypes import Scalar
from rushlight.strided import Tensor


def getitem(self: Tensor, key) -> Tensor:
    """The view that `key` names: an int, a slice, `None` or `...`, or a tuple of these.

    Source: `torch/csrc/autograd/python_variable_indexing.cpp`, `applySlicing`.
    """
    view = _walk(self, key, keep_slices=isinstance(key, slice))
    return functions.alias(self) if view is self else view


def _walk(self: Tensor, key, keep_slices: bool = False) -> Tensor:
    """The view, by one operator for each part of the key. A slice that takes all is left out, unless it is to be kept."""
    keys = key if isinstance(key, tuple) else (key,)
    for each in keys:
        _refuse_advanced(each)
    mentioned = sum(each is not None and each is not Ellipsis for each in keys)
    if isinstance(key, tuple) and mentioned > self.dim():
        raise IndexError(f"too many indices for tensor of dimension {self.dim()}")
    view, dim = self, 0
    for each in keys:
        if each is Ellipsis:
            dim += self.dim() - mentioned
        elif each is None:
            view = view.unsqueeze(dim)
            dim += 1
        elif isinstance(each, slice):
            view = _sliced(view, dim, each, keep_slices)
            dim += 1
        else:
            view = view.select(dim, operator.index(each))
    return view


def setitem(self: Tensor, key, value: Tensor | Scalar) -> None:
    """`value`, broadcast, written to the view that `key` names. Its leading dimensions of size 1 do not
    count.

    Source: `torch/csrc/autograd/python_variable_indexing.cpp`, `copy_to`.
    """
    view = _walk(self, key)
    if isinstance(value, Tensor):
        _copy_to(view, value)
    elif isinstance(value, (bool, int, float, np.generic)):
        view.fill_(value)
    else:
        raise TypeError(f"can't assign a {type(value).__name__} to a tensor; make it a tensor first")


def _copy_to(view: Tensor, value: Tensor) -> None:
    if value.shape == view.shape:
        view.copy_(value)
    elif value.dim() == 0:
        view.fill_(value)
    else:
        leading = next((dim for dim, size in enumerate(value.shape) if size != 1), value.dim())
        value = value.view(value.shape[leading:])
        view.copy_(value if value.shape == view.shape else value.expand(view.shape))


def _sliced(view: Tensor, dim: int, key: slice, keep: bool) -> Tensor:
    start, end, step = (part if part is None else operator.index(part) for part in (key.start, key.stop, key.step))
    if step is not None and step <= 0:  # a ValueError, where the operator `slice` raises RuntimeError: as in PyTorch
        raise ValueError("step must be greater than zero")
    takes_all = view.dim() and not start and (end is None or end >= view.size(dim)) and step in (None, 1)
    return view if takes_all and not keep else functions.slice(view, dim, start, end, step or 1)


def _refuse_advanced(key) -> None:
    array = isinstance(key, (Tensor, np.ndarray)) and (key.ndim or key.dtype.itemsize == 1)
    if array or isinstance(key, (list, range, bool, np.bool_)):
        raise NotImplementedError(
            "rushlight leaves out advanced indexing (by tensors, lists, masks); use ints and slices"
        )
    if not (key is None or key is Ellipsis or isinstance(key, slice) or hasattr(key, "__index__")):
        raise IndexError(f"only ints, slices, `...` and None are valid indices (got {type(key).__name__})")


Tensor.__getitem__, Tensor.__setitem__ = getitem, setitem
