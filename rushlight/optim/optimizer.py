"""Optimizers: they change the parameters between two backward passes.

An optimizer holds the parameters in groups, each with its settings, and a state for each parameter. `step` is arithmetic on
tensors, in place and outside the graph. In PyTorch: `torch/optim/optimizer.py`, `sgd.py`, `adam.py`, in their `_single_tensor_`
forms. Left out: the forms for lists of tensors and the fused forms (`foreach` and `fused` choose PyTorch's implementation; here
they are only stored in the groups, because `state_dict` shows them), and steps that are captured on a GPU.
"""

from __future__ import annotations

from collections import OrderedDict, defaultdict
from collections.abc import Callable, Iterable
from copy import deepcopy
from functools import wraps
from itertools import chain
from math import inf
from typing import Any

from rushlight.aten.generated import functions
from rushlight.aten.strided import Tensor
from rushlight.autograd.grad_mode import enable_grad, set_grad_enabled
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
    warn(
        "optimizer contains a parameter group with duplicate parameters; in future, this will cause an error; "
        "see github.com/pytorch/pytorch/issues/40967 for more information"
    )


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
        raise ValueError(
            "loaded state dict contains a parameter group that doesn't match the size of optimizer's group"
        )
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
                raise RuntimeError(f"{step} must return None or a tuple of (new_args, new_kwargs), but got {changed}.")
            args, kwargs = changed
        result = step(*args, **kwargs)
        for hook in (*optimizer._post_hooks.values(), *_global_post_hooks.values()):
            hook(optimizer, args, kwargs)
        return result

    return run


def take_names(optimizer: Optimizer, group: dict[str, Any]) -> None:
    """Take the names out of a group whose parameters are pairs of a name and a parameter, as `named_parameters` gives them.

    Raises:
        ValueError: only some parameters of the group, or only some groups of the optimizer, have names.

    Source: `torch/optim/optimizer.py`, `Optimizer.add_param_group`.
    """
    given = group["params"]
    if not isinstance(given, (Tensor, set)):
        params = list(given)
        if iter(given) is given:
            group["params"] = iter(params)
        pairs = [param for param in params if isinstance(param, tuple)]
        if pairs and len(pairs) < len(params):
            raise ValueError("all optimizer params should be with/without names. Some param names are missing")
        if pairs:
            group["param_names"], group["params"] = map(list, zip(*pairs, strict=True))
    is_named = "param_names" in group
    if any(("param_names" in other) != is_named for other in optimizer.param_groups):
        problem = "all optimizer param groups should be with/without names. cannot add param group "
        raise ValueError(f"{problem}{'with' if is_named else 'without'} names to the optimizer")


# The settings that groups of older versions do not have, and their values then
_YOUNGER: dict[str, Any] = dict.fromkeys(("amsgrad", "momentum", "centered", "nesterov", "maximize"), False)
_YOUNGER |= {"foreach": None, "capturable": False, "differentiable": False, "fused": None}


class Optimizer:
    """Base class: a subclass passes the `defaults` of its settings, and defines `step`, or `_update` for one group.
    Source: `torch/optim/optimizer.py`, `Optimizer`."""

    _captured = "params and state_steps"  # what a graph of a GPU needs on that GPU, in an error

    def __init__(self, params: Iterable[Tensor] | Iterable[dict[str, Any]], defaults: dict[str, Any]) -> None:
        if isinstance(params, Tensor):
            wanted = "params argument given to the optimizer should be an iterable of Tensors or dicts"
            raise TypeError(f"{wanted}, but got {params.type()}")
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
            self.add_param_group(group)
        if defaults.get("fused") and defaults["differentiable"]:
            raise RuntimeError("`fused` does not support `differentiable`")
        if defaults.get("fused") and defaults["foreach"]:
            raise RuntimeError("`fused` and `foreach` cannot be `True` together.")

    def __init_subclass__(cls) -> None:
        if "step" in cls.__dict__:
            cls.step = _wrap_step(cls.step)

    state_dict, load_state_dict = state_dict, load_state_dict

    def add_param_group(self, param_group: dict[str, Any]) -> None:
        """Append one more group: see the function `add_param_group`. The parameters can be pairs of a name and a parameter."""
        metas = []
        if isinstance(param_group, dict):
            take_names(self, param_group)
            if self.defaults.get("differentiable"):  # then a parameter need not be a leaf
                params = param_group["params"]
                params = param_group["params"] = [params] if isinstance(params, Tensor) else [*params]
                tensors = [p for p in params if isinstance(p, Tensor)]
                metas = [p._autograd for p in tensors if not (p.is_leaf or p.retains_grad)]
        try:
            for meta in metas:
                meta.retains_grad = True
            add_param_group(self, param_group)
        finally:
            for meta in metas:
                meta.retains_grad = False

    def zero_grad(self, set_to_none: bool = True) -> None:
        """Set the gradients to None, or fill those that exist with zeros."""
        for param in chain.from_iterable(group["params"] for group in self.param_groups):
            zero_grad(param, set_to_none)

    @_wrap_step
    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        """Update the parameters using their gradients. A `closure` first computes the gradients; its loss is returned.

        The step is recorded in the graph only if the optimizer is `differentiable`.

        Raises:
            AssertionError: `capturable`, which needs a GPU, or `differentiable` together with `foreach`.
            RuntimeError: `fused`, and a parameter is not on the CPU, or is of an integer dtype.
        """
        with set_grad_enabled(self.defaults.get("differentiable", False)):
            loss = None if closure is None else enable_grad()(closure)()
            for group in self.param_groups:
                if isinstance(group.get("lr"), Tensor) and group["lr"].dim():
                    group = {**group, "lr": group["lr"].squeeze()}
                params = [param for param in group["params"] if param.grad is not None]
                if params:
                    self._check_flags(group, params)
                self._update(group, params)
        return loss

    def _check_flags(self, group: dict[str, Any], params: list[Tensor]) -> None:
        """Refuse flags that the parameters do not allow. Source: `torch/optim/optimizer.py`, `_device_dtype_check_for_fused`;
        `torch/optim/adam.py`, `_single_tensor_adam` and `_multi_tensor_adam`."""
        if group.get("capturable"):
            devices = ["cuda", "xpu", "hpu", "privateuseone", "xla"]
            raise AssertionError(f"If capturable=True, {self._captured} must be on supported devices: {devices}.")
        if group.get("differentiable") and group.get("foreach"):
            raise AssertionError("_foreach ops don't support autograd")
        for param in params if group.get("fused") else ():
            if param.device.type != "cpu" or not param.dtype.is_floating_point:
                needed = (
                    "`fused=True` requires all the params to be floating point Tensors of supported devices: ['cpu']"
                )
                raise RuntimeError(f"{needed} but {param.dtype} and {param.device.type}")

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
            for name in ("step", "eta", "mu", "mu_product") if isinstance(entry, dict) else ():
                if isinstance(entry.get(name), (int, float)):
                    entry[name] = functions.full((), float(entry[name]), dtype=scalar_dtype())

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


def check_size(name: str, value: Any) -> None:
    """Refuse a setting that is a tensor of several elements, or of none, with a ValueError."""
    if isinstance(value, Tensor) and value.numel() != 1:
        raise ValueError(f"Tensor {name} must be 1-element")


def check_settings(**settings: Any) -> None:
    """Refuse numbers below 0 and NaN, betas and etas out of their ranges, and tensors of several elements, with PyTorch's texts.

    Raises:
        ValueError: a setting is refused.
    """
    for name, value in settings.items():
        check_size(name, value)
        if name == "betas":
            for i, beta in enumerate(value):
                if not 0 <= beta < 1:
                    raise ValueError(f"Invalid beta parameter at index {i}: {beta}")
        elif name == "etas" and not 0 < value[0] < 1 < value[1]:
            raise ValueError(f"Invalid eta values: {value[0]}, {value[1]}")
        elif isinstance(value, (int, float, Tensor)) and not 0 <= value <= (1 if name == "rho" else inf):
            words = {"lr": "learning rate", "eps": "epsilon value"}
            raise ValueError(f"Invalid {words.get(name, f'{name} value')}: {value}")


def needs_grad(value: Any) -> bool:
    """Return whether a setting is a tensor that requires a gradient."""
    return isinstance(value, Tensor) and value.requires_grad


def add_decay(grad: Tensor, param: Tensor, weight_decay: Any) -> Tensor:
    """Return the gradient plus `weight_decay` times the parameter. Like PyTorch, write to the gradient itself if the decay
    requires a gradient."""
    if needs_grad(weight_decay):
        return grad.addcmul_(param.clone(), weight_decay)
    return grad.add(param, alpha=weight_decay) if weight_decay != 0 else grad


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
    """Stochastic gradient descent, with momentum and weight decay if they are given.

    Source: `torch/optim/sgd.py`, `SGD`.
    """

    def __init__(
        self, params: Iterable, lr: float = 1e-3, momentum: float = 0, dampening: float = 0, weight_decay: float = 0,
        nesterov: bool = False, *, maximize: bool = False, foreach: bool | None = None, differentiable: bool = False,
        fused: bool | None = None,
    ) -> None:  # fmt: skip
        settings = dict(lr=lr, momentum=momentum, weight_decay=weight_decay)
        check_settings(**{name: v for name, v in settings.items() if isinstance(v, Tensor) or v == v})  # NaN is allowed
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
        settings, grads = {name: group[name] for name in names}, [param.grad for param in params]
        lr, decay = group["lr"], group["weight_decay"]
        if needs_grad(lr) or needs_grad(decay):
            grads = [add_decay(-grad if group["maximize"] else grad, p, decay) for p, grad in zip(params, grads)]
            steps = [functions.zeros_like(param) for param in params]
            sgd(steps, grads, buffers, **{**settings, "lr": 1, "weight_decay": 0, "maximize": False})
            for param, step in zip(params, steps):
                param.addcmul_(step, lr) if needs_grad(lr) else param.add_(step, alpha=lr)
        else:
            sgd(params, grads, buffers, **settings)
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


def differentiable_adam(
    param: Tensor, grad: Tensor, exp_avg: Tensor, exp_avg_sq: Tensor, max_exp_avg_sq: Tensor, step: Tensor, *, lr: Any,
    beta1: Any, beta2: Any, eps: float, weight_decay: Any, amsgrad: bool, maximize: bool, decoupled_weight_decay: bool,
) -> None:  # fmt: skip
    """`adam` for one parameter, recorded in the graph: no operator writes to what the graph saved in this step, and the numbers
    can be tensors. Source: `torch/optim/adam.py`, `_single_tensor_adam`, with `differentiable`."""
    step.add_(1)
    grad = -grad if maximize else grad
    if weight_decay != 0 and decoupled_weight_decay:
        param.mul_(1 - lr * weight_decay)
    else:
        grad = add_decay(grad, param, weight_decay)
    exp_avg.lerp_(grad, 1 - beta1)
    if needs_grad(beta2):
        exp_avg_sq.lerp_(grad.square(), 1 - beta2)
    else:
        exp_avg_sq.mul_(beta2).addcmul_(grad, grad, value=1 - beta2)
    correction1, correction2 = (1 - beta ** step.clone() for beta in (beta1, beta2))
    scale = (lr / correction1).neg()
    if amsgrad:
        exp_avg_sq = max_exp_avg_sq.copy_(functions.maximum(max_exp_avg_sq.clone(), exp_avg_sq))
    root = exp_avg_sq.sqrt() / (correction2.sqrt() * scale) + eps / scale
    param.addcdiv_(exp_avg.clone(), root)


class Adam(Optimizer):
    """Divide the mean of the gradients by the root of the mean of their squares.

    Source: `torch/optim/adam.py`, `Adam`.
    """

    def __init__(
        self, params: Iterable, lr: float = 1e-3, betas: tuple[float, float] = (0.9, 0.999), eps: float = 1e-8,
        weight_decay: float = 0, amsgrad: bool = False, *, foreach: bool | None = None, maximize: bool = False,
        capturable: bool = False, differentiable: bool = False, fused: bool | None = None,
        decoupled_weight_decay: bool = False,
    ) -> None:  # fmt: skip
        for name, value in {"lr": lr, "betas[0]": betas[0], "betas[1]": betas[1]}.items():
            if isinstance(value, Tensor) and foreach and not capturable:
                raise ValueError(f"{name} as a Tensor is not supported for capturable=False and foreach=True")
            check_size(name, value)
        check_settings(lr=lr, eps=eps, betas=betas, weight_decay=weight_decay)
        if not any(all(isinstance(beta, kind) for beta in betas) for kind in (float, Tensor)):
            raise ValueError("betas must be either both floats or both Tensors")
        betas = tuple(beta.squeeze() if isinstance(beta, Tensor) else beta for beta in betas)
        defaults = dict(
            lr=lr, betas=betas, eps=eps, weight_decay=weight_decay, amsgrad=amsgrad, maximize=maximize,
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
        if group["differentiable"]:
            for tensors in zip(params, grads, exp_avgs, exp_avg_sqs, largest or grads, steps):
                differentiable_adam(*tensors, **settings)
            return
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
