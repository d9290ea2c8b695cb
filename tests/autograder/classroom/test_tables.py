"""The small tables of an instructor as spreadsheets of many countries write them, and with the mistakes of people."""

import os

import pytest

from autograder.classroom import table
from autograder.classroom.lms import read_table
from autograder.classroom.table import read_rows
from autograder.engine.observe import GradingError
from autograder.model import Course, Lab

LAB = "01a_views"
GROUPS = "group,student\nred,ada\nred,José\n"
READ = {"red": ["ada", "José"]}


SEMICOLONS, TABS = GROUPS.replace(",", ";"), GROUPS.replace(",", "\t")


@pytest.mark.parametrize(
    "data",
    [
        GROUPS.encode(),
        GROUPS.encode("utf-8-sig"),
        SEMICOLONS.encode("utf-8-sig"),
        TABS.encode("utf-16"),
        TABS.encode("utf-16-le"),
        TABS.encode("utf-16-be"),
        GROUPS.replace("\n", "\r\n").encode("utf-8-sig"),
        GROUPS.replace("\n", "\r").encode(),
        GROUPS.rstrip("\n").encode(),
        GROUPS.replace("\n", "\n\n").encode(),
        b"\n\r\n" + GROUPS.encode(),
        GROUPS.replace("\n", "\n,\n   ,\t\n").encode(),
        GROUPS.replace("\n", "  \n").replace(",", " , ").encode(),
        GROUPS.replace("\n", "\xa0\n").encode(),
        GROUPS.replace("\n", ",,,\n").encode(),
        '"group","student"\n"red","ada"\n"red","José"\n'.encode(),
        GROUPS.replace("group,student", "Group,STUDENT").encode(),
        'student,name,group\nada,"Ada\nLovelace",red\nJosé,,red\n'.encode(),
        GROUPS.encode() + b"\x0c\n",
    ],
    ids=range(19),
)
def test_groups_are_read_as_any_spreadsheet_writes_them(classroom, data):
    (classroom / "groups.csv").write_bytes(data)
    assert table.read_groups(Lab(LAB)) == READ


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"red,ada\nred,ben\n", "needs the columns group, student; it has: red, ada"),
        (b"", "needs the columns"),
        (b"\n\n", "needs the columns"),
        (b"group student\nred ada\n", "needs the columns group, student; it has: group student"),
        (b"PK\x03\x04 and so on", "is a spreadsheet"),
        (TABS.encode("utf-16")[:-1], "is not text in UTF-8 or UTF-16"),
        (SEMICOLONS.encode("cp1252"), "save it as CSV in UTF-8"),
        (b"group,student\n\nred,ada,ben\n", "line 3: 3 cells, and 2 headings"),
        (b"group,student,student\nred,ada,ben\n", "the heading student is there twice"),
        (b"group,student\nred,ada\n\nblue,ada\n", "line 4: ada twice for 01a_views, also in line 2"),
        (b"group,student\nred,ada\nred,ada \n", "line 3: ada twice"),
        (b"group,student\nred\n", "line 2: it names no student"),
        (b"group,student\n,ada\n", "line 2: it names no group"),
        (b"group,student,lab\nred,ada,\nred,ben,01x\n", "line 3: there is no lab '01x'"),
        (b'group,student,note\nred,ada,"two\nlines"\nblue,,\n', "line 4: it names no student"),
        (b'group,student\nred,"ada\nred,ben\n', "line 2: a quote in "),
        (b'group,student\nred,"ada" x\n', "line 2: a quote in "),
    ],
    ids=range(17),
)
def test_a_mistake_in_the_groups_is_named_with_its_file_and_line(classroom, data, said):
    (classroom / "groups.csv").write_bytes(data)
    with pytest.raises(GradingError) as error:
        table.read_groups(Lab(LAB))
    assert f"{classroom / 'groups.csv'}" in str(error.value) and said in str(error.value)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        ("ada,01a,05.03.2027 22:00", "line 2: '05.03.2027 22:00' is not a time"),  # for nbgrader the third of May
        ("ada,01a,05/03/2027", "line 2: '05/03/2027' is not a time"),
        ("ada,01a,22:00", "line 2: '22:00' is not a time"),  # for nbgrader today
        ("ada,01a,2027-03-18\n\nada,1a,2027-03-19", "line 4: ada has another time in line 2: leave one"),
        (",01a,2027-03-18", "line 2: it names no student"),
        ("ada,,2027-03-18", "line 2: there is no lab ''"),
        ("ada,01a,2027-03-18,late train", "line 2: 4 cells, and 3 headings"),
    ],
)
def test_a_mistake_in_the_extensions_is_named_with_its_line(classroom, rows, said):
    (classroom / "extensions.csv").write_text(f"student,lab,until\n{rows}\n")
    with pytest.raises(GradingError, match="extensions.csv") as error:
        table.read_extensions(Lab(LAB))
    assert said in str(error.value)


def test_an_extension_that_is_there_twice_counts_once(classroom):
    (classroom / "extensions.csv").write_text("student;lab;until\nada;01a;2027-03-18\nada;1a;2027-03-18 00:00\n")
    assert [*table.read_extensions(Lab(LAB))] == ["ada"]


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        ("01a,10 %/day,", "line 2: a late policy is"),
        ("01a;10,5%/day;", "line 2: a late policy is"),
        ("\n01a,10%/day,15", "line 3: a time of grace"),
        ("01a,10%/day,\n\n1a,5%/day,", "line 4: a second policy for 01a_views, after line 2: leave one"),
        ("every lab,10%/day,\nevery lab,10%/day,", "line 3: a second policy for every lab, after line 2"),
        ("all labs,10%/day,", "line 2: there is no lab 'all labs'"),
    ],
)
def test_a_mistake_in_the_policies_is_named_with_its_line(classroom, rows, said):
    head = "lab;late;grace" if ";" in rows else "lab,late,grace"
    (classroom / "late.csv").write_text(f"{head}\n{rows}\n")
    with pytest.raises(GradingError, match="late.csv") as error:
        table.policy_of(Lab(LAB))
    assert said in str(error.value)


def test_a_policy_is_added_to_a_table_of_a_spreadsheet_and_nothing_is_lost(classroom):
    path = classroom / "late.csv"
    path.write_bytes("Lab;Late;Grace;Why\n1a;5%/day;;für alle\n".encode("utf-16"))
    table.set_policy(Course(), Lab("02a_dispatch"), "10%/day", "15min")
    assert path.read_text(encoding="utf-8") == "lab,late,grace,Why\n1a,5%/day,,für alle\n02a_dispatch,10%/day,15min,\n"


@pytest.mark.parametrize("read", [read_table, lambda path: [*read_rows(path, ("group", "student"))]])
def test_what_is_no_file_or_may_not_be_read_is_one_line(tmp_path, read, monkeypatch):
    (tmp_path / "folder.csv").mkdir()
    (tmp_path / "gone.csv").symlink_to("nowhere")
    with pytest.raises(GradingError, match="folder.csv cannot be read: Is a directory"):
        read(tmp_path / "folder.csv")
    with pytest.raises(GradingError, match="there is no file .*gone.csv"):
        read(tmp_path / "gone.csv")
    (tmp_path / "closed.csv").write_text(GROUPS)

    def refuse(path):
        raise PermissionError(13, os.strerror(13), str(path))

    monkeypatch.setattr("pathlib.Path.read_bytes", refuse)  # root may read all files
    with pytest.raises(GradingError, match="closed.csv cannot be read: Permission denied"):
        read(tmp_path / "closed.csv")


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"", "it has one column"),
        (b"Student,ID\nAda,1,2\n", "row 2: 3 cells, and 2 headings"),
        (b"\nStudent,ID\nAda,1\n", "it has one column"),
        (b"Student ID\nAda\n", "it has one column"),
        (b"\xd0\xcf\x11\xe0", "is a spreadsheet"),
        ("Student\tID\n".encode("utf-16") + b"A", "is not text"),
    ],
    ids=range(6),
)
def test_a_file_that_is_no_table_of_a_learning_system_is_one_line(tmp_path, data, said):
    path = tmp_path / "downloaded.csv"
    path.write_bytes(data)
    with pytest.raises(GradingError, match="downloaded.csv") as error:
        read_table(path)
    assert said in str(error.value)
