"""Anomaly mode: find the operator of the forward pass whose backward fails or computes NaN.

While the mode is on, each new node records the traceback of the call that made it (`graph.store_stack`). If a backward pass
fails, a warning shows the traceback of the node that was running. The engine has no case for the mode: `check_anomalies`
registers hooks on all nodes before it runs. In PyTorch: `torch/autograd/anomaly_mode.py`,
`torch/csrc/autograd/anomaly_mode.cpp` and `python_anomaly_mode.cpp`.
"""

import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager

from rushlight.aten.strided import Tensor
from rushlight.autograd.graph import AnomalyMode, Node
from rushlight.c10.dispatch import local
from rushlight.c10.exception import warn

__all__ = ["set_anomaly_enabled", "is_anomaly_enabled", "is_anomaly_check_nan_enabled"]


def set_anomaly_enabled(mode: bool, check_nan: bool = True) -> None:
    """Turn anomaly mode on or off, with the check for NaN in gradients.
    Source: `torch/csrc/autograd/init.cpp`, `set_anomaly_mode_enabled`."""
    AnomalyMode.enabled, AnomalyMode.check_nan = mode, check_nan


def is_anomaly_enabled() -> bool:
    """Whether anomaly mode is on. Source: `torch/csrc/autograd/init.cpp`, `is_anomaly_mode_enabled`."""
    return AnomalyMode.enabled


def is_anomaly_check_nan_enabled() -> bool:
    """Whether anomaly mode checks gradients for NaN. Source: `torch/csrc/autograd/init.cpp`, `is_anomaly_check_nan_enabled`."""
    return AnomalyMode.check_nan


class set_detect_anomaly:
    """Turn the mode on or off: from now on or, in a `with` statement, in its block. If `check_nan`, a gradient with a NaN is an
    error. Source: `torch/autograd/anomaly_mode.py`, `set_detect_anomaly`."""

    def __init__(self, mode: bool, check_nan: bool = True) -> None:
        self.before = AnomalyMode.enabled, AnomalyMode.check_nan
        AnomalyMode.enabled, AnomalyMode.check_nan = mode, check_nan

    def __enter__(self) -> None:
        """Nothing to do: `__init__` has set the mode."""

    def __exit__(self, *_: object) -> None:
        AnomalyMode.enabled, AnomalyMode.check_nan = self.before


class detect_anomaly(set_detect_anomaly):
    """In this block, the mode is on. Source: `torch/autograd/anomaly_mode.py`, `detect_anomaly`."""

    def __init__(self, check_nan: bool = True) -> None:
        self.before, self.check_nan = (AnomalyMode.enabled, AnomalyMode.check_nan), check_nan
        cost = "This mode will increase the runtime and should only be enabled for debugging."
        warn(f"Anomaly Detection has been enabled. {cost}")

    def __enter__(self) -> None:
        AnomalyMode.enabled, AnomalyMode.check_nan = True, self.check_nan


def print_stack(node: Node | None) -> None:
    """Warn of an error in a node. Source: `torch/csrc/autograd/python_anomaly_mode.cpp`, `PyAnomalyMetadata::print_stack`."""
    what, effect = "Error detected in", "caused the error"
    while node is not None:
        stack = node.metadata.get("traceback_")
        known = _UNKNOWN if stack is None else f"Traceback of forward call that {effect}:\n" + "".join(stack)
        try:
            warn(f"{what} {node.name()}. {known}")
        except Warning as warning:  # the error of the node is raised, also where a warning is an error
            print(f"{type(warning).__name__}: {warning}", file=sys.stderr)
        what, effect = "\n\nPrevious calculation was induced by", "induced the previous calculation"
        node = node.metadata.get("parent_")


_UNKNOWN = "No forward pass information available. Enable detect anomaly during forward pass for more information."


@contextmanager
def check_anomalies(nodes: Iterable[Node]) -> Iterator[None]:
    """In this block, a backward pass runs these nodes. If it fails, warn of the node that fails."""
    nodes, outer = list(nodes), AnomalyMode.evaluating
    handles = [node.register_hook(_end(node)) for node in nodes]
    for node in nodes:
        others = dict(node.tensor_pre_hooks or {})
        node.tensor_pre_hooks = {} if node.tensor_pre_hooks is None else node.tensor_pre_hooks
        node.tensor_pre_hooks.clear()  # the same dict, with one more hook before the others
        node.tensor_pre_hooks |= {_start: (0, _start(node)), **others}
    try:
        yield
    except BaseException:
        if AnomalyMode.evaluating not in (None, outer):
            print_stack(AnomalyMode.evaluating)
        raise
    finally:
        AnomalyMode.evaluating = outer
        for node, handle in zip(nodes, handles):
            handle.remove()
            if node.tensor_pre_hooks is not None:
                node.tensor_pre_hooks.pop(_start, None)


def _start(node: Node):
    def start(grad: Tensor | None) -> None:
        AnomalyMode.evaluating = node

    return start


def _end(node: Node):
    def end(grad_inputs: Sequence[Tensor | None], grad_outputs: Sequence[Tensor | None]) -> None:
        has_data = not local.on_meta  # AOTAutograd traces with `detect_anomaly(check_nan=False)`
        for i, grad in enumerate(grad_inputs if AnomalyMode.check_nan and has_data else ()):
            if grad is not None and grad.detach().ne(grad.detach()).any().item():
                raise RuntimeError(f"Function '{node.name()}' returned nan values in its {i}th output.")
        AnomalyMode.evaluating = None

    return end
