"""Optimisers agree with torch: step by step, in what they remember, save, load and refuse."""

import contextlib
import copy
import importlib
import inspect
import pickle
import warnings

import numpy as np
import pytest
import torch
from both import FRAMEWORKS, agree, outcome
from hypothesis import given
from hypothesis import strategies as st
from sweep import in_one_test

import rushlight as rl
from rushlight.c10 import fast_paths

SIZES = [(3, 4), (5,), (), (2, 0)]
NUMBERS = np.random.default_rng(0).standard_normal(400)


def parameters(xp, dtype="float64", sizes=SIZES):
    params, start = [], 0
    for size in sizes:
        count = int(np.prod(size))
        array = NUMBERS[start : start + count].reshape(size).astype(dtype)
        params.append(xp.from_numpy(np.array(array)).requires_grad_())
        start += count
    return params


def give_gradients(xp, params, step, skip=None):
    for i, param in enumerate(params):
        values = np.array(np.sin(np.arange(param.numel()) * 1.7 + step + i).reshape(tuple(param.shape)))
        param.grad = None if i == skip else xp.from_numpy(values).to(param.dtype)


def plain(value):
    """A state dict, or part of one, as plain data: tensors as dtype and elements."""
    if isinstance(value, rl.Tensor | torch.Tensor):
        return str(value.dtype).rpartition(".")[2], value.tolist()
    if isinstance(value, dict):
        return {key: plain(each) for key, each in value.items()}
    if isinstance(value, (list, tuple)):
        return type(value)(plain(each) for each in value)
    return value


def assert_close(ours, theirs, tolerance):
    """The same structure, and the same numbers to a relative tolerance."""
    assert type(ours) is type(theirs)
    if isinstance(ours, dict):
        assert list(ours) == list(theirs)
        for key in ours:
            assert_close(ours[key], theirs[key], tolerance)
    elif isinstance(ours, (list, tuple)):
        assert len(ours) == len(theirs)
        for our, their in zip(ours, theirs):
            assert_close(our, their, tolerance)
    elif isinstance(ours, float):
        assert ours == pytest.approx(theirs, rel=tolerance, abs=tolerance)
    else:
        assert ours == theirs


def run(xp, make, dtype="float64", steps=6, skip=None):
    params = parameters(xp, dtype)
    optimizer = make(xp.optim, params)
    for step in range(steps):
        give_gradients(xp, params, step, skip if step < 2 else None)
        optimizer.step()
    return plain([params, optimizer.state_dict()])


def in_lockstep(make, **options):
    dtype = options.get("dtype", "float64")
    ours, theirs = (run(xp, make, **options) for xp in FRAMEWORKS)
    assert_close(ours, theirs, 1e-6 if dtype == "float32" else 1e-12)


settings_of_sgd = st.fixed_dictionaries(
    {"lr": st.sampled_from([0.1, 0, 1, 0.003])},
    optional={
        "momentum": st.sampled_from([0, 0.9, 0.5, 1]),
        "dampening": st.sampled_from([0, 0.1, 1]),
        "weight_decay": st.sampled_from([0, 0.1, 1e-4]),
        "nesterov": st.booleans(),
        "maximize": st.booleans(),
    },
)
settings_of_adam = st.fixed_dictionaries(
    {"lr": st.sampled_from([0.1, 0, 1, 0.003])},
    optional={
        "betas": st.sampled_from([(0.9, 0.999), (0.5, 0.9), (0.0, 0.0), [0.9, 0.99]]),
        "eps": st.sampled_from([1e-8, 0.1, 1e-3]),
        "weight_decay": st.sampled_from([0, 0.1, 1e-4]),
        "amsgrad": st.booleans(),
        "maximize": st.booleans(),
    },
)


def valid(settings):
    return not settings.get("nesterov") or (settings.get("momentum") and not settings.get("dampening"))


@given(settings_of_sgd.filter(valid), st.sampled_from(["float32", "float64"]), st.sampled_from([None, 0, 2]))
def test_sgd_is_in_lockstep_with_torch(settings, dtype, skip):
    in_lockstep(lambda optim, params: optim.SGD(params, **settings), dtype=dtype, skip=skip)


@given(settings_of_adam, st.sampled_from(["Adam", "AdamW"]), st.sampled_from(["float32", "float64"]))
def test_adam_and_adamw_are_in_lockstep_with_torch(settings, name, dtype):
    in_lockstep(lambda optim, params: getattr(optim, name)(params, **settings), dtype=dtype, skip=1)


RULES = {
    "Adadelta": [{"rho": 0.5, "eps": 0.1}, {"rho": 1.5}],
    "Adagrad": [{"lr_decay": 0.1, "initial_accumulator_value": 0.5, "eps": 0.1}],
    "RMSprop": [{"centered": True, "alpha": 0.5}, {"momentum": 0.9, "eps": 0.1}],
}


@pytest.mark.parametrize("name", ["SGD", "Adam", "AdamW", *RULES])
def test_the_defaults_are_those_of_torch(name):
    assert getattr(rl.optim, name)(parameters(rl)).defaults == getattr(torch.optim, name)(parameters(torch)).defaults
    in_lockstep(lambda optim, params: getattr(optim, name)(params), steps=20)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("name", RULES)
def test_other_optimizers_are_in_lockstep_with_torch(name, dtype):
    parameters_of = [list(inspect.signature(getattr(xp.optim, name)).parameters) for xp in FRAMEWORKS]
    assert parameters_of[0] == parameters_of[1]
    decay = [{"weight_decay": 0.1}] * ("weight_decay" in parameters_of[0])
    for settings in [{"maximize": True}, {"lr": -1}, *decay, *RULES[name]]:

        def make(optim, params, settings=settings):
            return getattr(optim, name)(params, **settings)

        try:
            run(torch, make)
        except ValueError:
            with pytest.raises(ValueError):
                run(rl, make)
        else:
            in_lockstep(make, dtype=dtype, skip=1, steps=8)


def test_gradients_are_left_alone_and_the_first_buffer_shares_no_memory_with_them():
    for name, settings in (("SGD", {"momentum": 0.9}), ("SGD", {"maximize": True}), ("Adam", {"weight_decay": 0.1})):
        params = parameters(rl)
        optimizer = getattr(rl.optim, name)(params, **settings)
        for step in range(3):
            give_gradients(rl, params, step)
            before = [param.grad.clone() for param in params]
            optimizer.step()
            assert all(rl.equal(param.grad, old) for param, old in zip(params, before))


def test_a_step_is_not_recorded_and_counts_as_a_change():
    def program(xp):
        (param,) = parameters(xp, sizes=[(3,)])
        loss = (param * param).sum()
        loss.backward()
        optimizer = xp.optim.SGD([param], lr=0.1)
        kept = (param * param).sum()
        optimizer.step()
        try:
            kept.backward()
            raised = None
        except RuntimeError:
            raised = "RuntimeError"
        return [param.grad_fn, param.requires_grad, param.is_leaf, raised]

    agree(program)


@in_one_test
@pytest.mark.parametrize(
    "program",
    [
        lambda xp, p: xp.optim.SGD(p[0]),
        lambda xp, p: xp.optim.SGD([]),
        lambda xp, p: xp.optim.SGD([{"params": []}]).param_groups,
        lambda xp, p: xp.optim.SGD([p[0], 3]),
        lambda xp, p: xp.optim.SGD(["weight"]),
        lambda xp, p: xp.optim.SGD({"weight": p[0]}),
        lambda xp, p: xp.optim.SGD([{"params": {p[0]}}]),
        lambda xp, p: xp.optim.SGD([{"lr": 1}]),
        lambda xp, p: xp.optim.SGD([{"params": [p[0]]}, {"params": p[0]}]),
        lambda xp, p: xp.optim.SGD([{"params": [p[0]]}, {"params": [p[1], p[0]]}]),
        lambda xp, p: xp.optim.SGD([{"params": [p[0]]}, [p[1]]]),
        lambda xp, p: xp.optim.SGD([p[0] * 2]),
        lambda xp, p: xp.optim.SGD([p[0].detach()]).param_groups[0]["lr"],
        lambda xp, p: xp.optim.SGD(p, lr=-1),
        lambda xp, p: xp.optim.SGD(p, momentum=-0.1),
        lambda xp, p: xp.optim.SGD(p, weight_decay=-1),
        lambda xp, p: xp.optim.SGD(p, dampening=-1).defaults["dampening"],
        lambda xp, p: xp.optim.SGD(p, nesterov=True),
        lambda xp, p: xp.optim.SGD(p, nesterov=True, momentum=0.9, dampening=0.1),
        lambda xp, p: xp.optim.SGD(p, beta=1),
        lambda xp, p: xp.optim.SGD(p, lr=float("nan")).defaults["momentum"],
        lambda xp, p: xp.optim.Adam(p, lr=-1),
        lambda xp, p: xp.optim.Adam(p, lr=float("nan")),
        lambda xp, p: xp.optim.Adam(p, eps=-1),
        lambda xp, p: xp.optim.Adam(p, betas=(1.0, 0.9)),
        lambda xp, p: xp.optim.Adam(p, betas=(0.9, -0.1)),
        lambda xp, p: xp.optim.Adam(p, betas=(0, 0.9)),
        lambda xp, p: xp.optim.Adam(p, weight_decay=-1),
        lambda xp, p: xp.optim.AdamW(p, decoupled_weight_decay=False),
        lambda xp, p: xp.optim.Adam(p, fused=True, foreach=True),
        lambda xp, p: xp.optim.SGD(p, fused=True, foreach=False).defaults["fused"],
        lambda xp, p: xp.optim.RMSprop(p, alpha=-1),
        lambda xp, p: xp.optim.RMSprop(p, momentum=-1),
        lambda xp, p: xp.optim.Adagrad(p, lr_decay=-1),
        lambda xp, p: xp.optim.Adagrad(p, initial_accumulator_value=-1),
        lambda xp, p: xp.optim.Optimizer(p, {}).step(),
        lambda xp, p: xp.optim.SGD(p).add_param_group([p[0]]),
        lambda xp, p: xp.optim.SGD(p).add_param_group({"params": p[0]}),
    ],
)
def test_what_is_refused_is_what_torch_refuses(program):
    def run(xp):
        result = program(xp, parameters(xp))
        return result if not isinstance(result, xp.optim.Optimizer) else "an optimizer"

    agree(run)


def test_a_tensor_that_retains_its_gradient_can_be_optimized():
    def program(xp):
        (leaf,) = parameters(xp, sizes=[(3,)])
        middle = leaf * 2
        middle.retain_grad()
        xp.optim.SGD([middle], lr=0.1)
        return "no error"

    agree(program)


def test_a_refused_group_leaves_the_optimizer_as_it_was():
    def program(xp):
        params = parameters(xp)
        optimizer = xp.optim.SGD(params[:2], lr=0.1)
        for wrong in ({"params": [params[2], params[0]]}, {"params": [params[2] * 2]}, {"params": {params[2]}}):
            with contextlib.suppress(TypeError, ValueError):
                optimizer.add_param_group(wrong)
        return [len(optimizer.param_groups), len(optimizer.param_groups[0]["params"])]

    agree(program)


def test_groups_have_the_settings_they_give_and_the_defaults_for_the_rest():
    def program(xp):
        params = parameters(xp)
        group = {"params": iter(params[1:3]), "lr": 0.5, "note": "mine"}
        optimizer = xp.optim.SGD([{"params": params[0], "momentum": 0.9}, group], lr=0.1)
        assert optimizer.param_groups[1] is group
        groups = [{**each, "params": len(each["params"])} for each in optimizer.param_groups]
        return [sorted(each.items()) for each in groups]

    agree(program)


def test_each_group_is_changed_by_its_own_settings():
    def make(optim, params):
        groups = [{"params": params[:1], "lr": 1.0}, {"params": params[1:], "momentum": 0.9}]
        return optim.SGD(groups, lr=0.1)

    in_lockstep(make)


def test_a_parameter_twice_in_a_group_is_a_warning_and_is_changed_twice():
    def program(xp):
        (a, b) = parameters(xp, sizes=[(3,), (2,)])
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            optimizer = xp.optim.SGD([a, b, a], lr=0.5)
        give_gradients(xp, [a, b], 0)
        optimizer.step()
        optimizer.add_param_group({"params": parameters(xp, sizes=[(1,)])})
        packed = [group["params"] for group in optimizer.state_dict()["param_groups"]]
        return [[each.category.__name__ for each in caught], a.detach(), packed]

    agree(program)


def test_zero_grad_forgets_or_fills_with_zeros():
    def program(xp, set_to_none):
        params = parameters(xp)
        optimizer = xp.optim.SGD(params)
        give_gradients(xp, params, 0, skip=1)
        held = params[0].grad
        optimizer.zero_grad(set_to_none)
        return [held, *(param.grad for param in params)]

    agree(program, True)
    agree(program, False)


def test_zero_grad_cuts_a_gradient_off_from_its_graph():
    def program(xp):
        (param,) = parameters(xp, sizes=[(3,)])
        (param**3).sum().backward(create_graph=True)
        xp.optim.SGD([param]).zero_grad(set_to_none=False)
        return [param.grad, param.grad.requires_grad, param.grad.grad_fn]

    agree(program)


@pytest.mark.parametrize("name", ["SGD", "Adam", "AdamW"])
def test_a_closure_is_called_once_with_gradients_on(name):
    def program(xp):
        (param,) = parameters(xp, sizes=[(4,)])
        optimizer, modes = getattr(xp.optim, name)([param], lr=0.1), []

        def closure():
            modes.append(xp.is_grad_enabled())
            optimizer.zero_grad()
            loss = (param * param).sum()
            loss.backward()
            return loss

        losses = [round(optimizer.step(closure).item(), 9) for _ in range(3)]
        with xp.no_grad():
            optimizer.step(closure)
        return [losses, modes, xp.is_grad_enabled()]

    agree(program)


def make_two_groups(optim, params, name):
    settings = {"momentum": 0.9} if name == "SGD" else {"amsgrad": True}
    return getattr(optim, name)([{"params": params[:1], "lr": 0.5}, {"params": params[1:]}], lr=0.1, **settings)


@pytest.mark.parametrize("name", ["SGD", "Adam", "AdamW"])
def test_training_goes_on_from_a_state_dict_as_it_would_have(name):
    def program(xp):
        params = parameters(xp)
        optimizer = make_two_groups(xp.optim, params, name)
        for step in range(3):
            give_gradients(xp, params, step)
            optimizer.step()
        saved = copy.deepcopy(optimizer.state_dict())
        others = [param.detach().clone().requires_grad_() for param in params]
        loaded = make_two_groups(xp.optim, others, name)
        loaded.param_groups[0]["lr"] = 77
        loaded.load_state_dict(saved)
        for step in range(3, 6):
            give_gradients(xp, params, step)
            give_gradients(xp, others, step)
            optimizer.step()
            loaded.step()
        assert plain(params) == plain(others) and plain(optimizer.state_dict()) == plain(loaded.state_dict())
        return plain([params, loaded.state_dict()])

    assert_close(program(rl), program(torch), 1e-12)


def test_a_state_dict_holds_what_the_state_holds_and_groups_of_its_own():
    def program(xp):
        params = parameters(xp)
        optimizer = xp.optim.SGD(params, lr=0.1, momentum=0.9)
        give_gradients(xp, params, 0)
        optimizer.step()
        optimizer.state["extra"] = 5
        saved = optimizer.state_dict()
        saved["param_groups"][0]["lr"] = 7
        same = saved["state"][0]["momentum_buffer"] is optimizer.state[params[0]]["momentum_buffer"]
        return [same, optimizer.param_groups[0]["lr"], list(saved["state"]), list(saved["param_groups"][0])]

    agree(program)


def test_loading_converts_to_the_dtype_of_the_parameter_except_the_step():
    def program(xp):
        doubles, floats = parameters(xp, "float64"), parameters(xp, "float32")
        optimizer = xp.optim.Adam(doubles)
        give_gradients(xp, doubles, 0)
        optimizer.step()
        optimizer.state["extra"] = 5
        saved = optimizer.state_dict()
        saved["state"][0]["step"] = saved["state"][0]["step"].to(xp.float64)
        saved["state"][0]["list"] = [saved["state"][0]["exp_avg"], 3]
        saved["state"][99] = {"of": "nobody"}
        loaded = xp.optim.Adam(floats)
        before = copy.deepcopy(plain(saved))
        loaded.load_state_dict(saved)
        assert plain(saved) == before
        keys = [key if not hasattr(key, "dtype") else "a parameter" for key in loaded.state]
        state = loaded.state[floats[0]]
        return [keys, plain(state)["step"], [str(each.dtype)[-7:] for each in (state["exp_avg"], state["list"][0])],
                type(loaded.state).__name__, loaded.state["new"]]  # fmt: skip

    agree(program)


def test_loading_shares_what_needs_no_conversion_but_not_the_settings():
    def program(xp):
        params, others = parameters(xp), parameters(xp)
        optimizer, loaded = (xp.optim.SGD(each, lr=0.1, momentum=0.9) for each in (params, others))
        give_gradients(xp, params, 0)
        optimizer.step()
        saved = optimizer.state_dict()
        saved["param_groups"][0]["note"] = [1]
        loaded.load_state_dict(saved)
        saved["param_groups"][0]["note"].append(2)
        shared = loaded.state[others[0]]["momentum_buffer"] is saved["state"][0]["momentum_buffer"]
        return [shared, loaded.param_groups[0]["note"], loaded.param_groups[0]["params"][0] is others[0]]

    agree(program)


def test_a_state_dict_of_other_groups_is_refused():
    def program(xp, groups):
        params = parameters(xp)
        saved = xp.optim.SGD([{"params": params[:2]}, {"params": params[2:]}]).state_dict()
        optimizer = xp.optim.SGD(groups(params), lr=0.5)
        try:
            optimizer.load_state_dict(saved)
        except ValueError:
            return ["ValueError", optimizer.param_groups[0]["lr"]]
        return optimizer.param_groups[0]["lr"]

    agree(program, lambda params: params)
    agree(program, lambda params: [{"params": params[:1]}, {"params": params[1:]}])
    agree(program, lambda params: [{"params": params[2:]}, {"params": params[:2]}])


def test_adamw_decays_apart_also_after_loading_what_adam_saved():
    def program(xp):
        params = parameters(xp)
        saved = xp.optim.Adam(params).state_dict()
        loaded = xp.optim.AdamW(params)
        loaded.load_state_dict(saved)
        return loaded.param_groups[0]["decoupled_weight_decay"]

    agree(program)


def test_copies_and_pickles_are_optimizers_of_copies_of_the_parameters():
    for again in (copy.deepcopy, lambda each: pickle.loads(pickle.dumps(each))):
        params = parameters(rl, sizes=[(3,), (2,)])
        optimizer = rl.optim.Adam(params, lr=0.1)
        give_gradients(rl, params, 0)
        optimizer.step()
        twin = again(optimizer)
        theirs = twin.param_groups[0]["params"]
        assert plain(twin.state_dict()) == plain(optimizer.state_dict())
        assert theirs[0] is not params[0] and theirs[0] in twin.state
        give_gradients(rl, params, 1)
        give_gradients(rl, theirs, 1)
        optimizer.step()
        twin.step()
        assert plain(params) == plain(theirs)


def test_repr_is_that_of_torch():
    def program(xp):
        params = parameters(xp)
        return repr(xp.optim.SGD([{"params": params[:1]}, {"params": params[1:], "lr": 3}], momentum=0.9))

    assert program(rl) == program(torch)


def test_hooks_stand_before_and_after_a_step_and_may_change_its_arguments():
    def program(xp):
        (param,) = parameters(xp, sizes=[(2,)])
        optimizer, seen = xp.optim.SGD([param], lr=1.0), []
        give_gradients(xp, [param], 0)

        def before(opt, args, kwargs):
            seen.append(("before", opt is optimizer, len(args), sorted(kwargs), param.tolist()))
            return (args[0], lambda: "from the hook"), {}

        def after(opt, args, kwargs):
            seen.append(("after", opt is optimizer, len(args), sorted(kwargs), param.tolist()))

        first = optimizer.register_step_pre_hook(before)
        optimizer.register_step_post_hook(after)
        results = [optimizer.step(closure=lambda: "given")]
        first.remove()
        results.append(optimizer.step(closure=lambda: "given"))
        optimizer.register_step_pre_hook(lambda *_: 3)
        return [seen, results, outcome(lambda _: optimizer.step(), xp)]

    agree(program)


def test_an_optimizer_of_ones_own_needs_defaults_and_a_step():
    def program(xp):
        class Sign(xp.optim.Optimizer):
            def __init__(self, params, lr=0.1):
                super().__init__(params, {"lr": lr})

            @xp.no_grad()
            def step(self):
                for group in self.param_groups:
                    for param in group["params"]:
                        param.sub_(param.grad.sign() * group["lr"])
                        self.state[param]["seen"] = self.state[param].get("seen", 0) + 1

        (param,) = parameters(xp, sizes=[(3,)])
        optimizer, called = Sign([param]), []
        optimizer.register_step_post_hook(lambda *_: called.append(1))
        give_gradients(xp, [param], 0)
        optimizer.step()
        return [param.detach(), optimizer.state_dict()["state"], called]

    agree(program)


@pytest.mark.parametrize("prepend", [False, True])
def test_hooks_of_state_dicts(prepend):
    def program(xp):
        optimizer, seen = xp.optim.SGD([xp.zeros(2).requires_grad_()], lr=0.5), []

        def note(what, result=None):
            return lambda _, *args: seen.append((what, sorted(args[0]) if args else ())) or (result and result(*args))

        for i in range(2):
            optimizer.register_state_dict_pre_hook(note(("pre", i)), prepend=prepend)
            optimizer.register_state_dict_post_hook(note(("post", i), lambda d: {**d, f"more{i}": i}), prepend=prepend)
            optimizer.register_load_state_dict_pre_hook(
                note(("load", i), lambda d: {**d, f"all{i}": 1}), prepend=prepend
            )
            last = optimizer.register_load_state_dict_post_hook(note(("loaded", i)), prepend=prepend)
        state = optimizer.state_dict()
        optimizer.load_state_dict(state)
        last.remove()
        optimizer.load_state_dict(state)
        return seen, sorted(state)

    agree(program)


@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"weight_decay": 0.1},
        {"weight_decay": 0.1, "decoupled_weight_decay": True},
        {"maximize": True, "betas": (0.3, 0.9)},
    ],
)
def test_a_step_of_adam_is_the_same_bit_by_bit_without_its_fast_path(settings):
    def steps():
        params = parameters(rl, "float32")
        optimizer = rl.optim.Adam(params, lr=0.05, **settings)
        for step in range(4):
            give_gradients(rl, params, step)
            optimizer.step()
        tensors = [*params, *(each for param in params for each in optimizer.state[param].values())]
        return [(each.detach().numpy().tobytes(), each._version) for each in tensors]

    short = steps()
    with fast_paths.disabled("c10"):
        assert short == steps()


def test_a_state_dict_of_an_older_version_is_loaded():
    """Without the younger flags, with numbers of steps that are no tensors, and with names only in the optimizer."""

    def program(xp, name):
        params = parameters(xp)
        optimizer = getattr(xp.optim, name)(zip("abcd", params), lr=0.1)
        give_gradients(xp, params, 0)
        optimizer.step()
        saved = copy.deepcopy(optimizer.state_dict())
        for younger in "maximize", "foreach", "differentiable", "fused", "capturable", "amsgrad", "param_names":
            saved["param_groups"][0].pop(younger, None)
        for entry in saved["state"].values():
            if "step" in entry:
                entry["step"] = float(entry["step"])
        optimizer.load_state_dict(saved)
        give_gradients(xp, params, 1)
        optimizer.step()
        (group,) = optimizer.state_dict()["param_groups"]
        return [sorted((key, value) for key, value in group.items() if key != "fused")]

    for name in "SGD", "Adam", "AdamW", "Adadelta", "RMSprop", "Adagrad":
        agree(program, name)


def test_hooks_of_all_optimizers_surround_those_of_one():
    def program(xp):
        names, optimizer = [], xp.optim.SGD(parameters(xp))
        module = importlib.import_module(f"{xp.__name__}.optim.optimizer")
        hooks = [
            module.register_optimizer_step_pre_hook(lambda *_: names.append("all before")),
            module.register_optimizer_step_post_hook(lambda *_: names.append("all after")),
            optimizer.register_step_pre_hook(lambda *_: names.append("one before")),
            optimizer.register_step_post_hook(lambda *_: names.append("one after")),
        ]
        optimizer.step()
        for hook in hooks:
            hook.remove()
        optimizer.step()
        return names

    agree(program)


def test_a_learning_rate_can_be_a_tensor_which_schedulers_change_in_place():
    def program(xp, name, settings, shape):
        lr, params = xp.full(shape, 0.1), parameters(xp)
        optimizer = xp.optim.SGD(params, lr=lr, foreach=False)
        schedule = getattr(xp.optim.lr_scheduler, name)(optimizer, **settings)
        for step in range(3):
            give_gradients(xp, params, step)
            optimizer.step()
            schedule.step()
        group = optimizer.param_groups[0]
        return [group["lr"] is lr, lr, group["initial_lr"], [f"{float(p.sum()):.5f}" for p in params]]

    for shape in (), (1,), (1, 1):
        agree(program, "StepLR", {"step_size": 2}, shape)
        agree(program, "LinearLR", {}, shape)


def test_a_learning_rate_of_several_elements_is_refused():
    for name in "SGD", "Adam", "AdamW", "Adadelta", "RMSprop", "Adagrad":
        agree(lambda xp, name=name: getattr(xp.optim, name)(parameters(xp), lr=xp.tensor([0.1, 0.1])))


def test_numbers_of_equal_parameters_are_those_of_the_first_group():
    def program(xp):
        optimizer = xp.optim.SGD(parameters(xp))
        optimizer.param_groups.extend(optimizer.param_groups)
        return [group["params"] for group in optimizer.state_dict()["param_groups"]]

    agree(program)


@pytest.mark.parametrize("share", [False, True])
@pytest.mark.parametrize("options", [{}, {"weight_decay": 0.1}, {"maximize": True, "betas": (0.4, 0.9)}])
def test_adam_updates_small_and_large_parameters_as_torch_does(share, options):
    """Small ones are computed together, unless they share memory or have had other numbers of steps."""

    def program(xp):
        whole = xp.linspace(-1, 1, 5000).clone()
        parts = [whole[:7], whole[7:10].view(3, 1), whole[10], whole[:0], whole] if share else [whole]
        params = [xp.nn.Parameter(part) for part in parts] + [
            xp.nn.Parameter(xp.full((2, 3), float(i))) for i in range(3)
        ]
        optimizer = xp.optim.Adam(params, lr=0.1, **options)
        for step in range(3):
            for i, param in enumerate(params):
                param.grad = None if (i, step) == (1, 0) else (param.detach() - 0.3 * i) * (step + 1)
            optimizer.step()
        return [(param.detach(), param._version) for param in params]

    for mine, theirs in zip(program(rl), program(torch)):
        np.testing.assert_allclose(mine[0].numpy(), theirs[0].numpy(), rtol=1e-6, atol=1e-7)
        assert mine[1] == theirs[1]
