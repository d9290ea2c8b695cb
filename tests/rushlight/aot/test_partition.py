"""The saved values, the cut that decides them, and operators in terms of simpler ones."""

import math
import random

import networkx
import numpy as np
import pytest
import torch
from sweep import in_one_test
from torch._functorch.partitioners import get_default_op_list

import rushlight as rl
from rushlight import aot
from rushlight.aot import decompositions, functional, partition
from rushlight.torchgen.gen import SOURCE, entries_of


def names_of(packets):
    return {getattr(packet, "__name__", str(packet)) for packet in packets}


def all_names():
    return {entry["func"].partition("(")[0].partition(".")[0] for entry in entries_of(SOURCE) if "func" in entry}


def test_the_lists_of_operators_are_torchs():
    theirs, ours = get_default_op_list(), {name for name in all_names() if not name.endswith("_")}
    assert ours & names_of(theirs.recomputable_ops) == partition.RECOMPUTABLE & ours
    assert ours & names_of(theirs.view_ops) == partition.VIEWS
    assert ours & names_of(theirs.fusible_ops) == partition.FUSIBLE & ours


@in_one_test
@pytest.mark.parametrize("seed", range(40))
def test_the_cut_is_the_one_that_networkx_finds(seed):
    rng = random.Random(seed)
    capacities = {}
    for _ in range(rng.randint(0, 24)):
        a, b = rng.sample("sabcdefgt", 2)
        capacities[a, b] = rng.choice([0, 1, 2, 3, 5, 8, 0.5, math.inf])
    graph = networkx.DiGraph()
    graph.add_nodes_from("st")
    for (a, b), capacity in capacities.items():
        graph.add_edge(a, b, capacity=capacity)
    try:
        cost, (before, _) = networkx.minimum_cut(graph, "s", "t")
    except networkx.NetworkXUnbounded:
        with pytest.raises(ValueError, match="infinite"):
            partition.minimum_cut(capacities, "s", "t")
    else:
        assert partition.minimum_cut(capacities, "s", "t") == (pytest.approx(cost), before)


def test_a_cut_through_a_long_chain_is_found_without_recursion():
    chain = {(str(i), str(i + 1)): 5 + i % 7 for i in range(20_000)}
    assert partition.minimum_cut(chain, "0", "20000")[0] == 5


def test_a_long_chain_of_cheap_operators_is_not_computed_again_as_a_whole():
    def chain(x):
        for _ in range(150):
            x = x.sin()
        return [x]

    graphs = []
    aot.aot_autograd(chain, [rl.ones(100, requires_grad=True)], lambda graph, args: graphs.append(graph) or graph)
    forward = graphs[0]
    assert len(forward.graph.output_node().args[0]) > 2


def test_random_operators_are_not_computed_again():
    graphs = []
    aot.aot_autograd(
        lambda x: [(rl.rand_like(x) * x.exp()).cos()],
        [rl.ones(100, requires_grad=True)],
        lambda graph, args: graphs.append(graph) or graph,
    )
    targets = [[str(node.target) for node in graph.graph.nodes] for graph in graphs]
    assert "aten.rand_like.default" in targets[0] and "aten.rand_like.default" not in targets[1]


SAMPLES = {
    "threshold_backward": lambda x, y: (x, y, 0.1),
    "sigmoid_backward": lambda x, y: (x, y),
    "tanh_backward": lambda x, y: (x, y),
    "silu": lambda x, y: (x,),
    "silu_backward": lambda x, y: (x, y),
    "gelu": lambda x, y: (x,),
    "gelu_backward": lambda x, y: (x, y),
    "elu": lambda x, y: (x, 2, 1.5, 0.5),
    "leaky_relu": lambda x, y: (x, 0.1),
    "leaky_relu_backward": lambda x, y: (x, y, 0.1, False),
    "hardtanh": lambda x, y: (x, -0.5, 0.5),
    "hardtanh_backward": lambda x, y: (x, y, -0.5, 0.5),
    "softplus": lambda x, y: (x, 2, 1),
    "softplus_backward": lambda x, y: (x, y, 2, 1),
    "log_sigmoid_backward": lambda x, y: (x, y, (-y.abs()).exp()),
    "addcmul": lambda x, y: (x, y, x),
    "addcdiv": lambda x, y: (x, y, x + 5),
    "lerp.Scalar": lambda x, y: (x, y, 0.7),
    "rsub.Tensor": lambda x, y: (x, y),
    "rsub.Scalar": lambda x, y: (x, 3, 2),
    "square": lambda x, y: (x,),
    "add.Scalar": lambda x, y: (x, 3, 2),
    "sub.Scalar": lambda x, y: (x, 3, 2),
    "mul.Scalar": lambda x, y: (x, 3),
    "div.Scalar": lambda x, y: (x, 3),
    "masked_fill.Scalar": lambda x, y: (x, y > 0, 3),
    "masked_fill.Tensor": lambda x, y: (x, y > 0, x.sum()),
    "detach": lambda x, y: (x,),
    "zero": lambda x, y: (x,),
    "copy": lambda x, y: (x, y[0]),
    "fill.Scalar": lambda x, y: (x, 2),
    "fill.Tensor": lambda x, y: (x, y.sum()),
    "mean": lambda x, y: (x,),
    "mean.dim": lambda x, y: (x, [0, -1], True),
    "var.correction": lambda x, y: (x, [1]),
    "std.correction": lambda x, y: (x,),
    "logsumexp": lambda x, y: (x, [1]),
    "select_backward": lambda x, y: (x[0], (3, 4), 0, 1),
    "slice_backward": lambda x, y: (x[:, 1:3], (3, 4), 1, 1, 3, 1),
    "diagonal_backward": lambda x, y: (x.diagonal(), (3, 4), 0, 0, 1),
    "mse_loss": lambda x, y: (x, y, 1),
    "mse_loss_backward": lambda x, y: (x.sum(), x, y, 1),
    "_softmax": lambda x, y: (x, 1, False),
    "_log_softmax": lambda x, y: (x, -1, False),
    "_safe_softmax": lambda x, y: (x, 1),
    "_softmax_backward_data": lambda x, y: (x, y, 0, rl.float32),
    "_log_softmax_backward_data": lambda x, y: (x, y, 1, rl.float32),
}


def test_every_decomposition_is_tried():
    assert SAMPLES.keys() == decompositions.TABLE.keys()


@in_one_test
@pytest.mark.parametrize("name", SAMPLES)
def test_a_decomposition_computes_what_the_operator_does(name):
    rl.manual_seed(0)
    args = SAMPLES[name](rl.randn(3, 4), rl.randn(3, 4))
    operator = decompositions.overload(name)
    (function,) = aot.get_decompositions([name]).values()
    expected, found = operator(*args), function(*args)
    np.testing.assert_allclose(expected.numpy(), found.numpy(), rtol=1e-5, atol=1e-6)
    assert (expected.shape, expected.dtype) == (found.shape, found.dtype)


def test_operators_without_a_decomposition_are_left_out():
    assert aot.get_decompositions(["mm", rl.ops.aten.exp.default]) == {}


@pytest.mark.parametrize(
    ("name", "form"),
    [
        ("add_.Tensor", "add.Tensor"),
        ("mul.out", "mul.Tensor"),
        ("bernoulli_.float", "bernoulli.p"),
        ("copy_", "copy"),
        ("zero_", "zero"),
        ("fill_.Scalar", "fill.Scalar"),
        ("index_put_", "index_put"),
        ("max.dim_max", "max.dim"),
    ],
)
def test_what_writes_has_a_form_that_does_not(name, form):
    assert functional.functional_form(decompositions.overload(name)) is decompositions.overload(form)


def test_every_operator_that_writes_in_place_has_a_form_or_is_known_to_have_none():
    without = set()
    for operator in list(functional.operators.values()):
        schema = operator.schema
        written = schema.namespace == "aten" and schema.arguments and schema.arguments[0].is_written
        if not written or functional.is_inplace_view(operator):
            continue
        try:
            functional.functional_form(operator)
        except NotImplementedError:
            without.add(schema.name)
    dropouts = {"dropout_", "alpha_dropout_", "feature_dropout_", "feature_alpha_dropout_"}
    assert without == dropouts | {"_index_put_impl_", "embedding_renorm_", "polygamma_", "resize_", "resize_as_"}


def test_a_scatter_is_torchs():
    x, y = rl.arange(12).reshape(3, 4), torch.arange(12).reshape(3, 4)
    for call in (
        lambda xp, x: xp.select_scatter(x, x[0] * 2, 0, 1),
        lambda xp, x: xp.slice_scatter(x, x[:, :2] * 2, 1, 1, 3),
        lambda xp, x: xp.diagonal_scatter(x, x.diagonal() * 2),
        lambda xp, x: xp.as_strided_scatter(x, x[0] * 2, (4,), (3,), 1),
        lambda xp, x: xp.select_scatter(x[0].expand(2, 4), x[1], 0, 1),
    ):
        assert call(rl, x).tolist() == call(torch, y).tolist()
        assert call(rl, x).stride() == call(torch, y).stride()
    with pytest.raises(RuntimeError):
        rl.select_scatter(x, x, 0, 1)
