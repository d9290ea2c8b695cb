"""Subclasses of Tensor with a `__torch_function__` or a `__torch_dispatch__` do what they do on torch. So do the products of
Jacobians and Hessians with vectors, also of such tensors."""

import pytest
from both import agree
from sweep import in_one_test

from rushlight.fx import overrides


@pytest.fixture(autouse=True)
def without_interception_afterwards():
    yield
    if overrides._has_subclasses:
        overrides._has_subclasses = False
        overrides.stop_recording()


def shown(x):
    """The class, whether it has a graph, and the elements of a tensor, or of those in a tuple."""
    if isinstance(x, (list, tuple)):
        return [shown(item) for item in x]
    elements = getattr(x, "elem", x)
    return type(x).__name__, getattr(x, "requires_grad", None), elements.tolist() if hasattr(x, "dim") else x


def classes(xp, log):
    """A class with `__torch_function__`, one that inherits it, one that has none, and one without data."""

    class Logged(xp.Tensor):
        @classmethod
        def __torch_function__(cls, func, types, args=(), kwargs=None):
            log.append((func.__name__, [kind.__name__ for kind in types]))
            return super().__torch_function__(func, types, args, kwargs or {})

    class Plain(xp.Tensor):
        pass

    class Slotted(xp.Tensor):
        __slots__ = ("extra",)

    class Disabled(xp.Tensor):
        __torch_function__ = xp._C._disabled_torch_function_impl

    class Refusing(xp.Tensor):
        @classmethod
        def __torch_function__(cls, func, types, args=(), kwargs=None):
            return NotImplemented

    class Wrapper(xp.Tensor):
        __torch_function__ = xp._C._disabled_torch_function_impl

        @staticmethod
        def __new__(cls, elem, requires_grad=False):
            strides, offset = elem.stride(), elem.storage_offset()
            options = {"strides": strides, "storage_offset": offset, "dtype": elem.dtype, "device": elem.device}
            self = xp.Tensor._make_wrapper_subclass(cls, elem.size(), requires_grad=requires_grad, **options)
            self.elem = elem
            return self

        @classmethod
        def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
            def unwrap(x):
                return [*map(unwrap, x)] if isinstance(x, (list, tuple)) else x.elem if isinstance(x, cls) else x

            def wrap(x):
                return (
                    type(x)(map(wrap, x)) if isinstance(x, (list, tuple)) else cls(x) if isinstance(x, xp.Tensor) else x
                )

            log.append(str(func).rpartition(".")[0])
            return wrap(func(*map(unwrap, args), **(kwargs or {})))

    return Logged, Plain, Slotted, Disabled, Refusing, Wrapper


TEXTS = """
x = m.as_subclass(Logged); y = x + 1; z = 1 - x, xp.add(m, x), F.relu(x), x.sum(0), xp.cat([m, x]), x.max(0); *z, y, log
x = m.as_subclass(Logged); y = x[0], x.split(1), x.reshape(-1).detach(), x.clone().add_(1), x == x; *y, log
x = m.as_subclass(Logged); F.linear(x, xp.ones(3, 2)), [*log]
Plain([1.0, 2.0]) * 2, xp.ones(2) * Plain([1.0, 2.0]), Plain(2).shape
x = m.as_subclass(Plain).requires_grad_(); (x * x).sum().backward(); x, x.is_leaf, x * 2, xp.autograd.grad((x * x).sum(), x)
x = m.as_subclass(Slotted); x.extra = 3; x * 2, x.extra, m
m.as_subclass(Disabled) * 2, m.as_subclass(Disabled)
m.as_subclass(Refusing) + 1
m.as_subclass(Refusing).sum()
m.as_subclass(Logged) * m.as_subclass(Plain)
m.as_subclass(Refusing) * m.as_subclass(Plain)
x = xp._C._disabled_torch_function_impl(xp.Tensor.add, (), (m.as_subclass(Logged), 1)); x, log
x = Wrapper(m); x + m, m * x, x.sum(0), x[0], x.t(), xp.cat([x, x]), xp.stack([x]), x.max(1).values, F.relu(x), log
x = Wrapper(m); x.is_contiguous(), x.shape, x.numel(), x.dtype, x.sum().item(), bool((x > 0).all())
x = Wrapper(m, requires_grad=True); y = (x * x).pow(2).sum(); y.backward(); y, x.grad, x.elem.grad is None
x = Wrapper(m, requires_grad=True); g = xp.autograd.grad((x**3).sum(), x, create_graph=True); *g, xp.autograd.grad(g[0].sum(), x)
x = Wrapper(m, requires_grad=True); w = xp.ones(3, 2, requires_grad=True); F.linear(x, w).sum().backward(); x.grad, w.grad
x = Wrapper(m); y = x.detach(); z = y.mul_(2); z is y, y, x, y.view(4)._is_view(), type(y.view(4)._base).__name__
x = Wrapper(m, requires_grad=True); y = x * 1; y[0].mul_(3); y.sum().backward(); x.grad
x = Wrapper(m, requires_grad=True); F.softmax(x, 0)[0].sum().backward(); F.layer_norm(x, (2,)), x.grad
Wrapper(m).tolist()
Wrapper(m).numpy()
xp.Tensor._make_wrapper_subclass(Plain, (2,))
A.vjp(lambda x: (x**2, x.sum()), m, (m, xp.tensor(2.0)))
A.jvp(lambda x: (x**2, x.sum()), m, m)
A.hessian(lambda x, y: (x * y).sum() ** 2, (m, m + 1))
A.hvp(lambda x, y: (x * y).sum() ** 2, (m, m + 1), (m, m)), A.vhp(lambda x, y: (x * y).sum() ** 2, (m, m + 1), (m, m))
A.jacobian(lambda x, y: (x * y.sum(), y), (m, m), vectorize=True, strategy="forward-mode")
A.jacobian(lambda x: x.sum(), m, strict=True), A.jacobian(lambda x: (x * x).sum(), Wrapper(m))
A.jacobian(lambda x: x.detach(), m, strict=True)
A.jacobian(lambda x: x.sum(), m, create_graph=True, strict=True)
A.hessian(lambda x: x.sum(), m, strict=True)
A.vjp(lambda x: x * 2, m)
A.jvp(lambda x: x * 2, m, (m, m))
A.vhp(lambda x: x * 2, m, m)
A.hvp(lambda x: (x**3).sum(), Wrapper(m), Wrapper(m))
gradcheck(lambda x: x.exp() * x, Wrapper(m.double(), requires_grad=True))
"""


@in_one_test
@pytest.mark.parametrize("text", TEXTS.strip().splitlines())
def test_a_program_shows_what_it_shows_on_torch(text):
    def program(xp):
        log = []
        Logged, Plain, Slotted, Disabled, Refusing, Wrapper = classes(xp, log)
        names = {**locals(), "F": xp.nn.functional, "A": xp.autograd.functional, "gradcheck": xp.autograd.gradcheck}
        names |= {"m": xp.tensor([[1.0, 2.0], [3.0, 4.0]])}
        *statements, last = text.split("; ")
        exec("\n".join(statements), names)
        return shown(eval(last, names))

    agree(program)


@pytest.mark.parametrize("args", [([1.0, 2.0],), (2, 3), (), "x"])
def test_the_new_of_a_subclass_may_call_the_constructor_of_tensors(args):
    def program(xp):
        class Named(xp.Tensor):
            def __new__(cls, *args, label):
                made = super().__new__(cls, *args)
                made.label = label
                return made

            def __init__(self, *args, label):
                super().__init__()

        x = xp.ones(3, dtype=xp.int64)
        made = Named(*((x,) if args == "x" else args), label="a")
        return type(made).__name__, made.label, made.shape, made.dtype, made.data_ptr() == x.data_ptr()

    agree(program)
