"""Run a function using its captures, and capture the regions that are not captured yet.

A call goes through the function region by region: from the function's beginning, look for a cache entry and run it. Where its graph
broke, run one instruction in Python, and continue with the region that begins after it. PyTorch hooks into CPython's loop
(`_PyInterpreterState_SetEvalFrameFunc`), so it sees every function below too; here only those that a captured function calls are
seen. In PyTorch: `torch/_dynamo/convert_frame.py`, `torch/csrc/dynamo/eval_frame.c`. Left out: frames that a capture changes.
"""

import functools
import inspect
import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from types import CodeType, FunctionType, MethodType
from typing import Any

import rushlight as rl
from rushlight import fx
from rushlight.aten.native.random import fork_rng
from rushlight.c10.dispatch import AUTOCAST_KEYS, local, replacing
from rushlight.c10.dtypes import get_default_dtype
from rushlight.dynamo import bytecode, cache, calls, guards, resume_execution
from rushlight.dynamo.cache import CacheEntry, Region
from rushlight.dynamo.exc import (
    AutogradGradRestartAnalysis,
    ObservedException,
    SkipFrame,
    TorchRuntimeError,
    Unsupported,
)
from rushlight.dynamo.opcodes import NULL, SuspendedFrame
from rushlight.dynamo.output_graph import OutputGraph
from rushlight.dynamo.symbolic_convert import InstructionTranslator
from rushlight.utils import _logging as logs

_GENERATED = inspect.CO_GENERATOR | inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR
_VARIADIC = inspect.CO_VARARGS | inspect.CO_VARKEYWORDS


@dataclass(eq=False)
class GraphCompileReason:
    """The reason that a graph ended, and the line."""

    reason: str
    line: int | None
    graph_break: bool

    def __repr__(self) -> str:
        return f"{self.reason} (line {self.line})"


class Compiler:
    """A backend, and all captures for it. `regions` has, by code, globals, default dtype and default device, the regions by their
    first instruction."""

    def __init__(self, backend: Callable, fullgraph: bool = False) -> None:
        self.backend, self.fullgraph = backend, fullgraph
        self.regions: dict[tuple, dict[int, Region]] = {}
        self.held: list[Any] = []  # objects whose ids are keys
        self.graphs: list[tuple[fx.GraphModule, GraphCompileReason]] = []
        self.out_guards: list[guards.Guard] = []

    def regions_of(self, code: CodeType, f_globals: dict[str, Any]) -> dict[int, Region]:
        # A code object is slow to hash, and every call needs the key. In PyTorch the defaults are in a `GlobalStateGuard`.
        key = id(code), id(f_globals), get_default_dtype(), local.default_devices[-1] if local.default_devices else None
        regions = self.regions.get(key)
        if regions is None:
            self.held.append((code, f_globals))
            regions = self.regions[key] = {0: Region()}
            instructions = bytecode.instructions_of(code)
            if any(
                instruction.op in NEVER or instruction.arg in LOOK_AT_FRAME.get(instruction.op, ())
                for instruction in instructions
            ):
                regions[0].skip_reason = "instructions or functions that only Python's own loop can run, or autocast"
        return regions

    # Running

    def start(self, function: FunctionType, args: tuple, kwargs: dict[str, Any]) -> Any:
        """Call a function using its captures."""
        code, f_globals = function.__code__, function.__globals__
        regions = self.regions_of(code, f_globals)
        region = regions[0]
        if self.fullgraph and region.skip_reason:
            raise Unsupported(f"{region.skip_reason} ({code.co_filename}, {code.co_name})")
        if region.skip_reason or code.co_flags & _GENERATED or local.inference or in_a_mode():
            return function(*args, **kwargs)
        plain = not (kwargs or code.co_kwonlyargcount or code.co_flags & _VARIADIC)
        if plain and len(args) == code.co_argcount:
            values = dict(zip(code.co_varnames, args))
        else:
            bound = inspect.signature(function, follow_wrapped=False).bind(*args, **kwargs)
            bound.apply_defaults()
            values = dict(bound.arguments)
        cells = dict(zip(code.co_freevars, function.__closure__)) if code.co_freevars else {}
        L = guarded_values(values, cells) if cells else values  # noqa: N806
        entry = cache.lookup(region.entries, L)
        if entry is not None:
            result = entry.run(L)
        else:
            state = SuspendedFrame(0, values, cells, [])
            call_plainly = functools.partial(function, *args, **kwargs)
            result = self.compile_and_run(code, f_globals, region, state, L, call_plainly)
        return result if type(result) is not SuspendedFrame else self.resume(code, f_globals, regions, result)

    def resume(self, code: CodeType, f_globals: dict[str, Any], regions: dict[int, Region], result: Any) -> Any:
        """Run a function to its end from the point where a graph of it stopped. `result` is the result of that graph."""
        while type(result) is SuspendedFrame:
            state = resume_execution.run_instruction(code, f_globals, result, self.call)
            if type(state) is not SuspendedFrame:
                return state[0]
            if state.handled or in_a_mode():  # an exception is being handled, or a mode is active: left to Python
                result = state
                continue
            region = regions.setdefault(state.index, Region())
            L = guarded_values(state.locals, state.cells, state.stack)  # noqa: N806
            entry = cache.lookup(region.entries, L)
            result = entry.run(L) if entry is not None else self.compile_and_run(code, f_globals, region, state, L)
        return result

    def compile_and_run(
        self, code: CodeType, f_globals: dict[str, Any], region: Region, state: SuspendedFrame, L: dict[str, Any],  # noqa: N803
        call_plainly: Callable[[], Any] | None = None,
    ) -> Any:  # fmt: skip
        """No entry fits: capture another one and run it, or, if that is impossible, run the rest of the function. `call_plainly`
        calls the whole function, if the state is its beginning."""
        if region.skip_reason is None and len(region.entries) >= cache.recompile_limit:
            logs.artifact("recompiles", f"{code.co_name}: the limit of {cache.recompile_limit} is reached")
            if call_plainly:
                return call_plainly()
            return resume_execution.run_to_end(code, f_globals, state, lambda fn, args, kwargs: fn(*args, **kwargs))
        if region.skip_reason is None:
            if region.entries:
                reasons = "\n".join(cache.recompile_reasons(region.entries, L))
                logs.artifact("recompiles", reasons, f"{code.co_name}, {len(region.entries)} before")
            try:
                # A trace draws random numbers, and saves tensors without data, which the program does not see.
                with fork_rng(), replacing(local, saved_tensors_hooks=[]):
                    entry = self.capture(code, f_globals, state)
            except SkipFrame as error:
                region.skip_reason = str(error)
            else:
                region.entries.insert(0, entry)
                return entry.run(L)
        return resume_execution.run_to_end(code, f_globals, state, self.call)

    def call(self, function: Any, args: list, kwargs: dict[str, Any]) -> Any:
        """A call where the graph breaks: the function that is called may be captured by itself."""
        if isinstance(function, MethodType):
            function, args = function.__func__, [function.__self__, *args]
        if isinstance(function, rl.nn.Module) and type(function).__call__ is rl.nn.Module.__call__:
            forward = function.forward
            if not has_hooks(function) and isinstance(forward, MethodType):
                function, args = forward.__func__, [forward.__self__, *args]
        if isinstance(function, FunctionType) and not hasattr(function, "_dynamo_compiled"):
            framework = (function.__module__ or "").startswith(("rushlight.", "torch."))
            if not framework and calls.how_to_call(function) == "inline":
                return self.start(function, tuple(args), kwargs)
        return function(*args, **kwargs)

    # Capturing

    def capture(self, code: CodeType, f_globals: dict, state: SuspendedFrame) -> CacheEntry:
        """One capture from a state: to the end of the function, or to an instruction that cannot be captured.

        The first try finds the instruction that cannot be captured; the second stops before it. So the graph has nothing of an
        instruction that breaks it, or of a function that this instruction calls.
        """
        stop_at = reason = None
        while True:
            output = OutputGraph(f_globals)
            frame = InstructionTranslator(output, code, f_globals, stop_at)
            error, mode = self.translate(frame, state)
            if error is not None:
                if stop_at is not None and frame.steps >= stop_at:
                    raise SkipFrame(str(error)) from error
                stop_at, reason = frame.steps, break_reason(error)
                if self.fullgraph:
                    line = frame.instructions[max(frame.index - 1, 0)].line
                    raise Unsupported(f"{reason} ({code.co_filename}:{line}, in {code.co_name})") from error
                continue
            try:
                return self.compile_entry(frame, reason, mode)
            except Unsupported as error:
                if self.fullgraph:
                    raise
                if not isinstance(error, AutogradGradRestartAnalysis):
                    raise SkipFrame(str(error)) from error
                stop_at, reason = output.first_grad, str(error)

    def translate(self, frame: InstructionTranslator, state: SuspendedFrame) -> tuple[Exception | None, bool]:
        """Run a frame from a state. Returns the error that ended it, if any, and the grad mode at its end. Any error breaks the
        graph, also one of the translator: then the graph is smaller, but the result is right."""
        before, error = local.grad_enabled, None
        try:
            populate(frame, state)
            frame.run()
        except TorchRuntimeError:
            raise
        except Exception as caught:
            error = caught
        finally:
            mode, local.grad_enabled = local.grad_enabled, before
        return error, mode

    def compile_entry(self, frame: InstructionTranslator, reason: str | None, grad_mode: bool) -> CacheEntry:
        """Compile the graph of a frame that has returned, or has stopped before a break, and write the code around it."""
        code, output = frame.code, frame.output
        if not frame.returned:
            self.check_resumable(frame, reason)
        elif not self.fullgraph and all(node.op == "placeholder" for node in output.graph.nodes):
            raise SkipFrame("no operation: nothing to capture")  # as in PyTorch, for good
        if grad_mode != local.grad_enabled:  # a graph ends in the mode in which it began; Python sets the other later
            output.grad_mode_after = grad_mode
            output.emit("call_function", rl._C._set_grad_enabled, (local.grad_enabled,), {}, None)
        why = GraphCompileReason("return_value" if frame.returned else str(reason), line_of(frame), not frame.returned)
        compile_graph = functools.partial(self.compile_graph, why, code.co_name)
        run = output.compile_subgraph(functools.partial(resume_execution.write_result, frame), compile_graph)
        output.scope = {name: value for name, value in run.__globals__.items() if not name.startswith("__")}
        check = guards.build_check(output.guards, output.scope)
        self.out_guards += output.guards
        logs.artifact("guards", check.source, code.co_name)
        logs.artifact("bytecode", run.source, f"{code.co_name}, after the graph")
        return CacheEntry(output.guards, output.scope, check, run)

    def compile_graph(self, why: GraphCompileReason, name: str, gm: fx.GraphModule, inputs: list) -> Callable:
        gm.compile_subgraph_reason = why
        self.graphs.append((gm, why))
        logs.artifact("graph_code", gm.code, f"{name}, graph {len(self.graphs) - 1}")
        compiled = self.backend(gm, inputs)
        if not callable(compiled):
            raise TypeError(f"the backend {self.backend} returned {type(compiled).__name__}, not a callable")
        return compiled

    def check_resumable(self, frame: InstructionTranslator, reason: str | None) -> None:
        """Refuse a break after which the rest of the function would not be captured."""
        code = frame.code
        logs.artifact("graph_breaks", f"{reason} ({code.co_filename}:{line_of(frame)}, in {code.co_name})")
        if frame.handled or has_backedge(frame.instructions, frame.index):
            raise SkipFrame(f"a graph break in a loop or a handler: {reason}")


NEVER = {"UNKNOWN", "RETURN_GENERATOR", "YIELD_VALUE"}
LOOK_AT_FRAME = {  # functions that look at the frame that calls them, and autocast, which is not captured
    "LOAD_GLOBAL": {"locals", "globals", "vars", "dir", "eval", "exec", "autocast"},
    "LOAD_ATTR": {"_getframe", "currentframe", "exc_info", "autocast"},
}


def in_a_mode() -> bool:
    """Return whether autocast casts the operands of calls, or a `DispatchMode` intercepts them. Such calls are not captured."""
    return bool(local.modes) or local.excluded & AUTOCAST_KEYS != AUTOCAST_KEYS


def has_hooks(module: rl.nn.Module) -> bool:
    """Whether a module has a hook of the forward or the backward pass."""
    registries = ("_forward_pre_hooks", "_forward_hooks", "_backward_hooks", "_backward_pre_hooks")
    return any(getattr(module, name) for name in registries)


def break_reason(error: Exception) -> str:
    """The reason of a graph break, as the log shows it."""
    if isinstance(error, Unsupported):
        return str(error)
    if not isinstance(error, ObservedException):
        return f"{type(error).__name__}: {error}"
    words = ", ".join(str(arg.value) for arg in error.variable.args if hasattr(arg, "value"))
    return f"Observed exception: {error.variable.cls.__name__}({words})"


def line_of(frame: InstructionTranslator) -> int | None:
    """The line of the source that a frame executes."""
    return frame.instructions[min(frame.index, len(frame.instructions) - 1)].line


def has_backedge(instructions: list[bytecode.Instruction], index: int) -> bool:
    """Return whether a jump after this index goes back before it. Then the index is in a loop, and nothing resumes there.
    Source: `torch/_dynamo/symbolic_convert.py`, `maybe_has_backedge`."""
    rest = itertools.takewhile(lambda instruction: instruction.op != "RETURN_VALUE", instructions[index:])
    return any(instruction.op in bytecode.JUMPS and instruction.arg < index for instruction in rest)


def guarded_values(values: dict[str, Any], cells: dict[str, Any], stack: Sequence[Any] = ()) -> dict[str, Any]:
    """The dict `L` of guards and generated code: locals, the contents of cells, the cells themselves, the stack."""
    L = dict(values)  # noqa: N806
    for name, cell in cells.items():
        L["__cell_" + name] = cell
        try:  # noqa: SIM105  (every call runs this, and `suppress` takes as long as all the guards)
            L[name] = cell.cell_contents
        except ValueError:  # an empty cell
            pass
    for i, value in enumerate(stack):
        L[f"___stack{i}"] = value
    return L


def populate(frame: InstructionTranslator, state: SuspendedFrame) -> None:
    """Start a frame from a state: all values are from before, and nothing has looked at them yet."""
    builder = frame.builder
    frame.index = state.index
    for name, value in state.locals.items():
        frame.locals[name] = builder.lazy(value, f"L[{name!r}]")
    for name, cell in state.cells.items():
        variable = frame.cells[name] = builder.cell(cell, f"L['__cell_{name}']", f"L[{name!r}]")
        if variable.contents is None:
            frame.output.add_guard(guards.Guard("", f"{name!r} not in L"))
    for i, value in enumerate(state.stack):
        frame.push(frame.null if value is NULL else builder.lazy(value, f"L['___stack{i}']"))
