"""Reductions agree with torch: sizes, strides, dtypes, values, and what is refused. (Sample inputs: `test_parity.py`.)"""

import math
import warnings

import numpy as np
import pytest
import torch
from both import agree
from hypothesis import given
from hypothesis import strategies as st
from sweep import in_one_test

import rushlight as rl
from rushlight.aten.native import reductions

DTYPES = ["bool", "uint8", "int32", "int64", "float16", "float32", "float64"]
FLOATING = DTYPES[4:]
sizes = st.lists(st.integers(0, 3), max_size=3)
dims = st.none() | st.lists(st.integers(-3, 2), max_size=2)  # two faults at once are seen in an order of nobody's


def small(xp, sizes, dtype):
    """0, 1, 2, 3, 0, 1, ..., the dimensions in memory in reverse order: sums and means of these are exact."""
    numel = 1
    for size in sizes:
        numel *= size
    x = xp.arange(numel).remainder(4) if hasattr(xp.Tensor, "remainder") else xp.arange(numel)
    return x.view(sizes[::-1]).permute(tuple(reversed(range(len(sizes))))).to(getattr(xp, dtype))


@given(
    sizes, st.sampled_from(DTYPES), dims, st.booleans(), st.sampled_from(["sum", "mean", "amax", "amin", "all", "any"])
)
def test_over_any_dims(sizes, dtype, dims, keepdim, name):
    if dims is None and name in ("amax", "amin"):
        dims = []
    agree(lambda xp: getattr(xp, name)(small(xp, sizes, dtype), dims, keepdim))
    agree(lambda xp: getattr(small(xp, sizes, dtype), name)(dim=dims, keepdim=keepdim))


@given(
    sizes,
    st.sampled_from(DTYPES),
    st.integers(-4, 3),
    st.booleans(),
    st.sampled_from(["prod", "max", "min", "all", "any"]),
)
def test_over_one_dim(sizes, dtype, dim, keepdim, name):
    def program(xp):
        result = getattr(small(xp, sizes, dtype), name)(dim, keepdim)
        return list(result) if isinstance(result, tuple) else result

    agree(program)


@given(
    sizes, st.sampled_from(DTYPES), st.none() | st.integers(-3, 2), st.booleans(), st.sampled_from(["argmax", "argmin"])
)
def test_the_place_of_an_extreme_is_the_first(sizes, dtype, dim, keepdim, name):
    agree(lambda xp: getattr(small(xp, sizes, dtype), name)(dim, keepdim))


@given(sizes, st.sampled_from(DTYPES), st.sampled_from(["sum", "mean", "prod", "max", "min", "all", "any", "argmax"]))
def test_over_everything(sizes, dtype, name):
    agree(lambda xp: getattr(small(xp, sizes, dtype), name)())


@given(sizes, st.sampled_from(DTYPES), st.sampled_from(DTYPES), st.sampled_from(["sum", "mean", "prod"]))
def test_in_another_dtype(sizes, dtype, other, name):
    agree(lambda xp: getattr(xp, name)(small(xp, sizes, dtype), dtype=getattr(xp, other)))


@given(
    st.lists(st.integers(1, 3), max_size=3),  # one fault at a time
    st.sampled_from(DTYPES),
    st.sampled_from(DTYPES),
    st.sampled_from(["sum", "amax", "logsumexp", "argmax", "cumsum"]),
)
def test_into_an_out_of_any_dtype(sizes, dtype, other, name):
    def program(xp):
        out = xp.empty(0, dtype=getattr(xp, other))
        result = getattr(xp, name)(small(xp, sizes, dtype) * 0, 0, out=out)
        return result is out, out.shape, str(out.dtype).rpartition(".")[2]

    agree(program)


@given(
    sizes,
    st.sampled_from(FLOATING[1:]),
    dims,
    st.sampled_from([None, 0, 1, 2, 0.5]),
    st.booleans(),
    st.sampled_from(["var", "std"]),
)
def test_the_variance_with_any_correction(sizes, dtype, dims, correction, keepdim, name):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        close(lambda xp: getattr(small(xp, sizes, dtype), name)(dims, correction=correction, keepdim=keepdim))


@given(sizes, st.sampled_from(DTYPES), st.integers(-4, 3), st.sampled_from(["softmax", "log_softmax", "cumsum"]))
def test_along_one_dim(sizes, dtype, dim, name):
    close(lambda xp: getattr(small(xp, sizes, dtype), name)(dim))
    close(lambda xp: getattr(small(xp, sizes, dtype), name)(dim, dtype=xp.float64))


def close(program):
    """Both frameworks raise the same type of error, or show the same metadata and values that are close."""
    results = []
    for xp in (rl, torch):
        try:
            results.append(program(xp))
        except Exception as error:
            results.append(type(error).__name__)
    mine, theirs = results
    if isinstance(mine, str) or isinstance(theirs, str):
        assert mine == theirs
        return
    assert mine.stride() == theirs.stride()
    torch.testing.assert_close(
        torch.tensor(mine.tolist(), dtype=theirs.dtype).reshape(mine.shape), theirs, equal_nan=True
    )


def test_half_precision_is_summed_in_single():
    agree(lambda xp: xp.full((5000,), 1.0, dtype=xp.float16).sum())
    agree(lambda xp: xp.full((5000, 2), 0.1, dtype=xp.float16).mean(0))
    agree(lambda xp: xp.full((3000,), 1.0, dtype=xp.float16).cumsum(0)[-1])


def test_running_sums_and_products_of_single_precision_are_in_double():
    for cumulate in ("cumsum", "cumprod"):
        mine, theirs = (getattr(xp.tensor([2.0**24, *[1.0000001] * 40]), cumulate)(0).tolist() for xp in (rl, torch))
        assert mine == theirs


@pytest.mark.parametrize("name", ["sum", "mean", "amax", "softmax", "cumsum", "logsumexp", "prod", "all"])
def test_tensors_on_the_device_meta_have_a_result_there(name):
    def program(xp):
        result = getattr(xp.empty(2, 3, device="meta"), name)(1)
        return result.is_meta, result.shape, result.stride()

    agree(program)


def test_two_results_have_names():
    found = rl.tensor([[1, 5, 2]]).max(1)
    assert (found.values.tolist(), found.indices.tolist()) == ([5], [1])


@in_one_test
@pytest.mark.parametrize(
    "program",
    [
        lambda xp: xp.tensor([1.0, float("nan"), 3.0]).amax(),
        lambda xp: xp.tensor([1.0, float("nan"), float("nan")]).argmax(),
        lambda xp: list(xp.tensor([[1.0, float("nan")]]).min(1)),
        lambda xp: xp.tensor([3, 3, 1]).argmax(),
        lambda xp: xp.empty(0, 3).amax(),
        lambda xp: xp.empty(0, 3).amax(0),
        lambda xp: xp.empty(0, 3).max(1)[0],
        lambda xp: xp.empty(0).argmax(),
        lambda xp: xp.empty(0).max(),
        lambda xp: xp.tensor([True]).argmax(),
        lambda xp: xp.tensor([1, 2]).mean(),
        lambda xp: xp.tensor([1, 2]).var(),
        lambda xp: xp.tensor([1, 2]).softmax(0),
        lambda xp: xp.tensor([1.0, 2.0]).sum([0, -1]),
        lambda xp: xp.tensor([[1, 2], [3, 4]]).max(xp.tensor([2, 1])),
        lambda xp: xp.tensor([1.0, 2.0]).var(False),
        lambda xp: xp.tensor([1.0, 2.0]).var(0, True, True),
        lambda xp: xp.arange(24).view(2, 3, 4).permute(2, 0, 1).sum(1, keepdim=True),
        lambda xp: list(xp.max(xp.ones(2, 3), 0, out=(xp.empty(0), xp.empty(0, dtype=xp.int64)))),
        lambda xp: list(xp.min(xp.ones(2, 3), 1, True, out=[xp.empty(5), xp.empty(2, dtype=xp.int64)])),
        lambda xp: xp.max(xp.ones(2, 3), 0, out=(xp.empty(0), xp.empty(0))),
        lambda xp: xp.max(xp.ones(2, 3), 0, out=(xp.empty(0),)),
        lambda xp: xp.max(xp.ones(2, 3), 0, out=xp.empty(0)),
        lambda xp: xp.max(xp.ones(2, 3), out=xp.empty(0).double()),
        lambda xp: xp.max(xp.ones(2, 3), out=xp.empty(0).int()),
        lambda xp: xp.min(xp.ones(2, 3), xp.zeros(3), out=xp.empty(0).double()),
        lambda xp: xp.softmax(xp.ones(2, 3), 0, out=xp.empty(3, 2).t()),
        lambda xp: xp.softmax(xp.ones(2, 3), 0, xp.float64, out=xp.empty(0)),
        lambda xp: xp.log_softmax(xp.ones(2, 3), 0, dtype=xp.float64, out=xp.empty(0).double()),
        lambda xp: xp.ones(3).int().cumsum_(0),
        lambda xp: xp.ones(3).int().cumsum_(0, dtype=xp.int64),
        lambda xp: xp.ones(3, 2).t().cumsum_(0),
    ],
)
def test_the_corners_agree_with_torch(program):
    agree(program)


def test_softmax_counts_the_dimension_from_the_front_and_copies_a_result_of_other_strides():
    def softmax_of_columns_first(array, dim):
        assert dim >= 0
        return np.asfortranarray(reductions.softmax(array, dim))

    x = rl.tensor([[1.0, 2.0, 3.0], [1.0, 0.0, 2.0]])
    found = reductions.softmax_kernel("softmax", softmax_of_columns_first).functional(x, -1, False)
    assert found.tolist() == x.softmax(1).tolist()
    assert found.numpy().flags.c_contiguous


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16", "bfloat16"])
@pytest.mark.parametrize("name", ["softmax", "log_softmax"])
def test_a_row_whose_largest_element_is_infinite_is_nan_without_a_warning(name, dtype):
    rows = [[-math.inf, -math.inf], [math.inf, 0.0], [math.inf, math.inf]]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for dim, x in ((1, rl.tensor(rows, dtype=getattr(rl, dtype))), (0, rl.tensor(rows).t())):
            assert getattr(x, name)(dim).isnan().all()
