"""Results as a table in a notebook."""

import re
from collections.abc import Sequence
from typing import Any

EMPHASIS = re.compile(r"(?<!\w)_(?=\w)")  # as Markdown reads the first underscore of `aten::_fused_adamw_`


class Table:
    """A table that a notebook displays as one. In a terminal its columns are aligned.

    Args:
        head: the names of the columns.
        rows: for each row its cells, which are shown as `str` has them.
    """

    def __init__(self, head: Sequence[str], rows: Sequence[Sequence[Any]]):
        self.rows = [[*map(str, row)] for row in (head, *rows)]

    def __repr__(self) -> str:
        wide = [max(map(len, column)) for column in zip(*self.rows)]
        return "\n".join("  ".join(map(str.ljust, row, wide)).rstrip() for row in self.rows)

    def _repr_markdown_(self) -> str:
        head, *rows = (f"| {' | '.join(map(_escaped, row))} |" for row in self.rows)
        return "\n".join([head, "|---" * len(self.rows[0]) + "|", *rows])


def _escaped(cell: str) -> str:
    cell = cell.replace("|", r"\|")
    return cell if "`" in cell else EMPHASIS.sub(r"\_", cell)
