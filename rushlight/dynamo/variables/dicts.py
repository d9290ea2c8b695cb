"""`ConstDictVariable`: a dict whose keys are known, and whose values are variables. `SetVariable`: a set of known elements.

A tensor as a key is equal to itself only, so `TensorKey` stands for it. In PyTorch: `torch/_dynamo/variables/dicts.py`, `sets.py`,
`user_defined.py` (`DefaultDictVariable`, `OrderedDictVariable`). Left out: views, because a list is enough while the dict is only
read, and dicts of subclasses.
"""

from collections import OrderedDict, defaultdict
from collections.abc import Iterator
from typing import Any

from rushlight.dynamo.exc import Unsupported
from rushlight.dynamo.guards import CONSTANTS, Guard, bind
from rushlight.dynamo.variables.base import Codegen, Source, Translator, VariableTracker, observe_exceptions
from rushlight.dynamo.variables.constant import ConstantVariable
from rushlight.dynamo.variables.iter import IteratorVariable
from rushlight.dynamo.variables.lists import ContainerVariable, ListVariable, TupleVariable

MAPPINGS = (dict, OrderedDict, defaultdict)


class TensorKey:
    """A tensor as a key: equal to itself only."""

    def __init__(self, variable: VariableTracker) -> None:
        self.variable = variable

    def __hash__(self) -> int:
        return id(self.variable.fake)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, TensorKey) and other.variable.fake is self.variable.fake


def key_of(tx: Translator, variable: VariableTracker) -> Any:
    """A key of a dict or a set: a constant, or a tensor as itself."""
    variable = variable.realize()
    if variable.is_tensor():
        return TensorKey(variable)
    value = variable.as_python_constant()
    with observe_exceptions(tx, TypeError):
        hash(value)
    return value


class ConstDictVariable(ContainerVariable):
    """A dict: `items` maps known keys to variables. `factory` is the default factory of a defaultdict.

    A graph depends on all keys of a dict from before only if the function reads all of them, or their number: reading `items` adds
    the guards on the keys, by `guard_keys`. An operation on one key reads `by_key`, and adds a guard on this key."""

    cls = dict

    def __init__(
        self, items: dict, source: Source = None, cls: type = dict, factory: Any = None, guard_keys: Any = None
    ) -> None:
        super().__init__(items, source, cls)
        self.original_items = dict(items) if source is not None else {}
        self.factory: VariableTracker | None = factory
        self.guard_keys = guard_keys

    @property
    def items(self) -> dict:
        if self.guard_keys is not None:
            self.guard_keys()
        return self.by_key

    @items.setter
    def items(self, items: dict) -> None:
        self.by_key = items

    def children(self):
        return tuple(self.by_key.values())

    def as_python_constant(self) -> Any:
        if self.cls is defaultdict or any(isinstance(key, TensorKey) for key in self.items):
            return super().as_python_constant()
        return self.cls((key, item.as_python_constant()) for key, item in self.items.items())

    def as_proxy(self) -> Any:
        return {key: item.as_proxy() for key, item in self.items.items()}

    def keys(self, tx: Translator) -> Iterator[VariableTracker]:
        count = len(self.items)
        for key in list(self.items):
            if len(self.by_key) != count:
                raise tx.error(RuntimeError, "dictionary changed size during iteration")
            yield key.variable if isinstance(key, TensorKey) else tx.constant(key)

    def getitem(self, tx, key):
        key = key_of(tx, key)
        if self.has_key(tx, key):
            return self.by_key[key]
        if self.factory is None:
            raise self.missing_key(tx, key)
        tx.output.changed(self)
        self.by_key[key] = self.factory.call_function(tx, [], {})
        return self.by_key[key]

    def has_key(self, tx: Translator, key: Any) -> bool:
        """Return whether there is an item with this key. Add a guard if the dict is from before and the key was not written."""
        if type(key) not in CONSTANTS:
            return key in self.items
        present = key in self.by_key
        if self.source is not None and present == (key in self.original_items):
            written = repr(key) if isinstance(key, (str, int, type(None))) else bind(tx.output.scope, key, "key")
            tx.output.add_guard(Guard(self.source, f"{written} {'in' if present else 'not in'} {self.source}"))
        return present

    def missing_key(self, tx: Translator, key: Any) -> Exception:
        return tx.error(KeyError, key) if type(key) in CONSTANTS else Unsupported("a key that is not there")

    def setitem(self, tx, key, value):
        key = key_of(tx, key)
        tx.output.changed(self)
        self.by_key[key] = value

    def contains(self, tx, item):
        return self.has_key(tx, key_of(tx, item))

    def iterate(self, tx):
        return IteratorVariable(self.keys(tx), self)

    def call_own_method(self, tx, name, args, kwargs):
        match name:
            case "get":
                key, default, *_ = *args, ConstantVariable(None)
                key = key_of(tx, key)
                return self.by_key[key] if self.has_key(tx, key) else default
            case "keys":
                return ListVariable(list(self.keys(tx)))
            case "values":
                return ListVariable(list(self.items.values()))
            case "items":
                pairs = zip(self.keys(tx), self.items.values())
                return ListVariable([TupleVariable([key, item]) for key, item in pairs])
            case "copy":
                return ConstDictVariable(dict(self.items), cls=self.cls, factory=self.factory)
        tx.output.changed(self)
        self.should_reconstruct_all |= name not in ("setdefault", "update")
        match name:
            case "setdefault":
                key, default, *_ = *args, ConstantVariable(None)
                key = key_of(tx, key)
                return self.by_key[key] if self.has_key(tx, key) else self.by_key.setdefault(key, default)
            case "move_to_end":
                key = key_of(tx, args[0])
                self.items[key] = self.items.pop(key)
            case "pop" | "__delitem__":
                key, *default = args
                key = key_of(tx, key)
                if key not in self.items and not default:
                    raise self.missing_key(tx, key)
                value = self.items.pop(key, *default)
                return value if name == "pop" else ConstantVariable(None)
            case "update":
                for arg in args:
                    self.by_key.update(self.pairs_of(tx, arg.realize()))
                self.by_key.update(kwargs)
            case "clear":
                self.items.clear()
            case _:
                raise Unsupported(f"dict.{name}")
        return ConstantVariable(None)

    def pairs_of(self, tx: Translator, other: VariableTracker) -> Any:
        if isinstance(other, ConstDictVariable):
            return other.items
        pairs = (pair.unpack_var_sequence(tx) for pair in other.unpack_var_sequence(tx))
        return [(key_of(tx, key), value) for key, value in pairs]

    def reconstruct(self, codegen):
        empty = "{}" if self.cls is dict else f"{codegen.bind(self.cls)}()"
        if self.cls is defaultdict:
            empty = f"{codegen.bind(self.cls)}({codegen(self.factory)})"
        name = codegen.remember(self, empty)
        codegen.realize_constants(self.by_key.values())
        for key, item in self.by_key.items():
            codegen.lines.append(f"{name}[{self.reconstruct_key(codegen, key)}] = {codegen(item)}")
        return name

    def reconstruct_contents(self, codegen):
        new = {key: item for key, item in self.by_key.items() if self.is_new_item(key, item)}
        pairs = (f"({self.reconstruct_key(codegen, key)}, {codegen(item)})" for key, item in new.items())
        return f"[{', '.join(pairs)}]"

    def is_new_item(self, key: Any, item: VariableTracker) -> bool:
        """Return whether an item must be written to the dict from before."""
        return self.should_reconstruct_all or self.original_items.get(key) is not item

    def reconstruct_key(self, codegen: Codegen, key: Any) -> str:
        return codegen(key.variable if isinstance(key, TensorKey) else ConstantVariable(key))


# Sets ----------------------------------------------------------------------------------------------------------------

WRITING = ("add", "discard", "remove", "update", "clear", "difference_update", "intersection_update")
READING = (
    "union", "intersection", "difference", "issubset", "issuperset", "isdisjoint", "copy", "symmetric_difference",
)  # fmt: skip


class SetVariable(ContainerVariable):
    """A set or a frozenset of constants."""

    cls = set

    def __init__(self, items: set, source: Source = None, cls: type = set) -> None:
        super().__init__(items, source, cls)
        self.original_items = set(items)

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
            self.should_reconstruct_all |= name not in ("add", "update")
            if any(isinstance(other, TensorKey) for other in others):
                raise Unsupported("tensors in a set")
        elif name not in READING:
            raise Unsupported(f"set.{name}")
        with observe_exceptions(tx, KeyError):
            return tx.constant(getattr(self.items, name)(*others))

    def reconstruct(self, codegen):
        return codegen.name(f"{codegen.bind(self.cls)}({codegen.bind(tuple(self.items), 'elements')})")

    def reconstruct_contents(self, codegen):
        new = tuple(self.items if self.should_reconstruct_all else self.items - self.original_items)
        return codegen.bind(new, "elements")
