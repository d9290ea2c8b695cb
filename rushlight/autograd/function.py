"""Custom differentiable functions: you write the forward and the backward.

In PyTorch: `torch/autograd/function.py`, `torch/csrc/autograd/python_function.cpp`. Left out: `vmap` and `jvp`.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from functools import wraps
from typing import Any

from rushlight.aten.generated import functions
from rushlight.aten.native.views import CreationMeta
from rushlight.aten.strided import Tensor
from rushlight.autograd.grad_mode import no_grad
from rushlight.autograd.graph import NO_EDGE, AutogradMeta, Node, SavedTensor, gradient_edge, save, unpack, unpack_saved
from rushlight.autograd.history import any_requires_grad, check_inplace, rebase_history, requires_grad
from rushlight.c10.dispatch import local
from rushlight.c10.exception import warn


class FunctionCtx(Node):
    """The context, `ctx`, that `forward` fills for `backward`. It is the node itself."""

    to_save: Sequence[Tensor | None] = ()
    saved: Sequence[SavedTensor | None] = ()
    dirty_tensors: Sequence[Tensor] = ()
    non_differentiable: Sequence[Tensor] = ()
    materialize_grads = _materialize_non_diff_grads = True
    without_history: tuple[int, ...] = ()  # the outputs that are not differentiable
    needs_input_grad: tuple[bool, ...] = ()
    _forward_cls: type[Function]  # set by `FunctionMeta`
    tensor_indices: list[int]  # set by `new_context`, as the next one
    num_inputs: int
    creation_meta: CreationMeta  # of views among the outputs, set by `check_dirty`, as the next one
    num_outputs: int
    accessed = False  # the saved tensors, which go at the first access if `clear_saved_tensors_on_access`

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
        unpack(self, None)  # raises if they were freed
        if self.accessed:
            problem = "saved_tensors can only be accessed once when clear_saved_tensors_on_access=True is set on the"
            remedy = "Either access saved_tensors only once, or set clear_saved_tensors_on_access=False."
            raise RuntimeError(f"{problem} autograd.Function. {remedy}")
        tensors = tuple([None if entry is None else unpack_saved(entry, self) for entry in self.saved])
        if self._forward_cls.clear_saved_tensors_on_access:
            self.saved, self.accessed = (), True
        return tensors

    @property
    def saved_variables(self) -> tuple[Tensor | None, ...]:
        """The name of `saved_tensors` before tensors and variables were one."""
        warn("'saved_variables' is deprecated; use 'saved_tensors'", DeprecationWarning)
        return self.saved_tensors

    def release_variables(self) -> None:
        self.saved, self.to_save, self.released = (), (), True

    def apply(self, *grads: Tensor | None) -> tuple[Tensor | None, ...]:
        if self.materialize_grads:
            kept = () if self._materialize_non_diff_grads else self.without_history
            grads = tuple(
                functions.zeros(sizes, dtype=dtype) if grad is None and sizes is not None and i not in kept else grad
                for i, (grad, (sizes, dtype)) in enumerate(zip(grads, self.input_metadata))
            )
        backward, vjp = self._forward_cls.backward, self._forward_cls.vjp
        if vjp is not Function.vjp:
            if backward is not Function.backward:
                problem = "Implementing both 'backward' and 'vjp' for a custom Function is not allowed."
                raise RuntimeError(f"{problem} You should only implement one of them.")
            backward = vjp
        result = backward(self, *grads)
        result = result if isinstance(result, tuple) else (result,)
        name = self.name()
        if len(result) < self.num_inputs or any(extra is not None for extra in result[self.num_inputs :]):
            numbers = f"(expected {self.num_inputs}, got {len(result)})"
            raise RuntimeError(f"function {name} returned an incorrect number of gradients {numbers}")
        for i, grad in enumerate(result):
            if grad is not None and not isinstance(grad, Tensor):
                raise RuntimeError(f"expected Variable or None (got {type(grad).__name__})")
            if grad is not None and i not in self.tensor_indices:
                problem = f"function {name} returned a gradient different from None at position {i + 1}"
                raise RuntimeError(f"{problem}, but the corresponding forward input was not a Variable")
        return tuple([result[i] for i in self.tensor_indices])

    __repr__ = object.__repr__  # a class of Python, so its module is in it


class FunctionMeta(type):
    """The class of a `Function`. Makes the class of its nodes, which is named after it, as `_backward_cls`.
    Source: `torch/autograd/function.py`, `FunctionMeta`."""

    _backward_cls: type[FunctionCtx]

    def __init__(cls, name: str, bases: tuple[type, ...], attrs: dict[str, Any]) -> None:
        super().__init__(name, bases, attrs)
        cls._backward_cls = type(f"{name}Backward", (FunctionCtx,), {"_forward_cls": cls})


class Function(metaclass=FunctionMeta):
    """Base class of custom functions: static methods `forward(ctx, *args)` and `backward(ctx, *grads)`.

    `Function.apply(*args)` runs the forward without recording it, and makes one node, named after the class. `backward` takes
    a gradient for each result and returns one for each argument, or None.

    In the second form, `forward(*args)` has no `ctx`. It may have defaults and take arguments by name. After it,
    `setup_context(ctx, inputs, output)` is called with all arguments and the forward's result.

    `clear_saved_tensors_on_access`: the first access to `ctx.saved_tensors` frees them, so that backward can free each of them
    as soon as it has used it.

    Source: `torch/autograd/function.py`, `Function`.
    """

    clear_saved_tensors_on_access = False

    @staticmethod
    def forward(ctx: FunctionCtx, *args: Any) -> Any:
        raise NotImplementedError("You must implement the forward function for custom autograd.Function.")

    @staticmethod
    def backward(ctx: FunctionCtx, *grads: Tensor | None) -> Any:
        problem = "You must implement either the backward or vjp method for your custom autograd.Function"
        raise NotImplementedError(f"{problem} to use it with backward mode AD.")

    vjp = backward  # another name for it; a class defines one of the two

    @staticmethod
    def setup_context(ctx: FunctionCtx, inputs: tuple[Any, ...], output: Any) -> None:
        raise NotImplementedError("setup_context is not implemented.")

    def __call__(self, *args: Any, **kwargs: Any) -> None:
        raise RuntimeError(
            "Legacy autograd function with non-static forward method is deprecated. Make forward and backward static methods, "
            f"and call {type(self).__name__}.apply"
        )

    @classmethod
    def apply(cls, *args: Any, **kwargs: Any) -> Any:
        if cls.setup_context is Function.setup_context:
            return apply(cls, *args, **kwargs)
        bound = inspect.signature(cls.forward).bind(*args, **kwargs)
        bound.apply_defaults()

        def forward(ctx: FunctionCtx, *args: Any) -> Any:
            output = cls.forward(*args)
            cls.setup_context(ctx, args, output)
            check_saved(ctx, args, output)
            return output

        # a class whose nodes are those of `cls`, because only `__init__` makes a class of nodes
        with_ctx: Any = FunctionMeta.__new__(FunctionMeta, cls.__name__, (cls,), {"forward": staticmethod(forward)})
        return apply(with_ctx, *bound.args)


def apply(cls: type[Function], *args: Any) -> Any:
    """Run the forward of a `Function`, without recording its operators, and make the node that runs its backward.

    `new_context(cls, args)` makes the node, which is the `ctx` of forward and backward. `cls.forward(ctx, *args)` returns one
    result, or a tuple of results, of any type. A named tuple is a tuple, too, and a list is one result. A graph is recorded if
    `any_requires_grad(args)` is true.

    The node has these attributes, with the content that torch's nodes have:

    - `needs_input_grad`, which forward can read: a tuple with a bool for each argument. `requires_grad(arg)` is False for a value
      that is not a tensor.
    - `next_edges`: a list or a tuple of edges. `gradient_edge(tensor)` returns the current edge of a tensor. A forward that
      writes to an argument changes the argument's edge. The node has the edge from before the forward.
    - `saved`: a list or a tuple of `save(tensor, is_output)` for each of the tensors, or None, that forward has put into
      `ctx.to_save`. A tensor that is an output is saved with the node itself as its history. The outputs are the results for the
      caller. For an argument that forward returns and has not marked dirty, `attach` makes another tensor, so the argument
      itself is no output.
    - `to_save`: empty afterwards, also without a graph.

    Two helpers treat the results. `check_dirty(ctx, results)` takes all of them, a tuple even if there is one, and raises
    RuntimeError if a tensor that was marked dirty is not among them. After it, `attach(ctx, result, args, recorded)` makes of
    one result, in the order of the results, the result for the caller. It uses the node's edges, and makes the node the history
    of an argument that was written to.

    Returns:
        the caller's results: a tuple if the forward returned a tuple, otherwise one result.

    >>> class Double(Function):
    ...     forward = staticmethod(lambda ctx, x: x * 2)
    ...     backward = staticmethod(lambda ctx, grad: grad * 2)
    >>> apply(Double, rl.ones(2).requires_grad_()).grad_fn.name()
    'DoubleBackward'

    Source: `torch/csrc/autograd/python_function.cpp`, `THPFunction_apply`.
    """
    ctx = new_context(cls, args)
    ctx.needs_input_grad = tuple(requires_grad(arg) for arg in args)
    recorded = any_requires_grad(args)
    edges = [gradient_edge(arg) for arg in args if isinstance(arg, Tensor)] if recorded else []
    with no_grad():
        result = cls.forward(ctx, *args)
    outputs = result if isinstance(result, tuple) else (result,)
    check_dirty(ctx, outputs)
    ctx.next_edges = edges
    outputs = [attach(ctx, output, args, recorded) for output in outputs]
    if recorded:
        ctx.saved = [save(tensor, any(tensor is output for output in outputs)) for tensor in ctx.to_save]
    ctx.to_save = ()
    return tuple(outputs) if isinstance(result, tuple) else outputs[0]


def new_context(cls: FunctionMeta, args: Sequence) -> FunctionCtx:
    """Make a node that runs the backward of a `Function`."""
    ctx = cls._backward_cls()
    ctx.tensor_indices, ctx.num_inputs = [i for i, arg in enumerate(args) if isinstance(arg, Tensor)], len(args)
    return ctx


def is_in(tensor: Any, values: Sequence) -> bool:
    """Whether the tensor itself is among the values. `in` would compare elements."""
    return id(tensor) in map(id, values)


def check_dirty(ctx: FunctionCtx, outputs: Sequence) -> None:
    """Increment the versions of the tensors that were marked dirty, and refuse those that a graph cannot represent. Views among
    the outputs must not be written to later: `ctx.creation_meta` is the reason."""
    for tensor in ctx.dirty_tensors:
        tensor._storage.version += 1
    if not all(is_in(tensor, outputs) for tensor in ctx.dirty_tensors):
        problem = "Some elements marked as dirty during the forward method were not returned as output."
        raise RuntimeError(f"{problem} The inputs that are modified inplace must all be outputs of the Function.")
    ctx.num_outputs = len(outputs)
    recorded = local.grad_enabled and any(ctx.needs_input_grad)
    if recorded and len(outputs) > 1 and any(tensor._base is not None for tensor in ctx.dirty_tensors):
        problem = "If your Function modifies inplace an input that is a view of another Tensor"
        raise RuntimeError(
            f"{problem}, your Function cannot return more than one Tensor. Clone the input, or split it."
        )
    several = recorded and len(outputs) > 1 and sum(is_differentiable(ctx, output) for output in outputs) > 1
    ctx.creation_meta = CreationMeta.MULTI_OUTPUT_NODE if several else CreationMeta.IN_CUSTOM_FUNCTION


def is_differentiable(ctx: FunctionCtx, output: Any) -> bool:
    """Whether an output of `forward` has a gradient: it has a floating-point dtype and was not passed to
    `mark_non_differentiable`."""
    return isinstance(output, Tensor) and output.dtype.is_floating_point and not is_in(output, ctx.non_differentiable)


def check_saved(ctx: FunctionCtx, args: Sequence, output: Any) -> None:
    """Refuse an argument that is saved in `setup_context` and returned: the saved tensor would have the history of the argument,
    not of the result."""
    outputs = output if isinstance(output, tuple) else (output,)
    for tensor in ctx.to_save:
        if isinstance(tensor, Tensor) and is_in(tensor, args) and is_in(tensor, outputs):
            detached = is_in(tensor, ctx.non_differentiable) and requires_grad(tensor)
            if not detached and not is_in(tensor, ctx.dirty_tensors):
                problem = "An input that has been returned as-is as output is being saved for backward."
                override = "This is not supported if you override setup_context."
                raise RuntimeError(f"{problem} {override} Return and save x.view_as(x) instead.")


def attach(ctx: FunctionCtx, output: Any, args: Sequence, recorded: bool) -> Any:
    """Make from a result of the forward the result for the caller: the node's next output, with a history if one is recorded.
    An argument that the forward returned, and did not write to, becomes a view of itself. A graph cannot represent a write to a
    view that the forward made.
    Source: `torch/csrc/autograd/custom_function.cpp`, `_process_backward_mode_ad`."""
    if not isinstance(output, Tensor):
        ctx.input_metadata.append((None, None))
        return output
    dirty, is_argument = is_in(output, ctx.dirty_tensors), is_in(output, args)
    if not recorded or not is_differentiable(ctx, output):
        ctx.without_history += (len(ctx.input_metadata),)
        ctx.input_metadata.append((output.shape, output.dtype))
        if is_argument and requires_grad(output):
            output = functions.detach(output)
        elif is_argument and not dirty:
            output = view_as_self(output)
        elif not is_argument and output._base is None and requires_grad(output):
            output._autograd = None
    elif dirty:
        rebase_dirty(ctx, output, is_argument)
    else:
        output = view_as_self(output) if is_argument else output
        output._autograd = AutogradMeta(False, ctx, len(ctx.input_metadata))
        output._view_version = output._storage.version
        ctx.input_metadata.append((output.shape, output.dtype))
    if output._base is not None and not (is_argument and dirty):
        output._creation_meta = ctx.creation_meta
    if len(ctx.input_metadata) == ctx.num_outputs:
        ctx.dirty_tensors = ctx.non_differentiable = ()  # a result that they hold would hold them by its node
    return output


def view_as_self(output: Tensor) -> Tensor:
    """A view of a tensor that `forward` returns as it got it, so that the output has a node of its own.
    Source: `torch/csrc/autograd/custom_function.cpp`, `_view_as_self_with_no_grad`."""
    with no_grad():
        return output.view_as(output)


def rebase_dirty(ctx: FunctionCtx, output: Tensor, is_argument: bool) -> None:
    """Make the node the history of a tensor that the forward wrote to. Its `grad` belongs to the old history."""
    if requires_grad(output) and (output._autograd is None or output._autograd.grad_fn is None):
        raise RuntimeError("a leaf Variable that requires grad has been used in an in-place operation.")
    if not is_argument:
        problem = "ctx.mark_dirty() received a tensor that was not an input."
        problem = f"{problem} Only input Tensors that have been mutated should be passed to ctx.mark_dirty()."
        if output._base is not None:
            raise RuntimeError(problem)
        warn(problem)
    check_inplace(output)
    rebase_history(output, ctx)
    meta = output._autograd
    assert meta is not None, "it has a new history"
    meta.grad = None


def once_differentiable(fn: Callable) -> Callable:
    """Decorator of a `backward` that cannot be differentiated again: if its result is differentiated, that is an error.
    Source: `torch/autograd/function.py`, `once_differentiable`."""

    @wraps(fn)
    def run(ctx: FunctionCtx, *grads: Tensor | None) -> Any:
        with no_grad():
            result = fn(ctx, *grads)
        if not local.grad_enabled or not any_requires_grad(grads):
            return result
        outputs = result if isinstance(result, tuple) else (result,)
        problem = "trying to differentiate twice a function that was marked with @once_differentiable"
        return delayed_error(problem, [x if x is None else x.detach().requires_grad_() for x in outputs])

    return run


class Error(Node):
    """Raises an error in backward. Source: `torch/csrc/autograd/functions/basic_ops.h`, `Error`."""

    name = Node.cxx_name

    def __init__(self, message: str) -> None:
        super().__init__()
        self.message = message

    def apply(self, *grads: Tensor | None) -> None:
        raise RuntimeError(self.message)


def delayed_error(message: str, tensors: Sequence[Tensor | None]) -> tuple[Tensor | None, ...]:
    """The tensors with a history that raises in backward. Source: `torch/csrc/autograd/functions/basic_ops.cpp`, `DelayedError`."""
    node = Error(message)
    node.next_edges = [NO_EDGE if tensor is None else gradient_edge(tensor) for tensor in tensors]
    outputs = tuple(tensor if tensor is None else functions.detach(tensor) for tensor in tensors)
    for i, output in enumerate(outputs):
        node.input_metadata.append((None, None) if output is None else (output._sizes, output.dtype))
        if output is not None:
            output._autograd = AutogradMeta(False, node, i)
    return outputs
