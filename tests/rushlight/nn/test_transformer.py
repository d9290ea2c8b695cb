"""Attention layers agree with torch beyond its samples: for inference, with every kind of mask, and in what they refuse."""

import math

import numpy as np
import pytest
import torch
from both import FRAMEWORKS, agree
from torch.testing import assert_close

import rushlight as rl


def numbers(xp, *sizes, seed=0):
    return xp.from_numpy(np.random.default_rng(seed).standard_normal(sizes))


def filled(xp, module):
    """With the same parameters in both frameworks."""
    state = module.double().state_dict()
    module.load_state_dict({name: numbers(xp, *x.shape, seed=i) / 4 for i, (name, x) in enumerate(state.items())})
    return module


def padding(xp):
    return xp.tensor([[False, False, False, True], [False, False, True, True]])


def encoder(xp, **options):
    layer = xp.nn.TransformerEncoderLayer(4, 2, 8, batch_first=True, **options)
    return filled(xp, xp.nn.TransformerEncoder(layer, 2, xp.nn.LayerNorm(4)))


PROGRAMS = {
    "inference with padding": lambda xp, x: encoder(xp).eval()(x, src_key_padding_mask=padding(xp)),
    "inference with padding first": lambda xp, x: encoder(xp).eval()(x, src_key_padding_mask=padding(xp).flip(1)),
    "inference with a mask": lambda xp, x: encoder(xp).eval()(x, xp.full((4, 4), -math.inf).triu(1)),
    "inference, norm first": lambda xp, x: encoder(xp, norm_first=True).eval()(x, src_key_padding_mask=padding(xp)),
    "inference of a layer": lambda xp, x: encoder(xp, activation="gelu").eval().layers[0](x, src_key_padding_mask=padding(xp)),
    "weights for inference": lambda xp, x: filled(xp, xp.nn.MultiheadAttention(4, 2, batch_first=True)).eval()(x, x, x),
    "a causal hint": lambda xp, x: filled(xp, xp.nn.MultiheadAttention(4, 2, batch_first=True))(
        x, x, x, attn_mask=xp.full((4, 4), -math.inf).triu(1), is_causal=True, need_weights=False
    )[0],
    "cross attention with all": lambda xp, x: filled(
        xp, xp.nn.MultiheadAttention(4, 2, batch_first=True, add_bias_kv=True, add_zero_attn=True, kdim=3, vdim=5)
    )(
        x,
        numbers(xp, 2, 6, 3, seed=8),
        numbers(xp, 2, 6, 5, seed=9),
        attn_mask=numbers(xp, 4, 4, 6, seed=7),
        key_padding_mask=numbers(xp, 2, 6, seed=6),
        average_attn_weights=False,
    ),
}  # fmt: skip


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", PROGRAMS)
def test_attention_layers_give_torchs_numbers(name):
    found = []
    for xp in FRAMEWORKS:
        with xp.no_grad():
            result = PROGRAMS[name](xp, numbers(xp, 2, 4, 4))
        found.append([torch.from_numpy(x.numpy()) for x in (result if isinstance(result, tuple) else [result])])
    assert_close(*found)


@pytest.mark.parametrize("backend", ["aot_eager"])
def test_an_encoder_layer_is_compiled(backend):
    results = []
    for compiled in (False, True):
        module = encoder(rl, dropout=0.0).layers[0]
        x = numbers(rl, 2, 4, 4).requires_grad_()
        result = (rl.compile(module, backend=backend, fullgraph=True) if compiled else module)(
            x, src_key_padding_mask=padding(rl)
        )
        result.square().sum().backward()
        results.append(
            [torch.from_numpy(each.detach().numpy()) for each in (result, x.grad, module.linear1.weight.grad)]
        )
    assert_close(*results)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    "program",
    [
        lambda nn, x, xp: nn.MultiheadAttention(0, 1),
        lambda nn, x, xp: nn.MultiheadAttention(4, 3),
        lambda nn, x, xp: nn.MultiheadAttention(4, 2)(x[0, 0], x, x),
        lambda nn, x, xp: nn.MultiheadAttention(4, 2)(x[0], x, x),
        lambda nn, x, xp: nn.MultiheadAttention(4, 2)(x, x, x[:, :3]),
        lambda nn, x, xp: nn.MultiheadAttention(8, 2)(x, x, x),
        lambda nn, x, xp: nn.MultiheadAttention(4, 2)(x, x, x, attn_mask=x[0, 0]),
        lambda nn, x, xp: nn.MultiheadAttention(4, 2)(x, x, x, attn_mask=xp.ones(3, 2)),
        lambda nn, x, xp: nn.MultiheadAttention(4, 2)(x, x, x, attn_mask=xp.ones(2, 2).long()),
        lambda nn, x, xp: nn.MultiheadAttention(4, 2)(x, x, x, key_padding_mask=xp.ones(2, 2)),
        lambda nn, x, xp: nn.MultiheadAttention(4, 2)(x, x, x, key_padding_mask=xp.ones(2)),
        lambda nn, x, xp: nn.MultiheadAttention(4, 2)(x, x, x, is_causal=True),
        lambda nn, x, xp: nn.MultiheadAttention(4, 2, bias=False),
        lambda nn, x, xp: [(name, p.shape) for name, p in nn.MultiheadAttention(4, 2, kdim=3, add_bias_kv=True).named_parameters()],
        lambda nn, x, xp: nn.MultiheadAttention(4, 2).in_proj_bias,
        lambda nn, x, xp: nn.TransformerEncoderLayer(4, 2, activation="tanh"),
        lambda nn, x, xp: [each := nn.TransformerEncoderLayer(4, 2), list(each.state_dict()), each.activation.__name__],
        lambda nn, x, xp: nn.TransformerEncoder(nn.TransformerEncoderLayer(4, 2), 2).use_nested_tensor,
        lambda nn, x, xp: nn.TransformerEncoder(nn.TransformerEncoderLayer(4, 2, batch_first=True), 2).use_nested_tensor,
        lambda nn, x, xp: len({*nn.TransformerEncoder(nn.TransformerEncoderLayer(4, 2), 3).parameters()}),
    ],
)  # fmt: skip
def test_what_attention_layers_do_otherwise_is_torchs(program):
    agree(lambda xp: program(xp.nn, numbers(xp, 2, 4, 4).float(), xp))
