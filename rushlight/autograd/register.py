"""Register autograd's kernels for the keys `Autograd` and `ADInplaceOrView`.

Importing this module registers them. The kernels with a derivative are generated (`generated/variable_type`). The kernels
without one, and the kernels that record views and writes, are in `history`. In PyTorch: `VariableType.cpp` and
`ADInplaceOrViewType.cpp`.
"""

from collections.abc import Mapping
from functools import partial
from typing import Any

from rushlight.aten.generated.functions import resize__op
from rushlight.autograd import fused_pairs, history
from rushlight.autograd.generated import variable_type
from rushlight.c10.dispatch import DispatchKey, Kernel
from rushlight.library import OpOverload

history.view_node = variable_type.AsStridedBackward0
for _node, _pair in fused_pairs.FUSED.items():
    _node.fused = _pair
_kernels: Mapping[OpOverload, Any] = variable_type.AUTOGRAD  # what is generated has no types
for _operator, _kernel in _kernels.items():
    _operator.register(DispatchKey.Autograd, Kernel(_kernel, with_key_set=True))
for _key, _function, _operators in (
    (DispatchKey.Autograd, history.autograd_not_implemented, variable_type.WITHOUT_DERIVATIVE),
    (DispatchKey.Autograd, history.refuse_out, variable_type.OUT),
    (DispatchKey.ADInplaceOrView, history.record_view, variable_type.VIEWS),
    (DispatchKey.ADInplaceOrView, history.increment_version, variable_type.WRITTEN),
    (DispatchKey.Autograd, history.refuse_resize, (resize__op,)),
    (DispatchKey.ADInplaceOrView, history.increment_version_if_resized, (resize__op,)),
):
    for _operator in _operators:
        _operator.register(_key, Kernel(partial(_function, _operator), with_key_set=True))
