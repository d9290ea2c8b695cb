"""Part 10: the labs of a machine with a GPU: solution notebooks, from the top, as a student runs them."""

from __future__ import annotations

import contextlib
import io
import json
import re
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def main(lab: str) -> None:
    """Run the code cells of a solution notebook in one IPython shell, and print a line of JSON for each that fails or checks."""
    import os

    from IPython.core.interactiveshell import InteractiveShell

    folder = ROOT / "solutions" / lab
    notebook = json.loads((folder / f"{lab}.ipynb").read_text(encoding="utf-8"))
    os.chdir(folder)
    shell = InteractiveShell.instance()
    shell.colors = "nocolor" if hasattr(shell, "colors") else "NoColor"
    for number, cell in enumerate(notebook["cells"]):
        if cell["cell_type"] != "code":
            continue
        begun = time.monotonic()
        with contextlib.redirect_stdout(io.StringIO()) as printed, contextlib.redirect_stderr(io.StringIO()) as errors:
            result = shell.run_cell("".join(cell["source"]), store_history=True)
        error = result.error_before_exec or result.error_in_exec
        text = re.sub(r"\x1b\[[0-9;]*m", "", printed.getvalue())
        line = {"cell": number, "seconds": round(time.monotonic() - begun, 2)}
        if error is not None:
            line |= {
                "error": f"{type(error).__name__}: {error}",
                "printed": text[-2500:],
                "stderr": errors.getvalue()[-1500:],
            }
        elif not cell["source"] or not "".join(cell["source"]).startswith("check("):
            continue
        else:
            line |= {"passed": True}
        print(json.dumps(line), file=sys.__stdout__, flush=True)


if __name__ == "__main__":
    main(sys.argv[1])
