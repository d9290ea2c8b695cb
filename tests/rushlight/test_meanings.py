"""What a name means: short programs, most of them after reports and PyTorch's own tests, show what they show on torch."""

import dataclasses
import warnings

import pytest
import torch
from both import agree, outcome, written
from sweep import in_one_test

import rushlight as rl

LINES = """
xp.Size((1.5, 2))
xp.Size([xp.tensor(2), 3]), xp.Size([np.int64(2), True]), xp.Size(range(3)), xp.Size()
xp.Size("ab")
xp.Size([[2]])
xp.bincount(xp.tensor([0, 1]), xp.ones(2)), xp.bincount(xp.tensor([0, 1]), xp.ones(2, dtype=xp.float16))
xp.bincount(xp.zeros(0, dtype=xp.int64), xp.ones(0), 3), xp.bincount(xp.tensor([0, 1]), xp.tensor([2, 3]))
xp.broadcast_shapes(1.1)
xp.broadcast_shapes((1.1, 2.0))
xp.broadcast_shapes(2, (3, 1), [1])
xp.Size([2, 3]) + (4,), (4,) + xp.Size([2]), xp.Size([2, 3])[1:], xp.Size([2]) * 2
del y.data
del y.requires_grad
del y.grad; y.grad
del y[0]
y.data = None
e = xp.ones(1).expand(3); xp.nn.functional.threshold(e, 0, 0, inplace=True)
e = xp.ones(1).expand(3); e.fill_(2)
e = xp.ones(1).expand(3); e.zero_()
e = xp.ones(1).expand(3); e.relu_()
e = xp.ones(1).expand(3); e.clamp_(0, 1)
e = xp.ones(1).expand(3); e.mul_(2)
e = xp.ones(1).expand(3); xp.nn.functional.hardtanh(e, inplace=True)
xp.nn.functional.pixel_shuffle(xp.ones(1, 4, 4, 4).contiguous(memory_format=xp.channels_last), 2)
xp.nn.functional.pixel_unshuffle(xp.ones(1, 4, 4, 4).contiguous(memory_format=xp.channels_last), 2)
xp.nn.functional.channel_shuffle(xp.ones(1, 4, 4, 4).contiguous(memory_format=xp.channels_last), 2)
xp.nn.functional.pixel_shuffle(xp.ones(1, 4, 4, 4).expand(2, 4, 4, 4), 2)
t = xp.ones(2, 3, 4, 5).contiguous(memory_format=xp.channels_last); xp.ones(120).resize_as_(t, memory_format=xp.preserve_format)
t = xp.ones(2, 3, 4, 5).contiguous(memory_format=xp.channels_last); xp.ones(120).resize_as_(t)
h = xp.tensor([-3.0, 3.0]).requires_grad_(); xp.autograd.grad(xp.nn.functional.hardswish(h).sum(), h)
xp.flip(m, (0, -2))
xp.fliplr(y)
xp.flipud(y[0])
xp.fliplr(m), xp.flipud(y), xp.rot90(m), xp.rot90(m, 2), xp.rot90(m, -1), xp.rot90(m, 4, (1, 0))
xp.rot90(m, 1, (0, -2))
xp.rot90(m, 1, (0,))
xp.rot90(m, 1, (0, 1, 2))
xp.rot90(m, 1, (0, 2))
xp.rot90(y, 1, (0, 1))
xp.nonzero(m, as_tuple=True, out=xp.empty(0, dtype=xp.int64))
xp.nonzero(m, as_tuple=1)
xp.ops.aten.unfold_backward(m, [3], 0, 2, 0)
xp.ops.aten.unfold_backward(m, [3], 0, -1, 1)
xp.isclose(y, y, rtol=x[0])
xp.allclose(y, y, atol=x[0])
xp.allclose(y, y, atol=y)
xp.allclose(y, y, atol=y[0])
xp.isclose(y, y, "a")
xp.add(y, y, alpha=x[0])
y.add_(y, alpha=x[0])
xp.nn.functional.leaky_relu(y, x[0])
xp.nn.functional.dropout(y, x[0] / 2)
xp.nn.functional.pad(y, (1, 1), value=x[0])
xp.nn.functional.threshold(y, x[0], x[1])
xp.mode(m, 2)
xp.mode(y[0], 1)
xp.mode(xp.ones(0, 2), 0)
xp.mode(xp.ones(0, 2))
xp.kthvalue(xp.ones(0, 2), 1, 0)
xp.renorm(m, 1, 2, 1.0)
xp.renorm(m, 1, -3, 1.0)
xp.renorm(m, 0, 1, 1.0)
xp.renorm(m, 1, 1, -1.0)
xp.renorm(y, 1, 0, 1.0)
xp.nansum(y, dtype=xp.int64)
xp.histc(y, 0)
xp.histc(y, 2, min=3, max=1)
xp.histc(xp.tensor([float("nan")]), 2)
xp.histogram(y, 0)
xp.histogram(y, 2, range=(3.0, 1.0))
xp.histogram(y, 2, range=(1.0, float("inf")))
xp.histogram(y, 2, range=(1.0,))
xp.histogram(y, m)
xp.histogram(y, xp.tensor([]))
xp.histogram(y, 2, weight=m)
xp.histc(xp.tensor([0, 1]), 2)
xp.histc(xp.tensor([False, True]), 2)
xp.histc(xp.tensor([0.0, 1.0], dtype=xp.float16), 2)
xp.histogram(xp.tensor([0, 1]), 2)
xp.histogram(y.half(), 2)
xp.histogram(y, xp.tensor([0, 1]))
xp.histogram(y, 3, weight=y.double())
xp.histogram(y, 3, weight=y)
xp.true_divide(i, i, out=xp.empty(2))
xp.bucketize(y, y, out=xp.empty(2, dtype=xp.int64))
xp.diagonal_copy(m, out=xp.empty(2))
xp.autograd.gradcheck(xp.sin, x.detach().double().requires_grad_(), fast_mode=True)
xp.autograd.gradcheck(xp.sin, x.detach().double().requires_grad_(), check_batched_grad=False, check_grad_dtypes=True)
d = x.detach().double().requires_grad_(); xp.autograd.gradgradcheck(xp.sin, d, gen_non_contig_grad_outputs=True)
xp.optim.SGD(xp.nn.Linear(1, 1).named_parameters(), 0.1).param_groups[0]["param_names"]
xp.optim.Adam([{"params": xp.nn.Linear(1, 1).named_parameters()}, {"params": [("c", x)]}]).param_groups[1]["param_names"]
xp.optim.SGD([("a", x), m.requires_grad_()], 0.1)
xp.optim.SGD([{"params": [("a", x)]}, {"params": [m.requires_grad_()]}], 0.1)
xp.optim.SGD([("a", x)], 0.1).state_dict()["param_groups"][0]["param_names"]
xp._assert(True, "fine")
xp._assert(False, "not fine")
o = xp.ops.aten.add.Tensor; copy.deepcopy(o) is o
a = xp.tensor(1.0, requires_grad=True).clone(); b = a.sin(); a.detach_(); b.backward()
a = xp.tensor(1.0, requires_grad=True).clone(); b = a.exp(); b.detach_(); b.requires_grad
a = xp.tensor(1.0, requires_grad=True); b = a.sin(); a.detach_(); b.backward()
a = x.clone(); b = a * a; c = a.detach(); b.sum().backward(); x.grad
"""


@in_one_test
@pytest.mark.parametrize("line", LINES.strip().splitlines())
def test_a_line_means_what_it_means_on_torch(line):
    agree(written(line))


# Graphs that are kept ------------------------------------------------------------------------------------------------


def through_a_view(name):
    def program(xp):
        x = xp.linspace(0.5, 0.9, 4).view(2, 2).requires_grad_()
        y = getattr((x * 2).view(4), name)().pow(2)
        (first,) = xp.autograd.grad(y, x, grad_outputs=xp.ones(4), create_graph=True)
        return first, xp.autograd.grad(first.sum(), x)[0]

    return program


@in_one_test
@pytest.mark.parametrize(
    "name", ["relu_", "sigmoid_", "tanh_", "exp_", "sqrt_", "reciprocal_", "rsqrt_", "sin_", "square_"]
)
def test_a_write_to_a_view_has_a_second_derivative(name):
    ours, theirs = outcome(through_a_view(name), rl), outcome(through_a_view(name), torch)
    assert isinstance(ours, list), ours
    for mine, its in zip(ours, theirs, strict=True):
        assert mine[:-1] == its[:-1]
        assert torch.allclose(torch.tensor(eval(mine[-1])), torch.tensor(eval(its[-1])), rtol=1e-5)


def saved_in_a_function(xp, *, detached):
    class F(xp.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x * 2

        @staticmethod
        def backward(ctx, grad):
            return grad * ctx.saved_tensors[0]

    x = xp.ones(2, requires_grad=True)
    y = x * 3
    z = F.apply(y)
    if detached:
        y.detach_()
    return xp.autograd.grad(z.sum(), x)[0]


@pytest.mark.parametrize("detached", [False, True])
def test_a_tensor_that_a_function_has_saved_keeps_its_history(detached):
    agree(lambda xp: saved_in_a_function(xp, detached=detached))


@in_one_test
@pytest.mark.parametrize("materialize", [False, True])
@pytest.mark.parametrize("non_differentiable", [False, True])
@pytest.mark.parametrize("dtype", ["float32", "int64"])
def test_which_missing_gradients_are_zeros(materialize, non_differentiable, dtype):
    def program(xp):
        seen = []

        class F(xp.autograd.Function):
            @staticmethod
            def forward(ctx, x):
                a, b = x.clone(), x.to(getattr(xp, dtype)).clone()
                if non_differentiable:
                    ctx.mark_non_differentiable(b)
                ctx._materialize_non_diff_grads = materialize
                return a, b

            @staticmethod
            def backward(ctx, g, h):
                seen.append(h is None)
                return g

        F.apply(xp.tensor(1.0, requires_grad=True))[0].backward()
        return seen

    agree(program)


@in_one_test
@pytest.mark.parametrize("depth", [3, 70, 200])
@pytest.mark.parametrize("fails", [False, True])
def test_a_backward_pass_runs_within_backward_passes(depth, fails):
    def program(xp):
        order = []

        class Deep(xp.autograd.Function):
            @staticmethod
            def forward(ctx, x):
                with xp.enable_grad():
                    ctx.x = x.detach().requires_grad_() - 1
                return ctx.x.detach()

            @staticmethod
            def backward(ctx, grad):
                order.append((int(ctx.x), xp.is_grad_enabled()))
                if fails and ctx.x == 0:
                    raise ValueError("at the end")
                if ctx.x > 0:
                    with xp.enable_grad():
                        Deep.apply(ctx.x).sum().backward()
                return grad

        try:
            Deep.apply(xp.tensor(float(depth), requires_grad=True)).sum().backward()
        except ValueError as error:
            return str(error), order
        return order, xp.is_grad_enabled()

    agree(program)


def test_the_error_of_a_node_is_raised_where_a_warning_is_an_error():
    def program(xp):
        with warnings.catch_warnings(), xp.autograd.set_detect_anomaly(True):
            warnings.simplefilter("error")
            d = xp.ones(5, requires_grad=True) + 1
            e = d**2
            d += 1
            e.sum().backward()

    agree(program)


# Devices, graphs of modules, reduced precision -----------------------------------------------------------------------


MADE = [
    "xp.ones(2)", "xp.zeros(2, dtype=xp.int64)", "xp.empty(2)", "xp.full((2,), 3)", "xp.arange(3)", "xp.tensor([1, 2])",
    "xp.tensor(1.5)", "xp.as_tensor([1.0])", "xp.randn(2)", "xp.eye(2)", 'xp.ones(2, device="cpu")', "xp.ones_like(outside)",
    "outside.new_zeros(2)", "outside + 1", "xp.nn.Linear(2, 2).weight", "xp.nn.Linear(2, 2)(xp.ones(1, 2))",
]  # fmt: skip


@in_one_test
@pytest.mark.parametrize("make", MADE)
def test_a_device_is_the_default_in_its_block(make):
    def program(xp):
        names = {"xp": xp, "outside": xp.ones(2)}
        with xp.device("meta"):
            made = eval(make.strip(), names)
            with xp.device("cpu"):
                inner = eval(make.strip(), names)
            here = xp.get_default_device()
        try:
            with xp.device("meta"):
                raise ValueError
        except ValueError:
            after = eval(make.strip(), names)
        return [str(x.device) for x in (made, inner, after)], str(here), str(xp.get_default_device())

    agree(program)


def test_the_default_device_is_set_and_reset():
    def program(xp):
        try:
            xp.set_default_device("meta")
            made = str(xp.ones(2).device), str(xp.get_default_device())
        finally:
            xp.set_default_device(None)
        return made, str(xp.ones(2).device)

    agree(program)


@dataclasses.dataclass
class Pair:
    a: object
    b: object


def branching(a, flag=True, factor=2):
    return a * factor if flag else a


@in_one_test
@pytest.mark.parametrize("concrete", [{"flag": False}, {"flag": True, "factor": 3}, {"flag": None}, {}, None])
@pytest.mark.parametrize("arguments", [(3, False), (3, True), (3, True, 3), (3, None)])
def test_a_trace_is_specialised_for_values(concrete, arguments):
    def program(xp):
        traced = xp.fx.symbolic_trace(branching, concrete_args=concrete)
        nodes = [(node.op, node.name, str(node.target).rpartition(".")[2]) for node in traced.graph.nodes]
        names = [(op, name) for op, name, target in nodes]
        return names, traced(*arguments)

    agree(program)


def test_a_traced_module_returns_a_dataclass():
    def program(xp):
        class M(xp.nn.Module):
            def forward(self, x):
                return Pair(x + 1, [x])

        traced = xp.fx.symbolic_trace(M())
        result = traced(xp.ones(1))
        return [node.op for node in traced.graph.nodes], result.a, result.b

    agree(program)


@pytest.mark.parametrize("dtype", ["bfloat16", "float16"])
@pytest.mark.parametrize("function", ["mish", "hardswish"])
def test_the_gradient_in_reduced_precision_is_rounded_once(function, dtype):
    def program(xp):
        x = xp.linspace(-4, 4, 401).to(getattr(xp, dtype)).requires_grad_()
        wide = x.detach().float().requires_grad_()
        getattr(xp.nn.functional, function)(x).sum().backward()
        getattr(xp.nn.functional, function)(wide).sum().backward()
        return int((x.grad != wide.grad.to(x.dtype)).sum())

    agree(program)
