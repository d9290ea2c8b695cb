"""Clipping that also enlarges: the factor is not limited to 1, so gradients that are small already grow to the limit."""

from types import GeneratorType

from rushlight.nn.utils.clip_grad import Tensor, _grads, _warn_of_nothing, get_total_norm, no_grad

AT = "nn.utils.clip_grad.clip_grad_norm_"


def symptom(xp):
    """The losses of a small network that learns a curve.

    Gradients are clipped, and the learning rate warms up."""
    xp.manual_seed(0)
    x = xp.linspace(-1, 1, 64).reshape(64, 1)
    y = xp.sin(3 * x) * 4
    nn, optim = xp.nn, xp.optim
    layers = nn.Linear(1, 16), nn.Tanh(), nn.Linear(16, 1)
    model = nn.Sequential(*layers)
    optimizer = optim.SGD(model.parameters(), 0.1, 0.9)
    schedule = optim.lr_scheduler.LinearLR
    warm_up = schedule(optimizer, 0.25, total_iters=4)
    losses = []
    for _ in range(6):
        loss = ((model(x) - y) ** 2).mean()
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 3.0)
        optimizer.step()
        warm_up.step()
        losses.append(round(loss.item(), 3))
    return losses


def clip_grad_norm_(parameters, max_norm, norm_type=2.0, error_if_nonfinite=False, foreach=None):
    is_generator = isinstance(parameters, GeneratorType)
    parameters = [parameters] if isinstance(parameters, Tensor) else list(parameters)
    if is_generator and not parameters:
        _warn_of_nothing()
    total_norm = get_total_norm(_grads(parameters), norm_type, error_if_nonfinite)
    with no_grad():
        for grad in _grads(parameters):
            grad.mul_(float(max_norm) / (total_norm + 1e-6))
    return total_norm
