"""Quantisation schemes: the values that share one scale, and where the zero point may be. In PyTorch: `c10/core/QScheme.h`.

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
per_tensor_symmetric = qscheme("per_tensor_symmetric")
per_channel_affine = qscheme("per_channel_affine")
per_channel_symmetric = qscheme("per_channel_symmetric")
