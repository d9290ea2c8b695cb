"""Checkpointing: compute again rather than keep.

In PyTorch: `torch/utils/checkpoint.py`. Left out: the way that is not re-entrant, and keeping the state of random generators.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from rushlight.aten.strided import Tensor
from rushlight.autograd.engine import backward
from rushlight.autograd.function import Function, FunctionCtx
from rushlight.autograd.grad_mode import enable_grad
from rushlight.autograd.history import requires_grad
from rushlight.c10.dispatch import local


class CheckpointFunction(Function):
    """Source: `torch/utils/checkpoint.py`, `CheckpointFunction`."""

    @staticmethod
    def forward(ctx: FunctionCtx, function: Callable, *args: Any) -> Any:
        ctx.run, ctx.args = function, [None if isinstance(arg, Tensor) else arg for arg in args]
        ctx.save_for_backward(*(arg if isinstance(arg, Tensor) else None for arg in args))
        return function(*args)

    @staticmethod
    def backward(ctx: FunctionCtx, *grads: Tensor | None) -> tuple:
        if local.for_inputs:  # the backward pass within this one would not know of them
            raise RuntimeError(
                "a re-entrant checkpoint is incompatible with .grad() and with the argument `inputs` of "
                ".backward(): call .backward() without it."
            )
        return recompute(ctx, *grads)


def recompute(ctx: FunctionCtx, *grads: Tensor | None) -> tuple:
    """Run a checkpointed function once more, this time recording, and go back through it: the backward of its node.

    `ctx.run` is the function, and `ctx.args` its arguments, with None in the place of each tensor; these are in
    `ctx.saved_tensors`, with None in the place of each argument that is no tensor. The function runs on tensors that share
    their memory with the saved ones, but are leaves of a graph of their own, so that nothing else is reached; each requires
    grad if the saved one does, now that it is unpacked (and not if it did when the checkpoint was made). It runs with grad
    mode on.

    What it returns, one result or a tuple of them, is the same as the first time. Those results that require grad are gone
    back from, in one backward pass (`backward`), with their gradients. What else the function used, tensors that are not among
    its arguments, accumulates its gradients as usual.

    Args:
        grads: one for each result.

    Returns:
        a tuple: None for the function, then for each argument its gradient, or None where there is none.

    Raises:
        RuntimeError: none of the results requires grad.

    Source: `torch/utils/checkpoint.py`, `CheckpointFunction.backward`.
    """
    again = list(ctx.args)
    for i, saved in enumerate(ctx.saved_tensors):
        if saved is not None:
            again[i] = saved.detach()
            again[i].requires_grad = saved.requires_grad
    with enable_grad():
        outputs = ctx.run(*again)
    outputs = outputs if isinstance(outputs, tuple) else (outputs,)
    pairs = [(output, grad) for output, grad in zip(outputs, grads) if requires_grad(output)]
    if not pairs:
        raise RuntimeError("none of output has requires_grad=True, this checkpoint() is not necessary")
    backward([output for output, _ in pairs], [grad for _, grad in pairs])
    return (None, *(arg.grad if isinstance(arg, Tensor) else None for arg in again))


def checkpoint(function: Callable, *args: Any, use_reentrant: bool = True) -> Any:
    """`function(*args)`, of which nothing is kept but the arguments: the backward pass runs it once more.

    Source: `torch/utils/checkpoint.py`, `checkpoint`; only the re-entrant way is here.
    """
    return CheckpointFunction.apply(function, *args)
