"""JupyterLite with the labs: notebooks that run in a browser, from a site that is only files.

The kernel, Python's packages, rushlight's wheel with the recorded answers, and the labs are all on the site, so nothing is asked
of another host. Pyodide's lock file names just these packages, and the kernel loads them when it starts. So a lab's first cell
finds `rushlight`. JupyterLite's own packages are parts too, and are not installed: in an environment with the kernel's extension,
JupyterLab would load it as well.

    python docs/programs/browser/lite.py FOLDER
"""

from __future__ import annotations

import hashlib
import io
import json
import logging
import os
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Sequence
from pathlib import Path
from shutil import copyfile, copytree

from autograder.course import ROOT
from autograder.model import Course, Lab
from docs.programs.browser import parts
from docs.programs.hooks import tab

KERNEL = "@jupyterlite/pyodide-kernel-extension"
EXTENSION = f"jupyterlite_pyodide_kernel-*.data/data/share/jupyter/labextensions/{KERNEL}"
BUILT_WITH = "jupyterlite_core", "jupyterlite_pyodide_kernel", "doit", "pkginfo"
START = ["micropip", "piplite", "ssl", "sqlite3", "ipykernel", "comm", "pyodide_kernel", "jedi", "ipython", "rushlight"]
NEEDED = {  # by the wheels that Pyodide's lock file does not name
    "comm": ["traitlets"],
    "ipykernel": [],
    "piplite": ["micropip"],
    "pyodide-kernel": ["ipython", "ipykernel", "comm"],
    "pyyaml": [],
    "rushlight": ["numpy", "pyyaml", "matplotlib"],
}
LEFT_OUT = "autograder/shipped/phases/"  # of rushlight's wheel: the site has the readings


def build(place: Path, labs: Sequence[Lab]) -> None:
    """Write JupyterLite with these labs to a folder. Raises LookupError if a part cannot be had."""
    fetched = parts.fetch(lite=True)
    if fetched is None:
        raise LookupError("so there is no JupyterLite: docs/licences.md says how to bring the parts along")
    with tempfile.TemporaryDirectory() as folder:
        packages, source = Path(folder, "packages"), Path(folder, "source")
        for name in BUILT_WITH:
            zipfile.ZipFile(_only(fetched, f"{name}-*.whl")).extractall(packages)
        extension = _only(packages, EXTENSION)
        wheels = [_only(extension, f"static/pypi/{name}-*.whl") for name in ("ipykernel", "piplite", "pyodide_kernel")]
        wheels += [_only(fetched, "comm-*.whl"), fetched / parts.PYYAML, _wheel(Path(folder, "wheel"))]
        _write_pyodide(source / "static" / "pyodide", fetched, wheels)
        for lab in labs:
            copytree(lab.todays_path.parent, source / "files" / lab.name)
        kernel = {"pyodideUrl": "./static/pyodide/pyodide.js", "disablePyPIFallback": True}
        kernel |= {"loadPyodideOptions": {"packages": START}}
        config = {"appName": "Rushlight", "litePluginSettings": {f"{KERNEL}:kernel": kernel}}
        config["settingsOverrides"] = {
            "@jupyterlab/notebook-extension:tracker": {"windowingMode": "none"}
        }  # so a search finds all
        settings = {"jupyter-lite-schema-version": 0, "jupyter-config-data": config}
        (source / "jupyter-lite.json").write_text(json.dumps(settings))
        command = [sys.executable, "-m", "jupyterlite_core", "build", f"--output-dir={place.resolve()}", "--apps=lab"]
        command += ["--contents=files", "--no-sourcemaps", "--no-unused-shared-packages", "--no-libarchive"]
        command += ["--ignore-sys-prefix", f"--LiteBuildConfig.federated_extensions={extension}"]
        _run(command, source, os.environ | {"PYTHONPATH": str(packages)})


def _only(folder: Path, pattern: str) -> Path:
    [path] = folder.glob(pattern)
    return path


def _wheel(folder: Path) -> Path:
    """Return rushlight's wheel."""
    _run([sys.executable, "-m", "pip", "wheel", "--no-deps", "--no-build-isolation", f"--wheel-dir={folder}", ROOT])
    return _only(folder, "*.whl")


def _run(command: list, place: Path | None = None, environment: dict | None = None) -> None:
    done = subprocess.run(
        command, cwd=place, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )
    if done.returncode:
        raise RuntimeError(f"JupyterLite was not built:\n{done.stdout}")


def _write_pyodide(place: Path, fetched: Path, wheels: Sequence[Path]) -> None:
    """Write Pyodide with the wheels that a kernel loads, and a lock file that names these alone."""
    place.mkdir(parents=True)
    for name in ("pyodide.js", "pyodide.asm.js", "pyodide.asm.wasm", "python_stdlib.zip"):
        copyfile(fetched / name, place / name)
    lock = json.loads((fetched / "pyodide-lock.json").read_bytes())
    lock["packages"] = {
        name: package for name, package in lock["packages"].items() if (fetched / package["file_name"]).exists()
    }
    for package in lock["packages"].values():
        copyfile(fetched / package["file_name"], place / package["file_name"])
    for wheel in wheels:
        data = _without(wheel.read_bytes(), LEFT_OUT)
        (place / wheel.name).write_bytes(data)
        package = _entry(wheel.name, data)
        lock["packages"][package["name"]] = package
    (place / "pyodide-lock.json").write_text(json.dumps(lock))


def _entry(file: str, wheel: bytes) -> dict:
    """Return what Pyodide's lock file says of a wheel."""
    name, version, *_ = file.split("-")
    with zipfile.ZipFile(io.BytesIO(wheel)) as opened:
        tops = {name.partition("/")[0] for name in opened.namelist()}
    return {
        "name": (name := name.replace("_", "-")),
        "version": version,
        "file_name": file,
        "sha256": hashlib.sha256(wheel).hexdigest(),
        "imports": sorted(top.removesuffix(".py") for top in tops if "-" not in top),
        "depends": NEEDED[name],
        "install_dir": "site",
        "package_type": "package",
        "unvendored_tests": False,
    }


def _without(wheel: bytes, start: str) -> bytes:
    """Return a wheel without the files whose names begin so."""
    written = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(wheel)) as before, zipfile.ZipFile(written, "w", zipfile.ZIP_DEFLATED) as after:
        for item in before.infolist():
            if not item.filename.startswith(start):
                after.writestr(item, before.read(item))
    return written.getvalue()


def main() -> None:
    logging.basicConfig(format="%(message)s", level=logging.INFO)
    [place] = sys.argv[1:]
    try:
        build(Path(place), [lab for lab in Course().released_labs() if tab.runs(lab.name)])
    except (LookupError, RuntimeError) as error:
        sys.exit(str(error))


if __name__ == "__main__":
    main()
