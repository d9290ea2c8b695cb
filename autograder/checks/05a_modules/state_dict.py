"""Saving and loading the state of a module."""

from __future__ import annotations

from ...engine.check import program
from ...engine.observe import difference
from ..cases import attempt, drawn, field, first_apart, listed, numbers, several
from ..shared_05 import LARGE, SMALL, TIED, Tree, as_code, drawn_trees, empty_module, own_parameter, plain, tensor_state


def _about_saving(case, mine, theirs):
    under_prefix = "the entries come under the prefix, after those that the destination has"
    match first_apart(mine, theirs):
        case "whole":
            names, others = ({name for name, _ in field(side, "whole")["dict"]} for side in (mine, theirs))
            if len(names) == len(others) and names != others:
                return under_prefix
            return "parameters, then persistent buffers, without members that are None; detached, unless keep_vars"
        case "own":
            return under_prefix
        case "without elements":
            return "each tensor is put into `destination`, also one without elements"
        case "after":
            mine, theirs = (
                [dict(x["dict"])["elements"] for _, x in field(side, "after")["dict"]] for side in (mine, theirs)
            )
            if difference(mine, theirs):
                return "an entry shares the memory of its tensor"
            return (
                "an entry shares the version counter of its tensor: detach() does, but the version of .data is its own"
            )
    return None


_WITHOUT_ELEMENTS = """
without_elements = Module()
without_elements.w = Parameter(torch.zeros(0))
without_elements.n = Buffer(torch.zeros(2, 0))"""


def _saved_as_code(torch, **case):
    """The statements of a case, and those of the module that every case has."""
    return as_code(torch, **case) + _WITHOUT_ELEMENTS


@program(
    "nn.modules.state_dict.save_to_state_dict",
    cases=drawn(entries=drawn_trees, prefix=["", "", "model.", "a."], keep_vars=bool),
    edges=[
        {"entries": entries, "prefix": prefix, "keep_vars": keep_vars}
        for entries in (LARGE, SMALL, TIED, [], [["scratch", "s", 0]], [["buffer", "n", 0]],
            [["buffer", "_n", 0], ["parameter", "_w", 0]])
        for prefix in ("", "model.") for keep_vars in (False, True)
    ],
    hint=_about_saving,
    show=_saved_as_code,
)  # fmt: skip
def saved(xp, entries, prefix, keep_vars):
    tree = Tree(xp, entries)
    whole, own = tree.root.state_dict(prefix=prefix, keep_vars=keep_vars), {"there before": 1}
    own |= dict.fromkeys(list(whole)[:1])  # is replaced, if it is not of a child
    tree.root._save_to_state_dict(own, prefix, keep_vars)
    shown = {
        name: {"elements": plain(x), "requires_grad": x.requires_grad, "is": tree.label(x)} for name, x in whole.items()
    }
    with xp.no_grad():
        for x in {**tree.parameters, **{f"buffer {n}": x for n, x in tree.buffers.items()}}.values():
            x.add_(1)
    after = {name: {"elements": plain(x), "version": x._version} for name, x in whole.items()}
    part = empty_module(xp)
    part.w, part.n = xp.nn.Parameter(xp.zeros(0)), xp.nn.Buffer(xp.zeros(2, 0))
    shown = {"whole": shown, "own": {name: x is None for name, x in own.items()}, "after": after}
    return shown | {"without elements": [*part.state_dict()]}


_CHANGES = {  # another value under the same key
    "drop": None, "longer": lambda xp, x: numbers(xp, [*x.shape, 2], 3, "float32"),
    "one": lambda xp, x: numbers(xp, [1], 3, "float32"), "scalar": lambda xp, x: numbers(xp, [], 3, "float32"),
    "number": lambda xp, x: 5, "none": lambda xp, x: None, "half": lambda xp, x: x.to(xp.float16),
    "parameter": lambda xp, x: xp.nn.Parameter(x.to(xp.float32)),
    "frozen": lambda xp, x: xp.nn.Parameter(x.to(xp.float32), requires_grad=False),
    "own": lambda xp, x: own_parameter(xp, 0), "own frozen": lambda xp, x: own_parameter(xp, 0).requires_grad_(False),
    "whole": lambda xp, x: x.to(xp.int64), "meta": lambda xp, x: x.to("meta"),
}  # fmt: skip
_EXTRA = ["x", "w.x", "a.x", "a", "a.b.c", "b.c", "ab.a", "layer", "layer.x.y", "nobody.x", "s", "", ".", "a."]


def _loading(entries, *changes, **others):
    case = {"entries": entries, "changes": [list(change) for change in changes], "extra": [], "prefix": ""}
    return case | {"strict": True, "assign": False, "recorded": True} | others


_SETATTR = "setattr assigns it: this may raise, and a Parameter under the name of a buffer moves to the parameters"


def _about_loading(case, mine, theirs):
    if "error" in mine or "error" in theirs:
        if "uninitialized" in mine.get("message", ""):
            return "a lazy tensor of the module has no shape: do not read it"
        return "errors are noted in the lists; nothing is raised"
    return {
        "missing": "a key that is not there is noted only if strict",
        "unexpected": "a rest of a key with a dot belongs to a child, any other rest to a parameter or a persistent buffer",
        "messages": "three faults are messages: no tensor, another shape, and an error while copying or assigning",
        "refused": _SETATTR,
        "parameters": _SETATTR,
        "held": "without assign the tensors stay and get new elements; with assign they are replaced",
    }.get(first_apart(mine, theirs))


@program(
    "nn.modules.state_dict.load_from_state_dict",
    cases=drawn(
        entries=drawn_trees, changes=several(listed((0, 7), list(_CHANGES)), 0, 3),
        extra=several(_EXTRA, 0, 2, unique=True), prefix=["", "", "a.", "model."], strict=bool, assign=bool,
        recorded=[True, True, False],
    ),
    edges=[
        _loading(LARGE), _loading(LARGE, assign=True), _loading(LARGE, strict=False), _loading(SMALL, prefix="model."),
        _loading(SMALL, prefix="a.", extra=["a.x", "x", "a.w.x"]),
        _loading(SMALL, prefix="a.", extra=["b.x", "ab", "a."]), _loading(SMALL, prefix="a.", extra=["ba.x", "b.a.x"]),
        _loading([["module", "a", [["parameter", "w", 0]]]], prefix="a."),
        _loading([["parameter", "a", 0]], extra=["a.b", "a", "b"]), _loading([["parameter", "a", 0]], extra=["a."]),
        _loading(SMALL, (0, "drop"), (0, "drop")), _loading(LARGE, (0, "longer"), (1, "number")),
        _loading(LARGE, (0, "number"), (1, "longer")),
        _loading([["parameter", "w", 0], ["parameter", "v", 1]], (0, "longer"), (1, "whole"), assign=True),
        _loading([["parameter", "w", 1]], (0, "longer")), _loading([["parameter", "w", 1]], (0, "longer"), assign=True),
        _loading([["module", "a", [["parameter", "b", 0]]]], extra=["a", "a.c", "a.c.d", "b.c"]),
        _loading([["module", "a", None]], extra=["a", "a.c"]),
        _loading([["scratch", "s", 2], ["parameter", "none", None]], extra=["s", "none"]),
        _loading([["scratch", "s", 2], ["parameter", "none", None]], extra=["s", "none"], strict=False),
        _loading(LARGE, extra=["x", "layer", "layer.x", "layer.w.y", "nobody.x", "s", "none", "w.x"]),
        _loading(LARGE, extra=["x", "layer"], strict=False),
        *[_loading(SMALL, (0, c), strict=s, assign=a) for c in _CHANGES for s in (True, False) for a in (True, False)],
        *[_loading(SMALL, (1, change), assign=assign) for change in _CHANGES for assign in (True, False)],
        *[
            _loading([["parameter", "p", number], ["buffer", "b", number], ["parameter", "q", 0]], *changes, assign=assign)
            for number in (1, 2, 3)
            for changes in ([(0, "one"), (1, "one")], [(0, "scalar"), (1, "longer")], [(0, "frozen"), (2, "parameter")])
            for assign in (True, False)
        ],
        *[_loading([["own parameter", "p", number]], *changes, assign=assign)
          for number in (0, 2) for changes in ([], [(0, "parameter")], [(0, "frozen")], [(0, "half")])
          for assign in (True, False)],
        _loading(SMALL, (0, "longer"), (1, "drop"), extra=["x"]), _loading(SMALL, (0, "number"), (1, "number")),
        _loading([["parameter", "w", 0], ["parameter", "v", 1]], (0, "whole"), (1, "frozen"), assign=True),
        _loading([["parameter", "w", 2], ["parameter", "v", 4]], (0, "whole"), (1, "half"), assign=True),
        _loading([["parameter", "w", 2], ["parameter", "v", 5]], (0, "parameter"), (1, "frozen"), assign=True),
        _loading([["parameter", "w", 1], ["parameter", "v", 2]], (0, "one"), (1, "frozen"), assign=True),
        *[_loading(LARGE, *changes, recorded=False) for changes in ([], [(0, "longer"), (1, "number")])],
    ],
    hint=_about_loading,
    show=as_code,
)  # fmt: skip
def loaded(xp, entries, changes, extra, prefix, strict, assign, recorded):
    tree, other = Tree(xp, entries), Tree(xp, entries).root
    with xp.no_grad():
        for x in {id(x): x for x in [*other.parameters(), *other.buffers()]}.values():
            x.add_(3)
    saved = other.state_dict(prefix=prefix)
    given = dict(saved)
    for index, change in changes:
        key = next((key for number, key in enumerate(given) if number == index), None)
        if change == "drop":
            given.pop(key, None)
        elif key is not None and isinstance(given[key], xp.Tensor):
            given[key] = _CHANGES[change](xp, saved[key])
    given |= {key: numbers(xp, [2]) for key in extra if key not in given}
    lists, metadata = ([], [], []), {"assign_to_params_buffers": int(assign)} if assign or strict else {}
    before = list(given)
    with xp.set_grad_enabled(recorded):
        tree.root._load_from_state_dict(given, prefix, metadata, strict, *lists)
    missing, unexpected, messages = lists
    sizes = [[key for key in before if message.startswith(f"size mismatch for {key}:")] for message in messages]
    shown = {"missing": missing, "unexpected": unexpected, "messages": sizes}
    root = tree.root
    own = [*root._parameters.items(), *root._buffers.items()]
    shown["held"] = {
        name: tensor_state(x) | {"is": tree.label(x), "is the given one": x is given.get(prefix + name)}
        for name, x in own
        if x is not None
    }
    shown["parameters"], shown["buffers"] = list(root._parameters), list(root._buffers)
    shown["not saved"] = sorted(root._non_persistent_buffers_set)
    whole = attempt(lambda: _incompatible(Tree(xp, entries).root, given, strict))
    others = {"without sizes": _lazily(xp, strict), "refused": _refused(xp)}
    return shown | {"given": list(given) == before, "whole": whole} | others


def _lazily(xp, strict):
    """A load where neither side knows the sizes."""
    module, lists = xp.nn.LazyLinear(2), ([], [], [])
    given = {"weight": xp.nn.UninitializedParameter(), "bias": xp.nn.UninitializedParameter()}
    module._load_from_state_dict(given, "", {}, strict, *lists)
    noted = dict(zip(("missing", "unexpected", "messages"), map(len, lists)))
    return noted | {
        f"{name} is the given one": parameter is given[name] for name, parameter in module._parameters.items()
    }


def _refused(xp):
    """The messages of a load where each assignment raises an error of the module's own."""

    class Closed(xp.nn.Module):
        def __setattr__(self, name, value):
            if "closed" in self.__dict__:
                raise ArithmeticError("this module is closed")
            super().__setattr__(name, value)

    module, messages = Closed(), []
    module.w, module.v = (xp.nn.Parameter(numbers(xp, [2])) for _ in range(2))
    module.closed = True
    given = {name: numbers(xp, [2]) for name in "wv"}
    module._load_from_state_dict(given, "", {"assign_to_params_buffers": True}, True, [], [], messages)
    return len(messages)


def _incompatible(root, given, strict):
    incompatible = root.load_state_dict(given, strict)
    keys = {"missing": sorted(incompatible.missing_keys), "unexpected": sorted(incompatible.unexpected_keys)}
    return keys | {"parameters": [plain(x) for x in root.parameters()]}
