"""Every reading runs, and its marked cells give the stored outputs.

A run takes minutes, so it is recorded: `readings.lock` has a line for each reading that ran, with a hash over its cells of code,
the rooms of the framework that they reach, without docstrings and comments, and torch's version. A reading with another hash runs
now. `python tests/docs/test_runs.py` runs these readings and writes their lines. `make test-all` runs every reading.
"""

import ast
import hashlib
import re
import subprocess
import sys
from functools import cache
from importlib.metadata import version
from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

sys.path.insert(0, str(Path(__file__).parents[1]))  # as pytest has it, because this file is also a command
from guarantees import canonical  # noqa: E402

from rushlight.course.short_names import long_form  # noqa: E402

ROOT = Path(__file__).parents[2]
LOCK = Path(__file__).with_name("readings.lock")
READINGS = {path.parent.name: path for path in sorted(ROOT.glob("phases/*/reading.ipynb"))}
COMPILE = "dynamo", "inductor"  # what `rl.compile` imports


@pytest.mark.parametrize("phase", READINGS)
def test_a_reading_runs(phase):
    assert recorded().get(phase) == key(phase) or not (failure := run(phase)), failure


@pytest.mark.sweep
@pytest.mark.parametrize("phase", [phase for phase in READINGS if "# Part" in READINGS[phase].read_text()])
def test_a_part_runs_after_the_set_up_cells_before_it(phase):
    cells, kept = nbformat.read(READINGS[phase], as_version=4).cells, []
    starts = [i for i, cell in enumerate(cells) if cell.source.startswith("# Part")]
    for start, end in zip(starts, [*starts[1:], len(cells)]):
        notebook = nbformat.v4.new_notebook(cells=[*kept, *cells[start:end]])
        NotebookClient(
            notebook, timeout=600, kernel_name="python3", resources={"metadata": {"path": str(ROOT)}}
        ).execute()
        kept += [cell for cell in cells[start:end] if "setup" in cell.metadata.get("tags", ())]


def test_a_reading_depends_on_what_it_mentions_and_on_what_that_imports():
    assert {"c10", "aten", "autograd", "nn"} <= reached("01_strided")
    assert not {"dynamo", "distributed", "clinic"} & reached("01_strided")
    assert {"fx", "aot", "dynamo"} <= reached("07_capture") and {"cuda", "on_torch"} <= reached("11_profiling")


def run(phase: str) -> str:
    """Run a reading's cells in a fresh kernel. Returns what failed, or an empty text."""
    command = [sys.executable, "-m", "pytest", "-n", "0", "-m", "", str(READINGS[phase])]
    ended = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    return ended.stdout[-4000:] if ended.returncode else ""


def recorded() -> dict[str, str]:
    return dict(line.split() for line in LOCK.read_text().splitlines()) if LOCK.exists() else {}


def key(phase: str) -> str:
    parts = [version("torch"), *code(phase), *(text_of(room) for room in sorted(reached(phase)))]
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()[:16]


def code(phase: str) -> list[str]:
    return [cell.source for cell in nbformat.read(READINGS[phase], as_version=4).cells if cell.cell_type == "code"]


def reached(phase: str) -> set[str]:
    """The rooms of the framework that a reading's cells mention, and all that these import."""
    text = "\n".join(code(phase))
    paths = [long_form(name) for name in re.findall(r"\b(?:rl|rushlight)\.([\w.]+)", text)]
    rooms = {path.partition(".")[0] for path in paths} | {*COMPILE} & ({"dynamo"} if "rl.compile" in text else set())
    found, new = set(), rooms & {*files()} | {"__init__"}
    while new:
        found |= new
        new = {room for known in new for room in imports(known)} - found
    return found


@cache
def files() -> dict[str, list[Path]]:
    """The files of each room: a folder of `rushlight`, or a file in it."""
    rooms: dict[str, list[Path]] = {}
    for path in sorted([*ROOT.glob("rushlight/**/*.py"), *ROOT.glob("rushlight/**/*.yaml")]):
        if "generated" not in path.parts:  # of the YAML files
            rooms.setdefault(path.relative_to(ROOT / "rushlight").parts[0].removesuffix(".py"), []).append(path)
    return rooms


@cache
def imports(room: str) -> frozenset[str]:
    """The rooms that a room imports. What `rushlight` itself imports when a name is asked for is what the cells mention."""
    indent = "" if room == "__init__" else " *"
    statements = rf"^{indent}from rushlight\.(\w+)|^{indent}import rushlight\.(\w+)|^from rushlight import (.+)"
    text = "\n".join(path.read_text() for path in files()[room] if path.suffix == ".py")
    names = {
        name for found in re.findall(statements, text, re.M) for part in found for name in re.findall(r"\w+", part)
    }
    return frozenset(names & {*files()})


@cache
def text_of(room: str) -> str:
    return "\n".join(
        canonical(ast.parse(path.read_text())) if path.suffix == ".py" else path.read_text() for path in files()[room]
    )


if __name__ == "__main__":
    lines = recorded()
    for phase in READINGS:
        if lines.get(phase) != key(phase):
            failure = run(phase)
            print(phase, failure or "runs", flush=True)
            if not failure:
                lines[phase] = key(phase)
                LOCK.write_text("".join(f"{name} {line}\n" for name, line in sorted(lines.items())))
