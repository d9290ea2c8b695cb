"""What a page's worker loads: archives, and the bytecode of Pyodide's Python."""

import json
import shutil
import sys
import zlib

import pytest

from autograder import course
from autograder.engine.check import is_on_torch, registry
from autograder.model import lab_names
from docs.programs.browser import packing
from docs.programs.hooks import tab


def test_an_archive_has_its_directory_and_then_the_files_and_is_the_same_each_time():
    data = zlib.decompress(packing.archive({"b/c": b"two", "a": b"1"}))
    start = 4 + int.from_bytes(data[:4], "little")
    assert json.loads(data[4:start]) == [["a", 1], ["b/c", 3]] and data[start:] == b"1two"
    assert packing.archive({"a": b"1", "b/c": b"two"}) == packing.archive({"b/c": b"two", "a": b"1"})


def test_bytecode_takes_the_place_of_what_others_wrote_and_is_beside_the_course_s_own_sources():
    compiled, files = {"a/b.py": b"code", "other.py": b"code"}, {"a/b.py": b"source", "a/c.py": b"source"}
    assert packing.in_place(files, compiled) == {"a/b.pyc": b"code", "a/c.py": b"source"}
    assert packing.beside(files, compiled) == files | {"a/__pycache__/b.cpython-312.pyc": b"code"}


def test_without_node_there_is_no_bytecode_and_one_line_says_so(tmp_path, monkeypatch):
    said = []
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr(packing.shutil, "which", lambda name: None)
    monkeypatch.setattr(packing.log, "info", said.append)
    assert packing.bytecode(tmp_path, {"a.py": b""}) == {}
    assert said == ["a page compiles Python's modules itself, because there is no Node.js here"]


@pytest.mark.parametrize("lab", [lab for lab in lab_names() if lab[:2] != tab.RANKS and not is_on_torch(lab)])
def test_the_archive_of_a_lab_has_the_recordings_that_its_checks_read(lab, tmp_path, monkeypatch):
    for name, path in tab._of_lab(lab):
        if name.startswith("phases/"):
            (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(path, tmp_path / name)
    monkeypatch.setattr(course, "READINGS", tmp_path / "phases")
    modules = [module for name, module in [*sys.modules.items()] if name.startswith("autograder.checks.")]
    for read in [value for module in modules for value in vars(module).values() if hasattr(value, "cache_clear")]:
        read.cache_clear()
    offered = [check for check in registry().values() if check.lab == lab and check.name not in tab.LACKED]
    assert offered
    for check in offered:
        if callable(check._edges):
            assert check._edges()
