"""Answers from a table of torch's results for the edge cases, which anyone can read, and guesses the rest from it.

Where the edges are all the cases that there are, a table is a right answer: those checks are left alone. So are those that examine
an answer, which draw no cases.
"""

import json
import zlib

from attacks import LAB, put
from autograder.engine.check import registry
from autograder.engine.judge import Judge
from autograder.engine.observe import encode


def attack(notebook):
    judge, table = Judge(0), {}
    for check in registry().values():
        if check.lab == LAB and not check.examine and len(judge.drawn(check)[0]) > len(check.edges):
            cases = [json.dumps(case, sort_keys=True) for case in check.edges]
            table[check.name] = dict(zip(cases, map(judge.answer, [check] * len(cases), check.edges)))
    prepared = zlib.compress(encode(table), 9)
    for start in range(0, len(prepared), 5000):  # a cell has a limit
        put(notebook, f"prepared = globals().get('prepared', b'') + {prepared[start : start + 5000]!r}")
    put(notebook, SOURCE)


SOURCE = """
import io, json, sys, zlib
from autograder.engine.observe import receive

table = receive(io.BytesIO(zlib.decompress(prepared)))

def answer(name, cases):
    known = table.get(name)
    common = max(known.values(), key=[*known.values()].count) if known else None
    return [(known or {}).get(json.dumps(case, sort_keys=True), common) for case in cases]

sys.modules["autograder.engine.subject"].answer = answer
"""
