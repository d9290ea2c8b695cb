"""JupyterLab as a student meets it."""

import re

import nbformat
import pytest
from course import TOKEN, Course
from nbformat.v4 import new_code_cell, new_notebook

from autograder import sandbox

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
    nbformat.write(lab, course.place / LAB)


class Notebook:
    """A notebook, as it is open in JupyterLab."""

    def __init__(self, page):
        self.page = page
        page.get_by_text("Python 3 (ipykernel) | Idle").wait_for()

    def run(self, text, source=None):
        """Run the cell with this text in it, or with this source in the place of its own. Returns what comes out."""
        cell = self.page.locator(".jp-Notebook .jp-CodeCell", has_text=text).first
        cell.wait_for()
        if (folded := cell.locator(".jp-InputPlaceholder .jp-Placeholder-content")).count():
            folded.click()
        cell.locator(".cm-content").click()
        if source:
            self.page.keyboard.press("ControlOrMeta+A")
            self.page.keyboard.insert_text(source)
        cell.evaluate("cell => cell.querySelector('.jp-InputPrompt').textContent = ''")
        self.page.keyboard.press("Control+Enter")
        cell.locator(".jp-InputPrompt", has_text=re.compile(r"\d")).wait_for()
        return cell.locator(".jp-OutputArea")


def test_a_wrong_answer_shows_its_smallest_case_and_a_right_one_passes(opened, page):
    lab = opened(LAB)
    assert page.locator(".Toastify__toast").count() == 0  # no question comes first
    lab.run("import rushlight as rl")
    assert lab.run("rl.draw.strides(").locator("img, svg").first.is_visible()
    lab.run("def element_offset", WRONG)
    shown = lab.run('check("strided.element_offset")').inner_text()
    for part in ("cases agree with torch", "yours", "torch's", "differs", "replay"):
        assert part in shown
    lab.run("def element_offset", RIGHT)
    assert re.fullmatch(
        r"\s*✓ .*: all \d+ cases agree with torch\s*", lab.run('check("strided.element_offset")').inner_text()
    )


@pytest.mark.sweep
def test_the_button_validate_lists_what_fails_and_only_that(opened, solved, page):
    opened(LAB)
    page.get_by_role("button", name="Validate").click()
    listed = page.get_by_role("dialog").filter(has_text="Validation Results").inner_text()
    assert 'check("strided.contiguous_strides")' in listed
    assert 'check("strided.element_offset")' not in listed


@pytest.mark.sweep
def test_a_notebook_for_playing_runs_on_the_pieces_that_are_written(opened, solved, course):
    cells = [
        new_code_cell('from autograder import check, use\nuse("work/")'),
        new_code_cell('check("strided.element_offset")'),
    ]
    kernel = {"kernelspec": {"name": "python3", "display_name": "Python 3 (ipykernel)"}}
    nbformat.write(new_notebook(cells=cells, metadata=kernel), course.place / "work/playing.ipynb")
    playing = opened("work/playing.ipynb")
    assert "1 of 9 pieces are yours" in playing.run("use(").inner_text()
    assert "✓" in playing.run("check(").inner_text()


@pytest.mark.sweep
def test_status_counts_pieces_and_points_with_a_bar(course, solved):
    without = ["--no-sandbox"] if sandbox.missing() else []
    table = course.run("autograder.cli", "status", *without)
    assert re.search(r"^00_trace .*0 / 8  ░{20} .*0 / ", table, re.MULTILINE)
    assert re.search(r"^01a_views .*1 / 9  █+░+  .*2 / 26", table, re.MULTILINE)
