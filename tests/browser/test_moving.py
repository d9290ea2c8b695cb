"""The moving figures in a browser: their pictures, their controls, and what they say."""

import random
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "docs" / "figures"))
import build  # noqa: E402

sys.path.pop(0)

PLACE_OF_FOCUS = (
    "[...document.querySelectorAll('.controls :is(button, select, input)')].indexOf(document.activeElement)"
)


@pytest.fixture
def opened(page):
    """Opens a figure by itself; returns what it says."""

    def opened(name: str):
        page.set_content(build.empty(name, build.module(name).SIZE))
        return page.locator(".said")

    return opened


def press(page, *names):
    for name in names:
        page.get_by_role("button", name=name, exact=True).click()


@pytest.mark.parametrize("name", build.names())
def test_the_picture_of_a_figure_is_what_it_draws_first(page, name):
    given = build.module(name)
    (picture,) = ROOT.glob(f"phases/{given.PHASE}_*/{name}.svg")
    assert picture.read_text(encoding="utf-8") == build.picture(page, name, given.SIZE)


@pytest.mark.parametrize("name", build.names())
def test_a_figure_stays_whole_whatever_is_pressed(page, opened, name):
    said, draw = opened(name), random.Random(0)
    for _ in range(60):
        buttons = page.locator(".moving :is(button:enabled, [role=button])")
        buttons.nth(draw.randrange(buttons.count())).dispatch_event("click")
        for kind in "select", "input[type=range]":
            for control in page.locator(f".moving {kind}").all()[:2]:
                control.press(draw.choice(["ArrowRight", "ArrowLeft", "ArrowDown"]))
        drawn = page.locator(".moving svg").inner_html()
        assert said.inner_text().strip()
        assert not any(word in drawn + said.inner_text() for word in ("NaN", "undefined", "[object"))


@pytest.mark.parametrize("name", build.names())
def test_a_figure_is_worked_by_keyboard_alone(page, opened, name):
    said = opened(name)
    controls = page.locator(".moving .controls :is(button:enabled, select, input)")
    reached, before = set(), page.locator(".moving").inner_html()
    for _ in range(controls.count() + 60):
        page.keyboard.press("Tab")
        reached.add(page.evaluate(PLACE_OF_FOCUS))
    reached.discard(-1)
    assert len(reached) >= controls.count()
    controls.first.focus()
    page.keyboard.press("Enter")
    assert page.locator(".moving").inner_html() != before and said.inner_text()


# What each figure shows ----------------------------------------------------------------------------------------------


def test_strides_shows_a_transpose_an_overlap_a_refusal_and_a_copy(page, opened):
    said = opened("strides")
    press(page, ".t()")
    picture = page.locator(".moving svg")
    assert "(4, 3)" in picture.text_content() and "(1, 4)" in picture.text_content()
    press(page, ".view(-1)")
    assert "view size is not compatible" in said.inner_text()
    press(page, ".reshape(-1)")
    assert "copied" in said.inner_text()
    press(page, "undo", "undo", "[:, :1]", ".expand(-1, 4)")
    assert "3 cells" in said.inner_text() and "(4, 0)" in picture.text_content()
