"""Part 10: labs on a machine with a GPU.

Solution notebooks, from the top, as a student runs them: each in an IPython shell of its own, several at once. Recorded are the
verdict of each check, the cells that raise, with the end of what they printed, and the seconds.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import re
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

TITLE = "labs: solution notebooks, from the top"
LIMIT = 215
SECONDS = 180  # of one lab
WORKERS = max(1, (os.cpu_count() or 1) * 5 // 8)
ROOT = Path(__file__).resolve().parents[2]
LABS = [  # the longest first, so that all end at about the same time
    "13a_tensors", "06a_operators", "09a_collectives", "13e_memory", "06b_transforms", "09c_fsdp", "08c_code", "08a_dumps",
    "09d_tensor_parallel", "06c_devices", "07b_dynamo", "09b_ddp", "09e_pipelines", "08b_loops", "10c_export", "00_trace",
    "11a_profiles", "11b_memory", "11c_accelerators", "14a_threads", "14b_together", "14c_products", "14d_triton",
]  # fmt: skip
QUICK = "11c_accelerators"  # tried without a GPU
COLOURS = re.compile(r"\x1b\[[0-9;]*m")


def main(lab: str) -> None:
    """Run the code cells of a solution notebook in one IPython shell. Print a line of JSON for each that checks or raises."""
    from IPython.core.interactiveshell import InteractiveShell

    folder = ROOT / "solutions" / lab
    notebook = json.loads((folder / f"{lab}.ipynb").read_text(encoding="utf-8"))
    os.chdir(folder)
    shell = InteractiveShell.instance()
    shell.colors = "nocolor"
    for number, cell in enumerate(notebook["cells"]):
        source = "".join(cell["source"])
        if cell["cell_type"] != "code":
            continue
        begun = time.monotonic()
        with contextlib.redirect_stdout(io.StringIO()) as printed, contextlib.redirect_stderr(io.StringIO()) as errors:
            result = shell.run_cell(source, store_history=True)
        error = result.error_before_exec or result.error_in_exec
        check = re.match(r"check\(\"([^\"]+)\"", source)
        line = {"cell": number, "check": check and check[1], "seconds": round(time.monotonic() - begun, 2)}
        shown = COLOURS.sub("", printed.getvalue())
        if error is not None:
            line |= {"error": f"{type(error).__name__}: {error}", "printed": shown[-2500:]}
            line["printed as errors"] = COLOURS.sub("", errors.getvalue())[-1500:]
        elif check:
            line["printed"] = shown[-400:]
        elif (
            "ranks" in shown or ".on_gpu(" in source or number < 5
        ):  # where the ranks are, and what the notebook says of this machine
            line["printed"] = shown[:400]
        if len(line) > 3:
            print(json.dumps(line), file=sys.__stdout__, flush=True)


def section(lab: str) -> Callable[[Any], dict[str, Any]]:
    def run_lab(run: Any) -> dict[str, Any]:
        if lab != QUICK:
            run.need_gpu("one lab is enough to try this part")
        begun = time.monotonic()
        path = os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])
        own = {f"{name}_CACHE_DIR": f"{os.environ['TMPDIR']}/{lab}/{name}" for name in ("TORCHINDUCTOR", "TRITON")}
        seen = {"RUSHLIGHT_DEVICE": "cuda"} if lab.startswith("14") else {}  # its last cell asks for the device
        printed, ending = run.program(
            ["-m", "bench.gpu_parts.labs", lab], SECONDS, env=os.environ | own | seen | {"PYTHONPATH": path}
        )
        lines = [read_line(line) for line in printed.splitlines() if line.startswith('{"cell"')]
        checks = {line["check"]: "error" not in line for line in lines if line["check"]}
        raised = [line["cell"] for line in lines if "error" in line and not line["check"]]
        failed = [name for name, passed in checks.items() if not passed]
        if not lines:
            raise RuntimeError(f"{ending}\n{printed[-3000:]}")
        summary = f"{len(checks) - len(failed)} of {len(checks)} checks passed, {time.monotonic() - begun:.0f} s"
        summary += f"; {len(raised)} other cells raised" if raised else ""
        summary += f"; {ending}" if ending else ""
        summary += f"; failed: {', '.join(failed)}" if failed else ""
        others = [line for line in printed.splitlines() if not line.startswith('{"cell"')]
        return {
            "summary": summary,
            "cells": lines,
            "ending": ending or "done",
            "also printed": "\n".join(others)[-3000:],
        }

    return run_lab


def read_line(line: str) -> dict[str, Any]:
    try:
        return json.loads(line)
    except ValueError:  # the process ended within the line
        return {"cell": None, "check": None, "error": "the line is cut", "printed": line[-400:]}


SECTIONS = [(lab, section(lab)) for lab in LABS]

if __name__ == "__main__":
    main(sys.argv[1])
