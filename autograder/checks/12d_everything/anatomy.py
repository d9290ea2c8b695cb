"""Lab 12d, the MiniGPT from inside: what it would say after each block, and the graph of its backward pass."""

from __future__ import annotations

from rushlight.course.anatomy import fused_operators
from rushlight.course.gpt import gpt

from ...engine.check import program
from ..cases import attempt, copied, drawing, drawn, explained, numbers, rows

VOCABULARY, WIDTH, LENGTH = 7, 4, 5


def small_gpt(xp, layers, start=0, **sizes):
    """A small MiniGPT with the same weights on both frameworks."""
    settings = {"vocabulary": VOCABULARY, "width": WIDTH, "heads": 2, "length": LENGTH} | sizes
    model = gpt(xp, layers=layers, **settings)
    with xp.no_grad():
        for i, parameter in enumerate(model.parameters()):
            parameter.copy_(numbers(xp, [*parameter.shape], start + i, "float32"))
    return model


def tokens_of(xp, batch, n, start=0, vocabulary=VOCABULARY):
    return xp.tensor([[(3 * i + 5 * row + start) % vocabulary for i in range(n)] for row in range(batch)])


# The logit lens ------------------------------------------------------------------------------------------------------


@program(
    "course.anatomy.logit_lens",
    cases=drawn(layers=(1, 3), batch=(1, 2), n=(1, LENGTH), start=(0, 5), unknown=[False, False, False, True], recording=bool),
    edges=rows("layers batch n start unknown recording", *(
        (1, 1, 1, 0, False, True), (2, 2, 3, 1, False, True), (3, 1, 5, 2, False, False), (2, 1, 2, 0, True, True),
    )),
    draws=8,
    hint=explained(
        runs="a block ran more than once, or not at all",
        hooks="a hook of yours is still there, or one that was there before is not",
        same="the tokens, the mode of the model or what of it requires grad is not what it was",
        scores="the norm comes before the head, and the first entry is the input of the first block",
        grad="the results need no graph: compute them without recording one",
    ),
)  # fmt: skip
def lens(rl, layers, batch, n, start, unknown, recording):
    model, tokens, runs = small_gpt(rl, layers, start), tokens_of(rl, batch, n, start), []
    if unknown:
        tokens[0, 0] = VOCABULARY  # the embedding has no such row
    for i, block in enumerate(model.blocks):
        block.register_forward_hook(lambda *_, i=i: runs.append(i))
    for module in (*model.blocks, model.norm, model.head):
        module.register_forward_pre_hook(lambda *_: None)
    before = _state_of(model, tokens)
    with rl.set_grad_enabled(recording):
        lens = attempt(rl.course.anatomy.logit_lens, model, tokens)
        mode = rl.is_grad_enabled()
    hooks = [len(module._forward_hooks) + len(module._forward_pre_hooks) for module in model.modules()]
    scores, grad = lens, None
    if not isinstance(lens, str):
        scores, grad = [*map(copied, lens)], [tensor.requires_grad for tensor in lens]
    same = _state_of(model, tokens) == before
    return {"runs": runs, "hooks": sum(hooks), "mode": mode, "same": same, "scores": scores, "grad": grad}


def _state_of(model, tokens):
    """The state of a model, and the tokens, that the lens must not change."""
    return (
        tokens.tolist(),
        [parameter.requires_grad for parameter in model.parameters()],
        [module.training for module in model.modules()],
    )


@lens.oracle
def _(torch, layers, batch, n, start, unknown, recording):
    """Block by block, by hand."""
    model, scores = small_gpt(torch, layers, start), []
    if unknown:
        seen = attempt(model, torch.full((batch, n), VOCABULARY))
        return {"runs": [], "hooks": 2 * layers + 2, "mode": recording, "same": True, "scores": seen, "grad": None}
    x = model.token.weight[tokens_of(torch, batch, n, start)] + model.position.weight[:n]
    for block in [None, *model.blocks]:
        x = block(x) if block is not None else x
        y = torch.nn.functional.layer_norm(x, [WIDTH], model.norm.weight, model.norm.bias)
        scores.append((y @ model.token.weight.t() + model.head.bias).detach())
    runs = [*range(layers)]
    return {
        "runs": runs,
        "hooks": 2 * layers + 2,
        "mode": recording,
        "same": True,
        "scores": scores,
        "grad": [False] * (layers + 1),
    }


# The graph of a block ------------------------------------------------------------------------------------------------

GRAPHS = {  # each makes `result` and `names`; model is a MiniGPT of two blocks
    "square": 'w = xp.ones(2, requires_grad=True)\nresult, names = (w * w).sum(), {"w": w}',
    "data": 'w, x = xp.ones(2, requires_grad=True), xp.ones(2)\nresult, names = x * w + x, {"w": w}',
    "unnamed": 'w, v = xp.ones(2, requires_grad=True), xp.ones(2, requires_grad=True)\nresult, names = w.exp() * v, {"v": v}',
    "alias": 'w = xp.ones(2, requires_grad=True)\nv = w.detach().requires_grad_()\nresult, names = v * v, {"w": w}',
    "parts": 'w = xp.ones(6, requires_grad=True)\na, b, c = w.split(2)\nresult, names = c * b + c, {"w": w, "again": xp.ones(6)}',
    "all parts": 'w = xp.ones(3, requires_grad=True)\na, b, c = (w * 2).unbind()\nresult, names = b * (c - a) * b, {"w": w}',
    "wide": 'u, v = xp.ones(2, 2, requires_grad=True), xp.ones(2, 2, requires_grad=True)\n'
    'a, b = u @ v, v.tanh()\nresult, names = xp.cat([a.exp(), b, a]).sum() + b.sum(), {"v": v, "u": u}',
    "block": 'x = xp.ones(1, 3, 4, requires_grad=True)\nresult = model.blocks[0](x)\n'
    'names = dict(model.blocks[0].named_parameters()) | {"x": x}',
    "model": "result, names = model(xp.tensor([[1, 2, 3]])).sum(), dict(model.named_parameters())",
    "frozen": 'model.token.weight.requires_grad_(False)\nresult, names = model(xp.tensor([[1, 2, 3]])), {"b": model.head.bias}',
}  # fmt: skip


@program(
    "course.anatomy.backward_graph",
    cases=drawn(graph=[*GRAPHS]),
    edges=rows("graph", *((name,) for name in GRAPHS)),
    draws=2,
    show=lambda torch, graph: GRAPHS[graph],
    hint=explained(
        labels="take the node that was found first, and number nodes in the order in which they are found",
        edges="an edge to a node that is known already is an edge, too",
    ),
)
def graph(rl, graph):
    with fused_operators():
        result, names = _made(rl, graph)
    labels, edges = rl.course.anatomy.backward_graph(result, names)
    return {"labels": labels, "edges": edges}


@graph.oracle
def _(torch, graph):
    labels, edges = graph_of(torch, *_made(torch, graph))
    return {"labels": labels, "edges": edges}


def graph_of(torch, result, names):
    """Labels and edges of torch's graph, level by level, with the nodes of each level in a list."""
    nodes, edges, level = [result.grad_fn], [], [result.grad_fn]
    while level:
        following = []
        for node in level:
            for following_node, number in node.next_functions:
                if following_node is not None and following_node not in nodes:
                    nodes.append(following_node)
                    following.append(following_node)
                if following_node is not None:
                    edges.append((nodes.index(node), nodes.index(following_node), number))
        level = following
    return [_label(torch, node, names) for node in nodes], edges


def _label(torch, node, names):
    if not node.name().endswith("AccumulateGrad"):
        return node.name()
    return next((name for name, leaf in names.items() if leaf is node.variable), "AccumulateGrad")


def _made(xp, graph):
    space = {"xp": xp, "model": small_gpt(xp, layers=2) if "model" in GRAPHS[graph] else None}
    exec(GRAPHS[graph], space)
    return space["result"], space["names"]


# Paths ---------------------------------------------------------------------------------------------------------------


@drawing
def _graphs(draw, st):
    """A graph without a cycle: each node but the first one has one to three edges from nodes before it, in another order."""
    nodes = draw(st.integers(1, 7))
    edges = [
        [draw(st.integers(0, node - 1)), node, draw(st.integers(0, 1))]
        for node in range(1, nodes)
        for _ in range(draw(st.integers(1, 3)))
    ]
    names = [0, *draw(st.permutations(range(1, nodes)))]
    return {"nodes": nodes, "edges": draw(st.permutations([[names[a], names[b], i] for a, b, i in edges]))}


@program(
    "course.anatomy.count_paths",
    cases=_graphs,
    edges=rows("nodes edges", *((nodes, [*map(list, edges)]) for nodes, edges in (
        (1, []), (2, [(0, 1, 0)]), (2, [(0, 1, 0), (0, 1, 0)]), (3, [(0, 1, 0), (1, 2, 0), (1, 2, 1)]),
        (3, [(0, 1, 0), (0, 2, 0), (2, 1, 0)]), (3, [(2, 1, 0), (0, 1, 0), (0, 2, 0)]),
        (4, [(0, 2, 0), (0, 1, 0), (2, 3, 0), (1, 3, 0)]),
        (4, [(3, 1, 0), (1, 2, 0), (0, 2, 0), (0, 3, 1), (0, 1, 0)]),
        (5, [(0, 4, 0), (4, 3, 0), (4, 3, 1), (3, 2, 0), (4, 2, 0), (2, 1, 0)]),
    ))),
    show=lambda torch, nodes, edges: f"count_paths({nodes}, {[*map(tuple, edges)]})",
)  # fmt: skip
def paths(rl, nodes, edges):
    given = [*map(tuple, edges)]
    paths = rl.course.anatomy.count_paths(nodes, given)
    assert given == [*map(tuple, edges)], "the edges have changed"
    return paths


@paths.oracle
def _(torch, nodes, edges):
    """A backward pass through additions: each path adds 1 to the gradient."""
    leaves = [torch.zeros((), dtype=torch.float64, requires_grad=True) for _ in range(nodes)]

    def value(node):
        return sum((value(to) for start, to, _ in edges if start == node), leaves[node])

    value(0).backward()
    return [int(leaf.grad) for leaf in leaves]


@program(
    "course.anatomy.count_paths.many",
    cases=drawn(blocks=(2000, 2500), chain=[False], backwards=bool),
    edges=rows(
        "blocks chain backwards", (40, False, False), (1100, False, True), (3000, True, False), (3000, True, True)
    ),
    draws=1,
)
def many_paths(rl, blocks, chain, backwards):
    """Blocks with a residual connection each, or a chain without any. The nodes after the first one may be numbered backwards."""
    names = [0, *range(blocks, 0, -1)] if backwards else [*range(blocks + 1)]
    edges = [(names[i], names[i + 1], 0) for i in range(blocks) for _ in range(1 if chain else 2)]
    paths = rl.course.anatomy.count_paths(blocks + 1, edges)
    return [str(paths[names[i]]) for i in (blocks - 1, blocks)]


@many_paths.oracle
def _(torch, blocks, chain, backwards):
    return [str(1 if chain else 1 << i) for i in (blocks - 1, blocks)]
