"""`library.custom_op`: the same program on rushlight and on torch, with the words of its errors."""

# ruff: noqa: UP006, UP045, B008  (annotations of every form)

import re
import sys
import typing
from types import SimpleNamespace

import numpy as np
import pytest
from both import FRAMEWORKS, observe

import rushlight as rl

PROGRAMS = {}


def program(function):
    PROGRAMS[function.__name__] = function
    return function


def words(text):
    """The text of an error, without the paths of files and of modules within the framework. Torch has more types for schemas."""
    text = re.sub(r"(aten\.strided|c10\.dtypes|c10\.storage)\.", "", str(text).replace("rushlight.", "torch."))
    return re.sub(r" from '[^']*'| +(?= )|The valid types are.*", "", text)


def run(xp, name):
    log = []
    try:
        PROGRAMS[name](xp, log)
    except Exception as error:
        log.append((type(error).__name__, words(error)))
    return [observe(entry) for entry in log]


def pytest_generate_tests(metafunc):
    if "program_name" in metafunc.fixturenames:
        metafunc.parametrize("program_name", PROGRAMS)


def test_a_program_does_the_same_on_both(program_name):
    ours, theirs = (run(xp, program_name) for xp in FRAMEWORKS)
    assert ours == theirs, f"rushlight {ours}\ntorch     {theirs}"


# Capture: torch's own compiler gives the results of the eager program, so that is what is compared ---------------------


def sine(xp):
    @xp.library.custom_op("co::sine", mutates_args=())
    def op(x: xp.Tensor, k: float = 2.0) -> xp.Tensor:
        return xp.from_numpy(np.sin(x.detach().numpy()) * k)

    return op


def write(xp):
    @xp.library.custom_op("co::write", mutates_args=["out"])
    def op(x: xp.Tensor, out: xp.Tensor, other: xp.Tensor | None = None) -> None:
        out.numpy()[:] = np.sin(x.numpy())

    return op


@pytest.mark.parametrize("backend", ["eager", "aot_eager", "inductor"])
def test_an_operator_is_one_node_of_a_compiled_graph(backend):
    op = sine(rl)
    op.register_fake(lambda x, k=2.0: rl.empty(x.shape))
    op.register_autograd(
        lambda ctx, grad: (grad * ctx.saved_tensors[0].cos() * 2, None),
        setup_context=lambda ctx, inputs, output: ctx.save_for_backward(inputs[0]),
    )
    results = []
    for function in (lambda x: op(x * 2) + 1, rl.compile(lambda x: op(x * 2) + 1, backend=backend, fullgraph=True)):
        x = rl.tensor([1.0, 2.0], requires_grad=True)
        y = function(x)
        y.sum().backward()
        results.append([y.tolist(), x.grad.tolist()])
    np.testing.assert_allclose(*results, rtol=1e-6)


@pytest.mark.parametrize("backend", ["eager", "aot_eager", "inductor"])
def test_a_compiled_operator_writes_to_inputs_views_and_intermediates(backend):
    op = write(rl)
    both = rl.library.custom_op("co::both", mutates_args=["y"])(_write_and_return)
    both.register_fake(lambda x, y: rl.empty_like(x))

    def function(x, y, w):
        z = x * 2
        op(x, z[1:])
        op(z + 1, y)
        a = both(w.detach(), y)
        return z + 1, a * w, y + 1

    results = []
    for f in (function, rl.compile(function, backend=backend, fullgraph=True)):
        x, y, w = rl.tensor([1.0]), rl.zeros(1), rl.tensor([3.0], requires_grad=True)
        out = f(x.expand(2)[:1].clone(), y, w)
        out[1].sum().backward()
        results.append([each.tolist() for each in (out[0], out[1], out[2], y, w.grad)])
    for one, other in zip(*results):
        np.testing.assert_allclose(one, other, rtol=1e-6)


def _write_and_return(x: rl.Tensor, y: rl.Tensor) -> rl.Tensor:
    y.detach().numpy()[:] += 1
    return x * 3


def test_a_graph_breaks_at_an_operator_that_writes_to_a_list():
    @rl.library.custom_op("co::add", mutates_args=["xs"])
    def add(xs: list[rl.Tensor], n: float) -> None:
        for x in xs:
            x.numpy()[:] += n

    compiled = rl.compile(lambda x: (add([x, x], 2.0), x * 3)[1])
    x = rl.ones(2)
    assert (compiled(x).tolist(), x.tolist()) == ([15, 15], [5, 5])


def test_an_operator_without_a_fake_implementation_cannot_be_compiled():
    op = sine(rl)
    compiled = rl.compile(lambda x: op(x), backend="eager")
    with pytest.raises(RuntimeError, match="There was no fake impl registered for <CustomOpDef"):
        compiled(rl.ones(2))


@program
def symbolic_trace(xp, log):
    op = sine(xp)
    module = __import__(f"{xp.__name__}.fx").fx.symbolic_trace(lambda x: op(x) + 1)
    log += [[str(node.target).rpartition(" ")[2] for node in module.graph.nodes], module(xp.ones(2))]


def make_fx(xp):
    if xp is rl:
        return rl.aot.make_fx
    return __import__("torch.fx.experimental.proxy_tensor").fx.experimental.proxy_tensor.make_fx


@program
def make_fx_records_operators(xp, log):
    op, in_place = sine(xp), write(xp)
    op.register_fake(lambda x, k=2.0: xp.empty_like(x))

    def function(x):
        in_place(x, x)
        return op(x, 3.0) + 1

    for mode in ("real", "fake"):
        log.append(words(make_fx(xp)(function, tracing_mode=mode)(xp.ones(2)).code))


def attempt(log, function, *args, **kwargs):
    try:
        log.append(function(*args, **kwargs))
    except Exception as error:
        kind = RuntimeError if isinstance(error, RuntimeError) else type(error)  # some errors have a class of their own
        log.append((kind.__name__, words(error)))


# Definitions and schemas ---------------------------------------------------------------------------------------------


@program
def a_decorated_function_is_an_operator(xp, log):
    @xp.library.custom_op("co::f", mutates_args=())
    def f(x: xp.Tensor, y: float = 2.5) -> xp.Tensor:
        return x * y

    log += [repr(f), str(f._opoverload._schema), f(xp.ones(2)), f(xp.ones(2), y=3), xp.ops.co.f(xp.ones(2), 4.0)]
    log += [f._qualname, str(f._opoverload), str(xp.ops.co.f), f._name, f._namespace]


@program
def a_function_may_be_an_argument(xp, log):
    def f(x: xp.Tensor) -> xp.Tensor:
        return x + 1

    g = xp.library.custom_op("co::f", f, mutates_args=())
    log += [g(xp.ones(2)), f(xp.ones(2))]


@program
def the_last_definition_of_a_name_counts(xp, log):
    for n in range(3):

        @xp.library.custom_op("co::f", mutates_args=())
        def f(x: xp.Tensor) -> xp.Tensor:
            return x + n

        log += [f(xp.ones(2)), xp.ops.co.f(xp.ones(2))]


@program
def overloads(xp, log):
    @xp.library.custom_op("co::f", mutates_args=())
    def f(x: xp.Tensor) -> xp.Tensor:
        return x + 1

    @xp.library.custom_op("co::f.two", mutates_args=())
    def f2(x: xp.Tensor, y: xp.Tensor) -> xp.Tensor:
        return x + y

    x = xp.ones(2)
    log += [xp.ops.co.f(x), xp.ops.co.f(x, x), f2(x, x), repr(f2)]
    xp.library.custom_op("co::f.two", mutates_args=(), schema="(Tensor x, Tensor y) -> Tensor")(lambda x, y: x - y)
    log += [xp.ops.co.f(x), xp.ops.co.f(x, x)]


def signatures(xp):
    tensor, dtype, device = xp.Tensor, xp.dtype, xp.device

    def a(x: tensor) -> tensor: ...
    def b(x: tensor, *, y: int, z: float) -> tensor: ...
    def c(*, y: tensor) -> tensor: ...
    def d(x: tensor | None, y: list[tensor], z: typing.Sequence[tensor | None]) -> tuple[tensor, list[tensor]]: ...
    def e(x: int, y: typing.Optional[int], z: list[int], u: typing.List[float], v: list[bool] | None) -> int: ...
    def f(x: str = "a'b", y: str | None = None, z: float = 1e-5, u: bool = True, v: int = -3) -> None: ...
    def g(x: dtype, y: device, z: device = device("cpu"), u: dtype | None = None) -> float: ...
    def h(x: int | float | bool, y: typing.Optional[int | float | bool] = 3) -> tuple[int, float, bool]: ...
    def i(x: tensor) -> tuple[tensor]: ...
    def j(x: "int", y: "typing.List[int]", z: typing.List["int"]) -> "float": ...
    def k() -> tensor: ...
    def u(x: tensor, y: tensor, *, z: tensor): ...
    def m(*args): ...
    def n(**kwargs): ...
    def o(x): ...
    def p(x: tensor, /) -> tensor: ...
    def q(x: tensor, y: "Missing") -> tensor: ...  # noqa: F821
    def r(x: tensor, y: "1 +") -> tensor: ...  # noqa: F722
    def s(x: tensor, y: int = (1, 2)) -> tensor: ...
    def t(x: tensor, y: list[tensor] | None) -> None: ...

    return [a, b, c, d, e, f, g, h, i, j, k, u, m, n, o, p, q, r, s, t]


@program
def schemas_of_functions(xp, log):
    for function in signatures(xp):
        for names in ((), "unknown", ["x"], ["y"], ["nothing"], "x"):
            attempt(log, xp.library.infer_schema, function, mutates_args=names)
    attempt(log, xp.library.infer_schema, signatures(xp)[0], mutates_args=(), op_name="f")


@program
def the_words_for_types_that_no_schema_has(xp, log):
    def a(x: xp.Tensor, y: tuple[int, int]) -> xp.Tensor: ...
    def b(x: xp.Tensor, y: tuple[int, ...]) -> xp.Tensor: ...
    def c(x: xp.Tensor, y: tuple[int, str]) -> xp.Tensor: ...
    def d(x: xp.Tensor, y: typing.Callable) -> xp.Tensor: ...
    def e(x: xp.Tensor) -> tuple[xp.Tensor, ...]: ...
    def f(x: xp.Tensor) -> dict: ...
    def g(x: xp.Tensor, y: tuple) -> xp.Tensor: ...

    for function in (a, b, c, d, e, f, g):
        attempt(log, xp.library.infer_schema, function, mutates_args=())


@program
def a_schema_by_hand(xp, log):
    op = xp.library.custom_op("co::f", lambda x, y: x * y, mutates_args=(), schema="(Tensor x, float y) -> Tensor")
    log += [op(xp.ones(2), 3.0), str(op._opoverload._schema)]
    custom_op = xp.library.custom_op
    attempt(log, custom_op, "co::g", lambda x: x, mutates_args=(), schema="(Tensor(a!) x) -> ()")
    attempt(log, custom_op, "co::g", lambda x: x, mutates_args=["x"], schema="(Tensor x) -> Tensor")


@program
def wrong_names(xp, log):
    def f(x: xp.Tensor) -> xp.Tensor: ...

    for name in ("f", "a::b::c"):
        attempt(log, xp.library.custom_op, name, f, mutates_args=())
        attempt(log, xp.library.register_fake, name, f)
    attempt(log, xp.library.register_fake, 3, f)
    attempt(log, xp.library.register_autograd, 3, f)


@program
def tensors_may_not_be_keyword_only(xp, log):
    def f(x: xp.Tensor, *, y: int, z: xp.Tensor) -> xp.Tensor: ...
    def g(x: xp.Tensor, *, z: list[xp.Tensor]) -> xp.Tensor: ...
    def h(x: xp.Tensor) -> xp.Tensor:
        return x + 1

    for function in (f, g):
        attempt(log, xp.library.custom_op, "co::f", function, mutates_args=())
    log.append(xp.library.custom_op("co::f", h, mutates_args=())(xp.ones(1)))


@program
def all_kinds_of_arguments_and_results(xp, log):
    @xp.library.custom_op("co::f", mutates_args=())
    def f(
        x: xp.Tensor | None, n: int, r: float, b: bool, s: str, d: xp.dtype, xs: list[xp.Tensor], ns: typing.Sequence[int],
        k: int | float | bool = 2, *, rs: list[float], o: int | None = None,
    ) -> tuple[xp.Tensor, list[xp.Tensor], int, float, bool]:  # fmt: skip
        log.append([type(each).__name__ for each in (n, r, b, s, xs, ns, k, rs, o)])
        return xs[0].to(d), [each + 1 for each in xs], n, r, b

    x = xp.ones(2)
    log.append(f(x, 3, 2, True, "s", xp.float64, [x, x], (1, 2), rs=[1, 2]))
    log.append(f(None, 3, 2.5, False, "s", xp.float64, (x,), [1, 2], 4.5, rs=(1.5,), o=7))
    for args in ((x, 3.5, 2, True, "s", xp.float64, [x], [1]), (1, 3, 2, True, "s", xp.float64, [x], [1])):
        try:
            f(*args, rs=[])
        except RuntimeError:
            log.append("refused")


# Kernels -------------------------------------------------------------------------------------------------------------


@program
def kernels_by_device(xp, log):
    @xp.library.custom_op("co::f", mutates_args=())
    def f(x: xp.Tensor) -> xp.Tensor:
        return x + 1

    log.append(f(xp.ones(1)))

    @f.register_kernel("cpu")
    def _(x):
        return x + 2

    log.append(f(xp.ones(1)))
    f.register_kernel("cpu", lambda x: x + 3)  # a second one replaces the first
    log.append(f(xp.ones(1)))
    xp.library.register_kernel(f, "cpu", lambda x: x + 4)
    log.append(f(xp.ones(1)))
    xp.library.register_kernel("co::f", ["cpu", "cuda"], lambda x: x + 5)
    log.append(f(xp.ones(1)))
    f.register_kernel(None, lambda x: x + 6)
    log.append(f(xp.ones(1)))


@program
def kernels_for_unknown_devices(xp, log):
    @xp.library.custom_op("co::f", mutates_args=())
    def f(x: xp.Tensor) -> xp.Tensor:
        return x + 1

    try:
        f.register_kernel("nowhere", lambda x: x)
    except RuntimeError as error:
        log.append(str(error).partition(",")[0])


@program
def a_kernel_for_another_device_only(xp, log):
    @xp.library.custom_op("co::f", mutates_args=(), device_types="cuda")
    def f(x: xp.Tensor) -> xp.Tensor:
        return x + 1

    try:
        f(xp.ones(1))
    except NotImplementedError as error:
        log.append(str(error).partition(":")[0])


@program
def kernels_can_be_disabled(xp, log):
    @xp.library.custom_op("co::f", mutates_args=())
    def f(x: xp.Tensor) -> xp.Tensor:
        return x + 1

    f.register_kernel("cpu", lambda x: x + 2)
    with f.set_kernel_enabled("cpu", enabled=False):
        log.append(f(xp.ones(1)))
        with f.set_kernel_enabled("cpu", enabled=False):
            log.append(f(xp.ones(1)))
        with f.set_kernel_enabled("cpu", enabled=True):
            log.append(f(xp.ones(1)))
        log.append(f(xp.ones(1)))
    with f.set_kernel_enabled("cuda", enabled=False), f.set_kernel_enabled("cpu"):
        log.append(f(xp.ones(1)))
    log.append(f(xp.ones(1)))


@program
def factories(xp, log):
    def f(n: int) -> xp.Tensor:
        return xp.ones(n)

    def g(n: int, device: xp.device) -> xp.Tensor:
        return xp.ones(n) * 2

    log.append(xp.library.custom_op("co::f", f, mutates_args=())(2))
    attempt(log, xp.library.custom_op, "co::f", f, mutates_args=(), device_types="cpu")
    op = xp.library.custom_op("co::g", g, mutates_args=(), device_types="cpu")
    log += [op(2, "cpu"), op(2, xp.device("cpu"))]
    attempt(log, op, 2, "cuda")


@program
def a_result_must_not_alias(xp, log):
    def same(x: xp.Tensor) -> xp.Tensor:
        return x

    def view(x: xp.Tensor) -> xp.Tensor:
        return x.view(-1)

    def of_a_list(xs: list[xp.Tensor], n: int = 0) -> list[xp.Tensor]:
        return [xs[0] + 1, xs[-1]]

    def each_other(x: xp.Tensor) -> tuple[xp.Tensor, xp.Tensor]:
        y = x + 1
        return y, y[:1]

    x = xp.ones(2)
    for function in (same, view, each_other):
        attempt(log, xp.library.custom_op("co::f", function, mutates_args=()), x)
        attempt(log, xp.library.custom_op("co::f", function, mutates_args=()), x.clone().requires_grad_())
    attempt(log, xp.library.custom_op("co::f", of_a_list, mutates_args=()), [x, x])


@program
def results_of_wrong_types(xp, log):
    def none(x: xp.Tensor) -> xp.Tensor:
        return None

    def number(x: xp.Tensor) -> xp.Tensor:
        return 3

    def something(x: xp.Tensor) -> None:
        return x + 1

    def one(x: xp.Tensor) -> tuple[xp.Tensor, xp.Tensor]:
        return x + 1

    for function in (number, something, one):
        try:
            log.append(xp.library.custom_op("co::f", function, mutates_args=())(xp.ones(2)))
        except (RuntimeError, TypeError):
            log.append("refused")


# Writes --------------------------------------------------------------------------------------------------------------


@program
def writes_are_counted(xp, log):
    @xp.library.custom_op("co::f", mutates_args={"x", "zs"})
    def f(x: xp.Tensor, y: xp.Tensor, zs: list[xp.Tensor], u: xp.Tensor | None = None) -> None:
        np.sin(x.numpy(), out=x.numpy())

    x, y, z = xp.ones(2), xp.ones(2), xp.ones(2)
    log += [str(f._opoverload._schema), f(x, y, [z, z]), x, x._version, y._version, z._version]
    f(x[:1], y, [])
    log += [x._version, z._version]

    @xp.library.custom_op("co::g", mutates_args="unknown")
    def g(x: xp.Tensor, n: int, y: xp.Tensor | None) -> xp.Tensor:
        return x + n

    log += [str(g._opoverload._schema), g(x, 1, None), x._version, g(x, 1, y), x._version, y._version]


@program
def a_saved_tensor_that_was_written_is_refused(xp, log):
    @xp.library.custom_op("co::f", mutates_args=["x"])
    def f(x: xp.Tensor) -> None:
        x.detach().numpy()[:] = 0

    w = xp.ones(2, requires_grad=True)
    x = xp.ones(2)
    y = w * x
    f(x)
    try:
        y.sum().backward()
    except RuntimeError as error:
        log.append("modified by an inplace operation" in str(error))


@program
def writes_and_autograd(xp, log):
    @xp.library.custom_op("co::f", mutates_args=["x"])
    def f(x: xp.Tensor) -> None:
        x.detach().numpy()[:] = 0

    attempt(log, f.register_autograd, lambda ctx, grad: grad)
    attempt(log, xp.library.register_autograd, "co::f", lambda ctx, grad: grad)
    x = xp.ones(2, requires_grad=True)
    attempt(log, f, x)
    log += [x, x._version, x.grad_fn]
    y = x * 2
    attempt(log, f, y)
    log += [y, y._version, y.grad_fn.name()]

    @xp.library.custom_op("co::g", mutates_args=["x"])
    def g(x: xp.Tensor, y: xp.Tensor) -> xp.Tensor:
        return x + y

    z = g(xp.ones(2), y)
    log += [z.grad_fn.name()]
    attempt(log, z.sum().backward)


# Autograd ------------------------------------------------------------------------------------------------------------


def mul(xp, log=None):
    @xp.library.custom_op("co::mul", mutates_args=())
    def op(x: xp.Tensor, y: xp.Tensor, k: float = 1.0) -> xp.Tensor:
        return x * y * k

    def setup_context(ctx, inputs, output):
        x, y, ctx.k = inputs
        ctx.save_for_backward(x, y)
        if log is not None:
            log.append([len(inputs), output.requires_grad, ctx.needs_input_grad[:2]])

    def backward(ctx, grad):
        x, y = ctx.saved_tensors
        if log is not None:
            log.append([ctx.needs_input_grad, type(ctx).__name__, ctx.name()])
        return grad * y * ctx.k, grad * x * ctx.k, None

    op.register_autograd(backward, setup_context=setup_context)
    return op


@program
def gradients(xp, log):
    op = mul(xp, log)
    x, y = xp.tensor([1.0, 2.0], requires_grad=True), xp.tensor([3.0, 4.0], requires_grad=True)
    z = op(x, y, 2.0)
    log += [z, z.grad_fn.name(), len(z.grad_fn.next_functions)]
    z.sum().backward()
    log += [x.grad, y.grad]
    z = op(x, y)
    log += [*xp.autograd.grad(z.sum(), [x, y], create_graph=True)]
    [grad] = xp.autograd.grad(op(x, x).sum(), x, create_graph=True)
    log += [grad, *xp.autograd.grad(grad.sum(), x)]
    with xp.no_grad():
        log += [op(x, y).requires_grad]
    log += [op(x.detach(), y.detach()).requires_grad, op(x, y.detach()).requires_grad]
    with xp.inference_mode():
        log += [op(x, y).is_inference()]


@program
def no_formula(xp, log):
    @xp.library.custom_op("co::f", mutates_args=())
    def f(x: xp.Tensor) -> xp.Tensor:
        return x + 1

    y = f(xp.ones(2, requires_grad=True))
    log += [y, y.grad_fn.name()]
    attempt(log, y.sum().backward)


@program
def a_formula_without_a_context(xp, log):
    @xp.library.custom_op("co::f", mutates_args=())
    def f(x: xp.Tensor) -> xp.Tensor:
        return x * 2

    f.register_autograd(lambda ctx, grad: grad * 2)
    x = xp.ones(2, requires_grad=True)
    f(x).sum().backward()
    f.register_autograd(lambda ctx, grad: grad * 5)  # the last one counts
    f(x).sum().backward()
    log += [x.grad]


@program
def a_formula_with_too_few_gradients(xp, log):
    @xp.library.custom_op("co::f", mutates_args=())
    def f(x: xp.Tensor, y: xp.Tensor) -> xp.Tensor:
        return x * 2

    f.register_autograd(lambda ctx, grad: grad)
    x = xp.ones(2, requires_grad=True)
    attempt(log, f(x, x).sum().backward)


@program
def keyword_only_arguments(xp, log):
    @xp.library.custom_op("co::f", mutates_args=())
    def f(x: xp.Tensor, n: int = 2, *, k: int = 3, z: float) -> xp.Tensor:
        return x * n * k * z

    def setup_context(ctx, inputs, keyword_only_inputs, output):
        log.append([len(inputs), inputs[1], keyword_only_inputs])
        ctx.scale = inputs[1] * keyword_only_inputs["k"] * keyword_only_inputs["z"]

    f.register_autograd(lambda ctx, grad: (grad * ctx.scale, None), setup_context=setup_context)
    x = xp.ones(2, requires_grad=True)
    f(x, z=5.0).sum().backward()
    f(x, 3, z=1.0, k=1).sum().backward()
    log.append(x.grad)


@program
def lists_of_tensors(xp, log):
    @xp.library.custom_op("co::f", mutates_args=())
    def f(xs: list[xp.Tensor], y: xp.Tensor) -> tuple[list[xp.Tensor], xp.Tensor]:
        return [x * 2 for x in xs], y * len(xs)

    def backward(ctx, grads, grad):
        log.append([ctx.needs_input_grad, grads, grad])
        return [g * 2 for g in grads], grad * len(grads)

    f.register_autograd(backward)
    x, y = xp.ones(2, requires_grad=True), xp.ones(2, requires_grad=True)
    zs, z = f([x, x, xp.ones(1)], y)
    log += [type(zs).__name__, zs, z]
    (zs[0].sum() + z.sum()).backward()
    log += [x.grad, y.grad]
    f.register_autograd(lambda ctx, grads, grad: (grads[0], grad))
    try:
        f([x], y)[1].sum().backward()
    except RuntimeError as error:
        log.append(str(error).partition(" Got")[0])


@program
def several_results(xp, log):
    @xp.library.custom_op("co::f", mutates_args=())
    def f(x: xp.Tensor) -> tuple[xp.Tensor, int, xp.Tensor]:
        return x * 2, 7, x.to(xp.int64)

    f.register_autograd(lambda ctx, *grads: log.append(grads) or grads[0] * 2)
    x = xp.ones(2, requires_grad=True)
    y, n, z = f(x)
    log += [y, n, z.requires_grad]
    y.sum().backward()
    log += [x.grad]


@program
def defaults(xp, log):
    @xp.library.custom_op("co::f", mutates_args=())
    def f(x: xp.Tensor, d: xp.dtype = xp.float64, b: xp.dtype = xp.bool, e: xp.device = xp.device("cpu")) -> xp.Tensor:
        log.append([d, b, e])
        return x.to(d)

    f.register_autograd(lambda ctx, grad: grad.float())
    log += [f(xp.ones(1)), f(xp.ones(1, requires_grad=True)), f(xp.ones(1), xp.float32, xp.int64, "cpu")]


@program
def a_view_of_symbolic_sizes(xp, log):
    op = xp.library.custom_op(
        "co::f", lambda x, n: x[n:], mutates_args=(), schema="(Tensor(a) x, SymInt n) -> Tensor(a)"
    )
    try:
        op(xp.ones(3), 1)
    except RuntimeError as error:
        log.append(str(error).partition(".")[0])


@program
def a_view(xp, log):
    op = xp.library.custom_op("co::f", lambda x, n: x[n:], mutates_args=(), schema="(Tensor(a) x, int n) -> Tensor(a)")
    x = xp.ones(3)
    y = op(x, 1)
    log += [y, y._is_view(), y._base is x]
    y.add_(1)
    log += [x, x._version]
    op.register_autograd(lambda ctx, grad: (xp.cat([xp.zeros(1), grad]), None))
    x = xp.ones(3, requires_grad=True)
    op(x, 1).sum().backward()
    log += [x.grad, op(x, 1)._is_view()]


# Registrations by name -----------------------------------------------------------------------------------------------


@program
def registrations_by_name(xp, log):
    op = mul(xp)
    x = xp.ones(2, requires_grad=True)
    for name in (op, "co::mul", xp.ops.co.mul.default):
        xp.library.register_autograd(name, lambda ctx, grad: (grad * 3, grad * 4, None))
        op(x, x).sum().backward()
    log.append(x.grad)
    xp.library.register_kernel(xp.ops.co.mul.default, "cpu", lambda x, y, k=1.0: x + y)
    log.append(op(x, x))


@program
def operators_of_a_library(xp, log):
    with xp.library._scoped_library("co2", "FRAGMENT") as lib:
        lib.define("f(Tensor x, *, float y=2) -> Tensor")
        lib.impl("f", lambda x, *, y=2.0: x * y, "CPU")

        def setup_context(ctx, inputs, keyword_only_inputs, output):
            ctx.y = keyword_only_inputs["y"]

        xp.library.register_autograd("co2::f", lambda ctx, g: g * ctx.y, setup_context=setup_context, lib=lib)
        xp.library.register_fake("co2::f", lambda x, y=2.0: xp.empty_like(x), lib=lib)
        xp.library.register_autocast("co2::f", "cpu", xp.bfloat16, lib=lib)
        x = xp.ones(2, requires_grad=True)
        y = xp.ops.co2.f(x)
        y.sum().backward()
        log += [y, x.grad, tuple(xp.ops.co2.f(xp.ones(3, device="meta")).shape)]
    log.append(hasattr(xp.ops.co2, "f"))
    with xp.library._scoped_library("co2", "FRAGMENT") as lib:
        lib.define("f(Tensor(a!) x) -> ()")
        attempt(log, xp.library.register_autograd, "co2::f", lambda ctx, g: g, lib=lib)
        lib.define("g(Tensor x, *, Tensor y) -> Tensor")
        attempt(log, xp.library.register_autograd, "co2::g", lambda ctx, g: g, lib=lib)


@program
def define_and_impl(xp, log):
    with xp.library._scoped_library("co3", "FRAGMENT") as lib:
        log.append(xp.library.define("co3::f", "(Tensor x) -> Tensor", lib=lib))

        @xp.library.impl("co3::f", "cpu", lib=lib)
        def f(x):
            return x + 1

        log += [f, xp.ops.co3.f(xp.ones(1))]
        xp.library.define("co3::g", "(Tensor x) -> Tensor", lib=lib)
        xp.library.impl("co3::g", "default", lambda x: x + 2, lib=lib)
        log += [xp.ops.co3.g(xp.ones(1))]

        @xp.library.define(lib, "h(Tensor x) -> Tensor")
        def h(x):
            return x + 3

        log += [h(xp.ones(1)), xp.ops.co3.h(xp.ones(1))]
        lib.define("i(Tensor x) -> Tensor")

        @xp.library.impl(lib, "i", "CPU")
        def i(x):
            return x + 4

        log += [i(xp.ones(1)), xp.ops.co3.i(xp.ones(1))]
        for args in (("co3::j", "Tensor x"), ("j", "(Tensor x) -> Tensor"), (3, "(Tensor x) -> Tensor")):
            attempt(log, xp.library.define, *args, lib=lib)


@program
def autocast(xp, log):
    @xp.library.custom_op("co::f", mutates_args=())
    def f(x: xp.Tensor, ys: list[xp.Tensor], n: int) -> xp.Tensor:
        log.append([str(each.dtype).rpartition(".")[2] for each in (x, *ys)])
        return x + n

    f.register_autocast("cpu", xp.float16)
    x = xp.ones(2)
    for n in range(2):
        with xp.autocast("cpu", dtype=xp.bfloat16):
            log.append(f(x, [x, x.double(), xp.arange(2)], n))
        xp.library.register_autocast("co::f", "cpu", xp.bfloat16)
    log.append(f(x, [], 1))
    attempt(log, f.register_autocast, "meta", xp.float16)
    attempt(log, f.register_autocast, 3, xp.float16)
    attempt(log, xp.library.register_autocast, "co::f", "meta", xp.float16)


# Without data --------------------------------------------------------------------------------------------------------


@program
def tensors_without_data(xp, log):
    @xp.library.custom_op("co::f", mutates_args=())
    def f(x: xp.Tensor, n: int) -> xp.Tensor:
        return x.sum(0).expand(n).clone()

    x = xp.ones(3, device="meta")
    attempt(log, f, x, 2)

    @f.register_fake
    def fake(x, n):
        return x.new_empty(n)

    y = f(x, 2)
    log += [y.is_meta, tuple(y.shape), fake(xp.ones(1), 2).is_meta]
    xp.library.register_fake("co::f", lambda x, n: x.new_empty(n + 1))
    log += [tuple(f(x, 2).shape)]

    @xp.library.register_fake(f)
    def other(x, n):
        return x.new_empty(n + 2)

    log += [tuple(f(x, 2).shape)]

    @xp.library.custom_op("co::g", mutates_args=["x"])
    def g(x: xp.Tensor) -> None: ...

    log += [g(x), x._version]

    @xp.library.custom_op("co::h", mutates_args=["x"])
    def h(x: xp.Tensor) -> int:
        return 3

    attempt(log, h, x)


@program
def disabling_twice_warns(xp, log):
    @xp.library.custom_op("co::f", mutates_args=())
    def f(x: xp.Tensor) -> xp.Tensor:
        return x + 1

    module = sys.modules[f"{xp.__name__}._library.custom_ops"]
    logger, module.log = module.log, SimpleNamespace(warning=lambda text, *args: log.append(words(text % args)))
    for enabled in (True, False):
        with f.set_kernel_enabled("cpu", enabled=enabled), f.set_kernel_enabled("cpu", enabled=enabled):
            pass
    module.log = logger
