"""Parameters begin with torch's numbers, and gradients are clipped as torch clips them."""

import math

import numpy as np
import pytest
import torch
from both import agree
from sweep import in_one_test

import rushlight as rl

CALLS = {
    "uniform_": lambda init, x: init.uniform_(x, -2.0, 3.0),
    "normal_": lambda init, x: init.normal_(x, 1.0, 0.5),
    "trunc_normal_": lambda init, x: init.trunc_normal_(x, 0.0, 1.0, -0.5, 1.5),
    "trunc_normal_ of little": lambda init, x: init.trunc_normal_(x, 0.0, 1.0, 0.1, 0.7),
    "trunc_normal_ of a tail": lambda init, x: init.trunc_normal_(x, 0.0, 1.0, 2.0, 4.0),
    "xavier_uniform_": lambda init, x: init.xavier_uniform_(x, 2.0),
    "xavier_normal_": lambda init, x: init.xavier_normal_(x),
    "kaiming_uniform_": lambda init, x: init.kaiming_uniform_(x, mode="fan_out", nonlinearity="relu"),
    "kaiming_uniform_ of a Linear": lambda init, x: init.kaiming_uniform_(x, a=math.sqrt(5)),
    "kaiming_normal_": lambda init, x: init.kaiming_normal_(x, 0.2),
}


@in_one_test
@pytest.mark.parametrize("name", CALLS)
@pytest.mark.parametrize("sizes", [(2, 3), (30, 20, 3)])
def test_the_same_seed_gives_torchs_numbers(name, sizes):
    values = []
    for xp in (rl, torch):
        xp.manual_seed(7)
        for x in (xp.nn.Parameter(xp.empty(sizes)), xp.empty(sizes).transpose(0, 1)):
            assert CALLS[name](xp.nn.init, x) is x and x.is_leaf
            values.append(x.detach().numpy())
    for ours, theirs in zip(values[:2], values[2:]):
        np.testing.assert_allclose(ours, theirs, rtol=0, atol=4e-6)


@pytest.mark.parametrize("sizes", [(5, 3), (3, 5), (4, 2, 3, 3)])
def test_an_orthogonal_matrix_is_torchs(sizes):
    values = []
    for xp in (rl, torch):
        xp.manual_seed(7)
        values.append(xp.nn.init.orthogonal_(xp.empty(sizes, dtype=xp.float64), 1.5).numpy())
    np.testing.assert_allclose(*values, rtol=0, atol=1e-9)


LAYERS = [
    lambda xp, nn: nn.Linear(7, 5),
    lambda xp, nn: nn.Linear(40, 30, bias=False),
    lambda xp, nn: nn.Embedding(9, 4, padding_idx=2),
    lambda xp, nn: nn.Transformer(8, 2, 1, 1, 16),
    lambda xp, nn: nn.Bilinear(3, 2, 4),
    lambda xp, nn: nn.PReLU(3),
    lambda xp, nn: nn.Sequential(nn.ConvTranspose2d(4, 6, 3, groups=2), nn.Conv3d(2, 3, 2)),
    lambda xp, nn: nn.Sequential(nn.Linear(3, 9), nn.ReLU(), nn.BatchNorm1d(9), nn.Linear(9, 2), nn.LayerNorm(2)),
    lambda xp, nn: (layer := nn.LazyLinear(4), layer(xp.ones(2, 3)))[0],
]


@pytest.mark.parametrize("layer", LAYERS)
def test_layers_begin_with_torchs_parameters(layer):
    models = []
    for xp in (rl, torch):
        xp.manual_seed(7)
        models.append(layer(xp, xp.nn))
    ours, theirs = (model.state_dict() for model in models)
    assert list(ours) == list(theirs)
    for name in ours:
        np.testing.assert_allclose(ours[name].numpy(), theirs[name].numpy(), rtol=0, atol=4e-6)


@in_one_test
@pytest.mark.parametrize(
    "program",
    [
        lambda init, x: init.ones_(x),
        lambda init, x: init.zeros_(x),
        lambda init, x: init.constant_(x, 2.5),
        lambda init, x: init.eye_(x),
        lambda init, x: init.eye_(x[0]),
        lambda init, x: init.constant(x, 2.5),
        lambda init, x: init.eye(x),
        lambda init, x: init.dirac_(x),
        lambda init, x: init.dirac_(x.expand(4, 2, 3).clone(), 2),
        lambda init, x: init.dirac_(x.expand(3, 3, 2, 3).clone()),
        lambda init, x: init.dirac_(x.expand(4, 5, 2, 2, 3).clone(), 3),
        lambda init, x: init.orthogonal_(x[0]),
        lambda init, x: (init.sparse_(x, 0.5) == 0).sum(0),
        lambda init, x: init.sparse_(x[0], 0.5),
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


@in_one_test
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


WRAPPED = [
    lambda u, module: u.weight_norm(module),
    lambda u, module: u.weight_norm(module, dim=None),
    lambda u, module: u.weight_norm(module, dim=1),
]


@in_one_test
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("make", [lambda nn: nn.Linear(3, 4), lambda nn: nn.Conv2d(3, 4, 3)])
@pytest.mark.parametrize("wrap", WRAPPED)
def test_a_normalised_weight_is_computed_before_each_call(make, wrap):
    def program(xp):
        xp.manual_seed(1)
        module, utils = make(xp.nn), xp.nn.utils
        x = xp.randn(4, 3) if isinstance(module, xp.nn.Linear) else xp.randn(2, 3, 4, 4)
        wrap(utils, module)
        names, numbers = [list(module.state_dict())], []
        for training in (True, True, False):
            result = module.train(training)(x)
            result.square().sum().backward()
            numbers += [result, *(parameter.grad for parameter in module.parameters()), *module.state_dict().values()]
        utils.remove_weight_norm(module)
        with pytest.raises(ValueError):
            utils.remove_weight_norm(module)
        return [*names, list(module.state_dict())], [tensor.detach().numpy() for tensor in (*numbers, module(x))]

    (ours, our_numbers), (theirs, their_numbers) = program(rl), program(torch)
    assert ours == theirs
    for a, b in zip(our_numbers, their_numbers, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-4, atol=1e-4)
