"""A custom operator, added to real PyTorch so that every part of PyTorch accepts it.

`fused_linear`, the training head's activation(x @ weight.T + bias), gets everything that PyTorch's own operators have: a
schema, a kernel, a fake kernel, a derivative, a batching rule. They are registered in three ways: by
`torch.library.custom_op`, as an `autograd.Function`, and one dispatch key at a time by `Library`. A second operator changes
its arguments. In PyTorch: `torch/_library/`, `torch/library.py`, `torch/autograd/function.py`,
`torch/_functorch/autograd_function.py`. Left out: forward-mode derivatives, autocast rules, lists of tensors, operators that
return views.

This module works on torch itself. Importing it registers nothing.
"""

# Without `from __future__ import annotations`: schemas are read from annotations, which should be types and not strings.
import inspect
import math
import typing
from collections.abc import Callable, Sequence
from functools import partial
from types import NoneType
from typing import Any

import torch
from torch import Tensor
from torch.library import CustomOpDef, Library
from torch.types import Number

# The schema, which the dispatcher, the compiler and the exporter read ------------------------------------------------

SCHEMA_TYPES = {  # an int is a SymInt because a size may be a symbol while a graph is captured
    Tensor: "Tensor", int: "SymInt", float: "float", bool: "bool", str: "str", Number: "Scalar", torch.dtype: "ScalarType",
    torch.device: "Device",
}  # fmt: skip
LISTED = (Tensor, int, float, bool, Number)  # types that lists may contain
RETURNED = (Tensor, list[Tensor], int, float, bool, Number)


def schema_type(annotation: Any) -> str:
    """The type in a schema of a parameter that is annotated with `annotation`.

    The types of `SCHEMA_TYPES` have the names given there; `T | None` (which is equal to `Optional[T]`) is `T?`; `list[T]`
    and `Sequence[T]`, that of `collections.abc`, are `T[]`, for T in `LISTED` only. Raises ValueError for any other
    annotation that can be hashed. (PyTorch knows some more, such as `list[T] | None`, which is `T[]?`. Accepting these too is
    not wrong.) Do not use `torch.library.infer_schema` and its tables, which are empty during the check.

    >>> schema_type(int), schema_type(Tensor | None), schema_type(list[int])
    ('SymInt', 'Tensor?', 'SymInt[]')

    Source: `torch/_library/infer_schema.py`, `derived_types`.
    """
    for inner, name in SCHEMA_TYPES.items():
        if annotation == inner:
            return name
        if annotation == inner | None:
            return f"{name}?"
        if inner in LISTED and annotation in (list[inner], Sequence[inner]):
            return f"{name}[]"
    raise ValueError(f"a schema has no type for {annotation}")


def infer_schema(function: Callable, mutates_args: Sequence[str]) -> str:
    """The schema of an operator with the parameters and annotations of `function`, `(Tensor x, SymInt n=1) -> Tensor`.

    Each parameter is its `schema_type` and its name, with `=` and its default in the form of `default_text`. A `*` comes
    before the first keyword-only parameter. The result is in the form of `result_type`. An annotation may be a string,
    `"Tensor | None"`. It then means the type that this string has in the function's own module. If it has no meaning there,
    any error may be raised.

    The parameters named in `mutates_args`, a list or a tuple, are tensors that the operator writes to: if the function's
    parameter number 1 (of 0, 1, 2, ...) is one, its type is `Tensor(a1!)`, or `Tensor(a1!)?` if it may be None, or
    `Tensor(a1!)[]`. All other parameters are only read, and no result shares memory with one.

    Raises ValueError for a parameter or result without annotation; for `*args`, `**kwargs` and positional-only parameters;
    and for a name in `mutates_args` that is not that of a parameter, or not of tensors. Do not call
    `torch.library.infer_schema`.

    >>> def scale(x: Tensor, out: Tensor, *, times: int = 2) -> Tensor: ...
    >>> infer_schema(scale, ("out",))
    '(Tensor x, Tensor(a1!) out, *, SymInt times=2) -> Tensor'

    Source: `torch/_library/infer_schema.py`, `infer_schema`.
    """
    parameters, hints = inspect.signature(function).parameters, typing.get_type_hints(function)
    if unknown := [name for name in mutates_args if name not in parameters]:
        raise ValueError(f"{function} has no parameters {unknown}")
    written = []
    for place, (name, parameter) in enumerate(parameters.items()):
        if parameter.kind not in (parameter.POSITIONAL_OR_KEYWORD, parameter.KEYWORD_ONLY) or name not in hints:
            raise ValueError(f"a schema has no place for {parameter}")
        if parameter.kind is parameter.KEYWORD_ONLY and "*" not in written:
            written.append("*")
        kind = schema_type(hints[name])
        if name in mutates_args:
            if not kind.startswith("Tensor"):
                raise ValueError(f"{name} is of type {kind}: an operator writes to tensors only")
            kind = kind.replace("Tensor", f"Tensor(a{place}!)")
        default = "" if parameter.default is parameter.empty else f"={default_text(parameter.default)}"
        written.append(f"{kind} {name}{default}")
    return f"({', '.join(written)}) -> {result_type(hints.get('return'))}"


def default_text(value: Any) -> str:
    """A parameter's default in the form of a schema. Raises ValueError for a value that no schema can express."""
    match value:
        case None | bool() | int() | float():
            return str(value)
        case str() | torch.device():
            return f'"{value}"'
        case torch.dtype():
            return str(value).removeprefix("torch.")
    raise ValueError(f"a schema cannot have {value!r} as a default")


def result_type(annotation: Any) -> str:
    """The type of an operator's result in the form of a schema: `Tensor`, `(Tensor, Tensor[])`, `()` for nothing. Raises
    ValueError for any annotation (None: there is none) other than those in `RETURNED`, tuples of these, and NoneType."""
    if annotation is NoneType:
        return "()"
    if typing.get_origin(annotation) is tuple:
        return f"({', '.join(result_type(part) for part in typing.get_args(annotation))})"
    if annotation not in RETURNED:
        raise ValueError(f"no operator returns {annotation}")
    return SCHEMA_TYPES.get(annotation, "Tensor[]")


# The kernel, and the fake one ----------------------------------------------------------------------------------------

ACTIVATIONS: dict[str, Callable[[Tensor], Tensor]] = {
    "none": lambda z: z,
    "relu": torch.relu,
    "tanh": torch.tanh,
    "gelu": lambda z: z * (0.5 + 0.5 * torch.erf(z / math.sqrt(2))),
}


def activate(z: Tensor, activation: str) -> Tensor:
    """An activation of a tensor, made of differentiable operations. Raises ValueError for an unknown name."""
    if activation not in ACTIVATIONS:
        raise ValueError(f"no activation {activation!r}; there are {', '.join(ACTIVATIONS)}")
    return ACTIVATIONS[activation](z)


def check_arguments(x: Tensor, weight: Tensor, bias: Tensor | None, activation: str) -> None:
    """Refuse arguments that `fused_linear` does not accept: other shapes than its docstring says and mixed dtypes
    (RuntimeError), an unknown activation (ValueError). It reads only the last size of `x`."""
    if activation not in ACTIVATIONS:
        raise ValueError(f"no activation {activation!r}; there are {', '.join(ACTIVATIONS)}")
    torch._check(weight.dim() == 2 and x.dim() > 0, lambda: f"no product of {x.dim()} and {weight.dim()} dimensions")
    torch._check(x.shape[-1] == weight.shape[1], lambda: f"{x.shape[-1]} features for a weight {tuple(weight.shape)}")
    torch._check(x.dtype == weight.dtype, lambda: f"{x.dtype} and {weight.dtype} do not go together")
    if bias is not None:
        torch._check(bias.dim() == 1, lambda: f"a bias has one dimension, not {bias.dim()}")
        torch._check(bias.shape[0] == weight.shape[0], lambda: f"{bias.shape[0]} biases for {weight.shape[0]} results")
        torch._check(bias.dtype == weight.dtype, lambda: f"{bias.dtype} and {weight.dtype} do not go together")


def fused_linear(x: Tensor, weight: Tensor, bias: Tensor | None = None, activation: str = "none") -> Tensor:
    """The kernel: activation(x @ weight.T + bias), of shape (..., out).

    `x` has shape (..., in) with any number of leading dimensions, including none; `weight` (out, in); `bias` (out,), or None.
    The sizes `in` and `out` are at least 1, and the dtype is floating-point, here and below. Raises the errors of
    `check_arguments`. The result is contiguous, row-major, for any strides of the arguments, and shares no memory with an
    argument; no argument is changed. The strides of a result without elements do not matter.

    Use matrix products, elementwise operations, sums, views and copies; you may use `activate`. (In torch 2.13
    `torch.nn.functional.linear`, the operator `aten::linear`, does all of this except the activation: do not call it.)

    >>> fused_linear(torch.tensor([[1.0, 2.0]]), torch.tensor([[3.0, 4.0], [3.0, -4.0]]), activation="relu")
    tensor([[11.,  0.]])

    Source: `aten/src/ATen/native/Linear.cpp`, `linear`; `aten/src/ATen/native/cuda/Blas.cpp`, `addmm_activation_out`.
    """
    check_arguments(x, weight, bias, activation)
    product = x @ weight.T
    if bias is not None:
        product = product + bias
    return activate(product, activation).contiguous()


def fused_linear_fake(x: Tensor, weight: Tensor, bias: Tensor | None = None, activation: str = "none") -> Tensor:
    """Return a tensor with the metadata of the result of `fused_linear`: the fake kernel. Its elements have no meaning.

    It has the shape, strides (if it has elements), dtype and device of the kernel's result, and raises the errors of the
    kernel. The arguments may have no data: they may be on the device "meta" or be fake, and their sizes may be symbols.
    So no product is computed, no element is read, and the sizes of `x` other than the last one are not compared with
    anything: a graph captured with such a comparison is only valid for batches with the same result of the comparison,
    and other batches are captured again.

    >>> result = fused_linear_fake(torch.empty(5, 3, device="meta"), torch.empty(4, 3, device="meta"))
    >>> result.shape, result.device
    (torch.Size([5, 4]), device(type='meta'))

    Source: `torch/_library/fake_impl.py`; `torch/_meta_registrations.py`.
    """
    check_arguments(x, weight, bias, activation)
    return x.new_empty((*x.shape[:-1], weight.shape[0]))


# The derivative ------------------------------------------------------------------------------------------------------


def fused_linear_setup_context(ctx: Any, inputs: tuple[Tensor, Tensor, Tensor | None, str], output: Tensor) -> None:
    """Save the values that `fused_linear_backward` reads, and no others.

    Calls `ctx.save_for_backward` with four values, `x`, `weight`, `bias` and `output`, with None for those that are not
    needed, and sets `ctx.activation`. The first entries of `ctx.needs_input_grad` say whether the gradients of `x`, `weight`
    and `bias` are needed. The entries of `x` and `weight` always exist. Arguments equal to their defaults have no entry,
    and torch may add one entry for an argument of its own. For example, after `op(x, weight)` it is `(True, True)` or
    `(True, True, False)` if both gradients are needed.

    - The gradient of `weight` is computed from `x`, and that of `x` from `weight`; that of `bias` from neither.
    - The derivatives of relu and tanh are computed from the output, that of none from nothing.
    - That of gelu is computed from its input, which is not saved: for it, `x`, `weight` and `bias` are saved in any case, the
      output is not.
    - If none of the three gradients is needed, there is no backward, and each of the four may be None or the tensor.

    No operator is called.

    >>> class Context:
    ...     needs_input_grad, save_for_backward = (True, False, False), print
    >>> x, weight, output = torch.tensor([[1.0]]), torch.tensor([[2.0]]), torch.tensor([[3.0]])
    >>> fused_linear_setup_context(Context(), (x, weight, None, "relu"), output)
    None tensor([[2.]]) None tensor([[3.]])

    Source: `torch/_library/autograd.py`, `make_autograd_impl`; `tools/autograd/gen_variable_type.py` (guards around the saved
    values).
    """
    x, weight, bias, activation = inputs
    needs_x, needs_weight, *_ = ctx.needs_input_grad
    again = activation == "gelu"
    ctx.save_for_backward(
        x if needs_weight or again else None,
        weight if needs_x or again else None,
        bias if again else None,
        output if activation in ("relu", "tanh") else None,
    )
    ctx.activation = activation


def fused_linear_backward(ctx: Any, grad: Tensor) -> tuple[Tensor | None, Tensor | None, Tensor | None, None]:
    """The gradients of `x`, `weight`, `bias` and `activation` (None), given that of the result, of shape (..., out) and any
    strides.

    `ctx.saved_tensors` and `ctx.activation` have the values that `fused_linear_setup_context` stored. A gradient that
    `ctx.needs_input_grad` does not ask for is None and is not computed; at least one is asked for. An argument left at
    its default has no entry there: it is `(True, True)` after `op(x, weight)`. Each gradient has the shape of its
    argument. Neither `grad` nor a saved tensor is changed. The derivative of relu is 0 at 0; that of gelu at z is Φ(z) +
    z φ(z), with Φ(z) = (1 + erf(z / √2)) / 2 and φ(z) = exp(-z² / 2) / √(2π).

    It will be differentiated itself, so use differentiable operations: matrix products, elementwise operations, sums, views.
    It calls no `*_backward` operator and nothing of `torch.autograd` and `torch.func`.

    >>> class Context:
    ...     needs_input_grad, activation = (True, True), "none"
    ...     saved_tensors = torch.tensor([[1.0, 2.0]]), torch.tensor([[3.0, 4.0]]), None, None
    >>> fused_linear_backward(Context(), torch.ones(1, 1))
    (tensor([[3., 4.]]), tensor([[1., 2.]]), None, None)

    Source: `tools/autograd/derivatives.yaml`, `linear`; `torch/csrc/autograd/FunctionsManual.cpp`.
    """
    x, weight, bias, output = ctx.saved_tensors
    needs_x, needs_weight, needs_bias, *_ = (*ctx.needs_input_grad, False)
    match ctx.activation:
        case "relu":
            grad = grad * (output > 0)
        case "tanh":
            grad = grad * (1 - output * output)
        case "gelu":
            z = x @ weight.T if bias is None else x @ weight.T + bias
            density = torch.exp(-z * z / 2) / math.sqrt(2 * math.pi)
            grad = grad * (0.5 + 0.5 * torch.erf(z / math.sqrt(2)) + z * density)
    return (
        grad @ weight if needs_x else None,
        torch.einsum("...o,...i->oi", grad, x) if needs_weight else None,
        grad.sum_to_size(grad.shape[-1]) if needs_bias else None,
        None,
    )


# The batching rule ---------------------------------------------------------------------------------------------------


def move_batch_dim_to_front(tensor: Tensor, dim: int | None, batch_size: int) -> Tensor:
    """A view of a tensor with its batch dimension first. A tensor without one (`dim` is None) is expanded to `batch_size`."""
    return tensor.expand(batch_size, *tensor.shape) if dim is None else tensor.movedim(dim, 0)


def fused_linear_vmap(
    op: Callable[..., Tensor],
    info: Any,
    in_dims: tuple[int | None, ...],
    x: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    activation: str = "none",
) -> tuple[Tensor, int]:
    """The rule for `torch.vmap`: `fused_linear` of a batch of arguments at once, and the batch dimension of the result.

    `op` is the operator itself. `in_dims` has an entry for each argument passed (not for those left at their default): the
    batch dimension, not negative, or None for an argument without a batch, which is then the same for every example. At least
    one argument has a batch, of `info.batch_size` examples. An example's `x` has shape (..., in), its `weight` (out, in), its
    `bias` (out,).

    - Only `x` has a batch: one call of `op`, by position, computes everything. The batch is one more leading dimension.
    - `weight` or `bias` has a batch: batched matrix products and elementwise operations, views, and `activate`; not `op`,
      which takes no batch of weights, and no loop over the examples.

    In both cases the result can be differentiated by each argument that requires grad.

    Returns:
        the result, and its batch dimension, which may be any one, not negative.

    >>> class Info:
    ...     batch_size = 7
    >>> result, dim = fused_linear_vmap(fused_linear, Info, (None, 0), torch.ones(3), torch.ones(7, 2, 3))
    >>> result.movedim(dim, 0).shape
    torch.Size([7, 2])

    Source: `torch/_functorch/autograd_function.py`, `custom_function_call_vmap_helper`;
    `aten/src/ATen/functorch/BatchRulesLinearAlgebra.cpp`.
    """
    x_dim, weight_dim, bias_dim, *_ = (*in_dims, None)
    x = move_batch_dim_to_front(x, x_dim, info.batch_size)
    if weight_dim is None and bias_dim is None:
        return op(x, weight, bias, activation), 0
    z = torch.einsum("b...i,boi->b...o", x, move_batch_dim_to_front(weight, weight_dim, info.batch_size))
    if bias is not None:
        bias = move_batch_dim_to_front(bias, bias_dim, info.batch_size)
        z = z + bias.reshape(info.batch_size, *[1] * (z.dim() - 2), -1)
    return activate(z, activation), 0


# Registered at once: torch.library.custom_op -------------------------------------------------------------------------


def register_fused_linear(namespace: str) -> CustomOpDef:
    """Make `torch.ops.<namespace>.fused_linear`: kernel, fake kernel, derivative and batching rule.

    `torch.library.custom_op` takes `fused_linear` as the kernel for every device and infers the schema from its annotations;
    no argument is changed. The rest are the functions above: the fake kernel is `fused_linear_fake`, and the batching rule
    calls the operator, not its kernel. Returns the result of `custom_op`, which can be called like the operator.

    >>> op = register_fused_linear("example")
    >>> torch.ops.example.fused_linear(torch.ones(2), torch.ones(1, 2)), op(torch.ones(2), torch.ones(1, 2))
    (tensor([2.]), tensor([2.]))

    Source: `torch/_library/custom_ops.py`, `custom_op`, `CustomOpDef`.
    """
    op = torch.library.custom_op(f"{namespace}::fused_linear", fused_linear, mutates_args=())
    op.register_fake(fused_linear_fake)
    op.register_autograd(fused_linear_backward, setup_context=fused_linear_setup_context)
    op.register_vmap(partial(fused_linear_vmap, op))
    return op


# As a Function, which torch.func can differentiate -------------------------------------------------------------------


def fused_linear_function(op: Callable[..., Tensor]) -> type[torch.autograd.Function]:
    """A class whose `apply(x, weight, bias=None, activation="none")` is `op` with the derivative and the batching rule above.

    It is a subclass of `torch.autograd.Function` in the form that has its own `setup_context`: `forward`, which gets no ctx,
    calls `op` once, with the four arguments by position. Every transform of `torch.func` refuses the other form,
    `forward(ctx, ...)`. In torch 2.13 it also refuses an operator with `register_autograd`, so this class is necessary.
    Its `vmap` is `fused_linear_vmap`, called with the class's own `apply` instead of the operator, so that the result for
    a batch can be differentiated. (`generate_vmap_rule = True` instead of a `vmap` also works: `op` can be batched
    itself.)

    >>> apply = fused_linear_function(fused_linear).apply
    >>> torch.func.grad(lambda weight: apply(torch.ones(2), weight).sum())(torch.zeros(1, 2))
    tensor([[1., 1.]])

    Source: `torch/autograd/function.py`, `Function`; `torch/_functorch/autograd_function.py`.
    """

    class FusedLinear(torch.autograd.Function):
        @staticmethod
        def forward(x, weight, bias=None, activation="none"):
            return op(x, weight, bias, activation)

        @staticmethod
        def setup_context(ctx, inputs, output):
            fused_linear_setup_context(ctx, inputs, output)

        @staticmethod
        def backward(ctx, grad):
            return fused_linear_backward(ctx, grad)

        @staticmethod
        def vmap(info, in_dims, *inputs):
            return fused_linear_vmap(FusedLinear.apply, info, in_dims, *inputs)

    return FusedLinear


# Registered key by key: Library --------------------------------------------------------------------------------------

SCHEMA = 'fused_linear(Tensor x, Tensor weight, Tensor? bias=None, str activation="none") -> Tensor'


def below_autograd(op: Callable[..., Tensor]) -> Callable[..., Tensor]:
    """The function that a kernel for Autograd calls to reach the next kernel: the operator with the autograd keys excluded."""

    def redispatch(*args):
        with torch._C._AutoDispatchBelowAutograd():
            return op(*args)

    return redispatch


def library_fused_linear(namespace: str) -> Library:
    """Make `torch.ops.<namespace>.fused_linear` by `torch.library.Library`, one kernel for each dispatch key.

    The library is a fragment of the namespace, which other code may have created already. It defines `SCHEMA` and has
    `fused_linear` for the key CPU, `fused_linear_fake` for Meta; for Autograd, the name for all of its keys,
    `fused_linear_function` over the operator redispatched `below_autograd`; and for FuncTorchBatched, by
    `torch.library.register_vmap` with this library, `fused_linear_vmap`, which calls the operator, not its kernel.

    Returns the library: its registrations last as long as it does.

    >>> library = library_fused_linear("example_by_key")
    >>> torch.ops.example_by_key.fused_linear(torch.ones(2), torch.ones(1, 2))
    tensor([2.])
    >>> library._destroy()  # removes its registrations

    Source: `torch/library.py`, `Library`; `aten/src/ATen/core/dispatch/OperatorEntry.h`.
    """
    library = Library(namespace, "FRAGMENT")
    library.define(SCHEMA)
    op = getattr(torch.ops, namespace).fused_linear.default
    library.impl("fused_linear", fused_linear, "CPU")
    library.impl("fused_linear", fused_linear_fake, "Meta")
    library.impl("fused_linear", fused_linear_function(below_autograd(op)).apply, "Autograd")
    torch.library.register_vmap(f"{namespace}::fused_linear", partial(fused_linear_vmap, op), lib=library)
    return library


# An operator that changes its arguments ------------------------------------------------------------------------------


def momentum_step(weight: Tensor, buffer: Tensor, grad: Tensor, lr: float, momentum: float) -> None:
    """One step of gradient descent with momentum, in place.

    All three tensors have one shape and dtype, and any strides. Afterwards `buffer` holds momentum * buffer + grad, and
    `weight` its old values minus lr times the new buffer. Both are written in their own memory, so that their views change
    too. `grad` is not changed.

    Use elementwise operations, and nothing of `torch.optim`.

    >>> weight, buffer = torch.tensor([1.0]), torch.tensor([4.0])
    >>> momentum_step(weight, buffer, torch.tensor([1.0]), lr=0.5, momentum=0.5)
    >>> weight, buffer
    (tensor([-0.5000]), tensor([3.]))

    Source: `torch/optim/sgd.py`, `_single_tensor_sgd`.
    """
    buffer.mul_(momentum).add_(grad)
    weight.sub_(buffer * lr)


def register_momentum_step(namespace: str) -> CustomOpDef:
    """Make `torch.ops.<namespace>.momentum_step` of `momentum_step`, an operator that declares which arguments it writes to.

    So torch knows that the versions of these arguments go up with each call, which tells a backward that its saved tensors
    have changed. It also knows that a captured graph must keep the call, although it returns nothing, and must not move it
    across a call that reads these arguments. The operator has no result, so it needs no fake kernel and can have no
    derivative. Returns the result of `custom_op`.

    >>> op = register_momentum_step("example")
    >>> weight = torch.ones(1)
    >>> torch.ops.example.momentum_step(weight, torch.zeros(1), torch.ones(1), 0.5, 0.9)
    >>> weight, weight._version > 0
    (tensor([0.5000]), True)

    Source: `torch/_library/custom_ops.py`; `torch/_higher_order_ops/auto_functionalize.py`.
    """
    return torch.library.custom_op(f"{namespace}::momentum_step", momentum_step, mutates_args=("weight", "buffer"))


# Which combinations break --------------------------------------------------------------------------------------------


def what_breaks(kind: str, rule: str, body: str, transform: str) -> str:
    """Predict the result of a part of PyTorch on a custom x³, which is made differentiable in one of several ways.

    The answer is "right", "wrong" (other numbers, without an error), or the name of the exception that is raised. For an
    exception class of torch's own, it is the name of the nearest built-in class that this class inherits from.

    `kind`, in which way:

    - "custom_op": an operator by `torch.library.custom_op` with `register_fake` and `register_autograd`;
    - "ctx in forward" and "setup_context": an `autograd.Function` of the one or the other form.

    `rule`, for vmap: "none", "own" (`register_vmap`, or the static method `vmap`), "generated" (`generate_vmap_rule = True`;
    not for an operator).

    `body`, the operations of forward and backward: "torch" operations, or "numpy", by way of `x.detach().numpy()` and
    `torch.from_numpy`.

    `transform`, the operation on `f`, at an x of shape (2, 3) with float64 values on the CPU:

    - "backward": the gradient of f(x).sum(), by `torch.autograd.grad`; "twice": the gradient of the sum of that gradient;
    - "vmap": `torch.vmap(f)(x)`; "grad": `torch.func.grad` of the sum; "vmap of grad"; "jacrev": `torch.func.jacrev(f)(x)`;
    - "jvp": the tangent that `torch.func.jvp` gives;
    - "compile": "backward" through `torch.compile(f, fullgraph=True, backend="aot_eager")`;
    - "export": the result of `torch.export.export` of a module that calls f.

    The answers are those of torch 2.13. Calls nothing: to find out, try, then write down the rules.

    >>> what_breaks("setup_context", "none", "torch", "grad"), what_breaks("setup_context", "none", "torch", "vmap")
    ('right', 'RuntimeError')

    Source: `torch/_library/custom_ops.py`, `torch/autograd/function.py` and `torch/_functorch/autograd_function.py`.
    """
    match transform, kind, body:
        case "backward", _, _:
            return "right"
        case "twice", _, "numpy":  # numpy's results have no history
            return "RuntimeError"
        # the operator's backward is traced; Dynamo reads a Function's backward, and knows numpy
        case "compile", "custom_op", "numpy":
            return "RuntimeError"
        case "export", "ctx in forward" | "setup_context", "numpy":  # forward is traced, without Dynamo
            return "RuntimeError"
        case "twice" | "compile" | "export", _, _:
            return "right"
        case "vmap", "custom_op", _:  # without a rule it runs in a loop
            return "right"
        case "jvp", "custom_op", _:
            return "wrong"
        case "jvp", "setup_context", _:
            return "NotImplementedError"
        case _, "custom_op" | "ctx in forward", _:
            return "RuntimeError"
        case "vmap", _, "numpy":  # only a custom rule gets tensors that numpy can read
            return {"own": "right"}.get(rule, "RuntimeError")
        case _, _, "numpy":
            return "RuntimeError"
        case "grad" | "jacrev", _, _:  # jacrev batches only the backward
            return "right"
    return "RuntimeError" if rule == "none" else "right"
