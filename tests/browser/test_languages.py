"""The site in another language: the same pages at the same places, and what is not translated says so."""

import json
import re
from itertools import product

import pytest
from sweep import sweep, swept
from test_moving import AMISS, build

from autograder import translation

LANGUAGE = translation.languages()[0]


@pytest.fixture
def other(served):
    """The address of the site in that language."""
    return f"{served}/{LANGUAGE}"


@pytest.mark.sweep
def test_a_page_and_a_section_lead_to_the_same_in_the_other_language_and_back(page, served, other):
    page.goto(f"{served}/phases/01_strided/reading_01a.html#contiguous-strides")
    there = page.locator(f"a[hreflang={LANGUAGE}].md-select__link")
    page.get_by_role("button", name="Select language").hover()
    there.click()
    page.wait_for_url(f"{other}/phases/01_strided/reading_01a.html#contiguous-strides")
    assert page.locator("html").get_attribute("lang") == LANGUAGE
    assert page.locator("#contiguous-strides").is_visible()
    assert (
        page.locator("a[hreflang=en].md-select__link").evaluate("link => link.href").startswith(f"{served}/phases/01")
    )


def test_every_page_has_the_sections_of_the_english_one(folder):
    for path in sorted(folder.joinpath(LANGUAGE).rglob("*.html")):
        english = folder / path.relative_to(folder / LANGUAGE)
        anchors = [re.findall(r'<h[1-6] id="([^"]+)"', each.read_text("utf-8")) for each in (english, path)]
        assert anchors[0] == anchors[1], path
    pages = [path for path in folder.rglob("*.html") if not {"api", LANGUAGE} & {*path.relative_to(folder).parts}]
    assert len([*folder.joinpath(LANGUAGE).rglob("*.html")]) == len([path for path in pages if path.name != "404.html"])


def test_an_exercise_of_a_lab_has_the_contract_in_that_language_also_on_home_and_in_a_reading(folder):
    english = "Row-major strides of a tensor with these `sizes`, in elements."
    said = translation.catalogue(LANGUAGE, "labs/01a_views")[english]
    for name in ("index", "phases/01_strided/reading_01a"):
        page = folder.joinpath(LANGUAGE, f"{name}.html").read_text("utf-8")
        assert english not in page and (said in page or json.dumps(said)[1:-1] in page), name


def test_home_and_a_lab_lead_on_to_pages_in_that_language(folder):
    for name in ("index", "phases/01_strided/01a_views"):
        path = folder / LANGUAGE / f"{name}.html"
        links = re.findall(r'"link":"([^"#]+)', path.read_text("utf-8"))
        assert links and all((path.parent / link).resolve().is_relative_to(folder / LANGUAGE) for link in links), name


def test_each_row_of_the_models_sentences_on_home_is_in_its_language(folder):
    for page in folder / "index.html", folder / LANGUAGE / "index.html":
        rows = re.findall(r'<tr lang="(\w+)">\s*<td[^>]*>\((\w+)\)', page.read_text("utf-8"))
        assert {verb for language, verb in rows if language == "en"} == {"drag", "climb", "copy"}
        assert {verb for language, verb in rows if language == "es"} == {"copiar", "unir", "limpiar", "wugar"}


def test_a_link_to_a_page_in_english_says_so(folder):
    """In the map's drawing too, where a link has a label."""
    said = translation.catalogue(LANGUAGE, "site")["in English"]
    for name in "index", "map", "phases/10_quantization/reading_10b":
        path = folder / LANGUAGE / f"{name}.html"
        for link, to in re.findall(r'(<a [^>]*href="([^":#]+\.html)[^>]*>)', path.read_text("utf-8")):
            target = (path.parent / to).resolve()
            if target.is_relative_to(folder / LANGUAGE) and target.exists():
                english = '<article lang="en"' in target.read_text("utf-8")
                assert english == ('hreflang="en"' in link) == (said in link), link
    found = json.loads((folder / LANGUAGE / "search/search_index.json").read_text("utf-8"))["docs"]
    assert {"english" in each for each in found if each["location"].startswith("releasing")} == {True}
    assert {"english" in each for each in found if each["location"].startswith("students")} == {False}


def test_what_a_page_that_is_not_there_says_is_in_the_language_of_its_address(page, below, problems):
    page.goto(f"{below}{LANGUAGE}/phases/nothing.html", wait_until="networkidle")
    assert problems.pop(0).startswith("404") and "404" in problems.pop(0)  # and what the console says of it
    said = translation.catalogue(LANGUAGE, "site")["This page does not exist"]
    assert page.get_by_role("heading").all_inner_texts() == [said]
    page.locator("article").get_by_role("link").last.click()
    page.wait_for_url(f"{below}{LANGUAGE}/index.html")


@pytest.mark.sweep
def test_a_page_without_a_translation_is_read_aloud_in_english_and_says_so(page, other):
    page.goto(f"{other}/releasing.html")
    assert page.locator("article").get_attribute("lang") == "en"
    assert page.locator("article .untranslated").get_attribute("lang") == LANGUAGE
    page.goto(f"{other}/students.html")
    assert page.locator("article").get_attribute("lang") is None


@pytest.mark.sweep
@pytest.mark.parametrize(
    "name", [swept("index.html"), swept("phases/01_strided/01a_views.html"), "figures/strides.html"]
)
def test_a_page_asks_for_nothing_that_is_not_there(page, other, problems, name):
    page.goto(f"{other}/{name}", wait_until="networkidle")
    assert (
        page.evaluate("[...document.images].filter(each => each.complete && !each.naturalWidth).map(each => each.src)")
        == []
    )
    for link in {
        each.partition("#")[0] for each in page.eval_on_selector_all("article a", "all => all.map(a => a.href)")
    }:
        assert not link.startswith(other.rpartition("/")[0]) or page.request.get(link).ok, link


def test_the_search_is_in_the_language_and_finds_its_pages(page, folder, other):
    index = json.loads((folder / LANGUAGE / "search/search_index.json").read_text("utf-8"))
    assert index["config"]["lang"] == [LANGUAGE]
    page.goto(f"{other}/students.html")
    page.locator(".md-search__input").press_sequentially("dispatch key")
    page.locator(".md-search-result__link[href*='glossary.html#dispatch-key']").first.click()
    page.wait_for_url(f"{other}/glossary.html*#dispatch-key")


# What scripts say ----------------------------------------------------------------------------------------------------

SAID = translation.catalogue(LANGUAGE, "figures")


def test_a_figure_speaks_the_language_of_its_page(page, other):
    page.goto(f"{other}/figures/backward.html#backward=a-diamond,1")
    node = SAID["{name} of {code}"].format(name="SumBackward0", code="c.sum()")
    question = SAID["Which node runs next? Press it, or press step."]
    assert page.locator(".said").inner_text() == f"{SAID['{node} has run.'].format(node=node)} {question}"
    buttons = page.locator(".controls button").all_inner_texts()
    assert buttons == [SAID[label] for label in ("play", "step", "back", "copy link")]
    assert page.locator(".controls option").first.inner_text() == SAID["a diamond"]
    page.get_by_role("button", name=SAID["step"], exact=True).click()
    page.wait_for_url(f"{other}/figures/backward.html#backward=a-diamond,2")  # an address is the same in all languages


@pytest.mark.parametrize(("name", "width"), sweep(list(product(build.names(), [390, 1440])), every=14))
def test_a_figure_has_room_for_the_words_of_the_language(page, other, name, width):
    page.set_viewport_size({"width": width, "height": 900})
    page.goto(f"{other}/figures/{name}.html")
    assert page.evaluate(AMISS) == []


@pytest.fixture
def lab(page, folder, other):
    """The page of a lab, and the buttons below an exercise."""
    if not (folder / "browser/pyodide").exists():
        pytest.skip("the parts for the browser are not here (`python docs/programs/browser/parts.py` fetches them)")
    page.goto(f"{other}/phases/01_strided/01a_views.html")
    return page, page.locator('[data-cell="aten-strided-contiguous_strides"] + .buttons button:visible')


def test_the_buttons_of_a_lab_are_in_the_language(lab):
    page, buttons = lab
    bar = page.locator(".tab-bar .buttons button").all_inner_texts()
    assert bar == [SAID[label] for label in ("Download", "Upload", "Delete")]
    assert buttons.all_inner_texts() == [SAID[label] for label in ("Check", "Run", "Edit")]
    assert re.fullmatch(SAID["{0} of {1} points"].format("0", r"\d+"), page.locator(".tab-bar b").inner_text())


@pytest.mark.sweep  # starts Python
def test_the_verdicts_of_a_lab_are_in_the_language(lab):
    page, buttons = lab
    verdict = page.locator('[data-cell="check-aten-strided-contiguous_strides"] + .outputs')
    buttons.first.click()
    said = SAID["not attempted: press Edit, and write the body in the place of {}."]
    assert said.format("raise NotImplementedError") in verdict.inner_text()  # for which no Python is started
    page.evaluate("cells.find(({ kind }) => kind === 'exercise').text = 'x = 1'")
    buttons.first.click()
    page.wait_for_function("!document.querySelector('.tab-bar.busy')")
    assert translation.catalogue(LANGUAGE, "verdicts")["not attempted"] in verdict.inner_text()


@pytest.mark.sweep
def test_a_message_without_a_translation_is_in_english(page, served, other):
    page.goto(f"{other}/students.html")
    assert page.evaluate("words('{1} is not in {0}', 'a catalogue', 'this')") == "this is not in a catalogue"
    page.goto(f"{served}/figures/strides.html")
    assert page.evaluate("words('copy link')") == "copy link" and page.locator("#words").count() == 0
