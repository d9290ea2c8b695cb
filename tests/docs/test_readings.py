"""The form of a reading: the idea comes first, code is short, and each section lets the reader act.

`python tests/docs/test_readings.py` prints the counts for every reading.
"""

import re
from itertools import pairwise
from pathlib import Path

import nbformat
import pytest
from sweep import in_one_test

from rushlight.course.short_names import short_form

ROOT = Path(__file__).parents[2]
READINGS = sorted(ROOT.glob("phases/*/reading.ipynb"))
LINES, COLUMNS, WIDEST = 15, 96, 1000  # lines of a visible cell; characters; pixels
SUMMARY, REFERENCE = "# In five lines", "# For reference"
SHORT = re.compile(r"^\*\*In short:\*\*\n\n(- .+\n?)+\Z", re.MULTILINE)  # the end of a part
EXERCISES = {  # each with the number of its lab, also by its short form
    form: path.stem.partition("_")[0]
    for path in ROOT.glob("solutions/*/*.md")
    for name in re.findall(r'exercise="([\w.]+)"', path.read_text())
    for form in (name, short_form(name))
}
CAPTION = re.compile(r"^\*(?![* ])(?:.|\n(?!\n))+?\*(?=\n\n|\n?\Z)", re.MULTILINE)  # a paragraph in italics
POINTER = re.compile(r"\blab (\d\d[a-z]?)\b((?:(?!\blab \d\d|\. ).)*)")  # a lab, and the rest of the sentence


def read(path):
    return nbformat.read(path, as_version=4).cells


def is_folded(cell):
    return cell.metadata.get("jupyter", {}).get("source_hidden", False)


def visible(cells):
    return [cell.source for cell in cells if cell.cell_type == "code" and not is_folded(cell)]


def before_the_first_section(cells):
    """The words, and the visible lines of code, before the first `##`: the way to the first idea."""
    first = next(i for i, cell in enumerate(cells) if cell.source.startswith("## "))
    words = sum(len(cell.source.split()) for cell in cells[:first] if cell.cell_type == "markdown")
    return words, sum(source.count("\n") + 1 for source in visible(cells[:first]))


def figures(cells):
    """For each figure its width in pixels, the size of its smallest label in pixels, and its alternative text."""
    for output in (output for cell in cells for output in cell.get("outputs", [])):
        if svg := output.get("data", {}).get("image/svg+xml"):
            width = float(re.search(r'width="([\d.]+)pt"', svg)[1])
            scale = 4 / 3 * width / float(re.search(r'viewBox="0 0 ([\d.]+)', svg)[1])
            label = min((float(size) * scale for size in re.findall(r"font-size: ([\d.]+)px", svg)), default=WIDEST)
            yield width * 4 / 3, label, output.metadata.get("image/svg+xml", {}).get("alt", "")
        elif any(kind.startswith("image/") for kind in output.get("data", {})):
            yield 0, 0, ""


def sections(cells):
    """The text of each `##` section by its heading, without the part for reference and what follows."""
    parts = []
    for cell in cells:
        if cell.cell_type == "markdown" and re.match("##? ", cell.source):
            parts.append([])
        if parts:
            parts[-1].append(cell.source if cell.cell_type == "markdown" else "")
    texts = ["\n".join(part) for part in parts]
    end = next((i for i, text in enumerate(texts) if text.startswith((REFERENCE, SUMMARY))), len(texts))
    return {text.partition("\n")[0]: text for text in texts[:end] if text.startswith("## ")}


def openings(cells):
    """The text before the first code of a reading, and of each part of a reading that has parts, by its heading."""
    starts = [i for i, cell in enumerate(cells) if i == 0 or cell.source.startswith("# Part ")]
    for start in starts:
        end = next(i for i, cell in enumerate(cells) if i > start and cell.cell_type == "code")
        yield cells[start].source.partition("\n")[0], "\n".join(cell.source for cell in cells[start:end])


def ends_of_parts(cells):
    """The title of each part of a reading, and the last text in it."""
    titles = [i for i, cell in enumerate(cells) if cell.cell_type == "markdown" and cell.source.startswith("# ")]
    for start, end in pairwise(titles):
        if cells[start].source.startswith("# Part "):
            yield cells[start].source.partition("\n")[0], cells[end - 1].source


def wrong_pointers(place, text):
    """The exercises that a reading names after `lab NNx` and that lab NNx does not have, and those that a line `**In the lab:**`
    names without a number and that are not in the lab of its part, or in a lab of the phase."""
    for lab, rest in POINTER.findall(text):
        yield from ((lab, name) for name in named_in(rest) if not EXERCISES.get(name, lab).startswith(lab))
    for line in re.findall(r"^\*\*In the lab:\*\* .+$", text, re.MULTILINE):
        if not POINTER.search(line):
            yield from ((place, name) for name in named_in(line) if not EXERCISES.get(name, place).startswith(place))


def named_in(text):
    return re.findall(r"`([\w.]+)`", text)


def wrong_captions(text):
    """The captions that name a shade. Dark mode turns the shades of a figure around."""
    for caption in CAPTION.findall(text):
        if word := re.search(r"\b(black|white|(dark|light)(er)?)\b", caption, re.IGNORECASE):
            yield f"a caption that is wrong in dark mode, {word[0]}: {caption[:60]}"


def clipped(cells):
    return [
        cell for cell in cells if cell.cell_type == "code" and any(len(x) > COLUMNS for x in cell.source.splitlines())
    ]


def problems(cells):
    """Return the defects of a reading, each in one line."""
    for heading, opening in openings(cells):
        if "?" not in opening or "head" not in opening or 'class="layers"' not in opening:
            yield f"no question about the head, or no strip of layers, before the first code: {heading}"
    for source in visible(cells):
        if source.count("\n") >= LINES:
            yield f"a visible cell of {source.count(chr(10)) + 1} lines: {source.splitlines()[0]}"
    for cell in clipped(cells):
        yield f"a cell with a line of more than {COLUMNS} characters: {cell.source.splitlines()[0]}"
    for cell in cells:
        if is_folded(cell) and not cell.source.startswith("# "):
            yield f"a folded cell whose first line is no comment: {cell.source.splitlines()[0]}"
    for width, label, alt in figures(cells):
        if width > WIDEST + 1 or label < 11.9 or not alt:
            yield f"a figure {width:.0f} pixels wide with labels of {label:.1f} pixels: {alt[:60] or 'no text'}"
    for heading, text in sections(cells).items():
        if len(re.findall(r"<details><summary>Answer</summary>\n\n.+?\n\n</details>", text, re.DOTALL)) != 1:
            yield f"not one self-test with a folded answer: {heading}"
        named = named_in(" ".join(re.findall(r"^\*\*In the lab:\*\* .+$", text, re.MULTILINE)))
        if not EXERCISES.keys() & named:
            yield f"no exercise: {heading}"
        if unknown := set(named) - EXERCISES.keys():
            yield f"unknown exercises {sorted(unknown)}: {heading}"
    text = "\n".join(cell.source for cell in cells if cell.cell_type == "markdown")
    for place, part in re.findall(r"^# (?:Reading|Part) (\w+)(.+?)(?=^# Part |\Z)", text, re.MULTILINE | re.DOTALL):
        for lab, name in wrong_pointers(place, part):
            yield f"lab {lab} does not have {name}: it is in lab {EXERCISES[name]}"
    yield from wrong_captions(text)
    if cells[-1].source.startswith(SUMMARY):
        if len(re.findall("^- ", cells[-1].source, re.MULTILINE)) != 5:
            yield f"no five lines under {SUMMARY!r}"
    elif not (ends := [*ends_of_parts(cells)]):
        yield f"no summary of five lines at the end, under {SUMMARY!r}"
    else:
        yield from (f"no summary at its end: {title}" for title, end in ends if not SHORT.search(end))


@in_one_test
@pytest.mark.parametrize("path", READINGS, ids=lambda path: path.parent.name)
def test_in_a_reading_the_idea_comes_first_and_the_reader_acts(path):
    assert [*problems(read(path))] == []


@pytest.mark.parametrize(
    ("text", "wrong"),
    [
        ("In lab 04b, `derivatives.mm_backward_mat1` is such a formula.", [("04b", "derivatives.mm_backward_mat1")]),
        ("In lab 04c, `derivatives.mm_backward_mat1` is one. In `strided.permute`", []),
        ("In lab 04 `derivatives.mm_backward_mat1`, in lab 01a `engine.sum_to`", [("01a", "engine.sum_to")]),
        ("**In the lab:** `engine.sum_to` and `strided.permute`.", [("04b", "strided.permute")]),
        ("**In the lab:** `derivatives.mm_backward_mat1`.", [("04b", "derivatives.mm_backward_mat1")]),
    ],
)
def test_a_pointer_to_a_lab_without_the_exercise_is_found(text, wrong):
    assert [*wrong_pointers("04b", text)] == wrong


def test_a_caption_of_a_lab_is_right_in_dark_mode_too():
    texts = (path.read_text() for path in sorted(ROOT.glob("solutions/*/*.md")))
    assert [wrong for text in texts for wrong in wrong_captions(text)] == []
    assert [*wrong_captions("A line.\n\n*The loss.\nThe darker one is torch's.*\n")]


if __name__ == "__main__":
    print(f"{'reading':16} {'words':>6} {'lines':>6} {'long':>5} {'clipped':>8} {'figures amiss':>14} {'problems':>9}")
    for path in READINGS:
        cells = read(path)
        words, lines = before_the_first_section(cells)
        long = sum(source.count("\n") >= LINES for source in visible(cells))
        amiss = sum(width > WIDEST + 1 or label < 11.9 or not alt for width, label, alt in figures(cells))
        found = [*problems(cells)]
        counts = f"{words:6} {lines:6} {long:5} {len(clipped(cells)):8} {amiss:14} {len(found):9}"
        print(f"{path.parent.name:16} {counts}")
        print("".join(f"    {each}\n" for each in found), end="")
