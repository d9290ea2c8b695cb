"""One operator as one kernel in Triton, the language in which Inductor writes kernels for the GPU.

The kernel looks like Python, but no GPU runs Python: `triton.jit` compiles it. One *program* computes one block of the
result; the grid is the number of programs. Without a GPU, Triton's interpreter runs the same text with numpy, one block at a
time. It is slow, and good for finding mistakes. In PyTorch: `torch/_inductor/codegen/triton.py` writes such kernels,
`torch/library.py` (`triton_op`, `wrap_triton`) registers them. Left out: choosing block sizes (`triton.autotune`), float64,
the backward pass as a kernel.

Triton is not one of this course's requirements (a gigabyte, and for Linux only). Without it this module can be imported, and
raises when it is used.
"""

import os

import torch

from rushlight.on_torch import custom_ops

# The device that kernels run on, decided here for all of them. `triton.jit` reads the other environment variable.
DEVICE = "cuda" if torch.cuda.is_available() and os.environ.get("RUSHLIGHT_DEVICE") != "cpu" else "cpu"
if DEVICE == "cpu":
    os.environ.setdefault("TRITON_INTERPRET", "1")

try:
    import triton
    import triton.language as tl
except ImportError:
    triton = tl = None


def available() -> bool:
    """Whether Triton is installed."""
    return triton is not None


def require() -> None:
    """Raise RuntimeError, with a way out, if Triton is not installed."""
    if not available():
        raise RuntimeError("Triton is not installed: `pip install triton` (Linux; 300 MB to fetch, 1 GB on the disk)")


# The kernel ----------------------------------------------------------------------------------------------------------

# Sizes of a block: powers of two, as `tl.arange` requires, and at least 16, as `tl.dot` requires
ROWS, COLUMNS, INNER = 32, 32, 32

# Only functions that are built into the language. Functions that Triton has written in Triton, such as `tl.zeros` and `tl.sigmoid`,
# were compiled or interpreted when Triton was imported, and PyTorch's compiler may have imported it before this module.

if triton is not None:

    @triton.jit
    def activate(z, activation: tl.constexpr):
        # a constexpr is known when the kernel is compiled, so the compiled kernel has no branch
        if activation == "relu":
            z = tl.maximum(z, 0.0)
        if activation == "tanh":
            z = 2 / (1 + tl.exp(-2 * z)) - 1
        if activation == "gelu":
            z = 0.5 * z * (1 + tl.erf(z * 0.7071067811865476))
        return z

    @triton.jit
    def fused_linear_kernel(
        x_pointer, weight_pointer, bias_pointer, result_pointer,
        rows, columns, inner,
        x_row_stride, x_inner_stride, weight_column_stride, weight_inner_stride,
        has_bias: tl.constexpr, activation: tl.constexpr,
        ROWS: tl.constexpr, COLUMNS: tl.constexpr, INNER: tl.constexpr,
    ):  # fmt: skip
        # the rows and columns of the result's block that this program computes
        row = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
        column = tl.program_id(1) * COLUMNS + tl.arange(0, COLUMNS)
        # the last block may reach beyond the result: masks prevent reads and writes outside
        row_inside, column_inside = row < rows, column < columns

        total = tl.full((ROWS, COLUMNS), 0.0, dtype=tl.float32)
        for start in range(0, inner, INNER):
            k = start + tl.arange(0, INNER)
            x = tl.load(
                x_pointer + row[:, None] * x_row_stride + k[None, :] * x_inner_stride,
                mask=row_inside[:, None] & (k < inner)[None, :],
                other=0.0,
            )
            weight = tl.load(
                weight_pointer + column[None, :] * weight_column_stride + k[:, None] * weight_inner_stride,
                mask=column_inside[None, :] & (k < inner)[:, None],
                other=0.0,
            )
            # "ieee": a GPU would round float32 to the 10 bits of TF32 before it multiplies
            total += tl.dot(x, weight, input_precision="ieee")

        # fusion: bias and activation are applied while the block is still in registers
        if has_bias:
            total += tl.load(bias_pointer + column, mask=column_inside, other=0.0)[None, :]
        total = activate(total, activation)
        tl.store(
            result_pointer + row[:, None] * columns + column[None, :],
            total.to(result_pointer.dtype.element_ty),
            mask=row_inside[:, None] & column_inside[None, :],
        )


def fused_linear(
    x: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor | None = None, activation: str = "none"
) -> torch.Tensor:
    """`activation(x @ weight.T + bias)` in one kernel, accumulated in float32.

    Args:
        x: (..., in), any strides, float32 or float16, on `DEVICE`.
        weight: (out, in), any strides, the dtype of `x`.
        bias: (out,) or None.
        activation: one of `custom_ops.ACTIVATIONS`.

    Returns:
        a new contiguous tensor (..., out).

    Raises:
        RuntimeError: Triton is not installed, or sizes, dtypes or devices do not fit.
        ValueError: an activation of another name.

    Source: `torch/_inductor/kernel/mm.py`, the template `mm_template` with an epilogue.
    """
    require()
    check(x, weight, bias, activation)
    lines = x.reshape(-1, x.shape[-1])
    (rows, inner), columns = lines.shape, weight.shape[0]
    result = x.new_empty(rows, columns)
    if result.numel() > 0:
        grid = (triton.cdiv(rows, ROWS), triton.cdiv(columns, COLUMNS))
        fused_linear_kernel[grid](
            lines, weight, weight if bias is None else bias.contiguous(), result,
            rows, columns, inner, *lines.stride(), *weight.stride(),
            has_bias=bias is not None, activation=activation, ROWS=ROWS, COLUMNS=COLUMNS, INNER=INNER,
        )  # fmt: skip
    return result.view(*x.shape[:-1], columns)


def check(x: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor | None, activation: str) -> None:
    """Refuse arguments that do not fit before the kernel starts, because a kernel reads any address that it is given."""
    custom_ops.check_arguments(x, weight, bias, activation)
    if x.dtype not in (torch.float32, torch.float16):
        raise RuntimeError(f"the kernel is for float32 and float16, not {x.dtype}")
    given = [tensor for tensor in (x, weight, bias) if tensor is not None]
    if any(tensor.device.type != DEVICE for tensor in given):
        raise RuntimeError(f"kernels run on {DEVICE} here, the arguments are on {[str(t.device) for t in given]}")


# As an operator of PyTorch -------------------------------------------------------------------------------------------


def register(namespace: str) -> torch.library.CustomOpDef:
    """The kernel as `<namespace>::fused_linear_triton`, with a fake kernel, so that `torch.compile` accepts it. It is opaque
    to the compiler, like any custom operator. `torch.library.triton_op` would show Inductor the kernel itself, but fake
    tensors cannot pass through Triton's interpreter, so the interpreter could no longer run it. Source:
    `torch/_library/custom_ops.py`; `torch/_library/triton.py` for the other way."""
    require()
    operator = torch.library.custom_op(f"{namespace}::fused_linear_triton", fused_linear, mutates_args=())
    operator.register_fake(custom_ops.fused_linear_fake)
    return operator
