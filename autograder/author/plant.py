"""Planting: a patient of an instructor's own becomes a case of a lab of the clinic, with its three exercises and their checks.

`plant` writes the sources of the lab, as an author writes them: the patient's file, reference answers, checks, and a section of the
lab's text. The author can edit this text, and `rushlight build` builds the notebooks.
"""

from __future__ import annotations

import ast
import inspect
import textwrap
from pathlib import Path

from rushlight.course.short_names import long_form, short_form

from ..course import COURSE
from ..engine import patients
from ..engine.check import function_of
from ..engine.edition import body_lines
from ..engine.observe import Malformed, SubjectDied, SubjectTimedOut, difference
from ..model import Lab
from . import BuildError

_ANSWERS = '''

def narrow_{index}(xp: Any) -> Any:
    """A program that shows the fault of patient {number}, as in `narrow_1`.

    The program has at most {statements} statements and calls at most {operators} operators.
    """
{narrow}


def name_{index}() -> list[str]:
    """The function at fault in patient {number}, as in `name_1`."""
    return ["{short}"]


def mend_{index}() -> tuple[str, Callable]:
    """A sound function for patient {number}, as in `mend_1`."""

{mend}

    return "{short}", {function}
'''

_CHECK = "patient(__name__, {index}, statements={statements}, operators={operators})\n"

_SECTION = """## {index} · {title}

{sentence}

```python tags=["torch"]
patient("{number}")
```

```python exercise="clinic.{module}.narrow_{index}" points=1 minutes=10 stars=2 further=true
```

```python exercise="clinic.{module}.name_{index}" points=1 minutes=10 stars=2 further=true
```

```python check="clinic.{module}.name_{index}.first" points=1
```

```python exercise="clinic.{module}.mend_{index}" points=1 minutes=15 stars=2 further=true
```

"""

_BEFORE = "## In your own words"  # the section of a lab before which a new case stands


def plant(lab: Lab, function: str, body: Path) -> list[Path]:
    """Add a patient to a lab of the clinic: rushlight whose `function` is the one in the file `body`, which also has a program
    `symptom(xp)`. Returns the sources that were written. Raises BuildError, and then nothing is written."""
    module = lab.name.partition("_")[2]
    answers = COURSE / f"rushlight/clinic/{module}.py"
    if not answers.exists():
        raise BuildError(f"{lab} has no patients: the labs of the clinic have, such as 13a")
    index = 1 + max(int(path.stem) for path in (patients.PATIENTS / lab.number).glob("[0-9]*.py"))
    patient, title = _read(f"{lab.number}.{index}", long_form(function), body)
    operators = _operators(patient)
    narrow, mend = _reference(patient)
    words = {
        "index": index,
        "number": patient.number,
        "module": module,
        "short": short_form(patient.at),
        "function": patient.at.rpartition(".")[2],
        "narrow": textwrap.indent(narrow, "    "),
        "mend": textwrap.indent(mend, "    "),
        "statements": patients.statements_of(patients.plain_program(patient.symptom)),
        "operators": operators,
        "title": f"Patient {patient.number}",
        "sentence": title,
    }
    checks = COURSE / f"autograder/checks/{lab}/patients.py"
    file = patients.PATIENTS / lab.number / f"{index}.py"
    text = lab.source.read_text(encoding="utf-8")
    if _BEFORE not in text:
        raise BuildError(f"{lab.source.name} has no section {_BEFORE!r}, before which the new case would stand")
    text = text.replace(_BEFORE, _SECTION.format(**words) + _BEFORE, 1)
    said = f'AT = "{patient.at}"\n\n\n{patient.symptom}\n\n\n{patient.planted}\n'
    file.write_text(f'"""{title}"""\n\n{said}', encoding="utf-8")
    for path, more in (answers, _ANSWERS), (checks, _CHECK):
        path.write_text(path.read_text(encoding="utf-8") + more.format(**words), encoding="utf-8")
    lab.source.write_text(text, encoding="utf-8")
    return [file, answers, checks, lab.source]


def _read(number: str, at: str, body: Path) -> tuple[patients.Patient, str]:
    """The patient in a file, and a sentence about it: the file's docstring."""
    try:
        module = ast.parse(body.read_text(encoding="utf-8"))
    except SyntaxError as error:
        raise BuildError(f"{body}: line {error.lineno}: {error.msg}") from None
    parts = {node.name: ast.unparse(node) for node in module.body if isinstance(node, ast.FunctionDef)}
    name = at.rpartition(".")[2]
    if missing := {"symptom", name} - parts.keys():
        raise BuildError(f"{body} has no function {' and none '.join(sorted(missing))}")
    patient = patients.Patient(number, at, parts["symptom"], parts[name])
    try:
        function_of(at)
    except LookupError as error:
        raise BuildError(str(error)) from None
    if not patient.checks:
        raise BuildError(f"{short_form(at)} is no exercise of the course, so no check could grade its mend")
    return patient, ast.get_docstring(module) or "A program gives another result than on torch."


def _operators(patient: patients.Patient) -> int:
    """How many operators of torch the symptom's program calls. Raises BuildError unless it shows the fault, and the fault alone."""
    try:
        patients.plain_program(patient.symptom)
        on = {name: patients.run_on(name, patient, patient.symptom) for name in patients.FRAMEWORKS}
    except (SubjectDied, SubjectTimedOut, Malformed, ValueError) as error:
        raise BuildError(f"the symptom's program: {error}") from None
    if apart := difference(on[patients.SOUND]["result"], on[patients.TORCH]["result"]):
        raise BuildError(f"the symptom's program differs between rushlight and torch without the fault: {apart}")
    if not difference(on[patients.PATIENT]["result"], on[patients.TORCH]["result"]):
        raise BuildError("the symptom's program gives the same on the patient and on torch")
    return len(on[patients.TORCH]["operators"])


def _reference(patient: patients.Patient) -> tuple[str, str]:
    """The reference answers: the body of the symptom's program, and the framework's own function without its docstring."""
    program = "\n".join(map(ast.unparse, patients.plain_program(patient.symptom).body))
    text = textwrap.dedent(inspect.getsource(function_of(patient.at)))
    (node,) = ast.parse(text).body
    assert isinstance(node, ast.FunctionDef)
    first, last = body_lines(node)
    head = f"def {node.name}({ast.unparse(patients.without_annotations(node).args)}):"
    return program, "\n".join([head, *text.splitlines()[first - 1 : last]])
