"""The work of the kernels for the keys `Autograd` and `ADInplaceOrView`, besides calling the kernel below.

They set the history of results, refuse calls that a graph cannot represent, increment version counters, and record the base
of each view. After an in-place write, every tensor that shares the memory gets a new history. The kernels themselves are
in `generated/variable_type.py`, generated from `derivatives.yaml`.

In PyTorch: `torch/csrc/autograd/VariableTypeUtils.h`, `variable.cpp`, `functions/tensor.h`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from rushlight.aten.generated import functions
from rushlight.aten.native.views import CreationMeta, as_view
from rushlight.aten.strided import Tensor
from rushlight.autograd.grad_mode import AUTOGRAD, set_grad_enabled
from rushlight.autograd.graph import AutogradMeta, Node, autograd_meta, gradient_edge, unpack
from rushlight.c10.dispatch import PYTHON, Operator, call, local, tensors_in
from rushlight.c10.memory_formats import contiguous_format

# Helpers of the kernels for the key Autograd -------------------------------------------------------------------------


def any_requires_grad(tensors: Iterable[Any]) -> bool:
    """Whether a graph is recorded: grad mode is on, and one of these tensors requires grad.
    Source: `torch/csrc/autograd/functions/utils.h`, `compute_requires_grad`."""
    if local.grad_enabled:
        for tensor in tensors:  # faster than `any` of a generator
            if requires_grad(tensor):
                return True
    return False


def requires_grad(tensor: Any) -> bool:
    """Whether a tensor requires grad, without making the new node that a view gets after its base was written to. A view of a
    tensor that requires grad requires grad too, even without a node of its own, because it was made in `no_grad`.
    Source: `torch/csrc/autograd/variable.h`, `DifferentiableViewMeta::requires_grad`."""
    if not isinstance(tensor, Tensor):
        return False
    meta = tensor._autograd
    if meta is not None and (meta.requires_grad or meta.grad_fn is not None):
        return True
    base = tensor._base
    return base is not None and base._autograd is not None and requires_grad(base)


def call_below(below: Callable, *stack: Any) -> Any:
    """Run the kernel below with the autograd keys excluded, so nothing is recorded.
    Source: `aten/src/ATen/core/LegacyTypeDispatch.h`, `AutoDispatchBelowAutograd`."""
    before = local.excluded
    local.excluded = before | AUTOGRAD
    try:
        return below(*stack)
    finally:
        local.excluded = before


def set_history(result: Any, node: Node, differentiable: Sequence[bool] | None = None) -> Any:
    """Make `node` the history of an operator's result, or of each tensor of a list or tuple of results.

    A result is differentiable if its dtype is floating and, if `differentiable` is given, its entry in this list is True. The
    other results stay unchanged. A differentiable result gets new metadata, `_autograd = AutogradMeta(False, node, output_nr)`.
    The pair of its sizes (`_sizes`) and dtype, which its gradient must have, is appended to `node.input_metadata`. `output_nr` is
    the index of that pair, so results that are not differentiable are not counted. Node and results are new:
    `input_metadata` is empty before the call, and the results have no metadata yet.

    Returns:
        `result`, as it was passed.

    >>> node = Node()
    >>> places, values = set_history((rl.arange(3), rl.ones(2)), node)
    >>> places.grad_fn, values.grad_fn is node, values.output_nr
    (None, True, 0)

    Source: `torch/csrc/autograd/functions/utils.h`, `set_history`.
    """
    if (
        result.__class__ is Tensor and differentiable is None and result.dtype.is_floating_point
    ):  # the most frequent case
        result._autograd = AutogradMeta(False, node)
        node.input_metadata.append((result._sizes, result.dtype))
        return result
    for i, tensor in enumerate(result if isinstance(result, (list, tuple)) else (result,)):
        if tensor.dtype.is_floating_point and (differentiable is None or differentiable[i]):
            tensor._autograd = AutogradMeta(False, node, len(node.input_metadata))
            node.input_metadata.append((tensor._sizes, tensor.dtype))
    return result


def set_history_inplace(self: Tensor, node: Node) -> None:
    """Make `node` the history of a tensor whose sizes and strides an operator such as `t_` changed in place. No element changed,
    so the base of a view keeps its history. Source: `torch/csrc/autograd/functions/utils.h`, `set_history`."""
    meta = autograd_meta(self)
    meta.grad_fn, meta.output_nr = node, 0
    self._view_version = self._storage.version
    node.input_metadata.append((self._sizes, self.dtype))


def check_inplace(self: Tensor) -> None:
    """Refuse an in-place write to this tensor if a graph cannot represent it. The kernels call it only while a graph is
    recorded: grad mode is on and is not checked here.

    Raises:
        RuntimeError: the tensor was made by a view operator whose `_creation_meta` is not `CreationMeta.DEFAULT`: then
            `handle_view_on_rebase(self)` raises the error. Or the tensor requires grad (`requires_grad`) and is a view of a
            leaf: its `_base` is a leaf. (The `_base` of a view of a view is never a view.) Or it requires grad and has no
            node, because its metadata `_autograd` are None or have no `grad_fn`.

    `_creation_meta` says how a view was made. It is not `DEFAULT` for one of several views that one call returned, for a view
    that was made in `no_grad`, in inference mode or in a custom `Function`, and for a view of such a view.

    A tensor without a node is a leaf, or a view whose base was written to since the view's `grad_fn` was last read: the
    first reading of `self.grad_fn` or `self.is_leaf` makes the view's node. PyTorch refuses such a view as it refuses a leaf,
    so do not read them here.

    >>> x = rl.ones(3).requires_grad_()
    >>> check_inplace(rl.ones(3)), check_inplace(x * 2), check_inplace((x * 2)[0])  # but check_inplace(x) raises
    (None, None, None)

    Source: `torch/csrc/autograd/VariableTypeUtils.h`, `check_inplace`.
    """
    if self._creation_meta:
        handle_view_on_rebase(self)
    if requires_grad(self):
        if self._base is not None and self._base.is_leaf:
            raise RuntimeError("a view of a leaf Variable that requires grad is being used in an in-place operation.")
        if self._autograd is None or self._autograd.grad_fn is None:
            raise RuntimeError("a leaf Variable that requires grad is being used in an in-place operation.")


def handle_view_on_rebase(self: Tensor, indirect: bool = False) -> None:
    """Refuse an in-place write to a view whose `_creation_meta` is not `DEFAULT`: to the view itself or, if `indirect`, to its
    base. Source: `torch/csrc/autograd/variable.cpp`, `handle_view_on_rebase`."""
    meta, creation_meta = self._autograd, self._creation_meta
    node = None if meta is None else meta.grad_fn
    modified = "its base or another view of its base has been" if indirect else "is being"
    quiet = creation_meta in (CreationMeta.NO_GRAD_MODE, CreationMeta.INFERENCE_MODE)
    operator = node and re.sub(r"Backward\d*$", "", node.name())
    output = f"Output {meta.output_nr if meta else 0} of {operator} is a view"
    if quiet or node is None:
        origin = f"{output} of a view which was created in" if node else "A view was created in"
        inferred = creation_meta is CreationMeta.INFERENCE_MODE
        mode, now = ("inference", "in normal mode") if inferred else ("no_grad", "with grad mode enabled")
        problem = f"{origin} {mode} mode and {modified} modified inplace {now}."
    else:
        problem = f"{output} and {modified} modified inplace."
    raise RuntimeError(f"{problem} {_FORBIDDEN[creation_meta]}")


_AMBIGUOUS = "This is ambiguous, so it is forbidden. Move the view and the inplace operation both inside the"
_FORBIDDEN = {
    CreationMeta.NO_GRAD_MODE: f"{_AMBIGUOUS} no_grad block, or both outside.",
    CreationMeta.INFERENCE_MODE: f"{_AMBIGUOUS} inference_mode block, or both outside.",
    CreationMeta.MULTI_OUTPUT_NODE: "This view is the output of a function that returns multiple views. Such functions do not "
    "allow the output views to be modified inplace. Replace the inplace operation by an out-of-place one.",
    CreationMeta.IN_CUSTOM_FUNCTION: "This view was created inside a custom Function (or because an input was returned as-is): "
    "the new history would replace the custom backward. Clone the output of the custom Function.",
}


def check_no_requires_grad(operator: str, name: str, tensor: Any) -> None:
    """Raise a `RuntimeError` for an argument that requires a gradient and has no derivative.
    Source: `torch/csrc/autograd/VariableTypeUtils.h`, `check_no_requires_grad`."""
    if local.grad_enabled and requires_grad(tensor):
        problem = f"The function '{operator}' is not differentiable with respect to argument '{name}'."
        raise RuntimeError(f"{problem} This input cannot have requires_grad True.")


# Views and writing in place ------------------------------------------------------------------------------------------


class CopySlices(Node):
    """The node of a base after an in-place operator on one of its views. The gradient of the overwritten part goes through the
    operator's node. The gradient of the rest passes unchanged.
    Source: `torch/csrc/autograd/functions/tensor.h`, `CopySlices`."""

    name = Node.cxx_name

    def __init__(self, base: Tensor, view: Tensor, node: Node) -> None:
        super().__init__()
        self.node: Node | None = node
        self.base = (base.shape, base.stride(), base.storage_offset())
        self.view = (view.shape, view.stride(), view.storage_offset() - base.storage_offset())
        self.input_metadata = [(base.shape, base.dtype)]
        self.next_edges = node.edges_in_graph = [gradient_edge(base), *node.next_edges[1:]]
        self.view_fn = view._view_fn

    def apply(self, grad: Tensor | None) -> Sequence[Tensor | None]:  # type: ignore[override]  # it has one input
        if grad is None:
            return [None] * len(self.next_edges)
        if self.node is None:
            return unpack(self, None)  # raises an error
        if self.view_fn is None:
            first, *others = copy_slices(self.node.apply, grad, self.base, self.view)
        else:
            first, *others = copy_slices_with_view_fn(self.node.apply, grad, self.base, self.view_fn)
        return [first if self.next_edges[0].node is not None else None, *others]

    def release_variables(self) -> None:
        self.released, self.node = True, None  # another node may lead to it, through the result that it saved


def copy_slices(function: Callable, grad: Tensor, base: tuple, view: tuple) -> list[Tensor | None]:
    """The gradients of an operator that wrote to a view in place: first the base's, then those of its other arguments.

    The gradient of the base before the operator has two parts. In the region of the view, it is the gradient that `function`
    returns for the view. Elsewhere, it is `grad`. `grad` itself is not written to. `function` gets a contiguous copy of
    `grad` in the region of the view. Every step is an operator, so the result can be differentiated again.

    Args:
        function: maps the gradient of the written view to the gradients of the operator's arguments, the view first. It
            returns a tuple, a list or a single tensor, with None for a missing gradient. If the view has none, the base has
            none.
        grad: the gradient of the base after the operator, with any strides.
        base, view: a tuple of sizes, strides and offset for each. The view's offset is counted from the first element of
            the base.

    Returns:
        a list or a tuple: the gradient of the base, with the base's sizes and strides, and the others as `function` returned them.

    >>> base, second_row = ((2, 2), (2, 1), 0), ((2,), (1,), 2)
    >>> gradients = copy_slices(lambda grad: (grad * 3, grad), rl.ones(2, 2), base, second_row)
    >>> [x.tolist() for x in gradients]
    [[[1.0, 1.0], [3.0, 3.0]], [1.0, 1.0]]

    Source: `torch/csrc/autograd/functions/tensor.cpp`, `CopySlices::apply_impl`.
    """
    sizes, strides, _ = base
    result = grad.new_empty_strided(sizes, strides)
    result.copy_(grad)
    part = functions.as_strided(result, *view)
    first, *others = _as_tuple(function(functions.clone(part, memory_format=contiguous_format)))
    if first is None:
        return [None, *others]
    part.copy_(first)
    return [result, *others]


def copy_slices_with_view_fn(function: Callable, grad: Tensor, base: tuple, view_fn: Sequence) -> list[Tensor | None]:
    """`copy_slices` for a view that was made under a mode. It replays the operators that made the view, so the mode sees them."""
    sizes, strides, _ = base
    result = grad.new_empty_strided(sizes, strides)
    result.copy_(grad)
    part = replay(view_fn, result)
    first, *others = _as_tuple(function(functions.clone(part, memory_format=contiguous_format)))
    if first is None:
        return [None, *others]
    part.copy_(first)
    return [result, *others]


def replay(view_fn: Sequence[tuple], base: Tensor) -> Tensor:
    """Apply the operators of a view to a base. Source: `torch/csrc/autograd/variable.h`, `ViewInfo::view_fn`."""
    for operator, rest, output_nr in view_fn:
        base = call(operator, base, *rest)
        base = base if output_nr is None else base[output_nr]
    return base


def _as_tuple(value: Any) -> tuple:
    return tuple(value) if isinstance(value, (tuple, list)) else (value,)


def rebase_history(self: Tensor, node: Node) -> Tensor:
    """Make `node` the history of a tensor after an in-place operator. If the tensor is a view, its base gets a new history too.
    Source: `torch/csrc/autograd/variable.cpp`, `rebase_history`."""
    output_nr, base = len(node.input_metadata), self._base
    node.input_metadata.append((self._sizes, self.dtype))
    if base is None:
        before = self._autograd
        self._autograd = AutogradMeta(False, node, output_nr)
        _move_retains_grad_hook(before, self)
        return self
    copy = CopySlices(base, self, node)
    before = base._autograd
    base._autograd = AutogradMeta(False, copy)
    _move_retains_grad_hook(before, base)
    self._view_version = -1
    grad_fn(self)
    return self


def _move_retains_grad_hook(before: AutogradMeta | None, self: Tensor) -> None:
    """A tensor that retains its gradient retains it with the new history too. Other hooks stay with the old history."""
    if before is not None:
        autograd_meta(self).grad = before.grad
        if before.retains_grad:
            self.retain_grad()


def grad_fn(self: Tensor) -> Node | None:
    """The node that made a tensor. A view gets a new node if its base was written to since the last one was made.
    Source: `torch/csrc/autograd/variable.cpp`, `VariableHooks::grad_fn`."""
    meta = self._autograd
    base = self._base
    if base is None or self._view_version == self._storage.version:
        return None if meta is None else meta.grad_fn
    if requires_grad(base) or (meta is not None and meta.grad_fn is not None):
        if self._creation_meta:
            handle_view_on_rebase(self, indirect=True)
        before = self._autograd
        meta = self._autograd = AutogradMeta(False, *node_of_view(base, self))
        self._view_version = self._storage.version
        _move_retains_grad_hook(before, self)
    return None if meta is None else meta.grad_fn


def node_of_view(base: Tensor, view: Tensor) -> tuple[Node, int]:
    """A node from a view to its base, and the view's `output_nr`. The node is an `as_strided`, or comes from the operators that
    made the view under a mode."""
    if view._view_fn is not None:
        with set_grad_enabled(True):
            meta = replay(view._view_fn, base)._autograd
        assert meta is not None and meta.grad_fn is not None, "its base requires grad"
        return meta.grad_fn, meta.output_nr
    node = view_node()
    node.next_edges = [gradient_edge(base)]
    node.self_geometry = base.shape, base.stride(), base.storage_offset()
    node.size, node.stride, node.storage_offset = view.shape, view.stride(), view.storage_offset()
    node.input_metadata.append((view._sizes, view.dtype))
    return node, 0


view_node: Any = Node  # `AsStridedBackward0`: `register` sets it, because the module that defines it imports this one


# The kernels for ADInplaceOrView, and the kernels for Autograd that refuse -------------------------------------------


class NotImplementedNode(Node):
    """The node of an operator without a derivative. Source: `torch/csrc/autograd/functions/basic_ops.h`, `NotImplemented`."""

    def __init__(self, operator: Operator) -> None:
        super().__init__()
        self.operator = operator

    def name(self) -> str:
        return "torch::autograd::NotImplemented"

    def apply(self, *grads: Tensor | None) -> Any:
        schema = self.operator.schema
        raise RuntimeError(f"derivative for {schema.namespace}::{schema.name} is not implemented")


def autograd_not_implemented(operator: Operator, key_set: int, *stack: Any, node_class=NotImplementedNode) -> Any:
    """The kernel for Autograd of an operator without a derivative. The call works, and its backward raises.
    Source: `torch/csrc/autograd/autograd_not_implemented_fallback.cpp`."""
    tensors = list(tensors_in(stack))
    if not any_requires_grad(tensors):
        return operator.below[key_set](*stack)
    node = node_class(operator)
    node.next_edges = [gradient_edge(tensor) for tensor in tensors]
    result = call_below(operator.below[key_set], *stack)
    if operator.schema.is_mutable:
        return rebase_history(stack[0], node)
    return set_history(result, node)


def record_view(operator: Operator, key_set: int, self: Tensor, *rest: Any) -> Any:
    """Record the base of each view that an operator returns. Source: `torch/csrc/autograd/VariableTypeUtils.h`, `as_view`."""
    result = operator.below[key_set](self, *rest)
    if result.__class__ is Tensor and not local.modes:  # the most frequent case first
        return as_view(self, result)
    if isinstance(result, Tensor):
        if result._key_set & PYTHON and not result._storage.nbytes():  # one version counter for both
            result._storage = self._storage
        if local.modes:
            result._view_fn = (*(self._view_fn or ()), (operator, rest, None))
        return as_view(self, result)
    for output_nr, view in enumerate(result):
        as_view(self, view, CreationMeta.MULTI_OUTPUT_NODE)
        if local.modes:
            view._view_fn = (*(self._view_fn or ()), (operator, rest, output_nr))
    return result


def increment_version(operator: Operator, key_set: int, *stack: Any) -> Any:
    """The kernel of in-place operators for the key `ADInplaceOrView`: it calls the kernel below and increments the
    version counters. Source: `torch/csrc/autograd/VariableTypeUtils.h`, `increment_version`."""
    result = operator.below[key_set](*stack)
    for tensor in result if isinstance(result, tuple) else (result,):
        if not tensor._key_set & AUTOGRAD:
            if local.inference:
                continue
            if tensor._counts_versions:
                tensor._storage.version += 1
                continue
            problem = "Inplace update to inference tensor outside InferenceMode is not allowed."
            raise RuntimeError(f"{problem} Make a clone of it first, and write to the clone.")
        tensor._storage.version += 1
    return result


def refuse_resize(operator: Operator, key_set: int, self: Tensor, *rest: Any) -> Tensor:
    """The kernel for Autograd of `resize_`. Source: `torch/csrc/autograd/VariableTypeManual.cpp`, `resize_`."""
    if requires_grad(self):
        raise RuntimeError("cannot resize variables that require grad")
    return operator.below[key_set](self, *rest)


def increment_version_if_resized(operator: Operator, key_set: int, self: Tensor, *rest: Any) -> Tensor:
    """The kernel for ADInplaceOrView of `resize_`, which is no write if the sizes stay.
    Source: `torch/csrc/autograd/VariableTypeManual.cpp`, `ADInplaceOrView::resize_`."""
    before = self._sizes
    if operator.below[key_set](self, *rest)._sizes != before:
        self._storage.version += 1
    return self


def refuse_out(operator: Operator, key_set: int, *stack: Any) -> Any:
    """The kernel for Autograd of an operator with `out=`, which a graph cannot represent."""
    if any_requires_grad(tensors_in(stack)):
        problem = "functions with out=... arguments don't support automatic differentiation"
        raise RuntimeError(f"{operator.schema.name}(): {problem}, but one of the arguments requires grad.")
    return operator.below[key_set](*stack)
