"""What the README shows and links to is there, and is as the course is now."""

import json
import re
from pathlib import Path

import pytest

from docs.programs import IMAGES
from docs.programs.images import badges

ROOT = Path(__file__).resolve().parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")
PICTURES = re.findall(r'(?:src|srcset)="([^"]+)"', README)


def test_the_badges_say_what_the_course_declares():
    for name, words in badges.badges().items():
        assert (IMAGES / f"badge-{name}.svg").read_text(encoding="utf-8") == badges.drawn(*words)
        assert f"[![{': '.join(words)}](docs/images/badge-{name}.svg)]" in README


def test_the_first_line_says_how_to_host_the_site_and_keeps_its_words_when_it_gets_a_button_that_opens_a_hosted_one():
    own = README.split("\n\n")[1]
    opened = badges.with_button(README, "https://example.org/rushlight/")
    first = opened.split("\n\n")[1]
    assert first.endswith("(docs/images/badge-site.svg)](https://example.org/rushlight/) <!-- site -->")
    assert first.startswith(own.partition(" [![")[0].removesuffix(" <!-- site -->"))
    assert badges.with_button(opened, "https://example.org/other/").count("badge-site.svg") == 1
    assert own.endswith(" <!-- site -->")  # at the beginning, it would make the whole line HTML
    assert "(#the-site-online)" in own or "badge-site.svg" in own


def test_the_pictures_are_there_in_both_schemes_and_small():
    assert {path.name for path in IMAGES.glob("readme-*")} == {
        Path(each).name for each in PICTURES if "readme-" in each
    }
    for light in (each for each in PICTURES if each.endswith("-light.webp")):
        assert light.replace("-light", "-dark") in PICTURES
    sizes = {each: (ROOT / each).stat().st_size for each in PICTURES}
    assert sum(sizes.values()) < 1_000_000 and max(sizes.values()) < 400_000


def test_the_moving_picture_was_taken_from_the_figure_as_it_is_now():
    pytest.importorskip("playwright")
    from docs.programs.images import readme

    assert json.loads((IMAGES / "readme.json").read_text())["strides"] == readme.drawn_from(), (
        "run docs/programs/images/readme.py"
    )


def test_every_link_leads_to_a_file_or_a_heading():
    for link in re.findall(r"\]\(([^)\s]+)\)", README):
        path, _, part = link.partition("#")
        if not link.startswith("https://"):
            assert (ROOT / path).exists(), link
        if part and not link.startswith("https://"):
            text = (ROOT / path).read_text(encoding="utf-8") if path else README
            heads = [
                re.sub(r"[^\w -]", "", head.lower()).strip().replace(" ", "-")
                for head in re.findall(r"^#+ (.+)", text, re.M)
            ]
            assert part in heads, link
