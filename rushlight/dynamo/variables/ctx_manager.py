"""`GradModeVariable`: `no_grad`, `enable_grad` and `set_grad_enabled` within a captured function.

A change of the grad mode is a node of the graph, and applies to the fakes at once. A block that the graph breaks in is left later,
after the graph, by an `EnteredGradMode`. In PyTorch: `torch/_dynamo/variables/ctx_manager.py`. Left out: autocast, inference mode,
and the other context managers of PyTorch.
"""

import rushlight as rl
from rushlight.c10.dispatch import local
from rushlight.dynamo.variables.base import Translator, VariableTracker
from rushlight.dynamo.variables.constant import ConstantVariable
from rushlight.dynamo.variables.misc import GetAttrVariable


class EnteredGradMode:
    """A block of some grad mode in which the graph breaks: made when the function continues, and left at the end of the block."""

    def __init__(self, mode: bool, before: bool) -> None:
        self.before, local.grad_enabled = before, mode

    def __exit__(self, *error: object) -> None:
        local.grad_enabled = self.before


class GradModeVariable(VariableTracker):
    """A manager of grad mode. `before` has the mode before each block that was entered and not left yet."""

    has_identity = False

    def __init__(self, cls: type, mode: bool, before: bool | None = None, source: str | None = None) -> None:
        self.cls, self.mode, self.source = cls, mode, source
        self.before = [] if before is None else [before]

    def var_getattr(self, tx, name):
        if name in ("__enter__", "__exit__", "_recreate_cm"):
            return GradModeMethodVariable(self, name)
        return super().var_getattr(tx, name)

    def call_method(self, tx, name, args, kwargs):
        if name == "_recreate_cm":  # of a mode as a decorator
            return self
        if name == "__enter__":
            self.before.append(local.grad_enabled if self.cls is not rl.set_grad_enabled else self.before[-1])
            set_grad_mode(tx, self.mode)
        else:
            set_grad_mode(tx, self.before.pop())
        return ConstantVariable(None)

    def enter(self, tx):
        return GradModeMethodVariable(self, "__exit__"), self.call_method(tx, "__enter__", [], {})

    def reconstruct(self, codegen):
        if self.before or self.cls is rl.set_grad_enabled:
            return super().reconstruct(codegen)
        return codegen.name(f"{codegen.bind(self.cls)}()")


class GradModeMethodVariable(GetAttrVariable):
    """A method of a manager of grad mode. `__exit__` is on the stack of the function while the block is open."""

    def reconstruct(self, codegen):
        manager = self.obj
        if self.name != "__exit__" or len(manager.before) != 1 or manager.cls is EnteredGradMode:
            return super().reconstruct(codegen)
        return codegen.name(f"{codegen.bind(EnteredGradMode)}({manager.mode}, {manager.before[0]}).__exit__")


def set_grad_mode(tx: Translator, mode: bool) -> None:
    """Change the mode for the fakes at once, and in the graph by a node."""
    rl._C._set_grad_enabled(mode)
    tx.output.emit("call_function", rl._C._set_grad_enabled, (mode,), {}, None)
