"""Checks of lab 13e: integers and digits that are too few, on real torch."""

from __future__ import annotations

from ...engine.check import program
from ..cases import apart, attempt, drawn, explained, field, first_of, listed, rows, several, when

# Integers that no value has ------------------------------------------------------------------------------------------


def _spread(torch, count, low, high, start=0):
    """So many different numbers, evenly spread between two bounds, in an irregular order."""
    shares = [(0.6180339887498949 * (i + 1000 * start + 1)) % 1 for i in range(count)]
    return torch.tensor([low + share * (high - low) for share in shares])


OUTLIERS = [None, 30.0, -200.0, 3000.0]
OBSERVERS = ["MinMaxObserver", "MovingAverageMinMaxObserver", "HistogramObserver"]
EIGHT_BITS = ["quint8", "qint8"]


def _observed(torch, kind, eight_bits, outliers, between, **_):
    """A model with three observers, calibrated on batches with these outliers. `late` has a name of its own, and is never called.

    If values are to be in the middle between two integers, the scale is 2 and the zero point odd.
    """
    observers = torch.ao.quantization

    class Inner(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.observer = getattr(observers, kind)(dtype=getattr(torch, eight_bits))

        def forward(self, x):
            self.observer(x)
            return x.mul_(0.5)  # what the observer has been given is another number from now on

    class Outer(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.first, self.inner = observers.MinMaxObserver(dtype=getattr(torch, eight_bits)), Inner()
            self.late, self.weight = observers.MinMaxObserver(), torch.nn.Parameter(torch.ones(()))

        def forward(self, x):
            x = self.first(x.clone())
            if not x.numel():
                raise KeyError("a batch without values")
            return self.first(self.inner(x * self.weight.detach()) + self.weight)

    model = Outer()
    if between:
        model(torch.tensor([-102.0, 408.0]))
        return model
    for i, outlier in enumerate(outliers):
        x = _spread(torch, 40, -1.0, 1.5, i)
        if outlier is not None:
            x[i] = outlier
        model(x)
    return model


def _clear(torch, model, sizes, wide, between, **_):
    """Batches whose values are not in the middle between two integers of an observer, where a rounding of the quotient decides.

    Or batches of values that are exactly in the middle: -5, -3, -1, ..., divided by 2.
    """
    if between:
        for i, size in enumerate(sizes):
            yield torch.arange(size % 90) * 2.0 - 5.0 - 4.0 * i
        return
    first, inner = (observer.calculate_qparams()[0] for observer in (model.first, model.inner.observer))
    for i, size in enumerate(sizes):
        x = _spread(torch, size, -wide, 1.5 * wide, i + 5)
        for scale, values in ((first, x), (first, x * 0.5 + 1), (inner, x)):
            quotient = values.double() / scale
            x = x.where((quotient % 1 - 0.5).abs() > 1e-3, 0.0)
        yield x


def _states(model):
    hooks = [len(m._forward_hooks) + len(m._forward_pre_hooks) for m in model.modules()]
    own = [sorted(vars(m)) for m in model.modules()]
    return hooks, own, [(name, x.tolist()) for name, x in model.state_dict().items()], model.training


def _levels(
    kind="MinMaxObserver", eight_bits="quint8", outliers=(None,), sizes=(300,), wide=1.0, between=False, end=""
):
    case = {"kind": kind, "eight_bits": eight_bits, "outliers": [*outliers], "sizes": [*sizes], "wide": wide}
    return case | {"between": between, "end": end}


def _ended(torch, batches, end):
    """These batches, and then one in which the model raises an error, or an error of the iterable."""
    yield from batches
    if end == "model":
        yield torch.zeros(0)
    elif end:
        raise {"iterable": ValueError, "iterable's": RuntimeError}[end](end)


ERRORS = {"model": "raises KeyError", "iterable": "raises ValueError", "iterable's": "raises RuntimeError"}


@program(
    "clinic.memory.levels_used",
    cases=drawn(
        kind=OBSERVERS, eight_bits=EIGHT_BITS,
        outliers=several(OUTLIERS, 1, 3), sizes=several([1, 7, 100, 300], 1, 3), wide=[1.0, 0.25, 8.0],
        between=[False, False, True], end=["", "", *ERRORS],
    ),
    edges=[
        _levels(), _levels(eight_bits="qint8"), _levels(outliers=[30.0]), _levels(outliers=[None, -200.0]), _levels(wide=8.0),
        _levels("MovingAverageMinMaxObserver", outliers=[None, 30.0]), _levels("HistogramObserver", outliers=[None, 30.0]),
        _levels("MovingAverageMinMaxObserver", sizes=[100, 100, 100], wide=8.0), _levels(sizes=[300, 1], wide=8.0),
        _levels(sizes=[7, 100, 300], wide=0.25), _levels("HistogramObserver", "qint8", [3000.0], [100, 7]),
        *(_levels(eight_bits=bits, sizes=sizes, between=True) for bits in EIGHT_BITS for sizes in ([5], [6, 1], [60, 300, 7])),
        *(_levels(kind, wide=8.0, end=end) for kind in OBSERVERS for end in ERRORS),
    ],
    hint=first_of(
        when(apart("error"), "an error of the model or of the iterable is raised further"),
        explained(
            levels="the scale is that from before the first batch, and an observer may be called several times, or not at all. Is "
            "the quotient rounded, and then the zero point added?",
            as_before="the model is another one afterwards: its ranges, its hooks, or its mode",
        ),
    ),
    draws=12,
)  # fmt: skip
def levels_used(rl, end, **case):
    import torch

    model = _observed(torch, **case)
    model.inner.register_forward_hook(lambda *_: None)
    batches = [*_clear(torch, model, **case)]
    before = _states(model)
    levels = attempt(rl.clinic.memory.levels_used, model, _ended(torch, batches, end))
    return {
        "levels": None if isinstance(levels, str) else sorted([name, int(number)] for name, number in levels.items()),
        "error": levels if isinstance(levels, str) else None,
        "as before": _states(model) == before,
    }


@levels_used.oracle
def levels_by_number(torch, end, **case):
    if end:
        return {"levels": None, "error": ERRORS[end], "as before": True}
    model, values = _observed(torch, **case), {"first": [], "inner.observer": [], "late": []}
    for x in _clear(torch, model, **case):
        values["first"] += [x, x * 0.5 + 1]
        values["inner.observer"].append(x)
    levels = []
    for name, seen in values.items():
        observer, integers = model.get_submodule(name), set()
        if seen:
            scale, zero_point = map(float, observer.calculate_qparams())
            for x in torch.cat(seen).tolist():
                integers.add(min(max(round(x / scale) + zero_point, observer.quant_min), observer.quant_max))
        levels.append([name, len(integers)])
    return {"levels": levels, "error": None, "as before": True}


# A range without outliers --------------------------------------------------------------------------------------------

RANGES = {
    "both": (-0.7, 1.3),
    "positive": (0.0, 6.0),
    "negative": (-2.0, -0.5),
    "small": (-1e-3, 2e-3),
    "high": (3.0, 4.0),
    "laplace": (0.0, 1.0),  # of these the shares are drawn
    "two sides": (0.0, 1.0),
    "normal": (0.0, 1.0),
    "relu": (0.0, 1.0),
    "rare": (-1.0, 1.0),
    "alone": (0.0, 1.0),
}
LENGTHS = [[1000] * 4, [1000] * 6, [3000, 60, 1, 940], [1, 2000], [10, 2500, 20, 30], [1000, 4000]]


def _shaped(torch, span, x):
    """Values of this distribution, from numbers that are evenly spread."""
    if span == "laplace":
        return (x - 0.5).sign() * (1 - 2 * (x - 0.5).abs()).clamp(min=1e-5).log()
    if span == "two sides":
        return x.clamp(min=1e-5).log() * 0.3 + 5 * (x > 0.3)
    if span in ("normal", "relu"):
        z = torch.special.ndtri(x.clamp(1e-5, 1 - 1e-5))
        return (z - 1).relu() if span == "relu" else z * 0.1 + 1
    return x.sign() * (x.abs() - 0.95).relu() * 20 if span == "rare" else x


def _batches(torch, span, lengths, outliers, growth, start):
    """Batches, and all their values that are no outliers."""
    grown = [growth if i == 1 else 1.0 for i in range(len(lengths))]
    parts = [_shaped(torch, span, _spread(torch, size, *RANGES[span], start + i)) for i, size in enumerate(lengths)]
    values = torch.cat([x * factor for x, factor in zip(parts, grown)])
    if span == "alone":  # most are small, one in 450 is 0.3, and the largest one, 1, is alone
        values = _spread(torch, len(values), 0.0, 0.05, start)
        values[3::450] = 0.3
        values[7] = 1.0
    usual, largest = torch.ones_like(values, dtype=torch.bool), values.abs().max()
    for at, factor in outliers[: len(values) // 2000]:
        position = (997 * at + start - 1) % len(values)
        values[position], usual[position] = factor * largest, False
    return [x.reshape(-1, 10) if len(x) % 10 == 0 else x for x in values.split(lengths)], values[usual]


def _range(span="both", lengths=LENGTHS[0], outliers=(), growth=1.0):
    return {"span": span, "lengths": lengths, "outliers": [[*each] for each in outliers], "growth": growth, "start": 1}


@program(
    "clinic.memory.calibrate",
    cases=drawn(
        span=[*RANGES], lengths=LENGTHS, growth=[1.0, 3.0], start=(0, 9),
        outliers=several(listed((0, 5), [10.5, -10.5, 500.0, -5e4]), 0, 2),
    ),
    edges=[
        *(_range(span) for span in RANGES), *(_range(span, outliers=[(2, 100.0)]) for span in RANGES),
        *(_range(span, lengths, [(0, -100.0)], growth=3.0) for span in RANGES for lengths in LENGTHS[1:4]),
        *(_range(outliers=[(at, factor)], growth=growth) for at in (0, 3) for factor in (10.5, -10.5) for growth in (1.0, 3.0)),
        *(_range(growth=3.0, lengths=lengths) for lengths in LENGTHS), _range("positive", outliers=[(4, 50.0), (5, 50.0)]),
        *(_range(span, LENGTHS[4], [(4, 10.5)]) for span in RANGES), _range("relu", outliers=[(1, 20.0), (2, 4000.0)]),
    ],
    hint=explained(
        zero_point="the zero point is the integer of 0: the range contains 0",
        small_error="on the values that are no outliers the error is too large: is the range too wide because of an outlier, or "
        "does it leave out values that are none?",
    ),
    draws=20,
)  # fmt: skip
def calibrate(rl, **case):
    import torch

    batches, usual = _batches(torch, **case)
    copies = [x.clone() for x in batches]
    scale, zero_point = map(float, rl.clinic.memory.calibrate(iter(batches)))
    low, high = usual.min().clamp(max=0.0).item(), usual.max().clamp(min=0.0).item()
    best = (high - low) / 255
    return {
        "zero point": zero_point == int(zero_point) and 0 <= zero_point <= 255 and scale > 0,
        "small error": _error(torch, usual, scale, zero_point) <= 2 * _error(torch, usual, best, round(-low / best)),
        "only read": all(map(torch.equal, batches, copies)),
        "scale without outliers": best,
    }


def _error(torch, x, scale, zero_point):
    x = x.double()
    integers = ((x / scale).round() + zero_point).clamp(0, 255)
    return ((integers - zero_point) * scale - x).square().mean().item()


@calibrate.oracle
def calibrated(torch, **case):
    _, usual = _batches(torch, **case)
    best = (usual.max().clamp(min=0.0) - usual.min().clamp(max=0.0)).item() / 255
    return {"zero point": True, "small error": True, "only read": True, "scale without outliers": best}


# Updates that are lost -----------------------------------------------------------------------------------------------

FAILURES = {"raises": KeyError, "raises Runtime": RuntimeError, "raises Value": ValueError}
RUNS = ["plain", "scheduled", "frozen", "no gradient", "twice", *FAILURES, "zero rate", "taking turns", "tiny"]


def _trained(torch, kind, run, rate, steps, foreach):
    """A model, its optimizer, and a function that trains it and returns the parameters before and after each step."""
    layers = torch.nn.Linear(3, 2), torch.nn.Linear(2, 2, bias=False)
    model = torch.nn.Sequential(layers[0], torch.nn.ReLU(), layers[1]).to(getattr(torch, kind))
    with torch.no_grad():
        for i, x in enumerate(model.parameters()):
            x.copy_(_spread(torch, x.numel(), -1.0, 2.0, i).reshape(x.shape))
    if run == "twice":
        model.append(layers[1])  # a layer with two names
    model[0].bias.requires_grad_(run != "frozen")
    groups = [
        {"params": [model[0].weight]},
        {"params": [model[2].weight], "lr": rate * (0 if run == "zero rate" else 16)},
    ]
    if run != "frozen":
        groups[0]["params"].append(model[0].bias)
    optimizer = torch.optim.SGD(groups, lr=rate, foreach=foreach)

    def train(note=lambda moment: None):
        x = _spread(torch, 12, -1.0, 1.0, 3).reshape(4, 3).to(getattr(torch, kind))
        x[:, 1] = 0
        for step in range(steps):
            optimizer.zero_grad()
            (model(x).square().mean() * (1e-6 if run == "tiny" else 1.0)).backward()
            if run == "no gradient" and step == 1:
                model[0].weight.grad = None
            if run == "scheduled":
                optimizer.param_groups[0]["lr"] = rate * 4**step
            if run == "taking turns":  # the rates of the two groups are 0, r, r, 0 and r, 0, 0, r
                for group, learns in zip(optimizer.param_groups, (step % 3 > 0, step % 3 == 0)):
                    group["lr"] = rate * learns
            note("before")
            optimizer.step()
            note("after")
            with torch.no_grad():
                model[2].weight.neg_()  # no step of the optimizer
        if run in FAILURES:
            raise FAILURES[run](run)
        optimizer.zero_grad()

    return model, optimizer, train


def _hides_an_error(case, mine, theirs):
    return isinstance(field(theirs, "lost"), str) and apart("lost")(case, mine, theirs)


@program(
    "clinic.memory.lost_updates",
    cases=drawn(
        kind=["bfloat16", "bfloat16", "float16", "float32"], run=RUNS, rate=[1e-3, 1e-2, 1e-4, 0.5], steps=(0, 4), foreach=bool
    ),
    edges=rows(
        "kind run rate steps foreach", *(("bfloat16", run, rate, 3, foreach) for run in RUNS for rate, foreach in
        ((1e-3, False), (1e-4, True))), ("float32", "plain", 1e-3, 2, False), ("bfloat16", "plain", 0.5, 3, True),
        ("float16", "plain", 1e-3, 2, False), ("bfloat16", "plain", 1e-3, 0, False), ("float32", "plain", 1e-9, 2, False),
        *(("bfloat16", "taking turns", rate, steps, False) for rate in (1e-3, 1e-4) for steps in (1, 2, 4, 5)),
        *((kind, run, 1e-9, 4, False) for kind in ("float16", "bfloat16") for run in ("plain", "taking turns")),
    ),
    hint=first_of(
        when(_hides_an_error, "an error of `train` is raised further"),
        explained(
            lost="compare each element before and after `optimizer.step()`, and ask its gradient and the learning rate "
            "of its group",
            hooks="the optimizer has other hooks than before",
        ),
    ),
    draws=15,
)  # fmt: skip
def lost_updates(rl, **case):
    import torch

    model, optimizer, train = _trained(torch, **case)
    other = optimizer.register_step_post_hook(lambda *_: None)
    lost = attempt(rl.clinic.memory.lost_updates, model, optimizer, train)
    hooks = [*optimizer._optimizer_step_pre_hooks, *optimizer._optimizer_step_post_hooks]
    return {
        "lost": lost if isinstance(lost, str) else sorted([name, [*map(int, steps)]] for name, steps in lost.items()),
        "hooks": hooks == [other.id] and "step" not in vars(optimizer),
    }


@lost_updates.oracle
def lost_step_by_step(torch, **case):
    model, optimizer, train = _trained(torch, **case)
    owned = [(name, x) for name, x in model.named_parameters() if not (case["run"] == "frozen" and name == "0.bias")]
    lost, before = {name: [] for name, _ in owned}, {}

    def note(moment):
        rates = {x: group["lr"] for group in optimizer.param_groups for x in group["params"]}
        for name, x in owned:
            if moment == "before":
                before[name] = x.detach().flatten().tolist()
                continue
            grads = [0.0] * x.numel() if x.grad is None else x.grad.flatten().tolist()
            numbers = zip(before[name], x.detach().flatten().tolist(), grads)
            lost[name].append(sum(old == new and grad * rates[x] != 0 for old, new, grad in numbers))

    error = attempt(train, note)
    return {"lost": error or sorted([name, steps] for name, steps in lost.items()), "hooks": True}


# A descent that loses nothing ----------------------------------------------------------------------------------------

SLOPES = [
    "first of all",
    "constant",
    "towards 0.5",
    "both signs",
    "growing",
    "by element",
    "in turn",
    "in turn, by element",
]


def _slope(torch, kind, point, step):
    if kind == "constant":
        return torch.ones_like(point)
    if kind == "first of all":
        return torch.full_like(point, 500.0 if step == 1 else 1.0)
    if kind == "in turn":  # four of them cancel out
        return torch.full_like(point, -1.0 if step % 4 else 3.0)
    if kind == "in turn, by element":
        return torch.cat([_slope(torch, "in turn", x[None], step + i) for i, x in enumerate(point)]) / 7
    if kind == "towards 0.5":
        return point - 0.5
    if kind == "both signs":
        return point.sign() * 0.25
    if kind == "growing":
        return -point / 2
    return torch.linspace(-1.0, 1.0, point.numel()).reshape(point.shape).to(point.dtype)


def _descent(slope="constant", rate=1e-3, steps=250, size=4, unit=1.0):
    return {"slope": slope, "rate": rate, "steps": steps, "size": size, "unit": unit}


@program(
    "clinic.memory.descend_in_bfloat16",
    cases=drawn(slope=SLOPES, rate=[1e-3, 3e-4, 1e-4, 0.03], steps=[0, 1, 10, 300], size=(1, 6), unit=[1.0, 0.01]),
    edges=[
        *(_descent(slope) for slope in SLOPES), *(_descent(slope, 1e-4, 1000) for slope in SLOPES),
        _descent(steps=0), _descent(steps=1),
        _descent("by element", 0.1, 2), _descent("growing", 0.03, 100, 1), _descent("constant", 2e-4, 2500),
        _descent("first of all", 3.6e-6, 4000, 3),
        *(_descent("in turn", rate, 4000, 2, 0.01) for rate in (0.003, 0.7)),
        *(_descent("in turn, by element", rate, 4000, 6, 0.01) for rate in (0.003, 0.01, 0.07)),
    ],
    hint=explained(
        points="a point is too far from the start minus the rate times the sum of the gradients: where do you keep the digits that "
        "bfloat16 has no room for?",
        dtypes="the model computes in bfloat16: each point has this dtype",
        calls="one call in each step",
    ),
    draws=12,
)  # fmt: skip
def descend_in_bfloat16(rl, slope, rate, steps, size, unit):
    import torch

    x = (_spread(torch, size, unit, 2 * unit) * torch.tensor([1.0, -1.0, 4.0, -0.25, 1.0, 100.0])[:size]).bfloat16()
    given, exact, points = x.clone(), x.double(), []
    largest = exact.abs()

    def is_near(point):
        return point.shape == x.shape and bool(((point.double() - exact).abs() <= 0.01 * largest).all())

    def gradient(point):
        nonlocal exact, largest
        points.append((is_near(point), str(point.dtype)))
        result = _slope(torch, slope, point, len(points))
        exact = exact - rate * result.double()
        largest = torch.maximum(largest, exact.abs())
        return result

    last = rl.clinic.memory.descend_in_bfloat16(x, gradient, rate, steps)
    points.append((is_near(last), str(last.dtype)))
    return {
        "calls": len(points) - 1,
        "dtypes": sorted({dtype for _, dtype in points}),
        "points": [near for near, _ in points].count(False),
        "only read": torch.equal(x, given) and last.data_ptr() != x.data_ptr(),
    }


@descend_in_bfloat16.oracle
def descended_exactly(torch, steps, **case):
    return {"calls": steps, "dtypes": ["torch.bfloat16"], "points": 0, "only read": True}
