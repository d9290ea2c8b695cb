"""Automatic differentiation backwards: a graph of what was computed, and an engine that runs it from the end.

An operator that is called with a tensor that requires grad leaves a *node*: what it needs to know to turn the gradients of
its results into those of its arguments, and *edges* to the nodes that those arguments came from. A leaf, a tensor that
nothing was computed for, ends in an `AccumulateGrad`. `backward` walks from a result along the edges, each node once and
not before all that lead to it. The kernels that leave nodes are in `variable_type.py`, generated from `derivatives.yaml`.

In PyTorch: `torch/csrc/autograd/` (`function.h`, `engine.cpp`, `variable.h`, `saved_variable.h`), `torch/autograd/`. Left out:
forward mode, one thread per device, anomaly mode, hooks that compile, sparse gradients.
"""

from __future__ import annotations

import sys
import weakref
from collections.abc import Callable, Iterable, Sequence
from contextlib import ContextDecorator
from functools import partial
from heapq import heappop, heappush
from itertools import count
from typing import Any, NamedTuple

from rushlight import functions
from rushlight.dispatch import BIT, INFERENCE_KEYS, DispatchKey, Kernel, Operator, local, tensors_in
from rushlight.dtypes import dtype
from rushlight.storage import Size
from rushlight.strided import Tensor
from rushlight.views import as_view

__all__ = [
    "no_grad",
    "enable_grad",
    "set_grad_enabled",
    "inference_mode",
    "is_grad_enabled",
    "is_inference_mode_enabled",
]

AUTOGRAD = BIT["AutogradFunctionality"]

# ------------------------------------------------------------------------------------------------------------
# The graph


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

    def needs(self, i: int) -> bool:
        """Whether anybody wants the gradient of argument `i`. Source: `Node::task_should_compute_output`."""
        return self.next_edges[i].node is not None

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
        super().__init__()
        self.sequence_nr = sys.maxsize  # before all others: nothing comes after it
        self.variable = variable
        self.input_metadata = [(variable._sizes, variable.dtype)]

    def apply(self, grad: Tensor | None) -> tuple[()]:
        if grad is not None:
            accumulate(self.variable, grad)
            for hook in list((self.variable._autograd.post_hooks or {}).values()):
                hook(self.variable)
        return ()


def accumulate(variable: Tensor, grad: Tensor) -> None:
    """Add a gradient to that of a leaf: the first one is kept, later ones are added to it, in place unless the graph of
    this backward pass is wanted. A kept gradient must be nobody else's: unless this is the only place where it is known,
    it is copied.

    Source: `torch/csrc/autograd/functions/accumulate_grad.h`, `accumulateGrad`.
    """
    meta = variable._autograd
    if meta.grad is None:
        if local.grad_enabled:
            meta.grad = grad.clone()
        else:
            owned = sys.getrefcount(grad) <= _ONLY_OURS and grad.stride() == variable.stride()
            meta.grad = grad.detach() if owned else _like(grad, variable)
    elif local.grad_enabled:
        meta.grad = meta.grad + grad
    else:
        meta.grad.add_(grad)


_ONLY_OURS = 5  # references: the engine's list, the arguments of three calls, and getrefcount's own


def _like(grad: Tensor, variable: Tensor) -> Tensor:
    """A copy of a gradient with the strides of the variable, if these are dense."""
    return functions.empty_like(variable).copy_(grad)


def gradient_edge(tensor: Tensor) -> Edge:
    """The edge that a gradient of this tensor takes: to its `grad_fn`, or to the accumulator of a leaf.

    Source: `torch/csrc/autograd/variable.cpp`, `gradient_edge`.
    """
    if not isinstance(tensor, Tensor) or tensor._autograd is None is tensor._base:
        return NO_EDGE
    if (node := grad_fn(tensor)) is not None:
        return Edge(node, tensor._autograd.output_nr)
    meta = tensor._autograd
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
# What a kernel for the key Autograd does


def any_requires_grad(tensors: Iterable[Any]) -> bool:
    """Whether a graph is to be recorded: grad mode is on, and one of these requires grad.

    Source: `torch/csrc/autograd/VariableTypeUtils.h`, `compute_requires_grad`.
    """
    return local.grad_enabled and any(requires_grad(tensor) for tensor in tensors)


def requires_grad(tensor: Any) -> bool:
    if not isinstance(tensor, Tensor) or tensor._autograd is None is tensor._base:
        return False
    return grad_fn(tensor) is not None or tensor._autograd is not None and tensor._autograd.requires_grad


def call_below(below: Callable, *stack: Any) -> Any:
    """Run the kernel below, in which nothing is recorded. Source: `at::AutoDispatchBelowAutograd`."""
    before = local.excluded
    local.excluded = before | AUTOGRAD
    try:
        return below(*stack)
    finally:
        local.excluded = before


def set_history(result: Any, node: Node, differentiable: Sequence[bool] | None = None) -> Any:
    """Make `node` the `grad_fn` of a result, or of each tensor of a sequence of results, and remember what they look like.

    Source: `torch/csrc/autograd/functions/utils.h`, `set_history`.
    """
    for i, tensor in enumerate(result if isinstance(result, (list, tuple)) else (result,)):
        if tensor.dtype.is_floating_point and (differentiable is None or differentiable[i]):
            tensor._autograd = AutogradMeta(False, node, i)
            tensor._view_version = tensor._storage.version
        node.input_metadata.append((tensor._sizes, tensor.dtype))
    return result


def check_inplace(self: Tensor) -> None:
    """Refuse to write over what the graph begins with.

    Source: `torch/csrc/autograd/VariableTypeUtils.h`, `check_inplace`.
    """
    if not (local.grad_enabled and requires_grad(self)):
        return
    base = self._base
    if base is not None and base._autograd is not None and base.is_leaf and base.requires_grad:
        raise RuntimeError("a view of a leaf Variable that requires grad is being used in an in-place operation.")
    if self.is_leaf:
        raise RuntimeError("a leaf Variable that requires grad is being used in an in-place operation.")
    if self._one_of_many:
        raise RuntimeError(
            f"Output {self.output_nr} of {self.grad_fn.name()} is a view and is being modified inplace. This view is the "
            "output of a function that returns multiple views. Such functions do not allow the output views to be "
            "modified inplace. You should replace the inplace operation by an out-of-place one."
        )


def refuse_grad(operator: str, name: str, tensor: Any) -> None:
    """Source: `torch/csrc/autograd/VariableTypeUtils.h`, `check_no_requires_grad`."""
    if any_requires_grad((tensor,)):
        raise RuntimeError(
            f"The function '{operator}' is not differentiable with respect to argument '{name}'. This input cannot have "
            "requires_grad True."
        )


class SavedTensor:
    """A tensor that a node will need, and the version that it had: who writes into it in between is found out.

    A result of the node itself is saved without its `grad_fn`, since the two would hold each other.

    Source: `torch/csrc/autograd/saved_variable.h`, `SavedVariable`.
    """

    __slots__ = ("tensor", "version", "is_output", "output_nr", "packed", "unpack_hook")

    def __init__(self, tensor: Tensor, is_output: bool = False) -> None:
        self.is_output, self.version = is_output, tensor._storage.version
        self.unpack_hook = None
        if is_output:
            self.output_nr = tensor._autograd.output_nr if tensor._autograd is not None else 0
            tensor = functions.detach(tensor)
        self.tensor = tensor
        if local.saved_tensors_hooks:
            pack, self.unpack_hook = local.saved_tensors_hooks[-1]
            with no_grad():
                self.packed, self.tensor = pack(tensor), None

    def unpack(self, node: Node) -> Tensor:
        if self.unpack_hook is not None:
            return self.unpack_hook(self.packed)
        tensor = self.tensor
        if tensor._storage.version != self.version:
            raise RuntimeError(
                "one of the variables needed for gradient computation has been modified by an inplace operation: "
                f"[{tensor.dtype.type_name}Tensor {list(tensor.shape)}], which is {_whose(tensor, node, self)}, is at "
                f"version {tensor._storage.version}; expected version {self.version} instead. Hint: `clone` it before "
                "it is changed, or use the form of the operation that does not write in place."
            )
        if self.is_output and local.grad_enabled:
            tensor = functions.detach(tensor)
            tensor._autograd = AutogradMeta(False, node, self.output_nr)
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
    return saved.unpack(node) if isinstance(saved, SavedTensor) else saved


def save(tensor: Any, is_output: bool = False) -> Any:
    """A `SavedTensor`, or a list of them; a number or None as it is."""
    if isinstance(tensor, (list, tuple)):
        return [save(each) for each in tensor]
    return SavedTensor(tensor, is_output) if isinstance(tensor, Tensor) else tensor


# ------------------------------------------------------------------------------------------------------------
# The engine


def validate(grad: Tensor | None, metadata: tuple[Size | None, dtype | None], node: Node, i: int) -> Tensor | None:
    """A gradient on its way to the input of a node, with the sizes and dtype that this has to have: where the forward
    operator broadcast an argument, its gradient is summed over the copies.

    Source: `torch/csrc/autograd/engine.cpp`, `validate_outputs`.
    """
    sizes, dtype = metadata
    if grad is None or sizes is None:
        return grad
    if grad._sizes != sizes:
        if not is_expandable_to(sizes, grad._sizes):
            raise RuntimeError(
                f"Function {node.name()} returned an invalid gradient at index {i} - got {list(grad.shape)} but expected "
                f"shape compatible with {list(sizes)}"
            )
        grad = sum_to(grad, sizes)
    return grad if grad.dtype is dtype else grad.to(dtype)


def is_expandable_to(sizes: Sequence[int], to: Sequence[int]) -> bool:
    """Source: `aten/src/ATen/ExpandUtils.h`, `is_expandable_to`."""
    return len(sizes) <= len(to) and all(a in (1, b) for a, b in zip(reversed(sizes), reversed(to)))


def sum_to(grad: Tensor, sizes: Sequence[int]) -> Tensor:
    """A gradient of the broadcast sizes as one of `sizes`: the sum over all copies of each element.

    Dimensions that broadcasting put in front are summed away; those that it stretched from size 1 are summed and stay, with
    size 1. A gradient that has the sizes already is returned as it is.

    Args:
        grad: of sizes to which `sizes` broadcast.

    Source: `aten/src/ATen/ExpandUtils.h`, `sum_to`.
    """
    new_dims = grad.dim() - len(sizes)
    stretched = [d for d in range(new_dims, grad.dim()) if sizes[d - new_dims] == 1 and grad.shape[d] != 1]
    dims = [*range(new_dims), *stretched]
    if dims:
        grad = functions.sum(grad, dims, True)
    return grad.view(tuple(sizes)) if new_dims else grad


def count_dependencies(roots: Iterable[Node]) -> dict[Node, int]:
    """For each node that can be reached from the roots: how many edges lead to it from nodes that can be reached.

    A node may run when as many gradients have arrived. An edge counts as often as it is there. There is no recursion: a
    graph may be a hundred thousand nodes deep.

    Args:
        roots: nodes; one that is there twice is one root.

    Returns:
        a dict with every node that can be reached, the roots included.

    Source: `torch/csrc/autograd/engine.cpp`, `compute_dependencies`.
    """
    dependencies: dict[Node, int] = {root: 0 for root in roots}
    waiting = list(dependencies)
    while waiting:
        for node, _ in waiting.pop().next_edges:
            if node is None:
                continue
            if node not in dependencies:
                dependencies[node] = 0
                waiting.append(node)
            dependencies[node] += 1
    return dependencies


def run_backward(
    roots: Sequence[Edge],
    grads: Sequence[Tensor | None],
    keep_graph: bool,
    create_graph: bool,
    captures: dict[Edge, list[int]] | None = None,
) -> dict[int, Tensor]:
    """Run the graph from the roots, each with its gradient, to its ends, or to the edges that are captured.

    Of the nodes to which everything has come that will come, the one with the highest `sequence_nr` runs first. With
    `captures` (edges, and the places in the answer that their gradients go to) only the nodes on a way to one run, and
    nothing is accumulated.

    Returns:
        the captured gradients by place.

    Source: `torch/csrc/autograd/engine.cpp`, `Engine::execute` and `evaluate_function`.
    """
    dependencies = count_dependencies(edge.node for edge in roots)
    captures_of: dict[Node, list[tuple[int, list[int]]]] = {}
    for (node, i), places in (captures or {}).items():
        captures_of.setdefault(node, []).append((i, places))
    wanted = None if captures is None else on_the_way_to(captures_of, dependencies)
    inputs: dict[Node, list] = {}
    for (node, i), grad in zip(roots, grads):
        _add_input(inputs, node, i, grad)
    ready, captured = [], {}
    for node in inputs:
        if dependencies[node] == 0:
            heappush(ready, (-node.sequence_nr, next(_sequence), node))
    mode, local.grad_enabled = local.grad_enabled, create_graph
    try:
        while ready:
            node = heappop(ready)[2]
            given = _run_tensor_hooks(node, inputs.pop(node))
            for i, places in captures_of.get(node, ()):
                if given[i] is not None:
                    captured |= dict.fromkeys(places, given[i])
            outputs = _run_node(node, given, keep_graph) if wanted is None or node in wanted else None
            for successor in _sent(node, outputs, inputs):
                if successor is None:
                    continue
                dependencies[successor] -= 1
                if dependencies[successor] == 0:
                    heappush(ready, (-successor.sequence_nr, next(_sequence), successor))
            given = outputs = None  # a gradient that only its next node knows may be kept by it
    finally:
        local.grad_enabled = mode
    return captured


def _sent(node: Node, outputs: Sequence[Tensor | None] | None, inputs: dict[Node, list]) -> list[Node | None]:
    """Put a node's gradients where its edges lead. Returns the nodes there."""
    for (successor, i), grad in zip(node.next_edges, outputs or [None] * len(node.next_edges)):
        if successor is not None:
            if grad is not None:
                grad = validate(grad, successor.input_metadata[i], node, i)
            _add_input(inputs, successor, i, grad)
    return [successor for successor, _ in node.next_edges]


def on_the_way_to(ends: Iterable[Node], reachable: Iterable[Node]) -> set[Node]:
    """The nodes from which one of `ends` can be reached by at least one edge.

    Source: `torch/csrc/autograd/engine.cpp`, `GraphTask::init_to_execute`.
    """
    before: dict[Node, list[Node]] = {}
    for node in reachable:
        for successor, _ in node.next_edges:
            before.setdefault(successor, []).append(node)
    found, waiting = set(), list(ends)
    while waiting:
        for node in before.get(waiting.pop(), ()):
            if node not in found:
                found.add(node)
                waiting.append(node)
    return found


def _add_input(inputs: dict[Node, list], node: Node, i: int, grad: Tensor | None) -> None:
    """Put a gradient where it is collected; those that arrive at the same place are added up.

    Source: `torch/csrc/autograd/input_buffer.cpp`, `InputBuffer::add`.
    """
    buffer = inputs.get(node)
    if buffer is None:
        buffer = inputs[node] = [None] * max(len(node.input_metadata), 1)
    if grad is not None:
        buffer[i] = grad if buffer[i] is None else buffer[i] + grad


def _run_tensor_hooks(node: Node, grads: list) -> list:
    """The hooks of the tensors whose gradients these are: those that may change them, then those that only look."""
    for hooks in node.tensor_pre_hooks, node.retains_grad_hooks:
        for i, hook in list((hooks or {}).values()):
            changed = hook(grads[i])
            grads[i] = grads[i] if changed is None else changed
    return grads


def _run_node(node: Node, grads: list, keep_graph: bool) -> Sequence[Tensor | None]:
    for hook in list((node.pre_hooks or {}).values()):
        changed = hook(tuple(grads))
        grads = grads if changed is None else list(changed if isinstance(changed, tuple) else (changed,))
    outputs = node.apply(*grads)
    if not isinstance(outputs, (tuple, list)):
        outputs = (outputs,)
    if not keep_graph:
        node.release_variables()
    for hook in list((node.post_hooks or {}).values()):
        changed = hook(tuple(outputs), tuple(grads))
        outputs = outputs if changed is None else changed if isinstance(changed, tuple) else (changed,)
    return outputs


# ------------------------------------------------------------------------------------------------------------
# Asking for gradients


def backward(
    tensors: Tensor | Sequence[Tensor],
    grad_tensors: Tensor | Sequence[Tensor | None] | None = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    inputs: Tensor | Sequence[Tensor] | None = None,
) -> None:
    """Compute the gradients of the tensors with respect to the leaves (or to `inputs` only) and add them to their `grad`.

    Source: `torch/autograd/__init__.py`, `backward`.
    """
    tensors = (tensors,) if isinstance(tensors, Tensor) else tuple(tensors)
    if inputs is not None:
        inputs = (inputs,) if isinstance(inputs, Tensor) else tuple(inputs)
        if not inputs:
            raise RuntimeError("`inputs` argument to `backward()` cannot be empty.")
        for tensor, found in zip(inputs, _grad(tensors, grad_tensors, inputs, retain_graph, create_graph, True)):
            if found is not None:
                accumulate(tensor, found)
        return
    roots, grads = _roots(tensors, grad_tensors)
    run_backward(roots, grads, create_graph if retain_graph is None else retain_graph, create_graph)


def grad(
    outputs: Tensor | Sequence[Tensor],
    inputs: Tensor | Sequence[Tensor],
    grad_outputs: Tensor | Sequence[Tensor | None] | None = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    allow_unused: bool | None = None,
    materialize_grads: bool = False,
) -> tuple[Tensor | None, ...]:
    """The gradients of the outputs with respect to the inputs, which are added to no `grad`.

    Raises RuntimeError for an input that the outputs do not depend on, unless `allow_unused`.

    Source: `torch/autograd/__init__.py`, `grad`.
    """
    outputs = (outputs,) if isinstance(outputs, Tensor) else tuple(outputs)
    inputs = (inputs,) if isinstance(inputs, Tensor) else tuple(inputs)
    if materialize_grads and allow_unused is False:
        raise ValueError("Expected allow_unused to be True or not passed when materialize_grads=True, but got: False.")
    unused = materialize_grads if allow_unused is None else allow_unused
    found = _grad(outputs, grad_outputs, inputs, retain_graph, create_graph, unused)
    if materialize_grads:
        found = tuple(functions.zeros_like(x) if g is None else g for x, g in zip(inputs, found))
    return found


def _grad(outputs, grad_outputs, inputs, retain_graph, create_graph, allow_unused) -> tuple[Tensor | None, ...]:
    roots, grads = _roots(outputs, grad_outputs)
    captures: dict[Edge, list[int]] = {}
    for place, tensor in enumerate(inputs):
        edge = gradient_edge(tensor)
        if edge.node is None:
            raise RuntimeError("One of the differentiated Tensors does not require grad")
        captures.setdefault(edge, []).append(place)
    found = run_backward(roots, grads, create_graph if retain_graph is None else retain_graph, create_graph, captures)
    if not allow_unused and len(found) < len(inputs):
        raise RuntimeError(
            "One of the differentiated Tensors appears to not have been used in the graph. Set allow_unused=True if this is "
            "the desired behavior."
        )
    return tuple(found.get(place) for place in range(len(inputs)))


def _roots(tensors: Sequence[Tensor], grads: Any) -> tuple[list[Edge], list[Tensor]]:
    """Where to begin, and with which gradients: of a tensor with one element it is 1 unless given."""
    if grads is None or isinstance(grads, Tensor):
        grads = (grads,) * len(tensors) if grads is None else (grads,)
    if len(grads) != len(tensors):
        raise RuntimeError(f"got {len(tensors)} tensors and {len(grads)} gradients")
    edges, made = [], []
    for i, (tensor, grad) in enumerate(zip(tensors, grads)):
        if grad is None:
            if tensor.numel() != 1 and requires_grad(tensor):
                raise RuntimeError("grad can be implicitly created only for scalar outputs")
            grad = functions.ones_like(tensor)
        elif grad.shape != tensor.shape:
            raise RuntimeError(
                f"Mismatch in shape: grad_output[{i}] has a shape of {list(grad.shape)} and output[{i}] has a shape of "
                f"{list(tensor.shape)}."
            )
        edge = gradient_edge(tensor)
        if edge.node is None:
            raise RuntimeError(f"element {i} of tensors does not require grad and does not have a grad_fn")
        edges.append(edge)
        made.append(grad)
    return edges, made


# ------------------------------------------------------------------------------------------------------------
# What is recorded, and what is not


class set_grad_enabled(ContextDecorator):
    """From now on, or within: whether a graph is recorded. Source: `torch/autograd/grad_mode.py`."""

    def __init__(self, mode: bool) -> None:
        self.mode, self.before, local.grad_enabled = mode, local.grad_enabled, mode

    def __enter__(self) -> None:
        local.grad_enabled = self.mode

    def __exit__(self, *_: object) -> None:
        local.grad_enabled = self.before


class _GradMode(ContextDecorator):
    mode: bool

    def __new__(cls, function: Callable | None = None):
        self = super().__new__(cls)
        self.before = []
        return self if function is None else self(function)

    def __enter__(self) -> None:
        self.before.append(local.grad_enabled)
        local.grad_enabled = self.mode

    def __exit__(self, *_: object) -> None:
        local.grad_enabled = self.before.pop()


class no_grad(_GradMode):
    """Within: no graph is recorded."""

    mode = False


class enable_grad(_GradMode):
    """Within: a graph is recorded, also inside `no_grad`."""

    mode = True


class inference_mode(ContextDecorator):
    """Within: no graph, no versions, no record of views. Tensors that are made within are never part of a graph.

    Source: `c10/core/InferenceMode.h`.
    """

    def __init__(self, mode: bool = True) -> None:
        self.mode, self.before = mode, []

    def __enter__(self) -> None:
        self.before.append((local.grad_enabled, local.excluded, local.included, local.inference, local.tensor_keys))
        if self.mode:
            local.grad_enabled, local.inference, local.tensor_keys = False, True, INFERENCE_KEYS
            local.excluded |= AUTOGRAD
            local.included &= ~BIT["ADInplaceOrView"]

    def __exit__(self, *_: object) -> None:
        local.grad_enabled, local.excluded, local.included, local.inference, local.tensor_keys = self.before.pop()


def is_grad_enabled() -> bool:
    return local.grad_enabled


def is_inference_mode_enabled() -> bool:
    return local.inference


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


# ------------------------------------------------------------------------------------------------------------
# Views and writing in place


class CopySlices(Node):
    """What an in-place operator on a view does to the base: the gradient of the part that was overwritten goes through the
    operator's node, that of the rest passes by.

    Source: `torch/csrc/autograd/functions/tensor.h`, `CopySlices`.
    """

    def __init__(self, base: Tensor, view: Tensor, node: Node) -> None:
        super().__init__()
        self.node = node
        self.base = (base.shape, base.stride(), base.storage_offset())
        self.view = (view.shape, view.stride(), view.storage_offset() - base.storage_offset())
        self.input_metadata = [(base.shape, base.dtype)]
        self.next_edges = [gradient_edge(base), *node.next_edges[1:]]

    def apply(self, grad: Tensor | None) -> Sequence[Tensor | None]:
        if grad is None:
            return [None] * len(self.next_edges)
        if self.node is None:
            unpack(self, None)
        sizes, strides, _ = self.base
        result = functions.empty_strided(sizes, strides, dtype=grad.dtype)
        result.copy_(grad)
        part = functions.as_strided(result, *self.view)
        first, *others = _as_tuple(self.node.apply(functions.clone(part)))
        if first is None:
            part.zero_()
        else:
            part.copy_(first if first.shape == part.shape else sum_to(first, part.shape))
        return [result if self.next_edges[0].node is not None else None, *others]

    def release_variables(self) -> None:
        self.released = True
        if self.node is not None:
            self.node.release_variables()
            self.node = None


def _as_tuple(value: Any) -> tuple:
    return tuple(value) if isinstance(value, (tuple, list)) else (value,)


def rebase_history(self: Tensor, node: Node) -> Tensor:
    """After an in-place operator: `node` is where the tensor comes from now. If it is a view, its base comes from it too.

    Source: `torch/csrc/autograd/variable.cpp`, `rebase_history`.
    """
    node.input_metadata.append((self._sizes, self.dtype))
    base = self._base
    if base is None:
        keep = self._autograd
        self._autograd = AutogradMeta(False, node)
        _move_hooks(keep, self)
        return self
    copy = CopySlices(base, self, node)
    before = base._autograd
    base._autograd = AutogradMeta(False, copy)
    _move_hooks(before, base)
    self._autograd = AutogradMeta()
    self._view_version = -1
    grad_fn(self)
    return self


def _move_hooks(before: AutogradMeta | None, self: Tensor) -> None:
    """A tensor that retains its gradient goes on doing so for its new history; other hooks stay with the old."""
    if before is not None and before.retains_grad:
        retain_grad(self)


def grad_fn(self: Tensor) -> Node | None:
    """The node that a tensor came from. That of a view is made anew when its base has been written to since.

    Source: `torch/csrc/autograd/variable.cpp`, `VariableHooks::grad_fn`.
    """
    meta = self._autograd
    base = self._base
    if base is not None and base._autograd is not None and self._view_version != self._storage.version:
        if base._autograd.grad_fn is not None or (meta is not None and meta.grad_fn is not None):
            if self._one_of_many:
                raise RuntimeError(
                    "A view, one of several from one call, has a base that was modified in place since, or another view of "
                    "it was. Such views do not follow: replace the operation in place by one that is not."
                )
            node = view_node()
            node.next_edges = [gradient_edge(base)]
            node.self_shape, node.self_stride, node.self_offset = base.shape, base.stride(), base.storage_offset()
            node.size, node.stride, node.storage_offset = self.shape, self.stride(), self.storage_offset()
            node.input_metadata.append((self._sizes, self.dtype))
            before = self._autograd
            meta = self._autograd = AutogradMeta(False, node)
            _move_hooks(before, self)
        self._view_version = self._storage.version
    return meta and meta.grad_fn


view_node: type[Node]  # AsStridedBackward0; set when the nodes have been made


# ------------------------------------------------------------------------------------------------------------
# The kernels for ADInplaceOrView, which keep the books, and those that refuse


class NotImplementedNode(Node):
    """Of an operator that has no derivative here. Source: `torch/csrc/autograd/functions/basic_ops.h`, `NotImplemented`."""

    def __init__(self, operator: Operator) -> None:
        super().__init__()
        self.operator = operator

    def name(self) -> str:
        return "NotImplemented"

    def apply(self, *grads: Tensor | None) -> Any:
        schema = self.operator.schema
        raise RuntimeError(f"derivative for {schema.namespace}::{schema.name} is not implemented")


def without_derivative(operator: Operator, key_set: int, *stack: Any) -> Any:
    """The kernel for Autograd of an operator that nobody wrote a derivative for: the call works, going back does not."""
    tensors = list(tensors_in(stack))
    if not any_requires_grad(tensors):
        return operator.below[key_set](*stack)
    node = NotImplementedNode(operator)
    node.next_edges = [gradient_edge(tensor) for tensor in tensors]
    result = call_below(operator.below[key_set], *stack)
    if operator.schema.is_mutable:
        return rebase_history(stack[0], node)
    return set_history(result, node)


def register() -> None:
    """Register the kernels that make graphs, once all modules are there."""
    global view_node
    from rushlight import variable_type

    view_node = variable_type.AsStridedBackward0
    for operator, kernel in variable_type.AUTOGRAD.items():
        operator.register(DispatchKey.Autograd, Kernel(kernel, with_key_set=True))
    for operator in variable_type.WITHOUT_DERIVATIVE:
        operator.register(DispatchKey.Autograd, Kernel(partial(without_derivative, operator), with_key_set=True))
    for operator in variable_type.OUT:
        operator.register(DispatchKey.Autograd, Kernel(partial(refuse_out, operator), with_key_set=True))


def note_view(operator: Operator, key_set: int, self: Tensor, *rest: Any) -> Any:
    result = operator.below[key_set](self, *rest)
    if isinstance(result, Tensor):
        return as_view(self, result)
    for view in result:
        as_view(self, view)._one_of_many = True
    return result


def note_write(operator: Operator, key_set: int, *stack: Any) -> Any:
    """Source: `torch/csrc/autograd/VariableTypeUtils.h`, `increment_version`."""
    result = operator.below[key_set](*stack)
    for tensor in result if isinstance(result, tuple) else (result,):
        tensor._storage.version += 1
    return result


def refuse_out(operator: Operator, key_set: int, *stack: Any) -> Any:
    """The kernel for Autograd of an operator with `out=`, which no graph can show."""
    if any_requires_grad(tensors_in(stack)):
        raise RuntimeError(
            f"{operator.schema.name}(): functions with out=... arguments don't support automatic differentiation, but one "
            "of the arguments requires grad."
        )
    return operator.below[key_set](*stack)


# ------------------------------------------------------------------------------------------------------------
# Of a tensor


def _get_requires_grad(self: Tensor) -> bool:
    return requires_grad(self)


def _set_requires_grad(self: Tensor, wanted: bool) -> None:
    if wanted and not self.dtype.is_floating_point:
        raise RuntimeError("only Tensors of floating point and complex dtype can require gradients")
    if not self.is_leaf:
        if not wanted:
            raise RuntimeError(
                "you can only change requires_grad flags of leaf variables. If you want to use a computed variable in a "
                "subgraph that doesn't require differentiation use var_no_grad = var.detach()."
            )
        return
    if wanted and self.is_inference():
        raise RuntimeError("Setting requires_grad=True on inference tensor outside InferenceMode is not allowed.")
    if self._autograd is None:
        self._autograd = AutogradMeta()
    self._autograd.requires_grad = wanted


def requires_grad_(self: Tensor, requires_grad: bool = True) -> Tensor:
    self.requires_grad = requires_grad
    return self


def _get_grad(self: Tensor) -> Tensor | None:
    return self._autograd and self._autograd.grad


def _set_grad(self: Tensor, grad: Tensor | None) -> None:
    if grad is not None:
        if not isinstance(grad, Tensor):
            raise TypeError(f"assigned grad expected to be a Tensor or None but got grad of type {type(grad).__name__}")
        if grad.dtype is not self.dtype:
            raise RuntimeError(
                f"assigned grad has data of a different type: {grad.dtype.type_name} for a tensor of {self.dtype.type_name}"
            )
        if grad.shape != self.shape:
            raise RuntimeError("assigned grad has data of a different size")
    if self._autograd is None:
        self._autograd = AutogradMeta()
    self._autograd.grad = grad


def _is_leaf(self: Tensor) -> bool:
    """Whether nothing was computed to make it: it has no `grad_fn`."""
    return self._autograd is None or grad_fn(self) is None


def retain_grad(self: Tensor) -> None:
    """Keep the gradient of a tensor that is no leaf. Source: `torch/csrc/autograd/variable.cpp`, `retain_grad`."""
    if not self.requires_grad:
        raise RuntimeError("can't retain_grad on Tensor that has requires_grad=False")
    if self.is_leaf or self._autograd.retains_grad:
        return
    self._autograd.retains_grad = True
    meta, tensor = self._autograd, weakref.ref(self)

    def keep(grad: Tensor | None) -> None:
        kept = tensor()
        if kept is not None and grad is not None and kept._autograd is meta:
            meta.grad = grad.clone() if meta.grad is None else meta.grad + grad

    node = meta.grad_fn
    node.retains_grad_hooks = {} if node.retains_grad_hooks is None else node.retains_grad_hooks
    node.retains_grad_hooks[next(_sequence)] = (meta.output_nr, keep)


def register_hook(self: Tensor, hook: Callable[[Tensor], Tensor | None]) -> RemovableHandle:
    """`hook(grad)` runs when the gradient of this tensor is known, and may return another one.

    Source: `torch/_tensor.py`, `register_hook`.
    """
    if not self.requires_grad:
        raise RuntimeError("cannot register a hook on a tensor that doesn't require gradient")
    meta = self._autograd
    if self.is_leaf:
        if meta.hooks is None:
            meta.hooks = {}
            node = meta.accumulator and meta.accumulator()
            if node is not None:
                node.tensor_pre_hooks = meta.hooks
        return RemovableHandle(meta.hooks, (0, hook))
    node = meta.grad_fn
    node.tensor_pre_hooks = {} if node.tensor_pre_hooks is None else node.tensor_pre_hooks
    return RemovableHandle(node.tensor_pre_hooks, (meta.output_nr, hook))


def register_post_accumulate_grad_hook(self: Tensor, hook: Callable[[Tensor], None]) -> RemovableHandle:
    """`hook(tensor)` runs after a gradient was added to `grad` of this leaf."""
    if not self.requires_grad:
        raise RuntimeError("cannot register a hook on a tensor that doesn't require gradient")
    if not self.is_leaf:
        raise RuntimeError("post accumulate grad hooks cannot be registered on non-leaf tensors")
    if self._autograd.post_hooks is None:
        self._autograd.post_hooks = {}
    return RemovableHandle(self._autograd.post_hooks, hook)


def tensor_backward(
    self: Tensor,
    gradient: Tensor | None = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    inputs: Sequence[Tensor] | None = None,
) -> None:
    backward(self, gradient, retain_graph, create_graph, inputs)


def _is_inference(self: Tensor) -> bool:
    return not self._key_set & AUTOGRAD


Tensor._autograd = Tensor._base = None
Tensor._view_version, Tensor._one_of_many = 0, False
Tensor.requires_grad = property(_get_requires_grad, _set_requires_grad)
Tensor.grad = property(_get_grad, _set_grad)
Tensor.grad_fn = property(grad_fn)
Tensor.is_leaf = property(_is_leaf)
Tensor.output_nr = property(lambda self: self._autograd.output_nr if self._autograd is not None else 0)
Tensor.retains_grad = property(lambda self: self._autograd is not None and self._autograd.retains_grad)
Tensor._version = property(lambda self: self._storage.version)
Tensor.is_inference, Tensor._is_view = _is_inference, lambda self: self._base is not None
Tensor.backward, Tensor.requires_grad_, Tensor.retain_grad = tensor_backward, requires_grad_, retain_grad
Tensor.register_hook, Tensor.register_post_accumulate_grad_hook = register_hook, register_post_accumulate_grad_hook

for _operator in functions.VIEWS:
    _operator.kernels[DispatchKey.ADInplaceOrView] = Kernel(partial(note_view, _operator), with_key_set=True)
for _operator in functions.WRITTEN:
    _operator.kernels[DispatchKey.ADInplaceOrView] = Kernel(partial(note_write, _operator), with_key_set=True)
