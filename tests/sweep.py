"""What `make test` leaves out. A test that is marked `sweep` runs in `make test-all` only, which is `pytest -m ""`.

What takes long is represented in `make test` by a choice that is the same at every commit: by names, or by a rule.
"""

from collections.abc import Collection, Sequence

import pytest


def sweep(items: Sequence, keep: Collection = (), every: int = 1) -> list:
    """Parameters of a test: `make test` tries those in `keep`, or else the first and one in `every`; the others are marked."""
    stay = [item in keep if keep else position % every == 0 for position, item in enumerate(items)]
    return [
        item if stays else swept(*item) if isinstance(item, tuple) else swept(item) for item, stays in zip(items, stay)
    ]


def swept(*values, id: str | None = None):
    """A parameter that only `make test-all` tries."""
    return pytest.param(*values, id=id, marks=pytest.mark.sweep)
