"""Is a derivative right? Gradients held against differences.

In PyTorch: `torch/autograd/gradcheck.py`. Left out: forward mode, batched gradients, complex numbers.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from rushlight import functions
from rushlight.engine import grad
from rushlight.grad_mode import no_grad
from rushlight.history import requires_grad
from rushlight.strided import Tensor


def gradcheck(
    function: Callable,
    inputs: Tensor | Sequence[Any],
    *,
    eps: float = 1e-6,
    atol: float = 1e-5,
    rtol: float = 1e-3,
    raise_exception: bool = True,
) -> bool:
    """Hold the gradients of a function against differences: (f(x + eps) - f(x - eps)) / (2 eps), element by element.

    Inputs that require grad should be float64. Raises GradcheckError where they differ, or returns False.

    Source: `torch/autograd/gradcheck.py`, `gradcheck`.
    """
    inputs = (inputs,) if isinstance(inputs, Tensor) else tuple(inputs)
    checked = [x for x in inputs if isinstance(x, Tensor) and x.requires_grad]
    if not checked:
        raise ValueError(
            "gradcheck expects at least one input tensor to require gradient, but none of them have requires_grad=True."
        )
    outputs = _as_tuple(function(*inputs))
    for number, output in enumerate(outputs):
        if not requires_grad(output):
            continue
        numerical = [_numerical(function, inputs, number, x, eps) for x in checked]
        for j in range(output.numel()):
            cotangent = functions.zeros_like(output)
            cotangent.reshape(-1)[j] = 1.0
            found = grad(output, checked, cotangent, retain_graph=True, allow_unused=True)
            for k, (given, expected) in enumerate(zip(found, numerical)):
                row = [expected[i][j] for i in range(len(expected))]
                mine = [0.0] * len(row) if given is None else given.reshape(-1).tolist()
                wrong = [i for i, (a, b) in enumerate(zip(mine, row)) if not abs(a - b) <= atol + rtol * abs(b)]
                if wrong:
                    if not raise_exception:
                        return False
                    i = wrong[0]
                    raise GradcheckError(
                        f"Jacobian mismatch for output {number} with respect to input {k}: element {j} of the output by element "
                        f"{i} of the input is {mine[i]} analytically, {row[i]} numerically"
                    )
    return True


class GradcheckError(RuntimeError):
    """Source: `torch/autograd/gradcheck.py`."""


def _as_tuple(value: Any) -> tuple:
    return value if isinstance(value, tuple) else tuple(value) if isinstance(value, list) else (value,)


def _numerical(function: Callable, inputs: Sequence[Any], number: int, x: Tensor, eps: float) -> list[list[float]]:
    """For each element of `x` the differences of all elements of one output."""
    rows = []
    values = x.detach()
    for i in range(x.numel()):
        index = _index(i, x.shape)
        ends = []
        for step in (eps, -eps):
            before = values.numpy()[index].item()
            values.numpy()[index] = before + step
            with no_grad():
                ends.append(_as_tuple(function(*inputs))[number].reshape(-1).tolist())
            values.numpy()[index] = before
        rows.append([(up - down) / (2 * eps) for up, down in zip(*ends)])
    return rows


def _index(i: int, sizes: Sequence[int]) -> tuple[int, ...]:
    index = []
    for size in reversed(sizes):
        index.append(i % size)
        i //= size
    return tuple(reversed(index))
