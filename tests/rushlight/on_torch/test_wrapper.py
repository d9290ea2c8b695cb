"""A quantised tensor passes for a matrix of floats: eager, in autograd, in modules, and in the compiler."""

import copy

import pytest
import torch

from rushlight.on_torch import wrapper
from rushlight.on_torch.wrapper import CountOperators, QuantisedTensor, quantise


@pytest.fixture
def weight():
    torch.manual_seed(0)
    return torch.randn(5, 3)


def test_a_row_is_within_half_a_step_of_what_it_was(weight):
    q = quantise(weight)
    assert q.int_data.dtype == torch.int8
    assert q.int_data.abs().amax(1).tolist() == [127] * 5
    assert ((q.dequantise() - weight).abs() <= q.scale[:, None] / 2 + 1e-6).all()
    assert quantise(torch.zeros(2, 3)).dequantise().tolist() == torch.zeros(2, 3).tolist()


def test_it_says_of_itself_what_a_matrix_of_floats_would(weight):
    q = quantise(weight.double())
    assert (q.shape, q.dtype, q.stride(), q.device.type) == ((5, 3), torch.float64, (3, 1), "cpu")
    assert repr(q).startswith("QuantisedTensor(")


def test_products_are_those_of_the_dequantised_matrix_and_never_make_it(weight):
    q, x, bias = quantise(weight), torch.randn(4, 3), torch.randn(5)
    floats = q.dequantise()
    torch.testing.assert_close(torch.nn.functional.linear(x, q), x @ floats.t())
    torch.testing.assert_close(torch.nn.functional.linear(x, q, bias), x @ floats.t() + bias)
    torch.testing.assert_close(
        torch.randn(4, 5, generator=torch.manual_seed(1)) @ q,
        torch.randn(4, 5, generator=torch.manual_seed(1)) @ floats,
    )
    turned = q.t()
    with CountOperators() as within:
        wrapper.quantised_mm(x, turned)
    assert [name for name, sizes in within.calls if sizes == (3, 5)] == ["aten._to_copy.default"]


def test_gradients_flow_through_it_to_others(weight):
    q, x = quantise(weight), torch.randn(4, 3, requires_grad=True)
    torch.nn.functional.linear(x, q).square().sum().backward()
    y = x.detach().requires_grad_()
    torch.nn.functional.linear(y, q.dequantise()).square().sum().backward()
    torch.testing.assert_close(x.grad, y.grad)


def test_what_only_turns_or_copies_stays_quantised(weight):
    q = quantise(weight)
    for view in (q.t(), q.mT, q.transpose(0, 1), q.detach(), q.t().t()):
        assert isinstance(view, QuantisedTensor)
        assert view.int_data.data_ptr() == q.int_data.data_ptr()
        assert torch._C._is_alias_of(view, q)
    assert (q.t().axis, q.t().t().axis, q.transpose(1, 1).axis) == (1, 0, 0)
    for own in (q.clone(), copy.deepcopy(q)):
        assert isinstance(own, QuantisedTensor)
        assert own.int_data.data_ptr() != q.int_data.data_ptr()


def test_everything_else_gets_a_plain_tensor_wherever_it_is_among_the_arguments(weight):
    q = quantise(weight)
    floats = q.dequantise()
    for result, expected in (
        (torch.cat([q, weight]), torch.cat([floats, weight])),
        (torch._foreach_mul([weight, q], 2.0)[1], floats * 2),
        (torch.add(weight, q, alpha=3), weight + 3 * floats),
        (q.sum(0), floats.sum(0)),
        (q[1:, 0], floats[1:, 0]),
        (weight.clone().copy_(q), floats),
        (torch.histogram(weight, 2, weight=q).hist, torch.histogram(weight, 2, weight=floats).hist),
    ):
        assert type(result) is torch.Tensor
        torch.testing.assert_close(result, expected)


def test_what_is_multiplied_by_a_beta_of_0_is_not_looked_at(weight):
    q, x, nothing = quantise(weight), torch.randn(4, 5), torch.full((4, 3), torch.nan)
    for beta in (0, 0.0):
        torch.testing.assert_close(torch.addmm(nothing, x, q, beta=beta, alpha=2), 2 * (x @ q.dequantise()))
    assert torch.addmm(nothing, x, q).isnan().all()


def test_nothing_writes_into_it(weight):
    q, before = quantise(weight), quantise(weight).int_data
    for write in (
        lambda: q.add_(1),
        lambda: q.copy_(weight),
        lambda: q.t_(),
        lambda: torch.add(weight, weight, out=q),
        lambda: torch._foreach_add_([weight.clone(), q], 1.0),
    ):
        with pytest.raises(TypeError, match="NotImplemented"):
            write()
    assert torch.equal(q.int_data, before)


@pytest.mark.parametrize("grad", [False, True])
def test_torch_compile_takes_it_whole_as_argument_and_as_parameter(weight, grad):
    head = torch.nn.Linear(3, 5)
    head.weight = torch.nn.Parameter(quantise(weight), requires_grad=False)
    q = quantise(weight)

    def function(x, q):
        return torch.relu(head(x)) + torch.nn.functional.linear(x, q)

    compiled = torch.compile(function, fullgraph=True, backend="aot_eager")
    for length in (2, 3, 5):
        x, y = (torch.randn(length, 3, generator=torch.manual_seed(2)).requires_grad_(grad) for _ in range(2))
        torch.testing.assert_close(compiled(x, q), function(y, q))
        if grad:
            compiled(x, q).sum().backward()
            function(y, q).sum().backward()
            torch.testing.assert_close(x.grad, y.grad)


def test_a_mode_counts_operators_of_all_tensors(weight):
    q = quantise(weight)
    with CountOperators() as counted:
        torch.nn.functional.linear(torch.randn(4, 3), q, torch.randn(5)) * 2
    assert counted.counts() == {
        "aten.randn.default": 2,
        "aten.t.default": 1,
        "aten.addmm.default": 1,
        "aten.mul.Tensor": 1,
    }
