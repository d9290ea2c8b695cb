"""The engine: which nodes run and how often, and hooks."""

from __future__ import annotations

from ...engine.check import program
from ...engine.observe import difference
from ..cases import Interrupt, attempt, drawn, entries, field, listed, rows, several
from ..listing import expression
from ..shared_04 import (
    DIAMOND,
    FIXED,
    LEAF,
    ROW,
    TWO_LEAVES,
    Graph,
    as_code,
    chosen,
    do,
    grad_mode,
    listing_of,
    node_name,
    outcome,
    plain,
    rooted_programs,
    run_repeatedly,
    start,
)

# Dependencies --------------------------------------------------------------------------------------------------------


ROOTED = rows(
    "leaves statements times roots",
    ([LEAF], [], 1, [0]), ([LEAF], do("neg 0"), 1, [1]), ([LEAF], do("neg 0"), 1, [1, 1]), ([LEAF], do("mul 0 0"), 1, [1]),
    ([LEAF, LEAF], do("mul 0 1, neg 2"), 1, [3]), ([LEAF, FIXED], do("mul 0 1, add 2 1"), 1, [3]),
    ([LEAF], do("tanh 0, neg 1, double 1, add 2 3"), 1, [4]),  # a diamond
    ([LEAF], do("tanh 0, neg 1, add 1 2, mul 3 1"), 1, [4]),  # long paths and short ones
    ([LEAF], do("tanh 0, neg 1, double 1"), 1, [2, 3]),
    ([LEAF], do("tanh 0, neg 1, double 2"), 1, [1, 3]),  # one root before another
    ([LEAF], do("tanh 0, neg 1, double 2"), 1, [3, 2, 1, 0]), ([LEAF], do("split 0, mul 1 2, add 4 1"), 1, [5]),
    ([LEAF], do("split 0, neg 1"), 1, [2, 4]),
    ([LEAF], do("tanh 0, neg 1, double 1, sum 1"), 1, [2]),  # unused branches
    ([FIXED, LEAF], do("mul 0 1, add 0 2"), 1, [3]),
    ([LEAF], do("add -1 -1"), 40, [-1]),  # a million million paths from the root to the leaf
    ([[[], True]], do("shift -1"), 1500, [-1]),  # too deep for recursion
)  # fmt: skip


def _by_node(graph, answer):
    return {f"{number} {node_name(node)}": answer(node) for number, node in enumerate(graph.nodes)}


def renumbered(graph):
    """The same graph with other sequence numbers: a view's new node is younger than a node that leads to it."""
    for number, node in enumerate(graph.nodes):
        node.sequence_nr = number
    return graph


def _about_nodes_that_run(mine, theirs):
    both = entries(mine, theirs)
    if both is None:
        return None
    if any(both[0].get(node) and not runs for node, runs in both[1].items()):
        return "a node does not run if its gradient is only wanted, and not passed on"
    return "a node runs if a path of any length leads from it to an end, also if it is an end itself"


@program(
    "autograd.engine.nodes_to_execute",
    cases=rooted_programs(ends=several((0, 12), 0, 3)),
    edges=[edge | {"ends": [0]} for edge in ROOTED]
    + [
        {"leaves": [LEAF, LEAF], "statements": statements, "times": 1, "roots": roots, "ends": ends}
        for statements, roots, ends in (
            (do("mul 0 1"), [2], []), (do("mul 0 1, neg 2, tanh 3"), [4], [2]),
            (do("mul 0 1, neg 2, tanh 3"), [4], [4]), (do("mul 0 1, neg 2, tanh 3"), [4], [3, 2]),
            (do("neg 0, tanh 1, mul 2 3"), [4], [0]), (do("neg 0, tanh 1, mul 2 3"), [4], [2]),
            (do("neg 0, tanh 1, mul 2 3"), [2], [1]), (do("neg 0, tanh 1, mul 2 3"), [2, 4], [1, 3]),
            (do("split 0, neg 2, add 3 1"), [6], [3]), (do("split 0, neg 2, mul 5 4"), [5, 6], [2, 0]),
        )
    ],
    show=as_code,
    hint=lambda case, mine, theirs: _about_nodes_that_run(field(mine, "runs"), field(theirs, "runs")),
)  # fmt: skip
def nodes_that_run(xp, leaves, statements, times, roots, ends):
    values = run_repeatedly(xp, leaves, statements, times)
    roots = [xp.graph.gradient_edge(x).node for x in chosen(values, roots)]
    ends = [xp.graph.gradient_edge(x).node for x in chosen(values, ends)]
    graph = renumbered(Graph(*roots))
    nodes = xp.engine.nodes_to_execute(iter(ends), iter(graph.nodes))
    assert isinstance(nodes, (set, frozenset)), f"the nodes are in a {type(nodes).__name__}"
    return {"runs": _by_node(graph, nodes.__contains__), "nodes": len(nodes)}


@nodes_that_run.oracle
def _(torch, leaves, statements, times, roots, ends):
    values = run_repeatedly(torch, leaves, statements, times)
    roots, ends, ran = chosen(values, roots), chosen(values, ends), set()
    graph = Graph(*(torch.autograd.graph.get_gradient_edge(x).node for x in roots))
    for node in graph.nodes:
        node.register_prehook(lambda grads, node=node: ran.add(node))
    if roots and ends:
        torch.autograd.grad(roots, ends, [torch.ones_like(x) for x in roots], allow_unused=True)
    return {"runs": _by_node(graph, ran.__contains__), "nodes": len(ran)}


# A node's call, and hooks --------------------------------------------------------------------------------------------


CALLS = {  # operators of two operands, and the name of what their nodes save
    "add": (lambda xp, x, y: x + y, None), "mul": (lambda xp, x, y: x * y, "self"),
    "exp": (lambda xp, x, y: x.exp(), "result"), "float32": (lambda xp, x, y: x.to(xp.float32), None),
    "max": (lambda xp, x, y: x.max(-1)[:1], "indices"), "unbind": (lambda xp, x, y: x.unbind(0), None),
    "split": (lambda xp, x, y: y.split(1, -1), None), "fails_once": (lambda xp, x, y: failing_once(xp, x), None),
}  # fmt: skip
ACTIONS = {
    "look": lambda grads: None, "double": lambda grads: tuple(grad if grad is None else grad * 2 for grad in grads),
    "drop": lambda grads: (None, *grads[1:]), "list": lambda grads: list(grads), "first": lambda grads: grads[0],
    "fewer": lambda grads: grads[1:], "more": lambda grads: (*grads, None), "raise": lambda grads: {}["the hook's"],
    "sizes": lambda grads: tuple(grad if grad is None else grad.unsqueeze(0) for grad in grads),
}  # fmt: skip
OF_HOOKS = [
    "remove itself",
    "remove all",
    "add another",
    "add to the others",
    "add it again",
]  # what a hook may do to other hooks


def failing_once(xp, x):
    """The result of a node whose first call raises an error."""

    class Failing(xp.autograd.Function):
        errors = [KeyError("the formula's")]

        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x * 2

        @staticmethod
        def backward(ctx, grad):
            if Failing.errors:
                raise Failing.errors.pop()
            return grad * ctx.saved_tensors[0]

    return Failing.apply(x)


def _call_as_code(torch, operator, shapes, given, hooks, keep, recorded):
    """The node of a case, its hooks and its calls as code."""
    sizes = ", ".join(map(str, shapes))
    hooked = [
        f"node.register_{'prehook' if when == 'before' else 'hook'}({action.replace(' ', '_')})"
        for when, action in hooks
    ]
    grads = [("grad.requires_grad_()" if recorded else "grad") if has_grad else "None" for has_grad in given]
    shown = [f"x, y = (torch.ones(size, requires_grad=True) for size in ({sizes}))", f"node = {operator}(x, y).grad_fn"]
    return "\n".join([*shown, *hooked, *[f"call_function(node, [{', '.join(grads)}], {keep})"] * 2])


def _about_calls(case, mine, theirs):
    logs = field(mine, "hooks"), field(theirs, "hooks")
    ran = [[[field(hook, name) for name in ("hook", "when")] for hook in log] for log in logs]
    ours, real = field(mine, "calls"), field(theirs, "calls")
    if not difference(ours[0], real[0]) and field(ours[1], "raises") != field(real[1], "raises"):
        return "the node is called twice: whether the second call finds what the node has saved depends on `keep_graph`"
    if ran[0] != ran[1]:
        return "other hooks run than in torch, or in another order: a hook may add hooks and remove them"
    if difference(*logs):
        return (
            "a hook gets other gradients than in torch, or of another type, or finds the saved tensors freed too early"
        )
    if difference(ours, real):
        raises = field(ours[0], "raises")
        return None if raises else "what a hook returns takes the place of the gradients, unless it is None"
    return "in a backward pass with create_graph the formulas are recorded, so a gradient has a history"


def called(xp, call, take, operator, shapes, given, hooks, keep, recorded):
    """Call a node twice, with hooks around it. `given` says which of its results have a gradient."""
    x, y = start(xp, [[shape, True] for shape in shapes])
    operate, saved = CALLS[operator]
    results, log = operate(xp, x, y), []
    results = results if isinstance(results, (list, tuple)) else [results]
    grads = [xp.ones_like(result) * (i + 1) if given[i % len(given)] else None for i, result in enumerate(results)]
    if grads.count(None) == len(grads):
        grads[0] = xp.ones_like(results[0])
    grads = [None if grad is None else grad.requires_grad_(recorded) for grad in grads]
    node, handles = results[0].grad_fn, {"before": {}, "after": {}}

    def add(number, when, action):
        def hook(grads, outer=None):
            kept = saved and attempt(lambda: plain(take(node, saved)))
            shown = {"hook": number, "when": when, "gradients": [*map(plain, grads)]}
            shown["types"] = [type(container).__name__ for container in (grads, outer)]
            log.append(shown | {"the node's own": outer and [*map(plain, outer)], "kept": kept})
            if action == "remove itself":
                handles[when][number].remove()
            elif action == "remove all":
                for handle in handles[when].values():
                    handle.remove()
            elif action == "add another":
                add(number + 10, when, "double")
            elif action == "add it again":
                return ACTIONS["double"](grads)
            elif action == "add to the others":  # those that run on the other side of the node
                add(number + 10, "after" if when == "before" else "before", "double")
            else:
                return ACTIONS[action](grads)

        for _ in range(2 if action == "add it again" else 1):  # one function may be several hooks
            handles[when][number] = node.register_prehook(hook) if when == "before" else node.register_hook(hook)

    for number, (when, action) in enumerate(hooks):
        add(number, when, action)
    edges = [edge for edge in node.next_functions if edge[0] is not None]
    answers, histories = [], []

    def again():
        gradients = call(results, node, edges, grads, keep, recorded)
        histories.append([grad is not None and grad.requires_grad for grad in gradients])
        return [*map(plain, gradients)]

    for _ in range(2):
        answers.append(outcome(attempt(again)))
    return {"calls": answers, "can be differentiated": histories, "hooks": log}


@program(
    "autograd.engine.call_function",
    cases=drawn(
        operator=list(CALLS), shapes=[[[3], [3]], [[3, 3], [3]], [[1, 3], [3, 1]]],
        given=[[True], [True], [True, False], [False, True]],
        hooks=several(listed(["before", "after"], ["look"] + ["double"] * 3 + list(ACTIONS) + OF_HOOKS), 0, 3), keep=bool,
        recorded=[False, False, True],
    ),
    edges=[
        {"operator": operator, "shapes": [[3, 3], [3]], "given": given, "hooks": hooks, "keep": retain, "recorded": recorded}
        for operator in CALLS
        for given, hooks, retain, recorded in (
            ([True], [], True, False), ([True], [["before", "look"], ["after", "look"]], False, False),
            ([False, True], [["after", "double"], ["before", "double"], ["after", "look"]], True, False),
            ([True], [], True, True),
        )
    ]
    + [
        {"operator": operator, "shapes": [[1, 3], [3, 1]], "given": [True], "hooks": hooks, "keep": False, "recorded": False}
        for operator in ("add", "mul")
        for hooks in (
            [["before", "double"], ["before", "double"]], [["after", "double"], ["after", "double"]],
            [["before", "drop"], ["after", "look"]], [["after", "drop"], ["after", "look"]],
            *([[when, action]] for when in ("before", "after") for action in ACTIONS),
            *([[w, action], [w, "double"], [w, "look"]] for w in ("before", "after") for action in OF_HOOKS),
        )
    ],
    show=_call_as_code,
    hint=_about_calls,
)  # fmt: skip
def calling(xp, **case):
    def call(results, node, edges, grads, keep, recorded):
        with grad_mode(xp, recorded):
            answers = xp.engine.call_function(node, (tuple if keep else list)(grads), keep)
        assert isinstance(answers, (list, tuple)), f"the gradients are in a {type(answers).__name__}"
        return [grad for grad, edge in zip(answers, node.next_edges) if edge.node is not None]

    return called(xp, call, lambda node, name: xp.graph.unpack(node, getattr(node, f"saved_{name}")), **case)


@calling.oracle
def _(torch, **case):
    def call(results, node, edges, grads, keep, recorded):
        pairs = [(result, grad) for result, grad in zip(results, grads) if grad is not None]
        ends = [torch.autograd.graph.GradientEdge(*edge) for edge in edges]
        outputs, grads = zip(*pairs)
        return torch.autograd.grad(outputs, ends, grads, retain_graph=keep, create_graph=recorded, allow_unused=True)

    return called(torch, call, lambda node, name: getattr(node, f"_saved_{name}"), **case)


# A backward pass -----------------------------------------------------------------------------------------------------


def ask(xp, values, roots, how, ends, retain, create):
    """Gradients of the roots: for all leaves or only for the values `ends`, accumulated or returned."""
    roots, ends = ([values[index % len(values)] for index in indices] for indices in (roots, ends))
    grads = [(xp.ones_like(x) * (i + 1)).requires_grad_() for i, x in enumerate(roots)]
    if how in ("grad", "grad of all"):
        unused = how == "grad"
        gradients = xp.autograd.grad(roots, ends, grads, retain_graph=retain, create_graph=create, allow_unused=unused)
        return [*map(plain, gradients)], list(gradients)
    inputs = {"inputs": ends} if how == "inputs" else {}
    xp.autograd.backward(roots, grads, retain_graph=retain, create_graph=create, **inputs)
    gradients = [x.grad for x in values if x.requires_grad and (x.is_leaf or x.retains_grad)]
    return [*map(plain, gradients)], gradients


def interrupt(grad):
    raise Interrupt


TENSOR_ACTIONS = {
    "look": lambda grad: None, "double": lambda grad: grad * 2, "zero": lambda grad: grad * 0,
    "drop": lambda grad: None, "number": lambda grad: 2.0, "sizes": lambda grad: grad.unsqueeze(0),
    "interrupt": interrupt,
}  # fmt: skip


def add_hook(xp, values, log, number, kind, index, action):
    """Add a hook to a tensor or to its node. Returns nothing."""
    x, on_node = values[index % len(values)], ACTIONS.get(action, ACTIONS["look"])

    def of_tensor(grad):
        log.append({"hook": number, "on a tensor": plain(grad), "grad mode": xp.is_grad_enabled()})
        return None if grad is None else TENSOR_ACTIONS[action](grad)

    def accumulated(x):
        log.append({"hook": number, "after accumulating": plain(x.grad)})

    def before(grads):
        log.append({"hook": number, "before a node": [*map(plain, grads)]})
        return on_node(grads)

    def after(grads, outer):
        log.append({"hook": number, "after a node": [*map(plain, grads)], "that had": [*map(plain, outer)]})
        return on_node(grads)

    if kind in ("tensor", "removed"):
        handle = x.register_hook(of_tensor)
        if kind == "removed":
            handle.remove()
    elif kind == "retain":
        x.retain_grad()
    elif kind == "accumulated":
        x.register_post_accumulate_grad_hook(accumulated)
    elif x.grad_fn is not None:
        x.grad_fn.register_prehook(before) if kind == "before" else x.grad_fn.register_hook(after)


def executions(st):
    kinds = ["tensor", "tensor", "removed", "retain", "accumulated", "before", "after"]
    hook = listed(kinds, (0, 12), ["look", "double", "double", "zero", "sizes", "drop"])
    flags = {"retain": [None, None, True, False], "create": [False, False, True]}
    programs = rooted_programs(
        how=["backward", "backward", "grad", "grad of all", "inputs"], ends=several((0, 8), 1, 3), **flags,
        hooks=several(hook, 0, 3), enabled=[True, True, True, False],
    )  # fmt: skip
    return programs(st).filter(_well_defined).map(_with_several_roots)


def _well_defined(case):
    """If only some gradients are asked for, torch's nodes pass nothing to edges without a use. A hook after a node sees it."""
    return case["how"] == "backward" or "after" not in [kind for kind, *_ in case["hooks"]]


def _with_several_roots(case):
    """For a single root torch runs the hooks even if the root's node need not run."""
    return case | {"roots": case["roots"] * 2} if case["how"] != "backward" and case["hooks"] else case


_ASKED = {"how": "backward", "ends": [0], "retain": None, "create": False, "hooks": [], "enabled": True}


def _execution(leaves, statements, roots, times=1, **asked):
    return {"leaves": leaves, "statements": statements, "times": times, "roots": roots} | _ASKED | asked


def execution_as_code(torch, leaves, statements, times, roots, how, ends, retain, create, hooks, enabled):
    page = listing_of(torch, leaves, statements, times)
    for kind, index, action in hooks:
        if kind not in ("before", "after") or page.values[index % len(page.values)].grad_fn is not None:
            page.lines.append(_hook_as_code(page.name(index), kind, action))
    grads = ", ".join(f"torch.ones_like({page.name(index)}) * {i}" for i, index in enumerate(roots, 1))
    options = f"retain_graph={retain}, create_graph={create}"
    if how in ("grad", "grad of all"):
        request = f"grad({page.names(roots)}, {page.names(ends)}, [{grads}], {options}, allow_unused={how == 'grad'})"
    else:
        inputs = f", inputs={page.names(ends)}" if how == "inputs" else ""
        request = f"backward({page.names(roots)}, [{grads}], {options}{inputs})"
    call = f"torch.autograd.{request}{'  # then the same again' * (times == 1)}"
    page.lines += [call] if enabled else ["with torch.no_grad():", f"    {call}"]
    return page.text()


def _hook_as_code(x, kind, action):
    if kind == "retain":
        return f"{x}.retain_grad()"
    if kind == "accumulated":
        return f"{x}.register_post_accumulate_grad_hook(print)"
    if kind in ("tensor", "removed"):
        does = (
            "exec('raise KeyboardInterrupt')"
            if action == "interrupt"
            else expression(__name__, "TENSOR_ACTIONS", action)
        )
        hook = f"{x}.register_hook(lambda grad: {does})"
        return hook + ".remove()" * (kind == "removed")
    does = expression(__name__, "ACTIONS", action if action in ACTIONS else "look")
    if kind == "before":
        return f"{x}.grad_fn.register_prehook(lambda grads: {does})"
    return f"{x}.grad_fn.register_hook(lambda grads, outer: {does})"


def _about_a_pass(case, mine, theirs):
    for ours, real in zip(field(mine, "passes"), field(theirs, "passes")):
        if field(ours, "raises") != field(real, "raises"):
            return None
        if isinstance(real, list) and ours != real:
            return "a pass is recorded with `create_graph`, and only then, whatever grad mode was before: also its sums"
    ours, real = (sorted(map(str, field(tree, "log"))) for tree in (mine, theirs))
    if ours == real and not difference(field(mine, "passes"), field(theirs, "passes")):
        return (
            "of the ready nodes the newest one runs first. "
            "The hooks of a tensor run before its node, whether the node runs or not"
        )
    if case["how"] in ("backward", "inputs"):
        return "a node and its hooks run once, when a gradient or None has arrived along each of its edges"
    return "`captures` says which gradients are wanted, and so which nodes run"


@program(
    "autograd.engine.execute",
    cases=executions,
    show=execution_as_code,
    edges=[edge | _ASKED for edge in ROOTED]
    + [
        _execution([LEAF, LEAF], statements, [-1], **options)
        for statements in (DIAMOND, TWO_LEAVES)
        for options in (
            {"retain": True}, {"create": True}, {"create": True, "retain": False}, {"how": "grad"},
            {"how": "grad", "ends": [0, 1, 2]}, {"how": "grad of all", "ends": [0, 1, 2]},
            {"how": "grad", "ends": [0, 2], "hooks": [["tensor", 2, "double"]]},
            {"how": "inputs", "ends": [2], "hooks": [["tensor", 2, "double"]]}, {"hooks": [["retain", 2, ""]]},
            {"how": "grad", "ends": [2, 2, 3]}, {"how": "grad", "ends": [-1]},
            {"how": "grad", "ends": [3], "retain": True}, {"how": "grad", "ends": [0, 2], "create": True},
            {"how": "inputs"}, {"how": "inputs", "ends": [0, 1], "create": True},
            {"hooks": [["tensor", 2, "double"], ["retain", 2, ""], ["tensor", 2, "double"]]},
            {"hooks": [["before", 2, "double"], ["tensor", 2, "look"], ["after", 2, "double"], ["retain", 2, ""]]},
            {"hooks": [["tensor", 0, "double"], ["accumulated", 0, ""], ["tensor", 0, "look"]]},
            {"hooks": [["removed", 2, "double"], ["tensor", 3, "zero"]]}, {"hooks": [["tensor", 2, "sizes"]]},
            {"hooks": [["tensor", 2, "interrupt"]], "retain": True},
            {"how": "grad", "ends": [2], "hooks": [["tensor", 2, "double"], ["before", 2, "look"], ["retain", 2, ""]]},
            {"how": "grad", "ends": [0], "hooks": [["tensor", 0, "double"], ["accumulated", 0, ""]]},
            {"hooks": [["after", 2, "drop"]]}, {"enabled": False}, {"enabled": False, "create": True},
            {"enabled": False, "how": "grad"}, {"enabled": False, "hooks": [["tensor", 2, "number"]]},
        )
    ]
    + [
        _execution([LEAF, ROW], do("add 0 1, mul 1 2"), [3]), _execution([LEAF, FIXED], do("add 0 1, float32 2"), [3]),
        _execution([LEAF], do("float32 0, mul 0 1"), [2]), _execution([LEAF], do("max 0, split 0, mul 1 3"), [6, 3]),
        _execution([LEAF], do("unbind 0, mul 1 2"), [4]),
        _execution([LEAF], do("expand 0, t 1, slice 2, first 3"), [4, 2]),
        _execution([LEAF], do("split 0, mul 1 2"), [4], how="grad", ends=[1, 2]),
        _execution([LEAF], do("split 0, mul 1 2"), [4], how="grad", ends=[0, 1, 2]),
        _execution([LEAF], do("split 0, double 1"), [4], how="grad of all", ends=[1, 2]),
        _execution([LEAF], do("split 0, double 1"), [4], how="grad of all", ends=[0, 1]),
        _execution([LEAF, LEAF], do("add 0 1"), [1, 0, 2], hooks=[["tensor", 1, "look"]]),
        _execution([LEAF, LEAF], do("neg 0, neg 1"), [2, 3], how="grad", hooks=[["tensor", 3, "look"]]),
        _execution([LEAF, LEAF], [], [0, 1]), _execution([LEAF], do("neg 0"), [1, 1], how="grad", ends=[1]),
        _execution([LEAF], do("neg 0"), [1, 1], how="grad", ends=[1], create=True, enabled=False),
        _execution([LEAF], do("double 0, neg 0, add 1 2"), [3], hooks=[["after", 1, "drop"]]),
        _execution([LEAF], do("neg 0, double 1, mul 1 2"), [3], hooks=[["after", 2, "drop"]]),
        _execution([LEAF], do("neg 0, neg 1"), [2], hooks=[["after", 2, "drop"], ["tensor", 1, "look"]]),
        _execution([FIXED], do("neg 0"), [1]), _execution([LEAF], do("neg 0, detach 1"), [2]),
        _execution([LEAF], do("add 0 0, add 0 0"), [1, 2]), _execution([LEAF, LEAF], do("add 0 1"), [2]),
        _execution([LEAF, LEAF], do("mul 0 1, neg 2, neg 2, add 4 3"), [5, 3], how="grad", ends=[2, 1]),
    ],
    hint=_about_a_pass,
)  # fmt: skip
def executed(xp, leaves, statements, times, roots, how, ends, retain, create, hooks, enabled):
    values, log = run_repeatedly(xp, leaves, statements, times), []
    added = [attempt(add_hook, xp, values, log, i, *hook) for i, hook in enumerate(hooks)]
    graph = Graph(*(x.grad_fn for x in values))
    for i, node in enumerate(graph.nodes):
        if node_name(node) != "AccumulateGrad":  # if several can run, their order is free
            node.register_prehook(lambda grads, i=i: log.append({"runs": i}))
    answers, modes = [], []
    for _ in range(2 if times == 1 else 1):
        with grad_mode(xp, enabled):
            try:
                answer = attempt(ask, xp, values, roots, how, ends, retain, create)
            except Interrupt:
                answer = "interrupted"
            modes.append(xp.is_grad_enabled())
        answers.append(outcome(answer if isinstance(answer, str) else answer[0]))
        if not isinstance(answer, str):
            answers.append([grad is not None and grad.requires_grad for grad in answer[1]])
        if create and not isinstance(answer, str) and not {"first", "slice"} & {name for name, *_ in statements}:
            answers.append(differentiated_again(xp, values, answer[1]))
    log = _apart_from_leaves(values, hooks, log[:300])
    return {"passes": answers, "hooks": added, "log": log, "grad mode afterwards": modes}


def _apart_from_leaves(values, hooks, log):
    """The log. If several leaves have hooks, theirs come last, by leaf, because the order of the leaves is free."""
    places = [index % len(values) for _, index, _ in hooks]
    leaves = {place for place in places if values[place].grad_fn is None}
    last = [entry for entry in log if "hook" in entry and places[entry["hook"]] in leaves] if len(leaves) > 1 else []
    return [entry for entry in log if entry not in last] + sorted(last, key=lambda entry: places[entry["hook"]])


def differentiated_again(xp, values, found):
    grads = [grad for grad in found if grad is not None and grad.requires_grad]
    inputs = [x for x in values if x.is_leaf and x.requires_grad]
    twice = [xp.ones_like(grad) for grad in grads]
    second = grads and xp.autograd.grad(grads, inputs, twice, retain_graph=True, allow_unused=True)
    return {"that can be differentiated": len(grads), "differentiated again": [*map(plain, second)]}
