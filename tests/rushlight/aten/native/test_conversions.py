"""`to` and its like: what they take, when they copy, what the copy looks like, as in torch."""

import pytest
from both import agree
from sweep import in_one_test

CALLS = [
    lambda xp, x: x.to(xp.float64),
    lambda xp, x: x.to("cpu"),
    lambda xp, x: x.to(xp.device("cpu"), xp.int32),
    lambda xp, x: x.to("cpu", xp.float64, False, True),
    lambda xp, x: x.to(dtype=xp.float32, device="cpu"),
    lambda xp, x: x.to(device="cpu", copy=True),
    lambda xp, x: x.to(xp.zeros(1, dtype=xp.int64)),
    lambda xp, x: x.to(memory_format=xp.contiguous_format),
    lambda xp, x: x.to(xp.float32, copy=True, memory_format=xp.contiguous_format),
    lambda xp, x: x.to(xp.int32, False, True, memory_format=xp.preserve_format),
    lambda xp, x: x.to(),
    lambda xp, x: x.to(None),
    lambda xp, x: x.to(xp.float32, "cpu"),
    lambda xp, x: x.to(xp.float32, dtype=xp.float32),
    lambda xp, x: x.to(other=x),
    lambda xp, x: x.to("nowhere"),
    lambda xp, x: x.type_as(xp.zeros(1, dtype=xp.bool)),
    lambda xp, x: x.double(),
    lambda xp, x: x.new_tensor([1.7, 2]),
    lambda xp, x: x.long().new_tensor([1.7, 2]),
    lambda xp, x: xp.as_tensor(x, dtype=xp.float64, device="cpu"),
    lambda xp, x: xp.tensor(x, dtype=xp.int64),
    lambda xp, x: xp.ops.aten._to_copy(x, dtype=xp.int32),
]


@in_one_test
@pytest.mark.parametrize("call", CALLS)
@pytest.mark.parametrize(
    "view", [lambda x: x, lambda x: x.t(), lambda x: x[:, ::2], lambda x: x.expand(2, 3, 4), lambda x: x[0, 0]]
)
def test_a_conversion_agrees_with_torch(call, view):
    def program(xp):
        x = view(xp.arange(12, dtype=xp.float32).view(3, 4))
        y = call(xp, x)
        return y, y is x, y.data_ptr() == x.data_ptr()

    agree(program)


def test_a_tensor_goes_to_the_device_without_memory_and_not_back():
    agree(lambda xp: [(y.shape, y.stride(), y.device.type) for y in [xp.zeros(3, 2).t().to("meta")]])
    agree(lambda xp: xp.zeros(3).to("meta").to("cpu"))
    agree(lambda xp: xp.tensor([1, 2], device="meta").shape)


@in_one_test
@pytest.mark.parametrize(
    "program",
    [
        lambda xp: xp.zeros(2, 3, out=xp.ones(6)),
        lambda xp: xp.zeros((3, 2), out=xp.ones(2, 3).t()),
        lambda xp: xp.ones(2, out=xp.empty(0, dtype=xp.bool)),
        lambda xp: xp.full((2,), 1.5, out=xp.empty(0, dtype=xp.int64)),
        lambda xp: xp.zeros(2, out=xp.empty(0), dtype=xp.float64),
        lambda xp: xp.zeros(2, out=xp.empty(0), dtype=xp.float32, device="cpu"),
        lambda xp: xp.zeros(2, out=xp.empty(0), device="meta"),
        lambda xp: xp.zeros(2, out=None),
        lambda xp: xp.arange(3, out=xp.empty(3, 1).t()),
        lambda xp: xp.arange(4, out=xp.empty(3, 1).t()),
        lambda xp: xp.arange(5.5, out=xp.empty(0, dtype=xp.int64)),
        lambda xp: xp.arange(0, 5, 0.5, out=xp.empty(0, dtype=xp.int64)),
        lambda xp: xp.arange(0, 5, 0.0),
        lambda xp: xp.arange(float("inf")),
        lambda xp: xp.arange(0.0, -8.5, -4.0, dtype=xp.int32),
        lambda xp: xp.zeros(size=(2, 3), requires_grad=False),
        lambda xp: xp.zeros(2, size=(2, 3)),
        lambda xp: xp.zeros(2, 3).view(size=(6,)),
        lambda xp: xp.zeros(2, 3).permute(dims=(1, 0)),
        lambda xp: xp.empty(3, 2).fill_(1).t().resize_(2, 3),
        lambda xp: xp.ones(3, 2).t().resize_(2, 3, memory_format=xp.contiguous_format).stride(),
        lambda xp: xp.ones(2, 3).resize_(2, 3, memory_format=xp.channels_last),
    ],
)
def test_what_makes_a_tensor_agrees_with_torch(program):
    agree(program)
