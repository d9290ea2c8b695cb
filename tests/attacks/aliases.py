"""Calls another function of the course under another name. The points stay, and the line of each student says so."""

import nbformat

from attacks import exercise_cells, put
from autograder.model import exercise_name

FORMS = {  # of the body, and of a cell before it
    "alias_by_name": ("from rushlight.c10.memory_formats import dense_strides\nreturn dense_strides(sizes)", ""),
    "alias_by_module": ("return formats.dense_strides(sizes)", "from rushlight.c10 import memory_formats as formats"),
    "alias_by_import": ("return own(sizes)", "from rushlight.c10.memory_formats import dense_strides as own"),
    "alias_by_known_name": (
        "from rushlight.c10.memory_formats import dense_strides as permute\nreturn permute(sizes)",
        "",
    ),
    "alias_by_helper": (
        "return own(sizes)",
        "from rushlight.c10.memory_formats import dense_strides\n\ndef own(sizes):\n    return dense_strides(sizes)",
    ),
    "alias_by_lambda": (
        "return (lambda own: formats.dense_strides(own))(sizes)",
        "from rushlight.c10 import memory_formats as formats",
    ),
    "alias_by_partial": (
        "return functools.partial(formats.dense_strides, sizes)()",
        "import functools\nfrom rushlight.c10 import memory_formats as formats",
    ),
    "alias_by_getattr": (
        "return getattr(formats, 'dense_strides')(sizes)",
        "from rushlight.c10 import memory_formats as formats",
    ),
    "alias_by_method": (
        "return Own().strides(sizes)",
        "from rushlight.c10.memory_formats import dense_strides\n\nclass Own:\n    strides = staticmethod(dense_strides)",
    ),
}
STUDENTS = [*FORMS]
TOLD = "contiguous_strides only calls dense_strides"  # what a line must say of points that stay


def hand_in(folder):
    path = folder / f"{folder.name}.ipynb"
    notebook = nbformat.read(path, as_version=4)
    body, cell = FORMS[folder.parent.name]
    exercise = next(c for c in exercise_cells(notebook) if exercise_name(c) == "aten.strided.contiguous_strides")
    stub = exercise.source.index("    # YOUR CODE HERE")
    exercise.source = exercise.source[:stub] + "".join(f"    {line}\n" for line in body.splitlines())
    put(notebook, cell)
    nbformat.write(notebook, path)
