"""What a page's worker loads: archives of files, with the bytecode of the modules that a first check needs.

An archive is the size of its directory (4 bytes), the directory as JSON, a list of [path, size], and then the files, all of it
compressed by zlib. The bytecode is that of Pyodide's Python, which `compile.mjs` runs when the site is built. This needs Node.js.
Without it a page compiles what it loads, at each visit.
"""

from __future__ import annotations

import hashlib
import io
import json
import logging
import re
import shutil
import subprocess
import tempfile
import zipfile
import zlib
from collections.abc import Mapping
from pathlib import Path

from autograder.course import cache_folder

log = logging.getLogger("mkdocs.parts")

COMPILE = Path(__file__).with_name("compile.mjs")
SITE = "lib/python3.12/site-packages/"
STDLIB = "lib/python312.zip/"
UNUSED = re.compile(
    r"^numpy/(f2py|typing|distutils|_pyinstaller)/|/tests/|/include/|/lib/lib|\.(pyi|pxd|a|h)$"
)  # of numpy's wheel
CACHED = re.compile(r"(\w+)\.py$")

Files = Mapping[str, bytes]  # by path, without the first slash


def archive(files: Files) -> bytes:
    """Return the archive of files, the same each time."""
    directory = json.dumps([[path, len(data)] for path, data in sorted(files.items())]).encode()
    contents = b"".join(data for _, data in sorted(files.items()))
    return zlib.compress(len(directory).to_bytes(4, "little") + directory + contents, 9)


def zipped(files: Files) -> bytes:
    """Return an uncompressed zip file, the same each time."""
    written = io.BytesIO()
    with zipfile.ZipFile(written, "w") as file:
        for path, data in sorted(files.items()):
            file.writestr(zipfile.ZipInfo(path), data)
    return written.getvalue()


def unzipped(path: Path, start: str = "") -> dict[str, bytes]:
    """Return the files of a zip file, under paths that begin with `start`."""
    with zipfile.ZipFile(path) as file:
        return {start + name: file.read(name) for name in file.namelist() if not name.endswith("/")}


def numpy(wheel: Path) -> dict[str, bytes]:
    """Return numpy's files without those that only a build or a test of a package needs."""
    return {SITE + name: data for name, data in unzipped(wheel).items() if not UNUSED.search(name)}


def bytecode(parts: Path, files: Files) -> dict[str, bytes]:
    """Return the bytecode of the modules that a first check loads, by the path of the source. It is kept until a file changes.

    It is empty, after a line that says so, if there is no Node.js here.
    """
    given = zipped(files)
    inputs = COMPILE.read_bytes() + b"".join(path.read_bytes() for path in sorted(parts.glob("pyodide.asm.*"))) + given
    kept = cache_folder() / "bytecode" / f"{hashlib.sha256(inputs).hexdigest()[:16]}.zip"
    if not kept.exists():
        if not (node := shutil.which("node")):
            log.info("a page compiles Python's modules itself, because there is no Node.js here")
            return {}
        with tempfile.TemporaryDirectory() as folder:
            source, compiled = Path(folder, "files.zip"), Path(folder, "compiled.zip")
            source.write_bytes(given)
            subprocess.run([node, COMPILE, parts, source, compiled], check=True, capture_output=True)
            shutil.rmtree(kept.parent, ignore_errors=True)
            kept.parent.mkdir(parents=True)
            shutil.move(compiled, kept)
    return unzipped(kept)


def in_place(files: Files, compiled: Files) -> dict[str, bytes]:
    """Return the files with bytecode in the place of sources: a page shows no source that others wrote."""
    return {f"{path}c" if path in compiled else path: compiled.get(path, data) for path, data in files.items()}


def beside(files: Files, compiled: Files) -> dict[str, bytes]:
    """Return the files and their bytecode, where Python looks for it."""
    own = {path: data for path, data in compiled.items() if path in files}
    return {**files, **{CACHED.sub(r"__pycache__/\1.cpython-312.pyc", path): data for path, data in own.items()}}
