"""Lab 05: modules and training.

Modules are described by lists of what they hold, and built on both sides with numbers by rule: no generator draws a weight.
What a case does to them, assigning, hooking, loading, stepping, is a list too, so that a small case is a short story. All of
it goes through the public classes, which run the students' pieces.
"""

from __future__ import annotations

import itertools
import math
import warnings
from collections import OrderedDict, UserDict, UserList, namedtuple
from contextlib import contextmanager
from types import MappingProxyType

import numpy as np

from ...check import program
from ...observe import difference
from ..cases import tensor, tensors

# What both sides need ------------------------------------------------------------------------------------------------


def numbers(xp, shape, start=0, kind="float64"):
    """Small numbers of both signs, by rule; the same `start` gives the same ones."""
    values = [((7 * i + 3 * start) % 11) * 0.25 - 1 for i in range(math.prod(shape))]
    return xp.tensor(values, dtype=getattr(xp, kind)).reshape(shape)


def plain(x):
    """A tensor as it is shown: what it holds now, without its history."""
    return None if x is None else x.detach().clone()


def elements(xp, x):
    """What is in a tensor, whatever its order in memory."""
    return None if x is None else xp.empty(list(x.shape), dtype=x.dtype).copy_(x.detach())


def error_name(error):
    return f"raises {next(each for each in type(error).__mro__ if each.__module__ == 'builtins').__name__}"


def attempt(run, *args):
    """What a call returns, or the error that it raises."""
    try:
        return run(*args)
    except (RuntimeError, ValueError, TypeError, IndexError, KeyError, AttributeError) as error:
        if isinstance(error, (NotImplementedError, RecursionError)):
            raise
        return error_name(error)


def parts(mine, theirs):
    """The entries of two results that are dicts, for hints; None where one of them is none."""
    if isinstance(mine, dict) and isinstance(theirs, dict) and "dict" in mine and "dict" in theirs:
        return dict(mine["dict"]), dict(theirs["dict"])
    return None


def first_apart(mine, theirs):
    """The first entry in which two results that are dicts differ."""
    both = parts(mine, theirs)
    return both and next((key for key in both[1] if difference(both[0].get(key), both[1][key])), None)


def ready(xp):
    """An instance of a module class without anything in it."""

    class Part(xp.nn.Module):
        """Of no particular kind."""

    return Part()


def mostly(st, usual, seldom, times=5):
    """One strategy so many times as often as the other. (`one_of` looks at each of its arguments once.)"""
    return st.integers(0, times).flatmap(lambda chosen: usual if chosen else seldom)


SHAPES = ([2], [], [2, 3], [1])


def parameter(xp, number, kind="float32"):
    """Parameter number so and so: every third is frozen."""
    data = numbers(xp, SHAPES[number % len(SHAPES)], number, kind)
    return xp.nn.Parameter(data, requires_grad=number % 3 != 2)


def buffer(xp, number, kind="float32"):
    """Buffer number so and so: every other one holds whole numbers."""
    return numbers(xp, SHAPES[number % len(SHAPES)], number + 1, "int64" if number % 2 else kind)


class Tree:
    """Modules in modules, from a list of entries: `[kind, name, what]`. What has the same number is the same object."""

    def __init__(self, xp, entries, make=ready):
        self.xp, self.make, self.parameters, self.buffers, self.modules = xp, make, {}, {}, []
        self.root = self.build(entries)

    def build(self, entries):
        module = self.make(self.xp)
        for kind, name, what in entries:
            if kind == "parameter":
                module.register_parameter(name, self.numbered(self.parameters, parameter, what))
            elif kind in ("buffer", "scratch"):
                module.register_buffer(name, self.numbered(self.buffers, buffer, what), persistent=kind == "buffer")
            elif kind == "module":
                module.add_module(name, None if what is None else self.build(what))
            elif self.modules:  # again, one that is complete
                module.add_module(name, self.modules[what % len(self.modules)])
        self.modules.append(module)
        return module

    def numbered(self, known, make, number):
        if number is not None and number not in known:
            known[number] = make(self.xp, number)
        return known.get(number)

    def label(self, x):
        """Which of its objects this is."""
        every = {"parameter": self.parameters, "buffer": self.buffers, "module": dict(enumerate(self.modules))}
        found = (f"{kind} {number}" for kind, known in every.items() for number, each in known.items() if each is x)
        return next(found, "something else")


def _trees(st, depth=2):
    """Entries of a module."""
    number = mostly(st, st.integers(0, 5), st.none())

    @st.composite
    def draw_entries(draw, depth):
        entries = []
        for name in draw(st.permutations(["a", "b", "c", "ab", "d"]))[: draw(st.integers(0, 4))]:
            kinds = ["parameter", "parameter", "buffer", "scratch", "again"] + ["module"] * 3 * (depth > 0)
            kind = draw(st.sampled_from(kinds))
            if kind == "again":
                entries.append([kind, name, draw(st.integers(0, 3))])
            elif kind == "module":
                entries.append([kind, name, draw(mostly(st, draw_entries(depth - 1), st.none()))])
            else:
                entries.append([kind, name, draw(number)])
        return entries

    return draw_entries(depth)


SMALL = [["parameter", "w", 0], ["buffer", "n", 0], ["scratch", "s", 2]]
LARGE = [
    *(["parameter", "w", 0], ["parameter", "none", None], ["scratch", "s", 2], ["buffer", "empty", None]),
    ["module", "layer", [["parameter", "w", 1], ["parameter", "tied", 0], ["buffer", "n", 1], ["parameter", "v", 2]]],
    *(["module", "nobody", None], ["module", "block", [["module", "inner", SMALL], ["buffer", "seen", 3]]]),
    *(["again", "same", 0], ["buffer", "seen", 3]),
]


# Registration --------------------------------------------------------------------------------------------------------

_NAMES = ["a", "a", "a", "b", "b", "c"]
_STRANGE = ["limit", "rate", "training", "forward", "a.b", ""]
_KINDS = ["parameter", "module", "tensor", "buffer", "scratch", "none", "number", "text"]


def _device(xp):
    class Device(xp.nn.Module):
        limit = 3

        def __init__(self):
            """Nothing: the case says when."""

        @property
        def rate(self):
            return self.__dict__.get("_rate", 0)

        @rate.setter
        def rate(self, value):
            self.__dict__["_rate"] = value

    return Device()


def _value(xp, kind, number):
    return {
        "parameter": lambda: parameter(xp, number),
        "module": lambda: ready(xp),
        "tensor": lambda: numbers(xp, [2], number),
        "buffer": lambda: xp.nn.Buffer(numbers(xp, [2], number)),
        "scratch": lambda: xp.nn.Buffer(numbers(xp, [2], number), persistent=False),
        "none": lambda: None,
        "number": lambda: 1000 + number,
        "text": lambda: f"text {number}",
    }[kind]()


def _assignments(st):
    name = mostly(st, st.sampled_from(_NAMES), st.sampled_from(_STRANGE))
    assign = st.tuples(st.just("set"), name, st.sampled_from(_KINDS)).map(list)
    other = st.one_of(
        st.tuples(st.just("delete"), name, st.just("none")),
        st.tuples(st.just("register_buffer"), name, st.sampled_from(["tensor", "none"])),
        st.tuples(st.just("register_scratch"), name, st.just("tensor")),
        st.tuples(st.just("register_parameter"), name, st.sampled_from(["parameter", "none", "tensor"])),
        st.tuples(st.just("add_module"), name, st.sampled_from(["module", "none"])),
    ).map(list)
    return st.fixed_dictionaries(
        {
            "before": mostly(st, st.just([]), st.lists(assign, max_size=2), 2),
            "statements": st.lists(mostly(st, assign, other, 3), max_size=7),
        }
    )


def _stories(*kinds):
    return [{"before": [], "statements": [["set", "a", kind] for kind in kinds]}]


def _about_assigning(case, mine, theirs):
    if "dict" not in mine or "dict" not in theirs:
        return None
    mine, theirs = dict(mine["dict"]), dict(theirs["dict"])
    wrong = next(name for name in theirs if mine.get(name) != theirs[name])
    return {
        "results": "whether the value may be assigned depends on what the name holds so far, in the order of the contract",
        "not saved": "a buffer that was not persistent stays so; whatever takes its name over is not in this set",
        "attributes": "a name is in one place only; and what is no parameter, module or buffer goes through object.__setattr__",
    }.get(wrong, "a name is in one of the three dicts only, and keeps its place in it")


@program(
    "modules.set_attribute",
    cases=_assignments,
    edges=[
        *[story for pair in itertools.product(_KINDS, _KINDS) for story in _stories(*pair)],
        *_stories("parameter", "tensor", "none", "tensor", "parameter", "module", "tensor"),
        *_stories("parameter", "module", "parameter", "buffer", "none", "scratch"),
        *_stories("scratch", "tensor", "none", "number", "tensor", "buffer", "tensor"),
        *_stories("scratch", "parameter", "none", "module", "scratch"),
        *_stories("scratch", "module", "none", "tensor"),
        *[{"before": [["set", "a", kind]], "statements": []} for kind in _KINDS],
        *[{"before": [["set", "a", "tensor"]], "statements": [["set", "a", kind]]} for kind in _KINDS],
        *[{"before": [], "statements": [["set", name, kind]]} for name in _STRANGE for kind in _KINDS],
        *[
            {"before": [], "statements": [["set", name, kind] for name, kind in some]}
            for some in (
                [("a", "parameter"), ("b", "parameter"), ("a", "parameter")],
                [("a", "parameter"), ("b", "parameter"), ("a", "none"), ("a", "parameter")],
                [("a", "module"), ("b", "module"), ("a", "none"), ("a", "module")],
                [("a", "buffer"), ("b", "scratch"), ("a", "tensor"), ("b", "tensor")],
                [("a", "tensor"), ("b", "number"), ("a", "parameter"), ("b", "module")],
                [("a", "scratch"), ("b", "scratch"), ("a", "parameter")],
                [("a", "scratch"), ("b", "scratch"), ("a", "module")],
            )
        ],
        {
            "before": [],
            "statements": [["register_buffer", "a", "none"], ["set", "a", "tensor"], ["set", "a", "number"]],
        },
        {
            "before": [],
            "statements": [["register_scratch", "a", "tensor"], ["set", "a", "none"], ["set", "a", "tensor"]],
        },
        {
            "before": [],
            "statements": [["register_parameter", "a", "none"], ["set", "a", "tensor"], ["set", "a", "parameter"]],
        },
        {
            "before": [],
            "statements": [["register_parameter", "a", "none"], ["set", "a", "module"], ["set", "a", "buffer"]],
        },
        {"before": [], "statements": [["add_module", "a", "none"], ["set", "a", "tensor"], ["set", "a", "module"]]},
        {"before": [], "statements": [["add_module", "a", "none"], ["set", "a", "buffer"], ["set", "a", "parameter"]]},
        {"before": [], "statements": [["set", "a", "parameter"], ["delete", "a", "none"], ["set", "a", "tensor"]]},
        {"before": [], "statements": [["set", "a", "scratch"], ["delete", "a", "none"], ["set", "a", "buffer"]]},
    ],
    hint=_about_assigning,
)
def assignments(xp, before, statements):
    module, labels, results = _device(xp), {id(None): "none"}, []
    kept = []  # so that no two values have the same id
    for number, (verb, name, kind) in enumerate([*before, ("init", "", "none"), *statements]):
        value = _value(xp, kind, number)
        kept.append(value)
        labels.setdefault(id(value), f"{kind} {number}")
        results.append(attempt(_assign, xp, module, verb, name, value))
    return {"results": results} | _registered(module, labels)


def _assign(xp, module, verb, name, value):
    """One statement."""
    return {
        "set": lambda: setattr(module, name, value),
        "delete": lambda: delattr(module, name),
        "register_buffer": lambda: module.register_buffer(name, value),
        "register_scratch": lambda: module.register_buffer(name, value, persistent=False),
        "register_parameter": lambda: module.register_parameter(name, value),
        "add_module": lambda: module.add_module(name, value),
        "init": lambda: xp.nn.Module.__init__(module),
    }[verb]()


def _registered(module, labels):
    """What a module holds, and where."""

    def labelled(members):
        return [[name, labels.get(id(value), "something else")] for name, value in members.items()]

    state = module.__dict__
    names = {*_NAMES, *_STRANGE, "_rate"} - {"training"}
    return {
        "parameters": labelled(state["_parameters"]),
        "modules": labelled(state["_modules"]),
        "buffers": labelled(state["_buffers"]),
        "not saved": sorted(state["_non_persistent_buffers_set"]),
        "attributes": sorted(labelled({name: value for name, value in state.items() if name in names})),
        "training": "training" in state,
    }


# Listing -------------------------------------------------------------------------------------------------------------

_MEMBERS = {
    "parameters": lambda module: module._parameters.items(),
    "buffers": lambda module: module._buffers.items(),
    "modules": lambda module: module._modules.items(),
    "all twice": lambda module: [*module._parameters.items(), *module._buffers.items()] * 2,
}


def _listings(st):
    return st.fixed_dictionaries(
        {
            "entries": _trees(st),
            "of": st.sampled_from(sorted(_MEMBERS)),
            "prefix": st.sampled_from(["", "", "model", "a.b"]),
            "recurse": st.sampled_from([True, True, True, False]),
            "remove_duplicate": st.booleans(),
        }
    )


_TIED = [
    ["module", "encoder", [["parameter", "weight", 0], ["parameter", "bias", 1]]],
    *(["again", "twin", 0], ["parameter", "head", 0], ["parameter", "again", 0]),
]


def _about_listing(case, mine, theirs):
    if "dict" not in mine or "dict" not in theirs:
        return None
    mine, theirs = dict(mine["dict"]), dict(theirs["dict"])
    if mine.get("listed") == theirs["listed"]:
        return (
            "it is a generator: no module is looked for, or asked, before the pairs of those before it have been taken"
        )
    if case["prefix"]:
        return "a name is the prefix, the module's name and the member's, joined by dots; where one is empty there is no dot"
    if case["remove_duplicate"]:
        return (
            "with remove_duplicate a member comes once, under the first of its names; a member that is None never comes"
        )
    return "without remove_duplicate a member comes as often as it is held; a member that is None never comes"


@program(
    "modules.named_members",
    cases=_listings,
    edges=[
        {"entries": entries, "of": of, "prefix": prefix, "recurse": recurse, "remove_duplicate": remove}
        for entries in (LARGE, _TIED)
        for of in sorted(_MEMBERS)
        for prefix in ("", "model")
        for recurse in (True, False)
        for remove in (True, False)
    ]
    + [
        {"entries": [], "of": "parameters", "prefix": "", "recurse": True, "remove_duplicate": True},
        {
            "entries": [["parameter", "a", None]],
            "of": "parameters",
            "prefix": "",
            "recurse": False,
            "remove_duplicate": True,
        },
        {
            "entries": [["module", "a", []]],
            "of": "modules",
            "prefix": "x.y",
            "recurse": True,
            "remove_duplicate": False,
        },
    ],
    hint=_about_listing,
)
def members(xp, entries, of, prefix, recurse, remove_duplicate):
    asked, walked = [], []

    def make(xp):
        class Part(xp.nn.Module):
            def named_modules(self, *args, **kwargs):
                walked.extend([] if self is tree.root else [tree.label(self)])
                return super().named_modules(*args, **kwargs)

        return Part()

    def ask(module):
        asked.append(tree.label(module))
        return _MEMBERS[of](module)

    tree = Tree(xp, entries, make)
    listed = tree.root._named_members(ask, prefix, recurse, remove_duplicate)
    found = {"one after the other": iter(listed) is listed, "listed": [], "asked and walked at first, and at each": []}
    found["asked and walked at first, and at each"].append([len(asked), len(walked)])
    for name, member in listed:
        found["listed"].append([name, tree.label(member)])
        found["asked and walked at first, and at each"].append([len(asked), len(walked)])
    found["asked"] = list(asked)
    found["parameters"] = [tree.label(each) for each in tree.root.parameters()]
    return found


# Calling -------------------------------------------------------------------------------------------------------------

_HOOKS = ["before", "after", "back before", "back after"]
_ADD = [f"add {kind}" for kind in _HOOKS]  # a hook, or forward, registers another hook
_OTHERS_TOO = ["remove", "remove others", "other forward", *_ADD]
_BEFORE = ["see", "tuple", "single", "list", "empty", "triple", "two", "raise", "false", *_OTHERS_TOO]
_BEFORE_KWARGS = ["see", "pair", "tuple", "alone", "empty", "triple", "list of two", "false", *_OTHERS_TOO]
_AFTER = ["see", "replace", "tuple", "empty", "zero", "none", "raise", *_OTHERS_TOO]
_BACK = ["see", "change"]


def _hooked_calls(st):
    hook = st.one_of(
        st.tuples(st.just("before"), st.sampled_from(_BEFORE), st.just(False), st.booleans()),
        st.tuples(st.just("before"), st.sampled_from(_BEFORE_KWARGS), st.just(True), st.booleans()),
        st.tuples(st.just("after"), st.sampled_from(_AFTER), st.booleans(), st.booleans()),
        st.tuples(st.just("back before"), st.sampled_from(_BACK), st.just(False), st.booleans()),
        st.tuples(st.just("back after"), st.sampled_from(_BACK), st.just(False), st.booleans()),
    ).map(list)
    return st.fixed_dictionaries(
        {
            "hooks": st.lists(hook, max_size=5),
            "removed": st.lists(st.integers(0, 4), max_size=1),
            "result": st.sampled_from(["sum", "sum", "both", "dict", "raise", "nothing"]),
            "within": mostly(st, st.just("see"), st.sampled_from(_ADD + ["remove others"])),
            "own": st.sampled_from([False, False, True]),
            "scale": st.sampled_from([None, 3.0]),
            "calls": st.integers(1, 2),
        }
    )


def _hooks(*hooks, result="sum", removed=(), scale=None, calls=1, within="see", own=False):
    """`within` is what `forward` does to the hooks; `own` says that it is an attribute of the module, not of its class."""
    case = {"hooks": [list(h) for h in hooks], "removed": list(removed), "result": result, "within": within}
    return case | {"own": own, "scale": scale, "calls": calls}


def _before(effect, kwargs=False, first=False):
    return "before", effect, kwargs, first


def _after(effect, kwargs=False, first=False):
    return "after", effect, kwargs, first


_BACK_BOTH = [("back before", "change", False, False), ("back after", "change", False, False)]


def _about_hooks(case, mine, theirs):
    effects = {hook[1] for hook in case["hooks"]} | {case["within"]}
    if case["own"] or "other forward" in effects:
        return "forward is module.forward, whether an attribute of the module or of its class, as it is before any hook runs"
    if effects & {"remove", "remove others", *_ADD}:
        return "hooks come and go while others run: the contract says when each of the four dicts is read"
    if effects & {"zero", "false", "empty"}:
        return "whatever a hook returns takes effect unless it is None; zero, False and an empty tuple do too"
    if any(kwargs for _, _, kwargs, _ in case["hooks"]):
        return "a hook whose number is in the _with_kwargs dict is called with the kwargs too"
    if any(kind.startswith("back") for kind, *_ in case["hooks"]):
        return "setup_input_hook comes after the pre-hooks, setup_output_hook after the forward hooks"
    return None


@program(
    "modules.call_impl",
    cases=_hooked_calls,
    edges=[
        _hooks(),
        _hooks(scale=2.0, calls=2),
        *[_hooks(result=result) for result in ("both", "dict", "raise", "nothing")],
        *[_hooks(_before(effect), _before("see"), scale=2.0) for effect in _BEFORE],
        *[_hooks(_before(effect, True), _before("see", True), scale=2.0) for effect in _BEFORE_KWARGS],
        *[_hooks(_after(effect, kwargs), _after("see"), scale=2.0) for effect in _AFTER for kwargs in (False, True)],
        *[_hooks(within=effect, calls=2) for effect in _ADD],
        *[
            _hooks((kind, "see", False, False), within=effect, calls=2)
            for kind in _HOOKS
            for effect in (*_ADD, "remove others")
        ],
        *[_hooks(_before(effect), *_BACK_BOTH, _after("see"), calls=2) for effect in _OTHERS_TOO],
        *[_hooks(*_BACK_BOTH, _after(effect), _after("see"), _before("see"), calls=2) for effect in _OTHERS_TOO],
        _hooks(own=True),
        _hooks(_before("see"), own=True),
        _hooks(_before("other forward"), own=True, calls=2),
        _hooks(_before("empty"), *_BACK_BOTH),
        _hooks(_before("remove"), _before("see"), calls=2),
        _hooks(_before("see"), _before("remove"), calls=2),
        _hooks(_after("remove"), _after("see"), calls=2),
        _hooks(_before("tuple"), _before("single", first=True), _before("see", True)),
        _hooks(_before("pair", True), _after("see", True), _after("replace"), scale=4.0),
        _hooks(_before("pair", True), _before("tuple"), _before("pair", True), _after("see", True), scale=4.0),
        _hooks(_before("tuple"), _after("see"), _after("replace"), _after("see", True)),
        _hooks(_after("replace"), _after("tuple", True), _after("see", first=True)),
        _hooks(_after("replace"), _after("none"), _after("see"), result="both"),
        _hooks(_before("see"), _before("tuple"), _after("replace"), removed=[1]),
        _hooks(_before("see"), _before("tuple"), _after("replace"), removed=[2]),
        _hooks(_before("see"), _after("see"), result="raise"),
        _hooks(_before("raise"), _after("see")),
        *[_hooks(*[hook] * times) for hook in _BACK_BOTH for times in (1, 2)],
        *[_hooks(*_BACK_BOTH, result=result, scale=2.0) for result in ("sum", "both", "nothing", "dict", "raise")],
        _hooks(*_BACK_BOTH, _before("tuple"), _before("see"), _after("replace"), _after("see"), scale=2.0),
        _hooks(*_BACK_BOTH, _before("tuple"), _after("tuple")),
        _hooks(*_BACK_BOTH, _before("two"), _after("see", True), result="both"),
        _hooks(*_BACK_BOTH, *_BACK_BOTH, removed=[1]),
        _hooks(("back before", "see", False, False), ("back before", "change", False, True), calls=2),
        _hooks(("back after", "see", False, False), ("back after", "change", False, True), calls=2),
        _hooks(*_BACK_BOTH, _after("zero")),
    ],
    hint=_about_hooks,
)
def hooked_call(xp, hooks, removed, result, within, own, scale, calls):
    """Hooks, and `forward` itself as `within` says, may register another hook (`add ...`), remove those of other kinds, or
    assign another `forward`; with `own` there is one in the module's dict already."""
    seen, handles = [], []

    class Scale(xp.nn.Module):
        def forward(self, *args, **kwargs):
            seen.append(["forward", _shown(xp, args), _shown(xp, kwargs)])
            _meddle(xp, module, seen, handles, "forward", within)
            if result == "raise":
                raise ValueError("by way of trial")
            total = sum(x for x in args if isinstance(x, xp.Tensor)) * kwargs.get("scale", 1.0)
            return {"sum": total, "both": (total, *args[:1]), "dict": {"sum": total}, "nothing": None}[result]

    module = Scale()
    if own:
        module.forward = _other_forward(seen, "the module's own")
    for number, (kind, effect, kwargs, first) in enumerate(hooks):
        handle = _register(xp, module, seen, handles, number, kind, effect, kwargs, first)
        handles.append((kind, handle))
    for number in removed:
        if number < len(handles):
            handles[number][1].remove()
    kwargs, results = {} if scale is None else {"scale": scale}, []
    with _warned():  # that results without tensors have no way back
        for _ in range(calls):
            inputs = [numbers(xp, [3], number).requires_grad_() for number in range(2)]
            results.append(attempt(_called, xp, module, inputs, kwargs))
    return {"seen": seen, "results": results}


def _other_forward(seen, name):
    def forward(*args, **kwargs):
        seen.append(name)
        return args[0] * 5 if args else None

    return forward


def _meddle(xp, module, seen, handles, kind, effect):
    """What `forward`, or a hook of a kind, does to the hooks and to `forward`."""
    if effect == "remove others":
        for each, handle in handles:
            if each != kind:
                handle.remove()
    elif effect == "other forward":
        module.forward = _other_forward(seen, "another")
    elif effect in _ADD and len(handles) < 8:
        added = effect.removeprefix("add ")
        number = len(handles)
        handles.append((added, _register(xp, module, seen, handles, number, added, "see", False, False)))


def _called(xp, module, inputs, kwargs):
    """One call and, where a graph came of it, the way back."""
    result = module(inputs[0], inputs[1] * 2, **kwargs)
    parts = result if isinstance(result, tuple) else (result,)
    losses = [
        (part * numbers(xp, [3], 5)).sum() for part in parts if isinstance(part, xp.Tensor) and part.requires_grad
    ]
    if losses:
        sum(losses).backward()
    return [_shown(xp, result), [plain(x.grad) for x in inputs]]


def _shown(xp, value):
    """Arguments as they are shown: numbers without their history."""
    if isinstance(value, xp.Tensor):
        return value.detach().tolist()
    if isinstance(value, (list, tuple)):
        return [type(value).__name__, *(_shown(xp, each) for each in value)]
    return {name: _shown(xp, each) for name, each in value.items()} if isinstance(value, dict) else value


def _register(xp, module, seen, handles, number, kind, effect, with_kwargs, first):
    def hook(hooked, *rest):
        seen.append([f"{kind} {number}", hooked is module, _shown(xp, rest)])
        if effect == "remove":
            handles[number][1].remove()
        _meddle(xp, module, seen, handles, kind, effect)
        if effect == "raise":
            raise KeyError("by way of trial")
        if kind.startswith("back"):
            return tuple(None if g is None else g * (number + 2) for g in rest[0]) if effect == "change" else None
        x = rest[0][0] if rest[0] else None
        changed = x * (number + 2) if isinstance(x, xp.Tensor) else numbers(xp, [3], number)
        return {
            "tuple": (changed, *rest[0][1:]),
            "single": changed,
            "list": [changed],
            "empty": (),
            "alone": (changed,),
            "two": (changed, rest[0][-1] if rest[0] else 1),
            "triple": (changed, changed, changed),
            "pair": ((changed, *rest[0][1:]), {"scale": 0.5 + number}),
            "list of two": [(changed,), {}],
            "replace": changed,
            "zero": 0,
            "false": False,
        }.get(effect)

    if kind == "before":
        return module.register_forward_pre_hook(hook, prepend=first, with_kwargs=with_kwargs)
    if kind == "after":
        return module.register_forward_hook(hook, prepend=first, with_kwargs=with_kwargs)
    if kind == "back before":
        return module.register_full_backward_pre_hook(hook, prepend=first)
    return module.register_full_backward_hook(hook, prepend=first)


# Converting ----------------------------------------------------------------------------------------------------------

_CONVERSIONS = {
    "double": lambda xp, x: x.to(xp.float64) if x.dtype.is_floating_point else x,
    "half": lambda xp, x: x.to(xp.float16) if x.dtype.is_floating_point else x,
    "twice": lambda xp, x: x * 2,
    "same": lambda xp, x: x,
    "copy": lambda xp, x: x.clone(),
    "longer": lambda xp, x: xp.stack([x, x]),
    "meta": lambda xp, x: x.to("meta"),
    "long": lambda xp, x: x.to(xp.int64),
}


def _conversions(st):
    return st.fixed_dictionaries(
        {
            "entries": _trees(st),
            "grads": st.lists(st.integers(0, 5), max_size=4),
            "conversion": st.sampled_from(sorted(_CONVERSIONS)),
            "recurse": st.sampled_from([True, True, True, False]),
            "differentiable": st.booleans(),
        }
    )


def _converting(entries, grads, conversion, recurse=True, differentiable=False):
    case = {"entries": entries, "grads": grads, "conversion": conversion, "recurse": recurse}
    return case | {"differentiable": differentiable}


def _about_conversions(case, mine, theirs):
    if case["conversion"] == "meta" and case["differentiable"]:
        return "what takes the place of a gradient has that gradient's requires_grad"
    if case["conversion"] == "meta":
        return "on another device a new Parameter takes the place of the old one, with its requires_grad, and its gradient with it"
    if "dict" not in mine or "dict" not in theirs:
        return None
    if dict(mine["dict"]).get("calls") != dict(theirs["dict"])["calls"]:
        return "children first; then each parameter and its gradient, within no_grad; then the buffers"
    return "a parameter and its gradient stay the objects that they are: they get new data; a buffer is replaced"


@program(
    "modules.apply_impl",
    cases=_conversions,
    edges=[
        _converting(entries, grads, conversion, recurse)
        for entries, grads, recurse in (
            (LARGE, [0, 1], True),
            (SMALL, [0], True),
            (LARGE, [0, 1], False),
            (LARGE, [], True),
        )
        for conversion in _CONVERSIONS
    ]
    + [
        _converting([["parameter", "a", None], ["parameter", "b", 0]], [], "twice"),
        *[_converting([["parameter", "a", 2]], grads, kind) for grads in ([], [2]) for kind in ("meta", "long")],
        _converting([["buffer", "n", 1]], [], "twice"),
        _converting([["module", "m", SMALL], ["again", "n", 0]], [0], "twice"),
        *[
            _converting([["parameter", "a", number]], [number], conversion, differentiable=True)
            for number in (0, 2)
            for conversion in ("meta", "twice")
        ],
    ],
    hint=_about_conversions,
)
def conversions(xp, entries, grads, conversion, recurse, differentiable):
    calls = []

    def make(xp):
        class Part(xp.nn.Module):
            def _apply(self, fn, recurse=True):
                calls.append(["a module", recurse])
                return super()._apply(fn, recurse)

        return Part()

    tree = Tree(xp, entries, make)
    known, views = dict(tree.parameters), {}
    for number, each in known.items():
        if number in grads:
            each.grad = numbers(xp, list(each.shape), number + 7, "float32").requires_grad_(differentiable)
        views[number] = each.detach()
    gradients = {number: each.grad for number, each in known.items()}

    def convert(x):
        calls.append([_place(x), xp.is_grad_enabled()])
        return _CONVERSIONS[conversion](xp, x)

    returned = attempt(lambda: tree.root._apply(convert, recurse) is tree.root)
    with xp.no_grad():
        for view in views.values():
            view.add_(1)  # shows in what is still on this memory
    held = [[name, _state(x), tree.label(x)] for name, x in tree.root.named_parameters(remove_duplicate=False)]
    held += [[name, _state(x)] for name, x in tree.root.named_buffers(remove_duplicate=False)]
    kept = [[_state(each), each.grad is gradients[number]] for number, each in known.items()]
    return {"calls": calls, "returned": returned, "held": held, "kept": kept}


def _place(x):
    """What a tensor is, but for its elements."""
    return f"{x.dtype} {tuple(x.shape)} {x.device.type} {type(x).__name__}".partition(".")[2]


def _state(x):
    """A tensor with what belongs to it."""
    value = _place(x) if x.device.type == "meta" else plain(x)
    grad = None if x.grad is None else _state(x.grad)
    return [value, type(x).__name__, x.requires_grad, x.is_leaf, grad]


# Saving and loading --------------------------------------------------------------------------------------------------


def _savings(st):
    return st.fixed_dictionaries(
        {"entries": _trees(st), "prefix": st.sampled_from(["", "", "model.", "a."]), "keep_vars": st.booleans()}
    )


@program(
    "state_dict.save_to_state_dict",
    cases=_savings,
    edges=[
        {"entries": entries, "prefix": prefix, "keep_vars": keep_vars}
        for entries in (LARGE, SMALL, _TIED, [], [["scratch", "s", 0]], [["buffer", "n", 0], ["parameter", "w", 0]])
        for prefix in ("", "model.")
        for keep_vars in (False, True)
    ],
    hint=lambda case, mine, theirs: "parameters, then buffers that are persistent; those that are None are left out",
)
def saved(xp, entries, prefix, keep_vars):
    tree = Tree(xp, entries)
    whole, own = tree.root.state_dict(prefix=prefix, keep_vars=keep_vars), {"there before": 1}
    tree.root._save_to_state_dict(own, prefix, keep_vars)
    shown = {name: [plain(x), x.requires_grad, tree.label(x)] for name, x in whole.items()}
    with xp.no_grad():
        for x in {**tree.parameters, **{f"buffer {n}": x for n, x in tree.buffers.items()}}.values():
            x.add_(1)
    return {"whole": shown, "own": list(own), "after": {name: plain(x) for name, x in whole.items()}}


_CHANGES = ["drop", "longer", "one", "scalar", "number", "half", "parameter", "frozen", "whole"]


def _loadings(st):
    change = st.tuples(st.integers(0, 7), st.sampled_from(_CHANGES)).map(list)
    extra = st.sampled_from(
        ["x", "w.x", "a.x", "a", "a.b.c", "b.c", "ab.a", "layer", "layer.x.y", "nobody.x", "s", "", ".", "a."]
    )
    return st.fixed_dictionaries(
        {
            "entries": _trees(st),
            "changes": st.lists(change, max_size=3),
            "extra": st.lists(extra, max_size=2, unique=True),
            "prefix": st.sampled_from(["", "", "a.", "model."]),
            "strict": st.booleans(),
            "assign": st.booleans(),
        }
    )


def _loading(entries, *changes, extra=(), prefix="", strict=True, assign=False):
    case = {"entries": entries, "changes": [list(change) for change in changes], "extra": list(extra)}
    return case | {"prefix": prefix, "strict": strict, "assign": assign}


def _changed(xp, x, change):
    """Something else under the same key."""
    return {
        "longer": lambda: numbers(xp, [*x.shape, 2], 3, "float32"),
        "one": lambda: numbers(xp, [1], 3, "float32"),
        "scalar": lambda: numbers(xp, [], 3, "float32"),
        "number": lambda: 5,
        "half": lambda: x.to(xp.float16),
        "parameter": lambda: xp.nn.Parameter(x.to(xp.float32)),
        "frozen": lambda: xp.nn.Parameter(x.to(xp.float32), requires_grad=False),
        "whole": lambda: x.to(xp.int64),
    }[change]()


def _about_loading(case, mine, theirs):
    if "dict" not in mine or "dict" not in theirs:
        return "what goes wrong is noted in the lists; nothing is raised"
    mine, theirs = dict(mine["dict"]), dict(theirs["dict"])
    return {
        "missing": "a key that is not there is noted only if strict",
        "unexpected": "a key with a dot in its rest belongs to a child; one without to a parameter or a persistent buffer",
        "messages": "three things are messages: no tensor, another shape, and an error while copying or assigning",
        "parameters": "it is assigned with setattr: a Parameter under the name of a buffer moves to the parameters",
        "held": "without assign the tensors stay and get new elements; with it they are replaced",
    }.get(next((name for name in theirs if mine.get(name) != theirs[name]), ""))


@program(
    "state_dict.load_from_state_dict",
    cases=_loadings,
    edges=[
        _loading(LARGE),
        _loading(LARGE, assign=True),
        _loading(LARGE, strict=False),
        _loading(SMALL, prefix="model."),
        _loading(SMALL, prefix="a.", extra=["a.x", "x", "a.w.x"]),
        _loading(SMALL, prefix="a.", extra=["b.x", "ab", "a."]),
        _loading([["parameter", "a", 0]], extra=["a.b", "a", "b"]),
        _loading([["parameter", "a", 0]], extra=["a."]),
        _loading(SMALL, (0, "drop"), (0, "drop")),
        _loading(LARGE, (0, "longer"), (1, "number")),
        _loading(LARGE, (0, "number"), (1, "longer")),
        _loading([["parameter", "w", 0], ["parameter", "v", 1]], (0, "longer"), (1, "whole"), assign=True),
        _loading([["parameter", "w", 1]], (0, "longer")),
        _loading([["parameter", "w", 1]], (0, "longer"), assign=True),
        _loading([["module", "a", [["parameter", "b", 0]]]], extra=["a", "a.c", "a.c.d", "b.c"]),
        _loading([["module", "a", None]], extra=["a", "a.c"]),
        _loading([["scratch", "s", 2], ["parameter", "none", None]], extra=["s", "none"]),
        _loading([["scratch", "s", 2], ["parameter", "none", None]], extra=["s", "none"], strict=False),
        _loading(LARGE, extra=["x", "layer", "layer.x", "layer.w.y", "nobody.x", "s", "none", "w.x"]),
        _loading(LARGE, extra=["x", "layer"], strict=False),
        *[_loading(SMALL, (0, c), strict=s, assign=a) for c in _CHANGES for s in (True, False) for a in (True, False)],
        *[_loading(SMALL, (1, change), assign=assign) for change in _CHANGES for assign in (True, False)],
        *[
            _loading(
                [["parameter", "p", number], ["buffer", "b", number], ["parameter", "q", 0]], *changes, assign=assign
            )
            for number in (1, 2, 3)
            for changes in ([(0, "one"), (1, "one")], [(0, "scalar"), (1, "longer")], [(0, "frozen"), (2, "parameter")])
            for assign in (True, False)
        ],
        _loading(SMALL, (0, "longer"), (1, "drop"), extra=["x"]),
        _loading(SMALL, (0, "number"), (1, "number")),
        _loading([["parameter", "w", 0], ["parameter", "v", 1]], (0, "whole"), (1, "frozen"), assign=True),
        _loading([["parameter", "w", 2], ["parameter", "v", 4]], (0, "whole"), (1, "half"), assign=True),
        _loading([["parameter", "w", 2], ["parameter", "v", 5]], (0, "parameter"), (1, "frozen"), assign=True),
        _loading([["parameter", "w", 1], ["parameter", "v", 2]], (0, "one"), (1, "frozen"), assign=True),
    ],
    hint=_about_loading,
)
def loaded(xp, entries, changes, extra, prefix, strict, assign):
    tree, other = Tree(xp, entries), Tree(xp, entries).root
    with xp.no_grad():
        for x in {id(x): x for x in [*other.parameters(), *other.buffers()]}.values():
            x.add_(3)
    given = dict(other.state_dict(prefix=prefix))
    for place, change in changes:
        key = next((key for number, key in enumerate(given) if number == place), None)
        if change == "drop":
            given.pop(key, None)
        elif key is not None and isinstance(given[key], xp.Tensor):
            given[key] = _changed(xp, given[key], change)
    given |= {key: numbers(xp, [2]) for key in extra if key not in given}
    lists, metadata = ([], [], []), {"assign_to_params_buffers": True} if assign else {}
    before = list(given)
    tree.root._load_from_state_dict(given, prefix, metadata, strict, *lists)
    missing, unexpected, messages = lists
    sizes = [[key for key in before if message.startswith(f"size mismatch for {key}:")] for message in messages]
    shown = {"missing": missing, "unexpected": unexpected, "messages": sizes}
    root = tree.root
    own = [*root._parameters.items(), *root._buffers.items()]
    shown["held"] = {
        name: [_state(x), tree.label(x), x is given.get(prefix + name)] for name, x in own if x is not None
    }
    shown["parameters"], shown["buffers"] = list(root._parameters), list(root._buffers)
    shown["not saved"] = sorted(root._non_persistent_buffers_set)
    whole = attempt(lambda: _incompatible(Tree(xp, entries).root, given, strict))
    lazy = _lazily(xp, strict)
    return shown | {"given": list(given) == before, "whole": whole, "without sizes": lazy}


def _lazily(xp, strict):
    """Nothing is known of the sizes on either side."""
    module, lists = xp.nn.LazyLinear(2), ([], [], [])
    given = {"weight": xp.nn.UninitializedParameter(), "bias": xp.nn.UninitializedParameter()}
    module._load_from_state_dict(given, "", {}, strict, *lists)
    return [[len(each) for each in lists], [each is given[name] for name, each in module._parameters.items()]]


def _incompatible(root, given, strict):
    found = root.load_state_dict(given, strict)
    return [sorted(found.missing_keys), sorted(found.unexpected_keys), [plain(x) for x in root.parameters()]]


# How parameters begin ------------------------------------------------------------------------------------------------


@program(
    "initialisation.calculate_fan_in_and_fan_out",
    cases=lambda st: st.fixed_dictionaries({"sizes": st.lists(st.integers(0, 6), max_size=5)}),
    edges=[
        {"sizes": sizes}
        for sizes in (
            *([], [3], [0], [3, 5], [5, 3], [4, 3, 2], [4, 3, 2, 5], [2, 7, 3, 3, 2], [1, 1], [0, 3], [3, 0], [0, 0]),
            *([3, 5, 0], [3, 5, 2, 0], [6, 1, 4], [1, 6, 4], [2, 3, 4, 5, 6]),
        )
    ],
    hint=lambda case, mine, theirs: (
        "sizes are (out, in, *window): the first is fan-out's" if len(case["sizes"]) > 1 else None
    ),
)
def fans(xp, sizes):
    return xp.nn.init._calculate_fan_in_and_fan_out(xp.zeros(sizes))


# Layers and losses ---------------------------------------------------------------------------------------------------


def _slope(xp, result, *leaves):
    """The gradients of the leaves, where each element of the result counts differently."""
    if result.requires_grad:
        (result * numbers(xp, list(result.shape), 4, str(result.dtype).partition(".")[2])).sum().backward()
    return [None if leaf is None else elements(xp, leaf.grad) for leaf in leaves]


_FLOATING = ("float64", "float64", "float32", "float16")


def _normalisations(st):
    @st.composite
    def draw_case(draw):
        x = draw(tensors(st, (1, 4), 4, _FLOATING * 4 + ("int64",)))
        sizes = x["tensor"]["sizes"]
        shape = sizes[-draw(st.integers(1, min(2, len(sizes)))) :]
        fault = draw(st.sampled_from(["", "", "", "", "", "", "", "shape", "weight", "mixed"]))
        if fault == "shape":
            shape = draw(st.sampled_from([[], [*shape, 1], [shape[0] + 1, *shape[1:]], [*sizes, 2]]))
        kinds = dict.fromkeys(("x", "weight", "bias"), x["tensor"]["dtype"])
        if fault == "mixed":
            kinds["weight"] = draw(st.sampled_from(["float32", "float64", "float16"]))
            kinds["bias"] = draw(st.sampled_from([kinds["weight"], "float32", "float64", "float16"]))
        return {
            "x": x,
            "shape": shape,
            "weight": draw(st.sampled_from([None, kinds["weight"]])),
            "bias": draw(st.sampled_from([None, kinds["bias"]])),
            "wrong": fault == "weight",
            "eps": draw(st.sampled_from([1e-5, 1e-5, 0.5, 2.0] if kinds["x"] == "float64" else [0.5, 2.0])),
        }

    return draw_case()


def _normal(x, shape, weight=None, bias=None, eps=0.5, wrong=False):
    return {"x": x, "shape": shape, "weight": weight, "bias": bias, "wrong": wrong, "eps": eps}


def _about_normalisation(case, mine, theirs):
    if "error" in theirs:
        return (
            None
            if "error" in mine
            else "which shapes and dtypes go together is in the contract; no helper compares the dtypes"
        )
    match first_apart(mine, theirs):
        case "contiguous":
            return "the result is contiguous, whatever the strides of the input"
        case "grads":
            return "the result is right, its gradient is not: does autograd see every step?"
        case "result" if case["x"]["tensor"]["dtype"] == "float16":
            return None  # its own rounding, or any other reason
        case "result" if len(case["shape"]) > 1:
            return "a sample is all of the last dimensions, as many as normalized_shape has"
        case "result" if case["weight"] is case["bias"] is None:
            return "eps is added to the variance, before the root; and the variance is divided by n, not by n - 1"
    return None


@program(
    "normalisation.layer_norm",
    cases=_normalisations,
    edges=[
        *[
            _normal(tensor([2, 3], dtype=kind), [3], eps=eps)
            for kind in ("float64", "float32", "float16")
            for eps in (1e-5, 2.0)
        ],
        _normal(tensor([2, 3], dtype="float64"), [2, 3]),
        _normal(tensor([2, 3, 4], dtype="float64"), [4], "float64", "float64"),
        _normal(tensor([2, 3, 4], dtype="float64"), [3, 4], "float64", "float64", 1e-5),
        _normal(tensor([2, 3, 4], dtype="float64"), [2, 3, 4], "float64"),
        _normal(tensor([2, 3, 4], dtype="float64"), [4], None, "float64"),
        _normal(tensor([2, 3], [1, 2], 1, "float64"), [3], "float64", "float64"),
        _normal(tensor([2, 3, 2], [1, 2, 7], 1, "float64"), [3, 2], None, None),
        _normal(tensor([2, 3], [1, 0], 1, "float64"), [3]),
        _normal(tensor([2, 3], [0, 1], 1, "float64"), [3], "float64"),
        _normal(tensor([3], dtype="float64"), [3], "float64", "float64"),
        _normal(tensor([1], dtype="float64"), [1], "float64", "float64"),
        _normal(tensor([2, 1], dtype="float64"), [1], "float64", "float64"),
        _normal(tensor([0, 3], dtype="float64"), [3], "float64", "float64"),
        _normal(tensor([2, 0], dtype="float64"), [0], "float64", "float64"),
        _normal(tensor([3, 9], dtype="float16"), [9], "float16", "float16"),
        _normal(tensor([3, 4], offset=900, dtype="float16"), [4], None, None, 1e-5),
        _normal(tensor([2, 4], dtype="float16"), [4], "float32", "float32"),
        _normal(tensor([2, 4], dtype="float16"), [4], "float32", None),
        _normal(tensor([2, 4], dtype="float16"), [4], None, "float32"),
        _normal(tensor([2, 4], dtype="float16"), [4], "float16", "float32"),
        _normal(tensor([2, 4], dtype="float16"), [4], "float32", "float16"),
        _normal(tensor([2, 4], dtype="float32"), [4], "float32", "float16"),
        _normal(tensor([2, 4], dtype="float32"), [4], "float64", "float32"),
        *[
            _normal(tensor([2, 4], dtype="float32"), [4], weight, bias)
            for weight in ("float64", None)
            for bias in ("float64", None)
        ],
        _normal(tensor([2, 4], dtype="float64"), [4], "float32", None),
        _normal(tensor([2, 4], dtype="float64"), [4], None, "float16"),
        *[
            _normal(tensor([2, 3], dtype="float64"), shape, "float64")
            for shape in ([], [2], [3, 1], [1, 3], [1, 2, 3], [6])
        ],
        *[
            _normal(tensor([2, 3], dtype="float64"), [3], w, b, wrong=True)
            for w in ("float64", None)
            for b in ("float64", None)
        ],
        _normal(tensor([3, 2, 2], dtype="float64"), [2], "float64", None, wrong=True),
        _normal(tensor([3, 2, 2], dtype="float64"), [2], None, "float64", wrong=True),
        _normal(tensor([], [], 2, "float64"), []),
        _normal(tensor([], [], 2, "float64"), [1]),
        _normal(tensor([2, 3], dtype="int64"), [3]),
        _normal(tensor([2, 3], dtype="int64"), [2]),
        _normal(tensor([2, 3], dtype="int64"), [3], "int64", "int64"),
        _normal(tensor([2, 3], dtype="int64"), [3], "float64"),
        _normal(tensor([2, 3], dtype="bool"), [3]),
    ],
    hint=_about_normalisation,
)
def normalised(xp, x, shape, weight, bias, wrong, eps):
    wide = x.dtype in (xp.float32, xp.float64)
    x = x.remainder(11) if wide else x  # small enough for the last digits of a gradient
    x = (x * 0.25).requires_grad_() if x.dtype.is_floating_point else x
    size = [*shape, 2] if wrong else list(shape)
    parameters = [None if kind is None else numbers(xp, size, i, kind) for i, kind in enumerate((weight, bias), 1)]
    if wide:
        parameters = [None if p is None else p.requires_grad_(p.dtype.is_floating_point) for p in parameters]
    result = xp.nn.functional.layer_norm(x, shape, *parameters, eps)
    shown = {"result": elements(xp, result), "contiguous": result.is_contiguous()}
    return shown | {"grads": _slope(xp, result, x, *parameters) if wide else None}


MANY = 1200


def _dropouts(st):
    return st.fixed_dictionaries(
        {
            "p": st.sampled_from([0.0, 0.1, 0.25, 0.5, 0.75, 0.9, 1.0, 0, 1, -0.5, 1.5]),
            "train": st.booleans(),
            "sizes": st.sampled_from([[MANY], [40, 30], [MANY], [0], [2, 0]]),
            "kind": st.sampled_from(["float32", "float64", "float64", "float16"]),
            "turned": st.booleans(),
            "seed": st.integers(0, 1000),
        }
    )


def _drop(p, train=True, sizes=(MANY,), kind="float64", turned=False):
    return {"p": p, "train": train, "sizes": list(sizes), "kind": kind, "turned": turned, "seed": 7}


def _about_dropout(case, mine, theirs):
    if "error" in theirs and "error" not in mine:
        return "p is looked at first, also in evaluation" if not 0 <= case["p"] <= 1 else None
    wrong = first_apart(mine, theirs)
    if case["p"] == 1 and case["train"] and wrong in (None, "factors", "kept"):
        return "if p is 1 nothing is kept, and nothing can be divided by 1 - p"
    return {
        "kept": "1 - p is how likely an element is to be kept",
        "factors": "what is kept is divided by 1 - p, so that the mean stays; and nothing changes in evaluation",
        "like": "the result has the sizes, the dtype and the layout of the input; empty_like gives a tensor for the mask",
        "in a row": "each element is dropped or kept by itself",
        "itself": "with p = 0, in evaluation and without elements the result is the input itself, no copy",
        "slope": "the gradient goes through the same mask",
    }.get(wrong)


@program(
    "random.dropout",
    cases=_dropouts,
    edges=[
        *[_drop(p, train) for p in (0.0, 0, 0.1, 0.25, 0.5, 0.75, 0.9, 1.0, 1, -0.5, 1.5) for train in (True, False)],
        *[_drop(p, train, [0]) for p in (0.5, 0.0, 1.0, 1.5) for train in (True, False)],
        *[_drop(p, True, [40, 30], kind, True) for p in (0.5, 1.0) for kind in ("float64", "float32", "float16")],
        *[_drop(p, train, kind="int64") for p in (0.5, 0.0) for train in (True, False)],
        _drop(math.nan),
        _drop(math.nan, False),
    ],
    hint=_about_dropout,
)
def dropped(xp, p, train, sizes, kind, turned, seed):
    """What does not depend on chance: by which factors elements are multiplied, and about how many are kept."""
    xp.manual_seed(seed)
    data = [1.0 + i % 7 for i in range(math.prod(sizes))]
    x = xp.tensor(data, dtype=getattr(xp, kind)).reshape(sizes)
    x = x.t() if turned and len(sizes) == 2 else x
    x = x.requires_grad_() if kind != "int64" else x
    result = xp.dropout(x, p, train)
    before, after = (each.detach().double().flatten() for each in (x, result))
    ratios = (after / before).tolist()
    kept = sum(ratio != 0 for ratio in ratios) / max(len(ratios), 1)
    expected = 1.0 if not train else 1 - p
    shown = {
        "itself": result is x,
        "like": [str(result.dtype).partition(".")[2], list(result.shape), list(result.stride()), result.requires_grad],
        "factors": sorted({round(ratio, 3 if kind == "float16" else 6) for ratio in ratios}),
        "kept": abs(kept - expected) < 0.08 or not ratios,
        "in a row": _longest_run(ratios) < _too_long(p) or len(set(ratios)) == 1,
        "input": plain(x),
    }
    if kind in ("float32", "float64") and result is not x:
        result.sum().backward()
        shown["slope"] = bool(((x.grad * x.detach() - result.detach()).abs() < 1e-5).all())
    return shown


def _too_long(p):
    """How many neighbours do not fare alike by chance, but once in a hundred thousand times."""
    return math.log(1e-5 / MANY) / math.log(max(p, 1 - p)) if 0 < p < 1 else math.inf


def _longest_run(values):
    return max((len(list(same)) for _, same in itertools.groupby(values)), default=0)


_REDUCTIONS = ["none", "mean", "sum"]


def _classifications(st):
    @st.composite
    def draw_case(draw):
        classes = draw(st.integers(1, 4))
        sizes = draw(
            st.sampled_from([[classes], [3, classes], [3, classes], [2, classes, 2], [2, classes, 2, 2], [0, classes]])
        )
        probabilities = draw(st.integers(0, 2)) == 0
        fault = draw(st.integers(0, 15))
        return {
            "sizes": sizes,
            "truth": "probabilities" if probabilities else "classes" if fault else "too large",
            "weight": draw(st.sampled_from([None, None, classes, classes, classes + (fault == 1)])),
            "reduction": draw(st.sampled_from(_REDUCTIONS)),
            "ignore": draw(
                st.sampled_from([-100, -100, -100, 0, 1, 7] if not probabilities or fault == 2 else [-100, -1])
            ),
            "smoothing": draw(st.sampled_from([0.0, 0.0, 0.1, 0.5, 1.0, 1.5 if fault == 3 else 0.2])),
            "kind": draw(st.sampled_from(["float64", "float64", "float32"])),
            "scale": draw(st.sampled_from([1, 1, 1, 1000, 0])),
        }

    return draw_case()


def _entropy(sizes=(3, 4), truth="classes", **others):
    case = {"sizes": list(sizes), "truth": truth, "weight": None, "reduction": "mean", "ignore": -100, "smoothing": 0.0}
    return case | {"kind": "float64", "scale": 1} | others


def _about_entropy(case, mine, theirs):
    if "error" in mine or "error" in theirs:
        return None
    if case["scale"] == 0 and case["smoothing"] <= 0:
        return "a class that is masked out has the logarithm -inf: without smoothing only that of the true class counts"
    if len(case["sizes"]) != 2:
        return "dimension 1 is that of the classes, and the places come after it; of one sample alone it is dimension 0"
    if case["truth"] == "classes" and case["smoothing"] > 0:
        return (
            "s of the truth is shared by all classes, the true one included, s / classes each; this part has its own mean, and"
            " of_all_classes computes it"
        )
    if case["scale"] == 1000:
        return "log_softmax, not the logarithm of a softmax that was rounded to 0"
    return None


@program(
    "losses.cross_entropy_loss",
    cases=_classifications,
    edges=[
        *[
            _entropy(truth=truth, reduction=reduction, weight=weight, smoothing=smoothing)
            for truth in ("classes", "probabilities")
            for reduction in _REDUCTIONS
            for weight in (None, 4)
            for smoothing in (0.0, 0.3)
        ],
        *[
            _entropy(sizes, truth, reduction=reduction, weight=weight, smoothing=0.25)
            for sizes in ([3], [2, 3, 2], [2, 3, 2, 2])
            for truth in ("classes", "probabilities")
            for reduction, weight in (("none", sizes[0] if len(sizes) == 1 else 3), ("mean", None))
        ],
        *[
            _entropy(ignore=ignore, reduction=reduction, weight=weight, smoothing=smoothing)
            for ignore in (0, 1)
            for reduction in _REDUCTIONS
            for weight, smoothing in ((None, 0.0), (4, 0.0), (None, 0.3), (4, 0.3))
        ],
        *[
            _entropy(ignore=7, smoothing=smoothing, reduction=reduction)
            for smoothing in (0.0, 0.3)
            for reduction in _REDUCTIONS
        ],
        *[_entropy(truth="probabilities", ignore=ignore) for ignore in (-1, 0, 1)],
        *[_entropy(truth=truth, smoothing=s) for truth in ("classes", "probabilities") for s in (1.0, 1.5, -0.5)],
        *[_entropy(truth=truth, scale=1000, smoothing=s) for truth in ("classes", "probabilities") for s in (0.0, 0.3)],
        *[_entropy(truth=truth, weight=3) for truth in ("classes", "probabilities", "whole")],
        *[
            _entropy([0, 3], truth, reduction=reduction)
            for truth in ("classes", "probabilities")
            for reduction in _REDUCTIONS
        ],
        *[_entropy([2, 1], truth, smoothing=0.5) for truth in ("classes", "probabilities")],
        *[_entropy([2, 0], "probabilities", smoothing=s, reduction="sum") for s in (0.0, 0.5)],
        _entropy([2, 0], reduction="sum"),
        *[_entropy([2, 3, 2], truth, ignore=1, smoothing=0.5, weight=3) for truth in ("classes", "probabilities")],
        *[_entropy(reduction=reduction, scale=0) for reduction in _REDUCTIONS],
        _entropy(truth="whole"),
        _entropy(truth="whole", ignore=2, smoothing=1.5),
        _entropy(truth="too large"),
        _entropy(truth="too large", smoothing=0.3),
        _entropy(truth="too many"),
        _entropy([3], truth="too large"),
        _entropy(kind="float32", scale=1000),
        _entropy([1], "classes"),
        _entropy([3, 4], "classes", weight=5, smoothing=0.3),
    ],
    hint=_about_entropy,
)
def classification(xp, sizes, truth, weight, reduction, ignore, smoothing, kind, scale):
    scores = numbers(xp, sizes, 1, kind) * (scale or 1)
    if scale == 0 and 0 not in sizes:
        scores.view(-1)[0] = -math.inf  # a class that is masked out
    scores = scores.requires_grad_()
    class_dim = min(1, len(sizes) - 1)
    places = [size for dim, size in enumerate(sizes) if dim != class_dim]
    count = max(sizes[class_dim], 1)
    if truth == "probabilities":
        target = (numbers(xp, sizes, 2, kind) + 1.25).requires_grad_()
    elif truth == "whole":
        target = xp.ones(sizes, dtype=xp.int64)
    else:
        values = [(i * 5 + 1) % count for i in range(math.prod(places))]
        values = [ignore if value == 0 and ignore >= count else value for value in values]
        values = [value + count * (truth == "too large" and i == 1 % len(values)) for i, value in enumerate(values)]
        target = xp.tensor(values, dtype=xp.int64).reshape(places)
        target = xp.cat([target, target]) if truth == "too many" else target
    weights = None if weight is None else numbers(xp, [weight], 3, kind) + 1.5
    loss = xp.nn.functional.cross_entropy(
        scores, target, weight=weights, ignore_index=ignore, reduction=reduction, label_smoothing=smoothing
    )
    return {
        "loss": elements(xp, loss),
        "grads": _slope(xp, loss, scores, target),
        "scores": plain(scores),
        "target": plain(target),
    }


def _decisions(st):
    @st.composite
    def draw_case(draw):
        sizes = draw(st.sampled_from([[3], [2, 3], [2, 3], [2, 2, 3], [], [0], [1]]))
        narrow = [None, None, sizes, sizes[1:], [1] * len(sizes), []]
        return {
            "sizes": sizes,
            "weight": draw(st.sampled_from(narrow)),
            "pos_weight": draw(st.sampled_from(narrow)),
            "reduction": draw(st.sampled_from(_REDUCTIONS)),
            "kind": draw(st.sampled_from(["float64", "float64", "float32"])),
            "scale": draw(st.sampled_from([1, 4, 1000])),
        }

    return draw_case()


def _decision(sizes=(2, 3), **others):
    case = {
        "sizes": list(sizes),
        "weight": None,
        "pos_weight": None,
        "reduction": "mean",
        "kind": "float64",
        "scale": 1,
    }
    return case | others


def _about_decisions(case, mine, theirs):
    if case["scale"] > 100:
        return "exp only of numbers that are not positive: the logarithm of a sigmoid that was rounded to 0 is -inf"
    if case["pos_weight"] is not None:
        mean = "; a mean is that of all elements, whatever the weights" if case["reduction"] == "mean" else ""
        return f"pos_weight counts what belongs to t only{mean}"
    return None


@program(
    "losses.binary_cross_entropy_with_logits",
    cases=_decisions,
    edges=[
        *[
            _decision(reduction=reduction, weight=weight, pos_weight=pos_weight)
            for reduction in _REDUCTIONS
            for weight in (None, [3], [2, 3], [2, 1])
            for pos_weight in (None, [3], [1])
        ],
        *[_decision(scale=scale, kind=kind) for scale in (40, 1000) for kind in ("float64", "float32")],
        *[_decision(scale=1000, pos_weight=[3], reduction=reduction) for reduction in _REDUCTIONS],
        *[_decision([0], reduction=reduction) for reduction in _REDUCTIONS],
        *[_decision([], reduction=reduction, weight=[]) for reduction in _REDUCTIONS],
        _decision(kind="int64"),
        _decision(pos_weight=[2]),
        _decision(weight=[2]),
    ],
    hint=_about_decisions,
)
def decisions(xp, sizes, weight, pos_weight, reduction, kind, scale):
    scores = numbers(xp, sizes, 1, "float64") * scale
    scores = scores.to(getattr(xp, kind)) if kind == "int64" else scores.to(getattr(xp, kind)).requires_grad_()
    second = "float64" if kind == "int64" else kind
    target = (numbers(xp, sizes, 6, second) + 1) / 2.5
    weights = [
        None if shape is None else numbers(xp, shape, i, second) + 1.5
        for i, shape in enumerate([weight, pos_weight], 2)
    ]
    target = target.requires_grad_() if second == "float64" else target
    loss = xp.nn.functional.binary_cross_entropy_with_logits(
        scores, target, weights[0], pos_weight=weights[1], reduction=reduction
    )
    shown = {"loss": elements(xp, loss), "grads": _slope(xp, loss, scores, target)}
    return shown | {"scores": plain(scores), "target": plain(target), "weights": weights}


# Optimisers ----------------------------------------------------------------------------------------------------------

_PARAMS = [
    "one",
    "list",
    "tuple",
    "generator",
    "set",
    "number",
    "none in it",
    "no leaf",
    "retains",
    "twice",
    "empty",
    "known",
]


def _groupings(st):
    group = st.fixed_dictionaries(
        {
            "params": st.sampled_from(_PARAMS),
            "start": st.integers(0, 3),
            "settings": _settings_of(st, ["lr", "momentum", "note"]),
        }
    )
    return st.fixed_dictionaries(
        {
            "kind": st.sampled_from(["SGD", "Adam"]),
            "first": st.sampled_from(["list", "generator", "groups"]),
            "groups": st.lists(group, max_size=3),
        }
    )


def _settings_of(st, names):
    return st.dictionaries(st.sampled_from(names), st.sampled_from([0.5, 0.0, 2.0]), max_size=2)


def _grouping(*groups, kind="SGD", first="list"):
    groups = [{"params": params, "start": start, "settings": settings} for params, start, settings in groups]
    return {"kind": kind, "first": first, "groups": groups}


@program(
    "optim.add_param_group",
    cases=_groupings,
    edges=[
        _grouping(),
        _grouping(first="generator"),
        _grouping(first="groups", kind="Adam"),
        *[
            _grouping((params, 1, {}))
            for params in (*_PARAMS, "no dict", "no true dict", "no params", "one number", "alike")
        ],
        *[_grouping((params, 1, {"lr": 0.5, "note": 1.0}), kind="Adam") for params in _PARAMS],
        _grouping(("list", 1, {"lr": 0.5}), ("list", 2, {}), ("list", 1, {})),
        _grouping(("one", 1, {"momentum": 0.5}), ("one", 3, {"lr": 2.0})),
        _grouping(("twice", 1, {}), ("twice", 1, {})),
        _grouping(("list", 1, {}), ("half known", 2, {"lr": 0.25}), ("list", 3, {})),
        _grouping(("empty", 1, {}), ("empty", 1, {"lr": 0.0})),
    ],
    hint=lambda case, mine, theirs: {
        "results": "of each group: its error, whether there was a warning, whether the dict itself was added and its params are"
        " a new list, and how many groups there are then; a group that is refused is not added",
        "groups": "what the group does not say comes from optimizer.defaults, and what it says stays",
        "defaults": "optimizer.defaults are only read",
    }.get(first_apart(mine, theirs)),
)
def groupings(xp, kind, first, groups):
    pool = [xp.zeros(2).requires_grad_() for _ in range(10)]
    labels = {id(each): f"parameter {number}" for number, each in enumerate(pool)}

    def chosen(params, start):
        some = pool[2 * start : 2 * start + 2]
        return {
            "one": lambda: some[0],
            "list": lambda: some,
            "tuple": lambda: tuple(some),
            "generator": lambda: (each for each in some),
            "set": lambda: set(some),
            "number": lambda: [*some, 3],
            "one number": lambda: [3],
            "none in it": lambda: [some[0], None],
            "no leaf": lambda: [some[0], some[1] * 2],
            "retains": lambda: [_retaining(some[1] * 2)],
            "twice": lambda: [some[0], some[1], some[0]],
            "empty": lambda: [],
            "known": lambda: [some[0], pool[1]],
            "half known": lambda: [pool[2], some[1]],
            "alike": lambda: [xp.zeros(2), xp.zeros(2)],
        }[params]()

    given = {
        "list": pool[:2],
        "generator": (each for each in pool[:2]),
        "groups": [{"params": pool[:1], "lr": 0.75}, {"params": pool[1]}],
    }
    optimizer, results = getattr(xp.optim, kind)(given[first], lr=0.25), []
    for each in groups:
        made = {"params": None} | each["settings"]
        if each["params"] == "no dict":
            made = [pool[5]]
        elif each["params"] == "no true dict":
            made = UserDict(made | {"params": [pool[5]]})
        elif each["params"] == "no params":
            del made["params"]
        else:
            made["params"] = chosen(each["params"], each["start"])
        source = made["params"] if isinstance(made, dict) and "params" in made else None
        with _warned() as warned:
            result = attempt(optimizer.add_param_group, made)
        added = optimizer.param_groups[-1]
        same = [added is made, isinstance(added["params"], list) and added["params"] is not source]
        warned = bool(warned) if result is None else None  # before an error it is all the same
        results.append([result, warned, *same, len(optimizer.param_groups)])
    held = [
        {
            name: [labels.get(id(p), "another") for p in value] if name == "params" else value
            for name, value in sorted(group.items())
        }
        for group in optimizer.param_groups
    ]
    return {"results": results, "groups": held, "defaults": sorted(optimizer.defaults)}


def _retaining(x):
    x.retain_grad()
    return x


@contextmanager
def _warned():
    """The UserWarnings until the end, in a list that is filled then."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        kept = []
        yield kept
        kept += [each for each in caught if issubclass(each.category, UserWarning)]


_SIZES = ([3], [2, 2], [], [2])


def _stepping(st, kinds, settings):
    """An optimiser, settings of a second group, which gradients there are in each step, and what changes before it."""
    one, two, four = (_some(st, settings, most) for most in (1, 2, 4))
    change = mostly(st, st.just({}), one, 2)

    @st.composite
    def draw_case(draw):
        count = draw(st.integers(1, 3))
        gradient = mostly(st, st.integers(0, 9), st.none())
        gradients = st.lists(st.lists(gradient, min_size=count, max_size=count), min_size=1, max_size=4)
        return {
            "kind": draw(st.sampled_from(kinds)),
            "settings": draw(four),
            "second": draw(st.one_of(st.none(), two)),
            "gradients": (steps := draw(gradients)),
            "changes": [draw(change) if i else {} for i in range(len(steps))],
            "digits": draw(st.sampled_from(["float64", "float64", "float32"])),
            "infinite": False,  # what is left alone where there is no decay is for the edges
        }

    return draw_case()


def _some(st, settings, most):
    """A few of these settings, each with one of its values."""

    @st.composite
    def draw_some(draw):
        names = draw(st.lists(st.sampled_from(sorted(settings)), max_size=most, unique=True))
        return {name: draw(st.sampled_from(settings[name])) for name in names}

    return draw_some()


def _steps(
    kind="SGD",
    gradients=((1, 2), (3, 4), (0, 5)),
    second=None,
    changes=None,
    digits="float64",
    infinite=False,
    **settings,
):
    gradients = [list(each) for each in gradients]
    case = {"kind": kind, "settings": settings, "second": second, "gradients": gradients, "digits": digits}
    return case | {"changes": changes or [{}] * len(gradients), "infinite": infinite}


def stepped(xp, kind, settings, second, gradients, changes, digits, infinite):
    """The parameters and the state after each step. Afterwards the gradients are overwritten: what was kept must not be."""
    params = [numbers(xp, _SIZES[i], i, digits) for i in range(len(gradients[0]))]
    if infinite:
        params[0][0] = math.inf
    params = [each.requires_grad_() for each in params]
    memory = [each.detach() for each in params]
    groups = [{"params": params}] if second is None else [{"params": params[:1]}, {"params": params[1:], **second}]
    optimizer, shown = getattr(xp.optim, kind)(groups, **settings), []
    for row, change in zip(gradients, changes):
        optimizer.param_groups[0].update(change)
        for each, number in zip(params, row):
            each.grad = None if number is None else numbers(xp, list(each.shape), number, digits) + 0.125
        before = [plain(each.grad) for each in params]
        kept = [dict(optimizer.state.get(each, {})) for each in params]
        optimizer.step()
        same = [each.grad is None or bool((each.grad == old).all()) for each, old in zip(params, before)]
        state = _remembered(optimizer, params)
        for each in params:
            if each.grad is not None:
                each.grad.fill_(9)
        later = _remembered(optimizer, params)
        apart = [_alike(x, y) for a, b in zip(state, later) for (_, x), (_, y) in zip(a, b) if x is not None]
        stays = [[name for name, x in old.items() if optimizer.state[p][name] is not x] for p, old in zip(params, kept)]
        now = {"params": [plain(each) for each in params], "state": state, "gradients as they were": same}
        shown.append(now | {"replaced in the state": stays, "not on the gradients' memory": apart})
    in_place = [_alike(each.detach(), old) for each, old in zip(params, memory)]
    return {"steps": shown, "in place": in_place, "leaves": [each.is_leaf and each.requires_grad for each in params]}


def _remembered(optimizer, params):
    """What the optimiser holds of each parameter, as it is now."""
    known = [optimizer.state[each] for each in params if each in optimizer.state]
    return [sorted((name, plain(value)) for name, value in each.items()) for each in known]


def _alike(x, y):
    """Whether two tensors have the same elements, nan too."""
    return bool(((x == y) | ((x != x) & (y != y))).all())


_OF_SGD = {
    "lr": [0.0, 0.1, 0.5, 1.0],
    "momentum": [0.0, 0.5, 0.9],
    "dampening": [0.0, 0.25, 1.0],
    "weight_decay": [0.0, 0.1, 0.5],
    "nesterov": [True, False],
    "maximize": [True, False],
}


def _about_sgd(case, mine, theirs):
    if said := _about_steps(case, mine, theirs):
        return said
    wrong = _wrong_in_steps(mine, theirs)
    if "state" in wrong and case["settings"].get("dampening"):
        return "the first step is not damped: the buffer begins as the gradient itself, not as 1 - dampening times it"
    if "state" in wrong:
        return "what goes into the buffer is the gradient, with its sign and the weight decay, and without lr"
    return None


def _about_steps(case, mine, theirs):
    """What can be said of any optimiser."""
    wrong = _wrong_in_steps(mine, theirs)
    if "gradients as they were" in wrong:
        return "the gradients are only read; weight decay and the sign make new tensors"
    if case["infinite"]:
        return "what is only done if a setting is not 0 is left out if it is 0: 0 times infinity is nan"
    if "not on the gradients' memory" in wrong:
        return "what is remembered lives on memory of its own: after the step each gradient is overwritten"
    if wrong == {"replaced in the state"}:
        return "what is remembered is changed in place, it is not replaced"
    return None


def _wrong_in_steps(mine, theirs):
    """In which entries the first step that is wrong is so."""
    both = parts(mine, theirs)
    for a, b in zip(both[0].get("steps", []), both[1]["steps"]) if both else ():
        step = parts(a, b)
        if step and (wrong := {key for key in step[1] if difference(step[0].get(key), step[1][key])}):
            return wrong
    return set()


@program(
    "optim.sgd",
    cases=lambda st: _stepping(st, ["SGD"], _OF_SGD),
    edges=[
        _steps(),
        _steps(lr=0.5),
        _steps(digits="float32", lr=0.5, momentum=0.9, weight_decay=0.1),
        _steps(weight_decay=0.5, lr=0.5),
        _steps(maximize=True, lr=0.5),
        _steps(maximize=True, weight_decay=0.5, lr=0.5),
        *[_steps(momentum=0.9, lr=0.5, **{name: value}) for name, value in (("dampening", 0.25), ("dampening", 1.0))],
        *[
            _steps(momentum=0.9, lr=0.5, nesterov=nesterov, maximize=m)
            for nesterov in (True, False)
            for m in (True, False)
        ],
        *[_steps(momentum=0.9, lr=0.5, nesterov=nesterov, weight_decay=0.25) for nesterov in (True, False)],
        _steps(momentum=0.9, lr=0.5, weight_decay=0.25, maximize=True, nesterov=True),
        _steps(momentum=0.5, lr=0.5, weight_decay=0.25, dampening=0.5, maximize=True),
        _steps(gradients=[[1, None], [None, 2], [3, 4]], momentum=0.9, lr=0.5),
        _steps(gradients=[[1, None, 2], [1, None, 2], [3, 4, 5]], momentum=0.9, lr=0.5, dampening=0.5),
        _steps(gradients=[[None, None]], momentum=0.9),
        _steps(second={"lr": 0.25, "momentum": 0.5}, lr=0.5),
        _steps(second={"weight_decay": 0.25, "maximize": True}, lr=0.5, momentum=0.5),
        _steps(changes=[{}, {"momentum": 0.5}, {"momentum": 0.0}], lr=0.5),
        _steps(changes=[{}, {"lr": 0.1}, {"weight_decay": 0.5}], lr=0.5, momentum=0.5),
        _steps(changes=[{}, {"dampening": 0.5}, {"nesterov": True}], lr=0.5, momentum=0.5),
        _steps(lr=0.0, momentum=0.5),
        _steps(nesterov=True),
        *[_steps(lr=0.5, weight_decay=0.1, momentum=m, changes=[{"weight_decay": -0.5}, {}, {}]) for m in (0.0, 0.5)],
        _steps(lr=0.5, changes=[{"momentum": -0.5}, {}, {}]),
        _steps(gradients=[[1]], lr=0.5, weight_decay=0.0, infinite=True),
        _steps(lr=0.5, weight_decay=1.0),
        _steps(lr=0.5, changes=[{"weight_decay": -1.0}, {"momentum": -1.0}, {"momentum": 1.0}]),
        _steps(lr=0.5, momentum=1.0, infinite=True),
    ],
    hint=_about_sgd,
)
def sgd_steps(xp, kind, settings, second, gradients, changes, digits, infinite):
    return stepped(xp, kind, settings, second, gradients, changes, digits, infinite)


_OF_ADAM = {
    "lr": [0.0, 0.1, 0.5, 1.0],
    "betas": [[0.9, 0.999], [0.5, 0.75], [0.0, 0.5], [0.5, 0.0]],
    "eps": [1e-8, 0.1, 1.0],
    "weight_decay": [0.0, 0.1, 0.5],
    "amsgrad": [True, False],
    "maximize": [True, False],
}


def _about_adam(case, mine, theirs):
    if said := _about_steps(case, mine, theirs):
        return said
    wrong = _wrong_in_steps(mine, theirs)
    if "state" in wrong:
        if case["settings"].get("weight_decay") or case["kind"] == "AdamW":
            return "AdamW makes the parameter smaller before anything else, Adam adds to the gradient"
        if case["settings"].get("amsgrad"):
            return "w is the largest v so far, element by element; it is not corrected before it is compared"
        return None
    if wrong == {"params"} and not case["settings"].get("weight_decay") and case["kind"] == "Adam":
        if case["settings"].get("eps", 0) > 0.01:
            return "what is remembered is right, the parameters are not: eps is added after the root and after its correction"
        return (
            "what is remembered is right, the parameters are not: the corrections 1 - beta ** t are those of the step that is"
            " being made, whose t is 1 at first"
        )
    return None


@program(
    "optim.adam",
    cases=lambda st: _stepping(st, ["Adam", "Adam", "AdamW"], _OF_ADAM),
    edges=[
        *[_steps(kind, lr=0.5) for kind in ("Adam", "AdamW")],
        *[_steps(kind, lr=0.5, weight_decay=0.5) for kind in ("Adam", "AdamW")],
        *[_steps(kind, lr=0.5, weight_decay=0.5, maximize=True, eps=0.1) for kind in ("Adam", "AdamW")],
        *[_steps(kind, lr=0.5, amsgrad=True, betas=[0.5, 0.25], weight_decay=0.1) for kind in ("Adam", "AdamW")],
        *[
            _steps(kind, lr=0.5, amsgrad=True, maximize=True, eps=0.1, gradients=[[9, 1], [2, 2], [2, 3]])
            for kind in ("Adam", "AdamW")
        ],
        *[_steps("Adam", lr=0.5, betas=betas, eps=eps) for betas in _OF_ADAM["betas"] for eps in (1e-8, 1.0)],
        _steps("Adam", lr=0.5, decoupled_weight_decay=True, weight_decay=0.5),
        _steps("Adam", digits="float32", lr=0.1, weight_decay=0.1, amsgrad=True),
        _steps("Adam", gradients=[[1, None], [None, 2], [3, 4]], lr=0.5, eps=0.1),
        _steps("AdamW", gradients=[[1, None, 2], [1, None, 2], [3, 4, 5], [1, 2, 3]], lr=0.5, betas=[0.5, 0.5]),
        _steps("Adam", gradients=[[None, None]]),
        _steps("Adam", second={"lr": 0.25, "betas": [0.5, 0.5], "amsgrad": True}, lr=0.5),
        _steps("AdamW", second={"weight_decay": 0.25, "maximize": True, "eps": 0.5}, lr=0.5),
        _steps("Adam", changes=[{}, {"lr": 0.1}, {"weight_decay": 0.5}], lr=0.5),
        _steps("Adam", changes=[{}, {"maximize": True}, {"eps": 0.5}], lr=0.5),
        _steps("AdamW", changes=[{"weight_decay": -0.5}, {}, {}], lr=0.5),
        _steps("Adam", changes=[{"weight_decay": -0.5}, {}, {}], lr=0.5),
        _steps("Adam", lr=0.0),
        *[_steps(kind, lr=0.5, weight_decay=w) for kind in ("Adam", "AdamW") for w in (0.0, 1.0)],
        *[_steps(kind, lr=0.5, changes=[{"weight_decay": -1.0}, {}, {}]) for kind in ("Adam", "AdamW")],
        *[_steps(kind, [[1]], lr=0.5, weight_decay=0.0, infinite=True) for kind in ("Adam", "AdamW")],
    ],
    hint=_about_adam,
)
def adam_steps(xp, kind, settings, second, gradients, changes, digits, infinite):
    return stepped(xp, kind, settings, second, gradients, changes, digits, infinite)


def _schedules(st):
    rate = st.sampled_from([1.0, 0.5, 2.0, 0.25])
    return st.fixed_dictionaries(
        {
            "rates": st.lists(rate, min_size=1, max_size=2),
            "T_max": st.integers(1, 6),
            "eta_min": st.sampled_from([0, 0.0, 0.125, 0.5, 1.0]),
            "steps": st.integers(1, 14),
            "times": st.dictionaries(
                st.sampled_from(["1", "2", "3", "5"]), st.sampled_from([0.5, 2.0, 1.5]), max_size=2
            ),
        }
    )


def _cosine(rates=(1.0,), T_max=4, eta_min=0.0, steps=12, **times):
    return {"rates": list(rates), "T_max": T_max, "eta_min": eta_min, "steps": steps, "times": times.get("times", {})}


@program(
    "schedules.cosine_annealing",
    cases=_schedules,
    edges=[
        *[_cosine(T_max=T_max, eta_min=eta_min, steps=13) for T_max in (1, 2, 3, 4, 5) for eta_min in (0, 0.25)],
        _cosine([1.0, 0.5], eta_min=0.125),
        _cosine([0.25], eta_min=0.5),
        _cosine(times={"2": 2.0}),
        _cosine(times={"4": 2.0}),
        _cosine([2.0, 0.5], 3, 0.125, times={"1": 0.5, "5": 2.0}),
        _cosine(T_max=50, steps=3),
        _cosine([1.0, 0.25], 3, 0.5, 8, times={"1": 0.5, "2": 0.5}),
    ],
    hint=lambda case, mine, theirs: (
        "the next rate comes from the one before, not from the number of steps; something else may have changed it"
        if case["times"]
        else "one step after each bottom, and only there, the quotient is 0 / 0 and the other rule holds"
    ),
)
def cosine(xp, rates, T_max, eta_min, steps, times):
    groups = [{"params": [xp.zeros(1).requires_grad_()], "lr": rate} for rate in rates]
    optimizer = xp.optim.SGD(groups)
    schedule, seen = xp.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max, eta_min), []
    for step in range(steps):
        optimizer.step()
        schedule.step()
        seen.append([group["lr"] for group in optimizer.param_groups])
        for group in optimizer.param_groups:
            group["lr"] *= times.get(str(step), 1.0)
    return seen


# Clipping ------------------------------------------------------------------------------------------------------------


def _clippings(st):
    gradient = mostly(st, st.integers(0, 9), st.sampled_from([None, None, -1, -2, -3]))
    return st.fixed_dictionaries(
        {
            "gradients": st.lists(gradient, max_size=4),
            "given": st.sampled_from(["list", "generator", "one", "dict"]),
            "max_norm": st.sampled_from([0.5, 1, 1.0, 3.0, 100.0, 0.0]),
            "norm_type": st.sampled_from([2.0, 2.0, 2, 1.0, 3.0, math.inf, -math.inf, 0.0, "inf", 0.5]),
            "error": st.booleans(),
            "digits": st.sampled_from(["float64", "float64", "float32"]),
        }
    )


def _clipping(gradients=(1, 2, 3), max_norm=1.0, norm_type=2.0, given="list", error=False, digits="float64"):
    case = {"gradients": list(gradients), "given": given, "max_norm": max_norm, "norm_type": norm_type}
    return case | {"error": error, "digits": digits}


def _about_clipping(case, mine, theirs):
    if case["given"] == "generator":
        return "an iterator can be read once only, and the gradients are needed twice"
    if case["max_norm"] == 100.0:
        return "gradients that are short enough stay: they are never made longer"
    if any(number is not None and number < 0 for number in case["gradients"]):
        return "a norm that is not finite is refused, if asked for, before anything is changed"
    return "all gradients are one vector; it is multiplied by max_norm / (norm + 1e-6) where that is less than 1"


@program(
    "clip_grad.clip_grad_norm_",
    cases=_clippings,
    edges=[
        *[
            _clipping(norm_type=norm, max_norm=most)
            for norm in (2.0, 1.0, 3.0, math.inf, -math.inf, 0.0, "inf")
            for most in (0.5, 100.0)
        ],
        *[_clipping(given=given, max_norm=most) for given in ("generator", "one", "dict") for most in (0.5, 100.0)],
        *[
            _clipping([number, 1], norm_type=norm, error=error)
            for number in (-1, -2, -3)
            for norm in (2.0, math.inf)
            for error in (True, False)
        ],
        *[_clipping([None, 1, None], error=error) for error in (True, False)],
        *[
            _clipping(some, given=given, error=error)
            for some in ([], [None])
            for given in ("list", "generator")
            for error in (True, False)
        ],
        _clipping([None], given="one"),
        _clipping(max_norm=1e-6),
        _clipping(max_norm=0.0),
        _clipping(max_norm=1),
        _clipping(max_norm=-1.0),
        _clipping(digits="float32", max_norm=0.5),
        _clipping(norm_type=2, max_norm=0.5),
        _clipping([1], max_norm=math.inf),
        _clipping([1], max_norm=math.nan),
    ],
    hint=_about_clipping,
)
def clipped(xp, gradients, given, max_norm, norm_type, error, digits):
    params = [numbers(xp, _SIZES[i], i, digits).requires_grad_() for i in range(len(gradients))]
    for each, number in zip(params, gradients):
        if number is not None:
            each.grad = numbers(xp, list(each.shape), abs(number), digits) + 0.125
            if number < 0:
                each.grad.view(-1)[0] = {-1: math.inf, -2: math.nan, -3: -math.inf}[number]
    before = [each.grad for each in params]
    memory = [None if grad is None else grad.detach() for grad in before]
    passed = {
        "list": lambda: params,
        "generator": lambda: (each for each in params),
        "one": lambda: params[0] if params else [],
        "dict": lambda: {f"p{i}": each for i, each in enumerate(params)}.values(),
    }[given]()
    with _warned() as warned:
        total = attempt(
            lambda: xp.nn.utils.clip_grad_norm_(passed, max_norm, norm_type=norm_type, error_if_nonfinite=error)
        )
    shown = {"norm": plain(total) if isinstance(total, xp.Tensor) else total, "warned": bool(warned)}
    shown["recorded"] = isinstance(total, xp.Tensor) and total.requires_grad
    shown["grads"] = [plain(each.grad) for each in params]
    shown["in place"] = [each.grad is grad for each, grad in zip(params, before)]
    return shown | {"on their memory": [plain(each) for each in memory], "params": [plain(each) for each in params]}


# Data ----------------------------------------------------------------------------------------------------------------


def _batchings(st):
    return st.fixed_dictionaries(
        {
            "count": st.one_of(st.integers(0, 9), st.none()),
            "given": st.sampled_from(["iterator", "list", "words"]),
            "batch_size": st.integers(1, 4),
            "drop_last": st.booleans(),
            "asked": st.integers(0, 4),
        }
    )


def _about_order(case, mine, theirs):
    if not (isinstance(mine, list) and isinstance(theirs, list) and len(mine) == len(theirs)):
        return None
    if mine[0] != theirs[0]:
        return "nothing is taken from the sampler before the first list is asked for"
    mine, theirs = mine[1 : case["asked"] + 1], theirs[1 : case["asked"] + 1]
    if mine != theirs and [each[:2] for each in mine] == [each[:2] for each in theirs]:
        return (
            "the lists are right; the number after each says how many indices had been taken from the sampler by then"
        )
    if ["list", []] in [each[:2] for each in mine]:
        return "there is never an empty list"
    if [each[1] for each in mine] != [each[1] for each in theirs]:
        return "what is left at the end is a shorter list, or dropped if drop_last"
    return None


@program(
    "data.batches",
    cases=_batchings,
    edges=[
        {"count": count, "given": given, "batch_size": size, "drop_last": drop_last, "asked": asked}
        for count in (None, 0, 1, 4, 5, 6)
        for given, asked in (("iterator", 0), ("iterator", 2), ("list", 4), ("words", 4))
        for size in (1, 2, 3)
        for drop_last in (True, False)
    ],
    hint=_about_order,
)
def batchings(xp, count, given, batch_size, drop_last, asked):
    taken = []

    def sampler():
        for i in itertools.count() if count is None else range(count):
            taken.append(i)
            yield f"word {i}" if given == "words" else i

    source = list(range(count)) if given == "list" and count is not None else sampler()
    order = xp.utils.data.BatchSampler(source, batch_size, drop_last)
    pieces = iter(order)
    seen = [["before", len(taken)]]
    for _ in range(asked):
        piece = next(pieces, "the end")
        seen.append([type(piece).__name__, piece, len(taken)])
    if given == "list" and count is not None:
        seen += [list(order), list(order)]
    return seen


Point = namedtuple("Point", "x y")


class Fields(UserList):
    """Not a named tuple, although it says so."""

    _fields = ("x", "y")


_LEAVES = ["int", "float", "bool", "text", "bytes", "tensor", "whole", "array", "number", "whole number", "truth"]
_OTHERS = ["none", "object", "set", "words"]


def _samples(st):
    leaf = mostly(st, st.sampled_from(_LEAVES), st.sampled_from(_OTHERS), 19)

    def wider(inner):
        several = st.lists(inner, min_size=1, max_size=3)
        return st.one_of(
            st.tuples(st.sampled_from(["list", "tuple", "own list", "fields", "range"]), several).map(list),
            st.tuples(st.just("point"), st.lists(inner, min_size=2, max_size=2)).map(list),
            st.tuples(st.sampled_from(["dict", "ordered", "own dict", "fixed dict"]), several).map(list),
        )

    what = st.recursive(leaf, wider, max_leaves=5)
    return st.fixed_dictionaries(
        {"what": what, "count": st.integers(1, 3), "odd": st.sampled_from([None] * 5 + ["longer", "other"])}
    )


def _sample(what, count=2, odd=None):
    return {"what": what, "count": count, "odd": odd}


def _made(xp, what, i):
    """Sample number i of a batch."""
    if isinstance(what, str):
        return {
            "int": lambda: i + 1,
            "float": lambda: i + 0.1,
            "bool": lambda: i % 2 == 0,
            "text": lambda: f"text {i}",
            "bytes": lambda: b"bytes",
            "tensor": lambda: numbers(xp, [2], i, "float32"),
            "whole": lambda: numbers(xp, [], i, "int64"),
            "array": lambda: np.array([i, i + 0.5], np.float32),
            "number": lambda: np.float32(i + 0.5),
            "whole number": lambda: np.int32(i),
            "truth": lambda: np.bool_(i % 2 == 0),
            "none": lambda: None,
            "object": lambda: object(),
            "set": lambda: {i},
            "words": lambda: np.array(["a", "b"]),
        }[what]()
    kind, parts = what
    made = [_made(xp, part, i) for part in parts]
    named = {name: value for name, value in zip("abcdef", made)}
    return {
        "list": lambda: made,
        "tuple": lambda: tuple(made),
        "own list": lambda: UserList(made),
        "fields": lambda: Fields(made),
        "range": lambda: range(i, i + len(made)),
        "point": lambda: Point(*made),
        "dict": lambda: named,
        "ordered": lambda: OrderedDict(reversed(named.items())),
        "own dict": lambda: UserDict(named),
        "fixed dict": lambda: MappingProxyType(named),
    }[kind]()


def _batch(value):
    """A batch as it is shown: the type of each part, too."""
    name = type(value).__name__
    if isinstance(value, (dict, UserDict, MappingProxyType)):
        return [name, {key: _batch(each) for key, each in value.items()}]
    if isinstance(value, (list, tuple, UserList)):
        return [name, [_batch(each) for each in value]]
    return value if not isinstance(value, bytes) else value.decode()


def _about_batches(case, mine, theirs):
    if "error" in theirs and "error" not in mine:
        return "sequences of different lengths are refused, and so is what is none of the kinds"
    match case["what"]:
        case [str(kind), *_]:
            return {
                "tuple": "the samples' places are collated one by one; of tuples comes a list",
                "point": "a named tuple is looked for before other sequences",
                "dict": "the keys are those of the first sample",
            }.get(kind)
        case "float":
            return "Python's floats become float64"
        case "number" | "whole number" | "truth":
            return "np.bool_ is no np.number, and most of numpy's numbers are no numbers of Python's"
    return None


@program(
    "data.default_collate",
    cases=_samples,
    edges=[
        *[_sample(what, count) for what in (*_LEAVES, *_OTHERS) for count in (1, 3)],
        *[
            _sample([kind, parts])
            for kind in ("list", "tuple", "own list", "fields", "range")
            for parts in (["int"], ["int", "tensor"])
        ],
        *[_sample([kind, ["int", "text"]]) for kind in ("point", "dict", "ordered", "own dict", "fixed dict")],
        *[_sample([kind, ["int", "none"]]) for kind in ("list", "tuple", "point", "dict", "fixed dict")],
        *[
            _sample([kind, ["int", "int"]], 3, odd)
            for kind in ("list", "tuple", "dict")
            for odd in ("longer", "shorter", "other")
        ],
        _sample("tensor", 2, "longer"),
        _sample("array", 2, "longer"),
        _sample("int", 3, "other"),
        _sample("bool", 2, "other"),
        _sample("float", 2, "other"),
        _sample(["list", []]),
        _sample(["dict", []]),
        _sample(["tuple", [["dict", ["float", ["list", ["int", "tensor"]]]], ["point", ["text", "array"]]]], 3),
        _sample(["dict", [["tuple", ["int", "int"]], ["fixed dict", ["bool"]]]]),
        _sample(["list", [["list", ["bytes"]], "whole"]], 1),
    ],
    hint=_about_batches,
)
def collated(xp, what, count, odd):
    samples = [_made(xp, what, i) for i in range(count)]
    if odd is not None:
        samples[-1] = _oddly(xp, what, samples[-1], odd)
    before = repr(samples[0])
    result = xp.utils.data.default_collate(samples)
    return [_batch(result), result is samples, repr(samples[0]) == before]


def _oddly(xp, what, sample, odd):
    """The last sample, not quite like the others."""
    if isinstance(sample, xp.Tensor):
        return numbers(xp, [3], 1, "float32")
    if isinstance(sample, np.ndarray):
        return np.zeros(3, np.float32)
    if isinstance(sample, Point):
        return sample
    if isinstance(sample, dict):
        turned = dict(reversed(sample.items()))
        return {"longer": {**sample, "z": 1}, "shorter": {"b": 1}, "other": turned}[odd]
    if isinstance(sample, (list, tuple)):
        return {"longer": [*sample, 1], "shorter": list(sample[:1]), "other": tuple(sample)}[odd]
    return 2.5 if isinstance(sample, int) else True if isinstance(sample, float) else sample


# Everything together -------------------------------------------------------------------------------------------------

_LAYERS = ["linear", "linear", "norm", "relu", "gelu", "tanh", "residual", "tied", "dropout", "batch norm"]
_RATES = {"lr": [0.05, 0.1], "weight_decay": [0.0, 0.1]}


def _trainings(st):
    optimisers = st.one_of(
        st.tuples(st.just("SGD"), _some(st, _RATES | {"momentum": [0.5, 0.9]}, 3)),
        st.tuples(st.sampled_from(["Adam", "AdamW"]), _some(st, _RATES | {"amsgrad": [True], "eps": [0.01]}, 3)),
    ).map(list)
    return st.fixed_dictionaries(
        {
            "layers": st.lists(st.sampled_from(_LAYERS), max_size=4),
            "loss": st.sampled_from(["cross entropy", "smoothed", "decisions", "squares"]),
            "optimiser": optimisers,
            "schedule": st.sampled_from([None, 2, 4]),
            "clip": st.sampled_from([None, 0.5, 2.0]),
            "steps": st.integers(1, 6),
        }
    )


_SHORT = {"layers": [], "loss": "squares", "optimiser": ["SGD", {}], "schedule": None, "clip": None, "steps": 1}


@program(
    "together.training",
    cases=_trainings,
    edges=[
        _SHORT,
        _SHORT | {"loss": "cross entropy"},
        _SHORT | {"optimiser": ["Adam", {}]},
    ],  # what fails is then soon read
)
def training(xp, layers, loss, optimiser, schedule, clip, steps):
    model = _model(xp, layers)
    kind, settings = optimiser
    optimizer = getattr(xp.optim, kind)(model.parameters(), **settings)
    rates = schedule and xp.optim.lr_scheduler.CosineAnnealingLR(optimizer, schedule, 0.01)
    order, shown = xp.utils.data.BatchSampler(range(4 * steps), 4, True), []
    for indices in order:
        tokens, truth = xp.utils.data.default_collate([(i % 5, (3 * i + 1) % 4) for i in indices])
        optimizer.zero_grad()
        value = _LOSSES[loss](xp, model(tokens), truth)
        value.backward()
        norm = clip and plain(xp.nn.utils.clip_grad_norm_(model.parameters(), clip))
        optimizer.step()
        if rates:
            rates.step()
        state = optimizer.state_dict()
        kept = [sorted((name, plain(each)) for name, each in one.items()) for _, one in sorted(state["state"].items())]
        rate = [group["lr"] for group in state["param_groups"]]
        shown.append([plain(value), norm, rate, {name: plain(x) for name, x in model.state_dict().items()}, kept])
    return shown


_LOSSES = {
    "cross entropy": lambda xp, scores, truth: xp.nn.functional.cross_entropy(scores, truth),
    "smoothed": lambda xp, scores, truth: xp.nn.functional.cross_entropy(scores, truth, label_smoothing=0.1),
    "decisions": lambda xp, scores, truth: xp.nn.functional.binary_cross_entropy_with_logits(
        scores, (scores.detach() > 0).to(scores.dtype) * 0.5 + 0.25
    ),
    "squares": lambda xp, scores, truth: (scores[:, :1].squeeze(1) - truth).pow(2).mean(),
}


def _model(xp, layers):
    """An embedding, the layers, and a head, of width 4, in float64; the weights are by rule."""
    nn = xp.nn

    class Residual(nn.Module):
        def __init__(self, inner):
            super().__init__()
            self.inner = inner

        def forward(self, x):
            return x + self.inner(x)

    made, linear = [nn.Embedding(5, 4)], nn.Linear(4, 4)
    for name in layers:
        made.append(
            {
                "linear": lambda: nn.Linear(4, 4),
                "norm": lambda: nn.LayerNorm(4),
                "batch norm": lambda: nn.BatchNorm1d(4),
                "relu": lambda: nn.ReLU(),
                "gelu": lambda: nn.GELU(),
                "tanh": lambda: nn.Tanh(),
                "residual": lambda: Residual(nn.Sequential(nn.Linear(4, 4), nn.GELU())),
                "tied": lambda: linear,
                "dropout": lambda: nn.Dropout(0.5).eval(),
            }[name]()
        )
    model = nn.Sequential(*made, nn.Linear(4, 4)).double()
    with xp.no_grad():
        for number, each in enumerate(model.parameters()):
            each.copy_(numbers(xp, list(each.shape), number) * 0.5)
    return model
