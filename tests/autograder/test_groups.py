"""Group work: who gets whose notebook, marks and feedback."""

import shutil

import pytest
from marked import LAB, enter, mark_by_hand, open_marked

from autograder import late, sample
from autograder.alike import write_alike
from autograder.groups import MARK, share, source_of
from autograder.observe import GradingError


@pytest.fixture
def classroom(tmp_path, monkeypatch):
    monkeypatch.setenv("RUSHLIGHT_CLASSROOM", str(tmp_path))
    (tmp_path / "groups.csv").write_text("group,student\nred,ada\nred,ben\nred,cem\n")
    return tmp_path


@pytest.fixture
def gradebook(classroom):
    with open_marked() as gradebook:
        for student in ("ada", "ben", "cem"):
            gradebook.update_or_create_student(student)
        yield gradebook


@pytest.fixture
def hand_in(classroom):
    def hand_in(student, text="{}", time=None):
        folder = classroom / "submitted" / student / LAB
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        (folder / f"{LAB}.ipynb").write_text(text)
        if time:
            (folder / "timestamp.txt").write_text(time)

    return hand_in


@pytest.fixture
def notebooks(classroom):
    def notebooks():
        return {path.parts[-3]: path.read_text() for path in (classroom / "submitted").glob(f"*/{LAB}/*.ipynb")}

    return notebooks


def test_members_get_the_one_notebook_with_its_time_and_its_next_version(gradebook, hand_in, notebooks, classroom):
    hand_in("ada", '{"a": 1}', "2027-03-15 22:00:00 UTC")
    hand_in("zoe", '{"z": 1}')
    assert share(gradebook, LAB) == {}
    assert notebooks() == dict.fromkeys(["ada", "ben", "cem"], '{"a": 1}') | {"zoe": '{"z": 1}'}
    assert (classroom / "submitted" / "cem" / LAB / "timestamp.txt").read_text() == "2027-03-15 22:00:00 UTC"
    assert [source_of(student, LAB) for student in ("ada", "ben", "cem", "zoe")] == ["", "ada", "ada", ""]
    hand_in("ada", '{"a": 2}')
    assert share(gradebook, LAB) == {} and notebooks()["ben"] == notebooks()["cem"] == '{"a": 2}'


def test_a_members_own_notebook_stays_and_counts_for_that_member_alone(gradebook, hand_in, notebooks):
    hand_in("ada", '{"a": 1}')
    share(gradebook, LAB)
    hand_in("ben", '{"b": 1}')
    hand_in("ada", '{"a": 2}')
    assert share(gradebook, LAB) == {}
    assert notebooks() == {"ada": '{"a": 2}', "ben": '{"b": 1}', "cem": '{"a": 2}'}


def test_of_two_notebooks_none_is_chosen(gradebook, hand_in, notebooks):
    hand_in("ada", '{"a": 1}')
    hand_in("ben", '{"b": 1}')
    assert share(gradebook, LAB) == {
        "cem": "group red has the notebooks of ada, ben: copy the one that counts into this folder"
    }
    assert set(notebooks()) == {"ada", "ben"}


def test_a_member_who_is_in_no_gradebook_gets_no_copy(gradebook, hand_in, notebooks, classroom):
    (classroom / "groups.csv").write_text("lab,group,student\n01a,red,ada\n01a,red,bne\n00,red,cem\n")
    hand_in("ada")
    assert "not in the gradebook" in share(gradebook, LAB)["bne"] and set(notebooks()) == {"ada"}


def test_a_broken_notebook_is_not_shared(gradebook, hand_in, notebooks, classroom):
    hand_in("ada")
    (classroom / "submitted" / "ada" / LAB / "link").symlink_to("/etc/passwd")
    assert "not an ordinary file" in share(gradebook, LAB)["ben"] and set(notebooks()) == {"ada"}


@pytest.mark.parametrize(
    "text", ["group,student\nred,ada\nblue,ada\n", "group,student,lab\nred,ada,77\n", "student\nada\n"]
)
def test_a_mistake_in_the_groups_is_one_line_and_nothing_is_copied(gradebook, hand_in, notebooks, classroom, text):
    (classroom / "groups.csv").write_text(text)
    hand_in("ada")
    with pytest.raises(GradingError, match="groups.csv"):
        share(gradebook, LAB)
    assert set(notebooks()) == {"ada"}


def test_points_by_hand_for_the_notebook_are_those_of_its_copies_and_none_is_overwritten(gradebook, hand_in):
    hand_in("ada")
    hand_in("zoe")
    share(gradebook, LAB)
    for student in ("ada", "ben", "cem", "zoe"):
        enter(gradebook, student, 20)
    mark_by_hand(gradebook, "ada", 3)
    mark_by_hand(gradebook, "cem", 1)
    late.renew(gradebook, LAB)
    gradebook.db.expire_all()
    found = {each.student_id: each for each in late.submissions(gradebook, LAB)}
    assert {student: each.score for student, each in found.items()} == {"ada": 23, "ben": 23, "cem": 21, "zoe": 20}
    assert not found["ben"].needs_manual_grade
    assert late.remarks(gradebook, LAB) == ["cem has other points by hand than the group's notebook"]


def test_a_student_cannot_claim_the_marks_of_another_group(gradebook, hand_in, classroom):
    hand_in("ada")
    hand_in("zoe")
    (classroom / "submitted" / "zoe" / LAB / MARK).write_text("ada\n")
    for student in ("ada", "zoe"):
        enter(gradebook, student, 20)
    mark_by_hand(gradebook, "ada", 3)
    late.renew(gradebook, LAB)
    gradebook.db.expire_all()
    assert gradebook.find_submission(LAB, "zoe").score == 20


def test_each_member_has_marks_and_a_page_and_the_group_is_not_alike(
    gradebook, classroom, tmp_path_factory, quick_grade, isolated
):
    (classroom / "seed").write_text("1")
    place = tmp_path_factory.mktemp("sample")
    sample.make(place)
    for student, of in {"ada": "half_done", "zoe": "all_right", "yan": "all_right", "xi": "all_right"}.items():
        shutil.copytree(place / "submitted" / of, classroom / "submitted" / student)
    rows = {row.student: row.total for row in quick_grade(LAB)}
    assert rows == {"ada": 14, "ben": 14, "cem": 14, "xi": 28, "yan": 28, "zoe": 28}
    for student in ("ada", "ben", "cem"):
        assert f'<p class="who">{student}</p>' in (classroom / "feedback" / student / LAB / f"{LAB}.html").read_text()
    _, found, _ = write_alike(LAB, ())
    assert {student for pair in found for student in pair.students} == {"ada", "xi", "yan", "zoe"}
