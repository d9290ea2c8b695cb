"""Operations on tensors: a call becomes a node of the graph.

`call_in_graph` runs the operation on the fakes of its arguments to find out what it gives. In PyTorch:
`torch/_dynamo/variables/torch.py` (`TorchInGraphFunctionVariable`), `variables/builder.py` (`wrap_fx_proxy`). Left out: operations
whose result depends on data, and symbolic sizes.
"""

from collections.abc import Callable
from typing import Any

from rushlight import fx
from rushlight._library.custom_ops import MissingFakeImpl
from rushlight.aten.strided import Tensor
from rushlight.dynamo.exc import TorchRuntimeError, Unsupported
from rushlight.dynamo.variables.base import Args, Kwargs, Translator, VariableTracker
from rushlight.dynamo.variables.constant import ConstantVariable
from rushlight.library import OpOverload

CREATIONS = {
    "zeros", "ones", "empty", "full", "arange", "eye", "linspace", "rand", "randn", "randint", "randperm", "tensor", "logspace",
    "empty_strided", "as_tensor", "scalar_tensor",
}  # fmt: skip


class TorchInGraphFunctionVariable(ConstantVariable):
    """An operation of the framework."""

    def call_function(self, tx, args, kwargs):
        return call_in_graph(tx, self.value, args, kwargs)


def run_on_fakes(function: Callable, args: tuple, kwargs: dict[str, Any] | None = None) -> Any:
    """Call a function with the arguments of a node, and the fake of each node in place of the node."""
    fake_args, fake_kwargs = fx.node.map_arg((args, kwargs or {}), lambda node: node.meta["example_value"])
    name = getattr(function, "__name__", function)
    of_size = name == "normal" and (len(fake_args) > 2 or "size" in fake_kwargs)
    if name in CREATIONS or of_size or "device" in fake_kwargs:
        fake_kwargs = {**fake_kwargs, "device": "meta"}
    try:
        return function(*fake_args, **fake_kwargs)
    except MissingFakeImpl as error:
        problem = (
            "RuntimeError when making fake tensor call\n  Explanation: Dynamo failed to run FX node with fake tensors"
        )
        raise TorchRuntimeError(f"{problem}: call_function {function}: got RuntimeError({str(error)!r})") from error
    except Exception as error:  # the operation itself reports it better
        raise Unsupported(f"{name} on fake tensors: {error}") from error


def call_in_graph(
    tx: Translator, target: Any, args: Args, kwargs: Kwargs, op: str = "call_function"
) -> VariableTracker:
    """Record an operation as a node. Return the variable of its result, whose metadata come from the fakes."""
    if isinstance(target, OpOverload) and any(x.is_written and x.is_list for x in target.schema.arguments):
        raise Unsupported(f"{target} writes to a list of tensors")
    node_args = tuple(arg.as_proxy() for arg in args)
    node_kwargs = {key: arg.as_proxy() for key, arg in kwargs.items()}
    function = target if op == "call_function" else getattr(Tensor, target)
    fake = run_on_fakes(function, node_args, node_kwargs)
    if isinstance(fake, Tensor) and not fake.is_meta:
        raise Unsupported(f"{function.__name__} gives data that are known only later")
    return tx.output.emit(op, target, node_args, node_kwargs, fake)
