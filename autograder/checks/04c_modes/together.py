"""All pieces together: whole programs with hooks."""

from __future__ import annotations

from ...engine.check import program
from ..cases import attempt, drawn, several
from ..shared_04 import (
    DIAMOND,
    IN_PLACE,
    LEAF,
    TWO_LEAVES,
    do,
    drawn_leaves,
    drawn_statements,
    drawn_writes,
    graph_of,
    listing_of,
    node_name,
    operate,
    plain,
    start,
)
from .functions import checkpoint_of


def whole_programs(st):
    index = st.integers(0, 12)
    steps = [drawn_statements(st, most=2), drawn_statements(st, most=2), drawn_writes(st, 2)]
    names = ("hook", "doubling hook", "retain", "own", "detach", "without", "checkpoint")
    steps += [st.tuples(st.just(name), index).map(lambda one: [list(one)]) for name in names]
    statements = st.lists(st.one_of(steps), max_size=8).map(
        lambda some: [statement for step in some for statement in step]
    )
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


def as_code(torch, leaves, statements, roots, create):
    """A case as code. A statement that raises an error does not end the program."""

    def special(page, name, *indices):
        x, values = page.name(indices[0]), [*page.values]
        text = {
            "hook": f"{x}.register_hook(print)", "doubling hook": f"{x}.register_hook(lambda grad: grad * 2)",
            "retain": f"{x}.retain_grad()", "own": f"Square.apply({x})  # a custom function: its forward is x * x",
            "checkpoint": f"checkpoint(lambda x: x.tanh() * x, {x}, use_reentrant=True)", "without": f"{x} * 2",
        }.get(name)  # fmt: skip
        if text is None and name.rpartition(" ")[2] in IN_PLACE:
            return False
        said = attempt(step, torch, values, [], 0, name, *indices)
        if isinstance(said, str):
            text = text or page.operation(name, indices[0], indices[-1])
            page.lines.append(f"{text}  # {said}, and the program goes on")
        elif text is None:
            return False
        elif len(values) > len(page.values):
            page.add(text, values[-1])
        else:
            page.lines.append(text)
        if name == "without":
            page.lines[-1:] = ["with torch.no_grad():", f"    {page.lines[-1]}"]
        return True

    page = listing_of(torch, leaves, statements, special=special)
    page.lines.append(f"roots = {page.names(roots)}")
    return page.text(create_graph=create)


@program(
    "together.programs",
    show=as_code,
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

    passes = [attempt(back) for _ in range(2)]
    shown = []
    for x, node in zip(values, nodes):
        if isinstance(node, str):
            shown.append(node)
            continue
        kept = plain(x.grad) if x.requires_grad and (x.is_leaf or x.retains_grad) else None
        flags = {"requires_grad": x.requires_grad, "_version": x._version, "node": graph.index(node)}
        shown.append({"elements": plain(x), **flags, "grad": kept})
    return {"statements": said, "values": shown, "graph": graph.shown(), "backward": passes, "log": log[:300]}
