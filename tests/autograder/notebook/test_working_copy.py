"""A student's working copy of PyTorch: nothing of it is written into the installation, and no patch is lost."""

import hashlib
import os

import pytest
from sweep import in_one_test, sweep

import rushlight as rl
from autograder.cli import main
from autograder.engine import changes, overlay
from autograder.engine.observe import GradingError
from autograder.notebook import clinic, working_copy
from autograder.notebook.clinic import with_patch
from autograder.notebook.working_copy import WorkingCopy

FIRST, SECOND = "15a.1", "15a.2"


@pytest.fixture(scope="module")
def installed():
    """Sizes and times of all files of the installation, and the texts of Python, before and after all tests here."""

    def state():
        found = hashlib.sha256()
        for place, folders, names in os.walk(overlay.site() / "torch"):
            folders[:] = sorted(name for name in folders if name != "__pycache__")
            for name in sorted(names):
                status = os.stat(f"{place}/{name}")
                found.update(f"{place} {name} {status.st_size} {status.st_mtime_ns}".encode())
        return found.hexdigest()

    before = state()
    yield
    assert state() == before


@pytest.fixture(scope="module")
def made(tmp_path_factory, installed):
    """A folder with a copy, which the tests share."""
    return tmp_path_factory.mktemp("work")


@pytest.fixture
def copy(made, monkeypatch):
    monkeypatch.setattr(working_copy, "WORK", made)
    copy = WorkingCopy("15a")
    copy.start(FIRST)
    yield copy
    copy.undo()


def change(copy, name="", old="import", new="import ", count=1):
    path = copy.folder / (name or changes.find_case(FIRST).at[0])
    path.write_text(path.read_text().replace(old, new, count))


@pytest.mark.sweep
def test_all_texts_are_files_of_their_own_so_that_no_editor_writes_through_a_link(copy):
    links = [path for path in copy.folder.rglob("*") if path.is_symlink()]
    assert links and not any(overlay.is_text(path) for path in links)
    assert not any(path.suffix in (".py", ".pyi", ".h", ".yaml") for path in links)


@pytest.mark.sweep
def test_a_patch_is_the_difference_from_the_case_as_it_began(copy):
    assert copy.diff() == ""
    change(copy)
    patch, name = copy.diff(), changes.find_case(FIRST).at[0]
    assert patch.startswith(f"--- a/{name}\n+++ b/{name}\n@@ ") and "\n+import  " in patch
    assert changes.patched(changes.find_case(FIRST).patient, patch)[name] == (copy.folder / name).read_text()


@pytest.mark.sweep
def test_each_case_has_its_own_patch_which_is_there_again(copy):
    change(copy)
    patch = copy.diff()
    copy.start(SECOND)
    assert copy.case.number == SECOND and copy.diff() == ""
    copy.start(FIRST)
    assert copy.diff() == patch and copy.patch_file(FIRST).read_text() == patch


@pytest.mark.sweep
def test_an_undone_patch_is_kept_under_another_name(copy):
    kept = []
    for _ in range(2):
        change(copy)
        patch = copy.diff()
        kept.append(copy.undo())
        assert copy.diff() == "" and ".undone" in kept[-1].name and kept[-1].read_text() == patch
    assert kept[0] != kept[1]
    assert copy.undo() is None


@pytest.mark.sweep
def test_a_patch_that_does_not_fit_is_not_applied_and_stays(copy):
    copy.patch_file(FIRST).parent.mkdir(exist_ok=True)
    copy.start(SECOND)
    copy.patch_file(FIRST).write_text("nonsense\n")
    with pytest.raises(GradingError, match="does not fit, and is not applied"):
        copy.start(FIRST)
    assert copy.patch_file(FIRST).read_text() == "nonsense\n" and copy.case.number == FIRST
    copy.patch_file(FIRST).unlink()


@pytest.mark.sweep
def test_files_that_a_student_adds_belong_to_the_patch_and_go_with_it(copy):
    added = copy.folder / "torch" / "added.py"
    added.write_text("x = 1\n")
    assert "+++ b/torch/added.py" in copy.diff()
    copy.undo()
    assert not added.exists()


@pytest.mark.sweep
def test_programs_run_with_the_copys_pytorch(copy):
    added = copy.folder / "torch" / "added.py"
    added.write_text("x = 41\n")
    assert copy.run(["-c", "import torch.added, sys; sys.exit(torch.added.x + 1)"]) == 42


@pytest.mark.sweep
@pytest.mark.parametrize(
    "words, said",
    sweep([(("start", "15a.99"), "there is no case"), (("diff", "--lab", "15z"), "no working copy")], every=2),
)
def test_a_command_that_cannot_be_says_why(copy, monkeypatch, capsys, words, said):
    monkeypatch.setattr("sys.argv", ["rushlight", "pytorch", *words])
    with pytest.raises(SystemExit) as ended:
        main()
    assert said in str(ended.value)


@pytest.mark.sweep
def test_the_results_are_those_of_the_report_and_of_what_was_right(copy, monkeypatch, capsys):
    found = dict(copy.results())
    assert found.pop("symptom") and found and not any(found.values())
    case = copy.case
    copy._write(changes.patched(case.patient, changes.diff(case.patient, case.with_mend([*case.right.values()][0]))))
    assert not any(dict(copy.results()).values())
    for words, said in ((["test"], "✓ symptom"), (["diff"], "+++ b/torch/"), (["undo"], "your patch is in")):
        monkeypatch.setattr("sys.argv", ["rushlight", "pytorch", *words])
        with pytest.raises(SystemExit) as ended:
            main()
        assert not ended.value.code and said in capsys.readouterr().out


CELL = '''# a star
@exercise(rl.contribute.mend)
def mend_1():
    """Return a patch.

    With it all is right.
    """
    # YOUR CODE HERE
    raise NotImplementedError()
'''


@in_one_test
@pytest.mark.parametrize("patch", ["-a\n+b\n", 'a """ b\n', "''' \"\"\"\n", "a \\N{DASH} \\x\n", ""])
@pytest.mark.parametrize("cell", [CELL, with_patch(CELL, "an old one\n"), CELL.partition("    # YOUR")[0]])
def test_a_patch_becomes_the_body_of_the_function_in_its_cell(cell, patch):
    text, names = with_patch(cell, patch), {"exercise": lambda module: lambda function: function, "rl": rl}
    exec(text, names)
    assert names["mend_1"]().lstrip("\n") == patch and text.startswith("# a star\n@exercise")
    assert names["mend_1"].__doc__.startswith("Return a patch.")


def test_a_patch_is_put_into_the_cell_of_an_answer_only():
    with pytest.raises(ValueError, match="above its function"):
        with_patch("x = 1\n", "")


@pytest.mark.sweep
def test_a_cell_runs_with_the_copy_and_beside_it_with_the_installed_pytorch(copy, capsys):
    added = copy.folder / "torch" / "added.py"
    added.write_text("")
    cell = "from importlib.util import find_spec\nprint('both')\nprint(find_spec('torch.added') is None)\n1 / 0"
    clinic._on_both(FIRST, cell)
    assert "  both\n- False\n+ True\n" in (printed := capsys.readouterr().out) and "ZeroDivisionError" in printed


@pytest.mark.sweep
def test_a_cell_of_another_case_puts_it_into_the_copy_and_keeps_the_patch(copy, capsys):
    change(copy)
    clinic._on_patient(f" {SECOND} ", "print(5)")
    assert capsys.readouterr().out == "5\n" and copy.case.number == SECOND
    assert copy.patch_file(FIRST).exists()


def test_a_long_result_has_its_parts_below_each_other(capsys):
    clinic._print_result("PyTorch", repr((("torch.float64",) * 5,) * 3))
    assert capsys.readouterr().out.count("\n     ('torch.float64', 't") == 2
    clinic._print_result("PyTorch", "no literal " * 20)
    assert capsys.readouterr().out.count("\n") == 3


@pytest.mark.sweep
def test_a_case_is_shown_with_its_two_results(copy, capsys):
    clinic.patient(FIRST)
    printed = capsys.readouterr().out
    assert changes.find_case(FIRST).title in printed and "/15a/pytorch" in printed
    assert "on the patient:" in printed and "on PyTorch:" in printed


@pytest.mark.sweep
def test_while_a_lab_is_graded_no_copy_is_made(copy, monkeypatch):
    copy.start(SECOND)
    monkeypatch.setattr(clinic, "is_grading", lambda: True)
    clinic.patient(FIRST)
    clinic._on_patient(FIRST, "print(5)")
    clinic._on_both(FIRST, "print(5)")
    assert copy.case.number == SECOND


@pytest.mark.sweep
def test_another_version_of_torch_is_refused(copy, monkeypatch):
    monkeypatch.setattr(changes, "version", lambda name: "2.12.1+cpu")
    with pytest.raises(GradingError, match="files of torch 2.13, and torch 2.12.1 is installed"):
        copy.start(SECOND)
