"""One operation followed from Python down to its kernel, in real PyTorch.

Each part of a call can be inspected: the source file of each layer, an operator's schema, the operators that run, a tensor's
dispatch keys and the kernel that serves them, the registrations in `native_functions.yaml`, the operators that take the most
time, and the time that something takes on an asynchronous device. In PyTorch: `torch/_ops.py`,
`aten/src/ATen/core/dispatch/`, `c10/core/DispatchKeySet.h`, `torchgen/`, `torch/profiler/`, `torch/utils/benchmark/`. Left
out: computing a table of kernels from registrations, which belongs to the phase on the dispatcher.

This module works on torch itself.
"""

from __future__ import annotations

import re
import tomllib
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

import torch
import yaml
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

# The source map ------------------------------------------------------------------------------------------------------

_MAP = Path(__file__).with_name("source_map.toml").read_text(encoding="utf-8")
SOURCE_MAP: dict[str, tuple[str, str]] = {
    path: (layer, purpose) for path, (layer, purpose) in tomllib.loads(_MAP).items()
}
"""By folder or file its layer, and its purpose."""


def layer_of(path: str) -> tuple[str, str]:
    """The layer of PyTorch that a source file belongs to, and the entry of `SOURCE_MAP` that says so.

    `path` is written with `/` and may begin anywhere: `c10/core/TensorImpl.cpp`, `/home/me/src/pytorch/c10/core/...` in a
    dump, `.../site-packages/torch/nn/functional.py` in a traceback. An entry fits if its parts occur in the path one after
    the other, as whole parts: `torch/nn` fits `a/torch/nn/init.py` and `torch/nn`, not `torch/nnapi/x.py`. Among entries
    that fit, the one with the most parts counts. If several have equally many parts, the one that is last in the path counts.
    Returns a tuple or a list of two. Raises ValueError if no entry fits.

        >>> layer_of("/usr/lib/python3/site-packages/torch/nn/functional.py")
        ('frontend', 'torch/nn')

    Source: the tree at https://github.com/pytorch/pytorch, and its `CONTRIBUTING.md`, "Codebase structure".
    """
    text = f"/{path}/"
    fitting = [entry for entry in SOURCE_MAP if f"/{entry}/" in text]
    if not fitting:
        raise ValueError(f"{path} is not on the source map")
    entry = max(fitting, key=lambda entry: (entry.count("/"), text.rindex(f"/{entry}/")))
    return SOURCE_MAP[entry][0], entry


# Backtraces ----------------------------------------------------------------------------------------------------------

_FRAMES = tomllib.loads(Path(__file__).with_name("frame_map.toml").read_text(encoding="utf-8"))
FRAME_MAP: dict[str, tuple[str, str]] = {start: (layer, place) for start, (layer, place) in _FRAMES.items()}
"""By the beginning of a C++ function's name its layer, and the file or folder of its source."""
BACKTRACE = Path(__file__).with_name("add_backtrace.txt").read_text(encoding="utf-8")
"""What gdb printed for `a + a`, stopped where TensorIterator starts its loop: PyTorch 2.13 in CPython 3.11."""


def read_backtrace(text: str) -> list[tuple[str, str, str]]:
    """PyTorch's functions in a backtrace of gdb, the innermost first, each with its layer and the place of its source.

    `text` has a line for each frame, the innermost first. Other lines do not begin with `#` and a digit.

        #2  0x00007f92 in at::native::(anonymous namespace)::add_kernel(at::TensorIteratorBase&) () from libtorch_cpu.so
        #10 0x00007f5a in _object* torch::autograd::wrap<&torch::autograd::THPVariable_add>(_object*) () from libtorch.so
        #17 PyNumber_Add (v=0x7f76, w=0x7f76) at Objects/abstract.c:1073

    After the number come perhaps an address and ` in `, perhaps the type of the result and a space, and then the name of the
    function. The type and each part of the name may have template arguments in `<` and `>`, which come in pairs there and may
    contain anything else, such as parentheses, spaces and other template arguments. `(anonymous namespace)::` is a part of the
    name for gdb, and not for this function, and template arguments are no part of it. Without both, the name has no space. It ends
    at the first `(`, before which there may be a space, as in frame 17. Without a `(` it ends with the line. The type may have
    spaces, as `unsigned long` has.

    The result is a list of tuples or lists: the name, and the two texts of the entry of `FRAME_MAP` that it begins with. If it
    begins with several entries, the longest counts. A frame whose name begins with none is left out: it is not PyTorch's.

        >>> read_backtrace("#0  0x7f in at::Tensor at::native::sum<float, 4>(at::Tensor const&) () from libtorch_cpu.so")
        [('at::native::sum', 'ATen', 'aten/src/ATen/native')]

    Source: gdb's manual, "Backtraces"; `tools/gdb/pytorch-gdb.py`.
    """
    found = []
    for frame in re.findall(r"^#\d+ +(?:0x[0-9a-f]+ in )?(.*)", text, re.MULTILINE):
        name, shorter = "", frame.replace("(anonymous namespace)::", "")
        while name != shorter:
            name, shorter = shorter, re.sub(r"<[^<>]*>", "", shorter)
        name = name.partition("(")[0].split()[-1]
        if fitting := [start for start in FRAME_MAP if name.startswith(start)]:
            found.append((name, *FRAME_MAP[max(fitting, key=len)]))
    return found


# Schemas -------------------------------------------------------------------------------------------------------------


def read_schema(schema: str) -> dict[str, Any]:
    """The facts about an operator that a caller needs, read from its schema.

        add_.Tensor(Tensor(a!) self, Tensor other, *, Scalar alpha=1) -> Tensor(a!)

    Returns a dict with, in this order,

    - "name": the text before the first parenthesis, `add_.Tensor`;
    - "required": the names of the arguments without a default, here `["self", "other"]`;
    - "by name": those after the `*`, which are keyword-only, `["alpha"]`;
    - "written": those that the operator writes to, `["self"]`; the annotation of their type, in parentheses, has a `!`;
    - "shared": for each result, the arguments whose memory it may share, `[["self"]]`; their annotations begin with the same
      letter as the result's. Of `split(Tensor(a -> *) self, ...) -> Tensor(a)[]` it is again `[["self"]]`; the part after the
      arrow does not matter here.

    Arguments are separated by a comma and a space. Each is a type, a space, a name, and perhaps `=` and a default. Types have
    no commas; a default has them only within brackets, `int[2] stride=[1, 1]`. All brackets come in pairs, also in a text,
    `str mode="() -> "`. After the arguments come `) -> ` and then one result, or any number in parentheses, `()`,
    `(Tensor(a!) values, Tensor(b!) indices)`; results need no names. You may use `split_at_commas` and `annotation`, below,
    but not `torch._C.parse_schema` and `torchgen`.

        >>> read_schema("t(Tensor(a) self) -> Tensor(a)")
        {'name': 't', 'required': ['self'], 'by name': [], 'written': [], 'shared': [['self']]}

    Source: `aten/src/ATen/native/README.md`, "func"; `torch/csrc/jit/frontend/function_schema_parser.cpp`.
    """
    name, _, rest = schema.partition("(")
    arguments, _, results = rest.rpartition(") -> ")
    parts = split_at_commas(arguments)
    star = parts.index("*") if "*" in parts else len(parts)
    names = {part: part.partition("=")[0].split()[-1] for part in parts if " " in part}
    letters = {argument: annotation(part)[:1] for part, argument in names.items()}
    return {
        "name": name,
        "required": [names[part] for part in names if "=" not in part],
        "by name": [names[part] for part in parts[star + 1 :]],
        "written": [names[part] for part in names if "!" in annotation(part)],
        "shared": [
            [argument for argument in letters if letters[argument] and annotation(result).startswith(letters[argument])]
            for result in split_at_commas(results.strip("()"))
        ],
    }


def split_at_commas(text: str) -> list[str]:
    """The parts of a list of arguments or results. Commas within brackets do not count. An empty text has no parts."""
    return re.split(r", (?![^[]*\])", text) if text else []


def annotation(part: str) -> str:
    """The text in parentheses after the type of an argument or result: `a!`, `a -> *`, or "" if there is none."""
    match = re.match(r"\w+\(([^)]*)", part)
    return match[1] if match else ""


# Which operators run -------------------------------------------------------------------------------------------------


def aten_calls(function: Callable, *args: Any) -> list[tuple[str, list[tuple[int, ...]]]]:
    """The operators that `function(*args)` calls, in order, each with the shapes of its tensor arguments.

    They are the operators that reach the end of the dispatcher, below autograd, where composite operators such as `matmul`
    have been decomposed: those that the `__torch_dispatch__` of a `TorchDispatchMode` receives. The result is a list or a tuple
    with a pair for each: its name with overload, `"aten.add.Tensor"`, as `str` gives it, and a list of the shapes of all tensors
    among its arguments when it is called: first the positional arguments, then the keyword arguments, including tensors in
    lists, in order. A pair or a shape is a tuple or a list.

    The function computes the same as without recording, and is called once. Its exceptions are passed on. Afterwards, in any
    case, nothing is recorded any more.

        >>> aten_calls(lambda x: x @ x + 1, torch.ones(2, 2))
        [('aten.mm.default', [(2, 2), (2, 2)]), ('aten.add.Tensor', [(2, 2)])]

    Source: `torch/utils/_python_dispatch.py`, `TorchDispatchMode`.
    """
    calls = []

    class Record(TorchDispatchMode):
        def __torch_dispatch__(self, func, types, args, kwargs):
            shapes = [tuple(leaf.shape) for leaf in tree_leaves((args, kwargs)) if isinstance(leaf, Tensor)]
            calls.append((str(func), shapes))
            return func(*args, **kwargs)

    with Record():
        function(*args)
    return calls


# A tensor's dispatch keys, and the kernel that serves them -----------------------------------------------------------


def keys_in_order(x: Tensor) -> list[str]:
    """The names of the dispatch keys that a call with this one tensor goes through, in a list or a tuple, the one with the
    highest priority first.

    They are the tensor's own, `torch._C._dispatch_keys(x)`, and those that the thread includes,
    `torch._C._dispatch_tls_local_include_set()`, without those that it excludes,
    `torch._C._dispatch_tls_local_exclude_set()`. These are `DispatchKeySet`s: `a | b` and `a - b` are sets again,
    `a.highestPriorityTypeId()` is a key, `DispatchKey.Undefined` if there is none, `a.remove(key)` is the set without it, and
    `key.name` its name.

        >>> keys_in_order(torch.empty(2, device="meta"))
        ['AutogradMeta', 'ADInplaceOrView', 'BackendSelect', 'Meta']

    Source: `aten/src/ATen/core/dispatch/DispatchKeyExtractor.h`, `computeDispatchKeySet`; `c10/core/DispatchKeySet.h`.
    """
    keys = torch._C._dispatch_keys(x) | torch._C._dispatch_tls_local_include_set()
    keys = keys - torch._C._dispatch_tls_local_exclude_set()
    names = []
    while (key := keys.highestPriorityTypeId()) != torch._C.DispatchKey.Undefined:
        names.append(key.name)
        keys = keys.remove(key)
    return names


def serving(table: str, keys: Sequence[str]) -> tuple[str, str, str] | None:
    """The kernel that serves a call: its key, the source line where it was registered, and the kind of registration.

    `table` is the text that `torch._C._dispatch_dump_table("aten::add.Tensor")` returns. For each key that the operator has a
    kernel for, it has a line of one of the forms

        CPU: registered at /pytorch/build/aten/src/ATen/RegisterCPU_0.cpp:1297 [kernel]
        BackendSelect: fallthrough registered at /pytorch/.../BackendSelectFallbackKernel.cpp:3 [backend fallback]

    The path may contain spaces, brackets and any word, but no colon before a space. `keys` is a list or a tuple of the keys of the
    call, as `keys_in_order` returns them, the one with the highest priority first. A key whose line says `fallthrough` before
    `registered` is skipped. The first other key serves the call. If it has no line, this call has no kernel, and the result is
    None: torch raises then. If all keys are skipped, `Undefined` serves, which comes after all other keys and whose line has the
    same form.

    The result is a tuple or a list of three texts, or None. The kind is the text in brackets at the end of the line:

    - "kernel": it was registered for this key;
    - "autograd kernel": for the alias Autograd, which means all of autograd's keys;
    - "math kernel": for CompositeImplicitAutograd: it is made of other operators;
    - "default backend kernel": for CompositeExplicitAutograd: for all backends, but not for autograd;
    - "backend fallback": for the key, for any operator.

        >>> line = "CPU: registered at RegisterCPU_0.cpp:1297 [kernel]"
        >>> serving(line, ["CPU"]), serving(line, ["Meta", "CPU"])
        (('CPU', 'RegisterCPU_0.cpp:1297', 'kernel'), None)

    Source: `aten/src/ATen/core/dispatch/OperatorEntry.cpp`, `computeDispatchTableEntryWithDebug`.
    """
    lines = dict(line.split(": ") for line in table.splitlines())
    key = next(key for key in (*keys, "Undefined") if not lines.get(key, "").startswith("fallthrough"))
    if key not in lines:
        return None
    place, kind = re.fullmatch(r"registered at (.*) \[(.*)\]", lines[key]).groups()
    return key, place, kind


# native_functions.yaml -----------------------------------------------------------------------------------------------

STRUCTURED_KEYS = ("CPU", "CUDA", "MPS", "MTIA", "XPU")


def registrations(text: str, name: str) -> dict[str, str]:
    """The registrations of an operator in `native_functions.yaml`: the name of a C++ function for each dispatch key.

    `text` is a part of the file; `yaml.safe_load(text)` returns a list of dicts, one for each operator. `name` is the text
    before the first parenthesis in the operator's `func`, `add.Tensor`. These entries count:

    - `dispatch`, from keys to the name of a function, `CPU, CUDA: relu`: it is registered for each of the keys, which are
      separated by commas;
    - `structured_delegate`, such as `add.out`, the name of another operator in `text`: this one's functions for the keys in
      `STRUCTURED_KEYS` are registered here too (the rest is generated around them). Its functions for other keys, such as
      those for sparse tensors, are not. The functions in the operator's own `dispatch` are registered in any case. No
      key of `STRUCTURED_KEYS` is in both entries;
    - if neither entry exists (an empty `dispatch`, `{}`, does exist, and registers nothing), one function is registered for
      "CompositeImplicitAutograd". Its name is that of the operator without overload, `softmax` for `softmax.int`, followed by
      `_out` if one of the arguments after the `*` is written to (has a `!`), as for `matmul.out`.

    Raises LookupError for a name, also that of a delegate, that is not in `text`. Registrations in other files are left out:
    kernels for Meta and Autograd, and those that `ufunc_inner_loop`, which only add.out has, generates.

        >>> registrations("- {func: relu(Tensor self) -> Tensor, dispatch: {'CPU, CUDA': relu}}", "relu")
        {'CPU': 'relu', 'CUDA': 'relu'}

    Source: `aten/src/ATen/native/README.md`; `torchgen/model.py`, `NativeFunction.from_yaml`.
    """
    entries = {entry["func"].partition("(")[0]: entry for entry in yaml.safe_load(text)}
    entry = entries[name]
    kernels = {key: kernel for keys, kernel in entry.get("dispatch", {}).items() for key in keys.split(", ")}
    if "structured_delegate" in entry:
        inherited = registrations(text, entry["structured_delegate"])
        return {key: kernel for key, kernel in inherited.items() if key in STRUCTURED_KEYS} | kernels
    if "dispatch" in entry:
        return kernels
    by_name = entry["func"].rpartition(") -> ")[0].partition("*, ")[2]
    return {"CompositeImplicitAutograd": name.partition(".")[0] + "_out" * ("!" in by_name)}


# Where the time goes -------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Event:
    """One line of a profile: an operator, its thread, its start and its end in microseconds."""

    name: str
    thread: int
    start: int
    end: int

    def within(self, other: Event) -> bool:
        """Whether this event ran while the other one, in the same thread, was running."""
        return self.thread == other.thread and other.start <= self.start and self.end <= other.end


def hot_operators(events: Sequence[Event], share: float = 0.05) -> list[tuple[str, int]]:
    """The operators that take more than `share` of the time, each with its self time in microseconds, in all of its events
    together. The operator with the most time is first; operators with equal times are in alphabetical order.

    The self time of an event is its length without the lengths of the events that run directly within it: `aten::matmul`
    calls `aten::mm`, and the time of `mm` is not part of the self time of `matmul`. The events within those have been
    subtracted with them. `share` is a fraction of the sum of all self times, which may be 0. If
    rounding decides whether a time is more than this, both results are right.

    `events` is a list in any order, which stays as it is. The result is a list or a tuple of pairs, which are tuples or
    lists. No two events of one thread have the same start and end; one is `within` the other, or they do not overlap (one may
    start where another ends). Events of different threads are independent. An operator may call itself.

        >>> hot_operators([Event("matmul", 1, 0, 10), Event("mm", 1, 2, 9)])
        [('mm', 7), ('matmul', 3)]

    Source: `torch/autograd/profiler_util.py`, `FunctionEvent.self_cpu_time_total`, `EventList.key_averages`.
    """
    self_times = Counter()
    for event in events:
        length = event.end - event.start
        self_times[event.name] += length
        around = [other for other in events if event.within(other) and other != event]
        if around:
            self_times[min(around, key=lambda other: other.end - other.start).name] -= length
    total = self_times.total()
    hot = [(name, time) for name, time in self_times.items() if time > share * total]
    return sorted(hot, key=lambda item: (-item[1], item[0]))


# Timing on an asynchronous device ------------------------------------------------------------------------------------


class FakeDevice:
    """An asynchronous device, like a GPU, and the host's clock, in seconds. Time passes only here: a launch takes the host
    `overhead` seconds, and to synchronise it waits until all is done."""

    def __init__(self, overhead: float = 1e-5):
        self.overhead, self.now, self.done = overhead, 0.0, 0.0

    def launch(self, seconds: float) -> None:
        """Give the device work for so many seconds. The device starts it after its earlier work. The host does not wait."""
        self.now += self.overhead
        self.done = max(self.done, self.now) + seconds

    def synchronize(self) -> None:
        """Wait until the device has done everything."""
        self.now = max(self.now, self.done)

    def clock(self) -> float:
        """The host's time."""
        return self.now


def timed(
    call: Callable[[], Any],
    synchronize: Callable[[], None],
    clock: Callable[[], float],
    warmup: int = 3,
    repeats: int = 5,
) -> float:
    """The time that `call()` takes, in seconds, including all work that it has launched on an asynchronous device: the median
    of `repeats` calls, at least one, each timed separately, after `warmup` other calls that are not timed.

    `synchronize()` waits until the device has done everything, and `clock()` returns the time: for example
    `torch.cuda.synchronize` and `time.perf_counter`, or those of a `FakeDevice`. Whenever the clock is read, the device has
    no work left: neither work that was launched before, by the warm-up or by other code, nor, at the end, the work of the
    call itself. The median of an even number is the mean of the two in the middle.

        >>> device = FakeDevice(overhead=1.0)
        >>> timed(lambda: device.launch(4.0), device.synchronize, device.clock)
        5.0

    Source: `torch/utils/benchmark/utils/timer.py`, `timer`; `torch/utils/benchmark/utils/common.py`, `median`.
    """
    for _ in range(warmup):
        call()
    times = []
    for _ in range(repeats):
        synchronize()
        start = clock()
        call()
        synchronize()
        times.append(clock() - start)
    return median(times)
