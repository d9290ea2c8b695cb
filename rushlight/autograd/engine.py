"""The engine runs a graph from its end: each node once, after all nodes that lead to it.

Each node that runs sends one gradient, or None, along each of its edges. So a node gets as many as there are edges to it from
nodes that run. `count_dependencies` counts these edges, and the last arrival makes the node ready. That is why a node runs once,
on its whole gradient. A graph has no circle, so a ready node exists until all nodes have run.

Any order of the ready nodes gives correct gradients. The engine takes the node with the highest `sequence_nr`, the newest one.
So the order is roughly that of the forward pass, reversed. Hooks run and sums are added in the same order each time, and a
gradient usually goes to its next node soon and is freed. An `AccumulateGrad` runs as soon as its gradient is complete.

In PyTorch: `torch/csrc/autograd/engine.cpp`, `input_buffer.cpp`, `torch/autograd/__init__.py`. Left out: a thread and a
ready queue for each device.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextlib import ExitStack
from functools import cached_property, lru_cache
from heapq import heappop, heappush
from itertools import count
from threading import Thread
from typing import Any

from rushlight.aten.generated import functions
from rushlight.aten.strided import Tensor
from rushlight.autograd import profiler
from rushlight.autograd.anomaly_mode import check_anomalies
from rushlight.autograd.fused import fuse
from rushlight.autograd.graph import AccumulateGrad, AnomalyMode, Edge, GradientEdge, Node, _sequence, gradient_edge
from rushlight.autograd.history import requires_grad
from rushlight.c10 import dispatch
from rushlight.c10.dispatch import local
from rushlight.c10.exception import warn, warn_once
from rushlight.c10.fast_paths import fast_form_of, fastest
from rushlight.library import through_table

MAX_DEPTH = 60  # of backward passes within backward passes in one thread. Source: `engine.h`, `MAX_DEPTH`


def validate_outputs(node: Node, outputs: Sequence[Tensor | None]) -> Sequence[Tensor | None]:
    """`validate` for all gradients of a node. Most of them have the sizes and the dtype already."""
    i = 0
    for successor, input_nr in node.next_edges:
        grad = outputs[i]
        if (
            grad is not None
            and successor is not None
            and (grad._sizes, grad.dtype) != successor.input_metadata[input_nr]
        ):
            outputs = [*outputs]
            outputs[i] = validate(grad, node.next_edges[i], node, i)
        i += 1  # noqa: SIM113 - each node of a backward pass comes here, and `enumerate` costs as much as the test
    return outputs


def validate(grad: Tensor | None, edge: Edge, node: Node, i: int) -> Tensor | None:
    """Convert gradient `i` of `node` to the sizes and dtype that the node at the end of its edge requires. If the forward
    operator broadcast an argument, its gradient is summed over the copies.
    Source: `torch/csrc/autograd/engine.cpp`, `validate_outputs`."""
    if grad is None or edge.node is None:
        return grad
    sizes, dtype = edge.node.input_metadata[edge.input_nr]
    if sizes is None:
        return grad
    if grad._sizes != sizes:
        if not is_expandable_to(sizes, grad._sizes):
            shapes = f"got {list(grad.shape)} but expected shape compatible with {list(sizes)}"
            raise RuntimeError(f"Function {node.name()} returned an invalid gradient at index {i} - {shapes}")
        grad = fastest[sum_to](grad, sizes)
    return grad if grad.dtype is dtype else grad.to(dtype)


@lru_cache(4096)
def is_expandable_to(sizes: Sequence[int], to: Sequence[int]) -> bool:
    """Whether a shape can be expanded to another one. Source: `aten/src/ATen/ExpandUtils.h`, `is_expandable_to`."""
    return len(sizes) <= len(to) and all(a in (1, b) for a, b in zip(reversed(sizes), reversed(to)))


def sum_to(grad: Tensor, sizes: Sequence[int]) -> Tensor:
    """Reduce a gradient with broadcast sizes to `sizes`: each element is the sum over all its copies.

    Each step is an operator that autograd records, so with `create_graph` the result can be differentiated again.

    Args:
        grad: a tensor with sizes that `sizes` broadcasts to.
        sizes: a tuple or a list of ints.

    Returns:
        a tensor with these sizes, where the rules say so `grad` itself.

    >>> sum_to(rl.ones(2, 3), (3,)).tolist(), sum_to(rl.ones(2, 3), (2, 1)).tolist()
    ([2.0, 2.0, 2.0], [[3.0], [3.0]])
    >>> sum_to(rl.ones(2, 3), ()).tolist()
    6.0

    Rules:
        Leading dimensions that broadcasting added are summed and removed, also those of size 1. Dimensions that broadcasting
        expanded from size 1 are summed and keep size 1. If `sizes` is empty, the result is one sum of all elements, a new
        tensor. Otherwise a gradient that already has `sizes` is returned unchanged.

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


@fast_form_of(sum_to, "autograd")
def sum_to_last_dims(grad: Tensor, sizes: Sequence[int]) -> Tensor:
    """`sum_to` in one sum, without a view of its result, if broadcasting only added dimensions, as for a bias."""
    new_dims = len(grad._sizes) - len(sizes)
    watched = local.grad_enabled or local.modes or dispatch.observer is not None
    if watched or not sizes or not new_dims or grad._sizes[new_dims:] != sizes:
        return sum_to(grad, sizes)
    return through_table(functions.sum_dim_IntList_op, (grad, tuple(range(new_dims)), False, None))


def count_dependencies(roots: Iterable[Node]) -> dict[Node, int]:
    """For each node that is reachable from the roots, the number of edges to it from reachable nodes.

    A node is ready when that many gradients have arrived. `node.next_edges` has pairs of a node and the number of its input. Equal
    edges are counted separately, and an edge whose node is None leads nowhere. There is no recursion: a graph
    may be a hundred thousand nodes deep.

    Args:
        roots: any iterable of nodes, also an iterator, which can be read only once. A node that occurs twice is one root.

    Returns:
        a dict with every reachable node, including the roots.

    >>> y = rl.ones(3).requires_grad_() * 3
    >>> z = y * y
    >>> counts = count_dependencies([z.grad_fn])
    >>> counts[z.grad_fn], counts[y.grad_fn], len(counts)
    (0, 2, 3)

    Source: `torch/csrc/autograd/engine.cpp`, `compute_dependencies`.
    """
    dependencies = {root: 0 for root in roots}
    waiting = list(dependencies)
    while waiting:
        for node, _ in waiting.pop().next_edges:
            if node is None:
                continue
            if node in dependencies:
                dependencies[node] += 1
            else:
                dependencies[node] = 1
                waiting.append(node)
    return dependencies


def execute(
    roots: Sequence[Edge],
    grads: Sequence[Tensor | None],
    keep_graph: bool,
    create_graph: bool,
    captures: dict[Edge, list[int]] | None = None,
) -> dict[int, Tensor]:
    """Run the graph from the roots, each with its gradient, to its ends, or only as far as `captures` requires. `roots` and
    `grads` are lists of one length.

    A node has an input for each entry of its `input_metadata`, and at least one. Gradients that arrive at the same input are
    added (`_add_input`), including the gradients of the roots. Several roots may be the same edge. A node is ready when a
    gradient, or None, has arrived along each of the edges that `count_dependencies` counts. The ready node with the highest
    `sequence_nr` runs next; ties are broken arbitrarily. `call_function` runs each node once. Its arguments are the node's
    inputs after the tensors' hooks (`_run_tensor_hooks`), and its results go along the node's `next_edges`. Grad mode is
    `create_graph` during the run, and while the gradients of the roots are added. After it, also after an error or an
    interrupt, grad mode has its previous value.

    `captures` maps edges, at least one, to the indices in the answer that get the edge's gradient. With `captures`, only these
    nodes run: the nodes that `nodes_to_execute` finds for the nodes of these edges, and the node of an edge whose list of
    indices is empty. (`backward(inputs=[leaf])` passes the leaf's edge with an empty list: its `AccumulateGrad` runs.) If a
    captured node does not run, the captured gradient is the one after the tensors' hooks. If it runs too, the captured gradient
    is the one that arrived, before the hooks. The hooks of all other nodes do not run.

    Returns:
        a dict of the captured gradients by index; an index that got no gradient is missing.

    >>> x = rl.tensor([3.0]).requires_grad_()
    >>> y = x * x
    >>> captured = execute([gradient_edge(y)], [rl.ones(1)], False, False, {gradient_edge(x): [7]})
    >>> captured[7].tolist()
    [6.0]

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
    inputs, ready, captured = {}, [], {}
    mode, local.grad_enabled = local.grad_enabled, create_graph
    try:
        for (node, i), grad in zip(roots, grads):
            _add_input(inputs, node, i, grad)
        for node in inputs:
            if dependencies[node] == 0:
                heappush(ready, (-node.sequence_nr, next(_sequence), node))
        while ready:
            node = heappop(ready)[2]
            given = tuple(inputs.pop(node))
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
            if node.fused:
                node = fuse(node, given, dependencies, inputs, ready)
            outputs = call_function(node, given, keep_graph)
            for i, (successor, input_nr) in enumerate(node.next_edges):
                if successor is None:
                    continue
                _add_input(inputs, successor, input_nr, outputs[i])
                dependencies[successor] -= 1
                if dependencies[successor] == 0:
                    heappush(ready, (-successor.sequence_nr, next(_sequence), successor))
            # Drop the references: the next node may keep a gradient that nothing else refers to, without a copy.
            arrived = given = outputs = grad = None
    finally:
        local.grad_enabled = mode
    return captured


def nodes_to_execute(ends: Iterable[Node], reachable: Iterable[Node]) -> set[Node]:
    """The nodes that must run so that gradients arrive at `ends`: every node from which a path of at least one edge leads to an
    end. An end itself is among them only if such a path leads from it to an end.

    Args:
        ends: any iterable of nodes, also an iterator, which can be read only once. The nodes need not be reachable.
        reachable: all nodes of the graph, in any order: also any iterable. There is no recursion. `sequence_nr` is no order
            of the graph: a view's new node may be younger than a node that leads to it.

    Returns:
        a set of nodes.

    >>> x, w = rl.ones(3).requires_grad_(), rl.ones(3).requires_grad_()
    >>> y = x * 2
    >>> z = y + w
    >>> nodes_to_execute([y.grad_fn], count_dependencies([z.grad_fn])) == {z.grad_fn}
    True

    Source: `torch/csrc/autograd/engine.cpp`, `GraphTask::init_to_execute`.
    """
    before = {}
    for node in reachable:
        for successor, _ in node.next_edges:
            before.setdefault(successor, []).append(node)
    running, waiting = set(), list(ends)
    while waiting:
        for node in before.get(waiting.pop(), ()):
            if node not in running:
                running.add(node)
                waiting.append(node)
    return running


def _add_input(inputs: dict[Node, list], node: Node, i: int, grad: Tensor | None) -> None:
    """Add a gradient to an input of a node. Gradients for the same input are summed.
    Source: `torch/csrc/autograd/input_buffer.cpp`, `InputBuffer::add`."""
    buffer = inputs.get(node)
    if buffer is None:
        inputs[node] = buffer = [None] * (len(node.input_metadata) or 1)
        buffer[i] = grad
    elif grad is not None:
        buffer[i] = grad if buffer[i] is None else buffer[i] + grad


def _run_tensor_hooks(node: Node, grads: Sequence) -> Sequence:
    """Run the tensors' hooks on a node's gradients: first the hooks that may replace a gradient, then those of `retain_grad`."""
    grads = list(grads)
    for hooks in node.tensor_pre_hooks, node.retains_grad_hooks:
        for i, hook in list(hooks.values()) if hooks else ():
            changed = hook(grads[i])
            grads[i] = grads[i] if changed is None else check_single_result(changed, grads[i])
    return tuple(grads)


def apply_hook_result(grads: Sequence[Tensor | None], changed: Any) -> Sequence[Tensor | None]:
    """The gradients after a node's hook: `grads` if the hook returned None, otherwise the tuple that it returned. Raises
    TypeError if the result is not a tuple, and RuntimeError if it has another number of gradients.
    Source: `torch/csrc/autograd/python_hook.cpp`, `_call_hooks` and `check_result`."""
    if changed is None:
        return grads
    if not isinstance(changed, tuple):
        raise TypeError(f"expected tuple, but hook returned {type(changed).__name__!r}")
    if len(changed) != len(grads):
        raise RuntimeError(f"a hook has returned {len(changed)} values, but {len(grads)} were expected")
    return [new if new is None else check_single_result(new, grad) for new, grad in zip(changed, grads)]


def check_single_result(new: Any, grad: Tensor | None) -> Tensor:
    """Check a gradient that a hook returned: it must be a tensor with the sizes and dtype of the gradient that it replaces.
    Source: `torch/csrc/autograd/python_hook.cpp`, `check_single_result`."""
    if grad is None:
        raise RuntimeError("can't replace a None gradient with a non-None value")
    if not isinstance(new, Tensor):
        raise TypeError(f"expected Variable, but hook returned {type(new).__name__!r}")
    if new.dtype is not grad.dtype or new._sizes != grad._sizes:
        was, now = f"{grad.dtype}, {list(grad.shape)}", f"{new.dtype}, {list(new.shape)}"
        raise RuntimeError(f"a hook has changed a gradient of {was}, to {now}")
    return new


def call_function(node: Node, grads: Sequence[Tensor | None], keep_graph: bool) -> Sequence[Tensor | None]:
    """Run one node on its gradients: its hooks, its formulas, and at the end the release of what it has saved.

    All of it as in torch: which gradients each hook gets, which hooks run if a hook adds or removes others, and when the node
    frees its saved tensors. These are the parts:

    - `node.pre_hooks` and `node.post_hooks` are dicts whose values are the hooks, in their order, or None. A hook of the first
      is called with a tuple of gradients, a hook of the second with two tuples.
    - `apply_hook_result(gradients, result)` gives the gradients after a hook with this result. It refuses a wrong result.
    - `node.apply(*gradients)` returns a sequence with a gradient for each edge of `node.next_edges`.
    - `validate(gradient, edge, node, i)` gives gradient `i` the sizes and the dtype that it must have at the end of its edge.
    - `node.release_variables()` frees the saved tensors.

    Args:
        grads: a list or a tuple, with a gradient for each input of the node, None if none arrived.
        keep_graph: True if the node shall not free its saved tensors.

    Returns:
        a list or a tuple of the gradients, one for each edge. An exception of a hook or of a formula is propagated, and
        then nothing is freed.

    >>> node = rl.zeros(2).requires_grad_().exp().grad_fn
    >>> handle = node.register_hook(lambda gradients, before: (gradients[0] * 10,))
    >>> call_function(node, [rl.ones(2)], True)[0].tolist()
    [10.0, 10.0]

    Source: `torch/csrc/autograd/engine.cpp`, `call_function`.
    """
    if node.pre_hooks:
        for hook in list(node.pre_hooks.values()):
            grads = apply_hook_result(grads, hook(tuple(grads)))
    outputs = validate_outputs(node, node.apply(*grads))
    if node.post_hooks:
        for hook in list(node.post_hooks.values()):
            outputs = apply_hook_result(outputs, hook(tuple(outputs), tuple(grads)))
    if not keep_graph:
        node.release_variables()
    return outputs


# A backward pass -----------------------------------------------------------------------------------------------------


class GraphTask:
    """A backward pass. While it runs, it is `local.graph_task`. Source: `torch/csrc/autograd/graph_task.h`.

    `for_inputs` says whether it, or the pass within which it runs, computes the gradients of some inputs only. Then a re-entrant
    checkpoint refuses to run. Source: `torch/csrc/autograd/engine.cpp`, `Engine::is_checkpoint_valid`.
    """

    def __init__(self, roots: Sequence[Edge], captures: dict[Edge, list[int]] | None, keep_graph: bool) -> None:
        self.roots, self.captures, self.keep_graph = roots, captures, keep_graph
        self.id, outer = next(_task_ids), local.graph_task
        self.for_inputs: bool = captures is not None or outer is not None and outer.for_inputs
        self.final_callbacks: list[Callable[[], Any]] = []

    @cached_property
    def nodes(self) -> set[Node]:
        """The nodes that run, or whose gradient is captured."""
        reachable = set(count_dependencies([edge.node for edge in self.roots if edge.node is not None]))
        if self.captures is None:
            return reachable
        ends = {edge.node for edge in self.captures if edge.node is not None}
        return ends | nodes_to_execute(ends, reachable)

    def will_execute(self, node: Node) -> bool:
        """Whether the engine will run this node in this backward pass.
        Source: `torch/csrc/autograd/init.cpp`, `_will_engine_execute_node`."""
        if isinstance(node, AccumulateGrad) and self.captures and self.captures.get(Edge(node)):
            problem = "A leaf node was passed to _will_engine_execute_node but we are currently running"
            raise RuntimeError(f"{problem} autograd.grad(). This is currently not supported.")
        return node in self.nodes


def queue_callback(callback: Callable[[], Any]) -> None:
    """Call a function at the end of the backward pass that is running. Source: `torch/csrc/autograd/engine.cpp`,
    `Engine::queue_callback`."""
    if local.graph_task is None:
        raise RuntimeError("Final callbacks can only be installed during backward pass.")
    local.graph_task.final_callbacks.append(callback)


_task_ids = count()


# The public functions ------------------------------------------------------------------------------------------------


def backward(
    tensors: Tensor | Sequence[Tensor],
    grad_tensors: Tensor | Sequence[Tensor | None] | None = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    grad_variables: Tensor | Sequence[Tensor | None] | None = None,
    inputs: Tensor | Sequence[Tensor] | dict[Any, Tensor] | None = None,
) -> None:
    """Compute the gradients of the tensors with respect to the leaves (or only to `inputs`) and add them to their `grad`. Each of
    `grad_tensors` has the sizes of its tensor. None is 1 for a tensor with one element.

    Raises:
        RuntimeError: a tensor does not require grad; there is no gradient for a tensor with several elements; a gradient has other
            sizes than its tensor; there are fewer gradients than tensors; `inputs` is empty; a node has freed its tensors.

    Source: `torch/autograd/__init__.py`, `backward`."""
    if grad_variables is not None:
        warn("`grad_variables` is deprecated. Use `grad_tensors` instead.", FutureWarning)
        if grad_tensors is not None:
            raise RuntimeError("`grad_tensors` and `grad_variables` (deprecated) arguments both passed to `backward()`")
        grad_tensors = grad_variables
    tensors = _as_sequence(tensors)
    if inputs is not None:
        inputs = _as_sequence(inputs.values() if type(inputs) is dict else inputs)
        if not inputs:
            raise RuntimeError("`inputs` argument to `backward()` cannot be empty.")
    roots, grads = _roots(tensors, grad_tensors)
    captures: dict[Edge, list[int]] | None = None
    if inputs is not None:
        captures = {_differentiable_edge(tensor): [] for tensor in inputs}
    for tensor in inputs or ():
        if isinstance(tensor, Tensor):
            tensor.retain_grad()
    if create_graph:
        problem = "Using backward() with create_graph=True will create a reference cycle of parameters and gradients"
        warn_once(f"{problem}. Use autograd.grad, or reset the .grad fields to None")
    _run(roots, grads, retain_graph, create_graph, captures)


def grad(
    outputs: Tensor | Sequence[Tensor],
    inputs: Tensor | Sequence[Tensor] | dict[Any, Tensor],
    grad_outputs: Tensor | Sequence[Tensor | None] | None = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    only_inputs: bool = True,
    allow_unused: bool | None = None,
    is_grads_batched: bool = False,
    materialize_grads: bool = False,
) -> tuple[Tensor | None, ...] | dict[Any, Tensor | None]:
    """The gradients of the outputs with respect to the inputs, in a dict if the inputs are in one. No `grad` attribute changes.

    Raises RuntimeError if there are no inputs, or if the outputs do not depend on an input, unless `allow_unused`.

    Source: `torch/autograd/__init__.py`, `grad`.
    """
    if is_grads_batched:
        raise NotImplementedError("grad: rushlight leaves out is_grads_batched=True")
    if not only_inputs:
        use = "To accumulate gradient for other parts of the graph, please use torch.autograd.backward."
        warn(f"only_inputs argument is deprecated and is ignored now. {use}", FutureWarning)
    names = list(inputs) if type(inputs) is dict else None
    outputs, inputs = _as_sequence(outputs), _as_sequence(inputs.values() if type(inputs) is dict else inputs)
    if not inputs:
        raise RuntimeError("`inputs` argument to `grad()` cannot be empty.")
    if materialize_grads and allow_unused is False:
        raise ValueError("Expected allow_unused to be True or not passed when materialize_grads=True, but got: False.")
    unused = materialize_grads if allow_unused is None else allow_unused
    roots, grads = _roots(outputs, grad_outputs)
    captures: dict[Edge, list[int]] = {}
    for i, tensor in enumerate(inputs):
        captures.setdefault(_differentiable_edge(tensor), []).append(i)
    captured = _run(roots, grads, retain_graph, create_graph, captures)
    for i in range(len(inputs)):
        if i not in captured and not unused:
            problem = f"The differentiated Tensor at index {i} appears to not have been used in the graph."
            raise RuntimeError(f"{problem} Set allow_unused=True if this is the desired behavior.")
    gradients = [captured.get(i) for i in range(len(inputs))]
    for i, tensor in enumerate(inputs if materialize_grads else ()):
        if gradients[i] is None:
            if isinstance(tensor, GradientEdge):
                raise RuntimeError("materialize_grads cannot be used when the given input is a GradientEdge")
            gradients[i] = functions.zeros_like(tensor, requires_grad=create_graph)
    return tuple(gradients) if names is None else dict(zip(names, gradients))


def _run(roots, grads, retain_graph, create_graph, captures) -> dict[int, Tensor]:
    """Execute. Blocks of `saved_tensors_hooks` that the backward pass enters or leaves end with it."""
    before = local.graph_task, local.saved_tensors_hooks
    keep_graph = create_graph if retain_graph is None else retain_graph
    disabled, local.torch_function_disabled = local.torch_function_disabled, True  # as for the formulas in C++
    local.graph_task = task = GraphTask(roots, captures, keep_graph)
    local.saved_tensors_hooks = [*before[1]]
    local.reentrant_depth += 1
    try:
        if local.reentrant_depth > MAX_DEPTH:
            return in_new_thread(_run, roots, grads, retain_graph, create_graph, captures)
        if AnomalyMode.enabled or profiler.recording:
            with ExitStack() as watching:
                if AnomalyMode.enabled:
                    watching.enter_context(check_anomalies(task.nodes))
                if profiler.recording:
                    watching.enter_context(profiler.record_nodes(task.nodes))
                captured = execute(roots, grads, keep_graph, create_graph, captures)
        elif captures is None:
            captured = execute(roots, grads, keep_graph, create_graph)
        else:
            captured = execute(roots, grads, keep_graph, create_graph, captures)
        for callback in task.final_callbacks:  # which may add others
            callback()
        return captured
    finally:
        local.graph_task, local.saved_tensors_hooks = before
        local.torch_function_disabled = disabled
        local.reentrant_depth -= 1


def in_new_thread(function: Callable, *args: Any) -> Any:
    """Call a function in a new thread, which has the state of this one and a stack of its own, and wait for it.
    Source: `torch/csrc/autograd/engine.cpp`, `Engine::add_thread_pool_task`."""
    from concurrent.futures import Future  # slow to import

    state, done = vars(local), Future[Any]()

    def run() -> None:
        vars(local).update(state, reentrant_depth=0)
        try:
            done.set_result(function(*args))
        except BaseException as error:
            done.set_exception(error)

    Thread(target=run).start()
    return done.result()


def _as_sequence(tensors: Any) -> tuple[Tensor | GradientEdge, ...]:
    return (tensors,) if isinstance(tensors, (Tensor, GradientEdge)) else tuple(tensors)


def _edge(tensor: Tensor | GradientEdge) -> Edge:
    return Edge(*tensor) if isinstance(tensor, GradientEdge) else gradient_edge(tensor)


def _differentiable_edge(tensor: Tensor | GradientEdge) -> Edge:
    if not isinstance(tensor, GradientEdge) and not requires_grad(tensor):
        raise RuntimeError("One of the differentiated Tensors does not require grad")
    return _edge(tensor)


def _roots(tensors: Sequence[Tensor | GradientEdge], grads: Any) -> tuple[list[Edge], list[Tensor]]:
    """The root edges and their gradients. The default gradient of a tensor with one element is 1."""
    if grads is None or isinstance(grads, Tensor):
        grads = (grads,) * len(tensors) if grads is None else (grads,)
    if len(grads) < len(tensors):  # torch ignores those that are left
        raise RuntimeError(f"got {len(tensors)} tensors and {len(grads)} gradients")
    edges, made = [], []
    for i, (tensor, grad) in enumerate(zip(tensors, grads)):
        edge = _edge(tensor)
        if isinstance(tensor, GradientEdge):
            sizes, dtype = tensor.node.input_metadata[edge.input_nr]
            tensor = functions.empty(() if sizes is None else sizes, dtype=dtype)
        if grad is None:
            if tensor.numel() != 1 and edge.node is not None:
                raise RuntimeError("grad can be implicitly created only for scalar outputs")
            grad = functions.ones_like(tensor)
        elif grad.shape != tensor.shape:
            shapes = f"a shape of torch.Size({list(grad.shape)}) and output[{i}] has a shape of torch.Size({list(tensor.shape)})."
            raise RuntimeError(f"Mismatch in shape: grad_output[{i}] has {shapes}")
        if edge.node is None:
            raise RuntimeError(f"element {i} of tensors does not require grad and does not have a grad_fn")
        edges.append(edge)
        made.append(grad)
    return edges, made
