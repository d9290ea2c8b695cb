"""What a script asks of `torch.cuda` before it chooses a device: there is no GPU here. In PyTorch: `torch/cuda/__init__.py`."""

from __future__ import annotations

__all__ = ["device_count", "is_available", "manual_seed", "manual_seed_all"]


def is_available() -> bool:
    return False


def device_count() -> int:
    return 0


def manual_seed(seed: int) -> None:
    """Nothing to do without a GPU, as in PyTorch."""


manual_seed_all = manual_seed


def __getattr__(name: str):
    raise AttributeError(f"rushlight leaves out cuda.{name}")
