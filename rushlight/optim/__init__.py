"""Optimizers and learning rate schedulers. In PyTorch: `torch/optim/`."""

from rushlight.optim import lr_scheduler, optimizer
from rushlight.optim.optimizer import (
    SGD,
    Adagrad,
    Adam,
    AdamW,
    Optimizer,
    RMSprop,
    adam,
    add_param_group,
    load_state_dict,
    sgd,
    state_dict,
)

__all__ = [
    "Adagrad", "Adam", "AdamW", "Optimizer", "RMSprop", "SGD", "adam", "add_param_group", "load_state_dict",
    "lr_scheduler", "optimizer", "sgd", "state_dict",
]  # fmt: skip
