"""Optimizers and learning rate schedulers. In PyTorch: `torch/optim/`."""

from rushlight.optim import lr_scheduler, optimizer, swa_utils
from rushlight.optim.lbfgs import LBFGS
from rushlight.optim.optimizer import SGD, Adam, AdamW, Optimizer, adam, add_param_group, sgd
from rushlight.optim.rules import ASGD, Adadelta, Adagrad, Adamax, NAdam, RAdam, RMSprop, Rprop

__all__ = [
    "ASGD", "Adadelta", "Adagrad", "Adam", "AdamW", "Adamax", "LBFGS", "NAdam", "Optimizer", "RAdam", "RMSprop", "Rprop", "SGD",
    "adam", "add_param_group", "lr_scheduler", "optimizer", "sgd", "swa_utils",
]  # fmt: skip


def __getattr__(name: str):
    raise AttributeError(f"module {__name__!r} has no {name!r}: rushlight leaves it out, or PyTorch has no such name")
