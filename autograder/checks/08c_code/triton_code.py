"""Checks of lab 08: reading the code that Inductor generates for a GPU.

The texts are recordings of a CUDA build of PyTorch, with what Inductor knew while it wrote them. No GPU, and no Triton, is needed.
A case has a text. The judge has the recorded facts, and torch's own classes for grids. In drawn cases the sizes of blocks, or the
types of a kernel's pointers, are others than in the recording.
"""

import re
from importlib import import_module

from ...engine.check import program
from ..cases import entries, only_read
from ..shared_08 import modules

BLOCKS = {"x": [1, 2, 8, 32, 128, 256, 1024], "y": [1, 4, 16, 64], "r0_": [4, 64, 512, 2048]}
SHOWN = ["relu", "nothing to mask", "transposed", "permuted", "small sum", "sum of columns", "softmax", "sum"]
SHOWN += ["softmax, rows of 1,100", "sums of 1,500", "two of the same", "two layers", "cross entropy"]
TYPES = {"*i1": 1, "*i8": 1, "*u8": 1, "*i16": 2, "*i32": 4, "*i64": 8, "*fp16": 2, "*bf16": 2, "*fp32": 4, "*fp64": 8}
LARGEST = 20_000  # positions of a kernel whose traffic is asked: an answer may go through them one by one


def _kernels(name):
    """The texts of a module's kernels, without imports and without what the exercises do not need of the decorator."""
    form = r"^(triton_\w+)( = async_compile\.triton\(.*?'{3}\n).*?^(@triton_heuristics.*?^'{3}, device_str='cuda'\)\n)"
    kernels = re.findall(form, modules()[name]["text"], re.MULTILINE | re.DOTALL)
    return {kernel: f"{kernel}{head}{_shorter(source)}" for kernel, head, source in kernels}


def _shorter(source):
    source = re.sub(r"^    inductor_meta=.*\n", "", source, flags=re.MULTILINE)
    return re.sub(r"('signature': \{.*?\}).*", r"\1},", source)


def _text(name, backwards=False):
    call = re.search(r"^    def call\(.*?\n(?=\n+runner = )", modules()[name]["text"], re.MULTILINE | re.DOTALL)[0]
    kernels = [*_kernels(name).values()]
    parts = [*(reversed(kernels) if backwards else kernels), re.sub(r"^ +# .*\n", "", call, flags=re.MULTILINE)]
    return "\n" + "\n\n".join(parts)


# Launches ------------------------------------------------------------------------------------------------------------


def _axes(kernel):
    """The axes whose blocks a configuration has: a persistent reduction has its block of r0 in its text."""
    axes = [axis for axis, size in kernel["numels"].items() if size > 1 or axis == "x"]
    return [axis for axis in axes if axis != "r0_" or kernel["kind"] == "reduction"]


def _launch_cases(st):
    def case(name):
        kernels = modules()[name]["kernels"]
        blocks, more = (
            {
                kernel: st.fixed_dictionaries(
                    {f"{axis.upper()}BLOCK": st.sampled_from(BLOCKS[axis]) for axis in axes_of(known)}
                )
                for kernel, known in kernels.items()
            }
            for axes_of in (_axes, lambda known: BLOCKS)
        )
        candidates = {kernel: st.sampled_from(known["all configs"]) for kernel, known in kernels.items()}
        return st.fixed_dictionaries(
            {
                "module": st.just(name),
                "text": st.just(_text(name)),
                "configs": st.one_of(*map(st.fixed_dictionaries, (blocks, more, candidates))),
            }
        )

    return st.sampled_from(sorted(modules(), key=lambda name: len(_text(name)))).flatmap(case)


def _launch_edges():
    cases = []
    for name in SHOWN:
        kernels = modules()[name]["kernels"]
        last = {kernel: known["all configs"][-1] for kernel, known in kernels.items()}
        odd = {"XBLOCK": 8, "YBLOCK": 16, "R0_BLOCK": 512}
        own = {
            kernel: {f"{axis.upper()}BLOCK": odd[f"{axis.upper()}BLOCK"] for axis in _axes(known)}
            for kernel, known in kernels.items()
        }
        every = dict.fromkeys(kernels, odd)  # with blocks of other axes, and a block that is in the text
        cases += [{"module": name, "text": _text(name), "configs": configs} for configs in (own, last, every)]
        if len(kernels) > 1:
            cases.append({"module": name, "text": _text(name, backwards=True), "configs": own})
    return sorted(cases, key=lambda case: len(case["text"]))


def _about_launches(case, mine, theirs):
    if not (isinstance(mine, list) and isinstance(theirs, list)):
        return None
    if len(mine) != len(theirs):
        return "one tuple for each line with .run(, also if a kernel is called again"
    names = ("kernel", "kind", "grid", "number of iterations", "number of idle positions")
    for number, pair in enumerate(zip(mine, theirs), 1):
        for name, mine_is, theirs_is in zip(names, *pair):
            if mine_is != theirs_is:
                return f"the first difference is the {name} of launch {number}"
    return None


@program(
    "inductor.triton_code.kernel_launches",
    cases=_launch_cases,
    edges=_launch_edges,
    draws=16,
    hint=_about_launches,
)
def kernel_launches(xp, module, text, configs):
    return only_read(xp.inductor.triton_code.kernel_launches, text, configs)


@kernel_launches.oracle
def _(torch, module, text, configs):
    heuristics = import_module("torch._inductor.runtime.triton_heuristics")
    recorded = modules()[module]
    if text not in (_text(module), _text(module, backwards=True)):
        raise ValueError("this is not the recorded text of the module")
    launches = []
    for kernel in [event[1] for event in recorded["events"] if event[0] == "kernel"]:
        known = recorded["kernels"][kernel]
        sizes = known["numels"]
        blocks = {"XBLOCK": 1, "YBLOCK": 1, "R0_BLOCK": 1} | configs[kernel]
        if known["kind"] != "reduction":
            blocks["R0_BLOCK"] = 1 << (sizes["r0_"] - 1).bit_length()
        numels = {f"{axis}numel": sizes.get(axis, 1) for axis in ("x", "y")}
        launcher = (heuristics.Grid2D if "y" in sizes else heuristics.Grid1D)(inductor_meta={})
        launcher.generate(blocks)
        grid = list(launcher.eval_slow(numels))
        steps = len(range(0, sizes["r0_"], blocks["R0_BLOCK"]))
        lanes = grid[0] * blocks["XBLOCK"] * steps * blocks["R0_BLOCK"]
        if "y" in sizes:
            lanes *= grid[1] * blocks["YBLOCK"]
        real = sizes["x"] * sizes.get("y", 1) * sizes["r0_"]
        launches.append([kernel, known["kind"], grid, known["loops"] * steps, lanes - real])
    return launches


# Traffic -------------------------------------------------------------------------------------------------------------


def _traffic_edges():
    """A case for each recorded kernel that is small enough, the shortest text first."""
    by_source = {}
    for name in modules():
        for kernel, source in _kernels(name).items():
            positions = 1
            for size in modules()[name]["kernels"][kernel]["numels"].values():
                positions *= size
            if positions <= LARGEST:
                source = source.partition("\n")[2]
                by_source.setdefault(source, {"module": name, "kernel": kernel, "source": source, "types": {}})
    return sorted(by_source.values(), key=lambda case: len(case["source"]))


def _traffic_cases(st):
    """The recorded kernels, with other types of their pointers."""

    def case(edge):
        types = st.fixed_dictionaries({pointer: st.sampled_from(sorted(TYPES)) for pointer in _types(edge["source"])})
        return types.map(lambda types: edge | {"source": _with_types(edge["source"], types), "types": types})

    return st.sampled_from(_traffic_edges()).flatmap(case)


def _types(source):
    """The types of a kernel's pointers, by their names."""
    return dict(re.findall(r"'(\w+)': '(\*\w+)'", source))


def _renamed(name):
    """A pointer's name with a number of two digits."""
    return re.sub(r"\b((?:in|out|in_out)_ptr)(\d)\b", r"\g<1>1\2", name)


def _with_types(source, types):
    """With other types of its pointers, with numbers of two digits, and with masks that are computed, too."""
    if not types:
        return source
    source = re.sub(r"'(\w+)': '\*\w+'", lambda found: f"'{found[1]}': '{types[found[1]]}'", source)
    return re.sub(r"(tl\.load\(.*\), )(\w*mask)", r"\1tmp9 & \2", _renamed(source))


def _all_traffic_edges():
    edges = _traffic_edges()
    for edge in edges[::3]:
        types = _types(edge["source"])
        edges.append(edge | {"source": _with_types(edge["source"], types), "types": types})
    return edges


def _about_traffic(case, mine, theirs):
    both = entries(mine, theirs)
    if both is None:
        return None
    mine, theirs = both
    for pointer in theirs:
        if pointer not in mine:
            return f"{pointer} is missing"
        if mine[pointer] != theirs[pointer]:
            if not isinstance(mine[pointer], list) or [*map(bool, mine[pointer])] != [*map(bool, theirs[pointer])]:
                return f"the first difference is {pointer}: its value is a pair, the bytes loaded and the bytes stored"
            size = TYPES[_types(case["source"])[pointer]]
            if [n * size for n in mine[pointer]] in (theirs[pointer], [n * 4 for n in theirs[pointer]]):
                return f"the first difference is {pointer}: `POINTER_SIZES` has the bytes of an element, by its pointer's type"
            return (
                f"the first difference is {pointer}: count each line once for each different number that its index has"
            )
    return "only pointers that a line loads from or stores to"


@program(
    "inductor.triton_code.kernel_traffic",
    cases=_traffic_cases,
    edges=_all_traffic_edges,
    draws=16,
    hint=_about_traffic,
)
def kernel_traffic(xp, module, kernel, source, types):
    moved = xp.inductor.triton_code.kernel_traffic(source)
    return {pointer: moved[pointer] for pointer in sorted(moved)}


@kernel_traffic.oracle
def _(torch, module, kernel, source, types):
    if _with_types(_kernels(module)[kernel].partition("\n")[2], types) != source:
        raise ValueError("this is not the recorded text of the kernel")
    known = modules()[module]["kernels"][kernel]
    positions = 1
    for size in known["numels"].values():
        positions *= size
    moved = {}
    for access in sorted(known["accesses"], key=lambda access: access["argument"]):
        elements = positions if access["elements"] is None else access["elements"]
        both = moved.setdefault(_renamed(access["argument"]) if types else access["argument"], [0, 0])
        size = TYPES[types[access["argument"]]] if types else access["size"]
        both[access["what"] == "store"] += elements * size
    return moved
