"""The moving figures: small, computed by both frameworks, and in a reading."""

import importlib
import json
import re
import sys
from pathlib import Path

import pytest
from sweep import swept

ROOT = Path(__file__).parents[2]
FIGURES = ROOT / "docs" / "figures"
NAMES = sorted(path.stem for path in FIGURES.glob("*.js") if path.stem != "figure")


@pytest.fixture
def build(monkeypatch):
    monkeypatch.syspath_prepend(FIGURES)
    sys.modules.pop("build", None)
    yield importlib.import_module("build")
    sys.modules.pop("build", None)


@pytest.mark.parametrize("name", [swept(name) if name == "guards" else name for name in NAMES])
def test_the_data_of_a_figure_are_what_rushlight_and_torch_compute(build, name):
    assert json.loads((FIGURES / f"{name}.json").read_text(encoding="utf-8")) == json.loads(
        build.text(build.module(name).data())
    )


@pytest.mark.parametrize("name", ["figure", *NAMES])
def test_a_script_is_at_most_10_kilobytes(name):
    assert (FIGURES / f"{name}.js").stat().st_size <= 10 * 1024


@pytest.mark.parametrize("name", NAMES)
def test_a_figure_stands_in_the_reading_of_its_phase(build, name):
    (reading,) = ROOT.glob(f"phases/{build.module(name).PHASE}_*/reading.md")
    assert re.search(rf"!\[[^\]]*\]\({name}\.svg\)\n\n\*(\*\*|[^*])+\*\n", reading.read_text(encoding="utf-8"))
