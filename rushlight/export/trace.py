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
from dataclasses import dataclass
from typing import Any

from rushlight.aot import joint
from rushlight.aot.decompositions import core_aten_decompositions
from rushlight.aot.proxy_tensor import Decompositions
from rushlight.aot.runtime import flatten, unflatten
from rushlight.aten.generated import functions
from rushlight.aten.strided import Tensor
from rushlight.autograd.grad_mode import no_grad, set_grad_enabled
from rushlight.c10.dispatch import local
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
    KeyPath,
    SymIntArgument,
    input_specs,
    named_placeholder,
    output_specs,
)
from rushlight.export.symbolic_shapes import Results, SizeNodes, fit, local_state, with_symbols
from rushlight.fx import Graph, GraphModule, Node
from rushlight.nn.modules.module import Module

World = Mapping[str, int]  # a size for each symbol
TRIES = 5000  # of sizes for which all relations hold


def export(
    mod: Module,
    args: tuple,
    kwargs: dict[str, Any] | None = None,
    *,
    dynamic_shapes: Any = None,
    strict: bool = False,
) -> ExportedProgram:
    """The program of a module as a graph that needs neither the module nor its class.

    `args` and `kwargs` are examples. They may be nested in tuples, lists and dicts. Numbers, strings and None among them become
    part of the program. `dynamic_shapes` is a dict by the names of arguments, or a tuple or list in their order. It has the
    structure of the arguments. For a tensor it is None, a dict from dimensions, or a sequence with an item for each dimension: a
    `Dim`, `Dim.AUTO`, `Dim.DYNAMIC`, or None for a size that stays as it is.

    Source: `torch/export/__init__.py`, `export`.
    """
    if not isinstance(mod, Module):
        raise ValueError(f"Expected `mod` to be an instance of `rushlight.nn.Module`, got {type(mod)}.")
    if not isinstance(args, tuple):
        raise UserError(f"Expecting `args` to be a tuple of example positional inputs, got {type(args)}")
    if strict:
        raise NotImplementedError("strict=True is left out")
    kwargs = kwargs or {}
    named = bind_arguments(mod, args, kwargs)
    leaves = leaves_of(named)
    examples = [value for _, value in leaves]
    in_spec = flatten((args, kwargs))[1]
    dims = [dims_of(value, wish, path) for (path, value), wish in zip(leaves, wishes(named, dynamic_shapes))]
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


def wishes(named: dict[str, Any], dynamic_shapes: Any) -> list[Any]:
    """What the user asked for at each leaf of the arguments."""
    if dynamic_shapes is None:
        return [None] * len(leaves_of(named))
    if isinstance(dynamic_shapes, (tuple, list)):
        dynamic_shapes = dict(zip(named, dynamic_shapes))
    if not isinstance(dynamic_shapes, dict) or not {*dynamic_shapes} <= {*named}:
        raise UserError(
            f"When `dynamic_shapes` is specified as a dict, its top-level keys must be the arg names {[*named]} of `inputs`,"
            f" but here they are {[*dynamic_shapes]}"
        )

    def each(value: Any, wish: Any) -> Iterator[Any]:
        if not isinstance(value, (dict, list, tuple)):
            yield wish
            return
        items = value.items() if isinstance(value, dict) else enumerate(value)
        for key, item in items:
            inner = None if wish is None else wish.get(key) if isinstance(wish, dict) else wish[key]
            yield from each(item, inner)

    return list(each(named, dynamic_shapes))


def dims_of(value: Any, wish: Any, path: KeyPath) -> dict[int, Dim | DimHint]:
    """The dynamic dimensions of one argument."""
    if wish is None or not isinstance(value, Tensor):
        return {}
    items = wish.items() if isinstance(wish, dict) else enumerate(wish)
    found = {}
    for d, dim in items:
        if dim is None or dim is Dim.STATIC or isinstance(dim, int):
            continue
        if not isinstance(dim, (Dim, DimHint)):
            raise UserError(f"Unexpected dimension {dim!r} in dynamic_shapes of {'_'.join(map(str, path))}")
        if isinstance(dim, Dim) and not (dim.min <= value.shape[d] <= (value.shape[d] if dim.max is None else dim.max)):
            raise ConstraintViolationError(f"{value.shape[d]} not in range [{dim.min}, {dim.max}]")
        found[d] = dim
    return found


# Tracing -------------------------------------------------------------------------------------------------------------


@dataclass
class Traced:
    """The graphs of a program at several sizes, and the shapes of results that its code has read there."""

    worlds: Sequence[World]
    graphs: list[GraphModule]
    reads: list[Sequence[Sequence[int]]]
    problem: str = ""


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

    def export_symbols(
        self, symbols: dict[str, Symbol], at: Sequence[Mapping[int, str]], tried: Sequence[Guard | Relation] = ()
    ) -> ExportedProgram:
        """Export with these symbols. `tried` has guards that were found by trying."""
        hints = {name: symbol.hint for name, symbol in symbols.items()}
        recorded: list[Guard | Relation] = []
        with recording(recorded, hints) as self.expressions:
            first = self.trace(hints, at)
        recorded += tried
        guards = [guard for guard in recorded if isinstance(guard, Guard)]
        ranges = constraints(symbols, guards)
        classes = {name: name for name in symbols}  # symbols that are equal have the first one's name
        for guard in guards:
            if isinstance(guard.other, str):
                one, other = sorted((classes[guard.symbol], classes[guard.other]), key=[*symbols].index)
                classes = {name: one if known == other else known for name, known in classes.items()}
        joined = [{d: classes[n] for d, n in dims.items() if isinstance(ranges[n], ValueRange)} for dims in at]
        kept = {n: r for n, r in ranges.items() if isinstance(r, ValueRange) and classes[n] == n}
        specialised = {n: r for n, r in ranges.items() if isinstance(r, int)}
        relations = [each.renamed(classes | specialised) for each in recorded if isinstance(each, Relation)]
        relations, kept = relate(relations, symbols, kept)
        guards = [g for g in guards if g.symbol in kept and g.comparison == "!="] + relations
        at_example = {name: hints[name] for name in kept}
        traced = self.trace_at_sizes(first, joined, at_example, kept, guards)
        reads = self.shapes_of_results(traced)
        try:
            program = self.merge(traced, joined, kept, guards)
        except ConstraintViolationError:
            program = None
        if len(reads) < max(map(len, traced.reads)):
            program = None
        found = [each for each in self.guards_of_results(traced, reads, joined) if not is_known(each, guards, kept)]
        if found:  # until the graphs differ, all have read the same shapes
            return self.export_symbols(symbols, at, [*tried, *(found if program else found[:1])])
        if program is None:
            for one, other in itertools.combinations(kept, 2):
                if hints[one] == hints[other]:
                    with suppress(ConstraintViolationError):
                        return self.export_symbols(symbols, at, [*tried, Guard(one, "==", other)])
            automatic = [name for name in kept if symbols[name].dim is Dim.AUTO]
            if not automatic:
                raise ConstraintViolationError(not_general(traced))
            rest = {
                name: symbol for name, symbol in symbols.items() if classes[name] != automatic[-1]
            }  # specialise one
            at = [{d: n for d, n in dims.items() if n in rest} for dims in at]
            return self.export_symbols(rest, at, [g for g in tried if {*symbols_in(g)} <= {*rest}])
        return program

    def trace_at_sizes(
        self,
        first: GraphModule,
        at: Sequence[Mapping[int, str]],
        hints: World,
        ranges: Mapping[str, ValueRange],
        guards: Sequence[Guard | Relation],
    ) -> Traced:
        """The trace at the example, and traces at other sizes. A program that raises an error at other sizes has no graph there."""
        worlds = [hints, *sample(hints, ranges, guards)] if ranges else [hints]
        traced = Traced(worlds, [first], [first.meta["reads"]])
        for world in worlds[1:]:
            try:
                traced.graphs.append(self.trace(world, at))
            except Exception as error:  # of the user's code, too
                traced.problem = f": {str(error).partition(chr(10))[0]}"
            traced.reads.append(local_state.reads)
        return traced

    def shapes_of_results(self, traced: Traced) -> list[list[Expression]]:
        """The shapes of results that the user's code reads, as far as they are expressions."""
        found = []
        for versions in zip(*traced.reads):
            sizes = [fit(each, traced.worlds, self.known(traced.worlds[0])) for each in zip(*versions)]
            if None in sizes or len({*map(len, versions)}) > 1:
                break
            found.append(sizes)
        return found

    def guards_of_results(
        self, traced: Traced, reads: list[list[Expression]], at: Sequence[Mapping[int, str]]
    ) -> list[Guard | Relation]:
        """The comparisons of the user's code, in order, if it sees the shapes of results as these expressions."""
        found: list[Guard | Relation] = []
        if any(not isinstance(size, int) for sizes in reads for size in sizes):
            with recording(found, traced.worlds[0], reads):
                self.trace(traced.worlds[0], at)
        return found

    def trace(self, world: World, at: Sequence[Mapping[int, str]]) -> GraphModule:
        """The graph of the module at these sizes. `out_spec` becomes the structure of its results."""
        count, is_grad_enabled = len(self.owned), local.grad_enabled

        def function(*values: Any) -> list[Any]:
            inputs = [
                with_symbols(value, dims) if isinstance(value, Tensor) else value
                for value, dims in zip(values[count:], at)
            ]
            args, kwargs = unflatten(list(inputs), self.in_spec)
            local_state.reads = []
            with swapped(self.mod, dict(zip(self.owned, values))), set_grad_enabled(is_grad_enabled), Results():
                results, self.out_spec = flatten(self.mod(*args, **kwargs))
            return [int(x) if isinstance(x, int) and not isinstance(x, bool) else x for x in results]

        examples = [example_at(value, dims, world) for value, dims in zip(self.examples, at)]
        given = [*self.owned.values(), *examples]
        with no_grad(), data_dependent_errors():
            meta = joint.collect_metadata(function, given)
            self.refuse_shared([i - count for i in meta.mutated if i >= count])
            graph = joint.inference_graph(function, given, meta, self.decompositions)
        graph.meta |= {"mutated": meta.mutated, "reads": local_state.reads}
        return graph

    def refuse_shared(self, mutated: Sequence[int]) -> None:
        """NotImplementedError if the program writes to an input whose memory another input shares."""
        storages = [each._storage if isinstance(each, Tensor) else None for each in self.examples]
        for i in mutated:
            if sum(storage is storages[i] for storage in storages) > 1:
                raise NotImplementedError(f"inputs that share memory are left out, and the program writes to one: {i}")

    # One graph from those of all sizes

    def merge(
        self,
        traced: Traced,
        at: Sequence[Mapping[int, str]],
        ranges: Mapping[str, ValueRange],
        guards: Sequence[Guard | Relation],
    ) -> ExportedProgram:
        """The exported program. A size that differs between the traces becomes a node that computes it."""
        worlds, modules = traced.worlds, traced.graphs
        if len(modules) < len(worlds):
            raise ConstraintViolationError(not_general(traced))
        first = modules[0]
        constants = self.constants_of(first)
        inputs = input_specs([*self.parameters], self.persistent, [*constants], self.paths)
        graph, copies = Graph(), {}
        made = [named_placeholder(graph, spec.arg.name) for spec in inputs]
        owned, users = made[: len(self.owned)], made[len(self.owned) + len(constants) :]
        lifted = dict(zip([id(tensor) for tensor in constants.values()], made[len(self.owned) :]))
        sources = {name: (node, d) for node, dims in reversed([*zip(users, at)]) for d, name in dims.items()}
        merger = Merger(graph, copies, traced, SizeNodes(graph, sources), self.known(worlds[0]))
        old_placeholders = iter([*owned, *users])
        symbols = dict(zip(users, at))
        for node, *others in zip(*same_length([list(module.graph.nodes) for module in modules])):
            if any((other.op, other.target) != (node.op, node.target) for other in others):
                raise ConstraintViolationError(not_general(traced))
            if node.op == "placeholder":
                copies[node] = next(old_placeholders)
            elif node.op == "get_attr":
                tensor = getattr(first, node.target)
                if not all(same_data(tensor, getattr(each, node.target)) for each in modules):
                    raise ConstraintViolationError(not_general(traced))
                copies[node] = lifted[id(tensor)]
            elif node.op == "output":
                results = merger.merge([each.args[0] for each in (node, *others)])
                graph.output(tuple(results))
                continue
            else:
                args = merger.merge([each.args for each in (node, *others)])
                kwargs = merger.merge([dict(each.kwargs) for each in (node, *others)])
                copies[node] = graph.create_node("call_function", node.target, tuple(args), kwargs, node.name)
            copies[node].meta["val"] = node.meta.get("val")
            copies[node].meta["sizes"] = merger.sizes_of([each.meta.get("val") for each in (node, *others)])
            for d, name in symbols.get(copies[node], {}).items():
                copies[node].meta["sizes"][d] = name
        for spec, value in zip(inputs[len(inputs) - len(users) :], self.examples):
            if not isinstance(value, Tensor):
                spec.arg = ConstantArgument(spec.arg.name, value)
        mutated = first.meta["mutated"]
        changed = {(owned + users)[i].name: node for i, node in zip(mutated, results)}
        outputs = output_specs(inputs, changed, results[len(mutated) :])
        for spec, result in zip(outputs, results):
            if isinstance(result, Node) and result.meta["sizes"] is None:
                spec.arg = SymIntArgument(result.name)
        state = {name: each for name, each in self.owned.items() if self.persistent.get(name, True)}
        rest = {name: each for name, each in self.buffers.items() if not self.persistent[name]}
        return ExportedProgram(
            graph,
            ExportGraphSignature(inputs, outputs),
            state,
            constants | rest,
            dict(ranges),
            list(guards),
            self.in_spec,
            self.out_spec,
        )

    def known(self, world: World) -> list[Expression]:
        """The expressions that the user's code has computed, of the symbols that are left."""
        return [each for each in dict.fromkeys(self.expressions) if {*symbols_of(each)} <= {*world}]

    def constants_of(self, module: GraphModule) -> dict[str, Tensor]:
        """The constants of a graph by name: that of the module's attribute, or a new one."""
        attributes = {
            id(value): f"{path}.{name}" if path else name
            for path, owner in self.mod.named_modules()
            for name, value in vars(owner).items()
            if isinstance(value, Tensor)
        }
        found: dict[str, Tensor] = {}
        for node in module.graph.nodes:
            tensor = getattr(module, node.target) if node.op == "get_attr" else None
            if tensor is not None and not any(tensor is each for each in found.values()):
                number = sum(name.startswith("lifted_tensor_") for name in found)
                found[attributes.get(id(tensor), f"lifted_tensor_{number}")] = tensor
        return found


class Merger:
    """Makes one argument of those in the graphs of all sizes."""

    def __init__(
        self,
        graph: Graph,
        copies: dict[Node, Node],
        traced: Traced,
        size_nodes: SizeNodes,
        known: Sequence[Expression],
    ) -> None:
        self.graph, self.copies, self.traced, self.size_nodes, self.known = graph, copies, traced, size_nodes, known

    def merge(self, versions: Sequence[Any]) -> Any:
        first = versions[0]
        if isinstance(first, Node):
            return self.copies[first]
        if isinstance(first, (list, tuple)):
            return [self.merge(items) for items in zip(*same_length(versions))]
        if isinstance(first, dict):
            return {name: self.merge([each[name] for each in versions]) for name in first}
        if type(first) is not int:
            if any(each != first for each in versions) and first == first:
                raise ConstraintViolationError(not_general(self.traced))
            return first
        found = fit(versions, self.traced.worlds, self.known)
        if found is None:
            raise ConstraintViolationError(not_general(self.traced))
        return self.size_nodes.of(found)

    def sizes_of(self, versions: Sequence[Any]) -> list[int | str] | None:
        """The sizes of a tensor: numbers and expressions."""
        if not isinstance(versions[0], Tensor):
            return None
        found = [
            fit(sizes, self.traced.worlds, self.known) for sizes in zip(*same_length([each.shape for each in versions]))
        ]
        if None in found:
            raise ConstraintViolationError(not_general(self.traced))
        return [int(each) if isinstance(each, int) else written(each) for each in found]


def same_data(one: Tensor, other: Tensor) -> bool:
    """Whether two constants are equal, bit for bit."""
    return one is other or (one.shape == other.shape and one.dtype is other.dtype and one.tolist() == other.tolist())


def same_length(versions: Sequence[Sequence[Any]]) -> Sequence[Sequence[Any]]:
    if len({len(each) for each in versions}) > 1:
        raise ConstraintViolationError("You marked a size as dynamic but your code specialized it: the graphs differ")
    return versions


def not_general(traced: Traced) -> str:
    worlds = traced.worlds
    tried = ", ".join(f"{name} = {[world[name] for world in worlds]}" for name in worlds[0])
    return (
        f"You marked a size as dynamic but your code specialized it: there is no one graph for {tried}{traced.problem}"
    )


def sample(hints: World, ranges: Mapping[str, ValueRange], guards: Sequence[Guard | Relation]) -> list[dict[str, int]]:
    """Sizes that the ranges and guards allow: the ends, and some between them, in other combinations for each symbol."""
    worlds = []
    for steps in ((0, 1, 2, 3), (1, 3, 0, 5), (7, 4, 9, 2), (12, 29, 17, 23), (97, 89, 83, 79)):
        world = {}
        for i, (name, (lower, upper)) in enumerate(ranges.items()):
            lower = max(lower, 2)
            size = lower + steps[i % 4] if upper is None else lower + min(steps[i % 4], upper - lower)
            wrong = [g.other for g in guards if isinstance(g, Guard) and g.symbol == name and g.comparison == "!="]
            while size in wrong:
                size += 1
            world[name] = size
        worlds.append(world)
    return related(worlds, hints, ranges, guards) if any(isinstance(guard, Relation) for guard in guards) else worlds


def related(
    worlds: list[dict[str, int]], hints: World, ranges: Mapping[str, ValueRange], guards: Sequence[Guard | Relation]
) -> list[dict[str, int]]:
    """Worlds in which all relations hold, too: of the given ones, and of others near the ends of the ranges and the example."""

    def is_allowed(world: World) -> bool:
        return all(
            guard.holds(world) if isinstance(guard, Relation) else world[guard.symbol] != guard.other
            for guard in guards
        )

    found, draw = [world for world in worlds if is_allowed(world)], random.Random(0)
    for _ in range(TRIES):
        if len(found) >= len(worlds):
            break
        world = {}
        for name, (lower, upper) in ranges.items():
            around = draw.choice((lower, max(lower, hints[name] - 6), lower + 40))
            size = max(2, around + draw.randrange(13))
            world[name] = size if upper is None else min(size, upper)
        if world not in found and is_allowed(world):
            found.append(world)
    if len(found) < 2:
        raise ConstraintViolationError(f"You marked a size as dynamic but your code specialized it: {guards[-1]}")
    return found


# Running the module --------------------------------------------------------------------------------------------------


def example_at(value: Any, dims: Mapping[int, str], world: World) -> Any:
    """An input that is like the example, at other sizes."""
    if not isinstance(value, Tensor) or not dims:
        return value
    sizes = [world[dims[d]] if d in dims and dims[d] in world else n for d, n in enumerate(value.shape)]
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
    guards: list[Guard | Relation], hints: World, reads: Sequence[Sequence[Expression]] = ()
) -> Iterator[list[Expression]]:
    """A context in which the comparisons of the user's code are recorded, and the sizes that it computes. `reads` has the shapes
    of results that it will read."""
    state = {"guards": guards, "hints": hints, "expressions": [], "known_reads": reads}
    before = {name: getattr(local_state, name) for name in state}
    vars(local_state).update(state)
    try:
        yield local_state.expressions
    finally:
        vars(local_state).update(before)


def symbols_in(guard: Guard | Relation) -> list[str]:
    """The symbols that a guard compares."""
    return guard.symbols() if isinstance(guard, Relation) else symbols_of(("-", guard.symbol, guard.other))


def is_known(guard: Guard | Relation, guards: Sequence[Guard | Relation], ranges: Mapping[str, ValueRange]) -> bool:
    """Whether a guard is one of these, or the ranges say that it holds."""
    limits = {name: ValueRange(max(lower, 2), upper) for name, (lower, upper) in ranges.items()}
    return guard in guards or is_always_true(Relation(*guard), limits)


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
    ranges, guards = program.range_constraints, program.guards
    result = traced.merge(traced.trace_at_sizes(first, at, hints, ranges, guards), at, ranges, guards)
    result.state_dict, result.constants = program.state_dict, program.constants
    return result


ExportedProgram.run_decompositions = run_decompositions
