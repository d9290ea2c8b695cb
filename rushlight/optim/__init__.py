"""Optimizers and learning rate schedulers. In PyTorch: `torch/optim/`."""

from rushlight.c10.packages import names_of
from rushlight.optim import lr_scheduler, optimizer, swa_utils
from rushlight.optim.lbfgs import LBFGS
from rushlight.optim.optimizer import SGD, Adam, AdamW, Optimizer, adam, add_param_group, sgd
from rushlight.optim.rules import ASGD, Adadelta, Adafactor, Adagrad, Adamax, Muon, NAdam, RAdam, RMSprop, Rprop

__all__ = [
    "ASGD", "Adadelta", "Adafactor", "Adagrad", "Adam", "AdamW", "Adamax", "LBFGS", "Muon", "NAdam", "Optimizer", "RAdam",
    "RMSprop", "Rprop", "SGD", "adam", "add_param_group", "lr_scheduler", "optimizer", "sgd", "swa_utils",
]  # fmt: skip
__getattr__ = names_of(__name__)
