"""The layers: modules that hold the parameters of an operator, and call it.

The computation of a layer is in `nn/functional.py` and its operators. Here are its parameters, their initial values, and its
`repr`. In PyTorch: `torch/nn/modules/` (`linear.py`, `sparse.py`, `normalization.py`, `batchnorm.py`, `dropout.py`,
`flatten.py`, `activation.py`, `loss.py`). Convolutions are in `conv.py`, pooling is in `pooling.py`, recurrent layers are in
`rnn.py`, and attention is in `transformer.py`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from rushlight.aten.generated import functions
from rushlight.aten.native import creation
from rushlight.aten.strided import Tensor
from rushlight.autograd.grad_mode import no_grad
from rushlight.c10.dtypes import int64
from rushlight.c10.exception import warn
from rushlight.nn import functional as F
from rushlight.nn import init
from rushlight.nn.modules.module import Module, unusual
from rushlight.nn.parameter import Device, Dtype, Parameter

__all__ = [
    "BatchNorm1d", "BatchNorm2d", "BatchNorm3d", "Bilinear", "Embedding", "EmbeddingBag", "GroupNorm", "Identity", "InstanceNorm1d",
    "InstanceNorm2d", "InstanceNorm3d", "LayerNorm", "Linear", "PReLU", "RMSNorm", "SyncBatchNorm",
]  # fmt: skip


def _empty(sizes: Sequence[int], device: Device, dtype: Dtype) -> Parameter:
    return Parameter(functions.empty(tuple(sizes), device=device, dtype=dtype))


# Linear, Embedding ---------------------------------------------------------------------------------------------------


class _AffineMap(Module):
    """A weight, and a bias or None. Initial values are uniform between -1 / sqrt(fan_in) and 1 / sqrt(fan_in)."""

    def reset_parameters(self) -> None:
        init.kaiming_uniform_(self.weight, a=math.sqrt(5))
        if self.bias is not None:
            fan_in, _ = init.calculate_fan_in_and_fan_out(self.weight)
            bound = 1 / math.sqrt(fan_in) if fan_in > 0 else 0
            init.uniform_(self.bias, -bound, bound)


class Linear(_AffineMap):
    """x @ weight.T + bias: (\\*, in_features) to (\\*, out_features). The weight is (out_features, in_features).

    Initial values are uniform between -1 / sqrt(in_features) and 1 / sqrt(in_features).

    Source: `torch/nn/modules/linear.py`, `Linear`.
    """

    def __init__(
        self, in_features: int, out_features: int, bias: bool = True, device: Device = None, dtype: Dtype = None
    ) -> None:
        super().__init__()
        self.in_features, self.out_features = in_features, out_features
        self.weight = _empty((out_features, in_features), device, dtype)
        self.register_parameter("bias", _empty((out_features,), device, dtype) if bias else None)
        self.reset_parameters()

    def forward(self, input: Tensor) -> Tensor:
        return F.linear(input, self.weight, self.bias)

    def extra_repr(self) -> str:
        return f"in_features={self.in_features}, out_features={self.out_features}, bias={self.bias is not None}"


class Bilinear(Module):
    """x1 @ weight @ x2 + bias, for each matrix of the weight (out_features, in1_features, in2_features)."""

    def __init__(
        self, in1_features: int, in2_features: int, out_features: int, bias: bool = True, device: Device = None,
        dtype: Dtype = None,
    ) -> None:  # fmt: skip
        super().__init__()
        if in1_features <= 0:
            raise ValueError(f"in1_features must be > 0, but got (in1_features={in1_features})")
        self.in1_features, self.in2_features, self.out_features = in1_features, in2_features, out_features
        self.weight = _empty((out_features, in1_features, in2_features), device, dtype)
        self.register_parameter("bias", _empty((out_features,), device, dtype) if bias else None)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        bound = 1 / math.sqrt(self.in1_features)
        for parameter in self.parameters():
            init.uniform_(parameter, -bound, bound)

    def forward(self, input1: Tensor, input2: Tensor) -> Tensor:
        return F.bilinear(input1, input2, self.weight, self.bias)

    def extra_repr(self) -> str:
        sizes = f"in1_features={self.in1_features}, in2_features={self.in2_features}, out_features={self.out_features}"
        return f"{sizes}, bias={self.bias is not None}"


class PReLU(Module):
    """A `leaky_relu` whose slope is learnt: one, or one for each channel."""

    def __init__(self, num_parameters: int = 1, init: float = 0.25, device: Device = None, dtype: Dtype = None) -> None:
        super().__init__()
        self.num_parameters, self.init = num_parameters, init
        self.weight = _empty((num_parameters,), device, dtype)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        init.constant_(self.weight, self.init)

    def forward(self, input: Tensor) -> Tensor:
        return F.prelu(input, self.weight)

    def extra_repr(self) -> str:
        return f"num_parameters={self.num_parameters}"


class _Embeddings(Module):
    """The weight (num_embeddings, embedding_dim) and the settings of a layer that looks rows up."""

    def __init__(
        self, num_embeddings: int, embedding_dim: int, padding_idx: int | None, max_norm: float | None, norm_type: float,
        scale_grad_by_freq: bool, sparse: bool, _weight: Tensor | None, _freeze: bool, device: Device, dtype: Dtype,
    ) -> None:  # fmt: skip
        super().__init__()
        self.num_embeddings, self.embedding_dim = num_embeddings, embedding_dim
        if padding_idx is not None:
            if not -num_embeddings <= padding_idx < max(num_embeddings, 1):
                raise AssertionError("Padding_idx must be within num_embeddings")
            padding_idx += num_embeddings if padding_idx < 0 else 0
        self.padding_idx, self.max_norm, self.norm_type = padding_idx, max_norm, norm_type
        self.scale_grad_by_freq, self.sparse = scale_grad_by_freq, sparse
        sizes = (num_embeddings, embedding_dim)
        if _weight is not None and tuple(_weight.shape) != sizes:
            raise AssertionError("Shape of weight does not match num_embeddings and embedding_dim")
        data = functions.empty(sizes, device=device, dtype=dtype) if _weight is None else _weight
        self.weight = Parameter(data, requires_grad=not _freeze)
        if _weight is None:
            self.reset_parameters()

    def reset_parameters(self) -> None:
        init.normal_(self.weight)
        if self.padding_idx is not None:
            with no_grad():
                self.weight[self.padding_idx].fill_(0)


class Embedding(_Embeddings):
    """A row of the weight (num_embeddings, embedding_dim) for each index: (\\*) to (\\*, embedding_dim).

    The row `padding_idx` is initially 0 and gets no gradient. With `max_norm`, a selected row with a larger norm is first scaled
    down, in place.

    Source: `torch/nn/modules/sparse.py`, `Embedding`.
    """

    def __init__(
        self, num_embeddings: int, embedding_dim: int, padding_idx: int | None = None, max_norm: float | None = None,
        norm_type: float = 2.0, scale_grad_by_freq: bool = False, sparse: bool = False, _weight: Tensor | None = None,
        _freeze: bool = False, device: Device = None, dtype: Dtype = None,
    ) -> None:  # fmt: skip
        options = padding_idx, max_norm, norm_type, scale_grad_by_freq, sparse
        super().__init__(num_embeddings, embedding_dim, *options, _weight, _freeze, device, dtype)

    @classmethod
    def from_pretrained(
        cls, embeddings: Tensor, freeze: bool = True, padding_idx: int | None = None, max_norm: float | None = None,
        norm_type: float = 2.0, scale_grad_by_freq: bool = False, sparse: bool = False,
    ) -> Embedding:  # fmt: skip
        """An Embedding on the memory of the given weight. The weight is trained only if `freeze` is False."""
        if embeddings.dim() != 2:
            raise AssertionError("Embeddings parameter is expected to be 2-dimensional")
        options = padding_idx, max_norm, norm_type, scale_grad_by_freq, sparse
        return cls(*embeddings.shape, *options, _weight=embeddings, _freeze=freeze)

    def forward(self, input: Tensor) -> Tensor:
        options = self.max_norm, self.norm_type, self.scale_grad_by_freq, self.sparse
        return F.embedding(input, self.weight, self.padding_idx, *options)

    def extra_repr(self) -> str:
        settings = unusual(self, padding_idx=None, max_norm=None, norm_type=2.0, scale_grad_by_freq=False, sparse=False)
        return ", ".join([str(self.num_embeddings), str(self.embedding_dim), *settings])


class EmbeddingBag(_Embeddings):
    """`embedding_bag`: the sum, the mean or the maximum of the rows at each bag of indices.
    Source: `torch/nn/modules/sparse.py`, `EmbeddingBag`."""

    def __init__(
        self, num_embeddings: int, embedding_dim: int, max_norm: float | None = None, norm_type: float = 2.0,
        scale_grad_by_freq: bool = False, mode: str = "mean", sparse: bool = False, _weight: Tensor | None = None,
        include_last_offset: bool = False, padding_idx: int | None = None, device: Device = None, dtype: Dtype = None,
    ) -> None:  # fmt: skip
        options = padding_idx, max_norm, norm_type, scale_grad_by_freq, sparse
        super().__init__(num_embeddings, embedding_dim, *options, _weight, False, device, dtype)
        self.mode, self.include_last_offset = mode, include_last_offset

    @classmethod
    def from_pretrained(
        cls, embeddings: Tensor, freeze: bool = True, max_norm: float | None = None, norm_type: float = 2.0,
        scale_grad_by_freq: bool = False, mode: str = "mean", sparse: bool = False, include_last_offset: bool = False,
        padding_idx: int | None = None,
    ) -> EmbeddingBag:  # fmt: skip
        if embeddings.dim() != 2:
            raise AssertionError("Embeddings parameter is expected to be 2-dimensional")
        options = max_norm, norm_type, scale_grad_by_freq, mode, sparse, embeddings, include_last_offset, padding_idx
        bag = cls(*embeddings.shape, *options)
        bag.weight.requires_grad = not freeze
        return bag

    def forward(self, input: Tensor, offsets: Tensor | None = None, per_sample_weights: Tensor | None = None) -> Tensor:
        options = self.max_norm, self.norm_type, self.scale_grad_by_freq, self.mode, self.sparse, per_sample_weights
        return F.embedding_bag(input, self.weight, offsets, *options, self.include_last_offset, self.padding_idx)

    def extra_repr(self) -> str:
        before = unusual(self, max_norm=None, norm_type=2.0, scale_grad_by_freq=False)
        after = unusual(self, padding_idx=None)
        return ", ".join([str(self.num_embeddings), str(self.embedding_dim), *before, f"mode={self.mode!r}", *after])


# Normalisation -------------------------------------------------------------------------------------------------------


class _Norm(Module):
    """A normalisation with affine parameters: the weight is initially 1 and the bias 0. Each may be None."""

    def _register_affine(self, sizes: Sequence[int], device: Device, dtype: Dtype, **wanted: bool) -> None:
        for name, is_wanted in wanted.items():
            self.register_parameter(name, _empty(sizes, device, dtype) if is_wanted else None)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        for name, value in (("weight", 1.0), ("bias", 0.0)):
            if self._parameters.get(name) is not None:
                init.constant_(self._parameters[name], value)


class LayerNorm(_Norm):
    """`layer_norm` over the last dimensions, which have the sizes `normalized_shape`.
    Source: `torch/nn/modules/normalization.py`, `LayerNorm`."""

    def __init__(
        self, normalized_shape: int | Sequence[int], eps: float = 1e-5, elementwise_affine: bool = True, bias: bool = True,
        device: Device = None, dtype: Dtype = None,
    ) -> None:  # fmt: skip
        super().__init__()
        self.normalized_shape = (normalized_shape,) if isinstance(normalized_shape, int) else tuple(normalized_shape)
        self.eps, self.elementwise_affine = eps, elementwise_affine
        wanted = {"weight": elementwise_affine, "bias": elementwise_affine and bias}
        self._register_affine(self.normalized_shape, device, dtype, **wanted)

    def forward(self, input: Tensor) -> Tensor:
        return F.layer_norm(input, self.normalized_shape, self.weight, self.bias, self.eps)

    def extra_repr(self) -> str:
        affine = f"elementwise_affine={self.elementwise_affine}, bias={self.bias is not None}"
        return f"{self.normalized_shape}, eps={self.eps}, {affine}"


class RMSNorm(_Norm):
    """`rms_norm` over the last dimensions, which have the sizes `normalized_shape`. It has no bias.
    Source: `torch/nn/modules/normalization.py`, `RMSNorm`."""

    def __init__(
        self, normalized_shape: int | Sequence[int], eps: float | None = None, elementwise_affine: bool = True,
        device: Device = None, dtype: Dtype = None,
    ) -> None:  # fmt: skip
        super().__init__()
        self.normalized_shape = (normalized_shape,) if isinstance(normalized_shape, int) else tuple(normalized_shape)
        self.eps, self.elementwise_affine = eps, elementwise_affine
        self._register_affine(self.normalized_shape, device, dtype, weight=elementwise_affine)

    def forward(self, x: Tensor) -> Tensor:
        return F.rms_norm(x, self.normalized_shape, self.weight, self.eps)

    def extra_repr(self) -> str:
        return f"{self.normalized_shape}, eps={self.eps}, elementwise_affine={self.elementwise_affine}"


class _BatchNorm(_Norm):
    """`batch_norm` of (batch, features, \\*). In training it uses the mean and variance of the batch, otherwise the running
    ones. The running ones are buffers: they are saved, but not trained.

    With a `momentum` of None, the running ones are the plain average over all batches.

    Source: `torch/nn/modules/batchnorm.py`, `_NormBase` and `_BatchNorm`.
    """

    _version = 2
    dims: tuple[int, ...]  # how many dimensions an input may have

    def __init__(
        self, num_features: int, eps: float = 1e-5, momentum: float | None = 0.1, affine: bool = True,
        track_running_stats: bool = True, device: Device = None, dtype: Dtype = None, *, bias: bool = True,
    ) -> None:  # fmt: skip
        super().__init__()
        self.num_features, self.eps, self.momentum = num_features, eps, momentum
        self.affine, self.track_running_stats = affine, track_running_stats
        tracked, sizes = track_running_stats, (num_features,)
        self.register_buffer("running_mean", functions.zeros(sizes, device=device, dtype=dtype) if tracked else None)
        self.register_buffer("running_var", functions.ones(sizes, device=device, dtype=dtype) if tracked else None)
        count = functions.zeros((), device=device, dtype=int64) if tracked else None
        self.register_buffer("num_batches_tracked", count)
        self._register_affine(sizes, device, dtype, weight=affine, bias=affine and bias)

    def reset_running_stats(self) -> None:
        if self.track_running_stats:
            self.running_mean.zero_()
            self.running_var.fill_(1)
            self.num_batches_tracked.zero_()

    def reset_parameters(self) -> None:
        self.reset_running_stats()
        super().reset_parameters()

    def _check_dim(self, input: Tensor) -> None:
        if input.dim() not in self.dims:
            expected = " or ".join(f"{dim}D" for dim in self.dims)
            raise ValueError(f"expected {expected} input (got {input.dim()}D input)")

    def forward(self, input: Tensor) -> Tensor:
        self._check_dim(input)
        momentum = 0.0 if self.momentum is None else self.momentum
        if self.training and self.track_running_stats and self.num_batches_tracked is not None:
            self.num_batches_tracked.add_(1)
            if self.momentum is None:
                momentum = 1.0 / float(self.num_batches_tracked)
        of_batch = self.training or self.running_mean is None and self.running_var is None
        tracked = not self.training or self.track_running_stats
        running = (self.running_mean, self.running_var) if tracked else (None, None)
        return F.batch_norm(input, *running, self.weight, self.bias, of_batch, momentum, self.eps)

    def _load_from_state_dict(self, state_dict: dict, prefix: str, local_metadata: dict, *rest: Any) -> None:
        """A state dict of a version before 2 has no `num_batches_tracked`."""
        key, version = f"{prefix}num_batches_tracked", local_metadata.get("version")
        if (version is None or version < 2) and self.track_running_stats and key not in state_dict:
            known = self.num_batches_tracked is not None and not self.num_batches_tracked.is_meta
            state_dict[key] = self.num_batches_tracked if known else creation.tensor(0)
        super()._load_from_state_dict(state_dict, prefix, local_metadata, *rest)

    def extra_repr(self) -> str:
        affine = f"affine={self.affine}, bias={self.bias is not None}"
        running = f"momentum={self.momentum}, {affine}, track_running_stats={self.track_running_stats}"
        return f"{self.num_features}, eps={self.eps}, {running}"


class BatchNorm1d(_BatchNorm):
    """Normalise each channel of inputs with two or three dimensions over the batch.

    Source: `torch/nn/modules/batchnorm.py`, `BatchNorm1d`.
    """

    dims = (2, 3)


class BatchNorm2d(_BatchNorm):
    """Normalise each channel of pictures over the batch. Source: `torch/nn/modules/batchnorm.py`, `BatchNorm2d`."""

    dims = (4,)


class BatchNorm3d(_BatchNorm):
    """Normalise each channel of (batch, channels, depth, height, width) over the batch."""

    dims = (5,)


class SyncBatchNorm(_BatchNorm):
    """A batch norm: the batch is that of one process. Source: `torch/nn/modules/batchnorm.py`, `SyncBatchNorm`."""

    dims = tuple(range(2, 9))

    def __init__(
        self, num_features: int, eps: float = 1e-5, momentum: float | None = 0.1, affine: bool = True,
        track_running_stats: bool = True, process_group: Any = None, device: Device = None, dtype: Dtype = None, *,
        bias: bool = True,
    ) -> None:  # fmt: skip
        super().__init__(num_features, eps, momentum, affine, track_running_stats, device, dtype, bias=bias)
        self.process_group = process_group


class _InstanceNorm(_BatchNorm):
    """`instance_norm`: the mean and variance of each channel of each input, or the running ones.
    Source: `torch/nn/modules/instancenorm.py`, `_InstanceNorm`."""

    def __init__(
        self, num_features: int, eps: float = 1e-5, momentum: float = 0.1, affine: bool = False,
        track_running_stats: bool = False, device: Device = None, dtype: Dtype = None, *, bias: bool = True,
    ) -> None:  # fmt: skip
        super().__init__(num_features, eps, momentum, affine, track_running_stats, device, dtype, bias=bias)

    def _get_no_batch_dim(self) -> int:
        return self.dims[0]

    def forward(self, input: Tensor) -> Tensor:
        self._check_dim(input)
        if input.dim() == self.dims[0]:
            return self.forward(input.unsqueeze(0)).squeeze(0)
        if input.size(1) != self.num_features:
            what = f"input's size at dim=1 to match num_features ({self.num_features}), but got: {input.size(1)}"
            if self.affine:
                raise ValueError(f"expected {what}.")
            warn(f"expected {what}, which is not used because affine=False")
        of_input, momentum = self.training or not self.track_running_stats, self.momentum or 0.0
        running = self.running_mean, self.running_var
        return F.instance_norm(input, *running, self.weight, self.bias, of_input, momentum, self.eps)


class InstanceNorm1d(_InstanceNorm):
    """Normalise each channel of each sample of (batch, channels, length), or without a batch."""

    dims = (2, 3)


class InstanceNorm2d(_InstanceNorm):
    """Normalise each channel of each picture of (batch, channels, height, width), or without a batch."""

    dims = (3, 4)


class InstanceNorm3d(_InstanceNorm):
    """Normalise each channel of each sample of (batch, channels, depth, height, width), or without a batch."""

    dims = (4, 5)


class GroupNorm(_Norm):
    """`group_norm` of (batch, num_channels, \\*), with a weight and a bias for each channel.
    Source: `torch/nn/modules/normalization.py`, `GroupNorm`."""

    def __init__(
        self, num_groups: int, num_channels: int, eps: float = 1e-5, affine: bool = True, device: Device = None,
        dtype: Dtype = None, *, bias: bool = True,
    ) -> None:  # fmt: skip
        super().__init__()
        if num_channels % num_groups:
            raise ValueError(f"num_channels ({num_channels}) must be divisible by num_groups ({num_groups})")
        self.num_groups, self.num_channels, self.eps, self.affine = num_groups, num_channels, eps, affine
        self._register_affine((num_channels,), device, dtype, weight=affine, bias=affine and bias)

    def forward(self, input: Tensor) -> Tensor:
        return F.group_norm(input, self.num_groups, self.weight, self.bias, self.eps)

    def extra_repr(self) -> str:
        affine = f"affine={self.affine}, bias={self.bias is not None}"
        return f"{self.num_groups}, {self.num_channels}, eps={self.eps}, {affine}"


# Identity -----------------------------------------------------------------------------------------------------------


class Identity(Module):
    """Returns its input. The arguments of the constructor have no effect."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__()

    def forward(self, input: Tensor) -> Tensor:
        return input
