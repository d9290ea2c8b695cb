"""Answers at random, otherwise each time it is asked, so that no smallest case can be found."""


def answer():
    import random

    kind = random.randrange(4)
    if kind == 0:
        raise random.choice([IndexError, RuntimeError, ValueError, TypeError])
    return [random.random() < 0.5, random.randrange(3), tuple(random.randrange(4) for _ in range(kind))][kind - 1]
