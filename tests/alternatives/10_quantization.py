"""Correct answers to lab 10 in other styles than the reference's: every check must accept them.

A function's name is its exercise's, two underscores, and the style.
"""

import re
import struct
import sys
from collections import defaultdict

import numpy as np

import rushlight as rl
from rushlight.ao.nn.quantized.functional import integer_product, zero_point_corrections
from rushlight.ao.quantization.affine import _check_bounds, as_float32
from rushlight.ao.quantization.fx.match_utils import is_match, matched_nodes, pattern_length
from rushlight.ao.quantization.fx.prepare import (
    insert_observer,
    is_observed,
    is_observer,
    is_size,
    share_observers,
    shares_observer,
)
from rushlight.aten.generated import functions as F
from rushlight.export.dynamic_shapes import ConstraintViolationError, Dim, ValueRange
from rushlight.export.graph_signature import (
    MUTATIONS,
    ConstantArgument,
    InputKind,
    InputSpec,
    OutputKind,
    OutputSpec,
    TensorArgument,
)
from rushlight.export.serialize import (
    EMPTY_LISTS,
    SerializeError,
    deserialize_argument,
    deserialize_object,
    encode_float,
    is_sym_int,
    serialize_object,
)
from rushlight.export.verifier import IDENTIFIER, KINDS, SpecViolationError, names_in
from rushlight.fx.node import Node, map_arg

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
    total, sums = float(sum(histogram)), np.cumsum(np.array(histogram, np.float32), dtype=np.float32)
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


def quantized_values__by_match(program):
    match program:
        case "example":
            return (8, 10, 12, 12)
        case "halves":
            return [round(each) + 1 for each in (0.5, 1.5, 2.5, -0.5)]
        case "older":
            return [round(each + 1) for each in (0.5, 1.5, 2.5, -0.5)]
        case "range":
            return [-8, -8, 7, 7, 7]
        case "observed":
            return [0, 0, 2, 15]
        case "symmetric":
            return [0, 7, -8, 2]
        case "gradient":
            return [1, 1, 0, 1, 0]


def quantized_values__calculated(program):
    def stored(values, scale, zero_point, low, high):
        return [int(min(max(round(each / scale) + zero_point, low), high)) for each in values]

    if program == "older":
        return [round(each / 0.5 + 1) for each in (0.25, 0.75, 1.25, -0.25)]
    if program == "gradient":
        return [int(-4 <= round(each / 0.5) <= 3) for each in (-2.25, -2.0, 1.75, 1.5, 2.0)]
    return {
        "example": lambda: stored((-1.0, 0.0, 1.0, 1.1), 0.5, 10, 0, 255),
        "halves": lambda: stored((0.25, 0.75, 1.25, -0.25), 0.5, 1, 0, 255),
        "range": lambda: stored((-10.0, -1.0, 0.875, 1.0, 1e9), 0.125, 0, -8, 7),
        "observed": lambda: [0, *stored((0.0, 1.0, 8.0), 0.5, 0, 0, 15)],
        "symmetric": lambda: [0, *stored((7.5, -7.5, 2.5), 1.0, 0, -8, 7)],
    }[program]()


# An int8 linear layer


def zero_point_corrections__by_two_products(x, weight, x_zero_point, weight_zero_points):
    x, weight = x.numpy().astype(np.int64), weight.numpy().astype(np.int64)
    wanted = (x - x_zero_point) @ (weight - weight_zero_points.numpy()[:, None]).T
    return rl.from_numpy((wanted - x @ weight.T).astype(np.int32))


def zero_point_corrections__element_by_element(x, weight, x_zero_point, weight_zero_points):
    K = x.shape[1]
    of_rows = [sum(row) for row in x.tolist()]
    of_weight = [sum(row) for row in weight.tolist()]
    return rl.tensor(
        [
            [K * x_zero_point * b - b * row - x_zero_point * column for column, b in zip(of_weight, weight_zero_points.tolist())]
            for row in of_rows
        ],
        dtype=rl.int32,
    ).reshape(x.shape[0], weight.shape[0])  # fmt: skip


def linear__in_numpy(x, weight, bias, x_qparams, weight_qparams, qparams, relu=False):
    products = integer_product(x, weight) + zero_point_corrections(x, weight, x_qparams[1], weight_qparams[1])
    unit = np.float32(x_qparams[0]) * weight_qparams[0].numpy()
    value = products.numpy().astype(np.float32)
    if bias is not None:
        value = value + bias.numpy() / unit
    integer = np.rint(value * (unit / np.float32(qparams[0]))) + qparams[1]
    least = qparams[1] if relu else 0
    return rl.from_numpy(np.minimum(np.maximum(integer, least), 255).astype(np.uint8))


def linear__in_the_unit_of_the_result(x, weight, bias, x_qparams, weight_qparams, qparams, relu=False):
    wanted = (x.int() - x_qparams[1]) @ (weight.int() - weight_qparams[1].unsqueeze(1)).t()
    numbers = wanted.float() * weight_qparams[0] * x_qparams[0]
    numbers = numbers if bias is None else bias + numbers
    if relu:
        numbers = F.relu(numbers)
    return ((numbers / qparams[0]).round() + qparams[1]).clamp(0, 255).to(rl.uint8)


# Batch norm


def fuse_conv_bn_weights__with_ones_and_zeros(conv_w, conv_b, bn_rm, bn_rv, bn_eps, bn_w, bn_b):
    with rl.no_grad():
        start = F.zeros_like(bn_rm) if conv_b is None else conv_b
        scale = (F.ones_like(bn_rm) if bn_w is None else bn_w) / (bn_rv + bn_eps).sqrt()
        shift = F.zeros_like(bn_rm) if bn_b is None else bn_b
        w = F.stack([row * one for row, one in zip(conv_w.unbind(0), scale.unbind(0))]).to(conv_w.dtype)
        b = ((start - bn_rm) * scale + shift).to(conv_w.dtype if conv_b is None else conv_b.dtype)
    return rl.nn.Parameter(w, conv_w.requires_grad), rl.nn.Parameter(
        b, False if conv_b is None else conv_b.requires_grad
    )


def fuse_conv_bn_weights__in_numpy(conv_w, conv_b, bn_rm, bn_rv, bn_eps, bn_w, bn_b):
    def array(x, other):
        return np.full(len(bn_rm), other, bn_rm.numpy().dtype) if x is None else x.detach().numpy()

    scale = array(bn_w, 1) / np.sqrt(bn_rv.numpy() + bn_eps)
    w = (conv_w.detach().numpy().T * scale).T
    b = (array(conv_b, 0) - bn_rm.numpy()) * scale + array(bn_b, 0)
    kinds = conv_w.dtype, (conv_w if conv_b is None else conv_b).dtype
    wanted = conv_w.requires_grad, conv_b is not None and conv_b.requires_grad
    w, b = (rl.from_numpy(np.ascontiguousarray(each)).to(kind) for each, kind in zip((w, b), kinds))
    return tuple(rl.nn.Parameter(each, requires_grad=grad) for each, grad in zip((w, b), wanted))


# Patterns


def is_match__with_a_stack(modules, node, pattern, max_uses=sys.maxsize):
    todo = [(node, pattern, max_uses)]
    while todo:
        node, pattern, limit = todo.pop()
        parts = pattern if isinstance(pattern, tuple) else (pattern,)
        head, inner = parts[0], parts[1:]
        if type(node) is not Node or len(node.users) > limit:
            return False
        if isinstance(head, str):
            fits = (node.op, node.target) == ("call_method", head)
        elif isinstance(head, type) and issubclass(head, rl.nn.Module):
            fits = node.op == "call_module" and type(modules[node.target]) is head
        else:
            fits = node.op == "call_function" and node.target is head
        if not fits or (inner and len(inner) != len(node.args)):
            return False
        if inner:
            todo += [(arg, part, 1) for arg, part in zip(node.args, inner)]
    return True


def is_match__by_what_the_node_calls(modules, node, pattern, max_uses=sys.maxsize):
    if not isinstance(node, Node):
        return False
    called = {
        "call_module": lambda: type(modules[node.target]),
        "call_function": lambda: node.target,
        "call_method": lambda: node.target,
    }.get(node.op, lambda: None)()
    if not isinstance(pattern, tuple):
        return called is not None and called == pattern and len(node.users) <= max_uses
    head, *rest = pattern
    if not is_match__by_what_the_node_calls(modules, node, head, max_uses):
        return False
    args = list(node.args) if rest else []
    return len(args) == len(rest) and all(
        is_match__by_what_the_node_calls(modules, arg, part, 1) for arg, part in zip(args, rest)
    )


def find_matches__length_by_length(graph, modules, patterns):
    patterns, result = list(patterns), {}
    lengths = sorted({pattern_length(each) for each in patterns}, reverse=True)
    for node in list(graph.nodes)[::-1]:
        if node.name not in result:
            fitting = [p for n in lengths for p in patterns if pattern_length(p) == n and is_match(modules, node, p)]
            for pattern in fitting[:1]:
                nodes = matched_nodes(node, pattern)
                for each in nodes:
                    result[each.name] = (node, pattern, nodes)
    return result


def find_matches__with_max(graph, modules, patterns):
    found, patterns = {}, list(patterns)
    for node in reversed(graph.nodes):
        fitting = [each for each in patterns if is_match(modules, node, each)]
        if fitting and node.name not in found:
            best = max(fitting, key=pattern_length)
            match = node, best, matched_nodes(node, best)
            found.update(dict.fromkeys([each.name for each in match[2]], match))
    return found


# Observers in a graph


def share_observers__recursively(model, node):
    def source(each):
        if is_observer(model, each):
            return each
        nodes = [arg for arg in each.args if isinstance(arg, Node)]
        return source(nodes[0]) if nodes else None

    inputs = [arg for arg in node.args if isinstance(arg, (Node, list, tuple))]
    if not inputs:
        return False
    items = [inputs[0]] if isinstance(inputs[0], Node) else [*inputs[0]]
    first = source(items[0])
    if first is None:
        return False
    observer = getattr(model, first.target)
    for item in items[1:]:
        found = source(item)
        if found is None:
            return False
        setattr(model, found.target, observer)
    for user in list(node.users):
        setattr(model, user.target, observer)
    return True


def share_observers__with_all_targets_first(model, node):
    targets = []
    values = next(iter([arg for arg in node.args if isinstance(arg, (Node, tuple, list))]), ())
    for value in [values] if isinstance(values, Node) else values:
        while value is not None and not is_observer(model, value):
            value = next(iter(arg for arg in value.args if isinstance(arg, Node)), None)
        targets.append(None if value is None else value.target)
    complete = bool(targets) and None not in targets
    known = targets[: targets.index(None)] if None in targets else targets
    if known:
        shared = model.get_submodule(known[0])
        for target in known + ([user.target for user in node.users] if complete else []):
            setattr(model, target, shared)
    return complete


def insert_observers__in_two_functions(model, matches, qconfigs):
    def read(arg, make):
        if is_observer(model, arg) or is_size(arg):
            return arg
        new = make()
        old = [user for user in arg.users if is_observer(model, user)]
        old = [user for user in old if type(model.get_submodule(user.target)) is type(new)]
        return old[0] if old else insert_observer(model, arg, new)

    def write(node, make, shared):
        before = dict.fromkeys(node.users)
        new = insert_observer(model, node, make())
        for user in before:
            user.replace_input_with(node, new)
        if shared:
            share_observers(model, node)

    for node in list(model.graph.nodes):
        match, qconfig = matches.get(node.name), qconfigs.get(node.name)
        if match and qconfig and is_observed(match[1]):
            last, pattern, nodes = match
            if nodes[-1] is node:
                node.args = map_arg(node.args, lambda arg: read(arg, qconfig.activation))
                node.kwargs = map_arg(node.kwargs, lambda arg: read(arg, qconfig.activation))
            if last is node:
                write(node, qconfig.activation, shares_observer(pattern, nodes))


def insert_observers__replacing_all_uses(model, matches, qconfigs):
    names = [node.name for node in model.graph.nodes]
    nodes_by_name = {node.name: node for node in model.graph.nodes}
    for name in names:
        node, qconfig = nodes_by_name[name], qconfigs.get(name)
        if name not in matches or qconfig is None:
            continue
        last, pattern, nodes = matches[name]
        if not is_observed(pattern):
            continue
        if nodes[-1] is node:
            for arg in node.all_input_nodes:
                if is_observer(model, arg) or is_size(arg):
                    continue
                new = qconfig.activation()
                for user in arg.users:
                    if is_observer(model, user) and type(model.get_submodule(user.target)) is type(new):
                        node.replace_input_with(arg, user)
                        break
                else:
                    node.replace_input_with(arg, insert_observer(model, arg, new))
        if last is node:
            observer = insert_observer(model, node, qconfig.activation())
            node.replace_all_uses_with(observer, delete_user_cb=lambda user: user is not observer)
            if shares_observer(pattern, nodes):
                share_observers(model, node)


def replace_observer__inserting_after(model, node):
    observer = model.get_submodule(node.target)
    scale, zero_point = (each.item() for each in observer.calculate_qparams())
    rest = (scale, zero_point, observer.quant_min, observer.quant_max, observer.dtype)
    operators = rl.ops.quantized_decomposed
    with model.graph.inserting_after(node):
        first = model.graph.create_node("call_function", operators.quantize_per_tensor.default, (node.args[0], *rest))
    with model.graph.inserting_after(first):
        second = model.graph.create_node("call_function", operators.dequantize_per_tensor.default, (first, *rest))
    for user in list(node.users):
        user.replace_input_with(node, second)
    model.graph.erase_node(node)


def replace_observer__both_in_a_loop(model, node):
    observer, value = getattr(model, node.target), node.args[0]
    scale, zero_point = observer.calculate_qparams()
    for operator in (
        rl.ops.quantized_decomposed.quantize_per_tensor,
        rl.ops.quantized_decomposed.dequantize_per_tensor,
    ):
        with model.graph.inserting_before(node):
            args = (value, scale.tolist()[0], zero_point.tolist()[0])
            args += (observer.quant_min, observer.quant_max, observer.dtype)
            value = model.graph.call_function(operator.default, args)
    node.replace_all_uses_with(value)
    model.graph.erase_node(node)


def observed_nodes__as_a_table(program):
    numbers = {
        "fused": "x 0, first 1, second 2", "branch": "x 0, first 1, second 2, relu 3",
        "float": "x 0, first 1, softmax 2, second 3", "joined": "x 0, first 0, cat 0, second 1",
        "scaled": "x 0, first 1, mul 1, relu 1",
    }  # fmt: skip
    return numbers.get(program, "x 0, head 1, reshape 1").split(", ")


def observed_nodes__as_pairs(program):
    nodes = {
        "example": (("x", 0), ("head", 1), ("reshape", 1)), "fused": (("x", 0), ("first", 1), ("second", 2)),
        "branch": (("x", 0), ("first", 1), ("second", 2), ("relu", 3)),
        "float": (("x", 0), ("first", 1), ("softmax", 2), ("second", 3)),
        "joined": (("x", 0), ("first", 0), ("cat", 0), ("second", 1)),
        "scaled": (("x", 0), ("first", 1), ("mul", 1), ("relu", 1)),
    }[program]  # fmt: skip
    return tuple(f"{name} {number}" for name, number in nodes)


# Pruning


def weight_norm_mask__in_numpy(norms, sparsity_level, sparse_block_shape, zeros_per_block):
    norms = norms.numpy().astype(np.float64)
    (height, width), (h, w) = norms.shape, sparse_block_shape
    corners = [(i, j) for i in range(0, height, h) for j in range(0, width, w)]
    order = sorted(corners, key=lambda at: norms[at[0] : at[0] + h, at[1] : at[1] + w].mean())
    most = len(corners) - 1 if sparsity_level < 1 else len(corners)
    mask = np.ones(norms.shape, bool)
    for i, j in order[: min(most, round(sparsity_level * len(corners)))]:
        inside = [(a, b) for a in range(i, min(i + h, height)) for b in range(j, min(j + w, width))]
        for at in sorted(inside, key=lambda at: norms[at])[:zeros_per_block]:
            mask[at] = False
    return rl.from_numpy(mask)


def weight_norm_mask__with_topk(norms, sparsity_level, sparse_block_shape, zeros_per_block):
    h, w = sparse_block_shape
    slices = [
        (slice(i, i + h), slice(j, j + w)) for i in range(0, norms.shape[0], h) for j in range(0, norms.shape[1], w)
    ]
    count = len(slices)
    if sparsity_level < 1:
        count = min(count - 1, round(count * sparsity_level))
    chosen = sorted(range(len(slices)), key=lambda i: norms[slices[i]].mean().item())[:count]
    mask = rl.zeros(norms.shape) == 0
    for i in chosen:
        part = norms[slices[i]].flatten()
        indices = part.topk(min(zeros_per_block, part.numel()), largest=False)[1].tolist()
        mask[slices[i]] = rl.tensor([k not in indices for k in range(part.numel())]).view(norms[slices[i]].shape)
    return mask


def weight_norm_mask__by_slices(norms, sparsity_level, sparse_block_shape, zeros_per_block):
    (height, width), (h, w) = norms.shape, sparse_block_shape
    blocks = [
        (slice(top, top + h), slice(left, left + w)) for top in range(0, height, h) for left in range(0, width, w)
    ]
    means = F.stack([norms[block].mean() for block in blocks])
    count = len(blocks) if sparsity_level >= 1 else min(round(sparsity_level * len(blocks)), len(blocks) - 1)
    mask = norms == norms
    for i in F.argsort(means)[:count].tolist():
        stays = mask[blocks[i]].reshape(-1).clone()
        stays[F.argsort(norms[blocks[i]].reshape(-1))[:zeros_per_block]] = False
        mask[blocks[i]] = stays.reshape(norms[blocks[i]].shape)
    return mask


def cubic_sparsity__by_the_remaining_share(s_0, s_f, t, t_0, dt, n, initially_zero=False):
    if t < t_0 and initially_zero:
        return 0
    left = 1 - (t - t_0) / (n * dt)
    level = s_f - (s_f - s_0) * left * left * left
    level = s_f if level > s_f else level
    return s_0 if level < s_0 else level


def cubic_sparsity__with_pow(s_0, s_f, t, t_0, dt, n, initially_zero=False):
    level = s_f + (s_0 - s_f) * pow((t_0 + dt * n - t) / (dt * n), 3)
    return 0 if initially_zero and t < t_0 else max(min(level, s_f), s_0)


# ---- export ----------------------------------------------------------------------------------------------------------


def input_specs__largest_numbers(parameters, buffers, constants, user_inputs):
    """As torch: the largest number is kept for each beginning."""
    largest, used = defaultdict(int), set()

    def choose(text):
        text = "".join(c if c.isascii() and c.isalnum() else "_" for c in text).lower()
        name = f"{text}_{largest[text] + 1}" if text in used else text
        found = re.match(r"(.*)_(\d+)", name)
        if found:
            largest[found[1]] = max(largest[found[1]], int(found[2]))
        used.add(name)
        return TensorArgument(name=name)

    users = []
    for first, *rest in user_inputs:
        name = first
        for key in rest:
            name += f"_{key}"
        users.append(InputSpec(kind=InputKind.USER_INPUT, arg=choose(name), target=None, persistent=None))
    found = []
    for name in parameters:
        found.append(InputSpec(InputKind.PARAMETER, choose("p_" + name), name, None))
    for name in buffers:
        found.append(InputSpec(InputKind.BUFFER, choose("b_" + name), name, buffers[name]))
    for name in constants:
        found.append(InputSpec(InputKind.CONSTANT_TENSOR, choose("c_" + name), name, None))
    found.extend(users)
    return found


def input_specs__table_of_wishes(parameters, buffers, constants, user_inputs):
    wishes = [(InputKind.USER_INPUT, "_".join(str(key) for key in path), None, None) for path in user_inputs]
    count = len(wishes)
    wishes += [(InputKind.PARAMETER, "p_" + name, name, None) for name in parameters]
    wishes += [(InputKind.BUFFER, "b_" + name, name, persistent) for name, persistent in buffers.items()]
    wishes += [(InputKind.CONSTANT_TENSOR, "c_" + name, name, None) for name in constants]
    specs, names = [], []
    for kind, wish, target, persistent in wishes:
        wish = re.sub(r"[^A-Za-z0-9]", "_", wish).lower()
        name = wish
        if name in names:
            number = 0
            for other in names:
                parts = re.match(r"(.*)_(\d+)", other)
                if parts is not None and parts.group(1) == wish:
                    number = max(number, int(parts.group(2)))
            name = f"{wish}_{number + 1}"
        names.append(name)
        specs.append(InputSpec(kind, TensorArgument(name), target, persistent))
    return specs[count:] + specs[:count]


def output_specs__by_kind(inputs, new_values, results):
    found = []
    for spec in inputs:
        node = new_values.get(spec.arg.name)
        if node is None:
            continue
        kind = MUTATIONS[spec.kind]
        target = spec.target if spec.target is not None else spec.arg.name
        found.append(OutputSpec(kind=kind, arg=TensorArgument(node.name), target=target))
    for each in results:
        if isinstance(each, Node):
            found.append(OutputSpec(OutputKind.USER_OUTPUT, TensorArgument(each.name), None))
        else:
            found.append(OutputSpec(OutputKind.USER_OUTPUT, ConstantArgument(name="", value=each), None))
    return found


def output_specs__two_lists(inputs, new_values, results):
    written = [spec for spec in inputs if spec.arg.name in new_values]
    return [
        *(
            OutputSpec(MUTATIONS[s.kind], TensorArgument(new_values[s.arg.name].name), s.target or s.arg.name)
            for s in written
        ),
        *(
            OutputSpec(
                OutputKind.USER_OUTPUT, TensorArgument(x.name) if isinstance(x, Node) else ConstantArgument("", x), None
            )
            for x in results
        ),
    ]


def run_lifted__indices(signature, run, state, user_inputs):
    users = [spec for spec in signature.input_specs if spec.kind is InputKind.USER_INPUT]
    given = {spec.arg.name: user_inputs[i] for i, spec in enumerate(users)}
    values = run(*[state[s.target] if s.target is not None else given[s.arg.name] for s in signature.input_specs])
    for i, spec in enumerate(signature.output_specs):
        if spec.kind is not OutputKind.USER_OUTPUT:
            where = given if spec.kind is OutputKind.USER_INPUT_MUTATION else state
            where[spec.target].copy_(values[i])
    return [values[i] for i, spec in enumerate(signature.output_specs) if spec.kind is OutputKind.USER_OUTPUT]


def run_lifted__queue(signature, run, state, user_inputs):
    queue, arguments, names = list(user_inputs), [], {}
    for spec in signature.input_specs:
        if spec.kind == InputKind.USER_INPUT:
            names[spec.arg.name] = queue[0]
            arguments.append(queue.pop(0))
        else:
            arguments.append(state[spec.target])
    outputs = list(run(*arguments))
    results = []
    for spec in signature.output_specs:
        value = outputs.pop(0)
        if spec.kind == OutputKind.USER_OUTPUT:
            results += [value]
        else:
            (names if spec.kind == OutputKind.USER_INPUT_MUTATION else state)[spec.target].copy_(value)
    return results


def _limits(dim):
    if not isinstance(dim, Dim):
        return 2, float("inf")
    return max(2, dim.min), float("inf") if dim.max is None else dim.max


def constraints__roots(symbols, guards):
    """Each group has a root, as in union-find."""
    parent = {name: name for name in symbols}

    def root(name):
        while parent[name] != name:
            name = parent[name]
        return name

    for guard in guards:
        if guard.other in symbols:
            parent[root(guard.symbol)] = root(guard.other)
    found = {}
    for name in symbols:
        members = [each for each in symbols if root(each) == root(name)]
        dims = [symbols[each].dim for each in members]
        named = [dim for dim in dims if isinstance(dim, Dim)]
        lower, upper = max(_limits(dim)[0] for dim in dims), min(_limits(dim)[1] for dim in dims)
        first = lower, upper
        bad = len(named) >= 2
        for guard in guards:
            if guard.symbol not in members or guard.other in symbols:
                continue
            number = guard.other
            if guard.comparison == "!=":
                bad = bad or bool(named) and first[0] <= number <= first[1]
            if guard.comparison in ("==", ">=", ">"):
                lower = max(lower, number + 1 if guard.comparison == ">" else number)
            if guard.comparison in ("==", "<=", "<"):
                upper = min(upper, number - 1 if guard.comparison == "<" else number)
        if bad or named and (lower, upper) != first or lower == upper and any(d is Dim.DYNAMIC for d in dims):
            raise ConstraintViolationError(name)
        if named:
            found[name] = ValueRange(named[0].min, named[0].max)
        elif lower == upper:
            found[name] = lower
        else:
            found[name] = ValueRange(lower, None if upper == float("inf") else upper)
    return found


def constraints__sets_of_sizes(symbols, guards):
    """A range is the set of its sizes up to a large one, which stands for no limit."""
    most = 2000
    compare = {
        "<": int.__lt__, "<=": int.__le__, ">": int.__gt__, ">=": int.__ge__, "==": int.__eq__, "!=": lambda n, m: True,
    }  # fmt: skip
    groups = [{name} for name in symbols]
    for guard in guards:
        if guard.other in symbols:
            one, other = ({*g} for g in groups if guard.symbol in g), ({*g} for g in groups if guard.other in g)
            joined = next(one) | next(other)
            groups = [group for group in groups if not group & joined] + [joined]
    sizes = {}
    for group in groups:
        named = [symbols[name].dim for name in group if isinstance(symbols[name].dim, Dim)]
        if len(named) > 1:
            raise ConstraintViolationError("equal")
        wanted = set(range(2, most))
        for dim in named:
            wanted &= set(range(dim.min, most if dim.max is None else dim.max + 1))
        allowed = set(wanted)
        for symbol, comparison, other in guards:
            if symbol in group and other not in symbols:
                allowed = {size for size in allowed if compare[comparison](size, other)}
                if comparison == "!=" and named and other in wanted:
                    raise ConstraintViolationError("excluded")
        if named and allowed != wanted:
            raise ConstraintViolationError("narrower")
        if len(allowed) == 1 and Dim.DYNAMIC in [symbols[name].dim for name in group]:
            raise ConstraintViolationError("specialised")
        for name in group:
            if named:
                sizes[name] = ValueRange(named[0].min, named[0].max)
            elif len(allowed) == 1:
                sizes[name] = next(iter(allowed))
            else:
                sizes[name] = ValueRange(min(allowed), None if max(allowed) == most - 1 else max(allowed))
    return {name: sizes[name] for name in symbols}


def exported_sizes__tuple(program):
    return {
        "example": ("5..",),
        "loop": ("8",),
        "weight": ("8",),
        "batch": ("2..", "1"),
        "limits": ("4..",),
        "wish": ("refused",),
        "data": ("refused",),
        "pair": ("refused",),
        "twins": ("2..16", "2..16"),
    }[program]


def exported_sizes__refusals(program):
    if program in ("wish", "data", "pair"):
        return ["refused"]
    answers = {"example": "5..", "loop": "8", "weight": "8", "batch": "2.. 1", "limits": "4..", "twins": "2..16 2..16"}
    return answers[program].split()


def serialize_argument__match(arg, base="Tensor"):
    match arg:
        case None:
            return {"as_none": True}
        case bool():
            return {"as_bool": arg}
        case int():
            return {"as_int": arg}
        case float():
            return {"as_float": encode_float(arg)}
        case str():
            return {"as_string": arg}
        case Node():
            return {"as_sym_int": {"as_name": arg.name}} if is_sym_int(arg) else {"as_tensor": {"name": arg.name}}
        case list() | tuple():
            kinds = {"size" if is_sym_int(x) else "node" if isinstance(x, Node) else type(x) for x in arg}
            plain = {bool: "as_bools", int: "as_ints", str: "as_strings"}
            if not kinds:
                return {EMPTY_LISTS[base]: []}
            if len(kinds) == 1 and [*kinds][0] in plain:
                return {plain[kinds.pop()]: [*arg]}
            if kinds == {float}:
                return {"as_floats": [encode_float(x) for x in arg]}
            if kinds <= {"size", int}:
                return {"as_sym_ints": [{"as_name": x.name} if is_sym_int(x) else {"as_int": x} for x in arg]}
            if kinds == {"node"}:
                return {"as_tensors": [{"name": x.name} for x in arg]}
            if kinds <= {"node", type(None)}:
                items = [{"as_none": True} if x is None else {"as_tensor": {"name": x.name}} for x in arg]
                return {"as_optional_tensors": items}
            raise SerializeError("a list of many kinds")
        case _:
            return serialize_object(arg)


def serialize_argument__items_first(arg, base="Tensor"):
    """The items of a list are serialised one by one, and their kinds decide."""
    if isinstance(arg, (list, tuple)):
        if len(arg) == 0:
            return {EMPTY_LISTS[base]: []}
        items = [serialize_argument__items_first(item, base) for item in arg]
        kinds = {next(iter(item)) for item in items}
        if kinds <= {"as_int", "as_sym_int"} and kinds != {"as_int"}:
            return {"as_sym_ints": [item.get("as_sym_int", item) for item in items]}
        if kinds <= {"as_tensor", "as_none"} and "as_none" in kinds:
            return {"as_optional_tensors": items}
        if len(kinds) > 1 or kinds & {"as_scalar_type", "as_device", "as_memory_format", "as_layout"}:
            raise SerializeError(str(kinds))
        if any(isinstance(item, (list, tuple)) for item in arg):
            raise SerializeError("a list of lists")
        (kind,) = kinds
        return {f"{kind}s": [item[kind] for item in items]}
    if isinstance(arg, Node):
        return {"as_sym_int": {"as_name": arg.name}} if is_sym_int(arg) else {"as_tensor": {"name": arg.name}}
    kinds = {type(None): "as_none", bool: "as_bool", int: "as_int", str: "as_string", float: "as_float"}
    if type(arg) not in kinds:
        return serialize_object(arg)
    value = True if arg is None else encode_float(arg) if type(arg) is float else arg
    return {kinds[type(arg)]: value}


def deserialize_argument__table(data, values):
    kind = next(iter(data))
    value = data[kind]
    readers = {
        "as_none": lambda x: None,
        "as_bool": lambda x: x,
        "as_int": lambda x: x,
        "as_string": lambda x: x,
        "as_float": float,
        "as_tensor": lambda x: values[x["name"]],
        "as_sym_int": lambda x: values[x["as_name"]],
        "as_bools": list,
        "as_ints": list,
        "as_strings": list,
        "as_floats": lambda x: list(map(float, x)),
        "as_tensors": lambda x: [values[each["name"]] for each in x],
        "as_sym_ints": lambda x: [values[each["as_name"]] if "as_name" in each else each["as_int"] for each in x],
        "as_optional_tensors": lambda x: [None if "as_none" in e else values[e["as_tensor"]["name"]] for e in x],
    }
    return readers[kind](value) if kind in readers else deserialize_object(data)


def deserialize_argument__recursive(data, values):
    kind, value = [*data.items()][0]
    if kind == "as_none":
        return None
    if kind in ("as_tensor", "as_sym_int"):
        return values[value.get("name") or value["as_name"]]
    if kind == "as_tensors":
        return [deserialize_argument__recursive({"as_tensor": each}, values) for each in value]
    if kind == "as_sym_ints":
        return [each["as_int"] if "as_int" in each else values[each["as_name"]] for each in value]
    if kind == "as_optional_tensors":
        return [deserialize_argument__recursive(each, values) for each in value]
    if kind in ("as_float", "as_floats"):
        return float(value) if kind == "as_float" else [float(each) for each in value]
    if kind in ("as_bool", "as_int", "as_string"):
        return value
    if kind in ("as_bools", "as_ints", "as_strings"):
        return [*value]
    return deserialize_object(data)


def run_graph__small_functions(graph, inputs, call):
    values = {}

    def give(outputs, result):
        first = outputs[0]
        if "as_tensors" in first:
            give_each([each["name"] for each in first["as_tensors"]], result)
        elif len(outputs) > 1:
            give_each([each["as_tensor"]["name"] for each in outputs], result)
        else:
            ((kind, name),) = first.items()
            values[name["name" if kind == "as_tensor" else "as_name"]] = result

    def give_each(names, results):
        for name, result in zip(names, results):
            values[name] = result

    for argument, value in zip(graph["inputs"], inputs):
        if "as_tensor" in argument:
            give([argument], value)
    for node in graph["nodes"]:
        read = [(each["kind"], each["name"], deserialize_argument(each["arg"], values)) for each in node["inputs"]]
        args = [value for kind, _, value in read if kind == 1]
        give(node["outputs"], call(node, args, {name: value for kind, name, value in read if kind == 2}))
    return [deserialize_argument(each, values) for each in graph["outputs"]]


def run_graph__names_first(graph, inputs, call):
    values = {}
    for i, argument in enumerate(graph["inputs"]):
        for kind, each in argument.items():
            if kind == "as_tensor":
                values[each["name"]] = inputs[i]
    for node in graph["nodes"]:
        args = [deserialize_argument(each["arg"], values) for each in node["inputs"] if each["kind"] != 2]
        kwargs = {
            each["name"]: deserialize_argument(each["arg"], values) for each in node["inputs"] if each["kind"] == 2
        }
        result = call(node, args, kwargs)
        names, is_list = [], len(node["outputs"]) > 1
        for output in node["outputs"]:
            is_list = is_list or "as_tensors" in output
            for each in output.get("as_tensors") or [output.get("as_tensor") or output["as_sym_int"]]:
                names.append(each.get("name") or each["as_name"])
        values.update(zip(names, result if is_list else [result]))
    return [deserialize_argument(each, values) for each in graph["outputs"]]


def verify_graph__events(graph, is_known):
    """A list of (gives, argument) in order, then one loop."""
    events = [(True, each) for each in graph["inputs"]]
    for node in graph["nodes"]:
        if not is_known(node["target"]):
            raise SpecViolationError("unknown operator")
        numbers = [each["kind"] for each in node["inputs"]]
        for i, number in enumerate(numbers):
            if number not in (1, 2) or i and number < numbers[i - 1]:
                raise SpecViolationError("arguments in a wrong order")
        events += [(False, each["arg"]) for each in node["inputs"]] + [(True, each) for each in node["outputs"]]
    events += [(False, each) for each in graph["outputs"]]
    known = []
    for gives, argument in events:
        if len(argument) != 1 or not set(argument) <= set(KINDS):
            raise SpecViolationError("no argument")
        for name in names_in(argument):
            if gives and (name in known or IDENTIFIER.fullmatch(name) is None):
                raise SpecViolationError("no new name")
            if gives:
                known.append(name)
            elif name not in known:
                raise SpecViolationError("no value")


def verify_graph__asserts(graph, is_known):
    def must(holds):
        if not holds:
            raise SpecViolationError("the graph must not run")

    def names(argument):
        must(len(argument) == 1 and all(kind in KINDS for kind in argument))
        return names_in(argument)

    values = set()

    def add(arguments):
        for argument in arguments:
            for name in names(argument):
                must(name not in values and IDENTIFIER.fullmatch(name))
                values.add(name)

    add(graph["inputs"])
    for node in graph["nodes"]:
        must(is_known(node["target"]))
        must(re.fullmatch("1*2*", "".join(str(each["kind"]) for each in node["inputs"])))
        must(all(name in values for each in node["inputs"] for name in names(each["arg"])))
        add(node["outputs"])
    must(all(name in values for argument in graph["outputs"] for name in names(argument)))
