"""Lowering rules: the table of rules, and what they are made of.

A rule turns one call of an aten operator into loop IR. It gets a `TensorBox` for every tensor. The rules are in the modules
`lowerings_*`, which register them here; `graph` calls them. In PyTorch: `torch/_inductor/lowering.py`, and `ir.py` for `TensorBox`
and `View`.

A `TensorBox` is a tensor during lowering. Its pointwise work is not computed at once. It waits as a function of the loop
variables, and every user that loads an element computes the element in its own loop. This fuses most chains of pointwise
operators. A box is *realized*, which means that it gets a buffer, where a user needs an address (a product of matrices, an
eager kernel, an output of the graph), or where several users need an expensive result. A view is a function of indices.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from rushlight.aten.native.views import broadcast_shapes
from rushlight.aten.strided import contiguous_strides
from rushlight.c10.dtypes import dtype, result_type
from rushlight.inductor import ir
from rushlight.inductor.index import ZERO, Index, element_index, symbols
from rushlight.inductor.ir import Expr, Pointwise, Reduction, ReinterpretView

V = threading.local()  # `V.graph` is the graph that this thread lowers now. Source: `torch/_inductor/virtualized.py`

# The table of rules --------------------------------------------------------------------------------------------------


class Unsupported(Exception):
    """Raised by a rule that has no loops for these arguments, so that the eager kernel runs."""


Rule = Callable[..., Any]
LOWERINGS: dict[str, Rule] = {}  # by the operator's name


def register_lowering(*names: str) -> Callable[[Rule], Rule]:
    """Decorator: the function is the rule of the aten operators of these names."""

    def register(rule: Rule) -> Rule:
        LOWERINGS.update({f"aten::{name}": rule for name in names})
        return rule

    return register


# A tensor during lowering --------------------------------------------------------------------------------------------

# As torch/_inductor/config.py: realize_reads_threshold, _realize_opcount_threshold_default (on a CPU torch allows 50);
# ir.py: should_realize_on_reuse
MOST_READS, MOST_OPERATIONS = 4, 30
HEAVY = {"exp", "sigmoid"}


@dataclass(eq=False)
class View:
    """Other indices on a box: `reindex` gives the indices of the base for the indices of the view. If the operator is a view in
    memory, `strides` and `offset` (elements, from the first element of the base) are those of its result."""

    base: TensorBox
    sizes: tuple[int, ...]
    reindex: Callable[[Sequence[Index]], Sequence[Index]]
    strides: tuple[int, ...] | None = None
    offset: int = 0


@dataclass(eq=False)
class TensorBox:
    """A tensor during lowering: pending pointwise work, a view of another box, or a view of a buffer."""

    value: Pointwise | View | ReinterpretView
    strides: tuple[int, ...]  # of its buffer, if it is realized
    origins: list[str] = field(default_factory=list)
    loaded: dict[tuple[Index, ...], Expr] = field(default_factory=dict)

    @property
    def sizes(self) -> tuple[int, ...]:
        return self.value.sizes

    @property
    def dtype(self) -> dtype:
        return self.root.value.dtype

    @property
    def root(self) -> TensorBox:
        """The box itself; for a view, the box at the end of the chain of views."""
        return self.value.base.root if isinstance(self.value, View) else self

    def dim(self) -> int:
        return len(self.sizes)

    def load(self, indices: Sequence[Index]) -> Expr:
        """The value of the element at these indices, one `Index` for each dimension."""
        key = tuple(indices)
        if key not in self.loaded:
            value = self.value
            if isinstance(value, Pointwise):
                element = value.inner(list(key))
            elif isinstance(value, View) and (value.strides is None or not value.base.is_realized):
                element = value.base.load(tuple(value.reindex(key)))
            else:
                view = self.in_memory()
                element = ir.load(view.buffer, element_index(key, view.strides, view.offset), view.dtype)
            self.loaded[key] = element
        return self.loaded[key]

    @property
    def pending_origins(self) -> list[str]:
        """The nodes whose pending work every user of the box does."""
        return self.root.origins if isinstance(self.root.value, Pointwise) else []

    @property
    def is_realized(self) -> bool:
        """Return whether its elements are in memory."""
        value = self.value
        if isinstance(value, View):
            return value.strides is not None and value.base.is_realized
        return isinstance(value, ReinterpretView)

    def in_memory(self) -> ReinterpretView:
        """The view of a buffer with its elements. The box is realized first if necessary."""
        if isinstance(self.value, View) and self.value.strides is None:
            base, reindex = self.value.base, self.value.reindex
            self.value = Pointwise(self.sizes, self.dtype, lambda indices: base.load(tuple(reindex(indices))))
        if isinstance(self.value, View):
            base = self.value.base.in_memory()
            offset = base.offset + self.value.offset
            return ReinterpretView(base.buffer, self.sizes, self.value.strides, offset, base.dtype)
        if isinstance(self.value, Pointwise):
            self.value = V.graph.compute(self.value, self.strides, self.origins)
            self.loaded.clear()
        return self.value

    def mark_reuse(self) -> None:
        """The box has several users: realize expensive work, so that it is computed once."""
        root = self.root
        if isinstance(root.value, Pointwise):
            values = list(ir.walk(root.load(loop_indices(root.sizes))))
            reads = sum(isinstance(node, ir.Load) for node in values)
            heavy = any(isinstance(node, ir.Op) and node.name in HEAVY for node in values)
            if heavy or reads > MOST_READS or len(values) - reads > MOST_OPERATIONS:
                root.in_memory()


def box(value: Any, strides: Sequence[int] | None = None) -> TensorBox:
    """The box of pointwise work, of a view, or of a reduction, which gets its buffer at once."""
    if isinstance(value, TensorBox):
        return value
    strides = contiguous_strides(value.sizes) if strides is None else strides
    if isinstance(value, Reduction):
        value = V.graph.compute(value, strides, V.graph.origins)
    return TensorBox(value, tuple(strides), list(V.graph.origins))


def loop_indices(sizes: Sequence[int]) -> list[Index]:
    """The index of each loop of a nest of these sizes."""
    return [Index.of(symbol) for symbol in symbols("i", sizes)]


def broadcast_indices(indices: Sequence[Index], sizes: Sequence[int]) -> list[Index]:
    """The indices of a tensor of `sizes` that is broadcast to the dimensions of `indices`."""
    own = indices[len(indices) - len(sizes) :]
    return [ZERO if size == 1 else index for index, size in zip(own, sizes)]


def load_broadcast(box: TensorBox, indices: Sequence[Index]) -> Expr:
    """The element of a box that is broadcast to the dimensions of `indices`."""
    return box.load(broadcast_indices(indices, box.sizes))


# The two kinds of loops ----------------------------------------------------------------------------------------------


def pointwise(name: str, operands: Sequence[Any], dtype: dtype | None = None) -> Pointwise:
    """An operation on single elements, with broadcasting and promotion.

    Args:
        name: of the operation, for `ir.op`.
        operands: a list or tuple of one or two. An operand with `sizes` is a tensor: `load(indices)`, with a list or tuple of one
            `Index` for each dimension, is its element, `dtype` its dtype. The other operands are Python numbers, which have no
            sizes.
        dtype: of the result. None means the dtype of the computation, which is the `result_type` of the operands.

    Returns:
        a `Pointwise(sizes, dtype, inner)` with the sizes to which all operands broadcast (`broadcast_shapes(*shapes)`) and the
        dtype of the result. `inner(indices)` takes a list or tuple of one `Index` for each of `sizes` and gives the element there,
        an `Expr`: `ir.op(name, *values, dtype=dtype)`, where the argument `dtype` may be None, too. The values are those of the
        operands in the dtype of the computation, `computed`: `ir.cast(element, computed)` of a loaded element,
        `ir.constant(number, computed)` of a number. Dimensions are matched from the last one; a dimension of size 1 of an operand
        has the index `ZERO`.

    >>> graph = rl.aot.make_fx(lambda x, y: x + y)(rl.ones(2, 3), rl.ones(3))
    >>> (nest,) = rl.inductor.graph.lower(graph).operations
    >>> print(nest.value)
    add(x_1[3*i0 + i1], y_1[i1])

    Source: `torch/_inductor/lowering.py`, `make_pointwise`, `broadcast_tensors`, `promote_constants`.
    """
    computed = result_type(*operands)
    tensors = [operand for operand in operands if hasattr(operand, "sizes")]
    sizes = tuple(broadcast_shapes(*(tensor.sizes for tensor in tensors)))

    def inner(indices: Sequence[Index]) -> Expr:
        values = []
        for operand in operands:
            if hasattr(operand, "sizes"):
                own = indices[len(indices) - len(operand.sizes) :]
                own = [ZERO if size == 1 else index for index, size in zip(own, operand.sizes)]
                values.append(ir.cast(operand.load(own), computed))
            else:
                values.append(ir.constant(operand, computed))
        return ir.op(name, *values, dtype=dtype)

    return Pointwise(sizes, dtype or computed, inner)


def reduction(kind: str, operand: Any, dims: Sequence[int], keepdim: bool, dtype: dtype | None = None) -> Reduction:
    """The loops that reduce some dimensions of a tensor.

    Args:
        kind: "sum", "max", ...
        operand: a tensor with `sizes`, `dtype`, and `load(indices)`, the element at a list or tuple of one `Index` for each
            dimension.
        dims: a list or tuple of the dimensions to reduce, in any order, counted from either end, each once.
        keepdim: whether the result keeps them, with size 1.
        dtype: of the computation and of the result; None means the operand's. Elements are converted to it, with
            `ir.cast(element, dtype)`, before they are reduced.

    Returns:
        a `Reduction(sizes, dtype, inner, reduced_sizes, kind)`. `sizes` are the sizes of the result. `reduced_sizes` are the sizes
        of the reduced dimensions in the operand's order. `inner(indices, reduced)` takes a list of an index for each of `sizes` and
        a list of one for each of `reduced_sizes`, and gives the operand's element, an `Expr`.

    >>> graph = rl.aot.make_fx(lambda x: x.sum(1))(rl.ones(2, 3))
    >>> (nest,) = rl.inductor.graph.lower(graph).operations
    >>> print(nest.kind, nest.value)
    sum x_1[3*i0 + r0]

    Source: `torch/_inductor/lowering.py`, `_make_reduction_inner`.
    """
    ndim = len(operand.sizes)
    gone = {dim % ndim for dim in dims}
    kept = [dim for dim in range(ndim) if dim not in gone]
    dtype = dtype or operand.dtype
    sizes = [operand.sizes[dim] if dim in kept else 1 for dim in range(ndim) if keepdim or dim in kept]

    def inner(indices: Sequence[Index], reduced: Sequence[Index]) -> Expr:
        kept_indices = [indices[dim] for dim in kept] if keepdim else indices
        waiting = {False: iter(kept_indices), True: iter(reduced)}
        element = operand.load([next(waiting[dim in gone]) for dim in range(ndim)])
        return ir.cast(element, dtype)

    reduced_sizes = tuple(operand.sizes[dim] for dim in sorted(gone))
    return Reduction(tuple(sizes), dtype, inner, reduced_sizes, kind)
