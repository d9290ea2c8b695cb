"""PyTorch's namespace `torch.utils`, with `data`, `checkpoint`, `benchmark`, `flop_counter` and `cpp_extension`."""

from importlib import import_module

from rushlight.utils import checkpoint, data

__all__ = ["checkpoint", "data"]


def __getattr__(name: str):
    if name in ("benchmark", "flop_counter", "_pytree"):  # only some programs need them
        return import_module(f"rushlight.utils.{name}")
    raise AttributeError(f"module {__name__!r} has no {name!r}: rushlight leaves it out, or PyTorch has no such name")
