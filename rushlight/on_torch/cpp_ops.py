"""An operator of real PyTorch, written in C++.

The same `rms_norm` that `cpp.py` writes against rushlight's own header, here against PyTorch's: `at::Tensor`, `TORCH_CHECK`,
`AT_DISPATCH_FLOATING_TYPES`, `at::parallel_for`, and `TORCH_LIBRARY`, which registers it with PyTorch's dispatcher when the
library is loaded. The text contains nothing of Python, so a C++ program could load the same library. In PyTorch:
`torch/library.h`, `aten/src/ATen/core/Tensor.h`, `torch/utils/cpp_extension.py`. Left out: CUDA, half precision, and the
stable ABI (`torch/csrc/stable`), with which one library works for several versions of PyTorch.
"""

from __future__ import annotations

import hashlib
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import Any

import torch

from rushlight.utils.cpp_extension import CompileError, compiled, compiler

# The operator --------------------------------------------------------------------------------------------------------


def rms_norm_source() -> str:
    """The C++ text of `rms_norm`, an operator of PyTorch that scales every line along the last dimension to the same length:

        y = x / sqrt(mean of x * x along the last dimension + eps) * weight

    The text registers, in the namespace `TORCH_EXTENSION_NAME` (a macro: the compile command defines the name):

        TORCH_LIBRARY(TORCH_EXTENSION_NAME, m)             the schema `rms_norm(Tensor x, Tensor weight, float eps=1e-5) -> Tensor`
        TORCH_LIBRARY_IMPL(TORCH_EXTENSION_NAME, CPU, m)   the kernel
        TORCH_LIBRARY_IMPL(TORCH_EXTENSION_NAME, Meta, m)  the kernel for tensors without data, whose sizes may be symbols:
                                                           `sym_size`, `sym_sizes` and `at::empty_symint` keep them so

    Args of the operator:
        x: at least one dimension, any sizes (0 too) and strides, float32 or float64.
        weight: one dimension of the size of the last dimension of `x`, any stride, the dtype of `x`.
        eps: added to the mean.

    Returns (the operator):
        a new tensor with the sizes, the dtype and the device of `x`, contiguous (`is_contiguous`).

    Raises (both kernels):
        RuntimeError (`TORCH_CHECK`): `x` has no dimensions, or `weight` has other sizes or another dtype than it should.
        NotImplementedError (the kernel for the CPU, `AT_DISPATCH_FLOATING_TYPES`): any other dtype.

    C++ checks nothing by itself: an index outside memory ends the process, and so does an integer division by 0 (`numel /
    size` where the size is 0).

    The arithmetic is the text's own. Of PyTorch's operators it calls only `at::empty`, `at::empty_like`, their `_symint`
    forms, `contiguous`, and operators that make views; of PyTorch's headers it includes these, or fewer:

        <ATen/core/Tensor.h> <ATen/Dispatch.h> <ATen/Parallel.h> <ATen/ops/empty.h> <ATen/ops/empty_like.h> <torch/library.h>

    Source: `aten/src/ATen/native/layer_norm.cpp`, `rms_norm_composite`; `torch/library.h`.
    """
    return r"""
#include <ATen/core/Tensor.h>
#include <ATen/Dispatch.h>
#include <ATen/Parallel.h>
#include <ATen/ops/empty.h>
#include <torch/library.h>

#include <algorithm>
#include <cmath>

void check(const at::Tensor& x, const at::Tensor& weight) {
  TORCH_CHECK(x.dim() > 0, "rms_norm: x needs at least one dimension");
  TORCH_CHECK(weight.dim() == 1, "rms_norm: weight needs one dimension, not ", weight.dim());
  TORCH_SYM_CHECK(weight.sym_size(0).sym_eq(x.sym_size(-1)), "rms_norm: weight needs the size of the last dimension of x");
  TORCH_CHECK(weight.scalar_type() == x.scalar_type(), "rms_norm: weight needs the dtype of x, ", x.scalar_type());
}

at::Tensor rms_norm_cpu(const at::Tensor& x, const at::Tensor& weight, double eps) {
  // error checks
  check(x, weight);
  // output allocation
  const at::Tensor out = at::empty(x.sizes(), x.options());
  const at::Tensor lines = x.contiguous(), factors = weight.contiguous();
  const int64_t size = x.size(-1), count = x.numel() / std::max<int64_t>(size, 1);
  // dtype dispatch
  AT_DISPATCH_FLOATING_TYPES(x.scalar_type(), "rms_norm", [&] {
    // data access
    const scalar_t* from = lines.const_data_ptr<scalar_t>();
    const scalar_t* w = factors.const_data_ptr<scalar_t>();
    scalar_t* to = out.mutable_data_ptr<scalar_t>();
    // parallelisation: fewer than 64 lines are not worth a thread of their own
    at::parallel_for(0, count, 64, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; i++) {
        const scalar_t* line = from + i * size;
        scalar_t sum = 0;
        for (int64_t j = 0; j < size; j++) sum += line[j] * line[j];
        const scalar_t scale = static_cast<scalar_t>(1 / std::sqrt(sum / size + eps));
        std::transform(line, line + size, w, to + i * size, [&](scalar_t x, scalar_t factor) { return x * scale * factor; });
      }
    });
  });
  return out;
}

at::Tensor rms_norm_meta(const at::Tensor& x, const at::Tensor& weight, double) {
  check(x, weight);
  return at::empty_symint(x.sym_sizes(), x.options());
}

TORCH_LIBRARY(TORCH_EXTENSION_NAME, m) {
  m.def("rms_norm(Tensor x, Tensor weight, float eps=1e-5) -> Tensor");
}

TORCH_LIBRARY_IMPL(TORCH_EXTENSION_NAME, CPU, m) {
  m.impl("rms_norm", &rms_norm_cpu);
}

TORCH_LIBRARY_IMPL(TORCH_EXTENSION_NAME, Meta, m) {
  m.impl("rms_norm", &rms_norm_meta);
}
"""


# Compiling and loading -----------------------------------------------------------------------------------------------

_TORCH = Path(torch.__file__).parent


def command() -> list[str]:
    """The compiler's command, without the text, the libraries and the result.

    Raises RuntimeError, with a way out, if there is no compiler.
    The text may use everything that PyTorch's own C++ was compiled with: its headers, its two libraries (which the process
    has loaded already), its standard and its form of `std::string`.
    """
    flags = ["-std=c++20", "-O2", "-fPIC", "-shared"]
    flags.append(f"-D_GLIBCXX_USE_CXX11_ABI={int(torch.compiled_with_cxx11_abi())}")
    flags += ["-fopenmp"] if sys.platform == "linux" else []  # without it at::parallel_for is a plain loop
    return [compiler(), *flags, f"-I{_TORCH / 'include'}", f"-L{_TORCH / 'lib'}"]


@cache
def _version(path: str) -> str:
    return subprocess.run([path, "--version"], capture_output=True, text=True).stdout


_built: dict[str, Any] = {}  # by source, for this process: the namespace of its operators, or a CompileError


def build(source: str) -> Any:
    """The namespace, as in `torch.ops.<namespace>`, of the operators that a C++ text registers.

    A text is compiled once, in about 5 seconds, and cached in the folder that `cpp.build` uses. Its name there is a hash of
    the text, the compiler, its flags and PyTorch's version, so later processes only load it. Each text has its own namespace,
    because a loaded library cannot be unloaded and another text must not define the same operators. (PyTorch ends a process
    that loads two libraries with the same `TORCH_LIBRARY`.)

    Raises:
        CompileError (a RuntimeError): the text does not compile, or does not use the macro as its namespace.
        RuntimeError: there is no compiler.

    Source: `torch/utils/cpp_extension.py`, `load_inline(is_python_module=False)`; `torch/_ops.py`, `load_library`.
    """
    if not isinstance(source, str):
        raise TypeError(f"a C++ source is a str, not {type(source).__name__}")
    if source not in _built:
        first, *rest = command()
        key = "\0".join([source, first, _version(first), *rest, torch.__version__])
        name = f"rushlight_{hashlib.sha256(key.encode()).hexdigest()[:16]}"
        try:
            if "TORCH_EXTENSION_NAME" not in source:
                raise CompileError("the text must register its operators in the namespace TORCH_EXTENSION_NAME")
            arguments = [first, *rest, f"-DTORCH_EXTENSION_NAME={name}", "operator.cpp", "-ltorch_cpu", "-lc10"]
            torch.ops.load_library(compiled(name, arguments, {"operator.cpp": source}))
            _built[source] = getattr(torch.ops, name)
        except CompileError as error:
            lines = str(error).splitlines()  # most are templates of PyTorch's headers, which the message leaves out
            own = [line for line in lines if "error" in line or "undefined" in line] or lines
            _built[source] = CompileError("\n".join(own[:20]))
    if isinstance(_built[source], CompileError):
        raise _built[source]
    return _built[source]


# The operator, with a gradient ---------------------------------------------------------------------------------------
#
# The library contains the kernels. The derivative is registered from Python, as for any operator of `torch.library.custom_op`.


def setup_context(ctx: Any, inputs: tuple, output: torch.Tensor) -> None:
    """Save the values that the backward pass of `rms_norm` needs."""
    x, weight, ctx.eps = inputs
    ctx.save_for_backward(x, weight)


def backward(ctx: Any, grad: torch.Tensor) -> tuple:
    """The gradients of `rms_norm` for x and weight, computed by operations that can be differentiated again."""
    x, weight = ctx.saved_tensors
    scale = torch.rsqrt((x * x).mean(-1, keepdim=True) + ctx.eps)
    weighted = grad * weight
    along = (weighted * x).mean(-1, keepdim=True)  # how far a change of a line changes its own length
    return scale * (weighted - x * along * scale * scale), (grad * x * scale).sum_to_size(weight.shape), None


_differentiable: set[str] = set()


def operator() -> torch._ops.OpOverload:
    """`torch.ops.<namespace>.rms_norm.default`, of the text of `rms_norm_source`, with its gradient registered. A function
    for `torch.compile` must call the overload that this returns, because a graph cannot contain the build."""
    text = rms_norm_source() + "// with a gradient"  # in a namespace of its own, as a build without one stays
    overload = build(text).rms_norm.default
    if overload.name() not in _differentiable:
        torch.library.register_autograd(overload.name(), backward, setup_context=setup_context)
        _differentiable.add(overload.name())
    return overload


def rms_norm(x: torch.Tensor, weight: torch.Tensor, eps: float = 1e-5) -> torch.Tensor:
    """The operator that `rms_norm_source` defines, called through PyTorch's dispatcher."""
    return operator()(x, weight, eps)
