"""Optimizers that change one parameter after the other by a formula: p is the parameter, g its gradient, t the number of steps.

In PyTorch: `torch/optim/` (`adadelta.py`, `adagrad.py`, `rmsprop.py`), the functions `_single_tensor_...`. Left out: the other
optimizers of PyTorch, such as `LBFGS`.
"""

from collections.abc import Callable
from inspect import Parameter, Signature
from typing import Any

from rushlight.aten.generated import functions
from rushlight.aten.strided import Tensor
from rushlight.optim.optimizer import Optimizer, _refuse_negative, scalar_dtype

Settings = dict[str, Any]


def _zeros(param: Tensor, group: Settings) -> Tensor:
    return functions.zeros_like(param)


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
            if name == "rho" and value > 1:
                raise ValueError(f"Invalid rho value: {value}")
            if isinstance(value, (int, float, Tensor)):
                _refuse_negative(**{name: value})
        super().__init__(given.arguments["params"], settings)

    def _start(self, param: Tensor, group: Settings) -> dict[str, Tensor]:
        """The state of a parameter, first the number of steps."""
        state = self.state[param]
        if not state:
            state["step"] = functions.zeros((), dtype=scalar_dtype())
            state.update((name, make(param, group)) for name, make in self.initial.items())
        return state

    def _update(self, group: Settings, params: list[Tensor]) -> None:
        for param in params:
            step, *state = self._start(param, group).values()
            grad, decay = -param.grad if group["maximize"] else param.grad, group["weight_decay"]
            if decay != 0:
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


def rmsprop(
    params: list[Tensor], grads: list[Tensor], square_avgs: list[Tensor], grad_avgs: list[Tensor],
    momentum_buffers: list[Tensor], *, lr: float, alpha: float, eps: float, weight_decay: float, momentum: float,
    centered: bool, maximize: bool,
) -> None:  # fmt: skip
    """One step of RMSprop: update each parameter p in place, using its gradient g.

    v is the running average of the square of the gradient (`square_avgs`), m that of the gradient (`grad_avgs`), and b is a
    buffer (`momentum_buffers`). All are changed in place.

        g := -g                                        if `maximize`
        g := g + weight_decay p                        if `weight_decay` is not 0
        v := alpha v + (1 - alpha) g^2
        m := m + (1 - alpha) (g - m)                   if `centered`
        r := sqrt(v - m^2) + eps                       if `centered`
        r := sqrt(v) + eps                             if not `centered`
        b := momentum b + g / r                        if `momentum` is above 0
        p := p - lr b                                  if `momentum` is above 0
        p := p - lr g / r                              if not

    Args:
        params, grads, square_avgs: lists of the same length; all tensors of a parameter have its sizes and dtype.
        grad_avgs: a list of that length too if `centered`; otherwise it is not used, and may be empty.
        momentum_buffers: a list of that length too if `momentum` is above 0; otherwise it is not used, and may be empty.

    The gradients are not changed. It is called while no graph is recorded.

    >>> p, v = rl.ones(1), rl.zeros(1)
    >>> options = {"weight_decay": 0, "momentum": 0, "centered": False, "maximize": False}
    >>> rmsprop([p], [rl.tensor([100.0])], [v], [], [], lr=0.25, alpha=0.75, eps=0.0, **options)
    >>> p.item(), v.item()
    (0.5, 2500.0)

    Source: `torch/optim/rmsprop.py`, `_single_tensor_rmsprop`.
    """
    for i, (param, grad, average) in enumerate(zip(params, grads, square_avgs)):
        if maximize:
            grad = -grad
        if weight_decay != 0:
            grad = grad.add(param, alpha=weight_decay)
        average.mul_(alpha).addcmul_(grad, grad, value=1 - alpha)
        if centered:
            mean = grad_avgs[i].lerp_(grad, 1 - alpha)
            average = average.addcmul(mean, mean, value=-1)
        root = average.sqrt().add_(eps)
        if momentum > 0:
            param.add_(momentum_buffers[i].mul_(momentum).addcdiv_(grad, root), alpha=-lr)
        else:
            param.addcdiv_(grad, root, value=-lr)


class RMSprop(_Rule):
    """Source: `torch/optim/rmsprop.py`, `RMSprop`."""

    numbers = {"lr": 1e-2, "alpha": 0.99, "eps": 1e-8, "weight_decay": 0, "momentum": 0}
    flags = "centered capturable foreach maximize differentiable"
    order = "lr momentum alpha eps centered weight_decay capturable foreach maximize differentiable"

    def _update(self, group: Settings, params: list[Tensor]) -> None:
        names = ["square_avg"] + ["momentum_buffer"] * (group["momentum"] > 0) + ["grad_avg"] * group["centered"]
        states = [self._make_state(param, *names) for param in params]
        for state in states:
            state["step"].add_(1)
        lists = ([s[n] for s in states] if n in names else [] for n in ("square_avg", "grad_avg", "momentum_buffer"))
        settings = ("lr", "alpha", "eps", "weight_decay", "momentum", "centered", "maximize")
        rmsprop(params, [p.grad for p in params], *lists, **{name: group[name] for name in settings})
