"""`PyCodegen`: the Python around a graph, which makes again what the captured function made.

It gives an expression for a variable: its source, a part of the graph's result `out`, or what `reconstruct` of the variable's class
writes. Statements that must run first are in `lines`. In PyTorch: `torch/_dynamo/codegen.py`, `side_effects.py`, which write
bytecode.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from rushlight.dynamo.guards import CONSTANTS, bind
from rushlight.dynamo.variables.base import VariableTracker
from rushlight.dynamo.variables.constant import ConstantVariable
from rushlight.dynamo.variables.lazy import LazyVariableTracker
from rushlight.dynamo.variables.tensor import TensorVariable

if TYPE_CHECKING:
    from rushlight.dynamo.output_graph import OutputGraph


class PyCodegen:
    """Writes expressions for variables. `outputs` are the tensors that the graph must return."""

    def __init__(self, output: OutputGraph) -> None:
        self.output, self.scope = output, output.scope
        self.lines: list[str] = []
        self.outputs: list[TensorVariable] = []
        self.made: dict[VariableTracker, str] = {}  # the names of variables
        self.count = 0

    def name(self, text: str) -> str:
        """A new name for the value of an expression."""
        self.count += 1
        self.lines.append(f"t{self.count} = {text}")
        return f"t{self.count}"

    def remember(self, variable: VariableTracker, text: str) -> str:
        """A new name for a variable, before its parts are made: they may contain it."""
        self.made[variable] = self.name(text)
        return self.made[variable]

    def bind(self, value: Any, hint: str = "") -> str:
        return bind(self.scope, value, hint)

    def __call__(self, variable: VariableTracker) -> str:
        if isinstance(variable, LazyVariableTracker) and variable.real is not None:
            variable = variable.real
        if isinstance(variable, ConstantVariable) or variable.is_tensor() and variable.source is None:
            return variable.reconstruct(self)
        if variable not in self.made:
            if variable.source is not None:
                return self.remember(variable, variable.source)
            self.made.setdefault(variable, variable.reconstruct(self))
        return self.made[variable]

    def graph_output(self, variable: TensorVariable) -> str:
        """A tensor that the graph makes: a part of its result, or the input that an operation in place returned."""
        first = self.output.by_fake.get(id(variable.fake), variable)
        if first.source is not None:
            return self(first)
        for i, other in enumerate(self.outputs):
            if other.fake is variable.fake:
                return f"out[{i}]"
        self.outputs.append(variable)
        return f"out[{len(self.outputs) - 1}]"

    def realize_constants(self, items: Iterable[VariableTracker]) -> None:
        """PyTorch guards on a number from before that is put into a new list or dict, or is on the stack at a break."""
        for item in items:
            if isinstance(item, LazyVariableTracker) and type(item.value) in CONSTANTS:
                item.realize()


def write_global(codegen: PyCodegen, space: dict[str, Any], name: str, values: dict[str, VariableTracker]) -> list[str]:
    """A statement that writes a global variable."""
    return [f"{codegen.bind(space, 'globals_of')}[{name!r}] = {codegen(values[name])}"]
