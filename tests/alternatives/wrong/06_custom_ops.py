"""Wrong answers to lab 06 that a student might well give and that no mutant of the reference is: each fails on an edge.

A function's name is its exercise's, two underscores, and what is wrong.
"""

import functools
import inspect
import math
import types
import typing
from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor
from torch.autograd.function import once_differentiable
from torch.utils._python_dispatch import return_and_correct_aliasing
from torch.utils._pytree import tree_map_only

from rushlight.on_torch import backend, cpp_ops, custom_ops, wrapper


def _as_it_is(function):
    """The reference, called as long as the slot is empty, which an answer calls later."""
    kept = types.FunctionType(function.__code__, function.__globals__, function.__name__, function.__defaults__)
    kept.__kwdefaults__ = function.__kwdefaults__
    return kept


# The schema

_inferred = _as_it_is(custom_ops.infer_schema)


def schema_type__takes_None_for_optional(annotation):
    for kind, name in custom_ops.SCHEMA_TYPES.items():
        if annotation == kind:
            return name
        if type(None) in typing.get_args(annotation) and kind in typing.get_args(annotation):
            return f"{name}?"
        if typing.get_args(annotation) == (kind,):
            return f"{name}[]"
    raise ValueError(annotation)


def schema_type__has_lists_of_everything(annotation):
    if typing.get_args(annotation) and isinstance(typing.get_origin(annotation), type):
        inner = typing.get_args(annotation)[0]
        if inner in custom_ops.SCHEMA_TYPES:
            return f"{custom_ops.SCHEMA_TYPES[inner]}[]"
    for kind, name in custom_ops.SCHEMA_TYPES.items():
        if annotation in (kind, kind | None):
            return name + "?" * (annotation != kind)
    raise ValueError(annotation)


def schema_type__raises_TypeError(annotation):
    for kind, name in custom_ops.SCHEMA_TYPES.items():
        if annotation == kind:
            return name
        if annotation == kind | None:
            return f"{name}?"
        if kind in custom_ops.LISTED and annotation in (list[kind], Sequence[kind]):
            return f"{name}[]"
    raise TypeError(annotation)


def schema_type__asks_torch(annotation):
    def function(x):
        pass

    function.__annotations__ = {"x": annotation, "return": None}
    return torch.library.infer_schema(function, mutates_args=())[1:].partition(" ")[0]


def schema_type__looks_it_up_in_torch(annotation):
    from torch._library.infer_schema import SUPPORTED_PARAM_TYPES

    try:
        return SUPPORTED_PARAM_TYPES[annotation]
    except (KeyError, TypeError):
        raise ValueError(annotation) from None


def infer_schema__asks_torch(function, mutates_args):
    return torch.library.infer_schema(function, mutates_args=mutates_args)


def infer_schema__takes_annotations_for_types(function, mutates_args):
    hints = {k: type(None) if v is None else v for k, v in function.__annotations__.items()}
    parameters, written = inspect.signature(function).parameters, []
    if set(mutates_args) - set(parameters):
        raise ValueError
    for place, (name, parameter) in enumerate(parameters.items()):
        if parameter.kind not in (parameter.POSITIONAL_OR_KEYWORD, parameter.KEYWORD_ONLY) or name not in hints:
            raise ValueError
        if parameter.kind is parameter.KEYWORD_ONLY and "*" not in written:
            written.append("*")
        kind = custom_ops.schema_type(hints[name])
        if name in mutates_args:
            if not kind.startswith("Tensor"):
                raise ValueError
            kind = kind.replace("Tensor", f"Tensor(a{place}!)")
        default = "" if parameter.default is parameter.empty else "=" + custom_ops.default_text(parameter.default)
        written.append(f"{kind} {name}{default}")
    return f"({', '.join(written)}) -> {custom_ops.result_type(hints.get('return'))}"


def infer_schema__numbers_what_is_mutated(function, mutates_args):
    parameters, hints = inspect.signature(function).parameters, typing.get_type_hints(function)
    if set(mutates_args) - set(parameters):
        raise ValueError
    written, mutated = [], 0
    for name, parameter in parameters.items():
        if parameter.kind not in (parameter.POSITIONAL_OR_KEYWORD, parameter.KEYWORD_ONLY):
            raise ValueError
        if parameter.kind is parameter.KEYWORD_ONLY and "*" not in written:
            written.append("*")
        kind = custom_ops.schema_type(hints.get(name))
        if name in mutates_args:
            if "Tensor" not in kind:
                raise ValueError
            kind, mutated = kind.replace("Tensor", f"Tensor(a{mutated}!)"), mutated + 1
        default = "" if parameter.default is parameter.empty else "=" + custom_ops.default_text(parameter.default)
        written.append(f"{kind} {name}{default}")
    return f"({', '.join(written)}) -> {custom_ops.result_type(hints.get('return'))}"


def infer_schema__evaluates_texts_here(function, mutates_args):
    parameters = inspect.signature(function).parameters

    def read(annotation):
        if not isinstance(annotation, str):
            return types.NoneType if annotation is None else annotation
        try:
            found = eval(annotation, {**vars(custom_ops), "Optional": typing.Optional})
        except NameError as error:
            raise ValueError(f"unknown annotation {annotation}") from error
        return types.NoneType if found is None else found

    if any(name not in parameters for name in mutates_args):
        raise ValueError(f"{function} has not all of the parameters {mutates_args}")
    written = []
    for place, (name, parameter) in enumerate(parameters.items()):
        if parameter.kind not in (parameter.POSITIONAL_OR_KEYWORD, parameter.KEYWORD_ONLY):
            raise ValueError(f"a schema has no place for {parameter}")
        if parameter.annotation is parameter.empty:
            raise ValueError(f"{name} has no annotation")
        if parameter.kind is parameter.KEYWORD_ONLY and "*" not in written:
            written.append("*")
        kind = custom_ops.schema_type(read(parameter.annotation))
        if name in mutates_args:
            if not kind.startswith("Tensor"):
                raise ValueError(f"{name} is of type {kind}: an operator writes to tensors only")
            kind = kind.replace("Tensor", f"Tensor(a{place}!)")
        default = "" if parameter.default is parameter.empty else f"={custom_ops.default_text(parameter.default)}"
        written.append(f"{kind} {name}{default}")
    returned = inspect.signature(function).return_annotation
    if returned is inspect.Signature.empty:
        raise ValueError("no annotation of the result")
    return f"({', '.join(written)}) -> {custom_ops.result_type(read(returned))}"


def infer_schema__takes_lists_only(function, mutates_args):
    return _inferred(function, mutates_args + [])


def infer_schema__empties_the_list(function, mutates_args):
    written = []
    while mutates_args and isinstance(mutates_args, list):
        written.append(mutates_args.pop())
    return _inferred(function, written or mutates_args)


# The kernel and the fake one


def fused_linear__delegates(x, weight, bias=None, activation="none"):
    custom_ops.check_arguments(x, weight, bias, activation)
    return custom_ops.activate(torch.nn.functional.linear(x, weight, bias), activation)


def fused_linear__delegates_to_the_operator(x, weight, bias=None, activation="none"):
    custom_ops.check_arguments(x, weight, bias, activation)
    return custom_ops.activate(torch.ops.aten.linear(x, weight, bias), activation).contiguous()


def fused_linear__by_einsum_with_its_strides(x, weight, bias=None, activation="none"):
    custom_ops.check_arguments(x, weight, bias, activation)
    z = torch.einsum("...i,oi->...o", x, weight)
    return custom_ops.activate(z if bias is None else z + bias, activation)


def fused_linear__approximates_gelu(x, weight, bias=None, activation="none"):
    custom_ops.check_arguments(x, weight, bias, activation)
    z = x @ weight.T
    z = z if bias is None else z + bias
    if activation == "gelu":
        return 0.5 * z * (1 + torch.tanh(math.sqrt(2 / math.pi) * (z + 0.044715 * z**3)))
    return custom_ops.activate(z, activation)


def fused_linear__leaves_the_strides_of_einsum(x, weight, bias=None, activation="none"):
    custom_ops.check_arguments(x, weight, bias, activation)
    z = (weight @ x.mT).mT if x.dim() > 1 else weight @ x
    return custom_ops.activate(z if bias is None else z + bias, activation)


def fused_linear__adds_a_bias_of_any_shape(x, weight, bias=None, activation="none"):
    z = x @ weight.T
    return custom_ops.activate(z if bias is None else z + bias, activation).contiguous()


def fused_linear__writes_to_the_bias(x, weight, bias=None, activation="none"):
    custom_ops.check_arguments(x, weight, bias, activation)
    z = x @ weight.T
    if bias is not None:
        z = z + bias
        bias.zero_()
    return custom_ops.activate(z, activation).contiguous()


def fused_linear_fake__like_the_strides_of_x(x, weight, bias=None, activation="none"):
    custom_ops.check_arguments(x, weight, bias, activation)
    return torch.empty_like(x[..., :1].expand(*x.shape[:-1], weight.shape[0]), memory_format=torch.preserve_format)


def fused_linear_fake__transposed(x, weight, bias=None, activation="none"):
    custom_ops.check_arguments(x, weight, bias, activation)
    return x.new_empty((weight.shape[0], *x.shape[:-1])).movedim(0, -1)


def fused_linear_fake__looks_at_data(x, weight, bias=None, activation="none"):
    custom_ops.check_arguments(x, weight, bias, activation)
    if not torch.isfinite(x).all():
        raise RuntimeError("not finite")
    return x.new_empty((*x.shape[:-1], weight.shape[0]))


def fused_linear_fake__looks_at_the_batch(x, weight, bias=None, activation="none"):
    custom_ops.check_arguments(x, weight, bias, activation)
    if x.dim() > 1 and x.shape[0] > 1000:
        raise RuntimeError("too large")
    return x.new_empty((*x.shape[:-1], weight.shape[0]))


def fused_linear_fake__computes(x, weight, bias=None, activation="none"):
    custom_ops.check_arguments(x, weight, bias, activation)
    return (x @ weight.T).contiguous()


def fused_linear_fake__forgets_dtype_and_device(x, weight, bias=None, activation="none"):
    custom_ops.check_arguments(x, weight, bias, activation)
    return torch.empty((*x.shape[:-1], weight.shape[0]))


def fused_linear_fake__refuses_nothing(x, weight, bias=None, activation="none"):
    return x.new_empty((*x.shape[:-1], weight.shape[0]))


def fused_linear_fake__makes_whole_numbers_of_sizes(x, weight, bias=None, activation="none"):
    custom_ops.check_arguments(x, weight, bias, activation)
    return x.new_empty([int(size) for size in x.shape[:-1]] + [int(weight.shape[0])])


# The derivative


def fused_linear_setup_context__saves_everything(ctx, inputs, output):
    *tensors, ctx.activation = inputs
    ctx.save_for_backward(*tensors, output)


def fused_linear_setup_context__saves_what_its_own_gradient_is_of(ctx, inputs, output):
    x, weight, bias, ctx.activation = inputs
    again = ctx.activation == "gelu"
    ctx.save_for_backward(
        x if ctx.needs_input_grad[0] or again else None,
        weight if ctx.needs_input_grad[1] or again else None,
        bias if again else None,
        output if ctx.activation in ("relu", "tanh") else None,
    )


def fused_linear_setup_context__keeps_tensors_on_ctx(ctx, inputs, output):
    x, weight, bias, ctx.activation = inputs
    needs_x, needs_weight, *_ = ctx.needs_input_grad
    again = ctx.activation == "gelu"
    ctx.save_for_backward(
        x if needs_weight or again else None,
        weight if needs_x or again else None,
        bias if again else None,
        output if ctx.activation in ("relu", "tanh") else None,
    )
    ctx.weight = weight


def fused_linear_setup_context__takes_four_needs_for_granted(ctx, inputs, output):
    x, weight, bias, ctx.activation = inputs
    needs_x, needs_weight, _, _ = ctx.needs_input_grad
    again = ctx.activation == "gelu"
    ctx.save_for_backward(
        x if needs_weight or again else None,
        weight if needs_x or again else None,
        bias if again else None,
        output if ctx.activation in ("relu", "tanh") else None,
    )


def fused_linear_setup_context__saves_what_is_detached(ctx, inputs, output):
    x, weight, bias, ctx.activation = inputs
    needs_x, needs_weight, *_ = ctx.needs_input_grad
    again = ctx.activation == "gelu"
    ctx.save_for_backward(
        x.detach() if needs_weight or again else None,
        weight.detach() if needs_x or again else None,
        bias if again else None,
        output.detach() if ctx.activation in ("relu", "tanh") else None,
    )


def _of_activation(ctx, grad):
    x, weight, bias, output = ctx.saved_tensors
    if ctx.activation == "relu":
        return grad * (output > 0)
    if ctx.activation == "tanh":
        return grad * (1 - output * output)
    if ctx.activation == "gelu":
        z = x @ weight.T + (0 if bias is None else bias)
        return grad * (torch.special.ndtr(z) + z * torch.exp(-z * z / 2) / math.sqrt(2 * math.pi))
    return grad


def _gradients(ctx, grad):
    x, weight, *_ = ctx.saved_tensors
    needs_x, needs_weight, needs_bias, *_ = (*ctx.needs_input_grad, False)
    return (
        grad @ weight if needs_x else None,
        torch.einsum("...o,...i->oi", grad, x) if needs_weight else None,
        grad.sum_to_size(grad.shape[-1]) if needs_bias else None,
        None,
    )


def fused_linear_backward__leaves_the_bias_unsummed(ctx, grad):
    grad = _of_activation(ctx, grad)
    first, second, third, _ = _gradients(ctx, grad)
    return first, second, None if third is None else grad, None


def fused_linear_backward__sums_the_first_dimension_only(ctx, grad):
    grad = _of_activation(ctx, grad)
    first, second, third, _ = _gradients(ctx, grad)
    return first, second, None if third is None else grad.sum(0), None


def fused_linear_backward__sums_over_no_dimension(ctx, grad):
    """(Which in torch means over all of them.)"""
    grad = _of_activation(ctx, grad)
    first, second, third, _ = _gradients(ctx, grad)
    return first, second, None if third is None else grad.sum(tuple(range(grad.dim() - 1))), None


def fused_linear_backward__has_relu_rise_at_zero(ctx, grad):
    if ctx.activation == "relu":
        return _gradients(ctx, grad * (ctx.saved_tensors[3] >= 0))
    return _gradients(ctx, _of_activation(ctx, grad))


def fused_linear_backward__transposes_the_weight(ctx, grad):
    first, second, third, _ = _gradients(ctx, _of_activation(ctx, grad))
    return first, None if second is None else second.T, third, None


def fused_linear_backward__ignores_what_is_asked_for(ctx, grad):
    x, weight, *_ = ctx.saved_tensors
    grad = _of_activation(ctx, grad)
    return (
        grad @ weight if weight is not None else None,
        torch.einsum("...o,...i->oi", grad, x) if x is not None else None,
        grad.sum_to_size(grad.shape[-1]),
        None,
    )


def fused_linear_backward__sums_for_nobody(ctx, grad):
    grad = _of_activation(ctx, grad)
    first, second, _, _ = _gradients(ctx, grad)
    third = grad.reshape(-1, grad.shape[-1]).sum(0)
    return first, second, third if any(ctx.needs_input_grad[2:3]) else None, None


def fused_linear_backward__multiplies_for_nobody(ctx, grad):
    x, weight, *_ = ctx.saved_tensors
    needs_x, needs_weight, *_ = ctx.needs_input_grad
    grad = _of_activation(ctx, grad)
    third = _gradients(ctx, grad)[2]
    first = grad @ weight if weight is not None else None
    second = torch.einsum("...i,...o->io", x, grad).T if x is not None else None
    return first if needs_x else None, second if needs_weight else None, third, None


def fused_linear_backward__takes_four_needs_for_granted(ctx, grad):
    needs_x, needs_weight, needs_bias, _ = ctx.needs_input_grad
    return _gradients(ctx, _of_activation(ctx, grad))


def fused_linear_backward__only_for_matrices(ctx, grad):
    x, weight, *_ = ctx.saved_tensors
    grad = _of_activation(ctx, grad)
    needs_x, needs_weight, needs_bias, *_ = (*ctx.needs_input_grad, False)
    return (
        grad @ weight if needs_x else None,
        grad.T @ x if needs_weight else None,
        grad.sum(0) if needs_bias else None,
        None,
    )


def fused_linear_backward__views_a_gradient_of_any_strides(ctx, grad):
    grad = _of_activation(ctx, grad).view(-1, grad.shape[-1])
    first, second, third, _ = _gradients(ctx, grad.reshape(*ctx.saved_tensors[0].shape[:-1], -1))
    return first, second, third, None


def fused_linear_backward__once(ctx, grad):
    with torch.no_grad():
        return _gradients(ctx, _of_activation(ctx, grad))


def fused_linear_backward__detaches_the_output(ctx, grad):
    if ctx.activation == "tanh":
        output = ctx.saved_tensors[3].detach()
        return _gradients(ctx, grad * (1 - output * output))
    return _gradients(ctx, _of_activation(ctx, grad))


def fused_linear_backward__asks_autograd(ctx, grad):
    x, weight, bias, output = ctx.saved_tensors
    if ctx.activation != "gelu":
        return _gradients(ctx, _of_activation(ctx, grad))
    with torch.enable_grad():
        inputs = [each.detach().requires_grad_() for each in (x, weight, bias) if each is not None]
        z = torch.nn.functional.gelu(torch.nn.functional.linear(*inputs))
    found = [*torch.autograd.grad(z, inputs, grad), None, None][:3]
    needs = (*ctx.needs_input_grad, False, False)
    return (*(each if need else None for each, need in zip(found, needs)), None)


def fused_linear_backward__runs_a_backward(ctx, grad):
    if ctx.activation != "gelu":
        return _gradients(ctx, _of_activation(ctx, grad))
    x, weight, bias, _ = ctx.saved_tensors
    create_graph = torch.is_grad_enabled()
    z = x @ weight.T if bias is None else x @ weight.T + bias
    z = z.requires_grad_() if z.is_leaf else z
    with torch.enable_grad():
        custom_ops.activate(z, "gelu").backward(grad, create_graph=create_graph, inputs=[z])
    return _gradients(ctx, z.grad)


# The batching rule

_batched = _as_it_is(custom_ops.fused_linear_vmap)


def fused_linear_vmap__counts_the_dimension_from_the_end(op, info, in_dims, *inputs):
    result, dim = _batched(op, info, in_dims, *inputs)
    return result, dim - result.dim()


def fused_linear_vmap__adds_the_biases_in_a_loop(op, info, in_dims, x, weight, bias=None, activation="none"):
    dims = [*in_dims, None, None][:3]
    if bias is None or dims[1:] == [None, None]:
        return _batched(op, info, in_dims, x, weight, bias, activation)
    x, weight, bias = map(custom_ops.move_batch_dim_to_front, (x, weight, bias), dims, [info.batch_size] * 3)
    products = torch.einsum("b...i,boi->b...o", x, weight)
    return custom_ops.activate(torch.stack([z + row for z, row in zip(products, bias)]), activation), 0


def fused_linear_vmap__of_x_only(op, info, in_dims, x, weight, bias=None, activation="none"):
    return op(x.movedim(in_dims[0], 0), weight, bias, activation), 0


def fused_linear_vmap__in_a_loop(op, info, in_dims, x, weight, bias=None, activation="none"):
    dims = [*in_dims, None, None][:3]

    def example(i):
        parts = [each if d is None else each.select(d, i) for each, d in zip((x, weight, bias), dims)]
        return op(*parts, activation)

    return torch.stack([example(i) for i in range(info.batch_size)]), 0


def fused_linear_vmap__in_a_loop_of_products(op, info, in_dims, x, weight, bias=None, activation="none"):
    dims = [*in_dims, None, None][:3]
    if dims[1:] == [None, None]:
        return op(x.movedim(dims[0], 0), weight, bias, activation), 0

    def example(i):
        a, b, c = (each if d is None else each.select(d, i) for each, d in zip((x, weight, bias), dims))
        return custom_ops.activate(a @ b.T + (0 if c is None else c), activation)

    return torch.stack([example(i) for i in range(info.batch_size)]), 0


def fused_linear_vmap__takes_every_batch_to_be_in_front(op, info, in_dims, x, weight, bias=None, activation="none"):
    if in_dims[1] is None and (bias is None or in_dims[2] is None):
        return op(x, weight, bias, activation), 0
    x = x if in_dims[0] is not None else x.expand(info.batch_size, *x.shape)
    weight = weight if in_dims[1] is not None else weight.expand(info.batch_size, *weight.shape)
    z = torch.einsum("b...i,boi->b...o", x, weight)
    if bias is not None:
        z = z + bias.expand(info.batch_size, -1).reshape(info.batch_size, *[1] * (z.dim() - 2), -1)
    return custom_ops.activate(z, activation), 0


def fused_linear_vmap__broadcasts_a_batch_of_biases(op, info, in_dims, x, weight, bias=None, activation="none"):
    dims = [*in_dims, None, None][:3]
    x, weight, *biases = (
        custom_ops.move_batch_dim_to_front(each, d, info.batch_size)
        for each, d in zip((x, weight, bias), dims)
        if each is not None
    )
    if dims[1:] == [None, None]:
        return op(x, weight[0], bias, activation), 0
    z = torch.einsum("b...i,boi->b...o", x, weight)
    return custom_ops.activate(z + biases[0] if biases else z, activation), 0


def fused_linear_vmap__activates_what_the_operator_returns(op, info, in_dims, x, weight, bias=None, activation="none"):
    dims = [*in_dims, None, None][:3]
    x = custom_ops.move_batch_dim_to_front(x, dims[0], info.batch_size)
    if dims[1:] == [None, None]:
        return custom_ops.activate(op(x, weight, bias), activation), 0
    z = torch.einsum("b...i,boi->b...o", x, custom_ops.move_batch_dim_to_front(weight, dims[1], info.batch_size))
    if bias is not None:
        bias = custom_ops.move_batch_dim_to_front(bias, dims[2], info.batch_size)
        z = z + bias.reshape(info.batch_size, *[1] * (z.dim() - 2), -1)
    return custom_ops.activate(z, activation), 0


def fused_linear_vmap__takes_all_to_be_passed(op, info, in_dims, x, weight, bias=None, activation="none"):
    x_dim, weight_dim, bias_dim, _ = in_dims
    x = custom_ops.move_batch_dim_to_front(x, x_dim, info.batch_size)
    if weight_dim is None and bias_dim is None:
        return op(x, weight, bias, activation), 0
    z = torch.einsum("b...i,boi->b...o", x, custom_ops.move_batch_dim_to_front(weight, weight_dim, info.batch_size))
    if bias is not None:
        bias = custom_ops.move_batch_dim_to_front(bias, bias_dim, info.batch_size)
        z = z + bias.reshape(info.batch_size, *[1] * (z.dim() - 2), -1)
    return custom_ops.activate(z, activation), 0


# Registered


def register_fused_linear__without_a_fake_kernel(namespace):
    op = torch.library.custom_op(f"{namespace}::fused_linear", custom_ops.fused_linear, mutates_args=())
    op.register_autograd(custom_ops.fused_linear_backward, setup_context=custom_ops.fused_linear_setup_context)
    op.register_vmap(functools.partial(custom_ops.fused_linear_vmap, op))
    return op


def register_fused_linear__without_a_batching_rule(namespace):
    op = torch.library.custom_op(f"{namespace}::fused_linear", custom_ops.fused_linear, mutates_args=())
    op.register_fake(custom_ops.fused_linear_fake)
    op.register_autograd(custom_ops.fused_linear_backward, setup_context=custom_ops.fused_linear_setup_context)
    return op


def register_fused_linear__without_a_setup(namespace):
    op = torch.library.custom_op(f"{namespace}::fused_linear", custom_ops.fused_linear, mutates_args=())
    op.register_fake(custom_ops.fused_linear_fake)
    op.register_autograd(custom_ops.fused_linear_backward)
    op.register_vmap(functools.partial(custom_ops.fused_linear_vmap, op))
    return op


def register_fused_linear__says_that_it_writes_to_x(namespace):
    op = torch.library.custom_op(f"{namespace}::fused_linear", custom_ops.fused_linear, mutates_args=("x",))
    op.register_fake(custom_ops.fused_linear_fake)
    op.register_vmap(functools.partial(custom_ops.fused_linear_vmap, op))
    return op


def register_fused_linear__returns_the_operator(namespace):
    op = torch.library.custom_op(f"{namespace}::fused_linear", custom_ops.fused_linear, mutates_args=())
    op.register_fake(custom_ops.fused_linear_fake)
    op.register_autograd(custom_ops.fused_linear_backward, setup_context=custom_ops.fused_linear_setup_context)
    op.register_vmap(functools.partial(custom_ops.fused_linear_vmap, op))
    return getattr(torch.ops, namespace).fused_linear


def register_fused_linear__with_the_kernel_for_a_fake_one(namespace):
    op = torch.library.custom_op(f"{namespace}::fused_linear", custom_ops.fused_linear, mutates_args=())
    op.register_fake(custom_ops.fused_linear)
    op.register_autograd(custom_ops.fused_linear_backward, setup_context=custom_ops.fused_linear_setup_context)
    op.register_vmap(functools.partial(custom_ops.fused_linear_vmap, op))
    return op


def register_fused_linear__batches_the_kernel(namespace):
    op = torch.library.custom_op(f"{namespace}::fused_linear", custom_ops.fused_linear, mutates_args=())
    op.register_fake(custom_ops.fused_linear_fake)
    op.register_autograd(custom_ops.fused_linear_backward, setup_context=custom_ops.fused_linear_setup_context)
    op.register_vmap(functools.partial(custom_ops.fused_linear_vmap, custom_ops.fused_linear))
    return op


def register_fused_linear__for_the_cpu_only(namespace):
    op = torch.library.custom_op(
        f"{namespace}::fused_linear", custom_ops.fused_linear, mutates_args=(), device_types="cpu"
    )
    op.register_fake(custom_ops.fused_linear_fake)
    op.register_autograd(custom_ops.fused_linear_backward, setup_context=custom_ops.fused_linear_setup_context)
    op.register_vmap(functools.partial(custom_ops.fused_linear_vmap, op))
    return op


def _registered(
    namespace,
    kernel=custom_ops.fused_linear,
    fake=custom_ops.fused_linear_fake,
    backward=custom_ops.fused_linear_backward,
    setup_context=custom_ops.fused_linear_setup_context,
):
    op = torch.library.custom_op(f"{namespace}::fused_linear", kernel, mutates_args=())
    op.register_fake(fake)
    op.register_autograd(backward, setup_context=setup_context)
    op.register_vmap(functools.partial(custom_ops.fused_linear_vmap, op))
    return op


def register_fused_linear__with_a_transposed_fake_kernel(namespace):
    def fake(x, weight, bias=None, activation="none"):
        result = custom_ops.fused_linear_fake(x, weight, bias, activation)
        return result if x.dim() < 2 else result.new_empty(result.mT.shape).mT

    return _registered(namespace, fake=fake)


def register_fused_linear__with_a_fake_kernel_that_refuses_nothing(namespace):
    def fake(x, weight, bias=None, activation="none"):
        return x.new_empty((*x.shape[:-1], weight.shape[0]))

    return _registered(namespace, fake=fake)


def register_fused_linear__with_a_transposed_result(namespace):
    def kernel(x: Tensor, weight: Tensor, bias: Tensor | None = None, activation: str = "none") -> Tensor:
        result = custom_ops.fused_linear(x, weight, bias, activation)
        return result if x.dim() < 2 else result.mT.contiguous().mT

    return _registered(namespace, kernel)


def register_fused_linear__with_a_transposed_result_of_larger_batches(namespace):
    def kernel(x: Tensor, weight: Tensor, bias: Tensor | None = None, activation: str = "none") -> Tensor:
        result = custom_ops.fused_linear(x, weight, bias, activation)
        return result if x.dim() < 2 or x.shape[0] < 4 else result.mT.contiguous().mT

    return _registered(namespace, kernel)


def register_fused_linear__returns_x_if_it_is_the_result(namespace):
    def kernel(x: Tensor, weight: Tensor, bias: Tensor | None = None, activation: str = "none") -> Tensor:
        result = custom_ops.fused_linear(x, weight, bias, activation)
        return x if torch.equal(x, result) else result

    return _registered(namespace, kernel)


def register_fused_linear__returns_memory_that_it_uses_again(namespace):
    workspace = {}

    def kernel(x: Tensor, weight: Tensor, bias: Tensor | None = None, activation: str = "none") -> Tensor:
        result = custom_ops.fused_linear(x, weight, bias, activation)
        memory = workspace.setdefault(result.dtype, result.new_empty(1 << 12))
        return memory[: result.numel()].view(result.shape).copy_(result)

    return _registered(namespace, kernel)


def register_fused_linear__writes_to_x_and_back(namespace):
    def kernel(x: Tensor, weight: Tensor, bias: Tensor | None = None, activation: str = "none") -> Tensor:
        x.mul_(2)
        result = custom_ops.fused_linear(x / 2, weight, bias, activation)
        x.div_(2)
        return result

    return _registered(namespace, kernel)


def register_fused_linear__is_differentiated_once(namespace):
    return _registered(namespace, backward=once_differentiable(custom_ops.fused_linear_backward))


class _Saved:
    """A ctx with other saved tensors."""

    def __init__(self, ctx, change, saved=None):
        self.needs_input_grad, self.activation = ctx.needs_input_grad, ctx.activation
        saved = ctx.saved_tensors if saved is None else saved
        self.saved_tensors = [each if each is None else change(each) for each in saved]


def register_fused_linear__reads_the_data_of_what_it_saved(namespace):
    def backward(ctx, grad):
        return custom_ops.fused_linear_backward(_Saved(ctx, lambda x: x.data), grad)

    return _registered(namespace, backward=backward)


def register_fused_linear__goes_back_by_way_of_numpy(namespace):
    def backward(ctx, grad):
        through_numpy = _Saved(ctx, lambda x: torch.from_numpy(x.detach().numpy()))
        return custom_ops.fused_linear_backward(through_numpy, grad)

    return _registered(namespace, backward=backward)


def register_fused_linear__goes_back_in_single_precision(namespace):
    def backward(ctx, grad):
        found = custom_ops.fused_linear_backward(_Saved(ctx, lambda x: x.float()), grad.float())
        return tuple(each if each is None else each.to(grad.dtype) for each in found)

    return _registered(namespace, backward=backward)


def register_fused_linear__keeps_tensors_on_ctx(namespace):
    class Keeping:
        def save_for_backward(self, *tensors):
            self.tensors = tensors

    def setup_context(ctx, inputs, output):
        keeping = Keeping()
        keeping.needs_input_grad = ctx.needs_input_grad
        custom_ops.fused_linear_setup_context(keeping, inputs, output)
        ctx.tensors, ctx.activation = keeping.tensors, keeping.activation

    def backward(ctx, grad):
        return custom_ops.fused_linear_backward(_Saved(ctx, lambda x: x, ctx.tensors), grad)

    return _registered(namespace, backward=backward, setup_context=setup_context)


def register_fused_linear__without_a_derivative(namespace):
    op = torch.library.custom_op(f"{namespace}::fused_linear", custom_ops.fused_linear, mutates_args=())
    op.register_fake(custom_ops.fused_linear_fake)
    op.register_vmap(functools.partial(custom_ops.fused_linear_vmap, op))
    return op


def _loops(op, info, in_dims, *inputs):
    """A batching rule that calls an operator for each example."""

    def example(i):
        return op(*(each if dim is None else each.select(dim, i) for each, dim in zip(inputs, in_dims)))

    return torch.stack([example(i) for i in range(info.batch_size)]), 0


def register_fused_linear__with_a_rule_that_loops(namespace):
    op = torch.library.custom_op(f"{namespace}::fused_linear", custom_ops.fused_linear, mutates_args=())
    op.register_fake(custom_ops.fused_linear_fake)
    op.register_autograd(custom_ops.fused_linear_backward, setup_context=custom_ops.fused_linear_setup_context)
    op.register_vmap(functools.partial(_loops, op))
    return op


# As a Function


def _function(forward, loops=False):
    """A Function with a forward of its own, and a batching rule that is generated or loops."""

    class Linear(torch.autograd.Function):
        setup_context = staticmethod(custom_ops.fused_linear_setup_context)
        backward = staticmethod(custom_ops.fused_linear_backward)
        generate_vmap_rule = not loops

    Linear.forward = staticmethod(forward)
    if loops:
        Linear.vmap = staticmethod(functools.partial(_loops, Linear.apply))
    return Linear


def fused_linear_function__with_a_rule_that_loops(op):
    def forward(x, weight, bias=None, activation="none"):
        return op(x, weight, bias, activation)

    return _function(forward, loops=True)


def fused_linear_function__leaves_out_a_bias_of_None(op):
    def forward(x, weight, bias=None, activation="none"):
        return op(x, weight) if bias is None and activation == "none" else op(x, weight, bias, activation)

    return _function(forward)


def fused_linear_function__passes_arguments_by_name(op):
    def forward(x, weight, bias=None, activation="none"):
        return op(x, weight, bias=bias, activation=activation)

    return _function(forward)


def fused_linear_function__with_ctx_in_forward(op):
    class Linear(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x, weight, bias=None, activation="none"):
            output = op(x, weight, bias, activation)
            custom_ops.fused_linear_setup_context(ctx, (x, weight, bias, activation), output)
            return output

        backward = staticmethod(custom_ops.fused_linear_backward)

    return Linear


def fused_linear_function__without_a_batching_rule(op):
    class Linear(torch.autograd.Function):
        @staticmethod
        def forward(x, weight, bias=None, activation="none"):
            return op(x, weight, bias, activation)

        setup_context = staticmethod(custom_ops.fused_linear_setup_context)
        backward = staticmethod(custom_ops.fused_linear_backward)

    return Linear


def fused_linear_function__batches_the_operator(op):
    class Linear(torch.autograd.Function):
        @staticmethod
        def forward(x, weight, bias=None, activation="none"):
            return op(x, weight, bias, activation)

        setup_context = staticmethod(custom_ops.fused_linear_setup_context)
        backward = staticmethod(custom_ops.fused_linear_backward)

        @staticmethod
        def vmap(info, in_dims, *inputs):
            return custom_ops.fused_linear_vmap(op, info, in_dims, *inputs)

    return Linear


def fused_linear_function__forward_without_defaults(op):
    class Linear(torch.autograd.Function):
        @staticmethod
        def forward(x, weight, bias, activation):
            return op(x, weight, bias, activation)

        setup_context = staticmethod(custom_ops.fused_linear_setup_context)
        backward = staticmethod(custom_ops.fused_linear_backward)
        generate_vmap_rule = True

    return Linear


def fused_linear_function__is_differentiated_once(op):
    class Linear(torch.autograd.Function):
        @staticmethod
        def forward(x, weight, bias=None, activation="none"):
            return op(x, weight, bias, activation)

        setup_context = staticmethod(custom_ops.fused_linear_setup_context)
        generate_vmap_rule = True

        @staticmethod
        @torch.autograd.function.once_differentiable
        def backward(ctx, grad):
            return custom_ops.fused_linear_backward(ctx, grad)

    return Linear


# Key by key


def library_fused_linear__composite(namespace):
    library = torch.library.Library(namespace, "FRAGMENT")
    library.define(custom_ops.SCHEMA)
    library.impl("fused_linear", custom_ops.fused_linear, "CompositeImplicitAutograd")
    return library


def library_fused_linear__without_an_autograd_kernel(namespace):
    library = torch.library.Library(namespace, "FRAGMENT")
    library.define(custom_ops.SCHEMA)
    op = getattr(torch.ops, namespace).fused_linear.default
    library.impl("fused_linear", custom_ops.fused_linear, "CPU")
    library.impl("fused_linear", custom_ops.fused_linear_fake, "Meta")
    rule = functools.partial(custom_ops.fused_linear_vmap, op)
    torch.library.register_vmap(f"{namespace}::fused_linear", rule, lib=library)
    return library


def library_fused_linear__calls_itself_for_ever(namespace):
    library = torch.library.Library(namespace, "FRAGMENT")
    library.define(custom_ops.SCHEMA)
    op = getattr(torch.ops, namespace).fused_linear.default

    def autograd(*args):
        with torch.no_grad():
            return op(*args)

    library.impl("fused_linear", custom_ops.fused_linear, "CPU")
    library.impl("fused_linear", custom_ops.fused_linear_fake, "Meta")
    library.impl("fused_linear", custom_ops.fused_linear_function(autograd).apply, "Autograd")
    rule = functools.partial(custom_ops.fused_linear_vmap, op)
    torch.library.register_vmap(f"{namespace}::fused_linear", rule, lib=library)
    return library


def library_fused_linear__differentiates_on_the_cpu_only(namespace):
    library = torch.library.Library(namespace, "FRAGMENT")
    library.define(custom_ops.SCHEMA)
    op = getattr(torch.ops, namespace).fused_linear.default
    function = custom_ops.fused_linear_function(custom_ops.below_autograd(op))
    library.impl("fused_linear", custom_ops.fused_linear, "CPU")
    library.impl("fused_linear", custom_ops.fused_linear_fake, "Meta")
    library.impl("fused_linear", function.apply, "AutogradCPU")
    rule = functools.partial(custom_ops.fused_linear_vmap, op)
    torch.library.register_vmap(f"{namespace}::fused_linear", rule, lib=library)
    return library


def _library(namespace, kind="FRAGMENT", below=custom_ops.below_autograd, batched=lambda op: op, rule=None):
    library = torch.library.Library(namespace, kind)
    library.define(custom_ops.SCHEMA)
    op = getattr(torch.ops, namespace).fused_linear.default
    library.impl("fused_linear", custom_ops.fused_linear, "CPU")
    library.impl("fused_linear", custom_ops.fused_linear_fake, "Meta")
    library.impl("fused_linear", custom_ops.fused_linear_function(below(op)).apply, "Autograd")
    rule = functools.partial(rule or custom_ops.fused_linear_vmap, batched(op))
    torch.library.register_vmap(f"{namespace}::fused_linear", rule, lib=library)
    return library


def library_fused_linear__calls_the_kernel_from_autograd(namespace):
    return _library(namespace, below=lambda op: custom_ops.fused_linear)


def library_fused_linear__claims_the_namespace(namespace):
    return _library(namespace, kind="DEF")


def library_fused_linear__batches_the_kernel(namespace):
    return _library(namespace, batched=lambda op: custom_ops.fused_linear)


def library_fused_linear__with_a_rule_that_loops(namespace):
    return _library(namespace, rule=_loops)


# Changing arguments


def momentum_step__puts_other_memory_in_their_place(weight, buffer, grad, lr, momentum):
    buffer.data = momentum * buffer.data + grad
    weight.data = weight.data - lr * buffer.data


def momentum_step__sets_them(weight, buffer, grad, lr, momentum):
    buffer.set_(momentum * buffer + grad)
    weight.set_(weight - lr * buffer)


def momentum_step__of_new_tensors(weight, buffer, grad, lr, momentum):
    buffer = momentum * buffer + grad
    weight = weight - lr * buffer


def momentum_step__with_the_old_buffer(weight, buffer, grad, lr, momentum):
    weight.sub_(lr * buffer)
    buffer.mul_(momentum).add_(grad)


def momentum_step__leaves_it_to_the_optimiser(weight, buffer, grad, lr, momentum):
    weight.grad = grad if momentum else buffer * momentum + grad  # without momentum torch keeps no buffer
    optimizer = torch.optim.SGD([weight], lr=lr, momentum=momentum)
    optimizer.state[weight]["momentum_buffer"] = buffer
    optimizer.step()
    if not momentum:
        buffer.copy_(weight.grad)


def momentum_step__damped(weight, buffer, grad, lr, momentum):
    buffer.mul_(momentum).add_(grad, alpha=1 - momentum)
    weight.sub_(buffer, alpha=lr)


def momentum_step__returns_the_weight(weight, buffer, grad, lr, momentum):
    buffer.mul_(momentum).add_(grad)
    return weight.sub_(buffer, alpha=lr)


def momentum_step__views(weight, buffer, grad, lr, momentum):
    buffer.view(-1).mul_(momentum).add_(grad.reshape(-1))
    weight.view(-1).sub_(buffer.view(-1), alpha=lr)


def momentum_step__writes_to_the_gradient(weight, buffer, grad, lr, momentum):
    buffer.copy_(grad.add_(buffer, alpha=momentum))
    weight.sub_(buffer, alpha=lr)


def register_momentum_step__says_nothing(namespace):
    return torch.library.custom_op(f"{namespace}::momentum_step", custom_ops.momentum_step, mutates_args=())


def register_momentum_step__forgets_the_buffer(namespace):
    return torch.library.custom_op(f"{namespace}::momentum_step", custom_ops.momentum_step, mutates_args=("weight",))


def register_momentum_step__of_unknown(namespace):
    return torch.library.custom_op(f"{namespace}::momentum_step", custom_ops.momentum_step, mutates_args="unknown")


def register_momentum_step__says_that_it_writes_to_the_gradient(namespace):
    written = ("weight", "buffer", "grad")
    return torch.library.custom_op(f"{namespace}::momentum_step", custom_ops.momentum_step, mutates_args=written)


def register_momentum_step__returns_nothing(namespace):
    torch.library.custom_op(f"{namespace}::momentum_step", custom_ops.momentum_step, mutates_args=("weight", "buffer"))


def register_momentum_step__returns_the_operator(namespace):
    written = ("weight", "buffer")
    torch.library.custom_op(f"{namespace}::momentum_step", custom_ops.momentum_step, mutates_args=written)
    return getattr(torch.ops, namespace).momentum_step


def register_momentum_step__writes_to_contiguous_copies(namespace):
    def step(weight: Tensor, buffer: Tensor, grad: Tensor, lr: float, momentum: float) -> None:
        custom_ops.momentum_step(weight.contiguous(), buffer.contiguous(), grad, lr, momentum)

    return torch.library.custom_op(f"{namespace}::momentum_step", step, mutates_args=("weight", "buffer"))


# What breaks


def what_breaks__expects_an_error_of_everything_wrong(kind, rule, body, transform):
    if transform in ("backward", "twice", "compile", "export"):
        fails = (
            body == "numpy"
            and transform != "backward"
            and (transform == "twice" or (kind == "custom_op") == (transform == "compile"))
        )
        return "RuntimeError" if fails else "right"
    if kind != "setup_context":
        return "right" if transform == "vmap" and kind == "custom_op" else "RuntimeError"
    if transform == "jvp":
        return "NotImplementedError"
    if body == "numpy":
        return "right" if transform == "vmap" and rule == "own" else "RuntimeError"
    return "RuntimeError" if "vmap" in transform and rule == "none" else "right"


def what_breaks__takes_numpy_to_break_everything(kind, rule, body, transform):
    if body == "numpy" and transform != "backward":
        return "RuntimeError"
    if kind == "custom_op":
        return {"jvp": "wrong", "grad": "RuntimeError", "jacrev": "RuntimeError"}.get(transform, "right")
    return "right" if kind == "setup_context" and rule != "none" else "RuntimeError"


_what_breaks = _as_it_is(custom_ops.what_breaks)


def what_breaks__has_the_compiler_ask_for_a_rule(kind, rule, body, transform):
    if transform in ("compile", "export") and kind == "setup_context" and rule == "none":
        return "RuntimeError"
    return _what_breaks(kind, rule, body, transform)


def what_breaks__expects_export_to_generate_no_rule(kind, rule, body, transform):
    return "RuntimeError" if (transform, rule) == ("export", "generated") else _what_breaks(kind, rule, body, transform)


def what_breaks__hopes(kind, rule, body, transform):
    return "right"


# In C++

_TEXT = cpp_ops.rms_norm_source()  # as long as the slot is empty


def rms_norm_source__for_contiguous_tensors_only():
    return _TEXT.replace("lines = x.contiguous(), factors = weight.contiguous()", "lines = x, factors = weight")


def rms_norm_source__with_sizes_as_numbers_on_meta():
    return _TEXT.replace("at::empty_symint(x.sym_sizes(), ", "at::empty(x.sizes(), ")


def rms_norm_source__made_of_operators():
    head, _, tail = _TEXT.partition("  // output allocation")
    return (
        head
        + "  TORCH_CHECK_NOT_IMPLEMENTED(at::isFloatingType(x.scalar_type()), "
        + "x.scalar_type());\n  return (x * ((x * x).mean(-1, true) + eps).rsqrt() * weight).contiguous();\n}\n"
        + tail[tail.index("at::Tensor rms_norm_meta") :]
    )


def rms_norm_source__registers_nothing_for_meta():
    return _TEXT.partition("TORCH_LIBRARY_IMPL(TORCH_EXTENSION_NAME, Meta")[0]


def rms_norm_source__divides_by_a_size_of_0():
    return _TEXT.replace("std::max<int64_t>(size, 1)", "size").replace("#include <algorithm>", "// SIGFPE")


def rms_norm_source__reads_outside_memory():
    return _TEXT.replace("from + i * size", "from + (int64_t(1) << 40) * (1 + i)")


def rms_norm_source__with_the_strides_of_x():
    text = _TEXT.replace("  return out;", "  return at::empty_like(x).copy_(out);")
    return text.replace("ops/empty.h", "ops/empty_like.h>\n#include <ATen/ops/empty.h")


def rms_norm_source__with_the_strides_of_x_on_meta():
    text = _TEXT.replace("at::empty_symint(x.sym_sizes(), x.options())", "at::empty_like(x)")
    return text.replace("ops/empty.h", "ops/empty_like.h>\n#include <ATen/ops/empty.h")


def rms_norm_source__accepts_no_dimensions_on_meta():
    return _TEXT.replace(
        "double) {\n  check(x, weight);",
        """double) {
  TORCH_CHECK(weight.dim() == 1, "weight needs one dimension");
  TORCH_SYM_CHECK(weight.sym_size(0).sym_eq(x.sym_size(-1)), "weight needs the size of the last dimension of x");
  TORCH_CHECK(weight.scalar_type() == x.scalar_type(), "weight needs the dtype of x");""",
    )


def rms_norm_source__does_not_compile():
    return _TEXT.replace("scalar_t sum = 0;", "scalar_t sum = 0")


# A wrapper

_dispatched = _as_it_is(wrapper.quantised_dispatch)


def quantise_rows__cuts_off(x):
    scale = x.abs().amax(1) / 127
    scale = torch.where(scale == 0, 1, scale)
    return (x / scale[:, None]).to(torch.int8), scale


def quantise_rows__rounds_halves_up(x):
    scale = x.abs().amax(1) / 127
    scale = torch.where(scale == 0, 1, scale)
    return torch.floor(x / scale[:, None] + 0.5).to(torch.int8), scale


def quantise_rows__divides_zeros_by_zero(x):
    scale = x.abs().amax(1) / 127
    return torch.round(x / scale[:, None]).to(torch.int8), scale


def quantise_rows__in_place(x):
    scale = x.abs().amax(1) / 127
    scale = torch.where(scale == 0, 1, scale)
    return x.div_(scale[:, None]).round_().to(torch.int8), scale


def quantise_rows__times_the_reciprocal(x):
    largest = x.abs().amax(1)
    scale = torch.where(largest == 0, 1, largest / 127)
    inverse = torch.where(largest == 0, 1, 127 / largest)
    return torch.round(x * inverse.unsqueeze(1)).to(torch.int8), scale


def map_quantised__makes_lists_of_everything(function, tree):
    if isinstance(tree, wrapper.QuantisedTensor):
        return function(tree)
    if isinstance(tree, (list, tuple)):
        return [map_quantised__makes_lists_of_everything(function, each) for each in tree]
    return tree


def map_quantised__knows_no_named_tuples(function, tree):
    if isinstance(tree, wrapper.QuantisedTensor):
        return function(tree)
    if isinstance(tree, dict):
        return {key: map_quantised__knows_no_named_tuples(function, each) for key, each in tree.items()}
    if isinstance(tree, (list, tuple)):
        kind = list if isinstance(tree, list) else tuple
        return kind(map_quantised__knows_no_named_tuples(function, each) for each in tree)
    return tree


def map_quantised__in_place(function, tree):
    if isinstance(tree, list):
        tree[:] = [map_quantised__in_place(function, each) for each in tree]
        return tree
    if isinstance(tree, dict):
        for key in tree:
            tree[key] = map_quantised__in_place(function, tree[key])
        return tree
    if isinstance(tree, tuple):
        items = [map_quantised__in_place(function, each) for each in tree]
        return type(tree)(*items) if hasattr(tree, "_fields") else tuple(items)
    return function(tree) if isinstance(tree, wrapper.QuantisedTensor) else tree


def map_quantised__keeps_lists_with_nothing_quantised(function, tree):
    if isinstance(tree, wrapper.QuantisedTensor):
        return function(tree)
    if isinstance(tree, dict):
        return {key: map_quantised__keeps_lists_with_nothing_quantised(function, each) for key, each in tree.items()}
    if isinstance(tree, (list, tuple)):
        items = [map_quantised__keeps_lists_with_nothing_quantised(function, each) for each in tree]
        if all(new is old for new, old in zip(items, tree)):
            return tree
        return type(tree)(*items) if hasattr(tree, "_fields") else type(tree)(items)
    return tree


def map_quantised__maps_all_tensors(function, tree):
    from torch.utils._pytree import tree_map_only

    return tree_map_only(torch.Tensor, function, tree)


def map_quantised__leaves_before_branches(function, tree):
    again = functools.partial(map_quantised__leaves_before_branches, function)
    if isinstance(tree, wrapper.QuantisedTensor):
        return function(tree)
    if not isinstance(tree, (dict, tuple, list)):
        return tree
    items = dict(tree) if isinstance(tree, dict) else dict(enumerate(tree))
    for key, item in list(items.items()):
        if isinstance(item, wrapper.QuantisedTensor):
            items[key] = function(item)
    for key, item in list(items.items()):
        if isinstance(item, (dict, tuple, list)) and item is (tree[key]):
            items[key] = again(item)
    if isinstance(tree, dict):
        return items
    return type(tree)(*items.values()) if hasattr(tree, "_fields") else type(tree)(items.values())


def map_quantised__with_paths(function, tree):
    from torch.utils._pytree import tree_map_with_path

    return tree_map_with_path(lambda path, each: map_quantised__in_place(function, each), tree)


def quantised_mm__dequantises(x, q):
    return x @ q.dequantise()


def quantised_mm__scales_the_result_whatever_the_axis(x, q):
    product = x @ q.int_data.to(x.dtype)
    return product * q.scale if q.scale.shape[0] == product.shape[1] else (x * q.scale) @ q.int_data.to(x.dtype)


def quantised_dispatch__dequantises_everything(func, types, args, kwargs):
    args, kwargs = wrapper.map_quantised(wrapper.QuantisedTensor.dequantise, (args, kwargs))
    return func(*args, **kwargs)


def quantised_dispatch__raises_a_TypeError(func, types, args, kwargs):
    result = _dispatched(func, types, args, kwargs)
    if result is NotImplemented:
        raise TypeError(f"{func} would write into a quantised tensor")
    return result


def quantised_dispatch__forgets_the_axis(func, types, args, kwargs):
    aten = torch.ops.aten
    if func in (aten.detach.default, aten.clone.default, aten.t.default, aten.transpose.int):
        q = args[0]
        out = wrapper.QuantisedTensor(func(q.int_data, *args[1:], **kwargs), q.scale, q.axis)
        return return_and_correct_aliasing(func, args, kwargs, out)
    if func is aten.mm.default and isinstance(args[1], wrapper.QuantisedTensor):
        return wrapper.quantised_mm(*args)
    args, kwargs = wrapper.map_quantised(wrapper.QuantisedTensor.dequantise, (args, kwargs))
    return func(*args, **kwargs)


def quantised_dispatch__multiplies_by_a_beta_of_0(func, types, args, kwargs):
    aten, quantised = torch.ops.aten, wrapper.QuantisedTensor
    if func is aten.addmm.default and isinstance(args[-1], quantised):
        bias = wrapper.map_quantised(quantised.dequantise, args[0])
        return kwargs.get("beta", 1) * bias + kwargs.get("alpha", 1) * wrapper.quantised_mm(*args[1:])
    return _dispatched(func, types, args, kwargs)


def quantised_dispatch__leaves_keywords_alone(func, types, args, kwargs):
    aten, quantised = torch.ops.aten, wrapper.QuantisedTensor
    kept = (aten.detach.default, aten.clone.default, aten.t.default, aten.transpose.int)
    if func in kept or func._schema.is_mutable or func in (aten.mm.default, aten.addmm.default):
        return _dispatched(func, types, args, kwargs)
    return func(*wrapper.map_quantised(quantised.dequantise, args), **kwargs)


# A device


def empty_strided__as_large_as_its_elements(size, stride, *, dtype=None, layout=None, device=None, pin_memory=None):
    if layout not in (None, torch.strided) or pin_memory:
        raise RuntimeError
    dtype = dtype or torch.get_default_dtype()
    tensor = torch._C._acc.create_empty_tensor((), dtype)
    tensor.untyped_storage().memory = np.empty(math.prod(size) * dtype.itemsize, np.uint8)
    return torch.ops.inductor._reinterpret_tensor(tensor, size, stride, 0)


_empty_strided, _as_strided = _as_it_is(backend.empty_strided), _as_it_is(backend.as_strided)


def empty_strided__of_lists_only(size, stride, **options):
    return _empty_strided([] + size, [] + stride, **options)


def as_strided__of_lists_only(self, size, stride, storage_offset=None):
    return _as_strided(self, [] + size, [] + stride, storage_offset)


def empty_strided__float32_by_default(size, stride, *, dtype=torch.float32, layout=None, device=None, pin_memory=None):
    if layout not in (None, torch.strided) or pin_memory:
        raise RuntimeError
    dtype = dtype or torch.float32
    reach = 0 if 0 in size else 1 + sum((n - 1) * step for n, step in zip(size, stride))
    tensor = torch._C._acc.create_empty_tensor((), dtype)
    tensor.untyped_storage().memory = np.empty(reach * dtype.itemsize, np.uint8)
    return torch.ops.inductor._reinterpret_tensor(tensor, size, stride, 0)


def as_strided__counts_the_offset_from_the_view(self, size, stride, storage_offset=None):
    offset = storage_offset or 0
    if offset < 0 or any(step < 0 for step in stride):
        raise RuntimeError
    reach = self.storage_offset() + offset + 1 + sum((n - 1) * step for n, step in zip(size, stride))
    if 0 not in size and reach * self.dtype.itemsize > self.untyped_storage().memory.nbytes:
        raise RuntimeError
    return torch.ops.inductor._reinterpret_tensor(self, size, stride, offset)


def as_strided__looks_at_nothing(self, size, stride, storage_offset=None):
    offset = self.storage_offset() if storage_offset is None else storage_offset
    return torch.ops.inductor._reinterpret_tensor(self, size, stride, offset - self.storage_offset())


def as_strided__copies(self, size, stride, storage_offset=None):
    offset = self.storage_offset() if storage_offset is None else storage_offset
    whole = torch.from_numpy(self.untyped_storage().memory).view(self.dtype)
    return whole.as_strided(size, stride, offset).to("rush")


def copy_from__takes_the_memory_over(self, dst, non_blocking=False):
    if dst.device.type == "rush":
        dst.untyped_storage().memory = backend.array_of(self).copy().reshape(-1).view(np.uint8)
    else:
        np.copyto(backend.array_of(dst), backend.array_of(self), casting="unsafe")
    return dst


def copy_from__returns_the_source(self, dst, non_blocking=False):
    np.copyto(backend.array_of(dst), np.broadcast_to(backend.array_of(self), dst.shape), casting="unsafe")
    return self


def copy_from__bytes(self, dst, non_blocking=False):
    if self.shape != dst.shape:
        raise RuntimeError
    target = backend.array_of(dst)
    target[...] = backend.array_of(self).view(target.dtype) if self.dtype != dst.dtype else backend.array_of(self)
    return dst


def cpu_fallback__forgets_what_was_written(op, *args, **kwargs):
    if any(each.alias_info is not None and not each.is_write for each in op._schema.returns):
        raise NotImplementedError
    args, kwargs = tree_map_only(torch.device, lambda device: torch.device("cpu"), (args, kwargs))
    args, kwargs = tree_map_only(torch.Tensor, lambda tensor: tensor.cpu().clone(), (args, kwargs))
    return tree_map_only(torch.Tensor, lambda tensor: tensor.to("rush"), op(*args, **kwargs))


def cpu_fallback__copies_views(op, *args, **kwargs):
    originals = {}

    def down(tensor):
        copy = tensor.cpu().clone() if tensor.device.type == "rush" else tensor
        originals[id(copy)] = tensor, copy
        return copy

    args, kwargs = tree_map_only(torch.device, lambda device: torch.device("cpu"), (args, kwargs))
    args, kwargs = tree_map_only(torch.Tensor, down, (args, kwargs))
    result = op(*args, **kwargs)
    for original, copy in originals.values():
        if original.shape == copy.shape:
            original.copy_(copy)
        else:
            original.data = copy.to("rush")
    return tree_map_only(
        torch.Tensor, lambda each: originals[id(each)][0] if id(each) in originals else each.to("rush"), result
    )


_fallback = _as_it_is(backend.cpu_fallback)


def cpu_fallback__of_lists_only(op, *args, **kwargs):
    if any(isinstance(each, tuple) for each in args):
        raise TypeError("a tuple of tensors")
    return _fallback(op, *args, **kwargs)


def cpu_fallback__takes_no_lists_by_name(op, *args, **kwargs):
    if any(isinstance(each, (list, tuple)) for each in kwargs.values()):
        raise TypeError("a list of tensors by name")
    return _fallback(op, *args, **kwargs)
