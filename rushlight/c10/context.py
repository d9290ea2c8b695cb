"""The settings of a process that no thread has for itself. In PyTorch: `aten/src/ATen/Context.h`."""

from dataclasses import dataclass


@dataclass
class Context:
    """The global settings of a process that kernels read. Source: `aten/src/ATen/Context.h`, `Context`."""

    deterministic_algorithms: bool = False
    deterministic_algorithms_warn_only: bool = False
    fill_uninitialized_memory: bool = True  # under deterministic algorithms
    float32_matmul_precision: str = "highest"


context = Context()
