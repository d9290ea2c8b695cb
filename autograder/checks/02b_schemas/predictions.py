"""Predictions: the kernels that a call runs, in order."""

from __future__ import annotations

import warnings
from contextlib import contextmanager

from rushlight.course import draws

from ...engine.check import program
from ..cases import PARTS, predicting
from .autocast import _called

_KEYS = ("BackendSelect", "AutocastCPU", "AutogradCPU", "AutogradMeta", "ADInplaceOrView", "CPU", "Meta")


for part in PARTS:

    @program(f"course.predictions.kernels_run{part}", **predicting("kernels_run", part), disposable=True)
    def kernels_run(rl, number=0):
        return rl.course.predictions.kernels_run()


@kernels_run.oracle
def kernels_in_order(torch, number=0):
    setup, _, calls = draws.program("kernels_run", number).partition("# the call")
    names = {"xp": torch}
    exec(setup, names)
    calls = compile(calls.partition(":\n")[2], "calls", "exec")
    _, operators = _called(torch, lambda: exec(calls, dict(names)))  # `add_` may run twice: its values are not compared
    with _recorded(torch, {*operators}) as ran:
        exec(calls, names)
    return ran


@contextmanager
def _recorded(torch, operators):
    """Within: a list of the kernels of these operators that run, outside of the kernels of backends. Each kernel is replaced by
    one that adds a line and calls it."""
    made, ran, kernels = torch.library.Library("aten", "IMPL"), [], []
    depth = [0]  # in kernels of backends

    def recording(name, key, is_composite, kernel):
        def run(key_set, *args, **kwargs):
            if depth[0] == 0:
                ran.append(f"{key} {name}")
            backend = key in ("CPU", "Meta") and not is_composite
            depth[0] += backend
            try:
                return kernel.call_boxed(key_set, *args, **kwargs)
            finally:
                depth[0] -= backend

        return run

    for overload in torch._C._dispatch_get_all_op_names():
        if overload.startswith("aten::") and overload.partition(".")[0] in operators:
            entries = dict(line.split(": ", 1) for line in torch._C._dispatch_dump_table(overload).splitlines())
            for key in [key for key in _KEYS if key in entries]:
                is_composite = entries[key].endswith("[math kernel]")
                if (
                    entries[key].startswith("fallthrough") or is_composite and key == "Meta"
                ):  # torch refuses to replace it
                    continue
                name = overload.removeprefix("aten::")
                kernel = torch.library.get_kernel(overload, key)
                kernels.append((name, recording(name.partition(".")[0], key, is_composite, kernel), key))
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # torch says that a kernel is replaced
            for name, run, key in kernels:
                made.impl(name, run, key, with_keyset=True)
        yield ran
    finally:
        made._destroy()
