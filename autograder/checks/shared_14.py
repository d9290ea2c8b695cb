"""Shared by the checks of kernels: a text is compiled and launched in a child process, and held against what is needed.

A program shows what a launch wrote, each finding with its line, and how many bytes, requests and sectors it asked for. If it asked
for no more than is needed, it shows the number that is needed. This number is computed here from addresses, by no kernel.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache

import numpy as np

from ..engine.observe import values
from .cases import field, first_apart, numbers

SECONDS = 10  # of a child: a launch takes a tenth
STEPS = 1 << 15  # basic blocks of a thread: it needs a few hundred
LONGEST_LINE = 70

# A text has the language of a kernel, and no more. NVRTC, which compiles for PyTorch at run time, has no headers of the host.
FOREIGN = re.compile(
    r'#\s*include\s*[<"](?!(?:cuda_(?:fp16|bf16|runtime)\.h|limits|(?:assert|float|limits|math|math_constants|stdint|stdio)\.h'
    r'|c(?:assert|float|limits|math|stdint|stdio))[>"])[^>"\n]*[>"]?'
    r'|\bextern\s*"\w*"(?!\s*__global__[\w\s()]*?\bvoid\s[\w\s()]*?\w+\s*\([^;{}]*\)\s*\{)|\b(?:__)?asm(?:__)?\b'
    r'|##|%:|\b__attribute|\[\[\s*\w+::|\b_Pragma\b|#\s*pragma\s+(?!unroll|once)\w+|\b(?:u8|[uUL])?R(?=")'
    r"|\b\w*(?:cuda_host|tsan|sanitize|builtin)\w*"
    r"|\b(?:system|popen|_*exit|abort|v?fork|exec[lv]\w*|dlopen|dlsym|syscall|longjmp)\b"
)

BLOCKS = [32, 64, 96, 128, 48]  # threads
UNWRITTEN = -7.5  # in an output, before the launch


# In programs ---------------------------------------------------------------------------------------------------------


_TOKEN = re.compile(
    r"(?P<comment>//[^\n]*|/\*.*?\*/)"
    r'|(?P<text>(?:u8|[uUL])?"(?:\\.|[^"\\\n])*"|(?:u8|[uUL])?\'(?:\\.|[^\'\\\n])*\')'
    r"|\.?\d(?:[eEpP][+-]|'\w|[\w.])*|[A-Za-z_]\w*",  # numbers, which may have a ' between digits, and names
    re.DOTALL,
)


def foreign(text):
    """What a text uses that is no part of the language. Comments and what is between quotes do not count, and a line that ends in a
    backslash goes on in the next one, as for the compiler."""

    def without(token):
        if token["comment"]:
            return " "
        is_quoted = token["text"] and not re.search(r"(?:\binclude|\bextern)[^\n]*$", token.string[: token.start()])
        return '""' if is_quoted else token[0]

    code = _TOKEN.sub(without, re.sub(r"\\[ \t\f\v\r]*\n", "", text))
    return sorted({" ".join(match.split()) for match in FOREIGN.findall(code)})


def launched(text, kernel, grid, block, arguments, out, seed, needed, steps=STEPS):
    """What a launch of a kernel shows: the output, which is at the position `out` of the arguments, findings and counts. The whole
    array is shown, also if the kernel gets a pointer into it. The launch is in a child process, because C++ can end its process."""
    from rushlight.utils.child import run_in_child

    if not isinstance(text, str):
        raise TypeError(f"the text of a kernel is a str, not {type(text).__name__}")
    if beyond := foreign(text):
        return {"not in the language": beyond}
    if error := error_of(text):
        raise error
    return run_in_child(_launch, text, kernel, grid, block, arguments, out, seed, needed, steps, seconds=SECONDS)


@cache
def error_of(text):
    """The error of a text that does not compile, or that does something when it is loaded: it is tried once for all cases."""
    from rushlight.utils.child import run_in_child

    try:
        run_in_child(_load, text, seconds=2 * SECONDS)
    except (RuntimeError, ChildProcessError) as error:
        return error
    return None


def _load(text):
    from rushlight.on_torch.cuda_on_host import Module

    Module(text)


def _launch(text, kernel, grid, block, arguments, out, seed, needed, steps):
    from rushlight.on_torch.cuda_on_host import Module, base_of

    result = Module(text).launch(kernel, grid, block, *arguments, seed=seed, steps=steps)
    written = base_of(getattr(arguments[out], "array", arguments[out]))[0]
    findings, counts = counted(text, result, needed)
    return {"not in the language": [], "findings": findings, "out": written} | counts


def on_board(text, kernel, grid, block, *arguments, shared=0):
    """What a launch asks for, as numbers for the board: of global memory, of shared memory, and waiting."""
    from rushlight.utils.child import run_in_child

    return run_in_child(_count, text, kernel, grid, block, arguments, shared, seconds=SECONDS)


def _count(text, kernel, grid, block, arguments, shared):
    from rushlight.on_torch.cuda_on_host import Module

    counts = Module(text).launch(kernel, grid, block, *arguments, shared=shared).counts
    of_global, of_shared = (counts.global_load, counts.global_store), (counts.shared_load, counts.shared_store)
    numbers = {name: sum(getattr(of, name) for of in of_global) for name in ("requests", "sectors")}
    numbers |= {"wavefronts": sum(of.wavefronts for of in of_shared)}
    numbers |= {"barriers": counts.barriers, "shuffles and votes": counts.warp_operations}
    return {name: number for name, number in numbers.items() if number}


def counted(text, result, needed):
    """The findings of a launch as texts, and the bytes, requests and sectors of its loads and stores. A number of requests or
    sectors that is not above what is `needed` becomes this. Another one is shown with the line that has most of them."""
    counts = {}
    for kind in ("load", "store"):
        for what in ("bytes", "requests", "sectors"):
            name, count = f"{what} of {kind}s", getattr(getattr(result.counts, f"global_{kind}"), what)
            if what != "bytes" and count > int(needed[name]):
                lines = {line: getattr(getattr(of, f"global_{kind}"), what) for line, of in result.lines.items()}
                count = f"{count}, most of them in {_line(text, max(lines, key=lines.get))}"
            counts[name] = count if what == "bytes" or isinstance(count, str) else needed[name]
    counts |= together(text, result, needed)
    return findings_of(text, result), counts


def findings_of(text, result):
    """The findings of a launch as texts."""
    return [_finding(text, finding) for finding in result.findings]


def _line(text, number):
    if number is None:
        return "a line that is not known"
    lines = text.splitlines()
    return f"line {number}" + (f", `{lines[number - 1].strip()[:LONGEST_LINE]}`" if number <= len(lines) else "")


def _finding(text, finding):
    said = f"{finding.kind}: {_line(text, finding.line)}"
    if finding.memory is not None:
        said += f", element {finding.index} of {_memory(text, finding.memory)}"
    said += f", in {_thread(finding.thread)} of block {_number(finding.block)}"
    if finding.other_thread is not None:
        same = finding.other_block in (None, finding.block)
        said += f", and {_thread(finding.other_thread)}" + ("" if same else f" of block {_number(finding.other_block)}")
        if finding.other_line is not None:
            said += (
                f" in {_line(text, finding.other_line)}" if finding.other_line != finding.line else " in the same line"
            )
    return said + (f": {finding.text}" if finding.text else "")


def _thread(index):
    return f"thread {_number(index)}"


def _number(index):
    x, y, z = index
    return x if y == z == 0 else f"({x}, {y})" if z == 0 else index


def _memory(text, name):
    return f"the shared array {name}" if re.search(rf"\b__shared__\b[^;]*\b{name}\b", text) else name


def inputs_of(xp, *counts):
    """Tensors of small numbers by rule."""
    return [numbers(xp, [count], start, "float32") for start, count in enumerate(counts)]


def arrays_of(rl, *counts):
    """The memory of the inputs and, last, of the output."""
    *inputs, out = counts
    return [x.numpy().copy() for x in (*inputs_of(rl, *inputs), rl.full((out,), UNWRITTEN))]


def ran(rl, text, kernel, grid, block, arguments, out, seed, needed, steps=STEPS):
    """What a launch shows, with a tensor of what it wrote."""
    shown = launched(text, kernel, grid, block, arguments, out, seed, needed, steps)
    return shown | {"out": rl.from_numpy(shown["out"])} if "out" in shown else shown


def wanted(out, needed):
    """What a right launch shows, in torch."""
    return {"not in the language": [], "findings": [], "out": out} | needed


# What threads do together: counts of a launch that are at most what is needed
_TOGETHER = {
    "bank conflicts": lambda result: result.counts.shared_store.conflicts + result.counts.shared_load.conflicts,
    "bytes of shared memory": lambda result: result.shared,
    "wavefronts of shared stores": lambda result: result.counts.shared_store.wavefronts,
    "wavefronts of shared loads": lambda result: result.counts.shared_load.wavefronts,
    "barriers": lambda result: result.counts.barriers,
    "atomic operations": lambda result: result.counts.global_atomic.threads + result.counts.shared_atomic.threads,
}


def together(text, result, needed):
    """Those of the counts of `_TOGETHER` that `needed` has. One that is not above what is needed becomes this. Wavefronts beyond it
    are shown with the line that has most of them."""
    shown = {}
    for name in (name for name in _TOGETHER if name in needed):
        count = _TOGETHER[name](result)
        shown[name] = needed[name] if count <= int(needed[name]) else f"{count}"
        if shown[name] != needed[name] and name.startswith("wavefronts"):
            kind = "shared_load" if name.endswith("loads") else "shared_store"
            lines = {line: getattr(of, kind).wavefronts for line, of in result.lines.items()}
            shown[name] += f", most of them in {_line(text, max(lines, key=lines.get))}"
        elif shown[name] != needed[name] and name == "bank conflicts":
            lines = {line: of.shared_store.conflicts + of.shared_load.conflicts for line, of in result.lines.items()}
            shown[name] += f", most of them in {_line(text, max(lines, key=lines.get))}"
    return shown


# What is needed ------------------------------------------------------------------------------------------------------


def grid_of(n, block, spare):
    return max(1, -(-n // block)) + spare


def threads_of(grid: int, block: int) -> list[np.ndarray]:
    """The numbers of the threads of each warp, counted through all blocks."""
    return [
        np.arange(number * block + first, number * block + min(first + 32, block))
        for number in range(grid)
        for first in range(0, block, 32)
    ]


def asked(requests: Iterable[np.ndarray], nbytes: int = 4) -> np.ndarray:
    """The bytes, requests and sectors of a memory access: for each request, the addresses of the lanes that take part."""
    taking_part = [addresses for addresses in requests if len(addresses)]
    ends = [np.concatenate([addresses, addresses + nbytes - 1]) // 32 for addresses in taking_part]
    sectors = sum(len(np.unique(of)) for of in ends)
    return np.array([sum(map(len, taking_part)) * nbytes, len(taking_part), sectors])


def needs(loads: np.ndarray, stores: np.ndarray) -> dict[str, int | str]:
    """What is needed, by the names in `counted`."""
    counts = {"loads": loads, "stores": stores}
    return {
        f"{what} of {kind}": int(count) if what == "bytes" else f"{count}"
        for kind, of in counts.items()
        for what, count in zip(("bytes", "requests", "sectors"), of, strict=True)
    }


# In hints ------------------------------------------------------------------------------------------------------------

_KINDS = {
    "outside": "A thread accesses memory outside of the arrays: is its index right, and has it an element at all?",
    "misaligned": "The address of a `float4` must be a multiple of 16",
    "race": "Two threads access this element, and at least one of them writes: has each thread an element of its own?",
    "division": "An integer is divided by 0",
    "endless": "A thread does not end, or does far more than its part",
}
_ADVICE = {
    "requests": "does each thread access each of its elements once, and a warp as many at once as the contract says?",
    "sectors": "do the threads of a warp access neighbouring elements?",
    "bytes": "each element of the inputs is loaded once, and each of the output stored once",
}


def about_kernels(case, mine, theirs):
    """A hint for a text that does not compile, for one that ends its process, for a finding, and for a count above the budget."""
    said = str(mine.get("message", "")) if isinstance(mine, dict) else ""
    if "no C++ compiler" in said:
        return "there is no C++ compiler here, so this check cannot test your kernel"
    if "child process died" in said and "SIGSEGV" in said:
        return "the kernel followed a pointer that none of its arguments is"
    if "child process died" in said:
        ended = "the kernel ended the process that it ran in"
        return "the kernel has a loop without an end" if "SIGALRM" in said else ended
    name = first_apart(mine, theirs)
    if name == "findings":
        finding = next((each for each in field(mine, name) if isinstance(each, str)), "")
        if finding.endswith(" stack"):  # of the thread
            return f"{finding}. A thread has 128 KiB for its local variables"
        cause = _KINDS.get(finding.partition(":")[0])
        return f"{finding}. {cause}" if cause else finding
    if name == "not in the language":
        used = ", ".join(f"`{each}`" for each in field(mine, name) if isinstance(each, str))
        return f"the text uses {used}, and a kernel here has the language of CUDA only"
    if name == "out":
        return _about_output(values(field(mine, name)), values(field(theirs, name)))
    advice = _ADVICE.get(str(name).partition(" of ")[0])
    return about_count(name, field(mine, name), field(theirs, name), advice) if advice else None


def about_count(name, mine, needed, advice):
    """A hint for a count above the budget, which names the line that has most of it."""
    count, _, line = str(mine).partition(", ")
    if line := line.removeprefix("most of them in "):
        return f"{name}: {count}, most of them in {line}, and {needed} are needed: {advice}"
    return f"{name}: {count}, and {needed} are needed: {advice}"


def _about_output(mine, theirs):
    mine, theirs = mine.reshape(-1), theirs.reshape(-1)
    apart = np.flatnonzero(~np.isclose(mine, theirs, rtol=1.3e-6, atol=1e-5, equal_nan=True))  # as they are compared
    missing, beyond = (apart[of[apart] == UNWRITTEN] for of in (mine, theirs))
    if len(missing):
        return (
            f"element {missing[0]} of the output was not written, as the first of {len(missing)}: which thread has it?"
        )
    if len(beyond):
        return f"element {beyond[0]} of the output was written, and no thread should write it"
    if len(unclear := apart[np.isnan(mine[apart])]):
        return f"element {unclear[0]} of the output is NaN: which operation has no result here?"
    return f"element {apart[0]} of the output was written, but not with the right value: from which elements is it computed?"


# Of kernels whose threads work together

_TOGETHER_KINDS = {
    "race": "No barrier is between the two accesses, and at least one of them writes",
    "barrier": "All threads of a block must reach the same `__syncthreads()`: is it in a branch, or has a thread ended before it?",
    "deadlock": "The mask names lanes that do not come to this shuffle: is it in a branch, or a barrier before it?",
    "mask": "A lane calls this, and the mask does not name it",
    "shuffle": "A lane reads a lane that does not take part, or has ended",
    "unwritten": "A thread reads an element that no thread has written",
}
_TOGETHER_ADVICE = {
    "bytes of shared memory": "a value in a register needs none",
    "wavefronts of shared stores": "is each needed, is its work shared by the lanes of a warp, and do they ask different banks?",
    "wavefronts of shared loads": "is each needed, is its work shared by the lanes of a warp, and do they ask different banks?",
    "barriers": "which accesses of shared memory does each of them order?",
    "atomic operations": "is each of them needed?",
}


def about_together(case, mine, theirs):
    """A hint for a finding about shared memory, barriers and shuffles, and for a count of `_TOGETHER` above the budget."""
    name = first_apart(mine, theirs)
    if name == "findings":
        found = [each for each in field(mine, name) if isinstance(each, str)]
        causes = [each for kind in ("barrier", "race") for each in found if each.startswith(kind)]  # of others
        finding = next(iter([*causes, *found]), "")
        kind = finding.partition(":")[0]
        if kind == "race" and " of the shared array " not in finding:
            return f"{finding}. Nothing orders them, and one writes: which thread has this element, or is each access atomic?"
        if kind == "outside" and " of the shared array " in finding:
            return f"{finding}. The shared array has no such element"
        if kind == "outside" and ", element " not in finding:
            return f"{finding}. The address is in no array. An `extern __shared__` array has no memory here"
        cause = _TOGETHER_KINDS.get(kind)
        return f"{finding}. {cause}" if cause else None
    advice = _TOGETHER_ADVICE.get(name)
    return about_count(name, field(mine, name), field(theirs, name), advice) if advice else None
