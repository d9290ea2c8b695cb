"""The graph that a backward pass walks: nodes, the edges between them, and where it ends.

An operator that is called with a tensor that requires grad leaves a *node*: what it needs to know to turn the gradients of
its results into those of its arguments, and *edges* to the nodes that those arguments came from. A leaf, a tensor that
nothing was computed for, ends in an `AccumulateGrad`.

In PyTorch: `torch/csrc/autograd/function.h`, `edge.h`, `variable.h`, `saved_variable.h`, `functions/accumulate_grad.h`,
`torch/autograd/graph.py`. Left out: anomaly mode, hooks that compile, sparse gradients.
"""

from __future__ import annotations

import sys
import weakref
from collections.abc import Callable, Sequence
from itertools import count
from typing import Any, NamedTuple

from rushlight.aten.generated import functions
from rushlight.aten.native import views
from rushlight.aten.strided import Tensor, non_overlapping_and_dense
from rushlight.autograd.grad_mode import AUTOGRAD, set_grad_enabled
from rushlight.c10 import dispatch
from rushlight.c10.dispatch import local
from rushlight.c10.dtypes import dtype
from rushlight.c10.memory_formats import contiguous_format
from rushlight.c10.storage import Size


class Edge(NamedTuple):
    """Where a gradient goes: which node, and which of its inputs. A node of None: nowhere, nobody wants it.

    Source: `torch/csrc/autograd/edge.h`.
    """

    node: Node | None
    input_nr: int = 0


NO_EDGE = Edge(None)
_sequence = count()


class Node:
    """One step of a backward pass. It takes a gradient for each result of the operator that left it, and gives one for
    each argument that can have one, or None.

    `next_edges` says where they go, `input_metadata` which sizes and dtype each gradient it takes has to have. Nodes are
    numbered (`sequence_nr`) in the order in which they were made.

    Source: `torch/csrc/autograd/function.h`, `Node`.
    """

    next_edges: Sequence[Edge] = ()
    pre_hooks: dict | None = None  # hooks are rare: a node has a dict of them once there is one
    tensor_pre_hooks: dict | None = None
    retains_grad_hooks: dict | None = None
    post_hooks: dict | None = None
    released = False

    def __init__(self) -> None:
        self.sequence_nr = next(_sequence)
        self.input_metadata: list[tuple[Size, dtype]] = []

    def apply(self, *grads: Tensor | None) -> Any:
        raise NotImplementedError

    def release_variables(self) -> None:
        """Let go of the saved tensors: the graph has been used."""

    def name(self) -> str:
        return type(self).__name__

    @property
    def next_functions(self) -> tuple[tuple[Node | None, int], ...]:
        return tuple((edge.node, edge.input_nr) for edge in self.next_edges)

    def register_hook(self, hook: Callable) -> RemovableHandle:
        """`hook(grad_inputs, grad_outputs)` runs after the node; what it returns, if anything, takes the place of the
        gradients that the node gave."""
        self.post_hooks = {} if self.post_hooks is None else self.post_hooks
        return RemovableHandle(self.post_hooks, hook)

    def register_prehook(self, hook: Callable) -> RemovableHandle:
        """`hook(grad_outputs)` runs before the node, and may return others."""
        self.pre_hooks = {} if self.pre_hooks is None else self.pre_hooks
        return RemovableHandle(self.pre_hooks, hook)

    def __repr__(self) -> str:
        return f"<{self.name()} object at {id(self):#x}>"


class RemovableHandle:
    """Source: `torch/utils/hooks.py`."""

    _ids = count()

    def __init__(self, hooks: dict, hook: Any) -> None:
        self.id, self._hooks = next(self._ids), hooks
        hooks[self.id] = hook

    def remove(self) -> None:
        self._hooks.pop(self.id, None)

    def __enter__(self) -> RemovableHandle:
        return self

    def __exit__(self, *_: object) -> None:
        self.remove()


class AutogradMeta:
    """What a tensor that has to do with autograd carries. Source: `torch/csrc/autograd/variable.h`, `AutogradMeta`."""

    __slots__ = ("requires_grad", "grad", "grad_fn", "output_nr", "accumulator", "hooks", "retains_grad", "post_hooks")

    def __init__(self, requires_grad: bool = False, grad_fn: Node | None = None, output_nr: int = 0) -> None:
        self.requires_grad, self.grad_fn, self.output_nr = requires_grad, grad_fn, output_nr
        self.grad = self.accumulator = self.hooks = self.post_hooks = None
        self.retains_grad = False


class AccumulateGrad(Node):
    """The end of every path: adds what arrives to `grad` of a leaf.

    Source: `torch/csrc/autograd/functions/accumulate_grad.h`.
    """

    def __init__(self, variable: Tensor) -> None:
        self.sequence_nr = sys.maxsize  # before all others: nothing comes after it
        self.variable = variable
        self.input_metadata = [(variable._sizes, variable.dtype)]

    def apply(self, grad: Tensor | None) -> tuple[()]:
        if grad is not None:
            meta = self.variable._autograd
            if (
                meta.grad is None
                and not (local.grad_enabled or dispatch.fast_path_disabled)
                and sys.getrefcount(grad) <= _ONLY_OURS
                and _is_like(grad, self.variable)
            ):
                meta.grad = grad.detach()  # nobody else knows it: kept without a copy
            else:
                accumulate(self.variable, grad)
            hooks = meta.post_hooks
            for hook in list(hooks.values()) if hooks else ():
                hook(self.variable)
        return ()


def accumulate(variable: Tensor, grad: Tensor) -> None:
    """Add a gradient to that of a leaf, `variable._autograd.grad`.

    The first one is kept: a copy of it, made by `grad_like`, since whoever else holds this one may go on to write to it.
    Later ones are added to the one that is there: in place, so that it stays the same tensor, or, where grad mode is on and
    so the graph of this backward pass is wanted, by an addition with a new result.

    Source: `torch/csrc/autograd/functions/accumulate_grad.h`, `accumulateGrad`.
    """
    meta = variable._autograd
    if meta.grad is None:
        meta.grad = grad_like(grad, variable)
    elif local.grad_enabled:
        meta.grad = meta.grad + grad
    else:
        meta.grad.add_(grad)


_ONLY_OURS = 4  # references: the engine's list, the arguments of two calls, and getrefcount's own


def _is_like(grad: Tensor, variable: Tensor) -> bool:
    """Source: `torch/csrc/autograd/utils/grad_layout_contract.h`, `obeys_layout_contract`."""
    if grad._strides != variable._strides:
        pairs = zip(variable._sizes, grad._strides, variable._strides)
        if any(size != 1 and mine != its for size, mine, its in pairs):
            return False
    return variable._has_plain_strides or non_overlapping_and_dense(variable.shape, variable.stride())


def grad_like(grad: Tensor, variable: Tensor) -> Tensor:
    """A copy of a gradient, with the strides of the variable if these leave no gaps, or else row by row.

    Source: `torch/csrc/autograd/utils/grad_layout_contract.h`, `clone_obey_contract`.
    """
    if variable._has_plain_strides and not local.grad_enabled:
        return functions.clone(grad, memory_format=contiguous_format)  # the same, quickly
    if non_overlapping_and_dense(variable.shape, variable.stride()):
        return grad.new_empty_strided(variable.shape, variable.stride()).copy_(grad)
    return functions.clone(grad, memory_format=contiguous_format)


def gradient_edge(tensor: Tensor) -> Edge:
    """The edge that a gradient of this tensor takes.

    A tensor that was computed has one to its `grad_fn`, to the input that has the tensor's `output_nr`; a leaf that requires
    grad one to the first input of its accumulator (`grad_accumulator`). All else, a tensor that does not require grad or a
    value that is no tensor, has `NO_EDGE`.

    A view is asked for its `grad_fn` before its metadata `_autograd` is read: where its base was written to, both are made
    anew, even if the view had none until then. `_autograd` is None for a tensor that has nothing to do with autograd.

    Source: `torch/csrc/autograd/variable.cpp`, `gradient_edge`.
    """
    if not isinstance(tensor, Tensor) or tensor._autograd is None is tensor._base:
        return NO_EDGE
    node = tensor.grad_fn if tensor._base is not None else tensor._autograd.grad_fn  # of a view perhaps made anew
    meta = tensor._autograd
    if node is not None:
        return Edge(node, meta.output_nr)
    return Edge(grad_accumulator(tensor)) if meta is not None and meta.requires_grad else NO_EDGE


def grad_accumulator(leaf: Tensor) -> AccumulateGrad:
    """The one `AccumulateGrad` of a leaf, which lives as long as a graph holds it."""
    node = leaf._autograd.accumulator and leaf._autograd.accumulator()
    if node is None:
        node = AccumulateGrad(leaf)
        node.tensor_pre_hooks = leaf._autograd.hooks
        leaf._autograd.accumulator = weakref.ref(node)
    return node


# ------------------------------------------------------------------------------------------------------------
# What a node keeps of the tensors that its formulas will need


class SavedTensor:
    """A tensor that a node will need, and the version that it had: who writes into it in between is found out.

    A result of the node itself is saved without its history, since the two would hold each other. Under
    `saved_tensors_hooks` what `pack` made of the tensor is kept in its place, with the edge that its gradient takes.

    Source: `torch/csrc/autograd/saved_variable.h`, `SavedVariable`.
    """

    __slots__ = ("tensor", "version", "is_output", "output_nr", "packed", "edge", "unpack_hook")

    def __init__(self, tensor: Tensor, is_output: bool = False) -> None:
        if not tensor._key_set & AUTOGRAD:
            raise RuntimeError(
                "Inference tensors cannot be saved for backward. A clone, made outside of inference mode, can."
            )
        self.is_output = is_output and not tensor.is_leaf
        self.version, self.tensor, self.unpack_hook = tensor._storage.version, tensor, None
        if self.is_output:
            self.output_nr = tensor._autograd.output_nr
            self.tensor = without_history(tensor)
        if local.saved_tensors_hooks:
            pack, self.unpack_hook = local.saved_tensors_hooks[-1]
            self.edge, self.tensor = NO_EDGE if self.is_output else gradient_edge(tensor), None
            with set_grad_enabled(False):
                self.packed = pack(tensor)


def without_history(tensor: Tensor) -> Tensor:
    """The same memory in a tensor that nothing was computed for. A mode sees how it is made, and can follow it."""
    return functions.detach(tensor) if local.modes else views.alias(tensor)


def unpack_saved(saved: SavedTensor, node: Node) -> Tensor:
    """The tensor that `node` saved, with the history that it had.

    An input is the saved tensor itself. A result of the node was saved without its history, and what is returned is
    `with_edge(tensor, edge)`, whose gradient goes to the node, to the input numbered `saved.output_nr`.

    Where `saved.unpack_hook` is not None, the tensor is what this makes of `saved.packed`, and it too takes an edge: a result
    the same, an input `saved.edge`, unless that is `NO_EDGE`; versions are not looked at.

    Raises:
        RuntimeError: the storage of the saved tensor has another version than `saved.version`: somebody has written to it.

    Source: `torch/csrc/autograd/saved_variable.cpp`, `SavedVariable::unpack`.
    """
    if saved.unpack_hook is not None:
        tensor, edge = saved.unpack_hook(saved.packed), Edge(node, saved.output_nr) if saved.is_output else saved.edge
        return with_edge(tensor, edge) if edge.node is not None else tensor
    tensor = saved.tensor
    if tensor._storage.version != saved.version:
        raise RuntimeError(
            "one of the variables needed for gradient computation has been modified by an inplace operation: "
            f"[{tensor.dtype.type_name}Tensor {list(tensor.shape)}], which is {_whose(tensor, node, saved)}, is at "
            f"version {tensor._storage.version}; expected version {saved.version} instead. Hint: `clone` it before "
            "it is changed, or use the form of the operation that does not write in place."
        )
    return with_edge(tensor, Edge(node, saved.output_nr)) if saved.is_output else tensor


def with_edge(tensor: Tensor, edge: Edge) -> Tensor:
    """The same memory in a tensor whose gradient takes this edge."""
    tensor = without_history(tensor)
    if isinstance(edge.node, AccumulateGrad):
        tensor._autograd = AutogradMeta(True)
        tensor._autograd.accumulator = weakref.ref(edge.node)
    else:
        tensor._autograd = AutogradMeta(False, *edge)
    return tensor


def _whose(tensor: Tensor, node: Node, saved: SavedTensor) -> str:
    if saved.is_output:
        return f"output {saved.output_nr} of {node.name()}"
    fn = tensor._autograd and tensor._autograd.grad_fn
    return f"output {tensor._autograd.output_nr} of {fn.name()}" if fn else "a leaf or has no grad_fn"


def unpack(node: Node, saved: SavedTensor | None | list) -> Any:
    """The tensor that a node saved; None and lists as they were. Raises RuntimeError if the node has let go of it."""
    if node.released:
        raise RuntimeError(
            "Trying to backward through the graph a second time (or directly access saved tensors after they have already "
            "been freed). Saved intermediate values of the graph are freed when you call .backward() or autograd.grad(). "
            "Specify retain_graph=True if you need to backward through the graph a second time or if you need to access "
            "saved tensors after calling backward."
        )
    if isinstance(saved, list):
        return [unpack(node, each) for each in saved]
    return unpack_saved(saved, node) if isinstance(saved, SavedTensor) else saved


def save(tensor: Any, is_output: bool = False) -> Any:
    """A `SavedTensor`, or a list of them; a number or None as it is."""
    if isinstance(tensor, (list, tuple)):
        return [save(each) for each in tensor]
    return SavedTensor(tensor, is_output) if isinstance(tensor, Tensor) else tensor


class saved_tensors_hooks:
    """Within: what a node saves goes through `pack`, and what it needs comes from `unpack`.

    Source: `torch/autograd/graph.py`, `saved_tensors_hooks`.
    """

    def __init__(self, pack_hook: Callable[[Tensor], Any], unpack_hook: Callable[[Any], Tensor]) -> None:
        self.hooks = (pack_hook, unpack_hook)

    def __enter__(self) -> None:
        local.saved_tensors_hooks.append(self.hooks)

    def __exit__(self, *_: object) -> None:
        local.saved_tensors_hooks.pop()
