"""The page of an exam as a student takes it: by the keyboard, through a crash, in both schemes, and on a narrow screen."""

import json
import os
import socket
import subprocess
import sys
from contextlib import contextmanager

import pytest
from exam_paper import WORD, sample, sealed

from autograder.exam.desk import read

SERVE = "import sys; from pathlib import Path; from autograder.exam.desk import serve; serve(*map(Path, sys.argv[1:]), False)"
# every text of the page with the contrast of its colour and what is painted below it, if this is less than 4.5
LOW_CONTRAST = """() => {
    const canvas = document.createElement("canvas").getContext("2d", {willReadFrequently: true});
    const linear = part => part <= 10.31 ? part / 3294.6 : ((part / 255 + 0.055) / 1.055) ** 2.4;
    const luminance = colours => {
        for (const colour of colours) { canvas.fillStyle = colour; canvas.fillRect(0, 0, 1, 1); }
        const [red, green, blue] = [...canvas.getImageData(0, 0, 1, 1).data].map(linear);
        return 0.2126 * red + 0.7152 * green + 0.0722 * blue + 0.05;
    };
    const page = getComputedStyle(document.body).backgroundColor, low = [];
    for (const each of document.querySelectorAll("body *")) {
        const says = [...each.childNodes].some(node => node.nodeType === 3 && node.data.trim()) || each.matches("input, textarea");
        if (!says || !each.checkVisibility() || each.matches("script, :disabled")) continue;
        const ground = [page];
        for (let at = each; at; at = at.parentElement) ground.splice(1, 0, getComputedStyle(at).backgroundColor);
        const ratio = luminance(ground) / luminance([...ground, getComputedStyle(each).color]);
        if (Math.max(ratio, 1 / ratio) < 4.5) low.push([each.outerHTML.slice(0, 80), ratio]);
    }
    return low;
}"""
# what a screen reader could not name, or would find in two places
UNNAMED = """() => [
    ...[...document.querySelectorAll("input, textarea")].filter(each => !each.labels.length || !each.labels[0].textContent.trim()),
    ...[...document.querySelectorAll("button, a, h1, h2")].filter(each => each.checkVisibility() && !each.textContent.trim()),
    ...[...document.querySelectorAll("[aria-labelledby], [aria-describedby]")].filter(each =>
        `${each.getAttribute("aria-labelledby") ?? ""} ${each.getAttribute("aria-describedby") ?? ""}`.trim().split(/\\s+/)
            .some(id => !document.getElementById(id))),
    ...[...document.querySelectorAll("[id]")].filter(each => document.querySelectorAll(`#${CSS.escape(each.id)}`).length > 1),
].map(each => each.outerHTML.slice(0, 80))"""


@contextmanager
def serving(path, folder):
    """The address of the page, which another process serves, and the process."""
    environment = os.environ | {"JUPYTER_RUNTIME_DIR": str(folder / "runtime")}
    command = [sys.executable, "-c", SERVE, path, folder]
    process = subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stdin=subprocess.DEVNULL, text=True)
    try:
        yield process.stdout.readline().split()[-1], process
    finally:
        process.kill()
        process.wait()
        process.stdout.close()


def open_paper(page):
    page.get_by_label("The word that is said").fill(WORD)
    page.keyboard.press("Enter")
    page.get_by_role("heading", name="5. Why?").wait_for()


def test_an_exam_is_taken_by_the_keyboard_through_a_crash(page, problems, tmp_path, shots):
    path, answers = sealed(tmp_path), tmp_path / "ada.answers"
    with serving(path, tmp_path) as (address, process):
        page.goto(address)
        page.get_by_label("The word that is said").wait_for()
        page.keyboard.type("wrong")  # the field has the focus
        page.keyboard.press("Enter")
        page.get_by_text("does not open the paper").wait_for()
        problems.clear()  # the browser logs the refusal
        page.keyboard.press("ControlOrMeta+A")
        page.keyboard.type(WORD)
        page.keyboard.press("Enter")
        page.get_by_text("60 minutes left").wait_for()
        assert page.locator("#begun .receipt").inner_text() == read(answers, sample()).begun_receipt
        assert page.locator("#items b").count() == 0 and page.get_by_text("<b>reversed</b>").count() == 1

        # from field to field by Tab
        first = page.get_by_label("sizes", exact=False).first
        assert first.input_value() == "(2, 3)"
        first.focus()
        page.keyboard.press("ControlOrMeta+A")
        page.keyboard.type("(2, 0)")
        page.keyboard.press("Tab")
        assert page.evaluate("document.activeElement.labels[0].textContent").startswith("Number of the line")
        page.keyboard.type("5")
        page.locator("#item-0-1-state.saved").wait_for()
        page.locator("nav li", has_text="2 of 2 answered").wait_for()
        assert read(answers, sample()).answers == {"1.sizes": "(2, 0)", "1.line": "5"}

        # the program dies, and the student writes on
        process.kill()
        process.wait()
        page.get_by_label("Two sentences").fill("The last dimension\nvaries fastest.")
        page.get_by_role("alert").filter(has_text="does not answer").wait_for()
        page.screenshot(path=shots / "exam-lost.png")
        assert "Not saved yet" in page.locator("#status").inner_text()
    problems.clear()
    with serving(path, tmp_path) as (again, process):
        assert again == address
        page.get_by_role("alert").filter(has_text="was started again").wait_for()
        page.get_by_role("alert").get_by_role("link").press("Enter")
        assert page.evaluate("document.activeElement.id") == "word"
        page.keyboard.type(WORD)
        page.keyboard.press("Enter")
        page.locator("#item-4-0-state.saved").wait_for()
        problems.clear()  # of the time without the program
        assert page.get_by_label("Two sentences").input_value().startswith("The last dimension")

        page.reload()
        page.get_by_text("minutes left").wait_for()
        assert page.get_by_label("Two sentences").input_value().endswith("varies fastest.")
        page.get_by_role("button", name="End the exam").press("Enter")
        page.get_by_text("Fields without an answer: 7").wait_for()
        page.keyboard.press("Escape")
        page.get_by_label("The first call").fill("(12, 4, 1)")
        page.get_by_role("button", name="End the exam").press("Enter")
        page.get_by_role("dialog").get_by_role("button", name="End the exam").press("Enter")
        page.get_by_role("heading", name="The exam is ended").wait_for()
        taken = read(answers, sample())
        assert page.locator("#done .receipt").inner_text() == taken.receipt
        assert page.locator("#file").inner_text() == str(answers)
        page.screenshot(path=shots / "exam-ended.png")
    assert taken.answers == {
        "1.sizes": "(2, 0)", "1.line": "5", "3.first": "(12, 4, 1)", "5.text": "The last dimension\nvaries fastest.",
    }  # fmt: skip
    assert taken.remarks == ["the page was started again 1 time"]


@pytest.mark.sweep
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1440, 640, 320])  # as 640 pixels at 200 %
def test_the_page_can_be_read_in_both_schemes_and_on_a_narrow_screen(page, tmp_path, shots, scheme, width):
    page.emulate_media(color_scheme=scheme)
    page.set_viewport_size({"width": width, "height": 800})
    with socket.create_server(("127.0.0.1", 0)) as kernel, serving(sealed(tmp_path), tmp_path) as (address, _):
        port = kernel.getsockname()[1]
        about = {"ip": "127.0.0.1", "shell_port": port, "hb_port": port, "jupyter_session": "01a_views.ipynb"}
        (tmp_path / "runtime" / "kernel-1.json").write_text(json.dumps(about))
        page.goto(address)
        page.get_by_text("01a_views.ipynb").wait_for()
        assert page.evaluate(LOW_CONTRAST) == page.evaluate(UNNAMED) == []
        page.screenshot(path=shots / f"exam-word-{scheme}-{width}.png")
        open_paper(page)
        page.get_by_label("Two sentences").fill("The last dimension varies fastest.")
        page.locator("#item-4-0-state.saved").wait_for()
        page.evaluate("scrollTo(0, 0)")
        assert page.evaluate(LOW_CONTRAST) == page.evaluate(UNNAMED) == []
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        assert (
            page.evaluate("[...document.querySelectorAll('pre')].some(each => each.scrollWidth > each.clientWidth)")
            or width > 320
        )
        page.screenshot(path=shots / f"exam-{scheme}-{width}.png", full_page=True)
        page.get_by_role("button", name="End the exam").click()
        page.get_by_role("dialog").wait_for()
        assert page.evaluate(LOW_CONTRAST) == []
        page.screenshot(path=shots / f"exam-end-{scheme}-{width}.png")
        page.get_by_role("dialog").get_by_role("button", name="End the exam").click()
        page.get_by_role("heading", name="The exam is ended").wait_for()
        assert page.evaluate(LOW_CONTRAST) == page.evaluate(UNNAMED) == []
        assert page.evaluate("document.documentElement.scrollWidth") <= width


@pytest.mark.sweep
def test_what_could_not_be_written_is_said_and_saved_later(page, problems, tmp_path):
    with serving(sealed(tmp_path), tmp_path) as (address, _):
        page.goto(address)
        open_paper(page)
        page.route("**/answer", lambda route: route.fulfill(status=507, json={"problem": "The disk is full."}))
        page.get_by_label("Two sentences").fill("The last dimension varies fastest.")
        page.get_by_role("alert").get_by_text("The disk is full.").wait_for()
        page.get_by_role("button", name="End the exam").click()  # the exam is not ended without it
        page.get_by_role("dialog").get_by_role("button", name="End the exam").click()
        page.get_by_role("dialog").wait_for(state="hidden")
        assert read(tmp_path / "ada.answers", sample()).answers == {}
        page.unroute("**/answer")
        page.locator("#item-4-0-state.saved").wait_for()
        page.get_by_role("alert").get_by_text("The disk is full.").wait_for(state="detached")
        problems.clear()  # the browser logs the refusals
        assert read(tmp_path / "ada.answers", sample()).remarks == ["not ended by the student"]


@pytest.mark.sweep
def test_at_the_end_of_the_time_the_page_says_so_and_lets_one_end(page, tmp_path):
    with serving(sealed(tmp_path, sample(minutes=0)), tmp_path) as (address, _):
        page.goto(address)
        open_paper(page)
        page.locator("#time").get_by_text("The time is over").wait_for()
        assert not page.get_by_label("Two sentences").is_editable()
        page.get_by_role("button", name="End the exam").click()
        page.get_by_role("dialog").get_by_role("button", name="End the exam").click()
        page.get_by_role("heading", name="The exam is ended").wait_for()


@pytest.mark.sweep
def test_the_page_is_in_the_language_of_the_paper(page, tmp_path, shots):
    page.set_viewport_size({"width": 390, "height": 844})
    with serving(sealed(tmp_path, sample(language="es")), tmp_path) as (address, _):
        page.goto(address)
        open_paper(page)
        page.get_by_text("quedan 60 minutos").wait_for()
        assert page.evaluate("document.documentElement.lang") == "es"
        assert page.evaluate("document.documentElement.scrollWidth") <= 390
        page.screenshot(path=shots / "exam-es.png", full_page=True)
