"""Jacobians and Hessians of a function, and their products with vectors.

All of them come from backward passes. One pass gives a vector times a Jacobian, so a row for each element of a result. The product
of a Jacobian with a vector comes from two passes: the first one is linear in the gradient of the outputs, so its derivative with
respect to that gradient is the transposed Jacobian (the double backward trick).

In PyTorch: `torch/autograd/functional.py`. There, the strategy "forward-mode" uses dual numbers, and `vectorize` chooses between
two implementations with the same result. Here, the former uses the double backward trick, and the latter has no effect.
"""

from collections.abc import Callable, Iterable, Sequence
from typing import Any, NoReturn

from rushlight.aten.generated import functions
from rushlight.aten.strided import Tensor
from rushlight.autograd.engine import grad
from rushlight.autograd.grad_mode import enable_grad, set_grad_enabled
from rushlight.c10.dispatch import local

__all__ = ["hessian", "hvp", "jacobian", "jvp", "vhp", "vjp"]

Tensors = tuple[Tensor, ...]
OUTPUTS = "outputs of the user-provided function"

INDEPENDENT = {  # what is said of a gradient number {i} that is None, by the pass that should have computed it
    "back": "The output of the user-provided function is independent of input {i}.",
    "back_trick": "The gradient with respect to the input is independent of entry {i} in the grad_outputs when using the double "
    "backward trick to compute forward mode gradients.",
    "double_back": "The jacobian of the user-provided function is independent of input {i}.",
    "double_back_trick": "The hessian of the user-provided function is independent of entry {i} in the grad_jacobian.",
}
NO_GRADIENT = {  # and of a tensor that does not require grad
    "outputs": "Output {i} of the user-provided function does not require gradients. The outputs must be computed in a "
    "differentiable manner from the input when running in strict mode.",
    "grad_inputs": "The gradient with respect to input {i} is independent of the inputs of the user-provided function.",
    "jacobian": "While computing the hessian, found that the jacobian of the user-provided function with respect to input {i} is "
    "independent of the input.",
}


def refuse(problem: str, i: int, when: str = "in strict mode") -> NoReturn:
    """Raise a `RuntimeError` about input or output number `i`."""
    problem = problem.format(i=i)
    raise RuntimeError(problem if "strict mode" in problem else f"{problem} This is not allowed {when}.")


def check_requires_grad(tensors: Iterable[Tensor | None], what: str, strict: bool) -> None:
    """In strict mode, refuse a tensor without a graph, and a gradient that is None."""
    for i, tensor in enumerate(tensors if strict else ()):
        if tensor is None:
            refuse(INDEPENDENT["back"], i)
        if not tensor.requires_grad:
            refuse(NO_GRADIENT[what], i)


def as_tuple(values: Any, what: str, function: str) -> tuple[Tensors, bool]:
    """The tensors, and whether there was a tuple."""
    is_tuple = isinstance(values, tuple)
    for i, value in enumerate(values if is_tuple else (values,)):
        if not isinstance(value, Tensor):
            which = f"value at index {i}" if is_tuple else f"given {what}"
            wanted = "must be either a Tensor or a tuple of Tensors"
            raise TypeError(f"The {what} given to {function} {wanted} but the {which} has type {type(value)}.")
    return (values if is_tuple else (values,)), is_tuple


def preprocess(tensors: Tensors, create_graph: bool, requires_grad: bool = True) -> Tensors:
    """The tensors that the function gets, or the vectors: never the caller's own, which the function may know too."""
    return tuple(
        x.view_as(x) if create_graph and x.requires_grad else x.detach().requires_grad_(requires_grad) for x in tensors
    )


def postprocess(values: Any, create_graph: bool) -> Any:
    """Tensors, or tuples of them, without a history that nobody asked for."""
    if isinstance(values, tuple):
        return tuple(postprocess(value, create_graph) for value in values)
    return values if create_graph else values.detach()


def unpacked(values: Tensors, is_tuple: bool) -> Any:
    """A tuple of tensors as the caller gave it: as a tuple, or as one tensor."""
    return values if is_tuple else values[0]


def vector(
    v: Any, like: Tensors, is_tuple: bool, function: str, create_graph: bool, what: str
) -> Sequence[Tensor | None]:
    """The vectors of a product, which must have the shapes of the tensors `like`. None stands for 1 if there is one element."""
    if v is None:
        if len(like) != 1 or like[0].numel() != 1:
            raise RuntimeError(f"The vector v can only be None if the {what} a single Tensor with a single element.")
        return [None]
    v, _ = as_tuple(v, "v", function)
    v = preprocess(v, create_graph, False)
    if len(v) != len(like):
        lengths = f"v is a tuple of invalid length: should be {len(like)} but got {len(v)}."
        raise RuntimeError(lengths if is_tuple else "The given v should contain a single Tensor.")
    for i, (given, wanted) in enumerate(zip(v, like)):
        if given.shape != wanted.shape:
            entry = f"Entry {i} in " if is_tuple else ""
            shapes = f"should be torch.Size({list(wanted.shape)}) but got torch.Size({list(given.shape)})"
            raise RuntimeError(f"{entry}v has invalid size: {shapes}.")
    return v


def gradients(
    outputs: Sequence[Tensor | None], inputs: Tensors, grads: Sequence[Tensor | None], create_graph: bool
) -> Sequence[Tensor | None]:
    """The gradients of those outputs that require grad."""
    pairs = [(y, g) for y, g in zip(outputs, grads) if y is not None and y.requires_grad]
    if not pairs:
        return [None] * len(inputs)
    ys, gs = zip(*pairs)
    return grad(ys, inputs, gs, True, create_graph, allow_unused=True)  # type: ignore[return-value]  # it gets no dict


def filled(grads: Sequence[Tensor | None], like: Tensors, strict: bool, create_graph: bool, stage: str) -> Tensors:
    """The gradients, with zeros for those that are None. In strict mode, these are refused."""
    for i, given in enumerate(grads if strict else ()):
        if given is None:
            refuse(INDEPENDENT[stage], i)
        if create_graph and not given.requires_grad:
            which = "hessian" if "double" in stage else "jacobian"
            problem = f"The {which} of the user-provided function is independent of input {i}."
            refuse(problem, i, "in strict mode when create_graph=True")
    return tuple(functions.zeros_like(x) if given is None else given for given, x in zip(grads, like))


def vjp(
    func: Callable, inputs: Any, v: Any = None, create_graph: bool = False, strict: bool = False
) -> tuple[Any, Any]:
    """The outputs of `func(*inputs)`, and the vector `v` times its Jacobian."""
    with enable_grad():
        given, is_tuple = as_tuple(inputs, "inputs", "vjp")
        xs = preprocess(given, create_graph)
        ys, several = as_tuple(func(*xs), OUTPUTS, "vjp")
        check_requires_grad(ys, "outputs", strict)
        v = vector(v, ys, several, "vjp", create_graph, "user-provided function returns")
    with set_grad_enabled(create_graph or local.grad_enabled):
        result = filled(gradients(ys, xs, v, create_graph), xs, strict, create_graph, "back")
    ys, result = postprocess((ys, result), create_graph)
    return unpacked(ys, several), unpacked(result, is_tuple)


def jvp(
    func: Callable, inputs: Any, v: Any = None, create_graph: bool = False, strict: bool = False
) -> tuple[Any, Any]:
    """The outputs of `func(*inputs)`, and its Jacobian times the vector `v`."""
    with enable_grad():
        given, is_tuple = as_tuple(inputs, "inputs", "jvp")
        xs = preprocess(given, create_graph)
        v = vector(v, xs, is_tuple, "jvp", create_graph, "input to the user-provided function is")
        ys, several = as_tuple(func(*xs), OUTPUTS, "jvp")
        check_requires_grad(ys, "outputs", strict)
        grads = tuple(functions.zeros_like(y, requires_grad=True) for y in ys)
        first = gradients(ys, xs, grads, True)  # linear in `grads`, whose values do not matter
        check_requires_grad(first, "grad_inputs", strict)
    with set_grad_enabled(create_graph or local.grad_enabled):
        result = filled(gradients(first, grads, v, create_graph), ys, strict, create_graph, "back_trick")
    ys, result = postprocess((ys, result), create_graph)
    return unpacked(ys, several), unpacked(result, several)


def vhp(
    func: Callable, inputs: Any, v: Any = None, create_graph: bool = False, strict: bool = False
) -> tuple[Any, Any]:
    """The output of `func(*inputs)`, one element, and the vector `v` times its Hessian."""
    return product_with_hessian(func, inputs, v, create_graph, strict, "vhp")


def hvp(
    func: Callable, inputs: Any, v: Any = None, create_graph: bool = False, strict: bool = False
) -> tuple[Any, Any]:
    """The output of `func(*inputs)`, one element, and its Hessian times the vector `v`. A Hessian is symmetric, so the result is
    that of `vhp`, which is faster: here a third pass multiplies from the other side."""
    return product_with_hessian(func, inputs, v, create_graph, strict, "hvp")


def product_with_hessian(
    func: Callable, inputs: Any, v: Any, create_graph: bool, strict: bool, name: str
) -> tuple[Any, Any]:
    """The value of `func` and the product of `v` with its Hessian, for `vhp` and `hvp`. `hvp` differentiates twice in
    reverse mode with respect to a dummy vector."""
    with enable_grad():
        given, is_tuple = as_tuple(inputs, "inputs", name)
        xs = preprocess(given, create_graph)
        v = vector(v, xs, is_tuple, name, create_graph, "input to the user-provided function is")
        y = single_output(func(*xs), name, strict)
        jac = gradients([y], xs, [None], True)
        check_requires_grad(jac, "jacobian", strict)
        back, ends, stage = jac, xs, "double_back"
        if name == "hvp":
            ends = tuple(functions.zeros_like(x, requires_grad=True) for x in xs)
            back, stage = gradients(jac, xs, ends, True), "double_back_trick"
    with set_grad_enabled(create_graph or local.grad_enabled):
        result = filled(gradients(back, ends, v, create_graph), xs, strict, create_graph, stage)
    y, result = postprocess((y, result), create_graph)
    return y, unpacked(result, is_tuple)


def single_output(y: Any, name: str, strict: bool) -> Tensor:
    """The output of a function, which must be one tensor with one element. Otherwise it raises a `RuntimeError`."""
    ys, several = as_tuple(y, OUTPUTS, name)
    check_requires_grad(ys, "outputs", strict)
    if several:
        raise RuntimeError(f"The function given to {name} should return a single Tensor")
    if ys[0].numel() != 1:
        raise RuntimeError(f"The Tensor returned by the function given to {name} should contain a single element")
    return ys[0]


def jacobian(
    func: Callable,
    inputs: Any,
    create_graph: bool = False,
    strict: bool = False,
    vectorize: bool = False,
    strategy: str = "reverse-mode",
) -> Any:
    """The derivative of each result with respect to each input, `jacobian[i][j]`, in the shape of the result followed by that of
    the input. A function of one tensor, or with one result, has no tuple there. One backward pass gives one row, or with the
    strategy "forward-mode" one column."""
    if strategy not in ("forward-mode", "reverse-mode"):
        raise AssertionError('Expected strategy to be either "forward-mode" or "reverse-mode".')
    together = "torch.autograd.functional.jacobian: `{}` and `{}` are not supported together"
    if strategy == "forward-mode":
        for option, is_set in (("create_graph=True", create_graph), ("strict=True", strict)):
            if is_set:
                problem = together.format(option, 'strategy="forward-mode"')
                raise (NotImplementedError if create_graph else RuntimeError)(f"{problem} (yet).")
        if not vectorize:
            problem = "Computing Jacobian using forward-AD or forward-over-reverse Hessian is"
            raise NotImplementedError(f"{problem}only implemented for `vectorize=True`.")
        return by_columns(func, inputs)
    with enable_grad():
        given, is_tuple = as_tuple(inputs, "inputs", "jacobian")
        xs = preprocess(given, create_graph)
        ys, several = as_tuple(func(*xs), OUTPUTS, "jacobian")
        check_requires_grad(ys, "outputs", strict)
        if vectorize and strict:
            raise RuntimeError(f"{together.format('strict=True', 'vectorized=True')}.")
        rows = []
        for i, y in enumerate(ys):
            grads = [
                row_of(i, gradients([element], xs, [None], create_graph), xs, strict, create_graph)
                for element in y.reshape(-1)
            ]
            blocks = [functions.stack(of_x).view((*y.shape, *x.shape)) for of_x, x in zip(zip(*grads), xs)]
            rows.append(unpacked(postprocess(tuple(blocks), create_graph), is_tuple))
    return unpacked(tuple(rows), several)


def row_of(i: int, grads: Sequence[Tensor | None], xs: Tensors, strict: bool, create_graph: bool) -> Tensors:
    """The gradients of an element of output number i."""
    for j, given in enumerate(grads if strict else ()):
        if given is None:
            refuse(f"Output {i} of the user-provided function is independent of input {j}.", i)
        if create_graph and not given.requires_grad:
            when = "in strict mode when create_graph=True"
            refuse("The jacobian of the user-provided function is independent of input {i}.", i, when)
    return tuple(functions.zeros_like(x) if given is None else given for given, x in zip(grads, xs))


def by_columns(func: Callable, inputs: Any) -> Any:
    """The Jacobian, a column for each element of an input, in lists instead of tuples.
    Source: `torch/autograd/functional.py`, `_jacfwd`."""
    xs, is_tuple = as_tuple(inputs, "inputs", "jacobian")
    columns: list[list[Tensors]] = []
    several = True
    for j, x in enumerate(xs):
        columns.append([])
        for k in range(x.numel()):
            v = [functions.zeros_like(x) for x in xs]
            v[j].view(-1)[k] = 1
            _, column = jvp(func, xs, tuple(v))
            several = isinstance(column, tuple)
            columns[j].append(column if several else (column,))
    blocks = [
        [functions.stack(of_y, -1).view((*of_y[0].shape, *x.shape)) for of_y in zip(*column)]
        for column, x in zip(columns, xs)
    ]
    rows: Any = [list(row) if is_tuple else row[0] for row in zip(*blocks)]
    return rows if several else rows[0]


def hessian(
    func: Callable,
    inputs: Any,
    create_graph: bool = False,
    strict: bool = False,
    vectorize: bool = False,
    outer_jacobian_strategy: str = "reverse-mode",
) -> Any:
    """The second derivatives of a function with one element, `hessian[i][j]`, in the shape of input i followed by that of input j.
    A function of one tensor has no tuples there."""
    xs, is_tuple = as_tuple(inputs, "inputs", "hessian")
    if outer_jacobian_strategy not in ("forward-mode", "reverse-mode"):
        raise AssertionError('Expected strategy to be either "forward-mode" or "reverse-mode".')

    def first(*xs: Tensor) -> Tensors:
        jac = jacobian(lambda *xs: single_output(func(*xs), "hessian", strict).squeeze(), xs, create_graph=True)
        check_requires_grad(jac, "jacobian", strict)
        return jac

    result = jacobian(first, xs, create_graph, strict, vectorize, outer_jacobian_strategy)
    return result if is_tuple else result[0][0]
