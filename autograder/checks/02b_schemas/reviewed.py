"""A student's review of changes to `parse_argument`."""

from __future__ import annotations

import re

from ...engine.check import program
from ..cases import no_cases, reviewing

REVIEW, CHANGES = "course.reviews.review_parse_argument", "02b.review_parse_argument"


@program(f"{REVIEW}.four", cases=no_cases, edges=[{}], examine=reviewing(CHANGES, 4))
def review_four(xp):
    return xp.reviews.review_parse_argument()


@program(REVIEW, cases=no_cases, edges=[{}], examine=reviewing(CHANGES, 5))
def review_all(xp, **case):
    """The decisions, or what `parse_argument` reads in the text of a case."""
    if not case:
        return xp.reviews.review_parse_argument()
    read = xp.schema.parse_argument(case["text"])
    default = read.default if read.has_default else "(required)"
    return {"name": read.name, "type": read.type, "alias": read.alias, "default": default}


@review_all.oracle
def _(torch, text):
    """Torch reads and writes a schema with this argument, or with this return if it has no name."""
    try:
        schema = torch._C.parse_schema(f"f({text}) -> ()")
        (read,), written = schema.arguments, str(schema)[2:-7]
    except (RuntimeError, ValueError):
        schema = torch._C.parse_schema(f"f() -> {text}")
        (read,), written = schema.returns, str(schema).partition("-> ")[2]
    type = written.partition("=")[0].removesuffix(read.name).strip()
    alias = type.partition("(")[2].partition(")")[0]
    default = read.default_value if read.has_default_value() else "(required)"
    return {"name": read.name, "type": re.sub(r"\(.*\)", "", type), "alias": alias, "default": default}
