"""Questions on a student's own answers: what is noted, what is changed, and that the answers are worked out by running them."""

import html
import inspect
import random
import re
import shutil
import textwrap
from types import SimpleNamespace

import nbformat
import pytest
from sweep import sweep

from autograder.classroom import oral, sample, walk
from autograder.classroom.explain import docstring_lines, numbered
from autograder.cli import app
from autograder.course import RELEASED, SOURCES
from autograder.engine import probe
from autograder.engine.check import function_of, is_on_torch
from autograder.engine.judge import Judge
from autograder.engine.limits import Allowance
from autograder.engine.observe import Malformed, NotGraded, SubjectDied, SubjectTimedOut
from autograder.engine.run import Session
from autograder.engine.torch_source import TorchSource
from autograder.model import Lab, Submission, exercise_name, lab_names

LAB = "01a_views"

CELL = '''
# a remark
def strides(sizes, *more, least=1):
    """Its docstring."""
    found, step = [], 1
    for size in reversed(sizes):
        found.append(step)
        if size > least:
            step *= size
    with open("/dev/null") as null:
        try:
            null.fileno().none
        except AttributeError:
            pass
    def doubled(x):
        return 2 * x
    return tuple(doubled(each) for each in reversed(found))
'''


def run(source, *arguments, **named):
    """The result of a copy of the function, and what it noted."""
    space = {walk.NAME: probe}
    exec(source, space)
    probe._arguments, probe._notes, probe._calls, probe._depth, probe._thread = None, [], 0, 0, None
    return space["strides"](*arguments, **named), [*probe._notes]


def test_a_copy_that_notes_does_what_the_function_does():
    plain, _ = run(CELL, (3, 1, 2))
    result, notes = run(walk.with_notes(CELL, "strides"), (3, 1, 2))
    assert result == plain == (4, 4, 2)
    lines = {line for line, *_ in notes}
    assert probe._arguments == {"sizes": "(3, 1, 2)", "more": "()", "least": "1"}
    assert [value for line, label, value in notes if (line, label) == (9, "step")] == ["2", "6"]
    assert notes[-1][1:] == ["return", "(4, 4, 2)"] and 9 in lines and 10 in lines
    assert 9 not in {line for line, *_ in run(walk.with_notes(CELL, "strides"), (1, 1))[1]}


def test_an_exception_is_noted_and_leaves_the_function():
    with pytest.raises(TypeError):
        run(walk.with_notes(CELL, "strides"), 5)
    assert probe._notes[-1][1] == "raises" and probe._depth == 0


def test_the_statement_of_a_line_is_left_out_and_no_other():
    assert walk.inner_lines(CELL, "strides") == [7, 8, 9, 11, 12, 14, 16]
    change = walk.without(CELL, "strides", 9)
    assert change.before == "step *= size" and run(change.source, (3, 1, 2))[0] == (2, 2, 2)
    assert walk.without(CELL, "strides", 4) is None


def test_a_change_is_in_one_place_and_names_its_line():
    changes = {
        (change.line, change.after): change for change in walk.changes(CELL, "strides", walk.places(CELL, "strides"))
    }
    assert run(changes[8, "if size >= least:"].source, (3, 1, 2))[0] == (4, 4, 2)
    assert run(changes[9, "step += size"].source, (3, 1, 2))[0] == (6, 6, 2)
    assert all(change.before != change.after for change in changes.values())


@pytest.mark.parametrize("lab", sweep(lab_names(), every=12))
def test_every_reference_has_a_copy_that_notes(lab):
    for exercise in Lab(lab).exercises:
        function = function_of(exercise)
        source, name = textwrap.dedent(inspect.getsource(function)), function.__name__
        compile(walk.with_notes(source, name), "cell", "exec")
        assert {*walk.lines_of(source, name)}.isdisjoint(docstring_lines(source))


@pytest.mark.parametrize(
    "source", ["def f(:", "%time x\ndef f(): pass", "f = 1", f"def f(): return {'-' * 9000}1", "\0"]
)
def test_a_cell_that_is_no_plain_function_has_none(source):
    assert walk.function_in(source, "f") is None
    assert walk.places(source, "f") == [] and walk.lines_of(source, "f") == []


@pytest.mark.parametrize("end", ["\x0c", "\x0b", "\x1c", "\u2028", "\x85", "\r", "\r\n"])
def test_lines_are_those_that_python_counts(end):
    source = f'def f(x):\n    """Two{end}{end}words."""\n    x += 1\n    return x\n'
    texts = [line.split(maxsplit=1)[1] for line in numbered(source).splitlines()]
    assert texts == ["def f(x):", "x += 1", "return x"]
    line = walk.lines_of(source, "f")[0]
    change, space = walk.without(f"{source}y = f(1)\n", "f", line), {}
    exec(change.source, space)
    assert change.before == "x += 1" and space["y"] == 1 and change.source.count("return x") == 1


# On a class ----------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def drawn_cases():
    """A check's cases, which follow from the seed, are drawn once for all papers of this file."""
    draw, drawn = TorchSource.draw, {}

    def draw_once(source, check):
        key = source.seed, check.name
        if key not in drawn:
            drawn[key] = draw(source, check)
        return drawn[key]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(TorchSource, "draw", draw_once)
        yield


@pytest.fixture
def place(tmp_path, monkeypatch, drawn_cases):
    """A class in which everybody has the same right answers, as if it were graded."""
    monkeypatch.setenv("RUSHLIGHT_CLASSROOM", str(tmp_path))
    (tmp_path / "seed").write_text("7")
    released = nbformat.read(RELEASED / LAB / f"{LAB}.ipynb", as_version=4)
    untouched = nbformat.writes(released)
    sample.fill(released, sample.answers(nbformat.read(SOURCES / LAB / f"{LAB}.ipynb", as_version=4)))
    for student, notebook in (
        ("ada", nbformat.writes(released)),
        ("ben", nbformat.writes(released)),
        ("eve", untouched),
    ):
        for kind in ("submitted", "autograded"):
            path = tmp_path / kind / student / LAB / f"{LAB}.ipynb"
            path.parent.mkdir(parents=True)
            path.write_text(notebook, encoding="utf-8")
    return tmp_path


def test_the_same_student_gets_the_same_questions_and_another_one_others(place, isolated):
    once, again, other = (
        oral.questions(Submission(Lab(LAB), student), isolated)[0] for student in ("ada", "ada", "ben")
    )
    assert once == again and once != other
    assert len(once) == len({each.title for each in once}) == oral.QUESTIONS


@pytest.mark.sweep
def test_the_page_has_three_questions_and_then_their_answers(place, isolated, capsys):
    assert app.main(["oral", "01a", "ben"], standalone_mode=False) == 0
    assert "3 questions, and the answers:" in capsys.readouterr().out
    page = (place / "oral" / "ben" / f"{LAB}.html").read_text(encoding="utf-8")
    asked, told = page.split('<div class="answers">')
    assert asked.count("<section>") == told.count("<section>") == 3
    assert "break-before: page" in page and "It returns" not in asked


@pytest.mark.sweep
def test_several_students_are_on_one_page_each_on_a_new_sheet_and_one_without_answers_stops_none(
    place, isolated, capsys
):
    assert app.main(["oral", "01a", "ben", "eve", "ada", "ben"], standalone_mode=False) == 1
    said = capsys.readouterr().out
    assert "eve has not written a function" in said and "6 questions, and the answers:" in said
    page = (place / f"oral-{LAB}.html").read_text(encoding="utf-8")
    assert re.findall(r"<h1>(\w+), lab 01a_views: (\w+)", page) == [
        ("ben", "questions"),
        ("ben", "answers"),
        ("ada", "questions"),
        ("ada", "answers"),
    ]
    assert ".answers, .answers + .questions { break-before: page; }" in page
    assert page.count("</div><div class=") == 3 and not (place / "oral").exists()
    alone, _ = oral.questions(Submission(Lab(LAB), "ada"), isolated)
    assert oral.body_of(Submission(Lab(LAB), "ada"), alone) in page


def test_without_a_student_the_exercises_of_each_are_listed_and_nothing_runs(place, monkeypatch, capsys):
    monkeypatch.setattr(oral, "Session", None)
    shutil.copytree(place / "submitted" / "ada", place / "submitted" / "not yet")
    assert app.main(["oral", "01a"], standalone_mode=False) == 0
    lines = dict(line.split(": ", 1) for line in capsys.readouterr().out.splitlines())
    assert lines["ada"] == lines["ben"] and "contiguous_strides, is_contiguous, " in lines["ada"]
    assert lines["eve"] == "no function that can be asked about" and lines["not yet"].startswith("not yet has not been")
    assert lines["all of them"] == f"rushlight oral 01a ada ben --class {place}"


@pytest.mark.parametrize(
    "error", sweep([SubjectDied("killed"), SubjectTimedOut("slow"), Malformed("odd"), NotGraded("too long")], every=4)
)
def test_what_a_subject_does_at_its_start_ends_in_one_line(place, monkeypatch, error):
    closed = place / "closed"

    def fail(session, cell):
        raise error

    monkeypatch.setattr(Session, "run_cell", fail)
    monkeypatch.setattr(Session, "close", lambda session: closed.open("a").write("."))
    paper = oral.write(Lab(LAB), [Submission(Lab(LAB), "ada"), Submission(Lab(LAB), "ben")])
    assert paper.path is None and paper.remarks == {
        name: [f"no questions for {name}: {error}"] for name in ("ada", "ben")
    }
    assert closed.read_text() == ".."


def answer_of(place, student, exercise, source):
    """Let a student have this answer to an exercise, and return the cell."""
    path = place / "autograded" / student / LAB / f"{LAB}.ipynb"
    notebook = nbformat.read(path, as_version=4)
    (cell,) = (cell for cell in notebook.cells if exercise_name(cell) == exercise)
    cell.source = source(cell.source)
    nbformat.write(notebook, path)
    return cell.source


def only(place, student, exercise):
    """Let a student have answered one exercise only."""
    path = place / "autograded" / student / LAB / f"{LAB}.ipynb"
    notebook = nbformat.read(path, as_version=4)
    released = nbformat.read(RELEASED / LAB / f"{LAB}.ipynb", as_version=4)
    given = {exercise_name(cell): cell.source for cell in released.cells}
    for cell in notebook.cells:
        if (name := exercise_name(cell)) and name != exercise:
            cell.source = given[name]
    nbformat.write(notebook, path)


STRIDES = "aten.strided.contiguous_strides"


@pytest.mark.sweep
@pytest.mark.parametrize(
    "line", sweep(["    return 1 << 20_000\n", f"    big = 0x{'f' * 5000}\n"], every=2), ids=["returned", "written"]
)
def test_a_number_of_thousands_of_digits_costs_the_paper_of_its_student_at_most(place, isolated, line):
    only(place, "ada", STRIDES)
    only(place, "ben", STRIDES)
    answer_of(place, "ada", STRIDES, lambda source: source.replace("    strides, step", f"{line}    strides, step"))
    paper = oral.write(Lab(LAB), [Submission(Lab(LAB), "ada"), Submission(Lab(LAB), "ben")], isolated)
    assert [*paper.questions] == ["ben"] and "\n" not in paper.remarks["ada"][0]


def endless():
    while True:
        pass


def greedy():
    bytearray(oral.MEMORY)


@pytest.mark.sweep
@pytest.mark.parametrize(("work", "said"), [(endless, "more than 1 s"), (greedy, "MemoryError")])
def test_what_one_student_makes_the_course_compute_is_limited_and_ends_no_other_paper(place, monkeypatch, work, said):
    monkeypatch.setattr(oral, "questions", lambda one, *_: one.student == "ada" and work() or ([], ["nothing fits"]))
    monkeypatch.setattr(oral, "CPU_SECONDS", 1)
    paper = oral.write(Lab(LAB), [Submission(Lab(LAB), "ada"), Submission(Lab(LAB), "ben")])
    ((line,), other) = paper.remarks["ada"], paper.remarks["ben"]
    assert line.startswith("no questions for ada: ") and said in line and "nothing fits" in other[0]


def test_a_function_that_is_too_long_is_not_asked_about_and_a_long_one_is_changed_in_time(place):
    lines = "".join(f"    x = sizes and {number} + {number}\n" for number in range(oral.LONGEST_CELL))
    submission = Submission(Lab(LAB), "ada")
    assert STRIDES in oral.askable(submission)
    cell = answer_of(
        place, "ada", STRIDES, lambda source: source.replace("    strides, step", f"{lines}    strides, step")
    )
    assert STRIDES not in oral.askable(submission)
    made = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(walk, "_with_function", lambda *given: made.append(given) or "")
        places = walk.places(cell, "contiguous_strides")
        assert len(walk.changes(cell, "contiguous_strides", places[:16])) == 16 == len(made) < len(places)


LIES = """
import json
from autograder.engine import probe

true_trace = probe.trace

def trace(check, cases):
    records = json.loads(true_trace(check, cases))
    for record in records:
        record["notes"] = [[line, label, "FULL MARKS"] for line, label, _ in record["notes"]]
        record["arguments"] = {name: "FULL MARKS" for name in record["arguments"] or {}}
    return json.dumps(records)

probe.trace = trace
"""


@pytest.mark.sweep  # in `make test` the cell itself lies
def test_no_other_code_of_the_student_writes_on_the_paper(place, isolated):
    only(place, "ada", STRIDES)
    path = place / "autograded" / "ada" / LAB / f"{LAB}.ipynb"
    notebook = nbformat.read(path, as_version=4)
    notebook.cells.insert(1, nbformat.v4.new_code_cell(LIES))
    nbformat.write(notebook, path)
    asked, _ = oral.questions(Submission(Lab(LAB), "ada"), isolated)
    assert asked and "FULL MARKS" not in str(asked)


@pytest.mark.sweep
def test_what_the_students_cell_says_of_a_call_is_confirmed_by_the_courses_own_function(place, isolated):
    only(place, "ada", STRIDES)
    answer_of(place, "ada", STRIDES, lambda source: LIES + source)
    asked, remarks = oral.questions(Submission(Lab(LAB), "ada"), isolated)
    assert not asked and STRIDES in remarks[0]


@pytest.mark.parametrize(
    ("student", "said"), [("eve", "has not written a function"), ("eva", "did you mean eve"), ("dan", "not JSON")]
)
def test_a_student_without_answers_is_one_line(place, student, said):
    folder = place / "submitted" / "dan" / LAB
    folder.mkdir(parents=True)
    (folder / f"{LAB}.ipynb").write_text("{")
    with pytest.raises(LookupError, match=said):
        oral.questions(Submission(Lab(LAB), student), True)


def test_what_a_submission_tells_is_shown_and_not_run():
    call = oral.Call({}, {"x": "<img src=x>"}, [[3, "return", "<script>1</script>"]], "")
    question = oral.Question("a.b", "what?", ["`<script>` of", oral._code("x = <b>")], [call.ends], "1  <i>")
    body = oral.body_of(Submission(Lab(LAB), "<u>ada"), [question])
    assert not re.search(r"<(script|img|b|i|u)\b", body) and html.escape("<script>1</script>") in body


@pytest.mark.parametrize(
    "told",
    [
        "no JSON",
        "[]",
        "[1]",
        '[{"arguments": 3, "notes": [], "result": ""}]',
        '[{"arguments": null}]',
        '[{"arguments": {}, "notes": [[Infinity, "x", "1"]], "result": ""}]',
        pytest.param("[" * 9000, id="deep"),
    ],
)
def test_notes_in_another_form_are_malformed(told):
    output = nbformat.v4.new_output("stream", name="stdout", text=told)
    with pytest.raises(oral.Malformed):
        oral._calls([{}], [output])


@pytest.mark.parametrize(
    "reply", [7, {}, {"outputs": 7}, {"outputs": [7]}, {"outputs": [{"output_type": "stream"}]}, {"observed": []}]
)
def test_a_reply_in_another_form_is_malformed(monkeypatch, reply):
    session = Session(Lab(LAB), False, Allowance(is_on_torch(LAB)))
    monkeypatch.setattr(session, "_request", lambda message, seconds: reply)
    with pytest.raises(oral.Malformed):
        session.try_cell("1", 1.0)
    with pytest.raises(oral.Malformed):
        session.observe("aten.strided.as_strided", [{}])


@pytest.mark.parametrize("terms", sweep([300, 600, 900, 2500], keep=[900]))
def test_a_long_expression_cannot_be_asked_about(terms):
    name = "aten.strided.as_strided"
    cell = f"def as_strided(x, sizes=2):\n    if x > sizes:\n        return {'+'.join('1' * terms)}\n    return 1\n"
    nothing = dict.fromkeys(("calls", "own_calls"), lambda *_: []) | dict.fromkeys(("put_back", "take"), lambda _: None)
    session = SimpleNamespace(observe=lambda check, cases: [{}], close=lambda: None, **nothing)
    found, remarks = oral._three(lambda: session, Judge(7), {name: cell}, [name], random.Random(7), lambda *_: None)
    assert found == [] and remarks and name in remarks[0]


def test_a_subject_that_dies_at_the_last_case_is_not_called_wrong():
    def dies(check, cases):
        raise SubjectDied("killed")

    function = oral.StudentFunction(
        SimpleNamespace(observe=dies), None, "aten.strided.as_strided", SimpleNamespace(name=""), "", None
    )
    assert function.theirs(oral.Call({}, {}, [], "")) == ""


def test_without_a_class_there_are_no_questions(tmp_path, monkeypatch):
    monkeypatch.setenv("RUSHLIGHT_CLASSROOM", str(tmp_path / "none"))
    shutil.rmtree(tmp_path / "none", ignore_errors=True)
    with pytest.raises(LookupError, match="no student 'ada'"):
        oral.questions(Submission(Lab(LAB), "ada"), True)
