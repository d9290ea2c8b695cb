"""A verdict as HTML."""

import re
from html.parser import HTMLParser

import pytest

from autograder.card import FOLDED, GREEN, RED, card
from autograder.check import DISAGREED, NOT_ATTEMPTED, PASSED, Verdict

KEPT = {"div", "b", "pre", "details", "summary"}  # by JupyterLab's sanitizer and nbconvert's
HOSTILE = '<script>alert(1)</script>" onclick="x" \x1b[31m'
FAILED = Verdict(
    "a.check", DISAGREED, 8, 6, message="m", case={"n": 1}, program="def p(): ...", mine="1", theirs="2", hint="h"
)


class Structure(HTMLParser):
    """The tags of a card, its attributes, and the texts within `details`."""

    def __init__(self, text):
        super().__init__()
        self.open, self.tags, self.attributes, self.folded = [], set(), set(), ""
        self.feed(text)
        assert self.open == []

    def handle_starttag(self, tag, attributes):
        self.open.append(tag)
        self.tags.add(tag)
        self.attributes |= {name for name, _ in attributes}

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.folded += data if "details" in self.open else ""


@pytest.mark.parametrize("outcome", [PASSED, DISAGREED, NOT_ATTEMPTED])
@pytest.mark.parametrize("text", ["1", HOSTILE])
def test_a_card_is_made_of_tags_that_notebooks_keep_whatever_its_texts_are(outcome, text):
    verdict = Verdict("a.check", outcome, 8, 6, message=text, hint=text, case={"n": text}, program=text, mine=text)
    found = Structure(card(verdict))
    assert found.tags <= KEPT and found.attributes <= {"style"}


def test_the_program_and_the_replay_are_folded_and_the_results_are_not():
    found = Structure(card(FAILED))
    assert "def p(): ..." in found.folded and 'check("a.check"' in found.folded
    assert {*FOLDED}.isdisjoint({"yours", "torch's"}) and "yours" not in found.folded


def test_the_bar_has_the_part_of_the_cases_that_agree():
    assert re.search(rf"width:75%;background:{GREEN}", card(FAILED))


def test_an_exercise_that_is_not_attempted_has_a_neutral_mark():
    verdict = Verdict("a.check", NOT_ATTEMPTED)
    assert "✗" not in str(verdict) + card(verdict) and RED not in card(verdict)


def test_the_line_of_the_exception_does_not_repeat_the_card():
    assert FAILED.line() == "a.check: 6 of 8 cases agree with torch"
