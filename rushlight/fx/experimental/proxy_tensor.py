"""`make_fx` where PyTorch has it. `aot/proxy_tensor.py` explains it, and is imported when a program asks for a name."""

from importlib import import_module
from typing import Any


def __getattr__(name: str) -> Any:
    return getattr(import_module("rushlight.aot.proxy_tensor"), name)
