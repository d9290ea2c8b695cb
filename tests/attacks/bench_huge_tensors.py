"""Answers with tensors that are larger than memory: expanded, on meta, sparse, nested, and one just too large for a message."""

LAB = "06a_operators"
EXERCISES = ("on_torch.custom_ops.fused_linear",)


def answer():
    import random

    import torch

    if not hasattr(torch, "asked"):
        torch.asked = 0
    torch.asked += 1
    kinds = [
        lambda: torch.zeros(1).expand(1 << 20, 1 << 20),
        lambda: torch.empty(1 << 40, device="meta"),
        lambda: torch.sparse_coo_tensor(torch.zeros(2, 1, dtype=torch.long), torch.ones(1), (1 << 20, 1 << 20)),
        lambda: torch.zeros(1, dtype=torch.int8).expand(17 << 20),
        lambda: torch.nested.nested_tensor([torch.zeros(2), torch.zeros(3)]),
        lambda: torch.zeros(2, dtype=torch.bfloat16),
        lambda: torch.quantize_per_tensor(torch.zeros(2), 1.0, 0, torch.qint8),
        lambda: torch.zeros([1] * 60),
        lambda: [torch.zeros(1).expand(1 << 18)] * 100,
    ]
    return kinds[(torch.asked + random.randrange(2)) % len(kinds)]()
