"""Distributed training on torch's own process groups: what each strategy sends, when, and how many bytes."""

from rushlight.distributed.failures import RanksFailed
from rushlight.distributed.ranks import backend, device, run_ranks
from rushlight.distributed.traffic import Traffic

__all__ = ["RanksFailed", "Traffic", "backend", "device", "run_ranks"]
