"""Written answers to a question, marked with the rubric: what the gradebook has afterwards, and what it keeps."""

import shutil

import nbformat
import pytest
from marked import LAB, enter, open_marked
from nbformat.v4 import new_markdown_cell

from autograder import course
from autograder.classroom import written
from autograder.classroom.written import Conflict, Item, match, question_of, regraded, split_comment, state
from autograder.model import Course, Lab, Submission

KEY = "question-a-row-that-keeps-a-matrix"
SAME = "The row is a view of 9,830,400 bytes, so `clone` helps and `detach` does not."
ANSWERS = {
    "ada": SAME,
    "ben": SAME.upper().replace("`", "") + "\n",
    "cem": SAME.replace("9,830,400", "9,830,401"),
    "dina": "Because contiguous copies.",
    "eun": "I do not know.",
    "fay": "YOUR ANSWER HERE",
    "gil": "A leak in PyTorch <script>alert(1)</script>",
    "hal": "The stride of the column is 600, and its size is 4096.",
}


@pytest.fixture(scope="module")
def class_of_eight(tmp_path_factory):
    """A class whose notebooks and gradebook are there as grading writes them. To be copied."""
    place = tmp_path_factory.mktemp("eight")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("RUSHLIGHT_CLASSROOM", str(place))
        _make()
    return place


def _make():
    with open_marked() as gradebook:
        for student, answer in ANSWERS.items():
            submission = enter(gradebook, student, 0)
            (grade,) = [each for each in submission.notebooks[0].grades if each.name == KEY]
            if answer != written.UNTOUCHED:
                grade.auto_score, grade.needs_manual_grade = None, True
            notebook = nbformat.read(Lab(LAB).path, as_version=4)
            next(cell for cell in notebook.cells if cell.id == KEY).source = answer
            path = Submission(Lab(LAB), student).graded_path
            path.parent.mkdir(parents=True)
            nbformat.write(notebook, path)
        gradebook.db.commit()


@pytest.fixture
def gradebook(classroom, class_of_eight):
    shutil.copytree(class_of_eight, classroom, dirs_exist_ok=True)
    with open_marked() as gradebook:
        yield gradebook


@pytest.fixture
def question():
    return question_of(Lab(LAB), KEY)


@pytest.fixture
def rubric(monkeypatch, tmp_path):
    """`rubric(old, new)`: the question after a change in the lab's source."""
    folder = tmp_path / "sources"
    (folder / LAB).mkdir(parents=True)
    (folder / LAB / f"{LAB}.md").write_text(Lab(LAB).source.read_text())
    monkeypatch.setattr(course, "SOURCES", folder)

    def rubric(old, new):
        path = Lab(LAB).source
        assert old in path.read_text()
        path.write_text(path.read_text().replace(old, new))
        written._source_cells.cache_clear()
        return question_of(Lab(LAB), KEY)

    return rubric


def entry_of(question, gradebook, text):
    (entry,) = [entry for entry in state(question, gradebook)["entries"] if text in entry["html"]]
    return entry


def press(question, gradebook, entry, earned=(1, 1, 0.5, 0), score=2.5, comment="", **more):
    change = {"ids": entry["ids"], "earned": earned and list(earned), "score": score, "comment": comment} | more
    written.enter(question, gradebook, {"rubric": question.digest, "changes": [change]})


def entered(gradebook, student):
    (notebook,) = gradebook.find_submission(LAB, student).notebooks
    (grade,) = [each for each in notebook.grades if each.name == KEY]
    (comment,) = [each for each in notebook.comments if each.name == KEY]
    gradebook.db.refresh(grade), gradebook.db.refresh(comment)
    return grade.manual_score, grade.needs_manual_grade, comment.manual_comment


# The rubric ----------------------------------------------------------------------------------------------------------


@pytest.mark.sweep
def test_the_items_of_every_rubric_have_the_points_of_the_question():
    count, names = 0, set()
    for lab in Course().released_labs():
        for cell in lab.released["cells"]:
            if cell["cell_type"] == "markdown" and "points" in cell["metadata"].get("nbgrader", {}):
                question = question_of(lab, cell["metadata"]["nbgrader"]["grade_id"])
                assert sum(item.points for item in question.items) == question.points, question
                assert question.text and question.model_answer and "Rubric" not in question.model_answer
                count, names = count + 1, names | {cell["metadata"]["nbgrader"]["grade_id"]}
    assert count == len(names) == 51  # a name means one question, in all labs


def test_a_comment_has_what_was_pressed_and_the_words_of_the_instructor():
    lines = [Item("a view: `x`", 1, 0.5), Item("the size", 2, 0)]
    comment = written.join_comment(lines, "Well put.\n\nSee 01b.")
    assert comment.startswith("- 0.5 of 1: a view: `x`\n- 0 of 2: the size\n\n")
    assert split_comment(comment) == (lines, "Well put.\n\nSee 01b.")
    assert split_comment("Well put.") == ([], "Well put.")
    assert split_comment(f"Above.\n{lines[0]}") == ([lines[0]], "Above.")


def test_a_line_belongs_to_the_item_that_it_was_made_of_also_if_the_item_was_reworded_or_moved():
    lines = [
        Item("the row is a view of the whole storage", 1, 1),
        Item("clone helps", 1, 0),
        Item("stride 600 of it", 1, 0.5),
    ]
    items = [
        Item("stride 600 of it", 2),
        Item("something that is new and unlike all others", 1),
        Item("the row is a view, or part, of the whole storage", 1),
    ]
    matched, gone = match(lines, items)
    assert matched == [lines[2], None, lines[0]] and gone == [lines[1]]
    assert regraded(lines, items) == [
        Item("stride 600 of it", 2, 1),
        Item("the row is a view, or part, of the whole storage", 1, 1),
    ]


# What the page shows -------------------------------------------------------------------------------------------------


def test_equal_answers_are_one_entry_and_nearly_equal_ones_stand_together_without_names(gradebook, question):
    shown = state(question, gradebook)
    sizes = [len(entry["ids"]) for entry in shown["entries"]]
    assert sum(sizes) == 7 and shown["untouched"] == 1  # fay has not answered
    groups = [entry["group"] for entry in shown["entries"]]
    assert groups == sorted(groups) and groups.count(0) == 2 and {*sizes[:2]} == {1, 2}  # ada and ben, and cem
    assert [*map(len, (entry["differs"] for entry in shown["entries"] if entry["group"]))] == [0] * 4
    differs = [entry["differs"] for entry in shown["entries"] if entry["group"] == 0]
    assert sorted(map(len, differs)) == [0, 1]  # one number, and not the case of ben's letters
    assert not any(student in str(shown) for student in ANSWERS if len(student) > 3)
    assert len(shown["items"]) == 4 and "<script>" not in str(shown)


def test_a_sign_or_a_number_makes_answers_different():
    pairs = [("it is -1", "it is 1"), ("1.5 bytes", "15 bytes"), ("a < b", "a > b"), ("stride 1", "stride 10")]
    assert all(written.words(one) != written.words(other) for one, other in pairs)
    assert written.words("A `view`.\n\nOf *x*") == written.words("a view of x")


def test_pictures_of_an_answer_and_of_added_cells_are_shown(gradebook, question):
    picture = {"0123456789abcdef.png": {"image/png": "iVBORw0KGgo="}, "b.svg": {"image/svg+xml": "<svg onload='x()'/>"}}
    path = Submission(Lab(LAB), "eun").graded_path
    notebook = nbformat.read(path, as_version=4)
    cells = [next(cell for cell in notebook.cells if cell.id == KEY), new_markdown_cell(id="added-30-0")]
    for cell in cells:
        cell.source = "Drawn: ![a](attachment:0123456789abcdef.png) ![b](attachment:b.svg)"
        cell.attachments = picture
    notebook.cells.append(cells[1])
    nbformat.write(notebook, path)
    entry = entry_of(question, gradebook, "Drawn")
    for html in (entry["html"], entry["added"][0]["html"]):
        assert html.count("<img") == 1 and 'src="data:image/png;base64,iVBORw0KGgo="' in html and "onload" not in html


def test_an_answer_in_an_added_cell_is_shown_and_keeps_answers_apart(gradebook, question):
    path = Submission(Lab(LAB), "ada").graded_path
    notebook = nbformat.read(path, as_version=4)
    index = next(i for i, cell in enumerate(notebook.cells) if cell.id == KEY)
    notebook.cells.insert(index + 1, new_markdown_cell("And more.", id="added-1"))
    nbformat.write(notebook, path)
    written._texts.cache_clear()
    entries = [entry for entry in state(question, gradebook)["entries"] if entry["group"] == 0]
    assert len(entries) == 3
    assert [entry["added"] for entry in entries if entry["added"]] == [
        [{"html": "<p>And more.</p>\n", "code": "And more.", "next": True}]
    ]


# What a press enters -------------------------------------------------------------------------------------------------


def test_a_press_enters_score_and_lines_for_equal_answers_and_for_no_other(gradebook, question):
    (entry,) = [entry for entry in state(question, gradebook)["entries"] if len(entry["ids"]) == 2]
    press(question, gradebook, entry, comment="Short and right.")
    score, waits, comment = entered(gradebook, "ada")
    assert entered(gradebook, "ben") == (score, waits, comment) and (score, waits) == (2.5, False)
    lines, own = split_comment(comment)
    assert [line.earned for line in lines] == [1, 1, 0.5, 0] and own == "Short and right."
    assert [line.text for line in lines] == [item.text for item in question.items]
    others = {entered(gradebook, student) for student in ANSWERS if student not in ("ada", "ben", "fay")}
    assert others == {(None, True, None)}
    shown = state(question, gradebook)
    (entry,) = [entry for entry in shown["entries"] if len(entry["ids"]) == 2]
    assert [line["earned"] for line in entry["lines"]] == [1, 1, 0.5, 0] and not entry["changed"]
    assert shown["comments"] == ["Short and right."]


def test_a_mark_of_the_formgrader_is_shown_and_keeps_its_answer_out_of_the_press_for_equal_ones(gradebook, question):
    (notebook,) = gradebook.find_submission(LAB, "ada").notebooks
    (grade,) = [each for each in notebook.grades if each.name == KEY]
    grade.manual_score, grade.needs_manual_grade = 3.0, False
    gradebook.db.commit()
    entries = [entry for entry in state(question, gradebook)["entries"] if entry["group"] == 0]
    assert sorted((entry["score"] or 0, len(entry["ids"])) for entry in entries) == [(0, 1), (0, 1), (3.0, 1)]
    for entry in entries:
        if entry["score"] is None:
            press(question, gradebook, entry)
    assert entered(gradebook, "ada") == (3.0, False, None)


@pytest.mark.parametrize("name", ["manual_score", "manual_comment"])
def test_a_press_for_an_answer_that_was_marked_elsewhere_in_the_meantime_enters_nothing(gradebook, question, name):
    (entry,) = [entry for entry in state(question, gradebook)["entries"] if len(entry["ids"]) == 2]
    (notebook,) = gradebook.find_submission(LAB, "ben").notebooks
    (given,) = [one for one in (*notebook.grades, *notebook.comments) if one.name == KEY and hasattr(one, name)]
    setattr(given, name, 1.0 if name == "manual_score" else "By hand.")
    gradebook.db.commit()
    before = [entered(gradebook, student) for student in ANSWERS]
    with pytest.raises(Conflict):
        press(question, gradebook, entry)
    assert [entered(gradebook, student) for student in ANSWERS] == before


def test_a_press_for_an_answer_that_was_graded_again_in_the_meantime_enters_nothing(gradebook, question):
    entry = entry_of(question, gradebook, "I do not know")
    path = Submission(Lab(LAB), "eun").graded_path
    path.write_text(path.read_text().replace("I do not know.", "Now I know."))
    written._texts.cache_clear()
    with pytest.raises(Conflict):
        press(question, gradebook, entry)
    assert entered(gradebook, "eun") == (None, True, None)


@pytest.mark.parametrize(
    "wrong", [{"score": 5}, {"score": "4"}, {"score": float("nan")}, {"earned": [1]}, {"earned": [2, 0, 0, 0]}]
)
def test_what_no_page_asks_for_is_refused(gradebook, question, wrong):
    entry = entry_of(question, gradebook, "I do not know")
    with pytest.raises(ValueError):
        press(question, gradebook, entry, **wrong)
    assert entered(gradebook, "eun") == (None, True, None)


# Regrading -----------------------------------------------------------------------------------------------------------


def test_an_item_with_other_points_regrades_the_answers_that_were_marked_with_it_and_no_others(gradebook, rubric):
    question = rubric("", "")
    press(question, gradebook, entry_of(question, gradebook, "I do not know"), comment="Ask.")
    press(
        question, gradebook, entry_of(question, gradebook, "stride of the column"), score=3.0
    )  # 0.5 besides the items
    press(question, gradebook, entry_of(question, gradebook, "contiguous copies"), earned=None, score=4.0)
    old, question = question, rubric("- 1 point: the row is a view,", "- 0.5 points: the row is a view, or a part,")
    with pytest.raises(Conflict):  # a page with the old rubric
        written.enter(question, gradebook, {"rubric": old.digest, "changes": []})
    changed = [entry for entry in state(question, gradebook)["entries"] if entry["changed"]]
    assert len(changed) == 2 and all("of 1: the row is a view," in entry["lines"][0]["was"] for entry in changed)
    changes = [{"ids": entry["ids"]} for entry in changed]
    written.enter(question, gradebook, {"rubric": question.digest, "changes": changes})
    score, waits, comment = entered(gradebook, "eun")
    assert (score, waits) == (2.0, False) and comment.startswith("- 0.5 of 0.5: the row is a view, or a part, and")
    assert comment.endswith("\n\nAsk.")
    assert entered(gradebook, "hal")[0] == 2.5
    assert entered(gradebook, "dina") == (4.0, False, None) and entered(gradebook, "gil") == (None, True, None)
    assert not any(entry["changed"] for entry in state(question, gradebook)["entries"])


def test_an_item_that_is_new_is_not_judged_by_itself(gradebook, rubric):
    question = rubric("", "")
    press(question, gradebook, entry_of(question, gradebook, "I do not know"), earned=(1, 1, 1, 1), score=4.0)
    question = rubric(
        "- 1 point: `clone` helps, with",
        "- 1 point: nothing is freed before the last tensor is gone.\n- 1 point: `clone` helps, with",
    )
    entry = entry_of(question, gradebook, "I do not know")
    assert entry["changed"] and [bool(line) for line in entry["lines"]] == [True, False, True, True, True]
    written.enter(question, gradebook, {"rubric": question.digest, "changes": [{"ids": entry["ids"]}]})
    assert entered(gradebook, "eun")[0] == 4.0
    assert entry_of(question, gradebook, "I do not know")["lines"][1] is None
