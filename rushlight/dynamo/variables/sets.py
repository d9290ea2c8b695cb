"""`SetVariable`: a set of known elements.

In PyTorch: `torch/_dynamo/variables/sets.py`. Left out: sets of tensors.
"""

from __future__ import annotations

from typing import Any

from rushlight.dynamo.exc import Unsupported
from rushlight.dynamo.variables.base import observed
from rushlight.dynamo.variables.constant import LITERALS, ConstantVariable, literal
from rushlight.dynamo.variables.dicts import TensorKey, key_of
from rushlight.dynamo.variables.iter import IteratorVariable
from rushlight.dynamo.variables.lists import ContainerVariable

WRITING = ("add", "discard", "remove", "update", "clear", "difference_update", "intersection_update")
READING = (
    "union", "intersection", "difference", "issubset", "issuperset", "isdisjoint", "copy", "symmetric_difference",
)  # fmt: skip


class SetVariable(ContainerVariable):
    """A set or a frozenset of constants."""

    cls = set

    def as_python_constant(self) -> Any:
        return self.cls(self.items)

    def contains(self, tx, item):
        return key_of(tx, item) in self.items

    def iterate(self, tx):
        return IteratorVariable(iter([ConstantVariable(item) for item in self.items]), self)

    def call_own_method(self, tx, name, args, kwargs):
        others = []
        for arg in (arg.realize() for arg in args):
            is_container = isinstance(arg, ContainerVariable)
            others.append({key_of(tx, i) for i in arg.unpack_var_sequence(tx)} if is_container else key_of(tx, arg))
        if name in WRITING:
            tx.output.changed(self)
            if any(isinstance(other, TensorKey) for other in others):
                raise Unsupported("tensors in a set")
        elif name not in READING:
            raise Unsupported(f"set.{name}")
        with observed(tx, KeyError):
            return literal(getattr(self.items, name)(*others))

    def reconstruct(self, codegen):
        return codegen.name(f"{codegen.bind(self.cls)}({codegen.bind(tuple(self.items), 'elements')})")

    def write_contents(self, codegen):
        name = codegen(self)
        return [f"{name}.clear()", f"{name}.update({codegen.bind(tuple(self.items), 'elements')})"]


LITERALS[set] = LITERALS[frozenset] = lambda value: SetVariable(set(value), cls=type(value))
