"""The functions of neural networks, without state. In PyTorch: `torch/nn/functional.py`.

Some are operators, declared with `python_module: nn`. Others are Python functions that call an operator: they take a string
(`reduction="mean"`) if the operator takes a number, or choose between its in-place and its functional form.
"""

import itertools
import math
from collections.abc import Callable, Sequence
from typing import Any

from rushlight.aten.generated import functions
from rushlight.aten.iterator import common_sizes
from rushlight.aten.native import losses
from rushlight.aten.strided import Tensor
from rushlight.autograd.grad_mode import no_grad
from rushlight.c10.dtypes import INTEGRAL, bool_, dtype, int64
from rushlight.c10.exception import warn
from rushlight.c10.memory_formats import contiguous_format

# Operators that need no Python function.
adaptive_avg_pool1d = functions.adaptive_avg_pool1d
avg_pool1d = functions.avg_pool1d
avg_pool2d = functions.avg_pool2d
bilinear = functions.bilinear
celu_ = functions.celu_
channel_shuffle = functions.channel_shuffle
conv1d = functions.conv1d
conv2d = functions.conv2d
conv3d = functions.conv3d
conv_transpose1d = functions.conv_transpose1d
conv_transpose2d = functions.conv_transpose2d
conv_transpose3d = functions.conv_transpose3d
cosine_similarity = functions.cosine_similarity
elu_ = functions.elu_
gelu = functions.gelu
hardshrink = functions.hardshrink
hardtanh_ = functions.hardtanh_
leaky_relu_ = functions.leaky_relu_
linear = functions.linear
logsigmoid = functions.log_sigmoid
one_hot = functions.one_hot
pairwise_distance = functions.pairwise_distance
pdist = functions.pdist
pixel_shuffle = functions.pixel_shuffle
pixel_unshuffle = functions.pixel_unshuffle
prelu = functions.prelu
relu_ = functions.relu_
rrelu_ = functions.rrelu_
scaled_dot_product_attention = functions.scaled_dot_product_attention
selu_ = functions.selu_
softplus = functions.softplus
softshrink = functions.softshrink
threshold_ = functions.threshold_

# Activations ---------------------------------------------------------------------------------------------------------


def relu(input: Tensor, inplace: bool = False) -> Tensor:
    """The positive part: `max(x, 0)` of each element."""
    return input.relu_() if inplace else functions.relu(input)


def hardtanh(input: Tensor, min_val: float = -1.0, max_val: float = 1.0, inplace: bool = False) -> Tensor:
    """Each element, limited to the range from `min_val` to `max_val`."""
    if min_val > max_val:
        raise ValueError("min_val cannot be greater than max_val")
    return functions.hardtanh_(input, min_val, max_val) if inplace else functions.hardtanh(input, min_val, max_val)


def relu6(input: Tensor, inplace: bool = False) -> Tensor:
    """Each element, limited to the range from 0 to 6."""
    return hardtanh(input, 0.0, 6.0, inplace)


def sigmoid(input: Tensor) -> Tensor:
    """`1 / (1 + exp(-x))` of each element."""
    return input.sigmoid()


def tanh(input: Tensor) -> Tensor:
    """The hyperbolic tangent of each element."""
    return input.tanh()


def softmax(input: Tensor, dim: int | None = None, _stacklevel: int = 3, dtype: dtype | None = None) -> Tensor:
    """The exponentials of the elements, divided by their sum along `dim`, so that they add up to 1."""
    dim = _softmax_dim("softmax", input) if dim is None else dim
    return functions.softmax(input, dim, dtype)


def log_softmax(input: Tensor, dim: int | None = None, _stacklevel: int = 3, dtype: dtype | None = None) -> Tensor:
    """The logarithm of `softmax` along `dim`, computed without an overflow."""
    dim = _softmax_dim("log_softmax", input) if dim is None else dim
    return functions.log_softmax(input, dim, dtype)


def softmin(input: Tensor, dim: int | None = None, _stacklevel: int = 3, dtype: dtype | None = None) -> Tensor:
    """`softmax` of the negated input: the smallest element gets the largest probability."""
    dim = _softmax_dim("softmin", input) if dim is None else dim
    return functions.softmax(functions.neg(input), dim, dtype)


def _softmax_dim(name: str, input: Tensor) -> int:
    """The default dimension if `dim` is None, which PyTorch deprecates."""
    warn(f"Implicit dimension choice for {name} has been deprecated. Change the call to include dim=X as an argument.")
    return 0 if input.dim() in (0, 1, 3) else 1


def glu(input: Tensor, dim: int = -1) -> Tensor:
    """The first half of the input along `dim`, times the sigmoid of the second half. The size of `dim` is halved."""
    return functions.glu(input, dim)


def celu(input: Tensor, alpha: float = 1.0, inplace: bool = False) -> Tensor:
    """`max(x, 0) + min(alpha * (exp(x / alpha) - 1), 0)` of each element."""
    return functions.celu_(input, alpha) if inplace else functions.celu(input, alpha)


def elu(input: Tensor, alpha: float = 1.0, inplace: bool = False) -> Tensor:
    """`x` if it is positive, otherwise `alpha * (exp(x) - 1)`."""
    return functions.elu_(input, alpha) if inplace else functions.elu(input, alpha)


def hardsigmoid(input: Tensor, inplace: bool = False) -> Tensor:
    """A sigmoid of straight lines: `x / 6 + 1 / 2`, limited to the range from 0 to 1."""
    return functions.hardsigmoid_(input) if inplace else functions.hardsigmoid(input)


def hardswish(input: Tensor, inplace: bool = False) -> Tensor:
    """Each element, times its `hardsigmoid`."""
    return functions.hardswish_(input) if inplace else functions.hardswish(input)


def leaky_relu(input: Tensor, negative_slope: float = 0.01, inplace: bool = False) -> Tensor:
    """`x` if it is positive, otherwise `negative_slope * x`."""
    return functions.leaky_relu_(input, negative_slope) if inplace else functions.leaky_relu(input, negative_slope)


def mish(input: Tensor, inplace: bool = False) -> Tensor:
    """Each element, times the tanh of its `softplus`."""
    return functions.mish_(input) if inplace else functions.mish(input)


def rrelu(
    input: Tensor, lower: float = 1 / 8, upper: float = 1 / 3, training: bool = False, inplace: bool = False
) -> Tensor:
    """`leaky_relu`, in training with a random slope between `lower` and `upper` for each element, otherwise with their mean."""
    return (functions.rrelu_ if inplace else functions.rrelu)(input, lower, upper, training)


def selu(input: Tensor, inplace: bool = False) -> Tensor:
    """`elu` with a fixed `alpha` and a fixed factor, which keep the mean 0 and the variance 1 of a layer's inputs."""
    return functions.selu_(input) if inplace else functions.selu(input)


def silu(input: Tensor, inplace: bool = False) -> Tensor:
    """Each element, times its sigmoid."""
    return functions.silu_(input) if inplace else functions.silu(input)


def threshold(input: Tensor, threshold: float, value: float, inplace: bool = False) -> Tensor:
    """`x` if it is greater than `threshold`, otherwise `value`."""
    return (functions.threshold_ if inplace else functions.threshold)(input, threshold, value)


def softsign(input: Tensor) -> Tensor:
    """`x / (1 + abs(x))` of each element."""
    return input / (input.abs() + 1)


def tanhshrink(input: Tensor) -> Tensor:
    """`x - tanh(x)` of each element."""
    return input - input.tanh()


def gumbel_softmax(logits: Tensor, tau: float = 1, hard: bool = False, eps: float = 1e-10, dim: int = -1) -> Tensor:
    """A random choice with these logits that has a gradient. Source: `torch/nn/functional.py`, `gumbel_softmax`."""
    if eps != 1e-10:
        warn("`eps` parameter is deprecated and has no effect.")
    noise = -functions.empty_like(logits, memory_format=contiguous_format).exponential_().log()
    soft = ((logits + noise) / tau).softmax(dim)
    if not hard:
        return soft
    index = soft.max(dim, keepdim=True)[1]
    one_hot = functions.zeros_like(logits, memory_format=contiguous_format).scatter_(dim, index, 1.0)
    return one_hot - soft.detach() + soft


def dropout(input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False) -> Tensor:
    """In training, each element becomes 0 with probability `p`, and the others are divided by `1 - p`."""
    return _drop("dropout", input, p, training, inplace)


def alpha_dropout(input: Tensor, p: float = 0.5, training: bool = False, inplace: bool = False) -> Tensor:
    """Dropout that keeps the mean and the variance of inputs with mean 0 and variance 1, for use after `selu`."""
    return _drop("alpha_dropout", input, p, training, inplace)


def feature_alpha_dropout(input: Tensor, p: float = 0.5, training: bool = False, inplace: bool = False) -> Tensor:
    """`alpha_dropout` of whole channels, of (batch, channels, \\*)."""
    return _drop("feature_alpha_dropout", input, p, training, inplace)


def dropout1d(input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False) -> Tensor:
    """Dropout of whole channels, of (batch, channels, length) or (channels, length)."""
    if input.dim() not in (2, 3):
        raise RuntimeError(f"dropout1d: Expected 2D or 3D input, but received a {input.dim()}D input.")
    return _drop_channels(input, p, training, inplace, is_batch=input.dim() == 3)


def dropout2d(input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False) -> Tensor:
    """Dropout of whole channels, of (batch, channels, height, width)."""
    if input.dim() not in (3, 4):
        warn(f"dropout2d: Received a {input.dim()}-D input to dropout2d, which is deprecated.")
    return _drop("feature_dropout", input, p, training, inplace)  # images without a batch are taken for a batch


def dropout3d(input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False) -> Tensor:
    """Dropout of whole channels, of (batch, channels, depth, height, width) or without a batch."""
    if input.dim() not in (4, 5):
        warn(f"dropout3d: Received a {input.dim()}-D input to dropout3d, which is deprecated.")
    return _drop_channels(input, p, training, inplace, is_batch=input.dim() == 5)


def _drop(operator: str, input: Tensor, p: float, training: bool, inplace: bool) -> Tensor:
    if not 0 <= p <= 1:
        raise ValueError(f"dropout probability has to be between 0 and 1, but got {p}")
    return getattr(functions, f"{operator}_" if inplace else operator)(input, p, training)


def _drop_channels(input: Tensor, p: float, training: bool, inplace: bool, is_batch: bool) -> Tensor:
    if is_batch:
        return _drop("feature_dropout", input, p, training, inplace)
    batch = input.unsqueeze_(0) if inplace else input.unsqueeze(0)
    dropped = _drop("feature_dropout", batch, p, training, inplace)
    return dropped.squeeze_(0) if inplace else dropped.squeeze(0)


def normalize(input: Tensor, p: float = 2.0, dim: int = 1, eps: float = 1e-12, out: Tensor | None = None) -> Tensor:
    """The vectors along `dim`, divided by their norm, which is at least `eps`."""
    norm = input.norm(p, dim, keepdim=True).clamp_min(eps).expand_as(input)
    return input / norm if out is None else functions.div(input, norm, out=out)


# Functions with a weight ---------------------------------------------------------------------------------------------

Weight = Tensor | None  # a weight or a bias, if there is one


def embedding(
    input: Tensor,
    weight: Tensor,
    padding_idx: int | None = None,
    max_norm: float | None = None,
    norm_type: float = 2.0,
    scale_grad_by_freq: bool = False,
    sparse: bool = False,
) -> Tensor:
    """The rows of `weight` at the indices in `input`. With `max_norm`, a selected row with a larger norm is first scaled down,
    in place. The row `padding_idx` gets no gradient."""
    if padding_idx is None:
        padding_idx = -1
    elif padding_idx:
        if not -weight.size(0) <= padding_idx < weight.size(0):
            raise AssertionError("Padding_idx must be within num_embeddings")
        padding_idx %= weight.size(0)
    if max_norm is not None:
        functions.embedding_renorm_(weight, input.contiguous(), max_norm, norm_type)
    return functions.embedding(weight, input, padding_idx, scale_grad_by_freq, sparse)


def embedding_bag(
    input: Tensor, weight: Tensor, offsets: Tensor | None = None, max_norm: float | None = None, norm_type: float = 2,
    scale_grad_by_freq: bool = False, mode: str = "mean", sparse: bool = False, per_sample_weights: Tensor | None = None,
    include_last_offset: bool = False, padding_idx: int | None = None,
) -> Tensor:  # fmt: skip
    """The sum, the mean or the maximum of the rows of `weight` at each bag of indices. A bag is a row of `input`, or the indices
    from one of the `offsets` to the next. Indices equal to `padding_idx` are left out. Source: `torch/nn/functional.py`."""
    if weight.dtype is int64 and input.is_floating_point():
        warn("embedding_bag(weight, input, ...) is deprecated: the order is embedding_bag(input, weight, ...)")
        weight, input = input, weight
    if per_sample_weights is not None and input.shape != per_sample_weights.shape:
        shapes = f"If per_sample_weights ({per_sample_weights.shape}) is not None"
        raise ValueError(f"embedding_bag: {shapes}, then it must have the same shape as the input ({input.shape})")
    if weight.dim() != 2:
        raise ValueError(f"weight has to be a 2D Tensor, but got Tensor of dimension {weight.dim()}")
    if input.dim() not in (1, 2):
        raise ValueError(f"input has to be 1D or 2D Tensor, but got Tensor of dimension {input.dim()}")
    if input.dim() == 2 and offsets is not None:
        reason = "as input is treated is a mini-batch of fixed length sequences"
        raise ValueError(
            f"if input is 2D, then offsets has to be None, {reason}. However, found offsets of type {type(offsets)}"
        )
    if input.dim() == 1 and (offsets is None or offsets.dim() != 1):
        raise ValueError("offsets has to be a 1D Tensor" + (" but got None" if offsets is None else ""))
    if mode not in ("sum", "mean", "max"):
        raise ValueError("mode has to be one of sum, mean or max")
    if mode == "max" and (scale_grad_by_freq or sparse):
        what = "scaling the gradient by the frequency" if scale_grad_by_freq else "sparse weights"
        raise ValueError(f"max mode does not support {what}")
    if per_sample_weights is not None and mode != "sum":
        only = f"per_sample_weights is only supported for mode='sum' (got mode='{mode}')"
        raise NotImplementedError(f"embedding_bag: per_sample_weights was not None. {only}.")
    if padding_idx is not None and not -weight.size(0) <= padding_idx < weight.size(0):
        raise AssertionError("padding_idx must be within the number of embeddings")
    flat, count = input.reshape(-1), input.numel()
    if offsets is None:
        bounds = functions.arange(input.size(0) + 1) * input.size(1)
    else:
        bounds = offsets if include_last_offset else functions.cat([offsets, offsets.new_full((1,), count)])
        if offsets.numel() and int(offsets[0]):
            first = "the first sequence in the mini-batch has to start from position 0"
            raise RuntimeError(f"offsets[0] has to be 0, i.e., {first}. However, got {int(offsets[0])}")
        if offsets.numel() and int(offsets[-1]) > count:
            got = f"but got offsets[-1] of {int(offsets[-1])}"
            raise RuntimeError(f"offsets[-1] can not be greater than input's length({count}) {got}")
    rows = embedding(flat, weight, None, max_norm, norm_type, scale_grad_by_freq, sparse)
    longest = int(bounds.diff().max()) if bounds.numel() > 1 else 0
    at = bounds[:-1].unsqueeze(1) + functions.arange(longest)  # (bags, longest)
    inside = at < bounds[1:].unsqueeze(1)
    at = at.clamp(max=max(count - 1, 0)).long()
    if padding_idx is not None:
        inside = inside & (flat[at] != padding_idx % weight.size(0))
    values, outside = rows[at], (~inside).unsqueeze(2)
    if mode == "max" and longest:
        return values.masked_fill(outside, -math.inf).max(1)[0].masked_fill(outside.all(1), 0)
    if per_sample_weights is not None:
        values = values * per_sample_weights.reshape(-1)[at].unsqueeze(2)
    total = values.masked_fill(outside, 0).sum(1)
    return total / inside.sum(1, keepdim=True).clamp_min(1) if mode == "mean" else total


def layer_norm(
    input: Tensor, normalized_shape: Sequence[int], weight: Weight = None, bias: Weight = None, eps: float = 1e-5
) -> Tensor:
    """Subtract the mean and divide by the standard deviation, over the last dimensions, which have `normalized_shape`."""
    return functions.layer_norm(input, normalized_shape, weight, bias, eps)


def rms_norm(input: Tensor, normalized_shape: Sequence[int], weight: Weight = None, eps: float | None = None) -> Tensor:
    """Divide by the root of the mean square over the last dimensions, which have `normalized_shape`."""
    return functions.rms_norm(input, normalized_shape, weight, eps)


def batch_norm(
    input: Tensor, running_mean: Weight, running_var: Weight, weight: Weight = None, bias: Weight = None,
    training: bool = False, momentum: float = 0.1, eps: float = 1e-5,
) -> Tensor:  # fmt: skip
    """Normalise each channel of (batch, channels, \\*): in training by the batch's mean and variance, otherwise by the running
    ones."""
    if training and input.shape[:1].numel() * input.shape[2:].numel() == 1:  # one number has no variance
        raise ValueError(f"Expected more than 1 value per channel when training, got input size {input.shape}")
    return functions.batch_norm(input, weight, bias, running_mean, running_var, training, momentum, eps, False)


def group_norm(
    input: Tensor, num_groups: int, weight: Tensor | None = None, bias: Tensor | None = None, eps: float = 1e-5
) -> Tensor:
    """Normalise (batch, channels, \\*) over each of `num_groups` groups of channels, separately for each sample."""
    if input.dim() < 2:
        raise RuntimeError(f"Expected at least 2 dimensions for input tensor but received {input.dim()}")
    if input.size(0) * input.size(1) // num_groups * input.shape[2:].numel() == 1:
        raise ValueError(f"Expected more than 1 value per channel when training, got input size {input.shape}")
    return functions.group_norm(input, num_groups, weight, bias, eps)


def instance_norm(
    input: Tensor, running_mean: Weight = None, running_var: Weight = None, weight: Weight = None, bias: Weight = None,
    use_input_stats: bool = True, momentum: float = 0.1, eps: float = 1e-5,
) -> Tensor:  # fmt: skip
    """Normalise each channel of each sample of (batch, channels, \\*) by its own mean and variance."""
    if use_input_stats and input.shape[2:].numel() == 1:
        raise ValueError(f"Expected more than 1 spatial element when training, got input size {input.shape}")
    running = running_mean, running_var
    return functions.instance_norm(input, weight, bias, *running, use_input_stats, momentum, eps, cudnn_enabled=False)


def local_response_norm(input: Tensor, size: int, alpha: float = 1e-4, beta: float = 0.75, k: float = 1.0) -> Tensor:
    """Each element, divided by a power of the mean square over `size` channels around it."""
    if input.dim() < 3:
        raise ValueError(f"Expected 3D or higher dimensionality input (got {input.dim()} dimensions)")
    if input.numel() == 0:
        return input
    squares = input.mul(input).view((input.size(0), 1, input.size(1), -1))
    squares = avg_pool2d(pad(squares, (0, 0, size // 2, (size - 1) // 2)), (size, 1), stride=1).view(input.shape)
    return input / squares.mul(alpha).add(k).pow(beta)


# Pooling and padding -------------------------------------------------------------------------------------------------

Ints = int | Sequence[int]  # one number for both dimensions, or two


def max_pool1d(
    input: Tensor, kernel_size: Ints, stride: Ints | None = None, padding: Ints = 0, dilation: Ints = 1,
    ceil_mode: bool = False, return_indices: bool = False,
) -> Tensor | tuple[Tensor, Tensor]:  # fmt: skip
    """The maximum of each window of (batch, channels, length), with `return_indices` also its positions."""
    pool = functions.max_pool1d_with_indices if return_indices else functions.max_pool1d
    return pool(input, kernel_size, () if stride is None else stride, padding, dilation, ceil_mode)


def max_pool2d(
    input: Tensor, kernel_size: Ints, stride: Ints | None = None, padding: Ints = 0, dilation: Ints = 1,
    ceil_mode: bool = False, return_indices: bool = False,
) -> Tensor | tuple[Tensor, Tensor]:  # fmt: skip
    """The maximum of each window of (batch, channels, height, width), with `return_indices` also its positions."""
    pool = functions.max_pool2d_with_indices if return_indices else functions.max_pool2d
    return pool(input, kernel_size, () if stride is None else stride, padding, dilation, ceil_mode)


def max_pool2d_with_indices(
    input: Tensor, kernel_size: Ints, stride: Ints | None = None, padding: Ints = 0, dilation: Ints = 1,
    ceil_mode: bool = False, return_indices: bool = False,
) -> tuple[Tensor, Tensor]:  # fmt: skip
    """The result has the indices also without `return_indices`."""
    return max_pool2d(input, kernel_size, stride, padding, dilation, ceil_mode, return_indices=True)


def _both(value: Ints) -> tuple[int, int]:
    return (value, value) if isinstance(value, int) else (value[0], value[1])


def _windows(sizes: Sequence[int], kernel_size: Ints, dilation: Ints, stride: Ints) -> tuple[list[tuple], list[int]]:
    """For each place of the kernel, the index of what it sees as it moves over an image; and its positions in each dimension."""
    spans, counts = [], []
    for size, places, apart, step in zip(sizes, *map(_both, (kernel_size, dilation, stride))):
        counts.append((size - apart * (places - 1) - 1) // step + 1)
        last = step * (counts[-1] - 1)
        spans.append([slice(first, first + last + 1, step) for first in range(0, apart * places, apart)])
    if min(counts) < 1:
        raise RuntimeError(
            f"Given input with spatial size {tuple(sizes)} with its padding, kernel_size={_both(kernel_size)},"
            f" dilation={_both(dilation)}, calculated shape of the array of sliding blocks as {tuple(counts)},"
            " but its components must be at least one."
        )
    return [(..., *place) for place in itertools.product(*spans)], counts


def _check_windows(kernel_size: Ints, dilation: Ints, padding: Ints, stride: Ints) -> None:
    """Source: `aten/src/ATen/native/im2col_shape_check.h`, `im2col_shape_check`."""
    least = "should be greater than zero"
    for what, name, rule, (height, width), smallest in (
        ("kernel size", "kernel", least, _both(kernel_size), 1), ("dilation", "dilation", least, _both(dilation), 1),
        ("padding", "pad", "should be non-negative", _both(padding), 0), ("stride", "stride", least, _both(stride), 1),
    ):  # fmt: skip
        if min(height, width) < smallest:
            raise RuntimeError(f"{what} {rule}, but got {name}_height: {height} {name}_width: {width}")


def unfold(input: Tensor, kernel_size: Ints, dilation: Ints = 1, padding: Ints = 0, stride: Ints = 1) -> Tensor:
    """The windows of an image as columns: of sizes [batch,] channels times places of the kernel, positions of the kernel.
    In PyTorch: the operator `im2col`."""
    height, width = _both(padding)
    _check_windows(kernel_size, dilation, padding, stride)
    if input.dim() not in (3, 4) or 0 in input.shape[-3:]:
        expected = (
            "Expected 3D or 4D (batch mode) tensor with possibly 0 batch size and other non-zero dimensions for input"
        )
        raise RuntimeError(f"{expected}, but got: {list(input.shape)}")
    image = pad(input, (width, width, height, height))
    windows, _ = _windows(image.shape[-2:], kernel_size, dilation, stride)
    return functions.stack([image[window] for window in windows], -3).flatten(-4, -3).flatten(-2)


def fold(
    input: Tensor, output_size: Ints, kernel_size: Ints, dilation: Ints = 1, padding: Ints = 0, stride: Ints = 1
) -> Tensor:
    """The image to which each column of `unfold` adds its window. In PyTorch: the operator `col2im`."""
    (height, width), (above, left) = _both(output_size), _both(padding)
    _check_windows(kernel_size, dilation, padding, stride)
    if input.dim() not in (2, 3) or 0 in input.shape[-2:]:
        expected = "Expected 2D or 3D (batch mode) tensor for input with possibly 0 batch size and non-zero dimensions for input"
        raise RuntimeError(f"{expected}, but got: {list(input.shape)}")
    sizes = height + 2 * above, width + 2 * left
    windows, counts = _windows(sizes, kernel_size, dilation, stride)
    rows, last = input.dim() - 2, input.dim() - 1
    if input.size(rows) % len(windows):
        raise RuntimeError(
            f"Expected size of input's dimension {rows} to be divisible by the product of kernel_size, but got"
            f" input.size({rows})={input.size(rows)} and kernel_size={_both(kernel_size)}."
        )
    if input.size(last) != math.prod(counts):
        raise RuntimeError(
            f"Given output_size={_both(output_size)}, kernel_size={_both(kernel_size)}, dilation={_both(dilation)},"
            f" padding={_both(padding)}, stride={_both(stride)}, expected size of input's dimension {last} to match"
            f" the calculated number of sliding blocks {counts[0]} * {counts[1]} = {math.prod(counts)},"
            f" but got input.size({last})={input.size(last)}."
        )
    columns = input.unflatten(rows, (-1, len(windows))).unflatten(-1, counts)
    image = input.new_zeros((*columns.shape[:-3], *sizes))
    for window, column in zip(windows, columns.unbind(-3)):
        image[window].add_(column)
    return image[..., above : above + height, left : left + width].contiguous()


def _warn_of_corners(name: str, align_corners: bool | None) -> None:
    if align_corners is None:
        changed = "Default grid_sample and affine_grid behavior has changed to align_corners=False since 1.3.0."
        warn(f"{changed} See the documentation of {name} for details.")


def affine_grid(theta: Tensor, size: Sequence[int], align_corners: bool | None = None) -> Tensor:
    """For each element of images of this size, the position that an affine map (batch, ndim, ndim + 1) gives, from -1 to 1 in
    each dimension, the last one first. In PyTorch: the operator `affine_grid_generator`."""
    _warn_of_corners("affine_grid", align_corners)
    if not theta.is_floating_point():
        raise ValueError(f"Expected theta to have floating point type, but got {theta.dtype}")
    ndim = len(size) - 2
    if ndim not in (2, 3):
        kinds = "4D and 5D sizes, for 2D and 3D affine transforms, respectively"
        raise NotImplementedError(f"affine_grid only supports {kinds}. Got size {size}.")
    if theta.dim() != 3 or tuple(theta.shape[1:]) != (ndim, ndim + 1):
        shape = f"Nx{ndim}x{ndim + 1} for size {size}. Got {theta.shape}."
        raise ValueError(f"Expected a batch of {ndim}D affine matrices of shape {shape}")
    if align_corners and min(size[2:]) == 1:
        unit = "affine_grid behavior has changed for unit-size grids when align_corners=True"
        warn(f"Since version 1.3.0, {unit}. See the documentation of affine_grid for details.")
    elif min(size) <= 0:
        raise ValueError(f"Expected non-zero, positive output size. Got {size}")
    return functions.affine_grid_generator(theta, size, bool(align_corners))


def _check_grid(input: Tensor, grid: Tensor, mode: str, padding_mode: str, align_corners: bool | None) -> None:
    """Source: `torch/nn/functional.py`, `grid_sample`, and `aten/src/ATen/native/GridSamplerUtils.h`."""
    kinds = {"mode": (mode, "'bilinear', 'nearest' or 'bicubic'")}
    for name, (value, known) in (
        kinds | {"padding_mode": (padding_mode, "'zeros', 'border', or 'reflection'")}
    ).items():
        if f"'{value}'" not in known:
            raise ValueError(f"nn.functional.grid_sample(): expected {name} to be {known}, but got: '{value}'")
    _warn_of_corners("grid_sample", align_corners)
    ndim, sizes = input.dim() - 2, f"input with sizes {list(input.shape)} and grid with sizes {list(grid.shape)}"
    if input.size(0) != grid.size(0):
        raise RuntimeError(f"grid_sampler(): expected grid and input to have same batch size, but got {sizes}")
    if grid.size(-1) != ndim:
        got = f"but got grid with sizes {list(grid.shape)}"
        raise RuntimeError(f"grid_sampler(): expected grid to have size {ndim} in last dimension, {got}")
    if 0 in input.shape[2:]:
        where = f"{list(input.shape)} with dimension {[*input.shape].index(0, 2)} being empty"
        raise RuntimeError(
            f"grid_sampler(): expected input to have non-empty spatial dimensions, but input has sizes {where}"
        )
    if ndim not in (2, 3) or grid.dim() != input.dim():
        raise RuntimeError(
            f"grid_sampler(): expected 5D input and grid with same number of dimensions, but got {sizes}"
        )
    if mode == "bicubic":
        if ndim != 2:
            raise RuntimeError("grid_sampler(): bicubic interpolation only supports 4D input")
        raise NotImplementedError("rushlight leaves out grid_sample with the mode bicubic")


def grid_sample(
    input: Tensor, grid: Tensor, mode: str = "bilinear", padding_mode: str = "zeros", align_corners: bool | None = None
) -> Tensor:
    """The values of images at positions between their elements, from -1 to 1, the last dimension first: a mean of the nearest
    elements. In PyTorch: the operators `grid_sampler_2d` and `grid_sampler_3d`."""
    _check_grid(input, grid, mode, padding_mode, align_corners)
    images, at = input.flatten(2), []
    for size, position in zip(input.shape[:1:-1], grid.unbind(-1)):
        position = (position + 1) / 2 * (size - 1) if align_corners else ((position + 1) * size - 1) / 2
        if padding_mode == "reflection":  # at the centres of the first and the last element, or at their edges
            first, span = (0.0, size - 1) if align_corners else (-0.5, size)
            beyond = (position - first).abs()
            turned = beyond % (2 * span) if span else beyond * 0
            position = functions.minimum(turned, 2 * span - turned) + first
        at.append(position if padding_mode == "zeros" else position.nan_to_num(0.0).clamp(0, size - 1))
    result: Any = 0
    nearest = [position.detach().round() if mode == "nearest" else position.detach().floor() for position in at]
    for corner in itertools.product((0, 1) if mode == "bilinear" else (0,), repeat=len(at)):
        weight, index, step = 1, 0, 1
        for size, position, low, beside in zip(input.shape[:1:-1], at, nearest, corner):
            place = low + beside
            inside = (place >= 0) & (place < size)
            weight = weight * inside * (1 - (position - place).abs() if mode == "bilinear" else 1)
            index, step = index + place.nan_to_num(0.0).clamp(0, size - 1).long() * step, step * size
        values = images.gather(2, index.flatten(1).unsqueeze(1).expand(-1, images.size(1), -1))
        result = result + values.unflatten(2, grid.shape[1:-1]) * weight.unsqueeze(1)
    return result


UPSAMPLE = {  # by mode and number of dimensions
    **{("nearest", n): f"upsample_nearest{n}d" for n in (1, 2, 3)},
    **{("nearest-exact", n): f"_upsample_nearest_exact{n}d" for n in (1, 2, 3)},
    ("linear", 1): "upsample_linear1d", ("bilinear", 2): "upsample_bilinear2d", ("trilinear", 3): "upsample_trilinear3d",
    ("bicubic", 2): "upsample_bicubic2d",
}  # fmt: skip


def interpolate(
    input: Tensor, size: Ints | None = None, scale_factor: float | Sequence[float] | None = None, mode: str = "nearest",
    align_corners: bool | None = None, recompute_scale_factor: bool | None = None, antialias: bool = False,
) -> Tensor:  # fmt: skip
    """Images of another size, or `scale_factor` times as large. Source: `torch/nn/functional.py`, `interpolate`."""
    ndim, nearest = input.dim() - 2, mode in ("nearest", "area", "nearest-exact")
    if nearest and align_corners is not None:
        modes = "linear | bilinear | bicubic | trilinear"
        raise ValueError(f"align_corners option can only be set with the interpolating modes: {modes}")
    if (size is None) == (scale_factor is None):
        raise ValueError(
            "only one of size or scale_factor should be defined"
            if size
            else "either size or scale_factor should be defined"
        )
    given = [scale_factor if size is None else size]
    given = list(given[0]) if isinstance(given[0], (tuple, list)) else given * ndim
    if size is not None and not all(
        isinstance(length, int) or isinstance(length, Tensor) and length.dtype.category == INTEGRAL for length in given
    ):
        kinds = f"int or Tuple[int] or Tuple[int, int] or Tuple[int, int, int], but got size with types {[*map(type, given)]}"
        raise TypeError(f"expected size to be one of {kinds}")
    if len(given) != ndim:
        raise ValueError(
            f"Input and output must have the same number of spatial dimensions, but got {list(input.shape)} and {given}"
        )
    if size is not None and recompute_scale_factor:
        raise ValueError("recompute_scale_factor is not meaningful with an explicit size.")
    if antialias and not (mode in ("bilinear", "bicubic", "lanczos") and ndim == 2):
        supported = "bilinear, bicubic, and lanczos modes and requires a 4-D tensor as input"
        raise ValueError(f"Anti-alias option is restricted to {supported}")
    if mode == "lanczos" and (align_corners or not antialias):
        raise ValueError(
            f"Lanczos mode {'does not support align_corners=True' if align_corners else 'requires antialias=True'}"
        )
    sizes = given if size is not None else [math.floor(n * scale) for n, scale in zip(input.shape[2:], given)]
    if mode == "area" and ndim == 3:
        raise NotImplementedError("rushlight leaves out the mode area over three dimensions")
    if mode == "area":
        return (adaptive_avg_pool1d if ndim == 1 else adaptive_avg_pool2d)(input, sizes)
    if not antialias and (mode, ndim) not in UPSAMPLE:
        raise NotImplementedError(f"Input Error: {mode} mode does not support {input.dim()}D input")
    scales = [None] * ndim if size is not None or recompute_scale_factor else given
    corners = [] if nearest else [bool(align_corners)]
    name = f"_upsample_{mode}2d_aa" if antialias else UPSAMPLE[mode, ndim]
    return getattr(functions, name)(input, sizes, *corners, *scales)


def upsample(input: Tensor, size=None, scale_factor=None, mode="nearest", align_corners=None) -> Tensor:
    """The older name of `interpolate`, which warns."""
    warn("`nn.functional.upsample` is deprecated. Use `nn.functional.interpolate` instead.")
    return interpolate(input, size, scale_factor, mode, align_corners)


def adaptive_avg_pool2d(input: Tensor, output_size: int | Sequence[int | None]) -> Tensor:
    """The average of windows, as many as `output_size`. A size of None is that of the input."""
    if not isinstance(output_size, int):
        if input.dim() <= len(output_size):
            raise ValueError(f"Input dimension should be at least {len(output_size) + 1}")
        output_size = [
            own if size is None else size for own, size in zip(input.shape[-len(output_size) :], output_size)
        ]
    return functions.adaptive_avg_pool2d(input, output_size)


def max_pool3d(
    input: Tensor, kernel_size: Ints, stride: Ints | None = None, padding: Ints = 0, dilation: Ints = 1,
    ceil_mode: bool = False, return_indices: bool = False,
) -> Tensor | tuple[Tensor, Tensor]:  # fmt: skip
    """The largest element of each window: first in each image, then over the images of a window."""
    settings = kernel_size, kernel_size if stride is None else stride, padding, dilation
    settings = [(value,) * 3 if isinstance(value, int) else tuple(value) for value in settings]
    images, inner = max_pool2d_with_indices(input.flatten(-4, -3), *(value[1:] for value in settings), ceil_mode)
    sizes, area = images.shape[-2:], images.shape[-2:].numel()
    columns = images.flatten(-2).unflatten(-2, input.shape[-4:-2])
    neutral = [(value[0], other) for value, other in zip(settings, (1, 1, 0, 1))]
    values, outer = max_pool2d_with_indices(columns, *neutral, ceil_mode)
    if not return_indices:
        return values.unflatten(-1, sizes)
    inner = inner.flatten(-2).unflatten(-2, input.shape[-4:-2]).flatten(-2).gather(-1, outer.flatten(-2))
    indices = outer // area * input.shape[-2:].numel() + inner.unflatten(-1, outer.shape[-2:])
    return values.unflatten(-1, sizes), indices.unflatten(-1, sizes)


def _max_unpool(
    ndim: int, input: Tensor, indices: Tensor, kernel_size: Ints, stride: Ints | None, padding: Ints,
    output_size: Sequence[int] | None,
) -> Tensor:  # fmt: skip
    """Each element at its position in `indices`, which pooling returned, and zeros elsewhere. Source:
    `torch/nn/functional.py`, `_unpool_output_size`, and `aten/src/ATen/native/MaxUnpooling.cpp`."""
    settings = (kernel_size, kernel_size if stride is None else stride, padding)
    kernel, step, pads = ((value,) * ndim if isinstance(value, int) else tuple(value) for value in settings)
    sizes = [(n - 1) * s + k - 2 * p for n, s, k, p in zip(input.shape[-ndim:], step, kernel, pads)]
    if output_size is not None:
        wanted = list(output_size)[2:] if len(output_size) == ndim + 2 else list(output_size)
        if len(wanted) != ndim:
            lengths = f"{ndim} or {ndim + 2} elements, but it has a length of '{len(wanted)}'"
            raise ValueError(f"output_size should be a sequence containing {lengths}")
        for dim, (size, n, s) in enumerate(zip(sizes, wanted, step)):
            if not size - s < n < size + s:
                between = f"(dim {dim} must be between {size - s} and {size + s})"
                raise ValueError(f'invalid output_size "{wanted}" {between}')
        sizes = wanted
    if indices.shape != input.shape:
        shapes = f"({list(input.shape)}) but got indices tensor with shape: {list(indices.shape)}"
        raise RuntimeError(f"Expected shape of indices to be same as that of the input tensor {shapes}")
    zeros = input.new_zeros((*input.shape[:-ndim], math.prod(sizes)))
    return zeros.scatter(-1, indices.flatten(-ndim), input.flatten(-ndim)).unflatten(-1, sizes)


def max_unpool1d(
    input: Tensor, indices: Tensor, kernel_size: Ints, stride: Ints | None = None, padding: Ints = 0,
    output_size: Sequence[int] | None = None,
) -> Tensor:  # fmt: skip
    """The inverse of `max_pool1d`, with zeros where no element was the largest."""
    return _max_unpool(1, input, indices, kernel_size, stride, padding, output_size)


def max_unpool2d(
    input: Tensor, indices: Tensor, kernel_size: Ints, stride: Ints | None = None, padding: Ints = 0,
    output_size: Sequence[int] | None = None,
) -> Tensor:  # fmt: skip
    """The inverse of `max_pool2d`, with zeros where no element was the largest."""
    return _max_unpool(2, input, indices, kernel_size, stride, padding, output_size)


def max_unpool3d(
    input: Tensor, indices: Tensor, kernel_size: Ints, stride: Ints | None = None, padding: Ints = 0,
    output_size: Sequence[int] | None = None,
) -> Tensor:  # fmt: skip
    """The inverse of `max_pool3d`, with zeros where no element was the largest."""
    return _max_unpool(3, input, indices, kernel_size, stride, padding, output_size)


def adaptive_max_pool2d(
    input: Tensor, output_size: int | Sequence[int | None], return_indices: bool = False
) -> Tensor | tuple[Tensor, Tensor]:
    """The largest element of windows, as many as `output_size`."""
    wanted, sizes = (output_size,) * 2 if isinstance(output_size, int) else output_size, input.shape[-2:]
    counts = [own if count is None else count for own, count in zip(sizes, wanted)]
    bounds = [[(i * n // count, -(-(i + 1) * n // count)) for i in range(count)] for n, count in zip(sizes, counts)]
    found = []
    for top, bottom in bounds[0]:
        for left, right in bounds[1]:
            window, width = input[..., top:bottom, left:right], right - left
            largest, index = (x.flatten(-3) for x in max_pool2d_with_indices(window, (bottom - top, width)))
            found.append((largest, (index // width + top) * sizes[1] + index % width + left))
    values, indices = (functions.stack(parts, -1).unflatten(-1, counts) for parts in zip(*found))
    return (values, indices) if return_indices else values


def pad(input: Tensor, pad: Sequence[int], mode: str = "constant", value: float | None = None) -> Tensor:
    """Elements before and after the last dimensions. `pad` has two numbers for each, the last dimension first."""
    return functions.pad(input, pad, mode, value)


# Losses --------------------------------------------------------------------------------------------------------------

REDUCTIONS = {"none": 0, "mean": 1, "sum": 2}


def _legacy_reduction(size_average: bool | None, reduce: bool | None) -> str:
    """The reduction that the older arguments mean. Source: `torch/nn/_reduction.py`, `legacy_get_string`."""
    reduction = "none" if reduce is False else "sum" if size_average is False else "mean"
    warn(f"size_average and reduce args will be deprecated, please use reduction='{reduction}' instead.")
    return reduction


def _reduction(reduction: str, size_average: bool | None = None, reduce: bool | None = None) -> int:
    """The number of a reduction. Source: `torch/nn/_reduction.py`."""
    if size_average is not None or reduce is not None:
        reduction = _legacy_reduction(size_average, reduce)
    if reduction not in REDUCTIONS:
        raise ValueError(f"{reduction} is not a valid value for reduction")
    return REDUCTIONS[reduction]


def nll_loss(
    input: Tensor, target: Tensor, weight: Weight = None, size_average=None, ignore_index: int = -100, reduce=None,
    reduction: str = "mean",
) -> Tensor:  # fmt: skip
    """The negative log probability of the target class: `input` (batch, classes, \\*) has log probabilities, `target` (batch,
    \\*) classes."""
    return functions.nll_loss_nd(input, target, weight, _reduction(reduction, size_average, reduce), ignore_index)


def cross_entropy(
    input: Tensor, target: Tensor, weight: Weight = None, size_average=None, ignore_index: int = -100, reduce=None,
    reduction: str = "mean", label_smoothing: float = 0.0,
) -> Tensor:  # fmt: skip
    """`nll_loss` of the `log_softmax` of logits (batch, classes, \\*), for classes (batch, \\*) or probabilities of the input's
    shape."""
    number = _reduction(reduction, size_average, reduce)
    return functions.cross_entropy_loss(input, target, weight, number, ignore_index, label_smoothing)


def mse_loss(
    input: Tensor, target: Tensor, size_average=None, reduce=None, reduction: str = "mean", weight: Weight = None
) -> Tensor:
    """The squares of the differences of input and target, and their mean, sum, or neither."""
    return _of_pair(functions.mse_loss, input, target, _reduction(reduction, size_average, reduce), weight)


def l1_loss(
    input: Tensor, target: Tensor, size_average=None, reduce=None, reduction: str = "mean", weight: Weight = None
) -> Tensor:
    """The absolute differences of input and target, and their mean, sum, or neither."""
    return _of_pair(functions.l1_loss, input, target, _reduction(reduction, size_average, reduce), weight)


def smooth_l1_loss(
    input: Tensor, target: Tensor, size_average=None, reduce=None, reduction: str = "mean", beta: float = 1.0
) -> Tensor:
    """Half of the square of a difference, divided by `beta`, if it is less than `beta`, otherwise the difference less `beta /
    2`."""
    number = _reduction(reduction, size_average, reduce)
    if beta == 0:
        return _of_pair(functions.l1_loss, input, target, number)
    return _of_pair(functions.smooth_l1_loss, input, target, number, beta=beta)


def huber_loss(
    input: Tensor, target: Tensor, reduction: str = "mean", delta: float = 1.0, weight: Weight = None
) -> Tensor:
    """Half of the square of a difference if it is less than `delta`, otherwise `delta` times the difference less `delta / 2`."""
    return _of_pair(functions.huber_loss, input, target, _reduction(reduction), weight, False, delta=delta)


def _of_pair(
    operator: Callable, input: Tensor, target: Tensor, reduction: int, weight: Weight = None,
    mean_of_weights: bool = True, **given: float,
) -> Tensor:  # fmt: skip
    """A loss of two tensors, which are broadcast to one shape, with a warning, because different sizes are usually a mistake.
    Elements may have weights. A mean is divided by the sum of the weights, or by the number of elements."""
    if target.shape != input.shape:
        sizes = f"target size ({target.shape}) that is different to the input size ({input.shape})"
        remedy = "This broadcasts them. Please ensure they have the same size."
        warn(f"Using a {sizes}. {remedy}")
    if weight is not None and weight.shape != input.shape:
        raise ValueError("Weights and input must have the same size.")
    if target.shape != input.shape:
        input, target = functions.broadcast_tensors((input, target))
    if weight is None:
        return operator(input, target, reduction, **given)
    loss = operator(input, target, REDUCTIONS["none"], **given) * weight
    if reduction == REDUCTIONS["mean"] and mean_of_weights:
        return functions.sum(loss) / functions.sum(weight)
    return losses.reduce(loss, reduction)


def hinge_embedding_loss(
    input: Tensor, target: Tensor, margin: float = 1.0, size_average=None, reduce=None, reduction: str = "mean"
) -> Tensor:
    """The input where the target is 1, and `max(0, margin - input)` where it is -1."""
    return functions.hinge_embedding_loss(input, target, margin, _reduction(reduction, size_average, reduce))


def multi_margin_loss(
    input: Tensor, target: Tensor, p: int = 1, margin: float = 1.0, weight: Weight = None, size_average=None,
    reduce=None, reduction: str = "mean",
) -> Tensor:  # fmt: skip
    """For logits (batch, classes): by how much each other class comes closer to the target class than `margin`, to the power
    `p`."""
    return functions.multi_margin_loss(input, target, p, margin, weight, _reduction(reduction, size_average, reduce))


def multilabel_margin_loss(
    input: Tensor, target: Tensor, size_average=None, reduce=None, reduction: str = "mean"
) -> Tensor:
    """For several target classes of each sample, which end at the first -1: by how much each other class comes closer than 1."""
    return functions.multilabel_margin_loss(input, target, _reduction(reduction, size_average, reduce))


def multilabel_soft_margin_loss(
    input: Tensor, target: Tensor, weight: Weight = None, size_average=None, reduce=None, reduction: str = "mean"
) -> Tensor:
    """The mean over the classes of a binary cross-entropy. Source: `torch/nn/functional.py`, `multilabel_soft_margin_loss`."""
    number = _reduction(reduction, size_average, reduce)
    loss = -(target * logsigmoid(input) + (1 - target) * logsigmoid(-input))
    loss = loss if weight is None else loss * weight
    return losses.reduce(loss.sum(-1) / input.size(-1), number)


def ctc_loss(
    log_probs: Tensor, targets: Tensor, input_lengths: Tensor, target_lengths: Tensor, blank: int = 0,
    reduction: str = "mean", zero_infinity: bool = False,
) -> Tensor:  # fmt: skip
    """The negative log probability of a sequence of labels, over all alignments to log probabilities (time, batch, classes)."""
    lengths = input_lengths, target_lengths
    return functions.ctc_loss(log_probs, targets, *lengths, blank, _reduction(reduction), zero_infinity)


def soft_margin_loss(input: Tensor, target: Tensor, size_average=None, reduce=None, reduction: str = "mean") -> Tensor:
    """`log(1 + exp(-target * input))`, for targets 1 and -1."""
    return functions.soft_margin_loss(input, target, _reduction(reduction, size_average, reduce))


def poisson_nll_loss(
    input: Tensor, target: Tensor, log_input: bool = True, full: bool = False, size_average=None, eps: float = 1e-8,
    reduce=None, reduction: str = "mean",
) -> Tensor:  # fmt: skip
    """The negative log likelihood of counts, for a Poisson distribution whose rate, or its logarithm, is the input."""
    number = _reduction(reduction, size_average, reduce)
    return functions.poisson_nll_loss(input, target, log_input, full, eps, number)


def cosine_embedding_loss(
    input1: Tensor, input2: Tensor, target: Tensor, margin: float = 0, size_average=None, reduce=None,
    reduction: str = "mean",
) -> Tensor:  # fmt: skip
    """`1 - cos` of two vectors where the target is 1, and `max(0, cos - margin)` where it is -1."""
    number = _reduction(reduction, size_average, reduce)
    return functions.cosine_embedding_loss(input1, input2, target, margin, number)


def margin_ranking_loss(
    input1: Tensor, input2: Tensor, target: Tensor, margin: float = 0, size_average=None, reduce=None,
    reduction: str = "mean",
) -> Tensor:  # fmt: skip
    """`max(0, -target * (input1 - input2) + margin)`: the target is 1 if the first input should be the greater one."""
    return functions.margin_ranking_loss(input1, input2, target, margin, _reduction(reduction, size_average, reduce))


def triplet_margin_loss(
    anchor: Tensor, positive: Tensor, negative: Tensor, margin: float = 1.0, p: float = 2, eps: float = 1e-6,
    swap: bool = False, size_average=None, reduce=None, reduction: str = "mean",
) -> Tensor:  # fmt: skip
    """By how much an anchor is not closer to the positive than to the negative by `margin`, in the `p`-norm."""
    number = _reduction(reduction, size_average, reduce)
    return functions.triplet_margin_loss(anchor, positive, negative, margin, p, eps, swap, number)


def triplet_margin_with_distance_loss(
    anchor: Tensor, positive: Tensor, negative: Tensor, *,
    distance_function: Callable[[Tensor, Tensor], Tensor] | None = None, margin: float = 1.0, swap: bool = False,
    reduction: str = "mean",
) -> Tensor:  # fmt: skip
    """Return the triplet loss for any distance function.

    Source: `torch/nn/functional.py`, `triplet_margin_with_distance_loss`.
    """
    if reduction not in REDUCTIONS:
        raise ValueError(f"{reduction} is not a valid value for reduction")
    if margin <= 0:
        raise ValueError(f"margin must be greater than 0, got {margin}")
    if not anchor.ndim == positive.ndim == negative.ndim:
        dims = f"anchor {anchor.ndim}D, positive {positive.ndim}D, and negative {negative.ndim}D inputs"
        same = "are expected to have the same number of dimensions"
        raise RuntimeError(f"The anchor, positive, and negative tensors {same}, but got: {dims}")
    distance = distance_function or pairwise_distance
    far = distance(anchor, negative)
    far = functions.minimum(far, distance(positive, negative)) if swap else far
    return losses.reduce((margin + distance(anchor, positive) - far).clamp_min(0), REDUCTIONS[reduction])


def binary_cross_entropy(
    input: Tensor, target: Tensor, weight: Weight = None, size_average=None, reduce=None, reduction: str = "mean"
) -> Tensor:
    """`-(target * log(input) + (1 - target) * log(1 - input))`, for probabilities."""
    if target.shape != input.shape:
        sizes = f"Using a target size ({target.shape}) that is different to the input size ({input.shape})"
        raise ValueError(f"{sizes} is deprecated. Please ensure they have the same size.")
    weight = weight if weight is None else weight.expand(common_sizes(target, weight))
    return functions.binary_cross_entropy(input, target, weight, _reduction(reduction, size_average, reduce))


def binary_cross_entropy_with_logits(
    input: Tensor, target: Tensor, weight: Weight = None, size_average=None, reduce=None, reduction: str = "mean",
    pos_weight: Weight = None,
) -> Tensor:  # fmt: skip
    """`binary_cross_entropy` of the sigmoid of logits, computed without an overflow."""
    if target.shape != input.shape:
        raise ValueError(f"Target size ({target.shape}) must be the same as input size ({input.shape})")
    number = _reduction(reduction, size_average, reduce)
    return functions.binary_cross_entropy_with_logits(input, target, weight, pos_weight, number)


def kl_div(
    input: Tensor, target: Tensor, size_average=None, reduce=None, reduction: str = "mean", log_target: bool = False
) -> Tensor:
    """With the reduction "batchmean", the sum is divided by the size of the batch: this is the Kullback-Leibler divergence."""
    if reduction == "mean" and size_average is None and reduce is None:
        warn("reduction: 'mean' divides by the number of elements, not of samples: 'batchmean'")
    of_batch = reduction == "batchmean"
    number = _reduction("sum" if of_batch else reduction, size_average, reduce)
    loss = functions.kl_div(input, target, number, log_target=log_target)
    return loss / input.size(0) if of_batch and input.dim() else loss


def gaussian_nll_loss(
    input: Tensor, target: Tensor, var: Tensor | float, full: bool = False, eps: float = 1e-6, reduction: str = "mean"
) -> Tensor:
    """The negative log likelihood of normal variables with these means and variances, which are at least `eps`.
    Source: `torch/nn/functional.py`, `gaussian_nll_loss`."""
    var = var * functions.ones_like(input) if isinstance(var, float) else var
    if functions.any(var < 0):
        raise ValueError("var has negative entry/entries")
    if var.shape != input.shape and input.shape[:-1] == var.shape:
        var = var.unsqueeze(-1)
    elif var.shape != input.shape and (
        input.ndim != var.ndim or sum(b for a, b in zip(input.shape, var.shape) if a != b) != 1
    ):
        raise ValueError("var is of incorrect size")
    var = var.clone()
    with no_grad():
        var.clamp_(min=eps)
    loss = 0.5 * (functions.log(var) + (input - target) ** 2 / var)
    return losses.reduce(loss + 0.5 * math.log(2 * math.pi) if full else loss, _reduction(reduction))


# Attention -----------------------------------------------------------------------------------------------------------


def multi_head_attention_forward(
    query: Tensor, key: Tensor, value: Tensor, embed_dim_to_check: int, num_heads: int,
    in_proj_weight: Weight, in_proj_bias: Weight, bias_k: Weight, bias_v: Weight, add_zero_attn: bool,
    dropout_p: float, out_proj_weight: Tensor, out_proj_bias: Weight, training: bool = True,
    key_padding_mask: Tensor | None = None, need_weights: bool = True, attn_mask: Tensor | None = None,
    use_separate_proj_weight: bool = False, q_proj_weight: Weight = None, k_proj_weight: Weight = None,
    v_proj_weight: Weight = None, static_k: Tensor | None = None, static_v: Tensor | None = None,
    average_attn_weights: bool = True, is_causal: bool = False,
) -> tuple[Tensor, Tensor | None]:  # fmt: skip
    """Attention in several heads, each on its part of the projected features, and a projection of the result.

    The queries are (L, batch, E), the keys and values (S, batch, features), or all without a batch. A mask that is bool is True
    where a key takes no part; one of floating-point numbers is added. `attn_mask` is (L, S) or (batch * heads, L, S), and
    `key_padding_mask` (batch, S). The result is (L, batch, E). With `need_weights`, the weights are the second result, (batch, L,
    S) as a mean over the heads, or (batch, heads, L, S).

    Source: `torch/nn/functional.py`, `multi_head_attention_forward`.
    """
    is_batched = _mha_shape_check(query, key, value, key_padding_mask, attn_mask, num_heads)
    if not is_batched:
        query, key, value = (x.unsqueeze(1) for x in (query, key, value))
        key_padding_mask = None if key_padding_mask is None else key_padding_mask.unsqueeze(0)
    (length, batch, features), dropout_p = query.shape, dropout_p if training else 0.0
    if is_causal and attn_mask is None:
        raise RuntimeError("Need attn_mask if specifying the is_causal hint.")
    key_padding_mask = _canonical_mask(
        key_padding_mask, "key_padding_mask", _none_or_dtype(attn_mask), "attn_mask", query.dtype
    )
    if is_causal and key_padding_mask is None and not need_weights:
        attn_mask = None  # attention makes the causal mask itself
    else:
        attn_mask, is_causal = _canonical_mask(attn_mask, "attn_mask", None, "", query.dtype, check_other=False), False
    if features != embed_dim_to_check:
        raise AssertionError(f"was expecting embedding dimension of {embed_dim_to_check}, but got {features}")
    head_dim = features // num_heads
    if head_dim * num_heads != features:
        raise AssertionError(f"embed_dim {features} not divisible by num_heads {num_heads}")
    if (key.shape[:2] != value.shape[:2]) if use_separate_proj_weight else key.shape != value.shape:
        raise AssertionError(f"key shape {key.shape} does not match value shape {value.shape}")
    if use_separate_proj_weight:
        biases = (None, None, None) if in_proj_bias is None else in_proj_bias.chunk(3)
        q, k, v = _in_projection(query, key, value, q_proj_weight, k_proj_weight, v_proj_weight, *biases)
    else:
        q, k, v = _in_projection_packed(query, key, value, in_proj_weight, in_proj_bias)
    attn_mask = _check_attn_mask(attn_mask, (length, key.size(0)), batch * num_heads)
    masks = [attn_mask, key_padding_mask]
    if (bias_k is None) != (bias_v is None):
        raise AssertionError("bias_k and bias_v must be given together")
    if bias_k is not None:  # one more key and value, which are learnt
        if static_k is not None or static_v is not None:
            raise AssertionError("bias cannot be added to static key or value.")
        k, v = (functions.cat([x, bias.repeat((1, batch, 1))]) for x, bias in ((k, bias_k), (v, bias_v)))
        masks = [_one_more_key(mask) for mask in masks]

    def heads(x: Tensor, static: Tensor | None = None) -> Tensor:
        if static is not None:
            return _check_static(static, batch * num_heads, head_dim)
        return x.view((x.size(0), batch * num_heads, head_dim)).transpose(0, 1)

    q, k, v = heads(q), heads(k, static_k), heads(v, static_v)
    if add_zero_attn:  # one more key and value, which are zeros
        zeros = functions.zeros((batch * num_heads, 1, head_dim), dtype=k.dtype, device=k.device)
        k, v = functions.cat([k, zeros], 1), functions.cat([v, zeros], 1)
        masks = [_one_more_key(mask) for mask in masks]
    mask = _merged_mask(*masks, batch, num_heads, k.size(1))
    if need_weights:
        result, weights = _attention_with_weights(q, k, v, mask, dropout_p)
        result = result.transpose(0, 1).reshape((length * batch, features))
        weights = weights.view((batch, num_heads, length, k.size(1)))
        weights = functions.mean(weights, 1) if average_attn_weights else weights
    else:
        weights = None
        if mask is not None:
            mask = mask.unsqueeze(0) if mask.size(0) == 1 else mask.view((batch, num_heads, mask.size(1), k.size(1)))
        q, k, v = (x.view((batch, num_heads, x.size(1), head_dim)) for x in (q, k, v))
        result = scaled_dot_product_attention(q, k, v, mask, dropout_p, is_causal)
        result = result.permute((2, 0, 1, 3)).reshape((batch * length, features))
    result = linear(result, out_proj_weight, out_proj_bias)
    result = result.view((length, batch, result.size(1)))
    if is_batched:
        return result, weights
    return result.squeeze(1), None if weights is None else weights.squeeze(0)


def _mha_shape_check(query, key, value, key_padding_mask, attn_mask, num_heads: int) -> bool:
    """Whether there is a batch."""
    if query.dim() not in (2, 3):
        raise AssertionError(
            f"query should be unbatched 2D or batched 3D tensor but received {query.dim()}-D query tensor"
        )
    is_batched = query.dim() == 3
    given = f"For {query.dim()}-D `query`"
    if not key.dim() == value.dim() == query.dim():
        raise AssertionError(f"{given}, expected `key` and `value` of as many but found {key.dim()} and {value.dim()}")
    if key_padding_mask is not None and key_padding_mask.dim() != query.dim() - 1:
        raise AssertionError(f"{given}, `key_padding_mask` cannot have {key_padding_mask.dim()} dimensions")
    if attn_mask is not None and attn_mask.dim() not in (2, 3):
        raise AssertionError(f"{given}, `attn_mask` cannot have {attn_mask.dim()} dimensions")
    sizes = (num_heads, query.shape[0], key.shape[0])
    if not is_batched and attn_mask is not None and attn_mask.dim() == 3 and attn_mask.shape != sizes:
        raise AssertionError(f"Expected `attn_mask` shape to be {sizes} but got {attn_mask.shape}")
    return is_batched


def _none_or_dtype(input: Tensor | None) -> dtype | None:
    return None if input is None else input.dtype


def _canonical_mask(
    mask: Tensor | None,
    mask_name: str,
    other_type: dtype | None,
    other_name: str,
    target_type: dtype,
    check_other: bool = True,
) -> Tensor | None:
    """A mask that is added: minus infinity where a bool mask is True. Source: `torch/nn/functional.py`, `_canonical_mask`."""
    if mask is None:
        return None
    if mask.dtype is not bool_ and not mask.dtype.is_floating_point:
        raise AssertionError(f"only bool and floating types of {mask_name} are supported")
    if check_other and other_type is not None and mask.dtype is not other_type:
        warn(f"Support for mismatched {mask_name} and {other_name} is deprecated. Use same type.")
    if mask.dtype.is_floating_point:
        return mask
    return functions.zeros_like(mask, dtype=target_type).masked_fill_(mask, -math.inf)


def _in_projection_packed(q: Tensor, k: Tensor, v: Tensor, w: Tensor, b: Weight = None) -> tuple[Tensor, ...]:
    """The projections by weights in one matrix, (3 * features, features). The same tensors are projected together.
    Source: `torch/nn/functional.py`, `_in_projection_packed`."""
    features = q.size(-1)
    if k is not v:
        biases = (None, None, None) if b is None else b.chunk(3)
        return tuple(map(linear, (q, k, v), w.chunk(3), biases))
    if q is k:
        return _several_projections(q, w, b, 3)
    sizes = [features, features * 2]
    (w_q, w_kv), (b_q, b_kv) = w.split(sizes), (None, None) if b is None else b.split(sizes)
    return linear(q, w_q, b_q), *_several_projections(k, w_kv, b_kv, 2)


def _several_projections(x: Tensor, w: Tensor, b: Weight, count: int) -> tuple[Tensor, ...]:
    projected = linear(x, w, b).unflatten(-1, (count, -1)).unsqueeze(0).transpose(0, -2).squeeze(-2).contiguous()
    return tuple(projected[i] for i in range(count))


def _in_projection(q, k, v, w_q, w_k, w_v, b_q=None, b_k=None, b_v=None) -> tuple[Tensor, ...]:
    """The projections by three weights. Source: `torch/nn/functional.py`, `_in_projection`."""
    for x, weight in ((q, w_q), (k, w_k), (v, w_v)):
        if tuple(weight.shape) != (q.size(-1), x.size(-1)):
            raise AssertionError(f"expecting weights shape of {(q.size(-1), x.size(-1))}, but got {weight.shape}")
    return linear(q, w_q, b_q), linear(k, w_k, b_k), linear(v, w_v, b_v)


def _check_attn_mask(mask: Tensor | None, sizes: tuple[int, int], count: int) -> Tensor | None:
    """The mask with 3 dimensions."""
    if mask is None:
        return None
    wanted = sizes if mask.dim() == 2 else (count, *sizes)
    if tuple(mask.shape) != wanted:
        raise RuntimeError(f"The shape of the {mask.dim()}D attn_mask is {mask.shape}, but should be {wanted}.")
    return mask.unsqueeze(0) if mask.dim() == 2 else mask


def _check_static(static: Tensor, count: int, head_dim: int) -> Tensor:
    if static.size(0) != count or static.size(2) != head_dim:
        raise AssertionError(f"expecting static keys and values ({count}, *, {head_dim}), but got {static.shape}")
    return static


def _one_more_key(mask: Tensor | None) -> Tensor | None:
    """The mask for one more key, which takes part."""
    if mask is None:
        return None
    zeros = functions.zeros((*mask.shape[:-1], 1), dtype=mask.dtype, device=mask.device)
    return functions.cat([mask, zeros], -1)


def _merged_mask(attn_mask: Tensor | None, key_padding_mask: Tensor | None, batch: int, num_heads: int, keys: int):
    """The sum of both masks, (batch * heads, L, S), or (1, L, S) without padding."""
    if key_padding_mask is None:
        return attn_mask
    if tuple(key_padding_mask.shape) != (batch, keys):
        raise AssertionError(f"expecting key_padding_mask shape of {(batch, keys)}, but got {key_padding_mask.shape}")
    padding = key_padding_mask.view((batch, 1, 1, keys)).expand((-1, num_heads, -1, -1))
    padding = padding.reshape((batch * num_heads, 1, keys))
    return padding if attn_mask is None else attn_mask + padding


def _attention_with_weights(q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None, dropout_p: float) -> tuple:
    scaled, keys = q * math.sqrt(1.0 / q.size(-1)), k.transpose(-2, -1)
    weights = functions.bmm(scaled, keys) if mask is None else functions.baddbmm(mask, scaled, keys)
    weights = functions.softmax(weights, -1)
    weights = dropout(weights, dropout_p) if dropout_p > 0 else weights
    return functions.bmm(weights, v), weights


_MODULES = (__name__, functions.__name__)
__all__ = [name for name, value in globals().items() if name[0] != "_" and getattr(value, "__module__", "") in _MODULES]
