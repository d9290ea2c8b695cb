import re
from itertools import islice
from pathlib import Path

import numpy as np
import pytest
import torch
from both import FRAMEWORKS
from sweep import sweep
from threadpoolctl import threadpool_limits

import rushlight as rl
from rushlight.course import corpus, trained

ROOT = Path(__file__).parents[3]


@pytest.fixture(autouse=True)
def one_thread():
    """Threads that wait for each other on a busy machine take minutes for matrices that are this small."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    with threadpool_limits(1):
        yield
    torch.set_num_threads(before)


@pytest.mark.parametrize(("xp", "steps"), sweep([(xp, steps) for steps in (10, 50) for xp in FRAMEWORKS], every=4))
def test_both_frameworks_repeat_the_first_steps_of_the_training(xp, steps):
    data = trained.batches(trained.tokenizer(), steps) * (trained.STEPS // steps)  # as long as the whole training
    losses = [step.loss for step in islice(trained.train(xp, trained.untrained(xp), data), steps)]
    assert np.abs(losses - trained.losses()[:steps]).max() < 1e-4


def test_rushlight_says_what_the_file_says_after_training_and_no_choice_is_close():
    said = trained.complete(rl, trained.trained(rl), trained.tokenizer(), trained.PROMPTS)
    assert [each.text for each in said] == trained.record()["said"]["after"]
    assert min(each.margin for each in said) > 0.2


def test_of_seven_forms_that_no_text_has_six_are_right():
    forms = ["dragged", "climbs", "copies", "copiaré", "une", "limpió", "wugaron"]
    said = [re.findall(r"\w+", each)[0] for each in trained.record()["said"]["after"]]
    assert [(form, word) for form, word in zip(forms, said) if form != word] == [("copies", "copys")]
    begun = {line.before.rstrip(): line.form for line in corpus.split("validation")}
    assert [begun.get(prompt) for prompt in trained.PROMPTS] == [*forms[:-1], None]
    assert not {*forms, "wugar"} & {word for text in trained.texts() for word in re.findall(r"\w+", text)}


@pytest.mark.parametrize("page", ["README.md", "docs/index.md"])
def test_a_page_quotes_what_the_model_says_and_how_often_it_is_right(page):
    text = (ROOT / page).read_text(encoding="utf-8")
    said, right = trained.record()["said"], trained.record()["right"]["held out"]
    for prompt, *words in zip(trained.PROMPTS, said["half-way"], said["after"]):
        if prompt in text:
            row = next(line for line in text.splitlines() if prompt in line)
            assert all(word.strip() in row for word in words[page == "README.md" :])
    assert sum(prompt in text for prompt in trained.PROMPTS) >= 3
    assert f"{right['all'][0] / right['all'][1]:.0%}".replace("%", " %") in text


def test_the_trained_models_of_both_frameworks_give_the_same_scores():
    ids = np.arange(64).reshape(2, 32) * 7 % 600
    ours, theirs = (trained.trained(xp)(xp.from_numpy(ids)).detach().numpy() for xp in FRAMEWORKS)
    assert np.abs(ours - theirs).max() < 1e-3


def test_the_file_is_small_and_says_how_it_was_made():
    record = trained.record()
    assert trained.FILE.stat().st_size < 600_000
    assert len(trained.tokenizer()) == 600
    assert len(trained.losses()) == record["settings"]["steps"] == trained.STEPS
    assert record["texts"] == trained.digest()
    assert record["settings"]["batch"] == trained.BATCH and record["settings"]["lr"] == trained.RATE
    assert set(record["versions"]) == {"python", "numpy", "torch"}


def test_the_model_conjugates_verbs_that_it_never_saw():
    right = trained.record()["right"]["held out"]
    assert right["all"][0] > 0.6 * right["all"][1] and right["ending"][0] > 0.9 * right["ending"][1]


def test_the_counts_in_the_file_are_those_of_the_model():
    lines = corpus.split("validation")[:150]
    right = trained.score(torch, trained.trained(torch), trained.tokenizer(), lines)
    whole = trained.record()["right"]["held out"]
    for key in ("all", "ending", "whole"):
        assert abs(right[key][0] / right[key][1] - whole[key][0] / whole[key][1]) < 0.12  # 150 lines of 3,672


@pytest.mark.sweep
def test_the_tokens_are_learned_from_the_sentences_and_all_counts_are_counted_again():
    model, tokenizer = trained.trained(torch), trained.tokenizer()
    assert trained.learn_merges() == tokenizer.merges
    for name, lines in trained.groups().items():
        for key, (count, of) in trained.score(torch, model, tokenizer, lines).items():
            assert trained.record()["right"][name][key][1] == of
            assert abs(trained.record()["right"][name][key][0] - count) <= 0.01 * of  # rounding may tip a few


def test_irregular_forms_are_those_that_no_rule_gives():
    went, goes, read = (
        next(line for line in corpus.LINES if line.text == text)
        for text in ("(go) yesterday I went.", "(go) every day she goes.", "(leer) ayer ella leyó las cartas.")
    )
    assert trained.irregular([went, goes, read]) == [went, read]
