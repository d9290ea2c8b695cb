"""Which programs that were written for PyTorch run on rushlight, and whether they print the same.

Every script and notebook in a folder runs on PyTorch and on rushlight, each time in a new copy of its own folder, with one
thread, without standard input, and with the random numbers of seed 0. `python bench/strangers.py FOLDER` prints a line for each.
If the outputs differ, PyTorch runs once more, with the kernels for a simpler processor. The output of a program that prints
rounding errors, times or addresses then differs from PyTorch's own: "as torch's" is the line where this begins.
The ratio is rushlight's time to PyTorch's, both without the imports of the framework, where PyTorch takes at least 0.1 s of the
processor: the clock of a process with threads may tick in 4 ms, and a shorter program is all import and definitions.
"""

from __future__ import annotations

import argparse
import os
import re
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from autograder.notebook.run_command import SIMPLER, difference

ENVIRONMENT = {
    "PYTHONHASHSEED": "0",
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "MKL_NUM_THREADS": "1",
    "MPLBACKEND": "Agg",
    "PIP_DRY_RUN": "1",  # a notebook may have `!pip install`
    "PIP_NO_INDEX": "1",
}
PROGRAM = """
import atexit, sys, time
from rushlight.course import as_torch

if sys.argv[1] == "rushlight":
    as_torch.install()
import torch

torch.optim.SGD([torch.zeros(1, requires_grad=True)])  # PyTorch imports its compiler then
file = open(sys.argv[2], "w")
start = time.process_time()
atexit.register(lambda: print(time.process_time() - start, file=file, flush=True))
as_torch.execute(sys.argv[3:], seed=0)
"""
MEASURED = 0.1  # seconds of the processor
WAIT = 4  # times the seconds of the processor: for a program that waits


def run(framework: str, script: Path, seconds: float, **settings: str) -> tuple[int, str, str, float]:
    """The exit code, what it printed, the last line of its errors, and the seconds of the processor that it took."""
    with tempfile.TemporaryDirectory() as scratch:
        folder, taken = Path(scratch) / "copy", Path(scratch) / "taken"
        shutil.copytree(script.parent, folder, ignore=shutil.ignore_patterns(".*", "__pycache__"), symlinks=True)
        command = [sys.executable, "-c", PROGRAM, framework, str(taken), script.name]
        with subprocess.Popen(
            command,
            cwd=folder,
            env=os.environ | ENVIRONMENT | settings,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            errors="replace",
            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CPU, (int(seconds), int(seconds) + 5)),
            start_new_session=True,
        ) as process:
            try:
                out, errors = process.communicate(timeout=WAIT * seconds + 10)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, 9)
                out, errors = process.communicate()
        lines = [line for line in errors.splitlines() if line.strip()]
        time = float(taken.read_text() or "nan") if taken.exists() else float("nan")
        out = re.sub(r"\b0x[0-9a-f]+", "0x", out.replace(str(folder), "."))  # addresses of objects
        return process.returncode, out, lines[-1] if lines else "", time


def result(script: Path, seconds: float) -> dict[str, str]:
    """A line of the table."""
    code, theirs, error, time = run("torch", script, seconds)
    our_code, ours, our_error, our_time = run("rushlight", script, seconds)
    row = {"torch": ended(code), "rushlight": ended(our_code), "output": "", "ratio": ""}
    row["why"] = our_error if our_code else error if code else ""
    if code == our_code:
        how, line = difference(theirs, ours)
        row["output"] = (how + (f" at line {line}" if how == "differs" else "")) if line else "no output"
        if how == "differs":
            code, again, *_ = run("torch", script, seconds, **SIMPLER)
            how, line = difference(theirs, again)
            row["output"] += f", as torch's at {line}" if how == "differs" and not code else ""
        row["ratio"] = f"{our_time / time:.2f}" if time >= MEASURED else ""
    return row


def ended(code: int) -> str:
    return {0: "runs", -9: "too long", -24: "too long"}.get(code, "fails")


def scripts(folder: Path) -> Iterator[Path]:
    for path in sorted([*folder.rglob("*.py"), *folder.rglob("*.ipynb")]):
        if path.is_file() and not any(part.startswith(".") for part in path.relative_to(folder).parts):
            yield path


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--seconds", type=float, default=60, help="of the processor, for each run")
    arguments = parser.parse_args()
    rows = []
    paths = [*scripts(arguments.folder)]
    width = max((len(str(path.relative_to(arguments.folder))) for path in paths), default=0)
    print(f"{'script':{width}}  {'torch':8}  {'rushlight':9}  {'output':36}  {'time':>6}  first error")
    for path in paths:
        rows.append(row := result(path.resolve(), arguments.seconds))
        name = str(path.relative_to(arguments.folder))
        print(
            f"{name:{width}}  {row['torch']:8}  {row['rushlight']:9}  {row['output']:36}  {row['ratio']:>6}  {row['why']}",
            flush=True,
        )
    both = [row for row in rows if row["torch"] == "runs"]
    outputs = Counter(re.sub(r" at (line )?\d+", "", row["output"]) for row in both if row["rushlight"] == "runs")
    ratios = [float(row["ratio"]) for row in both if row["rushlight"] == "runs" and row["ratio"]]
    print(
        f"\n{len(rows)} scripts: {len(both)} run on torch, {sum(outputs.values())} of them on rushlight; output:",
        end=" ",
    )
    print(", ".join(f"{how} {count}" for how, count in outputs.most_common()) or "none", end="")
    print(f"; geometric mean of {len(ratios)} ratios {statistics.geometric_mean(ratios):.2f}" if ratios else "")
    missing = Counter(
        name
        for row in rows
        for name in re.findall(r"(torch\.[\w.]+) is not in rushlight|uses (torch[\w.]+)", row["why"])
    )
    for names, count in missing.most_common(20):
        print(f"{count:4}  {''.join(names)}")


if __name__ == "__main__":
    main()
