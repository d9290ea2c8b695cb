"""The steps of a conversation are what the model computed, and their lines are those that ran."""

import inspect

import numpy as np
import pytest

import rushlight as rl
from autograder.engine.exercise import fill, unplug
from rushlight.course import attention, sampling, trained
from rushlight.course.gpt import gpt
from rushlight.course.talk import Conversation, loaded


def steps_of(talk):
    steps = []
    while not talk.ended:
        steps.append(talk.step())
    return steps


def test_a_conversation_says_what_complete_says():
    for prompt, said in zip(trained.PROMPTS[-2:], trained.record()["said"]["after"][-2:]):
        talk = Conversation(prompt)
        steps = steps_of(talk)
        assert "".join(step["token"]["text"] for step in steps) == f"{said}\n" and talk.ended == "end"
        assert all(step["top"][0]["id"] == step["token"]["id"] for step in steps)


def test_tokens_are_those_that_generate_draws_with_the_same_seed():
    model, tokenizer = loaded()
    draw = rl.Generator().manual_seed(3)
    prompt = [tokenizer.end, *tokenizer.encode("")]
    expected = sampling.generate(
        rl, model, prompt, 64, lambda scores: sampling.choose(scores, 1.5, generator=draw), tokenizer.end
    )
    assert [step["token"]["id"] for step in steps_of(Conversation("", 1.5, seed=3))] == expected


def test_weights_and_logits_are_those_of_a_forward_pass_over_the_whole_text():
    model, _ = loaded()
    weights = []

    def attend(query, key, value):
        weights.append(attention.attention_weights(query, key, attention.causal_mask(rl, *[query.shape[2]] * 2)))
        return weights[-1] @ value

    whole = gpt(rl, attend=attend)
    whole.load_state_dict(model.state_dict())
    talk = Conversation("(copiar) hoy tú", temperature=0.5)
    for _ in range(3):
        tokens, step = [*talk.tokens], talk.step()
        weights.clear()
        with rl.no_grad():
            scores = whole(rl.tensor([tokens]))[0, -1]
        probabilities = (scores / 0.5).softmax(0)
        for candidate in step["top"]:
            assert candidate["logit"] == pytest.approx(scores[candidate["id"]].item(), abs=2e-3)
            assert candidate["probability"] == pytest.approx(probabilities[candidate["id"]].item(), abs=1e-4)
        expected = np.stack([each[0, :, -1].numpy() for each in weights])
        np.testing.assert_allclose(step["weights"], expected, atol=2e-4)
        np.testing.assert_allclose(np.sum(step["weights"], -1), 1, atol=5e-3)


def test_the_cache_has_the_positions_that_were_read_and_a_step_adds_one():
    talk = Conversation("(walk) yesterday they")
    first, second = talk.step()["cache"], talk.step()["cache"]
    assert first["appended"] == first["length"] == len(talk.tokens) - 2
    assert second["appended"] == 1 and second["length"] == first["length"] + 1
    assert second["bytes"] - first["bytes"] == 4 * 4 * 16 * 2 * 4  # blocks, heads, width, keys and values, bytes


@pytest.mark.parametrize(
    ("text", "unknown"), [("(wugar) ¿", []), ("🙂 ñandú ß", ["🙂", "ß"]), ("", []), ("\0\n\t", [])]
)
def test_any_text_goes_on_and_what_has_no_token_is_said(text, unknown):
    talk = Conversation(text)
    assert talk.begin()["unknown"] == unknown
    assert len(talk.step()["top"]) == 10


def test_a_text_ends_where_the_model_has_no_further_position():
    with pytest.raises(ValueError, match=r"has 65 tokens, and the model has 64 positions"):
        Conversation("x" * 64)
    talk = Conversation("x" * 63)
    talk.step()
    assert talk.ended == "full" and talk.cache[0].length == 64


def test_lines_are_those_that_ran_and_a_piece_of_a_student_has_its_own():
    def append(cache, keys, values):
        start, stop = cache.length, cache.length + keys.shape[2]
        cache.keys[:, :, start:stop] = keys
        cache.values[:, :, start:stop] = values  # the last line that writes
        cache.length = stop
        return cache.keys[:, :, :stop], cache.values[:, :, :stop]

    lines = Conversation("(walk)").step()["lines"]
    for name, function in (("choice", sampling.choose), ("attention", attention.attention_weights)):
        source, first = inspect.getsourcelines(function)
        assert lines[name]["module"] == function.__module__ and lines[name]["function"] == function.__name__
        assert source[lines[name]["number"] - first].strip() == lines[name]["text"]
    assert "argmax" in lines["choice"]["text"] and "head" in lines["logits"]["text"]
    assert "copy_(values)" in lines["cache"]["text"] and "softmax" in lines["attention"]["text"]
    assert "multinomial" in Conversation("(walk)", 1.0).step()["lines"]["choice"]["text"]
    fill(sampling.append, append)
    try:
        line = Conversation("(walk)").step()["lines"]["cache"]
    finally:
        unplug(sampling.append)
    assert line["text"].endswith("# the last line that writes") and line["module"] == __name__
