"""Terms are linked to the glossary where they are used, and only there."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
TEXT = """# Glossary

### Dispatch key

A reason for a kernel, as in `add`. Keys have an order.

Phase [02](phases/02_dispatcher/reading.md)

### Dispatch key set

<!-- names: dispatch key set, key set -->

A set of keys.

Phase [02](phases/02_dispatcher/reading.md)

### Edge

<!-- on: 04 why; not: edge case -->

A connection.

Phase [04](phases/04_autograd/reading.md)

### Library

Operators.

### TensorImpl

An object.

### `vmap`

Running on a batch.
"""


@pytest.fixture(scope="module")
def glossary():
    from docs.programs.hooks import glossary

    return glossary


@pytest.fixture
def links(glossary):
    """Return the linked phrases of a page, and the entry of each."""

    def find(content, page="why", defines=""):
        chosen = [term for term in glossary.terms(TEXT) if term.on(page)]
        linked = glossary.linked(content, glossary.Glossary(chosen), "", defines)
        assert re.sub("<[^>]*>", "", linked) == re.sub("<[^>]*>", "", content)
        found = re.findall(r'<a class="term" href="#([^"]*)" title="[^"]*">(.*?)</a>', linked, re.DOTALL)
        return [f"{re.sub('<[^>]*>', '', written)} > {anchor}" for anchor, written in found]

    return find


@pytest.mark.parametrize(
    ("content", "found"),
    [
        ("A dispatch key, a dispatch key.", ["dispatch key > dispatch-key"]),
        ("Dispatch\nkeys", ["Dispatch\nkeys > dispatch-key"]),
        (
            "a dispatch key set and a dispatch key",
            ["dispatch key set > dispatch-key-set", "dispatch key > dispatch-key"],
        ),
        ("key sets", ["key sets > dispatch-key-set"]),
        ("two libraries", ["libraries > library"]),
        ("a sub-library, library-like, mylibrary, a.library", []),
        ("an edge case, and then an edge", ["edge > edge"]),
        ("tensorimpl, TensorImpl", ["TensorImpl > tensorimpl"]),
        ("<code>vmap</code> and <code>library</code>", ["vmap > vmap"]),
        ("<code>TensorImpl()</code>", []),
        ("<p>a <em>library</em></p>", ["library > library"]),
    ],
)
def test_a_term_is_a_word_of_its_own_the_longest_that_fits_and_linked_once(links, content, found):
    assert links(content) == found


@pytest.mark.parametrize(
    "around",
    [
        '<h2 id="x">{}</h2>',
        "<pre><code>{}</code></pre>",
        '<a href="x"><b>{}</b></a>',
        '<div class="figure" tabindex="0"><div>x</div>{}</div>',
        "<svg><text>{}</text></svg>",
        '<p class="caption">{}</p>',
        "<table><tr><td>{}</td></tr></table>",
        "<details><summary>x</summary><p>{}</p></details>",
        "<math><mtext>{}</mtext></math>",
        '<img alt="{}">',
        "<!-- {} -->",
    ],
)
def test_nothing_is_linked_in_headings_code_links_figures_tables_and_folded_text(links, around):
    assert links(f"{around.format('library')} and a library") == ["library > library"]
    assert links(around.format("library")) == []


def test_a_reading_does_not_link_a_term_where_it_defines_it(links):
    defined = "<p>An <strong>edge</strong> is a pair. Edges lead on.</p>"
    assert links(defined, "phases/04_autograd/reading", "04") == []
    assert links(defined, "phases/04_autograd/04a_history") == ["edge > edge"]
    assert links(defined, "phases/05_training/reading", "05") == []
    assert links("<p>Edges, and an <em>edge</em>.</p>", "phases/04_autograd/reading", "04") == ["Edges > edge"]


def test_the_tooltip_is_the_first_sentence_of_the_entry(glossary):
    assert glossary.terms(TEXT)[0].tooltip == "A reason for a kernel, as in add."


def test_an_entry_names_pages_that_there_are_and_leads_to_the_reading_that_explains_it(glossary):
    text, _, course = (ROOT / "docs" / "glossary.md").read_text(encoding="utf-8").partition("## Words of the course")
    labs = [path.name.partition("_")[0] for path in ROOT.glob("labs/*")]
    phases = {path.name[:2] for path in ROOT.glob("phases/[0-9]*_*")}
    places = {*labs, *phases, *(f"{phase}-reading" for phase in phases), *glossary.GUIDES, "phases", "none"}
    terms = glossary.terms(text)
    assert [term.title for term in terms if not term.phases] == []
    assert len(terms) > 100
    for term in [*terms, *glossary.terms(course)]:
        assert (term.places or set()) <= places, term.title
    assert {path.stem for path in ROOT.glob("docs/*.md")} >= glossary.GUIDES
