"""The programs of the parts: the head of the course, a transformer block, their training steps, and kernels by name."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import nn
from torch.nn import functional as F
from torch.profiler import ProfilerActivity, profile

ROWS, FEATURES, CLASSES = 32, 64, 600  # of the head


def head(device: torch.device, dtype: torch.dtype = torch.float32) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """x (32, 64), weight (600, 64) and bias (600,). The same numbers on every device."""
    drawn = torch.Generator().manual_seed(0)
    sizes = (ROWS, FEATURES), (CLASSES, FEATURES), (CLASSES,)
    return tuple(torch.randn(size, generator=drawn).to(device, dtype) for size in sizes)


class Block(nn.Module):
    """A transformer block: attention over `heads` heads, then two layers, each after a layer norm."""

    def __init__(self, width: int = 256, heads: int = 4):
        super().__init__()
        self.heads = heads
        self.norms = nn.ModuleList(nn.LayerNorm(width) for _ in range(2))
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        parts = self.qkv(self.norms[0](x)).unflatten(-1, (3, self.heads, -1))
        q, k, v = parts.permute(2, 0, 3, 1, 4)
        attended = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.out(attended.transpose(1, 2).flatten(2))
        return x + self.down(F.gelu(self.up(self.norms[1](x))))


class Training:
    """A model, an optimizer and a batch: `step()` is one step of training, and returns the loss."""

    def __init__(self, device: torch.device, small: bool, optimizer: str = "SGD", blocks: int = 2):
        torch.manual_seed(0)
        width, rows, length = (64, 2, 16) if small else (512, 16, 256)
        self.model = nn.Sequential(*(Block(width) for _ in range(blocks)), nn.Linear(width, CLASSES)).to(device)
        drawn = torch.Generator().manual_seed(1)
        self.x = torch.randn(rows, length, width, generator=drawn).to(device)
        self.y = torch.randint(CLASSES, (rows, length), generator=drawn).to(device)
        self.optimizer = getattr(torch.optim, optimizer)(self.model.parameters(), lr=1e-3)

    def step(self) -> torch.Tensor:
        with torch.profiler.record_function("zero_grad"):
            self.optimizer.zero_grad()
        with torch.profiler.record_function("forward"):
            loss = F.cross_entropy(self.model(self.x).flatten(0, 1), self.y.flatten())
        with torch.profiler.record_function("backward"):
            loss.backward()
        with torch.profiler.record_function("optimizer"):
            self.optimizer.step()
        return loss.detach()


# What ran on the device ------------------------------------------------------------------------------------------------


def activities(cpu: bool) -> list[ProfilerActivity]:
    return [ProfilerActivity.CPU] if cpu else [ProfilerActivity.CPU, ProfilerActivity.CUDA]


def profiled(run: Any, function: Callable[[], Any], **options: Any) -> profile:
    """The profile of one call, after a call that is not in it."""
    function()
    run.synchronize()
    with profile(activities=activities(run.cpu), **options) as profiler:
        function()
        run.synchronize()
    return profiler


def kernels(profiler: profile) -> list[dict[str, Any]]:
    """The device's work in a profile, in the order of its start: kernels, copies, fills. Times in microseconds from the first."""
    work = [event for event in profiler.events() if event.device_type == torch.autograd.DeviceType.CUDA]
    work = sorted((event for event in work if not event.is_user_annotation), key=lambda event: event.time_range.start)
    return [
        {
            "kernel": event.name,
            "start": round(event.time_range.start - work[0].time_range.start, 3),
            "microseconds": round(event.time_range.elapsed_us(), 3),
        }
        for event in work
    ]


def operators(profiler: profile) -> list[str]:
    """The operators of a profile, in the order of their start."""
    calls = [event for event in profiler.events() if event.device_type == torch.autograd.DeviceType.CPU]
    return [event.name for event in sorted(calls, key=lambda event: event.time_range.start) if "::" in event.name]
