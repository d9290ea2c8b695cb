"""Checks of lab 13c: a function that is compiled again and again, on real torch."""

from __future__ import annotations

from ...engine.check import program
from ..cases import attempt, copied, drawn, explained, numbers, several
from ..shared_13 import names_changed, settings_changed

# What is guarded -----------------------------------------------------------------------------------------------------

VALUES = {  # the first value of each argument, and others by name
    "x": {
        "same": lambda torch: torch.ones(3), "numbers": lambda torch: torch.zeros(3), "longer": lambda torch: torch.ones(4),
        "double": lambda torch: torch.ones(3).double(), "learned": lambda torch: torch.ones(3, requires_grad=True),
        "gaps": lambda torch: torch.ones(6)[::2], "row": lambda torch: torch.ones(1, 3),
    },
    "rate": {"same": lambda torch: 0.5, "other": lambda torch: 0.25, "tensor": lambda torch: torch.tensor(0.5)},
    "count": {"same": lambda torch: 2, "other": lambda torch: 3, "true": lambda torch: True},
    "mode": {"same": lambda torch: "mean", "other": lambda torch: "sum", "built": lambda torch: "".join(["me", "an"])},
    "names": {"same": lambda torch: ["a", "b"], "other": lambda torch: ["b", "c"], "longer": lambda torch: ["a", "b", "c"]},
    "options": {
        "same": lambda torch: {"shift": 1, "note": "first"}, "shift": lambda torch: {"shift": 2, "note": "first"},
        "note": lambda torch: {"shift": 1, "note": "second"}, "more": lambda torch: {"shift": 1, "note": "first", "new": 0},
        "turned": lambda torch: {"note": "first", "shift": 1},
    },
    "flag": {"same": lambda torch: True, "other": lambda torch: False},
    "low": {"same": lambda torch: 3, "other": lambda torch: 4},
    "high": {"same": lambda torch: 5, "other": lambda torch: 6},
    "size": {"same": lambda torch: 7, "other": lambda torch: 8},
    "labels": {"same": lambda torch: ["a", "b"], "other": lambda torch: ["c"]},
    "base": {"same": lambda torch: torch.ones(3), "other": lambda torch: torch.zeros(3)},
}  # fmt: skip
SHARED = {"labels": "names", "base": "x"}  # arguments that may be the same object as others of the first ones
TERMS = {  # a line for each use of arguments
    "rate": "x = x * rate",
    "count": "x = x + count",
    "mode": "x = x.mean() + x if mode == 'mean' else x.sum() + x",
    "length": "x = x * len(names)",
    "first name": "x = x + (1 if names[0] == 'a' else 2)",
    "shift": "x = x + options['shift']",
    "options": "x = x * len(options)",
    "new": "x = x + (1 if 'new' in options else 2)",
    "first key": "x = x * (1 if [*options][0] == 'shift' else 2)",
    "training": "x = x * 2 if count > 1 else x",
    "one of two": "x = x * (low if flag else high)",
    "one of three": "x = x + (high if mode == 'sum' else low if count > 2 else size)",
    "size": "x = x - size",
    "unused": "note = options",
    "labels": "x = x * len(labels)",
    "base": "x = x + base.sum()",
    "sizes": "x = x / x.shape[0]",
}


def _function(terms, keywords=False):
    """A function with these lines. With `keywords`, its parameters are keyword-only."""
    space = {}
    lines = ["x = x * 2", *(TERMS[term] for term in terms), "return x"]
    exec(f"def script({'*, ' * keywords}{', '.join(VALUES)}):\n" + "\n".join(f"    {line}" for line in lines), space)
    return space["script"]


class Watched(dict):
    """A dict that knows whether a method has written to it."""

    written = False


def _noting(method):
    def write(self, *args, **kwargs):
        self.written = True
        return method(self, *args, **kwargs)

    return write


for _name in ("__setitem__", "__delitem__", "__ior__", "update", "setdefault", "pop", "popitem", "clear"):
    setattr(Watched, _name, _noting(getattr(dict, _name)))


def _arguments(torch, changed, turns=0, shared=""):
    """The first and the second arguments, in other orders than the function's: the first ones are so many places on. With `shared`,
    some of the `"first"` or of the `"second"` ones are the same objects as others of the first ones."""
    names = [*VALUES][turns:] + [*VALUES][:turns]
    first = {name: VALUES[name]["same"](torch) for name in names}
    second = {name: VALUES[name][changed.get(name, "same")](torch) for name in reversed(VALUES)}
    for name, other in SHARED.items() if shared else ():
        (first if shared == "first" else second)[name] = first[other]
    return Watched(first), Watched(second)


def _change(st):
    return st.fixed_dictionaries({name: st.sampled_from(list(values)) for name, values in VALUES.items()})


def _others(i):
    """Other values of all arguments: the i-th one of each, or its last one."""
    return {name: [*values][min(i, len(values) - 1)] for name, values in VALUES.items()}


def _state(torch, **arguments):
    """What shows a change of these dicts, of what they hold, and of Dynamo's settings, by name."""
    state = {f"torch._dynamo.config.{name}": value for name, value in torch._dynamo.config.get_config_copy().items()}
    for which, each in arguments.items():
        state |= {f"the names in {which}": [*each], f"{which} is written to": each.written}
        for name, value in each.items():
            version = value._version if isinstance(value, torch.Tensor) else 0
            state[f"{which}[{name!r}]"] = id(value), repr(value), version
    return state


@program(
    "clinic.compilers.guarded",
    cases=drawn(
        terms=several(sorted(TERMS), 1, 4), changed=_change, keywords=bool, turns=(0, len(VALUES) - 1),
        shared=["", "first", "second"],
    ),
    edges=[
        *({"terms": sorted(TERMS), "changed": _others(i), "turns": 2 * i} for i in range(1, 5)),
        {"terms": sorted(TERMS), "changed": _others(1) | {"x": "longer"}},  # more than Dynamo compiles again
        {"terms": ["rate", "unused"], "changed": _others(1)},
        {"terms": ["shift", "size"], "changed": _others(3), "keywords": True},
        {"terms": ["one of two"], "changed": _others(1), "turns": 6},
        {"terms": ["one of three", "one of two"], "changed": _others(1), "keywords": True, "turns": 9},
        {"terms": ["options"], "changed": _others(4)}, {"terms": ["new"], "changed": _others(3)},
        *({"terms": ["labels", "length", "base"], "changed": {}, "shared": shared, "turns": turns}
          for shared, turns in (("first", 0), ("second", 4))),
    ],
    hint=explained(
        changed="the dicts and what they hold are only read, and a setting of Dynamo stays what it was: these are others",
        names="compile anew for each argument, with the first arguments, and then call by keywords with only this one changed",
    ),
    draws=2,
    disposable=True,
)  # fmt: skip
def guarded(rl, terms, changed, keywords=False, turns=0, shared=""):
    import torch

    torch._dynamo.reset()
    first, second = _arguments(torch, changed, turns, shared)
    before = _state(torch, first=first, second=second)
    names = list(rl.clinic.compilers.guarded(_function(terms, keywords), first, second))
    return {"changed": names_changed(before, _state(torch, first=first, second=second)), "names": names}


@guarded.oracle
def compilations_counted(torch, terms, changed, keywords=False, turns=0, shared=""):
    from torch._dynamo.testing import CompileCounter

    first, second = _arguments(torch, changed, turns, shared)
    blamed = []
    for name in first:
        torch._dynamo.reset()
        counter = CompileCounter()
        compiled = torch.compile(_function(terms), backend=counter)
        compiled(**first)
        before = counter.frame_count
        compiled(**(first | {name: second[name]}))
        if counter.frame_count > before:
            blamed.append(name)
    return {"changed": [], "names": blamed}


# A counter that is no guard ------------------------------------------------------------------------------------------


INPUTS = {  # sizes and dtype
    "vector": ([3], "float32"), "double": ([3], "float64"), "half": ([], "float16"), "brain": ([2, 2], "bfloat16"),
    "large": ([2], "float32"),
}  # fmt: skip


def _input(torch, kind, start):
    sizes, dtype = INPUTS[kind]
    return numbers(torch, sizes, start, dtype) * (1e38 if kind == "large" else 1)


def _warmed_up(torch, make, steps, calls, start, others, kind):
    """What a compiled module does in some calls, and what a module does that loads its state."""
    from torch._dynamo.testing import CompileCounter

    settings = torch._dynamo.config.get_config_copy()
    module, counter = make(steps), CompileCounter()
    torch._dynamo.reset()
    compiled = torch.compile(module, backend=counter, fullgraph=True)
    inputs = [_input(torch, kind, start + i) for i in range(calls)]
    results = [attempt(lambda x=x: copied(compiled(x))) for x in inputs]
    compilations = counter.frame_count
    torch._dynamo.reset()
    for _ in range(MANY * (others > steps)):
        module(torch.ones(1))
    loaded, new = make(others), make(steps)
    attempt(loaded.load_state_dict, module.state_dict())
    x = torch.ones(3, requires_grad=True)
    last = [loaded(x), loaded.eval()(torch.ones(3)), loaded(torch.ones(3)), new(torch.ones(3))]
    if last[0].requires_grad:
        last[0].sum().backward()
    return {
        "settings": settings_changed(torch, settings),
        "kinds": [str(y.dtype) if hasattr(y, "dtype") else y for y in results],
        "results": results,
        "exact": kind != "double" or all(map(_is_exact, results, inputs, range(1, calls + 1), [steps] * calls)),
        "inputs": all(torch.equal(x, _input(torch, kind, start + i)) for i, x in enumerate(inputs)),
        "loaded": [*map(copied, last[:3])],
        "new": copied(last[3]),
        "gradient": x.grad,
        "compilations": compilations,
        "parameters": len([*module.parameters()]),
        "state": attempt(_numbers_in, module.state_dict()),
        "counted": [attempt(_beyond, torch, make, *each) for each in COUNTED],
    }


def _numbers_in(state):
    return [float(number) for value in state.values() for number in value.flatten()]


COUNTED = [(2**52, 2**51, "float64"), (100_000, 69_999, "float16"), (100_000, 69_999, "bfloat16")]
BEYOND = [("float64", 1, 2), ("float16", 0.7, 0.7), ("bfloat16", 0.7, 0.7)]  # what `_beyond` gives for each


def _beyond(torch, make, steps, calls, kind):
    """How much the factors of two calls are above those of so many calls, in steps."""
    module, x = make(steps), torch.ones(3, dtype=getattr(torch, kind))
    module.load_state_dict({name: torch.full_like(value, calls) for name, value in module.state_dict().items()})
    results = [module(x) for _ in range(2)]
    return [(y - calls / steps) * steps for y in results] if kind == "float64" else results


def _is_exact(y, x, n, steps):
    return hasattr(y, "dtype") and bool((y - x * min(1.0, n / steps)).abs().max() < 1e-12)


MANY = 300  # calls that a small number cannot count


def _warming(steps, calls, others=None, kind="vector"):
    return {"steps": steps, "calls": calls, "start": 1, "others": others or steps, "kind": kind}


@program(
    "clinic.compilers.warmup",
    cases=drawn(steps=(1, 12), calls=(1, 14), start=(0, 9), others=[3, 7, 1000], kind=sorted(INPUTS)),
    edges=[
        _warming(4, 14), _warming(1, 2, 1000), _warming(20, 12), _warming(3, 3, 8), _warming(5, 1),
        _warming(3, 5, 1000), _warming(7, 4, 3), *(_warming(3, 4, kind=kind) for kind in INPUTS),
    ],
    hint=explained(
        settings="a setting of Dynamo hides the symptom in this process only: these are changed",
        kinds="the result is of the dtype of x, also if x is a number",
        results="the factor of the n-th call is n / steps, and at most 1",
        inputs="x is only read",
        loaded="a loaded module goes on counting all calls, in eval mode and with other steps too",
        gradient="the gradient of the product flows to x",
        compilations="a number of Python that changes is compared at each call",
        state="the state dict has one entry, and its only element is the number of this module's calls",
        counted="a module that loads a count of many calls goes on: each of them counts, and the factor is exact",
    ),
    draws=6,
    disposable=True,
)  # fmt: skip
def warmup(rl, **case):
    import torch

    return _warmed_up(torch, rl.clinic.compilers.warmup, **case)


@warmup.oracle
def warmed_up_in_eager(torch, steps, calls, start, others, kind):
    results = [copied(_input(torch, kind, start + i) * min(1.0, (i + 1) / steps)) for i in range(calls)]
    called = calls + MANY * (others > steps)
    factors = [min(1.0, (called + i) / others) for i in (1, 2, 3)]
    return {
        "settings": [],
        "kinds": [str(getattr(torch, INPUTS[kind][1]))] * calls,
        "results": results,
        "exact": True,
        "inputs": True,
        "loaded": [torch.ones(3) * factor for factor in factors],
        "new": torch.ones(3) * min(1.0, 1 / steps),
        "gradient": torch.ones(3) * factors[0],
        "compilations": 1,
        "parameters": 0,
        "state": [float(called)],
        "counted": [
            [torch.full((3,), number, dtype=getattr(torch, kind)) for number in numbers] for kind, *numbers in BEYOND
        ],
    }
