"""`rl.masked` gives what torch gives, for values, for dtypes and for backward passes."""

import pytest
import torch
from sweep import in_one_test

import rushlight as rl

SHAPE = (3, 4, 2)
REDUCTIONS = ["sum", "prod", "amax", "amin", "argmax", "argmin", "logsumexp", "mean", "var", "std", "norm"]
OF_INTEGERS = [name for name in REDUCTIONS if name not in ("mean", "norm", "logsumexp")]
ALONG = ["cumsum", "cumprod", "softmax", "log_softmax", "softmin"]


def inputs(dtype: str, mask_shape: tuple[int, ...] | None) -> list[tuple]:
    """An input and a mask for torch and for rushlight. Each line has a selected element."""
    x = (torch.randn(SHAPE, generator=torch.Generator().manual_seed(0)) * 4).to(getattr(torch, dtype))
    mask = None
    if mask_shape is not None:
        mask = torch.arange(torch.Size(mask_shape).numel()).reshape(mask_shape) % 3 != 1
    ours = rl.tensor(x.tolist(), dtype=getattr(rl, dtype)), None if mask is None else rl.tensor(mask.tolist())
    return [(torch, x, mask), (rl, *ours)]


def same(theirs: torch.Tensor, ours: rl.Tensor) -> None:
    assert str(ours.dtype).split(".")[1] == str(theirs.dtype).split(".")[1] and tuple(ours.shape) == tuple(theirs.shape)
    torch.testing.assert_close(torch.tensor(ours.tolist(), dtype=theirs.dtype), theirs, equal_nan=True)


@in_one_test
@pytest.mark.parametrize("mask_shape", [None, SHAPE, (4, 1), (2,)])
@pytest.mark.parametrize(
    "name, dtype", [(name, "float32") for name in REDUCTIONS] + [(name, "int32") for name in OF_INTEGERS]
)
def test_a_masked_reduction_gives_what_torch_gives(name, dtype, mask_shape):
    for dim in (1, -1) if name.startswith("arg") else (None, 0, (0, 2), ()):
        for keepdim in (False, True):
            results = []
            for m, x, mask in inputs(dtype, mask_shape):
                args = (2.0, dim) if name == "norm" else (dim,)
                results.append(getattr(m.masked, name)(x, *args, keepdim=keepdim, mask=mask))
            same(*results)


@pytest.mark.parametrize("name", ALONG)
def test_a_masked_function_along_a_dimension_gives_what_torch_gives(name):
    for mask_shape in (None, SHAPE, (4, 1)):
        for options in ({}, {"dtype": "float64"}):
            results = []
            for m, x, mask in inputs("float32", mask_shape):
                given = {key: getattr(m, value) for key, value in options.items()}
                results.append(getattr(m.masked, name)(x, 1, mask=mask, **given))
            same(*results)


def test_normalize_logaddexp_and_norms_of_other_orders_give_what_torch_gives():
    same(*(m.masked.normalize(x, 2.0, 1, mask=mask) for m, x, mask in inputs("float32", SHAPE)))
    for dtype in ("float32", "int32"):
        same(*(m.masked.median(x, 1, keepdim=True, mask=mask) for m, x, mask in inputs(dtype, SHAPE)))
    same(*(m.masked.logaddexp(x, x * 2, input_mask=mask) for m, x, mask in inputs("float32", SHAPE)))
    for order in (0, 1, float("inf"), float("-inf")):
        same(*(m.masked.norm(x, order, 1, mask=mask) for m, x, mask in inputs("float32", SHAPE)))
    same(*(m.masked.var(x, 1, correction=2, mask=mask) for m, x, mask in inputs("float32", SHAPE)))
    same(*(m.masked.std(x, 1, False, mask=mask) for m, x, mask in inputs("float32", SHAPE)))


def test_the_gradient_of_an_element_that_is_left_out_is_zero():
    gradients = []
    for m, x, mask in inputs("float32", SHAPE):
        x.requires_grad_()
        (m.masked.mean(x, 1, mask=mask).sum() + m.masked.softmax(x, 1, mask=mask).square().sum()).backward()
        gradients.append(x.grad)
        assert not x.grad[~mask].any()
    same(*gradients)


def test_a_mask_with_more_dimensions_and_a_mean_of_integers_are_refused_as_in_torch():
    for wrong in (
        lambda m: m.masked.sum(m.ones(2), mask=m.ones(2, 2) > 0),
        lambda m: m.masked.mean(m.ones(2, dtype=m.int64)),
        lambda m: m.masked.sum(m.ones(2), (0, 0)),
        lambda m: m.masked.sum(m.ones(2), 3),
    ):
        errors = []
        for m in (torch, rl):
            with pytest.raises(Exception) as error:
                wrong(m)
            errors.append((error.type.__name__, str(error.value).replace("rushlight", "torch")))
        assert errors[0] == errors[1]
