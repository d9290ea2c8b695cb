"""Other bodies of `sum_to` for the examination of a check: some right ones, and wrong ones with what each does wrong."""

from rushlight.aten.generated import functions

AT = "autograd.engine.sum_to"


def right__dimension_by_dimension(grad, sizes):
    if not sizes:
        return functions.sum(grad)
    while grad.dim() > len(sizes):
        grad = grad.sum(0)
    for d, size in enumerate(sizes):
        if size == 1 and grad.shape[d] != 1:
            grad = grad.sum(d, keepdim=True)
    return grad


def right__reshaped(grad, sizes):
    if sizes and tuple(grad.shape) == tuple(sizes):
        return grad
    padded = [1] * (grad.dim() - len(sizes)) + list(sizes)
    dims = [d for d, size in enumerate(padded) if size != grad.shape[d]]
    return (functions.sum(grad, dims) if dims else functions.sum(grad) if not sizes else grad).reshape(tuple(sizes))


def right__from_the_last(grad, sizes):
    if not sizes:
        return grad.sum()
    dims = [-1 - i for i in range(grad.dim()) if i >= len(sizes) or (sizes[-1 - i] == 1 and grad.shape[-1 - i] != 1)]
    summed = functions.sum(grad, dims, True) if dims else grad
    return summed.view(tuple(sizes)) if summed.dim() != len(sizes) else summed


def wrong__new_dimensions_only(grad, sizes):
    """The dimensions that broadcasting stretched from size 1 are not summed."""
    if not sizes:
        return functions.sum(grad)
    new_dims = grad.dim() - len(sizes)
    return functions.sum(grad, [*range(new_dims)]) if new_dims else grad


def wrong__first_stretched_dimension(grad, sizes):
    """Of several dimensions that were stretched from size 1, only the first one is summed."""
    if not sizes:
        return functions.sum(grad)
    new_dims = grad.dim() - len(sizes)
    stretched = [d for d, size in enumerate(sizes, new_dims) if size == 1 and grad.shape[d] != 1]
    dims = [*range(new_dims), *stretched[:1]]
    grad = functions.sum(grad, dims, True) if dims else grad
    return grad.view(tuple(sizes)) if new_dims else grad


def wrong__counted_from_the_left(grad, sizes):
    """If there are new dimensions too, the stretched ones are looked for at the wrong positions: counted without the new ones."""
    if not sizes:
        return functions.sum(grad)
    new_dims = grad.dim() - len(sizes)
    stretched = [d for d, size in enumerate(sizes) if size == 1 and grad.shape[d] != 1]
    dims = [*{*range(new_dims), *stretched}]
    grad = functions.sum(grad, dims, True) if dims else grad
    return grad.view(tuple(sizes)) if new_dims else grad


def wrong__not_differentiable(grad, sizes):
    """The result has no history: it cannot be differentiated again."""
    grad = grad.detach()
    if not sizes:
        return functions.sum(grad)
    new_dims = grad.dim() - len(sizes)
    stretched = [d for d, size in enumerate(sizes, new_dims) if size == 1 and grad.shape[d] != 1]
    dims = [*range(new_dims), *stretched]
    grad = functions.sum(grad, dims, True) if dims else grad
    return grad.view(tuple(sizes)) if new_dims else grad


def wrong__stretched_to_nothing(grad, sizes):
    """A dimension that was stretched from size 1 to size 0 is not summed."""
    if not sizes:
        return functions.sum(grad)
    new_dims = grad.dim() - len(sizes)
    stretched = [d for d, size in enumerate(sizes, new_dims) if size == 1 and grad.shape[d] > 1]
    dims = [*range(new_dims), *stretched]
    grad = functions.sum(grad, dims, True) if dims else grad
    return grad.view(tuple(sizes)) if new_dims else grad


def wrong__one_dimension_for_a_scalar(grad, sizes):
    """For a tensor without dimensions only the first dimension is summed."""
    if not sizes:
        return functions.sum(grad, 0) if grad.dim() else grad
    new_dims = grad.dim() - len(sizes)
    stretched = [d for d, size in enumerate(sizes, new_dims) if size == 1 and grad.shape[d] != 1]
    dims = [*range(new_dims), *stretched]
    grad = functions.sum(grad, dims, True) if dims else grad
    return grad.view(tuple(sizes)) if new_dims else grad


def wrong__in_float32(grad, sizes):
    """A float64 gradient is summed in float32, so a small number is lost beside large ones that cancel."""
    dtype = grad.dtype
    if not sizes:
        return functions.sum(grad.float()).to(dtype)
    new_dims = grad.dim() - len(sizes)
    stretched = [d for d, size in enumerate(sizes, new_dims) if size == 1 and grad.shape[d] != 1]
    dims = [*range(new_dims), *stretched]
    grad = functions.sum(grad.float(), dims, True).to(dtype) if dims else grad
    return grad.view(tuple(sizes)) if new_dims else grad


def wrong__in_place(grad, sizes):
    """New dimensions are summed into the gradient itself, which another node gets too."""
    if not sizes:
        return functions.sum(grad)
    while grad.dim() > len(sizes):
        for i in range(1, grad.shape[0]):
            grad[0].add_(grad[i])
        grad = grad[0] if grad.shape[0] else grad.sum(0)
    stretched = [d for d, size in enumerate(sizes) if size == 1 and grad.shape[d] != 1]
    return functions.sum(grad, stretched, True) if stretched else grad
