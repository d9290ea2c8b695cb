"""`export`: trace a module at its example inputs, and again at other sizes, and lift all that it owns to inputs.

In PyTorch: `torch/export/_trace.py`, `torch/_export/non_strict_utils.py`, `torch/_export/passes/lift_constants_pass.py`. There
the graph of an export has all operators as they are called, and `run_decompositions` makes it functional. Here it is functional
from the beginning, without operators that consist of others, as `torch.export.export(...).run_decompositions({})` gives it, with
`t` and `addmm` for a `linear`. Left out: `strict=True`, inputs that share memory, data-dependent sizes, control flow operators.
"""

from __future__ import annotations

import inspect
import itertools
import random
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import Any

from rushlight import compiler
from rushlight.aot import joint
from rushlight.aot.decompositions import core_aten_decompositions
from rushlight.aot.proxy_tensor import Decompositions
from rushlight.aten.generated import functions
from rushlight.aten.strided import Tensor
from rushlight.autograd.grad_mode import no_grad, set_grad_enabled
from rushlight.c10.dispatch import local, replacing
from rushlight.export.dynamic_shapes import (
    ConstraintViolationError,
    Dim,
    DimHint,
    Guard,
    GuardOnDataDependentSymNode,
    Symbol,
    UserError,
    ValueRange,
    constraints,
)
from rushlight.export.exported_program import ExportedProgram
from rushlight.export.expressions import Expression, Relation, is_always_true, relate, symbols_of, written
from rushlight.export.graph_signature import (
    ConstantArgument,
    ExportGraphSignature,
    InputSpec,
    KeyPath,
    SymIntArgument,
    input_specs,
    named_placeholder,
    output_specs,
)
from rushlight.export.symbolic_shapes import Results, SizeNodes, fit, local_state, with_symbols
from rushlight.fx import Graph, GraphModule, Node
from rushlight.nn.modules.module import Module
from rushlight.utils._pytree import tree_flatten, tree_unflatten

Assignment = Mapping[str, int]  # a size for each symbol
Positions = Sequence[Mapping[int, str]]  # for each input, the symbol of each dynamic dimension
Ranges = Mapping[str, ValueRange]
Guards = Sequence[Guard | Relation]
TRIES = 5000  # to find sizes that fulfil all relations


def export(
    mod: Module, args: tuple, kwargs: dict[str, Any] | None = None, *, dynamic_shapes: Any = None, strict: bool = False
) -> ExportedProgram:
    """The program of a module as a graph that needs neither the module nor its class.

    `args` and `kwargs` are examples. They may be nested in tuples, lists and dicts. Numbers, strings and None among them become
    part of the program. `dynamic_shapes` is a dict by the names of arguments, or a tuple or list in their order. It has the
    structure of the arguments. For a tensor it is None, a dict from dimensions, or a sequence with an item for each dimension: a
    `Dim`, `Dim.AUTO`, `Dim.DYNAMIC`, or None for a size that stays as it is.

    Source: `torch/export/__init__.py`, `export`.
    """
    if not isinstance(mod, Module):
        raise ValueError(f"Expected `mod` to be an instance of `torch.nn.Module`, got {type(mod)}.")
    if not isinstance(args, tuple):
        raise UserError(f"Expecting `args` to be a tuple of example positional inputs, got {type(args)}")
    if strict:
        raise NotImplementedError("strict=True is left out")
    kwargs = kwargs or {}
    named = bind_arguments(mod, args, kwargs)
    leaves = leaves_of(named)
    examples = [value for _, value in leaves]
    in_spec = tree_flatten((args, kwargs))[1]
    dims = [dims_of(value, spec, path) for (path, value), spec in zip(leaves, specs_of_leaves(named, dynamic_shapes))]
    program = Program(mod, in_spec, [path for path, _ in leaves], examples)
    return program.export(dims)


# Arguments -----------------------------------------------------------------------------------------------------------


def bind_arguments(mod: Module, args: tuple, kwargs: dict[str, Any]) -> dict[str, Any]:
    """The arguments by name, in the order of the call."""
    bound = inspect.signature(mod.forward).bind(*args, **kwargs)
    parameters, named = inspect.signature(mod.forward).parameters, {}
    for name, value in bound.arguments.items():
        if parameters[name].kind is not inspect.Parameter.VAR_KEYWORD and name not in kwargs:
            named[name] = value
    return named | kwargs


def leaves_of(value: Any, path: KeyPath = ()) -> list[tuple[KeyPath, Any]]:
    """The leaves of nested containers, each with its path."""
    if not isinstance(value, (dict, list, tuple)):
        return [(path, value)]
    items = value.items() if isinstance(value, dict) else enumerate(value)
    return [leaf for key, item in items for leaf in leaves_of(item, (*path, key))]


def specs_of_leaves(named: dict[str, Any], dynamic_shapes: Any) -> list[Any]:
    """Return the part of `dynamic_shapes` for each leaf of the arguments, None where it has none."""
    if dynamic_shapes is None:
        return [None] * len(leaves_of(named))
    if isinstance(dynamic_shapes, (tuple, list)):
        dynamic_shapes = dict(zip(named, dynamic_shapes))
    if not isinstance(dynamic_shapes, dict) or not {*dynamic_shapes} <= {*named}:
        raise UserError(
            f"When `dynamic_shapes` is specified as a dict, its top-level keys must be the arg names {[*named]} of `inputs`,"
            f" but here they are {[*dynamic_shapes]}"
        )

    def spec_at(path: KeyPath) -> Any:
        spec = dynamic_shapes
        for key in path:
            spec = None if spec is None else spec.get(key) if isinstance(spec, dict) else spec[key]
        return spec

    return [spec_at(path) for path, _ in leaves_of(named)]


def dims_of(value: Any, spec: Any, path: KeyPath) -> dict[int, Dim | DimHint]:
    """Return the dynamic dimensions of one argument."""
    if spec is None or not isinstance(value, Tensor):
        return {}
    items = spec.items() if isinstance(spec, dict) else enumerate(spec)
    dims = {}
    for d, dim in items:
        if dim is None or dim is Dim.STATIC or isinstance(dim, int):
            continue
        if not isinstance(dim, (Dim, DimHint)):
            raise UserError(f"Unexpected dimension {dim!r} in dynamic_shapes of {'_'.join(map(str, path))}")
        if isinstance(dim, Dim) and not (dim.min <= value.shape[d] <= (value.shape[d] if dim.max is None else dim.max)):
            raise ConstraintViolationError(f"{value.shape[d]} not in range [{dim.min}, {dim.max}]")
        dims[d] = dim
    return dims


# Tracing -------------------------------------------------------------------------------------------------------------


@dataclass
class Traced:
    """The graphs of a program at several sizes, and the shapes of results that its code has read there."""

    assignments: Sequence[Assignment]
    graphs: list[GraphModule]
    reads: list[Sequence[Sequence[int]]]
    problem: str = ""


@dataclass
class Shapes:
    """The symbols as guards leave them: which are one, which are numbers, and what the others may be."""

    at: Positions
    ranges: Ranges  # of the symbols that are left
    guards: Guards  # on these symbols, other than the ranges
    classes: Mapping[str, str] = field(default_factory=dict)  # for each symbol the first one that is equal to it

    @staticmethod
    def of(symbols: dict[str, Symbol], at: Positions, recorded: Guards) -> Shapes:
        """Apply guards to the symbols of the inputs."""
        guards = [guard for guard in recorded if isinstance(guard, Guard)]
        ranges = constraints(symbols, guards)
        classes = {name: name for name in symbols}
        for guard in guards:
            if isinstance(guard.other, str):
                first, second = sorted((classes[guard.symbol], classes[guard.other]), key=[*symbols].index)
                classes = {name: first if known == second else known for name, known in classes.items()}
        dynamic = {name: bounds for name, bounds in ranges.items() if isinstance(bounds, ValueRange)}
        fixed = {name: size for name, size in ranges.items() if isinstance(size, int)}
        joined = [{d: classes[name] for d, name in dims.items() if name in dynamic} for dims in at]
        relations = [guard.renamed(classes | fixed) for guard in recorded if isinstance(guard, Relation)]
        left = {name: bounds for name, bounds in dynamic.items() if classes[name] == name}
        relations, left = relate(relations, symbols, left)
        unequal = [guard for guard in guards if guard.symbol in left and guard.comparison == "!="]
        return Shapes(joined, left, [*unequal, *relations], classes)

    def imply(self, guard: Guard | Relation) -> bool:
        """Whether a guard is one of these, or the ranges say that it holds."""
        limits = {name: ValueRange(max(lower, 2), upper) for name, (lower, upper) in self.ranges.items()}
        return guard in self.guards or is_always_true(Relation(*guard), limits)


class Program:
    """A module and its example inputs, which are traced at several sizes."""

    def __init__(self, mod: Module, in_spec: Any, paths: Sequence[KeyPath], examples: Sequence[Any]) -> None:
        self.decompositions: Decompositions = None
        self.mod, self.in_spec, self.paths, self.examples = mod, in_spec, paths, examples
        self.parameters = dict(mod.named_parameters(remove_duplicate=False))
        self.buffers = dict(mod.named_buffers(remove_duplicate=False))
        self.persistent = {name: name in mod.state_dict() for name in self.buffers}
        self.out_spec: Any = None
        self.expressions: list[Expression] = []  # those that the user's code has computed

    @property
    def owned(self) -> dict[str, Tensor]:
        return self.parameters | self.buffers

    def export(self, dims: Sequence[Mapping[int, Dim | DimHint]]) -> ExportedProgram:
        """Trace at the example, take the guards, and trace at other sizes that they allow."""
        symbols, at, names = {}, [], {}
        for example, wanted in zip(self.examples, dims):
            at.append({})
            for d, dim in wanted.items():
                size = int(example.shape[d])
                key = dim.__name__ if isinstance(dim, Dim) else (len(at), d)
                if size < 2:
                    if dim is not Dim.AUTO:
                        raise ConstraintViolationError(
                            f"You marked {dim!r} as dynamic but your code specialized it to be a constant ({size})"
                        )
                    continue
                name = names.setdefault(key, f"s{len(names)}")
                if name in symbols and symbols[name].hint != size:
                    raise UserError(f"The sizes of {dim!r} must be equal: {symbols[name].hint} and {size}")
                symbols[name] = Symbol(size, dim)
                at[-1][d] = name
        return self.export_symbols(symbols, at)

    def export_symbols(self, symbols: dict[str, Symbol], at: Positions, tried: Guards = ()) -> ExportedProgram:
        """Export with these symbols. `tried` has the guards that earlier attempts have found.

        1. Trace at the example's sizes. The comparisons of the user's code there are guards: they say at which sizes the code
           takes the same path. The guards join symbols that are equal, and fix symbols to numbers.
        2. Trace at other sizes that fulfil the guards, and make one program of all graphs (`merge`).
        3. Comparisons of the sizes of results are known only now, because step 2 has found these sizes as expressions of the
           symbols. If they add guards, begin again with them.
        4. If the graphs do not merge, a guard is missing that no comparison shows. Try whether two symbols that are equal in
           the example must be equal, and then fix the last symbol that the user has not named.

        This ends: each attempt has one guard more that the others do not imply, or one symbol less. The program does at all
        sizes of step 2 what the module did there. At other sizes this is a conclusion: an expression that fits several sizes
        is taken for the rule.
        """
        hints = {name: symbol.hint for name, symbol in symbols.items()}
        recorded: list[Guard | Relation] = []
        with recording(recorded, hints) as self.expressions:
            first = self.trace(hints, at)
        shapes = Shapes.of(symbols, at, [*recorded, *tried])
        traced = self.trace_at_sizes(first, shapes.at, {name: hints[name] for name in shapes.ranges}, shapes)
        reads = self.shapes_of_results(traced)
        program = None
        with suppress(ConstraintViolationError):
            program = self.merge(traced, shapes)
        if len(reads) < max(map(len, traced.reads)):
            program = None
        new = [guard for guard in self.guards_of_results(traced, reads, shapes.at) if not shapes.imply(guard)]
        if new:  # if the graphs differ, only the first guard is certain: before it, the code has read the same sizes
            return self.export_symbols(symbols, at, [*tried, *(new if program else new[:1])])
        return program or self.export_fewer_symbols(symbols, at, tried, shapes, traced)

    def export_fewer_symbols(
        self, symbols: dict[str, Symbol], at: Positions, tried: Guards, shapes: Shapes, traced: Traced
    ) -> ExportedProgram:
        """Step 4 of `export_symbols`."""
        for one, other in itertools.combinations(shapes.ranges, 2):
            if symbols[one].hint == symbols[other].hint:
                with suppress(ConstraintViolationError):
                    return self.export_symbols(symbols, at, [*tried, Guard(one, "==", other)])
        automatic = [name for name in shapes.ranges if symbols[name].dim is Dim.AUTO]
        if not automatic:
            raise ConstraintViolationError(not_general(traced))
        rest = {name: symbol for name, symbol in symbols.items() if shapes.classes[name] != automatic[-1]}
        at = [{d: name for d, name in dims.items() if name in rest} for dims in at]
        return self.export_symbols(rest, at, [guard for guard in tried if {*symbols_in(guard)} <= {*rest}])

    def trace_at_sizes(self, first: GraphModule, at: Positions, hints: Assignment, shapes: Shapes) -> Traced:
        """The trace at the example, and traces at other sizes. A program that raises an error at other sizes has no graph there."""
        assignments = [hints, *sample(hints, shapes.ranges, shapes.guards)] if shapes.ranges else [hints]
        traced = Traced(assignments, [first], [first.meta["reads"]])
        for assignment in assignments[1:]:
            try:
                traced.graphs.append(self.trace(assignment, at))
            except Exception as error:  # of the user's code, too
                traced.problem = f": {str(error).partition(chr(10))[0]}"
            traced.reads.append(local_state.reads)
        return traced

    def shapes_of_results(self, traced: Traced) -> list[list[Expression]]:
        """The shapes of results that the user's code reads, as far as they are expressions."""
        shapes = []
        for versions in zip(*traced.reads):
            sizes = [fit(values, traced.assignments, self.known(traced.assignments[0])) for values in zip(*versions)]
            if None in sizes or len({*map(len, versions)}) > 1:
                break
            shapes.append(sizes)
        return shapes

    def guards_of_results(self, traced: Traced, reads: list[list[Expression]], at: Positions) -> Guards:
        """The comparisons of the user's code, in order, if it sees the shapes of results as these expressions."""
        guards: list[Guard | Relation] = []
        if any(not isinstance(size, int) for sizes in reads for size in sizes):
            with recording(guards, traced.assignments[0], reads):
                self.trace(traced.assignments[0], at)
        return guards

    def trace(self, assignment: Assignment, at: Positions) -> GraphModule:
        """The graph of the module at these sizes. `out_spec` becomes the structure of its results."""
        count, is_grad_enabled = len(self.owned), local.grad_enabled

        def function(*values: Any) -> list[Any]:
            inputs = [
                with_symbols(value, dims) if isinstance(value, Tensor) else value
                for value, dims in zip(values[count:], at)
            ]
            args, kwargs = tree_unflatten(inputs, self.in_spec)
            local_state.reads = []
            grad_mode, exporting = set_grad_enabled(is_grad_enabled), replacing(compiler, _exporting=True)
            with swapped(self.mod, dict(zip(self.owned, values))), grad_mode, Results(), exporting:
                results, self.out_spec = tree_flatten(self.mod(*args, **kwargs))
            return [int(x) if isinstance(x, int) and not isinstance(x, bool) else x for x in results]

        examples = [example_at(value, dims, assignment) for value, dims in zip(self.examples, at)]
        given = [*self.owned.values(), *examples]
        with no_grad(), data_dependent_errors():
            meta = joint.collect_metadata(function, given)
            self.refuse_shared([i - count for i in meta.mutated if i >= count])
            graph = joint.inference_graph(function, given, meta, self.decompositions)
        graph.meta |= {"mutated": meta.mutated, "reads": local_state.reads}
        return graph

    def refuse_shared(self, mutated: Sequence[int]) -> None:
        """NotImplementedError if the program writes to an input whose memory another input shares."""
        storages = [example._storage if isinstance(example, Tensor) else None for example in self.examples]
        for i in mutated:
            if sum(storage is storages[i] for storage in storages) > 1:
                raise NotImplementedError(f"inputs that share memory are left out, and the program writes to one: {i}")

    # One graph from those of all sizes

    def merge(self, traced: Traced, shapes: Shapes) -> ExportedProgram:
        """Make one program of the graphs of all sizes.

        The graphs must have the same operators in the same order, so that they differ in numbers only. A number that differs
        becomes the expression of the symbols that has these values (`fit`), and a node of the new graph computes it. So at
        each of the sizes, the new graph does what the graph of these sizes does.
        """
        if len(traced.graphs) < len(traced.assignments):
            raise ConstraintViolationError(not_general(traced))
        constants = self.constants_of(traced.graphs[0])
        inputs = input_specs([*self.parameters], self.persistent, [*constants], self.paths)
        graph = Graph()
        placeholders = [named_placeholder(graph, spec.arg.name) for spec in inputs]
        owned, users = placeholders[: len(self.owned)], placeholders[len(self.owned) + len(constants) :]
        lifted = dict(zip(map(id, constants.values()), placeholders[len(self.owned) :]))
        sources = {name: (node, d) for node, dims in reversed([*zip(users, shapes.at)]) for d, name in dims.items()}
        size_nodes, known = SizeNodes(graph, sources), self.known(traced.assignments[0])
        results = Merger(graph, traced, size_nodes, known, iter([*owned, *users]), lifted).merge_graphs()
        for node, dims in zip(users, shapes.at):
            for d, name in dims.items():
                node.meta["sizes"][d] = name
        state = {name: tensor for name, tensor in self.owned.items() if self.persistent.get(name, True)}
        rest = {name: tensor for name, tensor in self.buffers.items() if not self.persistent[name]}
        mutated = traced.graphs[0].meta["mutated"]
        changed = {(owned + users)[i].name: node for i, node in zip(mutated, results)}
        signature = self.signature(inputs, changed, results)
        ranges, guards = dict(shapes.ranges), list(shapes.guards)
        return ExportedProgram(graph, signature, state, constants | rest, ranges, guards, self.in_spec, self.out_spec)

    def signature(
        self, inputs: list[InputSpec], changed: Mapping[str, Node], results: Sequence[Any]
    ) -> ExportGraphSignature:
        """The signature of a graph. `changed` has the results that are new values of inputs, by the inputs' names. They are the
        first of the results."""
        for spec, value in zip(inputs[len(inputs) - len(self.examples) :], self.examples):
            if not isinstance(value, Tensor):
                spec.arg = ConstantArgument(spec.arg.name, value)
        outputs = output_specs(inputs, changed, results[len(changed) :])
        for spec, result in zip(outputs, results):
            if isinstance(result, Node) and result.meta["sizes"] is None:
                spec.arg = SymIntArgument(result.name)
        return ExportGraphSignature(inputs, outputs)

    def known(self, assignment: Assignment) -> list[Expression]:
        """The expressions that the user's code has computed, of the symbols that are left."""
        computed = dict.fromkeys(self.expressions)
        return [expression for expression in computed if {*symbols_of(expression)} <= {*assignment}]

    def constants_of(self, module: GraphModule) -> dict[str, Tensor]:
        """The constants of a graph by name: that of the module's attribute, or a new one."""
        attributes = {
            id(value): f"{path}.{name}" if path else name
            for path, owner in self.mod.named_modules()
            for name, value in vars(owner).items()
            if isinstance(value, Tensor)
        }
        constants: dict[str, Tensor] = {}
        for node in module.graph.nodes:
            tensor = getattr(module, node.target) if node.op == "get_attr" else None
            if tensor is not None and not any(tensor is constant for constant in constants.values()):
                number = sum(name.startswith("lifted_tensor_") for name in constants)
                constants[attributes.get(id(tensor), f"lifted_tensor_{number}")] = tensor
        return constants


@dataclass
class Merger:
    """Makes one graph of those of all sizes: a node or an argument of each graph becomes one of the new graph."""

    graph: Graph
    traced: Traced
    size_nodes: SizeNodes
    known: Sequence[Expression]
    placeholders: Iterator[Node]
    lifted: Mapping[int, Node]
    copies: dict[Node, Node] = field(default_factory=dict)  # by the nodes of the first graph

    def require(self, same: bool) -> None:
        if not same:
            raise ConstraintViolationError(not_general(self.traced))

    def merge_graphs(self) -> list[Any]:
        """Copy the nodes, and return the results."""
        for versions in zip(*same_length([list(module.graph.nodes) for module in self.traced.graphs])):
            first = versions[0]
            self.require(all((version.op, version.target) == (first.op, first.target) for version in versions))
            if first.op == "output":
                results = self.merge([version.args[0] for version in versions])
                self.graph.output(tuple(results))
            else:
                copy = self.copies[first] = self.merge_nodes(versions)
                copy.meta["val"] = first.meta.get("val")
                copy.meta["sizes"] = self.sizes_of([version.meta.get("val") for version in versions])
        return results

    def merge_nodes(self, versions: Sequence[Node]) -> Node:
        """Return the node of the new graph for one of each graph."""
        first = versions[0]
        if first.op == "placeholder":
            return next(self.placeholders)
        if first.op == "get_attr":
            tensor, *others = [getattr(module, first.target) for module in self.traced.graphs]
            self.require(all(same_data(tensor, other) for other in others))
            return self.lifted[id(tensor)]
        args = self.merge([version.args for version in versions])
        kwargs = self.merge([dict(version.kwargs) for version in versions])
        return self.graph.create_node("call_function", first.target, tuple(args), kwargs, first.name)

    def merge(self, versions: Sequence[Any]) -> Any:
        """Return the argument of the new graph for one of each graph."""
        first = versions[0]
        if isinstance(first, Node):
            return self.copies[first]
        if isinstance(first, (list, tuple)):
            return [self.merge(items) for items in zip(*same_length(versions))]
        if isinstance(first, dict):
            return {name: self.merge([version[name] for version in versions]) for name in first}
        if type(first) is not int:
            self.require(all(version == first for version in versions) or first != first)
            return first
        size = fit(versions, self.traced.assignments, self.known)
        self.require(size is not None)
        return self.size_nodes.of(size)

    def sizes_of(self, versions: Sequence[Any]) -> list[int | str] | None:
        """The sizes of a tensor: numbers and expressions."""
        if not isinstance(versions[0], Tensor):
            return None
        shapes = zip(*same_length([version.shape for version in versions]))
        fitted = [fit(sizes, self.traced.assignments, self.known) for sizes in shapes]
        self.require(None not in fitted)
        return [int(size) if isinstance(size, int) else written(size) for size in fitted]


def same_data(one: Tensor, other: Tensor) -> bool:
    """Whether two constants are equal, bit for bit."""
    return one is other or (one.shape == other.shape and one.dtype is other.dtype and one.tolist() == other.tolist())


def same_length(versions: Sequence[Sequence[Any]]) -> Sequence[Sequence[Any]]:
    """The versions of a list from the traces with different sizes. Different lengths raise a
    `ConstraintViolationError`."""
    if len({len(version) for version in versions}) > 1:
        raise ConstraintViolationError("You marked a size as dynamic but your code specialized it: the graphs differ")
    return versions


def not_general(traced: Traced) -> str:
    """The text of the error when no one graph is right for all sizes that were tried."""
    assignments = traced.assignments
    tried = ", ".join(f"{name} = {[assignment[name] for assignment in assignments]}" for name in assignments[0])
    return (
        f"You marked a size as dynamic but your code specialized it: there is no one graph for {tried}{traced.problem}"
    )


def sample(hints: Assignment, ranges: Ranges, guards: Guards) -> list[dict[str, int]]:
    """Sizes that the ranges and guards allow: the ends, and some between them, in other combinations for each symbol."""
    assignments = []
    for steps in ((0, 1, 2, 3), (1, 3, 0, 5), (7, 4, 9, 2), (12, 29, 17, 23), (97, 89, 83, 79)):
        assignment = {}
        for i, (name, (lower, upper)) in enumerate(ranges.items()):
            lower = max(lower, 2)
            size = lower + steps[i % 4] if upper is None else lower + min(steps[i % 4], upper - lower)
            wrong = [g.other for g in guards if isinstance(g, Guard) and g.symbol == name and g.comparison == "!="]
            while size in wrong:
                size += 1
            assignment[name] = size
        assignments.append(assignment)
    has_relations = any(isinstance(guard, Relation) for guard in guards)
    return related(assignments, hints, ranges, guards) if has_relations else assignments


def related(
    assignments: list[dict[str, int]], hints: Assignment, ranges: Ranges, guards: Guards
) -> list[dict[str, int]]:
    """Return assignments that fulfil all relations: some of the given ones, and others near the ends of the ranges and near the
    example."""

    def is_allowed(assignment: Assignment) -> bool:
        return all(
            guard.holds(assignment) if isinstance(guard, Relation) else assignment[guard.symbol] != guard.other
            for guard in guards
        )

    allowed, draw = [assignment for assignment in assignments if is_allowed(assignment)], random.Random(0)
    for _ in range(TRIES):
        if len(allowed) >= len(assignments):
            break
        assignment = {}
        for name, (lower, upper) in ranges.items():
            around = draw.choice((lower, max(lower, hints[name] - 6), lower + 40))
            size = max(2, around + draw.randrange(13))
            assignment[name] = size if upper is None else min(size, upper)
        if assignment not in allowed and is_allowed(assignment):
            allowed.append(assignment)
    if len(allowed) < 2:
        raise ConstraintViolationError(f"You marked a size as dynamic but your code specialized it: {guards[-1]}")
    return allowed


# Running the module --------------------------------------------------------------------------------------------------


def example_at(value: Any, dims: Mapping[int, str], assignment: Assignment) -> Any:
    """An input that is like the example, at other sizes."""
    if not isinstance(value, Tensor) or not dims:
        return value
    sizes = [assignment[dims[d]] if d in dims and dims[d] in assignment else n for d, n in enumerate(value.shape)]
    return functions.empty(sizes, dtype=value.dtype, device="meta")


@contextmanager
def swapped(mod: Module, tensors: Mapping[str, Tensor]) -> Iterator[None]:
    """A context in which a module has these tensors for its parameters and buffers.
    Source: `torch/nn/utils/stateless.py`, `_reparametrize_module`."""
    before = []
    for name in tensors:
        path, _, leaf = name.rpartition(".")
        owner = mod.get_submodule(path)
        held = owner._parameters if leaf in owner._parameters else owner._buffers
        before.append((held, leaf, held[leaf]))
    for (held, leaf, _), tensor in zip(before, tensors.values()):
        held[leaf] = tensor
    try:
        yield
    finally:
        for held, leaf, tensor in before:
            held[leaf] = tensor


@contextmanager
def recording(
    guards: list[Guard | Relation], hints: Assignment, reads: Sequence[Sequence[Expression]] = ()
) -> Iterator[list[Expression]]:
    """A context in which the comparisons of the user's code are recorded, and the sizes that it computes. `reads` has the shapes
    of results that it will read."""
    with replacing(local_state, guards=guards, hints=hints, expressions=[], known_reads=reads):
        yield local_state.expressions


def symbols_in(guard: Guard | Relation) -> list[str]:
    """The symbols that a guard compares."""
    return guard.symbols() if isinstance(guard, Relation) else symbols_of(("-", guard.symbol, guard.other))


@contextmanager
def data_dependent_errors() -> Iterator[None]:
    """A context in which reading the data of a tensor raises the error of torch. A size that depends on data is left out."""
    try:
        yield
    except (NotImplementedError, RuntimeError) as error:
        if re.search("no kernel for Meta|has no data|number of true elements", str(error)):
            problem = f"sizes that depend on data, and lists of data, are left out of an export ({str(error).splitlines()[0]})"
            raise NotImplementedError(problem) from error
        if "_local_scalar_dense" in str(error) or "item" in str(error):
            problem = (
                "Could not guard on data-dependent expression: the program reads the data of a tensor (item, bool, int)"
            )
            raise GuardOnDataDependentSymNode(problem) from error
        raise


# Decompositions ------------------------------------------------------------------------------------------------------


def run_decompositions(program: ExportedProgram, decomp_table: Decompositions = None) -> ExportedProgram:
    """The same program, in which each operator in the table is replaced by the operators that its function calls. The default is
    `rl.aot.core_aten_decompositions()`. The program's module is traced again, at the same sizes.
    Source: `torch/export/exported_program.py`, `ExportedProgram.run_decompositions`."""
    inputs = [spec for spec in program.graph_signature.input_specs if spec.target is None]
    nodes = {node.name: node for node in program.graph.nodes if node.op == "placeholder"}
    constant = [isinstance(spec.arg, ConstantArgument) for spec in inputs]
    examples = [spec.arg.value if fixed else nodes[spec.arg.name].meta["val"] for spec, fixed in zip(inputs, constant)]
    at = [
        {} if fixed else {d: size for d, size in enumerate(nodes[spec.arg.name].meta["sizes"]) if isinstance(size, str)}
        for spec, fixed in zip(inputs, constant)
    ]
    hints = {name: example.shape[d] for dims, example in zip(at, examples) for d, name in dims.items()}
    traced = Program(program.module(), program.in_spec, [(spec.arg.name,) for spec in inputs], examples)
    traced.decompositions = core_aten_decompositions() if decomp_table is None else decomp_table
    first = traced.trace(hints, at)
    shapes = Shapes(at, program.range_constraints, program.guards)
    result = traced.merge(traced.trace_at_sizes(first, at, hints, shapes), shapes)
    result.state_dict, result.constants = program.state_dict, program.constants
    return result


ExportedProgram.run_decompositions = run_decompositions
