"""Element types and type promotion.

PyTorch declares the types in `torch/headeronly/core/ScalarType.h`, gives them to Python in
`torch/csrc/utils/tensor_dtypes.cpp`, and computes the type of a result in
`aten/src/ATen/native/TypeProperties.cpp`. Rushlight has ten types. Left out: the other unsigned
integers, the 8-bit floats, complex and quantised types.

numpy has no bfloat16. The package `ml_dtypes` adds it. It is imported when the first bfloat16 tensor needs an array.

`bool_` is `rushlight.bool`. In this module the short name would hide Python's `bool`.
"""

from __future__ import annotations

from functools import cached_property

import numpy as np

from rushlight.c10 import fast_paths

__all__ = [
    "dtype", "uint8", "int8", "int16", "int32", "int64", "float16", "bfloat16", "float32", "float64", "promote_types",
    "result_type", "can_cast", "get_default_dtype", "set_default_dtype",
]  # fmt: skip

BOOLEAN, INTEGRAL, FLOATING = range(3)
INT64_MAX = (1 << 63) - 1
Scalar = bool | int | float


class dtype:
    """An element type: its `name`, its size in bytes (`itemsize`), and its `category`.

    The category is `BOOLEAN` < `INTEGRAL` < `FLOATING`. `type_name` is the name in PyTorch's messages
    (`Long`).

    Source: `c10/core/ScalarType.h`, `ScalarType`.
    """

    def __init__(self, name: str, type_name: str, category: int) -> None:
        self.name, self.type_name, self.category = name, type_name, category
        self.is_floating_point, self.is_complex = category == FLOATING, False
        if name == "bfloat16":
            self.itemsize = 2
        else:
            self.numpy = np.dtype(name)
            self.itemsize = self.numpy.itemsize

    @cached_property
    def numpy(self) -> np.dtype:
        try:
            from ml_dtypes import bfloat16  # slow to import
        except ModuleNotFoundError:
            raise RuntimeError("bfloat16 needs the package ml_dtypes, which this Python does not have") from None
        return np.dtype(bfloat16)

    @property
    def is_signed(self) -> bool:
        return self.is_floating_point or self.numpy.kind == "i"

    def __repr__(self) -> str:
        return f"rushlight.{self.name}"

    def __reduce__(self) -> str:  # a copy or a pickle is the same object, so that `is` works
        return "bool_" if self.name == "bool" else self.name


bool_ = dtype("bool", "Bool", BOOLEAN)
"""True or False, in one byte. As a number it is 1 or 0."""
uint8 = dtype("uint8", "Byte", INTEGRAL)
"""Integers of 8 bits from 0 to 255."""
int32 = dtype("int32", "Int", INTEGRAL)
"""Integers of 32 bits."""
int64 = dtype("int64", "Long", INTEGRAL)
"""Integers of 64 bits: the dtype of a tensor that is made from Python's integers, and of indices."""
float16 = dtype("float16", "Half", FLOATING)
"""Floating-point numbers of 16 bits: 5 for the exponent, 10 for the fraction. The greatest is 65,504."""
float32 = dtype("float32", "Float", FLOATING)
"""Floating-point numbers of 32 bits, the default dtype: 8 bits for the exponent, 23 for the fraction."""
float64 = dtype("float64", "Double", FLOATING)
"""Floating-point numbers of 64 bits, as Python's: 11 for the exponent, 52 for the fraction."""
bfloat16 = dtype("bfloat16", "BFloat16", FLOATING)  # float32 without the lower 16 bits
"""Floating-point numbers of 16 bits: the upper half of a float32, with 8 bits for the exponent and 7 for the
fraction."""
int8 = dtype("int8", "Char", INTEGRAL)
"""Integers of 8 bits from -128 to 127."""
int16 = dtype("int16", "Short", INTEGRAL)
"""Integers of 16 bits."""

# An extension in C++ knows a type by its position.
ALL = (bool_, uint8, int32, int64, float16, float32, float64, bfloat16, int8, int16)
REDUCED_FLOATING = (float16, bfloat16)  # computed in float32. Source: `c10/core/ScalarType.h`, `isReducedFloatingType`
_FROM_NUMPY = {dtype.numpy: dtype for dtype in ALL if dtype is not bfloat16}
PYTHON_DTYPES = {float: float64, int: int64, bool: bool_}


def numpy_finfo(dtype: dtype) -> np.finfo:
    """numpy's description of a floating type: `eps`, `max`, `nmant`."""
    if dtype is bfloat16:
        numpy_dtype = dtype.numpy
        import ml_dtypes

        return ml_dtypes.finfo(numpy_dtype)
    return np.finfo(dtype.numpy)


def from_numpy_dtype(numpy_dtype: np.dtype) -> dtype:
    """The rushlight type of a numpy type. Raises `TypeError` if there is none, also for bfloat16, as PyTorch does."""
    if numpy_dtype not in _FROM_NUMPY:
        names = ", ".join(dtype.name for dtype in _FROM_NUMPY.values())
        raise TypeError(f"can't convert np.ndarray of type {numpy_dtype}; convert it with .astype() to one of: {names}")
    return _FROM_NUMPY[numpy_dtype]


intp = from_numpy_dtype(np.dtype(np.intp))  # of numpy's own indices: int64, or int32 where an address has 32 bits
"""The dtype of numpy's own indices: `int64`, and `int32` on a machine whose addresses have 32 bits."""


def as_dtype(wanted: dtype | type) -> dtype:
    """A `dtype` argument: a type of rushlight, or `float`, `int` or `bool`, which are 64-bit types and `bool_`.
    Source: `torch/csrc/utils/python_arg_parser.h`, `PythonArgs::scalartype`."""
    if wanted.__class__ is dtype:
        return wanted
    if wanted not in PYTHON_DTYPES:
        raise TypeError(f"dtype must be a torch.dtype, float, int or bool, not {wanted!r}")
    return PYTHON_DTYPES[wanted]


_default_dtype = float32


def get_default_dtype() -> dtype:
    """The type that a Python float becomes: `float32`, or the type of the last `set_default_dtype`.
    Source: `torch/csrc/Module.cpp`, `THPModule_getDefaultDtype`."""
    return _default_dtype


def set_default_dtype(d: dtype, /) -> None:
    """Set the dtype of tensors that are made from Python's floats.

    Source: `torch/csrc/tensor/python_tensor.cpp`, `py_set_default_dtype`.
    """
    global _default_dtype
    if d.__class__ is not dtype or d.category != FLOATING:
        raise TypeError("only floating-point types are supported as the default type")
    if d is not _default_dtype:
        _default_dtype = d
        fast_paths.clear_caches()  # a plan has the dtype of a result


def promote_types(a: dtype, b: dtype) -> dtype:
    """The smallest type to which both `a` and `b` are converted in an operation, as `torch.promote_types`.

    The higher `category` wins, at any width: `BOOLEAN` < `INTEGRAL` < `FLOATING`, so `int64` with
    `float16` gives `float16`. Within one category the larger `itemsize` wins, so `uint8` with `int32` gives
    `int32`. The order of the arguments does not matter, and a type with itself gives that type.

        >>> promote_types(rl.int32, rl.int64), promote_types(rl.int64, rl.float16)
        (rushlight.int64, rushlight.float16)

    Args:
        a, b: the two types, each with `category` (comparable) and `itemsize` (bytes).

    Returns:
        one of `a` and `b`. (With other types it could be a third: in PyTorch `int8` with `uint8` is `int16`. That `bfloat16`
        with `float16` is `float32` is not a matter of this function: `promote_any` adds it.)

    Source: `c10/core/ScalarType.cpp`, `promoteTypes`.
    """
    if a.category == b.category:
        return a if a.itemsize >= b.itemsize else b
    return a if a.category > b.category else b


def can_cast(from_: dtype, to: dtype) -> bool:
    """Whether an in-place operation may store a `from_` result in a `to` tensor: never to a lower category.
    Source: `c10/core/ScalarType.h`, `canCast`."""
    return from_.category <= to.category


def scalar_type(value: Scalar) -> dtype:
    """The type of a Python number: `bool`, `int64`, or the default floating type."""
    if isinstance(value, (bool, np.bool_)):
        return bool_
    if isinstance(value, (int, np.integer)):
        return int64
    if isinstance(value, (float, np.floating)):
        return get_default_dtype()
    raise TypeError(f"expected a Tensor or a bool, int or float, but got {type(value).__name__}")


def result_type(*operands) -> dtype:
    """The type in which an operation on these tensors and Python numbers is computed, as `torch.result_type`.

    Operands have three ranks, from the highest: tensors with dimensions, tensors without, Python numbers. An operand of a lower
    rank has less influence: `promote_types` combines the types of one rank, and the `category` of a type decides between ranks.

    Args:
        operands: at least one. A tensor has a `dtype` and a number of dimensions, `dim()`. The type of a number, Python's or
            numpy's (`np.generic`), is `scalar_type(number)`.

    Returns:
        the `dtype`.

    Raises:
        TypeError: an operand is neither a tensor nor a number (`scalar_type` raises it), for example a numpy array.

    >>> result_type(rl.ones(2, dtype=rl.int32), 2.5)
    rushlight.float32
    >>> result_type(rl.ones(2, dtype=rl.float16), rl.tensor(1.0, dtype=rl.float64))
    rushlight.float16

    Rules:
        Within a rank the types are promoted (`promote_types`). Then the ranks are combined, the lowest two first: the type of the
        higher rank stays, unless the type from below has a higher `category`, which then wins. A rank without operands has no
        effect. So an `int32` tensor + 1 stays `int32`, and + 1.5 becomes the default floating type. A `float16` tensor + a
        `float64` tensor without dimensions stays `float16`.

    Source: `aten/src/ATen/native/TypeProperties.cpp`, `update_result_type_state` and `result_type`.
    """
    ranks = [None, None, None]
    for operand in operands:
        if hasattr(operand, "dim"):
            rank, operand_type = 0 if operand.dim() else 1, operand.dtype
        else:
            rank, operand_type = 2, scalar_type(operand)
        ranks[rank] = operand_type if ranks[rank] is None else promote_types(ranks[rank], operand_type)
    common = None
    for promoted in ranks:
        if promoted is not None and (common is None or promoted.category > common.category):
            common = promoted
    return common


# Neither float16 nor bfloat16 can hold the numbers of the other, so the two together give float32 --------------------


def promote_any(a: dtype, b: dtype) -> dtype:
    """`promote_types`, also for `float16` with `bfloat16` and for `uint8` with `int8`, neither of which can hold the numbers of
    the other. It is `rl.promote_types`."""
    if a is not b and a in REDUCED_FLOATING and b in REDUCED_FLOATING:
        return float32
    if {a, b} == {uint8, int8}:
        return int16
    return promote_types(a, b)


def common_dtype(*operands) -> dtype:
    """`result_type`, also for tensors of `float16` and of `bfloat16`. It is `rl.result_type`, and kernels call it."""
    common = result_type(*operands)
    if common in REDUCED_FLOATING:
        reduced = [x for x in operands if hasattr(x, "dim") and x.dtype in REDUCED_FLOATING]
        highest = [x for x in reduced if x.dim()] or reduced
        if any(x.dtype is not common for x in highest):
            return float32
    elif common.itemsize == 1 and common.category == INTEGRAL:
        small = [x for x in operands if hasattr(x, "dim") and x.dtype.category == INTEGRAL]
        for x in [x for x in small if x.dim()] or small:
            common = promote_any(common, x.dtype)
    return common
