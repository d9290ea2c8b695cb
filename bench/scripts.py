"""How long a step of each example takes on rushlight and on torch eager, one thread, in alternation."""

from __future__ import annotations

import argparse
import os
import platform
import re
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import torch

EXAMPLES = Path(__file__).parents[1] / "examples"
NAMES = sorted({path.stem for path in EXAMPLES.glob("*.py")} - {"digits", "framework", "text"})
THREADS = {name: "1" for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")}


def milliseconds(name: str, framework: str, steps: int) -> float:
    """The median of one run's steps."""
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, EXAMPLES / f"{name}.py", "--framework", framework, "--steps", str(steps)]
        command += ["--picture", f"{folder}/picture.png"]
        run = subprocess.run(command, capture_output=True, text=True, check=True, env=os.environ | THREADS)
    return float(re.search(r"a step takes (\S+) ms", run.stdout)[1])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--steps", type=int, default=100)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("names", nargs="*", default=NAMES)
    arguments = parser.parse_args()
    print(
        f"torch {torch.__version__}, numpy {np.__version__}, Python {platform.python_version()}, {platform.machine()}"
    )
    print(f"one thread; medians of {arguments.steps} steps, the best of {arguments.rounds} runs\n")
    print(f"{'example':16}{'rushlight':>12}{'torch':>12}{'ratio':>8}")
    ratios = []
    for name in arguments.names:
        taken: dict[str, list[float]] = {"rushlight": [], "torch": []}
        for _ in range(arguments.rounds):
            for framework, times in taken.items():
                times.append(milliseconds(name, framework, arguments.steps))
        ours, theirs = (min(times) for times in taken.values())
        ratios.append(ours / theirs)
        print(f"{name:16}{ours:9.3f} ms{theirs:9.3f} ms{ratios[-1]:8.2f}", flush=True)
    print(f"\ngeometric mean {statistics.geometric_mean(ratios):.2f}")


if __name__ == "__main__":
    main()
