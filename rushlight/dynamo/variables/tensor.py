"""`TensorVariable`: a tensor. Its metadata are known while the graph is captured, and its data are not.

Sizes, strides and dtypes hold for every tensor that passes the guards, so Python may compute with them. An operation that needs
the data, `item` or `tolist`, breaks the graph. `autograd.grad` becomes a node, and `loss.backward()` one `autograd.grad` for all
leaves that the loss depends on, with the accumulation into `p.grad` as further nodes; `p.grad` itself is written after the graph.
So a whole training step is one graph. In PyTorch: `torch/_dynamo/variables/tensor.py`, and the setting `trace_autograd_ops` of
`torch._dynamo.config`, off by default. There and here a returned loss must be detached (`AutogradGradRestartAnalysis`). Left out:
hooks, and `create_graph` for `backward`.
"""

import operator
from collections.abc import Callable
from typing import Any

import rushlight as rl
from rushlight.aten.strided import Tensor
from rushlight.dynamo.bytecode import OPERATORS, UNARY
from rushlight.dynamo.exc import Unsupported
from rushlight.dynamo.guards import Guard
from rushlight.dynamo.variables.base import Source, Translator, VariableTracker
from rushlight.dynamo.variables.constant import ConstantVariable, fold
from rushlight.dynamo.variables.ctx_manager import set_grad_mode
from rushlight.dynamo.variables.iter import IteratorVariable
from rushlight.dynamo.variables.lists import ListVariable, TupleVariable
from rushlight.dynamo.variables.misc import GetAttrVariable
from rushlight.dynamo.variables.torch import call_in_graph, run_on_fakes

KNOWN_METHODS = {
    "size", "dim", "ndimension", "numel", "nelement", "element_size", "stride", "is_contiguous", "is_floating_point",
    "is_complex", "storage_offset", "__len__",
}  # fmt: skip
KNOWN_ATTRIBUTES = {"shape", "dtype", "ndim", "requires_grad", "layout", "itemsize", "nbytes"}
DATA_DEPENDENT = {
    "item", "tolist", "numpy", "data_ptr", "untyped_storage", "register_hook", "retain_grad", "__bool__", "__int__", "__float__",
    "__index__", "__array__", "__iter__", "requires_grad_", "share_memory_", "cpu", "is_inference", "_is_view", "set_",
}  # fmt: skip

OPERATOR_FUNCTIONS = (*OPERATORS.values(), *UNARY.values(), operator.setitem, operator.abs)
OPERATOR_METHODS = {f"__{function.__name__.strip('_')}__": function for function in OPERATOR_FUNCTIONS}


class TensorVariable(VariableTracker):
    """A node of the graph. `fake` is a meta tensor with its sizes, strides, dtype and autograd state. `real` is the tensor
    itself, for an input of the graph, and `cls` its class. `named`: whether the node has its final name."""

    def __init__(self, node: Any, fake: Tensor, source: Source = None, real: Tensor | None = None) -> None:
        self.node, self.fake, self.source, self.real = node, fake, source, real
        self.cls = type(real) if real is not None else Tensor
        self.named = node.op == "placeholder"

    def is_tensor(self) -> bool:
        return True

    def as_proxy(self) -> Any:
        return self.node

    def is_same(self, other):
        return self.fake is other.fake if isinstance(other, TensorVariable) else super().is_same(other)

    # Attributes and methods

    def var_getattr(self, tx, name):
        if name in KNOWN_ATTRIBUTES:
            return tx.constant(getattr(self.fake, name))
        if name in ATTRIBUTES:
            return ATTRIBUTES[name](self, tx)
        method = getattr(Tensor, name, None)
        if method is None:
            raise tx.error(AttributeError, f"'{self.cls.__name__}' object has no attribute '{name}'")
        if callable(method):
            return GetAttrVariable(self, name)
        raise Unsupported(f"the attribute {name} of a tensor")

    def var_setattr(self, tx, name, value):
        if name != "grad" or value is None:
            return super().var_setattr(tx, name, value)
        return self.set_grad(tx, value.realize())

    def call_method(self, tx, name, args, kwargs):
        args = [arg.realize() for arg in args]
        if name in KNOWN_METHODS:
            return fold(tx, getattr(self.fake, name), args, kwargs)
        if name == "backward":
            return self.backward(tx, *args, **kwargs)
        if name in DATA_DEPENDENT:
            raise Unsupported(f"Unsupported Tensor.{name}() call")
        if name in OPERATOR_METHODS:
            return call_in_graph(tx, OPERATOR_METHODS[name], [self, *args], kwargs)
        return call_in_graph(tx, name, [self, *args], kwargs, op="call_method")

    # Items

    def getitem(self, tx, key):
        return call_in_graph(tx, operator.getitem, [self, key], {})

    def setitem(self, tx, key, value):
        node_args = tuple(arg.as_proxy() for arg in (self, key, value))
        run_on_fakes(operator.setitem, node_args)
        tx.output.emit("call_function", operator.setitem, node_args, {}, None)

    def iterate(self, tx):
        if self.fake.dim() == 0:
            raise tx.error(TypeError, "iteration over a 0-d tensor")
        rows = [self.getitem(tx, ConstantVariable(i)) for i in range(self.fake.shape[0])]
        return IteratorVariable(iter(rows))

    # Training

    def grad(self, tx: Translator) -> VariableTracker:
        """`tensor.grad`: what was written to it in this capture, or what was there before."""
        written = tx.output.side_effects.written(tx.output.by_fake[id(self.fake)])
        if "grad" in written:
            return written["grad"]
        if self.real is None:
            return ConstantVariable(None)
        return tx.builder.lazy(self.real.grad, f"{self.source}.grad").realize()

    def set_grad(self, tx: Translator, value: VariableTracker) -> None:
        """`tensor.grad = value`, done after the graph."""
        if self.real is None:
            raise Unsupported("writing the grad of a tensor that the graph makes")
        if isinstance(value, TensorVariable):
            if value.fake.dtype is not self.fake.dtype or value.fake.shape != self.fake.shape:
                raise Unsupported("a grad of another kind")
        elif not value.is_constant_none():
            raise Unsupported("a grad that is no tensor")
        tx.output.side_effects.store_attr(tx.output.by_fake[id(self.fake)], "grad", value)

    def backward(self, tx, gradient=None, retain_graph=None, create_graph=None, inputs=None) -> VariableTracker:
        """`loss.backward()`: one `autograd.grad` for all leaves among the graph's inputs, and the accumulation of its results."""
        if create_graph is not None and create_graph.as_python_constant() or inputs is not None:
            raise Unsupported("backward with create_graph or inputs")
        if self.real is not None and not self.real.is_leaf:
            raise Unsupported("backward into a graph from before")
        kwargs: dict[str, VariableTracker] = {}
        if gradient is not None and not gradient.is_constant_none():
            kwargs["grad_outputs"] = gradient
        if retain_graph is not None:
            kwargs["retain_graph"] = retain_graph
        leaves, reached = leaves_of(tx), []
        if self.fake.requires_grad and leaves:  # the leaves that get a gradient
            given = gradient.fake if isinstance(gradient, TensorVariable) else None
            of_fakes = self.fake, [leaf.fake for leaf in leaves], given
            gradients = run_on_fakes(rl.autograd.grad, of_fakes, {"retain_graph": True, "allow_unused": True})
            reached = [leaf for leaf, fake in zip(leaves, gradients) if fake is not None]
        if not reached:
            raise Unsupported("backward of what depends on no leaf")
        gradients = call_grad(tx, self, ListVariable(reached), allow_unused=ConstantVariable(True), **kwargs)
        accumulate_all(tx, reached, gradients.items)
        return ConstantVariable(None)


ATTRIBUTES: dict[str, Callable[[TensorVariable, Translator], VariableTracker]] = {
    "is_leaf": lambda self, tx: ConstantVariable((self.fake if self.real is None else self.real).is_leaf),
    "device": lambda self, tx: ConstantVariable(rl.device("cpu")),
    "is_meta": lambda self, tx: ConstantVariable(False),
    "grad": TensorVariable.grad,
    "T": lambda self, tx: call_in_graph(tx, getattr, [self, ConstantVariable("T")], {}),
    "mT": lambda self, tx: call_in_graph(tx, getattr, [self, ConstantVariable("mT")], {}),
    "data": lambda self, tx: call_in_graph(tx, "detach", [self], {}, op="call_method"),
    "__class__": lambda self, tx: ConstantVariable(self.cls),
}


def call_grad(tx, outputs, inputs, *args, **kwargs) -> TupleVariable:
    """`rl.autograd.grad` as a node of the graph. The gradients of the fakes tell its results."""
    names = ("grad_outputs", "retain_graph", "create_graph", "only_inputs", "allow_unused")
    kwargs = dict(zip(names, args)) | kwargs
    node_args = (outputs.as_proxy(), inputs.as_proxy())
    node_kwargs = {name: arg.as_proxy() for name, arg in kwargs.items()}
    gradients = run_on_fakes(rl.autograd.grad, node_args, node_kwargs)
    if tx.output.first_grad is None:
        tx.output.first_grad = tx.root.steps
    node = tx.output.graph.create_node("call_function", rl.autograd.grad, node_args, node_kwargs)
    node.meta["example_value"] = gradients
    emit, none = tx.output.emit, ConstantVariable(None)
    parts = enumerate(gradients)
    items = [none if x is None else emit("call_function", operator.getitem, (node, i), {}, x) for i, x in parts]
    return TupleVariable(items)


def leaves_of(tx: Translator) -> list[TensorVariable]:
    """The leaves among the graph's inputs, with guards that they have no hooks."""
    leaves = []
    for node, source, tensor in tx.output.inputs:
        if tensor.requires_grad:
            if not tensor.is_leaf:
                raise Unsupported("backward into a graph from before")
            if tensor._autograd.hooks or tensor._autograd.post_hooks:
                raise Unsupported("backward through a tensor with hooks")
            tx.output.add_guard(Guard(source, f"not ({source}._autograd.hooks or {source}._autograd.post_hooks)"))
            leaves.append(tx.output.by_fake[id(node.meta["example_value"])])
    return leaves


def accumulate_all(tx: Translator, leaves: list[TensorVariable], gradients: list[TensorVariable]) -> None:
    """The work of `AccumulateGrad`, not recorded: keep the first gradient of each leaf, add a later one in place."""
    recorded = rl.is_grad_enabled() and any(leaf.grad(tx).is_tensor() for leaf in leaves)
    values = [node.meta.get("example_value") for node in tx.output.graph.nodes]
    storages = [fake._storage for fake in {id(v): v for v in values if isinstance(v, Tensor)}.values()]
    if recorded:
        set_grad_mode(tx, False)
    for leaf, new in zip(leaves, gradients):
        before = leaf.grad(tx).realize()
        if before.is_tensor():
            call_in_graph(tx, "add_", [before, new], {}, op="call_method")
            continue
        shared = sum(storage is new.fake._storage for storage in storages) > 1
        if shared or new.fake._strides != leaf.fake._strides:
            new = call_in_graph(tx, "clone", [new], {}, op="call_method")
        leaf.set_grad(tx, new)
    if recorded:
        set_grad_mode(tx, True)
