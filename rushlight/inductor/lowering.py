"""Lowering: every operator of an aten graph becomes loop IR.

A `Box` is a tensor during lowering. Pointwise work is not done when it is met: it waits as a function of the loop variables,
and whoever loads from it computes it again in his own loop; that is already the fusion of most pointwise chains. It is
*realised*, given a buffer of its own, where somebody needs an address: a product of matrices, an eager kernel, the graph's
output, or several users of something expensive. A view is a function of indices. The rules for single operators are in the
modules `lowerings_*`. In PyTorch: `torch/_inductor/lowering.py`, `graph.py` (`GraphLowering`), `ir.py` (`TensorBox`, `View`).
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import count
from typing import Any

from rushlight.aten.native.views import broadcast_shapes
from rushlight.aten.strided import Tensor, contiguous_strides
from rushlight.c10.dtypes import dtype, result_type
from rushlight.c10.schema import bind
from rushlight.inductor import ir
from rushlight.inductor.index import ZERO, Index, element_index, symbols
from rushlight.inductor.ir import (
    Computed,
    Expr,
    Extern,
    Fallback,
    Layout,
    Load,
    Lowered,
    Operand,
    Pointwise,
    Reduction,
)

# ------------------------------------------------------------------------------------------------------------
# A tensor during lowering


@dataclass(eq=False)
class View:
    """Other indices on a box: `reindex` gives the base's indices for those of the view. Where the operator is a view in memory,
    `strides` and `offset` (elements, from the first of the base) are those of its window."""

    base: Box
    sizes: tuple[int, ...]
    reindex: Callable[[Sequence[Index]], Sequence[Index]]
    strides: tuple[int, ...] | None = None
    offset: int = 0


@dataclass(eq=False)
class Box:
    """A tensor during lowering: pointwise work that waits, a view of another box, or (an `Operand`) a window on a buffer."""

    graph: Lowering
    value: Pointwise | View | Operand
    strides: tuple[int, ...]  # that its buffer has, if it gets one
    origins: list[str] = field(default_factory=list)
    loaded: dict[tuple[Index, ...], Expr] = field(default_factory=dict)

    @property
    def sizes(self) -> tuple[int, ...]:
        return self.value.sizes

    @property
    def dtype(self) -> dtype:
        return self.value.base.dtype if isinstance(self.value, View) else self.value.dtype

    def dim(self) -> int:
        return len(self.sizes)

    def load(self, indices: Sequence[Index]) -> Expr:
        """The value of the element at these indices, one `Index` for each dimension."""
        key = tuple(indices)
        if key not in self.loaded:
            self.loaded[key] = self._load(key)
        return self.loaded[key]

    def _load(self, indices: tuple[Index, ...]) -> Expr:
        value = self.value
        if isinstance(value, Pointwise):
            return value.inner(indices)
        if isinstance(value, View) and (value.strides is None or not value.base.is_stored):
            return value.base.load(tuple(value.reindex(indices)))
        window = self.window()
        return ir.load(window.buffer, element_index(indices, window.strides, window.offset), window.dtype)

    @property
    def waiting(self) -> list[str]:
        """The nodes whose work is done where this box is used, because it waits till then."""
        value = self.value
        return value.base.waiting if isinstance(value, View) else self.origins if isinstance(value, Pointwise) else []

    @property
    def is_stored(self) -> bool:
        """Whether its elements are in memory already."""
        value = self.value
        return isinstance(value, Operand) or (
            isinstance(value, View) and value.strides is not None and value.base.is_stored
        )

    def window(self) -> Operand:
        """Where its elements are in memory; they are computed now if they have not been."""
        if isinstance(self.value, View) and self.value.strides is None:
            base, reindex = self.value.base, self.value.reindex
            self.value = Pointwise(self.sizes, self.dtype, lambda indices: base.load(tuple(reindex(indices))))
        if isinstance(self.value, View):
            base = self.value.base.window()
            return Operand(base.buffer, self.sizes, self.value.strides, base.offset + self.value.offset, base.dtype)
        if isinstance(self.value, Pointwise):
            self.value = self.graph.compute(self.value, self.strides, self.origins)
            self.loaded.clear()
        return self.value

    def realise(self) -> None:
        """Compute it now, if it waits; of a view, what it is a view of."""
        if isinstance(self.value, View):
            self.value.base.realise()
        else:
            self.window()

    def used_again(self) -> None:
        """It has several users: what is expensive is computed once, and kept."""
        if isinstance(self.value, View):
            self.value.base.used_again()
        elif isinstance(self.value, Pointwise):
            values = list(ir.walk(self.load(variables(self.sizes))))
            loads = sum(isinstance(each, Load) for each in values)
            heavy = any(isinstance(each, ir.Op) and each.name in HEAVY for each in values)
            if heavy or loads > MOST_READS or len(values) - loads > MOST_OPERATIONS:
                self.window()


# As torch/_inductor/config.py: realize_reads_threshold, realize_opcount_threshold; ir.py: should_realize_on_reuse
MOST_READS, MOST_OPERATIONS = 4, 30
LONGEST_CHAIN = 24  # nodes that one loop nest takes over: what Python's stack has room for
HEAVY = {"exp", "sigmoid"}

# ------------------------------------------------------------------------------------------------------------
# The two kinds of loops


def pointwise(name: str, operands: Sequence[Any], dtype: dtype | None = None) -> Pointwise:
    """An operation of single elements, with broadcasting and promotion.

    Args:
        name: of the operation, for `ir.op`.
        operands: at least one. One with `sizes` is a tensor: `load(indices)` is its element, `dtype` its dtype; the others
            are Python numbers, and numbers have no sizes.
        dtype: of the result; None: the one in which is computed, the `result_type` of the operands.

    Returns:
        a `Pointwise(sizes, dtype, inner)` of the sizes to which all operands broadcast (`broadcast_shapes(*shapes)`) and the
        dtype of the result. `inner(indices)`, with one `Index` for each of `sizes`, gives the element there, an `Expr`:
        `ir.op(name, *values, dtype=dtype)` of the operands' values in the dtype in which is computed, `ir.cast(element,
        dtype)` of what is loaded, `ir.constant(number, dtype)` for a number. Dimensions are matched from the last one; one of
        size 1 in an operand has the index `ZERO`.

    Source: `torch/_inductor/lowering.py`, `make_pointwise`, `broadcast_tensors`, `promote_constants`.
    """
    computed = result_type(*operands)
    tensors = [each for each in operands if hasattr(each, "sizes")]
    sizes = tuple(broadcast_shapes(*(each.sizes for each in tensors)))

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
        operand: a tensor with `sizes`, `dtype`, and `load(indices)`, the element at one `Index` for each dimension.
        dims: which dimensions, in any order, from either end, each once.
        keepdim: whether the result keeps them, with size 1.
        dtype: in which is computed, and of the result; the operand's if None. Elements are converted to it, with
            `ir.cast(element, dtype)`, before they are reduced.

    Returns:
        a `Reduction(sizes, dtype, inner, reduced_sizes, kind)`. `sizes` are the result's; `reduced_sizes` are the sizes of the
        reduced dimensions in the order in which the operand has them. `inner(indices, reduced)` takes an index for each of
        `sizes` and one for each of `reduced_sizes` and gives the operand's element, an `Expr`.

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


# ------------------------------------------------------------------------------------------------------------
# A graph


class Unsupported(Exception):
    """There is no loop for this: the eager kernel does it."""


Rule = Callable[..., Any]
LOWERINGS: dict[str, Rule] = {}  # by the operator's name; the modules lowerings_* fill it


def lowers(*names: str) -> Callable[[Rule], Rule]:
    """Decorator: this is the rule of the aten operators of these names."""

    def register(rule: Rule) -> Rule:
        for name in names:
            LOWERINGS[f"aten::{name}"] = rule
        return rule

    return register


class Lowering:
    """One graph on its way to loops: its buffers, and the operations that fill them, in order."""

    def __init__(self) -> None:
        self.layouts: dict[str, Layout] = {}
        self.constants: dict[str, Tensor] = {}
        self.operations: list[Computed | Extern | Fallback] = []
        self.inputs: list[str] = []
        self.mutated: list[str] = []
        self.node: Any = None  # that is being lowered
        self.origins: list[str] = []  # its name, and those of the nodes whose work it takes over

    # -- buffers

    def new_buffer(self, layout: Layout, name: str | None = None) -> Operand:
        name = name or next(name for n in count(len(self.operations)) if (name := f"buf{n}") not in self.layouts)
        self.layouts[name] = layout
        return Operand(name, layout.sizes, layout.strides, 0, layout.dtype)

    def compute(self, value: Pointwise | Reduction, strides: Sequence[int], origins: list[str]) -> Operand:
        """A new buffer, and the loops that fill it."""
        out = self.new_buffer(Layout(tuple(value.sizes), tuple(strides), value.dtype))
        self.fill(out, value, origins)
        return out

    def fill(self, out: Operand, value: Pointwise | Reduction, origins: list[str]) -> None:
        if 0 in out.sizes:
            return
        loops = symbols("i", out.sizes)
        indices = [Index.of(symbol) for symbol in loops]
        where = element_index(indices, out.strides, out.offset)
        reduced, kind = [], None
        if isinstance(value, Reduction):
            reduced, kind = symbols("r", value.reduced_sizes), value.kind
            element = value.inner(indices, [Index.of(symbol) for symbol in reduced])
        else:
            element = value.inner(indices)
        self.operations.append(Computed(out.buffer, loops, where, element, out.dtype, reduced, kind, list(origins)))

    def box(self, value: Any, strides: Sequence[int] | None = None, origins: Sequence[str] = ()) -> Box:
        """The box of pointwise work, of a view or a window, or of a reduction, which is given its buffer at once."""
        if isinstance(value, Box):
            return value
        strides = contiguous_strides(value.sizes) if strides is None else strides
        names = list(origins) or list(self.origins)
        if isinstance(value, Reduction):
            value = self.compute(value, strides, names)
        return Box(self, value, tuple(strides), names)

    # -- nodes

    def lower(self, module: Any) -> Lowered:
        """All nodes of a graph module of aten operators."""
        boxes: dict[Any, Any] = {}
        copies: list[tuple[Box, Box]] = []
        outputs: list[Any] = []
        for node in module.graph.nodes:
            self.node = node
            if node.op == "placeholder":
                boxes[node] = self.input(node)
            elif node.op == "get_attr":
                boxes[node] = self.constant(node, attribute(module, node.target))
            elif node.op == "output":
                outputs = list(node.args[0]) if isinstance(node.args[0], (list, tuple)) else [node.args[0]]
            elif is_copy_to_input(node):
                target, source = (boxes[each] for each in node.args[:2])
                copies.append((target, source))
                boxes[node] = target
            else:
                boxes[node] = self.call(node, boxes)
                if isinstance(boxes[node], Box):
                    if len(node.users) > 1:
                        boxes[node].used_again()
                    if len(boxes[node].waiting) > LONGEST_CHAIN:
                        boxes[node].realise()
        self.node = None
        written = {target.window().buffer for target, _ in copies}
        for each in outputs:
            box = boxes[each] if hasattr(each, "op") else None
            if isinstance(box, Box) and not (box.is_stored and box.window().buffer in written):
                box.window()  # before any input is written to
        self.write_inputs(copies)
        results = [
            boxes[each].window() if hasattr(each, "op") and boxes[each] is not None else each for each in outputs
        ]
        return Lowered(self.inputs, self.layouts, self.constants, self.operations, results, self.mutated)

    def input(self, node: Any) -> Any:
        val = node.meta.get("val")
        self.inputs.append(node.name)
        if not isinstance(val, Tensor):
            raise RuntimeError(
                f"the graph's input {node.name} is no tensor: Inductor compiles for given sizes and numbers only"
            )
        return self.box(self.new_buffer(layout_of(val), node.name), val.stride())

    def constant(self, node: Any, tensor: Tensor) -> Box:
        self.constants[node.name] = tensor
        return self.box(self.new_buffer(layout_of(tensor), node.name), tensor.stride())

    def call(self, node: Any, boxes: dict) -> Any:
        """What a call of an operator gives: a box, or a list of them."""
        if node.target is operator.getitem:
            return boxes[node.args[0]][node.args[1]]
        args, kwargs = mapped((node.args, node.kwargs), boxes)
        waiting = [
            name for each in tensors_in((args, list(kwargs.values()))) if isinstance(each, Box) for name in each.waiting
        ]
        self.origins = list(dict.fromkeys([*waiting, node.name]))
        rule = LOWERINGS.get(node.target.name())
        if rule is None or not all(each.dtype in ir.LOOP_DTYPES for each in tensors_in((args, node.meta.get("val")))):
            return self.fallback(node, args, kwargs)
        try:
            results = rule(self, *bind(node.target._schema, args, kwargs))
        except Unsupported:
            return self.fallback(node, args, kwargs)
        val = node.meta["val"]
        if isinstance(val, (list, tuple)):
            return [self.finish(each, meta) for each, meta in zip(results, val)]
        return self.finish(results, val)

    def finish(self, result: Any, val: Tensor) -> Box | None:
        """The box of a result, which has to be as eager execution has it."""
        if result is None:
            return None
        strides = val.stride() if is_dense(val) else contiguous_strides(val.shape)
        if isinstance(result, Box) and isinstance(result.value, Pointwise):
            result.strides = tuple(strides)
        window = isinstance(result, View) and result.strides is not None
        result = self.box(result, result.strides if window else strides)
        if result.sizes != tuple(val.shape) or result.dtype is not val.dtype:
            raise AssertionError(
                f"{self.node.target}: {result.sizes} {result.dtype} instead of {val.shape} {val.dtype}"
            )
        return result

    def fallback(self, node: Any, args: tuple, kwargs: dict) -> Any:
        """The operator's eager kernel, called on tensors in memory."""
        val = node.meta["val"]
        vals = list(val) if isinstance(val, (list, tuple)) else [val]
        args, kwargs = in_memory((args, kwargs))
        results = [
            self.box(self.new_buffer(layout_of(each)), each.stride()) if isinstance(each, Tensor) else None
            for each in vals
        ]
        names = [None if each is None else each.value.buffer for each in results]
        mutates = [
            operand.buffer
            for argument, value in zip(node.target._schema.arguments, args)
            if argument.alias.endswith("!")
            for operand in ir.operands_in(value)
        ]
        self.operations.append(Fallback(node.target, args, kwargs, names, mutates, [node.name]))
        return results if isinstance(val, (list, tuple)) else results[0]

    def write_inputs(self, copies: list[tuple[Box, Box]]) -> None:
        """The `copy_` of results to the graph's inputs, with which a functional graph ends.

        What one of them still has to read of an input that another has written by then is kept before.
        """
        written: set[str] = set()
        for target, source in copies:
            window = target.window()
            indices = variables(window.sizes)
            where = element_index(indices, window.strides, window.offset)
            for each in ir.walk(copied(target, source).inner(indices)):
                if isinstance(each, Load) and (
                    each.buffer in written or (each.buffer == window.buffer and each.index != where)
                ):
                    kept = self.compute(copied(target, source), contiguous_strides(window.sizes), source.origins)
                    copies[copies.index((target, source))] = target, self.box(kept)
                    break
            written.add(window.buffer)
        for target, source in copies:
            self.fill(target.window(), copied(target, source), source.origins or ["copy_"])
            self.mutated.append(target.window().buffer)


def variables(sizes: Sequence[int]) -> list[Index]:
    """The index of each loop of a nest of these sizes."""
    return [Index.of(symbol) for symbol in symbols("i", sizes)]


def copied(target: Box, source: Box) -> Pointwise:
    """The elements of `source` as those of `target` that they are copied to."""

    def inner(indices: Sequence[Index]) -> Expr:
        own = list(indices)[len(indices) - len(source.sizes) :]
        return ir.cast(
            source.load([ZERO if size == 1 else index for index, size in zip(own, source.sizes)]), target.dtype
        )

    return Pointwise(target.sizes, target.dtype, inner)


def is_copy_to_input(node: Any) -> bool:
    """Whether a node is the `copy_` by which a functional graph writes to one of its inputs."""
    return getattr(node.target, "name", str)() == "aten::copy_" and node.args[0].op == "placeholder"


def layout_of(val: Tensor) -> Layout:
    return Layout(tuple(val.shape), tuple(val.stride()), val.dtype)


def is_dense(val: Tensor) -> bool:
    """Whether the elements fill their memory, in any order of dimensions, each in a place of its own."""
    step = 1
    for stride, size in sorted((stride, size) for size, stride in zip(val.shape, val.stride()) if size != 1):
        if stride != step:
            return False
        step *= size
    return True


def attribute(module: Any, name: str) -> Any:
    for part in name.split("."):
        module = getattr(module, part)
    return module


def mapped(value: Any, boxes: dict) -> Any:
    """Nested arguments with a box for each node."""
    if isinstance(value, dict):
        return {key: mapped(each, boxes) for key, each in value.items()}
    if isinstance(value, (list, tuple)):
        return (
            type(value)(mapped(each, boxes) for each in value)
            if type(value) in (list, tuple)
            else [mapped(e, boxes) for e in value]
        )
    return boxes[value] if hasattr(value, "meta") and hasattr(value, "users") else value


def in_memory(value: Any) -> Any:
    """Nested arguments with a window on memory for each box."""
    if isinstance(value, dict):
        return {key: in_memory(each) for key, each in value.items()}
    if isinstance(value, (list, tuple)):
        return type(value)(in_memory(each) for each in value)
    return value.window() if isinstance(value, Box) else value


def tensors_in(value: Any) -> list[Any]:
    """The boxes and tensors in nested lists and tuples."""
    if isinstance(value, (list, tuple)):
        return [found for each in value for found in tensors_in(each)]
    return [value] if isinstance(value, (Box, Tensor)) else []


def lower(module: Any) -> Lowered:
    """The loops of a graph module of functional aten operators, whose nodes have their meta tensors in `meta["val"]`.

    Source: `torch/_inductor/graph.py`, `GraphLowering.run`.
    """
    # these fill LOWERINGS; they need the names above
    from rushlight.inductor import lowerings_pointwise, lowerings_reductions, lowerings_views  # noqa: F401

    ir.forget()
    return Lowering().lower(module)
