import subprocess
import sys
import unicodedata

import numpy as np
import pytest
import torch
from both import FRAMEWORKS
from sweep import in_one_test, swept

from rushlight.course import grammar


def test_there_are_600_tokens_and_each_is_there_once():
    assert len(grammar.tokens) == len(set(grammar.tokens)) == 600
    assert all(unicodedata.is_normalized("NFC", token) for token in grammar.tokens)
    assert sum(token.isascii() for token in grammar.tokens[:112]) == 112


def test_every_token_ends_some_sentence_and_no_two_sentences_read_the_same():
    assert {sentence.next_token for sentence in grammar.SENTENCES} == set(grammar.tokens)
    assert len({sentence.text for sentence in grammar.SENTENCES}) == len(grammar.SENTENCES) == 1176


@in_one_test
@pytest.mark.parametrize(
    "verb, forms",
    [
        ("talk", "talks talked talking"),
        ("watch", "watches watched watching"),
        ("study", "studies studied studying"),
        ("cry", "cries cried crying"),
        ("stop", "stops stopped stopping"),
        ("sip", "sips sipped sipping"),
        ("cook", "cooks cooked cooking"),
        ("cough", "coughs coughed coughing"),
        ("kiss", "kisses kissed kissing"),
        ("owe", "owes owed owing"),
        ("allow", "allows allowed allowing"),
        ("open", "opens opened opening"),
        ("absorb", "absorbs absorbed absorbing"),
        ("answer", "answers answered answering"),
        ("surprise", "surprises surprised surprising"),
    ],
)
def test_english_is_spelled_by_its_rules(verb, forms):
    cells = (("present", 2), ("past", 0), ("progressive", 0))
    assert " ".join(grammar.english(verb, *cell) for cell in cells) == forms
    assert grammar.english(verb, "present", 5) == grammar.english(verb, "future", 2) == verb


@pytest.mark.parametrize(
    "verb, tense, forms",
    [
        ("hablar", "present", "hablo hablas habla hablamos habláis hablan"),
        ("hablar", "past", "hablé hablaste habló hablamos hablasteis hablaron"),
        ("hablar", "future", "hablaré hablarás hablará hablaremos hablaréis hablarán"),
        ("temer", "present", "temo temes teme tememos teméis temen"),
        ("temer", "past", "temí temiste temió temimos temisteis temieron"),
        ("temer", "future", "temeré temerás temerá temeremos temeréis temerán"),
        ("vivir", "present", "vivo vives vive vivimos vivís viven"),
        ("vivir", "past", "viví viviste vivió vivimos vivisteis vivieron"),
        ("vivir", "future", "viviré vivirás vivirá viviremos viviréis vivirán"),
    ],
)
def test_spanish_is_conjugated_by_its_endings(verb, tense, forms):
    assert " ".join(grammar.spanish(verb, tense, person) for person in range(6)) == forms


def test_features_are_normalised_and_different_for_different_sentences():
    features, targets = grammar.corpus()
    assert features.shape == (1176, 64) and features.dtype == np.float32
    assert targets.shape == (1176,) and targets.dtype == np.int64 and set(targets) == set(range(600))
    assert np.abs(features.mean(1)).max() < 1e-3 and np.abs(features.var(1) - 1).max() < 1e-2
    assert np.array_equal(features, features.astype(np.float16))
    assert len(np.unique(features, axis=0)) == 1176
    assert np.array_equal(grammar.features(grammar.SENTENCES[::-7]), features[::-7])
    assert grammar.features([]).shape == (0, 64)


def test_features_that_a_reader_changes_do_not_change_those_of_the_next():
    grammar.features(grammar.EXAMPLES)[:] = 0
    assert grammar.features(grammar.EXAMPLES).any()


def test_the_trained_head_knows_every_word_on_both_frameworks_whatever_the_rounding():
    features, targets = grammar.corpus()
    for xp in FRAMEWORKS:
        scores = grammar.trained_head(xp)(xp.from_numpy(features)).detach().numpy()
        others = scores.copy()
        others[np.arange(len(targets)), targets] = -np.inf
        assert (scores[np.arange(len(targets)), targets] - others.max(1)).min() > 0.1


def test_an_import_does_not_read_the_trained_weights():
    hook = "sys.addaudithook(lambda event, arguments: event == 'open' and 'npz' in str(arguments[0]) and sys.exit(1))"
    program = f"import sys; {hook}; import rushlight; from rushlight.course import corpus, grammar, head; print('done')"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.stdout == "done\n", done.stderr


def test_a_course_of_batches_comes_to_every_sentence_before_it_comes_to_one_again():
    features, targets = grammar.batches(4, 294)
    everything = grammar.corpus()[0]
    assert features.shape == (4, 294, 64) and targets.shape == (4, 294)
    assert sorted(map(tuple, features.reshape(-1, 64))) == sorted(map(tuple, everything))


def _train(xp, make):
    rng = np.random.default_rng(0)
    weight = xp.from_numpy(rng.uniform(-0.125, 0.125, (600, 64)).astype(np.float32)).requires_grad_()
    bias = xp.from_numpy(np.zeros(600, np.float32)).requires_grad_()
    optimizer, losses = make(xp.optim, [weight, bias]), []
    F = xp.nn.functional
    for features, targets in zip(*grammar.batches(200)):
        optimizer.zero_grad()
        loss = F.cross_entropy(F.linear(xp.from_numpy(features), weight, bias), xp.from_numpy(targets))
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    features, targets = grammar.corpus()
    scores = F.linear(xp.from_numpy(features), weight, bias).detach().numpy()
    return np.array(losses), (scores.argmax(1) == targets).mean()


@pytest.mark.parametrize(
    "make",
    [
        swept(lambda optim, params: optim.Adam(params, lr=0.02)),
        swept(lambda optim, params: optim.AdamW(params, lr=0.02)),
        lambda optim, params: optim.SGD(params, lr=0.3, momentum=0.9),
    ],
)
def test_the_head_learns_to_conjugate_in_200_steps_in_lockstep_with_torch(make):
    (ours, our_accuracy), (theirs, their_accuracy) = (_train(xp, make) for xp in FRAMEWORKS)
    assert np.abs(ours - theirs).max() < 1e-5
    assert our_accuracy > 0.99 and their_accuracy > 0.99 and ours[-1] < 0.5


def test_the_likeliest_tokens_come_first():
    scores = np.zeros((1, 600))
    scores[0, [5, 9]] = 2, 3
    assert grammar.likeliest(scores, 2) == [[grammar.tokens[9], grammar.tokens[5]]]
    assert grammar.likeliest(torch.from_numpy(scores), 1) == [[grammar.tokens[9]]]
