"""Graphs that are changed, and what functions and containers print."""

import re

import torch
from torch import fx, nn
from torch.nn.modules.activation import MultiheadAttention
from torch.optim.optimizer import required


class Twice(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x * 2

    @staticmethod
    def backward(ctx, grad):
        return grad * 2


print(re.sub("0x.*", "", repr(Twice.apply(torch.ones(2, requires_grad=True)).grad_fn)))
print(nn.ParameterDict({"a": torch.zeros(2, 3), "b": nn.Parameter(torch.zeros(1)), "c": 4}))
print(torch.__version__, required, MultiheadAttention is nn.MultiheadAttention)
print(torch.ones(2).resize_as_(torch.zeros(2, 1)))


def program(x, w1, w2):
    first = torch.cat([torch.neg(w1), w2]).sum()
    second = torch.cat([torch.neg(w1), w2]).sum()
    return x + torch.max(first) + torch.max(second) + torch.relu(torch.relu(torch.relu(torch.relu(x))))


class Replacement(nn.Module):
    def __init__(self):
        super().__init__()
        self.act = nn.GELU()

    def forward(self, x):
        return self.act(x)


traced = fx.symbolic_trace(program)
for pattern, replacement in (
    (lambda a, b: torch.cat([torch.neg(a), b]).sum(), lambda a, b: torch.stack([a, b])),
    (lambda x: torch.relu(torch.relu(x)), lambda x: torch.tanh(x)),
    (lambda x: torch.tanh(torch.tanh(x)), Replacement()),
    (lambda x: torch.neg(x), lambda x: x),
):
    matches = fx.replace_pattern(traced, pattern, replacement)
    print([match.anchor.name for match in matches], traced.code)
print(traced(torch.zeros(2), torch.ones(2), torch.ones(2)), traced)
