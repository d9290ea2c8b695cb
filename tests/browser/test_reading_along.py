# ruff: noqa: F401, F811 (`lab` is a fixture that another file has)
"""Reading along: which sections were read, and the exercises of labs that are in a reading."""

import json

import pytest
from test_lab_page import LAB, RIGHT, STRIDES, WRONG, answer, card, lab, press, tally

READING = "phases/01_strided/reading_01a.html"
SCROLL = """async (share) => {
    const end = document.documentElement.scrollHeight * share;
    for (let y = 0; y < end; y += innerHeight / 2) {
        scrollTo({ top: y, behavior: "instant" });
        await new Promise((done) => requestAnimationFrame(() => setTimeout(done)));
    }
}"""
SEEN = "() => new Promise((done) => new IntersectionObserver(done).observe(document.body))"
ENDS = """id => {
    const section = document.getElementById(id), blocks = [section];
    while (blocks.at(-1).nextElementSibling.tagName !== "H2") blocks.push(blocks.at(-1).nextElementSibling);
    const shown = blocks.filter((block) => block.getClientRects().length);
    return [section, shown.at(-1)].map((block) => Math.round(block.getBoundingClientRect().top + scrollY));
}"""
READ = "JSON.parse(localStorage['rushlight/read 01_strided/reading_01a'] ?? '{\"sections\": []}')"


@pytest.mark.sweep
def test_a_section_is_read_when_it_was_in_sight_for_some_of_its_minutes_and_not_when_it_passed_by(browser, below):
    page = browser.new_page()  # its clock is its own
    page.clock.install()
    page.goto(below + READING)
    page.evaluate("localStorage.clear()")
    page.goto(f"{below}{READING}#channels-last")
    page.reload()
    assert page.locator(".md-nav--secondary a", has_text="Contiguous strides").inner_text().endswith(" min")
    page.evaluate(SCROLL, 1)
    assert page.evaluate(READ)["sections"] == []
    height = page.evaluate("document.documentElement.scrollHeight")
    rest(page, range(0, int(0.4 * height), 360))
    read = page.evaluate(READ)
    assert "contiguous-strides" in read["sections"] and "channels-last" not in read["sections"] and not read["whole"]
    page.goto(below)
    count = len(read["sections"])
    assert page.locator(".card .kept").text_content() == f"✓ {count}"
    link = page.locator("[data-continue] a")
    assert link.inner_text() == "Part 01a: views" and f"{READING}#" in link.get_attribute("href")
    page.goto(f"{below}map.html")
    assert page.get_by_title(f"{count} sections read").first.is_visible()
    page.goto(below + READING)
    assert page.locator(".md-nav--secondary a[href='#contiguous-strides'] .section").count() == 1
    section = "any-strides-you-like-as_strided"
    top, last = page.evaluate(ENDS, section)
    foot = last - page.viewport_size["height"] - 10  # where its last block is not in sight
    rest(page, [*range(top, foot, 360), foot])
    assert section in page.evaluate(READ)["sections"]
    rest(page, range(0, height, 360))
    assert page.evaluate(READ)["whole"]
    page.goto(below)
    assert page.locator(".card .kept").text_content() == "✓"
    page.context.close()


def rest(page, places):
    """Look at each place of a page for twenty seconds of its clock."""
    for y in places:
        page.evaluate("(y) => scrollTo({ top: y, behavior: 'instant' })", y)
        page.evaluate(SEEN)
        page.clock.run_for(20_000)


@pytest.mark.sweep  # starts Python
def test_an_exercise_is_done_in_a_reading_and_has_passed_in_its_lab(lab, below):
    lab.goto(below + READING)
    lab.locator("details.here", has_text="contiguous_strides, of lab 01a").first.locator("summary").click()
    answer(lab, STRIDES, WRONG)
    press(lab, STRIDES)
    assert "69 of 93 cases agree with torch" in card(lab, STRIDES)
    answer(lab, STRIDES, RIGHT)
    press(lab, STRIDES)
    assert "all 93 cases agree with torch" in card(lab, STRIDES) and lab.locator("details.here.done").count() == 1
    lab.locator("a[href$='#exercise-aten-strided-contiguous_strides']").first.click()
    lab.wait_for_url(f"{below}{LAB}#exercise-*")
    assert tally(lab).startswith("2 of") and "✓" in card(lab, STRIDES)
