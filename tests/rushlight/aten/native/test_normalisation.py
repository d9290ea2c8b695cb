"""Layer norm agrees with torch: values, first and second gradients, layout, and the graph that it leaves."""

import numpy as np
import pytest
import torch
from both import FRAMEWORKS, graph
from sweep import in_one_test
from torch.testing import assert_close

import rushlight as rl
from rushlight.c10 import fast_paths


def normalised(xp, sizes, dims, given, kind, transposed):
    random = np.random.default_rng(0)
    x = xp.from_numpy(random.standard_normal(sizes).astype(kind))
    x = (x.transpose(0, 1) if transposed else x).requires_grad_()
    shape = tuple(x.shape[-dims:])
    parameters = [xp.from_numpy(random.standard_normal(shape).astype(kind)).requires_grad_() for _ in range(2)]
    weight, bias = (each if wanted else None for each, wanted in zip(parameters, given))
    inputs = [each for each in (x, weight, bias) if each is not None]
    result = xp.nn.functional.layer_norm(x, shape, weight, bias)
    found = [result, *xp.autograd.grad((result**2 * x).sum(), inputs, create_graph=True)]
    if weight is not None:  # torch's second derivative needs a weight
        found += xp.autograd.grad(sum((each**2).sum() for each in found[1:]), inputs)
    else:
        found += xp.autograd.grad(xp.nn.functional.layer_norm(x, shape, weight, bias).exp().sum(), inputs)
    layout = [each.stride() for each in found]
    return [torch.from_numpy(each.detach().numpy()) for each in found], layout, graph(result)


@in_one_test
@pytest.mark.parametrize("kind", ["float32", "float64"])
@pytest.mark.parametrize("given", [(True, True), (True, False), (False, True), (False, False)])
@pytest.mark.parametrize("case", [((3, 4), 1), ((2, 3, 4), 2), ((4,), 1), ((2, 1), 1), ((2, 3, 4), 1, True)])
def test_layer_norm_gives_torchs_numbers_gradients_and_graph(case, given, kind):
    sizes, dims, *transposed = case
    (ours, *layout), (theirs, *torchs) = (normalised(xp, sizes, dims, given, kind, transposed) for xp in FRAMEWORKS)
    assert_close(ours, theirs, rtol=1e-3 if kind == "float32" else 1e-7, atol=1e-4 if kind == "float32" else 1e-9)
    assert layout[0] == torchs[0]
    assert transposed or layout[1] == torchs[1]


def test_layer_norm_gives_the_same_numbers_without_its_kernel():
    x, w, b = (rl.from_numpy(np.random.default_rng(i).standard_normal((3, 5)[i > 0 :])) for i in range(3))
    short = rl.nn.functional.layer_norm(x, (5,), w, b)
    with fast_paths.disabled("c10"):
        long = rl.nn.functional.layer_norm(x, (5,), w, b)
    assert_close(torch.from_numpy(short.numpy()), torch.from_numpy(long.numpy()))
