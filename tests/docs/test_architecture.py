"""The picture of the rooms shows what the code does."""

import runpy
from pathlib import Path

IMAGES = Path(__file__).resolve().parents[2] / "docs" / "images"
script = runpy.run_path(str(IMAGES / "architecture.py"))


def test_the_picture_is_fresh():
    assert (IMAGES / "architecture.svg").read_text(encoding="utf-8") == script["drawn"]()


def test_a_room_is_above_those_that_it_imports_and_beside_those_that_import_it_too():
    rooms = {"top": {"a", "b"}, "a": {"low"}, "b": {"c", "low"}, "c": {"b"}, "low": set(), "alone": set()}
    assert script["rows"](rooms) == [[["alone"], ["low"]], [["a"], ["b", "c"]], [["top"]]]
