"""Modules: registration, listing, calls with hooks, and conversion."""

from __future__ import annotations

import itertools
from collections import namedtuple

from ...engine.check import program
from ...engine.observe import difference
from .. import shared_05 as trees
from ..cases import attempt, defaults, drawn, field, first_apart, numbers, rows, several
from ..listing import expression
from ..shared_05 import LARGE, SMALL, TIED, Tree, drawn_trees, mostly, plain, tensor_state

# Registration --------------------------------------------------------------------------------------------------------

_NAMES = ["a", "a", "a", "b", "b", "c"]
_STRANGE = [
    "limit",
    "rate",
    "training",
    "forward",
    "a.b",
    "no name",
]  # the last is "": a text so short would be in the smallest case
_VALUES = {
    "parameter": trees.parameter, "own parameter": trees.own_parameter, "module": lambda xp, number: trees.empty_module(xp),
    "tensor": lambda xp, number: numbers(xp, [2], number),
    "buffer": lambda xp, number: xp.nn.Buffer(numbers(xp, [2], number)),
    "scratch": lambda xp, number: xp.nn.Buffer(numbers(xp, [2], number), persistent=False),
    "none": lambda xp, number: None, "number": lambda xp, number: 1000 + number, "text": lambda xp, number: f"text {number}",
}  # fmt: skip
_RARE = {"zero": lambda xp, number: 0, "marked": lambda xp, number: _marked(numbers(xp, [2], number))}
_STATEMENTS = {
    "set": setattr, "delete": lambda module, name, value: delattr(module, name),
    "register_buffer": lambda module, name, value: module.register_buffer(name, value),
    "register_scratch": lambda module, name, value: module.register_buffer(name, value, persistent=False),
    "register_parameter": lambda module, name, value: module.register_parameter(name, value),
    "add_module": lambda module, name, value: module.add_module(name, value),
    "init": lambda module, name, value: super(type(module), module).__init__(),
}  # fmt: skip


def _marked(tensor):
    tensor.persistent = False  # a plain tensor has this attribute by chance
    return tensor


def _device(xp):
    class Device(xp.nn.Module):
        limit = 3

        def __init__(self):
            """Nothing. The case calls Module.__init__."""

        @property
        def rate(self):
            return self.__dict__.get("_rate", 0)

        @rate.setter
        def rate(self, value):
            self.__dict__["_rate"] = value

    return Device()


def _assignments(st):
    name = mostly(st, st.sampled_from(_NAMES), st.sampled_from(_STRANGE))
    assign = st.tuples(st.just("set"), name, st.sampled_from(list(_VALUES))).map(list)
    other = st.one_of(
        st.tuples(st.just("delete"), name, st.just("none")),
        st.tuples(st.just("register_buffer"), name, st.sampled_from(["tensor", "none"])),
        st.tuples(st.just("register_scratch"), name, st.just("tensor")),
        st.tuples(st.just("register_parameter"), name, st.sampled_from(["parameter", "none", "tensor"])),
        st.tuples(st.just("add_module"), name, st.sampled_from(["module", "none"])),
    ).map(list)
    before = mostly(st, st.just([]), st.lists(assign, max_size=2), 2)
    return drawn(before=before, statements=several(mostly(st, assign, other, 3), 0, 7))(st)


def _about_assigning(case, mine, theirs):
    wrong = first_apart(mine, theirs)
    if wrong == "results" and "raises KeyError" in (*field(mine, "results"), *field(theirs, "results")):
        return "a KeyError comes from `register_parameter` or `register_buffer`: call them where the rule names them"
    return wrong and {
        "results": "whether a value may be assigned depends on what the name holds, in the order of the contract",
        "not saved": "a buffer that is not persistent stays so; anything else under its name is not in this set",
        "attributes": "a name is in one dict only; a value that is no parameter, module or buffer goes to object.__setattr__",
    }.get(wrong, "a name is in one of the three dicts only, and keeps its position there")


_VALUES_AS_CODE = {
    "parameter": "nn.Parameter(torch.ones(2))", "own parameter": "Own(torch.ones(2))", "module": "nn.Module()",
    "tensor": "torch.ones(2)", "buffer": "nn.Buffer(torch.ones(2))", "none": "None", "number": "1000", "text": "'text'",
    "scratch": "nn.Buffer(torch.ones(2), persistent=False)", "zero": "0", "marked": "marked",
}  # fmt: skip
_STATEMENTS_AS_CODE = {
    "set": "module.{name} = {value}", "delete": "del module.{name}", "init": "nn.Module.__init__(module)",
    "register_buffer": "module.register_buffer({name!r}, {value})", "add_module": "module.add_module({name!r}, {value})",
    "register_scratch": "module.register_buffer({name!r}, {value}, persistent=False)",
    "register_parameter": "module.register_parameter({name!r}, {value})",
}  # fmt: skip
_NAMED_BY_TEXT = {"set": "setattr(module, {name!r}, {value})", "delete": "delattr(module, {name!r})"}
_CLASSES_AS_CODE = {
    "own parameter": "class Own(nn.Parameter):\n    pass\n", "marked": "marked = torch.ones(2)\nmarked.persistent = False\n",
}  # fmt: skip
_MEMBERS_AS_CODE = {"limit": "    limit = 3", "rate": "    rate = property(...)  # with a setter"}


def _assignments_as_code(torch, before, statements):
    """The statements of a case, each with its number in the results."""
    every = [*before, ("init", "", "none"), *statements]
    used = {word for _, *words in every for word in words}
    lines = [
        "import torch",
        "from torch import nn",
        "",
        *(text for kind, text in _CLASSES_AS_CODE.items() if kind in used),
    ]
    lines += ["class Device(nn.Module):", *(text for name, text in _MEMBERS_AS_CODE.items() if name in used)]
    lines += ["    def __init__(self):", "        pass", "", "module = Device()"]
    for number, (verb, name, kind) in enumerate(every):
        name = "" if name == "no name" else name
        text = (_STATEMENTS_AS_CODE if name.isidentifier() else _STATEMENTS_AS_CODE | _NAMED_BY_TEXT)[verb]
        lines.append(f"{text.format(name=name, value=_VALUES_AS_CODE[kind])}  # results[{number}]")
    return "\n".join(lines)


def _case(*statements, before=()):
    return {
        "before": [list(statement) for statement in before],
        "statements": [list(statement) for statement in statements],
    }


def _story(*kinds, before=()):
    """Values of these kinds, one after another under the same name."""
    return _case(*(("set", "a", kind) for kind in kinds), before=before)


@program(
    "nn.modules.module.set_attribute",
    cases=_assignments,
    hint=_about_assigning,
    show=_assignments_as_code,
    edges=[
        *[_story(kind) for kind in _VALUES], *[_story(*pair) for pair in itertools.product(_VALUES, _VALUES)],
        _story("parameter", "tensor", "none", "tensor", "parameter", "module", "tensor"),
        _story("parameter", "module", "parameter", "buffer", "none", "scratch"),
        _story("scratch", "tensor", "none", "number", "tensor", "buffer", "tensor"),
        _story("scratch", "parameter", "none", "module", "scratch"), _story("scratch", "module", "none", "tensor"),
        *[_story(kind, "zero") for kind in ("parameter", "module", "buffer")], _story("buffer", "marked"),
        *[_story(before=[("set", "a", kind)]) for kind in _VALUES],
        *[_story(kind, before=[("set", "a", "tensor")]) for kind in _VALUES],
        *[_story(before=[("set", "a", "number"), ("set", "a", kind)]) for kind in ("parameter", "module", "buffer")],
        *[_case(("set", name, kind)) for name in _STRANGE for kind in _VALUES],
        *[
            _case(*(("set", *assignment) for assignment in some))
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
        *[
            _case((first, "a", kind), (second, "a", then), ("set", "a", last))
            for first, kind, second, then, last in (
                ("register_buffer", "none", "set", "tensor", "number"),
                ("register_scratch", "tensor", "set", "none", "tensor"),
                ("register_parameter", "none", "set", "tensor", "parameter"),
                ("register_parameter", "none", "set", "module", "buffer"),
                ("add_module", "none", "set", "tensor", "module"), ("add_module", "none", "set", "buffer", "parameter"),
                ("set", "parameter", "delete", "none", "tensor"), ("set", "scratch", "delete", "none", "buffer"),
            )
        ],
    ],
)  # fmt: skip
def assignments(xp, before, statements):
    module, labels, results = _device(xp), {id(None): "none"}, []
    kept = []  # so that no two values have the same id
    for number, (verb, name, kind) in enumerate([*before, ("init", "", "none"), *statements]):
        value = (_VALUES | _RARE)[kind](xp, number)
        kept.append(value)
        labels.setdefault(id(value), f"{kind} {number}")
        results.append(attempt(_STATEMENTS[verb], module, "" if name == "no name" else name, value))
    return {"results": results} | _registered(module, labels)


def _registered(module, labels):
    """The members of a module, by dict."""

    def labelled(members):
        return [[name, labels.get(id(value), "something else")] for name, value in members.items()]

    state = module.__dict__
    names = {*_NAMES, *_STRANGE, "", "_rate"} - {"training"}
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
    "parameters": lambda module: module._parameters.items(), "buffers": lambda module: module._buffers.items(),
    "modules": lambda module: module._modules.items(),
    "all twice": lambda module: [*module._parameters.items(), *module._buffers.items()] * 2,
    "read once": lambda module: iter([("zero", 0), ("empty", ""), ("none", None), *module._parameters.items()]),
    "views": lambda module: vars(module).setdefault("views", _views(module)),
}  # fmt: skip


def _views(module):
    """Tensors on the memory of the parameters, two of each."""
    return [(name, None if x is None else x.detach()) for name, x in [*module._parameters.items()] * 2]


_ONCE = "with remove_duplicate a member comes once, under its first name; a member that is None never comes"


def _about_listing(case, mine, theirs):
    wrong = first_apart(mine, theirs)
    if wrong == "listed":
        if case["of"] == "views" and len(field(mine, wrong)) < len(field(theirs, wrong)):
            return "two tensors on the same memory are two members: a member is an object"
        pairs = zip(field(mine, wrong), field(theirs, wrong), strict=False)
        first = next((pair for pair in pairs if pair[0] != pair[1]), None)
        if first and first[0][1] == first[1][1]:
            return "a name is the prefix, the module's name and the member's, joined by dots; an empty part has no dot"
        if case["of"] == "read once":
            return "of the members only None is left out; 0 and an empty text are listed"
    match wrong:
        case None:
            return None
        case "asked":
            return None
        case "parameters":
            return _ONCE
        case "listed" if case["remove_duplicate"]:
            return _ONCE
        case "listed":
            return "without remove_duplicate a member comes under each of its names; a member that is None never comes"
    return "it is a generator: it looks at a module only after the members of the modules before it were taken"


@program(
    "nn.modules.module.named_members",
    cases=drawn(
        entries=drawn_trees, of=sorted(_MEMBERS), prefix=["", "", "model", "a.b"], recurse=[True, True, True, False],
        remove_duplicate=bool,
    ),
    edges=[
        {"entries": entries, "of": of, "prefix": prefix, "recurse": recurse, "remove_duplicate": remove}
        for entries in (LARGE, TIED) for of in sorted(_MEMBERS) for prefix in ("", "model") for recurse in (True, False)
        for remove in (True, False)
    ]
    + rows(
        "entries of prefix recurse remove_duplicate",
        ([], "parameters", "", True, True), ([["parameter", "a", None]], "parameters", "", False, True),
        ([["module", "a", []]], "modules", "x.y", True, False),
        ([["parameter", "a", 0]], "parameters", ".", True, True),
    ),
    hint=_about_listing,
    show=trees.as_code,
)  # fmt: skip
def members(xp, entries, of, prefix, recurse, remove_duplicate):
    visited, walked = [], []

    def make(xp):
        class Part(xp.nn.Module):
            def named_modules(self, *args, **kwargs):
                walked.extend([] if self is tree.root else [tree.label(self)])
                return super().named_modules(*args, **kwargs)

        return Part()

    def ask(module):
        visited.append(tree.label(module))
        return _MEMBERS[of](module)

    tree = Tree(xp, entries, make)
    listed = tree.root._named_members(ask, prefix, recurse, remove_duplicate)
    pairs, progress, lazy = [], [[len(visited), len(walked)]], iter(listed) is listed
    for name, member in listed:
        pairs.append([name, tree.label(member)])
        progress.append([len(visited), len(walked)])
    parameters, visited = [tree.label(parameter) for parameter in tree.root.parameters()], list(visited)
    shown = {"listed": pairs, "one after the other": lazy, "asked and walked at first, and at each": progress}
    return shown | {"asked": visited, "parameters": parameters}


# Calling -------------------------------------------------------------------------------------------------------------

_HOOKS = ["before", "after", "back before", "back after"]
_ADD = [f"add {kind}" for kind in _HOOKS]  # a hook, or forward, registers another hook
_OTHERS_TOO = ["remove", "remove others", "remove all", "other forward", *_ADD]
_BEFORE = ["see", "tuple", "single", "list", "empty", "triple", "named", "two", "raise", "false", "same", *_OTHERS_TOO]
_BEFORE_KWARGS = [
    "see",
    "pair",
    "named pair",
    "tuple",
    "alone",
    "empty",
    "triple",
    "list of two",
    "false",
    "same",
    *_OTHERS_TOO,
]
_AFTER = ["see", "replace", "tuple", "empty", "zero", "none", "raise", "same", *_OTHERS_TOO]
_BACK = ["see", "change", "same"]


def _hooked_calls(st):
    kinds = [("before", _BEFORE, False), ("before", _BEFORE_KWARGS, True), ("after", _AFTER, None)]
    kinds += [("back before", _BACK, False), ("back after", _BACK, False)]
    hook = st.one_of(
        st.tuples(st.just(k), st.sampled_from(some), st.booleans() if kw is None else st.just(kw), st.booleans())
        for k, some, kw in kinds
    ).map(list)
    return drawn(
        hooks=several(hook, 0, 5), removed=several((0, 4), 0, 1),
        result=["sum", "sum", "both", "dict", "raise", "nothing"],
        within=mostly(st, st.just("see"), st.sampled_from(_ADD + ["remove others"])), own=[False, False, True],
        scale=[None, 3.0], calls=(1, 2),
    )(st)  # fmt: skip


def _hooks(*hooks, **others):
    """`within` is what `forward` does to the hooks; `own` makes `forward` an attribute of the module, not of its class."""
    case = {"hooks": [list(h) for h in hooks], "removed": [], "result": "sum", "within": "see", "own": False}
    return case | {"scale": None, "calls": 1} | others


def _hook(kind):
    return lambda effect, kwargs=False, first=False: (kind, effect, kwargs, first)


_before, _after = _hook("before"), _hook("after")
_BACK_BOTH = [("back before", "change", False, False), ("back after", "change", False, False)]


def _about_hooks(case, mine, theirs):
    effects = {hook[1] for hook in case["hooks"]} | {case["within"]}
    logs = (field(side, "seen") or [] for side in (mine, theirs))
    ours, real = next((pair for pair in itertools.zip_longest(*logs) if difference(*pair)), (None, None))
    if isinstance(ours, str) or isinstance(real, str):
        return "forward is module.forward as it is before any hook runs, an attribute of the module or of its class"
    others_run = field(ours, "call") != field(real, "call")
    if others_run and any(effect.startswith(("remove", "add")) for effect in effects):
        return "hooks are added and removed while others run: the contract says when each of the four dicts is read"
    gets = [len(field(call, "then") or []) for call in (ours, real)]
    if not others_run and gets[0] < gets[1]:
        return "a hook with its number in the _with_kwargs dict gets the kwargs too"
    if "same" in effects:
        return "one function may be registered several times: each time it is another hook, with a number of its own"
    if effects & {"zero", "false", "empty"}:
        return "a hook's result takes effect unless it is None; zero, False and an empty tuple do too"
    if any(kind.startswith("back") for kind, *_ in case["hooks"]):
        return "setup_input_hook comes after the pre-hooks, setup_output_hook after the forward hooks"
    if not others_run and ours is not None:
        return "each hook gets the tuple of args and the result as one argument each, as the hooks before it have left them"
    return None


_REGISTER = {
    "before": "register_forward_pre_hook", "after": "register_forward_hook",
    "back before": "register_full_backward_pre_hook", "back after": "register_full_backward_hook",
}  # fmt: skip
_PARAMETERS = {
    "before": "args{}",
    "after": "args{}, output",
    "back before": "grads",
    "back after": "grads, grad_output",
}
_FORWARDS = {
    "sum": "return total", "both": "return total, args[0]", "dict": "return {'sum': total}", "nothing": "return None",
    "raise": "raise ValueError('on purpose')",
}  # fmt: skip


def _change_as_code(kind, effect):
    """The line in which `forward`, or a hook of a kind, changes the hooks or `forward`. Otherwise there is none."""
    if effect in ("remove others", "remove all"):
        which = "all hooks" if effect == "remove all" else f"all hooks of other kinds than {_REGISTER.get(kind, kind)}"
        return [f"for handle in handles: handle.remove()  # those of {which}"]
    if effect == "other forward":
        return ["module.forward = lambda *args, **kwargs: args[0] * 5"]
    if effect.startswith("add "):
        added, kwargs, _ = effect.removeprefix("add ").partition(" with kwargs")
        return [f"module.{_REGISTER[added]}(look{', with_kwargs=True' * bool(kwargs)})  # look returns None"]
    return []


def _hook_as_code(torch, number, kind, effect, parameters, some_empty):
    """The lines of a hook. There are none for a hook that returns None."""
    lines = _change_as_code(kind, effect)
    if effect == "remove":
        lines = [f"handle_{number}.remove()"]
    elif effect == "raise":
        lines = ["raise KeyError('on purpose')"]
    elif effect == "change":
        lines = [f"return tuple(None if grad is None else grad * {number + 2} for grad in grads)"]
    elif effect in _RETURNED and not kind.startswith("back"):
        returned = expression(__name__, "_RETURNED", effect).replace("number", str(number))
        other = f" if args else torch.tensor({numbers(torch, [3], number).tolist()}, dtype=torch.float64)" * some_empty
        returned += "  # a namedtuple" * ("Pair" in returned)
        lines = [*[f"x = args[0] * {number + 2}{other}"] * ("x" in returned), f"return {returned}"]
    return ["", f"def hook_{number}(module, {parameters}):", *(f"    {line}" for line in lines), ""] if lines else []


def _hooked_call_as_code(torch, hooks, removed, result, within, own, scale, calls):
    lines = ["import torch", "", "class Scale(torch.nn.Module):", "    def forward(self, *args, **kwargs):"]
    total = "total = sum(x for x in args if isinstance(x, torch.Tensor)) * kwargs.get('scale', 1.0)"
    lines += [f"        {line}" for line in (*_change_as_code("forward", within), total, _FORWARDS[result])]
    lines += ["", "module = Scale()"] + ["module.forward = lambda *args, **kwargs: args[0] * 5"] * own
    hook, some_empty = "", any(effect == "empty" for _, effect, *_ in hooks)
    for number, (kind, effect, kwargs, first) in enumerate(hooks):
        kwargs, note = kwargs and not kind.startswith("back"), ""
        if not (effect == "same" and number and hooks[number - 1][0] == kind):
            is_again = [kind, "same"] in [other[:2] for other in hooks[number + 1 : number + 2]]
            parameters = _PARAMETERS[kind].format(", kwargs" * kwargs)
            parameters = "args, *rest" if is_again and not kind.startswith("back") else parameters
            made = _hook_as_code(torch, number, kind, effect, parameters, some_empty)
            hook, note = (f"hook_{number}", "") if made else (f"look_{number}", f"  # look_{number} returns None")
            lines += made
        more = ", with_kwargs=True" * kwargs + ", prepend=True" * first
        lines.append(f"handle_{number} = module.{_REGISTER[kind]}({hook}{more}){note}")
    lines += [f"handle_{number}.remove()" for number in removed if number < len(hooks)]
    given = [numbers(torch, [3], number).tolist() for number in range(2)]
    lines.append(f"x, y = (x.requires_grad_() for x in torch.tensor({given}, dtype=torch.float64))")
    called = f"module(x, y * 2{'' if scale is None else f', scale={scale}'})"
    return "\n".join([*lines, *[f"{called}  # and backward, if the result has a graph"] * calls])


@program(
    "nn.modules.module.call_impl",
    cases=_hooked_calls,
    show=_hooked_call_as_code,
    edges=[
        _hooks(), _hooks(scale=2.0, calls=2),
        *[_hooks(result=result) for result in ("both", "dict", "raise", "nothing")],
        *[_hooks(_before(effect), _before("see"), scale=2.0) for effect in _BEFORE],
        *[_hooks(_before(effect, True), _before("see", True), scale=2.0) for effect in _BEFORE_KWARGS],
        *[_hooks(_after(effect, kwargs), _after("see"), scale=2.0) for effect in _AFTER for kwargs in (False, True)],
        *[_hooks(within=effect, calls=2) for effect in _ADD],
        *[_hooks((kind, "see", False, False), within=effect, calls=2)
          for kind in _HOOKS for effect in (*_ADD, "remove others")],
        *[_hooks(_before(effect), *_BACK_BOTH, _after("see"), calls=2) for effect in _OTHERS_TOO],
        *[_hooks(*_BACK_BOTH, _after(effect), _after("see"), _before("see"), calls=2) for effect in _OTHERS_TOO],
        _hooks(own=True), _hooks(_before("see"), own=True), _hooks(_before("other forward"), own=True, calls=2),
        _hooks(_before("empty"), *_BACK_BOTH), _hooks(_before("remove"), _before("see"), calls=2),
        _hooks(_before("see"), _before("remove"), calls=2), _hooks(_after("remove"), _after("see"), calls=2),
        _hooks(_before("tuple"), _before("single", first=True), _before("see", True)),
        _hooks(_before("pair", True), _after("see", True), _after("replace"), scale=4.0),
        _hooks(_before("pair", True), _before("tuple"), _before("pair", True), _after("see", True), scale=4.0),
        _hooks(_before("tuple"), _after("see"), _after("replace"), _after("see", True)),
        _hooks(_after("replace"), _after("tuple", True), _after("see", first=True)),
        _hooks(_after("replace"), _after("none"), _after("see"), result="both"),
        _hooks(_before("see"), _before("tuple"), _after("replace"), removed=[1]),
        _hooks(_before("see"), _before("tuple"), _after("replace"), removed=[2]),
        _hooks(_after("replace"), result="nothing"),
        _hooks(_before("see"), _after("see"), result="raise"), _hooks(_before("raise"), _after("see")),
        *[_hooks(*[hook] * times) for hook in _BACK_BOTH for times in (1, 2)],
        *[_hooks(*_BACK_BOTH, result=result, scale=2.0) for result in ("sum", "both", "nothing", "dict", "raise")],
        _hooks(*_BACK_BOTH, _before("tuple"), _before("see"), _after("replace"), _after("see"), scale=2.0),
        _hooks(*_BACK_BOTH, _before("tuple"), _after("tuple")),
        _hooks(*_BACK_BOTH, _before("two"), _after("see", True), result="both"),
        _hooks(*_BACK_BOTH, *_BACK_BOTH, removed=[1]),
        _hooks(("back before", "see", False, False), ("back before", "change", False, True), calls=2),
        _hooks(("back after", "see", False, False), ("back after", "change", False, True), calls=2),
        _hooks(*_BACK_BOTH, _after("zero")), _hooks(_before("add after with kwargs"), scale=2.0, calls=2),
        *[_hooks(hook("see", kwargs), hook("same", not kwargs), scale=2.0)
          for hook in (_before, _after) for kwargs in (False, True)],
        *[_hooks((kind, effect, False, False), (kind, "same", False, False), calls=2)
          for kind, effect in (("before", "tuple"), ("after", "replace"), ("back before", "change"), ("back after", "change"))],
    ],
    hint=_about_hooks,
)  # fmt: skip
def hooked_call(xp, hooks, removed, result, within, own, scale, calls):
    """Hooks, and `forward` by `within`, may register another hook (`add ...`), remove the hooks of other kinds or all hooks, or
    assign another `forward`. With `own` the module's dict has one already. The effect `same` registers the function of the hook
    before once more, if it is of the same kind."""
    seen, handles = [], []

    class Scale(xp.nn.Module):
        def forward(self, *args, **kwargs):
            seen.append({"call": "forward", "args": _shown(xp, args), "kwargs": _shown(xp, kwargs)})
            _change_hooks(xp, module, seen, handles, "forward", within)
            if result == "raise":
                raise ValueError("on purpose")
            total = sum(x for x in args if isinstance(x, xp.Tensor)) * kwargs.get("scale", 1.0)
            return {"sum": total, "both": (total, *args[:1]), "dict": {"sum": total}, "nothing": None}[result]

    module = Scale()
    if own:
        module.forward = _other_forward(seen, "the module's own")
    for number, (kind, effect, kwargs, first) in enumerate(hooks):
        handles.append(_register(xp, module, seen, handles, number, kind, effect, kwargs, first))
    for number in removed:
        if number < len(handles):
            handles[number][1].remove()
    kwargs, results = {} if scale is None else {"scale": scale}, []
    with trees.user_warnings():  # torch warns of results without tensors
        for _ in range(calls):
            inputs = [numbers(xp, [3], number).requires_grad_() for number in range(2)]
            results.append(attempt(_called, xp, module, inputs, kwargs))
    return {"seen": seen, "results": results}


def _other_forward(seen, name):
    def forward(*args, **kwargs):
        seen.append(name)
        return args[0] * 5 if args else None

    return forward


def _change_hooks(xp, module, seen, handles, kind, effect):
    """`forward`, or a hook of a kind, changes the hooks or `forward`."""
    if effect in ("remove others", "remove all"):
        for handle_kind, handle, _ in handles:
            if handle_kind != kind or effect == "remove all":
                handle.remove()
    elif effect == "other forward":
        module.forward = _other_forward(seen, "another")
    elif effect.startswith("add ") and len(handles) < 8:
        added, kwargs, _ = effect.removeprefix("add ").partition(" with kwargs")
        number = len(handles)
        handles.append(_register(xp, module, seen, handles, number, added, "see", bool(kwargs), False))


def _called(xp, module, inputs, kwargs):
    """One call, and a backward pass if there is a graph."""
    result = module(inputs[0], inputs[1] * 2, **kwargs)
    parts = result if isinstance(result, tuple) else (result,)
    losses = [(x * numbers(xp, [3], 5)).sum() for x in parts if isinstance(x, xp.Tensor) and x.requires_grad]
    if losses:
        sum(losses).backward()
    return {"result": _shown(xp, result), "gradients": [plain(x.grad) for x in inputs]}


def _shown(xp, value):
    """Arguments as plain data."""
    if isinstance(value, xp.Tensor):
        return value.detach().tolist()
    if isinstance(value, (list, tuple)):
        return [type(value).__name__, *(_shown(xp, item) for item in value)]
    return {name: _shown(xp, item) for name, item in value.items()} if isinstance(value, dict) else value


def _register(xp, module, seen, handles, number, kind, effect, with_kwargs, first):
    def hook(hooked, *rest):
        seen.append({"call": f"hook {number}, {kind}", "gets the module": hooked is module, "then": _shown(xp, rest)})
        if effect == "remove":
            handles[number][1].remove()
        _change_hooks(xp, module, seen, handles, kind, effect)
        if effect == "raise":
            raise KeyError("on purpose")
        if kind.startswith("back"):
            return tuple(None if g is None else g * (number + 2) for g in rest[0]) if effect == "change" else None
        x = rest[0][0] if rest[0] else None
        changed = x * (number + 2) if isinstance(x, xp.Tensor) else numbers(xp, [3], number)
        return _RETURNED[effect](changed, rest[0], number) if effect in _RETURNED else None

    if effect == "same" and handles and handles[-1][0] == kind:
        hook = handles[-1][2]
    add = {
        "before": module.register_forward_pre_hook, "after": module.register_forward_hook,
        "back before": module.register_full_backward_pre_hook, "back after": module.register_full_backward_hook,
    }[kind]  # fmt: skip
    more = {} if kind.startswith("back") else {"with_kwargs": with_kwargs}
    return kind, add(hook, prepend=first, **more), hook


Pair = namedtuple("Pair", "first second")
_RETURNED = {
    "tuple": lambda x, args, number: (x, *args[1:]), "single": lambda x, args, number: x,
    "list": lambda x, args, number: [x], "empty": lambda x, args, number: (), "alone": lambda x, args, number: (x,),
    "two": lambda x, args, number: (x, args[-1] if args else 1), "triple": lambda x, args, number: (x, x, x),
    "pair": lambda x, args, number: ((x, *args[1:]), {"scale": 0.5 + number}),
    "named": lambda x, args, number: Pair(x, x),
    "named pair": lambda x, args, number: Pair((x, *args[1:]), {"scale": 0.5 + number}),
    "list of two": lambda x, args, number: [(x,), {}], "replace": lambda x, args, number: x,
    "zero": lambda x, args, number: 0, "false": lambda x, args, number: False,
}  # fmt: skip


# Converting ----------------------------------------------------------------------------------------------------------

_CONVERSIONS = {
    "double": lambda xp, x: x.to(xp.float64) if x.dtype.is_floating_point else x,
    "half": lambda xp, x: x.to(xp.float16) if x.dtype.is_floating_point else x, "twice": lambda xp, x: x * 2,
    "parameter": lambda xp, x: xp.nn.Parameter(x, requires_grad=False),
    "same": lambda xp, x: x, "copy": lambda xp, x: x.clone(), "longer": lambda xp, x: xp.stack([x, x]),
    "meta": lambda xp, x: x.to("meta"), "long": lambda xp, x: x.to(xp.int64), "raise": lambda xp, x: {}["of the conversion"],
    "raise for a gradient": lambda xp, x: x * 2 if isinstance(x, xp.nn.Parameter) else {}["of the conversion"],
}  # fmt: skip
_converting = defaults(entries=[], grads=[], conversion="", recurse=True, differentiable=False, recorded=True)


def _about_conversions(case, mine, theirs):
    wrong = first_apart(mine, theirs)
    if wrong == "calls" and case["conversion"] != "parameter":
        return "children first; then each parameter and its gradient, within no_grad; then the buffers"
    if case["conversion"] == "meta" and case["differentiable"]:
        return "the new gradient has the requires_grad of the old gradient"
    if case["conversion"] == "meta":
        return "on another device a new Parameter replaces the old one, with its requires_grad and its gradient"
    return wrong and "a parameter and its gradient stay the same objects with new data; a buffer is replaced"


@program(
    "nn.modules.module.apply_impl",
    cases=drawn(
        entries=drawn_trees, grads=several((0, 5), 0, 4), conversion=sorted(_CONVERSIONS),
        recurse=[True, True, True, False], differentiable=bool, recorded=[True, True, False],
    ),
    edges=[
        _converting(entries, grads, conversion, recurse)
        for entries, grads, recurse in (
            (LARGE, [0, 1], True), (SMALL, [0], True), (LARGE, [0, 1], False), (LARGE, [], True),
        )
        for conversion in _CONVERSIONS
    ]
    + [
        _converting([["parameter", "a", None], ["parameter", "b", 0]], [], "twice"),
        *[_converting([["parameter", "a", 2]], grads, kind) for grads in ([], [2]) for kind in ("meta", "long")],
        *[_converting([["own parameter", "a", 0]], [0], kind) for kind in ("meta", "twice")],
        _converting([["buffer", "n", 1]], [], "twice"),
        *[_converting(some, [0], kind) for some in (TIED, [["buffer", "n", 0], ["buffer", "m", 0]]) for kind in ("meta", "twice")],
        *[_converting(SMALL, [0], conversion, recorded=False) for conversion in ("meta", "twice", "raise", "raise for a gradient")],
        _converting([["module", "m", SMALL], ["again", "n", 0]], [0], "twice"),
        *[_converting([["parameter", "a", number]], [number], conversion, differentiable=True)
          for number in (0, 2) for conversion in ("meta", "twice")],
    ],
    hint=_about_conversions,
    show=trees.as_code,
)  # fmt: skip
def conversions(xp, entries, grads, conversion, recurse, differentiable, recorded):
    calls = []

    def make(xp):
        class Part(xp.nn.Module):
            def _apply(self, fn, recurse=True):
                calls.append({"of": "a module", "recurse": recurse})
                return super()._apply(fn, recurse)

        return Part()

    tree = Tree(xp, entries, make)
    known, views = dict(tree.parameters), {}
    for number, parameter in known.items():
        if number in grads:
            parameter.grad = numbers(xp, list(parameter.shape), number + 7, "float32").requires_grad_(differentiable)
        views[number] = parameter.detach()
    gradients = {number: parameter.grad for number, parameter in known.items()}

    def convert(x):
        calls.append({"of": trees.kind_of(x), "requires grad": x.requires_grad, "grad mode": xp.is_grad_enabled()})
        return _CONVERSIONS[conversion](xp, x)

    with xp.set_grad_enabled(recorded):
        returned = attempt(lambda: tree.root._apply(convert, recurse) is tree.root)
    with xp.no_grad():
        for view in views.values():
            view.add_(1)  # visible in all that still shares this memory
    parameters, buffers = (
        named(remove_duplicate=False) for named in (tree.root.named_parameters, tree.root.named_buffers)
    )
    held = {name: tensor_state(x) | {"is": tree.label(x)} for name, x in parameters}
    held |= {name: tensor_state(x) for name, x in buffers}
    kept = [
        {"parameter": tensor_state(parameter), "the same grad": parameter.grad is gradients[number]}
        for number, parameter in known.items()
    ]
    return {"calls": calls, "returned": returned, "held": held, "kept": kept}
