"""What lies under a tensor: bytes, the device they are on, and the tuple that counts elements.

In PyTorch these are `c10/core/StorageImpl.h`, `c10/core/Device.h` and `torch/csrc/Size.cpp`. Left out:
allocators, other devices, resizing, and typed storages.
"""

from __future__ import annotations

import ctypes
import math

import numpy as np

__all__ = ["Size", "UntypedStorage", "device", "layout"]


class Size(tuple):
    """The sizes of a tensor: a tuple that can count elements. Slices and sums of it are `Size` too."""

    def numel(self) -> int:
        return math.prod(self)

    def __getitem__(self, key):
        item = tuple.__getitem__(self, key)
        return Size(item) if isinstance(item, tuple) else item

    def __add__(self, other: tuple) -> Size:
        return Size(tuple.__add__(self, other))

    def __repr__(self) -> str:
        return f"rushlight.Size({list(self)})"


class UntypedStorage:
    """`nbytes` bytes of memory, shared by every tensor that views it.

    The memory is our own, or, through `from_address`, somebody else's; then `owner` is kept alive as long as
    anyone, numpy arrays included, can reach the bytes.

    Source: `c10/core/StorageImpl.h`.
    """

    def __init__(self, nbytes: int) -> None:
        self._bytes = np.empty(nbytes, np.uint8)

    @classmethod
    def from_address(cls, address: int, nbytes: int, owner: object) -> UntypedStorage:
        memory = (ctypes.c_uint8 * nbytes).from_address(address)
        memory.owner = owner  # numpy arrays keep `memory` as their base, and so keep the owner
        self = cls.__new__(cls)
        self._bytes = np.ndarray((nbytes,), np.uint8, buffer=memory)
        return self

    def data_ptr(self) -> int:
        """Address of the first byte; 0 if there is none."""
        return self._bytes.ctypes.data if self.nbytes() else 0

    def nbytes(self) -> int:
        return self._bytes.size

    def __len__(self) -> int:
        return self.nbytes()

    def __repr__(self) -> str:
        return f"<rushlight.UntypedStorage of {self.nbytes()} bytes at {self.data_ptr():#x}>"


class device:
    """Where the memory is. There is one device here, `cpu`."""

    def __init__(self, type: str = "cpu") -> None:
        if type != "cpu":
            raise RuntimeError(f"rushlight has the device 'cpu' only, not {type!r}")
        self.type, self.index = type, None

    def __eq__(self, other: object) -> bool:
        return isinstance(other, device) and other.type == self.type

    def __hash__(self) -> int:
        return hash(self.type)

    def __str__(self) -> str:
        return self.type

    def __repr__(self) -> str:
        return f"device(type={self.type!r})"


class layout:
    """How a tensor finds its elements. There is one way here, `strided`."""

    def __repr__(self) -> str:
        return "rushlight.strided"


strided_layout = layout()
