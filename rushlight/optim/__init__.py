"""Optimizers and learning rate schedulers. In PyTorch: `torch/optim/`."""

from rushlight.c10.packages import names_of
from rushlight.optim import lr_scheduler, optimizer
from rushlight.optim.optimizer import SGD, Adam, AdamW, Optimizer, adam, add_param_group, sgd
from rushlight.optim.rules import Adadelta, Adagrad, RMSprop

__all__ = [
    "Adadelta", "Adagrad", "Adam", "AdamW", "Optimizer", "RMSprop", "SGD", "adam", "add_param_group", "lr_scheduler",
    "optimizer", "sgd",
]  # fmt: skip
__getattr__ = names_of(__name__)
