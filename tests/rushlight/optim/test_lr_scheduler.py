"""Schedules agree with torch: the learning rates to the last digits, the errors, what is saved."""

import copy
import math
import warnings
from types import MethodType

import pytest
import torch
from both import FRAMEWORKS, agree
from hypothesis import given
from hypothesis import strategies as st
from sweep import in_one_test

import rushlight as rl


def optimizer_of(xp, groups=2, name="SGD", **settings):
    params = [{"params": [xp.zeros(2).requires_grad_()], "lr": 0.3 / (i + 1)} for i in range(groups)]
    return getattr(xp.optim, name)(params, **settings)


def course(xp, make, steps=25, epochs=(), **settings):
    """The learning rates (and what else changes) at each step of a schedule, or of several that are made one after the other."""
    optimizer, out = optimizer_of(xp, **settings), []
    schedules = make(xp.optim.lr_scheduler, optimizer)
    schedules = schedules if isinstance(schedules, list) else [schedules]
    for step in range(steps):
        groups = [(g["lr"], g["initial_lr"], g.get("momentum"), g.get("betas")) for g in optimizer.param_groups]
        out.append([groups, [each.get_last_lr() for each in schedules], [each.last_epoch for each in schedules]])
        optimizer.step()
        for each in schedules:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                each.step(*([epochs[step]] if step < len(epochs) else []))
    return out


def assert_close(ours, theirs):
    if isinstance(ours, (list, tuple)):
        assert len(ours) == len(theirs)
        for our, their in zip(ours, theirs):
            assert_close(our, their)
    else:
        assert ours == (theirs if theirs is None else pytest.approx(theirs, rel=1e-12, abs=1e-15))


def follows(make, **options):
    assert_close(*(course(xp, make, **options) for xp in FRAMEWORKS))


counts, factors = st.integers(1, 12), st.sampled_from([0.5, 0.1, 0.9, 1.0, 1 / 3])
SCHEDULES = {
    "StepLR": {"step_size": counts, "gamma": factors},
    "MultiStepLR": {"milestones": st.lists(counts, max_size=4), "gamma": factors},
    "ExponentialLR": {"gamma": factors},
    "ConstantLR": {"factor": factors, "total_iters": counts},
    "LinearLR": {"start_factor": factors, "end_factor": factors | st.just(0.0), "total_iters": counts},
    "CosineAnnealingLR": {"T_max": counts, "eta_min": st.sampled_from([0.0, 0.01, 0.2])},
    "CosineAnnealingWarmRestarts": {
        "T_0": counts,
        "T_mult": st.integers(1, 3),
        "eta_min": st.sampled_from([0.0, 0.01]),
    },
    "PolynomialLR": {"total_iters": counts, "power": st.sampled_from([1.0, 2.0, 0.5])},
    "MultiplicativeLR": {"lr_lambda": st.sampled_from([lambda n: 0.9, lambda n: 1 / (1 + n), [math.cos, math.exp]])},
    "LambdaLR": {"lr_lambda": st.sampled_from([lambda n: 0.9**n, lambda n: 1 / (1 + n), [math.cos, math.exp]])},
}
any_schedule = st.sampled_from(list(SCHEDULES)).flatmap(
    lambda name: st.tuples(st.just(name), st.fixed_dictionaries({}, optional=SCHEDULES[name]))
)


def complete(drawn):
    name, settings = drawn
    needed = {"StepLR": "step_size", "MultiStepLR": "milestones", "ExponentialLR": "gamma", "LambdaLR": "lr_lambda",
              "CosineAnnealingLR": "T_max", "CosineAnnealingWarmRestarts": "T_0", "MultiplicativeLR": "lr_lambda"}  # fmt: skip
    return name not in needed or needed[name] in settings


any_schedule = any_schedule.filter(complete)


@given(any_schedule)
def test_each_schedule_follows_that_of_torch(drawn):
    name, settings = drawn
    follows(lambda schedules, optimizer: getattr(schedules, name)(optimizer, **settings))


@given(any_schedule, any_schedule)
def test_two_schedules_on_one_optimizer_follow_those_of_torch(first, second):
    drawn = first, second
    follows(lambda schedules, optimizer: [getattr(schedules, name)(optimizer, **set) for name, set in drawn], steps=15)


@given(any_schedule, st.lists(st.integers(0, 30), min_size=1, max_size=6))
def test_a_step_to_a_given_epoch_takes_the_closed_form(drawn, epochs):
    name, settings = drawn
    follows(lambda schedules, optimizer: getattr(schedules, name)(optimizer, **settings), steps=9, epochs=epochs)


@given(st.lists(any_schedule, min_size=1, max_size=3), st.lists(st.integers(1, 8), min_size=2, max_size=2))
def test_schedules_one_after_the_other_follow_those_of_torch(drawn, lengths):
    milestones = [sum(lengths[: i + 1]) for i in range(len(drawn) - 1)]

    def make(schedules, optimizer):
        parts = [getattr(schedules, name)(optimizer, **settings) for name, settings in drawn]
        return schedules.SequentialLR(optimizer, parts, milestones)

    follows(make)


@pytest.mark.parametrize("factor", [1, 2])
def test_warm_restarts_take_fractions_of_epochs(factor):
    epochs = [0.5, 1.5, 7.5, 3.25, 14]
    follows(lambda schedules, optimizer: schedules.CosineAnnealingWarmRestarts(optimizer, 2, factor), epochs=epochs)


@given(st.lists(any_schedule, min_size=1, max_size=3))
def test_chained_schedules_follow_those_of_torch(drawn):
    optimizers, chained = [optimizer_of(xp) for xp in FRAMEWORKS], []
    for xp, optimizer in zip(FRAMEWORKS, optimizers):
        schedules = xp.optim.lr_scheduler
        parts = [getattr(schedules, name)(optimizer, **settings) for name, settings in drawn]
        chained.append(schedules.ChainedScheduler(parts))
    for _ in range(12):
        assert_close(*([each.get_last_lr() for each in chained]))
        for optimizer, each in zip(optimizers, chained):
            optimizer.step()
            each.step()


def half(x):
    return 0.5**x


@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"mode": "triangular2", "step_size_down": 2},
        {"mode": "exp_range", "gamma": 0.9},
        {"scale_fn": half, "scale_mode": "iterations"},
        {"mode": "other", "scale_fn": half, "base_momentum": [0.5, 0.6]},
        {"cycle_momentum": False, "last_epoch": 4},
    ],
)
def test_cycles_follow_those_of_torch_and_go_on_from_their_state(settings):
    def make(schedules, optimizer):
        for group in optimizer.param_groups:
            group["initial_lr"] = 0.25
        schedule = schedules.CyclicLR(optimizer, [0.1, 0.2], 0.5, 3, **settings)
        again = schedules.CyclicLR(optimizer, 0.1, 0.5, cycle_momentum=False, scale_fn=settings.get("scale_fn"))
        again.load_state_dict(schedule.state_dict())
        return again

    for name in "SGD", "Adam":
        follows(make, name=name)


def test_a_state_dict_of_torch_is_loaded():
    makers = {
        "OneCycleLR": lambda s, o: s.OneCycleLR(o, 1.0, 9, three_phase=True),
        "CyclicLR": lambda s, o: s.CyclicLR(o, 0.1, 0.5, 3, mode="triangular2"),
        "SequentialLR": lambda s, o: s.SequentialLR(o, [s.StepLR(o, 2), s.PolynomialLR(o)], [3]),
        "ReduceLROnPlateau": lambda s, o: s.ReduceLROnPlateau(o),
    }
    for make in makers.values():
        ours, theirs = (make(xp.optim.lr_scheduler, optimizer_of(xp)) for xp in FRAMEWORKS)
        assert {*ours.state_dict()} - {"use_beta1"} == {*theirs.state_dict()} - {"use_beta1"}
        ours.load_state_dict(theirs.state_dict())
        for schedule in ours, theirs:
            schedule.optimizer.step()
            schedule.step(*([1.0] if "best" in schedule.state_dict() else []))
        assert_close(ours.get_last_lr(), theirs.get_last_lr())


def test_the_initial_rate_of_a_sequence_stays_when_the_rate_is_a_tensor():
    def program(xp):
        schedules, rates = xp.optim.lr_scheduler, []
        optimizer = xp.optim.SGD([xp.ones(1)], lr=xp.tensor(0.5))
        for _ in range(2):
            parts = [schedules.LinearLR(optimizer, 0.25, total_iters=2), schedules.StepLR(optimizer, 1, 0.5)]
            schedule = schedules.SequentialLR(optimizer, parts, [2])
            for _ in range(4):
                rates.append(float(optimizer.param_groups[0]["lr"]))
                optimizer.step()
                schedule.step()
        return rates, float(optimizer.param_groups[0]["initial_lr"])

    agree(program)


@given(
    st.integers(4, 30),
    st.fixed_dictionaries(
        {},
        optional={
            "pct_start": st.sampled_from([0.3, 0.5, 0.4]),
            "anneal_strategy": st.sampled_from(["cos", "linear"]),
            "cycle_momentum": st.booleans(),
            "div_factor": st.sampled_from([25.0, 4]),
            "three_phase": st.booleans(),
            "base_momentum": st.sampled_from([0.85, [0.5, 0.6]]),
        },
    ),
    st.sampled_from(["SGD", "Adam"]),
)
def test_one_cycle_follows_that_of_torch(total, settings, name):
    def make(schedules, optimizer):
        return schedules.OneCycleLR(optimizer, [1.0, 0.5], total_steps=total, **settings)

    try:
        expected = course(torch, make, steps=total, name=name)
    except ZeroDivisionError:  # a phase of no steps
        with pytest.raises(ZeroDivisionError):
            course(rl, make, steps=total, name=name)
        return
    assert_close(course(rl, make, steps=total, name=name), expected)


@given(
    st.lists(st.sampled_from([1.0, 0.9, 0.5, 0.4999, 0.0, -1.0, 2.0, math.nan, math.inf]), min_size=1, max_size=25),
    st.fixed_dictionaries(
        {},
        optional={
            "mode": st.sampled_from(["min", "max"]),
            "factor": st.sampled_from([0.1, 0.5]),
            "patience": st.integers(0, 3),
            "threshold": st.sampled_from([1e-4, 0.0, 0.5]),
            "threshold_mode": st.sampled_from(["rel", "abs"]),
            "cooldown": st.integers(0, 3),
            "min_lr": st.sampled_from([0, 0.01, [0.1, 0.02]]),
            "eps": st.sampled_from([1e-8, 0.02]),
        },
    ),
)
def test_a_plateau_is_seen_where_torch_sees_it(metrics, settings):
    def run(xp):
        optimizer, out = optimizer_of(xp), []
        schedule = xp.optim.lr_scheduler.ReduceLROnPlateau(optimizer, **settings)
        for metric in metrics:
            schedule.step(xp.tensor(metric))
            out.append(
                [schedule.get_last_lr(), schedule.num_bad_epochs, schedule.cooldown_counter, schedule.last_epoch]
            )
        return out

    assert_close(run(rl), run(torch))


@in_one_test
@pytest.mark.parametrize(
    "program",
    [
        lambda s, o: s.StepLR("optimizer", 3),
        lambda s, o: s.StepLR(o),
        lambda s, o: s.LRScheduler(o),
        lambda s, o: s.StepLR(o, 3, last_epoch=4),
        lambda s, o: s.LambdaLR(o, [lambda n: 1.0]),
        lambda s, o: s.LambdaLR(o, [lambda n: 1.0] * 3),
        lambda s, o: s.ConstantLR(o, factor=1.5),
        lambda s, o: s.ConstantLR(o, factor=-0.5),
        lambda s, o: s.LinearLR(o, start_factor=0.0),
        lambda s, o: s.LinearLR(o, start_factor=1.1),
        lambda s, o: s.LinearLR(o, end_factor=-0.1),
        lambda s, o: s.CosineAnnealingLR(o, 0).step(),
        lambda s, o: s.SequentialLR(o, [], []),
        lambda s, o: s.SequentialLR(o, [s.StepLR(o, 3)], [3]),
        lambda s, o: s.SequentialLR(o, [s.StepLR(o, 3), "schedule"], [3]),
        lambda s, o: s.SequentialLR(o, [s.StepLR(o, 3), s.ReduceLROnPlateau(o)], [3]),
        lambda s, o: s.SequentialLR(copy.deepcopy(o), [s.StepLR(o, 3)], []),
        lambda s, o: s.ReduceLROnPlateau(o, factor=1.0),
        lambda s, o: s.ReduceLROnPlateau(o, mode="least"),
        lambda s, o: s.ReduceLROnPlateau(o, threshold_mode="part"),
        lambda s, o: s.ReduceLROnPlateau(o, min_lr=[0.1]),
        lambda s, o: s.ReduceLROnPlateau("optimizer"),
        lambda s, o: s.ReduceLROnPlateau(o).step(),
        lambda s, o: s.ReduceLROnPlateau(o).step("low"),
        lambda s, o: s.CosineAnnealingWarmRestarts(o, 0),
        lambda s, o: s.CosineAnnealingWarmRestarts(o, 2, 0.5),
        lambda s, o: s.CosineAnnealingWarmRestarts(o, 2, eta_min="0"),
        lambda s, o: s.CosineAnnealingWarmRestarts(o, 2).step(-1),
        lambda s, o: s.CyclicLR(o, 0.1, 1.0, mode="other"),
        lambda s, o: s.CyclicLR(o, [0.1], 1.0),
        lambda s, o: s.CyclicLR("optimizer", 0.1, 1.0),
        lambda s, o: s.ChainedScheduler([]),
        lambda s, o: s.ChainedScheduler([s.StepLR(o, 3), s.ReduceLROnPlateau(o)]),
        lambda s, o: s.ChainedScheduler([s.StepLR(o, 3)], copy.deepcopy(o)),
        lambda s, o: s.OneCycleLR(o, 1.0),
        lambda s, o: s.OneCycleLR(o, 1.0, epochs=3),
        lambda s, o: s.OneCycleLR(o, 1.0, total_steps=0),
        lambda s, o: s.OneCycleLR(o, 1.0, epochs=2, steps_per_epoch=-1),
        lambda s, o: s.OneCycleLR(o, 1.0, total_steps=9, pct_start=1.5),
        lambda s, o: s.OneCycleLR(o, 1.0, total_steps=9, pct_start=1),
        lambda s, o: s.OneCycleLR(o, 1.0, total_steps=9, anneal_strategy="sine"),
        lambda s, o: s.OneCycleLR(o, [1.0], total_steps=9),
        lambda s, o: [s.OneCycleLR(o, 1.0, total_steps=9).step() for _ in range(12)],
        lambda s, o: [schedule.step() for schedule in [s.OneCycleLR(o, 1.0, total_steps=9)] * 12],
    ],
)
def test_what_is_refused_is_what_torch_refuses(program):
    def run(xp):
        program(xp.optim.lr_scheduler, optimizer_of(xp))
        return "accepted"

    agree(run)


def test_one_cycle_with_momentum_needs_an_optimizer_that_has_it():
    def program(xp, cycle_momentum):
        optimizer = optimizer_of(xp, name="Adagrad")
        return xp.optim.lr_scheduler.OneCycleLR(optimizer, 1.0, 9, cycle_momentum=cycle_momentum).total_steps

    agree(program, True)
    agree(program, False)


def warnings_of(program, xp):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        program(xp, optimizer_of(xp))
    return [each.category.__name__ for each in caught]


@pytest.mark.parametrize("stepped", ["never", "before", "between"])
def test_a_schedule_that_steps_before_its_optimizer_is_a_warning(stepped):
    def program(xp, optimizer):
        if stepped == "before":
            optimizer.step()
        schedule = xp.optim.lr_scheduler.StepLR(optimizer, 3)
        if stepped == "between":
            optimizer.step()
        schedule.step()
        schedule.step()

    assert warnings_of(program, rl) == warnings_of(program, torch)


@pytest.mark.parametrize("when", ["before", "after"])
@pytest.mark.parametrize("stepped", [False, True])
def test_an_optimizer_whose_step_is_replaced_after_the_schedule_was_made_is_a_warning(when, stepped):
    def program(xp, optimizer):
        def replace():
            optimizer.step = MethodType(lambda optimizer: None, optimizer)

        if when == "before":
            replace()
        schedule = xp.optim.lr_scheduler.StepLR(optimizer, 3)
        if when == "after":
            replace()
        if stepped:
            optimizer.step()
        schedule.step()

    assert warnings_of(program, rl) == warnings_of(program, torch)


def test_to_ask_for_the_next_learning_rate_outside_of_a_step_is_a_warning():
    def program(xp, optimizer):
        schedules = xp.optim.lr_scheduler
        for each in (schedules.ExponentialLR(optimizer, 0.5), schedules.LinearLR(optimizer)):
            each.get_lr()
            each.get_last_lr()

    assert warnings_of(program, rl) == warnings_of(program, torch) != []


def test_a_schedule_goes_on_from_its_state_dict():
    def program(xp, name, settings):
        lr_scheduler = xp.optim.lr_scheduler
        optimizer = optimizer_of(xp)
        schedule = getattr(lr_scheduler, name)(optimizer, **settings)
        for _ in range(4):
            optimizer.step()
            schedule.step()
        saved, saved_optimizer = copy.deepcopy((schedule.state_dict(), optimizer.state_dict()))
        other = optimizer_of(xp)
        again = getattr(lr_scheduler, name)(other, **settings)
        other.load_state_dict(saved_optimizer)
        again.load_state_dict(saved)
        out = [sorted(saved)]
        for _ in range(6):
            other.step()
            again.step()
            out.append([round(lr, 12) for lr in again.get_last_lr()])
        return out

    for name, settings in {
        "StepLR": {"step_size": 3},
        "MultiStepLR": {"milestones": [2, 6, 6]},
        "CosineAnnealingLR": {"T_max": 7},
        "LinearLR": {"total_iters": 7},
    }.items():
        agree(program, name, settings)


def test_sequences_and_functions_are_saved_part_by_part():
    class Halves:
        def __init__(self):
            self.calls = 0

        def __call__(self, epoch):
            self.calls += 1
            return 0.5**epoch

    def program(xp):
        s, optimizer = xp.optim.lr_scheduler, optimizer_of(xp)
        sequence = s.SequentialLR(optimizer, [s.ConstantLR(optimizer), s.ExponentialLR(optimizer, 0.9)], [3])
        lambdas = s.LambdaLR(optimizer, [Halves(), lambda n: 1.0])
        saved = lambdas.state_dict()
        other = s.LambdaLR(optimizer_of(xp), [Halves(), lambda n: 1.0])
        for _ in range(3):
            lambdas.step()
        other.load_state_dict(lambdas.state_dict())
        parts = sequence.state_dict()
        sequence.load_state_dict(parts)
        return [
            saved["lr_lambdas"],
            other.lr_lambdas[0].calls,
            sorted(parts),
            len(parts["_schedulers"]),
            "_schedulers" in parts,
        ]

    agree(program)


def test_a_schedule_resumes_where_the_groups_know_how_they_began():
    def program(xp, name, settings):
        optimizer = optimizer_of(xp)
        for group in optimizer.param_groups:
            group["initial_lr"] = 1.0
        schedule = getattr(xp.optim.lr_scheduler, name)(optimizer, last_epoch=3, **settings)
        out = [schedule.get_last_lr()]
        for _ in range(4):
            optimizer.step()
            schedule.step()
            out.append([round(lr, 12) for lr in schedule.get_last_lr()])
        return [out, schedule.base_lrs]

    for name, settings in {
        "StepLR": {"step_size": 2},
        "ExponentialLR": {"gamma": 0.5},
        "CosineAnnealingLR": {"T_max": 5},
        "LinearLR": {"total_iters": 7},
        "ConstantLR": {"total_iters": 5},
    }.items():
        agree(program, name, settings)


@given(st.floats(0.01, 1), st.floats(0.01, 1), st.integers(1, 40), st.integers(1, 9), st.sampled_from([0.0, 0.003]))
def test_cosine_annealing_is_the_rule_of_torch(lr, base_lr, last_epoch, T_max, eta_min):
    class Place:
        _get_lr_called_within_step, _is_initial, _step_count = True, False, 2

    place = Place()
    place.base_lrs, place.last_epoch, place.T_max, place.eta_min = [base_lr], last_epoch, T_max, eta_min
    place.optimizer = type("optimizer", (), {"param_groups": [{"lr": lr}]})
    (theirs,) = torch.optim.lr_scheduler.CosineAnnealingLR.get_lr(place)
    assert rl.schedules.cosine_annealing(lr, base_lr, last_epoch, T_max, eta_min) == pytest.approx(theirs, rel=1e-12)
