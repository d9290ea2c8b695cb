"""Correct answers to lab 04 in other styles than the reference's: every check must accept them.

A function's name is its exercise's, two underscores, and the style.
"""

import heapq
import itertools
from collections import Counter, defaultdict

import numpy as np

import rushlight as rl
from rushlight.aten.generated import functions
from rushlight.aten.strided import Tensor
from rushlight.autograd import engine, graph, history
from rushlight.autograd.derivatives import maybe_multiply, restore_dims
from rushlight.autograd.function import attach, check_dirty, new_context
from rushlight.autograd.grad_mode import AUTOGRAD
from rushlight.autograd.graph import NO_EDGE, AutogradMeta, Edge, clone_obey_contract, grad_accumulator, save, with_edge
from rushlight.c10.dispatch import BIT, INFERENCE_KEYS, TENSOR_KEYS, local
from rushlight.c10.memory_formats import contiguous_format
from rushlight.utils.checkpoint import backward


class Refused(RuntimeError):
    """An error of one's own, of the right type."""


# The graph


def set_history__with_an_iterator(result, node, differentiable=None):
    several = isinstance(result, (list, tuple))
    tensors = result if several else [result]
    flags = itertools.repeat(True) if differentiable is None else differentiable
    for tensor, flag in zip(tensors, flags):
        if not flag or not tensor.dtype.is_floating_point:
            continue
        node.input_metadata += [(tensor._sizes, tensor.dtype)]
        tensor._autograd = AutogradMeta(grad_fn=node, output_nr=len(node.input_metadata) - 1)
    return result


def set_history__first_choosing(result, node, differentiable=None):
    tensors = list(result) if isinstance(result, (list, tuple)) else [result]
    wanted = [i for i in range(len(tensors)) if tensors[i].dtype.is_floating_point]
    if differentiable is not None:
        wanted = [i for i in wanted if differentiable[i]]
    for output_nr, i in enumerate(wanted):
        tensors[i]._autograd = meta = AutogradMeta()
        meta.grad_fn, meta.output_nr = node, output_nr
        node.input_metadata.append((tensors[i].shape, tensors[i].dtype))
    return result


def set_history__in_metadata_that_there_is(result, node, differentiable=None):
    results = result if isinstance(result, (list, tuple)) else (result,)
    for i, tensor in enumerate(results):
        if tensor.dtype.is_floating_point and (differentiable is None or differentiable[i]):
            if tensor._autograd is None:
                tensor._autograd = AutogradMeta()
            tensor._autograd.grad_fn = node
            tensor._autograd.output_nr = len(node.input_metadata)
            node.input_metadata.append((tensor._sizes, tensor.dtype))
    return result


def gradient_edge__by_the_public_attributes(tensor):
    if not isinstance(tensor, Tensor) or not tensor.requires_grad:
        return NO_EDGE
    if tensor.is_leaf:
        return Edge(grad_accumulator(tensor), 0)
    return Edge(node=tensor.grad_fn, input_nr=tensor.output_nr)


def gradient_edge__from_the_leaf_on(tensor):
    node = getattr(tensor, "grad_fn", None) if isinstance(tensor, Tensor) else None
    if node:
        return Edge(node, tensor._autograd.output_nr)
    meta = getattr(tensor, "_autograd", None)
    if meta is not None and meta.requires_grad:
        return Edge(grad_accumulator(tensor))
    return Edge(None)


def unpack_saved__in_two_parts(saved, node):
    own = Edge(node, saved.output_nr) if saved.is_output else None
    if saved.unpack_hook is not None:
        tensor = saved.unpack_hook(saved.packed)
        edge = own or saved.edge
        if edge.node is None:
            return tensor
        return with_edge(tensor, edge)
    if saved.version < saved.tensor._version:
        raise Refused(f"written to: version {saved.tensor._version}, not {saved.version}")
    return saved.tensor if own is None else with_edge(saved.tensor, own)


def unpack_saved__by_hand(saved, node):
    hooked = saved.unpack_hook is not None
    tensor = saved.unpack_hook(saved.packed) if hooked else saved.tensor
    if not hooked and tensor._storage.version - saved.version:
        raise Refused("written to")
    edge = NO_EDGE
    if saved.is_output:
        edge = Edge(node, saved.output_nr)
    elif hooked:
        edge = saved.edge
    return tensor if edge == NO_EDGE else with_edge(tensor, edge)


def check_inplace__in_one_condition(self):
    of_leaf = self._base is not None and self._base.is_leaf and self.requires_grad
    without_node = self._autograd is None or self._autograd.grad_fn is None
    if of_leaf or self._creation_meta or self.requires_grad and without_node:
        raise Refused("not in place")


def check_inplace__by_a_table(self):
    base = self if self._base is None else self._base
    refused = {
        "a view of a leaf": base is not self and self.requires_grad and base.grad_fn is None,
        "a leaf": self.requires_grad and getattr(self._autograd, "grad_fn", None) is None,
        "a view that cannot follow": self._creation_meta,
    }
    for what, is_so in refused.items():
        if is_so:
            raise Refused(what)


# Formulas


def sum_to__one_dimension_at_a_time(grad, sizes):
    if not sizes:
        return grad.sum()
    if tuple(grad.shape) == tuple(sizes):
        return grad
    while grad.dim() > len(sizes):
        grad = grad.sum(0)
    for d, size in enumerate(sizes):
        if size != grad.shape[d]:
            grad = grad.sum(d, True)
    return grad


def sum_to__with_reshape(grad, sizes):
    if len(sizes) and grad.shape == tuple(sizes):
        return grad
    padded = (1,) * (grad.dim() - len(sizes)) + tuple(sizes)
    dims = [d for d in range(grad.dim()) if padded[d] != grad.shape[d] or d < grad.dim() - len(sizes)]
    return grad.sum(dims, True).reshape(tuple(sizes))


def head_gradients__with_a_mask(x, weight, bias, target):
    classes = rl.arange(weight.shape[0])
    scores = x.mm(weight.t()) + bias
    logarithms = scores - rl.logsumexp(scores, 1, True)
    grads = {"NllLossBackward0": rl.tensor(1, dtype=x.dtype)}
    grads["LogSoftmaxBackward0"] = grad = -(target.unsqueeze(1) == classes).to(x.dtype) / x.shape[0]
    grads["AddmmBackward0"] = grad = grad - logarithms.exp() * grad.sum(1, keepdim=True)
    grads["TBackward0"] = (grad.t() @ x).t()
    grads["weight"] = grad.t() @ x
    grads["bias"] = rl.ones(len(x), dtype=x.dtype) @ grad
    grads["x"] = grad @ weight
    return grads


def head_gradients__row_by_row(x, weight, bias, target):
    n, features = x.shape
    log_softmax, addmm = (rl.zeros(n, len(bias), dtype=x.dtype) for _ in range(2))
    of_weight, of_bias = rl.zeros_like(weight), rl.zeros_like(bias)
    for i, token in enumerate(target.tolist()):
        scores = rl.stack([(x[i] * row).sum() for row in weight]) + bias
        powers = rl.exp(scores - scores.max())
        log_softmax[i, token] = -1 / n
        addmm[i] = powers / powers.sum() / n
        addmm[i, token] -= 1 / n
        of_bias += addmm[i]
        for k in range(len(bias)):
            of_weight[k] += addmm[i, k] * x[i]
    return defaultdict(
        list, x=(addmm.unsqueeze(2) * weight).sum(1), weight=of_weight, bias=of_bias, TBackward0=of_weight.transpose(0, 1),
        AddmmBackward0=addmm, LogSoftmaxBackward0=log_softmax, NllLossBackward0=x.new_ones(()),
    )  # fmt: skip


def mm_backward_mat1__transposing_at_the_end(grad, mat2, sizes, strides, alpha):
    column_by_column = tuple(strides) == (1, sizes[0])
    result = functions.mm(mat2, grad.t()).t() if column_by_column else functions.mm(grad, mat2.t())
    return result if alpha == 1 else result * alpha


def mm_backward_mat1__with_matmul(grad, mat2, sizes, strides, alpha):
    if list(strides) != [1, sizes[0]]:
        return maybe_multiply(grad @ mat2.transpose(0, 1), alpha)
    return maybe_multiply((mat2 @ grad.transpose(0, 1)).transpose(0, 1), alpha)


def mm_backward_mat2__transposing_at_the_end(grad, mat1, sizes, strides, alpha):
    column_by_column = tuple(strides) == (1, sizes[0])
    result = functions.mm(grad.t(), mat1).t() if column_by_column else functions.mm(mat1.t(), grad)
    return result if alpha == 1 else result * alpha


def mm_backward_mat2__with_matmul(grad, mat1, sizes, strides, alpha):
    if list(strides) != [1, sizes[0]]:
        return maybe_multiply(mat1.transpose(0, 1) @ grad, alpha)
    return maybe_multiply((grad.transpose(0, 1) @ mat1).transpose(0, 1), alpha)


# The engine


def count_dependencies__in_two_passes(roots):
    seen, waiting = set(), list(roots)
    while waiting:
        node = waiting.pop(0)
        if node not in seen:
            seen.add(node)
            waiting += [successor for successor, _ in node.next_functions if successor]
    counts = Counter(edge.node for node in seen for edge in node.next_edges)
    return {node: counts[node] for node in seen}


def count_dependencies__by_edges(roots):
    counts = defaultdict(int)
    todo = []

    def visit(node):
        if node not in counts:
            counts[node] += 0
            todo.extend(edge.node for edge in node.next_edges if edge.node is not None)

    for root in roots:
        visit(root)
    while todo:
        node = todo.pop()
        visit(node)
        counts[node] += 1
    return counts


def nodes_to_execute__until_nothing_changes(ends, reachable):
    ends, reachable = set(ends), sorted(reachable, key=lambda node: node.sequence_nr)
    found, size = set(), -1
    while size < len(found):  # mostly once: a node is younger than those that its edges lead to
        size = len(found)
        for node in reachable:
            if any(edge.node in ends or edge.node in found for edge in node.next_edges):
                found.add(node)
    return found


def nodes_to_execute__backwards_in_generations(ends, reachable):
    before = defaultdict(set)
    for node in reachable:
        for edge in node.next_edges:
            before[edge.node].add(node)
    found, last = frozenset(), set(ends)
    while last:
        last = set().union(*(before[node] for node in last)) - found
        found |= last
    return found


def accumulate__through_the_attribute(variable, grad):
    old = variable.grad
    if old is None:
        variable.grad = clone_obey_contract(grad, variable)
    elif rl.is_grad_enabled():
        variable.grad = old + grad
    else:
        old += grad


def accumulate__with_operators(variable, grad):
    meta = variable._autograd
    if meta.grad is not None:
        meta.grad = functions.add(meta.grad, grad) if local.grad_enabled else meta.grad.add_(grad)
        return
    meta.grad = clone_obey_contract(grad, variable)


def call_function__with_a_loop(node, grads, keep_graph):
    for hook in tuple((node.pre_hooks or {}).values()):
        grads = engine.apply_hook_result(grads, hook(tuple(grads)))
    found = []
    for i, (grad, edge) in enumerate(zip(node.apply(*grads), node.next_edges)):
        found.append(engine.validate(grad, edge, node, i))
    for hook in tuple((node.post_hooks or {}).values()):
        found = engine.apply_hook_result(found, hook(tuple(found), tuple(grads)))
    keep_graph or node.release_variables()
    return tuple(found)


def call_function__with_a_copy_of_the_hooks(node, grads, keep_graph):
    before = dict(node.pre_hooks) if node.pre_hooks is not None else {}
    for key in before:
        changed = before[key](tuple(grads))
        grads = engine.apply_hook_result(grads, changed)
    given = node.apply(*grads)
    outputs = [engine.validate(given[i], node.next_edges[i], node, i) for i in range(len(node.next_edges))]
    after = dict(node.post_hooks) if node.post_hooks is not None else {}
    for key in after:
        changed = after[key](tuple(outputs), tuple(grads))
        outputs = list(engine.apply_hook_result(outputs, changed))
    if keep_graph is False or not keep_graph:
        node.release_variables()
    return outputs


def execute__searching_for_the_newest(roots, grads, keep_graph, create_graph, captures=None):
    left = dict(engine.count_dependencies({edge.node for edge in roots}))
    waiting, found = {}, {}
    ends = {edge.node for edge in captures} if captures is not None else set()
    runs = set(left)
    if captures is not None:
        runs = set(engine.nodes_to_execute(ends, left)) | {edge.node for edge in captures if not captures[edge]}
    with rl.set_grad_enabled(create_graph):
        for edge, grad in zip(roots, grads):
            engine._add_input(waiting, edge.node, edge.input_nr, grad)
        while ready := [node for node in waiting if left[node] == 0]:
            node = max(ready, key=lambda node: node.sequence_nr)
            arrived = waiting.pop(node)
            if node not in runs | ends:
                continue
            given = engine._run_tensor_hooks(node, arrived)
            for edge, places in (captures or {}).items():
                if edge.node is node:
                    grad = (arrived if node in runs else given)[edge.input_nr]
                    found.update({place: grad for place in places if grad is not None})
            if node in runs:
                for edge, grad in zip(node.next_edges, engine.call_function(node, given, keep_graph)):
                    if edge.node is not None:
                        engine._add_input(waiting, edge.node, edge.input_nr, grad)
                        left[edge.node] -= 1
    return found


def execute__with_a_class_of_its_own(roots, grads, keep_graph, create_graph, captures=None):
    task = Task(roots, captures, keep_graph)
    before = local.grad_enabled
    local.grad_enabled = create_graph
    try:
        for edge, grad in zip(roots, grads):
            task.arrive(edge, grad)
        task.run()
    finally:
        local.grad_enabled = before
    return task.answer


class Task:
    def __init__(self, roots, captures, keep_graph):
        self.left = engine.count_dependencies([edge.node for edge in roots])
        self.captures, self.keep_graph = captures, keep_graph
        self.inputs, self.answer = {}, {}
        if captures is None:
            self.runs, self.visited = self.left, self.left
        else:
            ends = [edge.node for edge in captures]
            self.runs = engine.nodes_to_execute(ends, self.left) | {
                e.node for e, places in captures.items() if not places
            }
            self.visited = self.runs.union(ends)

    def arrive(self, edge, grad):
        engine._add_input(self.inputs, edge.node, edge.input_nr, grad)

    def run(self):
        heap = [(-node.sequence_nr, id(node), node) for node in self.inputs if not self.left[node]]
        heapq.heapify(heap)
        while heap:
            *_, node = heapq.heappop(heap)
            grads = self.inputs.pop(node)
            for successor in self.step(node, grads) if node in self.visited else []:
                self.left[successor] -= 1
                if not self.left[successor]:
                    heapq.heappush(heap, (-successor.sequence_nr, id(successor), successor))

    def step(self, node, arrived):
        grads = engine._run_tensor_hooks(node, arrived)
        kept = arrived if node in self.runs else grads
        for (owner, i), places in (self.captures or {}).items():
            if owner is node and kept[i] is not None:
                self.answer |= dict.fromkeys(places, kept[i])
        if node not in self.runs:
            return []
        pairs = list(zip(node.next_edges, engine.call_function(node, grads, self.keep_graph)))
        for edge, grad in pairs:
            if edge.node is not None:
                self.arrive(edge, grad)
        return [edge.node for edge, _ in pairs if edge.node is not None]


# Writing to views


def copy_slices__of_a_clone(function, grad, base, view):
    whole = functions.empty_strided(base[0], base[1], dtype=grad.dtype).copy_(grad)
    size, stride, offset = view
    window = whole.as_strided(size, stride, offset)
    found = function(window.clone(memory_format=contiguous_format))
    first, others = (found[0], list(found[1:])) if isinstance(found, (tuple, list)) else (found, [])
    if first is not None:
        window.copy_(first)
    return [None if first is None else whole] + others


def copy_slices__of_a_clone_made_contiguous(function, grad, base, view):
    result = functions.empty_strided(base[0], base[1], dtype=grad.dtype).copy_(grad)
    region = functions.as_strided(result, *view)
    first, *others = history._as_tuple(function(region.clone().contiguous()))
    if first is None:
        return [None, *others]
    region.copy_(first)
    return (result, *others)


def copy_slices__of_a_contiguous_region_cloned(function, grad, base, view):
    result = functions.empty_strided(base[0], base[1], dtype=grad.dtype).copy_(grad)
    region = functions.as_strided(result, *view)
    found = function(region.contiguous().clone())
    found = [*found] if isinstance(found, (tuple, list)) else [found]
    if found[0] is not None:
        region.copy_(found[0])
        found[0] = result
    return found


def copy_slices__from_zeros(function, grad, base, view):
    sizes, strides, _ = base
    result = grad.new_empty_strided(sizes, strides)
    result.zero_().add_(grad)
    part = result.as_strided(*view)
    gradients = history._as_tuple(function(part * 1 if part.is_contiguous() else part.contiguous()))
    if gradients[0] is None:
        return list(gradients)
    part.zero_()
    part += gradients[0]
    return [result, *gradients[1:]]


# Modes


def recording__with_a_list(enabled):
    stack = [local.grad_enabled]
    try:
        local.grad_enabled = enabled
        yield
    finally:
        local.grad_enabled = stack.pop()


def recording__within_another(enabled):
    with Restored("grad_enabled"):
        local.grad_enabled = enabled
        yield


class Restored:
    """Within: these attributes may change."""

    def __init__(self, *names):
        self.names = names

    def __enter__(self):
        self.values = [getattr(local, name) for name in self.names]

    def __exit__(self, *_):
        for name, value in zip(self.names, self.values):
            setattr(local, name, value)


def inferring__with_a_dict(enabled):
    names = ("inference", "grad_enabled", "tensor_keys", "excluded", "included")
    before = {name: getattr(local, name) for name in names}
    key = BIT["ADInplaceOrView"]
    now = {"inference": enabled, "grad_enabled": not enabled}
    now["tensor_keys"] = INFERENCE_KEYS if enabled else TENSOR_KEYS
    now["excluded"] = before["excluded"] | AUTOGRAD if enabled else before["excluded"] & ~AUTOGRAD
    now["included"] = before["included"] & ~key if enabled else before["included"] | key
    vars(local).update(now)
    try:
        yield
    finally:
        vars(local).update(before)


def inferring__within_another(enabled):
    with Restored("inference", "grad_enabled", "tensor_keys", "excluded", "included"):
        local.inference = enabled
        local.grad_enabled = not enabled
        local.tensor_keys = (TENSOR_KEYS, INFERENCE_KEYS)[enabled]
        local.excluded |= AUTOGRAD
        local.included |= BIT["ADInplaceOrView"]
        if enabled:
            local.included ^= BIT["ADInplaceOrView"]
        else:
            local.excluded ^= AUTOGRAD
        yield


# A function of one's own, and what is made of it


def apply__in_another_order(cls, *args):
    ctx = new_context(cls, args)
    ctx.needs_input_grad = tuple(isinstance(arg, Tensor) and arg.requires_grad for arg in args)
    recorded = rl.is_grad_enabled() and any(ctx.needs_input_grad)
    edges = [graph.gradient_edge(arg) for arg in args if isinstance(arg, Tensor)] if recorded else []
    with rl.no_grad():
        returned = cls.forward(ctx, *args)
    several = isinstance(returned, tuple)
    check_dirty(ctx, list(returned) if several else [returned])
    ctx.next_edges = edges
    results = []
    for each in returned if several else (returned,):
        results.append(attach(ctx, each, args, recorded))
    kept, ctx.to_save = ctx.to_save, ()
    if recorded:
        ctx.saved = [save(tensor, is_output=any(tensor is x for x in results)) for tensor in kept]
    return tuple(results) if several else results[0]


def apply__by_identities(cls, *args):
    places = [i for i, arg in enumerate(args) if isinstance(arg, Tensor)]
    ctx = new_context(cls, args)
    ctx.needs_input_grad = tuple(i in places and args[i].requires_grad for i in range(len(args)))
    recorded = history.any_requires_grad([args[i] for i in places])
    edges = list(map(graph.gradient_edge, (args[i] for i in places)))
    before = rl.is_grad_enabled()
    local.grad_enabled = False
    try:
        returned = cls.forward(ctx, *args)
    finally:
        local.grad_enabled = before
    outputs = list(returned) if isinstance(returned, tuple) else [returned]
    check_dirty(ctx, outputs)
    if recorded:
        ctx.next_edges = edges
    for i in range(len(outputs)):
        outputs[i] = attach(ctx, outputs[i], args, recorded)
    if recorded:
        own = set(map(id, outputs))
        ctx.saved = [save(tensor, tensor is not None and id(tensor) in own) for tensor in ctx.to_save]
    ctx.to_save = ()
    return tuple(outputs) if isinstance(returned, tuple) else outputs[0]


def logsumexp_backward__as_a_softmax(grad, self, result, dim, keepdim):
    dims = dim if isinstance(dim, (list, tuple)) else [dim]
    share = (self - restore_dims(result, self.dim(), dims, keepdim)).exp()
    return restore_dims(grad, self.dim(), dims, keepdim) * share


def logsumexp_backward__with_views(grad, self, result, dim, keepdim):
    dims = [dim] if isinstance(dim, int) else list(dim) or list(range(self.dim()))
    if self.dim() == 0:
        return grad * rl.exp(self - result)
    kept = [1 if d in [each % self.dim() for each in dims] else size for d, size in enumerate(self.shape)]
    return rl.exp(self - result.reshape(kept)) * grad.reshape(kept)


def numerical_gradient__by_columns(function, x, eps):
    values = x.detach().numpy()
    rows = []
    for index in np.ndindex(*values.shape):
        kept = values[index]
        values[index] = kept + eps
        up = function().detach().clone().reshape(-1)
        values[index] = kept - eps
        down = function().detach().clone().reshape(-1)
        values[index] = kept
        rows.append(((up - down) / (2 * eps)).tolist())
    return rows


def numerical_gradient__in_float64(function, x, eps):
    array = x.detach().numpy()

    def at(index, value):
        array[index] = value
        return np.array(function().detach().tolist(), dtype=np.float64).ravel()

    rows = []
    for place in range(array.size):
        index = np.unravel_index(place, array.shape)
        middle = float(array[index])
        slope = (at(index, middle + eps) - at(index, middle - eps)) / (2 * eps)
        array[index] = middle
        rows.append(slope.tolist())
    return rows


def numerical_gradient__through_data(function, x, eps):
    data, rows = x.data, []
    for index in itertools.product(*map(range, x.shape)):
        value = data[index].item()
        data[index] = value + eps
        above = function().reshape(-1).tolist()
        data[index] = value - eps
        below = function().reshape(-1).tolist()
        data[index] = value
        rows.append([(a - b) / (2 * eps) for a, b in zip(above, below)])
    return rows


def recompute__in_a_loop(ctx, *grads):
    again = []
    for arg, saved in zip(ctx.args, ctx.saved_tensors):
        if saved is not None:
            arg = saved.detach().requires_grad_(saved.requires_grad)
        again.append(arg)
    with rl.enable_grad():
        results = ctx.run(*again)
    if not isinstance(results, tuple):
        results = (results,)
    ends, given = [], []
    for result, grad in zip(results, grads):
        if isinstance(result, Tensor) and result.requires_grad:
            ends.append(result)
            given.append(grad)
    if ends == []:
        raise Refused("nothing to go back through")
    backward(ends, given)
    return (None,) + tuple(getattr(arg, "grad", None) for arg in again)


def recompute__with_the_engine(ctx, *grads):
    saved = ctx.saved_tensors
    again = [saved[i].detach() if saved[i] is not None else ctx.args[i] for i in range(len(saved))]
    for arg, kept in zip(again, saved):
        if kept is not None and kept.requires_grad:
            arg.requires_grad_()
    with rl.enable_grad():
        results = ctx.run(*again)
    results = results if isinstance(results, tuple) else (results,)
    pairs = [(graph.gradient_edge(x), grad) for x, grad in zip(results, grads)]
    pairs = [(edge, grad) for edge, grad in pairs if edge.node is not None]
    if not pairs:
        raise Refused("nothing to go back through")
    engine.execute([edge for edge, _ in pairs], [grad for _, grad in pairs], False, False)
    return (None, *(arg.grad if isinstance(arg, Tensor) else None for arg in again))


def backward_order__by_match(program):
    match program:
        case "exp":
            return ("SumBackward0", "MulBackward0", "ExpBackward0", "AccumulateGrad")
        case "head":
            linear = ["AddmmBackward0", "AccumulateGrad", "TBackward0", "AccumulateGrad"]
            return ["NllLossBackward0", "LogSoftmaxBackward0", *linear]
        case "detach":
            return ["SumBackward0", *["MulBackward0"] * 2, *["SliceBackward0"] * 2, "AccumulateGrad"]
        case "diamond":
            return [f"{name}Backward0" for name in ["Sum", "Mul", "Add", "Tanh", "Sigmoid"]] + ["AccumulateGrad"]
        case "no_grad":
            return ["SumBackward0", "ReluBackward0", "DivBackward0", "AccumulateGrad"]


def backward_order__from_a_text(program):
    text = """
    exp: Sum Mul Exp
    head: NllLoss LogSoftmax Addmm . T
    detach: Sum Mul Mul Slice Slice
    diamond: Sum Mul Add Tanh Sigmoid
    no_grad: Sum Relu Div
    """
    lines = dict(line.split(":") for line in text.split("\n") if ":" in line)
    names = {key.strip(): value.split() for key, value in lines.items()}[program]
    return [f"{name}Backward0" if name != "." else "AccumulateGrad" for name in [*names, "."]]


def saved_tensors__by_if(program):
    if program == "constant":
        return ["MulBackward0.other"]
    if program == "both":
        return ["MulBackward0.other", "MulBackward0.self", "ExpBackward0.result"]
    return ["MmBackward0.self"] if program == "input" else ["SigmoidBackward0.result", "ReluBackward0.result"]


def saved_tensors__as_tuples(program):
    saved = {
        "constant": (("Mul", "other"),),
        "both": (("Mul", "other"), ("Mul", "self"), ("Exp", "result")),
        "result": (("Sigmoid", "result"), ("Relu", "result")),
        "input": (("Mm", "self"),),
    }
    return tuple(f"{node}Backward0.{name}" for node, name in saved[program])
