"""The clinic in a notebook: patients run in processes of their own, and cells run on them.

`patient("13a.1")` shows a patient's symptom. A cell that begins with `%%patient 13a.1` runs on the patient. A cell that begins with
`%%compare 13a.1` also runs on the sound framework. In these cells `rl` is the framework. Names live on from cell to cell. While a
lab is graded, all of this does nothing.
"""

from __future__ import annotations

import difflib
import re
import sys
import textwrap
from typing import TYPE_CHECKING, Any

from ..engine.subject import is_grading
from ..language import speak

if TYPE_CHECKING:
    from ..engine.sandbox import Sandbox

SECONDS = 60.0  # of own time, for a cell
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

    known = find_patient(number)
    print(known.symptom)
    for framework in (PATIENT, TORCH):
        result = show(run_on(framework, known, known.symptom)["result"])
        place = speak("on {framework}:", framework=speak(framework))
        print(f"\n{place}\n{textwrap.indent(result, '    ')}")


def _run(number: str, cell: str, sound: bool = False) -> list[dict]:
    """The outputs of a cell that runs on a patient, or on the sound framework. A process that ends is started again by the next
    cell."""
    from ..engine.observe import Malformed, SubjectDied, SubjectTimedOut
    from ..engine.patients import find_patient, open_patient

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
    """Register the two cell magics."""
    from IPython import get_ipython

    shell: Any = get_ipython()
    if shell:
        shell.register_magic_function(_on_patient, "cell", "patient")
        shell.register_magic_function(_on_both, "cell", "compare")


if "IPython" in sys.modules:
    _register()
