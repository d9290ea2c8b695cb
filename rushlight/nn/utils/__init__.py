"""Functions on the parameters of a module: gradient clipping, normalised weights, parameters as one vector. And packed sequences.
In PyTorch: `torch/nn/utils/`.
"""

from collections.abc import Iterable

from rushlight.aten.generated import functions
from rushlight.aten.strided import Tensor
from rushlight.c10.packages import names_of
from rushlight.nn.utils import fusion, parametrize, rnn
from rushlight.nn.utils.clip_grad import (
    clip_grad_norm,
    clip_grad_norm_,
    clip_grad_value_,
    clip_grads_with_norm_,
    get_total_norm,
)
from rushlight.nn.utils.fusion import fuse_conv_bn_eval, fuse_conv_bn_weights, fuse_linear_bn_eval
from rushlight.nn.utils.norms import remove_weight_norm, weight_norm

__all__ = [
    "clip_grad_norm", "clip_grad_norm_", "clip_grad_value_", "clip_grads_with_norm_", "fuse_conv_bn_eval",
    "fuse_conv_bn_weights", "fuse_linear_bn_eval", "fusion", "get_total_norm", "parameters_to_vector", "parametrize",
    "remove_weight_norm", "rnn", "vector_to_parameters", "weight_norm",
]  # fmt: skip


def parameters_to_vector(parameters: Iterable[Tensor]) -> Tensor:
    """All elements of all parameters in one dimension. Source: `torch/nn/utils/convert_parameters.py`."""
    return functions.cat([parameter.view(-1) for parameter in parameters])


def vector_to_parameters(vec: Tensor, parameters: Iterable[Tensor]) -> None:
    """Make the parameters consecutive slices of the vector: they share its memory."""
    if not isinstance(vec, Tensor):
        raise TypeError(f"expected a Tensor, but got: {type(vec).__name__}")
    start = 0
    for parameter in parameters:
        end = start + parameter.numel()
        parameter.data = vec[start:end].view_as(parameter).data
        start = end


__getattr__ = names_of(__name__)
