"""Check derivatives: compare gradients with finite differences.

In PyTorch: `torch/autograd/gradcheck.py`. Left out: forward mode, batched gradients, complex numbers.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import product
from typing import Any

from rushlight.aten.generated import functions
from rushlight.aten.strided import Tensor
from rushlight.autograd.engine import grad
from rushlight.autograd.grad_mode import enable_grad
from rushlight.autograd.history import _as_tuple, requires_grad


def gradcheck(
    function: Callable,
    inputs: Tensor | Sequence[Any],
    *,
    eps: float = 1e-6,
    atol: float = 1e-5,
    rtol: float = 1e-3,
    raise_exception: bool = True,
) -> bool:
    """Compare the gradients of a function with finite differences, (f(x + eps) - f(x - eps)) / (2 eps), element by element.

    Inputs that require grad should be float64. If they differ, it raises GradcheckError or, without `raise_exception`,
    returns False.

    Source: `torch/autograd/gradcheck.py`, `gradcheck`.
    """
    inputs = (inputs,) if isinstance(inputs, Tensor) else tuple(inputs)
    checked = [x for x in inputs if isinstance(x, Tensor) and x.requires_grad]
    if not checked:
        raise ValueError("gradcheck expects at least one input tensor with requires_grad=True, but none has it.")
    outputs = _as_tuple(function(*inputs))
    for number, output in enumerate(outputs):
        if not requires_grad(output):
            continue
        numerical = [numerical_gradient(lambda n=number: _as_tuple(function(*inputs))[n], x, eps) for x in checked]
        for j in range(output.numel()):
            cotangent = functions.zeros(output.shape, dtype=output.dtype)  # contiguous, so that `view` works
            cotangent.view(-1)[j] = 1.0
            found = grad(output, checked, cotangent, retain_graph=True, allow_unused=True)
            for k, (given, expected) in enumerate(zip(found, numerical)):
                row = [each[j] for each in expected]
                mine = [0.0] * len(row) if given is None else given.reshape(-1).tolist()
                wrong = [i for i, (a, b) in enumerate(zip(mine, row)) if not abs(a - b) <= atol + rtol * abs(b)]
                if wrong:
                    if not raise_exception:
                        return False
                    i = wrong[0]
                    which = f"element {j} of the output by element {i} of the input"
                    values = f"{which} is {mine[i]} analytically, {row[i]} numerically"
                    raise GradcheckError(f"Jacobian mismatch for output {number} with respect to input {k}: {values}")
    return True


def gradgradcheck(
    function: Callable, inputs: Tensor | Sequence, grad_outputs: Tensor | Sequence | None = None, **options: Any
) -> bool:
    """Compare the second derivatives with finite differences: `gradcheck` of the function from the inputs and the gradients of
    the outputs to the gradients of the inputs.

    Args:
        grad_outputs: one for each output that requires grad. The default is random numbers between -1 and 1 that require
            grad.
        options: those of `gradcheck`.

    Source: `torch/autograd/gradcheck.py`, `gradgradcheck`.
    """
    inputs = _as_tuple(inputs)
    checked = [x for x in inputs if isinstance(x, Tensor) and x.requires_grad]
    if grad_outputs is None:
        outputs = _differentiable(function(*inputs))
        grad_outputs = [functions.rand_like(output).mul_(2).sub_(1).requires_grad_() for output in outputs]
    grad_outputs = _as_tuple(grad_outputs)

    def first(*args: Any) -> tuple[Tensor, ...]:
        with enable_grad():
            outputs, cotangents = _differentiable(function(*args[: len(inputs)])), args[len(inputs) :]
            found = grad(outputs, checked, cotangents, create_graph=True, allow_unused=True)
        return tuple(each for each in found if each is not None)

    return gradcheck(first, (*inputs, *grad_outputs), **options)


class GradcheckError(RuntimeError):
    """Source: `torch/autograd/gradcheck.py`."""


def _differentiable(value: Any) -> tuple[Tensor, ...]:
    return tuple(output for output in _as_tuple(value) if requires_grad(output))


def numerical_gradient(function: Callable[[], Tensor], x: Tensor, eps: float) -> list[list[float]]:
    """The derivative of every element of a result by every element of `x`: (f(x + eps) - f(x - eps)) / (2 eps).

    Args:
        function: takes no arguments. It computes with the current elements of `x` and returns one tensor, which may share
            memory with `x`. It is called in the current grad mode, because it may compute gradients itself. If it raises,
            an element of `x` may keep a changed value.
        x: float64, with any sizes and strides; it may require grad. It is written to in place, one element at a time, for
            example through `x.detach().numpy()`: the writes are not recorded, and the version counter of `x` does not
            change. At the end each element has its old value, to the last bit.
        eps: the step.

    Returns:
        for each element of `x`, in row-major order, a list of numbers: one for each element of the result, row-major too.

    Source: `torch/autograd/gradcheck.py`, `get_numerical_jacobian_wrt_specific_input`.
    """
    rows, values = [], x.detach().numpy()
    for index in product(*map(range, x.shape)):
        before, ends = values[index].item(), []
        for step in eps, -eps:
            values[index] = before + step
            ends.append(function().reshape(-1).tolist())
        values[index] = before
        rows.append([(up - down) / (2 * eps) for up, down in zip(*ends)])
    return rows
