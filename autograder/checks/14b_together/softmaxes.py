"""Lab 14b, softmax: the kernel with a row in the registers of a warp, and the choice among three kernels."""

from __future__ import annotations

import math

import numpy as np

from ...engine.check import program
from ..cases import attempt, drawing, drawn, explained, first_of, numbers, rows, tensor, tensors
from ..shared_14 import (
    SECONDS,
    UNWRITTEN,
    about_kernels,
    about_together,
    arrays_of,
    asked,
    findings_of,
    needs,
    on_board,
    ran,
    wanted,
)

SHIFTS, MASKS = [0, 200, -200, -1e30], ["", "each third", "the first 32"]


def of_warps(rows, columns):
    """What is needed if a warp loads and stores its row once."""
    steps = [np.arange(first, min(first + 32, columns)) for first in range(0, columns, 32)]
    of_matrix = asked(4 * (row * columns + step) for row in range(rows) for step in steps)
    return needs(of_matrix, of_matrix) | {"bytes of shared memory": "0", "barriers": "0"}


def _matrix(xp, rows, columns, shift, masked, peak):
    """Numbers of both signs. Some columns are masked, and in column `peak`, if there is one, they are much larger."""
    x = 4 * numbers(xp, [rows, columns], 1, "float32") + shift
    if peak >= 0:
        x[:, peak % columns] += 150
    if masked == "each third":
        x[:, 2::3] = -math.inf
    elif masked and columns > 32:
        x[:, :32] = -math.inf
    return x


@program(
    "aten.native.cuda.softmax.softmax_warp_source",
    cases=drawn(
        rows=(1, 9), columns=(1, 1024), warps=[1, 2, 4, 8, 32], shift=SHIFTS, masked=MASKS, peak=(-1, 1023), seed=(0, 3)
    ),
    edges=rows(
        "rows columns warps shift masked peak seed",
        (1, 32, 1, 0, "", -1, 0), (2, 64, 2, 0, "", -1, 1), (3, 33, 2, 0, "", 32, 0), (4, 7, 4, 200, "", -1, 0),
        (5, 40, 4, -200, "each third", -1, 2), (1, 1, 1, -200, "", -1, 0), (2, 1000, 1, 0, "each third", 777, 1),
        (3, 1024, 2, 200, "", -1, 3), (9, 100, 8, 0, "", 45, 0), (2, 50, 32, -200, "", -1, 1), (2, 90, 2, 0, "the first 32", -1, 0),
        (1, 40, 1, -1e30, "", -1, 0), (2, 70, 4, 0, "", 9, 1),
    ),
    is_text=True,
    hint=first_of(about_together, about_kernels),
    draws=4,
)  # fmt: skip
def rows_in_registers(rl, rows, columns, warps, shift, masked, peak, seed):
    text = rl.aten.native.cuda.softmax.softmax_warp_source()
    x = _matrix(rl, rows, columns, shift, masked, peak).numpy().copy()
    arguments = [x, np.full((rows, columns), UNWRITTEN, np.float32), rows, columns]
    grid, needed = -(-rows // warps), of_warps(rows, columns)
    return ran(rl, text, "softmax_warp", grid, (32, warps), arguments, 1, seed, needed)


@rows_in_registers.counted(requests=40, sectors=160)
def _(rl):
    """4 rows of 160 elements."""
    arrays = arrays_of(rl, 640, 640)
    return on_board(rl.aten.native.cuda.softmax.softmax_warp_source(), "softmax_warp", 1, (32, 4), *arrays, 4, 160)


@rows_in_registers.oracle
def _(torch, rows, columns, warps, shift, masked, peak, seed):
    out = torch.softmax(_matrix(torch, rows, columns, shift, masked, peak), 1)
    return wanted(out, of_warps(rows, columns))


# The choice ----------------------------------------------------------------------------------------------------------

WARPS, LARGEST_BLOCK, BLOCK = 4, 1024, 128


@drawing
def _tensors(draw, st):
    x = draw(tensors(st, (0, 4), 5, ("float32",)))
    ndim = max(1, len(x["tensor"]["sizes"]))
    return {"x": x, "dim": draw(st.integers(-ndim, ndim - 1))}


def _x(dim, sizes, *others):
    return {"x": tensor(sizes, *others, dtype="float32"), "dim": dim}


@program(
    "aten.native.cuda.softmax.softmax",
    cases=_tensors,
    edges=[
        _x(1, [3, 5]), _x(-1, [9, 40]), _x(0, [3, 5]), _x(1, [2, 3, 4]), _x(-3, [4, 3, 50]), _x(1, [5, 4, 1]), _x(0, [7]),
        _x(0, []), _x(-1, []), _x(1, []), _x(1, [4, 6], [1, 4], 3), _x(0, [4, 6], [1, 4]), _x(-1, [2, 1024]), _x(1, [2, 1025]),
        _x(-1, [1, 2, 1500]), _x(1, [0, 3]), _x(1, [3, 0]), _x(2, [3, 4]), _x(-3, [3, 4]), _x(0, [1100, 1]), _x(0, [1100, 2]),
        _x(1, [5, 3], [0, 1]), _x(1, [8, 3]), _x(0, [3, 200]), _x(1, [20, 2, 40]),
    ],
    hint=first_of(
        about_together,
        explained(
            dim_out_of_range="`dim` is out of range here, and IndexError says so",
            memory="the result has memory of its own",
            kernels_and_blocks="one launch, or none if there are no elements: which kernel, how many blocks, and how many threads "
            "does a block have?",
            operand_afterwards="`x` is only read",
            loads_of_each_element="a warp loads each element once, the other kernels three times",
        ),
        about_kernels,
    ),
    draws=5,
)  # fmt: skip
def softmaxes_of_tensors(rl, x, dim):
    import rushlight.on_torch.cuda_on_host  # noqa: F401  the device of `loops.launch`
    from rushlight.utils.child import run_in_child

    return run_in_child(_softmax, rl, x, dim, seconds=SECONDS)


def _is_in_range(x, dim):
    ndim = max(1, x.dim())
    return -ndim <= dim < ndim


def _softmax(rl, x, dim):
    from rushlight.aten.native.cuda import loops

    loops.launches.clear()
    before, memory = x.tolist(), x.untyped_storage()
    softmax = rl.aten.native.cuda.softmax.softmax
    if not _is_in_range(x, dim):
        return {"dim out of range": attempt(softmax, x, dim)}
    result = softmax(x, dim)
    kernels = [[launch.kernel, launch.blocks, launch.block] for launch in loops.launches]
    findings = [each for launch in loops.launches for each in findings_of("", launch.result)]
    loads = sum(launch.result.counts.global_load.bytes for launch in loops.launches) / max(1, 4 * x.numel())
    shown = {"findings": findings, "kernels and blocks": kernels, "result": result}
    new, after = result.untyped_storage() is not memory, x.tolist()
    shown |= {"memory": None if new else "the operand's", "operand afterwards": None if after == before else after}
    return shown | {"loads of each element": loads}


@softmaxes_of_tensors.oracle
def _(torch, x, dim):
    if not _is_in_range(x, dim):
        return {"dim out of range": attempt(torch.softmax, x, dim)}
    result = torch.softmax(x, dim)
    columns = x.shape[dim] if x.dim() else 1
    threads = x.numel() // max(1, columns)
    behind = x.movedim(dim, -1).shape[dim % x.dim() : -1].numel() if x.dim() else 1
    if x.numel() == 0:
        kernels, loads = [], 0.0
    elif behind > 1:
        kernels, loads = [["softmax_spatial", -(-threads // BLOCK), BLOCK]], 3.0
    elif columns <= 1024:
        kernels, loads = [["softmax_warp", -(-threads // WARPS), [32, WARPS]]], 1.0
    else:
        kernels, loads = [["softmax_block", threads, LARGEST_BLOCK]], 3.0
    shown = {"findings": [], "kernels and blocks": kernels, "result": result}
    return shown | {"memory": None, "operand afterwards": None, "loads of each element": loads}
