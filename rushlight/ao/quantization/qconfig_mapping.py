"""`QConfigMapping`: which `QConfig` a module gets, by its name, its type, or for all. In PyTorch:
`torch/ao/quantization/qconfig_mapping.py`, and the search in `torch/ao/quantization/fx/qconfig_mapping_utils.py`.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from rushlight.ao.quantization.qconfig import get_default_qat_qconfig, get_default_qconfig

__all__ = ["QConfigMapping", "get_default_qat_qconfig_mapping", "get_default_qconfig_mapping"]

STYLES = (  # the later one wins
    "global_qconfig",
    "object_type_qconfigs",
    "module_name_regex_qconfigs",
    "module_name_qconfigs",
    "module_name_object_type_order_qconfigs",
)


class QConfigMapping:
    """The rules, of five kinds. Each method adds a rule and returns the mapping."""

    def __init__(self) -> None:
        self.global_qconfig = None
        self.object_type_qconfigs: dict[Callable | str, Any] = {}
        self.module_name_regex_qconfigs: dict[str, Any] = {}
        self.module_name_qconfigs: dict[str, Any] = {}
        self.module_name_object_type_order_qconfigs: dict[tuple[str, Callable, int], Any] = {}

    def set_global(self, global_qconfig: Any) -> QConfigMapping:
        self.global_qconfig = global_qconfig
        return self

    def set_object_type(self, object_type: Callable | str, qconfig: Any) -> QConfigMapping:
        self.object_type_qconfigs[object_type] = qconfig
        return self

    def set_module_name_regex(self, module_name_regex: str, qconfig: Any) -> QConfigMapping:
        self.module_name_regex_qconfigs[module_name_regex] = qconfig
        return self

    def set_module_name(self, module_name: str, qconfig: Any) -> QConfigMapping:
        self.module_name_qconfigs[module_name] = qconfig
        return self

    def set_module_name_object_type_order(
        self, module_name: str, object_type: Callable, index: int, qconfig: Any
    ) -> QConfigMapping:
        self.module_name_object_type_order_qconfigs[module_name, object_type, index] = qconfig
        return self

    def __repr__(self) -> str:
        lines = [f"{type(self).__name__} ("]
        for style in STYLES:
            rules = getattr(self, style)
            lines.append(f" {style}")
            named = isinstance(rules, dict) and rules
            lines += [f"  {key}: {rule}" for key, rule in rules.items()] if named else [f"  {_shown(rules)}"]
        return "\n".join([*lines, ")"])


def _shown(rules: Any) -> str:
    return "OrderedDict()" if rules == {} else str(rules)


def find_qconfig(mapping: QConfigMapping, module_name: str, object_type: Callable, index: int) -> Any:
    """The setting of the module called `module_name`, of type `object_type`, the `index`-th of this type in its parent.

    The rules are asked in this order, and the first answer counts, even if it is None (do not quantise):

    1. `mapping.module_name_object_type_order_qconfigs`, a dict whose keys are (name of the parent, type, index). The parent of
       "a.b.c" is "a.b", and that of "a" is "".
    2. `mapping.module_name_qconfigs`: the module's own name, or else the name of its nearest ancestor that is there: "a.b.c",
       "a.b", "a". The empty name is never looked up.
    3. `mapping.module_name_regex_qconfigs`: the first pattern, in the order of the dict, that matches the beginning of the name
       (`re.match`).
    4. `mapping.object_type_qconfigs`, whose keys are types.
    5. `mapping.global_qconfig`.

        >>> mapping = QConfigMapping().set_global("all").set_module_name("body", "body").set_object_type(rl.nn.Linear, "linear")
        >>> find_qconfig(mapping, "body.0", rl.nn.Linear, 0), find_qconfig(mapping, "head", rl.nn.Linear, 0)
        ('body', 'linear')

    Args:
        module_name: names with dots between them, not empty.
        object_type: a class, a function, or the name of a method.
        index: 0 or more.

    Returns:
        the setting, any object.

    Source: `torch/ao/quantization/fx/qconfig_mapping_utils.py`, `_maybe_adjust_qconfig_for_module_type_or_name`.
    """
    parent = module_name.rpartition(".")[0]
    if (parent, object_type, index) in mapping.module_name_object_type_order_qconfigs:
        return mapping.module_name_object_type_order_qconfigs[parent, object_type, index]
    name = module_name
    while name:
        if name in mapping.module_name_qconfigs:
            return mapping.module_name_qconfigs[name]
        name = name.rpartition(".")[0]
    for pattern, qconfig in mapping.module_name_regex_qconfigs.items():
        if re.match(pattern, module_name):
            return qconfig
    return mapping.object_type_qconfigs.get(object_type, mapping.global_qconfig)


def get_default_qconfig_mapping(backend: str = "x86", version: int = 0) -> QConfigMapping:
    """The default setting for all modules. PyTorch's mapping also has rules for layers that rushlight does not quantise."""
    return QConfigMapping().set_global(get_default_qconfig(backend, version))


def get_default_qat_qconfig_mapping(backend: str = "x86", version: int = 0) -> QConfigMapping:
    """The mapping for quantisation-aware training, with one `QConfig` for all modules.
    Source: `torch/ao/quantization/qconfig_mapping.py`, `get_default_qat_qconfig_mapping`."""
    return QConfigMapping().set_global(get_default_qat_qconfig(backend, version))
