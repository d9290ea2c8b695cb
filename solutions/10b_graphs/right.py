"""Correct answers to lab 10b in other styles than the reference's: every check must accept them.

A function's name is its exercise's, two underscores, and the style.
"""

import sys

import numpy as np

import rushlight as rl
from rushlight.ao.nn.quantized.functional import integer_product, zero_point_corrections
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
from rushlight.course import predictions
from rushlight.fx.node import Node, map_arg

from ..shared import copied

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


_observed_nodes = copied(predictions.observed_nodes)


def observed_nodes__with_a_second_draw():
    right = _observed_nodes()
    return {"h": [], "g": [], "f": [], "e": []} | {key: right[key] for key in reversed(right)}


def observed_nodes__in_tuples():
    right = _observed_nodes()
    return {key: value if key == "name" else tuple(value) for key, value in right.items()}


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
