"""The class `Module` and the modules that come with it.

    module, hooks, state_dict    registration, calling, saving and loading
    containers                   modules in lists and dicts
    layers, conv, lazy           layers with weights
    stateless                    layers and losses without weights, in tables
    rnn                          recurrent layers
    transformer                  attention, and the encoder of a transformer

In PyTorch: `torch/nn/modules/`.
"""

# ruff: noqa: F403
from rushlight.nn.modules import containers, conv, layers, lazy, module, rnn, stateless, transformer
from rushlight.nn.modules.containers import *
from rushlight.nn.modules.conv import *
from rushlight.nn.modules.layers import *
from rushlight.nn.modules.lazy import *
from rushlight.nn.modules.module import *
from rushlight.nn.modules.rnn import *
from rushlight.nn.modules.stateless import *
from rushlight.nn.modules.transformer import *

__all__ = [
    name for source in (containers, conv, layers, lazy, module, rnn, stateless, transformer) for name in source.__all__
]
