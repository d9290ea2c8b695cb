"""Modules that hold a model for several devices or processes. Here there is one of each. In PyTorch: `torch/nn/parallel/`."""

import sys
from contextlib import AbstractContextManager, nullcontext
from typing import Any

from rushlight.nn.modules import Module

__all__ = ["DataParallel", "DistributedDataParallel"]


class DataParallel(Module):
    """Call the module itself, because there are no devices to copy it to."""

    def __init__(self, module: Module, device_ids: Any = None, output_device: Any = None, dim: int = 0) -> None:
        super().__init__()
        self.module, self.device_ids = module, []

    def forward(self, *inputs: Any, **kwargs: Any) -> Any:
        return self.module(*inputs, **kwargs)


class DistributedDataParallel(DataParallel):
    """Call the module itself: the gradients of one rank are their own average."""

    def __init__(
        self, module: Module, device_ids: Any = None, output_device: Any = None, dim: int = 0, **_: Any
    ) -> None:
        dist = sys.modules.get("rushlight.distributed")
        if dist is None or not dist.is_initialized():
            raise ValueError("Default process group has not been initialized: call init_process_group")
        if not any(parameter.requires_grad for parameter in module.parameters()):
            raise RuntimeError("DistributedDataParallel is not needed: no parameter of the module requires a gradient")
        if device_ids:
            raise ValueError(f"DistributedDataParallel on the CPU has device_ids=None, not {device_ids}")
        super().__init__(module)

    def no_sync(self) -> AbstractContextManager:
        return nullcontext()
