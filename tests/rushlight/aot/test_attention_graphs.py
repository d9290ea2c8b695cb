"""A captured graph keeps attention whole, as torch's does on the CPU: one operator forward, and one backward."""

import numpy as np
import pytest
import torch
from both import FRAMEWORKS
from functorch.compile import aot_function, min_cut_rematerialization_partition
from torch.fx.experimental.proxy_tensor import make_fx
from torch.utils.flop_counter import FlopCounterMode

import rushlight as rl
from rushlight import aot
from rushlight.course.gpt import gpt

CASES = {
    "causal": dict(is_causal=True),
    "plain": {},
    "scaled": dict(scale=0.3),
    "a mask": dict(attn_mask="from the input"),
}


def numbers(xp, *sizes):
    return xp.from_numpy(np.random.default_rng(0).standard_normal(sizes).astype(np.float32))


def heads(xp, options):
    def program(x):
        given = dict(options, attn_mask=x[0, :, :6]) if "attn_mask" in options else options
        q, k, v = (each.unflatten(2, (2, 4)).transpose(1, 2) for each in x.split(8, 2))
        return xp.nn.functional.scaled_dot_product_attention(q, k, v, **given).transpose(1, 2).flatten(2)

    return program


def operators(graph):
    return [str(node.target).removeprefix("aten.") for node in graph.nodes if node.op == "call_function"]


@pytest.mark.parametrize("mode", ["real", "fake"])
@pytest.mark.parametrize("case", CASES)
def test_the_trace_has_torchs_operators(case, mode):
    mine, theirs = (
        make(heads(xp, CASES[case]), tracing_mode=mode)(numbers(xp, 2, 6, 24))
        for xp, make in zip(FRAMEWORKS, (aot.make_fx, make_fx))
    )
    assert operators(mine.graph) == operators(theirs.graph)
    assert "_scaled_dot_product_flash_attention_for_cpu.default" in operators(mine.graph)


def forward_and_backward(xp, program, x):
    """Both graphs, each as the code of its operators, and the gradient."""
    graphs = []

    def keep(module, inputs):
        graphs.append((operators(module.graph), len(module.graph.find_nodes(op="output")[0].args[0])))
        return module

    partition = aot.min_cut_rematerialization_partition if xp is rl else min_cut_rematerialization_partition
    compiled = (aot.aot_function if xp is rl else aot_function)(program, keep, partition_fn=partition)
    compiled(x.requires_grad_()).square().sum().backward()
    return graphs, torch.from_numpy(x.grad.numpy())


@pytest.mark.parametrize("case", ["causal", "plain", "scaled"])
def test_the_partitioner_saves_the_result_and_the_logsumexp_as_torchs_does(case):
    (mine, grad), (theirs, wanted) = (
        forward_and_backward(xp, heads(xp, CASES[case]), numbers(xp, 2, 6, 24)) for xp in FRAMEWORKS
    )
    assert mine == theirs
    torch.testing.assert_close(grad, wanted, rtol=1e-4, atol=1e-5)


def test_the_counter_of_flops_finds_as_many_as_torchs_on_the_cpu_and_on_the_meta_device():
    counts = []
    for xp, counter in zip(FRAMEWORKS, (rl.utils.flop_counter.FlopCounterMode, FlopCounterMode)):
        for device in "cpu", "meta":
            with counter(display=False) as found:
                heads(xp, CASES["causal"])(xp.ones(2, 6, 24, device=device))
            counts.append(found.get_total_flops())
    assert counts[:2] == counts[2:]


@pytest.mark.sweep
def test_the_compiled_minigpt_calls_attention_once_forward_and_once_backward_in_each_block(monkeypatch):
    texts = []
    inner = rl.inductor.compile_fx_inner

    def keep(module, inputs):
        compiled = inner(module, inputs)
        texts.append(compiled.python_text)
        return compiled

    monkeypatch.setattr(rl.inductor, "compile_fx_inner", keep)
    rl.manual_seed(0)
    model, tokens = gpt(rl, width=16, heads=2, layers=2, length=8), rl.arange(24).view(3, 8)
    results = []
    for forward in model, rl.compile(model):
        model.zero_grad()
        scores = forward(tokens)
        scores.square().sum().backward()
        results.append([scores.detach().numpy(), *(each.grad.numpy() for each in model.parameters())])
    for mine, eager in zip(*results[::-1]):
        np.testing.assert_allclose(mine, eager, rtol=1e-4, atol=1e-5)
    attention = "aten._scaled_dot_product_flash_attention_for_cpu"
    forward, backward = texts
    assert forward.count(f"# {attention}.default") == backward.count(f"# {attention}_backward.default") == 2
    assert "bmm" not in forward + backward
    assert "_safe_softmax" not in forward + backward
