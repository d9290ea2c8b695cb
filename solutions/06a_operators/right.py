"""Correct answers to lab 06a in other styles than the reference's: every check must accept them.

A function's name is its exercise's, two underscores, and the style.
"""

import functools
import inspect
import math
import typing

import torch
from torch import Tensor

from rushlight.on_torch import custom_ops

# The schema


def infer_schema__with_the_annotations_of_the_signature(function, mutates_args):
    signature = inspect.signature(function, eval_str=True)
    for name in mutates_args:
        if name not in signature.parameters:
            raise ValueError(name)
    before, after = [], []
    for place, parameter in enumerate(signature.parameters.values()):
        if parameter.annotation is inspect.Parameter.empty:
            raise ValueError("no annotation")
        if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD, parameter.POSITIONAL_ONLY):
            raise ValueError("no such parameters")
        text = custom_ops.schema_type(parameter.annotation)
        if parameter.name in mutates_args:
            if text[:6] != "Tensor":
                raise ValueError("not a tensor")
            text = f"Tensor(a{place}!){text[6:]}"
        text += " " + parameter.name
        if parameter.default is not inspect.Parameter.empty:
            text += "=" + custom_ops.default_text(parameter.default)
        (after if parameter.kind == parameter.KEYWORD_ONLY else before).append(text)
    returned = signature.return_annotation
    if returned is inspect.Signature.empty:
        raise ValueError("no result")
    result = custom_ops.result_type(type(None) if returned is None else returned)
    return f"({', '.join(before + ['*'] * bool(after) + after)}) -> {result}"


def infer_schema__in_one_string(function, mutates_args):
    hints = typing.get_type_hints(function)
    parameters = inspect.signature(function).parameters
    if set(mutates_args).difference(parameters) or any(
        p.kind not in (p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY) for p in parameters.values()
    ):
        raise ValueError(function)
    schema, star = "", False
    for place, (name, parameter) in enumerate(parameters.items()):
        kind = custom_ops.schema_type(hints.get(name))
        if name in mutates_args:
            head, _, tail = kind.partition("Tensor")
            if head:
                raise ValueError(name)
            kind = f"Tensor(a{place}!)" + tail
        if not star and parameter.kind is inspect.Parameter.KEYWORD_ONLY:
            star, schema = True, schema + ", *"
        schema += f", {kind} {name}"
        if parameter.default is not parameter.empty:
            schema += "=" + custom_ops.default_text(parameter.default)
    return f"({schema[2:]}) -> " + custom_ops.result_type(hints.get("return"))


# The kernel and the fake one


def fused_linear__flattened(x, weight, bias=None, activation="none"):
    custom_ops.check_arguments(x, weight, bias, activation)
    rows = x.reshape(-1, x.shape[-1])
    z = torch.mm(rows, weight.t()) if bias is None else torch.addmm(bias, rows, weight.t())
    return custom_ops.activate(z, activation).reshape(x.shape[:-1] + weight.shape[:1]).clone()


def fused_linear__by_einsum(x: Tensor, weight: Tensor, bias: Tensor | None = None, activation: str = "none") -> Tensor:
    custom_ops.check_arguments(x, weight, bias, activation)
    z = torch.einsum("oi,...i->...o", weight, x)
    z = z if bias is None else bias + z
    if activation == "relu":
        z = z.clamp(min=0)
    elif activation == "tanh":
        z = 1 - 2 / (torch.exp(2 * z) + 1)
    elif activation == "gelu":
        z = 0.5 * z * (1 + torch.erf(z * 0.5**0.5))
    return z.contiguous()


def fused_linear__in_place(x, weight, bias=None, activation="none"):
    if activation not in custom_ops.ACTIVATIONS:
        raise ValueError(activation)
    if weight.ndim != 2 or bias is not None and (bias.shape != weight.shape[:1] or bias.dtype != x.dtype):
        raise RuntimeError("shapes")
    z = torch.matmul(x, weight.transpose(0, 1)).contiguous()
    if bias is not None:
        z += bias
    if activation == "gelu":
        return z.mul_(torch.special.ndtr(z))
    return {"none": lambda: z, "relu": z.relu_, "tanh": z.tanh_}[activation]()


def fused_linear__by_inner(x, weight, bias=None, activation="none"):
    custom_ops.check_arguments(x, weight, bias, activation)
    z = torch.inner(x, weight)
    return custom_ops.activate(z if bias is None else z + bias, activation).contiguous()


def fused_linear__by_tensordot(x, weight, bias=None, activation="none"):
    custom_ops.check_arguments(x, weight, bias, activation)
    z = torch.tensordot(x, weight, dims=([-1], [1]))
    return custom_ops.activate(z if bias is None else z + bias, activation).contiguous()


def fused_linear__with_the_gelu_of_torch(x, weight, bias=None, activation="none"):
    custom_ops.check_arguments(x, weight, bias, activation)
    z = x @ weight.mT
    z = z if bias is None else z + bias
    return torch.nn.functional.gelu(z) if activation == "gelu" else custom_ops.activate(z, activation)


def fused_linear_fake__empty(x, weight, bias=None, activation="none"):
    custom_ops.check_arguments(x, weight, bias, activation)
    return torch.empty(x.shape[:-1] + weight.shape[:1], dtype=x.dtype, device=x.device)


def fused_linear_fake__expanded(x, weight, bias=None, activation="none"):
    custom_ops.check_arguments(x, weight, bias, activation)
    return x[..., :1].expand(*x.shape[:-1], weight.shape[0]).clone(memory_format=torch.contiguous_format)


# The derivative


def fused_linear_setup_context__by_cases(ctx, inputs, output):
    x, weight, bias, ctx.activation = inputs
    if ctx.activation == "gelu":
        ctx.save_for_backward(x, weight, bias, None)
        return
    kept = [None, None, None, None]
    if ctx.needs_input_grad[0]:
        kept[1] = weight
    if ctx.needs_input_grad[1]:
        kept[0] = x
    if ctx.activation != "none":
        kept[3] = output
    ctx.save_for_backward(*kept)


def fused_linear_setup_context__by_a_table(ctx, inputs, output):
    ctx.set_materialize_grads(True)
    ctx.activation = inputs[-1]
    asked = list(ctx.needs_input_grad)
    read = {
        "none": (asked[1], asked[0], False, False),
        "relu": (asked[1], asked[0], False, True),
        "tanh": (asked[1], asked[0], False, True),
        "gelu": (True, True, True, False),
    }[ctx.activation]
    values = (*inputs[:3], output)
    ctx.save_for_backward(*(value if reads else None for value, reads in zip(values, read)))


def fused_linear_setup_context__keeps_nothing_for_nobody(ctx, inputs, output):
    x, weight, bias, ctx.activation = inputs
    needs_x, needs_weight, *rest = ctx.needs_input_grad
    again, asked = ctx.activation == "gelu", needs_x or needs_weight or any(rest)
    ctx.save_for_backward(
        x if needs_weight or again and asked else None,
        weight if needs_x or again and asked else None,
        bias if again and asked else None,
        output if ctx.activation in ("relu", "tanh") and asked else None,
    )


def _slope(ctx):
    x, weight, bias, output = ctx.saved_tensors
    if ctx.activation == "relu":
        return (output != 0).to(output.dtype)
    if ctx.activation == "tanh":
        return 1 - output.square()
    z = x.matmul(weight.t())
    if bias is not None:
        z = bias + z
    return torch.special.ndtr(z) + z * torch.exp(-0.5 * z**2) * (2 * math.pi) ** -0.5


def fused_linear_backward__flattened(ctx, grad):
    x, weight = ctx.saved_tensors[:2]
    if ctx.activation != "none":
        grad = grad * _slope(ctx)
    rows, results = grad.reshape(-1, grad.shape[-1]), [None, None, None, None]
    needs = ctx.needs_input_grad
    if needs[0]:
        results[0] = torch.mm(rows, weight).reshape(*grad.shape[:-1], weight.shape[1])
    if needs[1]:
        results[1] = torch.mm(rows.t(), x.reshape(-1, x.shape[-1]))
    if len(needs) > 2 and needs[2]:
        results[2] = rows.sum(0)
    return tuple(results)


def fused_linear_backward__with_where(ctx, grad):
    x, weight, bias, output = ctx.saved_tensors
    if ctx.activation == "relu":
        grad = torch.where(output > 0, grad, torch.zeros_like(grad))
    elif ctx.activation != "none":
        grad = grad.mul(_slope(ctx))
    needs = dict(enumerate(ctx.needs_input_grad))
    leading = list(range(grad.dim() - 1))
    grad_x = torch.einsum("...o,oi->...i", grad, weight) if needs[0] else None
    grad_weight = grad_bias = None
    if needs[1]:
        grad_weight = torch.tensordot(grad, x, dims=(leading, leading))
    if needs.get(2):
        grad_bias = grad.sum(leading) if leading else grad
    return grad_x, grad_weight, grad_bias, None


def fused_linear_backward__as_outer_products(ctx, grad):
    x, weight, bias, output = ctx.saved_tensors
    grad = grad if ctx.activation == "none" else grad * _slope(ctx)
    needs_x, needs_weight = ctx.needs_input_grad[:2]
    needs_bias = any(ctx.needs_input_grad[2:3])
    grad_x = (grad.unsqueeze(-2) @ weight).squeeze(-2) if needs_x else None
    products = grad.unsqueeze(-1) * x.unsqueeze(-2) if needs_weight else None
    return (
        grad_x,
        products.sum_to_size(products.shape[-2:]) if needs_weight else None,
        grad.flatten(0, -2).sum(0) if needs_bias and grad.dim() > 1 else grad if needs_bias else None,
        None,
    )


# Registered


def register_fused_linear__with_functions_of_the_library(namespace):
    name = f"{namespace}::fused_linear"
    op = torch.library.custom_op(name, mutates_args=())(custom_ops.fused_linear)
    torch.library.register_fake(name, custom_ops.fused_linear_fake)
    torch.library.register_autograd(
        name, custom_ops.fused_linear_backward, setup_context=custom_ops.fused_linear_setup_context
    )

    @op.register_vmap
    def rule(info, in_dims, *args):
        return custom_ops.fused_linear_vmap(op, info, in_dims, *args)

    return op


def register_fused_linear__with_a_schema(namespace):
    schema = custom_ops.infer_schema(custom_ops.fused_linear, ())
    op = torch.library.custom_op(f"{namespace}::fused_linear", custom_ops.fused_linear, mutates_args=[], schema=schema)
    target = getattr(torch.ops, namespace).fused_linear
    op.register_vmap(functools.partial(custom_ops.fused_linear_vmap, target))
    op.register_autograd(custom_ops.fused_linear_backward, setup_context=custom_ops.fused_linear_setup_context)
    op.register_fake(lambda *args, **kwargs: custom_ops.fused_linear_fake(*args, **kwargs))
    return op


def register_fused_linear__decorating(namespace):
    @torch.library.custom_op(f"{namespace}::fused_linear", mutates_args=())
    def op(x: Tensor, weight: Tensor, bias: Tensor | None = None, activation: str = "none") -> Tensor:
        return custom_ops.fused_linear(x, weight, bias, activation)

    @op.register_fake
    def _(x, weight, bias=None, activation="none"):
        return custom_ops.fused_linear_fake(x, weight, bias, activation)

    op.register_autograd(custom_ops.fused_linear_backward, setup_context=custom_ops.fused_linear_setup_context)
    op.register_vmap(lambda *args: custom_ops.fused_linear_vmap(op, *args))
    return op


class _FusedLinear:
    """The registered functions as methods of a class."""

    @staticmethod
    def forward(x: Tensor, weight: Tensor, bias: Tensor | None = None, activation: str = "none") -> Tensor:
        return custom_ops.fused_linear(x, weight, bias, activation)

    @staticmethod
    def fake(x, weight, *others):
        return torch.empty_like(custom_ops.fused_linear_fake(x, weight, *others))

    @classmethod
    def setup_context(cls, ctx, inputs, output):
        custom_ops.fused_linear_setup_context(ctx, inputs, output)
        ctx.set_materialize_grads(True)

    @classmethod
    def backward(cls, ctx, grad):
        return (*custom_ops.fused_linear_backward(ctx, grad)[:3], None)


def register_fused_linear__with_methods_of_a_class(namespace):
    op = torch.library.custom_op(f"{namespace}::fused_linear", _FusedLinear.forward, mutates_args=(), device_types=None)
    op.register_autograd(_FusedLinear.backward, setup_context=_FusedLinear.setup_context)
    op.register_fake(_FusedLinear.fake)
    op.register_vmap(lambda info, in_dims, *args: custom_ops.fused_linear_vmap(op, info, in_dims, *args))
    return op


# Changing arguments


def momentum_step__by_copying(weight, buffer, grad, lr, momentum):
    new = momentum * buffer + grad
    buffer.copy_(new)
    weight.copy_(weight - lr * new)


def momentum_step__with_out(weight, buffer, grad, lr, momentum):
    torch.mul(buffer, momentum, out=buffer)
    buffer += grad
    torch.sub(weight, buffer, alpha=lr, out=weight)


def momentum_step__filling(weight, buffer, grad, lr, momentum):
    buffer[...] = torch.add(grad, buffer, alpha=momentum)
    weight.add_(buffer, alpha=-lr)


def register_momentum_step__with_a_set(namespace):
    made = torch.library.custom_op(f"{namespace}::momentum_step", mutates_args={"weight", "buffer"})
    return made(custom_ops.momentum_step)


def register_momentum_step__decorating(namespace):
    @torch.library.custom_op(f"{namespace}::momentum_step", mutates_args=("buffer", "weight"), device_types=None)
    def step(weight: Tensor, buffer: Tensor, grad: Tensor, lr: float, momentum: float) -> None:
        custom_ops.momentum_step(weight, buffer, grad, lr, momentum)

    return step


# Cases


def breaks_infer_schema__as_signatures():
    text = """
    y: 'Tensor', *, x: Tensor, z: Tensor | None; z; Tensor
    x: Tensor, xs: list[Tensor]; xs; None
    x: Tensor, /, n: int; ; Tensor
    flag: bool = False; flag; None
    x: Tensor, w; ; int
    x: Tensor; x; no annotation
    """
    rows = [[part.strip() for part in line.split(";")] for line in text.strip().splitlines()]
    return [
        {"parameters": parameters.split(", "), "mutates_args": names.split(), "returns": returns}
        for parameters, names, returns in rows
    ]


def breaks_infer_schema__in_tuples():
    return (
        {"returns": "no annotation", "mutates_args": (), "parameters": ()},
        {"returns": "None", "mutates_args": (), "parameters": ("w",)},
        {"returns": "Tensor", "mutates_args": ("x",), "parameters": ("x: Tensor", "/")},
        {"returns": "'Tensor'", "mutates_args": ("kind",), "parameters": ("x: Tensor", "kind: str = 'none'")},
        {"returns": "None", "mutates_args": ("xs",), "parameters": ("x: Tensor", "xs: list[Tensor]")},
        {"returns": "'Tensor'", "mutates_args": ("z",), "parameters": ("n: int", "*", "x: Tensor", "z: Tensor | None")},
    )
