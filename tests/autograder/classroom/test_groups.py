"""Group work: who gets whose notebook, marks and feedback."""

import os
import shutil

import pytest
from first_lab import HALF, POINTS
from marked import LAB, enter, mark_by_hand, open_marked

from autograder.classroom import grade as grading
from autograder.classroom import late, sample
from autograder.classroom.alike import write_alike
from autograder.classroom.groups import share_marks, share_notebooks, source_of
from autograder.classroom.table import Rules, policy_of, read_groups
from autograder.engine.observe import GradingError
from autograder.model import Lab, Submission


def share(gradebook):
    return share_notebooks(gradebook, Lab(LAB), read_groups(Lab(LAB)))


@pytest.fixture
def classroom(classroom):
    (classroom / "groups.csv").write_text("group,student\nred,ada\nred,ben\nred,cem\n")
    return classroom


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
    assert share(gradebook) == {}
    assert notebooks() == dict.fromkeys(["ada", "ben", "cem"], '{"a": 1}') | {"zoe": '{"z": 1}'}
    assert (classroom / "submitted" / "cem" / LAB / "timestamp.txt").read_text() == "2027-03-15 22:00:00 UTC"
    assert [source_of(Submission(Lab(LAB), student)) for student in ("ada", "ben", "cem", "zoe")] == [
        "",
        "ada",
        "ada",
        "",
    ]
    hand_in("ada", '{"a": 2}')
    assert share(gradebook) == {} and notebooks()["ben"] == notebooks()["cem"] == '{"a": 2}'


def test_a_members_own_notebook_stays_and_counts_for_that_member_alone(gradebook, hand_in, notebooks):
    hand_in("ada", '{"a": 1}')
    share(gradebook)
    hand_in("ben", '{"b": 1}')
    hand_in("ada", '{"a": 2}')
    assert share(gradebook) == {}
    assert notebooks() == {"ada": '{"a": 2}', "ben": '{"b": 1}', "cem": '{"a": 2}'}


def test_of_two_notebooks_none_is_chosen(gradebook, hand_in, notebooks):
    hand_in("ada", '{"a": 1}')
    hand_in("ben", '{"b": 1}')
    assert share(gradebook) == {
        "cem": "group red has the notebooks of ada, ben: copy the one that counts into this folder"
    }
    assert set(notebooks()) == {"ada", "ben"}


def test_a_name_that_nobody_has_gets_no_copy_and_is_named_with_a_similar_one(gradebook, hand_in, notebooks, classroom):
    (classroom / "groups.csv").write_text("lab,group,student\n01a,red,ada\n01a,red,bne\n00,red,cem\n01a,blue,x1\n")
    hand_in("ada")
    assert share(gradebook) == {} and set(notebooks()) == {"ada"}
    assert grading.remarks(Lab(LAB)) == [
        "2 of the 3 students of the roster have not handed in 01a_views: ben, cem",
        "groups.csv names bne, whom the class does not have; did you mean ben?",
        "groups.csv names x1, whom the class does not have; import the roster",
    ]


def test_of_many_who_have_not_handed_in_only_the_number_is_told(gradebook, hand_in, classroom):
    for student in (f"s{number:02}" for number in range(20)):
        gradebook.update_or_create_student(student)
    hand_in("s07")
    assert grading.remarks(Lab(LAB)) == ["22 of the 23 students of the roster have not handed in 01a_views"]


def test_a_broken_notebook_is_not_shared(gradebook, hand_in, notebooks, classroom):
    hand_in("ada")
    (classroom / "submitted" / "ada" / LAB / "link").symlink_to("/etc/passwd")
    assert "not an ordinary file" in share(gradebook)["ben"] and set(notebooks()) == {"ada"}


@pytest.mark.parametrize(
    "text",
    [
        "group,student\nred,ada\nblue,ada\n",
        "group,student,lab\nred,ada,01x\n",
        "student\nada\n",
        "group,student\nred,\n",
    ],
)
def test_a_mistake_in_the_groups_is_one_line_and_nothing_is_copied(gradebook, hand_in, notebooks, classroom, text):
    (classroom / "groups.csv").write_text(text)
    hand_in("ada")
    with pytest.raises(GradingError, match="groups.csv"):
        share(gradebook)
    assert set(notebooks()) == {"ada"}


def test_a_notebook_put_beside_a_copy_is_the_members_own_and_is_kept(gradebook, hand_in, notebooks, classroom):
    hand_in("ada", '{"a": 1}')
    share(gradebook)
    (classroom / "submitted" / "ben" / LAB / f"{LAB}.ipynb").write_text('{"b": 1}')
    hand_in("cem", '{"c": 1}')
    (classroom / "submitted" / "cem" / LAB / "copied-from.txt").write_text("ada")
    assert share(gradebook) == {}
    assert notebooks() == {"ada": '{"a": 1}', "ben": '{"b": 1}', "cem": '{"c": 1}'}


def test_a_copy_with_marks_of_its_own_is_not_taken_back(gradebook, hand_in, notebooks, classroom):
    hand_in("ada", '{"a": 1}')
    share(gradebook)
    enter(gradebook, "ben", 20)
    graded = gradebook.find_submission(LAB, "ben").notebooks[0].grades[0]
    graded.manual_score = 0.0
    gradebook.db.commit()
    (classroom / "groups.csv").write_text("group,student\nred,ada\n")
    left = share(gradebook)
    assert "points by hand" in left["ben"] and notebooks()["ben"] == '{"a": 1}'
    assert gradebook.find_submission(LAB, "ben").notebooks[0].grades[0].manual_score == 0.0


def test_a_copy_for_a_student_of_another_group_is_taken_back_with_its_marks(gradebook, hand_in, notebooks, classroom):
    hand_in("ada", '{"a": 1}')
    hand_in("dan", '{"d": 1}')
    share(gradebook)
    for student in ("ben", "cem"):
        enter(gradebook, student, 20)
    (classroom / "groups.csv").write_text("group,student\nred,ada\nblue,dan\nblue,ben\n")
    left = share(gradebook)
    assert left == {"cem": "not in the group of ada any more: the copy of that notebook and its points are removed"}
    assert notebooks() == {"ada": '{"a": 1}', "ben": '{"d": 1}', "dan": '{"d": 1}'}
    assert source_of(Submission(Lab(LAB), "ben")) == "dan" and not late.submissions(gradebook, Lab(LAB))


def test_the_marks_of_the_group_leave_a_member_who_hands_in_alone_and_no_others(gradebook, hand_in):
    hand_in("ada", '{"a": 1}')
    share(gradebook)
    for student in ("ada", "ben", "cem"):
        enter(gradebook, student, 20)
    mark_by_hand(gradebook, "ada", 3)
    gradebook.find_submission(LAB, "ada").notebooks[0].comments[0].manual_comment = "well said"
    late.renew(gradebook, Lab(LAB), policy_of(Lab(LAB)))
    given = gradebook.find_submission(LAB, "ben").notebooks[0]
    given.grades[0].extra_credit = 0.5  # of the copy's own
    gradebook.db.commit()
    hand_in("ben", '{"b": 1}')
    hand_in("cem", '{"c": 1}')
    assert share(gradebook) == {
        "ben": "handed in alone since: the points and comments by hand for the notebook of ada are removed; those that were given"
        f" to the copy stay: look at {given.grades[0].name}",
        "cem": "handed in alone since: the points and comments by hand for the notebook of ada are removed",
    }
    late.renew(gradebook, Lab(LAB), policy_of(Lab(LAB)))
    gradebook.db.expire_all()
    found = {each.student_id: each for each in late.submissions(gradebook, Lab(LAB))}
    assert {student: each.score for student, each in found.items()} == {"ada": 23, "ben": 20.5, "cem": 20}
    comments = {student: [each.manual_comment for each in one.notebooks[0].comments] for student, one in found.items()}
    assert "well said" in comments["ada"] and comments["ben"] == comments["cem"] == [None] * len(comments["ada"])
    assert share(gradebook) == {}


def test_a_notebook_that_cannot_be_read_leaves_the_marks_where_they_are(gradebook, hand_in, classroom):
    hand_in("ada", '{"a": 1}')
    share(gradebook)
    for student in ("ada", "ben"):
        enter(gradebook, student, 20)
    mark_by_hand(gradebook, "ada", 3)
    late.renew(gradebook, Lab(LAB), policy_of(Lab(LAB)))
    (classroom / "submitted" / "ben" / LAB / f"{LAB}.ipynb").write_bytes(b"\xff")
    assert share(gradebook) == {} and gradebook.find_submission(LAB, "ben").score == 23


def test_a_copy_is_marked_when_the_notebook_is_also_after_grading_again(gradebook, hand_in):
    hand_in("ada")
    share(gradebook)
    for student in ("ada", "ben"):
        enter(gradebook, student, 20)
    mark_by_hand(gradebook, "ada", 3)
    late.renew(gradebook, Lab(LAB), policy_of(Lab(LAB)))
    for grade in gradebook.find_submission(LAB, "ben").notebooks[0].grades:
        grade.needs_manual_grade = grade.manual_score is not None  # as nbgrader does when it grades again
    late.renew(gradebook, Lab(LAB), policy_of(Lab(LAB)))
    gradebook.db.expire_all()
    assert not gradebook.find_submission(LAB, "ben").needs_manual_grade


def _a_link_for_the_notebook(folder, elsewhere):
    folder.mkdir(parents=True)
    (folder / f"{LAB}.ipynb").symlink_to(elsewhere / "other")


def _a_link_for_the_lab(folder, elsewhere):
    folder.parent.mkdir()
    folder.symlink_to(elsewhere / "nothing")


def _a_link_for_the_student(folder, elsewhere):
    folder.parent.symlink_to(elsewhere)


def _a_file_for_the_lab(folder, elsewhere):
    folder.parent.mkdir()
    folder.write_text("")


def _a_folder_for_the_notebook(folder, elsewhere):
    (folder / f"{LAB}.ipynb").mkdir(parents=True)


def _a_pipe_for_the_notebook(folder, elsewhere):
    folder.mkdir(parents=True)
    os.mkfifo(folder / f"{LAB}.ipynb")


def _no_text(folder, elsewhere):
    folder.mkdir(parents=True)
    (folder / f"{LAB}.ipynb").write_bytes(b"\xff")


@pytest.mark.parametrize("is_copy", [False, True])
@pytest.mark.parametrize(
    "put",
    [
        _a_link_for_the_notebook,
        _a_link_for_the_lab,
        _a_link_for_the_student,
        _a_file_for_the_lab,
        _a_folder_for_the_notebook,
        _a_pipe_for_the_notebook,
        _no_text,
    ],
)
def test_a_members_folder_stops_no_lab_and_leads_nowhere(gradebook, hand_in, classroom, put, is_copy):
    elsewhere, folder = classroom / "elsewhere", classroom / "submitted" / "ben" / LAB
    elsewhere.mkdir()
    (elsewhere / "other").write_text("precious")
    hand_in("ada", '{"a": 1}')
    if is_copy:
        share(gradebook)
        hand_in("ada", '{"a": 2}')
    shutil.rmtree(folder.parent, ignore_errors=True)
    put(folder, elsewhere)
    if folder.is_dir() and not folder.parent.is_symlink():
        (folder / "copied-from.txt").write_text("ada")
    share(gradebook)
    assert [path.name for path in elsewhere.iterdir()] == ["other"] and (elsewhere / "other").read_text() == "precious"


def test_groups_are_read_in_a_moment_and_a_row_of_another_phase_stops_nothing(classroom, monkeypatch):
    rows = "".join(f"g{number},s{number},1a\n" for number in range(200))
    (classroom / "groups.csv").write_text(f"group,student,lab\nred,ada,77\nred,ada,02\nred,ada,01_gone\n{rows}")
    with pytest.raises(GradingError, match="01_gone"):
        read_groups(Lab(LAB))
    (classroom / "groups.csv").write_text(f"group,student,lab\nred,ada,77\nred,ada,02\nred,ada,09a\n{rows}")
    assert len(read_groups(Lab(LAB))) == 200
    assert read_groups(Lab("02_dispatcher")) == {"red": ["ada"]}  # a lab that is not given out any more


def test_what_was_copied_follows_the_notebook_and_extra_credit_is_shared(gradebook, hand_in):
    hand_in("ada")
    share(gradebook)
    for student in ("ada", "ben", "cem"):
        enter(gradebook, student, 20)
    for points, extra in ((3, 1), (2, 0.5)):
        mark_by_hand(gradebook, "ada", points)
        gradebook.find_submission(LAB, "ada").notebooks[0].grades[0].extra_credit = extra
        gradebook.db.commit()
        late.renew(gradebook, Lab(LAB), None, Submission(Lab(LAB), "ben"))
        gradebook.db.expire_all()
        found = {each.student_id: each.score for each in late.submissions(gradebook, Lab(LAB))}
        assert found == {"ada": 20 + points + extra, "ben": 20 + points + extra, "cem": 20}
    assert share_marks(gradebook, Lab(LAB), late.submissions(gradebook, Lab(LAB))) == []


def test_a_submission_without_notebooks_shares_no_marks(gradebook, hand_in):
    hand_in("ada")
    share(gradebook)
    for student in ("ada", "ben"):
        enter(gradebook, student, 20)
    gradebook.remove_submission_notebook(LAB, LAB, "ada")
    gradebook.db.expire_all()
    assert share_marks(gradebook, Lab(LAB), late.submissions(gradebook, Lab(LAB))) == []


def test_two_members_who_claim_each_others_notebook_are_compared(hand_in, classroom):
    for student, other in (("ada", "ben"), ("ben", "ada")):
        hand_in(student, f'"{student}"')
        (classroom / "submitted" / student / LAB / "copied-from.txt").write_text(other)
    assert [source_of(Submission(Lab(LAB), student)) for student in ("ada", "ben")] == ["", ""]


def test_points_by_hand_for_the_notebook_are_those_of_its_copies_and_none_is_overwritten(gradebook, hand_in):
    hand_in("ada")
    hand_in("zoe")
    share(gradebook)
    for student in ("ada", "ben", "cem", "zoe"):
        enter(gradebook, student, 20)
    mark_by_hand(gradebook, "ada", 3)
    mark_by_hand(gradebook, "cem", 1)
    late.renew(gradebook, Lab(LAB), policy_of(Lab(LAB)))
    gradebook.db.expire_all()
    found = {each.student_id: each for each in late.submissions(gradebook, Lab(LAB))}
    assert {student: each.score for student, each in found.items()} == {"ada": 23, "ben": 23, "cem": 21, "zoe": 20}
    assert not found["ben"].needs_manual_grade
    assert late.remarks(gradebook, Lab(LAB), Rules.of(Lab(LAB))) == [
        "cem has other points by hand than the group's notebook"
    ]


def test_a_student_cannot_claim_the_marks_of_another_group(gradebook, hand_in, classroom):
    hand_in("ada")
    hand_in("zoe")
    (classroom / "submitted" / "zoe" / LAB / "copied-from.txt").write_text("ada\n")
    for student in ("ada", "zoe"):
        enter(gradebook, student, 20)
    mark_by_hand(gradebook, "ada", 3)
    late.renew(gradebook, Lab(LAB), policy_of(Lab(LAB)))
    gradebook.db.expire_all()
    assert gradebook.find_submission(LAB, "zoe").score == 20


@pytest.mark.sweep
def test_each_member_has_marks_and_a_page_and_the_group_is_not_alike(
    gradebook, classroom, tmp_path_factory, quick_grade, isolated
):
    (classroom / "seed").write_text("1")
    place = tmp_path_factory.mktemp("sample")
    sample.make(place)
    for student, of in {"ada": "half_done", "zoe": "all_right", "yan": "all_right", "xi": "all_right"}.items():
        shutil.copytree(place / "submitted" / of, classroom / "submitted" / student)
    (classroom / "groups.csv").write_text("group,student\nred,ada\nred,ben\nred,cem\nred,cme\n")
    rows = {row.student: row.total for row in quick_grade(LAB)}
    assert rows == {"ada": HALF, "ben": HALF, "cem": HALF, "xi": POINTS, "yan": POINTS, "zoe": POINTS}
    for student in ("ada", "ben", "cem"):
        assert f'<p class="who">{student}</p>' in (classroom / "feedback" / student / LAB / f"{LAB}.html").read_text()
    _, found, _ = write_alike(Lab(LAB), ())
    assert {student for pair in found for student in pair.students} == {"ada", "xi", "yan", "zoe"}
    mark_by_hand(gradebook, "ada", 3)
    late.renew(gradebook, Lab(LAB), policy_of(Lab(LAB)))
    shutil.rmtree(classroom / "submitted" / "ben")
    shutil.copytree(place / "submitted" / "all_right", classroom / "submitted" / "ben")
    rows = {row.student: row for row in quick_grade(LAB)}
    assert (
        rows["ben"].remark()
        == "handed in alone since: the points and comments by hand for the notebook of ada are removed"
    )
    gradebook.db.expire_all()
    scores = {student: gradebook.find_submission(LAB, student).score for student in ("ada", "ben", "cem")}
    assert scores == {"ada": HALF + 3, "ben": POINTS, "cem": HALF + 3}
    assert gradebook.find_submission(LAB, "ben").needs_manual_grade
