"""`UnspecializedNNModuleVariable`: a module whose parameters, buffers and submodules are inputs of the graph.

Its code is inlined as a user's is, so parameters that are replaced fail a guard on their metadata only. In PyTorch:
`torch/_dynamo/variables/nn_module.py`. Left out: `NNModuleVariable`, a module that is taken to be constant, and hooks that are
added during the capture.
"""

from rushlight.aten.strided import Tensor
from rushlight.dynamo.exc import Unsupported
from rushlight.dynamo.variables.tensor import TensorVariable
from rushlight.dynamo.variables.user_defined import UserDefinedObjectVariable


class UnspecializedNNModuleVariable(UserDefinedObjectVariable):
    """A module. It always exists: the captured function cannot make one."""

    setter = "setattr"

    def instance_attribute(self, tx, name, in_class):
        state = self.state()
        if name in state:
            return tx.builder.lazy(state[name], f"{self.source}.{name}").realize()
        for registry in ("_parameters", "_buffers", "_modules"):
            if name in state.get(registry, ()):
                return tx.builder.lazy(state[registry][name], f"{self.source}.{registry}[{name!r}]").realize()
        return None

    def intercept_setattr(self, tx, name, value):
        """Return whether nothing is left to do: `p -= 1` writes to `p`, and then stores the same tensor again."""
        if value is None:
            return False
        seen, state = value.realize(), self.state()
        if isinstance(seen, TensorVariable) and seen.source == f"{self.source}._parameters[{name!r}]":
            return True
        registered = isinstance(seen, UnspecializedNNModuleVariable)
        registered |= isinstance(seen, TensorVariable) and seen.cls is not Tensor
        if registered or name in state.get("_parameters", ()) or name in state.get("_modules", ()):
            raise Unsupported(f"writing {name} of a module")
        return False
