"""Shared by the checks of several labs: strategies for their cases, helpers of their programs, and hints.

`st` is hypothesis.strategies. Only the judge has it, so this module does not import it.
"""

from __future__ import annotations

import io
import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, redirect_stdout
from copy import deepcopy
from functools import cache, wraps
from inspect import signature
from operator import itemgetter
from typing import Any

import numpy as np

from rushlight.course import draws

from ..engine.observe import Apart, Tree, difference

DTYPES = ("bool", "uint8", "int32", "int64", "float16", "float32", "float64")
words = str.split


def defaults(**usual: Any) -> Callable[..., dict]:
    """A function for cases that differ in a few values from the usual ones. It takes them in the same order, or by name."""
    return lambda *args, **others: usual | dict(zip(usual, args)) | others  # noqa: B905


@cache  # drawing goes through these again and again, and a strategy that is known is not looked into again
def sizes(st: Any, dims: tuple[int, int] = (0, 4), most: int = 4) -> Any:
    """Shapes with `dims` dimensions of 0 to `most` elements; small ones, and size 1, more often than not."""
    return st.lists(st.one_of(st.integers(1, most), st.integers(0, most)), min_size=dims[0], max_size=dims[1])


def dim(st: Any, ndim: int, beyond: int = 1) -> Any:
    """A dimension of an ndim-dimensional tensor, from either end, and now and then one that does not exist."""
    return st.integers(-ndim - beyond, ndim - 1 + beyond)


@cache
def tensors(st: Any, dims: tuple[int, int] = (0, 4), most: int = 4, dtypes: tuple[str, ...] = ("int64",)) -> Any:
    """Descriptions of strided tensors: any order of dimensions in memory, gaps between elements, stride 0, any offset."""

    @st.composite
    def draw_tensor(draw):
        shape = draw(sizes(st, dims, most))
        order = draw(st.permutations(range(len(shape))))
        strides, step = [0] * len(shape), 1
        for d in order:
            gap = draw(st.sampled_from([1, 1, 1, 1, 2, 3, 0]))
            strides[d] = step * gap
            step = max(step * gap * max(shape[d], 1), step)
        return tensor(shape, strides, draw(st.integers(0, 3)), draw(st.sampled_from(dtypes)), draw(st.integers(0, 2)))

    return draw_tensor()


def tensor(
    sizes: list[int], strides: list[int] | None = None, offset: int = 0, dtype: str = "int64", slack: int = 0
) -> dict:
    """The description of one tensor over a storage just large enough for it, plus `slack` elements."""
    if strides is None:
        strides, step = [], 1
        for size in reversed(sizes):
            strides.insert(0, step)
            step *= max(size, 1)
    reach = 0 if 0 in sizes else 1 + sum((size - 1) * stride for size, stride in zip(sizes, strides, strict=True))
    spec = {"dtype": dtype, "storage": offset + reach + slack, "sizes": list(sizes), "strides": list(strides)}
    return {"tensor": spec | {"offset": offset}}


def rows(names: str, *values: tuple) -> list[dict]:
    """A table of cases: one case for each tuple of values, under these names."""
    return [dict(zip(names.split(), row, strict=True)) for row in values]


def strategy(st: Any, part: Any) -> Any:
    """A strategy from a short description: bool, a list of choices, (least, most) of integers, or a function of `st`."""
    if isinstance(part, list):
        return st.sampled_from(part)
    if isinstance(part, tuple):
        return st.integers(*part)
    return st.booleans() if part is bool else part(st) if callable(part) else part


def several(part: Any, least: int = 0, most: int | None = None, unique: bool = False) -> Callable:
    """The description of a list of `least` to `most` values, each described by `part`."""
    return lambda st: st.lists(strategy(st, part), min_size=least, max_size=most, unique=unique)


def listed(*parts: Any) -> Callable:
    """The description of a list of one value for each part."""
    return lambda st: st.tuples(*(strategy(st, part) for part in parts)).map(list)


def drawn(**parts: Any) -> Callable:
    """The `cases` of a program: a value for each name, as described."""
    return lambda st: st.fixed_dictionaries({name: strategy(st, part) for name, part in parts.items()})


def drawing(draw_case: Callable) -> Callable:
    """Decorator: from `draw_case(draw, st, ...)`, a function of `st, ...` that makes the strategy.

    Hypothesis tells these strategies apart, as it does those that `st.composite` makes of different functions.
    """

    @wraps(draw_case)
    def make(st: Any, *args: Any, **kwargs: Any) -> Any:
        return st.composite(draw_case)(st, *args, **kwargs)

    return make


def predicted(programs: dict[str, str], draws: int = 2) -> dict[str, Any]:
    """The arguments of `@program` for a prediction about these programs, texts by their names. A case has the name of one."""
    edges = rows("program", *((name,) for name in programs))
    shown = {"show": lambda torch, program: programs[program], "prediction": True}
    return {"cases": drawn(program=[*programs]), "edges": edges, "draws": draws} | shown


PARTS = ".one", ".two", ".three", ""  # of the checks of a prediction: one for each point, the last one for all


def predicting(prediction: str, part: str) -> dict[str, Any]:
    """The arguments of `@program` for a part of a prediction whose programs are drawn for each student.

    The oracle of all points takes the number of a program. Each program is an edge, so that torch's answers are recorded.
    """

    def examine(judge: Any, given: Tree, case: dict | None) -> Any:
        from ..engine.predictions import marked  # not in the sandbox

        return marked(judge, prediction, PARTS.index(part) + 1, given)

    common = {"cases": lambda st: st.just({}), "examine": examine, "prediction": True}
    if part:
        return common | {"edges": [{}]}
    edges = [{}, *rows("number", *((number,) for number in range(draws.POOL)))]
    return common | {"edges": edges, "show": lambda torch, number=0: draws.program(prediction, number)}


# Cases of a student --------------------------------------------------------------------------------------------------


def no_cases(st: Any) -> Any:
    """Nothing is drawn: an answer is examined as it is."""
    return st.nothing()


def breaking(number: str, share: str) -> Callable:
    """The `examine` of an exercise "Break it": its cases catch at least this share of the wrong bodies of the file
    `autograder/patients/01a/is_contiguous.py`, for the number `01a.is_contiguous`."""

    def examine(judge: Any, given: Tree, case: dict | None) -> Any:
        from ..engine.breaks import broken  # a browser has no processes

        return broken(judge, number, share, given)

    return examine


def reviewing(number: str, needed: int) -> Callable:
    """The `examine` of a review: it is right about at least so many changes of the file
    `autograder/patients/02b/review_parse_argument.py`, for the number `02b.review_parse_argument`."""

    def examine(judge: Any, given: Tree, case: dict | None) -> Any:
        from ..engine.reviews import reviewed  # a browser has no processes

        return reviewed(judge, number, needed, given)

    return examine


# In programs ---------------------------------------------------------------------------------------------------------


def is_torch(xp: Any) -> bool:
    return xp.__name__ == "torch"


def type_name(value: Any) -> str:
    """The name of a value's type: "sequence" for a list or a tuple, and of numpy's numbers "float" and "int"."""
    value = value.item() if isinstance(value, np.number) else value
    return next((name for kind, name in _PLAIN.items() if isinstance(value, kind)), type(value).__name__)


_PLAIN = {bool: "bool", int: "int", float: "float", list | tuple: "sequence"}  # a bool is an int, too


def dynamo_of(xp):
    return xp._dynamo if is_torch(xp) else xp.dynamo


def define(xp, text, name="f"):
    """The function `name` of a text; `inspect` finds its lines."""
    import linecache
    import logging

    if is_torch(xp):
        logging.getLogger("torch._dynamo").setLevel(logging.CRITICAL)
        # torch measures the guards, with emptied processor caches: 20 ms for each capture
        xp._dynamo.guards.profile_guard_manager = lambda *_: 0.0
    file = f"<case {len(linecache.cache)}>"
    linecache.cache[file] = len(text), None, text.splitlines(True), file
    space = {"xp": xp, "graph_break": dynamo_of(xp).graph_break}
    exec(compile(text, file, "exec"), space)
    return space[name]


def evaluate(text, *spaces, of=""):
    """The value of an expression that a student's function has returned. If Python cannot read it, or a name in it is unknown, the
    error says which text it is, and what it is `of`."""
    try:
        return eval(text, *spaces)
    except (NameError, SyntaxError) as error:
        reason = error.msg if isinstance(error, SyntaxError) else error
        about = f" for {of}" if of else ""
        raise ValueError(f"your text `{text}`{about}: {type(error).__name__}: {reason}") from None


def numbers(xp: Any, shape: list[int], start: int = 0, kind: str = "float64") -> Any:
    """A tensor of small numbers of both signs, and zeros, by rule. The same `start` gives the same numbers."""
    values = [((7 * i + 3 * start) % 11) * 0.25 - 1 for i in range(math.prod(shape))]
    return xp.tensor(values, dtype=getattr(xp, kind)).reshape(shape)


def with_layout(torch: Any, x: Any, layout: str) -> Any:
    """The numbers of x with other strides: with gaps, with the first dimension innermost, or all equal to the first one."""
    if layout == "gaps":
        return torch.zeros([*x.shape, 2], dtype=x.dtype)[..., 1].copy_(x)
    if layout == "backwards":
        dims = [*reversed(range(x.dim()))]
        return x.permute(dims).contiguous().permute(dims)
    if layout == "equal" and x.numel():
        return x.reshape(-1)[:1].reshape([1] * x.dim()).expand(x.shape)
    return x


def copied(x: Any) -> Any:
    """The values of one of torch's tensors in a new contiguous tensor without a graph, or None."""
    return None if x is None else x.new_empty(x.shape).copy_(x.detach())


def beyond_single(xp, x):
    """The part of a float64 tensor beyond the digits of float32, enlarged, because the tolerance for float64 would hide it."""
    return (x - x.to(xp.float32).to(xp.float64)) * 4096 if x.dtype == xp.float64 else None


def as_lists(value: Any) -> Any:
    """A value whose tuples are lists; of a tensor, its metadata."""
    if hasattr(value, "stride"):
        return as_lists([value.shape, value.stride(), value.storage_offset()])
    return [as_lists(item) for item in value] if isinstance(value, (list, tuple)) else value


def lists_too(function: Callable, *arguments: Any) -> Any:
    """The result of a call with tuples. Lists must give the same result, and must not change."""
    result = function(*arguments)
    lists = called_with(lambda: as_lists(arguments), function, arguments, result)
    assert lists == as_lists(arguments), f"the call changed a list: {as_lists(arguments)} became {lists}"
    return result


def called_with(lists: Callable[[], Sequence], function: Callable, tuples: Sequence, result: Any) -> Sequence:
    """Call a function with `lists()`, and return these. Raise Apart, with both calls and what they gave, if that is an error, or
    another result than with tuples."""

    def told(arguments: Sequence, given: str) -> str:
        named = [
            "x" if hasattr(each, "stride") else _plain(each) for each in (*getattr(function, "args", ()), *arguments)
        ]
        return f"{getattr(function, 'func', function).__name__}({', '.join(named)}) {given}"

    given = lists()
    with repeating():
        try:
            other = function(*given)
        except Exception as error:
            raised = told(lists(), f"raised {type(error).__name__}: {error}")
            raise Apart(f"{raised}\n{told(tuples, f'returned {_plain(result)}')}") from error
        if _differ(other, result):
            with redirect_stdout(io.StringIO()):
                is_steady = not _differ(result, function(*tuples))
            if is_steady:
                returned = told(lists(), f"returned {_plain(other)}")
                raise Apart(f"{returned}\n{told(tuples, f'returned {_plain(result)}')}")
    return given


def _differ(one: Any, other: Any) -> bool:
    """Whether two results differ. An array of numpy is no answer, which the judge says."""
    mine, others = (as_lists(each.tolist() if isinstance(each, np.ndarray) else each) for each in (one, other))
    return mine != others


@contextmanager
def repeating() -> Iterator[None]:
    """Within: print only what comes before an error, because the call repeats one that has printed."""
    printed = io.StringIO()
    try:
        with redirect_stdout(printed):
            yield
    except Exception:
        print(printed.getvalue(), end="")
        raise


def _plain(value: Any) -> str:
    """A value as text: of a tensor, its metadata; of a tuple of another class, the tuple."""
    if hasattr(value, "stride"):
        return f"shape {tuple(value.shape)}  stride {value.stride()}  offset {value.storage_offset()}"
    return repr(tuple(value) if isinstance(value, tuple) else value)


def only_read(function: Callable, *arguments: Any) -> Any:
    """The result of a call that must not change its arguments."""
    before = deepcopy(arguments)
    result = function(*arguments)
    assert arguments == before, "an argument has changed, and all of them are only read"
    return result


class Interrupt(KeyboardInterrupt):
    """Raised in a program, and caught there. `except Exception` lets it through."""


def error_name(error: BaseException) -> str:
    """The name of the built-in class of an error. A contract says no more than this class."""
    return next(base for base in type(error).__mro__ if base.__module__ == "builtins").__name__


def attempt(run: Callable, *args: Any) -> Any:
    """The result of a call, or the error that a contract may name, as text. Any other error is raised."""
    try:
        return run(*args)
    except (NotImplementedError, RecursionError):
        raise
    except (RuntimeError, ValueError, TypeError, IndexError, KeyError, AttributeError) as error:
        return f"raises {error_name(error)}"


# In hints ------------------------------------------------------------------------------------------------------------


def entries(mine: Tree, theirs: Tree) -> tuple[dict, dict] | None:
    """The entries of two observed results if both are dicts."""
    if isinstance(mine, dict) and isinstance(theirs, dict) and "dict" in mine and "dict" in theirs:
        return dict(mine["dict"]), dict(theirs["dict"])
    return None


def field(tree: Tree, name: str) -> Any:
    """An entry of an observed result that is a dict, or else None."""
    return dict(tree["dict"]).get(name) if isinstance(tree, dict) and "dict" in tree else None


def first_apart(mine: Tree, theirs: Tree) -> Any:
    """The key of the first entry in which two observed dicts differ, or None."""
    both = entries(mine, theirs)
    return both and next((key for key in both[1] if difference(both[0].get(key), both[1][key])), None)


def apart(name: str) -> Callable[[dict, Tree, Tree], bool]:
    """For `when`: whether this entry differs in two observed dicts."""

    def test(case: dict, mine: Tree, theirs: Tree) -> bool:
        both = entries(mine, theirs)
        return both is not None and difference(both[0].get(name), both[1].get(name)) is not None

    return test


def explained(**reasons: str) -> Callable[[dict, Tree, Tree], str | None]:
    """A hint chosen by the first entry of the result that differs. Underscores in a name stand for spaces."""

    def hint(case: dict, mine: Tree, theirs: Tree) -> str | None:
        return reasons.get(str(first_apart(mine, theirs)).replace(" ", "_"))

    return hint


def when(applies: str | Callable[..., Any], text: str) -> Callable[[dict, Tree, Tree], str | None]:
    """A hint for those cases in which the argument of this name is true, or for which `applies(case)` or
    `applies(case, mine, theirs)` is. `mine` and `theirs` are both results: a hint says why *they* differ."""
    test = itemgetter(applies) if isinstance(applies, str) else applies
    count = 1 if isinstance(applies, str) else len(signature(applies).parameters)
    return lambda *seen: text if test(*seen[:count]) else None


def first_of(*hints: Callable[[dict, Tree, Tree], str | None]) -> Callable[[dict, Tree, Tree], str | None]:
    """The first of these hints that applies."""
    return lambda *seen: next(filter(None, (hint(*seen) for hint in hints)), None)
