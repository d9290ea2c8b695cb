"""The TRACE of an operation of a student's choice: its form, its files, its operators and its kernels, against the installed torch.

Whether the TRACE is true is a person's question. This examination refuses what torch itself can refuse, and names the row.
"""

from __future__ import annotations

import difflib
import os
import re
import warnings
from dataclasses import dataclass, field
from functools import cache

from ...engine.check import program
from ...engine.observe import is_error
from ...engine.verdict import DISAGREED, PASSED, Verdict

ROWS, LAYERS, KINDS = 6, 3, 3  # at least
TRACED = {"add", "mm", "matmul"}  # in lab 00
SERVING = {"CPU", "CompositeImplicitAutograd", "CompositeExplicitAutograd", "CompositeExplicitAutogradNonFunctional"}
COLUMNS = {"function": "function", "layer": "layer", "file": "file", "what": "what it does", "how": "how I know"}
NAMES = {"frontend": "frontend", "dispatcher": "dispatcher", "aten": "ATen", "compiler": "compiler"}
EVIDENCE = {  # whole words, or the end of a name such as `cpp_stack` or `TorchDispatchMode`
    "a mode": r"aten_calls|(?:\w*_|\w*(?:dispatch|function|tensor|debug))?modes?",
    "the table": r"(?:\w*_)?tables?|serving|keys_in_order", "the YAML": r"yaml|registrations",
    "a stack": r"(?:\w*_|call)?stack(?:s|_?traces?)?|backtraces?|tracebacks?",
    "a graph": r"(?:\w*_|sub)?graphs?|grad_fn|next_functions", "a profile": r"profil(?:e|es|ed|er|ers|ing)",
    "the sources": r"sources?|inspect(?:ed|ing|ion)?", "a debugger": r"debuggers?|gdb|lldb",
    "a log": r"logs?|torch_logs|output_code",
}  # fmt: skip
REASONS = r"\b(backward|back|return|wrap|compil)"
CODE = re.compile(r"_|::|\w\.\w|[a-z][A-Z]")  # in a name, but in no word
NAMESPACES = re.compile(r"\(anonymous namespace\)::|^(?:torch::autograd::|torch::|at::native::|at::)(?!_ops)")
FILE = re.compile(r"(?:[\w.+-]*/)*[\w.+-]+\.(?:pyi?|cpp|cc|cuh?|hpp|h|inl|yaml)\b")
# Generated files, which a row may name without their path, and their layers beside those on the map.
GENERATED = {
    r"python_(torch|nn|fft|linalg|special|sparse|nested)_functions(_\d+)?\.(cpp|h)": "frontend",
    r"python_(variable_methods|functions_\d+|return_types|enum_tag)\.(cpp|h)": "frontend",
    r"(VariableType|ADInplaceOrViewType|TraceType)(_\d+|Everything)?\.(cpp|h)": "dispatcher",
    r"(Operators|RegisterBackendSelect|RegisterSchema)(_\d+|Everything)?\.(cpp|h)": "dispatcher ATen",
    r"(Register|Ufunc|CompositeView)\w*\.(cpp|cu|h)|TensorBody\.h|TensorMethods\.cpp": "ATen",
    r"Functions\.(cpp|h)": "dispatcher ATen",  # of autograd's nodes, and of ATen
    r"\w+_ops\.h": "dispatcher ATen",
    r"derivatives\.yaml": "dispatcher", r"native_functions\.yaml": "ATen",
}  # fmt: skip
GENERATORS = re.compile(r"(^|/)(torchgen|tools/autograd)/|\.yaml$")


def no_cases(st):
    """Nothing is drawn: a text is examined as it is."""
    return st.nothing()


# A table in Markdown -------------------------------------------------------------------------------------------------


class Refused(Exception):
    """The reason why a text is no TRACE."""


@dataclass
class Row:
    """A row of the table. `files` are those that its cell means."""

    number: int
    function: str
    layer: str
    file: str
    what: str
    how: str
    files: list = field(default_factory=list)

    @property
    def layers(self):
        return {name for word, name in NAMES.items() if re.search(rf"\b{word}\b", self.layer.lower())}

    @property
    def kinds(self):
        return {kind for kind, words in EVIDENCE.items() if re.search(rf"(?<![a-z])(?:{words})\b", self.how.lower())}

    @property
    def has_function(self):
        """Whether its function may be a name: there is one in the cell, or a part of the cell is one word."""
        parts = re.split(r"[,;/+]|\band\b", self.function)
        return bool(CODE.search(self.function)) or any(re.fullmatch(r"\s*\w+(?:\(.*\))?\s*", part) for part in parts)

    def is_again(self, other):
        """Whether another row has the same function, perhaps with a namespace."""
        if self.function == other.function:
            return True
        mine, theirs = (NAMESPACES.sub("", row.function) for row in (self, other))
        return mine == theirs and self.layers == other.layers and not {*self.files}.isdisjoint(other.files)

    @property
    def names(self):
        words = re.findall(r"\w+", f"{self.function} {self.file} {self.what} {self.how}")
        return {word.removeprefix("structured_") for word in words}

    @property
    def is_kernel(self):
        return self.layers == {"ATen"} and any("aten/src/ATen/native" in file for file in self.files)


def cells_of(line):
    """The cells of a line of a table, without what only makes them look otherwise."""
    cells = re.split(r"(?<!\\)\|", line.strip().removeprefix("|").removesuffix("|"))
    return [re.sub(r"[`*]|\\(?=[_|<>])|&nbsp;|<br ?/?>", "", cell).strip() for cell in cells]


def rows_of(text):
    """The rows of the one table in a text, in order."""
    lines = text.splitlines()
    named = {
        i: [" ".join(cell.lower().strip(":?.").split()) for cell in cells_of(line)] for i, line in enumerate(lines)
    }
    heads = [i for i, cells in named.items() if "function" in cells and len(cells) > 1]
    if not heads:
        raise Refused("there is no table with a column 'function'")
    if len(heads) > 1:
        raise Refused(f"there are {len(heads)} tables with a column 'function', and one is expected")
    head = named[heads[0]]
    if missing := [name for name in COLUMNS.values() if name.lower() not in head]:
        raise Refused(f"the table has no column {missing[0]!r}")
    if not re.fullmatch(r"[\s|:-]*-[\s|:-]*", "".join(lines[heads[0] + 1 : heads[0] + 2])):
        raise Refused("below the head of the table there is no line such as |---|---|")
    rows = []
    for line in lines[heads[0] + 2 :]:
        if "|" not in line:
            break
        cells = cells_of(line)
        if len(cells) != len(head):
            raise Refused(f"row {len(rows) + 1} has {len(cells)} cells, and the head has {len(head)}")
        named_cells = {key: cells[head.index(name.lower())] for key, name in COLUMNS.items()}
        rows.append(Row(len(rows) + 1, **named_cells))
    return rows


# What torch has ------------------------------------------------------------------------------------------------------


@cache
def operators():
    """The names of the operators in a training step of the MiniGPT on torch, composite ones and inner ones too."""
    import torch

    from rushlight.course.gpt import gpt

    warnings.filterwarnings("ignore", message=".*Profiler clears events")
    with torch.random.fork_rng(devices=[]):
        model, tokens = gpt(torch), torch.arange(8).reshape(2, 4)
    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU]) as record:
        scores = model(tokens)
        torch.nn.functional.cross_entropy(scores.flatten(0, 1), tokens.flatten()).backward()
    return {event.name.removeprefix("aten::") for event in record.events() if event.name.startswith("aten::")}


@cache
def schemas():
    """The names of all operators of aten, by their names in `at::_ops`."""
    import torch

    names = [name.removeprefix("aten::") for name in torch._C._dispatch_get_all_op_names() if name.startswith("aten::")]
    return {name.replace(".", "_"): name for name in names}


@cache
def entries():
    """The text of native_functions.yaml, and the parts of it by operator."""
    with open(installed("torchgen", "packaged", "ATen", "native", "native_functions.yaml"), encoding="utf-8") as file:
        parts = re.split(r"^(?=- func: )", file.read(), flags=re.MULTILINE)[1:]
    return {re.match(r"- func: ([\w.]+)\(", part)[1]: part for part in parts}


@cache
def kernels(name):
    """The names of the kernels that native_functions.yaml has for an operator, for the keys of `SERVING`."""
    from rushlight.on_torch.trace import registrations

    if not (part := entries().get(name, "")):
        return set()
    delegate = re.search(r"^  structured_delegate: (\S+)", part, re.MULTILINE)
    of_keys = registrations(part + (entries()[delegate[1]] if delegate else ""), name)
    return {of_keys[key] for key in SERVING & of_keys.keys()}


def operator_with(names):
    """The shortest name of an operator in a training step that has one of these kernels, and the kernel, or nothing."""
    fitting = [
        (name, kernel) for name in entries() if base_of(name) in operators() for kernel in sorted(kernels(name) & names)
    ]
    return min(fitting, key=lambda pair: len(pair[0]), default=None)


def installed(*parts):
    """A path in the folder of the installed packages."""
    import torch

    return os.path.join(os.path.dirname(os.path.dirname(torch.__file__)), *parts)


def is_missing(path):
    """Whether the installed torch must have a file, and has none."""
    if inner := re.search(r"(?:^|/)(?:tools|torchgen/packaged)/autograd/(.*)", path):
        return not os.path.exists(installed("torchgen", "packaged", "autograd", inner[1]))
    if not re.search(r"(?:^|/)(?:torch|torchgen)/.*\.pyi?$|(?:^|/)torch/include/|(?:^|/)torchgen/", path):
        return False
    parts = path.split("/")
    return not any(
        os.path.exists(installed(*parts[i:])) for i, part in enumerate(parts) if part in ("torch", "torchgen")
    )


def is_named_in(function, path):
    """Whether a Python file has one of the names of a function. A generator does not have to."""
    if GENERATORS.search(path):
        return True
    parts = path.split("/")
    paths = [installed(*parts[i:]) for i, part in enumerate(parts) if part == "torch"]
    if not (path := next(filter(os.path.exists, paths), None)):
        return False
    with open(path, encoding="utf-8") as file:
        text = file.read()
    return any(re.search(rf"\b{name}\b", text) for name in re.findall(r"\b(\w{3,})(?![\w.]|::)", function))


def layers_of(path):
    """The layers that a file may have, none if it is not on the map."""
    from rushlight.on_torch.trace import layer_of

    name = path.rpartition("/")[2]
    layers = {layer for pattern, of in GENERATED.items() if re.fullmatch(pattern, name) for layer in of.split()}
    if "torchinductor_" in path:
        return {"compiler"}
    source = re.sub(
        r"(^|/)torch/include/(ATen|torch|c10)/", lambda m: f"/{'aten/src/' * (m[2] == 'ATen')}{m[2]}/", path
    )
    try:
        return layers | ({layer_of(source)[0]} if "/" in path else set())
    except ValueError:
        return layers


def layer_of_function(name):
    """The layer of a C++ function by the beginning of its name, of which `torch::autograd::` or `at::` may be left out."""
    from rushlight.on_torch.trace import FRAME_MAP

    names = [f"{before}{name}" for before in ("", "torch::autograd::", "at::")]
    known = [start for start in FRAME_MAP if start not in ("torch::", "torch::autograd::", "at::")]
    fitting = [start for start in known if any(each.startswith(start) for each in names)]
    return {FRAME_MAP[max(fitting, key=len)][0]} if fitting else set()


# The examination -----------------------------------------------------------------------------------------------------


def operation_of(text):
    """The operator in the line `TRACE of NAME`."""
    titles = re.findall(
        r"^[\W_]*TRACE of\W+(?:(?:torch\.ops\.)?aten\W+)?([\w.]+)", text.replace("\\_", "_"), re.MULTILINE | re.I
    )
    if not titles:
        raise Refused("there is no line 'TRACE of NAME' with the name of your operator")
    title = titles[0].rstrip(".")
    name = base_of(title)
    if name.rstrip("_") in TRACED:
        raise Refused(f"lab 00 has the TRACE of {name}: choose another operator")
    if name not in operators():
        known = {each.partition(".")[0] for each in schemas().values()}
        reason = "no training step of the MiniGPT runs it" if name in known else "it is no operator of ATen"
        raise Refused(f"{name}: {reason}{advice(name, operators())}")
    if title not in (name, f"{name}.default", *schemas().values()):
        raise Refused(f"aten has no operator {title}")
    return name


def advice(name, names):
    """The end of a message on a mistyped name: the one that is most similar, or nothing."""
    close = difflib.get_close_matches(name, names, n=1, cutoff=0.65)
    return f"; did you mean {close[0]}?" if close else ""


def with_files(rows):
    """The rows, each with its files: the end of a path means a path of another row, `as 2` means the files of row 2,
    and `as above` those of the row above."""
    paths = [path for row in rows for path in FILE.findall(row.file) if layers_of(path)]
    for row in rows:
        for name in FILE.findall(row.file):
            longer = [path for path in paths if path.endswith(f"/{name}")]
            row.files.append(longer[0] if longer and not layers_of(name) else name)
        for other in map(int, re.findall(r"\bas (?:in |for )?(?:row |step )?(\d+)", row.file)):
            row.files += rows[other - 1].files if 0 < other < row.number else []
        if not row.files and row.number > 1 and re.search(r"\b(above|same|ditto)\b", row.file.lower()):
            row.files += rows[row.number - 2].files
    return rows


def problems_of_cells(row, rows):
    """Whether a row is complete, and differs from the rows above it."""
    for name in COLUMNS.values():
        if not re.search(r"\w", getattr(row, name.split()[0])):
            yield f"its cell {name!r} is empty"
    if above := [other for other in rows[: row.number - 1] if row.is_again(other)]:
        yield f"row {above[0].number} has this function already"
    elif not row.has_function:
        yield "its cell 'function' has no name of a function, such as `VariableType::mm`"
    if len(row.layers) != 1:
        yield f"its layer is {row.layer!r}, and not one of {', '.join(NAMES.values())}"


def problems_of_files(row):
    """Whether the files of a row are on the map, in torch, and in its layer."""
    if not row.files:
        yield f"its cell 'file' names no file: {row.file!r}"
    allowed = layer_of_function(row.function) if any(map(GENERATORS.search, row.files)) else set()
    for file in row.files:
        if not (layers := layers_of(file)):
            yield f"{file} is not on the source map: give its path from PyTorch's root"
        elif is_missing(file):
            yield f"the installed torch has no file {file}"
        elif row.layers == {"frontend"} and file.endswith(".py") and not is_named_in(row.function, file):
            yield f"{file} has no function of this name"
        allowed |= layers
    if len(row.layers) == 1 and allowed and not row.layers & allowed:
        yield f"its layer is {min(row.layers)}, and its file belongs to {' or '.join(sorted(allowed))}"


def problems_of_operators(row, rows):
    """Whether the operators in `at::_ops` exist, and a redispatch comes after its call."""
    for name, method in re.findall(r"_ops::(\w+(?:\.\w+)*)(?:::(\w+))?", f"{row.function} {row.what}"):
        if name not in schemas():
            yield f"aten has no operator at::_ops::{name}{advice(name, schemas())}"
        elif method not in ("", "call", "redispatch"):
            yield f"at::_ops::{name} has `call` and `redispatch`, and no `{method}`"
    for name in re.findall(r"_ops::(\w+)::redispatch", row.function):
        calls = [other.number for other in rows if f"_ops::{name}::call" in f"{other.function} {other.what}"]
        if not calls:
            yield f"no row has at::_ops::{name}::call: a redispatch comes after its call"
        elif min(calls) > row.number:
            yield f"the call of {name} is below, in row {min(calls)}: a redispatch comes after its call"


def problems_of_evidence(row, operation, mentioned):
    """Whether a row says how one knows, and what it has from native_functions.yaml is there."""
    if not row.kinds:
        yield f"its evidence is {row.how!r}, which is none of: {', '.join(EVIDENCE)}"
    if "the YAML" in row.kinds and row.layers == {"ATen"} and "derivatives" not in row.how:
        known = set().union(*map(kernels, mentioned))
        if row.names.isdisjoint(known) and not re.search(r"\bwrapper_|::meta\b", row.function):
            if found := operator_with({word.removeprefix("structured_") for word in re.findall(r"\w+", row.function)}):
                name, kernel = found
                call = f"at::_ops::{name.replace('.', '_')}::call"
                yield f"{kernel} is a kernel of {name} in native_functions.yaml, and no row has its call: add {call} above"
                return
            has = ", ".join(sorted(kernels(mentioned[0]))) or "no kernel"
            yield f"native_functions.yaml has no such kernel for an operator of this TRACE; of {mentioned[0]} it has {has}"


def problems_of_order(row, rows):
    """Whether a call can come to a row from the rows above it."""
    above = rows[: row.number - 1]
    if not above and row.layers & {"dispatcher", "ATen"}:
        yield f"a call begins in the frontend, or in the compiler, and not in {row.layer}"
    if row.is_kernel and not any("dispatcher" in other.layers for other in above):
        yield "a kernel is reached through the dispatcher, and no row above is of the dispatcher"
    is_return = row.layers == {"frontend"} and any(other.is_kernel for other in above)
    if is_return and not re.search(REASONS, f"{row.function} {row.what}".lower()):
        yield "it goes from a kernel back to the frontend, and does not say why: backward, returns, wraps, or compiles"


def problems_of_table(rows, operation):
    """Whether the table as a whole is large enough."""
    layers, kinds = ({each for row in rows for each in getattr(row, name)} for name in ("layers", "kinds"))
    if len(rows) < ROWS:
        yield f"the table has {len(rows)} rows, and at least {ROWS} are expected"
    if len(layers) < LAYERS:
        yield f"its layers are {', '.join(sorted(layers))}, and at least {LAYERS} are expected"
    if len(kinds) < KINDS:
        yield f"its kinds of evidence are {', '.join(sorted(kinds))}, and at least {KINDS} are expected"
    if not any(base_of(schemas().get(name, "")) == operation for name in called_in(rows)):
        yield f"no row is the call of your operator, at::_ops::{operation}::call"
    if not any(row.is_kernel for row in rows):
        yield "no row is a kernel, in a file below aten/src/ATen/native"
    own = set().union(*map(kernels, (name for name in schemas().values() if base_of(name) == operation)))
    if own and own.isdisjoint(name for row in rows if "ATen" in row.layers for name in row.names):
        yield f"no row of ATen has a kernel that native_functions.yaml names for {operation}: `registrations` shows them"


def called_in(rows):
    """The names in `at::_ops` of the functions of a table."""
    return [name for row in rows for name in re.findall(r"_ops::(\w+)", row.function)]


def base_of(name):
    """The name of an operator without its overload."""
    return name.partition(".")[0]


def problems(rows, operation):
    """What is wrong with a table, each problem of a row with its number and its function."""
    mentioned = [name for name in schemas().values() if base_of(name) == operation]
    mentioned = sorted(mentioned, key=len) + [schemas()[name] for name in called_in(rows) if name in schemas()]
    for row in rows:
        for reason in (
            *problems_of_cells(row, rows),
            *problems_of_files(row),
            *problems_of_operators(row, rows),
            *problems_of_evidence(row, operation, mentioned),
            *problems_of_order(row, rows),
        ):
            yield f"row {row.number}, {row.function}: {reason}"
    yield from problems_of_table(rows, operation)


def examine(judge, text, case):
    """Decide on a text: the first problem is the message, and the next ones are notes."""
    if not isinstance(text, str):
        reason = f"it raises {text['error'][0]}: {text['message']}" if is_error(text) else "it returns no text"
        return Verdict("", DISAGREED, message=reason)
    try:
        operation, rows = operation_of(text), with_files(rows_of(text))
        found = [*problems(rows, operation)]
    except Refused as error:
        return Verdict("", DISAGREED, message=str(error))
    if found:
        return Verdict("", DISAGREED, message=found[0], notes=found[1:6])
    return Verdict(
        "", PASSED, message=f"a TRACE of {operation} in {len(rows)} rows; a person decides whether it is true"
    )


@program("course.anatomy.trace_of_an_operation", cases=no_cases, edges=[{}], examine=examine)
def trace(rl):
    return rl.course.anatomy.trace_of_an_operation()
