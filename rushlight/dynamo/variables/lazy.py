"""`LazyVariableTracker`: a value from before the capture that nothing has looked at yet.

While it only passes through, it needs no guard: an argument that is returned as it is, an item of a list that nothing reads. The
first method that is called on it realizes it. In PyTorch: `torch/_dynamo/variables/lazy.py`. Left out: lazy constants.
"""

from collections.abc import Callable
from typing import Any

from rushlight.dynamo.exc import Unsupported
from rushlight.dynamo.variables.base import Builder, VariableTracker


class LazyVariableTracker(VariableTracker):
    """`real` is the variable behind it, None before `realize`."""

    def __init__(self, value: Any, source: str, builder: Builder) -> None:
        self.value, self.source, self.builder = value, source, builder
        self.real: VariableTracker | None = None

    def realize(self) -> VariableTracker:
        if self.real is None:
            self.real = self.builder.wrap(self.value, self.source)
        return self.real

    def as_python_constant(self) -> Any:
        if self.real is None:
            raise Unsupported("a value that was not looked at")
        return self.real.as_python_constant()


def realize_first(name: str) -> Callable:
    """A method that realizes the lazy variable and calls the method of this name on the result."""
    return lambda self, *args: getattr(self.realize(), name)(*args)


for _name in ("as_proxy", "var_getattr", "call_function", "call_method", "iterate", "next_variable"):
    setattr(LazyVariableTracker, _name, realize_first(_name))
