"""L-BFGS: steps along an approximation of Newton's direction, which is computed from the last differences of parameters and
gradients. In PyTorch: `torch/optim/lbfgs.py`. Left out: complex parameters, sparse gradients.
"""

from collections.abc import Callable, Iterable
from functools import partial
from typing import Any, NamedTuple

from rushlight.aten.generated import functions
from rushlight.aten.strided import Tensor
from rushlight.autograd.grad_mode import enable_grad, no_grad
from rushlight.optim.optimizer import Optimizer, check_settings

MEMORY = ("d", "t", "old_dirs", "old_stps", "ro", "H_diag", "prev_flat_grad", "prev_loss")  # kept between steps


class Point(NamedTuple):
    """A point on the line of a search: its distance from the start, the loss, the gradient, and its slope along the line."""

    t: Any
    loss: float
    grad: Tensor
    slope: Tensor


def cubic_minimum(a: Point, b: Point, bounds: tuple | None = None) -> Any:
    """Return the distance at which the cubic polynomial through two points is least, or the middle of the bounds if it has none.
    Source: `torch/optim/lbfgs.py`, `_cubic_interpolate`."""
    low, high = bounds or (min(a.t, b.t), max(a.t, b.t))
    bend = a.slope + b.slope - 3 * (a.loss - b.loss) / (a.t - b.t)
    square = bend**2 - a.slope * b.slope
    if not square >= 0:
        return (low + high) / 2.0
    first, last = (a, b) if a.t <= b.t else (b, a)
    part = (last.slope + square.sqrt() - bend) / (last.slope - first.slope + 2 * square.sqrt())
    return min(max(last.t - (last.t - first.t) * part, low), high)


def strong_wolfe(
    evaluate: Callable[[Any], Point], start: Point, t: Any, d: Tensor, max_iterations: int, tolerance: float = 1e-9
) -> tuple[Point, int]:
    """Find a point at which the loss is lower than at the start, and flatter: first bracket it, then shrink the bracket.

    Returns:
        the point, and how often the loss was evaluated.

    Source: `torch/optim/lbfgs.py`, `_strong_wolfe`.
    """
    largest, previous, point, count = d.abs().max(), start, evaluate(t), 0

    def is_too_high(point: Point) -> bool:
        return bool(point.loss > start.loss + 1e-4 * point.t * start.slope)

    def is_flat(point: Point) -> bool:
        return bool(abs(point.slope) <= -0.9 * start.slope)

    bracket = [start, point]
    while count < max_iterations:
        bracket = [previous, point]
        if is_too_high(point) or (count > 1 and point.loss >= previous.loss):
            break
        if is_flat(point):
            return point, count + 1
        if point.slope >= 0:
            break
        bounds = point.t + 0.01 * (point.t - previous.t), point.t * 10
        previous, point, count = point, evaluate(cubic_minimum(previous, point, bounds)), count + 1
        bracket = [start, point]
    low, is_stuck = int(bracket[0].loss > bracket[1].loss), False
    while count < max_iterations:
        near, far = sorted((point.t for point in bracket), key=float)
        if abs(far - near) * largest < tolerance:
            break
        t, margin = cubic_minimum(*bracket), 0.1 * (far - near)
        is_at_end = bool(min(far - t, t - near) < margin)
        if is_at_end and (is_stuck or t >= far or t <= near):
            t, is_at_end = far - margin if abs(t - far) < abs(t - near) else near + margin, False
        is_stuck = is_at_end
        point, count = evaluate(t), count + 1
        if is_too_high(point) or point.loss >= bracket[low].loss:
            bracket[1 - low] = point
            low = int(bracket[0].loss > bracket[1].loss)
            continue
        if not is_flat(point) and point.slope * (bracket[1 - low].t - bracket[low].t) >= 0:
            bracket[1 - low] = bracket[low]
        bracket[low] = point
        if is_flat(point):
            break
    return bracket[low], count + 1


class LBFGS(Optimizer):
    """`step` needs a closure, which it calls several times. There is one group, and all state is that of the first parameter.

    Raises:
        ValueError: several groups, or a negative learning rate.

    Source: `torch/optim/lbfgs.py`, `LBFGS`.
    """

    def __init__(
        self, params: Iterable, lr: float = 1, max_iter: int = 20, max_eval: int | None = None, tolerance_grad: float = 1e-7,
        tolerance_change: float = 1e-9, history_size: int = 100, line_search_fn: str | None = None,
    ) -> None:  # fmt: skip
        check_settings(lr=lr)
        limits = {"max_iter": max_iter, "max_eval": max_iter * 5 // 4 if max_eval is None else max_eval}
        tolerances = {"tolerance_grad": tolerance_grad, "tolerance_change": tolerance_change}
        defaults = {"lr": lr, **limits, **tolerances, "history_size": history_size, "line_search_fn": line_search_fn}
        super().__init__(params, defaults)
        if len(self.param_groups) != 1:
            raise ValueError("LBFGS doesn't support per-parameter options (parameter groups)")
        self._params = self.param_groups[0]["params"]

    def _flat_grad(self) -> Tensor:
        return functions.cat(
            [functions.zeros_like(p).view(-1) if p.grad is None else p.grad.view(-1) for p in self._params]
        )

    def _move(self, distance: Any, direction: Tensor) -> None:
        for param, part in zip(self._params, direction.split([param.numel() for param in self._params])):
            param.add_(part.view_as(param), alpha=distance)

    @no_grad()
    def step(self, closure: Callable[[], Any]) -> Any:
        closure, group, state = enable_grad()(closure), self.param_groups[0], self.state[self._params[0]]
        lr = group["lr"].squeeze() if isinstance(group["lr"], Tensor) else group["lr"]
        state.setdefault("func_evals", 0)
        state.setdefault("n_iter", 0)
        first_loss = closure()
        loss, grad, evaluations = float(first_loss), self._flat_grad(), 1
        state["func_evals"] += 1
        if grad.abs().max() <= group["tolerance_grad"]:
            return first_loss
        memory = {name: state.get(name) for name in MEMORY}
        for iteration in range(1, group["max_iter"] + 1):
            state["n_iter"] += 1
            if state["n_iter"] > 1:
                memory["al"] = state.setdefault("al", [None] * group["history_size"])
            d = memory["d"] = _direction(grad, memory, group["history_size"])
            t = min(1.0, 1.0 / grad.abs().sum()) * lr if state["n_iter"] == 1 else lr
            slope, count = grad.dot(d), 0
            memory.update(t=t, prev_flat_grad=grad, prev_loss=loss)
            if slope > -group["tolerance_change"]:
                break
            if group["line_search_fn"] is not None:
                if group["line_search_fn"] != "strong_wolfe":
                    raise RuntimeError("only 'strong_wolfe' is supported")
                start, limit = Point(0, loss, grad, slope), group["max_eval"] - evaluations
                (t, loss, grad, _), count = strong_wolfe(partial(self._evaluate, closure, d), start, t, d, limit)
            self._move(t, d)
            if group["line_search_fn"] is None and iteration < group["max_iter"]:
                loss, grad, count = float(closure()), self._flat_grad(), 1
            memory["t"] = t
            evaluations += count
            state["func_evals"] += count
            if evaluations >= group["max_eval"] or grad.abs().max() <= group["tolerance_grad"]:
                break
            change = group["tolerance_change"]
            if d.mul(t).abs().max() <= change or abs(loss - memory["prev_loss"]) < change:
                break
        state.update({name: memory[name] for name in MEMORY})
        return first_loss

    def _evaluate(self, closure: Callable[[], Any], d: Tensor, t: Any) -> Point:
        values = [param.clone() for param in self._params]
        self._move(t, d)
        loss, grad = float(closure()), self._flat_grad()
        for param, value in zip(self._params, values):
            param.copy_(value)
        return Point(t, loss, grad, grad.dot(d))


def _direction(grad: Tensor, memory: dict[str, Any], history_size: int) -> Tensor:
    """Return the negative gradient times the approximation of the inverse Hessian."""
    if memory["prev_flat_grad"] is None:
        memory.update(old_dirs=[], old_stps=[], ro=[], H_diag=1)
        return grad.neg()
    difference, step = grad.sub(memory["prev_flat_grad"]), memory["d"].mul(memory["t"])
    product = difference.dot(step)
    if product > 1e-10:
        for name, value in (("old_dirs", difference), ("old_stps", step), ("ro", 1.0 / product)):
            memory[name] = [*memory[name], value][-history_size:]
        memory["H_diag"] = product / difference.dot(difference)
    d, factors, pairs = grad.neg(), memory["al"], [*zip(*(memory[name] for name in ("old_dirs", "old_stps", "ro")))]
    for i, (difference, step, scale) in reversed([*enumerate(pairs)]):
        factors[i] = step.dot(d) * scale
        d.add_(difference, alpha=-factors[i])
    d = d.mul(memory["H_diag"])
    for i, (difference, step, scale) in enumerate(pairs):
        d.add_(step, alpha=factors[i] - difference.dot(d) * scale)
    return d
