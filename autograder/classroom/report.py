"""The class report: the results of a class in one lab, as an HTML page for its instructor.

It shows what is next, the totals, how hard each exercise is, who may need help, a map of students and exercises, every minimal
case, and the notebooks whose check cells were changed. The page needs no other file, and a click on the map leads to a
student's feedback. All text from a submission is escaped. The page is in the language of the instructor.
"""

from __future__ import annotations

import math
import re
import statistics
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from urllib.parse import quote

from ..engine.check import FIRST_GUESS, short_name
from ..engine.verdict import NOT_ATTEMPTED, PASSED
from ..language import language, phrase, speak
from ..model import Lab, Submission
from ..text import in_one_line
from .feedback import is_refused
from .grade import Row, has_other_marks
from .items import IN_EACH, attempts, cases, notebooks, rank_correlation, warnings
from .lms import downloads
from .pages import MARKS, OTHER, SCHEMES, UNGRADED, breakable, escaped, write_page

BINS, FLAG, WAITS = 10, "⚑", "✎"
TRIED = (
    3  # exercises in which a student must have tried something before the report says that the student may need help
)

_STYLE = f"""
{SCHEMES}
* {{ box-sizing: border-box; }}
body {{ font: 16px/1.5 system-ui, sans-serif; max-width: 72rem; margin: 1.5rem auto; padding: 0 1rem;
  color: var(--page); background: var(--page-b); overflow-wrap: anywhere; }}
p.note {{ color: var(--muted); max-width: 46rem; }} a {{ color: var(--link); }}
dl {{ display: flex; flex-wrap: wrap; gap: .5rem 2rem; margin: 1rem 0; }} dd {{ margin: 0; font-size: 1.5rem; font-weight: 600; }}
dt {{ color: var(--muted); }} h2 {{ margin: 2rem 0 .5rem; }}
nav {{ margin-bottom: 1rem; }} nav a {{ margin-right: 1rem; white-space: nowrap; }}
.box {{ overflow: auto; max-height: 85vh; border: 1px solid var(--line); position: relative; }}
.box:has(.wide) {{ max-height: none; }} /* a lab has few exercises */
/* while columns are left to the right, that edge fades */
@keyframes to-the-right {{ from, 90% {{ mask-size: 100% 100%; }} to {{ mask-size: calc(100% + 3rem) 100%; }} }}
@supports (animation-timeline: scroll()) {{ .box {{ animation: to-the-right linear; animation-timeline: scroll(self inline);
  mask: linear-gradient(to right, black calc(100% - 3rem), transparent) 0 0 / calc(100% + 3rem) 100% no-repeat; }} }}
@media (max-width: 45rem) {{ .box:not(:has(.map)) {{ max-height: none; }} }} /* it scrolls sideways, and the page down */
table {{ border-collapse: separate; border-spacing: 0; font-variant-numeric: tabular-nums; }}
th, td {{ text-align: left; padding: .25rem .6rem; vertical-align: top; border-bottom: 1px solid var(--line);
  background: var(--page-b); overflow-wrap: normal; }}
thead th {{ position: sticky; top: 0; z-index: 1; }}
.map th:first-child {{ position: sticky; left: 0; max-width: 40vw; }}
.who {{ display: flex; gap: .3rem; white-space: nowrap; }} .who > :first-child {{ overflow: hidden; text-overflow: ellipsis; }}
.map thead th:first-child {{ z-index: 2; }} .map td {{ padding: 0; text-align: center; }}
.map th:not(:first-child), .map td a, .map td span {{ padding: .25rem .3rem; }}
.wide {{ width: 100%; }} .wide th, .wide td {{ padding: .25rem .35rem; }}
.map thead th {{ vertical-align: bottom; }} .map thead th:not(:first-child) {{ text-align: center; }}
.map td a, .map td span {{ display: block; color: inherit; text-decoration: none; }}
.map td a:hover {{ text-decoration: underline; }}
.pass {{ color: var(--pass); background: var(--pass-b); }} .fail {{ color: var(--fail); background: var(--fail-b); }}
.none {{ color: var(--none); background: var(--none-b); }} .other {{ color: var(--other); background: var(--other-b); }}
.number {{ text-align: right; }} .number, .share + span {{ white-space: nowrap; }}
.wide td:nth-last-child(2) {{ min-width: 8rem; }}
@media (min-width: 60rem) {{ .wide td:nth-child(3) {{ white-space: nowrap; }} }}
.wide td:last-child, .help td:last-child {{ min-width: 15rem; overflow-wrap: anywhere; }}
pre {{ margin: 0; white-space: pre-wrap; overflow-wrap: anywhere; min-width: 14rem; font-size: .85rem; }}
button {{ all: unset; cursor: pointer; text-decoration: underline dotted; }}
[aria-sort=ascending] button::after {{ content: " ↑"; }} [aria-sort=descending] button::after {{ content: " ↓"; }}
.map th:not(:first-child) button {{ display: inline-block; writing-mode: vertical-rl; transform: rotate(180deg);
  max-height: 15rem; line-height: 1.2; min-width: 24px; }}
button:focus-visible, a:focus-visible, .box:focus-visible, input:focus-visible {{ outline: 2px solid var(--link); }}
input {{ font: inherit; width: 100%; max-width: 24rem; padding: .3rem .5rem; margin: .5rem 0; color: inherit;
  background: var(--page-b); border: 1px solid var(--line); }}
aside {{ padding: .2rem 1rem; border-radius: .3rem; }} aside h2 {{ margin: .4rem 0; }}
.bars td {{ border: 0; }} .bars {{ width: 100%; max-width: 40rem; }} .bars td:nth-child(2) {{ width: 70%; }}
.bar {{ display: block; height: 1.1rem; background: var(--bar); min-width: 1px; }}
.share {{ display: inline-block; width: 5rem; height: .7rem; border: 1px solid var(--line); margin-right: .4rem; }}
.share span {{ display: block; height: 100%; background: var(--bar); }}
@media print {{ .box {{ overflow: visible; max-height: none; border: 0; mask: none; }} nav, label {{ display: none; }}
  thead th, .map th:first-child {{ position: static; }} tr, li, dl {{ break-inside: avoid; }} h2 {{ break-after: avoid; }}
  button {{ text-decoration: none; }} button::after {{ display: none; }} a {{ color: inherit; }}
  .bar, .share span {{ print-color-adjust: exact; }} }}
"""

_SCRIPT = """
for (const head of document.querySelectorAll("thead button")) head.onclick = () => {
  const cell = head.parentElement, body = cell.closest("table").tBodies[0], rows = [...body.rows];
  const key = row => row.cells[cell.cellIndex].dataset.key, before = cell.getAttribute("aria-sort");
  const isNumeric = rows.every(row => !isNaN(key(row)));
  const isDown = before ? before === "ascending" : isNumeric;  // first the greatest number, but the first letter
  for (const other of cell.parentElement.cells) other.removeAttribute("aria-sort");
  cell.setAttribute("aria-sort", isDown ? "descending" : "ascending");
  const compare = (a, b) => isNumeric ? a - b : a.localeCompare(b);
  body.append(...rows.sort((a, b) => (isDown ? -1 : 1) * compare(key(a), key(b))));
};
for (const search of document.querySelectorAll("input")) search.oninput = () => {
  const none = search.parentElement.nextElementSibling, box = none.nextElementSibling;
  const rows = [...box.querySelectorAll("tbody tr")];
  for (const row of rows) row.hidden = !row.textContent.toLowerCase().includes(search.value.toLowerCase());
  none.firstChild.hidden = !(box.hidden = rows.every(row => row.hidden));
};
"""


def write_report(lab: Lab, rows: list[Row], by_exam: Mapping[str, float] = {}) -> Path:  # noqa: B006
    """Write `classroom/report-LAB.html`, which is renamed when it is complete. Returns its path.

    `by_exam` has the share of the points that students have in exams on the lab. If it is empty, the report says nothing of exams.
    """
    worth, title = lab.points, f"{speak('Lab {name}', name=lab)}: {speak('class report')}"
    graded = [row for row in rows if row.verdicts]
    own = notebooks(graded)
    points = speak("{points:g} points by checks", points=sum(worth.values()))
    if any(row.penalty for row in graded):
        points = speak("{points}, after late penalties", points=points)
    counts = {"count": len(rows), "graded": len(graded), "points": points}
    about = speak("{count} submissions, {graded} graded; {points}.", **counts)
    if written := lab.written_points:
        about += " " + speak(
            "{written:g} more points are for the written answer, and not in the totals here.", written=written
        )
    if copies := len(graded) - len(own):
        about += " " + speak(
            "{copies} are copies of a group's notebook: of exercises and cases, a group counts once.", copies=copies
        )
    parts = []
    if graded:
        parts += [
            _warnings(graded, worth),
            _facts(graded, own, worth, lab.written_points),
            _totals(graded, sum(worth.values())),
            _exercises(own, worth),
            _diagnoses(own, worth),
            _need_help(lab, rows, worth),
        ]
    parts += [_map(lab, rows, worth, by_exam), _remarks(lab, rows)]
    if graded:
        parts.append(_cases(own))
    headings = re.findall(r'<h2 id="([^"]+)">([^<]+)</h2>', "".join(parts))
    links = "".join(f'<a href="#{key}">{heading}</a>' for key, heading in headings)
    about = f"<h1>{title}</h1><p>{about}</p>{_to_do(lab, rows)}<nav>{links}</nav>"
    path = lab.course.folder / f"report-{lab}.html"
    body = f"<main>{about}{''.join(parts)}</main><script>{_SCRIPT}</script>"
    write_page(path, title, _STYLE, body, language=language())
    return path


# HTML ----------------------------------------------------------------------------------------------------------------


def _to_do(lab: Lab, rows: list[Row]) -> str:
    """What is left until the class has its marks and feedback."""
    lines, command = [], lab.course.command
    if count := sum(bool(row.problem) for row in rows):
        said = speak("Submissions that could not be graded: {count}.", count=count)
        lines.append(f'{said} <a href="#look">{speak("The reasons are below.")}</a>')
    if count := sum(row.waiting for row in rows):
        lines.append(
            speak("Answers that wait for your mark: {count}, in the formgrader under Manual Grading.", count=count)
        )
    again = speak(
        "After that, {command} brings your marks into this report and the feedback.",
        command=_code(command(f"rushlight grade {lab.number}")),
    )
    send = _code(command(f"nbgrader release_feedback {lab}"))
    give = speak("{send}, in the course's folder, sends the feedback through nbgrader's exchange.", send=send)
    if downloads(lab):
        pack = _code(command(f"rushlight feedback {lab.number}"))
        give = speak("{pack} packs the feedback for Canvas or Moodle.", pack=pack)
    steps = [*lines, again, give] if lines else [give]
    return f"<h2>{speak('What is next')}</h2><ul>{''.join(f'<li>{step}</li>' for step in steps)}</ul>"


def _code(words: str) -> str:
    return f"<code>{escaped(words)}</code>"


def _facts(rows: list[Row], own: list[Row], worth: dict[str, float], written: float) -> str:
    totals, maximum = [row.total for row in rows], sum(worth.values())
    facts = {
        speak("median total"): _of(statistics.median(totals), maximum),
        speak("all points"): f"{totals.count(maximum)}",
        speak("no points"): f"{totals.count(0)}",
    }
    failures = {check: len(attempts(own, check)) * (1 - _share(own, check)) for check in worth}
    shares = {check: _share(own, check) for check in worth if attempts(own, check)}
    hardest = [check for check in shares if shares[check] == min(shares.values())]
    if any(failures[check] > 1 for check in hardest):  # one failure says nothing
        names = ", ".join(escaped(short_name(check)) for check in hardest)
        name = names if len(hardest) <= 3 else speak("{count} exercises", count=len(hardest))
        label = speak("hardest exercise") if len(hardest) == 1 else speak("hardest exercises")
        facts[label] = speak("{name}: {share:.0f} % pass", name=name, share=100 * shares[hardest[0]])
    if any(row.penalty for row in rows):
        facts[speak("median before late penalties")] = f"{statistics.median(row.earned for row in rows):g}"
    if has_other_marks(rows):
        mark = statistics.median(row.mark or 0.0 for row in rows)
        facts[speak("median mark, with points by hand")] = _of(mark, maximum + written)
    return "<dl>" + "".join(f"<div><dt>{name}</dt><dd>{value}</dd></div>" for name, value in facts.items()) + "</dl>"


def _share(rows: list[Row], check: str) -> float:
    """The share of those who attempted an exercise that passes."""
    tried = attempts(rows, check)
    return sum(row.outcome(check) == PASSED for row in tried) / len(tried) if tried else 0.0


def _of(points: float, maximum: float) -> str:
    return speak("{score} of {points}", score=f"{points:g}", points=f"{maximum:g}")


def _totals(rows: list[Row], maximum: float) -> str:
    """How many students have which total, in about `BINS` ranges of whole points. A part of a point does not count."""
    wide = max(1, math.ceil(maximum / BINS))
    counts = Counter(int(row.total) // wide for row in rows)
    most = max(counts.values())
    lines = ""
    for i in range(int(maximum) // wide + 1):
        first, last = i * wide, min((i + 1) * wide - 1, int(maximum))
        both = speak("{first} to {last}", first=first, last=last) if last > first else first
        bar = f'<span class="bar" style="width:{100 * counts[i] / most:.0f}%"></span>' if counts[i] else ""
        lines += f'<tr><td class="number">{both}</td><td>{bar}</td><td>{counts[i]}</td></tr>'
    label = speak("How many students have which total")
    return f'<h2 id="totals">{speak("Totals")}</h2><table class="bars" aria-label="{label}">{lines}</table>'


def _warnings(rows: list[Row], worth: dict[str, float]) -> str:
    warned = warnings(rows, worth)
    lines = "".join(
        f"<li><strong>{escaped(short_name(warning.check))}</strong>: {escaped(speak(warning.why))}</li>"
        for warning in warned
    )
    note = speak(
        "These exercises may be at fault themselves. Chance alone seldom explains it."
        " Read the exercise's text and the case before you change points."
    )
    return (
        f'<aside class="other"><h2>{speak("Early warning")}</h2><ul>{lines}</ul><p>{note}</p></aside>' if warned else ""
    )


def _exercises(rows: list[Row], worth: dict[str, float]) -> str:
    lines = []
    common: dict[str, str] = {}
    for check, case, _, count in cases(rows):
        common.setdefault(check, f"{count} × {in_one_line(case, 70)}")
    for check in worth:
        tried = attempts(rows, check)
        counts = Counter(row.outcome(check) for row in rows)
        share = _share(rows, check)
        others = ", ".join(f"{speak(outcome)}: {count}" for outcome, count in counts.most_common() if outcome != PASSED)
        bar = f'<span class="share" aria-hidden="true"><span style="width:{100 * share:.0f}%"></span></span>'
        part = speak("{share:.0f} % of {count}", share=100 * share, count=len(tried))
        lines.append(
            f'<tr><th scope="row" data-key="{escaped(check)}">{breakable(short_name(check))}</th>'
            f'<td class="number" data-key="{worth[check]}">{worth[check]:g}</td>'
            f'<td data-key="{share}">{bar}<span>{part}</span></td>'
            f'<td data-key="{escaped(others)}">{escaped(others)}</td>'
            f'<td data-key="{escaped(common.get(check, ""))}"><code>{escaped(common.get(check, ""))}</code></td></tr>'
        )
    note = speak("Of the students who attempted an exercise, the share that passes.")
    heads = [speak("exercise"), speak("points"), speak("pass"), speak("otherwise"), speak("most common case")]
    return _section("exercises", speak("Exercises"), note, heads, lines, "wide")


def _diagnoses(rows: list[Row], worth: dict[str, float]) -> str:
    """How many guesses the diagnoses of a lab of the clinic took. Such an exercise has a check of its first guess alone."""
    lines = []
    for check in worth:
        if (first := check + FIRST_GUESS) in worth:
            tried = attempts(rows, check)
            once = sum(row.outcome(first) == PASSED for row in tried)
            twice = sum(row.outcome(check) == PASSED for row in tried) - once
            counts = (once, twice, len(tried) - once - twice)
            cells = "".join(f'<td class="number" data-key="{count}">{count}</td>' for count in counts)
            lines.append(
                f'<tr><th scope="row" data-key="{escaped(check)}">{breakable(short_name(check))}</th>{cells}</tr>'
            )
    note = speak(
        "The number of students who named the function at fault by their first guess, by their second, or not at all."
    )
    heads = [speak("diagnosis"), speak("first guess"), speak("second guess"), speak("not found")]
    return _section("diagnoses", speak("Diagnoses"), note, heads, lines) if lines else ""


def _need_help(lab: Lab, rows: list[Row], worth: dict[str, float]) -> str:
    """Those who try and do not get on, the fewest points first, those who have attempted nothing, and those without a grade."""
    lines, graded = [], [row for row in rows if row.verdicts]
    for row in sorted(graded, key=lambda row: row.total):
        tried = _tried(row)
        open_ = [check for check in tried if row.outcome(check) != PASSED]
        if (len(tried) >= TRIED and 2 * len(open_) > len(tried)) or (tried and 2 * row.earned <= sum(worth.values())):
            student, names = escaped(row.student), escaped(", ".join(map(short_name, open_)))
            lines.append(
                f'<tr><th scope="row" data-key="{student}">{_linked(lab, row)}</th>'
                f'<td class="number" data-key="{row.total}">{row.total:g}</td>'
                f'<td class="number" data-key="{len(tried) - len(open_)}">{len(tried) - len(open_)}</td>'
                f'<td class="number" data-key="{len(tried)}">{len(tried)}</td><td data-key="{names}">{names}</td></tr>'
            )
    note = speak(
        "Students who have half of the points or less, and those who attempted {count} checks or more, and pass less than half of"
        " these. The fewest points come first.",
        count=TRIED,
    )
    heads = [speak("student"), speak("total"), speak("pass"), speak("attempted"), speak("do not pass")]
    none = [row for row in graded if not _tried(row)]
    others = {
        phrase("Nothing was attempted by {count}: {names}."): [row for row in none if not row.edited],
        phrase("Nothing was attempted, and check cells were changed, by {count}: {names}."): [
            row for row in none if row.edited
        ],
        phrase("The submissions of {count} could not be graded: {names}."): [row for row in rows if row.problem],
    }
    said = " ".join(
        speak(text, count=len(those), names=", ".join(_linked(lab, row) for row in those))
        for text, those in others.items()
        if those
    )
    title = speak("Who may need help")
    if said and not lines:
        return _section("help", title, note, heads, [], empty=said)
    return _section("help", title, note, heads, lines, "help") + (f"<p>{said}</p>" if said else "")


def _tried(row: Row) -> list[str]:
    return [check for check in row.verdicts if row.outcome(check) != NOT_ATTEMPTED]


def _page(lab: Lab, row: Row) -> str:
    return f"feedback/{quote(row.student, errors='replace')}/{lab}/{lab}.html"


def _linked(lab: Lab, row: Row) -> str:
    """A student's name, which leads to the student's page if there is one."""
    name = escaped(row.student)
    has_page = row.verdicts or is_refused(Submission(lab, row.student))
    return f'<a href="{_page(lab, row)}">{name}</a>' if has_page else f"<span>{name}</span>"


def _map(lab: Lab, rows: list[Row], worth: dict[str, float], by_exam: Mapping[str, float]) -> str:
    lines, late, other = [], any(row.penalty for row in rows), has_other_marks(rows)
    for row in rows:
        page = _page(lab, row)
        name = escaped(row.student)
        flag = f' <span title="{speak("changed check cells, which were put back")}">{FLAG}</span>' if row.edited else ""
        flag += f' <span title="{speak("an answer waits for its mark")}">{WAITS}</span>' if row.waiting else ""
        who = _linked(lab, row) + flag
        cells = [_cell(row, check, f"{page}#{lab.release.check_ids[check]}") for check in worth]
        numbers = [(-row.penalty, f"-{row.penalty:g}" if row.penalty else "")] if late else []
        numbers.append((-1, UNGRADED[1]) if row.problem else (row.total, f"{row.total:g}"))
        numbers += [(row.mark or 0.0, "" if row.mark is None else f"{row.mark:g}")] if other else []
        shares = [_by_lab(row, worth), by_exam.get(row.student)] if by_exam else []
        numbers += [(-1, "") if share is None else (share, f"{100 * share:.0f} %") for share in shares]
        totals = [f'<td data-key="{key}"><span>{number}</span></td>' for key, number in numbers]
        lines.append(
            f'<tr><th scope="row" data-key="{name}"><div class="who">{who}</div></th>{"".join(totals + cells)}</tr>'
        )
    note = speak(
        "✓ passed, ✗ disagreed, – not attempted, ! something else, ○ not graded. A cell leads to the"
        " student's feedback. A click on a heading sorts. ⚑ marks a notebook with changed check cells, which"
        " grading put back, and such a cell of an exercise"
        " that is not attempted."
    )
    note += (
        " " + speak("✎ marks a student with an answer that waits for its mark.")
        if any(row.waiting for row in rows)
        else ""
    )
    total = speak("The total is the points of the checks.")
    note += " " + (speak("The total is the points of the checks, less the late penalty.") if late else total)
    note += " " + speak("The mark is in the gradebook, with points by hand.") if other else ""
    note += " " + _relation(rows, worth, by_exam) if by_exam else ""
    numbers = [*[speak("late")] * late, speak("total"), *[speak("mark")] * other]
    numbers += [speak("by lab"), speak("by exam")] if by_exam else []
    heads = [speak("student"), *numbers, *map(short_name, worth)]
    title, search, no_match = (
        speak("Students and exercises"),
        speak("Show only students with"),
        speak("No student matches."),
    )
    table = _section("students", title, note, heads, lines, "map", search, no_match, "ascending")
    return table + _other_outcomes(rows, worth)


def _other_outcomes(rows: list[Row], worth: dict[str, float]) -> str:
    """What the map's cells with an exclamation mark mean, in words: a phone and a keyboard cannot hover over a cell."""
    others = [
        f"<li>{escaped(row.student)}, {escaped(short_name(check))}: {escaped(speak(row.outcome(check)))}</li>"
        for row in rows
        for check in worth
        if check in row.verdicts and row.outcome(check) not in MARKS
    ]
    title = speak("What ! means in the table: {count}", count=len(others))
    return f"<details><summary>{title}</summary><ul>{''.join(others)}</ul></details>" if others else ""


def _by_lab(row: Row, worth: dict[str, float]) -> float | None:
    """The share of the points of the checks that a student earned, before a late penalty."""
    return row.earned / sum(worth.values()) if row.verdicts else None


def _relation(rows: list[Row], worth: dict[str, float], by_exam: Mapping[str, float]) -> str:
    """How the shares by lab and by exam go together in the class, if enough students have both."""
    said = speak(
        "By lab is the share of the points of the checks, before a late penalty. By exam is the share of the points in exams on"
        " this lab, without items that wait for a mark."
    )
    shares = [(_by_lab(row, worth), by_exam.get(row.student)) for row in rows]
    pairs = [(lab, exam) for lab, exam in shares if lab is not None and exam is not None]
    value = rank_correlation(pairs) if len(pairs) >= IN_EACH else None
    if value is None:
        return said
    return f"{said} " + speak(
        "Of {count} students who have both, the rank correlation of the two is {value}: 1 is one order, 0 is no relation.",
        count=len(pairs),
        value=f"{value:.2f}",
    )


def _cell(row: Row, check: str, link: str) -> str:
    if check not in row.verdicts:
        kind, mark = UNGRADED
        label = escaped(f"{row.student}, {check}: {speak('not graded')}")
        return (
            f'<td class="{kind}" data-key="-1"><span role="img" title="{label}" aria-label="{label}">{mark}</span></td>'
        )
    outcome = row.outcome(check)
    kind, mark = MARKS.get(outcome, OTHER)
    label = escaped(f"{row.student}, {check}: {speak(outcome)}")
    if check in row.edited:
        label += f", {speak('changed check cell')}"
        kind, mark = (OTHER[0], FLAG) if outcome == NOT_ATTEMPTED else (kind, mark)
    key = ["none", "other", "fail", "pass"].index(kind)
    return f'<td class="{kind}" data-key="{key}"><a href="{link}" title="{label}" aria-label="{label}">{mark}</a></td>'


def _remarks(lab: Lab, rows: list[Row]) -> str:
    said = [(row, row.problem) for row in rows if row.problem]
    said += [(row, line) for row in rows for line in (row.again, row.late()) if line]
    said += [(row, line) for row in rows for line in (*row.joined, *row.borrowed(), *row.drawn_for_others())]
    said += [
        (row, f"{speak('changed check cells, put back for grading')}: {', '.join(map(short_name, row.edited))}")
        for row in rows
        if row.edited
    ]
    lines = [
        f'<tr><th scope="row" data-key="{escaped(row.student)}">{_linked(lab, row)}</th>'
        f'<td data-key="{escaped(line)}">{escaped(line)}</td></tr>'
        for row, line in ((row, speak(remark)) for row, remark in said)
    ]
    return _section("look", speak("Look at these"), "", [speak("student"), speak("remark")], lines) if lines else ""


def _cases(rows: list[Row]) -> str:
    lines = [
        f'<tr><td class="number" data-key="{count}">{count}</td>'
        f'<td data-key="{escaped(check)}">{breakable(short_name(check))}</td>'
        f'<td data-key="{escaped(message)}"><pre>{escaped(speak(message))}</pre></td>'
        f'<td data-key="{escaped(case)}"><pre>{escaped(case)}</pre></td></tr>'
        for check, case, message, count in cases(rows)
    ]
    note = speak(
        "The smallest case on which a student's answer and torch differ, and the number of students who have it."
    )
    heads = [speak("students"), speak("exercise"), speak("what differs"), speak("case")]
    search, no_match = speak("Show only cases with"), speak("No case matches.")
    return _section("cases", speak("Cases"), note, heads, lines, "", search, no_match, "descending")


def _section(
    key: str,
    title: str,
    note: str,
    heads: list[str],
    lines: list[str],
    kind: str = "",
    search: str = "",
    no_match: str = "",
    order: str = "",
    empty: str = "",
) -> str:
    """A heading, a note, and a table in a box of its own, which scrolls where the page does not. The table's headings sort it, and
    `order` is that of its first column. With `search`, a field above leaves only the rows that have its text, or says `no_match`.
    Without lines the section says `empty`."""
    heading = f'<h2 id="{key}">{title}</h2><p class="note">{note}</p>' if note else f'<h2 id="{key}">{title}</h2>'
    if not lines:
        return f"{heading}<p>{empty or speak('None.')}</p>"
    field = search and f'<label>{search} <input type="search"></label><div role="status"><p hidden>{no_match}</p></div>'
    orders = [f' aria-sort="{order}"' if order else "", *[""] * len(heads)]
    head = "".join(
        f'<th scope="col"{order}><button type="button">{breakable(name)}</button></th>'
        for name, order in zip(heads, orders)
    )
    return (
        f'{heading}{field}<div class="box" role="region" tabindex="0" aria-label="{escaped(title)}">'
        f'<table class="{kind}"><thead><tr>{head}</tr></thead><tbody>{"".join(lines)}</tbody></table></div>'
    )
