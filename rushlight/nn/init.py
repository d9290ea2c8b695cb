"""Initial values of parameters: random numbers, scaled so that a layer keeps the variance of its input.

Each function fills a tensor in place, without recording a graph, and returns it. In PyTorch: `torch/nn/init.py`.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import wraps

import numpy as np

from rushlight.aten.generated import functions
from rushlight.aten.native import creation
from rushlight.aten.native.random import Generator
from rushlight.aten.strided import Tensor
from rushlight.autograd.grad_mode import no_grad
from rushlight.c10.dtypes import bool_
from rushlight.c10.exception import warn

Rng = Generator | None  # None is the default generator

# Fans and gains ------------------------------------------------------------------------------------------------------


def calculate_fan_in_and_fan_out(tensor: Tensor) -> tuple[int, int]:
    """The fan-in and fan-out of a layer's weight: how many numbers each output is computed from, and how many outputs each
    input contributes to.

    The sizes of a weight are (out, in, \\*window): a matrix, or a convolution, in which each pair of an output and an input has
    a window of numbers. The fan-in is in, and the fan-out is out, each times the number of elements of a window.

    Returns:
        fan_in and fan_out, in a tuple or a list.

    Raises:
        ValueError: the tensor has fewer than two dimensions.

    >>> calculate_fan_in_and_fan_out(rl.empty(16, 3, 5, 5))
    (75, 400)

    Source: `torch/nn/init.py`, `_calculate_fan_in_and_fan_out`.
    """
    if tensor.dim() < 2:
        raise ValueError("Fan in and fan out can not be computed for tensor with fewer than 2 dimensions")
    window = math.prod(tensor.shape[2:])
    return tensor.size(1) * window, tensor.size(0) * window


_calculate_fan_in_and_fan_out = calculate_fan_in_and_fan_out  # its name in PyTorch


def calculate_gain(nonlinearity: str, param: float | None = None) -> float:
    """The factor of a weight's standard deviation that compensates for the nonlinearity after the layer, as in `GAINS`.

    For `leaky_relu` it is sqrt(2 / (1 + param ** 2)), where `param` is the negative slope, by default 0.01.

    Source: `torch/nn/init.py`, `calculate_gain`.
    """
    if nonlinearity == "leaky_relu":
        slope = 0.01 if param is None else param
        if isinstance(slope, bool) or not isinstance(slope, (int, float)):
            raise ValueError(f"negative_slope {param} not a valid number")
        return math.sqrt(2 / (1 + slope**2))
    if nonlinearity not in GAINS:
        raise ValueError(f"Unsupported nonlinearity {nonlinearity}")
    return GAINS[nonlinearity]


GAINS = {"linear": 1, "sigmoid": 1, "tanh": 5 / 3, "relu": math.sqrt(2), "selu": 3 / 4}
GAINS |= {f"conv{transpose}{dims}d": 1 for transpose in ("", "_transpose") for dims in (1, 2, 3)}


# Fills ---------------------------------------------------------------------------------------------------------------


def uniform_(tensor: Tensor, a: float = 0.0, b: float = 1.0, generator: Rng = None) -> Tensor:
    """Fill with random numbers between `a` and `b`."""
    with no_grad():
        return tensor.uniform_(a, b, generator=generator)


def normal_(tensor: Tensor, mean: float = 0.0, std: float = 1.0, generator: Rng = None) -> Tensor:
    """Fill with random numbers of a normal distribution."""
    with no_grad():
        return tensor.normal_(mean, std, generator=generator)


def trunc_normal_(
    tensor: Tensor, mean: float = 0.0, std: float = 1.0, a: float = -2.0, b: float = 2.0, generator: Rng = None
) -> Tensor:
    """Normal, but between `a` and `b`. If more than 0.3 of a normal distribution are between them, elements that are not are
    drawn again. Otherwise uniform numbers are drawn, and each is kept with a probability proportional to its density.
    Source: `torch/nn/init.py`, `_no_grad_trunc_normal_`."""
    if tensor.is_meta:
        return tensor
    if mean < a - 2 * std or mean > b + 2 * std:
        warn("mean is more than 2 std from [a, b] in nn.init.trunc_normal_.")
    lower, upper = (math.erf((bound - mean) / std / math.sqrt(2)) / 2 for bound in (a, b))
    with no_grad():
        if upper - lower > 0.3:
            low, high = tensor.new_tensor(a).item(), tensor.new_tensor(b).item()
            tensor.normal_(mean, std, generator=generator)
            while (outside := functions.logical_or(tensor < low, tensor > high)).any():
                again = functions.empty_like(tensor).normal_(mean, std, generator=generator)
                tensor.copy_(functions.where(outside, again, tensor))
            return tensor
        mode = max(a, min(mean, b))
        log_peak = -0.5 * ((mode - mean) / std) ** 2
        pending = functions.ones_like(tensor, dtype=bool_)
        candidates, chances = functions.empty_like(tensor), functions.empty_like(tensor)
        while pending.any():
            candidates.uniform_(a, b, generator=generator)
            tensor.copy_(functions.where(pending, candidates, tensor))
            candidates.sub_(mean).div_(std).pow_(2).mul_(-0.5).sub_(log_peak)
            pending = functions.logical_and(pending, chances.uniform_(generator=generator).log_().gt(candidates))
        return tensor


def constant_(tensor: Tensor, val: float) -> Tensor:
    """Fill with one value."""
    with no_grad():
        return tensor.fill_(val)


def ones_(tensor: Tensor) -> Tensor:
    """Fill with ones."""
    return constant_(tensor, 1.0)


def zeros_(tensor: Tensor) -> Tensor:
    """Fill with zeros."""
    return constant_(tensor, 0.0)


def eye_(tensor: Tensor) -> Tensor:
    """The identity matrix; of a matrix that is not square, the main diagonal is 1."""
    if tensor.dim() != 2:
        raise ValueError("Only tensors with 2 dimensions are supported")
    with no_grad():
        tensor.zero_().diagonal().fill_(1)
    return tensor


def xavier_uniform_(tensor: Tensor, gain: float = 1.0, generator: Rng = None) -> Tensor:
    """Uniform from -a to a, which has the standard deviation a / sqrt(3) = gain * sqrt(2 / (fan_in + fan_out)).
    Source: `torch/nn/init.py`, `xavier_uniform_`."""
    fan_in, fan_out = calculate_fan_in_and_fan_out(tensor)
    bound = math.sqrt(3) * (gain * math.sqrt(2 / (fan_in + fan_out)))
    return uniform_(tensor, -bound, bound, generator)


def xavier_normal_(tensor: Tensor, gain: float = 1.0, generator: Rng = None) -> Tensor:
    """Fill with normal numbers, whose variance is `gain ** 2 * 2 / (fan_in + fan_out)`."""
    fan_in, fan_out = calculate_fan_in_and_fan_out(tensor)
    return normal_(tensor, 0.0, gain * math.sqrt(2 / (fan_in + fan_out)), generator)


def kaiming_uniform_(
    tensor: Tensor, a: float = 0, mode: str = "fan_in", nonlinearity: str = "leaky_relu", generator: Rng = None
) -> Tensor:
    """Uniform from -b to b, which has the standard deviation b / sqrt(3) = gain / sqrt(fan).

    The gain is `calculate_gain(nonlinearity, a)`. `mode` chooses the fan, `fan_in` or `fan_out`. A tensor without elements is
    returned unchanged, with a warning.

    Source: `torch/nn/init.py`, `kaiming_uniform_`.
    """
    std = _kaiming_std(tensor, a, mode, nonlinearity)
    return tensor if std is None else uniform_(tensor, -math.sqrt(3) * std, math.sqrt(3) * std, generator)


def kaiming_normal_(
    tensor: Tensor, a: float = 0, mode: str = "fan_in", nonlinearity: str = "leaky_relu", generator: Rng = None
) -> Tensor:
    """Fill with normal numbers, whose standard deviation is the gain of the nonlinearity, divided by the root of the fan."""
    std = _kaiming_std(tensor, a, mode, nonlinearity)
    return tensor if std is None else normal_(tensor, 0.0, std, generator)


def _kaiming_std(tensor: Tensor, a: float, mode: str, nonlinearity: str) -> float | None:
    if 0 in tensor.shape:
        warn("Initializing zero-element tensors is a no-op")
        return None
    if mode.lower() not in ("fan_in", "fan_out"):
        raise ValueError(f"Mode {mode} not supported, please use one of ['fan_in', 'fan_out']")
    fan = calculate_fan_in_and_fan_out(tensor)[mode.lower() == "fan_out"]
    return calculate_gain(nonlinearity, a) / math.sqrt(fan)


def dirac_(tensor: Tensor, groups: int = 1) -> Tensor:
    """The weight of a convolution that copies as many input channels as it can, in each group. Source: `torch/nn/init.py`."""
    if tensor.dim() not in (3, 4, 5):
        raise ValueError("Only tensors with 3, 4, or 5 dimensions are supported")
    if tensor.size(0) % groups:
        raise ValueError("dim 0 must be divisible by groups")
    middle, size = tuple(length // 2 for length in tensor.shape[2:]), tensor.size(0) // groups
    with no_grad():
        tensor.zero_()
        for channel in range(min(size, tensor.size(1))):
            tensor[(slice(channel, None, size), channel, *middle)] = 1
    return tensor


def orthogonal_(tensor: Tensor, gain: float = 1, generator: Rng = None) -> Tensor:
    """A matrix with orthogonal rows, or columns if it has more rows than columns: the Q of a random matrix, with the signs of the
    diagonal of R. All dimensions but the first are the columns. Source: `torch/nn/init.py`, `orthogonal_`."""
    if tensor.dim() < 2:
        raise ValueError("Only tensors with 2 or more dimensions are supported")
    if tensor.numel() == 0 or tensor.is_meta:
        return tensor
    rows, columns = tensor.size(0), tensor.numel() // tensor.size(0)
    drawn = functions.empty((rows, columns), dtype=tensor.dtype).normal_(generator=generator).numpy()
    q, r = np.linalg.qr(drawn.T if rows < columns else drawn)
    q = q * np.sign(np.diag(r))
    with no_grad():
        return tensor.copy_(creation.from_numpy(q.T if rows < columns else q).reshape(tensor.shape)).mul_(gain)


def sparse_(tensor: Tensor, sparsity: float, std: float = 0.01, generator: Rng = None) -> Tensor:
    """Normal numbers. In each column, the fraction `sparsity` of the elements is 0. Source: `torch/nn/init.py`, `sparse_`."""
    if tensor.dim() != 2:
        raise ValueError("Only tensors with 2 dimensions are supported")
    zeros = math.ceil(sparsity * tensor.size(0))
    with no_grad():
        tensor.normal_(0, std, generator=generator)
        for column in range(tensor.size(1)):
            tensor[functions.randperm(tensor.size(0))[:zeros], column] = 0
    return tensor


def _deprecated(function: Callable) -> Callable:
    old_name = function.__name__[:-1]

    @wraps(function)
    def run(*args, **kwargs):
        message = f"`nn.init.{old_name}` is now deprecated in favor of `nn.init.{function.__name__}`."
        warn(message, FutureWarning)
        return function(*args, **kwargs)

    run.__name__ = old_name
    return run


uniform, normal, constant, eye = map(_deprecated, (uniform_, normal_, constant_, eye_))
"""The function with a `_` at the end, by its deprecated name, which warns. Source: `torch/nn/init.py`,
`_make_deprecate`."""
xavier_uniform, xavier_normal = map(_deprecated, (xavier_uniform_, xavier_normal_))
"""The function with a `_` at the end, by its deprecated name, which warns. Source: `torch/nn/init.py`,
`_make_deprecate`."""
kaiming_uniform, kaiming_normal = map(_deprecated, (kaiming_uniform_, kaiming_normal_))
"""The function with a `_` at the end, by its deprecated name, which warns. Source: `torch/nn/init.py`,
`_make_deprecate`."""
dirac, orthogonal, sparse = map(_deprecated, (dirac_, orthogonal_, sparse_))
"""The function with a `_` at the end, by its deprecated name, which warns. Source: `torch/nn/init.py`,
`_make_deprecate`."""
