"""Lab 15b, a decomposition: its results, the operators in its graph, and its entries in a table."""

from __future__ import annotations

import math
from contextlib import contextmanager
from functools import cache

from ...engine.check import program
from ..cases import (
    apart,
    attempt,
    copied,
    defaults,
    drawn,
    explained,
    field,
    first_of,
    numbers,
    sizes,
    when,
    with_layout,
)

KINDS = ("bool", "uint8", "int32", "int64", "float32", "float64")
LAYOUTS = ("", "gaps", "backwards", "equal")
DEGREES = (-3, -1, 0, 1, 2, 3, 4, 5, 6, 2.7, 1.5, -0.5, -1.5, True, False)


def points_at(torch, shape, kind, layout, nan=False):
    """The points at which a polynomial is computed. Those of integers are larger."""
    x = numbers(torch, shape, 2) * (1 if kind.startswith("float") else 4)
    if kind == "uint8":
        x = x.abs()
    if nan and x.numel() and kind.startswith("float"):
        x.view(-1)[0] = math.nan
    return with_layout(torch, x.to(getattr(torch, kind)), layout)


def strides(x):
    """The strides that matter: those of dimensions with several elements, if there are elements at all."""
    return [step if size > 1 and x.numel() else 0 for size, step in zip(x.shape, x.stride())]


def alone(result, x):
    return not result.numel() or result.untyped_storage().data_ptr() != x.untyped_storage().data_ptr()


@cache
def core_decompositions():
    from torch._decomp import core_aten_decompositions

    return core_aten_decompositions()


def left_over(torch, function, x, more=None):
    """The operators of a function's graph that are not core, the number of guards on sizes, and what the graph computes."""
    from torch.fx.experimental.proxy_tensor import make_fx

    graph = make_fx(function, {**core_decompositions(), **(more or {})}, tracing_mode="symbolic")(x)
    targets = {node.target for node in graph.graph.nodes if node.op == "call_function"}
    operators = [target for target in targets if isinstance(target, torch._ops.OpOverload)]
    beyond = sorted(str(op) for op in operators if torch.Tag.core not in op.tags)
    return beyond, len(graph.shape_env.guards), copied(graph(x))


@contextmanager
def default_dtype(torch, kind):
    """Within: torch's default dtype is this one."""
    before = torch.get_default_dtype()
    torch.set_default_dtype(getattr(torch, kind))
    try:
        yield
    finally:
        torch.set_default_dtype(before)


point = defaults(shape=[2, 3], n=3, kind="float32", layout="", nan=False, default="float32")
_CASES = {
    "shape": lambda st: sizes(st, (0, 3), 4), "n": [*DEGREES], "kind": [*KINDS], "layout": [*LAYOUTS],
    "nan": [False, False, True], "default": ["float32", "float32", "float64"],
}  # fmt: skip


def other_dtype(case, mine, theirs):
    both = [field(side, "result") for side in (mine, theirs)]
    return all(map(is_tensor, both)) and both[0]["tensor"]["dtype"] != both[1]["tensor"]["dtype"]


def is_tensor(tree):
    return isinstance(tree, dict) and "tensor" in tree


HINT = explained(
    captured="the graph that is captured gives another result: a tracer sees one program, whatever runs",
    not_core="the graph has an operator that is not core: a compiler calls its kernel, or refuses the graph",
    guards="a size is compared: with symbols for sizes, the graph is right for some sizes only",
    alone="the result shares memory with x: a later write to one of them changes the other",
)


@program(
    "contribute.add.legendre_p",
    cases=drawn(**_CASES),
    edges=[
        *(point(n=n) for n in DEGREES),
        *(point(kind=kind, n=n) for kind in KINDS for n in (-1, 0, 1, 2)),
        *(point(layout=layout, n=n, kind=kind) for layout in LAYOUTS for n, kind in
          ((-1, "float32"), (0, "float32"), (1, "float32"), (1, "int64"), (2, "float32"), (3, "int64"))),
        *(point(shape=shape, n=n) for shape in ([], [0], [2, 0], [1]) for n in (-1, 0, 1, 3)),
        *(point(nan=True, n=n, kind="float64") for n in (-1, 0, 1, 2, 4)),
        *(point(kind=kind, default="float64") for kind in ("int64", "bool", "float32")),
        point([2, 3, 4], layout="backwards"), point([2, 2, 3], 4, "float64", "gaps"),
    ],
    hint=first_of(
        HINT,
        when(apart("strides"), "the result's strides are those that PyTorch gives the result of x + 1.5"),
        when(
            other_dtype,
            "the dtype is that of x if x is floating. For integers and bool, result and calculation have torch's default dtype",
        ),
        when("nan", "P_0 and a negative degree are numbers at nan too; from n = 2 on, nan gives nan"),
        when(lambda case: case["n"] != int(case["n"]), "the operator cuts off the fraction of n, towards 0"),
        when(lambda case: case["n"] < 0, "a negative degree gives 0"),
    ),
    draws=40,
)  # fmt: skip
def legendre(xp, shape, n, kind, layout, nan, default):
    import torch

    x = points_at(torch, shape, kind, layout, nan)
    before = copied(x)
    with default_dtype(torch, default):
        result = xp.contribute.add.legendre_p(x, n)
        beyond, guards, captured = left_over(torch, lambda x: xp.contribute.add.legendre_p(x, n), x)
    seen = {
        "result": copied(result),
        "strides": strides(result),
        "alone": alone(result, x),
        "x": torch.equal(x.nan_to_num(9), before.nan_to_num(9)),
    }
    return seen | {"not core": beyond, "guards": guards, "captured": captured}


@legendre.oracle
def legendre_by_torch(torch, shape, n, kind, layout, nan, default):
    x = points_at(torch, shape, kind, layout, nan)
    with default_dtype(torch, default):
        result = torch.special.legendre_polynomial_p(x, n)
    if n >= 2:
        result[x.isnan()] = math.nan  # the kernel returns a number that it has never written
    seen = {"result": copied(result), "strides": strides(result), "alone": True, "x": True}
    return seen | {"not core": [], "guards": 0, "captured": copied(result)}


# In a table ----------------------------------------------------------------------------------------------------------

OUTS = {  # the sizes of `out` for a result (2, 3), and how it lies in memory
    "right": ([2, 3], ""), "turned": ([2, 3], "backwards"), "gaps": ([2, 3], "gaps"), "no elements": ([0], ""),
    "other sizes": ([7], ""),
}  # fmt: skip
placed = defaults(n=3, kind="float32", out="right", out_kind="float32")


@program(
    "contribute.add.legendre_table",
    cases=drawn(n=[*DEGREES], kind=[*KINDS], out=[*OUTS], out_kind=["float32", "float64", "int64", "float16"]),
    edges=[
        *(placed(out=out, kind=kind) for out in OUTS for kind in ("float32", "int64")),
        *(placed(out_kind=kind, out=out) for kind in ("float64", "int64", "float16", "bool") for out in ("right", "gaps")),
        *(placed(n=n) for n in (-1, 0, 1, 2.7)),
    ],
    hint=first_of(
        when(
            lambda case, mine, theirs: apart("refused")(case, mine, theirs) and OUTS[case["out"]][0] != [2, 3],
            "out gets the sizes of the result if it has others",
        ),
        explained(
        keys="the keys are the overloads n_scalar and n_scalar_out; an entry of the other overloads would be called with tensors",
        is_new="each call returns a new dict",
        elsewhere="the decomposition is registered for other code, too: `registry` names the table that gets it",
        graph="with the table, the operator is still in the graph, or another one that is not core",
        refused="the function of n_scalar_out has the parameters (x, n, *, out), and raises RuntimeError where the result's dtype "
        "cannot become that of out, and only there: torch.can_cast says where",
        returned="the function of n_scalar_out returns out",
        memory="a view of the same memory sees the result: out is written, not replaced",
    )),
    draws=20,
)  # fmt: skip
def table(xp, n, kind, out, out_kind):
    import torch

    return tabled(torch, xp.contribute.add.legendre_table, n, kind, out, out_kind)


def tabled(torch, make, n, kind, out, out_kind):
    from torch._decomp import global_decomposition_table

    op = torch.ops.aten.special_legendre_polynomial_p
    registered = {name: dict(part) for name, part in global_decomposition_table.items()}
    table, again = make(), make()
    x, (shape, layout) = points_at(torch, [2, 3], kind, ""), OUTS[out]
    target = with_layout(torch, torch.full(shape, 9).to(getattr(torch, out_kind)), layout)
    view = target[:1]
    keys = sorted(str(key) for key in table)
    functions = [table.get(getattr(op, name)) for name in ("n_scalar", "n_scalar_out")]
    returned = attempt(lambda: functions[1](x, n, out=target))
    refused = returned if isinstance(returned, str) else ""
    return {
        "keys": keys,
        "is new": table is not again,
        "elsewhere": [name for name, part in global_decomposition_table.items() if part != registered[name]],
        "functional": copied(functions[0](x, n=n)),
        "graph": left_over(torch, lambda x: op.n_scalar(x, n), x, table)[0],
        "refused": refused, "returned": bool(refused) or returned is target,
    } | written(refused, target, view)  # fmt: skip


def written(refused, target, view):
    """What `out` and a view of its memory have. An error may leave `out` with other sizes."""
    if refused:
        return {"out dtype": target.dtype, "out": None, "strides": None, "memory": None}
    same, values = view.shape == target[:1].shape, copied(target)
    return {
        "out dtype": target.dtype,
        "out": values.float() if values.dtype.itemsize == 8 else values,  # float64 were computed in float32
        "strides": target.stride(), "memory": copied(view) if same else None,
    }  # fmt: skip


@table.oracle
def table_by_torch(torch, n, kind, out, out_kind):
    op = torch.ops.aten.special_legendre_polynomial_p
    x, (shape, layout) = points_at(torch, [2, 3], kind, ""), OUTS[out]
    target = with_layout(torch, torch.full(shape, 9).to(getattr(torch, out_kind)), layout)
    view = target[:1]
    refused = attempt(lambda: torch.special.legendre_polynomial_p(x, n, out=target) is None) or ""
    return {
        "keys": [str(op.n_scalar), str(op.n_scalar_out)], "is new": True, "elsewhere": [],
        "functional": torch.special.legendre_polynomial_p(x, n), "graph": [],
        "refused": refused, "returned": True,
    } | written(refused, target, view)  # fmt: skip
