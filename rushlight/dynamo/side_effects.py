"""`SideEffects`: the writes of a captured function to objects from before it. They are recorded and replayed after the graph.

While Dynamo captures, no object outside changes: a write goes to the object's variable, and is recorded here. The graph runs first,
and then the statements of `codegen_update_mutated` write to the objects themselves: before the compiled function returns, and at a
graph break before Python continues. In PyTorch: `torch/_dynamo/side_effects.py`. Left out: hooks of tensors, `save_for_backward`,
and states of random generators. The attributes of a new object are written where it is made.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rushlight.dynamo.variables.base import VariableTracker
from rushlight.dynamo.variables.dicts import ConstDictVariable, SetVariable
from rushlight.dynamo.variables.lists import ListVariable
from rushlight.dynamo.variables.misc import NewGlobalVariable

if TYPE_CHECKING:
    from rushlight.dynamo.codegen import PyCodegen


class SideEffects:
    """The objects that a capture has looked at, and the writes to them.

    `id_to_variable` has the variable of each object from before the capture, by the object's id, in the order in which the capture
    first looked at them. `store_attr_mutations` has the written attributes of a variable, by name: the variable of the new value,
    or None for a deleted attribute. The contents of a cell, a global variable and the `grad` of a tensor are attributes here.
    """

    def __init__(self) -> None:
        self.id_to_variable: dict[int, VariableTracker] = {}
        self.store_attr_mutations: dict[VariableTracker, dict[str, VariableTracker | None]] = {}
        self.globals: dict[tuple[int, str], NewGlobalVariable] = {}  # by the id of the dict of globals, and the name
        self.mutated: set[VariableTracker] = set()
        self.keepalive: list[Any] = []  # values whose ids are keys

    def track(self, value: Any, variable: VariableTracker) -> None:
        """Record that writes to `variable` are writes to `value`."""
        self.id_to_variable[id(value)] = variable
        self.keepalive.append(value)  # no other value gets its id

    def mutation(self, container: VariableTracker) -> None:
        """Record that the capture writes to a container."""
        self.mutated.add(container)

    def store_attr(self, variable: VariableTracker, name: str, value: VariableTracker | None) -> None:
        """Record that the capture writes an attribute, or deletes it if the value is None."""
        self.store_attr_mutations.setdefault(variable, {})[name] = value
        self.mutated.add(variable)

    def written(self, variable: VariableTracker) -> dict[str, VariableTracker | None]:
        """The attributes that were written to a variable."""
        return self.store_attr_mutations.get(variable, {})

    def store_global(self, space: dict[str, Any], name: str, value: VariableTracker) -> None:
        key = id(space), name
        if key not in self.globals:
            self.globals[key] = NewGlobalVariable(space)
            self.track(self.globals[key], self.globals[key])
        self.store_attr(self.globals[key], name, value)

    def load_global(self, space: dict[str, Any], name: str) -> VariableTracker | None:
        """Return the variable that was written to a global variable; None if nothing was written."""
        return self.written(self.globals.get((id(space), name))).get(name)

    def get_modified_vars(self) -> list[VariableTracker]:
        """The variables of the objects from before the capture that were written to, in the order in which the capture first
        looked at the objects."""
        return [variable for variable in self.id_to_variable.values() if variable in self.mutated]


def codegen_update_mutated(codegen: PyCodegen, side_effects: SideEffects) -> list[str]:
    """The statements that do after the graph what the captured function did to objects from before it, in the order in which
    they run.

    Afterwards, each object of `side_effects.get_modified_vars()`, a list of variables, is as if the captured function had written
    to it directly, and it is still the same object. The statements run in PyTorch's order. `codegen(variable)` is an expression for
    the object of a variable, and the two methods below use it, too. The code finds the values of all these expressions before the
    first statement runs. The graph returns new tensors in the order in which you ask for them. PyTorch asks for the values in the
    reverse order of the statements.

    - A `ListVariable`, a `ConstDictVariable` or a `SetVariable`: `variable.reconstruct_contents(codegen)` is an expression for new
      contents, a list or an iterable of pairs or elements. Those of a list are all items. Those of a dict or a set are only the
      items that were added or replaced, unless `variable.should_reconstruct_all`: then something was removed, and they are all.
    - Any other variable: `side_effects.written(variable)` has the written attributes, a dict by name. The first entry was the first
      to be written. `variable.write_attribute(codegen, name, value)` is the statement for one of them. The contents of a cell, a
      global variable and the `grad` of a tensor are attributes here.

    Returns:
        a list or a tuple of strings, each a line of code.

    >>> def f(x, values):
    ...     values.append(x + 1)
    ...     return x * 2
    >>> values = [1]
    >>> rl.compile(f, backend="eager")(rl.ones(1), values), values
    (tensor([2.]), [1, tensor([2.])])

    Source: `torch/_dynamo/side_effects.py`, `SideEffects.codegen_update_mutated`.
    """
    statements = []
    for variable in side_effects.get_modified_vars():
        if isinstance(variable, ListVariable):
            statements.append(f"{codegen(variable)}[:] = {variable.reconstruct_contents(codegen)}")
        elif isinstance(variable, (ConstDictVariable, SetVariable)):
            statements.append(f"{codegen(variable)}.update({variable.reconstruct_contents(codegen)})")
            if variable.should_reconstruct_all:
                statements.append(f"{codegen(variable)}.clear()")
        else:
            for name, value in reversed(side_effects.written(variable).items()):
                statements.append(variable.write_attribute(codegen, name, value))
    return statements[::-1]
