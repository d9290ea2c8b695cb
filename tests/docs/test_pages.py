"""What the hooks of the site make of a page, piece by piece."""

import importlib
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def hooks():
    """The modules of `docs/hooks`."""
    sys.path.insert(0, str(ROOT / "docs" / "hooks"))
    yield {name: importlib.import_module(name) for name in ("notebooks", "pages", "searching")}
    sys.path.pop(0)


@pytest.mark.parametrize(
    ("shown", "typed"),
    [
        ("$ make lab\n$ ls\nwork", "make lab\nls"),
        ("$ make \\\n    lab\nbuilding", "make \\\n    lab"),
        (">>> for x in 1, 2:\n...     print(x)\n...\n1\n2\n>>> x\n2", "for x in 1, 2:\n    print(x)\n\nx"),
        ("In [1]: x = 1\nOut[1]: 1", "x = 1"),
        ("x = 1\ny = 2", None),
        ('def f():\n    """Twice.\n\n    >>> f()\n    """', None),
    ],
)
def test_what_is_copied_of_a_session_is_what_was_typed(hooks, shown, typed):
    assert hooks["pages"].without_prompts(shown) == typed


def test_a_description_says_the_aim_of_a_chapter_or_its_first_sentences(hooks):
    said = hooks["pages"].description
    aim = "<p>At the end of this lab you can say what a view costs &amp; why.</p>"
    assert said("phases/01/01a.md", f"<p>A first sentence, which says less.</p>{aim}").startswith(
        "At the end of this lab"
    )
    assert said("why.md", "<p>A first sentence, with <code>code</code>.</p>") == "A first sentence, with code."
    assert len(said("why.md", f"<p>{'A sentence that goes on and on. ' * 20}</p>")) <= 200
    unseen = "<!-- unsearched --><p>What a cell printed, in a sentence.</p><!-- /unsearched -->"
    assert (
        said("phases/01/reading.md", f"{unseen}<p>The text of the reading itself.</p>")
        == "The text of the reading itself."
    )


def test_search_reads_the_first_paragraph_of_an_entry_of_the_api(hooks):
    page = '<h1>rushlight.x</h1><p class="notes">Exercise.</p><p>First.</p><p>Second.</p><h2>f</h2><pre>def f()</pre>'
    assert hooks["searching"].searched("api/x.md", page) == "<h1>rushlight.x</h1><p>First.</p><h2>f</h2>"


def test_search_counts_a_reading_more_than_a_lab_and_the_api_least(hooks):
    boost = hooks["searching"].boost
    assert (
        boost("phases/01_strided/reading.md") > boost("phases/01_strided/01a_views.md") > boost("api/aten/strided.md")
    )


def test_a_large_drawing_loses_points_that_add_nothing_and_no_others(hooks):
    slim = hooks["notebooks"].slim
    steps = b'<svg><path d="M 0 0 \nL 1.0004 0 \nL 1.0004 0 \nL 2 0 \nL 2 5.129 \nL 1 5.129 \nL 3 5.129 \nz\n" style="a"/></svg>'
    assert slim(steps) == b'<svg><path d="M 0 0 L 2 0 L 2 5.13 L 1 5.13 L 3 5.13 z" style="a"/></svg>'
    curve = b'<svg><path d="M 0 0 Q 1 1 2 0 L 3 3 L 4 4"/></svg>'
    assert slim(curve) == curve
    foreign = b'<svg><path d="M0,0l1e-3-2.55555"/></svg>'
    assert slim(foreign) == foreign


@pytest.mark.parametrize(
    ("root", "size"),
    [
        ('<svg width="72pt" height="36pt" viewBox="0 0 72 36">', (96, 48)),
        ('<svg width="30" height="20px">', (30, 20)),
        ('<svg width="100%" viewBox="0 0 640 200">', (640, 200)),
    ],
)
def test_the_size_of_a_drawing_is_in_pixels_of_the_page(hooks, root, size):
    assert hooks["pages"].size(f"<?xml version='1.0'?>{root}</svg>".encode()) == size
