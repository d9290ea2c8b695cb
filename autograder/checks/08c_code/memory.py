"""Checks of lab 08: the memory plan of a call.

A schedule is a list of steps, each with the names that it reads and that it writes. Torch's answers come from Inductor's
own scheduler and memory planner, which get nodes and buffers with names and sizes and nothing else.
"""

from types import SimpleNamespace

from ...engine.check import program
from ..cases import breaking, drawing, field, no_cases, only_read
from ..shared_08 import first_line


class InductorBuffer:
    """A buffer with the methods that Inductor's planner calls."""

    def __init__(self, xp, name, dtype_name="float32", nbytes=0):
        self.name, self.dtype, self.node = name, getattr(xp, dtype_name), self
        self.users, self.layout, self.defining_op = [], None, None
        self.numel = nbytes // self.dtype.itemsize
        self.mpi_buffer = SimpleNamespace(size_alloc=nbytes, size_free=nbytes, succ_nodes=[])
        answers = {"name": name, "dtype": self.dtype, "size": [self.numel], "device_or_error": xp.device("cpu")}
        answers |= {"inputs_that_alias_output": [], "mutation_names": [], "defining_op": None, "output_spec": None}
        vars(self).update({f"get_{key}": lambda answer=answer: answer for key, answer in answers.items()})
        self.should_allocate = self.can_free = lambda: True


class Inductor:
    """Inductor's scheduler and wrapper for a schedule of names. Within its context it is Inductor's graph."""

    def __init__(self, xp, steps, outputs=(), sizes=None):
        import torch._inductor.scheduler as scheduler
        from torch._inductor.codegen.wrapper import PythonWrapperCodegen
        from torch._inductor.dependencies import StarDep
        from torch._inductor.virtualized import V

        names = dict.fromkeys(name for reads, writes in steps for name in [*reads, *writes])
        sizes = {name: ["float32", 0] for name in names} if sizes is None else sizes
        self.buffers = {name: InductorBuffer(xp, name, *size) for name, size in sizes.items()}
        self.nodes = []
        for reads, writes in steps:
            node = object.__new__(scheduler.SchedulerNode)
            node.read_writes = SimpleNamespace(reads=[StarDep(n) for n in reads], writes=[StarDep(n) for n in writes])
            node.outputs = [self.buffers[name] for name in writes if name in self.buffers]
            for name in dict.fromkeys(reads):
                if name in self.buffers:
                    self.buffers[name].mpi_buffer.succ_nodes.append(node)
            self.nodes.append(node)
        self.scheduler = object.__new__(scheduler.Scheduler)
        dicts = {"mutation_real_name": {}, "name_to_buf": self.buffers, "name_to_donated_buffer": {}}
        dicts |= {"buffer_names_to_free": set(), "completed_operations": set(), "current_node": None}
        vars(self.scheduler).update(dicts, nodes=self.nodes, get_buf_stream=lambda name: None)
        self.scheduler.has_cross_stream_hazard = lambda name, node: False
        self.wrapper = object.__new__(PythonWrapperCodegen)
        vars(self.wrapper).update(lines=[], allocated=set(), freed=set(), reuses={})
        self.wrapper.get_graph_outputs = lambda: outputs
        variables = {"simplify": lambda size: size, "optimization_hint": lambda size, fallback: size}
        variables |= {"statically_known_geq": lambda a, b: a >= b, "statically_known_leq": lambda a, b: a <= b}
        dicts = ("name_to_buffer", "graph_inputs", "constants", "torchbind_constants")
        sets = ("removed_buffers", "never_reuse_buffers", "unaligned_buffers", "removed_operations")
        graph = {name: {} for name in dicts} | {name: set() for name in sets}
        graph |= {"sizevars": SimpleNamespace(**variables), "scheduler": self.scheduler, "wrapper_code": self.wrapper}
        graph |= {"get_allocation_storage_size": lambda node: node.numel, "has_feature": lambda device, feature: True}
        graph |= {"get_output_names": lambda: list(outputs), "_get_output_names": lambda found: list(found)}
        self.handler = V.set_graph_handler(SimpleNamespace(**graph))

    def __enter__(self):
        self.handler.__enter__()
        return self

    def __exit__(self, *error):
        return self.handler.__exit__(*error)

    def lines(self):
        """The wrapper's lines, in the course's form."""
        names = {"AllocateLine": "allocate", "ReuseLine": "reuse", "FreeIfNotReusedLine": "free"}
        lines = []
        for line in self.wrapper.lines:
            name = names.get(type(line).__name__)
            new_name = [line.reused_as.name] if name == "reuse" else []
            if not (name == "free" and line.is_reused):
                lines.append([name, line.node.name, *new_name] if name else line)
        return lines


BUFFER_SIZES = [["float32", 64], ["float32", 128], ["float32", 512], ["float64", 128], ["int64", 64], ["float32", 4096]]


@drawing
def schedules(draw, st, most=7):
    """Steps, outputs and sizes. `arg0_1` and the like are inputs; one step makes each of `buf0` and so on."""
    inputs = [f"arg{i}_1" for i in range(draw(st.integers(0, 2)))]
    made, steps = [], []
    kinds = draw(st.lists(st.sampled_from(BUFFER_SIZES), min_size=1, max_size=3))
    for _ in range(draw(st.integers(1, most))):
        known = inputs + made
        recent = made[-3:] or known
        reads = draw(st.lists(st.sampled_from(known), max_size=2)) if known else []
        reads += draw(st.lists(st.sampled_from(recent), max_size=2)) if recent else []
        writes = [f"buf{len(made) + i}" for i in range(draw(st.sampled_from([1, 1, 1, 1, 2, 0])))]
        if not writes:  # as `copy_` does
            writes = [draw(st.sampled_from(known))] if known else ["buf0"]
        made += [name for name in writes if name not in known]
        steps.append([list(dict.fromkeys(reads)), writes])
    outputs = draw(st.lists(st.sampled_from(made or ["buf0"]), max_size=2, unique=True))
    outputs += draw(st.lists(st.sampled_from(inputs), max_size=1)) if inputs else []
    sizes = {name: draw(st.sampled_from(kinds)) for name in made}
    return {"steps": steps, "outputs": outputs, "sizes": sizes}


def schedule(text, outputs=(), sizes=None):
    """A case from a text of steps, each as "reads -> writes"."""
    split = [[side.split() for side in step.split("->")] for step in text.split(";")]
    case = {"steps": split, "outputs": list(outputs)}
    if sizes is not None:
        made = dict.fromkeys(name for _, writes in split for name in writes if name.startswith("buf"))
        case["sizes"] = {name: sizes.get(name, ["float32", 64]) for name in made}
    return case


def as_pairs(steps):
    """The steps as the framework has them: a list of tuples of two lists."""
    return [(list(reads), list(writes)) for reads, writes in steps]


CHAIN = "arg0_1 -> buf0; buf0 -> buf1; buf1 -> buf2; buf2 -> buf3"
_ELEVEN = "; ".join([*(f"-> buf{i}" for i in range(11)), "buf10 buf9 buf2 -> buf11"])


@program(
    "inductor.memory.last_uses",
    cases=lambda st: schedules(st).map(lambda case: {"steps": case["steps"], "outputs": case["outputs"]}),
    edges=[
        schedule(CHAIN, ["buf3"]), schedule("-> buf0; -> buf1; buf1 -> buf2", ["buf2"]),  # no step reads buf0
        schedule("arg0_1 -> buf0; buf0 -> arg0_1"), schedule(_ELEVEN, ["buf11"]),
        schedule("-> buf0; buf0 -> buf0"), schedule("-> buf0; -> buf1; -> buf2", ["buf0", "buf1"]),
        schedule("arg0_1 -> buf0; arg0_1 -> buf0; buf0 -> buf1"),
    ],
)  # fmt: skip
def last_uses(xp, steps, outputs):
    return [list(names) for names in only_read(xp.inductor.memory.last_uses, as_pairs(steps), list(outputs))]


@last_uses.oracle
def _(xp, steps, outputs):
    with Inductor(xp, steps, outputs) as inductor:
        inductor.scheduler.compute_last_usage()
    return [sorted(node.last_usage) for node in inductor.nodes]


@program(
    "inductor.memory.bytes_alive",
    cases=schedules,
    edges=[
        schedule(CHAIN, ["buf3"], {"buf1": ["float32", 512]}),
        schedule("-> buf0; -> buf1; -> buf2", ["buf0"], {"buf1": ["float32", 512]}),
        schedule("arg0_1 -> arg0_1; -> buf0 buf1; -> buf2", [], {}),
        schedule("-> buf0; -> buf1; buf1 -> buf0; buf0 -> buf2", [], {}),
        schedule("-> buf0; -> buf1; -> buf0; buf1 -> buf2", ["buf0"], {}),
        schedule("-> buf0; buf0 -> buf1; -> buf0", ["buf1"], {}),  # written again after its last read
        schedule(CHAIN, ["buf3"])
        | {"sizes": dict.fromkeys(["buf0", "buf3"], ["float32", 64])},  # operators made the others
        schedule("arg0_1 -> twice; twice -> args; args -> buf0", ["buf0"])
        | {"sizes": {"twice": ["float32", 64], "args": ["float32", 512]}},
    ],
)
def bytes_alive(xp, steps, outputs, sizes):
    nbytes = {name: size for name, (_, size) in sizes.items()}
    return list(only_read(xp.inductor.memory.bytes_alive, as_pairs(steps), nbytes, list(outputs)))


@bytes_alive.oracle
def _(xp, steps, outputs, sizes):
    from torch._inductor.memory import estimate_peak_memory

    made, once = set(), []  # for Inductor, a step that updates a buffer reads it
    for reads, writes in steps:
        once.append([[*reads, *(name for name in writes if name in made)], [n for n in writes if n not in made]])
        made |= {*writes}
    with Inductor(xp, once, outputs, sizes) as inductor:
        _, alive = estimate_peak_memory(inductor.nodes, {}, outputs)
    return list(alive)[: len(steps)]


BREAKS, BODIES = "course.breaks.breaks_take_over", "08c.take_over"


@program(f"{BREAKS}.half", cases=no_cases, edges=[{}], examine=breaking(BODIES, "1/2"))
def breaks_half(xp):
    return xp.breaks.breaks_take_over()


@program(BREAKS, cases=no_cases, edges=[{}], examine=breaking(BODIES, "1"))
def breaks_take_over(xp, **case):
    """The cases, or what `take_over` gives on one of them."""
    if not case:
        return xp.breaks.breaks_take_over()
    assert _is_small(case["candidates"])
    candidates, ending, kept = _one_step(**case)
    taken = xp.inductor.memory.take_over(candidates, ending, {*kept})
    return {new: taken[new] for new in candidates if new in taken}


def _is_small(candidates):
    return sum(map(len, candidates)) <= 3


def _one_step(candidates, ending, kept):
    """The arguments of `take_over`: the numbers of buffers become names."""
    named = [[f"buf{number}" for number in numbers] for numbers in (*candidates, ending, kept)]
    return {f"new{i}": names for i, names in enumerate(named[:-2])}, *named[-2:]


@breaks_take_over.oracle
def _(xp, candidates, ending, kept):
    import torch._inductor.codegen.simd  # noqa: F401  (a node needs it when it decides)
    from torch._inductor.codegen.common import KernelArgs
    from torch._inductor.virtualized import V

    if not _is_small(candidates):
        raise ValueError("there are more than three candidates")
    candidates, ending, kept = _one_step(candidates, ending, kept)
    steps, taken = [[reads, [new]] for new, reads in candidates.items()], {}
    sizes = {name: ["float32", 64] for reads, writes in steps for name in [*reads, *writes]}
    with Inductor(xp, steps, [], sizes) as inductor:
        V.graph.graph_inputs = V.graph.graph_inputs_original = dict.fromkeys(kept)
        inductor.scheduler.get_fused_node = lambda node: None
        inductor.scheduler.name_to_fused_node = {}
        for (reads, _), node in zip(steps, inductor.nodes):  # each result as a loop of its own in the kernel
            node.scheduler, node.ancestors = inductor.scheduler, set()
            inductor.scheduler.current_node, node.node = node, SimpleNamespace(get_operation_name=str)
            node.get_device, node.get_name = (lambda: xp.device("cpu")), (lambda: "this step")
            later = SimpleNamespace(get_name=lambda: "a later step")
            for old in reads:
                mine = SimpleNamespace(node=node, can_inplace=True, get_name=node.get_name)
                others = [] if old in ending else [SimpleNamespace(node=later, can_inplace=True)]
                inductor.buffers[old].users, inductor.buffers[old].scheduler = [mine, *others], inductor.scheduler
            kernel = SimpleNamespace(args=KernelArgs(), inplace_update_buffers={})
            with V.set_kernel_handler(kernel):
                node.decide_inplace_update()
            for name, old in kernel.inplace_update_buffers.items():
                inductor.wrapper.codegen_inplace_reuse(inductor.buffers[old], inductor.buffers[name])
                taken[name] = old
    return taken


@drawing
def calls(draw, st):
    """Schedules, and for each step what it may write in place. Operators have made some of the buffers."""
    case = draw(schedules(st))
    later = set(case["outputs"])
    updates = []
    names = sorted({name for step in case["steps"] for names in step for name in names})
    first = {name: i for i, (_, writes) in reversed([*enumerate(case["steps"])]) for name in writes}
    kept = [name for name in names if name.startswith("arg") or draw(st.integers(0, 5)) == 0]
    for i, (reads, writes) in reversed([*enumerate(case["steps"])]):
        ending = [name for name in reads if name not in later and name not in kept and name not in writes]
        later |= {*reads, *writes}
        update = {}
        for new in writes:
            if ending and first[new] == i and new not in kept and draw(st.booleans()):
                update[new] = ending.pop(draw(st.integers(0, len(ending) - 1)))
        updates.insert(0, update)
    return {"steps": case["steps"], "outputs": case["outputs"], "updates": updates, "kept": kept}


def call(text, outputs=(), updates=None, kept=("arg0_1",)):
    """A case from a text of steps. `updates` has the number of each step that writes in place."""
    case = schedule(text, outputs)
    return case | {"updates": [(updates or {}).get(i, {}) for i in range(len(case["steps"]))], "kept": list(kept)}


@program(
    "inductor.memory.call_lines",
    cases=calls,
    edges=[
        call(CHAIN, ["buf3"]), call(CHAIN, ["buf3"], {1: {"buf1": "buf0"}, 2: {"buf2": "buf1"}}),
        call("-> buf0; -> buf1; buf1 -> buf2", ["buf2"]), call("-> buf0; buf0 -> buf0; buf0 -> buf1", ["buf1"]),
        call("arg0_1 -> buf0; buf0 -> arg0_1; -> buf1"),
        call("-> buf0 buf1; buf0 buf1 -> buf3 buf2", ["buf2", "buf3"], {1: {"buf2": "buf0"}}),
        call("arg0_1 -> buf0; buf0 weight -> buf1; buf1 -> args; args -> buf2", ["buf2"], kept=["arg0_1", "buf1", "weight"]),
        call("-> buf0; buf0 -> buf1; buf1 -> buf1; buf1 -> buf2", ["buf2"], {1: {"buf1": "buf0"}}),
        call("-> buf0; -> buf1; buf1 -> buf0", ["buf0"], {2: {"buf0": "buf1"}}),  # written before, so it has memory
        call("-> buf0; buf0 -> arg0_1", updates={1: {"arg0_1": "buf0"}}),  # kept, so it has memory
        call("-> buf10 buf9 buf2; buf2 buf10 buf9 -> buf3; buf3 -> buf4", ["buf4"]),
        call("-> buf10 buf9 buf2; buf9 buf2 buf10 -> buf3; buf3 -> buf4", ["buf4"]),
        call("-> buf0; buf0 -> buf1; -> buf2", ["buf2"]),
    ],
    hint=lambda case, mine, theirs: first_line(mine, theirs),
)  # fmt: skip
def call_lines(xp, steps, outputs, updates, kept):
    lines = only_read(xp.inductor.memory.call_lines, as_pairs(steps), set(kept), list(outputs), list(updates))
    return [list(line) for line in lines]


@call_lines.oracle
def _(xp, steps, outputs, updates, kept):
    from torch._inductor import config

    made = {name: ["float32", 64] for step in steps for names in step for name in names if name not in kept}
    with Inductor(xp, steps, outputs, made) as inductor, config.patch(allow_buffer_reuse=False):
        inductor.scheduler.compute_last_usage()
        for i, node in enumerate(inductor.nodes):
            inductor.scheduler.current_node = node
            for buffer in node.outputs:
                if buffer.name in updates[i] and buffer.name not in inductor.wrapper.allocated:
                    inductor.wrapper.codegen_inplace_reuse(inductor.buffers[updates[i][buffer.name]], buffer)
                else:
                    inductor.wrapper.codegen_allocation(buffer)
            inductor.wrapper.writeline(["call", i])
            inductor.scheduler.buffer_names_to_free.update(node.last_usage)
            inductor.scheduler.free_buffers()
        inductor.wrapper.memory_plan_reuse()
        return inductor.lines()


def plans(st):
    """The lines of a call before memory is reused, the sizes, and how much is alive during each step."""

    def lines_of(case):
        steps, outputs, sizes = case["steps"], case["outputs"], case["sizes"]
        last = {name: i for i, step in enumerate(steps) for names in step for name in names}
        lines, alive, living = [], [], set()
        for i, (_, writes) in enumerate(steps):
            lines += [["allocate", name] for name in writes if name in sizes and name not in living]
            lines.append(["call", i])
            living |= {name for name in writes if name in sizes}
            alive.append(sum(sizes[name][1] for name in living))
            ending = sorted(name for name in living if last[name] == i and name not in outputs)
            living -= set(ending)
            lines += [["free", name] for name in ending if i + 1 < len(steps)]
        return {"lines": lines, "sizes": sizes, "alive": alive}

    return schedules(st, 10).map(lines_of)


def plan(text, alive, **sizes):
    """A case from lines between semicolons. A size is in bytes, of float32 unless it comes with a dtype."""
    lines = [line.split() for line in text.split(";")]
    lines = [["call", int(line[1])] if line[0] == "call" else line for line in lines]
    made = dict.fromkeys(name for line in lines if line[0] != "call" for name in line[1:])
    sizes = {name: sizes.get(name, 64) for name in made}
    sizes = {name: size if isinstance(size, list) else ["float32", size] for name, size in sizes.items()}
    return {"lines": lines, "sizes": sizes, "alive": alive}


ONE = "allocate buf0; call 0; free buf0; allocate buf1; call 1"
TWO = "allocate buf0; allocate buf1; call 0; free buf0; free buf1; allocate buf2; call 1; allocate buf3; call 2"
LATE = "allocate buf0; call 0; free buf0; allocate buf1; call 1; free buf1; allocate buf2; call 2"
LATER = "allocate buf0; call 0; free buf0; allocate buf1; call 1; call 2; free buf1; allocate buf2; call 3"
OVERLAP = (
    "allocate old; allocate wide0; call 0; free old; call 1; free wide0; call 2; allocate new; allocate wide1; call 3"
)
EARLIER = OVERLAP.replace("call 1; free wide0", "free wide0; call 1")
WIDER_FIRST = OVERLAP.replace("allocate new; allocate wide1", "allocate wide1; allocate new")


@program(
    "inductor.memory.plan_reuse",
    cases=plans,
    edges=[
        plan(ONE, [64, 64]), plan(ONE, [64, 128], buf1=128),
        plan("allocate buf0; call 0; reuse buf0 buf1; call 1; free buf1; allocate buf2; call 2", [64, 64, 64]),
        plan("allocate a; allocate b; call 0; free b; reuse a c; allocate d; call 1", [128, 128]),
        plan(TWO, [128, 64, 128]), plan(LATE, [64, 512, 576], buf1=512), plan(LATE, [64, 512, 64], buf1=512),
        plan(LATE + "; free buf2; allocate buf3; call 3", [64, 512, 64, 512], buf1=512, buf3=512),
        plan(OVERLAP, [512, 100, 384, 64], wide0=128, wide1=128),
        plan(EARLIER, [512, 256, 16, 64], wide0=256, wide1=256),
        plan(OVERLAP, [512, 100, 480, 64], wide0=128, wide1=128), {"lines": [["call", 0]], "sizes": {}, "alive": [0]},
        plan(ONE, [64, 64], buf1=["int64", 64]), plan(TWO, [128, 64, 128], buf1=["int32", 64]),
        plan(LATER, [64, 512, 512, 64], buf1=512), plan(OVERLAP, [512, 500, 100, 64], wide0=128, wide1=128),
        plan(OVERLAP, [512, 100, 500, 64], wide0=128, wide1=128),
        plan(WIDER_FIRST, [512, 448, 100, 64], wide0=128, wide1=128),
    ],
    hint=lambda case, mine, theirs: first_line(field(mine, "lines"), field(theirs, "lines")),
)  # fmt: skip
def plan_reuse(xp, lines, sizes, alive):
    alive, before = list(alive), list(alive)
    sizes = {name: tuple(size) for name, size in sizes.items()}
    given = [tuple(line) for line in lines]
    planned = xp.inductor.memory.plan_reuse(given, sizes, alive)
    stays = given == [tuple(line) for line in lines]
    return {"lines": [list(line) for line in planned], "alive stays": alive == before, "lines stay": stays}


@plan_reuse.oracle
def _(xp, lines, sizes, alive):
    import operator

    from torch._inductor.codegen.segmented_tree import SegmentedTree
    from torch._inductor.codegen.wrapper import AllocateLine, EfficientPeakEstimate, FreeIfNotReusedLine, ReuseLine

    steps = [[[], []] for _ in alive]
    with Inductor(xp, steps, list(sizes), sizes) as inductor:
        wrapper, step = inductor.wrapper, 0
        for what, *names in lines:
            inductor.scheduler.current_node = inductor.nodes[step - (what == "free")]
            buffers = [inductor.buffers.get(name) for name in names]
            if what == "call":
                wrapper.writeline([what, *names])
                step = min(names[0] + 1, len(steps) - 1)
            else:
                kind = {"allocate": AllocateLine, "free": FreeIfNotReusedLine, "reuse": ReuseLine}[what]
                wrapper.writeline(kind(wrapper, *buffers))
        wrapper.estimate_peak = object.__new__(EfficientPeakEstimate)
        wrapper.estimate_peak.overall_peak_memory = max(alive)
        wrapper.estimate_peak.segmented_tree = SegmentedTree(list(alive), operator.add, max, 0)
        wrapper.memory_plan_reuse()
        return {"lines": inductor.lines(), "alive stays": True, "lines stay": True}
