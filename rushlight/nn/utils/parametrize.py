"""A parameter that is computed from another one at each use: `module.weight` becomes `f(original)`.

The class of the module is replaced by a subclass with a property of the parameter's name. In PyTorch:
`torch/nn/utils/parametrize.py`. Left out: several originals for one tensor, `right_inverse`, caching.
"""

from collections.abc import Iterator

from rushlight.aten.strided import Tensor
from rushlight.nn.modules.containers import ModuleDict, ModuleList
from rushlight.nn.modules.module import Module
from rushlight.nn.parameter import Parameter


class ParametrizationList(ModuleList):
    """The parametrizations of one tensor, in the order of their application, and its `original`.
    Source: `torch/nn/utils/parametrize.py`, `ParametrizationList`."""

    def __init__(self, modules: list[Module], original: Tensor) -> None:
        super().__init__(modules)
        if isinstance(original, Parameter):
            self.register_parameter("original", original)
        else:
            self.register_buffer("original", original)

    def forward(self) -> Tensor:
        x = self.original
        for parametrization in self:
            x = parametrization(x)
        return x


def is_parametrized(module: Module, tensor_name: str | None = None) -> bool:
    """Whether a module has a parametrization, of this tensor if one is named."""
    known = module._modules.get("parametrizations")
    return known is not None and (tensor_name is None or tensor_name in known)


def type_before_parametrizations(module: Module) -> type:
    """The class of a module, without parametrizations."""
    return type(module).__bases__[0] if is_parametrized(module) else type(module)


def register_parametrization(module: Module, tensor_name: str, parametrization: Module) -> Module:
    """From now on, `module.<tensor_name>` is `parametrization(original)`, computed at each use. Returns the module.

    Source: `torch/nn/utils/parametrize.py`, `register_parametrization`."""
    parametrization.train(module.training)
    if not is_parametrized(module):
        base = type(module)
        module.__class__ = type(f"Parametrized{base.__name__}", (base,), {"__module__": base.__module__})
        module.parametrizations = ModuleDict()
    if tensor_name not in module.parametrizations:
        original = getattr(module, tensor_name)
        for registry in (module._parameters, module._buffers):
            registry.pop(tensor_name, None)
        module.parametrizations[tensor_name] = ParametrizationList([], original)
        setattr(type(module), tensor_name, property(lambda self: self.parametrizations[tensor_name]()))
    module.parametrizations[tensor_name].append(parametrization)
    return module


def remove_parametrizations(module: Module, tensor_name: str, leave_parametrized: bool = True) -> Module:
    """Undo `register_parametrization`. The parameter keeps its computed value, or gets back the original one. Returns the module.

    Source: `torch/nn/utils/parametrize.py`, `remove_parametrizations`."""
    if not is_parametrized(module, tensor_name):
        raise ValueError(f"Module {module} does not have a parametrization on {tensor_name}")
    original = module.parametrizations[tensor_name].original
    if leave_parametrized:
        original.data = getattr(module, tensor_name).detach()
    delattr(type(module), tensor_name)
    del module.parametrizations[tensor_name]
    if isinstance(original, Parameter):
        module.register_parameter(tensor_name, original)
    else:
        module.register_buffer(tensor_name, original)
    if not len(module.parametrizations):
        del module.parametrizations
        module.__class__ = type(module).__bases__[0]
    return module


def parametrizations(module: Module) -> Iterator[ParametrizationList]:
    """The parametrizations of a module, tensor by tensor."""
    if is_parametrized(module):
        yield from module.parametrizations.values()
