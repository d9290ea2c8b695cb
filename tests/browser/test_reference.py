"""The pages of the API: the source below an entry, and the filter of the operators."""

from functools import cache

import pytest

from rushlight.torchgen.gen import load

operators = cache(load)


def shown(page):
    """The operators that the page shows."""
    schemas = page.locator("dt > code[data-is]").filter(visible=True).all_inner_texts()
    return {schema.partition("(")[0] for schema in schemas}


@pytest.mark.sweep
def test_an_entry_has_its_source_folded_and_an_exercise_has_none(page, folder):
    path = folder / "api" / "aten" / "strided.html"
    entries = {each.partition('"')[0]: each for each in path.read_text("utf-8").split('<h2 id="')}
    assert "<summary>Source</summary>" in entries["wrap_dim"]
    assert "An exercise of" in entries["permute"]
    assert "<summary>Source</summary>" not in entries["permute"]
    page.goto(path.as_uri())
    folded = page.locator("h2#wrap_dim ~ details").first
    assert not folded.locator("pre").is_visible()
    folded.locator("summary").press("Enter")
    assert folded.locator("pre").inner_text().startswith("def wrap_dim(")
    assert '"""' not in folded.locator("pre").inner_text()
    assert [each for each in folder.rglob("*.html") if "data-source=" in each.read_text("utf-8")] == []


@pytest.mark.sweep
def test_operators_are_filtered_by_name_form_kernel_and_derivative(page, served):
    page.goto(f"{served}/api/operators.html")
    form = page.get_by_role("search", name="Operators")
    count = form.locator("output[aria-live=polite]")
    assert count.inner_text() == f"{len(operators())} of {len(operators())} operators"
    form.get_by_label("Name").fill("aten::add.Tensor(Tensor self,")
    assert shown(page) == {name for name in operators() if "add.tensor" in name.lower()}
    form.get_by_label("Name").fill("add")
    named = {name for name in operators() if "add" in name.lower()}
    assert shown(page) == named
    assert count.inner_text() == f"{len(named)} of {len(operators())} operators"
    form.get_by_label("Form").select_option("in place")
    assert shown(page) == {name for name in named if operators()[name].schema.name.endswith("_")}
    form.get_by_label("Kernel").select_option("structured")
    structured = {name for name in shown(page) if operators()[name].structured_delegate}
    assert {"add_.Tensor"} <= shown(page) == structured < named
    form.get_by_label("Name").fill("retain_graph")
    form.get_by_role("button", name="Search the whole site for “retain_graph”").click()
    assert page.get_by_role("textbox", name="Search").input_value() == "retain_graph"
    page.keyboard.press("Escape")
    form.get_by_role("button", name="Show all").click()
    form.get_by_label("Derivative").select_option("from the operators it calls")
    assert shown(page) == {name for name, each in operators().items() if each.is_composite}
    empty = page.locator("article h2").filter(visible=True).all()
    assert all(heading.evaluate("each => each.nextElementSibling.matches('dl:not([hidden])')") for heading in empty)


@pytest.mark.sweep
def test_the_address_keeps_the_filter_and_an_operators_own_address_shows_it(page, served):
    page.goto(f"{served}/api/operators.html")
    page.keyboard.press("Tab")
    page.get_by_label("Name").focus()
    page.keyboard.type("view")
    page.get_by_label("Form").focus()
    page.keyboard.type("view")  # chooses by keyboard
    assert page.url.endswith("#name=view&form=view")
    before = shown(page)
    assert {"view", "view.dtype"} & before
    page.goto("about:blank")
    page.goto(f"{served}/api/operators.html#name=view&form=view")
    assert shown(page) == before
    page.get_by_label("Name").press("Escape")
    assert len(shown(page)) > len(before)
    page.goto(f"{served}/api/operators.html#op_add-Tensor")
    assert len(shown(page)) == len(operators())
    page.wait_for_function("scrollY > 0")
    assert page.locator("[id='op_add-Tensor']").is_visible()


@pytest.mark.sweep
@pytest.mark.parametrize("address", ["api/operators.html", "api/operators.html#name=add"])
def test_without_scripts_the_page_has_all_operators(browser, served, address):
    with browser.new_context(java_script_enabled=False) as context:
        page = context.new_page()
        page.goto(f"{served}/{address}")
        assert len(shown(page)) == len(operators())
        assert page.locator(".filter").count() == 0
