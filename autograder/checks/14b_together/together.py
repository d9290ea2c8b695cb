"""The check that runs all kernels of lab 14b together: rows are normalised, become probabilities, and are added into a table."""

from __future__ import annotations

import numpy as np

from ...engine.check import program
from ..cases import drawn, first_of, numbers, rows
from ..shared_14 import SECONDS, about_kernels, about_together, findings_of


def _inputs(xp, tokens, columns, words):
    ids = xp.tensor([(3 * token + token * token) % words for token in range(tokens)], dtype=xp.int64)
    return numbers(xp, [tokens, columns], 1, "float32"), numbers(xp, [columns], 2, "float32"), ids


@program(
    "together.normalised_rows",
    cases=drawn(tokens=(1, 8), columns=(1, 90), words=(1, 6), seed=(0, 3)),
    edges=rows("tokens columns words seed", (1, 32, 1, 0), (5, 40, 3, 1), (8, 70, 2, 2)),
    hint=first_of(about_together, about_kernels),
    draws=3,
)
def tokens_in_a_table(rl, tokens, columns, words, seed):
    import rushlight.on_torch.cuda_on_host  # noqa: F401  the device of `loops.launch`
    from rushlight.utils.child import run_in_child

    return run_in_child(_tokens, rl, *_inputs(rl, tokens, columns, words), words, seed, seconds=SECONDS)


def _tokens(rl, x, weight, ids, words, seed):
    from rushlight.on_torch.cuda_on_host import Module

    reduce, findings, (tokens, columns) = rl.aten.native.cuda.reduce, [], x.shape

    def run(text, *arguments):
        result = Module(text).launch(*arguments, seed=seed)
        findings.extend(findings_of(text, result))

    normalised, table, sums = (np.zeros(n, np.float32) for n in (x.numel(), words * columns, -(-words * columns // 64)))
    scale, shift = weight.numpy().copy(), np.zeros(columns, np.float32)
    run(reduce.layer_norm_source(), "layer_norm", tokens, 64, x.numpy().copy(), scale, shift, normalised, columns, 1e-5)
    probabilities = rl.aten.native.cuda.softmax.softmax(rl.from_numpy(normalised).reshape(tokens, columns), 1)
    source, blocks = probabilities.numpy().copy(), -(-x.numel() // 64)
    run(reduce.index_add_source(), "index_add", blocks, 64, table, ids.numpy().copy(), source, tokens, columns)
    run(reduce.block_sum_source(), "block_sums", len(sums), 64, table, sums, len(table))
    values = {"normalised": normalised, "probabilities": source.reshape(-1), "table": table, "sums of 64": sums}
    return {"findings": findings} | {name: rl.from_numpy(of) for name, of in values.items()}


@tokens_in_a_table.oracle
def _(torch, tokens, columns, words, seed):
    x, weight, ids = _inputs(torch, tokens, columns, words)
    normalised = torch.nn.functional.layer_norm(x, (columns,), weight)
    probabilities = normalised.softmax(1)
    table = torch.zeros(words, columns).index_add(0, ids, probabilities).reshape(-1)
    sums = torch.nn.functional.pad(table, (0, -len(table) % 64)).view(-1, 64).sum(1)
    values = {"normalised": normalised.reshape(-1), "probabilities": probabilities.reshape(-1), "table": table}
    return {"findings": []} | values | {"sums of 64": sums}
