"""Functions and modules are traced as torch.fx traces them: the same nodes, the same code, the same refusals, the same numbers."""

import copy
import enum
import math
import operator
import pickle
from collections import namedtuple
from contextlib import suppress
from functools import partial

import pytest
import torch
from both import FRAMEWORKS, agree
from hypothesis import given
from hypothesis import strategies as st
from sweep import in_one_test, sweep

import rushlight as rl
from rushlight.fx import overrides

Pair = namedtuple("Pair", "first second")


class Colour(enum.Enum):
    RED = 1


def text(xp, function):
    module = xp.fx.symbolic_trace(function)
    return [str(module.graph), module.code, [name for name, _ in module.named_buffers()]]


def traced_alike(function):
    """`function(xp)` gives what is traced."""
    agree(lambda xp: text(xp, function(xp)))


def same(program):
    """`program(xp, x)` is traced."""
    traced_alike(lambda xp: lambda x: program(xp, x))


# What is done with a proxy

UNARY = ["neg", "pos", "invert", "abs"]
BINARY = [
    "add",
    "sub",
    "mul",
    "truediv",
    "floordiv",
    "mod",
    "pow",
    "lshift",
    "rshift",
    "and_",
    "or_",
    "xor",
    "matmul",
    "getitem",
]
BINARY += ["eq", "ne", "lt", "le", "gt", "ge"]
ACTIVATIONS = [
    "gelu",
    "relu",
    "elu",
    "silu",
    "leaky_relu",
    "hardtanh",
    "relu6",
    "sigmoid",
    "tanh",
    "softmax",
    "log_softmax",
]
ACTIVATIONS += ["softmin", "softplus", "one_hot", "dropout", "linear"]


@pytest.mark.parametrize("name", [*UNARY, *BINARY])
def test_operators_are_recorded_on_either_side(name):
    function = getattr(operator, name)
    if name in UNARY:
        same(lambda xp, x: function(x))
        return
    same(lambda xp, x: function(x, 3))
    same(lambda xp, x: function(3, x))
    same(lambda xp, x: function(x, x))


@pytest.mark.parametrize(
    "name", ["add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "matmul", "eq", "lt", "ge", "getitem"]
)
def test_a_tensor_of_the_program_is_kept_as_a_constant(name):
    def program(xp):
        constant, function = xp.ones(3), getattr(operator, name)
        return lambda x: (function(constant, x), function(x, constant), function(constant, x))

    traced_alike(program)


@pytest.mark.parametrize("name", ["iadd", "isub", "imul", "itruediv", "ipow", "imod"])
def test_operators_in_place_of_a_constant_are_methods(name):
    traced_alike(lambda xp: lambda x, constant=None: getattr(operator, name)(xp.ones(3), x))


@pytest.mark.parametrize(
    "program",
    [
        lambda xp, x: x.shape,
        lambda xp, x: x.shape[0] + x.size(1),
        lambda xp, x: x.T.mT,
        lambda xp, x: x.sum(dim=1, keepdim=True),
        lambda xp, x: x.foo.bar.baz(1, k=x)(2),
        lambda xp, x: x[0, 1:, None, ..., x],
        lambda xp, x: x[x > 0],
        lambda xp, x: x.view(-1, x.shape[0], (2, x)),
        lambda xp, x: [x, (x, {"a": x}), slice(x, 1), None, "text", 2.5, True],
        lambda xp, x: Pair(x, [x]),
        lambda xp, x: x.f(Pair(x, 1)),
        lambda xp, x: x.f({"a": x, 1: x, (1, "b"): x}),
        lambda xp, x: x.f(Colour.RED, xp.float64, xp.device("cpu"), ..., 1j, range(3)),
        lambda xp, x: x.to(xp.float16),
        lambda xp, x: 1 if x is None else x,
        lambda xp, x: 5,
        lambda xp, x: None,
        lambda xp, x: x == x,
        lambda xp, x: not isinstance(x, xp.Tensor),
        lambda xp, x: float("inf") * x + float("nan") - float("-inf"),
        lambda xp, x: x.add_(1) + x.relu_(),
        lambda xp, x: x.__getitem__(0).__add__(1),
        lambda xp, x: x.device.type,
        lambda xp, x: x.sum,
        lambda xp, x: x(1, k=2),
        lambda xp, x: math.sqrt(x) + math.floor(x),
        lambda xp, x: partial(xp.relu)(x),
        lambda xp, x: list(map(xp.relu, [x, x])),
        lambda xp, x: xp.no_grad and x,
    ],
)
def test_what_is_done_is_recorded(program):
    same(program)


@in_one_test
@pytest.mark.parametrize(
    "program",
    [
        lambda xp, x: x if x else 1,
        lambda xp, x: x and 1,
        lambda xp, x: not x,
        lambda xp, x: 0 < x < 1,
        lambda xp, x: max(x, 1),
        lambda xp, x: [y for y in x],
        lambda xp, x: list(x),
        lambda xp, x: (lambda *a: a)(*x),
        lambda xp, x: dict(**x),
        lambda xp, x: sum(x),
        lambda xp, x: 3 in x,
        lambda xp, x: len(x),
        lambda xp, x: range(x),
        lambda xp, x: int(x),
        lambda xp, x: float(x),
        lambda xp, x: [1, 2][x],
        lambda xp, x: {1: 2}[x],
        lambda xp, x: round(x),
        lambda xp, x: divmod(x, 2),
        lambda xp, x: x.f(object()),
        lambda xp, x: x.f({1, 2}),
        lambda xp, x: x.f({x: 1}),
        lambda xp, x: x.f({(x, 1): 1}),
        lambda xp, x: x.f(b"bytes"),
        lambda xp, x: x.f(len),
        lambda xp, x: x.__setitem__(0, 1) or x,
        lambda xp, x: x + xp.nn.Parameter(xp.ones(2)),
        lambda xp, x: x.f(xp.nn.ReLU()),
        lambda xp, x: xp.nn.ReLU()(x),
        lambda xp, x: xp.ones(2).item().foo,
        lambda xp, x: object(),
        lambda xp, x: {x, x},
        lambda xp, x: (xp.ones(2) + 1).nothing,
        lambda xp, x: xp.Tensor.relu(x),
        lambda xp, x: xp.Tensor.add(x.a, 1),
    ],
)
def test_what_must_know_the_value_is_refused_as_in_torch(program):
    same(program)


def test_a_trace_error_is_a_value_error_and_comes_with_control_flow():
    for xp in FRAMEWORKS:
        assert issubclass(xp.fx.proxy.TraceError, ValueError)
        with pytest.raises(xp.fx.proxy.TraceError):
            xp.fx.symbolic_trace(lambda x: x if x else 1)


def unpack(x):
    (a, b), c = x
    first, second, third = c
    return a, [b, third], first


def unpack_two(x):
    first, second = x
    return second + first


def write(x):
    x[0] = 1
    return x


def augmented(x, y):
    x += y
    x *= 2
    return x


@pytest.mark.parametrize("function", [unpack, write, augmented])
def test_statements_are_recorded_or_refused(function):
    traced_alike(lambda xp: function)


# Functions of the framework


@pytest.mark.parametrize(
    "program",
    [
        lambda xp, x: xp.sum(x, 1),
        lambda xp, x: xp.sum(input=x, dim=1),
        lambda xp, x: xp.add(x, x, alpha=2) + xp.add(1, x) + xp.add(xp.ones(2), x),
        lambda xp, x: xp.where(x > 0, x, 0.5),
        lambda xp, x: xp.cat([x, xp.ones(2), x], dim=0),
        lambda xp, x: xp.stack((x, x)),
        lambda xp, x: xp.zeros_like(x) + xp.full_like(x, 2.0),
        lambda xp, x: xp.zeros(3) + xp.arange(3) * x,
        lambda xp, x: xp.softmax(x, dim=1) + xp.log_softmax(x, 1, dtype=xp.float64),
        lambda xp, x: xp.max(x, 1)[0] + xp.max(x),
        lambda xp, x: xp.chunk(x, 1)[0] + xp.unbind(x)[0],
        lambda xp, x: xp.mm(x, x) + xp.matmul(x, x) + xp.addmm(x, x, x, beta=2),
        lambda xp, x: xp.clamp(x, min=0) + xp.clamp(x, 0, 1),
        lambda xp, x: xp.relu_(x) + xp.exp_(x),
        lambda xp, x: xp.broadcast_tensors(x, x)[0],
        lambda xp, x: xp.ones(2).add(x) + xp.ones(2).index_select(0, x),
        lambda xp, x: xp.ones(2)[x] + xp.ones(2).to(x),
        lambda xp, x: xp.ones(2, 2)[0, x],
        lambda xp, x: xp.ops.aten.add.Tensor(x, 1) + xp.ops.aten.relu(x) + xp.ops.aten._softmax.default(x, 1, False),
        lambda xp, x: xp.rand_like(x) + xp.bernoulli(x) + xp.dropout(x, 0.5, True),
    ],
)
def test_functions_are_recorded_as_they_were_called(program):
    same(program)


@pytest.mark.parametrize("name", ACTIVATIONS)
def test_functions_of_one_input_pass_on_what_they_know(name):
    same(
        lambda xp, x: getattr(xp.nn.functional, name)(x) if name != "linear" else xp.nn.functional.linear(x, x, bias=x)
    )


@pytest.mark.parametrize(
    "program",
    [
        lambda F, x: F.cross_entropy(x, x, label_smoothing=0.1) + F.nll_loss(x, x, reduction="sum"),
        lambda F, x: F.mse_loss(x, x) + F.smooth_l1_loss(x, x, beta=0.5) + F.huber_loss(x, x, "none"),
        lambda F, x: F.binary_cross_entropy_with_logits(x, x),
        lambda F, x: F.layer_norm(x, (3,), x) + F.rms_norm(x, (3,)) + F.batch_norm(x, None, None, training=True),
        lambda F, x: F.embedding(x, x) + F.relu(x, True) + F.relu(x, inplace=True) + F.relu_(x),
        lambda F, x: F.softmax(x, -1) + F.dropout(x, 0.1, training=False),
        lambda F, x: F.relu(F.gelu(x, approximate="tanh")),
    ],
)
def test_functions_of_nn_pass_on_what_they_know(program):
    same(lambda xp, x: program(xp.nn.functional, x))


@pytest.mark.parametrize("first", sweep(range(8), every=8))
def test_every_operator_of_rushlight_is_recorded_by_its_name(first):
    """As a function, and as a method of a tensor: what there is of these names in torch too."""
    for name in rl.functions.__all__[first::8]:
        theirs, ours = getattr(torch, name, None), getattr(rl, name, None)
        if ours is None or theirs is None or name in ("split"):  # torch.functional has one in Python
            continue
        try:
            torch.fx.symbolic_trace(lambda x: theirs(x, x))  # noqa: B023
        except (TypeError, RuntimeError, AttributeError, NotImplementedError):
            continue
        same(lambda xp, x: getattr(xp, name)(x, x))  # noqa: B023


def test_nothing_is_left_behind_when_a_trace_ends_or_fails():
    before = {slot: slot.__code__ for slot in overrides.overridable()}
    call, get = rl.nn.Module.__call__, rl.nn.Module.__getattr__
    for function in (lambda x: rl.relu(x), lambda x: x if x else 1):
        with suppress(rl.fx.proxy.TraceError):
            rl.fx.symbolic_trace(function)
        assert {slot: slot.__code__ for slot in overrides.overridable()} == before
        assert (rl.nn.Module.__call__, rl.nn.Module.__getattr__) == (call, get)
        assert math.sqrt(4) == 2 and not hasattr(math.sqrt, "_records_calls_of")


def test_functions_do_their_work_while_something_is_traced():
    def program(xp):
        def function(x):
            y = xp.ones(2, 3)
            known = [
                xp.sum(y, dim=1).tolist(),
                (y + 1).tolist(),
                xp.nn.functional.relu(-y).tolist(),
                y.add(1).sum().item(),
            ]
            return x * sum(known[0]) + known[3]

        return text(xp, function)

    agree(program)


# Parameters of functions


def with_defaults(x, y=2, *, z=None, w):
    return x + y + w


def with_stars(x, *args, k=3, **kwargs):
    return x + args[0] + kwargs["b"] + k


def annotated(x: int, y: "list[int]" = None) -> tuple:
    return x, y


def reserved(sum, input, device):  # noqa: A002
    return sum + input + device


@pytest.mark.parametrize(
    "function", [with_defaults, with_stars, annotated, reserved, lambda: 1, lambda *a: a[0], lambda **k: k]
)
def test_each_parameter_is_a_placeholder(function):
    traced_alike(lambda xp: function)


def test_what_is_traced_runs():
    for xp in FRAMEWORKS:
        assert xp.fx.symbolic_trace(with_stars)(1, 2, 3, b=4) == 10
        assert xp.fx.symbolic_trace(unpack)([(1, 2), (3, 4, 5)]) == (1, [2, 5], 3)


@pytest.mark.parametrize("root", [1, "relu", len, math.sqrt, partial(print), torch.nn.ReLU])
def test_what_is_no_function_is_refused(root):
    agree(lambda xp: xp.fx.Tracer().trace(root).nodes and None)


# Modules


def layers(xp):
    class Inner(xp.nn.Module):
        def __init__(self):
            super().__init__()
            self.weight = xp.nn.Parameter(xp.arange(3.0))
            self.register_buffer("shift", xp.ones(3))
            self.plain = xp.ones(3) * 2
            self.names = {"a": xp.ones(3)}

        def forward(self, x, scale=2, *, more=None):
            return (x * self.weight + self.shift) * scale + self.plain + self.names["a"]

    class Outer(xp.nn.Module):
        def __init__(self):
            super().__init__()
            self.linear = xp.nn.Linear(3, 3)
            self.block = xp.nn.Sequential(xp.nn.ReLU(), xp.nn.Sequential(xp.nn.Linear(3, 3), xp.nn.Dropout(0.0)))
            self.many = xp.nn.ModuleList([xp.nn.LayerNorm(3), Inner()])
            self.inner = Inner()
            self.again = self.inner
            self.depth = 2
            self.unused = xp.nn.ReLU()

        def forward(self, x, scale=3):
            for layer in self.many:
                x = layer(x)
            for _ in range(self.depth):
                x = self.inner(x, more=1) + self.again(x, scale=scale)
            x = self.block(self.linear(x))
            x = x + self.inner.weight + self.inner.weight.sum() + self.many[1].weight
            return (
                xp.nn.functional.linear(x, self.linear.weight, bias=self.linear.bias),
                self.block[1][0](x),
                self.training,
            )

    module = Outer()
    with xp.no_grad():
        for parameter in module.parameters():
            parameter.copy_(xp.arange(parameter.numel()).reshape(parameter.shape) * 0.25 - 0.5)
    return module


def test_modules_of_the_framework_are_leaves_and_others_are_traced_through():
    def program(xp):
        module = layers(xp)
        traced = xp.fx.symbolic_trace(module)
        x = xp.arange(6.0).reshape(2, 3)
        names = [
            [name for name, _ in each()]
            for each in (traced.named_modules, traced.named_parameters, traced.named_buffers)
        ]
        same = traced.linear.weight is module.linear.weight
        results = [traced(x)[0], module(x)[0], traced(x, 1)[1]]
        results = [[round(each, 3) for each in result.reshape(-1).tolist()] for result in results]
        return [str(traced.graph), traced.code, names, type(traced).__name__, traced.training, same, *results]

    agree(program)


def test_nodes_know_in_which_module_they_were_recorded():
    def program(xp):
        traced = xp.fx.symbolic_trace(layers(xp))
        stacks = [node.meta.get("nn_module_stack", {}) for node in traced.graph.nodes]
        return [[(key, path, kind.__name__) for key, (path, kind) in stack.items()] for stack in stacks]

    agree(program)


def test_a_tracer_can_be_told_what_is_a_leaf_and_what_an_argument_is():
    def program(xp):
        class Tracer(xp.fx.Tracer):
            def is_leaf_module(self, module, name):
                return name.startswith("inner") or (name == "block")

            def create_arg(self, a):
                return (
                    "all ones"
                    if isinstance(a, xp.Tensor) and not isinstance(a, xp.nn.Parameter)
                    else super().create_arg(a)
                )

        class Through(xp.fx.Tracer):
            def is_leaf_module(self, module, name):
                return False

            def to_bool(self, proxy):
                return True

            def iter(self, proxy):
                return iter([proxy[0], proxy[1]])

        first, second = Tracer().trace(layers(xp)), Through().trace(layers(xp))
        third = Through().trace(lambda x: [y + 1 for y in x] if x > 0 else x)
        return [str(first), str(second), str(third), Tracer.__name__ == first._tracer_cls.__name__]

    agree(program)


@pytest.mark.parametrize(
    "make",
    [
        lambda nn: nn.Linear(2, 2),
        lambda nn: nn.LayerNorm(2),
        lambda nn: nn.Dropout(),
        lambda nn: nn.Flatten(),
        lambda nn: nn.CrossEntropyLoss(),
        lambda nn: nn.Embedding(2, 2),
        lambda nn: nn.Softmax(1),
        lambda nn: nn.BatchNorm1d(2),
        lambda nn: nn.Sequential(nn.ReLU(), nn.Sequential(nn.GELU(), nn.Tanh()), nn.Sigmoid()),
        lambda nn: nn.ModuleList([nn.ReLU()]),
    ],
)
@pytest.mark.parametrize("leaves", [False, True])
def test_the_modules_of_the_framework_can_be_traced_through_themselves(make, leaves):
    def program(xp):
        class Tracer(xp.fx.Tracer):
            def is_leaf_module(self, module, name):
                return leaves and super().is_leaf_module(module, name)

        graph = Tracer().trace(make(xp.nn))
        return [str(graph), graph.python_code("self").src]

    agree(program)


def test_a_subclass_of_a_layer_is_no_leaf():
    def program(xp):
        class Mine(xp.nn.Linear):
            pass

        class Chain(xp.nn.Sequential):
            pass

        return text(xp, xp.nn.Sequential(Mine(2, 2), Chain(xp.nn.ReLU(), Mine(2, 2))))

    agree(program)


def test_a_graph_module_within_is_traced_through():
    def program(xp):
        inner = xp.fx.symbolic_trace(lambda x: xp.relu(x) + xp.ones(2))

        class Outer(xp.nn.Module):
            def __init__(self):
                super().__init__()
                self.inner = inner

            def forward(self, x):
                return self.inner(x) * 2

        return text(xp, Outer())

    agree(program)


def test_a_module_that_is_not_in_the_root_is_refused():
    def program(xp):
        outside = xp.nn.ReLU()

        class Root(xp.nn.Module):
            def forward(self, x):
                return outside(x)

        return text(xp, Root())

    agree(program)


def test_a_graph_module_can_be_traced_again():
    def program(xp):
        once = xp.fx.symbolic_trace(layers(xp))
        twice = xp.fx.symbolic_trace(once)
        return [str(twice.graph), once.code == twice.code, [name for name, _ in twice.named_modules()]]

    agree(program)


def test_hooks_of_what_is_traced_through_are_traced_too():
    def program(xp):
        module = layers(xp)
        module.inner.register_forward_hook(lambda m, args, result: result * 5)
        module.linear.register_forward_pre_hook(lambda m, args: (args[0] + 7,))
        return text(xp, module)

    agree(program)


# Functions that are recorded as a whole


def test_a_wrapped_function_is_one_node():
    def program(xp):
        names = {"fx": xp.fx, "__name__": "program"}
        source = (
            "fx.wrap('len')\n"
            "@fx.wrap\ndef twice(x, y=1):\n    return x if x else y\n"
            "def function(x):\n    return len(x) + twice(x, y=2) + twice(3), [len([1, 2])]\n"
        )
        exec(compile(source, "<program>", "exec"), names)
        traced = xp.fx.symbolic_trace(names["function"])
        return [
            str(traced.graph),
            traced.code,
            str(xp.fx.symbolic_trace(traced).graph),
            names["twice"](0),
            "len" in names,
        ]

    agree(program)


@pytest.mark.parametrize("what", [1, None, "name", len])
def test_wrap_is_for_functions_and_for_the_top_of_a_module(what):
    agree(lambda xp: xp.fx.wrap(what))


# Proxies by hand


def test_proxies_write_at_a_graph_by_hand():
    def program(xp):
        graph = xp.fx.Graph()
        x = xp.fx.Proxy(graph.placeholder("x"))
        y = xp.relu(x) + xp.sum(x, dim=1) * 2 - xp.cat([x, x])
        z = xp.nn.functional.softmax(y, 0).shape[0]
        graph.output(z.node)
        return [str(graph), repr(x), repr(y), graph.python_code("self").src]

    agree(program)


def test_proxies_of_two_tracers_do_not_mix():
    def program(xp):
        graph = xp.fx.Graph()
        x, y = (xp.fx.Proxy(graph.placeholder(name)) for name in "xy")
        return xp.add(x, y)

    agree(program)


def test_functions_look_for_proxies_only_as_long_as_there_are_some():
    code = rl.relu.__code__
    proxy = rl.fx.Proxy(rl.fx.Graph().placeholder("x"))
    assert rl.relu.__code__ is not code and rl.relu(-rl.ones(2)).tolist() == [0, 0]
    del proxy
    assert rl.relu.__code__ is code


def test_a_traced_module_is_copied_with_its_constants():
    def program(xp):
        traced = xp.fx.symbolic_trace(lambda x: x + xp.ones(2))
        other = copy.deepcopy(traced)
        return [other.code, other(xp.ones(2)), other._tensor_constant0 is traced._tensor_constant0]

    agree(program)


def test_a_pickled_module_keeps_what_its_graph_does_not_use():
    def program(xp):
        traced = xp.fx.symbolic_trace(xp.nn.Sequential(xp.nn.ReLU()))
        traced.add_submodule("other", xp.nn.Linear(2, 2))
        traced.register_parameter("weight", xp.nn.Parameter(xp.ones(1)))
        traced.register_buffer("mean", xp.zeros(1))
        new = pickle.loads(pickle.dumps(traced))
        return [[*new.state_dict()], [name for name, _ in new.named_modules()], new(xp.ones(2))]

    agree(program)


# Anything


LINES = {
    "x + y": lambda xp, x, y: x + y,
    "2 - x": lambda xp, x, y: 2 - x,
    "x[y]": lambda xp, x, y: x[y, 1:],
    "x.f(y)": lambda xp, x, y: x.f(y, k=[x, (y,)]),
    "x.a": lambda xp, x, y: x.a,
    "x.a.b": lambda xp, x, y: x.a.b(y),
    "a, b = x": lambda xp, x, y: unpack_two(x),
    "relu": lambda xp, x, y: xp.relu(x),
    "cat": lambda xp, x, y: xp.cat([x, y], dim=1),
    "F.relu": lambda xp, x, y: xp.nn.functional.relu(x),
    "gelu": lambda xp, x, y: xp.nn.functional.gelu(x),
    "constant": lambda xp, x, y: x * xp.ones(2),
    "constant first": lambda xp, x, y: xp.ones(2) * y,
    "aten": lambda xp, x, y: xp.ops.aten.mul.Tensor(x, y),
    "sqrt": lambda xp, x, y: math.sqrt(x),
    "if": lambda xp, x, y: x if y else 1,
}


@given(st.lists(st.tuples(st.sampled_from(list(LINES)), st.integers(0, 9), st.integers(0, 9)), max_size=10))
def test_any_program_is_traced_alike(lines):
    def program(xp):
        def function(x, y):
            values = [x, y]
            for name, i, j in lines:
                values.append(LINES[name](xp, values[i % len(values)], values[j % len(values)]))
            return values[-1], values[2:4]

        return text(xp, function)

    agree(program)


def test_a_tracer_traces_the_method_that_it_names_and_can_be_copied():
    def program(xp):
        class Model(xp.nn.Module):
            def forward(self, x):
                return x + 1

            def other(self, x):
                return x * 2

        tracer, model = xp.fx.Tracer(), Model()
        tracer.traced_func_name = "other"
        tracer.trace(model)
        again = copy.deepcopy(tracer)
        run = xp.fx.GraphModule(model, again.graph)(xp.ones(2)).tolist()
        again.traced_func_name = "none"
        with pytest.raises(AssertionError):
            again.trace(model)
        return run, [node.op for node in tracer.graph.nodes], tracer.traced_func_name

    agree(program)


def test_a_tracer_may_refuse_functions_that_write():
    def program(xp, wants, function):
        class Tracer(xp.fx.Tracer):
            check_mutable_operations = wants

        return str(Tracer().trace(partial(function, xp))).count("call_function")

    written = [
        lambda xp, x: xp.sigmoid(x, out=xp.rand_like(x)),
        lambda xp, x: xp.sigmoid(x),
        lambda xp, x: xp.add(x, x, out=x),
        lambda xp, x: xp.relu_(x),
    ]
    for wants in (True, False):
        for function in written:
            agree(program, wants, function)


def test_a_proxy_that_stays_alive_leaves_parameters_alone():
    """While it lives, functions check their arguments."""

    def program(xp):
        graph = xp.fx.Graph()
        proxy = xp.fx.Proxy(graph.placeholder("x"))
        copied = copy.deepcopy(proxy)
        layer = xp.nn.Linear(2, 2)
        xp.relu(proxy)
        return [layer.weight.shape, xp.relu(layer.weight).shape, str(copied), len(graph.nodes)]

    agree(program)


def test_a_layout_is_an_argument():
    same(lambda xp, x: xp.empty_like(x, layout=xp.zeros(1).layout).zero_())
