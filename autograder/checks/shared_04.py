"""Shared by the checks of autograd: the small programs that most cases hold, and texts of tensors and graphs.

A program is a list of statements. Each statement is an operation and the indices of its operands among the values so far.
All sizes are 3 or 1, of at most two dimensions, so that any two values broadcast. Graphs are compared node by node. Where torch
has no function for a part of the engine, torch's answer comes from its graphs: `next_functions`, the saved tensors of nodes, and
hooks that tell which nodes ran.
"""

from __future__ import annotations

from contextlib import contextmanager

from .cases import attempt, drawn, is_torch, listed, several
from .listing import MAX_LINES, Listing


def plain(x):
    """The values of a tensor, row by row and without a history. The strides are those of a new tensor, also for one element."""
    return None if x is None else x.detach().new_empty(x.shape).copy_(x.detach())


def dense(x):
    """The same, with the tensor's strides if it has no gaps."""
    return None if x is None else x.detach().clone()


def outcome(found, name="gradients"):
    """A result or an error in two fields, so that the difference names one of them."""
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


def node_name(node):
    return node.name().removeprefix("torch::autograd::")


def described(x):
    output_nr = x.output_nr if x.requires_grad else 0
    return {"requires_grad": x.requires_grad, "is_leaf": x.is_leaf, "version": x._version, "output_nr": output_nr}


class Graph:
    """The nodes that can be reached, numbered in the order of a search. The graph keeps them alive."""

    def __init__(self, *roots):
        self.nodes, self.indices = [], {}
        for root in roots:
            self.add(root)

    def add(self, root):
        waiting = [root]
        while waiting:
            node = waiting.pop()
            if node is None or node in self.indices:
                continue
            self.indices[node] = len(self.nodes)
            self.nodes.append(node)
            waiting += [successor for successor, _ in reversed(node.next_functions)]

    def index(self, node):
        return None if node is None else self.indices.get(node, "another node")

    def shown(self):
        """For each node its name and its edges."""
        return [[node_name(node), [[self.index(n), i] for n, i in node.next_functions]] for node in self.nodes]


def graph_of(values):
    """The graph of some values, and for each value its node, or the error that the access to its `grad_fn` raises."""
    nodes = [attempt(lambda x=x: x.grad_fn) for x in values]
    return Graph(*(node for node in nodes if not isinstance(node, str))), nodes


UNARY = {
    "neg": lambda xp, x: -x, "double": lambda xp, x: x * 2, "shift": lambda xp, x: x + 0.5,
    "sigmoid": lambda xp, x: x.sigmoid(), "tanh": lambda xp, x: x.tanh(), "abs": lambda xp, x: x.abs(),
    "relu": lambda xp, x: x.relu(), "clone": lambda xp, x: x.clone(), "sum": lambda xp, x: x.sum(),
    "row": lambda xp, x: x.mean(0, True) if x.dim() else x.mean(), "float32": lambda xp, x: x.to(xp.float32),
    "softmax": lambda xp, x: x.softmax(-1),
}  # fmt: skip
SEVERAL = {
    "max": lambda xp, x: x.max(-1), "split": lambda xp, x: x.split(1, -1) if x.dim() else (x,),
    "unbind": lambda xp, x: x.unbind(0) if x.dim() else (x,),
}  # fmt: skip
VIEWS = {
    "t": lambda xp, x: x.t(), "first": lambda xp, x: x[0] if x.dim() else x.view(1),
    "slice": lambda xp, x: x[-1:] if x.dim() else x.view(1), "expand": lambda xp, x: x.expand(3, 3),
    "unsqueeze": lambda xp, x: x.unsqueeze(0) if x.dim() < 2 else x.transpose(0, 1),
    "view": lambda xp, x: x.view(x.shape),
}  # fmt: skip
BINARY = {
    "add": lambda xp, x, y: x + y, "sub": lambda xp, x, y: x - y, "mul": lambda xp, x, y: x * y,
    "div": lambda xp, x, y: x / (y * y + 1), "maximum": lambda xp, x, y: xp.maximum(x, y),
    "where": lambda xp, x, y: xp.where(x > y, x, y),
}  # fmt: skip
CUT = {
    "detach": lambda xp, x: x.detach(), "argmax": lambda xp, x: x.argmax(-1), "compare": lambda xp, x: x > 0,
    "long": lambda xp, x: x.long(),
}  # fmt: skip
DIFFERENTIABLE = [*UNARY, *SEVERAL, *VIEWS, *BINARY, *BINARY]
ANY = [*DIFFERENTIABLE, *CUT]
LEAF, ROW, FIXED = [[3, 3], True], [[3], True], [[3], False]
SHAPES = ([3, 3], [3], [1, 3], [3, 1], [])
IN_PLACE = {
    "double_": lambda xp, x, y: x.mul_(2), "tanh_": lambda xp, x, y: x.tanh_(), "zero_": lambda xp, x, y: x.zero_(),
    "add_": lambda xp, x, y: x.add_(_other(x, y)), "mul_": lambda xp, x, y: x.mul_(_other(x, y)),
    "copy_": lambda xp, x, y: x.copy_(_other(x, y)),
}  # fmt: skip
OPERATIONS, QUIETLY = UNARY | SEVERAL | VIEWS | BINARY | CUT, "quietly "
QUIET_MODES = {"quietly": "no_grad", "inferring": "inference_mode"}  # by the word before the operation
FLAGS = {"custom": "IN_CUSTOM_FUNCTION", "inferring": "INFERENCE_MODE"}  # of a view, by the same word


def flagged(xp, view, flag):
    """Give a view the flag that says how it was made, because custom functions and inference mode are later exercises."""
    if is_torch(xp):
        xp._C._autograd._set_creation_meta(view, getattr(xp._C._autograd.CreationMeta, flag))
    else:
        view._creation_meta = type(view._creation_meta)[flag]
    return view


def _other(x, y):
    """A value to write, never in the memory that is written to."""
    return y.detach() * 1 if x.untyped_storage().data_ptr() == y.untyped_storage().data_ptr() else y


def operate(xp, values, name, *indices):
    """Run one statement. Its results join the values. A write in place returns its outcome."""
    x, *others = operands = [values[index % len(values)] for index in indices]
    if write := IN_PLACE.get(name.removeprefix(QUIETLY)):
        with grad_mode(xp, not name.startswith(QUIETLY)):
            y = others[0] if others else values[0]
            return attempt(lambda: "written" if write(xp, x, y) is x else "another tensor")
    how, _, plain = name.rpartition(" ")
    with grad_mode(xp, xp.is_grad_enabled() and how not in QUIET_MODES):
        result = OPERATIONS[plain](xp, *operands)
    if how in FLAGS:
        flagged(xp, result, FLAGS[how])
    values.extend(result if isinstance(result, (list, tuple)) else [result])


def start(xp, leaves):
    """The first values of a program, from their sizes and whether they require grad."""
    values = []
    for number, (shape, requires_grad) in enumerate(leaves):
        count = 3 ** sum(size == 3 for size in shape)
        x = xp.arange(count, dtype=xp.float64).reshape(shape) * 0.25 + (0.5 * number - 1)
        values.append(x.requires_grad_(requires_grad))
    return values


def do(text):
    """A list of statements from their text: `mul 0 0, neg 1` is [["mul", 0, 0], ["neg", 1]]."""
    words = [step.split() for step in text.split(",")]
    indices = [[word for word in step if word.removeprefix("-").isdigit()] for step in words]
    return [[" ".join(step[: -len(some)]), *map(int, some)] for step, some in zip(words, indices)]


drawn_leaves = several(listed([*SHAPES], [True, True, True, False]), 1, 3)


def drawn_statements(st, names=DIFFERENTIABLE, most=8):
    index = st.integers(0, 12)
    kinds = [st.tuples(st.just(name), *[index] * (2 if name in BINARY else 1)).map(list) for name in names]
    return st.lists(st.one_of(kinds), max_size=most)


def drawn_writes(st, most=8):
    """Statements, and among them writes in place."""
    names = [*IN_PLACE, *IN_PLACE, "quietly double_", "quietly add_"]
    write = st.tuples(st.sampled_from(names), st.integers(0, 8), st.integers(0, 8)).map(list)
    views = st.tuples(st.sampled_from([*VIEWS, "split", "unbind", "clone", "detach"]), st.integers(0, 8)).map(list)
    steps = st.one_of(write, write, views, views, drawn_statements(st, most=1))
    return st.lists(steps, max_size=most).map(
        lambda some: [
            statement for step in some for statement in ([step] if step and isinstance(step[0], str) else step)
        ]
    )


def rooted_programs(**more):
    return drawn(leaves=drawn_leaves, statements=drawn_statements, times=[1], roots=several((0, 12), 1, 3), **more)


def run_repeatedly(xp, leaves, statements, times):
    values = start(xp, leaves)
    for statement in statements * times:
        operate(xp, values, *statement)
    return values


def chosen(values, indices):
    """The values at these indices that have a gradient."""
    return [x for x in (values[index % len(values)] for index in indices) if x.requires_grad]


DIAMOND = do("tanh 0, neg 1, double 1, mul 2 3, sum 4")
TWO_LEAVES = do("mul 0 1, tanh 2, add 3 2, sigmoid 1, sub 4 5")


# Shown ---------------------------------------------------------------------------------------------------------------


def listing_of(torch, leaves, statements, times=1, special=lambda page, name, *indices: False):
    """A program as code. `special` adds the lines of a statement that is not of this file, and returns whether it is one."""
    page = Listing(torch, __name__)
    for number, ((shape, requires_grad), x) in enumerate(zip(leaves, start(torch, leaves))):
        made = f"(torch.arange({x.numel()}, dtype=torch.float64).reshape({shape}) * 0.25 {_signed(0.5 * number - 1)})"
        page.add(made + ".requires_grad_()" * requires_grad, x)
    if len(statements) * times > MAX_LINES:
        return _repeated(torch, page, statements, times)
    for name, *indices in statements * times:
        if special(page, name, *indices):
            continue
        (how, _, plain), known = name.rpartition(" "), [*page.values]
        text = page.operation(plain, indices[0], indices[1] if len(indices) > 1 else 0)
        try:
            said = operate(torch, known, name, *indices)
        except RuntimeError:
            page.lines.append(f"{text}  # raises an error")
            break
        if plain in IN_PLACE:
            raises = f"  # {said}, and the program goes on" * said.startswith("raises")
            page.lines.append(text + raises)
        else:
            made = known[len(page.values) :]
            page.add(text, made if name in SEVERAL else made[0])
        if how in QUIET_MODES:
            page.lines[-1:] = [f"with torch.{QUIET_MODES[how]}():", f"    {page.lines[-1]}"]
        elif how in FLAGS:
            flags = "torch._C._autograd"
            page.lines.append(f"{flags}._set_creation_meta({page.name(-1)}, {flags}.CreationMeta.{FLAGS[how]})")
    return page


def _repeated(torch, page, statements, times):
    """Add a loop of statements that are operations with one result."""
    page.lines += [f"values = {page.names(range(len(page.values)))}", f"for _ in range({times}):"]
    page.in_list = True
    for name, *indices in statements:
        page.lines.append(f"    values.append({page.operation(name, indices[0], indices[-1])})")
    for name, *indices in statements * times:
        operate(torch, page.values, name, *indices)
    return page


def _signed(number):
    return f"{'-' if number < 0 else '+'} {abs(number)}"


def as_code(torch, leaves, statements, times=1, **indices):
    """A case as code: `indices` are of values that the check uses if they have a gradient."""
    page = listing_of(torch, leaves, statements, times)
    count = len(page.values)
    for name, some in indices.items():
        named = page.names([index for index in some if page.values[index % count].requires_grad])
        page.lines.append(f"{name} = {named}")
    return page.text()
