"""A paper for the tests of the desk, the sheets and the book."""

from autograder.exam.paper import Field, Item, Paper

CODE = " def first(x, dim):\n     if dim < 0:\n         return x\n     return x[dim:]"


def paper(student="ada", minutes=40, language="en", secret="00"):
    changed = ["Your `first` of lab 01a:", CODE, "Give an input, <b>any</b> & the line."]
    fields = [Field("1.x", "`x`", "value", 2.0, "[1]"), Field("1.dim", "`dim`", "value", 0.0, "0")]
    items = [
        Item("1", "`first`, changed", changed, [*fields, Field("1.line", "The line", "number", 1.0)]),
        Item(
            "2", "What does it give?", [CODE], [Field(f"2.{letter}", f"({letter})", "value", 1.0) for letter in "abc"]
        ),
        Item("3", "Why line 2?", [CODE], [Field("3.why", "In a few sentences", "text", 3.0)]),
    ]
    return Paper("exam_01a", student, "K7Q-X2M", minutes, language, items, secret)
