"""Kinds of operators, the fused linear operator as torch computes it, and hints."""

from __future__ import annotations

from collections import Counter
from contextlib import contextmanager

from ..cases import defaults, drawn, numbers, several, with_layout, words

# Operators by kind, as the recorder knows them. (Views, and operators that only allocate or copy, are allowed anywhere.)
SHAPES = words("""view unsqueeze cat stack repeat arange scalar_tensor zeros ones full fill zero zeros_like ones_like full_like
new_zeros new_ones new_full""")
PRODUCTS = words("mm bmm addmm baddbmm addbmm mv addmv dot vdot addr ger")
POINTWISE = words("""add sub rsub mul div neg pow square sqrt rsqrt reciprocal abs sign relu clamp clamp_min clamp_max maximum
minimum where masked_fill threshold tanh sigmoid cosh sinh erf erfc special_ndtr exp expm1 log addcmul addcdiv gt ge lt le eq
ne logical_and logical_not bitwise_not heaviside lerp""")
ARITHMETIC = [*SHAPES, *PRODUCTS, *POINTWISE, "sum", "mean", "cumsum"]
DELEGATES = [
    "torch._C._nn.linear",
    "torch.autograd.grad",
    "torch.autograd.backward",
    "torch.func.vjp",
    "torch.func.vmap",
]


# Operators that a kernel may call besides its own arithmetic: they allocate, copy or transpose, or are called by these.
PLUMBING = words("""empty empty_like empty_strided contiguous clone copy_ to _to_copy detach as_strided view reshape expand
expand_as select slice t transpose flatten unsqueeze squeeze narrow unbind _unsafe_view _reshape_alias alias permute""")


ACTIVATIONS = ("none", "relu", "tanh", "gelu")
SCHEMA = '(Tensor x, Tensor weight, Tensor? bias=None, str activation="none") -> Tensor'


def linear(torch, x, weight, bias=None, activation="none"):
    """The result of the operator, as torch computes it."""
    functional = torch.nn.functional
    z = functional.linear(x, weight, bias)
    return {"relu": torch.relu, "tanh": torch.tanh, "gelu": functional.gelu}.get(activation, lambda z: z)(z)


def arguments(torch, lead, features, outs, bias, layout="", kind="float64"):
    """x, weight and bias or None."""
    x, weight = numbers(torch, [*lead, features], 1, kind), numbers(torch, [outs, features], 2, kind)
    bias = numbers(torch, [outs], 3, kind) if bias else None
    return with_layout(torch, x, layout), with_layout(torch, weight, layout), bias


def shapes(**more):
    """Sizes of the three arguments, and what else a case has."""
    sizes = {"lead": several((0, 3), 0, 3), "features": (1, 4), "outs": (1, 4)}
    return drawn(**sizes, bias=bool, activation=[*ACTIVATIONS], **more)


def settled(case):
    """The case with arguments at their defaults if they are not passed."""
    passed = case["passed"] if case["activation"] == "none" else 4
    return case | {"passed": passed, "bias": case["bias"] and passed > 2}


shape = defaults(lead=[3], features=2, outs=4, bias=True, activation="none")


# What programs see ---------------------------------------------------------------------------------------------------


def operators_inside(call):
    """Return the result of a call, and the names of aten's operators that ran, also inside composite operators."""
    from torch.autograd.profiler_legacy import profile  # the other one starts a tracer that prints

    with profile() as seen:
        result = call()
    names = {event.name for event in seen.function_events}
    return result, {name.removeprefix("aten::") for name in names if name.startswith("aten::")}


@contextmanager
def counting(torch):
    """Within: counts by name how often each operator reaches a device, below autograd and vmap."""
    counts = Counter()

    class Count(torch.utils._python_dispatch.TorchDispatchMode):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            counts[func.name().removeprefix("aten::").partition(".")[0]] += 1
            return func(*args, **(kwargs or {}))

    with Count():
        yield counts


def registered(torch, namespace, name):
    """An operator's schema, and the keys of its kernels."""
    schema = torch._C._dispatch_dump(f"{namespace}::{name}").partition("schema: ")[2].partition("\n")[0]
    return {"schema": schema.replace(namespace, "ns"), "kernels": keys_of(torch, f"{namespace}::{name}")}


def keys_of(torch, name):
    """The keys of the kernels that the dispatcher has for an operator."""
    lines = [line for line in torch._C._dispatch_dump(name).splitlines() if ": registered at " in line]
    return sorted({line.partition(":")[0] for line in lines if not line.startswith("debug")})


def calls_in(graph, namespace):
    """The functions that a graph calls. The operator's namespace is `ns`."""
    calls = [node.target for node in graph.graph.nodes if node.op == "call_function"]
    return [str(call).replace(namespace, "ns") for call in calls]


def collecting(graphs):
    """A backend that appends each graph of AOTAutograd to a list, the backward's too, and runs it."""
    from functorch.compile import make_boxed_func
    from torch._dynamo.backends.common import aot_autograd

    def keep(graph, inputs):
        graphs.append(graph)
        return make_boxed_func(graph.forward)

    return aot_autograd(fw_compiler=keep, bw_compiler=keep)


def metadata(x):
    sizes = {"sizes": [str(size) for size in x.shape], "strides": [str(step) for step in x.stride()]}
    return sizes | {"dtype": x.dtype, "device": str(x.device), "class": type(x).__name__}
