"""Losses."""

from __future__ import annotations

import math

from ...engine.check import program
from ..cases import defaults, drawing, first_apart, numbers
from ..listing import literal
from ..shared_05 import elements, gradients_of, plain

# Losses --------------------------------------------------------------------------------------------------------------


_REDUCTIONS, _TRUTHS = ["none", "mean", "sum"], ("classes", "probabilities")


@drawing
def _classifications(draw, st):
    n = draw(st.integers(1, 4))
    sizes = draw(st.sampled_from([[n], [3, n], [3, n], [2, n, 2], [2, n, 2, 2], [0, n]]))
    probabilities = draw(st.integers(0, 2)) == 0
    fault = draw(st.integers(0, 15))
    ignore = [-100, -100, -100, 0, 1, 7] if not probabilities or fault == 2 else [-100, -1]
    return {
        "sizes": sizes,
        "truth": "probabilities" if probabilities else "classes" if fault else "too large",
        "weight": draw(st.sampled_from([None, None, n, n, n + (fault == 1)])),
        "reduction": draw(st.sampled_from(_REDUCTIONS)),
        "ignore": draw(st.sampled_from(ignore)),
        "smoothing": draw(st.sampled_from([0.0, 0.0, 0.1, 0.5, 1.0, 1.5 if fault == 3 else 0.2])),
        "kind": draw(st.sampled_from(["float64", "float64", "float32"])),
        "scale": draw(st.sampled_from([1, 1, 1, 1000, 0])),
    }


_entropy = defaults(
    sizes=[3, 4], truth="classes", weight=None, reduction="mean", ignore=-100, smoothing=0.0, kind="float64", scale=1
)


def _about_entropy(case, mine, theirs):
    if "error" in mine or "error" in theirs:
        return None
    if case["scale"] in (0, 1000) and first_apart(mine, theirs) == "grads":
        return "log_softmax, not the logarithm of a softmax that was rounded to 0"
    if case["scale"] == 0 and case["smoothing"] <= 0:
        return "a masked class has the logarithm -inf: without smoothing only the true class counts"
    classes = (
        "dimension 1 is the classes, and the positions come after it; a single sample has the classes in dimension 0"
    )
    if len(case["sizes"]) > 2:
        return classes
    if case["truth"] == "classes" and case["smoothing"] > 0:
        return "s / classes of the truth goes to each class, also to the true one; of_all_classes computes this part"
    return classes if len(case["sizes"]) == 1 else None


def shown_entropy(torch, sizes, truth, weight, reduction, ignore, smoothing, kind, scale):
    """The arguments, and the call of PyTorch's function that gets them."""
    scores, target, weights = _entropy_arguments(torch, sizes, truth, weight, ignore, kind, scale)
    lines = [f"self = {literal(scores)}.requires_grad_()"]
    lines.append(f"target = {literal(target)}{'.requires_grad_()' * target.requires_grad}")
    lines.append(f"weight = {None if weights is None else literal(weights)}")
    smoothing = "torch.nan" if math.isnan(smoothing) else smoothing
    others = f"ignore_index={ignore}, reduction={reduction!r}, label_smoothing={smoothing}"
    return "\n".join([*lines, f"loss = torch.nn.functional.cross_entropy(self, target, weight=weight, {others})"])


@program(
    "aten.native.losses.cross_entropy_loss",
    cases=_classifications,
    edges=[
        *[_entropy(truth=truth, reduction=reduction, weight=weight, smoothing=smoothing)
          for truth in _TRUTHS for reduction in _REDUCTIONS for weight in (None, 4) for smoothing in (0.0, 0.3)],
        *[_entropy(sizes, truth, reduction=reduction, weight=weight, smoothing=0.25)
          for sizes in ([3], [2, 3, 2], [2, 3, 2, 2]) for truth in _TRUTHS
          for reduction, weight in (("none", sizes[0] if len(sizes) == 1 else 3), ("mean", None))],
        *[_entropy(ignore=ignore, reduction=reduction, weight=weight, smoothing=smoothing)
          for ignore in (0, 1) for reduction in _REDUCTIONS
          for weight, smoothing in ((None, 0.0), (4, 0.0), (None, 0.3), (4, 0.3))],
        *[_entropy(ignore=7, smoothing=smoothing, reduction=reduction)
          for smoothing in (0.0, 0.3) for reduction in _REDUCTIONS],
        *[_entropy(truth="probabilities", ignore=ignore) for ignore in (-1, 0, 1)],
        *[_entropy(truth=truth, smoothing=s) for truth in _TRUTHS for s in (1.0, 1.5, -0.5, math.nan)],
        *[_entropy(truth=truth, scale=1000, smoothing=s) for truth in _TRUTHS for s in (0.0, 0.3)],
        *[_entropy(truth=truth, weight=3) for truth in ("classes", "probabilities", "whole")],
        *[_entropy([0, 3], truth, reduction=reduction) for truth in _TRUTHS for reduction in _REDUCTIONS],
        *[_entropy([2, 1], truth, smoothing=0.5) for truth in _TRUTHS],
        *[_entropy([2, 0], "probabilities", smoothing=s, reduction="sum") for s in (0.0, 0.5)],
        _entropy([2, 0], reduction="sum"),
        *[_entropy([2, 3, 2], truth, ignore=1, smoothing=0.5, weight=3) for truth in _TRUTHS],
        *[_entropy(reduction=reduction, scale=0) for reduction in _REDUCTIONS], _entropy(truth="whole"),
        _entropy(truth="int32"), _entropy(truth="bool"),
        _entropy(truth="whole", ignore=2, smoothing=1.5), _entropy(truth="too large"),
        _entropy(truth="too large", smoothing=0.3), _entropy(truth="too many"), _entropy([3], truth="too large"),
        _entropy([1], "whole"), _entropy(truth="narrow"), _entropy(truth="single"),
        _entropy(kind="float32", scale=1000), _entropy([1], "classes"),
        _entropy([3, 4], "classes", weight=5, smoothing=0.3),
    ],
    show=shown_entropy,
    hint=_about_entropy,
)  # fmt: skip
def classification(xp, sizes, truth, weight, reduction, ignore, smoothing, kind, scale):
    scores, target, weights = _entropy_arguments(xp, sizes, truth, weight, ignore, kind, scale)
    loss = xp.nn.functional.cross_entropy(
        scores, target, weight=weights, ignore_index=ignore, reduction=reduction, label_smoothing=smoothing
    )
    shown = {"loss": elements(xp, loss), "grads": gradients_of(xp, loss, scores, target)}
    return shown | {"scores": plain(scores), "target": plain(target)}


def _entropy_arguments(xp, sizes, truth, weight, ignore, kind, scale):
    scores = numbers(xp, sizes, 1, kind) * (scale or 1)
    if scale == 0 and 0 not in sizes:
        scores.view(-1)[0] = -math.inf  # a masked class
    scores = scores.requires_grad_()
    class_dim = min(1, len(sizes) - 1)
    shape_of_target = [size for dim, size in enumerate(sizes) if dim != class_dim]
    count = max(sizes[class_dim], 1)
    if truth == "probabilities":
        target = (numbers(xp, sizes, 2, kind) + 1.25).requires_grad_()
    elif truth == "single":
        target = numbers(xp, sizes, 2, "float32") + 1.25
    elif truth in ("whole", "int32", "bool"):
        target = xp.zeros(sizes, dtype=xp.int64 if truth == "whole" else getattr(xp, truth))
    elif truth == "narrow":  # it broadcasts
        target = numbers(xp, [*sizes[:-1], 1], 2, kind) + 1.25
    else:
        values = [(i * 5 + 1) % count for i in range(math.prod(shape_of_target))]
        values = [ignore if value == 0 and ignore >= count else value for value in values]
        values = [value + count * (truth == "too large" and i == 1 % len(values)) for i, value in enumerate(values)]
        target = xp.tensor(values, dtype=xp.int64).reshape(shape_of_target)
        target = xp.cat([target, target]) if truth == "too many" else target
    weights = None if weight is None else numbers(xp, [weight], 3, kind) + 1.5
    return scores, target, weights
