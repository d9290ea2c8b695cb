"""Formulas on the pages that nbgrader makes: MathML, and nothing from another host."""

import nbformat
import pytest
from nbconvert.exporters import HTMLExporter
from nbformat.v4 import new_markdown_cell, new_notebook
from sweep import sweep
from traitlets.config import Config

from autograder.classroom.plugin import configure
from autograder.course import RELEASED
from autograder.model import lab_names


@pytest.fixture
def page(tmp_path, monkeypatch):
    """`page(notebook)`: a notebook as HTML, with nbgrader's configuration here."""
    monkeypatch.setenv("RUSHLIGHT_CLASSROOM", str(tmp_path))
    config = Config()
    configure(config)
    exporter = HTMLExporter(config=config)
    return lambda notebook: exporter.from_notebook_node(notebook)[0]


def test_formulas_of_the_course_are_mathml_and_code_is_left_alone(page):
    shown = page(new_notebook(cells=[new_markdown_cell("With $x_i$ dollars, `$HOME` and\n\n$$\\sum_k x_k$$")]))
    assert shown.count("<math") == 2 and 'display="block"' in shown
    assert "$HOME" in shown


@pytest.mark.parametrize(
    "text",
    [
        "[a](../../manage_students/x)",
        "![a](../../../logout)",
        "<https://e.org>",
        "[a][b]\n\n[b]: /logout",
        "https://e.org/l",
    ],
)
def test_a_student_writes_neither_links_nor_pictures(page, text):
    shown = page(new_notebook(cells=[new_markdown_cell(text, id="added-3-0")]))
    body = shown[shown.index("<body") :]
    assert "href=" not in body and "<img" not in body
    assert (
        page(new_notebook(cells=[new_markdown_cell("[a](https://e.org)", id="given")])).count('href="https://e.org"')
        == 1
    )


@pytest.mark.parametrize("lab", sweep(lab_names(), every=25))
def test_every_formula_of_a_lab_can_be_converted(page, lab):
    notebook = nbformat.read(RELEASED / lab / f"{lab}.ipynb", as_version=4)
    notebook.cells = [cell for cell in notebook.cells if cell.cell_type == "markdown"]
    assert "merror" not in page(notebook)


@pytest.mark.parametrize(
    "by_a_student", [{"id": "added-3-0"}, {"metadata": {"nbgrader": {"solution": True}}}], ids=["added", "answered"]
)
def test_what_a_student_wrote_stays_as_it_was_typed(page, by_a_student):
    cell = new_markdown_cell(r"$\text{&lt;script&gt;alert(1)&lt;/script&gt;}$", **by_a_student)
    shown = page(new_notebook(cells=[cell]))
    assert "<math" not in shown and "<script>alert" not in shown
