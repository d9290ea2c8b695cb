"""A student's page of feedback, as nbgrader writes it from a graded notebook and the gradebook."""

import re
from html import unescape
from html.parser import HTMLParser

import nbformat
import pytest
from first_lab import ALL, POINTS, of
from marked import open_marked
from nbgrader.api import Gradebook

from autograder.classroom import grade as grading
from autograder.classroom import sample
from autograder.classroom.feedback import _card
from autograder.classroom.gradebook import gradebook_url
from autograder.engine.card import card
from autograder.engine.check import short_name
from autograder.engine.run import outputs_of
from autograder.engine.verdict import Verdict
from autograder.model import Lab, Submission, check_name, exercise_name

LAB = "01a_views"
QUESTION = "question-a-row-that-keeps-a-matrix"
MARKUP = "<script>alert(1)</script><img src=x onerror=alert(2)>"


def wrong(check, message="[0]: yours 0, torch's 1", case=None, **more):
    case = {"sizes": [1, 0]} if case is None else case
    return Verdict(check, "disagreed", 100, 90, message=message, case=case, mine="(0, 1)", theirs="(1, 1)", **more)


def untouched(check):
    return Verdict(check, "not attempted")


class Page(HTMLParser):
    """The elements of a page, and the rows of its table of exercises: their name, mark, result and points."""

    def __init__(self, text):
        super().__init__()
        self.text, self.elements, self.rows = text, [], []
        self.feed(text)
        for row in re.findall(r"<tr[^>]*><th scope=\"row\">(.*?)</tr>", text.replace("<wbr>", ""), re.S):
            words = [part.strip() for part in re.sub(r"<[^>]+>", "\n", row).split("\n")]
            mark, name, *rest = filter(None, words)
            self.rows.append((mark, name, *rest))

    def handle_starttag(self, tag, attributes):
        self.elements.append((tag, dict(attributes)))

    def ids(self):
        return [attributes["id"] for _, attributes in self.elements if "id" in attributes]


@pytest.fixture
def feedback(tmp_path, monkeypatch, released, answers):
    """`feedback(verdicts, change)`: the page of a student whose checks have these verdicts, and all others passed."""
    monkeypatch.setenv("RUSHLIGHT_CLASSROOM", str(tmp_path))

    def make(verdicts=(), change=lambda notebook, gradebook: None):
        (tmp_path / "gradebook.db").unlink(missing_ok=True)
        open_marked().close()
        decided = {verdict.check: verdict for verdict in verdicts}
        sample.fill(released, answers)
        with Gradebook(gradebook_url(), "rushlight") as gradebook:
            gradebook.add_student("ada")
            gradebook.add_submission(LAB, "ada")
            for cell in filter(check_name, released.cells):
                verdict = decided.get(check_name(cell), Verdict(check_name(cell), "passed", 100, 100))
                cell.outputs = outputs_of(verdict)
                grade = gradebook.find_grade(cell.metadata.nbgrader.grade_id, LAB, LAB, "ada")
                grade.auto_score, grade.needs_manual_grade = Lab(LAB).points[verdict.check] * verdict.passed, False
            gradebook.db.commit()
            change(released, gradebook)
            gradebook.db.commit()
        path = tmp_path / "autograded" / "ada" / LAB / f"{LAB}.ipynb"
        path.parent.mkdir(parents=True, exist_ok=True)
        nbformat.write(released, path)
        assert grading.write_feedback(Submission(Lab(LAB), "ada")) == ""
        return Page((tmp_path / "feedback" / "ada" / LAB / f"{LAB}.html").read_text(encoding="utf-8"))

    return make


def test_the_first_failing_exercise_is_at_the_top_with_its_case_and_a_link(feedback):
    page = feedback([wrong("aten.strided.permute", case={"dims": [0]}), wrong("aten.strided.contiguous_strides")])
    first = re.search(r'<section[^>]*class="first".*?</section>', page.text, re.S)[0]
    assert 'href="#check-aten-strided-contiguous_strides"' in first and "permute" not in first
    assert "sizes = [1, 0]" in first and "[0]: yours 0, torch" in first and "90 of 100 cases agree" in first
    assert page.text.index(first) < page.text.index("<table")


def test_a_page_is_in_the_language_of_the_notebook(feedback, released, french):
    french(
        {"yours {own}, torch's {other}": "le tien {own}, celui de torch {other}", "Exercises": "Exercices"}
        | {"{agreed} of {cases} cases agree with {judge}": "{agreed} cas sur {cases}", "passed": "réussi"}
    )
    released.metadata.rushlight.language = "fr"
    page = feedback([wrong("aten.strided.permute")])
    assert ("html", {"lang": "fr"}) in page.elements and "<h2>Exercices</h2>" in page.text
    assert ("✗", "permute", "90 cas sur 100", "0 of 3") in page.rows
    assert "[0]: le tien 0, celui de torch 1" in page.text
    assert ("✓", "transpose", "réussi", "2 of 2") in page.rows


def test_a_cell_that_did_not_run_is_to_be_fixed_and_an_untouched_one_is_not(feedback):
    broken = Verdict(
        "aten.strided.permute", "not attempted", message="the cell that defines it did not run: SyntaxError: x"
    )
    page = feedback([untouched("aten.strided.transpose"), broken])
    first = re.search(r'<section[^>]*class="first".*?</section>', page.text, re.S)[0]
    assert "permute" in first and "SyntaxError: x" in first
    assert [row[:3] for row in page.rows if row[0] != "✓"][:2] == [
        ("–", "transpose", "not attempted"),
        ("✗", "permute", "its cell did not run"),
    ]


def test_every_exercise_is_there_by_name_with_its_mark_and_points(feedback):
    page = feedback(
        [wrong("aten.strided.permute"), untouched("aten.strided.slice"), Verdict("aten.strided.select", "timed out")]
    )
    marks = {"permute": ("✗", "0 of 3"), "slice": ("–", "0 of 5"), "select": ("✗", "0 of 2")}
    for mark, name, *_, last in page.rows[:-1]:
        worth = next(value for check, value in Lab(LAB).points.items() if check.endswith(f".{name}"))
        assert (mark, last) == marks.get(name, ("✓", f"{worth:g} of {worth:g}"))
    assert [name for _, name, *_ in page.rows[:-1]] == [short_name(check) for check in Lab(LAB).points]
    assert page.text.count(of(POINTS - 3 - 5 - 2, ALL).removesuffix(" points")) == 2  # at the top, and below the column
    assert "<tfoot>" in page.text


def test_every_link_of_the_report_and_of_the_page_leads_somewhere(feedback, released):
    page = feedback([wrong("aten.strided.permute"), untouched("aten.strided.slice")])
    ids = page.ids()
    assert len(ids) == len({*ids})
    wanted = {cell.metadata.nbgrader.grade_id for cell in released.cells if check_name(cell)}
    wanted |= {a["href"][1:] for tag, a in page.elements if tag == "a" and a["href"].startswith("#")}
    assert wanted <= {*ids}


def test_a_student_whose_check_cells_were_put_back_is_told_which(feedback, released, tmp_path):
    submitted = tmp_path / "submitted" / "ada" / LAB / f"{LAB}.ipynb"
    submitted.parent.mkdir(parents=True)
    nbformat.write(released, submitted)
    assert "put back" not in feedback().text
    changed = nbformat.read(submitted, as_version=4)
    next(cell for cell in changed.cells if check_name(cell) == "aten.strided.permute").source = "pass"
    nbformat.write(changed, submitted)
    assert "Changed check cells, put back for grading: permute. Leave the check cells as they are" in feedback().text


def test_the_page_is_in_english_and_its_title_names_the_lab_and_the_student(feedback):
    page = feedback()
    assert ("html", {"lang": "en"}) in page.elements
    assert f"<title>Lab {LAB}: ada</title>" in page.text and "All checks pass." in page.text


def test_text_of_the_lab_and_set_up_are_left_out_and_a_passed_check_is_folded(feedback):
    page = feedback([wrong("aten.strided.permute")])
    body = page.text.partition("<body>")[2]
    assert "import rushlight" not in body and "TensorAccessor.cpp" not in body
    unfolded = re.sub(r"<details.*?</details>", "", body, flags=re.S)
    assert "def " not in unfolded and "_strides" in unfolded
    opened = [attributes for tag, attributes in page.elements if tag == "details" and "open" in attributes]
    assert len(opened) == 1  # the code of what is to be fixed first


def test_nothing_of_a_student_is_markup(feedback):
    def change(notebook, gradebook):
        for cell in notebook.cells:
            if exercise_name(cell):
                cell.source += f"\n# {MARKUP}"
                error = {"output_type": "error", "ename": MARKUP, "evalue": MARKUP, "traceback": [MARKUP]}
                shown = {
                    "output_type": "display_data",
                    "metadata": {},
                    "data": {"text/plain": MARKUP, "text/html": MARKUP},
                }
                picture = {"output_type": "display_data", "metadata": {}, "data": {"image/png": f'"{MARKUP}'}}
                stream = {"output_type": "stream", "name": "stdout", "text": MARKUP}
                cell.outputs = [nbformat.from_dict(each) for each in (stream, shown, picture, error)]
        forged = next(cell for cell in notebook.cells if check_name(cell) == "aten.strided.select")
        style = '<p style="background:url(https://example.org/x);color:red" onclick="x()">forged</p><style>*{}</style>'
        forged.outputs[0].data["text/html"] = style + MARKUP + '<form action="/x"><a href="javascript:x()">y</a></form>'
        notebook.cells.append(nbformat.v4.new_code_cell(f"1 # {MARKUP}", id="added-1-0"))
        notebook.cells.append(nbformat.v4.new_markdown_cell("[x](https://example.org/y)", id="added-1-1"))

    verdict = wrong("aten.strided.permute", MARKUP, {"x": MARKUP}, hint=MARKUP, notes=[MARKUP], raised=MARKUP)
    page = feedback([verdict, wrong("aten.strided.select")], change)
    assert "alert(1)" in page.text and "forged" in page.text
    tags = [tag for tag, _ in page.elements]
    assert not {"script", "form", "link", "iframe", "svg"} & {*tags} and tags.count("style") == 1
    for tag, attributes in page.elements:
        assert not [name for name in attributes if name.startswith("on")]
        assert "url" not in attributes.get("style", "")
        assert all(attributes.get(name, "#")[:1] == "#" or tag == "img" for name in ("href", "src"))
        assert tag != "img" or attributes["src"].startswith("data:image/png;base64,")
    (policy,) = [a["content"] for tag, a in page.elements if tag == "meta" and "http-equiv" in a]
    assert policy.startswith("default-src 'none'; img-src data:;")


def test_scores_and_comments_given_by_hand_are_shown_and_kept(feedback, tmp_path):
    def mark(notebook, gradebook):
        next(cell for cell in notebook.cells if cell.id == QUESTION).source = "Because it is a view."
        answer = gradebook.find_grade(QUESTION, LAB, LAB, "ada")
        answer.manual_score, answer.needs_manual_grade = 3, False
        gradebook.find_grade("check-aten-strided-permute", LAB, LAB, "ada").manual_score = 1.5
        gradebook.find_comment(QUESTION, LAB, LAB, "ada").manual_comment = "Say **which** storage."
        gradebook.find_comment("aten-strided-permute", LAB, LAB, "ada").manual_comment = "Nearly."

    page = feedback([wrong("aten.strided.permute")], mark)
    assert of(POINTS - 1.5 + 3, ALL) in page.text and ("✎", "written answer", "marked", "3 of 4") in page.rows
    assert "<strong>which</strong>" in page.text and "Nearly." in page.text and "1.5 of 3" in page.text
    with Gradebook(gradebook_url(), "rushlight") as gradebook:
        assert gradebook.find_grade("check-aten-strided-permute", LAB, LAB, "ada").manual_score == 1.5
        assert gradebook.find_comment("aten-strided-permute", LAB, LAB, "ada").manual_comment == "Nearly."


def test_a_written_answer_that_waits_for_its_mark_is_said_to_wait(feedback):
    def answer(notebook, gradebook):
        next(cell for cell in notebook.cells if cell.id == QUESTION).source = "Because it is a view."
        gradebook.find_grade(QUESTION, LAB, LAB, "ada").needs_manual_grade = True

    page = feedback(change=answer)
    assert page.rows[-1] == ("✎", "written answer", "not marked yet", "up to 4")
    assert "Because it is a view." in page.text and of(POINTS, ALL) in page.text


def test_a_written_answer_that_was_not_attempted_is_one_line(feedback):
    def leave(notebook, gradebook):
        next(cell for cell in notebook.cells if cell.id == QUESTION).source = "YOUR ANSWER HERE"
        for name in (QUESTION, "aten-strided-permute"):
            gradebook.find_comment(name, LAB, LAB, "ada").auto_comment = "No response."
        gradebook.find_grade(QUESTION, LAB, LAB, "ada").needs_manual_grade = False

    page = feedback([untouched("aten.strided.permute")], leave)
    assert page.rows[-1] == ("–", "written answer", "not attempted", "0 of 4")
    assert "No response" not in page.text and QUESTION in page.ids() and "YOUR ANSWER" not in page.text


def test_a_note_of_grading_is_in_the_list(feedback):
    page = feedback([Verdict("aten.strided.slice", "passed", 3, 3, notes=["on the reference's it passes"])])
    row = re.search(r"slice</a>.*?</tr>(.*?)</tr>", page.text, re.S)
    assert "on the reference's it passes" in unescape(row[1])


def test_a_notebook_that_nbgrader_graded_alone_gets_a_page(feedback):
    def stock(notebook, gradebook):
        for cell in filter(check_name, notebook.cells):
            cell.outputs = [nbformat.v4.new_output("stream", text="✓ agrees")]

    page = feedback(change=stock)
    assert [row[2] for row in page.rows[:-1]] == ["graded by nbgrader alone"] * len(Lab(LAB).points)


def test_no_part_of_a_verdicts_card_is_lost_on_the_page():
    more = {"hint": "no", "program": "def f(): ...", "oracle": "def g(): ...", "raised": "E: x", "notes": ["note"]}
    drawn = {"layouts": [[[2, 3], [3, 1], 0], [[3, 2], [1, 3], 0]], "mine_marks": [[0, 1]], "theirs_marks": [[0, 2]]}
    verdicts = [
        wrong(
            "aten.strided.permute", **more, **drawn, frames=[["permute", 4, "return alias(self)"], ["helper", 2, ""]]
        ),
        Verdict("aten.strided.permute", "disagreed", 9, 8, mine="0, " * 900, theirs="1", mine_marks=[[30, 31]]),
        wrong("aten.strided.permute", case={"program": "x\n" * 30}),
        Verdict("aten.strided.permute", "passed", 3, 3),
        Verdict("aten.strided.permute", "timed out", message="no answer"),
    ]
    for verdict in verdicts:
        shown = card(verdict, 3, "5 of 16 exercises · 11 of 40 points")
        assert _parts(_card({"text/html": shown})) == _parts(shown)


def _parts(markup):
    """The elements of some markup, with their attributes, their styles' properties, and the text."""
    found = []

    class Parts(HTMLParser):
        def handle_starttag(self, tag, attributes):
            given = dict(attributes)
            style = re.findall(r"\s*([\w-]+)\s*:\s*([^;]+)", given.pop("style", ""))
            found.append((tag, given, [(name, value.replace(" ", "")) for name, value in style]))

        def handle_data(self, data):
            found.append(data)

    Parts().feed(markup)
    return found
