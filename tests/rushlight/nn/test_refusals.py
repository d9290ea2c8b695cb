"""Calls that torch refuses, or to which it gives a result of its own: both frameworks say and return the same."""

import itertools
import math
import warnings

import pytest
import torch
from both import FRAMEWORKS, agree, observe
from sweep import in_one_test

import rushlight as rl

NAN, INF = math.nan, math.inf


def said(program, xp):
    """Return what the program returns, or the type and the text of its error, and its warnings of PyTorch's documentation."""
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        try:
            result = observe(program(xp, xp.nn.functional))
        except Exception as error:
            result = type(error).__name__, str(error)
    return result, sum("affine_grid" in str(each.message) for each in told)


def backward(y):
    y.sum().backward()


BOUNDS = (0.5, 0.3), (INF, 1.0), (-1.0, NAN), (NAN, NAN), (-INF, 0.0)
WINDOWS = (3, 0, 3, 4), (0, 3, 3, 4), (2, 3, 0, 4), (0, 3, 4), (3, 0, 4), (2, 3, 4), (2, 3, 4, 5, 6)
COLUMNS = (0, 4, 6), (4, 6), (4, 0), (2, 4, 0), (2, 0, 6), (3,), (2, 3, 4, 5)
CELLS = (65, 64, (4, 16)), (64, 65, (4, 16)), (64, 64, (3, 16)), (64, 64, (4, 17))
THETAS = (1, 2, 3), (2, 3), (1, 1, 2, 3), (1, 4, 3), (1, 2, 6)


@in_one_test
@pytest.mark.parametrize(
    "program",
    [
        *(
            lambda xp, F, most=most, d=d: F.softshrink(xp.tensor([-2.0, 1.0]).to(getattr(xp, d)), most)
            for most in (0.5, -1, 1e39, 65507.0, NAN, INF)
            for d in ("float16", "float32", "float64", "int32")
        ),
        *(lambda xp, F, b=b, t=t: F.rrelu(xp.ones(3), *b, t) for b in BOUNDS for t in (True, False)),
        *(
            lambda xp, F, s=s, n=n, f=f: f(F)(xp.ones(s), n)
            for f in (lambda F: F.pixel_shuffle, lambda F: F.pixel_unshuffle)
            for s, n in itertools.product(((16,), (2, 3), (5, 3, 4), (0, 4, 4), (4, 4, 5)), (2, 0, -2, 545460846592))
        ),
        lambda xp, F: backward(F.elu_(xp.tensor([-1.0, 1.0], requires_grad=True).clone(), -2)),
        lambda xp, F: backward(F.celu_(xp.tensor([-1.0, 1.0], requires_grad=True).clone(), -2)),
        *(lambda xp, F, s=s: F.unfold(xp.ones(s), (2, 2)) for s in WINDOWS),
        *(lambda xp, F, s=s: F.fold(xp.ones(s), (3, 4), (2, 2)) for s in COLUMNS),
        *(
            lambda xp, F, n=n: F.unfold(xp.ones(2, 3, 4, 4), **{"kernel_size": 2} | {n: (0, -1)})
            for n in ("kernel_size", "dilation", "padding", "stride")
        ),
        *(
            lambda xp, F, d=d, n=n, m=m: F.pad(xp.ones((2,) * d), (1,) * n, m)
            for m, (d, n) in itertools.product(
                ("reflect", "circular"), ((1, 2), (2, 2), (4, 2), (5, 4), (3, 6), (5, 8), (3, 0))
            )
        ),
        *(
            lambda xp, F, a=a, b=b, s=s: xp.lstm_cell(xp.ones(4, 8), (xp.ones(s), xp.ones(s)), xp.ones(a, 8), xp.ones(b, 16))
            for a, b, s in CELLS
        ),
        *(lambda xp, F, s=s: F.affine_grid(xp.ones(s), (1, 1, 2, 1), align_corners=True) for s in THETAS),
        lambda xp, F: F.affine_grid(xp.ones(1, 2, 3).int(), (1, 1, 2, 2)),
        lambda xp, F: F.affine_grid(xp.ones(1, 2, 3), (1, 1, 2, 0), align_corners=False),
        lambda xp, F: F.affine_grid(xp.ones(1, 2, 3), (1, 2, 2), align_corners=False),
        lambda xp, F: xp.nn.Linear(2, 2).to("cpu", copy=True),
        lambda xp, F: xp.nn.Linear(2, 2, device="meta").to("cpu"),
        lambda xp, F: F.batch_norm(xp.ones(0, 3, 2), xp.ones(4), None, training=False),
        lambda xp, F: xp.nn.BatchNorm2d(3)(xp.ones(0, 3, 2, 2).double()),
        lambda xp, F: xp._softmax(xp.ones(2, device="meta").half(), 0, True).dtype,
        *(
            lambda xp, F, m=m, p=p: F.grid_sample(
                xp.ones(1, 1, 3, 3), xp.tensor([[[[NAN, 0], [0, INF], [1e20, 0]]]]), m, p, align_corners=False
            )
            for m in ("nearest", "bilinear")
            for p in ("zeros", "border", "reflection")
        ),
        *(
            lambda xp, F, x=x, g=g, o=o: F.grid_sample(xp.ones(x), xp.ones(g), **o)
            for x, g, o in (
                ((1, 1, 2, 2), (1, 1, 1, 2), {"mode": "x"}), ((1, 1, 2, 2), (1, 1, 1, 2), {"padding_mode": "x"}),
                ((1, 2, 2), (1, 1, 1, 2), {}), ((1, 1, 2, 2), (1, 1, 1, 1, 3), {}), ((1, 1, 2, 2), (2, 1, 1, 2), {}),
                ((1, 1, 0, 2), (1, 1, 1, 2), {}), ((1, 1, 2, 2, 2), (1, 1, 1, 1, 3), {"mode": "bicubic"}),
                ((1, 1, 2), (1, 1, 1), {}),
            )
        ),
        *(
            lambda xp, F, s=s, n=n: xp.native_channel_shuffle(xp.arange(math.prod(s)).view(s), n)
            for s, n in (((1, 3, 2), 0), ((1, 3, 2), 2), ((1, 2), 2), ((0, 9, 4), 3), ((1, 4, 2), 2))
        ),
        lambda xp, F: F.threshold(xp.tensor([0.1]).bfloat16(), 0.1, 20),
        *(
            lambda xp, F, o=o: F.interpolate(xp.ones(1, 1, 4, 4), **o)
            for o in (
                {"size": (2.0, 2.0)}, {"size": (0, 2)}, {"size": 2, "antialias": True}, {"size": 2, "mode": "lanczos"},
                {"size": 2, "mode": "lanczos", "antialias": True, "align_corners": True},
            )
        ),
    ],
)  # fmt: skip
def test_both_say_the_same(program):
    ours, theirs = (said(program, xp) for xp in FRAMEWORKS)
    assert repr(ours).replace("rushlight", "torch") == repr(theirs)


@pytest.mark.parametrize("param,input", [("float16", "float32"), ("float32", "float64"), ("float32", "float16")])
def test_instance_norm_keeps_statistics_of_another_dtype(param, input):
    seen = []
    for xp in FRAMEWORKS:
        layer = xp.nn.InstanceNorm2d(2, track_running_stats=True, dtype=getattr(xp, param))
        y = layer(xp.arange(16.0).view(1, 2, 4, 2).to(getattr(xp, input)))
        seen.append((str(y.dtype)[-7:], layer.running_mean.tolist(), layer.running_var.float().mean().item()))
    assert seen[0][:2] == seen[1][:2] and seen[0][2] == pytest.approx(seen[1][2], rel=1e-3)


@pytest.mark.parametrize("mask", [None, [[False, True], [True, True]]])
def test_a_fused_encoder_layer_gives_nan_without_a_key(mask):
    seen = []
    for xp in FRAMEWORKS:
        layer = xp.nn.TransformerEncoderLayer(4, 2, 8, batch_first=True).eval()
        with xp.no_grad():
            padding = xp.tensor([[False, False], [True, True]])
            y = layer(xp.ones(2, 2, 4), mask and xp.tensor(mask), padding)
        seen.append(y.isnan().any(-1).tolist())
    assert seen[0] == seen[1]


@pytest.mark.parametrize("batch", [0, 2])
def test_transformers_take_an_empty_batch(batch):
    shapes = [xp.nn.Transformer(8, 2, 1, 1, 8)(xp.rand(4, batch, 8), xp.rand(3, batch, 8)).shape for xp in (rl, torch)]
    assert tuple(shapes[0]) == tuple(shapes[1])


OPTIONS = [{"size": (4, 3)}, {"size": (20, 11)}, {"scale_factor": 0.37}, {"scale_factor": (0.6, 1.7)}]


@in_one_test
@pytest.mark.parametrize("options", [*OPTIONS, OPTIONS[3] | {"recompute_scale_factor": True}])
@pytest.mark.parametrize(
    "mode,align", [("bilinear", False), ("bilinear", True), ("bicubic", False), ("lanczos", False)]
)
def test_antialiased_images_and_gradients_agree(mode, align, options):
    options = options | {"mode": mode, "align_corners": align, "antialias": True}
    image = torch.randn(2, 3, 9, 7, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
    inputs = [x.requires_grad_() for x in (rl.tensor(image.tolist(), dtype=rl.float64), image)]
    results = [xp.nn.functional.interpolate(x, **options) for xp, x in zip(FRAMEWORKS, inputs)]
    for y in results:
        (y * y).sum().backward()
    assert rl.allclose(rl.tensor(results[1].tolist(), dtype=rl.float64), results[0], 1e-12, 1e-12)
    assert rl.allclose(rl.tensor(inputs[1].grad.tolist(), dtype=rl.float64), inputs[0].grad, 1e-12, 1e-12)


@in_one_test
@pytest.mark.parametrize("antialias", [True, False])
@pytest.mark.parametrize("mode", ["bilinear", "bicubic"])
def test_images_of_bytes_are_rounded_as_in_torch(mode, antialias):
    pixels = torch.randint(256, (2, 3, 9, 7), dtype=torch.uint8, generator=torch.Generator().manual_seed(0))
    for size in ((4, 3), (20, 11)):
        options = {"size": size, "mode": mode, "antialias": antialias}
        ours = rl.nn.functional.interpolate(rl.tensor(pixels.tolist(), dtype=rl.uint8), **options)
        assert ours.tolist() == torch.nn.functional.interpolate(pixels, **options).tolist()


BAGS = itertools.product(("sum", "mean", "max"), ([0, 2, 2, 7], [0, 7, 7], None), (None, -2), (True, False))


@in_one_test
@pytest.mark.parametrize("mode,offsets,padding_idx,last", [*BAGS])
def test_bags_and_their_gradients_agree(mode, offsets, padding_idx, last):
    weights = [[math.cos(7 * i + j) for j in range(3)] for i in range(5)]
    seen = []
    for xp in FRAMEWORKS:
        weight, factors = (
            xp.tensor(weights, requires_grad=True),
            xp.tensor([0.5, 1, -1, 2, 3, 1, 4], requires_grad=True),
        )
        indices, shape = xp.tensor([3, 0, 3, 4, 1, 1, 2]), (1, 7) if offsets is None else (7,)
        options = {"mode": mode, "padding_idx": padding_idx, "include_last_offset": last and offsets is not None}
        options |= {"per_sample_weights": factors.view(shape)} if mode == "sum" else {}
        y = xp.nn.functional.embedding_bag(indices.view(shape), weight, offsets and xp.tensor(offsets), **options)
        (y * y).sum().backward()
        seen.append([*map(xp.Tensor.tolist, (y, weight.grad, *([factors.grad] if mode == "sum" else [])))])
    for ours, theirs in zip(*seen):
        torch.testing.assert_close(torch.tensor(ours), torch.tensor(theirs))


def test_bags_take_their_first_arguments_in_the_old_order_too():
    agree(lambda xp: xp.nn.functional.embedding_bag(xp.eye(3), xp.tensor([[0, 2], [1, 1]])))


@in_one_test
@pytest.mark.parametrize("ndim", [1, 2, 3])
@pytest.mark.parametrize("output_size", [None, 9])
def test_unpooling_puts_elements_where_pooling_found_them(ndim, output_size):
    seen = []
    for xp in FRAMEWORKS:
        x = (xp.arange(2.0 * 8**ndim) * 7 % 13).reshape(1, 2, *[8] * ndim).requires_grad_()
        values, indices = getattr(xp.nn, f"MaxPool{ndim}d")(2, return_indices=True)(x)
        unpool = getattr(xp.nn, f"MaxUnpool{ndim}d")(2)
        y = unpool(values, indices, output_size and [output_size] * ndim)
        (y * y).sum().backward()
        seen.append((repr(unpool), y.tolist(), x.grad.tolist()))
    assert seen[0] == seen[1]
