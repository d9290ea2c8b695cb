"""Wrong answers to lab 10b that a student might well give and that no mutant of the reference is: each fails on an edge.

A function's name is its exercise's, two underscores, and what is wrong.
"""

import sys

import rushlight as rl
from rushlight.ao.nn.quantized.functional import integer_product, zero_point_corrections
from rushlight.ao.pruning.scheduler import cubic_sparsity
from rushlight.ao.pruning.sparsifier import weight_norm_mask
from rushlight.ao.quantization.fx import convert
from rushlight.ao.quantization.fx.match_utils import is_match, matched_nodes, pattern_length
from rushlight.ao.quantization.fx.prepare import is_observer
from rushlight.aten.generated import functions as F
from rushlight.course import predictions
from rushlight.fx.node import Node
from rushlight.nn.utils.fusion import fuse_conv_bn_weights

from ..shared import copied, edited

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


def zero_point_corrections__from_the_products(x, weight, x_zero_point, weight_zero_points):
    a, b = x.to(rl.int32) - x_zero_point, weight.to(rl.int32) - weight_zero_points.reshape(-1, 1)
    return a @ b.t() - x.to(rl.int32) @ weight.to(rl.int32).t()


zero_point_corrections__without_the_sums_of_x = edited(
    zero_point_corrections, ("- x_sums * weight_zero_points", "- 0 * x_sums")
)
zero_point_corrections__without_the_sums_of_weight = edited(
    zero_point_corrections, (" - weight_sums * x_zero_point", "")
)
zero_point_corrections__subtracts_the_constant = edited(zero_point_corrections, ("return constant", "return -constant"))
zero_point_corrections__adds_the_sums_of_x = edited(zero_point_corrections, ("- x_sums", "+ x_sums"))
zero_point_corrections__adds_the_sums_of_weight = edited(zero_point_corrections, ("- weight_sums", "+ weight_sums"))
zero_point_corrections__constant_of_one_column = edited(
    zero_point_corrections, ("(x_zero_point * x.shape[1])", "x_zero_point")
)


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


def linear__of_dequantised_numbers(x, weight, bias, x_qparams, weight_qparams, qparams, relu=False):
    a = (x.float() - x_qparams[1]) * x_qparams[0]
    b = (weight.float() - weight_qparams[1].float().reshape(-1, 1)) * weight_qparams[0].reshape(-1, 1)
    values = a @ b.t() if bias is None else a @ b.t() + bias
    rounded = F.round(values / qparams[0]) + qparams[1]
    return F.clamp(rounded, qparams[1] if relu else 0, 255).to(rl.uint8)


def linear__sums_of_doubles(x, weight, bias, x_qparams, weight_qparams, qparams, relu=False):
    a, b = x.double() - x_qparams[1], weight.double() - weight_qparams[1].double().reshape(-1, 1)
    sums, unit = (a.unsqueeze(1) * b).sum(2), weight_qparams[0] * x_qparams[0]
    values = sums.float() if bias is None else sums.float() + bias / unit
    rounded = F.round(values * (unit / qparams[0])) + qparams[1]
    return F.clamp(rounded, qparams[1] if relu else 0, 255).to(rl.uint8)


def linear__relu_at_zero(x, weight, bias, x_qparams, weight_qparams, qparams, relu=False):
    sums = integer_product(x, weight) + zero_point_corrections(x, weight, x_qparams[1], weight_qparams[1])
    unit = weight_qparams[0] * x_qparams[0]
    values = sums.float() if bias is None else sums.float() + bias / unit
    rounded = F.round(values * (unit / qparams[0])) + qparams[1]
    rounded = F.relu(rounded) if relu else rounded
    return F.clamp(rounded, 0, 255).to(rl.uint8)


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


fuse_conv_bn_weights__in_place = edited(fuse_conv_bn_weights, ("rsqrt(bn_rv + bn_eps)", "rsqrt(bn_rv.add_(bn_eps))"))
fuse_conv_bn_weights__of_four_dimensions_at_most = edited(
    rl.nn.utils.fusion.fuse_conv_bn_weights, ("conv_w.dim() - 1", "min(conv_w.dim(), 4) - 1")
)
fuse_conv_bn_weights__in_the_dtype_of_the_weight = edited(
    rl.nn.utils.fusion.fuse_conv_bn_weights, ("bn_rv + bn_eps)", "bn_rv + bn_eps).to(conv_w.dtype)")
)
fuse_conv_bn_weights__channels_last = edited(
    rl.nn.utils.fusion.fuse_conv_bn_weights, ("[-1] + [1] * (conv_w.dim() - 1)", "[1] * (conv_w.dim() - 1) + [-1]")
)
fuse_conv_bn_weights__by_the_variance = edited(
    rl.nn.utils.fusion.fuse_conv_bn_weights, ("functions.rsqrt(bn_rv + bn_eps)", "1 / (bn_rv + bn_eps)")
)
fuse_conv_bn_weights__bias_not_scaled = edited(
    rl.nn.utils.fusion.fuse_conv_bn_weights, ("conv_b - bn_rm)", "conv_b / factor - bn_rm)")
)
fuse_conv_bn_weights__copies_into_parameters = edited(
    rl.nn.utils.fusion.fuse_conv_bn_weights,
    ("Parameter(weight.to(conv_w.dtype), conv_w.requires_grad)", "Parameter(weight * 0, False)"),
    ("weight * 0, False)", "functions.empty_like(conv_w.detach()), False).copy_(weight)"),
    ("copy_(weight)", "copy_(weight if conv_w.requires_grad else weight.detach())"),
)
fuse_conv_bn_weights__tensors = edited(
    rl.nn.utils.fusion.fuse_conv_bn_weights,
    ("Parameter(weight.to(conv_w.dtype), ", "weight.to(conv_w.dtype).detach().requires_grad_("),
    ("Parameter(bias.to(b_dtype), ", "bias.to(b_dtype).detach().requires_grad_("),
)
fuse_conv_bn_weights__in_the_dtype_of_the_norm = edited(
    rl.nn.utils.fusion.fuse_conv_bn_weights, ("weight.to(conv_w.dtype)", "weight"), ("bias.to(b_dtype)", "bias")
)
fuse_conv_bn_weights__rounds_the_factor = edited(
    rl.nn.utils.fusion.fuse_conv_bn_weights, ("(conv_w.dim() - 1))", "(conv_w.dim() - 1)).to(conv_w.dtype)")
)


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


_is_match = copied(is_match)


def is_match__without_constants(modules, node, pattern, max_uses=sys.maxsize):
    head, *inner = pattern if isinstance(pattern, tuple) else (pattern,)
    if not _is_match(modules, node, head, max_uses):
        return False
    args = [arg for arg in node.args if isinstance(arg, Node)]
    if inner and len(inner) != len(args):
        return False
    return all(is_match__without_constants(modules, arg, each, 1) for arg, each in zip(args, inner))


def is_match__exactly_max_uses(modules, node, pattern, max_uses=None):
    head, *inner = pattern if isinstance(pattern, tuple) else (pattern,)
    if (
        not _is_match(modules, node, head)
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


observed_nodes__relu_with_an_observer_of_its_own = edited(
    predictions.observed_nodes,
    ('"relu 0", "add 1", "sin 2", "reshape 2", "first 3"', '"relu 1", "add 2", "sin 3", "reshape 3", "first 4"'),
)
observed_nodes__for_another_name = edited(predictions.observed_nodes, ('"Ada"', '"ada"'))


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


weight_norm_mask__by_sums = edited(weight_norm_mask, ("argsort(sums / sizes)", "argsort(sums)"))
weight_norm_mask__prunes_the_norms = edited(
    weight_norm_mask, ("    return mask[", "    norms.mul_(mask[:height, :width])\n    return mask[")
)


cubic_sparsity__between_the_smaller_and_the_larger = edited(
    cubic_sparsity, ("return max(s_0, min(s_f, level))", "return max(min(s_0, s_f), min(max(s_0, s_f), level))")
)


def cubic_sparsity__without_a_beginning(s_0, s_f, t, t_0, dt, n, initially_zero=False):
    if t < t_0:
        return 0.0 if initially_zero else s_f
    return max(s_0, min(s_f, s_f + (s_0 - s_f) * (1.0 - (t - t_0) / (dt * n)) ** 3))
