"""The surface of `torch.compile`: `compile`, `explain`, `disable`, `reset`, and the backends.

`compile` gives a function that calls `Compiler.start` of `convert_frame`. In PyTorch: `torch/_dynamo/eval_frame.py`,
`torch/_dynamo/backends/registry.py`. Left out: modes and options of a backend, and symbolic sizes.
"""

import functools
from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from types import FunctionType, MethodType
from typing import Any

import rushlight as rl
from rushlight import fx
from rushlight.dynamo import bytecode, guards
from rushlight.dynamo.convert_frame import Compiler, GraphCompileReason, has_hooks
from rushlight.dynamo.variables.builtin import graph_break

__all__ = [
    "ExplainOutput", "OptimizedModule", "compile", "disable", "explain", "graph_break", "list_backends", "lookup_backend", "reset",
]  # fmt: skip

# Backends ------------------------------------------------------------------------------------------------------------


BACKENDS: dict[str, Callable] = {  # `aot` and `inductor` are imported when they are first used
    "eager": lambda gm, example_inputs: gm.forward,
    "aot_eager": lambda gm, example_inputs: rl.aot.aot_autograd(gm, example_inputs, BACKENDS["eager"]),
    "inductor": lambda gm, example_inputs: rl.inductor.compile_fx(gm, example_inputs),
}


def list_backends() -> list[str]:
    """The names of the registered backends, sorted. Source: `torch/_dynamo/backends/registry.py`, `list_backends`."""
    return sorted(BACKENDS)


def lookup_backend(backend: str | Callable) -> Callable:
    """A backend by its name: a function of a graph module and example inputs, which returns a callable."""
    if callable(backend):
        return backend
    if backend not in BACKENDS:
        raise RuntimeError(f"Invalid backend: {backend!r}; there are {', '.join(list_backends())}")
    return BACKENDS[backend]


# The surface ---------------------------------------------------------------------------------------------------------

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
    """Return a function that behaves like `fn` and runs graphs that the backend compiles. A decorator if `fn` is not given.

    `fullgraph`: one graph, or an error, `Unsupported`, that says why not. `dynamic`: sizes are always constants here, so that
    True is refused. `mode` and `options` choose nothing here.

    Source: `torch/__init__.py`, `compile`; `torch/_dynamo/eval_frame.py`, `optimize`.
    """
    if dynamic:
        raise NotImplementedError("dynamic=True: sizes that are symbols are left out")
    if fn is None:
        return functools.partial(compile, backend=backend, fullgraph=fullgraph, disable=disable)
    if disable:
        return fn
    if not isinstance(backend, Hashable):  # it has a compiler of its own
        return optimize(fn, Compiler(lookup_backend(backend), fullgraph))
    key = backend, fullgraph
    if key not in _compilers:
        _compilers[key] = Compiler(lookup_backend(backend), fullgraph)
    return optimize(fn, _compilers[key])


def optimize(fn: Callable, compiler: Compiler) -> Callable:
    """The callable that `compile` gives."""
    if isinstance(fn, rl.nn.Module):
        return OptimizedModule(fn, compiler)
    if isinstance(fn, MethodType):
        return functools.partial(optimize(fn.__func__, compiler), fn.__self__)
    if not isinstance(fn, FunctionType):
        if isinstance(fn, type) or not isinstance(type(fn).__call__, FunctionType):
            raise RuntimeError(f"compile: not a function, a method or a module: {fn!r}")
        return functools.partial(optimize(type(fn).__call__, compiler), fn)
    fn = getattr(fn, "_dynamo_compiled", fn)
    start = compiler.start

    @functools.wraps(fn)
    def compiled(*args, **kwargs):
        return start(fn, args, kwargs)

    compiled._dynamo_compiled = fn
    compiled._torchdynamo_orig_callable = fn
    return compiled


class OptimizedModule(rl.nn.Module):
    """A module whose call is captured. Its attributes are those of the module that it was made from.
    Source: `torch/_dynamo/eval_frame.py`, `OptimizedModule`."""

    def __init__(self, module: rl.nn.Module, compiler: Compiler) -> None:
        super().__init__()
        self._orig_mod = module
        self.__dict__["_compiler"] = compiler

    def __call__(self, *args, **kwargs) -> Any:
        module = self._modules["_orig_mod"]
        plain = isinstance(module.forward, MethodType) and not has_hooks(module)
        function = module.forward.__func__ if plain else type(module).__call__
        return self._compiler.start(function, (module, *args), kwargs)

    def __getattr__(self, name: str) -> Any:
        module = self.__dict__["_modules"]["_orig_mod"]
        return module if name == "_orig_mod" else getattr(module, name)


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


@dataclass
class ExplainOutput:
    """The graphs, breaks and guards that `explain` reports. Source: `torch/_dynamo/backends/debugging.py`."""

    graphs: list[fx.GraphModule]
    graph_count: int
    graph_break_count: int
    break_reasons: list[GraphCompileReason]
    op_count: int
    ops_per_graph: list[list[Any]] = field(default_factory=list)
    out_guards: list[guards.Guard] = field(default_factory=list)

    def __str__(self) -> str:
        lines = [f"Graph Count: {self.graph_count}", f"Graph Break Count: {self.graph_break_count}"]
        lines += [f"Op Count: {self.op_count}", "Break Reasons:"]
        for number, reason in enumerate(self.break_reasons, 1):
            lines += [f"  Break Reason {number}:", f"    Reason: {reason.reason}", f"    Line: {reason.line}"]
        lines.append("Ops per Graph:")
        for number, ops in enumerate(self.ops_per_graph, 1):
            lines += [f"  Ops {number}:", *(f"    {op}" for op in ops)]
        return "\n".join([*lines, "Out Guards:", *(f"  {guard.text}" for guard in self.out_guards)])


def explain(fn: Callable) -> Callable[..., ExplainOutput]:
    """Return a function that runs `fn` once, and reports the graphs that were captured and why each ended.
    Source: `torch/_dynamo/eval_frame.py`, `explain`."""

    def inner(*args, **kwargs) -> ExplainOutput:
        compiler = Compiler(BACKENDS["eager"])
        optimize(fn, compiler)(*args, **kwargs)
        graphs = [gm for gm, _ in compiler.graphs]
        ops = [[node.target for node in gm.graph.nodes if node.op == "call_function"] for gm in graphs]
        reasons = [why for _, why in compiler.graphs if why.graph_break]
        count = len(graphs)
        return ExplainOutput(graphs, count, max(count - 1, 0), reasons, sum(map(len, ops)), ops, compiler.out_guards)

    return inner
