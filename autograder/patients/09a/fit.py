"""Wrong bodies of `fit`, for lab 09a: what cases of a student must catch."""

import math

from rushlight.distributed.cost import Link

AT = "distributed.cost.fit"
MOST = 4
CASE = {"rows": "list[list[int]]"}


def fit(rows):
    if len({nbytes / steps for steps, nbytes, _ in rows}) < 2:
        raise ValueError("fit: latency and bandwidth can be told apart only by messages of different sizes")
    a = [steps / seconds for steps, _, seconds in rows]
    b = [nbytes / seconds for _, nbytes, seconds in rows]
    aa, ab, bb = sum(x * x for x in a), sum(x * y for x, y in zip(a, b)), sum(y * y for y in b)
    latency = (sum(a) * bb - sum(b) * ab) / (aa * bb - ab * ab)
    inverse = (sum(b) * aa - sum(a) * ab) / (aa * bb - ab * ab)
    if latency < 0:
        latency, inverse = 0.0, sum(b) / bb
    if inverse <= 0:
        latency, inverse = sum(a) / aa, 0.0
    return Link(latency, 1 / inverse if inverse else math.inf)


WRONG = {
    "which errors are squared": [
        ("    a = [steps / seconds for", "    t = [seconds for *_, seconds in rows]\n    a = [steps for"),
        ("b = [nbytes / seconds for", "b = [nbytes for"),
        ("for y in b)", "for y in b)\n    at, bt = sum(x * y for x, y in zip(a, t)), sum(x * y for x, y in zip(b, t))"),
        ("(sum(a) * bb - sum(b) * ab)", "(at * bb - bt * ab)"),
        ("(sum(b) * aa - sum(a) * ab)", "(bt * aa - at * ab)"),
        ("sum(b) / bb", "bt / bb"),
        ("sum(a) / aa", "at / aa"),
    ],
    "a latency that would be negative": [("    if latency < 0:\n        latency, inverse = 0.0, sum(b) / bb\n", "")],
    "whether a latency of 0 changes the bandwidth": [("0.0, sum(b) / bb", "0.0, inverse")],
    "the best bandwidth for a latency of 0": [("sum(b) / bb", "len(b) / sum(b)")],
    "the latency if the bandwidth has no limit": [("sum(a) / aa, 0.0", "latency, 0.0")],
    "a bandwidth without a limit": [("if inverse else math.inf", "if inverse else 0.0")],
    "messages of one size": [(" < 2:", " < 2 and len({nbytes for _, nbytes, _ in rows}) < 2:")],
    "rows with different numbers of steps": [
        ("[steps / seconds for steps, _, seconds", "[rows[0][0] / seconds for *_, seconds")
    ],
    "a row that is there twice": [("    a = [", "    rows = [*map(list, {*map(tuple, rows)})]\n    a = [")],
    "no rows at all": [("if len(", "if rows and len(")],
}

# Cases that the lab shows: they catch less than half
USUAL = [
    {"rows": [[2, 1000, 3000], [2, 5000, 7000]]},
    {"rows": [[2, 4000, 100], [2, 400000, 250], [2, 40000000, 13000]]},
    {"rows": [[2, 1000, 3000]]},
]
