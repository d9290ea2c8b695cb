"""Checks of lab 13e: numbers that are not finite, on real torch."""

from __future__ import annotations

import contextlib
import math

from ...engine.check import program
from ..cases import attempt, drawn, entries, explained, first_apart, first_of, numbers, several, when

# Where the first one comes from --------------------------------------------------------------------------------------

INF, NAN = math.inf, math.nan
STEPS = {  # of a layer, from (rows, 3) to (rows, 3)
    "double": lambda torch, x: x * 2,
    "exp": lambda torch, x: x.exp(),
    "log": lambda torch, x: x.log(),
    "sqrt": lambda torch, x: x.sqrt(),
    "divide": lambda torch, x: x / (x - x),
    "divide in place": lambda torch, x: x.clone().div_(x - x),
    "log into": lambda torch, x: torch.log(x, out=torch.empty_like(x)) if not x.requires_grad else x,
    "half": lambda torch, x: (x * 1e5).half().float(),
    "square half": lambda torch, x: x.half().square().float(),
    "mask": lambda torch, x: x.masked_fill(x > 0, -INF),
    "mask all": lambda torch, x: torch.where(x.isfinite(), -INF, x),
    "add a mask": lambda torch, x: x + torch.full_like(x, -INF),
    "softmax": lambda torch, x: x.softmax(1),
    "times nan": lambda torch, x: x * NAN,
    "keyword": lambda torch, x: torch.full((1, 3), 2.0) * torch.add(x, x, alpha=2),
    "no numbers": lambda torch, x: x.clamp(max=INF).nan_to_num(0.0, 1.0, 1.0),
    "empty": lambda torch, x: torch.empty(1, 3).copy_(x[:1]) + x.new_empty(3).zero_(),
    "alpha": lambda torch, x: torch.add(x, x, alpha=INF),
    "huge": lambda torch, x: x * 0 + 3e38,
    "stack": lambda torch, x: torch.stack([x, x.reciprocal()]).sum(0),
    "stack of both": lambda torch, x: torch.stack([x, x - x + INF]).amin(0),
    "two results": lambda torch, x: torch.var_mean(x[:1], 0)[1] + 0 * x,
    "second result": lambda torch, x: x + torch.linalg.slogdet(x.new_zeros(2, 2))[1] * 0,
    "row of nan": lambda torch, x: torch.cat([x[:1] * NAN, x[1:] - x[1:]]),
    "reciprocal": lambda torch, x: x.reciprocal(),
    "indices": lambda torch, x: x[torch.arange(x.shape[0])] + x.int(),
    "difference": lambda torch, x: x - x,
    "wide": lambda torch, x: (x.double() * 1e300).float(),
    "widest": lambda torch, x: ((x.double() * 0 + 1e10) * 1e300).float(),
    "exp of all": lambda torch, x: _written(torch._foreach_exp_, [x * 1, x - 1])[0],
    "log of all": lambda torch, x: _written(torch._foreach_log_, [x * 0 + 1, x * 1])[1],
    "divided by all": lambda torch, x: _written(torch._foreach_div_, [x * 1], [x - x])[0],
    "statistics": lambda torch, x: x + 0 * _normalised(torch),
    "complex": lambda torch, x: torch.complex(x * INF, x).abs().sign() * x,
    "fails": lambda torch, x: [][len(x)],
}
ERRORS = {"raises": KeyError, "raises Runtime": RuntimeError, "raises Value": ValueError}
RUNS = ["forward", "backward", "loss", "twice", "outside", *ERRORS, "second", "caught", "pre-hook", "hook", "itself"]


def _written(function, written, *others):
    """A list of tensors after the call of a function that writes into them and returns nothing."""
    function(written, *others)
    return written


def _normalised(torch):
    """Zeros, from a batch norm whose variance becomes infinite."""
    x = torch.tensor([[1.5e19], [-1.5e19]])
    return torch.nn.functional.batch_norm(x, torch.zeros(1), torch.ones(1), training=True).mean()


def _layer(torch, steps):
    class Layer(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.inner = torch.nn.Identity() if len(steps) < 2 else _layer(torch, steps[1:])
            self.shift = torch.nn.Parameter(torch.zeros(3))

        def forward(self, x):
            try:
                y = self.inner(x)
            except IndexError:
                y = x
            return STEPS[steps[0]](torch, y + self.shift)

    return Layer()


def _calling_itself(torch, layer):
    class Twice(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.layer = layer

        def forward(self, x, again=True):
            return (self(x, again=False) - 1e3).sqrt() if again else self.layer(x)

    return Twice()


def _not_finite(values):
    """The numbers in nested lists that are not finite, also those in tensors."""
    if isinstance(values, list | tuple):
        return [x for value in values for x in _not_finite(value)]
    if hasattr(values, "grad_fn"):
        return values.detach()[~values.isfinite()].tolist() if values.dtype.is_floating_point else []
    return [values] if type(values) is float and not math.isfinite(values) else []


def _recorded(torch, where=lambda: None):
    """A list, and a mode that adds to it for each operator where it is called, the operator, the numbers that are not finite among
    those that it is given, and among those that it returns or has written."""
    from torch.utils._python_dispatch import TorchDispatchMode

    calls = []

    class Record(TorchDispatchMode):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            arguments = [*args, *(kwargs or {}).values()]
            given = _not_finite(arguments)
            result = func(*args, **(kwargs or {}))
            calls.append((where(), func, given, _not_finite([result, arguments])))
            return result

    return calls, Record()


def _makes_nan(func, given, made):
    return any(map(math.isnan, made)) and not any(map(math.isnan, given)) and "empty" not in func.name()


def _makes_infinity(func, given, made):
    return any(map(math.isinf, made)) and not given and "empty" not in func.name()


def _with_nan_in_empty(torch, run, *args):
    """What `run(*args)` returns, while torch fills memory that is not set with nan."""
    torch.use_deterministic_algorithms(True)
    try:
        return run(*args)
    finally:
        torch.use_deterministic_algorithms(False)


def _model_and_run(torch, layers, run, scale, start, shared):
    made = [_layer(torch, steps) for steps in layers]
    if run == "itself":
        made[-1] = _calling_itself(torch, made[-1])
    if shared:
        made.append(made[0])
    model = made[0] if len(made) == 1 else torch.nn.Sequential(*made)  # whose own name is empty
    x = numbers(torch, [2, 3], start, "float32") * scale

    def call():
        if run == "outside":
            return (x - x).log()
        if run in ("backward", "second"):
            y = x.clone().requires_grad_()
            return model(y).square().sum().sqrt().backward()
        if run == "loss":
            return made[0](x).sum().log().exp().sqrt()
        if run == "twice":
            return model(x * 0 + 1), model(x)
        if run == "caught":
            with contextlib.suppress(IndexError):
                model(x)
            return (x - x).log()
        model(x)
        if run in ERRORS:
            raise ERRORS[run](run)

    if run == "second":
        made[0].register_forward_hook(lambda module, args, result: result * 1.0)
    if run == "pre-hook":
        made[0].inner.register_forward_pre_hook(lambda *_: [][0])
    if run == "hook":
        made[0].inner.register_forward_hook(lambda *_: [][0])
    return model, call


def _case(*layers, run="forward", scale=1.0, shared=False):
    return {"layers": [*layers], "run": run, "scale": scale, "start": 1, "shared": shared}


@program(
    "clinic.memory.first_not_finite",
    cases=drawn(
        layers=several(several(sorted(STEPS), 1, 3), 1, 3), run=RUNS, scale=[1.0, 0.0, -1.0, 300.0], start=(0, 9), shared=bool
    ),
    edges=[
        *(_case([step]) for step in STEPS), *(_case(["double", step], scale=300.0) for step in STEPS),
        *(_case(["mask all"], ["softmax", step], scale=0.0) for step in ("double", "log")),
        *(_case([step, "double"], scale=0.0, run=run) for step in ("divide", "sqrt", "double") for run in RUNS),
        *(_case(["double"], ["double", "exp", "double"], scale=300.0, run=run, shared=True) for run in RUNS),
        _case(["add a mask"], ["softmax"]), _case(["row of nan"], ["reciprocal"]), _case(["reciprocal", "row of nan"]),
        _case(["double"], ["mask"], ["exp"], ["log"]), _case(["times nan"], ["log"]),
        *(_case(["double", f"{step} all"], scale=scale) for step in ("exp of", "log of", "divided by") for scale in (0.0, -1.0)),
        *(_case(*layers, run="caught", scale=0.0)
          for layers in ([["fails"]], [["double", "fails"]], [["double"], ["fails", "double"]])),
        *(_case(*layers, scale=0.0)
          for layers in ([["log", "fails"]], [["double", "fails"], ["log"]], [["log", "double", "fails"]])),
        *(_case(*layers, scale=0.0, run=run) for run in ("pre-hook", "hook")
          for layers in ([["log", "double"]], [["double"], ["log"]], [["double", "log"], ["double", "log"]])),
        *(_case(*layers, run="itself") for layers in ([["double"]], [["double", "double"], ["double"]], [["double"], ["log"]])),
    ],
    hint="compare what the operator is given, before it runs, with its result: nan and infinity are two questions. Which modules "
    "run when an error, also that of a hook, has been caught?",
    draws=40,
)  # fmt: skip
def first_not_finite(rl, **case):
    import torch

    model, run = _model_and_run(torch, **case)
    hooks = [[*m._forward_hooks, *m._forward_pre_hooks, *m._backward_hooks] for m in model.modules()]
    where = attempt(_with_nan_in_empty, torch, rl.clinic.memory.first_not_finite, model, run)
    hooked = hooks != [[*m._forward_hooks, *m._forward_pre_hooks, *m._backward_hooks] for m in model.modules()]
    return {"first": list(where) if isinstance(where, tuple) else where, "new hooks": hooked}


@first_not_finite.oracle
def first_of_all_calls(torch, **case):
    model, run = _model_and_run(torch, **case)
    names = {id(module): name for name, module in reversed([*model.named_modules()])}
    path = []
    calls, record = _recorded(torch, lambda: [*path, None][0])

    def entered(module, forward):
        def call(*args, **kwargs):
            path.insert(0, names[id(module)])
            try:
                return forward(*args, **kwargs)
            finally:
                del path[0]

        return call

    for module in {id(m): m for m in model.modules()}.values():
        module.forward = entered(module, module.forward)
    try:
        with record:
            _with_nan_in_empty(torch, run)
    except Exception as error:
        return {"first": attempt(_raise, error), "new hooks": False}
    for at, *call in calls:
        if _makes_nan(*call) or _makes_infinity(*call):
            func = call[0]
            return {"first": [at, str(func)], "new hooks": False}
    return {"first": None, "new hooks": False}


def _raise(error):
    raise error


# A softmax in half precision -----------------------------------------------------------------------------------------

KINDS = ("float16", "bfloat16", "float32")
SIZES = ["small", "large", "huge", "low", "lower", "lowest", "mixed", "equal", "zero"]
HIDDEN = ["same", "nan", "inf", "-inf", "max"]  # the scores at positions that are not allowed
MASKS = ["mixed", "all", "none", "one", "first row"]


def _scores(torch, kind, size, hidden, mask, rows, length, start, most_value):
    dtype = getattr(torch, kind)
    x = numbers(torch, [rows, length], start)
    most = torch.finfo(dtype).max
    scores = {
        "small": x, "large": x * 40, "huge": x.sign() * most,
        "low": -x.abs() * 300 - 100, "lower": x * 8 - 30000, "lowest": x * 0 - most, "equal": x * 0 + 100, "zero": x * 0,
        "mixed": x + torch.tensor([0.0, most, -most])[:rows, None],
    }[size].to(dtype)  # fmt: skip
    allowed = numbers(torch, [rows, length], start + 5) > 0
    if mask in ("all", "none"):
        allowed = torch.full_like(allowed, mask == "all")
    if mask == "one":
        allowed = torch.zeros_like(allowed)
        allowed[:, start % length] = True
    if mask == "first row":
        allowed[0] = False
    if hidden != "same":
        scores = scores.masked_fill(~allowed, most if hidden == "max" else float(hidden))
    return scores, (numbers(torch, [length, 2], start + 2) / 1.5 * most_value).to(dtype), allowed


def _exact(torch, scores, values, allowed):
    """The result in float64, row by row."""
    rows = []
    for row, keep in zip(scores.double(), allowed):
        kept = [i for i, each in enumerate(keep.tolist()) if each]
        if not kept:
            rows.append(values.double()[:0].sum(0))
            continue
        weights = (row[kept] - row[kept].max()).exp()
        rows.append((weights / weights.sum()) @ values.double()[kept])
    return torch.stack(rows)


def _scored(kind="float16", size="large", hidden="same", mask="mixed", rows=3, length=4, most_value=1.5):
    case = {"kind": kind, "size": size, "hidden": hidden, "mask": mask, "rows": rows, "length": length, "start": 1}
    return case | {"most_value": most_value}


def _gradients(torch, result, leaves, direction):
    if not result.requires_grad:
        return [torch.zeros_like(x) for x in leaves]
    grads = torch.autograd.grad(result, leaves, direction, allow_unused=True)
    return [torch.zeros_like(x) if grad is None else grad for grad, x in zip(grads, leaves)]


def _is_inexact_if_long(case, mine, theirs):
    return case["length"] > 5 and first_apart(mine, theirs) in ("finite", "result")


def _is_no_number_in_backward(case, mine, theirs):
    both = entries(mine, theirs)
    return first_apart(mine, theirs) == "gradients" and both[0]["on the way"] != both[1]["on the way"]


@program(
    "clinic.memory.attend",
    cases=drawn(
        kind=[*KINDS], size=SIZES, hidden=HIDDEN, mask=MASKS, rows=(1, 3), length=(1, 5), start=(0, 9),
        most_value=[1.5, 99.0],
    ),
    edges=[
        _scored(mask="all", rows=1, length=1),
        *(_scored(kind, size) for kind in KINDS for size in SIZES), *(_scored(mask=mask, size="small") for mask in MASKS),
        *(_scored(kind, hidden=hidden, mask=mask) for hidden in HIDDEN for kind, mask in
          (("float16", "mixed"), ("float32", "first row"), ("bfloat16", "none"))),
        *(_scored(kind, size, hidden, "first row")
          for kind in KINDS for size in ("lower", "huge", "mixed") for hidden in ("same", "max")),
        *(_scored(kind, "equal", mask="all", length=3000) for kind in KINDS), _scored("float16", "small", length=3000),
        *(_scored(kind, "equal", mask="all", rows=1, length=66000) for kind in KINDS),
        *(_scored(kind, "small", rows=1, length=100000, most_value=99.0) for kind in KINDS),
        *(_scored(kind, size, most_value=99.0) for kind in KINDS for size in SIZES),
    ],
    hint=first_of(
        when(_is_inexact_if_long, "the sum of a long row is not exact, or infinite: to which dtype is it rounded?"),
        when(
            _is_no_number_in_backward,
            "the result is finite, but a gradient passes through an operator that is not: nan times 0 is nan",
        ),
        explained(
            finite="no weight is inf, and none is nan: what is the largest number before exp, and what is the sum in "
            "a row of padding?",
            result="the result is finite, but another: has a score at a position that is not allowed a weight? Is the largest "
            "allowed score of the same row subtracted before exp?",
            hidden="the gradient of a score that is not allowed is 0",
            on_the_way="an operator on the way, or in backward, makes a nan or an infinity: which one does `first_not_finite` "
            "find?",
        ),
    ),
    draws=40,
)  # fmt: skip
def attend(rl, **case):
    import torch

    given = scores, values, allowed = _scores(torch, **case)
    leaves = [x.clone().requires_grad_() for x in (scores, values)]
    calls, record = _recorded(torch)
    with record:
        result = rl.clinic.memory.attend(*leaves, allowed)
        direction = numbers(torch, [*result.shape], 7).to(result.dtype)
        mine = _gradients(torch, result, leaves, direction)
    apart = case["size"] in ("huge", "mixed") or case["hidden"] == "max"  # a difference of two scores may be infinite

    def is_bad(*call):
        return _makes_nan(*call) or (not apart and _makes_infinity(*call))

    exact = [x.double().requires_grad_() for x in (scores.masked_fill(~allowed, 0.0), values)]
    right = _exact(torch, *exact, allowed)
    theirs = _gradients(torch, right, exact, direction.double())
    eps, most = torch.finfo(scores.dtype).eps, values.abs().max().double()

    eps += scores.shape[1] * torch.finfo(torch.float32).eps / 8  # a rounding of float32 for each position

    def near(x, y, room):
        return x.shape == y.shape and bool(((x.double() - y).abs() <= room * eps).all())

    return {
        "finite": bool(result.isfinite().all()),
        "result": near(result, right.detach(), 8 * most),
        "gradients": all(near(x, y, 16 + 16 * most * direction.abs().sum()) for x, y in zip(mine, theirs)),
        "hidden": not mine[0][~allowed].any(),
        "new": all(result.data_ptr() != x.data_ptr() for x in leaves),
        "only read": all(torch.equal(x.nan_to_num(1.0), y.nan_to_num(1.0)) for x, y in zip(leaves, given)),
        "dtype": str(result.dtype),
        "on the way": sorted({str(func) for _, func, *call in calls if is_bad(func, *call)}),
    }


@attend.oracle
def attended(torch, kind, **case):
    alike = dict.fromkeys(("finite", "result", "gradients", "hidden", "new", "only read"), True)
    return alike | {"dtype": f"torch.{kind}", "on the way": []}
