"""Observers: a moving average, the error of a histogram, and the search for its range."""

from __future__ import annotations

import numpy as np

from ...engine.check import program
from ...engine.observe import is_error, values
from ..cases import defaults, drawing, drawn, field, first_apart, numbers, type_name
from ..listing import literal

_observed = defaults(shapes=[[2, 3], [2, 3]], ch_axis=0, constant=0.25, kind="float32", preset=None)


@drawing
def _batches(draw, st):
    sizes = draw(st.lists(st.integers(1, 3), min_size=2, max_size=3))
    ch_axis = draw(st.integers(-len(sizes), len(sizes) - 1))
    shapes = draw(
        st.lists(
            st.sampled_from([sizes, sizes, [0, *sizes[1:]] if ch_axis % len(sizes) else sizes]), min_size=1, max_size=4
        )
    )
    constant = draw(st.sampled_from([0.25, 0.5, 1, 0.01, 0.0]))
    return _observed(shapes, ch_axis, constant, draw(st.sampled_from(["float32", "float32", "float16", "float64"])))


def _about_averages(case, mine, theirs):
    wrong = first_apart(mine, theirs)
    if wrong in _ABOUT_AVERAGES:
        return _ABOUT_AVERAGES.get(wrong)
    filled = [0 not in sizes for sizes in case["shapes"]]
    if is_error(mine):
        if "require grad" in mine["message"] or "requires grad" in mine["message"]:
            return _ABOUT_AVERAGES["graph"]
        if not all(filled):
            return "a batch without elements changes nothing"
        return "it is the first batch if one of the two buffers has no elements" if case["preset"] else None
    yours, wanted = field(mine, wrong), field(theirs, wrong)
    batch = next((i for i, pair in enumerate(zip(yours, wanted)) if pair[0] != pair[1]), None)
    if batch is None or len(yours[batch]) != len(wanted[batch]):
        return None
    if not any(filled[:batch]):
        return "the first batch is stored as it is"
    if np.allclose([*map(float, yours[batch])], [*map(float, wanted[batch])], rtol=1e-5):
        return "old + averaging_constant * (new - old): another form has another last digit"
    return "each end moves towards that of the batch: old + averaging_constant * (new - old)"


_ABOUT_AVERAGES = {
    "returns x_orig": "x_orig itself is returned",
    "graph": "the buffers keep no graph of a batch: detach x_orig first",
    "same buffers": "store_range copies into the buffers: others may hold them",
}


def _shown_batches(torch, shapes, ch_axis, constant, kind, preset):
    name = "MovingAveragePerChannelMinMaxObserver"
    lines = [f"observer = torch.ao.quantization.{name}(averaging_constant={constant}, ch_axis={ch_axis})"]
    lines += [f"observer.{preset}_val.resize_([{shapes[0][ch_axis]}]).fill_(5.0)"] if preset else []
    batches = (numbers(torch, sizes, 5 * number, kind) for number, sizes in enumerate(shapes))
    return "\n".join([*lines, *(f"observer({literal(x)}.requires_grad_())" for x in batches)])


@program(
    "ao.quantization.observer.moving_average_per_channel",
    cases=_batches,
    edges=[
        _observed(), _observed([[2, 3]]), _observed([[2, 3], [2, 5]]), _observed(ch_axis=1), _observed(ch_axis=-1),
        _observed([[2, 3], [2, 2, 2], [1, 2]], 1),
        _observed([[2, 3], [2, 0], [2, 1]]), _observed([[2, 0], [2, 2]]), _observed(constant=1), _observed(constant=0.0),
        _observed(kind="float16"), _observed(kind="float64"), _observed([[2, 2, 3]] * 3, 1, 0.01), _observed([[3, 2]] * 4, 0, 0.5),
        _observed(preset="min"), _observed(preset="max"), _observed([[0]]),
        _observed([[2, 3]] * 4, 0, 0.01),
    ],
    hint=_about_averages,
    show=_shown_batches,
)  # fmt: skip
def averages(xp, shapes, ch_axis, constant, kind, preset):
    quantization = xp.ao.quantization
    observer = quantization.MovingAveragePerChannelMinMaxObserver(averaging_constant=constant, ch_axis=ch_axis)
    if preset is not None:  # only one of the two has elements
        getattr(observer, f"{preset}_val").resize_([shapes[0][ch_axis]]).fill_(5.0)
    buffers, shown = (observer.min_val, observer.max_val), {"returns x_orig": [], "min_val": [], "max_val": []}
    for number, sizes in enumerate(shapes):
        x = numbers(xp, sizes, 5 * number, kind).requires_grad_()
        shown["returns x_orig"].append(observer(x) is x)
        for name in ("min_val", "max_val"):
            shown[name].append([f"{number:.9g}" for number in getattr(observer, name).tolist()])
    now = observer.min_val, observer.max_val
    shown |= {"dtype": [tensor.dtype for tensor in now], "graph": [tensor.requires_grad for tensor in now]}
    return shown | {"same buffers": [old is new for old, new in zip(buffers, now)]}


# The error of a histogram --------------------------------------------------------------------------------------------

_binned = defaults(counts=[1, 5, 9, 3], eighths=4, start=0, end=3, steps=4)


@drawing
def _histograms(draw, st):
    counts = draw(st.lists(st.integers(0, 9), min_size=1, max_size=9))
    start = draw(st.integers(0, len(counts) - 1))
    end = draw(st.integers(start, len(counts) - 1))
    return _binned(counts, draw(st.integers(1, 20)), start, end, draw(st.sampled_from([1, 2, 3, 4, 8, 16, 256])))


def _about_errors(case, mine, theirs):
    wrong = first_apart(mine, theirs)
    if wrong == "type":
        return "the result is a Python number: .item()"
    if wrong == "histogram":
        return "the histogram does not change"
    if case["eighths"] == 0:
        return "if a step has length 0, the error is 0"
    if is_error(mine):
        return None
    yours, wanted = (values(field(tree, wrong))[0] for tree in (mine, theirs))
    is_near = wanted / 2 < yours < wanted * 2
    if case["start"] > 0 and not is_near:
        return "positions count from the left edge of start_bin: bins before it have negative ones"
    if case["end"] < len(case["counts"]) - 1 and not is_near:
        return "values beyond the range go to the last step: limit first and last to 0 ... dst_nbins - 1"
    return "the density is count / width, and a distance counts with its square: (b³ - a³) / 3"


@program(
    "ao.quantization.observer.quantization_error",
    cases=_histograms,
    edges=[
        _binned(), _binned(steps=1), _binned(steps=2), _binned(steps=16), _binned(steps=3), _binned(start=1), _binned(end=2),
        _binned(start=1, end=2), _binned(start=2, end=2), _binned(start=3), _binned(end=0), _binned(start=1, end=1, steps=1),
        _binned(start=0, end=1, steps=3), _binned([5], 8, 0, 0, 4), _binned([5], 8, 0, 0, 1), _binned(eighths=0),
        _binned(eighths=1),
        _binned(eighths=20), _binned([0, 0, 0, 0]), _binned([0, 0, 7, 0], 4, 0, 1, 4), _binned([7, 0, 0, 0], 4, 2, 3, 4),
        _binned([1, 2, 3, 4, 5, 6, 7, 8], 3, 2, 5, 3), _binned([8, 8], 8, 0, 1, 2), _binned([8, 8], 8, 0, 0, 1),
        _binned([1] * 9, 5, 4, 6, 256), _binned([9, 1, 1, 1], 8, 1, 3, 2),
    ],
    hint=_about_errors,
)  # fmt: skip
def errors(rl, counts, eighths, start, end, steps):
    width = eighths / 8
    histogram = rl.tensor(counts).float()
    error = rl.ao.quantization.observer.quantization_error(histogram, width, start, end, steps)
    shown = {"type": type_name(error), "error of a value": _in_steps(rl, error, counts, width, start, end, steps)}
    return shown | {"histogram": histogram.tolist() == [*counts]}


def _in_steps(xp, error, counts, width, start, end, steps):
    """The error of a value, on average, in squares of a step, and to three digits: sums may be in any order. (The second
    number is a thousandth, which float16 can hold if the first is too large.)"""
    unit = (width * (end - start + 1) / steps) ** 2 * max(sum(counts), 1) or 1.0
    return xp.tensor([error / unit, error / unit / 1000]).to(xp.float16)


@errors.oracle
def errors_of_torch(torch, counts, eighths, start, end, steps):
    width = eighths / 8
    observer = torch.ao.quantization.HistogramObserver(bins=len(counts))
    observer.histogram.copy_(torch.tensor(counts))
    observer.min_val, observer.max_val = torch.tensor(0.0), torch.tensor(width * len(counts))
    observer.dst_nbins = steps
    error = observer._compute_quantization_error(start, end)
    return {
        "type": "float",
        "error of a value": _in_steps(torch, error, counts, width, start, end, steps),
        "histogram": True,
    }


# The search ----------------------------------------------------------------------------------------------------------

_searched = defaults(counts=[1, 50, 50, 1], at=[1, 2], weights=[3, 2], wave=0)


def _error_of(at, weights, wave):
    """An error that is smallest at one range, with small waves on the way."""
    return lambda start, end: (
        weights[0] * abs(start - at[0]) + weights[1] * abs(end - at[1]) + wave * ((start + end) % 2) / 2
    )


def _about_searches(case, mine, theirs):
    """Describe the first range that differs from torch's: when it is computed, which end has moved, or how far."""
    wrong = first_apart(mine, theirs)
    if wrong != "asked":
        return {"result": "an error above the smallest so far ends the search, and the range before it is the result",
                "histogram": "the histogram does not change"}.get(wrong)  # fmt: skip
    asked, others = field(mine, "asked"), field(theirs, "asked")
    same = next((i for i, pair in enumerate(zip(asked, others)) if pair[0] != pair[1]), min(len(asked), len(others)))
    old = others[same - 1] if same else [0, len(case["counts"]) - 1]
    if same == len(asked):
        return "the search ends when an error is above the smallest so far, or when alpha reaches beta, and not before"
    now = asked[same]
    if same == len(others) > 0:
        return "an error above the smallest so far ends the search, and alpha < beta is asked before each step"
    if now == old:
        return "error is called only for a range that differs from the old one, and never for that of all bins"
    if [a == b for a, b in zip(now, old)] != [a == b for a, b in zip(others[same], old)]:
        return "one end moves in a step, the one that moves further, and only its fraction is taken: upper if both are equal"
    return (
        "how far an end moves: only the fraction of the end that moved is kept. Both sides of a comparison are rounded to "
        "float32, the fractions are not, and equal numbers end the move"
    )


@program(
    "ao.quantization.observer.non_linear_search",
    cases=drawn(
        counts=lambda st: st.lists(st.sampled_from([0, 1, 1, 2, 3, 30, 900, 300000]), min_size=1, max_size=9),
        at=lambda st: st.tuples(st.integers(0, 8), st.integers(0, 8)).map(list), weights=[[3, 2], [1, 1], [0, 1], [-1, 1]],
        wave=[0, 0, 1, 3, 9],
    ),
    edges=[
        _searched(), _searched([1, 1, 900, 1, 1], [2, 2]), _searched([1, 1, 900, 1, 1], [0, 4]), _searched([5], [0, 0]),
        _searched([1, 900], [1, 1]), _searched([900, 1], [0, 0]), _searched([0, 0, 9, 900, 0, 1], [2, 3]),
        _searched([0, 0, 0], [1, 1]),
        _searched([1, 2, 900, 2, 1], [2, 2], [1, 1]), _searched([1, 2, 900, 2, 1], [2, 2], [1, 1], 9),
        _searched([2, 1, 900, 900, 1, 2], [1, 4], [1, 1], 3), _searched([1, 1, 1, 1], [1, 2], [1, 1]),
        _searched([0, 3, 0, 900, 0], [3, 3]),
        _searched([1, 1, 1, 1, 900], [4, 4]), _searched([900, 1, 1, 1, 1], [0, 0]), _searched([1] * 8, [3, 4], [0, 0]),
        _searched([30, 1, 900, 1, 30], [4, 0], [0, 0]), _searched([3, 30, 900, 30, 2], [2, 2], [1, 1], 1),
        _searched([1, 30, 900, 900, 30, 1], [3, 2], [1, 1], 0), _searched([0, 0, 3, 0], [5, 1]),
        _searched([1, 1, 1, 1, 1, 1, 300000], [6, 6], [1, 1]), _searched([1, 1, 1, 1, 1, 1, 300000], [3, 6], [1, 1]),
        _searched([2] * 8 + [500000, 1], [5, 8], [1, 2]), _searched([0, 1, 2, 300000, 2, 1, 0], [3, 3], [1, 1], 1),
        _searched([0, 0, 0, 0, 149997, 1, 1, 1], [4, 5], [1, 1]), _searched([2**24, 1, 167], [0, 2]),
        _searched([2**24, 1, 1, 3, 163], [0, 4], [1, 1]),
        _searched([900, 900, 1, 1, 300000], [7, 8], [0, 1]),
    ],
    hint=_about_searches,
    draws=25,
)  # fmt: skip
def searches(rl, counts, at, weights, wave):
    calls = []
    error = _counted(calls, _error_of(at, weights, wave))
    histogram = [float(count) for count in counts]
    limits = rl.ao.quantization.observer.non_linear_search(histogram, error)
    return {"asked": calls, "result": list(limits), "histogram": histogram == [*counts]}


def _counted(calls, error):
    """Wrap an error function so that it records the ranges of its calls."""

    def counted(start, end):
        calls.append([start, end])
        return error(start, end)

    return counted


@searches.oracle
def searches_of_torch(torch, counts, at, weights, wave):
    observer = torch.ao.quantization.HistogramObserver(bins=len(counts))
    observer.histogram.copy_(torch.tensor(counts))
    observer.min_val, observer.max_val = torch.tensor(0.0), torch.tensor(float(len(counts)))
    calls = []
    observer._compute_quantization_error = _counted(calls, _error_of(at, weights, wave))
    low, high = observer._non_linear_param_search()
    return {"asked": calls, "result": [int(low.item()), int(high.item()) - 1], "histogram": True}
