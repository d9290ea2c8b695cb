"""A graph as a module: its `forward` is compiled from the source that is generated from the graph.

In PyTorch: `torch/fx/graph_module.py`. `_symbolic_trace` pickles it. Left out: saving to a folder, compiling lazily, hooks.
"""

from __future__ import annotations

import copy
import itertools
import linecache
import operator
import sys
import traceback
from pathlib import Path
from typing import Any

import rushlight
from rushlight.aten.strided import Tensor
from rushlight.fx.codegen import PythonCode
from rushlight.fx.graph import Graph
from rushlight.nn.modules.module import Module
from rushlight.nn.parameter import Parameter

_numbers = itertools.count()


class GraphModule(Module):
    """A module with a `graph`, and its `code` and `forward`.

    A new graph is compiled at once. After changes within the graph call `recompile()`. `root`, a module or a dict by qualified
    name, has the targets of `get_attr` and `call_module` nodes. Only these targets are copied.
    """

    def __new__(cls, *args, **kwargs):
        # `forward` is looked up on the class, so each GraphModule has one of its own.
        base = next(base for base in cls.__mro__ if "_own" not in vars(base))
        return super().__new__(type(base.__name__, (base,), {"_own": True, "__module__": base.__module__}))

    def __init__(self, root: Module | dict[str, Any], graph: Graph, class_name: str = "GraphModule") -> None:
        super().__init__()
        type(self).__name__ = class_name
        if not isinstance(root, (Module, dict)):
            raise RuntimeError(f"Unsupported type {root} passed for root!")
        targets = [node.target for node in graph.nodes if node.op in ("get_attr", "call_module")]
        if isinstance(root, Module):
            self.training = root.training
            for target in targets:
                assign_attribute(operator.attrgetter(target)(root), self, target)
        else:
            for node in graph.nodes:
                if node.op in ("get_attr", "call_module") and node.target not in root:
                    what = f"target {node.target} but that target was not provided in ``root``!"
                    raise RuntimeError(f"Node {node} referenced {what}")
            for target in sorted(targets, key=lambda target: target.count(".")):  # modules before their attributes
                assign_attribute(root[target], self, target)
        self.meta: dict[str, Any] = {}
        self.graph = graph

    @property
    def graph(self) -> Graph:
        return self._graph

    @graph.setter
    def graph(self, graph: Graph) -> None:
        assert isinstance(graph, Graph), f"Expected a Graph instance, but got {type(graph)}"
        self._graph = graph
        graph.owning_module = self
        self.recompile()

    @property
    def code(self) -> str:
        """The source of `forward`."""
        return self._code

    def recompile(self) -> PythonCode:
        """Generate `code` and `forward` from the graph. Returns the code with its globals."""
        python_code = self._graph.python_code(root_module="self")
        self._code = python_code.src
        names = dict(python_code.globals)
        origin = " from {co_filename}:{co_firstlineno} in {co_name}" if self._graph._co_fields else ""
        file = f"<eval_with_key>.{next(_numbers)}{origin.format(**self._graph._co_fields)}"
        exec(compile(self._code, file, "exec"), names)
        linecache.cache[file] = len(self._code), None, self._code.splitlines(True), file  # for tracebacks
        type(self).forward = names["forward"]
        return python_code

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        try:
            return super().__call__(*args, **kwargs)
        except Exception as error:
            frames = traceback.extract_tb(error.__traceback__)
            last = next(frame for frame in reversed(frames) if not frame.filename.startswith(OPERATORS))
            if "eval_with_key" not in last.filename:
                raise
            print(_generate_error_message(last), file=sys.stderr)
            raise error.with_traceback(None)  # noqa: B904

    # Modules within

    def add_submodule(self, target: str, m: Module) -> bool:
        """Add a module at a qualified name, and missing modules on its path. False if the path has something else."""
        owner, name = owner_of(self, target)
        if isinstance(owner, Module):
            owner.add_module(name, m)
        return isinstance(owner, Module)

    def delete_submodule(self, target: str) -> bool:
        """Delete the module at a qualified name. False if there is none."""
        try:
            self.get_submodule(target)
        except AttributeError:
            return False
        path, _, name = target.rpartition(".")
        delattr(self.get_submodule(path), name)
        return True

    def delete_all_unused_submodules(self) -> None:
        """Delete each module that no node uses: no `call_module`, no `get_attr` within it, and no such module within it."""
        used: set[str] = set()
        modules = dict(self.named_modules())
        for node in self.graph.nodes:
            if node.op in ("call_module", "get_attr"):
                steps = node.target.split(".")
                used.update(".".join(steps[:i]) for i in range(1, len(steps) + 1))
            if node.op == "call_module" and node.target in modules:
                used.update(f"{node.target}.{name}" for name, _ in modules[node.target].named_modules() if name)
        for name in modules:
            if name and name not in used:
                self.delete_submodule(name)

    # Copying and showing

    def __deepcopy__(self, memo: dict) -> GraphModule:
        new = memo[id(self)] = GraphModule.__new__(GraphModule)
        within = Module()  # a copy of all but the graph
        rest = {name: value for name, value in vars(self).items() if name != "_graph"}
        within.__dict__.update({name: copy.deepcopy(value, memo) for name, value in rest.items()})
        new.__init__(within, copy.deepcopy(self._graph))
        new.meta = within.meta
        return new

    def __copy__(self) -> GraphModule:
        new = GraphModule(self, self.graph)
        new.meta = copy.copy(self.meta)
        return new

    def print_readable(
        self,
        print_output: bool = True,
        include_stride: bool = False,
        include_device: bool = False,
        colored: bool = False,
    ) -> str:
        """The code of this module and of GraphModules within it, with the sizes of tensors and the origin of each line.
        Colours are left out."""
        options = {"include_stride": include_stride, "include_device": include_device}
        text = readable_code(self, type(self).__name__, **options)
        if print_output:
            print(text)
        return text

    def __str__(self) -> str:
        hint = "# To see more debug info, please use `graph_module.print_readable()`"
        return "\n".join([super().__repr__(), self._code, hint])


OPERATORS = tuple(
    str(Path(rushlight.__file__).parent / name) for name in ("aten", "c10", "library.py")
)  # C++ in PyTorch


def _generate_error_message(frame: traceback.FrameSummary) -> str:
    """The traceback of the current error, and the line of generated code that caused it with the lines around it."""
    lines, number = linecache.getlines(frame.filename), frame.lineno or 0
    heading = f"Call using an FX-traced Module, line {number} of the traced Module's generated forward function:"
    before, after = "".join(lines[number - 2 : number]), "\n".join(lines[number : number + 2])
    marker = "~" * len(frame.line or "") + "~~~ <--- HERE"
    return "\n".join([traceback.format_exc(), heading, before, marker, after])


def readable_code(module: GraphModule, name: str, **options: bool) -> str:
    """The code of a graph module as a class, with the code of the graph modules inside it.
    Source: `torch/fx/graph_module.py`, `_print_readable`."""
    code = module.graph.python_code("self", verbose=True, **options).src.lstrip("\n")
    children = [(child_name, child) for child_name, child in module.named_children() if isinstance(child, GraphModule)]
    within = ["", *(readable_code(child, child_name, **options) for child_name, child in children)]
    package = Tensor.__module__.partition(".")[0]  # `torch` in a program for PyTorch
    return _indented(f"class {name}({package}.nn.Module):\n{code}") + _indented("\n".join(within))


def _indented(text: str) -> str:
    first, *rest = text.split("\n")
    return "\n".join([first, *(f"    {line}" if line.strip() else "" for line in rest)])


def assign_attribute(value: Any, target: Module, qualified_name: str) -> None:
    """Assign an attribute by its qualified name, and add missing modules on its path. A tensor that is not a parameter becomes a
    buffer."""
    owner, name = owner_of(target, qualified_name)
    if getattr(owner, name, None) is value:  # a module above it was copied as a whole
        return
    if isinstance(value, Tensor) and not isinstance(value, Parameter):
        owner.register_buffer(name, value)
    else:
        setattr(owner, name, value)


def owner_of(module: Any, qualified_name: str) -> tuple[Any, str]:
    """Return the object that has the attribute with this qualified name, and the attribute's own name. Missing modules on the path
    are added."""
    *path, name = qualified_name.split(".")
    for step in path:
        if isinstance(module, Module) and getattr(module, step, None) is None:
            setattr(module, step, Module())
        module = getattr(module, step, None)
    return module, name
