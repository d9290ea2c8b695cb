"""Learning management systems: tables that they wrote are filled in, and packs of feedback go to the right students.

The tables follow Canvas' `gradebook_exporter.rb` and `gradebook_importer.rb`, Moodle's `assign/feedback/offline` and
`assign/feedback/file`, and Blackboard's page "Work offline with grade data".
"""

import csv
import io
import json
import re
import shutil
import zipfile
from pathlib import Path

import pytest
from first_lab import ALL
from marked import LAB, enter, mark_by_hand, open_marked

from autograder import cli
from autograder.classroom.collect import read_names
from autograder.classroom.lms import fill_in, pack_feedback, read_table
from autograder.engine.observe import GradingError
from autograder.model import Lab, Submission

DOWNLOADS = Path(__file__).parent / "downloads"  # from a time when the lab had 32 points
CANVAS, MOODLE, BLACKBOARD = (
    (DOWNLOADS / name).read_text(encoding="utf-8").replace("32", f"{ALL:g}")
    for name in ("canvas.csv", "moodle.csv", "blackboard.txt")
)


@pytest.fixture
def gradebook(classroom):
    with open_marked() as gradebook:
        yield gradebook


@pytest.fixture
def downloaded(classroom):
    def downloaded(names):
        folder = classroom / "downloaded" / LAB
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "names.json").write_text(json.dumps(names))

    return downloaded


@pytest.fixture
def fill(tmp_path, gradebook):
    """`fill(text)`: the text of the table after it has been filled in, and what was done."""

    def fill(text, encoding="utf-8", **options):
        path = tmp_path / "downloaded.csv"
        path.write_bytes(text.encode(encoding))
        table = read_table(path)
        done = fill_in(table, gradebook, Lab(LAB), **options)
        return table.to_bytes().decode(encoding), done

    return fill


@pytest.mark.parametrize(
    "text",
    [CANVAS, CANVAS.replace("\n", "\r\n"), CANVAS.rstrip("\n"), MOODLE, BLACKBOARD, CANVAS + "\n", "a,b,\n1,2,"]
    + ["a,b\r1,2\r", 'a,"b\nc"\n"1\r\n2",""""\n', 'a,b\n"1"x,2\n', 'a;b\n"1;2";3,5\n'],
    ids=range(11),
)
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-be"])
def test_a_table_that_is_read_and_written_is_the_same_bytes(tmp_path, text, encoding):
    path = tmp_path / "table.csv"
    path.write_bytes(text.encode(encoding, errors="replace"))
    table = read_table(path)
    assert table.to_bytes() == path.read_bytes()
    assert table.head == [
        cell.strip() for cell in next(csv.reader(io.StringIO(text, newline=""), delimiter=table.delimiter))
    ]


def test_in_canvas_table_only_the_cells_with_new_marks_change(fill, gradebook):
    enter(gradebook, "apoe", 23.5)
    enter(gradebook, "soneil", 14)
    enter(gradebook, "zmueller", 30)
    enter(gradebook, "troe", 20)
    text, done = fill(CANVAS)
    expected = CANVAS.replace("'=1+1,,9.00", "'=1+1,23.5,9.00").replace("Tue,,3.00,", "Tue,,14,")
    assert text == expected
    assert (done.by, done.column, done.new, done.same) == ("SIS Login ID", "Lab 01a – views (4411)", 1, 1)
    assert done.changed == ["soneil 3.00"] and done.kept == ["zmueller EX"]
    assert done.not_handed_in == ["Poe, Ada 502", "Student, Test 999"] and not done.not_in_file and not done.doubled


def test_a_dash_in_moodles_table_of_the_whole_course_is_an_empty_cell(fill, gradebook):
    enter(gradebook, "ada", 23.5)
    head = "First name,Last name,ID number,Email address,Assignment: Lab 01a (Real),Last downloaded from this course"
    rows = ["Ada,Poe,ada,ada@example.org,-,1790000000", "Ben,Roe,ben,ben@example.org,-,1790000000"]
    text, done = fill("\n".join([head, *rows]) + "\n")
    assert text == "\n".join([head, rows[0].replace("-", "23.5"), rows[1]]) + "\n"
    assert (done.new, done.changed) == (1, [])


@pytest.mark.parametrize("column", ["Student", "ID", "SIS Login ID", "Section"])
def test_a_column_that_is_not_for_marks_is_refused(fill, gradebook, column):
    enter(gradebook, "apoe", 23.5)
    with pytest.raises(GradingError, match="no column for marks"):
        fill(CANVAS, column=column)


def test_a_column_id_may_have_the_names_of_this_class(fill, gradebook):
    enter(gradebook, "s0127", 23.5)
    text, done = fill(f"id,Group 7,{LAB}\ns0127,1,\n127,2,\n", column=LAB, by="id")
    assert text.endswith("s0127,1,23.5\n127,2,\n") and done.new == 1


def test_a_mark_with_the_points_before_a_change_is_not_that_of_an_earlier_submission(fill, gradebook, classroom):
    enter(gradebook, "apoe", 23.5)
    path = classroom / "submitted" / "apoe" / LAB / f"{LAB}.ipynb"
    path.parent.mkdir(parents=True)
    path.write_bytes(Lab(LAB).path.read_bytes())
    submission = Submission(Lab(LAB), "apoe")
    submission.graded_path.parent.mkdir(parents=True)
    graded = json.loads(path.read_text())
    graded["metadata"]["submission"] = submission.digest
    submission.graded_path.write_text(json.dumps(graded))
    assert (fill(CANVAS)[1].outdated, fill(CANVAS)[1].with_other_points) == ([], [])
    worth = next(cell for cell in graded["cells"] if "points" in cell["metadata"].get("nbgrader", {}))["metadata"]
    worth["nbgrader"]["points"] += 1
    submission.graded_path.write_text(json.dumps(graded))
    assert (fill(CANVAS)[1].outdated, fill(CANVAS)[1].with_other_points) == ([], ["apoe"])
    assert "the points that the lab had before" in "".join(fill(CANVAS)[1].lines())


def test_the_mark_of_an_earlier_submission_is_named(fill, gradebook, classroom):
    enter(gradebook, "apoe", 23.5)
    assert fill(CANVAS)[1].outdated == []  # the submissions are kept elsewhere
    path = classroom / "submitted" / "apoe" / LAB / f"{LAB}.ipynb"
    path.parent.mkdir(parents=True)
    path.write_text("no notebook")
    assert fill(CANVAS)[1].outdated == ["apoe"]


def test_the_number_in_a_download_is_canvas_id(fill, gradebook, downloaded):
    downloaded({"poeada": f"poeada_LATE_502_88_{LAB}.ipynb", "roetim": f"all/roetim_505_89_{LAB}-1.ipynb"})
    enter(gradebook, "poeada", 7)
    enter(gradebook, "roetim", 8)
    text, done = fill(CANVAS)
    assert done.by == "ID" and '"Poe, Ada",502,s-2,apoe2,Mon,,7,,,' in text and "troe,Tue,,8,,," in text
    assert '"Poe, Ada",501,s-1,apoe,"Mon, ""early""",\'=1+1,,9.00' in text


def test_nbgraders_id_of_a_student_in_the_system_is_canvas_id(fill, gradebook):
    enter(gradebook, "ada", 7, lms_user_id="501")
    assert "'=1+1,7,9.00" in fill(CANVAS)[0]


def test_in_moodles_worksheet_the_participant_is_the_number_of_the_download(fill, gradebook, downloaded):
    downloaded(
        {
            "Ada Poe": f"x/Ada Poe_77_assignsubmission_file_/{LAB}.ipynb",
            "Ada Poe 2": f"Ada Poe 2_99_assignsubmission_file_{LAB}.ipynb",
            "Ben": f"Ben_12_assignsubmission_file_{LAB}.ipynb",
        }
    )
    for student in ("Ada Poe", "Ada Poe 2", "Ben"):
        enter(gradebook, student, 21)
    text, done = fill(MOODLE)
    assert text == MOODLE.replace('"Submitted for grading - ",,', '"Submitted for grading - ",21,')
    assert done.kept == ["Ada Poe 2 12.50"] and done.not_in_file == ["Ben"]
    assert done.not_handed_in == ["Participant 45 Seán O'Neil"]


def test_a_name_is_no_identifier(fill, gradebook):
    enter(gradebook, "Ada Poe", 21)
    with pytest.raises(GradingError, match="no student of 01a_views is in the file"):
        fill(MOODLE)


def test_an_address_identifies_in_any_case_of_its_letters(fill, gradebook):
    enter(gradebook, "ada", 21, email="ADA@example.org")
    assert 'ada@example.org,"Submitted for grading - ",21,' in fill(MOODLE)[0]


def test_blackboards_table_is_filled_in_in_utf_16_with_its_quotes(fill, gradebook):
    enter(gradebook, "APoe", 23.25)
    enter(gradebook, "soneil", 9)
    text, done = fill(BLACKBOARD, "utf-16")
    assert text == BLACKBOARD.replace('"Yes"\t""\t"9.00"', '"Yes"\t"23.25"\t"9.00"').replace("Needs Grading", "9")
    assert done.by == "Username" and done.changed == ["soneil Needs Grading"]


@pytest.mark.parametrize(
    ("text", "mark"),
    [
        ("Username;Lab 01a;Quiz\napoe;;7,5\nben;;\n", "apoe;23,5;7,5"),
        ("Username;Lab 01a;Quiz\napoe;;\nben;;\n", "apoe;23,5;"),
        ("Username;Lab 01a;Quiz\napoe;;7.5\nben;;\n", "apoe;23.5;7.5"),
        ('Username,Lab 01a,Quiz\napoe,,"7,5"\nben,,\n', 'apoe,"23,5","7,5"'),
        ("Username,Lab 01a,Quiz\napoe,,7\nben,,\n", "apoe,23.5,7"),
        ('"Username","Lab 01a","Quiz"\n"apoe",,"7"\n"ben",,\n', '"apoe","23.5","7"'),
    ],
)
def test_a_mark_is_written_as_the_other_numbers_of_the_file_are(fill, gradebook, text, mark):
    enter(gradebook, "apoe", 23.5)
    assert fill(text)[0].splitlines()[1] == mark


def test_what_occurs_twice_on_either_side_is_named_and_not_entered(fill, gradebook):
    twice = CANVAS.replace(",apoe2,", ",apoe,")
    enter(gradebook, "apoe", 23.5)
    enter(gradebook, "soneil", 14)
    enter(gradebook, "tim", 5, email="troe")
    gradebook.update_or_create_student("troe")  # who has not handed in
    text, done = fill(twice)
    assert text == twice.replace("Tue,,3.00,", "Tue,,14,")
    assert done.doubled == {"apoe": "apoe in the rows 4, 5", "tim": "tim in the rows 8 (also troe)"}
    assert any("NOT entered" in line for line in done.lines())


def test_filling_in_twice_changes_nothing(fill, gradebook):
    enter(gradebook, "apoe", 23.33)
    text, _ = fill(CANVAS)
    again, done = fill(text)
    assert again == text and (done.new, done.same, done.changed) == (0, 1, [])


def test_points_for_being_late_and_by_hand_count_and_missing_ones_are_named(fill, gradebook, classroom):
    gradebook.update_or_create_assignment(LAB, duedate="2027-03-15 22:00:00 UTC")
    (classroom / "late.csv").write_text("lab,late,grace\nevery lab,10%/day,\n")
    enter(gradebook, "apoe", 20, "2027-03-16 10:00:00 UTC")
    mark_by_hand(gradebook, "apoe", 4)
    assert "'=1+1,21.6,9.00" in fill(CANVAS)[0]
    (grade,) = [each for each in enter(gradebook, "troe", 3).notebooks[0].grades if each.cell.cell_type == "markdown"]
    grade.needs_manual_grade = True
    gradebook.db.commit()
    gradebook.db.expire_all()
    assert fill(CANVAS)[1].unmarked == ["troe"]


@pytest.mark.parametrize(
    "text", [CANVAS.replace(f"{ALL:g}.00", "100"), BLACKBOARD.replace(f"Pts: {ALL:g}", "Pts: 100")]
)
def test_a_lab_with_other_points_in_the_system_is_refused_or_scaled(fill, gradebook, text):
    enter(gradebook, "apoe", ALL / 2)
    with pytest.raises(GradingError, match=f"has {ALL:g} points here and 100 in"):
        fill(text)
    assert re.search(r"=1\+1,50,9.00|\"50\"", fill(text, scale=True)[0])


@pytest.mark.parametrize(
    ("text", "options", "words"),
    [
        (CANVAS.replace("Lab 01a – views", "Lab one"), {}, "no column for 01a_views"),
        (CANVAS.replace("Quiz (01b)", "Lab 01a again (4)"), {}, "2 columns for 01a_views"),
        (CANVAS, {"column": "Lab"}, "no column for 01a_views"),
        (CANVAS, {"column": "Notes"}, "read only"),
        (CANVAS, {"column": "Final Score"}, "read only"),
        (CANVAS, {"by": "Nickname"}, "no column of the file identifies students"),
        (CANVAS.replace("Tue", "Tue,x", 1), {}, "row 6: 11 cells, and 10 headings"),
        ("Name,Lab 01a\nAda,\n", {}, "no column of the file identifies students"),
        ("nothing", {}, "it has one column"),
        ("", {}, "it has one column"),
    ],
)
def test_a_table_that_leaves_open_what_is_meant_is_refused(fill, gradebook, text, options, words):
    enter(gradebook, "apoe", 16)
    with pytest.raises(GradingError, match=re.escape(words)):
        fill(text, **options)


def test_a_worksheet_in_another_language_needs_the_names_of_two_columns(fill, gradebook, downloaded):
    downloaded({"Ada": f"Ada_77_assignsubmission_file_{LAB}.ipynb"})
    enter(gradebook, "Ada", 21)
    german = "ID,Bewertung\nTeilnehmer/in77,\nTeilnehmer/in7,\n"
    with pytest.raises(GradingError, match="--column"):
        fill(german)
    assert fill(german, column="bewertung")[0] == german.replace("77,", "77,21")


@pytest.mark.parametrize("data", [b"PK\x03\x04", b"\xd0\xcf\x11\xe0", b"\xff\xfea"])
def test_a_file_that_is_no_text_is_refused(tmp_path, data):
    (tmp_path / "x.csv").write_bytes(data)
    with pytest.raises(GradingError, match="spreadsheet|not text"):
        read_table(tmp_path / "x.csv")


# The commands --------------------------------------------------------------------------------------------------------


@pytest.fixture
def rushlight(monkeypatch, capsys):
    def rushlight(*arguments):
        monkeypatch.setattr("sys.argv", ["rushlight", *map(str, arguments)])
        with pytest.raises(SystemExit) as caught:
            cli.main()
        said = capsys.readouterr()
        return caught.value.code or 0, said.out + said.err

    return rushlight


def test_the_command_writes_a_new_file_and_no_other(rushlight, gradebook, tmp_path, monkeypatch):
    enter(gradebook, "apoe", 23.5)
    given, new = tmp_path / "given.csv", tmp_path / "new.csv"
    given.write_text(CANVAS)
    code, _ = rushlight("marks", "01a", "--into", given, "--out", new)
    assert code == 0 and "23.5" in new.read_text() and given.read_text() == CANVAS
    before = new.read_bytes()
    for target in (given, new):
        code, said = rushlight("marks", "01a", "--into", given, "--out", target)
        assert "exists" in str(code) and new.read_bytes() == before and given.read_text() == CANVAS


def test_the_marks_of_the_term_go_into_a_new_file_too(rushlight, gradebook, tmp_path):
    roster = tmp_path / "roster.csv"
    roster.write_text("id\n")
    code, _ = rushlight("marks", "--out", roster)
    assert "exists" in str(code) and roster.read_text() == "id\n"
    code, said = rushlight("marks", "01a", "--into", roster, "--out", tmp_path / "new.csv", "--drop", "1")
    assert "--drop" in f"{code} {said}" and not (tmp_path / "new.csv").exists()


def test_a_gradebook_that_is_missing_or_broken_is_one_line(rushlight, classroom):
    code, _ = rushlight("marks")
    assert "there is no" in str(code) and not (classroom / "gradebook.db").exists()
    (classroom / "gradebook.db").write_bytes(b"SQLite format 3\0 half of it")
    code, said = rushlight("marks")
    assert "cannot be used" in str(code) and "Traceback" not in said


# Feedback ------------------------------------------------------------------------------------------------------------


def moodles_user(name, participants):
    """The participant to whom Moodle gives a file of an archive, and the name of the file there (`importziplib.php`)."""
    parts = name.split("/")
    while parts:
        info = parts.pop(0).split("_", 4)
        if len(info) >= 4 and info[1].isdigit() and int(info[1]) in participants and info[2].startswith("assign"):
            return int(info[1]), "/".join([*info[4:], *parts])
    return None


def canvas_user(name, attachments):
    """The user to whom Canvas gives a file: the first number, if the second is one of the user's files (`assignment.rb`)."""
    user, attachment = [part for part in name.split("_") if re.fullmatch(r"\d+", part)][:2]
    return int(user) if attachments.get(int(attachment)) == int(user) else None


@pytest.mark.sweep
def test_each_student_finds_the_own_page_in_the_pack_and_no_other(
    nbgrader, monkeypatch, submissions, quick_grade, capsys, isolated
):
    monkeypatch.setenv("RUSHLIGHT_CLASSROOM", str(nbgrader.place))
    (nbgrader.place / "seed").write_text("1")
    text = (submissions / "untouched" / LAB / f"{LAB}.ipynb").read_text()
    moodle = {
        77: ("Ada Poe", f"Ada Poe_77_assignsubmission_file_/{LAB}_77_456_.ipynb"),
        99: ("Ada Poe 99", f"Ada Poe 99_99_assignsubmission_file_/{LAB} (1).ipynb"),
        45: ("Seán O'Neil, Jr_x", f"Seán O'Neil, Jr_x_45_assignsubmission_file_{LAB}.ipynb"),
    }
    canvas = {501: ("poeada", f"poeada_LATE_501_9001_{LAB}-1.ipynb"), 502: ("a_b", f"a_b_502_9002_{LAB}.ipynb")}
    archive = nbgrader.place / "downloaded" / LAB / "archive"
    archive.mkdir(parents=True)
    with zipfile.ZipFile(archive / "submissions.zip", "w") as bundle:
        for _, name in (moodle | canvas).values():
            bundle.writestr(name, text)
        bundle.writestr(f"poeada_501_8000_{LAB}.ipynb", "an earlier one")
    nbgrader("zip_collect", LAB)
    nbgrader.enrol("untouched")  # handed in by other means
    assert len([row for row in quick_grade(LAB) if not row.problem]) == 6

    with open_marked() as gradebook:
        written, left = pack_feedback(Lab(LAB), gradebook)
        assert left == ["the file did not come from Canvas or Moodle (1): untouched"]
        packs = {path.stem.rpartition("-")[2]: zipfile.ZipFile(path) for path, _ in written}
        assert [count for _, count in written] == [2, 3]
        people = {number: student for number, (student, _) in (moodle | canvas).items()}
        found = {}
        for name in packs["moodle"].namelist():
            number, file = moodles_user(name, {*moodle})
            assert file == f"{LAB}.html" and number not in found
            found[number] = packs["moodle"].read(name).decode()
        for name in packs["canvas"].namelist():
            number = canvas_user(name, {9001: 501, 9002: 502, 8000: 501})
            assert number not in found
            found[number] = packs["canvas"].read(name).decode()
        assert set(found) == set(people)
        for number, student in people.items():
            (own,) = re.findall(r'<p class="who">(.*?)</p>', found[number])
            assert own.replace("&#39;", "'") == student

        mark_by_hand(gradebook, "poeada", 2)
        _, left = pack_feedback(Lab(LAB), gradebook)
        (line,) = [each for each in left if each.endswith("(1): poeada")]
        assert "rushlight grade 01a" in line
        (nbgrader.place / "submitted" / "a_b" / LAB / f"{LAB}.ipynb").write_text(text.replace("{", "{ ", 1))
        shutil.rmtree(nbgrader.place / "feedback" / "Ada Poe")
        _, left = pack_feedback(Lab(LAB), gradebook)
        assert sorted(name for line in left for name in line.rpartition(": ")[2].split("; ")) == [
            "Ada Poe",
            "a_b",
            "poeada",
            "untouched",
        ]


@pytest.mark.parametrize("text", ["[]", "7", '{"ada": 7}', "{"])
def test_names_of_another_shape_are_no_names(tmp_path, text):
    (tmp_path / "names.json").write_text(text)
    assert read_names(tmp_path) == {}
