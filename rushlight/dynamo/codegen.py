"""`PyCodegen`: writes the Python around a graph, which creates the objects that the captured function created.

It gives an expression for a variable: its source, a part of the graph's result `out`, or what `reconstruct` of the variable's class
writes. Statements that must run first are in `lines`. In PyTorch: `torch/_dynamo/codegen.py`, which writes bytecode.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from rushlight.dynamo.guards import CONSTANTS, bind
from rushlight.dynamo.variables.base import Output, VariableTracker
from rushlight.dynamo.variables.lazy import LazyVariableTracker
from rushlight.dynamo.variables.tensor import TensorVariable


class PyCodegen:
    """Writes expressions for variables. `outputs` are the tensors that the graph must return."""

    def __init__(self, output: Output) -> None:
        self.output, self.scope = output, output.scope
        self.lines: list[str] = []
        self.outputs: list[TensorVariable] = []
        self.made: dict[VariableTracker, str] = {}  # the names of variables
        self.count = 0

    def name(self, text: str) -> str:
        """Give the value of an expression a new name."""
        self.count += 1
        self.lines.append(f"t{self.count} = {text}")
        return f"t{self.count}"

    def remember(self, variable: VariableTracker, text: str) -> str:
        """Give a variable a new name before its parts are made, because they may contain it."""
        self.made[variable] = self.name(text)
        return self.made[variable]

    def bind(self, value: Any, hint: str = "") -> str:
        return bind(self.scope, value, hint)

    def __call__(self, variable: VariableTracker) -> str:
        if isinstance(variable, LazyVariableTracker) and variable.real is not None:
            variable = variable.real
        return load_value(self, variable)

    def realize_constants(self, items: Iterable[VariableTracker]) -> None:
        """PyTorch guards on a number from before that is put into a new list or dict, or is on the stack at a break."""
        for item in items:
            if isinstance(item, LazyVariableTracker) and type(item.value) in CONSTANTS:
                item.realize()


def load_value(codegen: PyCodegen, variable: VariableTracker) -> str:
    """An expression for the value of a variable, for the code that runs after the graph.

    Where does Python find the value? The code after the graph knows the values from before the capture, by their sources, and
    `out`, the list of what the graph returned. `codegen.outputs`, a list of variables, says what the graph returns. It begins
    empty, and this function appends to it. The graph returns no tensor that Python has already, and no tensor twice.

    - A value from before the capture has a `source`, an expression, which is None for a new value. Read a source through
      `codegen.remember(variable, text)`, or a replayed write may change it first. `remember` reads the expression `text` once, and
      returns the name of its value. It enters this name in the dict `codegen.made`, by variable.
    - A new tensor is a `TensorVariable`. Two variables are the same tensor if they have the same object as their `fake`: an
      operation in place returns the tensor that it was given.
    - Anything else, such as a constant or a new list, must be created: `variable.reconstruct(codegen)` writes this, and returns an
      expression for the object. It calls `codegen` for the parts of the object. Two expressions for one variable must give one
      object. `codegen(variable)` calls this function each time, and does not look in `codegen.made` itself. So make the object
      once, and enter its expression in `codegen.made`, directly or by `remember`. `reconstruct` has already done this for objects
      that may contain themselves.

    >>> f = lambda x: (x + 1, x)
    >>> explanation = rl.dynamo.explain(f)(rl.ones(2))
    >>> explanation.graphs[0].graph.output_node().args
    ((add,),)

    Source: `torch/_dynamo/codegen.py`, `PyCodegen.__call__`.
    """
    if isinstance(variable, TensorVariable) and variable.source is None:
        for i, other in enumerate(codegen.outputs):
            if other.fake is variable.fake:
                return f"out[{i}]"
        codegen.outputs.append(variable)
        return f"out[{len(codegen.outputs) - 1}]"
    if variable not in codegen.made:
        if variable.source is not None:
            return codegen.remember(variable, variable.source)
        codegen.made.setdefault(variable, variable.reconstruct(codegen))
    return codegen.made[variable]
