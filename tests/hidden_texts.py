"""Hidden texts: a student's answer that looks for them in its process, in the stack, in memory and in files."""

import copy

import nbformat

from autograder.engine.edition import edition
from autograder.engine.run import run
from autograder.model import Lab, exercise_name

LOOKS = """
@exercise(rl.{module})
def {name}():
    import gc, pathlib, sys

    texts, frame = [], sys._getframe()
    while frame:
        texts += [value for names in (frame.f_locals, frame.f_globals) for value in names.values() if type(value) is str]
        texts += [value for value in frame.f_code.co_consts if type(value) is str]
        frame = frame.f_back
    texts += [value for value in gc.get_objects() if type(value) is str]
    for place in {{*map(pathlib.Path, sys.path)}}:
        for pattern in ("autograder/**/*.*", "rushlight/course/{module}.py"):
            texts += [path.read_text(errors="replace") for path in place.glob(pattern) if path.is_file()]
    raise LookupError(len(texts) > 50, [word for word in BACKWARDS if any(word[::-1] in text for text in texts)])
"""


def verdicts_on(judge, lab: Lab, exercise: str, source: str):
    """The verdicts on a lab in which this exercise alone is written."""
    notebook = nbformat.from_dict(copy.deepcopy(lab.release.nodes))
    next(cell for cell in notebook.cells if exercise_name(cell) == exercise).source = source
    return run(notebook, lab, judge)


def assert_hidden(judge, lab: Lab, exercise: str, words: list[str]) -> None:
    """No answer to the exercise finds one of the words, and the lab's edition has none."""
    texts = [path.read_text(errors="replace") for path in edition(lab).rglob("*.py")]
    assert not [word for word in words if any(word in text for text in texts)]
    module, name = exercise.split(".")[1:]
    source = f"BACKWARDS = {[word[::-1] for word in words]}\n{LOOKS.format(module=module, name=name)}"
    assert verdicts_on(judge, lab, exercise, source)[exercise].message == "LookupError: (True, [])"
