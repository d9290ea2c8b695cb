"""A paper of an exam with five items: two about a line of a function, two about results, and one with sentences."""

from autograder.exam import paper
from autograder.exam.paper import Field, Item, Paper

WORD = "abcd-efgh-jkmn-pqrs"
CODE = """\
     1  def contiguous_strides(sizes):
     2      strides, step = [], 1
     3      for size in reversed(sizes):
     4          strides.append(step)
     5          step *= max(size, 1)
     6      return tuple(reversed(strides))"""
LONG = """\
     1  def broadcast_shapes(*shapes):
     2      length = max(map(len, shapes), default=0)
     3      result = [1] * length
     4      for shape in shapes:
     5          for position, size in enumerate(reversed(shape)):
     6              if size != 1 and result[length - 1 - position] not in (1, size):  # the sizes at a position do not fit
     7                  raise RuntimeError(f"Shape mismatch: <objects> & {shape}")
     8              result[length - 1 - position] = max(size, result[length - 1 - position])
     9      return tuple(result)"""


def line_item(key: str, name: str, code: str, parameters: dict[str, str]) -> Item:
    values = [Field(f"{key}.{each}", f"`{each}`", "value", 1.0, given) for each, given in parameters.items()]
    text = (
        f"Give arguments of `{name}` for which the line runs, and its number: the line with `max` is not run for `()`."
    )
    line = Field(f"{key}.line", "Number of the line", "number", 2.0)
    return Item(key, f"A line of `{name}`", ["This is your function.", code, text], [*values, line])


def sample(student: str = "ada", minutes: int = 60, language: str = "en", secret: str = "s3cret") -> Paper:
    items = [
        line_item("1", "contiguous_strides", CODE, {"sizes": "(2, 3)"}),
        line_item("2", "broadcast_shapes", LONG, {"shape": "(1,)", "other": "(1,)"}),
        Item(
            "3",
            "What does it return?",
            ["Write what your `contiguous_strides` returns.", "    contiguous_strides((2, 3, 4))\n    contiguous_strides(())"],
            [Field(f"3.{name}", f"The {name} call", "value", 1.0) for name in ("first", "second", "third")],
        ),
        Item("4", "After a change", ["In line 5 of `contiguous_strides`, `max(size, 1)` becomes `size`."], [
            Field("4.sizes", "Sizes for which the result differs", "value", 2.0, "()"),
        ]),
        Item("5", "Why?", ["Why is the loop in <b>reversed</b> order?"], [Field("5.text", "Two sentences", "text", 4.0)]),
    ]  # fmt: skip
    return Paper("exam_01a_02b", student, "K7", minutes, language, items, secret)


def sealed(folder, given: Paper | None = None):
    """The path of a sealed paper."""
    given = given or sample()
    path = folder / f"{given.student}{paper.SUFFIX}"
    paper.seal(given, WORD, path)
    return path
