"""Sparsifiers and their schedules make torch's masks."""

import numpy as np
import pytest
import torch
import torch.ao.pruning
from sweep import in_one_test

import rushlight as rl

rng = np.random.default_rng(4)
FRAMEWORKS = (rl, torch)


def layers(sizes=(12, 8)):
    weight = rng.standard_normal(sizes).astype(np.float32)
    found = []
    for xp in FRAMEWORKS:
        layer = xp.nn.Sequential(xp.nn.Linear(sizes[1], sizes[0], bias=False))
        with xp.no_grad():
            layer[0].weight.copy_(xp.from_numpy(weight.copy()))
        found.append(layer)
    return found


def masks(models):
    return [model[0].parametrizations.weight[0].mask.numpy().astype(bool) for model in models]


@in_one_test
@pytest.mark.parametrize("norm", [1, 2, None])
@pytest.mark.parametrize(
    "options",
    [(0.5, (1, 4), 4), (0.5, (1, 4), 2), (1.0, (1, 4), 2), (0.3, (1, 1), 1), (0.7, (2, 4), 5), (0.0, (1, 4), 4)],
)
def test_a_mask_is_torchs(options, norm):
    models = layers()
    for xp, model in zip(FRAMEWORKS, models):
        sparsifier = xp.ao.pruning.WeightNormSparsifier(*options, norm=norm)
        sparsifier.prepare(model, [{"tensor_fqn": "0.weight"}])
        sparsifier.step()
    np.testing.assert_array_equal(*masks(models))


@pytest.mark.parametrize("nearliness", [0, 1, 3, 5])
def test_a_nearly_diagonal_mask_is_torchs(nearliness):
    models = layers()
    for xp, model in zip(FRAMEWORKS, models):
        sparsifier = xp.ao.pruning.NearlyDiagonalSparsifier(nearliness)
        sparsifier.prepare(model, [{"tensor_fqn": "0.weight"}])
        sparsifier.step()
    np.testing.assert_array_equal(*masks(models))


def test_an_even_nearliness_and_one_that_is_too_large_are_refused():
    for nearliness in (2, 31):
        for xp, model in zip(FRAMEWORKS, layers()):
            sparsifier = xp.ao.pruning.NearlyDiagonalSparsifier(nearliness)
            sparsifier.prepare(model, [{"tensor_fqn": "0.weight"}])
            with pytest.raises(ValueError):
                sparsifier.step()


def test_training_with_a_schedule_gives_torchs_weights_and_zeros():
    models, levels = layers(), []
    for xp, model in zip(FRAMEWORKS, models):
        sparsifier = xp.ao.pruning.WeightNormSparsifier(0.75, (1, 4), 4)
        sparsifier.prepare(model, [{"tensor_fqn": "0.weight"}])
        scheduler = xp.ao.pruning.CubicSL(sparsifier, delta_t=1, total_t=4)
        optimizer, seen = xp.optim.SGD(model.parameters(), lr=0.5), []
        for _ in range(5):
            optimizer.zero_grad()
            (model(xp.ones(3, 8)) ** 2).mean().backward()
            optimizer.step()
            sparsifier.step()
            scheduler.step()
            seen += scheduler.get_last_sl()
        levels.append(seen)
        sparsifier.squash_mask()
    assert levels[0] == levels[1]
    np.testing.assert_allclose(*(model[0].weight.detach().numpy() for model in models), rtol=1e-5, atol=1e-7)
    assert type(models[0][0]) is rl.nn.Linear and (models[0][0].weight == 0).any().item()
    assert [*models[0].state_dict()] == [*models[1].state_dict()]
