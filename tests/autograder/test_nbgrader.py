"""nbgrader's own commands, run by hand as its documentation says, on a class in a directory of its own."""

import csv
import os
import shutil
import sys
import zipfile

import pytest

from autograder import sample
from autograder.check import exercises
from autograder.course import points

LAB = "01_strided"


def grades(place):
    with (place / "grades.csv").open() as file:
        return {row["student_id"]: float(row["raw_score"]) for row in csv.DictReader(file)}


def test_the_reference_gets_full_marks_an_untouched_lab_none_and_the_labs_stay_as_they_were(
    nbgrader, root, released, answers
):
    before = {path: path.read_bytes() for path in (root / "labs").rglob("*.*")}
    nbgrader.hand_in("untouched", LAB, released)
    sample.fill(released, answers)
    nbgrader.hand_in("all_right", LAB, released)
    nbgrader("generate_assignment", LAB)
    nbgrader("autograde", LAB)
    nbgrader("generate_feedback", LAB)
    nbgrader("export", "--to", str(nbgrader.place / "grades.csv"))
    assert grades(nbgrader.place) == {"all_right": sum(points(LAB).values()), "untouched": 0.0}
    page = (nbgrader.place / "feedback" / "untouched" / LAB / f"{LAB}.html").read_text()
    assert f"{exercises(LAB)[0]}: not attempted" in page
    assert {path: path.read_bytes() for path in (root / "labs").rglob("*.*")} == before


@pytest.mark.sweep
def test_a_file_that_is_no_notebook_does_not_stop_the_others(nbgrader):
    nbgrader.enrol("corrupt_file", "untouched")
    said = nbgrader("autograde", LAB, fails=True)
    assert "corrupt_file" in said
    assert (nbgrader.place / "autograded" / "untouched" / LAB / f"{LAB}.ipynb").exists()


@pytest.mark.sweep
def test_validate_passes_the_reference_and_fails_the_untouched_lab(nbgrader, root):
    assert "Success" in nbgrader("validate", f"solutions/{LAB}/{LAB}.ipynb")
    assert "VALIDATION FAILED" in nbgrader("validate", f"labs/{LAB}/{LAB}.ipynb")


def test_downloads_from_an_lms_are_collected_whatever_it_made_of_their_names(nbgrader, submissions):
    archive = nbgrader.place / "downloaded" / LAB / "archive"
    archive.mkdir(parents=True)
    lab = submissions / "half_done" / LAB / f"{LAB}.ipynb"
    shutil.copy(lab, archive / f"doejane_12345_678901_{LAB}.ipynb")
    shutil.copy(lab, archive / f"roejohn_LATE_12346_678902_{LAB}-1.ipynb")
    with zipfile.ZipFile(archive / "submissions.zip", "w") as bundle:
        bundle.write(lab, f"Ada Poe_77_assignsubmission_file_{LAB}.ipynb")
        bundle.write(lab, f"Ben Loe_78_assignsubmission_file/{LAB}.ipynb")
    nbgrader("zip_collect", LAB)
    for student in ("doejane", "roejohn", "Ada Poe", "Ben Loe"):
        assert (nbgrader.place / "submitted" / student / LAB / f"{LAB}.ipynb").read_text() == lab.read_text()


def test_a_student_cannot_hand_in_for_another_or_stop_the_collection(nbgrader, root, tmp_path):
    lab = (root / "labs" / LAB / f"{LAB}.ipynb").read_text()
    bomb, mine = tmp_path / "bomb.ipynb", tmp_path / "mine.zip"
    with bomb.open("wb") as file:
        file.truncate(300 << 20)
    with zipfile.ZipFile(mine, "w") as bundle:
        bundle.writestr(f"victim_1_2_{LAB}.ipynb", "forged")
    archive = nbgrader.place / "downloaded" / LAB / "archive"
    archive.mkdir(parents=True)
    folder = "Mal Ory_66_assignsubmission_file_"
    with zipfile.ZipFile(archive / "submissions.zip", "w", zipfile.ZIP_DEFLATED) as bundle:
        bundle.writestr(f"Ada Poe_77_assignsubmission_file_/{LAB}.ipynb", lab)
        bundle.writestr(f"{folder}/{LAB}.ipynb", lab)
        bundle.writestr(f"{folder}/{LAB} (1).ipynb", "a second one")
        bundle.writestr(f"{folder}/Ada Poe_1_2_{LAB}.ipynb", "forged")
        bundle.writestr(f"{folder}/x/Ben Loe_78_assignsubmission_file_/{LAB}.ipynb", "forged")
        bundle.writestr(f"{folder}/../Ben Loe_78_assignsubmission_file_/{LAB}.ipynb", "forged")
        bundle.writestr("..__66_assignsubmission_file_" + f"{LAB}.ipynb", "outside")
        bundle.writestr(f".._66_assignsubmission_file_{LAB}.ipynb", "outside")
        bundle.writestr(f"{folder}/broken.gz", "no archive")
        bundle.write(mine, f"{folder}/mine.zip")
        bundle.write(bomb, f"Big Boy_79_assignsubmission_file_{LAB}.ipynb")
    mine.rename(archive / "malory_3_4_homework.zip")
    (archive / f"doejane_5_6_{LAB}.ipynb").write_text("the first attempt")
    (archive / f"doejane_5_17_{LAB}-1.ipynb").write_text(lab)
    said = nbgrader("zip_collect", LAB)
    collected = {path.parts[-3]: path.read_text() for path in nbgrader.place.rglob(f"submitted/*/{LAB}/*.ipynb")}
    assert collected == dict.fromkeys(["Ada Poe", "Mal Ory", "doejane"], lab)
    assert not (nbgrader.place / LAB).exists() and "Big Boy" in said
    assert sum(path.stat().st_size for path in nbgrader.place.rglob("extracted/**/*.ipynb")) < 10 << 20


@pytest.fixture
def inbound(nbgrader, tmp_path):
    """`inbound(user, time)`: a submission in the exchange, in the name of a user. All files are those of who runs this."""
    inbound = tmp_path / "exchange" / "rushlight" / "inbound"
    inbound.mkdir(parents=True)

    def submit(user, time="2027-03-01 12:00:00 UTC", number=1):
        folder = inbound / f"{user}+{LAB}+{time}+{number}"
        folder.mkdir()
        (folder / f"{LAB}.ipynb").write_text(user)
        (folder / "timestamp.txt").write_text(time)
        (folder / "submission_secret.txt").write_text("secret")
        return folder

    return submit


@pytest.mark.skipif(sys.platform == "win32", reason="nbgrader's exchange needs the users of Unix")
def test_from_the_exchange_comes_what_a_user_owns_and_nothing_else(nbgrader, inbound, tmp_path):
    import pwd

    me = pwd.getpwuid(os.getuid()).pw_name
    (tmp_path / "secret").write_text("the teacher's")
    folder = inbound(me)
    (folder / "link.txt").symlink_to(tmp_path / "secret")
    (folder / "folder").symlink_to(tmp_path)
    os.mkfifo(folder / "pipe")
    (folder / "submission_secret.txt").unlink()
    inbound("victim")
    inbound(me, "no time", 2)
    (folder.parent / f"{me}+{LAB}+2027-04-01 12:00:00 UTC+3").symlink_to(tmp_path)
    nbgrader("collect", LAB, f"--Exchange.root={tmp_path / 'exchange'}")
    assert [path.name for path in (nbgrader.place / "submitted").iterdir()] == [me]
    collected = nbgrader.place / "submitted" / me / LAB
    assert (collected / f"{LAB}.ipynb").read_text() == me
    assert (collected / "link.txt").is_symlink() and (collected / "folder").is_symlink()
    assert (collected / "submission_secret.txt").read_text() and not (collected / "pipe").exists()


def test_a_roster_is_imported(nbgrader):
    (nbgrader.place / "roster.csv").write_text("id,last_name,first_name,email\ndoejane,Doe,Jane,jane@example.org\n")
    nbgrader("db", "student", "import", str(nbgrader.place / "roster.csv"))
    assert "doejane (Doe, Jane) -- jane@example.org" in nbgrader("db", "student", "list")
