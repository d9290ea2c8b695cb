"""A call of a compiled function does the same as a call of the function itself."""

import numpy as np
import pytest
from sweep import in_one_test

import rushlight as rl
import rushlight.nn.functional as F
from rushlight import aot


def numbers(*specs):
    rl.manual_seed(1)
    return [rl.randn(*sizes).requires_grad_(grad) for *sizes, grad in specs]


def in_place_on_both(x, y):
    x.add_(1)
    y[0].zero_()
    return x[1], x.sum(), y.view(-1)


def turned(x):
    x.t_()
    return x * 2, x[0]


def behind_the_back_of_autograd(x):
    x.t().detach()[0].add_(1)
    return x.exp(), x.detach()


PROGRAMS = {
    "matmul": (lambda x, w: (x @ w).sigmoid().sum(), [(3, 4, True), (4, 5, True)]),
    "views of the input": (lambda x: [x.t(), x * 2, x], [(3, 3, True)]),
    "a written input": (lambda x, b: (b.add_(x.detach().sum(0)), (x * b).relu()), [(3, 3, True), (3, False)]),
    "views of an intermediate": (lambda x: ((x * 2).t(), x.view(9), x > 0), [(3, 3, True)]),
    "two views": (lambda x: [(y := x * 2).t(), y[0]], [(3, 3, True)]),
    "written inputs": (in_place_on_both, [(3, 3, False), (3, 3, False)]),
    "nested": (lambda x, y: {"a": F.layer_norm(x, (3,)), "b": (F.gelu(y), [x.softmax(-1)])}, [(3, 3, True), (3, 3, True)]),
    "parts": (lambda x: x.exp().unbind(0), [(3, 3, True)]),
    "parts of the input": (lambda x: x.unbind(0), [(3, 3, True)]),
    "detached": (lambda x: [y := x.exp(), y.detach()], [(3, 3, True)]),
    "a detached view is written to": (behind_the_back_of_autograd, [(3, 4, True)]),
    "metadata": (turned, [(3, 4, False)]),
    "cross entropy": (lambda x: F.cross_entropy(x, rl.zeros(3, dtype=rl.int64)), [(3, 3, True)]),
    "a constant made within": (lambda x: x + rl.ones(3), [(3, 3, True)]),
    "dropout that does nothing": (lambda x: F.dropout(x, 0.5, training=False) * 2, [(3, 3, True)]),
}  # fmt: skip


@in_one_test
@pytest.mark.parametrize("decompositions", [None, aot.core_aten_decompositions()], ids=["as it is", "decomposed"])
@pytest.mark.parametrize("keep", [False, True])
@pytest.mark.parametrize("name", PROGRAMS)
def test_results_inputs_and_gradients_are_those_of_the_function(name, keep, decompositions):
    function, specs = PROGRAMS[name]
    compiled = aot.aot_function(
        function,
        aot.nop,
        partition_fn=aot.min_cut_rematerialization_partition,
        decompositions=decompositions,
        keep_inference_input_mutations=keep,
    )
    sides = []
    for each in (function, compiled):
        args = numbers(*specs)
        outs, _ = aot.runtime.tree_flatten(each(*args))
        losses = [(out * out).sum() for out in outs if out.requires_grad]
        if losses:
            rl.autograd.backward(losses)
        sides.append((outs, args))
    (outs, args), (mine, inputs) = sides
    for x, y in [*zip(outs, mine), *zip(args, inputs)]:
        np.testing.assert_allclose(x.detach().numpy(), y.detach().numpy(), atol=1e-5)
        assert (x.requires_grad, x.stride()) == (y.requires_grad, y.stride())
    for x, y in zip(args, inputs):
        assert (x.grad is None) == (y.grad is None)
        if x.grad is not None:
            np.testing.assert_allclose(x.grad.numpy(), y.grad.numpy(), atol=1e-5)


# 0.5 is a default of `bernoulli_`, but not of `bernoulli`
@pytest.mark.parametrize(("p", "backend"), [(0.5, "aot_eager"), (0.3, "aot_eager"), (0.5, "inductor")])
def test_dropout_draws_the_same_numbers(p, backend):
    module = rl.nn.Sequential(rl.nn.Linear(3, 3), rl.nn.Dropout(p))
    results = []
    for each in module, rl.compile(module, backend=backend):
        rl.manual_seed(0)
        result = each(rl.ones(4, 3))
        results.append((result.detach().numpy(), *rl.autograd.grad(result.sum(), [module[0].weight])))
    for eager, compiled in zip(*results):
        np.testing.assert_allclose(eager, compiled, atol=1e-6)


def test_nothing_stands_between_a_caller_and_an_inference_graph():
    made = []

    def compiler(graph, args):
        made.append(lambda *args: [args[0] * 2])
        return made[-1]

    assert aot.aot_autograd(lambda x: [x * 2], [rl.ones(3)], compiler) is made[0]


def test_a_compiled_callable_may_take_a_list():
    def compiler(graph, args):
        def boxed(args):
            return graph(*args)

        boxed._boxed_call = True
        return boxed

    compiled = aot.aot_autograd(lambda x, y: [x * y], numbers((3, True), (3, True)), compiler)
    x, y = numbers((3, True), (3, True))
    compiled(x, y)[0].sum().backward()
    assert x.grad.tolist() == y.tolist()


def test_without_grad_mode_there_is_no_backward_graph():
    graphs = []
    with rl.no_grad():
        aot.aot_autograd(lambda x: [x.exp()], numbers((3, True)), lambda graph, args: graphs.append(graph) or graph)
    assert len(graphs) == 1


def test_a_training_step_changes_the_parameters():
    def step(x, w, t):
        loss = F.cross_entropy(F.linear(x, w), t)
        (grad,) = rl.autograd.grad(loss, [w])
        with rl.no_grad():
            w.add_(grad, alpha=-0.1)
        return loss.detach(), grad

    x, w = numbers((8, 4, False), (5, 4, True))
    target = rl.arange(8) % 5
    mine = w.detach().clone().requires_grad_()
    compiled = aot.aot_autograd(step, [x, mine, target], aot.nop, decompositions=aot.core_aten_decompositions())
    for _ in range(3):
        expected, found = step(x, w, target), compiled(x, mine, target)
        np.testing.assert_allclose(expected[0].numpy(), found[0].numpy(), rtol=1e-5)
    np.testing.assert_allclose(w.detach().numpy(), mine.detach().numpy(), atol=1e-6)
    assert mine.is_leaf and mine.grad is None


def test_a_write_to_what_was_saved_is_noticed():
    compiled = aot.aot_autograd(lambda x: [x.add_(1) * 2], [rl.ones(3)], aot.nop)
    w, x = numbers((3, True), (3, False))
    loss = (w * x).sum()
    compiled(x)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        loss.backward()


def test_inputs_that_share_memory_and_are_written_to_are_left_to_eager_mode():
    def program(x, y):
        x.add_(1)
        return [y * 2]

    x = rl.ones(4)
    compiled = aot.aot_autograd(program, [x, x[1:]], aot.nop)
    assert compiled is program
    assert compiled(x, x[1:])[0].tolist() == [4, 4, 4]


def test_a_gradient_with_other_strides_will_do():
    x = rl.ones(2, 3, requires_grad=True)
    compiled = aot.aot_autograd(lambda x: [x.exp()], [x], aot.nop)
    (out,) = compiled(x)
    out.backward(rl.ones(3, 2).t())
    np.testing.assert_allclose(x.grad.numpy(), np.e * np.ones((2, 3)), rtol=1e-5)


def test_gradients_of_gradients_are_not_there():
    x = rl.ones(3, requires_grad=True)
    (out,) = aot.aot_autograd(lambda x: [x.exp()], [x], aot.nop)(x)
    (grad,) = rl.autograd.grad(out.sum(), [x], create_graph=True)
    assert not grad.requires_grad


def test_logs_show_the_graphs(monkeypatch, capsys):
    monkeypatch.setenv("RUSHLIGHT_LOGS", "aot_graphs")
    aot.aot_autograd(lambda x: [x.exp()], [rl.ones(3, requires_grad=True)], aot.nop)
    shown = capsys.readouterr().err
    assert "forward" in shown and "backward" in shown and "tangents_1" in shown
