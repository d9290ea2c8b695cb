"""The hooks of the site convert a page piece by piece."""

import importlib
import io
import logging
import re
from functools import partial
from logging.handlers import BufferingHandler
from pathlib import Path
from types import SimpleNamespace

import nbformat
import pytest
from mkdocs.utils.meta import get_data
from sweep import in_one_test

from autograder import translation
from autograder.engine.check import is_on_torch
from autograder.model import Lab, lab_names
from docs.programs.hooks import languages, models, notebooks

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def hooks():
    """The modules of `docs/programs/hooks`."""
    names = "divided", "notebooks", "pages", "schemes", "paths", "searching", "tab"
    return {name: importlib.import_module(f"docs.programs.hooks.{name}") for name in names}


@pytest.mark.parametrize(
    ("lab", "why"),
    [("06b_transforms", "torch itself"), ("09a_collectives", "processes"), ("01a_views", ""), ("14a_threads", "")],
)
def test_a_lab_that_a_page_cannot_run_says_why_and_has_a_mark_on_its_links(hooks, lab, why):
    path, text = Lab(lab).path, f"# Title\n\n{hooks['tab'].BAR}\n"
    about = SimpleNamespace(path=path, page="lab.md", subject="Subject")
    config = SimpleNamespace(
        extra={"browser": "here", "phases": [SimpleNamespace(name=lab, labs=[about], reading=None)]}
    )
    page = SimpleNamespace(is_homepage=False, file=SimpleNamespace(src_uri="lab.md"))
    assert hooks["notebooks"]._link(about).endswith("\\*") == bool(why)
    reading = SimpleNamespace(read=nbformat.v4.new_notebook, parts=["a part"])
    line = hooks["notebooks"]._ways("# Title\n\nText", SimpleNamespace(labs=[about], reading=reading), [], [])
    assert (".md)\\*" in line) == ("in an installed course only" in line) == bool(why)
    assert (".md)†" in line) == ("less than half of the points" in line) == (lab == "14a_threads")
    if why:
        said = hooks["tab"].on_page_markdown(text, page, config, None)
        assert "**Not in this page.**" in said and why in said


@pytest.mark.parametrize(("lab", "exact"), [("01a_views", False), ("12a_tokens", True)])
def test_a_labs_page_says_if_checks_compare_with_an_exact_calculation(hooks, lab, exact):
    assert any(hooks["tab"]._exact(lab)) == ("exact" in hooks["tab"]._answers(lab)) == exact


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


def test_a_table_has_the_name_of_the_heading_above(hooks):
    link = '<a class="headerlink" href="#a">¶</a>'
    page = f'<table>1</table><h2 id="a">Keys of <code>x</code> &amp; y{link}</h2><table>2</table><table class="own">3</table>'
    named = hooks["pages"].named_tables(page)
    assert re.findall("<table[^>]*>", named) == [
        "<table>",
        '<table aria-label="Keys of x &amp; y">',
        '<table class="own">',
    ]


def test_a_description_says_the_aim_of_a_chapter_or_its_first_sentences(hooks):
    said = hooks["pages"].description
    aim = "<p>At the end of this lab you can say what a view costs &amp; why.</p>"
    assert said("phases/01/01a.md", f"<p>A first sentence, which says less.</p>{aim}").startswith(
        "At the end of this lab"
    )
    assert said("why.md", "<p>A first sentence, with <code>code</code>.</p>") == "A first sentence, with code."
    module = '<h1 id="nn"><code>rushlight.nn</code><a href="#nn">&para;</a></h1><p>Neural networks.</p>'
    assert said("api/nn.md", module) == "rushlight.nn: Neural networks."
    assert len(said("why.md", f"<p>{'A sentence that goes on and on. ' * 20}</p>")) <= 200
    unseen = "<!-- unsearched --><p>What a cell printed, in a sentence.</p><!-- /unsearched -->"
    assert (
        said("phases/01/reading.md", f"{unseen}<p>The text of the reading itself.</p>")
        == "The text of the reading itself."
    )


@in_one_test
@pytest.mark.parametrize("path", sorted(path for path in (ROOT / "docs").rglob("*.md")), ids=lambda path: path.stem)
def test_the_front_matter_of_a_page_is_no_part_of_its_text(path):
    text, _ = get_data(path.read_text(encoding="utf-8"))
    assert not text.startswith("---")


def test_search_reads_the_first_sentence_of_an_entry_of_the_api(hooks):
    page = '<h1>rushlight.x</h1><p class="notes">Exercise.</p><p>First. More.</p><p>Second.</p><h2 id="f">f</h2><pre>def f()</pre>'
    assert hooks["searching"].searched("api/x.md", page) == '<h1>rushlight.x</h1><p>First.</p><h2 id="f">f</h2>'
    assert hooks["searching"].searched("api/x.md", page, {"f"}) == "<h1>rushlight.x</h1><p>First.</p>"


def test_search_has_the_terms_of_the_glossary_without_the_letters_above_them(hooks):
    page = '<h2 id="b">B<a href="#b">¶</a></h2><h3 id="bank">Bank</h3><p>Of memory.</p>'
    assert hooks["searching"].searched("glossary.md", page) == '<h3 id="bank">Bank</h3><p>Of memory.</p>'


def test_search_has_the_further_names_of_an_entry_of_the_api(hooks):
    searching, file = hooks["searching"], SimpleNamespace(src_uri="api/nn/functional.md")
    content = '<p>Also <code>relu</code>. <span id="relu"></span></p>'
    page = SimpleNamespace(file=file, url="api/nn/functional.html", title="nn.functional", content=content, meta={})
    searching.declared.clear()
    searching._on_page_context_hide({}, page=page, config=SimpleNamespace(extra={}))
    assert [(entry["location"], entry["title"]) for entry in searching.declared.values()] == [
        ("api/nn/functional.html#relu", "relu")
    ]
    searching.declared.clear()


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


def test_a_cell_that_runs_torch_shows_what_was_recorded_of_it(hooks, monkeypatch, tmp_path):
    notebooks, output = hooks["notebooks"], {"output_type": "stream", "name": "stdout", "text": "torch says so"}
    cells = [nbformat.v4.new_code_cell(source) for source in ("import torch", "torch.ones(2)", "torch.zeros(2)")]
    nbformat.write(nbformat.v4.new_notebook(cells=cells), tmp_path / "lab.ipynb")
    kept = notebooks.practice.Outputs("", "2.13.0", {"import torch": [], "torch.ones(2)": [output]})
    monkeypatch.setattr(notebooks.practice, "outputs", {"lab": kept}.get)
    page = notebooks.convert(notebooks.Notebook(tmp_path / "lab.ipynb", "phases/01/lab.md"), None)
    assert page.index("torch.ones") < page.index("torch says so") < page.index("recorded from torch 2.13.0")
    assert page.index("recorded from") < page.index("torch.zeros") and page.count("recorded from") == 1


@pytest.mark.parametrize(
    ("text", "goes_on"),
    [
        ("  a sentence with more letters than a phone can show in a line", True),
        ("a copy to the CPU                   Cannot copy between CPU and CUDA tensors during CUDA graph", True),
        ("for (int64_t i0 = 0; i0 < 32; i0++) { const float tmp0 = buf0[i0];", False),
        ("column  " * 12 + "column", False),
        ("a short line", False),
    ],
)
def test_a_long_line_of_an_output_goes_on_below_on_a_phone(hooks, text, goes_on):
    assert ('class="line"' in hooks["notebooks"]._text(text)) == goes_on


MIXED = """\
import rushlight as rl
import torch
from subprocess import run

def double(x):
    return 2 * x

@torch.no_grad()
def on_torch():
    return double(torch.ones(2))"""


@pytest.mark.parametrize(
    ("source", "part"),
    [
        (MIXED, "import rushlight as rl\n\ndef double(x):\n    return 2 * x\n"),
        ("print('torch', double(rl.ones(2)))", "print('torch', double(rl.ones(2)))"),
        ("on_torch()", ""),  # a name that such a statement binds
        ("rows = []\nfor xp in rl, torch:\n    rows.append(xp.ones(2))", "rows = []"),
        ("len(rows)", ""),  # an object that such a statement changes
        ("rows = [1]\nlen(rows)", "rows = [1]\nlen(rows)"),
        ("x = rl.ones(1)\nx.a = torch\nrl.a = torch", "x = rl.ones(1)"),
        ("x", ""),
        ("rl.ones(1)", "rl.ones(1)"),
        ("for x in range(2):\n    print(x)", "for x in range(2):\n    print(x)"),
        ("import rushlight.on_torch.trace", ""),
        ("rl.cpp.load('')", ""),
        ("run(['ls'])", ""),
    ],
)
def test_what_runs_in_a_browser_needs_no_torch_and_no_process(hooks, source, part):
    before = [nbformat.v4.new_code_cell(cell) for cell in (MIXED, "rows = []\nrows.append(torch)\nx = torch")]
    nb = nbformat.v4.new_notebook(
        cells=[*before, nbformat.v4.new_markdown_cell("text"), nbformat.v4.new_code_cell(source)]
    )
    assert hooks["tab"].portable(nb)[2:] == ["", part]
    assert hooks["tab"].runnable(nb) == [False, False, False, source == part]


def test_the_tags_of_a_cell_decide_whether_it_runs_in_a_browser(hooks):
    cells = [
        nbformat.v4.new_code_cell("x = 1", metadata={"tags": [tag]}) for tag in ("setup", "torch", "compiler", "triton")
    ]
    assert hooks["tab"].runnable(nbformat.v4.new_notebook(cells=cells)) == [True, False, False, False]


def test_every_exercise_and_check_of_a_lab_on_rushlight_runs_in_a_browser(hooks):
    labs = [nbformat.read(Lab(name).todays_path, as_version=4) for name in lab_names() if not is_on_torch(name)]
    for nb in labs:
        runs = [runs for cell, runs in zip(nb.cells, hooks["tab"].runnable(nb)) if "rushlight" in cell.metadata]
        assert runs and all(runs), nb.metadata.rushlight.lab


# Long readings -------------------------------------------------------------------------------------------------------


LONG = ["# Reading 01: x", "# Part 01a: one", "## Rows\n\n![x](strides.svg)", "## `rows`", "# Part 01b: two"]
LONG += ["## Rows", "# For reference", "## Rows", "# In five lines"]


@pytest.fixture
def long(hooks, tmp_path):
    """A reading in parts, with a cell that prepares something and a visible one in each."""
    cells = [nbformat.v4.new_markdown_cell(text) for text in LONG]
    for i in (5, 3, 2):
        cells.insert(i, nbformat.v4.new_code_cell(f"shown_{i} = 1", id=f"shown{i}"))
        cells.insert(i, nbformat.v4.new_code_cell(f"prepared_{i} = 1", id=f"setup{i}", metadata={"tags": ["setup"]}))
    nbformat.write(nbformat.v4.new_notebook(cells=cells), tmp_path / "reading.ipynb")
    return hooks["notebooks"].Notebook(tmp_path / "reading.ipynb", "phases/01_x/reading.md")


def test_a_reading_with_parts_has_a_page_for_each_and_the_five_lines_on_the_first(hooks, long):
    divided = hooks["divided"]
    text = hooks["notebooks"].convert(long, None)
    pages = divided.pages(text, long, {"01a": "01a_y.md"})
    names = "reading", "reading_01a", "reading_01b", "reading_for_reference"
    assert [*pages] == [f"phases/01_x/{name}.md" for name in names]
    titles = "Reading 01: x", "Part 01a: one", "Part 01b: two", "Reading 01: for reference"
    assert [title for title, _ in pages.values()] == [*titles]
    (_, first), (_, one), (_, two), (_, reference) = pages.values()
    assert "# In five lines" in first and "[Part 01a: one](reading_01a.md)" in first and "shown" not in first
    assert "shown_2" in one and "[01a](01a_y.md)" in one and "shown_5" not in one
    assert "shown_5" in two and "01a_y" not in two and reference.startswith("# Reading 01: for reference { #for-ref")


def test_a_part_lists_its_sections_in_the_language_of_the_page(hooks, long, monkeypatch):
    known = {"Rows": "Filas", "For reference": "Para consultar"}
    monkeypatch.setattr(hooks["notebooks"].Notebook, "said", lambda self, heading: known.get(heading, heading))
    longer = hooks["notebooks"].convert(long, None).replace("Rows", "Filas " * 1800)
    text = hooks["divided"].pages(longer, long, {})[long.page][1]
    assert "About 5 minutes" in text and "About 10 minutes" not in text  # as in English
    assert "[Filas](reading_01a.md#rows) · [rows](reading_01a.md#rows_1)" in text
    assert "[Filas](reading_for_reference.md#rows)" in text


def test_a_part_of_a_reading_without_a_translation_is_all_in_english(hooks, long, monkeypatch):
    for module in languages, hooks["notebooks"]:
        monkeypatch.setattr(module, "LANGUAGE", "es")
    for start in hooks["divided"].SET_UP, hooks["divided"].ALL_CELLS:
        text = f"\n\n{start}\n\n# Part 01b".join(hooks["notebooks"].convert(long, None).split("# Part 01b"))
        one = hooks["divided"].pages(text, long, {})["phases/01_x/reading_01a.md"][1]
        assert "a part of [reading 01](reading.md)" in one and "To start here" not in one


def test_a_title_of_a_page_elsewhere_that_stays_english_says_so(monkeypatch):
    said = "de [Why it works](https://x.org/why), [cómo](https://x.org/how), [numpy](https://x.org/np)"
    text = "from [Why it works](https://x.org/why), [how](https://x.org/how), [numpy](https://x.org/np)"
    monkeypatch.setattr(translation, "catalogue", lambda *_: {text: said})
    marked = said.replace("/why)", '/why){ lang="en" hreflang="en" }')
    assert languages.say.__wrapped__("docs/x", marked=True)(text, "item") == marked


def test_a_figure_at_the_top_is_that_of_its_section_with_a_way_there(hooks):
    figure = '<div class="figure" tabindex="0"><img src="{}.svg" alt="x"></div>\n\n*Figure {}. What it shows.*\n'
    page = f"# Reading 01: x\n\n## One `row`\n\n{figure.format('a', 2)}\n## Two\n\n{figure.format('b', 20)}"
    shown, other = (
        hooks["notebooks"].TOP.sub(partial(hooks["notebooks"]._at_the_top, page), f"<!-- top: Figure {n} -->")
        for n in (2, 20)
    )
    assert 'class="figure top" tabindex="0"><img src="a.svg"' in shown and "[One row](#one-row)" in shown
    assert 'src="b.svg"' in other


COVERED = [
    reading.path
    for reading in (phase.reading for phase in notebooks.phases(ROOT))
    if reading and notebooks.TOP.search(reading.path.read_text(encoding="utf-8"))
]


@pytest.mark.parametrize("path", COVERED, ids=lambda path: path.parent.name)
def test_a_figure_at_the_top_is_not_covered_by_a_question_and_is_not_near(hooks, path):
    page = hooks["notebooks"].convert(hooks["notebooks"].Notebook(path, "phases/x/reading.md"), lambda *_: None)
    for top in hooks["notebooks"].TOP.finditer(page):
        below = page[top.end() :]
        before = below[: re.search(rf"^\*Figure {re.escape(top[1])}[.:] ", below, re.MULTILINE).start()]
        assert re.search("^#+ ", before, re.MULTILINE)
        assert before.rfind('<details class="folded asked"') <= before.rfind("</details>")


@pytest.mark.parametrize(
    ("text", "covered"),
    [
        ("From 14 µs on.\n\nThe next one", "From 14 µs on."),
        ("It falls.\n\nThen it rises.\n\n<!-- answered -->\n\nThe next one", "It falls.\n\nThen it rises."),
        ("<!-- answered -->\n\nThe next one", ""),
        ("Here is the next one:", None),
        ("**Test yourself.** Why?", None),
        ("## Next", None),
    ],
)
def test_a_text_that_tells_what_an_output_shows_is_covered_with_the_output(hooks, text, covered):
    output = nbformat.v4.new_output("stream", text="14\n")
    question, answer = map(nbformat.v4.new_markdown_cell, ("**Question.** From when on?", text))
    nb = nbformat.v4.new_notebook(cells=[question, nbformat.v4.new_code_cell("f()", outputs=[output]), answer])
    hooks["notebooks"]._cover_answers(nb)
    hooks["notebooks"]._cover_texts(nb)
    page, _ = hooks["notebooks"]._exporter().from_notebook_node(nb, {"output_files_dir": "", "unique_key": "figure"})
    fold, below = re.search(r"<details.*?>14</pre>.*?</div>(.*)</details>(.*)", page, re.DOTALL).groups()
    assert (fold.strip(), covered is None) == (covered or "", text in below)


def test_the_fold_of_a_figures_code_does_not_tell_what_the_figure_shows(hooks):
    label = hooks["notebooks"]._summary
    assert label("# Figure 11a.3: two loops\nrl.draw.show(1)") == "Code of figure 11a.3"
    assert label("# Set-up: f(x)\n# and g") == "Set-up: f(x) and g" and label("f()") == "Code"


def test_long_lines_of_words_in_an_output_wrap_and_others_do_not(hooks):
    long = "a word and another one " * 4
    shown = hooks["notebooks"]._text(f"title\n\n{long}\n{long}.\n\n{'a  ' * 40}\nb.\n\n{'a b' * 40}")
    assert re.findall('<span class="prose">(.*?)</span>', shown) == [f"{long} {long}."]


def test_a_section_of_a_long_reading_has_the_anchor_of_its_page(long):
    places = {whole: (part.number, own) for part in long.parts for whole, own in part.anchors.items()}
    assert [places[anchor] for anchor in ("rows", "rows_1", "rows_2", "rows_3", "strides=")] == [
        ("01a", "rows"),
        ("01a", "rows_1"),
        ("01b", "rows"),
        ("", "rows"),
        ("01a", "strides="),
    ]


def test_a_link_to_a_section_leads_to_the_page_that_has_it(hooks, long):
    def led(text, source):
        page = SimpleNamespace(file=SimpleNamespace(src_uri=source))
        return divided.on_page_markdown(text, page, config, None)

    divided = hooks["divided"]
    config = SimpleNamespace(extra={"phases": [SimpleNamespace(reading=long)]})
    divided.on_config(config)
    assert led("[x](phases/01_x/reading.md#rows_2)", "why.md") == "[x](phases/01_x/reading_01b.md#rows)"
    assert led("[x](../phases/01_x/reading.md#rows)", "figures/y.md") == "[x](../phases/01_x/reading_01a.md#rows)"
    assert led("[x](#rows_2)", "phases/01_x/reading_01a.md") == "[x](reading_01b.md#rows)"
    for other in "[x](phases/01_x/reading.md)", "[x](phases/02_y/reading.md#rows)", "[x](#rows)":
        assert led(other, "why.md") == other


def test_a_part_of_a_reading_runs_the_set_up_cells_of_the_parts_before(hooks, long):
    of_page = hooks["tab"]._of_page
    assert [*of_page(long, "phases/01_x/reading_01a.md")] == ["setup2", "shown2", "setup3", "shown3"]
    second = of_page(long, "phases/01_x/reading_01b.md")
    assert [*second] == ["setup2", "setup3", "setup5", "shown5"]
    assert (second["setup2"]["kind"], second["setup2"]["own"]) == ("torch", "prepared_2 = 1")
    assert second["setup5"]["kind"] == "plain" and not of_page(long, "phases/01_x/reading.md")


@pytest.mark.parametrize("language", ["", "es"])
@pytest.mark.parametrize(
    ("lab", "exercise", "helpers", "folds"),
    [
        ("01a_views", "aten.strided.as_strided", ["alias", "wrap_dim", "storage_size"], 2),
        ("01a_views", "aten.strided.element_offset", [], 2),
        ("01b_reshape", "aten.strided.infer_size", [], 3),  # its rules, too
    ],
)
def test_an_exercise_in_a_reading_has_what_its_lab_says_of_it(
    hooks, lab, exercise, helpers, folds, language, monkeypatch
):
    monkeypatch.setattr(languages, "LANGUAGE", language)
    nb = translation.notebook(nbformat.read(Lab(lab).path, as_version=4), languages.say(f"labs/{lab}"))
    above, below = hooks["tab"].explained(nb, exercise)
    assert re.findall(r"`(\w+)\(", above) == helpers and not above.endswith(":")
    assert below.count("<summary>") == folds


# What is kept of a build ---------------------------------------------------------------------------------------------


@pytest.fixture
def built(tmp_path, monkeypatch):
    """Builds a site of two pages; returns the names of those that were rendered, and what was warned of."""
    from mkdocs.commands.build import build
    from mkdocs.config import load_config
    from mkdocs.structure.pages import Page

    render, rendered = Page.render, []

    def watched(page, config, files):
        rendered.append(page.file.src_uri)
        render(page, config, files)

    monkeypatch.setattr(Page, "render", watched)
    (tmp_path / "docs").mkdir()
    (tmp_path / "mkdocs.yml").write_text(
        f"site_name: x\nhooks: [{ROOT / 'docs/programs/hooks/kept.py'}]\n", encoding="utf-8"
    )
    (tmp_path / "docs/index.md").write_text("# Home\n\n[two](two.md#part)\n", encoding="utf-8")
    (tmp_path / "docs/two.md").write_text("# Two\n\n## Part\n", encoding="utf-8")

    logged = BufferingHandler(capacity=1000)
    monkeypatch.setattr(logging.getLogger("mkdocs"), "handlers", [logged])

    def built():
        rendered.clear()
        logged.flush()
        build(load_config(str(tmp_path / "mkdocs.yml"), validation={"links": {"anchors": "warn"}}))
        return sorted(rendered), [each.getMessage() for each in logged.buffer if each.levelname == "WARNING"]

    return built


def test_a_second_build_renders_no_page_and_gives_the_same_site(built, tmp_path):
    assert built() == (["index.md", "two.md"], [])
    before = {path: path.read_bytes() for path in tmp_path.glob("site/**/*.html")}
    assert built() == ([], [])
    after = {path: path.read_bytes() for path in tmp_path.glob("site/**/*.html")}
    built_at = re.compile(rb"Build Date UTC : .*")
    assert {path: built_at.sub(b"", text) for path, text in before.items()} == {
        path: built_at.sub(b"", text) for path, text in after.items()
    }


def test_a_changed_page_is_rendered_again_and_an_anchor_that_it_lost_is_missed(built, tmp_path):
    built()
    (tmp_path / "docs/two.md").write_text("# Two\n\n## Other\n", encoding="utf-8")
    rendered, (warning,) = built()
    assert rendered == ["two.md"] and "#part" in warning


def test_a_page_that_goes_is_missed_by_the_pages_that_link_to_it_in_every_build(built, tmp_path):
    built()
    (tmp_path / "docs/two.md").unlink()
    for _ in range(2):
        rendered, (warning,) = built()
        assert rendered == ["index.md"] and "two.md" in warning


@pytest.mark.parametrize("broken", [b"", b"no pickle\n.", b"\x80\x04K\x01.", b"cno_module\nname\n."])
def test_a_page_whose_kept_file_is_broken_is_rendered_again(built, tmp_path, broken):
    built()
    for path in tmp_path.glob("build/site/en/*.pickle"):
        path.write_bytes(broken)
    assert built() == (["index.md", "two.md"], [])
    assert built() == ([], [])


def test_a_lab_can_be_opened_elsewhere_if_the_repository_is_known_and_on_github(hooks):
    def said(repo_url):
        config = SimpleNamespace(repo_url=repo_url, edit_uri="edit/main/docs/")
        return hooks["notebooks"]._elsewhere("01a_views", config)

    page = said("https://github.com/owner/course/")
    links = dict(re.findall(r"\[(\w+)\]\((https://\S+)\)", page))
    assert [*links] == ["Codespaces", "Binder", "Colab"]
    assert all("owner/course" in link for link in links.values())
    for way, before in ("Binder", "owner/course/main?urlpath=lab/tree/"), ("Colab", "owner/course/blob/main/"):
        assert (ROOT / links[way].partition(before)[2]).is_file() and before in links[way]
    assert "install --quiet --no-deps git+https://github.com/owner/course@main\n" in page
    assert [*map(said, ("", None, "https://git.example.org/github.com/course"))] == ["", "", ""]


def test_a_lab_that_runs_in_jupyterlite_has_a_link_to_it_if_it_is_beside_the_site(hooks, monkeypatch):
    link = hooks["notebooks"]._in_lite
    monkeypatch.setattr(hooks["notebooks"], "runs", lambda lab: lab != "00_trace")
    beside, alone = (SimpleNamespace(extra={"lite": lite}) for lite in (True, False))
    assert 'href="../../lite/lab/index.html?path=01a_views/01a_views.ipynb"' in link("01a_views", beside)
    assert link("01a_views", alone) == link("00_trace", beside) == ""


# Drawings, and links to labs ------------------------------------------------------------------------------------------


def contrast(one, other):
    """Return the contrast of two colours, as WCAG defines it."""
    lights = []
    for color in one, other:
        parts = [part / 255 for part in bytes.fromhex(color[1:])]
        linear = [part / 12.92 if part <= 0.03928 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
        lights.append(0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2] + 0.05)
    return max(lights) / min(lights)


GROUNDS = "#ffffff", "#f6f8fa", "#ffe9d6", "#dfeaf5", "#6d2f7d", "#dddddd", "#999999", "#8a8a8a", "#737373", "#e08a1e"


@pytest.mark.parametrize("ground", GROUNDS)
def test_what_is_legible_on_paper_is_legible_in_the_dark(hooks, ground):
    dark = hooks["schemes"].dark
    text = max(("#ffffff", "#1f2328"), key=lambda ink: contrast(ink, ground))
    assert contrast(text, ground) >= 4.5
    assert contrast(dark(text), dark(ground, fill=True)) >= 4.5


def test_a_drawing_of_the_readme_has_a_file_for_the_dark_that_is_not_old(hooks):
    images = ROOT / "docs" / "images"
    assert (images / "idea-dark.svg").read_text("utf-8") == hooks["schemes"].in_the_dark(
        (images / "idea.svg").read_text("utf-8")
    )


def test_a_page_shows_the_screenshot_of_its_scheme(hooks):
    shown = hooks["schemes"].on_page_markdown('![A report.](images/report.webp){ width="760" }', None, None, None)
    assert shown == (
        '![A report.](images/report.webp#only-light){ width="760" }'
        '![A report.](images/report-dark.webp#only-dark){ width="760" }'
    )


def test_every_screenshot_of_a_page_has_a_file_for_the_dark_and_is_small():
    pages = "".join(path.read_text(encoding="utf-8") for path in (ROOT / "docs").glob("*.md"))
    names = re.findall(r"images/([\w-]+)\.webp", pages)
    pictures = [ROOT / f"docs/images/{name}{ending}.webp" for name in names for ending in ("", "-dark")]
    assert len(pictures) >= 10 and max(path.stat().st_size for path in pictures) <= 60_000


def test_a_card_has_the_flame_of_the_icon(hooks):
    import numpy
    from PIL import Image

    pages = hooks["pages"]
    card = Image.open(io.BytesIO(pages.card("rushlight", "", []))).convert("RGB")
    icon = numpy.asarray(card, int)[77:139, 87:149]
    colours = [tuple(bytes.fromhex(color[1:])) for _, color in pages.ICON_PATH.findall(pages.ICON.read_text())]
    assert len(colours) == 3 and all((abs(icon - color).max(-1) < 12).sum() > 10 for color in colours)
    assert pages.corners("M0 0C0 0 4 4 4 4L4 8Z")[-2:] == [(4, 4), (4, 8)]


def test_every_phase_has_a_picture_and_it_is_drawn_as_its_program_draws_it(hooks):
    from docs.programs.images import phases

    assert [*phases.PICTURES] == [phase.name[:2] for phase in hooks["notebooks"].phases(ROOT)]
    for phase in phases.PICTURES:
        assert (ROOT / f"docs/images/phases/{phase}.svg").read_text("utf-8") == phases.drawn(phase)


def test_every_name_after_in_the_lab_is_a_link_to_the_section_that_builds_it(hooks):
    notebooks = hooks["notebooks"]
    phases = notebooks.phases(ROOT)
    links = 0
    for phase in phases:
        text = (ROOT / "phases" / phase.name / "reading.md").read_text("utf-8")
        for said in notebooks.IN_THE_LAB.finditer(text):
            line = notebooks._to_labs(phase, phases, said)
            assert re.findall(r"(?<!\[)`[\w.]+`", line) == [], line
            links += line.count("](../")
    assert links > 300


def test_the_sentence_at_the_end_of_a_reading_leads_to_its_labs(hooks):
    (phase,) = (phase for phase in hooks["notebooks"].phases(ROOT) if phase.name == "00_trace")
    page = hooks["notebooks"]._ways("# Reading\n\n- a line\n\nNow go to the lab.\n", phase, [], [phase])
    assert page.endswith("\n\nNow go to the lab: [00](00_trace.md).\n")
    assert hooks["notebooks"]._ways("# Reading\n\n- a line\n", phase, [], [phase]).endswith("- a line\n")


def test_an_exercise_stands_in_the_first_section_that_explains_it(hooks):
    notebooks = hooks["notebooks"]
    line = "**In the lab:** `strided.element_offset` and `strided.permute`.\n\n"
    text = f"# A\n\n## One\n\n`permute` is here.\n\n{line}## Two\n\n`rl.strided.element_offset()`\n\n{line}"
    one, two = notebooks.IN_THE_LAB.finditer(text)
    explained = [
        [notebooks._explains(said, f"strided.{name}") for name in ("element_offset", "permute")] for said in (one, two)
    ]
    assert explained == [[False, True], [True, False]]


def test_what_is_for_jupyterlab_alone_is_folded_on_the_page_of_a_lab(hooks):
    about, imports = "**How it works.** Run a cell.\nRestart the kernel.\n\n", "import torch{}\nimport io  # why\n"
    shown = hooks["tab"].for_page(f"**For.** You.\n\n{about}```python\n{imports.format('  # not found? Ask.')}```\n")
    before, folded, after = re.split(r"<details.*?</summary>\n\n|</details>\n\n", shown)
    assert (before, folded, after) == ("**For.** You.\n\n", about, f"```python\n{imports.format('')}```\n")


def test_the_home_page_links_each_sentence_that_a_reader_has_said(hooks):
    said = hooks["notebooks"].SENTENCE.findall((ROOT / "docs" / "why.md").read_text("utf-8"))
    assert len(said) == 6
    for each in said:
        assert re.match(
            r'<div class="card" markdown>\n\*\*\[“.+”\]\(phases/.+#.+\)', hooks["notebooks"]._sentence(each)
        )


def test_lines_of_code_that_wrap_know_their_indent(hooks):
    docstring = (
        '<span class="w">    </span><span class="sd">"""Twice.</span>\n<span class="sd">        x: a number.</span>'
    )
    assert re.findall("--.*?ch", hooks["pages"].DOCSTRING.sub(hooks["pages"]._hanging, docstring)) == [
        "--before: 4ch",
        "--in: 8ch",
    ]
    code = '<span class="k">if</span> x:\n    <span class="n">f</span><span class="p">(</span>x)\n'
    block = f"<pre><span></span><code>{code}</code></pre>"
    lines = hooks["pages"].CODE.sub(hooks["pages"]._with_lines, block)
    assert re.findall('<span class="line" style="--in: (.*?)ch">', lines) == ["4", "8"]
    assert '<span class="p">(</span><wbr>x' in lines  # rather than after the indent


def test_a_diagram_of_letters_is_read_as_its_words(hooks):
    drawn = "<pre><code>a &lt; b  ──►  c\n ├──►\n step 1\n</code></pre>"
    pages = hooks["pages"]
    assert 'role="img" aria-label="Diagram: a &lt; b c; step 1">a &lt; b  ──►' in pages.CODE.sub(pages._spoken, drawn)
    program = "<pre><code>a - b\n</code></pre>"
    assert pages.CODE.sub(pages._spoken, program) == program


def test_rows_of_a_table_of_texts_are_stacked_on_a_phone_and_those_of_numbers_are_not(hooks):
    def labels(cells):
        rows = [
            [f"<{tag}>{cell}</{tag}>" for cell in row]
            for tag, row in (("th", ["", "look at", "in torch", "in"]), ("td", cells))
        ]
        head, body = ("<tr>" + "".join(row) + "</tr>" for row in rows)
        table = f'<table aria-label="Views"><thead>{head}</thead><tbody>{body}</tbody></table>'
        stacked = hooks["pages"].TABLE.sub(
            hooks["pages"].stacked, hooks["pages"].EMPTY_HEADER.sub(r"<td\1></td>", table)
        )
        return re.findall('<td data-label="(.*?)">', stacked), "data-stacked" in stacked

    names = "<code>torch._C._dispatch_dump_table</code> shows them for one operator"
    assert labels(["the wrong kernel", "the keys of the call", names, "02"]) == (["look at", "in torch", "in"], True)
    assert labels(["1 234 567", "7 654 321", "0.123456789012345678901234567890", "2"]) == ([], False)


def test_a_site_without_the_sources_of_labs_has_no_model_answers(monkeypatch, tmp_path):
    place = '<div data-cell="question-a-row-that-keeps-a-matrix" markdown="1">\n\n!!! question "Title"\n\n</div>'
    assert "2,457,000" in models.with_models(place, "01a_views")
    monkeypatch.setattr(models, "SOURCES", tmp_path)
    assert models.with_models(place, "01a_views") == place
