"""Wrong answers to lab 06a that a student might well give and that no mutant of the reference is: each fails on an edge.

A function's name is its exercise's, two underscores, and what is wrong.
"""

import functools
import inspect
import math
import types
import typing

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from rushlight.course import breaks
from rushlight.on_torch import custom_ops

from ..shared import copied, edited, loop_over_examples

# The schema


_inferred = copied(custom_ops.infer_schema)


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


fused_linear__writes_to_the_bias = edited(
    custom_ops.fused_linear, ("product = product + bias", "product = product + bias\n        bias.zero_()")
)


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


fused_linear_fake__an_empty_batch_is_another_case = edited(
    custom_ops.fused_linear_fake,
    ("    return x", "    if x.numel() == 0:\n        return x.new_zeros((*x.shape[:-1], len(weight)))\n    return x"),
)
fused_linear_fake__a_single_row_is_another_case = edited(
    custom_ops.fused_linear_fake,
    ("    return x", "    if x.dim() == 2 and len(x) == 1:\n        return x.new_empty(1, len(weight))\n    return x"),
)
fused_linear_fake__computes = edited(
    custom_ops.fused_linear_fake,
    ("return x.new_empty((*x.shape[:-1], weight.shape[0]))", "return (x @ weight.T).contiguous()"),
)
fused_linear_fake__forgets_dtype_and_device = edited(custom_ops.fused_linear_fake, ("x.new_empty", "torch.empty"))


fused_linear_fake__refuses_nothing = edited(
    custom_ops.fused_linear_fake, ("    check_arguments(x, weight, bias, activation)\n", "")
)


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


# Registered


def register_fused_linear__without_a_fake_kernel(namespace):
    op = torch.library.custom_op(f"{namespace}::fused_linear", custom_ops.fused_linear, mutates_args=())
    op.register_autograd(custom_ops.fused_linear_backward, setup_context=custom_ops.fused_linear_setup_context)
    op.register_vmap(functools.partial(custom_ops.fused_linear_vmap, op))
    return op


register_fused_linear__without_a_batching_rule = edited(
    custom_ops.register_fused_linear, ("    op.register_vmap(partial(fused_linear_vmap, op))\n", "")
)


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


def register_fused_linear__names_the_arguments_differently(namespace):
    def kernel(input: Tensor, weight: Tensor, bias: Tensor | None = None, activation: str = "none") -> Tensor:
        return custom_ops.fused_linear(input, weight, bias, activation)

    return _registered(namespace, kernel)


def register_fused_linear__with_a_fake_kernel_that_looks_at_the_batch(namespace):
    def fake(x, weight, bias=None, activation="none"):
        result = custom_ops.fused_linear_fake(x, weight, bias, activation)
        return result.clone() if x.dim() > 1 and x.shape[0] > 5 else result

    return _registered(namespace, fake=fake)


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


def register_fused_linear__with_a_rule_that_loops(namespace):
    op = torch.library.custom_op(f"{namespace}::fused_linear", custom_ops.fused_linear, mutates_args=())
    op.register_fake(custom_ops.fused_linear_fake)
    op.register_autograd(custom_ops.fused_linear_backward, setup_context=custom_ops.fused_linear_setup_context)
    op.register_vmap(functools.partial(loop_over_examples, op))
    return op


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


momentum_step__returns_the_weight = edited(
    custom_ops.momentum_step, ("weight.sub_(buffer * lr)", "return weight.sub_(buffer, alpha=lr)")
)


def momentum_step__views(weight, buffer, grad, lr, momentum):
    buffer.view(-1).mul_(momentum).add_(grad.reshape(-1))
    weight.view(-1).sub_(buffer.view(-1), alpha=lr)


def momentum_step__writes_to_the_gradient(weight, buffer, grad, lr, momentum):
    buffer.copy_(grad.add_(buffer, alpha=momentum))
    weight.sub_(buffer, alpha=lr)


register_momentum_step__says_nothing = edited(custom_ops.register_momentum_step, ('("weight", "buffer")', "()"))
register_momentum_step__forgets_the_buffer = edited(
    custom_ops.register_momentum_step, ('("weight", "buffer")', '("weight",)')
)
register_momentum_step__of_unknown = edited(custom_ops.register_momentum_step, ('("weight", "buffer")', '"unknown"'))


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


fused_linear__takes_nan_for_less_than_zero = edited(
    custom_ops.fused_linear,
    (
        "activate(product, activation)",
        'torch.where(product > 0, product, 0) if activation == "relu" else activate(product, activation)',
    ),
)

infer_schema__takes_all_kinds_of_parameters = edited(
    custom_ops.infer_schema,
    (
        "parameter.kind not in (parameter.POSITIONAL_OR_KEYWORD, parameter.KEYWORD_ONLY) or name not in hints",
        "name not in hints",
    ),
)
infer_schema__puts_any_result_in_parentheses = edited(
    custom_ops.infer_schema,
    ("{result_type(hints.get('return'))}", "({result_type(hints.get('return')).strip('()')})"),
)
fused_linear_setup_context__forgets_the_activation = edited(
    custom_ops.fused_linear_setup_context, ("    ctx.activation = activation\n", "")
)

infer_schema__writes_to_parts_of_a_name = edited(
    custom_ops.infer_schema, ("if name in mutates_args:", 'if name in ",".join(mutates_args):')
)
fused_linear_backward__leaves_only_the_bias_out = edited(
    custom_ops.fused_linear_backward,
    ("grad @ weight if needs_x else None", "grad @ weight if weight is not None else None"),
)
fused_linear_backward__takes_three_needs_for_granted = edited(
    custom_ops.fused_linear_backward, ("(*ctx.needs_input_grad, False)", "ctx.needs_input_grad")
)
fused_linear_backward__forgets_the_activation = edited(
    custom_ops.fused_linear_backward,
    (
        "grad.sum_to_size(grad.shape[-1]) if needs_bias else None,\n        None,",
        "grad.sum_to_size(grad.shape[-1]) if needs_bias else None,",
    ),
)
fused_linear__multiplies_in_single_precision = edited(
    custom_ops.fused_linear, ("product = x @ weight.T", "product = (x.float() @ weight.T.float()).to(x.dtype)")
)


# Cases

_breaks = copied(breaks.breaks_infer_schema)


def breaks_infer_schema__that_torch_accepts():
    return [case for case in _breaks() if case["parameters"][:1] != ["w"] and case["returns"] != "no annotation"][:2]


def breaks_infer_schema__without_texts():
    return [case | {"parameters": ["z: Tensor | None", *case["parameters"][1:]]} for case in _breaks()]


def breaks_infer_schema__with_a_result():
    return [case | {"returns": case["returns"].replace("None", "int")} for case in _breaks()]


def breaks_infer_schema__with_every_annotation():
    return [
        case | {"parameters": [*map({"w": "n: int"}.get, case["parameters"], case["parameters"])]} for case in _breaks()
    ]


def breaks_infer_schema__writes_to_all_tensors():
    return [
        case | {"mutates_args": [name for name in ("x", "y", "z", "xs", "n") if f"{name}: " in str(case["parameters"])]}
        for case in _breaks()
    ]


def breaks_infer_schema__with_spaces_in_a_text():
    return [case | {"parameters": [", ".join(case["parameters"])]} for case in _breaks()]


def breaks_infer_schema__of_four_parameters():
    return [
        case | {"parameters": [*case["parameters"], *["n: int"] * (len(case["parameters"]) > 3)]} for case in _breaks()
    ]


def breaks_infer_schema__without_a_dict():
    return [tuple(case.values()) for case in _breaks()]
