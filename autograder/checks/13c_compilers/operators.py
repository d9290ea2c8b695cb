"""Checks of lab 13c: an operator that is not what its registration says, on real torch."""

from __future__ import annotations

import math

from ...engine.check import program
from ...engine.recorder import fresh_namespace
from ..cases import copied, drawn, explained, numbers

# What a registration says, and what is true --------------------------------------------------------------------------

KERNELS = {  # of two matrices of the same size
    "add": lambda x, y: x + y,
    "turned": lambda x, y: (x + y).t().contiguous().t(),
    "wide": lambda x, y: (x + y).double(),
    "whole": lambda x, y: (x + y).int(),
    "sum": lambda x, y: (x + y).sum(0),
    "writes x": lambda x, y: x.add_(y) + 1,
    "writes y": lambda x, y: y.sub_(x) * 2,
    "writes a zero": lambda x, y: x.mul_(1) + y,
    "writes both": lambda x, y: x.add_(y) * y.add_(1),
    "returns x": lambda x, y: x,
    "row of y": lambda x, y: y[0],
    "turned x": lambda x, y: x.t(),
    "writes x, returns y": lambda x, y: [x.add_(1), y][1],
    "returns what it writes": lambda x, y: x.add_(y),
    "writes a little": lambda x, y: x.add_(2**-20) * y,
    "writes a tiny number": lambda x, y: x.add_(1e-10) * y,  # only a zero changes
    "writes one element": lambda x, y: [x * y, y[-1:, -1:].zero_().add_(9)][0],
    "makes nan": lambda x, y: [x + y, x.fill_(math.nan)][0],
    "removes nan": lambda x, y: x.nan_to_num_() + y,
    "rest of x": lambda x, y: x[1:],
    "last of y": lambda x, y: y[..., -1],
    "memory of y": lambda x, y: y.new_empty(0).set_(y),
    "detached x": lambda x, y: x.detach(),
    "turns x in place": lambda x, y: [x * y, x.t_() if x.shape[0] == x.shape[1] else x][0],
    "turns y in place": lambda x, y: [x * y, y.t_() if y.shape[0] == y.shape[1] else y][0],
}
FAKES = {
    "add": lambda x, y: x.new_empty(x.shape),
    "turned": lambda x, y: x.new_empty(x.shape[::-1]).t(),
    "wide": lambda x, y: x.new_empty(x.shape).double(),
    "whole": lambda x, y: x.new_empty(x.shape).int(),
    "sum": lambda x, y: x.new_empty(x.shape[1:]),
    "turned x": lambda x, y: x.new_empty(x.shape).t(),
    "wide sum": lambda x, y: x.new_empty(x.shape[1:]).double(),
    "like x": lambda x, y: x.new_empty(1).as_strided(x.shape, x.stride()),
    "like y": lambda x, y: y.new_empty(1).as_strided(y.shape, y.stride()),
}
SCHEMAS = {  # of both arguments and the result
    "none": ("", "", ""), "x": ("(a!)", "", ""), "y": ("", "(a!)", ""), "both": ("(a!)", "(b!)", ""), "x read": ("(a)", "", ""),
    "x returned": ("(a!)", "", "(a!)"), "y returned": ("(a!)", "(b!)", "(b!)"), "part of x": ("(a)", "", "(a)"),
}  # fmt: skip


def _operator(torch, kernel, fake, written):
    """A new operator, and the library that keeps it."""
    library = torch.library.Library(fresh_namespace(), "FRAGMENT")
    x, y, result = SCHEMAS[written]
    library.define(f"op(Tensor{x} x, Tensor{y} y) -> Tensor{result}")
    library.impl("op", KERNELS[kernel], "CPU")
    library.impl("op", FAKES[fake], "Meta")
    return library, getattr(torch.ops, library.ns).op.default


def _matrices(torch, rows, columns, start, nan):
    x, y = (numbers(torch, [rows, columns], start + i, "float32") for i in range(2))
    return (x.masked_fill(x == x[0, 0], math.nan), y.masked_fill(y == y[0, 0], math.nan)) if nan else (x, y)


def _case(kernel, fake, written="none", rows=2, columns=3, nan=False):
    sizes = {"rows": rows, "columns": columns, "start": 1, "nan": nan}
    return {"kernel": kernel, "fake": fake, "written": written} | sizes


OPERATORS = {
    "add_.Tensor": 2,
    "mul.Tensor": 2,
    "t.default": 1,
    "detach.default": 1,
    "sum.default": 1,
    "zero_.default": 1,
}


def _same(x, y):
    return x.numpy().tobytes() == y.numpy().tobytes()


@program(
    "clinic.compilers.untrue",
    cases=drawn(
        kernel=sorted(KERNELS), fake=sorted(FAKES), written=sorted(SCHEMAS), rows=(1, 3), columns=(1, 3), start=(0, 9),
        nan=bool,
    ),
    edges=[
        *(_case(kernel, "add") for kernel in KERNELS), *(_case(name, name) for name in FAKES if name in KERNELS),
        *(_case("add", fake) for fake in FAKES),
        *(_case(kernel, "add", written, 2, 2) for kernel in ("writes x", "writes both", "returns what it writes")
          for written in SCHEMAS),
        *(_case(kernel, "add", nan=True) for kernel in ("add", "writes x", "writes y", "writes a little", "writes a zero")),
        _case("removes nan", "add", nan=True), _case("writes a tiny number", "add") | {"start": 3},
        *(_case(kernel, "add", written) for kernel in ("returns x", "turned x", "memory of y", "detached x")
          for written in ("x returned", "y returned", "part of x")),
        *(_case(f"turns {name} in place", f"like {name}", rows=columns, columns=columns)
          for name in "xy" for columns in (2, 3)),
        *({"operator": name, "start": 1} for name in OPERATORS),
    ],
    hint="each clause is about one call: what the operator does to copies of the arguments, and what it says without data",
)  # fmt: skip
def untrue(rl, start, operator=None, kernel="", fake="", written="", **sizes):
    import torch

    if operator:
        packet, _, overload = operator.partition(".")
        library, op = None, getattr(getattr(torch.ops.aten, packet), overload)
        args = [numbers(torch, [2, 3], start + i, "float32") for i in range(OPERATORS[operator])]
    else:
        library, op = _operator(torch, kernel, fake, written)
        args = _matrices(torch, start=start, **sizes)
    before = [*map(copied, args)]
    names = list(rl.clinic.compilers.untrue(op, *args))
    if library:
        library._destroy()
    return {"names": names, "arguments": all(map(_same, args, before))}


@untrue.oracle
def compared_on_meta(torch, start, operator=None, kernel="", fake="", written="", **sizes):
    if operator:
        return {"names": [], "arguments": True}  # torch's own operators are what they say
    x, y = _matrices(torch, start=start, **sizes)
    before = copied(x), copied(y)
    said = FAKES[fake](x.to("meta"), y.to("meta"))
    result = KERNELS[kernel](x, y)
    writes = [not _same(now, then) for now, then in zip((x, y), before)]
    shared = [tensor.untyped_storage().data_ptr() == result.untyped_storage().data_ptr() for tensor in (x, y)]
    *arguments, returned = SCHEMAS[written]
    clauses = {
        "aliases": any(
            shares and not (returned and returned[1] in letters) for shares, letters in zip(shared, arguments)
        ),
        "dtype": result.dtype != said.dtype,
        "sizes": result.shape != said.shape,
        "strides": result.shape == said.shape and result.stride() != said.stride(),
        "writes": any(write and "!" not in declared for write, declared in zip(writes, arguments)),
    }
    return {"names": [name for name, fails in clauses.items() if fails], "arguments": True}


# The operator, registered as it is -----------------------------------------------------------------------------------


def _registered(torch, namespace, register):
    register(namespace)
    return getattr(torch.ops, namespace).whiten.default


LAYOUTS = {
    "": lambda torch, x: x,
    "gaps": lambda torch, x: torch.stack([x, x], 2)[..., 0],
    "turned": lambda torch, x: x.t().contiguous().t(),
    "equal rows": lambda torch, x: x[:1].expand_as(x),
    "equal columns": lambda torch, x: x[:, :1].expand_as(x),
    "one number": lambda torch, x: x[:1, :1].expand_as(x),
    "rows of a wide matrix": lambda torch, x: torch.cat([x, x], 1)[:, : x.shape[1]],
}


def _described(x):
    """The sizes, the strides and the dtype of a result. The strides of dimensions of size 1 do not matter."""
    return [[*x.shape], [stride if size > 1 else 0 for size, stride in zip(x.shape, x.stride())], str(x.dtype)]


def _whitened(torch, op, rows, columns, start, momentum, kind, layout, nan=False):
    """What a registered operator does, what it says, and what a compiled program makes of it."""
    from torch._subclasses.fake_tensor import FakeTensorMode

    def make():
        x = numbers(torch, [rows, columns], start, kind)
        x = x.masked_fill(x == x[0, 0], math.nan) if nan else x
        return LAYOUTS[layout](torch, x), numbers(torch, [columns], start + 3, kind)

    def calibrate(x, mean):
        before = mean * 1
        op(x, mean, momentum)
        return before, mean * 2

    x, mean = make()
    result = op(x, mean, momentum)
    with FakeTensorMode() as mode:
        said = op(*map(mode.from_tensor, make()), momentum)
    empty = [each.to("meta") for each in make()]
    op(*empty, momentum)
    again = make()
    torch._dynamo.reset()
    compiled = torch.compile(calibrate, backend="aot_eager", fullgraph=True)(*again)
    torch._dynamo.reset()
    return {
        "result": copied(result),
        "mean": copied(mean),
        "x": _same(x.contiguous(), make()[0].contiguous()),
        "fake writes": empty[1]._version > 1,  # one write is that of the operator itself
        "with data": _described(result),
        "without data": _described(said),
        "declared": [bool(argument.is_write) for argument in op._schema.arguments],
        "calibrated": [*map(copied, compiled), copied(again[1])],
    }


def _matrix(rows=2, columns=3, momentum=0.5, kind="float32", layout="", start=1):
    return {
        "rows": rows, "columns": columns, "momentum": momentum, "kind": kind, "layout": layout, "start": start,
    }  # fmt: skip


@program(
    "clinic.compilers.register_whiten",
    cases=drawn(
        rows=(1, 3), columns=(1, 3), momentum=[0.5, 1.0, 0.0, 0.25], kind=["float32", "float64"],
        layout=[*LAYOUTS], start=(0, 9), nan=bool,
    ),
    edges=[
        _matrix(), _matrix(3, 3, kind="float64"), _matrix(1, 3), _matrix(3, 1), _matrix(2, 2, 0.0),
        _matrix(layout="gaps"), _matrix(layout="turned"), _matrix(3, 2, 0.25, "float64", "turned"),
        _matrix(3, 3) | {"nan": True}, *(_matrix(rows, 3, layout=layout) for layout in LAYOUTS for rows in (2, 3)),
    ],
    hint=explained(
        mean="the kernel moves the mean: mean.lerp_(x.mean(0), momentum)",
        without_data="the fake kernel says other sizes, strides or another dtype than the kernel's result has",
        with_data="the result is the transposed difference, without a copy",
        declared="the schema declares the write to the mean, and no other",
        x="x is only read",
        fake_writes="the fake kernel writes to an argument",
    ),
    draws=6,
    disposable=True,
)  # fmt: skip
def register_whiten(rl, **case):
    import torch

    namespace = fresh_namespace()
    return _whitened(torch, _registered(torch, namespace, rl.clinic.compilers.register_whiten), **case)


@register_whiten.oracle
def whitened_by_torch(torch, **case):
    def register(namespace):
        def kernel(x, mean, momentum):
            mean.copy_(mean + momentum * (x.mean(0) - mean))
            return torch.sub(x, mean).t()

        schema = "(Tensor x, Tensor(a!) mean, float momentum) -> Tensor"
        op = torch.library.custom_op(f"{namespace}::whiten", kernel, mutates_args=("mean",), schema=schema)
        op.register_fake(lambda x, mean, momentum: torch.sub(x, mean).t())

    return _whitened(torch, _registered(torch, fresh_namespace(), register), **case)
