"""Both forms of a checkpoint, and their refusals, are torch's."""

import warnings
from importlib import import_module

import pytest
import torch
from both import agree, outcome

import rushlight as rl


def module(xp):
    return rl.utils.checkpoint if xp is rl else import_module("torch.utils.checkpoint")


def leaf(xp):
    return xp.tensor([0.5, 1.0], dtype=xp.float64).requires_grad_()


class Run:
    """A function of one or two tensors that notes when it runs, and its checkpoint."""

    def __init__(self, xp):
        self.xp, self.log = xp, []

    def part(self, x, y=None):
        self.log.append(self.xp.is_grad_enabled())
        x = (x * x).exp()
        self.log.append("middle")
        x = x.exp() * (1 if y is None else y)
        self.log.append("end")
        return x

    def call(self, *args, **options):
        return module(self.xp).checkpoint(self.part, *args, **options)


def shown(xp, run, *args, **options):
    """The gradients, the node, and when the function ran."""
    y = run.call(*args, **options)
    y.sum().backward()
    return [x.grad for x in args if x.is_leaf and x.requires_grad], y.grad_fn.name().rpartition("::")[2], list(run.log)


def both_forms(xp):
    constant = xp.ones(2, dtype=xp.float64)
    seen = [shown(xp, Run(xp), leaf(xp), leaf(xp), use_reentrant=form) for form in (True, False)]
    seen += [shown(xp, Run(xp), leaf(xp), constant, use_reentrant=form) for form in (True, False)]
    return [*seen, shown(xp, Run(xp), leaf(xp), use_reentrant=False, y=3.0)]


def what_only_the_form_with_hooks_can(xp):
    run, x = Run(xp), leaf(xp)
    (first,) = xp.autograd.grad(run.call(x, use_reentrant=False).sum(), x, create_graph=True)
    (second,) = xp.autograd.grad(first.sum(), x)
    y = run.call(x, use_reentrant=False).sum()
    y.backward(retain_graph=True)
    y.backward()
    nested = module(xp).checkpoint(lambda x: run.call(x * 2, use_reentrant=False) + x.exp(), x, use_reentrant=False)
    nested.sum().backward()
    results = module(xp).checkpoint(lambda x: {"a": x.exp(), "b": [x.sin()]}, x, use_reentrant=False)
    (results["a"] + results["b"][0]).sum().backward()
    with xp.no_grad():
        quiet = run.call(x, use_reentrant=False).requires_grad
    return first, second, x.grad, quiet, run.log


def it_stops_early(xp):
    seen = []
    for early in (True, False):
        run, x = Run(xp), leaf(xp)
        module(xp).checkpoint(
            lambda x, run=run: run.part(x) + 1, x, use_reentrant=False, early_stop=early
        ).sum().backward()
        seen.append(run.log)
    run, x = Run(xp), leaf(xp)
    with module(xp).set_checkpoint_early_stop(False):
        y = module(xp).checkpoint(lambda x: [run.part(x) + 1, run.log.append("last")][0], x, use_reentrant=False)
    y.sum().backward()
    return seen, run.log


def other_tensors_the_second_time(xp):
    seen = []
    for change in (
        lambda x, again: x * x.exp() if again else x * x, lambda x, again: x * x if again else (x * x * x).exp(),
        lambda x, again: x[again:].exp(), lambda x, again: x.float().exp() if again else x.exp(),
    ):  # fmt: skip
        for check in ("default", "none"):
            count = iter((0, 1))
            y = module(xp).checkpoint(
                lambda x, change=change, count=count: change(x, next(count)).sum(),
                leaf(xp), use_reentrant=False, determinism_check=check,
            )  # fmt: skip
            seen.append(raised(y.backward))
    return seen


def raised(call):
    try:
        return str(type(call()).__name__)
    except Exception as error:
        return type(error).__name__


def the_same_random_numbers(xp):
    seen = []
    for form in (True, False):
        x = leaf(xp)
        y = module(xp).checkpoint(lambda x: xp.nn.functional.dropout(x, 0.5) * x, x, use_reentrant=form)
        state = xp.get_rng_state()
        y.sum().backward()
        seen += [bool((x.grad * x == 2 * y).all()), bool((xp.get_rng_state() == state).all())]
    return seen


def contexts(xp):
    run = Run(xp)
    y = run.call(leaf(xp), use_reentrant=False, context_fn=lambda: (xp.no_grad(), xp.enable_grad()))
    return y.requires_grad, run.log


def a_sequence(xp):
    seen = []
    for form in (True, False):
        x = leaf(xp)
        parts = xp.nn.Sequential(xp.nn.Tanh(), xp.nn.Tanh(), xp.nn.Sigmoid(), xp.nn.Tanh(), xp.nn.Sigmoid())
        y = module(xp).checkpoint_sequential(parts, 2, x, use_reentrant=form)
        y.sum().backward()
        seen += [y.grad_fn.name().rpartition("::")[2], x.grad]
    return seen


def options_that_are_refused(xp):
    call = Run(xp).call
    return [
        raised(lambda: call(leaf(xp), use_reentrant=True, y=3)), raised(lambda: call(leaf(xp), use_reentrant=False, z=3)),
        raised(lambda: call(leaf(xp), use_reentrant=True, context_fn=lambda: None)),
        raised(lambda: call(leaf(xp), use_reentrant=False, determinism_check="some")),
        raised(lambda: xp.autograd.grad(call(x := leaf(xp), use_reentrant=True).sum(), x)),
    ]  # fmt: skip


def warnings_given(xp):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        Run(xp).call(leaf(xp))
        Run(xp).call(xp.ones(2), use_reentrant=True)
        module(xp).checkpoint_sequential([xp.nn.Tanh()], 1, leaf(xp))
    return [(each.category.__name__, "use_reentrant" in str(each.message)) for each in caught]


@pytest.mark.parametrize(
    "program",
    [
        both_forms, what_only_the_form_with_hooks_can, it_stops_early, other_tensors_the_second_time, the_same_random_numbers,
        contexts, a_sequence, options_that_are_refused,
    ],
)  # fmt: skip
def test_a_checkpoint_shows_what_it_shows_on_torch(program):
    program(torch)
    agree(program)


def test_a_checkpoint_warns_as_on_torch():
    assert warnings_given(rl) == warnings_given(torch)


def test_debugging_a_checkpoint_is_refused():
    assert outcome(lambda xp: Run(xp).call(leaf(xp), use_reentrant=False, debug=True), rl) == "ValueError"
