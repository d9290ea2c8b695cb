"""Functions that kernels in Triton call, and the interpreter that runs kernels without a GPU.

A function with `@jit` is written in Triton: a kernel for a GPU is compiled together with it. Triton's interpreter runs kernels as
Python, with a numpy array for each block. It has no `libdevice`, the functions of CUDA's own library, and reduces one element after
another if the operation is not built in. So numpy's functions take the place of these. In PyTorch:
`torch/_inductor/runtime/triton_helpers.py`.
"""

import math as pymath
import os
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from types import SimpleNamespace
from typing import Any

import numpy as np
import triton
import triton.language as tl
from triton._utils import canonicalize_dtype
from triton.language import math  # noqa: F401  (kernels import it)
from triton.runtime import interpreter

INTERPRETED = os.environ.get("TRITON_INTERPRET", "1") != "0"
jit = (lambda function: function) if INTERPRETED else triton.jit

# In Triton -----------------------------------------------------------------------------------------------------------


@jit
def maximum(a, b):
    """The greater of two elements. NaN wins. Source: `torch/_inductor/runtime/triton_helpers.py`, `maximum`."""
    mask = a > b
    if a.dtype.is_floating():
        mask |= a != a  # NaN, if one of the two is NaN
    return tl.where(mask, a, b)


@jit
def minimum(a, b):
    """The smaller of two elements. NaN wins. Source: `torch/_inductor/runtime/triton_helpers.py`, `minimum`."""
    mask = a < b
    if a.dtype.is_floating():
        mask |= a != a
    return tl.where(mask, a, b)


@jit
def remainder(a, b):
    """The remainder with the sign of the divisor, as Python's `%`. Source: `torch/_inductor/runtime/triton_helpers.py`,
    `remainder_integer`."""
    rest = libdevice.fmod(a, b)
    return tl.where((rest != 0) & ((rest < 0) != (b < 0)), rest + b, rest)


@jit
def maximum_with_index(a, a_index, b, b_index):
    """The greater of two elements with its index. NaN wins, and of two equal elements the one with the lower index.
    Source: `torch/_inductor/runtime/triton_helpers.py`, `maximum_with_index`."""
    mask, equal = a > b, a == b
    if a.dtype.is_floating():
        mask |= (a != a) & (b == b)
        equal |= (a != a) & (b != b)
    mask |= equal & (a_index < b_index)
    return tl.where(mask, a, b), tl.where(mask, a_index, b_index)


@jit
def minimum_with_index(a, a_index, b, b_index):
    """The smaller of two elements with its index. NaN wins, and of two equal elements the one with the lower index.
    Source: `torch/_inductor/runtime/triton_helpers.py`, `minimum_with_index`."""
    mask, equal = a < b, a == b
    if a.dtype.is_floating():
        mask |= (a != a) & (b == b)
        equal |= (a != a) & (b != b)
    mask |= equal & (a_index < b_index)
    return tl.where(mask, a, b), tl.where(mask, a_index, b_index)


@jit
def _multiply(a, b):
    return a * b


@jit
def _or(a, b):
    return a | b


@jit
def _and(a, b):
    return a & b


@jit
def max2(a, dim):
    """The greatest element along a dimension of a block. Source: `torch/_inductor/runtime/triton_helpers.py`,
    `max2`."""
    return tl.reduce(a, dim, maximum)


@jit
def min2(a, dim):
    """The smallest element along a dimension of a block. Source: `torch/_inductor/runtime/triton_helpers.py`,
    `min2`."""
    return tl.reduce(a, dim, minimum)


@jit
def prod(a, dim):
    """The product along a dimension of a block. Source: `torch/_inductor/runtime/triton_helpers.py`, `prod`."""
    return tl.reduce(a, dim, _multiply)


@jit
def any(a, dim):
    """The `or` of the elements along a dimension of a block. Source: `torch/_inductor/runtime/triton_helpers.py`,
    `any`."""
    return tl.reduce(a, dim, _or)


@jit
def all(a, dim):
    """The `and` of the elements along a dimension of a block."""
    return tl.reduce(a, dim, _and)


@jit
def max_with_index(a, index, dim):
    """The greatest element along a dimension of a block, with its index.
    Source: `torch/_inductor/runtime/triton_helpers.py`, `max_with_index`."""
    return tl.reduce((a, index), dim, maximum_with_index)


@jit
def min_with_index(a, index, dim):
    """The smallest element along a dimension of a block, with its index.
    Source: `torch/_inductor/runtime/triton_helpers.py`, `min_with_index`."""
    return tl.reduce((a, index), dim, minimum_with_index)


# In numpy, for the interpreter ---------------------------------------------------------------------------------------


def block_of(data: np.ndarray, like: Any) -> Any:
    """A block of these numbers, in the dtype of another block."""
    handle = interpreter.TensorHandle(data.astype(like.handle.data.dtype), like.dtype)
    return tl.tensor(handle, tl.block_type(like.dtype, list(data.shape)))


def elementwise(function: Callable[..., np.ndarray]) -> Callable:
    """A function of numpy for each element as a function of the interpreter's blocks."""
    return lambda *blocks: block_of(function(*(block.handle.data for block in blocks)), blocks[0])


def reduction(function: Callable[..., np.ndarray]) -> Callable:
    """A function of numpy that reduces an axis as a function of one of the interpreter's blocks."""
    return lambda block, dim: block_of(function(block.handle.data, axis=dim), block)


def first_index(function: Callable[..., np.ndarray]) -> Callable:
    """The largest, or smallest, number and the smallest of its indices. NaN is larger and smaller than any number."""

    def reduce(block: Any, index: Any, dim: int) -> tuple[Any, Any]:
        data = block.handle.data
        best = function(data, axis=dim, keepdims=True)
        found = (data == best) | ((data != data) & (best != best))
        first = np.where(found, index.handle.data, np.iinfo(np.int32).max).min(axis=dim)
        return block_of(best.squeeze(dim), block), block_of(first, index)

    return reduce


if INTERPRETED:
    max2, min2, prod, any, all = map(reduction, (np.max, np.min, np.prod, np.any, np.all))
    max_with_index, min_with_index = first_index(np.max), first_index(np.min)
    same = ("exp", "expm1", "log1p", "log2", "sqrt", "tan", "tanh", "floor", "ceil", "trunc", "fmod", "isnan", "isinf")
    numpys = {name: getattr(np, name) for name in same} | {"pow": np.power, "nearbyint": np.rint}
    numpys |= {"rsqrt": lambda x: 1 / np.sqrt(x), "erf": np.vectorize(pymath.erf, otypes=[np.float64])}
    libdevice = SimpleNamespace(**{name: elementwise(function) for name, function in numpys.items()})
else:
    from triton.language.extra import libdevice


_one_at_a_time = threading.RLock()  # the interpreter changes Triton's modules for all threads


def type_of(value: Any) -> str:
    """The type of an argument, as in a kernel's signature. Triton's own function imports torch, if it is installed."""
    if hasattr(value, "data_ptr"):
        return f"*{canonicalize_dtype(value.dtype)}"
    if isinstance(value, int) and not isinstance(value, bool):
        return "i32" if -(2**31) <= value < 2**31 else "i64" if value < 2**63 else "u64"
    return "u1" if isinstance(value, bool) else "fp32"


@cache
def _as_interpreted(function: Any) -> Any:
    return interpreter.InterpretedFunction(function.fn)


def _as_method(function: Any) -> Callable:
    return lambda *args, **kwargs: _as_interpreted(function)(*args, **kwargs)


@contextmanager
def interpreted() -> Iterator[None]:
    """Within: Triton's interpreter runs kernels, also the functions of the language that are written in Triton, such as `tl.sum`.
    An assertion in a kernel raises. Without effect if kernels are compiled."""
    if not INTERPRETED:
        yield
        return
    options = interpreter.InterpreterOptions(debug=True, sanitize_overflow=False)
    language = SimpleNamespace(__globals__={"tl": tl, "core": tl.core})
    with _one_at_a_time, triton.knobs.runtime.scope(), np.errstate(all="ignore"):
        triton.knobs.runtime.interpret = True
        changes: list[tuple[Any, str, Any]] = [(interpreter.interpreter_builder, "options", options)]
        # These functions are compiled if another library has imported Triton before
        for owner, made in ((tl, _as_interpreted), (tl.standard, _as_interpreted), (tl.tensor, _as_method)):
            functions = {name: value for name, value in vars(owner).items() if isinstance(value, triton.JITFunction)}
            changes += [(owner, name, made(value)) for name, value in functions.items()]
        changes.append((triton.runtime.jit, "mangle_type", type_of))
        # The interpreter changes the language again in each call of a function in Triton, which takes longer than to run it, and
        # does not undo this. Here it is changed once.
        changes.append((interpreter, "_patch_lang", lambda function: interpreter._LangPatchScope()))
        before = [(owner, name, getattr(owner, name)) for owner, name, _ in changes]
        changed = interpreter._patch_lang(language)
        try:
            for change in changes:
                setattr(*change)
            yield
        finally:
            for change in before:
                setattr(*change)
            changed.restore()
