"""Lists and tuples of variables: Python's operations on the items, done to variables.

A list that existed before the capture is written to only after the graph, so each write first tells `OutputGraph.changed`. In
PyTorch: `torch/_dynamo/variables/lists.py`. Left out: `deque`, and ranges and slices as variables, which are constants here.
"""

import operator
from collections.abc import Callable
from inspect import getattr_static
from types import FunctionType
from typing import Any

import rushlight as rl
from rushlight import fx
from rushlight.dynamo.exc import Unsupported
from rushlight.dynamo.variables.base import Args, Translator, VariableTracker, known_value, observe_exceptions
from rushlight.dynamo.variables.constant import ConstantVariable, fold
from rushlight.dynamo.variables.functions import BaseUserFunctionVariable, UserMethodVariable
from rushlight.dynamo.variables.iter import IteratorVariable
from rushlight.dynamo.variables.misc import GetAttrVariable
from rushlight.dynamo.variables.torch import call_in_graph


class ContainerVariable(VariableTracker):
    """The base of lists, tuples, dicts and sets. `items` has the items, and `cls` is the class of the container."""

    frozen = False  # whether a write to it breaks the graph
    should_reconstruct_all = False  # whether the capture removed an item from a dict or a set

    def __init__(self, items: Any, source: str | None = None, cls: type | None = None) -> None:
        self.items, self.source, self.cls = items, source, cls or self.cls

    def var_getattr(self, tx, name):
        if not hasattr(self.cls, name) or name == "__class__":
            return super().var_getattr(tx, name)
        attribute = getattr_static(self.cls, name, None)
        is_function = isinstance(attribute, FunctionType)
        return tx.builder.method(attribute, self) if is_function else GetAttrVariable(self, name)

    def call_method(self, tx, name, args, kwargs):
        if name in PROTOCOL:
            return PROTOCOL[name](self, tx, *args) or ConstantVariable(None)
        return self.call_own_method(tx, name, args, kwargs)

    def call_own_method(self, tx, name, args, kwargs):
        """A method that does not write. All items must be known."""
        return fold(tx, getattr(known_value(self), name), args, kwargs)


PROTOCOL: dict[str, Callable] = {
    "__getitem__": lambda self, tx, key: self.getitem(tx, key.realize()),
    "__setitem__": lambda self, tx, key, value: self.setitem(tx, key.realize(), value),
    "__iter__": lambda self, tx: self.iterate(tx),
    "__len__": lambda self, tx: ConstantVariable(len(self.items)),
    "__contains__": lambda self, tx, item: ConstantVariable(self.contains(tx, item.realize())),
}


class BaseListVariable(ContainerVariable):
    """A sequence: `items` are variables."""

    items: list[VariableTracker]

    def children(self):
        return self.items

    def as_python_constant(self) -> Any:
        values = [item.as_python_constant() for item in self.items]
        if self.cls is list:
            return values
        return self.cls._make(values) if hasattr(self.cls, "_make") else self.cls(values)

    def getitem(self, tx, key):
        if key.is_tensor():
            return call_in_graph(tx, operator.getitem, [self, key], {})
        index = key.as_python_constant()
        with observe_exceptions(tx, IndexError, TypeError, ValueError):
            chosen = self.items[index]
        if not isinstance(index, slice):
            return chosen
        return type(self)(chosen, cls=self.cls if self.cls in (list, rl.Size) else tuple)

    def contains(self, tx, item):
        return any(equal(tx, own, item) for own in self.items)

    def iterate(self, tx):
        return IteratorVariable(iter(self.items), self)


class ListVariable(BaseListVariable):
    """A list."""

    cls = list

    def as_proxy(self) -> Any:
        return [item.as_proxy() for item in self.items]

    def setitem(self, tx, key, value):
        index = key.as_python_constant()
        if isinstance(index, slice):
            value = value.unpack_var_sequence(tx)
        self.write(tx, "__setitem__", index, value)

    def write(self, tx: Translator, name: str, *arguments: Any) -> VariableTracker:
        """Call a method of the list of items, which changes it."""
        tx.output.changed(self)
        with observe_exceptions(tx, IndexError, TypeError, ValueError):
            return getattr(self.items, name)(*arguments) or ConstantVariable(None)

    def call_own_method(self, tx, name, args, kwargs):
        match name:
            case "copy":
                return ListVariable(list(self.items))
            case "count" | "index":
                return super().call_own_method(tx, name, args, kwargs)
            case "sort":
                ordered = sorted_items(tx, [item.realize() for item in self.items], **kwargs)
                return self.write(tx, "__setitem__", slice(None), ordered)
            case "remove":
                return self.write(tx, "__delitem__", super().call_own_method(tx, "index", args, kwargs).value)
            case "extend":
                return self.write(tx, name, args[0].unpack_var_sequence(tx))
            case "append":
                return self.write(tx, name, *args)
            case "insert":
                return self.write(tx, name, args[0].realize().as_python_constant(), *args[1:])
            case "pop" | "clear" | "reverse" | "__delitem__":
                return self.write(tx, name, *(arg.realize().as_python_constant() for arg in args))
        raise Unsupported(f"list.{name}")

    def reconstruct(self, codegen):
        name = codegen.remember(self, "[]")
        codegen.realize_constants(self.items)
        codegen.lines.append(f"{name} += [{', '.join(map(codegen, self.items))}]")
        return name

    def reconstruct_contents(self, codegen):
        return f"[{', '.join(map(codegen, self.items))}]"


class TupleVariable(BaseListVariable):
    """A tuple, or a class derived from tuple: a named tuple, a `Size`."""

    cls = tuple

    def as_proxy(self) -> Any:
        values = tuple(item.as_proxy() for item in self.items)
        plain = self.cls is tuple or any(isinstance(value, fx.Node) for value in values)
        return values if plain else self.as_python_constant()

    def var_getattr(self, tx, name):
        if name in getattr(self.cls, "_fields", ()):
            return self.items[self.cls._fields.index(name)]
        attribute = getattr_static(self.cls, name, None)
        if self.cls is not tuple and isinstance(attribute, property):
            return tx.builder.function(attribute.fget).call_function(tx, [self], {})
        return super().var_getattr(tx, name)

    def reconstruct(self, codegen):
        written = "".join(f"{codegen(item)}, " for item in self.items)
        if self.cls is tuple:
            return codegen.name(f"({written})")
        make = "._make" if hasattr(self.cls, "_make") else ""
        return codegen.name(f"{codegen.bind(self.cls)}{make}(({written}))")


def equal(tx: Translator, left: VariableTracker, right: VariableTracker) -> bool:
    """Whether two variables are equal. Tensors cannot be compared while tracing, so they break the graph."""
    left, right = left.realize(), right.realize()
    if left is right:
        return True
    if left.is_tensor() or right.is_tensor():
        raise Unsupported("a comparison of tensors by value")
    try:
        return bool(left.as_python_constant() == right.as_python_constant())
    except Unsupported:
        return tx.truth(tx.compute("==", left, right))


def sorted_items(tx: Translator, items: Args, key: Any = None, reverse: Any = None) -> Args:
    """The items in order, by what `key` gives for each; this must be known."""
    ranks = items
    if isinstance(key, (BaseUserFunctionVariable, UserMethodVariable, GetAttrVariable)):
        ranks = [key.call_function(tx, [item], {}).realize() for item in items]
    elif key is not None and not key.is_constant_none():
        raise Unsupported("sorting by this key")
    values = [rank.as_python_constant() for rank in ranks]
    descending = bool(reverse and reverse.as_python_constant())
    with observe_exceptions(tx, TypeError):
        order = sorted(range(len(items)), key=values.__getitem__, reverse=descending)
    return [items[i] for i in order]
