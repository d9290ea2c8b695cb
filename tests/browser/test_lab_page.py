"""A lab in its page of the site: Python runs in the browser, a judge decides there, and the answers stay."""

import nbformat
import pytest
from first_lab import ALL, EXERCISES, of

LAB = "phases/01_strided/01a_views.html"
STRIDES, OFFSET = "aten-strided-contiguous_strides", "aten-strided-element_offset"
WRONG = """@exercise(rl.strided)
def contiguous_strides(sizes):
    strides, step = [], 1
    for size in reversed(sizes):
        strides.append(step)
        step *= size
    return tuple(reversed(strides))
"""
RIGHT = WRONG.replace("*= size", "*= max(size, 1)")
ENDLESS = "@exercise(rl.strided)\ndef element_offset(index, strides, storage_offset):\n    while True:\n        pass\n"
SHORT = ENDLESS.replace(
    "    while True:\n        pass", "    return storage_offset + sum(map(int.__mul__, index, strides))"
)
LOADING = """() => {
    bar.progress("numpy");
    return [getComputedStyle(bar.element).position, bar.element.offsetHeight];
}"""
TOLD = """cell => {
    const place = document.querySelector(`[data-cell="check-${cell}"] + .outputs`);
    window.told = [];
    new MutationObserver(() => window.told.push(place.innerText)).observe(place, { childList: true, subtree: true });
}"""
HEARD = """() => {
    const live = "[role=status], [aria-live=polite]", isLoading = (place) => place.closest(".tab-bar");
    const found = ({ target, addedNodes }) => [...addedNodes].filter((node) => target.closest(live) || node.matches?.(live));
    const heard = (changes) => changes.filter(({ target }) => !isLoading(target)).flatMap(found).map((node) => node.textContent);
    const listener = new MutationObserver((changes) => window.heard.push(...heard(changes)));
    window.heard = [];
    listener.observe(document.body, { childList: true, subtree: true });
}"""  # what a screen reader says of the page by itself
LOOK = """place => {
    const texts = document.createTreeWalker(document.querySelector(place), NodeFilter.SHOW_TEXT), looks = [];
    for (let text; (text = texts.nextNode()); ) {
        const { color, font } = getComputedStyle(text.parentElement);
        for (const letter of text.data) if (letter.trim()) looks.push([letter, color, font]);
    }
    return looks;
}"""
ENDS_NOT = "for i in range(1000): print(i, end=' ')\nwhile True: pass"
SCHEMES = {"light": "default", "dark": "slate"}  # of the theme
IDLE = "!document.querySelector('.tab-bar.busy')"


@pytest.fixture
def lab(page, folder, below):
    if not (folder / "browser/pyodide").exists():
        pytest.skip("the parts for the browser are not here (`python docs/programs/browser/parts.py` fetches them)")
    page.goto(below + LAB)
    page.evaluate("localStorage.clear(), sessionStorage.clear()")  # the tests share a browser
    page.reload()
    return page


def answer(page, cell, text):
    page.locator(f'[data-cell="{cell}"] :is(pre, .cm-content)').click()
    page.locator(f'[data-cell="{cell}"] .cm-content').wait_for()
    page.keyboard.press("Control+a")
    page.keyboard.insert_text(text)


def press(page, cell, name="Check"):
    """Press a button of a cell, and wait for its end."""
    page.locator(f'[data-cell="{cell}"] + .buttons').get_by_text(name, exact=True).click()
    page.wait_for_function(IDLE)


def card(page, cell):
    return page.locator(f'[data-cell="check-{cell}"] + .outputs').inner_text()


def tally(page):
    return page.locator(".tab-bar b").inner_text()


def text_of(page, cell):
    return page.locator(f'[data-cell="{cell}"] :is(pre, .cm-content)').inner_text()


@pytest.mark.sweep  # starts Python
def test_a_picture_is_drawn_by_the_answers_of_now(lab):
    # The last cell that draws, and the cell above it that calls `permute`.
    run = "kind => press(cells.findLast((cell) => cell.kind === kind))"
    strides = "cells.find(({ binds }) => binds.includes('nchw')).outputs.innerText"
    swapped = "@exercise(rl.strided)\ndef permute(self, dims):\n    return alias(self, self.shape, self.stride(), 0)\n"
    set_text = "text => { const { exercise: of } = cells.find(({ of }) => of?.endsWith('.permute')); of.change(text ?? of.own); }"
    for text, has_picture in ((None, True), (swapped, False), (swapped.replace("):", ")"), False), (None, True)):
        lab.evaluate(set_text, text)
        lab.evaluate(run, "drawing")
        lab.wait_for_function("!running")
        drawn = lab.evaluate("cells.findLast(({ kind }) => kind === 'drawing').outputs.innerHTML")
        assert ("<img" in drawn) == has_picture
        assert ("Drawn by the framework's functions" if has_picture else "your code does not run") in drawn
        if text == swapped:
            assert "(5250, 105, 3, 1)" in lab.evaluate(strides)


def test_a_lab_is_done_in_its_page_and_downloaded_as_a_notebook(lab, tmp_path):
    asked = []
    lab.on("request", lambda request: asked.append(request.url))
    lab.evaluate(HEARD)
    press(lab, STRIDES)
    assert "not attempted" in card(lab, STRIDES) and not [url for url in asked if "/pyodide/" in url]
    assert lab.evaluate("window.heard.splice(0)") == [card(lab, STRIDES)]
    answer(lab, STRIDES, WRONG)
    assert tally(lab) == of(0, ALL)
    lab.evaluate(TOLD, STRIDES)
    lab.keyboard.press("Shift+Enter")
    lab.wait_for_function(IDLE)
    said, told = card(lab, STRIDES), lab.evaluate("window.told")
    [heard] = lab.evaluate("window.heard")
    assert (
        "69 of 93 cases agree with torch" in heard and "case: " in heard and "\n" not in heard and "Copy" not in heard
    )
    assert any(text.startswith("loading ") for text in told) and "running, 0 s" in told
    assert "69 of 93 cases agree with torch" in said and "practice" in said
    assert (
        lab.locator(f'[data-cell="check-{STRIDES}"] + .outputs').get_by_text("a size of 0 counts as 1").count()
    )  # folded
    answer(lab, STRIDES, RIGHT)
    press(lab, STRIDES, "Run")
    assert "The cell has run." in lab.locator(f'[data-cell="{STRIDES}"] ~ .outputs').first.inner_text()
    press(lab, STRIDES)
    assert "all 93 cases agree with torch" in card(lab, STRIDES) and tally(lab) == of(2, ALL)
    press(lab, STRIDES, "Run")
    answer(lab, OFFSET, SHORT.replace("    return", "  return ("))
    lab.evaluate("window.heard = []")
    press(lab, OFFSET)
    said = "✗ aten.strided.element_offset: your code does not run: SyntaxError: '(' was never closed, line 3"
    assert said in card(lab, OFFSET) and "Copy as text" in card(lab, OFFSET)
    assert lab.evaluate("window.heard") == [f"{said[2:]}, 0 of 2 points"]
    answer(lab, OFFSET, SHORT)
    press(lab, OFFSET)
    assert f"2 of {EXERCISES} exercises ({EXERCISES - 2} core and 2 further) · {of(4, ALL)}" in card(
        lab, OFFSET
    ) and tally(lab) == of(4, ALL)
    assert "2 of 2 points" in card(lab, STRIDES) and "2 further) ·" not in card(
        lab, STRIDES
    )  # its total is not that of now

    with lab.expect_download() as download:
        lab.get_by_role("button", name="Download").click()
    path = tmp_path / download.value.suggested_filename
    download.value.save_as(path)
    sources = {cell.id: cell.source for cell in nbformat.read(path, 4).cells}
    assert path.name == "01a_views.ipynb" and sources[STRIDES] == RIGHT and sources[OFFSET] == SHORT

    asked.clear()
    lab.reload()
    assert "max(size, 1)" in text_of(lab, STRIDES) and tally(lab) == of(4, ALL)
    assert "all 93 cases agree with torch" in card(lab, STRIDES)  # as before, and how many there were
    assert not [url for url in asked if "/pyodide/" in url or "codemirror" in url]
    lab.once("dialog", lambda dialog: dialog.accept())
    lab.get_by_role("button", name="Delete").click()
    lab.get_by_text("2 answers deleted, with their verdicts.").wait_for()
    assert "NotImplementedError" in text_of(lab, STRIDES) and tally(lab) == of(0, ALL)
    lab.locator(".tab-bar").get_by_role("button", name="Undo").click()
    assert "max(size, 1)" in text_of(lab, STRIDES) and tally(lab) == of(4, ALL)
    lab.once("dialog", lambda dialog: dialog.accept())
    lab.get_by_role("button", name="Delete").click()
    lab.locator(".tab-bar input[type=file]").set_input_files(path)
    lab.get_by_text("2 answers read").wait_for()
    assert "max(size, 1)" in text_of(lab, STRIDES)
    broken = tmp_path / "broken.ipynb"
    broken.write_text("no notebook")
    lab.locator(".tab-bar input[type=file]").set_input_files(broken)
    lab.get_by_text("cannot be read as a notebook of this lab").wait_for()
    assert "max(size, 1)" in text_of(lab, STRIDES)


@pytest.mark.sweep  # starts Python twice
def test_an_endless_loop_is_stopped_and_what_has_passed_is_plugged_in_again(lab):
    answer(lab, STRIDES, RIGHT)
    press(lab, STRIDES)
    answer(lab, OFFSET, ENDLESS)
    lab.locator(f'[data-cell="{OFFSET}"] + .buttons').get_by_text("Check", exact=True).click()
    lab.get_by_role("button", name="Stop").click()
    lab.wait_for_function(IDLE)
    assert "with the pieces that have passed" in card(lab, OFFSET) and "Copy" not in card(lab, OFFSET)
    answer(lab, OFFSET, SHORT)
    press(lab, OFFSET)
    assert f"2 of {EXERCISES} exercises" in card(lab, OFFSET) and tally(lab) == of(4, ALL)


@pytest.mark.sweep
def test_an_open_editor_is_printed_whole(lab):
    line = (
        "# a long answer that goes on and on, far beyond the right edge of the paper, until it would be cut off there"
    )
    answer(lab, STRIDES, "\n".join([line] * 90))
    lab.set_viewport_size({"width": 680, "height": 1000})
    lab.emulate_media(media="print")
    lab.wait_for_function("document.querySelectorAll('.cm-line').length === 90")
    for part in ".cm-editor", ".cm-scroller":
        style = f"(({{ overflow, height }}) => [overflow, height])(getComputedStyle(document.querySelector('{part}')))"
        overflow, height = lab.evaluate(style)
        assert overflow == "visible" and float(height[:-2]) >= lab.locator(".cm-content").bounding_box()["height"] - 1
    right = lab.locator(".cm-editor").bounding_box()
    assert lab.locator(".cm-line").first.bounding_box()["width"] <= right["width"]


@pytest.mark.sweep
def test_what_a_loop_printed_before_it_was_stopped_is_shown(lab):
    lab.evaluate("text => (cells[0].change(text), void press(cells[0]))", ENDS_NOT)
    lab.get_by_text("998 999").wait_for()
    lab.get_by_role("button", name="Stop").click()
    lab.wait_for_function(IDLE)
    said = lab.evaluate("cells[0].outputs.innerText")
    assert said.startswith("0 1 2") and "998 999" in said and "Stopped" in said


@pytest.mark.sweep  # an editor starts Python
def test_a_piece_that_passed_has_its_mark_and_points_on_a_later_visit(lab):
    answer(lab, STRIDES, RIGHT)
    lab.evaluate(
        """([cell, check]) => {
            const kept = JSON.parse(localStorage["rushlight/01a_views"]);
            kept.passed = { [check]: kept.answers[cell] };
            localStorage["rushlight/01a_views"] = JSON.stringify(kept);
        }""",
        [STRIDES, "aten.strided.contiguous_strides"],
    )
    lab.reload()
    assert card(lab, STRIDES).startswith("✓ aten.strided.contiguous_strides 2 of 2 points · from before\n")
    assert tally(lab) == of(2, ALL)
    assert lab.locator(f'[data-cell="{STRIDES}"] .k').first.inner_text() == "def"
    answer(lab, STRIDES, WRONG)
    assert "Press Check for the verdict on this code." in card(lab, STRIDES) and tally(lab) == of(0, ALL)


@pytest.mark.sweep  # an editor starts Python
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_an_editor_looks_as_the_code_in_whose_place_it_is_with_numbers_of_lines(lab, scheme):
    lab.emulate_media(color_scheme=scheme)
    lab.locator(f"body[data-md-color-scheme={SCHEMES[scheme]}]").wait_for()
    place = f'[data-cell="{STRIDES}"]'
    shown, height = lab.evaluate(LOOK, f"{place} pre > code"), lab.locator(place).bounding_box()["height"]
    lab.locator(f"{place} pre").click()
    lab.locator(f"{place} .cm-content").wait_for()
    assert lab.evaluate(LOOK, f"{place} .cm-content") == shown
    assert lab.locator(place).bounding_box()["height"] == height
    numbers = lab.locator(f"{place} .cm-lineNumbers").inner_text().split()
    assert numbers[-1] == str(lab.locator(f"{place} .cm-line").count())


HAVE = """(names) => {
    for (const cell of cells.filter(({ kind, exercise }) => kind === "exercise" && names.includes(exercise))) {
        const name = cell.exercise.split(".").at(-1);
        const own = `type(f)(f.__code__, f.__globals__, "${name}", f.__defaults__)`;
        cell.change(`f = rl.strided.${name}\\nexercise(rl.strided)(${own})\\n`);
        kept.passed[cell.exercise] = cell.text;
    }
    kept.write();
}"""  # as a press of Check for each


FAILED = """([exercise, text]) => {
    const cell = cells.find(({ id }) => id === exercise);
    kept.said[cell.checked.check] = [text, "27 of 93 cases agree", "en", "✗"];
    cell.change(text);
}"""


@pytest.mark.sweep
def test_a_check_that_failed_says_so_in_a_line_on_a_later_visit(lab):
    lab.evaluate(FAILED, [STRIDES, WRONG])
    lab.reload()
    assert card(lab, STRIDES) == "✗ 27 of 93 cases agree · from before: press Check for the whole verdict"
    lab.evaluate("([name, text]) => cells.find(({ id }) => id === name).change(text)", [STRIDES, RIGHT])
    lab.reload()
    assert card(lab, STRIDES).startswith("You have changed the code since this verdict. Press Check for the verdict on")
    assert "✗ 27 of 93 cases agree" in card(lab, STRIDES)
    lab.evaluate("name => cells.find(({ id }) => id === name).startAgain()", STRIDES)
    assert card(lab, STRIDES) == ""


@pytest.mark.sweep
def test_a_press_that_cannot_load_python_says_so_below_its_button(lab, problems):
    lab.evaluate("([name, text]) => cells.find(({ id }) => id === name).change(text)", [STRIDES, RIGHT])
    lab.context.set_offline(True)
    press(lab, STRIDES)
    lab.context.set_offline(False)
    assert "the site cannot be reached" in card(lab, STRIDES) and "Copy" not in card(lab, STRIDES)
    problems.clear()  # what it asked for in vain


@pytest.mark.sweep
def test_a_milestone_says_with_how_many_pieces_it_passes_and_leads_to_one_that_is_missing(lab):
    names = ["contiguous_strides", "element_offset", "transpose", "permute"]
    lab.evaluate(HAVE, [f"aten.strided.{name}" for name in names])
    milestone = "check-together-strided_views"
    said = lab.locator(f'[data-cell="{milestone}"] + .buttons + .outputs')
    press(lab, milestone)
    assert "passes, with 4 of 7 pieces yours: all" in said.inner_text() and tally(lab) == of(11, ALL)
    assert "the reference's run in the place of is_contiguous, select, as_strided" in said.inner_text()
    lab.reload()
    first, *_ = said.inner_text().splitlines()
    assert first.startswith("✓ together.strided_views: passes, with 4 of 7 pieces yours: all")
    assert first.endswith("cases agree with torch 2 of 2 points · from before")
    lab.evaluate("kept.said = {}; kept.write()")  # as one that passed on a page in another language
    lab.reload()
    assert said.inner_text().startswith("✓ together.strided_views with 4 of 7 pieces yours 2 of 2 points")
    said.get_by_role("link", name="Go to is_contiguous").click()
    assert lab.url.endswith("#exercise-aten-strided-is_contiguous")
    lab.evaluate("cells.find(({ kind, exercise }) => kind === 'exercise' && exercise.endsWith('permute')).change('')")
    assert said.inner_text() == "Your pieces have changed: press Check again." and tally(lab) == of(6, ALL)


@pytest.mark.sweep  # an editor starts Python
def test_an_exercise_is_a_heading_with_its_name_and_an_open_editor_is_not_offered_again(lab):
    assert lab.get_by_role("heading", name="Exercise: element_offset", level=3).is_visible()
    edit, held, address = (
        lab.locator(f'[data-cell="{STRIDES}"] + .buttons').get_by_text("Edit", exact=True),
        [],
        lab.url,
    )
    lab.route("**/browser/editor.js", lambda route: held.append(route))
    edit.click()
    lab.get_by_role("status").get_by_text("loading the editor").wait_for()
    assert "loading the editor" in lab.locator(f'[data-cell="{STRIDES}"] ~ .outputs').first.inner_text()
    lab.keyboard.type("fen")  # which would search, or leave the page
    assert lab.url == address and edit.evaluate("(edit) => edit === document.activeElement")
    held[0].continue_()
    lab.locator(f'[data-cell="{STRIDES}"] .cm-focused').wait_for()
    assert not edit.is_visible() and not lab.get_by_role("status").get_by_text("loading").count()
    lab.unroute("**/browser/editor.js")


@pytest.mark.sweep  # an editor starts Python
def test_escape_and_tab_leave_an_editor_whose_code_is_selected(lab):
    place = f'[data-cell="{STRIDES}"]'
    lab.locator(f"{place} + .buttons").get_by_text("Edit", exact=True).focus()
    lab.keyboard.press("Enter")
    lab.locator(f"{place} .cm-focused").wait_for()
    assert "YOUR CODE HERE" in lab.evaluate("getSelection().toString()")
    before = text_of(lab, STRIDES)
    lab.keyboard.press("Escape")
    lab.keyboard.press("Tab")
    assert text_of(lab, STRIDES) == before and lab.evaluate("document.activeElement.textContent") == "Check"
    lab.locator(f"{place} .cm-content").focus()
    lab.keyboard.press("End")
    lab.keyboard.press("Tab")
    assert len(text_of(lab, STRIDES)) == len(before) + 4


@pytest.mark.sweep  # an editor starts Python
def test_who_starts_again_by_mistake_has_the_code_back(lab):
    answer(lab, STRIDES, WRONG)
    buttons = lab.locator(f'[data-cell="{STRIDES}"] + .buttons')
    press(lab, STRIDES, "Run")
    shown = lab.locator(f'[data-cell="{STRIDES}"] + .buttons + .outputs')
    assert shown.inner_text()
    buttons.get_by_text("Start again").click()
    assert not shown.inner_text()
    lab.reload()
    assert "NotImplementedError" in text_of(lab, STRIDES)
    buttons.get_by_text("Undo").click()
    assert "step *= size" in text_of(lab, STRIDES)
    buttons.get_by_text("Edit").click()
    lab.locator(f'[data-cell="{STRIDES}"] .cm-content').wait_for()
    buttons.get_by_text("Start again").click()
    lab.locator(f'[data-cell="{STRIDES}"] .cm-content').focus()
    lab.keyboard.press("Control+z")
    assert "step *= size" in text_of(lab, STRIDES) and not buttons.get_by_text("Undo").is_visible()


@pytest.mark.sweep  # an editor starts Python
def test_no_bar_covers_the_text_that_is_written_on_a_phone(lab):
    lab.set_viewport_size({"width": 390, "height": 844})
    answer(lab, STRIDES, WRONG)
    assert lab.evaluate(LOADING)[0] == "static" and not lab.locator(".md-top").is_visible()
    lab.evaluate("document.activeElement.blur()")
    place, height = lab.evaluate(LOADING)
    assert place == "sticky" and height < 60
    lab.set_viewport_size({"width": 390, "height": 400})  # less than the verdict
    press(lab, STRIDES)
    button = lab.locator(f'[data-cell="{STRIDES}"] + .buttons').bounding_box()
    bar = lab.locator("article > .tab-bar").bounding_box()
    assert bar["y"] + bar["height"] <= button["y"] < 400
    lab.set_viewport_size({"width": 1440, "height": 900})


@pytest.mark.sweep
def test_home_asks_and_its_check_answers_and_the_lab_takes_the_answer_over(lab, below):
    lab.goto(below)
    verdict, said = lab.locator(".outputs > .verdict"), lab.locator('[data-cell="home-check"] + .outputs')
    count = "aten.strided.contiguous_strides: 69 of 93 cases agree with torch"
    assert verdict.inner_text().startswith("An example, recorded") and f"✗ {count}" in verdict.inner_text()
    assert lab.get_by_text(f"{lab.evaluate('Math.ceil(page.bytes / 1e6)')} MB").first.is_visible()
    press(lab, "home-exercise")
    assert f"{count}; the smallest that does not:" in said.inner_text() and "sizes = [0, 0]" in said.inner_text()
    answer(lab, "home-exercise", WRONG.replace("size\n    return", "0\n    return"))
    lab.reload()
    assert said.inner_text() == "Press Check for the verdict on this code." and not verdict.is_visible()
    answer(lab, "home-exercise", RIGHT)
    press(lab, "home-exercise")
    assert lab.locator("[data-continue] a").inner_text() == "lab 01a, exercise 2"
    lab.get_by_text("That was exercise 2 of lab 01a: go on").click()
    lab.wait_for_url(f"{below}{LAB}#*")
    assert tally(lab) == of(2, ALL) and "✓" in card(lab, STRIDES)
    assert "Row-major strides" in text_of(lab, STRIDES) and "max(size, 1)" in text_of(lab, STRIDES)
    mark = lab.locator(".md-nav__link .kept").first
    assert mark.text_content() == f"2/{ALL:g}"
    answer(lab, OFFSET, SHORT)
    press(lab, OFFSET)
    assert mark.text_content() == f"4/{ALL:g}"
    fourth = lab.evaluate("cells.filter(({ kind }) => kind === 'exercise')[3].id")
    next_of = (
        "ran => (remember(cells.find(({ id }) => id === ran)), JSON.parse(localStorage['rushlight/last']).exercise)"
    )
    assert lab.evaluate(next_of, fourth) == 4 and lab.evaluate(next_of, OFFSET) == 3
    lab.goto(below)
    assert lab.locator(".card .kept").text_content() == f"4/{ALL:g}"
    lab.get_by_role("link", name="lab 01a, exercise 3", exact=True).click()
    lab.wait_for_url(f"{below}{LAB}#exercise-aten-strided-is_contiguous")


@pytest.mark.sweep
def test_a_loop_in_c_code_ends_after_seconds_and_the_next_press_starts_python_again(lab):
    soon = "from autograder.engine import limits\nlimits.CHECK_SECONDS = (2.0, 2.0)\n"
    answer(lab, OFFSET, soon + ENDLESS.replace("while True:\n        pass", "sum(iter(int, 1))"))
    press(lab, OFFSET)
    assert (
        "timed out: no answer within 4 s: an endless loop, perhaps, or more work than this time allows."
        in lab.locator("article").inner_text()
    )
    assert "It ran case 1 of 73:" in card(lab, OFFSET)
    lab.reload()
    assert card(lab, OFFSET).startswith("✗ aten.strided.element_offset: timed out: no answer within 4 s")
    answer(lab, OFFSET, SHORT)
    press(lab, OFFSET)
    assert "cases agree with torch" in card(lab, OFFSET)


def test_a_check_that_is_pressed_while_another_runs_waits_for_it_and_stop_stops_both(lab):
    answers = [(STRIDES, RIGHT), (OFFSET, SHORT)]
    lab.evaluate("of => of.map(([id, text]) => cells.find((cell) => cell.id === id).change(text))", answers)
    check = [lab.locator(f'[data-cell="{cell}"] + .buttons').get_by_text("Check", exact=True) for cell, _ in answers]
    check[0].click()
    check[1].click()
    assert card(lab, OFFSET) == "waiting for contiguous_strides"
    lab.get_by_role("button", name="Stop", exact=True).click()
    lab.wait_for_function(IDLE)
    assert card(lab, OFFSET) == ""
    check[0].click()
    check[1].click()
    lab.wait_for_function(f"{IDLE} && !queue.length")
    assert "all 93 cases agree" in card(lab, STRIDES) and "cases agree" in card(lab, OFFSET)
    assert tally(lab) == of(4, ALL)


@pytest.mark.sweep  # an editor starts Python
def test_two_tabs_of_a_lab_have_the_same_answers(lab):
    with lab.expect_popup() as opened:
        lab.evaluate("window.open(location.href)")
    other = opened.value
    answer(other, OFFSET, SHORT)
    answer(lab, STRIDES, RIGHT)
    other.get_by_text("max(size, 1)").wait_for()
    lab.once("dialog", lambda dialog: dialog.accept())
    lab.get_by_role("button", name="Delete").click()
    undo = lab.locator(".tab-bar").get_by_role("button", name="Undo")
    undo.wait_for()
    answer(other, OFFSET, SHORT)
    undo.wait_for(state="detached")  # it would take the other tab's answer away
    answer(lab, STRIDES, RIGHT)
    other.close()
    lab.reload()
    assert "map(int" in text_of(lab, OFFSET) and "max(size, 1)" in text_of(lab, STRIDES)


@pytest.mark.sweep
def test_an_error_is_left_out_only_below_the_card_that_says_it(lab):
    error = "{ ename: 'CheckFailed', output_type: 'error', traceback: ['why'] }"
    assert lab.evaluate(f"shown({error}, null).textContent") == "why"
    assert lab.evaluate(f"shown({error}, make('div', {{ class: 'rich' }}))") is None


HIT = "(at) => document.elementFromPoint(...at).closest('button')"  # the button at a point


def test_the_bar_keeps_its_row_and_its_buttons_their_place_while_a_check_waits(lab):
    lab.set_viewport_size({"width": 800, "height": 900})
    download = lab.get_by_role("button", name="Download", exact=True)
    before = download.bounding_box()
    lab.evaluate("bar.busy(true), bar.say('waiting for contiguous_strides, and for more')")
    assert download.bounding_box() == before
    lab.evaluate("bar.busy(false), bar.say('')")
    lab.set_viewport_size({"width": 1440, "height": 900})


@pytest.mark.sweep
def test_python_can_be_stopped_while_it_loads(lab):
    lab.evaluate("([name, text]) => cells.find(({ id }) => id === name).change(text)", [STRIDES, RIGHT])
    lab.locator(f'[data-cell="{STRIDES}"] + .buttons').get_by_text("Check", exact=True).click()
    lab.set_viewport_size({"width": 390, "height": 844})
    stop = lab.get_by_role("button", name="Stop").bounding_box()
    middle = [stop["x"] + stop["width"] / 2, stop["y"] + stop["height"] / 2]
    lab.mouse.click(*middle)
    lab.wait_for_function(IDLE)
    assert not lab.evaluate(HIT, middle)  # where a second tap would go
    lab.set_viewport_size({"width": 1440, "height": 900})
    lab.get_by_role("status").get_by_text("The next press starts Python again").wait_for()
    assert "The next press starts Python again" in card(lab, STRIDES)
