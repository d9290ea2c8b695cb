"""Lab 12b: the weight at both ends of the residual stream, and the norm of what is read from it."""

from __future__ import annotations

import numpy as np

from ...engine.check import program
from ...engine.observe import values
from ...engine.recorder import called
from ..cases import copied, drawn, explained, field, first_apart, numbers, rows, several, when
from .tiles import gradients_of


@program(
    "course.stream.tied_gradient",
    cases=drawn(tokens=several((0, 5), 1, 6), batch=[1, 2], width=(1, 4), start=(0, 9), of=["float64", "float32"]),
    edges=rows(
        "tokens batch width start of",
        ([0], 1, 1, 0, "float64"), ([1, 1], 1, 2, 1, "float64"), ([5, 0, 5, 5], 1, 3, 2, "float64"),
        ([2, 3, 2], 2, 4, 3, "float64"), ([0, 1, 2, 3, 4, 5], 2, 2, 4, "float32"), ([4, 4, 4, 4], 2, 1, 7, "float64"),
    ),
    hint=when(lambda case: len(set(case["tokens"])) < len(case["tokens"]) or case["batch"] > 1,
              "a token occurs more than once here: all its positions count"),
)  # fmt: skip
def tied(rl, tokens, batch, width, start, of):
    given = _given(rl, tokens, batch, width, start, of)
    with called(["rushlight.autograd.engine._run"]) as by_autograd:
        grad = rl.course.stream.tied_gradient(*given)
    return {"beyond": ["autograd"] * len(by_autograd), "gradient": copied(grad), "the arguments": list(given)}


@tied.oracle
def _(torch, tokens, batch, width, start, of):
    """Autograd: one parameter, used twice."""
    ids, of_embedded, hidden, of_scores = given = _given(torch, tokens, batch, width, start, of)
    weight = torch.nn.Parameter(torch.zeros(6, width, dtype=hidden.dtype))
    embedded = torch.nn.functional.embedding(ids, weight)
    scores = torch.nn.functional.linear(hidden, weight)
    torch.autograd.backward([embedded, scores], [of_embedded, of_scores])
    return {"beyond": [], "gradient": copied(weight.grad), "the arguments": list(given)}


def _given(xp, tokens, batch, width, start, of):
    rows_of = [tokens, tokens[::-1]][:batch]
    sizes = [batch, len(tokens)]
    parts = [numbers(xp, [*sizes, last], start + i, of) for i, last in enumerate((width, width, 6))]
    return xp.tensor(rows_of), *parts


_NORMS = explained(
    dtype="the result has the dtype of x",
    numbers="the mean is of the squares, along the last dimension; eps is added before the root",
    gradients="a gradient of the result reaches x, also through the mean of the squares, and the weight",
)


def _about_norms(case, mine, theirs):
    if case["of"] in ("float16", "bfloat16") and first_apart(mine, theirs) == "numbers":
        yours, wanted = (values(field(tree, "numbers")).astype(float) for tree in (mine, theirs))
        near = 1.0 if case["of"] == "bfloat16" else 0.05
        if yours.shape == wanted.shape and (np.isclose(yours, wanted, near / 10, near) | ~np.isfinite(yours)).all():
            return "in half precision all of it is computed in float32, also the product with the weight, and then rounded once"
    return _NORMS(case, mine, theirs)


@program(
    "course.stream.rms_norm",
    cases=drawn(
        lead=lambda st: st.lists(st.integers(1, 3), max_size=2), width=(1, 8), of=["float32", "float64", "float16"],
        eps=[None, 0.5, 1e-8], factor=[1, 1, 8, 300], start=(0, 9),
    ),
    edges=rows(
        "lead width of eps factor start",
        ([], 1, "float64", None, 1, 0), ([], 4, "float64", 0.5, 1, 1), ([2, 3], 5, "float32", None, 1, 2),
        ([2], 8, "float16", None, 300, 3), ([3], 6, "float16", 1e-8, 8, 4), ([2], 7, "float64", 1e-8, 1, 5),
        ([3], 6, "bfloat16", None, 1, 6), ([2], 4, "float64", None, 1e30, 2), ([1, 3], 8, "float16", 0.5, 1, 7),
        ([], 1, "float16", None, 8, 2),
    ),
    hint=_about_norms,
)  # fmt: skip
def normed(rl, lead, width, of, eps, factor, start):
    x, weight = (tensor.requires_grad_() for tensor in _line(rl, lead, width, of, factor, start))
    with called(["rushlight.aten.native.normalisation.rms_norm"]) as beyond:
        result = rl.course.stream.rms_norm(x, weight, **({} if eps is None else {"eps": eps}))
    return {
        "beyond": ["rms_norm"] * len(beyond),
        "dtype": str(result.dtype).split(".")[-1],
        "numbers": _shown(result.detach()),
        "x": x.detach().double(),
        "gradients": _rounded(gradients_of(rl, result, [x, weight]), of),
    }


@normed.oracle
def _(torch, lead, width, of, eps, factor, start):
    x, weight = (tensor.requires_grad_() for tensor in _line(torch, lead, width, of, factor, start))
    result = torch.nn.functional.rms_norm(x, [width], weight, 1e-5 if eps is None else eps)
    gradients = _rounded(gradients_of(torch, result, [x, weight]), of)
    numbers = {"numbers": _shown(result.detach()), "x": x.detach().double()}
    return {"beyond": [], "dtype": of, **numbers, "gradients": gradients}


def _rounded(gradients, of):
    """Gradients in half precision are rounded several times, in any order: only whether there is one."""
    return gradients if of in ("float32", "float64") else [gradient is not None for gradient in gradients]


def _shown(result):
    """bfloat16 in quarters: two ways of rounding may differ by one in the last of its 8 bits."""
    return (result.double() * 4).round() if str(result.dtype).endswith("bfloat16") else copied(result)


def _line(xp, lead, width, of, factor, start):
    dtype = getattr(xp, of)
    x = numbers(xp, [*lead, width], start) * factor
    return x.to(dtype), (numbers(xp, [width], start + 1) + 1.5).to(dtype)
