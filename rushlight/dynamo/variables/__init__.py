"""The kinds of variable: a class for each, with the methods of `VariableTracker`.

base         the base of all variables        lists, dicts, sets   containers of variables
lazy         values that nothing has read     iter                 iterators
constant     known values                     functions, misc      functions, methods, cells, exceptions, `super`
tensor       tensors, and training            user_defined         objects and classes of the user
torch        operations: nodes of the graph   nn_module            modules
ctx_manager  grad mode                        builtin              functions with rules of their own
                                              builder              from a value to its variable

A class reaches the translator and the builder by the argument `tx`, so no module here imports either. In PyTorch:
`torch/_dynamo/variables/`.
"""

# ruff: noqa: F401
from rushlight.dynamo.variables.base import VariableTracker
from rushlight.dynamo.variables.constant import ConstantVariable
from rushlight.dynamo.variables.ctx_manager import GradModeVariable
from rushlight.dynamo.variables.dicts import ConstDictVariable, SetVariable
from rushlight.dynamo.variables.functions import BaseUserFunctionVariable, UserMethodVariable
from rushlight.dynamo.variables.iter import IteratorVariable
from rushlight.dynamo.variables.lazy import LazyVariableTracker
from rushlight.dynamo.variables.lists import BaseListVariable, ListVariable, TupleVariable
from rushlight.dynamo.variables.misc import CellVariable, ExceptionVariable, GetAttrVariable, SuperVariable
from rushlight.dynamo.variables.nn_module import UnspecializedNNModuleVariable
from rushlight.dynamo.variables.tensor import TensorVariable
from rushlight.dynamo.variables.user_defined import UserDefinedObjectVariable
