"""All pieces together: histories with views and writes."""

from __future__ import annotations

from ...engine.check import program
from ..cases import attempt, drawn
from ..shared_04 import (
    LEAF,
    ROW,
    as_code,
    described,
    do,
    drawn_leaves,
    drawn_statements,
    drawn_writes,
    graph_of,
    operate,
    plain,
    start,
)


@program(
    "together.histories",
    cases=drawn(
        leaves=drawn_leaves,
        statements=lambda st: st.tuples(drawn_statements(st, most=4), drawn_writes(st, 4)).map(lambda some: sum(some, [])),
    ),
    show=as_code,
    edges=[
        {"leaves": leaves, "statements": do(statements)}
        for leaves, statements in (
            ([LEAF], "tanh 0, double_ 1, neg 1"), ([LEAF], "neg 0, double_ 1, mul 1 0"), ([LEAF], "double_ 0"),
            ([LEAF, ROW], "clone 0, first 2, mul_ 3 1, mul 2 0"), ([LEAF], "clone 0, unbind 1, double_ 2, neg 1"),
            ([LEAF], "max 0, split 1, maximum 3 0"), ([LEAF], "detach 0, double_ 1, mul 1 0"),
        )
    ],
)  # fmt: skip
def histories(xp, leaves, statements):
    """A program with views and writes: its graph, and the gradients of all its results together."""
    values = start(xp, leaves)
    said = [attempt(operate, xp, values, *one) for one in statements]
    graph, nodes = graph_of(values)
    shown = [node if isinstance(node, str) else [described(x), graph.index(node)] for x, node in zip(values, nodes)]
    ends = [x for x, node in zip(values, nodes) if not isinstance(node, str) and x.requires_grad]
    backward = attempt(xp.autograd.backward, ends, [xp.ones_like(x) for x in ends]) if ends else None
    grads = [plain(x.grad) for x in values[: len(leaves)]]
    return {"writes": said, "values": shown, "graph": graph.shown(), "backward": backward, "gradients": grads}
