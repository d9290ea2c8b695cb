"""Axes: the positions that the instances of a kernel in Triton share, and the elements of rows.

The loops of a node are one axis x, or y and x, and the inner loops are the axis r0. A loop variable is a quotient or a remainder of
the position on its axis, so one block of positions covers any number of loops. A mask excludes the positions of a block beyond the
end of an axis. In PyTorch: `torch/_inductor/codegen/simd.py` (`IterationRangesRoot`, `IterationRangesEntry`).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from rushlight.inductor.index import Symbol, stride_of
from rushlight.inductor.ir import loads
from rushlight.inductor.scheduler_node import FusedSchedulerNode, numel

MOST_IN_BLOCK = {"x": 4096, "y": 1024}  # positions, as torch/_inductor/runtime/hints.py: TRITON_MAX_BLOCK


def next_power_of_two(number: int) -> int:
    """The smallest power of two that is not below a number. Triton's blocks have such sizes."""
    return 1 << (number - 1).bit_length()


@dataclass(eq=False)
class Axis:
    """An axis of a kernel, "x", "y" or "r0_": the positions in its loops, the outermost first. `dims` is the subscript that gives
    a vector of positions the dimensions of a block. `variables` has a name for each pair (divisor, length) of `axis_terms`."""

    prefix: str
    loops: list[Symbol]
    dims: str
    variables: dict[tuple[int, int], str] = field(default_factory=dict)

    @property
    def numel(self) -> int:
        return numel(self.loops)

    @property
    def block(self) -> str:
        return f"{self.prefix.upper()}BLOCK"

    @property
    def mask(self) -> str | None:
        """The name of the mask of the positions that exist; None if it is not needed."""
        return f"{self.prefix}mask" if needs_mask(self.prefix, self.numel) else None

    def mask_line(self) -> str:
        p, always = self.prefix, f"tl.full([{self.block}], True, tl.int1){self.dims}"
        return f"{p}mask = {f'{p}index < {p}numel' if self.mask else always}"


def needs_mask(prefix: str, numel: int) -> bool:
    """Return whether the last block of an axis can have positions beyond its end, with some size of block.

    Blocks begin at position 0 and have one size. All sizes are powers of two. On the axes "x" and "y" a block has at most
    `MOST_IN_BLOCK[prefix]` positions, and 1 if the axis has only one. On "r0_" it has at most `next_power_of_two(numel)`, which is
    `numel` itself if this is a power of two.

    >>> needs_mask("x", 19200), needs_mask("x", 8192), needs_mask("r0_", 32), needs_mask("r0_", 600)
    (True, False, False, True)

    Args:
        prefix: the axis, "x", "y" or "r0_".
        numel: its number of positions, at least 1.

    Source: `torch/_inductor/codegen/triton.py`, `TritonKernel._has_constant_mask`.
    """
    if prefix == "r0_":
        return numel != next_power_of_two(numel)
    return numel > 1 and numel % MOST_IN_BLOCK[prefix] != 0


def axis_terms(sizes: Sequence[int], coefficients: Sequence[int]) -> list[tuple[int, int, int]]:
    """The terms of an index on one axis: a tuple (divisor, length, coefficient) for each variable `position // divisor % length`,
    innermost first. The index is the sum of coefficient times variable.

    The positions count the iterations of the axis's loops. In the innermost loop the position grows by 1. A loop on which the
    index does not depend has no term. Neighbouring loops have one term together if one step of the outer loop is as far, in the
    index, as all steps of the inner ones: the outer coefficient is the inner ones' times their length.

    >>> axis_terms((32, 600), (600, 1)), axis_terms((32, 600), (0, 1)), axis_terms((32, 600), (1, 32))
    ([(1, 19200, 1)], [(1, 600, 1)], [(1, 600, 32), (600, 32, 1)])

    Args:
        sizes: the sizes of the loops, at least 2 each, the outermost first.
        coefficients: for each loop, by how much the index grows from one iteration to the next. It may be 0 or negative.

    Source: `torch/_inductor/codegen/simd.py`, `IterationRangesRoot.lookup`.
    """
    terms: list[tuple[int, int, int]] = []
    below = 1  # iterations inside the loop
    for size, coefficient in zip(reversed(sizes), reversed(coefficients)):
        if terms and (terms[-1][0] * terms[-1][1], terms[-1][2] * terms[-1][1]) == (below, coefficient):
            divisor, length, step = terms.pop()
            terms.append((divisor, length * size, step))
        elif coefficient:
            terms.append((below, size, coefficient))
        below *= size
    return terms


def axis_variable(position: str, divisor: int, length: int, numel: int) -> str:
    """The text of `position // divisor % length`, without an operation that changes no position.

    >>> axis_variable("xindex", 1, 600, 19200), axis_variable("xindex", 600, 32, 19200)
    ('(xindex % 600)', 'xindex // 600')

    Args:
        position: the name of the position, such as "xindex". The positions are 0 to `numel` - 1.
        divisor, length, numel: `numel` is a multiple of `divisor` times `length`.

    Source: `torch/_inductor/codegen/simd.py`, `IterationRangesRoot.construct_entries`.
    """
    quotient = position if divisor == 1 else f"{position} // {divisor}"
    return quotient if divisor * length == numel else f"({quotient} % {length})"


def rows_of_tile(node: FusedSchedulerNode) -> int:
    """The number of outer loops that are on an axis y of their own: those up to a loop along which an access goes through memory
    element by element, if it takes larger steps along later loops. So each access is contiguous along one of the axes y and x."""
    accesses = [index for nest in node.nests for index in (nest.index, *(load.index for load in loads(nest.value)))]
    rows = 0
    for number, symbol in enumerate(node.outer[:-1], 1):
        across = [index for index in accesses if stride_of(index, symbol) == 1]
        if any(index.symbols.intersection(node.outer[number:]) for index in across):
            rows = number
    return rows


def make_axes(node: FusedSchedulerNode) -> list[Axis]:
    """The axes of a node, with a variable for each of its loops."""
    if node.inner:
        axes = [Axis("x", node.outer, "[:, None]"), Axis("r0_", node.inner, "[None, :]")]
    elif rows := rows_of_tile(node):
        axes = [Axis("y", node.outer[:rows], "[:, None]"), Axis("x", node.outer[rows:], "[None, :]")]
    else:
        axes = [Axis("x", node.outer, "[:]")]
    number = 0
    for axis in axes:
        below = 1
        for symbol in reversed(axis.loops):
            axis.variables[below, symbol.size] = f"{axis.prefix}{number}"
            number, below = number + 1, below * symbol.size
    return axes


def access_masks(axes: Sequence[Axis], symbols: Iterable[Symbol], conditions: Iterable[str] = ()) -> list[str]:
    """The masks of an access, a list of names in alphabetical order.

    Another position of an axis is another element only if the index has a loop variable of this axis. So these axes count, and
    of them those that have a mask. The conditions under which the value is computed are masks, too.

    Args:
        axes: `axis.mask` is the name of the mask, or None if the axis needs none, and `axis.loops` are its loop variables.
        symbols: the loop variables of the index. A loop variable is a `Symbol`, which is compared by `==` and may be in a set.
        conditions: names of masks.

    Source: `torch/_inductor/codegen/triton.py`, `TritonKernel.indexing`.
    """
    symbols = set(symbols)
    return sorted([*conditions, *(axis.mask for axis in axes if axis.mask and symbols.intersection(axis.loops))])
