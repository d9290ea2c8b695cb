"""The site as it is built, in a browser: from the disk, where nothing else is at hand, and as it is served."""

import re
from pathlib import Path

import nbformat
import pytest
import torch

from autograder.check import function_of

ROOT = Path(__file__).parents[2]
PICTURES_AMISS = "[...document.images].filter(each => !each.alt || !each.naturalWidth).map(each => each.src)"
TEX_LEFT = r"""() => {
    const body = document.querySelector("article").cloneNode(true);
    body.querySelectorAll("code, pre, annotation, script").forEach(each => each.remove());
    return body.textContent.match(/\$[^$]*\$|\\[a-z(\[]+/g) || [];
}"""


def look_at(page, folder, name, problems):
    """Open a page of the site. What is wrong with it goes into `problems`."""
    page.set_viewport_size({"width": 1440, "height": 900})
    page.goto(f"{folder.as_uri()}/{name}")
    problems += [f"{name}: {each} has no text, or does not show" for each in page.evaluate(PICTURES_AMISS)]
    problems += [f"{name}: {each} is no formula" for each in page.evaluate(TEX_LEFT)]
    for width in 1440, 390:
        page.set_viewport_size({"width": width, "height": 900})
        if (reach := page.evaluate("document.documentElement.scrollWidth")) > width:
            problems.append(f"{name} is {reach} pixels wide on a screen of {width}")


KINDS_OF_PAGES = ["index.html", "students.html", "phases/05_*/reading.html", "phases/01_*/01*.html", "api/**/*.html"]


@pytest.mark.parametrize("pattern", KINDS_OF_PAGES)
def test_a_page_opens_cleanly_shows_its_pictures_and_fits_a_phone_and_a_desk(page, folder, problems, pattern):
    first, *_ = sorted(folder.glob(pattern))
    look_at(page, folder, first.relative_to(folder), problems)


@pytest.mark.sweep
def test_next_leads_to_every_page_each_opens_cleanly_shows_its_pictures_and_fits_a_phone_and_a_desk(
    page, folder, problems
):
    visited, address = [], f"{folder.as_uri()}/index.html"
    while address:
        visited.append(address.removeprefix(f"{folder.as_uri()}/"))
        look_at(page, folder, visited[-1], problems)
        following = page.locator("a.md-footer__link--next")
        address = following.evaluate("link => link.href") if following.count() else None
    assert sorted(visited) == sorted({str(path.relative_to(folder)) for path in folder.rglob("*.html")} - {"404.html"})


@pytest.mark.parametrize("way", ["from the disk", "served"])
def test_search_for_dispatch_key_finds_the_phase_on_the_dispatcher(page, folder, served, way):
    page.goto(f"{served if way == 'served' else folder.as_uri()}/index.html")
    page.get_by_role("textbox", name="Search").press_sequentially("dispatch key")
    page.locator(".md-search-result__link[href*='phases/02_dispatcher/']").first.click()
    page.wait_for_url("**/phases/02_dispatcher/*")


def test_formulas_show_without_a_script(browser, folder):
    with browser.new_context(java_script_enabled=False) as context:
        page = context.new_page()
        page.goto(f"{folder.as_uri()}/phases/05_training/reading.html")
        formulas = page.locator("math").all()
        assert len(formulas) > 10
        assert all(each.bounding_box()["width"] for each in formulas)


def test_a_reading_folds_what_only_prepares_or_draws_and_the_answers(page, served):
    page.goto(f"{served}/phases/08_inductor/reading.html")
    folded = page.locator("details.folded").filter(has_text="Figure 1:")
    assert page.locator(".figure img").first.is_visible() and not folded.locator("pre").is_visible()
    folded.locator("summary").click()
    assert "rl.draw.show(" in folded.locator("pre").inner_text()
    answer = page.locator("details", has=page.locator("summary", has_text=re.compile("^Answer$"))).first
    assert not answer.locator("p").is_visible()
    answer.locator("summary").click()
    assert answer.locator("p code").first.is_visible()


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [390, 1440])
def test_whoever_goes_by_keyboard_sees_where(page, served, width, scheme):
    page.emulate_media(color_scheme=scheme)
    page.set_viewport_size({"width": width, "height": 900})
    page.goto(f"{served}/phases/01_strided/01a_views.html")
    seen = set()
    for _ in range(50):
        page.keyboard.press("Tab")
        place, outlined, inside = page.evaluate(FOCUS)
        assert outlined and inside, place
        seen.add(place)
    assert len(seen) > 40


FOCUS = """() => {
    let element = document.activeElement;
    if (element.matches(".md-option")) element = document.querySelector("[data-md-component=palette] label:not([hidden])");
    const { left, right, top, bottom } = element.getBoundingClientRect();
    const inside = right > 0 && left < innerWidth && bottom > 0 && top < innerHeight;
    return [element.outerHTML.slice(0, 200), getComputedStyle(element).outlineStyle === "solid", inside];
}"""


def test_the_menu_opens_by_keyboard_on_a_phone(page, served):
    page.set_viewport_size({"width": 390, "height": 900})
    page.goto(f"{served}/index.html")
    page.get_by_role("button", name="Menu").press("Enter")
    page.get_by_role("link", name="For students").first.click()
    page.wait_for_url("**/students.html")


def test_a_lab_says_how_to_open_it_and_can_be_downloaded(page, served):
    page.goto(f"{served}/phases/04_autograd/04a_history.html")
    box = page.locator(".admonition", has_text="Open this lab")
    assert "rushlight lab 04a" in box.inner_text()
    with page.expect_download() as download:
        box.get_by_role("link", name="04a_history.ipynb").click()
    assert Path(download.value.path()).read_bytes() == (ROOT / "labs/04a_history/04a_history.ipynb").read_bytes()


def test_every_exercise_has_an_entry_in_the_api_that_leads_to_its_lab(folder):
    for path in sorted(ROOT.glob("labs/*/*.ipynb")):
        for cell in nbformat.read(path, as_version=4).cells:
            if exercise := cell.metadata.get("rushlight", {}).get("exercise"):
                function = function_of(exercise)
                module = function.__module__.removeprefix("rushlight.").replace(".", "/")
                page = (folder / "api" / f"{module}.html").read_text(encoding="utf-8")
                _, _, entry = page.partition(f'id="{function.__name__}"')
                assert f"/{path.stem}.html" in entry.partition("<h3")[0], exercise


def test_links_to_pytorchs_python_lead_to_files_that_the_release_has(folder):
    link = re.compile(r"https://github\.com/pytorch/pytorch/\w+/v([\d.]+)/(torch/[^\"#]+\.py)")
    found = {match.groups() for page in folder.rglob("*.html") for match in link.finditer(page.read_text("utf-8"))}
    assert len(found) > 100
    if {version for version, _ in found} != {torch.__version__.partition("+")[0]}:
        pytest.skip(f"torch here is {torch.__version__}, not the release that the links lead to")
    assert [path for _, path in found if not Path(torch.__file__).parents[1].joinpath(path).exists()] == []
