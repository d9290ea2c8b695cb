"""The check that runs all pieces of the lab together."""

from ...engine.check import program
from ..shared_02.together import _programs, _run


@program("together.calls", cases=lambda st: _programs(st, intercepted=False), disposable=True)
def registrations_and_calls(xp, kernels, later, fallbacks, calls):
    return _run(xp, kernels, later, fallbacks, calls)
