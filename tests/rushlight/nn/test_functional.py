"""`rl.nn.functional` is called as torch's is, and chooses between operators as torch does."""

import inspect

import pytest
import torch
from both import agree
from sweep import in_one_test

import rushlight as rl

NAMES = rl.nn.functional.__all__


@in_one_test
@pytest.mark.parametrize("name", NAMES)
def test_a_function_takes_what_torchs_takes(name):
    ours, theirs = getattr(rl.nn.functional, name), getattr(torch.nn.functional, name)
    if inspect.isfunction(theirs):  # of one written in C++ there is no signature to compare
        parameters = [
            [(each.name, each.default) for each in inspect.signature(function).parameters.values()]
            for function in (ours, theirs)
        ]
        if parameters[1][-1:] != [("kwargs", inspect.Parameter.empty)]:
            assert parameters[0] == parameters[1]


@in_one_test
@pytest.mark.parametrize(
    "program",
    [
        lambda F, x: (F.relu(x), x),
        lambda F, x: (F.relu(x, inplace=True), x),
        lambda F, x: (F.leaky_relu(x, 0.5, inplace=True), x),
        lambda F, x: (F.hardtanh(x, -2.0, 0.5, True), x),
        lambda F, x: F.hardtanh(x, 2.0, 0.5),
        lambda F, x: F.relu_(x),
        lambda F, x: F.softmax(x).shape,
        lambda F, x: F.softmax(x, 1, dtype=x.double().dtype).dtype,
        lambda F, x: F.softmin(x * 0, -1),
        lambda F, x: F.mse_loss(x, x[:1], reduction="none"),
        lambda F, x: F.mse_loss(x, x + 1, size_average=False),
        lambda F, x: F.mse_loss(x, x + 1, reduce=False),
        lambda F, x: F.l1_loss(x, x + 1, weight=x.abs() + 1),
        lambda F, x: F.huber_loss(x, x + 1, weight=x.abs() + 1),
        lambda F, x: F.smooth_l1_loss(x, x + 1, beta=0.0),
        lambda F, x: F.dropout(x, -0.1),
        lambda F, x: F.cosine_similarity(x.long(), x.long()),
        lambda F, x: F.cosine_similarity(x, x, 2),
        lambda F, x: F.cosine_similarity(x, x[:, :2]),
        lambda F, x: F.cosine_similarity(x * 0, x),
        lambda F, x: [x.requires_grad_(), F.cosine_similarity(x * 0, x).sum().backward(), x.grad][2],
        lambda F, x: F.binary_cross_entropy(x, x.abs() / 2),
        lambda F, x: F.binary_cross_entropy(x.abs() / 2, x),
        lambda F, x: F.binary_cross_entropy(x.abs() / 2, x[:1]),
        lambda F, x: F.binary_cross_entropy(x.abs() / 2, x.abs().double() / 2),
        lambda F, x: F.binary_cross_entropy(x.abs() / 2, x.abs() / 2, x.expand(2, 2, 3)),
        lambda F, x: F.binary_cross_entropy(x.requires_grad_().abs() / 2, x.abs() / 2, x),
        lambda F, x: F.binary_cross_entropy(x.long(), x.long()),
        lambda F, x: F.binary_cross_entropy(x[:0], x[:0]),
        lambda F, x: F.kl_div(x, x.double()).dtype,
        lambda F, x: F.kl_div(x, x, reduction="most"),
        lambda F, x: F.embedding(x.long().abs(), x, padding_idx=-3),
    ],
)
def test_a_call_agrees_with_torch(program):
    agree(lambda xp: program(xp.nn.functional, xp.tensor([[-2.0, 1.0, 0.0], [1.0, 0.0, -1.0]])))
