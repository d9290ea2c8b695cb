"""Wrong answers to lab 10a that a student might well give and that no mutant of the reference is: each fails on an edge.

A function's name is its exercise's, two underscores, and what is wrong.
"""

import re

import numpy as np

import rushlight as rl
from rushlight.ao.quantization import affine
from rushlight.ao.quantization.affine import _check_bounds, as_float32
from rushlight.ao.quantization.observer import moving_average_per_channel
from rushlight.aten.generated import functions as F
from rushlight.c10 import small_floats
from rushlight.course import predictions

from ..shared import copied, edited

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
quantize_per_channel__converts_before_it_saturates = edited(
    affine.quantize_per_channel,
    ("rounded + zero_points.reshape(sizes)", "(rounded + zero_points.reshape(sizes)).to(int32)"),
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


quantize_per_channel__adds_before_rounding = edited(
    affine.quantize_per_channel,
    ("(1.0 / scales.reshape(sizes)))", "(1.0 / scales.reshape(sizes)) + zero_points.reshape(sizes))"),
    ("rounded + zero_points.reshape(sizes)", "rounded"),
)
quantize_per_channel__of_any_range = edited(
    affine.quantize_per_channel, ("    _check_bounds(quant_min, quant_max, dtype)\n", "")
)
quantize_per_channel__in_place = edited(affine.quantize_per_channel, ("input * (1.0", "input.mul_(1.0"))


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


_float8_bits = copied(rl.small_floats.float8_bits)


def float8_bits__rounds_twice(bits, format):
    return _float8_bits(rl.small_floats.bfloat16_bits(bits) << 16, format) if bits else 0


float8_bits__nan_without_a_sign = edited(_float8_bits, ("return sign | 0x7F", "return 0x7F"))
float8_bits__no_sign_of_zero = edited(
    _float8_bits,
    ("return sign | min(rounded, format.overflow)", "return sign | min(rounded, format.overflow) if rounded else 0"),
)
float8_bits__beyond_the_largest = edited(_float8_bits, ("min(rounded, format.overflow)", "rounded & 0x7F"))
float8_bits__rounds_half_up = edited(
    _float8_bits, ("(1 << shift - 1) - 1 + (significand >> shift & 1) >> shift", "(1 << shift - 1) >> shift")
)


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


moving_average_per_channel__as_a_weighted_sum = edited(
    moving_average_per_channel,
    (
        "low = self.min_val + self.averaging_constant * (low - self.min_val)\n"
        "        high = self.max_val + self.averaging_constant * (high - self.max_val)",
        "low = (1 - self.averaging_constant) * self.min_val + self.averaging_constant * low\n"
        "        high = (1 - self.averaging_constant) * self.max_val + self.averaging_constant * high",
    ),
)
moving_average_per_channel__with_new_buffers = edited(
    rl.ao.quantization.observer.moving_average_per_channel,
    ("    store_range(self, low, high)", "    self.min_val, self.max_val = low, high"),
)


moving_average_per_channel__of_no_elements = edited(
    moving_average_per_channel, ("    if x_orig.numel() == 0:\n        return x_orig\n", "")
)
moving_average_per_channel__moves_from_zero = edited(
    moving_average_per_channel,
    ("    store_range", "    else:\n        low, high = low * 0.5, high * 0.5\n    store_range"),
)
moving_average_per_channel__returns_a_copy = edited(
    moving_average_per_channel, ("return x_orig", "return x_orig.clone()")
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


_ERROR = rl.ao.quantization.observer.quantization_error
quantization_error__of_steps_without_length = edited(_ERROR, ("    if step == 0:\n        return 0.0\n", ""))
quantization_error__from_the_first_bin = edited(
    _ERROR, ("(functions.arange(histogram.numel()) - start_bin)", "functions.arange(histogram.numel())")
)
quantization_error__as_a_tensor = edited(_ERROR, (" / 3).item()", " / 3)"))


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


_FAKE_QUANTIZE = copied(rl.aten.native.quantized.fake_quantize)


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


def fake_quantize__computes_float64_in_float32(self, scale, zero_point, quant_min, quant_max):
    values, mask = _FAKE_QUANTIZE(self.float(), scale, zero_point, quant_min, quant_max)
    return values.to(self.dtype), mask


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


_FAKE = rl.aten.native.quantized.fake_quantize
fake_quantize__divides = edited(_FAKE, ("self * inverse_of(scale)", "self / scale"))
fake_quantize__adds_before_rounding = edited(
    _FAKE, ("inverse_of(scale)) + zero_point", "inverse_of(scale) + zero_point)")
)
fake_quantize__rounds_half_up = edited(
    _FAKE, ("functions.round(self * inverse_of(scale))", "functions.floor(self * inverse_of(scale) + 0.5)")
)
fake_quantize__in_place = edited(_FAKE, ("self * inverse_of(scale)", "self.mul_(inverse_of(scale))"))


# Predictions


quantized_values__forgets_the_zero_point = edited(predictions.quantized_values, ('"d": [', '"d": [0, '))
quantized_values__for_another_name = edited(predictions.quantized_values, ('"Ada"', '"ada"'))


# What each hint is for


def determine_qparams__numbers_for_one_channel(*args):
    return tuple(each.item() if each.numel() == 1 else each for each in _determine_qparams(*args))


def determine_qparams__without_a_dimension(*args):
    return tuple(each.squeeze() for each in _determine_qparams(*args))


_determine_qparams = copied(affine.determine_qparams)
_LENGTH = "(high - low) / (quant_max - quant_min)"
determine_qparams__one_number_by_its_scheme = edited(
    affine.determine_qparams,
    (".reshape(-1), functions", ", functions"),
    ("(max_val, min=0).reshape(-1)", "(max_val, min=0)\n"
     "    if 'tensor' in str(scheme):\n        low, high = low.min().reshape(1), high.max().reshape(1)"),
)  # fmt: skip
determine_qparams__below_eps = edited(affine.determine_qparams, (f"functions.maximum({_LENGTH}, eps)", _LENGTH))
determine_qparams__a_zero_point_without_eps = edited(
    affine.determine_qparams, ("(low / scale)", f"(low / ({_LENGTH}))")
)
quantize_per_tensor__of_any_range = edited(
    affine.quantize_per_tensor, ("    _check_bounds(quant_min, quant_max, dtype)\n", "")
)
quantize_per_tensor__leaves_it_in_float32 = edited(affine.quantize_per_tensor, (".to(dtype)", ""))
quantize_per_tensor__in_place = edited(affine.quantize_per_tensor, ("input * (", "input.mul_("))
quantize_per_tensor__forgets_the_zero_point = edited(affine.quantize_per_tensor, (" + zero_point", ""))
quantize_per_tensor__adds_integers = edited(
    affine.quantize_per_tensor,
    ("functions.clamp(", "(functions.clamp("),
    (" + zero_point, quant_min, quant_max)", ", quant_min - zero_point, quant_max - zero_point).long() + zero_point)"),
)
quantize_per_tensor__in_half_precision = edited(affine.quantize_per_tensor, ("input = as_float32", "as_float32"))
quantize_per_tensor__rounds_half_up = edited(
    affine.quantize_per_tensor,
    ("functions.round(input * (1.0 / scale))", "functions.floor(input * (1.0 / scale) + 0.5)"),
)
quantize_per_tensor__the_next_number_below = edited(
    affine.quantize_per_tensor, ("functions.round(", "functions.floor(")
)
_find_qconfig = rl.ao.quantization.qconfig_mapping.find_qconfig
_NEXT_NAME = '        name = name.rpartition(".")[0]\n'
find_qconfig__the_setting_for_all_before_the_order = edited(
    _find_qconfig, ("if (parent,", "if mapping.global_qconfig is None and (parent,")
)
find_qconfig__the_oldest_ancestor = edited(
    _find_qconfig,
    (
        "    while name:\n",
        '    for end in [i for i, each in enumerate(f"{module_name}.") if each == "."]:\n        name = module_name[:end]\n',
    ),
    (_NEXT_NAME, ""),
)
find_qconfig__prefers_the_setting_for_all = edited(
    _find_qconfig,
    ("mapping.object_type_qconfigs.get(", "mapping.global_qconfig or mapping.object_type_qconfigs.get("),
)
find_qconfig__without_the_setting_for_all = edited(_find_qconfig, (", mapping.global_qconfig)", ")"))
find_qconfig__of_any_index = edited(
    _find_qconfig,
    ("(parent, object_type, index) in", "any(key[:2] == (parent, object_type) for key in"),
    ("_order_qconfigs:\n", "_order_qconfigs):\n"),
    (
        "[parent, object_type, index]",
        "[next(key for key in mapping.module_name_object_type_order_qconfigs if key[0] == parent)]",
    ),
)
find_qconfig__looks_the_empty_name_up = edited(
    _find_qconfig,
    ("    while name:\n", "    while True:\n"),
    (_NEXT_NAME, f"        if not name:\n            break\n{_NEXT_NAME}"),
)
find_qconfig__a_pattern_anywhere_in_the_name = edited(_find_qconfig, ("re.match", "re.search"))
find_qconfig__a_pattern_for_ancestors_too = edited(
    _find_qconfig,
    (
        "if re.match(pattern, module_name)",
        'if any(re.match(pattern, module_name[: end.start()]) for end in re.finditer(r"\\.|$", module_name))',
    ),
)
find_qconfig__a_default_of_its_own = edited(
    _find_qconfig, (", mapping.global_qconfig)", ', mapping.global_qconfig or "default")')
)

# The search, an edge at a time

non_linear_search__of_single_precision_sums = edited(
    _SEARCH, ("np.cumsum(histogram).astype(np.float32)", "np.cumsum(np.array(histogram, np.float32))")
)
non_linear_search__ends_when_nothing_moves = edited(_SEARCH, ("            continue\n", "            break\n"))
non_linear_search__goes_on_after_a_larger_error = edited(_SEARCH, ("            break\n", "            continue\n"))
non_linear_search__the_range_of_the_larger_error = edited(
    _SEARCH, ("            break\n", "            return next_start, next_end\n")
)
non_linear_search__fractions_in_place = edited(
    _SEARCH,
    ("    while alpha < beta:\n",
     "    histogram[:] = [count / max(total, 1) for count in histogram]\n    while alpha < beta:\n"),
)  # fmt: skip


# What each hint is for


def pack_int4__changes_the_values(values):
    flat = values.reshape(-1)
    flat[1::2] *= 16
    packed = flat[::2].clone()
    packed[: flat[1::2].numel()] += flat[1::2]
    return packed


def pack_int4__the_last_value_in_the_upper_half(values):
    flat = values.reshape(-1).tolist()
    pairs = [flat[i] + 16 * flat[i + 1] for i in range(0, len(flat) - 1, 2)]
    return rl.tensor(pairs + [16 * number for number in flat[len(flat) - len(flat) % 2 :]], dtype=rl.uint8)


quantize_per_channel__rounds_half_up = edited(
    affine.quantize_per_channel,
    ("functions.round(input * (1.0 / scales.reshape(sizes)))", "(input / scales.reshape(sizes) + 0.5).floor()"),
    ("input / scales.reshape(sizes)", "input * (1.0 / scales.reshape(sizes))"),
)
quantize_per_channel__forgets_the_zero_points = edited(
    affine.quantize_per_channel, ("rounded + zero_points.reshape(sizes)", "rounded")
)
quantize_per_channel__the_next_number_below = edited(
    affine.quantize_per_channel, ("functions.round(", "functions.floor(")
)
quantize_per_channel__wraps_around = edited(
    affine.quantize_per_channel,
    ("clamp(rounded + zero_points.reshape(sizes), quant_min, quant_max).to(dtype)", "clamp(SUM, quant_min, quant_max)"),
    ("SUM", "(rounded + zero_points.reshape(sizes)).to(dtype)"),
)
pack_int4__repeats_the_last_value = edited(
    affine.pack_int4,
    (
        "flat = values.reshape(-1)",
        "flat = functions.cat([values.reshape(-1), values.reshape(-1)[-(values.numel() % 2) or values.numel() :]])",
    ),
)
pack_int4__rounds_the_length_down = edited(
    affine.pack_int4, ("(flat.numel() + 1) // 2", "flat.numel() // 2"), ("flat[::2]", "flat[: len(packed) * 2 : 2]")
)
moving_average_per_channel__keeps_the_graph = edited(moving_average_per_channel, ("x_orig.detach()", "x_orig"))


def bfloat16_bits__rounds_up(bits):
    return 0x7FC0 if bits & 0x7FFFFFFF > 0x7F800000 else bits + 0xFFFF >> 16


def bfloat16_bits__without_the_sign(bits):
    return _bfloat16_bits(bits & 0x7FFFFFFF)


def bfloat16_bits__keeps_the_exponent(bits):
    return bits >> 23 << 7 | _bfloat16_bits(bits) & 0x7F


def bfloat16_bits__of_32_bits(bits):
    return _bfloat16_bits(bits) << 16


_bfloat16_bits = copied(small_floats.bfloat16_bits)
