"""`x[...]` and `x[...] = value`.

Every int is a `select`, every slice a `slice`, every `None` an `unsqueeze`. `...` fills up the dimensions that the key does
not mention. This basic indexing is a chain of views. The rest of the key is advanced indexing: tensors of integers, masks, and
the sequences and bools that are converted to them. It goes to the operators `index` and `index_put_`, which copy. In PyTorch:
`torch/csrc/autograd/python_variable_indexing.cpp`.
"""

import operator
from collections.abc import Sequence
from typing import Any, NoReturn

import numpy as np

from rushlight.aten import strided
from rushlight.aten.generated import functions
from rushlight.aten.native import creation
from rushlight.aten.native.views import as_view, runs_unseen
from rushlight.aten.strided import Tensor, add_attributes
from rushlight.c10.dispatch import local
from rushlight.c10.dtypes import INT64_MAX, INTEGRAL, Scalar, bool_, int64, uint8
from rushlight.c10.exception import warn
from rushlight.c10.fast_paths import fast_form_of, fastest
from rushlight.library import through_table


def getitem(self: Tensor, key) -> Tensor:
    """The elements at `key`: an int, a slice, `None`, `...`, a tensor of integers, a mask, a sequence or array of integers or
    bools, a bool, or a tuple of these. A view, unless the key has a tensor, a sequence or a bool.
    Source: `torch/csrc/autograd/python_variable_indexing.cpp`, `THPVariable_getitem`."""
    if type(key) is int and self._sizes:  # a short cut
        return _apply_select(self, 0, key, 0)
    if isinstance(key, slice):
        return _apply_slice(self, 0, key)
    if key.__class__ is tuple and len(key) <= len(self._sizes) and _BASIC.issuperset(map(type, key)):
        view, dim = self, 0  # from here on the steps of `_apply_slicing` that such a key needs
        for position, part in enumerate(key):
            if part.__class__ is int:
                view = _apply_select(view, dim, part, position)
            else:
                view = view if part == _WHOLE else _apply_slice(view, dim, part, skip_whole=True)
                dim += 1
        return functions.alias(self) if view is self else view
    if key is None:
        return self.unsqueeze(0)
    if key.__class__ is tuple and _are_indices(key) and len(key) <= len(self._sizes):
        view, indices = self, [*key]
    else:
        view, indices = _apply_slicing(self, key)
    if indices:
        return through_table(functions.index_Tensor_op, (view, indices))
    return functions.alias(self) if view is self else view


def setitem(self: Tensor, key, value: Tensor | Scalar) -> None:
    """Write `value`, broadcast, to the elements at `key`. Leading dimensions of size 1 of the value are ignored.
    Source: `torch/csrc/autograd/python_variable_indexing.cpp`, `THPVariable_setitem`."""
    if not isinstance(value, (Tensor, bool, int, float, np.integer)):
        raise TypeError(f"can't assign a {type(value).__name__} to a tensor; make it a tensor first")
    if key is False:
        return
    view, indices = (self.unsqueeze(0), []) if key is True else _apply_slicing(self, key)
    # PyTorch makes a tensor of a number in any case. Here it is made if a graph may show it.
    if not isinstance(value, Tensor) and (indices or self.requires_grad):
        full = functions.full if local.modes else creation.full  # a captured graph has the number
        value = full((), value, dtype=self.dtype, device=self.device)
    if indices:
        assert isinstance(value, Tensor)
        sizes = _trailing_sizes(value)
        value = value if len(sizes) == value.dim() else value.view(sizes)
        through_table(functions.index_put__op, (view, indices, value, False))
    elif not isinstance(value, Tensor) or value.dim() == 0 < view.dim():
        view.fill_(value)
    else:  # `copy_to` in `aten/src/ATen/TensorIndexing.h`
        value = value if value.shape == view.shape else value.view(_trailing_sizes(value))
        view.copy_(value if value.shape == view.shape else value.expand(view.shape))


def _trailing_sizes(value: Tensor) -> Sequence[int]:
    leading = next((dim for dim, size in enumerate(value.shape) if size != 1), value.dim())
    return value.shape[leading:]


# From the key to views and index tensors -----------------------------------------------------------------------------


def _apply_slicing(self: Tensor, key) -> tuple[Tensor, list[Tensor | None]]:
    """The view, made by one operator for each part of the key, and the index tensors for its dimensions. A mask is one index
    tensor for all of its dimensions. A dimension without an index has None. The list is empty if the key has no index tensors,
    and may end before the last dimensions. A slice of a whole dimension is skipped,
    unless its end is a symbol.
    Source: `torch/csrc/autograd/python_variable_indexing.cpp`, `applySlicing`."""
    keys = key if isinstance(key, tuple) else tuple(key) if _treat_sequence_as_tuple(key) else (key,)
    mentioned = sum(map(_dimensions, keys))
    if mentioned > self.dim():
        if isinstance(key, int):
            raise IndexError("invalid index of a 0-dim tensor: item() gives its number")
        raise IndexError(f"too many indices for tensor of dimension {self.dim()}")
    view, dim, indexed = self, 0, False
    indices: list[Tensor | None] = []
    for position, part in enumerate(keys):
        if part.__class__ is not slice and isinstance(part, (Sequence, np.ndarray)):
            dtype = creation._infer_dtype(part)
            part = creation.tensor(part, dtype=dtype if dtype in (uint8, bool_) else int64, device=self.device)
        index: Tensor | None = None
        passed = 1  # how many dimensions of the view this part uses
        if part.__class__ is slice:
            view = _apply_slice(view, dim, part, skip_whole=True)
        elif part is Ellipsis:
            passed = self.dim() - mentioned
        elif part is None:
            view = view.unsqueeze(dim)
        elif isinstance(part, bool) or isinstance(part, Tensor) and part.dim() == 0 and part.dtype in (uint8, bool_):
            view, index = view.unsqueeze(dim), _index_of_bool(bool(part), self)
        elif isinstance(part, Tensor) and (part.dim() or part.dtype.category != INTEGRAL):
            passed, index = _dimensions(part), part
        else:
            view, passed = _apply_select(view, dim, _as_int(part), position), 0
        dim += passed
        indices += [None] * passed if index is None else [index]
        indexed = indexed or index is not None
    return view, indices if indexed else []


def _are_indices(parts: Sequence) -> bool:
    """Whether each is a tensor that indexes one dimension."""
    return all([part.__class__ is Tensor and part.dtype is int64 and part._sizes != () for part in parts])


def _treat_sequence_as_tuple(key) -> bool:
    """Whether a list means the same as the tuple of its elements: numpy's old rule, which PyTorch has kept."""
    if not isinstance(key, Sequence) or isinstance(key, tuple) or len(key) >= 32:
        return False
    parts = (slice, Sequence, Tensor, np.ndarray)
    several = any(part is None or part is Ellipsis or isinstance(part, parts) for part in key)
    if several:
        warn("a sequence as the key is treated as a tuple of indices: use x[tuple(key)]")
    return several


def _dimensions(key) -> int:
    """How many dimensions of the tensor a part of the key indexes."""
    if key.__class__ in _BASIC:
        return 1
    if isinstance(key, Tensor):
        return key.dim() if key.dtype in (uint8, bool_) else 1
    return not (key is None or key is Ellipsis or isinstance(key, bool))


def _index_of_bool(wanted: bool, self: Tensor) -> Tensor:
    """An index for the dimension of size 1 that a bool adds."""
    index = functions.empty((int(wanted),), dtype=int64, device=self.device)
    return index.fill_(0) if wanted else index


def _as_int(key) -> int:
    try:
        return operator.index(key)
    except TypeError:
        valid = "ints, slices, `...`, None, bools, sequences and tensors"
        raise IndexError(f"only {valid} are valid indices (got {type(key).__name__})") from None


def out_of_bounds(index: int, position: int, size: int) -> IndexError:
    """PyTorch calls the position in the key a dimension. Source: `aten/src/ATen/TensorIndexing.h`, `applySelect`."""
    return IndexError(f"index {index} is out of bounds for dimension {position} with size {size}")


def _apply_select(view: Tensor, dim: int, index: int, position: int) -> Tensor:
    try:
        return functions.select_int_op.table[(view._key_set | local.included) & ~local.excluded](view, dim, index)
    except IndexError:
        raise out_of_bounds(index, position, view.size(dim)) from None


def _apply_slice(view: Tensor, dim: int, key: slice, skip_whole: bool = False) -> Tensor:
    try:
        start, end, step = key.start, key.stop, key.step
        if start.__class__ not in _PLAIN or end.__class__ not in _PLAIN or step is not None:
            start, end, step = (part if part is None else operator.index(part) for part in (start, end, step))
    except TypeError:
        raise TypeError("slice indices must be integers or None or have an __index__ method") from None
    if step is not None and step <= 0:  # a ValueError, although the operator `slice` raises RuntimeError: as in PyTorch
        raise ValueError("step must be greater than zero")
    takes_all = not start and view._sizes and (end is None or end >= view.size(dim)) and step in (None, 1)
    # a symbol is perhaps less than the size in other calls
    is_symbol = key.stop.__class__ is not int and isinstance(key.stop, int) and not isinstance(key.stop, bool)
    if takes_all and skip_whole and not is_symbol:
        return view
    return fastest[functions.slice](view, dim, start or 0, INT64_MAX if end is None else end, step or 1)


@fast_form_of(functions.slice)
def _unseen_slice(view: Tensor, dim: int, start: int, end: int, step: int) -> Tensor:
    """`slice` without the kernels of autograd, which record nothing but the base in `no_grad`."""
    if runs_unseen(("aten::slice.Tensor",), view):
        return as_view(view, fastest[strided.slice](view, dim, start, end, step))
    return functions.slice(view, dim, start, end, step)


_WHOLE, _BASIC, _PLAIN = slice(None), {slice, int}, (int, type(None))


def delitem(self: Tensor, key: Any) -> NoReturn:
    """Raise a `TypeError`, because `del x[i]` would change the size of a tensor that may share its storage."""
    raise TypeError("Tensor does not support deleting items")


add_attributes(__getitem__=getitem, __setitem__=setitem, __delitem__=delitem)
