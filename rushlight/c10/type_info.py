"""The limits of element types: `finfo` for floating types, `iinfo` for integers. In PyTorch: `torch/csrc/TypeInfo.cpp`."""

import numpy as np

from rushlight.c10.dtypes import FLOATING, dtype, get_default_dtype, numpy_finfo, uint8

__all__ = ["finfo", "iinfo"]


class _TypeInfo:
    def __init__(self, type: dtype) -> None:
        name = self.__class__.__name__
        if not isinstance(type, dtype):
            got = f"must be torch.dtype, not {type.__class__.__name__}"
            raise TypeError(f"{name}(): argument 'type' (position 1) {got}")
        if type.category < uint8.category:
            raise TypeError(f"torch.{type.name} is not supported by torch.{name}")
        self.dtype, self.bits = type.name, type.itemsize * 8

    def __eq__(self, other: object) -> bool:
        return isinstance(other, self.__class__) and self.dtype == other.dtype


class finfo(_TypeInfo):
    """The limits of a floating type, by default of the default type: `bits`, `min`, `max`, `eps` (the distance from 1 to the next
    number), `tiny` or `smallest_normal`, `resolution` (ten to the power of minus the number of exact decimal digits).
    Source: `torch/csrc/TypeInfo.cpp`, `THPFInfo_pynew`."""

    def __init__(self, type: dtype | None = None) -> None:
        type = get_default_dtype() if type is None else type
        if isinstance(type, dtype) and type.category != FLOATING:
            use = "Use torch.iinfo to handle 'torch.finfo'"
            raise TypeError(f"torch.finfo() requires a floating point input type. {use}")
        super().__init__(type)
        limits = numpy_finfo(type)
        self.min, self.max, self.eps = float(limits.min), float(limits.max), float(limits.eps)
        self.tiny = self.smallest_normal = float(limits.tiny)
        self.resolution = float(f"1e-{limits.precision}")

    def __repr__(self) -> str:
        limits = ("resolution", "min", "max", "eps", "smallest_normal", "tiny")
        return f"finfo({', '.join(f'{name}={getattr(self, name):g}' for name in limits)}, dtype={self.dtype})"


class iinfo(_TypeInfo):
    """The limits of an integer type: `bits`, `min`, `max`. Source: `torch/csrc/TypeInfo.cpp`, `THPIInfo_pynew`."""

    def __init__(self, type: dtype) -> None:
        if isinstance(type, dtype) and type.category == FLOATING:
            raise TypeError("torch.iinfo() requires an integer input type. Use torch.finfo to handle 'torch.iinfo'")
        super().__init__(type)
        limits = np.iinfo(type.numpy)
        self.min, self.max = int(limits.min), int(limits.max)

    def __repr__(self) -> str:
        return f"iinfo(min={self.min:g}, max={self.max:g}, dtype={self.dtype})"
