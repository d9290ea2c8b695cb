"""nbgrader's own commands, run by hand as its documentation says, on a class in a directory of its own."""

import csv
import os
import re
import shutil
import sys
import zipfile

import pytest
from marked import enter, open_marked
from sweep import sweep

from autograder.classroom import sample
from autograder.classroom.collect import DOWNLOADED, expect_own_exchange
from autograder.classroom.late import submissions as submissions_of
from autograder.cli import app
from autograder.engine.observe import GradingError
from autograder.model import MAX_FILES, MAX_FOLDER, Lab, lab_names, reason_in_timestamp

LAB = "01a_views"


def grades(place):
    with (place / "grades.csv").open() as file:
        return {row["student_id"]: float(row["raw_score"]) for row in csv.DictReader(file)}


def test_the_reference_gets_full_marks_an_untouched_lab_none_and_the_labs_stay_as_they_were(
    nbgrader, root, released, answers, drawn_once
):
    (nbgrader.place / "seed").write_text("1")  # whose cases are drawn once
    before = {path: path.read_bytes() for path in (root / "labs").rglob("*.*")}
    nbgrader.hand_in("untouched", LAB, released)
    sample.fill(released, answers)
    nbgrader.hand_in("all_right", LAB, released)
    nbgrader("generate_assignment", LAB, "--force")  # as the button *Generate* does
    nbgrader("autograde", LAB)
    nbgrader("generate_feedback", LAB)
    nbgrader("export", "--to", str(nbgrader.place / "grades.csv"))
    assert grades(nbgrader.place) == {"all_right": sum(Lab(LAB).points.values()), "untouched": 0.0}
    page = (nbgrader.place / "feedback" / "untouched" / LAB / f"{LAB}.html").read_text()
    first = Lab(LAB).exercises[0]
    assert re.search(rf'id="check-{first.replace(".", "-")}".*?</th>\s*<td>not attempted</td><td>0 of 2</td>', page)
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
        bundle.write(lab, "Cat Moe_79_assignsubmission_file_/home.work.ipynb")
        bundle.write(lab, f"Dan Noe_80_assignsubmission_file_/ana_{LAB}.ipynb")
        bundle.write(lab, f"Dan Noe_80_assignsubmission_file_/{LAB}.ipynb")
    said = nbgrader("zip_collect", LAB)
    assert [path.name for path in nbgrader.place.glob("submitted/Cat Moe/*/*.ipynb")] == ["home.ipynb"]
    assert [path.name for path in nbgrader.place.glob("submitted/Dan Noe/*/*.ipynb")] == [f"{LAB}.ipynb"]
    assert f"ana_{LAB}.ipynb: it has no name of a submission" in said
    for student in ("doejane", "roejohn", "Ada Poe", "Ben Loe"):
        assert (nbgrader.place / "submitted" / student / LAB / f"{LAB}.ipynb").read_text() == lab.read_text()


def test_the_name_of_every_lab_is_recognised_in_a_download():
    for lab in lab_names():
        for name in (f"doejane_12345_678901_{lab}-1.ipynb", f"Ada Poe_77_assignsubmission_file/{lab}_mine.ipynb"):
            assert re.match(DOWNLOADED, name)["file_id"] == lab


def test_a_student_cannot_hand_in_for_another_or_stop_the_collection(nbgrader, root, tmp_path):
    lab = (root / "labs" / LAB / f"{LAB}.ipynb").read_text()
    bomb, mine = tmp_path / "bomb.ipynb", tmp_path / "mine.zip"
    with bomb.open("wb") as file:
        file.truncate(MAX_FOLDER + 1)
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


def download(nbgrader, files):
    """Put files and archives (a dict of their members) into the folder of downloads."""
    archive = nbgrader.place / "downloaded" / LAB / "archive"
    for name, content in files.items():
        (archive / name).parent.mkdir(parents=True, exist_ok=True)
        if isinstance(content, dict):
            with zipfile.ZipFile(archive / name, "w", zipfile.ZIP_DEFLATED) as bundle:
                for member, text in content.items():
                    bundle.writestr(member, text)
        else:
            (archive / name).write_text(content)


def collect(nbgrader):
    """Return the submission of each student, and the output."""
    said = nbgrader("zip_collect", LAB)
    return {path.parts[-3]: path.read_text() for path in nbgrader.place.rglob(f"submitted/*/{LAB}/*.ipynb")}, said


def test_an_archive_or_a_member_that_cannot_be_unpacked_costs_itself_only(nbgrader):
    digits, cjk, mal = "1" * 5000, "漢" * 200, "Mal Ory_66_assignsubmission_file_"
    bad = {
        f"Ben Loe_78_assignsubmission_file_{LAB}{cjk}.ipynb": "its name is too long for a file",
        f"{'x' * 300}_79_80_{LAB}.ipynb": "the student's name is too long for a file",
        f"Cat Moe_81_assignsubmission_file_/a_{digits}_.ipynb": "a number of too many digits",
        f"Dan Noe_{digits}_82_{LAB}.ipynb": "a number of too many digits",
        f"{mal}/broken.zip": "no archive",
    }
    good = {f"Eve Poe_83_assignsubmission_file_{LAB}.ipynb": "good", f"{mal}/{LAB} (1).ipynb": "good"}
    files = {"submissions.zip": bad | good, "broken.zip": "no archive", "half.zip": good}
    files |= {f"roejohn_1_2_{LAB}.ipynb": "good", "Joe Doe_1_assignsubmission_file_/broken.zip": "no archive"}
    download(nbgrader, files)
    half = nbgrader.place / "downloaded" / LAB / "archive" / "half.zip"
    half.write_bytes(half.read_bytes()[:-30])
    collected, said = collect(nbgrader)
    assert collected == dict.fromkeys(["Eve Poe", "Mal Ory", "roejohn"], "good")
    for name in ["broken.zip", "half.zip", "Ben Loe", "xxx", "Cat Moe", "Dan Noe", f"{mal}/broken.zip", "Joe Doe"]:
        assert [line for line in said.splitlines() if "Skipped" in line and name in line]
    assert "Traceback" not in said and max(map(len, said.splitlines())) < 1000


FORGED = [
    "Ev_il_9_assignsubmission_file_/Ada Poe_999_assignsubmission_file_{}.ipynb",
    "Ev_il_9_assignsubmission_file/Ada Poe_999_999_{}.ipynb",
    "_9_assignsubmission_file_/Ada Poe_999_999_{}.ipynb",
    "Evil_9_assignsubmission_comments_/Ada Poe_999_999_{}.ipynb",
    "ev_il_9_9_homework/Ada Poe_999_999_{}.ipynb",
    "Evil_9_assignsubmission_file_Ada Poe_999_assignsubmission_file_{}.ipynb",
    "evil_9_9_Ada Poe_999_999_{}.ipynb",
    "ev_il_9_9_Ada Poe_999_999_{}.ipynb",
    "Ada Poe_77_assignsubmission_file_{}_9_assignsubmission_file_x.ipynb",
    "Ada Poe_77_9_{}_9_assignsubmission_file_/x.ipynb",
]


@pytest.mark.parametrize("zipped", [True, False])
def test_no_name_that_a_student_wrote_is_taken_for_the_systems(nbgrader, zipped):
    files = {f"Ada Poe_77_assignsubmission_file_{LAB}.ipynb": "honest"} | {
        name.format(LAB): "forged" for name in FORGED
    }
    download(nbgrader, {"all.zip": files} if zipped else files)
    collected, said = collect(nbgrader)
    assert collected == {"Ada Poe": "honest"} and said.count("Skipped") == len(FORGED)


def test_a_name_may_have_an_underscore(nbgrader):
    names = {
        "ro_e_john_LATE_1_2_{}.ipynb": "ro_e_john",
        "Ada_L. Poe_3_assignsubmission_file_/{}.ipynb": "Ada_L. Poe",
        "B_en_4_assignsubmission_file_{}_2027_11_22.ipynb": "B_en",
    }
    download(nbgrader, {"CS_2027/" + name.format(LAB): student for name, student in names.items()})
    assert collect(nbgrader)[0] == {student: student for student in names.values()}


def test_blackboards_names_tell_the_student_and_the_minute(nbgrader, root):
    page = (root / "docs" / "lms.md").read_text(encoding="utf-8")
    (expression,) = set(re.findall(r'named_regexp="(.*?)"', page))
    names = [
        "Lab 01a_jdoe_attempt_2027-03-15-22-30-07_{}.ipynb",
        "Lab 01a_ben.roe2_attempt_2027-03-16-00-05-00_{} (1).ipynb",
    ]
    download(nbgrader, {"gradebook_CS.zip": dict.fromkeys([name.format(LAB) for name in names], "{}")})
    nbgrader("zip_collect", LAB, f"--FileNameCollectorPlugin.named_regexp={expression}")
    times = {path.parts[-3]: path.read_text() for path in nbgrader.place.rglob("submitted/*/*/timestamp.txt")}
    assert times == {"jdoe": "2027-03-15 22:30:07", "ben.roe2": "2027-03-16 00:05:00"}


def test_two_students_of_one_name_are_both_refused_and_named(nbgrader):
    first, second = (f"Ada Poe_{number}_assignsubmission_file_" for number in (77, 999))
    download(
        nbgrader,
        {"all.zip": {f"{first}/{LAB}.ipynb": "one"}, f"{second}{LAB}.ipynb": "two", f"ben_1_2_{LAB}.ipynb": "x"},
    )
    collected, said = collect(nbgrader)
    assert collected == {"ben": "x"}
    for name in (first, second):
        assert [line for line in said.splitlines() if "Skipped" in line and name in line and "77, 999" in line]


def test_a_students_archive_stays_packed_wherever_it_is(nbgrader):
    inside = {f"victim_1_2_{LAB}.ipynb": "forged", f"{LAB}.ipynb": "mine"}
    folder = "Ev_il_9_assignsubmission_file_"
    download(
        nbgrader,
        {f"{folder}/x/a.zip": inside, f"{folder}b.zip": inside, "ev_il_1_2_c.zip": inside, f"ben_1_2_{LAB}.ipynb": "x"},
    )
    assert collect(nbgrader)[0] == {"ben": "x"}


def test_what_a_student_named_reaches_the_terminal_as_text(nbgrader):
    escape = "\x1b]0;PWNED\x07\x1b[31m\u202e"
    names = [f"{escape}.ipynb", f"Joe_1_assignsubmission_file_{LAB}{escape}.ipynb", f"Jo{escape}e_1_2_{LAB}.ipynb"]
    files = dict.fromkeys(names, "text")
    download(nbgrader, {"all.zip": files, f"Ben_7_assignsubmission_file_/{escape}.ipynb": "text"})
    collected, said = collect(nbgrader)
    assert collected == {"Joe": "text"} and not {*escape[:1], "\x07", "\u202e"} & {*said}


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
    assert not {"link.txt", "folder", "pipe"} & {path.name for path in collected.iterdir()}
    assert (collected / "submission_secret.txt").read_text()


@pytest.mark.skipif(sys.platform == "win32", reason="nbgrader's exchange needs the users of Unix")
def test_the_first_of_equal_submissions_in_the_exchange_counts_and_a_zone_is_left_for_grading(
    nbgrader, inbound, tmp_path
):
    first, last, unknown = "2027-03-01 12:00:00 UTC", "2027-03-09 12:00:00 UTC", "2027-03-01 12:00:00 CEST"
    for number, time in enumerate((first, "2027-03-05 12:00:00 UTC", last)):
        (inbound("ada", time, number) / f"{LAB}.ipynb").write_text("another" if number == 1 else "the same")
    inbound("ben", unknown)
    options = (f"--Exchange.root={tmp_path / 'exchange'}", "--ExchangeCollect.check_owner=False")
    nbgrader("collect", LAB, *options)
    times = {path.parts[-3]: path.read_text() for path in nbgrader.place.glob("submitted/*/*/timestamp.txt")}
    assert times == {"ada": last, "ben": unknown}
    (row,) = csv.DictReader((nbgrader.place / "handed_in" / f"{LAB}.csv").open())
    assert (row["student"], row["time"]) == ("ada", "2027-03-01 12:00:00.000000 UTC")
    assert "no time zone 'CEST'" in nbgrader(
        "db", "assignment", "add", LAB, "--duedate=2027-03-01 12:00 CEST", fails=True
    )
    nbgrader("db", "assignment", "add", LAB, "--duedate=2027-03-01 12:00:00 Europe/Berlin")
    assert (nbgrader.place / "zones" / LAB).read_text() == "Europe/Berlin"


def by_another_user(path):
    os.chown(path, 12345, 12345)


STAND_INS = {  # how the course's folder in the exchange is open, and the words of what to do
    "the exchange is not sticky": (lambda exchange: exchange.chmod(0o777), "chmod +t"),
    "another user's course": (lambda exchange: by_another_user(exchange / "rushlight"), "is another user's: as root"),
    "another user's inbound": (lambda exchange: by_another_user(exchange / "rushlight/inbound"), "is another user's"),
    "open to all": (lambda exchange: (exchange / "rushlight").chmod(0o777), "chmod go-w"),
    "open to a group": (lambda exchange: by_group(exchange / "rushlight/outbound"), "chmod go-w"),
}


def by_group(folder):
    folder.mkdir()
    os.chown(folder, -1, 12345)
    folder.chmod(0o775)


@pytest.mark.skipif(os.name != "posix" or os.geteuid() != 0, reason="only root can give a folder to another user")
@pytest.mark.parametrize("how", STAND_INS)
def test_an_exchange_in_which_another_user_can_stand_in_for_the_course_is_refused(
    nbgrader, inbound, tmp_path, monkeypatch, capsys, how
):
    exchange, (open_up, way_out) = tmp_path / "exchange", STAND_INS[how]
    inbound("root")
    exchange.chmod(0o1777)
    (exchange / "rushlight" / "inbound").chmod(0o2733)
    (tmp_path / "nbgrader_config.py").write_text(f"get_config().Exchange.root = {str(exchange)!r}")
    monkeypatch.setenv("RUSHLIGHT_CLASSROOM", str(tmp_path))
    monkeypatch.setenv("JUPYTER_CONFIG_PATH", str(tmp_path))
    expect_own_exchange()
    open_up(exchange)
    assert way_out in nbgrader("collect", LAB, f"--Exchange.root={exchange}", fails=True)
    assert not (tmp_path / "submitted" / "root").exists()
    with pytest.raises(GradingError, match=re.escape(way_out)) as refused:
        app.main(["grade", "01a"], standalone_mode=False)
    assert "\n" not in str(refused.value)


@pytest.mark.skipif(sys.platform == "win32", reason="nbgrader's exchange needs the users of Unix")
def test_a_lab_is_released_into_an_exchange_that_is_sticky_from_then_on(nbgrader, tmp_path):
    for _ in range(2):
        nbgrader("release_assignment", LAB, f"--Exchange.root={tmp_path / 'exchange'}", "--force")
        assert (tmp_path / "exchange").stat().st_mode & 0o7777 == 0o1777
        (tmp_path / "exchange").chmod(0o755)


def test_the_configuration_in_the_folder_of_a_student_does_not_run(tmp_path, monkeypatch):
    (tmp_path / "nbgrader_config.py").write_text("raise SystemExit('a student')")
    monkeypatch.setenv("RUSHLIGHT_CLASSROOM", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    expect_own_exchange()


@pytest.mark.skipif(sys.platform == "win32", reason="nbgrader's exchange needs the users of Unix")
@pytest.mark.parametrize(
    "time", sweep(["garbage", "0001-01-01 00:00:00 UTC", "9999-12-31 23:59:59 -1200", None], every=3)
)
def test_what_nbgrader_reads_beside_a_submission_cannot_stop_it(nbgrader, inbound, time):
    import pwd

    me = pwd.getpwuid(os.getuid()).pw_name
    folder = inbound(me)
    (folder / "timestamp.txt").unlink()
    (folder / "submission_secret.txt").write_bytes(b"\xff")
    if time is None:
        (folder / "timestamp.txt").mkdir()
        (folder / "submission_secret.txt").unlink()
        (folder / "submission_secret.txt").mkdir()
    else:
        (folder / "timestamp.txt").write_text(time)
    (folder / "many").mkdir()
    for number in range(2 * MAX_FILES):
        (folder / "many" / str(number)).symlink_to("x")
    (folder / "many").chmod(0o555)
    folder.chmod(0o555)
    exchange = f"--Exchange.root={nbgrader.place / 'exchange'}"
    nbgrader("collect", LAB, exchange)
    nbgrader("collect", LAB, exchange, "--update")
    collected = nbgrader.place / "submitted" / me / LAB
    assert len([*collected.rglob("*")]) <= MAX_FILES
    assert collected.stat().st_mode & 0o700 == 0o700
    assert not reason_in_timestamp(collected / "timestamp.txt")
    assert (collected / "timestamp.txt").read_text().startswith("2027-")
    assert (collected / "submission_secret.txt").read_text().isalnum()


def test_a_roster_is_imported(nbgrader):
    (nbgrader.place / "roster.csv").write_text("id,last_name,first_name,email\ndoejane,Doe,Jane,jane@example.org\n")
    nbgrader("db", "student", "import", str(nbgrader.place / "roster.csv"))
    assert "doejane (Doe, Jane) -- jane@example.org" in nbgrader("db", "student", "list")


def test_a_new_roster_adds_and_changes_students_and_removes_none(nbgrader, monkeypatch):
    monkeypatch.setenv("RUSHLIGHT_CLASSROOM", str(nbgrader.place))
    roster = nbgrader.place / "roster.csv"
    with open_marked() as gradebook:
        for student, address in {"left": "left@example.org", "moved": "old@example.org"}.items():
            enter(gradebook, student, 20, email=address, first_name="Ada")
    roster.write_text("id,last_name,email\nmoved,Roe-Doe,new@example.org\nnew,Poe,poe@example.org\n")
    nbgrader("db", "student", "import", str(roster))
    with open_marked() as gradebook:
        found = {each.id: (each.first_name, each.last_name, each.email) for each in gradebook.students}
        assert found == {
            "left": ("Ada", None, "left@example.org"),
            "moved": ("Ada", "Roe-Doe", "new@example.org"),
            "new": (None, "Poe", "poe@example.org"),
        }
        assert {each.student_id: each.score for each in submissions_of(gradebook, Lab(LAB))} == {
            "left": 20,
            "moved": 20,
        }
