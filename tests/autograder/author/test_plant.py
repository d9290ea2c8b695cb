"""`rushlight plant` makes a case of a lab from a wrong function and a symptom."""

import ast
import shutil

import pytest
from sweep import swept

from autograder import course as folders
from autograder.author import BuildError
from autograder.author import plant as planting
from autograder.engine import patients
from autograder.model import Lab

OWN = '''
"""A program adds two tensors, and the sum has two dimensions only."""


def symptom(xp):
    a = xp.zeros(3, 1)
    b = xp.ones(1, 1, 2)
    return (a + b).shape


def infer_size(a, b):
    sizes = [max(x, y) for x, y in zip(reversed(a), reversed(b))]
    return tuple(reversed(sizes))
'''
SAME = OWN.replace("return (a + b).shape", "return a.shape")
FILES = (
    "rushlight/clinic/tensors.py",
    "autograder/checks/13a_tensors/patients.py",
    "solutions/13a_tensors/13a_tensors.md",
)


@pytest.fixture
def copied(tmp_path, monkeypatch):
    """The sources of lab 13a in a folder of their own, and a function that plants a file's text."""
    for name in FILES:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(folders.COURSE / name, tmp_path / name)
    shutil.copytree(patients.PATIENTS, tmp_path / "patients")
    monkeypatch.setattr(planting, "COURSE", tmp_path)
    monkeypatch.setattr(patients, "PATIENTS", tmp_path / "patients")
    monkeypatch.setattr(folders, "SOURCES", tmp_path / "solutions")

    def plant(text, function="strided.infer_size", lab="13a_tensors"):
        (tmp_path / "own.py").write_text(text)
        return planting.plant(Lab(lab), function, tmp_path / "own.py")

    return plant


@pytest.mark.sweep
def test_a_wrong_function_and_a_symptom_become_a_patient_with_three_exercises(copied):
    file, answers, checks, source = copied(OWN)
    patient = patients.find_patient(f"13a.{file.stem}")
    assert patient.at == "aten.strided.infer_size"
    index = int(file.stem)
    names = {node.name for node in ast.parse(answers.read_text()).body if isinstance(node, ast.FunctionDef)}
    assert {f"narrow_{index}", f"name_{index}", f"mend_{index}"} <= names
    assert f"patient(__name__, {index}, statements=" in checks.read_text()
    text = source.read_text()
    assert text.index(f'exercise="clinic.tensors.mend_{index}"') < text.index("## In your own words")


@pytest.mark.parametrize(
    ("text", "function", "lab", "message"),
    [
        swept(SAME, "strided.infer_size", "13a_tensors", "gives the same on the patient and on torch"),
        (OWN, "strided.expand", "13a_tensors", "has no function expand"),
        (OWN.replace("infer_size", "view"), "strided.view", "13a_tensors", "is no exercise"),
        (OWN.replace("infer_size", "missing"), "strided.missing", "13a_tensors", "no function"),
        (OWN.replace("def symptom(xp):", "def symptom(xp:"), "strided.infer_size", "13a_tensors", "line 5"),
        (OWN, "strided.infer_size", "01a_views", "has no patients"),
    ],
    ids=["no difference", "another function", "no exercise", "no function", "no Python", "another lab"],
)
def test_a_file_that_makes_no_patient_is_refused_and_nothing_is_written(text, function, lab, message, copied, tmp_path):
    before = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    with pytest.raises(BuildError, match=message):
        copied(text, function, lab)
    assert {
        path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file() and path.name != "own.py"
    } == before
