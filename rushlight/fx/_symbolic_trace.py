"""Tracing: a function or a module runs once on proxies, and its operations are recorded.

Each module of rushlight becomes one node (a leaf). The program's modules are traced through. While a tracer runs, the globals with
functions that are not traced through, those of `wrap` and of the module `math`, have recording functions in their place. In
PyTorch: `torch/fx/_symbolic_trace.py`. Left out: `concrete_args` that are nested.
"""

from __future__ import annotations

import builtins
import copy
import functools
import inspect
import itertools
import math
import sys
from collections import OrderedDict
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import fields, is_dataclass
from importlib import import_module
from types import CodeType, FunctionType, ModuleType
from typing import Any

from rushlight.aten.functional import _assert
from rushlight.aten.strided import Tensor
from rushlight.c10.exception import warn
from rushlight.fx.graph import Graph
from rushlight.fx.graph_module import GraphModule
from rushlight.fx.node import map_aggregate
from rushlight.fx.operator_schemas import is_builtin
from rushlight.fx.overrides import original_of, recording
from rushlight.fx.proxy import BASE_TYPES, ParameterProxy, Proxy, TracerBase, create_arg
from rushlight.nn.modules.containers import Sequential
from rushlight.nn.modules.module import Module
from rushlight.nn.parameter import Parameter

# Functions that are not traced through ------------------------------------------------------------------------------

_wrapped: dict[tuple[int, str], dict[str, Any]] = {}  # by the module's globals and the name in them
_wrapped_methods_to_patch: list[tuple[type, str]] = []


def tracer_of(args: tuple, kwargs: dict[str, Any]) -> TracerBase | None:
    """The tracer of the last proxy among the arguments of a call."""
    proxies: list[Proxy] = []
    map_aggregate((args, kwargs), lambda a: proxies.append(a) if isinstance(a, Proxy) else None)
    return proxies[-1].tracer if proxies else None


def wrap_in(patches: ExitStack, names: dict[str, Any], name: str) -> None:
    """Replace a global function by one that records calls with a proxy as one node, until the patches are undone."""
    function = names[name] if name in names else getattr(builtins, name)
    if hasattr(function, "_records_calls_of"):
        return
    patches.callback(*((names.__setitem__, name, function) if name in names else (names.pop, name)))

    @functools.wraps(function)
    def call_or_record(*args: Any, **kwargs: Any) -> Any:
        if (tracer := tracer_of(args, kwargs)) is None:
            return function(*args, **kwargs)
        result = tracer.create_proxy("call_function", function, args, kwargs)
        result.node.meta["is_wrapped"] = True
        return result

    vars(call_or_record)["_records_calls_of"] = function
    names[name] = call_or_record


def recorded_method(kind: type, name: str) -> Callable:
    """The method of a class, which records calls with a proxy."""
    method = getattr(kind, name)

    @functools.wraps(method)
    def call_or_record(*args: Any, **kwargs: Any) -> Any:
        tracer = tracer_of(args, kwargs)
        return method(*args, **kwargs) if tracer is None else tracer.create_proxy("call_method", name, args, kwargs)

    return call_or_record


def wrap(fn_or_name: str | Callable) -> str | Callable:
    """Record calls of this global function, and do not trace through it. For the top level of a module, also as a decorator.

    Raises:
        RuntimeError: the argument is neither a function nor a name.
        NotImplementedError: `wrap` is not called at the top level of a module.
    """
    if not callable(fn_or_name) and not isinstance(fn_or_name, str):
        raise RuntimeError("Unsupported type for global function! Must be either a callable or string name")
    caller = sys._getframe(1)
    if caller.f_code.co_name != "<module>":
        raise NotImplementedError("wrap must be called at the top level of a module")
    name = fn_or_name if isinstance(fn_or_name, str) else fn_or_name.__name__
    _wrapped[id(caller.f_globals), name] = caller.f_globals
    return fn_or_name


class ProxyableClassMeta(type):
    """The type of classes whose calls with a proxy are recorded, so that an object is made when the graph runs.

    >>> class Pair(metaclass=rl.fx.ProxyableClassMeta):
    ...     def __init__(self, left, right):
    ...         self.left, self.right = left, right
    >>> [node.op for node in rl.fx.symbolic_trace(lambda x: Pair(x, x)).graph.nodes]
    ['placeholder', 'call_function', 'output']

    Source: `torch/fx/_symbolic_trace.py`, `ProxyableClassMeta`.
    """

    def __call__(cls, *args: Any, **kwargs: Any) -> Any:
        if (tracer := tracer_of(args, kwargs)) is not None:
            return tracer.create_proxy("call_function", cls, args, kwargs)
        return super().__call__(*args, **kwargs)


# The tracer ----------------------------------------------------------------------------------------------------------


class Tracer(TracerBase):
    """Traces a function or a module. A subclass may override `is_leaf_module`, `call_module`, `create_arg`, `to_bool` and
    others. Of a module it traces the method named `traced_func_name`. With `param_shapes_constant`, sizes of parameters are numbers
    during the trace, so that a branch may depend on them."""

    traced_func_name = "forward"

    def __init__(
        self,
        autowrap_modules: tuple[ModuleType, ...] = (math,),
        autowrap_functions: tuple[Callable, ...] = (),
        param_shapes_constant: bool = False,
    ) -> None:
        self.param_shapes_constant = param_shapes_constant
        self.module_stack = OrderedDict()
        self.num_calls: dict[str, int] = {}
        self.submodule_paths: dict[Module, str] | None = None
        self._autowrap_search = list(autowrap_modules)
        named = [pair for module in autowrap_modules for pair in vars(module).items()]
        public = [value for name, value in named if not name.startswith("_")]
        self._autowrap_function_ids = {id(value) for value in [*public, *autowrap_functions] if callable(value)}

    def __deepcopy__(self, memo: dict) -> Tracer:
        new = Tracer.__new__(Tracer)
        for name, value in vars(self).items():  # the modules of `_autowrap_search` cannot be copied deeply
            vars(new)[name] = copy.copy(value) if name == "_autowrap_search" else copy.deepcopy(value, memo)
        return new

    def get_fresh_qualname(self, prefix: str) -> str:
        return next(name for i in itertools.count() if not hasattr(self.root, name := f"{prefix}{i}"))

    def create_arg(self, a: Any) -> Any:
        """The argument of a node for an argument that may be a tensor of the traced module, or a constant.
        Source: `torch/fx/_symbolic_trace.py`, `Tracer.create_arg`."""
        if isinstance(a, (Parameter, Tensor, Module)):
            name = self.name_in_root(a)
            if name is None and isinstance(a, Parameter):
                raise NameError("parameter is not a member of this module")
            if name is None and isinstance(a, Tensor):
                name = self.tensor_attrs.get(a)
                if name is None:
                    name = self.tensor_attrs[a] = self.get_fresh_qualname("_tensor_constant")
                    setattr(self.root, name, a)
            if name is not None:
                return self.create_node("get_attr", name, (), {})
        if isinstance(type(a), ProxyableClassMeta):  # an object whose construction was not recorded
            name = self.get_fresh_qualname(f"_{type(a).__name__}_constant_")
            setattr(self.root, name, a)
            return self.create_node("get_attr", name, (), {})
        if isinstance(a, tuple) and hasattr(a, "_fields"):
            return self.create_node("call_function", type(a), tuple(self.create_arg(item) for item in a), {})
        if is_dataclass(a) and not isinstance(a, type):
            values = {field.name: self.create_arg(getattr(a, field.name)) for field in fields(a)}
            return self.create_node("call_function", type(a), (), values)
        return create_arg(self, a)

    def name_in_root(self, a: Tensor | Module) -> str | None:
        """The qualified name of a parameter, a buffer or a module in the root."""
        kind = "parameters" if isinstance(a, Parameter) else "buffers" if isinstance(a, Tensor) else "modules"
        return next((name for name, member in getattr(self.root, f"named_{kind}")() if member is a), None)

    def is_leaf_module(self, m: Module, module_qualified_name: str) -> bool:
        """Return whether a module becomes one node: the modules of `rl.nn`, but not `Sequential`."""
        return type(m).__module__.startswith(("rushlight.nn.", "torch.nn.")) and not isinstance(m, Sequential)

    def path_of_module(self, mod: Module) -> str:
        """The qualified name of a module in the root. NameError if the root does not have it."""
        paths = self.submodule_paths or {module: name for name, module in self.root.named_modules()}
        if mod not in paths:
            raise NameError("module is not installed as a submodule")
        return paths[mod]

    def call_module(self, m: Module, forward: Callable, args: tuple, kwargs: dict[str, Any]) -> Any:
        """Record a call of a module: a node for a leaf, else the operations of its `forward`."""
        path = self.path_of_module(m)
        calls = self.num_calls.get(path, 0)
        self.num_calls[path] = calls + 1
        key = f"{path}@{calls}" if calls else path
        self.module_stack[key] = path, type(m)
        try:
            if not self.is_leaf_module(m, path):
                return forward(*args, **kwargs)
            return self.create_proxy("call_module", path, args, kwargs)
        finally:
            del self.module_stack[key]

    def getattr(self, attr: str, attr_val: Any, parameter_proxy_cache: dict[str, Proxy]) -> Any:
        """The value of `module.attr` during the trace: one proxy for each parameter of the root."""
        name = self.name_in_root(attr_val) if isinstance(attr_val, Parameter) else None
        if name is None:
            return attr_val
        if name not in parameter_proxy_cache:
            proxy = self.create_proxy("get_attr", name, (), {})
            parameter_proxy_cache[name] = (
                ParameterProxy(self, proxy.node, name, attr_val) if self.param_shapes_constant else proxy
            )
        return parameter_proxy_cache[name]

    def create_args_for_root(
        self, root_fn: FunctionType, is_module: bool, concrete_args: dict[str, Any] | None = None
    ) -> tuple[Callable, list[Any]]:
        """A placeholder for each parameter of the function, and the function, which takes `*args` as one argument."""
        plain = inspect.unwrap(root_fn)
        code, signature = original_of(plain).__code__, inspect.signature(original_of(plain))
        count = code.co_argcount + code.co_kwonlyargcount
        if is_module and count == 0:
            raise RuntimeError("``self`` argument cannot be part of *args expansion!")
        names = list(code.co_varnames[is_module:count])
        stars = ["*"] * bool(code.co_flags & inspect.CO_VARARGS) + ["**"] * bool(code.co_flags & inspect.CO_VARKEYWORDS)
        names += [star + name for star, name in zip(stars, code.co_varnames[count:])]
        args: list[Module | Proxy] = [self.root] if is_module else []
        for name in names:
            default = inspect.Parameter.empty if name[0] == "*" else signature.parameters[name].default
            given = () if default is inspect.Parameter.empty else (default,)
            if concrete_args is not None and name in concrete_args:
                args.append(self.specialized(name, concrete_args[name], given))
                continue
            args.append(self.create_proxy("placeholder", name, given, {}, type_expr=annotations_of(plain).get(name)))
        if code.co_kwonlyargcount or stars:
            root_fn = all_positional(root_fn, len(args))
        return root_fn, args

    def specialized(self, name: str, value: Any, given: tuple) -> Any:
        """The value of a parameter for the whole trace. The graph has a placeholder for it, and refuses another value.
        Source: `torch/fx/_symbolic_trace.py`, `Tracer._proxy_placeholder`."""
        if isinstance(value, (tuple, list, dict)):
            raise NotImplementedError(f"concrete_args: {name} is a {type(value).__name__}, and its tree is left out")
        out = self.create_proxy("placeholder", f"{name}_1", given, {})
        problem = f"{name} has been specialized to have value {value} but got another value"
        if value is None:
            self.create_proxy("call_function", _assert_is_none, (out, problem), {})
        elif isinstance(value, BASE_TYPES) and not isinstance(value, Tensor):
            _assert(out == value, problem)
        else:
            warn(
                f"Was not able to add assertion to guarantee correct input {name} to specialized function. "
                "It is up to the user to make sure that your inputs match the inputs you specialized the function with.",
            )
        return value

    def trace(self, root: Module | Callable, concrete_args: dict[str, Any] | None = None) -> Graph:
        """The graph of `root`. For a function, `self.root` becomes a module that has its constants. A parameter that
        `concrete_args` names has this value in the trace, and the graph refuses another one."""
        if isinstance(root, Module):
            name = self.traced_func_name
            assert hasattr(type(root), name), f"traced_func_name={name} doesn't exist in {type(root).__name__}"
            self.root, function = root, getattr(type(root), name)
            self.submodule_paths = {module: name for name, module in root.named_modules()}
        else:
            self.root, function = Module(), root
        kind = "an operator" if is_builtin(function) else type(function)
        assert isinstance(function, FunctionType) and not is_builtin(function), f"Expected FunctionType, got {kind}"
        self.graph = Graph(tracer_cls=type(self))
        code = original_of(inspect.unwrap(function)).__code__
        self.graph._co_fields = {
            "co_name": code.co_name, "co_filename": code.co_filename, "co_firstlineno": code.co_firstlineno
        }  # fmt: skip
        attributes = ((path, *item) for path, module in self.root.named_modules() for item in vars(module).items())
        self.tensor_attrs = {x: f"{path}.{name}".lstrip(".") for path, name, x in attributes if isinstance(x, Tensor)}
        globals_, returned = function.__globals__, annotations_of(inspect.unwrap(function)).get("return")
        function, args = self.create_args_for_root(function, isinstance(root, Module), concrete_args)
        with recording(), ExitStack() as patches:
            self._follow_modules(patches)
            for (_, name), names in _wrapped.items():
                wrap_in(patches, names, name)
            for kind, name in _wrapped_methods_to_patch:
                patches.callback(setattr, kind, name, getattr(kind, name))
                setattr(kind, name, recorded_method(kind, name))
            for names in (globals_, *map(vars, self._autowrap_search)):
                self._autowrap(patches, names)
            result = self.create_arg(function(*args))
            self.create_node("output", "output", (result,), {}, type_expr=returned)
        self.submodule_paths = None
        return self.graph

    def _follow_modules(self, patches: ExitStack) -> None:
        """During the trace, calls of modules and reads of their attributes go through this tracer."""
        call, read = Module.__call__, Module.__getattr__
        proxies: dict[str, Proxy] = {}

        def traced_call(module: Module, *args: Any, **kwargs: Any) -> Any:
            self._autowrap(patches, getattr(module.forward, "__globals__", {}))
            return self.call_module(module, lambda *args, **kwargs: call(module, *args, **kwargs), args, kwargs)

        def traced_getattr(module: Module, attr: str) -> Any:
            return self.getattr(attr, read(module, attr), proxies)

        for name, method, before in (("__call__", traced_call, call), ("__getattr__", traced_getattr, read)):
            patches.callback(setattr, Module, name, before)
            setattr(Module, name, method)

    def _autowrap(self, patches: ExitStack, names: dict[str, Any]) -> None:
        for name, value in list(names.items()):
            if not name.startswith("_") and id(value) in self._autowrap_function_ids:
                wrap_in(patches, names, name)


def _assert_is_none(value: Any, message: str) -> None:
    """Assert that an input to which `concrete_args` gave None is None, in a traced graph.
    Source: `torch/fx/_symbolic_trace.py`, `_assert_is_none`."""
    assert value is None, message


def annotations_of(function: FunctionType) -> dict[str, Any]:
    """The annotations of a function as they are written. Those of rushlight's modules are text."""
    own = (function.__module__ or "").startswith(("rushlight.", "torch."))
    written = inspect.get_annotations(function, eval_str=own)
    return {name: kind for name, kind in written.items() if not (own and kind is Any)}


def all_positional(function: FunctionType, count: int) -> FunctionType:
    """The same function with positional parameters only, where `*args` and `**kwargs` are one parameter each."""
    code: CodeType = original_of(function).__code__
    flags = code.co_flags & ~(inspect.CO_VARARGS | inspect.CO_VARKEYWORDS)
    code = code.replace(co_argcount=count, co_posonlyargcount=0, co_kwonlyargcount=0, co_flags=flags)
    return FunctionType(code, function.__globals__, function.__name__, function.__defaults__, function.__closure__)


def symbolic_trace(root: Module | Callable, concrete_args: dict[str, Any] | None = None) -> GraphModule:
    """A module with the graph of `root`. `concrete_args` has values of parameters, so that a branch may depend on them.

    Raises TraceError if a branch or a loop depends on the value of a proxy.
    """
    tracer = Tracer()
    graph = tracer.trace(root, concrete_args)
    name = type(root).__name__ if isinstance(root, Module) else root.__name__
    return GraphModule(tracer.root, graph, name)


class KeepModules(Tracer):
    """It keeps every call of a module, because the code of a GraphModule calls only modules that were leaves before."""

    def is_leaf_module(self, m: Module, module_qualified_name: str) -> bool:
        return True


# Pickles of a GraphModule: its code, which is traced again -----------------------------------------------------------


def _reduce(self: GraphModule) -> tuple:
    """The pickle of a module: all attributes but the graph, and the names that its code uses.
    Source: `torch/fx/graph_module.py`, `GraphModule.__reduce__`."""
    names = self.graph.python_code(root_module="self").globals
    modules = {name: value.__name__ for name, value in names.items() if isinstance(value, ModuleType)}
    others = {name: value for name, value in names.items() if name not in modules}
    body = {name: value for name, value in vars(self).items() if name != "_graph"}
    return _reduce_graph_module, (body, modules, others)


def _reduce_graph_module(body: dict[str, Any], modules: dict[str, str], others: dict[str, Any]) -> GraphModule:
    """The module of a pickle. Source: `torch/fx/graph_module.py`, `reduce_graph_module`."""
    names = others | {name: import_module(module) for name, module in modules.items()}
    exec(compile(body["_code"], "<pickled>", "exec", dont_inherit=True), names)  # annotations are objects
    root = type("CodeOnlyModule", (Module,), {"forward": names["forward"]})()
    root.__dict__.update(body)
    new = GraphModule(root, KeepModules().trace(root))
    for kind in ("_modules", "_buffers", "_parameters"):  # those that the graph does not use too
        getattr(new, kind).update(body[kind])
    for name, value in body.items():
        if not hasattr(new, name):
            setattr(new, name, value)
    return new


GraphModule.__reduce__ = _reduce  # type: ignore[assignment]  # all objects have it, and this is for modules
