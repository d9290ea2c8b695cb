"""A type for the node of a proxy. In PyTorch: `torch/fx/annotate.py`."""

from typing import Any

from rushlight.fx.proxy import Proxy


def annotate(val: Any, type: Any) -> Any:  # noqa: A002
    """Give the node of a proxy this type, and return the proxy. Any other value has no node."""
    if isinstance(val, Proxy):
        if val.node.type:
            raise RuntimeError(
                "Tried to annotate a value that already had a type on it! "
                f"Existing type is {val.node.type} and new type is {type}. This could happen if you tried to annotate a function "
                "parameter value (in which case you should use the type slot on the function signature) or you called "
                "annotate on the same value twice"
            )
        val.node.type = type
    return val
