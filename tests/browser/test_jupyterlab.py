"""JupyterLab as a student meets it."""

import ast
import json
import re

import nbformat
import pytest
from course import TOKEN, Course, Notebook
from first_lab import ALL, EXERCISES
from nbformat.v4 import new_code_cell, new_notebook, new_output

from autograder.classroom.restore import StudentNotebook
from autograder.engine import sandbox
from autograder.engine.card import card
from autograder.engine.verdict import DISAGREED, NOT_ATTEMPTED, PASSED, Verdict
from autograder.model import Lab, exercise_name

LAB = "work/01a_views/01a_views.ipynb"
RIGHT = """\
@exercise(rl.strided)
def element_offset(index, strides, storage_offset):
    return storage_offset + sum(i * stride for i, stride in zip(index, strides))"""
WRONG = RIGHT.replace("storage_offset + ", "")


@pytest.fixture(scope="module")
def course(tmp_path_factory):
    return Course(tmp_path_factory.mktemp("student"))


@pytest.fixture(scope="module")
def address(browser, course):
    with course.jupyterlab("autograder.cli", "lab", "01a", "--") as address:
        yield address


@pytest.fixture
def opened(page, address):
    """`opened(path)`: a notebook, in JupyterLab."""

    def opened(path):
        page.goto(f"{address}/lab/tree/{path}?token={TOKEN}&reset")
        return Notebook(page)

    return opened


@pytest.fixture
def solved(course):
    """The student's copy of the lab, on which the first piece is written."""
    lab = nbformat.read(course.place / "labs/01a_views/01a_views.ipynb", as_version=4)
    next(cell for cell in lab.cells if "def element_offset" in cell.source).source = RIGHT
    (course.place / LAB).parent.mkdir(parents=True, exist_ok=True)  # the first test alone opens the lab by the command
    nbformat.write(lab, course.place / LAB)


def test_a_wrong_answer_shows_its_smallest_case_and_a_right_one_passes(opened, page):
    lab = opened(LAB)
    assert page.locator(".Toastify__toast").count() == 0  # no question comes first
    bars = page.locator(".lm-MenuBar-itemLabel, .jp-SideBar .lm-TabBar-tab").all()
    names = {bar.get_attribute("data-id") or bar.inner_text() for bar in bars}
    assert "Kernel" in names and not [name for name in names if re.search("nbgrader|assignment|course", name, re.I)]
    page.locator('.jp-Notebook-ExecutionIndicator[data-status="idle"]').wait_for()
    assert page.locator(".jp-mod-dirty").count() == 0  # opened, and not changed
    said = lab.run('check("aten.strided.element_offset")').inner_text()  # as after a restart
    assert "check is made in a cell above that has not run in this kernel" in said
    lab.run("import rushlight as rl")
    assert lab.run("rl.draw.strides(").locator("img, svg").first.is_visible()
    lab.run("def element_offset", WRONG)
    shown = lab.run('check("aten.strided.element_offset")').inner_text()
    for part in ("cases agree with torch", "yours", "torch's", "replay"):
        assert part in shown
    lab.run("def element_offset", RIGHT)
    headline, *figures = lab.run('check("aten.strided.element_offset")').inner_text().strip().splitlines()
    assert re.fullmatch(r"✓ .*: all \d+ cases agree with torch", headline)
    assert re.fullmatch(
        rf"(\d+) of \1 points\s*in this session, lab 01a: 1 of {EXERCISES} exercises "
        rf"\({EXERCISES - 2} core and 2 further\) · \1 of {ALL:g} points",
        " ".join(figures),
    )
    lab.write("def element_offset", WRONG)
    said = lab.run('check("aten.strided.element_offset")').inner_text()
    assert "its cell has changed since you ran it" in said and "agree" not in said
    lab.run("def element_offset", WRONG.partition("\n")[2])
    assert "its cell ran without the line `@exercise`" in lab.run('check("aten.strided.element_offset")').inner_text()
    page.set_viewport_size({"width": 900, "height": 900})
    cells = page.locator(".jp-Notebook .jp-CodeCell .cm-scroller")
    assert cells.evaluate_all("all => all.filter(cell => cell.scrollWidth > cell.clientWidth).length") == 0


CHANGE = """\
import rushlight as rl
from autograder import exercise, patient
from autograder.notebook.working_copy import copy_of
copy = copy_of("15a.1")
copy.start("15a.1")
path = copy.folder / "torch/optim/adam.py"
path.write_text("# mine" + chr(10) + path.read_text())"""
MEND = """\
%%patch 15a.1
@exercise(rl.contribute.mend)
def mend_1():
    raise NotImplementedError()"""


@pytest.mark.sweep
def test_a_patch_of_pytorch_takes_the_place_of_the_body_in_its_cell(opened, course, page):
    notebook = new_notebook(cells=[new_code_cell(text) for text in (CHANGE, MEND, "print(mend_1())")])
    notebook.metadata.kernelspec = {"name": "python3", "display_name": "Python 3 (ipykernel)", "language": "python"}
    nbformat.write(notebook, course.place / "work/patch.ipynb")
    lab = opened("work/patch.ipynb")
    lab.run("copy_of")
    answer = page.locator(".jp-Notebook .jp-CodeCell", has_text="def mend_1").first.locator(".cm-content")
    answer.click()
    page.keyboard.press("Control+Enter")
    answer.get_by_text("+++ b/torch/optim/adam.py").wait_for()
    assert answer.inner_text().startswith("@exercise") and "NotImplementedError" not in answer.inner_text()
    assert "+# mine" in lab.run("print(mend_1())").inner_text()


# keys that take the answer apart, copy, merge or move it, from command mode in its cell
EDITS = {
    "split": "Enter ControlOrMeta+Home ArrowDown ArrowDown Control+Shift+Minus",
    "split at both ends": "Enter ControlOrMeta+End Control+Shift+Minus ArrowUp Enter ControlOrMeta+Home Control+Shift+Minus",
    "split and moved up": "Enter ControlOrMeta+Home ArrowDown ArrowDown Control+Shift+Minus Escape Control+Shift+ArrowUp",
    "copied": "c v",
    "copied, and the copy emptied": "c v Enter ControlOrMeta+A Delete",
    "merged with its check": "Shift+ArrowDown Shift+M",
    "merged into its check": "ArrowDown Shift+ArrowUp Shift+M",
    "moved down": "Control+Shift+ArrowDown Control+Shift+ArrowDown",
    "cut and undone": "x z",
    "deleted and undone": "d d z",
    "cut and pasted": "x v",
    "Markdown and back": "m y",
    "raw and back": "r y",
    "Markdown": "m",
    "pasted over a new cell": "c b v",
}


@pytest.mark.sweep  # `test_join.py` has notebooks that keys made
@pytest.mark.parametrize("edit", EDITS)
def test_no_key_loses_an_answer(opened, solved, course, page, edit):
    lab, path = opened(LAB), course.place / LAB
    lab.run("import rushlight as rl")
    page.locator(".jp-Notebook .jp-CodeCell", has_text="def element_offset").first.locator(".cm-content").click()
    before = path.read_text(encoding="utf-8")
    for key in ["Escape", *EDITS[edit].split()]:
        page.keyboard.press(key)
    page.keyboard.press("Escape")
    page.keyboard.press("ControlOrMeta+S")
    for _ in range(50):
        if (text := path.read_text(encoding="utf-8")) not in ("", before):
            break
        page.wait_for_timeout(100)
    cells = StudentNotebook(Lab("01a_views"), text).restored().cells
    answer = next(cell for cell in cells if exercise_name(cell) == "aten.strided.element_offset")
    assert ast.dump(ast.parse(RIGHT)) == ast.dump(ast.Module(ast.parse(answer.source).body[-1:], []))


VIEW = (
    "view: dtype float32  shape (3, 2)  stride (4, {0})  offset 1\n[[ 1.,  {1}.],\n [ 5.,  {2}.]]\nis x itself: False"
)
CARDS = {
    "view": Verdict(
        "aten.strided.slice",
        DISAGREED,
        138,
        92,
        message="view: stride: yours (4, 1), torch's (4, 2)",
        hint="a step of two skips every other element",
        case={"x": {"tensor": {"dtype": "float32", "storage": 12, "sizes": [3, 4], "strides": [4, 1], "offset": 0}}},
        program="def slice(xp, x):\n    return xp.strided.slice(x, 1, 1, 4, 2)",
        mine=VIEW.format(1, 2, 6),
        theirs=VIEW.format(2, 3, 7),
        mine_marks=[[35, 48], [67, 69], [80, 82]],
        theirs_marks=[[35, 48], [67, 69], [80, 82]],
        layouts=[[[3, 2], [4, 1], 1], [[3, 2], [4, 2], 1]],
    ),
    "exception": Verdict(
        "aten.strided.permute",
        DISAGREED,
        97,
        12,
        message="yours raises ValueError (<mine>), torch does not",
        case={"dims": [0]},
        program="def permute(xp, x, dims):\n    return x.permute(dims)",
        mine="ValueError: <mine>",
        theirs="line\n" * 30,
        mine_marks=[[0, 18]],
        frames=[["permute", 9, "return helper(dims)"], ["helper", 12, "raise ValueError('<mine>')"]],
    ),
    "not attempted": Verdict("aten.strided.expand", NOT_ATTEMPTED, message="its body is still to be written"),
    "passed": Verdict("aten.strided.select", PASSED, 105, 105),
}
REFUSED = '<div style="color:var(--a)"><svg></svg><i aria-label="b">c</i></div>'  # what JupyterLab takes out

# the styles that a page has kept of a card, and those that are in its source
STYLES = """(shown, source) => {
    const made = new DOMParser().parseFromString(source, "text/html").body.firstChild
    const styles = root => [root, ...root.querySelectorAll("*")].map(each => `${each.tagName} ${each.style.cssText}`)
    return [styles(shown), styles(made)]
}"""

# every text of a card, with the contrast of its colour and the ground that is painted below it
CONTRASTS = """root => {
    const parse = text => { const [r, g, b, a = 1] = text.match(/[\\d.]+/g).map(Number); return [r, g, b, a] }
    const over = (top, below) => [0, 1, 2].map(i => top[3] * top[i] + (1 - top[3]) * below[i])
    const ground = each => {
        const own = parse(getComputedStyle(each).backgroundColor)
        return own[3] === 1 || !each.parentElement ? over(own, [255, 255, 255]) : over(own, ground(each.parentElement))
    }
    const part = c => (c /= 255) <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4
    const luminance = c => 0.2126 * part(c[0]) + 0.7152 * part(c[1]) + 0.0722 * part(c[2])
    const found = [], texts = document.createTreeWalker(root, NodeFilter.SHOW_TEXT)
    while (texts.nextNode()) {
        const each = texts.currentNode.parentElement, below = ground(each)
        const pair = [below, over(parse(getComputedStyle(each).color), below)].map(luminance)
        found.push([texts.currentNode.data, (Math.max(...pair) + 0.05) / (Math.min(...pair) + 0.05)])
    }
    return found
}"""


@pytest.mark.sweep  # `test_card.py` has the tags that notebooks keep, and the contrasts
@pytest.mark.parametrize("theme", ["Dark", "Light"])
def test_a_card_keeps_its_styles_and_can_be_read_in_a_notebook_that_is_not_trusted(opened, course, page, shots, theme):
    settings = course.place.parent / "home/.jupyter/lab/user-settings/@jupyterlab/apputils-extension"
    settings.mkdir(parents=True, exist_ok=True)
    (settings / "themes.jupyterlab-settings").write_text(json.dumps({"theme": f"JupyterLab {theme}"}))
    sources = [card(verdict, 3, "lab 01a in this session: 5 of 9 pieces") for verdict in CARDS.values()]
    cells = [
        new_code_cell(f"# {name}", outputs=[new_output("display_data", {"text/html": source, "text/plain": "text"})])
        for name, source in zip([*CARDS, "refused"], [*sources, REFUSED])
    ]
    kernel = {"kernelspec": {"name": "python3", "display_name": "Python 3 (ipykernel)"}}
    nbformat.write(new_notebook(cells=cells, metadata=kernel), course.place / "work/cards.ipynb")
    page.set_viewport_size({"width": 1300, "height": 1400})
    opened("work/cards.ipynb")
    page.locator(f'body[data-jp-theme-light="{"true" if theme == "Light" else "false"}"]').wait_for(state="attached")
    shown = page.locator(".jp-RenderedHTML > div")
    shown.nth(len(CARDS)).wait_for()
    page.screenshot(path=shots / f"cards_{theme}.png")
    assert shown.nth(len(CARDS)).evaluate("each => each.outerHTML") == "<div><i>c</i></div>"  # the sanitizer was there
    for position, source in enumerate(sources):
        kept, made = shown.nth(position).evaluate(STYLES, source)
        assert kept == made and len(kept) > 5
        contrasts = shown.nth(position).evaluate(CONTRASTS)
        assert [each for each in contrasts if each[1] < 4.5] == [] and len(contrasts) > 3


@pytest.mark.sweep
def test_a_check_that_fails_stops_none_of_the_cells_below_and_an_error_does(opened, course, page):
    texts = [
        "from autograder import check",
        'check("aten.strided.permute")',
        "print('went', 'on')",
        "1 / 0",
        "print('no', 'more')",
    ]
    notebook = new_notebook(cells=[new_code_cell(text) for text in texts], metadata={"rushlight": {"lab": "01a_views"}})
    notebook.cells[1].metadata.rushlight = {"check": "aten.strided.permute"}
    notebook.metadata.kernelspec = {"name": "python3", "display_name": "Python 3 (ipykernel)", "language": "python"}
    nbformat.write(notebook, course.place / "work/all.ipynb")
    opened("work/all.ipynb")
    page.get_by_text("Run", exact=True).first.click()
    page.locator(".lm-Menu-itemLabel", has_text=re.compile("^Run All Cells$")).click()
    page.get_by_text("ZeroDivisionError: division by zero").wait_for()
    page.get_by_text("| Idle").wait_for()
    assert page.get_by_text("went on", exact=True).count() and not page.get_by_text("no more", exact=True).count()


@pytest.mark.sweep
def test_the_button_validate_lists_what_fails_and_only_that(opened, solved, page):
    opened(LAB)
    page.get_by_role("button", name="Validate").click()
    listed = page.get_by_role("dialog").filter(has_text="Validation Results").inner_text()
    assert 'check("aten.strided.contiguous_strides")' in listed
    assert 'check("aten.strided.element_offset")' not in listed


@pytest.mark.sweep
def test_a_notebook_for_playing_runs_on_the_pieces_that_are_written(opened, solved, course):
    cells = [
        new_code_cell('from autograder import check, use\nuse("work/")'),
        new_code_cell('check("aten.strided.element_offset")'),
    ]
    kernel = {"kernelspec": {"name": "python3", "display_name": "Python 3 (ipykernel)"}}
    nbformat.write(new_notebook(cells=cells, metadata=kernel), course.place / "work/playing.ipynb")
    playing = opened("work/playing.ipynb")
    assert f"1 of {EXERCISES} pieces are yours" in playing.run("use(").inner_text()
    assert "✓" in playing.run("check(").inner_text()


@pytest.mark.sweep
def test_status_counts_pieces_and_points_with_a_bar(course, solved):
    without = ["--no-sandbox"] if sandbox.missing() else []
    table = course.run("autograder.cli", "status", *without)
    for lab, passed, earned in (("00_trace", 0, 0), ("01a_views", 1, 2)):
        checks, worth = Lab(lab).points, Lab(lab).all_points
        line = rf"^{lab} .*{passed} / {len(checks)}  {'█+' * passed}░+ .*{earned} / {worth:g}$"
        assert re.search(line, table, re.MULTILINE)
