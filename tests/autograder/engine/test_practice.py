"""Where there is no torch, a judge decides by its recorded answers to public cases."""

import math
import os
import subprocess
import sys

import pytest
from answers import over_the_wire
from click.testing import CliRunner
from nbformat.v4 import new_output
from sweep import sweep

from autograder import cli
from autograder.author import build
from autograder.classroom.release import release
from autograder.engine import asking, practice, torch_source
from autograder.engine.check import Check, find, function_of, is_on_torch, registry
from autograder.engine.exercise import fill, unplug
from autograder.engine.judge import Judge
from autograder.engine.observe import difference
from autograder.engine.source import NotRecorded
from autograder.engine.verdict import DISAGREED, GRADER_ERROR, PASSED
from autograder.model import Course, Lab, lab_names

LAB, STRIDES = "01a_views", "aten.strided.contiguous_strides"
LABS = [lab for lab in lab_names() if not is_on_torch(lab)]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Where recordings are, for the tests of this file. Each lab is recorded when a test asks for it."""
    place = tmp_path_factory.mktemp("practice") / "recordings"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(practice, "FOLDER", place)
        yield place


@pytest.fixture
def recorded(folder):
    practice.record(LAB)
    practice.recorded.cache_clear()


@pytest.mark.parametrize("lab", sweep(LABS, keep=[LAB]))
def test_what_was_recorded_is_what_torch_answers_and_the_reference_passes(folder, plugged, lab, monkeypatch):
    practice.record(lab)
    checks = [check for check in registry().values() if check.lab == lab and check.examine is None]
    judge = Judge(source=practice.Practice())
    for check in checks:
        cases, answers = judge.drawn(check)
        live = torch_source.TorchSource(practice.PUBLIC_SEED)
        apart = map(difference, answers, live.ask(check, cases)())
        assert not [case for case, words in zip(cases, apart) if words], check.name
        assert len(cases) >= len(check.edges) and live.is_exact(check) == judge.source.is_exact(check)
    monkeypatch.setattr(Check, "edges", property(lambda check: pytest.fail("torch may make a check's own edges")))
    for check in checks:
        verdict = judge.verdict(check.name, over_the_wire)
        assert (verdict.outcome, verdict.cases) == (PASSED, len(judge.drawn(check)[0])), str(verdict)
        assert ("recorded from torch" in verdict.notes[-1]) != verdict.exact
    monkeypatch.setattr(practice, "has_torch", lambda: False)
    for check in checks:
        edges = judge.source.edges(check)
        assert all(asking.complete(check, case) in edges for case in asking.listed(check)), check.name


def test_a_wrong_piece_gets_the_card_of_the_smallest_recorded_case(recorded, request):
    judge, slot = Judge(source=practice.Practice()), function_of(STRIDES)
    request.addfinalizer(lambda: unplug(slot))
    fill(slot, lambda sizes: tuple(math.prod(sizes[i + 1 :]) for i in range(len(sizes))))
    verdict = judge.verdict(STRIDES, over_the_wire)
    assert verdict.outcome == DISAGREED and verdict.hint and verdict.mine != verdict.theirs
    assert verdict.notes == [
        "practice: these cases are public, their answers recorded from torch 2.13.0; in a class, points are for other cases"
    ]
    assert verdict.case in judge.drawn(find(STRIDES))[0]
    assert judge.replay(STRIDES, verdict.case, over_the_wire).theirs == verdict.theirs
    other = judge.replay(STRIDES, {"sizes": [7, 9, 11]}, over_the_wire)
    assert other.outcome == GRADER_ERROR and "its answer to this case was not recorded" in other.message


def test_what_is_missing_or_of_another_version_is_said_in_a_line(recorded, folder, monkeypatch):
    judge = Judge(source=practice.Practice())
    monkeypatch.setattr(practice, "digest", lambda lab: "another")
    messages = [judge.verdict(name, over_the_wire).message for name in (STRIDES, "course.sampling.choose")]
    messages.append(judge.verdict("on_torch.custom_ops.infer_schema", over_the_wire).message)
    assert [*map(message_ends, messages)] == [True] * 3
    assert "belongs to another version of the course" in messages[0]
    assert "nothing recorded of it for lab 12b" in messages[1] or "nothing recorded of it for lab 12" in messages[1]
    assert "lab 06a_operators works on torch itself" in messages[2]


def test_a_check_that_runs_an_answer_on_torch_is_not_recorded_and_says_so(folder, plugged):
    verdict = Judge(source=practice.Practice()).verdict("course.predictions.shrink", over_the_wire)
    assert verdict.outcome == GRADER_ERROR and "this check runs your answer on torch" in verdict.message
    assert message_ends(verdict.message)


def message_ends(message):
    return message.endswith("; `make -B setup` in the course's folder installs torch")


@pytest.mark.sweep
def test_a_lab_is_recorded_once_and_the_same_file_after_half_of_it(folder, monkeypatch):
    monkeypatch.setattr(build, "execute", executed)
    path = folder / f"{LAB}.zip"
    path.unlink(missing_ok=True)
    record = lambda: CliRunner().invoke(cli.app, ["record", "01a"], standalone_mode=False).output  # noqa: E731
    said, first = record(), path.read_bytes()
    assert (said, record()) == (f"{LAB}: recorded\n", f"{LAB}: nothing has changed\n")
    path.write_bytes(first[:1000])
    practice.recorded.cache_clear()
    assert "belongs to another version" in Judge(source=practice.Practice()).verdict(STRIDES, over_the_wire).message
    assert record() == f"{LAB}: recorded\n" and path.read_bytes() == first


def test_answers_about_the_bytecode_of_another_python_are_not_used(folder, monkeypatch):
    folder.mkdir(exist_ok=True)
    monkeypatch.setattr(practice, "_path", lambda lab: folder)
    monkeypatch.setattr(practice, "_about", lambda lab: {"digest": practice.digest(lab), "python": "3.9"})
    with pytest.raises(
        NotRecorded, match=r"torch's answers about bytecode are those of Python 3\.9, and this is 3\.\d+; "
    ):
        practice.recorded("dynamo.bytecode.live_names")


def test_without_bfloat16_the_cases_that_need_it_are_left_out():
    cases = [{"dtype": name, "text": '"bfloat16"'} for name in ("bfloat16", "float32", "bfloat16", "float64")]
    known = practice.Recorded(cases, [1, 2, 3, 4], ["a", "b", "c", "d"], 3, True)
    left = practice.Recorded(cases[1::2], [2, 4], ["b", "d"], 1, True)
    assert practice.without_bfloat16(known) == left
    assert practice.without_bfloat16(known._replace(listings=[])) == left._replace(listings=[])


def test_a_class_repository_has_what_was_recorded(recorded, classroom, tmp_path):
    course = release(Course(), [Lab(LAB), Lab("01b_reshape")], tmp_path / "course")
    assert [path.name for path in (course / "recordings").iterdir()] == [f"{LAB}.zip"]
    assert {"/recordings/", "/classroom/"} & {*(course / ".gitignore").read_text().split()} == {"/classroom/"}
    said = subprocess.run(
        [sys.executable, "-c", "from autograder.engine import practice; print(practice.fresh('01a_views'))"],
        cwd=course,
        env={**os.environ, "PYTHONPATH": str(course)},
        capture_output=True,
        text=True,
    )
    assert said.stdout.strip() == str(course / "recordings" / f"{LAB}.zip"), said.stderr


WITHOUT = """
import sys
sys.modules |= dict.fromkeys(["torch", "hypothesis", "psutil"])  # as in a browser
from pathlib import Path
from autograder.engine import practice, subject
from autograder.engine.check import function_of
from autograder.engine.exercise import fill
from autograder.engine.judge import Judge
practice.FOLDER = Path(sys.argv[1])
fill(function_of("aten.strided.permute"), lambda self, dims: self)
print(practice.about_judge())
for name in ("aten.strided.permute", "aten.strided.slice"):
    print(Judge(source=practice.source()).verdict(name, subject.answer))
"""


def test_a_judge_needs_neither_torch_nor_hypothesis_nor_psutil(recorded, folder):
    done = subprocess.run([sys.executable, "-c", WITHOUT, str(folder)], capture_output=True, text=True)
    said = done.stdout.splitlines()
    assert said[0].startswith("there is no torch here: checks compare with its recorded answers"), done.stderr
    assert said[1].startswith("✗ aten.strided.permute: ") and "differs" in done.stdout
    assert said[-2] == "– aten.strided.slice: not attempted"


# Cells that run torch ------------------------------------------------------------------------------------------------

MADE, USED = "from_file = torch.empty(8, 32, 32, 3).permute(0, 3, 1, 2)", "torch.arange(12)[2:3].as_strided"
PICTURE = {"image/png": "a" * 9, "image/svg+xml": "<svg/>", "text/plain": "a picture"}


def executed(notebook):
    """The notebook, as if its cells that run torch had all shown the same."""
    for cell in notebook.cells:
        if "torch" in cell.metadata.get("tags", ()) and cell.source != "import torch":
            cell.outputs = [
                new_output("stream", name="stdout", text="in a line\n"),
                new_output("display_data", PICTURE),
            ]
            cell.outputs.append(new_output("execute_result", {"text/plain": "(64, 1)"}, execution_count=7))
    return notebook


@pytest.fixture
def shown(folder):
    practice.record_outputs(LAB, executed)
    return practice.outputs(LAB).cells


SHELL = """
import sys
sys.modules["torch"] = None
from pathlib import Path
from IPython.core.interactiveshell import InteractiveShell
from autograder.engine import practice
practice.FOLDER = Path(sys.argv[1])
shell = InteractiveShell.instance(colors="nocolor")
for cell in sys.argv[2:]:
    shell.run_cell(cell)
"""


def test_without_torch_a_cell_that_runs_torch_shows_what_was_recorded(folder, shown):
    made, used = (next(source for source in shown if source.startswith(start)) for start in (MADE, USED))
    cells = (
        "from autograder import check, exercise",
        "import torch",
        f"{used}  # un comentario",
        "1 + 1",
        "torch.ones(2)",
        f"import torch\n{used}",
    )
    done = subprocess.run([sys.executable, "-c", SHELL, str(folder), *cells], capture_output=True, text=True)
    said = done.stdout.splitlines()
    assert said[0] == "not run: there is no torch here", done.stderr
    assert said[1:5] == ["in a line", "a picture", "(64, 1)", "recorded from torch 2.13.0; there is no torch here"]
    assert said[5].endswith("2")  # another cell runs
    for start in "NameError", "ModuleNotFoundError":
        error = next(i for i, line in enumerate(said) if line.startswith(f"{start}: "))
        assert "there is no torch here; `make -B setup` in the" in said[error + 1]
    assert made in shown and shown["import torch"] == []


def test_an_output_is_recorded_with_the_smaller_picture_and_without_a_number(shown):
    (outputs,) = {str(outputs) for source, outputs in shown.items() if outputs}
    assert "svg" in outputs and "png" not in outputs and "'execution_count': None" in outputs


def test_outputs_of_another_solution_are_not_shown_and_are_recorded_anew(shown, monkeypatch, tmp_path):
    copy = tmp_path / LAB / f"{LAB}.ipynb"
    copy.parent.mkdir()
    monkeypatch.setattr(practice, "SOURCES", tmp_path)
    assert practice.outputs(LAB) and not practice.record_outputs(LAB, executed)  # in a class repository
    text = Lab(LAB).source.with_suffix(".ipynb").read_text(encoding="utf-8")
    copy.write_text(text.replace("torch.arange(12)", "torch.arange(13)"), encoding="utf-8")
    assert practice.outputs(LAB) is None
    assert practice.record_outputs(LAB, executed) and any("arange(13)" in cell for cell in practice.outputs(LAB).cells)


@pytest.mark.sweep
def test_the_outputs_are_those_of_the_solved_lab(folder, monkeypatch):
    (folder / f"{LAB}.zip").unlink(missing_ok=True)
    assert practice.record_outputs(LAB, build.execute)
    known = practice.outputs(LAB).cells
    (said,) = next(outputs for source, outputs in known.items() if source.startswith("torch.empty_strided((1, 3)"))
    assert said["data"]["text/plain"] == "True"
    assert practice.record(LAB) and practice.outputs(LAB).cells == known
