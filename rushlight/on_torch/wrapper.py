"""A tensor made of two others: `__torch_dispatch__`.

A `QuantisedTensor` looks like a matrix of floats from outside, and holds a matrix of int8 and a scale per row. It has no
memory of its own. Every operator that reaches it, below autograd and every other layer of the dispatcher, calls one Python
function, which decides whether to stay quantised, to compute in another order, or to convert to a plain tensor first. Sharded
parameters (DTensor), quantised weights (torchao) and the fake tensors of the compiler work in the same way.

In PyTorch: `torch/_tensor.py` (`_make_wrapper_subclass` in C++), `torch/utils/_python_dispatch.py`,
`torch/csrc/autograd/python_variable.cpp`. Left out: more than two dimensions, gradients for the scale.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode, return_and_correct_aliasing

aten = torch.ops.aten

# The wrapper ---------------------------------------------------------------------------------------------------------


class QuantisedTensor(torch.Tensor):
    """A matrix of floats, `int_data * scale`, where `scale` has one number for each index of the dimension `axis`.

    Attributes:
        int_data: int8, (rows, columns), any strides.
        scale: floating, (rows,) if `axis` is 0, (columns,) if it is 1. Its dtype is the wrapper's.
        axis: 0 or 1.
    """

    @staticmethod
    def __new__(cls, int_data: torch.Tensor, scale: torch.Tensor, axis: int) -> QuantisedTensor:
        # sizes, strides, a dtype and a device for other code to see, and no memory
        return torch.Tensor._make_wrapper_subclass(
            cls, int_data.size(), strides=int_data.stride(), dtype=scale.dtype, device=int_data.device
        )

    def __init__(self, int_data: torch.Tensor, scale: torch.Tensor, axis: int):
        self.int_data, self.scale, self.axis = int_data, scale, axis

    def dequantise(self) -> torch.Tensor:
        """The matrix as a plain tensor, of the dtype of `scale`."""
        return self.int_data.to(self.scale.dtype) * self.scale.unsqueeze(1 - self.axis)

    def __repr__(self, *, tensor_contents: Any = None) -> str:
        return f"QuantisedTensor({self.int_data}, scale={self.scale}, axis={self.axis})"

    # Python functions (`torch.relu`, `Tensor.sum`) need no interception, because all of them call operators. Without this line
    # torch would convert each of their results to a QuantisedTensor.
    __torch_function__ = torch._C._disabled_torch_function_impl

    @classmethod
    def __torch_dispatch__(cls, func: Any, types: tuple, args: tuple = (), kwargs: dict | None = None) -> Any:
        return quantised_dispatch(func, types, args, kwargs or {})

    # For the compiler, which traces the inner tensors: their names, and how to rebuild the wrapper.

    def __tensor_flatten__(self) -> tuple[list[str], int]:
        return ["int_data", "scale"], self.axis

    @staticmethod
    def __tensor_unflatten__(inner: dict[str, torch.Tensor], axis: int, size: Any, stride: Any) -> QuantisedTensor:
        return QuantisedTensor(inner["int_data"], inner["scale"], axis)


def quantise(x: torch.Tensor) -> QuantisedTensor:
    """Quantise a matrix of float32 or float64, with a scale for each of its rows."""
    return QuantisedTensor(*quantise_rows(x.detach()), axis=0)


def quantise_rows(x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """The rows of a matrix in int8, each with a scale of its own.

    The largest magnitude in a row becomes 127 or -127; a row of zeros has the scale 1, and zeros.

    Args:
        x: (rows, columns) with at least one column, any strides, float32 or float64. It is not changed. The scale of a row
            that is not zero is a normal number (no subnormal one). (In bfloat16, which has eight bits of precision, the
            quotient could round to 128, and int8 has no such number.)

    Returns:
        two tensors, in a tuple or a list.
        int8, (rows, columns): `x / scale` of its row, rounded to the nearest integer, a half to the even one.
        scale, (rows,), in the dtype of `x`: the largest magnitude in the row divided by 127.

    May call: elementwise arithmetic, comparisons and rounding (also `where`, `maximum` and `clamp`), reductions by maximum and
    minimum, indices and masks, casts and views; nothing of PyTorch's own quantisation (`quantize_per_channel`,
    `fake_quantize_...`).

    >>> quantise_rows(torch.tensor([[0.5, -1.0, 0.25]]))
    (tensor([[  64, -127,   32]], dtype=torch.int8), tensor([0.0079]))

    Source: `torch/ao/quantization/fx/_decomposed.py`, `quantize_per_channel`; torchao's `quantize_affine`.
    """
    scale = x.abs().amax(1) / 127
    scale = torch.where(scale == 0, 1, scale)
    return torch.round(x / scale.unsqueeze(1)).to(torch.int8), scale


# Handlers of __torch_dispatch__ --------------------------------------------------------------------------------------


def map_quantised(function: Callable[[QuantisedTensor], Any], tree: Any) -> Any:
    """A tree of arguments in which `function(q)` replaces each QuantisedTensor q, also one of a subclass.

    Args:
        tree: a QuantisedTensor, or a tuple, a list, a dict (its values) of trees, or anything else. Of the subclasses of
            tuple, list and dict, only named tuples occur.

    Returns:
        tuples, lists, dicts and named tuples with the same types, keys and order. The lists and dicts are new ones, even if
        they contain nothing quantised. Anything else, including a plain tensor or a set, is the same object as before.
        `function` is called in the order of the tree.

    May call: nothing of `torch.utils._pytree`.

    >>> q = QuantisedTensor(torch.ones(2, 3, dtype=torch.int8), torch.ones(2), 0)
    >>> map_quantised(lambda q: q.axis, ([q, 5], {"x": q, "y": None}))
    ([0, 5], {'x': 0, 'y': None})

    Source: `torch/utils/_pytree.py`, `tree_map_only`.
    """
    if isinstance(tree, QuantisedTensor):
        return function(tree)
    if isinstance(tree, dict):
        return {key: map_quantised(function, value) for key, value in tree.items()}
    if isinstance(tree, tuple | list):
        items = [map_quantised(function, item) for item in tree]
        return type(tree)(*items) if hasattr(tree, "_fields") else type(tree)(items)
    return tree


def quantised_mm(x: torch.Tensor, q: QuantisedTensor) -> torch.Tensor:
    """`x @ q`, without computing the matrix of floats that `q` represents.

    A scale of a column of `q` is a factor of a column of the product; a scale of a row of `q` is a factor of a column of `x`.
    So the product is taken with the int8 matrix, cast to the dtype of `x`, and the scale multiplies another matrix.

    Args:
        x: (n, k), of the dtype of `q`, any strides, plain.
        q: (k, m), quantised on either axis.

    Returns:
        (n, m), plain and new; `x` and `q` do not change. On the way no operator except casts and views gives a result of the
            sizes of `q`.

    >>> q = QuantisedTensor(torch.tensor([[1, 2]], dtype=torch.int8), torch.tensor([0.5, 10.0]), 1)
    >>> quantised_mm(torch.tensor([[3.0]]), q)
    tensor([[ 1.5000, 60.0000]])

    Source: torchao, `quantize_/workflows`, the weight-only int8 linear; `torch._weight_int8pack_mm`.
    """
    factors = q.int_data.to(x.dtype)
    return (x @ factors) * q.scale if q.axis else (x * q.scale) @ factors


def quantised_dispatch(func: Any, types: tuple, args: tuple, kwargs: dict) -> Any:
    """Run an operator with at least one quantised argument.

    `aten.detach.default`, `aten.clone.default`: quantised again, on the same axis, made of the same operator's results on
    `int_data` and `scale`.
    `aten.t.default`, `aten.transpose.int`: quantised, a view: `int_data` shares the memory, and the scale moves with its
    dimension.
    (These four return through `return_and_correct_aliasing(func, args, kwargs, out)`, which tells torch which results are
    views. Of an argument of a subclass, the result may be of this subclass or a plain `QuantisedTensor`.)
    `aten.mm.default`, `aten.addmm.default` with `beta` and `alpha`: `quantised_mm`, if the last matrix of the product is
    quantised, also if it is of a subclass. (If both matrices are, a product of plain tensors is right, too.) If `beta` is 0,
    the numbers of the first argument do not matter, not even a NaN.
    An operator that may write into a quantised argument, or into a list that contains one (`is_write` of
    `func._schema.arguments`): returns NotImplemented, and torch raises a TypeError. (It would write into a copy.)
    Any other operator: called with plain tensors instead of quantised ones, anywhere in `args` and `kwargs`.

    Args:
        func: the operator, an OpOverload such as `aten.mm.default`.
        types: the classes of its arguments that have a `__torch_dispatch__`.
        args, kwargs: its arguments, a tuple and a dict.

    >>> q = QuantisedTensor(torch.tensor([[1, 2]], dtype=torch.int8), torch.tensor([0.5]), 0)
    >>> quantised_dispatch(aten.add.Tensor, (QuantisedTensor,), (q, 1), {})
    tensor([[1.5000, 2.0000]])
    >>> quantised_dispatch(aten.add_.Tensor, (QuantisedTensor,), (q, 1), {})
    NotImplemented

    Source: `torch/csrc/autograd/python_variable.cpp`, `concrete_dispatch_fn`; torchao, `AffineQuantizedTensor`.
    """
    if func in (aten.detach.default, aten.clone.default):
        [q] = args
        out = QuantisedTensor(func(q.int_data, **kwargs), func(q.scale), q.axis)
        return return_and_correct_aliasing(func, args, kwargs, out)
    if func in (aten.t.default, aten.transpose.int):
        q = args[0]
        exchanged = func is aten.t.default or args[1] % 2 != args[2] % 2
        out = QuantisedTensor(func(q.int_data, *args[1:]), q.scale, 1 - q.axis if exchanged else q.axis)
        return return_and_correct_aliasing(func, args, kwargs, out)
    if func in (aten.mm.default, aten.addmm.default) and isinstance(args[-1], QuantisedTensor):
        product = quantised_mm(*args[-2:])
        if func is aten.mm.default:
            return product
        beta, product = kwargs.get("beta", 1), kwargs.get("alpha", 1) * product
        return product + beta * args[0] if beta else product
    for place, argument in enumerate(func._schema.arguments):
        value, tensors = args[place] if place < len(args) else kwargs.get(argument.name), []
        map_quantised(tensors.append, value)
        if argument.is_write and tensors:
            return NotImplemented
    args, kwargs = map_quantised(QuantisedTensor.dequantise, (args, kwargs))
    return func(*args, **kwargs)


# A mode: the same hook, for all tensors ------------------------------------------------------------------------------


class CountOperators(TorchDispatchMode):
    """A mode that records in `calls` the operators that are called with any tensors: name, and sizes of the result. It is
    called before any tensor's own `__torch_dispatch__`, and does not see the operators that run below it. Source:
    `torch/utils/_python_dispatch.py`; `torch/utils/flop_counter.py` counts in this way."""

    def __init__(self):
        super().__init__()
        self.calls: list[tuple[str, tuple[int, ...] | None]] = []

    def __torch_dispatch__(self, func: Any, types: tuple, args: tuple = (), kwargs: dict | None = None) -> Any:
        result = func(*args, **(kwargs or {}))
        self.calls.append((str(func), tuple(result.shape) if isinstance(result, torch.Tensor) else None))
        return result

    def counts(self) -> dict[str, int]:
        """The number of calls of each operator, the most frequent first."""
        return dict(Counter(name for name, _ in self.calls).most_common())
