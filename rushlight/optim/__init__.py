"""Optimizers and learning rate schedulers. In PyTorch: `torch/optim/`."""

from rushlight.optim import lr_scheduler, optimizer, swa_utils
from rushlight.optim.optimizer import SGD, Adagrad, Adam, AdamW, Optimizer, RMSprop, adam, add_param_group, sgd

__all__ = [
    "Adagrad", "Adam", "AdamW", "Optimizer", "RMSprop", "SGD", "adam", "add_param_group", "lr_scheduler", "optimizer", "sgd",
    "swa_utils",
]  # fmt: skip


def __getattr__(name: str):
    raise AttributeError(f"module {__name__!r} has no {name!r}: rushlight leaves it out, or PyTorch has no such name")
