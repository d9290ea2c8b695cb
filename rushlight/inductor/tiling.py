"""A tiling for reductions across memory: work on 64 rows side by side.

In `x.sum(0)` of a row-major matrix a "row" of the reduction is a column of memory: its elements are far from each other, and the
elements of neighbouring rows are next to each other. So a kernel takes a tile of rows, and each step along the rows is one
vectorised loop over the tile (its `lane`s), with one total per lane. Without the tile every step would read another cache line
and use one element of it. In PyTorch: `TilingSelect.select_tiling` and outer-loop vectorisation in
`torch/_inductor/codegen/cpp.py` (`CppVecKernel` with an outer `tiling_idx`).
"""

from collections.abc import Iterator
from contextlib import contextmanager

from rushlight.c10.dtypes import dtype, float64
from rushlight.inductor.cpp import TYPES, emit, reduction_init
from rushlight.inductor.cpp_kernel import CppKernel, InnerLoop, notices_nan
from rushlight.inductor.index import Symbol, stride_of
from rushlight.inductor.ir import ComputedBuffer, Layout, loads
from rushlight.inductor.scheduler_node import FusedSchedulerNode

TILE = 64  # rows: some vectors of every dtype


def select_tiling(node: FusedSchedulerNode) -> Symbol | None:
    """The loop over rows to tile, if more accesses have stride 1 across the rows than along a row."""
    if not node.inner or not node.outer or any(nest.kind in ("argmax", "argmin") for nest in node.nests):
        return None
    across, along = node.outer[-1], node.inner[-1]
    nests = [nest for nest in node.nests if not node.works_by_row(nest)]
    accesses = [nest.index for nest in nests if nest.kind is None]
    accesses += [load.index for nest in nests for load in loads(nest.value)]
    accesses = [index for index in accesses if {across, along} <= index.symbols]
    votes = sum((stride_of(index, across) == 1) - (stride_of(index, along) == 1) for index in accesses)
    return across if votes > 0 else None


class CppTileKernel(CppKernel):
    """The text of one kernel: a tile of rows at once. A variable of the row is an array, with an element per lane."""

    rows_at_once = TILE
    scratch = 1 << 18
    lane, each_row = "[lane]", "for (int64_t lane = 0; lane < lanes; lane++) "

    def __init__(self, node: FusedSchedulerNode, unused: set[str], layouts: dict[str, Layout]) -> None:
        super().__init__(node, unused, layouts)
        self.across = node.outer[-1]
        self.varying = [*node.inner, self.across]

    def open_rows(self) -> None:
        size = self.across.size
        for symbol in self.node.outer[:-1]:
            self.loop(symbol)
        self.open(f"for (int64_t tile = 0; tile < {size}; tile += {min(TILE, size)})")
        rest = f"({size} - tile < {TILE} ? {size} - tile : {TILE})"
        self.write(f"const int64_t lanes = {min(TILE, size) if size % min(TILE, size) == 0 else rest};")

    @contextmanager
    def lanes(self) -> Iterator[None]:
        """The loop over the lanes of a tile."""
        depth = self.depth
        self.write("#pragma omp simd" + self.flags)
        self.open("for (int64_t lane = 0; lane < lanes; lane++)")
        self.write(f"const int64_t {self.across.name} = tile + lane;")
        yield
        self.close(depth)

    def row_position(self) -> str:
        return f"({super().row_position()}) * {TILE} + lane"

    def declare_array(self, buffer: str, dtype: dtype) -> str:
        name = f"row_{buffer}"
        self.write(f"{TYPES[dtype]} {name}[{TILE}];")
        return name

    def declare_total(self, nest: ComputedBuffer, loop: InnerLoop) -> str:
        wide = float64 if self.is_long_sum(nest) else nest.dtype
        name = self.declare_array(nest.buffer, wide)
        self.write(f"for (int64_t lane = 0; lane < {TILE}; lane++) {name}[lane] = {reduction_init(nest.kind, wide)};")
        if notices_nan(nest):
            self.write(f"int32_t {name}_nan[{TILE}] = {{}};")
        return name

    def once_for_each_row(self, nests: list[ComputedBuffer]) -> None:
        for nest in nests:
            self.flush()
            array, inside = self.declare_array(nest.buffer, nest.dtype), self.statements(self.row, [self.across])
            value = emit(inside, nest.value)
            self.flush()
            with self.lanes():
                self.write(*inside.lines, f"{array}[lane] = {value};")
                if nest.buffer not in self.local:
                    self.write(self.store(nest, value))
            self.stored[nest.buffer, nest.index] = f"{array}[lane]"

    def write_loop(self, lines: list[str], loop: InnerLoop) -> None:
        for symbol in self.node.inner:
            self.loop(symbol)
        with self.lanes():
            self.write(*lines)
