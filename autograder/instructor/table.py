"""The small tables that an instructor keeps beside the gradebook: late policies, extensions, groups."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from pathlib import Path

from ..course import printable
from ..observe import GradingError


def read_rows(path: Path, columns: tuple[str, ...], more: tuple[str, ...] = ()) -> Iterator[dict[str, str]]:
    """The rows of a CSV file, without blanks around a cell; none if there is no file. A cell of `more` may be missing.

    Raises GradingError, with what is wrong, if the file is something else.
    """
    try:
        with path.open(newline="", encoding="utf-8-sig") as file:
            rows = list(csv.reader(file))
    except FileNotFoundError:
        return
    except OSError as error:
        raise GradingError(f"{path} cannot be read: {error.strerror.lower()}") from None
    except (UnicodeDecodeError, csv.Error):
        raise GradingError(f"{path} is not a CSV file in UTF-8") from None
    head = [cell.strip() for cell in rows[0]] if rows else []
    if not {*columns} <= {*head}:
        has = printable(", ".join(head)) or "none"
        raise GradingError(f"{path} needs the columns {', '.join(columns)}, between commas; it has: {has}")
    for row in rows[1:]:
        if any(map(str.strip, row)):
            yield dict.fromkeys([*columns, *more], "") | dict(zip(head, map(str.strip, row), strict=False))
