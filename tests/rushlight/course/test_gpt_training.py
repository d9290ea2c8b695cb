"""The training of the MiniGPT, and what it says: the same on rushlight as on torch."""

import io

import numpy as np
import pytest
import torch

import rushlight as rl
from rushlight.course import corpus, trained
from rushlight.course.gpt import gpt
from rushlight.course.sampling import choose, generate, new_cache
from rushlight.course.training import (
    IGNORED,
    Training,
    batches,
    checkpoint,
    evaluate,
    parameter_groups,
    resume,
    rows,
    train,
)

SMALL = {"vocabulary": 60, "width": 16, "heads": 2, "layers": 2, "length": 16}


def drawn(steps, size=8, length=16, vocabulary=60):
    """Random batches. Row i has about i targets, so that the parts of a batch have different numbers of them."""
    draw = np.random.default_rng(0)
    inputs, targets = draw.integers(0, vocabulary, (2, 64, length))
    targets[np.arange(length) > np.arange(64)[:, None] % length] = IGNORED
    return [*batches(inputs, targets, steps, size)]


def models(**sizes):
    """A model for torch, and one for rushlight with the same weights."""
    torch.manual_seed(0)
    theirs, ours = gpt(torch, **sizes), gpt(rl, **sizes)
    ours.load_state_dict({name: rl.from_numpy(x.numpy().copy()) for name, x in theirs.state_dict().items()})
    return theirs, ours


def lockstep(data, compiled=False, sizes=SMALL, **options):
    """The losses and the norms of the gradients, of torch and of rushlight."""
    theirs, ours = models(**sizes)
    forward = rl.compile(ours) if compiled else None
    expected, found = [*train(torch, theirs, data, **options)], [*train(rl, ours, data, forward=forward, **options)]
    return np.array(expected), np.array(found)


@pytest.mark.sweep
@pytest.mark.parametrize("compiled", [False, True])
def test_losses_and_norms_are_those_of_torch_eager(compiled):
    expected, found = lockstep(drawn(30), compiled)
    np.testing.assert_allclose(found, expected, atol=1e-4)
    assert expected[-1, 0] < expected[0, 0]


@pytest.mark.sweep
@pytest.mark.parametrize("compiled", [False, True])
def test_two_hundred_steps_of_the_real_model_have_the_losses_of_torch(compiled):
    texts = [line.text for line in corpus.split("train")]
    tokenizer = trained.tokenizer()
    expected, found = lockstep([*batches(*rows(texts, tokenizer, 40), 200, 16)], compiled, {})
    np.testing.assert_allclose(found[:, 0], expected[:, 0], atol=1e-4)
    assert expected[-1, 0] < expected[0, 0] / 2


def test_a_batch_in_parts_of_unequal_counts_of_tokens_has_the_losses_of_the_whole_batch():
    data = drawn(10)
    whole, _ = lockstep(data)
    expected, found = lockstep(data, parts=3)
    np.testing.assert_allclose(found, whole, atol=1e-5)
    np.testing.assert_allclose(found, expected, atol=1e-5)


@pytest.mark.sweep
def test_under_autocast_the_losses_are_those_of_torch_under_autocast():
    data = drawn(30)
    exact, _ = lockstep(data)
    expected, found = lockstep(data, autocast=True)
    np.testing.assert_allclose(found[:, 0], expected[:, 0], atol=2e-3)
    assert not np.array_equal(expected, exact)


@pytest.mark.parametrize("xp", [rl, torch])
def test_a_run_that_is_saved_and_resumed_goes_on_bit_for_bit(xp):
    def begin():
        model = xp.nn.Sequential(gpt(xp, **SMALL), xp.nn.Dropout(0.5))  # dropout draws from the generator
        return Training(xp, model, drawn(12), warmup=4)

    xp.manual_seed(1)
    run = begin()
    [run.step() for _ in range(5)]
    file = io.BytesIO()
    xp.save(checkpoint(run), file)
    rest, weights = [*run], [x.detach().numpy().tobytes() for x in run.model.parameters()]
    assert len(rest) == 7

    file.seek(0)
    saved = xp.load(file)
    for _ in range(2):  # a checkpoint can be used again
        again = begin()
        [again.step() for _ in range(2)]
        resume(again, saved)
        assert [*again] == rest
        assert [x.detach().numpy().tobytes() for x in again.model.parameters()] == weights


def test_a_file_that_torch_wrote_is_a_checkpoint_for_rushlight():
    data = drawn(20)
    theirs, ours = models(**SMALL)
    run = Training(torch, theirs, data)
    [run.step() for _ in range(10)]
    file = io.BytesIO()
    torch.save(checkpoint(run), file)
    file.seek(0)
    again = Training(rl, ours, data)
    resume(again, rl.load(file))
    np.testing.assert_allclose([*again], [*run], atol=1e-4)


def test_validation_counts_tokens_and_leaves_the_model_in_its_mode():
    data = drawn(5)
    theirs, ours = models(**SMALL)
    expected, found = evaluate(torch, theirs, data, 1000), evaluate(rl, ours, iter(data), 1000)
    np.testing.assert_allclose(found, expected, rtol=1e-5)
    assert ours.training
    count = sum((targets != IGNORED).sum() for _, targets in data)
    assert found.bits_per_byte == pytest.approx(found.loss * count / 1000 / np.log(2))


def test_the_shared_weight_of_head_and_embedding_decays_once():
    decayed, others = parameter_groups(gpt(rl, **SMALL), 0.1)
    assert len(decayed["params"]) == 2 + 4 * 2 and all(each.dim() == 2 for each in decayed["params"])
    assert {each.dim() for each in others["params"]} == {1}


@pytest.mark.parametrize("xp", [rl, torch])
@pytest.mark.parametrize("new", [[1] * 16, [7, 1, 4, 1, 3], [16]])
def test_the_scores_with_a_cache_are_those_of_a_recomputation(xp, new):
    xp.manual_seed(0)
    model, cache = gpt(xp, **SMALL), None
    text = xp.randint(0, 60, (3, 16))
    with xp.no_grad():
        cache = new_cache(model, 3)
        found = xp.cat([model(each, cache) for each in text.split(new, 1)], 1)
        np.testing.assert_allclose(found.numpy(), model(text).numpy(), atol=1e-6)


@pytest.mark.parametrize("options", [{"temperature": 0}, {}, {"temperature": 0.7, "top_k": 20, "top_p": 0.9}])
def test_generation_with_a_cache_is_that_of_a_recomputation_token_for_token_and_that_of_torch(options):
    theirs, ours = models(**SMALL)
    said = []
    for xp, model in ((torch, theirs), (rl, ours)):
        with xp.no_grad():
            [each.mul_(8) for each in model.parameters()]  # scores that are far apart
            text, generator = [5, 6, 7], xp.Generator().manual_seed(3)
            for _ in range(10):
                text.append(choose(model(xp.tensor([text]))[0, -1], generator=generator, **options))
        draw = xp.Generator().manual_seed(3)
        said += [text[3:], generate(xp, model, [5, 6, 7], 10, lambda x: choose(x, generator=draw, **options))]  # noqa: B023
    assert said[0] == said[1] == said[2] == said[3]
