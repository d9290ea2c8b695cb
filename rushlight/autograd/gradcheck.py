"""Check derivatives: compare gradients with finite differences.

In PyTorch: `torch/autograd/gradcheck.py`. Left out: forward mode, batched gradients, complex numbers.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import product
from typing import Any

from rushlight.aten.generated import functions
from rushlight.aten.native.creation import tensor
from rushlight.aten.strided import Tensor
from rushlight.autograd.engine import grad
from rushlight.autograd.function import Function
from rushlight.autograd.grad_mode import enable_grad
from rushlight.autograd.history import _as_tuple, requires_grad
from rushlight.c10.dispatch import PYTHON
from rushlight.c10.dtypes import dtype, float64
from rushlight.c10.exception import warn
from rushlight.c10.storage import Size


def gradcheck(
    func: Callable,
    inputs: Tensor | Sequence[Any],
    *,
    eps: float = 1e-6,
    atol: float = 1e-5,
    rtol: float = 1e-3,
    raise_exception: bool = True,
    nondet_tol: float = 0.0,
    check_undefined_grad: bool = True,
    check_grad_dtypes: bool = False,
    check_batched_grad: bool = False,
    check_batched_forward_grad: bool = False,
    check_forward_ad: bool = False,
    check_backward_ad: bool = True,
    fast_mode: bool = False,
    masked: bool | None = None,
) -> bool:
    """Compare the gradients of a function with finite differences, (f(x + eps) - f(x - eps)) / (2 eps), element by element.

    Inputs that require grad should be float64. If the gradients differ, it raises GradcheckError or, without
    `raise_exception`, returns False. The same holds if no output requires grad, but an output changes with the input; if two
    backward passes differ by more than `nondet_tol`; if the gradient of zeros is not zero; and, with `check_undefined_grad`, if
    a backward raises RuntimeError, or returns another gradient than zero, when no gradient arrives. With `fast_mode` it compares
    all elements too, where PyTorch compares a random sum of them. Raises NotImplementedError for the checks that are left out.

    Source: `torch/autograd/gradcheck.py`, `gradcheck`.
    """
    left_out = {"check_batched_grad": check_batched_grad, "check_batched_forward_grad": check_batched_forward_grad}
    left_out |= {"check_forward_ad": check_forward_ad}
    for name, wanted in left_out.items():
        if wanted:
            raise NotImplementedError(f"gradcheck: {name}=True is not implemented")
    inputs = _as_tuple(inputs)
    checked = check_inputs(inputs)
    if not check_backward_ad:
        return True
    outputs = _as_tuple(func(*inputs))
    try:
        if outputs and not _differentiable(outputs):
            check_constant(func, inputs, checked, eps)
        for number, output in enumerate(outputs):
            if output.requires_grad:
                seen: list[tuple[Size, dtype]] = []

                def perturbed(n: int = number, seen: list[tuple[Size, dtype]] = seen) -> Tensor:
                    output = _as_tuple(func(*inputs))[n]
                    seen.append((output.shape, output.dtype))
                    return output

                numerical = [numerical_gradient(*as_plain(perturbed, x), eps) for x in checked]
                check_same_outputs(seen)
                check_jacobian(output, number, checked, numerical, (atol, rtol, nondet_tol))
        if _differentiable(outputs):
            check_zero(_differentiable(outputs), checked, "backward not multiplied by grad_output")
            if check_undefined_grad:
                check_undefined(func, inputs, checked)
    except GradcheckError:
        if raise_exception:
            raise
        return False
    return True


def check_inputs(inputs: Sequence[Any]) -> list[Tensor]:
    """The inputs that require grad. Source: `torch/autograd/gradcheck.py`, `_check_inputs`."""
    checked = []
    for i, x in enumerate(inputs):
        if not requires_grad(x):
            continue
        if x.dtype is not float64:
            problem = f"Input #{i} requires gradient and is not float64."
            warn(f"{problem} This check will likely fail.")
        if any(stride == 0 and size > 1 for size, stride in zip(x.shape, x.stride())):
            problem = f"The {i}th input has a dimension with stride 0. gradcheck only supports inputs that are non-overlapping."
            raise RuntimeError(f"{problem} Call .contiguous on it first.")
        checked.append(x)
    if not checked:
        problem = "gradcheck expects at least one input tensor to require gradient"
        raise ValueError(f"{problem}, but none of them have requires_grad=True.")
    return checked


def check_same_outputs(seen: Sequence[tuple[Size, dtype]]) -> None:
    """Refuse outputs whose shape or dtype, in pairs for x + eps and x - eps, depends on x.
    Source: `torch/autograd/gradcheck.py`, `_check_outputs_same_dtype_and_shape`."""
    for pair in zip(seen[::2], seen[1::2]):
        for name, up, down in zip(("shape", "dtype"), *pair):
            if up != down:
                problem = f"Expected `func` to return outputs with the same {name} when inputs are perturbed"
                raise AssertionError(f"{problem}, but got {up} and {down}")


def check_constant(function: Callable, inputs: Sequence[Any], checked: Sequence[Tensor], eps: float) -> None:
    """Check that outputs that do not require grad do not depend on the inputs.
    Source: `torch/autograd/gradcheck.py`, `_check_no_differentiable_outputs`."""

    def all_outputs() -> Tensor:
        outputs = [output.detach().reshape(-1).to(float64) for output in _as_tuple(function(*inputs))]
        return functions.cat(outputs)

    if any(value != 0 for x in checked for row in numerical_gradient(all_outputs, x, eps) for value in row):
        raise GradcheckError("Numerical gradient for function expected to be zero")


def check_jacobian(output: Tensor, number: int, checked: Sequence[Tensor], numerical: Sequence, bounds: tuple) -> None:
    """Compare each row of the Jacobian of an output, computed twice by backward passes, with the finite differences."""
    atol, rtol, nondet_tol = bounds
    for j in range(output.numel()):
        cotangent = functions.zeros(output.shape, dtype=output.dtype)  # contiguous, so that `view` works
        cotangent.view(-1)[j] = 1.0
        twice = [grad(output, checked, cotangent, retain_graph=True, allow_unused=True) for _ in range(2)]
        rows, again = (
            [[0.0] * x.numel() if dx is None else plain(dx).reshape(-1).tolist() for x, dx in zip(checked, input_grads)]
            for input_grads in twice
        )
        if any(abs(a - b) > nondet_tol for mine, other in zip(rows, again) for a, b in zip(mine, other)):
            again = "running backward with same input and grad_output multiple times gives different values."
            tolerance = f"The tolerance for nondeterminism was {nondet_tol}."
            raise GradcheckError(f"Backward is not reentrant, i.e., {again} {tolerance}")
        for k, (mine, expected) in enumerate(zip(rows, numerical)):
            for i, (a, b) in enumerate(zip(mine, [column[j] for column in expected])):
                if not abs(a - b) <= atol + rtol * abs(b):
                    which = f"element {j} of the output by element {i} of the input"
                    values = f"{which} is {a} analytically, {b} numerically"
                    raise GradcheckError(f"Jacobian mismatch for output {number} with respect to input {k}: {values}")


def check_zero(outputs: Sequence[Tensor], checked: Sequence[Tensor], problem: str) -> None:
    """Check that the gradients of zeros are zero."""
    zeros = [functions.zeros_like(output) for output in outputs]
    for input_grad in grad(outputs, checked, zeros, retain_graph=True, allow_unused=True):
        if input_grad is not None and not bool((input_grad == 0).all()):
            raise GradcheckError(problem)


class UndefinedGrad(Function):
    """The identity. Its backward returns no gradient. Source: `torch/csrc/autograd/functions/basic_ops.h`, `UndefinedGrad`."""

    @staticmethod
    def forward(ctx: Any, x: Tensor) -> Tensor:
        return x.clone()

    @staticmethod
    def backward(ctx: Any, *grads: Tensor | None) -> None:
        return None


def check_undefined(function: Callable, inputs: Sequence[Any], checked: Sequence[Tensor]) -> None:
    """Check backward when no gradient arrives at any output, and at each output alone.
    Source: `torch/autograd/gradcheck.py`, `_test_undefined_backward_mode`."""
    count = len(_differentiable(function(*inputs)))
    for undefined in [set(range(count)), *({i} for i in range(count) if count > 1)]:
        outputs = enumerate(_differentiable(function(*inputs)))
        outputs = [UndefinedGrad.apply(output) if i in undefined else output for i, output in outputs]
        problem = "Expected all input grads to be undefined or zero when all output grads are undefined or zero."
        try:
            check_zero(outputs, checked, problem)
        except GradcheckError:
            _warn_of_undefined()
            raise
        except RuntimeError as error:
            _warn_of_undefined()
            raise GradcheckError("Expected backward function to handle undefined output grads.") from error


def _warn_of_undefined() -> None:
    """Source: `torch/autograd/gradcheck.py`, `warn_bc_breaking`."""
    problem = "Backwards compatibility: New undefined gradient support checking feature is enabled by default"
    warn(f"{problem}, but it may break existing callers: check_undefined_grad=False turns it off.")


def gradgradcheck(
    func: Callable, inputs: Tensor | Sequence, grad_outputs: Tensor | Sequence | None = None, *,
    gen_non_contig_grad_outputs: bool = False, check_fwd_over_rev: bool = False, check_rev_over_rev: bool = True, **options: Any,
) -> bool:  # fmt: skip
    """Compare the second derivatives with finite differences: `gradcheck` of the function from the inputs and the gradients of
    the outputs to the gradients of the inputs.

    Args:
        grad_outputs: one for each output that requires grad. The default is random numbers between -1 and 1 that require
            grad.
        gen_non_contig_grad_outputs: whether these random ones are not contiguous.
        options: those of `gradcheck`.

    Source: `torch/autograd/gradcheck.py`, `gradgradcheck`.
    """
    inputs = _as_tuple(inputs)
    checked = [x for x in inputs if isinstance(x, Tensor) and x.requires_grad]
    if grad_outputs is None:
        outputs = _differentiable(func(*inputs))
        grad_outputs = [functions.rand_like(output).mul_(2).sub_(1) for output in outputs]
        if gen_non_contig_grad_outputs:
            grad_outputs = [functions.stack([x, functions.empty_like(x)], -1)[..., 0] for x in grad_outputs]
        grad_outputs = [x.requires_grad_() for x in grad_outputs]
    grad_outputs = _as_tuple(grad_outputs)
    if check_fwd_over_rev:
        raise NotImplementedError("gradgradcheck: check_fwd_over_rev=True is not implemented")
    if not check_rev_over_rev:
        return True

    def first(*args: Any) -> tuple[Tensor, ...]:
        with enable_grad():
            outputs, cotangents = _differentiable(func(*args[: len(inputs)])), args[len(inputs) :]
            input_grads = grad(outputs, checked, cotangents, create_graph=True, allow_unused=True)
        return tuple(input_grad for input_grad in input_grads if input_grad is not None)

    return gradcheck(first, (*inputs, *grad_outputs), **options)


class GradcheckError(RuntimeError):
    """Numerical and analytical derivatives differ. Source: `torch/autograd/gradcheck.py`."""


def _differentiable(value: Any) -> tuple[Tensor, ...]:
    return tuple(output for output in _as_tuple(value) if output.requires_grad)


def plain(x: Tensor) -> Any:
    """The tensor, or a plain one with its elements if its class has a `__torch_dispatch__`."""
    if not x._key_set & PYTHON:
        return x
    return tensor([element.item() for element in x.detach().reshape(-1)], dtype=x.dtype).view(x.shape)


def as_plain(function: Callable[[], Tensor], x: Tensor) -> tuple[Callable[[], Tensor], Tensor]:
    """A function of a tensor as one of a plain tensor, with a plain result."""
    if not x._key_set & PYTHON:
        return function, x
    elements = plain(x)

    def of_elements() -> Tensor:
        x.detach().copy_(elements)
        return plain(function())

    return of_elements, elements


def numerical_gradient(function: Callable[[], Tensor], x: Tensor, eps: float) -> list[list[float]]:
    """The derivative of every element of a result by every element of `x`: (f(x + eps) - f(x - eps)) / (2 eps).

    Args:
        function: takes no arguments. It computes with the current elements of `x` and returns one tensor, which may share
            memory with `x`. It is called twice for each element, in the current grad mode, because it may compute gradients
            itself. If it raises, an element of `x` may keep a changed value.
        x: float64, with any sizes and strides; it may require grad. It is written to in place, one element at a time, for
            example through `x.detach().numpy()`: the writes are not recorded, and the version counter of `x` does not
            change. At the end each element has its old value, to the last bit.
        eps: the step.

    Returns:
        a list or a tuple. For each element of `x`, in row-major order, it has a list or a tuple of numbers: one for each
            element of the result, row-major too.

    >>> x = rl.tensor([1.0, 3.0], dtype=rl.float64)
    >>> [[round(value, 4) for value in row] for row in numerical_gradient(lambda: x * x, x, 1e-6)]
    [[2.0, 0.0], [0.0, 6.0]]

    Source: `torch/autograd/gradcheck.py`, `get_numerical_jacobian_wrt_specific_input`.
    """
    rows, values = [], x._array
    for index in product(*map(range, x.shape)):
        before, ends = values[index].item(), []
        for step in eps, -eps:
            values[index] = before + step
            ends.append(function().reshape(-1).tolist())
        values[index] = before
        rows.append([(up - down) / (2 * eps) for up, down in zip(*ends)])
    return rows
