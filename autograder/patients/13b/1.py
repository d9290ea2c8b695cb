"""A write to a slice spoils the gradient of another tensor: the region of the view is written into the gradient that arrived.

The gradient that reaches `CopySlices` is also on its way to other nodes, if a sum sent it to both of its arguments. Without a copy
the part of the overwritten region is changed for them too. A gradient whose strides are not the base's was always copied, so most
programs that end in `sum()` are right. Modelled on pytorch pull request 178315: a gradient that is written to between the
node that made it and the node that takes it gives wrong results without an error.
"""

from rushlight.aten.generated import functions
from rushlight.autograd.history import _as_tuple
from rushlight.c10.memory_formats import contiguous_format

AT = "autograd.history.copy_slices"


def symptom(xp):
    """Add a residual to features of which the last column is a constant, and ask for the gradient of the residual's scale."""
    x = xp.arange(12.0).reshape(4, 3) / 10
    scale = xp.ones(3).requires_grad_()
    weight = xp.ones(3, 3).requires_grad_()
    residual = x * scale
    features = x @ weight
    features[:, 2] = 1
    loss = ((residual + features) ** 2).mean()
    loss.backward()
    return scale.grad, weight.grad


def copy_slices(function, grad, base, view):
    sizes, strides, _ = base
    result = grad
    if grad.stride() != tuple(strides):
        result = grad.new_empty_strided(sizes, strides)
        result.copy_(grad)
    part = functions.as_strided(result, *view)
    first, *others = _as_tuple(function(functions.clone(part, memory_format=contiguous_format)))
    if first is None:
        return [None, *others]
    part.copy_(first)
    return [result, *others]
