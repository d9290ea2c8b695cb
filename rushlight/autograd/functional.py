"""The Jacobian of a function: `jacobian` calls `autograd.grad` once for each element of a result.

In PyTorch: `torch/autograd/functional.py`. Left out: `hessian` and the products of Jacobians and Hessians with vectors, the
strategy "forward-mode", and `strict`. `vectorize` has no effect: in PyTorch it chooses between two implementations with the same
result.
"""

from collections.abc import Callable, Sequence
from typing import Any

from rushlight.aten.generated import functions
from rushlight.aten.strided import Tensor
from rushlight.autograd.engine import grad
from rushlight.autograd.grad_mode import enable_grad

__all__ = ["jacobian"]


@enable_grad()
def jacobian(
    func: Callable,
    inputs: Tensor | tuple[Tensor, ...],
    create_graph: bool = False,
    strict: bool = False,
    vectorize: bool = False,
    strategy: str = "reverse-mode",
) -> Any:
    """The derivative of each result with respect to each input, `jacobian[i][j]`, in the shape of the result followed by that of
    the input. A function of one tensor, or with one result, has no tuple there. One backward pass gives one row."""
    if strategy != "reverse-mode" or strict:
        raise NotImplementedError("jacobian: rushlight leaves out strict=True and strategy='forward-mode'")
    given, one_x = _as_tuple("inputs", inputs)
    # The inputs of the function require grad, and are not those of the caller.
    xs = [x.view_as(x) if create_graph and x.requires_grad else x.detach().requires_grad_() for x in given]
    ys, one_y = _as_tuple("outputs of the user-provided function", func(*xs))
    rows = []
    for y in ys:
        grads = [_grad(element, xs, create_graph) for element in y.reshape(-1)]
        blocks = [functions.stack(list(of_x)).view((*y.shape, *x.shape)) for of_x, x in zip(zip(*grads), xs)]
        row = tuple(block if create_graph else block.detach() for block in blocks)
        rows.append(row[0] if one_x else row)
    return rows[0] if one_y else tuple(rows)


def _as_tuple(what: str, values: Any) -> tuple[tuple[Tensor, ...], bool]:
    """The tensors, and whether there was one without a tuple."""
    one = not isinstance(values, tuple)
    values = (values,) if one else values
    for value in values:
        if not isinstance(value, Tensor):
            wanted = f"must be either a Tensor or a tuple of Tensors, not {type(value)}"
            raise TypeError(f"The {what} given to jacobian {wanted}")
    return values, one


def _grad(y: Tensor, xs: Sequence[Tensor], create_graph: bool) -> list[Tensor]:
    """The gradient of one element, with zeros for each input that it does not depend on."""
    grads: Any = grad(y, xs, None, True, create_graph, allow_unused=True) if y.requires_grad else [None] * len(xs)
    return [functions.zeros_like(x) if g is None else g for x, g in zip(xs, grads)]
