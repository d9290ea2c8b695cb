"""Attention agrees with torch: value, layout, gradient, and what it refuses."""

import subprocess
import sys
import tracemalloc

import numpy as np
import pytest
import torch
from both import FRAMEWORKS, agree, graph
from sweep import in_one_test
from torch.testing import assert_close

import rushlight as rl
from rushlight.aten.native import attention
from rushlight.inductor import codecache


def numbers(xp, *sizes, seed=0):
    return xp.from_numpy(np.random.default_rng(seed).standard_normal(sizes))


def mask(xp):
    """Bool, 3 queries by 5 keys; the last query has no key."""
    return xp.tensor([[True, False, True, True, False], [True] * 5, [False] * 5])


Q, K = (2, 4, 3, 8), (2, 4, 5, 8)
CASES = {
    "plain": (Q, K, K, lambda xp: {}),
    "without heads": ((3, 8), (5, 8), (5, 2), lambda xp: {}),
    "causal": (Q, K, K, lambda xp: {"is_causal": True}),
    "scaled": (Q, K, K, lambda xp: {"scale": 0.1}),
    "scaled by a negative number": (Q[1:], K[1:], K[1:], lambda xp: {"scale": -0.1}),
    "bool mask": (Q, K, K, lambda xp: {"attn_mask": mask(xp)}),
    "bool mask, 3 dimensions": (Q[1:], K[1:], K[1:], lambda xp: {"attn_mask": mask(xp)}),
    "float mask": (Q, K, K, lambda xp: {"attn_mask": numbers(xp, 2, 1, 3, 5, seed=9)}),
    "broadcast batch": (Q, (1, *K[1:]), (1, *K[1:]), lambda xp: {}),
    "shared heads": (Q, (2, 2, 5, 8), (2, 2, 5, 8), lambda xp: {"enable_gqa": True}),
    "all dropped": (Q, K, K, lambda xp: {"dropout_p": 1.0}),
    "causal, with a mask": (Q, K, K, lambda xp: {"is_causal": True, "attn_mask": numbers(xp, 3, 5)}),
    "a wide value": (Q, K, (2, 4, 5, 9), lambda xp: {}),
}


@pytest.mark.parametrize("case", CASES)
def test_attention_gives_torchs_numbers_gradients_and_layout(case):
    found = []
    for xp in FRAMEWORKS:
        *sizes, options = CASES[case]
        tensors = [numbers(xp, *each, seed=i).requires_grad_() for i, each in enumerate(sizes)]
        result = xp.nn.functional.scaled_dot_product_attention(*tensors, **options(xp))
        result.square().sum().backward()
        found.append(
            [result.stride(), *(torch.from_numpy(x.numpy()) for x in (result.detach(), *(t.grad for t in tensors)))]
        )
    assert found[0][0] == found[1][0]
    assert_close(found[0][1:], found[1][1:])


@pytest.mark.parametrize(
    "program",
    [
        lambda F, q, xp: F.scaled_dot_product_attention(q, q.double(), q),
        lambda F, q, xp: F.scaled_dot_product_attention(q[0, 0, 0], q, q),
        lambda F, q, xp: F.scaled_dot_product_attention(q, q, q, xp.ones(3, 3, dtype=xp.int64)),
        lambda F, q, xp: xp._scaled_dot_product_attention_math(q, q, q, xp.ones(3, 3), 0.0, True),
        lambda F, q, xp: F.scaled_dot_product_attention(q, q[:, :3], q[:, :3], enable_gqa=True),
        lambda F, q, xp: F.scaled_dot_product_attention(q.half(), q.half(), q.half()).dtype,
        lambda F, q, xp: F.scaled_dot_product_attention(
            q.transpose(1, 2), q.transpose(1, 2), q.transpose(1, 2)
        ).stride(),
        lambda F, q, xp: xp._scaled_dot_product_attention_math(q, q, q, mask(xp)[:, :3])[1].shape,
        lambda F, q, xp: xp._scaled_dot_product_attention_math(q, q, q, None, 0.5, False, xp.zeros(3, 3).bool())[0],
        lambda F, q, xp: xp._safe_softmax(xp.tensor([[1.0, 1.0], [-float("inf")] * 2]), 1),
    ],
)
def test_what_attention_does_otherwise_is_torchs(program):
    agree(lambda xp: program(xp.nn.functional, numbers(xp, *Q).float(), xp))


def test_a_query_without_keys_has_no_gradient():
    for xp in FRAMEWORKS:
        x = xp.full((2, 2), -float("inf"), requires_grad=True)
        xp._safe_softmax(x, 1).sum().backward()
        assert x.grad.tolist() == [[0.0, 0.0], [0.0, 0.0]]


@pytest.mark.parametrize("case", ["bool mask"])
def test_attention_is_compiled(case):
    *sizes, options = CASES[case]
    tensors = [numbers(rl, *each, seed=i).requires_grad_() for i, each in enumerate(sizes)]
    given = options(rl)

    def program(q, k, v):
        return rl.nn.functional.scaled_dot_product_attention(q, k, v, **given)

    results = []
    for function in (program, rl.compile(program)):
        result = function(*tensors)
        results.append([result, *rl.autograd.grad(result.square().sum(), tensors)])
    for a, b in zip(*results):
        np.testing.assert_allclose(a.detach().numpy(), b.detach().numpy(), atol=1e-9)


@pytest.mark.parametrize("case", ["plain", "causal", "scaled", "of transposed parts"])
def test_attention_leaves_torchs_graph_and_gradients_of_torchs_layout(case):
    def program(xp):
        options = CASES[case][-1](xp) if case in CASES else {}
        tensors = [numbers(xp, 2, 3, 4, 8, seed=i)[..., 2:].transpose(1, 2).requires_grad_() for i in range(3)]
        result = xp.nn.functional.scaled_dot_product_attention(*tensors, **options)
        grads = xp.autograd.grad(result.exp().sum(), tensors)
        saved = [each for each in dir(result.grad_fn) if each.startswith("_saved_")]
        return str(graph(result)), saved, [each.stride() for each in (result, *grads)]

    agree(program)


# The fused kernel, in C++ and in numpy -------------------------------------------------------------------------------

FUSED = {  # batch, heads, queries, keys, width
    "of one tile": (2, 3, 5, 7, 8),
    "of the MiniGPT": (2, 4, 40, 40, 16),
    "with a width of no whole register": (1, 2, 19, 33, 5),
    "of several tiles": (1, 2, 300, 290, 12),
    "with few queries": (1, 2, 3, 270, 4),
    "with few keys": (1, 2, 270, 3, 4),
    "of one key": (1, 1, 4, 1, 1),
}
MASKS = {
    "no mask": lambda xp, b, h, n, m: None,
    "a mask": lambda xp, b, h, n, m: numbers(xp, n, m, seed=9),
    "a mask for each head": lambda xp, b, h, n, m: numbers(xp, 1, h, n, 1, seed=9),
    "a mask with empty rows": lambda xp, b, h, n, m: numbers(xp, b, 1, n, m, seed=9).masked_fill(
        xp.arange(n)[:, None] % 3 == 0, -float("inf")
    ),
}


@pytest.fixture(params=["C++", "numpy"])
def kernel(request, monkeypatch):
    if request.param == "numpy":
        monkeypatch.setattr(attention, "compiled_kernels", lambda: None)
    elif attention.compiled_kernels() is None:
        pytest.skip("no C++ compiler")


@in_one_test
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("is_causal", [False, True])
@pytest.mark.parametrize("mask", MASKS)
@pytest.mark.parametrize("sizes", FUSED)
def test_the_fused_kernel_gives_torchs_result_logsumexp_gradients_and_layout(kernel, sizes, mask, is_causal, dtype):
    batch, heads, queries, keys, width = FUSED[sizes]

    def program(xp):
        lengths = (queries, keys, keys)
        tensors = [numbers(xp, batch, n, heads, width, seed=i) for i, n in enumerate(lengths)]
        q, k, v = (each.to(getattr(xp, dtype)).transpose(1, 2).requires_grad_() for each in tensors)
        added = MASKS[mask](xp, batch, heads, queries, keys)
        added = None if added is None else added.to(getattr(xp, dtype))
        fused = xp.ops.aten._scaled_dot_product_flash_attention_for_cpu
        out, logsumexp = fused(q, k, v, 0.0, is_causal, attn_mask=added, scale=0.3)
        grads = xp.autograd.grad((out * out).sum(), (q, k, v))
        return [torch.from_numpy(each.detach().numpy()) for each in (out, logsumexp, *grads)]

    mine, theirs = (program(xp) for xp in FRAMEWORKS)
    assert [each.stride() for each in mine] == [each.stride() for each in theirs]
    assert_close(mine, theirs, rtol=1e-4, atol=1e-4 if dtype == "float32" else 1e-9)


@pytest.mark.parametrize("layout", ["contiguous", "of transposed parts", "broadcast", "backwards", "gaps"])
def test_the_fused_kernel_reads_any_strides(kernel, layout):
    """(torch's own kernel reads the last two layouts wrongly. It is never called for them.)"""

    def program(xp):
        x = numbers(xp, 2, 6, 3, 24, seed=1)
        q, k, v = {
            "contiguous": lambda: [each.contiguous() for each in x.chunk(3, -1)],
            "of transposed parts": lambda: [each.transpose(1, 2) for each in x.chunk(3, -1)],
            "broadcast": lambda: [each[:1].expand(2, 6, 3, 8) for each in x.chunk(3, -1)],
            "backwards": lambda: [each.permute(3, 2, 1, 0) for each in x.chunk(3, -1)],
            "gaps": lambda: [x[..., i::3] for i in range(3)],
        }[layout]()
        copies = xp is torch and layout in ("backwards", "gaps")
        tensors = [(each.clone().contiguous() if copies else each.detach()).requires_grad_() for each in (q, k, v)]
        out, _ = xp.ops.aten._scaled_dot_product_flash_attention_for_cpu(*tensors, 0.0, True)
        return [each.tolist() for each in (out, *xp.autograd.grad(out.exp().sum(), tensors))]

    mine, theirs = (program(xp) for xp in FRAMEWORKS)
    for a, b in zip(mine, theirs):
        np.testing.assert_allclose(a, b, rtol=1e-9, atol=1e-12)


@in_one_test
@pytest.mark.parametrize("number", [float("inf"), -float("inf"), float("nan"), 1e30])
@pytest.mark.parametrize("of", [0, 1])
def test_numbers_that_are_not_finite_spread_as_in_torch(kernel, number, of):
    def program(xp):
        tensors = [numbers(xp, 1, 1, 6, 4, seed=i).abs() for i in range(3)]
        tensors[of][0, 0, 2] = number
        out, logsumexp = xp.ops.aten._scaled_dot_product_flash_attention_for_cpu(*tensors, 0.0, True)
        return [out.numpy(), logsumexp.numpy()]

    mine, theirs = (program(xp) for xp in FRAMEWORKS)
    if of == 0 and np.isnan(number):  # torch's kernels for newer CPUs give zeros for this query
        mine, theirs = ([np.delete(each, 2, 2) for each in found] for found in (mine, theirs))
    for a, b in zip(mine, theirs):
        np.testing.assert_allclose(a, b, rtol=1e-9)


@pytest.mark.parametrize(
    "call",
    [
        lambda fused, q: fused(q, q, q, 0.5),
        lambda fused, q: fused(q[0], q[0], q[0]),
        lambda fused, q: fused(q, q[..., :2], q),
        lambda fused, q: fused(q, q, q[..., :2]),
    ],
)
def test_the_fused_kernel_refuses_what_torchs_does(kernel, call):
    for xp in FRAMEWORKS:
        with pytest.raises(RuntimeError):
            call(xp.ops.aten._scaled_dot_product_flash_attention_for_cpu, numbers(xp, 1, 2, 3, 4))


def test_no_array_has_the_weights_of_all_queries_and_keys(kernel):
    length = 2048
    q, k, v = (numbers(rl, 1, 1, length, 4, seed=i).float().requires_grad_() for i in range(3))
    tracemalloc.start()
    rl.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True).sum().backward()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < length * length * 4 / 2


def test_a_machine_without_a_compiler_has_attention(monkeypatch):
    monkeypatch.setattr(codecache, "compiler", _no_compiler)
    attention.compiled_kernels.cache_clear()
    try:
        assert attention.compiled_kernels() is None
        assert rl.nn.functional.scaled_dot_product_attention(*[numbers(rl, 1, 1, 3, 4)] * 3).shape == (1, 1, 3, 4)
    finally:
        attention.compiled_kernels.cache_clear()


def _no_compiler():
    raise RuntimeError("there is no C++ compiler")


def test_importing_the_framework_loads_no_compiler():
    program = "import sys, rushlight; sys.exit('rushlight.inductor' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", program]).returncode == 0
