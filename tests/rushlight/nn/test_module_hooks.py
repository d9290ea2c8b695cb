"""Hooks of all modules, hooks of state dicts, extra state, and what a module replaces or finds by name."""

import gc
import weakref
from collections import OrderedDict

import pytest
from both import agree, observe, outcome
from sweep import in_one_test


def net(xp):
    model = xp.nn.Sequential(xp.nn.Linear(2, 3), xp.nn.Sequential(xp.nn.ReLU(), xp.nn.Linear(3, 1)))
    with xp.no_grad():
        for parameter in model.parameters():
            parameter.fill_(0.25)
    return model


def names(model):
    return {module: name or "root" for name, module in model.named_modules()}


GLOBAL = ["forward_pre", "forward", "full_backward_pre", "full_backward"]


@pytest.mark.parametrize("own", [False, True])
@pytest.mark.parametrize("change", [False, True])
def test_hooks_of_all_modules_run_before_those_of_each_module(own, change):
    def program(xp):
        model, seen = net(xp), []
        known = names(model)

        def hook(kind, which):
            def run(module, *args):
                seen.append((kind, which, known[module], observe(args)))
                if change and "pre" in kind:
                    return tuple(arg * 2 for arg in args[0])
                return args[-1] * 2 if change and kind == "forward" else None

            return run

        registers = xp.nn.modules.module
        handles = [getattr(registers, f"register_module_{kind}_hook")(hook(kind, "all")) for kind in GLOBAL]
        if own:
            for kind in GLOBAL:
                getattr(model[1][1], f"register_{kind}_hook")(hook(kind, "own"))
        try:
            model(xp.ones(4, 2, requires_grad=True)).sum().backward()
        finally:
            for handle in handles:
                handle.remove()
        count = len(seen)
        model(xp.ones(4, 2))
        return seen, len(seen) - count

    agree(program)


def test_a_hook_of_all_modules_gets_the_arguments_by_name():
    def program(xp):
        class Add(xp.nn.Module):
            def forward(self, x, y):
                return x + y

        seen = []
        register = xp.nn.modules.module.register_module_forward_hook
        handle = register(lambda module, args, kwargs, result: seen.append((args, kwargs, result)), with_kwargs=True)
        Add()(xp.ones(2), y=1)
        handle.remove()
        Add()(xp.ones(2), y=1)
        return [(observe(args), sorted(kwargs), observe(result)) for args, kwargs, result in seen]

    agree(program)


def test_hooks_of_state_dicts():
    def program(xp):
        model, seen = net(xp), []
        known = names(model)
        for each in model.modules():
            each.register_state_dict_pre_hook(lambda module, prefix, keep: seen.append((known[module], prefix, keep)))
            each.register_state_dict_post_hook(
                lambda module, state, prefix, local: seen.append((known[module], sorted(state), prefix, sorted(local)))
            )
        model[1].register_state_dict_post_hook(
            lambda module, state, prefix, local: state.pop(prefix + "1.bias") and None
        )
        saved = sorted(model.state_dict(keep_vars=True))
        model.register_state_dict_post_hook(lambda module, state, prefix, local: state)
        return seen, saved, outcome(lambda xp: model.state_dict(), xp)

    agree(program)


STATES = {
    "its own": lambda state: state,
    "without it": lambda state: OrderedDict((key, value) for key, value in state.items() if "extra" not in key),
    "with another": lambda state: OrderedDict([*state.items(), ("1.tanh._extra_state", 3)]),
}


@pytest.mark.parametrize("strict", [True, False])
@pytest.mark.parametrize("state", STATES)
def test_extra_state(state, strict):
    def program(xp):
        class Counts(xp.nn.Module):
            def __init__(self):
                super().__init__()
                self.calls = 0

            def get_extra_state(self):
                return {"calls": self.calls}

            def set_extra_state(self, state):
                self.calls = state["calls"]

        def make():
            return xp.nn.Sequential(Counts(), xp.nn.Sequential(OrderedDict(tanh=xp.nn.Tanh())))

        one, other = make(), make()
        one[0].calls = 5
        saved = STATES[state](one.state_dict())
        result = outcome(lambda xp: repr(other.load_state_dict(saved, strict)), xp)
        return list(saved), other[0].calls, result

    agree(program)


FOUND = {
    "a submodule replaced": lambda xp, m: m.set_submodule("1.0", xp.nn.ReLU()),
    "a new one": lambda xp, m: m.set_submodule("1.new", xp.nn.ReLU()),
    "a new one, strictly": lambda xp, m: m.set_submodule("1.new", xp.nn.ReLU(), strict=True),
    "nothing": lambda xp, m: m.set_submodule("", xp.nn.ReLU()),
    "no module": lambda xp, m: m.set_submodule("1.0", 3),
    "over a parameter": lambda xp, m: m.set_submodule("0.weight", xp.nn.ReLU()),
    "a buffer": lambda xp, m: m.get_buffer("norm.running_mean"),
    "a parameter as a buffer": lambda xp, m: m.get_buffer("norm.weight"),
    "a missing buffer": lambda xp, m: m.get_buffer("norm.nothing"),
    "another type": lambda xp, m: [*map(str, {each.dtype for each in m.type(xp.float64).state_dict().values()})],
    "the cpu": lambda xp, m: str(m.cpu().get_parameter("0.weight").device),
}


@pytest.mark.parametrize("name", FOUND)
def test_modules_and_buffers_by_name(name):
    def program(xp):
        model = net(xp)
        model.norm = xp.nn.BatchNorm1d(1)
        return outcome(lambda xp: FOUND[name](xp, model), xp), repr(model)

    agree(program)


def test_a_removed_hook_leaves_no_entry_among_the_hooks_with_kwargs():
    def program(xp):
        model = xp.nn.Linear(2, 1)
        pre = model.register_forward_pre_hook(lambda module, args, kwargs: None, with_kwargs=True)
        post = model.register_forward_hook(lambda module, args, kwargs, result: None, with_kwargs=True)
        kept = len(model._forward_pre_hooks_with_kwargs), len(model._forward_hooks_with_kwargs)
        pre.remove()
        post.remove()
        return kept, len(model._forward_pre_hooks_with_kwargs), len(model._forward_hooks_with_kwargs)

    agree(program)


@in_one_test
@pytest.mark.parametrize("inputs_require_grad", [False, True])
@pytest.mark.parametrize("change", ["None", "(None,)", "(None, None)", "grad", "(grad,)", "[grad]", "grad[0]", "1"])
@pytest.mark.parametrize("kind", ["full_backward", "full_backward_pre"])
def test_backward_hooks_of_a_module_return_nothing_or_a_gradient_for_each_entry(kind, change, inputs_require_grad):
    def program(xp):
        x = xp.tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=inputs_require_grad)
        model = xp.nn.Linear(2, 2)
        with xp.no_grad():
            model.weight.fill_(0.5)
        grad = xp.tensor([[2.0, 3.0], [4.0, 5.0]])
        getattr(model, f"register_{kind}_hook")(lambda *_: eval(change, {"grad": grad}))
        model(x).sum().backward()
        return x.grad if inputs_require_grad else None, model.weight.grad

    agree(program)


@pytest.mark.parametrize("call_super_init", [False, True])
@pytest.mark.parametrize("order", ["before", "after"])
@pytest.mark.parametrize("args", [(), (1,)])
def test_a_module_initialises_the_next_class_if_it_is_asked_to(call_super_init, order, args):
    def program(xp):
        class Mixin:
            def __init__(self, *args):
                super().__init__()
                self.args = args

        bases = (Mixin, xp.nn.Module) if order == "before" else (xp.nn.Module, Mixin)
        both = type("Both", bases, {"call_super_init": call_super_init})(*args)
        return getattr(both, "args", None), both.training

    agree(program)


def test_loading_a_state_dict_leaves_no_reference_cycle():
    def program(xp):
        model, tensor = xp.nn.Linear(2, 1), xp.ones(1, 2)
        alive, state = weakref.ref(tensor), {"weight": tensor, "bias": xp.zeros(1)}
        gc.disable()
        try:
            model.load_state_dict(state)
            del tensor, state
            return alive() is None
        finally:
            gc.enable()

    agree(program)
