"""`ExportedProgram`: a graph, its signature, the tensors that it needs, and the sizes that it is valid for.

In PyTorch: `torch/export/exported_program.py`, `torch/export/_unlift.py`. Left out: the joint graph of a training step, calling
the program itself, modules that keep their hierarchy.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from rushlight.aten.strided import Tensor
from rushlight.autograd.grad_mode import no_grad
from rushlight.export.dynamic_shapes import Guard, ValueRange
from rushlight.export.expressions import COMPARISONS, Relation
from rushlight.export.graph_signature import ConstantArgument, ExportGraphSignature, InputKind, InputSpec, OutputKind
from rushlight.fx import Graph, GraphModule, Interpreter
from rushlight.fx.graph_module import owner_of
from rushlight.nn.modules.module import Module
from rushlight.nn.parameter import Parameter
from rushlight.utils._pytree import tree_flatten, tree_unflatten


def run_lifted(
    signature: ExportGraphSignature,
    run: Callable[..., Sequence[Any]],
    state: Mapping[str, Any],
    user_inputs: Sequence[Any],
) -> list[Any]:
    """Run an exported graph like the module that it was made of: with the tensors that the module owns, and with its writes.

    `run(*inputs)` runs the graph: it takes one value for each of `signature.input_specs`, in order, and returns one value for
    each of `signature.output_specs`. An input of the kind `InputKind.USER_INPUT` is the next one of `user_inputs`. All others
    are in `state` under their target. Afterwards the new values are copied (`copy_`) to the tensors that the program writes to:
    for an `OutputKind.USER_INPUT_MUTATION` this is the user input whose placeholder has the target as its name (`spec.arg.name`).
    For the other mutations it is the tensor of `state` under the target. The target of a buffer may be the same as the name of a
    placeholder, such as "x": these are two tensors.

    Args:
        signature: has two lists, `input_specs` and `output_specs`.
        run: a function. It is called once.
        state: a dict of tensors by target.
        user_inputs: a list or a tuple.

    Returns:
        a list with the value of each `OutputKind.USER_OUTPUT`.

    >>> from rushlight.export.graph_signature import *
    >>> inputs = input_specs([], {"count": True}, [], [("x",)])
    >>> arg = TensorArgument("add")
    >>> outputs = [OutputSpec(OutputKind.BUFFER_MUTATION, arg, "count"), OutputSpec(OutputKind.USER_OUTPUT, arg, None)]
    >>> state = {"count": rl.zeros(())}
    >>> results = run_lifted(ExportGraphSignature(inputs, outputs), lambda count, x: (count + x, x * 2), state, [rl.ones(())])
    >>> results[0].item(), state["count"].item()
    (2.0, 1.0)

    Source: `torch/export/_unlift.py`, `_unlift`.
    """
    rest, inputs, by_name = iter(user_inputs), [], {}
    for spec in signature.input_specs:
        value = next(rest) if spec.kind is InputKind.USER_INPUT else state[spec.target]
        inputs.append(value)
        by_name[spec.arg.name] = value
    results = []
    for spec, value in zip(signature.output_specs, run(*inputs)):
        if spec.kind is OutputKind.USER_OUTPUT:
            results.append(value)
        elif spec.kind is OutputKind.USER_INPUT_MUTATION:
            by_name[spec.target].copy_(value)
        else:
            state[spec.target].copy_(value)
    return results


@dataclass
class ExportedProgram:
    """A graph, its signature, its parameters and its constants, without the class of the module.

    Source: `torch/export/exported_program.py`, `ExportedProgram`. `constants` has the constants and the buffers that are not
    persistent. `guards` are those that no range says. The module `trace` adds the method `run_decompositions`."""

    graph: Graph
    graph_signature: ExportGraphSignature
    state_dict: dict[str, Tensor]
    constants: dict[str, Tensor]
    range_constraints: dict[str, ValueRange]
    guards: list[Guard | Relation]
    in_spec: Any
    out_spec: Any

    @cached_property
    def graph_module(self) -> GraphModule:
        """The graph as Python code. Nothing here needs it: an interpreter runs the graph."""
        return GraphModule({}, self.graph)

    def module(self) -> Module:
        """The program as a module, which shares its tensors with the program."""
        return UnliftedModule(self)

    def __str__(self) -> str:
        ranges = ", ".join(f"{name}: {bounds}" for name, bounds in self.range_constraints.items())
        code = self.graph_module.code.strip()
        return f"ExportedProgram:\n{code}\n\nGraph signature: {self.graph_signature}\nRange constraints: {{{ranges}}}\n"


class UnliftedModule(Module):
    """A module that runs an exported program. Source: `torch/export/_unlift.py`, `_unlift_exported_program_lifted_states`."""

    def __init__(self, program: ExportedProgram) -> None:
        super().__init__()
        self.program = program
        self._is_impure = any(node.op == "call_function" and node.is_impure() for node in program.graph.nodes)
        for spec in program.graph_signature.input_specs:
            if spec.kind is not InputKind.USER_INPUT:
                self.add(spec, (program.state_dict | program.constants)[spec.target])

    def add(self, spec: InputSpec, tensor: Tensor) -> None:
        owner, name = owner_of(self, spec.target)
        if spec.kind is InputKind.PARAMETER:
            is_parameter = isinstance(tensor, Parameter)
            owner.register_parameter(name, tensor if is_parameter else Parameter(tensor.detach(), tensor.requires_grad))
        elif spec.kind is InputKind.BUFFER:
            owner.register_buffer(name, tensor, persistent=spec.persistent)
        else:
            object.__setattr__(owner, name, tensor)

    def tensors(self) -> dict[str, Tensor]:
        """The tensors of the program by target."""
        targets = [spec.target for spec in self.program.graph_signature.input_specs if spec.target]
        return {target: operator.attrgetter(target)(self) for target in targets}

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        program = self.program
        kwargs = in_order(kwargs, program.in_spec)
        values, spec = tree_flatten((args, kwargs))
        if spec != program.in_spec:
            raise ValueError(
                "Trying to flatten user inputs with exported input tree spec:\n"
                f"{shown_spec(program.in_spec)}\nbut actually got inputs with tree spec of:\n{shown_spec(spec)}"
            )
        check_inputs(program, values)
        run = Interpreter(Module(), graph=program.graph).run
        with no_grad():
            results = run_lifted(program.graph_signature, run, self.tensors(), values)
        return tree_unflatten(results, program.out_spec)


def in_order(kwargs: dict[str, Any], in_spec: Any) -> dict[str, Any]:
    """The keyword arguments in the order of the export."""
    names = in_spec[2][1][1]
    return {name: kwargs[name] for name in names} if {*names} == {*kwargs} else kwargs


def shown_spec(spec: Any) -> str:
    """The structure of nested containers, with `*` for a leaf."""
    if not isinstance(spec, tuple):
        return "*"
    kind, names, parts = spec
    inner = [shown_spec(part) for part in parts]
    if names is not None:
        return "{" + ", ".join(f"{name!r}: {part}" for name, part in zip(names, inner)) + "}"
    return f"[{', '.join(inner)}]" if kind is list else f"({', '.join(inner)}{',' * (len(inner) == 1)})"


def check_inputs(program: ExportedProgram, values: Sequence[Any]) -> None:
    """Raise AssertionError if the program was not exported for a size or a value of an input, IndexError if sizes are missing.
    Source: `torch/export/_unlift.py`, the function `_guards_fn` of a module."""
    specs = [spec for spec in program.graph_signature.input_specs if spec.kind is InputKind.USER_INPUT]
    nodes = {node.name: node for node in program.graph.nodes if node.op == "placeholder"}
    sizes: dict[str, tuple[str, int]] = {}
    for spec, value in zip(specs, values):
        name = spec.arg.name
        if isinstance(spec.arg, ConstantArgument):
            is_equal = not isinstance(value, Tensor) and value == spec.arg.value
            require(is_equal, f"{name} == {spec.arg.value!r}")
            continue
        wanted = nodes[name].meta["sizes"]
        for d, wish in enumerate(wanted):  # a further dimension is not tested, as in torch
            here, size = f"{name}.size()[{d}]", value.size()[d]
            if isinstance(wish, int):
                require(size == wish, f"{here} == {wish}")
                continue
            known, before = sizes.setdefault(wish, (here, size))
            require(size == before, f"{here} == {known}")
            lower, upper = program.range_constraints[wish]
            require(lower <= 2 or size >= lower, f"{here} >= {lower}")  # sizes 0 and 1 are not tested, as in torch
            require(upper is None or size <= upper, f"{here} <= {upper}")
            for guard in program.guards:
                if isinstance(guard, Guard) and guard.symbol == wish:
                    holds = COMPARISONS[guard.comparison](size, guard.other)
                    require(holds, f"{here} {guard.comparison} {guard.other}")
    for guard in program.guards:
        if isinstance(guard, Relation):
            names = {symbol: here for symbol, (here, _) in sizes.items()}
            require(guard.holds({symbol: size for symbol, (_, size) in sizes.items()}), guard.written(names))


def require(holds: bool, guard: str) -> None:
    """Raise an `AssertionError` if the guard of an exported program does not hold for an input."""
    if not holds:
        raise AssertionError(f"Guard failed: {guard}")
