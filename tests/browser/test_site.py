"""The site as it is built, in a browser: from the disk, where nothing else is at hand, and as it is served."""

import json
import re
from html import unescape
from itertools import combinations
from pathlib import Path

import nbformat
import pytest
from PIL import Image
from sweep import sweep, swept

from autograder import translation
from autograder.engine.check import function_of

ROOT = Path(__file__).parents[2]
PICTURES_AMISS = """[...document.images]
    .filter((each) => !(each.alt || each.closest(".phases .card")) || !each.naturalWidth)
    .map((each) => each.src)"""  # the title of a phase's card says what its drawing, which is for the eye, would
LOAD_PICTURES = """() => Promise.allSettled([...document.images].map((each) => {
    each.loading = "eager";
    return each.decode();
}))"""
TEX_LEFT = r"""() => {
    const body = document.querySelector("article").cloneNode(true);
    body.querySelectorAll("code, pre, annotation, script").forEach(each => each.remove());
    return body.textContent.match(/\$[^$]*\$|\\[a-z(\[]+/g) || [];
}"""


def look_at(page, folder, name, problems):
    """Open a page of the site. What is wrong with it goes into `problems`."""
    page.set_viewport_size({"width": 1440, "height": 900})
    page.goto(f"{folder.as_uri()}/{name}")
    page.evaluate(LOAD_PICTURES)
    problems += [f"{name}: {each} has no text, or does not show" for each in page.evaluate(PICTURES_AMISS)]
    problems += [f"{name}: {each} is no formula" for each in page.evaluate(TEX_LEFT)]
    for width in 1440, 390:
        page.set_viewport_size({"width": width, "height": 900})
        if (reach := page.evaluate("document.documentElement.scrollWidth")) > width:
            problems.append(f"{name} is {reach} pixels wide on a screen of {width}")


KINDS_OF_PAGES = ["index.html", "phases/10_*/reading_10b.html", "phases/01_*/01*.html", "api/**/*.html"]


@pytest.mark.parametrize("pattern", sweep(KINDS_OF_PAGES, every=4))
def test_a_page_opens_cleanly_shows_its_pictures_and_fits_a_phone_and_a_desk(page, folder, problems, pattern):
    first, *_ = sorted(folder.glob(pattern))
    look_at(page, folder, first.relative_to(folder), problems)


@pytest.mark.sweep
@pytest.mark.parametrize("place", [".", *translation.languages()])
def test_next_leads_to_every_page_each_opens_cleanly_shows_its_pictures_and_fits_a_phone_and_a_desk(
    page, folder, problems, place
):
    """(The last page in Spanish leads to the API, which is in English alone.)"""
    here, visited = f"{folder.joinpath(place).as_uri()}/", []
    address = f"{here}index.html"
    while address.startswith(here):
        visited.append(address.removeprefix(f"{folder.as_uri()}/"))
        look_at(page, folder, visited[-1], problems)
        following = page.locator("a.md-footer__link--next")
        address = following.evaluate("link => link.href") if following.count() else ""
    pages = {path.relative_to(folder) for path in folder.joinpath(place).rglob("*.html")} - {Path("404.html")}
    assert sorted(visited) == sorted(
        str(page) for page in pages if place != "." or page.parts[0] not in translation.languages()
    )


@pytest.mark.sweep
@pytest.mark.parametrize("way", sweep(["from the disk", "served"], every=2))
def test_search_for_broadcasting_finds_the_phase_on_strides(page, folder, served, way):
    page.goto(f"{served if way == 'served' else folder.as_uri()}/index.html")
    page.get_by_role("textbox", name="Search").press_sequentially("broadcasting stride")
    page.locator(".md-search-result__link[href*='phases/01_strided/']").first.click()
    page.wait_for_url("**/phases/01_strided/*")


FINDS = """async (queries) => {
    const index = await (await fetch("search/search_index.json")).json();
    const worker = new Worker(JSON.parse(document.getElementById("__config").textContent).search);
    const ask = (type, data) => new Promise((answered) => {
        worker.onmessage = (event) => answered(event.data.data);
        worker.postMessage({ type, data });
    });
    await ask(0, { ...index, options: {} });
    const found = {};
    for (const query of queries) found[query] = (await ask(2, query)).items.map(page => page.map(each => each.location));
    return found;
}"""
TERMS = {  # the entry of the glossary that a reader's words should lead to, of all sections
    "stride": "#stride",
    "what is a dispatch key": "#dispatch-key",
    "dispacher": "#dispatcher",
    "contigous": "#contiguous",
    "OOM": "#out-of-memory",
    "bytes sent by all-reduce": "#all-reduce",
    "quantization aware training": "#fake-quantisation",
    "torch.compile recompiles": "#recompilation",
    "torch.no_grad": "#grad-mode",
    "how do I write a custom op": "#custom-operator",
    "my gradient is None": "#leaf",
    "DDP": "#data-parallel-training-ddp",
    "KV cache": "#kv-cache",
    "min-cut": "#min-cut-partitioner",
    "what is a SymInt": "#symint-symbolic-size",
    "what is a vector-Jacobian product": "#vector-jacobian-product",
}
FIRST = (
    TERMS
    | {  # the section that they should lead to: that of a reading before the glossary, unless a definition is asked for
        "bytes sent by all-reduce": "#rings",
        "quantization aware training": "#training-through-the-rounding",
        "torch.compile recompiles": "#recompilations",
        "KV cache": "#each-token-once",
        "min-cut": "#what-to-save",
        "what is a KV cache": "#kv-cache",
        "how do I recompile less": "#recompilations",
        "loss is nan": "11_profiling/reading_11b.html#a-loss-that-is-nan",
        "dataloader": "05_training/reading_05b.html#from-data-to-batches",
        "google colab": "anywhere.html#colab",
        "grade submissions": "instructors.html#grade-a-lab",
        "what is a tensor": "01_strided/reading_01a.html#two-objects-where-you-see-one",
        "how do I write a custom op": "06_custom_ops/reading_06a.html#an-operator-in-one-line",
        "torch.no_grad": "api/autograd/grad_mode.html#no_grad",
        "loss.backward()": "api/autograd/variable.html#Tensor.backward",
        "Tensor.view": "api/operators.html#op_view",
        "model.parameters()": "api/nn/modules/module.html#Module.parameters",
        "model.eval() or torch.no_grad, what is the difference": "05_training/reading_05a.html#training-and-evaluation",
        "my gradient is None": "04_autograd/reading_04a.html#which-results-require-grad",
    }
)
SOON = {  # a section that should be among the first two of one of the first three pages
    "OOM": "#out-of-memory-with-memory-to-spare",
    "bytes sent by all-reduce": "#bytes-on-paper",
    "torch.compile recompiles": "#guards",
    "contigous": "#contiguity-and-the-sizes-0-and-1",
    "view size is not compatible": "#when-a-view-can-have-other-sizes",
    "modified by an inplace operation": "#saved-tensors-and-their-versions",
    "quantization aware training": "#fake-quantisation",
    "fused kernel": "#why-fuse",
    "install on windows": "#on-your-system",
    "broadcasing": "#broadcasting-is-a-stride-of-0",
}


def test_what_a_reader_types_finds_the_section_that_explains_it(page, served, whole):
    first, soon = (FIRST, SOON) if whole else (TERMS, {})
    page.goto(f"{served}/students.html")
    found = page.evaluate(FINDS, [*{*first, *soon}])
    sections = {words: [[each for each in group if "#" in each] for group in groups] for words, groups in found.items()}
    firsts = {words: next(each for group in sections[words] for each in group) for words in first}
    assert not {words: place for words, place in firsts.items() if not place.endswith(first[words])}
    places = {words: [each for group in sections[words][:3] for each in group[:2]] for words in soon}
    assert not {words: each for words, each in places.items() if not any(place.endswith(soon[words]) for place in each)}


def test_a_whole_question_finds_what_no_text_says_in_its_words_and_a_reader_can_ask_for_phrases(page, folder, served):
    typed, place = "How can I refresh my knowledge for an interview?", "students.html#keeping-it"
    entries = json.loads((folder / "search/search_index.json").read_text("utf-8"))["docs"]
    texts = {entry["location"]: f"{entry['title']} {entry['text']}".lower() for entry in entries}
    assert not [word for word in ("refresh", "interview") if word in texts[place]]
    page.goto(f"{served}/students.html")
    others = {
        "what does this website store about me": "students.html#what-the-page-keeps",
        "how do I restart python in the browser": "students.html#if-python-in-the-page-stops",
        "how do I cite this course": "students.html#to-cite-the-course",
        "whom do I tell that a check is wrong": "students.html#a-mistake-in-the-course",
    }
    phrase, without, begun = '"dispatch key"', "stride -contiguous", {"broadcas": "broadcast", "stri": "stride"}
    found = page.evaluate(FINDS, [typed, *others, phrase, without, *begun])
    assert {words: found[words][0][0] for words in (typed, *others)} == {typed: place} | others
    sections = {
        words: [texts[each] for group in groups for each in group if "#" in each] for words, groups in found.items()
    }
    assert sections[phrase] and all("dispatch key" in text for text in sections[phrase])
    assert sections[without] and not any(re.search(r"\bcontiguous\b", text) for text in sections[without])
    assert all(whole in sections[begin][0] for begin, whole in begun.items())
    page.get_by_role("textbox", name="Search").fill("refresh")
    reason = page.locator(f".md-search-result__link[href*='{place}'] p", has_text="In other words")
    reason.locator("mark", has_text="refresh").first.wait_for(state="attached")


@pytest.mark.parametrize(
    ("typed", "searched"),
    [("how does broadcsting work", "how does broadcasting work"), ("veiw vs reshape", "view vs reshape")],
)
def test_a_word_that_no_page_has_is_taken_for_the_nearest_one_and_the_page_says_so(page, served, typed, searched):
    page.goto(f"{served}/students.html")
    page.get_by_role("textbox", name="Search").fill(typed)
    page.get_by_text(f"Searched for “{searched}”.").wait_for()
    page.locator(".md-search-result__link[href*='01_strided/reading']").first.wait_for(state="attached")


CONTRAST = """(marked) => {
    const canvas = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
    const linear = (part) => part <= 10.31 ? part / 3294.6 : ((part / 255 + 0.055) / 1.055) ** 2.4;
    const luminance = (colors) => {
        for (const color of colors) { canvas.fillStyle = color; canvas.fillRect(0, 0, 1, 1); }
        const [red, green, blue] = [...canvas.getImageData(0, 0, 1, 1).data].map(linear);
        return 0.2126 * red + 0.7152 * green + 0.0722 * blue + 0.05;
    };
    return [...document.querySelectorAll(marked)].filter((each) => each.checkVisibility()).map((mark) => {
        const ground = ["white"];
        for (let each = mark; each; each = each.parentElement) ground.splice(1, 0, getComputedStyle(each).backgroundColor);
        const ratio = luminance(ground) / luminance([...ground, getComputedStyle(mark).color]);
        return Math.max(ratio, 1 / ratio);
    });
}"""


def open_in(page, scheme, address):
    """Open a page in a scheme, not in the one that the browser has kept of an earlier page."""
    page.emulate_media(color_scheme=scheme)
    page.goto(address)
    page.evaluate("Storage.prototype.setItem = () => {}; localStorage.clear()")  # a late script cannot keep it again
    page.reload()
    page.locator(f"body[data-md-color-scheme={'slate' if scheme == 'dark' else 'default'}]").wait_for()


@pytest.mark.sweep
@pytest.mark.parametrize("scheme", sweep(["light", "dark"], keep=["dark"]))
def test_marks_links_and_buttons_have_enough_contrast(page, served, scheme):
    for name in "index.html?q=stride", "phases/01_strided/reading_01a.html":
        open_in(page, scheme, f"{served}/{name}")
        page.locator("mark").first.wait_for(state="attached")
        if "?" in name:
            page.locator(".md-search-result mark").first.wait_for()
        for marked in (
            "mark",
            "article a:not(.headerlink)",
            ".md-tabs__link, .md-nav__link",
            "article button, .numbers b",
        ):
            contrasts = page.evaluate(CONTRAST, marked)
            assert min(contrasts, default=4.5) >= 4.5, (name, marked)
        assert page.evaluate(CONTRAST, "mark") and page.evaluate(CONTRAST, "article a")


def test_the_home_page_has_its_headline_on_one_line_and_its_numbers_on_one_row(page, served):
    page.set_viewport_size({"width": 1440, "height": 900})
    page.goto(f"{served}/index.html")
    assert page.locator("h1").evaluate("h => h.clientHeight < 2 * parseFloat(getComputedStyle(h).fontSize)")
    rows = page.locator(".numbers b").evaluate_all("all => all.map(each => each.getBoundingClientRect().top)")
    assert len(rows) == 4 and len({*rows}) == 1
    assert page.get_by_role("heading", name="You have probably said").bounding_box()["y"] < 900


@pytest.mark.sweep
def test_a_page_has_one_typeface_and_one_for_code(page, served):
    for name in "index.html", "phases/01_strided/reading_01a.html":
        page.goto(f"{served}/{name}")
        page.locator(".moving.moves").first.wait_for()
        fonts = "each => getComputedStyle(each).fontFamily.split(',')[0]"
        found = page.evaluate(
            f"[...document.querySelectorAll('body *')].filter(each => each.checkVisibility()).map({fonts})"
        )
        assert {*found} - {'"Rushlight Math"'} == {"-apple-system", "ui-monospace"}, name


@pytest.mark.sweep
def test_the_first_tap_on_a_term_says_what_it_means_and_the_second_follows_the_link(browser, served):
    with browser.new_context(viewport={"width": 390, "height": 844}, has_touch=True) as context:
        page = context.new_page()
        page.goto(f"{served}/phases/01_strided/reading_01a.html")
        term = page.locator("article a.term").first
        says, address = unescape(term.get_attribute("title")), page.url
        term.tap()
        page.get_by_role("tooltip").wait_for()
        assert page.get_by_role("tooltip").inner_text() == says and page.url == address
        term.tap()
        page.wait_for_url("**/glossary.html#*")


STOPS = """() => [...document.querySelectorAll("article :is(pre, code, .formula, .figure, .md-typeset__scrollwrap)")]
    .filter((each) => each.checkVisibility()).filter((each) => {
        const scrolls = each.scrollWidth > each.clientWidth && getComputedStyle(each).overflowX === "auto";
        if (scrolls) return each.tabIndex || !each.role || !each.ariaLabel;
        return each.tabIndex === 0 && each.scrollHeight <= each.clientHeight;
    }).map((each) => each.outerHTML.slice(0, 200))"""


def test_what_scrolls_sideways_is_a_tab_stop_with_a_name_and_what_does_not_is_none(page, folder):
    page.set_viewport_size({"width": 390, "height": 844})
    page.goto((folder / "phases/01_strided/reading_01a.html").as_uri())
    page.wait_for_function(f"({STOPS})().length === 0")
    assert page.locator("article pre > code[role=group]").count() > 10
    figures = page.evaluate(
        "[...document.querySelectorAll('.figure')].map((each) => each.scrollWidth - each.clientWidth)"
    )
    assert figures and max(figures) <= 0


def test_the_colours_are_the_systems_until_a_reader_chooses(page, served):
    page.goto(f"{served}/releasing.html")
    page.evaluate("localStorage.clear()")
    page.reload()
    for scheme, name in (("dark", "slate"), ("light", "default"), ("dark", "slate")):
        page.emulate_media(color_scheme=scheme)
        page.locator(f"body[data-md-color-scheme={name}]").wait_for()
    page.evaluate("localStorage.clear()")


@pytest.mark.sweep
@pytest.mark.parametrize("scheme", sweep(["light", "dark"], keep=["dark"]))
def test_the_map_has_a_link_for_each_phase_and_drawings_follow_the_scheme(page, served, scheme):
    open_in(page, scheme, f"{served}/map.html")
    links = page.locator(".map a:visible").evaluate_all("all => all.map((each) => each.getAttribute('aria-label'))")
    assert [link[6:8] for link in links] == [f"{number:02}" for number in range(16)]
    fill = page.locator(".map rect[fill^='light-dark']").first.evaluate("rect => getComputedStyle(rect).fill")
    assert (sum(map(int, re.findall(r"\d+", fill)[:3])) > 380) == (scheme == "light")
    page.set_viewport_size({"width": 390, "height": 844})
    assert page.locator(".map a:visible").count() == 16
    page.locator(".map a[href*='01_strided']:visible").first.click()
    page.wait_for_url("**/phases/01_strided/reading.html")


@pytest.mark.sweep
@pytest.mark.parametrize(
    ("old", "new"),
    [
        (
            "phases/10_quantization/reading.html#what-is-computed-together",
            "phases/10_quantization/reading_10b.html#what-is-computed-together",
        ),
        swept("phases/07_capture/reading.html#graph-breaks", "phases/07_capture/reading_07c.html#graph-breaks"),
        swept("phases/07_capture/reading.html#min_cut=3", "phases/07_capture/reading_07d.html#min_cut=3"),
        swept(
            "phases/07_capture/reading.html#for-reference", "phases/07_capture/reading_for_reference.html#for-reference"
        ),
    ],
)
def test_an_address_of_a_section_of_a_long_reading_finds_the_page_of_its_part(page, folder, old, new):
    reading, _, section = old.partition("#")
    page.goto(f"{folder.as_uri()}/{old}")
    page.wait_for_url(f"{folder.as_uri()}/{new}")
    page.goto(f"{folder.as_uri()}/{reading}#in-five-lines")
    assert page.url.endswith("reading.html#in-five-lines")
    page.evaluate("hash => location.hash = hash", section)
    page.wait_for_url(f"{folder.as_uri()}/{new}")


@pytest.mark.sweep
def test_a_part_of_a_reading_leads_to_its_lab_to_the_whole_and_to_the_next_part(page, served):
    page.goto(f"{served}/phases/10_quantization/reading.html")
    assert page.locator(".md-nav--secondary a[href='#parts']").inner_text().startswith("Parts")
    phases = page.locator(".md-path a", has_text="Phases")
    assert phases.evaluate("link => link.href").endswith("/index.html#sixteen-phases")
    page.locator(".parts").get_by_role("link", name="Part 10b: integers in a graph").click()
    page.wait_for_url("**/reading_10b.html")
    notes = page.locator("article .notes").first
    assert notes.get_by_role("link").evaluate_all("links => links.map((link) => link.getAttribute('href'))") == [
        "reading.html",
        "10b_graphs.html",
    ]
    page.locator("a.md-footer__link--next").click()
    page.wait_for_url("**/reading_10c.html")


@pytest.mark.sweep
def test_the_state_of_a_figure_stays_in_the_address_while_its_page_is_read(page, served):
    for state in "#contiguous-strides", "#strides=t,slice":
        page.goto("about:blank")
        page.goto(address := f"{served}/phases/01_strided/reading_01a.html{state}")
        page.locator(".moving.moves").wait_for()
        page.mouse.move(700, 500)
        for _ in range(8):
            page.mouse.wheel(0, 300)
            page.wait_for_timeout(400)  # the theme writes after a pause of 250
        if "=" not in state:
            page.wait_for_function("hash => location.hash !== hash", arg=state)
        else:
            assert page.url == address


FIGURES_AMISS = """() => [...document.querySelectorAll(".moving.moves")].flatMap((place) => {
    const right = Math.min(innerWidth, place.getBoundingClientRect().right) + 2, name = place.dataset.figure;
    const parts = [...place.querySelectorAll("svg :is(text, rect), .controls *, .said")].filter((each) => !each.closest(".gone"));
    const held = [...place.querySelectorAll("button, select, input")].map((each) => each.getBoundingClientRect());
    return [
        ...parts.filter((each) => each.getBoundingClientRect().right > right).map((each) => `${name}: ${each.textContent} is cut`),
        ...held.filter((box) => Math.min(box.height, box.width) < 40).map((box) => `${name}: ${box.width} x ${box.height}`),
    ];
})"""


PAGES_WITH_FIGURES = {"figures.html": 12, "figures/min_cut.html": 1, "index.html": 1}
LONG = {"phases/09_distributed/reading_09a.html": 1, "phases/09_distributed/reading_09e.html": 1}


@pytest.mark.sweep
@pytest.mark.parametrize(
    ("width", "pages"),
    [(390, PAGES_WITH_FIGURES), *(swept(width, PAGES_WITH_FIGURES | LONG) for width in (390, 1024, 1440))],
)
def test_figures_fit_their_page(page, served, width, pages):
    page.set_viewport_size({"width": width, "height": 900})
    for name, count in pages.items():
        page.goto(f"{served}/{name}")
        page.wait_for_function(f"document.querySelectorAll('.moving.moves').length === {count}")
        assert page.evaluate(FIGURES_AMISS) == [], name
        assert page.evaluate("document.documentElement.scrollWidth") <= width, name


@pytest.mark.sweep
def test_a_figure_says_its_point_without_a_script(browser, folder):
    with browser.new_context(java_script_enabled=False) as context:
        page = context.new_page()
        page.goto(f"{folder.as_uri()}/figures/strides.html")
        assert "its sizes, strides and offset" in page.locator(".moving svg[role=img]").get_attribute("aria-label")
        assert page.locator(".moving svg").get_by_text("contiguous").is_visible()


@pytest.mark.sweep
def test_figures_fit_a_phone_without_a_script(browser, folder, whole):
    with browser.new_context(java_script_enabled=False, viewport={"width": 390, "height": 844}) as context:
        page = context.new_page()
        long = "phases/09_distributed/reading.html", "phases/09_distributed/reading_09e.html"
        for name, count in ("figures.html", 12), *((name, 1) for name in long if whole):
            page.goto(f"{folder.as_uri()}/{name}")
            assert page.locator(".moving svg:visible").count() == 0
            for number in range(count):
                picture = page.locator(".moving img").nth(number)
                picture.scroll_into_view_if_needed()
                box, place = picture.bounding_box(), page.locator(".moving").nth(number).bounding_box()
                assert box["width"] == 358 and box["height"] > 300 and place["width"] == 358


def test_a_result_of_the_search_marks_the_words_of_the_question_that_say_what_it_is_about(page, served):
    page.goto(f"{served}/index.html")
    page.get_by_role("textbox", name="Search").fill("what is a stride ")
    marks = page.locator(".md-search-result mark")
    marks.first.wait_for()
    assert {text.lower() for text in marks.all_text_contents()} <= {"stride", "strides", "strided"}
    tree = page.context.new_cdp_session(page).send("Accessibility.getFullAXTree")["nodes"]
    links = [each for each in tree if each.get("role", {}).get("value") == "link" and not each["ignored"]]
    assert [each for each in links if not each["name"]["value"]] == []
    assert page.get_by_role("status").filter(has_text="The best ").is_visible()
    page.get_by_role("textbox", name="Search").fill("qqxzzv")
    page.locator(".md-search-result__mended a[href$='glossary.html']").wait_for()


def test_the_menu_of_languages_says_whether_it_is_open_and_escape_closes_it(page, served):
    page.goto(f"{served}/students.html")
    button, link = page.get_by_role("button", name="Select language"), page.locator(".md-select__link").first
    button.press("Enter")
    link.focus()
    assert button.get_attribute("aria-expanded") == "true"
    link.press("Escape")
    assert button.get_attribute("aria-expanded") == "false" and not link.is_visible()
    assert button.evaluate("button => button === document.activeElement")


def test_search_knows_no_code_no_output_and_no_answer_of_a_notebook(folder, whole):
    entries = json.loads((folder / "search/search_index.json").read_text("utf-8"))["docs"]
    text = sum(len(each["text"]) for each in entries if each["location"].startswith("phases/"))
    assert text > (500_000 if whole else 50_000)
    for path in sorted(ROOT.glob("phases/*/reading.ipynb")):
        if not whole and path.parent.name not in ("01_strided", "10_quantization"):
            continue
        own = [each["text"] for each in entries if each["location"].startswith(f"phases/{path.parent.name}/")]
        known = "\n".join(own)
        assert known and "<pre>" not in known
        for cell in nbformat.read(path, as_version=4).cells:
            for answer in re.findall(r"<summary>Answer</summary>\s*(?:<p>)?([^<`*$]{40})", cell.source):
                assert answer not in known


def test_search_has_every_function_of_the_api_by_its_name(folder):
    entries = json.loads((folder / "search/search_index.json").read_text("utf-8"))["docs"]
    assert (
        sum(
            each["location"].endswith("#contiguous_strides") and each["location"].startswith("api/") for each in entries
        )
        == 1
    )


def test_the_index_of_the_search_is_asked_for_when_the_page_is_there_or_a_reader_turns_to_the_search(browser, served):
    asked, page = [], browser.new_page()  # of a reader who does not save data
    page.on("request", lambda request: asked.append(request.url))
    page.goto(f"{served}/students.html", wait_until="load")
    assert any(each.endswith(".css") for each in asked) and not any("search_index" in each for each in asked)
    page.wait_for_event("response", lambda response: "search_index.json" in response.url)  # nobody has turned to it
    page.goto(f"{served}/students.html", wait_until="load")
    with page.expect_response("**/search/search_index.json"):
        page.get_by_role("textbox", name="Search").focus()
    page.locator(".md-search-result__meta", has_text="Type to start searching").wait_for()
    assert not page.locator(".md-search-result__article").count()
    page.context.close()


SHIFT = """new Promise(async (done) => {
    let shift = 0;
    const add = (list) => list.getEntries().forEach(({ value }) => (shift += value));
    new PerformanceObserver(add).observe({ type: "layout-shift", buffered: true });
    for (let y = 0; y < document.documentElement.scrollHeight; y += 500) {
        scrollTo(0, y);
        await new Promise((next) => setTimeout(next, 60));
    }
    done(shift);
})"""


@pytest.mark.parametrize(
    "name",
    [
        "figures/strides.html",
        swept("talk.html"),
        swept("phases/01_strided/01a_views.html"),
        swept("api/operators.html"),
        swept("index.html"),
    ],
)
def test_nothing_moves_while_a_page_arrives_on_a_phone_and_is_scrolled_through(browser, served, name):
    with browser.new_context(viewport={"width": 390, "height": 844}) as context:
        page = context.new_page()
        page.goto(f"{served}/{name}", wait_until="load")
        page.wait_for_timeout(300)  # what scripts do afterwards
        assert page.evaluate(SHIFT) < 0.1


@pytest.mark.parametrize("name", ["review.html", *map(swept, ("index.html", "placement.html", "paths.html"))])
def test_nothing_moves_while_a_page_arrives_on_a_screen_of_1024_pixels(browser, served, name):
    with browser.new_context(viewport={"width": 1024, "height": 900}) as context:
        page = context.new_page()
        page.goto(f"{served}/{name}", wait_until="load")
        page.wait_for_timeout(300)  # what scripts do afterwards
        assert page.evaluate(f"scrollTo = () => 0, {SHIFT}") < 0.01


def test_the_menu_of_a_phone_holds_the_focus_until_escape(page, served):
    page.set_viewport_size({"width": 390, "height": 844})
    page.goto(f"{served}/phases/01_strided/01a_views.html")
    menu, drawer = page.locator("label.md-header__button[for='__drawer']"), page.locator(".md-sidebar--primary")
    menu.focus()
    page.keyboard.press("Enter")
    for key in "Tab", "Shift+Tab", "Enter", "Tab":  # the first is a panel's title, which leads back
        focused = drawer.locator(":focus")
        assert focused.is_visible()
        page.keyboard.press(key)
    page.keyboard.press("Escape")
    assert menu.evaluate("(menu) => menu === document.activeElement") and not drawer.is_visible()


def test_the_key_e_leads_to_the_next_exercise_and_shift_to_the_one_before(page, served):
    page.goto(f"{served}/phases/01_strided/01a_views.html")
    page.locator("article .buttons > .main").first.wait_for()
    at = "document.activeElement.getAttribute('aria-label')"
    reached = []
    for key in "e", "e", "e", "Shift+E":
        page.keyboard.press(key)
        reached.append(page.evaluate(at))
    assert len({*reached}) == 3 and reached[3] == reached[1] and reached[0].startswith("Exercise: ")
    assert page.evaluate("document.activeElement.matches('pre > code')")
    copies = page.locator(".md-code__nav button").evaluate_all("all => all.map((each) => each.ariaLabel)")
    assert len({*copies}) == len(copies) > 9 and f"Copy to clipboard: {reached[1]}" in copies
    assert page.locator(".md-header .md-logo").aria_snapshot().startswith('- link "Rushlight":\n  - /url')
    page.locator(".md-skip").last.press("Enter")
    assert page.evaluate(at) == reached[0]
    field = page.get_by_role("textbox", name="Search")
    field.press("e")
    assert field.input_value() == "e"


def test_the_list_of_pages_begins_with_a_whole_line(page, served):
    amiss = """() => {
        const list = document.querySelector(".md-sidebar--primary .md-sidebar__scrollwrap");
        const links = [...list.querySelectorAll(".md-nav__link")].filter((link) => link.checkVisibility());
        const boxes = links.map((link) => link.getBoundingClientRect()), { bottom } = boxes[0];
        const shadow = 7; // of the title that stays
        return [list.scrollTop, boxes.slice(1).filter((box) => box.top < bottom + shadow && box.bottom > bottom + 2).length];
    }"""
    page.set_viewport_size({"width": 1440, "height": 800})
    for name in "review", "figures/attention":  # the second one is near the end of the list
        page.goto(f"{served}/{name}.html", wait_until="networkidle")
        scrolled, cut = page.evaluate(amiss)
        assert scrolled > 100 and cut == 0, name


COVERED = """() => {
    const focused = document.activeElement, { x, y, width, height } = focused.getClientRects()[0];
    if (!focused.closest("article")) return [];
    const above = document.elementFromPoint(x + width / 2, y + Math.min(height / 2, 12));
    return focused.contains(above) || above?.contains(focused) ? [] : [focused.outerHTML.slice(0, 80)];
}"""


@pytest.mark.parametrize("name", sweep(["placement", "talk", "review", "api/index"], every=4))
def test_a_focus_that_goes_back_is_not_behind_the_bars(page, served, name):
    page.goto(f"{served}/{name}.html", wait_until="networkidle")
    page.set_viewport_size({"width": 390, "height": 600})
    page.locator("article a:visible").last.focus()
    covered = []
    for _ in range(25):
        page.keyboard.press("Shift+Tab")
        covered += page.evaluate(COVERED)
    assert covered == []


@pytest.mark.parametrize("name", sweep(["map", "paths"], every=2))
def test_numbers_of_phases_side_by_side_are_24_pixels_apart(page, served, name):
    page.set_viewport_size({"width": 390, "height": 900})
    page.goto(f"{served}/{name}.html")
    boxes = page.locator("article td a.of-phase").evaluate_all("all => all.map(each => each.getBoundingClientRect())")
    places = [complex(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2) for box in boxes]
    assert len(places) > 5 and min(abs(one - other) for one, other in combinations(places, 2)) > 23.9


@pytest.mark.sweep
def test_single_keys_lead_nowhere_from_a_control_and_can_be_turned_off(page, served):
    reading = f"{served}/phases/01_strided/reading_01a.html"
    page.goto(f"{served}/students.html")
    switch = page.get_by_label("Single keys act")
    switch.press(" ")
    assert not switch.is_checked()
    page.goto(reading)
    page.keyboard.press("n")
    page.keyboard.press("/")
    assert page.evaluate("document.activeElement === document.body")
    page.goto(f"{served}/students.html")
    switch.check()
    page.goto(reading)
    page.locator("article summary").first.press("n")
    page.wait_for_timeout(300)
    assert page.url == reading
    page.evaluate("document.activeElement.blur()")
    page.keyboard.press("n")
    page.wait_for_url("**/01a_views.html")


@pytest.mark.parametrize(
    "name", ["phases/01_strided/reading_01a.html", "phases/01_strided/01a_views.html", "paths.html", "index.html"]
)
def test_no_two_folds_or_buttons_and_no_links_to_two_pages_have_one_name(page, served, name):
    page.goto(f"{served}/{name}", wait_until="networkidle")
    told = "all => all.filter(each => !each.closest('.moving')).map(each => each.ariaLabel || each.innerText.trim())"
    names = page.locator("article :is(button, summary):visible").evaluate_all(told)
    assert len(names) > 3 and {each for each in names if names.count(each) > 1} == set()
    links = page.locator("article a:visible").evaluate_all("all => all.map(each => [each.innerText, each.pathname])")
    pages = {tuple(link) for link in links}
    assert len({text for text, _ in pages}) == len(pages)
    tree = page.context.new_cdp_session(page).send("Accessibility.getFullAXTree")["nodes"]
    said = [(each.get("name", {}).get("value", ""), each.get("description", {}).get("value", "")) for each in tree]
    assert [(name, more) for name, more in said if more and more in name] == []  # nothing is read twice
    ways = {}
    for each in tree:  # each after what it is in
        own = each.get("role", {}).get("value"), each.get("name", {}).get("value")
        ways[each["nodeId"]] = *ways.get(each.get("parentId"), ()), own
    groups = [way for way in ways.values() if way[-1][0] == "group" and way[-1][1]]
    assert [way[-1] for way in groups if way[-1] in way[:-1]] == []
    assert not any(("navigation", "Navigation") in way and "main" in dict(way) for way in ways.values())


@pytest.mark.sweep
def test_a_page_of_the_api_shows_the_names_that_contain_what_is_typed(page, served):
    page.goto(f"{served}/api/aten/strided.html")
    names, field = page.locator("article :is(h2, h3):has(code):visible"), page.get_by_role("searchbox", name="Name")
    every = names.count()
    field.fill("contiguous")
    shown = {text.rstrip("¶") for text in names.all_inner_texts()}
    assert {"contiguous_strides", "is_contiguous"} <= shown and "element_offset" not in shown
    field.fill("is_pinned")  # in the entry of a class
    assert names.all_inner_texts() == ["Tensor¶"]
    field.fill("nothing_like_it")
    assert (
        names.count() == 0
        and "No name on this page contains “nothing_like_it”." in page.locator("form.names").inner_text()
    )
    field.fill("")
    assert names.count() == every
    field.fill("nothing_like_it")
    page.get_by_role("button", name="Search the whole site for “nothing_like_it”").click()
    assert page.locator(".md-search__input").input_value() == "nothing_like_it"


def test_the_overview_of_the_api_finds_the_names_of_all_pages_and_enter_leads_to_one(page, served):
    page.goto(f"{served}/api/index.html")
    field = page.get_by_role("searchbox", name="Name")
    field.fill("contiguous_strides")
    assert page.locator("form.names output").inner_text() == "1 name, 1 module"
    assert page.locator("dt:visible").all_inner_texts() == ["aten.strided"]
    field.fill("contigous_stride")
    assert page.locator("form.names output a").all_inner_texts() == ["contiguous_strides"]
    field.fill("torch.fft.fft")
    assert "rushlight leaves out torch.fft." in page.locator("form.names output").inner_text()
    assert page.locator("form.names output a").get_attribute("href") == "../left_out.html"
    field.fill("eigh")  # a part of `weight`
    assert "No name contains “eigh”. rushlight leaves out torch.linalg.eigh." in page.locator("form.names").inner_text()
    field.fill("memory formats")  # a title
    assert page.locator("dt:visible").all_inner_texts()[0] == "c10.memory_formats"
    field.fill("TensorIterator")
    assert page.locator("dt:visible").all_inner_texts()[0] == "aten.iterator"
    field.fill("strided.element_o")
    assert page.locator("dd.found a:visible").all_inner_texts() == ["element_offset"]
    field.press("Enter")
    page.wait_for_url("**/api/aten/strided.html#element_offset")
    page.go_back()
    assert field.input_value() == "strided.element_o" and page.locator("dt:visible").all_inner_texts() == [
        "aten.strided"
    ]


@pytest.mark.parametrize(
    ("typed", "module", "name"),
    [
        ("torch.add", "operators", "add.Tensor"),
        ("torch.Tensor", "aten.strided", "Tensor"),
        ("Tensor.view", "operators", "view"),
        ("x.view(-1, 2)", "operators", "view"),
        ("Tensor.add_", "operators", "add_.Tensor"),
        ("rl.contiguous_strides", "aten.strided", "contiguous_strides"),
        ("asstrided", "operators", "as_strided"),
        ("torch.ops.aten.add", "operators", "add.Tensor"),
        ("x.__add__", "operators", "Tensor.__add__"),
        ("add_", "operators", "add_.Tensor"),
        ("strided permute", "aten.strided", "permute"),
        ("permute strided", "aten.strided", "permute"),
        ("stride contiguous", "aten.strided", "contiguous_strides"),
        ("nn.functional.linear", "operators", "linear"),
        ("strides.h", "aten.strided", "contiguous_strides"),
    ],
)
def test_a_name_of_the_api_is_found_as_code_has_it_and_comes_first(page, served, typed, module, name):
    page.goto(f"{served}/api/index.html")
    page.get_by_role("searchbox", name="Name").fill(typed)
    assert page.locator("dt:visible").first.inner_text() == module
    assert page.locator("dd.found a:visible").first.inner_text() == name


def test_a_cell_of_the_storage_is_dragged_and_the_text_below_follows(page, served):
    page.goto(f"{served}/figures/strides.html")
    said = page.locator("[data-strides=sum]")
    assert said.inner_text() == "0 + 1·4 + 2·1 = 6"
    cell = page.locator(".moving svg g:has(> rect.one)").last
    cell.scroll_into_view_if_needed()
    box = cell.bounding_box()
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x + 3 * (box["width"] + 3), y, steps=8)
    page.mouse.up()
    assert said.inner_text() == "0 + 2·4 + 1·1 = 9"


# Elsewhere -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "name", sweep(["phases/01_strided/reading_01a.html", "index.html", "api/aten/strided.html"], every=3)
)
def test_a_page_below_a_path_asks_for_nothing_outside_it(page, below, name):
    asked = []
    page.on("request", lambda request: asked.append(request.url))
    page.goto(f"{below}{name}", wait_until="networkidle")
    assert asked and all(each.startswith((below, "data:", "blob:")) for each in asked), asked


@pytest.mark.sweep
@pytest.mark.parametrize("width", sweep([390, 1440], every=2))
def test_a_page_that_is_not_there_has_ways_on_and_a_search_that_work(page, below, problems, width):
    asked = []
    page.on("request", lambda request: asked.append(request.url))
    page.set_viewport_size({"width": width, "height": 900})
    page.goto(f"{below}a/b/nothing", wait_until="networkidle")
    assert problems.pop(0) == f"404: {below}a/b/nothing"
    assert "404" in problems.pop(0)  # what the console says of it
    assert page.title().startswith("Page not found")
    assert (
        page.locator(".md-header").evaluate("header => getComputedStyle(header).position") == "sticky"
    )  # by its style
    page.get_by_role("button", name="Search").click()
    page.get_by_role("textbox", name="Search").press_sequentially("broadcasting stride")
    page.locator(".md-search-result__link[href*='phases/01_strided/']").first.wait_for()
    page.keyboard.press("Escape")
    for link in page.locator("article a").all():
        assert page.request.get(link.evaluate("link => link.href")).ok
    page.locator("article").get_by_role("link", name="For students").click()
    page.wait_for_url(f"{below}students.html")
    assert all(each.startswith((below, "data:", "blob:")) for each in asked), asked


def tags(text):
    """Return the metadata in a page's head, by name or property."""
    found = re.findall(r'<meta (?:name|property)="([^"]+)" content="([^"]*)">', text)
    return {name: unescape(content) for name, content in found}


def test_every_page_has_a_description_of_its_own_and_a_card(folder, site_url):
    said = {}
    for path in sorted(folder.rglob("*.html")):
        name = path.relative_to(folder).as_posix()
        if (
            name == "404.html" or (folder / name.partition("/")[2]).is_file()
        ):  # in another language, perhaps not translated
            continue
        head = tags(path.read_text("utf-8").partition("<body")[0])
        assert 20 < len(head["description"]) <= 200 and head["og:description"] == head["description"], name
        assert head["og:title"] and head["twitter:card"] == "summary_large_image", name
        assert head["og:url"] == f"{site_url}{name}"
        card = folder / head["og:image"].removeprefix(site_url)
        with Image.open(card) as image:
            assert image.size == (1200, 630) == (int(head["og:image:width"]), int(head["og:image:height"])), name
        assert card.stat().st_size < 60_000
        said.setdefault(head["description"], []).append(name)
    assert [names for names in said.values() if len(names) > 1] == []


# Pictures, code, paper -----------------------------------------------------------------------------------------------


@pytest.mark.sweep
@pytest.mark.parametrize("name", ["10_quantization/reading_10b", swept("12_minigpt/reading_12b")])
def test_pictures_load_when_the_reader_comes_near_and_nothing_jumps(page, served, name):
    asked = []
    page.on("request", lambda request: asked.append(request.url))
    page.goto(f"{served}/phases/{name}.html", wait_until="networkidle")
    pictures = page.locator("article img")
    early = {each for each in asked if "_files/" in each}
    assert len(early) < pictures.count() / 2
    assert pictures.first.get_attribute("loading") is None
    before = page.evaluate("document.documentElement.scrollHeight")
    for picture in pictures.all():
        assert picture.get_attribute("width") and picture.get_attribute("height")
        picture.scroll_into_view_if_needed()
        picture.evaluate("picture => picture.decode()")
        shown, drawn = picture.evaluate("p => [p.clientWidth / p.clientHeight, p.naturalWidth / p.naturalHeight]")
        assert abs(shown / drawn - 1) < 0.02
    assert abs(page.evaluate("document.documentElement.scrollHeight") - before) < 5  # parts of pixels


@pytest.mark.parametrize(
    ("name", "shown", "copied"),
    [
        ("releasing.html", "$ rushlight release 00 01 02", "rushlight release 00 01 02 --out ../class-repository"),
        swept("students.html", "$ make lab", "make lab"),
        swept("api/aten/strided.html", ">>> contiguous_strides", "contiguous_strides((2, 3, 4))"),
        swept(
            "phases/01_strided/01a_views.html", "    >>> element_offset", "@exercise(rl.strided)\ndef element_offset("
        ),
    ],
)
def test_copy_leaves_out_prompts_and_what_was_printed(page, served, name, shown, copied):
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.goto(f"{served}/{name}")
    block = page.locator("div.highlight", has_text=shown).first
    assert shown in block.inner_text()
    block.hover()
    block.locator(".md-code__button, .md-clipboard").first.click()
    page.get_by_text("Copied to clipboard").first.wait_for()
    given = page.evaluate("navigator.clipboard.readText()")
    if "def " in copied:  # an exercise is no session: all of it is copied, its docstring too
        assert copied in given and shown in given
    else:
        assert given == copied


PAPER = """() => {
    const shown = each => each.checkVisibility({ opacityProperty: true, visibilityProperty: true });
    const ruler = document.createElement("div"); // as wide as 96 letters, the longest line of a docstring
    ruler.innerHTML = "<span style='display: inline-block; width: 96ch'></span>";
    const narrow = each => {
        each.append(ruler);
        const wide = ruler.firstChild.offsetWidth > ruler.offsetWidth;
        ruler.remove();
        return wide;
    };
    const clipped = each => getComputedStyle(each).overflowY !== "visible" && each.scrollHeight > each.clientHeight + 2;
    const inside = document.querySelectorAll("article pre, article code, article .output, article .figure, article table");
    return {
        around: [...document.querySelectorAll("header, nav, footer, .md-code__nav, .controls, .buttons, .tab-bar")]
            .filter(shown).length,
        closed: [...document.querySelectorAll("article details:is(.asked, .answer) > :not(summary, .buttons)")]
            .filter(each => !shown(each)).length,
        folded: [...document.querySelectorAll("article details:not(.asked, .answer, .here)")].filter(shown).length,
        parted: [...document.querySelectorAll("article :is(.output, .figure)")]
            .filter(each => getComputedStyle(each).breakInside !== "avoid").length,
        fewLines: [...document.querySelectorAll("article .highlight pre > code")].map(each => getComputedStyle(each))
            .filter(({ orphans, widows }) => Math.min(orphans, widows) < 3).length,
        lost: [...document.querySelectorAll("article .moving[data-figure] + .caption")]
            .filter(each => !getComputedStyle(each, "::after").content.includes("figures/")).length,
        alone: [...document.querySelectorAll("article .highlight + .output")]
            .filter(each => getComputedStyle(each).breakBefore !== "avoid").length,
        screen: [...document.querySelectorAll("article > :is(p, .admonition)")].filter(shown)
            .filter(each => /^(Do it here|Open this lab)/.test(each.innerText)).length,
        narrow: [...document.querySelectorAll("article [data-cell] > pre > code")].filter(shown).filter(narrow).length,
        exercises: [...document.querySelectorAll("article .here")].filter(shown).length, // the lab's print has them
        clipped: [...inside].filter(clipped).map(each => each.outerHTML.slice(0, 80)),
        wide: document.documentElement.scrollWidth > innerWidth,
        dark: getComputedStyle(document.querySelector("article .caption")).color,
    };
}"""


@pytest.mark.sweep
@pytest.mark.parametrize(
    "name", sweep(["phases/01_strided/reading_01a.html", "phases/00_trace/00_trace.html"], every=2)
)
def test_a_print_has_the_text_with_all_outputs_and_answers_and_other_folds_stay_closed(page, served, shots, name):
    page.emulate_media(color_scheme="dark")
    page.set_viewport_size({"width": 680, "height": 1000})  # a page of A4 within its margins
    page.goto(f"{served}/{name}", wait_until="networkidle")
    page.emulate_media(media="print", color_scheme="dark")
    page.evaluate("dispatchEvent(new Event('beforeprint'))")  # as a browser does
    said = page.evaluate(PAPER)
    brightness = sum(map(float, re.findall(r"[\d.]+", said.pop("dark"))[:3])) / 3
    assert not any(said.values()) and brightness < 120, said
    page.pdf(path=shots / f"{Path(name).parent.name}.pdf", format="A4")


def test_a_print_has_the_light_drawings_where_a_reader_chose_dark(page, served):
    page.emulate_media(color_scheme="light")
    page.goto(f"{served}/index.html")
    chosen = "document.body.dataset.mdColorScheme"
    while page.evaluate(chosen) != "slate":
        page.locator(".md-header [data-md-component=palette] label:visible").click()
    scheme = "getComputedStyle(document.querySelector('.phases img')).colorScheme"
    assert page.evaluate(scheme) == "dark"
    page.emulate_media(media="print", color_scheme="light")
    assert page.evaluate(scheme) == "light"


@pytest.mark.sweep
@pytest.mark.parametrize(("name", "least"), [("10_quantization/reading_10b", 1), swept("05_training/reading_05b", 11)])
def test_formulas_show_without_a_script(browser, folder, name, least):
    with browser.new_context(java_script_enabled=False) as context:
        page = context.new_page()
        page.goto(f"{folder.as_uri()}/phases/{name}.html")
        formulas = page.locator("math").all()
        assert len(formulas) >= least
        assert all(each.bounding_box()["width"] for each in formulas)


@pytest.mark.sweep
def test_a_reading_folds_what_only_prepares_or_draws_and_the_answers(page, served):
    page.goto(f"{served}/phases/10_quantization/reading_10b.html")
    folded = page.locator("details.folded").filter(has_text="Figure 6:")
    assert page.locator(".figure img").first.is_visible() and not folded.locator("pre").is_visible()
    folded.locator("summary").click()
    assert "rl.draw.show(" in folded.locator("pre").inner_text()
    answer = page.locator("details", has=page.locator("summary", has_text=re.compile("^Answer$")))
    answer = answer.filter(has=page.locator("p code")).first
    assert not answer.locator("p").is_visible()
    answer.locator("summary").click()
    assert answer.locator("p code").first.is_visible()


@pytest.mark.sweep
@pytest.mark.parametrize(
    ("width", "scheme"), sweep([(390, "light"), (390, "dark"), (1440, "light"), (1440, "dark")], every=4)
)
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


@pytest.mark.sweep
def test_the_menu_opens_by_keyboard_on_a_phone(page, served):
    page.set_viewport_size({"width": 390, "height": 900})
    page.goto(f"{served}/index.html")
    page.get_by_role("button", name="Menu").press("Enter")
    pages = page.get_by_role("navigation", name="Navigation")
    pages.get_by_role("link", name="Course", exact=True).press("Enter")  # leads to the first page of them
    page.wait_for_url("**/students.html")


def test_a_lab_says_how_to_open_it_and_can_be_downloaded(page, served):
    page.goto(f"{served}/phases/01_strided/01a_views.html")
    box = page.locator(".admonition", has_text="Open this lab")
    assert "rushlight lab 01a" in box.inner_text()
    with page.expect_download() as download:
        box.get_by_role("link", name="01a_views.ipynb").click()
    assert Path(download.value.path()).read_bytes() == (ROOT / "labs/01a_views/01a_views.ipynb").read_bytes()


@pytest.mark.parametrize("lab", sweep(sorted(path.stem for path in ROOT.glob("labs/*/*.ipynb")), keep=["01a_views"]))
def test_every_exercise_has_an_entry_in_the_api_that_leads_to_its_lab(folder, lab):
    for cell in nbformat.read(ROOT / "labs" / lab / f"{lab}.ipynb", as_version=4).cells:
        if exercise := cell.metadata.get("rushlight", {}).get("exercise"):
            function = function_of(exercise)
            module = function.__module__.removeprefix("rushlight.").replace(".", "/")
            page = (folder / "api" / f"{module}.html").read_text(encoding="utf-8")
            _, _, entry = page.partition(f'id="{function.__name__}"')
            assert f"/{lab}.html" in entry.partition("<h3")[0], exercise


@pytest.mark.sweep
def test_predictions_are_compared_and_counted_and_stay(page, below):
    page.goto(f"{below}placement.html")
    page.evaluate("localStorage.clear()")
    page.reload()
    printed = page.locator("article details pre").all_text_contents()
    forms = page.locator("form.predict")
    for text, said in (
        ("an error", "✗ Not yet: torch prints 2 lines, and you have 1."),
        ("gradient", "✗ Not yet: torch prints 2 lines, and you have 1."),
        ("an error\n", "✗ Not yet: torch prints 2 lines, and you have 1."),
        ("error\ngradient", "✓ That is what torch prints."),
    ):
        forms.nth(4).locator("textarea").fill(text)
        forms.nth(4).get_by_role("button").click()
        assert forms.nth(4).locator("output").inner_text() == said
    assert page.evaluate("document.activeElement.ariaLabel") == "Answer: 5 · What a node saves"  # its button went
    assert page.locator("[data-score]").inner_text() == "Open predictions: 1, 2, 3, 4, 6, 7, 8, 9, 10"
    assert page.locator("[data-so-far]").get_by_role("link", name="Next: 1").get_attribute("href") == "#1-strides"
    page.evaluate("localStorage.clear()")
    page.reload()
    for number, form in enumerate(page.locator("form.predict").all()):
        wrong = "an error\n" * len(printed[number].splitlines())  # fewer lines are no answer yet
        for text in [wrong] * 2 if number in (3, 7) else [printed[number].replace(".0", "").replace(", ", " ,")]:
            form.locator("textarea").fill(text)
            form.get_by_role("button").click()
            if number == 3 and form.get_by_role("button").is_visible():
                assert form.locator("output").inner_text().endswith("Try once more, or open the answer.")
                assert not page.locator("article details").nth(3).get_by_text("torch.int16").is_visible()
    assert page.locator("form.predict output").nth(3).inner_text() == "✗ torch prints something else."
    page.reload()
    score = page.locator("[data-score]")
    assert (
        score.locator("p").first.inner_text()
        == "8 of 10 predictions about PyTorch right. Wrong: 4 (phase 01), 8 (phase 07)"
    )
    assert "/phases/01_strided/reading" in score.get_by_text("Begin with phase 01").get_attribute("href")
    page.evaluate(
        "given => localStorage.setItem('rushlight/placement', JSON.stringify(given))", [[text] for text in printed]
    )
    page.reload()
    assert score.locator("p").nth(1).inner_text() == "Phases 08, 09, 11 and 12 have the most for you."
    best = [link.get_attribute("href") for link in score.locator("p").nth(1).get_by_role("link").all()]
    assert [re.search(r"phases/(\d\d)_\w+/reading", each)[1] for each in best] == ["08", "09", "11", "12"]
    page.get_by_role("button", name="Start again").press("Enter")
    assert page.evaluate("document.activeElement.ariaLabel") == "It prints: 1 · Strides"
