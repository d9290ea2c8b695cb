"""A captured function is used again only where it may be, and says why where it may not."""

import pytest

import rushlight as rl
from rushlight.dynamo import cache, guards


@pytest.fixture
def compiler():
    rl.dynamo.reset()
    graphs = []

    def collect(gm, example_inputs):
        graphs.append(gm)
        return gm.forward

    yield graphs, lambda f, **options: rl.compile(f, backend=collect, **options)
    rl.dynamo.reset()


X = rl.ones(2, 3)


@pytest.mark.parametrize(
    ("other", "again"),
    [
        (rl.zeros(2, 3), False),
        (rl.ones(3, 3)[1:], False),
        (rl.ones(2, 4), True),
        (rl.ones(2, 3, 1), True),
        (rl.ones(2, 3).double(), True),
        (rl.ones(3, 2).t(), True),
        (rl.ones(2, 3).requires_grad_(), True),
        (rl.nn.Parameter(rl.ones(2, 3)), True),
        (3.0, True),
    ],
)
def test_a_tensor_of_another_kind_is_captured_anew(compiler, other, again):
    graphs, compile_ = compiler
    f = compile_(lambda x, y: y + x * 2)
    assert f(X, X.clone()).tolist() == (X * 3).tolist()
    f(other, rl.ones(1))
    before = len(graphs)
    assert f(X, X.clone()).tolist() == (X * 3).tolist()
    assert len(graphs) == before


def test_what_is_only_passed_on_is_not_looked_at(compiler):
    graphs, compile_ = compiler
    f = compile_(lambda x, y, k: (x + 1, y, k))
    for y, k in ((1, 2), ("a", None), (X, [1])):
        assert f(X, y, k)[1:] == (y, k)
    assert len(graphs) == 1


def test_the_same_tensor_twice_is_not_two_tensors(compiler):
    graphs, compile_ = compiler
    f = compile_(lambda x, y: x.add_(1) + y)
    x = X.clone()
    assert f(x, x).tolist() == (X * 4).tolist()
    assert f(X.clone(), X.clone()).tolist() == (X * 3).tolist()
    assert f(x, x).tolist() == (X * 6).tolist()
    assert len(graphs) == 2


def test_tensors_that_share_memory_are_left_to_python_where_one_is_written(compiler):
    graphs, compile_ = compiler
    f = compile_(lambda x, y: x.add_(1) + y)
    x = X.clone()
    assert f(X.clone(), X.clone()).tolist() == (X * 3).tolist()
    assert f(x, x.view(2, 3)).tolist() == (X * 4).tolist()


def test_grad_mode_is_guarded(compiler):
    graphs, compile_ = compiler
    w = rl.ones(3).requires_grad_()
    f = compile_(lambda x: x * 2)
    assert f(w).requires_grad
    with rl.no_grad():
        assert not f(w).requires_grad
    assert f(w).requires_grad and len(graphs) == 2


def test_a_global_a_closure_and_an_attribute_are_guarded(compiler):
    graphs, compile_ = compiler
    space = {"K": 2}
    exec("def f(x): return x * K", space)
    f = compile_(space["f"])
    assert f(X).tolist() == (X * 2).tolist()
    space["K"] = 5
    assert f(X).tolist() == (X * 5).tolist()

    n = 2

    def closed(x):
        return x * n

    g = compile_(closed)
    assert g(X).tolist() == (X * 2).tolist()
    n = 7
    assert g(X).tolist() == (X * 7).tolist()

    class Settings:
        k = 3

    s = Settings()
    h = compile_(lambda x, s: x * s.k)
    assert h(X, s).tolist() == (X * 3).tolist()
    s.k = 4
    assert h(X, s).tolist() == (X * 4).tolist()
    Settings2 = type("Settings2", (), {"k": 5})
    assert h(X, Settings2()).tolist() == (X * 5).tolist()


def test_another_function_in_a_global_is_captured_anew(compiler):
    graphs, compile_ = compiler
    space = {}
    exec("def g(x): return x + 1\ndef f(x): return g(x) * 2", space)
    f = compile_(space["f"])
    assert f(X).tolist() == (X * 4).tolist()
    exec("def g(x): return x + 2", space)
    assert f(X).tolist() == (X * 6).tolist()


def test_a_module_in_training_and_not_are_two_captures(compiler):
    graphs, compile_ = compiler
    m = rl.nn.Sequential(rl.nn.Linear(3, 3), rl.nn.Dropout(0.5))
    c = compile_(m)
    m.eval()
    assert c(X).tolist() == m(X).tolist()
    m.train()
    c(X)
    assert len(graphs) == 2
    m.eval()
    c(X)
    assert len(graphs) == 2


def test_a_changed_parameter_needs_no_new_capture(compiler):
    graphs, compile_ = compiler
    m = rl.nn.Linear(3, 2)
    c = compile_(m)
    assert c(X).tolist() == m(X).tolist()
    with rl.no_grad():
        m.weight.mul_(2)
    m.bias = rl.nn.Parameter(rl.ones(2))
    assert c(X).tolist() == m(X).tolist()
    other = rl.nn.Linear(3, 2)
    d = compile_(other)
    assert d(X).tolist() == other(X).tolist()
    assert len(graphs) == 1  # the same code, and guards speak of no module in particular


def test_a_hook_that_comes_later_runs(compiler):
    graphs, compile_ = compiler
    m = rl.nn.Linear(3, 2)
    c = compile_(m)
    before = c(X)
    m.register_forward_hook(lambda module, args, result: result * 2)
    assert c(X).tolist() == (before * 2).tolist()


def test_beyond_the_limit_python_runs_the_function(compiler):
    graphs, compile_ = compiler
    f = compile_(lambda x, k: x * k)
    for k in range(20):
        assert f(X, k).tolist() == (X * k).tolist()
    assert len(graphs) == cache.recompile_limit


def test_the_reason_of_a_recompilation_is_in_the_log(compiler, monkeypatch, capsys):
    graphs, compile_ = compiler
    monkeypatch.setenv("RUSHLIGHT_LOGS", "recompiles")
    f = compile_(lambda x, k: x * k)
    f(X, 2)
    f(rl.ones(2, 4), 2)
    assert "tensor 'x' size mismatch at index 1. expected 3, actual 4" in capsys.readouterr().err
    f(rl.ones(2, 4), 3)
    assert "L['k'] == 2" in capsys.readouterr().err


def test_a_check_can_be_read():
    scope = {}
    made = [guards.Guard("L['x']", text) for text in guards.guards_for(X, "L['x']", scope)]
    check = guards.build_check(made, scope)
    assert check({"x": rl.zeros(2, 3)}) and not check({"x": rl.zeros(3, 2)}) and not check({})
    assert "_sizes == (2, 3)" in check.source


def test_fullgraph_says_why_not(compiler):
    _, compile_ = compiler
    f = compile_(lambda x: x * 2 if x.sum() > 0 else x, fullgraph=True)
    with pytest.raises(rl.dynamo.Unsupported, match="Data-dependent branching"):
        f(X)


def test_explain_counts_graphs_breaks_and_operations():
    def f(x):
        y = x + 1
        rl.dynamo.graph_break()
        return y * 2 + y

    found = rl.dynamo.explain(f)(X)
    assert (found.graph_count, found.graph_break_count, found.op_count) == (2, 1, 3)
    assert [reason.reason for reason in found.break_reasons] == ["Call to `torch._dynamo.graph_break()`"]
    assert "Graph Count: 2" in str(found)


def test_dynamic_sizes_are_refused():
    with pytest.raises(NotImplementedError):
        rl.compile(lambda x: x, dynamic=True)


def test_compile_is_a_decorator_too_and_disable_breaks(compiler):
    graphs, _ = compiler

    @rl.dynamo.disable
    def off(x):
        return x - 1

    @rl.compile(backend="eager")
    def f(x):
        return off(x * 2) + 1

    assert f(X).tolist() == (X * 2).tolist()
    assert rl.compile(lambda x: x + 1, backend="eager", disable=True)(X).tolist() == (X + 1).tolist()


def test_an_unknown_backend_is_an_error():
    with pytest.raises(RuntimeError, match="nonsense"):
        rl.compile(lambda x: x, backend="nonsense")
