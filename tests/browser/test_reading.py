"""How a page reads: its formulas, its words, and that nothing of it is cut off."""

import pytest

CUT = """() => {
    const found = [];
    const scrolls = (element) => /auto|scroll/.test(getComputedStyle(element).overflowX);
    for (const details of document.querySelectorAll("article details")) details.open = true;
    for (const block of document.querySelectorAll("article :is(pre, code, table, math, img, svg, .output, .formula)")) {
        if (!block.checkVisibility() || block.parentElement.closest("svg")) continue;
        const name = `${block.localName}.${block.className.baseVal ?? block.className} ${block.textContent.trim().slice(0, 60)}`;
        if (block.matches(".formula") && block.scrollHeight > block.clientHeight) found.push(`${name}: too low`);
        const right = block.getBoundingClientRect().right;
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


@pytest.mark.parametrize("width", [390, 1280])
def test_no_formula_code_table_or_picture_of_a_reading_is_cut_off(page, folder, width):
    page.set_viewport_size({"width": width, "height": 900})
    for path in sorted(folder.glob("phases/*/reading.html")):
        page.goto(path.as_uri())
        page.evaluate("document.fonts.ready.then(() => null)")
        assert page.evaluate(CUT) == [], path


def test_every_character_of_a_formula_comes_from_the_font_that_the_site_has(page, folder):
    """A character that is missing there has to be added to `docs/fonts/build.py`."""
    devtools = page.context.new_cdp_session(page)
    formulas = 0
    for path in sorted(folder.rglob("*.html")):
        if "<math" not in path.read_text("utf-8"):
            continue
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
