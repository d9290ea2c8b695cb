"""Correct answers to lab 06 in other styles than the reference's: every check must accept them.

A function's name is its exercise's, two underscores, and the style.
"""

import collections.abc
import functools
import inspect
import math
import typing

import numpy as np
import torch
from torch import Tensor
from torch.utils._python_dispatch import return_and_correct_aliasing
from torch.utils._pytree import tree_flatten, tree_unflatten

from rushlight.on_torch import backend, custom_ops, wrapper

# The schema


def schema_type__by_origin(annotation):
    origin, arguments = typing.get_origin(annotation), typing.get_args(annotation)
    if annotation in custom_ops.SCHEMA_TYPES:
        return custom_ops.SCHEMA_TYPES[annotation]
    if origin in (list, collections.abc.Sequence) and arguments[0] in custom_ops.LISTED:
        return custom_ops.SCHEMA_TYPES[arguments[0]] + "[]"
    if type(None) in arguments and origin is not tuple:
        rest = [each for each in arguments if each is not type(None)]
        inner = functools.reduce(lambda a, b: a | b, rest)
        if inner in custom_ops.SCHEMA_TYPES:
            return custom_ops.SCHEMA_TYPES[inner] + "?"
    raise ValueError(annotation)


def schema_type__from_a_table(annotation):
    table = dict(custom_ops.SCHEMA_TYPES)
    for kind, name in custom_ops.SCHEMA_TYPES.items():
        table[kind | None] = name + "?"
        if kind in custom_ops.LISTED:
            table |= {list[kind]: name + "[]", collections.abc.Sequence[kind]: name + "[]"}
    try:
        return table[annotation]
    except (KeyError, TypeError):
        raise ValueError("no such type") from None


def schema_type__knows_lists_that_may_be_missing(annotation):
    for kind, name in custom_ops.SCHEMA_TYPES.items():
        forms = {kind: name}
        if kind in custom_ops.LISTED:
            forms |= {list[kind]: name + "[]", collections.abc.Sequence[kind]: name + "[]"}
        for form, text in forms.items():
            if annotation in (form, form | None):
                return text + "?" * (annotation != form)
    raise ValueError(annotation)


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


# The batching rule


def fused_linear_vmap__with_matmul(op, info, in_dims, x, weight, bias=None, activation="none"):
    dims = dict(zip(("x", "weight", "bias"), in_dims))
    if dims["weight"] is None and dims.get("bias") is None:
        return op(torch.movedim(x, dims["x"], 0), weight, bias, activation), 0
    x = x.unsqueeze(0) if dims["x"] is None else x.movedim(dims["x"], 0)
    lead = x.shape[1:-1]
    rows = x.reshape(x.shape[0], -1, x.shape[-1])
    weight = weight.unsqueeze(0) if dims["weight"] is None else weight.movedim(dims["weight"], 0)
    z = torch.matmul(rows, weight.transpose(1, 2))
    if bias is not None:
        bias = bias.unsqueeze(0) if dims["bias"] is None else bias.movedim(dims["bias"], 0)
        z = z + bias.unsqueeze(1)
    return custom_ops.activate(z, activation).unflatten(1, lead) if lead else custom_ops.activate(
        z[:, 0], activation
    ), 0


def fused_linear_vmap__with_the_batch_last(op, info, in_dims, x, weight, bias=None, activation="none"):
    at_x, at_weight, at_bias = (list(in_dims) + [None])[:3]
    if at_weight is at_bias is None:
        last = at_x == x.dim() - 1
        return op(x.movedim(at_x, 0) if last else x, weight, bias, activation), 0 if last else at_x
    x = x.unsqueeze(-1) if at_x is None else x.movedim(at_x, -1)
    weight = weight.unsqueeze(-1) if at_weight is None else weight.movedim(at_weight, -1)
    z = (x.unsqueeze(-3) * weight).sum(-2)
    if bias is not None:
        z = z + (bias.unsqueeze(-1) if at_bias is None else bias.movedim(at_bias, -1))
    return custom_ops.activate(z, activation), z.dim() - 1


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


# As a Function


def fused_linear_function__with_methods_of_its_own(op):
    class Linear(torch.autograd.Function):
        @staticmethod
        def forward(x, weight, bias=None, activation="none"):
            return op(x, weight, bias, activation)

        @staticmethod
        def setup_context(ctx, inputs, output):
            custom_ops.fused_linear_setup_context(ctx, inputs, output)

        @staticmethod
        def backward(ctx, grad):
            return custom_ops.fused_linear_backward(ctx, grad)

        @staticmethod
        def vmap(info, in_dims, x, weight, bias=None, activation="none"):
            return custom_ops.fused_linear_vmap(Linear.apply, info, in_dims, x, weight, bias, activation)

    return Linear


def fused_linear_function__with_a_rule_that_is_generated(op):
    def forward(x, weight, bias=None, activation="none"):
        return op(x, weight, bias, activation)

    members = {
        "forward": staticmethod(forward),
        "setup_context": staticmethod(custom_ops.fused_linear_setup_context),
        "backward": staticmethod(custom_ops.fused_linear_backward),
        "generate_vmap_rule": True,
    }
    return type("Linear", (torch.autograd.Function,), members)


# Key by key


def library_fused_linear__decorating(namespace):
    library = torch.library.Library(namespace, "FRAGMENT")
    library.define(custom_ops.SCHEMA)
    name = f"{namespace}::fused_linear"
    op = getattr(torch.ops, namespace).fused_linear

    @torch.library.impl(library, "fused_linear", "Meta")
    def meta(x, weight, bias=None, activation="none"):
        return custom_ops.fused_linear_fake(x, weight, bias, activation)

    @torch.library.impl(library, "fused_linear", "CPU")
    def cpu(x, weight, bias=None, activation="none"):
        return custom_ops.fused_linear(x, weight, bias, activation)

    function = custom_ops.fused_linear_function(custom_ops.below_autograd(op))

    @torch.library.impl(library, "fused_linear", "Autograd")
    def autograd(*args):
        return function.apply(*args)

    torch.library.register_vmap(name, functools.partial(custom_ops.fused_linear_vmap, op), lib=library)
    return library


def library_fused_linear__with_a_key_set(namespace):
    library = torch.library.Library(namespace, "FRAGMENT")
    library.define("fused_linear" + custom_ops.infer_schema(custom_ops.fused_linear, ()))
    op = getattr(torch.ops, namespace).fused_linear.default

    def autograd(keys, x, weight, bias=None, activation="none"):
        def below(*args):
            return op.redispatch(keys & torch._C._after_autograd_keyset, *args)

        return custom_ops.fused_linear_function(below).apply(x, weight, bias, activation)

    library.impl("fused_linear", autograd, "Autograd", with_keyset=True)
    library.impl(op, custom_ops.fused_linear, "CPU")
    torch.library.register_fake(f"{namespace}::fused_linear", custom_ops.fused_linear_fake, lib=library)

    def rule(info, in_dims, *args):
        return custom_ops.fused_linear_vmap(op, info, in_dims, *args)

    torch.library.register_vmap(f"{namespace}::fused_linear", rule, lib=library)
    return library


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


# What breaks


def what_breaks__by_what_is_needed(kind, rule, body, transform):
    numpy, function = body == "numpy", kind != "custom_op"
    if transform in ("backward", "twice", "compile", "export"):
        bad = {"twice": numpy, "compile": numpy and not function, "export": numpy and function}.get(transform)
        return "RuntimeError" if bad else "right"
    if not function:
        return "right" if transform == "vmap" else "wrong" if transform == "jvp" else "RuntimeError"
    if kind == "setup_context" and transform == "jvp":
        return "NotImplementedError"
    works = kind == "setup_context" and {
        "vmap": rule == "own" or rule == "generated" and not numpy,
        "vmap of grad": rule != "none" and not numpy,
        "grad": not numpy,
        "jacrev": not numpy,
    }.get(transform)
    return "right" if works else "RuntimeError"


def what_breaks__as_a_table(kind, rule, body, transform):
    table = {
        ("custom_op", "torch"): "right right right RuntimeError RuntimeError RuntimeError wrong right right",
        (
            "custom_op",
            "numpy",
        ): "right RuntimeError right RuntimeError RuntimeError RuntimeError wrong RuntimeError right",
        ("ctx in forward", "torch"): "right right" + 5 * " RuntimeError" + " right right",
        ("ctx in forward", "numpy"): "right" + 6 * " RuntimeError" + " right RuntimeError",
        ("setup_context", "torch"): "right right right right right right NotImplementedError right right",
        ("setup_context", "numpy"): "right" + 5 * " RuntimeError" + " NotImplementedError right RuntimeError",
    }
    order = ("backward", "twice", "vmap", "grad", "vmap of grad", "jacrev", "jvp", "compile", "export")
    answers = dict(zip(order, table[kind, body].split()))
    if kind == "setup_context" and body == "torch" and rule == "none":
        answers |= {"vmap": "RuntimeError", "vmap of grad": "RuntimeError"}
    if kind == "setup_context" and body == "numpy" and rule == "own":
        answers["vmap"] = "right"
    return answers[transform]


# In C++


def rms_norm_source__with_accessors_and_lambdas():
    return r"""
#include <ATen/core/Tensor.h>
#include <ATen/Dispatch.h>
#include <ATen/ops/empty.h>
#include <torch/library.h>

static void refuse(const at::Tensor& x, const at::Tensor& weight) {
  TORCH_CHECK(x.dim() >= 1 && weight.dim() == 1 && x.scalar_type() == weight.scalar_type(), "rms_norm: arguments");
  TORCH_CHECK(x.sym_sizes().back() == weight.sym_sizes()[0], "rms_norm: sizes");
}

TORCH_LIBRARY_FRAGMENT(TORCH_EXTENSION_NAME, library) {
  library.def("rms_norm(Tensor x, Tensor weight, float eps=1e-5) -> Tensor");
  library.impl("rms_norm", c10::DispatchKey::CPU, [](const at::Tensor& x, const at::Tensor& weight, double eps) {
    refuse(x, weight);
    at::Tensor y = at::empty(x.sizes(), x.options());
    AT_DISPATCH_FLOATING_TYPES(x.scalar_type(), "rms_norm", [&] {
      int64_t n = x.size(-1), m = n == 0 ? 0 : x.numel() / n;
      at::Tensor flat = x.contiguous().view({m, n}), out = y.view({m, n});
      auto a = flat.accessor<const scalar_t, 2>();
      auto b = out.accessor<scalar_t, 2>();
      auto w = weight.accessor<const scalar_t, 1>();
      for (int64_t i = 0; i < m; ++i) {
        double squares = 0;
        for (int64_t j = 0; j < n; ++j) squares += double(a[i][j]) * a[i][j];
        double length = std::sqrt(squares / n + eps);
        for (int64_t j = 0; j < n; ++j) b[i][j] = scalar_t(a[i][j] / length * w[j]);
      }
    });
    return y;
  });
  library.impl("rms_norm", c10::DispatchKey::Meta, [](const at::Tensor& x, const at::Tensor& weight, double) {
    refuse(x, weight);
    return at::empty_symint(x.sym_sizes(), x.options());
  });
}
"""


def rms_norm_source__with_a_result_like_the_lines():
    return r"""
#include <ATen/core/Tensor.h>
#include <ATen/Dispatch.h>
#include <ATen/Parallel.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/empty_like.h>
#include <torch/library.h>

#define NAME "rms_norm"

at::Tensor rms_norm(const at::Tensor& x, const at::Tensor& weight, double eps) {
  TORCH_CHECK(x.dim() != 0 && weight.dim() == 1, NAME ": dimensions");
  TORCH_CHECK(x.size(-1) == weight.size(0), NAME ": sizes");
  TORCH_CHECK(x.scalar_type() == weight.scalar_type(), NAME ": dtypes");
  at::Tensor from = x.contiguous();
  at::Tensor out = at::empty_like(from);
  at::Tensor w = weight.contiguous();
  AT_DISPATCH_FLOATING_TYPES(x.scalar_type(), NAME, [&] {
    if (x.numel() == 0) return;
    const int64_t n = x.size(-1);
    const scalar_t *a = from.const_data_ptr<scalar_t>(), *factor = w.const_data_ptr<scalar_t>();
    scalar_t* b = out.mutable_data_ptr<scalar_t>();
    at::parallel_for(0, x.numel() / n, 1024, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin * n; i < end * n; i += n) {
        double mean = 0;
        for (int64_t j = i; j < i + n; j++) mean += static_cast<double>(a[j]) * a[j] / n;
        for (int64_t j = i; j < i + n; j++) b[j] = a[j] / std::sqrt(mean + eps) * factor[j - i];
      }
    });
  });
  return out;
}

at::Tensor rms_norm_meta(const at::Tensor& x, const at::Tensor& weight, double eps) {
  TORCH_CHECK(x.dim() != 0 && weight.dim() == 1, NAME ": dimensions");
  TORCH_CHECK(x.sym_size(-1) == weight.sym_size(0), NAME ": sizes");
  TORCH_CHECK(x.scalar_type() == weight.scalar_type(), NAME ": dtypes");
  return at::empty_symint(x.sym_sizes(), x.options());
}

TORCH_LIBRARY(TORCH_EXTENSION_NAME, m) { m.def(NAME "(Tensor x, Tensor weight, float eps=1e-5) -> Tensor"); }
TORCH_LIBRARY_IMPL(TORCH_EXTENSION_NAME, CPU, m) { m.impl(NAME, rms_norm); }
TORCH_LIBRARY_IMPL(TORCH_EXTENSION_NAME, Meta, m) { m.impl(NAME, rms_norm_meta); }
"""


def rms_norm_source__in_two_fragments():
    head, _, tail = rms_norm_source__by_strides_and_threads().partition("TORCH_LIBRARY_IMPL(")
    head = head.replace("TORCH_LIBRARY(", "TORCH_LIBRARY_FRAGMENT(")
    return head.replace("at::parallel_for(0, n ?", "at::parallel_for(0, n > 0 ?") + "TORCH_LIBRARY_IMPL(" + tail


def rms_norm_source__by_strides_and_threads():
    return r"""
#include <ATen/core/Tensor.h>
#include <ATen/Dispatch.h>
#include <ATen/Parallel.h>
#include <ATen/ops/empty.h>
#include <torch/library.h>

#include <ATen/ops/empty_like.h>
#include <vector>

namespace {

at::Tensor result_of(const at::Tensor& x, const at::Tensor& weight) {
  TORCH_CHECK(x.dim() > 0, "no dimensions");
  TORCH_CHECK(weight.dim() == 1, "weight");
  TORCH_CHECK(weight.dtype() == x.dtype(), "dtypes");
  TORCH_SYM_CHECK(x.sym_size(x.dim() - 1).sym_eq(weight.sym_size(0)), "sizes");
  return at::empty_like(x, x.options().memory_format(at::MemoryFormat::Contiguous));
}

at::Tensor meta(const at::Tensor& x, const at::Tensor& weight, double eps) { return result_of(x, weight); }

at::Tensor kernel(const at::Tensor& x, const at::Tensor& weight, double eps) {
  at::Tensor out = result_of(x, weight);
  AT_DISPATCH_SWITCH(
      x.scalar_type(), "rms_norm", AT_DISPATCH_CASE(at::kFloat, [&] {
        const int64_t n = x.size(-1);
        const float *from = x.const_data_ptr<float>(), *w = weight.const_data_ptr<float>();
        float* to = out.mutable_data_ptr<float>();
        at::parallel_for(0, n ? x.numel() / n : 0, 1, [&](int64_t begin, int64_t end) {
          for (int64_t i = begin; i < end; i++) {
            const float* line = from;
            for (int64_t d = x.dim() - 2, rest = i; d >= 0; rest /= x.size(d--)) line += rest % x.size(d) * x.stride(d);
            double sum = 0;
            for (int64_t j = 0; j < n; j++) sum += double(line[j * x.stride(-1)]) * line[j * x.stride(-1)];
            for (int64_t j = 0; j < n; j++)
              to[i * n + j] = line[j * x.stride(-1)] / std::sqrt(sum / n + eps) * w[j * weight.stride(0)];
          }
        });
      }) AT_DISPATCH_CASE(at::kDouble, [&] {
        const int64_t n = x.size(-1);
        const at::Tensor lines = x.contiguous(), factors = weight.contiguous();
        const double *from = lines.const_data_ptr<double>(), *w = factors.const_data_ptr<double>();
        double* to = out.mutable_data_ptr<double>();
        for (int64_t i = 0; i < x.numel(); i += n) {
          std::vector<double> line(from + i, from + i + n);
          double sum = 0;
          for (double each : line) sum += each * each;
          for (int64_t j = 0; j < n; j++) to[i + j] = line[j] / std::sqrt(sum / n + eps) * w[j];
        }
      }));
  return out;
}

}  // namespace

TORCH_LIBRARY(TORCH_EXTENSION_NAME, m) { m.def("rms_norm(Tensor x, Tensor weight, float eps=1e-5) -> Tensor"); }
TORCH_LIBRARY_IMPL(TORCH_EXTENSION_NAME, CPU, m) { m.impl("rms_norm", kernel); }
TORCH_LIBRARY_IMPL(TORCH_EXTENSION_NAME, Meta, m) { m.impl("rms_norm", meta); }
"""


# A wrapper


def quantise_rows__replaces_what_is_no_number(x):
    largest = x.abs().max(dim=1).values
    quotient = x / (largest / 127)[:, None]
    return torch.nan_to_num(quotient, 0).round().char(), torch.where(
        largest > 0, largest / 127, torch.ones_like(largest)
    )


def quantise_rows__with_two_masks(x):
    least, most = x.amin(1), x.amax(1)
    scale = torch.maximum(-least, most) / 127
    scale = torch.where(torch.logical_or(least < 0, most > 0), scale, 1)
    return (x / scale.unsqueeze(1)).round().to(torch.int8), scale


def quantise_rows__row_by_row(x):
    int_data, scales = torch.empty(x.shape, dtype=torch.int8), x.new_empty(x.shape[0])
    for i in range(x.shape[0]):
        largest = x[i].abs().max()
        scales[i] = largest / 127 if largest > 0 else 1
        int_data[i] = (x[i] / scales[i]).round()
    return int_data, scales


def quantise_rows__by_the_larger_of_two(x):
    largest = torch.maximum(x.amax(dim=-1), x.amin(dim=-1).neg())
    scale = (largest / 127).masked_fill(largest == 0, 1)
    return [x.div(scale[:, None]).round().clamp(-127, 127).to(dtype=torch.int8), scale]


def quantise_rows__with_a_mask(x):
    scale = x.abs().max(dim=1).values / 127
    scale[scale == 0] = 1
    return (x / scale[:, None]).round().type(torch.int8), scale


def quantise_rows__with_the_places_of_zeros(x):
    scale = x.abs().amax(-1).div_(127)
    scale[(scale == 0).nonzero().flatten()] = 1.0
    return x.div(scale.view(-1, 1)).round_().to(torch.int8), scale


def quantise_rows__turned(x):
    scale = torch.max(torch.abs(x.t()), dim=0).values.div(127)
    scale = scale + (scale == 0)
    return torch.round(x.t() / scale).t().contiguous().char(), scale


def map_quantised__by_match(function, tree):
    match tree:
        case wrapper.QuantisedTensor():
            return function(tree)
        case list():
            return [map_quantised__by_match(function, each) for each in tree]
        case tuple() if type(tree) is not tuple:
            return tree._make(map_quantised__by_match(function, each) for each in tree)
        case tuple():
            return tuple(map_quantised__by_match(function, each) for each in tree)
        case dict():
            return dict(zip(tree, map_quantised__by_match(function, list(tree.values()))))
    return tree


def map_quantised__with_an_inner_function(function, tree):
    def visit(each):
        if isinstance(each, wrapper.QuantisedTensor):
            return function(each)
        if type(each) in (list, tuple):
            return type(each)(map(visit, each))
        if isinstance(each, tuple):
            return type(each)(*map(visit, each))
        if type(each) is dict:
            new = {}
            for key in each:
                new[key] = visit(each[key])
            return new
        return each

    return visit(tree)


def map_quantised__with_a_table_of_types(function, tree):
    def inner(each):
        return map_quantised__with_a_table_of_types(function, each)

    made = {
        list: lambda: list(map(inner, tree)),
        tuple: lambda: tuple(map(inner, tree)),
        dict: lambda: dict((key, inner(value)) for key, value in tree.items()),
    }
    if issubclass(type(tree), wrapper.QuantisedTensor):
        return function(tree)
    if isinstance(tree, tuple) and type(tree) is not tuple:
        return tree._replace(**{name: inner(getattr(tree, name)) for name in tree._fields})
    return made.get(type(tree), lambda: tree)()


def map_quantised__keeps_tuples_without_any(function, tree):
    if isinstance(tree, wrapper.QuantisedTensor):
        return function(tree)
    if isinstance(tree, dict):
        return {key: map_quantised__keeps_tuples_without_any(function, value) for key, value in tree.items()}
    if isinstance(tree, (list, tuple)):
        items = [map_quantised__keeps_tuples_without_any(function, item) for item in tree]
        if isinstance(tree, list):
            return items
        if all(new is old for new, old in zip(items, tree)):
            return tree
        return tree._make(items) if hasattr(tree, "_make") else tuple(items)
    return tree


def map_quantised__in_copies_of_dicts(function, tree):
    def again(value):
        return map_quantised__in_copies_of_dicts(function, value)

    match tree:
        case wrapper.QuantisedTensor():
            return function(tree)
        case dict():
            made = tree.copy()
            for key, value in tree.items():
                made[key] = again(value)
            return made
        case tuple() if hasattr(tree, "_fields"):
            return type(tree)(*map(again, tree))
        case tuple() | list():
            return type(tree)(map(again, tree))
    return tree


def quantised_mm__transposed(x, q):
    numbers = q.int_data.t().to(dtype=q.dtype)
    if q.axis == 0:
        return torch.mm(numbers, (x * q.scale[None]).t()).t()
    return torch.mm(numbers, x.t()).mul(q.scale.unsqueeze(1)).t()


def quantised_mm__by_einsum(x, q):
    left = x if q.axis else torch.einsum("nk,k->nk", x, q.scale)
    product = torch.einsum("nk,km->nm", left, q.int_data.type(x.dtype))
    return torch.einsum("nm,m->nm", product, q.scale) if q.axis else product


def quantised_mm__with_ones_in_the_place_of_the_other_scale(x, q):
    before = q.scale if q.axis == 0 else q.scale.new_ones(q.shape[0])
    after = q.scale if q.axis == 1 else q.scale.new_ones(q.shape[1])
    return torch.matmul(x * before, q.int_data.to(x)) * after


def quantised_dispatch__by_a_table(func, types, args, kwargs):
    aten, quantised = torch.ops.aten, wrapper.QuantisedTensor

    def same(q, **options):
        return quantised(func(q.int_data, **options), func(q.scale), q.axis)

    def turned(q, first=0, second=1):
        dims = {first % 2, second % 2}
        return quantised(q.int_data.transpose(first, second), q.scale, q.axis if len(dims) == 1 else 1 - q.axis)

    def addmm(bias, x, q, beta=1, alpha=1):
        product = wrapper.quantised_mm(x, q) * alpha
        return product if beta == 0 else bias * beta + product

    kept = {aten.detach.default: same, aten.clone.default: same, aten.t.default: turned, aten.transpose.int: turned}
    if func in kept:
        return return_and_correct_aliasing(func, args, kwargs, kept[func](*args, **kwargs))
    products = {aten.mm.default: wrapper.quantised_mm, aten.addmm.default: addmm}
    if func in products and isinstance(args[-1], quantised) and not isinstance(args[-2], quantised):
        return products[func](*args, **kwargs)
    given = dict(zip([argument.name for argument in func._schema.arguments], args)) | kwargs
    for argument in func._schema.arguments:
        value = given.get(argument.name)
        if argument.alias_info is not None and argument.alias_info.is_write:
            for each in value if isinstance(value, (list, tuple)) else [value]:
                if isinstance(each, quantised):
                    return NotImplemented
    plain = wrapper.map_quantised(lambda q: q.dequantise(), [args, kwargs])
    return func(*plain[0], **plain[1])


def quantised_dispatch__by_names(func, types, args, kwargs):
    name = func.name().removeprefix("aten::")
    if name in ("detach", "clone", "t", "transpose.int"):
        (q, *rest), axis = args, args[0].axis
        if name == "t" or name == "transpose.int" and rest[0] % 2 + rest[1] % 2 == 1:
            axis = 1 - axis
        scale = {"clone": torch.clone, "detach": torch.detach}.get(name, lambda scale: scale)(q.scale)
        result = wrapper.QuantisedTensor(func(q.int_data, *rest, **kwargs), scale, axis)
        return return_and_correct_aliasing(func, args, kwargs, result)
    if func._schema.is_mutable:
        written = []
        for number, argument in enumerate(func._schema.arguments):
            if argument.is_write:
                value = args[number] if number < len(args) else kwargs[argument.name]
                wrapper.map_quantised(written.append, value)
        if len(written) > 0:
            return NotImplemented
    if name in ("mm", "addmm") and isinstance(args[-1], wrapper.QuantisedTensor):
        args = wrapper.map_quantised(wrapper.QuantisedTensor.dequantise, args[:-1]) + args[-1:]
        product = wrapper.quantised_mm(args[-2], args[-1])
        if name == "mm":
            return product
        first = kwargs.get("beta", 1) * args[0] if kwargs.get("beta") != 0 else torch.zeros_like(args[0])
        return torch.add(first, product, alpha=kwargs.get("alpha", 1))
    args = [wrapper.map_quantised(wrapper.QuantisedTensor.dequantise, each) for each in args]
    return func(*args, **{key: wrapper.map_quantised(lambda q: q.dequantise(), kwargs[key]) for key in kwargs})


# A device


def empty_strided__as_large_as_torch_says(size, stride, *, dtype=None, layout=None, device=None, pin_memory=None):
    if pin_memory or layout is not None and layout != torch.strided:
        raise RuntimeError("not on this device")
    like = torch.empty_strided(size, stride, dtype=dtype, device="meta")
    tensor = torch._C._acc.create_empty_tensor(tuple(size), like.dtype)
    tensor.untyped_storage().memory = np.zeros(like.untyped_storage().nbytes(), dtype=np.uint8)
    return torch.ops.inductor._reinterpret_tensor(tensor, size, stride, 0)


def empty_strided__in_a_loop(size, stride, *, dtype=None, layout=None, device=None, pin_memory=None):
    if layout not in {None, torch.strided}:
        raise RuntimeError(f"layout {layout}")
    if pin_memory is not None and pin_memory:
        raise RuntimeError("pinned memory")
    if dtype is None:
        dtype = torch.get_default_dtype()
    last = 0
    for n, step in zip(size, stride):
        last += (n - 1) * step
    nbytes = (last + 1) * torch.empty(0, dtype=dtype).element_size() * (math.prod(size) > 0)
    whole = torch._C._acc.create_empty_tensor((1,), dtype)
    whole.untyped_storage().memory = np.frombuffer(bytearray(nbytes), np.uint8)
    return torch.ops.inductor._reinterpret_tensor(whole, list(size), list(stride), 0)


def empty_strided__by_the_places_of_its_elements(
    size, stride, *, dtype=None, layout=None, device=None, pin_memory=None
):
    if bool(pin_memory) or layout not in [torch.strided, None]:
        raise RuntimeError("only strided tensors, in memory that is not pinned")
    dtype = torch.get_default_dtype() if dtype is None else dtype
    places = {0}
    for n, step in zip(size, stride):
        places = {place + i * step for place in places for i in range(n)}
    memory = np.empty((max(places, default=-1) + 1) * dtype.itemsize, "uint8")
    tensor = torch._C._acc.create_empty_tensor(list(size), dtype)
    storage = tensor.untyped_storage()
    storage.memory = memory
    return torch.ops.inductor._reinterpret_tensor(tensor, size, stride)


def as_strided__asks_the_cpu(self, size, stride, storage_offset=None):
    offset = self.storage_offset() if storage_offset is None else storage_offset
    elements = self.untyped_storage().memory.nbytes // self.dtype.itemsize
    torch.empty(elements, dtype=self.dtype).as_strided(size, stride, offset)  # raises what is to be raised
    return torch.ops.inductor._reinterpret_tensor(self, size, stride, offset - self.storage_offset())


def as_strided__dimension_by_dimension(self, size, stride, storage_offset=None):
    own = self.storage_offset()
    offset = own if storage_offset is None else storage_offset
    last, empty = offset, False
    for n, step in zip(size, stride):
        if step < 0:
            raise RuntimeError("negative stride")
        empty = empty or n == 0
        last += (n - 1) * step
    room = len(self.untyped_storage().memory) // self.element_size()
    if offset < 0 or not empty and last >= room:
        raise RuntimeError("outside")
    return torch.ops.inductor._reinterpret_tensor(self, tuple(size), tuple(stride), offset - own)


def as_strided__by_the_places_of_its_elements(self, size, stride, storage_offset=None):
    if storage_offset is None:
        storage_offset = self.storage_offset()
    if min([storage_offset, *stride]) < 0:
        raise RuntimeError("as_strided: negative")
    places = np.full(tuple(size), storage_offset)
    for d, step in enumerate(stride):
        places = places + (np.arange(size[d]) * step).reshape([-1] + [1] * (len(size) - d - 1))
    if places.size and (places.max() + 1) * self.element_size() > self.untyped_storage().memory.size:
        raise RuntimeError("as_strided: outside")
    return torch.ops.inductor._reinterpret_tensor(self, size, stride, storage_offset - self.storage_offset())


def copy_from__by_torch_on_the_cpu(self, dst, non_blocking=False):
    source, target = (torch.from_numpy(backend.array_of(tensor)) for tensor in (self, dst))
    target.copy_(source.clone())
    return dst


def copy_from__by_assignment(self, dst, non_blocking=False):
    source, target = backend.array_of(self), backend.array_of(dst)
    if source.ndim > target.ndim:
        raise RuntimeError("too many dimensions")
    try:
        target[...] = source.astype(target.dtype, copy=True)
    except ValueError as error:
        raise RuntimeError(str(error)) from error
    return dst


def copy_from__number_by_number(self, dst, non_blocking=False):
    try:
        numbers = np.array(np.broadcast_to(backend.array_of(self), tuple(dst.shape)))
    except ValueError as error:
        raise RuntimeError("sizes") from error
    target = backend.array_of(dst)
    for place in np.ndindex(*dst.shape):
        target[place] = numbers[place].astype(target.dtype)
    return dst


def cpu_fallback__with_flat_lists(op, *args, **kwargs):
    schema = op._schema
    if any(each.alias_info and not each.is_write for each in schema.returns):
        raise NotImplementedError("a view")
    flat, spec = tree_flatten((args, kwargs))
    copies = []
    for each in flat:
        if isinstance(each, torch.Tensor) and each.device.type == "rush":
            copies.append(each.cpu().clone())
        else:
            copies.append("cpu" if isinstance(each, torch.device) else each)
    args, kwargs = tree_unflatten(copies, spec)
    results, result_spec = tree_flatten(op(*args, **kwargs))
    named = dict(zip([argument.name for argument in schema.arguments], args)) | kwargs
    written = [
        value for argument in schema.arguments if argument.is_write for value in tree_flatten(named[argument.name])[0]
    ]
    for original, copy in zip(flat, copies):
        if copy is not original and any(copy is each for each in written):
            if original.shape != copy.shape:
                original.data = copy.to("rush")
            else:
                original.copy_(copy)
    there = []
    for result in results:
        same = [original for original, copy in zip(flat, copies) if copy is result and isinstance(copy, torch.Tensor)]
        there.append(same[0] if same else result.to("rush") if isinstance(result, torch.Tensor) else result)
    return tree_unflatten(there, result_spec)


def cpu_fallback__with_recursion_of_its_own(op, *args, **kwargs):
    for result in op._schema.returns:
        if result.alias_info is not None and not result.alias_info.is_write:
            raise NotImplementedError(str(op))
    pairs = []

    def down(value):
        if isinstance(value, (list, tuple)):
            return [down(each) for each in value]
        if isinstance(value, torch.device):
            return torch.device("cpu")
        if not isinstance(value, torch.Tensor):
            return value
        copy = value
        if value.device.type != "cpu":
            copy = torch.empty_like(value, device="cpu").copy_(value).clone()
        pairs.append((value, copy))
        return copy

    def up(value):
        if isinstance(value, (list, tuple)):
            return type(value)(up(each) for each in value)
        if not isinstance(value, torch.Tensor):
            return value
        for original, copy in pairs:
            if copy is value:
                return original
        return value.to("rush")

    given = [down(each) for each in args]
    options = {name: down(each) for name, each in kwargs.items()}
    result = op(*given, **options)
    for number, argument in enumerate(op._schema.arguments):
        if argument.alias_info is None or not argument.alias_info.is_write:
            continue
        changed = given[number] if number < len(given) else options[argument.name]
        for copy in changed if isinstance(changed, list) else [changed]:
            for original, other in pairs:
                if other is copy and original is not copy and list(original.shape) == list(copy.shape):
                    original.copy_(copy)
                elif other is copy and original is not copy:
                    original.data = copy.to("rush")
    return up(result)
