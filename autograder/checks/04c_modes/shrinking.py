"""A bug report: programs that a student made smaller."""

from contextlib import suppress

from ...engine.check import program

EXERCISE = "course.predictions.shrink"


def _nothing(st):
    return st.nothing()


def _shrunk(needed):
    """The examination. The modules that it needs are imported when it decides: a browser has no processes."""

    def examine(judge, texts, case):
        from ...engine.smaller_programs import shrunk

        return shrunk(needed)(judge, texts, case)

    return examine


def _texts(rl):
    predictions, texts = rl.course.predictions, {}
    for name in predictions.FAILING:
        with suppress(LookupError):  # of a student who has made some of them smaller
            texts[name] = predictions.shrink(name)
    return texts


@program(f"{EXERCISE}.one", cases=_nothing, edges=[{}], examine=_shrunk(1))
def shrink_one(rl):
    return _texts(rl)


@program(f"{EXERCISE}.two", cases=_nothing, edges=[{}], examine=_shrunk(2))
def shrink_two(rl):
    return _texts(rl)


@program(EXERCISE, cases=_nothing, edges=[{}], examine=_shrunk(3))
def shrink(rl):
    return _texts(rl)
