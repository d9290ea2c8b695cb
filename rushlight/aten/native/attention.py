"""Scaled dot-product attention: each query takes a mean of the values, weighted by how well their keys fit the query.

In PyTorch: `aten/src/ATen/native/transformers/attention.cpp`. Here the weights of all queries are in memory at once, as in
`_scaled_dot_product_attention_math`, also in the fused kernel, which in PyTorch computes them block by block. The result has the
layout of the fused kernel of the CPU where PyTorch calls that kernel. Left out: the fused kernels of other devices.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from rushlight.aten.generated import functions
from rushlight.aten.native.pointwise import SIMPLE_DTYPES, fits_fast_path
from rushlight.aten.native.reductions import line_maxima, line_sums
from rushlight.aten.strided import Tensor, empty_strided, strides_for
from rushlight.c10 import dispatch
from rushlight.c10.dispatch import local
from rushlight.c10.dtypes import REDUCED_FLOATING, bool_, dtype, float32

Mask = Tensor | None


def scaled_dot_product_attention(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attn_mask: Mask,
    dropout_p: float,
    is_causal: bool,
    scale,
    enable_gqa: bool,
) -> Tensor:
    """softmax(query @ key.mT * scale + attn_mask) @ value.

    The queries are (\\*, heads, L, E), the keys (\\*, heads, S, E), the values (\\*, heads, S, Ev), and the result is
    (\\*, heads, L, Ev). `scale` is 1 / sqrt(E) by default. `attn_mask` is broadcast to (\\*, heads, L, S): it is added, or, if
    it is bool, its False elements take no part. A query for which no key takes part gets zeros. With `is_causal`, query i sees
    the keys up to i. With `enable_gqa`, several heads of the queries share a head of the keys and values.

    Source: `aten/src/ATen/native/transformers/attention.cpp`, `scaled_dot_product_attention`.
    """
    _check(query, key, value, attn_mask)
    mask = _additive(attn_mask, query.dtype)
    is_fused = _is_fused(query, key, value, attn_mask, dropout_p)
    has_kernel = is_fused and mask is None and (scale is None or scale > 0)
    is_on_cpu = not query.is_meta or local.on_meta
    if has_kernel and query.dtype in SIMPLE_DTYPES and is_on_cpu and not dispatch.fast_path_disabled:
        flash_attention = functions._scaled_dot_product_flash_attention_for_cpu
        return flash_attention(query, key, value, 0.0, is_causal, scale=scale)[0]
    if is_fused and is_causal and mask is not None:  # the fused kernel takes both
        mask, is_causal = mask + _additive(_causal_mask(query, key), query.dtype), False
    args = (query, key, value, mask, dropout_p, is_causal)
    result = functions._scaled_dot_product_attention_math(*args, scale=scale, enable_gqa=enable_gqa)[0]
    if is_fused and strides_for(query, None) != result.stride():
        return functions.empty_like(query).copy_(result)  # the fused kernel keeps the layout of the query
    return result


def _check(query: Tensor, key: Tensor, value: Tensor, attn_mask: Mask) -> None:
    """Source: `aten/src/ATen/native/transformers/attention.cpp`, `validate_sdpa_input`."""
    if not query.dtype is key.dtype is value.dtype:
        dtypes = ", ".join(x.dtype.name for x in (query, key, value))
        raise RuntimeError(f"Expected query, key, and value to have the same dtype, but got {dtypes} instead.")
    if min(query.dim(), key.dim(), value.dim()) < 2:
        raise RuntimeError("Expected query, key, and value to all be at least 2 dimensional")
    if attn_mask is not None and attn_mask.dtype not in (bool_, query.dtype):
        raise RuntimeError(f"Expected attn_mask dtype to be bool or that of query, but got {attn_mask.dtype.name}")


def _additive(mask: Mask, dtype: dtype) -> Mask:
    """A bool mask as one that is added: minus infinity where the mask is False. Source: `convert_boolean_attn_mask`."""
    if mask is None or mask.dtype is not bool_:
        return mask
    return functions.zeros_like(mask, dtype=dtype).masked_fill_(functions.logical_not(mask), -math.inf)


def _is_fused(query: Tensor, key: Tensor, value: Tensor, attn_mask: Mask, dropout_p: float) -> bool:
    """Whether PyTorch calls the fused kernel of the CPU.
    Source: `aten/src/ATen/native/transformers/sdp_utils_cpp.cpp`, `use_flash_attention_cpp`."""
    given = (query, key, value)
    if dropout_p > 0 or any(x.dim() != 4 or not x.numel() or x.stride(-1) != 1 for x in given):
        return False
    if len({(x.size(0), x.size(1), x.size(3)) for x in given}) > 1:
        return False
    if attn_mask is None:
        return True
    sizes = (*query.shape[:3], key.size(2))
    fits = all(size in (1, wanted) for size, wanted in zip(reversed(attn_mask.shape), reversed(sizes)))
    return fits and attn_mask.dim() in (2, 4) and not attn_mask.requires_grad


def scaled_dot_product_attention_math(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attn_mask: Mask,
    dropout_p: float,
    is_causal: bool,
    dropout_mask: Mask,
    scale: float | None,
    enable_gqa: bool,
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
        return dropped.matmul(functions.mul_Scalar_op(value, 1 / (1 - dropout_p))).to(origin_dtype), attn.to(
            origin_dtype
        )
    if dropout_p > 0:
        attn = functions.dropout(attn, dropout_p, True)
    return attn.matmul(value).to(origin_dtype), attn.to(origin_dtype)


def flash_attention_for_cpu(
    query: Tensor, key: Tensor, value: Tensor, dropout_p: float, is_causal: bool, attn_mask: Mask, scale: float | None
) -> tuple[Tensor, Tensor]:
    """The fused kernel: the result for (batch, heads, length, width), and the logarithm of the sum of exp of each query's scores.
    From these the gradient computes the weights again. Left out: a mask, dropout, and half precision.
    Source: `aten/src/ATen/native/cpu/FlashAttentionKernel.cpp`, `cpu_flash_attention`."""
    if attn_mask is not None or dropout_p or query.dtype not in SIMPLE_DTYPES:
        raise NotImplementedError("rushlight leaves out a mask, dropout and half precision in the fused kernel")
    weights = _scores(query, key, is_causal, scale)
    largest = line_maxima(weights, -1)
    weights -= largest
    np.exp(weights, weights)
    total = line_sums(weights, -1)
    weights /= total
    out = empty_strided(query._sizes, strides_for(query, None), query.dtype)
    np.matmul(weights, value._array, out._array)
    logsumexp = _by_position(query._sizes[:3], query.dtype)
    logsumexp._array[...] = (largest + np.log(total))[..., 0]
    return out, logsumexp


def flash_attention_meta(query: Tensor, key: Tensor, value: Tensor, *_) -> tuple[Tensor, Tensor]:
    """The layout of the results of the fused kernel. Source: `torch/_meta_registrations.py`."""
    return functions.empty_like(query), _by_position(query.shape[:3], query.dtype, query.device)


def flash_attention_backward_meta(grad_out: Tensor, *inputs: Any) -> tuple[Tensor, Tensor, Tensor]:
    """Source: `torch/_meta_registrations.py`."""
    return tuple(_by_position(each.shape, each.dtype, each.device) for each in inputs[:3])


def _scores(query: Tensor, key: Tensor, is_causal: bool, scale: float | None) -> np.ndarray:
    scores = np.matmul(query._array, key._array.swapaxes(2, 3))
    scores *= 1 / math.sqrt(query.size(3)) if scale is None else scale
    if is_causal:
        scores += np.where(np.tri(*scores.shape[2:], dtype=np.bool_), 0, -math.inf).astype(scores.dtype)
    return scores


def _by_position(sizes: Sequence[int], dtype: dtype, device: Any = None) -> Tensor:
    """A new tensor of sizes (batch, heads, length, ...), in whose memory the heads of a position are next to each other."""
    batch, heads, length, *rest = sizes
    return functions.transpose(functions.empty((batch, length, heads, *rest), dtype=dtype, device=device), 1, 2)


def flash_attention_for_cpu_backward(
    grad_out: Tensor,
    query: Tensor,
    key: Tensor,
    value: Tensor,
    out: Tensor,
    logsumexp: Tensor,
    dropout_p: float,
    is_causal: bool,
    attn_mask: Mask,
    scale: float | None,
) -> tuple[Tensor, Tensor, Tensor]:
    """Source: `aten/src/ATen/native/cpu/FlashAttentionKernel.cpp`, `cpu_flash_attention_backward`."""
    grad, factor = grad_out._array, 1 / math.sqrt(query.size(3)) if scale is None else scale
    weights = _scores(query, key, is_causal, scale)
    weights -= logsumexp._array[..., None]
    np.exp(weights, weights)
    grads = [_by_position(each._sizes, each.dtype) for each in (query, key, value)]
    of_query, of_key, of_value = (each._array for each in grads)
    np.matmul(weights.swapaxes(2, 3), grad, of_value)
    slope = np.matmul(grad, value._array.swapaxes(2, 3))
    slope -= np.einsum("bhle,bhle->bhl", grad, out._array)[..., None]
    slope *= weights
    slope *= factor
    np.matmul(slope, key._array, of_query)
    np.matmul(slope.swapaxes(2, 3), query._array, of_key)
    return tuple(grads)


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
    is_plain = fits_fast_path(self) and self.numel() and not self.is_meta and not local.modes
    if is_plain:
        result = functions.softmax(self, dim, dtype)
        if not np.isnan(np.atleast_1d(result._array).take(0, dim)).any():  # a line of minus infinity is NaN throughout
            return result
    all_masked = functions.all(functions.eq(self, -math.inf), dim, True)
    return functions.where(all_masked, 0.0, functions.softmax(self.masked_fill(all_masked, 0.0), dim, dtype))
