"""Memory for each notebook, with a judge for each and with one judge for all: `python bench/memory.py [--lab 01a] [--sizes 1 4 8]`.

Each notebook is a Jupyter kernel in which the lab's exercises are filled with the reference, and which then runs all the lab's
checks. Counted is what a machine would hold if it ran nothing else: of memory that belongs to no file the kernel's own account
(Pss, so that a page that several processes share counts once), and each page of a file once. So libraries that other programs
use do not make the figures smaller, as they would with Pss or Uss.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Iterable
from contextlib import ExitStack
from pathlib import Path

import psutil
from jupyter_client.manager import start_new_kernel

from autograder.model import Course

START = """
from types import FunctionType
import rushlight as rl
from autograder import check
from autograder.engine.check import exercise_of, function_of, is_milestone
from autograder.engine.exercise import fill
def fill_reference(name):
    slot = function_of(name)
    copy = FunctionType(slot.__code__, slot.__globals__, slot.__name__, slot.__defaults__)
    copy.__kwdefaults__ = slot.__kwdefaults__
    fill(slot, copy)
"""


def mebibytes(pids: Iterable[int]) -> float:
    """Return the memory of these processes together."""
    own, files = 0, defaultdict(int)  # in KiB; of each file the most that a process has in memory
    for pid in pids:
        own += int(re.search(r"Pss_Anon: +(\d+)", Path(f"/proc/{pid}/smaps_rollup").read_text())[1])
        held = defaultdict(int)
        for mapping in re.split(r"^(?=[0-9a-f]+-[0-9a-f]+ )", Path(f"/proc/{pid}/smaps").read_text(), flags=re.M)[1:]:
            size = {name: int(re.search(rf"^{name}: +(\d+)", mapping, re.M)[1]) for name in ("Rss", "Anonymous")}
            held[mapping.partition("\n")[0][73:]] += size["Rss"] - size["Anonymous"]
        files |= {path: max(size, files[path]) for path, size in held.items()}
    return (own + sum(files.values())) / 1024


def tree(pid: int) -> list[int]:
    process = psutil.Process(pid)
    return [pid, *(child.pid for child in process.children(recursive=True))]


def run(client, source: str) -> None:
    reply = client.execute(source, reply=True, timeout=600)["content"]
    if reply["status"] != "ok":
        raise RuntimeError(f"{reply['ename']}: {reply['evalue']}")


def measure(size: int, checks: list[str], service: psutil.Process | None) -> dict[str, float]:
    """The memory of `size` notebooks before a check and at the end, and how long the first check took."""
    while service and service.children():  # of the notebooks before
        time.sleep(1)
    alone = mebibytes([service.pid]) / size if service else 0
    with ExitStack() as stack:
        clients, kernels = [], []
        for _ in range(size):
            manager, client = start_new_kernel()
            stack.callback(manager.shutdown_kernel, now=True)
            stack.callback(client.stop_channels)
            run(client, START)
            clients.append(client)
            kernels.append(manager.provisioner.pid)
        figures = {"kernel, before": mebibytes(kernels) / size}
        start = time.perf_counter()
        for position, name in enumerate(checks):
            for client in clients:
                run(client, f"is_milestone({name!r}) or fill_reference(exercise_of({name!r}))\ncheck({name!r})")
            if position == 0:
                figures["first check, s"] = (time.perf_counter() - start) / size
        judges = tree(service.pid) if service else [pid for kernel in kernels for pid in tree(kernel)[1:]]
        figures |= {"kernel": mebibytes(kernels) / size, "judge": mebibytes(judges) / size}
        figures["together"] = mebibytes([*kernels, *judges]) / size
        if service:
            figures["of it, the service before"] = alone
    return figures


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--lab", default="01a")
    parser.add_argument("--sizes", type=int, nargs="*", default=[1, 4, 8])
    arguments = parser.parse_args()
    checks = list(Course().find_lab(arguments.lab).points)
    with tempfile.TemporaryDirectory() as folder:
        path = f"{folder}/judge.sock"
        os.environ["RUSHLIGHT_JUDGE"] = path
        for is_shared in (False, True):
            with ExitStack() as stack:
                service = None
                if is_shared:
                    command = [sys.executable, "-m", "autograder.cli", "judge", "--socket", path]
                    process = stack.enter_context(subprocess.Popen(command, stdout=subprocess.PIPE, text=True))
                    stack.callback(process.kill)
                    process.stdout.readline()
                    service = psutil.Process(process.pid)
                print("one judge for all" if is_shared else "a judge for each", flush=True)
                for size in arguments.sizes:
                    measured = measure(size, checks, service)
                    figures = "  ".join(f"{name} {value:.1f}" for name, value in measured.items())
                    print(f"  {size} notebooks, MiB for each: {figures}", flush=True)


if __name__ == "__main__":
    main()
