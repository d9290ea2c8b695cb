"""Parameters begin in torch's range, and gradients are clipped as torch clips them."""

import math

import pytest
import torch
from both import agree

import rushlight as rl

CALLS = {
    "uniform_": lambda init, x: init.uniform_(x, -2.0, 3.0),
    "normal_": lambda init, x: init.normal_(x, 1.0, 0.5),
    "trunc_normal_": lambda init, x: init.trunc_normal_(x, 0.0, 1.0, -0.5, 1.5),
    "xavier_uniform_": lambda init, x: init.xavier_uniform_(x, 2.0),
    "xavier_normal_": lambda init, x: init.xavier_normal_(x),
    "kaiming_uniform_": lambda init, x: init.kaiming_uniform_(x, mode="fan_out", nonlinearity="relu"),
    "kaiming_uniform_ of a Linear": lambda init, x: init.kaiming_uniform_(x, a=math.sqrt(5)),
    "kaiming_normal_": lambda init, x: init.kaiming_normal_(x, 0.2),
}


@pytest.mark.parametrize("name", CALLS)
def test_numbers_by_chance_have_torchs_distribution(name):
    moments = []
    for xp in (rl, torch):
        xp.manual_seed(7)
        x = xp.nn.Parameter(xp.empty(100, 200, 3))
        assert CALLS[name](xp.nn.init, x) is x and x.is_leaf and x.requires_grad
        moments.append([x.mean().item(), x.std().item(), x.min().item(), x.max().item()])
    spread = moments[1][1]
    for ours, theirs, within in zip(*moments, (0.03, 0.03, 0.9, 0.9)):
        assert abs(ours - theirs) < within * spread
    if "normal" not in name.replace("trunc_normal", ""):  # of an even spread the ends are known as well
        assert max(abs(a - b) for a, b in zip(*[each[2:] for each in moments])) < 1e-3 * spread


@pytest.mark.parametrize(
    "program",
    [
        lambda init, x: init.ones_(x),
        lambda init, x: init.zeros_(x),
        lambda init, x: init.constant_(x, 2.5),
        lambda init, x: init.eye_(x),
        lambda init, x: init.eye_(x[0]),
        lambda init, x: init.xavier_uniform_(x[0]),
        lambda init, x: init.kaiming_uniform_(x[0]),
        lambda init, x: init.kaiming_uniform_(x, mode="FAN_IN").shape,
        lambda init, x: init.kaiming_uniform_(x, mode="both"),
        lambda init, x: init.kaiming_normal_(x, nonlinearity="nosuch"),
        lambda init, x: init.kaiming_uniform_(x[:, :0]),
        lambda init, x: [init._calculate_fan_in_and_fan_out(x), init._calculate_fan_in_and_fan_out(x.expand(5, 2, 3))],
        lambda init, x: init._calculate_fan_in_and_fan_out(x[0]),
        lambda init, x: [
            init.calculate_gain(name) for name in ("linear", "sigmoid", "tanh", "relu", "leaky_relu", "selu")
        ],
        lambda init, x: [init.calculate_gain(f"conv{kind}{n}d") for kind in ("", "_transpose") for n in (1, 2, 3)],
        lambda init, x: [init.calculate_gain("leaky_relu", slope) for slope in (0, 1, 0.2, None)],
        lambda init, x: init.calculate_gain("leaky_relu", True),
        lambda init, x: init.calculate_gain("leaky_relu", "0.1"),
        lambda init, x: init.calculate_gain("gelu"),
        lambda init, x: init.calculate_gain("relu", "no number"),
    ],
)
def test_what_is_not_by_chance_is_torchs(program):
    agree(lambda xp: program(xp.nn.init, xp.arange(6.0).view(2, 3)))


def grads(xp, *values, dtype="float32"):
    parameters = []
    for value in values:
        parameter = xp.nn.Parameter(xp.zeros(len(value) if value is not None else 2, dtype=getattr(xp, dtype)))
        if value is not None:
            parameter.grad = xp.tensor(value, dtype=parameter.dtype)
        parameters.append(parameter)
    return parameters


@pytest.mark.parametrize(
    "values", [([3.0, 4.0], None, [0.0, -12.0]), ([0.3],), ([0.0, 0.0],), ([1.0, math.inf],), ([math.nan],), ()]
)
@pytest.mark.parametrize("norm_type", [2.0, 1, math.inf, "inf", 0, -math.inf])
@pytest.mark.parametrize("error", [False, True])
def test_gradients_are_clipped_as_torch_clips_them(values, norm_type, error):
    def program(xp):
        parameters = grads(xp, *values)
        total = xp.nn.utils.clip_grad_norm_(iter(parameters), 1.0, norm_type, error)
        return [total, *(p.grad if p.grad is None else p.grad.round(decimals=4) for p in parameters)]

    agree(program)


@pytest.mark.parametrize(
    "program",
    [
        lambda xp, p: [xp.nn.utils.clip_grad_norm_(p[0], 2.5), p[0].grad.round(decimals=4)],
        lambda xp, p: [xp.nn.utils.clip_grad_value_(p, 2.0), p[0].grad, p[2].grad],
        lambda xp, p: xp.nn.utils.get_total_norm([p[0].grad, p[2].grad]),
        lambda xp, p: xp.nn.utils.get_total_norm([]),
        lambda xp, p: xp.nn.utils.parameters_to_vector(p),
        lambda xp, p: [xp.nn.utils.vector_to_parameters(v := xp.arange(6.0), p), *p, p[0].data_ptr() == v.data_ptr()],
        lambda xp, p: xp.nn.utils.vector_to_parameters([1.0], p),
        lambda xp, p: [xp.nn.utils.clip_grad_norm_(grads(xp, [3.0, 4.0], dtype="float16"), 1.0)],
    ],
)
def test_what_is_done_to_parameters_from_outside_is_torchs(program):
    agree(lambda xp: program(xp, grads(xp, [3.0, 4.0], None, [0.0, -12.0])))
