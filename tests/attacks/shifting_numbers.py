"""Returns int, str, float and tuple subclasses whose value, length and items differ each time they are read."""


def answer():
    import random

    class Int(int):
        __int__ = __index__ = lambda self: random.choice([0, 1, 2, 3])
        __abs__ = lambda self: 0  # noqa: E731
        __repr__ = lambda self: "[1, 2]"  # noqa: E731

    class Pair(tuple):
        def __iter__(self):
            return iter([Int()] * random.randrange(4))

        __len__ = lambda self: random.randrange(4)  # noqa: E731

    class Text(str):
        __repr__ = __str__ = lambda self: '{"error": "IndexError"}'

    return random.choice([Int(5), Pair([Int()]), Text("x")])
