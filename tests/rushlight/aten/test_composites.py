"""Quantiles, medians without NaN, running log-sums of exponentials, and indexing by flat positions, as in torch."""

import pytest
from both import agree
from sweep import in_one_test

TEXTS = """
x.nanmedian(), xp.nanmedian(i), xp.nanmedian(xp.tensor([]))
x[::2].nanmedian(1), xp.nanmedian(x, 0, True).values
z.nanmedian().backward(); z.grad
xp.quantile(y, 0.3), y.quantile(q, 1), y.quantile(q, 0, True), y.quantile(0.3, keepdim=True)
[xp.nanquantile(x, q, 1, interpolation=how) for how in ("linear", "lower", "higher", "midpoint", "nearest")]
[xp.quantile(x, 0.4, 0, interpolation=how) for how in ("linear", "lower", "higher", "midpoint", "nearest")]
xp.tensor(3.0).quantile(0.2), xp.tensor(3.0).quantile(q, 0)
z.quantile(0.4).backward(); z.grad
y.quantile(2.0)
y.quantile(0.5, interpolation="x")
i.quantile(0.5)
y.logcumsumexp(1).log2().round(decimals=3), xp.logcumsumexp(xp.tensor([-inf, -inf, 0, inf, nan, 1]), 0)
xp.tensor(2.0).logcumsumexp(0)
xp.logcumsumexp(i, 0)
xp.autograd.gradcheck(lambda x: x.logcumsumexp(0), xp.tensor([0.5, -2.0, 3.0], dtype=xp.float64, requires_grad=True))
y.take_along_dim(i.view(1, 2), 1), y.take_along_dim(i.view(1, 2)), xp.take_along_dim(y, y.argsort(1, True), 1)
y.take_along_dim(i, 1)
y.take_along_dim(i.view(1, 2).int(), 1)
y.put(xp.tensor([0, -1, 5]), xp.tensor([9.0, 8, 7])), y.t().put(xp.tensor([1, 1]), xp.tensor([9.0, 8]), accumulate=True)
w = y.clone(); w.t().put_(xp.tensor([[1]]), xp.tensor([[9.0]])), w, xp.tensor(3.0).put(xp.tensor([0]), xp.tensor([7.0]))
y.put(xp.tensor([99]), xp.tensor([1.0]))
y.put(xp.tensor([9]), xp.tensor([1]))
[y.index_reduce(0, xp.tensor([0, 2, 0]), y + 1, how, include_self=own) for how in ("prod", "mean", "amax") for own in (True, False)]
y.clone().index_reduce_(1, xp.tensor([0, 0]), y[:, :2] * 2, "amin")
y.index_reduce(0, xp.tensor([0, 2, 0]), y, "sum")
xp.tensor(2).is_nonzero(), y.is_same_size(x), y.is_signed(), xp.is_signed(xp.tensor(1, dtype=xp.uint8))
xp.tensor([]).is_nonzero()
y.clone().map_(y, lambda a, b: a * b), y.clone().map2_(y, y[0], lambda a, b, c: a + b - c), y.clone().apply_(lambda a: -a)
z.apply_(abs)
"""


@in_one_test
@pytest.mark.parametrize("text", TEXTS.strip().splitlines())
def test_it_is_as_in_torch(text):
    def program(xp):
        inf, nan = float("inf"), float("nan")
        names = {"xp": xp, "inf": inf, "nan": nan, "y": xp.arange(12.0).view(3, 4), "i": xp.tensor([2, 0])}
        names["x"] = xp.tensor([[3.0, 1, nan, 2], [nan, nan, nan, nan], [5, 4, -inf, inf]])
        names |= {"q": xp.tensor([0.0, 0.5, 1.0]), "z": xp.tensor([0.1, 5, -3, 2], requires_grad=True)}
        *statements, last = text.split("; ")
        exec("\n".join(statements), names)
        return eval(last, names)

    agree(program)
