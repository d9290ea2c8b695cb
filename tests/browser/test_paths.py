"""A path that a reader chooses is in the list of pages, until the reader takes it away."""

import pytest
from sweep import sweep

from autograder.translation import languages


@pytest.mark.sweep
@pytest.mark.parametrize("width", sweep([1440, 390], keep=[390]))
def test_a_chosen_path_is_in_the_list_of_pages_until_it_is_taken_away(page, folder, problems, width):
    page.goto(f"{folder.as_uri()}/paths.html")
    page.evaluate("localStorage.removeItem('rushlight/path')")
    page.set_viewport_size({"width": width, "height": 900})
    page.reload()
    choose = page.get_by_role("button", name="Show this path in the list of pages").first
    choose.focus()
    page.keyboard.press("Enter")
    assert page.get_by_role("button", name="Show all pages in the list of pages").count() == 1
    page.keyboard.press("Enter")
    assert page.evaluate("localStorage.getItem('rushlight/path')") is None
    page.evaluate("localStorage['rushlight/01a_views'] = JSON.stringify({points: 3, of: 32})")
    page.evaluate("localStorage['rushlight/01a_views time'] = 5")
    assert page.get_by_role("link", name="Start with").count() == 4
    page.reload()
    page.get_by_role("link", name="Go on with Lab 01a").first.click()
    page.wait_for_url("**/phases/01_strided/01a_views.html")
    listed = page.locator(".on-path a")
    assert listed.first.text_content() == "The compiler" and listed.count() == 13
    assert page.locator(".on-path [aria-current=page]").text_content().startswith("Lab 01a · ")
    first = listed.nth(1)
    assert first.text_content() == "Part 01a · Views" and first.get_attribute("href").endswith("/reading_01a.html")
    assert page.evaluate("document.querySelector('.md-sidebar--primary .md-sidebar__scrollwrap').scrollTop") == 0
    if width > 1000:  # the lab is there once, and its sections follow
        names = page.locator(".md-nav--primary a:visible", has_text="Views: sizes")
        assert names.count() == 1 and page.locator(".md-nav--secondary a:visible").first.is_visible()
        assert page.locator(".on-path a:visible").count() == 4
        page.get_by_role("button", name="The whole path").click()
        assert page.locator(".on-path a:visible").count() == 13
    if width < 1000:
        page.locator("header label[for=__drawer]").click()
    assert page.locator(".on-path .kept").inner_text() == "3/32"
    assert not page.locator(".md-nav--primary .md-nav__link[href$='10_quantization/reading.html']").first.is_visible()
    reading = first.evaluate("link => link.href")
    page.goto(reading)
    sections = page.locator(".md-nav--secondary a")
    back, on = page.locator(".md-footer__link--prev"), page.locator(".md-footer__link--next .md-ellipsis")
    assert back.get_attribute("aria-label") == "Previous: The compiler"
    assert back.get_attribute("href").endswith("paths.html#compiler")
    assert listed.nth(2).text_content().startswith(on.text_content())
    marks = sections.get_by_role("img", name="on the path", include_hidden=True)
    assert 3 < marks.count() <= sections.count()
    if width > 1000:  # the section whose heading is at the top is the one that is highlighted
        sections.nth(2).click()
        page.wait_for_function(
            "document.querySelector('.md-nav--secondary .md-nav__link--active')?.hash === location.hash"
        )
    page.goto(f"{folder.as_uri()}/index.html")
    page.get_by_text("Your path:").get_by_role("link", name="The compiler").click()
    page.wait_for_url("**/paths.html#compiler")
    page.goto(reading)
    page.locator("p.of-path").last.get_by_role("link", name="Lab 01a").click()
    page.wait_for_url("**/01a_views.html")
    page.go_back()
    if width < 1000:
        page.locator("header label[for=__drawer]").click()
    page.get_by_role("button", name="Show all pages", exact=True).click()
    assert page.locator(".on-path, .of-path").count() == 0
    assert page.evaluate("localStorage.getItem('rushlight/path')") is None
    page.evaluate("localStorage.setItem('rushlight/01a_views', JSON.stringify({points: 32, of: 32}))")
    page.goto(f"{folder.as_uri()}/paths.html")
    assert page.get_by_role("link", name="Go on with").first.is_visible()
    page.evaluate("localStorage.removeItem('rushlight/01a_views')")
    page.locator("button[data-choose$='#distributed']").click()
    assert listed.get_by_text("Part 09d · ").text_content().endswith(": Meshes and placements")  # the one that it needs
    page.locator("button[data-choose$='#distributed']").click()


START_ENDS = """Array.from(document.querySelectorAll(".path[data-path]"), (path) => {
    const place = (element) => element.getBoundingClientRect();
    return place(path.querySelector(".md-button")).bottom - place(document.getElementById(path.dataset.path)).top;
})"""


def test_on_a_phone_the_labs_of_a_path_are_folded_and_on_a_desk_they_are_not(page, folder, problems):
    page.goto(f"{folder.as_uri()}/paths.html")
    tables, folds = page.locator(".path table:visible"), page.get_by_role("button", name="Labs and readings")
    assert tables.count() == 4 and folds.count() == 0
    page.set_viewport_size({"width": 390, "height": 844})
    assert tables.count() == 0 and folds.first.get_attribute("aria-expanded") == "false"
    ends = page.evaluate(START_ENDS)
    assert len(ends) == 4 and max(ends) < 844  # in the first screen of its section
    folds.first.press("Enter")
    assert tables.count() == 1 and folds.first.get_attribute("aria-expanded") == "true"


@pytest.mark.parametrize(
    "kept",
    sweep(
        ["{", "[]", '{"labs": 3}', '{"labs": ["x"]}', '{"title": "<b>", "page": "javascript:1", "labs": []}'], every=5
    ),
)
def test_what_is_no_path_in_the_storage_changes_nothing(page, folder, problems, kept):
    page.goto(f"{folder.as_uri()}/students.html")
    page.evaluate("text => localStorage.setItem('rushlight/path', text)", kept)
    page.reload()
    assert page.locator(".on-path a").count() == 0 and page.locator(".on-path b").count() == 0
    page.evaluate("localStorage.removeItem('rushlight/path')")


KEEP = """([finished, read]) => {
    localStorage.clear();
    const path = document.querySelector("[data-path=compiler]"), nameOf = ({ pathname }) => pathname.match(/(\\w+)\\.html$/)[1];
    const links = [...path.querySelectorAll("td:first-child a")];
    const done = { points: 30, of: 30, finished: true };
    for (const place of finished) localStorage.setItem(`rushlight/${nameOf(links.at(place))}`, JSON.stringify(done));
    const sections = [...links[0].closest("tr").querySelectorAll("td:nth-child(2) a")];
    for (const { pathname, hash } of sections.slice(0, read)) {
        const key = `rushlight/read ${pathname.match(/(\\w+\\/\\w+)\\.html$/)[1]}`;
        const { sections = [] } = JSON.parse(localStorage[key] ?? "{}");
        localStorage[key] = JSON.stringify({ sections: [...sections, hash.slice(1)] });
    }
    return [links.length, sections.length];
}"""


def test_a_path_goes_on_with_what_is_not_done_in_its_order_and_at_its_end_leads_to_the_nearest_other_path(
    page, folder, problems
):
    page.goto(f"{folder.as_uri()}/paths.html")
    start = page.locator("[data-path=compiler] .md-button").first

    def said(finished, read):
        counts = page.evaluate(KEEP, [finished, read])
        page.reload()
        return start.inner_text(), counts

    first, (labs, sections) = said([], 0)
    assert first == "Start with Part 01a" and sections > 1
    assert start.get_attribute("href").endswith("/reading_01a.html")  # its top
    page.evaluate("localStorage['rushlight/01a_views'] = JSON.stringify({ points: 1, of: 32 })")  # from the reading
    page.reload()
    assert start.inner_text() == "Go on with Part 01a"
    assert said([], 1)[0] == "Go on with Part 01a" and "/reading_01a.html#" in start.get_attribute("href")
    assert said([], sections)[0] == "Go on with Lab 01a"
    assert page.locator("[data-path=compiler] td:nth-child(2) .kept").count() == sections  # as read
    assert said([-1], 0)[0] == "Go on with Part 01a"
    assert said([0], 0)[0] == "Go on with Part 07a"
    assert "1 of 6 labs finished, about " in page.locator("[data-path=compiler] .buttons").inner_text()
    stays = "addEventListener('click', (event) => event.preventDefault(), { once: true })"  # its reading is not in this site
    page.evaluate(stays)
    start.click()
    page.goto(f"{folder.as_uri()}/index.html")  # whose first button goes on, too
    go_on = page.get_by_role("link", name="Go on with Part 07a")
    assert go_on.get_attribute("href").partition("#")[0].endswith("phases/07_capture/reading_07a.html")
    page.goto(f"{folder.as_uri()}/paths.html")
    assert not page.locator(".path .end").count()
    assert said([*range(labs)], 0)[0] == "Next path: Distributed training, about 11 hours left"
    end = page.locator("[data-path=compiler] .end")
    assert f"{30 * labs} of {30 * labs} points" in end.inner_text() and "--record compiler.html" in end.inner_text()
    assert "01a" in end.get_by_role("img").get_attribute("aria-label")
    assert page.get_by_text("You have built this: a function of Python").is_visible()
    start.click()
    assert page.url.endswith("paths.html#distributed")
    page.evaluate("localStorage['rushlight/04a_history'] = localStorage['rushlight/01a_views']")
    page.reload()
    part = page.locator("[data-path=distributed]")  # its other labs do not run in a browser
    assert "Distributed training: 2 of 6 labs finished here" in part.locator(".end").inner_text()
    assert "rushlight status --path distributed" in part.locator(".end").inner_text()
    assert part.get_by_role("link", name="Go on with Part 09a").is_visible()
    page.evaluate("localStorage.clear()")


def test_a_lab_that_does_not_run_in_a_browser_is_over_when_what_follows_it_has_begun(page, folder, problems):
    page.goto(f"{folder.as_uri()}/paths.html")
    page.evaluate("localStorage.clear()")
    page.reload()
    go_on = page.locator("[data-path=kernels] .md-button").first
    assert go_on.inner_text() == "Start with Reading 00"
    page.evaluate("localStorage['rushlight/03a_loops'] = JSON.stringify({ points: 2, of: 35 })")
    page.evaluate("localStorage['rushlight/03a_loops time'] = 5")
    page.reload()
    assert go_on.inner_text() == "Go on with Lab 03a"
    page.evaluate("localStorage.clear()")


def test_a_path_in_another_language_is_kept_with_the_addresses_of_its_pages(page, folder, problems):
    page.goto(f"{folder.as_uri()}/{languages()[0]}/paths.html")
    page.locator("button[data-choose]").first.click()
    kept = page.evaluate("JSON.parse(localStorage['rushlight/path'])")
    assert kept["page"] == "paths.html#compiler" and kept["labs"][0][1].startswith("phases/01_strided/reading")
    page.evaluate("localStorage.clear()")
