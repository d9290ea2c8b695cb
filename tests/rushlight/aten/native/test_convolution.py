"""Convolution, pooling and padding: layouts, refusals, edge cases and compiled graphs, on both frameworks."""

import numpy as np
import pytest
import torch
from both import agree
from sweep import in_one_test

import rushlight as rl


def whole(xp, *sizes, step=3):
    """Small whole numbers as floats: their sums are exact in any order."""
    count = int(np.prod(sizes))
    return ((xp.arange(count) * step) % 7 - 3).to(xp.float32).reshape(sizes)


FORMATS = ("contiguous_format", "channels_last")
CONVOLUTIONS = [
    {},
    {"stride": 2, "padding": (1, 0)},
    {"padding": "same", "dilation": 2},
    {"padding": "valid", "groups": 2},
    {"stride": (1, 2), "padding": 2, "dilation": (2, 1), "groups": 4},
]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("options", CONVOLUTIONS, ids=str)
@pytest.mark.parametrize("image", FORMATS)
@pytest.mark.parametrize("kernel", FORMATS)
def test_a_convolution_and_its_gradients_have_torchs_layouts(options, image, kernel):
    def program(xp):
        groups = options.get("groups", 1)
        x = whole(xp, 2, 4, 7, 8).contiguous(memory_format=getattr(xp, image)).requires_grad_()
        weight = whole(xp, 8, 4 // groups, 3, 2, step=5).contiguous(memory_format=getattr(xp, kernel)).requires_grad_()
        bias = whole(xp, 8).requires_grad_()
        result = xp.nn.functional.conv2d(x, weight, bias, **options)
        grads = xp.autograd.grad(result, [x, weight, bias], whole(xp, *result.shape, step=4))
        return [result.detach(), *grads, result.grad_fn.name().rpartition("::")[2]]

    agree(program)


@pytest.mark.parametrize("sizes", [(3, 2, 5, 15), (3, 2, 5, 16), (1, 2, 5, 5), (70, 2, 40, 9)], ids=str)
@pytest.mark.parametrize("name", ["conv2d", "conv_transpose2d"])
def test_short_and_long_rows_give_the_same(sizes, name):
    """Images with rows of fewer than 16 windows are put side by side, some at a time."""

    def program(xp):
        x, weight, bias = (whole(xp, *each).requires_grad_() for each in (sizes, (2, 2, 3, 3), (2,)))
        result = getattr(xp.nn.functional, name)(x, weight, bias, padding=1)
        return [result.detach(), *xp.autograd.grad(result, [x, weight, bias], whole(xp, *result.shape, step=4))]

    agree(program)


REFUSED = {
    "a larger window": lambda F, x, w: F.conv2d(x, w.repeat(1, 1, 2, 2)),
    "other channels": lambda F, x, w: F.conv2d(x, w[:, :1]),
    "another dtype": lambda F, x, w: F.conv2d(x.double(), w),
    "another dtype of the bias": lambda F, x, w: F.conv2d(x, w, w.double()[:, 0, 0, 0]),
    "a short bias": lambda F, x, w: F.conv2d(x, w, w[:1, 0, 0, 0]),
    "no stride": lambda F, x, w: F.conv2d(x, w, stride=0),
    "negative padding": lambda F, x, w: F.conv2d(x, w, padding=-1),
    "no dilation": lambda F, x, w: F.conv2d(x, w, dilation=0),
    "no groups": lambda F, x, w: F.conv2d(x, w, groups=0),
    "groups that do not divide": lambda F, x, w: F.conv2d(x[:, :3], w[:, :1], groups=3),
    "an unknown padding": lambda F, x, w: F.conv2d(x, w, padding="some"),
    "a strided same": lambda F, x, w: F.conv2d(x, w, padding="same", stride=2),
    "three strides": lambda F, x, w: F.conv2d(x, w, stride=(1, 1, 1)),
    "two dimensions": lambda F, x, w: F.conv2d(x[0, 0], w),
    "bools": lambda F, x, w: F.conv2d(x > 0, w > 0),
    "much padding of a pool": lambda F, x, w: F.max_pool2d(x, 2, padding=2),
    "a pool without stride": lambda F, x, w: F.avg_pool2d(x, 2, stride=0),
    "a pool that is too large": lambda F, x, w: F.avg_pool2d(x, 9),
    "no divisor": lambda F, x, w: F.avg_pool2d(x, 2, divisor_override=0),
    "a pool of one dimension": lambda F, x, w: F.max_pool2d(x[0, 0], 2),
    "negative sizes": lambda F, x, w: F.adaptive_avg_pool2d(x, (-1, 2)),
    "too few dimensions": lambda F, x, w: F.adaptive_avg_pool2d(x[0, 0], (2, None)),
    "an odd padding": lambda F, x, w: F.pad(x, (1, 1, 1)),
    "too much padding": lambda F, x, w: F.pad(x[0, 0], (1,) * 6),
    "nothing left": lambda F, x, w: F.pad(x, (-9, 0)),
    "an unknown mode": lambda F, x, w: F.pad(x, (1, 1), "mirror"),
    "a value to reflect": lambda F, x, w: F.pad(x, (1, 1, 1, 1), "reflect", 2.0),
    "a reflection too far": lambda F, x, w: F.pad(x, (4, 4, 4, 4), "reflect"),
    "more than once around": lambda F, x, w: F.pad(x, (9, 0, 0, 0), "circular"),
    "one of four dimensions": lambda F, x, w: F.pad(x, (1, 1), "replicate"),
    "groups of channels": lambda F, x, w: F.group_norm(x, 3),
}


@in_one_test
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("case", REFUSED)
def test_what_torch_refuses_is_refused(case):
    def program(xp):
        return REFUSED[case](xp.nn.functional, whole(xp, 2, 4, 4, 4), whole(xp, 4, 4, 3, 3))

    agree(program)
    with pytest.raises((RuntimeError, ValueError)):
        program(rl)


@pytest.mark.parametrize("image", FORMATS)
def test_of_ties_the_first_is_the_maximum_and_of_nans_the_last(image):
    def program(xp):
        nan, inf = float("nan"), float("inf")
        rows = [[1, 1, nan, 2], [1, nan, nan, nan], [-inf, -inf, 0, -0.0], [-inf, -inf, -0.0, 0]]
        x = xp.tensor(rows).reshape(1, 1, 4, 4).repeat(1, 2, 1, 1).contiguous(memory_format=getattr(xp, image))
        pool = xp.nn.functional.max_pool2d
        return [pool(x, 2, return_indices=True), pool(x, 3, 2, 1, return_indices=True), pool(x[0], 2)]

    agree(program)


def test_a_compiled_graph_calls_the_eager_kernels():
    def network(xp):
        F = xp.nn.functional

        def run(x, weight, bias):
            x = F.conv2d(F.pad(x, (1, 1, 1, 1), "reflect"), weight, bias, groups=2)
            return F.adaptive_avg_pool2d(F.avg_pool2d(F.max_pool2d(x, 2, 1), 2, 1), 2)

        return run

    results = []
    for xp, run in ((rl, rl.compile(network(rl))), (torch, network(torch))):
        tensors = [whole(xp, *sizes).requires_grad_() for sizes in ((2, 4, 6, 6), (4, 2, 3, 3), (4,))]
        result = run(*tensors)
        result.square().sum().backward()
        results.append([each.detach().numpy() for each in (result, *(tensor.grad for tensor in tensors))])
    for ours, theirs in zip(*results):
        np.testing.assert_allclose(ours, theirs, rtol=1e-5, atol=1e-4)


EMPTY = {
    "no images": lambda F, x: F.conv2d(x[:0], x[:3, :, :3, :3]),
    "no channels": lambda F, x: F.conv2d(x[:, :0], x[:3, :0, :3, :3], x[:3, 0, 0, 0]),
    "no pixels": lambda F, x: F.conv2d(x[..., :0], x[:3, :, :1, :1], padding=1),
    "no images to pool": lambda F, x: F.max_pool2d(x[:0], 2) + F.avg_pool2d(x[:0], 2),
    "no channels to pool": lambda F, x: F.avg_pool2d(x[:, :0], 2),
    "no windows": lambda F, x: F.adaptive_avg_pool2d(x, 0),
    "no images to pad": lambda F, x: F.pad(x[:0], (1, 1, 1, 1), "reflect"),
    "nothing to pad": lambda F, x: F.pad(x[..., :0], (1, 2)),
}


@pytest.mark.parametrize("case", EMPTY)
def test_what_has_no_elements_gives_what_torch_gives(case):
    def program(xp):
        x = whole(xp, 3, 2, 4, 4).requires_grad_()
        result = EMPTY[case](xp.nn.functional, x)
        return [result.detach(), *xp.autograd.grad(result.sum(), x)]

    agree(program)


def test_only_images_and_kernels_of_a_module_get_a_memory_format():
    def program(xp):
        module = xp.nn.Sequential(xp.nn.Conv2d(2, 4, 3), xp.nn.Conv1d(4, 4, 3), xp.nn.BatchNorm2d(4))
        strides = []
        for kept in ("channels_last", "contiguous_format"):
            module.to(memory_format=getattr(xp, kept))
            strides += [each.stride() for each in module.state_dict().values()]
        return strides

    agree(program)
