"""The exceptions that end a capture or restart it.

`Unsupported` breaks the graph, `SkipFrame` skips a frame, `AutogradGradRestartAnalysis` begins the capture again with an earlier
end. An exception of the captured function itself travels through the capture as an `ObservedException`. In PyTorch:
`torch/_dynamo/exc.py`. Left out: hints for the user, and errors of a backend, which pass through as they are.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rushlight.dynamo.variables.base import VariableTracker


class Unsupported(Exception):
    """An operation cannot be captured: the graph breaks here. The message is the reason."""


class TorchRuntimeError(RuntimeError):
    """An operator of a program has no fake implementation. This error does not break the graph."""


class AutogradGradRestartAnalysis(Unsupported):
    """The graph returns a tensor whose history `autograd.grad` consumes in the same graph."""


class SkipFrame(Exception):  # noqa: N818  (PyTorch's name)
    """Nothing of a function is captured from this instruction on."""


class ObservedException(Exception):  # noqa: N818  (PyTorch's name)
    """The captured function raises an exception. `variable` is its `ExceptionVariable`."""

    def __init__(self, variable: VariableTracker) -> None:
        super().__init__(variable)
        self.variable = variable
