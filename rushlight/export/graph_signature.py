"""The signature of an exported graph: the role of each placeholder, and of each output.

An exported graph has no module behind it. Parameters, buffers and constants are inputs like the user's own, and the new value
of a buffer is an output. The signature says which is which.

In PyTorch: `torch/export/graph_signature.py`, `torch/_export/utils.py`. Left out: tokens, custom objects, the losses and
gradients of a training step.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import Enum, auto
from typing import Any

from rushlight.fx import Graph, Node

KeyPath = Sequence[str | int]


class InputKind(Enum):
    """What an input of an exported graph is. Source: `torch/export/graph_signature.py`, `InputKind`."""

    USER_INPUT = auto()
    PARAMETER = auto()
    BUFFER = auto()
    CONSTANT_TENSOR = auto()


class OutputKind(Enum):
    """What an output of an exported graph is. Source: `torch/export/graph_signature.py`, `OutputKind`."""

    USER_OUTPUT = auto()
    BUFFER_MUTATION = auto()
    PARAMETER_MUTATION = auto()
    USER_INPUT_MUTATION = auto()


@dataclass
class TensorArgument:
    """A node that has a tensor."""

    name: str


@dataclass
class SymIntArgument:
    """A node that has a size."""

    name: str


@dataclass
class ConstantArgument:
    """A value that is no tensor. It is the same in each call."""

    name: str
    value: int | float | bool | str | None


Argument = TensorArgument | SymIntArgument | ConstantArgument


@dataclass
class InputSpec:
    """A placeholder. `target` is the name of the parameter, buffer or constant in the module."""

    kind: InputKind
    arg: Argument
    target: str | None
    persistent: bool | None = None

    def __str__(self) -> str:
        return _line(self) + ("" if self.persistent is None else f" persistent={self.persistent}")


@dataclass
class OutputSpec:
    """An output. If it is the new value of an input, `target` names this input."""

    kind: OutputKind
    arg: Argument
    target: str | None

    def __str__(self) -> str:
        return _line(self)


def _line(spec: InputSpec | OutputSpec) -> str:
    return f"{spec.arg.name}: {spec.kind.name}" + ("" if spec.target is None else f" target={spec.target!r}")


@dataclass
class ExportGraphSignature:
    """The roles of the inputs and the outputs of an exported graph.

    Source: `torch/export/graph_signature.py`, `ExportGraphSignature`.
    """

    input_specs: list[InputSpec]
    output_specs: list[OutputSpec]

    def _specs(self, kind: InputKind | OutputKind) -> list[Any]:
        return [spec for spec in (*self.input_specs, *self.output_specs) if spec.kind is kind]

    def _targets(self, kind: InputKind | OutputKind) -> dict[str, str]:
        """The targets by the name of the input or the result in the graph."""
        return {spec.arg.name: spec.target for spec in self._specs(kind)}

    parameters = property(lambda self: tuple(self._targets(InputKind.PARAMETER).values()))
    buffers = property(lambda self: tuple(self._targets(InputKind.BUFFER).values()))
    non_persistent_buffers = property(lambda self: tuple(s.target for s in self.input_specs if s.persistent is False))
    user_inputs = property(lambda self: tuple(map(_value, self._specs(InputKind.USER_INPUT))))
    user_outputs = property(lambda self: tuple(map(_value, self._specs(OutputKind.USER_OUTPUT))))
    inputs_to_parameters = property(lambda self: self._targets(InputKind.PARAMETER))
    inputs_to_buffers = property(lambda self: self._targets(InputKind.BUFFER))
    buffers_to_mutate = property(lambda self: self._targets(OutputKind.BUFFER_MUTATION))
    user_inputs_to_mutate = property(lambda self: self._targets(OutputKind.USER_INPUT_MUTATION))

    def __str__(self) -> str:
        lines = ["", "# inputs", *map(str, self.input_specs), "", "# outputs", *map(str, self.output_specs), ""]
        return "\n".join(lines)


def _value(spec: InputSpec | OutputSpec) -> Any:
    return spec.arg.value if isinstance(spec.arg, ConstantArgument) else spec.arg.name


def named_placeholder(graph: Graph, name: str) -> Node:
    """A new placeholder with exactly this name, which a graph of `fx` would change if it is a name of Python, as `input` is.
    Source: `torch/_export/utils.py`, `placeholder_naming_pass`."""
    node, names = graph.placeholder(name), graph._graph_namespace
    node.name = names._obj_to_name[node] = name
    names._used_names.add(name)
    return node


def input_specs(
    parameters: Sequence[str], buffers: Mapping[str, bool], constants: Sequence[str], user_inputs: Sequence[KeyPath]
) -> list[InputSpec]:
    """The placeholders of an exported graph, in order: parameters, buffers, constants, user inputs.

    Each has an `InputSpec(kind, TensorArgument(name), target, persistent)`. The target of a parameter, buffer or constant is its
    name in the module, such as "lin.weight". `persistent` is that of a buffer. Where a field does not apply, it is None.

    The name of a placeholder is an identifier in small letters. A user input wants the parts of its path, joined by "_". A
    parameter wants `p_` and its target, a buffer `b_` and its target, a constant `c_` and its target. All characters but a to z,
    A to Z and 0 to 9 become "_".

    The user inputs choose first, then the others in order. A placeholder gets the name that it wants, if no other one has it. If
    `b_mean` is taken, the next one gets `b_mean_k`: k is 1, or one more than the largest number after `b_mean_` in the names that
    are taken. The number may be in the middle of a name: `b_mean_3_a` and `b_mean_3a` have the number 3 after `b_mean_`. If a
    name has several numbers after a "_", only the last one counts: `b_mean_3_2` has a 2 after `b_mean_3_`, and nothing after
    `b_mean_`.

    Args:
        parameters: the names of the parameters, a list or a tuple.
        buffers: a dict of the names of the buffers. The value says whether the buffer is persistent.
        constants: the names of the constants, a list or a tuple.
        user_inputs: for each input its path, a list or a tuple: the name of the argument, then keys of dicts and indices.

    >>> [str(spec) for spec in input_specs(["lin.weight"], {}, [], [("x",), ("items", 0)])]
    ["p_lin_weight: PARAMETER target='lin.weight'", 'x: USER_INPUT', 'items_0: USER_INPUT']

    Source: `torch/_export/utils.py`, `placeholder_naming_pass`.
    """
    taken = []

    def named(wanted: str) -> TensorArgument:
        name = re.sub("[^a-zA-Z0-9]", "_", wanted).lower()
        matches = [re.match("(.*)_([0-9]+)", other) for other in taken]
        numbers = [int(match[2]) for match in matches if match and match[1] == name]
        taken.append(name if name not in taken else f"{name}_{max(numbers, default=0) + 1}")
        return TensorArgument(taken[-1])

    users = [InputSpec(InputKind.USER_INPUT, named("_".join(map(str, path))), None) for path in user_inputs]
    specs = [InputSpec(InputKind.PARAMETER, named(f"p_{target}"), target) for target in parameters]
    specs += [InputSpec(InputKind.BUFFER, named(f"b_{target}"), target, kept) for target, kept in buffers.items()]
    specs += [InputSpec(InputKind.CONSTANT_TENSOR, named(f"c_{target}"), target) for target in constants]
    return specs + users


MUTATIONS = {
    InputKind.PARAMETER: OutputKind.PARAMETER_MUTATION,
    InputKind.BUFFER: OutputKind.BUFFER_MUTATION,
    InputKind.USER_INPUT: OutputKind.USER_INPUT_MUTATION,
}


def output_specs(
    inputs: Sequence[InputSpec], new_values: Mapping[str, Node], results: Sequence[Any]
) -> list[OutputSpec]:
    """The outputs of an exported graph: first the new values of inputs that the program writes to, then its results.

    Each has an `OutputSpec(kind, arg, target)`. The new values come in the order of the inputs. Their kinds are in `MUTATIONS`,
    a dict by `InputKind`. The target of a new value is what is written: a parameter or a buffer by its target, a user input by
    the name of its placeholder. A result is a `USER_OUTPUT` and has no target. The `arg` of a node is `TensorArgument(name)`. A
    result that is no node is the same in every call. Its `arg` is `ConstantArgument("", value)`.

    Args:
        inputs: a list or a tuple of the specs of all placeholders, in order.
        new_values: a dict from the names of placeholders to the nodes (`Node`) with their new values.
        results: a list or a tuple of nodes and constants.

    >>> graph = rl.fx.Graph()
    >>> count = graph.placeholder("b_count")
    >>> new = graph.create_node("call_function", rl.ops.aten.add.Tensor, (count, 1), name="add")
    >>> [str(spec) for spec in output_specs(input_specs([], {"count": True}, [], []), {"b_count": new}, [new, 3])]
    ["add: BUFFER_MUTATION target='count'", 'add: USER_OUTPUT', ': USER_OUTPUT']

    Source: `torch/export/graph_signature.py`, `_convert_to_export_graph_signature`.
    """
    specs = []
    for spec in inputs:
        if spec.arg.name in new_values:
            target = spec.arg.name if spec.kind is InputKind.USER_INPUT else spec.target
            specs.append(OutputSpec(MUTATIONS[spec.kind], TensorArgument(new_values[spec.arg.name].name), target))
    for result in results:
        arg = TensorArgument(result.name) if isinstance(result, Node) else ConstantArgument("", result)
        specs.append(OutputSpec(OutputKind.USER_OUTPUT, arg, None))
    return specs
