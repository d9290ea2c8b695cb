"""Do programs do what they do on torch? Sequences of 3 to 8 steps, drawn by Hypothesis and run on both frameworks.

A step is a view, a write in place, an operator, a mode, a detached or a custom function, a hook or a backward pass. After each
step the outcome is compared; at the end of a program, for each tensor, its elements and metadata, its version counter, what
autograd knows of it, its base, its node and the graph behind it, and what the hooks saw. An error must have torch's type.

    python bench/programs.py --count 1000 --seed 3
"""

from __future__ import annotations

import argparse
import copy
import warnings
from importlib import import_module
from typing import Any

import torch
from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st

import rushlight as rl

FRAMEWORKS = (rl, torch)


def function(xp, name, forward, backward, materialize=True):
    def run(ctx, *args):
        ctx.set_materialize_grads(materialize)
        return forward(ctx, *args)

    return type(name, (xp.autograd.Function,), {"forward": staticmethod(run), "backward": staticmethod(backward)}).apply


def dirty(ctx, x):
    ctx.mark_dirty(x)
    return x.mul_(3)


def dirty_and_more(ctx, x):
    ctx.mark_dirty(x)
    return x.mul_(3), x * 2


def saving(ctx, x):
    y = x.exp()
    ctx.save_for_backward(x, y)
    return y


def saved_gradient(ctx, g):
    x, y = ctx.saved_tensors
    return g * y + 0 * x


def returned_twice(ctx, x):
    y = x * 2
    return y, y


def not_differentiable(ctx, x):
    y = x * 2
    ctx.mark_non_differentiable(y)
    return y, x * 4


def recorded_inside(ctx, x):
    with (rl if isinstance(x, rl.Tensor) else torch).enable_grad():
        return x * 5


def checkpoint(xp):
    return rl.utils.checkpoint.checkpoint if xp is rl else import_module("torch.utils.checkpoint").checkpoint


def gradients(xp, x, second=False, **options):
    """The gradients of a tensor with respect to the tensor that it came from."""
    source = x if x.grad_fn is None else x.grad_fn.next_functions[0][0].variable
    first = xp.autograd.grad(x.sum(), source, create_graph=True, **options)
    return xp.autograd.grad(first[0].sum(), source) if second else first


def some(*grads):
    grads = [grad for grad in grads if grad is not None]
    return sum(grads) if grads else None


def square(x):
    """A matrix, so that most views exist."""
    return x if x.dim() == 2 else x.reshape(-1, 1)


VIEWS = {
    "t": lambda xp, x: x.t(), "first": lambda xp, x: x[0], "flat": lambda xp, x: x.view(-1), "tail": lambda xp, x: x[1:],
    "unsqueeze": lambda xp, x: x.unsqueeze(0), "expand": lambda xp, x: x.expand(2, *x.shape),
    "squeeze": lambda xp, x: x.squeeze(),
    "unbind": lambda xp, x: x.unbind(0), "split": lambda xp, x: x.split(1), "chunk": lambda xp, x: x.chunk(2, -1),
    "diagonal": lambda xp, x: x.diagonal(), "reshape": lambda xp, x: x.reshape(-1),
    "retained": lambda xp, x: retained(x.view(-1)), "retained row": lambda xp, x: retained(x[0]),
    "strided": lambda xp, x: x.as_strided((2,), (2,), 1),
    "detach": lambda xp, x: x.detach(), "data": lambda xp, x: x.data, "view_as": lambda xp, x: x.view_as(x),
    "unfold": lambda xp, x: x.unfold(0, 2, 1), "contiguous": lambda xp, x: x.contiguous(), "every": lambda xp, x: x[..., ::2],
    "narrow": lambda xp, x: x.narrow(0, 0, 1), "same": lambda xp, x: x.to(xp.float64),
    "movedim": lambda xp, x: x.movedim(0, -1),
    "flatten": lambda xp, x: x.flatten(), "last": lambda xp, x: x[-1:], "masked": lambda xp, x: x[x > 0],
    "rows": lambda xp, x: x[[0]],
}  # fmt: skip
FUNCTIONS = {
    "double": lambda xp, x: x * 2, "exp": lambda xp, x: x.exp(), "sum": lambda xp, x: x.sum(), "clone": lambda xp, x: x.clone(),
    "max": lambda xp, x: x.max(0), "argmax": lambda xp, x: x.argmax(), "sigmoid": lambda xp, x: x.sigmoid(),
    "neg": lambda xp, x: -x,
    "softmax": lambda xp, x: x.softmax(-1), "float": lambda xp, x: x.float(),
    "cumsum": lambda xp, x: x.cumsum(0), "compare": lambda xp, x: x > 0, "zeros": lambda xp, x: xp.zeros_like(x),
    "deepcopy": lambda xp, x: x.clone() if xp.is_inference_mode_enabled() else copy.deepcopy(x),
}  # fmt: skip
BINARY = {
    "add": lambda xp, x, y: x + y, "mul": lambda xp, x, y: x * y, "matmul": lambda xp, x, y: square(x) @ square(y).t(),
    "where": lambda xp, x, y: xp.where(x > y, x, y), "cat": lambda xp, x, y: xp.cat([x.flatten(), y.flatten()]),
    "stack": lambda xp, x, y: xp.stack([x, x, y] if x.shape == y.shape else [x, x]),
    "cat of views": lambda xp, x, y: xp.cat([(v := x.view(-1)), v, x.view(-1), y.view(-1)]),
    "cat of one": lambda xp, x, y: xp.cat([x]), "stack of views": lambda xp, x, y: xp.stack([x[:1], x[:1].detach()]),
}  # fmt: skip
CUSTOM = {
    "identity": lambda xp, x: function(xp, "Identity", lambda ctx, x: x, lambda ctx, g: g * 2)(x),
    "own view": lambda xp, x: function(xp, "View", lambda ctx, x: x.view(-1), lambda ctx, g: g.reshape(x.shape))(x),
    "two views": lambda xp, x: function(xp, "Two", lambda ctx, x: (x[:1], x[:]), lambda ctx, g, h: h)(x),
    "dirty": lambda xp, x: function(xp, "Dirty", dirty, lambda ctx, g: g * 3)(x),
    "dirty and more": lambda xp, x: function(xp, "Both", dirty_and_more, lambda ctx, g, h: some(g, h), False)(x),
    "saving": lambda xp, x: function(xp, "Saving", saving, saved_gradient)(x),
    "marked": lambda xp, x: function(xp, "Marked", not_differentiable, lambda ctx, g, h: h, False)(x),
    "marked itself": lambda xp, x: function(xp, "Itself", lambda ctx, x: ctx.mark_non_differentiable(x) or x, lambda ctx, g: g)(x),
    "no gradient": lambda xp, x: function(xp, "Stop", lambda ctx, x: x * 1, lambda ctx, g: None)(x),
    "checkpoint": lambda xp, x: checkpoint(xp)(lambda x: x.exp() * x, x, use_reentrant=False),
    "checkpoint, re-entrant": lambda xp, x: checkpoint(xp)(lambda x: x.sigmoid() * x, x, use_reentrant=True),
    "checkpoint of a view": lambda xp, x: checkpoint(xp)(lambda x: x.view(-1), x, use_reentrant=True),
    "returned twice": lambda xp, x: function(xp, "Same", returned_twice, lambda ctx, g, h: some(g, h), False)(x),
    "recorded inside": lambda xp, x: function(xp, "Inside", recorded_inside, lambda ctx, g: g)(x),
    "hooked module": lambda xp, x: hooked(xp)(x),
}  # fmt: skip
WRITES = {
    "mul_": lambda xp, x, y: x.mul_(2), "add_": lambda xp, x, y: x.add_(apart(x, y)),
    "copy_": lambda xp, x, y: x.copy_(apart(x, y)),
    "exp_": lambda xp, x, y: x.sigmoid_(), "zero_": lambda xp, x, y: x.zero_(),
    "set row": lambda xp, x, y: x.__setitem__(0, xp.tensor(5.0)),
    "set part": lambda xp, x, y: x.__setitem__((..., 0), apart(x, y).sum().to(x.dtype)), "fill_": lambda xp, x, y: x.fill_(1.5),
    "relu_": lambda xp, x, y: x.relu_(), "t_": lambda xp, x, y: x.t_(), "unsqueeze_": lambda xp, x, y: x.unsqueeze_(0),
    "squeeze_": lambda xp, x, y: x.squeeze_(), "resize_": lambda xp, x, y: x.resize_(x.shape),
    "out": lambda xp, x, y: xp.mul(apart(x, y) if x.shape == y.shape else apart(x, x), 2, out=x),
    "masked_fill_": lambda xp, x, y: x.masked_fill_(x > 1, 0.5),
    "index_put_": lambda xp, x, y: x.__setitem__([0], 2.5), "+=": lambda xp, x, y: x.__iadd__(1),
    "data =": lambda xp, x, y: x.is_inference() and not y.is_inference() or setattr(x, "data", y),
    "cat out": lambda xp, x, y: xp.cat([apart(x, y).detach().flatten()[:1]] * x.numel(), out=x.view(-1)) is None,
    "stack out": lambda xp, x, y: xp.stack([apart(x, y).detach().sum()] * x.numel(), out=x.view(-1)) is None,
    "require": lambda xp, x, y: x.requires_grad_(),
    "do not require": lambda xp, x, y: x.requires_grad_(False), "grad =": lambda xp, x, y: setattr(x, "grad", (y * 1).detach()),
    "as_strided_": lambda xp, x, y: x.as_strided_((2,), (1,)), "data.add_": lambda xp, x, y: x.data.add_(1) and None,
}  # fmt: skip
HOOKS = {
    "retain": lambda xp, x, log: x.retain_grad(),
    "hook": lambda xp, x, log: x.register_hook(lambda grad: log.append(plain(grad))),
    "doubling hook": lambda xp, x, log: x.register_hook(lambda grad: grad * 2),
    "accumulated": lambda xp, x, log: x.register_post_accumulate_grad_hook(lambda x: log.append(plain(x.grad))),
    "prehook": lambda xp, x, log: x.grad_fn.register_prehook(lambda grads: log.append([plain(grad) for grad in grads])),
    "node hook": lambda xp, x, log: x.grad_fn.register_hook(
        lambda new, old, edges=x.grad_fn.next_functions: log.append(
            [plain(g) for g, (node, _) in zip(new, edges) if node]
        )
    ),
    "backward": lambda xp, x, log: x.sum().backward(retain_graph=True),
    "backward once": lambda xp, x, log: x.sum().backward(),
    "backward of a graph": lambda xp, x, log: x.sum().backward(create_graph=True),
    "grad": lambda xp, x, log: log.append([plain(grad) for grad in gradients(xp, x, allow_unused=True)]),
    "used grad": lambda xp, x, log: log.append([plain(grad) for grad in gradients(xp, x)]),
    "second grad": lambda xp, x, log: log.append([plain(grad) for grad in gradients(xp, x * x, True)]),
    "writing hook": lambda xp, x, log: x.register_hook(silent(lambda grad: grad.mul_(2))),
    "writing prehook": lambda xp, x, log: x.grad_fn.register_prehook(
        silent(lambda grads: [grad.mul_(2) for grad in grads if grad is not None])
    ),
    "writing node hook": lambda xp, x, log: x.grad_fn.register_hook(
        silent(
            lambda new, old, edges=x.grad_fn.next_functions: [
                g.add_(1) for g, (node, _) in zip(new, edges) if node and g is not None
            ]
        )
    ),
    "writing after": lambda xp, x, log: x.register_post_accumulate_grad_hook(silent(lambda x: x.grad.mul_(3))),
    "descent": lambda xp, x, log: x.register_post_accumulate_grad_hook(silent(lambda x: x.data.sub_(x.grad))),
    "removed hook": lambda xp, x, log: x.register_hook(lambda grad: grad * 7).remove(),
    "bad hook": lambda xp, x, log: x.register_hook(lambda grad: grad.sum(0)),
    "zero": lambda xp, x, log: setattr(x, "grad", None),
}
MODES = ("", "", "", "", "", "no_grad", "no_grad", "enable_grad", "inference_mode", "hooks", "copying hooks")


def retained(x):
    x.retain_grad()
    return x


def silent(write):
    """A hook that writes and returns nothing."""

    def hook(*args):
        write(*args)

    return hook


def hooked(xp):
    module = xp.nn.Identity()
    module.register_full_backward_hook(lambda module, new, old: None)
    return module


def apart(x, y):
    """A value to write, never in the memory that is written to."""
    return y * 1 if x.untyped_storage().data_ptr() == y.untyped_storage().data_ptr() else y


def plain(x: Any) -> Any:
    return (
        x
        if not hasattr(x, "stride")
        else [tuple(x.shape), [float(f"{number:.5g}") for number in x.detach().flatten().tolist()]]
    )


def attempt(call) -> Any:
    try:
        return call()
    except Exception as error:
        return type(error).__name__


class Program:
    """One run on one framework: the tensors so far, and what was seen."""

    def __init__(self, xp) -> None:
        self.xp, self.log = xp, []
        self.of_inference = []  # normal results of inference tensors: on torch, kernels count writes to them, and record views
        view = (xp.arange(4).to(xp.float64) / 4 + 0.5).reshape(2, 2)
        leaf = view.clone().requires_grad_()
        self.values = [leaf, view * 2 - 0.5, leaf[0] * 3, view.requires_grad_()]

    def step(self, name: str, mode: str, i: int, j: int) -> Any:
        """Run a step in a mode. Its results join the values."""
        xp, x, y = self.xp, self.values[i % len(self.values)], self.values[j % len(self.values)]
        if mode.endswith("hooks"):
            copies = mode != "hooks"
            block = xp.autograd.graph.saved_tensors_hooks(lambda x: x.detach().clone() if copies else x, lambda x: x)
        else:
            block = getattr(xp, mode or "set_grad_enabled")(*([] if mode else [True]))
        with block:
            if name in BINARY:
                result = BINARY[name](xp, x, y)
            elif name in WRITES:
                result = WRITES[name](xp, x, y)
                return result is x or result is None or "another tensor"
            elif name in HOOKS:
                x.grad_fn  # raises if the node of a view cannot be made again; torch crashes if a hook is registered then  # noqa: B018
                result = HOOKS[name](xp, x, self.log)
                return "done"
            else:
                result = (VIEWS | FUNCTIONS | CUSTOM)[name](xp, x)
        results = [tensor for tensor in (result if isinstance(result, (list, tuple)) else [result])]
        places = [next((k for k, value in enumerate(self.values) if value is tensor), None) for tensor in results]
        self.values += [tensor for tensor, place in zip(results, places) if place is None]
        if any(each.is_inference() or any(each is known for known in self.of_inference) for each in (x, y)):
            self.of_inference += results
        return places

    def place(self, x: Any) -> Any:
        return next((k for k, value in enumerate(self.values) if value is x), "another tensor")

    def shown(self) -> list:
        """Observe each tensor, and the graph."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return [
                {name: attempt(lambda x=x, look=look: look(self, x)) for name, look in LOOKS.items()}
                for x in self.values
            ]

    def graph(self, x: Any) -> list:
        order, waiting = [], [x.grad_fn]
        while waiting:
            node = waiting.pop(0)
            if node is not None and not any(node is known for known in order):
                order.append(node)
                waiting += [successor for successor, _ in node.next_functions]
        number = {id(node): k for k, node in enumerate(order)}
        return [
            (node.name().rpartition("::")[2], [(number.get(id(n)), i) for n, i in node.next_functions])
            for node in order
        ]


LOOKS = {
    "requires_grad": lambda self, x: x.requires_grad, "grad_fn": lambda self, x: self.graph(x),
    "is_leaf": lambda self, x: x.is_leaf, "output_nr": lambda self, x: x.output_nr,
    "version": lambda self, x: x.is_inference() or any(x is known for known in self.of_inference) or x._version,
    "is_view": lambda self, x: any(x is known for known in self.of_inference) or x._is_view(),
    "base": lambda self, x: any(x is known for known in self.of_inference) or x._base is not None and self.place(x._base),
    "is_inference": lambda self, x: x.is_inference(), "retains_grad": lambda self, x: x.retains_grad,
    "metadata": lambda self, x: [tuple(x.shape), x.stride(), x.storage_offset(), str(x.dtype).rpartition(".")[2]],
    "elements": lambda self, x: plain(x), "grad": lambda self, x: x.grad is not None and plain(x.grad),
    "numpy": lambda self, x: x.numpy() is not None,
}  # fmt: skip


def run(xp, steps) -> list:
    """Observe a program: the outcome of each step, then its tensors, before and after a backward pass."""
    program, seen = Program(xp), []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for each in steps:
            seen.append(attempt(lambda each=each: program.step(*each)))
        seen.append(program.shown())
        seen.append([attempt(lambda x=x: x.sum().backward()) for x in program.values])
        seen.append(program.shown())
    return [*seen, program.log]


NAMES = [*VIEWS, *VIEWS, *FUNCTIONS, *BINARY, *CUSTOM, *WRITES, *WRITES, *HOOKS]
index = st.integers(0, 7)
programs = st.lists(st.tuples(st.sampled_from(NAMES), st.sampled_from(MODES), index, index), min_size=3, max_size=8)


def difference(ours: Any, theirs: Any, path: str = "") -> list[str]:
    """Where two observations differ."""
    if isinstance(ours, dict) and isinstance(theirs, dict):
        return [line for key in ours for line in difference(ours[key], theirs[key], f"{path}.{key}")]
    if isinstance(ours, list) and isinstance(theirs, list) and len(ours) == len(theirs):
        return [line for k, (a, b) in enumerate(zip(ours, theirs)) for line in difference(a, b, f"{path}[{k}]")]
    return [] if ours == theirs else [f"{path}: rushlight {ours}, torch {theirs}"]


def agree(steps) -> None:
    ours, theirs = (run(xp, steps) for xp in FRAMEWORKS)
    different = difference(ours, theirs)
    assert not different, "\n".join([str(steps), *different[:12]])


def draw(count: int, number: int) -> None:
    """Draw programs until one differs, and shrink it."""

    @seed(number)
    @settings(
        max_examples=count,
        deadline=None,
        database=None,
        suppress_health_check=[*HealthCheck],
        phases=[Phase.generate, Phase.shrink],
    )
    @given(programs)
    def drawn(steps):
        agree(steps)

    drawn()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    draw(options.count, options.seed)
    print(f"{options.count} programs agree")
