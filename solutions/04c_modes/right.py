"""Correct answers to lab 04c in other styles than the reference's: every check must accept them.

A function's name is its exercise's, two underscores, and the style.
"""

import itertools

import numpy as np

import rushlight as rl
from rushlight.aten.generated import functions
from rushlight.aten.strided import Tensor
from rushlight.autograd import engine, graph, history
from rushlight.autograd.derivatives import maybe_multiply, restore_dims
from rushlight.autograd.function import attach, check_dirty, new_context
from rushlight.autograd.grad_mode import AUTOGRAD
from rushlight.autograd.graph import save
from rushlight.c10.dispatch import BIT, INFERENCE_KEYS, TENSOR_KEYS, local
from rushlight.utils.checkpoint import backward

from ..shared import OwnRuntimeError

# Formulas


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


# Modes


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
        raise OwnRuntimeError("nothing to go back through")
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
        raise OwnRuntimeError("nothing to go back through")
    engine.execute([edge for edge, _ in pairs], [grad for _, grad in pairs], False, False)
    return (None, *(arg.grad if isinstance(arg, Tensor) else None for arg in again))


# Programs that were made smaller


def shrink__in_one_line(program):
    if program == "attention":
        return "import torch; torch.ones(1, requires_grad=True).exp().add_(1).backward()"
    if program == "critic":
        return """from torch import nn, ones
layer = nn.Linear(1, 1); loss = layer(layer(ones(1))); nn.init.ones_(layer.weight); loss.backward()"""
    return """import torch

        class Project(torch.autograd.Function):
            forward = lambda ctx, x, weight: x
            backward = lambda ctx, grad: (None, grad)

        Project.apply(torch.ones(2), torch.ones(3, requires_grad=True)).sum().backward()"""


def shrink__in_the_words_of_the_long_programs(program):
    """Comments, long names, blank lines and other indentation count nothing."""
    return {
        "attention": """
            import torch

            scores_of_all_words = torch.ones(2, requires_grad=True)  # a leaf
            weights_of_all_words = scores_of_all_words.exp()
            weights_of_all_words /= 2  # the cause

            weights_of_all_words.sum().backward()
        """,
        "critic": """
            from torch import no_grad, ones
            from torch.nn import Linear

            critic = Linear(1, 1)
            copy = ones(1, 1, requires_grad=True)
            loss = critic(copy).mean()
            with no_grad():
              for weight in critic.parameters():
                weight -= 1
            loss.backward()
        """,
        "project": """
            import torch

            class Project(torch.autograd.Function):
                @staticmethod
                def forward(ctx, x, weight):
                    return x @ weight

                @staticmethod
                def backward(ctx, grad):
                    return None, grad.t()

            weight = torch.ones(3, 2, requires_grad=True)
            Project.apply(torch.ones(3, 3), weight).sum().backward()
        """,
    }[program]


def shrink__with_names_that_begin_with_one_underscore(program):
    return {
        "attention": """
            import torch
            _x = torch.ones(1, requires_grad=True)
            for _ in range(1): _y = _x.exp()
            _y += 1
            _y.backward()
        """,
        "critic": """
            import torch
            from torch.nn import Linear as _Linear
            _layer = _Linear(1, 1)
            _loss = _layer(_layer(torch.ones(1)))
            with torch.no_grad():
                _layer.weight += 1
            _loss.backward()
        """,
        "project": """
            import torch

            class Project(torch.autograd.Function):
                @staticmethod
                def forward(ctx, x, weight):
                    return x @ weight.t()

                @staticmethod
                def backward(ctx, grad):
                    return None, grad.t() @ torch.ones(1, 2)

            Project.apply(torch.ones(1, 3), torch.ones(2, 3, requires_grad=True)).sum().backward()
        """,
    }[program]


def shrink__with_other_ways_to_go_backward(program):
    programs = {}
    programs["attention"] = (
        "import torch\nx = torch.nn.Parameter(torch.ones(()))\ny = x.exp()\ny.zero_()\ntorch.autograd.backward(y)"
    )
    programs["critic"] = (
        "import torch\nimport torch.nn as nn\nm = nn.Linear(2, 2)\ny = nn.Sequential(m, m)(torch.zeros(2)).sum()\n"
        "with torch.no_grad(): m.weight.mul_(2)\ntorch.autograd.backward(y)"
    )
    programs["project"] = "\n".join((
        "from torch.autograd import Function",
        "import torch",
        "class Project(Function):",
        "\tdef forward(ctx, *args):",
        "\t\treturn args[0].sum()",
        "\tdef backward(ctx, grad):",
        "\t\treturn grad, torch.ones(2)",
        "def main():",
        "\tProject.apply(torch.ones(1), torch.ones(3, requires_grad=True)).backward()",
        "main()",
    ))  # fmt: skip
    return programs[program]


# Cases


def breaks_recording__of_short_programs():
    return [
        {"steps": ["inference_mode", "enable_grad"]},
        {"steps": ["no_grad", "end by KeyboardInterrupt"]},
        {"steps": ["no_grad", "no_grad", "end of the first"]},
        {"steps": ["no_grad", "no_grad", "set_grad_enabled(True)", "end by KeyError"]},
    ]


def breaks_recording__of_overlapping_blocks():
    inner = ["no_grad", "enable_grad", "end of the first", "end by KeyboardInterrupt"]
    changed = ("enable_grad", "set_grad_enabled(False)", "end by KeyError")
    return tuple(
        {"steps": steps} for steps in (inner, changed, ["set_grad_enabled(False)", "inference_mode", "enable_grad"])
    )
