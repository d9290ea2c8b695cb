"""Wrong answers to lab 04c that a student might well give and that no mutant of the reference is: each fails on an edge.

A function's name is its exercise's, two underscores, and what is wrong.
"""

import itertools
from importlib import import_module

import rushlight as rl
from rushlight.aten.strided import Tensor
from rushlight.autograd import derivatives, function, graph, history
from rushlight.autograd.derivatives import logsumexp_backward, restore_dims
from rushlight.autograd.function import attach, check_dirty, new_context
from rushlight.autograd.grad_mode import AUTOGRAD
from rushlight.autograd.graph import save
from rushlight.c10.dispatch import BIT, INFERENCE_KEYS, TENSOR_KEYS, local
from rushlight.course import breaks, predictions
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


# Programs that were made smaller

_SHRINK = copied(predictions.shrink)


def _with(program, **texts):
    """The reference's program, but for some of these."""
    return texts[program] if program in texts else _SHRINK(program)


def shrink__returns_the_long_programs(program):
    return predictions.FAILING[program]


def shrink__raises_the_error_itself(program):
    words = {
        "attention": "one of the variables needed for gradient computation has been modified by an inplace operation: "
        "[torch.FloatTensor [1]], which is output 0 of Exp, is at version 1; expected version 0 instead.",
        "critic": "one of the variables needed for gradient computation has been modified by an inplace operation: "
        "[torch.FloatTensor [1, 1]], which is output 0 of AsStrided, is at version 2; expected version 1 instead.",
        "project": "Function ProjectBackward returned an invalid gradient at index 1 - got [2] but expected shape compatible "
        "with [3]",
    }[program]
    return f"import torch\nraise RuntimeError({words!r})"


def shrink__raises_in_a_hook(program):
    """The engine runs the hook, but the line of the program is the last in the traceback."""
    text = "import torch\nx = torch.ones(1, requires_grad=True)\ny = x.exp()\ny.register_hook(lambda grad: grad[1])\ny.backward()"
    return _with(program, attention=text)


def shrink__calls_a_private_function(program):
    text = "import torch\ntorch.autograd.graph._engine_run_backward(torch.ones(1))"
    return _with(program, attention=text)


def shrink__holds_code_in_a_string(program):
    return f"import torch\nexec({_SHRINK(program)!r})"


def shrink__holds_code_in_a_string_for_torch(program):
    """Of TorchScript."""
    text = "def f(x):\n    y = x.exp()\n    y.add_(1)\n    y.backward()"
    whole = f"import torch\ntorch.jit.CompilationUnit({text!r}).f(torch.ones(1, requires_grad=True))"
    return _with(program, attention=whole)


def shrink__imports_what_runs_code(program):
    return _with(program, critic=f"import torch, runpy\nrunpy.run_path({_SHRINK('critic')!r})")


def shrink__imports_all_names(program):
    return _with(
        program, attention=_SHRINK("attention").replace("import torch", "from torch import *").replace("torch.", "")
    )


def shrink__imports_a_private_module(program):
    text = "import torch\nfrom torch import _C\ny = torch.ones(1, requires_grad=True).exp()\ny += 1\ny.backward()"
    return _with(program, attention=text)


def shrink__gives_a_number_as_input(program):
    """The index in the message counts tensors only."""
    text = _SHRINK("project").replace("return x", "return torch.ones(2)").replace("apply(torch.ones(2)", "apply(1")
    return _with(program, project=text)


def shrink__returns_a_list_from_backward(program):
    return _with(program, project=_SHRINK("project").replace("return None, grad", "return [None, grad]"))


def shrink__keeps_the_loop_and_the_optimizer(program):
    text = """
        import torch
        layer = torch.nn.Linear(1, 1)
        optimizer = torch.optim.SGD(layer.parameters(), lr=0.1)
        for _ in range(2):
            loss = layer(layer(torch.ones(1)))
            loss.backward(retain_graph=True)
            optimizer.step()
            loss.backward()
    """
    return _with(program, critic=text)


def shrink__fails_at_another_node(program):
    """The sigmoid saves its result too."""
    return _with(program, attention=_SHRINK("attention").replace("exp", "sigmoid"))


def shrink__fails_at_the_weight_of_another_product(program):
    """The message is one of a weight, but there is no layer."""
    text = """
        import torch
        w = torch.ones(1, 1, requires_grad=True)
        y = w @ w @ w
        with torch.no_grad():
            w.zero_()
        y.sum().backward()
    """
    return _with(program, critic=text)


def shrink__goes_backward_twice(program):
    """A saved tensor is gone, not changed."""
    text = "import torch\ny = torch.ones(1, requires_grad=True).exp()\ny.backward()\ny.backward()"
    return _with(program, attention=text)


def shrink__forgets_which_argument(program):
    """It fails at index 0."""
    text = _SHRINK("project").replace("return x", "return weight").replace("None, grad", "grad, None")
    text = text.replace("ones(2), torch.ones(3, requires_grad=True)", "ones(3, requires_grad=True), torch.ones(2)")
    return _with(program, project=text)


def shrink__runs_the_node_without_the_engine(program):
    text = "import torch\ny = torch.ones(1, requires_grad=True).exp()\nnode = y.grad_fn\ny += 1\nnode(y)"
    return _with(program, attention=text)


def shrink__changes_what_another_node_has_saved(program):
    """The message is the same, but the product fails."""
    text = "import torch\ny = torch.ones(1, requires_grad=True).exp()\nz = y * y\ny.detach().zero_()\nz.backward()"
    return _with(program, attention=text)


def shrink__renames_the_function(program):
    return _with(program, project=_SHRINK("project").replace("Project", "P"))


def shrink__forgets_the_import(program):
    return _SHRINK(program).replace("import torch\n", "")


def shrink__does_not_fail(program):
    return _with(program, critic=_SHRINK("critic").replace("layer(layer(torch.ones(1)))", "layer(torch.ones(1))"))


def shrink__repairs_the_program(program):
    return _with(program, attention=_SHRINK("attention").replace("y += 1", "y = y + 1"))


def shrink__has_a_syntax_error(program):
    return _with(program, project=_SHRINK("project").replace("):", ")"))


def shrink__leaves_one_out(program):
    if program == "project":
        raise KeyError(program)
    return _SHRINK(program)


# What each hint is for

gradcheck = import_module("rushlight.autograd.gradcheck")  # `rushlight.autograd` has a function of this name
numerical_gradient__on_a_copy = edited(gradcheck.numerical_gradient, ("x._array", "x._array.copy()"))
numerical_gradient__calls_once_more = edited(gradcheck.numerical_gradient, ("    rows, ", "    function()\n    rows, "))
numerical_gradient__over_one_step = edited(gradcheck.numerical_gradient, ("(2 * eps)", "eps"))
recompute__without_the_numbers = edited(checkpoint.recompute, ("list(ctx.args)", "[None] * len(ctx.args)"))
recompute__accepts_results_without_a_graph = edited(
    checkpoint.recompute,
    ("        raise RuntimeError(", "        return (None,) * len(again) + ("),
    ('not necessary")', 'not necessary",)[:0] + (None,)'),
)
apply__keeps_what_is_saved = edited(function.apply, ("    ctx.to_save = ()\n", ""))
apply__always_has_edges = edited(
    function.apply, ("if isinstance(arg, Tensor)] if recorded else []", "if isinstance(arg, Tensor)]")
)
apply__attaches_the_first_result = edited(
    function.apply,
    (
        "[attach(ctx, output, args, recorded) for output in outputs]",
        "[attach(ctx, outputs[0], args, recorded), *outputs[1:]]",
    ),
)
apply__looks_for_dirty_ones_in_the_first_result = edited(
    function.apply, ("check_dirty(ctx, outputs)", "check_dirty(ctx, outputs[:1])")
)
logsumexp_backward__takes_dimension_0_for_none = edited(
    derivatives.logsumexp_backward, ("_dims(dim)", "_dims(dim or [])")
)
apply__makes_a_tuple_of_the_class_of_the_forwards = edited(
    function.apply, ("return tuple(outputs) if", "return type(result)(outputs) if")
)


# Cases

_breaks = copied(breaks.breaks_recording)


def breaks_recording__of_usual_programs():
    programs = ["no_grad"], ["no_grad", "end"], ["no_grad", "enable_grad"], ["no_grad", "end by KeyError"]
    return [{"steps": steps} for steps in programs]


def breaks_recording__without_inference_mode():
    return [{"steps": [step.replace("inference_mode", "no_grad") for step in case["steps"]]} for case in _breaks()]


def breaks_recording__with_ordinary_errors():
    return [{"steps": [step.replace("KeyboardInterrupt", "KeyError") for step in case["steps"]]} for case in _breaks()]


def breaks_recording__with_blocks_in_order():
    return [{"steps": [step.replace(" of the first", "") for step in case["steps"]]} for case in _breaks()]


def breaks_recording__ends_what_has_not_begun():
    return [{"steps": case["steps"][1:]} for case in _breaks()]


def breaks_recording__of_long_programs():
    return [{"steps": ["no_grad", "end", *case["steps"]]} for case in _breaks()]


def breaks_recording__without_names():
    return [case["steps"] for case in _breaks()]
