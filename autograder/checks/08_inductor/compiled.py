"""The checks of labs 08b and 08c that run whole programs: as loops, and compiled."""

from ...engine.check import program
from ..cases import drawn, listed, rows, several

_UNARY = {
    "neg": lambda xp, x: -x, "relu": lambda xp, x: x.relu(), "exp": lambda xp, x: (x * 0.25).exp(),
    "tanh": lambda xp, x: x.tanh(), "shift": lambda xp, x: x * 2 + 1, "clip": lambda xp, x: x.clamp(-1, 1),
    "choose": lambda xp, x: xp.where(x > 0, x, x * 0.5), "whole": lambda xp, x: x.floor().to(xp.int64).to(x.dtype),
    "sum": lambda xp, x: x.sum(), "mean": lambda xp, x: x.mean(-1, True) if x.dim() else x,
    "most": lambda xp, x: x.amax(0) if x.dim() else x, "softmax": lambda xp, x: x.softmax(-1) if x.dim() else x,
    "t": lambda xp, x: x.t() if x.dim() < 3 else x, "last": lambda xp, x: x[-1:] if x.dim() else x,
    "column": lambda xp, x: x.select(-1, 0) if x.dim() else x, "flat": lambda xp, x: x.reshape(-1)[:3],
    "turned": lambda xp, x: x.flip(0) if x.dim() else x, "wide": lambda xp, x: x.expand(3, 3),
}  # fmt: skip
_BINARY = {
    "add": lambda xp, x, y: x + y, "mul": lambda xp, x, y: x * y, "sub": lambda xp, x, y: x - y,
    "larger": lambda xp, x, y: xp.maximum(x, y), "below": lambda xp, x, y: (x < y).to(xp.float32),
    "both": lambda xp, x, y: xp.cat([x.expand(3, 3), y.expand(3, 3)])[2:5],
    "product": lambda xp, x, y: x.expand(3, 3) @ y.expand(3, 3),
}  # fmt: skip


def run_steps(xp, inputs, steps, results):
    values = list(inputs)
    for name, *numbers in steps:
        operands = [values[number % len(values)] for number in numbers]
        values.append((_UNARY | _BINARY)[name](xp, *operands))
    return [values[number % len(values)] for number in results]


def inputs_of(xp, shapes):
    found = []
    for number, sizes in enumerate(shapes):
        count = 3 ** sum(size == 3 for size in sizes)
        found.append(((xp.arange(count) * 5 + number) % 7).to(xp.float32).reshape(sizes) * 0.5 - 1.25)
    return found


def _programs(binary):
    """Small programs with these binary operations."""

    def steps(st):
        one, two = listed(list(_UNARY), (0, 9)), listed(binary, (0, 9), (0, 9))
        return st.lists(st.one_of(one(st), two(st)), min_size=1, max_size=9)

    shapes = several([[3, 3], [3], [3, 1], [1, 3], []], 1, 3)
    return drawn(shapes=shapes, steps=steps, results=several((0, 9), 1, 2))


_SOFTMAX = [[3, 3]], [["shift", 0], ["relu", 1], ["softmax", 2]], [3]
_COLUMNS = [[3, 3], [3]], [["t", 0], ["mul", 2, 1], ["sum", 3], ["mean", 3], ["sub", 3, 5], ["flat", 6]], [7, 4]
_PRODUCT = [[3, 3], [3]], [["product", 0, 0], ["add", 2, 1], ["most", 3], ["t", 3], ["mul", 4, 5]], [6, 3]


@program(
    "together.loops",
    cases=_programs([name for name in _BINARY if name != "product"]),  # a product has no loops
    edges=rows("shapes steps results", _SOFTMAX, _COLUMNS),
    draws=30,
)
def loops_of_programs(xp, shapes, steps, results):
    inputs, inductor = inputs_of(xp, shapes), xp.inductor
    graph = xp.aot.make_fx(lambda *inputs: run_steps(xp, inputs, steps, results))(*inputs)
    lowered = inductor.graph.lower(graph)
    memory = {
        name: xp.zeros(each.nbytes // each.dtype.itemsize, dtype=each.dtype).numpy()
        for name, each in lowered.layouts.items()
    }
    memory |= {name: each.reshape(-1).numpy() for name, each in zip(lowered.inputs, inputs)}
    memory |= {name: each.reshape(-1).numpy() for name, each in lowered.constants.items()}
    scheduler = inductor.scheduler
    for node in scheduler.fuse_nodes(scheduler.create_nodes(scheduler.live_operations(lowered)), lowered.layouts):
        for values in inductor.ir.iterations(node.outer):
            for nest in node.nests:
                inductor.ir.run(nest, memory, values)
    views = [
        xp.from_numpy(memory[each.buffer]).as_strided(each.sizes, each.strides, each.offset) for each in lowered.outputs
    ]
    return [each.clone() for each in views]


@program(
    "together.compiled",
    cases=_programs(list(_BINARY)),
    edges=rows("shapes steps results", _SOFTMAX, _PRODUCT),
    hint=lambda case, mine, theirs: (
        "there is no C++ compiler here, so this check cannot test your pieces"
        if "no C++ compiler" in str(mine)
        else None
    ),
    draws=4,
)
def compiled_programs(xp, shapes, steps, results):
    inputs = inputs_of(xp, shapes)
    graph = xp.aot.make_fx(lambda *inputs: run_steps(xp, inputs, steps, results))(*inputs)
    return [each.clone() for each in xp.inductor.compile_fx_inner(graph, inputs)(*inputs)]


def eager(torch, shapes, steps, results):
    return [each.clone() for each in run_steps(torch, inputs_of(torch, shapes), steps, results)]


for _check in loops_of_programs, compiled_programs:
    _check.oracle(eager)
