"""Running a function with what was captured of it: `compile`, `explain`, `reset`.

A call goes through the function region by region: from its beginning, look for an entry, run it; where that stops before an
instruction that could not be captured, run the instruction for real, and go on with the region that begins there. PyTorch hooks
into CPython's loop (`_PyInterpreterState_SetEvalFrameFunc`), so that every function below is seen too; here it is only those that
a captured function calls. In PyTorch: `torch/_dynamo/eval_frame.py`, `convert_frame.py`, `torch/csrc/dynamo/eval_frame.c`.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from types import CodeType, FunctionType, MethodType
from typing import Any

import rushlight as rl
from rushlight import fx
from rushlight.c10.dispatch import local
from rushlight.dynamo import bytecode, cache, calls, concrete, guards, rules, symbolic
from rushlight.dynamo.cache import Entry, Region
from rushlight.dynamo.output import Consumed, Output, Suspended
from rushlight.dynamo.variables import NULL, Lazy, Raised, Unsupported
from rushlight.utils import _logging as logs

__all__ = [
    "compile",
    "disable",
    "explain",
    "reset",
    "graph_break",
    "lookup_backend",
    "list_backends",
    "OptimizedModule",
    "ExplainOutput",
]

# ------------------------------------------------------------------------------------------------------------
# Backends


def _eager(gm: fx.GraphModule, example_inputs: list) -> Callable:
    return gm.forward


def _aot_eager(gm: fx.GraphModule, example_inputs: list) -> Callable:
    from rushlight import aot

    return aot.aot_autograd(gm, example_inputs, _eager)


def _inductor(gm: fx.GraphModule, example_inputs: list) -> Callable:
    from rushlight import inductor

    return inductor.compile_fx(gm, example_inputs)


BACKENDS: dict[str, Callable] = {"eager": _eager, "aot_eager": _aot_eager, "inductor": _inductor}


def list_backends() -> list[str]:
    return sorted(BACKENDS)


def lookup_backend(backend: str | Callable) -> Callable:
    """A backend by its name: a function of a graph module and example inputs, which returns a callable."""
    if callable(backend):
        return backend
    if backend not in BACKENDS:
        raise RuntimeError(f"Invalid backend: {backend!r}; there are {', '.join(list_backends())}")
    return BACKENDS[backend]


# ------------------------------------------------------------------------------------------------------------
# A compiler: a backend, and all that was captured for it


@dataclass(eq=False)
class GraphCompileReason:
    """Why a graph ended."""

    reason: str
    line: int | None
    graph_break: bool

    def __repr__(self) -> str:
        return f"{self.reason} (line {self.line})"


class Compiler:
    """What `compile` makes once for each backend. `regions` has, by code and globals, what was captured of it, by place."""

    def __init__(self, backend: Callable, fullgraph: bool = False) -> None:
        self.backend, self.fullgraph = backend, fullgraph
        self.regions: dict[tuple[int, int], dict[int, Region]] = {}
        self.held: list[Any] = []  # whose ids are keys
        self.graphs: list[tuple[fx.GraphModule, GraphCompileReason]] = []
        self.out_guards: list[guards.Guard] = []

    def places(self, code: CodeType, f_globals: dict[str, Any]) -> dict[int, Region]:
        key = id(code), id(f_globals)  # a code object is slow to hash, and every call comes by here
        found = self.regions.get(key)
        if found is None:
            self.held.append((code, f_globals))
            found = self.regions[key] = {}
            found[0] = Region(len(self.regions) - 1)
            if any(map(needs_its_frame, bytecode.instructions_of(code))):
                found[0].left_to_python = "instructions or functions that only Python's own loop can run"
        return found

    def start(self, function: FunctionType, args: tuple, kwargs: dict[str, Any]) -> Any:
        """Call a function with what was captured of it."""
        code, f_globals = function.__code__, function.__globals__
        places = self.places(code, f_globals)
        region = places[0]
        if region.left_to_python or code.co_flags & 0x2A0 or local.inference:
            return function(*args, **kwargs)
        if not kwargs and len(args) == code.co_argcount and not code.co_kwonlyargcount and not code.co_flags & 0x0C:
            values = dict(zip(code.co_varnames, args))
        else:
            values = arguments_of(function, args, kwargs)
        cells = dict(zip(code.co_freevars, function.__closure__)) if code.co_freevars else {}
        L = for_guards(values, cells) if cells else values  # noqa: N806
        entry = cache.lookup(region.entries, L)
        if entry is not None:
            result = entry.run(L)
        else:
            state = Suspended(0, values, cells, [])
            result = self.anew(code, f_globals, region, state, L, functools.partial(function, *args, **kwargs))
        return result if type(result) is not Suspended else self.go_on(code, f_globals, places, result)

    def go_on(self, code: CodeType, f_globals: dict[str, Any], places: dict[int, Region], result: Any) -> Any:
        """Run a function to its end from where a graph of it stopped; `result` is what running that graph gave."""
        while type(result) is Suspended:
            state = concrete.execute(code, f_globals, result, self.call)
            while type(state) is Suspended and state.handled:  # an exception is being handled: Python's own business
                state = concrete.execute(code, f_globals, state, self.call)
            if type(state) is not Suspended:
                return state[0]
            region = places.setdefault(state.index, Region(places[0].number))
            L = for_guards(state.locals, state.cells, state.stack)  # noqa: N806
            entry = cache.lookup(region.entries, L)
            result = entry.run(L) if entry is not None else self.anew(code, f_globals, region, state, L)
        return result

    def anew(
        self, code: CodeType, f_globals: dict[str, Any], region: Region, state: Suspended, L: dict[str, Any],  # noqa: N803
        plainly: Callable[[], Any] | None = None,
    ) -> Any:  # fmt: skip
        """Where no entry fits: capture another one and run it; or, where that cannot be, run the rest of the function.

        `plainly` calls the function, where it stands at its beginning.
        """
        if region.left_to_python is None and len(region.entries) >= cache.recompile_limit:
            logs.artifact("recompiles", f"{code.co_name}: the limit of {cache.recompile_limit} is reached")
            return plainly() if plainly else concrete.finish(code, f_globals, state, _plain_call)
        if region.left_to_python is None:
            if region.entries:
                reasons = "\n".join(cache.recompile_reasons(region.entries, L))
                logs.artifact("recompiles", reasons, f"{code.co_name}, {len(region.entries)} before")
            try:
                entry = self.capture(code, f_globals, state, L)
            except LeftToPython as error:
                region.left_to_python = str(error)
            else:
                region.entries.insert(0, entry)
                return entry.run(L)
        return concrete.finish(code, f_globals, state, self.call)

    # Capture

    def capture(self, code: CodeType, f_globals: dict, state: Suspended, L: dict[str, Any]) -> Entry:  # noqa: N803
        """One capture from a state: to the end of the function, or to an instruction that cannot be captured.

        What cannot be captured is found out by trying; the second try then stops before it. So nothing of an instruction that
        breaks the graph, or of a function that it calls, is left in the graph.
        """
        stop_at, reason, before = None, None, local.grad_enabled
        while True:
            out = Output(f_globals)
            frame = symbolic.Root(out, code, f_globals, stop_at)
            try:
                populate(frame, state)
                frame.run()
                resume = None
            except symbolic.Break:
                resume = True
            except (
                Exception
            ) as error:  # also one that should not be: what is not known breaks the graph, never the result
                if stop_at is not None and frame.steps >= stop_at:
                    raise LeftToPython(str(error)) from error
                stop_at, reason = frame.steps, _reason(error)
                line = frame.instructions[max(frame.index - 1, 0)].line
                if self.fullgraph:
                    raise Unsupported(f"{reason} ({code.co_filename}:{line}, in {code.co_name})") from error
                continue
            finally:
                after, local.grad_enabled = local.grad_enabled, before
            try:
                return self.entry(frame, out, state, resume, reason, after)
            except Consumed as error:
                if self.fullgraph:
                    raise
                stop_at, reason = out.first_grad, _reason(error)
            except Unsupported as error:
                if self.fullgraph:
                    raise
                raise LeftToPython(str(error)) from error

    def entry(
        self, frame: symbolic.Root, out: Output, state: Suspended, resume: Any, reason: Any, grad_mode: bool
    ) -> Entry:
        code = frame.code
        if resume:
            logs.artifact("graph_breaks", f"{reason} ({code.co_filename}:{_line(frame)}, in {code.co_name})")
            if frame.handled or has_backedge(frame.instructions, frame.index):
                raise LeftToPython(f"a graph break in a loop or a handler: {reason}")
            resume = resume_state(frame)
        elif not self.fullgraph and not any(node.op != "placeholder" for node in out.graph.nodes):
            raise LeftToPython("no operation: nothing to capture")  # as in PyTorch, for good
        if (
            grad_mode != local.grad_enabled
        ):  # a graph ends in the mode in which it began; Python sets the other one after it
            out.grad_mode_after = grad_mode
            out.emit("call_function", rl._C._set_grad_enabled, (local.grad_enabled,), {}, None)
        why = GraphCompileReason(str(reason) if resume else "return_value", _line(frame), bool(resume))

        def compile_graph(gm: fx.GraphModule, inputs: list) -> Callable:
            gm.compile_subgraph_reason = why
            self.graphs.append((gm, why))
            logs.artifact("graph_code", gm.code, f"{code.co_name}, graph {len(self.graphs) - 1}")
            compiled = self.backend(gm, inputs)
            if not callable(compiled):
                raise TypeError(f"the backend {self.backend} returned {type(compiled).__name__}, not a callable")
            return compiled

        run = out.finish(frame.returned, resume, compile_graph)
        out.scope = {name: value for name, value in run.__globals__.items() if not name.startswith("__")}
        check = guards.build_check(out.guards, out.scope)
        self.out_guards += out.guards
        logs.artifact("guards", check.source, code.co_name)
        logs.artifact("bytecode", run.source, f"{code.co_name}, after the graph")
        return Entry(out.guards, out.scope, check, run)

    def call(self, function: Any, args: list, kwargs: dict[str, Any]) -> Any:
        """A call where the graph breaks: what is called may be captured by itself."""
        if isinstance(function, MethodType):
            function, args = function.__func__, [function.__self__, *args]
        if isinstance(function, rl.nn.Module) and not isinstance(function, OptimizedModule):
            forward, plain = function.forward, type(function).__call__ is rl.nn.Module.__call__
            if plain and not _has_hooks(function) and isinstance(forward, MethodType):
                function, args = forward.__func__, [forward.__self__, *args]
        if isinstance(function, FunctionType) and not hasattr(function, "_dynamo_compiled"):
            framework = (function.__module__ or "").startswith("rushlight.")
            if not framework and calls.how_to_call(function) == "inline":
                return self.start(function, tuple(args), kwargs)
        return function(*args, **kwargs)


NEVER = {"RETURN_GENERATOR", "SEND", "GET_YIELD_FROM_ITER", "YIELD_VALUE"}
FRAME_FUNCTIONS = {"locals", "globals", "vars", "dir", "eval", "exec"}  # they look at the frame that calls them
FRAME_ATTRIBUTES = {"_getframe", "currentframe", "exc_info"}


def needs_its_frame(instruction: bytecode.Instruction) -> bool:
    """Whether only CPython's own loop can run an instruction."""
    if instruction.op in ("UNKNOWN", *NEVER):
        return True
    names = {"LOAD_GLOBAL": FRAME_FUNCTIONS, "LOAD_ATTR": FRAME_ATTRIBUTES}.get(instruction.op, ())
    return instruction.arg in names


class LeftToPython(Exception):  # noqa: N818
    """From here on a function is not captured at all."""


def _reason(error: Exception) -> str:
    if isinstance(error, Unsupported):
        return str(error)
    if not isinstance(error, Raised):
        return f"{type(error).__name__}: {error}"
    words = ", ".join(str(arg.value) for arg in error.variable.args if hasattr(arg, "value"))
    return f"Observed exception: {error.variable.cls.__name__}({words})"


def _line(frame: symbolic.Root) -> int | None:
    return frame.instructions[min(frame.index, len(frame.instructions) - 1)].line


def _plain_call(function: Any, args: list, kwargs: dict[str, Any]) -> Any:
    return function(*args, **kwargs)


def _has_hooks(module: rl.nn.Module) -> bool:
    return bool(
        module._forward_pre_hooks or module._forward_hooks or module._backward_hooks or module._backward_pre_hooks
    )


def has_backedge(instructions: list[bytecode.Instruction], index: int) -> bool:
    """Whether a jump after this place goes back before it: the place is in a loop, whose rest is not worth resuming.

    Source: `torch/_dynamo/symbolic_convert.py`, `maybe_has_backedge`.
    """
    for instruction in instructions[index:]:
        if instruction.op in bytecode.JUMPS and instruction.arg < index:
            return True
        if instruction.op == "RETURN_VALUE":
            return False
    return False


def arguments_of(function: FunctionType, args: tuple, kwargs: dict[str, Any]) -> dict[str, Any]:
    """The locals with which a call begins. Raises the TypeError of a call that does not fit."""
    bound = inspect.signature(function, follow_wrapped=False).bind(*args, **kwargs)
    bound.apply_defaults()
    return dict(bound.arguments)


def for_guards(values: dict[str, Any], cells: dict[str, Any], stack: Sequence[Any] = ()) -> dict[str, Any]:
    """What guards and generated code call `L`: locals, what is in cells, the cells themselves, the stack."""
    L = dict(values)  # noqa: N806
    for name, cell in cells.items():
        L["__cell_" + name] = cell
        try:  # noqa: SIM105  (each call comes by here, and `suppress` costs as much as all the guards)
            L[name] = cell.cell_contents
        except ValueError:  # an empty cell
            pass
    for place, value in enumerate(stack):
        L[f"___stack{place}"] = value
    return L


def populate(frame: symbolic.Root, state: Suspended) -> None:
    """Start a frame from a state: everything is from before, and nothing was looked at yet."""
    frame.index = state.index
    for name, value in state.locals.items():
        frame.locals[name] = Lazy(value, f"L[{name!r}]")
    for name, cell in state.cells.items():
        source = f"L['__cell_{name}']"
        known = frame.output.by_identity.get(id(cell))
        variable = known or frame.output.wrap_cell(cell, source, f"L[{name!r}]")
        frame.output.by_identity[id(cell)] = frame.cells[name] = variable
        if variable.contents is None:
            frame.output.add_guard(guards.Guard("", f"{name!r} not in L"))
    for place, value in enumerate(state.stack):
        frame.push(NULL if value is NULL.value else Lazy(value, f"L['___stack{place}']"))


def resume_state(frame: symbolic.Root) -> tuple:
    """What must be kept of a frame to go on before its next instruction: index, locals, cells, stack."""
    live = bytecode.live_names(frame.instructions, frame.index)
    local_variables = {name: value for name, value in frame.locals.items() if name in live}
    written = {each.arg for each in frame.instructions if each.op == "STORE_DEREF"}  # a cell to write to is needed, too
    cells = {name: cell for name, cell in frame.cells.items() if name in {"__class__", *live, *written}}
    return frame.index, local_variables, cells, frame.stack


# ------------------------------------------------------------------------------------------------------------
# The surface

_compilers: dict[tuple[Any, bool], Compiler] = {}


def compile(  # noqa: A001
    fn: Callable | None = None,
    *,
    backend: str | Callable = "inductor",
    fullgraph: bool = False,
    dynamic: bool | None = None,
    mode: str | None = None,
    options: dict | None = None,
    disable: bool = False,
) -> Callable:
    """A function that does what `fn` does, by way of graphs that the backend compiles. A decorator if `fn` is not given.

    `fullgraph`: one graph, or an error, `Unsupported`, that says why not. `dynamic`: sizes are always constants here, so that
    True is refused. `mode` and `options` choose nothing here.

    Source: `torch/__init__.py`, `compile`; `torch/_dynamo/eval_frame.py`, `optimize`.
    """
    if dynamic:
        raise NotImplementedError("dynamic=True: sizes that are symbols are left out")
    if fn is None:
        return functools.partial(
            compile, backend=backend, fullgraph=fullgraph, dynamic=dynamic, mode=mode, disable=disable
        )
    if disable:
        return fn
    key = backend, fullgraph
    try:
        compiler = _compilers.get(key)
        if compiler is None:
            compiler = _compilers[key] = Compiler(lookup_backend(backend), fullgraph)
    except TypeError:  # a backend that cannot be hashed has a compiler of its own
        compiler = Compiler(lookup_backend(backend), fullgraph)
    return optimized(fn, compiler)


def optimized(fn: Callable, compiler: Compiler) -> Callable:
    """The callable that `compile` gives."""
    if isinstance(fn, rl.nn.Module):
        return OptimizedModule(fn, compiler)
    if isinstance(fn, MethodType):
        bound = optimized(fn.__func__, compiler)
        return functools.partial(bound, fn.__self__)
    if not isinstance(fn, FunctionType):
        inner = type(fn).__call__ if not isinstance(fn, type) and isinstance(type(fn).__call__, FunctionType) else None
        if inner is None:
            raise RuntimeError(f"compile: not a function, a method or a module: {fn!r}")
        return functools.partial(optimized(inner, compiler), fn)
    fn = getattr(fn, "_dynamo_compiled", fn)
    start = compiler.start

    @functools.wraps(fn)
    def compiled(*args, **kwargs):
        return start(fn, args, kwargs)

    compiled._dynamo_compiled = fn
    compiled._torchdynamo_orig_callable = fn
    return compiled


class OptimizedModule(rl.nn.Module):
    """A module whose call is captured; in all else it is the module that it was made from.

    Source: `torch/_dynamo/eval_frame.py`, `OptimizedModule`.
    """

    def __init__(self, module: rl.nn.Module, compiler: Compiler) -> None:
        super().__init__()
        self._orig_mod = module
        self.__dict__["_compiler"] = compiler

    def __call__(self, *args, **kwargs) -> Any:
        module = self._modules["_orig_mod"]
        if _has_hooks(module) or not isinstance(module.forward, MethodType):
            return self._compiler.start(type(module).__call__, (module, *args), kwargs)
        return self._compiler.start(module.forward.__func__, (module, *args), kwargs)

    def __getattr__(self, name: str) -> Any:
        if name == "_orig_mod":
            return self.__dict__["_modules"]["_orig_mod"]
        return getattr(self.__dict__["_modules"]["_orig_mod"], name)


def disable(fn: Callable) -> Callable:
    """A function that is never captured: a call of it breaks the graph."""

    @functools.wraps(fn)
    def disabled(*args, **kwargs):
        return fn(*args, **kwargs)

    disabled._dynamo_disable = True
    return disabled


def reset() -> None:
    """Forget all that was captured."""
    for compiler in _compilers.values():
        compiler.__init__(compiler.backend, compiler.fullgraph)
    bytecode.instructions_of.cache_clear()


graph_break = rules.graph_break


@dataclass
class ExplainOutput:
    """What `explain` found. Source: `torch/_dynamo/backends/debugging.py`."""

    graphs: list[fx.GraphModule]
    graph_count: int
    graph_break_count: int
    break_reasons: list[GraphCompileReason]
    op_count: int
    ops_per_graph: list[list[Any]] = field(default_factory=list)
    out_guards: list[guards.Guard] = field(default_factory=list)

    def __str__(self) -> str:
        lines = [
            f"Graph Count: {self.graph_count}",
            f"Graph Break Count: {self.graph_break_count}",
            f"Op Count: {self.op_count}",
        ]
        lines.append("Break Reasons:")
        for number, reason in enumerate(self.break_reasons, 1):
            lines += [f"  Break Reason {number}:", f"    Reason: {reason.reason}", f"    Line: {reason.line}"]
        lines.append("Ops per Graph:")
        for number, ops in enumerate(self.ops_per_graph, 1):
            lines += [f"  Ops {number}:", *(f"    {op}" for op in ops)]
        lines.append("Out Guards:")
        lines += [f"  {guard.text}" for guard in self.out_guards]
        return "\n".join(lines)


def explain(fn: Callable) -> Callable[..., ExplainOutput]:
    """`explain(fn)(*args)` runs the function once, and says which graphs were captured, and why each ended.

    Source: `torch/_dynamo/eval_frame.py`, `explain`.
    """

    def inner(*args, **kwargs) -> ExplainOutput:
        compiler = Compiler(_eager)
        optimized(fn, compiler)(*args, **kwargs)
        graphs = [gm for gm, _ in compiler.graphs]
        ops = [[node.target for node in gm.graph.nodes if node.op == "call_function"] for gm in graphs]
        reasons = [why for _, why in compiler.graphs if why.graph_break]
        count = len(graphs)
        return ExplainOutput(graphs, count, max(count - 1, 0), reasons, sum(map(len, ops)), ops, compiler.out_guards)

    return inner
