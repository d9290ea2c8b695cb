"""Capture graphs from the bytecode of ordinary functions: `torch._dynamo`, on CPython 3.11 to 3.13.

bytecode          reads instructions, as a small set for all versions
guards            the conditions under which a capture may be used again, and one function that checks them
variables/        the kinds of values on the symbolic stack: a class for each
codegen           the Python around a graph
output_graph      the graph of a capture, its inputs, guards and side effects
calls             the class of variable that makes a call
symbolic          operators and branches on variables
opcodes           the effect of each instruction
symbolic_convert  the interpreter that runs instructions on variables
resume_execution  the interpreter that runs them for real, where the graph breaks
cache             entries, and the reasons that none of them fits
convert_frame     runs a function region by region
eval_frame        the surface: `compile`, `explain`, `reset`
"""

# ruff: noqa: F403
from rushlight.dynamo import eval_frame
from rushlight.dynamo.eval_frame import *
from rushlight.dynamo.exc import Unsupported

__all__ = ["Unsupported", *eval_frame.__all__]
