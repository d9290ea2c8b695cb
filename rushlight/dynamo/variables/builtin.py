"""`BuiltinVariable`: functions that have a rule of their own, in the table `BUILTINS`.

They accept values of any kind, so Python cannot compute them: `len` of a tensor is a constant, `sum` of tensors is a chain of
nodes, and `sorted` calls a function of the user. A rule is a function of the translator and the arguments as variables. In PyTorch:
`torch/_dynamo/variables/builtin.py`, where a rule is a method `call_len`. Left out: most of its rules.
"""

from __future__ import annotations

import itertools
import operator
from collections import OrderedDict, defaultdict
from collections.abc import Callable
from functools import partial
from types import FunctionType
from typing import Any

import rushlight as rl
from rushlight.c10.dispatch import local
from rushlight.dynamo.bytecode import OPERATORS
from rushlight.dynamo.exc import ObservedException, Unsupported
from rushlight.dynamo.variables.base import static_getattr
from rushlight.dynamo.variables.constant import ConstantVariable, fold
from rushlight.dynamo.variables.ctx_manager import set_grad_mode
from rushlight.dynamo.variables.dicts import ConstDictVariable, TensorKey, key_of
from rushlight.dynamo.variables.functions import BaseUserFunctionVariable, UserMethodVariable
from rushlight.dynamo.variables.iter import IteratorVariable
from rushlight.dynamo.variables.lists import ContainerVariable, ListVariable, TupleVariable, sorted_items
from rushlight.dynamo.variables.misc import ExceptionVariable, GetAttrVariable, SuperVariable
from rushlight.dynamo.variables.sets import SetVariable
from rushlight.dynamo.variables.tensor import call_grad
from rushlight.dynamo.variables.torch import call_in_graph
from rushlight.dynamo.variables.user_defined import UserDefinedObjectVariable

BUILTINS: dict[Any, Callable] = {rl.autograd.grad: call_grad}


class BuiltinVariable(ConstantVariable):
    """A callable with a rule in `BUILTINS`."""

    def call_function(self, tx, args, kwargs):
        return BUILTINS[self.value](tx, *args, **kwargs)


class FoldedFunctionVariable(ConstantVariable):
    """A callable that Python computes at once, if all arguments are known. An operator on tensors becomes a node."""

    def call_function(self, tx, args, kwargs):
        value = self.value
        if any(arg.is_tensor() for arg in args) and value in (abs, pow, round, *OPERATORS.values()):
            target = {abs: operator.abs, pow: operator.pow}.get(value, value)
            return call_in_graph(tx, target, args, kwargs)
        if value in (int, float, complex) and args and args[0].is_tensor():
            raise Unsupported(f"{value.__name__}() of a tensor: its data are not known")
        return fold(tx, value, args, kwargs)


def rule(*functions: Any) -> Callable[[Callable], Callable]:
    """Decorator: the rule for these callables."""

    def register(call: Callable) -> Callable:
        BUILTINS.update(dict.fromkeys(functions, call))
        return call

    return register


# ------------------------------------------------------------------------------------------------------------
# Types and attributes


@rule(len)
def call_len(tx, value):
    if value.is_tensor() or isinstance(value, (ContainerVariable, UserDefinedObjectVariable)):
        return value.call_method(tx, "__len__", [], {})
    return fold(tx, len, [value])


@rule(isinstance)
def call_isinstance(tx, value, classes):
    classes, kind = classes.as_python_constant(), value.python_type()
    if value.is_tensor() and classes is rl.nn.Parameter:
        return ConstantVariable(kind is rl.nn.Parameter)
    return ConstantVariable(issubclass(kind, classes))


@rule(type)
def call_type(tx, value, *more):
    if more:
        raise Unsupported("a new class")
    return ConstantVariable(value.python_type())


@rule(getattr)
def call_getattr(tx, obj, name, *default):
    try:
        return obj.var_getattr(tx, name.as_python_constant()).realize()
    except ObservedException as error:
        if default and issubclass(error.variable.cls, AttributeError):
            return default[0]
        raise


@rule(setattr)
def call_setattr(tx, obj, name, value):
    obj.var_setattr(tx, name.as_python_constant(), value)
    return ConstantVariable(None)


BUILTINS |= {hasattr: lambda tx, obj, name: ConstantVariable(obj.call_obj_hasattr(tx, name.as_python_constant()))}


@rule(callable)
def call_callable(tx, value):
    if isinstance(value, ConstantVariable):
        return ConstantVariable(callable(value.value))
    is_function = isinstance(value, (BaseUserFunctionVariable, UserMethodVariable, GetAttrVariable))
    return ConstantVariable(is_function or hasattr(value.python_type(), "__call__"))  # noqa: B004


@rule(super)
def call_super(tx, *args):
    """Without arguments: the class is in a cell of the frame, and the object is its first local."""
    if not args:
        cell = tx.cells.get("__class__")
        name = tx.code.co_varnames[0]
        owner = tx.locals.get(name) or tx.cells[name].contents
        args = [cell.contents.realize(), owner.realize()]
    return SuperVariable(args[0].as_python_constant(), args[1])


def call_text(cls: type) -> Callable:
    def call(tx, *values):
        value = values[0] if values else None
        if isinstance(value, UserDefinedObjectVariable):
            for name in ("__str__", "__repr__") if cls is str else ("__repr__",):
                if isinstance(static_getattr(value.cls, name), FunctionType):
                    return value.call_method(tx, name, [], {})
        if isinstance(value, ExceptionVariable) and cls is str and len(value.args) == 1:
            return call(tx, value.args[0].realize())
        return fold(tx, cls, list(values))

    return call


BUILTINS |= {str: call_text(str), repr: call_text(repr)}
BUILTINS |= {bool: lambda tx, *values: ConstantVariable(tx.truth(values[0]) if values else False)}

# ------------------------------------------------------------------------------------------------------------
# Containers


def call_sequence(make: Callable) -> Callable:
    return lambda tx, *values: make(values[0].unpack_var_sequence(tx) if values else [])


def call_set_of(cls: type) -> Callable:
    def call(tx, *values):
        keys = {key_of(tx, item) for item in values[0].unpack_var_sequence(tx)} if values else set()
        if any(isinstance(key, TensorKey) for key in keys):
            raise Unsupported("tensors in a set")
        return SetVariable(keys, cls=cls)

    return call


def call_dict_of(cls: type) -> Callable:
    def call(tx, *values, **named):
        new = ConstDictVariable({}, cls=cls)
        if cls is defaultdict and values:
            new.factory, values = values[0], values[1:]
        new.call_method(tx, "update", list(values), named)
        return new

    return call


BUILTINS |= {list: call_sequence(ListVariable), tuple: call_sequence(TupleVariable)}
BUILTINS |= {rl.Size: call_sequence(partial(TupleVariable, cls=rl.Size))}
BUILTINS |= {cls: call_set_of(cls) for cls in (set, frozenset)}
BUILTINS |= {cls: call_dict_of(cls) for cls in (dict, OrderedDict, defaultdict)}
BUILTINS |= {operator.getitem: lambda tx, container, key: container.getitem(tx, key)}

# ------------------------------------------------------------------------------------------------------------
# Iterators


BUILTINS |= {iter: lambda tx, value: value.iterate(tx)}


@rule(next)
def call_next(tx, iterator, *default):
    item = iterator.next_variable(tx)
    if item is not None:
        return item
    if default:
        return default[0]
    raise tx.error(StopIteration)


@rule(zip)
def call_zip(tx, *values, strict=None):
    iterators = [value.iterate(tx) for value in values]

    def steps():
        while iterators:
            row = []
            for i, iterator in enumerate(iterators):
                item = iterator.next_variable(tx)
                if item is None:
                    is_strict = strict is not None and strict.as_python_constant()
                    if is_strict and (i or any(each.next_variable(tx) for each in iterators[1:])):
                        raise tx.error(ValueError, "zip() arguments have different lengths")
                    return
                row.append(item)
            yield TupleVariable(row)

    return IteratorVariable(steps(), cls=zip, made=(zip, values, {}) if strict is None else None)


@rule(enumerate)
def call_enumerate(tx, value, start=None):
    iterator, first = value.iterate(tx), start.as_python_constant() if start is not None else 0

    def steps():
        number = first
        while (item := iterator.next_variable(tx)) is not None:
            yield TupleVariable([ConstantVariable(number), item])
            number += 1

    return IteratorVariable(steps(), cls=enumerate, made=(enumerate, (value, ConstantVariable(first)), {}))


@rule(map)
def call_map(tx, function, *values):
    rows = call_zip(tx, *values)
    steps = (function.call_function(tx, row.items, {}) for row in rows.steps)
    return IteratorVariable(steps, cls=map, made=(map, (function, *values), {}))


@rule(filter)
def call_filter(tx, function, value):
    def steps():
        iterator = value.iterate(tx)
        while (item := iterator.next_variable(tx)) is not None:
            kept = item if function.is_constant_none() else function.call_function(tx, [item], {})
            if tx.truth(kept.realize()):
                yield item

    return IteratorVariable(steps(), cls=filter)


@rule(itertools.chain)
def call_chain(tx, *values):
    steps = (item for value in values for item in value.unpack_var_sequence(tx))
    return IteratorVariable(steps, cls=itertools.chain, made=(itertools.chain, values, {}))


BUILTINS |= {
    itertools.chain.from_iterable: lambda tx, value: call_chain(tx, *value.unpack_var_sequence(tx)),
    reversed: lambda tx, value: IteratorVariable(iter(value.unpack_var_sequence(tx)[::-1]), cls=reversed),
}

# ------------------------------------------------------------------------------------------------------------
# Functions of all items


@rule(sum)
def call_sum(tx, value, start=None):
    result = start if start is not None else ConstantVariable(0)
    iterator = value.iterate(tx)
    while (item := iterator.next_variable(tx)) is not None:
        result = tx.compute("+", result, item.realize())
    return result


def call_any_of(wanted: bool) -> Callable:
    def call(tx, value):
        iterator = value.iterate(tx)
        while (item := iterator.next_variable(tx)) is not None:
            if tx.truth(item.realize()) == wanted:
                return ConstantVariable(wanted)
        return ConstantVariable(not wanted)

    return call


def call_extreme(function: Callable, symbol: str, operation: Callable) -> Callable:
    def call(tx, *values, key=None, default=None):
        items = [item.realize() for item in (values[0].unpack_var_sequence(tx) if len(values) == 1 else values)]
        tensors = [item.is_tensor() for item in items]
        if any(tensors) and key is None:
            if tensors == [True, True]:
                return call_in_graph(tx, operation, items, {})
            raise Unsupported(f"{function.__name__} of tensors")
        if not items and default is None:
            raise tx.error(ValueError, f"{function.__name__}() iterable argument is empty")
        best, best_rank = default, None
        for item in items:
            rank = item if key is None else key.call_function(tx, [item], {}).realize()
            if best_rank is None or tx.truth(tx.compute(symbol, rank, best_rank)):
                best, best_rank = item, rank
        return best

    return call


BUILTINS |= {any: call_any_of(True), all: call_any_of(False)}
BUILTINS |= {max: call_extreme(max, ">", rl.maximum), min: call_extreme(min, "<", rl.minimum)}


@rule(sorted)
def call_sorted(tx, value, key=None, reverse=None):
    return ListVariable(sorted_items(tx, [item.realize() for item in value.unpack_var_sequence(tx)], key, reverse))


# ------------------------------------------------------------------------------------------------------------
# Operators, grad mode, and calls that break the graph


def call_operator(symbol: str) -> Callable:
    return lambda tx, left, right: tx.compute(symbol, left, right)


BUILTINS |= {function: call_operator(symbol) for symbol, function in OPERATORS.items() if symbol != "[]"}
BUILTINS |= {rl.is_grad_enabled: lambda tx: ConstantVariable(local.grad_enabled)}


@rule(rl._C._set_grad_enabled)
def call_set_grad_enabled(tx, mode):
    set_grad_mode(tx, mode.as_python_constant())
    return ConstantVariable(None)


@rule(rl.manual_seed)
def call_manual_seed(tx, *args, **kwargs):
    raise Unsupported("call of manual_seed")


def graph_break() -> None:
    """Nothing, for Python; a captured graph ends here."""


@rule(graph_break)
def call_graph_break(tx):
    raise Unsupported("Call to rushlight.dynamo.graph_break()")
