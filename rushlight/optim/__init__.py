"""Optimizers and learning rate schedulers. In PyTorch: `torch/optim/`."""

from rushlight.optim import lr_scheduler, optimizer
from rushlight.optim.optimizer import SGD, Adagrad, Adam, AdamW, Optimizer, RMSprop, adam, add_param_group, sgd

__all__ = [
    "Adagrad", "Adam", "AdamW", "Optimizer", "RMSprop", "SGD", "adam", "add_param_group", "lr_scheduler", "optimizer", "sgd",
]  # fmt: skip
