"""A tracer that first rewrites the source of a program, so that `assert` becomes a node: `RewritingTracer`.

`assert` on a proxy asks for a bool, which a trace does not have. The rewritten program calls `torch._assert`. In PyTorch:
`torch/fx/experimental/rewriter.py`.
"""

from __future__ import annotations

import ast
import copy
import functools
import inspect
import textwrap
from collections.abc import Callable
from types import FunctionType
from typing import Any

from rushlight.fx._symbolic_trace import Tracer
from rushlight.fx.graph import Graph
from rushlight.nn.modules.module import Module


class AST_Rewriter(ast.NodeTransformer):  # noqa: N801
    """Rewrites a function. The program must have the names `torch` and, for annotated variables, `annotate`."""

    def rewrite(self, fn: FunctionType) -> FunctionType:
        """The rewritten function, with the globals of the old one."""
        tree = ast.fix_missing_locations(self.visit(ast.parse(textwrap.dedent(inspect.getsource(fn)))))
        names: dict[str, Any] = {**fn.__globals__}
        exec(compile(tree, "", "exec", dont_inherit=True), names)  # annotations are objects
        compiled = names[fn.__name__]
        new = FunctionType(compiled.__code__, fn.__globals__, fn.__name__, compiled.__defaults__, compiled.__closure__)
        functools.update_wrapper(new, compiled)
        new.__kwdefaults__ = compiled.__kwdefaults__
        return new

    def visit_Assert(self, node: ast.Assert) -> ast.Expr:  # noqa: N802
        function = ast.Attribute(ast.Name("torch", ast.Load()), "_assert", ast.Load())
        return ast.Expr(ast.Call(function, [node.test, node.msg or ast.Constant("")], []))

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.Assign:  # noqa: N802
        value = ast.Call(ast.Name("annotate", ast.Load()), [node.value or ast.Constant(None), node.annotation], [])
        return ast.Assign([node.target], value)


class RewritingTracer(Tracer):
    """Traces a rewritten copy of a function, or of a module and all modules in it."""

    def trace(self, root: Module | Callable, concrete_args: dict[str, Any] | None = None) -> Graph:
        return super().trace(_rewrite(root), concrete_args)


def _rewrite(root: Module | Callable) -> Module | Callable:
    if not isinstance(root, Module):
        return AST_Rewriter().rewrite(root)  # type: ignore[arg-type]
    forward = AST_Rewriter().rewrite(root.forward)  # type: ignore[arg-type]
    new = type("RewrittenModule", (Module,), {"forward": forward})()
    for name, value in vars(root).items():
        vars(new)[name] = copy.copy(_rewrite(value) if isinstance(value, Module) else value)
    return new
