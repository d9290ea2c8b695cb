"""Measures the size of the course: lines of code by room, and the sizes of its notebooks.

    python bench/weight.py

A line of code is a line with more on it than a comment or a docstring. The generated part of the framework is counted apart.
"""

import io
import tokenize
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
WRITTEN = ("labs", "phases", "solutions")  # the folders that have notebooks
NO_CODE = {tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER}


def code_lines(source: str) -> int:
    """Count the lines of code. A statement that is only a string is a docstring."""
    lines: set[int] = set()
    for statement in statements(source):
        if {token.type for token in statement} != {tokenize.STRING}:
            lines.update(*(range(token.start[0], token.end[0] + 1) for token in statement))
    return len(lines)


def statements(source: str) -> Iterator[list[tokenize.TokenInfo]]:
    """Split the tokens of a module at the ends of its logical lines, without comments and indentation."""
    statement: list[tokenize.TokenInfo] = []
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type not in NO_CODE:
            statement.append(token)
        elif token.type == tokenize.NEWLINE:
            yield statement
            statement = []


def room_of(path: Path) -> str:
    """`aten` for `rushlight/aten/strided.py`, `generated` for generated code, `.` for a module of the package itself."""
    room, *below = path.relative_to(ROOT).parts[1:]
    return "." if not below else "generated" if "generated" in below else room


def code_by_room(package: str) -> Counter[str]:
    rooms: Counter[str] = Counter()
    for path in (ROOT / package).rglob("*.py"):
        rooms[room_of(path)] += code_lines(path.read_text(encoding="utf-8"))
    return rooms


def notebooks() -> dict[Path, int]:
    """The size in bytes of each notebook of the tree."""
    return {path: path.stat().st_size for folder in WRITTEN for path in (ROOT / folder).rglob("*.ipynb")}


def table(head: str, unit: str, rows: Iterable[tuple[str, int]]) -> str:
    return (
        "\n".join([f"| {head} | {unit} |", "|---|---:|", *(f"| {name} | {count:,} |" for name, count in rows)]) + "\n"
    )


def by_size(rooms: dict[str, int]) -> list[tuple[str, int]]:
    return sorted(((f"`{room}`", count) for room, count in rooms.items()), key=lambda row: -row[1])


def main() -> None:
    framework, grader = code_by_room("rushlight"), code_by_room("autograder")
    others = {name: code_by_room(folder).total() for name, folder in (("answers", "solutions"), ("tests", "tests"))}
    others = {"checks": grader.pop("checks")} | others
    generated = {"framework, generated": framework.pop("generated")}
    clinic = {"answers of the clinic": framework.pop("clinic")}  # no part of the framework
    totals = {"framework, by hand": framework.total(), **generated, **clinic, "grader": grader.total(), **others}
    print(table("code", "lines", totals.items()))
    print(table("in `rushlight/`", "lines by hand", by_size(framework)))
    print(table("in `autograder/`", "lines", by_size(grader)))

    sizes = {str(path.relative_to(ROOT)): size // 1000 for path, size in notebooks().items()}
    folders: Counter[str] = Counter()
    for name, size in sizes.items():
        folders[name.partition("/")[0]] += size
    print(table("notebooks", "kB", [*by_size(folders), ("all", folders.total())]))
    print(table("the ten largest", "kB", by_size(dict(Counter(sizes).most_common(10)))))


if __name__ == "__main__":
    main()
