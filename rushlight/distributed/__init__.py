"""Distributed training on torch's own process groups: what each strategy sends, when, and how many bytes. A program that was
written for `torch.distributed` finds a process group of one rank here."""

# ruff: noqa: F403, F405
from rushlight.backends import own_functions
from rushlight.distributed.distributed_c10d import *
from rushlight.distributed.failures import RanksFailed
from rushlight.distributed.ranks import backend, describe_devices, device, run_ranks

__all__ = ["RanksFailed", "Traffic", "backend", "describe_devices", "device", "run_ranks"]
globals().update(own_functions(f"{__name__}.distributed_c10d", globals()))


def is_available() -> bool:
    """Whether this build has distributed communication."""
    return True


def __getattr__(name: str):
    if name == "Traffic":
        from rushlight.distributed.traffic import Traffic  # imports torch

        return Traffic
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
