"""A loop is planned once. What a plan must not hold is read again in each call."""

import numpy as np
import pytest
from both import agree
from sweep import in_one_test

import rushlight as rl
from rushlight.aten import structured
from rushlight.aten.structured import Structured, planned
from rushlight.c10 import fast_paths


def twice(xp, program, *operands):
    """The results of a call that makes a plan, and of one that finds it."""
    return [program(xp, *operands) for _ in range(2)]


PROGRAMS = {
    "numbers of one class": lambda xp, x: [xp.add(x, x, alpha=each) for each in (1, 2, 3, -0.5, 0.25)],
    "numbers of other classes": lambda xp, x: [x * each for each in (2, 2.5, True)],
    "whole numbers": lambda xp, x: [x.long() + each for each in (1, 2**62, 2**63, -7)],
    "small whole numbers": lambda xp, x: [x.to(xp.uint8) + each for each in (1, 257, -1)],
    "two bounds": lambda xp, x: [x.clamp(low, high) for low, high in ((0, 5), (2, 3), (None, 4.5), (3, None))],
    "exponents": lambda xp, x: [x**each for each in (1, 2, 3, 0.5, -1, 2.5)],
    "approximations": lambda xp, x: [
        (xp.nn.functional.gelu(x, approximate=each) * 1000).round() for each in ("none", "tanh")
    ],
    "dimensions": lambda xp, x: [x.sum(dim) for dim in (0, 1, (0, 1), -1)] + [x.mean(1, keepdim=True), x.argmax(0)],
    "transposed": lambda xp, x: [x.t() + x.t(), (x.t() > 3).t(), x.t() * x[0][:, None], x.t().relu()],
    "steps": lambda xp, x: [x[:, ::2] + x[:, ::2], x[::2].neg(), x[:, :1] * x, x[0].expand(3, 4) + x],
    "dtypes": lambda xp, x: [x + x.long(), x.half() * x.half(), x.long() / 3, (x > 2) & (x < 9), x.bool() * x],
    "rows of a product": lambda xp, x: [x[:1].expand(3, 4) @ x.t(), x @ x.t(), xp.addmm(x[0][:3], x, x.t(), beta=2)],
    "in place": lambda xp, x: [x.clone().mul_(each).add_(x, alpha=each) for each in (2, 0.5)],
    "without elements": lambda xp, x: [x[:0] + x[:0], x[:, :0].sum(1), x[:0].clone().mul_(2)],
    "without dimensions": lambda xp, x: [x[0, 0] + x[0, 1], x[0, 0].exp(), x[0, 0] > 1, x.sum(), x[0, 0].long() / 2],
    "powers without dimensions": lambda xp, x: [xp.tensor(2) ** xp.tensor(each) for each in (-1, 3)],
}


@in_one_test
@pytest.mark.parametrize("name", PROGRAMS)
def test_the_first_call_and_the_next_give_what_torch_gives(name):
    agree(lambda xp: twice(xp, PROGRAMS[name], xp.arange(12.0).view(3, 4)))


def test_a_tensor_that_shares_memory_is_refused_also_with_a_plan():
    def program(xp):
        x, other = xp.arange(6.0), xp.ones(5)
        x[1:].add_(other)
        return x[1:].add_(x[:-1])

    agree(program)


def test_a_check_that_asks_for_a_value_runs_in_each_call():
    def program(xp):
        for slope in (0.1, -0.1):
            x = xp.ones(2).requires_grad_()
            xp.nn.functional.leaky_relu_(x * 2, slope).sum().backward()

    agree(program)


def negation(calls):
    """The functional form, as the dispatcher calls it, of a kernel that records the calls of its functions."""

    def meta(x):
        calls.append("meta")
        return structured.Output(x.shape, x.stride(), x.dtype)

    def impl(x, out):
        calls.append("impl")
        out._array[...] = -x._array

    kernel = planned(Structured(meta, impl), 1, lambda x: (np.negative, [None]))
    return lambda x: fast_paths.fastest[kernel.functional](x)


def test_the_meta_function_runs_once_for_operands_of_the_same_sizes_strides_and_dtypes():
    calls = []
    negate = negation(calls)
    for x in (rl.ones(2), rl.zeros(2), rl.arange(4.0)[2:], rl.ones(2, 2).t(), rl.ones(2, 2)):
        assert negate(x).tolist() == (-x).tolist()
    assert calls == ["meta"] * 3


def test_without_fast_paths_every_call_sets_up_its_loop():
    calls = []
    negate = negation(calls)
    negate(rl.ones(2))
    with fast_paths.disabled("aten"):
        negate(rl.ones(2)), negate(rl.ones(2))
    negate(rl.ones(2))
    assert calls == ["meta", *["meta", "impl"] * 2, "meta"]
