"""A pass as a class, and a manager that runs passes in an order: `PassBase`, `PassManager`.

In PyTorch: `torch/fx/passes/infra/pass_base.py`, `pass_manager.py`.
"""

from __future__ import annotations

import abc
import inspect
from collections import deque
from collections.abc import Callable
from functools import wraps
from typing import Any, NamedTuple

from rushlight.fx.graph_module import GraphModule
from rushlight.nn.modules.module import Module

Pass = Callable[[Any], Any]
Constraint = Callable[[Pass, Pass], bool]


class PassResult(NamedTuple):
    """The result of a pass: the module, and whether the pass changed it."""

    graph_module: Module
    modified: bool


class PassBase(abc.ABC):
    """A pass. A subclass has the method `call`, and may check the module before and after it."""

    def __call__(self, graph_module: GraphModule) -> PassResult | None:
        self.requires(graph_module)
        result = self.call(graph_module)
        self.ensures(graph_module)
        return result

    @abc.abstractmethod
    def call(self, graph_module: GraphModule) -> PassResult | None: ...

    def requires(self, graph_module: GraphModule) -> None:  # noqa: B027
        """Check the module before the pass."""

    def ensures(self, graph_module: GraphModule) -> None:  # noqa: B027
        """Check the module after the pass."""


def name_of(one: Pass) -> str:
    """The name of a pass: that of the function, or of the object's class."""
    return one.__name__ if inspect.isfunction(one) else type(one).__name__


def pass_result_wrapper(fn: Pass) -> Pass:
    """A pass that returns a `PassResult`, for one that returns a module or None."""

    @wraps(fn)
    def wrapped(module: Module) -> PassResult:
        result = fn(module)
        return result if isinstance(result, PassResult) else PassResult(module if result is None else result, True)

    wrapped.__name__ = name_of(fn)
    return wrapped


def this_before_that_pass_constraint(this: Pass, that: Pass) -> Constraint:
    """A constraint: it is false for two passes `that`, `this` in this order."""
    return lambda first, second: first != that or second != this


def _topological_sort_passes(passes: list[Pass], constraints: list[Constraint]) -> list[Pass]:
    """The passes in an order that all constraints allow. RuntimeError if there is none.
    Source: `torch/fx/passes/infra/pass_manager.py`, `_topological_sort_passes`."""
    if not constraints:
        return passes
    later: dict[Pass, list[Pass]] = {one: [] for one in passes}
    count = dict.fromkeys(passes, 0)  # of the passes that must come before
    for first in passes:
        for second in passes:
            broken = sum(not constraint(first, second) for constraint in constraints) if first != second else 0
            later[second] += [first] * broken
            count[first] += broken
    ready, ordered = deque(one for one in passes if not count[one]), []
    while ready:
        ordered.append(ready.popleft())
        for one in later[ordered[-1]]:
            count[one] -= 1
            if not count[one]:
                ready.append(one)
    if left := [one for one in count if count[one]]:
        raise RuntimeError(f"Circular dependency detected within the following passes: {left}")
    return ordered


class PassManager:
    """Runs passes in an order that the constraints allow, up to `steps` times, until a round changes nothing."""

    def __init__(
        self,
        passes: list[Pass] | None = None,
        constraints: list[Constraint] | None = None,
        steps: int | None = None,
        run_checks_after_each_pass: bool = False,
        suppress_check_failures: bool = False,
    ) -> None:
        self.passes, self.constraints, self.steps = passes or [], constraints or [], steps or 1
        self.run_checks_after_each_pass, self.suppress_check_failures = (
            run_checks_after_each_pass,
            suppress_check_failures,
        )
        self.check: Callable[[Module], None] = lambda module: None
        self._validated = False

    def add_pass(self, _pass: Pass) -> None:
        self.passes.append(_pass)
        self._validated = False

    def add_constraint(self, constraint: Constraint) -> None:
        self.constraints.append(constraint)
        self._validated = False

    def add_checks(self, check: Callable[[Module], None]) -> None:
        """Set the check that runs before the passes and, with `run_checks_after_each_pass`, after each of them."""
        if len(inspect.signature(check).parameters) != 1:
            raise TypeError("PassManager check function should only take in one variable, a module")
        self.check = check

    def validate_constraints(self) -> None:
        """RuntimeError if the order of the passes breaks a constraint."""
        for i, first in enumerate(self.passes if not self._validated else []):
            for j, second in enumerate(self.passes[i + 1 :]):
                if not all(constraint(first, second) for constraint in self.constraints):
                    raise RuntimeError(
                        f"pass schedule constraint violated. Expected {first} before {second} but found {first} at index {i} "
                        f"and {second} at index {j} in pass list."
                    )
        self._validated = True

    def solve_constraints(self) -> None:
        self.passes = _topological_sort_passes(self.passes, self.constraints)
        self._validated = True

    def __call__(self, module: Module) -> PassResult:
        if not self._validated:
            self.solve_constraints()
        self.check(module)
        changed = False
        for _ in range(self.steps):
            modified = False
            for i, one in enumerate(self.passes):
                try:
                    module, now = self.run_pass(one, module)
                except Exception as error:
                    before = [*map(name_of, self.passes[:i])]
                    problem = (
                        f"An error occurred when running the '{name_of(one)}' pass after the following passes: {before}"
                    )
                    raise Exception(problem) from error  # noqa: TRY002  (as in PyTorch)
                modified |= now
            changed |= modified
            if not modified:
                break
        return PassResult(module, changed)

    def run_pass(self, one: Pass, module: Module) -> PassResult:
        result = one(module)
        if not hasattr(result, "graph_module"):
            hint = "Please wrap it with pass_result_wrapper()"
            raise TypeError(f"The result of the pass {name_of(one)} should be type PassResult.{hint}")
        if isinstance(result.graph_module, GraphModule):
            result.graph_module.recompile()
        if self.run_checks_after_each_pass:
            self.check(result.graph_module)
        return result
