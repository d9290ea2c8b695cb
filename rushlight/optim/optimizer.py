"""Optimizers: they change the parameters between two backward passes.

An optimizer holds the parameters in groups, each with its settings, and a state for each parameter. `step` is arithmetic on
tensors, in place and outside the graph. In PyTorch: `torch/optim/optimizer.py`, `sgd.py`, `adam.py`, in their `_single_tensor_`
forms. Left out: the forms for lists of tensors and the fused forms (`foreach` and `fused` choose PyTorch's implementation; here
they are only stored in the groups, because `state_dict` shows them), steps that are differentiated or captured, settings other than
the learning rate that are tensors.
"""

from __future__ import annotations

from collections import OrderedDict, defaultdict
from collections.abc import Callable, Iterable
from copy import deepcopy
from functools import wraps
from itertools import chain
from typing import Any

from rushlight.aten.generated import functions
from rushlight.aten.strided import Tensor
from rushlight.autograd.grad_mode import enable_grad, no_grad
from rushlight.autograd.graph import RemovableHandle
from rushlight.c10.dtypes import dtype, float32, float64, get_default_dtype
from rushlight.c10.exception import warn
from rushlight.c10.fast_paths import fast_form_of, fastest
from rushlight.nn.parameter import zero_grad
from rushlight.optim import _fused

required = type("_RequiredParameter", (), {"__repr__": lambda self: "<required parameter>"})()  # instead of a default

# Groups of parameters ------------------------------------------------------------------------------------------------


def add_param_group(optimizer: Optimizer, param_group: dict[str, Any]) -> None:
    """Append one more group to `optimizer.param_groups`: parameters under the key `"params"`, settings under other keys.

    The dict itself becomes the group: its `"params"` are converted to a list (a single tensor to a list of one), and each
    setting of `optimizer.defaults` that it does not have is added to it.

    A parameter must be a tensor that is a leaf, or one that retains its gradient. If the group has the same parameter twice,
    that is a UserWarning, and both stay.

    Raises:
        TypeError: `param_group` is not a dict; its parameters are a `set`, which has no order (as in PyTorch, a frozenset is
            accepted, like any other iterable); one of them is not a tensor.
        KeyError: it has no `"params"`.
        ValueError: a parameter is neither a leaf nor retains its gradient; a parameter belongs to an earlier group. The
            optimizer's groups are unchanged then.

    >>> optimizer = rl.optim.SGD([rl.nn.Parameter(rl.ones(2))], lr=0.1, momentum=0.9)
    >>> add_param_group(optimizer, {"params": rl.nn.Parameter(rl.ones(3)), "lr": 0.5})
    >>> group = optimizer.param_groups[1]
    >>> len(group["params"]), group["lr"], group["momentum"]
    (1, 0.5, 0.9)

    Source: `torch/optim/optimizer.py`, `Optimizer.add_param_group`.
    """
    if not isinstance(param_group, dict):
        raise TypeError(f"param_group must be a dict, but got {type(param_group)}")
    params = param_group["params"]
    if isinstance(params, set):
        raise TypeError("optimizer parameters must have an order, and a set has none: use a list instead")
    params = param_group["params"] = [params] if isinstance(params, Tensor) else list(params)
    for param in params:
        if not isinstance(param, Tensor):
            raise TypeError(f"optimizer can only optimize Tensors, but one of the params is {type(param).__name__}")
        if not (param.is_leaf or param.retains_grad):
            raise ValueError("can't optimize a non-leaf Tensor")
    for name, default in optimizer.defaults.items():
        param_group.setdefault(name, default)
    if len(set(params)) < len(params):
        _warn_of_duplicates()
    if not set(params).isdisjoint(chain.from_iterable(group["params"] for group in optimizer.param_groups)):
        raise ValueError("some parameters appear in more than one parameter group")
    optimizer.param_groups.append(param_group)


def _warn_of_duplicates() -> None:
    warn("optimizer contains a parameter group with duplicate parameters")


def state_dict(optimizer: Optimizer) -> dict[str, Any]:
    """The optimizer as plain data: `{"state": ..., "param_groups": [...]}`, with a number instead of each parameter.

    The parameters are numbered from 0 in the order of the groups and of their lists. Settings are in new dicts, and values of the
    state are not copied.

    Source: `torch/optim/optimizer.py`, `Optimizer.state_dict`.
    """
    for hook in optimizer._hooks["state_dict_pre"].values():
        hook(optimizer)
    numbers: dict[Tensor, int] = {}
    groups, start = [], 0
    for group in optimizer.param_groups:
        params = group["params"]
        numbers = {
            param: number for number, param in enumerate(params, start)
        } | numbers  # the first of equal ones stays
        start += len(params)
        settings = {name: value for name, value in group.items() if name != "params"}
        groups.append({**settings, "params": [numbers[param] for param in params]})
    state = {numbers[key] if isinstance(key, Tensor) else key: value for key, value in optimizer.state.items()}
    result = {"state": state, "param_groups": groups}
    for hook in optimizer._hooks["state_dict_post"].values():
        changed = hook(optimizer, result)
        result = result if changed is None else changed
    return result


def load_state_dict(optimizer: Optimizer, state_dict: dict[str, Any]) -> None:
    """Set the optimizer's settings and state from `state_dict`. Its parameters stay, and are matched with the numbers by position.

    A tensor of the state is converted to the dtype of its parameter, if that dtype is floating, unless the tensor's key is
    `"step"`. A tensor that needs no conversion is not copied.

    Source: `torch/optim/optimizer.py`, `Optimizer.load_state_dict`.
    """
    state_dict = state_dict.copy()  # shallow: a hook may change it
    for hook in optimizer._hooks["load_state_dict_pre"].values():
        changed = hook(optimizer, state_dict)
        state_dict = state_dict if changed is None else changed
    groups, saved_groups = optimizer.param_groups, deepcopy(state_dict["param_groups"])
    if len(groups) != len(saved_groups):
        raise ValueError("loaded state dict has a different number of parameter groups")
    if any(len(group["params"]) != len(saved["params"]) for group, saved in zip(groups, saved_groups)):
        raise ValueError("loaded state dict has a parameter group of another size than the optimizer's")
    numbers = chain.from_iterable(saved["params"] for saved in saved_groups)
    param_of = dict(zip(numbers, chain.from_iterable(group["params"] for group in groups)))
    state: defaultdict[Any, Any] = defaultdict(dict)
    for key, value in state_dict["state"].items():
        state[param_of.get(key, key)] = _cast_value(param_of[key], value) if key in param_of else value
    for group, saved in zip(groups, saved_groups):
        saved["params"] = group["params"]
        if "param_names" in group:
            saved.setdefault("param_names", group["param_names"])
    optimizer.__setstate__({"state": state, "param_groups": saved_groups})
    for hook in optimizer._hooks["load_state_dict_post"].values():
        hook(optimizer)


def _cast_value(param: Tensor, value: Any, key: Any = None) -> Any:
    if isinstance(value, Tensor):
        return value.to(param.dtype) if param.dtype.is_floating_point and key != "step" else value
    if isinstance(value, dict):
        return {key: _cast_value(param, entry, key) for key, entry in value.items()}
    if isinstance(value, Iterable):
        return type(value)(_cast_value(param, entry) for entry in value)
    return value


_global_pre_hooks: OrderedDict[int, Callable] = OrderedDict()
_global_post_hooks: OrderedDict[int, Callable] = OrderedDict()


def register_optimizer_step_pre_hook(hook: Callable) -> RemovableHandle:
    """`hook(optimizer, args, kwargs)` runs before each step of every optimizer."""
    return RemovableHandle(_global_pre_hooks, hook)


def register_optimizer_step_post_hook(hook: Callable) -> RemovableHandle:
    """`hook(optimizer, args, kwargs)` runs after each step of every optimizer."""
    return RemovableHandle(_global_post_hooks, hook)


def _wrap_step(step: Callable) -> Callable:
    """Run the optimizer's hooks before and after `step`. Source: `Optimizer.profile_hook_step`."""

    @wraps(step)
    def run(*args, **kwargs):
        optimizer = args[0]
        for hook in (*_global_pre_hooks.values(), *optimizer._pre_hooks.values()):
            changed = hook(optimizer, args, kwargs)
            if changed is None:
                continue
            if not (isinstance(changed, tuple) and len(changed) == 2):
                raise RuntimeError(f"a hook before step must return None or (new_args, new_kwargs), but got {changed}")
            args, kwargs = changed
        result = step(*args, **kwargs)
        for hook in (*optimizer._post_hooks.values(), *_global_post_hooks.values()):
            hook(optimizer, args, kwargs)
        return result

    return run


def take_names(group: dict[str, Any]) -> None:
    """Take the names out of a group whose parameters are pairs of a name and a parameter, as `named_parameters` gives them.
    Source: `torch/optim/optimizer.py`, `Optimizer.add_param_group`."""
    if isinstance(group["params"], (Tensor, set)):
        return
    params = group["params"] = list(group["params"])
    pairs = [param for param in params if isinstance(param, tuple)]
    if pairs and len(pairs) < len(params):
        raise ValueError("all optimizer params should be with/without names. Some param names are missing")
    if pairs:
        group["param_names"], group["params"] = map(list, zip(*pairs, strict=True))


# The settings that groups of older versions do not have, and their values then
_YOUNGER: dict[str, Any] = dict.fromkeys(("amsgrad", "momentum", "centered", "nesterov", "maximize"), False)
_YOUNGER |= {"foreach": None, "capturable": False, "differentiable": False, "fused": None}


class Optimizer:
    """Base class: a subclass passes the `defaults` of its settings, and defines `step`, or `_update` for one group.
    Source: `torch/optim/optimizer.py`, `Optimizer`."""

    def __init__(self, params: Iterable[Tensor] | Iterable[dict[str, Any]], defaults: dict[str, Any]) -> None:
        if isinstance(params, Tensor):
            wanted = "params argument given to the optimizer should be an iterable of Tensors or dicts"
            raise TypeError(f"{wanted}, but got {params.type()}")
        for name in ("differentiable", "capturable"):
            if defaults.get(name):
                raise NotImplementedError(f"{name}=True is left out")
        self.defaults = defaults
        self._pre_hooks, self._post_hooks, self._hooks = {}, {}, _state_hooks()
        self.state: defaultdict[Any, Any] = defaultdict(dict)
        self.param_groups: list[dict[str, Any]] = []
        groups = list(params)
        if not groups:
            raise ValueError("optimizer got an empty parameter list")
        if not isinstance(groups[0], dict):
            groups = [{"params": groups}]
        for group in groups:
            if isinstance(group, dict):
                take_names(group)
            self.add_param_group(group)
        if len({"param_names" in group for group in self.param_groups}) > 1:
            raise ValueError("all optimizer param groups should be with/without names.")
        if defaults.get("fused") and defaults.get("foreach"):
            raise RuntimeError("`fused` and `foreach` cannot be `True` together.")

    def __init_subclass__(cls) -> None:
        if "step" in cls.__dict__:
            cls.step = _wrap_step(cls.step)

    add_param_group, state_dict, load_state_dict = add_param_group, state_dict, load_state_dict

    def zero_grad(self, set_to_none: bool = True) -> None:
        """Set the gradients to None, or fill those that exist with zeros."""
        for param in chain.from_iterable(group["params"] for group in self.param_groups):
            zero_grad(param, set_to_none)

    @_wrap_step
    @no_grad()
    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        """Update the parameters using their gradients. A `closure` first computes the gradients; its loss is returned."""
        loss = None if closure is None else enable_grad()(closure)()
        for group in self.param_groups:
            if isinstance(group.get("lr"), Tensor) and group["lr"].dim():
                group = {**group, "lr": group["lr"].squeeze()}
            self._update(group, [param for param in group["params"] if param.grad is not None])
        return loss

    def _update(self, group: dict[str, Any], params: list[Tensor]) -> None:
        """One step of the parameters of a group that have a gradient."""
        raise NotImplementedError

    def _make_state(self, param: Tensor, *names: str) -> dict[str, Tensor]:
        """The state of a parameter. At first, it is the number of steps, a tensor (in PyTorch it can be in a graph, or on the
        device), and zeros for each name."""
        state = self.state[param]
        if not state:
            state.update(
                step=functions.zeros((), dtype=scalar_dtype(), device="cpu"),
                **{name: functions.zeros_like(param) for name in names},
            )
        return state

    def register_step_pre_hook(self, hook: Callable) -> RemovableHandle:
        """`hook(optimizer, args, kwargs)` runs before each step. If it returns a pair, the pair replaces the arguments."""
        return RemovableHandle(self._pre_hooks, hook)

    def register_step_post_hook(self, hook: Callable) -> RemovableHandle:
        """`hook(optimizer, args, kwargs)` runs after each step."""
        return RemovableHandle(self._post_hooks, hook)

    def register_state_dict_pre_hook(self, hook: Callable, prepend: bool = False) -> RemovableHandle:
        """`hook(optimizer)` runs before `state_dict`."""
        return RemovableHandle(self._hooks["state_dict_pre"], hook, prepend=prepend)

    def register_state_dict_post_hook(self, hook: Callable, prepend: bool = False) -> RemovableHandle:
        """`hook(optimizer, state_dict)` runs after `state_dict`, and may return another dict."""
        return RemovableHandle(self._hooks["state_dict_post"], hook, prepend=prepend)

    def register_load_state_dict_pre_hook(self, hook: Callable, prepend: bool = False) -> RemovableHandle:
        """`hook(optimizer, state_dict)` runs before `load_state_dict`, and may return another dict."""
        return RemovableHandle(self._hooks["load_state_dict_pre"], hook, prepend=prepend)

    def register_load_state_dict_post_hook(self, hook: Callable, prepend: bool = False) -> RemovableHandle:
        """`hook(optimizer)` runs after `load_state_dict`."""
        return RemovableHandle(self._hooks["load_state_dict_post"], hook, prepend=prepend)

    def __getstate__(self) -> dict[str, Any]:
        return {"defaults": self.defaults, "state": self.state, "param_groups": self.param_groups}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self.__dict__.setdefault("_pre_hooks", {})
        self.__dict__.setdefault("_post_hooks", {})
        self.__dict__.setdefault("_hooks", _state_hooks())
        for group in self.param_groups:  # of an older version
            for name, value in _YOUNGER.items():
                if name in self.defaults:
                    group.setdefault(name, value)
        for entry in self.state.values():
            if isinstance(entry, dict) and isinstance(entry.get("step"), (int, float)):
                entry["step"] = functions.full((), float(entry["step"]))

    def __repr__(self) -> str:
        groups = []
        for i, group in enumerate(self.param_groups):
            settings = "".join(f"    {key}: {group[key]}\n" for key in sorted(group) if key != "params")
            groups.append(f"\nParameter Group {i}\n{settings}")
        return f"{type(self).__name__} ({''.join(groups)})"


def _state_hooks() -> dict[str, OrderedDict]:
    when = ("state_dict_pre", "state_dict_post", "load_state_dict_pre", "load_state_dict_post")
    return {moment: OrderedDict() for moment in when}


def scalar_dtype() -> dtype:
    """The dtype of a number of steps, which float16 could not count. Source: `torch/optim/optimizer.py`, `_get_scalar_dtype`."""
    return float64 if get_default_dtype() is float64 else float32


def _refuse_negative(**settings: float) -> None:
    """Refuse negative settings and NaN. (SGD accepts NaN, as in PyTorch.)"""
    for name, value in settings.items():
        if isinstance(value, Tensor) and value.numel() != 1:
            raise ValueError(f"Tensor {name} must be 1-element")
        if not value >= 0:
            raise ValueError(f"Invalid {name}: {value}")


# Stochastic gradient descent -----------------------------------------------------------------------------------------


def sgd(
    params: list[Tensor],
    grads: list[Tensor],
    momentum_buffers: list[Tensor | None],
    *,
    lr: float,
    momentum: float,
    dampening: float,
    weight_decay: float,
    nesterov: bool,
    maximize: bool,
) -> None:
    """One step of gradient descent: update each parameter p in place, using its gradient g and its buffer b.

        g := -g                                        if `maximize`
        g := g + weight_decay p                        if `weight_decay` is not 0
        b := momentum b + (1 - dampening) g            if `momentum` is not 0 and b is not None
        b := g                                         if `momentum` is not 0 and b is None: the first step, undamped
        d := g                                         if `momentum` is 0
        d := b                                         if `momentum` is not 0 and not `nesterov`
        d := g + momentum b                            if `momentum` is not 0 and `nesterov`
        p := p - lr d

    Args:
        params, grads: lists of the same length; each gradient has the sizes and dtype of its parameter. No parameter is there
            twice.
        momentum_buffers: a list of that length too. Each entry is a tensor like the parameter, changed in place, or None, which
            is replaced by a new tensor that shares no memory with the gradient. With `momentum` 0 the list is not used, and
            may be empty.

    The gradients are not changed. It is called while no graph is recorded. PyTorch computes the lines in
    this order, with `add`, `mul` and similar operators and their `alpha`. If you use other operators, such as in
    `p - d * lr`, the last digits may differ, and the check allows this.

    >>> p, b = rl.tensor([1.0]), rl.tensor([10.0])
    >>> options = {"dampening": 0, "weight_decay": 0, "nesterov": False, "maximize": False}
    >>> sgd([p], [rl.tensor([2.0])], [b], lr=0.5, momentum=0.5, **options)
    >>> p.item(), b.item()
    (-2.5, 7.0)

    Source: `torch/optim/sgd.py`, `_single_tensor_sgd`.
    """
    for i, (param, grad) in enumerate(zip(params, grads)):
        if maximize:
            grad = -grad
        if weight_decay != 0:
            grad = grad.add(param, alpha=weight_decay)
        if momentum != 0:
            buffer = momentum_buffers[i]
            if buffer is None:
                buffer = momentum_buffers[i] = grad.detach().clone()
            else:
                buffer.mul_(momentum).add_(grad, alpha=1 - dampening)
            grad = grad.add(buffer, alpha=momentum) if nesterov else buffer
        param.add_(grad, alpha=-lr)


class SGD(Optimizer):
    """Source: `torch/optim/sgd.py`, `SGD`."""

    def __init__(
        self, params: Iterable, lr: float = 1e-3, momentum: float = 0, dampening: float = 0, weight_decay: float = 0,
        nesterov: bool = False, *, maximize: bool = False, foreach: bool | None = None, differentiable: bool = False,
        fused: bool | None = None,
    ) -> None:  # fmt: skip
        settings = dict(lr=lr, momentum=momentum, weight_decay=weight_decay)
        _refuse_negative(**{name: v for name, v in settings.items() if isinstance(v, Tensor) or v == v})
        if nesterov and (momentum <= 0 or dampening != 0):
            raise ValueError("Nesterov momentum requires a momentum and zero dampening")
        defaults = dict(
            lr=lr, momentum=momentum, dampening=dampening, weight_decay=weight_decay, nesterov=nesterov,
            maximize=maximize, foreach=foreach, differentiable=differentiable, fused=fused,
        )  # fmt: skip
        super().__init__(params, defaults)

    def _update(self, group: dict[str, Any], params: list[Tensor]) -> None:
        buffers = [self.state[param].get("momentum_buffer") for param in params] if group["momentum"] else []
        names = ("lr", "momentum", "dampening", "weight_decay", "nesterov", "maximize")
        sgd(params, [param.grad for param in params], buffers, **{name: group[name] for name in names})
        for param, buffer in zip(params, buffers):
            self.state[param]["momentum_buffer"] = buffer


# Adam ----------------------------------------------------------------------------------------------------------------


def adam(
    params: list[Tensor], grads: list[Tensor], exp_avgs: list[Tensor], exp_avg_sqs: list[Tensor],
    max_exp_avg_sqs: list[Tensor], state_steps: list[Tensor], *, lr: float, beta1: float, beta2: float, eps: float,
    weight_decay: float, amsgrad: bool, maximize: bool, decoupled_weight_decay: bool,
) -> None:  # fmt: skip
    """One step of Adam, or of AdamW if `decoupled_weight_decay`: update each parameter p in place, using its gradient g.

    m and v are the running averages of the gradient and of its square (`exp_avgs`, `exp_avg_sqs`), w is the largest v so far
    (`max_exp_avg_sqs`), and t is the number of steps (`state_steps`, tensors of one element). All are changed in place.

        t := t + 1
        g := -g                                        if `maximize`
        p := p (1 - lr weight_decay)                   if `weight_decay` is not 0 and `decoupled_weight_decay`
        g := g + weight_decay p                        if `weight_decay` is not 0 and not `decoupled_weight_decay`
        m := m + (1 - beta1) (g - m)
        v := beta2 v + (1 - beta2) g^2
        w := maximum(w, v), nan if v or w is nan        if `amsgrad`: then the next line uses w instead of v
        p := p - lr / (1 - beta1^t) * m / (sqrt(v) / sqrt(1 - beta2^t) + eps)

    Args:
        params, grads, exp_avgs, exp_avg_sqs, state_steps: lists of the same length; all tensors of a parameter, except the
            number of steps, have its sizes and dtype. No parameter is there twice.
        max_exp_avg_sqs: a list of that length too if `amsgrad`; otherwise it is not used, and may be empty.

    The gradients are not changed. It is called while no graph is recorded. Values that depend only on t are computed with Python
    numbers, values of the parameter's size with tensors. If you use other operators than PyTorch, the last digits may differ.

    >>> p, m, v, t = rl.ones(1), rl.zeros(1), rl.zeros(1), rl.zeros(())
    >>> options = {"weight_decay": 0, "amsgrad": False, "maximize": False, "decoupled_weight_decay": False}
    >>> adam([p], [rl.tensor([100.0])], [m], [v], [], [t], lr=0.5, beta1=0.9, beta2=0.999, eps=1e-8, **options)
    >>> round(p.item(), 4), t.item()
    (0.5, 1.0)

    Source: `torch/optim/adam.py`, `_single_tensor_adam`.
    """
    for i, (param, grad, exp_avg, exp_avg_sq, step) in enumerate(
        zip(params, grads, exp_avgs, exp_avg_sqs, state_steps)
    ):
        step.add_(1)
        if maximize:
            grad = -grad
        if weight_decay != 0 and decoupled_weight_decay:
            param.mul_(1 - lr * weight_decay)
        elif weight_decay != 0:
            grad = grad.add(param, alpha=weight_decay)
        exp_avg.lerp_(grad, 1 - beta1)
        exp_avg_sq.mul_(beta2).addcmul_(grad, grad, value=1 - beta2)
        if amsgrad:
            exp_avg_sq = max_exp_avg_sqs[i].copy_(functions.maximum(max_exp_avg_sqs[i], exp_avg_sq))
        steps = step.item()
        scale = (1 - beta2**steps) ** 0.5
        param.addcdiv_(exp_avg, exp_avg_sq.sqrt().div_(scale).add_(eps), value=-lr / (1 - beta1**steps))


fast_form_of(adam, "optim")(_fused.adam)


class Adam(Optimizer):
    """Source: `torch/optim/adam.py`, `Adam`."""

    def __init__(
        self, params: Iterable, lr: float = 1e-3, betas: tuple[float, float] = (0.9, 0.999), eps: float = 1e-8,
        weight_decay: float = 0, amsgrad: bool = False, *, foreach: bool | None = None, maximize: bool = False,
        capturable: bool = False, differentiable: bool = False, fused: bool | None = None,
        decoupled_weight_decay: bool = False,
    ) -> None:  # fmt: skip
        _refuse_negative(lr=lr, eps=eps, weight_decay=weight_decay)
        if not all(isinstance(beta, (float, Tensor)) and 0 <= beta < 1 for beta in betas):
            raise ValueError(f"Invalid betas: {betas}. They must be floats, 0 or larger, and smaller than 1")
        defaults = dict(
            lr=lr, betas=tuple(betas), eps=eps, weight_decay=weight_decay, amsgrad=amsgrad, maximize=maximize,
            foreach=foreach, capturable=capturable, differentiable=differentiable, fused=fused,
            decoupled_weight_decay=decoupled_weight_decay,
        )  # fmt: skip
        super().__init__(params, defaults)

    def _update(self, group: dict[str, Any], params: list[Tensor]) -> None:
        kept = ("exp_avg", "exp_avg_sq", "max_exp_avg_sq")[: 3 if group["amsgrad"] else 2]
        states = [self._make_state(param, *kept) for param in params]
        exp_avgs, exp_avg_sqs, steps = ([s[name] for s in states] for name in ("exp_avg", "exp_avg_sq", "step"))
        largest = [state["max_exp_avg_sq"] for state in states] if group["amsgrad"] else []
        names = ("lr", "eps", "weight_decay", "amsgrad", "maximize", "decoupled_weight_decay")
        settings = {"beta1": group["betas"][0], "beta2": group["betas"][1], **{name: group[name] for name in names}}
        grads = [param.grad for param in params]
        tensors = zip(params, grads, exp_avgs, exp_avg_sqs, steps)
        is_fused = not largest and _fused.can_fuse(tensors, settings.values())
        (fastest[adam] if is_fused else adam)(params, grads, exp_avgs, exp_avg_sqs, largest, steps, **settings)


class AdamW(Adam):
    """Adam with weight decay that does not enter the running averages. Source: `torch/optim/adamw.py`, `AdamW`."""

    def __init__(
        self, params: Iterable, lr: float = 1e-3, betas: tuple[float, float] = (0.9, 0.999), eps: float = 1e-8,
        weight_decay: float = 1e-2, amsgrad: bool = False, **options: bool | None,
    ) -> None:  # fmt: skip
        super().__init__(params, lr, betas, eps, weight_decay, amsgrad, **options, decoupled_weight_decay=True)

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        for group in self.param_groups:  # also for groups saved by Adam
            group["decoupled_weight_decay"] = True
