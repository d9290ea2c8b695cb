"""What a capture gives: the graph, its inputs, the guards, and the Python around it.

`Output` grows while the symbolic interpreter runs. At its end, or where the graph breaks, `finish` writes one function `run(L)`:
it calls the compiled graph, makes what the captured function made (`Reconstruct`), and does what it did to things that had been
there before. In PyTorch: `torch/_dynamo/output_graph.py`, `side_effects.py`, `codegen.py`, which write bytecode.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable
from operator import getitem
from types import BuiltinFunctionType, CellType, FunctionType, MethodType, ModuleType
from typing import Any

import rushlight as rl
from rushlight import fx
from rushlight.aten.strided import Tensor
from rushlight.c10.dispatch import local
from rushlight.dynamo import guards
from rushlight.dynamo.guards import CONSTANTS, Guard, bind, grad_mode_guard
from rushlight.dynamo.variables import (
    MAPPINGS,
    CellVariable,
    Constant,
    DictVariable,
    ExceptionVariable,
    FunctionVariable,
    GradModeVariable,
    IteratorVariable,
    Lazy,
    ListVariable,
    MethodVariable,
    ObjectVariable,
    SetVariable,
    TensorKey,
    TensorVariable,
    TupleVariable,
    Unsupported,
    Variable,
)
from rushlight.library import OpOverload, OpOverloadPacket

__all__ = ["Output", "Suspended", "fake_of"]

_CONSTANT_OBJECTS = (
    type,
    ModuleType,
    BuiltinFunctionType,
    rl.dtype,
    rl.device,
    range,
    slice,
    type(rl.ops),
    type(rl.ops.aten),
    OpOverload,
    OpOverloadPacket,
    rl.layout,
    rl.memory_format,
)


class Suspended:
    """A function that stopped before an instruction: all that is needed to go on."""

    __slots__ = ("index", "locals", "cells", "stack", "handled")

    def __init__(
        self,
        index: int,
        locals: dict[str, Any],  # noqa: A002
        cells: dict[str, CellType],
        stack: list,
        handled: list | tuple = (),
    ) -> None:
        self.index, self.locals, self.cells, self.stack = index, locals, cells, stack
        self.handled = handled  # exceptions that are being handled, the innermost last


class EnteredGradMode:
    """A block of some grad mode that the graph has broken in: made where it goes on, and left at its end."""

    def __init__(self, mode: bool, before: bool) -> None:
        self.before, local.grad_enabled = before, mode

    def __exit__(self, *error: object) -> None:
        local.grad_enabled = self.before


def fake_of(tensor: Tensor) -> Tensor:
    """A meta tensor like this one: sizes, strides, dtype, whether it requires grad."""
    fake = rl.empty_strided(tuple(tensor._sizes), tensor._strides, dtype=tensor.dtype, device="meta")
    if tensor.requires_grad:
        fake.requires_grad_()
    return fake


def placeholder_name(source: str) -> str:
    """The name of the input that comes from a source: `L_x_` for `L['x']`."""
    return re.sub(r"[^a-zA-Z0-9]+", "_", source)


class Consumed(Unsupported):
    """The graph would give a tensor whose history `autograd.grad` uses up in the same graph.

    Source: `torch/_dynamo/exc.py`, `AutogradGradRestartAnalysis`.
    """


def is_consumed(fake: Tensor) -> bool:
    nodes, seen = [fake.grad_fn], {None}
    while nodes:
        node = nodes.pop()
        if node in seen:
            continue
        if node.released:
            return True
        seen.add(node)
        nodes += [edge.node for edge in node.next_edges]
    return False


class Output:
    """One capture."""

    def __init__(self, f_globals: dict[str, Any], scope: dict[str, Any] | None = None) -> None:
        self.graph = fx.Graph()
        self.scope: dict[str, Any] = {"G": f_globals} if scope is None else scope
        self.guards: list[Guard] = []
        self.guarded: set[str] = set()
        self.inputs: list[tuple[Any, str, Tensor]] = []  # node, source, the tensor
        self.by_identity: dict[int, Variable] = {}  # id of a value from before -> its variable
        self.by_fake: dict[int, TensorVariable] = {}  # id of a fake -> the variable that had it first
        self.held: list[Any] = []  # so that no id is given to another
        self.effects: list[tuple] = []  # on things from before, in order
        self.grads: dict[int, Variable] = {}  # id of a fake -> what was written to its `grad`
        self.written: dict[int, dict[str, Variable]] = {}  # id of a dict of globals -> what was written to it
        self.grad_mode_after: bool | None = None
        self.first_grad: int | None = None  # the root's instruction in which `autograd.grad` was first called
        self.last_input = None
        self.add_guard(grad_mode_guard(self.scope))

    # Values from before

    def add_guard(self, guard: Guard) -> None:
        if guard.text not in self.guarded:
            self.guarded.add(guard.text)
            self.guards.append(guard)

    def guard(self, value: Any, source: str) -> None:
        for text in guards.guards_for(value, source, self.scope):
            self.add_guard(Guard(source, text))

    def wrap(self, value: Any, source: str) -> Variable:
        """The variable of a value that was there before, with its guards."""
        known = self.by_identity.get(id(value)) if not isinstance(value, CONSTANTS) else None
        if known is not None:
            if known.source is not None and known.source != source:
                self.add_guard(Guard(source, f"{source} is {known.source}"))
            return known
        variable = self._wrap(value, source)
        if not isinstance(variable, Constant):
            self.by_identity[id(value)] = variable
            self.held.append(value)
        return variable

    def _wrap(self, value: Any, source: str) -> Variable:
        if isinstance(value, Tensor):
            return self.input(value, source)
        self.guard(value, source)
        kind = type(value)
        if isinstance(value, _CONSTANT_OBJECTS) or kind in CONSTANTS or isinstance(value, guards.enum.Enum):
            return Constant(value, source)
        if kind is list:
            return ListVariable([Lazy(item, f"{source}[{i}]") for i, item in enumerate(value)], source)
        if isinstance(value, tuple):
            places = [f".{name}" for name in getattr(kind, "_fields", ())] or [f"[{i}]" for i in range(len(value))]
            return TupleVariable([Lazy(item, f"{source}{place}") for place, item in zip(places, value)], source, kind)
        if kind in MAPPINGS:
            return self._wrap_dict(value, source)
        if kind in (rl.no_grad, rl.enable_grad):
            return GradModeVariable(kind, kind.mode, source=source)
        if kind in (set, frozenset) and all(type(item) in CONSTANTS for item in value):
            return SetVariable(set(value), source, kind)
        if kind is FunctionType:
            return self.wrap_function(value, source)
        if kind is MethodType and type(value.__self__) is EnteredGradMode:
            before = value.__self__.before
            self.add_guard(Guard(source, f"{source}.__self__.before is {before}"))
            manager = GradModeVariable(EnteredGradMode, local.grad_enabled, before, f"{source}.__self__")
            return MethodVariable("__exit__", manager, source)
        if kind is MethodType:
            owner = Lazy(value.__self__, f"{source}.__self__")
            return MethodVariable(self.wrap(value.__func__, f"{source}.__func__"), owner, source)
        if kind is CellType:
            return self.wrap_cell(value, source)
        return ObjectVariable(kind, value, source)

    def _wrap_dict(self, value: dict, source: str) -> Variable:
        items: dict[Any, Variable] = {}
        for place, (key, item) in enumerate(value.items()):
            if isinstance(key, Tensor):
                self.add_guard(Guard(source, f"list({source})[{place}] is {bind(self.scope, key, 'key')}"))
                items[TensorKey(self.wrap(key, f"list({source})[{place}]"))] = Lazy(
                    item, f"list({source}.values())[{place}]"
                )
            elif type(key) in CONSTANTS:
                items[key] = Lazy(item, f"{source}[{key!r}]")
            else:
                self.add_guard(Guard(source, f"list({source})[{place}] is {bind(self.scope, key, 'key')}"))
                items[key] = Lazy(item, f"{source}[{bind(self.scope, key, 'key')}]")
        factory = None
        if isinstance(value, defaultdict):
            factory = Lazy(value.default_factory, f"{source}.default_factory")
        return DictVariable(items, source, type(value), factory)

    def wrap_function(self, value: FunctionType, source: str | None) -> FunctionVariable:
        """A function that exists. Without a source it is taken for one that never changes."""

        def lazily(item: Any, place: str) -> Variable:
            if source is None and type(item) in CONSTANTS:
                return Constant(item)
            return Lazy(item, f"{self._of(value, source)}{place}")

        defaults = [lazily(item, f".__defaults__[{i}]") for i, item in enumerate(value.__defaults__ or ())]
        by_name = (value.__kwdefaults__ or {}).items()
        keywords = {name: lazily(item, f".__kwdefaults__[{name!r}]") for name, item in by_name}
        closure = []
        for i, cell in enumerate(value.__closure__ or ()):
            place = f"{self._of(value, source)}.__closure__[{i}]"
            known = self.by_identity.get(id(cell))
            if known is None:
                known = self.by_identity[id(cell)] = self.wrap_cell(cell, place)
                self.held.append(cell)
            elif known.source != place:
                self.add_guard(Guard(place, f"{place} is {known.source}"))
            closure.append(known)
        return FunctionVariable(
            value.__code__, value.__globals__, value.__name__, defaults, keywords, closure, source, value
        )

    def _of(self, value: Any, source: str | None) -> str:
        return source if source is not None else bind(self.scope, value)

    def wrap_cell(self, cell: CellType, source: str, contents: str | None = None) -> CellVariable:
        try:
            value = cell.cell_contents
        except ValueError:
            return CellVariable(None, source)
        return CellVariable(Lazy(value, contents or f"{source}.cell_contents"), source)

    def realize(self, variable: Variable) -> Variable:
        """What is behind a lazy variable: now its guards are needed."""
        while isinstance(variable, Lazy):
            if variable.real is None:
                variable.real = self.wrap(variable.value, variable.source)
            variable = variable.real
        return variable

    def input(self, tensor: Tensor, source: str) -> TensorVariable:
        if tensor.is_meta or type(tensor) not in (Tensor, rl.nn.Parameter, rl.nn.Buffer) or tensor.is_inference():
            raise Unsupported(f"a tensor of the kind {type(tensor).__name__} on {tensor.device}")
        self.guard(tensor, source)
        fake = fake_of(tensor)
        with self.graph.inserting_after(self.last_input) if self.last_input is not None else self._at_the_beginning():
            node = self.graph.placeholder(placeholder_name(source))
        node.meta["example_value"] = fake
        self.last_input = node
        self.inputs.append((node, source, tensor))
        variable = TensorVariable(node, fake, source, tensor)
        self.by_fake[id(fake)] = variable
        return variable

    def _at_the_beginning(self):
        first = next(iter(self.graph.nodes), None)
        return self.graph.inserting_before(first)

    # The graph

    def guard_identities(self) -> None:
        """Two inputs must not turn into one; and where one is written to, no other may share its memory."""
        sources = [source for _, source, _ in self.inputs]
        if len(sources) == 2:
            self.add_guard(Guard("", f"{sources[0]} is not {sources[1]}"))
        elif len(sources) > 2:
            self.add_guard(Guard("", f"len({{{', '.join(f'id({source})' for source in sources)}}}) == {len(sources)}"))
        if len(sources) > 1 and any(node.meta["example_value"]._version for node, _, _ in self.inputs):
            if len({id(tensor._storage) for _, _, tensor in self.inputs}) < len(sources):
                raise Unsupported("a change of a tensor that shares its memory with another input")
            written = ", ".join(f"id({source}._storage)" for source in sources)
            self.add_guard(Guard("", f"len({{{written}}}) == {len(sources)}"))

    def emit(self, op: str, target: Any, args: tuple, kwargs: dict[str, Any], fake: Any) -> Variable:
        """A node, and the variable of what it gives. `args` hold nodes; `fake` is what the operation gives for fakes."""
        node = self.graph.create_node(op, target, args, kwargs)
        return self.result(node, fake)

    def result(self, node: Any, fake: Any) -> Variable:
        node.meta["example_value"] = fake
        if isinstance(fake, Tensor):
            variable = TensorVariable(node, fake)
            first = self.by_fake.setdefault(id(fake), variable)
            if first is not variable:  # an operation in place gives the tensor that it was given
                variable.source, variable.real, variable.kind = first.source, first.real, first.kind
            self.held.append(fake)
            return variable
        if isinstance(fake, (tuple, list)) and fake and all(isinstance(item, Tensor) for item in fake):
            items = [self.emit("call_function", getitem, (node, i), {}, item) for i, item in enumerate(fake)]
            return ListVariable(items) if isinstance(fake, list) else TupleVariable(items, cls=type(fake))
        if fake is None:
            return Constant(None)
        raise Unsupported(f"an operation that gives {type(fake).__name__}: {node.target}")

    def effect(self, kind: str, *what: Any) -> None:
        """Note what happens to a thing from before; of the same attribute or container only once, in the place of the first."""
        if not any(
            known[0] == kind and all(a is b or a == b for a, b in zip(known[1:], what)) for known in self.effects
        ):
            self.effects.append((kind, *what))

    def globals_written(self, space: dict[str, Any]) -> dict[str, Variable]:
        return self.written.setdefault(id(space), {})

    def globals_name(self, space: dict[str, Any]) -> str:
        """How guards call a dict of globals: `G` is that of the captured function."""
        return (
            "G"
            if space is self.scope["G"]
            else bind(self.scope, space, f"globals_of_{space.get('__name__', 'a_module')}")
        )

    def changed(self, container: Variable) -> None:
        """A container is about to be written to."""
        if container.frozen:
            raise Unsupported("writing to the dict of an object")
        if container.source is not None:
            self.effect("contents", container)

    # The end

    def finish(self, returned: Variable | None, resume: tuple | None, compile_graph: Callable) -> Callable:
        """Write `run(L)`: it returns what `returned` stands for, or a `Suspended` made of `resume`: index, locals, cells, stack."""
        self.guard_identities()
        write = Reconstruct(self)
        if resume is None:
            result = write(returned)
        else:
            index, local_variables, cells, stack = resume
            write.look_at_constants(stack)
            written = ", ".join(f"{name!r}: {write(item)}" for name, item in local_variables.items())
            boxed = ", ".join(f"{name!r}: {write(item)}" for name, item in cells.items())
            result = (
                f"{bind(self.scope, Suspended)}({index}, {{{written}}}, {{{boxed}}}, [{', '.join(map(write, stack))}])"
            )
        write.effects()
        if self.grad_mode_after is not None:
            write.lines.append(f"{bind(self.scope, rl._C._set_grad_enabled)}({self.grad_mode_after})")
        lines = ["def run(L):"]
        if any(node.op not in ("placeholder", "output") for node in self.graph.nodes):
            lines.append(self._call_graph(write.outputs, compile_graph))
        lines += [f"    {line}" for line in write.lines]
        lines.append(f"    return {result}")
        source, space = "\n".join(lines), dict(self.scope)
        exec(compile(source, "<after the graph>", "exec"), space)
        space["run"].source = source
        return space["run"]

    def _call_graph(self, outputs: list[TensorVariable], compile_graph: Callable) -> str:
        if self.first_grad is not None and any(is_consumed(variable.fake) for variable in outputs):
            raise Consumed("autograd.grad consumed returned tensor's grad_fn")
        self.graph.output(tuple(variable.node for variable in outputs))
        _drop_grad_mode_pairs(self.graph)
        for node in reversed(list(self.graph.nodes)):
            if not node.users and node.op == "call_function" and node.target is getitem:
                self.graph.erase_node(node)
        used = []
        for node, source, tensor in self.inputs:
            if node.users:
                used.append((source, tensor))
            else:
                self.graph.erase_node(node)
        self.module = fx.GraphModule(rl.nn.Module(), self.graph)
        compiled = compile_graph(self.module, [tensor for _, tensor in used])
        name = bind(self.scope, compiled, "graph")
        return f"    out = {name}({', '.join(source for source, _ in used)})"


def _drop_grad_mode_pairs(graph: fx.Graph) -> None:
    """Grad mode that is switched and at once switched back."""
    nodes = [node for node in graph.nodes if node.op != "placeholder"]
    kept: list[Any] = []
    for node in nodes:
        switches = node.op == "call_function" and node.target is rl._C._set_grad_enabled
        if switches and kept and kept[-1].op == "call_function" and kept[-1].target is rl._C._set_grad_enabled:
            before = next((n.args[0] for n in reversed(kept[:-1]) if n.target is rl._C._set_grad_enabled), None)
            if before is None:
                before = local.grad_enabled
            if node.args[0] == before:
                graph.erase_node(node)
                graph.erase_node(kept.pop())
                continue
        kept.append(node)


class Reconstruct:
    """Writes expressions for variables; what must be made first goes into `lines`, what the graph must give into `outputs`."""

    def __init__(self, output: Output) -> None:
        self.output, self.scope = output, output.scope
        self.lines: list[str] = []
        self.outputs: list[TensorVariable] = []
        self.made: dict[int, str] = {}
        self.held: list[Variable] = []
        self.count = 0

    def name(self, text: str) -> str:
        self.count += 1
        self.lines.append(f"t{self.count} = {text}")
        return f"t{self.count}"

    def bind(self, value: Any, hint: str = "") -> str:
        return bind(self.scope, value, hint)

    def __call__(self, variable: Variable) -> str:
        if isinstance(variable, Lazy) and variable.real is not None:
            return self(variable.real)
        if isinstance(variable, Constant):
            return self.constant(variable)
        if isinstance(variable, TensorVariable) and variable.source is None:
            return self.tensor(variable)
        known = self.made.get(id(variable))
        if known is None:
            self.held.append(variable)
            if variable.source is not None:
                known = self.made[id(variable)] = self.name(variable.source)
            else:
                known = self.new(variable)
                self.made.setdefault(id(variable), known)
        return known

    def constant(self, variable: Constant) -> str:
        value = variable.value
        if value is None or type(value) in (bool, int, str) or value is Ellipsis:
            return repr(value)
        return self.bind(value, "constant" if isinstance(value, (float, complex, tuple, bytes)) else "")

    def tensor(self, variable: TensorVariable) -> str:
        first = self.output.by_fake.get(id(variable.fake), variable)
        if first.source is not None:
            return self(first)
        for place, other in enumerate(self.outputs):
            if other.fake is variable.fake:
                return f"out[{place}]"
        self.outputs.append(variable)
        return f"out[{len(self.outputs) - 1}]"

    def new(self, variable: Variable) -> str:
        """Something that the captured function made."""
        match variable:
            case ListVariable(items=items):
                name = self.made[id(variable)] = self.name("[]")
                self.look_at_constants(items)
                self.lines.append(f"{name} += [{', '.join(map(self, items))}]")
                return name
            case TupleVariable(items=items, cls=cls):
                written = "".join(f"{self(item)}, " for item in items)
                if cls is tuple:
                    return self.name(f"({written})")
                make = "._make" if hasattr(cls, "_make") else ""
                return self.name(f"{self.bind(cls)}{make}(({written}))")
            case DictVariable():
                return self.new_dict(variable)
            case SetVariable(items=items, cls=cls):
                return self.name(f"{self.bind(cls)}({self.bind(tuple(items), 'elements')})")
            case CellVariable():
                name = self.made[id(variable)] = self.name(f"{self.bind(CellType)}()")
                if variable.contents is not None:
                    self.lines.append(f"{name}.cell_contents = {self(variable.contents)}")
                return name
            case FunctionVariable(real=FunctionType() as real):
                return self.bind(real)
            case FunctionVariable():
                return self.new_function(variable)
            case MethodVariable(
                function="__exit__", owner=GradModeVariable(before=[before], mode=mode, cls=cls) as owner
            ) if cls is not EnteredGradMode:
                return self.name(f"{self.bind(EnteredGradMode)}({mode}, {before}).__exit__")
            case MethodVariable(function=str() as attribute, owner=owner):
                return self.name(f"{self(owner)}.{attribute}")
            case MethodVariable(function=function, owner=owner):
                return self.name(f"{self.bind(MethodType)}({self(function)}, {self(owner)})")
            case ObjectVariable(cls=cls):
                name = self.made[id(variable)] = self.name(f"object.__new__({self.bind(cls)})")
                for attribute, value in variable.attributes.items():
                    if value is not None:
                        self.lines.append(f"object.__setattr__({name}, {attribute!r}, {self(value)})")
                return name
            case ExceptionVariable(cls=cls, args=args):
                return self.name(f"{self.bind(cls)}({', '.join(map(self, args))})")
            case GradModeVariable(before=[], cls=cls) if cls is not rl.set_grad_enabled:
                return self.name(f"{self.bind(cls)}()")
            case IteratorVariable(over=Variable() as over, taken=taken):
                name = self.made[id(variable)] = self.name(f"iter({self(over)})")
                if taken:
                    self.lines.append(f"for _ in range({taken}): next({name})")
                return name
            case IteratorVariable(made=(called, args, kwargs), taken=0):
                called = called if isinstance(called, Variable) else Constant(called)
                written = [self(arg) for arg in args] + [f"{key}={self(arg)}" for key, arg in kwargs.items()]
                return self.name(f"{self(called)}({', '.join(written)})")
        raise Unsupported(f"{variable!r} cannot be made again after the graph")

    def look_at_constants(self, items: Any) -> None:
        """PyTorch guards on a number from before that is put into a new list, a dict, or lies on the stack at a break."""
        for item in items:
            if isinstance(item, Lazy) and type(item.value) in CONSTANTS:
                self.output.realize(item)

    def new_dict(self, variable: DictVariable) -> str:
        cls = variable.cls
        empty = "{}" if cls is dict else f"{self.bind(cls)}()"
        if cls is defaultdict:
            empty = f"{self.bind(cls)}({self(variable.factory)})"
        name = self.made[id(variable)] = self.name(empty)
        self.look_at_constants(variable.items.values())
        for key, item in variable.items.items():
            self.lines.append(f"{name}[{self.key(key)}] = {self(item)}")
        return name

    def key(self, key: Any) -> str:
        return self(key.variable) if isinstance(key, TensorKey) else self(Constant(key))

    def new_function(self, variable: FunctionVariable) -> str:
        parts = [
            self.bind(variable.code, f"{variable.name}_code"),
            self.bind(variable.globals, "globals_of"),
            repr(variable.name),
        ]
        parts.append(f"({''.join(f'{self(item)}, ' for item in variable.defaults)})" if variable.defaults else "None")
        cells = []
        for cell in variable.closure:  # what they hold may be the function itself
            known = self.made.get(id(cell))
            if known is None:
                self.held.append(cell)
                known = self.made[id(cell)] = self.name(cell.source or f"{self.bind(CellType)}()")
                cells.append((known, cell))
            parts.append(known)
        closure = f"({''.join(f'{part}, ' for part in parts[4:])})" if parts[4:] else "None"
        name = self.made[id(variable)] = self.name(f"{self.bind(FunctionType)}({', '.join(parts[:4])}, {closure})")
        for known, cell in cells:
            if cell.source is None and cell.contents is not None:
                self.lines.append(f"{known}.cell_contents = {self(cell.contents)}")
        if variable.kwdefaults:
            written = ", ".join(f"{key!r}: {self(item)}" for key, item in variable.kwdefaults.items())
            self.lines.append(f"{name}.__kwdefaults__ = {{{written}}}")
        for attribute, item in variable.attributes.items():
            self.lines.append(f"{name}.{attribute} = {self(item)}")
        return name

    def effects(self) -> None:
        """What happens to things from before. All that is written is found first: a source must not see what was done already."""
        statements = []
        for kind, *what in self.output.effects:
            match kind:
                case "contents":
                    statements += self.contents(what[0])
                case "attribute":
                    owner, attribute = what
                    value = owner.attributes[attribute]
                    if value is None:
                        statements.append(f"del {self(owner)}.{attribute}")
                    elif isinstance(owner.real, rl.nn.Module):
                        statements.append(f"{self(owner)}.{attribute} = {self(value)}")
                    else:
                        statements.append(f"object.__setattr__({self(owner)}, {attribute!r}, {self(value)})")
                case "cell":
                    contents = what[0].contents
                    cell = self(what[0])
                    statements.append(
                        f"{cell}.cell_contents = {self(contents)}" if contents else f"del {cell}.cell_contents"
                    )
                case "grad":
                    statements.append(f"{self(what[0])}.grad = {self(self.output.grads[id(what[0].fake)])}")
                case "global":
                    space, name, values = what
                    statements.append(f"{self.bind(space, 'globals_of')}[{name!r}] = {self(values[name])}")
        self.lines += statements

    def contents(self, variable: Variable) -> list[str]:
        name = self(variable)
        match variable:
            case ListVariable(items=items):
                return [f"{name}[:] = [{', '.join(map(self, items))}]"]
            case DictVariable(items=items):
                pairs = ", ".join(f"({self.key(key)}, {self(item)})" for key, item in items.items())
                pairs = self.name(f"[{pairs}]")
                return [f"{name}.clear()", f"{name}.update({pairs})"]
            case SetVariable(items=items):
                return [f"{name}.clear()", f"{name}.update({self.bind(tuple(items), 'elements')})"]
        raise Unsupported(f"a change of {variable!r}")
