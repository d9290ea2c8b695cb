"""Quantisation schemes: the values that share one scale, and where the zero point may be. In PyTorch:
`c10/core/QScheme.h`, and for Python `torch/csrc/utils/tensor_qschemes.cpp`.

Left out: `per_channel_affine_float_qparams`, whose zero points are floating-point numbers.
"""

__all__ = ["per_channel_affine", "per_channel_symmetric", "per_tensor_affine", "per_tensor_symmetric", "qscheme"]


class qscheme:
    """A scheme. `is_per_channel`: each channel has a scale of its own. `is_symmetric`: 0.0 is in the middle of the range."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.is_per_channel, self.is_symmetric = "channel" in name, "symmetric" in name

    def __repr__(self) -> str:
        return f"rushlight.{self.name}"

    def __reduce__(self) -> str:  # a copy or a pickle is the same object, so that `is` works
        return self.name


per_tensor_affine = qscheme("per_tensor_affine")
"""One scale and one zero point for the whole tensor."""
per_tensor_symmetric = qscheme("per_tensor_symmetric")
"""One scale for the whole tensor, and 0.0 in the middle of the range of integers."""
per_channel_affine = qscheme("per_channel_affine")
"""A scale and a zero point for each channel."""
per_channel_symmetric = qscheme("per_channel_symmetric")
"""A scale for each channel, and 0.0 in the middle of the range of integers."""
