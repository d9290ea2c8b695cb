"""Wrong answers to lab 04 that a student might well give and that no mutant of the reference is: each fails on an edge.

A function's name is its exercise's, two underscores, and what is wrong.
"""

import heapq
import itertools

import rushlight as rl
from rushlight.aten.generated import functions
from rushlight.aten.strided import Tensor
from rushlight.autograd import engine, graph, history
from rushlight.autograd.derivatives import restore_dims
from rushlight.autograd.function import attach, check_dirty, new_context
from rushlight.autograd.grad_mode import AUTOGRAD
from rushlight.autograd.graph import NO_EDGE, AutogradMeta, Edge, clone_obey_contract, grad_accumulator, save, with_edge
from rushlight.c10.dispatch import BIT, INFERENCE_KEYS, TENSOR_KEYS, local
from rushlight.c10.memory_formats import contiguous_format
from rushlight.utils.checkpoint import backward

# The graph


def set_history__numbers_all_results(result, node, differentiable=None):
    tensors = result if isinstance(result, (list, tuple)) else [result]
    for i, tensor in enumerate(tensors):
        if tensor.dtype.is_floating_point and (differentiable is None or differentiable[i]):
            tensor._autograd = AutogradMeta(False, node, i)
        node.input_metadata.append((tensor._sizes, tensor.dtype))
    return result


def set_history__has_the_number_among_all_results(result, node, differentiable=None):
    tensors = result if isinstance(result, (list, tuple)) else [result]
    for i, tensor in enumerate(tensors):
        if tensor.dtype.is_floating_point and (differentiable is None or differentiable[i]):
            tensor._autograd = AutogradMeta(False, node, i)
            node.input_metadata.append((tensor._sizes, tensor.dtype))
    return result


def set_history__makes_integers_require_grad(result, node, differentiable=None):
    tensors = result if isinstance(result, (list, tuple)) else [result]
    for i, tensor in enumerate(tensors):
        if differentiable is None or differentiable[i]:
            tensor._autograd = AutogradMeta(False, node, len(node.input_metadata))
            node.input_metadata.append((tensor._sizes, tensor.dtype))
    return result


def set_history__knows_one_result_only(result, node, differentiable=None):
    tensor = result[0] if isinstance(result, (list, tuple)) else result
    if tensor.dtype.is_floating_point and (differentiable is None or differentiable[0]):
        tensor._autograd = AutogradMeta(False, node, 0)
        node.input_metadata.append((tensor._sizes, tensor.dtype))
    return result


def gradient_edge__forgets_the_leaves(tensor):
    if not isinstance(tensor, Tensor) or tensor.grad_fn is None:
        return NO_EDGE
    return Edge(tensor.grad_fn, tensor._autograd.output_nr)


def gradient_edge__always_to_the_first_input(tensor):
    if not isinstance(tensor, Tensor) or not tensor.requires_grad:
        return NO_EDGE
    return Edge(tensor.grad_fn or grad_accumulator(tensor), 0)


def gradient_edge__makes_an_accumulator_each_time(tensor):
    if not isinstance(tensor, Tensor) or not tensor.requires_grad:
        return NO_EDGE
    if tensor.grad_fn is None:
        return Edge(graph.AccumulateGrad(tensor))
    return Edge(tensor.grad_fn, tensor._autograd.output_nr)


def gradient_edge__of_a_history_out_of_date(tensor):
    meta = tensor._autograd if isinstance(tensor, Tensor) else None
    if meta is None:
        return NO_EDGE
    if meta.grad_fn is not None:
        return Edge(meta.grad_fn, meta.output_nr)
    return Edge(grad_accumulator(tensor)) if meta.requires_grad else NO_EDGE


def unpack_saved__does_not_look_at_versions(saved, node):
    if saved.unpack_hook is not None:
        tensor, edge = saved.unpack_hook(saved.packed), Edge(node, saved.output_nr) if saved.is_output else saved.edge
        return with_edge(tensor, edge) if edge.node is not None else tensor
    return with_edge(saved.tensor, Edge(node, saved.output_nr)) if saved.is_output else saved.tensor


def unpack_saved__cuts_the_result_off(saved, node):
    if saved.unpack_hook is not None:
        tensor, edge = saved.unpack_hook(saved.packed), Edge(node, saved.output_nr) if saved.is_output else saved.edge
        return with_edge(tensor, edge) if edge.node is not None else tensor
    if saved.tensor._version != saved.version:
        raise RuntimeError("written to")
    return saved.tensor


def unpack_saved__of_the_first_result_only(saved, node):
    if saved.unpack_hook is not None:
        tensor, edge = saved.unpack_hook(saved.packed), Edge(node, 0) if saved.is_output else saved.edge
        return with_edge(tensor, edge) if edge.node is not None else tensor
    if saved.tensor._version != saved.version:
        raise RuntimeError("written to")
    return with_edge(saved.tensor, Edge(node, 0)) if saved.is_output else saved.tensor


def unpack_saved__looks_for_other_values(saved, node):
    if saved.unpack_hook is not None:
        tensor, edge = saved.unpack_hook(saved.packed), Edge(node, saved.output_nr) if saved.is_output else saved.edge
        return with_edge(tensor, edge) if edge.node is not None else tensor
    if saved.tensor._version > saved.version + 1:
        raise RuntimeError("written to")
    return with_edge(saved.tensor, Edge(node, saved.output_nr)) if saved.is_output else saved.tensor


def check_inplace__refuses_leaves_only(self):
    if self.requires_grad and self.is_leaf:
        raise RuntimeError("a leaf")


def check_inplace__makes_the_node_of_a_view(self):
    base = self._base
    if self._creation_meta or any(x is not None and x.is_leaf and x.requires_grad for x in (self, base)):
        raise RuntimeError("a leaf, a view of a leaf, or one of several views")


def check_inplace__refuses_all_views(self):
    if self.requires_grad and (self.is_leaf or self._base is not None):
        raise RuntimeError("a leaf or a view")


def check_inplace__refuses_leaves_that_require_nothing(self):
    base = self._base
    if self.is_leaf or self._creation_meta or base is not None and base.is_leaf and base.requires_grad:
        raise RuntimeError("a leaf")


def _refuse(self, creation_metas):
    without_node = self._autograd is None or self._autograd.grad_fn is None
    if self._creation_meta in creation_metas:
        raise RuntimeError("a view with a flag")
    if history.requires_grad(self) and (without_node or self._base is not None and self._base.is_leaf):
        raise RuntimeError("a leaf, or a view of a leaf")


def check_inplace__allows_views_made_in_no_grad(self):
    _refuse(self, (1, 2, 4))


def check_inplace__allows_views_made_in_inference_mode(self):
    _refuse(self, (1, 2, 3))


def check_inplace__allows_views_made_by_a_function(self):
    _refuse(self, (2, 3, 4))


def check_inplace__asks_only_the_view(self):
    if history.requires_grad(self):
        if self.is_leaf:
            raise RuntimeError("a leaf Variable that requires grad is being used in an in-place operation.")
        if self._base is not None and self._base.is_leaf:
            raise RuntimeError("a view of a leaf Variable that requires grad is being used in an in-place operation.")
    if self._creation_meta:
        raise RuntimeError("one of several views of one call is being modified in place.")


# Formulas


def sum_to__leaves_out_the_stretched_ones(grad, sizes):
    while grad.dim() > len(sizes):
        grad = grad.sum(0)
    return grad


def sum_to__compares_from_the_front(grad, sizes):
    for d in range(len(sizes)):
        if sizes[d] == 1 and grad.shape[d] != 1:
            grad = grad.sum(d, True)
    while grad.dim() > len(sizes):
        grad = grad.sum(-1)
    return grad


def sum_to__takes_the_first_copy(grad, sizes):
    while grad.dim() > len(sizes):
        grad = grad[0]
    for d, size in enumerate(sizes):
        if size != grad.shape[d]:
            grad = grad.narrow(d, 0, 1)
    return grad


def sum_to__means(grad, sizes):
    while grad.dim() > len(sizes):
        grad = grad.mean(0)
    for d, size in enumerate(sizes):
        if size != grad.shape[d]:
            grad = grad.mean(d, True)
    return grad


def head_gradients__with_a_plain_softmax(x, weight, bias, target):
    exponentials = (x @ weight.t() + bias).exp()  # overflows
    log_softmax = rl.zeros_like(exponentials)
    log_softmax[range(len(target)), target] = -1 / len(target)
    addmm = log_softmax + exponentials / exponentials.sum(1, True) / len(target)
    grads = {"NllLossBackward0": x.new_ones(()), "LogSoftmaxBackward0": log_softmax, "AddmmBackward0": addmm}
    return grads | {"x": addmm @ weight, "bias": addmm.sum(0), "TBackward0": x.t() @ addmm, "weight": addmm.t() @ x}


def head_gradients__by_autograd(x, weight, bias, target):
    leaves = {"x": x, "weight": weight, "bias": bias}
    names = {leaf.requires_grad_(): name for name, leaf in leaves.items()}
    loss = rl.nn.functional.cross_entropy(rl.nn.functional.linear(x, weight, bias), target)
    found, waiting = {}, [loss.grad_fn]
    while waiting:
        node = waiting.pop()
        name = names.get(getattr(node, "variable", None), node.name())
        node.register_prehook(lambda grads, name=name: found.update({name: grads[0].clone()}))
        waiting += [successor for successor, _ in node.next_functions]
    loss.backward()
    return found


def head_gradients__forgets_the_batch(x, weight, bias, target):
    scores = x @ weight.t() + bias
    logarithms = scores - scores.logsumexp(1, True)
    log_softmax = rl.zeros_like(scores)
    log_softmax[range(len(target)), target] = -1.0
    addmm = logarithms.exp() + log_softmax
    grads = {"NllLossBackward0": x.new_ones(()), "LogSoftmaxBackward0": log_softmax, "AddmmBackward0": addmm}
    return grads | {"x": addmm @ weight, "bias": addmm.sum(0), "TBackward0": x.t() @ addmm, "weight": addmm.t() @ x}


def mm_backward_mat1__always_row_by_row(grad, mat2, sizes, strides, alpha):
    return grad.mm(mat2.t()) * alpha


def mm_backward_mat1__forgets_to_transpose(grad, mat2, sizes, strides, alpha):
    return grad.mm(mat2.reshape(mat2.shape[1], mat2.shape[0])) * alpha


def mm_backward_mat1__without_alpha(grad, mat2, sizes, strides, alpha):
    if strides[0] == 1 and strides[1] == sizes[0]:
        return mat2.mm(grad.t()).t()
    return grad.mm(mat2.t())


def mm_backward_mat2__always_row_by_row(grad, mat1, sizes, strides, alpha):
    return mat1.t().mm(grad) * alpha


def mm_backward_mat2__transposed(grad, mat1, sizes, strides, alpha):
    return grad.t().mm(mat1) * alpha


def mm_backward_mat2__without_alpha(grad, mat1, sizes, strides, alpha):
    if strides[0] == 1 and strides[1] == sizes[0]:
        return grad.t().mm(mat1).t()
    return mat1.t().mm(grad)


# The engine


def count_dependencies__counts_nodes_not_edges(roots):
    counts = {root: 0 for root in roots}
    waiting = list(counts)
    while waiting:
        for node in {edge.node for edge in waiting.pop().next_edges if edge.node is not None}:
            if node not in counts:
                counts[node] = 0
                waiting.append(node)
            counts[node] += 1
    return counts


def count_dependencies__by_recursion(roots):
    counts = {}

    def visit(node):
        counts[node] = 0
        for edge in node.next_edges:
            if edge.node is not None:
                if edge.node not in counts:
                    visit(edge.node)
                counts[edge.node] += 1

    for root in roots:
        if root not in counts:
            visit(root)
    return counts


def count_dependencies__counts_the_roots_too(roots):
    counts = {root: 1 for root in roots}
    waiting = list(counts)
    while waiting:
        for node, _ in waiting.pop().next_edges:
            if node is not None:
                if node not in counts:
                    counts[node] = 0
                    waiting.append(node)
                counts[node] += 1
    return counts


def nodes_to_execute__with_the_ends_themselves(ends, reachable):
    found = set(ends)
    for node in sorted(reachable, key=lambda node: node.sequence_nr):
        if any(edge.node in found for edge in node.next_edges):
            found.add(node)
    return found


def nodes_to_execute__everything(ends, reachable):
    return set(reachable)


def nodes_to_execute__stops_at_the_first_end(ends, reachable):
    ends, found = set(ends), set()
    for node in sorted(reachable, key=lambda node: node.sequence_nr):
        if node not in ends and any(edge.node in ends | found for edge in node.next_edges):
            found.add(node)
    return found


def accumulate__keeps_the_last(variable, grad):
    variable._autograd.grad = clone_obey_contract(grad, variable)


def accumulate__keeps_what_is_others(variable, grad):
    meta = variable._autograd
    if meta.grad is None:
        meta.grad = grad
    elif local.grad_enabled:
        meta.grad = meta.grad + grad
    else:
        meta.grad.add_(grad)


def accumulate__never_in_place(variable, grad):
    meta = variable._autograd
    meta.grad = clone_obey_contract(grad, variable) if meta.grad is None else meta.grad + grad


def accumulate__always_in_place(variable, grad):
    meta = variable._autograd
    if meta.grad is None:
        meta.grad = clone_obey_contract(grad, variable)
    else:
        with rl.set_grad_enabled(False):
            meta.grad.add_(grad)


def accumulate__of_any_layout(variable, grad):
    meta = variable._autograd
    if meta.grad is None:
        meta.grad = grad.clone()
    elif local.grad_enabled:
        meta.grad = meta.grad + grad
    else:
        meta.grad.add_(grad)


def call_function__lets_go_before_the_hooks(node, grads, keep_graph):
    for hook in list((node.pre_hooks or {}).values()):
        grads = engine.apply_hook_result(grads, hook(tuple(grads)))
    outputs = [engine.validate(g, e, node, i) for i, (g, e) in enumerate(zip(node.apply(*grads), node.next_edges))]
    if not keep_graph:
        node.release_variables()
    for hook in list((node.post_hooks or {}).values()):
        outputs = engine.apply_hook_result(outputs, hook(tuple(outputs), tuple(grads)))
    return outputs


def call_function__validates_after_the_hooks(node, grads, keep_graph):
    for hook in list((node.pre_hooks or {}).values()):
        grads = engine.apply_hook_result(grads, hook(tuple(grads)))
    outputs = node.apply(*grads)
    for hook in list((node.post_hooks or {}).values()):
        outputs = engine.apply_hook_result(outputs, hook(tuple(outputs), tuple(grads)))
    if not keep_graph:
        node.release_variables()
    return [engine.validate(g, e, node, i) for i, (g, e) in enumerate(zip(outputs, node.next_edges))]


def call_function__shows_every_hook_the_same(node, grads, keep_graph):
    given = tuple(grads)
    for hook in list((node.pre_hooks or {}).values()):
        grads = engine.apply_hook_result(grads, hook(given))
    outputs = [engine.validate(g, e, node, i) for i, (g, e) in enumerate(zip(node.apply(*grads), node.next_edges))]
    found = tuple(outputs)
    for hook in list((node.post_hooks or {}).values()):
        outputs = engine.apply_hook_result(outputs, hook(found, tuple(grads)))
    if not keep_graph:
        node.release_variables()
    return outputs


def call_function__reads_the_hooks_while_they_run(node, grads, keep_graph):
    for hook in (node.pre_hooks or {}).values():
        grads = engine.apply_hook_result(grads, hook(tuple(grads)))
    outputs = [engine.validate(g, e, node, i) for i, (g, e) in enumerate(zip(node.apply(*grads), node.next_edges))]
    for hook in (node.post_hooks or {}).values():
        outputs = engine.apply_hook_result(outputs, hook(tuple(outputs), tuple(grads)))
    if not keep_graph:
        node.release_variables()
    return outputs


def call_function__calls_no_hook_that_was_removed(node, grads, keep_graph):
    for key in list(node.pre_hooks or {}):
        if key in node.pre_hooks:
            grads = engine.apply_hook_result(grads, node.pre_hooks[key](tuple(grads)))
    outputs = [engine.validate(g, e, node, i) for i, (g, e) in enumerate(zip(node.apply(*grads), node.next_edges))]
    for key in list(node.post_hooks or {}):
        if key in node.post_hooks:
            outputs = engine.apply_hook_result(outputs, node.post_hooks[key](tuple(outputs), tuple(grads)))
    if not keep_graph:
        node.release_variables()
    return outputs


def call_function__ignores_what_hooks_return(node, grads, keep_graph):
    for hook in list((node.pre_hooks or {}).values()):
        hook(tuple(grads))
    outputs = [engine.validate(g, e, node, i) for i, (g, e) in enumerate(zip(node.apply(*grads), node.next_edges))]
    for hook in list((node.post_hooks or {}).values()):
        hook(tuple(outputs), tuple(grads))
    if not keep_graph:
        node.release_variables()
    return outputs


def call_function__reads_all_hooks_before_the_first(node, grads, keep_graph):
    before = list((node.pre_hooks or {}).values())
    after = list((node.post_hooks or {}).values())
    for hook in before:
        grads = engine.apply_hook_result(grads, hook(tuple(grads)))
    outputs = node.apply(*grads)
    outputs = [engine.validate(grad, edge, node, i) for i, (grad, edge) in enumerate(zip(outputs, node.next_edges))]
    for hook in after:
        outputs = engine.apply_hook_result(outputs, hook(tuple(outputs), tuple(grads)))
    if not keep_graph:
        node.release_variables()
    return outputs


def execute__without_counting(roots, grads, keep_graph, create_graph, captures=None):
    """Each gradient goes on as soon as it comes: a node runs as often as there are ways to it."""
    waiting, found = list(zip(roots, grads)), {}
    with rl.set_grad_enabled(create_graph):
        while waiting:
            (node, i), grad = waiting.pop(0)
            inputs = {}
            engine._add_input(inputs, node, i, grad)
            given = engine._run_tensor_hooks(node, inputs[node])
            for place in (captures or {}).get(Edge(node, i), []):
                found[place] = given[i]
            if captures is None or not isinstance(node, graph.AccumulateGrad):
                outputs = engine.call_function(node, given, True)
                waiting += [(e, g) for e, g in zip(node.next_edges, outputs) if e.node is not None and g is not None]
    return found


def execute__first_come_first_served(roots, grads, keep_graph, create_graph, captures=None):
    return running(roots, grads, keep_graph, create_graph, captures, key=lambda node, came: came)


def execute__the_oldest_first(roots, grads, keep_graph, create_graph, captures=None):
    return running(roots, grads, keep_graph, create_graph, captures, key=lambda node, came: node.sequence_nr)


def execute__overwrites_what_arrived(roots, grads, keep_graph, create_graph, captures=None):
    def put(inputs, node, i, grad):
        inputs.setdefault(node, [None] * max(len(node.input_metadata), 1))[i] = grad

    return running(roots, grads, keep_graph, create_graph, captures, put=put)


def execute__stays_in_the_grad_mode_that_there_was(roots, grads, keep_graph, create_graph, captures=None):
    return running(roots, grads, keep_graph, local.grad_enabled, captures)


def execute__does_not_wait_for_none(roots, grads, keep_graph, create_graph, captures=None):
    return running(roots, grads, keep_graph, create_graph, captures, counts=lambda grad: grad is not None)


def execute__switches_recording_on_afterwards(roots, grads, keep_graph, create_graph, captures=None):
    try:
        return running(roots, grads, keep_graph, create_graph, captures)
    finally:
        local.grad_enabled = True


def execute__leaves_its_grad_mode_behind(roots, grads, keep_graph, create_graph, captures=None):
    try:
        return running(roots, grads, keep_graph, create_graph, captures)
    finally:
        local.grad_enabled = create_graph


def execute__leaves_its_grad_mode_behind_after_an_error(roots, grads, keep_graph, create_graph, captures=None):
    before, local.grad_enabled = local.grad_enabled, create_graph
    found = running(roots, grads, keep_graph, create_graph, captures)
    local.grad_enabled = before
    return found


def execute__leaves_its_grad_mode_behind_after_an_interrupt(roots, grads, keep_graph, create_graph, captures=None):
    try:
        return running(roots, grads, keep_graph, create_graph, captures)
    except KeyboardInterrupt:
        local.grad_enabled = create_graph
        raise


def execute__adds_the_gradients_of_roots_in_the_mode_that_there_was(
    roots, grads, keep_graph, create_graph, captures=None
):
    sums = {}
    for edge, grad in zip(roots, grads):
        sums[edge] = grad if sums.get(edge) is None else sums[edge] + grad
    return running(list(sums), list(sums.values()), keep_graph, create_graph, captures)


def execute__runs_everything(roots, grads, keep_graph, create_graph, captures=None):
    return running(roots, grads, keep_graph, create_graph, captures, everything=True)


def running(
    roots,
    grads,
    keep_graph,
    create_graph,
    captures,
    key=lambda node, came: -node.sequence_nr,
    put=engine._add_input,
    everything=False,
    counts=lambda grad: True,
):
    left = engine.count_dependencies([edge.node for edge in roots])
    ends = {edge.node for edge in captures or {}}
    runs = left
    if captures is not None and not everything:
        runs = engine.nodes_to_execute(ends, left) | {edge.node for edge in captures if not captures[edge]}
    inputs, found, came = {}, {}, 0
    with rl.set_grad_enabled(create_graph):
        for edge, grad in zip(roots, grads):
            put(inputs, edge.node, edge.input_nr, grad)
        heap = [(key(node, 0), id(node), node) for node in inputs if left[node] == 0]
        heapq.heapify(heap)
        while heap:
            node = heapq.heappop(heap)[2]
            arrived = inputs.pop(node)
            if node not in runs and node not in ends:
                continue
            given = engine._run_tensor_hooks(node, arrived)
            for edge, places in (captures or {}).items():
                grad = (arrived if node in runs else given)[edge.input_nr] if edge.node is node else None
                found |= dict.fromkeys(places, grad) if grad is not None else {}
            if node not in runs:
                continue
            for edge, grad in zip(node.next_edges, engine.call_function(node, given, keep_graph)):
                if edge.node is not None and counts(grad):
                    put(inputs, edge.node, edge.input_nr, grad)
                    left[edge.node] -= 1
                    if left[edge.node] == 0:
                        came += 1
                        heapq.heappush(heap, (key(edge.node, came), id(edge.node), edge.node))
    return found


# Writing to views


def copy_slices__lets_everything_through(function, grad, base, view):
    _, *others = history._as_tuple(function(grad.as_strided(*view).clone()))
    return [grad, *others]


def copy_slices__counts_from_the_storage_on(function, grad, base, view):
    sizes, strides, offset = base
    whole = functions.empty_strided((offset + grad.numel() + 100,), (1,), dtype=grad.dtype).fill_(0)
    result = whole.as_strided(sizes, strides, 0).copy_(grad)
    part = whole.as_strided(view[0], view[1], view[2] + offset)
    first, *others = history._as_tuple(function(part.clone(memory_format=contiguous_format)))
    if first is None:
        return [None, *others]
    part.copy_(first)
    return [result, *others]


def copy_slices__writes_to_the_gradient(function, grad, base, view):
    part = grad.detach().as_strided(*view)
    first, *others = history._as_tuple(function(part.clone(memory_format=contiguous_format)))
    if first is None:
        return [None, *others]
    part.copy_(first)
    return [grad, *others]


def copy_slices__adds_to_what_was_there(function, grad, base, view):
    result = functions.empty_strided(base[0], base[1], dtype=grad.dtype).copy_(grad)
    part = result.as_strided(*view)
    first, *others = history._as_tuple(function(part.clone(memory_format=contiguous_format)))
    if first is None:
        return [None, *others]
    part.add_(first)
    return [result, *others]


def copy_slices__shows_the_function_what_is_written_over(function, grad, base, view):
    result = functions.empty_strided(base[0], base[1], dtype=grad.dtype).copy_(grad)
    part = result.as_strided(*view)
    first, *others = history._as_tuple(function(part))
    if first is None:
        return [None, *others]
    part.copy_(first)
    return [result, *others]


# Modes


def recording__is_not_there_after_an_error(enabled):
    before, local.grad_enabled = local.grad_enabled, enabled
    yield
    local.grad_enabled = before


def recording__turns_it_on_afterwards(enabled):
    local.grad_enabled = enabled
    try:
        yield
    finally:
        local.grad_enabled = not enabled


def recording__cannot_be_undone_within(enabled):
    before = local.grad_enabled
    local.grad_enabled = before and enabled
    try:
        yield
    finally:
        local.grad_enabled = before


def recording__restores_after_ordinary_errors(enabled):
    before = local.grad_enabled
    local.grad_enabled = enabled
    try:
        yield
    except Exception:
        local.grad_enabled = before
        raise
    local.grad_enabled = before


def inferring__restores_after_ordinary_errors(enabled):
    before = dict(vars(local))
    local.inference, local.grad_enabled = enabled, not enabled
    local.tensor_keys = INFERENCE_KEYS if enabled else TENSOR_KEYS
    local.excluded = local.excluded | AUTOGRAD if enabled else local.excluded & ~AUTOGRAD
    view_key = BIT["ADInplaceOrView"]
    local.included = local.included & ~view_key if enabled else local.included | view_key
    try:
        yield
    except Exception:
        vars(local).update(before)
        raise
    vars(local).update(before)


def inferring__is_only_no_grad(enabled):
    before = local.grad_enabled, local.inference
    local.grad_enabled, local.inference = not enabled, enabled
    try:
        yield
    finally:
        local.grad_enabled, local.inference = before


def inferring__cannot_be_left_within(enabled):
    before = local.inference, local.grad_enabled, local.tensor_keys, local.excluded, local.included
    if enabled:
        local.inference, local.grad_enabled, local.tensor_keys = True, False, INFERENCE_KEYS
        local.excluded |= AUTOGRAD
        local.included &= ~BIT["ADInplaceOrView"]
    try:
        yield
    finally:
        local.inference, local.grad_enabled, local.tensor_keys, local.excluded, local.included = before


def inferring__puts_back_what_there_is_usually(enabled):
    included = local.included
    local.inference, local.grad_enabled = enabled, not enabled
    local.tensor_keys = INFERENCE_KEYS if enabled else TENSOR_KEYS
    local.excluded = local.excluded | AUTOGRAD if enabled else local.excluded & ~AUTOGRAD
    local.included = included & ~BIT["ADInplaceOrView"] if enabled else included | BIT["ADInplaceOrView"]
    try:
        yield
    finally:
        local.inference, local.grad_enabled, local.tensor_keys = False, True, TENSOR_KEYS
        local.excluded &= ~AUTOGRAD
        local.included |= BIT["ADInplaceOrView"]


# A function of one's own, and what is made of it


def apply__records_the_forward(cls, *args):
    return applied(cls, args, forward=lambda ctx: cls.forward(ctx, *args))


def apply__is_needed_by_all_tensors(cls, *args):
    return applied(cls, args, needs=lambda arg: isinstance(arg, Tensor))


def apply__has_an_edge_for_every_argument(cls, *args):
    return applied(cls, args, edges=[graph.gradient_edge(arg) for arg in args])


def apply__keeps_results_as_arguments(cls, *args):
    return applied(cls, args, is_output=lambda tensor, results: False)


def apply__always_returns_a_tuple(cls, *args):
    found = applied(cls, args)
    return found if isinstance(found, tuple) else (found,)


def apply__records_without_grad_mode(cls, *args):
    return applied(cls, args, recorded=any(history.requires_grad(arg) for arg in args))


def applied(cls, args, forward=None, needs=history.requires_grad, edges=None, is_output=None, recorded=None):
    ctx = new_context(cls, args)
    ctx.needs_input_grad = tuple(map(needs, args))
    recorded = history.any_requires_grad(args) if recorded is None else recorded
    edges = edges or [graph.gradient_edge(arg) for arg in args if isinstance(arg, Tensor)]
    if forward is None:
        with rl.no_grad():
            result = cls.forward(ctx, *args)
    else:
        result = forward(ctx)
    outputs = result if isinstance(result, tuple) else (result,)
    check_dirty(ctx, outputs)
    if recorded:
        ctx.next_edges = edges
    outputs = [attach(ctx, output, args, recorded) for output in outputs]
    if recorded:
        is_output = is_output or (lambda tensor, results: any(tensor is each for each in results))
        ctx.saved = [save(tensor, is_output(tensor, outputs)) for tensor in ctx.to_save]
    ctx.to_save = ()
    return tuple(outputs) if isinstance(result, tuple) else outputs[0]


def logsumexp_backward__of_a_softmax_over_the_last(grad, self, result, dim, keepdim):
    return restore_dims(grad, self.dim(), dim, keepdim) * self.softmax(-1) if self.dim() else grad


def logsumexp_backward__without_the_logarithm(grad, self, result, dim, keepdim):
    dims = [dim] if isinstance(dim, int) else dim
    grad, result = (restore_dims(x, self.dim(), dims, keepdim) for x in (grad, result))
    return grad * self.exp() / result


def logsumexp_backward__of_large_numbers(grad, self, result, dim, keepdim):
    dims = [dim] if isinstance(dim, int) else dim
    grad, result = (restore_dims(x, self.dim(), dims, keepdim) for x in (grad, result))
    return grad * self.exp() / result.exp()


def logsumexp_backward__detached(grad, self, result, dim, keepdim):
    dims = [dim] if isinstance(dim, int) else dim
    grad, result = (restore_dims(x, self.dim(), dims, keepdim) for x in (grad, result))
    return grad * (self.detach() - result.detach()).exp()


def logsumexp_backward__inserts_negative_dims_as_they_are(grad, self, result, dim, keepdim):
    if not keepdim and self.dim() > 0:
        for each in sorted([dim] if isinstance(dim, int) else dim):
            grad, result = grad.unsqueeze(each), result.unsqueeze(each)
    return grad * (self - result).exp()


def numerical_gradient__on_one_side(function, x, eps):
    values, rows = x.detach().view(-1).numpy(), []
    middle = function().reshape(-1)
    for i, before in enumerate(values.tolist()):
        values[i] = before + eps
        rows.append(((function().reshape(-1) - middle) / eps).tolist())
        values[i] = before
    return rows


def numerical_gradient__leaves_the_point_where_it_is(function, x, eps):
    array, rows = x.detach().numpy(), []
    for index in itertools.product(*map(range, x.shape)):
        array[index] += eps
        up = function().reshape(-1) * 1
        array[index] -= 2 * eps
        rows.append(((up - function().reshape(-1)) / (2 * eps)).tolist())
    return rows


def numerical_gradient__with_recording_switched_off(function, x, eps):
    values, rows = x.detach().numpy(), []
    for index in itertools.product(*map(range, x.shape)):
        before, ends = values[index].item(), []
        for step in eps, -eps:
            values[index] = before + step
            with rl.no_grad():
                ends.append(function().reshape(-1).tolist())
        values[index] = before
        rows.append([(up - down) / (2 * eps) for up, down in zip(*ends)])
    return rows


def numerical_gradient__counts_versions(function, x, eps):
    rows = []
    for index in itertools.product(*map(range, x.shape)):
        before, ends = x[index].item(), []
        for value in before + eps, before - eps, before:
            with rl.no_grad():
                x[index] = value
            ends += [function().reshape(-1).tolist()] if value != before else []
        rows.append([(up - down) / (2 * eps) for up, down in zip(*ends)])
    return rows


def numerical_gradient__transposed(function, x, eps):
    values, columns = x.detach().numpy(), []
    for index in itertools.product(*map(range, x.shape)):
        before, ends = values[index].item(), []
        for step in eps, -eps:
            values[index] = before + step
            ends.append(function().reshape(-1).tolist())
        values[index] = before
        columns.append([(up - down) / (2 * eps) for up, down in zip(*ends)])
    return [list(row) for row in zip(*columns)]


def numerical_gradient__subtracts_results_that_share_memory(function, x, eps):
    rows, values = [], x.detach().numpy()
    for index in itertools.product(*map(range, x.shape)):
        before = values[index].item()
        values[index] = before + eps
        up = function().detach()
        values[index] = before - eps
        down = function().detach()
        values[index] = before
        rows.append(((up - down) / (2 * eps)).reshape(-1).tolist())
    return rows


def recompute__on_the_arguments_themselves(ctx, *grads):
    return recomputed(ctx, grads, lambda saved, i: saved)


def recompute__on_copies(ctx, *grads):
    return recomputed(ctx, grads, lambda saved, i: saved.detach().clone().requires_grad_(saved.requires_grad))


def recompute__lets_all_require_grad(ctx, *grads):
    return recomputed(ctx, grads, lambda saved, i: saved.detach().requires_grad_())


def recompute__as_it_was_when_the_checkpoint_was_made(ctx, *grads):
    return recomputed(ctx, grads, lambda saved, i: saved.detach().requires_grad_(ctx.needs_input_grad[i + 1]))


def recompute__without_grad_mode(ctx, *grads):
    return recomputed(ctx, grads, enabled=False)


def recompute__goes_back_from_one_result_after_another(ctx, *grads):
    return recomputed(ctx, grads, together=False)


def recomputed(ctx, grads, leaf=None, enabled=True, together=True):
    leaf = leaf or (lambda saved, i: saved.detach().requires_grad_(saved.requires_grad))
    again = [
        arg if saved is None else leaf(saved, i) for i, (arg, saved) in enumerate(zip(ctx.args, ctx.saved_tensors))
    ]
    with rl.set_grad_enabled(enabled):
        results = ctx.run(*again)
    results = results if isinstance(results, tuple) else (results,)
    pairs = [(x, grad) for x, grad in zip(results, grads) if history.requires_grad(x)]
    if not pairs:
        raise RuntimeError("nothing")
    for some in [pairs] if together else [[pair] for pair in pairs]:
        backward([x for x, _ in some], [grad for _, grad in some])
    return (None, *(arg.grad if isinstance(arg, Tensor) else None for arg in again))


def backward_order__with_the_weight_before_the_bias(program):
    return {
        "exp": ["SumBackward0", "MulBackward0", "ExpBackward0", "AccumulateGrad"],
        "head": [
            "NllLossBackward0",
            "LogSoftmaxBackward0",
            "AddmmBackward0",
            "TBackward0",
            "AccumulateGrad",
            "AccumulateGrad",
        ],
        "detach": ["SumBackward0", *["MulBackward0"] * 2, *["SliceBackward0"] * 2, "AccumulateGrad"],
        "diamond": [
            "SumBackward0",
            "MulBackward0",
            "AddBackward0",
            "TanhBackward0",
            "SigmoidBackward0",
            "AccumulateGrad",
        ],
        "no_grad": ["SumBackward0", "ReluBackward0", "DivBackward0", "AccumulateGrad"],
    }[program]


def saved_tensors__both_factors_always(program):
    return {
        "constant": ["MulBackward0.other", "MulBackward0.self"],
        "both": ["MulBackward0.other", "MulBackward0.self", "ExpBackward0.result"],
        "result": ["SigmoidBackward0.result", "ReluBackward0.result"],
        "input": ["MmBackward0.self"],
    }[program]


# Sentences that are easily passed over


def _copied(slot):
    return type(slot)(slot.__code__, slot.__globals__, slot.__name__, slot.__defaults__)


def set_history__gives_metadata_to_all_results(result, node, differentiable=None):
    for i, tensor in enumerate(result if isinstance(result, (list, tuple)) else (result,)):
        tensor._autograd = AutogradMeta(False, None, 0)
        if tensor.dtype.is_floating_point and (differentiable is None or differentiable[i]):
            tensor._autograd = AutogradMeta(False, node, len(node.input_metadata))
            node.input_metadata.append((tensor._sizes, tensor.dtype))
    return result


_sum_to, _nodes_to_execute, _call_function = map(
    _copied, (engine.sum_to, engine.nodes_to_execute, engine.call_function)
)


def sum_to__takes_a_tuple_only(grad, sizes):
    return _sum_to(grad, sizes + ())


def nodes_to_execute__in_a_list(ends, reachable):
    return [*_nodes_to_execute(ends, reachable)]


def call_function__takes_a_list_only(node, grads, keep_graph):
    return _call_function(node, grads + [], keep_graph)


_head_gradients, _copy_slices = map(_copied, (rl.course.by_hand.head_gradients, history.copy_slices))


def head_gradients__subtracts_the_largest_score_of_all(x, weight, bias, target):
    scores = x @ weight.t() + bias
    n, powers = len(scores), (scores - scores.amax()).exp()
    of_rows = powers / powers.sum(1, True) / n
    of_rows[range(n), target] = of_rows[range(n), target] - 1 / n
    found = {"AddmmBackward0": of_rows, "x": of_rows @ weight, "bias": of_rows.sum(0), "TBackward0": x.t() @ of_rows}
    return _head_gradients(x, weight, bias, target) | found | {"weight": found["TBackward0"].t()}


def copy_slices__copies_the_other_gradients(function, grad, base, view):
    first, *others = _copy_slices(function, grad, base, view)
    return [first, *(None if other is None else other.clone() for other in others)]


def apply__has_the_needs_in_a_list(cls, *args):
    ctx = new_context(cls, args)
    ctx.needs_input_grad = [history.requires_grad(arg) for arg in args]
    recorded = history.any_requires_grad(args)
    edges = [graph.gradient_edge(arg) for arg in args if isinstance(arg, Tensor)] if recorded else []
    with rl.no_grad():
        result = cls.forward(ctx, *args)
    outputs = result if isinstance(result, tuple) else (result,)
    check_dirty(ctx, outputs)
    ctx.next_edges = edges
    outputs = [attach(ctx, output, args, recorded) for output in outputs]
    if recorded:
        ctx.saved = [save(tensor, any(tensor is output for output in outputs)) for tensor in ctx.to_save]
    ctx.to_save = ()
    return tuple(outputs) if isinstance(result, tuple) else outputs[0]


def logsumexp_backward__takes_a_tuple_only(grad, self, result, dim, keepdim):
    dims = (dim,) if isinstance(dim, int) else () + dim
    return (
        grad * (self - restore_dims(result, self.dim(), dims, keepdim)).exp()
        if keepdim
        else _shares(grad, self, result, dims, keepdim)
    )


_shares = _copied(rl.derivatives.logsumexp_backward)


def numerical_gradient__adds_the_step_again(function, x, eps):
    rows, values = [], x._array
    for index in itertools.product(*map(range, x.shape)):
        values[index] += eps
        above = function().reshape(-1).tolist()
        values[index] -= 2 * eps
        below = function().reshape(-1).tolist()
        values[index] += eps
        rows.append([(up - down) / (2 * eps) for up, down in zip(above, below)])
    return rows


def copy_slices__has_an_entry_for_every_argument(function, grad, base, view):
    return [*_copy_slices(function, grad, base, view), None][:2]


_accumulate, _execute = _copied(graph.accumulate), _copied(engine.execute)


def accumulate__returns_the_sum(variable, grad):
    _accumulate(variable, grad)
    return variable._autograd.grad


def accumulate__returns_the_gradient_itself(variable, grad):
    _accumulate(variable, grad)
    return grad


def execute__without_a_default_for_captures(roots, grads, keep_graph, create_graph, captures):
    return _execute(roots, grads, keep_graph, create_graph, captures)
