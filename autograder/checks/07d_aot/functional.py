"""Lab 07, functional graphs: operators as recorded, writes through views, and decompositions."""

from __future__ import annotations

import math

from ...engine.check import program
from ..cases import as_lists, drawing, drawn
from . import drawn_programs as aot

# Recording -----------------------------------------------------------------------------------------------------------


def traced(xp, make_fx, inputs, statements, constant):
    outside = xp.nn.Parameter(xp.ones(()), False) if constant == "parameter" else xp.ones(())

    def function(*values):
        values = aot.run(xp, statements, *values)
        if constant:
            values += [values[-1] + outside, outside * 2]
        return values

    values = aot.inputs_of(xp, inputs)
    module = make_fx(function)(*aot.inputs_of(xp, inputs))
    nodes = [node for node in module.graph.nodes if node.op == "call_function"]
    return {
        "graph": [line.replace("_param_constant", "_tensor_constant") for line in aot.shown(module.graph)],
        "containers": [[_containers(arg) for arg in node.args] for node in nodes],
        "metadata": [aot.metadata(node.meta.get("val")) for node in nodes],
        "results": [x.clone() for x in module(*values)],
    }


def _containers(arg):
    """The kinds of the containers in an argument: torch's lists in a graph are of a subclass."""
    if isinstance(arg, (list, tuple)):
        return ["list" if isinstance(arg, list) else "tuple", *map(_containers, arg)]
    return None


def _to_record(st):
    kinds = aot.PURE | aot.VIEWS | aot.SEVERAL | aot.WRITES | aot.OUT
    return aot.drawn_program(kinds, False, constant=bool)(st).map(aot.without_outputs)


RECORDED = [
    {"inputs": [[shape, False] for shape in shapes], "statements": statements, "constant": constant}
    for shapes, statements, constant in (
        ([[3]], [["neg out", 0, 0], ["exp", 1, 0]], False),
        ([[2, 3]], [["turned", 0, 0], ["cat a tuple", 1, 0]], False),
        ([[3, 3]], [["double", 0, 0]], False),
        ([[3]], [], True), ([[3]], [["double", 0, 0]], "parameter"),
        ([[3, 3], [3]], [["add twice", 0, 1], ["sum", 2, 0]], True),
        ([[3, 3]], [["split", 0, 0], ["mul", 2, 1], ["max", 0, 0]], False),
        ([[2, 3]], [["cat", 0, 0], ["stack", 1, 0], ["unbind", 2, 0]], False),
        ([[3, 3]], [["double_", 0, 0], ["neg", 0, 0], ["add", 0, 1]], False),
        ([[3]], [["clone", 0, 0], ["fill_", 1, 0], ["exp", 1, 0]], False),
        ([[3, 3]], [["tail", 0, 0], ["zero_", 1, 0], ["expand", 0, 0]], False),
    )
]  # fmt: skip


@program("aot.proxy_tensor.record_call", cases=_to_record, edges=RECORDED, draws=40, show=aot.as_code)
def operators_as_recorded(xp, **case):
    return traced(xp, aot.make_fx_of(xp), **case)


# Views ---------------------------------------------------------------------------------------------------------------
#
# A step from a base to a view is [overload, arguments after the tensor, which of several results or None].


def overload_of(xp, name):
    packet, _, overload = name.partition(".")
    return getattr(getattr(xp.ops.aten, packet), overload or "default")


def view_of(xp, x, step):
    name, args, index = step
    result = overload_of(xp, name)(x, *args)
    return result if index is None else result[index]


def sizes_of_view(shape, step):
    """The sizes of a view, by numpy on a shape alone: a case holds the sizes of the new values."""
    import numpy as np

    name, args, index = step
    x = ON_NUMPY[name.partition(".")[0]](np.zeros(shape), *args)
    return list((x if index is None else x[index]).shape)


def _split(x, size, dim=0):
    import numpy as np

    return np.split(x, range(size, x.shape[dim], size), dim)


def _squeeze(x, dim=None):
    dims = range(x.ndim) if dim is None else [dim] if isinstance(dim, int) else dim
    return x.squeeze(tuple(d for d in dims if x.shape[d] == 1))


ON_NUMPY = {
    "alias": lambda x: x,
    "detach": lambda x: x,
    "view": lambda x, size: x.reshape(size),
    "t": lambda x: x.T,
    "transpose": lambda x, a, b: x.swapaxes(a, b),
    "permute": lambda x, dims: x.transpose(dims),
    "squeeze": _squeeze,
    "unsqueeze": lambda x, dim: x.reshape([*x.shape[: dim % (x.ndim + 1)], 1, *x.shape[dim % (x.ndim + 1) :]]),
    "select": lambda x, dim, i: x.take(i, dim),
    "slice": lambda x, dim, start, end, step: x[(slice(None),) * (dim % x.ndim) + (slice(start, end, step),)],
    "diagonal": lambda x, offset, a, b: x.diagonal(offset, a, b),
    "unbind": lambda x, dim: [x.take(i, dim) for i in range(x.shape[dim])],
    "split": _split,
    "split_with_sizes": lambda x, sizes, dim: [
        x.take(range(sum(sizes[:i]), sum(sizes[: i + 1])), dim) for i in range(len(sizes))
    ],
}


def _whole_step(st, shape):
    """A step that shows all of a base of these sizes."""
    n = len(shape)
    choices = [st.sampled_from([["alias", [], None], ["detach", [], None], ["squeeze", [], None]])]
    choices += [st.permutations(shape).map(lambda size: ["view", [size], None])]
    choices += [st.just(["view", [[math.prod(shape)]], None])]
    choices += [st.integers(-n - 1, n).map(lambda dim: ["unsqueeze", [dim], None])]
    if n <= 2:
        choices += [st.just(["t", [], None])]
    if n:
        dim, dims = st.integers(-n, n - 1), st.lists(st.integers(0, n - 1), unique=True, max_size=n)
        choices += [st.tuples(dim, dim).map(lambda dims: ["transpose.int", list(dims), None])]
        choices += [st.permutations(range(n)).map(lambda dims: ["permute", [dims], None])]
        choices += [st.permutations(range(n)).map(lambda dims: ["permute", [[d - n for d in dims]], None])]
        choices += [dim.map(lambda d: ["squeeze.dim", [d], None])]
        choices += [dims.map(lambda dims: ["squeeze.dims", [dims], None])]
    return st.one_of(choices)


def _part_step(st, shape):
    """A step that shows a part of a base of these sizes, which has at least one dimension."""
    n = len(shape)

    @st.composite
    def step(draw):
        dim = draw(st.integers(-n, n - 1))
        size = shape[dim]
        kind = draw(st.sampled_from(["select", "slice", "slice", "unbind", "split", "split_with_sizes", "diagonal"]))
        if kind == "diagonal" and n >= 2:
            a, b = draw(st.permutations(range(n)))[:2]
            return ["diagonal", [draw(st.integers(-2, 2)), a, b - draw(st.sampled_from([0, n]))], None]
        if kind == "slice" or size == 0 or kind == "diagonal":
            start, end = draw(st.integers(-4, 4)), draw(st.sampled_from([-1, 0, 2, 3, 100]))
            return ["slice.Tensor", [dim, start, end, draw(st.integers(1, 3))], None]
        index = draw(st.integers(0, size - 1))
        if kind == "select":
            return ["select.int", [dim, index - draw(st.sampled_from([0, size]))], None]
        if kind == "unbind":
            return ["unbind.int", [dim], index]
        if kind == "split":
            return ["split.Tensor", [draw(st.integers(1, 3)), dim], draw(st.integers(0, 2))]
        first = draw(st.integers(0, size))
        return ["split_with_sizes", [[first, size - first], dim], draw(st.integers(0, 1))]

    def in_range(step):
        name, args, index = step
        return [name, args, index % len(range(0, shape[args[1]], args[0]))] if name == "split.Tensor" else step

    return step().map(in_range)


def _inverses(kind):
    def cases(st):
        shapes = st.lists(st.integers(1, 3), min_size=kind is _part_step, max_size=3)
        return shapes.flatmap(lambda shape: drawn(shape=st.just(shape), step=kind(st, shape))(st))

    return cases


WHOLE = [{"shape": shape, "step": [name, args, None]} for shape, name, args in (
    ([2, 3], "alias", []), ([2, 3], "detach", []), ([2, 3], "view", [[3, 2]]), ([2, 3], "_reshape_alias", [[6], [1]]),
    ([2, 3], "t", []), ([3], "t", []), ([2, 3, 4], "transpose.int", [0, -1]), ([2, 3, 4], "transpose.int", [1, 0]),
    ([2, 3, 4], "permute", [[1, 2, 0]]), ([2, 3], "permute", [[0, 1]]),
    ([2, 3, 4], "permute", [[-1, 0, -2]]), ([2, 3, 4], "permute", [[2, 0, 1]]),
    *(([2, 2, 2, 2], "permute", [dims]) for dims in ([1, 2, 3, 0], [1, 3, 0, 2], [0, 3, 1, 2], [2, 1, 3, 0], [-1, -2, -4, -3])),
    ([2, 1, 2, 1, 2], "permute", [[2, 0, 1, 4, 3]]), ([2, 2, 2, 1, 2], "permute", [[4, 0, 1, 2, 3]]), ([1, 2, 1], "squeeze", []),
    ([1, 2, 1], "squeeze.dim", [0]), ([1, 2, 1], "squeeze.dim", [-1]), ([1, 2, 1], "squeeze.dim", [1]),
    ([1, 2, 1, 3], "squeeze.dims", [[2, 0]]), ([1, 2, 1, 3], "squeeze.dims", [[-2, 0, 1]]),
    ([1, 2, 1], "squeeze.dims", [[]]), ([2, 3], "transpose.int", [0, 1]), ([2, 3], "expand", [[2, 3]]),
    ([1, 1, 1, 2], "squeeze.dims", [[-2, -4]]), ([0, 1], "squeeze", []), ([], "squeeze", []), ([], "squeeze.dim", [0]),
    ([2, 1], "unsqueeze", [1]), ([1, 2], "unsqueeze", [-1]), ([1, 2], "unsqueeze", [0]), ([2, 3], "expand", [[4, 2, 3]]),
    ([2, 1, 3], "expand", [[2, 2, 3]]), ([], "expand", [[3]]),
)]  # fmt: skip
PARTS = [{"shape": shape, "step": [name, args, index]} for shape, name, args, index in (
    ([2, 3], "select.int", [0, 1], None), ([2, 3], "select.int", [-1, -1], None), ([4, 3], "slice.Tensor", [0, 1, 3, 1], None),
    ([4, 5], "slice.Tensor", [1, 0, 100, 2], None), ([4, 5], "slice.Tensor", [], None), ([3, 3], "diagonal", [], None),
    ([3, 4, 3], "diagonal", [1, 2, 0], None), ([2, 3], "as_strided", [[2], [3], 1], None), ([2, 3], "unbind.int", [], 1),
    ([2, 3], "unbind.int", [-1], 2), ([5, 2], "split.Tensor", [2], 0), ([5, 2], "split.Tensor", [2], 1),
    ([5, 2], "split.Tensor", [2], 2), ([2, 5], "split.Tensor", [3, -1], 1), ([5, 2], "split_with_sizes", [[1, 3, 1]], 0),
    ([5, 2], "split_with_sizes", [[1, 3, 1]], 1), ([2, 5], "split_with_sizes", [[1, 2, 2], 1], 2),
    ([2, 5], "split_with_sizes", [[1, 2, 2], -1], 1),
)]  # fmt: skip

IN_PART = {case["step"][0] for case in PARTS}  # no inverse calls the operator of such a step


def inverse(xp, shape, step):
    base = aot.numbers(xp, shape)
    new = aot.numbers(xp, view_of(xp, base, step).shape, 100.5)
    name, args, index = step

    def invert(args):
        view = xp.aot.functional.View(overload_of(xp, name), args, index)
        return xp.aot.functional.view_inverse(base, view, new)

    new_base, called = operators_called(xp, lambda: invert(args), xp.aot.proxy_tensor.composite)
    by_lists = invert(tuple(as_lists(args)))
    return {
        "base": aot.in_order(new_base),
        "by lists": aot.in_order(by_lists),
        "before": base,
        "new": new,
        "operators": called,
    }


def inverse_in_torch(torch, shape, step):
    """The operators after the write in torch's functional graph, without aliases."""
    from torch.fx.experimental.proxy_tensor import make_fx

    base = aot.numbers(torch, shape)
    new = aot.numbers(torch, view_of(torch, base, step).shape, 100.5)

    def write(base, new):
        base = base.clone()
        view_of(torch, base, step).copy_(new)
        return base

    written = torch.func.functionalize(write)
    graph = make_fx(written)(base, new).graph
    graph.eliminate_dead_code()
    called = [aot.target_name(node.target).partition(".")[0] for node in graph.nodes if node.op == "call_function"]
    called = called[called.index("copy") + 1 :]
    called = ["view" if name == "_reshape_alias" else name for name in called if name != "alias"]
    after = aot.in_order(written(base, new))
    return {"base": after, "by lists": after, "before": base, "new": new, "operators": called}


@program("aot.functional.view_inverse", cases=_inverses(_whole_step), edges=WHOLE, draws=30)
def writes_through_a_view_of_all(xp, shape, step):
    return inverse(xp, shape, step)


@program("aot.functional.view_inverse.part", cases=_inverses(_part_step), edges=PARTS, draws=30)
def writes_through_a_view_of_a_part(xp, shape, step):
    return inverse(xp, shape, step)


writes_through_a_view_of_all.oracle(inverse_in_torch)
writes_through_a_view_of_a_part.oracle(inverse_in_torch)


@drawing
def _updates(draw, st):
    shape = draw(st.lists(st.integers(1, 3), max_size=3))
    steps, now = [], shape
    for _ in range(draw(st.integers(0, 4))):
        steps.append(draw(_part_step(st, now) if now and draw(st.booleans()) else _whole_step(st, now)))
        if steps[-1][0] == "view":  # not every order of dimensions allows it
            steps[-1] = ["unsqueeze", [0], None]
        now = sizes_of_view(now, steps[-1])
    return {"shape": shape, "steps": steps}


TAIL = ["slice.Tensor", [0, 1, 3, 1], None]
UPDATES = [{"shape": shape, "steps": steps} for shape, steps in (
    ([2, 3], []),
    ([2, 3], [["t", [], None]]),
    ([2, 3], [["select.int", [0, 1], None], TAIL]),
    ([3, 4], [["t", [], None], ["unbind.int", [0], 2], TAIL]),
    ([4, 2, 3], [TAIL, ["permute", [[2, 0, 1]], None], ["select.int", [0, 0], None], ["diagonal", [], None]]),
)]  # fmt: skip


@program("aot.functional.apply_update", cases=_updates, edges=UPDATES)
def writes_through_several_steps(xp, shape, steps):
    base = view = aot.numbers(xp, shape)
    for step in steps:
        view = view_of(xp, view, step)
    new = aot.numbers(xp, view.shape, 100.5)
    operators = [Counted(overload_of(xp, name)) for name, *_ in steps]
    kind = list if len(steps) == 2 else tuple
    views = kind(xp.aot.functional.View(func, *rest) for func, (_, *rest) in zip(operators, steps))
    given = [*views]
    new_base = xp.aot.functional.apply_update(base, new, views)
    last_view = bool(steps) and steps[-1][0] in IN_PART and operators[-1].calls > 0
    twice = any(func.calls > 1 and name in IN_PART for func, (name, *_) in zip(operators, steps))
    seen = {"base": aot.in_order(new_base), "before": base, "new": new, "makes the last view": last_view}
    return seen | {
        "makes a view twice": twice,
        "steps kept": given == [*views],
        "new itself": not steps and new_base is new,
    }


class Counted:
    """An operator that counts its calls."""

    def __init__(self, func):
        self.func, self.schema, self.calls = func, func.schema, 0

    def __call__(self, *args):
        self.calls += 1
        return self.func(*args)


@writes_through_several_steps.oracle
def _(torch, shape, steps):
    base = aot.numbers(torch, shape)
    after = view = base.clone()
    for step in steps:
        view = view_of(torch, view, step)
    new = aot.numbers(torch, view.shape, 100.5)
    view.copy_(new)
    seen = {"base": aot.in_order(after), "before": base, "new": new, "makes the last view": False}
    return seen | {"makes a view twice": False, "steps kept": True, "new itself": not steps}


# Decompositions ------------------------------------------------------------------------------------------------------

SIMPLE = {"amax", "sub", "exp", "sum", "div", "_to_copy"}


def operators_called(xp, function, composite=lambda func: None):
    """The result of a function, and the operators that it called; for one that `composite` knows, the operators within it."""
    called = []

    class Watch(xp.dispatch.DispatchMode):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            simpler = composite(func)
            if simpler is not None:
                with self:
                    return simpler(*args, **kwargs or {})
            called.append(func.schema.name)
            return func(*args, **kwargs or {})

    with Watch():
        result = function()
    return result, called
