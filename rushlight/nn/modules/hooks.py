"""Full backward hooks of a module.

A module is not a node of the graph: its `forward` may make one node or a hundred. So one identity node is inserted before
`forward` and another one after it. Hooks on these two nodes see the gradients that enter the module in backward and those
that leave it. In PyTorch: `torch/utils/hooks.py`.
"""

from collections.abc import Callable, Sequence
from typing import Any

from rushlight.aten.strided import Tensor
from rushlight.autograd.function import Function
from rushlight.autograd.grad_mode import is_grad_enabled
from rushlight.c10.exception import warn


class BackwardHookFunction(Function):
    """The identity node. Source: `torch/nn/modules/_functions.py`, `BackwardHookFunction`."""

    @staticmethod
    def forward(ctx: Any, *args: Tensor) -> tuple[Tensor, ...]:
        ctx.mark_non_differentiable(*[arg for arg in args if not arg.requires_grad])
        return args

    @staticmethod
    def backward(ctx: Any, *grads: Tensor | None) -> tuple[Tensor | None, ...]:
        return grads


class BackwardHook:
    """The full backward hooks of one call of a module.

    `setup_input_hook` takes the arguments of `forward`, and `setup_output_hook` its result. Each returns the same values, passed
    through an identity node. A pre-hook runs as `hook(module, grad_outputs)` and may return replacements. A hook runs as
    `hook(module, grad_inputs, grad_outputs)` and may return replacements for `grad_inputs`. These are tuples with one entry
    per argument or result, None if it is not a tensor.

    Source: `torch/utils/hooks.py`, `BackwardHook`.
    """

    def __init__(self, module: Any, user_hooks: Sequence[Callable], user_pre_hooks: Sequence[Callable]) -> None:
        self.module, self.hooks, self.pre_hooks = module, user_hooks, user_pre_hooks
        self.grad_outputs: tuple | None = None
        self.inputs: list[int] | None = None  # the indices of the tensor arguments; None if none of them requires grad

    def setup_input_hook(self, args: tuple) -> tuple:
        self.count = len(args)
        args, self.inputs = self._apply_on_tensors(args, self._on_grad_inputs)
        return args

    def setup_output_hook(self, result: Any) -> Any:
        if not isinstance(result, (Tensor, tuple)):
            problem = "module output should be a Tensor or a tuple of Tensors for backward hooks to be called"
            warn(f"{problem}, but it is {type(result)}")
            return result
        outputs = result if isinstance(result, tuple) else (result,)
        self.output_count = len(outputs)
        self.outputs = [i for i, output in enumerate(outputs) if isinstance(output, Tensor)]
        outputs, _ = self._apply_on_tensors(outputs, self._on_grad_outputs)
        return outputs if isinstance(result, tuple) else outputs[0]

    def _apply_on_tensors(self, values: tuple, hook: Callable) -> tuple[tuple, list[int] | None]:
        indices = [i for i, value in enumerate(values) if isinstance(value, Tensor)]
        if not is_grad_enabled() or not any(values[i].requires_grad for i in indices):
            return values, None
        tensors = BackwardHookFunction.apply(*(values[i] for i in indices))
        node = next(tensor.grad_fn for tensor in tensors if tensor.grad_fn is not None)
        node.register_hook(hook)
        changed = dict(zip(indices, tensors))
        replaced = [changed.get(i, value) for i, value in enumerate(values)]
        return (tuple(replaced) if type(values) is tuple else type(values)(*replaced)), indices  # or a named tuple

    def _on_grad_outputs(self, _: tuple, grads: tuple) -> tuple | None:
        """Hook of the node after `forward`: the module's backward begins."""
        self.grad_outputs = _pack_with_none(grads, self.outputs, self.output_count)
        for hook in self.pre_hooks:
            changed = hook(self.module, self.grad_outputs)
            self.grad_outputs = _apply_hook_result(self.grad_outputs, changed, "grad_output")
        grad_outputs = self.grad_outputs
        if self.inputs is None:  # backward will not reach the arguments
            warn("a full backward hook gets no `grad_inputs`, because no input requires grad")
            for hook in self.hooks:
                changed = hook(self.module, (None,) * self.count, grad_outputs)
                nothing = isinstance(changed, tuple) and all(grad is None for grad in changed)
                if changed is not None and not nothing:
                    raise RuntimeError("backward hook returned gradients, but no input requires them")
            self.grad_outputs = None
        return tuple(grad_outputs[i] for i in self.outputs)

    def _on_grad_inputs(self, grads: tuple, _: tuple) -> tuple | None:
        """Hook of the node before `forward`: the module's backward ends."""
        if self.grad_outputs is None:  # backward did not pass the node after `forward`, as in a second derivative
            return None
        grad_inputs = _pack_with_none(grads, self.inputs, self.count)
        for hook in self.hooks:
            changed = hook(self.module, grad_inputs, self.grad_outputs)
            grad_inputs = _apply_hook_result(grad_inputs, changed, "grad_input")
        self.grad_outputs = None
        return tuple(grad_inputs[i] for i in self.inputs)


def _pack_with_none(grads: Sequence, indices: Sequence[int], count: int) -> tuple:
    by_index = dict(zip(indices, grads))
    return tuple(by_index.get(i) for i in range(count))


def _apply_hook_result(grads: tuple, changed: Any, what: str) -> tuple:
    if changed is None:
        return grads
    if len(changed) != len(grads):
        raise RuntimeError(f"Backward hook returned {len(changed)} {what}, but expected {len(grads)}")
    return changed
