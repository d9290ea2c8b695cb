"""A lab ends in its page, and a verdict is passed on: what the end says, and what a link with an answer does and does not."""

# ruff: noqa: F401, F811 (`lab` is a fixture that another file has)
import base64
import json
import re
import zlib

import pytest
from test_lab_page import LAB, RIGHT, STRIDES, WRONG, answer, card, lab, press, tally, text_of

CHECK = "aten.strided.contiguous_strides"
FINISH = """([last, open]) => {
    dispatchEvent(new Event("rushlight:pressed"));
    const checks = cells.filter(({ kind, lacks, check }) => kind === "check" && !lacks && !open.includes(check));
    for (const cell of checks) kept.passed[cell.check] = cell.exercise?.mine ?? "";
    kept.write();
    const judged = Object.assign(cells.find(({ check }) => check === last), { ok: true });
    dispatchEvent(new CustomEvent("rushlight:judged", { detail: judged }));
}"""  # as presses do


RUN_MILESTONE = """() => {
    const after = document.getElementById("in-your-own-words");
    const last = cells.findLast(({ kind, block }) => kind !== "check" && block.compareDocumentPosition(after) & 4);
    dispatchEvent(new CustomEvent("rushlight:ran", { detail: last }));
}"""


def link(lab_name="01a_views", exercise=CHECK, text=WRONG):
    """What follows `#a=` in a link with an answer."""
    packer = zlib.compressobj(wbits=-15)
    data = json.dumps({"lab": lab_name, "exercise": exercise, "answer": text}).encode()
    return base64.urlsafe_b64encode(packer.compress(data) + packer.flush()).decode().rstrip("=")


def kept(page):
    return page.evaluate("JSON.parse(localStorage['rushlight/01a_views'] ?? '{}')")


def test_the_last_check_of_a_lab_brings_its_end_and_a_picture_which_are_there_again_on_a_later_visit(
    lab, below, tmp_path
):
    finished, checked = (
        lab.get_by_role("link", name=name, exact=True) for name in ("Finished", "All that this page can check is done")
    )
    assert not lab.locator("#finished").count() and not finished.count() and not checked.count()
    lab.evaluate(FINISH, [CHECK, ["together.strided_views"]])  # the milestone is open
    lab.locator(f'[data-cell="check-{STRIDES}"] + .outputs').get_by_role("link", name="All together").wait_for()
    assert not lab.locator("#finished").count()
    lab.evaluate(FINISH, [CHECK, []])
    lab.evaluate("remember(cells.at(-1))")
    ways = (
        lab.locator(f'[data-cell="check-{STRIDES}"] + .outputs a[href^="#milestone"]'),
        lab.locator(".outputs a[href='#finished']"),
    )
    assert ways[0].inner_text() == "Next: Milestone: one picture, many views" and not ways[1].count()
    lab.evaluate(RUN_MILESTONE)
    ways[1].click()
    end = lab.locator("#finished")
    said = end.inner_text()
    reach = lab.evaluate("earned()")
    assert lab.locator(".tab-bar small").inner_text() == f"up to {reach:g} in this page"
    box = lab.get_by_text("Do it here.").locator("..").inner_text()
    assert (
        f"The checks of this page give {reach:g} of the lab's 32 points." in box and "3 are for checks that need" in box
    )
    place = lab.locator(".md-nav__link--active .kept").first
    assert place.get_attribute("title").startswith(f"{reach:g} of 32 points, up to {reach:g} in its page")
    above = lab.locator("#exercise-course-breaks-breaks_is_contiguous").locator("xpath=preceding-sibling::*[1]")
    assert above.inner_text() == (
        "Checked in an installed course, not in this page: torch runs your cases, and a browser has no torch."
    )
    assert f"{reach:g} of" in said and "after 1 min in this page" in said and "c10/util/strides.h" in said
    assert "Next: Lab 01b" in said and kept(lab)["finished"]["points"] == reach
    assert "worth 3 more: 10 · Break it" in said
    left = "Not written yet: In your own words"
    assert left in said and checked.is_visible() and not finished.is_visible()
    model = lab.get_by_text("A model answer, and the points that it has")
    lab.locator("textarea").fill("A row keeps all of it. " * 7)
    assert model.is_visible() and not lab.get_by_text("After 40 words of your own").is_visible()
    lab.locator("textarea").fill("A row keeps all of it.")
    assert not model.is_visible() and lab.get_by_text("After 40 words of your own").is_visible()
    assert left not in end.inner_text() and finished.is_visible() and ": finished" in end.inner_text()
    lab.locator("textarea").fill("")
    assert left in end.inner_text()
    alternative = end.get_by_role("img").get_attribute("aria-label")
    assert "my code, judged by torch 2.13" in alternative and "contiguous_strides" in alternative
    for kind, begins in ("SVG", b"<svg "), ("PNG", b"\x89PNG"):
        with lab.expect_download() as download:
            end.get_by_role("button", name=f"Save {kind}").click()
        download.value.save_as(tmp_path / kind)
        assert (tmp_path / kind).read_bytes().startswith(begins)
    lab.reload()
    checked.click()
    assert lab.locator("#finished:not(.fresh)").is_visible()
    assert lab.locator(".md-nav__link--active .kept").first.text_content().startswith("✓ ")
    lab.goto(below)
    assert lab.locator("[data-continue] a").inner_text() == "lab 01b"
    before = lab.evaluate("localStorage['rushlight/01a_views']")
    part = "JSON.stringify({ ...JSON.parse(localStorage['rushlight/01a_views']), points: 8, here: 8 })"  # as a lab on threads
    lab.evaluate(f"localStorage['rushlight/01a_views'] = {part}, dispatchEvent(new Event('rushlight:kept'))")
    assert lab.locator(".card .kept").text_content() == "8/32"
    lab.evaluate("kept => (localStorage['rushlight/01a_views'] = kept)", before)
    lab.goto(below + LAB)
    lab.once("dialog", lambda dialog: dialog.accept())
    lab.get_by_role("button", name="Delete").click()
    assert not lab.locator("#finished").count()


PREDICT = """async (name) => {
    const [main, part, ...others] = cells.filter(({ kind, exercise, lacks }) => kind === "check" && exercise && !lacks);
    Object.defineProperty(main.exercise, "isUntouched", { value: false });
    Object.assign(part, { exercise: main.exercise });
    for (const each of [main, part]) each.of = name;
    const checks = cells.filter(({ kind, lacks }) => kind === "check" && !lacks);
    for (const { check, exercise } of checks) kept.passed[check] = exercise?.mine ?? "";
    delete kept.passed[main.check];
    delete kept.passed[part.check];
    const ran = [], told = [];
    const said = { text: JSON.stringify({ [`${name} abcd Ada`]: {} }) };
    const run = async (cell, text, show) => {
        ran.push(cell.check ?? cell.name);
        if (cell.name === "marked") show(said);
        if (cell.name === "remember") told.push(text);
        return cell !== main;
    };
    Object.assign(python, { start: async () => {}, loaded: true, run });
    await press(main);
    return { told, ran: ran.slice(-3), checks: [main.check, part.check], points: [main.points, part.points], worth: main.worth };
}"""  # a prediction of two checks, the first of which does not pass, in a Python that only says so


def test_one_press_runs_all_checks_of_a_prediction_and_a_marked_one_ends_the_lab_with_the_points_that_it_has(lab):
    found = lab.evaluate(PREDICT, "course.predictions.strides")
    assert found["ran"] == [*found["checks"], "marked"]
    missing, there = found["points"]
    assert found["worth"] == [there, there + missing]
    assert lab.evaluate("[inPoints(0, 1), inPoints(1, 2)]") == ["0 of 1 point", "1 of 2 points"]  # as a card's chip
    points = lab.evaluate("earned()")
    end = lab.locator("#finished").inner_text()
    assert f"{points:g} of {points + missing:g} points: a first prediction that was wrong" in end
    assert kept(lab)["finished"]["points"] == points


@pytest.mark.sweep
def test_the_first_predictions_are_kept_and_a_later_python_is_told_of_them(lab):
    name = "course.predictions.strides"
    assert lab.evaluate(PREDICT, name)["told"] == []
    lab.reload()
    assert kept(lab)["marked"] == {name: json.dumps({f"{name} abcd Ada": {}}, separators=(",", ":"))}
    (told,) = lab.evaluate(PREDICT, name)["told"]
    assert json.dumps(kept(lab)["marked"][name]) in told


@pytest.mark.sweep
def test_the_end_names_functions_of_the_framework_alone(lab, below):
    def without_one(route):
        page = route.fetch()
        route.fulfill(
            response=page, body=page.text().replace(f'"exercise":"{CHECK}","piece":true', f'"exercise":"{CHECK}"')
        )

    lab.route(below + LAB, without_one)
    lab.reload()
    lab.unroute(below + LAB)
    lab.evaluate(FINISH, [CHECK, []])
    end = lab.locator("#finished")
    assert "contiguous_strides" not in end.locator(".pieces").inner_text()
    assert "element_offset" in end.locator(".pieces").inner_text()
    assert "contiguous_strides" not in end.get_by_role("img").get_attribute("aria-label")


@pytest.mark.sweep
def test_an_exercise_that_fails_and_is_no_prediction_ends_no_lab(lab):
    found = lab.evaluate(PREDICT, "aten.strided.contiguous_strides")
    assert found["ran"][1:] == found["checks"] and not lab.locator("#finished").count()


FINISH_WITH_PIECES = """() => {
    for (const cell of cells.filter(({ kind, checked }) => kind === "exercise" && checked && !checked.lacks)) {
        const name = cell.exercise.split(".").at(-1);
        const own = `type(f)(f.__code__, f.__globals__, "${name}", f.__defaults__)`;
        cell.change(`f = rl.strided.${name}\\nexercise(rl.strided)(${own})\\n`);
    }
    const checks = cells.filter(({ kind, lacks }) => kind === "check" && !lacks);
    for (const { exercise, check } of checks) if (exercise) kept.passed[check] = exercise.text;
    for (const { exercise, check, subject } of checks) if (!exercise) kept.passed[check] = subject;
    kept.write();
    dispatchEvent(new CustomEvent("rushlight:judged", { detail: checks.at(-1) }));
}"""


@pytest.mark.sweep
def test_a_lab_with_an_answer_that_fails_again_is_not_finished_and_a_verdict_counts_as_the_bar_does(lab):
    lab.evaluate(FINISH_WITH_PIECES)
    whole, place = tally(lab), lab.locator(".md-nav__link--active .kept").first

    def is_finished():
        assert tally(lab).partition(" ")[0] == place.text_content().partition("/")[0].removeprefix("✓ ")
        shown = {
            lab.locator(".tab-bar [href='#finished']").is_visible(),
            lab.locator("#finished").is_visible(),
        }
        return *shown, place.text_content().startswith("✓"), "finished" in kept(lab)

    assert is_finished() == (True, True, True)
    press(lab, STRIDES)
    assert whole in card(lab, STRIDES)
    for reload in (False, True):
        answer(lab, STRIDES, WRONG)
        press(lab, STRIDES)
        assert tally(lab) != whole and tally(lab) in card(lab, STRIDES) and is_finished() == (False, False, False)
        if reload:
            lab.reload()
        answer(lab, STRIDES, RIGHT)
        press(lab, STRIDES)
        assert tally(lab) == whole and whole in card(lab, STRIDES) and is_finished() == (True, True, True)


@pytest.mark.sweep
def test_on_a_path_the_next_lab_is_that_of_the_path(lab, below):
    labs = [
        ["01a Views", LAB, "Lab 01a", "whole", "", 2],
        ["02a Keys", "phases/02_dispatcher/02a_keys.html", "Lab 02a", "whole", "", 2.5],
    ]
    path = {"title": "The compiler", "page": "paths.html#compiler", "labs": labs}
    lab.evaluate("path => localStorage.setItem('rushlight/path', JSON.stringify(path))", path)
    assert lab.evaluate("following().link") == below + labs[1][1] and lab.evaluate("following().number") == "02a"
    lab.evaluate("path => localStorage.setItem('rushlight/path', JSON.stringify(path))", path | {"labs": labs[:1]})
    assert lab.evaluate("following().link") == below + path["page"]
    lab.reload()
    footer = lab.locator(".md-footer__link--next")
    assert footer.evaluate("link => link.href") == below + path["page"] and "The compiler" in footer.inner_text()
    lab.evaluate("localStorage.setItem('rushlight/path', 'no path')")
    assert lab.evaluate("following().number") == "01b"
    lab.evaluate("path => localStorage.setItem('rushlight/path', JSON.stringify(path))", path)
    lab.evaluate(FINISH, [CHECK, []])
    end = lab.locator("#finished").inner_text()
    assert "The compiler: 1 of 2 labs finished, about 2.5 hours left. The guards of lab 07b" in end and "GPT" not in end
    lab.evaluate("localStorage.removeItem('rushlight/path')")


@pytest.mark.sweep
def test_a_verdict_is_copied_as_a_link_that_brings_the_answer_and_as_text(lab, below):
    lab.context.grant_permissions(["clipboard-read", "clipboard-write"])
    answer(lab, STRIDES, WRONG)
    press(lab, STRIDES)
    lab.get_by_role("button", name="Copy as text: contiguous_strides").click()
    lab.get_by_text("Copied.", exact=True).wait_for()
    text = lab.evaluate("navigator.clipboard.readText()")
    where = f"{below}{LAB}#exercise-{STRIDES}"
    assert text.startswith(f"Lab 01a, exercise `contiguous_strides`\n{where}\n\n```text\n✗ ")
    assert text.endswith(f"```python\n{WRONG}```")
    lab.get_by_role("button", name="Copy link").click()
    lab.get_by_text("The link has this answer in it").wait_for()
    lab.get_by_text("The link has this answer in it").wait_for(state="hidden")  # after some seconds
    address = lab.evaluate("navigator.clipboard.readText()")

    for text, said in ((WRONG, "is here already"), (RIGHT, "is your own")):
        lab.evaluate("([name, text]) => cells.find(({ exercise }) => exercise === name).change(text)", [CHECK, text])
        lab.goto("about:blank")
        lab.goto(address)
        lab.locator(".lent", has_text=said).wait_for()
    lab.evaluate("localStorage.clear(), sessionStorage.clear()")
    lab.goto("about:blank")
    lab.goto(address)
    note = lab.locator(".lent")
    note.wait_for()
    assert (
        "was not run" in note.inner_text() and "max" not in text_of(lab, STRIDES) and "*= size" in text_of(lab, STRIDES)
    )
    assert lab.evaluate("python.worker") is None and kept(lab) == {}


@pytest.mark.sweep
def test_an_answer_of_a_link_gets_a_verdict_without_points_and_ones_own_answer_stays(lab):
    answer(lab, STRIDES, WRONG)
    lab.evaluate(f"location.hash = '#a={link(text=RIGHT)}'")
    lab.locator(".lent").wait_for()
    press(lab, STRIDES)
    assert "all 93 cases agree with torch" in card(lab, STRIDES) and tally(lab).startswith("0 of")
    assert not re.search(r"\d points", card(lab, STRIDES))
    assert kept(lab)["answers"][STRIDES] == WRONG and not kept(lab)["passed"]
    lab.get_by_role("button", name="Back to mine").click()
    assert text_of(lab, STRIDES).strip() == WRONG.strip() and "#a=" not in lab.url and not lab.locator(".lent").count()
    said = card(lab, STRIDES)
    assert "Press Check for the verdict on this code." in said and "agree with torch" not in said  # that was other code


COMING = """([name, given]) => {
    const cell = cells.find(({ id }) => id === name);
    kept.passed[cell.checked.check] = cell.text;
    kept.write();
    const isSeen = () => cell.checked.outputs.checkVisibility({ visibilityProperty: true });
    const seen = [isSeen()];
    history.replaceState(null, "", `#a=${given}`);
    const done = share.receive();
    seen.push(isSeen());
    return done.then(() => [...seen, isSeen()]);
}"""


@pytest.mark.sweep
def test_while_a_link_is_read_no_verdict_of_ones_own_is_beside_its_exercise(lab):
    answer(lab, STRIDES, RIGHT)
    assert lab.evaluate(COMING, [STRIDES, link()]) == [True, False, True]
    assert card(lab, STRIDES) == "Press Check for the verdict on this code."


MISSING = "a part of the link is missing"
REFUSED = [
    ("", MISSING),
    ("no!base64", MISSING),
    (link()[:-20], MISSING),
    (link(text=None), MISSING),
    (link(text="a" * 200_000), MISSING),
    ("A" * 8001, "too long"),
    (link("02a_keys"), "to the lab 02a_keys"),
    (link('<img src=x onerror="window.ran = 1">'), "to the lab <img"),
    (link(exercise="<script>window.ran = 1</script>"), "does not have"),
]


@pytest.mark.sweep
def test_a_link_that_is_not_whole_or_not_of_this_lab_is_refused_in_words(lab):
    note = lab.locator(".lent")
    for given, why in REFUSED:
        lab.evaluate("document.querySelector('.lent')?.remove()")
        lab.evaluate("given => void (location.hash = `#a=${given}`)", given)
        note.wait_for()
        assert why in note.inner_text() and "Nothing has changed here." in note.inner_text(), given[:40]
        assert not note.locator("img, script").count()
    assert "NotImplementedError" in text_of(lab, STRIDES) and lab.evaluate("window.ran") is None


@pytest.mark.sweep
def test_a_script_in_an_answer_of_a_link_is_text_also_after_a_reload(lab):
    text = "# <img src=x onerror='window.ran = 1'><script>window.ran = 1</script>\n</code></pre><b>"
    lab.evaluate(f"location.hash = '#a={link(text=text)}'")
    lab.locator(".lent").wait_for()
    lab.evaluate("history.replaceState(null, '', '#5-permute')")  # as the theme does while the page scrolls
    assert "#a=" in lab.url
    lab.evaluate("location.hash = '#5-permute'")  # as a reader does with a link of the page
    lab.reload()
    lab.locator(".lent").wait_for()
    assert text_of(lab, STRIDES).rstrip("\n") == text and lab.evaluate("window.ran") is None
