"""Pictures in written answers: what the page of feedback and the page for marking show of them."""

import copy
import json
from base64 import b64encode

import nbformat
import pytest

from autograder.classroom import pictures
from autograder.classroom.formulas import markdown2html
from autograder.classroom.restore import StudentNotebook
from autograder.model import Lab

LAB, KEY = "01a_views", "question-a-row-that-keeps-a-matrix"
STARTS = {"png": b"\x89PNG\r\n\x1a\n", "jpeg": b"\xff\xd8\xff", "gif": b"GIF89a", "webp": b"RIFF1234WEBP"}
SVG = b"<svg xmlns='http://www.w3.org/2000/svg' onload='alert(1)'/>"


def encoded(data):
    return b64encode(data).decode()


@pytest.fixture
def answer():
    """`answer(source, attachments)`: the restored cell of a written answer."""

    def answer(source, attachments=None, kind=KEY):
        notebook = copy.deepcopy(Lab(LAB).release.nodes)
        cell = next(cell for cell in notebook.cells if cell.id == KEY)
        if kind != KEY:
            cell = nbformat.v4.new_markdown_cell(id="mine")
            notebook.cells.append(cell)
        cell.source = source
        if attachments is not None:
            cell.attachments = attachments
        restored = StudentNotebook(Lab(LAB), json.dumps(notebook)).restored()
        nbformat.validate(restored)
        return restored.cells[-1] if kind != KEY else next(cell for cell in restored.cells if cell.id == KEY)

    return answer


def shown(cell):
    return markdown2html({"cell": cell}, cell.source)


@pytest.mark.parametrize("where", [KEY, "an added cell"])
@pytest.mark.parametrize("kind", STARTS)
def test_a_pasted_picture_is_shown_whatever_the_notebook_says_of_its_type(answer, kind, where):
    data = encoded(STARTS[kind] + bytes(9))
    for source in ("So: ![a](attachment:my%20image.png) it is", "<img src='attachment:my image.png'>", "no word of it"):
        cell = answer(source, {"my image.png": {"image/svg+xml": [data[:8], data[8:]]}}, where)
        page = shown(cell)
        assert page.count("<img") == 1 and f'src="data:image/{kind};base64,{data}"' in page and "svg" not in page


def test_a_picture_as_data_in_the_text_is_shown_and_does_not_count_as_text(answer):
    data = encoded(STARTS["png"] + bytes(50_000))
    page = shown(answer(f"See ![x](data:image/png;base64,{data}) here"))
    assert f'src="data:image/png;base64,{data}"' in page and "too long" not in page


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (SVG, "no PNG, JPEG, GIF or WebP picture"),
        (b"<html>" + STARTS["png"], "no PNG, JPEG, GIF or WebP picture"),
        (STARTS["png"] + bytes(2 << 20), "more than 2 MB"),
    ],
    ids=["svg", "html", "large"],
)
def test_a_file_that_is_not_shown_is_named(answer, data, reason):
    for name in ("image.png", "<b>[x](y)"):
        cell = answer("![a](attachment:image.png)", {name: {"image/png": encoded(data)}})
        assert "attachments" not in cell and "<img" not in shown(cell) and "<b>" not in shown(cell)
        assert f"(left out: {pictures._plain(name)}: {reason})" in cell.source
    assert f"left out: {reason}" in answer(f"![a](data:image/png;base64,{encoded(data)})").source


def test_all_pictures_of_a_notebook_have_a_limit(answer, monkeypatch):
    monkeypatch.setattr(pictures, "MAX_PICTURES", (2, 100))
    few = {f"{i}.png": {"image/png": encoded(STARTS["png"] + bytes([i]))} for i in range(4)}
    large = {f"{i}.png": {"image/png": encoded(STARTS["png"] + bytes([i] * 80))} for i in range(2)}
    for given, kept in ((few, 2), (large, 1)):
        cell = answer("Two pictures.", given)
        assert len(cell.attachments) == kept and cell.source.count("left out") == len(given) - kept


@pytest.mark.parametrize(
    "attachments",
    [7, ["x"], {"a": 7}, {"a": {}}, {"a": {"image/png": 7}}, {"a": {"image/png": "\u1234 not base64"}}, {"a": None}],
)
def test_attachments_may_be_anything(attachments):
    notebook = copy.deepcopy(Lab(LAB).release.nodes)
    next(cell for cell in notebook.cells if cell.id == KEY)["attachments"] = attachments
    assert not [
        cell for cell in StudentNotebook(Lab(LAB), json.dumps(notebook)).restored().cells if "attachments" in cell
    ]


def test_two_answers_with_different_pictures_are_different_texts(answer):
    one, same, other = (
        answer("![a](attachment:a.png)", {"a.png": {"image/png": encoded(STARTS["png"] + bytes([i]))}})
        for i in (1, 1, 2)
    )
    assert one.source == same.source != other.source


def test_a_cell_that_nbgrader_alone_restored_shows_pictures_only():
    given = {"a.svg": {"image/svg+xml": SVG.decode()}, "b.png": {"image/png": encoded(SVG) + '" onload="alert(1)'}}
    source = "![a](attachment:a.svg) ![b](attachment:b.png) ![c](attachment:c.png) ![d](https://example.org/d.png)"
    solution = {"nbgrader": {"solution": True}}
    page = shown(nbformat.v4.new_markdown_cell(source, metadata=solution, attachments=given))
    assert "<img" not in page and "onload" not in page and "(https://example.org/d.png)" in page
