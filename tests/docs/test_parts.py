"""The parts of the site that others have made are fetched once, and accepted only with their sha256."""

import hashlib
import re

import pytest

from docs.programs.browser import parts as site_parts
from docs.programs.hooks import licences


@pytest.fixture
def parts(tmp_path, monkeypatch):
    """The module, with an empty cache and three parts that no source has."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.delenv(site_parts.FOLDER, raising=False)
    given = [{"name": name, "group": "core", "file": name, "sha256": _sha(name), "sources": []} for name in "abc"]
    monkeypatch.setattr(site_parts, "PARTS", given)
    site_parts.said = []
    monkeypatch.setattr(site_parts.log, "info", site_parts.said.append)
    return site_parts


def _sha(text):
    return hashlib.sha256(text.encode()).hexdigest()


def _folder(path, **files):
    path.mkdir(exist_ok=True)
    for name, text in files.items():
        (path / name).write_text(text)
    return path


def test_parts_come_from_a_folder_and_then_from_the_cache(parts, tmp_path, monkeypatch):
    place = parts.fetch(_folder(tmp_path / "given", a="a", b="b", c="c", other="other"))
    assert sorted(path.name for path in place.iterdir() if path.name[0] != ".") == ["a", "b", "c"]
    assert parts.fetch() == parts.fetched() == place
    (place / "b").write_text("damaged")
    assert parts.fetched() is None
    monkeypatch.setenv(parts.FOLDER, str(tmp_path / "given"))
    assert parts.fetch() == place and (place / "b").read_text() == "b"


def test_a_file_with_another_sha256_is_refused_in_a_line_and_the_others_are_kept(parts, tmp_path):
    given = _folder(tmp_path / "given", a="a", b="other", c="c")
    assert parts.fetch(given) is None
    first, second = parts.said
    assert first == f"refused: b from {given / 'b'} has another sha256 than parts.toml says"
    assert second == "1 of 3 parts for the browser cannot be had here: b"
    assert {path.name for path in parts._place().iterdir()} == {"a", "c"}
    assert (given / "b").read_text() == "other"


def test_without_any_source_there_are_no_parts_and_one_line_says_so(parts):
    assert parts.fetch() is None
    assert parts.said == ["3 of 3 parts for the browser cannot be had here: a, b, c"]


def test_a_source_that_is_out_of_reach_is_asked_once(parts, monkeypatch):
    asked = []

    def url(self, address):
        asked.append(address)
        raise OSError("there is no network")

    monkeypatch.setattr(parts._Reach, "_url", url)
    for part in parts.PARTS:
        part["sources"] = [f"https://example.org/{part['file']}", "https://example.org/all.tgz#{file}"]
    assert parts.fetch() is None
    assert asked == ["https://example.org/a"]


def test_the_next_source_is_asked_if_one_has_another_file_or_no_archive(parts, monkeypatch):
    files = {"https://one.org/a": b"other", "https://two.org/a.zip": b"no archive", "https://three.org/a": b"a"}
    monkeypatch.setattr(parts._Reach, "_url", lambda self, address: files[address])
    parts.PARTS[1:] = []
    parts.PARTS[0]["sources"] = ["https://one.org/a", "https://two.org/a.zip#a", "https://three.org/a"]
    assert (parts.fetch() / "a").read_bytes() == b"a"


def test_each_part_has_a_licence_and_a_source_and_is_on_the_page_of_licences():
    table = licences.table()
    files = set()
    for part in site_parts.PARTS:
        assert f"| {part['name']} | {part['version']} | {part['licence']} | <https://" in table
        assert re.fullmatch("[0-9a-f]{64}", part["sha256"]) and part["sources"]
        files.add(part["file"])
    assert len(files) > 40


def test_the_modules_of_the_editor_import_one_another():
    place = site_parts.fetched()
    if not place:
        pytest.skip(
            "the parts for the browser are not in the cache: `python docs/programs/browser/parts.py` fetches them"
        )
    modules = {path.name: path.read_text(encoding="utf-8") for path in (place / "codemirror").glob("*.js")}
    for name, text in modules.items():
        assert "Permission is hereby granted" in text
        for imported in re.findall(r"""^(?:import|export) [^;'"]* from ['"]([^'"]+)""", text, re.MULTILINE):
            assert imported.removeprefix("./") in modules, f"{name} imports {imported}"
    assert {"view.js", "state.js", "lang-python.js"} <= {*modules}
