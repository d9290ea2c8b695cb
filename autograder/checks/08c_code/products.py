"""The check of lab 08 that plans the memory of products of matrices with all pieces together.

Inductor generates no loops for products, and each of them needs the one before it.
"""

import re

from ...engine.check import program
from ..cases import drawing

_INPUTS = {"arg0_1": (4, 4), "arg1_1": (4, 6), "arg2_1": (6, 4)}


@drawing
def chains_of_products(draw, st):
    shapes, products = dict(_INPUTS), []
    for number in range(draw(st.integers(2, 7))):
        last = f"buf{number - 1}" if products else "arg0_1"
        pairs = [(last, name) for name, (rows, _) in shapes.items() if rows == shapes[last][1]]
        pairs += [(name, last) for name, (_, columns) in shapes.items() if columns == shapes[last][0] and name != last]
        a, b = draw(st.sampled_from(pairs))
        products.append([a, b])
        shapes[f"buf{number}"] = (shapes[a][0], shapes[b][1])
    return {"products": products}


def sizes_of_products(products):
    shapes = dict(_INPUTS)
    for number, (a, b) in enumerate(products):
        shapes[f"buf{number}"] = (shapes[a][0], shapes[b][1])
    return {name: ("float32", 4 * rows * columns) for name, (rows, columns) in shapes.items() if name.startswith("buf")}


@program(
    "together.memory",
    cases=chains_of_products,
    edges=[
        {"products": [["arg0_1", "arg0_1"], ["buf0", "arg1_1"], ["buf1", "arg2_1"], ["buf2", "arg0_1"]]},
        {"products": [["arg0_1", "arg0_1"], ["buf0", "buf0"], ["buf1", "buf0"], ["buf2", "arg0_1"], ["buf3", "buf2"]]},
    ],
    disposable=True,
    draws=6,
)
def memory_together(xp, products):
    memory = xp.inductor.memory
    steps = [([a, b], [f"buf{number}"]) for number, (a, b) in enumerate(products)]
    outputs, sizes = [f"buf{len(products) - 1}"], sizes_of_products(products)
    alive = memory.bytes_alive(steps, {name: nbytes for name, (_, nbytes) in sizes.items()}, outputs)
    lines = memory.call_lines(steps, set(_INPUTS), outputs, [{} for _ in steps])
    return [list(line) for line in memory.plan_reuse(lines, sizes, alive)]


@memory_together.oracle
def _(xp, products):
    import torch._inductor.config
    from torch._inductor.utils import run_and_get_code

    def chain(*inputs):
        values = dict(zip(_INPUTS, inputs))
        for number, (a, b) in enumerate(products):
            values[f"buf{number}"] = values[a] @ values[b]
        return values[f"buf{len(products) - 1}"]

    inputs = [xp.ones(sizes) for sizes in _INPUTS.values()]
    with torch._inductor.config.patch(compile_threads=1, force_disable_caches=True):
        _, (text, *_) = run_and_get_code(xp.compile(chain, fullgraph=True, dynamic=False), *inputs)
    lines, calls = [], 0
    for line in text[text.index("def call(") :].splitlines():
        if made := re.match(r" +(buf\d+) = empty_strided", line):
            lines.append(["allocate", made[1]])
        elif passed := re.match(r" +(buf\d+) = .*?(buf\d+)\b.*; del \2  # reuse", line):
            lines.append(["reuse", passed[2], passed[1]])
        elif freed := re.match(r" +del (buf\d+)$", line):
            lines.append(["free", freed[1]])
        elif "extern_kernels.mm(" in line:
            lines.append(["call", calls])
            calls += 1
    return lines
