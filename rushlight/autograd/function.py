"""Nodes that are written by hand: a forward and a backward of one's own.

In PyTorch: `torch/autograd/function.py`, `torch/csrc/autograd/python_function.cpp`. Left out: `vmap` and `jvp`.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from typing import Any

from rushlight.aten.generated import functions
from rushlight.aten.strided import Tensor
from rushlight.autograd.grad_mode import no_grad
from rushlight.autograd.graph import AutogradMeta, Node, SavedTensor, gradient_edge, save, unpack, without_history
from rushlight.autograd.history import any_requires_grad, rebase_history, requires_grad


class FunctionCtx(Node):
    """What `forward` leaves for `backward`; it is the node itself."""

    to_save: Sequence[Tensor | None] = ()
    saved: Sequence[SavedTensor | None] = ()
    dirty_tensors: Sequence[Tensor] = ()
    non_differentiable: Sequence[Tensor] = ()
    materialize_grads = True
    needs_input_grad: tuple[bool, ...] = ()

    def save_for_backward(self, *tensors: Tensor | None) -> None:
        self.to_save = tensors

    def mark_dirty(self, *tensors: Tensor) -> None:
        self.dirty_tensors = tensors

    def mark_non_differentiable(self, *tensors: Tensor) -> None:
        self.non_differentiable = tensors

    def set_materialize_grads(self, value: bool) -> None:
        self.materialize_grads = value

    @property
    def saved_tensors(self) -> tuple[Tensor | None, ...]:
        return tuple(unpack(self, list(self.saved)))

    def release_variables(self) -> None:
        self.saved, self.released = (), True


class Function:
    """A differentiable function of one's own: static methods `forward(ctx, *args)` and `backward(ctx, *grads)`.

    `Function.apply(*args)` runs the forward, in which nothing is recorded, and leaves one node, named after the class.
    `backward` takes a gradient for each result and gives one for each argument, None where there is none.

    The other form has no `ctx` in its forward: `forward(*args)`, which may have defaults and be given arguments by name, and
    `setup_context(ctx, inputs, output)`, which is called after it with all arguments and what it returned.

    Source: `torch/autograd/function.py`, `Function`.
    """

    @staticmethod
    def forward(ctx: FunctionCtx, *args: Any) -> Any:
        raise NotImplementedError("You must implement the forward function for custom autograd.Function.")

    @staticmethod
    def backward(ctx: FunctionCtx, *grads: Tensor | None) -> Any:
        raise NotImplementedError("You must implement the backward for your custom autograd.Function to use it.")

    @staticmethod
    def setup_context(ctx: FunctionCtx, inputs: tuple[Any, ...], output: Any) -> None:
        raise NotImplementedError("setup_context is not implemented.")

    @classmethod
    def apply(cls, *args: Any, **kwargs: Any) -> Any:
        if cls.setup_context is Function.setup_context:
            return apply(cls, *args, **kwargs)
        bound = inspect.signature(cls.forward).bind(*args, **kwargs)
        bound.apply_defaults()
        return apply(with_context_in_forward(cls), *bound.args)


def with_context_in_forward(cls: type[Function]) -> type[Function]:
    """A `Function` that has a `setup_context` in the form whose forward takes the context."""

    def forward(ctx: FunctionCtx, *args: Any) -> Any:
        output = cls.forward(*args)
        cls.setup_context(ctx, args, output)
        return output

    return type(cls.__name__, (cls,), {"forward": staticmethod(forward)})


def apply(cls: type[Function], *args: Any) -> Any:
    """Run the forward of a `Function` and leave its node, which is the `ctx` that forward and backward are given.

    1. `new_context(cls, args)` makes the node. Its `needs_input_grad` is to be set: a tuple that says of each argument whether
       it requires grad (`requires_grad(arg)`; what is no tensor does not). A graph is recorded if `any_requires_grad` says so
       of the arguments.
    2. `cls.forward(ctx, *args)` runs, and nothing that it does is recorded. What it returns is one result, or a tuple of
       results, of any kind.
    3. `check_dirty(ctx, results)` refuses, with RuntimeError, what was marked dirty and is not among the results: a tuple,
       also where there is one result.
    4. If a graph is recorded, the node's `next_edges` lead, for each argument that is a tensor, where a gradient of it went
       before the forward ran: step 5 gives an argument that was written to a new history.
    5. `attach(ctx, result, args, recorded)` makes of each result, in their order, what the caller gets.
    6. If a graph is recorded, what the forward left in `ctx.to_save` goes to `ctx.saved`, a list, each made by
       `save(tensor, is_output)`, where an output is one of the results that the caller gets, that very object. In any case
       `ctx.to_save` is empty afterwards: without a graph nothing is kept.

    Returns:
        what the caller gets: a tuple if the forward returned a tuple, or else one result.

    Source: `torch/csrc/autograd/python_function.cpp`, `THPFunction_apply`.
    """
    ctx = new_context(cls, args)
    ctx.needs_input_grad = tuple(requires_grad(arg) for arg in args)
    recorded = any_requires_grad(args)
    edges = [gradient_edge(arg) for arg in args if isinstance(arg, Tensor)]
    with no_grad():
        result = cls.forward(ctx, *args)
    outputs = result if isinstance(result, tuple) else (result,)
    check_dirty(ctx, outputs)
    if recorded:
        ctx.next_edges = edges
    outputs = [attach(ctx, output, args, recorded) for output in outputs]
    if recorded:
        ctx.saved = [save(tensor, any(tensor is output for output in outputs)) for tensor in ctx.to_save]
    ctx.to_save = ()
    return tuple(outputs) if isinstance(result, tuple) else outputs[0]


def new_context(cls: type[Function], args: Sequence) -> FunctionCtx:
    """A node of a class of its own, named after the `Function`, that runs its backward."""
    ctx = type(f"{cls.__name__}Backward", (FunctionCtx,), {"apply": _run_backward, "function": cls})()
    ctx.places, ctx.count = [i for i, arg in enumerate(args) if isinstance(arg, Tensor)], len(args)
    return ctx


def check_dirty(ctx: FunctionCtx, outputs: Sequence) -> None:
    if not all(any(tensor is output for output in outputs) for tensor in ctx.dirty_tensors):
        raise RuntimeError(
            "Some elements marked as dirty during the forward method were not returned as output. The inputs that are modified "
            "inplace must all be outputs of the Function."
        )


def attach(ctx: FunctionCtx, output: Any, args: Sequence, recorded: bool) -> Any:
    """A result of a forward as the caller gets it: the next of the node's results, with its history if it is to have one. An
    argument that is returned as it is becomes a view of itself, unless it was written to.

    Source: `torch/csrc/autograd/custom_function.cpp`, `_process_backward_mode_ad`.
    """
    if not isinstance(output, Tensor):
        ctx.input_metadata.append((None, None))
        return output
    dirty = any(output is tensor for tensor in ctx.dirty_tensors)
    is_argument = any(output is arg for arg in args)
    marked = any(output is tensor for tensor in ctx.non_differentiable)
    if dirty:
        output._storage.version += 1
    if not recorded or marked or not output.dtype.is_floating_point:
        ctx.input_metadata.append((output.shape, output.dtype))
        return functions.detach(output) if is_argument and (requires_grad(output) or not dirty) else output
    if dirty and requires_grad(output) and output.is_leaf:
        raise RuntimeError("a leaf Variable that requires grad has been used in an in-place operation.")
    if dirty and output._base is not None:
        return rebase_history(output, ctx)
    if is_argument and not dirty:
        output = without_history(output)
    output._autograd = AutogradMeta(False, ctx, len(ctx.input_metadata))
    ctx.input_metadata.append((output.shape, output.dtype))
    return output


def _run_backward(ctx: FunctionCtx, *grads: Tensor | None) -> tuple[Tensor | None, ...]:
    if ctx.materialize_grads:
        grads = tuple(
            functions.zeros(sizes, dtype=dtype) if grad is None and sizes is not None else grad
            for grad, (sizes, dtype) in zip(grads, ctx.input_metadata)
        )
    result = ctx.function.backward(ctx, *grads)
    result = result if isinstance(result, tuple) else (result,)
    name = ctx.name()
    if len(result) < ctx.count or any(each is not None for each in result[ctx.count :]):
        raise RuntimeError(
            f"function {name} returned an incorrect number of gradients (expected {ctx.count}, got {len(result)})"
        )
    for i, each in enumerate(result):
        if each is not None and not isinstance(each, Tensor):
            raise RuntimeError(f"expected Variable or None (got {type(each).__name__})")
        if each is not None and i not in ctx.places:
            raise RuntimeError(
                f"function {name} returned a gradient different from None at position {i + 1}, but the corresponding forward "
                "input was not a Variable"
            )
    return tuple(result[i] for i in ctx.places)


def once_differentiable(backward: Callable) -> Callable:
    """Decorator of a `backward` that is not made of operators: its result has no history.

    Source: `torch/autograd/function.py`, `once_differentiable`.
    """

    def run(ctx: FunctionCtx, *grads: Tensor | None) -> Any:
        with no_grad():
            return backward(ctx, *grads)

    return run
