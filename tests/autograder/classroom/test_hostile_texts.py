"""One submission never ends a command for the class, whatever its text is: hostile texts, and an honest student beside them.

A text is read outside the sandbox too: when it is restored, compared, shown and marked by hand. In `make test` no code of a hostile
student runs, because that is what `tests/attacks` is for.
"""

import copy
import csv
import json
import os

import nbformat
import pytest
from conftest import Marker
from nbformat.v4 import new_code_cell, new_markdown_cell
from nbgrader.converters.base import NbGraderException
from sweep import swept

from autograder import cli
from autograder.classroom import grade as grading
from autograder.classroom import sample, watch
from autograder.classroom.gradebook import open_gradebook
from autograder.classroom.plugin import Restore
from autograder.classroom.written import question_of, state
from autograder.cli.grading import grade_lab
from autograder.course import RELEASED, SOURCES
from autograder.engine.verdict import NOT_ATTEMPTED, Verdict
from autograder.model import Lab, Submission, check_name, exercise_name

LAB = sample.LAB
HONEST = "honest"
POINTS = sum(Lab(LAB).points.values())
ELIF = "".join(f"    elif dims == {n}:\n        return {n}\n" for n in range(400))
WORDS = "the row is a view of the matrix and "

# What takes the place of `permute`'s body: it is parsed, and its tree is walked.
BODIES = {
    "attributes": "return a" + ".b" * 1500 + "(storage)",
    "calls": "return permute" + "()" * 3000,
    "indices": "return dims" + "[0]" * 2900,
    "signs": "return " + "-" * 15_000 + "1",
    "sum": "return " + "1+" * 7000 + "1",
    "powers": "return " + "1**" * 2900 + "1",
    "lambdas": "return " + "lambda: " * 1800 + "1",
    "branches": "if dims == -1:\n        return -1\n" + ELIF + "    else:\n        return 0",
    "brackets": "return " + "[" * 190 + "]" * 190,
    "blocks": "\n".join("    " * n + "if dims:" for n in range(1, 90)).strip() + "\n" + "    " * 90 + "return dims",
    "digits": "return " + "9" * 5000,
    "hexadecimal": "return 0x" + "f" * 15_000,
    "nul": "return '\0'",
    "surrogate": "return '\ud800'  # \udfff",
    "separators": "return (dims,\f\x0b\x1c\u2028\u2029\x85\r\n    0)\r@exercise(rl)\rdef permute(self): 0\r",
    "letters": "return ｓｅｌｆ.ﬁle",
    "unclosed": 'return """' + "(" * 15_000,
    "functions": "".join(f"def f{n}(): 0\n    " for n in range(1000)),
}


# What changes a notebook, or takes the place of its text.
def a_hundred_thousand_functions(notebook):
    functions = [f"def f{n}(): 0\n" for n in range(100_000)]
    notebook.cells += [new_code_cell("".join(functions[n : n + 1000])) for n in range(0, 100_000, 1000)]


def one_line(notebook):
    answer(notebook).source += "    x = " + "1, " * 1_500_000


def blanks(notebook):
    answer(notebook).source += " " * 5_000_000 + "\n" + "\t" * 1_000_000


def one_answer_in_many_cells(notebook):
    line = "".join(f"a{n} = undefined{n}\n" for n in range(900))
    own, index = answer(notebook), notebook.cells.index(answer(notebook))
    notebook.cells[index + 1 : index + 1] = [own | {"source": f"{line}# {n}"} for n in range(400)]


def pieces_below_every_answer(notebook):
    line = "".join(f"a{n} = undefined{n}\n" for n in range(800))
    for cell in [cell for cell in notebook.cells if exercise_name(cell)]:
        cell.source, index = "def f(:\n    return (\n", notebook.cells.index(cell)
        notebook.cells[index + 1 : index + 1] = [new_code_cell(f"{line}# {n}") for n in range(9)]


def cells_without_number(notebook):
    notebook.cells += [{"cell_type": "code"}] * 200_000


def deep_source(notebook):
    answer(notebook).source = ["DEEP", 7, None, ["x"], {"a": 1}]
    return json.dumps(notebook).replace('"DEEP"', "[" * 300 + "]" * 300)


def deep_metadata(notebook):
    notebook.metadata.rushlight = {"release": "DEEP", "language": ["DEEP"]}
    answer(notebook).metadata.nbgrader.grade_id = "DEEP"
    notebook.cells.append({"cell_type": "code", "metadata": {"rushlight": 7, "nbgrader": "DEEP"}, "source": None})
    return json.dumps(notebook).replace('"DEEP"', "[" * 300 + "]" * 300)


def long_count(notebook):
    return json.dumps(notebook).replace('"execution_count": null', f'"execution_count": {"9" * 5000}', 1)


def huge_outputs(notebook):
    answer(notebook).outputs = [{"output_type": "stream", "name": "stdout", "text": ["x\n"] * 1_000_000}]


def the_same_id(notebook):
    for cell in notebook.cells:
        cell.id = notebook.cells[0].id
        cell.metadata.get("nbgrader", {}).update(grade_id="permute")


def other_grade_ids(notebook):
    for cell in notebook.cells:
        if "nbgrader" in cell.metadata:
            cell.metadata.nbgrader = {"grade_id": ["permute"], "points": 1e308, "grade": "yes", "solution": [1]}


def deep_markdown(notebook):
    written(notebook).source = "> - " * 2000 + "[" * 5000 + "**a *b " * 1000
    notebook.cells += [
        new_markdown_cell(text * (9_000 // len(text))) for text in ("> ", "![", "`", "1. ", "<b>", "\\begin{a}")
    ]


def words_again_and_again(notebook):
    written(notebook).source = WORDS * 400 + "a"


def words_once_more(notebook):
    written(notebook).source = WORDS * 400 + "b"


def a_list(notebook):
    return json.dumps([notebook])


def a_number(notebook):
    return "7"


def only_brackets(notebook):
    return "[" * 100_000


def no_unicode(notebook):
    return json.dumps(notebook).encode("utf-16")


def a_pipe(path):
    os.mkfifo(path)


def a_link(path):
    path.symlink_to("/etc/passwd")


def a_folder(path):
    path.mkdir()


CHANGES = [a_hundred_thousand_functions, one_line, blanks, one_answer_in_many_cells, pieces_below_every_answer]
CHANGES += [cells_without_number, deep_source, deep_metadata, long_count, huge_outputs, the_same_id, other_grade_ids]
CHANGES += [deep_markdown, words_again_and_again, words_once_more, a_list, a_number, only_brackets, no_unicode]
FILES = [a_pipe, a_link, a_folder]
ALL = [*BODIES, *(change.__name__ for change in [*CHANGES, *FILES])]


def answer(notebook):
    return next(cell for cell in notebook.cells if exercise_name(cell) == "aten.strided.permute")


def written(notebook):
    return next(cell for cell in notebook.cells if cell.cell_type == "markdown" and "nbgrader" in cell.metadata)


def hand_in(path, name, released):
    """Write the file of the hostile student with this name."""
    path.parent.mkdir(parents=True)
    notebook, texts = copy.deepcopy(released), {change.__name__: change for change in CHANGES}
    if name in (files := {make.__name__: make for make in FILES}):
        return files[name](path)
    if name in BODIES:
        cell = answer(notebook)
        cell.source = cell.source[: cell.source.index("    # YOUR CODE HERE")] + f"    {BODIES[name]}\n"
    text = (texts[name](notebook) if name in texts else None) or json.dumps(notebook)
    path.write_bytes(text if isinstance(text, bytes) else text.encode())


def hand_in_all(folder, names):
    released, solved = (nbformat.read(place / LAB / f"{LAB}.ipynb", as_version=4) for place in (RELEASED, SOURCES))
    for name in names:
        hand_in(folder / name / LAB / f"{LAB}.ipynb", name, released)
    path = folder / HONEST / LAB / f"{LAB}.ipynb"
    path.parent.mkdir(parents=True)
    path.write_text(sample.all_right(released, sample.answers(solved)), encoding="utf-8")


class Reader(Marker):
    """Marks the honest student's notebook. The others it reads, and runs nothing."""

    def _marked(self, given, *more):
        with pytest.MonkeyPatch.context() as patch:
            if given["student"] != HONEST:
                patch.setattr(grading, "run", nothing)
            return super()._marked(given, *more)


def nothing(notebook, lab, *_):
    notebook.metadata["graded_with"] = {}
    for cell in notebook.cells:
        cell |= {"outputs": []} if cell.cell_type == "code" else {}
    return {name: Verdict(name, NOT_ATTEMPTED) for cell in lab.released["cells"] if (name := check_name(cell))}


def rushlight(*words):
    return cli.app.main([*words], prog_name="rushlight", standalone_mode=False)


QUICK = ["attributes", "deep_source", "words_again_and_again", "words_once_more", "a_pipe"]


@pytest.fixture(scope="module", params=[QUICK, swept(ALL)], ids=["some", "all"])
def hostile(request, tmp_path_factory, isolated, drawn_once, feedback, empty_gradebook):
    """The names of the hostile students of a class that `rushlight grade` has graded."""
    place = tmp_path_factory.mktemp("hostile")
    (place / "seed").write_text("1")
    hand_in_all(place / "submitted", request.param)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("RUSHLIGHT_CLASSROOM", str(place))
        patch.setattr(grading, "markers", lambda jobs: feedback)
        grade_lab(Lab(LAB), False, False, 1, Reader())
        yield request.param


def table_rows():
    with (Lab(LAB).course.folder / f"marks-{LAB}.csv").open(encoding="utf-8") as file:
        return {row["student"]: row for row in csv.DictReader(file)}


@pytest.mark.sweep
def test_each_has_a_row_with_the_reason_and_the_honest_one_has_the_points(hostile):
    rows = table_rows()
    assert rows.keys() == {*hostile, HONEST}
    assert (float(rows[HONEST]["total"]), rows[HONEST]["remark"]) == (POINTS, "")
    for name in hostile:
        remark = rows[name]["remark"]
        assert TOLD.get(name, "") in remark and remark and "not the student's fault" not in remark, name
        assert rows[name]["total"] in ("0.0", "not graded"), name
    report = (Lab(LAB).course.folder / f"report-{LAB}.html").read_text(encoding="utf-8")
    assert [name for name in rows if f'data-key="{name}"' not in report] == []


TOLD = {
    "attributes": "permute: left out: it nests too deep to be graded",
    "pieces_below_every_answer": "left out: all cells together are too long to be graded",
    "cells_without_number": "of the added cells are left out, too many to be graded",
    "one_line": "characters, too long to be graded",
    "a_pipe": "is a link, a pipe or a device",
}


@pytest.mark.sweep
def test_the_honest_one_has_a_page_of_feedback_and_so_has_each_that_is_graded(hostile):
    graded = [name for name in [*hostile, HONEST] if Submission(Lab(LAB), name).graded_path.exists()]
    pages = [Submission(Lab(LAB), name).page.read_text(encoding="utf-8") for name in graded]
    assert HONEST in graded and [page.rstrip()[-7:] for page in pages] == ["</html>"] * len(graded)


@pytest.mark.sweep
def test_each_is_read_by_the_step_in_nbgrader_or_refused_in_a_line(hostile):
    for name in hostile:
        given = {"nbgrader": {"notebook": LAB, "student": name}}
        try:
            notebook, _ = Restore().preprocess(nbformat.v4.new_notebook(), given)
            assert notebook.metadata["restored"]
        except NbGraderException as error:
            assert str(error).isprintable(), name


@pytest.mark.sweep
def test_answers_of_the_others_are_compared(hostile, capsys):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("autograder.classroom.alike.pairs", lambda answers, published: students.extend(answers) or [])
        students = []
        with pytest.raises(LookupError, match="no two submissions"):
            rushlight("alike", LAB)
    assert HONEST in {answer.student for answer in students}


@pytest.mark.sweep
def test_the_list_of_what_can_be_asked_about_has_a_line_for_each(hostile, capsys):
    assert rushlight("oral", LAB) == 0
    lines = {line.partition(": ")[0]: line for line in capsys.readouterr().out.splitlines()}
    assert lines.keys() == {*hostile, HONEST, "all of them"} and "permute" in lines[HONEST]


@pytest.mark.sweep
def test_one_student_is_explained_whatever_the_others_are(hostile, capsys):
    assert rushlight("explain", LAB, HONEST, "permute") == 0
    assert "every verdict holds" in capsys.readouterr().out


@pytest.mark.sweep
def test_marks_and_feedback_are_packed(hostile, capsys, tmp_path):
    assert rushlight("marks", "--out", str(tmp_path / "marks.csv")) == 0
    with (tmp_path / "marks.csv").open(encoding="utf-8") as file:
        marks = {row["id"]: row[LAB] for row in csv.DictReader(file)}
    assert marks[HONEST] == f"{POINTS}.0"
    assert rushlight("feedback", LAB) in (0, 1) and f"not packed: {HONEST}" not in capsys.readouterr().out


@pytest.mark.sweep
def test_written_answers_of_all_are_on_the_page_to_be_marked(hostile):
    key = written(Lab(LAB).release.nodes).metadata.nbgrader.grade_id
    with open_gradebook() as gradebook:
        shown = state(question_of(Lab(LAB), key), gradebook)
    assert len(shown["entries"]) == len({HONEST, *WRITTEN} & {HONEST, *hostile})


WRITTEN = ("words_again_and_again", "words_once_more", "deep_markdown")


@pytest.mark.sweep  # which grades as above
def test_each_that_arrives_is_taken_by_watching(hostile, tmp_path, monkeypatch, feedback):
    hand_in_all(tmp_path / "arriving", hostile)
    (tmp_path / "class").mkdir()
    (tmp_path / "class" / "seed").write_text("1")
    monkeypatch.setenv("RUSHLIGHT_CLASSROOM", str(tmp_path / "class"))
    monkeypatch.setattr(watch, "SETTLED", 0)
    monkeypatch.setattr(watch, "BATCH", 100)
    monkeypatch.setattr(watch, "markers", lambda jobs: Reader())
    lines = []
    watching = watch.Watch([Lab(LAB)], tmp_path / "arriving", jobs=1, say=lines.append)
    watching.look()
    said = "\n".join(lines)
    assert f"{HONEST}, attempt 1: {POINTS:g} of {POINTS:g} points" in said
    assert [name for name in hostile if name not in said and name not in ("a_folder", "a_pipe", "a_link")] == []
