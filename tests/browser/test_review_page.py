"""The page *Review*: the questions of the readings, each asked again when it is due."""

import random
import re
from html import unescape

import pytest
from sweep import sweep

from autograder.cli import deck
from autograder.cli.deck import Card
from autograder.model import phases

KEPT = "JSON.parse(localStorage.getItem('rushlight/review'))"
START = "2027-01-30"


def keep(page, key, **what):
    page.evaluate("([key, what]) => localStorage.setItem(`rushlight/${key}`, JSON.stringify(what))", [key, what])


@pytest.fixture
def review(page, served):
    """The page of a browser in which all sections of Reading 01 were read."""
    page.goto(f"{served}/review.html")
    page.evaluate("localStorage.clear()")
    names = page.evaluate(
        "JSON.parse(questions.textContent).find(({ number }) => number === '01').questions.map(({ name }) => name)"
    )
    keep(page, "read 01_strided/reading", sections=[name.removeprefix("01/") for name in names])
    page.reload()
    yield page
    page.evaluate("localStorage.clear()")


def test_the_page_and_the_command_have_one_schedule(page, served):
    page.goto(f"{served}/review.html")
    draw = random.Random(0)
    answers = [draw.choices((1, 2, 3, 4), (1, 2, 4, 2), k=9) for _ in range(100)]
    cards = page.evaluate(
        """([answers, start]) => answers.map((grades) => {
            const cards = [];
            for (const grade of grades) cards.push(spaced.scheduled(cards.at(-1), grade, cards.at(-1)?.due ?? start));
            return cards;
        })""",
        [answers, START],
    )
    for grades, found in zip(answers, cards, strict=True):
        card = Card()
        for grade, other in zip(grades, found, strict=True):
            card = deck.scheduled(card, grade, card.due or START)
            assert Card(**other) == card
    for number in range(20):
        known = {
            f"q{place}": Card(1, 250, days := draw.randint(0, 3), deck.later(START, days - draw.randint(0, 4)))
            for place in range(9)
        }
        names, most = [f"q{place}" for place in draw.sample(range(14), 12)], draw.randint(3, 9)
        given = [names, {name: vars(card) for name, card in known.items()}, START, most]
        assert page.evaluate("(given) => spaced.todays(...given)", given) == deck.todays(names, known, START, most), (
            number
        )


def letters(text):
    return re.sub(r"[\s`*\\]", "", text)


def test_it_has_the_questions_of_the_readings_by_the_names_that_the_command_has(page, served, whole):
    page.goto(f"{served}/review.html")
    text = "JSON.parse(document.getElementById('questions').textContent)"
    questions = page.evaluate(f"{text}.flatMap((phase) => phase.questions)")
    every = [each for phase in phases() for each in deck.questions(phase)]
    names = [each["name"] for each in questions]
    assert whole or {*names} > {each.name for each in every if each.phase == "01"}  # a test's site lacks most readings
    every = [each for each in every if whole or each.name in names]
    assert names == [each.name for each in every]
    for found, known in zip(questions, every):
        for html, markdown in (found["question"], known.text), (found["answer"], known.answer):
            assert letters(unescape(re.sub("<[^>]+>", "", html))) == letters(markdown)
    for each in questions[::9]:
        assert page.request.get(f"{served}/{each['place'].split(chr(34))[1]}").ok


@pytest.mark.parametrize("width", sweep([390, 1440], keep=[390]))
def test_five_questions_are_asked_by_keyboard_or_thumb_and_come_again(review, served, width):
    review.set_viewport_size({"width": width, "height": 800})
    place = review.locator("[data-review]")
    first = place.locator(".question").inner_text()
    assert place.get_by_text("1 of 5").is_visible() and not place.locator(".answer").is_visible()
    review.keyboard.press("3")  # which is no answer yet
    review.keyboard.press("Enter")
    assert place.locator(".answer").is_visible()
    assert place.locator(".thumb small").all_text_contents() == ["today", "tomorrow", "in 2 days", "in 4 days"]
    review.keyboard.press("1")
    assert place.get_by_text("2 of 5").is_visible()  # a question that comes again is counted apart
    assert review.locator("#how-it-works").is_visible() == (width > 720)
    for word in ("good", "hard"):
        place.get_by_role("button", name="Show the answer").click()
        button = place.get_by_role("button", name=word)
        box = button.bounding_box()
        assert box["height"] >= 48 and box["y"] + box["height"] <= 800
        button.click()
    assert place.get_by_text("4 of 5").is_visible()
    review.keyboard.press("Enter")
    place.get_by_role("button", name="easy").focus()  # a number counts here, too
    review.keyboard.press("3")
    assert place.get_by_text("5 of 5").is_visible()
    review.reload()  # what was answered is kept, and counts
    assert place.get_by_text("5 of 5").is_visible()
    review.keyboard.press("Enter")
    review.keyboard.press("4")
    assert place.get_by_text("once more: 1 left").is_visible() and place.locator(".question").inner_text() == first
    review.keyboard.press("Enter")
    review.keyboard.press("2")
    assert "Nothing is left for today. Tomorrow: 5 questions." in place.inner_text()
    assert place.get_by_role("link").get_attribute("href") == "map.html"
    keep(review, "last", href=f"{served}/phases/01_strided/01a_views.html", lab="01a")
    review.reload()
    assert "Go on where you stopped: lab 01a" in place.inner_text()
    assert [card["days"] for card in review.evaluate(f"Object.values({KEPT}.cards)")] == [2, 1, 2, 4, 1]
    review.goto(f"{served}/index.html")
    assert review.locator("[data-due]").inner_text() == ""
    review.evaluate(  # a day later
        f"""() => {{
            const kept = {KEPT};
            for (const card of Object.values(kept.cards)) card.due = spaced.later(card.due, -1);
            localStorage.setItem("rushlight/review", JSON.stringify(kept));
        }}"""
    )
    review.reload()
    review.get_by_role("link", name="Review: 2 due today").click()
    place.get_by_text("1 of 5").wait_for()


def test_home_says_nothing_of_a_review_before_a_phase_is_begun(review, served):
    review.goto(f"{served}/index.html")
    link = review.get_by_role("link", name="Review: 5 questions about what you began")
    assert link.is_visible()
    review.evaluate("localStorage.clear()")
    keep(review, "01a_views", answers={}, passed={})  # a page that was seen
    keep(review, "read 01_strided/reading", sections=["for-reference"])
    review.reload()
    assert not link.is_visible() and review.locator("[data-due]").inner_text() == ""
    keep(review, "01a_views", answers={"aten-strided-contiguous_strides": "what I wrote"})
    review.reload()
    assert review.get_by_role("link", name="Review: one question about what you began").is_visible()


def test_what_was_not_read_is_not_asked(review):
    """Of a phase that is only chosen, all is asked."""
    place = review.locator("[data-review]")
    review.evaluate("localStorage.clear()")
    keep(review, "01a_views", answers={"aten-strided-as_strided": "what I wrote"})
    keep(review, "read 01_strided/reading", sections=["views-that-reorder-dimensions"])
    review.reload()
    for number, section in enumerate(("Views that reorder dimensions", "Any strides you like: as_strided"), 1):
        assert place.get_by_text(f"{number} of 2 · 01 · {section}").is_visible()
        review.keyboard.press("Enter")
        review.keyboard.press("3")
    assert "The next question comes in 2 days." in place.inner_text()
    assert "all questions about what you have read" in place.inner_text() and place.get_by_role("button").count() == 0
    place.locator("summary").click()
    place.get_by_label("10 ").check()
    assert place.get_by_text("3 of 5 · 10 ·").is_visible()


def test_a_lab_whose_exercises_no_section_explains_asks_about_its_phase(page, served):
    page.goto(f"{served}/review.html")
    asked = [["13/six-steps", ["-tensors-name_1", "13b_training"]], ["13/mend", ["13b_training"]], ["12/mend", []]]
    keep(page, "13b_training", answers={"clinic-training-name_1": "what I wrote"})
    assert page.evaluate("(asked) => spaced.read(new Map(asked)).names", asked) == ["13/six-steps", "13/mend"]
    page.evaluate("localStorage.clear()")


def of_10b(page):
    """The sections of Reading 10b that have a question."""
    questions = page.evaluate("JSON.parse(questions.textContent).find(({ number }) => number === '10').questions")
    return [each["name"].removeprefix("10/") for each in questions if "reading_10b.html" in each["place"]]


@pytest.mark.sweep
def test_phases_are_those_that_were_begun_until_they_are_chosen(review, whole):
    place = review.locator("[data-review]")
    assert place.locator("summary").inner_text() == "Phases: 01"
    keep(review, "read 10_quantization/reading_10b", sections=of_10b(review))
    review.reload()
    assert place.locator("summary").inner_text() == ("Phases: 01, 10" if whole else "All phases")
    place.locator("summary").click()
    place.get_by_label("01 ").uncheck()
    assert place.get_by_text("1 of 5 · 10 ·").is_visible()
    keep(review, "02a_keys", answers={"c10-dispatch-keys_in": "what I wrote"})
    review.reload()
    assert place.locator("summary").inner_text() == "Phases: 10"
    place.locator("summary").click()
    every = place.get_by_label("All phases")
    assert every.evaluate("(box) => box.indeterminate")
    every.check()
    assert place.locator("summary").inner_text() == "All phases" and place.get_by_label("01 ").is_checked()


def test_a_phase_whose_questions_are_in_english_has_a_mark_in_the_list(page, served):
    page.goto(f"{served}/es/review.html")
    list_of = page.locator("[data-review] details")
    assert list_of.locator("label", has_text="10 ").locator("small").text_content() == "EN"
    assert not list_of.locator("label", has_text="01 ").locator("small").count()


def test_what_is_due_comes_first_and_new_questions_begin_with_the_phase_read_last(review):
    place = review.locator("[data-review]")
    name = review.evaluate("JSON.parse(questions.textContent).find(({ number }) => number === '01').questions[3].name")
    sections = review.evaluate("JSON.parse(localStorage['rushlight/read 01_strided/reading']).sections")
    keep(review, "read 01_strided/reading", sections=sections, at=2)
    keep(review, "read 10_quantization/reading_10b", sections=of_10b(review), at=3)
    keep(review, "review", cards={name: {"passed": 1, "ease": 250, "days": 1, "due": "2020-01-01"}})
    for phase in "01", "10", "10":
        review.reload()
        assert place.get_by_text(f" of 5 · {phase} ·").is_visible()
        place.get_by_role("button", name="Show the answer").click()
        place.get_by_role("button", name="good").click()
    keep(review, "read 01_strided/reading", sections=sections, at=4)
    review.reload()
    assert place.get_by_text("4 of 5 · 01 ·").is_visible()


def test_a_browser_without_work_is_asked_which_phases_it_has_read(page, served, problems):
    page.goto(f"{served}/review.html")
    page.evaluate("localStorage.clear()")
    page.reload()
    place = page.locator("[data-review]")
    assert place.locator("details").get_attribute("open") is not None
    assert place.get_by_role("button", name="Choose a phase, then begin").is_disabled()
    page.set_viewport_size({"width": 1024, "height": 480})
    for box in place.get_by_role("checkbox").all():  # the buttons, which stay in sight, cover no focus
        box.focus()
        assert box.bounding_box()["y"] + box.bounding_box()["height"] < place.locator(".thumb").bounding_box()["y"]
    waits = place.get_by_text("A question comes after you have read")
    assert waits.get_by_role("link", name="a reading").is_visible()
    place.get_by_label("10 ").check()
    assert not waits.is_visible()
    place.get_by_label("01 ").check()  # the list stays
    assert place.locator("summary").inner_text() in ("Phases: 01, 10", "All phases")
    place.get_by_role("button", name="Begin").click()
    assert place.get_by_role("button", name="Show the answer").is_visible() and place.get_by_text("1 of 5").is_visible()
    assert place.locator("details").get_attribute("open") is None
    place.locator("summary").click()
    place.get_by_label("01 ").uncheck()  # and begins at once from now on
    assert (
        place.get_by_text("1 of 5 · 10 ·").is_visible() and place.locator("details").get_attribute("open") is not None
    )
    page.evaluate("localStorage.clear()")
