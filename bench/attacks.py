"""Count the points that hostile submissions gain: a class of attackers (`tests/attacks`) graded as `rushlight grade` does."""

from __future__ import annotations

import os
import sys
import tempfile
from pathlib import Path
from types import ModuleType

from autograder.course import ROOT
from autograder.model import lab_names

sys.path.insert(0, str(ROOT / "tests"))


def main() -> None:
    from attacks import LABS, corpus

    for lab in LABS:
        attacks = corpus(lab)
        chosen = {name: attack for name, attack in attacks.items() if not sys.argv[1:] or name in sys.argv[1:]}
        if chosen and lab in lab_names():
            print(lab)
            show(lab, chosen)


def show(lab: str, chosen: dict[str, ModuleType]) -> None:
    from attacks import measure

    with tempfile.TemporaryDirectory() as place:
        os.environ["XDG_CACHE_HOME"] = str(Path(place, "cache"))
        os.environ["RUSHLIGHT_CLASSROOM"] = str(Path(place, "class"))
        Path(place, "class").mkdir()
        figures = measure(Path(place, "class"), chosen, lab)
    for student, remark in figures.remarks.items():
        print(f"{student!r:40} {remark}", file=sys.stderr)
    for finding in (figures.undeserved, figures.lost, figures.changed, figures.left, figures.active):
        if finding:
            print(finding, file=sys.stderr)
    print(figures)


if __name__ == "__main__":
    main()
