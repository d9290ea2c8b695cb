"""Commands of `rushlight`, one after the other in one process: to start one takes up to five seconds of a core."""

import json
from collections.abc import Callable
from subprocess import CompletedProcess

SOURCE = """
import json, sys
from autograder import cli
for words in json.loads(sys.argv.pop()):
    sys.argv[1:] = words
    try:
        cli.main()
    except SystemExit as end:
        code = end.code or 0
    if isinstance(code, str):
        print(code, file=sys.stderr)
        code = 1
    for stream in sys.stdout, sys.stderr:
        print(f"==={code}===", file=stream, flush=True)
"""


def run_each(python: Callable[..., CompletedProcess], *commands: tuple[str, ...]) -> list[CompletedProcess]:
    """What each of some commands gives. `python(argument, ...)` runs Python."""
    done = python("-c", SOURCE, json.dumps(commands))
    assert done.returncode == 0, done.stdout + done.stderr
    results, output, error = [], done.stdout, done.stderr
    for words in commands:
        said, code, output = _cut(output)
        complained, _, error = _cut(error)
        results.append(CompletedProcess(words, code, said, complained))
    return results


def _cut(text: str) -> tuple[str, int, str]:
    said, code, rest = text.split("===", 2)
    return said, int(code), rest.removeprefix("\n")
