"""The engine: it runs a graph from its end, each node once and not before all that lead to it.

In PyTorch: `torch/csrc/autograd/engine.cpp`, `input_buffer.cpp`, `torch/autograd/__init__.py`. Left out: one thread per device,
and with it the ready queue of each.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache
from heapq import heappop, heappush
from typing import Any

from rushlight.aten.generated import functions
from rushlight.aten.strided import Tensor
from rushlight.autograd.graph import Edge, Node, _sequence, gradient_edge
from rushlight.c10.dispatch import local


def validate(grad: Tensor | None, edge: Edge, node: Node, i: int) -> Tensor | None:
    """What `node` gave as gradient `i`, with the sizes and dtype that it has to have where its edge leads: where the forward
    operator broadcast an argument, its gradient is summed over the copies.

    Source: `torch/csrc/autograd/engine.cpp`, `validate_outputs`.
    """
    if grad is None or edge.node is None:
        return grad
    sizes, dtype = edge.node.input_metadata[edge.input_nr]
    if sizes is None:
        return grad
    if grad._sizes != sizes:
        if not is_expandable_to(sizes, grad._sizes):
            raise RuntimeError(
                f"Function {node.name()} returned an invalid gradient at index {i} - got {list(grad.shape)} but expected "
                f"shape compatible with {list(sizes)}"
            )
        grad = sum_to(grad, sizes)
    return grad if grad.dtype is dtype else grad.to(dtype)


@lru_cache(4096)
def is_expandable_to(sizes: Sequence[int], to: Sequence[int]) -> bool:
    """Source: `aten/src/ATen/ExpandUtils.h`, `is_expandable_to`."""
    return len(sizes) <= len(to) and all(a in (1, b) for a, b in zip(reversed(sizes), reversed(to)))


def sum_to(grad: Tensor, sizes: Sequence[int]) -> Tensor:
    """A gradient of the broadcast sizes as one of `sizes`: the sum over all copies of each element.

    Dimensions that broadcasting put in front are summed away; those that it stretched from size 1 are summed and stay, with
    size 1. Where no dimension is to be left, it is one sum of all elements. A gradient that has the sizes already is returned as
    it is.

    Args:
        grad: of sizes to which `sizes` broadcast.

    Source: `aten/src/ATen/ExpandUtils.h`, `sum_to`.
    """
    if not sizes:
        return functions.sum(grad)
    new_dims = len(grad.shape) - len(sizes)
    stretched = [d for d, size in enumerate(sizes, new_dims) if size == 1 and grad.shape[d] != 1]
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
    dependencies = {root: 0 for root in roots}
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


def execute(
    roots: Sequence[Edge],
    grads: Sequence[Tensor | None],
    keep_graph: bool,
    create_graph: bool,
    captures: dict[Edge, list[int]] | None = None,
) -> dict[int, Tensor]:
    """Run the graph from the roots, each with its gradient, to its ends, or only as far as `captures` asks for.

    A node has an input for each of its `input_metadata`, and at least one. Gradients that come to the same input are added
    (`_add_input`), also those of the roots, of which several may be one edge. A node is ready when a gradient, or None, has
    come along each of the edges that `count_dependencies` counts. Of the nodes that are ready the one with the highest
    `sequence_nr` is next; which of equals is nobody's business. A node is run by `call_function`, once, on its inputs as the
    tensors' hooks leave them (`_run_tensor_hooks`), and what it gives goes where its `next_edges` lead. Grad mode is
    `create_graph` meanwhile, and afterwards, also after an error, what it was before.

    `captures` are edges, and for each the places in the answer to which its gradient goes. With them only the nodes run that
    `nodes_to_execute` finds for the nodes of these edges, and also the node of an edge that has no places. Where a node is
    captured and does not run, the gradient is captured as the tensors' hooks leave it; where it runs too, as it arrived. Of
    other nodes not even the hooks run.

    Returns:
        the captured gradients by place; a place to which none came is missing.

    Source: `torch/csrc/autograd/engine.cpp`, `Engine::execute` and `evaluate_function`.
    """
    dependencies = count_dependencies([edge.node for edge in roots])
    captures_of = {}
    for (node, i), places in (captures or {}).items():
        captures_of.setdefault(node, []).append((i, places))
    runs = dependencies
    if captures is not None:
        ends = {edge.node for edge, places in captures.items() if not places}
        runs = ends | nodes_to_execute(captures_of, dependencies)
    inputs = {}
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
            given = inputs.pop(node)
            places_of = captures_of.get(node, ())
            if not places_of and node not in runs:
                continue
            arrived = given if places_of else None
            if node.tensor_pre_hooks or node.retains_grad_hooks:
                given = _run_tensor_hooks(node, given)
            for i, places in places_of:
                grad = arrived[i] if node in runs else given[i]
                if grad is not None:
                    captured |= dict.fromkeys(places, grad)
            if node not in runs:
                continue
            outputs = call_function(node, given, keep_graph)
            for (successor, i), grad in zip(node.next_edges, outputs):
                if successor is None:
                    continue
                _add_input(inputs, successor, i, grad)
                dependencies[successor] -= 1
                if dependencies[successor] == 0:
                    heappush(ready, (-successor.sequence_nr, next(_sequence), successor))
            arrived = given = outputs = grad = None  # a gradient that only its next node knows may be kept by it
    finally:
        local.grad_enabled = mode
    return captured


def nodes_to_execute(ends: Iterable[Node], reachable: Iterable[Node]) -> set[Node]:
    """Which nodes must run so that gradients arrive at `ends`: those from which one of the ends can be reached by at least one
    edge. An end itself is among them only if another end lies behind it.

    Args:
        ends: nodes; they need not be reachable.
        reachable: all nodes of the graph, in any order. Both may be iterators, and there is no recursion.

    Source: `torch/csrc/autograd/engine.cpp`, `GraphTask::init_to_execute`.
    """
    before = {}
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
        buffer = inputs[node] = [None] * (len(node.input_metadata) or 1)
    if grad is not None:
        buffer[i] = grad if buffer[i] is None else buffer[i] + grad


def _run_tensor_hooks(node: Node, grads: list) -> list:
    """The hooks of the tensors whose gradients these are: those that may change them, then those that only look."""
    grads = list(grads)
    for hooks in node.tensor_pre_hooks, node.retains_grad_hooks:
        for i, hook in list(hooks.values()) if hooks else ():
            changed = hook(grads[i])
            grads[i] = grads[i] if changed is None else checked(changed, grads[i])
    return grads


def replaced(grads: Sequence[Tensor | None], changed: Any) -> Sequence[Tensor | None]:
    """The gradients that a hook of a node leaves: those there were if it returned None, or else what it returned, a tuple of
    as many. Raises TypeError for no tuple, and RuntimeError for another number of gradients.

    Source: `torch/csrc/autograd/python_hook.cpp`, `_call_hooks` and `check_result`.
    """
    if changed is None:
        return grads
    if not isinstance(changed, tuple):
        raise TypeError(f"expected tuple, but hook returned {type(changed).__name__!r}")
    if len(changed) != len(grads):
        raise RuntimeError(f"a hook has returned {len(changed)} values, but {len(grads)} were expected")
    return [new if new is None else checked(new, grad) for new, grad in zip(changed, grads)]


def checked(new: Any, grad: Tensor | None) -> Tensor:
    """What takes the place of a gradient: a tensor of the same sizes and dtype.

    Source: `torch/csrc/autograd/python_hook.cpp`, `check_single_result`.
    """
    if grad is None:
        raise RuntimeError("can't replace a None gradient with a non-None value")
    if not isinstance(new, Tensor):
        raise TypeError(f"expected Variable, but hook returned {type(new).__name__!r}")
    if new.dtype is not grad.dtype or new._sizes != grad._sizes:
        raise RuntimeError(
            f"a hook has changed a gradient of {grad.dtype}, {list(grad.shape)}, to {new.dtype}, {list(new.shape)}"
        )
    return new


def call_function(node: Node, grads: list, keep_graph: bool) -> Sequence[Tensor | None]:
    """Run one node on its gradients, one for each of its inputs, None where none arrived.

    1. Each hook of `node.pre_hooks`, a dict or None, in order, is called with a tuple of the gradients;
       `replaced(gradients, what it returned)` are those there are from then on.
    2. `node.apply(*gradients)` gives those of its edges, a sequence.
    3. Each of them goes through `validate(gradient, edge, node, i)`, with the edge of `next_edges` in its place `i`.
    4. Each hook of `node.post_hooks`, also a dict or None, is called with a tuple of these and a tuple of the gradients that
       the node was run with; `replaced` as before.
    5. The node lets go of what it saved (`release_variables`), unless `keep_graph`.

    A hook may remove itself or others from its dict, or add some: those of this call are the hooks that the dict held when the
    first of them was about to run. What a hook raises is raised, and then nothing is let go.

    Returns:
        the gradients, one for each edge.

    Source: `torch/csrc/autograd/engine.cpp`, `call_function`.
    """
    for hook in list(node.pre_hooks.values()) if node.pre_hooks else ():
        grads = replaced(grads, hook(tuple(grads)))
    outputs = node.apply(*grads)
    outputs = [validate(grad, edge, node, i) for i, (grad, edge) in enumerate(zip(outputs, node.next_edges))]
    for hook in list(node.post_hooks.values()) if node.post_hooks else ():
        outputs = replaced(outputs, hook(tuple(outputs), tuple(grads)))
    if not keep_graph:
        node.release_variables()
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
    roots, grads = _roots(tensors, grad_tensors)
    captures = None if inputs is None else {_differentiable_edge(tensor): [] for tensor in inputs}
    for tensor in inputs or ():
        tensor.retain_grad()
    _run(roots, grads, retain_graph, create_graph, captures)


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
        captures.setdefault(_differentiable_edge(tensor), []).append(place)
    found = _run(roots, grads, retain_graph, create_graph, captures)
    if not allow_unused and len(found) < len(inputs):
        raise RuntimeError(
            "One of the differentiated Tensors appears to not have been used in the graph. Set allow_unused=True if this is "
            "the desired behavior."
        )
    return tuple(found.get(place) for place in range(len(inputs)))


def _run(roots, grads, retain_graph, create_graph, captures) -> dict[int, Tensor]:
    """Execute, and let checkpoints know whether this is for some inputs only.

    Source: `torch/csrc/autograd/engine.cpp`, `Engine::is_checkpoint_valid`.
    """
    before, local.for_inputs = local.for_inputs, local.for_inputs or captures is not None
    try:
        return execute(roots, grads, create_graph if retain_graph is None else retain_graph, create_graph, captures)
    finally:
        local.for_inputs = before


def _differentiable_edge(tensor: Tensor) -> Edge:
    edge = gradient_edge(tensor)
    if edge.node is None:
        raise RuntimeError("One of the differentiated Tensors does not require grad")
    return edge


def _roots(tensors: Sequence[Tensor], grads: Any) -> tuple[list[Edge], list[Tensor]]:
    """Where to begin, and with which gradients: of a tensor with one element it is 1 unless given."""
    if grads is None or isinstance(grads, Tensor):
        grads = (grads,) * len(tensors) if grads is None else (grads,)
    if len(grads) != len(tensors):
        raise RuntimeError(f"got {len(tensors)} tensors and {len(grads)} gradients")
    edges, made = [], []
    for i, (tensor, grad) in enumerate(zip(tensors, grads)):
        if grad is None:
            if tensor.numel() != 1 and tensor.requires_grad:
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
