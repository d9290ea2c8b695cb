"""The residual stream of a transformer: what normalises it when it is read, and the weight at its beginning and its end.

Written with tensor methods, for rushlight and for torch. The MiniGPT has LayerNorm. Many newer models have RMSNorm.
"""

from __future__ import annotations

from typing import Any

Tensor = Any
"""Of rushlight or of torch."""


def tied_gradient(tokens: Tensor, of_embedded: Tensor, hidden: Tensor, of_scores: Tensor) -> Tensor:
    """The gradient of a weight that is used twice: as the embedding of the tokens, and as the head's weight.

    The model computes `embedded = weight[tokens]` at its beginning, and `scores = hidden @ weightᵀ` at its end. `weight.grad` is
    the sum of the gradients of both uses. A token that occurs several times gets the gradients of all of these positions.
    The body does not call autograd.

    >>> tokens, of_embedded = rl.tensor([[1, 1]]), rl.tensor([[[1.0], [2.0]]])
    >>> hidden, of_scores = rl.tensor([[[10.0], [0.0]]]), rl.tensor([[[1.0, 0.0, 2.0], [0.0, 0.0, 0.0]]])
    >>> tied_gradient(tokens, of_embedded, hidden, of_scores).tolist()
    [[10.0], [3.0], [20.0]]

    Args:
        tokens: (batch, n), int64.
        of_embedded: (batch, n, width), the gradient of `embedded`.
        hidden: (batch, n, width), what the head gets.
        of_scores: (batch, n, vocabulary), the gradient of `scores`.

    Returns:
        a tensor (vocabulary, width). No argument changes.

    Source: `tools/autograd/derivatives.yaml`, `embedding`, `linear`; `torch/csrc/autograd/input_buffer.cpp`, `InputBuffer::add`.
    """
    of_head = of_scores.flatten(0, 1).mT @ hidden.flatten(0, 1)
    return of_head.index_add(0, tokens.flatten(), of_embedded.flatten(0, 1))


def rms_norm(x: Tensor, weight: Tensor, eps: float = 1e-5) -> Tensor:
    """x / sqrt(mean of x² + eps) · weight, along the last dimension. Unlike LayerNorm, it has no mean to subtract and no bias.

    float16 and bfloat16 are computed in float32, also the product with the weight: the squares of numbers above 256 are not
    float16's. The body does not call torch's `rms_norm`.

    >>> rms_norm(rl.tensor([3.0, 4.0, 0.0, 0.0]), rl.ones(4), eps=0.0).tolist()
    [1.2000000476837158, 1.600000023841858, 0.0, 0.0]

    Args:
        x: at least one dimension, floating.
        weight: one dimension, with the size of the last one of `x`, and of its dtype.

    Returns:
        a tensor with the sizes and the dtype of `x`, which does not change. A gradient of it reaches `x` and the weight.

    Source: `aten/src/ATen/native/layer_norm.cpp`, `rms_norm_composite`; `torch.nn.RMSNorm`.
    """
    wide = x.float() if x.dtype.itemsize < 4 else x
    scaled = wide * (wide.square().mean(-1, keepdim=True) + eps).rsqrt() * weight.to(wide.dtype)
    return scaled.to(x.dtype)
