"""Optimizers that change one parameter after the other by a formula: p is the parameter, g its gradient, t the number of steps.

In PyTorch: a file of `torch/optim/` for each, such as `adadelta.py` or `_adafactor.py`, the functions `_single_tensor_...`.
The numbers are computed in PyTorch's order, so the results are PyTorch's to the last digit. In a step that is recorded in the
graph, no operator may write to a tensor that the graph saves, so only the state and the parameter are changed in place. Left
out: `SparseAdam`, complex parameters.
"""

from collections.abc import Callable, Iterable
from inspect import Parameter, Signature
from math import sqrt
from typing import Any

from rushlight.aten.generated import functions
from rushlight.aten.strided import Tensor
from rushlight.c10.dtypes import bfloat16
from rushlight.c10.type_info import finfo
from rushlight.optim.optimizer import Optimizer, check_settings, check_size, scalar_dtype

Settings = dict[str, Any]


def _zeros(param: Tensor, group: Settings) -> Tensor:
    return functions.zeros_like(param)


def _one(param: Tensor, group: Settings) -> Tensor:
    return functions.ones((), dtype=scalar_dtype())


class _Rule(Optimizer):
    """A subclass defines the initial values of its state, and `_rule`, which gets the values of the state after `group`.

    Its arguments are `numbers`, with their defaults, and then `flags`, those after the `*` only by name. `order` has the names of
    all settings as in PyTorch's `defaults`. All numbers are checked by `check_settings`, except those in `unchecked`."""

    numbers: Settings
    flags: str
    order: str
    unchecked: str = ""
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
        self._check(**settings)
        super().__init__(given.arguments["params"], settings)

    def _check(self, **settings: Any) -> None:
        check_settings(**{name: value for name, value in settings.items() if name not in self.unchecked.split()})

    def _initial(self, param: Tensor, group: Settings) -> Iterable[str]:
        """The names of a parameter's state, after the number of steps."""
        return self.initial

    def _start(self, param: Tensor, group: Settings) -> dict[str, Tensor]:
        """The state of a parameter, first the number of steps."""
        state = self.state[param]
        if not state:
            state["step"] = functions.zeros((), dtype=scalar_dtype())
            state.update((name, self.initial[name](param, group)) for name in self._initial(param, group))
        return state

    def _update(self, group: Settings, params: list[Tensor]) -> None:
        for param in params:
            state = self._start(param, group)
            grad, decay = -param.grad if group["maximize"] else param.grad, group.get("weight_decay", 0)
            steps = state["step"].add_(1).item()
            if decay != 0 and group.get("decoupled_weight_decay"):
                param.mul_(1 - group["lr"] * decay)
            elif decay != 0:
                grad = grad.add(param, alpha=decay)
            self._rule(param, grad, steps, group, *(state[name] for name in self._initial(param, group)))

    def _rule(self, param: Tensor, grad: Tensor, steps: float, group: Settings, *state: Tensor) -> None:
        raise NotImplementedError


class Adadelta(_Rule):
    """v := rho v + (1 - rho) g^2, d := sqrt(u + eps) / sqrt(v + eps) g, u := rho u + (1 - rho) d^2, p := p - lr d.

    Source: `torch/optim/adadelta.py`, `_single_tensor_adadelta`.
    """

    numbers = {"lr": 1.0, "rho": 0.9, "eps": 1e-6, "weight_decay": 0}
    flags = "foreach * capturable maximize differentiable"
    order = "lr rho eps weight_decay maximize capturable foreach differentiable"
    initial = {"square_avg": _zeros, "acc_delta": _zeros}

    def _rule(self, param, grad, steps, group, square_avg, acc_delta) -> None:
        rho, eps = group["rho"], group["eps"]
        square_avg.mul_(rho).addcmul_(grad, grad, value=1 - rho)
        delta = acc_delta.add(eps).sqrt_().div(square_avg.add(eps).sqrt_()).mul(grad)
        acc_delta.mul_(rho).addcmul_(delta, delta, value=1 - rho)
        param.add_(delta, alpha=-group["lr"])


class Adagrad(_Rule):
    """s := s + g^2, p := p - lr / (1 + (t - 1) lr_decay) g / (sqrt(s) + eps).

    Source: `torch/optim/adagrad.py`, `_single_tensor_adagrad`.
    """

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
        param.addcdiv_(grad, total.sqrt() + group["eps"], value=-rate)


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
    """Divide each gradient by the root of the mean of its squares. Source: `torch/optim/rmsprop.py`, `RMSprop`."""

    numbers = {"lr": 1e-2, "alpha": 0.99, "eps": 1e-8, "weight_decay": 0, "momentum": 0}
    flags = "centered capturable foreach maximize differentiable"
    order = "lr momentum alpha eps centered weight_decay capturable foreach maximize differentiable"
    initial = {"square_avg": _zeros, "momentum_buffer": _zeros, "grad_avg": _zeros}

    def _initial(self, param: Tensor, group: Settings) -> Iterable[str]:
        return ["square_avg"] + ["momentum_buffer"] * (group["momentum"] > 0) + ["grad_avg"] * group["centered"]

    def _update(self, group: Settings, params: list[Tensor]) -> None:
        if group["differentiable"]:
            return super()._update(group, params)
        names, states = self._initial(params, group), [self._start(param, group) for param in params]
        for state in states:
            state["step"].add_(1)
        lists = ([s[n] for s in states] if n in names else [] for n in ("square_avg", "grad_avg", "momentum_buffer"))
        settings = ("lr", "alpha", "eps", "weight_decay", "momentum", "centered", "maximize")
        rmsprop(params, [p.grad for p in params], *lists, **{name: group[name] for name in settings})

    def _rule(self, param, grad, steps, group, average, *others) -> None:
        """`rmsprop` after the decay, without operators that write to what the graph saves."""
        average.mul_(group["alpha"]).addcmul_(grad, grad, value=1 - group["alpha"])
        if group["centered"]:
            mean = others[-1].lerp_(grad, 1 - group["alpha"])
            average = average.addcmul(mean, mean, value=-1)
        root = average.sqrt() + group["eps"]
        if group["momentum"] > 0:
            param.add_(others[0].mul_(group["momentum"]).addcdiv_(grad, root), alpha=-group["lr"])
        else:
            param.addcdiv_(grad, root, value=-group["lr"])


class Adamax(_Rule):
    """m := m + (1 - beta1) (g - m), u := max(beta2 u, |g| + eps), p := p - lr / (1 - beta1^t) m / u.

    Source: `torch/optim/adamax.py`, `_single_tensor_adamax`.
    """

    numbers = {"lr": 2e-3, "betas": (0.9, 0.999), "eps": 1e-8, "weight_decay": 0}
    flags = "foreach * maximize differentiable capturable"
    order = "lr betas eps weight_decay foreach maximize differentiable capturable"
    initial = {"exp_avg": _zeros, "exp_inf": _zeros}

    def _rule(self, param, grad, steps, group, exp_avg, exp_inf) -> None:
        beta1, beta2 = group["betas"]
        exp_avg.lerp_(grad, 1 - beta1)
        exp_inf.copy_(functions.maximum(exp_inf * beta2, grad.abs() + group["eps"]))
        param.addcdiv_(exp_avg, exp_inf, value=-group["lr"] / (1 - beta1**steps))


class ASGD(_Rule):
    """p := p (1 - lambd eta) - eta g, eta := lr / (1 + lambd lr t)^alpha. `ax` is the average of p after `t0` steps.

    Source: `torch/optim/asgd.py`, `_single_tensor_asgd`.
    """

    numbers = {"lr": 1e-2, "lambd": 1e-4, "alpha": 0.75, "t0": 1e6, "weight_decay": 0}
    flags = "foreach maximize differentiable capturable"
    order = "lr lambd alpha t0 weight_decay foreach maximize differentiable capturable"
    unchecked = "lambd alpha t0"
    _captured = "params, mus, etas, and state_steps"
    initial = {
        "eta": lambda param, group: functions.full((), float(group["lr"]), dtype=scalar_dtype()),
        "mu": _one,
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
    """Adam with Nesterov momentum. With mu(t) := beta1 (1 - 0.96^(t momentum_decay) / 2), M := the product of all mu up to t, and
    r := sqrt(v / (1 - beta2^t)) + eps: p := p - lr (1 - mu(t)) / (1 - M) g / r - lr mu(t + 1) / (1 - M mu(t + 1)) m / r.

    Source: `torch/optim/nadam.py`, `_single_tensor_nadam`.
    """

    numbers = {"lr": 2e-3, "betas": (0.9, 0.999), "eps": 1e-8, "weight_decay": 0, "momentum_decay": 4e-3}
    flags = "decoupled_weight_decay * foreach maximize capturable differentiable"
    order = "lr betas eps weight_decay momentum_decay decoupled_weight_decay maximize foreach capturable differentiable"
    _captured = "params, mu_products and state_steps"
    initial = {"mu_product": _one, "exp_avg": _zeros, "exp_avg_sq": _zeros}

    def _rule(self, param, grad, steps, group, mu_product, exp_avg, exp_avg_sq) -> None:
        (beta1, beta2), lr = group["betas"], group["lr"]
        mu, next_mu = (beta1 * (1 - 0.5 * 0.96 ** (t * group["momentum_decay"])) for t in (steps, steps + 1))
        product = mu_product.mul_(mu)
        exp_avg.lerp_(grad, 1 - beta1)
        exp_avg_sq.mul_(beta2).addcmul_(grad, grad, value=1 - beta2)
        root = exp_avg_sq.div(1 - beta2**steps).sqrt() + group["eps"]
        if group["differentiable"]:  # also in the product
            param.addcdiv_(grad * (-lr * (1 - mu) / (1 - product)), root)
            param.addcdiv_(exp_avg * (-lr * next_mu / (1 - product * next_mu)), root)
        else:
            product = product.item()
            param.addcdiv_(grad, root, value=-lr * (1 - mu) / (1 - product))
            param.addcdiv_(exp_avg, root, value=-lr * next_mu / (1 - product * next_mu))


class RAdam(_Rule):
    """Adam without its second average in the first steps, and then with a factor that rectifies its variance.

    Source: `torch/optim/radam.py`, `_single_tensor_radam`.
    """

    numbers = {"lr": 1e-3, "betas": (0.9, 0.999), "eps": 1e-8, "weight_decay": 0}
    flags = "decoupled_weight_decay * foreach maximize capturable differentiable"
    order = "lr betas eps weight_decay maximize foreach capturable decoupled_weight_decay differentiable"
    initial = {"exp_avg": _zeros, "exp_avg_sq": _zeros}

    def _rule(self, param, grad, steps, group, exp_avg, exp_avg_sq) -> None:
        beta1, beta2 = group["betas"]
        exp_avg.lerp_(grad, 1 - beta1)
        exp_avg_sq.mul_(beta2).addcmul_(grad, grad, value=1 - beta2)
        correction = 1 - beta2**steps
        step = exp_avg / (1 - beta1**steps) * group["lr"]
        limit = 2 / (1 - beta2) - 1
        rho = limit - 2 * steps * beta2**steps / correction
        if rho > 5:
            factor = ((rho - 4) * (rho - 2) * limit / ((limit - 4) * (limit - 2) * rho)) ** 0.5
            step = step * (correction**0.5 / (exp_avg_sq.sqrt() + group["eps"])) * factor
        param.add_(step, alpha=-1)


class Rprop(_Rule):
    """Only the sign of the gradient counts: each element has its own step size, which grows while the sign stays.

    Source: `torch/optim/rprop.py`, `_single_tensor_rprop`.
    """

    numbers = {"lr": 1e-2, "etas": (0.5, 1.2), "step_sizes": (1e-6, 50)}
    flags = "* capturable foreach maximize differentiable"
    order = "lr etas step_sizes foreach maximize differentiable capturable"
    initial = {"prev": _zeros, "step_size": lambda param, group: functions.full_like(param, float(group["lr"]))}

    def _rule(self, param, grad, steps, group, prev, step_size) -> None:
        shrink, grow = group["etas"]
        sign = grad.mul(prev.clone()).sign()
        factor = sign.masked_fill(sign > 0, grow).masked_fill(sign < 0, shrink).masked_fill(sign == 0, 1)
        step_size.mul_(factor).clamp_(*group["step_sizes"])
        grad = grad.masked_fill(factor == shrink, 0)
        param.addcmul_(grad.sign(), step_size, value=-1)
        prev.copy_(grad)


class Adafactor(_Rule):
    """Divides by the root of a running average V of g^2. V of a matrix is r c / mean(r), with the averages of its rows and columns.

    With b := t^beta2_decay and rms(x) := sqrt(mean(x^2)): r := r + b (mean(g^2, -1) - r), and c with the mean over dimension -2.
    u := g / sqrt(max(V, eps1^2)), p := p (1 - lr weight_decay) - max(eps2, rms(p)) min(lr, 1 / sqrt(t)) u / max(1, rms(u) / d).

    Source: `torch/optim/_adafactor.py`, `_single_tensor_adafactor`.
    """

    numbers = {"lr": 1e-2, "beta2_decay": -0.8, "eps": (None, 1e-3), "d": 1.0, "weight_decay": 0.0}
    flags = "* foreach maximize"
    order = "lr beta2_decay eps d weight_decay foreach maximize"
    initial = {
        "row_var": lambda param, group: param.grad.new_zeros((*param.shape[:-1], 1)),
        "col_var": lambda param, group: param.grad.new_zeros((*param.shape[:-2], 1, param.shape[-1])),
        "variance": _zeros,
    }

    def _check(self, lr, beta2_decay, eps, d, weight_decay, **flags) -> None:
        check_size("lr", lr)
        _refuse("Learning rate should be >= 0", lr, lr >= 0)
        _refuse("beta2_decay should be <= 0", beta2_decay, beta2_decay <= 0)
        _refuse("epsilon1 should be >= 0", eps[0], eps[0] is None or eps[0] >= 0)
        _refuse("epsilon2 should be >= 0", eps[1], eps[1] >= 0)
        _refuse("Clipping threshold d should be >= 1", d, d >= 1)
        _refuse("weight_decay should be >= 0", weight_decay, weight_decay >= 0)

    def _initial(self, param: Tensor, group: Settings) -> Iterable[str]:
        return ["row_var", "col_var"] if param.dim() > 1 else ["variance"]

    def _update(self, group: Settings, params: list[Tensor]) -> None:
        eps1, eps2 = group["eps"]
        if eps1 is None and params:
            eps1 = finfo(params[0].dtype).eps
        decay = group["weight_decay"]  # which comes after the rms of the parameter
        super()._update({**group, "eps": (eps1, eps2), "weight_decay": 0, "decay": decay}, params)

    def _rule(self, param, grad, steps, group, *averages) -> None:
        (eps1, eps2), lr, weight = group["eps"], group["lr"], steps ** group["beta2_decay"]
        rate = max(eps2, param.norm(2).item() / param.numel() ** 0.5) * min(lr, 1 / steps**0.5)
        if group["decay"] != 0:
            param.mul_(1 - lr * group["decay"])
        if grad.dim() > 1:
            for dim, average in zip((-1, -2), averages):
                mean = functions.norm(grad, dim=dim, keepdim=True).square_().div_(grad.size(dim))
                average.lerp_(mean, weight)
            rows, columns = averages
            variance = (rows @ columns).div_(rows.mean(dim=-2, keepdim=True).clamp_(min=eps1))
        else:
            variance = averages[0].lerp_(grad * grad, weight).clone()
        update = variance.clamp_(min=eps1 * eps1).rsqrt_().mul_(grad)
        scale = max(1.0, update.norm(2).item() / (update.numel() ** 0.5 * group["d"]))
        param.add_(update, alpha=-rate / scale)


class Muon(_Rule):
    """For matrices: b := b + (1 - momentum) (g - b), u := orthogonalize(g + momentum (b - g)), or of b if not `nesterov`,
    p := p (1 - lr weight_decay) - lr s u. The scale s depends on the sizes of p.

    Raises:
        ValueError: a parameter is not a matrix.

    Source: `torch/optim/_muon.py`, `_single_tensor_muon`.
    """

    numbers = {
        "lr": 1e-3, "weight_decay": 0.1, "momentum": 0.95, "nesterov": True, "ns_coefficients": (3.4445, -4.7750, 2.0315),
        "eps": 1e-7, "ns_steps": 5, "adjust_lr_fn": None,
    }  # fmt: skip
    flags = ""
    order = "lr weight_decay momentum nesterov ns_coefficients eps ns_steps adjust_lr_fn"

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        for param in (param for group in self.param_groups for param in group["params"]):
            if param.dim() != 2:
                problem = "Muon only supports 2D parameters whereas we found a parameter with size"
                raise ValueError(f"{problem}: {param.size()}")

    def _check(self, lr, weight_decay, momentum, adjust_lr_fn, **others) -> None:
        check_size("lr", lr)
        _refuse("Learning rate should be >= 0", lr, lr >= 0)
        _refuse("momentum should be >= 0", momentum, momentum >= 0)
        _refuse("weight decay should be >= 0", weight_decay, weight_decay >= 0)
        if adjust_lr_fn not in (None, "original", "match_rms_adamw"):
            raise ValueError(f"Adjust learning rate function {adjust_lr_fn} is not supported")

    def _update(self, group: Settings, params: list[Tensor]) -> None:
        lr, momentum = group["lr"], group["momentum"]
        for param in params:
            grad, (rows, columns) = param.grad, param.shape
            state = self.state[param]
            if "momentum_buffer" not in state:
                state["momentum_buffer"] = functions.zeros_like(grad)
            buffer = state["momentum_buffer"].lerp_(grad, 1 - momentum)
            update = grad.lerp(buffer, momentum) if group["nesterov"] else buffer
            update = orthogonalize(update, group["ns_coefficients"], group["ns_steps"], group["eps"])
            is_adamw = group["adjust_lr_fn"] == "match_rms_adamw"
            scale = 0.2 * sqrt(max(rows, columns)) if is_adamw else sqrt(max(1, rows / columns))
            param.mul_(1 - lr * group["weight_decay"]).add_(update, alpha=-(lr * scale))


def orthogonalize(matrix: Tensor, coefficients: tuple[float, float, float], steps: int, eps: float) -> Tensor:
    """Return about the nearest matrix with orthonormal rows, or columns if they are fewer, in bfloat16: each step of Newton and
    Schulz moves the singular values towards 1. Source: `torch/optim/_muon.py`, `_zeropower_via_newtonschulz`.

    Raises:
        ValueError: 100 steps or more, or not three coefficients.
    """
    if steps >= 100:
        raise ValueError("Number of steps must be less than 100 for computational efficiency")
    if len(coefficients) != 3:
        raise ValueError("Coefficients must be a tuple of exactly 3 values")
    (a, b, c), is_tall = coefficients, matrix.size(0) > matrix.size(1)
    x = matrix.to(bfloat16, copy=True)
    x = x.T if is_tall else x
    x.div_(x.norm().clamp(min=eps))
    for _ in range(steps):
        gram = x @ x.T
        x = functions.addmm(x, functions.addmm(gram, gram, gram, beta=b, alpha=c), x, beta=a)
    return x.T if is_tall else x


def _refuse(bound: str, value: Any, is_right: Any) -> None:
    if not is_right:
        raise ValueError(f"{bound} but is: {value}")
