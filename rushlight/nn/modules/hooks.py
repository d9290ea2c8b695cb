"""Hooks of a module on the way back: what gradients come to its results, and what it makes of them.

A module is no node of the graph: it may leave one or a hundred. So a node that changes nothing is put before all that
`forward` does and another one after it, and hooks on these two see the gradients that enter the module and those that leave
it. In PyTorch: `torch/utils/hooks.py`.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from typing import Any

from rushlight.aten.strided import Tensor
from rushlight.autograd.function import Function
from rushlight.autograd.grad_mode import is_grad_enabled


class BackwardHookFunction(Function):
    """A node that changes nothing. Source: `torch/nn/modules/_functions.py`, `BackwardHookFunction`."""

    @staticmethod
    def forward(ctx: Any, *args: Tensor) -> tuple[Tensor, ...]:
        ctx.mark_non_differentiable(*[arg for arg in args if not arg.requires_grad])
        return args

    @staticmethod
    def backward(ctx: Any, *grads: Tensor | None) -> tuple[Tensor | None, ...]:
        return grads


class BackwardHook:
    """The full backward hooks of one call of a module.

    `setup_input_hook` is for the arguments of `forward`, `setup_output_hook` for its result; each returns what it got, behind
    the new node. Each pre-hook runs as `hook(module, grad_outputs)` and may return others; each hook as `hook(module,
    grad_inputs, grad_outputs)`, and may return other `grad_inputs`. These are tuples with one entry per argument or result,
    None where it is no tensor.

    Source: `torch/utils/hooks.py`, `BackwardHook`.
    """

    def __init__(self, module: Any, hooks: Sequence[Callable], pre_hooks: Sequence[Callable]) -> None:
        self.module, self.hooks, self.pre_hooks = module, hooks, pre_hooks
        self.grad_outputs: tuple | None = None
        self.inputs: list[int] | None = None  # which of the arguments are tensors; None: none of them requires grad

    def setup_input_hook(self, args: tuple) -> tuple:
        self.count = len(args)
        args, self.inputs = self._behind_a_node(args, self._after_inputs)
        return args

    def setup_output_hook(self, result: Any) -> Any:
        if not isinstance(result, (Tensor, tuple)):
            warnings.warn(
                "For backward hooks to be called, module output should be a Tensor or a tuple of Tensors but received "
                f"{type(result)}",
                stacklevel=3,
            )
            return result
        outputs = result if isinstance(result, tuple) else (result,)
        self.output_count = len(outputs)
        self.outputs = [i for i, output in enumerate(outputs) if isinstance(output, Tensor)]
        outputs, _ = self._behind_a_node(outputs, self._after_outputs)
        return outputs if isinstance(result, tuple) else outputs[0]

    def _behind_a_node(self, values: tuple, hook: Callable) -> tuple[tuple, list[int] | None]:
        places = [i for i, value in enumerate(values) if isinstance(value, Tensor)]
        if not is_grad_enabled() or not any(values[i].requires_grad for i in places):
            return values, None
        tensors = BackwardHookFunction.apply(*(values[i] for i in places))
        node = next(tensor.grad_fn for tensor in tensors if tensor.grad_fn is not None)
        node.register_hook(hook)
        changed = dict(zip(places, tensors))
        replaced = [changed.get(i, value) for i, value in enumerate(values)]
        return (tuple(replaced) if type(values) is tuple else type(values)(*replaced)), places  # or a named tuple

    def _after_outputs(self, _: tuple, grads: tuple) -> tuple | None:
        """Of the node behind the results, after it has run: the way back through the module begins."""
        self.grad_outputs = _spread(grads, self.outputs, self.output_count)
        for hook in self.pre_hooks:
            self.grad_outputs = _changed(self.grad_outputs, hook(self.module, self.grad_outputs), "grad_output")
        grad_outputs = self.grad_outputs
        if self.inputs is None:  # the way back will not come to the arguments
            warnings.warn(
                "Full backward hook is firing when gradients are computed with respect to module outputs since no inputs "
                "require gradients.",
                stacklevel=3,
            )
            for hook in self.hooks:
                if hook(self.module, (None,) * self.count, grad_outputs) is not None:
                    raise RuntimeError("backward hook returned gradients, but no input requires them")
            self.grad_outputs = None
        return tuple(grad_outputs[i] for i in self.outputs)

    def _after_inputs(self, grads: tuple, _: tuple) -> tuple | None:
        """Of the node before `forward`, after it has run: the way back through the module ends."""
        if self.grad_outputs is None:  # it did not come through the results, as in a second derivative
            return None
        grad_inputs = _spread(grads, self.inputs, self.count)
        for hook in self.hooks:
            grad_inputs = _changed(grad_inputs, hook(self.module, grad_inputs, self.grad_outputs), "grad_input")
        self.grad_outputs = None
        return tuple(grad_inputs[i] for i in self.inputs)


def _spread(grads: Sequence, places: Sequence[int], count: int) -> tuple:
    spread = dict(zip(places, grads))
    return tuple(spread.get(i) for i in range(count))


def _changed(grads: tuple, changed: Any, what: str) -> tuple:
    if changed is None:
        return grads
    changed = changed if isinstance(changed, tuple) else (changed,)
    if len(changed) != len(grads):
        raise RuntimeError(
            f"Backward hook returned an invalid number of {what}, got {len(changed)}, but expected {len(grads)}"
        )
    return changed
