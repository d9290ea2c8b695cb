"""Other bodies of `clip_grad_norm_` for the examination of a check: some right ones, and wrong ones with what each does wrong."""

from types import GeneratorType

from rushlight.aten.generated import functions
from rushlight.aten.native import creation
from rushlight.aten.strided import Tensor
from rushlight.autograd.grad_mode import no_grad
from rushlight.nn.utils.clip_grad import _grads, _warn_of_nothing, clip_grads_with_norm_, get_total_norm

AT = "nn.utils.clip_grad.clip_grad_norm_"


def right__by_hand(parameters, max_norm, norm_type=2.0, error_if_nonfinite=False, foreach=None):
    given = [parameters] if isinstance(parameters, Tensor) else [*parameters]
    if isinstance(parameters, GeneratorType) and not given:
        _warn_of_nothing()
    grads = [parameter.grad for parameter in given if parameter.grad is not None]
    if not grads:
        return creation.tensor(0.0)
    with no_grad():
        norms = [functions.linalg_vector_norm(grad.reshape(-1), float(norm_type)) for grad in grads]
        norm = functions.linalg_vector_norm(functions.stack(norms), float(norm_type))
        if error_if_nonfinite and not functions.isfinite(norm):
            raise RuntimeError("the norm is not finite")
        factor = (max_norm / (norm + 1e-6)).clamp(max=1)
        for grad in grads:
            grad.mul_(factor)
    return norm


def right__copied_back(parameters, max_norm, norm_type=2.0, error_if_nonfinite=False, foreach=None):
    is_generator = isinstance(parameters, GeneratorType)
    parameters = [parameters] if isinstance(parameters, Tensor) else list(parameters)
    if is_generator and not parameters:
        _warn_of_nothing()
    total_norm = get_total_norm(_grads(parameters), norm_type, error_if_nonfinite)
    factor = functions.minimum(max_norm / (total_norm + 1e-6), functions.ones_like(total_norm))
    with no_grad():
        for grad in _grads(parameters):
            grad.copy_(grad * factor)
    return total_norm


def wrong__each_by_itself(parameters, max_norm, norm_type=2.0, error_if_nonfinite=False, foreach=None):
    """Each gradient is clipped by its own norm, so their common direction changes."""
    parameters = [parameters] if isinstance(parameters, Tensor) else list(parameters)
    total_norm = get_total_norm(_grads(parameters), norm_type, error_if_nonfinite)
    for parameter in parameters:
        clip_grads_with_norm_(parameter, max_norm, get_total_norm(_grads(parameter), norm_type))
    return total_norm


def wrong__enlarges(parameters, max_norm, norm_type=2.0, error_if_nonfinite=False, foreach=None):
    """Gradients with a smaller norm than the limit are enlarged to it."""
    parameters = [parameters] if isinstance(parameters, Tensor) else list(parameters)
    total_norm = get_total_norm(_grads(parameters), norm_type, error_if_nonfinite)
    with no_grad():
        for grad in _grads(parameters):
            grad.mul_(max_norm / (total_norm + 1e-6))
    return total_norm


def wrong__norm_afterwards(parameters, max_norm, norm_type=2.0, error_if_nonfinite=False, foreach=None):
    """It returns the norm after clipping."""
    parameters = [parameters] if isinstance(parameters, Tensor) else list(parameters)
    clip_grads_with_norm_(parameters, max_norm, get_total_norm(_grads(parameters), norm_type, error_if_nonfinite))
    return get_total_norm(_grads(parameters), norm_type)


def wrong__norm_type(parameters, max_norm, norm_type=2.0, error_if_nonfinite=False, foreach=None):
    """`norm_type` is not used: the norm is always the Euclidean one."""
    parameters = [parameters] if isinstance(parameters, Tensor) else list(parameters)
    total_norm = get_total_norm(_grads(parameters), 2.0, error_if_nonfinite)
    clip_grads_with_norm_(parameters, max_norm, total_norm)
    return total_norm


def wrong__generator(parameters, max_norm, norm_type=2.0, error_if_nonfinite=False, foreach=None):
    """A generator of parameters is read for the norm, and has ended when the gradients are multiplied."""
    total_norm = get_total_norm(_grads(parameters), norm_type, error_if_nonfinite)
    clip_grads_with_norm_(parameters, max_norm, total_norm)
    return total_norm


def wrong__new_gradients(parameters, max_norm, norm_type=2.0, error_if_nonfinite=False, foreach=None):
    """The parameters get new gradients: a tensor that was their gradient before is not clipped."""
    parameters = [parameters] if isinstance(parameters, Tensor) else list(parameters)
    total_norm = get_total_norm(_grads(parameters), norm_type, error_if_nonfinite)
    scale = (max_norm / (total_norm + 1e-6)).clamp(max=1.0)
    with no_grad():
        for parameter in parameters:
            if parameter.grad is not None:
                parameter.grad = parameter.grad * scale
    return total_norm


def wrong__error_too_late(parameters, max_norm, norm_type=2.0, error_if_nonfinite=False, foreach=None):
    """With `error_if_nonfinite` the error comes after the gradients were changed."""
    parameters = [parameters] if isinstance(parameters, Tensor) else list(parameters)
    total_norm = get_total_norm(_grads(parameters), norm_type)
    clip_grads_with_norm_(parameters, max_norm, total_norm)
    if error_if_nonfinite and not functions.isfinite(total_norm):
        raise RuntimeError("the norm is not finite")
    return total_norm


def wrong__nan_is_left(parameters, max_norm, norm_type=2.0, error_if_nonfinite=False, foreach=None):
    """If one gradient has a nan, the other gradients keep their values, because nan is not above the limit."""
    parameters = [parameters] if isinstance(parameters, Tensor) else list(parameters)
    total_norm = get_total_norm(_grads(parameters), norm_type, error_if_nonfinite)
    if total_norm > max_norm:
        clip_grads_with_norm_(parameters, max_norm, total_norm)
    return total_norm
