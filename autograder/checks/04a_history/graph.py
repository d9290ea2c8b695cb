"""The graph: histories, edges, saved tensors, and refused writes."""

from __future__ import annotations

import ast
import re
from contextlib import nullcontext

from ...engine.check import program
from ..cases import (
    attempt,
    breaking,
    drawn,
    explained,
    field,
    first_apart,
    is_torch,
    listed,
    no_cases,
    rows,
    several,
    when,
)
from ..listing import expression
from ..shared_04 import (
    ANY,
    FIXED,
    FLAGS,
    LEAF,
    ROW,
    VIEWS,
    Graph,
    as_code,
    described,
    do,
    drawn_leaves,
    drawn_statements,
    drawn_writes,
    grad_mode,
    graph_of,
    listing_of,
    node_name,
    operate,
    outcome,
    plain,
    start,
)

# Edges ---------------------------------------------------------------------------------------------------------------

WRITTEN = ["written quietly", "written", "filled"]  # without being recorded, with a new history, from a value with one


def write(xp, values, how, index):
    """Write to a value. On rushlight the new history is set by hand, because the student writes its check later."""
    x = values[index % len(values)]
    if not x.dtype.is_floating_point:
        return
    if how == "filled" and not x.requires_grad and x._base is None and values[0].requires_grad:
        write_with_history(xp, x, values[0].sum())
        return
    if not x.requires_grad or how == "written quietly":
        with grad_mode(xp, False):
            x.add_(0.5)
        return
    if x.grad_fn is None or x._base is not None:
        return
    if is_torch(xp):
        x.neg_()
        return
    edge = xp.graph.gradient_edge(x)
    with grad_mode(xp, False):
        x.neg_()
    node = xp.variable_type.NegBackward0()
    node.next_edges = [edge]
    xp.history.rebase_history(x, node)


def write_with_history(xp, x, y):
    """Add a value with a history to a value without one."""
    if is_torch(xp):
        x.add_(y)
        return
    node = xp.variable_type.AddBackward0()
    node.next_edges = [xp.graph.NO_EDGE, xp.graph.gradient_edge(y)]
    with grad_mode(xp, False):
        x.add_(y)
    xp.history.rebase_history(x, node)


def run_with_writes(xp, leaves, statements):
    values = start(xp, leaves)
    for name, *indices in statements:
        (write if name in WRITTEN else operate)(xp, values, name, *indices)
    return values


def with_writes_as_code(torch, leaves, statements):
    """A case as code. A write that was not made has no line."""

    def written(page, name, *indices):
        if name not in WRITTEN:
            return False
        x, named = page.values[indices[0] % len(page.values)], page.name(indices[0])
        version, node, requires_grad = x._version, x.grad_fn, x.requires_grad
        write(torch, page.values, name, *indices)
        if x.requires_grad and not requires_grad:
            page.lines.append(f"{named}.add_({page.name(0)}.sum())")
        elif x.grad_fn is not node:
            page.lines.append(f"{named}.neg_()")
        elif x._version != version:
            page.lines += ["with torch.no_grad():", f"    {named}.add_(0.5)"]
        return True

    page = listing_of(torch, leaves, statements, special=written)
    page.add(f"torch.nn.Parameter({page.name(0)}.detach())", with_parameter(torch, page.values)[-1])
    named = ", ".join(map(page.name, range(len(page.values))))
    page.lines += ["with torch.no_grad():", f"    edges = [gradient_edge(x) for x in [{named}]]"]
    page.lines.append(f"edges += [gradient_edge(x) for x in [{named}, None, 2.5, 'x']]")
    return page.text()


def statements_with_writes(st):
    some = st.one_of(drawn_statements(st, ANY, 3), several(listed(WRITTEN, (0, 12)), 0, 1)(st))
    return st.lists(some, max_size=4).map(lambda some: sum(some, []))


def with_parameter(xp, values):
    """The values, and a leaf of a subclass of Tensor."""
    return [*values, xp.nn.Parameter(values[0].detach())]


def edges_shown(values, nodes, numbers):
    """Edges by the indices of their nodes, their graph, and which values are leaves that an `AccumulateGrad` holds."""
    graph = Graph(*nodes)
    held = [node.variable for node in nodes if node is not None and node_name(node) == "AccumulateGrad"]
    leaves = [[any(x is variable for variable in held), x.requires_grad and x.is_leaf] for x in values]
    edges = [[graph.index(node), number] for node, number in zip(nodes, numbers)]
    return {"edges": edges, "graph": graph.shown(), "leaves": leaves}


@program(
    "autograd.graph.gradient_edge",
    cases=drawn(leaves=drawn_leaves, statements=statements_with_writes),
    show=with_writes_as_code,
    edges=rows(
        "leaves statements",
        ([LEAF], []), ([FIXED], []), ([LEAF], do("neg 0")), ([LEAF], do("mul 0 0")),
        ([LEAF, ROW], do("add 0 1, mul 1 2")), ([LEAF, FIXED], do("add 0 1")), ([LEAF], do("max 0, neg 1")),
        ([LEAF], do("split 0, add 2 3")), ([LEAF], do("unbind 0, mul 3 1")), ([LEAF], do("tanh 0, detach 1, add 1 2")),
        ([LEAF], do("argmax 0, compare 0, long 0")), ([LEAF], do("t 0, first 1")),
        ([LEAF], do("clone 0, first 1, written quietly 1")), ([LEAF], do("clone 0, first 1, t 1, written 1, add 2 3")),
        ([LEAF], do("clone 0, view 1, written 1, view 2, written quietly 1")), ([LEAF], do("detach 0, first 1")),
        ([LEAF, FIXED], do("first 1, filled 1")), ([LEAF], do("split 0")), ([LEAF], do("unbind 0, neg 2")),
    ),
    hint=when(
        lambda case, mine, theirs: first_apart(mine, theirs) == "edges"
        and [node for node, _ in field(mine, "edges")] == [node for node, _ in field(theirs, "edges")],
        "an edge leads to one output of its node: its number is the value's `output_nr`",
    ),
)  # fmt: skip
def edges_of_values(xp, leaves, statements):
    values = with_parameter(xp, run_with_writes(xp, leaves, statements))
    edges = [xp.graph.gradient_edge(x) for x in [*values, None, 2.5, "x"]]
    with grad_mode(xp, False):
        edges = [xp.graph.gradient_edge(x) for x in values] + edges
    for other in (edge for edge in edges if not isinstance(edge, xp.graph.Edge)):
        raise TypeError(f"gradient_edge returns an Edge, and this is a {type(other).__name__}")
    return edges_shown(values, [edge.node for edge in edges], [edge.input_nr for edge in edges])


@edges_of_values.oracle
def _(torch, leaves, statements):
    values = with_parameter(torch, run_with_writes(torch, leaves, statements))
    edge_of = torch.autograd.graph.get_gradient_edge
    edges = [edge_of(x) if x.requires_grad else None for x in [*values, *values]] + [None] * 3
    numbers = [edge.output_nr if edge else 0 for edge in edges]
    return edges_shown(values, [edge and edge.node for edge in edges], numbers)


# Saved tensors -------------------------------------------------------------------------------------------------------

KEEP = {  # operators of one or two operands, and the names of what their nodes save
    "mul": (lambda xp, x, y: x * y, ["self", "other"]), "div": (lambda xp, x, y: x / y, ["self", "other"]),
    "mm": (lambda xp, x, y: x.mm(y), ["self", "mat2"]), "sin": (lambda xp, x, y: x.sin(), ["self"]),
    "exp": (lambda xp, x, y: x.exp(), ["result"]), "tanh": (lambda xp, x, y: x.tanh(), ["result"]),
    "sigmoid": (lambda xp, x, y: x.sigmoid(), ["result"]), "relu": (lambda xp, x, y: x.relu(), ["result"]),
    "softmax": (lambda xp, x, y: x.softmax(1), ["result"]), "max": (lambda xp, x, y: x.max(1)[0], ["indices"]),
    "logsumexp": (lambda xp, x, y: x.logsumexp(1), ["self", "result"]),
    "second of two": (lambda xp, x, y: second_of_two(xp, x), ["second"]),
}  # fmt: skip


def second_of_two(xp, x):
    """The second result of a node that saves this result."""
    if is_torch(xp):

        class Two(xp.autograd.Function):
            @staticmethod
            def forward(ctx, x):
                results = x * 2, x * 3
                ctx.save_for_backward(results[1])
                return results

        return Two.apply(x)[1]
    with grad_mode(xp, False):
        results = x * 2, x * 3
    if x.requires_grad:
        node = xp.graph.Node()
        node.next_edges = [xp.graph.gradient_edge(x)]
        node.saved_second = xp.graph.SavedTensor(xp.history.set_history(results, node)[1], True)
    return results[1]


OPERANDS = {
    "leaf": lambda x: (x * 0.25 - 1).requires_grad_(), "computed": lambda x: (x * 0.25 - 1).requires_grad_() * 2,
    "plain": lambda x: x * 0.25 - 1, "part": lambda x: ((x * 0.25 - 1).requires_grad_() * 2).split(2)[0],
}  # fmt: skip
WRITES = {  # to these a number is added, without being recorded
    "nothing": lambda x, y, result: [], "x": lambda x, y, result: [x], "y": lambda x, y, result: [y],
    "part of x": lambda x, y, result: [x[0]], "twin of y": lambda x, y, result: [y.view(-1)],
    "result": lambda x, y, result: [result], "copy of x": lambda x, y, result: [x.clone()],
    "twice y": lambda x, y, result: [y, y],
}  # fmt: skip


def overwrite(what, *tensors):
    for target in WRITES[what](*(x.detach() for x in tensors)):
        target.add_(0.5)


def accumulator_of(x):
    return x.view(-1).grad_fn.next_functions[0][0] if x.is_leaf and x.requires_grad else None


def unpacked(xp, take, operator, kinds, written, enabled, hooks):
    """Unpack the saved tensors of a node with `take`, after a write."""
    log = []
    x, y = (OPERANDS[kind](xp.arange(4, dtype=xp.float64).reshape(2, 2) + 1) for kind in kinds)
    operate, names = KEEP[operator]

    def pack(x):
        log.append({"pack": plain(x), "requires_grad": x.requires_grad, "without grad_fn": x.grad_fn is None})
        return [x.clone()] if hooks == "copies" else x

    class Unpack(list):  # empty, and so not true
        def __call__(self, packed):
            log.append("unpack")
            return packed[0] if hooks == "copies" else packed

    with xp.autograd.graph.saved_tensors_hooks(pack, Unpack()) if hooks else nullcontext():
        result = operate(xp, x, y)
    node = result.grad_fn
    if node is None:
        return "no graph"
    overwrite(written, x, y, result)
    accumulators = accumulator_of(x), accumulator_of(y)  # which live as long as they are held
    with grad_mode(xp, enabled):
        attempts = [
            attempt(lambda name=name: saved_tensor(take(node, name), node, x, y, result, hooks)) for name in names * 2
        ]
    del accumulators
    return {"kept": {name: outcome(one, "unpacked") for name, one in zip(names * 2, attempts)}, "hooks": log}


def saved_tensor(saved, node, x, y, result, hooks):
    if saved is None:
        return None
    assert hasattr(type(saved), "grad_fn"), (
        f"unpack_saved returns a tensor or None, and this is of type {type(saved).__name__}"
    )
    accumulator = None
    if saved.requires_grad and saved.is_leaf:
        origin = saved.view(-1).grad_fn.next_functions[0][0]
        accumulator = [origin is known for known in (accumulator_of(x), accumulator_of(y))]
    return {
        "tensor": plain(saved),
        "requires_grad": saved.requires_grad,
        "output_nr": saved.output_nr if saved.requires_grad else 0,
        "grad_fn is that of the node, of x, of y": [saved.grad_fn is tensor for tensor in (node, x.grad_fn, y.grad_fn)],
        "is x, y, the result": [saved is tensor for tensor in (x, y, result)] if hooks != "copies" else None,
        "accumulator is that of x, of y": accumulator,
    }


def _saved_as_code(torch, operator, kinds, written, enabled, hooks):
    """A case as code, without an operand that it does not use."""
    operation = re.sub(r"\bxp\b", "torch", expression(__name__, "KEEP", operator))
    targets = ast.parse(expression(__name__, "WRITES", written), mode="eval").body.elts
    used = {
        node.id for part in (ast.parse(operation), *targets) for node in ast.walk(part) if isinstance(node, ast.Name)
    }
    lines = ["import torch", "", "numbers = torch.arange(4, dtype=torch.float64).reshape(2, 2) + 1"]
    for name, kind in zip("xy", kinds):
        made = re.sub(r"\bx\b", "numbers", expression(__name__, "OPERANDS", kind))
        lines += [f"{name} = {made}"] if name in used else []
    hook = {
        "copies": "lambda x: [x.clone()], lambda packed: packed[0]",
        "as it is": "lambda x: x, lambda packed: packed",
    }
    lines += [f"with torch.autograd.graph.saved_tensors_hooks({hook[hooks]}):"] if hooks else []
    lines.append("    " * bool(hooks) + f"result = {operation}")
    lines += [f"{ast.unparse(target)}.detach().add_(0.5)" for target in targets]
    lines += ["with torch.no_grad():"] * (not enabled)
    names = KEEP[operator][1]
    lines += [
        "    " * (not enabled) + f"unpack_saved(result.grad_fn.saved_{name}, result.grad_fn)" for name in names * 2
    ]
    return "\n".join(lines)


def _about_saved(case, mine, theirs):
    own, right = ([field(pair[1], "unpacked") for pair in field(given, "kept")["dict"]] for given in (mine, theirs))
    lacks = any(
        field(one, "requires_grad") is False and field(other, "requires_grad") for one, other in zip(own, right)
    )
    if lacks and case["hooks"]:
        return "the result of a hook has no history: `with_edge` gives it one, for an input with the edge `saved.edge`"
    return None


@program(
    "autograd.graph.unpack_saved",
    hint=_about_saved,
    cases=drawn(
        operator=list(KEEP), kinds=several(list(OPERANDS), 2, 2), written=list(WRITES), enabled=[True, True, False],
        hooks=["", "", "", "as it is", "copies"],
    ),
    show=_saved_as_code,
    edges=[
        {"operator": operator, "kinds": ["leaf", "computed"], "written": written, "enabled": True, "hooks": ""}
        for operator in KEEP
        for written in ("nothing", "result")
    ]
    + rows(
        "operator kinds written enabled hooks",
        ("mul", ["leaf", "leaf"], "x", True, ""), ("mul", ["leaf", "plain"], "y", True, ""),
        ("mul", ["leaf", "plain"], "twin of y", True, ""), ("mul", ["leaf", "plain"], "twice y", False, ""),
        ("mul", ["leaf", "plain"], "copy of x", True, ""), ("mm", ["leaf", "leaf"], "part of x", True, ""),
        ("exp", ["leaf", "plain"], "nothing", False, ""), ("exp", ["leaf", "plain"], "x", False, ""),
        ("mul", ["part", "part"], "nothing", True, ""), ("mul", ["leaf", "computed"], "nothing", True, "as it is"),
        ("mul", ["leaf", "computed"], "nothing", True, "copies"), ("mul", ["leaf", "plain"], "y", True, "as it is"),
        ("mul", ["leaf", "plain"], "nothing", True, "as it is"), ("mul", ["leaf", "leaf"], "y", True, "copies"),
        ("mul", ["part", "leaf"], "y", False, "copies"), ("exp", ["leaf", "plain"], "nothing", True, "as it is"),
        ("exp", ["leaf", "plain"], "result", True, "copies"), ("max", ["leaf", "plain"], "nothing", True, "copies"),
        ("logsumexp", ["computed", "plain"], "result", True, "as it is"),
        ("second of two", ["computed", "plain"], "nothing", True, "as it is"),
        ("second of two", ["leaf", "plain"], "result", True, "copies"),
    ),
)  # fmt: skip
def what_was_saved(xp, **case):
    def take(node, name):
        saved = getattr(node, f"saved_{name}")
        return None if saved is None else xp.graph.unpack_saved(saved, node)

    return unpacked(xp, take, **case)


@what_was_saved.oracle
def _(torch, **case):
    def take(node, name):
        return node.saved_tensors[0] if name == "second" else getattr(node, f"_saved_{name}")

    return unpacked(torch, take, **case)


# Refused writes ------------------------------------------------------------------------------------------------------


@program(
    "autograd.history.check_inplace",
    cases=drawn(leaves=drawn_leaves, statements=drawn_writes),
    show=as_code,
    edges=rows(
        "leaves statements",
        ([LEAF], do("double_ 0")), ([LEAF], do("quietly double_ 0")), ([FIXED], do("double_ 0")),
        ([FIXED, ROW], do("add_ 0 1, double_ 0")), ([FIXED, ROW], do("view 0, add_ 2 1, double_ 0")),
        ([LEAF], do("t 0, double_ 1")), ([LEAF], do("first 0, view 1, double_ 2")),
        ([LEAF], do("t 0, quietly double_ 1, neg 1")), ([LEAF], do("detach 0, double_ 1")),
        ([LEAF], do("split 0, double_ 1")), ([LEAF], do("clone 0, double_ 1, tanh_ 1")),
        ([LEAF], do("clone 0, t 1, double_ 2, neg 1")), ([LEAF], do("clone 0, split 1, double_ 2")),
        ([LEAF], do("clone 0, split 1, quietly double_ 2")), ([LEAF], do("clone 0, unbind 1, add_ 3 2")),
        ([LEAF], do("clone 0, unbind 1, t 2, double_ 5")), ([LEAF], do("clone 0, unbind 1, double_ 1, neg 2")),
        ([LEAF], do("clone 0, max 1, double_ 2, double_ 3")),
        ([[[3, 3], False], [[3, 1], True]], do("split 0, add_ 2 1")),
        ([[[3, 3], False], LEAF], do("split 0, double_ 2")),
        ([LEAF, ROW], do("clone 0, first 2, add_ 3 1, first 2, mul_ 4 1")),
        ([LEAF], do("clone 0, expand 1, double_ 2")), ([LEAF, LEAF], do("quietly t 0, add_ 2 1")),
        ([LEAF, LEAF], do("quietly first 0, quietly unsqueeze 2, mul_ 3 1")),
        ([LEAF], do("clone 0, quietly t 1, double_ 2")),
        *(([[[3, 3], False], ROW], do(f"{how} {then}")) for how in ("quietly", *FLAGS) for then in (
            "first 0, add_ 2 1", "first 0, double_ 2", "first 0, quietly add_ 2 1", "first 0, view 2, add_ 3 1",
            "t 0, first 2, add_ 3 1", "first 0, add_ 0 1, double_ 2",
        )),
        *(([LEAF], do(f"clone 0, {how} t 1, {then}")) for how in FLAGS for then in ("double_ 2", "quietly double_ 2")),
        *(([[[3, 3], False], LEAF], do(f"first 0, add_ 0 1, {then}, neg 2"))
          for then in ("double_ 2", "add_ 2 1", "neg 2, double_ 2", "first 2, double_ 2", "first 2, double_ 3")),
    ),
    hint=explained(
        written="of the tensors that require grad, these refuse a write: a leaf, a view of a leaf, and a view without a node, "
        "whose base was written to. A view whose `_creation_meta` is not DEFAULT refuses it in any case"
    ),
)  # fmt: skip
def writing(xp, leaves, statements):
    values, written = start(xp, leaves), []
    for statement in statements:
        written.append(operate(xp, values, *statement))
    if any(name.partition(" ")[2] in VIEWS for name, *_ in statements):
        values = values[: len(leaves)]  # torch changes a view with a flag even if it refuses the write
    written = [tensor for tensor in written if tensor is not None]
    shown = [outcome(attempt(lambda x=x: described(x)), "tensor") for x in values]
    graph, nodes = graph_of(values)
    indices = [node if isinstance(node, str) else graph.index(node) for node in nodes]
    return {"written": written, "values": shown, "grad_fn": indices, "graph": graph.shown()}


# Cases of a student --------------------------------------------------------------------------------------------------

BREAKS, BODIES = "course.breaks.breaks_check_inplace", "04a.check_inplace"
STEPS = {
    "view in no_grad": "quietly view",
    "view in inference mode": "inferring view",
    "view in a Function": "custom view",
}


@program(f"{BREAKS}.half", cases=no_cases, edges=[{}], examine=breaking(BODIES, "1/2"))
def breaks_half(xp):
    return xp.breaks.breaks_check_inplace()


@program(f"{BREAKS}.most", cases=no_cases, edges=[{}], examine=breaking(BODIES, "3/4"))
def breaks_most(xp):
    return xp.breaks.breaks_check_inplace()


@program(BREAKS, cases=no_cases, edges=[{}], examine=breaking(BODIES, "1"))
def breaks_check_inplace(xp, **case):
    """The cases, or what becomes of one of them."""
    return writes(xp, **case) if case else xp.breaks.breaks_check_inplace()


@breaks_check_inplace.oracle
def _(torch, **case):
    return writes(torch, **case)


def writes(xp, requires_grad, steps):
    """The first write that is refused, with the error, and whether the memory has changed before the error. Each step goes on
    from the result of the last one."""
    x, weight = start(xp, [[[3, 3], requires_grad], [[], True]])
    for number, step in enumerate([*steps, "write"]):
        if step.startswith("write"):
            target = x if step != "write to the base" or x._base is None else x._base
            version = target._version
            with grad_mode(xp, step != "write in no_grad"):
                said = attempt(lambda target=target: target.add_(weight) is target)
            if said is not True:
                return {"refused": number, "error": said, "too late": target._version != version}
        else:
            operate(xp, made := [x], STEPS.get(step, step), 0)
            x = made[1]
    return "all are written"
