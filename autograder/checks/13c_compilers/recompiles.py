"""Checks of lab 13c: a function that is compiled again and again, on real torch."""

from __future__ import annotations

from ...engine.check import program
from ..cases import attempt, copied, drawn, explained, numbers, several

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
        "note": lambda torch: {"shift": 1, "note": "second"},
    },
}  # fmt: skip
TERMS = {  # a line for each use of arguments
    "rate": "x = x * rate",
    "count": "x = x + count",
    "mode": "x = x.mean() + x if mode == 'mean' else x.sum() + x",
    "length": "x = x * len(names)",
    "first name": "x = x + (1 if names[0] == 'a' else 2)",
    "shift": "x = x + options['shift']",
    "training": "x = x * 2 if count > 1 else x",
    "unused": "note = options",
    "sizes": "x = x / x.shape[0]",
}


def _function(terms):
    space = {}
    lines = ["x = x * 2", *(TERMS[term] for term in terms), "return x"]
    exec(f"def script({', '.join(VALUES)}):\n" + "\n".join(f"    {line}" for line in lines), space)
    return space["script"]


def _arguments(torch, changed):
    first = {name: values["same"](torch) for name, values in VALUES.items()}
    return first, {name: VALUES[name][changed.get(name, "same")](torch) for name in reversed(VALUES)}


def _change(st):
    return st.fixed_dictionaries({name: st.sampled_from(list(values)) for name, values in VALUES.items()})


def _others(i):
    """Other values of all arguments: the i-th one of each, or its last one."""
    return {name: [*values][min(i, len(values) - 1)] for name, values in VALUES.items()}


@program(
    "clinic.compilers.guarded",
    cases=drawn(terms=several(sorted(TERMS), 1, 4), changed=_change),
    edges=[
        *({"terms": sorted(TERMS), "changed": _others(i)} for i in range(1, 6)),
        {"terms": ["unused"], "changed": _others(1)}, {"terms": ["rate", "length"], "changed": _others(1)},
    ],
    hint="compile anew for each argument, with the first arguments, and then call with only this one changed",
    draws=2,
    disposable=True,
)  # fmt: skip
def guarded(rl, terms, changed):
    import torch

    torch._dynamo.reset()
    return list(rl.clinic.compilers.guarded(_function(terms), *_arguments(torch, changed)))


@guarded.oracle
def compilations_counted(torch, terms, changed):
    from torch._dynamo.testing import CompileCounter

    first, second = _arguments(torch, changed)
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
    return blamed


# A counter that is no guard ------------------------------------------------------------------------------------------


def _warmed_up(torch, make, steps, sizes, start, again):
    """The results of some calls of a compiled module, and the number of compilations."""
    from torch._dynamo.testing import CompileCounter

    module, counter, results = make(steps), CompileCounter(), []
    limit = torch._dynamo.config.recompile_limit, torch._dynamo.config.allow_unspec_int_on_nn_module
    torch._dynamo.reset()
    compiled = torch.compile(module, backend=counter, fullgraph=True)
    for i in range(sizes):
        results.append(attempt(lambda i=i: copied(compiled(numbers(torch, [3], start + i, "float32")))))
    loaded = make(steps)
    attempt(loaded.load_state_dict, module.state_dict())
    results += [copied(loaded(torch.ones(3))) for _ in range(again)]
    torch._dynamo.reset()
    return {
        "results": results,
        "compilations": counter.frame_count,
        "parameters": len([*module.parameters()]),
        "settings": limit == (torch._dynamo.config.recompile_limit, torch._dynamo.config.allow_unspec_int_on_nn_module),
    }


@program(
    "clinic.compilers.warmup",
    cases=drawn(steps=(1, 12), sizes=(1, 14), start=(0, 9), again=(0, 2)),
    edges=[
        {"steps": steps, "sizes": sizes, "start": 1, "again": again}
        for steps, sizes, again in ((4, 14, 1), (1, 2, 0), (20, 12, 2), (3, 3, 1), (5, 1, 2))
    ],
    hint=explained(
        results="the factor of the n-th call is n / steps, and at most 1; a loaded module goes on counting",
        compilations="a number of Python that changes is compared at each call",
        settings="a limit that is raised hides the symptom in this process only",
    ),
    draws=6,
    disposable=True,
)
def warmup(rl, **case):
    import torch

    return _warmed_up(torch, rl.clinic.compilers.warmup, **case)


@warmup.oracle
def warmed_up_in_eager(torch, steps, sizes, start, again):
    results = []
    for i in range(sizes + again):
        x = numbers(torch, [3], start + i, "float32") if i < sizes else torch.ones(3)
        results.append(copied(x * min(1.0, (i + 1) / steps)))
    return {"results": results, "compilations": 1, "parameters": 0, "settings": True}
