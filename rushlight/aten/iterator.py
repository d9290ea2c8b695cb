"""TensorIterator: one loop for every operator that works element by element.

TensorIterator prepares the operands before the loop. It broadcasts their sizes, promotes their dtypes, and allocates a result
whose strides follow theirs. It sorts the dimensions so that the loop reads memory in order, and joins neighbouring dimensions
where one stride is enough. A short loop over raw memory remains. This module decides which memory the loop reads, and in which
order. numpy runs the loop. In PyTorch: `aten/src/ATen/TensorIterator.cpp`. Left out: splitting the loop over threads, 32-bit
indexing, named dimensions.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import Any, NamedTuple, NoReturn

import numpy as np

from rushlight.aten import strided
from rushlight.aten.strided import Size, Tensor, has_internal_overlap, infer_size, non_overlapping_and_dense, size_of
from rushlight.c10 import fast_paths
from rushlight.c10.dispatch import local
from rushlight.c10.dtypes import FLOATING, INTEGRAL, Scalar, bfloat16, bool_, dtype, float32, float64, scalar_type
from rushlight.c10.fast_paths import fast_form_of, fastest
from rushlight.c10.memory_formats import channels_last_strides, dense_strides, is_channels_last, reorder_dimensions
from rushlight.c10.storage import UntypedStorage

Operand = Tensor | Scalar
Geometry = tuple[tuple[int, ...], tuple[int, ...]]  # sizes and strides


class Output(NamedTuple):
    """The metadata of a result. `strides` are in elements, or None for contiguous strides."""

    sizes: Sequence[int]
    strides: Sequence[int] | None
    dtype: dtype


def cached(function: Callable) -> Callable:
    """`function` with a cache, because the same sizes and strides occur often. `dispatch` clears the cache when a function that
    computed the results may have been replaced."""
    function = lru_cache(4096)(function)
    fast_paths.cache_clearers.append(function.cache_clear)
    return function


# Geometry ------------------------------------------------------------------------------------------------------------


def broadcast_strides(sizes: Sequence[int], strides: Sequence[int], to: Sequence[int]) -> tuple[int, ...]:
    """The strides with which an operand is read in a loop over the sizes `to`.

    Sizes are compared from the last dimension to the first. If a dimension has size 1 and the loop's size is not 1, the same
    element is read again and again: stride 0. A dimension that the operand does not have gets stride 0 too. Every other
    dimension keeps its stride.

    Args:
        sizes, strides: of the operand; `sizes` broadcasts to `to`. All three are tuples or lists.

    Returns:
        a tuple or a list, one stride for each size in `to`, in the unit of `strides`.

    >>> broadcast_strides((5, 1), (1, 1), (8, 5, 600))
    (0, 1, 0)

    Source: `aten/src/ATen/TensorIterator.cpp`, `compute_strides`.
    """
    new_dims = len(to) - len(sizes)
    kept = (0 if size == 1 and wanted != 1 else stride for size, stride, wanted in zip(sizes, strides, to[new_dims:]))
    return (0,) * new_dims + tuple(kept)


def coalesce_dimensions(
    sizes: Sequence[int], operand_strides: Sequence[Sequence[int]]
) -> tuple[tuple[int, ...], tuple[tuple[int, ...], ...]]:
    """The same loop with as few dimensions as possible. The *first* dimension is the innermost.

    Two neighbouring dimensions join if one loop visits the same elements of every operand in the same order.

    Args:
        sizes: of the loop, none of them 0; a tuple or a list.
        operand_strides: for each operand, possibly none, a tuple or a list with one stride per size, in any unit.

    Returns:
        two values: the sizes, and the strides of each operand in the order of `operand_strides`. All are tuples or lists. A loop
        of one dimension or none stays as it is.

    >>> coalesce_dimensions((600, 5, 8), [(1, 600, 3000), (1, 0, 0)])
    ((600, 40), ((1, 600), (1, 0)))
    >>> coalesce_dimensions((3, 2), [(2, 1)])
    ((3, 2), ((2, 1),))

    Rules:
        From the first dimension to the last, a dimension joins the one before it if either of the two has size 1, or if for
        every operand its stride is the size times the stride of the dimension before it. The joined dimension has the product
        of the sizes. Its stride is that of the dimension before, unless that dimension has size 1: then it is the stride of the
        dimension that joins. The stride of a dimension of size 1 does not matter.

    Source: `aten/src/ATen/TensorIterator.cpp`, `coalesce_dimensions`.
    """
    if not sizes:
        return (), ((),) * len(operand_strides)
    new_sizes, new_strides = [sizes[0]], [[strides[0]] for strides in operand_strides]
    for dim in range(1, len(sizes)):
        size = new_sizes[-1]
        even = all(strides[dim] == size * new[-1] for strides, new in zip(operand_strides, new_strides))
        if even or 1 in (size, sizes[dim]):
            new_sizes[-1] *= sizes[dim]
            if size == 1:
                for strides, new in zip(operand_strides, new_strides):
                    new[-1] = strides[dim]
        else:
            new_sizes.append(sizes[dim])
            for strides, new in zip(operand_strides, new_strides):
                new.append(strides[dim])
    return tuple(new_sizes), tuple(tuple(new) for new in new_strides)


@cached
def loop_geometry(sizes: tuple[int, ...], operands: tuple[Geometry, ...]) -> tuple[tuple[int, ...], tuple]:
    """Sizes and strides of the loop over `sizes` that reads these operands in the order of their memory. The last dimension of
    the result is the innermost."""
    strides = [broadcast_strides(*operand, sizes) for operand in operands]
    order = reorder_dimensions(sizes, strides)
    in_order = [[operand[d] for d in order] for operand in strides]
    sizes, strides = coalesce_dimensions([sizes[d] for d in order], in_order)
    return sizes[::-1], tuple(operand[::-1] for operand in strides)


@cached
def output_strides(sizes: tuple[int, ...], operands: tuple[Geometry | None, ...]) -> tuple[int, ...]:
    """The strides of a new result: those of the operands if all are equal, else dense strides in the operands' order of
    dimensions. A number has no geometry: None.
    Source: `aten/src/ATen/TensorIterator.cpp`, `fast_set_up` and `allocate_or_resize_outputs`."""
    tensors = [operand for operand in operands if operand is not None]
    if len(tensors) == len(operands) and all(tensor_sizes == sizes for tensor_sizes, _ in tensors):
        if all(strided.is_contiguous(*tensor) for tensor in {*tensors}):
            return strided.contiguous_strides(sizes)
        if all(is_channels_last(*tensor) for tensor in tensors):
            return channels_last_strides(sizes)
        first = tensors[0][1]
        if all(strides == first for _, strides in tensors) and non_overlapping_and_dense(sizes, first):
            return tuple(first)
    strides = [broadcast_strides(*tensor, sizes) for tensor in tensors]
    if 0 in sizes:
        order = tuple(reorder_dimensions(sizes, strides))
        if order != tuple(reversed(range(len(sizes)))):  # only here, a size 0 does not count as 1
            return tuple(math.prod(sizes[d] for d in order[: order.index(dim)]) for dim in range(len(sizes)))
    return dense_strides(sizes, *strides)


def output_of(dtype: dtype, *operands: Operand, common: dtype | None = None) -> Output:
    """The result of a loop over these operands, which are first converted to `common`, by default the dtype of the result."""
    sizes = common_sizes(*operands)
    geometries = tuple(geometry_in(common or dtype, operand) for operand in operands)
    return Output(sizes, output_strides(sizes, geometries), dtype)


def geometry_in(common: dtype, operand: Operand) -> Geometry | None:
    """The geometry of an operand in this dtype. A converted operand is a copy without holes.
    Source: `aten/src/ATen/TensorIterator.cpp`, `compute_types`."""
    if isinstance(operand, Tensor) and operand.dtype is not common:
        return operand._sizes, strided.strides_for(operand, None)
    return geometry(operand)


def geometry(operand: Operand) -> Geometry | None:
    """The sizes and strides of a tensor, in elements. A number has none."""
    return (operand._sizes, operand._strides) if isinstance(operand, Tensor) else None


def common_sizes(*operands: Operand) -> tuple[int, ...]:
    """The sizes to which all operands broadcast. Source: `aten/src/ATen/TensorIterator.cpp`, `compute_shape`."""
    sizes = None
    for operand in operands:
        if isinstance(operand, Tensor) and operand._sizes != sizes:
            sizes = operand._sizes if sizes is None else infer_size(sizes, operand._sizes)
    return tuple(sizes or ())


# Checks for overlapping memory ---------------------------------------------------------------------------------------


def assert_no_internal_overlap(self: Tensor) -> None:
    """Raise a `RuntimeError` if two elements of the tensor share memory. Source: `aten/src/ATen/MemoryOverlap.cpp`,
    `assert_no_internal_overlap`."""
    if _overlaps(self._sizes, self._strides):
        refuse_overlap("more than one element of the written-to tensor refers to a single memory location")


@cached
def _overlaps(sizes: tuple[int, ...], strides: tuple[int, ...]) -> bool:
    return has_internal_overlap(sizes, strides)


def refuse_overlap(reason: str) -> NoReturn:
    """Raise the `RuntimeError` of an operation that would write to overlapping memory."""
    raise RuntimeError(f"unsupported operation: {reason}. Please clone() the tensor before performing the operation.")


def assert_no_partial_overlap(self: Tensor, other: Tensor) -> None:
    """Refuse `other` as an input while `self` is written, unless it is exactly the same view, or shares no memory. As in
    PyTorch, only tensors without holes are checked.
    Source: `aten/src/ATen/MemoryOverlap.cpp`, `get_overlap_status`."""
    same_storage = self.untyped_storage() is other.untyped_storage()
    if self is other or not same_storage or 0 in (self.numel(), other.numel()):
        return
    if not all(non_overlapping_and_dense(tensor.shape, tensor.stride()) for tensor in (self, other)):
        return
    start, other_start = self.data_ptr(), other.data_ptr()
    apart = start + self.nbytes <= other_start or other_start + other.nbytes <= start
    same = (start, self.nbytes, self.stride()) == (other_start, other.nbytes, other.stride())
    if not apart and not same:
        refuse_overlap("some elements of the input tensor and the written-to tensor refer to a single memory location")


# The loop ------------------------------------------------------------------------------------------------------------


def for_each(function: Callable, out: Tensor, inputs: Sequence[Operand], common: dtype) -> None:
    """`out` = `function` of the inputs, element by element, the inputs broadcast to the sizes of `out`.

    Args:
        function: takes one numpy array per input, all of dtype `common` and of the same sizes, and returns such an array of
            any dtype. A numpy ufunc is faster.
        out: has the sizes of the loop, and any strides and dtype.

    Source: `aten/src/ATen/native/cpu/Loops.h`, `cpu_kernel`.
    """
    arrays = fastest[loop_arrays](out, inputs, common)
    if isinstance(function, np.ufunc) and all(array.dtype == common.numpy for array in arrays[1:]):
        function(*arrays[1:], out=arrays[0], casting="unsafe")
    else:
        arrays[0][...] = function(*[array.astype(common.numpy, copy=False) for array in arrays[1:]])


def loop(function: Callable, out: Tensor, operands: Sequence, computed: dtype, result: dtype) -> None:
    """`for_each` with one more step: if the computation is wider than the result, round to the result's dtype before the cast
    to the dtype of `out`."""
    rounds = computed is not result and result is not bool_ and out.dtype is not result
    for_each((lambda *arrays: function(*arrays).astype(result.numpy)) if rounds else function, out, operands, computed)


def loop_arrays(out: Tensor, inputs: Sequence[Operand], common: dtype) -> list[np.ndarray]:
    """The operands of a loop over the sizes of `out`: numpy arrays on the operands' memory, with the loop's sizes and
    strides. A number becomes an array of dtype `common`."""
    if 0 in out._sizes:
        return [np.empty(0, out.dtype.numpy)] + [np.empty(0, common.numpy) for _ in inputs]
    operands = tuple(geometry(operand) or ((), ()) for operand in (out, *inputs))
    sizes, strides = loop_geometry(tuple(out._sizes), operands)
    pairs = zip((out, *inputs), strides)
    return [_array(x, sizes, steps) if isinstance(x, Tensor) else wrapped_number(x, common) for x, steps in pairs]


@fast_form_of(loop_arrays)
def arrays_of_contiguous(out: Tensor, inputs: Sequence[Operand], common: dtype) -> list[np.ndarray]:
    """`loop_arrays` for a contiguous `out`, whose elements are in the order of its memory. numpy broadcasts the inputs."""
    if not out._has_plain_strides or 0 in out._sizes:
        return loop_arrays(out, inputs, common)
    return [x._array if isinstance(x, Tensor) else wrapped_number(x, common) for x in (out, *inputs)]


def _array(operand: Tensor, sizes: Sequence[int], strides: Sequence[int]) -> np.ndarray:
    step, memory = operand.dtype.itemsize, operand.untyped_storage()._bytes
    offset = operand._storage_offset * step
    return np.ndarray(sizes, operand.dtype.numpy, memory, offset, [stride * step for stride in strides])


def wrapped_number(value: Scalar, common: dtype) -> np.ndarray:
    """A Python number as an operand. A number that does not fit wraps or rounds, as in C.
    Source: `c10/core/Scalar.h`. In PyTorch it is a 0-dim tensor with the flag `wrapped_number`."""
    scalar_type(value)
    return np.asarray(value).astype(common.numpy)


def checked_convert(value: Scalar, dtype: dtype) -> np.ndarray:
    """A number in this dtype. Raises RuntimeError if it does not fit. A negative int fits an unsigned type and wraps, as in C.
    Source: `c10/util/TypeCast.h`, `checked_convert`; `c10/util/overflows.h`."""
    if dtype.category == INTEGRAL:
        limits = np.iinfo(dtype.numpy)
        smallest = -limits.max if isinstance(value, int) and not dtype.is_signed else limits.min
        if not smallest <= value <= limits.max:
            raise RuntimeError(f"value cannot be converted to type {dtype.name} without overflow")
    return np.asarray(value).astype(dtype.numpy)


# Plans: a loop that is set up once for operands of the same sizes, strides and dtypes ---------------------------------


@dataclass(slots=True, eq=False)
class Plan:
    """A loop that is set up. `run(*operands)` takes arrays and Python numbers, and returns a new array of these sizes, strides
    (in elements) and dtype. Source: `aten/src/ATen/TensorIterator.h`, the members that `build` sets."""

    run: Callable[..., np.ndarray]
    sizes: Size
    strides: tuple[int, ...]
    dtype: dtype
    has_plain_strides: bool


def plan_key(operands: Sequence[Operand | str | None]) -> tuple[tuple, list]:
    """The key of a plan, and the operands of its run: arrays, numbers and strings.

    A plan depends on the sizes, strides and dtype of a tensor, and on the class of a number. The value of a number is read in
    each run.
    """
    key: list[Any] = []
    values: list[Any] = []
    for operand in operands:
        if isinstance(operand, Tensor):
            key += operand._sizes, operand._strides, operand.dtype
            values.append(operand._array)
        else:
            key.append(operand if operand.__class__ is str else operand.__class__)
            values.append(operand)
    return tuple(key), values


def count_parameters(function: Callable) -> int:
    """How many operands a function of numpy arrays takes, without `out`."""
    if isinstance(function, np.ufunc):
        return function.nin
    return function.__code__.co_argcount - len(function.__defaults__ or ())


def plan(
    function: Callable, output: tuple, operands: Sequence, converters: Sequence, is_pointwise: bool = True
) -> tuple[Plan, np.ndarray]:
    """Set up the loop of `function` over these operands, and run it. A run tests nothing that `plan_key` holds.

    If numpy gives the result the strides that PyTorch does, the function itself is the loop. Otherwise the result is allocated
    here, and the loop writes into it.

    Args:
        function: takes arrays and numbers, and returns an array, or for a result without dimensions a number of numpy.
        output: sizes, strides and dtype of the result, which has elements; strides None are contiguous.
        operands: arrays and numbers.
        converters: see `with_converters`.
        is_pointwise: whether the function computes element by element. For any other function, the layout of its array must
            not depend on values.

    Source: `aten/src/ATen/TensorIterator.cpp`, `fast_set_up` and `allocate_or_resize_outputs`.
    """
    sizes, strides, dtype = tuple(output[0]), output[1], output[2]
    plain = strided.plain_strides(sizes)
    strides = plain if strides is None else tuple(strides)
    steps = tuple([stride * dtype.itemsize for stride in strides])
    arrays = [value for value in operands if isinstance(value, np.ndarray)]
    compute = with_converters(function, converters)
    result = compute(*operands)
    is_ufunc = is_pointwise and isinstance(function, np.ufunc)
    is_new = is_ufunc or not any(np.may_share_memory(result, array) for array in arrays)
    has_columns = compute is function and strides == plain and is_narrow(sizes, arrays)
    if is_pointwise and isinstance(function, np.ufunc) and has_columns:
        run = partial(run_by_columns, function, sizes, dtype.numpy)
    elif is_new and has_layout(result, sizes, steps, dtype) and (is_ufunc or not is_pointwise or are_alike(arrays)):
        run = compute
    elif is_new and strides == plain and result.shape == sizes:

        def run(*operands) -> np.ndarray:
            return np.asarray(compute(*operands), dtype.numpy, order="C")

    else:

        def run(*operands) -> np.ndarray:
            result = np.ndarray(sizes, dtype.numpy, np.empty(math.prod(sizes), dtype.numpy), 0, steps)
            result[...] = compute(*operands)
            return result

    is_plain = strides == plain
    return Plan(run, size_of(sizes), strides, dtype, is_plain), result if run is compute else run(*operands)


def has_layout(array: np.ndarray, sizes: tuple[int, ...], steps: tuple[int, ...], dtype: dtype) -> bool:
    """Whether it has these sizes, strides in bytes, and dtype. Without dimensions, another run may return a number of numpy."""
    return bool(sizes) and array.shape == sizes and array.strides == steps and array.dtype == dtype.numpy


def are_alike(arrays: Sequence[np.ndarray]) -> bool:
    """Whether all arrays are contiguous and have one shape, so that each function of them gives such an array."""
    return all(array.flags.c_contiguous and array.shape == arrays[0].shape for array in arrays)


def plan_in_place(function: Callable, converters: Sequence[Callable | None], is_like_ufunc: bool = False) -> Callable:
    """The loop of `function` into its first operand: `run(*operands, array)`, where `array` is that of the first operand."""
    compute = with_converters(function, converters)
    if is_like_ufunc:
        return compute

    def run(*operands) -> None:
        *operands, array = operands
        array[...] = compute(*operands)

    return run


def with_converters(function: Callable, converters: Sequence[Callable | None]) -> Callable:
    """The function that first applies a converter to each operand that has one. An operand after these is the `out` of `function`.
    See `operand_converter` and `parameter_converter`."""
    if not any(converters):
        return function
    *others, last = converters
    count = len(others)
    if last is not None and not any(others):
        if count == 1:
            return lambda first, second, *out: function(first, last(second), *out)
        return lambda *operands: function(*operands[:count], last(operands[count]), *operands[count + 1 :])

    def compute(*operands):
        given = [value if converter is None else converter(value) for converter, value in zip(converters, operands)]
        return function(*given, *operands[count + 1 :])

    return compute


def operand_converter(operand: Operand, common: dtype, is_like_ufunc: bool = False) -> Callable | None:
    """The function that converts an operand to the common dtype in each run of a plan, or None if it needs none. A function that is
    like a ufunc converts Python numbers to float32 and float64 itself."""
    if isinstance(operand, Tensor):
        return None if operand.dtype is common else lambda array: array.astype(common.numpy)
    if is_like_ufunc and common in (float32, float64) and operand.__class__ in (float, int):
        return None
    return partial(wrapped_number, common=common) if common is bfloat16 else partial(wrapped_scalar, common.numpy.type)


def wrapped_scalar(numpy_type: type[np.generic], value: Scalar) -> np.generic:
    """`wrapped_number` as a scalar of numpy, which is faster."""
    try:
        return numpy_type(value)
    except OverflowError:  # an int that does not fit
        array: Any = np.asarray(value).astype(numpy_type)
        return array[()]


def parameter_converter(value: Scalar | str | None, common: dtype, is_like_ufunc: bool = False) -> Callable | None:
    """`operand_converter` for a number that is no operand of the loop. One that does not fit is an error."""
    if value is None or isinstance(value, str):
        return None
    if common.category == FLOATING:
        return operand_converter(value, common, is_like_ufunc)
    return partial(checked_convert, dtype=common)


def is_narrow(sizes: tuple[int, ...], arrays: Sequence) -> bool:
    """Whether an operand is broadcast to many short rows."""
    if len(sizes) < 2 or not 8 * sizes[-1] < sizes[0] < 4096:
        return False
    return len({array.shape for array in arrays if isinstance(array, np.ndarray)}) > 1


def run_by_columns(function: np.ufunc, sizes: tuple[int, ...], dtype: np.dtype, *arrays: np.ndarray) -> np.ndarray:
    """The contiguous result of many short rows. The dimensions are reversed: numpy's innermost loop is over the last one."""
    result = np.empty(sizes, dtype)
    columns = (array.reshape((1,) * (len(sizes) - array.ndim) + array.shape).T for array in arrays)
    function(*columns, result.T, order="C")  # not in the order of memory
    return result


_new_tensor, _new_storage = object.__new__, UntypedStorage.__new__  # every result is made here: a look-up less each


def wrap(array: np.ndarray, plan: Plan) -> Tensor:
    """The tensor on the memory of an array that the plan's run has returned."""
    self = _new_tensor(Tensor)
    self._storage = storage = _new_storage(UntypedStorage)  # `UntypedStorage.of`, without a call
    self._array = array
    storage._buffer = array if plan.has_plain_strides else array.ravel(order="K")
    self._sizes = plan.sizes
    self._strides = plan.strides
    self._storage_offset = 0
    self.dtype = plan.dtype
    self._key_set = local.tensor_keys["cpu"]
    self._has_plain_strides = plan.has_plain_strides
    return self
