"""Scaled dot-product attention: each query takes a mean of the values, weighted by how well their keys fit the query.

`_scaled_dot_product_attention_math` has the weights of all queries in memory at once. The fused kernel computes them tile by tile.
In PyTorch: `aten/src/ATen/native/transformers/attention.cpp`. Left out: the fused kernels of other devices.
"""

import ctypes
import math
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from rushlight.aten.generated import functions
from rushlight.aten.iterator import cached
from rushlight.aten.native.pointwise import SIMPLE_DTYPES
from rushlight.aten.native.views import runs_unseen
from rushlight.aten.parallel import get_num_threads
from rushlight.aten.strided import Tensor, contiguous_strides, empty_dense, non_overlapping_and_dense, strides_for
from rushlight.c10.dispatch import local
from rushlight.c10.dtypes import REDUCED_FLOATING, bool_, dtype, float32
from rushlight.c10.fast_paths import fast_form_of
from rushlight.c10.memory_formats import dense_strides
from rushlight.c10.storage import size_of

Mask = Tensor | None


def scaled_dot_product_attention(query, key, value, attn_mask, dropout_p, is_causal, scale, enable_gqa) -> Tensor:
    """softmax(query @ key.mT * scale + attn_mask) @ value.

    The queries are (\\*, heads, L, E), the keys (\\*, heads, S, E), the values (\\*, heads, S, Ev), and the result is
    (\\*, heads, L, Ev). `scale` is 1 / sqrt(E) by default. `attn_mask` is broadcast to (\\*, heads, L, S): it is added, or, if
    it is bool, its False elements take no part. A query without a key that takes part gets zeros. With `is_causal`, query i sees
    the keys up to i. With `enable_gqa`, several heads of the queries share a head of the keys and values.

    Source: `aten/src/ATen/native/transformers/attention.cpp`, `scaled_dot_product_attention`.
    """
    _check(query, key, value, attn_mask)
    mask = _additive(attn_mask, query.dtype)
    is_fused = _is_fused(query, key, value, attn_mask, dropout_p)
    if is_fused and is_causal and mask is not None:  # the fused kernel takes both
        mask, is_causal = mask + _additive(_causal_mask(query, key), query.dtype), False
    args = (query, key, value, mask, dropout_p, is_causal)
    result = functions._scaled_dot_product_attention_math(*args, scale=scale, enable_gqa=enable_gqa)[0]
    if is_fused and strides_for(query, None) != result.stride():
        return functions.empty_like(query).copy_(result)  # the fused kernel keeps the layout of the query
    return result


@fast_form_of(scaled_dot_product_attention, "autograd")
def fused_attention(query, key, value, attn_mask, dropout_p, is_causal, scale, enable_gqa) -> Tensor:
    """`scaled_dot_product_attention` by the fused operator, as in PyTorch. Without it autograd records many nodes, so this is a
    fast form of autograd too."""
    _check(query, key, value, attn_mask)
    can_run = query.dtype in SIMPLE_DTYPES and (not query.is_meta or local.on_meta) and (scale is None or scale > 0)
    if can_run and _is_fused(query, key, value, attn_mask, dropout_p):
        unseen = ("aten::_scaled_dot_product_flash_attention_for_cpu",)
        if attn_mask is None and key._sizes == value._sizes and runs_unseen(unseen, query, key, value):
            logsumexp = np.empty(tuple(query._sizes)[:3], query.dtype.numpy)
            return _attend(query, key, value, is_causal, None, scale, logsumexp)
        flash_attention, mask = functions._scaled_dot_product_flash_attention_for_cpu, _additive(attn_mask, query.dtype)
        return flash_attention(query, key, value, 0.0, is_causal, attn_mask=mask, scale=scale)[0]
    return scaled_dot_product_attention(query, key, value, attn_mask, dropout_p, is_causal, scale, enable_gqa)


def _check(query: Tensor, key: Tensor, value: Tensor, attn_mask: Mask) -> None:
    """Source: `aten/src/ATen/native/transformers/attention.cpp`, `validate_sdpa_input`."""
    if not query.dtype is key.dtype is value.dtype:
        dtypes = ", ".join(x.dtype.name for x in (query, key, value))
        raise RuntimeError(f"Expected query, key, and value to have the same dtype, but got {dtypes} instead.")
    if min(len(query._sizes), len(key._sizes), len(value._sizes)) < 2:
        raise RuntimeError("Expected query, key, and value to all be at least 2 dimensional")
    if attn_mask is not None and attn_mask.dtype not in (bool_, query.dtype):
        raise RuntimeError(f"Expected attn_mask dtype to be bool or that of query, but got {attn_mask.dtype.name}")


def _additive(mask: Mask, dtype: dtype) -> Any:
    """A bool mask as one that is added: minus infinity where the mask is False. Source: `convert_boolean_attn_mask`."""
    if mask is None or mask.dtype is not bool_:
        return mask
    return functions.zeros_like(mask, dtype=dtype).masked_fill_(functions.logical_not(mask), -math.inf)


def _is_fused(query: Tensor, key: Tensor, value: Tensor, attn_mask: Mask, dropout_p: float) -> bool:
    """Whether PyTorch calls the fused kernel of the CPU.
    Source: `aten/src/ATen/native/transformers/sdp_utils_cpp.cpp`, `use_flash_attention_cpp`."""
    if dropout_p > 0 or not len(query._sizes) == len(key._sizes) == len(value._sizes) == 4:
        return False
    (batch, heads, queries, width), (key_batch, key_heads, keys, key_width) = query._sizes, key._sizes
    value_batch, value_heads, values, value_width = value._sizes
    if not batch == key_batch == value_batch or not heads == key_heads == value_heads:
        return False
    if not width == key_width == value_width or not (batch and heads and width and queries and keys and values):
        return False
    if not query._strides[3] == key._strides[3] == value._strides[3] == 1:
        return False
    if attn_mask is None:
        return True
    sizes = (*query.shape[:3], key.size(2))
    fits = all(size in (1, wanted) for size, wanted in zip(reversed(attn_mask.shape), reversed(sizes)))
    return fits and attn_mask.dim() in (2, 4) and not attn_mask.requires_grad


def scaled_dot_product_attention_math(
    query, key, value, attn_mask, dropout_p, is_causal, dropout_mask, scale, enable_gqa
) -> tuple[Tensor, Tensor]:
    """The result, and the weights (\\*, heads, L, S). float16 and bfloat16 are computed in float32.

    Queries and keys are both multiplied by the root of the scale, so that their product does not overflow.

    Source: `aten/src/ATen/native/transformers/attention.cpp`, `_scaled_dot_product_attention_math`.
    """
    origin_dtype = query.dtype
    if origin_dtype in REDUCED_FLOATING:
        query, key, value = (x.to(float32) for x in (query, key, value))
    scale = 1 / math.sqrt(query.size(-1)) if scale is None else scale
    root = math.sqrt(abs(scale))
    query = functions.mul_Scalar_op(query, -root if scale < 0 else root)
    if is_causal:
        if attn_mask is not None:
            raise RuntimeError("Explicit attn_mask should not be set when is_causal=True")
        attn_mask = _causal_mask(query, key)
    if enable_gqa:
        key, value = (_shared_heads(x, query.size(-3)) for x in (key, value))
    attn = query.matmul(functions.mul_Scalar_op(key, root).transpose(-2, -1))
    if attn_mask is not None:
        attn = attn + _additive(attn_mask, attn.dtype)
    attn = functions._safe_softmax(attn, -1)
    if dropout_p > 0 and dropout_mask is not None:
        dropped = attn.masked_fill(functions.logical_not(dropout_mask), 0.0)
        scaled = functions.mul_Scalar_op(value, 1 / (1 - dropout_p))
        return dropped.matmul(scaled).to(origin_dtype), attn.to(origin_dtype)
    if dropout_p > 0:
        attn = functions.dropout(attn, dropout_p, True)
    return attn.matmul(value).to(origin_dtype), attn.to(origin_dtype)


# The fused kernel ----------------------------------------------------------------------------------------------------
#
# It goes over tiles, which are blocks of queries by blocks of keys, and never has the weights of all queries and keys. There are
# two kernels: `flash_attention.cpp`, and the same steps in numpy if there is no compiler.

BLOCK = 128  # keys of a tile in numpy


def flash_attention_for_cpu(query, key, value, dropout_p, is_causal, attn_mask, scale) -> tuple[Tensor, Tensor]:
    """The fused kernel: the result for (batch, heads, length, width), and the logarithm of the sum of exp of each query's scores.
    From these the gradient computes the weights again. A query without keys gets zeros, and 0 as its logarithm. Left out:
    dropout, and half precision.
    Source: `aten/src/ATen/native/cpu/FlashAttentionKernel.cpp`, `cpu_flash_attention`."""
    _check_fused(query, key, value, dropout_p, attn_mask)
    logsumexp = _by_position(tuple(query._sizes)[:3], query.dtype)
    mask = _broadcast(attn_mask, query, key)
    return _attend(query, key, value, is_causal, mask, scale, logsumexp._array), logsumexp


def _attend(query, key, value, is_causal, mask: np.ndarray | None, scale, logsumexp: np.ndarray) -> Tensor:
    """The result of the fused kernel. It writes to `logsumexp`."""
    out = empty_dense(query._sizes, _dense_strides(query._sizes, query._strides), query.dtype)
    scale = 1 / math.sqrt(query.size(3)) if scale is None else scale
    arrays = (query._array, key._array, value._array, mask, out._array, logsumexp)
    if kernels := compiled_kernels():
        kernels.flash_forward(*_by_address(arrays), scale, is_causal, threads_for(query, key))
    else:
        tiled_forward(*arrays, scale, is_causal)
    return out


def meta_by_position(sizes: Sequence[int], dtype: dtype) -> Tensor:
    """A tensor on the device `meta` with the sizes (batch, heads, length, ...), whose memory has the order (batch,
    length, heads, ...), as the attention kernel writes it."""
    batch, heads, length, *rest = sizes
    return functions.transpose(functions.empty((batch, length, heads, *rest), dtype=dtype, device="meta"), 1, 2)


def flash_attention_for_cpu_backward(
    grad_out, query, key, value, out, logsumexp, dropout_p, is_causal, attn_mask, scale
) -> tuple[Tensor, Tensor, Tensor]:
    """The gradients of `query`, `key` and `value`, block by block. The probabilities are computed again from
    `logsumexp`. Source: `aten/src/ATen/native/cpu/FlashAttentionKernel.cpp`, `cpu_flash_attention_backward`."""
    _check_fused(query, key, value, dropout_p, attn_mask)
    dq, dk, dv = (_by_position(tensor._sizes, tensor.dtype) for tensor in (query, key, value))
    mask, scale = _broadcast(attn_mask, query, key), 1 / math.sqrt(query.size(3)) if scale is None else scale
    given = (grad_out._array, query._array, key._array, value._array, mask, out._array, logsumexp._array)
    arrays = (*given, dq._array, dk._array, dv._array)
    if kernels := compiled_kernels():
        kernels.flash_backward(*_by_address(arrays), scale, is_causal, threads_for(query, key))
    else:
        tiled_backward(*arrays, scale, is_causal)
    return dq, dk, dv


def _check_fused(query: Tensor, key: Tensor, value: Tensor, dropout_p: float, attn_mask: Mask) -> None:
    name = "scaled_dot_product_attention_flash_attention"
    if dropout_p > 0:
        raise RuntimeError(f"{name}: Currently do not support dropout > 0")
    if not len(query._sizes) == len(key._sizes) == len(value._sizes) == 4:
        raise RuntimeError(f"{name}: Accept only 4 dims inputs shape of {{B, H, T, K}}")
    (batch, heads, _, width), (key_batch, key_heads, _, key_width) = query._sizes, key._sizes
    if not width == key_width == tuple(value._sizes)[3]:
        raise RuntimeError(f"{name}: Q/K/V should have the same head size")
    if (batch, heads) != (key_batch, key_heads) or key._sizes != value._sizes:
        raise RuntimeError(f"{name}: Q/K/V should have the same batch, heads and keys")
    if not query.dtype is key.dtype is value.dtype or query.dtype not in SIMPLE_DTYPES:
        raise NotImplementedError("rushlight leaves out other dtypes than float32 and float64 in the fused kernel")
    if attn_mask is not None and attn_mask.dtype not in SIMPLE_DTYPES:
        left_out = "a mask of another dtype than float32 and float64 in the fused kernel"
        raise NotImplementedError(f"rushlight leaves out {left_out}")


def _by_position(sizes: Sequence[int], dtype: dtype) -> Tensor:
    """A new tensor of sizes (batch, heads, length, ...), in whose memory the heads of a position are next to each other."""
    return empty_dense(size_of(sizes), _position_strides(tuple(sizes)), dtype)


@cached
def _position_strides(sizes: tuple[int, ...]) -> tuple[int, ...]:
    batch, heads, length, *rest = sizes
    strides = contiguous_strides((batch, length, heads, *rest))
    return strides[0], strides[2], strides[1], *strides[3:]


@cached
def _dense_strides(sizes: tuple[int, ...], strides: tuple[int, ...]) -> tuple[int, ...]:
    """`strides_for` of a tensor with this layout."""
    return strides if non_overlapping_and_dense(sizes, strides) else dense_strides(sizes, strides)


def _broadcast(mask: Mask, query: Tensor, key: Tensor) -> np.ndarray | None:
    """The mask for each query and key. A dimension in which it is broadcast has stride 0."""
    if mask is None:
        return None
    return np.broadcast_to(mask._array.astype(query.dtype.numpy, copy=False), (*query.shape[:3], key.size(2)))


# In C++


load_library: Callable[[str], ctypes.CDLL] | None = None
"""Compiles a text in C++ that may use the head of Inductor's kernels, and loads it. The compiler is above this room, so this is set
from outside, as `REGISTER_DISPATCH` sets the kernel of a `DispatchStub` (`aten/src/ATen/native/DispatchStub.h`)."""


@cache
def compiled_kernels() -> ctypes.CDLL | None:
    """The library of `flash_attention.cpp`. At the first call of a process it is loaded or, if it is not in the cache, compiled.
    None if there is no compiler, or if it cannot run."""
    if load_library is None:
        return None
    try:
        library = load_library(Path(__file__).with_name("flash_attention.cpp").read_text(encoding="utf-8"))
    except (OSError, RuntimeError):
        return None
    pointers: Any = ctypes.c_void_p
    numbers: list[Any] = [ctypes.c_double, ctypes.c_int, ctypes.c_int]
    library.flash_forward.argtypes = [ctypes.c_int, *[pointers] * 6, *numbers]
    library.flash_backward.argtypes = [ctypes.c_int, *[pointers] * 10, *numbers]
    library.is_known.argtypes = [pointers, *[ctypes.c_ssize_t] * 4]
    probe = np.empty((3, 7), np.float32)[:, ::2]
    return library if library.is_known(id(probe), 3, 4, *probe.strides) else None


def _by_address(arrays: tuple[np.ndarray, *tuple[np.ndarray | None, ...]]) -> list[int]:
    """The arguments in C++: whether the numbers are float64, and the addresses of the array objects."""
    return [arrays[0].itemsize == 8, *[0 if array is None else id(array) for array in arrays]]


def threads_for(query: Tensor, key: Tensor) -> int:
    """As many threads as the compiler's kernels have, but none without a share of work that is worth its start."""
    (batch, heads, queries, width), keys = query._sizes, key.size(2)
    work = batch * heads * queries * width * keys
    return 1 if work < 2 * _GRAIN else min(get_num_threads(), work // _GRAIN, batch * heads)


_GRAIN = 1 << 21  # multiplications


# In numpy


def tiled_forward(query, key, value, mask, out, logsumexp, scale: float, is_causal: bool) -> None:
    """Compute `out` and `logsumexp`, a block of keys at a time. All are numpy arrays; `mask` may be None.

    `largest` is the largest score of each query so far, `total` the sum of exp(score - largest), and `out` the sum of the values
    with these weights. If a block has a larger score, both sums are scaled before its own terms are added.
    """
    largest = np.full((*query.shape[:3], 1), -math.inf, query.dtype)
    total = np.zeros_like(largest)
    out[...] = 0
    for begin in range(0, key.shape[2], BLOCK):
        first = begin if is_causal else 0  # the queries before see no key of this block
        weights = _scores(query, key, mask, scale, is_causal, begin)
        before = largest[:, :, first:]
        now = np.maximum(before, weights.max(-1, keepdims=True))
        shift = np.where(now == -math.inf, 0, now)  # minus infinity from itself is NaN
        with np.errstate(invalid="ignore"):
            np.exp(np.subtract(weights, shift, weights), weights)
        factor = np.exp(before - shift)
        total[:, :, first:] = total[:, :, first:] * factor + weights.sum(-1, keepdims=True)
        out[:, :, first:] = out[:, :, first:] * factor + weights @ value[:, :, begin : begin + BLOCK]
        largest[:, :, first:] = now
    is_empty = (largest == -math.inf) & (total == 0)
    out /= np.where(is_empty, 1, total)
    logsumexp[...] = np.where(is_empty, 0, largest + np.log(np.where(is_empty, 1, total)))[..., 0]


def tiled_backward(
    grad, query, key, value, mask, out, logsumexp, grad_query, grad_key, grad_value, scale: float, is_causal: bool
) -> None:
    """Compute the three gradients, a block of keys at a time. All are numpy arrays; `mask` may be None.

    exp(scores - logsumexp) are the weights. The gradient of a score is weight * (grad_weight - delta), where `delta` is the sum of
    weight * grad_weight over the keys of a query. It is the sum of grad * out too, so no pass over the keys is needed for it.
    """
    delta = np.einsum("bhle,bhle->bhl", grad, out)[..., None]
    grad_query[...] = 0
    for begin in range(0, key.shape[2], BLOCK):
        first, end = begin if is_causal else 0, begin + BLOCK
        weights = _scores(query, key, mask, scale, is_causal, begin)
        np.exp(np.subtract(weights, logsumexp[:, :, first:, None], weights), weights)
        of_out = grad[:, :, first:]
        slopes = of_out @ value[:, :, begin:end].swapaxes(2, 3)
        slopes -= delta[:, :, first:]
        slopes *= weights
        slopes *= scale
        grad_query[:, :, first:] += slopes @ key[:, :, begin:end]
        grad_key[:, :, begin:end] = slopes.swapaxes(2, 3) @ query[:, :, first:]
        grad_value[:, :, begin:end] = weights.swapaxes(2, 3) @ of_out


def _scores(query, key, mask, scale: float, is_causal: bool, begin: int) -> np.ndarray:
    """The scores of a block of keys, for the queries that see any of them: with `is_causal` those from `begin` on."""
    first = begin if is_causal else 0
    scores = query[:, :, first:] @ key[:, :, begin : begin + BLOCK].swapaxes(2, 3)
    scores *= scale
    if mask is not None:
        scores += mask[:, :, first:, begin : begin + BLOCK]
    if is_causal:
        scores[:, :, ~np.tri(*scores.shape[2:], dtype=np.bool_)] = -math.inf
    return scores


def _causal_mask(query: Tensor, key: Tensor) -> Tensor:
    return functions.ones((query.size(-2), key.size(-2)), dtype=bool_, device=query.device).tril()


def _shared_heads(x: Tensor, heads: int) -> Tensor:
    """Each head of keys or values, repeated for the heads of the queries that share it."""
    if heads % x.size(-3):
        raise RuntimeError("Number of heads in key and value must divide the number of heads in query")
    sizes = (*x.shape[:-2], heads // x.size(-3), *x.shape[-2:])
    return x.unsqueeze(-3).expand(sizes).flatten(-4, -3)


def safe_softmax(self: Tensor, dim: int, dtype: dtype | None = None) -> Tensor:
    """`softmax`, but 0 where all elements along `dim` are minus infinity, not nan.
    Source: `aten/src/ATen/native/transformers/attention.cpp`, `_safe_softmax`."""
    all_masked = functions.all(functions.eq(self, -math.inf), dim, True)
    return functions.where(all_masked, 0.0, functions.softmax(self.masked_fill(all_masked, 0.0), dim, dtype))
