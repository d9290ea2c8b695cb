"""The clinic in a notebook: patients run in processes of their own, and cells run on them.

`patient("13a.1")` shows a patient's symptom. A cell that begins with `%%patient 13a.1` runs on the patient. A cell that begins with
`%%compare 13a.1` also runs on the sound framework. In these cells `rl` is the framework. Names live on from cell to cell. While a
lab is graded, all of this does nothing.

A case about PyTorch, such as `15a.1`, is shown in the same ways. Its patient is the working copy of PyTorch, with what the student
has changed in it, and each cell is a script of its own. `%%patch 15a.1` puts the patch into the cell of an answer.
"""

from __future__ import annotations

import ast
import difflib
import re
import sys
import textwrap
from contextlib import suppress
from pprint import pformat
from typing import TYPE_CHECKING, Any

from ..engine.subject import is_grading
from ..language import speak

if TYPE_CHECKING:
    from ..engine.sandbox import Sandbox

SECONDS = 60.0  # of own time, for a cell
WIDTH = 110  # of a result on one line, in characters
_opened: dict[str, Sandbox] = {}  # the processes of this kernel, by the patient's number, "" for the sound framework
_FIRST = "from pydoc import help\nimport rushlight as rl\nfrom autograder.engine import patient_side as _\n"
_ON_TORCH = "import torch\nfrom autograder.engine.ranks_side import Xp\nxp = Xp(False)\n"


def patient(number: str) -> None:
    """Show the symptom of a patient: a program, its result on the patient, and its result on torch.

    Raises LookupError, with the numbers that there are, if there is no such patient.
    """
    if is_grading():
        return
    from ..engine.observe import show
    from ..engine.patients import PATIENT, TORCH, find_patient, run_on

    if _is_of_pytorch(number):
        return _begin(number)
    known = find_patient(number)
    print(known.symptom)
    for framework in (PATIENT, TORCH):
        _print_result(speak(framework), show(run_on(framework, known, known.symptom)["result"]))


def _is_of_pytorch(number: str) -> bool:
    """Whether the cases of this lab are about PyTorch."""
    from ..engine import changes

    return number.partition(".")[0] in {each.partition(".")[0] for each in changes.numbers()}


def _print_result(framework: str, result: str) -> None:
    place = speak("on {framework}:", framework=framework)
    if len(result) > WIDTH:
        with suppress(ValueError, SyntaxError):  # a literal has its parts below each other
            result = pformat(ast.literal_eval(result), width=WIDTH)
    print(f"\n{place}\n{textwrap.indent(result, '    ')}")


def _begin(number: str) -> None:
    """Put a case about PyTorch into the working copy, and show its report and what its program gives."""
    from ..engine import changes
    from ..engine.observe import show
    from ..engine.patients import PATIENT
    from .working_copy import copy_of, told

    copy = copy_of(number)
    case = copy.start(number)
    print(told(case))
    with changes.processes(case.patient) as (process,):
        on_patient = process.run(case.symptom, True)["result"]
    for framework, result in ((speak(PATIENT), on_patient), ("PyTorch", changes.on_pytorch(case.symptom, True))):
        _print_result(framework, show(result))
    print(
        "\n"
        + speak(
            "the files to read and to change are in {folder}", folder=copy.folder.relative_to(copy.folder.parents[2])
        )
    )


def _in_copy(number: str, cell: str, as_installed: bool) -> str:
    """What a cell prints as a script, with the PyTorch of the working copy or with the installed one."""
    from .working_copy import copy_of

    copy = copy_of(number)
    if not copy.is_of(number):
        copy.start(number)
    return copy.output(cell, as_installed)


def _patch(line: str, cell: str) -> None:
    """Replace the body of the function in this cell by a statement that returns the patch of the working copy, and run the cell.

    The new text takes the place of the cell's text, without the line `%%patch`.
    """
    from IPython import get_ipython

    from .working_copy import copy_of

    shell: Any = get_ipython()
    if not is_grading():
        copy = copy_of(number := line.strip())
        if not copy.is_of(number):
            copy.start(number)
        if not (patch := copy.diff()):
            print(speak("the working copy of {number} has no change, so the patch is empty", number=number))
        cell = with_patch(cell, patch)
        shell.set_next_input(cell, replace=True)
    shell.run_cell(cell)


def with_patch(cell: str, patch: str) -> str:
    """The text of a cell whose one function returns this patch. Raises ValueError if the cell defines no function."""
    functions = [node for node in ast.parse(cell).body if isinstance(node, ast.FunctionDef)]
    if len(functions) != 1:
        raise ValueError(speak("%%patch belongs into the cell of an answer, above its function"))
    first = functions[0].body[ast.get_docstring(functions[0]) is not None :][:1]
    lines = cell.splitlines()
    begin = first[0].lineno - 1 if first else functions[0].end_lineno or 0
    while lines[begin - 1].strip().startswith("#"):
        begin -= 1
    quotes = next((quotes for quotes in ('"""', "'''") if quotes not in patch), "")
    text = f"r{quotes}\n{patch}{quotes}" if quotes else repr(patch)
    return "\n".join([*lines[:begin], f"    return {text}", *lines[functions[0].end_lineno :]])


def _run(number: str, cell: str, sound: bool = False) -> list[dict]:
    """The outputs of a cell that runs on a patient, or on the sound framework. A process that ends is started again by the next
    cell."""
    from ..engine.observe import Malformed, SubjectDied, SubjectTimedOut
    from ..engine.patients import find_patient, open_patient

    if _is_of_pytorch(number):
        return [{"output_type": "stream", "name": "stdout", "text": _in_copy(number, cell, sound)}]
    known = find_patient(number)
    name = number if not sound else "sound, with torch" * known.on_torch
    if name not in _opened:
        _opened[name] = open_patient(None if sound else known, known.on_torch)
        _opened[name].request({"cell": _FIRST + _ON_TORCH * known.on_torch}, SECONDS)
    try:
        return _opened[name].request({"cell": cell}, SECONDS)["outputs"]
    except (SubjectDied, SubjectTimedOut, Malformed) as error:
        del _opened[name]
        lost = speak("its names are lost")
        return [{"output_type": "stream", "name": "stderr", "text": f"{speak(str(error))}: {lost}\n"}]


def _on_patient(line: str, cell: str) -> None:
    """Run the cell on the patient that the first line names."""
    from IPython.display import publish_display_data

    for output in [] if is_grading() else _run(line.strip(), cell):
        if "data" in output:
            publish_display_data(output["data"], output["metadata"])
        else:
            print(_text(output), end="", file=sys.stderr if output.get("name") == "stderr" else sys.stdout)


def _on_both(line: str, cell: str) -> None:
    """Run the cell on a patient and on the sound framework. `-` marks a line that only the patient prints, `+` one that only the
    sound framework prints. An object's address, which is another one in each process, is left out."""
    if is_grading():
        return
    on_patient, on_sound = (
        re.sub(" at 0x[0-9a-f]+", "", "".join(map(_text, _run(line.strip(), cell, sound)))).splitlines()
        for sound in (False, True)
    )
    if len(on_patient) == len(on_sound):  # `ndiff` would look for similar lines elsewhere
        pairs = zip(on_patient, on_sound)
        marked = [text for a, b in pairs for text in ([f"  {a}"] if a == b else [f"- {a}", f"+ {b}"])]
    else:
        marked = [text for text in difflib.ndiff(on_patient, on_sound) if not text.startswith("?")]
    if on_patient == on_sound:
        marked = [
            speak("(no difference: both print these lines)")
            if on_patient
            else speak("(no difference: nothing is printed)"),
            *on_patient,
        ]
    print("\n".join(marked))


def _text(output: dict) -> str:
    """An output of a cell as text."""
    if "traceback" in output:
        return "\n".join(output["traceback"]) + "\n"
    return output["text"] if "text" in output else output["data"].get("text/plain", speak("(a picture)")) + "\n"


def _register() -> None:
    """Register the cell magics."""
    from IPython import get_ipython

    shell: Any = get_ipython()
    if shell:
        shell.register_magic_function(_on_patient, "cell", "patient")
        shell.register_magic_function(_on_both, "cell", "compare")
        shell.register_magic_function(_patch, "cell", "patch")


if "IPython" in sys.modules:
    _register()
