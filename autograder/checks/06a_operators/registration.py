"""Registration: the operator as a custom_op."""

from __future__ import annotations

from functools import partial

from ...engine.check import program
from ...engine.recorder import fresh_namespace
from ..cases import copied, explained, several, when
from ..shared_06.operators import SCHEMA, arguments, calls_in, linear, registered, shape, shapes
from ..shared_06.registration import _ARRIVES, _PASSED, _calls_of, _passed, _results_of


@program(
    "on_torch.custom_ops.register_fused_linear",
    cases=_passed,
    edges=_PASSED,
    hint=explained(
        schema="the schema has the names, the types and the defaults of fused_linear, and no argument is written to",
        kernels="one registration for each: the kernel, the fake kernel, the derivative, the batching rule",
        returned="the result of torch.library.custom_op is returned",
        arrives_of_a_batch="the batching rule calls the operator, which stays one operator in a graph; not its kernel",
        calls_for_a_batch="the batching rule is fused_linear_vmap: one call of the operator for a batch of x, not a loop",
        products_without_data="the fake kernel computes no product: it is fused_linear_fake",
    ),
    draws=15,
    disposable=True,
)
def registration(xp, **sizes):
    torch, namespace = xp.custom_ops.torch, fresh_namespace()
    op = xp.custom_ops.register_fused_linear(namespace)
    shown = registered(torch, namespace, "fused_linear") | {"returned": type(op).__name__}
    return shown | _results_of(torch, op, **sizes) | _calls_of(torch, namespace, op, **sizes)


@registration.oracle
def torch_registration(torch, **sizes):
    namespace, op = fresh_namespace(), partial(linear, torch)
    own = torch.library.custom_op(f"{namespace}::fused_linear", op, mutates_args=(), schema=SCHEMA)
    own.register_vmap(op)
    shown = registered(torch, namespace, "fused_linear") | {"returned": type(own).__name__}
    return shown | _results_of(torch, op, **sizes) | _ARRIVES


def _captured(torch, namespace, lead, features, outs, bias, activation, lengths):
    """Compile and export a function that calls an operator, for batches of several lengths."""
    op, graphs, results = getattr(torch.ops, namespace).fused_linear, [], []
    x, weight, bias = inputs = arguments(torch, lead, features, outs, bias)

    class Head(torch.nn.Module):
        def forward(self, x, weight, bias):
            return op(x, weight, bias, activation) * 2

    def backend(graph, inputs):
        graphs.append(graph)
        return graph.forward

    compiled = torch.compile(Head(), fullgraph=True, backend=backend)
    for length in lengths:
        results.append(copied(compiled(torch.cat([x] * length), weight, bias)))
    sizes = {"x": {0: torch.export.Dim("batch")}, "weight": None, "bias": None}
    exported = torch.export.export(Head(), inputs, dynamic_shapes=sizes).graph_module
    shown = {"calls": calls_in(graphs[-1], namespace), "compilations": len(graphs), "results": results}
    return shown | {"exported": calls_in(exported, namespace)}


@program(
    "on_torch.custom_ops.register_fused_linear.compiled",
    cases=lambda st: shapes(lengths=several((1, 6), 1, 4, unique=True))(st).map(
        lambda case: case | {"lead": [2, *case["lead"][:1]]}
    ),
    edges=[shape(lead=[2], activation="gelu", lengths=[1, 2, 4, 3]), shape(lead=[2, 3], bias=False, lengths=[3, 1])],
    hint=when(
        lambda case, mine, theirs: "Constraints violated" in str(mine),
        "a comparison of sizes in the fake kernel makes a graph right for some batches only",
    ),
    draws=3,
    disposable=True,
)
def compiling(xp, **case):
    namespace = fresh_namespace()
    xp.custom_ops.register_fused_linear(namespace)
    return _captured(xp.custom_ops.torch, namespace, **case)


@compiling.oracle
def torch_compiling(torch, **case):
    namespace, op = fresh_namespace(), partial(linear, torch)
    own = torch.library.custom_op(f"{namespace}::fused_linear", op, mutates_args=(), schema=SCHEMA)
    own.register_fake(op)
    return _captured(torch, namespace, **case)
