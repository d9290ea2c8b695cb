"""Quantisation layer by layer, without a graph. In PyTorch: `torch/ao/quantization/quantize.py`, which prints a
deprecation warning.

Here is the dynamic form alone. It needs no calibration: each layer finds the scale of each input when it comes. Left out: `prepare`
and `convert` of eager mode, in which the program itself says where values are quantised; recurrent layers.
"""

import copy

from rushlight import nn
from rushlight.ao.nn.quantized import dynamic
from rushlight.ao.nn.quantized.reference import Linear as ReferenceLinear
from rushlight.ao.quantization.qconfig import QConfig, default_dynamic_qconfig

Spec = dict[type | str, QConfig] | set[type | str] | None


def quantize_dynamic(model: nn.Module, qconfig_spec: Spec = None, inplace: bool = False) -> nn.Module:
    """A copy of a model whose linear layers have an int8 weight. With `qconfig_spec`, only the layers of these classes or names.

    Source: `torch/ao/quantization/quantize.py`, `quantize_dynamic`."""
    model = model if inplace else copy.deepcopy(model)
    spec = {nn.Linear} if qconfig_spec is None else qconfig_spec
    spec = spec if isinstance(spec, dict) else dict.fromkeys(spec, default_dynamic_qconfig)
    if type(model) is nn.Linear and nn.Linear in spec:
        return dynamic_linear(model, spec[nn.Linear])
    for name, module in list(model.named_modules()):
        qconfig = next((spec[key] for key in (name, type(module)) if key in spec), None)
        if type(module) is nn.Linear and name and qconfig is not None:
            path, _, own = name.rpartition(".")
            setattr(model.get_submodule(path), own, dynamic_linear(module, qconfig))
    return model


def dynamic_linear(module: nn.Linear, qconfig: QConfig) -> dynamic.Linear:
    """The layer that finds the scale of each input. The weight gets the scale of the qconfig's observer."""
    observer = qconfig.weight()
    observer(module.weight)
    reference = ReferenceLinear.from_float(module, observer)
    return dynamic.Linear(*dynamic.Linear._of_reference(reference), relu=False)
