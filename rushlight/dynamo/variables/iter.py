"""`IteratorVariable`: an iterator of the captured function, which runs as a Python iterator over variables.

An iterator that the function leaves half consumed must be made again after the graph. That of a container knows the container and
how far it is, and some others know the call that made them. In PyTorch: `torch/_dynamo/variables/iter.py`, `lists.py`
(`ListIteratorVariable`), `functions.py` (`LocalGeneratorObjectVariable`). Left out: `send`, `throw` and `close` of generators.
"""

from collections.abc import Iterator
from typing import Any

from rushlight.dynamo.exc import Unsupported
from rushlight.dynamo.variables.base import VariableTracker
from rushlight.dynamo.variables.misc import GetAttrVariable


class IteratorVariable(VariableTracker):
    """An iterator: `steps` gives variables, and `taken` counts them.

    `over` is the container that it iterates over. `made` is the call that made it: the callable, its arguments and keyword
    arguments.
    """

    def __init__(self, steps: Iterator, over: Any = None, cls: type | None = None, made: tuple | None = None) -> None:
        self.steps, self.over, self.taken, self.cls, self.made = steps, over, 0, cls or type(iter([])), made

    def next_variable(self, tx):
        item = next(self.steps, None)
        self.taken += item is not None
        return item

    def iterate(self, tx):
        return self

    def var_getattr(self, tx, name):
        return GetAttrVariable(self, name) if name in ("__next__", "send", "close") else super().var_getattr(tx, name)

    def call_method(self, tx, name, args, kwargs):
        if name != "__next__":
            raise Unsupported(f"{self.cls.__name__}.{name}")
        item = self.next_variable(tx)
        if item is None:
            raise tx.error(StopIteration)
        return item

    def reconstruct(self, codegen):
        if self.over is not None:
            name = codegen.remember(self, f"iter({codegen(self.over)})")
            if self.taken:
                codegen.lines.append(f"for _ in range({self.taken}): next({name})")
            return name
        if self.made is None or self.taken:
            return super().reconstruct(codegen)
        called, args, kwargs = self.made
        written = [codegen(arg) for arg in args] + [f"{key}={codegen(arg)}" for key, arg in kwargs.items()]
        called = codegen(called) if isinstance(called, VariableTracker) else codegen.bind(called)
        return codegen.name(f"{called}({', '.join(written)})")
