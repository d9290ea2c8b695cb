"""What a page's worker loads: archives, and the bytecode of Pyodide's Python."""

import json
import zlib

from docs.programs.browser import packing


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
