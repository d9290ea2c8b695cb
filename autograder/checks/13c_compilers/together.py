"""The check that runs the mended scripts of lab 13c together."""

from __future__ import annotations

from ...engine.check import program
from ...engine.recorder import fresh_namespace
from ..cases import attempt, copied, drawn, numbers


def _pipeline(torch, clean, op, rows, columns, start, momentum):
    """A compiled pipeline of two pieces: the results of some batches, the running mean, and the number of graphs."""
    graphs, mean = [], numbers(torch, [columns], start, "float32")

    def collect(module, inputs):
        graphs.append(module)
        return module.forward

    def pipeline(batch, mean):
        signals = torch.stack([clean(batch[i]) for i in range(rows)])
        calibrated = op(signals, mean, momentum)
        return calibrated.t() + mean

    torch._dynamo.reset()
    compiled = torch.compile(pipeline, backend=collect, fullgraph=True)
    batches = [numbers(torch, [rows, columns], start + i, "float32") * scale for i, scale in enumerate((1, 8, 0))]
    results = [attempt(lambda batch=batch: copied(compiled(batch, mean))) for batch in batches]
    torch._dynamo.reset()
    return {"results": results, "mean": mean, "graphs": len(graphs)}


@program(
    "together.clinic_compilers",
    cases=drawn(rows=(1, 3), columns=(1, 4), start=(0, 9), momentum=[0.5, 0.25, 0.125]),
    edges=[
        {"rows": rows, "columns": columns, "start": 1, "momentum": 0.5}
        for rows, columns in ((2, 3), (1, 1), (3, 4))
    ],
    draws=4,
    disposable=True,
)  # fmt: skip
def compiled_pipeline(rl, **case):
    import torch

    namespace = fresh_namespace()
    rl.clinic.compilers.register_whiten(namespace)
    return _pipeline(torch, rl.clinic.compilers.clean, getattr(torch.ops, namespace).whiten, **case)


@compiled_pipeline.oracle
def pipeline_in_eager(torch, rows, columns, start, momentum):
    mean, results = numbers(torch, [columns], start, "float32"), []
    for i, scale in enumerate((1, 8, 0)):
        cleaned = []
        for x in numbers(torch, [rows, columns], start + i, "float32") * scale:
            x = x / x.abs().max().clamp(min=1)
            strong = x[x.abs() > 0.25]
            cleaned.append(x - strong.mean() if len(strong) else x)
        signals = torch.stack(cleaned)
        mean = mean + momentum * (signals.mean(0) - mean)
        results.append(copied(signals - mean + mean))
    return {"results": results, "mean": mean, "graphs": 1}
