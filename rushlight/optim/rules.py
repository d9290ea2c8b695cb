"""Optimizers that change one parameter after the other by a formula: p is the parameter, g its gradient, t the number of steps.

The settings of each class are in the order of PyTorch's `defaults`. In PyTorch: `torch/optim/` (`adadelta.py`, `adagrad.py`,
`adamax.py`, `asgd.py`, `nadam.py`, `radam.py`, `rmsprop.py`, `rprop.py`), the functions `_single_tensor_...`. Left out:
`Adafactor`, `Muon`, `SparseAdam`.
"""

from collections.abc import Callable, Iterable
from typing import Any

from rushlight.aten.generated import functions
from rushlight.aten.native import creation
from rushlight.aten.strided import Tensor
from rushlight.optim.optimizer import Optimizer, _refuse_negative

Settings = dict[str, Any]
SIGNED = {"decoupled_weight_decay", "centered", "lambd", "t0", "foreach"}  # settings that may be negative or None


def _zeros(param: Tensor, group: Settings) -> Tensor:
    return functions.zeros_like(param)


class _Rule(Optimizer):
    """A subclass defines the initial values of its state, and `_rule`, which gets the values of the state after `group`."""

    initial: dict[str, Callable[[Tensor, Settings], Tensor]]

    def __init__(self, order: str, given: dict[str, Any]) -> None:
        """`given` has the arguments of the constructor, and `order` the names of the settings."""
        settings = {name: given[name] for name in order.split()}
        for name, value in settings.items():
            if name == "betas" and not all(0 <= beta < 1 for beta in value):
                raise ValueError(f"Invalid betas: {value}")
            if isinstance(value, (int, float)) and name not in SIGNED:
                _refuse_negative(**{name: value})
        super().__init__(given["params"], settings)

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

    initial = {"square_avg": _zeros, "acc_delta": _zeros}

    def __init__(
        self, params: Iterable, lr: float = 1.0, rho: float = 0.9, eps: float = 1e-6, weight_decay: float = 0,
        foreach: bool | None = None, *, capturable: bool = False, maximize: bool = False, differentiable: bool = False,
    ) -> None:  # fmt: skip
        if rho > 1:
            raise ValueError(f"Invalid rho value: {rho}")
        super().__init__("lr rho eps weight_decay maximize capturable foreach differentiable", locals())

    def _rule(self, param, grad, steps, group, square_avg, acc_delta) -> None:
        rho, eps = group["rho"], group["eps"]
        square_avg.mul_(rho).addcmul_(grad, grad, value=1 - rho)
        delta = acc_delta.add(eps).sqrt_().div_(square_avg.add(eps).sqrt_()).mul_(grad)
        acc_delta.mul_(rho).addcmul_(delta, delta, value=1 - rho)
        param.add_(delta, alpha=-group["lr"])


class Adagrad(_Rule):
    """s := s + g^2, p := p - lr / (1 + (t - 1) lr_decay) g / (sqrt(s) + eps)."""

    initial = {"sum": lambda param, group: functions.full_like(param, group["initial_accumulator_value"])}

    def __init__(
        self, params: Iterable, lr: float = 1e-2, lr_decay: float = 0, weight_decay: float = 0,
        initial_accumulator_value: float = 0, eps: float = 1e-10, foreach: bool | None = None, *, maximize: bool = False,
        differentiable: bool = False, fused: bool | None = None,
    ) -> None:  # fmt: skip
        super().__init__(
            "lr lr_decay eps weight_decay initial_accumulator_value foreach maximize differentiable fused", locals()
        )

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

    initial = {"exp_avg": _zeros, "exp_inf": _zeros}

    def __init__(
        self, params: Iterable, lr: float = 2e-3, betas: tuple[float, float] = (0.9, 0.999), eps: float = 1e-8,
        weight_decay: float = 0, foreach: bool | None = None, *, maximize: bool = False, differentiable: bool = False,
        capturable: bool = False,
    ) -> None:  # fmt: skip
        super().__init__("lr betas eps weight_decay foreach maximize differentiable capturable", locals())

    def _rule(self, param, grad, steps, group, exp_avg, exp_inf) -> None:
        beta1, beta2 = group["betas"]
        exp_avg.lerp_(grad, 1 - beta1)
        exp_inf.copy_(functions.maximum(exp_inf.mul_(beta2), grad.abs().add_(group["eps"])))
        param.addcdiv_(exp_avg, exp_inf, value=-group["lr"] / (1 - beta1**steps))


class ASGD(_Rule):
    """p := p (1 - lambd eta) - eta g, eta := lr / (1 + lambd lr t)^alpha. `ax` is the average of p after `t0` steps."""

    initial = {
        "eta": lambda param, group: creation.tensor(float(group["lr"])),
        "mu": lambda param, group: functions.ones(()),
        "ax": _zeros,
    }

    def __init__(
        self, params: Iterable, lr: float = 1e-2, lambd: float = 1e-4, alpha: float = 0.75, t0: float = 1e6,
        weight_decay: float = 0, foreach: bool | None = None, maximize: bool = False, differentiable: bool = False,
        capturable: bool = False,
    ) -> None:  # fmt: skip
        super().__init__("lr lambd alpha t0 weight_decay foreach maximize differentiable capturable", locals())

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

    initial = {"mu_product": lambda param, group: functions.ones(()), "exp_avg": _zeros, "exp_avg_sq": _zeros}

    def __init__(
        self, params: Iterable, lr: float = 2e-3, betas: tuple[float, float] = (0.9, 0.999), eps: float = 1e-8,
        weight_decay: float = 0, momentum_decay: float = 4e-3, decoupled_weight_decay: bool = False, *,
        foreach: bool | None = None, maximize: bool = False, capturable: bool = False, differentiable: bool = False,
    ) -> None:  # fmt: skip
        super().__init__(
            "lr betas eps weight_decay momentum_decay decoupled_weight_decay maximize foreach capturable differentiable",
            locals(),
        )

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

    initial = {"exp_avg": _zeros, "exp_avg_sq": _zeros}

    def __init__(
        self, params: Iterable, lr: float = 1e-3, betas: tuple[float, float] = (0.9, 0.999), eps: float = 1e-8,
        weight_decay: float = 0, decoupled_weight_decay: bool = False, *, foreach: bool | None = None,
        maximize: bool = False, capturable: bool = False, differentiable: bool = False,
    ) -> None:  # fmt: skip
        super().__init__(
            "lr betas eps weight_decay maximize foreach capturable decoupled_weight_decay differentiable", locals()
        )

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

    def __init__(
        self, params: Iterable, lr: float = 1e-2, alpha: float = 0.99, eps: float = 1e-8, weight_decay: float = 0,
        momentum: float = 0, centered: bool = False, capturable: bool = False, foreach: bool | None = None,
        maximize: bool = False, differentiable: bool = False,
    ) -> None:  # fmt: skip
        super().__init__(
            "lr momentum alpha eps centered weight_decay capturable foreach maximize differentiable", locals()
        )

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

    initial = {"prev": _zeros, "step_size": lambda param, group: functions.full_like(param, group["lr"])}

    def __init__(
        self, params: Iterable, lr: float = 1e-2, etas: tuple[float, float] = (0.5, 1.2),
        step_sizes: tuple[float, float] = (1e-6, 50), *, capturable: bool = False, foreach: bool | None = None,
        maximize: bool = False, differentiable: bool = False,
    ) -> None:  # fmt: skip
        if not 0 < etas[0] < 1 < etas[1]:
            raise ValueError(f"Invalid eta values: {etas[0]}, {etas[1]}")
        super().__init__("lr etas step_sizes foreach maximize differentiable capturable", locals())

    def _rule(self, param, grad, steps, group, prev, step_size) -> None:
        shrink, grow = group["etas"]
        sign = grad.mul(prev).sign()
        factor = sign.masked_fill(sign == 0, 1).masked_fill_(sign > 0, grow).masked_fill_(sign < 0, shrink)
        step_size.mul_(factor).clamp_(*group["step_sizes"])
        prev.copy_(grad.masked_fill(sign < 0, 0))
        param.addcmul_(prev.sign(), step_size, value=-1)
