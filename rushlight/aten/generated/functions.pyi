"""The types of `functions.py`. Generated from `native_functions.yaml`. Do not edit."""

# ruff: noqa: A001, A002, E501, F401, I001
from builtins import bool as _bool, float as _float, int as _int, str as _str
from collections.abc import Callable, Sequence
from typing import Any, TypeAlias, overload

import numpy as np

from rushlight.aten.generated import return_types
from rushlight.aten.native.random import Generator
from rushlight.aten.strided import Tensor
from rushlight.c10.dtypes import dtype as _dtype
from rushlight.c10.dtypes import int64
from rushlight.c10.memory_formats import contiguous_format, memory_format as _memory_format
from rushlight.c10.storage import TypedStorage, device as _device, layout as _layout
from rushlight.library import OpOverload

Number: TypeAlias = _bool | _int | _float | np.generic

def alias(input: Tensor) -> Tensor: ...
def alias_copy(input: Tensor) -> Tensor: ...
def as_strided(
    input: Tensor, size: Sequence[_int], stride: Sequence[_int], storage_offset: _int | None = None
) -> Tensor: ...
def as_strided_copy(
    input: Tensor, size: Sequence[_int], stride: Sequence[_int], storage_offset: _int | None = None
) -> Tensor: ...
def as_strided_(
    input: Tensor, size: Sequence[_int], stride: Sequence[_int], storage_offset: _int | None = None
) -> Tensor: ...
def broadcast_tensors(tensors: Sequence[Tensor]) -> tuple[Tensor, ...]: ...
def broadcast_to(input: Tensor, size: Sequence[_int]) -> Tensor: ...
def chunk(input: Tensor, chunks: _int, dim: _int = 0) -> tuple[Tensor, ...]: ...
def detach(input: Tensor) -> Tensor: ...
def diagonal(input: Tensor, offset: _int = 0, dim1: _int = 0, dim2: _int = 1) -> Tensor: ...
def diagonal_copy(
    input: Tensor, offset: _int = 0, dim1: _int = 0, dim2: _int = 1, *, out: Tensor | None = None
) -> Tensor: ...
def expand_copy(input: Tensor, size: Sequence[_int]) -> Tensor: ...
def flatten(input: Tensor, start_dim: _int = 0, end_dim: _int = -1) -> Tensor: ...
def lift_fresh(input: Tensor) -> Tensor: ...
def lift_fresh_copy(input: Tensor) -> Tensor: ...
@overload
def movedim(input: Tensor, source: Sequence[_int], destination: Sequence[_int]) -> Tensor: ...
@overload
def movedim(input: Tensor, source: _int, destination: _int) -> Tensor: ...
@overload
def narrow(input: Tensor, dim: _int, start: _int, length: _int) -> Tensor: ...
@overload
def narrow(input: Tensor, dim: _int, start: Tensor, length: _int) -> Tensor: ...
def permute(input: Tensor, dims: Sequence[_int]) -> Tensor: ...
def permute_copy(input: Tensor, dims: Sequence[_int]) -> Tensor: ...
def _reshape_alias(input: Tensor, size: Sequence[_int], stride: Sequence[_int]) -> Tensor: ...
def _reshape_alias_copy(input: Tensor, size: Sequence[_int], stride: Sequence[_int]) -> Tensor: ...
def reshape(input: Tensor, shape: Sequence[_int]) -> Tensor: ...
def select(input: Tensor, dim: _int, index: _int) -> Tensor: ...
def slice(
    input: Tensor, dim: _int = 0, start: _int | None = None, end: _int | None = None, step: _int = 1
) -> Tensor: ...
@overload
def split(input: Tensor, split_size: _int, dim: _int = 0) -> tuple[Tensor, ...]: ...
@overload
def split(input: Tensor, split_size: Sequence[_int], dim: _int = 0) -> tuple[Tensor, ...]: ...
def split_with_sizes(input: Tensor, split_sizes: Sequence[_int], dim: _int = 0) -> tuple[Tensor, ...]: ...
def split_with_sizes_copy(input: Tensor, split_sizes: Sequence[_int], dim: _int = 0) -> tuple[Tensor, ...]: ...
@overload
def squeeze(input: Tensor) -> Tensor: ...
@overload
def squeeze(input: Tensor, dim: _int) -> Tensor: ...
@overload
def squeeze(input: Tensor, dim: Sequence[_int]) -> Tensor: ...
@overload
def squeeze_copy(input: Tensor) -> Tensor: ...
@overload
def squeeze_copy(input: Tensor, dim: _int) -> Tensor: ...
@overload
def squeeze_copy(input: Tensor, dim: Sequence[_int]) -> Tensor: ...
def t(input: Tensor) -> Tensor: ...
def t_copy(input: Tensor) -> Tensor: ...
def transpose(input: Tensor, dim0: _int, dim1: _int) -> Tensor: ...
def transpose_copy(input: Tensor, dim0: _int, dim1: _int) -> Tensor: ...
def swapaxes(input: Tensor, axis0: _int, axis1: _int) -> Tensor: ...
def swapdims(input: Tensor, dim0: _int, dim1: _int) -> Tensor: ...
def unbind(input: Tensor, dim: _int = 0) -> tuple[Tensor, ...]: ...
def unbind_copy(input: Tensor, dim: _int = 0) -> tuple[Tensor, ...]: ...
def unflatten(input: Tensor, dim: _int, sizes: Sequence[_int]) -> Tensor: ...
def unfold_copy(input: Tensor, dimension: _int, size: _int, step: _int) -> Tensor: ...
def unsqueeze(input: Tensor, dim: _int) -> Tensor: ...
def unsqueeze_copy(input: Tensor, dim: _int) -> Tensor: ...
@overload
def view_copy(input: Tensor, size: Sequence[_int]) -> Tensor: ...
@overload
def view_copy(input: Tensor, dtype: _dtype) -> Tensor: ...
def _unsafe_view(input: Tensor, size: Sequence[_int]) -> Tensor: ...
def clone(input: Tensor, *, memory_format: _memory_format | None = None) -> Tensor: ...
def _to_copy(
    input: Tensor,
    *,
    dtype: _dtype | None = None,
    layout: _layout | None = None,
    device: _device | _str | None = None,
    pin_memory: _bool | None = None,
    non_blocking: _bool = False,
    memory_format: _memory_format | None = None,
    requires_grad: _bool = False,
) -> Tensor: ...
@overload
def arange(
    end: Number,
    *,
    dtype: _dtype | None = None,
    layout: _layout | None = None,
    device: _device | _str | None = None,
    pin_memory: _bool | None = None,
    out: Tensor | None = None,
    requires_grad: _bool = False,
) -> Tensor: ...
@overload
def arange(
    start: Number,
    end: Number,
    *,
    dtype: _dtype | None = None,
    layout: _layout | None = None,
    device: _device | _str | None = None,
    pin_memory: _bool | None = None,
    requires_grad: _bool = False,
) -> Tensor: ...
@overload
def arange(
    start: Number,
    end: Number,
    step: Number = 1,
    *,
    dtype: _dtype | None = None,
    layout: _layout | None = None,
    device: _device | _str | None = None,
    pin_memory: _bool | None = None,
    out: Tensor | None = None,
    requires_grad: _bool = False,
) -> Tensor: ...
@overload
def empty(
    size: Sequence[_int],
    *,
    dtype: _dtype | None = None,
    layout: _layout | None = None,
    device: _device | _str | None = None,
    pin_memory: _bool | None = None,
    memory_format: _memory_format | None = None,
    out: Tensor | None = None,
    requires_grad: _bool = False,
) -> Tensor: ...
@overload
def empty(
    *size: _int,
    dtype: _dtype | None = None,
    layout: _layout | None = None,
    device: _device | _str | None = None,
    pin_memory: _bool | None = None,
    memory_format: _memory_format | None = None,
    out: Tensor | None = None,
    requires_grad: _bool = False,
) -> Tensor: ...
def empty_like(
    input: Tensor,
    *,
    dtype: _dtype | None = None,
    layout: _layout | None = None,
    device: _device | _str | None = None,
    pin_memory: _bool | None = None,
    memory_format: _memory_format | None = None,
    requires_grad: _bool = False,
) -> Tensor: ...
def empty_strided(
    size: Sequence[_int],
    stride: Sequence[_int],
    *,
    dtype: _dtype | None = None,
    layout: _layout | None = None,
    device: _device | _str | None = None,
    pin_memory: _bool | None = None,
    requires_grad: _bool = False,
) -> Tensor: ...
@overload
def eye(
    n: _int,
    *,
    dtype: _dtype | None = None,
    layout: _layout | None = None,
    device: _device | _str | None = None,
    pin_memory: _bool | None = None,
    out: Tensor | None = None,
    requires_grad: _bool = False,
) -> Tensor: ...
@overload
def eye(
    n: _int,
    m: _int,
    *,
    dtype: _dtype | None = None,
    layout: _layout | None = None,
    device: _device | _str | None = None,
    pin_memory: _bool | None = None,
    out: Tensor | None = None,
    requires_grad: _bool = False,
) -> Tensor: ...
def full(
    size: Sequence[_int],
    fill_value: Number,
    *,
    dtype: _dtype | None = None,
    layout: _layout | None = None,
    device: _device | _str | None = None,
    pin_memory: _bool | None = None,
    out: Tensor | None = None,
    requires_grad: _bool = False,
) -> Tensor: ...
def full_like(
    input: Tensor,
    fill_value: Number,
    *,
    dtype: _dtype | None = None,
    layout: _layout | None = None,
    device: _device | _str | None = None,
    pin_memory: _bool | None = None,
    memory_format: _memory_format | None = None,
    requires_grad: _bool = False,
) -> Tensor: ...
def scalar_tensor(
    s: Number,
    *,
    dtype: _dtype | None = None,
    layout: _layout | None = None,
    device: _device | _str | None = None,
    pin_memory: _bool | None = None,
    requires_grad: _bool = False,
) -> Tensor: ...
@overload
def linspace(
    start: Number,
    end: Number,
    steps: _int,
    *,
    dtype: _dtype | None = None,
    layout: _layout | None = None,
    device: _device | _str | None = None,
    pin_memory: _bool | None = None,
    out: Tensor | None = None,
    requires_grad: _bool = False,
) -> Tensor: ...
@overload
def linspace(
    start: Tensor,
    end: Tensor,
    steps: _int,
    *,
    dtype: _dtype | None = None,
    layout: _layout | None = None,
    device: _device | _str | None = None,
    pin_memory: _bool | None = None,
    out: Tensor | None = None,
    requires_grad: _bool = False,
) -> Tensor: ...
@overload
def linspace(
    start: Tensor,
    end: Number,
    steps: _int,
    *,
    dtype: _dtype | None = None,
    layout: _layout | None = None,
    device: _device | _str | None = None,
    pin_memory: _bool | None = None,
    out: Tensor | None = None,
    requires_grad: _bool = False,
) -> Tensor: ...
@overload
def linspace(
    start: Number,
    end: Tensor,
    steps: _int,
    *,
    dtype: _dtype | None = None,
    layout: _layout | None = None,
    device: _device | _str | None = None,
    pin_memory: _bool | None = None,
    out: Tensor | None = None,
    requires_grad: _bool = False,
) -> Tensor: ...
@overload
def ones(
    size: Sequence[_int],
    *,
    dtype: _dtype | None = None,
    layout: _layout | None = None,
    device: _device | _str | None = None,
    pin_memory: _bool | None = None,
    out: Tensor | None = None,
    requires_grad: _bool = False,
) -> Tensor: ...
@overload
def ones(
    *size: _int,
    dtype: _dtype | None = None,
    layout: _layout | None = None,
    device: _device | _str | None = None,
    pin_memory: _bool | None = None,
    out: Tensor | None = None,
    requires_grad: _bool = False,
) -> Tensor: ...
def ones_like(
    input: Tensor,
    *,
    dtype: _dtype | None = None,
    layout: _layout | None = None,
    device: _device | _str | None = None,
    pin_memory: _bool | None = None,
    memory_format: _memory_format | None = None,
    requires_grad: _bool = False,
) -> Tensor: ...
@overload
def zeros(
    size: Sequence[_int],
    *,
    dtype: _dtype | None = None,
    layout: _layout | None = None,
    device: _device | _str | None = None,
    pin_memory: _bool | None = None,
    out: Tensor | None = None,
    requires_grad: _bool = False,
) -> Tensor: ...
@overload
def zeros(
    *size: _int,
    dtype: _dtype | None = None,
    layout: _layout | None = None,
    device: _device | _str | None = None,
    pin_memory: _bool | None = None,
    out: Tensor | None = None,
    requires_grad: _bool = False,
) -> Tensor: ...
def zeros_like(
    input: Tensor,
    *,
    dtype: _dtype | None = None,
    layout: _layout | None = None,
    device: _device | _str | None = None,
    pin_memory: _bool | None = None,
    memory_format: _memory_format | None = None,
    requires_grad: _bool = False,
) -> Tensor: ...
def tril_indices(
    row: _int,
    col: _int,
    offset: _int = 0,
    *,
    dtype: _dtype | None = int64,
    layout: _layout | None = None,
    device: _device | _str | None = None,
    pin_memory: _bool | None = None,
    requires_grad: _bool = False,
) -> Tensor: ...
def triu_indices(
    row: _int,
    col: _int,
    offset: _int = 0,
    *,
    dtype: _dtype | None = int64,
    layout: _layout | None = None,
    device: _device | _str | None = None,
    pin_memory: _bool | None = None,
    requires_grad: _bool = False,
) -> Tensor: ...
@overload
def range(
    start: Number,
    end: Number,
    step: Number = 1,
    *,
    dtype: _dtype | None = None,
    layout: _layout | None = None,
    device: _device | _str | None = None,
    pin_memory: _bool | None = None,
    requires_grad: _bool = False,
) -> Tensor: ...
@overload
def range(
    start: Number,
    end: Number,
    *,
    dtype: _dtype | None = None,
    layout: _layout | None = None,
    device: _device | _str | None = None,
    pin_memory: _bool | None = None,
    requires_grad: _bool = False,
) -> Tensor: ...
def as_strided_scatter(
    input: Tensor, src: Tensor, size: Sequence[_int], stride: Sequence[_int], storage_offset: _int | None = None
) -> Tensor: ...
def copy(input: Tensor, src: Tensor | Number, non_blocking: _bool = False) -> Tensor: ...
def diagonal_scatter(input: Tensor, src: Tensor, offset: _int = 0, dim1: _int = 0, dim2: _int = 1) -> Tensor: ...
def select_scatter(input: Tensor, src: Tensor, dim: _int, index: _int) -> Tensor: ...
def slice_scatter(
    input: Tensor, src: Tensor, dim: _int = 0, start: _int | None = None, end: _int | None = None, step: _int = 1
) -> Tensor: ...
def zero(input: Tensor) -> Tensor: ...
@overload
def fill(input: Tensor, value: Tensor) -> Tensor: ...
@overload
def fill(input: Tensor, value: Number) -> Tensor: ...
@overload
def fill_(input: Tensor, value: Tensor) -> Tensor: ...
@overload
def fill_(input: Tensor, value: Number) -> Tensor: ...
def resize_as_(input: Tensor, the_template: Tensor, *, memory_format: _memory_format | None = None) -> Tensor: ...
def zero_(input: Tensor) -> Tensor: ...
def abs(input: Tensor, *, out: Tensor | None = None) -> Tensor: ...
def abs_(input: Tensor) -> Tensor: ...
def add(input: Tensor | Number, other: Tensor | Number, *, alpha: Number = 1, out: Tensor | None = None) -> Tensor: ...
def addcdiv(
    input: Tensor, tensor1: Tensor, tensor2: Tensor, *, value: Number = 1, out: Tensor | None = None
) -> Tensor: ...
def addcmul(
    input: Tensor, tensor1: Tensor, tensor2: Tensor, *, value: Number = 1, out: Tensor | None = None
) -> Tensor: ...
def allclose(
    input: Tensor, other: Tensor, rtol: _float = 1e-05, atol: _float = 1e-08, equal_nan: _bool = False
) -> _bool: ...
def bitwise_and(input: Tensor | Number, other: Tensor | Number, *, out: Tensor | None = None) -> Tensor: ...
def bitwise_left_shift(input: Tensor | Number, other: Tensor | Number, *, out: Tensor | None = None) -> Tensor: ...
def bitwise_not(input: Tensor, *, out: Tensor | None = None) -> Tensor: ...
def bitwise_or(input: Tensor | Number, other: Tensor | Number, *, out: Tensor | None = None) -> Tensor: ...
def bitwise_right_shift(input: Tensor | Number, other: Tensor | Number, *, out: Tensor | None = None) -> Tensor: ...
def bitwise_xor(input: Tensor | Number, other: Tensor | Number, *, out: Tensor | None = None) -> Tensor: ...
def ceil(input: Tensor, *, out: Tensor | None = None) -> Tensor: ...
def ceil_(input: Tensor) -> Tensor: ...
@overload
def clamp(
    input: Tensor, min: Tensor | None = None, max: Tensor | None = None, *, out: Tensor | None = None
) -> Tensor: ...
@overload
def clamp(
    input: Tensor, min: Number | None = None, max: Number | None = None, *, out: Tensor | None = None
) -> Tensor: ...
@overload
def clamp_(input: Tensor, min: Tensor | None = None, max: Tensor | None = None) -> Tensor: ...
@overload
def clamp_(input: Tensor, min: Number | None = None, max: Number | None = None) -> Tensor: ...
@overload
def clamp_max(input: Tensor, max: Tensor, *, out: Tensor | None = None) -> Tensor: ...
@overload
def clamp_max(input: Tensor, max: Number, *, out: Tensor | None = None) -> Tensor: ...
@overload
def clamp_max_(input: Tensor, max: Tensor) -> Tensor: ...
@overload
def clamp_max_(input: Tensor, max: Number) -> Tensor: ...
@overload
def clamp_min(input: Tensor, min: Tensor, *, out: Tensor | None = None) -> Tensor: ...
@overload
def clamp_min(input: Tensor, min: Number, *, out: Tensor | None = None) -> Tensor: ...
@overload
def clamp_min_(input: Tensor, min: Tensor) -> Tensor: ...
@overload
def clamp_min_(input: Tensor, min: Number) -> Tensor: ...
def cos(input: Tensor, *, out: Tensor | None = None) -> Tensor: ...
def cos_(input: Tensor) -> Tensor: ...
@overload
def div(input: Tensor | Number, other: Tensor | Number, *, out: Tensor | None = None) -> Tensor: ...
@overload
def div(
    input: Tensor | Number, other: Tensor | Number, *, rounding_mode: _str | None, out: Tensor | None = None
) -> Tensor: ...
def elu(
    input: Tensor, alpha: Number = 1, scale: Number = 1, input_scale: Number = 1, *, out: Tensor | None = None
) -> Tensor: ...
def elu_(input: Tensor, alpha: Number = 1, scale: Number = 1, input_scale: Number = 1) -> Tensor: ...
def eq(input: Tensor, other: Tensor | Number, *, out: Tensor | None = None) -> Tensor: ...
def is_nonzero(input: Tensor) -> _bool: ...
def is_same_size(input: Tensor, other: Tensor) -> _bool: ...
def is_signed(input: Tensor) -> _bool: ...
def equal(input: Tensor, other: Tensor) -> _bool: ...
def erf(input: Tensor, *, out: Tensor | None = None) -> Tensor: ...
def erf_(input: Tensor) -> Tensor: ...
def exp(input: Tensor, *, out: Tensor | None = None) -> Tensor: ...
def exp_(input: Tensor) -> Tensor: ...
def exp2(input: Tensor, *, out: Tensor | None = None) -> Tensor: ...
def exp2_(input: Tensor) -> Tensor: ...
def expm1(input: Tensor, *, out: Tensor | None = None) -> Tensor: ...
def expm1_(input: Tensor) -> Tensor: ...
def floor(input: Tensor, *, out: Tensor | None = None) -> Tensor: ...
def floor_(input: Tensor) -> Tensor: ...
def floor_divide(input: Tensor | Number, other: Tensor | Number, *, out: Tensor | None = None) -> Tensor: ...
@overload
def fmod(input: Tensor, other: Tensor, *, out: Tensor | None = None) -> Tensor: ...
@overload
def fmod(input: Tensor, other: Number, *, out: Tensor | None = None) -> Tensor: ...
def ge(input: Tensor, other: Tensor | Number, *, out: Tensor | None = None) -> Tensor: ...
def gelu(input: Tensor, *, approximate: _str = "none", out: Tensor | None = None) -> Tensor: ...
def gelu_(input: Tensor, *, approximate: _str = "none") -> Tensor: ...
def gt(input: Tensor, other: Tensor | Number, *, out: Tensor | None = None) -> Tensor: ...
def hardtanh(input: Tensor, min_val: Number = -1, max_val: Number = 1, *, out: Tensor | None = None) -> Tensor: ...
def hardtanh_(input: Tensor, min_val: Number = -1, max_val: Number = 1) -> Tensor: ...
def isclose(
    input: Tensor, other: Tensor, rtol: _float = 1e-05, atol: _float = 1e-08, equal_nan: _bool = False
) -> Tensor: ...
def isfinite(input: Tensor) -> Tensor: ...
def isinf(input: Tensor) -> Tensor: ...
def isnan(input: Tensor) -> Tensor: ...
def le(input: Tensor, other: Tensor | Number, *, out: Tensor | None = None) -> Tensor: ...
def leaky_relu(input: Tensor, negative_slope: Number = 0.01, *, out: Tensor | None = None) -> Tensor: ...
def leaky_relu_(input: Tensor, negative_slope: Number = 0.01) -> Tensor: ...
@overload
def lerp(input: Tensor, end: Tensor, weight: Tensor, *, out: Tensor | None = None) -> Tensor: ...
@overload
def lerp(input: Tensor, end: Tensor, weight: Number, *, out: Tensor | None = None) -> Tensor: ...
def log(input: Tensor, *, out: Tensor | None = None) -> Tensor: ...
def log_(input: Tensor) -> Tensor: ...
def log10(input: Tensor, *, out: Tensor | None = None) -> Tensor: ...
def log10_(input: Tensor) -> Tensor: ...
def log1p(input: Tensor, *, out: Tensor | None = None) -> Tensor: ...
def log1p_(input: Tensor) -> Tensor: ...
def log2(input: Tensor, *, out: Tensor | None = None) -> Tensor: ...
def log2_(input: Tensor) -> Tensor: ...
def logical_and(input: Tensor, other: Tensor, *, out: Tensor | None = None) -> Tensor: ...
def logical_not(input: Tensor, *, out: Tensor | None = None) -> Tensor: ...
def logical_or(input: Tensor, other: Tensor, *, out: Tensor | None = None) -> Tensor: ...
def logical_xor(input: Tensor, other: Tensor, *, out: Tensor | None = None) -> Tensor: ...
def lt(input: Tensor, other: Tensor | Number, *, out: Tensor | None = None) -> Tensor: ...
def maximum(input: Tensor, other: Tensor, *, out: Tensor | None = None) -> Tensor: ...
def minimum(input: Tensor, other: Tensor, *, out: Tensor | None = None) -> Tensor: ...
def mul(input: Tensor | Number, other: Tensor | Number, *, out: Tensor | None = None) -> Tensor: ...
def ne(input: Tensor, other: Tensor | Number, *, out: Tensor | None = None) -> Tensor: ...
def neg(input: Tensor, *, out: Tensor | None = None) -> Tensor: ...
def neg_(input: Tensor) -> Tensor: ...
def positive(input: Tensor) -> Tensor: ...
@overload
def pow(input: Tensor, exponent: Tensor, *, out: Tensor | None = None) -> Tensor: ...
@overload
def pow(input: Tensor, exponent: Number, *, out: Tensor | None = None) -> Tensor: ...
@overload
def pow(input: Number, exponent: Tensor, *, out: Tensor | None = None) -> Tensor: ...
def reciprocal(input: Tensor, *, out: Tensor | None = None) -> Tensor: ...
def reciprocal_(input: Tensor) -> Tensor: ...
def relu(input: Tensor) -> Tensor: ...
def relu_(input: Tensor) -> Tensor: ...
@overload
def remainder(input: Tensor | Number, other: Tensor, *, out: Tensor | None = None) -> Tensor: ...
@overload
def remainder(input: Tensor | Number, other: Number, *, out: Tensor | None = None) -> Tensor: ...
@overload
def round(input: Tensor, *, out: Tensor | None = None) -> Tensor: ...
@overload
def round(input: Tensor, *, decimals: _int, out: Tensor | None = None) -> Tensor: ...
@overload
def round_(input: Tensor) -> Tensor: ...
@overload
def round_(input: Tensor, *, decimals: _int) -> Tensor: ...
def rsqrt(input: Tensor, *, out: Tensor | None = None) -> Tensor: ...
def rsqrt_(input: Tensor) -> Tensor: ...
@overload
def rsub(input: Tensor, other: Tensor, *, alpha: Number = 1) -> Tensor: ...
@overload
def rsub(input: Tensor, other: Number, alpha: Number = 1) -> Tensor: ...
def sgn(input: Tensor, *, out: Tensor | None = None) -> Tensor: ...
def sigmoid(input: Tensor, *, out: Tensor | None = None) -> Tensor: ...
def sigmoid_(input: Tensor) -> Tensor: ...
def sign(input: Tensor, *, out: Tensor | None = None) -> Tensor: ...
def silu(input: Tensor, *, out: Tensor | None = None) -> Tensor: ...
def silu_(input: Tensor) -> Tensor: ...
def sin(input: Tensor, *, out: Tensor | None = None) -> Tensor: ...
def sin_(input: Tensor) -> Tensor: ...
def softplus(input: Tensor, beta: Number = 1, threshold: Number = 20, *, out: Tensor | None = None) -> Tensor: ...
def sqrt(input: Tensor, *, out: Tensor | None = None) -> Tensor: ...
def sqrt_(input: Tensor) -> Tensor: ...
def square(input: Tensor, *, out: Tensor | None = None) -> Tensor: ...
def square_(input: Tensor) -> Tensor: ...
def sub(input: Tensor | Number, other: Tensor | Number, *, alpha: Number = 1, out: Tensor | None = None) -> Tensor: ...
def tan(input: Tensor, *, out: Tensor | None = None) -> Tensor: ...
def tan_(input: Tensor) -> Tensor: ...
def tanh(input: Tensor, *, out: Tensor | None = None) -> Tensor: ...
def tanh_(input: Tensor) -> Tensor: ...
def threshold(input: Tensor, threshold: Number, value: Number, *, out: Tensor | None = None) -> Tensor: ...
def threshold_(input: Tensor, threshold: Number, value: Number) -> Tensor: ...
def trunc(input: Tensor, *, out: Tensor | None = None) -> Tensor: ...
def trunc_(input: Tensor) -> Tensor: ...
@overload
def where(
    condition: Tensor, input: Tensor | Number, other: Tensor | Number, *, out: Tensor | None = None
) -> Tensor: ...
@overload
def where(condition: Tensor) -> tuple[Tensor, ...]: ...
@overload
def xlogy(input: Tensor, other: Tensor, *, out: Tensor | None = None) -> Tensor: ...
@overload
def xlogy(input: Tensor, other: Number) -> Tensor: ...
@overload
def xlogy(input: Number, other: Tensor) -> Tensor: ...
@overload
def xlogy_(input: Tensor, other: Tensor) -> Tensor: ...
@overload
def xlogy_(input: Tensor, other: Number) -> Tensor: ...
def acos(input: Tensor, *, out: Tensor | None = None) -> Tensor: ...
def acos_(input: Tensor) -> Tensor: ...
def acosh(input: Tensor, *, out: Tensor | None = None) -> Tensor: ...
def acosh_(input: Tensor) -> Tensor: ...
def asin(input: Tensor, *, out: Tensor | None = None) -> Tensor: ...
def asin_(input: Tensor) -> Tensor: ...
def asinh(input: Tensor, *, out: Tensor | None = None) -> Tensor: ...
def asinh_(input: Tensor) -> Tensor: ...
def atan(input: Tensor, *, out: Tensor | None = None) -> Tensor: ...
def atan_(input: Tensor) -> Tensor: ...
def atanh(input: Tensor, *, out: Tensor | None = None) -> Tensor: ...
def atanh_(input: Tensor) -> Tensor: ...
def cosh(input: Tensor, *, out: Tensor | None = None) -> Tensor: ...
def cosh_(input: Tensor) -> Tensor: ...
def sinh(input: Tensor, *, out: Tensor | None = None) -> Tensor: ...
def sinh_(input: Tensor) -> Tensor: ...
def erfc(input: Tensor, *, out: Tensor | None = None) -> Tensor: ...
def erfc_(input: Tensor) -> Tensor: ...
def sinc(input: Tensor, *, out: Tensor | None = None) -> Tensor: ...
def sinc_(input: Tensor) -> Tensor: ...
def lgamma(input: Tensor, *, out: Tensor | None = None) -> Tensor: ...
def digamma(input: Tensor, *, out: Tensor | None = None) -> Tensor: ...
def erfinv(input: Tensor, *, out: Tensor | None = None) -> Tensor: ...
def frac(input: Tensor, *, out: Tensor | None = None) -> Tensor: ...
def frac_(input: Tensor) -> Tensor: ...
def atan2(input: Tensor, other: Tensor, *, out: Tensor | None = None) -> Tensor: ...
def hypot(input: Tensor, other: Tensor, *, out: Tensor | None = None) -> Tensor: ...
@overload
def copysign(input: Tensor, other: Tensor, *, out: Tensor | None = None) -> Tensor: ...
@overload
def copysign(input: Tensor, other: Number, *, out: Tensor | None = None) -> Tensor: ...
def logaddexp(input: Tensor, other: Tensor, *, out: Tensor | None = None) -> Tensor: ...
def logaddexp2(input: Tensor, other: Tensor, *, out: Tensor | None = None) -> Tensor: ...
def fmax(input: Tensor, other: Tensor, *, out: Tensor | None = None) -> Tensor: ...
def fmin(input: Tensor, other: Tensor, *, out: Tensor | None = None) -> Tensor: ...
def gcd(input: Tensor, other: Tensor, *, out: Tensor | None = None) -> Tensor: ...
def gcd_(input: Tensor, other: Tensor) -> Tensor: ...
def lcm(input: Tensor, other: Tensor, *, out: Tensor | None = None) -> Tensor: ...
def lcm_(input: Tensor, other: Tensor) -> Tensor: ...
def heaviside(input: Tensor, values: Tensor, *, out: Tensor | None = None) -> Tensor: ...
def signbit(input: Tensor, *, out: Tensor | None = None) -> Tensor: ...
def isposinf(input: Tensor, *, out: Tensor | None = None) -> Tensor: ...
def isneginf(input: Tensor, *, out: Tensor | None = None) -> Tensor: ...
def nan_to_num(
    input: Tensor,
    nan: _float | None = None,
    posinf: _float | None = None,
    neginf: _float | None = None,
    *,
    out: Tensor | None = None,
) -> Tensor: ...
def nan_to_num_(
    input: Tensor, nan: _float | None = None, posinf: _float | None = None, neginf: _float | None = None
) -> Tensor: ...
def logit(input: Tensor, eps: _float | None = None, *, out: Tensor | None = None) -> Tensor: ...
def logit_(input: Tensor, eps: _float | None = None) -> Tensor: ...
def polygamma(n: _int, input: Tensor, *, out: Tensor | None = None) -> Tensor: ...
def deg2rad(input: Tensor, *, out: Tensor | None = None) -> Tensor: ...
def deg2rad_(input: Tensor) -> Tensor: ...
def rad2deg(input: Tensor, *, out: Tensor | None = None) -> Tensor: ...
def rad2deg_(input: Tensor) -> Tensor: ...
@overload
def float_power(input: Tensor, exponent: Tensor) -> Tensor: ...
@overload
def float_power(input: Tensor, exponent: Number) -> Tensor: ...
@overload
def float_power(input: Number, exponent: Tensor) -> Tensor: ...
def ldexp(input: Tensor, other: Tensor | Number, *, out: Tensor | None = None) -> Tensor: ...
def ldexp_(input: Tensor, other: Tensor | Number) -> Tensor: ...
def true_divide(input: Tensor | Number, other: Tensor | Number, *, out: Tensor | None = None) -> Tensor: ...
def isreal(input: Tensor) -> Tensor: ...
def real(input: Tensor) -> Tensor: ...
def conj(input: Tensor) -> Tensor: ...
def resolve_conj(input: Tensor) -> Tensor: ...
def resolve_neg(input: Tensor) -> Tensor: ...
def conj_physical(input: Tensor) -> Tensor: ...
def mvlgamma(input: Tensor, p: _int) -> Tensor: ...
def celu(input: Tensor, alpha: Number = 1.0) -> Tensor: ...
def celu_(input: Tensor, alpha: Number = 1.0) -> Tensor: ...
def selu(input: Tensor) -> Tensor: ...
def selu_(input: Tensor) -> Tensor: ...
def hardsigmoid(input: Tensor, *, out: Tensor | None = None) -> Tensor: ...
def hardsigmoid_(input: Tensor) -> Tensor: ...
def hardswish(input: Tensor, *, out: Tensor | None = None) -> Tensor: ...
def hardswish_(input: Tensor) -> Tensor: ...
def mish(input: Tensor, *, out: Tensor | None = None) -> Tensor: ...
def mish_(input: Tensor) -> Tensor: ...
def hardshrink(input: Tensor, lambd: Number = 0.5, *, out: Tensor | None = None) -> Tensor: ...
def softshrink(input: Tensor, lambd: Number = 0.5, *, out: Tensor | None = None) -> Tensor: ...
def log_sigmoid_forward(input: Tensor) -> tuple[Tensor, Tensor]: ...
def log_sigmoid(input: Tensor, *, out: Tensor | None = None) -> Tensor: ...
def glu(input: Tensor, dim: _int = -1, *, out: Tensor | None = None) -> Tensor: ...
def _prelu_kernel(input: Tensor, weight: Tensor) -> Tensor: ...
def prelu(input: Tensor, weight: Tensor) -> Tensor: ...
def rrelu_with_noise(
    input: Tensor,
    noise: Tensor,
    lower: Number = 0.125,
    upper: Number = 0.3333333333333333,
    training: _bool = False,
    generator: Generator | None = None,
) -> Tensor: ...
def rrelu_with_noise_(
    input: Tensor,
    noise: Tensor,
    lower: Number = 0.125,
    upper: Number = 0.3333333333333333,
    training: _bool = False,
    generator: Generator | None = None,
) -> Tensor: ...
def rrelu_with_noise_backward(
    grad_output: Tensor,
    input: Tensor,
    noise: Tensor,
    lower: Number,
    upper: Number,
    training: _bool,
    self_is_result: _bool,
) -> Tensor: ...
def rrelu(
    input: Tensor,
    lower: Number = 0.125,
    upper: Number = 0.3333333333333333,
    training: _bool = False,
    generator: Generator | None = None,
) -> Tensor: ...
def rrelu_(
    input: Tensor,
    lower: Number = 0.125,
    upper: Number = 0.3333333333333333,
    training: _bool = False,
    generator: Generator | None = None,
) -> Tensor: ...
def cat(tensors: Sequence[Tensor], dim: _int = 0, *, out: Tensor | None = None) -> Tensor: ...
def embedding(
    weight: Tensor, indices: Tensor, padding_idx: _int = -1, scale_grad_by_freq: _bool = False, sparse: _bool = False
) -> Tensor: ...
def embedding_renorm_(input: Tensor, indices: Tensor, max_norm: _float, norm_type: _float) -> Tensor: ...
def flip(input: Tensor, dims: Sequence[_int]) -> Tensor: ...
def gather(
    input: Tensor, dim: _int, index: Tensor, *, sparse_grad: _bool = False, out: Tensor | None = None
) -> Tensor: ...
def index(input: Tensor, indices: Sequence[Tensor | None]) -> Tensor: ...
def index_add(
    input: Tensor, dim: _int, index: Tensor, source: Tensor, *, alpha: Number = 1, out: Tensor | None = None
) -> Tensor: ...
def index_put(input: Tensor, indices: Sequence[Tensor | None], values: Tensor, accumulate: _bool = False) -> Tensor: ...
def index_put_(
    input: Tensor, indices: Sequence[Tensor | None], values: Tensor, accumulate: _bool = False
) -> Tensor: ...
def _index_put_impl_(
    input: Tensor, indices: Sequence[Tensor | None], values: Tensor, accumulate: _bool = False, unsafe: _bool = False
) -> Tensor: ...
def index_select(input: Tensor, dim: _int, index: Tensor, *, out: Tensor | None = None) -> Tensor: ...
@overload
def masked_fill(input: Tensor, mask: Tensor, value: Tensor) -> Tensor: ...
@overload
def masked_fill(input: Tensor, mask: Tensor, value: Number) -> Tensor: ...
def one_hot(input: Tensor, num_classes: _int = -1) -> Tensor: ...
def roll(input: Tensor, shifts: _int | Sequence[_int], dims: _int | Sequence[_int] = ()) -> Tensor: ...
@overload
def scatter(input: Tensor, dim: _int, index: Tensor, src: Tensor, *, out: Tensor | None = None) -> Tensor: ...
@overload
def scatter(input: Tensor, dim: _int, index: Tensor, value: Number, *, out: Tensor | None = None) -> Tensor: ...
@overload
def scatter(
    input: Tensor, dim: _int, index: Tensor, src: Tensor, *, reduce: _str, out: Tensor | None = None
) -> Tensor: ...
@overload
def scatter(
    input: Tensor, dim: _int, index: Tensor, value: Number, *, reduce: _str, out: Tensor | None = None
) -> Tensor: ...
def scatter_add(input: Tensor, dim: _int, index: Tensor, src: Tensor, *, out: Tensor | None = None) -> Tensor: ...
def stack(tensors: Sequence[Tensor], dim: _int = 0, *, out: Tensor | None = None) -> Tensor: ...
def tile(input: Tensor, dims: Sequence[_int]) -> Tensor: ...
def tril(input: Tensor, diagonal: _int = 0, *, out: Tensor | None = None) -> Tensor: ...
def triu(input: Tensor, diagonal: _int = 0, *, out: Tensor | None = None) -> Tensor: ...
def _log_softmax(input: Tensor, dim: _int, half_to_float: _bool, *, out: Tensor | None = None) -> Tensor: ...
def _softmax(input: Tensor, dim: _int, half_to_float: _bool, *, out: Tensor | None = None) -> Tensor: ...
@overload
def all(input: Tensor, dim: _int, keepdim: _bool = False, *, out: Tensor | None = None) -> Tensor: ...
@overload
def all(
    input: Tensor, dim: Sequence[_int] | None = None, keepdim: _bool = False, *, out: Tensor | None = None
) -> Tensor: ...
@overload
def all(input: Tensor, *, out: Tensor | None = None) -> Tensor: ...
def amax(
    input: Tensor, dim: _int | Sequence[_int] = (), keepdim: _bool = False, *, out: Tensor | None = None
) -> Tensor: ...
def amin(
    input: Tensor, dim: _int | Sequence[_int] = (), keepdim: _bool = False, *, out: Tensor | None = None
) -> Tensor: ...
@overload
def any(input: Tensor, dim: _int, keepdim: _bool = False, *, out: Tensor | None = None) -> Tensor: ...
@overload
def any(
    input: Tensor, dim: Sequence[_int] | None = None, keepdim: _bool = False, *, out: Tensor | None = None
) -> Tensor: ...
@overload
def any(input: Tensor, *, out: Tensor | None = None) -> Tensor: ...
def argmax(input: Tensor, dim: _int | None = None, keepdim: _bool = False, *, out: Tensor | None = None) -> Tensor: ...
def argmin(input: Tensor, dim: _int | None = None, keepdim: _bool = False, *, out: Tensor | None = None) -> Tensor: ...
def cumsum(input: Tensor, dim: _int, *, dtype: _dtype | None = None, out: Tensor | None = None) -> Tensor: ...
def log_softmax(input: Tensor, dim: _int, dtype: _dtype | None = None, *, out: Tensor | None = None) -> Tensor: ...
def logcumsumexp(input: Tensor, dim: _int, *, out: Tensor | None = None) -> Tensor: ...
def logsumexp(
    input: Tensor, dim: _int | Sequence[_int], keepdim: _bool = False, *, out: Tensor | None = None
) -> Tensor: ...
@overload
def max(input: Tensor, *, out: Tensor | None = None) -> Tensor: ...
@overload
def max(input: Tensor, other: Tensor, *, out: Tensor | None = None) -> Tensor: ...
@overload
def max(
    input: Tensor, dim: _int, keepdim: _bool = False, *, out: tuple[Tensor, Tensor] | None = None
) -> return_types.max: ...
@overload
def mean(input: Tensor, *, dtype: _dtype | None = None, out: Tensor | None = None) -> Tensor: ...
@overload
def mean(
    input: Tensor,
    dim: _int | Sequence[_int] | None,
    keepdim: _bool = False,
    *,
    dtype: _dtype | None = None,
    out: Tensor | None = None,
) -> Tensor: ...
@overload
def min(input: Tensor, *, out: Tensor | None = None) -> Tensor: ...
@overload
def min(input: Tensor, other: Tensor, *, out: Tensor | None = None) -> Tensor: ...
@overload
def min(
    input: Tensor, dim: _int, keepdim: _bool = False, *, out: tuple[Tensor, Tensor] | None = None
) -> return_types.min: ...
@overload
def prod(input: Tensor, *, dtype: _dtype | None = None, out: Tensor | None = None) -> Tensor: ...
@overload
def prod(
    input: Tensor, dim: _int, keepdim: _bool = False, *, dtype: _dtype | None = None, out: Tensor | None = None
) -> Tensor: ...
def softmax(input: Tensor, dim: _int, dtype: _dtype | None = None, *, out: Tensor | None = None) -> Tensor: ...
@overload
def std(input: Tensor, unbiased: _bool = True) -> Tensor: ...
@overload
def std(
    input: Tensor,
    dim: _int | Sequence[_int] | None,
    unbiased: _bool = True,
    keepdim: _bool = False,
    *,
    out: Tensor | None = None,
) -> Tensor: ...
@overload
def std(
    input: Tensor,
    dim: _int | Sequence[_int] | None = None,
    *,
    correction: Number | None = None,
    keepdim: _bool = False,
    out: Tensor | None = None,
) -> Tensor: ...
@overload
def std_mean(input: Tensor, unbiased: _bool = True) -> tuple[Tensor, Tensor]: ...
@overload
def std_mean(
    input: Tensor, dim: _int | Sequence[_int] | None, unbiased: _bool = True, keepdim: _bool = False
) -> tuple[Tensor, Tensor]: ...
@overload
def std_mean(
    input: Tensor, dim: _int | Sequence[_int] | None = None, *, correction: Number | None = None, keepdim: _bool = False
) -> tuple[Tensor, Tensor]: ...
@overload
def var_mean(input: Tensor, unbiased: _bool = True) -> tuple[Tensor, Tensor]: ...
@overload
def var_mean(
    input: Tensor, dim: _int | Sequence[_int] | None, unbiased: _bool = True, keepdim: _bool = False
) -> tuple[Tensor, Tensor]: ...
@overload
def var_mean(
    input: Tensor, dim: _int | Sequence[_int] | None = None, *, correction: Number | None = None, keepdim: _bool = False
) -> tuple[Tensor, Tensor]: ...
@overload
def sum(input: Tensor, *, dtype: _dtype | None = None, out: Tensor | None = None) -> Tensor: ...
@overload
def sum(
    input: Tensor,
    dim: _int | Sequence[_int] | None,
    keepdim: _bool = False,
    *,
    dtype: _dtype | None = None,
    out: Tensor | None = None,
) -> Tensor: ...
@overload
def var(input: Tensor, unbiased: _bool = True) -> Tensor: ...
@overload
def var(
    input: Tensor,
    dim: _int | Sequence[_int] | None,
    unbiased: _bool = True,
    keepdim: _bool = False,
    *,
    out: Tensor | None = None,
) -> Tensor: ...
@overload
def var(
    input: Tensor,
    dim: _int | Sequence[_int] | None = None,
    *,
    correction: Number | None = None,
    keepdim: _bool = False,
    out: Tensor | None = None,
) -> Tensor: ...
def bincount(input: Tensor, weights: Tensor | None = None, minlength: _int = 0) -> Tensor: ...
def histc(
    input: Tensor, bins: _int = 100, min: Number = 0, max: Number = 0, *, out: Tensor | None = None
) -> Tensor: ...
@overload
def histogram(
    input: Tensor,
    bins: _int = 100,
    *,
    range: Sequence[_float] | None = None,
    weight: Tensor | None = None,
    density: _bool = False,
) -> return_types.histogram: ...
@overload
def histogram(
    input: Tensor, bins: Tensor, *, weight: Tensor | None = None, density: _bool = False
) -> return_types.histogram: ...
def cumprod(input: Tensor, dim: _int, *, dtype: _dtype | None = None, out: Tensor | None = None) -> Tensor: ...
def _local_scalar_dense(input: Tensor) -> Number: ...
def cummax(input: Tensor, dim: _int, *, out: tuple[Tensor, Tensor] | None = None) -> return_types.cummax: ...
def cummin(input: Tensor, dim: _int, *, out: tuple[Tensor, Tensor] | None = None) -> return_types.cummin: ...
def kthvalue(
    input: Tensor, k: _int, dim: _int = -1, keepdim: _bool = False, *, out: tuple[Tensor, Tensor] | None = None
) -> return_types.kthvalue: ...
def mode(
    input: Tensor, dim: _int = -1, keepdim: _bool = False, *, out: tuple[Tensor, Tensor] | None = None
) -> return_types.mode: ...
def nansum(
    input: Tensor,
    dim: _int | Sequence[_int] | None = None,
    keepdim: _bool = False,
    *,
    dtype: _dtype | None = None,
    out: Tensor | None = None,
) -> Tensor: ...
def nanmean(
    input: Tensor,
    dim: _int | Sequence[_int] | None = None,
    keepdim: _bool = False,
    *,
    dtype: _dtype | None = None,
    out: Tensor | None = None,
) -> Tensor: ...
@overload
def count_nonzero(input: Tensor, dim: _int | None = None) -> Tensor: ...
@overload
def count_nonzero(input: Tensor, dim: Sequence[_int]) -> Tensor: ...
def aminmax(
    input: Tensor, *, dim: _int | None = None, keepdim: _bool = False, out: tuple[Tensor, Tensor] | None = None
) -> return_types.aminmax: ...
@overload
def trapezoid(y: Tensor, x: Tensor, *, dim: _int = -1) -> Tensor: ...
@overload
def trapezoid(y: Tensor, *, dx: Number = 1, dim: _int = -1) -> Tensor: ...
@overload
def trapz(y: Tensor, x: Tensor, *, dim: _int = -1) -> Tensor: ...
@overload
def trapz(y: Tensor, *, dx: _float = 1.0, dim: _int = -1) -> Tensor: ...
def diff(
    input: Tensor,
    n: _int = 1,
    dim: _int = -1,
    prepend: Tensor | None = None,
    append: Tensor | None = None,
    *,
    out: Tensor | None = None,
) -> Tensor: ...
@overload
def searchsorted(
    sorted_sequence: Tensor,
    input: Tensor,
    *,
    out_int32: _bool = False,
    right: _bool = False,
    side: _str | None = None,
    sorter: Tensor | None = None,
) -> Tensor: ...
@overload
def searchsorted(
    sorted_sequence: Tensor,
    input: Number,
    *,
    out_int32: _bool = False,
    right: _bool = False,
    side: _str | None = None,
    sorter: Tensor | None = None,
) -> Tensor: ...
@overload
def bucketize(
    input: Tensor, boundaries: Tensor, *, out_int32: _bool = False, right: _bool = False, out: Tensor | None = None
) -> Tensor: ...
@overload
def bucketize(input: Number, boundaries: Tensor, *, out_int32: _bool = False, right: _bool = False) -> Tensor: ...
def msort(input: Tensor, *, out: Tensor | None = None) -> Tensor: ...
@overload
def isin(elements: Tensor, test_elements: Tensor, *, assume_unique: _bool = False, invert: _bool = False) -> Tensor: ...
@overload
def isin(elements: Tensor, test_element: Number, *, assume_unique: _bool = False, invert: _bool = False) -> Tensor: ...
@overload
def atleast_1d(input: Tensor) -> Tensor: ...
@overload
def atleast_1d(tensors: Sequence[Tensor]) -> tuple[Tensor, ...]: ...
@overload
def atleast_2d(input: Tensor) -> Tensor: ...
@overload
def atleast_2d(tensors: Sequence[Tensor]) -> tuple[Tensor, ...]: ...
@overload
def atleast_3d(input: Tensor) -> Tensor: ...
@overload
def atleast_3d(tensors: Sequence[Tensor]) -> tuple[Tensor, ...]: ...
def column_stack(tensors: Sequence[Tensor], *, out: Tensor | None = None) -> Tensor: ...
def dstack(tensors: Sequence[Tensor], *, out: Tensor | None = None) -> Tensor: ...
def hstack(tensors: Sequence[Tensor], *, out: Tensor | None = None) -> Tensor: ...
@overload
def meshgrid(tensors: Sequence[Tensor]) -> tuple[Tensor, ...]: ...
@overload
def meshgrid(tensors: Sequence[Tensor], *, indexing: _str) -> tuple[Tensor, ...]: ...
@overload
def repeat_interleave(repeats: Tensor, *, output_size: _int | None = None) -> Tensor: ...
@overload
def repeat_interleave(
    input: Tensor, repeats: Tensor, dim: _int | None = None, *, output_size: _int | None = None
) -> Tensor: ...
@overload
def repeat_interleave(
    input: Tensor, repeats: _int, dim: _int | None = None, *, output_size: _int | None = None
) -> Tensor: ...
def vstack(tensors: Sequence[Tensor], *, out: Tensor | None = None) -> Tensor: ...
def pixel_shuffle(input: Tensor, upscale_factor: _int, *, out: Tensor | None = None) -> Tensor: ...
def pixel_unshuffle(input: Tensor, downscale_factor: _int, *, out: Tensor | None = None) -> Tensor: ...
def channel_shuffle(input: Tensor, groups: _int) -> Tensor: ...
def native_channel_shuffle(input: Tensor, groups: _int) -> Tensor: ...
def bilinear(input1: Tensor, input2: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor: ...
def diag_embed(input: Tensor, offset: _int = 0, dim1: _int = -2, dim2: _int = -1) -> Tensor: ...
def diag(input: Tensor, diagonal: _int = 0, *, out: Tensor | None = None) -> Tensor: ...
def diagflat(input: Tensor, offset: _int = 0) -> Tensor: ...
def fliplr(input: Tensor) -> Tensor: ...
def flipud(input: Tensor) -> Tensor: ...
def rot90(input: Tensor, k: _int = 1, dims: Sequence[_int] = (0, 1)) -> Tensor: ...
def ravel(input: Tensor) -> Tensor: ...
def argwhere(input: Tensor) -> Tensor: ...
def take_along_dim(input: Tensor, indices: Tensor, dim: _int | None = None, *, out: Tensor | None = None) -> Tensor: ...
def put(
    input: Tensor, index: Tensor, source: Tensor, accumulate: _bool = False, *, out: Tensor | None = None
) -> Tensor: ...
def index_reduce(
    input: Tensor,
    dim: _int,
    index: Tensor,
    source: Tensor,
    reduce: _str,
    *,
    include_self: _bool = True,
    out: Tensor | None = None,
) -> Tensor: ...
def take(input: Tensor, index: Tensor, *, out: Tensor | None = None) -> Tensor: ...
@overload
def tensor_split(input: Tensor, tensor_indices_or_sections: Tensor, dim: _int = 0) -> tuple[Tensor, ...]: ...
@overload
def tensor_split(input: Tensor, sections: _int, dim: _int = 0) -> tuple[Tensor, ...]: ...
@overload
def tensor_split(input: Tensor, indices: Sequence[_int], dim: _int = 0) -> tuple[Tensor, ...]: ...
@overload
def hsplit(input: Tensor, sections: _int) -> tuple[Tensor, ...]: ...
@overload
def hsplit(input: Tensor, indices: Sequence[_int]) -> tuple[Tensor, ...]: ...
@overload
def vsplit(input: Tensor, sections: _int) -> tuple[Tensor, ...]: ...
@overload
def vsplit(input: Tensor, indices: Sequence[_int]) -> tuple[Tensor, ...]: ...
@overload
def dsplit(input: Tensor, sections: _int) -> tuple[Tensor, ...]: ...
@overload
def dsplit(input: Tensor, indices: Sequence[_int]) -> tuple[Tensor, ...]: ...
def vander(x: Tensor, N: _int | None = None, increasing: _bool = False) -> Tensor: ...
def index_copy(input: Tensor, dim: _int, index: Tensor, source: Tensor, *, out: Tensor | None = None) -> Tensor: ...
@overload
def index_fill(input: Tensor, dim: _int, index: Tensor, value: Tensor) -> Tensor: ...
@overload
def index_fill(input: Tensor, dim: _int, index: Tensor, value: Number) -> Tensor: ...
def masked_scatter(input: Tensor, mask: Tensor, source: Tensor) -> Tensor: ...
def masked_scatter_backward(grad_output: Tensor, mask: Tensor, sizes: Sequence[_int]) -> Tensor: ...
def masked_select(input: Tensor, mask: Tensor, *, out: Tensor | None = None) -> Tensor: ...
def masked_select_backward(grad: Tensor, input: Tensor, mask: Tensor) -> Tensor: ...
def nonzero(input: Tensor, *, out: Tensor | None = None) -> Tensor: ...
def nonzero_numpy(input: Tensor) -> tuple[Tensor, ...]: ...
def scatter_reduce(
    input: Tensor,
    dim: _int,
    index: Tensor,
    src: Tensor,
    reduce: _str,
    *,
    include_self: _bool = True,
    out: Tensor | None = None,
) -> Tensor: ...
@overload
def linalg_matrix_norm(
    input: Tensor,
    ord: Number,
    dim: Sequence[_int] = (-2, -1),
    keepdim: _bool = False,
    *,
    dtype: _dtype | None = None,
    out: Tensor | None = None,
) -> Tensor: ...
@overload
def linalg_matrix_norm(
    input: Tensor,
    ord: _str = "fro",
    dim: Sequence[_int] = (-2, -1),
    keepdim: _bool = False,
    *,
    dtype: _dtype | None = None,
    out: Tensor | None = None,
) -> Tensor: ...
def _linalg_svd(
    A: Tensor, full_matrices: _bool = False, compute_uv: _bool = True, *, driver: _str | None = None
) -> return_types._linalg_svd: ...
def linalg_inv_ex(A: Tensor, *, check_errors: _bool = False) -> return_types.linalg_inv_ex: ...
def linalg_inv(A: Tensor) -> Tensor: ...
def _linalg_det(A: Tensor) -> return_types._linalg_det: ...
def linalg_det(A: Tensor) -> Tensor: ...
def det(input: Tensor) -> Tensor: ...
def _linalg_solve_ex(
    A: Tensor, B: Tensor, *, left: _bool = True, check_errors: _bool = False
) -> return_types._linalg_solve_ex: ...
def linalg_solve(A: Tensor, B: Tensor, *, left: _bool = True) -> Tensor: ...
def linalg_cholesky_ex(
    input: Tensor, *, upper: _bool = False, check_errors: _bool = False
) -> return_types.linalg_cholesky_ex: ...
def linalg_cholesky(input: Tensor, *, upper: _bool = False) -> Tensor: ...
def cov(
    input: Tensor, *, correction: _int = 1, fweights: Tensor | None = None, aweights: Tensor | None = None
) -> Tensor: ...
def corrcoef(input: Tensor) -> Tensor: ...
def inverse(input: Tensor) -> Tensor: ...
def linalg_svdvals(A: Tensor, *, driver: _str | None = None, out: Tensor | None = None) -> Tensor: ...
def linalg_vector_norm(
    input: Tensor,
    ord: Number = 2,
    dim: _int | Sequence[_int] | None = None,
    keepdim: _bool = False,
    *,
    dtype: _dtype | None = None,
    out: Tensor | None = None,
) -> Tensor: ...
@overload
def argsort(input: Tensor, dim: _int = -1, descending: _bool = False) -> Tensor: ...
@overload
def argsort(input: Tensor, *, stable: _bool, dim: _int = -1, descending: _bool = False) -> Tensor: ...
@overload
def median(input: Tensor) -> Tensor: ...
@overload
def median(
    input: Tensor, dim: _int, keepdim: _bool = False, *, out: tuple[Tensor, Tensor] | None = None
) -> return_types.median: ...
@overload
def nanmedian(input: Tensor, *, out: Tensor | None = None) -> Tensor: ...
@overload
def nanmedian(
    input: Tensor, dim: _int, keepdim: _bool = False, *, out: tuple[Tensor, Tensor] | None = None
) -> return_types.nanmedian: ...
@overload
def quantile(
    input: Tensor,
    q: Tensor,
    dim: _int | None = None,
    keepdim: _bool = False,
    *,
    interpolation: _str = "linear",
    out: Tensor | None = None,
) -> Tensor: ...
@overload
def quantile(
    input: Tensor,
    q: _float,
    dim: _int | None = None,
    keepdim: _bool = False,
    *,
    interpolation: _str = "linear",
    out: Tensor | None = None,
) -> Tensor: ...
@overload
def nanquantile(
    input: Tensor,
    q: Tensor,
    dim: _int | None = None,
    keepdim: _bool = False,
    *,
    interpolation: _str = "linear",
    out: Tensor | None = None,
) -> Tensor: ...
@overload
def nanquantile(
    input: Tensor,
    q: _float,
    dim: _int | None = None,
    keepdim: _bool = False,
    *,
    interpolation: _str = "linear",
    out: Tensor | None = None,
) -> Tensor: ...
@overload
def sort(
    input: Tensor, dim: _int = -1, descending: _bool = False, *, out: tuple[Tensor, Tensor] | None = None
) -> return_types.sort: ...
@overload
def sort(
    input: Tensor,
    *,
    stable: _bool | None,
    dim: _int = -1,
    descending: _bool = False,
    out: tuple[Tensor, Tensor] | None = None,
) -> return_types.sort: ...
def topk(
    input: Tensor,
    k: _int,
    dim: _int = -1,
    largest: _bool = True,
    sorted: _bool = True,
    *,
    out: tuple[Tensor, Tensor] | None = None,
) -> return_types.topk: ...
def unique_consecutive(
    input: Tensor, return_inverse: _bool = False, return_counts: _bool = False, dim: _int | None = None
) -> tuple[Tensor, Tensor, Tensor]: ...
def unique_dim(
    input: Tensor, dim: _int, sorted: _bool = True, return_inverse: _bool = False, return_counts: _bool = False
) -> tuple[Tensor, Tensor, Tensor]: ...
def _unique2(
    input: Tensor, sorted: _bool = True, return_inverse: _bool = False, return_counts: _bool = False
) -> tuple[Tensor, Tensor, Tensor]: ...
def einsum(equation: _str, tensors: Sequence[Tensor], *, path: Sequence[_int] | None = None) -> Tensor: ...
def addmm(
    input: Tensor, mat1: Tensor, mat2: Tensor, *, beta: Number = 1, alpha: Number = 1, out: Tensor | None = None
) -> Tensor: ...
def baddbmm(
    input: Tensor, batch1: Tensor, batch2: Tensor, *, beta: Number = 1, alpha: Number = 1, out: Tensor | None = None
) -> Tensor: ...
def addbmm(
    input: Tensor, batch1: Tensor, batch2: Tensor, *, beta: Number = 1, alpha: Number = 1, out: Tensor | None = None
) -> Tensor: ...
def addbmm_(input: Tensor, batch1: Tensor, batch2: Tensor, *, beta: Number = 1, alpha: Number = 1) -> Tensor: ...
def bmm(input: Tensor, mat2: Tensor, *, out: Tensor | None = None) -> Tensor: ...
def dot(input: Tensor, tensor: Tensor, *, out: Tensor | None = None) -> Tensor: ...
def linear(input: Tensor, weight: Tensor, bias: Tensor | None = None, *, out: Tensor | None = None) -> Tensor: ...
def matmul(input: Tensor, other: Tensor, *, out: Tensor | None = None) -> Tensor: ...
def mm(input: Tensor, mat2: Tensor, *, out: Tensor | None = None) -> Tensor: ...
def mv(input: Tensor, vec: Tensor, *, out: Tensor | None = None) -> Tensor: ...
def outer(input: Tensor, vec2: Tensor, *, out: Tensor | None = None) -> Tensor: ...
def kron(input: Tensor, other: Tensor, *, out: Tensor | None = None) -> Tensor: ...
def inner(input: Tensor, other: Tensor) -> Tensor: ...
def tensordot(
    input: Tensor, other: Tensor, dims_self: Sequence[_int], dims_other: Sequence[_int], *, out: Tensor | None = None
) -> Tensor: ...
def dist(input: Tensor, other: Tensor, p: Number = 2) -> Tensor: ...
def vdot(input: Tensor, other: Tensor) -> Tensor: ...
def addmv(
    input: Tensor, mat: Tensor, vec: Tensor, *, beta: Number = 1, alpha: Number = 1, out: Tensor | None = None
) -> Tensor: ...
def addmv_(input: Tensor, mat: Tensor, vec: Tensor, *, beta: Number = 1, alpha: Number = 1) -> Tensor: ...
def addr(
    input: Tensor, vec1: Tensor, vec2: Tensor, *, beta: Number = 1, alpha: Number = 1, out: Tensor | None = None
) -> Tensor: ...
def addr_(input: Tensor, vec1: Tensor, vec2: Tensor, *, beta: Number = 1, alpha: Number = 1) -> Tensor: ...
def renorm(input: Tensor, p: Number, dim: _int, maxnorm: Number, *, out: Tensor | None = None) -> Tensor: ...
def renorm_(input: Tensor, p: Number, dim: _int, maxnorm: Number) -> Tensor: ...
def linalg_cross(input: Tensor, other: Tensor, *, dim: _int = -1) -> Tensor: ...
def cross(input: Tensor, other: Tensor, dim: _int | None = None) -> Tensor: ...
def batch_norm(
    input: Tensor,
    weight: Tensor | None,
    bias: Tensor | None,
    running_mean: Tensor | None,
    running_var: Tensor | None,
    training: _bool,
    momentum: _float,
    eps: _float,
    cudnn_enabled: _bool,
) -> Tensor: ...
def group_norm(
    input: Tensor,
    num_groups: _int,
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    eps: _float = 1e-05,
    cudnn_enabled: _bool = True,
) -> Tensor: ...
def layer_norm(
    input: Tensor,
    normalized_shape: Sequence[_int],
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    eps: _float = 1e-05,
    cudnn_enable: _bool = True,
) -> Tensor: ...
def native_layer_norm(
    input: Tensor, normalized_shape: Sequence[_int], weight: Tensor | None, bias: Tensor | None, eps: _float
) -> tuple[Tensor, Tensor, Tensor]: ...
def native_layer_norm_backward(
    grad_out: Tensor,
    input: Tensor,
    normalized_shape: Sequence[_int],
    mean: Tensor,
    rstd: Tensor,
    weight: Tensor | None,
    bias: Tensor | None,
    output_mask: _bool | Sequence[_bool],
) -> tuple[Tensor, Tensor, Tensor]: ...
def native_batch_norm(
    input: Tensor,
    weight: Tensor | None,
    bias: Tensor | None,
    running_mean: Tensor | None,
    running_var: Tensor | None,
    training: _bool,
    momentum: _float,
    eps: _float,
) -> tuple[Tensor, Tensor, Tensor]: ...
def native_batch_norm_backward(
    grad_out: Tensor,
    input: Tensor,
    weight: Tensor | None,
    running_mean: Tensor | None,
    running_var: Tensor | None,
    save_mean: Tensor | None,
    save_invstd: Tensor | None,
    train: _bool,
    eps: _float,
    output_mask: _bool | Sequence[_bool],
) -> tuple[Tensor, Tensor, Tensor]: ...
def rms_norm(
    input: Tensor, normalized_shape: Sequence[_int], weight: Tensor | None = None, eps: _float | None = None
) -> Tensor: ...
def instance_norm(
    input: Tensor,
    weight: Tensor | None,
    bias: Tensor | None,
    running_mean: Tensor | None,
    running_var: Tensor | None,
    use_input_stats: _bool,
    momentum: _float,
    eps: _float,
    cudnn_enabled: _bool,
) -> Tensor: ...
@overload
def conv1d(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    stride: _int | Sequence[_int] = (1,),
    padding: _int | Sequence[_int] = (0,),
    dilation: _int | Sequence[_int] = (1,),
    groups: _int = 1,
) -> Tensor: ...
@overload
def conv1d(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    stride: _int | Sequence[_int] = (1,),
    padding: _str = "valid",
    dilation: _int | Sequence[_int] = (1,),
    groups: _int = 1,
) -> Tensor: ...
@overload
def conv2d(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    stride: _int | Sequence[_int] = (1, 1),
    padding: _int | Sequence[_int] = (0, 0),
    dilation: _int | Sequence[_int] = (1, 1),
    groups: _int = 1,
) -> Tensor: ...
@overload
def conv2d(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    stride: _int | Sequence[_int] = (1, 1),
    padding: _str = "valid",
    dilation: _int | Sequence[_int] = (1, 1),
    groups: _int = 1,
) -> Tensor: ...
@overload
def conv3d(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    stride: _int | Sequence[_int] = (1, 1, 1),
    padding: _int | Sequence[_int] = (0, 0, 0),
    dilation: _int | Sequence[_int] = (1, 1, 1),
    groups: _int = 1,
) -> Tensor: ...
@overload
def conv3d(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    stride: _int | Sequence[_int] = (1, 1, 1),
    padding: _str = "valid",
    dilation: _int | Sequence[_int] = (1, 1, 1),
    groups: _int = 1,
) -> Tensor: ...
def conv_transpose1d(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    stride: _int | Sequence[_int] = (1,),
    padding: _int | Sequence[_int] = (0,),
    output_padding: _int | Sequence[_int] = (0,),
    groups: _int = 1,
    dilation: _int | Sequence[_int] = (1,),
) -> Tensor: ...
def conv_transpose2d(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    stride: _int | Sequence[_int] = (1, 1),
    padding: _int | Sequence[_int] = (0, 0),
    output_padding: _int | Sequence[_int] = (0, 0),
    groups: _int = 1,
    dilation: _int | Sequence[_int] = (1, 1),
) -> Tensor: ...
def conv_transpose3d(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    stride: _int | Sequence[_int] = (1, 1, 1),
    padding: _int | Sequence[_int] = (0, 0, 0),
    output_padding: _int | Sequence[_int] = (0, 0, 0),
    groups: _int = 1,
    dilation: _int | Sequence[_int] = (1, 1, 1),
) -> Tensor: ...
def convolution(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None,
    stride: Sequence[_int],
    padding: Sequence[_int],
    dilation: Sequence[_int],
    transposed: _bool,
    output_padding: Sequence[_int],
    groups: _int,
) -> Tensor: ...
def convolution_backward(
    grad_output: Tensor,
    input: Tensor,
    weight: Tensor,
    bias_sizes: Sequence[_int] | None,
    stride: Sequence[_int],
    padding: Sequence[_int],
    dilation: Sequence[_int],
    transposed: _bool,
    output_padding: Sequence[_int],
    groups: _int,
    output_mask: _bool | Sequence[_bool],
) -> tuple[Tensor, Tensor, Tensor]: ...
def _adaptive_avg_pool2d(input: Tensor, output_size: _int | Sequence[_int]) -> Tensor: ...
def _adaptive_avg_pool2d_backward(grad_output: Tensor, input: Tensor) -> Tensor: ...
def adaptive_avg_pool2d(input: Tensor, output_size: _int | Sequence[_int]) -> Tensor: ...
def avg_pool2d(
    input: Tensor,
    kernel_size: _int | Sequence[_int],
    stride: _int | Sequence[_int] = (),
    padding: _int | Sequence[_int] = (0, 0),
    ceil_mode: _bool = False,
    count_include_pad: _bool = True,
    divisor_override: _int | None = None,
    *,
    out: Tensor | None = None,
) -> Tensor: ...
def avg_pool2d_backward(
    grad_output: Tensor,
    input: Tensor,
    kernel_size: _int | Sequence[_int],
    stride: _int | Sequence[_int],
    padding: _int | Sequence[_int],
    ceil_mode: _bool,
    count_include_pad: _bool,
    divisor_override: _int | None,
    *,
    out: Tensor | None = None,
) -> Tensor: ...
def max_pool2d(
    input: Tensor,
    kernel_size: _int | Sequence[_int],
    stride: _int | Sequence[_int] = (),
    padding: _int | Sequence[_int] = (0, 0),
    dilation: _int | Sequence[_int] = (1, 1),
    ceil_mode: _bool = False,
) -> Tensor: ...
def max_pool2d_with_indices(
    input: Tensor,
    kernel_size: _int | Sequence[_int],
    stride: _int | Sequence[_int] = (),
    padding: _int | Sequence[_int] = (0, 0),
    dilation: _int | Sequence[_int] = (1, 1),
    ceil_mode: _bool = False,
) -> tuple[Tensor, Tensor]: ...
def max_pool2d_with_indices_backward(
    grad_output: Tensor,
    input: Tensor,
    kernel_size: _int | Sequence[_int],
    stride: _int | Sequence[_int],
    padding: _int | Sequence[_int],
    dilation: _int | Sequence[_int],
    ceil_mode: _bool,
    indices: Tensor,
    *,
    out: Tensor | None = None,
) -> Tensor: ...
def adaptive_avg_pool1d(input: Tensor, output_size: _int | Sequence[_int]) -> Tensor: ...
def avg_pool1d(
    input: Tensor,
    kernel_size: _int | Sequence[_int],
    stride: _int | Sequence[_int] = (),
    padding: _int | Sequence[_int] = (0,),
    ceil_mode: _bool = False,
    count_include_pad: _bool = True,
) -> Tensor: ...
def max_pool1d_with_indices(
    input: Tensor,
    kernel_size: _int | Sequence[_int],
    stride: _int | Sequence[_int] = (),
    padding: _int | Sequence[_int] = (0,),
    dilation: _int | Sequence[_int] = (1,),
    ceil_mode: _bool = False,
) -> tuple[Tensor, Tensor]: ...
def max_pool1d(
    input: Tensor,
    kernel_size: _int | Sequence[_int],
    stride: _int | Sequence[_int] = (),
    padding: _int | Sequence[_int] = (0,),
    dilation: _int | Sequence[_int] = (1,),
    ceil_mode: _bool = False,
) -> Tensor: ...
def upsample_nearest1d(
    input: Tensor, output_size: _int | Sequence[_int], scales: _float | None = None, *, out: Tensor | None = None
) -> Tensor: ...
def upsample_nearest1d_backward(
    grad_output: Tensor,
    output_size: _int | Sequence[_int],
    input_size: _int | Sequence[_int],
    scales: _float | None = None,
) -> Tensor: ...
def upsample_nearest2d(
    input: Tensor,
    output_size: _int | Sequence[_int],
    scales_h: _float | None = None,
    scales_w: _float | None = None,
    *,
    out: Tensor | None = None,
) -> Tensor: ...
def upsample_nearest2d_backward(
    grad_output: Tensor,
    output_size: _int | Sequence[_int],
    input_size: _int | Sequence[_int],
    scales_h: _float | None = None,
    scales_w: _float | None = None,
) -> Tensor: ...
def upsample_nearest3d(
    input: Tensor,
    output_size: _int | Sequence[_int],
    scales_d: _float | None = None,
    scales_h: _float | None = None,
    scales_w: _float | None = None,
    *,
    out: Tensor | None = None,
) -> Tensor: ...
def upsample_nearest3d_backward(
    grad_output: Tensor,
    output_size: _int | Sequence[_int],
    input_size: _int | Sequence[_int],
    scales_d: _float | None = None,
    scales_h: _float | None = None,
    scales_w: _float | None = None,
) -> Tensor: ...
def _upsample_nearest_exact1d(
    input: Tensor, output_size: _int | Sequence[_int], scales: _float | None = None, *, out: Tensor | None = None
) -> Tensor: ...
def _upsample_nearest_exact1d_backward(
    grad_output: Tensor,
    output_size: _int | Sequence[_int],
    input_size: _int | Sequence[_int],
    scales: _float | None = None,
) -> Tensor: ...
def _upsample_nearest_exact2d(
    input: Tensor,
    output_size: _int | Sequence[_int],
    scales_h: _float | None = None,
    scales_w: _float | None = None,
    *,
    out: Tensor | None = None,
) -> Tensor: ...
def _upsample_nearest_exact2d_backward(
    grad_output: Tensor,
    output_size: _int | Sequence[_int],
    input_size: _int | Sequence[_int],
    scales_h: _float | None = None,
    scales_w: _float | None = None,
) -> Tensor: ...
def _upsample_nearest_exact3d(
    input: Tensor,
    output_size: _int | Sequence[_int],
    scales_d: _float | None = None,
    scales_h: _float | None = None,
    scales_w: _float | None = None,
    *,
    out: Tensor | None = None,
) -> Tensor: ...
def _upsample_nearest_exact3d_backward(
    grad_output: Tensor,
    output_size: _int | Sequence[_int],
    input_size: _int | Sequence[_int],
    scales_d: _float | None = None,
    scales_h: _float | None = None,
    scales_w: _float | None = None,
) -> Tensor: ...
def upsample_linear1d(
    input: Tensor,
    output_size: _int | Sequence[_int],
    align_corners: _bool,
    scales: _float | None = None,
    *,
    out: Tensor | None = None,
) -> Tensor: ...
def upsample_linear1d_backward(
    grad_output: Tensor,
    output_size: _int | Sequence[_int],
    input_size: _int | Sequence[_int],
    align_corners: _bool,
    scales: _float | None = None,
) -> Tensor: ...
def upsample_bilinear2d(
    input: Tensor,
    output_size: _int | Sequence[_int],
    align_corners: _bool,
    scales_h: _float | None = None,
    scales_w: _float | None = None,
    *,
    out: Tensor | None = None,
) -> Tensor: ...
def upsample_bilinear2d_backward(
    grad_output: Tensor,
    output_size: _int | Sequence[_int],
    input_size: _int | Sequence[_int],
    align_corners: _bool,
    scales_h: _float | None = None,
    scales_w: _float | None = None,
) -> Tensor: ...
def upsample_trilinear3d(
    input: Tensor,
    output_size: _int | Sequence[_int],
    align_corners: _bool,
    scales_d: _float | None = None,
    scales_h: _float | None = None,
    scales_w: _float | None = None,
    *,
    out: Tensor | None = None,
) -> Tensor: ...
def upsample_trilinear3d_backward(
    grad_output: Tensor,
    output_size: _int | Sequence[_int],
    input_size: _int | Sequence[_int],
    align_corners: _bool,
    scales_d: _float | None = None,
    scales_h: _float | None = None,
    scales_w: _float | None = None,
) -> Tensor: ...
def upsample_bicubic2d(
    input: Tensor,
    output_size: _int | Sequence[_int],
    align_corners: _bool,
    scales_h: _float | None = None,
    scales_w: _float | None = None,
    *,
    out: Tensor | None = None,
) -> Tensor: ...
def upsample_bicubic2d_backward(
    grad_output: Tensor,
    output_size: _int | Sequence[_int],
    input_size: _int | Sequence[_int],
    align_corners: _bool,
    scales_h: _float | None = None,
    scales_w: _float | None = None,
) -> Tensor: ...
def _upsample_bilinear2d_aa(
    input: Tensor,
    output_size: _int | Sequence[_int],
    align_corners: _bool,
    scales_h: _float | None = None,
    scales_w: _float | None = None,
    *,
    out: Tensor | None = None,
) -> Tensor: ...
def _upsample_bilinear2d_aa_backward(
    grad_output: Tensor,
    output_size: _int | Sequence[_int],
    input_size: _int | Sequence[_int],
    align_corners: _bool,
    scales_h: _float | None = None,
    scales_w: _float | None = None,
) -> Tensor: ...
def _upsample_bicubic2d_aa(
    input: Tensor,
    output_size: _int | Sequence[_int],
    align_corners: _bool,
    scales_h: _float | None = None,
    scales_w: _float | None = None,
    *,
    out: Tensor | None = None,
) -> Tensor: ...
def _upsample_bicubic2d_aa_backward(
    grad_output: Tensor,
    output_size: _int | Sequence[_int],
    input_size: _int | Sequence[_int],
    align_corners: _bool,
    scales_h: _float | None = None,
    scales_w: _float | None = None,
) -> Tensor: ...
def _upsample_lanczos2d_aa(
    input: Tensor,
    output_size: _int | Sequence[_int],
    align_corners: _bool,
    scales_h: _float | None = None,
    scales_w: _float | None = None,
    *,
    out: Tensor | None = None,
) -> Tensor: ...
def _upsample_lanczos2d_aa_backward(
    grad_output: Tensor,
    output_size: _int | Sequence[_int],
    input_size: _int | Sequence[_int],
    align_corners: _bool,
    scales_h: _float | None = None,
    scales_w: _float | None = None,
) -> Tensor: ...
def affine_grid_generator(
    theta: Tensor, size: Sequence[_int], align_corners: _bool, *, out: Tensor | None = None
) -> Tensor: ...
def affine_grid_generator_backward(grad: Tensor, size: Sequence[_int], align_corners: _bool) -> Tensor: ...
def constant_pad_nd(input: Tensor, pad: Sequence[_int], value: Number = 0) -> Tensor: ...
def pad(input: Tensor, pad: Sequence[_int], mode: _str = "constant", value: _float | None = None) -> Tensor: ...
def _pad_circular(input: Tensor, pad: Sequence[_int]) -> Tensor: ...
def reflection_pad1d(input: Tensor, padding: _int | Sequence[_int], *, out: Tensor | None = None) -> Tensor: ...
def reflection_pad1d_backward(
    grad_output: Tensor, input: Tensor, padding: _int | Sequence[_int], *, out: Tensor | None = None
) -> Tensor: ...
def reflection_pad2d(input: Tensor, padding: _int | Sequence[_int], *, out: Tensor | None = None) -> Tensor: ...
def reflection_pad2d_backward(
    grad_output: Tensor, input: Tensor, padding: _int | Sequence[_int], *, out: Tensor | None = None
) -> Tensor: ...
def reflection_pad3d(input: Tensor, padding: _int | Sequence[_int], *, out: Tensor | None = None) -> Tensor: ...
def reflection_pad3d_backward(
    grad_output: Tensor, input: Tensor, padding: _int | Sequence[_int], *, out: Tensor | None = None
) -> Tensor: ...
def replication_pad1d(input: Tensor, padding: _int | Sequence[_int], *, out: Tensor | None = None) -> Tensor: ...
def replication_pad1d_backward(
    grad_output: Tensor, input: Tensor, padding: _int | Sequence[_int], *, out: Tensor | None = None
) -> Tensor: ...
def replication_pad2d(input: Tensor, padding: _int | Sequence[_int], *, out: Tensor | None = None) -> Tensor: ...
def replication_pad2d_backward(
    grad_output: Tensor, input: Tensor, padding: _int | Sequence[_int], *, out: Tensor | None = None
) -> Tensor: ...
def replication_pad3d(input: Tensor, padding: _int | Sequence[_int], *, out: Tensor | None = None) -> Tensor: ...
def replication_pad3d_backward(
    grad_output: Tensor, input: Tensor, padding: _int | Sequence[_int], *, out: Tensor | None = None
) -> Tensor: ...
def _safe_softmax(input: Tensor, dim: _int, dtype: _dtype | None = None) -> Tensor: ...
def _scaled_dot_product_attention_math(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attn_mask: Tensor | None = None,
    dropout_p: _float = 0.0,
    is_causal: _bool = False,
    dropout_mask: Tensor | None = None,
    *,
    scale: _float | None = None,
    enable_gqa: _bool = False,
) -> tuple[Tensor, Tensor]: ...
def _scaled_dot_product_flash_attention_for_cpu(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    dropout_p: _float = 0.0,
    is_causal: _bool = False,
    *,
    attn_mask: Tensor | None = None,
    scale: _float | None = None,
) -> return_types._scaled_dot_product_flash_attention_for_cpu: ...
def _scaled_dot_product_flash_attention_for_cpu_backward(
    grad_out: Tensor,
    query: Tensor,
    key: Tensor,
    value: Tensor,
    out: Tensor,
    logsumexp: Tensor,
    dropout_p: _float,
    is_causal: _bool,
    *,
    attn_mask: Tensor | None = None,
    scale: _float | None = None,
) -> tuple[Tensor, Tensor, Tensor]: ...
def scaled_dot_product_attention(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attn_mask: Tensor | None = None,
    dropout_p: _float = 0.0,
    is_causal: _bool = False,
    *,
    scale: _float | None = None,
    enable_gqa: _bool = False,
) -> Tensor: ...
@overload
def gru(
    data: Tensor,
    batch_sizes: Tensor,
    hx: Tensor,
    params: Sequence[Tensor],
    has_biases: _bool,
    num_layers: _int,
    dropout: _float,
    train: _bool,
    bidirectional: _bool,
) -> tuple[Tensor, Tensor]: ...
@overload
def gru(
    input: Tensor,
    hx: Tensor,
    params: Sequence[Tensor],
    has_biases: _bool,
    num_layers: _int,
    dropout: _float,
    train: _bool,
    bidirectional: _bool,
    batch_first: _bool,
) -> tuple[Tensor, Tensor]: ...
@overload
def lstm(
    data: Tensor,
    batch_sizes: Tensor,
    hx: Sequence[Tensor],
    params: Sequence[Tensor],
    has_biases: _bool,
    num_layers: _int,
    dropout: _float,
    train: _bool,
    bidirectional: _bool,
) -> tuple[Tensor, Tensor, Tensor]: ...
@overload
def lstm(
    input: Tensor,
    hx: Sequence[Tensor],
    params: Sequence[Tensor],
    has_biases: _bool,
    num_layers: _int,
    dropout: _float,
    train: _bool,
    bidirectional: _bool,
    batch_first: _bool,
) -> tuple[Tensor, Tensor, Tensor]: ...
@overload
def rnn_relu(
    data: Tensor,
    batch_sizes: Tensor,
    hx: Tensor,
    params: Sequence[Tensor],
    has_biases: _bool,
    num_layers: _int,
    dropout: _float,
    train: _bool,
    bidirectional: _bool,
) -> tuple[Tensor, Tensor]: ...
@overload
def rnn_relu(
    input: Tensor,
    hx: Tensor,
    params: Sequence[Tensor],
    has_biases: _bool,
    num_layers: _int,
    dropout: _float,
    train: _bool,
    bidirectional: _bool,
    batch_first: _bool,
) -> tuple[Tensor, Tensor]: ...
@overload
def rnn_tanh(
    data: Tensor,
    batch_sizes: Tensor,
    hx: Tensor,
    params: Sequence[Tensor],
    has_biases: _bool,
    num_layers: _int,
    dropout: _float,
    train: _bool,
    bidirectional: _bool,
) -> tuple[Tensor, Tensor]: ...
@overload
def rnn_tanh(
    input: Tensor,
    hx: Tensor,
    params: Sequence[Tensor],
    has_biases: _bool,
    num_layers: _int,
    dropout: _float,
    train: _bool,
    bidirectional: _bool,
    batch_first: _bool,
) -> tuple[Tensor, Tensor]: ...
def _thnn_fused_lstm_cell(
    input_gates: Tensor,
    hidden_gates: Tensor,
    cx: Tensor,
    input_bias: Tensor | None = None,
    hidden_bias: Tensor | None = None,
) -> tuple[Tensor, Tensor, Tensor]: ...
def _thnn_fused_lstm_cell_backward(
    grad_hy: Tensor | None, grad_cy: Tensor | None, cx: Tensor, cy: Tensor, workspace: Tensor, has_bias: _bool
) -> tuple[Tensor, Tensor, Tensor, Tensor, Tensor]: ...
def _thnn_fused_gru_cell(
    input_gates: Tensor,
    hidden_gates: Tensor,
    hx: Tensor,
    input_bias: Tensor | None = None,
    hidden_bias: Tensor | None = None,
) -> tuple[Tensor, Tensor]: ...
def _thnn_fused_gru_cell_backward(
    grad_hy: Tensor, workspace: Tensor, has_bias: _bool
) -> tuple[Tensor, Tensor, Tensor, Tensor, Tensor]: ...
def gru_cell(
    input: Tensor, hx: Tensor, w_ih: Tensor, w_hh: Tensor, b_ih: Tensor | None = None, b_hh: Tensor | None = None
) -> Tensor: ...
def lstm_cell(
    input: Tensor,
    hx: Sequence[Tensor],
    w_ih: Tensor,
    w_hh: Tensor,
    b_ih: Tensor | None = None,
    b_hh: Tensor | None = None,
) -> tuple[Tensor, Tensor]: ...
def rnn_relu_cell(
    input: Tensor, hx: Tensor, w_ih: Tensor, w_hh: Tensor, b_ih: Tensor | None = None, b_hh: Tensor | None = None
) -> Tensor: ...
def rnn_tanh_cell(
    input: Tensor, hx: Tensor, w_ih: Tensor, w_hh: Tensor, b_ih: Tensor | None = None, b_hh: Tensor | None = None
) -> Tensor: ...
def cosine_similarity(x1: Tensor, x2: Tensor, dim: _int = 1, eps: _float = 1e-08) -> Tensor: ...
def norm(input: Tensor, p: Number | None, dim: _int | Sequence[_int], keepdim: _bool = False) -> Tensor: ...
def pairwise_distance(
    x1: Tensor, x2: Tensor, p: _float = 2.0, eps: _float = 1e-06, keepdim: _bool = False
) -> Tensor: ...
def _cdist_forward(x1: Tensor, x2: Tensor, p: _float, compute_mode: _int | None) -> Tensor: ...
def cdist(x1: Tensor, x2: Tensor, p: _float = 2.0, compute_mode: _int | None = None) -> Tensor: ...
def pdist(input: Tensor, p: _float = 2.0) -> Tensor: ...
def binary_cross_entropy(
    input: Tensor, target: Tensor, weight: Tensor | None = None, reduction: _int = 1, *, out: Tensor | None = None
) -> Tensor: ...
def binary_cross_entropy_with_logits(
    input: Tensor, target: Tensor, weight: Tensor | None = None, pos_weight: Tensor | None = None, reduction: _int = 1
) -> Tensor: ...
def cross_entropy_loss(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    reduction: _int = 1,
    ignore_index: _int = -100,
    label_smoothing: _float = 0.0,
) -> Tensor: ...
def huber_loss(
    input: Tensor, target: Tensor, reduction: _int = 1, delta: _float = 1.0, *, out: Tensor | None = None
) -> Tensor: ...
def kl_div(input: Tensor, target: Tensor, reduction: _int = 1, *, log_target: _bool = False) -> Tensor: ...
def l1_loss(input: Tensor, target: Tensor, reduction: _int = 1) -> Tensor: ...
def mse_loss(input: Tensor, target: Tensor, reduction: _int = 1, *, out: Tensor | None = None) -> Tensor: ...
def nll_loss(
    input: Tensor, target: Tensor, weight: Tensor | None = None, reduction: _int = 1, ignore_index: _int = -100
) -> Tensor: ...
def nll_loss2d(
    input: Tensor, target: Tensor, weight: Tensor | None = None, reduction: _int = 1, ignore_index: _int = -100
) -> Tensor: ...
def nll_loss2d_forward(
    input: Tensor, target: Tensor, weight: Tensor | None, reduction: _int, ignore_index: _int
) -> tuple[Tensor, Tensor]: ...
def nll_loss_forward(
    input: Tensor, target: Tensor, weight: Tensor | None, reduction: _int, ignore_index: _int
) -> tuple[Tensor, Tensor]: ...
def nll_loss_nd(
    input: Tensor, target: Tensor, weight: Tensor | None = None, reduction: _int = 1, ignore_index: _int = -100
) -> Tensor: ...
def smooth_l1_loss(
    input: Tensor, target: Tensor, reduction: _int = 1, beta: _float = 1.0, *, out: Tensor | None = None
) -> Tensor: ...
def hinge_embedding_loss(input: Tensor, target: Tensor, margin: _float = 1.0, reduction: _int = 1) -> Tensor: ...
def cosine_embedding_loss(
    input1: Tensor, input2: Tensor, target: Tensor, margin: _float = 0.0, reduction: _int = 1
) -> Tensor: ...
def margin_ranking_loss(
    input1: Tensor, input2: Tensor, target: Tensor, margin: _float = 0.0, reduction: _int = 1
) -> Tensor: ...
def triplet_margin_loss(
    anchor: Tensor,
    positive: Tensor,
    negative: Tensor,
    margin: _float = 1.0,
    p: _float = 2.0,
    eps: _float = 1e-06,
    swap: _bool = False,
    reduction: _int = 1,
) -> Tensor: ...
def poisson_nll_loss(
    input: Tensor, target: Tensor, log_input: _bool, full: _bool, eps: _float, reduction: _int
) -> Tensor: ...
def soft_margin_loss(input: Tensor, target: Tensor, reduction: _int = 1, *, out: Tensor | None = None) -> Tensor: ...
def multi_margin_loss(
    input: Tensor, target: Tensor, p: Number = 1, margin: Number = 1, weight: Tensor | None = None, reduction: _int = 1
) -> Tensor: ...
def multilabel_margin_loss_forward(input: Tensor, target: Tensor, reduction: _int) -> tuple[Tensor, Tensor]: ...
def multilabel_margin_loss(input: Tensor, target: Tensor, reduction: _int = 1) -> Tensor: ...
@overload
def ctc_loss(
    log_probs: Tensor,
    targets: Tensor,
    input_lengths: Sequence[_int],
    target_lengths: Sequence[_int],
    blank: _int = 0,
    reduction: _int = 1,
    zero_infinity: _bool = False,
) -> Tensor: ...
@overload
def ctc_loss(
    log_probs: Tensor,
    targets: Tensor,
    input_lengths: Tensor,
    target_lengths: Tensor,
    blank: _int = 0,
    reduction: _int = 1,
    zero_infinity: _bool = False,
) -> Tensor: ...
def _ctc_loss(
    log_probs: Tensor,
    targets: Tensor,
    input_lengths: Sequence[_int],
    target_lengths: Sequence[_int],
    blank: _int = 0,
    zero_infinity: _bool = False,
) -> tuple[Tensor, Tensor]: ...
def _ctc_loss_backward(
    grad: Tensor,
    log_probs: Tensor,
    targets: Tensor,
    input_lengths: Sequence[_int],
    target_lengths: Sequence[_int],
    neg_log_likelihood: Tensor,
    log_alpha: Tensor,
    blank: _int,
    zero_infinity: _bool = False,
) -> Tensor: ...
@overload
def bernoulli(input: Tensor, *, generator: Generator | None = None, out: Tensor | None = None) -> Tensor: ...
@overload
def bernoulli(input: Tensor, p: _float, *, generator: Generator | None = None) -> Tensor: ...
def dropout(input: Tensor, p: _float, train: _bool) -> Tensor: ...
def dropout_(input: Tensor, p: _float, train: _bool) -> Tensor: ...
def multinomial(
    input: Tensor,
    num_samples: _int,
    replacement: _bool = False,
    *,
    generator: Generator | None = None,
    out: Tensor | None = None,
) -> Tensor: ...
@overload
def normal(
    mean: _float,
    std: _float,
    size: Sequence[_int],
    *,
    generator: Generator | None = None,
    dtype: _dtype | None = None,
    layout: _layout | None = None,
    device: _device | _str | None = None,
    pin_memory: _bool | None = None,
    out: Tensor | None = None,
    requires_grad: _bool = False,
) -> Tensor: ...
@overload
def normal(
    mean: Tensor, std: _float = 1.0, *, generator: Generator | None = None, out: Tensor | None = None
) -> Tensor: ...
@overload
def normal(mean: _float, std: Tensor, *, generator: Generator | None = None, out: Tensor | None = None) -> Tensor: ...
@overload
def normal(mean: Tensor, std: Tensor, *, generator: Generator | None = None, out: Tensor | None = None) -> Tensor: ...
@overload
def rand(
    size: Sequence[_int],
    *,
    dtype: _dtype | None = None,
    layout: _layout | None = None,
    device: _device | _str | None = None,
    pin_memory: _bool | None = None,
    out: Tensor | None = None,
    requires_grad: _bool = False,
) -> Tensor: ...
@overload
def rand(
    *size: _int,
    dtype: _dtype | None = None,
    layout: _layout | None = None,
    device: _device | _str | None = None,
    pin_memory: _bool | None = None,
    out: Tensor | None = None,
    requires_grad: _bool = False,
) -> Tensor: ...
@overload
def rand(
    size: Sequence[_int],
    *,
    generator: Generator | None,
    dtype: _dtype | None = None,
    layout: _layout | None = None,
    device: _device | _str | None = None,
    pin_memory: _bool | None = None,
    out: Tensor | None = None,
    requires_grad: _bool = False,
) -> Tensor: ...
@overload
def rand(
    *size: _int,
    generator: Generator | None,
    dtype: _dtype | None = None,
    layout: _layout | None = None,
    device: _device | _str | None = None,
    pin_memory: _bool | None = None,
    out: Tensor | None = None,
    requires_grad: _bool = False,
) -> Tensor: ...
def rand_like(
    input: Tensor,
    *,
    dtype: _dtype | None = None,
    layout: _layout | None = None,
    device: _device | _str | None = None,
    pin_memory: _bool | None = None,
    memory_format: _memory_format | None = None,
    requires_grad: _bool = False,
) -> Tensor: ...
@overload
def randint(
    high: _int,
    size: Sequence[_int],
    *,
    dtype: _dtype | None = int64,
    layout: _layout | None = None,
    device: _device | _str | None = None,
    pin_memory: _bool | None = None,
    out: Tensor | None = None,
    requires_grad: _bool = False,
) -> Tensor: ...
@overload
def randint(
    high: _int,
    size: Sequence[_int],
    *,
    generator: Generator | None,
    dtype: _dtype | None = int64,
    layout: _layout | None = None,
    device: _device | _str | None = None,
    pin_memory: _bool | None = None,
    out: Tensor | None = None,
    requires_grad: _bool = False,
) -> Tensor: ...
@overload
def randint(
    low: _int,
    high: _int,
    size: Sequence[_int],
    *,
    dtype: _dtype | None = int64,
    layout: _layout | None = None,
    device: _device | _str | None = None,
    pin_memory: _bool | None = None,
    out: Tensor | None = None,
    requires_grad: _bool = False,
) -> Tensor: ...
@overload
def randint(
    low: _int,
    high: _int,
    size: Sequence[_int],
    *,
    generator: Generator | None,
    dtype: _dtype | None = int64,
    layout: _layout | None = None,
    device: _device | _str | None = None,
    pin_memory: _bool | None = None,
    out: Tensor | None = None,
    requires_grad: _bool = False,
) -> Tensor: ...
@overload
def randint_like(
    input: Tensor,
    high: _int,
    *,
    dtype: _dtype | None = None,
    layout: _layout | None = None,
    device: _device | _str | None = None,
    pin_memory: _bool | None = None,
    memory_format: _memory_format | None = None,
    requires_grad: _bool = False,
) -> Tensor: ...
@overload
def randint_like(
    input: Tensor,
    low: _int,
    high: _int,
    *,
    dtype: _dtype | None = None,
    layout: _layout | None = None,
    device: _device | _str | None = None,
    pin_memory: _bool | None = None,
    memory_format: _memory_format | None = None,
    requires_grad: _bool = False,
) -> Tensor: ...
@overload
def randn(
    size: Sequence[_int],
    *,
    dtype: _dtype | None = None,
    layout: _layout | None = None,
    device: _device | _str | None = None,
    pin_memory: _bool | None = None,
    out: Tensor | None = None,
    requires_grad: _bool = False,
) -> Tensor: ...
@overload
def randn(
    *size: _int,
    dtype: _dtype | None = None,
    layout: _layout | None = None,
    device: _device | _str | None = None,
    pin_memory: _bool | None = None,
    out: Tensor | None = None,
    requires_grad: _bool = False,
) -> Tensor: ...
@overload
def randn(
    size: Sequence[_int],
    *,
    generator: Generator | None,
    dtype: _dtype | None = None,
    layout: _layout | None = None,
    device: _device | _str | None = None,
    pin_memory: _bool | None = None,
    out: Tensor | None = None,
    requires_grad: _bool = False,
) -> Tensor: ...
@overload
def randn(
    *size: _int,
    generator: Generator | None,
    dtype: _dtype | None = None,
    layout: _layout | None = None,
    device: _device | _str | None = None,
    pin_memory: _bool | None = None,
    out: Tensor | None = None,
    requires_grad: _bool = False,
) -> Tensor: ...
def randn_like(
    input: Tensor,
    *,
    dtype: _dtype | None = None,
    layout: _layout | None = None,
    device: _device | _str | None = None,
    pin_memory: _bool | None = None,
    memory_format: _memory_format | None = None,
    requires_grad: _bool = False,
) -> Tensor: ...
@overload
def randperm(
    n: _int,
    *,
    dtype: _dtype | None = int64,
    layout: _layout | None = None,
    device: _device | _str | None = None,
    pin_memory: _bool | None = None,
    out: Tensor | None = None,
    requires_grad: _bool = False,
) -> Tensor: ...
@overload
def randperm(
    n: _int,
    *,
    generator: Generator | None,
    dtype: _dtype | None = int64,
    layout: _layout | None = None,
    device: _device | _str | None = None,
    pin_memory: _bool | None = None,
    out: Tensor | None = None,
    requires_grad: _bool = False,
) -> Tensor: ...
def feature_dropout(input: Tensor, p: _float, train: _bool) -> Tensor: ...
def feature_dropout_(input: Tensor, p: _float, train: _bool) -> Tensor: ...
def alpha_dropout(input: Tensor, p: _float, train: _bool) -> Tensor: ...
def alpha_dropout_(input: Tensor, p: _float, train: _bool) -> Tensor: ...
def feature_alpha_dropout(input: Tensor, p: _float, train: _bool) -> Tensor: ...
def feature_alpha_dropout_(input: Tensor, p: _float, train: _bool) -> Tensor: ...
def _log_softmax_backward_data(
    grad_output: Tensor, output: Tensor, dim: _int, input_dtype: _dtype, *, out: Tensor | None = None
) -> Tensor: ...
def _softmax_backward_data(
    grad_output: Tensor, output: Tensor, dim: _int, input_dtype: _dtype, *, out: Tensor | None = None
) -> Tensor: ...
def binary_cross_entropy_backward(
    grad_output: Tensor,
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    reduction: _int = 1,
    *,
    out: Tensor | None = None,
) -> Tensor: ...
def diagonal_backward(
    grad_output: Tensor, input_sizes: Sequence[_int], offset: _int, dim1: _int, dim2: _int
) -> Tensor: ...
def elu_backward(
    grad_output: Tensor,
    alpha: Number,
    scale: Number,
    input_scale: Number,
    is_result: _bool,
    self_or_result: Tensor,
    *,
    out: Tensor | None = None,
) -> Tensor: ...
def embedding_backward(
    grad: Tensor, indices: Tensor, num_weights: _int, padding_idx: _int, scale_grad_by_freq: _bool, sparse: _bool
) -> Tensor: ...
def embedding_dense_backward(
    grad_output: Tensor, indices: Tensor, num_weights: _int, padding_idx: _int, scale_grad_by_freq: _bool
) -> Tensor: ...
def gelu_backward(
    grad_output: Tensor, input: Tensor, *, approximate: _str = "none", out: Tensor | None = None
) -> Tensor: ...
def hardtanh_backward(
    grad_output: Tensor, input: Tensor, min_val: Number, max_val: Number, *, out: Tensor | None = None
) -> Tensor: ...
def huber_loss_backward(
    grad_output: Tensor, input: Tensor, target: Tensor, reduction: _int, delta: _float, *, out: Tensor | None = None
) -> Tensor: ...
def index_select_backward(grad: Tensor, self_sizes: Sequence[_int], dim: _int, index: Tensor) -> Tensor: ...
def leaky_relu_backward(
    grad_output: Tensor, input: Tensor, negative_slope: Number, self_is_result: _bool, *, out: Tensor | None = None
) -> Tensor: ...
def mse_loss_backward(
    grad_output: Tensor, input: Tensor, target: Tensor, reduction: _int, *, out: Tensor | None = None
) -> Tensor: ...
def nll_loss2d_backward(
    grad_output: Tensor,
    input: Tensor,
    target: Tensor,
    weight: Tensor | None,
    reduction: _int,
    ignore_index: _int,
    total_weight: Tensor,
) -> Tensor: ...
def nll_loss_backward(
    grad_output: Tensor,
    input: Tensor,
    target: Tensor,
    weight: Tensor | None,
    reduction: _int,
    ignore_index: _int,
    total_weight: Tensor,
    *,
    out: Tensor | None = None,
) -> Tensor: ...
def select_backward(grad_output: Tensor, input_sizes: Sequence[_int], dim: _int, index: _int) -> Tensor: ...
def sigmoid_backward(grad_output: Tensor, output: Tensor, *, out: Tensor | None = None) -> Tensor: ...
def silu_backward(grad_output: Tensor, input: Tensor, *, out: Tensor | None = None) -> Tensor: ...
def slice_backward(
    grad_output: Tensor, input_sizes: Sequence[_int], dim: _int, start: _int, end: _int, step: _int
) -> Tensor: ...
def smooth_l1_loss_backward(
    grad_output: Tensor, input: Tensor, target: Tensor, reduction: _int, beta: _float, *, out: Tensor | None = None
) -> Tensor: ...
def softplus_backward(
    grad_output: Tensor, input: Tensor, beta: Number, threshold: Number, *, out: Tensor | None = None
) -> Tensor: ...
def tanh_backward(grad_output: Tensor, output: Tensor, *, out: Tensor | None = None) -> Tensor: ...
def threshold_backward(
    grad_output: Tensor, input: Tensor, threshold: Number, *, out: Tensor | None = None
) -> Tensor: ...
def unfold_backward(grad_in: Tensor, input_sizes: Sequence[_int], dim: _int, size: _int, step: _int) -> Tensor: ...
def value_selecting_reduction_backward(
    grad: Tensor, dim: _int, indices: Tensor, sizes: Sequence[_int], keepdim: _bool
) -> Tensor: ...
def hardshrink_backward(grad_out: Tensor, input: Tensor, lambd: Number) -> Tensor: ...
def softshrink_backward(grad_output: Tensor, input: Tensor, lambd: Number) -> Tensor: ...
def hardsigmoid_backward(grad_output: Tensor, input: Tensor) -> Tensor: ...
def log_sigmoid_backward(
    grad_output: Tensor, input: Tensor, buffer: Tensor, *, out: Tensor | None = None
) -> Tensor: ...
@overload
def fake_quantize_per_tensor_affine(
    input: Tensor, scale: _float, zero_point: _int, quant_min: _int, quant_max: _int
) -> Tensor: ...
@overload
def fake_quantize_per_tensor_affine(
    input: Tensor, scale: Tensor, zero_point: Tensor, quant_min: _int, quant_max: _int
) -> Tensor: ...
def fake_quantize_per_tensor_affine_cachemask(
    input: Tensor, scale: _float, zero_point: _int, quant_min: _int, quant_max: _int
) -> tuple[Tensor, Tensor]: ...
def _fake_quantize_per_tensor_affine_cachemask_tensor_qparams(
    input: Tensor, scale: Tensor, zero_point: Tensor, fake_quant_enabled: Tensor, quant_min: _int, quant_max: _int
) -> return_types._fake_quantize_per_tensor_affine_cachemask_tensor_qparams: ...
def fake_quantize_per_tensor_affine_cachemask_backward(grad: Tensor, mask: Tensor) -> Tensor: ...
def fake_quantize_per_channel_affine(
    input: Tensor, scale: Tensor, zero_point: Tensor, axis: _int, quant_min: _int, quant_max: _int
) -> Tensor: ...
def fake_quantize_per_channel_affine_cachemask(
    input: Tensor, scale: Tensor, zero_point: Tensor, axis: _int, quant_min: _int, quant_max: _int
) -> tuple[Tensor, Tensor]: ...
def fake_quantize_per_channel_affine_cachemask_backward(grad: Tensor, mask: Tensor) -> Tensor: ...
def absolute(input: Tensor, *, out: Tensor | None = None) -> Tensor: ...
def absolute_(input: Tensor) -> Tensor: ...
def arccos(input: Tensor, *, out: Tensor | None = None) -> Tensor: ...
def arccos_(input: Tensor) -> Tensor: ...
def arccosh(input: Tensor, *, out: Tensor | None = None) -> Tensor: ...
def arccosh_(input: Tensor) -> Tensor: ...
def arcsin(input: Tensor, *, out: Tensor | None = None) -> Tensor: ...
def arcsin_(input: Tensor) -> Tensor: ...
def arcsinh(input: Tensor, *, out: Tensor | None = None) -> Tensor: ...
def arcsinh_(input: Tensor) -> Tensor: ...
def arctan(input: Tensor, *, out: Tensor | None = None) -> Tensor: ...
def arctan_(input: Tensor) -> Tensor: ...
def arctan2(input: Tensor, other: Tensor, *, out: Tensor | None = None) -> Tensor: ...
def arctanh(input: Tensor, *, out: Tensor | None = None) -> Tensor: ...
def arctanh_(input: Tensor) -> Tensor: ...
@overload
def clip(
    input: Tensor, min: Tensor | None = None, max: Tensor | None = None, *, out: Tensor | None = None
) -> Tensor: ...
@overload
def clip(
    input: Tensor, min: Number | None = None, max: Number | None = None, *, out: Tensor | None = None
) -> Tensor: ...
@overload
def clip_(input: Tensor, min: Tensor | None = None, max: Tensor | None = None) -> Tensor: ...
@overload
def clip_(input: Tensor, min: Number | None = None, max: Number | None = None) -> Tensor: ...
def concat(tensors: Sequence[Tensor], dim: _int = 0, *, out: Tensor | None = None) -> Tensor: ...
def concatenate(tensors: Sequence[Tensor], dim: _int = 0, *, out: Tensor | None = None) -> Tensor: ...
@overload
def divide(input: Tensor | Number, other: Tensor | Number, *, out: Tensor | None = None) -> Tensor: ...
@overload
def divide(
    input: Tensor | Number, other: Tensor | Number, *, rounding_mode: _str | None, out: Tensor | None = None
) -> Tensor: ...
def fix(input: Tensor, *, out: Tensor | None = None) -> Tensor: ...
def fix_(input: Tensor) -> Tensor: ...
def ger(input: Tensor, vec2: Tensor, *, out: Tensor | None = None) -> Tensor: ...
def greater(input: Tensor, other: Tensor | Number, *, out: Tensor | None = None) -> Tensor: ...
def greater_equal(input: Tensor, other: Tensor | Number, *, out: Tensor | None = None) -> Tensor: ...
def less(input: Tensor, other: Tensor | Number, *, out: Tensor | None = None) -> Tensor: ...
def less_equal(input: Tensor, other: Tensor | Number, *, out: Tensor | None = None) -> Tensor: ...
@overload
def moveaxis(input: Tensor, source: Sequence[_int], destination: Sequence[_int]) -> Tensor: ...
@overload
def moveaxis(input: Tensor, source: _int, destination: _int) -> Tensor: ...
def multiply(input: Tensor | Number, other: Tensor | Number, *, out: Tensor | None = None) -> Tensor: ...
def negative(input: Tensor, *, out: Tensor | None = None) -> Tensor: ...
def negative_(input: Tensor) -> Tensor: ...
def not_equal(input: Tensor, other: Tensor | Number, *, out: Tensor | None = None) -> Tensor: ...
def row_stack(tensors: Sequence[Tensor], *, out: Tensor | None = None) -> Tensor: ...
def subtract(
    input: Tensor | Number, other: Tensor | Number, *, alpha: Number = 1, out: Tensor | None = None
) -> Tensor: ...

alias_op: OpOverload
alias_copy_op: OpOverload
as_strided_op: OpOverload
as_strided_copy_op: OpOverload
as_strided__op: OpOverload
broadcast_tensors_op: OpOverload
broadcast_to_op: OpOverload
chunk_op: OpOverload
detach_op: OpOverload
diagonal_op: OpOverload
diagonal_copy_op: OpOverload
diagonal_copy_out_op: OpOverload
expand_op: OpOverload
expand_copy_op: OpOverload
expand_as_op: OpOverload
flatten_using_ints_op: OpOverload
lift_fresh_op: OpOverload
lift_fresh_copy_op: OpOverload
mT_op: OpOverload
movedim_intlist_op: OpOverload
movedim_int_op: OpOverload
narrow_op: OpOverload
narrow_Tensor_op: OpOverload
numpy_T_op: OpOverload
permute_op: OpOverload
permute_copy_op: OpOverload
_reshape_alias_op: OpOverload
_reshape_alias_copy_op: OpOverload
reshape_op: OpOverload
reshape_as_op: OpOverload
select_int_op: OpOverload
slice_Tensor_op: OpOverload
split_Tensor_op: OpOverload
split_sizes_op: OpOverload
split_with_sizes_op: OpOverload
split_with_sizes_copy_op: OpOverload
squeeze_op: OpOverload
squeeze_copy_op: OpOverload
squeeze_dim_op: OpOverload
squeeze_copy_dim_op: OpOverload
squeeze_dims_op: OpOverload
squeeze_copy_dims_op: OpOverload
squeeze__op: OpOverload
squeeze__dim_op: OpOverload
squeeze__dims_op: OpOverload
t_op: OpOverload
t_copy_op: OpOverload
t__op: OpOverload
transpose_int_op: OpOverload
transpose_copy_int_op: OpOverload
swapaxes_op: OpOverload
swapdims_op: OpOverload
transpose__op: OpOverload
unbind_int_op: OpOverload
unbind_copy_int_op: OpOverload
unflatten_int_op: OpOverload
unfold_op: OpOverload
unfold_copy_op: OpOverload
unsqueeze_op: OpOverload
unsqueeze_copy_op: OpOverload
unsqueeze__op: OpOverload
view_op: OpOverload
view_copy_op: OpOverload
view_dtype_op: OpOverload
view_copy_dtype_op: OpOverload
_unsafe_view_op: OpOverload
view_as_op: OpOverload
clone_op: OpOverload
contiguous_op: OpOverload
copy__op: OpOverload
_to_copy_op: OpOverload
to_dtype_layout_op: OpOverload
to_device_op: OpOverload
to_dtype_op: OpOverload
to_other_op: OpOverload
type_as_op: OpOverload
arange_op: OpOverload
arange_out_op: OpOverload
arange_start_op: OpOverload
arange_start_step_op: OpOverload
arange_start_out_op: OpOverload
empty_memory_format_op: OpOverload
empty_out_op: OpOverload
empty_like_op: OpOverload
empty_strided_op: OpOverload
eye_op: OpOverload
eye_m_op: OpOverload
eye_out_op: OpOverload
eye_m_out_op: OpOverload
full_op: OpOverload
full_out_op: OpOverload
full_like_op: OpOverload
scalar_tensor_op: OpOverload
linspace_op: OpOverload
linspace_out_op: OpOverload
linspace_Tensor_Tensor_op: OpOverload
linspace_Tensor_Tensor_out_op: OpOverload
linspace_Tensor_Scalar_op: OpOverload
linspace_Tensor_Scalar_out_op: OpOverload
linspace_Scalar_Tensor_op: OpOverload
linspace_Scalar_Tensor_out_op: OpOverload
new_empty_op: OpOverload
new_empty_strided_op: OpOverload
new_full_op: OpOverload
new_ones_op: OpOverload
new_zeros_op: OpOverload
ones_op: OpOverload
ones_out_op: OpOverload
ones_like_op: OpOverload
zeros_op: OpOverload
zeros_out_op: OpOverload
zeros_like_op: OpOverload
tril_indices_op: OpOverload
triu_indices_op: OpOverload
range_step_op: OpOverload
range_op: OpOverload
as_strided_scatter_op: OpOverload
copy_op: OpOverload
diagonal_scatter_op: OpOverload
select_scatter_op: OpOverload
slice_scatter_op: OpOverload
zero_op: OpOverload
fill_Tensor_op: OpOverload
fill_Scalar_op: OpOverload
fill__Tensor_op: OpOverload
fill__Scalar_op: OpOverload
resize__op: OpOverload
resize_as__op: OpOverload
zero__op: OpOverload
abs_op: OpOverload
abs__op: OpOverload
abs_out_op: OpOverload
add_Tensor_op: OpOverload
add__Tensor_op: OpOverload
add_out_op: OpOverload
add_Scalar_op: OpOverload
addcdiv_op: OpOverload
addcdiv__op: OpOverload
addcdiv_out_op: OpOverload
addcmul_op: OpOverload
addcmul__op: OpOverload
addcmul_out_op: OpOverload
allclose_op: OpOverload
bitwise_and_Tensor_op: OpOverload
bitwise_and__Tensor_op: OpOverload
bitwise_and_Tensor_out_op: OpOverload
bitwise_left_shift_Tensor_op: OpOverload
bitwise_left_shift__Tensor_op: OpOverload
bitwise_left_shift_Tensor_out_op: OpOverload
bitwise_not_op: OpOverload
bitwise_not__op: OpOverload
bitwise_not_out_op: OpOverload
bitwise_or_Tensor_op: OpOverload
bitwise_or__Tensor_op: OpOverload
bitwise_or_Tensor_out_op: OpOverload
bitwise_right_shift_Tensor_op: OpOverload
bitwise_right_shift__Tensor_op: OpOverload
bitwise_right_shift_Tensor_out_op: OpOverload
bitwise_xor_Tensor_op: OpOverload
bitwise_xor__Tensor_op: OpOverload
bitwise_xor_Tensor_out_op: OpOverload
ceil_op: OpOverload
ceil__op: OpOverload
ceil_out_op: OpOverload
clamp_Tensor_op: OpOverload
clamp__Tensor_op: OpOverload
clamp_Tensor_out_op: OpOverload
clamp_op: OpOverload
clamp__op: OpOverload
clamp_out_op: OpOverload
clamp_max_Tensor_op: OpOverload
clamp_max__Tensor_op: OpOverload
clamp_max_Tensor_out_op: OpOverload
clamp_max_op: OpOverload
clamp_max__op: OpOverload
clamp_max_out_op: OpOverload
clamp_min_Tensor_op: OpOverload
clamp_min__Tensor_op: OpOverload
clamp_min_Tensor_out_op: OpOverload
clamp_min_op: OpOverload
clamp_min__op: OpOverload
clamp_min_out_op: OpOverload
cos_op: OpOverload
cos__op: OpOverload
cos_out_op: OpOverload
div_Tensor_op: OpOverload
div__Tensor_op: OpOverload
div_out_op: OpOverload
div_Scalar_op: OpOverload
div_Tensor_mode_op: OpOverload
div__Tensor_mode_op: OpOverload
div_out_mode_op: OpOverload
elu_op: OpOverload
elu__op: OpOverload
elu_out_op: OpOverload
eq_Tensor_op: OpOverload
eq__Tensor_op: OpOverload
eq_Tensor_out_op: OpOverload
eq_Scalar_op: OpOverload
is_nonzero_op: OpOverload
is_same_size_op: OpOverload
is_signed_op: OpOverload
equal_op: OpOverload
erf_op: OpOverload
erf__op: OpOverload
erf_out_op: OpOverload
exp_op: OpOverload
exp__op: OpOverload
exp_out_op: OpOverload
exp2_op: OpOverload
exp2__op: OpOverload
exp2_out_op: OpOverload
expm1_op: OpOverload
expm1__op: OpOverload
expm1_out_op: OpOverload
floor_op: OpOverload
floor__op: OpOverload
floor_out_op: OpOverload
floor_divide_op: OpOverload
floor_divide_out_op: OpOverload
floor_divide__Tensor_op: OpOverload
fmod_Tensor_op: OpOverload
fmod__Tensor_op: OpOverload
fmod_Tensor_out_op: OpOverload
fmod_Scalar_op: OpOverload
fmod__Scalar_op: OpOverload
fmod_Scalar_out_op: OpOverload
ge_Tensor_op: OpOverload
ge__Tensor_op: OpOverload
ge_Tensor_out_op: OpOverload
gelu_op: OpOverload
gelu__op: OpOverload
gelu_out_op: OpOverload
gt_Tensor_op: OpOverload
gt__Tensor_op: OpOverload
gt_Tensor_out_op: OpOverload
hardtanh_op: OpOverload
hardtanh__op: OpOverload
hardtanh_out_op: OpOverload
isclose_op: OpOverload
isfinite_op: OpOverload
isinf_op: OpOverload
isnan_op: OpOverload
le_Tensor_op: OpOverload
le__Tensor_op: OpOverload
le_Tensor_out_op: OpOverload
leaky_relu_op: OpOverload
leaky_relu__op: OpOverload
leaky_relu_out_op: OpOverload
lerp_Tensor_op: OpOverload
lerp__Tensor_op: OpOverload
lerp_Tensor_out_op: OpOverload
lerp_Scalar_op: OpOverload
lerp__Scalar_op: OpOverload
lerp_Scalar_out_op: OpOverload
log_op: OpOverload
log__op: OpOverload
log_out_op: OpOverload
log10_op: OpOverload
log10__op: OpOverload
log10_out_op: OpOverload
log1p_op: OpOverload
log1p__op: OpOverload
log1p_out_op: OpOverload
log2_op: OpOverload
log2__op: OpOverload
log2_out_op: OpOverload
logical_and_op: OpOverload
logical_and__op: OpOverload
logical_and_out_op: OpOverload
logical_not_op: OpOverload
logical_not__op: OpOverload
logical_not_out_op: OpOverload
logical_or_op: OpOverload
logical_or__op: OpOverload
logical_or_out_op: OpOverload
logical_xor_op: OpOverload
logical_xor__op: OpOverload
logical_xor_out_op: OpOverload
lt_Tensor_op: OpOverload
lt__Tensor_op: OpOverload
lt_Tensor_out_op: OpOverload
maximum_op: OpOverload
maximum_out_op: OpOverload
minimum_op: OpOverload
minimum_out_op: OpOverload
mul_Tensor_op: OpOverload
mul__Tensor_op: OpOverload
mul_out_op: OpOverload
mul_Scalar_op: OpOverload
ne_Tensor_op: OpOverload
ne__Tensor_op: OpOverload
ne_Tensor_out_op: OpOverload
neg_op: OpOverload
neg__op: OpOverload
neg_out_op: OpOverload
positive_op: OpOverload
pow_Tensor_Tensor_op: OpOverload
pow__Tensor_op: OpOverload
pow_Tensor_Tensor_out_op: OpOverload
pow_Tensor_Scalar_op: OpOverload
pow__Scalar_op: OpOverload
pow_Tensor_Scalar_out_op: OpOverload
pow_Scalar_op: OpOverload
pow_Scalar_out_op: OpOverload
reciprocal_op: OpOverload
reciprocal__op: OpOverload
reciprocal_out_op: OpOverload
relu_op: OpOverload
relu__op: OpOverload
remainder_Tensor_op: OpOverload
remainder__Tensor_op: OpOverload
remainder_Tensor_out_op: OpOverload
remainder_Scalar_op: OpOverload
remainder__Scalar_op: OpOverload
remainder_Scalar_out_op: OpOverload
round_op: OpOverload
round__op: OpOverload
round_out_op: OpOverload
round_decimals_op: OpOverload
round__decimals_op: OpOverload
round_decimals_out_op: OpOverload
rsqrt_op: OpOverload
rsqrt__op: OpOverload
rsqrt_out_op: OpOverload
rsub_Tensor_op: OpOverload
rsub_Scalar_op: OpOverload
sgn_op: OpOverload
sgn__op: OpOverload
sgn_out_op: OpOverload
sigmoid_op: OpOverload
sigmoid__op: OpOverload
sigmoid_out_op: OpOverload
sign_op: OpOverload
sign__op: OpOverload
sign_out_op: OpOverload
silu_op: OpOverload
silu__op: OpOverload
silu_out_op: OpOverload
sin_op: OpOverload
sin__op: OpOverload
sin_out_op: OpOverload
softplus_op: OpOverload
softplus_out_op: OpOverload
sqrt_op: OpOverload
sqrt__op: OpOverload
sqrt_out_op: OpOverload
square_op: OpOverload
square__op: OpOverload
square_out_op: OpOverload
sub_Tensor_op: OpOverload
sub__Tensor_op: OpOverload
sub_out_op: OpOverload
sub_Scalar_op: OpOverload
tan_op: OpOverload
tan__op: OpOverload
tan_out_op: OpOverload
tanh_op: OpOverload
tanh__op: OpOverload
tanh_out_op: OpOverload
threshold_op: OpOverload
threshold__op: OpOverload
threshold_out_op: OpOverload
trunc_op: OpOverload
trunc__op: OpOverload
trunc_out_op: OpOverload
where_self_op: OpOverload
where_op: OpOverload
where_self_out_op: OpOverload
xlogy_Tensor_op: OpOverload
xlogy__Tensor_op: OpOverload
xlogy_Scalar_Other_op: OpOverload
xlogy__Scalar_Other_op: OpOverload
xlogy_Scalar_Self_op: OpOverload
xlogy_OutTensor_op: OpOverload
acos_op: OpOverload
acos__op: OpOverload
acos_out_op: OpOverload
acosh_op: OpOverload
acosh__op: OpOverload
acosh_out_op: OpOverload
asin_op: OpOverload
asin__op: OpOverload
asin_out_op: OpOverload
asinh_op: OpOverload
asinh__op: OpOverload
asinh_out_op: OpOverload
atan_op: OpOverload
atan__op: OpOverload
atan_out_op: OpOverload
atanh_op: OpOverload
atanh__op: OpOverload
atanh_out_op: OpOverload
cosh_op: OpOverload
cosh__op: OpOverload
cosh_out_op: OpOverload
sinh_op: OpOverload
sinh__op: OpOverload
sinh_out_op: OpOverload
erfc_op: OpOverload
erfc__op: OpOverload
erfc_out_op: OpOverload
sinc_op: OpOverload
sinc__op: OpOverload
sinc_out_op: OpOverload
lgamma_op: OpOverload
lgamma__op: OpOverload
lgamma_out_op: OpOverload
digamma_op: OpOverload
digamma__op: OpOverload
digamma_out_op: OpOverload
erfinv_op: OpOverload
erfinv__op: OpOverload
erfinv_out_op: OpOverload
frac_op: OpOverload
frac__op: OpOverload
frac_out_op: OpOverload
atan2_op: OpOverload
atan2__op: OpOverload
atan2_out_op: OpOverload
hypot_op: OpOverload
hypot__op: OpOverload
hypot_out_op: OpOverload
copysign_Tensor_op: OpOverload
copysign_Scalar_op: OpOverload
copysign__Scalar_op: OpOverload
copysign_Scalar_out_op: OpOverload
copysign__Tensor_op: OpOverload
copysign_out_op: OpOverload
logaddexp_op: OpOverload
logaddexp_out_op: OpOverload
logaddexp2_op: OpOverload
logaddexp2_out_op: OpOverload
fmax_op: OpOverload
fmax_out_op: OpOverload
fmin_op: OpOverload
fmin_out_op: OpOverload
gcd_op: OpOverload
gcd__op: OpOverload
gcd_out_op: OpOverload
lcm_op: OpOverload
lcm__op: OpOverload
lcm_out_op: OpOverload
heaviside_op: OpOverload
heaviside__op: OpOverload
heaviside_out_op: OpOverload
signbit_op: OpOverload
signbit_out_op: OpOverload
isposinf_op: OpOverload
isposinf_out_op: OpOverload
isneginf_op: OpOverload
isneginf_out_op: OpOverload
nan_to_num_op: OpOverload
nan_to_num__op: OpOverload
nan_to_num_out_op: OpOverload
logit_op: OpOverload
logit__op: OpOverload
logit_out_op: OpOverload
polygamma_op: OpOverload
polygamma_out_op: OpOverload
polygamma__op: OpOverload
deg2rad_op: OpOverload
deg2rad__op: OpOverload
deg2rad_out_op: OpOverload
rad2deg_op: OpOverload
rad2deg__op: OpOverload
rad2deg_out_op: OpOverload
float_power_Tensor_Tensor_op: OpOverload
float_power_Tensor_Scalar_op: OpOverload
float_power_Scalar_op: OpOverload
ldexp_Tensor_op: OpOverload
ldexp__op: OpOverload
ldexp_out_op: OpOverload
true_divide_Tensor_op: OpOverload
true_divide_out_op: OpOverload
true_divide__Tensor_op: OpOverload
isreal_op: OpOverload
real_op: OpOverload
conj_op: OpOverload
resolve_conj_op: OpOverload
resolve_neg_op: OpOverload
conj_physical_op: OpOverload
mvlgamma_op: OpOverload
celu_op: OpOverload
celu__op: OpOverload
selu_op: OpOverload
selu__op: OpOverload
hardsigmoid_op: OpOverload
hardsigmoid__op: OpOverload
hardsigmoid_out_op: OpOverload
hardswish_op: OpOverload
hardswish__op: OpOverload
hardswish_out_op: OpOverload
mish_op: OpOverload
mish__op: OpOverload
mish_out_op: OpOverload
hardshrink_op: OpOverload
hardshrink_out_op: OpOverload
softshrink_op: OpOverload
softshrink_out_op: OpOverload
log_sigmoid_forward_op: OpOverload
log_sigmoid_op: OpOverload
log_sigmoid_out_op: OpOverload
glu_op: OpOverload
glu_out_op: OpOverload
_prelu_kernel_op: OpOverload
prelu_op: OpOverload
rrelu_with_noise_op: OpOverload
rrelu_with_noise__op: OpOverload
rrelu_with_noise_backward_op: OpOverload
rrelu_op: OpOverload
rrelu__op: OpOverload
cat_op: OpOverload
cat_out_op: OpOverload
embedding_op: OpOverload
embedding_renorm__op: OpOverload
flip_op: OpOverload
gather_op: OpOverload
gather_out_op: OpOverload
index_Tensor_op: OpOverload
index_add_op: OpOverload
index_add__op: OpOverload
index_add_out_op: OpOverload
index_put_op: OpOverload
index_put__op: OpOverload
_index_put_impl__op: OpOverload
index_select_op: OpOverload
index_select_out_op: OpOverload
masked_fill_Tensor_op: OpOverload
masked_fill_Scalar_op: OpOverload
masked_fill__Tensor_op: OpOverload
masked_fill__Scalar_op: OpOverload
one_hot_op: OpOverload
repeat_op: OpOverload
roll_op: OpOverload
scatter_src_op: OpOverload
scatter__src_op: OpOverload
scatter_src_out_op: OpOverload
scatter_value_op: OpOverload
scatter__value_op: OpOverload
scatter_value_out_op: OpOverload
scatter_reduce_op: OpOverload
scatter__reduce_op: OpOverload
scatter_reduce_out_op: OpOverload
scatter_value_reduce_op: OpOverload
scatter__value_reduce_op: OpOverload
scatter_value_reduce_out_op: OpOverload
scatter_add_op: OpOverload
scatter_add__op: OpOverload
scatter_add_out_op: OpOverload
stack_op: OpOverload
stack_out_op: OpOverload
tile_op: OpOverload
tril_op: OpOverload
tril__op: OpOverload
tril_out_op: OpOverload
triu_op: OpOverload
triu__op: OpOverload
triu_out_op: OpOverload
_log_softmax_op: OpOverload
_log_softmax_out_op: OpOverload
_softmax_op: OpOverload
_softmax_out_op: OpOverload
all_dim_op: OpOverload
all_dims_op: OpOverload
all_op: OpOverload
all_out_op: OpOverload
all_dims_out_op: OpOverload
all_all_out_op: OpOverload
amax_op: OpOverload
amax_out_op: OpOverload
amin_op: OpOverload
amin_out_op: OpOverload
any_dim_op: OpOverload
any_dims_op: OpOverload
any_op: OpOverload
any_out_op: OpOverload
any_dims_out_op: OpOverload
any_all_out_op: OpOverload
argmax_op: OpOverload
argmax_out_op: OpOverload
argmin_op: OpOverload
argmin_out_op: OpOverload
cumsum_op: OpOverload
cumsum__op: OpOverload
cumsum_out_op: OpOverload
log_softmax_int_op: OpOverload
log_softmax_int_out_op: OpOverload
logcumsumexp_op: OpOverload
logcumsumexp_out_op: OpOverload
logsumexp_op: OpOverload
logsumexp_out_op: OpOverload
max_op: OpOverload
max_unary_out_op: OpOverload
max_other_op: OpOverload
max_out_op: OpOverload
max_dim_op: OpOverload
max_dim_max_op: OpOverload
mean_op: OpOverload
mean_dim_op: OpOverload
mean_out_op: OpOverload
mean_dtype_out_op: OpOverload
min_op: OpOverload
min_unary_out_op: OpOverload
min_other_op: OpOverload
min_out_op: OpOverload
min_dim_op: OpOverload
min_dim_min_op: OpOverload
prod_op: OpOverload
prod_dim_int_op: OpOverload
prod_int_out_op: OpOverload
prod_out_op: OpOverload
softmax_int_op: OpOverload
softmax_int_out_op: OpOverload
std_op: OpOverload
std_dim_op: OpOverload
std_out_op: OpOverload
std_correction_op: OpOverload
std_correction_out_op: OpOverload
std_mean_op: OpOverload
std_mean_dim_op: OpOverload
std_mean_correction_op: OpOverload
var_mean_op: OpOverload
var_mean_dim_op: OpOverload
var_mean_correction_op: OpOverload
sum_op: OpOverload
sum_dim_IntList_op: OpOverload
sum_IntList_out_op: OpOverload
sum_out_op: OpOverload
var_op: OpOverload
var_dim_op: OpOverload
var_out_op: OpOverload
var_correction_op: OpOverload
var_correction_out_op: OpOverload
bincount_op: OpOverload
histc_op: OpOverload
histc_out_op: OpOverload
histogram_bin_ct_op: OpOverload
histogram_bins_tensor_op: OpOverload
cumprod_op: OpOverload
cumprod__op: OpOverload
cumprod_out_op: OpOverload
_local_scalar_dense_op: OpOverload
cummax_op: OpOverload
cummax_out_op: OpOverload
cummin_op: OpOverload
cummin_out_op: OpOverload
kthvalue_op: OpOverload
kthvalue_values_op: OpOverload
mode_op: OpOverload
mode_values_op: OpOverload
nansum_op: OpOverload
nansum_out_op: OpOverload
nanmean_op: OpOverload
nanmean_out_op: OpOverload
count_nonzero_op: OpOverload
count_nonzero_dim_IntList_op: OpOverload
aminmax_op: OpOverload
aminmax_out_op: OpOverload
trapezoid_x_op: OpOverload
trapezoid_dx_op: OpOverload
trapz_x_op: OpOverload
trapz_dx_op: OpOverload
diff_op: OpOverload
diff_out_op: OpOverload
searchsorted_Tensor_op: OpOverload
searchsorted_Scalar_op: OpOverload
bucketize_Tensor_op: OpOverload
bucketize_Tensor_out_op: OpOverload
bucketize_Scalar_op: OpOverload
msort_op: OpOverload
msort_out_op: OpOverload
isin_Tensor_Tensor_op: OpOverload
isin_Tensor_Scalar_op: OpOverload
atleast_1d_op: OpOverload
atleast_1d_Sequence_op: OpOverload
atleast_2d_op: OpOverload
atleast_2d_Sequence_op: OpOverload
atleast_3d_op: OpOverload
atleast_3d_Sequence_op: OpOverload
column_stack_op: OpOverload
column_stack_out_op: OpOverload
dstack_op: OpOverload
dstack_out_op: OpOverload
hstack_op: OpOverload
hstack_out_op: OpOverload
meshgrid_op: OpOverload
meshgrid_indexing_op: OpOverload
repeat_interleave_Tensor_op: OpOverload
repeat_interleave_self_Tensor_op: OpOverload
repeat_interleave_self_int_op: OpOverload
vstack_op: OpOverload
vstack_out_op: OpOverload
pixel_shuffle_op: OpOverload
pixel_shuffle_out_op: OpOverload
pixel_unshuffle_op: OpOverload
pixel_unshuffle_out_op: OpOverload
channel_shuffle_op: OpOverload
native_channel_shuffle_op: OpOverload
bilinear_op: OpOverload
diag_embed_op: OpOverload
diag_op: OpOverload
diag_out_op: OpOverload
diagflat_op: OpOverload
fliplr_op: OpOverload
flipud_op: OpOverload
rot90_op: OpOverload
ravel_op: OpOverload
argwhere_op: OpOverload
take_along_dim_op: OpOverload
take_along_dim_out_op: OpOverload
put__op: OpOverload
put_op: OpOverload
put_out_op: OpOverload
index_reduce_op: OpOverload
index_reduce_out_op: OpOverload
index_reduce__op: OpOverload
take_op: OpOverload
take_out_op: OpOverload
tensor_split_tensor_indices_or_sections_op: OpOverload
tensor_split_sections_op: OpOverload
tensor_split_indices_op: OpOverload
hsplit_int_op: OpOverload
hsplit_array_op: OpOverload
vsplit_int_op: OpOverload
vsplit_array_op: OpOverload
dsplit_int_op: OpOverload
dsplit_array_op: OpOverload
vander_op: OpOverload
swapdims__op: OpOverload
swapaxes__op: OpOverload
sum_to_size_op: OpOverload
index_copy_op: OpOverload
index_copy__op: OpOverload
index_copy_out_op: OpOverload
index_fill_int_Tensor_op: OpOverload
index_fill__int_Tensor_op: OpOverload
index_fill_int_Scalar_op: OpOverload
index_fill__int_Scalar_op: OpOverload
masked_scatter_op: OpOverload
masked_scatter__op: OpOverload
masked_scatter_backward_op: OpOverload
masked_select_op: OpOverload
masked_select_out_op: OpOverload
masked_select_backward_op: OpOverload
nonzero_op: OpOverload
nonzero_out_op: OpOverload
nonzero_numpy_op: OpOverload
scatter_reduce_two_op: OpOverload
scatter_reduce__two_op: OpOverload
scatter_reduce_two_out_op: OpOverload
linalg_matrix_norm_op: OpOverload
linalg_matrix_norm_out_op: OpOverload
linalg_matrix_norm_str_ord_op: OpOverload
linalg_matrix_norm_str_ord_out_op: OpOverload
_linalg_svd_op: OpOverload
linalg_inv_ex_op: OpOverload
linalg_inv_op: OpOverload
_linalg_det_op: OpOverload
linalg_det_op: OpOverload
det_op: OpOverload
_linalg_solve_ex_op: OpOverload
linalg_solve_op: OpOverload
linalg_cholesky_ex_op: OpOverload
linalg_cholesky_op: OpOverload
cov_op: OpOverload
corrcoef_op: OpOverload
inverse_op: OpOverload
trace_op: OpOverload
linalg_svdvals_op: OpOverload
linalg_svdvals_out_op: OpOverload
linalg_vector_norm_op: OpOverload
linalg_vector_norm_out_op: OpOverload
argsort_op: OpOverload
argsort_stable_op: OpOverload
median_op: OpOverload
median_dim_op: OpOverload
median_dim_values_op: OpOverload
nanmedian_op: OpOverload
nanmedian_out_op: OpOverload
nanmedian_dim_op: OpOverload
nanmedian_dim_values_op: OpOverload
quantile_op: OpOverload
quantile_out_op: OpOverload
quantile_scalar_op: OpOverload
quantile_scalar_out_op: OpOverload
nanquantile_op: OpOverload
nanquantile_out_op: OpOverload
nanquantile_scalar_op: OpOverload
nanquantile_scalar_out_op: OpOverload
sort_op: OpOverload
sort_values_op: OpOverload
sort_stable_op: OpOverload
sort_values_stable_op: OpOverload
topk_op: OpOverload
topk_values_op: OpOverload
unique_consecutive_op: OpOverload
unique_dim_op: OpOverload
_unique2_op: OpOverload
einsum_op: OpOverload
addmm_op: OpOverload
addmm__op: OpOverload
addmm_out_op: OpOverload
baddbmm_op: OpOverload
baddbmm__op: OpOverload
baddbmm_out_op: OpOverload
addbmm_op: OpOverload
addbmm__op: OpOverload
addbmm_out_op: OpOverload
bmm_op: OpOverload
bmm_out_op: OpOverload
dot_op: OpOverload
dot_out_op: OpOverload
linear_op: OpOverload
linear_out_op: OpOverload
matmul_op: OpOverload
matmul_out_op: OpOverload
mm_op: OpOverload
mm_out_op: OpOverload
mv_op: OpOverload
mv_out_op: OpOverload
outer_op: OpOverload
kron_op: OpOverload
kron_out_op: OpOverload
outer_out_op: OpOverload
inner_op: OpOverload
tensordot_op: OpOverload
tensordot_out_op: OpOverload
dist_op: OpOverload
vdot_op: OpOverload
addmv_op: OpOverload
addmv__op: OpOverload
addmv_out_op: OpOverload
addr_op: OpOverload
addr__op: OpOverload
addr_out_op: OpOverload
renorm_op: OpOverload
renorm__op: OpOverload
renorm_out_op: OpOverload
linalg_cross_op: OpOverload
cross_op: OpOverload
batch_norm_op: OpOverload
group_norm_op: OpOverload
layer_norm_op: OpOverload
native_layer_norm_op: OpOverload
native_layer_norm_backward_op: OpOverload
native_batch_norm_op: OpOverload
native_batch_norm_backward_op: OpOverload
rms_norm_op: OpOverload
instance_norm_op: OpOverload
conv1d_op: OpOverload
conv1d_padding_op: OpOverload
conv2d_op: OpOverload
conv2d_padding_op: OpOverload
conv3d_op: OpOverload
conv3d_padding_op: OpOverload
conv_transpose1d_op: OpOverload
conv_transpose2d_input_op: OpOverload
conv_transpose3d_input_op: OpOverload
convolution_op: OpOverload
convolution_backward_op: OpOverload
_adaptive_avg_pool2d_op: OpOverload
_adaptive_avg_pool2d_backward_op: OpOverload
adaptive_avg_pool2d_op: OpOverload
avg_pool2d_op: OpOverload
avg_pool2d_out_op: OpOverload
avg_pool2d_backward_op: OpOverload
avg_pool2d_backward_grad_input_op: OpOverload
max_pool2d_op: OpOverload
max_pool2d_with_indices_op: OpOverload
max_pool2d_with_indices_backward_op: OpOverload
max_pool2d_with_indices_backward_grad_input_op: OpOverload
adaptive_avg_pool1d_op: OpOverload
avg_pool1d_op: OpOverload
max_pool1d_with_indices_op: OpOverload
max_pool1d_op: OpOverload
upsample_nearest1d_op: OpOverload
upsample_nearest1d_out_op: OpOverload
upsample_nearest1d_backward_op: OpOverload
upsample_nearest2d_op: OpOverload
upsample_nearest2d_out_op: OpOverload
upsample_nearest2d_backward_op: OpOverload
upsample_nearest3d_op: OpOverload
upsample_nearest3d_out_op: OpOverload
upsample_nearest3d_backward_op: OpOverload
_upsample_nearest_exact1d_op: OpOverload
_upsample_nearest_exact1d_out_op: OpOverload
_upsample_nearest_exact1d_backward_op: OpOverload
_upsample_nearest_exact2d_op: OpOverload
_upsample_nearest_exact2d_out_op: OpOverload
_upsample_nearest_exact2d_backward_op: OpOverload
_upsample_nearest_exact3d_op: OpOverload
_upsample_nearest_exact3d_out_op: OpOverload
_upsample_nearest_exact3d_backward_op: OpOverload
upsample_linear1d_op: OpOverload
upsample_linear1d_out_op: OpOverload
upsample_linear1d_backward_op: OpOverload
upsample_bilinear2d_op: OpOverload
upsample_bilinear2d_out_op: OpOverload
upsample_bilinear2d_backward_op: OpOverload
upsample_trilinear3d_op: OpOverload
upsample_trilinear3d_out_op: OpOverload
upsample_trilinear3d_backward_op: OpOverload
upsample_bicubic2d_op: OpOverload
upsample_bicubic2d_out_op: OpOverload
upsample_bicubic2d_backward_op: OpOverload
_upsample_bilinear2d_aa_op: OpOverload
_upsample_bilinear2d_aa_out_op: OpOverload
_upsample_bilinear2d_aa_backward_op: OpOverload
_upsample_bicubic2d_aa_op: OpOverload
_upsample_bicubic2d_aa_out_op: OpOverload
_upsample_bicubic2d_aa_backward_op: OpOverload
_upsample_lanczos2d_aa_op: OpOverload
_upsample_lanczos2d_aa_out_op: OpOverload
_upsample_lanczos2d_aa_backward_op: OpOverload
affine_grid_generator_op: OpOverload
affine_grid_generator_out_op: OpOverload
affine_grid_generator_backward_op: OpOverload
constant_pad_nd_op: OpOverload
pad_op: OpOverload
_pad_circular_op: OpOverload
reflection_pad1d_op: OpOverload
reflection_pad1d_out_op: OpOverload
reflection_pad1d_backward_op: OpOverload
reflection_pad1d_backward_grad_input_op: OpOverload
reflection_pad2d_op: OpOverload
reflection_pad2d_out_op: OpOverload
reflection_pad2d_backward_op: OpOverload
reflection_pad2d_backward_grad_input_op: OpOverload
reflection_pad3d_op: OpOverload
reflection_pad3d_out_op: OpOverload
reflection_pad3d_backward_op: OpOverload
reflection_pad3d_backward_grad_input_op: OpOverload
replication_pad1d_op: OpOverload
replication_pad1d_out_op: OpOverload
replication_pad1d_backward_op: OpOverload
replication_pad1d_backward_grad_input_op: OpOverload
replication_pad2d_op: OpOverload
replication_pad2d_out_op: OpOverload
replication_pad2d_backward_op: OpOverload
replication_pad2d_backward_grad_input_op: OpOverload
replication_pad3d_op: OpOverload
replication_pad3d_out_op: OpOverload
replication_pad3d_backward_op: OpOverload
replication_pad3d_backward_grad_input_op: OpOverload
_safe_softmax_op: OpOverload
_scaled_dot_product_attention_math_op: OpOverload
_scaled_dot_product_flash_attention_for_cpu_op: OpOverload
_scaled_dot_product_flash_attention_for_cpu_backward_op: OpOverload
scaled_dot_product_attention_op: OpOverload
gru_data_op: OpOverload
gru_input_op: OpOverload
lstm_data_op: OpOverload
lstm_input_op: OpOverload
rnn_relu_data_op: OpOverload
rnn_relu_input_op: OpOverload
rnn_tanh_data_op: OpOverload
rnn_tanh_input_op: OpOverload
_thnn_fused_lstm_cell_op: OpOverload
_thnn_fused_lstm_cell_backward_op: OpOverload
_thnn_fused_gru_cell_op: OpOverload
_thnn_fused_gru_cell_backward_op: OpOverload
gru_cell_op: OpOverload
lstm_cell_op: OpOverload
rnn_relu_cell_op: OpOverload
rnn_tanh_cell_op: OpOverload
cosine_similarity_op: OpOverload
norm_ScalarOpt_dim_op: OpOverload
pairwise_distance_op: OpOverload
_cdist_forward_op: OpOverload
cdist_op: OpOverload
pdist_op: OpOverload
binary_cross_entropy_op: OpOverload
binary_cross_entropy_out_op: OpOverload
binary_cross_entropy_with_logits_op: OpOverload
cross_entropy_loss_op: OpOverload
huber_loss_op: OpOverload
huber_loss_out_op: OpOverload
kl_div_op: OpOverload
l1_loss_op: OpOverload
mse_loss_op: OpOverload
mse_loss_out_op: OpOverload
nll_loss_op: OpOverload
nll_loss2d_op: OpOverload
nll_loss2d_forward_op: OpOverload
nll_loss_forward_op: OpOverload
nll_loss_nd_op: OpOverload
smooth_l1_loss_op: OpOverload
smooth_l1_loss_out_op: OpOverload
hinge_embedding_loss_op: OpOverload
cosine_embedding_loss_op: OpOverload
margin_ranking_loss_op: OpOverload
triplet_margin_loss_op: OpOverload
poisson_nll_loss_op: OpOverload
soft_margin_loss_op: OpOverload
soft_margin_loss_out_op: OpOverload
multi_margin_loss_op: OpOverload
multilabel_margin_loss_forward_op: OpOverload
multilabel_margin_loss_op: OpOverload
ctc_loss_IntList_op: OpOverload
ctc_loss_Tensor_op: OpOverload
_ctc_loss_op: OpOverload
_ctc_loss_backward_op: OpOverload
bernoulli_op: OpOverload
bernoulli_out_op: OpOverload
bernoulli_p_op: OpOverload
bernoulli_Tensor_op: OpOverload
bernoulli__Tensor_op: OpOverload
bernoulli__float_op: OpOverload
dropout_op: OpOverload
dropout__op: OpOverload
exponential_op: OpOverload
exponential__op: OpOverload
multinomial_op: OpOverload
multinomial_out_op: OpOverload
normal_float_float_op: OpOverload
normal_float_float_out_op: OpOverload
normal_Tensor_float_op: OpOverload
normal_Tensor_float_out_op: OpOverload
normal_float_Tensor_op: OpOverload
normal_float_Tensor_out_op: OpOverload
normal_Tensor_Tensor_op: OpOverload
normal_Tensor_Tensor_out_op: OpOverload
normal_functional_op: OpOverload
normal__op: OpOverload
rand_op: OpOverload
rand_generator_op: OpOverload
rand_out_op: OpOverload
rand_generator_out_op: OpOverload
rand_like_op: OpOverload
randint_op: OpOverload
randint_generator_op: OpOverload
randint_low_op: OpOverload
randint_low_generator_op: OpOverload
randint_out_op: OpOverload
randint_generator_out_op: OpOverload
randint_low_out_op: OpOverload
randint_low_generator_out_op: OpOverload
randint_like_op: OpOverload
randint_like_low_dtype_op: OpOverload
randn_op: OpOverload
randn_generator_op: OpOverload
randn_out_op: OpOverload
randn_generator_out_op: OpOverload
randn_like_op: OpOverload
random_from_op: OpOverload
random__from_op: OpOverload
random_to_op: OpOverload
random__to_op: OpOverload
random_op: OpOverload
random__op: OpOverload
randperm_op: OpOverload
randperm_generator_op: OpOverload
randperm_out_op: OpOverload
randperm_generator_out_op: OpOverload
uniform_op: OpOverload
uniform__op: OpOverload
feature_dropout_op: OpOverload
feature_dropout__op: OpOverload
alpha_dropout_op: OpOverload
alpha_dropout__op: OpOverload
feature_alpha_dropout_op: OpOverload
feature_alpha_dropout__op: OpOverload
_log_softmax_backward_data_op: OpOverload
_log_softmax_backward_data_out_op: OpOverload
_softmax_backward_data_op: OpOverload
_softmax_backward_data_out_op: OpOverload
binary_cross_entropy_backward_op: OpOverload
binary_cross_entropy_backward_grad_input_op: OpOverload
diagonal_backward_op: OpOverload
elu_backward_op: OpOverload
elu_backward_grad_input_op: OpOverload
embedding_backward_op: OpOverload
embedding_dense_backward_op: OpOverload
gelu_backward_op: OpOverload
gelu_backward_grad_input_op: OpOverload
hardtanh_backward_op: OpOverload
hardtanh_backward_grad_input_op: OpOverload
huber_loss_backward_op: OpOverload
huber_loss_backward_out_op: OpOverload
index_select_backward_op: OpOverload
leaky_relu_backward_op: OpOverload
leaky_relu_backward_grad_input_op: OpOverload
mse_loss_backward_op: OpOverload
mse_loss_backward_grad_input_op: OpOverload
nll_loss2d_backward_op: OpOverload
nll_loss_backward_op: OpOverload
nll_loss_backward_grad_input_op: OpOverload
select_backward_op: OpOverload
sigmoid_backward_op: OpOverload
sigmoid_backward_grad_input_op: OpOverload
silu_backward_op: OpOverload
silu_backward_grad_input_op: OpOverload
slice_backward_op: OpOverload
smooth_l1_loss_backward_op: OpOverload
smooth_l1_loss_backward_grad_input_op: OpOverload
softplus_backward_op: OpOverload
softplus_backward_grad_input_op: OpOverload
tanh_backward_op: OpOverload
tanh_backward_grad_input_op: OpOverload
threshold_backward_op: OpOverload
threshold_backward_grad_input_op: OpOverload
unfold_backward_op: OpOverload
value_selecting_reduction_backward_op: OpOverload
hardshrink_backward_op: OpOverload
softshrink_backward_op: OpOverload
hardsigmoid_backward_op: OpOverload
log_sigmoid_backward_op: OpOverload
log_sigmoid_backward_grad_input_op: OpOverload
fake_quantize_per_tensor_affine_op: OpOverload
fake_quantize_per_tensor_affine_tensor_qparams_op: OpOverload
fake_quantize_per_tensor_affine_cachemask_op: OpOverload
_fake_quantize_per_tensor_affine_cachemask_tensor_qparams_op: OpOverload
fake_quantize_per_tensor_affine_cachemask_backward_op: OpOverload
fake_quantize_per_channel_affine_op: OpOverload
fake_quantize_per_channel_affine_cachemask_op: OpOverload
fake_quantize_per_channel_affine_cachemask_backward_op: OpOverload
absolute_op: OpOverload
absolute__op: OpOverload
absolute_out_op: OpOverload
arccos_op: OpOverload
arccos__op: OpOverload
arccos_out_op: OpOverload
arccosh_op: OpOverload
arccosh__op: OpOverload
arccosh_out_op: OpOverload
arcsin_op: OpOverload
arcsin__op: OpOverload
arcsin_out_op: OpOverload
arcsinh_op: OpOverload
arcsinh__op: OpOverload
arcsinh_out_op: OpOverload
arctan_op: OpOverload
arctan__op: OpOverload
arctan_out_op: OpOverload
arctan2_op: OpOverload
arctan2__op: OpOverload
arctan2_out_op: OpOverload
arctanh_op: OpOverload
arctanh__op: OpOverload
arctanh_out_op: OpOverload
clip_Tensor_op: OpOverload
clip__Tensor_op: OpOverload
clip_Tensor_out_op: OpOverload
clip_op: OpOverload
clip__op: OpOverload
clip_out_op: OpOverload
concat_op: OpOverload
concat_out_op: OpOverload
concatenate_op: OpOverload
concatenate_out_op: OpOverload
divide_Tensor_op: OpOverload
divide__Tensor_op: OpOverload
divide_out_op: OpOverload
divide_Scalar_op: OpOverload
divide_Tensor_mode_op: OpOverload
divide__Tensor_mode_op: OpOverload
divide_out_mode_op: OpOverload
fix_op: OpOverload
fix__op: OpOverload
fix_out_op: OpOverload
ger_op: OpOverload
ger_out_op: OpOverload
greater_Tensor_op: OpOverload
greater__Tensor_op: OpOverload
greater_Tensor_out_op: OpOverload
greater_equal_Tensor_op: OpOverload
greater_equal__Tensor_op: OpOverload
greater_equal_Tensor_out_op: OpOverload
less_Tensor_op: OpOverload
less__Tensor_op: OpOverload
less_Tensor_out_op: OpOverload
less_equal_Tensor_op: OpOverload
less_equal__Tensor_op: OpOverload
less_equal_Tensor_out_op: OpOverload
moveaxis_intlist_op: OpOverload
moveaxis_int_op: OpOverload
multiply_Tensor_op: OpOverload
multiply__Tensor_op: OpOverload
multiply_out_op: OpOverload
multiply_Scalar_op: OpOverload
negative_op: OpOverload
negative__op: OpOverload
negative_out_op: OpOverload
not_equal_Tensor_op: OpOverload
not_equal__Tensor_op: OpOverload
not_equal_Tensor_out_op: OpOverload
row_stack_op: OpOverload
row_stack_out_op: OpOverload
subtract_Tensor_op: OpOverload
subtract__Tensor_op: OpOverload
subtract_out_op: OpOverload
subtract_Scalar_op: OpOverload
