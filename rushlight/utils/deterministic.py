"""Whether `empty` and the like fill new memory, under `use_deterministic_algorithms`: with NaN, or the largest number.

In PyTorch: `torch/utils/deterministic.py`.
"""

import sys
from types import ModuleType

from rushlight.c10.context import context


class _Deterministic(ModuleType):
    @property
    def fill_uninitialized_memory(self) -> bool:
        return context.fill_uninitialized_memory

    @fill_uninitialized_memory.setter
    def fill_uninitialized_memory(self, mode: bool) -> None:
        context.fill_uninitialized_memory = mode


sys.modules[__name__].__class__ = _Deterministic
