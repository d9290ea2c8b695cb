"""The check that runs all additions of lab 15b together, in one compiled program."""

from __future__ import annotations

from ...engine.check import program
from ..cases import copied, drawn, numbers
from .fakes import registered


def score(torch, normalize, peaks, x, weight):
    """A program that uses each addition."""
    normal, _ = normalize(x, weight, dim=0)
    values, places = peaks(normal, 0.25)
    return torch.special.legendre_polynomial_p(values, 3) * values + values, places.sum(1)


@program(
    "together.additions",
    cases=drawn(rows=lambda st: st.lists(st.integers(2, 5), min_size=2, max_size=3), columns=(6, 8)),
    edges=[{"rows": [2, 3, 5], "columns": 6}, {"rows": [4, 2], "columns": 7}],
    draws=2,
    disposable=True,
)
def compiled_program(xp, rows, columns):
    import torch
    from torch._dynamo.backends.common import aot_autograd

    add = xp.contribute.add
    libraries, operators = zip(
        registered(torch, add.NORMALIZE, add.normalize, add.normalize_fake),
        registered(torch, add.PEAKS, add.peaks, add.peaks_fake),
    )
    graphs = []

    def compiler(graph, inputs):
        add.addcmul_pass().apply(graph)
        graph.recompile()
        graphs.append({str(node.target) for node in graph.graph.nodes if node.op == "call_function"})
        return graph.forward

    torch._dynamo.reset()
    backend = aot_autograd(fw_compiler=compiler, decompositions=add.legendre_table())
    compiled = torch.compile(
        lambda x, weight: score(torch, *operators, x, weight), backend=backend, dynamic=True, fullgraph=True
    )
    with torch._dynamo.config.patch(capture_dynamic_output_shape_ops=True):
        results = [[*map(copied, compiled(*inputs_of(torch, size, columns)))] for size in rows]
    torch._dynamo.reset()
    for library in libraries:
        library._destroy()
    return {
        "results": results,
        "graphs": len(graphs),
        "decomposed": not any("legendre" in name for name in graphs[0]),
        "replaced": any("addcmul" in name for name in graphs[0]),
    }


def inputs_of(torch, rows, columns):
    return numbers(torch, [rows, columns], rows), numbers(torch, [rows], 2)


@compiled_program.oracle
def program_in_eager(torch, rows, columns):
    from rushlight.contribute.add import normalize, peaks

    results = [[*map(copied, score(torch, normalize, peaks, *inputs_of(torch, size, columns)))] for size in rows]
    return {"results": results, "graphs": 1, "decomposed": True, "replaced": True}
