"""Optimizers and learning rate schedulers. In PyTorch: `torch/optim/`."""

from rushlight.optim import lr_scheduler, optimizer
from rushlight.optim.optimizer import SGD, Adam, AdamW, Optimizer, adam, add_param_group, sgd
from rushlight.optim.rules import Adadelta, Adagrad, RMSprop

__all__ = [
    "Adadelta", "Adagrad", "Adam", "AdamW", "Optimizer", "RMSprop", "SGD", "adam", "add_param_group", "lr_scheduler",
    "optimizer", "sgd",
]  # fmt: skip


def __getattr__(name: str):
    raise AttributeError(f"module {__name__!r} has no {name!r}: rushlight leaves it out, or PyTorch has no such name")
