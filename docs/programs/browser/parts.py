"""The parts of the site that others have made, such as Pyodide and an editor: fetched when the site is built.

`parts.toml` names each part with its sha256, its licence, and its sources. A part comes from a folder, from its official release,
or from a registry, whichever has it first, and only the sha256 decides whether it is accepted. The files are kept in the user's
cache. Beside them is what a page can load: the editor's modules in `codemirror/`, with imports that a browser finds without a
bundler, PyYAML's Python files as a wheel for every system, and Python's WebAssembly compressed, because not every host does that.

    python docs/programs/browser/parts.py [--lite] [--from FOLDER]
"""

from __future__ import annotations

import argparse
import hashlib
import http.client
import io
import logging
import os
import re
import subprocess
import sys
import tarfile
import tempfile
import tomllib
import urllib.error
import urllib.request
import zipfile
import zlib
from functools import cache
from pathlib import Path
from urllib.parse import urlsplit

from autograder.course import cache_folder

log = logging.getLogger("mkdocs.parts")

DATA = tomllib.loads(Path(__file__).with_name("parts.toml").read_text(encoding="utf-8"))
PARTS = DATA["part"]
FOLDER = "RUSHLIGHT_PARTS"  # the environment variable that names a folder with the parts
PYYAML = "pyyaml-6.0.3-py3-none-any.whl"
WASM = "pyodide.asm.wasm"
SECONDS = 10  # without an answer, after which a source counts as out of reach
FOR_PYODIDE = [
    "--only-binary=:all:",
    "--python-version=3.12",
    "--platform=manylinux2014_x86_64",
]  # the same file on all systems
BARE_IMPORT = re.compile(r"""^((?:import|export) [^;'"]*? from )['"]([@\w][^'"]*)['"]""", re.MULTILINE)


def fetch(given: Path | None = None, lite: bool = False) -> Path | None:
    """Return a folder with all parts, or None after logging one line that says what is missing.

    A part that is not in the cache comes from the folder `given`, or the one that RUSHLIGHT_PARTS names, or from its sources.
    The parts of JupyterLite are among them if `lite` is true.
    """
    place = _place()
    place.mkdir(parents=True, exist_ok=True)
    if named := given or os.environ.get(FOLDER):
        for part in _missing(place, lite):
            if (path := Path(named, part["file"])).is_file():
                _accept(place, part, path.read_bytes(), str(path))
    with tempfile.TemporaryDirectory() as folder:
        reach = _Reach(Path(folder))
        for part in _missing(place, lite):
            for address in part["sources"]:
                data = reach.get(DATA["sources"].get(address, address).format(file=part["file"]))
                if data is not None and _accept(place, part, data, address):
                    break
    if missing := _missing(place, lite):
        names = ", ".join(part["file"] for part in missing[:3]) + (", …" if missing[3:] else "")
        log.info(f"{len(missing)} of {len(_wanted(lite))} parts for the browser cannot be had here: {names}")
        return None
    _unpack(place)
    return place


def fetched(lite: bool = False) -> Path | None:
    """Return the folder with all parts if they are in the cache, without asking any source."""
    place = _place()
    if _missing(place, lite):
        return None
    _unpack(place)
    return place


def _place() -> Path:
    return cache_folder() / "parts"


def _wanted(lite: bool) -> list[dict]:
    return [part for part in PARTS if lite or part["group"] != "lite"]


def _missing(place: Path, lite: bool) -> list[dict]:
    paths = ((part, place / part["file"]) for part in _wanted(lite))
    return [part for part, path in paths if not path.is_file() or not _is(part, path.read_bytes())]


def _is(part: dict, data: bytes) -> bool:
    return hashlib.sha256(data).hexdigest() == part["sha256"]


def _accept(place: Path, part: dict, data: bytes, origin: str) -> bool:
    """Write a part, if its sha256 is right."""
    if not _is(part, data):
        log.info(f"refused: {part['file']} from {origin} has another sha256 than parts.toml says")
        return False
    _write(place / part["file"], data)
    return True


def _write(path: Path, data: bytes) -> None:
    """Write a file that is whole at every moment, also if several processes write it."""
    path.parent.mkdir(exist_ok=True)
    with tempfile.NamedTemporaryFile(dir=path.parent, prefix=".", delete=False) as file:
        file.write(data)
    os.chmod(file.name, 0o644)
    os.replace(file.name, path)


# Sources -------------------------------------------------------------------------------------------------------------


class _Reach:
    """What can be had from addresses, each of them asked once: a host or pip that did not answer is not asked again."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.silent: set[str] = set()
        self.download = cache(self._download)

    def get(self, address: str) -> bytes | None:
        """Return the file at `address`, or the file after its `#` in the archive there, or None."""
        origin, _, member = address.partition("#")
        data = self.download(origin)
        if data is None or not member:
            return data
        try:
            return _members(data).get(member)
        except (zipfile.BadZipFile, tarfile.TarError):
            return None  # a page of a proxy, or the like

    def _download(self, address: str) -> bytes | None:
        host = urlsplit(address).netloc or "pip"
        if host in self.silent:
            return None
        try:
            return self._pip(address.removeprefix("pypi:")) if host == "pip" else self._url(address)
        except urllib.error.HTTPError:
            return None  # the host lacks this file
        except (OSError, http.client.HTTPException, subprocess.SubprocessError):
            self.silent.add(host)
            return None

    def _url(self, address: str) -> bytes:
        with urllib.request.urlopen(address, timeout=SECONDS) as answer:
            return answer.read()

    def _pip(self, requirement: str) -> bytes:
        """Return the wheel that pip finds, in the index of the user's configuration."""
        folder = self.folder / re.sub(r"\W", "_", requirement)
        command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--disable-pip-version-check"]
        command += [f"--timeout={SECONDS}", "--retries=1", "--no-input", *FOR_PYODIDE, f"--dest={folder}", requirement]
        subprocess.run(command, check=True, capture_output=True, timeout=600)
        [wheel] = folder.glob("*.whl")
        return wheel.read_bytes()


@cache
def _members(archive: bytes) -> dict[str, bytes]:
    """Return the files of an archive, a wheel or an npm package."""
    if archive.startswith(b"PK"):
        with zipfile.ZipFile(io.BytesIO(archive)) as file:
            return {name: file.read(name) for name in file.namelist()}
    with tarfile.open(fileobj=io.BytesIO(archive)) as file:
        return {member.name: file.extractfile(member).read() for member in file if member.isfile()}


# Archives ------------------------------------------------------------------------------------------------------------


def _unpack(place: Path) -> None:
    """Write the editor's modules, PyYAML's wheel and the compressed WebAssembly, unless they are there as these parts give them."""
    stamp = place / ".unpacked"
    unpacked = hashlib.sha256(Path(__file__).read_bytes() + repr(PARTS).encode()).hexdigest()
    if stamp.is_file() and stamp.read_text() == unpacked:
        return
    for part in PARTS:
        path = place / part["file"]
        if part["group"] == "editor":
            _write(place / "codemirror" / _module(part["name"]), module(_members(path.read_bytes()), part["module"]))
        elif part["name"] == "PyYAML":
            _write(place / PYYAML, without_binaries(_members(path.read_bytes())))
        elif part["file"] == WASM:
            _write(place / f"{WASM}.zlib", zlib.compress(path.read_bytes(), 9))
    _write(stamp, unpacked.encode())


def _module(package: str) -> str:
    """Return the file of an npm package's module, such as `view.js` of `@codemirror/view`."""
    return re.sub(r"^@(codemirror|marijn)/", "", package).replace("@lezer/", "lezer-") + ".js"


def module(package: dict[str, bytes], path: str) -> bytes:
    """Return the module at `path` of an npm package, after its licence, with imports that are relative."""
    text = BARE_IMPORT.sub(
        lambda match: f'{match[1]}"./{_module(match[2])}"', package[f"package/{path}"].decode("utf-8")
    )
    return f"/*\n{package['package/LICENSE'].decode('utf-8').strip()}\n*/\n{text}".encode()


def without_binaries(wheel: dict[str, bytes]) -> bytes:
    """Return a wheel for every system, with the Python files of one that is for a single system."""
    written = io.BytesIO()
    with zipfile.ZipFile(written, "w", zipfile.ZIP_DEFLATED) as file:
        for name, data in sorted(wheel.items()):
            if name.endswith("/WHEEL"):
                data = b"Wheel-Version: 1.0\nGenerator: rushlight\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
            if not name.endswith(("/", ".so", "/RECORD")):
                file.writestr(zipfile.ZipInfo(name), data, zipfile.ZIP_DEFLATED)
    return written.getvalue()


def main() -> None:
    logging.basicConfig(format="%(message)s", level=logging.INFO)
    asked = argparse.ArgumentParser(description="Fetch the parts of the site that run in a browser.")
    asked.add_argument("--from", dest="folder", type=Path, help="a folder with the parts, which is asked first")
    asked.add_argument("--lite", action="store_true", help="also what `rushlight docs --lite` needs")
    given = asked.parse_args()
    place = fetch(given.folder, given.lite)
    if not place:
        raise SystemExit(1)
    print(f"the parts for the browser are in {place}")


if __name__ == "__main__":
    main()
