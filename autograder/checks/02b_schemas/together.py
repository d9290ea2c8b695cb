"""The check that runs all pieces of the lab together."""

from ...engine.check import program
from ..shared_02.together import _programs, _run


@program("together.dispatcher", cases=lambda st: _programs(st, intercepted=True), disposable=True)
def dispatcher(xp, kernels, later, fallbacks, calls):
    return _run(xp, kernels, later, fallbacks, calls)
