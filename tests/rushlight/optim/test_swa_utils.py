"""Averages of models, their batch norms, and the rate to which they are annealed, agree with torch."""

from importlib import import_module

import pytest
from both import FRAMEWORKS, agree

AVERAGES = {
    "the mean": lambda utils: {},
    "swa": lambda utils: {"avg_fn": utils.get_swa_avg_fn()},
    "ema": lambda utils: {"avg_fn": utils.get_ema_avg_fn(0.5)},
    "swa of lists": lambda utils: {"multi_avg_fn": utils.get_swa_multi_avg_fn()},
    "ema of lists": lambda utils: {"multi_avg_fn": utils.get_ema_multi_avg_fn(0.5), "use_buffers": True},
    "with buffers": lambda utils: {"avg_fn": utils.get_ema_avg_fn(0.5), "use_buffers": True},
    "both": lambda utils: {"avg_fn": utils.get_ema_avg_fn(0.5), "multi_avg_fn": utils.get_swa_multi_avg_fn()},
    "a decay above 1": lambda utils: {"avg_fn": utils.get_ema_avg_fn(1.5)},
}


def swa_utils(xp):
    return import_module(f"{xp.__name__}.optim.swa_utils")


def rounded(tensors):
    return [(str(tensor.dtype)[-5:], [round(x, 5) for x in tensor.flatten().tolist()]) for tensor in tensors]


def net(xp):
    model = xp.nn.Sequential(xp.nn.Linear(2, 3), xp.nn.BatchNorm1d(3)).double()
    with xp.no_grad():
        for i, param in enumerate(model.parameters()):
            param.copy_((xp.arange(param.numel(), dtype=xp.float64) / 7 + i).reshape(param.shape))
    return model


@pytest.mark.parametrize("name", AVERAGES)
def test_an_averaged_model(name):
    def program(xp):
        utils, model, seen = swa_utils(xp), net(xp), []
        averaged = utils.AveragedModel(model, **AVERAGES[name](utils))
        for step in range(4):
            with xp.no_grad():
                for param in model.parameters():
                    param.add_(step**2)
                model[1].running_mean.add_(step)
                model[1].num_batches_tracked.add_(2 * step)
            averaged.update_parameters(model)
            seen += rounded(averaged.state_dict().values())
        return seen, list(averaged.state_dict()), rounded([averaged.eval()(xp.ones(1, 2).double())])

    agree(program)


@pytest.mark.parametrize("has_norm", [True, False])
def test_the_statistics_of_batch_norms_are_computed_again(has_norm):
    def program(xp):
        model = net(xp).eval() if has_norm else net(xp)[0]
        data = [(xp.arange(8.0).double().reshape(4, 2) * i, 0) for i in range(1, 3)] + [xp.ones(3, 2).double()]
        swa_utils(xp).update_bn(data, model, device="cpu")
        return (
            rounded(model.state_dict().values()),
            model.training,
            [getattr(m, "momentum", 0) for m in model.modules()],
        )

    agree(program)


@pytest.mark.parametrize("settings", [{}, {"anneal_strategy": "linear", "anneal_epochs": 3}, {"anneal_epochs": 0}])
def test_the_rate_is_annealed_to_that_of_the_averages(settings):
    rates = []
    for xp in FRAMEWORKS:
        optimizer = xp.optim.SGD([{"params": [xp.ones(1)], "lr": 0.5}, {"params": [xp.ones(1)]}], lr=0.1)
        schedule, seen = swa_utils(xp).SWALR(optimizer, [0.05, 0.2], **settings), []
        for _ in range(12):
            optimizer.step()
            schedule.step()
            seen += schedule.get_last_lr()
        again = swa_utils(xp).SWALR(xp.optim.SGD([{"params": [xp.ones(1)]}, {"params": [xp.ones(2)]}]), 1.0)
        again.load_state_dict(schedule.state_dict())
        rates.append([*seen, again.anneal_func(0.25), again.anneal_epochs, sorted(schedule.state_dict())])
    assert rates[0][:-1] == pytest.approx(rates[1][:-1], rel=1e-12)
    assert rates[0][-1] == rates[1][-1]


def test_a_schedule_of_averages_refuses_what_torch_refuses():
    for settings in {"anneal_strategy": "sine"}, {"anneal_epochs": -1}, {"anneal_epochs": 1.5}, {"swa_lr": [0.1, 0.2]}:
        agree(lambda xp, s=settings: swa_utils(xp).SWALR(xp.optim.SGD([xp.ones(1)]), **{"swa_lr": 0.1} | s))
