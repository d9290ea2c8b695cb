"""The int8 linear layers as operators, `rl.ops.rushlight_quantized.linear` and `linear_dynamic`.

The dispatcher, the compiler and a file know an operator by its name and its schema, and never look into its kernels. So each of
them must be told what it needs: a kernel for `CPU` computes, the same kernel gives the sizes and the dtype of the result for `Meta`
without data, and a kernel for `Autograd` refuses the backward pass, because the result is rounded. All arguments are plain: integer
tensors with scale and zero point beside them. In PyTorch, `onednn::qlinear_pointwise` has the same arguments
(`aten/src/ATen/native/quantized/library.cpp`, `cpu/qlinear.cpp`; `torch/_meta_registrations.py`). It has no kernel for `Autograd`.
"""

import math
from collections.abc import Callable
from functools import partial
from typing import Any
from weakref import WeakKeyDictionary, ref

from rushlight.ao.nn.quantized import int8_kernel
from rushlight.ao.quantization.affine import choose_qparams
from rushlight.aten.generated import functions
from rushlight.aten.strided import Tensor
from rushlight.autograd.history import NotImplementedNode, autograd_not_implemented
from rushlight.c10.dispatch import DispatchKey, Kernel
from rushlight.c10.dtypes import dtype, float32, int8, int32, uint8
from rushlight.c10.storage import UntypedStorage
from rushlight.library import Library, ops

POST_OPS = ("none", "relu")
WEIGHT = "Tensor weight, Tensor weight_scale, Tensor weight_zero_point, Tensor? bias"
library = Library("rushlight_quantized", "DEF")


def result_sizes(
    x: Tensor, kind: dtype, weight: Tensor, scale: Tensor, zero_point: Tensor, bias: Tensor | None, post_op_name: str
) -> tuple[int, ...]:
    """The sizes of a layer's result, (\\*, out). Raises RuntimeError for arguments that do not fit: the C++ code trusts them."""
    names = ("x", "weight", "weight_scale", "weight_zero_point", "bias")
    for name, tensor, wanted in zip(names, (x, weight, scale, zero_point, bias), (kind, int8, float32, int32, float32)):
        if tensor is not None and tensor.dtype is not wanted:
            raise RuntimeError(f"{name} must be {wanted}, and is {tensor.dtype}")
    if weight.dim() != 2 or not x.dim() or x.shape[-1] != weight.shape[1]:
        raise RuntimeError(f"x, {tuple(x.shape)}, and weight, {tuple(weight.shape)}, must be (*, in) and (out, in)")
    for name, tensor in zip(names[2:], (scale, zero_point, bias)):
        if tensor is not None and tuple(tensor.shape) != (weight.shape[0],):
            raise RuntimeError(f"{name} must be (out,), {(weight.shape[0],)}, and is {tuple(tensor.shape)}")
    if post_op_name not in POST_OPS:
        raise RuntimeError(f"post_op_name must be one of {POST_OPS}, and is {post_op_name!r}")
    return (*x.shape[:-1], weight.shape[0])


def as_rows(x: Tensor) -> Tensor:
    """All dimensions but the last as one."""
    return x if x.dim() == 2 else x.reshape(math.prod(x.shape[:-1]), x.shape[-1])


_packed: WeakKeyDictionary[UntypedStorage, tuple[tuple, int8_kernel.PackedWeight]] = WeakKeyDictionary()


def packed(weight: Tensor, zero_points: Tensor) -> int8_kernel.PackedWeight:
    """A weight as the kernel reads it. It is packed again only if a tensor is another one or was written to. (A write through
    numpy does not count.)"""
    if int8_kernel.library() is None:
        return int8_kernel.PackedWeight(weight, zero_points)
    key = (weight.shape, ref(zero_points._storage))
    key += tuple((x._storage.version, x.storage_offset(), x.stride()) for x in (weight, zero_points))
    known, result = _packed.get(weight._storage, (None, None))
    if known != key:
        result = int8_kernel.PackedWeight(weight, zero_points)
        _packed[weight._storage] = key, result
    return result


# Integers to integers ------------------------------------------------------------------------------------------------


def _check_integers(scale: float, zero_point: int, quant_min: int, quant_max: int, x_zero_point: int) -> None:
    if not 0 <= quant_min <= zero_point <= quant_max <= 255 or not 0 <= x_zero_point <= 255:
        raise RuntimeError("zero points and quant_min <= quant_max must be 0 to 255")
    if not scale > 0:
        raise RuntimeError("scale must be positive")


def linear(
    x, x_scale, x_zero_point, weight, weight_scale, weight_zero_point, bias, scale, zero_point, quant_min, quant_max,
    post_op_name,
):  # fmt: skip
    """uint8, (\\*, in), to uint8, (\\*, out)."""
    sizes = result_sizes(x, uint8, weight, weight_scale, weight_zero_point, bias, post_op_name)
    _check_integers(scale, zero_point, quant_min, quant_max, x_zero_point)
    if 0 in sizes or x.is_meta or weight.is_meta:
        return functions.empty(sizes, dtype=uint8, device="meta" if weight.is_meta else x.device)
    rows, bias = as_rows(x), None if bias is None else bias.detach()
    qparams = (x_scale, x_zero_point), weight_scale, (scale, zero_point)
    result = int8_kernel.linear(rows, packed(weight, weight_zero_point), bias, *qparams, post_op_name == "relu")
    if (quant_min, quant_max) != (0, 255):  # a range of 7 bits
        result = functions.clamp(result, quant_min, quant_max)
    return result if len(sizes) == 2 else result.reshape(sizes)


# Floating point to floating point ------------------------------------------------------------------------------------


def linear_dynamic(x, weight, weight_scale, weight_zero_point, bias, post_op_name):
    """float32, (\\*, in), to float32, (\\*, out). The range of x gives its scale, with 7 bits as in PyTorch,
    and the result is not quantised."""
    sizes = result_sizes(x, float32, weight, weight_scale, weight_zero_point, bias, post_op_name)
    if x.is_meta or weight.is_meta:
        return functions.empty(sizes, dtype=float32, device="meta")
    rows = as_rows(x.detach())
    if not rows.numel():  # no range, and each sum is 0
        result = functions.zeros(sizes)
    else:
        scale, zero_point = (qparam.item() for qparam in choose_qparams(rows, 0, 127, 2.0**-23, uint8))
        integers = functions.clamp(functions.round(rows / scale) + zero_point, 0, 127).to(uint8)
        sums = int8_kernel.sums(integers, packed(weight, weight_zero_point), zero_point)
        result = sums.to(float32) * (weight_scale * scale)
    result = result if bias is None else result + bias.detach()
    return (functions.relu(result) if post_op_name == "relu" else result).reshape(sizes)


# Registering ---------------------------------------------------------------------------------------------------------


class NoFormula(NotImplementedNode):
    """The node of a quantized operator: its backward pass raises a `RuntimeError`.
    Source: `torch/_library/autograd.py`, `make_autograd_impl`, which makes such a node for each custom operator."""

    def name(self) -> str:
        return f"GeneratedBackwardFor_{self.operator.full_name.replace('::', '_')}_defaultBackward"

    def apply(self, *grads: Tensor | None) -> Any:
        problem = f"Trying to backward through {self.operator} but no autograd formula was registered"
        raise RuntimeError(f"{problem}. Please use Library.impl with the key Autograd to add one.")


def _operator(schema: str, kernel: Callable) -> Any:
    """Define an operator. Its kernels are unboxed, as those of the framework's own operators: `Library.impl` would do, but takes
    longer than the product of a small batch."""
    overload = getattr(ops.rushlight_quantized, library.define(schema)).default
    for key in (DispatchKey.CPU, DispatchKey.Meta):
        overload.register(key, Kernel(kernel))
    refuse = partial(autograd_not_implemented, overload, node_class=NoFormula)
    overload.register(DispatchKey.Autograd, Kernel(refuse, with_key_set=True))
    return overload


NUMBERS = "float scale, int zero_point, int quant_min, int quant_max"
linear_op = _operator(
    f"linear(Tensor x, float x_scale, int x_zero_point, {WEIGHT}, {NUMBERS}, str post_op_name) -> Tensor", linear
)
"""The operator that converted `Linear` modules call: `linear` on quantized values, by its schema."""
linear_dynamic_op = _operator(f"linear_dynamic(Tensor x, {WEIGHT}, str post_op_name) -> Tensor", linear_dynamic)
"""The operator that dynamically quantized `Linear` modules call: `linear_dynamic`, by its schema."""
