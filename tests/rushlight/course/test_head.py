import json

import numpy as np
import pytest
import torch
from both import FRAMEWORKS

import rushlight as rl
from rushlight.course import grammar, head


def test_every_sentence_ends_before_one_of_the_600_forms():
    assert {form for _, form in head.SENTENCES} == set(grammar.tokens)
    assert {(each.text, each.next_token) for each in grammar.SENTENCES} <= {*head.SENTENCES}


def test_only_the_last_word_of_a_sentence_has_a_target():
    for inputs, targets in head.batches(2):
        assert inputs.shape == targets.shape == (head.BATCH, head.LENGTH)
        assert ((targets >= 0).sum(1) == 1).all()
        last = (targets >= 0).argmax(1)
        for row, position in zip(inputs, last):
            assert row[: position + 1].any() and not row[position + 1 :].any()


@pytest.mark.sweep
def test_the_model_learns_in_lockstep_with_torch_and_gives_the_same_to_its_head():
    trained = [[*head.train(xp, 5)] for xp in FRAMEWORKS]
    ours, theirs = ([step.loss for _, step in each] for each in trained)
    assert np.abs(np.subtract(ours, theirs)).max() < 1e-5 and ours[-1] < ours[0]
    mine, its = (head.hidden(xp, each[-1][0]) for xp, each in zip(FRAMEWORKS, trained))
    assert np.abs(mine - its).max() < 1e-3


def test_what_a_model_gives_to_its_head_leads_to_the_scores_of_its_last_words():
    torch.manual_seed(1)
    made = head.model(torch)
    inputs, last = head.rows([sentence.text for sentence in grammar.EXAMPLES])
    scores = made(torch.from_numpy(inputs))[torch.arange(len(last)), torch.from_numpy(last)]
    chosen = [grammar.SENTENCES.index(sentence) for sentence in grammar.EXAMPLES]
    assert torch.allclose(made.head(torch.from_numpy(head.hidden(torch, made)[chosen])), scores, atol=1e-5)


def test_the_file_has_the_loss_and_the_accuracy_that_its_provenance_names():
    with np.load(head.FILE) as file:
        arrays = {name: file[name] for name in ("weight", "bias", "hidden")}
        provenance = json.loads(str(file["provenance"]))
    assert [each.shape for each in arrays.values()] == [(600, 64), (600,), (1176, 64)]
    assert [each.dtype for each in arrays.values()] == [np.float32, np.float32, np.float16]
    loss, right = head.scored(arrays)
    assert abs(loss - provenance["loss"]) < 1e-3 and right == provenance["right"] == 1
    features, targets = (rl.from_numpy(each) for each in grammar.corpus())
    with rl.no_grad():
        mean = rl.nn.functional.cross_entropy(grammar.trained_head(rl)(features), targets)
    assert abs(mean.item() - loss) < 1e-4


def test_the_provenance_names_the_sentences_that_the_command_trains_on():
    with np.load(head.FILE) as file:
        provenance = json.loads(str(file["provenance"]))
    assert provenance["texts"] == head.digest()
    counts = {"sentences": len(head.SENTENCES), "of grammar": len(grammar.SENTENCES), "words": len(head.WORDS)}
    assert provenance["counts"] == counts
    assert provenance["settings"] == {"steps": head.STEPS, "batch": head.BATCH, "blocks": 4, "width": grammar.FEATURES}
    assert provenance["command"] == f"python -m rushlight.course.head --steps {head.STEPS}"


@pytest.mark.sweep
def test_the_command_writes_the_same_numbers_each_time_and_says_where_they_come_from(tmp_path):
    made = []
    for name in ("one.npz", "two.npz"):
        head.make(2, tmp_path / name)
        made.append((tmp_path / name).read_bytes())
    assert made[0] == made[1]
    with np.load(tmp_path / "one.npz") as file:
        assert json.loads(str(file["provenance"]))["texts"] == head.digest()
