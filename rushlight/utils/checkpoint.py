"""Checkpointing: recompute intermediate results in backward instead of saving them.

In PyTorch: `torch/utils/checkpoint.py`. Left out: the non-reentrant form, and saving the state of random generators.
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
        if local.for_inputs:  # the inner backward pass would not be limited to these inputs
            raise RuntimeError("a checkpoint needs .backward() without `inputs`, and does not work in .grad()")
        return recompute(ctx, *grads)


def recompute(ctx: FunctionCtx, *grads: Tensor | None) -> tuple:
    """The backward of a checkpoint's node: run the function again, this time recorded, and then its backward.

    `ctx.run` is the function. `ctx.args` has its arguments, with None instead of each tensor. `ctx.saved_tensors` has the
    tensors, with None instead of each argument that is not a tensor. The function runs on tensors that share memory with the
    saved ones but are leaves of a separate graph, so that its backward does not reach the outer graph. Each requires grad if
    the saved tensor requires grad now, when it is unpacked (not: when the checkpoint was made). Grad mode is on during the run.

    The function returns one result or a tuple of results, the same as the first time. One backward pass (`backward`) starts
    from the results that require grad, with their gradients. Other tensors that the function uses, which are not among its
    arguments, accumulate their gradients as usual.

    Args:
        grads: one for each result.

    Returns:
        a tuple: None for the function, then for each argument its gradient, or None if it has none. A tensor that is passed
            twice is two arguments, each with its own gradient.

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
    """Compute `function(*args)` and save only the arguments. The backward pass runs the function again. Source:
    `torch/utils/checkpoint.py`, `checkpoint`; only the reentrant form is here."""
    return CheckpointFunction.apply(function, *args)
