"""The page on how alike the answers of a class are, for its instructor.

It begins with how alike the answers of this class are in general. Then it shows the pairs that are most alike, side by side. All
text from a submission is escaped. The page needs no other file.
"""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Sequence
from itertools import chain
from pathlib import Path

from ..model import Lab, Submission, Unreadable, exercise_name, read_notebook
from .groups import source_of
from .pages import SCHEMES, escaped, write_page
from .restore import StudentNotebook
from .winnowing import Answer, Pair, answer, outlier_bits, pairs

SHOWN = 30  # pairs
SIDE_BY_SIDE = 6  # exercises of a pair
RARE = 0.1  # a line is marked if it holds something that at most this share of the answers have
BINS = 24

_STYLE = f"""
{SCHEMES}
body {{ font: 16px/1.5 system-ui, sans-serif; max-width: 80rem; margin: 1.5rem auto; padding: 0 1rem;
  color: var(--page); background: var(--page-b); overflow-wrap: anywhere; }}
p {{ max-width: 46rem; }} a {{ color: var(--link); }} .note {{ color: var(--muted); }}
table {{ border-collapse: collapse; font-variant-numeric: tabular-nums; }} .box {{ overflow-x: auto; }}
th, td {{ text-align: left; padding: .2rem .6rem; border-bottom: 1px solid var(--line); white-space: nowrap; }}
.number {{ text-align: right; }}
.bar {{ display: inline-block; height: .8rem; background: var(--bar); }}
details {{ border: 1px solid var(--line); margin: .6rem 0; padding: .4rem .8rem; }} summary {{ cursor: pointer; }}
.out summary b {{ color: var(--fail); background: var(--fail-b); padding: 0 .3rem; }}
.sides {{ display: grid; grid-template-columns: repeat(auto-fit, minmax(min(26rem, 100%), 1fr)); gap: .8rem; }}
pre {{ margin: 0; padding: .5rem; overflow-x: auto; background: var(--code-b); color: var(--code); font-size: .85rem; }}
mark {{ background: var(--other-b); color: var(--other); }}
:focus-visible {{ outline: 2px solid var(--link); }}
"""


def write_alike(lab: Lab, published: Sequence[Path] = ()) -> tuple[Path, list[Pair], list[str]]:
    """Write `classroom/alike-LAB.html`, which is renamed when it is complete.

    `published` are notebooks of others. Returns the path, all pairs, and what could not be read. Raises LookupError if fewer than
    three can be compared.
    """
    published = list(dict.fromkeys(published))
    answers, unreadable = answers_of_class(lab, published)
    names = list(dict.fromkeys(written.student for written in answers))
    if len(names) < 3:
        raise LookupError(
            f"{len(names)} of the submissions of {lab} have an answer, and what is rare needs three at least"
        )
    compared = pairs(answers, [_name(path) for path in published])
    if not compared:
        raise LookupError(f"no two submissions of {lab} have an answer to the same exercise")
    path = lab.course.folder / f"alike-{lab}.html"
    write_page(path, f"Lab {lab}: answers that are alike", _STYLE, _body(lab, answers, names, compared, unreadable))
    return path, compared, unreadable


def answers_of_class(lab: Lab, published: Sequence[Path] = ()) -> tuple[list[Answer], list[str]]:
    """The answers of a class and of published notebooks that are not as they were released."""
    submissions = lab.submissions()
    own = [submission.student for submission in submissions if not source_of(submission)]  # a group has one notebook
    answers, unreadable = [], []
    sources: Iterable[Submission | Path] = chain((Submission(lab, name) for name in own), published)
    for source in sources:
        name = source.student if isinstance(source, Submission) else _name(source)
        try:
            text = source.text if isinstance(source, Submission) else read_notebook(source)
            handed_in = StudentNotebook(lab, text)
            notebook = handed_in.restored()
        except (Unreadable, OSError) as error:
            unreadable.append(f"{name}: {error}")
            continue
        given = {exercise_name(cell): cell.source for cell in handed_in.released.cells}
        answers += [
            answer(name, exercise, cell.source, given[exercise])
            for cell in notebook.cells
            if (exercise := exercise_name(cell)) and cell.source.strip() != given[exercise].strip()
        ]
    return answers, unreadable


def _name(path: Path) -> str:
    return f"published: {path.as_posix()}"


# HTML ----------------------------------------------------------------------------------------------------------------

_HOW = """For each exercise a pair of students counts log2(<i>pairs / pairs that are at least as alike</i>) bits, for the code and
for the words. So what many have in common counts nothing. Names of variables are words, and not code. <strong>Nothing here says
that a student copied.</strong> Two students who learn together, or from the same page, write alike. Read both answers, and talk
with the students."""


def _body(lab: Lab, answers: list[Answer], names: list[str], compared: list[Pair], unreadable: list[str]) -> str:
    limit, first = outlier_bits(compared), compared[:SHOWN]
    beyond = sum(pair.bits > limit for pair in compared)
    median = statistics.median(pair.bits for pair in compared)
    body = [
        f"<h1>Lab {lab}: how alike the answers are</h1><p>{_HOW}</p>",
        f"<p>{len(names)} students, {len(compared):,} pairs. The median of this class is {median:.0f} bits."
        f" {beyond} {'pair is' if beyond == 1 else 'pairs are'} far out, above {limit:.0f} bits: above the middle half of"
        " all pairs by more than three times its width.</p>",
        *(f'<p class="note">Not compared: {escaped(line)}</p>' for line in unreadable),
        _spread(compared, limit),
        _exercises(answers, compared),
        f"<h2>The {len(first)} pairs that are most alike</h2>",
        *(_pair(pair, answers, limit) for pair in first),
    ]
    return f"<main>{''.join(body)}</main>"


def _spread(compared: list[Pair], limit: float) -> str:
    """How many pairs share how many bits."""
    width = max(pair.bits for pair in compared) / BINS or 1.0
    counts = [0] * BINS
    for pair in compared:
        counts[min(int(pair.bits / width), BINS - 1)] += 1
    rows = "".join(
        f'<tr><td class="number">{i * width:.0f} to {(i + 1) * width:.0f}</td><td class="number">{count:,}</td>'
        f'<td><span class="bar" style="width:{20 * (count / max(counts)) ** 0.5:.1f}rem"></span>'
        f"{' far out' if i * width <= limit < (i + 1) * width else ''}</td></tr>"
        for i, count in enumerate(counts)
    )
    head = (
        '<tr><th scope="col">bits</th><th scope="col">pairs</th><th scope="col">(the bar is the square root)</th></tr>'
    )
    return f'<h2>All pairs</h2><div class="box" tabindex="0"><table>{head}{rows}</table></div>'


def _exercises(answers: list[Answer], compared: list[Pair]) -> str:
    """How alike the code of two answers to each exercise is, over all pairs."""
    rows = []
    for exercise in dict.fromkeys(written.exercise for written in answers):
        alike = [pair.exercises[exercise].code for pair in compared if exercise in pair.exercises]
        count = sum(written.exercise == exercise for written in answers)
        if len(alike) > 1:
            high = statistics.quantiles(alike, n=20)[-1]
            numbers = (
                f"{count}",
                f"{statistics.median(alike):.0%}",
                f"{high:.0%}",
                f"{sum(share == 1 for share in alike):,}",
            )
            cells = "".join(f'<td class="number">{number}</td>' for number in numbers)
            rows.append(f"<tr><td>{escaped(exercise)}</td>{cells}</tr>")
    heads = "exercise", "answers", "alike, median", "one pair in 20 above", "pairs with the same code"
    head = "".join(f'<th scope="col">{head}</th>' for head in heads)
    note = (
        "How much of the code of two answers is in both, by weight: what all answers have weighs nothing. A short exercise has few"
        " right answers, and many students write the same."
    )
    return (
        f'<h2>How alike answers are in this class</h2><p class="note">{note}</p>'
        f'<div class="box" tabindex="0"><table><tr>{head}</tr>{"".join(rows)}</table></div>'
    )


def _pair(pair: Pair, answers: list[Answer], limit: float) -> str:
    most = sorted(pair.exercises, key=lambda name: -pair.exercises[name].bits)[:SIDE_BY_SIDE]
    one, other = map(escaped, pair.students)
    flag = " <b>far out</b>" if pair.bits > limit else ""
    code, words = (
        sum(getattr(likeness, part) for likeness in pair.exercises.values()) for part in ("code_bits", "words_bits")
    )
    said = f"{one} and {other}: {pair.bits:.0f} bits ({code:.0f} of code, {words:.0f} of words){flag}"
    kind = ' class="out"' if flag else ""
    return f"<details{kind}><summary>{said}</summary>{''.join(_side_by_side(pair, name, answers) for name in most)}</details>"


def _side_by_side(pair: Pair, exercise: str, answers: list[Answer]) -> str:
    same = [written for written in answers if written.exercise == exercise]
    one, other = (next(written for written in same if written.student == student) for student in pair.students)
    rare = max(2, RARE * len(same))
    prints = {
        fingerprint
        for fingerprint in one.lines.keys() & other.lines.keys()
        if sum(fingerprint in a.lines for a in same) <= rare
    }
    words = sorted(word for word in one.words & other.words if sum(word in a.words for a in same) <= rare)
    sides = "".join(
        f"<div><p>{escaped(written.student)}</p><pre>{_marked(written, prints)}</pre></div>" for written in (one, other)
    )
    like = pair.exercises[exercise]
    said = (
        f"code {like.code:.0%} alike ({like.code_bits:.1f} bits), words {like.words:.0%} ({like.words_bits:.1f} bits)"
    )
    named = f'<p class="note">Words that few others have: {escaped(", ".join(words))}</p>' if words else ""
    return f'<h3>{escaped(exercise)}</h3><p class="note">{said}</p><div class="sides">{sides}</div>{named}'


def _marked(one: Answer, prints: set[int]) -> str:
    """The source with a mark on the lines that hold one of the fingerprints."""
    marked = {
        line for fingerprint in prints for line in range(one.lines[fingerprint][0], one.lines[fingerprint][1] + 1)
    }
    lines = enumerate(one.source.split("\n"), 1)
    return "\n".join(
        f"<mark>{escaped(text)}</mark>" if number in marked and text.strip() else escaped(text)
        for number, text in lines
    )
