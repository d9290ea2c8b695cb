"""The picture of the rooms shows what the code does."""

import pytest

from docs.programs.images import architecture


@pytest.mark.sweep
def test_the_picture_is_fresh():
    assert architecture.PICTURE.read_text(encoding="utf-8") == architecture.drawn()
    assert architecture.PHONE.read_text(encoding="utf-8") == architecture.drawn(architecture.NARROW)


def test_a_room_is_above_those_that_it_imports_and_beside_those_that_import_it_too():
    rooms = {"top": {"a", "b"}, "a": {"low"}, "b": {"c", "low"}, "c": {"b"}, "low": set(), "alone": set()}
    assert architecture.rows(rooms) == [[["alone"], ["low"]], [["a"], ["b", "c"]], [["top"]]]
