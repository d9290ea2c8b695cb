"""Optimizers that change one parameter after the other by a formula: p is the parameter, g its gradient, t the number of steps.

In PyTorch: `torch/optim/` (`adadelta.py`, `adagrad.py`,
`adamax.py`, `asgd.py`, `nadam.py`, `radam.py`, `rmsprop.py`, `rprop.py`), the functions `_single_tensor_...`. Left out:
`Adafactor`, `Muon`, `SparseAdam`.
"""

from collections.abc import Callable
from inspect import Parameter, Signature
from typing import Any

from rushlight.aten.generated import functions
from rushlight.aten.native import creation
from rushlight.aten.strided import Tensor
from rushlight.optim.optimizer import Optimizer, _refuse_negative

Settings = dict[str, Any]
SIGNED = {"decoupled_weight_decay", "centered", "lambd", "t0", "foreach"}  # settings that may be negative or None


def _zeros(param: Tensor, group: Settings) -> Tensor:
    return functions.zeros_like(param)


# What a setting must be, and the message otherwise. All other numbers that are not in `SIGNED` must not be negative.
CHECKS: dict[str, tuple[Callable[[Any], bool], str]] = {
    "betas": (lambda betas: all(0 <= beta < 1 for beta in betas), "Invalid betas: {0}"),
    "rho": (lambda rho: not rho > 1, "Invalid rho value: {0}"),
    "etas": (lambda etas: 0 < etas[0] < 1 < etas[1], "Invalid eta values: {0[0]}, {0[1]}"),
}


class _Rule(Optimizer):
    """A subclass defines the initial values of its state, and `_rule`, which gets the values of the state after `group`.

    Its arguments are `numbers`, with their defaults, and then `flags`, those after the `*` only by name. `order` has the names of
    all settings as in PyTorch's `defaults`."""

    numbers: Settings
    flags: str
    order: str
    initial: dict[str, Callable[[Tensor, Settings], Tensor]]

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        plain, _, named = cls.flags.partition("*")
        defaults = dict.fromkeys((plain + named).split(), False) | {"foreach": None, "fused": None} | cls.numbers
        kinds = dict.fromkeys((*cls.numbers, *plain.split()), Parameter.POSITIONAL_OR_KEYWORD)
        kinds |= dict.fromkeys(named.split(), Parameter.KEYWORD_ONLY)
        params = Parameter("params", Parameter.POSITIONAL_OR_KEYWORD)
        cls.__signature__ = Signature([params, *(Parameter(n, kinds[n], default=defaults[n]) for n in kinds)])

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        given = self.__signature__.bind(*args, **kwargs)
        given.apply_defaults()
        settings = {name: given.arguments[name] for name in self.order.split()}
        for name, value in settings.items():
            is_right, message = CHECKS.get(name, (lambda value: True, ""))
            if not is_right(value):
                raise ValueError(message.format(value))
            if isinstance(value, (int, float)) and name not in SIGNED:
                _refuse_negative(**{name: value})
        super().__init__(given.arguments["params"], settings)

    def _start(self, param: Tensor, group: Settings) -> dict[str, Tensor]:
        """The state of a parameter, first the number of steps."""
        state = self.state[param]
        if not state:
            state["step"] = functions.zeros(())
            state.update((name, make(param, group)) for name, make in self.initial.items())
        return state

    def _update(self, group: Settings, params: list[Tensor]) -> None:
        for param in params:
            step, *state = self._start(param, group).values()
            grad, decay = -param.grad if group["maximize"] else param.grad, group.get("weight_decay", 0)
            if decay != 0 and group.get("decoupled_weight_decay"):
                param.mul_(1 - group["lr"] * decay)
            elif decay != 0:
                grad = grad.add(param, alpha=decay)
            self._rule(param, grad, step.add_(1).item(), group, *state)


class Adadelta(_Rule):
    """v := rho v + (1 - rho) g^2, d := sqrt(u + eps) / sqrt(v + eps) g, u := rho u + (1 - rho) d^2, p := p - lr d."""

    numbers = {"lr": 1.0, "rho": 0.9, "eps": 1e-6, "weight_decay": 0}
    flags = "foreach * capturable maximize differentiable"
    order = "lr rho eps weight_decay maximize capturable foreach differentiable"
    initial = {"square_avg": _zeros, "acc_delta": _zeros}

    def _rule(self, param, grad, steps, group, square_avg, acc_delta) -> None:
        rho, eps = group["rho"], group["eps"]
        square_avg.mul_(rho).addcmul_(grad, grad, value=1 - rho)
        delta = acc_delta.add(eps).sqrt_().div_(square_avg.add(eps).sqrt_()).mul_(grad)
        acc_delta.mul_(rho).addcmul_(delta, delta, value=1 - rho)
        param.add_(delta, alpha=-group["lr"])


class Adagrad(_Rule):
    """s := s + g^2, p := p - lr / (1 + (t - 1) lr_decay) g / (sqrt(s) + eps)."""

    numbers = {"lr": 1e-2, "lr_decay": 0, "weight_decay": 0, "initial_accumulator_value": 0, "eps": 1e-10}
    flags = "foreach * maximize differentiable fused"
    order = "lr lr_decay eps weight_decay initial_accumulator_value foreach maximize differentiable fused"
    initial = {"sum": lambda param, group: functions.full_like(param, group["initial_accumulator_value"])}

    def add_param_group(self, param_group: Settings) -> None:
        super().add_param_group(param_group)
        for param in param_group["params"]:
            self._start(param, self.defaults)

    def _rule(self, param, grad, steps, group, total) -> None:
        total.addcmul_(grad, grad, value=1)
        rate = group["lr"] / (1 + (steps - 1) * group["lr_decay"])
        param.addcdiv_(grad, total.sqrt().add_(group["eps"]), value=-rate)


class Adamax(_Rule):
    """m := m + (1 - beta1) (g - m), u := max(beta2 u, |g| + eps), p := p - lr / (1 - beta1^t) m / u."""

    numbers = {"lr": 2e-3, "betas": (0.9, 0.999), "eps": 1e-8, "weight_decay": 0}
    flags = "foreach * maximize differentiable capturable"
    order = "lr betas eps weight_decay foreach maximize differentiable capturable"
    initial = {"exp_avg": _zeros, "exp_inf": _zeros}

    def _rule(self, param, grad, steps, group, exp_avg, exp_inf) -> None:
        beta1, beta2 = group["betas"]
        exp_avg.lerp_(grad, 1 - beta1)
        exp_inf.copy_(functions.maximum(exp_inf.mul_(beta2), grad.abs().add_(group["eps"])))
        param.addcdiv_(exp_avg, exp_inf, value=-group["lr"] / (1 - beta1**steps))


class ASGD(_Rule):
    """p := p (1 - lambd eta) - eta g, eta := lr / (1 + lambd lr t)^alpha. `ax` is the average of p after `t0` steps."""

    numbers = {"lr": 1e-2, "lambd": 1e-4, "alpha": 0.75, "t0": 1e6, "weight_decay": 0}
    flags = "foreach maximize differentiable capturable"
    order = "lr lambd alpha t0 weight_decay foreach maximize differentiable capturable"
    initial = {
        "eta": lambda param, group: creation.tensor(float(group["lr"])),
        "mu": lambda param, group: functions.ones(()),
        "ax": _zeros,
    }

    def _rule(self, param, grad, steps, group, eta, mu, ax) -> None:
        rate, lr, lambd = eta.item(), group["lr"], group["lambd"]
        param.mul_(1 - lambd * rate).add_(grad, alpha=-rate)
        if mu.item() != 1:
            ax.add_(param.sub(ax).mul_(mu))
        else:
            ax.copy_(param)
        eta.fill_(lr / (1 + lambd * lr * steps) ** group["alpha"])
        mu.fill_(1 / max(1, steps - group["t0"]))


class NAdam(_Rule):
    """Adam with Nesterov momentum, whose factor mu changes with t."""

    numbers = {"lr": 2e-3, "betas": (0.9, 0.999), "eps": 1e-8, "weight_decay": 0, "momentum_decay": 4e-3}
    flags = "decoupled_weight_decay * foreach maximize capturable differentiable"
    order = "lr betas eps weight_decay momentum_decay decoupled_weight_decay maximize foreach capturable differentiable"
    initial = {"mu_product": lambda param, group: functions.ones(()), "exp_avg": _zeros, "exp_avg_sq": _zeros}

    def _rule(self, param, grad, steps, group, mu_product, exp_avg, exp_avg_sq) -> None:
        (beta1, beta2), lr = group["betas"], group["lr"]
        mu, next_mu = (beta1 * (1 - 0.5 * 0.96 ** (t * group["momentum_decay"])) for t in (steps, steps + 1))
        product = mu_product.mul_(mu).item()
        exp_avg.lerp_(grad, 1 - beta1)
        exp_avg_sq.mul_(beta2).addcmul_(grad, grad, value=1 - beta2)
        root = exp_avg_sq.div(1 - beta2**steps).sqrt().add_(group["eps"])
        param.addcdiv_(grad, root, value=-lr * (1 - mu) / (1 - product))
        param.addcdiv_(exp_avg, root, value=-lr * next_mu / (1 - product * next_mu))


class RAdam(_Rule):
    """Adam without its second average in the first steps, and then with a factor that rectifies its variance."""

    numbers = {"lr": 1e-3, "betas": (0.9, 0.999), "eps": 1e-8, "weight_decay": 0}
    flags = "decoupled_weight_decay * foreach maximize capturable differentiable"
    order = "lr betas eps weight_decay maximize foreach capturable decoupled_weight_decay differentiable"
    initial = {"exp_avg": _zeros, "exp_avg_sq": _zeros}

    def _rule(self, param, grad, steps, group, exp_avg, exp_avg_sq) -> None:
        (beta1, beta2), lr = group["betas"], group["lr"]
        exp_avg.lerp_(grad, 1 - beta1)
        exp_avg_sq.mul_(beta2).addcmul_(grad, grad, value=1 - beta2)
        correction = 1 - beta2**steps
        step = exp_avg / (1 - beta1**steps) * lr
        limit = 2 / (1 - beta2) - 1
        rho = limit - 2 * steps * beta2**steps / correction
        if rho > 5:
            factor = ((rho - 4) * (rho - 2) * limit / ((limit - 4) * (limit - 2) * rho)) ** 0.5
            step = step * (correction**0.5 / exp_avg_sq.sqrt().add_(group["eps"])) * factor
        param.add_(step, alpha=-1)


class RMSprop(_Rule):
    """v := alpha v + (1 - alpha) g^2, p := p - lr g / (sqrt(v) + eps), with momentum if it is not 0. If `centered`, the square
    of the running average of g is subtracted from v under the root."""

    numbers = {"lr": 1e-2, "alpha": 0.99, "eps": 1e-8, "weight_decay": 0, "momentum": 0}
    flags = "centered capturable foreach maximize differentiable"
    order = "lr momentum alpha eps centered weight_decay capturable foreach maximize differentiable"

    def _start(self, param: Tensor, group: Settings) -> dict[str, Tensor]:
        names = ["square_avg"] + ["momentum_buffer"] * (group["momentum"] > 0) + ["grad_avg"] * group["centered"]
        self.initial = dict.fromkeys(names, _zeros)
        return super()._start(param, group)

    def _rule(self, param, grad, steps, group, average, *_) -> None:
        state, alpha = self.state[param], group["alpha"]
        average.mul_(alpha).addcmul_(grad, grad, value=1 - alpha)
        if group["centered"]:
            mean = state["grad_avg"].lerp_(grad, 1 - alpha)
            average = average.addcmul(mean, mean, value=-1)
        root = average.sqrt().add_(group["eps"])
        if group["momentum"] > 0:
            buffer = state["momentum_buffer"].mul_(group["momentum"]).addcdiv_(grad, root)
            param.add_(buffer, alpha=-group["lr"])
        else:
            param.addcdiv_(grad, root, value=-group["lr"])


class Rprop(_Rule):
    """Only the sign of the gradient counts: each element has its own step size, which grows while the sign stays."""

    numbers = {"lr": 1e-2, "etas": (0.5, 1.2), "step_sizes": (1e-6, 50)}
    flags = "* capturable foreach maximize differentiable"
    order = "lr etas step_sizes foreach maximize differentiable capturable"
    initial = {"prev": _zeros, "step_size": lambda param, group: functions.full_like(param, group["lr"])}

    def _rule(self, param, grad, steps, group, prev, step_size) -> None:
        shrink, grow = group["etas"]
        sign = grad.mul(prev).sign()
        factor = sign.masked_fill(sign == 0, 1).masked_fill_(sign > 0, grow).masked_fill_(sign < 0, shrink)
        step_size.mul_(factor).clamp_(*group["step_sizes"])
        prev.copy_(grad.masked_fill(sign < 0, 0))
        param.addcmul_(prev.sign(), step_size, value=-1)
