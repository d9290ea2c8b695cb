"""Answers that an editor has taken apart, copied, merged or put elsewhere, and what is marked of them."""

import ast
import copy
import itertools
import json

import jupytext
import nbformat
import pytest
from sweep import sweep

from autograder.classroom.restore import restore
from autograder.model import Lab, check_name, exercise_name, is_added

LAB, EXERCISE = "01a_views", "aten.strided.permute"
OTHER = "aten.strided.transpose"


@pytest.fixture
def released():
    return copy.deepcopy(Lab(LAB).release.nodes)


@pytest.fixture
def solved(released, answers):
    """The release with every answer, as a student's kernel has run it."""
    for count, cell in enumerate(released.cells):
        cell.source = answers.get(cell.id, cell.source)
        if cell.cell_type == "code":
            cell.execution_count = count
    return released


@pytest.fixture
def answers(root):
    solution = nbformat.read(root / "solutions" / LAB / f"{LAB}.ipynb", as_version=4)
    return {cell.id: cell.source for cell in solution.cells if cell.metadata.get("nbgrader", {}).get("solution")}


def place(notebook, name):
    """The position of the cell of an exercise, or of the first check of one."""
    return next(
        i for i, cell in enumerate(notebook.cells) if name in (exercise_name(cell), f"check {check_name(cell)}")
    )


def halves(source, line):
    lines = source.splitlines()
    return "\n".join(lines[:line]), "\n".join(lines[line:])


def again(cell, source, keeps=True, count=None):
    """A cell that an editor has made of another one: with its metadata, or with none."""
    made = nbformat.v4.new_code_cell(source, execution_count=count)
    made.metadata = copy.deepcopy(cell.metadata) if keeps else {}
    return made


def split(line, keeps):
    def edit(notebook, at, check):
        cell = notebook.cells[at]
        line_of = line if line >= 0 else len(cell.source.splitlines()) + 1 + line
        cell.source, below = halves(cell.source, line_of)
        notebook.cells.insert(at + 1, again(cell, below, keeps))

    return edit


def in_pieces(between, within=0):
    """The last two lines come into cells of their own, without metadata and below others; `within`: or the end of the last."""

    def edit(notebook, at, check):
        cell, source = notebook.cells[at], notebook.cells[at].source.replace("\n    ### END SOLUTION", "")
        *_, second, last = itertools.accumulate(map(len, source.splitlines(keepends=True)[:-1]))
        cuts = [second, last] if not within else [len(source) - within]
        pieces = [source[i:j] for i, j in zip([0, *cuts], [*cuts, None])]
        pieces = pieces if within else [piece.removesuffix("\n") for piece in pieces]
        cell.source = pieces[0]
        notebook.cells[at + 1 : at + 1] = [
            new for piece in pieces[1:] for new in (*between(), again(cell, piece, keeps=False))
        ]

    return edit


def within_a_word(keeps, back=4, swapped=False):
    """The cell is cut so near its end that both halves are code: `return al` and `ias(...)`."""

    def edit(notebook, at, check):
        cell, lines = notebook.cells[at], notebook.cells[at].source.rstrip().splitlines()
        cell.execution_count = notebook.cells[check].execution_count = None
        last = max(i for i, line in enumerate(lines) if line.strip().startswith("return "))
        head, tail = lines[last][: lines[last].index("return ") + 9], lines[last][lines[last].index("return ") + 9 :]
        below = "\n".join([tail, *lines[last + 1 :]])
        cell.source = "\n".join([*lines[:last], head])
        notebook.cells.insert(at if swapped else at + 1, again(cell, below, keeps))

    return edit


def swapped(line, keeps):
    """The cell is split and its upper half moved down, in a notebook that does not say what ran when."""

    def edit(notebook, at, check):
        split(line, keeps)(notebook, at, check)
        for cell in notebook.cells:
            cell.pop("execution_count", None)
        notebook.cells[at : at + 2] = notebook.cells[at : at + 2][::-1]

    return edit


def scratch(text, below=1):
    def edit(notebook, at, check):
        notebook.cells.insert(at + below, again(notebook.cells[at], text, keeps=False))

    return edit


def with_magic(magic, stays):
    """The answer is pasted below its cell, with a cell magic on its first line."""

    def edit(notebook, at, check):
        cell, text = notebook.cells[at], notebook.cells[at].source
        cell.source = stays(text)
        notebook.cells.insert(at + 1, again(cell, f"{magic}\n{text}", keeps=False))

    return edit


def copied(stays, comes, where):
    """A copy of the cell: `stays` and `comes` are made of the right text, and the copy comes above, below, or below the check."""

    def edit(notebook, at, check):
        cell, right = notebook.cells[at], notebook.cells[at].source
        cell.source = stays(right)
        notebook.cells.insert(
            {"above": at, "below": at + 1, "below the check": check + 1}[where], again(cell, comes(right))
        )

    return edit


def right(source):
    return source


def stub(source):
    head = source[: source.index('    """')]
    return f"{head}    raise NotImplementedError()"


def wrong(source):
    head = source[: source.index('    """')]
    return f"{head}    return self"


def draft(source):
    return source[: source.rindex("\n")] + "\n    return ("


def merged(metadata_of):
    def edit(notebook, at, check):
        first, *others = notebook.cells[at : check + 1]
        kept = {"answer": first, "check": others[-1]}[metadata_of]
        whole = "\n\n".join(cell.source for cell in (first, *others) if cell.cell_type == "code")
        notebook.cells[at : check + 1] = [again(kept, whole)]

    return edit


def merged_answers(notebook, at, check):
    other = place(notebook, OTHER)
    first, second = sorted((at, other))
    cells = notebook.cells
    cells[first].source += f"\n\n{cells[second].source}"
    del cells[second]


def moved(notebook, at, check):
    notebook.cells.insert(check, notebook.cells.pop(at))


def elsewhere(where, helper=False, stays=stub, count=None):
    """The answer stands in an added cell, below the lab's own or below the check."""

    def edit(notebook, at, check):
        cell, text = notebook.cells[at], notebook.cells[at].source
        cell.source = stays(text)
        new = [again(cell, "def helper(x):\n    return x", False)] * helper
        text = text.replace("):\n", ", x=helper(0)):\n", 1) if helper else text
        ran = None if count is None else notebook.cells[check].execution_count + count
        new.append(again(cell, text, False, ran))
        position = at + 1 if where == "below" else check + 1
        notebook.cells[position:position] = new

    return edit


def of_another_type(kind, back):
    def edit(notebook, at, check):
        cell = notebook.cells[at]
        cell.cell_type = "code" if back else kind
        cell.metadata.nbgrader.cell_type = kind
        cell.pop("outputs"), cell.pop("execution_count")

    return edit


def written_place(notebook):
    return next(i for i, c in enumerate(notebook.cells) if c.cell_type == "markdown" and "nbgrader" in c.metadata)


def cut_and_pasted(place_of):
    """As VS Code pastes: a new cell with the text and the outputs, without metadata and with an id of its own."""

    def edit(notebook, at, check):
        for position in place_of(notebook, at, check):
            cell = notebook.cells[position]
            cell.metadata, cell.id = nbformat.NotebookNode(), f"{position:08x}"
            cell.pop("execution_count", None)

    return edit


def saved_by_vscode(*edits):
    """Edited and saved as VS Code saves (`extensions/ipynb/src/serializers.ts`).

    Of a notebook it keeps the two versions and the metadata, of a cell the id, the metadata and the attachments, and sorts all
    keys. A source is a list of lines. A code cell in another language than the notebook has it in its metadata. A cell that was
    split off or pasted has no metadata, and in nbformat 4.5 a new id of eight digits.
    """

    def edit(notebook, at, check):
        for earlier in edits:
            earlier(notebook, at, check)
        cells = []
        for cell in notebook.cells:
            source = cell.source.splitlines(keepends=True)
            saved = {"cell_type": cell.cell_type, "id": cell.id, "metadata": cell.metadata, "source": source}
            if cell.cell_type == "code":
                saved |= {"execution_count": cell.get("execution_count"), "outputs": cell.get("outputs", [])}
            cells.append(saved)
        kept = {"cells": cells, "metadata": notebook.metadata, "nbformat": 4, "nbformat_minor": notebook.nbformat_minor}
        saved = json.loads(json.dumps(kept, sort_keys=True, indent=1) + "\n")
        notebook.clear()
        notebook.update(saved)

    return edit


def in_another_language(notebook, at, check):
    notebook.cells[at].metadata["vscode"] = {"languageId": "sql"}


def saved_by_colab(*edits):
    """Edited and saved as Colab saves.

    It writes nbformat 4.0 without ids of cells. Each cell's metadata get an `id`, and those of a cell with outputs an `outputId`
    and `colab`, with the address and the height of the outputs. An output's name comes before its text. The notebook's
    metadata have `colab` and little of the kernel. A new cell has these metadata alone.
    """

    def edit(notebook, at, check):
        for earlier in edits:
            earlier(notebook, at, check)
        cells = []
        for number, cell in enumerate(notebook.cells):
            metadata = {**cell.metadata, "id": f"{number:012d}"}
            saved = {"cell_type": cell.cell_type, "source": cell.source.splitlines(keepends=True), "metadata": metadata}
            if cell.cell_type == "code":
                outputs = [{"output_type": "stream", "name": "stdout", "text": ["a line\n"]}]
                metadata |= {"outputId": f"{number:08d}-90ab-4cde-8f01-234567890abc"}
                metadata |= {"colab": {"base_uri": "https://localhost:8080/", "height": 35}}
                saved |= {"execution_count": cell.get("execution_count"), "outputs": outputs}
            cells.append(saved)
        about = {"colab": {"provenance": [], "toc_visible": True}, "language_info": {"name": "python"}}
        about |= {"kernelspec": {"name": "python3", "display_name": "Python 3"}}
        notebook.clear()
        notebook.update({"nbformat": 4, "nbformat_minor": 0, "metadata": about, "cells": cells})

    return edit


def through_jupytext(form, *edits):
    """Edited, saved by jupytext as a text, and opened again."""

    def edit(notebook, at, check):
        for earlier in edits:
            earlier(notebook, at, check)
        notebook.cells = jupytext.reads(jupytext.writes(notebook, form), form).cells

    return edit


def without_any_metadata(notebook, at, check):
    for cell in notebook.cells:
        cell.pop("id")
        cell.metadata = {}


EDITS = {
    "split in the body": split(-3, True),
    "split before the body": split(2, True),
    "split at the end": split(-1, True),
    "split at the beginning": split(0, True),
    "split where the lower half has no metadata": split(-3, False),
    "in three pieces": in_pieces(list),
    "in three pieces below notes": in_pieces(lambda: [nbformat.v4.new_markdown_cell("a note")]),
    "in three pieces below empty cells": in_pieces(lambda: [nbformat.v4.new_code_cell()]),
    "split within a line": in_pieces(list, within=5),
    "cut within a word": within_a_word(keeps=False),
    "cut within a word, with metadata": within_a_word(keeps=True),
    "cut within a word, and moved down": within_a_word(keeps=False, swapped=True),
    "cut within a word, with metadata, and moved down": within_a_word(keeps=True, swapped=True),
    "upper half moved down": swapped(-3, True),
    "upper half moved down, without metadata": swapped(-3, False),
    "an indented scratch cell below": scratch("    permute(rl.tensor([[1, 2]]), (1, 0))"),
    "a scratch cell below that uses a name that is gone": scratch("permute(gone, (1, 0))"),
    "a scratch cell of bash below": scratch("%%bash\nls ("),
    "pasted below its stub with %%time": with_magic("%%time", stub),
    "pasted below a wrong answer with %%time": with_magic("%%time", wrong),
    "pasted below a draft with %%capture": with_magic("%%capture out", draft),
    "written to a file below": with_magic("%%writefile answer.py", right),
    "a copy of the stub below": copied(right, stub, "below"),
    "a copy of the stub above": copied(right, stub, "above"),
    "a copy of the stub below the check": copied(right, stub, "below the check"),
    "a right copy below a wrong one": copied(wrong, right, "below"),
    "a right copy below a draft": copied(draft, right, "below"),
    "a draft above as a copy": copied(right, draft, "above"),
    "the same copied": copied(right, right, "below"),
    "pasted below the check": copied(stub, right, "below the check"),
    "merged with the check": merged("answer"),
    "merged into the check": merged("check"),
    "merged with another answer": merged_answers,
    "moved below the check": moved,
    "in an added cell": elsewhere("below"),
    "in an added cell below a wrong answer": elsewhere("below", stays=wrong),
    "in an added cell below the check": elsewhere("below the check"),
    "in an added cell below the check, with a helper": elsewhere("below the check", helper=True),
    "below the check, and ran before it": elsewhere("below the check", stays=wrong, count=-1),
    "turned to Markdown and back": of_another_type("markdown", True),
    "turned to raw and back": of_another_type("raw", True),
    "left as Markdown": of_another_type("markdown", False),
    "saved by VS Code": saved_by_vscode(),
    "in another language of VS Code": saved_by_vscode(in_another_language),
    "split in VS Code": saved_by_vscode(split(-3, False)),
    "split within a word in VS Code": saved_by_vscode(within_a_word(keeps=False)),
    "split and moved down in VS Code": saved_by_vscode(swapped(-3, False)),
    "turned to raw in VS Code": saved_by_vscode(of_another_type("raw", False)),
    "cut and pasted in VS Code": saved_by_vscode(cut_and_pasted(lambda notebook, at, check: [at])),
    "cut and pasted in VS Code with its check": saved_by_vscode(
        cut_and_pasted(lambda notebook, at, check: [at, check])
    ),
    "the written answer cut and pasted in VS Code": saved_by_vscode(
        cut_and_pasted(lambda notebook, at, check: [written_place(notebook)])
    ),
    "all cut and pasted in VS Code": saved_by_vscode(
        cut_and_pasted(lambda notebook, at, check: range(len(notebook.cells)))
    ),
    "saved by Colab": saved_by_colab(),
    "split in Colab": saved_by_colab(split(-3, False)),
    "split within a word in Colab": saved_by_colab(within_a_word(keeps=False)),
    "saved by jupytext as Markdown": through_jupytext("md"),
    "saved by jupytext as a script": through_jupytext("py:percent"),
    "saved by jupytext as a light script": through_jupytext("py:light"),
    "split and saved by jupytext": through_jupytext("py:percent", split(-3, False)),
    "without any metadata": without_any_metadata,
}
# where the answer is whole in a cell of its own, so that nobody has to be told
WHOLE = {
    "moved below the check",
    "merged with the check",
    "pasted below the check",
    "the same copied",
    "left as Markdown",
    "saved by Colab",
    "saved by VS Code",
    "in another language of VS Code",
    "turned to raw in VS Code",
    "an indented scratch cell below",
    "a scratch cell below that uses a name that is gone",
    "a scratch cell of bash below",
    "written to a file below",
    "saved by jupytext as Markdown",
    "saved by jupytext as a script",
    "saved by jupytext as a light script",
}
WHOLE |= {edit for edit in EDITS if edit.startswith(("a copy of the stub", "split at the", "turned to"))}


def plugged_in(cell):
    """The functions that a cell defines last, without docstrings and defaults."""
    functions = {node.name: node for node in ast.parse(cell.source).body if isinstance(node, ast.FunctionDef)}
    return {name: [ast.dump(each) for each in node.body] for name, node in functions.items()}


@pytest.mark.parametrize("edit", sweep(EDITS, every=6))
def test_no_edit_loses_an_answer(released, solved, answers, edit):
    right = {cell.id: plugged_in(cell) for cell in solved.cells if exercise_name(cell)}
    written = solved.cells[written_place(solved)].source
    submitted = copy.deepcopy(solved)
    EDITS[edit](submitted, place(submitted, EXERCISE), place(submitted, f"check {EXERCISE}"))
    result = restore(submitted, copy.deepcopy(Lab(LAB).release.nodes))
    found = {cell.id: plugged_in(cell) for cell in result.cells if exercise_name(cell)}
    for key, functions in right.items():
        assert functions.items() <= found[key].items()
    assert result.cells[written_place(result)].source == written
    assert bool(result.metadata.get("joined")) == (edit not in WHOLE)
    assert [cell.id for cell in result.cells if not is_added(cell)] == [cell.id for cell in solved.cells]


def test_what_ran_after_the_check_does_not_count(solved):
    submitted = copy.deepcopy(solved)
    at, check = place(submitted, EXERCISE), place(submitted, f"check {EXERCISE}")
    elsewhere("below the check", stays=wrong, count=1)(submitted, at, check)
    result = restore(submitted, copy.deepcopy(Lab(LAB).release.nodes))
    assert "return self" in result.cells[place(result, EXERCISE)].source and "joined" not in result.metadata


def test_of_two_tries_the_one_that_ran_last_before_the_check_counts(solved):
    submitted = copy.deepcopy(solved)
    at, check = place(submitted, EXERCISE), place(submitted, f"check {EXERCISE}")
    first = again(submitted.cells[at], wrong(submitted.cells[at].source), False, 3)
    submitted.cells.insert(at + 1, first)
    submitted.cells[at].execution_count, submitted.cells[check + 1].execution_count = 8, 9
    result = restore(submitted, copy.deepcopy(Lab(LAB).release.nodes))
    assert plugged_in(result.cells[place(result, EXERCISE)]) == plugged_in(submitted.cells[at])


def test_a_written_answer_that_was_split_is_whole(solved):
    at = next(i for i, c in enumerate(solved.cells) if c.cell_type == "markdown" and "nbgrader" in c.metadata)
    cell = solved.cells[at]
    below = copy.deepcopy(cell)
    below.id = "below"
    cell.source, below.source = "The first half.", "The second half."
    solved.cells.insert(at + 1, below)
    result = restore(solved, copy.deepcopy(Lab(LAB).release.nodes))
    assert "The first half.\n\nThe second half." in [each.source for each in result.cells]


def test_a_question_to_ipython_below_an_answer_is_no_piece_of_it(solved):
    at = place(solved, EXERCISE)
    answer = solved.cells[at]
    answer.source += "  # done"
    solved.cells.insert(at + 1, again(answer, "?permute", keeps=False))
    result = restore(solved, copy.deepcopy(Lab(LAB).release.nodes))
    assert result.cells[at].source == answer.source and "joined" not in result.metadata
