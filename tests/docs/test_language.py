"""Habits of language that make a sentence hard to read, as far as a script can see them: in readings, labs and the manual."""

import re
from pathlib import Path

import pytest
from sweep import in_one_test

ROOT = Path(__file__).parents[2]
PAGES = sorted(
    [*ROOT.glob("phases/*/reading.md"), *ROOT.glob("solutions/*/*.md"), *ROOT.glob("docs/*.md"), ROOT / "README.md"]
)
HABITS = {
    "an indefinite subject": r"\b([Ss]omebody|[Ss]omeone|[Nn]obody|[Ww]hoever|[Ww]ho wants)\b",
    "a semicolon": r"; ",
    "a clause as the subject": r"(?:^|(?<=[.!?] ))(?:What (?![^.]*\?)[^.?]{3,60}(?:,| is| are)"  # which is no question
    r"|Of (?:what|which)\b|That [^.?]{3,60}, is)",
    "a riddle": r"\b(anew|by decree|wants a word|books|stands for|stand for|lies|lie|comes by|come by)\b",
}


def prose(page: Path) -> list[tuple[int, str]]:
    """The lines outside code, tables and markup, without inline code, links' addresses and formulas."""
    found, fenced, metadata = [], False, 0
    for number, line in enumerate(page.read_text().splitlines(), 1):
        metadata += line == "---" and metadata < 2 and (number == 1 or metadata == 1)
        fenced ^= line.lstrip().startswith(("```", "~~~"))
        if fenced or metadata == 1 or line.lstrip().startswith(("```", "~~~", "|", "<", "    ", "#|")):
            continue
        found.append((number, re.sub(r"`[^`]*`|\$[^$]*\$|\]\([^)]*\)|<[^>]*>", "", line)))
    return found


def habits(page: Path) -> list[str]:
    return [
        f"{page.relative_to(ROOT)}:{number}: {name}: {match[0]!r}"
        for number, line in prose(page)
        for name, pattern in HABITS.items()
        for match in re.finditer(pattern, line)
    ]


@in_one_test
@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_no_sentence_of_a_page_has_a_habit_that_makes_it_hard_to_read(page):
    assert not habits(page), "\n".join(habits(page))


def test_no_line_of_a_paragraph_begins_as_an_item_of_a_list():
    """Markdown may take `128. For 20 …`, the end of a sentence, for one."""
    found = []
    for page in PAGES:
        lines = prose(page)
        for (_, before), (number, line) in zip(lines, lines[1:]):
            if re.match(r"\d+[.)] ", line) and before.strip() and not re.match(r"\s|\d+[.)] |<!--", before):
                found.append(f"{page.relative_to(ROOT)}:{number}: {line[:40]}")
    assert found == []
