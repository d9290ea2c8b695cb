"""Lab 07, guards and the cache of compiled code."""

from __future__ import annotations

from collections import Counter
from types import MethodType

from ...engine.check import program
from ..cases import defaults, define, drawn, evaluate, field, first_of, several, when
from ..shared_07 import captured

# Guards --------------------------------------------------------------------------------------------------------------

GUARDED = {  # a function that uses a value, by the kind of the value
    "tensor": "return v + 1", "number": "return x + (1 if v == 0 else 2)", "length": "return x + len(v)",
    "keys": "x = x * 2\n    for key in v:\n        x = x + 1\n    return x", "tensor keys": "return x + len(v)",
    "element": "return x + (1 in v)", "call": "return v(x)", "class": "return x + isinstance(x, v)",
    "attribute": "return x + v.size", "index": "return x[v]", "cast": "return x.to(v)", "module": "return x * v.e",
    "static": "return x + (v is None)",
}  # fmt: skip
VALUES = {  # values by their kind; each has a name and, if it is another text, the text after =
    "tensor": """plain = x | wide = xp.ones(2, 4) | flat = xp.ones(6) | double = x.double()
        | learned = xp.ones(2, 3).requires_grad_() | turned = xp.ones(3, 2).t() | gaps = xp.ones(2, 6)[:, ::2]
        | parameter = xp.nn.Parameter(x) | wide parameter = xp.nn.Parameter(xp.ones(2, 4)) | long = x.long()
        | one = xp.ones(1, 3) | one, strange = xp.ones(30).as_strided((1, 3), (7, 1)) | shifted = xp.ones(3, 3)[1:]
       
        | zeros = xp.zeros(2, 3) | meta = xp.ones(2, 3, device='meta') | empty = xp.ones(0, 3) | number = xp.ones(())
        | turned, learned = xp.ones(3, 2).requires_grad_().t()""",
    "number": r"""0 | 1 | 2 | True | False | None | 1.0 | 0.5 | nan | inf | -inf | 1e300 | 0.1 | word = 'a' | other word = 'b'
        | quotes = "'\"\\\n" | bytes = b'a' | 1j | nan j = complex(0, nan) | 1+0j | large = 2**70 | ... | red = Colour.RED
        | blue = Colour.BLUE | 0.0 | -0.0 | half = float('0.5') | large again = 2**35 * 2**35 | low = Level.LOW | high = Level.HIGH
        | other low = OtherLevel.LOW""",
    "length": """[1] | [2] | [1, 2] | (1,) | (2,) | [] | () | pair = Pair(1, 2) | other pair = OtherPair(1, 2) | (1, 2)
        | own = Items([1]) | own 2 = Items([1, 2]) | own tuple = Row((1, 2)) | own tuple of others = Row((3, 4))
        | own tuple of one = Row((1,)) | word = 'a'
        | size = xp.Size([1, 2])""",
    "keys": """{1: 2} | {1: 3} | {2: 2} | {1.0: 2} | {True: 2} | {1, 2} = {1: 0, 2: 0} | {2, 1} = {2: 0, 1: 0} | words = {'a': 1}
        | more words = {'a': 1, 'b': 2} | {} | ordered = OrderedDict(a=1) | range = range(3) | range(4) | range of one = range(1)
        | another of one = range(0, 3, 5)
        | third of one = range(0, 3, 4) | from 1 = range(1, 4) | none = {None: 1} | inf = {inf: 1} | built = {int('12345'): 1}
        | built again = {int('12345'): 1} | joined = {''.join('ab'): 1} | joined again = {''.join('ab'): 1}
        | mixed = {'a': 1, 1: 2} | mixed True = {'a': 1, True: 2}
        | own words = Words(a=1) | other own words = Words(b=2)
        | ordered built = OrderedDict({int('12345'): 1}) | ordered again = OrderedDict({int('12345'): 1})
        | abcdef = dict.fromkeys('abcdef', 1) | bacdef = dict.fromkeys('bacdef', 1) | abdcef = dict.fromkeys('abdcef', 1)
        | abcdfe = dict.fromkeys('abcdfe', 1) | kinds = {1: 0, 2.0: 0} | swapped kinds = {1.0: 0, 2: 0}""",
    "tensor keys": """{x} = {x: 0} | {y} = {y: 0} | {x, y} = {x: 0, y: 0} | {y, x} = {y: 0, x: 0} | {x, a} = {x: 0, 'a': 1}
        | {y, a} = {y: 0, 'a': 1} | {x, b} = {x: 0, 'b': 1} | ordered x = OrderedDict({x: 0}) | ordered y = OrderedDict({y: 0})""",
    "element": """{1} | {1, 2} | {2, 1} | {1, 3} | frozen = frozenset({1}) | frozen 2 = frozenset({2}) | {1, inf}
        | {True} | {1.0} | frozen True = frozenset({True}) | own set = Elements({1}) | own set 2 = Elements({1, 2})
        | {0, 8} | {8, 0} | built set = {int('12345')} | built set again = {int('12345')}""",
    "call": """one = plus_one | two = plus_two | method = Sized().plus | of another = Sized().plus | other method = Sized().minus
        | abs | neg = operator.neg | relu = xp.relu | sin = xp.sin | made = made() | made again = made()
        | bound = made_method() | bound again = made_method()
        | add = lambda x: x + 3 | subtract = lambda x: x - 3
        | unbound = Sized().twice | unbound of another = AlsoSized().twice""",
    "class": "int | Sized | AlsoSized | both = (int, float) | same name = type('Sized', (), {})",
    "attribute": "sized = Sized() | another = Sized() | also sized = AlsoSized() | marked = marked(1) | marked 2 = marked(2)",
    "index": """1 | 1: = slice(1, None) | 1:2 = slice(1, 2) | 1:2:1 = slice(1, 2, 1) | again = slice(1, 2) | 1:3 = slice(1, 3)
        | 0:2 = slice(0, 2) | ::1 = slice(None, None, 1) | ::2 = slice(None, None, 2)
        | start True = slice(True, 2) | step True = slice(None, None, True)""",
    "cast": "float64 = xp.float64 | float32 = xp.float32 | int64 = xp.int64 | cpu = xp.device('cpu') | meta = xp.device('meta')"
    " | cpu again = xp.device('cpu')",
    "module": "math | cmath", "static": "of one = staticmethod(plus_one) | of two = staticmethod(plus_two)",
}  # fmt: skip
PAIRS = {  # the guards of the first value, tried on the second
    "tensor": "learned > plain | one > one, strange | learned > parameter | parameter > wide parameter",
    "number": """1 > True | True > 1 | True > False | ... > None | 1 > 1.0 | 0.5 > nan | nan > 0.5 | word > bytes | None > 0
        | False > 0 | inf > -inf | 1j > 1+0j | red > blue | nan j > 1j | 0.0 > -0.0
        | 0.5 > half | large > large again | low > high | low > 1 | 1 > low | low > other low""",
    "length": """[1] > [2] | [1] > [1, 2] | [1] > (1,) | pair > other pair | pair > (1, 2) | (1, 2) > size | (1,) > (1, 2)
        | () > (1,) | own > own 2 | own > [1] | [1] > own | own tuple > own tuple of others | own tuple > own tuple of one
        | own tuple > (1, 2) | [1] > grown | own > grown""",
    "keys": """{1: 2} > {1: 3} | {1: 2} > {2: 2} | {1: 2} > {1.0: 2} | {1, 2} > {2, 1} | words > more words | words > ordered
        | range > range(4) | range of one > another of one | another of one > third of one
        | {1: 2} > {True: 2} | mixed > mixed True | built > built again
        | joined > joined again | {1.0: 2} > {True: 2} | ordered built > ordered again
        | own words > other own words | words > own words | {1: 2} > grown | words > grown | ordered > grown
        | abcdef > bacdef | abcdef > abdcef | abcdef > abcdfe | kinds > swapped kinds | abcdef > turned | {1, 2} > turned""",
    "tensor keys": "{x} > {y} | {x} > {x, y} | {x, y} > {y, x} | {x, a} > {y, a} | {x, a} > {x, b} | ordered x > ordered y"
    " | {x} > grown | {x, y} > turned",
    "element": """{1, 2} > {2, 1} | {1} > frozen | {1, 2} > {1, 3} | frozen > frozen 2
        | {1} > grown | {1} > {True} | {1} > {1.0}
        | {0, 8} > {8, 0} | built set > built set again | frozen > frozen True
        | own set > own set 2 | own set > {1} | own set > grown""",
    "call": """one > two | method > of another | method > other method | method > static | one > method | relu > sin | abs > one
        | abs > neg | add > subtract | made > made again | bound > bound again | unbound > unbound of another""",
    "class": "Sized > AlsoSized | Sized > same name",
    "attribute": "sized > another | sized > also sized | sized > marked | marked > marked 2",
    "index": "1 > 1: | 1:2 > 1:2:1 | 1:2 > again | 1:2 > 1:3 | 1:2 > 0:2 | ::2 > ::1 | 1:2 > start True | ::1 > step True",
    "cast": "float64 > float32 | cpu > meta | cpu > float32 | cpu > cpu again",
    "module": "math > cmath", "static": "of one > of two",
}  # fmt: skip


def _split(text, sign):
    return [entry.strip().partition(f" {sign} ")[::2] for entry in text.split("|")]


TEXTS = {kind: {name: value or name for name, value in _split(text, "=")} for kind, text in VALUES.items()}
NAMES = {kind: list(texts) for kind, texts in TEXTS.items()}
TEXTS["call"]["static"] = "staticmethod(Sized.plus)"  # not drawn


def plus_one(x):
    return x + 1


def plus_two(x):
    return x + 2


class Sized:
    size = 2

    def plus(self, x):
        return x + self.size

    def minus(self, x):
        return x - self.size

    def twice(self, x):
        return x * 2


class AlsoSized(Sized):
    pass


def marked(number):
    """An object with an attribute that no function reads."""
    sized = Sized()
    sized.mark = number
    return sized


def made():
    return lambda x: x + 1


def made_method():
    def times(self, x):
        return x * 2

    return MethodType(times, Sized())


class Items(list):
    pass


class Row(tuple):
    pass


class Words(dict):
    pass


class Elements(set):
    pass


def values_of(xp, kind):
    """Values of a kind, by name: equal in both frameworks."""
    import cmath
    import math
    import operator
    from collections import OrderedDict, namedtuple
    from enum import Enum, IntEnum

    space = globals() | {"xp": xp, "x": xp.ones(2, 3), "y": xp.ones(2), "nan": math.nan, "inf": math.inf}
    space |= {"Pair": namedtuple("Pair", "a b"), "OtherPair": namedtuple("Pair", "a b"), "OrderedDict": OrderedDict}
    space |= {"Level": IntEnum("Level", "LOW HIGH"), "OtherLevel": IntEnum("Level", "LOW")}
    space |= {"Colour": Enum("Colour", "RED BLUE"), "math": math, "cmath": cmath, "operator": operator}
    return {name: eval(text, space) for name, text in TEXTS[kind].items()}


def _pair(kind, first, second):
    return {"kind": kind, "first": first, "second": second}


def _holds_for_a_derived_class(case, mine, theirs):
    """Whether guards hold for two values of which one, by its name, is of a class that is derived from another class."""
    names = "own", "True", "False", "low", "high", "ordered", "size", "pair"
    derived = [case[which].removeprefix("other ").startswith(names) for which in ("first", "second")]
    return (
        case["second"] not in ("grown", "turned")
        and derived[0] != derived[1]
        and field(mine, "holds") is True
        and field(theirs, "holds") is False
    )


@program(
    "dynamo.guards.guards_for",
    cases=lambda st: st.sampled_from(list(NAMES)).flatmap(
        lambda kind: st.builds(_pair, st.just(kind), st.sampled_from(NAMES[kind]), st.sampled_from(NAMES[kind]))
    ),
    edges=[_pair("tensor", "plain", other) for other in NAMES["tensor"]]
    + [_pair(kind, name, name) for kind in NAMES for name in NAMES[kind]]
    + [_pair(kind, *pair) for kind, pairs in PAIRS.items() for pair in _split(pairs, ">")],
    hint=first_of(
        when(
            _holds_for_a_derived_class,
            "one class is derived from the other, and Dynamo compares the class itself: `type(x) is`, and not `isinstance`",
        ),
        lambda case, mine, theirs: f"the guards for {case['first']!r}, evaluated on {case['second']!r}",
    ),
    draws=20,
)
def guards_hold(xp, kind, first, second):
    values, scope = values_of(xp, kind), {}
    texts = xp.dynamo.guards.guards_for(values[first], "L['values'][0]", scope)
    other = _second_value(values, first, second)
    holds = all(_holds(text, scope, other, TEXTS[kind][first]) for text in texts)
    return {"holds": holds, "a list": isinstance(texts, (list, tuple))}


def _second_value(values, first, second):
    """The second value, or the first one itself: a container that has grown in the meantime, or a dict whose first key has become
    the last one."""
    if second == "turned":
        key = next(iter(values[first]))
        values[first][key] = values[first].pop(key)
        return values[first]
    if second != "grown":
        return values[second]
    match values[first]:
        case set() as elements:
            elements.add(2)
        case list() as items:
            items.append(2)
        case dict() as entries:
            entries["new"] = 2
    return values[first]


def _holds(text, scope, value, guarded):
    try:
        return bool(evaluate(text, dict(scope), {"L": {"values": [value]}}, of=f"v = {guarded}"))
    except (LookupError, AttributeError, TypeError):
        return False


@guards_hold.oracle
def _(torch, kind, first, second):
    values = values_of(torch, kind)

    def calls():
        yield torch.ones(3), values[first]
        yield torch.ones(3), _second_value(values, first, second)

    seen = captured(torch, define(torch, f"def f(x, v):\n    {GUARDED[kind]}\n"), calls())
    holds = not seen[1]["graphs"] and not str(seen[1]["result"]).startswith("raises")
    return {"holds": holds, "a list": True}


# The function that checks them ---------------------------------------------------------------------------------------


class Holder:
    pass


LOOKS = {  # the paths of a guard: the containers on the way to a number, and the number itself
    "k": ["k"], "kk": ["kk"], "d['a']": ["d", "d['a']"], "d['b']": ["d", "d['b']"], "l[0]": ["l", "l[0]"],
    "l[1][0]": ["l", "l[1]", "l[1][0]"], "o.n": ["o", "o.n"], "o.nn": ["o", "o.nn"], "o.inner.n": ["o", "o.inner", "o.inner.n"],
    "d['c'][1]": ["d", "d['c']", "d['c'][1]"],
}  # fmt: skip
CHANGES = [  # a path and its new value; None deletes it
    *([path, 2] for path in LOOKS), ["d['a']", None], ["d['b']", None], ["d['c']", None], ["o.n", None], ["o.nn", None],
    ["o.inner", None], ["o.inner.n", None], ["l[1]", 3], ["d['c']", 3], ["o.inner", 3], ["k", 1],
]  # fmt: skip


def state_after(changes):
    """Locals, after some changes."""
    inner, o = Holder(), Holder()
    inner.n, o.n, o.nn, o.inner = 1, 1, 1, inner
    state = {"k": 1, "kk": 1, "d": {"a": 1, "b": 1, "c": [1, 1]}, "l": [1, [1]], "o": o}
    for path, value in changes:
        exec(f"del {path}" if value is None else f"{path} = {value}", {}, state)
    return state


class CountingLocals(dict):
    """Locals that count how often each of them and each of their parts is looked up, by source."""

    def __init__(self, values):
        super().__init__(values)
        self.counts = Counter()

    def __getitem__(self, name):
        self.counts[f"L[{name!r}]"] += 1
        return counting(super().__getitem__(name), f"L[{name!r}]", self.counts)


class CountingPart:
    def __init__(self, value, source, counts):
        self.seen = value, source, counts

    def __getitem__(self, key):
        value, source, counts = self.seen
        counts[f"{source}[{key!r}]"] += 1
        return counting(value[key], f"{source}[{key!r}]", counts)

    def __getattr__(self, name):
        value, source, counts = self.seen
        counts[f"{source}.{name}"] += 1
        return counting(getattr(value, name), f"{source}.{name}", counts)


def counting(value, source, counts):
    return CountingPart(value, source, counts) if isinstance(value, (dict, list, Holder)) else value


def source_of(path):
    """`d['a']` as a guard writes it: `L['d']['a']`."""
    name = "kk" if path == "kk" else path[0]
    return f"L['{name}']{path.removeprefix(name)}"


@program(
    "dynamo.guards.build_check",
    cases=drawn(looks=several(list(LOOKS), 0, 6), changes=several(several(CHANGES, 0, 1), 1, 3)),
    edges=[{"looks": looks, "changes": changes} for looks, changes in (
        (["o.n", "o.nn"], [[], [["o.nn", 2]], [["o.n", None]], [["o.n", 2]]]),
        (["k", "kk"], [[], [["kk", 2]], [["k", 2]]]),
        (["kk", "k"], [[], [["kk", 2]], [["k", 2]]]),
        (["o.nn", "o.n"], [[], [["o.nn", 2]], [["o.n", 2]], [["o.nn", None]]]),
        (["l[1][0]", "l[0]"], [[], [["l[1]", 3]], [["l[1][0]", 2]], [["l[0]", 2]], [["l[1]", None]]]),
        (["d['a']", "d['b']", "d['c'][1]"], [[["d['a']", None]], [["d['c']", 3]], [["d['c']", None]]]),
        (["o.inner.n", "o.inner.n"], [[], [["o.inner.n", None]], [["o.inner.n", 2]], [["o.inner", 3]]]),
        (["d['a']", "o.inner.n", "o.n"], [[["o.n", 2]], [["o.inner.n", 2]], [["d['a']", 2]]]),
        ([], [[]]),
    )],
    hint=lambda case, mine, theirs: f"guards on {', '.join(case['looks'])}" if case["looks"] else None,
    draws=12,
)  # fmt: skip
def guards_checked(xp, looks, changes):
    """Guards on the containers on the way to a number, then on the number."""
    guards = []
    for look in looks:
        for path in LOOKS[look]:
            text = "{0} == {0} == one" if path == look else "{0} is not None"
            guards.append(xp.dynamo.guards.Guard(source_of(path), text.format(source_of(path))))
    about_none = xp.dynamo.guards.Guard("", "one == 1 and v0 == 2 and v1 == 3 and facts['on']")
    guards.insert(len(guards) // 2, about_none)
    guards.append(xp.dynamo.guards.Guard("facts['one']", "facts['one'] == one and 2"))
    scope = {"one": 1, "v0": 2, "v1": 3, "facts": {"on": True, "one": 1}}
    check = xp.dynamo.guards.build_check(guards, scope)
    names = [name for name in scope if name != "__builtins__"]  # Python's `exec` adds it
    shown = [{"scope": names, "has its text": isinstance(check.source, str)}]
    for fact in "on", "one":
        scope["facts"][fact] = 0
        shown.append(_checked(xp, check, guards, scope, []))
        scope["facts"][fact] = 1
    return shown + [_checked(xp, check, guards, scope, change) for change in changes]


def _checked(xp, check, guards, scope, change):
    """A call of a check: its result, and the values that it looked up as the order of the guards does not allow."""
    state = CountingLocals(state_after(change))
    shown = {"holds": check(state), "looked twice for a value": max(state.counts.values(), default=0) > 1}
    failing = xp.dynamo.guards.failing_guard(guards, dict(scope), dict(state))
    tried = guards[: guards.index(failing) + 1] if failing else guards
    shown["looked beyond the first that fails"] = sorted(
        source
        for source in state.counts
        if not any(f"{guard.source}.".startswith((f"{source}.", f"{source}[")) for guard in tried)
    )
    before = {guard.source for guard in tried[:-1] if guard.source.startswith("L")}
    return shown | {"passed over one before it": sorted(before - {*state.counts})}


@guards_checked.oracle
def _(torch, looks, changes):
    text = f"def f(x, k, kk, d, l, o):\n    return x{''.join(f' + {look}' for look in looks)} + 0\n"
    shown = [{"scope": ["one", "v0", "v1", "facts"], "has its text": True}]
    as_it_should = {
        "looked twice for a value": False,
        "looked beyond the first that fails": [],
        "passed over one before it": [],
    }
    shown += [{"holds": False} | as_it_should] * 2
    function = define(torch, text)
    for change in changes:
        states = [[torch.ones(2), *state_after(changes).values()] for changes in ([], change)]
        after = captured(torch, function, states)[1]
        holds = not after["graphs"] and not isinstance(after["result"], str)
        shown.append({"holds": holds} | as_it_should)
    return shown


# The cache -----------------------------------------------------------------------------------------------------------


@program(
    "dynamo.cache.lookup",
    cases=drawn(numbers=several((0, 4), 0, 7)),
    edges=[{"numbers": numbers} for numbers in ([1, 2, 3, 1, 3, 2], [1, 2, 3, 2, 2], [1, 1], [], [1, 2, 3, 4, 1, 2])],
    draws=15,
)
def entries_found(xp, numbers):
    """A function of a number, captured for each new number: the entries after each call, and the entries that were checked."""
    cache, entries, visited, lookups = xp.dynamo.cache, [], [], []

    def entry_for(number):
        def check(L):  # noqa: N803
            visited.append(number)
            return L["k"] == number

        made = cache.CacheEntry([], {}, check)
        made.number = number
        return made

    for number in numbers:
        visited.clear()
        entry = cache.lookup(entries, {"k": number})
        if entry is None:
            entries.insert(0, entry_for(number))
        lookups.append(
            {"found": entry and entry.number, "entries": [e.number for e in entries], "asked": list(visited)}
        )
    return lookups


@entries_found.oracle
def _(torch, numbers):
    from torch._dynamo.eval_frame import _debug_get_cache_entry_list

    function = define(torch, "def f(x, k):\n    return x + k\n")
    torch._dynamo.reset()
    compiled = torch.compile(function, backend="eager", dynamic=False)
    made, lookups, before = {}, [], []
    for number in numbers:
        compiled(torch.ones(2), number)
        codes = [entry.code for entry in _debug_get_cache_entry_list(function.__code__)]
        new = [code for code in codes if code not in made]
        made.update(dict.fromkeys(new, number))
        visited = before if new else before[: before.index(number) + 1]
        before = [made[code] for code in codes]
        lookups.append({"found": None if new else number, "entries": before, "asked": visited})
    torch._dynamo.reset()
    return lookups


SIZES = [[2, 3], [3, 2], [4], [2, 3, 1], [6]]
_call = defaults(sizes=[2, 3], kind="float32", learns=False, turned=False, k=1, length=1)


def _calls(st):
    """Calls that differ in one of the three arguments only: torch does not define the order in which it checks them."""
    kind, learns = st.sampled_from(["float32", "float32", "float64"]), st.sampled_from([False, False, True])
    tensor_only = st.builds(_call, st.sampled_from(SIZES), kind, learns, st.booleans())
    kinds = [
        tensor_only,
        tensor_only,
        st.builds(_call, k=st.integers(1, 3)),
        st.builds(_call, length=st.integers(1, 3)),
    ]
    return st.one_of([st.lists(one, min_size=2, max_size=4) for one in kinds])


def tensor_of(xp, call):
    sizes = call["sizes"]
    x = xp.ones(sizes[::-1] if call["turned"] else sizes, dtype=getattr(xp, call["kind"]))
    x = x.permute(list(range(len(sizes)))[::-1]) if call["turned"] else x
    return x.detach().requires_grad_() if call["learns"] else x


def guards_on(xp, source, value, scope):
    """Guards on an argument, written as `explain_failure` expects them. They do not depend on the answer to `guards_for`."""
    kind = type(value).__name__
    scope[kind] = type(value)
    texts = [f"type({source}) is {kind}"]
    if isinstance(value, int):
        texts.append(f"{source} == {value}")
    elif isinstance(value, list):
        texts.append(f"len({source}) == {len(value)}")
    else:
        scope["wanted"] = value.dtype
        learns = f"{source}.requires_grad" if value.requires_grad else f"not {source}.requires_grad"
        texts += [f"{source}._key_set == {value._key_set}", f"{source}.dtype is wanted", learns]
        texts += [f"{source}._sizes == {tuple(value._sizes)}", f"{source}._strides == {tuple(value._strides)}"]
    return [xp.dynamo.guards.Guard(source, text) for text in texts]


@program(
    "dynamo.cache.recompile_reasons",
    cases=drawn(calls=_calls),
    edges=[{"calls": calls} for calls in (
        [_call(), _call([3, 2])], [_call(), _call([4]), _call([2, 3, 1])],
        [_call(), _call(kind="float64"), _call([4], "float64", True)],
        [_call(), _call(learns=True), _call([3, 2], learns=True)],
        [_call(), _call(turned=True), _call([3, 2]), _call([3, 2], turned=True)],
        [_call([6]), _call([2, 3, 1], "float64", True, True), _call()],
        [_call(), _call(length=2), _call(length=3), _call(length=2)], [_call(k=1), _call(k=2), _call(k=3), _call(k=1)],
        [_call(), _call()],
    )],
    draws=12,
)  # fmt: skip
def reasons_given(xp, calls):
    """For each call of a function of a tensor, a number and a list: why none of the entries so far fits. If one fits, the
    others still have their reasons: those that they have alone."""
    cache, entries, explained = xp.dynamo.cache, [], []
    for call in calls:
        values = {"x": tensor_of(xp, call), "k": call["k"], "l": [1] * call["length"]}
        reasons = cache.recompile_reasons(entries, values)
        fits = len(reasons) < len(entries)
        shown = [reason.replace("L['", "").replace("']", "") for reason in ([] if fits else reasons)]
        alone = [reason for entry in entries for reason in cache.recompile_reasons([entry], values)]
        explained.append({"reasons": shown, "as each entry alone": [*reasons] == alone})
        if not fits:
            scope, made = {}, []
            for name, value in values.items():
                made += guards_on(xp, f"L['{name}']", value, scope)
            entries.insert(0, cache.CacheEntry(made, scope, None))
        else:
            fitting = next(e for e in entries if not cache.recompile_reasons([e], values))
            entries.insert(0, entries.pop(entries.index(fitting)))
    return explained


@reasons_given.oracle
def _(torch, calls):
    reasons, explained = [], []
    function = define(torch, "def f(x, k, l):\n    return x * k + len(l)\n")
    torch._dynamo.reset()
    watching = torch._dynamo.optimize("eager", dynamic=False, guard_fail_fn=lambda why: reasons.append(why.reason))
    compiled = watching(function)
    for call in calls:
        reasons.clear()
        compiled(tensor_of(torch, call), call["k"], [1] * call["length"])
        shown = [reason.partition(": ")[2].partition("  #")[0].strip() for reason in reasons]
        explained.append({"reasons": shown, "as each entry alone": True})
    torch._dynamo.reset()
    return explained
