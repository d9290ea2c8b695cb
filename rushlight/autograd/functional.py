"""Derivatives of functions: Jacobians and Hessians, and their products with vectors.

All of them call `autograd.grad`. The product of a Jacobian and a vector needs two backward passes: the first result is linear
in its `grad_outputs`, so its derivative with respect to `grad_outputs` is that product. In PyTorch:
`torch/autograd/functional.py`. Left out: the strategy "forward-mode", and `strict`. `vectorize` has no effect: in PyTorch it
chooses between two implementations with the same result.
"""

from collections.abc import Callable, Sequence
from typing import Any

from rushlight.aten.generated import functions
from rushlight.aten.strided import Tensor
from rushlight.autograd.engine import grad
from rushlight.autograd.grad_mode import enable_grad

__all__ = ["hessian", "hvp", "jacobian", "jvp", "vhp", "vjp"]

Tensors = Tensor | tuple[Tensor, ...]
Vector = Tensors | None  # may be left out if it has one element
Pair = tuple[Tensors, Tensors]


@enable_grad()
def vjp(func: Callable, inputs: Tensors, v: Vector = None, create_graph: bool = False, strict: bool = False) -> Pair:
    """The result of `func(*inputs)`, and the product of the vector `v` and the Jacobian."""
    xs, ys, one_x, one_y = _call("vjp", func, inputs, create_graph, strict)
    grads = _grad(ys, xs, _vector(v, ys), create_graph)
    return _finish(ys, one_y, create_graph), _finish(grads, one_x, create_graph)


@enable_grad()
def jvp(func: Callable, inputs: Tensors, v: Vector = None, create_graph: bool = False, strict: bool = False) -> Pair:
    """The result of `func(*inputs)`, and the product of the Jacobian and the vector `v`."""
    xs, ys, _, one_y = _call("jvp", func, inputs, create_graph, strict)
    dual = [functions.zeros_like(y, requires_grad=True) for y in ys]
    product = _grad(_grad(ys, xs, dual, True), dual, _vector(v, xs), create_graph)
    return _finish(ys, one_y, create_graph), _finish(product, one_y, create_graph)


@enable_grad()
def vhp(func: Callable, inputs: Tensors, v: Vector = None, create_graph: bool = False, strict: bool = False) -> Pair:
    """The result of `func(*inputs)`, one element, and the product of the vector `v` and the Hessian."""
    xs, ys, one_x, one_y = _call("vhp", func, inputs, create_graph, strict)
    _check_scalar("vhp", ys, one_y)
    product = _grad(_grad(ys, xs, None, True), xs, _vector(v, xs), create_graph)
    return _finish(ys, one_y, create_graph), _finish(product, one_x, create_graph)


@enable_grad()
def hvp(func: Callable, inputs: Tensors, v: Vector = None, create_graph: bool = False, strict: bool = False) -> Pair:
    """The result of `func(*inputs)`, one element, and the product of the Hessian and the vector `v`."""
    xs, ys, one_x, one_y = _call("hvp", func, inputs, create_graph, strict)
    _check_scalar("hvp", ys, one_y)
    dual = [functions.zeros_like(x, requires_grad=True) for x in xs]
    product = _grad(_grad(_grad(ys, xs, None, True), xs, dual, True), dual, _vector(v, xs), create_graph)
    return _finish(ys, one_y, create_graph), _finish(product, one_x, create_graph)


@enable_grad()
def jacobian(
    func: Callable,
    inputs: Tensors,
    create_graph: bool = False,
    strict: bool = False,
    vectorize: bool = False,
    strategy: str = "reverse-mode",
) -> Any:
    """The derivative of each result with respect to each input, `jacobian[i][j]`, in the shape of the result followed by that of
    the input. A function of one tensor, or with one result, has no tuple there. One backward pass gives one row."""
    if strategy != "reverse-mode":
        raise NotImplementedError(f"jacobian: rushlight leaves out strategy={strategy!r}")
    xs, ys, one_x, one_y = _call("jacobian", func, inputs, create_graph, strict)
    rows = []
    for y in ys:
        grads = [_grad([element], xs, None, create_graph, retain_graph=True) for element in y.reshape(-1)]
        blocks = [functions.stack(list(of_x)).view((*y.shape, *x.shape)) for of_x, x in zip(zip(*grads), xs)]
        rows.append(_finish(blocks, one_x, create_graph))
    return rows[0] if one_y else tuple(rows)


def hessian(
    func: Callable,
    inputs: Tensors,
    create_graph: bool = False,
    strict: bool = False,
    vectorize: bool = False,
    outer_jacobian_strategy: str = "reverse-mode",
) -> Any:
    """The second derivatives of a function whose result has one element, `hessian[i][j]`: the Jacobian of its Jacobian."""

    _as_tuple("hessian", "inputs", inputs)

    def scalar(*xs: Tensor) -> Tensor:
        y = func(*xs)
        _check_scalar("hessian", [y], isinstance(y, Tensor))
        return y.squeeze()

    def first(*xs: Tensor) -> Tensors:
        return jacobian(scalar, xs if isinstance(inputs, tuple) else xs[0], create_graph=True)

    return jacobian(first, inputs, create_graph, strict, vectorize, outer_jacobian_strategy)


# The parts ------------------------------------------------------------------------------------------------------------


def _call(name: str, func: Callable, inputs: Tensors, create_graph: bool, strict: bool) -> tuple:
    """Inputs that require grad and are not those of the caller, the results, and whether there is one of each without a tuple."""
    if strict:
        raise NotImplementedError(f"{name}: rushlight leaves out strict=True")
    xs, one_x = _as_tuple(name, "inputs", inputs)
    xs = [x.view_as(x) if create_graph and x.requires_grad else x.detach().requires_grad_() for x in xs]
    ys, one_y = _as_tuple(name, "outputs of the user-provided function", func(*xs))
    return xs, ys, one_x, one_y


def _as_tuple(name: str, what: str, values: Any) -> tuple[tuple[Tensor, ...], bool]:
    one = not isinstance(values, tuple)
    values = (values,) if one else values
    for value in values:
        if not isinstance(value, Tensor):
            wanted = f"must be either a Tensor or a tuple of Tensors, not {type(value)}"
            raise TypeError(f"The {what} given to {name} {wanted}")
    return values, one


def _check_scalar(name: str, ys: Sequence[Tensor], one: bool) -> None:
    if not one or ys[0].numel() != 1:
        raise RuntimeError(f"The function given to {name} should return a single Tensor with a single element")


def _vector(v: Tensors | None, like: Sequence[Tensor]) -> Sequence[Tensor] | None:
    if v is None:
        if len(like) != 1 or like[0].numel() != 1:
            needed = "one Tensor with a single element in its place"
            raise RuntimeError(f"The vector v can only be None if there is {needed}")
        return [functions.ones_like(like[0])]
    v = v if isinstance(v, (tuple, list)) else (v,)
    if [given.shape for given in v] != [wanted.shape for wanted in like]:
        raise RuntimeError(f"v has invalid sizes: should be {[wanted.shape for wanted in like]}")
    return v


def _grad(ys: Sequence[Tensor], xs: Sequence[Tensor], v: Any, create_graph: bool, retain_graph=None) -> list[Tensor]:
    """`autograd.grad` with zeros for each input that no result depends on."""
    pairs = [(y, None if v is None else v[i]) for i, y in enumerate(ys) if y.requires_grad]
    grads: Sequence[Tensor | None] = [None] * len(xs)
    if pairs:
        ys, v = zip(*pairs)
        computed = grad(ys, xs, v, retain_graph, create_graph, allow_unused=True)
        assert isinstance(computed, tuple), "it is a dict only if `xs` is one"
        grads = computed
    return [functions.zeros_like(x) if g is None else g for x, g in zip(xs, grads)]


def _finish(values: Sequence[Tensor], one: bool, create_graph: bool) -> Tensors:
    values = tuple(values if create_graph else (value.detach() for value in values))
    return values[0] if one else values
