"""Calls, as far as they are known while a graph is captured.

`call` asks `how_to_call` what becomes of a callable: a node of the graph, a frame of its own, a value that Python computes at
once, a rule from the table `BUILTINS`. What has no rule breaks the graph: the reason is in the `Unsupported`. Operators and
methods are calls too, with rules by the kind of variable: `tensors`, `containers`, `objects`. In PyTorch:
`torch/_dynamo/trace_rules.py` (which functions go into the graph), `variables/functions.py`, `variables/torch.py`.
"""

from __future__ import annotations

import operator
from types import BuiltinFunctionType, FunctionType, MethodDescriptorType, WrapperDescriptorType
from typing import Any

import rushlight as rl
from rushlight.dynamo import symbolic
from rushlight.dynamo.bytecode import OPERATORS
from rushlight.dynamo.containers import (
    container_method,
    contains,
    dict_method,
    get_item,
    items_of,
    iterator_over,
    next_item,
    same,
    set_item,
)
from rushlight.dynamo.objects import class_attribute, get_attribute, new_object, object_attribute
from rushlight.dynamo.rules import BUILTINS
from rushlight.dynamo.tensors import call_tensor_method
from rushlight.dynamo.training import enter_grad_mode, set_grad_mode
from rushlight.dynamo.values import call_in_graph, fold
from rushlight.dynamo.variables import (
    Constant,
    DictVariable,
    FunctionVariable,
    GradModeVariable,
    IteratorVariable,
    ListVariable,
    MethodVariable,
    ObjectVariable,
    SetVariable,
    TensorVariable,
    TupleVariable,
    Unsupported,
    Variable,
)
from rushlight.library import OpOverload, OpOverloadPacket

__all__ = ["BUILTINS", "call", "call_in_graph", "call_method", "compute", "fold", "how_to_call", "items_of"]

# ------------------------------------------------------------------------------------------------------------
# What becomes of a callable

# Modules whose functions are operations on tensors; all others of the framework are inlined as a user's are.
IN_GRAPH = (
    "rushlight.aten.generated.functions", "rushlight.aten.functional", "rushlight.aten.indexing", "rushlight.nn.functional",
    "rushlight.aten.native.creation", "rushlight.aten.native.views", "rushlight.aten.native.conversions",
    "rushlight.aten.native.linear_algebra", "rushlight.aten.native.random", "rushlight.autograd.variable",
)  # fmt: skip
FOLDED_MODULES = ("math", "operator", "_operator", "rushlight.aten.strided", "rushlight.c10.schema")
FOLDED_TYPES = (int, float, complex, str, bytes, range, slice, rl.dtype, rl.device)
FOLDED = {
    abs, round, divmod, pow, ord, chr, hex, bin, oct, hash, ascii, format, __import__,
}  # fmt: skip
OPERATOR_TYPES = (OpOverload, OpOverloadPacket)


def how_to_call(function: Any) -> str:
    """What becomes of a call of `function`, a callable of Python, while a graph is captured: one word.

    - "rule": it has a rule of its own in `BUILTINS`, a dict by callable.
    - "break": it has an attribute `_dynamo_disable` that is true.
    - "graph": a Python function of one of the modules `IN_GRAPH` (`__module__`), or an operator, of one of
      the classes `OPERATOR_TYPES`: it becomes a node.
    - "inline": any other Python function (`FunctionType`): its instructions are run in turn.
    - "fold": it is in `FOLDED` or one of the classes `FOLDED_TYPES`, or it is builtin (`BuiltinFunctionType`) and of one of the
      modules `FOLDED_MODULES`, or a method of an object of one of the classes `FOLDED_TYPES` (`__self__`): with known
      arguments Python computes the value.
    - "new": any other class: an object of it is made.
    - "break": anything else.

    The first that fits counts.

    Source: `torch/_dynamo/trace_rules.py`, `lookup`.
    """
    if function in BUILTINS:
        return "rule"
    if getattr(function, "_dynamo_disable", False):
        return "break"
    if isinstance(function, FunctionType):
        return "graph" if function.__module__ in IN_GRAPH else "inline"
    if isinstance(function, OPERATOR_TYPES):
        return "graph"
    if function in FOLDED or function in FOLDED_TYPES:
        return "fold"
    if isinstance(function, BuiltinFunctionType) and (
        function.__module__ in FOLDED_MODULES or isinstance(function.__self__, FOLDED_TYPES)
    ):
        return "fold"
    return "new" if isinstance(function, type) else "break"


def call(frame: Any, function: Variable, args: list[Variable], kwargs: dict[str, Variable]) -> Variable:
    """Call what a variable stands for."""
    function = frame.output.realize(function)
    match function:
        case MethodVariable(function=str() as name, owner=owner):
            return call_method(frame, owner, name, args, kwargs)
        case MethodVariable(function=bound, owner=owner):
            return call(frame, bound, [owner, *args], kwargs)
        case FunctionVariable(real=None):
            return symbolic.inline(frame, function, args, kwargs)
        case FunctionVariable(real=real):
            return call_python(frame, real, function, args, kwargs)
        case Constant(value=value) if callable(value):
            return call_python(frame, value, function, args, kwargs)
        case ObjectVariable(cls=cls):
            method = class_attribute(cls, "__call__")
            if isinstance(method, FunctionType):
                return call(frame, frame.output.wrap_function(method, None), [function, *args], kwargs)
    raise Unsupported(f"a call of {function!r}")


def call_python(
    frame: Any, value: Any, function: Variable, args: list[Variable], kwargs: dict[str, Variable]
) -> Variable:
    """Call a callable of Python. `function` is its variable, which has a closure where it needs one."""
    how = how_to_call(value)
    name = getattr(value, "__name__", repr(value))
    if how == "inline":
        if not isinstance(function, FunctionVariable):
            function = frame.output.wrap_function(value, None)
        return symbolic.inline(frame, function, args, kwargs)
    args = [frame.output.realize(arg) for arg in args]
    kwargs = {key: frame.output.realize(arg) for key, arg in kwargs.items()}
    if how == "rule":
        return BUILTINS[value](frame, *args, **kwargs)
    if how == "graph":
        return call_in_graph(frame, value, args, kwargs)
    if how == "fold":
        if any(isinstance(arg, TensorVariable) for arg in args) and value in (abs, pow, round, *OPERATORS.values()):
            target = {abs: operator.abs, pow: operator.pow}.get(value, value)
            return call_in_graph(frame, target, args, kwargs)
        if value in (int, float, complex) and args and isinstance(args[0], TensorVariable):
            raise Unsupported(f"{name}() of a tensor: its data are not known")
        return fold(frame, value, args, kwargs)
    if how == "new":
        return new_object(frame, value, args, kwargs)
    raise Unsupported(f"call of {name}")


# ------------------------------------------------------------------------------------------------------------
# Methods and operators


def call_method(
    frame: Any, owner: Variable, name: str, args: list[Variable], kwargs: dict[str, Variable] | None = None
) -> Variable:
    """Call a method by its name: by the kind of the variable that has it."""
    owner, kwargs = frame.output.realize(owner), kwargs or {}
    if isinstance(owner, TensorVariable):
        return call_tensor_method(frame, owner, name, [frame.output.realize(arg) for arg in args], kwargs)
    if isinstance(owner, (ListVariable, TupleVariable, DictVariable, SetVariable)):
        rule = {"__getitem__": get_item, "__setitem__": set_item}.get(name)
        if rule is not None:
            args = [frame.output.realize(args[0]), *args[1:]]
            return rule(frame, owner, *args) or Constant(None)
        if name == "__iter__":
            return iterator_over(frame, owner)
        if name == "__len__":
            return Constant(len(owner.items))
        if name == "__contains__":
            return Constant(contains(frame, owner, frame.output.realize(args[0])))
        if isinstance(owner, DictVariable):
            return dict_method(frame, owner, name, args, kwargs)
        return container_method(frame, owner, name, args, kwargs)
    if isinstance(owner, GradModeVariable):
        if name == "_recreate_cm":  # of a mode as a decorator
            return owner
        if name == "__enter__":
            enter_grad_mode(frame, owner)
        else:
            set_grad_mode(frame, owner.before.pop())
        return Constant(None)
    if isinstance(owner, IteratorVariable) and name == "__next__":
        return next_item(frame, owner)
    if isinstance(owner, ObjectVariable):
        found = class_attribute(owner.cls, name)
        if isinstance(found, (WrapperDescriptorType, MethodDescriptorType)):
            if name == "__setattr__":
                owner.attributes[args[0].value] = args[1]
                if owner.source is not None:
                    frame.output.effect("attribute", owner, args[0].value)
                return Constant(None)
            if name == "__eq__":
                return Constant(same(frame, owner, frame.output.realize(args[0])))
            raise Unsupported(f"{owner.cls.__name__}.{name}")
        return call(frame, object_attribute(frame, owner, name), args, kwargs)
    return call(frame, get_attribute(frame, owner, name), args, kwargs)


def compute(frame: Any, symbol: str, left: Variable, right: Variable) -> Variable:
    """A binary operator, with those that classes of the user define."""
    for owner, other, name in ((left, right, "__{}__"), (right, left, "__r{}__")):
        if isinstance(owner, ObjectVariable):
            method = name.format(OPERATORS[symbol].__name__.strip("_"))
            found = class_attribute(owner.cls, method)
            if isinstance(found, FunctionType):
                return call_method(frame, owner, method, [other])
    return symbolic.binary_op(frame, symbol, left, right)
