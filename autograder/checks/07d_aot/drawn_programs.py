"""Programs for ahead-of-time autograd: how a case describes a program, how it is drawn, and how its graphs are shown.

A program is a list of statements, [operation, index, index]: an operation and its operands among the values so far (indices
wrap around). The first values are the inputs, [sizes, requires_grad].
"""

from __future__ import annotations

import math
import operator

from ..cases import drawn, is_torch, listed, several
from ..listing import Listing


def inputs_of(xp, inputs):
    """Tensors of small numbers, all different, so that a maximum is never in doubt."""
    made = []
    for i, (shape, grad) in enumerate(inputs):
        count = math.prod(shape)
        values = (xp.arange(count, dtype=xp.float32) * 7 % 11 * 0.25 - 1.1 + 0.07 * i).reshape(shape).clone()
        made.append(values.requires_grad_() if grad else values)
    return made


def numbers(xp, shape, first=0.0):
    return (xp.arange(math.prod(shape), dtype=xp.float32) + first).reshape(shape)


def fits(x, y):
    """Whether y can be broadcast to the sizes of x."""
    return len(y.shape) <= len(x.shape) and all(a in (1, b) for a, b in zip(reversed(y.shape), reversed(x.shape)))


def _functions(texts):
    return {name: eval(f"lambda xp, x, y: {text}", globals()) for name, text in texts.items()}


PURE = _functions({
    "neg": "-x", "double": "x * 2", "shift": "x + 0.5", "bell": "(x * -x).exp()", "sigmoid": "x.sigmoid()", "tanh": "x.tanh()",
    "relu": "x.relu()", "cos": "x.cos()", "clone": "x.clone()", "detach": "x.detach()", "sum": "x.sum()",
    "rows": "x.sum(-1, True) if x.dim() else x.sum()", "amax": "x.amax(-1, True) if x.dim() and x.shape[-1] else x.tanh()",
    "softmax": "x.softmax(-1)", "add": "x + y", "sub": "x - y", "mul": "x * y", "div": "x / (y + 7)",
    "add twice": "xp.add(x, y, alpha=2)", "mm": "x.mm(y) if x.dim() == y.dim() == 2 and x.shape[1] == y.shape[0] else x * y",
    "stack": "xp.stack([x, x])", "cat": "xp.cat([x, x]) if x.dim() else x + x",
})  # fmt: skip
VIEWS = _functions({
    "t": "x.t() if x.dim() < 3 else x.transpose(0, -1)",
    "first": "x[0] if x.dim() and x.shape[0] else x.unsqueeze(0)",
    "last": "x.select(-1, -1) if x.dim() and x.shape[-1] else x.unsqueeze(0)",
    "tail": "x[1:] if x.dim() else x.unsqueeze(0)", "unsqueeze": "x.unsqueeze(0) if x.dim() < 3 else x.squeeze(0)",
    "view": "x.view(-1) if x.is_contiguous() else x.unsqueeze(-1)", "expand": "x.expand(2, *x.shape)",
})  # fmt: skip
SEVERAL = _functions({
    "split": "x.split(1) if x.dim() else (x + 1,)", "unbind": "x.unbind(0) if x.dim() else (x + 1,)",
    "max": "x.max(-1) if x.dim() and x.shape[-1] else (x * 3,)",
})  # fmt: skip
WRITES = _functions({
    "double_": "x.mul_(2)", "add_": "x.add_(y * 1) if fits(x, y) else x.add_(1)", "zero_": "x.zero_()", "fill_": "x.fill_(3.0)",
    "copy_": "x.copy_(y * 1) if fits(x, y) else x.neg_()",
})  # fmt: skip
METADATA_WRITES = _functions({
    "t_": "x if x.requires_grad or x.dim() != 2 else x.t_()",
    "unsqueeze_": "x if x.requires_grad or x.dim() > 2 else x.unsqueeze_(0)",
})  # fmt: skip
OUT = _functions({"neg out": "xp.neg(x, out=x.clone())"})
TUPLES = _functions(
    {"cat a tuple": "xp.cat((x, x))", "turned": "x.permute(tuple(reversed(range(x.dim()))))"}
)  # not drawn
STEEP = _functions({"exp": "x.exp()"})  # not drawn: after a few in a row the last bit is the fifth digit
PICKED = _functions({"picked": "x[y.argmax(-1)]"})  # not drawn: the largest index has to be one of x
MASKED = _functions({"masked": "x * (x > y)"})  # not drawn: it jumps where x and y are equal


def _under_no_grad(run):
    def quietly(xp, x, y):
        with xp.no_grad():
            return run(xp, x, y)

    return quietly


MORE_WRITES = {f"quietly {name}": _under_no_grad(run) for name, run in WRITES.items()} | METADATA_WRITES
MORE_WRITES_TO_METADATA = {  # not drawn
    "quietly turn": _under_no_grad(lambda xp, x, y: x.t_()),
    "last row_": lambda xp, x, y: x.as_strided_([3], [1], 3),
}
OPERATIONS = (
    MORE_WRITES_TO_METADATA | TUPLES | STEEP | PICKED | MASKED | OUT | PURE | VIEWS | SEVERAL | WRITES | MORE_WRITES
)
BINARY = ("add", "sub", "mul", "div", "add twice", "mm")
LISTED = {"turn": "x.t_()"}  # as a listing has it, below `with torch.no_grad():`


def run(xp, statements, *values):
    """The program's values; a statement whose operands do not fit together uses its first operand twice."""
    values = list(values)
    for operation, i, j in statements:
        x, y = values[i % len(values)], values[j % len(values)]
        if operation in BINARY and not (fits(x, y) or fits(y, x)):
            y = x
        if not x.dtype.is_floating_point or not y.dtype.is_floating_point:
            operation = "clone"
        result = OPERATIONS[operation](xp, x, y)
        values += result if isinstance(result, (list, tuple)) else [result]
    return values


def function_of(xp, statements, outputs, own=False):
    """The program as a function of its inputs; `outputs` are the indices of its results, from the end. With `own` it works on
    copies of the inputs that require grad, so it may write to them even if they are leaves."""

    def function(*inputs):
        values = run(xp, statements, *[x.clone() if own and x.requires_grad else x for x in inputs])
        return [values[-1 - index % len(values)] for index in outputs]

    return function


def make_fx_of(xp):
    """`make_fx` with fake tensors, as either framework has it."""
    if not is_torch(xp):
        return lambda function: xp.aot.make_fx(function, tracing_mode="fake")
    from torch.fx.experimental.proxy_tensor import make_fx

    return lambda function: make_fx(function, tracing_mode="fake", _allow_non_fake_inputs=True)


# What a check sees ---------------------------------------------------------------------------------------------------


def in_order(x):
    """A tensor's values, row by row, whatever its strides are."""
    return x.detach().reshape(-1).clone().reshape(x.shape)


def target_name(target):
    if target is operator.getitem:
        return "getitem"
    return target if isinstance(target, str) else str(target).removeprefix("aten.")


def _argument(value):
    """An argument of a node as text: nodes by name, and names of the frameworks without their prefix."""
    if isinstance(value, (list, tuple)):
        return f"[{', '.join(map(_argument, value))}]"
    return str(value).removeprefix("torch.").removeprefix("rushlight.")


def _line(node):
    args = [_argument(arg) for arg in node.args] if node.op != "placeholder" else []
    kwargs = [f"{name}={_argument(value)}" for name, value in node.kwargs.items()]
    return f"{node.name} = {target_name(node.target)}({', '.join([*args, *kwargs])})"


def shown(graph):
    return [_line(node) for node in graph.nodes]


def metadata(value):
    """The sizes and the dtype in a node's `val`."""
    if isinstance(value, (list, tuple)):
        return [metadata(item) for item in value]
    return [list(value.shape), str(value.dtype).rpartition(".")[2]] if hasattr(value, "shape") else None


def result_or_raises(run):
    try:
        return run()
    except (RuntimeError, ValueError, TypeError, AssertionError) as error:
        if isinstance(error, (NotImplementedError, RecursionError)):
            raise
        return "raises"


def as_code(torch, inputs, statements, outputs=None, **others):
    """A case as code: its inputs, and the function of them."""
    page = Listing(torch, __name__)
    for i, ((shape, grad), x) in enumerate(zip(inputs, inputs_of(torch, inputs))):
        made = f"(torch.arange({x.numel()}.0) * 7 % 11 * 0.25 - {1.1 - 0.07 * i:.2f}).reshape({shape})"
        made += ".requires_grad_()" * bool(grad) + " * 1" * (grad == "computed")
        page.add(made, x * 1 if grad == "computed" else x)
    page.lines += ["", f"def program({', '.join(map(page.name, range(len(inputs))))}):"]
    for operation, i, j in statements:
        x, y = (page.values[index % len(page.values)] for index in (i, j))
        j = i if operation in BINARY and not (fits(x, y) or fits(y, x)) else j
        if not x.dtype.is_floating_point or not y.dtype.is_floating_point:
            operation = "clone"
        plain = operation.removeprefix("quietly ")
        text = page.operation(plain, i, j)
        page.lines += ["    with torch.no_grad():"] if plain != operation else []
        try:
            page.add(text, OPERATIONS[operation](torch, x, page.values[j % len(page.values)]))
        except RuntimeError:
            page.lines.append(f"{text}  # raises an error")
            outputs = []
        page.lines[-1] = ("    " if plain == operation else "        ") + page.lines[-1]
        if outputs == []:
            return page.text(**others)
    results = range(len(inputs), len(page.values)) if outputs is None else [-1 - i % len(page.values) for i in outputs]
    page.lines += [f"    return {page.names(results)}", ""]
    return page.text(**others)


# Strategies ----------------------------------------------------------------------------------------------------------

SHAPES = [[3, 3], [3, 3], [2, 3], [3], [1, 3], []]
WIDE = [[8, 8], [8, 8], [8], [1, 8], [2, 3], []]


def drawn_program(operations, grad, most=6, least=0, shapes=SHAPES, **more):
    """Cases of a program with these operations. `more` replaces parts, or adds others."""
    inputs = several(listed(shapes, bool if grad else [False]), 1, 2)
    statements = several(listed(sorted(operations), (0, 30), (0, 30)), least, most)
    return drawn(**{"inputs": inputs, "statements": statements, "outputs": several((0, 6), 1, 3)} | more)


def without_outputs(case):
    return {name: value for name, value in case.items() if name != "outputs"}


def without_writes_to_expanded(case):
    """Eager mode mostly refuses to write to elements that share memory, and a functional graph does it in its own way."""
    writes = any(operation in WRITES or operation in MORE_WRITES for operation, _, _ in case["statements"])
    statements = [["unsqueeze" if writes and op == "expand" else op, i, j] for op, i, j in case["statements"]]
    return case | {"statements": statements}
