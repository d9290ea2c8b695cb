"""Checks of lab 02: autocast as a kernel of the dispatcher."""

import re
from contextlib import ExitStack
from functools import partial

from ...engine.check import program
from ..cases import defaults, drawn, explained, field, first_apart, first_of, is_torch, several, tensor, when
from ..shared_02.keys import bits_of
from ..shared_02.operators import attempt, example, mode, threaded

_CAST = ["float16", "float32", "float32", "float64", "int64", "bool"]


def typed(xp, value, kind=list):
    """A value in a case: `"float32 cpu"` is a tensor. Sequences become lists, or tuples."""
    if isinstance(value, (list, tuple)):
        return kind(typed(xp, item, kind) for item in value)
    return example(xp, *reversed(value.split())) if isinstance(value, str) and " " in value else value


def _as_code(value):
    """A value in a case as code."""
    if isinstance(value, list):
        return f"[{', '.join(map(_as_code, value))}]"
    if not isinstance(value, str) or " " not in value:
        return repr(value)
    kind, device = value.split()
    return f"torch.empty(1, dtype=torch.{kind}{', device=' + repr(device) if device != 'cpu' else ''})"


def types(xp, value):
    """The dtype and device of each tensor in a result."""
    if isinstance(value, (list, tuple)):
        return [types(xp, item) for item in value]
    return [value.dtype, str(value.device)] if isinstance(value, xp.Tensor) else value


def _values(st):
    tensors = st.tuples(st.sampled_from(_CAST), st.sampled_from(["cpu", "cpu", "meta"])).map(" ".join)
    one = st.one_of(tensors, tensors, st.sampled_from([None, 3, 2.5, True, "mean"]))
    return st.lists(st.one_of(one, one, st.lists(one, max_size=3)), max_size=4)


_NESTED = [["float16 cpu", ["float32 cpu", [["float32 cpu"]]], None], 1]
_VALUES = [
    ["float32 cpu"], ["float16 cpu"], ["float64 cpu"], ["int64 cpu"], ["bool cpu"], ["float32 meta"],
    [3, None, 2.5, True, "mean"], [["float32 cpu", "float16 cpu"], "int64 cpu"], [["float16 cpu", "float32 cpu"], 1],
    _NESTED, [["float16 cpu", "float64 cpu"], "float16 cpu"], [["float16 cpu"], "float32 meta", "int64 cpu"], [[], 2],
    [],
]  # fmt: skip


@program(
    "amp.autocast_mode.cached_cast",
    cases=drawn(to=["float16", "float32"], values=_values),
    edges=[{"to": to, "values": values} for to in ("float16", "float32") for values in _VALUES],
    disposable=True,
    show=lambda torch, to, values: f"to = torch.{to}\nvalues = {_as_code(values)}",
    hint=when(
        lambda case, mine, theirs: (
            first_apart(mine, theirs) == "calls" and field(field(mine, "calls"), "the same dtype")
        ),
        "a tensor that has the dtype already is passed on without a call",
    ),
)
def cast(xp, to, values):
    function = partial(xp.autocast_mode.cached_cast, getattr(xp, to))
    return _casts(xp, function, values) | {"calls": _calls_for_two(xp, to, lambda x: function([x, x]))}


@cast.oracle
def _(torch, to, values):
    """The casts of `custom_fwd`, and the calls of a kernel of autocast with two tensors."""
    casts = _casts(torch, lambda value: torch.amp.autocast_mode._cast(value, "cpu", getattr(torch, to)), values)
    loss = partial(torch.nn.functional.mse_loss, reduction="none")
    kernel = {"float16": torch.mm, "float32": loss}[to]  # of either policy
    with torch.autocast("cpu", dtype=torch.float16):
        return casts | {"calls": _calls_for_two(torch, to, lambda x: kernel(x, x))}


def _calls_for_two(xp, to, cast):
    """The casts that are called for two tensors, which have this dtype or another one."""
    counts = {}
    for kind in ("float16", "float32"):
        x = example(xp, "cpu", kind).reshape(1, 1)
        _, names = _called(xp, lambda: cast(x))  # noqa: B023
        counts["the same dtype" if kind == to else "another dtype"] = names.count("aten::to")
    return counts


def _casts(xp, cast, values):
    """The types of the values when they have been cast, and afterwards; which of them stay the same object; and the
    number in a tensor, cast before and after a write, also if it requires a gradient, which the result requires, too."""
    tuples, values = typed(xp, values, tuple), typed(xp, values)
    cast_types, numbers = [types(xp, cast(value)) for value in [*values, *tuples]], []
    same = [cast(value) is value for value in values]
    for number in (example(xp, "cpu"), example(xp, "cpu").requires_grad_()):
        for new in (2.0, 3.0):
            number.detach().fill_(new)
            cast_number = cast([number])[0]
            numbers.append([cast_number.item(), cast_number.requires_grad])
    return {"casts": cast_types, "same objects": same, "values afterwards": types(xp, values), "cast anew": numbers}


@program(
    "amp.autocast_mode.promote_type",
    cases=drawn(values=_values, lower=["float16"]),
    edges=[
        *(
            {"values": values, "lower": "float16"} for values in _VALUES if values != _NESTED
        ),  # no operator takes such a list
        *({"values": values, "lower": "bfloat16"} for values in ([], ["float32 cpu"], ["float64 cpu", 2.5])),
    ],
    show=lambda torch, values, lower: f"stack = {_as_code(values)}  # within torch.autocast('cpu', torch.{lower})",
    hint=when(
        lambda case, mine, theirs: "meta" in f"{case['values']}",
        "a tensor counts if it is eligible: `is_eligible` says whether autocast for the CPU casts it",
    ),
)
def promoted(xp, values, lower):
    with xp.autocast("cpu", dtype=getattr(xp, lower)):
        return [xp.autocast_mode.promote_type(typed(xp, values, kind)) for kind in (list, tuple)]


@promoted.oracle
def _(torch, values, lower):
    """The dtype of one more tensor, in the lower precision, when `cat` has joined all of them."""

    def tensors(value):
        if isinstance(value, (list, tuple)):
            return [tensor for item in value for tensor in tensors(item)]
        return [value] if isinstance(value, torch.Tensor) else []

    class Below(torch.utils._python_dispatch.TorchDispatchMode):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            if func.name() != "aten::cat":
                return func(*args, **(kwargs or {}))
            seen.append(args[0][0].dtype)
            return args[0][0]

    lower = getattr(torch, lower)
    seen, probe = [], torch.ones(1, dtype=lower)
    with torch.autocast("cpu", dtype=lower), Below():
        torch.cat([probe, *tensors(typed(torch, values))])
    return [seen[0]] * 2


def _operands(st):
    """An operator of one of autocast's lists, or of none, and matrices for it."""
    dtypes = [["float16", "float32"], ["float16", "float32"], ["float64"], ["float16", "float32", "float64"]]
    settings = several([True, True, False], 0, 2)

    def of_dtypes(some):
        matrix = st.sampled_from(some).map(_matrix)
        rarely = [False] * 7 + [True]
        more = {
            "enabled": settings,
            "interrupted": rarely,
            "elsewhere": rarely,
            "lower": ["float16"],
            "excluded": rarely,
        }
        return drawn(name=sorted(_OPERATORS), a=matrix, b=matrix, **more)(st)

    return st.sampled_from(dtypes).flatmap(of_dtypes)


_OPERATORS = {  # how to call each with two square matrices
    "mm": lambda ops, a, b: ops.mm(a, b), "matmul": lambda ops, a, b: ops.matmul(a, b),
    "linear": lambda ops, a, b: ops.linear(a, b),
    "linear with a bias": lambda ops, a, b: ops.linear(a, b, ops.select(b, 0, 0)),
    "addmm": lambda ops, a, b: ops.addmm(a, a, b),
    "addmm with numbers": lambda ops, a, b: ops.addmm(a, a, b, beta=2, alpha=3),
    "bmm": lambda ops, a, b: ops.bmm(ops.unsqueeze(a, 0), ops.unsqueeze(b, 0)), "prod": lambda ops, a, b: ops.prod(b),
    "prod.dim_int": lambda ops, a, b: ops.prod(b, 1, True), "cat": lambda ops, a, b: ops.cat([a, b], 1),
    "stack": lambda ops, a, b: ops.stack([a, b], -1), "add": lambda ops, a, b: ops.add(a, b),
    "index_copy": lambda ops, a, b: ops.index_copy(a, 0, ops.arange(2), b),
}  # fmt: skip


def _matrix(dtype):
    return tensor([2, 2], dtype=dtype)


_autocasting = defaults(
    name="mm", a=None, b=None, enabled=[True], interrupted=False, elsewhere=False, lower="float16", excluded=False
)


@program(
    "amp.autocast_mode.autocast_kernel",
    cases=_operands,
    edges=[
        _autocasting(name, _matrix(a), _matrix(b), enabled)
        for name in _OPERATORS
        for a, b, enabled in (
            ("float32", "float32", [True]), ("float16", "float32", [True]), ("float64", "float32", [True]),
            ("float32", "float16", [True, False]),
        )
    ]
    + [
        _autocasting(name, _matrix(dtype), _matrix(dtype), enabled)
        for name, dtype, enabled in (
            ("mm", "float64", [True]), ("cat", "float16", [True]), ("prod", "float16", [False, True]),
            ("mm", "int64", []),
        )
    ]
    + [
        _autocasting(name, _matrix(dtype), _matrix(dtype), interrupted=interrupted, elsewhere=elsewhere)
        for name, dtype, interrupted, elsewhere in (
            ("mm", "float32", True, False), ("prod", "float16", True, False), ("cat", "float16", True, False),
            ("mm", "float16", True, False), ("mm", "float32", False, True),
        )
    ]
    + [_autocasting("mm", _matrix("float32"), _matrix("float32"), lower="bfloat16")]
    + [_autocasting("mm", _matrix(dtype), _matrix("float32"), excluded=True) for dtype in ("float32", "float64")],
    disposable=True,
    hint=first_of(
        when(
            lambda case, mine, theirs: (field(mine, "calls") or 0) > (field(theirs, "calls") or 0),
            "the arguments are cast before the call, and its result stays as it is",
        ),
        explained(
            casts_under_autocast="exclude AutocastCPU first: the casts too are calls of operators",
            calls="the kernel calls the operator again, with `invoke`, and does not redispatch",
        ),
    ),
)  # fmt: skip
def autocasting(xp, name, a, b, enabled, interrupted, elsewhere, lower, excluded):
    run = partial(_under_autocast, xp, name, a, b, enabled, interrupted, lower, excluded)
    return threaded(run) if elsewhere else run()


def _under_autocast(xp, name, a, b, enabled, interrupted, lower, excluded):
    """If `interrupted`, the first call below autocast is interrupted: a cast, or the operator. If `excluded`, the key is excluded
    already, and a redispatch of `mm` runs the kernel."""
    made, casts = xp.library.Library("aten", "IMPL"), []

    def cast_under_autocast(self, **options):
        casts.append(name)
        with xp._C._ExcludeDispatchKeyGuard(bits_of(xp, ["AutocastCPU"])):
            return xp.ops.aten._to_copy(self, **options)

    with ExitStack() as stack:
        stack.callback(made._destroy)
        made.impl("_to_copy", cast_under_autocast, "AutocastCPU")
        for flag in enabled:
            stack.enter_context(xp.autocast("cpu", dtype=getattr(xp, lower), enabled=flag))
        if interrupted:
            stack.enter_context(mode(xp, None, 0, "interrupt", []))
        call = partial(_OPERATORS[name], xp.ops.aten, a, b)
        if excluded:
            stack.enter_context(xp._C._ExcludeDispatchKeyGuard(bits_of(xp, ["AutocastCPU"])))
            call = partial(xp.ops.aten.mm.default.redispatch, bits_of(xp, ["AutocastCPU", "CPU"]), a, b)
        result, calls = _called(xp, lambda: attempt(call))
        return {
            "result": result, "enabled": xp.is_autocast_enabled("cpu"), "casts under autocast": [] if name == "add" else casts,
            "calls": calls.count(f"aten::{re.split('[ .]', name)[0]}"),
        }  # fmt: skip


def _called(xp, run):
    """The result of `run()`, and the name of every operator that it called, without overloads."""
    if is_torch(xp):
        xp.autograd._enable_profiler_legacy(xp.autograd.profiler_legacy.profile().config())  # writes nothing to stderr
        try:
            result = run()
        finally:
            threads = xp.autograd._disable_profiler_legacy()
        return result, [event.name() for events in threads for event in events if event.kind() == "push"]
    lines = []
    with xp.dispatch.show_dispatch_trace(lines.append):
        result = run()
    return result, [re.search(r"op=\[([\w:]+)", line)[1] for line in lines if line.lstrip().startswith("[call]")]
