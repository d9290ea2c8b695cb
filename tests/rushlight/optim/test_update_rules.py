"""Each optimizer computes what torch's functions compute, in their order: by torch's own source on rushlight's tensors, bit by bit,
and by torch itself, up to the rounding of its kernels."""

import copy
import inspect
import math
import sys
import types
from itertools import chain

import numpy as np
import pytest
import torch
from both import FRAMEWORKS, agree
from sweep import in_one_test, sweep

import rushlight as rl

TABLE = {
    "SGD": [{}, {"momentum": 0.9, "weight_decay": 0.1, "dampening": 0.5}, {"momentum": 0.9, "nesterov": True, "maximize": True}],
    "Adam": [{}, {"amsgrad": True, "weight_decay": 0.1, "maximize": True}],
    "AdamW": [{}, {"amsgrad": True, "lr": 0.1, "eps": 0.1}],
    "Adadelta": [{}, {"rho": 0.5, "weight_decay": 0.1, "maximize": True}],
    "Adagrad": [{}, {"lr_decay": 0.1, "initial_accumulator_value": 0.5, "weight_decay": 0.1}, {"maximize": True}],
    "RMSprop": [{}, {"centered": True, "alpha": 0.9, "momentum": 0.9}, {"weight_decay": 0.1, "maximize": True}],
    "Adamax": [{}, {"betas": (0.5, 0.9), "weight_decay": 0.1, "maximize": True}],
    "ASGD": [{}, {"t0": 3, "lambd": 0.1, "alpha": 0.5, "weight_decay": 0.1}, {"maximize": True}],
    "NAdam": [{}, {"weight_decay": 0.1, "momentum_decay": 0.1}, {"decoupled_weight_decay": True, "weight_decay": 0.1}],
    "RAdam": [{}, {"weight_decay": 0.1, "betas": (0.5, 0.9)}, {"decoupled_weight_decay": True, "weight_decay": 0.1}],
    "Rprop": [{}, {"etas": (0.3, 1.7), "step_sizes": (1e-3, 0.02)}, {"maximize": True}],
    "Adafactor": [{}, {"weight_decay": 0.1, "beta2_decay": -0.5, "d": 1.5}, {"maximize": True, "eps": (1e-3, 1e-2)}],
    "Muon": [{}, {"nesterov": False, "weight_decay": 0.0}, {"adjust_lr_fn": "match_rms_adamw", "ns_steps": 3, "lr": 0.1}],
}  # fmt: skip
CASES = [(name, settings) for name, cases in TABLE.items() for settings in cases]
DIFFERENTIABLE = [case for case in CASES if case[0] not in ("Adafactor", "Muon")]
NUMBERS = np.random.default_rng(0).standard_normal((11, 40))


def parameters(xp, name, dtype="float64"):
    sizes = [(3, 4), (4, 2)] if name == "Muon" else [(3, 4), (5,), (), (2, 3, 2)]
    return [xp.tensor(NUMBERS[0, : math.prod(size)].reshape(size).tolist(), dtype=getattr(xp, dtype)) for size in sizes]


def give_gradients(xp, params, step):
    for i, param in enumerate(params):
        values = np.roll(NUMBERS[step + 1], i)[: param.numel()].reshape(tuple(param.shape))
        param.grad = xp.tensor(values.tolist(), dtype=param.dtype)


def plain(value):
    if hasattr(value, "tolist"):
        return [str(value.dtype).rpartition(".")[2], value.tolist()]
    if isinstance(value, dict):
        return {key: plain(entry) for key, entry in value.items()}
    return [plain(entry) for entry in value] if isinstance(value, (list, tuple)) else value


def torchs_rule(name):
    """torch's for-loop form of an optimizer for rushlight's tensors: its code, where `torch` is rushlight."""
    name = {"AdamW": "Adam"}.get(name, name)
    never = types.SimpleNamespace(is_compiling=lambda: False, is_scripting=lambda: False)
    names = {key: getattr(rl, key) for key in dir(rl)} | {
        "compiler": never,
        "jit": never,
        "is_complex": lambda x: False,
    }
    space = {"torch": types.SimpleNamespace(**names), "Tensor": rl.Tensor}
    for key, value in vars(sys.modules[getattr(torch.optim, name).__init__.__module__]).items():
        if isinstance(value, types.FunctionType):
            value = types.FunctionType(value.__code__, space, key, value.__defaults__, value.__closure__)
        space.setdefault(key, value)
    return space[f"_single_tensor_{name.lower()}"]


def state_name(name):
    """The name in the state of a list of torch's rules: "exp_avg" for `exp_avgs`."""
    others = {"momentum_buffer_list": "momentum_buffer", "muon_momentum_bufs": "momentum_buffer", "state_steps": "step"}
    return (others | {"state_sums": "sum"}).get(name, name.removesuffix("s"))


def numbers_of(group):
    """The settings of a group with the names of torch's rules."""
    pairs = {
        "betas": "beta1 beta2",
        "etas": "etaminus etaplus",
        "step_sizes": "step_size_min step_size_max",
        "eps": "eps1 eps2",
    }
    apart = [zip(pairs[key].split(), group[key]) for key in pairs if isinstance(group.get(key), tuple)]
    return dict.fromkeys(("has_complex", "has_sparse_grad", "capturable"), False) | group | dict(chain(*apart))


@pytest.mark.parametrize("dtype", sweep(["float32", "float64"], every=4))
@pytest.mark.parametrize(
    "name, settings", CASES + [(name, {**s, "differentiable": True}) for name, s in DIFFERENTIABLE]
)
def test_a_rule_is_torchs_code_on_the_same_tensors_bit_by_bit(name, settings, dtype):
    rule, params = torchs_rule(name), parameters(rl, name, dtype)
    optimizer = getattr(rl.optim, name)(params, **settings)
    give_gradients(rl, params, 0)
    optimizer.step()  # makes the state
    theirs = [param.clone() for param in params]
    states = [copy.deepcopy(optimizer.state[param]) for param in params]
    kinds = inspect.signature(rule).parameters.values()
    lists = [kind.name for kind in kinds if kind.kind is kind.POSITIONAL_OR_KEYWORD][2:]
    named, numbers = (
        [kind.name for kind in kinds if kind.kind is kind.KEYWORD_ONLY],
        numbers_of(optimizer.param_groups[0]),
    )
    for step in range(1, 10):
        give_gradients(rl, params, step)
        optimizer.step()
        values = [
            None if key in ("grad_scale", "found_inf") else [state.get(state_name(key)) for state in states]
            for key in lists
        ]
        rule(theirs, [param.grad for param in params], *values, **{key: numbers[key] for key in named})
    assert plain(params) == plain(theirs)
    assert plain([optimizer.state[param] for param in params]) == plain(states)


def run(xp, name, settings, steps=10):
    """The parameters, the state dict and the text of an optimizer after some steps."""
    params, settings = parameters(xp, name), {} if name == "Muon" else {"foreach": False} | settings
    optimizer = getattr(xp.optim, name)(params, **settings)
    for step in range(steps):
        give_gradients(xp, params, step)
        optimizer.step()
    return plain(params), plain(optimizer.state_dict()), repr(optimizer)


def assert_close(ours, theirs, tolerance=1e-11):
    if isinstance(theirs, dict):
        assert list(ours) == list(theirs)
        ours, theirs = [*ours.values()], [*theirs.values()]
    if isinstance(theirs, (list, tuple)):
        assert len(ours) == len(theirs)
        for our, their in zip(ours, theirs):
            assert_close(our, their, tolerance)
    elif isinstance(theirs, float):
        assert math.isclose(ours, theirs, rel_tol=tolerance, abs_tol=tolerance)
    else:
        assert ours == theirs


@in_one_test
@pytest.mark.parametrize("name, settings", CASES)
def test_parameters_and_states_are_those_of_torch(name, settings):
    ours, theirs = (run(xp, name, settings) for xp in FRAMEWORKS)
    assert_close(ours, theirs, 1e-2 if name == "Muon" else 1e-6 if name == "Adafactor" else 1e-11)


def as_ours(value):
    """A state dict of torch with tensors of rushlight."""
    if isinstance(value, torch.Tensor):
        return rl.tensor(value.tolist(), dtype=getattr(rl, str(value.dtype)[6:]))
    if isinstance(value, dict):
        return {key: as_ours(entry) for key, entry in value.items()}
    return [as_ours(entry) for entry in value] if isinstance(value, list) else value


@pytest.mark.parametrize("name", TABLE)
def test_an_optimizer_goes_on_from_a_state_dict_of_torch(name):
    params = parameters(torch, name)
    theirs = getattr(torch.optim, name)(params, **TABLE[name][-1])
    for step in range(3):
        give_gradients(torch, params, step)
        theirs.step()
    again = [rl.tensor(param.tolist(), dtype=rl.float64) for param in params]
    ours = getattr(rl.optim, name)(again)
    ours.load_state_dict(as_ours(theirs.state_dict()))
    for step in range(3, 6):
        for xp, optimizer, group in ((torch, theirs, params), (rl, ours, again)):
            give_gradients(xp, group, step)
            optimizer.step()
    assert_close(plain(again), plain(params), 1e-2 if name == "Muon" else 1e-6)
    assert repr(ours) == repr(theirs)


def small(xp, name):
    return [xp.ones(2, 2).requires_grad_()] if name in ("Muon", "Adafactor") else parameters(xp, name)


WRONG = [
    ("lr", -1), ("lr", math.nan), ("lr", [0.1, 0.2]), ("eps", -1), ("weight_decay", -0.5), ("momentum", -0.5), ("rho", 1.1),
    ("rho", -1), ("betas", (1.0, 0.5)), ("betas", (0.5, -0.5)), ("etas", (1.0, 0.5)), ("lr_decay", -1), ("alpha", -1),
    ("initial_accumulator_value", -1), ("momentum_decay", -0.2), ("lambd", -1), ("t0", -1), ("eps", (-1, 1)),
    ("eps", (None, -1)), ("d", 0.5), ("beta2_decay", 0.1), ("adjust_lr_fn", "other"), ("ns_steps", 100),
    ("ns_coefficients", (1.0, 2.0)),
]  # fmt: skip
FLAGS = [
    {"capturable": True}, {"differentiable": True, "foreach": True}, {"fused": True, "foreach": True}, {"betas": (0.5, 1)},
    {"fused": True, "differentiable": True},
]  # fmt: skip


@pytest.mark.parametrize("name", TABLE)
def test_refused_settings_have_the_texts_of_torch(name):
    names = [*inspect.signature(getattr(torch.optim, name)).parameters]
    assert [*inspect.signature(getattr(rl.optim, name)).parameters][:6] == names[:6]

    def said(xp, settings):
        settings = {key: xp.tensor(value) if isinstance(value, list) else value for key, value in settings.items()}
        params = small(xp, name)
        try:
            optimizer = getattr(xp.optim, name)(params, **settings)
            give_gradients(xp, params, 0)
            optimizer.step()
        except (ValueError, RuntimeError, AssertionError) as error:
            return type(error).__name__, str(error).partition(" devices: ")[0]

    for settings in [{key: value} for key, value in WRONG] + FLAGS:
        kinds = [isinstance(value, tuple) for value in settings.values()]
        theirs = [
            isinstance(getattr(torch.optim, name)(small(torch, name)).defaults.get(key), tuple) for key in settings
        ]
        if {*settings} <= {*names} and kinds == theirs and not (name == "SGD" and "differentiable" in settings):
            assert said(rl, settings) == said(torch, settings), settings


def test_a_gradient_of_the_learning_rate_and_the_decay():
    """Through two steps, as in learning to learn. The parameters are no leaves."""

    def program(xp, name, keys):
        numbers = {key: xp.tensor(0.1, dtype=xp.float64, requires_grad=True) for key in keys}
        if "betas" in keys:
            numbers["betas"] = tuple(xp.tensor(b, dtype=xp.float64, requires_grad=True) for b in (0.9, 0.99))
        start = xp.tensor(NUMBERS[0, :4].tolist(), dtype=xp.float64).requires_grad_()
        param = start.clone()
        optimizer = getattr(xp.optim, name)([param], differentiable=True, **numbers)
        for _ in range(2):
            loss = (param**2).sum() + 3 * param.sum()
            param.grad = xp.autograd.grad(loss, param, create_graph=True)[0].clone()
            optimizer.step()
        leaves = [start, *(value for key, value in numbers.items() if key != "betas"), *numbers.get("betas", ())]
        grads = xp.autograd.grad(param.sum(), leaves)
        return [[round(float(x), 8) for x in grad.flatten()] for grad in grads]

    for name in "SGD", "Adam", "AdamW":
        for keys in ("lr",), ("weight_decay",), ("lr", "weight_decay"):
            agree(program, name, keys)
    agree(program, "Adam", ("betas",))
    for name in "Adadelta", "Adagrad", "RMSprop", "Adamax", "ASGD", "NAdam", "RAdam", "Rprop":
        agree(program, name, ())


@pytest.mark.parametrize(
    "settings",
    [{}, {"lr": 0.1, "history_size": 2}, {"line_search_fn": "strong_wolfe"}, {"max_iter": 3, "tolerance_grad": 0.1}],
)
def test_lbfgs_takes_the_steps_of_torch(settings):
    def program(xp):
        params = parameters(xp, "LBFGS")[:2]
        optimizer, losses = xp.optim.LBFGS([param.requires_grad_() for param in params], **settings), []

        def closure():
            optimizer.zero_grad()
            loss = sum(((param - i) ** 4 + param**2).sum() for i, param in enumerate(params))
            loss.backward()
            return loss

        for _ in range(4):
            losses.append(float(optimizer.step(closure).detach()))
        state = optimizer.state_dict()["state"][0]
        counts = state["func_evals"], state["n_iter"], len(state["al"]), [*state], repr(optimizer)
        return (
            [round(loss, 6) for loss in losses],
            counts,
            [[round(x, 4) for x in p.flatten().tolist()] for p in params],
        )

    agree(program)


@pytest.mark.parametrize("start", [[-1.2, 1.0], [2.0, -2.0]])
def test_lbfgs_finds_the_minimum_of_a_curved_valley(start):
    param = rl.tensor(start, dtype=rl.float64).requires_grad_()
    optimizer = rl.optim.LBFGS([param], max_iter=200, line_search_fn="strong_wolfe")

    def closure():
        optimizer.zero_grad()
        loss = (1 - param[0]) ** 2 + 100 * (param[1] - param[0] ** 2) ** 2
        loss.backward()
        return loss

    optimizer.step(closure)
    assert abs(param.detach() - 1).max() < 1e-3


def test_lbfgs_has_one_group():
    agree(lambda xp: xp.optim.LBFGS([{"params": [xp.ones(2)]}, {"params": [xp.ones(2)]}]))
    agree(lambda xp: xp.optim.LBFGS([xp.ones(2)], lr=-1))
