# ruff: noqa: F401, F811 (`lab` is a fixture that another file has)
"""Reading along: which sections were read, and the exercises of labs that are in a reading."""

import json

import pytest
from test_lab_page import LAB, RIGHT, STRIDES, WRONG, answer, card, lab, press, tally

READING = "phases/01_strided/reading.html"
SCROLL = """async (share) => {
    const end = document.documentElement.scrollHeight * share;
    for (let y = 0; y < end; y += innerHeight / 2) {
        scrollTo({ top: y, behavior: "instant" });
        await new Promise((done) => requestAnimationFrame(() => setTimeout(done)));
    }
}"""
READ = "JSON.parse(localStorage['rushlight/read 01_strided/reading'] ?? '{\"sections\": []}')"


@pytest.mark.sweep
def test_a_reading_marks_the_sections_that_were_scrolled_through_and_is_read_at_its_end(page, below):
    page.goto(below + READING)
    page.evaluate("localStorage.clear()")
    page.goto(f"{below}{READING}#in-five-lines")
    page.reload()
    assert page.locator(".md-nav--secondary a", has_text="Contiguous strides").inner_text().endswith(" min")
    page.evaluate(SCROLL, 0.4)
    read = page.evaluate(READ)
    assert (
        "contiguous-strides" in read["sections"]
        and "lending-memory-dlpack" not in read["sections"]
        and not read["whole"]
    )
    page.reload()
    assert page.locator(".md-nav--secondary a[href='#contiguous-strides'] .section").count() == 1
    page.evaluate(SCROLL, 1)
    page.wait_for_function(f"{READ}.whole")
    page.goto(below)
    assert page.locator(".card .kept").text_content() == "✓"
    page.evaluate("localStorage.clear()")


@pytest.mark.sweep  # starts Python
def test_an_exercise_is_done_in_a_reading_and_has_passed_in_its_lab(lab, below):
    lab.goto(below + READING)
    lab.locator("details.here", has_text="contiguous_strides").first.locator("summary").click()
    answer(lab, STRIDES, WRONG)
    press(lab, STRIDES)
    assert "69 of 93 cases agree with torch" in card(lab, STRIDES)
    answer(lab, STRIDES, RIGHT)
    press(lab, STRIDES)
    assert "all 93 cases agree with torch" in card(lab, STRIDES) and lab.locator("details.here.done").count() == 1
    lab.locator("a[href$='#exercise-aten-strided-contiguous_strides']").first.click()
    lab.wait_for_url(f"{below}{LAB}#exercise-*")
    assert tally(lab).startswith("2 of") and "✓" in card(lab, STRIDES)
