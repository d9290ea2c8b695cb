"""Random fills, initialisers and autocast within a compiled function give what torch gives without a compiler."""

import pytest
from both import FRAMEWORKS, observe

import rushlight as rl

FILLS = [  # of these names
    "x.clone().uniform_()",
    "x.clone().uniform_(-1, 1)",
    "x.clone().normal_(2.0, 3.0)",
    "x.t().clone().normal_()",
    "x.clone().exponential_()",
    "x.clone().bernoulli_(0.3)",
    "x.clone().bernoulli_(x.sigmoid())",
    "x.clone().random_(5)",
    "x.clone().random_(2, 5)",
    "x.uniform_() + x",
    "x[0].uniform_().sum() + x.sum()",
    "xp.empty_like(x).uniform_() * 2",
    "xp.rand(3) + 1",
    "xp.randn_like(x) * x",
    "xp.normal(0.0, 1.0, (3,)) + 1",
    "xp.normal(x, x.abs())",
    "xp.randperm(4) + 1",
    "init.uniform_(w) + x",
    "init.normal_(x.clone())",
    "init.xavier_uniform_(x.clone())",
    "init.kaiming_normal_(w) + x",
    "init.trunc_normal_(x.clone())",
    "init.eye_(w) + x",
]


@pytest.mark.parametrize("backend", ["aot_eager", "inductor"])
def test_random_fills_draw_the_same_numbers(backend):
    for fill in FILLS[:: 1 if backend == "aot_eager" else 5]:
        seen = []
        for xp in FRAMEWORKS:
            names = {"xp": xp, "init": xp.nn.init}
            exec(f"def f(x, w): return {fill}", names)
            function = rl.compile(names["f"], backend=backend) if xp is rl else names["f"]
            x, w = xp.arange(16.0).view(4, 4) / 8 - 1, xp.nn.Parameter(xp.ones(4, 4))
            xp.manual_seed(0)
            for _ in range(2):  # the second call runs the compiled code alone
                result = function(x, w)
            seen.append([result.requires_grad, *([round(y, 3) for y in t.flatten().tolist()] for t in (result, x, w))])
            seen[-1].append(round(xp.rand(1).item(), 4))
        assert seen[0] == seen[1], fill


def casting(xp):
    """Functions that enter autocast in different ways, and one that does not."""
    linear = xp.nn.Linear(4, 4)
    with xp.no_grad():
        linear.weight.fill_(0.1234567)
        linear.bias.fill_(0.3)
    entered_later = xp.autocast("cpu", dtype=xp.bfloat16)

    def inner(x):
        with xp.autocast(device_type="cpu", dtype=xp.bfloat16):
            return linear(x)

    def within_a_function(x):
        with xp.autocast("cpu", dtype=xp.bfloat16), xp.no_grad():
            return linear(x) * 2

    def within_a_call(x):
        return inner(x) * 2

    def as_a_decorator(x):
        return decorated(x) + x

    def of_a_variable(x):
        y = x * 2
        with entered_later:
            y = linear(y)
        return y * linear(x)

    decorated = xp.autocast("cpu", dtype=xp.bfloat16)(lambda x: linear(x))
    return [within_a_function, within_a_call, as_a_decorator, of_a_variable, linear]


@pytest.mark.parametrize("backend", ["eager", "aot_eager"])
def test_autocast_breaks_the_graph(backend):
    seen = []
    for xp in FRAMEWORKS:
        x = xp.arange(8.0).view(2, 4) / 3
        run = (lambda function: rl.compile(function, backend=backend)) if xp is rl else lambda function: function
        seen.append([observe(run(function)(x)) for function in casting(xp) for _ in range(2)])
    assert seen[0] == seen[1]


def test_autocast_in_one_graph_is_refused():
    for function in casting(rl)[:-1]:
        with pytest.raises(rl.dynamo.Unsupported, match="autocast"):
            rl.compile(function, fullgraph=True, backend="eager")(rl.ones(2, 4))
