"""The moving figures: small, computed by both frameworks, and in a reading."""

import json
import re
import shutil
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest
from PIL import Image
from sweep import in_one_test, sweep, swept

from autograder import translation

ROOT = Path(__file__).parents[2]
FIGURES = ROOT / "docs" / "figures"
SHARED = "figure", "shapes"
NAMES = sorted(path.stem for path in FIGURES.glob("*.js") if path.stem not in SHARED)
RUNS_KERNELS = pytest.mark.skipif(
    sys.platform != "linux" or not all(map(shutil.which, ("g++", "addr2line"))),
    reason="needs g++ and binutils on Linux",
)
RUNS_TRITON = pytest.mark.skipif(not find_spec("triton"), reason="needs Triton")
MARKED = {"guards": swept("guards"), "attention": pytest.param("attention", marks=RUNS_TRITON)} | {
    name: pytest.param(name, marks=RUNS_KERNELS) for name in ("banks", "tiles", "warps")
}


@pytest.fixture
def build():
    from docs.programs.figures import build

    return build


@pytest.mark.parametrize("name", sweep([MARKED.get(name, name) for name in NAMES], keep=["strides"]))
def test_the_data_of_a_figure_are_what_rushlight_and_torch_compute(build, name):
    assert json.loads((FIGURES / f"{name}.json").read_text(encoding="utf-8")) == json.loads(
        build.text(build.module(name).data())
    )


@in_one_test
@pytest.mark.parametrize("name", [*SHARED, *NAMES])
def test_a_script_is_at_most_10_kilobytes(name):
    assert (FIGURES / f"{name}.js").stat().st_size <= 10 * 1024


@pytest.mark.parametrize("name", NAMES)
def test_a_figure_has_a_page_with_ways_to_its_reading_and_a_lab_and_a_card_of_its_picture_as_it_is_now(build, name):
    page = (FIGURES / f"{name}.md").read_text(encoding="utf-8")
    assert f"<!-- figure: {name} -->" in page and page.startswith("# ")
    assert re.search(r"\]\(\.\./phases/\w+/reading\.md#[\w-]+\)", page) and re.search(
        r"\]\(\.\./phases/\w+/\d\d[a-e]_\w+\.md\)", page
    )
    with Image.open(FIGURES / f"{name}.png") as card:
        assert card.size == (1200, 630) and card.info["Drawn-from"] == build.drawn_from(name), (
            "run docs/programs/figures/build.py"
        )


@pytest.mark.parametrize("name", NAMES)
def test_a_figure_stands_in_the_reading_of_its_phase(build, name):
    (reading,) = ROOT.glob(f"phases/{build.module(name).PHASE}_*/reading.md")
    assert re.search(rf"!\[[^\]]*\]\({name}\.svg\)\n\n\*(\*\*|[^*])+\*\n", reading.read_text(encoding="utf-8"))


@pytest.mark.parametrize("name", NAMES)
def test_a_narrow_picture_is_as_wide_as_a_phone_shows(name):
    assert re.match(r'<svg [^>]*viewBox="-1 -8 360 \d+" width="360">', (FIGURES / f"{name}.svg").read_text("utf-8"))


@pytest.mark.parametrize("language", translation.languages())
@pytest.mark.parametrize("name", NAMES)
def test_the_sentences_of_a_figure_are_phrases_with_a_translation(name, language, monkeypatch):
    from docs.programs.hooks import scripts

    monkeypatch.setattr(scripts, "LANGUAGE", language)
    data = json.loads((FIGURES / f"{name}.json").read_text(encoding="utf-8"))
    errors = {*data.get("errors", ())}  # of torch
    sentences = {text for text in scripts._texts(data) if re.search(r"[A-Za-z]{2}[^.]* [a-z]{2}.*[.?]$", text)}
    assert sentences - errors - {*scripts.of_data(FIGURES / f"{name}.json")} == set()
