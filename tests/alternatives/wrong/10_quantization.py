"""Wrong answers to lab 10 that a student might well give and that no mutant of the reference is: each fails on an edge.

A function's name is its exercise's, two underscores, and what is wrong.
"""

import re
import sys

import numpy as np
from answers import edited

import rushlight as rl
from rushlight.ao.nn.quantized.functional import integer_product, zero_point_corrections
from rushlight.ao.quantization import affine
from rushlight.ao.quantization.affine import _check_bounds, as_float32
from rushlight.ao.quantization.fx import convert
from rushlight.ao.quantization.fx.match_utils import is_match, matched_nodes, pattern_length
from rushlight.ao.quantization.fx.prepare import is_observer
from rushlight.aten.generated import functions as F
from rushlight.export import serialize, verifier
from rushlight.export.graph_signature import InputKind, OutputKind
from rushlight.export.serialize import deserialize_argument, encode_float, is_sym_int, serialize_object
from rushlight.export.verifier import KINDS, SpecViolationError, names_in
from rushlight.fx.node import Node

# Numbers


determine_qparams__of_the_range_without_zero = edited(
    affine.determine_qparams,
    ("functions.clamp(min_val, max=0).reshape", "min_val.reshape"),
    ("functions.clamp(max_val, min=0).reshape", "max_val.reshape"),
)
determine_qparams__symmetric_over_quant_max = edited(
    affine.determine_qparams,
    ("(middle if dtype is uint8 else 0)", "middle"),
    ("        scale = functions.maximum(functions.maximum(-low, high) / ((quant_max - quant_min) / 2), eps)\n", ""),
    ("else 128\n",
     "else 128\n        middle = middle if dtype is uint8 else 0\n"
     "        scale = functions.maximum(functions.maximum(-low, high) / (quant_max - middle), eps)\n"),
)  # fmt: skip
determine_qparams__rounds_after_the_subtraction = edited(
    affine.determine_qparams,
    ("quant_min - functions.round(low / scale).to(int64)", "functions.round(quant_min - low / scale).to(int64)"),
)
determine_qparams__multiplies_by_the_reciprocal_of_the_scale = edited(
    affine.determine_qparams,
    ("quant_min - functions.round(low / scale)", "quant_min + functions.round(-low * (1 / scale))"),
)
determine_qparams__rounds_half_up = edited(
    affine.determine_qparams,
    ("quant_min - functions.round(low / scale)", "quant_min + functions.floor(-low / scale + 0.5)"),
)
determine_qparams__multiplies_by_the_reciprocal_of_n = edited(
    affine.determine_qparams,
    ("/ ((quant_max - quant_min) / 2)", "* (2 / (quant_max - quant_min))"),
    ("(high - low) / (quant_max - quant_min)", "(high - low) * (1 / (quant_max - quant_min))"),
)
determine_qparams__gives_int32_a_middle = edited(
    affine.determine_qparams, ("middle if dtype is uint8 else 0", "0 if dtype is int8 else middle")
)
determine_qparams__does_not_limit_the_zero_point = edited(
    affine.determine_qparams, ("functions.clamp(zero_point, quant_min, quant_max)", "zero_point")
)
determine_qparams__changes_the_observed_range = edited(
    affine.determine_qparams,
    ("functions.clamp(min_val, max=0)", "min_val.clamp_(max=0)"),
    ("functions.clamp(max_val, min=0)", "max_val.clamp_(min=0)"),
)


def quantize_per_tensor__divides(input, scale, zero_point, quant_min, quant_max, dtype):
    input = as_float32(input)
    _check_bounds(quant_min, quant_max, dtype)
    return F.clamp(F.round(input / scale) + zero_point, quant_min, quant_max).to(dtype)


def quantize_per_tensor__adds_the_zero_point_before_rounding(input, scale, zero_point, quant_min, quant_max, dtype):
    input = as_float32(input)
    _check_bounds(quant_min, quant_max, dtype)
    return F.clamp(F.round(input * (1.0 / scale) + zero_point), quant_min, quant_max).to(dtype)


def quantize_per_tensor__takes_the_reciprocal_in_float32(input, scale, zero_point, quant_min, quant_max, dtype):
    input = as_float32(input)
    _check_bounds(quant_min, quant_max, dtype)
    inverse = float(np.float32(1) / np.float32(scale))
    return F.clamp(F.round(input * inverse) + zero_point, quant_min, quant_max).to(dtype)


def quantize_per_tensor__wraps_around(input, scale, zero_point, quant_min, quant_max, dtype):
    input = as_float32(input)
    _check_bounds(quant_min, quant_max, dtype)
    return F.clamp((F.round(input * (1.0 / scale)) + zero_point).to(dtype), quant_min, quant_max)


def quantize_per_tensor__in_one_dimension(input, scale, zero_point, quant_min, quant_max, dtype):
    input = as_float32(input).reshape(-1)
    _check_bounds(quant_min, quant_max, dtype)
    return F.clamp(F.round(input * (1.0 / scale)) + zero_point, quant_min, quant_max).to(dtype)


quantize_per_channel__divides = edited(
    affine.quantize_per_channel, ("input * (1.0 / scales.reshape(sizes))", "input / scales.reshape(sizes)")
)
quantize_per_channel__adds_integers = edited(
    affine.quantize_per_channel, ("(1.0 / scales.reshape(sizes)))", "(1.0 / scales.reshape(sizes))).to(int64)")
)
quantize_per_channel__of_small_zero_points = edited(
    affine.quantize_per_channel, ("zero_points.reshape", "zero_points.to(dtype).reshape")
)


def quantize_per_channel__of_three_dimensions_at_most(input, scales, zero_points, axis, quant_min, quant_max, dtype):
    input = as_float32(input)
    if axis >= input.dim():
        raise AssertionError(axis)
    _check_bounds(quant_min, quant_max, dtype)
    sizes = (-1, 1, 1)[: input.dim() - axis % input.dim()]
    rounded = F.round(input * (1.0 / scales.reshape(sizes)))
    return F.clamp(rounded + zero_points.reshape(sizes), quant_min, quant_max).to(dtype)


def quantize_per_channel__of_the_last_dimension(input, scales, zero_points, axis, quant_min, quant_max, dtype):
    input = as_float32(input)
    if axis >= input.dim():
        raise AssertionError(axis)
    _check_bounds(quant_min, quant_max, dtype)
    return F.clamp(F.round(input * (1.0 / scales)) + zero_points, quant_min, quant_max).to(dtype)


def pack_int4__the_first_value_in_the_upper_half(values):
    flat = values.reshape(-1).tolist()
    flat += [0] * (len(flat) % 2)
    return rl.tensor([16 * a + b for a, b in zip(flat[::2], flat[1::2])], dtype=rl.uint8)


def pack_int4__row_by_row(values):
    rows = (
        values.reshape(-1, values.shape[-1]).tolist()
        if values.dim() and values.numel()
        else [values.reshape(-1).tolist()]
    )
    found = [
        sum(each << 4 * i for i, each in enumerate(row[at : at + 2])) for row in rows for at in range(0, len(row), 2)
    ]
    return rl.tensor(found, dtype=rl.uint8)


# Small floats


def bfloat16_bits__cuts(bits):
    return 0x7FC0 if bits & 0x7FFFFFFF > 0x7F800000 else bits >> 16


def bfloat16_bits__rounds_half_up(bits):
    return 0x7FC0 if bits & 0x7FFFFFFF > 0x7F800000 else bits + 0x8000 >> 16


def bfloat16_bits__forgets_nan(bits):
    return (bits + 0x7FFF + (bits >> 16 & 1) >> 16) & 0xFFFF


def float8_bits__has_no_denormal_numbers(bits, format):
    sign, magnitude = bits >> 31 << 7, bits & 0x7FFFFFFF
    if magnitude > 0x7F800000:
        return sign | 0x7F
    shift = 23 - format.mantissa_bits
    whole = magnitude - (127 - format.bias << 23)
    if whole < 1 << 23:
        return sign
    return sign | min(whole + (1 << shift - 1) - 1 + (whole >> shift & 1) >> shift, format.overflow)


def float8_bits__rounds_twice(bits, format):
    return rl.small_floats.float8_bits(rl.small_floats.bfloat16_bits(bits) << 16, format) if bits else 0


# Observers


def moving_average_per_channel__begins_with_zeros(self, x_orig):
    if x_orig.numel() == 0:
        return x_orig
    low, high = rl.ao.quantization.observer.channel_min_max(x_orig.detach().to(self.min_val.dtype), self.ch_axis)
    old = (self.min_val, self.max_val) if self.min_val.numel() else (rl.zeros(low.shape), rl.zeros(low.shape))
    low, high = (a + self.averaging_constant * (b - a) for a, b in zip(old, (low, high)))
    rl.ao.quantization.observer.store_range(self, low, high)
    return x_orig


def moving_average_per_channel__keeps_the_extremes(self, x_orig):
    if x_orig.numel() == 0:
        return x_orig
    low, high = rl.ao.quantization.observer.channel_min_max(x_orig.detach().to(self.min_val.dtype), self.ch_axis)
    if self.min_val.numel() and self.max_val.numel():
        low, high = F.minimum(low, self.min_val), F.maximum(high, self.max_val)
    rl.ao.quantization.observer.store_range(self, low, high)
    return x_orig


def moving_average_per_channel__as_a_weighted_sum(self, x_orig):
    if x_orig.numel() == 0:
        return x_orig
    low, high = rl.ao.quantization.observer.channel_min_max(x_orig.detach().to(self.min_val.dtype), self.ch_axis)
    if self.min_val.numel() and self.max_val.numel():
        low = (1 - self.averaging_constant) * self.min_val + self.averaging_constant * low
        high = (1 - self.averaging_constant) * self.max_val + self.averaging_constant * high
    rl.ao.quantization.observer.store_range(self, low, high)
    return x_orig


moving_average_per_channel__with_new_buffers = edited(
    rl.ao.quantization.observer.moving_average_per_channel,
    ("    store_range(self, low, high)", "    self.min_val, self.max_val = low, high"),
)


def quantization_error__changes_the_histogram(histogram, width, start_bin, end_bin, dst_nbins):
    step = width * (end_bin - start_bin + 1) / dst_nbins
    if step == 0:
        return 0.0
    left = (F.arange(histogram.numel()) - start_bin) * width
    right = left + width
    first = F.clamp(F.div(left, step, rounding_mode="floor"), 0, dst_nbins - 1)
    last = F.clamp(F.div(right, step, rounding_mode="floor"), 0, dst_nbins - 1)
    total = (step / 2) ** 3 - (left - (first + 0.5) * step) ** 3 + (last - first - 1) * (2 * (step / 2) ** 3)
    total = total + (right - (last + 0.5) * step) ** 3 + (step / 2) ** 3
    return F.sum(histogram.div_(width) * total / 3).item()


def quantization_error__ignores_values_outside(histogram, width, start_bin, end_bin, dst_nbins):
    inside = histogram[start_bin : end_bin + 1]
    step = width * (end_bin - start_bin + 1) / dst_nbins
    if step == 0:
        return 0.0
    left = F.arange(inside.numel()) * width
    right = left + width
    first = F.clamp(F.div(left, step, rounding_mode="floor"), 0, dst_nbins - 1)
    last = F.clamp(F.div(right, step, rounding_mode="floor"), 0, dst_nbins - 1)
    total = (step / 2) ** 3 - (left - (first + 0.5) * step) ** 3 + (last - first - 1) * (2 * (step / 2) ** 3)
    total = total + (right - (last + 0.5) * step) ** 3 + (step / 2) ** 3
    return F.sum(inside / width * total / 3).item()


def quantization_error__of_the_middles_of_bins(histogram, width, start_bin, end_bin, dst_nbins):
    step = width * (end_bin - start_bin + 1) / dst_nbins
    if step == 0:
        return 0.0
    middle = (np.arange(histogram.numel()) - start_bin + 0.5) * width
    at = np.clip(np.floor(middle / step), 0, dst_nbins - 1)
    return float((histogram.numpy() * (middle - (at + 0.5) * step) ** 2).sum())


def non_linear_search__moves_both_ends(histogram, error):
    total, sums = sum(histogram), np.cumsum(histogram).astype(np.float32)
    alpha, beta, start, end, smallest = 0.0, 1.0, 0, len(histogram) - 1, float("inf")
    while alpha < beta:
        alpha, beta = alpha + 1e-5, beta - 1e-5
        left, right = start, end
        while left < end and sums[left] < np.float32(alpha * total):
            left += 1
        while right > start and sums[right] > np.float32(beta * total):
            right -= 1
        if (left, right) == (start, end) or left > right:
            continue
        found = error(left, right)
        if found > smallest:
            break
        smallest, start, end = found, left, right
    return start, end


_SEARCH = rl.ao.quantization.observer.non_linear_search
_ONE_END = "    next_start, alpha = left, next_alpha\n"
non_linear_search__rounds_one_side = edited(_SEARCH, (".astype(np.float32)", ""))
non_linear_search__rounds_the_fractions = edited(
    _SEARCH,
    (
        "next_alpha, next_beta = alpha + 1e-5, beta - 1e-5",
        "next_alpha, next_beta = (float(np.float32(each)) for each in (alpha + 1e-5, beta - 1e-5))",
    ),
)
non_linear_search__takes_both_fractions = edited(
    _SEARCH, (_ONE_END, "    next_start, alpha, beta = left, next_alpha, next_beta\n")
)


def non_linear_search__the_best_of_all_ranges(histogram, error):
    ends = [(i, j) for i in range(len(histogram)) for j in range(i, len(histogram))]
    return min(ends, key=lambda each: error(*each))


# Settings


def find_qconfig__takes_none_for_no_answer(mapping, module_name, object_type, index):
    parent = module_name.rpartition(".")[0]
    found = mapping.module_name_object_type_order_qconfigs.get((parent, object_type, index))
    name = module_name
    while found is None and name:
        found, name = mapping.module_name_qconfigs.get(name), name.rpartition(".")[0]
    for pattern, qconfig in mapping.module_name_regex_qconfigs.items():
        if found is None and re.match(pattern, module_name):
            found = qconfig
    if found is None:
        found = mapping.object_type_qconfigs.get(object_type)
    return mapping.global_qconfig if found is None else found


find_qconfig__prefers_the_type = edited(
    rl.ao.quantization.qconfig_mapping.find_qconfig,
    (
        "    name = module_name\n",
        "    if object_type in mapping.object_type_qconfigs:\n"
        "        return mapping.object_type_qconfigs[object_type]\n    name = module_name\n",
    ),
)


find_qconfig__knows_subclasses = edited(
    rl.ao.quantization.qconfig_mapping.find_qconfig,
    (
        "    return mapping.object_type_qconfigs.get(object_type, mapping.global_qconfig)",
        "    kinds = [kind for kind in mapping.object_type_qconfigs if kind == object_type]\n"
        "    if isinstance(object_type, type):\n"
        "        kinds = kinds or [kind for kind in mapping.object_type_qconfigs if issubclass(object_type, kind)]\n"
        "    return mapping.object_type_qconfigs[kinds[0]] if kinds else mapping.global_qconfig",
    ),
)


# Fake quantisation


def fake_quantize__the_mask_of_the_values(self, scale, zero_point, quant_min, quant_max):
    q = F.round(self * rl.aten.native.quantized.inverse_of(scale)) + zero_point
    q = F.where(q >= quant_min, q, quant_min)
    q = F.clamp(q, max=quant_max)
    return (q - zero_point) * scale, (q > quant_min) & (q < quant_max)


def fake_quantize__compares_the_value_before_rounding(self, scale, zero_point, quant_min, quant_max):
    steps = self * rl.aten.native.quantized.inverse_of(scale)
    mask = (steps + zero_point >= quant_min) & (steps + zero_point <= quant_max)
    q = F.round(steps) + zero_point
    q = F.clamp(F.where(q >= quant_min, q, quant_min), max=quant_max)
    return (q - zero_point) * scale, mask


def fake_quantize__in_float32(self, scale, zero_point, quant_min, quant_max):
    q = F.round(self.float() * rl.aten.native.quantized.inverse_of(scale)) + zero_point
    mask = (q >= quant_min) & (q <= quant_max)
    q = F.clamp(F.where(q >= quant_min, q, quant_min), max=quant_max)
    return (q - zero_point) * scale, mask


def fake_quantize__of_a_matrix(self, scale, zero_point, quant_min, quant_max):
    channels, _ = self.shape
    q = F.round(self * rl.aten.native.quantized.inverse_of(scale)) + zero_point
    mask = (q >= quant_min) & (q <= quant_max)
    q = F.clamp(F.where(q >= quant_min, q, quant_min), max=quant_max)
    return (q - zero_point) * scale, mask


def fake_quantize__divides_by_the_reciprocal(self, scale, zero_point, quant_min, quant_max):
    inverse = rl.aten.native.quantized.inverse_of(scale)
    q = F.round(self * inverse) + zero_point
    mask = (q >= quant_min) & (q <= quant_max)
    q = F.clamp(F.where(q >= quant_min, q, quant_min), max=quant_max)
    return (q - zero_point) / inverse, mask


def fake_quantize__leaves_nan(self, scale, zero_point, quant_min, quant_max):
    q = F.round(self * rl.aten.native.quantized.inverse_of(scale)) + zero_point
    mask = (q >= quant_min) & (q <= quant_max)
    return (F.clamp(q, quant_min, quant_max) - zero_point) * scale, mask


# Predictions


quantized_values__adds_the_zero_point_before_rounding = edited(
    rl.course.predictions.quantized_values, ('"halves": [1, 3, 3, 1]', '"halves": [2, 2, 4, 0]')
)
quantized_values__rounds_half_up = edited(
    rl.course.predictions.quantized_values,
    ('"halves": [1, 3, 3, 1]', '"halves": [2, 3, 4, 1]'),
    ('"older": [2, 2, 4, 0]', '"older": [2, 3, 4, 1]'),
    ('"symmetric": [0, 7, -8, 2]', '"symmetric": [0, 7, -7, 3]'),
)


# An int8 linear layer


def zero_point_corrections__without_the_constant(x, weight, x_zero_point, weight_zero_points):
    x_sums = F.sum(x.to(rl.int32), 1, keepdim=True, dtype=rl.int32)
    weight_sums = F.sum(weight.to(rl.int32), 1, dtype=rl.int32)
    return -x_sums * weight_zero_points - weight_sums * x_zero_point


def zero_point_corrections__sums_in_bytes(x, weight, x_zero_point, weight_zero_points):
    x_sums = F.sum(x, 1, keepdim=True, dtype=x.dtype).to(rl.int32)
    weight_sums = F.sum(weight.to(rl.int32), 1, dtype=rl.int32)
    constant = weight_zero_points * (x_zero_point * x.shape[1])
    return constant - x_sums * weight_zero_points - weight_sums * x_zero_point


def zero_point_corrections__in_int64(x, weight, x_zero_point, weight_zero_points):
    constant = weight_zero_points.long() * (x_zero_point * x.shape[1])
    return constant - x.long().sum(1, keepdim=True) * weight_zero_points.long() - weight.long().sum(1) * x_zero_point


def zero_point_corrections__in_float32(x, weight, x_zero_point, weight_zero_points):
    b = weight_zero_points.float()
    constant = b * float(x_zero_point * x.shape[1])
    x_sums, weight_sums = x.float().sum(1, keepdim=True), weight.float().sum(1)
    return (constant - x_sums * b - weight_sums * float(x_zero_point)).to(rl.int32)


def zero_point_corrections__changes_the_zero_points(x, weight, x_zero_point, weight_zero_points):
    x_sums = F.sum(x.to(rl.int32), 1, keepdim=True, dtype=rl.int32)
    weight_sums = F.sum(weight.to(rl.int32), 1, dtype=rl.int32)
    of_x = x_sums * weight_zero_points
    return weight_zero_points.mul_(x_zero_point * x.shape[1]) - of_x - weight_sums * x_zero_point


def linear__relu_at_zero(x, weight, bias, x_qparams, weight_qparams, qparams, relu=False):
    sums = integer_product(x, weight) + zero_point_corrections(x, weight, x_qparams[1], weight_qparams[1])
    unit = weight_qparams[0] * x_qparams[0]
    values = sums.float() if bias is None else sums.float() + bias / unit
    rounded = F.round(values * (unit / qparams[0]))
    rounded = (F.relu(rounded) if relu else rounded) + qparams[1]
    return F.clamp(rounded, 0, 127).to(rl.uint8)


def linear__zero_point_before_the_rounding_up(x, weight, bias, x_qparams, weight_qparams, qparams, relu=False):
    sums = integer_product(x, weight) + zero_point_corrections(x, weight, x_qparams[1], weight_qparams[1])
    unit = weight_qparams[0] * x_qparams[0]
    values = sums.float() if bias is None else sums.float() + bias / unit
    rounded = F.floor(values * (unit / qparams[0]) + qparams[1] + 0.5)
    return F.clamp(rounded, qparams[1] if relu else 0, 255).to(rl.uint8)


def linear__bias_in_units_of_the_sum(x, weight, bias, x_qparams, weight_qparams, qparams, relu=False):
    sums = integer_product(x, weight) + zero_point_corrections(x, weight, x_qparams[1], weight_qparams[1])
    unit = weight_qparams[0] * x_qparams[0]
    values = sums.float() if bias is None else sums.float() + bias
    rounded = F.round(values * (unit / qparams[0])) + qparams[1]
    return F.clamp(rounded, qparams[1] if relu else 0, 255).to(rl.uint8)


def linear__rounded_bias(x, weight, bias, x_qparams, weight_qparams, qparams, relu=False):
    sums = integer_product(x, weight) + zero_point_corrections(x, weight, x_qparams[1], weight_qparams[1])
    unit = weight_qparams[0] * x_qparams[0]
    values = sums.float() if bias is None else sums.float() + F.round(bias / unit)
    rounded = F.round(values * (unit / qparams[0])) + qparams[1]
    return F.clamp(rounded, qparams[1] if relu else 0, 255).to(rl.uint8)


def linear__products_in_16_bits(x, weight, bias, x_qparams, weight_qparams, qparams, relu=False):
    products = integer_product(x, weight).clamp(-32768, 32767)
    sums = products + zero_point_corrections(x, weight, x_qparams[1], weight_qparams[1])
    unit = weight_qparams[0] * x_qparams[0]
    values = sums.float() if bias is None else sums.float() + bias / unit
    rounded = F.round(values * (unit / qparams[0])) + qparams[1]
    return F.clamp(rounded, qparams[1] if relu else 0, 255).to(rl.uint8)


# Batch norm


def fuse_conv_bn_weights__mean_not_scaled(conv_w, conv_b, bn_rm, bn_rv, bn_eps, bn_w, bn_b):
    factor = F.rsqrt(bn_rv + bn_eps) * (1 if bn_w is None else bn_w)
    bias = (0 if conv_b is None else conv_b * factor) - bn_rm + (0 if bn_b is None else bn_b)
    weight = conv_w * factor.reshape([-1] + [1] * (conv_w.dim() - 1))
    b_dtype = conv_w.dtype if conv_b is None else conv_b.dtype
    return (
        rl.nn.Parameter(weight.to(conv_w.dtype), conv_w.requires_grad),
        rl.nn.Parameter(bias.to(b_dtype), conv_b is not None and conv_b.requires_grad),
    )


def fuse_conv_bn_weights__always_trainable(conv_w, conv_b, bn_rm, bn_rv, bn_eps, bn_w, bn_b):
    factor = F.rsqrt(bn_rv + bn_eps) * (1 if bn_w is None else bn_w)
    bias = ((0 if conv_b is None else conv_b) - bn_rm) * factor + (0 if bn_b is None else bn_b)
    weight = conv_w * factor.reshape([-1] + [1] * (conv_w.dim() - 1))
    b_dtype = conv_w.dtype if conv_b is None else conv_b.dtype
    return rl.nn.Parameter(weight.to(conv_w.dtype)), rl.nn.Parameter(bias.to(b_dtype))


# Patterns


def is_match__any_number_of_users(modules, node, pattern, max_uses=sys.maxsize):
    head, *inner = pattern if isinstance(pattern, tuple) else (pattern,)
    if not isinstance(node, Node) or len(node.users) > max_uses:
        return False
    called = type(modules[node.target]) if node.op == "call_module" else node.target
    kind = "call_method" if isinstance(head, str) else "call_function"
    kind = "call_module" if isinstance(head, type) and issubclass(head, rl.nn.Module) else kind
    if called != head or node.op != kind:
        return False
    return not inner or (
        len(inner) == len(node.args)
        and all(is_match__any_number_of_users(modules, *pair, max_uses) for pair in zip(node.args, inner))
    )


def is_match__subclasses_too(modules, node, pattern, max_uses=sys.maxsize):
    head, *inner = pattern if isinstance(pattern, tuple) else (pattern,)
    if not isinstance(node, Node) or len(node.users) > max_uses:
        return False
    if isinstance(head, type) and issubclass(head, rl.nn.Module):
        fits = node.op == "call_module" and isinstance(modules[node.target], head)
    else:
        fits = node.target == head and node.op == ("call_method" if isinstance(head, str) else "call_function")
    return fits and (
        not inner
        or len(inner) == len(node.args)
        and all(is_match__subclasses_too(modules, arg, each, 1) for arg, each in zip(node.args, inner))
    )


def is_match__without_constants(modules, node, pattern, max_uses=sys.maxsize):
    head, *inner = pattern if isinstance(pattern, tuple) else (pattern,)
    if not is_match(modules, node, head, max_uses):
        return False
    args = [arg for arg in node.args if isinstance(arg, Node)]
    if inner and len(inner) != len(args):
        return False
    return all(is_match__without_constants(modules, arg, each, 1) for arg, each in zip(args, inner))


def is_match__exactly_max_uses(modules, node, pattern, max_uses=None):
    head, *inner = pattern if isinstance(pattern, tuple) else (pattern,)
    if (
        not is_match(modules, node, head)
        or max_uses not in (None, len(node.users))
        and (max_uses == 1 or len(node.users) > max_uses)
    ):
        return False
    if inner and len(inner) != len(node.args):
        return False
    return all(is_match__exactly_max_uses(modules, arg, each, 1) for arg, each in zip(node.args, inner))


def find_matches__longer_tuples_first(graph, modules, patterns):
    found = {}
    for node in reversed(graph.nodes):
        for pattern in sorted(patterns, key=lambda each: len(each) if isinstance(each, tuple) else 1, reverse=True):
            if node.name not in found and is_match(modules, node, pattern):
                nodes = matched_nodes(node, pattern)
                found |= {each.name: (node, pattern, nodes) for each in nodes}
    return found


def find_matches__in_the_given_order(graph, modules, patterns):
    found = {}
    for node in reversed(graph.nodes):
        for pattern in patterns:
            if node.name not in found and is_match(modules, node, pattern):
                nodes = matched_nodes(node, pattern)
                found |= {each.name: (node, pattern, nodes) for each in nodes}
    return found


def find_matches__from_the_first_node(graph, modules, patterns):
    found = {}
    for node in graph.nodes:
        for pattern in sorted(patterns, key=pattern_length, reverse=True):
            if node.name not in found and is_match(modules, node, pattern):
                nodes = matched_nodes(node, pattern)
                found |= {each.name: (node, pattern, nodes) for each in nodes}
    return found


# Observers in a graph


def share_observers__only_the_first_input(model, node):
    first = next((arg for arg in node.args if isinstance(arg, Node | list | tuple)), None)
    each = first[0] if isinstance(first, list | tuple) else first
    while each is not None and not is_observer(model, each):
        each = next((arg for arg in each.args if isinstance(arg, Node)), None)
    if each is None:
        return False
    for user in node.users:
        setattr(model, user.target, model.get_submodule(each.target))
    return True


def share_observers__without_walking_back(model, node):
    first = next((arg for arg in node.args if isinstance(arg, Node | list | tuple)), None)
    items = first if isinstance(first, list | tuple) else [first]
    if not all(is_observer(model, item) for item in items):
        return False
    for each in [*items, *node.users]:
        setattr(model, each.target, model.get_submodule(items[0].target))
    return True


def _share_by(model, node, inputs_of, sources_of):
    def observer_of(each):
        while each is not None and not is_observer(model, each):
            each = next((arg for arg in sources_of(each) if isinstance(arg, Node)), None)
        return each

    first = next((arg for arg in inputs_of(node) if isinstance(arg, Node | list | tuple)), None)
    items = [first] if isinstance(first, Node | None) else first
    sources = [observer_of(item) for item in items]
    for source in sources:
        if source is None:
            return False
        setattr(model, source.target, model.get_submodule(sources[0].target))
    for user in node.users:
        setattr(model, user.target, model.get_submodule(sources[0].target))
    return True


def share_observers__of_an_input_by_name(model, node):
    return _share_by(model, node, lambda each: (*each.args, *each.kwargs.values()), lambda each: each.args)


def share_observers__walks_back_by_name(model, node):
    return _share_by(model, node, lambda each: each.args, lambda each: (*each.args, *each.kwargs.values()))


def share_observers__walks_back_through_lists(model, node):
    return _share_by(model, node, lambda each: each.args, lambda each: each.all_input_nodes)


_insert_observers = rl.ao.quantization.fx.prepare.insert_observers
insert_observers__all_users_read_the_observer = edited(
    _insert_observers,
    (
        "        return insert_observer(model, arg, new)",
        "        users, new = list(arg.users), insert_observer(model, arg, new)\n"
        "        for user in users:\n            user.replace_input_with(arg, new)\n        return new",
    ),
)
insert_observers__one_for_each_user = edited(
    _insert_observers, ("is_observer(model, user) and type(model.get_submodule(user.target)) is type(new)", "False")
)
insert_observers__a_subclass_will_do = edited(
    _insert_observers,
    ("type(model.get_submodule(user.target)) is type(new)", "isinstance(model.get_submodule(user.target), type(new))"),
)


replace_observer__always_uint8 = edited(
    convert.replace_observer, ("quant_max, observer.dtype", 'quant_max, __import__("rushlight").uint8')
)
replace_observer__from_zero = edited(
    convert.replace_observer, ("int(zero_point), observer.quant_min", "int(zero_point), 0")
)
replace_observer__all_of_the_dtype = edited(
    convert.replace_observer, ("observer.quant_min, observer.quant_max, observer.dtype", "0, 255, observer.dtype")
)
replace_observer__tensors_as_arguments = edited(
    convert.replace_observer, ("float(scale), int(zero_point)", "scale, zero_point")
)


def observed_nodes__every_value_by_itself(program):
    return {
        "example": ["x 0", "head 1", "reshape 2"], "fused": ["x 0", "first 1", "relu 2", "second 3"],
        "branch": ["x 0", "first 1", "second 2", "add 3", "relu 4"], "float": ["x 0", "first 1", "second 2"],
        "joined": ["x 0", "first 1", "cat 2", "second 3"], "scaled": ["x 0", "first 1", "mul 2", "relu 3", "sub 4"],
    }[program]  # fmt: skip


# Pruning


def weight_norm_mask__by_elements(norms, sparsity_level, sparse_block_shape, zeros_per_block):
    flat = norms.reshape(-1)
    mask = flat == flat
    mask[F.argsort(flat)[: round(sparsity_level * flat.numel())]] = False
    return mask.reshape(norms.shape)


def weight_norm_mask__marks_the_norms(norms, sparsity_level, sparse_block_shape, zeros_per_block):
    h, w = sparse_block_shape
    blocks = [norms[i : i + h, j : j + w] for i in range(0, norms.shape[0], h) for j in range(0, norms.shape[1], w)]
    most = len(blocks) - (sparsity_level < 1)
    for block in sorted(blocks, key=lambda block: block.mean().item())[
        : min(most, round(sparsity_level * len(blocks)))
    ]:
        flat = block.reshape(-1)
        flat[F.argsort(flat)[:zeros_per_block]] = -1
        block.copy_(flat.reshape(block.shape))
    return norms >= 0


def weight_norm_mask__largest_elements(norms, sparsity_level, sparse_block_shape, zeros_per_block):
    h, w = sparse_block_shape
    blocks = [
        (slice(i, i + h), slice(j, j + w)) for i in range(0, norms.shape[0], h) for j in range(0, norms.shape[1], w)
    ]
    order = F.argsort(F.stack([norms[block].sum() for block in blocks])).tolist()
    mask = norms == norms
    for i in order[: round(sparsity_level * len(blocks))]:
        stays = mask[blocks[i]].reshape(-1).clone()
        stays[F.argsort(norms[blocks[i]].reshape(-1))[:zeros_per_block]] = False
        mask[blocks[i]] = stays.reshape(norms[blocks[i]].shape)
    return mask


def cubic_sparsity__between_the_smaller_and_the_larger(s_0, s_f, t, t_0, dt, n, initially_zero=False):
    if initially_zero and t < t_0:
        return 0
    level = s_f + (s_0 - s_f) * (1.0 - (t - t_0) / (dt * n)) ** 3
    return max(min(s_0, s_f), min(max(s_0, s_f), level))


def cubic_sparsity__without_a_beginning(s_0, s_f, t, t_0, dt, n, initially_zero=False):
    if t < t_0:
        return 0.0 if initially_zero else s_f
    return max(s_0, min(s_f, s_f + (s_0 - s_f) * (1.0 - (t - t_0) / (dt * n)) ** 3))


# ---- export ----------------------------------------------------------------------------------------------------------


_INPUT_SPECS, _OUTPUT_SPECS = rl.export.graph_signature.input_specs, rl.export.graph_signature.output_specs
_USERS = (
    '    users = [InputSpec(InputKind.USER_INPUT, named("_".join(map(str, path))), None) for path in user_inputs]\n'
)
input_specs__names_in_the_order_of_the_graph = edited(
    _INPUT_SPECS, (_USERS, ""), ("    return specs + users", f"{_USERS}    return specs + users")
)


output_specs__in_the_order_of_the_writes = edited(
    _OUTPUT_SPECS,
    ("in inputs:", "in sorted(inputs, key=lambda each: [*new_values, each.arg.name].index(each.arg.name)):"),
)


def run_lifted__replaces_the_state(signature, run, state, user_inputs):
    """The dict has the new tensor. The module still has the old one."""
    users = iter(user_inputs)
    inputs = [next(users) if spec.target is None else state[spec.target] for spec in signature.input_specs]
    results = []
    for spec, value in zip(signature.output_specs, run(*inputs)):
        if spec.kind is OutputKind.USER_OUTPUT:
            results.append(value)
        else:
            state[spec.target] = value
    return results


_CONSTRAINTS = rl.export.dynamic_shapes.constraints
constraints__guards_of_each_symbol_alone = edited(
    _CONSTRAINTS,
    ("groups |= dict.fromkeys(joined, joined)", "pass"),
    ("    joined = groups[guard.symbol] | groups[guard.other]\n", ""),
)


exported_sizes__a_loop_is_general = edited(
    rl.course.predictions.exported_sizes,
    ('"loop": ["8"]', '"loop": ["2.."]'),
    ('"weight": ["8"]', '"weight": ["2.."]'),
    ('"batch": ["2..", "1"]', '"batch": ["2..", "1.."]'),
    ('"wish": ["refused"]', '"wish": ["2..31"]'),
    ('"data": ["refused"]', '"data": ["2.."]'),
    ('"pair": ["refused"]', '"pair": ["2..16", "2..16"]'),
)


def serialize_argument__a_bool_is_an_int(arg, base="Tensor"):
    if isinstance(arg, (list, tuple)):
        if all(isinstance(item, int) for item in arg):
            return {"as_ints": list(arg)}
        if all(isinstance(item, float) for item in arg):
            return {"as_floats": [encode_float(item) for item in arg]}
        return {"as_tensors": [{"name": item.name} for item in arg]}
    if arg is None:
        return {"as_none": True}
    if isinstance(arg, Node):
        return {"as_sym_int": {"as_name": arg.name}} if is_sym_int(arg) else {"as_tensor": {"name": arg.name}}
    if isinstance(arg, (int, float, str)):
        return {f"as_{type(arg).__name__}": arg}
    return serialize_object(arg)


def deserialize_argument__floats_as_they_are(data, values):
    ((kind, value),) = data.items()
    if kind == "as_none":
        return None
    if kind in ("as_tensor", "as_sym_int"):
        return values[value[kind == "as_tensor" and "name" or "as_name"]]
    if kind in ("as_tensors", "as_sym_ints", "as_optional_tensors"):
        return [each.get("as_int") or values.get(each.get("name", each.get("as_name"))) for each in value]
    return value


def run_graph__by_position_only(graph, inputs, call):
    values = {}
    for argument, value in zip(graph["inputs"], inputs):
        values.update(dict.fromkeys(names_in(argument), value))
    for node in graph["nodes"]:
        args = [deserialize_argument(each["arg"], values) for each in node["inputs"]]
        result = call(node, args, {})
        names = [name for output in node["outputs"] for name in names_in(output)]
        values.update(zip(names, result if len(names) > 1 else [result]))
    return [deserialize_argument(each, values) for each in graph["outputs"]]


def verify_graph__all_names_at_once(graph, is_known):
    """It does not ask when a name gets its value."""
    arguments = [*graph["inputs"], *(each for node in graph["nodes"] for each in node["outputs"])]
    used = [*graph["outputs"], *(each["arg"] for node in graph["nodes"] for each in node["inputs"])]
    if any(len(each) != 1 or not {*each} <= {*KINDS} for each in arguments + used):
        raise SpecViolationError("no argument")
    given = [name for each in arguments for name in names_in(each)]
    if len(set(given)) < len(given) or not {name for each in used for name in names_in(each)} <= {*given}:
        raise SpecViolationError("no value")
    if not all(is_known(node["target"]) for node in graph["nodes"]):
        raise SpecViolationError("no operator")


# Names of placeholders: each takes another number


_FOUND = """        found = [re.match("(.*)_([0-9]+)", each) for each in taken]
        numbers = [int(each[2]) for each in found if each and each[1] == name]
"""


def _numbered(numbers):
    """The reference with another list of the numbers that a name has taken."""
    return edited(_INPUT_SPECS, (_FOUND, f"        numbers = {numbers}\n"))


def _matching(pattern, how="match"):
    return _numbered(f"[int(found[1]) for each in taken if (found := re.{how}(f'{pattern}', each))]")


input_specs__numbers_at_the_end = _matching("{name}_([0-9]+)", "fullmatch")
input_specs__numbers_between_underscores = _matching("{name}_([0-9]+)(_[^0-9]|$)")
input_specs__the_first_number_of_a_name = _matching("{name}_([0-9]+)")
input_specs__one_digit = _matching("{name}_([0-9])")
input_specs__the_smallest_number_that_is_free = _numbered(
    "[next(k for k in range(99) if f'{name}_{k + 1}' not in taken)]"
)
input_specs__the_number_of_numbers = _numbered(
    "[sum(bool(re.fullmatch(f'{name}_[0-9]+(_[^0-9].*)?', each)) for each in taken)]"
)
input_specs__numbers_in_the_order_of_texts = edited(
    _INPUT_SPECS, ("int(each[2])", "each[2]"), ("max(numbers, default=0)", "int(max(numbers, default=0))")
)
input_specs__numbers_of_names_that_begin_alike = _matching("{name}.*_([0-9]+)")
input_specs__numbers_of_names_that_end_alike = _matching(".*{name}_([0-9]+)")
input_specs__numbers_of_the_target = _matching("(?:{name[:2]})?{name[2:]}_([0-9]+)$")
output_specs__a_constant_has_a_name = edited(
    _OUTPUT_SPECS, ('ConstantArgument("", result)', "ConstantArgument(str(result), result)")
)


# A run with lifted tensors


def _write(signature, values, where_of):
    results = []
    for spec, value in zip(signature.output_specs, values):
        if spec.kind is OutputKind.USER_OUTPUT:
            results.append(value)
        else:
            where_of(spec)[spec.target].copy_(value)
    return results


def _users(signature, user_inputs):
    names = [spec.arg.name for spec in signature.input_specs if spec.kind is InputKind.USER_INPUT]
    return dict(zip(names, user_inputs))


def _inputs(signature, state, user_inputs):
    users = iter(user_inputs)
    return [next(users) if spec.target is None else state[spec.target] for spec in signature.input_specs]


def run_lifted__targets_and_names_in_one_dict(signature, run, state, user_inputs):
    values, users = {}, iter(user_inputs)
    for spec in signature.input_specs:
        values[spec.target or spec.arg.name] = next(users) if spec.target is None else state[spec.target]
    return _write(signature, run(*values.values()), lambda spec: values)


def run_lifted__user_inputs_over_the_state(signature, run, state, user_inputs):
    where = {**state, **_users(signature, user_inputs)}
    return _write(signature, run(*_inputs(signature, state, user_inputs)), lambda spec: where)


def run_lifted__in_the_order_of_the_state(signature, run, state, user_inputs):
    users = _users(signature, user_inputs)
    values = run(*state.values(), *user_inputs)
    return _write(signature, values, lambda s: users if s.kind is OutputKind.USER_INPUT_MUTATION else state)


def run_lifted__user_inputs_last(signature, run, state, user_inputs):
    users = _users(signature, user_inputs)
    values = run(*(state[spec.target] for spec in signature.input_specs if spec.target is not None), *user_inputs)
    return _write(signature, values, lambda s: users if s.kind is OutputKind.USER_INPUT_MUTATION else state)


def run_lifted__new_memory_for_the_state(signature, run, state, user_inputs):
    results, users = [], _users(signature, user_inputs)
    for spec, value in zip(signature.output_specs, run(*_inputs(signature, state, user_inputs))):
        if spec.kind is OutputKind.USER_OUTPUT:
            results.append(value)
        elif spec.kind is OutputKind.USER_INPUT_MUTATION:
            users[spec.target].copy_(value)
        else:
            state[spec.target].data = value
    return results


def run_lifted__placeholders_named_after_their_targets(signature, run, state, user_inputs):
    inputs = _inputs(signature, state, user_inputs)
    by_name = {spec.arg.name: value for spec, value in zip(signature.input_specs, inputs)}
    results = []
    for spec, value in zip(signature.output_specs, run(*inputs)):
        if spec.kind is OutputKind.USER_OUTPUT:
            results.append(value)
        else:
            names = [spec.target, f"b_{spec.target}", f"p_{spec.target}"]
            next(by_name[name] for name in names if name in by_name).copy_(value)
    return results


def run_lifted__takes_the_user_inputs_out_of_a_list(signature, run, state, user_inputs):
    users = _users(signature, user_inputs)
    queue = user_inputs if isinstance(user_inputs, list) else list(user_inputs)
    values = run(*(queue.pop(0) if s.target is None else state[s.target] for s in signature.input_specs))
    return _write(signature, values, lambda s: users if s.kind is OutputKind.USER_INPUT_MUTATION else state)


def run_lifted__takes_the_tensors_out_of_the_state(signature, run, state, user_inputs):
    users, rest = _users(signature, user_inputs), iter(user_inputs)
    before = dict(state)
    values = run(*(next(rest) if s.target is None else state.pop(s.target) for s in signature.input_specs))
    return _write(signature, values, lambda s: users if s.kind is OutputKind.USER_INPUT_MUTATION else before)


def run_lifted__one_result_alone(signature, run, state, user_inputs):
    users, values = _users(signature, user_inputs), run(*_inputs(signature, state, user_inputs))
    results = _write(signature, values, lambda s: users if s.kind is OutputKind.USER_INPUT_MUTATION else state)
    return results[0] if len(results) == 1 else results


# Ranges


constraints__a_range_without_an_upper_end_begins_at_2 = edited(
    _CONSTRAINTS,
    (
        "wanted = intersection(wanted, ValueRange(dim.min, dim.max))",
        "wanted = intersection(wanted, ValueRange(dim.min if dim.max else 2, dim.max))",
    ),
)


# Arguments in a file


_REFUSED = '        raise SerializeError(f"Unsupported list'

serialize_argument__a_list_of_dtypes = edited(
    serialize.serialize_argument,
    (_REFUSED,
     "        if not any(isinstance(item, (Node, int, float, str, type(None), list, tuple)) for item in arg):\n"
     "            return {\"as_ints\": [next(iter(serialize_object(item).values())) for item in arg]}\n" + _REFUSED),
)  # fmt: skip
serialize_argument__a_list_of_lists = edited(
    serialize.serialize_argument,
    (_REFUSED,
     "        if all(isinstance(item, (list, tuple)) for item in arg):\n"
     "            return {\"as_lists\": [serialize_argument(item) for item in arg]}\n" + _REFUSED),
)  # fmt: skip
serialize_argument__the_target_of_a_node = edited(
    serialize.serialize_argument,
    ("arg.name", "str(arg.target)"),
    ("item.name", "str(item.target)"),
)
deserialize_argument__a_size_is_an_int = edited(
    serialize.deserialize_argument, ('return values[value["as_name"]]', 'return int(values[value["as_name"]])')
)
deserialize_argument__infinity_has_no_sign = edited(
    serialize.deserialize_argument,
    ("float(value)", '{"NaN": float("nan"), "Infinity": float("inf")}.get(value, value)'),
    ("float(item)", '{"NaN": float("nan"), "Infinity": float("inf")}.get(item, item)'),
)


# Graphs of a file

run_graph__some_names_are_positional = edited(
    serialize.run_graph, ('given["kind"] == 1', 'given["name"] in ("self", "input", "dim", "end")')
)
run_graph__a_size_is_an_int = edited(serialize.run_graph, ('["as_name"]] = result', '["as_name"]] = int(result)'))
run_graph__only_what_an_output_needs = edited(
    serialize.run_graph,
    ("    for node in graph[\"nodes\"]:\n",
     "    from rushlight.export.verifier import names_in\n"
     "    used, nodes = {name for each in graph[\"outputs\"] for name in names_in(each)}, []\n"
     "    for node in reversed(graph[\"nodes\"]):\n"
     "        if used & {name for each in node[\"outputs\"] for name in names_in(each)}:\n"
     "            nodes.insert(0, node)\n"
     "            used |= {name for each in node[\"inputs\"] for name in names_in(each[\"arg\"])}\n"
     "    for node in nodes:\n"),
)  # fmt: skip
verify_graph__names_in_all_alphabets = edited(
    verifier.verify_graph, ("IDENTIFIER.fullmatch(name)", "name.isidentifier()")
)
verify_graph__a_name_with_a_line_break = edited(
    verifier.verify_graph, ("IDENTIFIER.fullmatch(name)", 're.match("[A-Za-z_][A-Za-z0-9_]*$", name)')
)
verify_graph__a_node_without_results_is_not_looked_at = edited(
    verifier.verify_graph, ("if not is_known", 'if node["outputs"] and not is_known')
)
verify_graph__kinds_of_positional_arguments_only = edited(
    verifier.verify_graph,
    ("    def use(argument: Mapping[str, Any]):\n        kind_of(argument)\n",
     "    def use(argument, skips=False):\n        if not (skips and argument):\n            kind_of(argument)\n"),
    ("use(each[\"arg\"])", "use(each[\"arg\"], each[\"kind\"] == 2)"),
)  # fmt: skip
