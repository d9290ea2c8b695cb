"""Wrong answers to lab 06b that a student might well give and that no mutant of the reference is: each fails on an edge.

A function's name is its exercise's, two underscores, and what is wrong.
"""

import functools

import torch

from rushlight.course import breaks
from rushlight.on_torch import cpp_ops, custom_ops

from ..shared import copied, edited, loop_over_examples

# The batching rule


_batched = copied(custom_ops.fused_linear_vmap)


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


fused_linear_vmap__takes_all_to_be_passed = edited(
    custom_ops.fused_linear_vmap,
    ("x_dim, weight_dim, bias_dim, *_", "x_dim, weight_dim, bias_dim, _"),
    ("(*in_dims, None)", "in_dims"),
)


fused_linear_vmap__calls_the_operator_by_name = edited(
    custom_ops.fused_linear_vmap,
    ("op(x, weight, bias, activation)", "op(x=x, weight=weight, bias=bias, activation=activation)"),
)


# As a Function


def _function(forward, loops=False):
    """A Function with a forward of its own, and a batching rule that is generated or loops."""

    class Linear(torch.autograd.Function):
        setup_context = staticmethod(custom_ops.fused_linear_setup_context)
        backward = staticmethod(custom_ops.fused_linear_backward)
        generate_vmap_rule = not loops

    Linear.forward = staticmethod(forward)
    if loops:
        Linear.vmap = staticmethod(functools.partial(loop_over_examples, Linear.apply))
    return Linear


_ONE_FOR_ALL = _function(lambda *inputs: _ONE_FOR_ALL.op(*inputs))


def fused_linear_function__of_the_latest_operator(op):
    _ONE_FOR_ALL.op = staticmethod(op)
    return _ONE_FOR_ALL


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


_what_breaks = copied(custom_ops.what_breaks)


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


def rms_norm_source__of_half_precision_too():
    return _TEXT.replace("AT_DISPATCH_FLOATING_TYPES(", "AT_DISPATCH_FLOATING_TYPES_AND2(at::kHalf, at::kBFloat16, ")


def rms_norm_source__with_sizes_as_numbers_on_meta():
    return _TEXT.replace("at::empty_symint(x.sym_sizes(), ", "at::empty(x.sizes(), ")


def rms_norm_source__an_empty_batch_is_another_case_on_meta():
    special = "  if (x.sym_numel() == 0) return at::empty_symint(x.sym_sizes(), x.options());\n"
    return _TEXT.replace("  return at::empty_symint(", special + "  return at::empty_symint(")


def rms_norm_source__made_of_operators():
    head, _, tail = _TEXT.partition("  // output allocation")
    return (
        head
        + "  TORCH_CHECK_NOT_IMPLEMENTED(at::isFloatingType(x.scalar_type()), "
        + "x.scalar_type());\n  return (x * ((x * x).mean(-1, true) + eps).rsqrt() * weight).contiguous();\n}\n"
        + tail[tail.index("at::Tensor rms_norm_meta") :]
    )


def rms_norm_source__multiplies_by_an_operator():
    text = _TEXT.replace("  return out;", "  return at::mul(out, at::ones({}, out.options()));")
    return text.replace("ops/empty.h", "ops/mul.h>\n#include <ATen/ops/ones.h>\n#include <ATen/ops/empty.h")


def rms_norm_source__has_another_default():
    return _TEXT.replace("eps=1e-5", "eps=1e-6")


def rms_norm_source__of_any_backend():
    return _TEXT.replace(
        "TORCH_LIBRARY_IMPL(TORCH_EXTENSION_NAME, CPU",
        "TORCH_LIBRARY_IMPL(TORCH_EXTENSION_NAME, CompositeExplicitAutograd",
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


def rms_norm_source__takes_eps_in_single_precision():
    return _TEXT.replace("/ size + eps", "/ size + static_cast<float>(eps)")


def rms_norm_source__does_not_compile():
    return _TEXT.replace("scalar_t sum = 0;", "scalar_t sum = 0")


fused_linear_vmap__cuts_the_biases_off = edited(
    custom_ops.fused_linear_vmap, ("move_batch_dim_to_front(bias,", "move_batch_dim_to_front(bias.detach(),")
)


# Cases

_breaks = copied(breaks.breaks_fused_linear_vmap)


def breaks_fused_linear_vmap__with_every_batch_in_front():
    return [case | {key: "first" for key in ("x", "weight", "bias") if case[key] == "last"} for case in _breaks()]


def breaks_fused_linear_vmap__of_vectors():
    return [case | {"lead": []} for case in _breaks()]


def breaks_fused_linear_vmap__without_an_activation():
    return [case | {"activation": "none"} for case in _breaks()]


def breaks_fused_linear_vmap__always_with_a_bias():
    return [case | {"bias": case["bias"].replace("left out", "no batch")} for case in _breaks()]


def breaks_fused_linear_vmap__always_of_several_inputs():
    return [case | {"x": case["x"].replace("no batch", "first")} for case in _breaks()]


def breaks_fused_linear_vmap__of_sizes_of_one():
    return [case | {"features": 1, "outs": 1, "batch_size": 1} for case in _breaks()]


def breaks_fused_linear_vmap__of_large_sizes():
    return [case | {"features": 64, "outs": 600} for case in _breaks()]


def breaks_fused_linear_vmap__without_a_batch():
    return [case | {"x": "no batch", "weight": "no batch", "bias": "left out"} for case in _breaks()]


def breaks_fused_linear_vmap__with_in_dims():
    return [case | {"x": 0} for case in _breaks()]
