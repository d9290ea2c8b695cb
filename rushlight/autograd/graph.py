"""The graph of a backward pass: nodes, the edges between them, and the accumulators at its ends.

An operator that is called with a tensor that requires grad makes a *node*. The node computes the gradients of the arguments
from the gradients of the results. Its *edges* lead to the nodes that made those arguments. The edge of a leaf, a tensor that
no recorded operator made, leads to an `AccumulateGrad`.

In PyTorch: `torch/csrc/autograd/function.h`, `edge.h`, `variable.h`, `saved_variable.h`, `functions/accumulate_grad.h`,
`torch/autograd/graph.py`. Left out: hooks that compile, sparse gradients.
"""

from __future__ import annotations

import sys
import traceback
import weakref
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from functools import cached_property, partial
from itertools import count
from pathlib import Path
from typing import Any, NamedTuple

from rushlight.aten.generated import functions
from rushlight.aten.native import creation, views
from rushlight.aten.strided import Tensor, non_overlapping_and_dense
from rushlight.autograd.grad_mode import AUTOGRAD, set_grad_enabled
from rushlight.c10.dispatch import PYTHON, DispatchMode, local, replacing, tensors_in
from rushlight.c10.dtypes import dtype, float64
from rushlight.c10.fast_paths import fast_form_of, fastest
from rushlight.c10.memory_formats import contiguous_format
from rushlight.c10.schema import bind
from rushlight.c10.storage import Size


class Edge(NamedTuple):
    """Where a gradient goes: a node, and the number of its input. If the node is None, the gradient is not needed.
    Source: `torch/csrc/autograd/edge.h`."""

    node: Node | None
    input_nr: int = 0


NO_EDGE = Edge(None)


class GradientEdge(NamedTuple):
    """The edge of a tensor's gradient. `backward` and `grad` accept it in place of the tensor, which need not exist any more.
    Source: `torch/autograd/graph.py`, `GradientEdge`."""

    node: Node
    output_nr: int


_sequence = count()


class Node:
    """One step of a backward pass. It takes a gradient for each result of its operator, and returns a gradient or None for
    each differentiable argument.

    `next_edges` says where the returned gradients go. `input_metadata` has the sizes and dtype of each gradient that the node
    takes. Nodes are numbered (`sequence_nr`) in the order in which they were made.

    Source: `torch/csrc/autograd/function.h`, `Node`.
    """

    next_edges: Sequence[Edge] = ()
    edges_in_graph: Sequence[Edge] | None = (
        None  # of a node within a `CopySlices`, which stands in the graph: its edges
    )
    pre_hooks: dict | None = None  # hooks are rare, so the first one allocates the dict
    tensor_pre_hooks: dict | None = None
    retains_grad_hooks: dict | None = None
    post_hooks: dict | None = None
    released = False
    requires_grad = True
    # The edge to the next node, that node's type, and a function that runs both nodes: see `fused.fuse`.
    fused: tuple[int, type[Node], Callable] | None = None

    def __init__(self) -> None:
        self.sequence_nr = next(_sequence)
        self.input_metadata: list[tuple[Size, dtype] | tuple[None, None]] = []  # None for a result that is no tensor
        if AnomalyMode.enabled:
            store_stack(self)

    def apply(self, *grads: Tensor | None) -> Any:
        raise NotImplementedError

    def release_variables(self) -> None:
        """Free the saved tensors after the graph was used."""

    def name(self) -> str:
        return type(self).__name__

    def cxx_name(self) -> str:
        """The name of a node whose class is not generated, with its namespace in C++."""
        return f"torch::autograd::{type(self).__name__}"

    def __call__(self, *grads: Tensor | None) -> Any:
        """Run this node alone, without its hooks: the gradients of its edges, or the only one, from those of its inputs.
        Source: `torch/csrc/autograd/python_cpp_function.cpp`, `THPCppFunction_call`."""
        if len(grads) != len(self.input_metadata):
            raise TypeError(f"expected {len(self.input_metadata)} arguments, got {len(grads)} instead")
        for i, grad in enumerate(grads):
            if not isinstance(grad, Tensor | None):
                raise TypeError(f"argument {i} is not a Variable")
        results = tuple(self.apply(*grads))
        return results[0] if len(results) == 1 else results

    @cached_property
    def metadata(self) -> dict[str, Any]:
        """Data that other code stores with the node, such as the anomaly mode."""
        return {}

    def _sequence_nr(self) -> int:
        return self.sequence_nr

    def _set_sequence_nr(self, number: int) -> None:
        self.sequence_nr = number

    @property
    def next_functions(self) -> tuple[tuple[Node | None, int], ...]:
        return tuple((edge.node, edge.input_nr) for edge in self.next_edges)

    def register_hook(self, hook: Callable) -> RemovableHandle:
        """`hook(grad_inputs, grad_outputs)` runs after the node. If it returns gradients, they replace those of the node."""
        self.post_hooks = {} if self.post_hooks is None else self.post_hooks
        return RemovableHandle(self.post_hooks, hook)

    def register_prehook(self, hook: Callable) -> RemovableHandle:
        """`hook(grad_outputs)` runs before the node. It may return replacements."""
        self.pre_hooks = {} if self.pre_hooks is None else self.pre_hooks
        return RemovableHandle(self.pre_hooks, hook)

    def __repr__(self) -> str:
        return f"<{type(self).__name__} object at {id(self):#x}>"


class AnomalyMode:
    """Whether `anomaly_mode.py` has turned the mode on. Source: `torch/csrc/autograd/anomaly_mode.h`."""

    enabled, check_nan = False, True
    evaluating: Node | None = None  # the node that a backward pass runs now


def store_stack(node: Node) -> None:
    """Record the traceback of the call that makes a node, up to the code that called the operator, and the node whose backward
    makes it. Source: `torch/csrc/autograd/python_anomaly_mode.cpp`, `PyAnomalyMetadata::store_stack`, `assign_parent`."""
    frames = traceback.extract_stack()
    while frames and frames[-1].filename.startswith(_OPERATORS):
        frames.pop()
    node.metadata["traceback_"] = traceback.format_list(frames)
    if AnomalyMode.evaluating is not None:
        node.metadata["parent_"] = AnomalyMode.evaluating


_OPERATORS = tuple(str(Path(__file__).parents[1] / room) for room in ("aten", "autograd", "c10"))


class RemovableHandle:
    """Adds a hook to a dict, and removes it. With `prepend`, the hook is the first one of an `OrderedDict`. With `is_extra`, its
    number is in `extra_dict` too. Source: `torch/utils/hooks.py`."""

    _ids = count()

    def __init__(
        self, hooks: Any, hook: Any, extra_dict: Any = None, prepend: bool = False, is_extra: bool = False
    ) -> None:
        self.id, self._hooks, self._extra_dict = next(self._ids), hooks, extra_dict
        hooks[self.id] = hook
        if prepend:
            hooks.move_to_end(self.id, last=False)
        if is_extra:
            extra_dict[self.id] = True

    def remove(self) -> None:
        self._hooks.pop(self.id, None)
        if self._extra_dict is not None:
            self._extra_dict.pop(self.id, None)

    def __enter__(self) -> RemovableHandle:
        return self

    def __exit__(self, *_: object) -> None:
        self.remove()


class AutogradMeta:
    """The autograd metadata of a tensor. Source: `torch/csrc/autograd/variable.h`, `AutogradMeta`."""

    __slots__ = ("requires_grad", "grad", "grad_fn", "output_nr", "accumulator", "hooks", "retains_grad", "post_hooks")
    grad: Tensor | None
    accumulator: weakref.ref[AccumulateGrad] | None
    hooks: dict | None
    post_hooks: dict | None

    def __init__(self, requires_grad: bool = False, grad_fn: Node | None = None, output_nr: int = 0) -> None:
        self.requires_grad, self.grad_fn, self.output_nr = requires_grad, grad_fn, output_nr
        self.grad = self.accumulator = self.hooks = self.post_hooks = None
        self.retains_grad = False


def autograd_meta(tensor: Tensor) -> AutogradMeta:
    """The metadata of a tensor, made at the first call. Source: `variable.cpp`, `materialize_autograd_meta`."""
    if tensor._autograd is None:
        tensor._autograd = AutogradMeta()
    return tensor._autograd


class AccumulateGrad(Node):
    """The end of every path: it adds the gradient that arrives to the `grad` of a leaf.
    Source: `torch/csrc/autograd/functions/accumulate_grad.h`."""

    name = Node.cxx_name

    def __init__(self, variable: Tensor) -> None:
        self.sequence_nr = sys.maxsize  # runs before all others: it has no next edges
        self.variable = variable
        self.input_metadata = [(variable._sizes, variable.dtype)]
        if AnomalyMode.enabled:
            store_stack(self)

    def apply(self, grad: Tensor | None) -> tuple[()]:  # type: ignore[override]  # it has one input
        meta = self.variable._autograd
        assert meta is not None, "a leaf with an accumulator requires grad"
        if grad is not None and meta.grad_fn is not None:
            raise RuntimeError("leaf variable has been moved into the graph interior")
        if grad is not None and meta.requires_grad:
            shared = sys.getrefcount(grad) > _UNSHARED_REFCOUNT + bool(self.post_hooks)  # which get it, too
            (accumulate if shared else fastest[accumulate])(self.variable, grad)
        for hook in list(meta.post_hooks.values()) if meta.post_hooks else ():  # they run without a gradient, too
            if hook(self.variable) is not None:
                raise RuntimeError("Tensor post accumulate grad hooks should return None.")
        return ()


def accumulate(variable: Tensor, grad: Tensor) -> None:
    """Add a gradient to the gradient of a leaf, `variable._autograd.grad`.

    The first gradient is copied by `clone_obey_contract`, because other code may hold it and write to it later. A later
    gradient is added to the stored one. As in torch, grad mode (`local.grad_enabled`) decides whether the sum is the same
    tensor or a new one.

    >>> w, given = rl.zeros(2).requires_grad_(), rl.ones(2)
    >>> accumulate(w, given), accumulate(w, given)
    (None, None)
    >>> w.grad.tolist(), given.tolist()
    ([2.0, 2.0], [1.0, 1.0])

    Source: `torch/csrc/autograd/functions/accumulate_grad.h`, `accumulateGrad`.
    """
    meta = variable._autograd
    if meta.grad is None:
        meta.grad = clone_obey_contract(grad, variable)
    elif local.grad_enabled:
        meta.grad = meta.grad + grad
    else:
        meta.grad.add_(grad)


@fast_form_of(accumulate, "autograd")
def steal_or_accumulate(variable: Tensor, grad: Tensor) -> None:
    """`accumulate` of a gradient that no other code holds: keep the first one itself, as PyTorch does.
    Source: `torch/csrc/autograd/functions/accumulate_grad.h`, `accumulateGrad`."""
    meta = variable._autograd
    if meta.grad is None and not local.grad_enabled and _obeys_layout_contract(grad, variable):
        has_history = grad._autograd is not None or grad._base is not None
        meta.grad = grad.detach() if has_history or local.modes else grad  # without history no `detach` is needed
    else:
        accumulate(variable, grad)


_UNSHARED_REFCOUNT = 3  # the arguments of `apply` as a tuple, its parameter, and getrefcount's own argument


def _obeys_layout_contract(grad: Tensor, variable: Tensor) -> bool:
    """Source: `torch/csrc/autograd/utils/grad_layout_contract.h`, `obeys_layout_contract`."""
    if not (variable._has_plain_strides or non_overlapping_and_dense(variable.shape, variable.stride())):
        return grad.is_contiguous()
    if grad._strides != variable._strides:
        if len(grad._sizes) > len(variable._sizes):  # those of the variable were changed in place
            return False
        pairs = zip(grad._sizes, grad._strides, variable._strides)
        return not any(size != 1 and mine != its for size, mine, its in pairs)
    return True


def clone_obey_contract(grad: Tensor, variable: Tensor) -> Tensor:
    """Copy a gradient, with the strides of the variable if these have no gaps or overlap, otherwise in row-major order.
    Source: `torch/csrc/autograd/utils/grad_layout_contract.h`, `clone_obey_contract`."""
    if variable._has_plain_strides and not (local.grad_enabled or local.modes) and grad._sizes == variable._sizes:
        copy = functions.clone(grad, memory_format=contiguous_format)  # fast path, with the same result
        copy._storage.version += 1
        return copy
    if non_overlapping_and_dense(variable.shape, variable.stride()):
        return grad.new_empty_strided(variable.shape, variable.stride()).copy_(grad)
    return functions.clone(grad, memory_format=contiguous_format)


def gradient_edge(tensor: Tensor) -> Edge:
    """The edge that a gradient of this tensor takes, an `Edge`.

    The edge of a computed tensor leads to its `grad_fn`, to the input whose number is the tensor's `output_nr`. The edge of a
    leaf that requires grad leads to the first input of its accumulator (`grad_accumulator`). A tensor that does not require
    grad, and a value that is not a tensor, have `NO_EDGE`. Grad mode changes nothing.

    For a view, `grad_fn` is read before the metadata `_autograd`: reading it makes both again if the base was written to, even
    if the view had neither before. `_autograd` is None for a tensor without autograd metadata.

    >>> x = rl.ones(3).requires_grad_()
    >>> top, rest = (x * 2).split([1, 2])
    >>> gradient_edge(rest).node is top.grad_fn, gradient_edge(rest).input_nr, gradient_edge(2.5) == NO_EDGE
    (True, 1, True)

    Source: `torch/csrc/autograd/variable.cpp`, `gradient_edge`.
    """
    if not isinstance(tensor, Tensor) or (tensor._autograd is None and tensor._base is None):
        return NO_EDGE
    # `grad_fn` of a view may rebuild the node
    node = tensor.grad_fn if tensor._base is not None else tensor._autograd.grad_fn
    meta = tensor._autograd
    if node is not None:
        return Edge(node, meta.output_nr)
    return Edge(grad_accumulator(tensor)) if meta is not None else NO_EDGE


def edges_to_compute(node: Node) -> Sequence[Edge]:
    """The edges of a node, with `NO_EDGE` in the place of each whose gradient the running backward pass does not need, because it
    computes the gradients of some inputs only. Source: `torch/csrc/autograd/node.h`, `task_should_compute_output`."""
    task = local.graph_task
    if task is None or task.captures is None:
        return node.next_edges
    edges = node.next_edges if node.edges_in_graph is None else node.edges_in_graph
    return [edge if edge.node in task.nodes else NO_EDGE for edge in edges]


def get_gradient_edge(tensor: Tensor) -> GradientEdge:
    """Return the edge of the graph at which the gradient of a tensor arrives.

    Source: `torch/autograd/graph.py`, `get_gradient_edge`.
    """
    edge = gradient_edge(tensor)
    if edge.node is None:
        raise RuntimeError("It is not possible to get the gradient edge for a Tensor that does not require gradients")
    return GradientEdge(edge.node, edge.input_nr)


def grad_accumulator(leaf: Tensor) -> AccumulateGrad | None:
    """The only `AccumulateGrad` of a leaf. It lives while a graph holds it. A leaf that requires grad only because it is a view
    of a tensor that does, made in `no_grad`, has none, and neither has a tensor that does not require grad.
    Source: `torch/csrc/autograd/variable.cpp`, `grad_accumulator`."""
    meta = leaf._autograd
    if meta is None or not meta.requires_grad:
        return None
    node = None if meta.accumulator is None else meta.accumulator()
    if node is None:
        node = AccumulateGrad(leaf)
        node.tensor_pre_hooks = meta.hooks
        meta.accumulator = weakref.ref(node)
    return node


# Saved tensors: the tensors that a node's formulas need --------------------------------------------------------------


class SavedTensor:
    """A tensor that a node needs in backward, with its version when it was saved, so that a later write is detected.

    A result of the node itself is saved without its history, because node and result would otherwise reference each other.
    Under `saved_tensors_hooks`, the value that `pack` returned is saved instead, with the edge of the tensor's gradient.

    Source: `torch/csrc/autograd/saved_variable.h`, `SavedVariable`.
    """

    __slots__ = ("tensor", "version", "is_output", "output_nr", "packed", "edge", "unpack_hook", "history", "view_node")
    tensor: Tensor
    unpack_hook: Callable[[Any], Tensor] | None
    view_node: weakref.ref[Node] | None  # of a view that the node's operator has written to: its own node

    def __init__(self, tensor: Tensor, is_output: bool = False) -> None:
        if not tensor._key_set & AUTOGRAD:
            remedy = "Clone the tensor outside of inference mode, and use the clone."
            raise RuntimeError(f"Inference tensors cannot be saved for backward. {remedy}")
        hooks = local.saved_tensors_hooks
        self.version, self.tensor, self.unpack_hook, self.view_node = tensor._storage.version, tensor, None, None
        meta, is_view = tensor._autograd, tensor._base is not None
        self.is_output = is_output and (
            not tensor.is_leaf if is_view else meta is not None and meta.grad_fn is not None
        )
        if self.is_output:
            assert tensor._autograd is not None, "it is no leaf"
            self.output_nr = tensor._autograd.output_nr
            if is_view and (node := tensor.grad_fn) is not None:
                self.view_node = weakref.ref(node)
            if not hooks:
                self.tensor = without_history(tensor)
        # With hooks, the history would hold the node that holds this object.
        self.history = None if hooks else self.tensor._autograd
        if hooks:
            self.register_hooks(*hooks[-1], tensor)

    def register_hooks(self, pack_hook: Callable, unpack_hook: Callable, tensor: Tensor | None = None) -> None:
        """Save the value that `pack_hook` returns instead of the tensor."""
        if self.unpack_hook is not None:
            problem = "Calling register_hooks on a saved tensor whose hooks have already been set."
            raise RuntimeError(f"{problem} Hint: only one pair of hooks is allowed at a time.")
        tensor = self.tensor if tensor is None else tensor
        self.edge = NO_EDGE if self.is_output else gradient_edge(tensor)
        self.tensor = None  # type: ignore[assignment]  # from now on `packed` has its place
        # A view of a leaf that was made in `no_grad` requires grad and has no edge: it becomes a leaf.
        is_leaf = self.edge.node is None and not self.is_output and tensor.requires_grad
        unpacked = as_leaf if is_leaf else lambda tensor: tensor
        self.unpack_hook = lambda packed: unpacked(check_unpacked(unpack_hook(packed)))
        try:
            with set_grad_enabled(False):
                self.packed = pack_hook(tensor)
        except BaseException:
            if self.is_output:  # its node holds it until it is saved
                tensor._autograd.grad_fn.release_variables()
            raise
        if tensor._storage.version != self.version:
            problem = "A saved tensor pack hook is modifying its input in place."
            raise RuntimeError(f"{problem} Clone the tensor in the hook, and write to the clone.")


def check_unpacked(value: Any) -> Tensor:
    """The tensor that an unpack hook has returned. Another type raises a `TypeError`."""
    if not isinstance(value, Tensor):
        problem = "Output of saved tensor unpack_hook expected to be a Tensor"
        raise TypeError(f"{problem} but got result of type {type(value).__name__}")
    return value


def without_history(tensor: Tensor) -> Tensor:
    """A tensor on the same memory without a history. It is made by an operator if there is a mode or a `__torch_dispatch__` of its
    class, which must intercept it."""
    return functions.detach(tensor) if local.modes or tensor._key_set & PYTHON else views.alias(tensor)


def unpack_saved(saved: SavedTensor, node: Node) -> Tensor:
    """The tensor that `node` saved, with the history that it had.

    `saved.is_output` says whether the tensor is a result of the node. If no hook replaced it, the tensor is `saved.tensor`, and
    `saved.unpack_hook` is None. Return the tensor of an input itself. The tensor of a result was saved without its history:
    return `with_edge(saved.tensor, edge)`. This edge leads to the node, to its input with the number `saved.output_nr`. Only
    the saved tensor of a result has an `output_nr`.

    If `saved.unpack_hook` is not None, a hook replaced the tensor, and versions are not compared. The tensor is now the hook's
    result, `saved.unpack_hook(saved.packed)`. Return it with an edge (`with_edge`). A result has the same edge as without a
    hook. An input has `saved.edge`. If `saved.edge` is `NO_EDGE`, return the hook's result itself.

    Raises:
        RuntimeError: there is no hook, and the version of the saved tensor's storage is not `saved.version`, because the tensor
            was written to.

    >>> y = rl.ones(2).requires_grad_().exp()
    >>> tensor = unpack_saved(y.grad_fn.saved_result, y.grad_fn)
    >>> tensor is y, tensor.grad_fn is y.grad_fn, tensor.tolist() == y.tolist()
    (False, True, True)

    Source: `torch/csrc/autograd/saved_variable.cpp`, `SavedVariable::unpack`.
    """
    if saved.unpack_hook is not None:
        tensor, edge = saved.unpack_hook(saved.packed), Edge(node, saved.output_nr) if saved.is_output else saved.edge
        return with_edge(tensor, edge) if edge.node is not None else tensor
    tensor = saved.tensor
    if tensor._storage.version != saved.version:
        raise RuntimeError(
            "one of the variables needed for gradient computation has been modified by an inplace operation: "
            f"[{tensor.dtype.type_name}Tensor {list(tensor.shape)}], which is {_describe_origin(tensor, node, saved)}, is at "
            f"version {tensor._storage.version}; expected version {saved.version} instead. Hint: `clone` it before "
            "it is changed, or use the out-of-place form of the operation."
        )
    return with_edge(tensor, Edge(node, saved.output_nr)) if saved.is_output else tensor


@fast_form_of(unpack_saved, "autograd")
def unpack_for_formula(saved: SavedTensor, node: Node) -> Tensor:
    """`unpack_saved` without the history of a result, in a backward pass that no graph and no mode records."""
    is_recorded = local.grad_enabled or local.modes or local.graph_task is None
    if is_recorded or saved.unpack_hook is not None or saved.tensor._storage.version != saved.version:
        return unpack_saved(saved, node)
    return saved.tensor


def with_edge(tensor: Tensor, edge: Edge) -> Tensor:
    """A tensor on the same memory, whose gradient takes this edge."""
    tensor = without_history(tensor)
    if isinstance(edge.node, AccumulateGrad):
        tensor._autograd = meta = AutogradMeta(True)
        meta.accumulator = weakref.ref(edge.node)
    else:
        tensor._autograd = AutogradMeta(False, *edge)
    return tensor


def as_leaf(tensor: Tensor) -> Tensor:
    """The tensor without its history, as a leaf that requires a gradient."""
    tensor = without_history(tensor)
    tensor._autograd = AutogradMeta(True)
    return tensor


def _describe_origin(tensor: Tensor, node: Node, saved: SavedTensor) -> str:
    if saved.is_output:
        return f"output {saved.output_nr} of {node.name()}"
    meta = tensor._autograd
    if meta is None or meta.grad_fn is None:
        return "a leaf or has no grad_fn"
    return f"output {meta.output_nr} of {meta.grad_fn.name()}"


def unpack(node: Node, saved: SavedTensor | None | list) -> Any:
    """The tensor that a node saved, or a list of them; other values unchanged. Raises RuntimeError if the node has freed them."""
    if node.released:
        raise RuntimeError(
            "Trying to backward through the graph a second time (or directly access saved tensors after they have already "
            "been freed). Saved intermediate values of the graph are freed when you call .backward() or autograd.grad(). "
            "Specify retain_graph=True if you need to backward through the graph a second time or if you need to access "
            "saved tensors after calling backward."
        )
    if isinstance(saved, list):
        return [unpack(node, entry) for entry in saved]
    if not isinstance(saved, SavedTensor):
        return saved
    if saved.view_node is not None or (saved.tensor is not None and saved.tensor._autograd is not saved.history):
        node = node_of_result(saved, node)
    return fastest[unpack_saved](saved, node)


def node_of_result(saved: SavedTensor, node: Node) -> Node:
    """The node to which the edge of a saved result leads: `node`, which has saved it, or the node of the view that the operator
    has written to. Raises RuntimeError if `detach_` has taken the history of a saved input.
    Source: `torch/csrc/autograd/saved_variable.cpp`, `SavedVariable::unpack`."""
    before, now = saved.history, None if saved.tensor is None else saved.tensor._autograd
    if saved.tensor is not None and before is not None and before.grad_fn and (now is None or now.grad_fn is None):
        problem = "Trying to use a saved tensor that has been detached in-place, i.e. with .detach_()."
        raise RuntimeError(f"{problem}This is not supported, please use out-of-place `.detach()` instead")
    return node if saved.view_node is None else saved.view_node() or node


def save(tensor: Any, is_output: bool = False) -> Any:
    """Save a tensor as a `SavedTensor`, or a list of them as a list. A number or None stays unchanged."""
    if isinstance(tensor, Tensor):
        return SavedTensor(tensor, is_output)
    return [save(entry) for entry in tensor] if isinstance(tensor, (list, tuple)) else tensor


# The saved values of a node as attributes, `node._saved_self`. Source: `tools/autograd/templates/python_functions.cpp`


def tensor_getters(slot: str) -> tuple[property, property]:
    """The attributes `_saved_*` and `_raw_saved_*` of a node that saves a tensor, or a list of tensors, in `slot`. Reading them
    raises RuntimeError if the node has freed its tensors."""

    def unpacked(node: Node) -> Any:
        value = unpack(node, getattr(node, slot))
        if isinstance(value, (int, float)):  # a number in place of a tensor
            return creation.tensor(value, dtype=float64 if isinstance(value, float) else None)
        return tuple(value) if isinstance(value, list) else value

    def raw(node: Node) -> Any:
        value = getattr(node, slot)
        unpack(node, None)  # raises if the node has freed it
        return tuple(value) if isinstance(value, list) else value

    return property(unpacked), property(raw)


def value_getter(slot: str, shown: Callable[[Any], Any] = lambda value: value) -> property:
    """The attribute `_saved_*` of a node for a value that is not a tensor. A list becomes a tuple."""

    def read(node: Node) -> Any:
        value = getattr(node, slot)
        return tuple(map(shown, value)) if isinstance(value, (list, tuple)) else shown(value)

    return property(read)


def int_getter(slot: str) -> property:
    """`value_getter` for an argument of type int. As in PyTorch, the number is read as an unsigned one: -1 is `2**64 - 1`."""
    return value_getter(slot, lambda number: None if number is None else int(number) % 2**64)


# Hooks of saved tensors, and a hook of several gradients -------------------------------------------------------------


class saved_tensors_hooks:
    """In this block, each node saves `pack_hook(tensor)` instead of a tensor. Backward calls `unpack_hook` on the saved value.
    Source: `torch/autograd/graph.py`, `saved_tensors_hooks`."""

    def __init__(self, pack_hook: Callable[[Tensor], Any], unpack_hook: Callable[[Any], Tensor]) -> None:
        self.pack_hook, self.unpack_hook = pack_hook, unpack_hook

    def __enter__(self) -> None:
        if local.saved_tensors_hooks_disabled is not None:
            raise RuntimeError(local.saved_tensors_hooks_disabled)
        local.saved_tensors_hooks.append((self.pack_hook, self.unpack_hook))

    def __exit__(self, *_: object) -> None:
        if not local.saved_tensors_hooks:
            raise RuntimeError("saved_tensors_hooks: the block was left already")
        local.saved_tensors_hooks.pop()


class save_on_cpu(saved_tensors_hooks):
    """In this block, nodes save their tensors on the CPU. Source: `torch/autograd/graph.py`, `save_on_cpu`."""

    def __init__(self, pin_memory: bool = False, device_type: str = "cuda") -> None:
        super().__init__(lambda tensor: (tensor.device, tensor.to("cpu")), lambda packed: packed[1].to(packed[0]))


def disable_saved_tensors_hooks(error_message: str) -> AbstractContextManager:
    """In this block, `saved_tensors_hooks` raise a RuntimeError with this message.
    Source: `torch/autograd/graph.py`, `disable_saved_tensors_hooks`."""
    if local.saved_tensors_hooks:
        raise RuntimeError(error_message)
    return replacing(local, saved_tensors_hooks_disabled=error_message)


def register_multi_grad_hook(tensors: Sequence[Tensor], fn: Callable, *, mode: str = "all") -> MultiHandle:
    """A hook of several tensors. With the mode "all", `fn(grads)` runs once in each backward pass, when all gradients of the
    tensors that this pass computes are known; the other gradients are None. With "any", `fn(grad)` runs for the first gradient.
    Source: `torch/autograd/graph.py`, `register_multi_grad_hook`."""
    if mode not in ("all", "any"):
        raise ValueError(f"Expects mode to be one of ('all', 'any') but got {mode}")
    if mode == "any":
        done: weakref.WeakSet[Any] = weakref.WeakSet()  # the backward passes in which it ran

        def run_first(grad: Tensor) -> None:
            if local.graph_task not in done:
                done.add(local.graph_task)
                fn(grad)

        return MultiHandle(tensor.register_hook(run_first) for tensor in tensors if tensor.requires_grad)
    nodes = [get_gradient_edge(tensor).node for tensor in tensors]
    # By backward pass: the gradients so far, by index.
    arrived: weakref.WeakKeyDictionary[Any, dict[int, Tensor]] = weakref.WeakKeyDictionary()

    def run_last(i: int, grad: Tensor) -> None:
        grads = arrived.setdefault(local.graph_task, {})
        grads[i] = grad
        if len(grads) == sum(map(local.graph_task.will_execute, nodes)):
            fn([grads.get(i) for i in range(len(nodes))])
            del arrived[local.graph_task]

    return MultiHandle(tensor.register_hook(partial(run_last, i)) for i, tensor in enumerate(tensors))


class MultiHandle:
    """The handle of several hooks: `remove()` removes all of them.
    Source: `torch/autograd/graph.py`, `_MultiHandle`."""

    def __init__(self, handles: Iterable[RemovableHandle]) -> None:
        self.handles = tuple(handles)

    def remove(self) -> None:
        for handle in self.handles:
            handle.remove()

    __enter__, __exit__ = RemovableHandle.__enter__, RemovableHandle.__exit__


def increment_version(tensor: Tensor | Iterable[Tensor]) -> None:
    """Record that other code has written to these tensors. Source: `torch/autograd/graph.py`, `increment_version`."""
    for written in (tensor,) if isinstance(tensor, Tensor) else tensor:
        if not written.is_inference():
            written._storage.version += 1


class _Handle:
    """What a node saves instead of a tensor."""


class _AllowMutationOnSavedContext:
    """The tensors that are saved in the context: themselves, or clones if they were written to since.
    Source: `torch/autograd/graph.py`, `_AllowMutationOnSavedContext`."""

    def __init__(self) -> None:
        self.cloned: Any = weakref.WeakKeyDictionary()
        self.original: Any = weakref.WeakKeyDictionary()
        self.tid_to_weakhandle: Any = weakref.WeakValueDictionary()  # by tensor and version
        self.sid_to_tid: dict[tuple, set[tuple]] = {}  # by memory and version
        self.active = True

    def pack(self, tensor: Tensor) -> _Handle:
        tid = (*_sid(tensor), id(tensor))
        handle = self.tid_to_weakhandle.get(tid)
        if handle is None:
            handle = self.tid_to_weakhandle[tid] = _Handle()
            self.original[handle] = tensor
            self.sid_to_tid.setdefault(_sid(tensor), set()).add(tid)
        return handle

    def unpack(self, handle: _Handle) -> Tensor:
        if not self.active or handle not in self.cloned and handle not in self.original:
            problem = "Trying to backward outside of the 'allow_mutation_on_saved_tensors' context"
            raise AssertionError(f"{problem} in which the graph was originally recorded.")
        return self.cloned[handle] if handle in self.cloned else self.original[handle]

    def before_write(self, tensor: Tensor) -> None:
        """Clone the saved tensors on the memory of a tensor."""
        for tid in self.sid_to_tid.pop(_sid(tensor), ()):
            handle = self.tid_to_weakhandle.get(tid)
            if handle in self.original:
                self.cloned[handle] = self.original.pop(handle).clone()


def _sid(tensor: Tensor) -> tuple:
    return id(tensor._storage), tensor._storage.version


class _CloneArgBeforeMutateMode(DispatchMode):
    """Source: `torch/autograd/graph.py`, `_CloneArgBeforeMutateMode`."""

    def __init__(self, context: _AllowMutationOnSavedContext) -> None:
        self.context = context

    def __torch_dispatch__(self, func: Any, types: Sequence[type], args: tuple = (), kwargs: dict | None = None) -> Any:
        for argument, value in zip(func.schema.arguments, bind(func.schema, args, kwargs or {})):
            for tensor in tensors_in([value]) if argument.is_written else ():
                self.context.before_write(tensor)
        return func(*args, **(kwargs or {}))


@contextmanager
def allow_mutation_on_saved_tensors() -> Iterator[_AllowMutationOnSavedContext]:
    """In this block, a tensor that a node has saved may be written to in place: it is cloned before. The backward pass must be in
    the block too. Source: `torch/autograd/graph.py`, `allow_mutation_on_saved_tensors`."""
    if any(isinstance(mode, _CloneArgBeforeMutateMode) for mode in local.modes):
        raise RuntimeError("allow_mutation_on_saved_tensors contexts cannot be nested")
    context = _AllowMutationOnSavedContext()
    with saved_tensors_hooks(context.pack, context.unpack), _CloneArgBeforeMutateMode(context):
        try:
            yield context
        finally:
            context.cloned.clear()
            context.active = False
