"""Which setting a module gets."""

from __future__ import annotations

from ...engine.check import program
from ...engine.observe import is_error
from ..cases import drawing

_NAMES = ["a", "a.b", "a.b.c", "body.0", "body.10", "head"]
_PATTERNS = ["a", "a.*", "b", r".*\.\d", r"body\.\d$", ".*0"]


@drawing
def _rules(draw, st):
    kinds, value = st.sampled_from(["Linear", "ReLU"]), st.sampled_from(["one", "two", "three", None])
    rule = st.one_of(
        st.tuples(st.just("set_global"), value),
        st.tuples(st.just("set_object_type"), kinds, value),
        st.tuples(st.just("set_module_name_regex"), st.sampled_from(_PATTERNS), value),
        st.tuples(st.just("set_module_name"), st.sampled_from(["", *_NAMES]), value),
        st.tuples(st.just("set_module_name_object_type_order"), st.sampled_from(["", *_NAMES]), kinds, st.integers(0, 1), value),
    )  # fmt: skip
    rules = draw(st.lists(rule.map(list), max_size=5))
    return {
        "rules": rules,
        "name": draw(st.sampled_from(_NAMES)),
        "kind": draw(kinds),
        "index": draw(st.integers(0, 1)),
    }


def _asked(rules, name="a.b.c", kind="Linear", index=0):
    return {"rules": rules, "name": name, "kind": kind, "index": index}


_GLOBAL, _TYPE, _REGEX = ["set_global", "g"], ["set_object_type", "Linear", "t"], ["set_module_name_regex", "a", "r"]
_NAME, _ORDER = ["set_module_name", "a.b", "n"], ["set_module_name_object_type_order", "a.b", "Linear", 0, "o"]


_ABOUT = {  # in the order in which the rules are asked
    "set_module_name_object_type_order": "a rule for (name of the parent, type, index) is asked first: all three must agree",
    "set_module_name": "the module's own name is asked before its ancestors, and the nearest of these before the others",
    "set_module_name_regex": "the first pattern that matches the beginning of the name answers, after names and before types",
    "set_object_type": "a type is asked after names and patterns, and before the setting for all",
    "set_global": "no other rule is about this module: the setting for all answers",
}
_NOT_ABOUT = {  # why a rule of this kind does not answer
    "set_module_name_object_type_order": "a rule for (name of the parent, type, index) answers only if all three agree",
    "set_module_name": "a rule for a name answers for this module and those in it, and the empty name is never looked up",
    "set_module_name_regex": "a pattern answers only if it matches the beginning of the name",
    "set_object_type": "a rule for a class says nothing about its subclasses",
}


def _about_settings(case, mine, theirs):
    if is_error(mine):
        return None
    yours, wanted = (
        [method for method in _ABOUT for other, *_, value in case["rules"] if (method, answer) == (other, value)]
        for answer in (mine, theirs)
    )
    if theirs is None and wanted:
        return "None is an answer too: it means that the module is not quantised"
    order = [*_ABOUT]
    if yours and (not wanted or order.index(yours[0]) < order.index(wanted[0])):  # a rule that is not about the module
        return _NOT_ABOUT.get(yours[0])
    return _ABOUT[wanted[0]] if wanted else "no rule is about this module: the answer is None"


def _types(xp, each):
    """The object that a text in a case names: a class, a function, or the text itself, such as the name of a method."""
    if each == "relu":
        return xp.nn.functional.relu
    return getattr(xp.nn, each) if each in ("Linear", "ReLU", "Module") else each


@program(
    "ao.quantization.qconfig_mapping.find_qconfig",
    cases=_rules,
    edges=[
        _asked([]), _asked([_GLOBAL]), _asked([_GLOBAL, _TYPE]), _asked([_GLOBAL, _TYPE, _REGEX]),
        _asked([_GLOBAL, _TYPE, _REGEX, _NAME]),
        _asked([_ORDER, _NAME, _REGEX, _TYPE, _GLOBAL]), _asked([_ORDER, _NAME, _GLOBAL], index=1),
        _asked([_ORDER, _GLOBAL], kind="ReLU"),
        _asked([_ORDER, _GLOBAL], "a.b"), _asked([_TYPE, _GLOBAL], kind="ReLU"),
        _asked([_GLOBAL, ["set_module_name", "", "x"]], "a"),
        _asked([_GLOBAL, ["set_module_name", "a.b.c", None]]), _asked([_NAME, ["set_module_name", "a", "x"]]),
        _asked([_GLOBAL, ["set_module_name", "a", "x"]]), _asked([_GLOBAL, ["set_module_name", "a.b.c", "x"], _NAME]),
        _asked([_GLOBAL, _TYPE, ["set_object_type", "Linear", None]]),
        _asked([_GLOBAL, ["set_module_name_regex", "a", None], _TYPE]),
        _asked([["set_module_name_regex", "a.b", "first"], _REGEX]), _asked([_REGEX, ["set_module_name_regex", "a.b", "second"]]),
        _asked([["set_module_name_regex", "b", "x"], _REGEX, _GLOBAL]),
        _asked([_GLOBAL, ["set_module_name_regex", "b", "x"]]),
        _asked([_GLOBAL, ["set_module_name_regex", r".*\.\d", "x"]], "body.10"),
        _asked([_GLOBAL, ["set_module_name_regex", "body$", "x"]], "body.0"),
        _asked([["set_module_name_object_type_order", "", "Linear", 0, "x"], _GLOBAL], "head"), _asked([_GLOBAL, _NAME], "a.bc"),
        _asked([["set_module_name_object_type_order", "a.b", "Linear", 0, None], _NAME]),
        _asked([["set_object_type", "Module", "x"], _GLOBAL]), _asked([["set_object_type", "relu", "x"], _GLOBAL], kind="relu"),
        _asked([["set_object_type", "view", "x"], _TYPE, _GLOBAL], kind="view"),
        _asked([["set_module_name_object_type_order", "a", "Linear", 0, "x"], _GLOBAL]),
        _asked([["set_module_name_object_type_order", "a.b.c", "Linear", 0, "x"], _GLOBAL]),
    ],
    hint=_about_settings,
)  # fmt: skip
def setting(rl, rules, name, kind, index):
    mapping = rl.ao.quantization.QConfigMapping()
    for method, *values in rules:
        getattr(mapping, method)(*[_types(rl, value) for value in values])
    return rl.ao.quantization.qconfig_mapping.find_qconfig(mapping, name, _types(rl, kind), index)


@setting.oracle
def setting_of_torch(torch, rules, name, kind, index):
    from torch.ao.quantization.fx import qconfig_mapping_utils as search

    mapping, kind = torch.ao.quantization.QConfigMapping(), _types(torch, kind)
    for method, *values in rules:
        getattr(mapping, method)(*[_types(torch, value) for value in values])
    of_type = search._maybe_adjust_qconfig_for_module_type_or_name(mapping, kind, name, mapping.global_qconfig)
    parent = name.rpartition(".")[0]
    return search._maybe_adjust_qconfig_for_module_name_object_type_order(mapping, parent, kind, index, of_type)
