"""The moving figures in a browser: their pictures, their controls, and what they say."""

import random
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "docs" / "figures"))
import build  # noqa: E402

sys.path.pop(0)

PLACE_OF_FOCUS = (
    "[...document.querySelectorAll('.controls :is(button, select, input)')].indexOf(document.activeElement)"
)


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


@pytest.mark.parametrize("name", build.names())
def test_the_picture_of_a_figure_is_what_it_draws_first(page, name):
    given = build.module(name)
    (picture,) = ROOT.glob(f"phases/{given.PHASE}_*/{name}.svg")
    assert picture.read_text(encoding="utf-8") == build.picture(page, name, given.SIZE)


@pytest.mark.parametrize("name", build.names())
def test_a_figure_stays_whole_whatever_is_pressed(page, opened, name):
    said, draw = opened(name), random.Random(0)
    for _ in range(60):
        buttons = page.locator(".moving :is(button:enabled, [role=button])")
        buttons.nth(draw.randrange(buttons.count())).dispatch_event("click")
        for kind in "select", "input[type=range]":
            for control in page.locator(f".moving {kind}").all()[:2]:
                control.press(draw.choice(["ArrowRight", "ArrowLeft", "ArrowDown"]))
        drawn = page.locator(".moving svg").inner_html()
        assert said.inner_text().strip()
        assert not any(word in drawn + said.inner_text() for word in ("NaN", "undefined", "[object"))


@pytest.mark.parametrize("name", build.names())
def test_a_figure_is_worked_by_keyboard_alone(page, opened, name):
    said = opened(name)
    controls = page.locator(".moving .controls :is(button:enabled, select, input)")
    reached, before = set(), page.locator(".moving").inner_html()
    for _ in range(controls.count() + 60):
        page.keyboard.press("Tab")
        reached.add(page.evaluate(PLACE_OF_FOCUS))
    reached.discard(-1)
    assert len(reached) >= controls.count()
    controls.first.focus()
    page.keyboard.press("Enter")
    assert page.locator(".moving").inner_html() != before and said.inner_text()


# What each figure shows ----------------------------------------------------------------------------------------------


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


def test_strides_moves_the_elements_of_a_transpose_and_reads_them_in_order(page, opened):
    said, element = opened("strides"), page.locator(".moving svg g[tabindex='-1']").get_by_text("4", exact=True)
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
    return page.locator(".moving svg g[tabindex='-1']").all_text_contents()


def bits(page):
    return page.locator(".moving svg g[transform] text.middle").all_text_contents()


def test_dispatcher_lists_the_kernels_of_a_composite_call_under_a_mode(page, opened):
    said = opened("dispatcher")
    assert kernels(page)[0] == "linear AutogradCPU" and "t and addmm" in said.inner_text()
    press(page, "a mode", "step")
    assert kernels(page)[:3] == ["linear PythonTLSSnapshot", "↳ AutogradCPU", "t PythonTLSSnapshot"]
    press(page, *["step"] * 5)
    assert kernels(page)[5] == "↳ Python" and "the mode calls t again" in said.inner_text()


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


def test_dispatcher_answers_a_guess_of_the_first_key(page, opened):
    said = opened("dispatcher")
    press(page, "back", "guess Python")
    assert "not in the set" in said.inner_text()
    press(page, "guess BackendSelect")
    assert "falls through" in said.inner_text()
    press(page, "guess Dense")
    assert "higher key" in said.inner_text()
    press(page, "guess AutogradFunctionality")
    assert said.inner_text().startswith("Right.")


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
    assert "has run" in said.inner_text() and node(page, "runs AddBackward0 of a + b").count() == 1
    node(page, "ReluBackward0").click()
    assert said.inner_text().startswith("Right.") and node(page, "runs ReluBackward0 of y.relu()").count() == 1
    assert "1 of 4 right" in page.locator(".moving svg").text_content()


def test_backward_adds_gradients_that_meet_and_frees_what_was_saved(page, opened):
    said, picture = opened("backward"), page.locator(".moving svg")
    press(page, "step")
    assert "waits for 1" in node(page, "MulBackward0").text_content()
    assert "freed b" in node(page, "ReluBackward0").text_content()
    press(page, "step")
    assert "is ready" in node(page, "MulBackward0").text_content() and "= [5, -8]" in picture.text_content()
    press(page, "step", "step")
    assert "x.grad = [10, -16]" in said.inner_text() and page.get_by_role("button", name="step").is_disabled()


def test_backward_sums_the_gradient_of_a_broadcast_argument_and_runs_its_accumulator_first(page, opened):
    said = opened("backward")
    chosen(page, "program", "a broadcast")
    press(page, "step", "step")
    assert "(3, 2), but b has (2,)" in said.inner_text()
    node(page, "MmBackward0").click()
    assert "has a higher number" in said.inner_text()
    node(page, "AccumulateGrad for b").click()
    assert said.inner_text().startswith("Right.") and "b.grad = [3, 3]" in said.inner_text()


def test_backward_refuses_a_change_only_if_a_node_saved_the_tensor(page, opened):
    said = opened("backward")
    for program, end in ("an in-place change", "x.grad = [8, 8]"), ("a change of a saved tensor", "RuntimeError"):
        chosen(page, "program", program)
        page.get_by_role("slider").press("End")
        assert end in said.inner_text()
    assert "is refused" in node(page, "MulBackward0 of y").text_content()


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


def test_min_cut_goes_from_the_default_to_the_min_cut_by_pressing_tensors(page, opened):
    said, picture = opened("min_cut"), page.locator(".moving svg")
    assert "4 tensors cross the border" in said.inner_text() and "431,411" in picture.text_content()
    press(page, "recompute sin")
    assert "x, mm and softplus" in said.inner_text() and "computes sin again" in said.inner_text()
    press(page, "recompute softplus")
    assert said.inner_text().startswith("The min-cut. 2 tensors") and picture.text_content().count("84,992") == 2
    press(page, "save cos")
    assert page.get_by_role("button", name="compute cos").count() == 1 and "161,792" in picture.text_content()


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


def test_the_calm_strides_of_the_home_page_move_by_themselves_until_they_are_touched(page):
    page.emulate_media(reduced_motion="no-preference")
    html = build.empty("strides", build.module("strides").SIZE)
    page.set_content(html.replace('data-figure="strides"', 'data-figure="strides" data-calm'))
    picture = page.locator(".moving svg")
    assert page.locator(".controls :is(button, input)").count() == 6
    picture.get_by_text("(4, 3)", exact=True).wait_for()
    press(page, "[1:]")
    assert "(3, 3)" in picture.text_content() and page.get_by_role("button", name="play", exact=True).count() == 1
    press(page, "all operations")
    assert page.locator(".controls :is(button, input)").count() == 12


def test_the_calm_strides_wait_where_a_reader_wants_less_motion(page):
    page.emulate_media(reduced_motion="reduce")
    html = build.empty("strides", build.module("strides").SIZE)
    page.set_content(html.replace('data-figure="strides"', 'data-figure="strides" data-calm'))
    assert page.get_by_role("button", name="play", exact=True).count() == 1
    press(page, "play")
    assert page.get_by_role("button", name="pause", exact=True).count() == 1


def test_strides_marks_the_same_element_after_an_operation_if_it_is_there(page, opened):
    opened("strides")
    picture = page.locator(".moving svg")
    press(page, ".t()")
    assert "x[2, 1] = 6" in picture.text_content()
    press(page, "undo", "[1:]")
    assert "x[0, 2] = 6" in picture.text_content()
