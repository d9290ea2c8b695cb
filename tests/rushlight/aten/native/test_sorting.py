"""Order, medians, unique elements and `einsum`, where torch's sample inputs say nothing: NaN, ties, errors, gradients."""

import pytest
from both import FRAMEWORKS, agree
from sweep import in_one_test

NAN, INF = float("nan"), float("inf")


def data(xp, dtype=None):
    return xp.tensor([[3.0, NAN, -1.0, 2.0], [2.0, 2.0, INF, -INF]], dtype=dtype or xp.float32)


def both(pair):
    return list(pair)


def gradient(xp, function, *sizes):
    x = (xp.arange(24, dtype=xp.float64) * 7 % 11).view(2, 3, 4)[tuple(map(slice, sizes))].requires_grad_()
    return xp.autograd.grad(function(x).sum(), x)[0]


PROGRAMS = {
    "sort, NaN": lambda xp: both(xp.sort(data(xp), descending=True)),
    "sort, half": lambda xp: both(data(xp, xp.float16).sort(0)),
    "sort, stable": lambda xp: both(xp.sort(xp.tensor([1, 0, 1, 0, 1] * 10), stable=True, descending=True)),
    "sort, bfloat16": lambda xp: (
        both(data(xp, xp.bfloat16).sort()),
        both(data(xp, xp.bfloat16).sort(descending=True)),
    ),
    "topk, bfloat16": lambda xp: both(data(xp, xp.bfloat16)[0].topk(3)),
    "median, bfloat16": lambda xp: (data(xp, xp.bfloat16)[0].median(), both(data(xp, xp.bfloat16).median(1))),
    "unique, bfloat16": lambda xp: (data(xp, xp.bfloat16).unique(), data(xp, xp.bfloat16)[1:].unique(dim=1)),
    "sort of a bool": lambda xp: xp.tensor([True, False]).sort()[0],
    "sort of a number": lambda xp: both(xp.tensor(3.0).sort()),
    "sort, a wrong dimension": lambda xp: data(xp).sort(2),
    "sort, a wrong out": lambda xp: xp.sort(data(xp), out=(xp.empty(0), xp.empty(0))),
    "sort, out=": lambda xp: both(xp.sort(data(xp), 0, out=(xp.empty(0), xp.empty(0, dtype=xp.int64)))),
    "argsort": lambda xp: data(xp).argsort(dim=0, descending=True),
    "topk, NaN": lambda xp: both(data(xp)[0].topk(3)),
    "topk, smallest": lambda xp: both(xp.topk(data(xp)[0], 2, largest=False)),
    "topk of none": lambda xp: both(data(xp).topk(0)),
    "topk, too many": lambda xp: data(xp).topk(5),
    "topk of bools": lambda xp: xp.topk(xp.tensor([True, False]), 1),
    "topk, gradient": lambda xp: gradient(xp, lambda x: x.topk(2, dim=1)[0].exp(), 2, 3, 4),
    "median, NaN": lambda xp: (data(xp).median(), both(data(xp).median(1))),
    "median, the lower": lambda xp: (xp.tensor([4, 1, 3, 2]).median(), both(xp.tensor([4, 1, 3, 2]).median(0, True))),
    "median of nothing": lambda xp: xp.empty(0).median(),
    "median of nothing along a dimension": lambda xp: xp.empty(0, 3).median(0),
    "median of bools": lambda xp: xp.tensor([True]).median(),
    "median, gradient": lambda xp: gradient(xp, lambda x: x.median() + x.median(2)[0].sum(), 2, 3, 4),
    "unique, NaN": lambda xp: xp.unique(data(xp)),
    "unique, all results": lambda xp: both(xp.tensor([[3, 1], [1, 3]]).unique(return_inverse=True, return_counts=True)),
    "unique rows": lambda xp: both(xp.unique(xp.tensor([[3, 1], [0, 2], [3, 1]]), dim=0, return_inverse=True)),
    "unique columns of nothing": lambda xp: xp.unique(xp.empty(0, 3), dim=1),
    "unique, differentiated": lambda xp: gradient(xp, lambda x: x.unique(), 2, 3, 4),
    "unique_consecutive": lambda xp: both(xp.unique_consecutive(xp.tensor([1, 1, 2, 2, 1]), return_counts=True)),
    "einsum, sublists": lambda xp: xp.einsum(xp.ones(2, 3), [0, 1], xp.ones(3, 4), [1, 2], [2, 0]),
    "einsum, sublists with dots": lambda xp: xp.einsum(xp.ones(5, 2, 3), [..., 1], xp.ones(3), [1], [...]),
    "einsum, a list": lambda xp: xp.einsum("i,i", [xp.ones(3), xp.ones(3)]),
    "einsum, the diagonal": lambda xp: xp.einsum("ii->i", xp.arange(9).view(3, 3)),
    "einsum, three": lambda xp: xp.einsum("ij,jk,kl->il", xp.ones(2, 3), xp.ones(3, 4), xp.ones(4, 5)),
    "einsum, capital letters": lambda xp: xp.einsum("bA,Ab", xp.ones(2, 3), xp.ones(3, 2)),
    "einsum, broadcast": lambda xp: xp.einsum("b...i,b...j->...ij", xp.ones(2, 1, 3), xp.ones(2, 4, 5)),
    "einsum, no operand": lambda xp: xp.einsum("i"),
    "einsum, too few": lambda xp: xp.einsum("i,j", xp.ones(2)),
    "einsum, too many": lambda xp: xp.einsum("i", xp.ones(2), xp.ones(2)),
    "einsum, too many letters": lambda xp: xp.einsum("ij", xp.ones(2)),
    "einsum, other sizes": lambda xp: xp.einsum("i,i", xp.ones(2), xp.ones(3)),
    "einsum, other sizes on the diagonal": lambda xp: xp.einsum("ii", xp.ones(2, 3)),
    "einsum, a wrong letter": lambda xp: xp.einsum("i1", xp.ones(2, 3)),
    "einsum, wrong dots": lambda xp: xp.einsum("..i", xp.ones(2, 3)),
    "einsum, an unknown letter": lambda xp: xp.einsum("i->j", xp.ones(2)),
    "einsum, a letter twice": lambda xp: xp.einsum("i->ii", xp.ones(2)),
    "einsum, a wrong number": lambda xp: xp.einsum(xp.ones(2), [52]),
    "einsum, gradient": lambda xp: gradient(xp, lambda x: xp.einsum("bij,bkj->bik", x, x * 2).exp(), 2, 2, 3),
}


@in_one_test
@pytest.mark.parametrize("program", PROGRAMS.values(), ids=PROGRAMS)
def test_order_and_einsum_are_torchs(program):
    agree(program)


def test_searchsorted_of_rows_without_elements():
    agree(lambda xp: [xp.searchsorted(xp.zeros(n, m), xp.zeros(n, k)) for n, m, k in ((0, 0, 0), (0, 3, 2), (2, 0, 2))])


@pytest.mark.parametrize("name", ["quantile", "nanquantile"])
@pytest.mark.parametrize("interpolation", ["linear", "lower", "higher", "midpoint", "nearest"])
def test_the_value_below_which_a_share_of_a_line_is(name, interpolation):
    for values in ([[3.0, 1.0, NAN], [7.0, 2.0, 5.0], [4.0, NAN, NAN]], [[1.0, 5.0, 2.0], [8.0, 3.0, 3.0]], 3.0):
        for dim in (None, 0, -1):
            for keepdim in (False, True):
                for share in (lambda xp: 0.3, lambda xp: xp.tensor(0.5), lambda xp: xp.tensor([0.0, 0.25, 1.0])):
                    agree(
                        lambda xp: getattr(xp, name)(
                            xp.tensor(values), share(xp), dim, keepdim, interpolation=interpolation
                        ).tolist()
                    )


def test_shares_that_are_none_are_refused():
    def program(xp, x, share, **options):
        xp.quantile(x(xp), share(xp), **options)

    for x, share, options in (
        (lambda xp: xp.ones(2), lambda xp: 2.0, {}),
        (lambda xp: xp.ones(2), lambda xp: xp.tensor([2.0]), {}),
        (lambda xp: xp.ones(2), lambda xp: xp.ones(1, 1), {}),
        (lambda xp: xp.ones(0), lambda xp: 0.5, {}),
        (lambda xp: xp.ones(2).double(), lambda xp: xp.tensor(0.5), {}),
        (lambda xp: xp.ones(2, dtype=xp.int64), lambda xp: 0.5, {}),
        (lambda xp: xp.ones(2), lambda xp: 0.5, {"interpolation": "other"}),
    ):
        agree(program, x, share) if not options else agree(lambda xp: program(xp, x, share, **options))


def test_the_median_without_nan_and_the_gradients_of_medians_and_shares():
    values = [[3.0, 1.0, NAN, 2.0], [5.0, 4.0, 4.0, 9.0]]
    agree(lambda xp: xp.tensor(values).nanmedian())
    agree(lambda xp: xp.tensor([[NAN, NAN]]).nanmedian(1).values)
    agree(lambda xp: [both(xp.tensor(values).nanmedian(dim, keepdim)) for dim in (0, 1) for keepdim in (False, True)])
    agree(lambda xp: [xp.tensor([3, 1, 2]).nanmedian(), xp.zeros(0).nanmedian(), both(xp.tensor(3.0).nanmedian(0))])
    agree(lambda xp: xp.zeros(0, 3).nanmedian(0))
    agree(lambda xp: gradient(xp, lambda x: x.quantile(xp.tensor([0.3, 0.5], dtype=xp.float64), 1), 2, 3, 4))
    agree(lambda xp: gradient(xp, lambda x: x.nanmedian(1).values, 2, 3, 4))
    agree(lambda xp: gradient(xp, lambda x: x.nanmedian(), 2, 3, 4))


def test_arguments_of_searchsorted_that_do_not_fit_are_refused_with_torchs_words():
    for wrong in (
        lambda xp: xp.searchsorted(xp.zeros(2, 2, 3), xp.zeros(3, 2)),
        lambda xp: xp.searchsorted(xp.tensor(1.0), xp.zeros(3, 3)),
        lambda xp: xp.searchsorted(xp.zeros(2, 3), 1.0),
        lambda xp: xp.bucketize(xp.zeros(2, 3), xp.zeros(2, 3)),
        lambda xp: xp.searchsorted(xp.zeros(3), xp.zeros(3), sorter=xp.zeros(2, dtype=xp.int64)),
        lambda xp: xp.searchsorted(xp.zeros(3), xp.zeros(3), sorter=xp.zeros(3)),
        lambda xp: xp.searchsorted(xp.zeros(3), xp.zeros(3), sorter=xp.tensor([0, 1, 5])),
        lambda xp: xp.searchsorted(xp.zeros(3), xp.zeros(3), side="left", right=True),
        lambda xp: xp.searchsorted(xp.zeros(3), xp.zeros(3), side="other"),
    ):
        errors = []
        for xp in FRAMEWORKS:
            with pytest.raises(RuntimeError) as error:
                wrong(xp)
            errors.append(str(error.value))
        assert errors[0] == errors[1]
