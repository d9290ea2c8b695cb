"""Values that a tensor's attributes accept, attributes that its copies and pickles keep, and versions of new tensors."""

import copy
import pickle

import pytest
from both import agree, observe, outcome, written
from sweep import in_one_test

TEXTS = """
x.requires_grad = 0; x.requires_grad
x.requires_grad = None; x.requires_grad
x.requires_grad_(1)
x.grad = x; x.grad
y.grad = y; y.grad
xp.is_inference(x)
m = xp.inference_mode(); m.__enter__(); z = xp.ones(2); m.__exit__(None, None, None); (xp.is_inference(z), z.is_inference())
x.numpy()
xp.set_grad_enabled(False); a = x.numpy(); xp.set_grad_enabled(True); a
xp.set_grad_enabled(False); a = np.asarray(x); xp.set_grad_enabled(True); a
xp.set_grad_enabled(False); v = x[:]; v *= 2; xp.set_grad_enabled(True); repr(v)
xp.autograd.grad((y * 2).requires_grad_(), x, materialize_grads=True)
xp.autograd.grad((y * 2).sum().requires_grad_(), x, materialize_grads=True)[0].requires_grad
xp.autograd.grad((y * 2).sum().requires_grad_(), x, create_graph=True, materialize_grads=True)[0].requires_grad
z = x * 2; e = xp.autograd.graph.GradientEdge(z.grad_fn, 0); xp.autograd.grad(z.sum(), (e, x), materialize_grads=True)
z = x * 2; e = xp.autograd.graph.GradientEdge((x * 3).grad_fn, 0); xp.autograd.grad(z.sum(), (e, x), materialize_grads=True)
xp.autograd.grad((x * 2).sum(), {"x": x})
xp.autograd.grad((x * 2).sum(), {"x": x, "y": y.requires_grad_()}, allow_unused=True)
z = y.clone().requires_grad_(); (x * z).sum().backward(inputs={"x": x}); (x.grad, z.grad)
xp.autograd.functional.jacobian(lambda t: t**2, xp.tensor(3.0))
xp.autograd.Function()(x)
type("F", (xp.autograd.Function,), {"forward": staticmethod(lambda ctx, a: a)}).apply(x).sum().backward()
w = x.double().detach().requires_grad_(); xp.autograd.gradcheck(lambda t: (), (w,))
w = x.double().detach().requires_grad_(); xp.autograd.gradcheck(lambda t: xp.cat([t, t]) if t[0] > 1 else t * 2, (w,))
w = x.double().detach().requires_grad_(); xp.autograd.gradcheck(lambda t: t * 2 if t[0] >= 1 else t.float(), (w,))
""".strip().splitlines()


@in_one_test
@pytest.mark.parametrize("text", TEXTS)
def test_it_is_as_in_torch(text):
    agree(written(text))


def describe(xp, tensor):
    return (
        observe(tensor),
        tensor.requires_grad,
        tensor.is_leaf,
        tensor._is_view(),
        observe(tensor.grad),
        type(tensor).__name__,
    )


TENSORS = {
    "leaf in a graph with a gradient": lambda xp, x: (x * 2).sum().backward() or x,
    "no leaf": lambda xp, x: x * 2,
    "view": lambda xp, x: x.detach().view(2, 2).t(),
    "view with a history": lambda xp, x: (x * 2).view(2, 2),
    "integers": lambda xp, x: xp.arange(3),
    "parameter": lambda xp, x: xp.nn.Parameter(x.detach().view(2, 2)),
}


@in_one_test
@pytest.mark.parametrize("name", TENSORS)
@pytest.mark.parametrize("how", ["copy", 0, 1, 2, 5])
def test_a_pickle_or_a_shallow_copy_is_a_leaf_with_the_same_elements(name, how):
    def program(xp):
        x = xp.tensor([1.0, 2.0, 3.0, 4.0], requires_grad=True)
        keep, tensor = x * 3, TENSORS[name](xp, x)
        again = copy.copy(tensor) if how == "copy" else pickle.loads(pickle.dumps(tensor, protocol=how))
        return describe(xp, again), again.data_ptr() == tensor.data_ptr(), describe(xp, tensor), observe(keep)

    agree(program)


def test_a_pickle_keeps_other_attributes_and_a_tensor_that_occurs_twice():
    def program(xp):
        x = xp.ones(2)
        x.note = "text"
        pair = pickle.loads(pickle.dumps((x, x)))
        return pair[0] is pair[1], pair[0].note

    agree(program)


FUNCTIONS = {
    "graph": lambda xp, g, grad: g.sum().backward(),
    "used again": lambda xp, g, grad: (g * 2).requires_grad,
    "name": lambda xp, g, grad: type(g.grad_fn).__name__ if g.grad_fn else None,
    "edges": lambda xp, g, grad: [type(node).__name__ for node, _ in g.grad_fn.next_functions] if g.grad_fn else None,
}


@in_one_test
@pytest.mark.parametrize("what", FUNCTIONS)
@pytest.mark.parametrize("create_graph", [False, True])
@pytest.mark.parametrize("grad_requires_grad", [False, True])
def test_a_once_differentiable_backward_cannot_be_differentiated(what, create_graph, grad_requires_grad):
    def program(xp):
        class Square(xp.autograd.Function):
            @staticmethod
            def forward(ctx, x, factor):
                ctx.save_for_backward(x)
                return x * x * factor

            @staticmethod
            @xp.autograd.function.once_differentiable
            def backward(ctx, grad):
                """The derivative."""
                return 6 * grad * ctx.saved_tensors[0], None

        x = xp.tensor([1.0, 2.0], requires_grad=True)
        grad = xp.ones(2, requires_grad=grad_requires_grad)
        (g,) = xp.autograd.grad(Square.apply(x, 3), x, grad, create_graph=create_graph)
        known = observe(g), g.requires_grad, Square.backward.__doc__
        return known, outcome(lambda xp: FUNCTIONS[what](xp, g, grad), xp)

    agree(program)


@pytest.mark.parametrize("names", [("backward",), ("vjp",), ("backward", "vjp"), ()])
def test_a_function_has_a_backward_or_a_vjp(names):
    def program(xp):
        members = {"forward": staticmethod(lambda ctx, x: x * 3)}
        members |= {name: staticmethod(lambda ctx, grad: grad * 5) for name in names}
        x = xp.ones(2, requires_grad=True)
        type("F", (xp.autograd.Function,), members).apply(x).sum().backward()
        return x.grad

    agree(program)


VERSIONS = """
xp.rand(3)
xp.randn(3)
xp.randn(20)
xp.randint(0, 5, (3,))
xp.randint(5, (3,))
xp.randperm(4)
xp.rand_like(y)
xp.randn_like(y)
xp.randint_like(y, 3)
xp.rand(3, generator=xp.Generator())
xp.bernoulli(y / 2)
xp.bernoulli(y, 0.5)
xp.masked_fill(y, y > 1, 0.0)
xp.index_fill(y, 0, i - 1, 0.0)
xp.rand(3, out=xp.zeros(0))
xp.rand(3, out=xp.zeros(3))
xp.randn(3, out=xp.zeros(0))
xp.randn(3, out=xp.zeros(3))
xp.randint(0, 3, (3,), out=xp.zeros(3))
xp.randperm(3, out=xp.zeros(3, dtype=xp.int64))
xp.bernoulli(y / 2, out=xp.zeros(2))
xp.rand(3).resize_(1, 3)
""".strip().splitlines()


@in_one_test
@pytest.mark.parametrize("text", VERSIONS)
def test_the_version_of_a_new_tensor(text):
    agree(written(f"z = {text}; z._version, z.shape"))
