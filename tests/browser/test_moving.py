"""The moving figures in a browser: their pictures, their controls, and what they say."""

import json
import random
import re
from pathlib import Path

import pytest
from sweep import sweep

from docs.programs.figures import build

ROOT = Path(__file__).parents[2]

PLACE_OF_FOCUS = (
    "[...document.querySelectorAll('.controls :is(button, select, input)')].indexOf(document.activeElement)"
)
# Of one of the buttons, by a number from 0 to 1. Returns how many menus and sliders there are then.
CLICK = """part => {
    const buttons = document.querySelectorAll(".moving :is(button:not([aria-disabled]), [role=button])");
    const event = new MouseEvent("click", { bubbles: true, cancelable: true, composed: true });
    buttons[Math.floor(part * buttons.length)].dispatchEvent(event);
    return ["select", "input[type=range]"].map(kind => document.querySelectorAll(`.moving ${kind}`).length);
}"""
SHOWN = "[document.querySelector('.moving svg').innerHTML, document.querySelector('.said').innerText]"


@pytest.fixture
def page(shared_page):
    """The page of all figures, emptied."""
    page, problems = shared_page
    page.goto("about:blank")  # with it go the scripts of the figure before
    page.emulate_media(reduced_motion="null")
    page.set_viewport_size({"width": 1440, "height": 900})
    problems.clear()
    yield page
    assert problems == []


@pytest.fixture
def opened(page):
    """Opens a figure by itself; returns what it says."""

    def opened(name: str):
        page.set_content(build.empty(name, build.module(name).SIZE))
        return page.locator(".said")

    return opened


def press(page, *names):
    for name in names:
        page.get_by_role("button", name=name, exact=True).click()


@pytest.mark.parametrize("name", sweep(build.names(), every=4))
def test_the_picture_of_a_figure_is_what_it_draws_first(page, name):
    given = build.module(name)
    (picture,) = ROOT.glob(f"phases/{given.PHASE}_*/{name}.svg")
    assert picture.read_text(encoding="utf-8") == build.picture(page, name, given.SIZE)


@pytest.mark.sweep
@pytest.mark.parametrize("name", sweep(build.names(), keep=["strides"]))
def test_a_figure_stays_whole_whatever_is_pressed(page, opened, name):
    opened(name)
    draw = random.Random(0)
    for _ in range(60):
        found = page.evaluate(CLICK, draw.random())
        for kind, count in zip(("select", "input[type=range]"), found):
            for position in range(min(count, 2)):
                page.locator(f".moving {kind}").nth(position).press(
                    draw.choice(["ArrowRight", "ArrowLeft", "ArrowDown"])
                )
        drawn, said = page.evaluate(SHOWN)
        assert said.strip()
        assert not any(word in drawn + said for word in ("NaN", "undefined", "[object"))


@pytest.mark.parametrize("name", sweep(build.names(), keep=build.names()[1:2]))
def test_a_figure_is_worked_by_keyboard_alone(page, opened, name):
    said = opened(name)
    controls = page.locator(".moving .controls :is(button:not([aria-disabled]), select, input)")
    reached, before = set(), page.locator(".moving").inner_html()
    for _ in range(controls.count() + 60):
        page.keyboard.press("Tab")
        reached.add(page.evaluate(PLACE_OF_FOCUS))
    reached.discard(-1)
    assert len(reached) >= controls.count()
    page.locator(".moving .controls button:not([aria-disabled])").first.focus()
    page.keyboard.press("Enter")
    assert page.locator(".moving").inner_html() != before and said.inner_text()


# Layouts, addresses and access ---------------------------------------------------------------------------------------

# What is cut, what text is smaller than 12 pixels, and what a finger cannot hit.
AMISS = """() => {
    const place = document.querySelector(".moving"), { left, right } = place.getBoundingClientRect(), amiss = [];
    const scale = place.querySelector("svg").getScreenCTM().a;
    for (const each of place.querySelectorAll("svg :is(text, rect, path, line, polygon), .controls *, .said")) {
        const box = each.getBoundingClientRect(), words = each.textContent.slice(0, 40) || each.outerHTML.slice(0, 80);
        if (!box.width || each.closest(".gone")) continue;
        if (box.left < left - 2 || box.right > right + 2) amiss.push(`cut: ${words}`);
        const size = parseFloat(getComputedStyle(each).fontSize) * (each.closest("svg") ? scale : 1);
        if (each.textContent && size < 11.9) amiss.push(`${size} pixels: ${words}`);
        if (each.matches("button, select, input") && Math.min(box.width, box.height) < 40) amiss.push(`small: ${words}`);
    }
    for (const each of place.querySelectorAll("[role=button]")) {
        const box = each.getBoundingClientRect();
        if (Math.min(box.width, box.height) < 40) amiss.push(`small: ${each.textContent.slice(0, 40)}`);
        if (each.ariaLabel && !each.ariaLabel.includes(each.textContent.trim())) amiss.push(`named ${each.ariaLabel}`);
    }
    if (document.documentElement.scrollWidth > innerWidth) amiss.push("the page is too wide");
    return amiss;
}"""
SITE = "html { font-size: 125% } body { margin: 16px } .moving svg * { transition: none !important }"
LAYOUTS = [(name, width) for name in build.names() for width in (390, 1024)]


@pytest.mark.parametrize(("name", "width"), sweep(LAYOUTS, keep=LAYOUTS[:1]))
def test_a_figure_fits_a_phone_and_a_desk_whatever_is_pressed(page, opened, name, width):
    page.set_viewport_size({"width": width, "height": 900})
    opened(name)
    page.add_style_tag(content=SITE)
    draw = random.Random(1)
    for _ in range(40):
        assert page.evaluate(AMISS) == []
        page.evaluate(CLICK, draw.random())
        for slider in page.locator(".moving :is(select, input)").all()[:3]:
            slider.press(draw.choice(["ArrowRight", "ArrowLeft", "End"]))


# Pairs of texts that lie over one another, as high as capital letters are. A piece that moves may lie on one like it.
OVER = """() => {
    const texts = [...document.querySelectorAll(".moving svg text")];
    const drawn = texts.filter(each => each.textContent.trim() && !each.closest(".gone"));
    const boxes = drawn.map(each => {
        const { left, right, top, bottom } = each.getBoundingClientRect(), spare = (bottom - top) / 4;
        return [left + 1, right - 1, top + spare, bottom - spare, each.textContent];
    });
    return boxes.flatMap(([left, right, top, bottom, words], i) => boxes.slice(i + 1)
        .filter(each => left < each[1] && each[0] < right && top < each[3] && each[2] < bottom && words !== each[4])
        .map(each => `${words} | ${each[4]}`));
}"""
STATES = [  # a state with long names in each, and a size of the screen
    ("sharding=fsdp,2,6,0", 390, 844),
    ("sharding=tp,8,6,1", 844, 390),
    ("dispatcher=1-0-1-1-0-0,1", 844, 390),
    ("guards=false,no-print,", 844, 390),
    ("strides=step,column,view,reshape,reshape,view,view,t,t,view,t,t,slice,1", 390, 844),
]


@pytest.mark.parametrize(("state", "width", "height"), sweep(STATES, keep=STATES[:3]))
def test_no_text_of_a_figure_lies_over_another(page, opened, state, width, height):
    page.set_viewport_size({"width": width, "height": height})
    page.goto(f"about:blank#{state}")
    opened(state.partition("=")[0])
    page.evaluate("document.documentElement.lang = 'en'")
    page.add_style_tag(content=SITE)
    assert page.evaluate("document.querySelectorAll('.moving svg text').length") and page.evaluate(OVER) == []


@pytest.mark.sweep
@pytest.mark.parametrize("width", [390, 1024])
def test_the_controls_of_a_high_figure_stay_in_sight(page, opened, width):
    page.set_viewport_size({"width": width, "height": 600})
    opened("fusion")
    page.add_style_tag(content=SITE)
    for where in ("start", "end"):
        page.evaluate("(block) => document.querySelector('.moving svg').scrollIntoView({ block })", where)
        first = page.locator(".moving .main button").first.bounding_box()
        assert 0 <= first["y"] <= 600 - first["height"], where


@pytest.mark.parametrize("width", [390, 1024])
def test_what_a_press_changes_comes_into_sight(page, opened, width):
    page.set_viewport_size({"width": width, "height": 600})
    opened("guards")
    page.add_style_tag(content=SITE + " body { padding-bottom: 600px }")
    page.locator(".moving text", has_text="its bytecode").evaluate("text => text.scrollIntoView()")
    page.evaluate("scrollBy(0, 80)")
    called = page.locator(".moving text", has_text=re.compile("^(called|next call): "))
    assert called.bounding_box()["y"] < 0
    page.get_by_role("button", name="n = 9", exact=True).evaluate("button => button.click()")
    assert called.text_content() == "next call: n = 9" and called.bounding_box()["y"] > 50


# How far the sentence is from the page's header, and from the controls at the foot of a phone.
ROOM = """() => {
    const [said, foot] = [".said", ".main"].map(part => document.querySelector(`.moving ${part}`).getBoundingClientRect());
    return [said.top - 48, foot.top - said.bottom];
}"""


@pytest.mark.parametrize("name", sweep(build.names(), keep=["backward"]))
def test_on_a_phone_the_sentence_that_answers_a_press_is_in_sight(page, opened, name):
    page.set_viewport_size({"width": 390, "height": 844})
    opened(name)
    page.add_style_tag(content=SITE + " body { padding-block: 400px 600px }")
    draw = random.Random(3)
    for _ in range(20):
        page.evaluate("part => scrollTo(0, part * 900)", draw.random())
        buttons = page.locator(".moving :is(button:not([aria-disabled]), [role=button])").filter(
            has_not_text="copy link"
        )
        buttons.nth(draw.randrange(buttons.count())).evaluate("each => each.dispatchEvent(new MouseEvent('click'))")
        assert min(page.evaluate(ROOM)) >= 0


# The height of the page's header, of all from the sentence to the caches that are full, and of the controls at the foot.
REACH = """() => {
    const [said, foot] = [".said", ".main"].map(part => document.querySelector(`.moving ${part}`).getBoundingClientRect());
    const entries = [...document.querySelectorAll(".moving svg g[transform] > rect")].map(each => each.getBoundingClientRect());
    return 48 + Math.max(...entries.map(({ bottom }) => bottom)) - said.top + foot.height;
}"""


@pytest.mark.sweep
def test_on_a_phone_full_caches_are_in_sight_with_the_sentence_and_the_controls(page, opened):
    page.set_viewport_size({"width": 390, "height": 844})
    opened("guards")
    page.add_style_tag(content=SITE)
    for call in "f(x, 2)", "n = 9", "float64", "no_grad":
        for name in call, "1 graph":
            page.get_by_role("button", name=name, exact=True).evaluate("button => button.click()")
    assert page.locator(".moving svg text", has_text="the limit is 3").count() == 1
    assert page.evaluate(REACH) <= 844


@pytest.mark.sweep
def test_on_a_phone_a_node_of_fusion_shows_the_code_of_its_kernel(page, opened):
    page.set_viewport_size({"width": 390, "height": 844})
    opened("fusion")
    picture = page.locator(".moving svg")
    assert "3. exp, sum" in picture.text_content() and "4. div" not in picture.text_content()
    picture.get_by_role("button", name="div pointwise").click()
    assert "4. div" in picture.text_content() and "3. exp, sum" not in picture.text_content()
    press(page, "split exp and sum")
    assert "3. exp" in picture.text_content() and "4. sum" in picture.text_content()


LOW = """() => {
    const place = document.querySelector(".moving"), boxOf = (name) => place.querySelector(name).getBoundingClientRect();
    const panel = place.querySelector(".controls"), said = boxOf(".said"), { bottom } = panel.getBoundingClientRect();
    const top = place.getBoundingClientRect().top, code = place.dataset.figure === "fusion"; // is read, and long
    const end = Math.max(said.bottom, code ? 0 : boxOf("svg").bottom);
    const amiss = { top: top < 0 || top > 60, end: end > innerHeight,
        tall: panel.scrollHeight > panel.clientHeight + 1, covered: bottom > said.top + 1 };
    return Object.keys(amiss).filter((each) => amiss[each]);
}"""


@pytest.mark.parametrize("name", sweep(build.names(), keep=["strides"]))
def test_nothing_scrolls_while_a_slider_is_used_and_a_press_on_a_low_screen_shows_the_figure(page, opened, name):
    page.set_viewport_size({"width": 390, "height": 844})
    opened(name)
    page.add_style_tag(content=SITE + " body { padding-block: 400px 600px }")
    for slider in page.locator(".moving input[type=range]").all():
        slider.evaluate("slider => slider.scrollIntoView({ block: 'center' })")
        before = page.evaluate("scrollY")
        slider.fill("0" if slider.input_value() != "0" else "1")
        assert page.evaluate("scrollY") == before
        slider.dispatch_event("pointerup")  # what it has changed comes into sight, and it stays
        assert 0 <= slider.bounding_box()["y"] <= 844 - 40 and min(page.evaluate(ROOM)) >= 0
    page.set_viewport_size({"width": 844, "height": 390})  # a phone that lies on its side
    page.locator(".moving.moves:not(.narrow) .controls button:not([aria-disabled])").first.click()
    assert page.evaluate(LOW) == []


@pytest.mark.sweep
@pytest.mark.parametrize("name", sweep(build.names(), keep=["strides"]))
def test_the_address_of_a_state_opens_it_and_a_broken_one_opens_the_beginning(page, name):
    page.goto(address(page, name))
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    draw, first, length = random.Random(2), page.evaluate(SHOWN), page.evaluate("history.length")
    for _ in range(6):
        page.evaluate(CLICK, draw.random())
        page.locator(".moving :is(select, input)").first.press("ArrowRight")
    hash = copied(page)
    assert hash.startswith(f"#{name}=") and page.evaluate("history.length") == length
    page.goto("about:blank")
    page.goto(address(page, name, hash))
    assert copied(page) == hash
    for broken in (f"#{name}=", f"#{name}=nothing", f"#{name}=0,0,0,0,0,0", f"#{name}=%", f"{hash},9.9.9.9,x"):
        page.goto("about:blank")
        page.goto(address(page, name, broken))
        assert page.evaluate(SHOWN) == first, broken


def copied(page):
    """What the button "copy link" copies of the address of a state. It is the address of the page, too."""
    press(page, "copy link")
    page.get_by_role("status").get_by_text("copied").wait_for()
    hash = page.evaluate("location.hash")
    assert page.evaluate("navigator.clipboard.readText()") == f"http://localhost/figure{hash}"
    return hash


def address(page, name, hash=""):
    """The address of a page with the figure alone, as `opened` shows it."""
    html = build.empty(name, build.module(name).SIZE)
    page.route("http://localhost/figure*", lambda route: route.fulfill(body=html, content_type="text/html"))
    return f"http://localhost/figure{hash}"


def test_the_address_follows_a_reader_and_a_change_of_it_shows_its_state(page):
    page.goto(address(page, "strides"))
    assert page.evaluate("location.hash") == ""
    press(page, ".t()", "[1:]")
    page.wait_for_function("location.hash === '#strides=t,slice,1.1'")
    page.evaluate("location.hash = '#strides=t,view'")
    page.locator(".said").get_by_text("view size is not compatible").wait_for()
    page.evaluate("location.hash = '#strides=t,2.1'")
    page.locator(".moving svg").get_by_text("x[2, 1] = 6", exact=True).wait_for()


def test_the_focus_stays_where_a_button_can_do_no_more_and_comes_back_where_it_is_gone(page, opened):
    opened("backward")
    step = page.get_by_role("button", name="step", exact=True)
    for _ in range(6):
        step.press("Enter")
    assert step.get_attribute("aria-disabled") == "true" and step.evaluate("step => document.activeElement === step")
    page.goto("about:blank")
    html = build.empty("strides", build.module("strides").SIZE)
    page.set_content(html.replace('data-figure="strides"', 'data-figure="strides" data-calm'))
    page.get_by_role("button", name="all operations").press("Enter")
    assert page.evaluate(PLACE_OF_FOCUS) == 0


def test_a_figure_changes_its_layout_with_the_width_of_its_place_and_keeps_its_state(page, opened):
    said = opened("fusion")
    press(page, "fuse max and exp")
    before, wide = said.inner_text(), page.locator(".moving svg").get_attribute("viewBox")
    page.set_viewport_size({"width": 390, "height": 900})
    page.wait_for_function(
        "document.querySelector('.moving.narrow svg')?.getAttribute('viewBox').startsWith('0 0 358 ')"
    )
    assert said.inner_text() == before
    page.set_viewport_size({"width": 1024, "height": 900})
    page.wait_for_function("!document.querySelector('.moving.narrow')")
    assert page.locator(".moving svg").get_attribute("viewBox") == wide


# What each figure shows ----------------------------------------------------------------------------------------------

# `make test` tries one thing of each figure.


def test_strides_shows_a_transpose_an_overlap_a_refusal_and_a_copy(page, opened):
    said = opened("strides")
    press(page, ".t()")
    picture = page.locator(".moving svg")
    assert "(4, 3)" in picture.text_content() and "(1, 4)" in picture.text_content()
    press(page, ".view(-1)")
    assert "view size is not compatible" in said.inner_text()
    press(page, ".reshape(-1)")
    assert "copied" in said.inner_text()
    press(page, "undo", "undo", "[:, :1]", ".expand(-1, 4)")
    assert "3 cells" in said.inner_text() and "(4, 0)" in picture.text_content()


@pytest.mark.sweep
def test_strides_moves_the_elements_of_a_transpose_and_reads_them_in_order(page, opened):
    said, element = opened("strides"), page.locator(".moving svg .cell").get_by_text("4", exact=True)
    page.emulate_media(reduced_motion="reduce")
    before = element.bounding_box()
    press(page, ".t()")
    after = element.bounding_box()
    assert after["x"] > before["x"] and after["y"] < before["y"]
    press(page, "read in order")
    for shown in "x[0, 0] = 0", "x[0, 1] = 4", "x[0, 2] = 8", "x[1, 0] = 1":
        page.locator(".moving svg").get_by_text(shown, exact=True).wait_for()
    assert "is 4 cells" in said.inner_text()
    press(page, "stop")
    assert page.get_by_role("button", name="read in order").is_enabled()


def chosen(page, label, option):
    page.locator("label").filter(has_text=label).locator("select").select_option(option)


def kernels(page):
    """The kernels that the dispatcher's figure lists, without its other lines."""
    return page.locator(".moving svg .kernel").all_text_contents()


def bits(page):
    return page.locator(".moving svg g[transform] text.middle").all_text_contents()


@pytest.mark.sweep
def test_dispatcher_lists_the_kernels_of_a_composite_call_under_a_mode(page, opened):
    said = opened("dispatcher")
    assert kernels(page)[0] == "linear AutogradCPU" and "t and addmm" in said.inner_text()
    press(page, "a mode", "step")
    assert kernels(page)[:3] == ["linear PythonTLSSnapshot", "↳ AutogradCPU", "t PythonTLSSnapshot"]
    press(page, *["step"] * 5)
    assert kernels(page)[5] == "↳ Python" and "the mode calls t again" in said.inner_text()


@pytest.mark.sweep
def test_dispatcher_says_that_no_grad_changes_no_bit_and_inference_mode_does(page, opened):
    said = opened("dispatcher")
    chosen(page, "operation", "x * w")
    press(page, "step")
    before = bits(page)
    assert "MulBackward0" in said.inner_text()
    chosen(page, "grad mode", "no_grad")
    press(page, "step")
    assert bits(page) == before and "grad mode is off" in said.inner_text()
    chosen(page, "grad mode", "inference_mode")
    press(page, "step")
    assert bits(page) != before and kernels(page) == ["mul CPU"]
    press(page, "call")
    assert kernels(page) == ["mul CPU"]


def test_dispatcher_answers_a_guess_of_the_first_key(page, opened):
    said = opened("dispatcher")
    table = page.get_by_role("table", name="linear")
    assert table.get_by_role("row", name="AutogradFunctionality 1 0 0 1 math kernel").count() == 1
    assert page.get_by_role("list").get_by_role("listitem").count() == 6
    press(page, "back", "guess Python")
    assert "not in the set" in said.inner_text()
    press(page, "guess BackendSelect")
    assert "falls through" in said.inner_text()
    press(page, "guess Dense")
    assert "higher key" in said.inner_text()
    press(page, "guess AutogradFunctionality")
    assert said.inner_text().startswith("Right.")


@pytest.mark.sweep
def test_dispatcher_has_an_autograd_kernel_that_refuses_and_autocast_kernels_on_the_cpu_only(page, opened):
    said = opened("dispatcher")
    chosen(page, "operation", "w.add_(1)")
    press(page, "step")
    assert kernels(page) == ["add_ AutogradCPU"] and "refuses" in said.inner_text()
    chosen(page, "operation", "linear(x, w, b)")
    press(page, "autocast", "step")
    assert kernels(page)[0] == "linear AutocastCPU" and "casts 3 arguments" in said.inner_text()
    chosen(page, "device", "meta")
    press(page, "call")
    assert kernels(page)[0] == "linear AutogradMeta"


def node(page, name):
    return page.get_by_role("button", name=name)


def test_backward_answers_a_guess_of_the_next_node(page, opened):
    said = opened("backward")
    node(page, "MulBackward0").click()
    assert "waits for 2 more gradients" in said.inner_text()
    node(page, "PowBackward0").click()
    assert "has a higher number" in said.inner_text()
    node(page, "SumBackward0").click()
    assert "has run" in said.inner_text() and node(page, "has run AddBackward0 of a + b").count() == 1
    node(page, "ReluBackward0").click()
    assert said.inner_text().startswith("Right. ReluBackward0")
    node(page, "has run ReluBackward0 of y.relu()").click()
    assert said.inner_text().startswith("Not ReluBackward0 of y.relu(): it has run.")
    picture = page.locator(".moving svg")
    assert "1 of 5 right" in picture.text_content() and picture.get_attribute("aria-label") == said.inner_text()
    assert picture.locator(".gone").count() == picture.locator(".gone[aria-hidden=true]").count() > 0


@pytest.mark.sweep
def test_backward_adds_gradients_that_meet_and_frees_what_was_saved(page, opened):
    said, picture = opened("backward"), page.locator(".moving svg")
    press(page, "step")
    assert "waits for 1" in node(page, "MulBackward0").text_content()
    assert "freed b" in node(page, "ReluBackward0").text_content()
    press(page, "step")
    assert "is ready" in node(page, "MulBackward0").text_content() and "= [5, -8]" in picture.text_content()
    press(page, "step", "step")
    assert "x.grad = [10, -16]" in said.inner_text() and page.get_by_role("button", name="step").is_disabled()


@pytest.mark.sweep
def test_backward_sums_the_gradient_of_a_broadcast_argument_and_runs_its_accumulator_first(page, opened):
    said = opened("backward")
    chosen(page, "program", "a broadcast")
    press(page, "step", "step")
    assert "(3, 2), but b has (2,)" in said.inner_text()
    node(page, "MmBackward0").click()
    assert "has a higher number" in said.inner_text()
    node(page, "AccumulateGrad for b").click()
    assert said.inner_text().startswith("Right.") and "b.grad = [3, 3]" in said.inner_text()


@pytest.mark.sweep
def test_backward_refuses_a_change_only_if_a_node_saved_the_tensor(page, opened):
    said = opened("backward")
    for program, end in ("an in-place change", "x.grad = [8, 8]"), ("a change of a saved tensor", "RuntimeError"):
        chosen(page, "program", program)
        page.get_by_role("slider").press("End")
        assert end in said.inner_text()
    assert "is refused" in node(page, "MulBackward0 of y").text_content()


@pytest.mark.sweep
def test_fusion_puts_a_softmax_into_one_kernel_and_its_buffers_need_no_memory(page, opened):
    said, picture = opened("fusion"), page.locator(".moving svg")
    press(page, "fuse max and exp", "fuse sum and div")
    assert "1 kernel and 1 library call move 392,192 bytes" in said.inner_text()
    assert "buf1, buf2 and buf3 need no memory" in said.inner_text()
    assert "one row, on the stack" in picture.text_content() and "row_buf2[600]" in picture.text_content()
    press(page, "split exp and sum")
    assert "2 kernels and 1 library call" in said.inner_text() and "row_buf2" not in picture.text_content()
    assert "2 of 2 allowed" in picture.text_content()


def test_fusion_refuses_a_library_call_and_a_pair_with_a_node_between(page, opened):
    said, picture = opened("fusion"), page.locator(".moving svg")
    press(page, "fuse mm and max")
    assert "library call" in said.inner_text() and "extern" in said.inner_text()
    press(page, "split all", "fuse exp and div")
    assert "sum must run after exp and before div" in said.inner_text() and "refused" in picture.text_content()
    assert "0 of 2 allowed" in picture.text_content()
    press(page, "fuse exp and sum", "fuse sum and div")
    assert page.get_by_role("button", name="split exp and div").count() == 1


@pytest.mark.sweep
def test_fusion_says_that_one_fusion_rules_out_another(page, opened):
    said = opened("fusion")
    chosen(page, "program", "a transpose")
    press(page, "fuse e + 1 and e + e.t()")
    assert "2 kernels move 18,000 bytes" in said.inner_text()
    press(page, "fuse exp and e + 1")
    assert "reads buf0[i0 + 30*i1]" in said.inner_text()
    press(page, "Inductor's choice")
    assert page.get_by_role("button", name="split exp and e + 1").count() == 1
    assert page.get_by_role("button", name="fuse e + 1 and e + e.t()").count() == 1


def entries(page):
    """The cache entries of the guards' figure from left to right, `f` first: id and what the last call made of each."""
    page.emulate_media(reduced_motion="reduce")
    boxes = page.locator(".moving svg g[transform]").all()
    found = sorted((round(box.bounding_box()["y"]), box.bounding_box()["x"], box) for box in boxes)
    words = [" ".join(filter(None, box.locator("> text").all_text_contents()[:2])) for *_, box in found]
    return [each for each in words if each != "free"]


@pytest.mark.sweep
def test_guards_tests_the_caches_of_a_function_and_of_its_resume_function(page, opened):
    said = opened("guards")
    assert entries(page) == ["0/1 runs", "0/0 not tested", "1/1 new", "1/0 fails"]
    assert '"n == 2"' in said.inner_text() and "n has changed, so it is a symbol" in said.inner_text()
    press(page, "print", "f(x, 2)", "0 graphs", "n = 5", "0 graphs")
    assert (
        entries(page) == ["0/1 new", "0/0 fails"] and "no resume function" in page.locator(".moving svg").text_content()
    )


def test_guards_counts_the_guesses_of_what_is_compiled(page, opened):
    said, picture = opened("guards"), page.locator(".moving svg")
    press(page, "7 rows", "1 graph")
    assert said.inner_text().startswith("No, 0 graphs.") and "0 of 1 right" in picture.text_content()
    press(page, "no_grad", "2 graphs")
    assert said.inner_text().startswith("Right.") and "GLOBAL_STATE changed: grad_mode" in said.inner_text()
    assert "1 of 2 right" in picture.text_content() and page.get_by_role("button", name="2 graphs").is_disabled()


@pytest.mark.sweep
def test_guards_moves_the_entry_that_runs_to_the_front(page, opened):
    opened("guards")
    press(page, "float64", "2 graphs", "7 rows", "0 graphs")
    assert entries(page)[:3] == ["0/1 runs", "0/2 fails", "0/0 not tested"]
    assert "0/1 was tested second, and moves to the front" in page.locator(".moving svg").text_content()


@pytest.mark.sweep
def test_guards_has_no_symbol_for_a_size_of_one(page, opened):
    said = opened("guards")
    chosen(page, "dynamic", "True")
    press(page, "print", "7 rows", "1 graph", "n = 5", "0 graphs")
    assert said.inner_text().startswith("Right.")
    press(page, "1 row", "1 graph")
    assert '"2 <= x.size()[0]"' in said.inner_text() and entries(page) == ["0/1 new", "0/0 fails"]


@pytest.mark.sweep
def test_guards_runs_a_call_uncompiled_at_the_limit_and_compiles_nothing_after_it(page, opened):
    said = opened("guards")
    chosen(page, "dynamic", "False")
    for call in "f(x, 2)", "7 rows", "1 row":
        press(page, call, "0 graphs")
    press(page, "float64", "0 graphs")
    assert said.inner_text().startswith("Right.") and "runs uncompiled" in said.inner_text()
    assert entries(page) == ["0/2 fails", "0/1 fails", "0/0 fails", "1/0"]
    press(page, "f(x, 2)", "0 graphs")
    assert entries(page) == ["0/0 runs", "0/2 fails", "0/1 fails", "1/0 runs"]


def scrubbed(page, key):
    page.get_by_role("slider").first.press(key)


def cell(page, rank, chunk):
    return page.locator(f".moving svg [data-cell='{rank} {chunk}']")


@pytest.mark.sweep
def test_collectives_gathers_the_parts_of_all_ranks_within_the_bytes_of_a_ring(page, opened):
    said, picture = opened("collectives"), page.locator(".moving svg")
    scrubbed(page, "End")
    assert "It is done" in said.inner_text()
    for rank in range(4):
        for chunk in range(4):
            assert cell(page, rank, chunk).text_content() == f"0123chunk {chunk} ✓"
    assert picture.text_content().count("1.5 n = 3 MB") == 4
    chosen(page, "collective", "reduce-scatter, ring")
    scrubbed(page, "End")
    assert [cell(page, 1, chunk).text_content().endswith("✓") for chunk in range(4)] == [False, True, False, False]


def test_collectives_answers_a_guess_of_the_next_chunk(page, opened):
    said = opened("collectives")
    assert "Which chunk does rank 0 send next?" in said.inner_text()
    press(page, "chunk 2")
    assert "passes on the sum that it has just made" in said.inner_text()
    cell(page, 0, 1).click()
    assert said.inner_text().startswith("Right.") and "step 3 of 6" in page.locator(".moving svg").text_content()
    assert "1 of 2 right" in page.locator(".moving svg").text_content()


@pytest.mark.sweep
def test_collectives_moves_chunks_between_ranks(page, opened):
    opened("collectives")
    where = "waiting.map((each) => [each.getAttribute('class'), each.getAttribute('transform')])"
    page.evaluate("waiting = [...document.querySelectorAll('.moving svg g[style].gone')]")
    before = page.evaluate(where)
    press(page, "step")
    after = page.evaluate(where)
    assert len(before) == 4 and all(look == "" for look, _ in after)
    assert all(old != new for (_, old), (_, new) in zip(before, after))


@pytest.mark.sweep
def test_collectives_says_when_a_tree_is_faster(page, opened):
    opened("collectives")
    picture = page.locator(".moving svg")
    chosen(page, "ranks", "8")
    chosen(page, "collective", "all-reduce, tree")
    assert "the tree is faster up to 941 kB" in picture.text_content()
    scrubbed(page, "End")
    assert "rank 03 n = 6 MB" in picture.text_content() and "rank 33 n" not in picture.text_content()
    assert "step 6 of 6" in picture.text_content() and "14 steps: 140 µs, and bytes: 70 µs" in picture.text_content()
    chosen(page, "ranks", "2")
    assert "the tree is never faster" in picture.text_content()


def test_sharding_answers_a_guess_of_the_next_collective(page, opened):
    said, picture = opened("sharding"), page.locator(".moving svg")
    press(page, "all-reduce")
    assert "only its shard" in said.inner_text()
    press(page, "reduce-scatter")
    assert (
        said.inner_text().startswith("Right.")
        and "reduce-scatter averages the gradients of block 2" in said.inner_text()
    )
    press(page, "TP", "all-gather")
    assert "no rank ever needs another rank's weights" in said.inner_text()
    press(page, "all-reduce")
    assert "parts of block 0's output" in said.inner_text() and "2 of 4 right" in picture.text_content()


def shown(page, row, block):
    """How many of the slices of all ranks are seen. A row: 0 is weights, 1 is gradients."""
    y = 62 + block * 46 + row * 14
    return page.locator(f".moving svg g[transform$=' {y})']:not(.gone)").count()


@pytest.mark.sweep
def test_sharding_gathers_a_block_before_it_computes_and_frees_it_after(page, opened):
    opened("sharding")
    scrubbed(page, "Home")
    assert [shown(page, 0, block) for block in range(3)] == [16, 4, 4]
    press(page, "step")
    assert [shown(page, 0, block) for block in range(3)] == [16, 16, 4]
    press(page, "step")
    assert [shown(page, 0, block) for block in range(3)] == [4, 16, 16]
    scrubbed(page, "End")
    assert [shown(page, row, block) for row in range(2) for block in range(3)] == [4] * 6
    press(page, "DDP")
    scrubbed(page, "End")
    assert [shown(page, row, block) for row in range(2) for block in range(3)] == [16] * 6


@pytest.mark.sweep
def test_sharding_compares_memory_bytes_and_time_and_slow_links_cost_fsdp_most(page, opened):
    opened("sharding")
    picture = page.locator(".moving svg")
    assert "DDP6.7 MiB2.25 MiB2,404 µsFSDP3.33 MiB3.38 MiB2,473 µsTP2.38 MiB" in picture.text_content()
    chosen(page, "links of", "1 GB/s")
    scrubbed(page, "End")
    assert "4,221 of 4,221 µs, sent 3.38 MiB" in picture.text_content()
    chosen(page, "ranks", "8")
    assert "FSDP2.41 MiB" in picture.text_content()


@pytest.mark.sweep
def test_min_cut_goes_from_the_default_to_the_min_cut_by_pressing_tensors(page, opened):
    said, picture = opened("min_cut"), page.locator(".moving svg")
    assert "4 tensors cross the border" in said.inner_text() and "431,411" in picture.text_content()
    press(page, "recompute sin")
    assert "x, mm and softplus" in said.inner_text() and "computes sin again" in said.inner_text()
    press(page, "recompute softplus")
    assert said.inner_text().startswith("The min-cut. 2 tensors") and picture.text_content().count("84,992") == 2
    press(page, "save cos")
    assert page.get_by_role("button", name="compute cos").count() == 1 and "161,792" in picture.text_content()


@pytest.mark.sweep
def test_min_cut_refuses_what_torch_does_not_recompute_with_torchs_reason(page, opened):
    said, picture = opened("min_cut"), page.locator(".moving svg")
    for program, tensor, reason in (
        ("an activation", "mm", "not in recomputable allowlist"),
        ("a random mask", "x", "primal input"),
        ("a reduction", "sum_1", "reduction op"),
    ):
        chosen(page, "function", program)
        press(page, f"recompute {tensor}")
        assert said.inner_text().startswith("Refused.") and reason in said.inner_text()
        assert "✗ refused" in picture.text_content()
    press(page, "not needed there x")
    assert "does not need x" in said.inner_text()


@pytest.mark.sweep
def test_min_cut_shows_a_border_behind_the_forward_and_a_cut_that_is_worse_than_the_default(page, opened):
    said, picture = opened("min_cut"), page.locator(".moving svg")
    chosen(page, "function", "a clamp")
    press(page, "save ge")
    assert said.inner_text().startswith("The min-cut.") and "27,392" in picture.text_content()
    chosen(page, "function", "a random mask")
    press(page, "recompute gt")
    assert "x, softplus and rand_like" in said.inner_text() and "230,400" in picture.text_content()


def test_min_cut_moves_its_border_by_a_slider(page, opened):
    said, slider = opened("min_cut"), page.get_by_role("slider")
    slider.press("Home")
    assert "x, mm, sin and cos" in said.inner_text()
    slider.press("End")
    assert said.inner_text().startswith("The min-cut.")
    slider.press("ArrowLeft")
    assert "x, mm and softplus" in said.inner_text()


def slid(page, name, value):
    page.locator("label").filter(has_text=f"{name}:").locator("input").fill(str(value))


def asked_for(page):
    """How many sectors the picture marks, and what it says that moves."""
    picture = page.locator(".moving svg")
    return picture.locator(".asked").count(), picture.get_by_text("sectors:").text_content()


def test_warps_marks_as_many_sectors_as_the_runtime_counts(page, opened):
    said = opened("warps")
    press(page, "float16")
    for stride, offset, sectors in ((3, 1, 6), (1, 1, 3), (1, 0, 2), (0, 5, 1), (32, 16, 32)):
        slid(page, "stride", stride)
        slid(page, "offset", offset)
        assert asked_for(page) == (sectors, f"sectors: {sectors}, bytes: {32 * sectors:,}")
    assert "a sector of its own" in said.inner_text()


@pytest.mark.sweep
def test_warps_says_when_a_request_is_coalesced_and_follows_a_lane(page, opened):
    said = opened("warps")
    slid(page, "stride", 1)
    assert "coalesced" in said.inner_text()
    slid(page, "offset", 4)
    assert "5 sectors instead of 4" in said.inner_text()
    page.locator(".moving svg g").get_by_text("31", exact=True).click()
    page.locator(".moving svg").get_by_text("lane 31: element 4 + 31·1 = 35, sector 4", exact=True).wait_for()
    slid(page, "stride", 0)
    assert "All lanes read one element" in said.inner_text()


@pytest.mark.sweep
def test_warps_marks_every_state_as_it_is_counted(page, opened):
    data = json.loads((build.FIGURES / "warps.json").read_text(encoding="utf-8"))
    opened("warps")
    for dtype, strides in data["sectors"].items():
        press(page, dtype)
        for stride, offset in [(s, o) for s in (0, 1, 2, 3, 5, 8, 9, 16, 31) for o in (0, 1, 3, 7, 12)]:
            slid(page, "stride", stride)
            slid(page, "offset", offset)
            assert asked_for(page)[0] == strides[stride][offset]


def served(page):
    """The number of rows in which lanes are served, and the figure's text of wavefronts."""
    picture = page.locator(".moving svg")
    rows = picture.locator(".served").evaluate_all("lanes => lanes.map(lane => lane.transform.baseVal[0].matrix.f)")
    return len({round(row, 2) for row in rows}), picture.get_by_text("wavefronts:").text_content()


def test_banks_serves_lanes_in_as_many_wavefronts_as_the_runtime_counts(page, opened):
    said = opened("banks")
    for kind, stride, offset, wavefronts, least in (
        ("float", 32, 3, 32, 1),
        ("float", 33, 0, 1, 1),
        ("float2", 2, 1, 4, 2),
        ("float4", 3, 8, 4, 4),
    ):
        press(page, kind)
        slid(page, "stride", stride)
        slid(page, "offset", offset)
        assert served(page) == (wavefronts, f"wavefronts: {wavefronts}, at the least: {least}")
    assert "there is no conflict" in said.inner_text()


@pytest.mark.sweep
def test_banks_says_what_conflicts_and_follows_a_lane(page, opened):
    said = opened("banks")
    assert "only 4 of the 32 banks" in said.inner_text()
    slid(page, "stride", 32)
    assert "one bank" in said.inner_text()
    page.locator(".moving svg g").get_by_text("31", exact=True).first.click()
    page.locator(".moving svg").get_by_text(
        "lane 31: element 0 + 31·32 = 992, bank 0, wavefront 31", exact=True
    ).wait_for()
    slid(page, "stride", 0)
    assert "All lanes read one element" in said.inner_text() and served(page)[0] == 1
    page.locator(".moving svg .served").get_by_text("all", exact=True).wait_for()


@pytest.mark.sweep
def test_banks_serves_every_state_as_it_is_counted(page, opened):
    data = json.loads((build.FIGURES / "banks.json").read_text(encoding="utf-8"))
    opened("banks")
    for kind, strides in data["wavefronts"].items():
        press(page, kind)
        for stride, offset in [(s, o) for s in range(34) for o in (0, 1, 7)]:
            slid(page, "stride", stride)
            slid(page, "offset", offset)
            assert served(page)[0] == strides[stride][offset]


def test_tiles_counts_what_the_runtime_counts_and_the_bytes_fall_with_the_tile(page, opened):
    said, picture = opened("tiles"), page.locator(".moving svg")
    for tile, sums, kibi, waves in (
        (16, 1, "1,024", 139264),
        (32, 1, "512", 135168),
        (32, 4, "512", 36864),
        (64, 8, "256", 18432),
    ):
        press(page, f"{tile}", f"{sums} × {sums}")
        slid(page, "steps", 8)
        texts = picture.locator("text.code").all_text_contents()
        assert texts[:3] == ["8,192 KiB", f"{kibi} KiB", f"{waves:,}"]
        assert picture.locator(".sum").count() == sums**2 and "The sums are complete" in said.inner_text()


@pytest.mark.sweep
def test_tiles_loads_a_tile_and_then_uses_it_in_the_block_that_is_pressed(page, opened):
    said, picture = opened("tiles"), page.locator(".moving svg")
    assert said.inner_text().startswith("Tile 2 of 4 is used") and picture.locator(".held.one").count() == 2
    press(page, "step")
    assert said.inner_text().startswith("Tile 3 of 4 is loaded") and picture.locator(".held.two").count() == 2
    slid(page, "block", 15)
    press(page, "64")
    assert page.locator("label").filter(has_text="block: 3").count() == 1  # the last of four
    assert page.get_by_role("button", name="1 × 1").get_attribute("aria-disabled") == "true"
    page.get_by_role("button", name="1 × 1").press("Enter")  # a click waits until it is not disabled
    assert "need 4,096 threads" in said.inner_text() and said.inner_text().endswith("4 × 4 sums.")
    slid(page, "steps", 0)
    assert "4 blocks of 256 threads" in said.inner_text() and "0 KiB" in picture.text_content()
    press(page, "16")
    assert "leave 16 threads" in said.inner_text() and said.inner_text().endswith("2 × 2 sums.")
    press(page, "32")  # the choice is as before
    assert page.get_by_role("button", name="4 × 4").get_attribute("aria-pressed") == "true"
    press(page, "16", "1 × 1")
    slid(page, "steps", 2)
    assert "reads 1 number of a and 1 of b, and adds 1 product to its sum." in said.inner_text()


@pytest.mark.sweep
def test_tiles_play_to_the_end(page, opened):
    said = opened("tiles")
    press(page, "play")
    said.get_by_text("The sums are complete").wait_for()
    assert page.get_by_role("button", name="play", exact=True).count() == 1


def test_attention_counts_what_the_interpreter_counts_and_scales_what_was_there(page, opened):
    data = json.loads((build.FIGURES / "attention.json").read_text(encoding="utf-8"))
    said, picture = opened("attention"), page.locator(".moving svg")
    assert "multiplied by 0.61" in said.inner_text() and "are masked" in said.inner_text()
    for size, theirs, whole in ((16, 456, 88), (32, 360, 56), (64, 312, 40)):
        press(page, f"{size}")
        slid(page, "steps", 12)  # to the end
        texts, blocks = picture.locator("text.code").all_text_contents(), data["blocks"][str(size)]
        block = min(2, data["n"] // size - 1)
        mine = blocks["loaded"][block + 1] + blocks["stored"]
        assert texts[-4:-2] == [f"{sum(blocks['naive'][-1]) // 1024} KiB", f"{mine // 1024} KiB"]
        assert texts[-2:] == [f"{theirs} KiB", f"{whole} KiB"]
        skipped = data["n"] // size - block - 1
        assert f"never loads: {skipped}." in said.inner_text() if skipped else "never" not in said.inner_text()


@pytest.mark.sweep
def test_attention_keeps_the_sum_of_its_bars(page, opened):
    opened("attention")
    picture = page.locator(".moving svg")
    press(page, "causal")
    for at in range(2, 6):
        slid(page, "steps", at)
        heights = picture.locator(".score").evaluate_all("bars => bars.map(bar => +bar.getAttribute('height'))")
        kept = float(picture.locator("text.code").all_text_contents()[2])
        assert len(heights) == 32 * (at - 1) and abs(sum(heights) / 74 - kept) < 0.02


@pytest.mark.sweep
def test_attention_plays_to_the_end_and_shows_the_queries_that_are_pressed(page, opened):
    said, picture = opened("attention"), page.locator(".moving svg")
    picture.locator(".scores").first.click()
    assert "query 31" in picture.text_content() and "never loads: 3" in said.inner_text()
    slid(page, "steps", 0)
    assert "4 instances" in said.inner_text() and picture.locator(".score").count() == 0
    press(page, "play")
    said.get_by_text("stored once").wait_for()
    assert page.get_by_role("button", name="play", exact=True).count() == 1


def test_the_calm_strides_of_the_home_page_move_by_themselves_until_they_are_touched(page):
    page.emulate_media(reduced_motion="no-preference")
    html = build.empty("strides", build.module("strides").SIZE)
    page.set_content(html.replace('data-figure="strides"', 'data-figure="strides" data-calm'))
    picture = page.locator(".moving svg")
    assert page.locator(".controls :is(button, input)").count() == 7
    picture.get_by_text("(4, 3)", exact=True).wait_for()
    press(page, "[1:]")
    assert "(3, 3)" in picture.text_content() and page.get_by_role("button", name="play", exact=True).count() == 1
    press(page, "all operations")
    assert page.locator(".controls :is(button, input)").count() == 13


@pytest.mark.sweep
def test_the_calm_strides_wait_where_a_reader_wants_less_motion(page):
    page.emulate_media(reduced_motion="reduce")
    html = build.empty("strides", build.module("strides").SIZE)
    page.set_content(html.replace('data-figure="strides"', 'data-figure="strides" data-calm'))
    assert page.get_by_role("button", name="play", exact=True).count() == 1
    press(page, "play")
    assert page.get_by_role("button", name="pause", exact=True).count() == 1


@pytest.mark.sweep
def test_strides_marks_the_same_element_after_an_operation_if_it_is_there(page, opened):
    opened("strides")
    picture = page.locator(".moving svg")
    press(page, ".t()")
    assert "x[2, 1] = 6" in picture.text_content()
    press(page, "undo", "[1:]")
    assert "x[0, 2] = 6" in picture.text_content()
