"""The table of typed answers, as people and programs spoil it: each row is an answer, or an error with its line. Nothing runs."""

import sqlite3
from contextlib import closing
from dataclasses import replace

import pytest
from exam.papers import paper
from sweep import sweep

from autograder.classroom.gradebook import open_gradebook
from autograder.engine.observe import GradingError
from autograder.exam import class_exams
from autograder.exam.class_exams import ClassExam
from autograder.exam.draw import FIND, REASON, RESULTS, Exam, Key
from autograder.exam.marking import mark
from autograder.exam.sheets import read_typed
from autograder.exam.trials import checks_of, reference_cell
from autograder.exam.values import is_answer
from autograder.model import Course, Lab

HEAD = "code,field,label,answer\n"
ADA, BOB = paper(), replace(paper("bob"), code="BBB-222", items=paper().items[:2])
EXERCISE = "aten.strided.contiguous_strides"


def table(tmp_path, text, encoding="utf-8"):
    path = tmp_path / "typed.csv"
    path.write_bytes(text if isinstance(text, bytes) else text.encode(encoding))
    return path


@pytest.mark.parametrize(
    ("text", "encoding", "answers"),
    [
        (f"{HEAD}K7Q-X2M,1.x,x,á\n", "utf-8-sig", {"ada": {"1.x": "á"}}),
        ("code;field;label;answer\r\nk7q-x2m;1.x;x;[1, 2]\r\n;;;\r\n", "utf-8", {"ada": {"1.x": "[1, 2]"}}),
        ('code;field;label;answer\nK7Q-X2M;1.x;"x;y";"[1;2]"\n', "utf-8", {"ada": {"1.x": "[1;2]"}}),
        ("Code\tField\tLabel\tAnswer\rK7Q-X2M\t1.x\tx\t1\r", "utf-8", {"ada": {"1.x": "1"}}),
        (f'{HEAD}K7Q-X2M,3.why,x,"one\n\ntwo, ""three"""\n\n', "utf-8", {"ada": {"3.why": 'one\n\ntwo, "three"'}}),
        (f"{HEAD}K7Q-X2M,1.x,x,[1],,\nK7Q-X2M,1.x,x,[1]\n", "utf-8", {"ada": {"1.x": "[1]"}}),
        (f"{HEAD}K7Q-X2M,1.x,x,=1+1\nBBB-222,1.x,x,@SUM(A1)\n", "utf-8", {"ada": {"1.x": "=1+1"}, "bob": {"1.x": "@SUM(A1)"}}),
        ("note,answer,code,field,label\nlate,1,K7Q-X2M,1.x,x\n", "utf-8", {"ada": {"1.x": "1"}}),
        (HEAD, "utf-8", {}),
    ],
)  # fmt: skip
def test_what_a_spreadsheet_writes_is_read(tmp_path, text, encoding, answers):
    assert read_typed(table(tmp_path, text, encoding), [ADA, BOB]) == answers


GOOD = "BBB-222,1.x,x,7\n"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (f"{HEAD}{GOOD}K7Q-X2M,1.x,x,á\n".encode("latin-1"), "line 3: the text is not UTF-8: save the table as CSV in UTF-8"),
        (f"{HEAD}{GOOD}".encode("utf-16"), "line 1: the text is not UTF-8"),
        (b"\x50\x4b\x03\x04\xff\xff", "line 1: the text is not UTF-8"),
        (b"PK\x03\x04", "line 1: the columns are code, field, label, answer"),
        (f"{HEAD}{GOOD}".encode("utf-16-le"), "line 1: the columns are"),
        ("", "line 1: the columns are"),
        ("\n\n", "line 1: the columns are"),
        ("code,field,label,answer,answer\nK7Q-X2M,1.x,x,1,2\n", "line 1: the columns are"),
        (GOOD, "line 1: the columns are"),
        (f"{HEAD}{GOOD}K7Q-X2M,1.x,x,1,2\n", "line 3: the columns are .* this row has 5 cells"),
        (f"{HEAD}{GOOD}K7Q-X2M,1.x,x,[1, 2]\n", "line 3: the columns are"),
        (f"{HEAD}{GOOD}K7Q-X2M,1.x\n", "line 3: the columns are"),
        (f'{HEAD}BBB-222,1.x,x,"7\n\n"\nK7Q-X2M,9.x,x,1\n', "line 5: there is no field '9.x' of a paper 'K7Q-X2M'"),
        (f"{HEAD}{GOOD}BBB-222,3.why,x,an item of another student\n", "line 3: there is no field '3.why' of a paper 'BBB-222'"),
        (f"{HEAD}{GOOD},1.x,x,1\n", "line 3: there is no field '1.x' of a paper ''"),
        (f"{HEAD}{GOOD}K7Q-X2M,,x,1\n", "line 3: there is no field ''"),
        (f"{HEAD}{GOOD}ada,1.x,x,1\n", "line 3: there is no field '1.x' of a paper 'ada'"),
        (f"{HEAD}{GOOD}\x1b[31m{'K' * 999},1.x,x,1\n", r"line 3: there is no field '1.x' of a paper '\\\\u001b\[31mKKK"),
        (f"{HEAD}{GOOD}{GOOD}BBB-222,1.x,x,8\n", "line 4: a second answer to 1.x of BBB-222"),
        (f'{HEAD}{GOOD}K7Q-X2M,1.x,x,"[1\nK7Q-X2M,2.a,x,2\n', "line 3: the row that begins here cannot be read"),
        (f'{HEAD}{GOOD}K7Q-X2M,1.x,x,"[1\nK7Q-X2M,2.a,x,"\n', "line 3: the answer to 1.x of K7Q-X2M has another row in it"),
        (f'{HEAD}{GOOD}K7Q-X2M,1.x,x,"1" 2\n', "line 3: the row that begins here cannot be read"),
        (f"{HEAD}{GOOD}K7Q-X2M,1.x,x,#NAME?\n", "line 3: a spreadsheet has put #NAME[?] in place of the answer"),
        (f"{HEAD}{GOOD}K7Q-X2M,3.why,x,{'x' * 20_001}\n", "line 3: the answer has more than 20000 characters"),
        (f"{HEAD}{GOOD}K7Q-X2M,3.why,x,{'x' * (5 << 20)}\n", "line 3: the row that begins here cannot be read"),
        (HEAD + GOOD * (10 << 16), "more than 8 MB"),
    ],
    ids=range(26),
)  # fmt: skip
def test_a_spoilt_table_is_named_with_its_line(tmp_path, text, said):
    with pytest.raises(GradingError, match=said) as refused:
        read_typed(table(tmp_path, text), [ADA, BOB])
    assert "\n" not in str(refused.value) and len(str(refused.value)) < 400


def test_a_table_that_is_a_folder_is_refused(tmp_path):
    with pytest.raises(GradingError, match="cannot be read"):
        read_typed(tmp_path, [ADA])


def test_two_papers_with_one_code_are_not_mixed(tmp_path):
    with pytest.raises(GradingError, match="the same code"):
        read_typed(table(tmp_path, HEAD), [ADA, replace(BOB, code=ADA.code)])


# What is typed as an answer ------------------------------------------------------------------------------------------

RUN = "__import__('pathlib').Path({place!r}).write_text('x')"
HOSTILE = [
    RUN, f"[{RUN}]", f"{{'a': {RUN}}}", f"f'{{{RUN}}}'", f"tensor({RUN})", f"3: {RUN}", f"sizes={RUN}", f"exec({RUN!r})",
    "9**9**9", "[9**9**9]", "10**10**10: 3", "-9**9**9", "1" * 1999, "1" * 19_999, "0x" + "f" * 1900, "1e999", "-1e999", "nan",
    "[nan, inf]", "{'a': nan}", "[" * 10_000 + "]" * 10_000, "[" * 900 + "]" * 900, "(" * 10_000, "-" * 10_000 + "1",
    "-" * 1999, "{" * 10_000, "{1: " * 400 + "1" + "}" * 400, "x" + "[0]" * 600, "not " * 400 + "1", "{}", "{'tensor': 5}",
    "{'tensor': [[1]]}", "{'tensor': None}", "{'tensor': {'sizes': 1, 'strides': 2, 'offset': 3}}", "{'dtype': [1]}",
    "{'error': ['IndexError'], 'type': 'IndexError'}", "{1, 2}", "1j", "...", "b'x'", "[*[1]]", "{**{}}", "x if y else z",
    "yield 1", "await x", "x := 1", "1; 2", "import os", "=cmd|' /C calc'!A0", "@SUM(A1)", "\x00", "a\x00b", "\ufffe", "\u202e1",
    "😀" * 5000, "ﷺ" * 6000, " " * 15_000 + "1" + " " * 100 + "x", "1" + " " * 19_000 + "x", "1:" * 9000, "`" * 19_000,
    "<" * 19_000, "![" * 9000, "[](" * 6000, "<script>alert(1)</script>", "error" * 4000, "Error " * 3000, "3" * 19_000, "٣", "-1",
    "1e3", "True", "None", "1: return x\n    import os", "4: " + "x" * 19_000, "tensor([64] * 64)", "tensor([64, 64, 64, 64])",
    "tensor([0], [99999999999999])", "\\", "'", '"', "'\\", "'''", "#",
]  # fmt: skip


@pytest.fixture(scope="module")
def exam():
    check = checks_of(Lab("01a_views"))[EXERCISE].name
    given = reference_cell(Lab("01a_views"), EXERCISE)
    changed = given.replace("max(size, 1)", "size")
    assert changed != given
    keys = {
        "1": Key(FIND, "01a_views", check, given, changed, 9, parameters={"x": [], "dim": 0}),
        "2": Key(RESULTS, "01a_views", check, expected=[[[2], [1], 0], [3], "add"]),
        "3": Key(REASON, "01a_views", check, rubric="- 1 point: all"),
    }
    return Exam(ADA, keys)


@pytest.mark.parametrize(
    "places", sweep([["1.x", "1.dim"], ["1.line"], ["2.a", "2.b", "2.c"], ["3.why"]], every=4), ids="-".join
)
def test_a_hostile_answer_is_an_answer_that_is_wrong(exam, places, tmp_path):
    for text in HOSTILE:
        text = text.replace("{place!r}", repr(str(tmp_path / "run")))
        assert not any(is_answer(text, right) for right in exam.keys["2"].expected)
    text = "\n".join(HOSTILE)[:19_000]
    for said in (text, *HOSTILE[:: len(HOSTILE) // 3]):
        answers = dict.fromkeys(places, said.replace("{place!r}", repr(str(tmp_path / "run"))))
        earned = mark(exam, answers).earned
        assert earned == {name: None if name == "3.why" and "3.why" in places else 0 for name in ADA.fields}
    assert not (tmp_path / "run").exists()


@pytest.fixture
def place(exam, tmp_path, monkeypatch):
    """A class with an exam of one student, and marks of a lab."""
    monkeypatch.setenv("RUSHLIGHT_CLASSROOM", str(tmp_path))
    with open_gradebook() as gradebook:
        gradebook.add_assignment("01a_views")
        gradebook.add_notebook("01a_views", "01a_views")
        gradebook.add_grade_cell("one", "01a_views", "01a_views", max_score=5, cell_type="code")
        gradebook.add_student("ada")
        gradebook.add_submission("01a_views", "ada")
        grade = gradebook.find_grade("one", "01a_views", "01a_views", "ada")
        grade.auto_score, grade.manual_score, grade.extra_credit = 2, 4, 1
        gradebook.db.commit()
    here = ClassExam("exam_01a", Course())
    here.key("ada").parent.mkdir(parents=True)
    exam.write(here.key("ada"))
    return here


def rows(place):
    with closing(sqlite3.connect(place.course.folder / "gradebook.db")) as database:
        return [*database.execute("SELECT * FROM grade")]


def test_a_spoilt_row_leaves_the_gradebook_as_it_was(place):
    before = rows(place)
    table(place.folder, f"{HEAD}K7Q-X2M,2.a,x,[2]\nK7Q-X2M,9.a,x,1\n")
    with pytest.raises(GradingError, match="line 3"):
        [*class_exams.grade(place)]
    assert rows(place) == before


def test_hostile_answers_change_no_other_score_and_no_page(place):
    said = "\n".join(["<img src=x>", *(text for text in HOSTILE if len(text) < 300)]).replace('"', '""')
    before = rows(place)
    table(place.folder, HEAD + "".join(f'K7Q-X2M,{name},x,"{said}"\n' for name in ("1.x", "1.line", "2.a", "3.why")))
    assert [*class_exams.grade(place)] == ["ada: 0 of 9 points, 1 to be marked by hand"]
    assert [row for row in rows(place) if row in before] == before
    page = (place.course.folder / "feedback/ada/exam_01a/exam_01a.html").read_text()
    assert "<script" not in page and "<img" not in page
