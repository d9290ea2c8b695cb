"""How a page reads: its formulas, its words, and that nothing of it is cut off."""

import re
from html import unescape
from pathlib import Path

import pytest
from sweep import sweep

ROOT = Path(__file__).parents[2]
PHASES = sorted(path.parent.name for path in ROOT.glob("phases/*/reading.ipynb"))

CUT = """() => {
    const found = [];
    const scrolls = (element) => /auto|scroll/.test(getComputedStyle(element).overflowX);
    for (const details of document.querySelectorAll("article details")) details.open = true;
    for (const block of document.querySelectorAll("article :is(pre, code, table, math, img, svg, .output, .formula)")) {
        if (!block.checkVisibility() || block.parentElement.closest("svg")) continue;
        const name = `${block.localName}.${block.className.baseVal ?? block.className} ${block.textContent.trim().slice(0, 60)}`;
        if (block.matches(".formula") && block.scrollHeight > block.clientHeight) found.push(`${name}: too low`);
        const { left, right: edge } = block.getBoundingClientRect();
        const right = scrolls(block) ? edge : Math.max(edge, left + block.scrollWidth);
        let around = block;
        while (around && !scrolls(around)) {
            const { overflowX, display } = getComputedStyle(around);
            if (around === block && overflowX !== "visible" && display !== "inline" && block.scrollWidth > block.clientWidth + 1)
                found.push(`${name}: ${block.scrollWidth} pixels in ${block.clientWidth}`);
            if (around !== block && overflowX !== "visible" && right > around.getBoundingClientRect().right + 1)
                found.push(`${name}: behind the edge of ${around.localName}.${around.className}`);
            around = around.parentElement;
        }
        if (!around && right > innerWidth + 1) found.push(`${name}: beyond the window`);
    }
    return found;
}"""


@pytest.mark.sweep
@pytest.mark.parametrize("phase", sweep(PHASES, keep=["10_quantization"]))
def test_no_formula_code_table_or_picture_of_a_reading_is_cut_off(page, folder, phase):
    for path in sorted((folder / "phases" / phase).glob("reading*.html")):
        page.goto(path.as_uri())
        page.evaluate("document.fonts.ready.then(() => null)")
        for width in 390, 1280:
            page.set_viewport_size({"width": width, "height": 900})
            assert page.evaluate(CUT) == [], (path.name, width)


def test_what_a_question_asks_for_is_covered_until_its_button_is_pressed_and_not_in_print(page, folder):
    page.goto((folder / "phases/01_strided/reading_01a.html").as_uri())
    asked = page.locator("details.asked")
    question = page.locator("p", has_text="At which element of the storage is")
    answer = question.locator("xpath=following-sibling::details[1]").locator(".output")
    told = asked.locator("p", has_text="The last line is an edge case.")  # it explains the output of another question
    assert asked.count() > 9 and not answer.is_visible() and told.count() == 1 and not told.is_visible()
    assert page.locator("article > .output").first.is_visible()  # that of a cell without a question
    assert page.evaluate(COVERS) == ["Show what it prints", "Show the figure"]
    question.locator("xpath=following-sibling::details[1]/summary").focus()
    page.keyboard.press("Enter")
    assert answer.is_visible() and page.evaluate(COVERS)[-1] == "Hide what it prints"
    page.emulate_media(media="print")
    assert page.locator(".answer").count() > 5
    assert page.evaluate(
        "[...document.querySelectorAll(':is(.asked, .answer) :is(.output, p)')].every((each) => each.checkVisibility())"
    )


COVERS = (
    "[...new Set([...document.querySelectorAll('.asked > summary')].map((each) => each.innerText))].sort().reverse()"
)
FIRST_PICTURE = """() => [...document.querySelectorAll("article :is(.figure img, .moving > svg, .moving > img)")]
    .filter((each) => each.checkVisibility()).map((each) => each.getBoundingClientRect())[0]"""


SCREENS = [  # that of the clinic has one picture, which answers a question
    (phase, *size) for phase in PHASES for size in ((1440, 900), (390, 844)) if phase != "13_clinic"
]


@pytest.mark.sweep
@pytest.mark.parametrize(
    ("phase", "width", "height"),
    sweep(SCREENS, keep=[("10_quantization", 1440, 900)]),
)
def test_the_first_screen_of_a_reading_has_a_picture_of_what_the_phase_is_about(page, folder, phase, width, height):
    page.set_viewport_size({"width": width, "height": height})
    page.goto((folder / "phases" / phase / "reading.html").as_uri())
    page.wait_for_function("[...document.images].slice(0, 3).every((each) => each.complete || each.loading === 'lazy')")
    picture = page.evaluate(FIRST_PICTURE)
    assert picture["height"] > 60 and height - picture["y"] > min(picture["height"], 120)


def test_every_character_of_a_formula_is_in_the_font_that_the_site_has(folder, whole):
    """A character that is missing there has to be added to `docs/programs/fonts/build.py`."""
    from docs.programs.fonts.build import CHARACTERS

    known = {*map(chr, CHARACTERS)}
    formulas = {}
    for path in folder.rglob("*.html"):
        for formula in re.findall(r"<math\b.*?</math>", path.read_text("utf-8"), re.DOTALL):
            formulas[formula] = {*unescape(re.sub(r"<[^>]+>|\s", "", formula))} - known
    assert len(formulas) > (50 if whole else 0)
    assert {formula: missing for formula, missing in formulas.items() if missing} == {}


@pytest.mark.sweep
def test_a_browser_takes_every_character_of_a_formula_from_the_font_that_the_site_has(page, folder):
    devtools = page.context.new_cdp_session(page)
    formulas = 0
    paths = [path for path in sorted(folder.rglob("*.html")) if "<math" in path.read_text("utf-8")]
    for path in paths:
        page.goto(path.as_uri())
        page.evaluate("document.fonts.ready.then(() => null)")
        devtools.send("DOM.enable")
        devtools.send("CSS.enable")
        root = devtools.send("DOM.getDocument")["root"]["nodeId"]
        nodes = devtools.send("DOM.querySelectorAll", {"nodeId": root, "selector": "math *"})["nodeIds"]
        fonts = [devtools.send("CSS.getPlatformFontsForNode", {"nodeId": node})["fonts"] for node in nodes]
        assert {font["familyName"] for each in fonts for font in each} == {"Rushlight Math"}, path
        formulas += len(nodes)
    assert formulas > 100


def test_every_link_to_a_term_leads_to_its_entry_in_the_glossary(folder, whole):
    entries = {*re.findall(r'<h3 id="([^"]+)"', (folder / "glossary.html").read_text("utf-8"))}
    term = re.compile(r'<a class="term" href="((?:\.\./)*glossary\.html)#([^"]+)"')
    linked = set()
    for path in folder.rglob("*.html"):
        for target, anchor in term.findall(path.read_text("utf-8")):
            own = folder / path.relative_to(folder).parts[0]  # of a language
            assert (path.parent / target).resolve() in (folder / "glossary.html", own / "glossary.html")
            linked.add(anchor)
    assert len(linked) > (80 if whole else 30)
    assert linked <= entries


@pytest.mark.sweep
@pytest.mark.parametrize("width", sweep([390, 1280], every=2))
def test_a_term_says_what_it_means_to_whoever_reaches_it_by_keyboard(page, served, width):
    page.set_viewport_size({"width": width, "height": 900})
    page.goto(f"{served}/phases/01_strided/reading_01a.html")
    term = page.locator("a.term", has_text="kernel").first
    says = unescape(term.get_attribute("title"))
    assert says.startswith("The function that computes an operator")
    term.focus()
    page.keyboard.press("Shift+Tab")
    page.keyboard.press("Tab")
    tooltip = page.get_by_role("tooltip")
    tooltip.wait_for()
    assert tooltip.inner_text() == says
    assert term.get_attribute("aria-describedby") == tooltip.get_attribute("id")
    box = tooltip.locator("div").bounding_box()
    assert box["x"] >= 0
    assert box["x"] + box["width"] <= width
