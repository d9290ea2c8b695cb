"""Lists, tuples, dicts and sets, and what goes through them: items, iteration, equality, methods.

A container of the captured function is a container of variables: what Python does to the one, these functions do to the other. A
container that has been there before the capture is written to only after it: `Output.changed` is told. In PyTorch:
`torch/_dynamo/variables/lists.py`, `dicts.py`, `iter.py`.
"""

from __future__ import annotations

import operator
from typing import Any

import rushlight as rl
from rushlight.dynamo import calls, symbolic
from rushlight.dynamo.guards import CONSTANTS
from rushlight.dynamo.values import as_proxy, call_in_graph, fakes, fold, literal, raised
from rushlight.dynamo.variables import (
    Constant,
    DictVariable,
    FunctionVariable,
    GradModeVariable,
    IteratorVariable,
    ListVariable,
    MethodVariable,
    ObjectVariable,
    Raised,
    SetVariable,
    TensorKey,
    TensorVariable,
    TupleVariable,
    Unsupported,
    Variable,
    constant_of,
    is_constant,
)

# ------------------------------------------------------------------------------------------------------------
# Items


def key_of(frame: Any, variable: Variable) -> Any:
    """A key of a dict or a set: a constant, or a tensor for itself."""
    variable = frame.output.realize(variable)
    if isinstance(variable, TensorVariable):
        return TensorKey(variable)
    value = constant_of(variable)
    try:
        hash(value)
    except TypeError as error:
        raise raised(TypeError, *error.args) from None
    return value


def get_item(frame: Any, container: Variable, key: Variable) -> Variable:
    output = frame.output
    if (
        isinstance(container, TensorVariable)
        or isinstance(key, TensorVariable)
        and not isinstance(container, DictVariable)
    ):
        return call_in_graph(frame, operator.getitem, [container, key], {})
    match container:
        case DictVariable(items=items):
            place = key_of(frame, key)
            if place in items:
                return items[place]
            if container.factory is not None:
                output.changed(container)
                items[place] = calls.call(frame, container.factory, [], {})
                return items[place]
            raise raised(KeyError, place) if type(place) in CONSTANTS else Unsupported("a key that is not there")
        case ListVariable(items=items) | TupleVariable(items=items):
            place = constant_of(key)
            if isinstance(place, slice):
                try:
                    part = items[place]
                except (TypeError, ValueError) as error:
                    raise raised(type(error), *error.args) from None
                kind = container.cls if container.cls is rl.Size else tuple
                return ListVariable(part) if isinstance(container, ListVariable) else TupleVariable(part, cls=kind)
            try:
                return items[place]
            except (IndexError, TypeError) as error:
                raise raised(type(error), *error.args) from None
        case ObjectVariable():
            return calls.call_method(frame, container, "__getitem__", [key])
        case Constant():
            return fold(frame, operator.getitem, [container, key])
    raise Unsupported(f"an item of {container!r}")


def set_item(frame: Any, container: Variable, key: Variable, value: Variable) -> None:
    output = frame.output
    match container:
        case TensorVariable():
            node_args = tuple(as_proxy(frame, arg) for arg in (container, key, value))
            try:
                operator.setitem(*fakes(node_args))
            except Exception as error:
                raise Unsupported(f"setitem on fake tensors: {error}") from error
            output.emit("call_function", operator.setitem, node_args, {}, None)
        case DictVariable(items=items):
            place = key_of(frame, key)
            output.changed(container)
            items[place] = value
        case ListVariable(items=items):
            place = constant_of(key)
            if isinstance(place, slice):
                value = items_of(frame, output.realize(value))
            output.changed(container)
            try:
                items[place] = value
            except (IndexError, TypeError, ValueError) as error:
                raise raised(type(error), *error.args) from None
        case ObjectVariable():
            calls.call_method(frame, container, "__setitem__", [key, value])
        case _:
            raise Unsupported(f"writing an item of {container!r}")


def contains(frame: Any, container: Variable, item: Variable) -> bool:
    match container:
        case DictVariable(items=items) | SetVariable(items=items):
            return key_of(frame, item) in items
        case ListVariable(items=items) | TupleVariable(items=items):
            if isinstance(item, TensorVariable) and any(frame.output.realize(each) is item for each in items[:1]):
                return True
            return any(equal(frame, each, item) for each in items)
        case ObjectVariable() if hasattr(container.cls, "__contains__"):
            return symbolic.truth(frame, calls.call_method(frame, container, "__contains__", [item]))
        case Constant(value=value) if isinstance(value, (str, range, bytes)):
            return fold(frame, operator.contains, [container, item]).value
        case Constant(value=value) if type(value) in (int, float, bool, type(None)):
            raise raised(TypeError, f"argument of type '{type(value).__name__}' is not iterable")
    raise Unsupported(f"whether something is in {container!r}")


# ------------------------------------------------------------------------------------------------------------
# Iteration


def items_of(frame: Any, variable: Variable) -> list[Variable]:
    """All that an iteration over it gives."""
    iterator, items = iterator_over(frame, frame.output.realize(variable)), []
    while (item := advance(frame, iterator)) is not None:
        items.append(item)
    return items


def iterator_over(frame: Any, variable: Variable) -> Variable:
    """`iter` of a variable."""
    variable = frame.output.realize(variable)
    match variable:
        case IteratorVariable():
            return variable
        case ListVariable(items=items) | TupleVariable(items=items):
            return IteratorVariable(iter(items), variable)
        case DictVariable(items=items):
            return IteratorVariable(keys_of(frame, variable), variable)
        case SetVariable(items=items):
            return IteratorVariable(iter([Constant(item) for item in items]), variable)
        case TensorVariable(fake=fake):
            if fake.dim() == 0:
                raise raised(TypeError, "iteration over a 0-d tensor")
            rows = [call_in_graph(frame, operator.getitem, [variable, Constant(i)], {}) for i in range(fake.shape[0])]
            return IteratorVariable(iter(rows))
        case Constant(value=value) if isinstance(value, (range, str, bytes)):
            return IteratorVariable((Constant(item) for item in value), variable)
        case ObjectVariable(cls=cls) if hasattr(cls, "__iter__"):
            return calls.call_method(frame, variable, "__iter__", [])
        case ObjectVariable(cls=cls) if hasattr(cls, "__getitem__"):
            return IteratorVariable(by_index(frame, variable))
        case Constant(value=value) if type(value) in (int, float, bool, type(None)):
            raise raised(TypeError, f"'{type(value).__name__}' object is not iterable")
    raise Unsupported(f"iteration over {variable!r}")


def by_index(frame: Any, variable: Variable):
    for i in range(1 << 30):
        try:
            yield get_item(frame, variable, Constant(i))
        except Raised as error:
            if issubclass(error.variable.cls, IndexError):
                return
            raise


def keys_of(frame: Any, variable: DictVariable):
    count = len(variable.items)
    for key in list(variable.items):
        if len(variable.items) != count:
            raise raised(RuntimeError, "dictionary changed size during iteration")
        yield key.variable if isinstance(key, TensorKey) else literal(key)


def advance(frame: Any, iterator: Variable) -> Variable | None:
    """The next item; None at the end."""
    if isinstance(iterator, IteratorVariable):
        return next(iterator, None)
    if isinstance(iterator, ObjectVariable) and hasattr(iterator.cls, "__next__"):
        try:
            return calls.call_method(frame, iterator, "__next__", [])
        except Raised as error:
            if error.variable.cls is StopIteration:
                return None
            raise
    raise Unsupported(f"the next of {iterator!r}")


def next_item(frame: Any, iterator: Variable, *default: Variable) -> Variable:
    item = advance(frame, iterator)
    if item is not None:
        return item
    if default:
        return default[0]
    raise raised(StopIteration)


# ------------------------------------------------------------------------------------------------------------
# Identity, equality, order


def same(frame: Any, left: Variable, right: Variable) -> bool:
    """Whether two variables are one object."""
    if isinstance(left, TensorVariable) and isinstance(right, TensorVariable):
        return left.fake is right.fake
    if isinstance(left, Constant) and isinstance(right, Constant):
        return left.value is right.value
    if isinstance(left, FunctionVariable) and isinstance(right, FunctionVariable) and left.real is not None:
        return left.real is right.real
    if left is right:
        return True
    if isinstance(left, (MethodVariable, GradModeVariable)) or isinstance(right, (MethodVariable, GradModeVariable)):
        raise Unsupported("the identity of methods")
    return False


def equal(frame: Any, left: Variable, right: Variable) -> bool:
    left, right = frame.output.realize(left), frame.output.realize(right)
    if left is right:
        return True
    if isinstance(left, TensorVariable) or isinstance(right, TensorVariable):
        raise Unsupported("a comparison of tensors by value")
    if is_constant(left) and is_constant(right):
        return bool(constant_of(left) == constant_of(right))
    return symbolic.truth(frame, calls.compute(frame, "==", left, right))


def sorted_items(
    frame: Any, items: list[Variable], key: Variable | None = None, reverse: Variable | None = None
) -> list[Variable]:
    ranks = [
        frame.output.realize(calls.call(frame, key, [item], {}))
        if isinstance(key, (FunctionVariable, MethodVariable))
        else item
        for item in items
    ]
    if (
        key is not None
        and not isinstance(key, (FunctionVariable, MethodVariable))
        and not (isinstance(key, Constant) and key.value is None)
    ):
        raise Unsupported("sorting by this key")
    values = [constant_of(rank) for rank in ranks]
    try:
        order = sorted(range(len(items)), key=values.__getitem__, reverse=bool(reverse and constant_of(reverse)))
    except TypeError as error:
        raise raised(TypeError, *error.args) from None
    return [items[i] for i in order]


# ------------------------------------------------------------------------------------------------------------
# Methods


def container_method(frame: Any, owner: Any, name: str, args: list[Variable], kwargs: dict[str, Variable]) -> Variable:
    """Of a list, a tuple, a set. A list of variables does to them what the list itself would do."""
    output, items = frame.output, owner.items
    if isinstance(owner, SetVariable) or name in ("sort", "count", "index", "remove") or owner.cls not in (list, tuple):
        return (
            set_method(frame, owner, name, args, kwargs)
            if isinstance(owner, SetVariable)
            else whole(frame, owner, name, args, kwargs)
        )
    if name == "copy":
        return ListVariable(list(items))
    if not isinstance(owner, ListVariable) or kwargs:
        raise Unsupported(f"{owner.cls.__name__}.{name}")
    output.changed(owner)
    if name == "extend":
        items.extend(items_of(frame, args[0]))
    elif name == "append":
        items.append(args[0])
    elif name in ("pop", "insert", "clear", "reverse", "__delitem__"):
        numbers = [constant_of(output.realize(arg)) for arg in (args[:1] if name == "insert" else args)]
        try:
            found = getattr(items, name)(*numbers, *(args[1:] if name == "insert" else ()))
        except (IndexError, TypeError) as error:
            raise raised(type(error), *error.args) from None
        return found if name == "pop" else Constant(None)
    else:
        raise Unsupported(f"list.{name}")
    return Constant(None)


def whole(frame: Any, owner: Any, name: str, args: list[Variable], kwargs: dict[str, Variable]) -> Variable:
    """A method that compares items: where all are known."""
    values = [frame.output.realize(item) for item in owner.items]
    if name == "index" and isinstance(frame.output.realize(args[0]), TensorVariable):
        raise Unsupported("a comparison of tensors by value")
    if name == "sort":
        owner.items[:], _ = sorted_items(frame, values, **kwargs), frame.output.changed(owner)
        return Constant(None)
    plain = [constant_of(value) for value in values]
    plain = plain if isinstance(owner, ListVariable) else make_tuple(owner.cls, plain)
    arguments = [constant_of(frame.output.realize(arg)) for arg in args]
    if name == "remove":
        place = fold(frame, plain.index, args).value
        frame.output.changed(owner)
        del owner.items[place]
        return Constant(None)
    try:
        return literal(getattr(plain, name)(*arguments))
    except ValueError as error:
        raise raised(ValueError, *error.args) from None


def make_tuple(cls: type, values: list) -> Any:
    return cls._make(values) if hasattr(cls, "_make") else cls(values)


def set_method(
    frame: Any, owner: SetVariable, name: str, args: list[Variable], kwargs: dict[str, Variable]
) -> Variable:
    others = []
    for arg in args:
        arg = frame.output.realize(arg)
        if isinstance(arg, (ListVariable, TupleVariable, SetVariable, DictVariable)):
            others.append({key_of(frame, item) for item in items_of(frame, arg)})
        else:
            others.append(key_of(frame, arg))
    if name in ("add", "discard", "remove", "update", "clear", "difference_update", "intersection_update"):
        frame.output.changed(owner)
        if any(isinstance(other, TensorKey) for other in others):
            raise Unsupported("tensors in a set")
    elif name not in (
        "union",
        "intersection",
        "difference",
        "issubset",
        "issuperset",
        "isdisjoint",
        "copy",
        "symmetric_difference",
    ):
        raise Unsupported(f"set.{name}")
    try:
        return literal(getattr(owner.items, name)(*others))
    except KeyError as error:
        raise raised(KeyError, *error.args) from None


def dict_method(
    frame: Any, owner: DictVariable, name: str, args: list[Variable], kwargs: dict[str, Variable]
) -> Variable:
    output, items = frame.output, owner.items
    default = args[1] if len(args) > 1 else None
    if name in ("get", "pop", "setdefault", "__delitem__", "move_to_end"):
        place = key_of(frame, args[0])
        if name == "get":
            return items.get(place, default or Constant(None))
        output.changed(owner)
        if name == "setdefault":
            return items.setdefault(place, default or Constant(None))
        if name == "move_to_end":
            items[place] = items.pop(place)
            return Constant(None)
        if place not in items:
            if default is not None:
                return default
            raise raised(KeyError, place) if type(place) in CONSTANTS else Unsupported("a key that is not there")
        found = items.pop(place)
        return found if name == "pop" else Constant(None)
    if name == "keys":
        return ListVariable(list(keys_of(frame, owner)))  # a view of the dict: a list does as long as it is only read
    if name == "values":
        return ListVariable(list(items.values()))
    if name == "items":
        return ListVariable([TupleVariable([key, items[key_of(frame, key)]]) for key in keys_of(frame, owner)])
    if name == "copy":
        return DictVariable(dict(items), cls=owner.cls, factory=owner.factory)
    output.changed(owner)
    if name == "update":
        for arg in args:
            arg = output.realize(arg)
            if isinstance(arg, DictVariable):
                items.update(arg.items)
            else:
                items.update((key_of(frame, k), v) for k, v in (items_of(frame, pair) for pair in items_of(frame, arg)))
        items.update(kwargs)
        return Constant(None)
    if name == "clear":
        items.clear()
        return Constant(None)
    raise Unsupported(f"dict.{name}")
