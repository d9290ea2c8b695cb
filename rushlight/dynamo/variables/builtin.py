"""`BuiltinVariable`: functions that have a rule of their own, in the table `BUILTINS`.

They accept values of any kind, so Python cannot compute them: `len` of a tensor is a constant, `sum` of tensors is a chain of
nodes, and `sorted` calls a function of the user. A rule is a method of the translator and the arguments as variables, such as
`call_len`. In PyTorch: `torch/_dynamo/variables/builtin.py`. Left out: most of its rules.
"""

import itertools
import operator
from collections import OrderedDict, defaultdict
from collections.abc import Callable
from inspect import getattr_static
from types import FunctionType
from typing import Any

import rushlight as rl
from rushlight import compiler
from rushlight.c10.dispatch import local
from rushlight.dynamo.bytecode import OPERATORS
from rushlight.dynamo.exc import ObservedException, Unsupported
from rushlight.dynamo.variables.base import observe_exceptions
from rushlight.dynamo.variables.constant import ConstantVariable, fold
from rushlight.dynamo.variables.ctx_manager import set_grad_mode
from rushlight.dynamo.variables.dicts import ConstDictVariable, SetVariable, TensorKey, key_of
from rushlight.dynamo.variables.functions import BaseUserFunctionVariable, UserMethodVariable
from rushlight.dynamo.variables.iter import IteratorVariable
from rushlight.dynamo.variables.lists import ContainerVariable, ListVariable, TupleVariable, sorted_items
from rushlight.dynamo.variables.misc import ExceptionVariable, GetAttrVariable, SuperVariable
from rushlight.dynamo.variables.tensor import call_grad
from rushlight.dynamo.variables.torch import call_in_graph
from rushlight.dynamo.variables.user_defined import UserDefinedObjectVariable


def graph_break() -> None:
    """Break the graph here. Python itself does nothing."""


class FoldedFunctionVariable(ConstantVariable):
    """A callable that Python calls at once, if all arguments are known. An operator on tensors becomes a node."""

    def call_function(self, tx, args, kwargs):
        fn = self.value
        if any(arg.is_tensor() for arg in args) and fn in (abs, pow, round, *OPERATORS.values()):
            return call_in_graph(tx, {abs: operator.abs, pow: operator.pow}.get(fn, fn), args, kwargs)
        if fn in (int, float, complex) and args and args[0].is_tensor():
            raise Unsupported(f"{fn.__name__}() of a tensor: its data are not known")
        return fold(tx, fn, args, kwargs)


class BuiltinVariable(ConstantVariable):
    """A callable with a rule in `BUILTINS`: most of the rules are its methods."""

    def call_function(self, tx, args, kwargs):
        return BUILTINS[self.value](self, tx, *args, **kwargs)

    # Types and attributes

    def call_len(self, tx, value):
        if value.is_tensor() or isinstance(value, (ContainerVariable, UserDefinedObjectVariable)):
            return value.call_method(tx, "__len__", [], {})
        return fold(tx, len, [value])

    def call_isinstance(self, tx, value, classes):
        classes, kind = classes.as_python_constant(), value.python_type()
        if value.is_tensor() and classes is rl.nn.Parameter:
            return ConstantVariable(kind is rl.nn.Parameter)
        return ConstantVariable(issubclass(kind, classes))

    def call_type(self, tx, value, *more):
        if more:
            raise Unsupported("a new class")
        return ConstantVariable(value.python_type())

    def call_getattr(self, tx, obj, name, *default):
        try:
            return obj.var_getattr(tx, name.as_python_constant()).realize()
        except ObservedException as error:
            if default and issubclass(error.variable.cls, AttributeError):
                return default[0]
            raise

    def call_setattr(self, tx, obj, name, value):
        obj.var_setattr(tx, name.as_python_constant(), value)
        return ConstantVariable(None)

    def call_callable(self, tx, value):
        if isinstance(value, ConstantVariable):
            return ConstantVariable(callable(value.value))
        is_function = isinstance(value, (BaseUserFunctionVariable, UserMethodVariable, GetAttrVariable))
        return ConstantVariable(is_function or hasattr(value.python_type(), "__call__"))  # noqa: B004

    def call_super(self, tx, *args):
        """Without arguments: the class is in a cell of the frame, and the object is its first local."""
        if not args:
            name = tx.code.co_varnames[0]
            owner = tx.locals.get(name) or tx.cells[name].contents
            args = tx.cells["__class__"].contents.realize(), owner.realize()
        return SuperVariable(args[0].as_python_constant(), args[1])

    def call_str(self, tx, *values):
        value, cls = values[0] if values else None, self.value
        if isinstance(value, UserDefinedObjectVariable):
            for name in ("__str__", "__repr__") if cls is str else ("__repr__",):
                if isinstance(getattr_static(value.cls, name, None), FunctionType):
                    return value.call_method(tx, name, [], {})
        if isinstance(value, ExceptionVariable) and cls is str and len(value.args) == 1:
            return self.call_str(tx, value.args[0].realize())
        return fold(tx, cls, list(values))

    call_repr = call_str

    # Containers

    def call_list(self, tx, *values):
        items = values[0].unpack_var_sequence(tx) if values else []
        return ListVariable(items) if self.value is list else TupleVariable(items, cls=self.value)

    call_tuple = call_list

    def call_set(self, tx, *values):
        keys = {key_of(tx, item) for item in values[0].unpack_var_sequence(tx)} if values else set()
        if any(isinstance(key, TensorKey) for key in keys):
            raise Unsupported("tensors in a set")
        return SetVariable(keys, cls=self.value)

    call_frozenset = call_set

    def call_dict(self, tx, *values, **named):
        new = ConstDictVariable({}, cls=self.value)
        if self.value is defaultdict and values:
            new.factory, values = values[0], values[1:]
        new.call_method(tx, "update", list(values), named)
        return new

    # Iterators

    def call_next(self, tx, iterator, *default):
        item = iterator.next_variable(tx)
        if item is None and not default:
            raise tx.error(StopIteration)
        return default[0] if item is None else item

    def call_zip(self, tx, *values, strict=None):
        iterators = [value.iterate(tx).remaining(tx) for value in values]
        rows = zip(*iterators, strict=strict is not None and strict.as_python_constant())

        def steps():
            with observe_exceptions(tx, ValueError):
                yield from (TupleVariable(list(row)) for row in rows)

        return IteratorVariable(steps(), cls=zip, made=(zip, values, {}) if strict is None else None)

    def call_enumerate(self, tx, value, start=None):
        first = start.as_python_constant() if start is not None else 0
        rows = enumerate(value.iterate(tx).remaining(tx), first)
        steps = (TupleVariable([ConstantVariable(number), item]) for number, item in rows)
        return IteratorVariable(steps, cls=enumerate, made=(enumerate, (value, ConstantVariable(first)), {}))

    def call_map(self, tx, function, *values):
        rows = self.call_zip(tx, *values)
        steps = (function.call_function(tx, row.items, {}) for row in rows.steps)
        return IteratorVariable(steps, cls=map, made=(map, (function, *values), {}))

    def call_filter(self, tx, function, value):
        def is_kept(item):
            kept = item if function.is_constant_none() else function.call_function(tx, [item], {})
            return tx.truth(kept.realize())

        return IteratorVariable(filter(is_kept, value.iterate(tx).remaining(tx)), cls=filter)

    def call_chain(self, tx, *values):
        steps = (item for value in values for item in value.unpack_var_sequence(tx))
        return IteratorVariable(steps, cls=itertools.chain, made=(itertools.chain, values, {}))

    # Functions of all items

    def call_sum(self, tx, value, start=None):
        result = start if start is not None else ConstantVariable(0)
        for item in value.iterate(tx).remaining(tx):
            result = tx.compute("+", result, item.realize())
        return result

    def call_any(self, tx, value):
        wanted = self.value is any
        decided = any(tx.truth(item.realize()) == wanted for item in value.iterate(tx).remaining(tx))
        return ConstantVariable(decided == wanted)

    call_all = call_any

    def call_max(self, tx, *values, key=None, default=None):
        name, symbol, operation = ("max", ">", rl.maximum) if self.value is max else ("min", "<", rl.minimum)
        items = [item.realize() for item in (values[0].unpack_var_sequence(tx) if len(values) == 1 else values)]
        tensors = [item.is_tensor() for item in items]
        if any(tensors) and key is None:
            if tensors == [True, True]:
                return call_in_graph(tx, operation, items, {})
            raise Unsupported(f"{name} of tensors")
        if not items and default is None:
            raise tx.error(ValueError, f"{name}() iterable argument is empty")
        best, best_rank = default, None
        for item in items:
            rank = item if key is None else key.call_function(tx, [item], {}).realize()
            if best_rank is None or tx.truth(tx.compute(symbol, rank, best_rank)):
                best, best_rank = item, rank
        return best

    call_min = call_max

    def call_sorted(self, tx, value, key=None, reverse=None):
        return ListVariable(sorted_items(tx, [item.realize() for item in value.unpack_var_sequence(tx)], key, reverse))

    # Grad mode, and calls that break the graph

    def call__set_grad_enabled(self, tx, mode):
        set_grad_mode(tx, mode.as_python_constant())
        return ConstantVariable(None)

    def call_manual_seed(self, tx, *args, **kwargs):
        raise Unsupported("call of manual_seed")

    def call_graph_break(self, tx):
        raise Unsupported("Call to `torch._dynamo.graph_break()`")


NAMED = (
    len, isinstance, type, getattr, setattr, callable, super, str, repr, list, tuple, set, frozenset, dict, next, zip, enumerate,
    map, filter, itertools.chain, sum, any, all, max, min, sorted, rl._C._set_grad_enabled, rl.manual_seed, graph_break,
)  # fmt: skip
BUILTINS: dict[Any, Callable] = {function: getattr(BuiltinVariable, f"call_{function.__name__}") for function in NAMED}
BUILTINS |= dict.fromkeys((OrderedDict, defaultdict), BuiltinVariable.call_dict) | {rl.Size: BuiltinVariable.call_tuple}
BUILTINS |= {
    function: lambda self, tx, left, right, symbol=symbol: tx.compute(symbol, left, right)
    for symbol, function in OPERATORS.items()
}
BUILTINS |= {
    operator.getitem: lambda self, tx, container, key: container.getitem(tx, key),
    hasattr: lambda self, tx, obj, name: ConstantVariable(obj.call_obj_hasattr(tx, name.as_python_constant())),
    bool: lambda self, tx, *values: ConstantVariable(tx.truth(values[0]) if values else False),
    iter: lambda self, tx, value: value.iterate(tx),
    reversed: lambda self, tx, value: IteratorVariable(iter(value.unpack_var_sequence(tx)[::-1]), cls=reversed),
    itertools.chain.from_iterable: lambda self, tx, value: self.call_chain(tx, *value.unpack_var_sequence(tx)),
    rl.is_tensor: lambda self, tx, value: ConstantVariable(value.realize().is_tensor()),
    rl.is_grad_enabled: lambda self, tx: ConstantVariable(local.grad_enabled),
    compiler.is_compiling: lambda self, tx: ConstantVariable(True),
    compiler.is_dynamo_compiling: lambda self, tx: ConstantVariable(True),
    rl.autograd.grad: lambda self, tx, *args, **kwargs: call_grad(tx, *args, **kwargs),
}
