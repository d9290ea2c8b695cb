"""Builtin functions that have a rule of their own, in the table `BUILTINS`.

They take anything, so Python cannot be asked: `len` of a tensor is a constant, `sum` of tensors is a row of nodes, and `sorted`
calls a function of the user's. A rule gets the frame and the arguments as variables. In PyTorch:
`torch/_dynamo/variables/builtin.py`, `BuiltinVariable.call_function`.
"""

from __future__ import annotations

import itertools
import operator
from collections import OrderedDict, defaultdict
from collections.abc import Callable
from types import FunctionType
from typing import Any

import rushlight as rl
from rushlight.c10.dispatch import local
from rushlight.dynamo import calls, symbolic, training
from rushlight.dynamo.bytecode import OPERATORS
from rushlight.dynamo.containers import (
    advance,
    dict_method,
    get_item,
    items_of,
    iterator_over,
    key_of,
    next_item,
    sorted_items,
)
from rushlight.dynamo.objects import class_attribute, get_attribute, make_super, set_attribute
from rushlight.dynamo.tensors import call_tensor_method
from rushlight.dynamo.training import set_grad_mode
from rushlight.dynamo.values import call_in_graph, fold, raised
from rushlight.dynamo.variables import (
    Constant,
    DictVariable,
    ExceptionVariable,
    FunctionVariable,
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
)

# ------------------------------------------------------------------------------------------------------------
# What a value is and has


def length(frame: Any, value: Variable) -> Variable:
    match value:
        case TensorVariable():
            return call_tensor_method(frame, value, "__len__", [], {})
        case (
            ListVariable(items=items)
            | TupleVariable(items=items)
            | DictVariable(items=items)
            | SetVariable(items=items)
        ):
            return Constant(len(items))
        case ObjectVariable():
            return calls.call_method(frame, value, "__len__", [])
    return fold(frame, len, [value])


def is_instance(frame: Any, value: Variable, classes: Variable) -> Variable:
    classes, kind = constant_of(classes), value.python_type()
    if isinstance(value, TensorVariable) and classes is rl.nn.Parameter:
        return Constant(kind is rl.nn.Parameter)
    return Constant(issubclass(kind, classes))


def type_of(frame: Any, value: Variable, *more: Variable) -> Variable:
    if more:
        raise Unsupported("a new class")
    return Constant(value.python_type())


def has_attribute(frame: Any, owner: Variable, name: Variable) -> Variable:
    try:
        get_attribute(frame, owner, constant_of(name))
    except Raised as error:
        if issubclass(error.variable.cls, AttributeError):
            return Constant(False)
        raise
    return Constant(True)


def get_attribute_or(frame: Any, owner: Variable, name: Variable, *default: Variable) -> Variable:
    try:
        return frame.output.realize(get_attribute(frame, owner, constant_of(name)))
    except Raised as error:
        if default and issubclass(error.variable.cls, AttributeError):
            return default[0]
        raise


def put_attribute(frame: Any, owner: Variable, name: Variable, value: Variable) -> Variable:
    set_attribute(frame, owner, constant_of(name), value)
    return Constant(None)


def is_callable(frame: Any, value: Variable) -> Variable:
    if isinstance(value, Constant):
        return Constant(callable(value.value))
    return Constant(isinstance(value, (FunctionVariable, MethodVariable)) or hasattr(value.python_type(), "__call__"))  # noqa: B004


def super_rule(frame: Any, *args: Variable) -> Variable:
    return make_super(frame, list(args))


def to_bool(frame: Any, *values: Variable) -> Variable:
    return Constant(symbolic.truth(frame, values[0])) if values else Constant(False)


def to_str(cls: type) -> Callable:
    def make(frame: Any, *values: Variable) -> Variable:
        if values and isinstance(values[0], ObjectVariable):
            for name in ("__str__", "__repr__") if cls is str else ("__repr__",):
                if isinstance(class_attribute(values[0].cls, name), FunctionType):
                    return calls.call_method(frame, values[0], name, [])
        if values and isinstance(values[0], ExceptionVariable) and cls is str and len(values[0].args) == 1:
            return make(frame, frame.output.realize(values[0].args[0]))
        return fold(frame, cls, list(values))

    return make


# ------------------------------------------------------------------------------------------------------------
# Containers


def make_sequence(cls: type) -> Callable:
    def make(frame: Any, *values: Variable) -> Variable:
        items = items_of(frame, values[0]) if values else []
        return ListVariable(items) if cls is list else TupleVariable(items)

    return make


def make_set(cls: type) -> Callable:
    def make(frame: Any, *values: Variable) -> Variable:
        keys = {key_of(frame, item) for item in items_of(frame, values[0])} if values else set()
        if any(isinstance(key, TensorKey) for key in keys):
            raise Unsupported("tensors in a set")
        return SetVariable(keys, cls=cls)

    return make


def make_dict(cls: type) -> Callable:
    def make(frame: Any, *values: Variable, **named: Variable) -> Variable:
        new = DictVariable({}, cls=cls)
        if cls is defaultdict and values:
            new.factory, values = values[0], values[1:]
        dict_method(frame, new, "update", list(values), named)
        return new

    return make


def make_size(frame: Any, *values: Variable) -> Variable:
    return TupleVariable(items_of(frame, values[0]) if values else [], cls=rl.Size)


# ------------------------------------------------------------------------------------------------------------
# Iterators


def make_iterator(frame: Any, value: Variable) -> Variable:
    return iterator_over(frame, value)


def zipped(frame: Any, *values: Variable, strict: Variable | None = None) -> Variable:
    iterators = [iterator_over(frame, value) for value in values]

    def steps():
        while iterators:
            row = []
            for place, iterator in enumerate(iterators):
                item = advance(frame, iterator)
                if item is None:
                    if (
                        strict is not None
                        and constant_of(strict)
                        and (place or any(advance(frame, i) for i in iterators[1:]))
                    ):
                        raise raised(ValueError, "zip() arguments have different lengths")
                    return
                row.append(item)
            yield TupleVariable(row)

    return IteratorVariable(steps(), cls=zip, made=(zip, values, {}) if strict is None else None)


def enumerated(frame: Any, value: Variable, start: Variable | None = None) -> Variable:
    iterator, first = iterator_over(frame, value), constant_of(start) if start is not None else 0

    def steps():
        number = first
        while (item := advance(frame, iterator)) is not None:
            yield TupleVariable([Constant(number), item])
            number += 1

    return IteratorVariable(steps(), cls=enumerate, made=(enumerate, (value, Constant(first)), {}))


def mapped(frame: Any, function: Variable, *values: Variable) -> Variable:
    rows = zipped(frame, *values)
    steps = (calls.call(frame, function, row.items, {}) for row in rows.steps)
    return IteratorVariable(steps, cls=map, made=(map, (function, *values), {}))


def filtered(frame: Any, function: Variable, value: Variable) -> Variable:
    def steps():
        iterator = iterator_over(frame, value)
        while (item := advance(frame, iterator)) is not None:
            is_none = isinstance(function, Constant) and function.value is None
            kept = item if is_none else calls.call(frame, function, [item], {})
            if symbolic.truth(frame, frame.output.realize(kept)):
                yield item

    return IteratorVariable(steps(), cls=filter)


def backwards(frame: Any, value: Variable) -> Variable:
    return IteratorVariable(iter(items_of(frame, value)[::-1]), cls=reversed)


def chained(frame: Any, *values: Variable) -> Variable:
    steps = (item for value in values for item in items_of(frame, value))
    return IteratorVariable(steps, cls=itertools.chain, made=(itertools.chain, values, {}))


def chained_from(frame: Any, value: Variable) -> Variable:
    return chained(frame, *items_of(frame, value))


# ------------------------------------------------------------------------------------------------------------
# What goes over all items


def total(frame: Any, value: Variable, start: Variable | None = None) -> Variable:
    result = start if start is not None else Constant(0)
    iterator = iterator_over(frame, value)
    while (item := advance(frame, iterator)) is not None:
        result = calls.compute(frame, "+", result, frame.output.realize(item))
    return result


def any_of(wanted: bool) -> Callable:
    def decide(frame: Any, value: Variable) -> Variable:
        iterator = iterator_over(frame, value)
        while (item := advance(frame, iterator)) is not None:
            if symbolic.truth(frame, frame.output.realize(item)) == wanted:
                return Constant(wanted)
        return Constant(not wanted)

    return decide


def extreme(function: Callable, symbol: str, operation: str) -> Callable:
    def find(frame: Any, *values: Variable, key: Variable | None = None, default: Variable | None = None) -> Variable:
        items = [frame.output.realize(item) for item in (items_of(frame, values[0]) if len(values) == 1 else values)]
        if any(isinstance(item, TensorVariable) for item in items) and key is None:
            if len(items) == 2 and all(isinstance(item, TensorVariable) for item in items):
                return call_in_graph(frame, getattr(rl, operation), items, {})
            raise Unsupported(f"{function.__name__} of tensors")
        if not items:
            if default is not None:
                return default
            raise raised(ValueError, f"{function.__name__}() iterable argument is empty")
        best, best_rank = None, None
        for item in items:
            rank = item if key is None else frame.output.realize(calls.call(frame, key, [item], {}))
            if best is None or symbolic.truth(frame, calls.compute(frame, symbol, rank, best_rank)):
                best, best_rank = item, rank
        return best

    return find


def sorting(frame: Any, value: Variable, key: Variable | None = None, reverse: Variable | None = None) -> Variable:
    return ListVariable(sorted_items(frame, [frame.output.realize(i) for i in items_of(frame, value)], key, reverse))


# ------------------------------------------------------------------------------------------------------------
# Operators, modes, and what is left to Python


def operator_rule(symbol: str) -> Callable:
    return lambda frame, left, right: calls.compute(frame, symbol, left, right)


def grad_enabled(frame: Any) -> Variable:
    return Constant(local.grad_enabled)


def set_grad_rule(frame: Any, mode: Variable) -> Variable:
    set_grad_mode(frame, constant_of(mode))
    return Constant(None)


def graph_break() -> None:
    """Nothing, for Python; a captured graph ends here."""


def break_rule(frame: Any) -> Variable:
    raise Unsupported("Call to rushlight.dynamo.graph_break()")


def not_captured(frame: Any, *args: Variable, **kwargs: Variable) -> Variable:
    raise Unsupported("call of manual_seed")


# ------------------------------------------------------------------------------------------------------------
# The table

BUILTINS: dict[Any, Callable] = {
    len: length, isinstance: is_instance, type: type_of, hasattr: has_attribute, getattr: get_attribute_or,
    setattr: put_attribute, callable: is_callable, list: make_sequence(list), tuple: make_sequence(tuple),
    set: make_set(set), frozenset: make_set(frozenset), dict: make_dict(dict), OrderedDict: make_dict(OrderedDict),
    defaultdict: make_dict(defaultdict), rl.Size: make_size, zip: zipped, enumerate: enumerated, map: mapped, filter: filtered,
    reversed: backwards, iter: make_iterator, next: next_item, sum: total, any: any_of(True), all: any_of(False),
    max: extreme(max, ">", "maximum"), min: extreme(min, "<", "minimum"), sorted: sorting, bool: to_bool, str: to_str(str),
    repr: to_str(repr), super: super_rule, rl.is_grad_enabled: grad_enabled, rl._C._set_grad_enabled: set_grad_rule,
    rl.autograd.grad: training.grad,
    **{function: operator_rule(symbol) for symbol, function in OPERATORS.items() if symbol != "[]"},
    itertools.chain: chained, itertools.chain.from_iterable: chained_from, rl.manual_seed: not_captured,
    operator.getitem: get_item, graph_break: break_rule,
}  # fmt: skip
