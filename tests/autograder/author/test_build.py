import ast
import json
import re
import sys
from pathlib import Path

import nbformat
import pytest
from sweep import in_one_test

from autograder import course
from autograder.author import build
from autograder.author.build import BuildError, exercise_source
from autograder.engine.check import CLINIC, SKIPPED_TAGS, find, is_milestone, registry
from autograder.model import Course, Lab, check_name, is_further, lab_names


@in_one_test
@pytest.mark.parametrize("name", build.sources())
def test_the_committed_notebooks_equal_a_rebuild(name):
    assert build.stale(name) == []


@in_one_test
@pytest.mark.parametrize("name", build.sources())
def test_the_committed_notebooks_are_valid_with_their_outputs(name):
    for folder in (course.SOURCES, course.RELEASED, course.READINGS):
        for path in (folder / name).glob("*.ipynb"):
            nbformat.validate(nbformat.from_dict(json.loads(path.read_text(encoding="utf-8"))))


@pytest.mark.parametrize("lab", lab_names())
def test_the_students_notebook_holds_no_answer(lab, answers):
    text = (course.RELEASED / lab / f"{lab}.ipynb").read_text()
    assert "BEGIN SOLUTION" not in text
    released = nbformat.reads(text, as_version=4)
    by_id = {cell.id: cell.source for cell in released.cells}
    for cell_id, answer in answers.items():
        assert answer not in text and ("YOUR CODE HERE" in by_id[cell_id] or "YOUR ANSWER HERE" in by_id[cell_id])


@in_one_test
@pytest.mark.parametrize("lab", lab_names())
def test_ids_keep_to_the_letters_that_nbformat_and_nbgrader_allow(lab):
    cells = nbformat.read(course.SOURCES / lab / f"{lab}.ipynb", as_version=4).cells  # it equals a rebuild
    ids = [cell.id for cell in cells] + [c.metadata.nbgrader.grade_id for c in cells if "nbgrader" in c.metadata]
    assert all(re.fullmatch(r"[a-zA-Z0-9_-]{1,64}", key) for key in ids)


@in_one_test
@pytest.mark.parametrize("lab", lab_names())
def test_the_checks_of_a_lab_are_those_of_its_exercises(lab):
    checks = [check for check in registry().values() if check.lab == lab and not is_milestone(check.name)]
    assert {*Lab(lab).exercises} == {check.exercise for check in checks}


@in_one_test
@pytest.mark.parametrize("lab", lab_names())
def test_every_exercise_of_a_lab_has_two_hints_and_its_effort(lab):
    text = (course.SOURCES / lab / f"{lab}.md").read_text(encoding="utf-8")
    for after in text.split('```python exercise="')[1:]:
        assert re.match(r'[\w.]+" points=\d+ minutes=\d+ stars=[123]( further=true)?( case=\{.+\})?\n```\n', after), (
            after[:80]
        )
        assert re.findall(r"<details><summary>(Hint \d)</summary>", after) == ["Hint 1", "Hint 2"], after[:80]


@in_one_test
@pytest.mark.parametrize("lab", lab_names())
def test_a_lab_is_one_sitting_of_twenty_to_forty_points(lab):
    effort = build.effort_of(Lab(lab))
    first = "".join(Lab(lab).released["cells"][0]["source"])
    assert first.endswith(effort.in_words())  # which the builder adds up from the cells
    assert 80 <= effort.minutes[False] <= 135 and sum(effort.minutes) <= 185
    assert 20 <= sum(effort.points) <= 40


@in_one_test
@pytest.mark.parametrize("lab", lab_names())
def test_a_lab_has_one_milestone_with_points_after_all_exercises(lab):
    graded = [*Lab(lab).points]
    assert [*filter(is_milestone, graded)] == graded[-1:] and Lab(lab).points[graded[-1]] == 2
    assert find(graded[-1]).lab == lab
    (milestone,) = (cell for cell in Lab(lab).released["cells"] if check_name(cell) == graded[-1])
    assert not is_further(milestone)


def _imported(source):
    """What a source imports, by full names."""
    for part in ast.walk(ast.parse(source)):
        if isinstance(part, ast.ImportFrom):
            yield from (f"{part.module}.{alias.name}" for alias in part.names)
        elif isinstance(part, ast.Import):
            yield from (alias.name for alias in part.names)


@in_one_test
@pytest.mark.parametrize("lab", lab_names())
def test_what_a_cell_shows_to_an_answer_is_there_in_grading(lab):
    """Grading does not run cells of real torch, so a name that only such a cell imports is a NameError in an answer. Cells that are
    folded away show no names. In the clinic, answers are programs on torch, and a cell that only defines something is run too."""
    clinic, usable = lab.startswith(CLINIC), {*sys.stdlib_module_names, "numpy"}
    run, skipped = set(), []
    for cell in nbformat.read(course.SOURCES / lab / f"{lab}.ipynb", as_version=4).cells:
        tags = {*cell.metadata.get("tags", ())}
        if cell.cell_type != "code" or {"setup", "figure"} & tags or re.search("^[%!]", cell.source, re.MULTILINE):
            continue
        if SKIPPED_TAGS & tags:
            skipped.append(cell.source)
        else:
            run.update(_imported(cell.source))
    for source in skipped:
        assert {name for name in _imported(source) if clinic or name.partition(".")[0] in usable} <= run
        assert not clinic or {*map(type, ast.parse(source).body)} - {ast.FunctionDef, ast.ClassDef}


def test_an_exercise_is_its_signature_its_contract_and_its_marked_body():
    source = exercise_source("aten.strided.element_offset")
    assert source.startswith('def element_offset(index, strides, storage_offset):\n    """')
    assert source.index("TensorAccessor") < source.index("### BEGIN SOLUTION") < source.index("### END SOLUTION")
    compile(source, "cell", "exec")


@pytest.fixture
def lab_source(tmp_path, monkeypatch):
    monkeypatch.setattr(course, "SOURCES", tmp_path)

    def write(text):
        (tmp_path / "09_test").mkdir()
        (tmp_path / "09_test" / "09_test.md").write_text(
            "---\njupyter:\n  kernelspec:\n    display_name: Python 3\n    language: python\n    name: python3\n---\n\n"
            + text
        )
        return "09_test"

    return write


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('```python exercise="strided.nothing" minutes=5 stars=1\n```\n', "no function strided.nothing"),
        (
            '```python exercise="aten.strided.permute" points=2 stars=1\n```\n',
            "aten.strided.permute has no `minutes` or no `stars`",
        ),
        ('```python exercise="aten.strided.permute" minutes=5 stars=1\nx = 1\n```\n', "must be empty"),
        ('```python check="strided.nothing"\n```\n', "there is no check 'strided.nothing'"),
        (
            '```python exercise="aten.strided.infer_size" minutes=5 stars=1\n```\n',
            "a docstring with `Rules:` and an exercise with `case` belong together",
        ),
        (
            '```python exercise="aten.strided.permute" minutes=5 stars=1 case={"x": 1}\n```\n',
            "a docstring with `Rules:` and an exercise with `case` belong together",
        ),
        (
            '```python exercise="aten.strided.infer_size" minutes=5 stars=1 case={"a": [], "b": []}\n```\n\n```python\nx\n```\n',
            "the hints must follow the exercise that has rules",
        ),
        ("# Same\n\n```python\nx\n```\n\n# Same\n\n```python\ny\n```\n", "different names"),
    ],
)
def test_a_source_that_cannot_be_built_is_refused_with_the_reason(lab_source, text, words):
    with pytest.raises(BuildError, match=re.escape(words)):
        build.solution(Lab(lab_source(text)))


def test_cells_that_prepare_or_draw_are_folded(lab_source):
    source = "\n".join(f'```python tags=["{tag}"]\nx\n```\n' for tag in ("setup", "figure", "torch"))
    cells = build.solution(Lab(lab_source(source))).cells
    assert [cell.metadata.get("jupyter") for cell in cells] == [{"source_hidden": True}] * 2 + [None]


def test_the_strip_marks_the_layers_where_a_reading_is_and_refuses_others():
    strip = build.strip(["autograd", "compiler"])
    assert re.findall("<mark><b>(.+?)</b></mark>", strip) == ["autograd", "compiler"]
    assert all(layer in strip for layer in build.LAYERS)
    with pytest.raises(BuildError, match="no layer 'moon'"):
        build.strip(["moon"])


def test_a_reading_is_executed_only_if_its_code_has_changed(lab_source, tmp_path, monkeypatch):
    monkeypatch.setattr(build, "READINGS", tmp_path / "READINGS")
    monkeypatch.setattr(course, "RELEASED", tmp_path / "RELEASED")
    lab = lab_source("# A lab\n")
    runs = []
    monkeypatch.setattr(build, "execute", lambda notebook: runs.append(notebook) or _with_output(notebook, len(runs)))
    reading = tmp_path / "READINGS" / lab / "reading.md"
    reading.parent.mkdir(parents=True)
    steps = ("One.", "2"), ("Two.", "2"), ("Two.\n\n```python\ny\n```", "3")  # the first run is the lab's
    for text, outputs in steps:
        reading.write_text(f"# A reading\n\n{text}\n\n```python\nx\n```\n")
        build.build(lab)
        cells = nbformat.read(reading.with_suffix(".ipynb"), as_version=4).cells
        assert {each.text for cell in cells if cell.cell_type == "code" for each in cell.outputs} == {outputs}
        assert any(text.split()[0] in cell.source for cell in cells)


def _with_output(notebook, number):
    for cell in notebook.cells:
        if cell.cell_type == "code":
            cell.outputs = [nbformat.v4.new_output("stream", text=str(number))]
    return notebook


def test_a_lab_is_found_by_its_number_or_its_name():
    assert Course().find_lab("1a") == Course().find_lab("01A") == Course().find_lab("01a_views") == Lab("01a_views")
    assert Course().find_labs("1") == Course().find_labs("01") and Course().find_lab("01b") in Course().find_labs("01")
    assert Course().find_lab("0") == Course().find_lab("00_trace") == Lab("00_trace")
    with pytest.raises(LookupError, match="the labs are 00, 01a, 01b, …"):
        Course().find_lab("99")
    with pytest.raises(LookupError, match="phase 01 has several labs, so name one: 01a_views"):
        Course().find_lab("01")


def test_a_notebook_in_which_git_has_left_a_conflict_is_built_again(tmp_path, monkeypatch, lab):
    monkeypatch.setattr(course, "RELEASED", tmp_path / "labs")
    path = tmp_path / "labs" / lab / f"{lab}.ipynb"
    path.parent.mkdir(parents=True)
    text = Path(course.SOURCES.parent / "labs" / lab / f"{lab}.ipynb").read_text(encoding="utf-8")
    path.write_text(text.replace("\n", "\n<<<<<<< HEAD\n", 1), encoding="utf-8")
    monkeypatch.setattr(
        build, "execute", lambda notebook: notebook if not path.exists() else None
    )  # checks read the lab
    assert build.build(lab) == [path] and build.stale(lab) == []
