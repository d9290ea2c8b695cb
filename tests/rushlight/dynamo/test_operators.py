"""Operators in a compiled function: one graph, or a graph break where torch breaks too, with the results and gradients of eager
execution. Inductor calls the eager kernel of an operator that it has no lowering for."""

import pytest

import rushlight as rl

INDEX = rl.tensor([0, 2])
MASK = rl.tensor([True, False, True, True])
WEIGHT = rl.arange(20.0).view(4, 5) / 10

ONE_GRAPH = {
    "einsum": lambda x: rl.einsum("ij,jk->ik", x, WEIGHT),
    "einsum of lists": lambda x: rl.einsum(x, [0, 1], WEIGHT, [1, 2], [0, 2]),
    "norm": lambda x: x.norm(dim=1) + rl.norm(x) + rl.linalg.vector_norm(x, 3),
    "topk": lambda x: x.topk(2)[0],
    "sort": lambda x: rl.sort(x, dim=0, descending=True)[0] + x.sort(stable=True)[0],
    "argsort": lambda x: x.gather(1, x.argsort(1)),
    "median": lambda x: x.median() + x.median(0)[0],
    "max": lambda x: x * x.max(),
    "stacks": lambda x: rl.hstack([x, rl.vstack((x[:1], x[1:]))]),
    "atleast_2d": lambda x: rl.atleast_2d(x[0]),
    "meshgrid": lambda x: rl.meshgrid(x[0], x[1], indexing="xy")[0],
    "eye and linspace": lambda x: x @ rl.eye(4) + rl.linspace(0, 1, 4),
    "isclose": lambda x: x * rl.isclose(x, x + 1e-9),
    "var_mean": lambda x: rl.var_mean(x, 1)[0] + rl.std_mean(x, dim=1)[1],
    "repeat_interleave": lambda x: x.repeat_interleave(2, dim=0),
    "scatter_reduce": lambda x: x.scatter_reduce(0, rl.zeros(2, 4, dtype=rl.int64), x[:2] * 2, "amax"),
    "index_copy": lambda x: x.index_copy(0, INDEX, x[:2] * 2),
    "index_fill": lambda x: x.index_fill(0, INDEX, 3.0) + (x * 1).index_fill_(1, INDEX, x[0, 0]),
    "masked_scatter": lambda x: x.masked_scatter(MASK, x * 2),
    "masked_fill": lambda x: x.masked_fill(MASK, x.sum()),
    "is_tensor": lambda x: x * 2 if rl.is_tensor(x) and not rl.is_tensor(2) else x,
    "finfo": lambda x: x.clamp(min=rl.finfo(x.dtype).tiny, max=rl.iinfo(rl.uint8).max),
    "index": lambda x: x[INDEX] + x[:, INDEX].sum(),
}
WITH_BREAKS = {
    "masked_select": lambda x: x.masked_select(MASK) * 2,
    "nonzero": lambda x: x[(x > 3).nonzero(as_tuple=True)] * 2,
    "where": lambda x: x[rl.where(x > 3)] * 2,
    "unique": lambda x: x[(x[:, 0] > 3).long().unique()] * 2,
    "allclose": lambda x: x * 2 if rl.allclose(x, x) else x,
    "repeats": lambda x: (
        x.repeat_interleave(INDEX + 1, dim=0) if len(x) == 2 else x.repeat_interleave(rl.arange(3), dim=0)
    ),
}


def inputs():
    return (rl.arange(12.0).view(3, 4) * 5 % 13).requires_grad_()


def result_and_gradient(function):
    x = inputs()
    result = (function(x * 2) + 1).sin()
    result.sum().backward()
    return result.detach(), x.grad


@pytest.mark.parametrize("function", [*ONE_GRAPH.values(), *WITH_BREAKS.values()], ids=[*ONE_GRAPH, *WITH_BREAKS])
def test_a_compiled_operator_has_the_results_and_gradients_of_the_plain_one(function):
    rl.dynamo.reset()
    one_graph = function in ONE_GRAPH.values()
    compiled = rl.compile(lambda x: function(x), fullgraph=one_graph, backend="aot_eager")
    for mine, plain in zip(result_and_gradient(compiled), result_and_gradient(function)):
        assert mine.shape == plain.shape and rl.allclose(mine, plain)


@pytest.mark.parametrize("function", WITH_BREAKS.values(), ids=WITH_BREAKS)
def test_an_operator_whose_sizes_depend_on_data_breaks_the_graph(function):
    with pytest.raises(rl.dynamo.exc.Unsupported):
        rl.compile(lambda x: function(x), fullgraph=True, backend="eager")(inputs())


def test_operators_without_a_lowering_are_called_by_inductor():
    def function(x):
        values, indices = x.sort(0)
        return values.topk(2)[0] * 2, x.index_copy(0, INDEX, x[:2]), indices

    x = inputs().detach()
    for mine, plain in zip(rl.compile(function, fullgraph=True)(x), function(x)):
        assert rl.equal(mine, plain)
