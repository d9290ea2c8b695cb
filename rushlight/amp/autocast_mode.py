"""Autocast: mixed precision by kernels that cast their arguments and call the operator again.

Within `with rl.autocast("cpu"):` the key `AutocastCPU`, which every CPU tensor has, is no longer excluded. For most
operators the kernel of this key falls through. The operators on the lists below have a kernel that excludes the key, casts the
arguments and calls the operator again. Matrix products run in the lower precision, operators that lose accuracy in it run in
float32, and operators that join several tensors run in the widest type among them.

In PyTorch: `aten/src/ATen/autocast_mode.cpp`, `torch/amp/autocast_mode.py`. Left out: other devices; the cache of cast weights
(leaves that require gradients).
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from contextlib import ContextDecorator
from functools import partial
from typing import Any

from rushlight.aten.generated import functions  # noqa: F401  (declares the operators)
from rushlight.c10.dispatch import BIT, DispatchKey, Kernel, Operator, excluding, local, operators, tensors_in
from rushlight.c10.dtypes import REDUCED_FLOATING, bfloat16, dtype, float32
from rushlight.c10.exception import warn
from rushlight.library import invoke

__all__ = ["autocast", "is_autocast_enabled", "get_autocast_dtype"]

POLICIES = {  # by policy, the operators on PyTorch's list for the CPU that rushlight has
    "lower_precision_fp": (
        *("addbmm", "addmm", "baddbmm", "bmm", "conv1d", "conv1d.padding", "conv2d", "conv2d.padding"),
        *("conv3d", "conv3d.padding", "conv_transpose1d", "conv_transpose2d.input", "conv_transpose3d.input"),
        *("linear", "matmul", "mm", "prelu", "scaled_dot_product_attention"),
    ),
    "fp32": (
        *("prod", "prod.dim_int", "binary_cross_entropy_with_logits", "cross_entropy_loss", "huber_loss", "l1_loss"),
        *("mse_loss", "nll_loss", "nll_loss2d", "smooth_l1_loss", "binary_cross_entropy", "kl_div"),
        *("reflection_pad1d", "reflection_pad2d", "replication_pad1d", "replication_pad2d", "replication_pad3d"),
        *("nanquantile", "nanquantile.scalar", "quantile", "quantile.scalar"),
        *("cdist", "cosine_embedding_loss", "hinge_embedding_loss", "margin_ranking_loss", "multi_margin_loss"),
        *("poisson_nll_loss", "soft_margin_loss", "triplet_margin_loss"),
        *("multilabel_margin_loss", "multilabel_margin_loss_forward", "ctc_loss.IntList", "ctc_loss.Tensor"),
        *("linalg_cholesky", "linalg_cholesky_ex", "linalg_solve"),
        *("inverse", "linalg_inv", "linalg_inv_ex", "linalg_svdvals", "trace", "fake_quantize_per_tensor_affine"),
    ),
    "promote": ("cat", "index_copy", "stack"),
}


class _State(threading.local):
    dtype: dtype = bfloat16  # the lower precision


_state = _State()


# The kernels ---------------------------------------------------------------------------------------------------------


def is_eligible(value: Any) -> bool:
    """Whether autocast casts a value: a floating tensor on the CPU that is not float64. float64 keeps its accuracy.
    Source: `aten/src/ATen/autocast_mode.h`, `is_eligible`."""
    return hasattr(value, "_key_set") and value.device.type == "cpu" and value.dtype in (*REDUCED_FLOATING, float32)


def cached_cast(dtype: dtype, value: Any) -> Any:
    """The argument that an autocast kernel passes on: an eligible tensor (`is_eligible`) of another dtype is cast to this dtype
    (`Tensor.to`).

    An eligible tensor that has this dtype already is passed on without a call of `to`. For a list or tuple, each item is cast
    in the same way, also in lists within lists, and the result is a tuple or a new list. Anything else (tensors that are not
    eligible, numbers, None) stays as it is. Nothing is cached: each call casts the values that the tensor has now.

        >>> [x.dtype for x in cached_cast(rl.float16, [rl.ones(2), rl.ones(2, dtype=rl.float64)])]
        [rushlight.float16, rushlight.float64]

    Source: `aten/src/ATen/autocast_mode.cpp`, `cached_cast`.
    """
    if isinstance(value, (list, tuple)):
        return [cached_cast(dtype, item) for item in value]
    return value.to(dtype) if is_eligible(value) and value.dtype != dtype else value


def promote_type(stack: Sequence) -> dtype:
    """The dtype in which autocast runs an operator of its list `promote`, such as `cat`.

    It is float32 if one of the call's eligible tensors, including those in lists, is float32. Otherwise it is the lower precision,
    `get_autocast_dtype("cpu")`, also if there are no eligible tensors. `stack` is a list or a tuple of the call's arguments. Its
    eligible tensors have one of these two dtypes: for float16 in an autocast to bfloat16, or the other way round, PyTorch raises
    RuntimeError.

        >>> with rl.autocast("cpu", dtype=rl.float16):
        ...     promote_type([rl.ones(2), 2.5]), promote_type([rl.ones(2, dtype=rl.float16), 2.5])
        (rushlight.float32, rushlight.float16)

    Source: `aten/src/ATen/autocast_mode.h`, `promote_type` and `prioritize`.
    """
    wide = any(tensor.dtype is float32 and is_eligible(tensor) for tensor in tensors_in(stack))
    return float32 if wide else get_autocast_dtype("cpu")


def autocast_kernel(operator: Operator, policy: str, *stack: Any) -> Any:
    """The kernel for `AutocastCPU` of an operator on one of the lists: cast the arguments and call the operator again.

    All of this, including the casts, runs with the key `AutocastCPU` excluded (`excluding`). Afterwards, also after an error,
    the keys are as before. `cached_cast` casts each argument, `invoke` calls the operator.

        >>> with rl.autocast("cpu", dtype=rl.float16):
        ...     autocast_kernel(operators["aten::mm"], "lower_precision_fp", rl.ones(2, 2), rl.ones(2, 2)).dtype
        rushlight.float16

    Args:
        operator: the operator that was called.
        policy: decides the dtype of the casts. `lower_precision_fp`: `get_autocast_dtype("cpu")`; `fp32`: float32;
            `promote`: `promote_type` of all arguments.
        stack: the arguments.

    Returns:
        the result of the operator.

    Source: `aten/src/ATen/autocast_mode.h`, `WrapFunction_`.
    """
    with excluding(BIT["AutocastCPU"]):
        match policy:
            case "lower_precision_fp":
                wanted = get_autocast_dtype("cpu")
            case "fp32":
                wanted = float32
            case "promote":
                wanted = promote_type(stack)
        return invoke(operator, *[cached_cast(wanted, value) for value in stack])


for _policy, _names in POLICIES.items():
    for _name in _names:
        _operator = operators[f"aten::{_name}"]
        _kernel = Kernel(partial(autocast_kernel, _operator, _policy), "rushlight/amp/autocast_mode.py")
        _operator.register(DispatchKey.AutocastCPU, _kernel)


# Turning it on -------------------------------------------------------------------------------------------------------


def is_autocast_enabled(device_type: str = "cuda") -> bool:
    """Whether this thread casts for a device. Source: `torch/csrc/autograd/init.cpp`, `is_autocast_enabled`."""
    return not local.excluded & _bit(device_type)


def get_autocast_dtype(device_type: str) -> dtype:
    """The dtype to which autocast casts, by default bfloat16. Source: `torch/csrc/autograd/init.cpp`, `get_autocast_dtype`."""
    _bit(device_type)
    return _state.dtype


def _bit(device_type: str) -> int:
    if not isinstance(device_type, str):
        raise ValueError(f"Expected `device_type` of type `str`, got: `{type(device_type)}`")
    if f"Autocast{device_type.upper()}" not in BIT:
        raise RuntimeError(f"User specified an unsupported autocast device_type '{device_type}'")
    return BIT[f"Autocast{device_type.upper()}"]


class autocast(ContextDecorator):
    """A context manager and a decorator. While active, the operators on the lists compute in the lower precision, or in float32.

    Args:
        device_type: "cpu". "cuda" warns, and nothing is cast.
        dtype: the lower precision, bfloat16 or float16; by default that of the enclosing autocast, or bfloat16. Another dtype
            warns, and nothing is cast.
        enabled: False turns off an enclosing autocast.
        cache_enabled: accepted, without effect here.

    Source: `torch/amp/autocast_mode.py`, `autocast`.
    """

    def __init__(
        self, device_type: str, dtype: dtype | None = None, enabled: bool = True, cache_enabled: bool | None = None
    ) -> None:
        self._bit = _bit(device_type)
        self.fast_dtype = get_autocast_dtype(device_type) if dtype is None or device_type != "cpu" else dtype
        if enabled and device_type == "cuda":
            warn("CUDA is not available or torch_xla is imported. Disabling autocast.")
            enabled = False
        if enabled and self.fast_dtype not in REDUCED_FLOATING:
            supported = " and ".join(map(str, REDUCED_FLOATING))
            refusal = f"the target dtype {self.fast_dtype} is not supported, only {supported} are. Disabling autocast."
            warn(f"In CPU autocast, but {refusal}")
            enabled = False
        self._enabled = enabled

    def __enter__(self) -> autocast:
        self._before = local.excluded & self._bit, _state.dtype
        local.excluded = local.excluded & ~self._bit if self._enabled else local.excluded | self._bit
        _state.dtype = self.fast_dtype
        return self

    def __exit__(self, *_: object) -> None:
        excluded, _state.dtype = self._before
        local.excluded = local.excluded & ~self._bit | excluded

    def __call__(self, func: Callable) -> Callable:
        if not callable(func):
            raise TypeError(f"autocast()(func) requires a callable, but got {type(func).__name__}")
        return super().__call__(func)
