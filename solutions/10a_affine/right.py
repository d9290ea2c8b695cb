"""Correct answers to lab 10a in other styles than the reference's: every check must accept them.

A function's name is its exercise's, two underscores, and the style.
"""

import re
import struct
from itertools import accumulate

import numpy as np

import rushlight as rl
from rushlight.ao.quantization.affine import _check_bounds, as_float32
from rushlight.aten.generated import functions as F
from rushlight.course import predictions

from ..shared import copied

# Numbers


def determine_qparams__by_where(min_val, max_val, quant_min, quant_max, dtype, eps, has_customized_qrange, scheme):
    zero = rl.zeros(1)
    low, high = F.minimum(min_val.reshape(-1), zero), F.maximum(max_val.reshape(-1), zero)
    if scheme is rl.per_tensor_symmetric or scheme is rl.per_channel_symmetric:
        reach = F.where(-low > high, -low, high)
        scale = reach / (float(quant_max - quant_min) / 2)
        scale = F.where(scale > eps, scale, eps)
        middle = 0
        if dtype is rl.uint8:
            middle = (quant_max + quant_min) // 2 if has_customized_qrange else 128
        return scale, rl.full(scale.shape, middle, dtype=rl.int64)
    scale = F.maximum((high - low) / float(quant_max - quant_min), eps)
    zero_point = rl.tensor([quant_min - round(each) for each in (low / scale).tolist()], dtype=rl.int64)
    return scale, zero_point.clamp(min=quant_min).clamp(max=quant_max)


def determine_qparams__in_numpy(min_val, max_val, quant_min, quant_max, dtype, eps, has_customized_qrange, scheme):
    low, high = np.minimum(np.atleast_1d(min_val.numpy()), 0), np.maximum(np.atleast_1d(max_val.numpy()), 0)
    length = np.float32(quant_max - quant_min)
    if scheme.is_symmetric:
        scale = np.maximum(np.maximum(-low, high) / (length / np.float32(2)), eps.numpy())
        zero_point = np.zeros(len(scale), np.int64)
        if dtype is rl.uint8:
            zero_point += (quant_min + quant_max) // 2 if has_customized_qrange else 128
    else:
        scale = np.maximum((high - low) / length, eps.numpy())
        zero_point = np.clip(quant_min - np.rint(low / scale), quant_min, quant_max).astype(np.int64)
    return rl.from_numpy(scale.astype(np.float32)), rl.from_numpy(zero_point)


def quantize_per_tensor__in_numpy(input, scale, zero_point, quant_min, quant_max, dtype):
    values = as_float32(input).numpy()
    _check_bounds(quant_min, quant_max, dtype)
    steps = np.rint(values * np.float32(1 / scale)) + np.float32(zero_point)
    return rl.from_numpy(np.clip(steps, quant_min, quant_max).astype(dtype.numpy))


def quantize_per_tensor__by_methods(input, scale, zero_point, quant_min, quant_max, dtype):
    _check_bounds(quant_min, quant_max, dtype)
    reciprocal = 1.0 / scale
    q = as_float32(input).mul(reciprocal).round_().add_(zero_point)
    return q.clamp(min=quant_min).clamp(max=quant_max).to(dtype)


def quantize_per_channel__by_movedim(input, scales, zero_points, axis, quant_min, quant_max, dtype):
    input = as_float32(input)
    if axis >= input.dim():
        raise AssertionError("axis")
    _check_bounds(quant_min, quant_max, dtype)
    last = input.movedim(axis, -1)
    q = (last * scales.reciprocal()).round() + zero_points
    return q.clamp(quant_min, quant_max).movedim(-1, axis).to(dtype)


def quantize_per_channel__channel_by_channel(input, scales, zero_points, axis, quant_min, quant_max, dtype):
    input = as_float32(input)
    assert axis < input.dim()
    _check_bounds(quant_min, quant_max, dtype)
    out = rl.zeros(input.shape, dtype=dtype)
    for i in range(input.shape[axis]):
        steps = F.round(input.select(axis, i) * (1 / scales[i])) + zero_points[i]
        out.select(axis, i).copy_(F.clamp(steps, quant_min, quant_max))
    return out


def quantize_per_channel__with_the_function_for_one_scale(
    input, scales, zero_points, axis, quant_min, quant_max, dtype
):
    input = as_float32(input)
    if axis >= input.dim():
        raise AssertionError(axis)
    _check_bounds(quant_min, quant_max, dtype)
    found = rl.zeros(input.shape, dtype=dtype)
    for i, (scale, zero_point) in enumerate(zip(scales.tolist(), zero_points.tolist())):
        part = rl.ao.quantization.affine.quantize_per_tensor(
            input.select(axis, i), scale, zero_point, quant_min, quant_max, dtype
        )
        found.select(axis, i).copy_(part)
    return found


def pack_int4__in_numpy(values):
    flat = np.ascontiguousarray(values.numpy()).ravel()
    flat = np.append(flat, np.zeros(len(flat) % 2, np.uint8))
    return rl.from_numpy((flat[0::2] | flat[1::2] << 4).astype(np.uint8))


def pack_int4__byte_by_byte(values):
    flat = values.reshape(-1).tolist()
    found = [sum(each << 4 * i for i, each in enumerate(flat[at : at + 2])) for at in range(0, len(flat), 2)]
    return rl.tensor(found, dtype=rl.uint8)


# Small floats


def bfloat16_bits__by_comparing_the_halves(bits):
    upper, lower = divmod(bits, 1 << 16)
    if upper & 0x7F80 == 0x7F80 and bits & 0x7FFFFF:
        return 0x7FC0
    if lower > 0x8000 or (lower == 0x8000 and upper % 2):
        upper += 1
    return upper


def bfloat16_bits__with_round(bits):
    if (bits & 0x7FFFFFFF) > 0xFF << 23:
        return 0x7FC0
    return round(bits / 65536)


def float8_bits__by_the_nearest_number(bits, format):
    (number,) = struct.unpack("f", struct.pack("I", bits))
    sign = bits >> 31 << 7
    if number != number:
        return sign | 0x7F
    magnitude, m = abs(number), format.mantissa_bits
    if magnitude == float("inf"):
        return sign | format.overflow
    exponent = max(int(np.frexp(magnitude)[1]) - 1, 1 - format.bias) if magnitude else 1 - format.bias
    steps = round(magnitude / 2.0 ** (exponent - m))
    return sign | min(steps + (exponent + format.bias - 1 << m), format.overflow)


def float8_bits__with_divmod(bits, format):
    negative, magnitude = divmod(bits, 1 << 31)
    if magnitude > 0x7F800000:
        return negative * 128 + 127
    exponent, mantissa = divmod(magnitude, 1 << 23)
    field = exponent - 127 + format.bias
    if field > 0:
        whole, below = (field << 23) + mantissa, 23 - format.mantissa_bits
    else:
        whole, below = mantissa + (1 << 23), 24 - format.mantissa_bits - field
    kept, rest = divmod(whole, 1 << below)
    half = 1 << (below - 1)
    if rest > half or rest == half and kept % 2:
        kept += 1
    return negative * 128 + (kept if kept < format.overflow else format.overflow)


# Observers


def moving_average_per_channel__with_the_first_case_apart(self, x_orig):
    if not x_orig.numel():
        return x_orig
    fresh = min(len(self.min_val), len(self.max_val)) == 0
    x = x_orig.detach().to(self.min_val.dtype)
    low, high = rl.ao.quantization.observer.channel_min_max(x, self.ch_axis)
    if fresh:
        rl.ao.quantization.observer.store_range(self, low, high)
        return x_orig
    c = self.averaging_constant
    self.min_val += c * (low - self.min_val)
    self.max_val += c * (high - self.max_val)
    return x_orig


def moving_average_per_channel__with_lerp(self, x_orig):
    if x_orig.numel() > 0:
        low, high = rl.ao.quantization.observer.channel_min_max(x_orig.detach(), self.ch_axis)
        if self.min_val.numel() * self.max_val.numel():
            low = rl.lerp(self.min_val, low.float(), self.averaging_constant)
            high = rl.lerp(self.max_val, high.float(), self.averaging_constant)
        rl.ao.quantization.observer.store_range(self, low, high)
    return x_orig


def moving_average_per_channel__by_resizing(self, x_orig):
    if x_orig.numel() > 0:
        ends = rl.ao.quantization.observer.channel_min_max(x_orig.detach().float(), self.ch_axis)
        known = self.min_val.numel() > 0 and self.max_val.numel() > 0
        for buffer, end in zip((self.min_val, self.max_val), ends):
            new = buffer + (end - buffer) * self.averaging_constant if known else end
            buffer.resize_(new.shape).copy_(new)
    return x_orig


def quantization_error__in_numpy(histogram, width, start_bin, end_bin, dst_nbins):
    step = width * (1 + end_bin - start_bin) / dst_nbins
    if not step:
        return 0.0
    counts = histogram.numpy().astype(np.float64)
    left = (np.arange(len(counts)) - start_bin) * width
    first, last = (np.clip(np.floor(each / step), 0, dst_nbins - 1) for each in (left, left + width))

    def integral(a, b):
        return (b**3 - a**3) / 3

    total = integral(left - (first + 0.5) * step, step / 2) + integral(-step / 2, left + width - (last + 0.5) * step)
    return float((counts / width * (total + (last - first - 1) * integral(-step / 2, step / 2))).sum())


def quantization_error__bin_by_bin(histogram, width, start_bin, end_bin, dst_nbins):
    step, error = width * (end_bin - start_bin + 1) / dst_nbins, 0.0
    if step == 0.0:
        return 0.0
    for i, count in enumerate(histogram.tolist()):
        left = (i - start_bin) * width
        right = left + width
        first = min(max(left // step, 0), dst_nbins - 1)
        last = min(max(right // step, 0), dst_nbins - 1)
        cubes = (step / 2) ** 3 - (left - first * step - step / 2) ** 3
        cubes += (last - first - 1) * step**3 / 4
        cubes += (right - last * step - step / 2) ** 3 + (step / 2) ** 3
        error += count / width * cubes / 3
    return error


def non_linear_search__with_generators(histogram, error):
    total, sums = float(sum(histogram)), np.float32([*accumulate(histogram)])
    cut, ends, best = [0.0, 1.0], (0, len(histogram) - 1), None
    while cut[0] < cut[1]:
        start, end = ends
        tried = cut[0] + 1e-5, cut[1] - 1e-5
        low, high = np.float32(tried[0] * total), np.float32(tried[1] * total)
        left = next((i for i in range(start, end) if sums[i] >= low), end)
        right = next((i for i in range(end, start, -1) if sums[i] <= high), start)
        if left - start > end - right:
            cut[0], wanted = tried[0], (left, end)
        else:
            cut[1], wanted = tried[1], (start, right)
        if wanted != ends:
            found = error(*wanted)
            if best is not None and found > best:
                return ends
            best, ends = found, wanted
    return ends


def non_linear_search__with_tensors(histogram, error):
    sums, total = rl.tensor(histogram).cumsum(0).numpy(), sum(histogram)
    alpha, beta, low, high, norm = 0.0, 1.0, 0, len(histogram) - 1, float("inf")
    while alpha < beta:
        a, b, left, right = alpha + 1e-5, beta - 1e-5, low, high
        while left != high and sums[left] < np.float32(a * total):
            left = left + 1
        while right != low and sums[right] > np.float32(b * total):
            right = right - 1
        lower = left - low > high - right
        alpha, beta = (a, beta) if lower else (alpha, b)
        new = (left, high) if lower else (low, right)
        if new == (low, high):
            continue
        now = error(*new)
        if now > norm:
            return low, high
        norm, (low, high) = now, new
    return low, high


# Settings


def find_qconfig__by_recursion(mapping, module_name, object_type, index):
    missing = object()
    parent = ".".join(module_name.split(".")[:-1])
    order = mapping.module_name_object_type_order_qconfigs.get((parent, object_type, index), missing)
    if order is not missing:
        return order

    def by_name(name):
        if not name:
            return missing
        own = mapping.module_name_qconfigs.get(name, missing)
        return own if own is not missing else by_name(".".join(name.split(".")[:-1]))

    found = by_name(module_name)
    if found is not missing:
        return found
    patterns = (each for key, each in mapping.module_name_regex_qconfigs.items() if re.match(key, module_name))
    found = next(patterns, missing)
    if found is missing:
        found = mapping.object_type_qconfigs.get(object_type, missing)
    return mapping.global_qconfig if found is missing else found


def find_qconfig__from_the_weakest_rule(mapping, module_name, object_type, index):
    found = mapping.global_qconfig
    if object_type in mapping.object_type_qconfigs:
        found = mapping.object_type_qconfigs[object_type]
    for pattern, qconfig in reversed(mapping.module_name_regex_qconfigs.items()):
        if re.match(pattern, module_name):
            found = qconfig
    parts = module_name.split(".")
    for count in range(1, len(parts) + 1):
        found = mapping.module_name_qconfigs.get(".".join(parts[:count]), found)
    return mapping.module_name_object_type_order_qconfigs.get((".".join(parts[:-1]), object_type, index), found)


# Fake quantisation


def fake_quantize__in_numpy(self, scale, zero_point, quant_min, quant_max):
    x = self.detach().numpy()
    s = scale.numpy() if hasattr(scale, "numpy") else np.float32(scale)
    z = zero_point.numpy().astype(np.float32) if hasattr(zero_point, "numpy") else np.float32(zero_point)
    q = np.rint(x * (np.float32(1) / s)) + z
    inside = (q >= quant_min) & (q <= quant_max)
    saturated = np.fmin(np.fmax(q, np.float32(quant_min)), np.float32(quant_max))
    return rl.from_numpy(((saturated - z) * s).astype(x.dtype)), rl.from_numpy(inside)


def fake_quantize__with_masks(self, scale, zero_point, quant_min, quant_max):
    steps = (self * rl.aten.native.quantized.inverse_of(scale)).round().add(zero_point)
    above, kept = steps > quant_max, steps >= quant_min
    q = F.where(above, quant_max, F.where(kept, steps, quant_min))
    return q.sub(zero_point).mul(scale), kept & above.logical_not()


# Predictions


_quantized_values = copied(predictions.quantized_values)


def quantized_values__with_a_second_draw():
    right = _quantized_values()
    return {"h": [], "g": [], "f": [], "e": []} | {key: right[key] for key in reversed(right)}


def quantized_values__in_tuples():
    right = _quantized_values()
    return {key: value if key == "name" else tuple(value) for key, value in right.items()}
