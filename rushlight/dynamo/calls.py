"""Choose how a call is captured.

`how_to_call` says it in a word, and the table `VARIABLES` has the class of variable that makes such a call: a node of the graph, a
value that Python computes at once, a rule from the table `BUILTINS`, a new object, or a graph break. A Python function is inlined.
In PyTorch: `torch/_dynamo/trace_rules.py`, where `lookup` gives the class itself. Left out: its lists of thousands of names.
"""

from __future__ import annotations

from types import BuiltinFunctionType, FunctionType
from typing import Any

import rushlight as rl
from rushlight.dynamo.variables.base import Args, Kwargs, Translator, VariableTracker
from rushlight.dynamo.variables.builtin import BUILTINS, BuiltinVariable, FoldedFunctionVariable
from rushlight.dynamo.variables.constant import ConstantVariable, fold
from rushlight.dynamo.variables.functions import BaseUserFunctionVariable, SkipFunctionVariable
from rushlight.dynamo.variables.torch import TorchInGraphFunctionVariable, call_in_graph
from rushlight.dynamo.variables.user_defined import UserDefinedClassVariable
from rushlight.library import OpOverload, OpOverloadPacket

__all__ = ["BUILTINS", "call_callable", "call_in_graph", "fold", "how_to_call"]

# Modules whose functions are operations on tensors; all others of the framework are inlined as a user's are.
IN_GRAPH = (
    "rushlight.aten.generated.functions", "rushlight.aten.functional", "rushlight.aten.indexing", "rushlight.nn.functional",
    "rushlight.aten.native.creation", "rushlight.aten.native.views", "rushlight.aten.native.conversions",
    "rushlight.aten.native.linear_algebra", "rushlight.aten.native.random", "rushlight.autograd.variable",
    "torch.nn.functional",  # its name in a program for PyTorch
)  # fmt: skip
FOLDED_MODULES = ("math", "operator", "_operator", "rushlight.aten.strided", "rushlight.c10.schema")
FOLDED_TYPES = (int, float, complex, str, bytes, range, slice, rl.dtype, rl.device)
FOLDED = {abs, round, divmod, pow, ord, chr, hex, bin, oct, hash, ascii, format, __import__}
OPERATOR_TYPES = (OpOverload, OpOverloadPacket)


def how_to_call(function: Any) -> str:
    """Choose how a call of `function`, a Python callable that can be hashed, is captured: one word.

    `function` is no bound method of a Python function, because a call of one is captured as a call of its function.

    - "rule": it has a rule of its own in `BUILTINS`, a dict by callable.
    - "break": a function whose attribute `_dynamo_disable` is True. Others have no such attribute, or it is False.
    - "graph": a Python function whose `__module__` is in `IN_GRAPH`, or an operator, which is an instance of a class in
      `OPERATOR_TYPES`: the call becomes a node.
    - "inline": any other Python function (`FunctionType`): its instructions are captured too.
    - "fold": a member of `FOLDED` or of `FOLDED_TYPES` (not a class derived from a member); or a builtin function
      (`BuiltinFunctionType`) whose `__module__` is in `FOLDED_MODULES`, or whose `__self__` is an instance of a class in
      `FOLDED_TYPES`: Python computes the value, if the arguments are known.
    - "new": any other class: the call makes an object.
    - "break": anything else.

    The first line that fits counts.

    >>> how_to_call(rl.relu), how_to_call(len), how_to_call(print)
    ('graph', 'rule', 'break')

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


VARIABLES: dict[str, type[ConstantVariable]] = {
    "rule": BuiltinVariable,
    "graph": TorchInGraphFunctionVariable,
    "fold": FoldedFunctionVariable,
    "new": UserDefinedClassVariable,
    "break": SkipFunctionVariable,
}


def call_callable(tx: Translator, fn: Any, variable: VariableTracker, args: Args, kwargs: Kwargs) -> VariableTracker:
    """Call a callable of Python. `variable` is its variable, which has a closure where it needs one."""
    how = how_to_call(fn)
    if how == "inline":
        known = isinstance(variable, BaseUserFunctionVariable)
        return tx.inline_user_function_return(variable if known else tx.builder.function(fn), args, kwargs)
    args = [arg.realize() for arg in args]
    kwargs = {name: arg.realize() for name, arg in kwargs.items()}
    return VARIABLES[how](fn).call_function(tx, args, kwargs)
