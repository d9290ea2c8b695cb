"""The graphs of ahead-of-time autograd, node by node and name by name against torch's."""

import operator

import pytest
import torch
from functorch.compile import aot_function, default_partition, min_cut_rematerialization_partition
from sweep import sweep
from torch.fx.experimental.proxy_tensor import make_fx

import rushlight as rl
from rushlight import aot

WHOLE, PLAIN = ((3, 3), True), ((3, 3), False)


def text(value):
    if isinstance(value, (list, tuple)):
        return f"[{', '.join(map(text, value))}]"
    return str(value).replace("torch.", "").replace("rushlight.", "")


def lines(graph):
    found = []
    for node in graph.nodes:
        target = "getitem" if node.target is operator.getitem else text(node.target)
        args = [text(arg) for arg in node.args] + [f"{k}={text(v)}" for k, v in node.kwargs.items()]
        found.append(f"{node.name} = {target}({', '.join(args if node.op != 'placeholder' else [])})")
    return found


def tensors(xp, specs):
    made = []
    for sizes, grad, *kind in specs:
        x = xp.ones(sizes, dtype=getattr(xp, kind[0] if kind else "float32"))
        made.append(x.requires_grad_() if grad else x)
    return made


def listed(result):
    return list(result) if isinstance(result, (list, tuple)) else [result]


def graphs(xp, compiled, partition, program, specs, **options):
    """The joint graph and its halves, or the inference graph alone."""
    found = []

    def cut(joint, args, **rest):
        found.append(lines(joint.graph))
        halves = partition(joint, args, **rest)
        found.extend(lines(half.graph) for half in halves)
        return halves

    def compiler(module, args):
        if len(found) < 3:
            found.append(lines(module.graph))
        return module

    function = compiled(lambda *args: program(xp, *args), compiler, compiler, cut, **options)
    function(*tensors(xp, specs))
    return found


def view_and_write(xp, x):
    y = x * 2
    y[0].add_(1)
    y.t().mul_(3)
    return y.sum(), y


def written_input(xp, x, b):
    b.add_(x.detach().sum(0))
    return (x * b).relu()


def views_of_one_intermediate(xp, x):
    b = x * 2
    return b.t(), x.view(9), b[0]


def written_inputs(xp, x, y):
    x.add_(1)
    y[0].zero_()
    return x[1], x.sum(), y.view(-1)


def parts_of_an_intermediate(xp, x):
    return x.exp().unbind(0)


def write_from_a_part(xp, x):
    y = x.clone()
    y[1:].mul_(y[:-1].clone())
    return y[0].exp(), y.detach()


def every_view(xp, x):
    y = x.clone()
    y.zero_()
    y.copy_(x)
    y[1].fill_(3.0)
    y.diagonal().mul_(2)
    y.unsqueeze(0).squeeze(0).neg_()
    y.permute(1, 0)[1:].add_(1)
    y.expand(2, 3, 3)[0].add_(1)
    return y


def parts_written(xp, x):
    y = x * 1
    a, _ = y.split([1, 2])
    a.exp_()
    y.unbind(1)[1].sin_()
    return y


def metadata_in_place(xp, x):
    y = x.clone()
    y.unsqueeze_(0)
    y.squeeze_(0).mul_(2)
    return y


PROGRAMS = {
    "matmul": (lambda xp, x, w: (x @ w).sigmoid().sum(), [((3, 4), True), ((4, 5), True)]),
    "linear": (
        lambda xp, x, w, b: (xp.nn.functional.linear(x, w, b).relu() * 2).sum(),
        [((8, 4), True), ((6, 4), True), ((6,), True)],
    ),
    "views and writes": (view_and_write, [WHOLE]),
    "a written input": (written_input, [WHOLE, ((3,), False)]),
    "views of one intermediate": (views_of_one_intermediate, [WHOLE]),
    "written inputs": (written_inputs, [PLAIN, PLAIN]),
    "parts": (parts_of_an_intermediate, [WHOLE]),
    "a write from a part": (write_from_a_part, [WHOLE]),
    "every view": (every_view, [PLAIN]),
    "parts written": (parts_written, [PLAIN]),
    "metadata in place": (metadata_in_place, [WHOLE]),
    "a view alone": (lambda xp, x: x.exp().t(), [WHOLE]),
    "the input itself": (lambda xp, x, y: (x.add_(y), (x * y).sum()), [PLAIN, WHOLE]),
    "cross entropy": (lambda xp, x, t: xp.nn.functional.cross_entropy(x, t), [WHOLE, ((3,), False, "int64")]),
    "softmax and max": (lambda xp, x: (x.softmax(-1), x.log_softmax(0), x.max(1)[0], x.amax(0)), [WHOLE]),
    "slices": (lambda xp, x: (x[:, 1:] @ x[1:, :], x[0, 0] * 1, x[:2].reshape(-1), x.t().reshape(9)), [WHOLE]),
    "numbers": (lambda xp, x: (x / 2 + 1 - x**2.0, 1 / (x + 3), 2 - x, x.mean(), x.mean(0)), [WHOLE]),
    "attention": (lambda xp, q, k, v: (q @ k.t() * 0.5).softmax(-1) @ v, [((5, 8), True), ((7, 8), True), ((7, 8), True)]),
    "long chain": (lambda xp, x: x.sin().cos().exp().tanh().sigmoid().relu().abs().sqrt(), [((4, 50), True)]),
    "nothing differentiable": (lambda xp, x: (x > x.t()).sum(), [WHOLE]),
}  # fmt: skip


CUTS = "default_partition", "min_cut_rematerialization_partition"


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("name", "cut"), sweep([(name, cut) for cut in CUTS for name in PROGRAMS], every=3))
def test_joint_forward_and_backward_graphs_are_torchs(name, cut):
    program, specs = PROGRAMS[name]
    theirs = {"default_partition": default_partition}.get(cut, min_cut_rematerialization_partition)
    assert graphs(rl, aot.aot_function, getattr(aot, cut), program, specs) == graphs(
        torch, aot_function, theirs, program, specs
    )


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", ["written inputs", "every view", "parts written", "nothing differentiable"])
def test_an_inference_graph_writes_to_its_inputs_as_torchs_does(name):
    program, specs = PROGRAMS[name]
    found = [
        graphs(xp, compiled, None, program, specs, keep_inference_input_mutations=True)
        for xp, compiled in ((rl, aot.aot_function), (torch, aot_function))
    ]
    assert found[0] == found[1]


@pytest.mark.parametrize("program", [every_view, parts_written, view_and_write, written_input])
def test_a_functional_program_is_torchs_dead_code_included(program):
    specs = [PLAIN, ((3,), False)][: program.__code__.co_argcount - 1]
    mine = aot.make_fx(aot.functionalize(lambda *args: program(rl, *args)))(*tensors(rl, specs))
    theirs = make_fx(torch.func.functionalize(lambda *args: program(torch, *args)))(*tensors(torch, specs))
    assert lines(mine.graph) == lines(theirs.graph)


def test_a_training_step_is_one_functional_graph_without_autograd():
    def step(x, w):
        loss = (x @ w).tanh().sum()
        (grad,) = rl.autograd.grad(loss, [w])
        with rl.no_grad():
            w.add_(grad, alpha=-0.1)
        return [loss.detach()]

    made = []
    aot.aot_autograd(
        step, tensors(rl, [((2, 3), False), ((3, 4), True)]), lambda graph, args: made.append(graph) or graph
    )
    (graph,) = made
    names = [text(node.target) for node in graph.graph.nodes if node.op == "call_function"]
    assert "ops.aten.tanh_backward.default" in [name.replace("aten", "ops.aten", 1) for name in names]
    assert names[-1] == "aten.copy_.default" and sum("_." in name for name in names) == 1


def test_what_is_made_of_nothing_is_recorded_for_the_device_on_which_it_will_be():
    made = aot.make_fx(lambda x: x + rl.zeros(3, device=x.device), tracing_mode="fake")(rl.ones(3))
    assert made(rl.ones(3)).tolist() == [1, 1, 1]


def constant_written(xp, x):
    constant = xp.tensor([1.0, 2.0, 3.0])
    part = constant[1:]
    part.add_(x.sum())
    return x * constant + part.sum()


def test_a_program_works_on_a_copy_of_the_constants_that_it_makes():
    made = aot.make_fx(lambda x: constant_written(rl, x))(rl.ones(3))
    theirs = make_fx(lambda x: constant_written(torch, x))(torch.ones(3))
    assert lines(made.graph) == lines(theirs.graph)
    assert [made(rl.ones(3)).tolist() for _ in range(2)] == [[12, 16, 17]] * 2
    functional = aot.make_fx(aot.functionalize(lambda x: constant_written(rl, x)))(rl.ones(3))
    assert [functional(rl.ones(3)).tolist() for _ in range(2)] == [[12, 16, 17]] * 2
    for backend in ("aot_eager", "inductor"):
        compiled = rl.compile(lambda x: constant_written(rl, x), backend=backend)
        assert [compiled(rl.ones(3)).tolist() for _ in range(2)] == [[12, 16, 17]] * 2


def test_a_mode_sees_that_a_tensor_is_made_of_python_data():
    class Names(rl.utils._python_dispatch.TorchDispatchMode):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            names.append(str(func))
            return func(*args, **(kwargs or {}))

    names = []
    with Names():
        made = rl.tensor([1.0], requires_grad=True)
    assert names == ["aten.lift_fresh.default"] and made.is_leaf and not made._is_view()


def test_constants_are_fetched():
    outside = rl.ones(3)
    made = aot.make_fx(lambda x: x + outside * outside)(rl.ones(3))
    assert [node.op for node in made.graph.nodes].count("get_attr") == 2
    assert made(rl.ones(3)).tolist() == [2, 2, 2]


def test_a_table_replaces_operators_by_what_they_are_made_of():
    made = aot.make_fx(lambda x: x.softmax(-1), aot.core_aten_decompositions())(rl.ones(2, 3))
    assert [text(node.target) for node in made.graph.nodes][1:-1] == [
        f"aten.{name}" for name in ("amax.default", "sub.Tensor", "exp.default", "sum.dim_IntList", "div.Tensor")
    ]


def test_tracing_modes_that_are_not_there_are_refused():
    with pytest.raises(ValueError, match="symbolic"):
        aot.make_fx(lambda x: x, tracing_mode="symbolic")


def test_a_program_that_writes_to_no_input_can_be_exported():
    joint = aot.aot_export_joint_simple(lambda x: (x * 2).exp(), tensors(rl, [WHOLE]), trace_joint=True)
    theirs = torch._functorch.aot_autograd.aot_export_joint_simple(
        lambda x: ((x * 2).exp(),), tensors(torch, [WHOLE]), trace_joint=True
    )
    assert lines(joint.graph)[:-1] == lines(theirs.graph)[:-1]
    with pytest.raises(RuntimeError, match="mutation"):
        aot.aot_export_joint_simple(lambda x: x.add_(1), tensors(rl, [PLAIN]), trace_joint=False)
