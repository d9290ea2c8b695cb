"""Lowering of a graph: every node becomes loop IR, an extern kernel or a fallback kernel.

`lower` goes through the nodes in order and calls the rule of each operator (`lowering.LOWERINGS`). An operator that is a formula of
others (`decomposition.FORMULAS`) is lowered by their rules. An operator without a rule runs its eager kernel. In PyTorch:
`torch/_inductor/graph.py` (`GraphLowering`).
"""

from __future__ import annotations

import operator
from collections.abc import Sequence
from itertools import count
from typing import Any

from rushlight.aten.strided import Tensor, contiguous_strides, non_overlapping_and_dense
from rushlight.c10.schema import bind
from rushlight.fx.node import map_aggregate, map_arg
from rushlight.inductor import decomposition, ir, lowerings_pointwise, lowerings_reductions, lowerings_views  # noqa: F401 (rules)
from rushlight.inductor.index import Index, element_index, symbols
from rushlight.inductor.ir import ComputedBuffer, Layout, Operation, Pointwise, Reduction, ReinterpretView
from rushlight.inductor.lowering import LOWERINGS, TensorBox, Unsupported, V, View, box, load_broadcast, loop_indices

LONGEST_CHAIN = 24  # nodes whose work one loop nest does: a deeper expression would exceed Python's recursion limit


def lower(module: Any) -> GraphLowering:
    """The loops of a graph module of functional aten operators, whose nodes have their meta tensors in `meta["val"]`. Source:
    `torch/_inductor/graph.py`, `GraphLowering.run`."""
    ir.clear_expressions()
    graph = GraphLowering(module)
    graph.run()
    return graph


class GraphLowering:
    """A graph and its loops: the buffers, also those of inputs and constants, and the operations that fill them, in order."""

    def __init__(self, module: Any) -> None:
        self.module = module
        self.inputs: list[str] = []
        self.layouts: dict[str, Layout] = {}
        self.constants: dict[str, Tensor] = {}
        self.operations: list[Operation] = []
        self.outputs: list[ReinterpretView | bool | int | float | None] = []
        self.mutated: list[str] = []
        self.node: Any = None  # the node that is lowered now
        self.origins: list[str] = []  # its name, and the names of nodes whose pending work it does
        self.boxes: dict[Any, Any] = {}

    # -- buffers

    def new_buffer(self, layout: Layout, name: str | None = None) -> ReinterpretView:
        """A new buffer, as a view of the whole of it."""
        name = name or next(name for n in count(len(self.operations)) if (name := f"buf{n}") not in self.layouts)
        self.layouts[name] = layout
        return ReinterpretView(name, layout.sizes, layout.strides, 0, layout.dtype)

    def compute(self, value: Pointwise | Reduction, strides: Sequence[int], origins: list[str]) -> ReinterpretView:
        """A new buffer, and the loops that fill it."""
        out = self.new_buffer(Layout(tuple(value.sizes), tuple(strides), value.dtype))
        self.fill(out, value, origins)
        return out

    def fill(self, out: ReinterpretView, value: Pointwise | Reduction, origins: list[str]) -> None:
        """The loops that fill a view of a buffer."""
        if 0 in out.sizes:
            return
        loops, reduced, kind = symbols("i", out.sizes), [], None
        indices = [Index.of(symbol) for symbol in loops]
        if isinstance(value, Reduction):
            reduced, kind = symbols("r", value.reduced_sizes), value.kind
            element = value.inner(indices, [Index.of(symbol) for symbol in reduced])
        else:
            element = value.inner(indices)
        index = element_index(indices, out.strides, out.offset)
        nest = ComputedBuffer(out.buffer, loops, index, element, out.dtype, reduced, kind, list(origins))
        self.operations.append(nest)

    def buffer_like(self, tensor: Tensor, name: str | None = None) -> TensorBox:
        """The box of a new buffer with the layout of a tensor."""
        layout = Layout(tuple(tensor.shape), tuple(tensor.stride()), tensor.dtype)
        return box(self.new_buffer(layout, name), layout.strides)

    # -- nodes

    def run(self) -> None:
        """Lower all nodes."""
        V.graph = self
        outputs: Sequence[Any] = []
        copies: list[tuple[TensorBox, TensorBox]] = []  # target and source, at the end of the graph
        for node in self.module.graph.nodes:
            self.node = node
            if node.op == "output":
                outputs = node.args[0] if isinstance(node.args[0], (list, tuple)) else [node.args[0]]
            elif getattr(node.target, "name", str)() == "aten::copy_" and node.args[0].op == "placeholder":
                target, source = (self.boxes[argument] for argument in node.args[:2])
                copies.append((target, source))
                self.boxes[node] = target
            else:
                self.boxes[node] = self.run_node(node)
        self.node = None
        written = {target.in_memory().buffer for target, _ in copies}
        for result in (self.boxes[output] for output in outputs if hasattr(output, "op")):
            if isinstance(result, TensorBox) and not (result.is_realized and result.in_memory().buffer in written):
                result.in_memory()  # before the graph writes to an input
        self.write_inputs(copies)
        self.outputs = in_memory(map_arg(list(outputs), self.boxes.__getitem__))

    def run_node(self, node: Any) -> Any:
        """The result of a node: a box, or a list of boxes."""
        if node.op == "placeholder":
            self.inputs.append(node.name)
            if not isinstance(val := node.meta.get("val"), Tensor):
                problem = "is no tensor: Inductor compiles for given sizes and numbers only"
                raise RuntimeError(f"the graph's input {node.name} {problem}")
            return self.buffer_like(val, node.name)
        if node.op == "get_attr":
            self.constants[node.name] = operator.attrgetter(node.target)(self.module)
            return self.buffer_like(self.constants[node.name], node.name)
        result = self.call_function(node)
        if isinstance(result, TensorBox):
            if len(node.users) > 1:
                result.mark_reuse()
            if len(result.pending_origins) > LONGEST_CHAIN:
                result.root.in_memory()
        return result

    def call_function(self, node: Any) -> Any:
        """The result of an operator: a box, or a list of boxes."""
        if node.target is operator.getitem:
            return self.boxes[node.args[0]][node.args[1]]
        args, kwargs = map_arg((node.args, node.kwargs), self.boxes.__getitem__)
        boxes = ir.leaves((args, kwargs), TensorBox)
        pending = [name for argument in boxes for name in argument.pending_origins]
        self.origins = list(dict.fromkeys([*pending, node.name]))
        rule, val = LOWERINGS.get(node.target.name()), node.meta["val"]
        dtypes = {tensor.dtype for tensor in ir.leaves((args, val), (TensorBox, Tensor))}
        try:
            if rule is None or not dtypes.issubset(ir.LOOP_DTYPES):
                raise Unsupported
            results = rule(*bind(node.target._schema, args, kwargs))
        except Unsupported:
            return self.fallback(node, args, kwargs)
        if isinstance(val, (list, tuple)):
            return [self.finish(result, meta) for result, meta in zip(results, val)]
        return self.finish(results, val)

    def finish(self, result: Any, val: Tensor) -> TensorBox | None:
        """The box of a rule's result, with the strides that eager execution gives it."""
        if result is None:
            return None
        is_dense = non_overlapping_and_dense(val.shape, val.stride())
        strides = val.stride() if is_dense else contiguous_strides(val.shape)
        if isinstance(result, TensorBox) and isinstance(result.value, Pointwise):
            result.strides = tuple(strides)
        is_view = isinstance(result, View) and result.strides is not None
        result = box(result, result.strides if is_view else strides)
        assert result.sizes == tuple(val.shape) and result.dtype is val.dtype, self.node.target
        return result

    def fallback(self, node: Any, args: tuple, kwargs: dict) -> Any:
        """A call of the operator's eager kernel, with tensors in memory."""
        val = node.meta["val"]
        vals = list(val) if isinstance(val, (list, tuple)) else [val]
        args, kwargs = in_memory((args, kwargs))
        results = [self.buffer_like(meta) if isinstance(meta, Tensor) else None for meta in vals]
        names = [None if result is None else result.value.buffer for result in results]
        pairs = zip(node.target._schema.arguments, args)
        written = [value for argument, value in pairs if argument.alias.endswith("!")]
        mutates = [view.buffer for view in ir.leaves(written, ReinterpretView)]
        self.operations.append(ir.FallbackKernel(node.target, args, kwargs, names, mutates, [node.name]))
        return results if isinstance(val, (list, tuple)) else results[0]

    # -- copies to the graph's inputs

    def write_inputs(self, copies: list[tuple[TensorBox, TensorBox]]) -> None:
        """Copy results to the graph's inputs, as the `copy_` at the end of a functional graph do. A source that reads an
        element which an earlier copy, or an earlier iteration of the same copy, has overwritten is computed into a buffer of
        its own first."""
        written: set[str] = set()
        for number, (target, source) in enumerate(copies):
            if reads_overwritten(target, source, written):
                kept = self.compute(broadcast_copy(target, source), contiguous_strides(target.sizes), source.origins)
                copies[number] = target, box(kept)
            written.add(target.in_memory().buffer)
        for target, source in copies:
            self.fill(target.in_memory(), broadcast_copy(target, source), source.origins or ["copy_"])
            self.mutated.append(target.in_memory().buffer)


def broadcast_copy(target: TensorBox, source: TensorBox) -> Pointwise:
    """The elements of `source`, broadcast and converted to those of `target`."""
    dtype = target.dtype
    return Pointwise(target.sizes, dtype, lambda indices: ir.cast(load_broadcast(source, indices), dtype))


def reads_overwritten(target: TensorBox, source: TensorBox, written: set[str]) -> bool:
    """Return whether a copy reads a buffer in `written`, or reads its target at another element than it writes."""
    view, indices = target.in_memory(), loop_indices(target.sizes)
    index = element_index(indices, view.strides, view.offset)
    loads = ir.loads(broadcast_copy(target, source).inner(indices))
    return any(load.buffer in written or (load.buffer == view.buffer and load.index != index) for load in loads)


# Tensors and arguments -----------------------------------------------------------------------------------------------


def in_memory(value: Any) -> Any:
    """Nested values with the view of a buffer in place of each box."""
    return map_aggregate(value, lambda item: item.in_memory() if isinstance(item, TensorBox) else item)
