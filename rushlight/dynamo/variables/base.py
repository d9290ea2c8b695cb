"""`VariableTracker`: a value of the captured function, as far as it is known while the graph is captured.

Each kind of value has a class with the same methods: `call_function`, `call_method`, `var_getattr`, `as_proxy`, `reconstruct` and
others. The interpreter never asks for the kind: it calls the method, and a kind that has none breaks the graph. A variable with a
`source` existed before the captured function began, and the expression `source` finds it again. In PyTorch:
`torch/_dynamo/variables/base.py`. Left out: the mutation type, which is a note in `SideEffects` here.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, TypeAlias

from rushlight.dynamo.exc import ObservedException, Unsupported

Args = list["VariableTracker"]
Kwargs = dict[str, "VariableTracker"]
Source = str | None

# These parts of a capture import all classes of variables. So a class of variables gets them as arguments, and imports none.
Translator: TypeAlias = Any  # the frame that runs a function on variables, `symbolic_convert.InstructionTranslatorBase`
Output: TypeAlias = Any  # the graph of the capture and its guards, `output_graph.OutputGraph`
Builder: TypeAlias = Any  # from a value to its variable, `builder.VariableBuilder`
Codegen: TypeAlias = Any  # the writer of the code after the graph, `codegen.PyCodegen`


class VariableTracker:
    """A value of the captured function. The methods of this class are for a value about which nothing is known."""

    source: Source = None
    cls: type | None = None  # of the value, if it is known
    has_identity = True  # whether `is` can be answered

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.source or ''})"

    # What is known of the value

    def realize(self) -> VariableTracker:
        """The variable behind a lazy one: now its guards are needed."""
        return self

    def is_tensor(self) -> bool:
        return False

    def is_constant_none(self) -> bool:
        return False

    def children(self) -> Sequence[VariableTracker]:
        """The variables inside a container."""
        return ()

    def python_type(self) -> type:
        if self.cls is None:
            raise Unsupported(f"type of {self!r}")
        return self.cls

    def as_python_constant(self) -> Any:
        """The value, if it is known with all its parts. Raises Unsupported if it is not."""
        raise Unsupported(f"{self!r} is not known while the graph is captured")

    def as_proxy(self) -> Any:
        """The value as an argument of a node: nodes for tensors."""
        return self.as_python_constant()

    def is_same(self, other: VariableTracker) -> bool:
        """Return whether two variables are one object."""
        if self is other:
            return True
        if not (self.has_identity and other.has_identity):
            raise Unsupported("the identity of methods")
        return False

    # Attributes

    def var_getattr(self, tx: Translator, name: str) -> VariableTracker:
        if name == "__class__":
            return tx.constant(self.python_type())
        raise Unsupported(f"the attribute {name} of {self!r}")

    def var_setattr(self, tx: Translator, name: str, value: VariableTracker | None) -> None:
        """Write an attribute, or delete it if the value is None."""
        raise Unsupported(f"writing the attribute {name} of {self!r}")

    def call_obj_hasattr(self, tx: Translator, name: str) -> bool:
        try:
            self.var_getattr(tx, name)
        except ObservedException as error:
            if issubclass(error.variable.cls, AttributeError):
                return False
            raise
        return True

    # Calls

    def call_function(self, tx: Translator, args: Args, kwargs: Kwargs) -> VariableTracker:
        raise Unsupported(f"a call of {self!r}")

    def call_method(self, tx: Translator, name: str, args: Args, kwargs: Kwargs) -> VariableTracker:
        return self.var_getattr(tx, name).call_function(tx, args, kwargs)

    def enter(self, tx: Translator) -> tuple[VariableTracker, VariableTracker]:
        """Enter a context manager: its `__exit__`, and what `__enter__` returns."""
        raise Unsupported(f"the context manager {self!r}")

    # Items

    def getitem(self, tx: Translator, key: VariableTracker) -> VariableTracker:
        raise Unsupported(f"an item of {self!r}")

    def setitem(self, tx: Translator, key: VariableTracker, value: VariableTracker) -> None:
        raise Unsupported(f"writing an item of {self!r}")

    def contains(self, tx: Translator, item: VariableTracker) -> bool:
        raise Unsupported(f"whether an item is in {self!r}")

    def iterate(self, tx: Translator) -> VariableTracker:
        """`iter` of the value."""
        raise Unsupported(f"iteration over {self!r}")

    def next_variable(self, tx: Translator) -> VariableTracker | None:
        """The next item of an iterator; None at its end."""
        raise Unsupported(f"the next of {self!r}")

    def unpack_var_sequence(self, tx: Translator) -> list[VariableTracker]:
        """All items that an iteration over the value gives."""
        return list(self.iterate(tx).remaining(tx))

    def remaining(self, tx: Translator) -> Iterator[VariableTracker]:
        """The items that an iterator has not given yet."""
        return iter(lambda: self.next_variable(tx), None)

    # After the graph

    def reconstruct(self, codegen: Codegen) -> str:
        """An expression for a value that the captured function made."""
        raise Unsupported(f"{self!r} cannot be made again after the graph")

    def reconstruct_contents(self, codegen: Codegen) -> str:
        """An expression for the new items of a container from before."""
        raise Unsupported(f"a change of {self!r}")

    def write_attribute(self, codegen: Codegen, name: str, value: VariableTracker | None) -> str:
        """The statement that writes an attribute of an object from before, or deletes it if the value is None."""
        target = codegen(self)
        return f"del {target}.{name}" if value is None else f"{target}.{name} = {codegen(value)}"


def known_value(variable: VariableTracker) -> Any:
    """The value of a variable all of whose parts are realized first."""
    variable = variable.realize()
    for item in variable.children():
        known_value(item)
    return variable.as_python_constant()


@contextmanager
def observe_exceptions(tx: Translator, *classes: type[Exception]) -> Iterator[None]:
    """A context in which exceptions of Python become exceptions of the captured function."""
    try:
        yield
    except classes as error:
        raise tx.error(type(error), *error.args) from None
