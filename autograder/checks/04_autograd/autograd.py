"""Lab 04: autograd.

Most cases hold a small program: a list of statements, each an operation and the places of its operands among the values so
far. Run on both frameworks it leaves two graphs, which are compared node for node. A piece that students write before the
engine is called by itself; torch's answer then comes from what its graphs show of themselves: `next_functions`, what nodes
saved, and hooks that tell which nodes ran.
"""

from __future__ import annotations

from collections import Counter
from contextlib import contextmanager, nullcontext

from ...check import program
from ..cases import sizes, tensor

# What both sides need ------------------------------------------------------------------------------------------------


def is_torch(xp):
    return xp.__name__ == "torch"


def fresh(x):
    """What a case describes, as a tensor of its own: small numbers, the same order of dimensions in memory."""
    return x * 0.25 - 1


def leaf(x):
    return fresh(x).requires_grad_()


def plain(x):
    """A tensor as it is shown: what it holds now, without its history, row by row."""
    return None if x is None else x.detach().reshape(-1).clone().reshape(x.shape)


def as_it_lies(x):
    """The same with its strides, where it has no gaps."""
    return None if x is None else x.detach().clone()


def attempt(run):
    """What a call returns, or the error that it raises."""
    try:
        return run()
    except (RuntimeError, ValueError, TypeError, IndexError, KeyError) as error:
        if isinstance(error, (NotImplementedError, RecursionError)):
            raise
        return f"raises {next(each for each in type(error).__mro__ if each.__module__ == 'builtins').__name__}"


def outcome(found, name="gradients"):
    """The same in two fields, so that a difference can say which of the two it is in."""
    raised = isinstance(found, str)
    return {"raises": found.removeprefix("raises ") if raised else None, name: None if raised else found}


@contextmanager
def grad_mode(xp, enabled):
    before = xp.is_grad_enabled()
    xp.set_grad_enabled(enabled)
    try:
        yield
    finally:
        xp.set_grad_enabled(before)


def short(node):
    return node.name().removeprefix("torch::autograd::")


def field(tree, name):
    """For hints: a field of what a program returned, None where it returned no fields."""
    return dict(tree["dict"]).get(name) if isinstance(tree, dict) and "dict" in tree else None


class Graph:
    """The nodes that can be reached, numbered as they are found, and held, so that each stays the one that it is."""

    def __init__(self, *roots):
        self.nodes, self.places = [], {}
        for root in roots:
            self.add(root)

    def add(self, root):
        waiting = [root]
        while waiting:
            node = waiting.pop()
            if node is None or node in self.places:
                continue
            self.places[node] = len(self.nodes)
            self.nodes.append(node)
            waiting += [successor for successor, _ in reversed(node.next_functions)]

    def place(self, node):
        return None if node is None else self.places.get(node, "another node")

    def shown(self):
        """For each node its name and its edges."""
        return [[short(node), [[self.place(n), i] for n, i in node.next_functions]] for node in self.nodes]


# Programs ------------------------------------------------------------------------------------------------------------
#
# All sizes are 3 or 1, of at most two dimensions, so that any two values broadcast.


def _parts(x):
    return x.split(1, -1) if x.dim() else (x,)


UNARY = {
    "neg": lambda xp, x: -x,
    "double": lambda xp, x: x * 2,
    "shift": lambda xp, x: x + 0.5,
    "sigmoid": lambda xp, x: x.sigmoid(),
    "tanh": lambda xp, x: x.tanh(),
    "abs": lambda xp, x: x.abs(),
    "relu": lambda xp, x: x.relu(),
    "clone": lambda xp, x: x.clone(),
    "sum": lambda xp, x: x.sum(),
    "row": lambda xp, x: x.mean(0, True) if x.dim() else x.mean(),
    "float32": lambda xp, x: x.to(xp.float32),
    "softmax": lambda xp, x: x.softmax(-1),
}
SEVERAL = {
    "max": lambda xp, x: x.max(-1),
    "split": lambda xp, x: _parts(x),
    "unbind": lambda xp, x: x.unbind(0) if x.dim() else (x,),
}
VIEWS = {
    "t": lambda xp, x: x.t(),
    "first": lambda xp, x: x[0] if x.dim() else x.view(1),
    "slice": lambda xp, x: x[-1:] if x.dim() else x.view(1),
    "expand": lambda xp, x: x.expand(3, 3),
    "unsqueeze": lambda xp, x: x.unsqueeze(0) if x.dim() < 2 else x.transpose(0, 1),
    "view": lambda xp, x: x.view(x.shape),
}
BINARY = {
    "add": lambda xp, x, y: x + y,
    "sub": lambda xp, x, y: x - y,
    "mul": lambda xp, x, y: x * y,
    "div": lambda xp, x, y: x / (y * y + 1),
    "maximum": lambda xp, x, y: xp.maximum(x, y),
    "where": lambda xp, x, y: xp.where(x > y, x, y),
}
CUT = {
    "detach": lambda xp, x: x.detach(),
    "argmax": lambda xp, x: x.argmax(-1),
    "compare": lambda xp, x: x > 0,
    "long": lambda xp, x: x.long(),
}
OPERATIONS = UNARY | SEVERAL | VIEWS | BINARY | CUT


def operate(xp, values, name, *places):
    """Do one statement; its results join the values."""
    operands = [values[place % len(values)] for place in places]
    result = OPERATIONS[name](xp, *operands)
    values.extend(result if isinstance(result, (list, tuple)) else [result])


def start(xp, leaves):
    """The first values of a program: sizes of each, and whether it requires grad."""
    values = []
    for number, (shape, wanted) in enumerate(leaves):
        count = 3 ** sum(size == 3 for size in shape)
        x = xp.arange(count, dtype=xp.float64).reshape(shape) * 0.25 + (0.5 * number - 1)
        values.append(x.requires_grad_(wanted))
    return values


def run(xp, leaves, statements):
    values = start(xp, leaves)
    for statement in statements:
        operate(xp, values, *statement)
    return values


LEAF = [[3, 3], True]
SHAPES = ([3, 3], [3], [1, 3], [3, 1], [])


def _leaves(st, most=3):
    one = st.tuples(st.sampled_from(SHAPES), st.sampled_from([True, True, True, False])).map(list)
    return st.lists(one, min_size=1, max_size=most)


def _statements(st, names, most=8):
    place = st.integers(0, 12)
    kinds = []
    for name in names:
        count = 2 if name in BINARY else 1
        kinds.append(st.tuples(st.just(name), *[place] * count).map(list))
    return st.lists(st.one_of(kinds), max_size=most)


DIFFERENTIABLE = [*UNARY, *SEVERAL, *VIEWS, *BINARY, *BINARY]
ANY = [*DIFFERENTIABLE, *CUT]


# History -------------------------------------------------------------------------------------------------------------

RESULTS = {  # operators of one argument; where a result is a floating one without a history, which results have one
    "exp": (lambda xp, x: xp.exp(x), None),
    "sum": (lambda xp, x: xp.sum(x), None),
    "t": (lambda xp, x: x.t(), None),
    "split": (lambda xp, x: x.split(1), None),
    "split of sizes": (lambda xp, x: x.split([1, x.shape[0] - 1]), None),
    "unbind": (lambda xp, x: x.unbind(1), None),
    "max": (lambda xp, x: x.max(1), None),
    "argmax": (lambda xp, x: x.argmax(1), None),
    "compare": (lambda xp, x: x > 0, None),
    "long": (lambda xp, x: x.long(), None),
    "half": (lambda xp, x: x.half(), None),
    "zeros_like": (lambda xp, x: xp.zeros_like(x), [False]),
    "nll_loss": (
        lambda xp, x: xp.ops.aten.nll_loss_forward(x, xp.zeros(x.shape[0]).long(), None, 1, -100),
        [True, False],
    ),
    "lu_unpack": (lambda xp, x: unpacked_factors(xp, x), [False, True, True]),
}


def unpacked_factors(xp, x):
    """A permutation, which has no derivative, and two triangular matrices, which have one: the results of `lu_unpack`."""
    rows, columns = x.shape
    least = min(rows, columns)
    if is_torch(xp):
        return xp.lu_unpack(x, xp.arange(1, least + 1, dtype=xp.int32))
    return tuple(xp.ones(sizes, dtype=x.dtype) for sizes in ((rows, rows), (rows, least), (least, columns)))


def histories(results, node):
    return [[x.grad_fn is node, x.requires_grad, x.is_leaf, x.output_nr if x.requires_grad else 0] for x in results]


@program(
    "history.set_history",
    cases=lambda st: st.fixed_dictionaries(
        {
            "shape": st.lists(st.integers(1, 4), min_size=2, max_size=2),
            "operator": st.sampled_from(list(RESULTS)),
            "kind": st.sampled_from(["float32", "float64"]),
        }
    ),
    edges=[
        {"shape": shape, "operator": name, "kind": kind}
        for name in RESULTS
        for shape, kind in (([2, 3], "float32"), ([3, 1], "float64"))
    ],
    hint=lambda case, mine, theirs: (
        "results without a derivative, integers above all, are left as they are and not counted"
        if case["operator"] in ("max", "argmax", "compare", "long", "nll_loss", "lu_unpack", "zeros_like")
        else None
    ),
)
def history_of_results(xp, shape, operator, kind):
    operator, differentiable = RESULTS[operator]
    x = xp.ones(shape, dtype=getattr(xp, kind))
    result, node = operator(xp, x), xp.graph.Node()
    returned = xp.history.set_history(result, node, *([] if differentiable is None else [differentiable]))
    results = result if isinstance(result, (list, tuple)) else [result]
    inputs = [[list(sizes), kind] for sizes, kind in node.input_metadata]
    return {"results": histories(results, node), "inputs of the node": inputs, "same": returned is result}


@history_of_results.oracle
def _(torch, shape, operator, kind):
    x = torch.ones(shape, dtype=getattr(torch, kind)).requires_grad_()
    result = RESULTS[operator][0](torch, x)
    results = result if isinstance(result, (list, tuple)) else [result]
    node = next((each.grad_fn for each in results if each.requires_grad), "none")
    inputs = [] if node == "none" else [[list(each.shape), each.dtype] for each in node._input_metadata]
    return {"results": histories(results, node), "inputs of the node": inputs, "same": True}


# Edges ---------------------------------------------------------------------------------------------------------------

WRITTEN = [
    "written quietly",
    "written",
    "filled",
]  # a value that can be written to, and whether its history is to follow


def write(xp, values, how, place):
    """Write to a value without being recorded, or with a new history, by hand: what refuses a write comes later."""
    x = values[place % len(values)]
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
    """Add what has a history to what has none."""
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
    for name, *places in statements:
        if name in WRITTEN:
            write(xp, values, name, *places)
        else:
            operate(xp, values, name, *places)
    return values


def _programs_with_writes(st):
    writes = st.tuples(st.sampled_from(WRITTEN), st.integers(0, 12)).map(list)
    statements = st.lists(st.one_of(_statements(st, ANY, 3), st.lists(writes, max_size=1)), max_size=4)
    return st.fixed_dictionaries({"leaves": _leaves(st), "statements": statements.map(lambda some: sum(some, []))})


@program(
    "graph.gradient_edge",
    cases=_programs_with_writes,
    edges=[
        {"leaves": leaves, "statements": statements}
        for leaves, statements in (
            ([LEAF], []),
            ([[[3], False]], []),
            ([LEAF], [["neg", 0]]),
            ([LEAF], [["mul", 0, 0]]),
            ([LEAF, [[3], True]], [["add", 0, 1], ["mul", 1, 2]]),
            ([LEAF, [[3], False]], [["add", 0, 1]]),
            ([LEAF], [["max", 0], ["neg", 1]]),
            ([LEAF], [["split", 0], ["add", 2, 3]]),
            ([LEAF], [["unbind", 0], ["mul", 3, 1]]),
            ([LEAF], [["tanh", 0], ["detach", 1], ["add", 1, 2]]),
            ([LEAF], [["argmax", 0], ["compare", 0], ["long", 0]]),
            ([LEAF], [["t", 0], ["first", 1]]),
            ([LEAF], [["clone", 0], ["first", 1], ["written quietly", 1]]),
            ([LEAF], [["clone", 0], ["first", 1], ["t", 1], ["written", 1], ["add", 2, 3]]),
            ([LEAF], [["clone", 0], ["view", 1], ["written", 1], ["view", 2], ["written quietly", 1]]),
            ([LEAF], [["detach", 0], ["first", 1]]),
            ([LEAF, [[3], False]], [["first", 1], ["filled", 1]]),
        )
    ],
)
def edges_of_values(xp, leaves, statements):
    values = run_with_writes(xp, leaves, statements)
    edges = [xp.graph.gradient_edge(x) for x in [*values, *values, None, 2.5, "x"]]
    graph = Graph(*(edge.node for edge in edges))
    held = [edge.node.variable for edge in edges if edge.node is not None and short(edge.node) == "AccumulateGrad"]
    leaves = [[any(x is variable for variable in held), x.requires_grad and x.is_leaf] for x in values]
    return {
        "edges": [[graph.place(edge.node), edge.input_nr] for edge in edges],
        "graph": graph.shown(),
        "leaves": leaves,
    }


@edges_of_values.oracle
def _(torch, leaves, statements):
    values = run_with_writes(torch, leaves, statements)
    edge_of = torch.autograd.graph.get_gradient_edge
    edges = [edge_of(x) if x.requires_grad else None for x in [*values, *values]] + [None] * 3
    graph = Graph(*(edge and edge.node for edge in edges))
    held = [edge.node.variable for edge in edges if edge and short(edge.node) == "AccumulateGrad"]
    leaves = [[any(x is variable for variable in held), x.requires_grad and x.is_leaf] for x in values]
    shown = [[graph.place(edge.node), edge.output_nr] if edge else [None, 0] for edge in edges]
    return {"edges": shown, "graph": graph.shown(), "leaves": leaves}


# What a node keeps ---------------------------------------------------------------------------------------------------

KEEP = {  # operators of one or two operands, and what their nodes keep
    "mul": (lambda xp, x, y: x * y, ["self", "other"]),
    "div": (lambda xp, x, y: x / y, ["self", "other"]),
    "mm": (lambda xp, x, y: x.mm(y), ["self", "mat2"]),
    "sin": (lambda xp, x, y: x.sin(), ["self"]),
    "exp": (lambda xp, x, y: x.exp(), ["result"]),
    "tanh": (lambda xp, x, y: x.tanh(), ["result"]),
    "sigmoid": (lambda xp, x, y: x.sigmoid(), ["result"]),
    "relu": (lambda xp, x, y: x.relu(), ["result"]),
    "softmax": (lambda xp, x, y: x.softmax(1), ["result"]),
    "max": (lambda xp, x, y: x.max(1)[0], ["indices"]),
    "logsumexp": (lambda xp, x, y: x.logsumexp(1), ["self", "result"]),
    "second of two": (lambda xp, x, y: second_of_two(xp, x), ["second"]),
}


def second_of_two(xp, x):
    """The second result of a node that keeps this one."""
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


OPERANDS = ["leaf", "computed", "plain", "part"]
WRITES = ["nothing", "x", "y", "part of x", "twin of y", "result", "copy of x", "twice y"]


def operand(kind, x):
    if kind == "plain":
        return fresh(x)
    return {"leaf": leaf, "computed": lambda x: leaf(x) * 2, "part": lambda x: (leaf(x) * 2).split(2)[0]}[kind](x)


def overwrite(what, x, y, result):
    """Write to something without being recorded: from now on who kept it, or what shares its memory, can tell."""
    for target in {
        "nothing": [],
        "x": [x.detach()],
        "y": [y.detach()],
        "part of x": [x.detach()[0]],
        "twin of y": [y.view(-1).detach()],
        "result": [result.detach()],
        "copy of x": [x.detach().clone()],
        "twice y": [y.detach(), y.detach()],
    }[what]:
        target.add_(0.5)


def unpacked(xp, operator, kinds, written, enabled, hooks, take):
    log = []
    x, y = (operand(kind, xp.arange(4, dtype=xp.float64).reshape(2, 2) + 1) for kind in kinds)
    operate, kept = KEEP[operator]

    def pack(x):
        log.append({"pack": plain(x), "requires_grad": x.requires_grad, "without grad_fn": x.grad_fn is None})
        return [x.clone() if hooks == "copies" else x]

    def unpack(box):
        log.append("unpack")
        return box[0]

    with xp.autograd.graph.saved_tensors_hooks(pack, unpack) if hooks else nullcontext():
        result = operate(xp, x, y)
    node = result.grad_fn
    if node is None:
        return "no graph"
    overwrite(written, x, y, result)

    def describe(name):
        saved = take(node, name)
        if saved is None:
            return None
        owner = [saved.grad_fn is other for other in (node, x.grad_fn, y.grad_fn)]
        one = [saved is other for other in (x, y, result)] if hooks != "copies" else None
        accumulator = None
        if saved.requires_grad and saved.is_leaf:
            accumulator = [saved.view(-1).grad_fn.next_functions[0][0] is each for each in (node_of(x), node_of(y))]
        return {
            "tensor": plain(saved),
            "requires_grad": saved.requires_grad,
            "output_nr": saved.output_nr if saved.requires_grad else 0,
            "grad_fn is that of the node, of x, of y": owner,
            "is x, y, the result": one,
            "accumulator is that of x, of y": accumulator,
        }

    def node_of(x):
        return x.view(-1).grad_fn.next_functions[0][0] if x.is_leaf and x.requires_grad else None

    held = node_of(x), node_of(y)  # or they would be others each time
    with grad_mode(xp, enabled):
        found = [attempt(lambda name=name: describe(name)) for name in kept]
    del held
    return {"kept": {name: outcome(one, "unpacked") for name, one in zip(kept, found)}, "hooks": log}


@program(
    "graph.unpack_saved",
    cases=lambda st: st.fixed_dictionaries(
        {
            "operator": st.sampled_from(list(KEEP)),
            "kinds": st.lists(st.sampled_from(OPERANDS), min_size=2, max_size=2),
            "written": st.sampled_from(WRITES),
            "enabled": st.sampled_from([True, True, False]),
            "hooks": st.sampled_from(["", "", "", "as it is", "copies"]),
        }
    ),
    edges=[
        {"operator": operator, "kinds": ["leaf", "computed"], "written": written, "enabled": True, "hooks": ""}
        for operator in KEEP
        for written in ("nothing", "result")
    ]
    + [
        {"operator": operator, "kinds": kinds, "written": written, "enabled": enabled, "hooks": hooks}
        for operator, kinds, written, enabled, hooks in (
            ("mul", ["leaf", "leaf"], "x", True, ""),
            ("mul", ["leaf", "plain"], "y", True, ""),
            ("mul", ["leaf", "plain"], "twin of y", True, ""),
            ("mul", ["leaf", "plain"], "twice y", False, ""),
            ("mul", ["leaf", "plain"], "copy of x", True, ""),
            ("mm", ["leaf", "leaf"], "part of x", True, ""),
            ("exp", ["leaf", "plain"], "nothing", False, ""),
            ("exp", ["leaf", "plain"], "x", False, ""),
            ("mul", ["part", "part"], "nothing", True, ""),
            ("mul", ["leaf", "computed"], "nothing", True, "as it is"),
            ("mul", ["leaf", "computed"], "nothing", True, "copies"),
            ("mul", ["leaf", "plain"], "y", True, "as it is"),
            ("mul", ["leaf", "plain"], "nothing", True, "as it is"),
            ("mul", ["leaf", "leaf"], "y", True, "copies"),
            ("mul", ["part", "leaf"], "y", False, "copies"),
            ("exp", ["leaf", "plain"], "nothing", True, "as it is"),
            ("exp", ["leaf", "plain"], "result", True, "copies"),
            ("max", ["leaf", "plain"], "nothing", True, "copies"),
            ("logsumexp", ["computed", "plain"], "result", True, "as it is"),
            ("second of two", ["computed", "plain"], "nothing", True, "as it is"),
            ("second of two", ["leaf", "plain"], "result", True, "copies"),
        )
    ],
)
def what_was_saved(xp, operator, kinds, written, enabled, hooks):
    def take(node, name):
        saved = getattr(node, f"saved_{name}")
        return None if saved is None else xp.graph.unpack_saved(saved, node)

    return unpacked(xp, operator, kinds, written, enabled, hooks, take)


@what_was_saved.oracle
def _(torch, operator, kinds, written, enabled, hooks):
    def take(node, name):
        return node.saved_tensors[0] if name == "second" else getattr(node, f"_saved_{name}")

    return unpacked(torch, operator, kinds, written, enabled, hooks, take)


# Writing in place ----------------------------------------------------------------------------------------------------


def _other(x, y):
    """What is written: never memory that is being written to."""
    return y.detach() * 1 if x.untyped_storage().data_ptr() == y.untyped_storage().data_ptr() else y


IN_PLACE = {
    "double_": lambda xp, x, y: x.mul_(2),
    "tanh_": lambda xp, x, y: x.tanh_(),
    "zero_": lambda xp, x, y: x.zero_(),
    "add_": lambda xp, x, y: x.add_(_other(x, y)),
    "mul_": lambda xp, x, y: x.mul_(_other(x, y)),
    "copy_": lambda xp, x, y: x.copy_(_other(x, y)),
}
QUIETLY = "quietly "


def write_in_place(xp, values, name, place, other=0):
    x, y = values[place % len(values)], values[other % len(values)]
    with grad_mode(xp, not name.startswith(QUIETLY)):
        return attempt(lambda: "written" if IN_PLACE[name.removeprefix(QUIETLY)](xp, x, y) is x else "another tensor")


def run_with_writing(xp, leaves, statements):
    """The values, and what became of each write."""
    values, written = start(xp, leaves), []
    for name, *places in statements:
        if name.removeprefix(QUIETLY) in IN_PLACE:
            written.append(write_in_place(xp, values, name, *places))
        else:
            operate(xp, values, name, *places)
    return values, written


def _statements_with_writing(st, most=8):
    names = [*IN_PLACE, *IN_PLACE, "quietly double_", "quietly add_"]
    write = st.tuples(st.sampled_from(names), st.integers(0, 8), st.integers(0, 8)).map(list)
    views = st.tuples(st.sampled_from([*VIEWS, "split", "unbind", "clone", "detach"]), st.integers(0, 8)).map(list)
    steps = st.one_of(write, write, views, views, _statements(st, DIFFERENTIABLE, 1))
    return st.lists(steps, max_size=most).map(
        lambda some: [each for step in some for each in ([step] if step and isinstance(step[0], str) else step)]
    )


def described(x):
    output_nr = x.output_nr if x.requires_grad else 0
    return {"requires_grad": x.requires_grad, "is_leaf": x.is_leaf, "version": x._version, "output_nr": output_nr}


@program(
    "history.check_inplace",
    cases=lambda st: st.fixed_dictionaries({"leaves": _leaves(st), "statements": _statements_with_writing(st)}),
    edges=[
        {"leaves": leaves, "statements": statements}
        for leaves, statements in (
            ([LEAF], [["double_", 0]]),
            ([LEAF], [["quietly double_", 0]]),
            ([[[3], False]], [["double_", 0]]),
            ([[[3], False], [[3], True]], [["add_", 0, 1], ["double_", 0]]),
            ([[[3], False], [[3], True]], [["view", 0], ["add_", 2, 1], ["double_", 0]]),
            ([LEAF], [["t", 0], ["double_", 1]]),
            ([LEAF], [["first", 0], ["view", 1], ["double_", 2]]),
            ([LEAF], [["t", 0], ["quietly double_", 1], ["neg", 1]]),
            ([LEAF], [["detach", 0], ["double_", 1]]),
            ([LEAF], [["split", 0], ["double_", 1]]),
            ([LEAF], [["clone", 0], ["double_", 1], ["tanh_", 1]]),
            ([LEAF], [["clone", 0], ["t", 1], ["double_", 2], ["neg", 1]]),
            ([LEAF], [["clone", 0], ["split", 1], ["double_", 2]]),
            ([LEAF], [["clone", 0], ["split", 1], ["quietly double_", 2]]),
            ([LEAF], [["clone", 0], ["unbind", 1], ["add_", 3, 2]]),
            ([LEAF], [["clone", 0], ["unbind", 1], ["t", 2], ["double_", 5]]),
            ([LEAF], [["clone", 0], ["unbind", 1], ["double_", 1], ["neg", 2]]),
            ([LEAF], [["clone", 0], ["max", 1], ["double_", 2], ["double_", 3]]),
            ([[[3, 3], False], [[3, 1], True]], [["split", 0], ["add_", 2, 1]]),
            ([[[3, 3], False], LEAF], [["split", 0], ["double_", 2]]),
            ([LEAF, [[3], True]], [["clone", 0], ["first", 2], ["add_", 3, 1], ["first", 2], ["mul_", 4, 1]]),
            ([LEAF], [["clone", 0], ["expand", 1], ["double_", 2]]),
        )
    ],
    hint=lambda case, mine, theirs: (
        "a leaf, what shows a leaf, and one of several views from one call are not written to"
    ),
)
def writing(xp, leaves, statements):
    values, written = run_with_writing(xp, leaves, statements)
    shown = [outcome(attempt(lambda x=x: described(x)), "tensor") for x in values]
    nodes = [attempt(lambda x=x: x.grad_fn) for x in values]
    graph = Graph(*(node for node in nodes if not isinstance(node, str)))
    places = [node if isinstance(node, str) else graph.place(node) for node in nodes]
    return {"written": written, "values": shown, "grad_fn": places, "graph": graph.shown()}


# Formulas ------------------------------------------------------------------------------------------------------------


def _sums(st):
    @st.composite
    def draw_case(draw):
        to = draw(sizes(st, (1, 4)))
        new = draw(st.integers(0, len(to)))
        shape = [1 if draw(st.integers(0, 2)) == 0 else size for size in to[new:]]
        order = draw(st.permutations(range(len(to))))
        strides, step = [0] * len(to), 1
        for d in order:
            strides[d] = step if draw(st.integers(0, 5)) else 0
            step *= max(to[d], 1)
        return {"grad": tensor(to, strides, draw(st.integers(0, 2)), "float64"), "sizes": shape}

    return draw_case()


@program(
    "engine.sum_to",
    cases=_sums,
    edges=[
        {"grad": tensor(to, strides, 0, "float64"), "sizes": shape}
        for to, strides, shape in (
            ([3], None, [3]),
            ([2, 3], None, [2, 3]),
            ([2, 3], None, [3]),
            ([2, 3], None, [2, 1]),
            ([2, 3], None, [1, 3]),
            ([2, 3], None, [1]),
            ([2, 3], None, []),
            ([2, 3], None, [1, 1]),
            ([1, 3], None, [3]),
            ([1, 1], None, [1]),
            ([32, 6], None, [6]),
            ([4, 1, 3], None, [1, 1]),
            ([4, 2, 3], [1, 12, 4], [3]),
            ([4, 2, 3], [1, 12, 4], [2, 1]),
            ([4, 2, 3], [0, 0, 1], [2, 3]),
            ([4, 5, 2, 3], None, [2, 3]),
            ([4, 5, 2, 3], None, [5, 1, 3]),
            ([0, 3], None, [3]),
            ([2, 0], None, [2, 1]),
            ([2, 0], None, [0]),
            ([0], None, [1]),
            ([2, 3], [1, 2], [2, 3]),
            ([1], [0], [1]),
            ([2, 1], [5, 4], [2, 1]),
            ([4, 1, 3], None, [1, 3]),
        )
    ],
    hint=lambda case, mine, theirs: (
        "a dimension that broadcasting put in front disappears; one that it stretched stays, with size 1"
        if len(case["sizes"]) < len(case["grad"]["tensor"]["sizes"])
        else None
    ),
)
def summed(xp, grad, sizes):
    result = xp.engine.sum_to(grad, sizes)
    return result, result is grad


@summed.oracle
def _(torch, grad, sizes):
    result = grad.sum_to_size(sizes)
    return result, result is grad


LAYOUTS = ["rows", "columns", "rows with gaps", "columns with gaps", "columns apart", "one row", "one number"]


def laid_out(xp, rows, columns, layout, first):
    """A matrix with the values first, first + 1/4, ... row by row, in one of the layouts; or one number everywhere."""
    if layout == "one number":
        return (xp.ones((), dtype=xp.float64) * first).expand(rows, columns)
    if layout == "one row":
        return (xp.arange(max(columns, 1), dtype=xp.float64) + first).as_strided((rows, columns), (0, 1))
    gap = 2 if layout.endswith("gaps") else 1
    strides = (columns * gap, gap) if layout.startswith("rows") else (gap, rows * gap)
    strides = (1, rows + 2) if layout == "columns apart" else strides
    values = xp.zeros((rows + 2) * (columns + 2) * gap, dtype=xp.float64).as_strided((rows, columns), strides)
    return values.copy_(xp.arange(rows * columns, dtype=xp.float64).reshape(rows, columns) * 0.25 + first)


def _products(st):
    return st.fixed_dictionaries(
        {
            "n": st.integers(0, 4),
            "k": st.integers(1, 4),
            "m": st.integers(0, 4),
            "mat1": st.sampled_from(LAYOUTS[:6]),
            "mat2": st.sampled_from(LAYOUTS[:6]),
            "grad": st.sampled_from(LAYOUTS),
            "alpha": st.sampled_from([1, 1, 2, -0.5, 0]),
        }
    )


_PRODUCTS = [
    {"n": n, "k": k, "m": m, "mat1": mat1, "mat2": mat2, "grad": grad, "alpha": alpha}
    for n, k, m, mat1, mat2, grad, alpha in (
        (2, 3, 4, "rows", "rows", "rows", 1),
        (2, 3, 4, "columns", "columns", "rows", 1),
        (2, 3, 4, "rows", "columns", "rows", 1),
        (2, 3, 4, "columns", "rows", "columns", 1),
        (2, 3, 4, "rows", "rows", "columns", 2),
        (2, 3, 4, "columns", "columns", "rows", -0.5),
        (2, 3, 4, "rows with gaps", "rows with gaps", "rows", 1),
        (2, 3, 4, "columns with gaps", "columns with gaps", "rows with gaps", 1),
        (3, 3, 3, "rows", "rows", "rows", 0),
        (3, 3, 3, "columns", "columns", "rows", 0),
        (2, 1, 3, "rows", "rows", "rows", 1),
        (2, 1, 3, "columns", "columns", "rows", 1),
        (1, 3, 1, "rows", "rows", "rows", 1),
        (1, 3, 1, "columns", "columns", "rows", 1),
        (1, 1, 1, "rows", "rows", "rows", 1),
        (1, 3, 2, "rows with gaps", "columns with gaps", "rows", 1),
        (0, 3, 2, "rows", "columns", "rows", 1),
        (2, 3, 0, "columns", "rows", "rows", 1),
        (2, 3, 4, "rows", "columns", "one number", 1),
        (2, 3, 4, "columns", "rows", "one number", 2),
        (2, 3, 4, "columns apart", "columns apart", "rows", 1),
        (1, 3, 4, "one row", "rows", "rows", 1),
        (2, 1, 4, "rows", "one row", "rows", 1),
        (2, 3, 4, "one row", "one row", "rows", 1),
        (8, 64, 600, "rows", "columns", "rows", 1),
    )
]


def product(xp, n, k, m, mat1, mat2, grad):
    """The factors of a product of n × k by k × m, and the gradient of the result."""
    return laid_out(xp, n, k, mat1, -1), laid_out(xp, k, m, mat2, 0.5), laid_out(xp, n, m, grad, -0.5)


def gradients_of_product(torch, n, k, m, mat1, mat2, grad, alpha):
    mat1, mat2, grad = product(torch, n, k, m, mat1, mat2, grad)
    result = torch.zeros((n, m), dtype=torch.float64).addmm(mat1.requires_grad_(), mat2.requires_grad_(), alpha=alpha)
    return result.grad_fn(grad.requires_grad_())[1:]


def shown_with_history(x):
    return as_it_lies(x), x.requires_grad


@program("derivatives.mm_backward_mat1", cases=_products, edges=_PRODUCTS)
def gradient_of_the_first_factor(xp, n, k, m, mat1, mat2, grad, alpha):
    mat1, mat2, grad = product(xp, n, k, m, mat1, mat2, grad)
    result = xp.derivatives.mm_backward_mat1(grad.requires_grad_(), mat2, mat1.shape, mat1.stride(), alpha)
    return shown_with_history(result)


@gradient_of_the_first_factor.oracle
def _(torch, n, k, m, mat1, mat2, grad, alpha):
    return shown_with_history(gradients_of_product(torch, n, k, m, mat1, mat2, grad, alpha)[0])


@program("derivatives.mm_backward_mat2", cases=_products, edges=_PRODUCTS)
def gradient_of_the_second_factor(xp, n, k, m, mat1, mat2, grad, alpha):
    mat1, mat2, grad = product(xp, n, k, m, mat1, mat2, grad)
    result = xp.derivatives.mm_backward_mat2(grad.requires_grad_(), mat1, mat2.shape, mat2.stride(), alpha)
    return shown_with_history(result)


@gradient_of_the_second_factor.oracle
def _(torch, n, k, m, mat1, mat2, grad, alpha):
    return shown_with_history(gradients_of_product(torch, n, k, m, mat1, mat2, grad, alpha)[1])


# The engine ----------------------------------------------------------------------------------------------------------


def _rooted_programs(st, more=None):
    places = st.lists(st.integers(0, 12), min_size=1, max_size=3)
    return st.fixed_dictionaries(
        {"leaves": _leaves(st), "statements": _statements(st, DIFFERENTIABLE), "times": st.just(1), "roots": places}
        | (more or {})
    )


def run_often(xp, leaves, statements, times):
    values = start(xp, leaves)
    for statement in statements * times:
        operate(xp, values, *statement)
    return values


def chosen(values, places):
    """The values at these places that have a gradient."""
    return [x for x in (values[place % len(values)] for place in places) if x.requires_grad]


_ROOTED = [
    ([LEAF], [], 1, [0]),
    ([LEAF], [["neg", 0]], 1, [1]),
    ([LEAF], [["neg", 0]], 1, [1, 1]),
    ([LEAF], [["mul", 0, 0]], 1, [1]),
    ([LEAF, LEAF], [["mul", 0, 1], ["neg", 2]], 1, [3]),
    ([LEAF, [[3], False]], [["mul", 0, 1], ["add", 2, 1]], 1, [3]),
    ([LEAF], [["tanh", 0], ["neg", 1], ["double", 1], ["add", 2, 3]], 1, [4]),  # a diamond
    ([LEAF], [["tanh", 0], ["neg", 1], ["add", 1, 2], ["mul", 3, 1]], 1, [4]),  # long ways and short ones
    ([LEAF], [["tanh", 0], ["neg", 1], ["double", 1]], 1, [2, 3]),
    ([LEAF], [["tanh", 0], ["neg", 1], ["double", 2]], 1, [1, 3]),  # one root before another
    ([LEAF], [["tanh", 0], ["neg", 1], ["double", 2]], 1, [3, 2, 1, 0]),
    ([LEAF], [["split", 0], ["mul", 1, 2], ["add", 4, 1]], 1, [5]),
    ([LEAF], [["split", 0], ["neg", 1]], 1, [2, 4]),
    ([LEAF], [["tanh", 0], ["neg", 1], ["double", 1], ["sum", 1]], 1, [2]),  # branches that nobody uses
    ([[[3], False], LEAF], [["mul", 0, 1], ["add", 0, 2]], 1, [3]),
    ([LEAF], [["add", -1, -1]], 40, [-1]),  # a million million ways from the root to the leaf
    ([[[], True]], [["shift", -1]], 1500, [-1]),  # too deep for recursion
]


@program(
    "engine.count_dependencies",
    cases=_rooted_programs,
    edges=[dict(zip(("leaves", "statements", "times", "roots"), edge)) for edge in _ROOTED],
    hint=lambda case, mine, theirs: "an edge counts as often as it is there, and a node's edges are counted once",
)
def dependencies(xp, leaves, statements, times, roots):
    values = run_often(xp, leaves, statements, times)
    roots = [xp.graph.gradient_edge(x).node for x in chosen(values, roots)]
    graph, found = Graph(*roots), xp.engine.count_dependencies(iter(roots))
    return [found.get(node) for node in graph.nodes], len(found)


@dependencies.oracle
def _(torch, leaves, statements, times, roots):
    values = run_often(torch, leaves, statements, times)
    graph = Graph(*(torch.autograd.graph.get_gradient_edge(x).node for x in chosen(values, roots)))
    arrive = Counter(successor for node in graph.nodes for successor, _ in node.next_functions)
    return [arrive[node] for node in graph.nodes], len(graph.nodes)


@program(
    "engine.nodes_to_execute",
    cases=lambda st: _rooted_programs(st, {"ends": st.lists(st.integers(0, 12), max_size=3)}),
    edges=[dict(zip(("leaves", "statements", "times", "roots"), edge)) | {"ends": [0]} for edge in _ROOTED]
    + [
        {"leaves": [LEAF, LEAF], "statements": statements, "times": 1, "roots": roots, "ends": ends}
        for statements, roots, ends in (
            ([["mul", 0, 1]], [2], []),
            ([["mul", 0, 1], ["neg", 2], ["tanh", 3]], [4], [2]),
            ([["mul", 0, 1], ["neg", 2], ["tanh", 3]], [4], [4]),
            ([["mul", 0, 1], ["neg", 2], ["tanh", 3]], [4], [3, 2]),
            ([["neg", 0], ["tanh", 1], ["mul", 2, 3]], [4], [0]),
            ([["neg", 0], ["tanh", 1], ["mul", 2, 3]], [4], [2]),
            ([["neg", 0], ["tanh", 1], ["mul", 2, 3]], [2], [1]),
            ([["neg", 0], ["tanh", 1], ["mul", 2, 3]], [2, 4], [1, 3]),
            ([["split", 0], ["neg", 2], ["add", 3, 1]], [6], [3]),
            ([["split", 0], ["neg", 2], ["mul", 5, 4]], [5, 6], [2, 0]),
        )
    ],
    hint=lambda case, mine, theirs: "where a gradient is only wanted, and not passed on, nothing runs",
)
def wanted(xp, leaves, statements, times, roots, ends):
    values = run_often(xp, leaves, statements, times)
    roots = [xp.graph.gradient_edge(x).node for x in chosen(values, roots)]
    ends = [xp.graph.gradient_edge(x).node for x in chosen(values, ends)]
    graph = Graph(*roots)
    found = xp.engine.nodes_to_execute(iter(ends), iter(graph.nodes))
    return [node in found for node in graph.nodes], len(found)


@wanted.oracle
def _(torch, leaves, statements, times, roots, ends):
    values = run_often(torch, leaves, statements, times)
    roots, ends, ran = chosen(values, roots), chosen(values, ends), set()
    graph = Graph(*(torch.autograd.graph.get_gradient_edge(x).node for x in roots))
    for node in graph.nodes:
        node.register_prehook(lambda grads, node=node: ran.add(node))
    if roots and ends:
        torch.autograd.grad(roots, ends, [torch.ones_like(x) for x in roots], allow_unused=True)
    return [node in ran for node in graph.nodes], len(ran)


STRIDES = ["rows", "columns", "rows with gaps", "columns with gaps"]


def matrix(xp, layout, kind="float64"):
    """A matrix of its own, no view, in one of the layouts."""
    strides = {"rows": (3, 1), "columns": (1, 2), "rows with gaps": (6, 2), "columns with gaps": (2, 4)}
    if layout == "one number":
        return xp.ones((), dtype=getattr(xp, kind)).expand(2, 3)
    return xp.empty_strided((2, 3), strides[layout], dtype=getattr(xp, kind)).fill_(1)


def accumulated(xp, variable, first, steps, add):
    """What becomes of `grad` as gradients arrive: [layout, with a history, is a graph wanted, one that came before]."""
    x, shown, given = matrix(xp, variable).requires_grad_(), [], []
    x.grad = None if first is None else matrix(xp, first)
    last, version = x.grad, None if x.grad is None else x.grad._version
    for number, (layout, history, enabled, again) in enumerate(steps):
        grad = given[again % len(given)] if again is not None and given else None
        if grad is None:
            grad = (matrix(xp, layout) * (number + 1) if layout != "one number" else matrix(xp, layout)).requires_grad_(
                history
            )
        given.append(grad)
        with grad_mode(xp, enabled):
            add(x, grad)
        own = [x.grad.data_ptr() == other.data_ptr() for other in given]
        if x.grad is last:
            own.append(x.grad._version - version)
        flags = {"requires_grad": x.grad.requires_grad, "is_leaf": x.grad.is_leaf}
        shown.append({"grad": as_it_lies(x.grad), "memory of those given, versions": own} | flags)
        last, version = x.grad, x.grad._version
    return {
        "steps": shown,
        "given": [plain(grad) for grad in given],
        "leaf": plain(x),
        "version of the leaf": x._version,
    }


def _steps(st):
    layout = st.sampled_from([*STRIDES, "one number"])
    step = st.tuples(layout, st.booleans(), st.booleans(), st.sampled_from([None, None, None, 0, 1])).map(list)
    return st.fixed_dictionaries(
        {
            "variable": st.sampled_from(STRIDES),
            "first": st.sampled_from([None, None, *STRIDES]),
            "steps": st.lists(step, min_size=1, max_size=3),
        }
    )


@program(
    "graph.accumulate",
    cases=_steps,
    edges=[
        {"variable": variable, "first": first, "steps": steps}
        for variable, first, steps in (
            ("rows", None, [["rows", False, False, None]]),
            ("rows", None, [["rows", False, False, None], ["rows", False, False, None]]),
            ("rows", None, [["rows", False, False, None], ["rows", False, False, 0]]),
            ("rows", None, [["rows", False, True, None], ["rows", False, True, None]]),
            ("rows", None, [["rows", True, True, None], ["rows", True, True, None]]),
            ("columns", None, [["rows", True, True, None], ["columns", True, False, None]]),
            ("rows", None, [["rows", True, False, None], ["rows", True, False, None]]),
            ("rows", None, [["rows", False, False, None], ["rows", True, True, None]]),
            ("rows", None, [["one number", False, False, None], ["rows", False, False, None]]),
            ("rows", None, [["columns", False, False, None]]),
            ("columns", None, [["rows", False, False, None]]),
            ("columns", None, [["rows", False, True, None]]),
            ("columns", None, [["columns", False, False, None]]),
            ("rows with gaps", None, [["rows with gaps", False, False, None]]),
            ("columns with gaps", None, [["columns", False, False, None], ["columns", False, True, None]]),
            ("rows", "columns", [["rows", False, False, None]]),
            ("rows", "columns", [["rows", False, True, None]]),
            ("rows", "rows", [["rows", False, False, None], ["columns", False, True, None]]),
        )
    ],
    hint=lambda case, mine, theirs: "a kept gradient is nobody else's memory, and later ones are added to it",
)
def accumulation(xp, variable, first, steps):
    return accumulated(xp, variable, first, steps, xp.graph.accumulate)


@accumulation.oracle
def _(torch, variable, first, steps):
    def add(x, grad):
        with grad_mode(torch, True):
            node = x.view_as(x).grad_fn.next_functions[0][0]
        node(grad)

    return accumulated(torch, variable, first, steps, add)


CALLS = {  # operators of two operands, and what their nodes keep, if anything
    "add": (lambda xp, x, y: x + y, None),
    "mul": (lambda xp, x, y: x * y, "self"),
    "exp": (lambda xp, x, y: x.exp(), "result"),
    "float32": (lambda xp, x, y: x.to(xp.float32), None),
    "max": (lambda xp, x, y: x.max(-1)[:1], "indices"),
    "unbind": (lambda xp, x, y: x.unbind(0), None),
    "split": (lambda xp, x, y: y.split(1, -1), None),
}
ACTIONS = {
    "look": lambda grads: None,
    "double": lambda grads: tuple(grad if grad is None else grad * 2 for grad in grads),
    "drop": lambda grads: (None, *grads[1:]),
    "list": lambda grads: list(grads),
    "first": lambda grads: grads[0],
    "fewer": lambda grads: grads[1:],
    "more": lambda grads: (*grads, None),
    "raise": lambda grads: {}["the hook's"],
    "sizes": lambda grads: tuple(grad if grad is None else grad.unsqueeze(0) for grad in grads),
}
OF_HOOKS = ["remove itself", "remove all", "add another"]  # what a hook may do to the hooks beside it


def _hooks(st):
    actions = ["look"] + ["double"] * 3 + list(ACTIONS) + OF_HOOKS
    hook = st.tuples(st.sampled_from(["before", "after"]), st.sampled_from(actions))
    return st.lists(hook.map(list), max_size=3)


def called(xp, operator, shapes, given, hooks, keep, call, take):
    """Call a node twice, with hooks around it; `given` says which of its results have a gradient."""
    x, y = start(xp, [[shapes[0], True], [shapes[1], True]])
    operate, kept = CALLS[operator]
    results, log = operate(xp, x, y), []
    results = results if isinstance(results, (list, tuple)) else [results]
    grads = [xp.ones_like(each) * (i + 1) if given[i % len(given)] else None for i, each in enumerate(results)]
    if grads.count(None) == len(grads):
        grads[0] = xp.ones_like(results[0])
    node, handles = results[0].grad_fn, {"before": {}, "after": {}}

    def add(number, when, action):
        def hook(grads, outer=None):
            held = kept and attempt(lambda: plain(take(node, kept)))
            shown = {"hook": number, "when": when, "gradients": [*map(plain, grads)]}
            log.append(shown | {"the node's own": outer and [*map(plain, outer)], "kept": held})
            if action == "remove itself":
                handles[when][number].remove()
            elif action == "remove all":
                for handle in handles[when].values():
                    handle.remove()
            elif action == "add another":
                add(number + 10, when, "double")
            else:
                return ACTIONS[action](grads)

        handles[when][number] = node.register_prehook(hook) if when == "before" else node.register_hook(hook)

    for number, (when, action) in enumerate(hooks):
        add(number, when, action)
    edges = [edge for edge in node.next_functions if edge[0] is not None]
    answers = [attempt(lambda: [*map(plain, call(results, node, edges, grads, keep))]) for _ in range(2)]
    return {"calls": [*map(outcome, answers)], "hooks": log}


@program(
    "engine.call_function",
    cases=lambda st: st.fixed_dictionaries(
        {
            "operator": st.sampled_from(list(CALLS)),
            "shapes": st.sampled_from([[[3], [3]], [[3, 3], [3]], [[1, 3], [3, 1]]]),
            "given": st.sampled_from([[True], [True], [True, False], [False, True]]),
            "hooks": _hooks(st),
            "keep": st.booleans(),
        }
    ),
    edges=[
        {"operator": operator, "shapes": [[3, 3], [3]], "given": given, "hooks": hooks, "keep": keep}
        for operator in CALLS
        for given, hooks, keep in (
            ([True], [], True),
            ([True], [["before", "look"], ["after", "look"]], False),
            ([False, True], [["after", "double"], ["before", "double"], ["after", "look"]], True),
        )
    ]
    + [
        {"operator": operator, "shapes": [[1, 3], [3, 1]], "given": [True], "hooks": hooks, "keep": False}
        for operator in ("add", "mul")
        for hooks in (
            [["before", "double"], ["before", "double"]],
            [["after", "double"], ["after", "double"]],
            [["before", "drop"], ["after", "look"]],
            [["after", "drop"], ["after", "look"]],
            *([[when, action]] for when in ("before", "after") for action in ACTIONS),
            *(
                [[when, action], [when, "double"], [when, "look"]]
                for when in ("before", "after")
                for action in OF_HOOKS
            ),
        )
    ],
)
def calling(xp, operator, shapes, given, hooks, keep):
    def call(results, node, edges, grads, keep):
        found = xp.engine.call_function(node, list(grads), keep)
        return [grad for grad, edge in zip(found, node.next_edges) if edge.node is not None]

    return called(
        xp,
        operator,
        shapes,
        given,
        hooks,
        keep,
        call,
        lambda node, name: xp.graph.unpack(node, getattr(node, f"saved_{name}")),
    )


@calling.oracle
def _(torch, operator, shapes, given, hooks, keep):
    def call(results, node, edges, grads, keep):
        pairs = [(each, grad) for each, grad in zip(results, grads) if grad is not None]
        ends = [torch.autograd.graph.GradientEdge(*edge) for edge in edges]
        outputs, grads = zip(*pairs)
        return torch.autograd.grad(outputs, ends, grads, retain_graph=keep, allow_unused=True)

    return called(torch, operator, shapes, given, hooks, keep, call, lambda node, name: getattr(node, f"_saved_{name}"))


def ask(xp, values, roots, how, ends, retain, create):
    """Gradients of the roots: for all leaves, or for the values `ends` only, added to their `grad` or given back."""
    roots, ends = ([values[place % len(values)] for place in places] for places in (roots, ends))
    grads = [xp.ones_like(x) * (i + 1) for i, x in enumerate(roots)]
    if how in ("grad", "grad of all"):
        unused = how == "grad"
        found = xp.autograd.grad(roots, ends, grads, retain_graph=retain, create_graph=create, allow_unused=unused)
        return [*map(plain, found)], list(found)
    inputs = {"inputs": ends} if how == "inputs" else {}
    xp.autograd.backward(roots, grads, retain_graph=retain, create_graph=create, **inputs)
    found = [x.grad for x in values if x.requires_grad and (x.is_leaf or x.retains_grad)]
    return [*map(plain, found)], found


TENSOR_ACTIONS = {
    "look": lambda grad: None,
    "double": lambda grad: grad * 2,
    "zero": lambda grad: grad * 0,
    "drop": lambda grad: None,
    "number": lambda grad: 2.0,
    "sizes": lambda grad: grad.unsqueeze(0),
}


def add_hook(xp, values, log, number, kind, place, action):
    x = values[place % len(values)]

    def of_tensor(grad):
        log.append({"hook": number, "on a tensor": plain(grad), "grad mode": xp.is_grad_enabled()})
        return None if grad is None else TENSOR_ACTIONS[action](grad)

    def accumulated(x):
        log.append({"hook": number, "after accumulating": plain(x.grad)})

    def before(grads):
        log.append({"hook": number, "before a node": [*map(plain, grads)]})
        return ACTIONS.get(action, ACTIONS["look"])(grads)

    def after(grads, outer):
        log.append({"hook": number, "after a node": [*map(plain, grads)], "that had": [*map(plain, outer)]})
        return ACTIONS.get(action, ACTIONS["look"])(grads)

    if kind == "tensor":
        return x.register_hook(of_tensor)
    if kind == "removed":
        return x.register_hook(of_tensor).remove()
    if kind == "retain":
        return x.retain_grad()
    if kind == "accumulated":
        return x.register_post_accumulate_grad_hook(accumulated)
    if x.grad_fn is not None:
        return x.grad_fn.register_prehook(before) if kind == "before" else x.grad_fn.register_hook(after)


def executed(xp, leaves, statements, times, roots, how, ends, retain, create, hooks, enabled):
    values, log = run_often(xp, leaves, statements, times), []
    added = [
        attempt(lambda i=i, hook=hook: add_hook(xp, values, log, i, *hook) and None) for i, hook in enumerate(hooks)
    ]
    graph = Graph(*(x.grad_fn for x in values))
    for i, node in enumerate(graph.nodes):
        if short(node) != "AccumulateGrad":  # when several can run, nobody need run them in torch's order
            node.register_prehook(lambda grads, i=i: log.append({"runs": i}))
    answers, modes = [], []
    for _ in range(2 if times == 1 else 1):
        with grad_mode(xp, enabled):
            found = attempt(lambda: ask(xp, values, roots, how, ends, retain, create))
            modes.append(xp.is_grad_enabled())
        answers.append(outcome(found if isinstance(found, str) else found[0]))
        if create and not isinstance(found, str) and not {"first", "slice"} & {name for name, *_ in statements}:
            grads = [grad for grad in found[1] if grad is not None and grad.requires_grad]
            inputs = [x for x in values if x.is_leaf and x.requires_grad]
            twice = [xp.ones_like(grad) for grad in grads]
            again = grads and xp.autograd.grad(grads, inputs, twice, retain_graph=True, allow_unused=True)
            answers.append({"that can be differentiated": len(grads), "differentiated again": [*map(plain, again)]})
    return {"passes": answers, "hooks": added, "log": log[:300], "grad mode afterwards": modes}


def _executions(st):
    kinds = ["tensor", "tensor", "removed", "retain", "accumulated", "before", "after"]
    actions = ["look", "double", "double", "zero", "sizes", "drop"]
    hook = st.tuples(st.sampled_from(kinds), st.integers(0, 12), st.sampled_from(actions))
    more = {
        "how": st.sampled_from(["backward", "backward", "grad", "grad of all", "inputs"]),
        "ends": st.lists(st.integers(0, 8), min_size=1, max_size=3),
        "retain": st.sampled_from([None, None, True, False]),
        "create": st.sampled_from([False, False, True]),
        "hooks": st.lists(hook.map(list), max_size=3),
        "enabled": st.sampled_from([True, True, True, False]),
    }
    return _rooted_programs(st, more).filter(_sees_all).map(_many_roots)


def _sees_all(case):
    """Where not all is asked for, torch's nodes give nothing to edges that lead nowhere, and a hook after one sees that."""
    return case["how"] == "backward" or "after" not in [kind for kind, *_ in case["hooks"]]


def _many_roots(case):
    """Of a single root torch runs the hooks even where nothing is asked of it."""
    return case | {"roots": case["roots"] * 2} if case["how"] != "backward" and case["hooks"] else case


_ASKED = {"how": "backward", "ends": [0], "retain": None, "create": False, "hooks": [], "enabled": True}


def _execution(leaves, statements, roots, times=1, **asked):
    return {"leaves": leaves, "statements": statements, "times": times, "roots": roots} | _ASKED | asked


_DIAMOND = [["tanh", 0], ["neg", 1], ["double", 1], ["mul", 2, 3], ["sum", 4]]
_TWO = [["mul", 0, 1], ["tanh", 2], ["add", 3, 2], ["sigmoid", 1], ["sub", 4, 5]]


@program(
    "engine.execute",
    cases=_executions,
    edges=[_execution(leaves, statements, roots, times) for leaves, statements, times, roots in _ROOTED]
    + [
        _execution([LEAF, LEAF], statements, [-1], **asked)
        for statements in (_DIAMOND, _TWO)
        for asked in (
            {"retain": True},
            {"create": True},
            {"create": True, "retain": False},
            {"how": "grad"},
            {"how": "grad", "ends": [0, 1, 2]},
            {"how": "grad of all", "ends": [0, 1, 2]},
            {"how": "grad", "ends": [0, 2], "hooks": [["tensor", 2, "double"]]},
            {"how": "inputs", "ends": [2], "hooks": [["tensor", 2, "double"]]},
            {"hooks": [["retain", 2, ""]]},
            {"how": "grad", "ends": [2, 2, 3]},
            {"how": "grad", "ends": [-1]},
            {"how": "grad", "ends": [3], "retain": True},
            {"how": "grad", "ends": [0, 2], "create": True},
            {"how": "inputs"},
            {"how": "inputs", "ends": [0, 1], "create": True},
            {"hooks": [["tensor", 2, "double"], ["retain", 2, ""], ["tensor", 2, "double"]]},
            {"hooks": [["before", 2, "double"], ["tensor", 2, "look"], ["after", 2, "double"], ["retain", 2, ""]]},
            {"hooks": [["tensor", 0, "double"], ["accumulated", 0, ""], ["tensor", 0, "look"]]},
            {"hooks": [["removed", 2, "double"], ["tensor", 3, "zero"]]},
            {"hooks": [["tensor", 2, "sizes"]]},
            {"hooks": [["tensor", 2, "number"]], "retain": True},
            {"how": "grad", "ends": [2], "hooks": [["tensor", 2, "double"], ["before", 2, "look"], ["retain", 2, ""]]},
            {"how": "grad", "ends": [0], "hooks": [["tensor", 0, "double"], ["accumulated", 0, ""]]},
            {"hooks": [["after", 2, "drop"]]},
            {"enabled": False},
            {"enabled": False, "create": True},
            {"enabled": False, "how": "grad"},
            {"enabled": False, "hooks": [["tensor", 2, "number"]]},
        )
    ]
    + [
        _execution([LEAF, [[3], True]], [["add", 0, 1], ["mul", 1, 2]], [3]),  # broadcast
        _execution([LEAF, [[3], False]], [["add", 0, 1], ["float32", 2]], [3]),
        _execution([LEAF], [["float32", 0], ["mul", 0, 1]], [2]),
        _execution([LEAF], [["max", 0], ["split", 0], ["mul", 1, 3]], [6, 3]),
        _execution([LEAF], [["unbind", 0], ["mul", 1, 2]], [4]),
        _execution([LEAF], [["expand", 0], ["t", 1], ["slice", 2], ["first", 3]], [4, 2]),
        _execution([LEAF], [["split", 0], ["mul", 1, 2]], [4], how="grad", ends=[1, 2]),
        _execution([LEAF], [["split", 0], ["mul", 1, 2]], [4], how="grad", ends=[0, 1, 2]),
        _execution([LEAF], [["split", 0], ["double", 1]], [4], how="grad of all", ends=[1, 2]),
        _execution([LEAF], [["split", 0], ["double", 1]], [4], how="grad of all", ends=[0, 1]),
        _execution([LEAF, LEAF], [["add", 0, 1]], [1, 0, 2], hooks=[["tensor", 1, "look"]]),
        _execution([LEAF, LEAF], [["neg", 0], ["neg", 1]], [2, 3], how="grad", hooks=[["tensor", 3, "look"]]),
        _execution([LEAF, LEAF], [], [0, 1]),
        _execution([LEAF], [["double", 0], ["neg", 0], ["add", 1, 2]], [3], hooks=[["after", 1, "drop"]]),
        _execution([LEAF], [["neg", 0], ["double", 1], ["mul", 1, 2]], [3], hooks=[["after", 2, "drop"]]),
        _execution([[[3], False]], [["neg", 0]], [1]),
        _execution([LEAF], [["neg", 0], ["detach", 1]], [2]),
        _execution([LEAF], [["add", 0, 0], ["add", 0, 0]], [1, 2]),
        _execution([LEAF, LEAF], [["add", 0, 1]], [2]),
        _execution(
            [LEAF, LEAF], [["mul", 0, 1], ["neg", 2], ["neg", 2], ["add", 4, 3]], [5, 3], how="grad", ends=[2, 1]
        ),
    ],
    hint=lambda case, mine, theirs: (
        "grad mode is afterwards what it was before, off as well as on, and also after an error"
        if field(mine, "passes") == field(theirs, "passes") and field(mine, "log") == field(theirs, "log")
        else "a node runs once, when everything that will come to it has come, and the newest first"
    ),
)
def execution(xp, leaves, statements, times, roots, how, ends, retain, create, hooks, enabled):
    return executed(xp, leaves, statements, times, roots, how, ends, retain, create, hooks, enabled)


# A view that is written to -------------------------------------------------------------------------------------------

FORMULAS = {  # from the gradient of what was written to those of what was there, and of another operand of its sizes
    "same": lambda grad: (grad, None),
    "double": lambda grad: (grad * 2, grad),
    "tensor": lambda grad: grad * 3,
    "drop": lambda grad: (None, grad),
    "zeros": lambda grad: (grad * 0, grad * 2),
    "both": lambda grad: (grad * grad, grad * grad),
    "list": lambda grad: [grad * 2, grad * 3],
}
SOME_VIEWS = ["t", "first", "slice", "unsqueeze", "view"]


def base_of(xp, layout, shape, offset):
    """A base of zeros, which may begin in the midst of a storage."""
    count = xp.ones(shape).numel()
    strides = [1, shape[0]] if layout == "columns" and len(shape) == 2 else xp.ones(shape).stride()
    return xp.zeros(offset + count, dtype=xp.float64).as_strided(shape, strides, offset).detach()


def follow(xp, x, views):
    for name in views:
        x = VIEWS[name](xp, x)
    return x


@program(
    "history.copy_slices",
    cases=lambda st: st.fixed_dictionaries(
        {
            "layout": st.sampled_from(["rows", "columns"]),
            "shape": st.sampled_from([[3, 3], [3, 3], [2, 4], [3], [1, 3], []]),
            "views": st.lists(st.sampled_from(SOME_VIEWS), min_size=1, max_size=3),
            "formula": st.sampled_from(list(FORMULAS)),
            "history": st.booleans(),
            "offset": st.sampled_from([0, 0, 1, 4]),
        }
    ),
    edges=[
        {"layout": layout, "shape": [3, 3], "views": views, "formula": formula, "history": history, "offset": 0}
        for formula in FORMULAS
        for layout, views, history in (
            ("rows", ["first"], True),
            ("columns", ["slice", "t"], False),
            ("rows", ["t", "slice"], False),
        )
    ]
    + [
        {"layout": "rows", "shape": shape, "views": views, "formula": "double", "history": True, "offset": offset}
        for shape, views, offset in (
            ([3], ["view"], 0),
            ([], ["unsqueeze"], 0),
            ([2, 4], ["t", "first", "slice"], 0),
            ([2, 4], ["slice", "first"], 0),
            ([3], ["slice"], 2),
            ([3, 3], ["first"], 3),
            ([3, 3], ["slice", "first"], 4),
        )
    ],
    hint=lambda case, mine, theirs: (
        "what was overwritten has the operator's gradient, all the rest the one that arrived"
    ),
)
def through_a_write(xp, layout, shape, views, formula, history, offset):
    base = base_of(xp, layout, shape, offset)
    part = follow(xp, base, views)
    grad = xp.arange(base.numel(), dtype=xp.float64).reshape(shape).add(1).requires_grad_(history)
    of_base = base.shape, base.stride(), base.storage_offset()
    of_view = part.shape, part.stride(), part.storage_offset() - base.storage_offset()
    found = xp.history.copy_slices(FORMULAS[formula], grad, of_base, of_view)
    return gradients_of_a_write(xp, found, grad)


def gradients_of_a_write(xp, found, grad):
    found = [*found, None][:2]
    twice = [x for x in found if x is not None and x.requires_grad]
    again = xp.autograd.grad(twice, grad, [xp.ones_like(x) for x in twice]) if twice else []
    return {
        "of the base": as_it_lies(found[0]),
        "of the other": plain(found[1]),
        "the other's is contiguous": found[1] is not None and found[1].is_contiguous(),
        "share memory with grad": [None if x is None else x.data_ptr() == grad.data_ptr() for x in found],
        "differentiated again": [*map(plain, again)],
        "grad afterwards": plain(grad),
    }


@through_a_write.oracle
def _(torch, layout, shape, views, formula, history, offset):
    class Write(torch.autograd.Function):
        """A write of one's own, with this formula."""

        @staticmethod
        def forward(ctx, x, y):
            ctx.mark_dirty(x)
            return x.fill_(1)

        @staticmethod
        def backward(ctx, grad):
            found = FORMULAS[formula](grad)
            found = (found, None) if isinstance(found, torch.Tensor) else tuple(found)
            return found[0], None if found[1] is None else found[1].clone()

    before, base = torch.zeros(shape, dtype=torch.float64).requires_grad_(), base_of(torch, layout, shape, offset)
    base.copy_(before)
    other = torch.zeros_like(follow(torch, base.detach(), views)).requires_grad_()
    Write.apply(follow(torch, base, views), other)
    grad = torch.arange(base.numel(), dtype=torch.float64).reshape(shape).add(1).requires_grad_(history)
    found = torch.autograd.grad(base, [before, other], grad, create_graph=True, allow_unused=True)
    return gradients_of_a_write(torch, found, grad)


# Modes ---------------------------------------------------------------------------------------------------------------

MODES = ["no_grad", "enable_grad"]
INFERENCE = ["inference", "no inference"]


def block(xp, name):
    if name in MODES:
        return getattr(xp, name)()
    return xp.inference_mode(name == "inference")


def nested(xp, blocks, raises, look):
    """Look around outside, in each of the blocks, one in another, and again as each of them ends; the innermost may raise."""
    log = [look()]

    def enter(rest):
        if not rest:
            if raises:
                raise KeyError("from within")
            return
        name, how = rest[0]
        if how == "with":
            with block(xp, name):
                log.append(look())
                enter(rest[1:])
                log.append(look())
        elif how == "again":
            one = block(xp, name)
            with one:
                log.append(look())
            with one:
                log.append(look())
            enter(rest[1:])
        elif how == "decorator":
            inner(rest[1:], block(xp, name))
        else:
            inner(rest[1:], getattr(xp, name) if name in MODES else xp.inference_mode)
        log.append(look())

    def inner(rest, decorate):
        @decorate
        def function(count):
            log.append(look())
            if count:
                function(count - 1)
            else:
                enter(rest)

        function(1)

    found = attempt(lambda: enter(blocks))
    return log, found, look()


def _blocks(st, names):
    one = st.tuples(st.sampled_from(names), st.sampled_from(["with", "with", "again", "decorator", "bare decorator"]))
    return st.fixed_dictionaries(
        {"blocks": st.lists(one.map(list), max_size=4), "raises": st.sampled_from([False, False, True])}
    )


def _block_edges(names):
    some = [[[name, how]] for name in names for how in ("with", "again", "decorator", "bare decorator")]
    some += [[[a, "with"], [b, "with"]] for a in names for b in names] + [[]]
    return [{"blocks": blocks, "raises": raises} for blocks in some for raises in (False, True)]


@program("grad_mode.recording", cases=lambda st: _blocks(st, MODES), edges=_block_edges(MODES))
def recorded(xp, blocks, raises):
    x = xp.ones(2).requires_grad_()

    def look():
        y = x * 2
        return xp.is_grad_enabled(), y.requires_grad, y.is_leaf

    with grad_mode(xp, True):
        on = nested(xp, blocks, raises, look)
    with grad_mode(xp, False):
        off = nested(xp, blocks, raises, look)
    return on, off, xp.is_grad_enabled()


def bits(xp, key_set):
    """Which of the keys that autograd needs, and of two that it does not, are in a set."""
    names = ["ADInplaceOrView", "AutogradFunctionality", "AutocastCPU", "BackendSelect"]
    if is_torch(xp):
        return [key_set.has(getattr(xp._C.DispatchKey, name)) for name in names]
    return [bool(int(key_set) & xp.dispatch.BIT[name]) for name in names]


@program(
    "grad_mode.inferring", cases=lambda st: _blocks(st, [*INFERENCE, *INFERENCE, *MODES]), edges=_block_edges(INFERENCE)
)
def inferred(xp, blocks, raises):
    x, made = xp.ones(2).requires_grad_(), []

    def look():
        y, z = x * 2, xp.ones(3)
        made.append(z)
        thread = xp._C._dispatch_tls_local_include_set(), xp._C._dispatch_tls_local_exclude_set()
        flags = [
            [each.is_inference(), each.requires_grad, each.is_leaf, *bits(xp, xp._C._dispatch_keys(each))]
            for each in (y, z)
        ]
        return xp.is_inference_mode_enabled(), xp.is_grad_enabled(), flags, [bits(xp, keys) for keys in thread]

    state = {} if is_torch(xp) else vars(xp.dispatch.local)
    before, keys = dict(state), xp._C.DispatchKey
    other = xp._C.DispatchKeySet(keys.AutocastCPU) if is_torch(xp) else xp.dispatch.BIT["AutocastCPU"]
    try:
        with xp._C._IncludeDispatchKeyGuard(keys.BackendSelect), xp._C._ExcludeDispatchKeyGuard(other):
            seen = nested(xp, blocks, raises, look)
    finally:
        state.update(before)
    return seen, [attempt(lambda z=z: z.requires_grad_().requires_grad) for z in made], [z.is_inference() for z in made]


# A forward and a backward of one's own -------------------------------------------------------------------------------

ARGUMENTS = {
    "leaf": lambda xp: start(xp, [[[3], True]])[0],
    "computed": lambda xp: start(xp, [[[3], True]])[0] * 2,
    "plain": lambda xp: start(xp, [[[3], False]])[0],
    "integers": lambda xp: xp.arange(3),
    "number": lambda xp: 2.0,
    "none": lambda xp: None,
    "list": lambda xp: [start(xp, [[[3], True]])[0]],
}
OUTPUTS = {
    "new": lambda xp, tensors, dirty: sum(x.to(xp.float64) * (i + 2) for i, x in enumerate(tensors)),
    "short": lambda xp, tensors, dirty: sum(x.to(xp.float64).sum() for x in tensors),
    "same": lambda xp, tensors, dirty: tensors[0],
    "written": lambda xp, tensors, dirty: dirty(tensors[0].add_(1)),
    "integers": lambda xp, tensors, dirty: xp.arange(3),
    "number": lambda xp, tensors, dirty: 5,
    "none": lambda xp, tensors, dirty: None,
}
ANSWERS = {  # what a backward gives, from what it should give
    "right": lambda found: tuple(found),
    "twice": lambda found: tuple(x if x is None else x * 2 for x in found),
    "nothing": lambda found: (None,) * len(found),
    "fewer": lambda found: tuple(found[:-1]),
    "more of nothing": lambda found: (*found, None),
    "more": lambda found: (*found, found[0]),
    "one for all": lambda found: tuple(next(y for y in found if y is not None) if x is None else x for x in found),
    "alone": lambda found: found[0],
    "list": lambda found: list(found),
    "wider": lambda found: tuple(x if x is None else x.expand(2, 3) for x in found),
}


def own_function(
    xp, args, outputs, several, saves, nondifferentiable, materialize, answer, enabled, roots, twice, written
):
    log, contexts, results = [], [], []
    args = [ARGUMENTS[kind](xp) for kind in args]
    tensors = [x for x in args if isinstance(x, xp.Tensor)]

    class Mine(xp.autograd.Function):
        @staticmethod
        def forward(ctx, *args):
            said = {"needs_input_grad": list(ctx.needs_input_grad), "grad mode": xp.is_grad_enabled()}
            log.append({"forward": said | {"tensors require grad": [x.requires_grad for x in tensors]}})

            def dirty(x):
                ctx.mark_dirty(x)
                return x

            made = [OUTPUTS[kind](xp, tensors, dirty) for kind in outputs]
            marked = [made[i % len(made)] for i in nondifferentiable]
            ctx.mark_non_differentiable(*(x for x in marked if isinstance(x, xp.Tensor)))
            if not materialize:
                ctx.set_materialize_grads(False)
            kept = {"args": tensors, "outputs": made, "between": [tensors[0] * 3], "none": [None, tensors[0]]}
            if saves:
                ctx.save_for_backward(*(x for x in kept[saves] if x is None or isinstance(x, xp.Tensor)))
            ctx.number = 7
            contexts.append(ctx)
            return tuple(made) if several else made[0]

        @staticmethod
        def backward(ctx, *grads):
            saved = []
            for x in ctx.saved_tensors:
                one = [any(x is y for y in those) for those in (tensors, results)]
                flag = x is not None and x.requires_grad
                saved.append({"tensor": plain(x), "requires_grad": flag, "is an argument, a result": one})
            said = {"gradients": [*map(plain, grads)], "saved_tensors": saved, "number": ctx.number}
            log.append({"backward": said | {"grad mode": xp.is_grad_enabled()}})
            one = next((grad.to(xp.float64).sum() for grad in grads if grad is not None), None)
            found = []
            for x, needed in zip(args, ctx.needs_input_grad):
                found.append(one * (x.detach() * 0 + 3) if needed and one is not None else None)
            return ANSWERS[answer](found)

    with grad_mode(xp, enabled):
        result = attempt(lambda: Mine.apply(*args))
    if isinstance(result, str):
        return dict.fromkeys(("results", "several", "graph", "passes")) | {"raises": result, "log": log}
    (ctx,) = contexts
    log.append({"kept": len(ctx.saved_tensors), "nothing left to save": not getattr(ctx, "to_save", None)})
    many = list(result) if isinstance(result, tuple) else [result]
    results += many
    shown = []
    for x in many:
        if not isinstance(x, xp.Tensor):
            shown.append(x)
            continue
        node = x.grad_fn and short(x.grad_fn)
        shown.append({"tensor": plain(x), "node": node, "is an argument": [x is y for y in tensors]} | described(x))
    graph = Graph(*(x.grad_fn for x in many if isinstance(x, xp.Tensor)))
    ends = [x for x in many if isinstance(x, xp.Tensor)]
    ends = [x for x in (ends[place % len(ends)] for place in roots) if x.requires_grad] if ends else []

    if written:
        for x in [*tensors[:1], *ends[:1]]:
            x.detach().add_(1)

    def back():
        wanted = [x for x in tensors if x.requires_grad]
        grads = [xp.ones_like(x) * (i + 1) for i, x in enumerate(ends)]
        if wanted and ends:
            return [*map(plain, xp.autograd.grad(ends, wanted, grads, allow_unused=True))]

    found = [attempt(back) for _ in range(2 if twice else 1)]
    return {
        "results": shown,
        "several": isinstance(result, tuple),
        "graph": graph.shown(),
        "passes": [*map(outcome, found)],
        "raises": None,
        "log": log,
    }


def _functions(st):
    more = st.lists(st.sampled_from(list(ARGUMENTS)), max_size=2)
    return st.fixed_dictionaries(
        {
            "args": st.builds(
                lambda first, rest: [first, *rest], st.sampled_from(["leaf", "computed", "computed", "plain"]), more
            ),
            "outputs": st.lists(st.sampled_from([*OUTPUTS, "new", "new", "short"]), min_size=1, max_size=3),
            "several": st.booleans(),
            "saves": st.sampled_from(["", "args", "outputs", "between", "none"]),
            "nondifferentiable": st.sampled_from([[], [], [], [0], [1]]),
            "materialize": st.sampled_from([True, True, False]),
            "answer": st.sampled_from(["right"] * 6 + list(ANSWERS)),
            "enabled": st.sampled_from([True] * 5 + [False]),
            "roots": st.lists(st.integers(0, 2), min_size=1, max_size=2, unique=True),
            "twice": st.booleans(),
            "written": st.sampled_from([False, False, False, True]),
        }
    ).filter(_sensible)


def _sensible(case):
    """Something is written once, and what is written or handed back as it is is not also marked to have no derivative. What is
    handed back is not written to from outside: torch remembers that the view was made in a function and refuses it."""
    if case["written"] and "same" in case["outputs"]:
        return False
    written = case["outputs"].count("written") + case["outputs"].count("same")
    return written == 0 or written == 1 and not case["nondifferentiable"]


_OWN = {
    "args": ["leaf"],
    "outputs": ["new"],
    "several": False,
    "saves": "",
    "nondifferentiable": [],
    "materialize": True,
    "answer": "right",
    "enabled": True,
    "roots": [0],
    "twice": False,
    "written": False,
}


@program(
    "function.apply",
    cases=_functions,
    edges=[
        _OWN | asked
        for asked in (
            {},
            {"args": ["plain"]},
            {"enabled": False},
            {"args": ["computed", "leaf"]},
            {"args": ["leaf", "number", "computed", "none"]},
            {"args": ["plain", "number", "leaf"]},
            {"args": ["leaf", "integers"]},
            {"args": ["plain", "list"]},
            {"outputs": ["new", "short"], "several": True},
            {"outputs": ["new", "short"], "several": True, "roots": [1]},
            {"outputs": ["new", "short"], "several": True, "roots": [1], "materialize": False},
            {"outputs": ["new"], "several": True},
            {"outputs": ["number", "new", "none", "short"], "several": True, "roots": [0, 1]},
            {"outputs": ["integers", "new"], "several": True, "roots": [1]},
            {"outputs": ["integers", "new"], "several": True, "roots": [1], "materialize": False},
            {"outputs": ["number"]},
            {"outputs": ["none"]},
            {"outputs": ["new", "short"], "several": True, "nondifferentiable": [0], "roots": [1]},
            {"outputs": ["new", "short"], "several": True, "nondifferentiable": [1], "roots": [0]},
            {"outputs": ["new"], "nondifferentiable": [0]},
            {"outputs": ["same"]},
            {"outputs": ["same"], "args": ["computed"]},
            {"outputs": ["same"], "args": ["plain", "leaf"]},
            {"outputs": ["same"], "args": ["plain"]},
            {"outputs": ["same"], "args": ["computed"], "enabled": False},
            {"outputs": ["same", "new"], "several": True, "roots": [0, 1]},
            {"outputs": ["written"]},
            {"outputs": ["written"], "args": ["computed"]},
            {"outputs": ["written"], "args": ["plain", "leaf"]},
            {"outputs": ["written"], "args": ["plain"]},
            {"outputs": ["written"], "args": ["computed"], "enabled": False},
            {"outputs": ["new", "written"], "args": ["computed"]},
            {"outputs": ["new", "written", "short"], "args": ["computed"], "several": True, "roots": [0, 1]},
            {"saves": "args", "args": ["plain"]},
            {"saves": "args", "args": ["leaf"], "enabled": False},
            {"outputs": ["new", "written"], "args": ["computed"], "several": True, "roots": [1], "saves": "outputs"},
            {"saves": "args", "args": ["leaf", "plain", "computed"], "twice": True},
            {"saves": "outputs", "args": ["computed"], "twice": True},
            {"saves": "outputs", "args": ["computed"], "outputs": ["new", "short"], "several": True, "roots": [0, 1]},
            {"saves": "between"},
            {"saves": "args", "args": ["computed"], "written": True},
            {"saves": "args", "args": ["leaf", "plain"], "written": True},
            {"saves": "outputs", "args": ["computed"], "written": True},
            {"saves": "between", "args": ["computed"], "written": True},
            {"saves": "none", "twice": True},
            {"twice": True},
            *({"answer": answer, "args": ["leaf", "number"]} for answer in ANSWERS),
            *({"answer": answer, "args": ["leaf", "plain", "computed"]} for answer in ANSWERS),
            {"answer": "alone"},
            {"answer": "list"},
        )
    ],
    hint=lambda case, mine, theirs: (
        "every result has its number among the node's, whether a gradient can come for it or not"
    ),
)
def own(xp, args, outputs, several, saves, nondifferentiable, materialize, answer, enabled, roots, twice, written):
    return own_function(
        xp, args, outputs, several, saves, nondifferentiable, materialize, answer, enabled, roots, twice, written
    )


# A formula, differentiated again -------------------------------------------------------------------------------------


def _exponents(st):
    @st.composite
    def draw_case(draw):
        shape = draw(st.lists(st.integers(1, 3), max_size=3))
        dims = draw(st.lists(st.sampled_from(range(-len(shape), len(shape))), max_size=2)) if shape else []
        dims = list({d % len(shape): d for d in dims}.values())
        infinite = draw(st.sampled_from([None, None, None, [0, "inf"], [0, "-inf"], [1, "-inf"], [1, 1000.0]]))
        keepdim = draw(st.booleans()) or bool(shape) and not dims  # there torch fails
        return {"shape": shape, "dims": dims, "keepdim": keepdim, "infinite": infinite}

    return draw_case()


def summands(xp, shape, infinite):
    x = xp.arange(xp.ones(shape).numel(), dtype=xp.float64).reshape(shape) * 0.25 - 1
    if infinite and x.numel():
        place, value = infinite
        x.view(-1)[place % x.numel()] = float(value)
    return x.requires_grad_()


def twice(xp, first, inputs):
    """A gradient, and the gradients of it."""
    again = xp.autograd.grad(first, inputs, xp.ones_like(first) * 2, allow_unused=True) if first.requires_grad else []
    return {
        "gradient": plain(first),
        "requires_grad": first.requires_grad,
        "differentiated again": [*map(plain, again)],
    }


@program(
    "derivatives.logsumexp_backward",
    cases=_exponents,
    edges=[
        {"shape": shape, "dims": dims, "keepdim": keepdim, "infinite": infinite}
        for shape, dims, infinite in (
            ([3], [0], None),
            ([2, 3], [1], None),
            ([2, 3], [0], None),
            ([2, 3], [-2], None),
            ([2, 3], 1, None),
            ([2, 3], [0, 1], None),
            ([2, 3], [-1, 0], None),
            ([3, 3], [0], None),
            ([2, 3, 2], [2, 0], None),
            ([2, 3, 2], [1], None),
            ([], [], None),
            ([], [0], None),
            ([2, 3], [], None),
            ([1], [0], [0, "-inf"]),
            ([3], [0], [1, "-inf"]),
            ([3], [0], [0, "inf"]),
            ([2, 1], [1], [0, "-inf"]),
            ([2, 1], [1], [1, "inf"]),
            ([3], [0], [1, 1000.0]),
            ([2, 3], [1], [4, 1000.0]),
        )
        for keepdim in (False, True)
        if dims != [] or keepdim or not shape
    ],
)
def exponents(xp, shape, dims, keepdim, infinite):
    x = summands(xp, shape, infinite)
    result = x.logsumexp(dims, keepdim)
    grad = (xp.arange(result.numel(), dtype=xp.float64).reshape(result.shape) + 1).requires_grad_()
    return twice(xp, xp.derivatives.logsumexp_backward(grad, x, result, dims, keepdim), [x, grad])


@exponents.oracle
def _(torch, shape, dims, keepdim, infinite):
    x = summands(torch, shape, infinite)
    result = x.logsumexp(dims, keepdim)
    grad = (torch.arange(result.numel(), dtype=torch.float64).reshape(result.shape) + 1).requires_grad_()
    return twice(torch, torch.autograd.grad(result, x, grad, create_graph=True)[0], [x, grad])


# Differences ---------------------------------------------------------------------------------------------------------

CURVES = {
    "square": lambda xp, x: x * x,
    "cube": lambda xp, x: x * x * x + x,
    "sum": lambda xp, x: (x * x).sum(),
    "rows": lambda xp, x: (x * x * x).sum(0) if x.dim() else x * 3,
    "sigmoid": lambda xp, x: x.sigmoid(),
    "both": lambda xp, x: x.t() * x.sum() if x.dim() < 3 else x.sum(),
    "times itself": lambda xp, x: x.detach() * x,
    "flat": lambda xp, x: x * 0 + 1,
    "cumulative": lambda xp, x: (x * x).view(-1).cumsum(0)[:2] if x.is_contiguous() else x + x,
    "in float32": lambda xp, x: x.to(xp.float32) * 2,
    "slope": lambda xp, x: slope(xp, x),
}


def slope(xp, x):
    x = x.detach().requires_grad_()
    return xp.autograd.grad((x * x * x).sum(), x)[0]


def curve(xp, name, shape, layout, wanted):
    """A point, and a function of it that also notes what it was called with."""
    x = xp.arange(xp.ones(shape).numel(), dtype=xp.float64).reshape(shape) * 0.5 - 1
    x = x.t().contiguous().t() if layout == "columns" and x.dim() == 2 else x
    if layout == "gaps":
        wide = xp.zeros([*shape, 2], dtype=xp.float64)
        wide.select(-1, 0).copy_(x)
        x = wide.select(-1, 0)
    x, log = x.requires_grad_(wanted), []

    def function(*_):
        y = CURVES[name](xp, x)
        log.append({"requires_grad": y.requires_grad, "version of x": x._version})
        return y

    return x, function, log


@program(
    "gradcheck.numerical_gradient",
    cases=lambda st: st.fixed_dictionaries(
        {
            "name": st.sampled_from(list(CURVES)),
            "shape": st.lists(st.integers(1, 3), max_size=2),
            "layout": st.sampled_from(["rows", "columns", "gaps"]),
            "wanted": st.booleans(),
            "eps": st.sampled_from([0.5, 0.125, 1e-3]),
        }
    ),
    edges=[
        {"name": name, "shape": shape, "layout": layout, "wanted": wanted, "eps": eps}
        for name in CURVES
        for shape, layout, wanted, eps in (([2, 3], "rows", True, 0.5), ([3], "rows", False, 0.125))
    ]
    + [
        {"name": "cube", "shape": shape, "layout": layout, "wanted": True, "eps": 0.25}
        for shape, layout in (([], "rows"), ([2, 3], "columns"), ([2, 3], "gaps"), ([3], "gaps"), ([0], "rows"))
    ],
    hint=lambda case, mine, theirs: (
        "the function is called twice for each element, and in the grad mode that there is"
        if case["name"] == "slope" or field(mine, "calls") not in (None, field(theirs, "calls"))
        else "one row for each element of x, one number for each element of the result"
    ),
)
def differences(xp, name, shape, layout, wanted, eps):
    x, function, log = curve(xp, name, shape, layout, wanted)
    before = x.detach().clone()
    found = xp.gradcheck.numerical_gradient(function, x, eps)
    return moved(xp, found, log, x, before)


def moved(xp, found, log, x, before):
    return {
        "rows": found,
        "calls": log,
        "x is as it was": bool((x == before).all()),
        "version of x": x._version,
        "x.requires_grad": x.requires_grad,
        "grad mode afterwards": xp.is_grad_enabled(),
    }


@differences.oracle
def _(torch, name, shape, layout, wanted, eps):
    from torch.autograd.gradcheck import get_numerical_jacobian_wrt_specific_input

    x, function, log = curve(torch, name, shape, layout, wanted)
    before = x.detach().clone()
    example = function().detach()
    log.clear()
    with_grad = x.detach().requires_grad_()  # what the function computes with is x, which shares its memory
    (jacobian,) = get_numerical_jacobian_wrt_specific_input(lambda *_: [function()], 0, (with_grad,), [example], eps)
    return moved(torch, jacobian.tolist(), log, x, before)


# Computing again -----------------------------------------------------------------------------------------------------


def checkpoint_of(xp):
    if not is_torch(xp):
        return xp.checkpoint.checkpoint
    import torch.utils.checkpoint

    return torch.utils.checkpoint.checkpoint


CHECKPOINTED = {
    "product": lambda xp, x, y, z: x.sigmoid() * x * (y if y is not None else 2),
    "two": lambda xp, x, y, z: (x * 2, x.tanh() * x),
    "with a number": lambda xp, x, y, z: (x.sum(), 3.0),
    "cut": lambda xp, x, y, z: (x.detach() * 2, x * 3),
    "all cut": lambda xp, x, y, z: x.detach() * 2,
    "not used": lambda xp, x, y, z: x.exp(),
    "integers": lambda xp, x, y, z: (x.argmax(), x * x),
    "outside": lambda xp, x, y, z: x * z,
    "shared": lambda xp, x, y, z: on_the_way(x.exp()),
}


def on_the_way(y):
    return y * y, y.tanh() * y


@program(
    "checkpoint.recompute",
    cases=lambda st: st.fixed_dictionaries(
        {
            "function": st.sampled_from(list(CHECKPOINTED)),
            "args": st.lists(st.sampled_from(["leaf", "leaf", "computed", "plain"]), min_size=1, max_size=2),
            "number": st.booleans(),
            "roots": st.lists(st.integers(0, 1), min_size=1, max_size=2, unique=True),
            "times": st.integers(1, 2),
            "turned": st.sampled_from([[], [], [], [0], [1]]),
        }
    ),
    edges=[
        {"function": function, "args": args, "number": number, "roots": roots, "times": times, "turned": []}
        for function in CHECKPOINTED
        for args, number, roots, times in ((["leaf", "computed"], False, [0, 1], 1), (["computed"], True, [1], 2))
    ]
    + [
        {"function": "product", "args": args, "number": False, "roots": [0], "times": 1, "turned": turned}
        for args, turned in (
            (["leaf", "plain"], []),
            (["plain", "leaf"], []),
            (["plain", "plain"], []),
            (["leaf"], [0]),
            (["leaf", "leaf"], [0]),
            (["leaf", "leaf"], [1]),
            (["leaf", "plain"], [1]),
            (["leaf", "leaf"], [0, 1]),
        )
    ],
    hint=lambda case, mine, theirs: (
        "what is computed again is computed on tensors of its own, so that nothing else is reached"
    ),
)
def again(xp, function, args, number, roots, times, turned):
    log, outside = [], start(xp, [[[3], True]])[0]
    args = [ARGUMENTS[kind](xp) for kind in args]

    def run(x, y=None):
        flags = [
            {
                "requires_grad": each.requires_grad,
                "is_leaf": each.is_leaf,
                "memory": each.data_ptr() == given.data_ptr(),
            }
            for each, given in zip((x, y), args)
            if isinstance(each, xp.Tensor)
        ]
        number = y if isinstance(y, float) else None
        log.append({"grad mode": xp.is_grad_enabled(), "arguments": flags, "x": plain(x), "number": number})
        return CHECKPOINTED[function](xp, x, y, outside)

    given = [*args[:1], 2.5] if number else args
    runs = []
    for _ in range(times):
        result = attempt(lambda: checkpoint_of(xp)(run, *given, use_reentrant=True))
        if isinstance(result, str):
            runs.append({"raises": result})
            continue
        many = [x for x in (result if isinstance(result, tuple) else (result,)) if isinstance(x, xp.Tensor)]
        graph = Graph(*(x.grad_fn for x in many))
        ends = [x for x in (many[place % len(many)] for place in roots) if x.requires_grad]
        grads = [xp.ones_like(x) * (i + 2) for i, x in enumerate(ends)]

        for place in turned:  # between the two passes
            if place < len(args) and args[place].is_leaf:
                args[place].requires_grad_(not args[place].requires_grad)
        found = attempt(lambda: xp.autograd.backward(ends, grads)) if ends else None  # noqa: B023
        log.append("back")
        shown = [x if not isinstance(x, xp.Tensor) else [plain(x), x.requires_grad] for x in many]
        found = {"results": shown, "graph": graph.shown(), "backward": found or "done"}
        runs.append(found | {"grad": [plain(x.grad) if x.is_leaf else None for x in [*args, outside]]})
    return {"runs": runs, "calls": log}


# Everything together -------------------------------------------------------------------------------------------------


def _whole_programs(st):
    place = st.integers(0, 12)
    steps = [_statements(st, DIFFERENTIABLE, 2), _statements(st, DIFFERENTIABLE, 2), _statements_with_writing(st, 2)]
    steps += [
        st.tuples(st.just(name), place).map(lambda one: [list(one)])
        for name in ("hook", "doubling hook", "retain", "own", "detach", "without", "checkpoint")
    ]
    return st.fixed_dictionaries(
        {
            "leaves": _leaves(st),
            "statements": st.lists(st.one_of(steps), max_size=8).map(
                lambda some: [each for step in some for each in step]
            ),
            "roots": st.lists(place, min_size=1, max_size=2),
            "create": st.sampled_from([False, False, True]),
        }
    )


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


def step(xp, values, log, number, name, *places):
    """One statement of a whole program; what there is to say of it."""
    if name.removeprefix(QUIETLY) in IN_PLACE:
        return write_in_place(xp, values, name, *places)
    x = values[places[0] % len(values)]
    if name in ("hook", "doubling hook"):
        doubles = name == "doubling hook"

        def hook(grad):
            log.append([number, plain(grad)])
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
        operate(xp, values, name, *places)


@program(
    "together.programs",
    cases=_whole_programs,
    edges=[
        {"leaves": leaves, "statements": statements, "roots": roots, "create": create}
        for leaves, statements, roots in (
            ([LEAF], _DIAMOND, [-1]),
            ([LEAF, LEAF], _TWO, [-1, 2]),
            ([LEAF], [["clone", 0], ["first", 1], ["double_", 2], ["mul", 1, 0]], [-1]),
            ([LEAF], [["tanh", 0], ["double_", 1], ["neg", 1]], [-1]),
            ([LEAF], [["hook", 0], ["own", 0], ["retain", 1], ["doubling hook", 1], ["sum", 1]], [-1]),
            ([LEAF], [["checkpoint", 0], ["without", 0], ["mul", 1, 2]], [-1]),
        )
        for create in (False, True)
    ],
)
def whole_program(xp, leaves, statements, roots, create):
    values, log = start(xp, leaves), []
    said = [attempt(lambda i=i, one=one: step(xp, values, log, i, *one)) for i, one in enumerate(statements)]
    nodes = [attempt(lambda x=x: x.grad_fn) for x in values]
    graph = Graph(*(node for node in nodes if not isinstance(node, str)))
    for i, node in enumerate(graph.nodes):
        if short(node) != "AccumulateGrad":
            node.register_prehook(lambda grads, i=i: log.append([i, "runs"]))

    def back():
        ends = [values[place % len(values)] for place in roots]
        xp.autograd.backward(ends, [xp.ones_like(x) for x in ends], create_graph=create)

    found = [attempt(back) for _ in range(2)]
    shown = []
    for x, node in zip(values, nodes):
        if isinstance(node, str):
            shown.append(node)
            continue
        kept = plain(x.grad) if x.requires_grad and (x.is_leaf or x.retains_grad) else None
        shown.append([plain(x), x.requires_grad, x._version, graph.place(node), kept])
    return {"statements": said, "values": shown, "graph": graph.shown(), "backward": found, "log": log[:300]}


@program(
    "together.head",
    cases=lambda st: st.fixed_dictionaries(
        {"batch": st.integers(1, 8), "features": st.sampled_from([64, 8, 3]), "classes": st.sampled_from([600, 20, 5])}
    ),
    edges=[{"batch": 8, "features": 64, "classes": 600}],
)
def head(xp, batch, features, classes):
    """`nn.Linear` by its operators: the gradients of input, weight and bias, and the graph."""

    def numbers(*shape):
        count = xp.ones(shape).numel()
        return ((xp.arange(count, dtype=xp.float64) * 0.7).sin()).reshape(shape)

    x, weight, bias = (
        part.requires_grad_() for part in (numbers(batch, features), numbers(classes, features), numbers(classes))
    )
    logits = xp.nn.functional.linear(x, weight, bias)
    targets = xp.arange(batch) % classes
    loss = xp.nn.functional.cross_entropy(logits, targets)
    graph = Graph(loss.grad_fn).shown()
    logits.retain_grad()
    loss.backward()
    return {"loss": plain(loss), "graph": graph} | {
        name: plain(x.grad) for name, x in (("logits", logits), ("input", x), ("weight", weight), ("bias", bias))
    }
