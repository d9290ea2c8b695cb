"""Checks of lab 08: reading the code that Inductor generates, and Dynamo's logs.

A case has a text that torch made, and its program, except one that is written by hand. The judge has the true answer from Inductor
itself, which was asked while it wrote the text: see torch_dumps. A subject has neither.
"""

import re
from collections import Counter
from types import SimpleNamespace

from ...engine.check import program
from ...engine.observe import is_error
from ..cases import breaking, difference, field, no_cases
from ..shared_08 import _torch_dumps

_REAL = [
    "_log_softmax", "_softmax", "_to", "_to_copy", "add", "add_", "addmm", "amax", "backward", "copy", "copy_", "gt",
    "index", "index_select", "layer_norm", "log", "log_sigmoid", "log_softmax", "max", "mean", "mul", "mul_", "native",
    "native_layer_norm", "norm", "relu", "relu_", "select", "softmax", "sub", "sum", "t", "to", "to_copy", "var",
    "var_mean", "where",
]  # fmt: skip


# an operator of a library, whose result is all that the function returns; so no memory of the wrapper's is left
_LIBRARY = {
    "source": "def f(x):\n    return torch.ops.mylib.double(x + 1)",
    "inputs": [[[10], None, "float32"]],
    "text": """
    def call(self, args):
        arg0_1, = args
        buf0 = empty_strided_cpu((10, ), (1, ), torch.float32)
        cpp_fused_add_0(arg0_1, buf0)
        buf1 = torch.ops.mylib.double.default(buf0)
        del buf0
        return (buf1, )
""",
    "events": [
        ["allocate", "buf0", 40], ["kernel", "cpp_fused_add_0"],
        ["outside", "torch.ops.mylib.double.default", ["buf0"], "buf1"], ["free", "buf0"],
    ],
}  # fmt: skip


def _program_case(dump):
    given = {name: dump[name] for name in ("inputs", "isa", "threads", "calls") if name in dump}
    return {"function": dump["source"], "given": given}


def _text_case(dump):
    return _program_case(dump) | {"text": _shown(dump)}


def _shown(dump):
    """The kernels of a module and its `call`, without the imports and all else that every module has; or a log."""
    if "kernels" not in dump:
        return dump["text"]
    parts = re.findall(r"^(?:cpp_fused.*?^'{3}\)\n| {4}def call\(.*?\n(?=\n+runner = ))", dump["text"], re.M | re.S)
    return "".join(f"\n{part}" for part in parts)


def _kernel_cases(dumps):
    """A case for each kernel, the shortest first."""
    kernels = [(dump, name, kernel["source"]) for dump in dumps for name, kernel in dump["kernels"].items()]
    cases = [_program_case(dump) | {"kernel": name, "source": source} for dump, name, source in kernels]
    return sorted(cases, key=lambda case: len(case["source"]))


def _name_cases(dumps):
    """The names of kernels, each in two orders with operators by which it has only one reading."""
    by_name = {}
    for dump in dumps:
        for name, kernel in dump["kernels"].items():
            known = list(kernel["operations"])
            if _readings(name, known) != 1:
                continue
            for other in _REAL:
                if other not in known and _readings(name, [*known, other]) == 1:
                    known.append(other)
            for order in (sorted(known), sorted(known, reverse=True)):
                case = _program_case(dump) | {"name": name, "known": order}
                by_name.setdefault((name, tuple(order)), case)
            by_name.setdefault(_unnamed(name), case | {"name": _unnamed(name)})
    return sorted(by_name.values(), key=lambda case: len(case["name"]))


def _readings(name, known):
    """In how many ways a kernel's name is a sorted list of operators."""
    ways, count = [(name.removeprefix("cpp_fused_"), "")], 0
    while ways:
        rest, last = ways.pop()
        count += rest.isdigit()
        ways += [
            (rest[len(operator) + 1 :], operator)
            for operator in known
            if operator > last and rest.startswith(operator + "_")
        ]
    return count


def _text_cases(dumps):
    return [_text_case(dump) for dump in dumps]


def _texts_and_outdented(dumps):
    cases = _text_cases(dumps)
    several = [case for case in cases if "# reuse" in case["text"] and "extern_kernels" in case["text"]]
    return cases + [case | {"text": _outdented(case["text"])} for case in several[:2]]


def _of_dumps(cases_of=_text_cases, further=()):
    """Arguments of `program`: the cases that `cases_of` makes of dumps, and of the further ones as edges."""
    return {
        "cases": lambda st: st.sampled_from(cases_of(_torch_dumps().pool())),
        "edges": lambda: cases_of([*_torch_dumps().edges(), *further]),
    }


def _known(function, given, text=None):
    """Inductor's answers about the program, if this is its text."""
    dump = _LIBRARY if function == _LIBRARY["source"] else _torch_dumps().known(function, given)
    if text is not None and text not in (_shown(dump), _outdented(_shown(dump))):
        raise ValueError("this is not the text that the installed torch makes of the program")
    return dump


def _known_kernel(function, given, kernel, source):
    known = _known(function, given)["kernels"][kernel]
    if known["source"] != source:
        raise ValueError("this is not the kernel that the installed torch makes of the program")
    return known


def _by_parts(other_length, *parts):
    """A hint for lists of different length, and one for each part of an entry, for the first part that differs."""

    def hint(case, mine, theirs):
        if not (isinstance(mine, list) and isinstance(theirs, list)):
            return None  # an exception says itself what is wrong
        if len(mine) != len(theirs):
            return other_length
        pairs = (zip(parts, *both, strict=True) for both in zip(mine, theirs))
        return next((part for both in pairs for part, *items in both if difference(*items)), None)

    return hint


def _reversed(text):
    """A text with the definitions of its kernels in the opposite order."""
    *kernels, call = re.split(r"^(?=cpp_fused| {4}def call)", text, flags=re.M)[1:]
    return "\n" + "".join([*reversed(kernels), call])


def _unnamed(text):
    """A text, or a name, as Inductor writes it if it knows no operator of a kernel."""
    return re.sub(r"\bcpp_fused\w*?_(\d+)\b", r"cpp_fused_\1", text)


def _outdented(text):
    """A text with less indent before the lines of `call`."""
    return re.sub(r"^ {8}(?=\S)", "  ", text, flags=re.M)


def _texts_and_changed(dumps):
    cases = _text_cases(dumps)
    several = [case for case in cases if case["text"].count("\ncpp_fused") > 1]
    changes = _reversed, _unnamed, _outdented
    return cases + [case | {"text": changed(case["text"])} for case in several for changed in changes]


def _about_kernels(case, mine, theirs):
    if isinstance(mine, dict) and sorted(mine.get("dict", [])) == sorted(theirs["dict"]):
        return "the names are in the order of their first calls"
    return "a kernel's definition begins a line, and a call is indented; a kernel may be called several times"


@program(
    "inductor.output_code.kernel_calls",
    hint=_about_kernels,
    draws=12,
    **_of_dumps(_texts_and_changed),
)
def kernel_calls(xp, function, given, text):
    return xp.inductor.output_code.kernel_calls(text)


@kernel_calls.oracle
def _(torch, function, given, text):
    dump = _known(function, given)
    shown, names = _shown(dump), [call[1] for call in dump["events"] if call[0] == "kernel"]
    if text == _unnamed(shown):
        return dict(Counter(map(_unnamed, names)))
    if text not in (shown, _reversed(shown), _outdented(shown)):
        raise ValueError("this is not the text that the installed torch makes of the program")
    return dict(Counter(names))


def _texts_with_externs(st):
    """Texts that call an external kernel in one of two draws, because few of all texts call one."""
    dumps = _torch_dumps().pool()
    having = [dump for dump in dumps if any(event[0] == "outside" for event in dump["events"])]
    return st.one_of(st.sampled_from(having or dumps), st.sampled_from(dumps)).map(_text_case)


_about_externs = _by_parts(
    "the calls are those of extern_kernels.* and of torch.ops.*, with out= or with a result before them",
    "the operator is the whole dotted name before the parenthesis",
    "an operand is any arg or buf inside the parentheses, also in reinterpret_tensor, but not the one after out=",
    "the result is the name after out=, or the one before ' = '",
)


@program(
    "inductor.output_code.extern_calls",
    cases=_texts_with_externs,
    edges=lambda: _texts_and_outdented([*_torch_dumps().edges(), _LIBRARY]),
    hint=_about_externs,
    draws=12,
)
def extern_calls(xp, function, given, text):
    return xp.inductor.output_code.extern_calls(text)


@extern_calls.oracle
def _(torch, function, given, text):
    return [call[1:] for call in _known(function, given, text)["events"] if call[0] == "outside"]


def _about_memory(case, mine, theirs):
    if field(mine, "reused") == field(theirs, "reused"):
        return (
            "the reuse is right. empty_strided_cpu adds bytes, del frees them, and a reuse moves them to the new name"
        )
    return "a reuse ends in '# reuse', also of an operator's result; an alias, or a name of part of a result, has no memory"


@program("inductor.output_code.memory_use", hint=_about_memory, draws=12, **_of_dumps(_texts_and_outdented, [_LIBRARY]))
def memory_use(xp, function, given, text):
    reused, most = xp.inductor.output_code.memory_use(text)
    return {"reused": reused, "most bytes": most}


@memory_use.oracle
def _(torch, function, given, text):
    live, reused, most = {}, {}, 0
    for what, name, *more in _known(function, given, text)["events"]:
        if what == "allocate":
            live[name] = more[0]
        elif what == "reuse":
            reused[name] = more[0]
            live[name] = live.pop(more[0], 0)
        elif what == "free":
            live.pop(name, None)
        most = max(most, sum(live.values()))
    return {"reused": reused, "most bytes": most}


def _about_operations(case, mine, theirs):
    if not theirs:
        return "a name without operators, such as cpp_fused_3, gives an empty list"
    if isinstance(mine, list) and sorted(mine) == sorted(theirs):
        return "the operators are in the order of the name"
    if isinstance(mine, list) and len(mine) < len(theirs) and all(item in theirs for item in mine):
        return "the name has more operators than these"
    if is_error(mine) and not is_error(theirs):
        return None
    return "an operator's name may begin or end with _, and one may begin with another: if one way fails, try the next"


@program("inductor.output_code.fused_operations", hint=_about_operations, draws=20, **_of_dumps(_name_cases))
def fused_operations(xp, function, given, name, known):
    return xp.inductor.output_code.fused_operations(name, [*known])


@fused_operations.oracle
def _(torch, function, given, name, known):
    kernels = _known(function, given)["kernels"]
    return [] if name in map(_unnamed, kernels) else kernels[name]["operations"]


BREAKS, BODIES = "course.breaks.breaks_fused_operations", "08a.fused_operations"


@program(f"{BREAKS}.half", cases=no_cases, edges=[{}], examine=breaking(BODIES, "1/2"))
def breaks_half(xp):
    return xp.breaks.breaks_fused_operations()


@program(f"{BREAKS}.most", cases=no_cases, edges=[{}], examine=breaking(BODIES, "3/4"))
def breaks_most(xp):
    return xp.breaks.breaks_fused_operations()


@program(BREAKS, cases=no_cases, edges=[{}], examine=breaking(BODIES, "1"))
def breaks_fused_operations(xp, **case):
    """The cases, or what `fused_operations` reads in the name of one of them."""
    if not case:
        return xp.breaks.breaks_fused_operations()
    operations, others = case["operations"], case["others"]
    name = "_".join(["cpp_fused", *sorted({*operations}), "3"])
    return {"name": name, "operators": xp.inductor.output_code.fused_operations(name, [*others, *operations])}


@breaks_fused_operations.oracle
def _(torch, operations, others):
    from torch._inductor.utils import get_fused_kernel_name

    nodes = dict.fromkeys(map(_node_of(torch), operations))
    kernel = SimpleNamespace(node=SimpleNamespace(origins=nodes.keys()))
    name = f"cpp_{get_fused_kernel_name([kernel], 'original_aten')}_3"
    if _readings(name, {*operations, *others}) != 1:
        raise ValueError("the name has several readings")
    return {"name": name, "operators": sorted({*operations})}


def _node_of(torch):
    """A function from an operator to a node of a graph that calls it."""
    graph = torch.fx.Graph()

    def node_of(operator):
        packet = getattr(torch.ops.aten, operator)
        node = graph.call_function(packet)
        node.meta["original_aten"] = getattr(packet, packet.overloads()[0])
        return node

    return node_of


def _about_loops(case, mine, theirs):
    if not (isinstance(mine, list) and isinstance(theirs, list)):
        return None
    if len(mine) != len(theirs):
        return "a loop is a line that begins with 'for(int64_t', not with 'for ('"
    names = ("variable", "size", "step", "number of loops that threads share", "number of runs")
    for number, (one, other) in enumerate(zip(mine, theirs), start=1):
        for name, mine_is, theirs_is in zip(names, one, other):
            if mine_is != theirs_is:
                return f"the first difference is the {name} of loop {number}, over {other[0]}"
    return None


@program("inductor.output_code.kernel_loops", hint=_about_loops, draws=20, **_of_dumps(_kernel_cases))
def kernel_loops(xp, function, given, kernel, source):
    return xp.inductor.output_code.kernel_loops(source)


@kernel_loops.oracle
def _(torch, function, given, kernel, source):
    loops, runs = [], {}
    for depth, variable, size, step, shared in _known_kernel(function, given, kernel, source)["loops"]:
        runs[depth] = runs.get(depth - 1, 1) * -(-size // step)
        loops.append((variable, size, step, shared, runs[depth]))
    return loops


def _about_bytes(case, mine, theirs):
    if not (isinstance(mine, list) and isinstance(theirs, list)):
        is_unknown = isinstance(mine, dict) and mine.get("error", [])[:1] == ["KeyError"]
        return "the sizes of each argument are above the call, in one of the docstring's forms" if is_unknown else None
    return _about_entries(case, mine, theirs)


_about_entries = _by_parts(
    "one entry for each call of a kernel, also if it is called again",
    "an entry begins with the name of the kernel, and the entries are in the order of the calls",
    "elements times bytes of an element, for every argument of the call; in_out_ptr twice",
)


@program("inductor.output_code.bytes_moved", hint=_about_bytes, draws=12, **_of_dumps(_texts_and_outdented))
def bytes_moved(xp, function, given, text):
    return xp.inductor.output_code.bytes_moved(text)


@bytes_moved.oracle
def _(torch, function, given, text):
    dump = _known(function, given, text)
    names = [call[1] for call in dump["events"] if call[0] == "kernel"]
    return list(zip(names, dump["moved"], strict=True))


_about_recompilations = _by_parts(
    "one entry for each line that says 'Recompiling function'",
    "the function's name is what stands between 'Recompiling function' and 'in'",
    "a reason is a line with a version such as 0/0; the expected value is text, or None if the log does not say it",
)


@program(
    "inductor.output_code.recompilations",
    cases=lambda st: st.sampled_from(_text_cases(_torch_dumps().logs())),
    edges=lambda: _text_cases(_torch_dumps().edge_logs()),
    hint=_about_recompilations,
    draws=12,
)
def recompilations(xp, function, given, text):
    return xp.inductor.output_code.recompilations(text)


@recompilations.oracle
def _(torch, function, given, text):
    return _known(function, given, text)["recompilations"]


# All of a dump ------------------------------------------------------------------------------------------------------


@program(
    "together.dump",
    cases=lambda st: st.sampled_from(_text_cases(_torch_dumps().pool())),
    edges=lambda: _text_cases(_torch_dumps().edges()),
    draws=12,
)
def whole_dump(xp, function, given, text):
    code = xp.inductor.output_code
    kernels = re.findall(r"^(cpp_fused\w*) = .*?r'{3}(.*?)'{3}", text, re.MULTILINE | re.DOTALL)
    reused, most = code.memory_use(text)
    runs = {name: [loop[-1] for loop in code.kernel_loops(source)] for name, source in kernels}
    return {"reused": reused, "most bytes": most, "bytes moved": code.bytes_moved(text), "runs of each loop": runs}


@whole_dump.oracle
def _(torch, function, given, text):
    dump = _known(function, given, text)
    runs = {
        name: [loop[-1] for loop in kernel_loops.torch_program(torch, function, given, name, kernel["source"])]
        for name, kernel in dump["kernels"].items()
    }
    return {
        **memory_use.torch_program(torch, function, given, text),
        "bytes moved": bytes_moved.torch_program(torch, function, given, text),
        "runs of each loop": runs,
    }
