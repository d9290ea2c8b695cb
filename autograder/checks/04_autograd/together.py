"""All pieces together: histories with views and writes, a linear layer with its loss, and whole programs with hooks."""

from __future__ import annotations

from ...engine.check import program
from ..cases import attempt, drawn, several
from .functions import checkpoint_of
from .graphs import Graph, described, graph_of, node_name, plain
from .programs import (
    DIAMOND,
    LEAF,
    ROW,
    TWO_LEAVES,
    as_code,
    do,
    drawn_leaves,
    drawn_statements,
    drawn_writes,
    operate,
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
    found = attempt(xp.autograd.backward, ends, [xp.ones_like(x) for x in ends]) if ends else None
    grads = [plain(x.grad) for x in values[: len(leaves)]]
    return {"writes": said, "values": shown, "graph": graph.shown(), "backward": found, "gradients": grads}


def whole_programs(st):
    index = st.integers(0, 12)
    steps = [drawn_statements(st, most=2), drawn_statements(st, most=2), drawn_writes(st, 2)]
    names = ("hook", "doubling hook", "retain", "own", "detach", "without", "checkpoint")
    steps += [st.tuples(st.just(name), index).map(lambda one: [list(one)]) for name in names]
    statements = st.lists(st.one_of(steps), max_size=8).map(lambda some: [each for step in some for each in step])
    roots = several((0, 12), 1, 2)
    return drawn(leaves=drawn_leaves, statements=statements, roots=roots, create=[False, False, True])(st)


def square(xp):
    class Square(xp.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x * x

        @staticmethod
        def backward(ctx, grad):
            (x,) = ctx.saved_tensors
            return grad * x * 2

    return Square.apply


def step(xp, values, log, number, name, *indices):
    """Run one statement of a whole program. Returns the outcome of a write."""
    x = values[indices[0] % len(values)]
    if name in ("hook", "doubling hook"):
        doubles = name == "doubling hook"

        def hook(grad):
            log.append({"hook of statement": number, "grad": plain(grad)})
            return grad * 2 if doubles else None

        x.register_hook(hook)
    elif name == "retain":
        x.retain_grad()
    elif name == "own":
        values.append(square(xp)(x))
    elif name == "checkpoint":
        values.append(checkpoint_of(xp)(lambda x: x.tanh() * x, x, use_reentrant=True))
    elif name == "without":
        with xp.no_grad():
            values.append(x * 2)
    else:
        return operate(xp, values, name, *indices)


@program(
    "together.programs",
    cases=whole_programs,
    edges=[
        {"leaves": leaves, "statements": statements, "roots": roots, "create": create}
        for leaves, statements, roots in (
            ([LEAF], DIAMOND, [-1]), ([LEAF, LEAF], TWO_LEAVES, [-1, 2]),
            ([LEAF], do("clone 0, first 1, double_ 2, mul 1 0"), [-1]), ([LEAF], do("tanh 0, double_ 1, neg 1"), [-1]),
            ([LEAF], do("hook 0, own 0, retain 1, doubling hook 1, sum 1"), [-1]),
            ([LEAF], do("checkpoint 0, without 0, mul 1 2"), [-1]),
        )
        for create in (False, True)
    ],
)  # fmt: skip
def whole_program(xp, leaves, statements, roots, create):
    values, log = start(xp, leaves), []
    said = [attempt(step, xp, values, log, i, *one) for i, one in enumerate(statements)]
    graph, nodes = graph_of(values)
    for i, node in enumerate(graph.nodes):
        if node_name(node) != "AccumulateGrad":
            node.register_prehook(lambda grads, i=i: log.append({"runs": i}))

    def back():
        ends = [values[index % len(values)] for index in roots]
        xp.autograd.backward(ends, [xp.ones_like(x) for x in ends], create_graph=create)

    found = [attempt(back) for _ in range(2)]
    shown = []
    for x, node in zip(values, nodes):
        if isinstance(node, str):
            shown.append(node)
            continue
        kept = plain(x.grad) if x.requires_grad and (x.is_leaf or x.retains_grad) else None
        flags = {"requires_grad": x.requires_grad, "_version": x._version, "node": graph.index(node)}
        shown.append({"elements": plain(x), **flags, "grad": kept})
    return {"statements": said, "values": shown, "graph": graph.shown(), "backward": found, "log": log[:300]}


@program(
    "together.head",
    cases=drawn(batch=(1, 8), features=[64, 8, 3], classes=[600, 20, 5]),
    edges=[{"batch": 8, "features": 64, "classes": 600}],
)
def head(xp, batch, features, classes):
    """`nn.Linear` by its operators: the gradients of input, weight and bias, and the graph."""

    def numbers(*shape):
        count = xp.ones(shape).numel()
        return ((xp.arange(count, dtype=xp.float64) * 0.7).sin()).reshape(shape)

    shapes = (batch, features), (classes, features), (classes,)
    x, weight, bias = (numbers(*shape).requires_grad_() for shape in shapes)
    logits = xp.nn.functional.linear(x, weight, bias)
    targets = xp.arange(batch) % classes
    loss = xp.nn.functional.cross_entropy(logits, targets)
    graph = Graph(loss.grad_fn).shown()
    logits.retain_grad()
    loss.backward()
    named = {"logits": logits, "input": x, "weight": weight, "bias": bias}
    return {"loss": plain(loss), "graph": graph} | {name: plain(x.grad) for name, x in named.items()}
