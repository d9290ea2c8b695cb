"""Operators and branches on variables, where Python would look at the values.

`compute` applies a binary operator, which a class of the user may define; `binary_op` and `unary_op` apply the operators of all
other kinds; `truth` decides a branch. In PyTorch: `torch/_dynamo/variables/builtin.py` (`_binop_handlers`),
`torch/_dynamo/symbolic_convert.py` (`generic_jump`). Left out: comparisons of containers item by item.
"""

from __future__ import annotations

from inspect import getattr_static
from types import FunctionType
from typing import TYPE_CHECKING

from rushlight.dynamo import calls
from rushlight.dynamo.bytecode import MIRRORED, OPERATORS, PLAIN, UNARY
from rushlight.dynamo.exc import Unsupported
from rushlight.dynamo.variables.base import VariableTracker
from rushlight.dynamo.variables.constant import ConstantVariable
from rushlight.dynamo.variables.ctx_manager import GradModeVariable
from rushlight.dynamo.variables.dicts import ConstDictVariable, SetVariable
from rushlight.dynamo.variables.functions import BaseUserFunctionVariable, UserMethodVariable
from rushlight.dynamo.variables.iter import IteratorVariable
from rushlight.dynamo.variables.lists import ListVariable, TupleVariable
from rushlight.dynamo.variables.misc import ExceptionVariable, GetAttrVariable
from rushlight.dynamo.variables.tensor import TensorVariable
from rushlight.dynamo.variables.user_defined import UserDefinedObjectVariable

if TYPE_CHECKING:
    from rushlight.dynamo.symbolic_convert import InstructionTranslatorBase

CONTAINERS = (ListVariable, TupleVariable, ConstDictVariable, SetVariable)
ALWAYS_TRUE = (
    BaseUserFunctionVariable, UserMethodVariable, GetAttrVariable, ExceptionVariable, IteratorVariable, GradModeVariable,
)  # fmt: skip


def binary_op(
    frame: InstructionTranslatorBase, symbol: str, left: VariableTracker, right: VariableTracker
) -> VariableTracker:
    """The variable of `left symbol right` while a graph is captured; `symbol` is a key of `OPERATORS`, a dict of functions.

    If an operand is a list, a tuple, a dict or a set, no in-place operator but `+=` occurs, because the caller has replaced the
    others by plain ones. A `ListVariable` and a `TupleVariable` have a list of variables, `items`, and are made from such a list.

    1. If an operand is a `TensorVariable`, the operation becomes a node of the graph: return
       `calls.call_in_graph(frame, OPERATORS[symbol], [left, right], {})`. If only the right operand is one, replace an in-place
       operator by `PLAIN[symbol]`, and a comparison by `MIRRORED[symbol]` with the operands exchanged, as Python does when it
       asks the right operand. Both are dicts by symbol.
    2. `+=` with a `ListVariable` on the left: append the items of the right operand, `right.unpack_var_sequence(frame)`, to
       `left.items`, and return `left`. Call `frame.output.changed(left)`, too, so that the change is replayed after the graph.
    3. Try `calls.fold(frame, OPERATORS[symbol], [left, right])`. If both operands are known with all their parts, Python computes
       the result: return it. Continue with rule 4 if `calls.fold` raises Unsupported.
    4. `+` of two `ListVariable`s, `+` and `+=` of two `TupleVariable`s: a new one with the items of both.
    5. `*` of a `ListVariable` or a `TupleVariable` and a `ConstantVariable`, in either order: a new one of the same kind with the
       items repeated as often as the constant's `value` says. If Python cannot repeat a list so often, any error is right.

    Raises:
        Unsupported: for anything else.

    >>> graph = rl.dynamo.explain(lambda x, n: x * (n + 1))(rl.ones(2), 3).graphs[0].graph
    >>> [(node.name, node.args) for node in graph.nodes if node.op == "call_function"]
    [('mul', (l_x_, 4))]

    Source: `torch/_dynamo/variables/builtin.py`, `BuiltinVariable._binop_handlers`.
    """
    if isinstance(left, TensorVariable):
        return calls.call_in_graph(frame, OPERATORS[symbol], [left, right], {})
    if isinstance(right, TensorVariable):
        if symbol in MIRRORED:
            return calls.call_in_graph(frame, OPERATORS[MIRRORED[symbol]], [right, left], {})
        return calls.call_in_graph(frame, OPERATORS[PLAIN.get(symbol, symbol)], [left, right], {})
    if symbol == "+=" and isinstance(left, ListVariable):
        more = right.unpack_var_sequence(frame)
        frame.output.changed(left)
        left.items.extend(more)
        return left
    try:
        return calls.fold(frame, OPERATORS[symbol], [left, right])
    except Unsupported:
        match left, right:
            case ListVariable(), ListVariable() if symbol == "+":
                return ListVariable(left.items + right.items)
            case TupleVariable(), TupleVariable() if symbol in ("+", "+="):
                return TupleVariable(left.items + right.items)
            case ListVariable() | TupleVariable(), ConstantVariable() if symbol == "*":
                return type(left)(left.items * right.value)
            case ConstantVariable(), ListVariable() | TupleVariable() if symbol == "*":
                return type(right)(left.value * right.items)
        raise


def truth(frame: InstructionTranslatorBase, value: VariableTracker) -> bool:
    """Return whether a value is true, as far as this is known while a graph is captured.

    - A `ConstantVariable`: the `bool` of its `value`.
    - An instance of `CONTAINERS`, the classes for lists, tuples, dicts and sets: whether it has `items`.
    - An instance of `ALWAYS_TRUE`, the classes for functions, methods, exceptions, iterators and managers of grad mode: true.
    - A `UserDefinedObjectVariable`: if its class `cls` has `__bool__`, or else `__len__`, the truth of the variable that
      `value.call_method(frame, name, [], {})` returns; true if it has neither.

    For any other variable, the error is free. (The data of a `TensorVariable` are not known: a branch on it breaks the graph
    before this.)

    >>> from rushlight.dynamo.variables import ConstantVariable, TupleVariable
    >>> truth(None, ConstantVariable("")), truth(None, TupleVariable([ConstantVariable(0)]))
    (False, True)

    Source: `torch/_dynamo/symbolic_convert.py`, `generic_jump`.
    """
    if isinstance(value, ConstantVariable):
        return bool(value.value)
    if isinstance(value, CONTAINERS):
        return len(value.items) > 0
    if isinstance(value, ALWAYS_TRUE):
        return True
    if isinstance(value, UserDefinedObjectVariable):
        for name in ("__bool__", "__len__"):
            if hasattr(value.cls, name):
                return truth(frame, value.call_method(frame, name, [], {}))
        return True
    raise Unsupported("Data-dependent branching" if isinstance(value, TensorVariable) else f"the truth of {value!r}")


def unary_op(frame: InstructionTranslatorBase, symbol: str, value: VariableTracker) -> VariableTracker:
    """The result of `-`, `+`, `~` or `not`: of a tensor a node in the graph, and of a constant a constant."""
    if symbol == "not":
        return ConstantVariable(not truth(frame, value))
    if isinstance(value, TensorVariable):
        return calls.call_in_graph(frame, UNARY[symbol], [value], {})
    return calls.fold(frame, UNARY[symbol], [value])


def compute(
    frame: InstructionTranslatorBase, symbol: str, left: VariableTracker, right: VariableTracker
) -> VariableTracker:
    """Apply a binary operator, also one that a class of the user defines, or one that writes to a container."""
    for owner, other, name in ((left, right, "__{}__"), (right, left, "__r{}__")):
        if isinstance(owner, UserDefinedObjectVariable):
            method = name.format(OPERATORS[symbol].__name__.strip("_"))
            if isinstance(getattr_static(owner.cls, method, None), FunctionType):
                return owner.call_method(frame, method, [other], {})
    if symbol == "+=" and isinstance(left, ListVariable) and isinstance(right, TensorVariable):
        right = ListVariable(right.unpack_var_sequence(frame))  # a list is extended by the rows
    if symbol == "|=" and isinstance(left, ConstDictVariable):
        left.call_method(frame, "update", [right], {})
        return left
    if symbol in PLAIN and symbol != "+=" and (isinstance(left, CONTAINERS) or isinstance(right, CONTAINERS)):
        result = binary_op(frame, PLAIN[symbol], left, right)
        if type(left) not in (ListVariable, SetVariable) or left.cls is frozenset or type(result) is not type(left):
            return result
        frame.output.changed(left)
        left.items, left.should_reconstruct_all = result.items, True
        return left
    return binary_op(frame, symbol, left, right)
