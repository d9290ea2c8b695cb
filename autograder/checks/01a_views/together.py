"""The check that runs all pieces of the lab together."""

from __future__ import annotations

from ...engine.check import program
from ..cases import words
from ..shared_01 import _chained, _chains

# All together --------------------------------------------------------------------------------------------------------


_STRIDED = words("transpose permute select narrow unsqueeze as_strided")


@program("together.strided_views", cases=lambda st: _chains(st, _STRIDED))
def strided_views(xp, x, steps):
    return _chained(x, steps)
