"""Correct answers to lab 06b in other styles than the reference's: every check must accept them.

A function's name is its exercise's, two underscores, and the style.
"""

import torch

from rushlight.on_torch import custom_ops

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


# Cases


def _call(lead, sizes, batches, activation="none"):
    features, outs, batch_size = sizes
    x, weight, bias = batches.split(", ")
    case = {"lead": lead, "features": features, "outs": outs, "batch_size": batch_size, "activation": activation}
    return case | {"x": x, "weight": weight, "bias": bias}


def breaks_fused_linear_vmap__of_small_sizes():
    return [
        _call([2, 3], (2, 3, 2), "last, last, last", "gelu"),
        _call([2], (1, 1, 3), "no batch, no batch, last"),
        _call([1], (2, 1, 2), "first, first, no batch"),
        _call([2], (1, 2, 2), "last, no batch, no batch", "tanh"),
        _call([], (1, 1, 2), "first, first, left out"),
    ]


def breaks_fused_linear_vmap__one_mistake_after_another():
    wide = (5, 4, 3)
    return tuple(
        _call(*case)
        for case in (
            ((), wide, "last, no batch, left out"),
            ((2, 1), wide, "no batch, last, no batch"),
            ((4,), wide, "last, no batch, last"),
            ((1, 6), wide, "first, last, first", "relu"),
            ((3,), wide, "first, no batch, left out", "tanh"),
        )
    )
