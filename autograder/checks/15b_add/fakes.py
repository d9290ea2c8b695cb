"""Lab 15b, fake kernels: the metadata that they give, beside those of the kernels' results, with symbols for sizes."""

from __future__ import annotations

from ...engine.check import program
from ...engine.recorder import fresh_namespace
from ..cases import attempt, copied, defaults, drawn, explained, numbers, several, with_layout

KINDS = ("float32", "float64", "float16", "int64", "bool")


def array(torch, shape, kind, layout=""):
    x = numbers(torch, shape, 2)
    return with_layout(torch, x.to(getattr(torch, kind)), layout)


def registered(torch, schema, kernel, fake):
    """A new operator, and the library that keeps it."""
    library = torch.library.Library(fresh_namespace(), "FRAGMENT")
    name = schema.partition("(")[0]
    library.define(schema)
    library.impl(name, kernel, "CPU")
    torch.library.register_fake(f"{library.ns}::{name}", fake, lib=library)
    return library, getattr(getattr(torch.ops, library.ns), name).default


def size_of(size):
    """A size as a number, also that of a symbol with a known example. A symbol without one is its name."""
    if isinstance(size, int):
        return size
    return size.node.hint if size.node.has_hint() else str(size)


def metadata(x):
    """The metadata that matter of a result. Strides of dimensions of size 1, and without elements, do not."""
    sizes, strides = [*map(size_of, x.shape)], [*map(size_of, x.stride())]
    shown = [0 if size == 1 or 0 in sizes else step for size, step in zip(sizes, strides)]
    return {"sizes": sizes, "strides": shown, "dtype": x.dtype, "device": str(x.device)}


# Sizes from sizes ----------------------------------------------------------------------------------------------------

vector = defaults(shape=[2, 3], kind="float32", layout="", dim=-1, weight=None, dtype=None, device="cpu")


def settled(case):
    """The case with a dimension that exists."""
    return case | {"dim": case["dim"] % (2 * len(case["shape"])) - len(case["shape"])}


def normalize_cases(st):
    parts = {
        "shape": several((0, 4), 1, 3), "kind": [*KINDS], "layout": ["", "gaps", "backwards", "equal"], "dim": (0, 5),
        "weight": [None, "float16", "float32", "float64", "int64"], "dtype": [None, None, "float16", "float64", "int32"],
        "device": ["cpu", "cpu", "meta"],
    }  # fmt: skip
    return drawn(**parts)(st).map(settled)


def arguments(torch, shape, kind, layout, dim, weight, dtype):
    weight = (
        weight and numbers(torch, [shape[dim]], 4, weight)
        if weight != "int64"
        else numbers(torch, [shape[dim]], 4).long()
    )
    return array(torch, shape, kind, layout), weight, {"dim": dim, "dtype": dtype and getattr(torch, dtype)}


@program(
    "contribute.add.normalize_fake",
    cases=normalize_cases,
    edges=[
        *(vector(kind=kind, weight=weight) for kind in KINDS for weight in (None, "float32", "float64", "float16")),
        *(vector(dim=dim, dtype=dtype) for dim in (0, 1, -1, -2) for dtype in (None, "float16", "int32")),
        *(vector([2, 3, 4], dim=dim, layout=layout) for dim in (0, 1, 2, -3, -2) for layout in ("", "backwards", "gaps")),
        *(vector([3, 3, 2], dim=dim, layout="equal", weight="float64") for dim in (0, 1)),
        *(vector(shape) for shape in ([3], [1], [0], [0, 3], [3, 0], [1, 4])), vector([3], dim=0, weight="int64", kind="int64"),
        *(vector(device="meta", dim=dim, weight=weight) for dim in (0, 1) for weight in (None, "float64")),
        vector([4, 3], kind="float64", weight="float32", dtype="float64"), vector(kind="float16", weight="float16", dim=0),
    ],
    hint=explained(
        result="the first result has the memory of a new tensor with `dim` last, and `dtype` or the dtype of the product",
        norm="the second result has the sizes without `dim`, and the dtype in which the kernel computes",
        symbols="a symbol has become a number: the graph is right for this size only",
        guards="a size is compared, or its value is read: the graph is right for some sizes only",
    ),
    draws=30,
)  # fmt: skip
def normalized(xp, device, **case):
    import torch
    from torch._subclasses.fake_tensor import FakeTensorMode
    from torch.fx.experimental.symbolic_shapes import ShapeEnv

    add = xp.contribute.add
    library, op = registered(torch, add.NORMALIZE, add.normalize, add.normalize_fake)
    x, weight, options = arguments(torch, **case)
    environment = ShapeEnv(duck_shape=False)
    mode = FakeTensorMode(shape_env=environment)
    fakes = [each if each is None else mode.from_tensor(each.to(device), static_shapes=False) for each in (x, weight)]
    with mode:
        results = op(*fakes, **options)
    shown = {"result": metadata(results[0]), "norm": metadata(results[1])}
    shown["symbols"] = [[isinstance(size, torch.SymInt) for size in result.shape] for result in results]
    shown |= {"guards": len(environment.guards), "x": fakes[0]._version == 0}
    library._destroy()
    return shown


@normalized.oracle
def normalized_by_the_kernel(torch, device, **case):
    from rushlight.contribute.add import normalize

    x, weight, options = arguments(torch, **case)
    results = normalize(x, weight, **options)
    shown = {"result": metadata(results[0]) | {"device": device}, "norm": metadata(results[1]) | {"device": device}}
    shown["symbols"] = [[size > 1 for size in result.shape] for result in results]
    return shown | {"guards": 0, "x": True}


# A size from data ----------------------------------------------------------------------------------------------------

heights = defaults(shape=[2, 3], kind="float64", layout="", thresholds=[0.0, 0.5, 9.0], device="cpu")


@program(
    "contribute.add.peaks_fake",
    cases=drawn(
        shape=several((2, 4), 1, 3), kind=["float32", "float64", "int64"], layout=["", "backwards"],
        thresholds=several([-9.0, 0.0, 0.5, 1.0, 1.25, 9.0], 2, 4), device=["cpu", "cpu", "meta"],
    ),
    edges=[
        heights(), heights([5], "float32"), heights([2, 2, 3], "int64"), heights([3, 2], layout="backwards"),
        heights([3, 2], thresholds=[9.0, -9.0, 1.25]), heights(device="meta"), heights([5], device="meta"),
    ],
    hint=explained(
            unknown="the count depends on the data: one symbol without a value, from new_dynamic_size",
            together="both results have as many rows: their sizes are the same symbol",
            least="the bounds hold for each x: there may be no element above the threshold",
            most="the bounds hold for each x: all elements may be above the threshold, however many there are",
            values="the first result has the dtype and the device of x",
            places="the kernel returns the transposed view of an array with a row for each dimension, which has integers",
            guards="a size is compared, or its value is read: the graph is right for some sizes only",
    ),
    draws=4,
    disposable=True,
)  # fmt: skip
def peaked(xp, shape, kind, layout, thresholds, device):
    import torch
    from torch._subclasses.fake_tensor import FakeTensorMode
    from torch.fx.experimental.symbolic_shapes import ShapeEnv

    add = xp.contribute.add
    library, op = registered(torch, add.PEAKS, add.peaks, add.peaks_fake)
    x, environment = array(torch, shape, kind, layout), ShapeEnv(duck_shape=False)
    mode = FakeTensorMode(shape_env=environment)
    fake = mode.from_tensor(x.to(device), static_shapes=False)
    with mode:
        values, places = op(fake, 0.5)
    symbols = {str(size) for result in (values, places) for size in result.shape if not size_is_known(size)}
    ranges = [environment.var_to_range[size.node.expr] for size in values.shape if not size_is_known(size)]
    shown = {
        "unknown": len(symbols),
        "together": str(values.shape[0]) == str(places.shape[0]),
        "least": [int(bounds.lower) for bounds in ranges],
        "most": [bool(bounds.upper > 10**9) for bounds in ranges],
        "values": renamed(metadata(values), symbols),
        "places": renamed(metadata(places), symbols),
        "guards": len(environment.guards),
    }
    outcome = attempt(compiled, torch, op, x, thresholds)
    shown |= {"results": outcome, "captured": 0} if isinstance(outcome, str) else outcome
    library._destroy()
    return shown


def size_is_known(size):
    return isinstance(size, int) or size.node.has_hint()


def renamed(about, symbols):
    """Metadata in which the symbol of the count is called n."""
    names = {
        text: "n" for symbol in symbols for text in (symbol, f"Max(1, {symbol})")
    }  # the latter in a contiguous tensor
    return about | {key: [names.get(str(item), item) for item in about[key]] for key in ("sizes", "strides")}


def after(values, places):
    return values * 2 + places[:, 0], places.reshape(-1)


def compiled(torch, op, x, thresholds):
    """What a program gives that is compiled once for several thresholds, and how often it was captured."""
    graphs = []

    def backend(graph, inputs):
        graphs.append(graph)
        return graph.forward

    torch._dynamo.reset()
    at = [torch.tensor(threshold, dtype=torch.float64) for threshold in thresholds]
    with torch._dynamo.config.patch(capture_dynamic_output_shape_ops=True):
        program = torch.compile(lambda x, at: after(*op(x - at, 0.0)), backend=backend, fullgraph=True, dynamic=True)
        results = [[*map(copied, program(x.double(), threshold))] for threshold in at]
    torch._dynamo.reset()
    return {"results": results, "captured": len(graphs)}


@peaked.oracle
def peaked_by_the_kernel(torch, shape, kind, layout, thresholds, device):
    from rushlight.contribute.add import peaks

    x = array(torch, shape, kind, layout)
    values, places = peaks(x, 0.5)
    known = {"dtype": values.dtype, "device": device}
    return {
        "unknown": 1, "together": True, "least": [0], "most": [True],
        "values": {"sizes": ["n"], "strides": [1]} | known,
        "places": {"sizes": ["n", len(shape)], "strides": [1, "n" if len(shape) > 1 else 0]}
        | known | {"dtype": places.dtype},
        "guards": 0,
        "results": [[*map(copied, after(*peaks(x.double() - at, 0.0)))] for at in thresholds], "captured": 1,
    }  # fmt: skip
