"""Access of code to a graph: saved values, edges, hooks of several tensors, the anomaly mode."""

import gc
import warnings
import weakref

import pytest
import torch
from both import FRAMEWORKS, agree, observe
from sweep import in_one_test

from rushlight.autograd.generated import variable_type
from rushlight.autograd.graph import Node


def leaf(xp, *sizes, start=1.0):
    count = 1
    for size in sizes:
        count *= size
    return (xp.arange(count, dtype=xp.float32).view(sizes) / 4 + start).requires_grad_()


def refused(function):
    try:
        return observe(function())
    except (RuntimeError, ValueError, TypeError) as error:
        return type(error).__name__, str(error).replace("rushlight.", "torch.")


# Saved values --------------------------------------------------------------------------------------------------------

SAVING = {
    "mul": lambda xp, x: x * x,
    "mul by what needs no grad": lambda xp, x: x * xp.ones(2, 3),
    "mul by a number": lambda xp, x: x * 3,
    "exp": lambda xp, x: x.exp(),
    "pow": lambda xp, x: x**-2,
    "add": lambda xp, x: x.add(x, alpha=-2),
    "transpose": lambda xp, x: x.transpose(-1, 0),
    "select": lambda xp, x: x[-1],
    "slice": lambda xp, x: x[:, 1:],
    "view": lambda xp, x: x.view(6),
    "expand": lambda xp, x: x.expand(2, 2, 3),
    "permute": lambda xp, x: x.permute(1, 0),
    "index": lambda xp, x: x[xp.tensor([0, 1]), xp.tensor([2, 0])],
    "sum": lambda xp, x: x.sum(-1, keepdim=True),
    "max": lambda xp, x: x.max(1)[0],
    "clamp": lambda xp, x: x.clamp(1.1, 2),
    "mm": lambda xp, x: x.mm(x.t()),
    "softmax": lambda xp, x: x.softmax(-1),
    "where": lambda xp, x: xp.where(x > 1.5, x, 0.0),
    "mse": lambda xp, x: xp.nn.functional.mse_loss(x, xp.zeros(2, 3)),
    "split": lambda xp, x: x.split(2, -1)[0],
    "split with sizes": lambda xp, x: x.split([1, 2], 1)[0],
    "gather": lambda xp, x: x.gather(1, xp.tensor([[0], [2]])),
    "index_add": lambda xp, x: x.index_add(-1, xp.tensor([0, 2]), x[:, :2]),
    "index_copy": lambda xp, x: x.detach().index_copy(1, xp.tensor([0, 2]), x[:, :2]),
    "mean": lambda xp, x: x.mean((0, -1)),
    "std_mean": lambda xp, x: xp.std_mean(x, 1)[0],
    "sgn": lambda xp, x: x.sgn(),
    "embedding": lambda xp, x: xp.nn.functional.embedding(xp.tensor([1, 0]), x),
    "convolution": lambda xp, x: xp.nn.functional.conv1d(x.view(1, 2, 3), x[:, :2].view(2, 2, 1), x[0, :2]),
    "normal": lambda xp, x: xp.normal(x, x.detach()),
}


def test_each_node_shows_the_attributes_that_torch_shows():
    for name, node in vars(variable_type).items():
        if isinstance(node, type) and issubclass(node, Node) and node is not Node:
            ours, theirs = (
                {each for each in dir(kind) if each.startswith(("_saved_", "_raw_saved_"))}
                for kind in (node, getattr(torch._C._functions, name))
            )
            assert ours == theirs, name


@in_one_test
@pytest.mark.parametrize("name", SAVING)
def test_a_node_shows_what_it_saved(name):
    def program(xp):
        node = SAVING[name](xp, leaf(xp, 2, 3)).grad_fn
        seen = {each: getattr(node, each) for each in dir(node) if each.startswith("_saved_")}
        return sorted((each, observe(rounded(xp, value))) for each, value in seen.items())

    def rounded(xp, value):
        return value.round(decimals=3) if isinstance(value, xp.Tensor) and value.dtype.is_floating_point else value

    agree(program)


def test_saved_tensors_are_gone_with_the_graph_and_saved_numbers_are_not():
    def program(xp):
        x = leaf(xp, 2, 3)
        y = x.exp().sum(-1)
        total, exp = y.grad_fn, y.grad_fn.next_functions[0][0]
        of_the_graph = exp._saved_result.grad_fn is exp
        y.sum().backward()
        gone = refused(lambda: exp._saved_result)[0]
        return of_the_graph, gone, total._saved_dim, total._saved_self_sym_sizes

    agree(program)


def test_hooks_of_one_saved_tensor():
    def program(xp):
        x = leaf(xp, 3)
        y = x * x
        saved = y.grad_fn._raw_saved_self
        saved.register_hooks(lambda tensor: tensor.detach() * 3, lambda packed: packed)
        twice = refused(lambda: saved.register_hooks(lambda x: x, lambda x: x))
        y.sum().backward()
        return x.grad, twice

    agree(program)


def test_saved_tensors_hooks_are_disabled():
    def program(xp):
        graph, x = xp.autograd.graph, leaf(xp, 3)

        def save():
            with graph.save_on_cpu():
                return (x * x).sum()

        def disable():
            with graph.save_on_cpu(), graph.disable_saved_tensors_hooks("in it"):
                pass

        seen = []
        with graph.disable_saved_tensors_hooks("outer"):
            seen.append(refused(save))
            with graph.disable_saved_tensors_hooks("inner"):
                seen.append(refused(save))
            seen.append(refused(save))
        seen.append(refused(disable))
        save().backward()
        return seen, x.grad

    agree(program)


def test_the_elements_of_a_tensor_have_its_history():
    def program(xp):
        x = leaf(xp, 3, 2)
        rows = list(x * 2)
        sum(row.sum() * i for i, row in enumerate(rows)).backward()
        return [row.grad_fn.name() for row in rows], rows[1].output_nr, x.grad, list(xp.ones(0, 2))

    agree(program)


# Edges ---------------------------------------------------------------------------------------------------------------


def edge_as_input(xp, graph, x):
    y = x * 2
    return xp.autograd.grad((y * y).sum(), graph.get_gradient_edge(y))


def edge_as_output(xp, graph, x):
    edge = graph.get_gradient_edge(x * x)
    return xp.autograd.grad(edge, x, xp.ones(3))


def edge_of_a_leaf(xp, graph, x):
    edge = graph.get_gradient_edge(x)
    return edge.node.name().rpartition("::")[2], edge.output_nr, xp.autograd.grad((x * x).sum(), [edge])


def edge_as_root_of_one_element(xp, graph, x):
    xp.autograd.backward(graph.get_gradient_edge((x * x).sum()))
    return x.grad


def edge_of_an_output(xp, graph, x):
    edge = graph.get_gradient_edge((x * x).unbind()[1])
    return edge.output_nr, xp.autograd.grad([edge], [x])


def edge_as_inputs_of_backward(xp, graph, x):
    y = x * x
    xp.autograd.backward(y.sum(), inputs=[graph.get_gradient_edge(x)])
    return x.grad


def edge_that_is_not_in_the_graph(xp, graph, x):
    edge = graph.get_gradient_edge(x * 2)
    return xp.autograd.grad((x * 3).sum(), [x, edge], allow_unused=True)


def edge_and_materialized_grads(xp, graph, x):
    edge = graph.get_gradient_edge(x * 2)
    return refused(lambda: xp.autograd.grad((x * 3).sum(), [x, edge], materialize_grads=True))


def edge_without_grad(xp, graph, x):
    return refused(lambda: graph.get_gradient_edge(x.detach()))


def edge_without_gradient(xp, graph, x):
    edge = graph.get_gradient_edge(x * x)
    return refused(lambda: xp.autograd.grad(edge, x))


def edge_with_a_wrong_gradient(xp, graph, x):
    edge = graph.get_gradient_edge(x * x)
    return refused(lambda: xp.autograd.grad(edge, x, xp.ones(2)))[0]


@pytest.mark.parametrize(
    "program",
    [
        edge_as_input, edge_as_output, edge_of_a_leaf, edge_as_root_of_one_element, edge_of_an_output,
        edge_as_inputs_of_backward, edge_that_is_not_in_the_graph, edge_and_materialized_grads, edge_without_grad,
        edge_without_gradient, edge_with_a_wrong_gradient,
    ],
)  # fmt: skip
def test_a_gradient_edge_stands_for_its_tensor(program):
    agree(lambda xp: program(xp, xp.autograd.graph, leaf(xp, 3)))


# Hooks of several tensors --------------------------------------------------------------------------------------------


def run_multi_grad_hook(xp, mode, run):
    a, b = leaf(xp, 3), leaf(xp, 3, start=2.0)
    c, d = a * b, a + b
    seen = []

    def hook(grads):
        seen.append(observe(grads))

    handle = xp.autograd.graph.register_multi_grad_hook((a, b, c, d), hook, mode=mode)
    result = refused(lambda: run(xp, a, b, c, d))
    handle.remove()
    (c + d).sum().backward()
    return seen, result


RUNS = {
    "all of them": lambda xp, a, b, c, d: (c + d).sum().backward(retain_graph=True),
    "one is not reached": lambda xp, a, b, c, d: c.sum().backward(retain_graph=True),
    "for one input": lambda xp, a, b, c, d: c.sum().backward(inputs=(a,), retain_graph=True),
    "twice": lambda xp, a, b, c, d: [c.sum().backward(retain_graph=True) for _ in range(2)],
    "the gradient of a tensor": lambda xp, a, b, c, d: xp.autograd.grad((c * c).sum(), [c], retain_graph=True),
    "the gradient of a leaf": lambda xp, a, b, c, d: xp.autograd.grad((c * c).sum(), [a], retain_graph=True),
}


@in_one_test
@pytest.mark.parametrize("mode", ["all", "any", "some"])
@pytest.mark.parametrize("run", RUNS)
def test_a_hook_of_several_tensors(run, mode):
    agree(run_multi_grad_hook, mode, RUNS[run])


# The anomaly mode ----------------------------------------------------------------------------------------------------


def watched(function):
    """The result or the error, and the warnings: the first line of each, and the lines of this file in its traceback."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        result = refused(function)
    texts = [str(each.message).strip() for each in caught if each.category is UserWarning]
    mine = [[line for line in text.splitlines() if "# the call" in line] for text in texts]
    return result, [(text.splitlines()[0].partition(" (Trig")[0], lines) for text, lines in zip(texts, mine)]


def nan(xp, x):
    with xp.autograd.detect_anomaly():
        y = x / x  # the call of div
        y.sum().backward()


def nan_of_a_forward_that_was_not_watched(xp, x):
    y = x / x
    with xp.autograd.set_detect_anomaly(True):
        y.sum().backward()


def nan_that_is_allowed(xp, x):
    with xp.autograd.detect_anomaly(check_nan=False):
        (x / x).sum().backward()
    return x.grad, xp.is_anomaly_enabled()


def nan_in_a_second_derivative(xp, x):
    with xp.autograd.set_detect_anomaly(True):
        y = x.sqrt()  # the call of sqrt
        (grad,) = xp.autograd.grad(y.sum(), x, create_graph=True)  # the call of grad
        (grad * 0).sum().backward()


def error_in_a_function(xp, x):
    class Fails(xp.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x.clone()

        @staticmethod
        def backward(ctx, grad):
            raise ValueError("an error of its own")

    with xp.autograd.set_detect_anomaly(True):
        Fails.apply(x).sum().backward()  # the call of a function


def error_in_a_hook_of_a_tensor(xp, x):
    def hook(grad):
        raise ValueError("an error of its own")

    with xp.autograd.set_detect_anomaly(True):
        y = x * 1  # the call of mul
        y.register_hook(hook)
        y.sum().backward()


def nan_of_a_hook(xp, x):
    with xp.autograd.set_detect_anomaly(True):
        y = x * 1  # the call of mul
        y.register_hook(lambda grad: grad * float("nan"))
        y.sum().backward()


def no_nan(xp, x):
    with xp.autograd.set_detect_anomaly(True):
        (x * x).sum().backward()
    before = xp.is_anomaly_enabled(), xp.is_anomaly_check_nan_enabled()
    (x * float("nan")).sum().backward()
    return x.grad, before


@pytest.mark.parametrize(
    "program",
    [
        nan, nan_of_a_forward_that_was_not_watched, nan_that_is_allowed, nan_in_a_second_derivative, error_in_a_function,
        error_in_a_hook_of_a_tensor, nan_of_a_hook, no_nan,
    ],
)  # fmt: skip
def test_the_anomaly_mode_names_the_call_whose_backward_fails(program):
    agree(lambda xp: watched(lambda: program(xp, xp.tensor([0.0, 1.0]).requires_grad_())))


@pytest.mark.parametrize("xp", FRAMEWORKS)
def test_the_anomaly_mode_leaves_no_hooks_behind(xp):
    x = leaf(xp, 2)
    y = x * 2
    node = weakref.ref(y)
    with xp.autograd.set_detect_anomaly(True):
        y.sum().backward(retain_graph=True)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        (y * float("nan")).sum().backward()
    del y
    gc.collect()
    assert node() is None


# detach_ ---------------------------------------------------------------------------------------------------------------


def detached(xp):
    x = leaf(xp, 3)
    y = x * 2
    z, view = y.exp().sum(), y.view(3)
    same = y.detach_() is y
    z.backward()
    seen = [
        same,
        y.requires_grad,
        y.is_leaf,
        y._version,
        view.requires_grad,
        view.grad_fn.name(),
        x.grad.round(decimals=2),
    ]
    y.requires_grad_().sum().backward()
    return seen, y.grad


def detached_leaf(xp):
    x = leaf(xp, 3)
    x.grad = xp.ones(3)
    x.detach_()
    return x.requires_grad, x.grad


def detached_in_a_chain(xp):
    x, seen = leaf(xp, 3), []
    state = xp.zeros(3)
    for _ in range(3):
        state.detach_()
        state = state * 0.5 + x
        seen.append(xp.autograd.grad(state.sum(), x)[0])
    return seen


def detached_view(xp):
    return refused(lambda: (leaf(xp, 4) * 2).view(2, 2).detach_()), refused(lambda: xp.ones(4).view(2, 2).detach_())


def detached_in_inference_mode(xp):
    with xp.inference_mode():
        x = xp.ones(2)
    return x.detach_()


@pytest.mark.parametrize(
    "program", [detached, detached_leaf, detached_in_a_chain, detached_view, detached_in_inference_mode]
)
def test_detach_in_place(program):
    agree(program)


# Derivatives of functions --------------------------------------------------------------------------------------------

FUNCTIONS = {
    "one of one": (lambda x: (x**3).sum(-1), (2, 3)),
    "several of several": (lambda x, y: (x * y, x.sum(), y.detach() * 2), (2, 3), (2, 3)),
    "one element of several": (lambda x, y: (x**2 * y).sum(), (2, 3), (2, 3)),
    "one element of one": (lambda x: (x**3).sum().view(1), (2, 2)),
    "linear": (lambda x: x.sum() * 2, (2,)),
    "no dimensions": (lambda x: x**3, ()),
    "no dimensions of several": (lambda x, y: (x * y).sum(), (), (2,)),
    "a constant": (lambda x: x.detach() * 2, (2,)),
}


@pytest.mark.parametrize("which", FUNCTIONS)
def test_the_jacobian_of_a_function(which):
    function, *shapes = FUNCTIONS[which]

    def program(xp):
        inputs = tuple(leaf(xp, *sizes) for sizes in shapes)
        inputs = inputs if len(inputs) > 1 else inputs[0]
        seen = [xp.autograd.functional.jacobian(function, inputs, create_graph) for create_graph in (False, True)]
        return seen, [each.requires_grad for each in flat(xp, seen)]

    def flat(xp, value):
        if isinstance(value, xp.Tensor):
            return [value]
        return [each for part in value for each in flat(xp, part)] if isinstance(value, (list, tuple)) else []

    agree(program)
