"""Tests which transforms work on a function, by the way it was defined. Tests the pieces together."""

from __future__ import annotations

from functools import partial

from ...engine.check import program
from ...engine.recorder import fresh_namespace, recorded
from ..cases import copied, error_name, explained, numbers, rows
from ..shared_06.operators import arguments, linear, shape, shapes

_BODIES = ("torch", "numpy")
_WAYS = [("custom_op", rule, body) for rule in ("none", "own") for body in _BODIES]
_KINDS, _RULES = ("ctx in forward", "setup_context"), ("none", "own", "generated")


_WAYS += [(kind, rule, body) for kind in _KINDS for rule in _RULES for body in _BODIES]


_TRANSFORMS = ("backward", "twice", "vmap", "grad", "vmap of grad", "jacrev", "jvp", "compile", "export")
_KNOWN = {}  # results so far: the judge tries each case once


def _cases(*cases):
    return rows("kind rule body transform", *cases)


@program(
    "on_torch.custom_ops.what_breaks",
    cases=lambda st: st.tuples(st.sampled_from(_WAYS), st.sampled_from(_TRANSFORMS)).map(
        lambda pair: _cases((*pair[0], pair[1]))[0]
    ),
    edges=_cases(*[(*way, transform) for way in _WAYS for transform in _TRANSFORMS]),
    hint=explained(result="try it: make such a function, apply the transform, and see"),
    draws=5,
)
def outcomes(xp, kind, rule, body, transform):
    with recorded() as beyond:
        result = xp.custom_ops.what_breaks(kind, rule, body, transform)
    return {"result": result, "beyond": beyond}


def _outcome(torch, f, transform):
    """The result of a transform of a function of one tensor."""

    class Module(torch.nn.Module):
        def forward(self, x):
            return f(x)

    def total(x):
        return f(x).sum()

    x = numbers(torch, [2, 3])
    if transform in ("backward", "twice", "compile"):
        x.requires_grad_()
    if transform == "compile":
        f = torch.compile(f, fullgraph=True, backend="aot_eager")
    if transform in ("backward", "compile"):
        return torch.autograd.grad(f(x).sum(), x)[0]
    if transform == "twice":
        (first,) = torch.autograd.grad(f(x).sum(), x, create_graph=True)
        return torch.autograd.grad(first.sum(), x)[0]
    return {
        "vmap": lambda: torch.vmap(f)(x),
        "grad": lambda: torch.func.grad(total)(x),
        "vmap of grad": lambda: torch.vmap(torch.func.grad(total))(x),
        "jacrev": lambda: torch.func.jacrev(f)(x),
        "jvp": lambda: torch.func.jvp(f, (x,), (torch.ones_like(x),))[1],
        "export": lambda: torch.export.export(Module(), (x,)).module()(x),
    }[transform]()


@outcomes.oracle
def torch_outcomes(torch, kind, rule, body, transform):
    def in_body(y):
        return y if body == "torch" else torch.from_numpy(y.detach().numpy())

    def cube(x):
        return in_body(x * x * x)

    def backward(ctx, grad):
        (x,) = ctx.saved_tensors
        return in_body(3 * grad * x * x)

    def setup_context(ctx, inputs, output):
        ctx.save_for_backward(*inputs)

    def forward_with_context(ctx, x):
        ctx.save_for_backward(x)
        return cube(x)

    def made():
        if kind == "custom_op":
            name = f"{fresh_namespace()}::cube"
            op = torch.library.custom_op(name, cube, mutates_args=(), schema="(Tensor x) -> Tensor")
            op.register_fake(torch.empty_like)
            op.register_autograd(backward, setup_context=setup_context)
            if rule == "own":
                op.register_vmap(lambda info, in_dims, x: (op(x), in_dims[0]))
            return op
        methods = {"forward": cube, "setup_context": setup_context, "backward": backward}
        if kind == "ctx in forward":
            methods = {"forward": forward_with_context, "backward": backward}
        if rule == "own":
            methods["vmap"] = lambda info, in_dims, x: (function.apply(x), in_dims[0])
        members = {name: staticmethod(method) for name, method in methods.items()}
        function = type("Cube", (torch.autograd.Function,), members | {"generate_vmap_rule": rule == "generated"})
        return function.apply

    torch._C._functorch._set_vmap_fallback_warning_enabled(False)
    key = (kind, rule, body, transform)
    if key not in _KNOWN:
        try:
            outcome = _outcome(torch, made(), transform)
            right = torch.allclose(outcome, _outcome(torch, lambda x: x * x * x, transform))
            _KNOWN[key] = "right" if right else "wrong"
        except Exception as error:
            _KNOWN[key] = error_name(error)
    return {"result": _KNOWN[key], "beyond": []}


# Each example of a batch ---------------------------------------------------------------------------------------------


def _of_each_example(torch, op, apply, lead, features, outs, bias, activation, size):
    """The gradients of each example of a batch, the results of an ensemble, and those of one example by the operator."""
    x, weight, bias = arguments(torch, lead, features, outs, bias)
    batch, ensemble = (torch.stack([tensor + 0.25 * i for i in range(size)]) for tensor in (x, weight))

    def total(weight, x):
        return (apply(x, weight, bias, activation) ** 2).sum()

    gradients = torch.vmap(torch.func.grad(total), in_dims=(None, 0))(weight, batch)
    results = torch.vmap(op, in_dims=(None, 0, None, None))(x, ensemble, bias, activation)
    alone = torch.autograd.grad((op(x, weight.requires_grad_(), bias, activation) ** 2).sum(), weight)[0]
    return {"gradients": copied(gradients), "ensemble": copied(results), "alone": copied(alone)}


@program(
    "together.transforms",
    cases=shapes(size=(1, 4)),
    edges=[shape([2], activation=name, size=3) for name in ("none", "gelu")],
    draws=10,
)
def examples(xp, **case):
    torch, namespace = xp.custom_ops.torch, fresh_namespace()
    library = xp.custom_ops.library_fused_linear(namespace)
    op = getattr(torch.ops, namespace).fused_linear.default
    apply = xp.custom_ops.fused_linear_function(xp.custom_ops.below_autograd(op)).apply
    results = _of_each_example(torch, op, apply, **case)
    library._destroy()
    return results


@examples.oracle
def torch_examples(torch, **case):
    return _of_each_example(torch, partial(linear, torch), partial(linear, torch), **case)
