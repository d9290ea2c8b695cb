"""Wrong answers to lab 04c that a student might well give and that no mutant of the reference is: each fails on an edge.

A function's name is its exercise's, two underscores, and what is wrong.
"""

import itertools

import rushlight as rl
from rushlight.aten.strided import Tensor
from rushlight.autograd import derivatives, function, graph, history
from rushlight.autograd.derivatives import logsumexp_backward, restore_dims
from rushlight.autograd.function import attach, check_dirty, new_context
from rushlight.autograd.grad_mode import AUTOGRAD, recording
from rushlight.autograd.graph import save
from rushlight.c10.dispatch import BIT, INFERENCE_KEYS, TENSOR_KEYS, local
from rushlight.utils import checkpoint
from rushlight.utils.checkpoint import backward

from ..shared import copied, edited

# Formulas


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


recording__cannot_be_undone_within = edited(
    recording,
    (
        "before, local.grad_enabled = local.grad_enabled, enabled",
        "before = local.grad_enabled\n    local.grad_enabled = before and enabled",
    ),
)


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


logsumexp_backward__without_the_logarithm = edited(
    logsumexp_backward,
    ("dims = _dims(dim)", "dims = [dim] if isinstance(dim, int) else dim"),
    ("return grad * (self - result).exp()", "return grad * self.exp() / result"),
)
logsumexp_backward__of_large_numbers = edited(
    logsumexp_backward,
    ("dims = _dims(dim)", "dims = [dim] if isinstance(dim, int) else dim"),
    ("return grad * (self - result).exp()", "return grad * self.exp() / result.exp()"),
)
logsumexp_backward__detached = edited(
    logsumexp_backward,
    ("dims = _dims(dim)", "dims = [dim] if isinstance(dim, int) else dim"),
    ("self - result", "self.detach() - result.detach()"),
)


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


# Sentences that are easily passed over


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


_shares = copied(rl.derivatives.logsumexp_backward)


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


apply__records_again_after_a_forward = edited(
    function.apply,
    (
        "    with no_grad():\n",
        "    from rushlight.c10.dispatch import local\n\n    local.grad_enabled = False\n    try:\n",
    ),
    ("forward(ctx, *args)\n", "forward(ctx, *args)\n    finally:\n        local.grad_enabled = True\n"),
)
apply__leaves_a_forward_that_raises_unrecorded = edited(
    function.apply,
    (
        "    with no_grad():\n",
        "    from rushlight.c10.dispatch import local\n\n    before = local.grad_enabled\n"
        "    local.grad_enabled = False\n    if True:\n",
    ),
    ("forward(ctx, *args)\n", "forward(ctx, *args)\n    local.grad_enabled = before\n"),
)
recompute__goes_on_recording_if_the_run_raises = edited(
    checkpoint.recompute,
    (
        "    with enable_grad():\n",
        "    from rushlight.c10.dispatch import local\n\n    before, local.grad_enabled = local.grad_enabled, True\n    if True:\n",
    ),
    ("ctx.run(*again)\n", "ctx.run(*again)\n    local.grad_enabled = before\n"),
)
mm_backward_mat1__without_the_history_of_the_other = edited(
    derivatives.mm_backward_mat1, ("mat2.mm(", "mat2.detach().mm("), ("grad.mm(mat2.t())", "grad.mm(mat2.detach().t())")
)
mm_backward_mat2__without_the_history_of_the_other = edited(
    derivatives.mm_backward_mat2, ("grad.t().mm(mat1)", "grad.t().mm(mat1.detach())"), ("mat1.t()", "mat1.detach().t()")
)


recompute__stops_recording_afterwards = edited(
    checkpoint.recompute,
    (
        "    with enable_grad():\n        outputs = ctx.run(*again)\n",
        "    from rushlight.c10.dispatch import local\n\n    local.grad_enabled = True\n"
        "    try:\n        outputs = ctx.run(*again)\n"
        "    finally:\n        local.grad_enabled = False\n",
    ),
)
