"""A batch norm folded into the weight and the bias of the layer before it. In PyTorch: `torch/nn/utils/fusion.py`.
Left out: transposed convolutions.
"""

from __future__ import annotations

import copy
from typing import TypeVar

from rushlight.aten.generated import functions
from rushlight.aten.strided import Tensor
from rushlight.nn.modules.module import Module
from rushlight.nn.parameter import Parameter

Layer = TypeVar("Layer", bound=Module)


def fuse_conv_bn_weights(
    conv_w: Tensor,
    conv_b: Tensor | None,
    bn_rm: Tensor,
    bn_rv: Tensor,
    bn_eps: float,
    bn_w: Tensor | None,
    bn_b: Tensor | None,
) -> tuple[Parameter, Parameter]:
    """The weight and the bias of a layer that computes what a layer and a batch norm after it compute.

    In evaluation, a batch norm maps each channel y to (y - bn_rm) / sqrt(bn_rv + bn_eps) * bn_w + bn_b. The channels are the first
    dimension of `conv_w`.

    Args:
        conv_w: the weight of the layer, at least two dimensions: (out_channels, ...).
        conv_b: its bias, (out_channels), or None: no bias, which is a bias of 0.
        bn_rm, bn_rv: the running mean and the running variance, (out_channels).
        bn_eps: the number that is added to the variance.
        bn_w, bn_b: weight and bias of the batch norm, (out_channels); None counts as 1 and as 0.

    Returns:
        the tuple of the new weight, with the shape and dtype of `conv_w`, and the new bias, (out_channels), with the dtype of
        `conv_b`, or that of `conv_w` if `conv_b` is None. Both are new `Parameter(data, requires_grad)`s: the weight requires
        gradients if `conv_w` does, and the bias if `conv_b` does (and not if `conv_b` is None). No argument changes.

    >>> one = rl.ones(1)
    >>> w, b = fuse_conv_bn_weights(rl.ones(1, 2), None, one, one * 4, 0.0, one * 6, one)
    >>> w.tolist(), b.tolist()
    ([[3.0, 3.0]], [-2.0])

    Source: `torch/nn/utils/fusion.py`, `fuse_conv_bn_weights`.
    """
    b_dtype = conv_w.dtype if conv_b is None else conv_b.dtype
    factor = functions.rsqrt(bn_rv + bn_eps)
    if bn_w is not None:
        factor = factor * bn_w
    bias = factor * (-bn_rm if conv_b is None else conv_b - bn_rm)
    if bn_b is not None:
        bias = bias + bn_b
    weight = conv_w * factor.reshape([-1] + [1] * (conv_w.dim() - 1))
    return (
        Parameter(weight.to(conv_w.dtype), conv_w.requires_grad),
        Parameter(bias.to(b_dtype), conv_b is not None and conv_b.requires_grad),
    )


def fuse_conv_bn_eval(conv: Layer, bn: Module) -> Layer:
    """A copy of a layer with a batch norm folded into it. Both must be in evaluation mode."""
    assert not (conv.training or bn.training), "Fusion only for eval!"
    fused = copy.deepcopy(conv)
    assert bn.running_mean is not None and bn.running_var is not None, "the batch norm has no running statistics"
    fused.weight, fused.bias = fuse_conv_bn_weights(
        fused.weight, fused.bias, bn.running_mean, bn.running_var, bn.eps, bn.weight, bn.bias
    )
    return fused


def fuse_linear_bn_eval(linear: Layer, bn: Module) -> Layer:
    """A linear layer that computes what a linear layer and a batch norm after it compute in evaluation."""
    return fuse_conv_bn_eval(linear, bn)


def fuse_linear_bn_weights(
    linear_w: Tensor, linear_b: Tensor | None, bn_rm: Tensor, bn_rv: Tensor, bn_eps: float, bn_w: Tensor, bn_b: Tensor
) -> tuple[Parameter, Parameter]:
    """The weight and the bias of a linear layer with the batch norm after it folded in."""
    return fuse_conv_bn_weights(linear_w, linear_b, bn_rm, bn_rv, bn_eps, bn_w, bn_b)
