#!/usr/bin/env python3
"""The part of `g++` beside it that is for texts with PyTorch's headers: what these texts include first is compiled once.

It is the compiler that follows on the path, called with the same words. With `--precompile` among them it compiles the includes
that operator.cpp begins with, into the folder $RUSHLIGHT_TESTS (300 MB); a text that begins with the very same ones then has
them from there. The text itself is left as it is, and means the same: what it includes is there already, and nothing besides.
"""

import fcntl
import hashlib
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path


def header(compiler, words):
    """The file of the includes that operator.cpp begins with, for these options; None if it begins with something else."""
    found = re.match(r"\s*((?:#include <[^>\n]+>[ \t]*\n)+)", Path("operator.cpp").read_text(encoding="utf-8"))
    if found is None:
        return None
    key = hashlib.sha256("\0".join([compiler, found[1], *options(words)]).encode()).hexdigest()[:16]
    file = Path(os.environ["RUSHLIGHT_TESTS"], f"{key}.h")
    if not file.exists():
        aside = file.with_suffix(f".{os.getpid()}")
        aside.write_text(found[1], encoding="utf-8")
        aside.rename(file)
    return file


def options(words):
    """The words that what is precompiled depends on."""
    return [word for word in words if word.startswith(("-std", "-O", "-f", "-I", "-D_"))]


def precompile(compiler, words):
    file = header(compiler, words)
    made, aside = file.with_suffix(".h.gch"), file.with_suffix(".part")
    with file.with_suffix(".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not made.exists():
            subprocess.run([compiler, *options(words), "-x", "c++-header", file, "-o", aside], check=True)
            aside.rename(made)


if __name__ == "__main__":
    here, words = Path(__file__).resolve().parent, sys.argv[1:]
    places = [place for place in os.environ.get("PATH", os.defpath).split(os.pathsep) if Path(place).resolve() != here]
    compiler = shutil.which("g++", path=os.pathsep.join(places))
    if "--precompile" in words:
        sys.exit(precompile(compiler, words))
    if "RUSHLIGHT_TESTS" in os.environ and {"operator.cpp", "-ltorch_cpu"} <= {*words}:
        file = header(compiler, words)
        if file is not None and file.with_suffix(".h.gch").exists():
            words += ["-include", str(file)]
    os.execv(compiler, [compiler, *words])
