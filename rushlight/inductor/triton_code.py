"""Reading the Triton code that Inductor generates for a GPU.

The module has the same form as for the CPU (`output_code`): kernels in strings, and `call`. A kernel is the program of one
*instance*. It computes a block: `XBLOCK` positions of the axis x, and, if it has them, `YBLOCK` of the axis y and `R0_BLOCK` of
r0, the axis of a reduction. The sizes of the blocks are parameters. The wrapper says how many positions each axis has, and the
launcher divides them into instances, the *grid*. A mask excludes the positions of the last block that do not exist. The functions
here read a text, with known sizes. No GPU and no Triton are needed.

Source: `torch/_inductor/codegen/triton.py`, which writes these texts, and `torch/_inductor/runtime/triton_heuristics.py`.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping

import numpy as np

# Bytes of one element, by Triton's name of the pointer's type.
POINTER_SIZES = {"*i1": 1, "*u8": 1, "*i8": 1, "*i16": 2, "*i32": 4, "*i64": 8}
POINTER_SIZES |= {"*fp16": 2, "*bf16": 2, "*fp32": 4, "*fp64": 8}


def kernel_launches(
    text: str, configs: Mapping[str, Mapping[str, int]]
) -> list[tuple[str, str, tuple[int, int, int], int, int]]:
    """The launches of a module's Triton kernels, in the order of the calls: tuples (kernel, kind, grid, iterations, idle).

    The text has the kernels, and the calls in the wrapper (some lines of each kernel, and of `call`, are left out here):

        triton_red_fused_sum_0 = async_compile.triton('triton_red_fused_sum_0', '''
        @triton_heuristics.reduction(
            size_hints={'x': 4, 'r0_': 8192},
        @triton.jit
        def triton_red_fused_sum_0(in_ptr0, out_ptr0, xnumel, r0_numel, XBLOCK : tl.constexpr, R0_BLOCK : tl.constexpr):
            xnumel = 3
            r0_numel = 6400
            for r0_offset in tl.range(0, r0_numel, R0_BLOCK):
        ''', device_str='cuda')

                triton_red_fused_sum_0.run(arg0_1, buf0, 3, 6400, stream=raw_stream0)

    A kernel may be called several times. The definitions can have another order than the calls. The kernels' names begin with
    `triton_`. The kind is the name of the decorator of `triton_heuristics`: "pointwise", "reduction" or "persistent_reduction".
    Lines of the form `xnumel = 3` have the number of positions of each of the kernel's axes: x, perhaps y (`ynumel`), perhaps r0
    (`r0_numel`).

    `configs` has, for each kernel, the sizes of its blocks: `{"XBLOCK": 1, "R0_BLOCK": 2048}`, with `"YBLOCK"` for an axis y. It
    may have other entries, and is only read. A persistent reduction has the size of its block of r0 in its text instead, in a line
    `R0_BLOCK: tl.constexpr = 1024`.

    - grid: the number of instances along x, along y (1 without this axis), and 1. Each instance has a block of x and of y. The last
      one may be only partly full.
    - iterations: the number of times that an instance runs the body of a loop, of all its loops `for r0_offset in` together. Each
      such loop goes over the whole axis r0, a block at a time. 0 without a loop.
    - idle: the number of positions that are in a block, but beyond the end of an axis, in all instances together: masks exclude
      them. If there are loops, count the blocks of one loop.

    >>> kernel = ["triton_poi_fused_relu_0 = async_compile.triton('triton_poi_fused_relu_0', '''", "@triton_heuristics.pointwise("]
    >>> kernel += ["    xnumel = 10", "''', device_str='cuda')"]
    >>> call = ["        triton_poi_fused_relu_0.run(arg0_1, buf0, 10, stream=raw_stream0)"]
    >>> kernel_launches(chr(10).join(kernel + call), {"triton_poi_fused_relu_0": {"XBLOCK": 8}})
    [('triton_poi_fused_relu_0', 'pointwise', (2, 1, 1), 0, 6)]

    Source: `Grid1D` and `Grid2D` in `torch/_inductor/runtime/triton_heuristics.py`.
    """
    form = r"^(triton_\w+) = .*?^@triton_heuristics\.(\w+)\((.*?)^'{3}"
    kernels = {name: rest for name, *rest in re.findall(form, text, re.MULTILINE | re.DOTALL)}
    launches = []
    for name in re.findall(r"^ +(triton_\w+)\.run\(", text, re.MULTILINE):
        kind, source = kernels[name]
        fixed = re.findall(r"(R0_BLOCK): tl.constexpr = (\d+)", source)
        blocks = {**configs[name], **{block: int(size) for block, size in fixed}}
        sizes = {axis: int(size) for axis, size in re.findall(r"^    (\w+)numel = (\d+)$", source, re.MULTILINE)}
        counts = {axis: math.ceil(size / blocks[f"{axis.upper()}BLOCK"]) for axis, size in sizes.items()}
        grid = (counts["x"], counts.get("y", 1), 1)
        iterations = source.count("for r0_offset in") * counts["r0_"] if "r0_" in counts else 0
        positions = math.prod(count * blocks[f"{axis.upper()}BLOCK"] for axis, count in counts.items())
        launches.append((name, kind, grid, iterations, positions - math.prod(sizes.values())))
    return launches


def kernel_traffic(source: str) -> dict[str, tuple[int, int]]:
    """The bytes that a Triton kernel loads from each pointer and stores to it: {pointer: (loaded, stored)}, in any order.

    `source` is the text of one kernel, from its decorator on. Lines of these forms load and store. A line loads or stores a block,
    at the positions of the index in parentheses. The rest of the line does not matter: masks only exclude positions beyond the end
    of an axis.

        tmp0 = tl.load(in_ptr0 + (r0_1 + 600*x0), r0_mask & xmask, eviction_policy='evict_first', other=0.0)
        tmp1 = tl.load(in_ptr1 + (0))
        tl.store(out_ptr0 + (x0), tmp4, xmask)

    Each line counts each *element* of memory once that it touches in all instances and iterations together, also if several
    instances load it. Two lines that load the same element count it twice. The kernel's axes x, y and r0 have positions 0, 1, ...
    up to the number in the line `xnumel = 32`, `ynumel = ...` or `r0_numel = ...`, which is not included. An index has whole
    numbers, the operators `+ - * // %`, parentheses, and variables, which lines such as these define:

        x0 = xindex              the position of the axis x; of y it is yindex, of r0 it is r0_index
        x1 = xindex // 600
        x2 = (xindex % 600)
        r0_3 = r0_index

    There are two other forms of an index. `tl.full([1, 1], 0, tl.int32).broadcast_to(XBLOCK, 1)` is the number 0. The index of a
    load with a variable `tmp`, such as `x0 + 16*tmp4`, was itself loaded, and is not known: each position of all axes together
    counts as an element of its own.

    `triton_meta` has the types of the arguments: `{'signature': {'in_ptr0': '*fp32', 'xnumel': 'i32', ...}`. The bytes of an
    element are `POINTER_SIZES` of its pointer's type. A pointer that the kernel only loads has (bytes, 0), one that it only stores
    to (0, bytes).

    >>> kernel_traffic('''
    ...     triton_meta={'signature': {'in_ptr0': '*fp32', 'out_ptr0': '*bf16', 'xnumel': 'i32', 'XBLOCK': 'constexpr'}}
    ...     xnumel = 10
    ...     x2 = xindex
    ...     x0 = (xindex % 5)
    ...     tmp0 = tl.load(in_ptr0 + (x0), xmask, eviction_policy='evict_last')
    ...     tl.store(out_ptr0 + (x2), tmp0, xmask)
    ... ''')
    {'in_ptr0': (20, 0), 'out_ptr0': (0, 20)}

    Source: `TritonKernel.load`, `store` and `store_reduction` in `torch/_inductor/codegen/triton.py`.
    """
    types = dict(re.findall(r"'(\w+)': '(\*\w+)'", source))
    sizes = {axis: int(size) for axis, size in re.findall(r"^    (\w+)numel = (\d+)$", source, re.MULTILINE)}
    values = {f"{axis}index": at for axis, at in zip(sizes, np.ix_(*map(np.arange, sizes.values())))}
    moved = {}
    for line in source.splitlines():
        if variable := re.match(r" +([xyr]\w*\d) = (.*index.*)", line):
            values[variable[1]] = eval(variable[2], values)
        elif access := re.match(r" +(?:\w+ = )?tl\.(load|store)\((\w+) \+ \((.*?)\)(?:, |\)$|\)\.)", line):
            what, pointer, index = access.groups()
            if "tmp" in index:
                elements = math.prod(sizes.values())
            else:
                elements = 1 if "tl.full" in index else np.unique(eval(index, values)).size
            of_pointer = moved.setdefault(pointer, {"load": 0, "store": 0})
            of_pointer[what] += elements * POINTER_SIZES[types[pointer]]
    return {pointer: (nbytes["load"], nbytes["store"]) for pointer, nbytes in moved.items()}
