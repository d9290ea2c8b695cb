"""Checks of lab 00: the kernels that native_functions.yaml registers."""

import re

from ...engine.check import program
from ...engine.observe import is_error
from ..cases import drawing, entries, words
from .sources import known_tags, native_functions


def _entries(*names):
    return "".join(native_functions()[name] for name in names)


@drawing
def _sections(draw, st):
    names = list(native_functions())
    name, others = draw(st.sampled_from(names)), draw(st.lists(st.sampled_from(names[:300]), max_size=2))
    delegate = re.search(r"^  structured_delegate: (\S+)", native_functions()[name], re.MULTILINE)
    chosen = dict.fromkeys([name, *others, *([delegate[1]] if delegate else [])])
    return {"name": name, "text": _entries(*draw(st.permutations(list(chosen))))}


def _section_edges():
    usual = words("add.Tensor add.out mm mm.out relu relu_ matmul matmul.out softmax.int softmax.int_out")
    yield from ({"name": name, "text": _entries(*usual)} for name in usual)
    alone = "_scaled_grouped_mm add.Scalar expand svd.U absolute.out absolute_ softmax.int item dropout_"
    yield from ({"name": name, "text": _entries(name)} for name in words(alone))
    for name, delegate in (("sum.dim_IntList", "sum.IntList_out"), ("_softmax", "_softmax.out"), ("sgn_", "sgn.out")):
        yield {"name": name, "text": _entries(name, delegate)}
    for name in ("mm", "add", "relu.out", "softmax", "Tensor"):
        yield {"name": name, "text": _entries("mm", "add.Tensor", "relu", "softmax.int")}
    yield from (
        {"name": "narrow", "text": _entries(*names)} for names in (("narrow.Tensor", "narrow"), ("narrow.Tensor",))
    )
    own = "- func: f.x(Tensor x) -> Tensor\n  structured_delegate: f.out\n  dispatch:\n    SparseCPU: f_sparse\n"
    out = "- func: f.out(Tensor x, *, Tensor(a!) out) -> Tensor(a!)\n  structured: True\n  dispatch:\n"
    out += "    CPU, XPU, MTIA: f_out\n    CUDA, MPS: f_out_gpu\n    SparseCUDA: f_out_sparse\n    Meta: f_meta\n"
    yield from ({"name": name, "text": own + out} for name in ("f.x", "f.out"))
    yield {"name": "e", "text": "- func: e(Tensor x) -> Tensor\n  dispatch: {}\n"}
    yield {"name": "_nested_get_lengths", "text": _entries("_nested_get_lengths")}
    yield {"name": "h.out", "text": '- func: h.out(Tensor x, str s="() -> ", *, Tensor(a!) out) -> Tensor(a!)\n'}
    by_name = "*, int n=1, Tensor(a!) out, Tensor(b!) rest) -> (Tensor(a!), Tensor(b!))"
    yield {"name": "k.o", "text": f"- func: k.o(Tensor x, {by_name}\n"}
    yield {"name": "g_.y", "text": "- func: g_.y(Tensor(a!) self, *, int n=1) -> Tensor(a!)\n"}


_WHOLE_NAMES = "compare whole names: with an overload, or without one, it is another operator"


def _about_entries(case, mine, theirs):
    import yaml

    if is_error(theirs):
        return "an operator, or a delegate, that is not in the text is a LookupError; compare whole names, with the overload"
    if (both := entries(mine, theirs)) is None:
        return None
    of_text = {entry["func"].partition("(")[0]: entry for entry in yaml.safe_load(case["text"])}
    entry, yours = of_text[case["name"]], both[0]
    if yours.keys() == both[1].keys() and "dispatch" not in entry:
        return "the default name is the operator's without overload, with `_out` if an argument after the `*` is written to"
    if any(", " in key for key in yours):
        return "a function is registered for each of the keys, which are separated by commas"
    if "structured_delegate" in entry:
        return "its own dispatch, and of the delegate's the functions for STRUCTURED_KEYS, and for no other keys"
    if any(f"{kernel}" not in f"{entry}" for kernel in yours.values()) and "dispatch" in entry:
        return _WHOLE_NAMES
    if "dispatch" in entry:
        return "its own dispatch, even if empty, is all that is registered"
    return "with neither entry, one function is registered, for CompositeImplicitAutograd"


@program(
    "on_torch.trace.registrations",
    cases=_sections,
    edges=lambda: list(_section_edges()),
    hint=_about_entries,
)
def yaml_entries(xp, name, text):
    kernels = xp.trace.registrations(text, name)
    return dict(sorted(kernels.items())) if isinstance(kernels, dict) else kernels


@yaml_entries.oracle
def torch_yaml_entries(torch, name, text):
    import yaml
    from torchgen.model import Location, NativeFunction

    entries = {entry["func"].partition("(")[0]: entry for entry in yaml.safe_load(text)}

    def parsed(name):
        if name not in entries:
            raise LookupError(name)
        entry = {key: value for key, value in entries[name].items() if key != "ufunc_inner_loop"}
        function, kernels = NativeFunction.from_yaml(entry, Location("", 0), known_tags())
        return function, {key.name: metadata for key, operators in kernels.items() for metadata in operators.values()}

    function, registered = parsed(name)
    if function.structured_delegate is not None:
        _, inherited = parsed(str(function.structured_delegate))
        registered = {key: metadata for key, metadata in inherited.items() if metadata.structured} | registered
    return {key: registered[key].kernel for key in sorted(registered)}
