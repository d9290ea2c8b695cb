"""Training within a captured function: `autograd.grad`, `backward`, the `grad` of a tensor, the grad mode.

`autograd.grad` becomes a node, and so `loss.backward()` becomes one too: the gradients of all leaves that the loss depends on.
What is then done to `p.grad`, a new tensor or one that is added to, is part of the graph; that `p.grad` is the new tensor is done
by Python after it. So a whole step of training is one graph. In PyTorch: `torch._dynamo.config.trace_autograd_ops`, which is off
there unless it is asked for, and then breaks no graph at `backward` either. There as here, a loss that is returned has to be
detached: else its history is wanted after the graph, and used up in it, so the graph breaks before `backward` (`Consumed`). Left
out: hooks, `create_graph` for `backward`.
"""

from __future__ import annotations

import operator
from typing import Any

import rushlight as rl
from rushlight.aten.strided import Tensor
from rushlight.c10.dispatch import local
from rushlight.dynamo.guards import Guard
from rushlight.dynamo.values import as_proxy, call_in_graph, fakes
from rushlight.dynamo.variables import (
    Constant,
    GradModeVariable,
    Lazy,
    ListVariable,
    TensorVariable,
    TupleVariable,
    Unsupported,
    Variable,
    constant_of,
)


def grad(frame: Any, outputs: Variable, inputs: Variable, *args: Variable, **kwargs: Variable) -> Variable:
    """`rl.autograd.grad` as a node of the graph; the gradients of the fakes say what it gives."""
    names = ("grad_outputs", "retain_graph", "create_graph", "only_inputs", "allow_unused")
    kwargs = dict(zip(names, args)) | kwargs
    node_args = (as_proxy(frame, outputs), as_proxy(frame, inputs))
    node_kwargs = {name: as_proxy(frame, arg) for name, arg in kwargs.items()}
    try:
        found = rl.autograd.grad(*fakes(node_args), **fakes(node_kwargs))
    except Exception as error:
        raise Unsupported(f"autograd.grad on fake tensors: {error}") from error
    if frame.output.first_grad is None:
        frame.output.first_grad = frame.root.steps
    node = frame.output.graph.create_node("call_function", rl.autograd.grad, node_args, node_kwargs)
    node.meta["example_value"] = found
    items: list[Variable] = []
    for i, fake in enumerate(found):
        items.append(
            Constant(None)
            if fake is None
            else frame.output.emit("call_function", operator.getitem, (node, i), {}, fake)
        )
    return TupleVariable(items)


def backward(
    frame: Any,
    loss: TensorVariable,
    gradient: Variable | None = None,
    retain_graph: Variable | None = None,
    create_graph: Variable | None = None,
    inputs: Variable | None = None,
) -> Variable:
    """`loss.backward()`: one `autograd.grad` for all leaves among the graph's inputs, and then what it adds to."""
    output = frame.output
    if create_graph is not None and constant_of(create_graph) or inputs is not None:
        raise Unsupported("backward with create_graph or inputs")
    if loss.real is not None and not loss.real.is_leaf:
        raise Unsupported("backward into a graph from before")
    kwargs: dict[str, Variable] = {}
    if gradient is not None and not (isinstance(gradient, Constant) and gradient.value is None):
        kwargs["grad_outputs"] = gradient
    if retain_graph is not None:
        kwargs["retain_graph"] = retain_graph
    leaves = []
    for node, source, tensor in output.inputs:
        if tensor.requires_grad:
            if not tensor.is_leaf:
                raise Unsupported("backward into a graph from before")
            if tensor._autograd.hooks or tensor._autograd.post_hooks:
                raise Unsupported("backward through a tensor with hooks")
            output.add_guard(Guard(source, f"not ({source}._autograd.hooks or {source}._autograd.post_hooks)"))
            leaves.append(output.by_fake[id(node.meta["example_value"])])
    reached = _reached(loss, leaves, kwargs)
    if not reached:
        raise Unsupported("backward of what depends on no leaf")
    gradients = grad(frame, loss, ListVariable(list(reached)), allow_unused=Constant(True), **kwargs)
    recorded = rl.is_grad_enabled() and any(isinstance(grad_of(frame, leaf), TensorVariable) for leaf in reached)
    storages = [fake._storage for fake in _fakes_in(output.graph)]
    if recorded:
        set_grad_mode(frame, False)
    for leaf, new in zip(reached, gradients.items):
        accumulate(frame, leaf, new, sum(storage is new.fake._storage for storage in storages) > 1)
    if recorded:
        set_grad_mode(frame, True)
    return Constant(None)


def _reached(loss: TensorVariable, leaves: list[TensorVariable], kwargs: dict[str, Variable]) -> list[TensorVariable]:
    """Those of the leaves that get a gradient."""
    if not loss.fake.requires_grad or not leaves:
        return []
    gradient = kwargs.get("grad_outputs")
    try:
        found = rl.autograd.grad(
            loss.fake,
            [leaf.fake for leaf in leaves],
            gradient.fake if isinstance(gradient, TensorVariable) else None,
            retain_graph=True,
            allow_unused=True,
        )
    except Exception as error:
        raise Unsupported(f"backward on fake tensors: {error}") from error
    return [leaf for leaf, fake in zip(leaves, found) if fake is not None]


def _fakes_in(graph: Any) -> list[Tensor]:
    values = [node.meta.get("example_value") for node in graph.nodes]
    unique = {id(value): value for value in values if isinstance(value, Tensor)}
    return list(unique.values())


def accumulate(frame: Any, leaf: TensorVariable, new: TensorVariable, shared: bool) -> None:
    """What `AccumulateGrad` does: keep the first gradient, add a later one in place."""
    before = frame.output.realize(grad_of(frame, leaf))
    if isinstance(before, TensorVariable):
        call_in_graph(frame, "add_", [before, new], {}, op="call_method")
        return
    if shared or new.fake._strides != leaf.fake._strides:
        new = call_in_graph(frame, "clone", [new], {}, op="call_method")
    set_grad(frame, leaf, new)


def grad_of(frame: Any, tensor: TensorVariable) -> Variable:
    """`tensor.grad`: what was written to it in this capture, or what was there before."""
    output = frame.output
    written = output.grads.get(id(tensor.fake))
    if written is not None:
        return written
    if tensor.real is None:
        return Constant(None)
    found = output.realize(Lazy(tensor.real.grad, f"{tensor.source}.grad"))
    return found


def set_grad(frame: Any, tensor: TensorVariable, value: Variable) -> None:
    """`tensor.grad = value`, done after the graph."""
    if tensor.real is None:
        raise Unsupported("writing the grad of a tensor that the graph makes")
    if isinstance(value, TensorVariable):
        if value.fake.dtype is not tensor.fake.dtype or value.fake.shape != tensor.fake.shape:
            raise Unsupported("a grad of another kind")
    elif not (isinstance(value, Constant) and value.value is None):
        raise Unsupported("a grad that is no tensor")
    frame.output.grads[id(tensor.fake)] = value
    frame.output.effect("grad", tensor)


def set_grad_mode(frame: Any, mode: bool) -> None:
    """For the fakes at once, and in the graph by a node."""
    rl._C._set_grad_enabled(mode)
    frame.output.emit("call_function", rl._C._set_grad_enabled, (mode,), {}, None)


def enter_grad_mode(frame: Any, manager: GradModeVariable) -> None:
    manager.before.append(local.grad_enabled if manager.cls is not rl.set_grad_enabled else manager.before[-1])
    set_grad_mode(frame, manager.mode)
