"""Export: a module as a program that needs neither the module nor its class.

`trace` makes the graph, `graph_signature` says what its inputs and outputs are, `dynamic_shapes`, `symbolic_shapes` and
`expressions` are about sizes that may change, `exported_program` runs the result, `serialize` saves and loads it, and `verifier`
refuses bad files.

In PyTorch: `torch/export/`, `torch/_export/`.
"""

from rushlight.export.dynamic_shapes import Dim
from rushlight.export.exported_program import ExportedProgram
from rushlight.export.graph_signature import ExportGraphSignature
from rushlight.export.serialize import load, save
from rushlight.export.trace import export

__all__ = ["Dim", "ExportGraphSignature", "ExportedProgram", "export", "load", "save"]
