import itertools
import subprocess
import sys

import pytest
import torch
from sweep import in_one_test, sweep
from torch._dynamo.testing import CompileCounterWithBackend

from rushlight.on_torch import custom_ops
from rushlight.on_torch.custom_ops import ACTIVATIONS

NAMESPACE = "rushlight_test"


@pytest.fixture(scope="module")
def operator():
    """The operator as `custom_op` registers it."""
    return custom_ops.register_fused_linear(f"{NAMESPACE}_op")


@pytest.fixture(scope="module", params=["custom_op", "Function", "Library"])
def op(request, operator):
    """The operator in each of its three forms."""
    if request.param == "custom_op":
        yield operator
    elif request.param == "Function":
        yield custom_ops.fused_linear_function(torch.ops.rushlight_test_op.fused_linear).apply
    else:
        library = custom_ops.library_fused_linear(f"{NAMESPACE}_lib")
        yield torch.ops.rushlight_test_lib.fused_linear
        library._destroy()


def tensors(lead=(5,), bias=True, grad=True):
    """x, weight and, unless there is none, bias."""
    shapes = [(*lead, 3), (4, 3), (4,)][: 2 + bias]
    return [torch.randn(shape, dtype=torch.double, requires_grad=grad) for shape in shapes]


def in_torch(activation):
    def function(x, weight, bias=None):
        return ACTIVATIONS[activation](torch.nn.functional.linear(x, weight, bias))

    return function


@pytest.mark.sweep
def test_importing_rushlight_does_not_import_torch_and_importing_the_module_registers_nothing():
    program = """
import sys, rushlight
assert "torch" not in sys.modules
import torch
before = set(torch._C._dispatch_get_all_op_names())
import rushlight.on_torch.custom_ops
assert set(torch._C._dispatch_get_all_op_names()) == before
"""
    subprocess.run([sys.executable, "-c", program], check=True)


@in_one_test
@pytest.mark.parametrize("activation", ACTIVATIONS)
@pytest.mark.parametrize("lead", [(), (5,), (2, 3), (0,)])
def test_it_computes_what_torch_computes_with_the_same_gradients(op, activation, lead):
    for bias in (True, False):
        inputs = tensors(lead, bias)
        rest = (activation,) if bias else (None, activation)
        mine, theirs = op(*inputs, *rest), in_torch(activation)(*inputs)
        torch.testing.assert_close(mine, theirs)
        grad = torch.randn_like(mine)
        mine, theirs = (torch.autograd.grad(result, inputs, grad) for result in (mine, theirs))
        torch.testing.assert_close(mine, theirs)


@pytest.mark.parametrize("activation", sweep(ACTIVATIONS, every=3))
def test_gradcheck_and_gradgradcheck_accept_it(op, activation):
    inputs = tensors((2,))
    for some in (inputs, [inputs[0], inputs[1].detach(), inputs[2]]):
        assert torch.autograd.gradcheck(lambda *args: op(*args, activation), some)
        assert torch.autograd.gradgradcheck(lambda *args: op(*args, activation), some)


def test_arguments_left_at_their_defaults_are_not_passed_and_not_missed(op):
    inputs = tensors(bias=False)
    mine = torch.autograd.grad(op(*inputs).sum(), inputs)
    torch.testing.assert_close(mine, torch.autograd.grad(in_torch("none")(*inputs).sum(), inputs))
    batch = torch.stack([inputs[0], inputs[0] + 1])
    torch.testing.assert_close(torch.vmap(op, (0, None))(batch, inputs[1]), batch @ inputs[1].T)


@pytest.mark.parametrize("activation", sweep(ACTIVATIONS, every=3))
def test_opcheck_finds_nothing_wrong_with_it(op, activation):
    if not isinstance(op, (torch.library.CustomOpDef, torch._ops.OpOverloadPacket)):
        pytest.skip("a Function is no operator")
    op = getattr(op, "default", op)
    results = torch.library.opcheck(op, (*tensors(), activation))
    results |= torch.library.opcheck(op, tensors((2, 3), bias=False, grad=False))
    assert set(results.values()) == {"SUCCESS"}


def test_opcheck_finds_nothing_wrong_with_the_one_that_writes_to_its_arguments():
    op = custom_ops.register_momentum_step(f"{NAMESPACE}_opcheck")
    weight, buffer, grad = (torch.randn(3) for _ in range(3))
    assert set(torch.library.opcheck(op, (weight, buffer, grad, 0.1, 0.9)).values()) == {"SUCCESS"}


@pytest.mark.parametrize("lead", [(), (5,), (2, 3)])
def test_vmap_takes_a_batch_in_any_dimension_of_any_arguments(op, lead):
    count = 0
    dims = [(None, 0, len(lead), len(lead) + 1), (None, 0, 2), (None, 0, 1)]
    for in_dims in itertools.product(*dims):
        if in_dims == (None, None, None):
            continue
        inputs = [
            tensor if d is None else torch.stack([tensor] * 6, d)
            for tensor, d in zip(tensors(lead, grad=False), in_dims)
        ]
        inputs = [tensor + torch.randn_like(tensor) for tensor in inputs]
        activation = list(ACTIVATIONS)[count % len(ACTIVATIONS)]
        mine = torch.vmap(lambda *args, name=activation: op(*args, name), in_dims)(*inputs)
        torch.testing.assert_close(mine, torch.vmap(in_torch(activation), in_dims)(*inputs))
        count += 1


@pytest.mark.parametrize("rule", ["own", "generated"])
@pytest.mark.parametrize("activation", ACTIVATIONS)
def test_as_a_function_it_goes_through_the_transforms_of_torch_func(operator, activation, rule):
    function = custom_ops.fused_linear_function(torch.ops.rushlight_test_op.fused_linear)
    if rule == "generated":
        none = torch.autograd.Function.__dict__["vmap"]
        function = type("Generated", (function,), {"generate_vmap_rule": True, "vmap": none})
    inputs, func = tensors((2,), grad=False), torch.func
    batch = [torch.stack([tensor, tensor + 1, tensor * 2]) for tensor in inputs]
    transforms = [
        lambda f: func.grad(lambda *args: f(*args).cos().sum(), (0, 1, 2))(*inputs),
        lambda f: func.jacrev(f, (0, 1, 2))(*inputs),
        lambda f: func.jacrev(func.jacrev(f))(*inputs),
        lambda f: func.vmap(func.grad(lambda *args: f(*args).cos().sum(), (0, 1, 2)))(*batch),
        lambda f: func.grad(lambda *args: func.vmap(f)(*args).cos().sum(), (0, 1, 2))(*batch),
        lambda f: func.grad(lambda x: func.vmap(f, (0, None, None))(x, *inputs[1:]).cos().sum())(batch[0]),
        lambda f: func.vmap(func.vmap(f, (0, None, None)))(*batch),
    ]
    for transform in transforms:
        mine = transform(lambda *args: function.apply(*args, activation))
        torch.testing.assert_close(mine, transform(in_torch(activation)))


def test_as_an_operator_torch_func_refuses_it_and_jvp_is_wrong_without_a_word(operator):
    """This is torch's to mend; then the contract of `fused_linear_function` and of `what_breaks` changes."""
    x, weight, bias = tensors(grad=False)
    with pytest.raises(RuntimeError, match="setup_context"):
        torch.func.grad(lambda x: operator(x, weight, bias).sum())(x)
    _, tangent = torch.func.jvp(lambda x: operator(x, weight, bias), (x,), (x,))
    assert not tangent.any()


@pytest.mark.parametrize("backend", sweep(["eager", "aot_eager"], every=3))
def test_compile_captures_it_without_a_break_and_once_more_when_the_batch_changes(op, backend):
    torch._dynamo.reset()
    counter = CompileCounterWithBackend(backend)
    compiled = torch.compile(lambda *args: op(*args, "gelu") * 2, fullgraph=True, backend=counter)
    for length in (5, 7, 2, 33, 9):
        inputs = tensors((length,))
        mine, theirs = compiled(*inputs), in_torch("gelu")(*inputs) * 2
        torch.testing.assert_close(mine, theirs)
        mine, theirs = (torch.autograd.grad(result.cos().sum(), inputs) for result in (mine, theirs))
        torch.testing.assert_close(mine, theirs)
    assert counter.frame_count == 2  # for the first size, and for any


def test_a_training_step_with_both_operators_compiles_with_inductor(operator):
    torch._dynamo.reset()
    custom_ops.register_momentum_step(f"{NAMESPACE}_step")
    head, step = torch.ops.rushlight_test_op.fused_linear, torch.ops.rushlight_test_step.momentum_step

    def train(linear, x, target, weight, bias, buffer):
        loss = torch.nn.functional.mse_loss(linear(x, weight, bias), target)
        loss.backward()
        with torch.no_grad():
            step(weight, buffer, weight.grad, 0.1, 0.9)
        return loss

    def start():
        torch.manual_seed(0)
        return tensors((8,), grad=False), torch.randn(8, 4, dtype=torch.double)

    outcomes = []
    compiled = torch.compile(lambda *args: head(*args, "none"), fullgraph=True)
    for linear in (compiled, in_torch("none")):
        (x, weight, bias), target = start()
        weight, buffer = weight.requires_grad_(), torch.zeros_like(weight)
        losses = []
        for _ in range(5):
            weight.grad = None
            losses.append(train(linear, x, target, weight, bias, buffer).detach())
        outcomes.append((losses, weight.detach(), buffer))
    torch.testing.assert_close(*outcomes)
    assert outcomes[0][0][-1] < outcomes[0][0][0]


def test_export_has_it_as_one_call_for_a_batch_of_any_size(op):
    class Head(torch.nn.Module):
        def forward(self, x, weight, bias):
            return op(x, weight, bias, "tanh")

    inputs = tensors(grad=False)
    sizes = {"x": {0: torch.export.Dim("batch")}, "weight": None, "bias": None}
    exported = torch.export.export(Head(), tuple(inputs), dynamic_shapes=sizes)
    calls = [str(node.target) for node in exported.graph.nodes if node.op == "call_function"]
    assert [call.partition(".")[2] for call in calls] == ["fused_linear.default"]
    other = tensors((11,), grad=False)
    torch.testing.assert_close(exported.module()(*other), in_torch("tanh")(*other))


def test_what_writes_to_its_arguments_is_neither_lost_nor_moved_in_a_graph():
    torch._dynamo.reset()
    custom_ops.register_momentum_step(f"{NAMESPACE}_graph")
    step = torch.ops.rushlight_test_graph.momentum_step

    def train(weight, buffer, grad):
        step(weight, buffer, grad, 0.1, 0.9)
        between = weight * 2
        step(weight, buffer, grad, 0.1, 0.9)
        return between + buffer

    outcomes = []
    for function in (train, torch.compile(train, fullgraph=True, backend="aot_eager")):
        torch.manual_seed(0)
        inputs = [torch.randn(2, 3) for _ in range(3)]
        versions = [tensor._version for tensor in inputs]
        outcomes.append([function(*inputs), *inputs])
        assert [tensor._version > old for tensor, old in zip(inputs, versions)] == [True, True, False]
    torch.testing.assert_close(*outcomes)


def test_what_is_saved_is_found_changed_if_it_was():
    custom_ops.register_momentum_step(f"{NAMESPACE}_saved")
    weight = torch.randn(3, requires_grad=True)
    loss = (weight * weight).sum()
    with torch.no_grad():
        torch.ops.rushlight_test_saved.momentum_step(weight, torch.zeros(3), torch.ones(3), 0.1, 0.9)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        loss.backward()


def test_a_gradient_that_nobody_asks_for_keeps_nothing():
    x, weight, bias = tensors(grad=False)
    function = custom_ops.fused_linear_function(custom_ops.fused_linear)
    y = function.apply(x, weight.requires_grad_(), bias, "relu")  # torch 2.11 frees what a node saves with its result
    assert [tensor is not None for tensor in y.grad_fn.saved_tensors] == [True, False, False, True]
    y = function.apply(x, weight, bias, "gelu")
    assert [tensor is not None for tensor in y.grad_fn.saved_tensors] == [True, True, True, False]


def test_the_schema_of_every_kernel_here_is_the_one_that_torch_infers():
    for function, mutates_args in (
        (custom_ops.fused_linear, ()),
        (custom_ops.momentum_step, ("weight", "buffer")),
        (custom_ops.momentum_step, ("grad",)),
    ):
        mine = custom_ops.infer_schema(function, mutates_args)
        assert mine == torch.library.infer_schema(function, mutates_args=mutates_args)
    assert "fused_linear" + custom_ops.infer_schema(custom_ops.fused_linear, ()) == custom_ops.SCHEMA


def test_a_library_takes_its_kernels_with_it():
    library = custom_ops.library_fused_linear(f"{NAMESPACE}_gone")
    assert "fused_linear" in torch._C._dispatch_dump(f"{NAMESPACE}_gone::fused_linear")
    library._destroy()
    assert not torch._C._dispatch_dump(f"{NAMESPACE}_gone::fused_linear").count("registered at")
