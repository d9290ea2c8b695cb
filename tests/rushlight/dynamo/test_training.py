"""A whole step of training is one graph, and changes what the step changes, to the last digit."""

import pytest

import rushlight as rl


class Head(rl.nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.second = rl.nn.Linear(8, 16), rl.nn.Linear(16, 4)

    def forward(self, x):
        return self.second(rl.relu(self.first(x)))


def head():
    rl.manual_seed(0)
    return Head()


@pytest.fixture
def graphs():
    rl.dynamo.reset()
    found = []
    yield found
    rl.dynamo.reset()


def collecting(graphs, backend=lambda gm: gm.forward):
    def collect(gm, example_inputs):
        graphs.append(gm)
        return backend(gm)

    return collect


def data():
    rl.manual_seed(1)
    return rl.randn(5, 8), rl.tensor([0, 1, 2, 3, 0])


@pytest.mark.parametrize(
    "settings", [{}, {"momentum": 0.9}, {"momentum": 0.9, "nesterov": True}, {"weight_decay": 0.1}, {"maximize": True}]
)
@pytest.mark.parametrize("zeros", ["none", "fill", "keep"])
def test_a_step_of_sgd(graphs, settings, zeros):
    def step(model, optimizer, x, y):
        if zeros != "keep":
            optimizer.zero_grad(set_to_none=zeros == "none")
        loss = rl.nn.functional.cross_entropy(model(x), y)
        loss.backward()
        optimizer.step()
        return loss.detach()

    x, y = data()
    plain, captured = head(), head()
    optimizers = [rl.optim.SGD(model.parameters(), lr=0.1, **settings) for model in (plain, captured)]
    compiled = rl.compile(step, backend=collecting(graphs))
    for _ in range(5):
        assert step(plain, optimizers[0], x, y).item() == compiled(captured, optimizers[1], x, y).item()
        for p, q in zip(plain.parameters(), captured.parameters()):
            assert p.tolist() == q.tolist() and p.grad.tolist() == q.grad.tolist()
    assert len(graphs) <= 2  # the first step, without gradients and momenta, and all others
    assert not any(gm.compile_subgraph_reason.graph_break for gm in graphs)


def test_autograd_grad_and_an_update_by_hand(graphs):
    def step(w, x):
        loss = (w * x).pow(2).sum()
        (g,) = rl.autograd.grad(loss, [w])
        with rl.no_grad():
            w -= 0.1 * g
        return loss.detach()

    w, v = rl.ones(3).requires_grad_(), rl.ones(3).requires_grad_()
    x = rl.tensor([1.0, 2.0, 3.0])
    compiled = rl.compile(step, backend=collecting(graphs))
    for _ in range(3):
        assert step(w, x).item() == compiled(v, x).item()
        assert w.tolist() == v.tolist()
    assert len(graphs) == 1
    targets = [node.target for node in graphs[0].graph.nodes]
    assert rl.autograd.grad in targets and targets.count(rl._C._set_grad_enabled) == 2


def test_backward_adds_to_a_gradient_that_was_there(graphs):
    def f(w):
        (w * 2).sum().backward()
        return w.grad

    w = rl.ones(3).requires_grad_()
    compiled = rl.compile(f, backend=collecting(graphs))
    assert compiled(w).tolist() == [2.0] * 3
    kept = w.grad
    assert compiled(w) is kept and kept.tolist() == [4.0] * 3
    assert compiled(w).tolist() == [6.0] * 3 and len(graphs) == 2


def test_gradients_that_share_memory_become_tensors_of_their_own(graphs):
    def f(a, b):
        (a + b).sum().backward()
        return a.grad, b.grad

    a, b = rl.ones(3).requires_grad_(), rl.ones(3).requires_grad_()
    rl.compile(f, backend=collecting(graphs))(a, b)
    a.grad.add_(1)
    assert a.grad.tolist() == [2.0] * 3 and b.grad.tolist() == [1.0] * 3 and a.grad.stride() == (1,)


def test_backward_runs_into_the_graph_before_a_break(graphs):
    def f(w):
        y = w * 2
        rl.dynamo.graph_break()
        y.sum().backward()
        return w.grad

    w = rl.ones(3).requires_grad_()
    assert rl.compile(f, backend=collecting(graphs))(w).tolist() == [2.0] * 3


def test_a_hook_on_a_parameter_runs(graphs):
    def f(w):
        (w * 2).sum().backward()
        return w.grad

    compiled = rl.compile(f, backend=collecting(graphs))
    w = rl.ones(3).requires_grad_()
    compiled(w)
    w.grad = None
    w.register_hook(lambda g: g * 10)
    assert compiled(w).tolist() == [20.0] * 3


def test_what_a_forward_graph_gives_can_be_differentiated(graphs):
    model = head()
    compiled = rl.compile(model, backend=collecting(graphs))
    x, y = data()
    rl.nn.functional.cross_entropy(compiled(x), y).backward()
    found = [p.grad.tolist() for p in model.parameters()]
    model.zero_grad()
    rl.nn.functional.cross_entropy(model(x), y).backward()
    assert found == [p.grad.tolist() for p in model.parameters()]
    assert list(compiled.parameters()) == list(model.parameters())


def test_adam_gives_the_same_whether_it_breaks_or_not(graphs):
    def step(model, optimizer, x, y):
        optimizer.zero_grad()
        loss = rl.nn.functional.cross_entropy(model(x), y)
        loss.backward()
        optimizer.step()
        return loss.detach()

    x, y = data()
    plain, captured = head(), head()
    one, two = (rl.optim.Adam(model.parameters(), lr=0.01) for model in (plain, captured))
    compiled = rl.compile(step, backend=collecting(graphs))
    for _ in range(4):
        assert step(plain, one, x, y).item() == compiled(captured, two, x, y).item()
    assert [p.tolist() for p in plain.parameters()] == [p.tolist() for p in captured.parameters()]


@pytest.mark.parametrize("backend", ["eager", "aot_eager"])
def test_a_loss_returned_with_its_history_breaks_the_graph_before_backward(graphs, backend):
    def step(model, x, y):
        loss = rl.nn.functional.cross_entropy(model(x), y)
        loss.backward()
        return loss

    plain, captured = head(), head()
    x, y = data()
    step(plain, x, y)
    loss = rl.compile(step, backend=backend)(captured, x, y)
    assert loss.requires_grad
    assert [p.grad.tolist() for p in plain.parameters()] == [p.grad.tolist() for p in captured.parameters()]
    with pytest.raises(rl.dynamo.Unsupported, match="consumed returned tensor's grad_fn"):
        rl.compile(step, backend=backend, fullgraph=True)(captured, x, y)
    assert "consumed" in rl.dynamo.explain(step)(captured, x, y).break_reasons[0].reason
