"""Checks of lab 03: the forms of a structured operator: functional, in-place and out."""

import warnings
from contextlib import contextmanager
from functools import cache

from ...engine.check import program
from ..cases import drawing, rows, sizes, tensor, tensors, when
from ..shared_03 import b8, dense, f32, f64, i32, i64, products, u8


def _without_overlap(st):
    strategy = tensors(st, (0, 3), 3, ("float32",))
    return strategy.filter(lambda x: 0 not in x["tensor"]["strides"] or 1 in x["tensor"]["sizes"]).map(_never_zero)


def _never_zero(x):
    """The same tensor with strides that repeat no element."""
    spec = x["tensor"]
    strides = [max(stride, 1) if size == 1 else stride for size, stride in zip(spec["sizes"], spec["strides"])]
    return tensor(spec["sizes"], None if 0 in strides else strides, spec["offset"], spec["dtype"])


@drawing
def _resizings(draw, st):
    out = draw(_without_overlap(st))
    same = draw(st.integers(0, 3)) == 0
    shape = out["tensor"]["sizes"] if same else draw(sizes(st, (0, 3), 3))
    ordered = not {0, 1} & set(shape) and draw(st.booleans())  # torch chooses the stride of a size 1
    order = list(draw(st.permutations(range(len(shape))))) if ordered else None
    return {"out": out, "sizes": shape, "order": order}


@program(
    "aten.structured.resize_output",
    cases=_resizings,
    edges=rows(
        "out sizes order",
        (f32([2, 3]), [2, 3], None), (f32([2, 3], [1, 2]), [2, 3], None), (f32([2, 3]), [2, 3], [0, 1]),
        (f32([2, 3]), [3, 2], None), (f32([2, 3]), [3, 2], [0, 1]), (f32([2, 3]), [4, 2], None),
        (f32([2, 3]), [4, 2], [0, 1]), (f32([2, 3], None, 2), [4, 2], None), (f32([2, 3], None, 2), [2], None),
        (f32([2, 3], None, 2, slack=5), [3, 3], None), (f32([0]), [2, 3], None), (f32([0]), [2, 3], [0, 1]),
        (f32([0]), [2, 3, 2], [1, 0, 2]), (f32([0, 3], None, 1), [2], None), (f32([0, 3]), [3, 0], None),
        (f32([2, 3]), [0], None), (f32([2, 3]), [], None), (f32([], []), [], None), (f32([], []), [1], None),
        (f32([1]), [], None), (f32([4], [3], 1), [4], None), (f32([4], [3], 1), [2, 2], None),
    ),
    hint=when(
        lambda case: case["out"]["tensor"]["sizes"] == case["sizes"],
        "an out that has the sizes already does not change, nor do its strides",
    ),
)  # fmt: skip
def resize(xp, out, sizes, order):
    stored = out.untyped_storage().nbytes() // out.element_size()
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        strides = None if order is None else dense(sizes, order)
        if len(sizes) == 3:
            strides = strides and tuple(strides)
        resized = xp.structured.resize_output(out, sizes, strides)
        resized_again = xp.structured.resize_output(out, list(sizes))
    return _resized(resized, resized_again, warned, out) | {"kept": out.as_strided((stored,), (1,), 0)}


def _resized(resized, again, warned, out):
    return {
        "resized": resized,
        "resized again": again,
        "warned": [warning.category.__name__ for warning in warned],
        "out": (out.shape, out.stride(), out.storage_offset(), out.untyped_storage().nbytes()),
    }


@resize.oracle
def _(torch, out, sizes, order):
    stored = out.untyped_storage().nbytes() // out.element_size()
    written = torch.empty(stored).as_strided(out.shape, out.stride(), out.storage_offset())
    result = torch.empty_strided(sizes, dense(sizes, order)) if order is not None else torch.empty(sizes)
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        torch.neg(result, out=written)  # writes its result, so `out` shows which bytes are kept
    shown = _resized(out.shape != written.shape, False, warned, written)
    return shown | {"kept": out.resize_(sizes).as_strided((stored,), (1,), 0)}


_OWN, _OWN3 = [None, None], [None, None, None]  # each operand itself, no view
_MORE = {"add": (1,), "sub": (1,), "mul": (), "eq": (), "mm": ()}  # arguments besides the operands


def _kernel(xp, name, calls):
    """One of the framework's kernels, without its fast paths. It notes its calls, and the `out` of `impl`. Some give lists as
    sizes and strides, and `impl` returns a number."""
    kernel = getattr(xp.linear_algebra if name == "mm" else xp.pointwise, name)

    def meta(*args):
        calls.append("meta")
        sizes, strides, dtype = kernel.meta(*args)
        if name == "add":
            return xp.structured.Output(sizes, strides, dtype)
        return xp.structured.Output([*sizes], None if strides is None else [*strides], dtype)

    def impl(*args):
        calls.append(args[-1])
        kernel.impl(*args)
        return 3

    return xp.structured.Structured(meta, impl, kernel.casts)


def _named(calls, result):
    """The calls that a kernel has noted. `impl` writes into the result itself."""
    return [call if isinstance(call, str) else "impl" if call is result else "impl elsewhere" for call in calls]


def _arguments(name, *operands):
    """All arguments of a kernel, of some kernels in a list."""
    return (list if name in ("mul", "mm") else tuple)((*operands, *_MORE[name]))


@contextmanager
def _untouched(*tensors):
    """Within: a call that may be refused. Then these tensors, unless they are on meta, keep their values and sizes."""
    before = [None if tensor.is_meta else tensor.tolist() for tensor in tensors]
    try:
        yield
    except (RuntimeError, NotImplementedError) as error:
        after = [None if tensor.is_meta else tensor.tolist() for tensor in tensors]
        assert str(after) == str(before), f"refused, but written to before: {error}"
        raise


@cache  # other strategies draw from it
@drawing
def _pairs(draw, st, dtypes):
    """Two operands that often broadcast."""
    x = draw(tensors(st, (0, 3), 3, dtypes))
    shape = [1 if draw(st.integers(0, 3)) == 0 else size for size in x["tensor"]["sizes"]]
    shape = shape[draw(st.integers(0, len(shape))) if draw(st.integers(0, 2)) == 0 else 0 :]
    if draw(st.integers(0, 9)) == 0:
        shape = [*shape, 2]
    y = tensor(shape, None, draw(st.integers(0, 2)), draw(st.sampled_from(dtypes)))
    return x, draw(st.sampled_from([3, 2.5, True])) if draw(st.integers(0, 5)) == 0 else y


@cache
@drawing
def _matrices(draw, st, dtypes=("float32", "int64")):
    rows, inner, columns = (draw(st.integers(0, 3)) for _ in range(3))
    dtype = draw(st.sampled_from(dtypes))
    other = dtype if draw(st.integers(0, 7)) else draw(st.sampled_from(dtypes))
    inner2 = inner if draw(st.integers(0, 7)) else draw(st.integers(0, 3))
    x, y = (
        tensor([n, m], [1, max(n, 1)] if draw(st.booleans()) else None, draw(st.integers(0, 1)), dtype)
        for n, m, dtype in ((rows, inner, dtype), (inner2, columns, other))
    )
    return x, y


_ANY = ("int64", "float32", "int32", "bool", "uint8", "float64")


@cache
@drawing
def _calls(draw, st):
    name = draw(st.sampled_from(["add", "sub", "mul", "eq", "mm"]))
    x, y = draw(_matrices(st) if name == "mm" else _pairs(st, _ANY))
    return {"name": name, "x": x, "y": y}


@cache
@drawing
def _views(draw, st, count):
    """Views of one storage, as sizes, strides and offset. They have no gaps, so that torch knows whether they overlap."""
    shape = draw(st.sampled_from([[2], [3], [2, 2], [2, 3], [4]]))
    views = []
    for _ in range(count):
        order = draw(st.permutations(range(len(shape))))
        views.append([shape, dense(shape, order), draw(st.integers(0, 7))])
    return views


def _view(xp, x, view, meta):
    """The operand itself, a view of its storage, or a tensor on meta with its sizes and strides."""
    if meta and hasattr(x, "stride"):
        return xp.empty_strided(x.shape, x.stride(), dtype=x.dtype, device="meta")
    return x if view is None else x.as_strided(*view)


def _observed(x, meta):
    return (x.shape, x.stride(), x.dtype) if meta else x


@drawing
def _inplace_calls(draw, st):
    name = draw(st.sampled_from(["add", "sub", "mul", "eq"]))
    if draw(st.integers(0, 2)) == 0:
        return {"name": name, "x": i64([16]), "y": None, "views": draw(_views(st, 2)), "meta": False}
    x, y = draw(_pairs(st, _ANY))
    return {"name": name, "x": x, "y": y, "views": _OWN, "meta": draw(st.integers(0, 7)) == 0}


_REFUSALS = {  # hints by words of torch's messages
    "output with shape": "the first argument keeps its sizes: refuse a result of other sizes, even one with as many elements",
    "can't be cast": "the first argument keeps its dtype: refuse a result of a higher category",
    "unsupported operation": "refuse a first argument that overlaps with itself, or in part with another",
}


@program(
    "aten.structured.call_inplace",
    cases=_inplace_calls,
    edges=[{"name": name, "x": x, "y": y, "views": _OWN, "meta": meta} for name, x, y, meta in (
        ("add", i64([2, 3]), i64([2, 3], [1, 2]), False), ("add", i64([2, 3]), i64([2, 3], [1, 2]), True),
        ("mul", f32([2, 3], [1, 2]), 2.5, True), ("add", i64([3]), i64([2, 3]), True), ("add", i64([3]), 2.5, True),
        ("add", i64([2, 3], [1, 2], 1), i64([3]), False), ("add", f32([2, 3], [3, 2], 1), 2.5, False),
        ("add", i64([3]), i64([2, 3]), False), ("add", i64([1, 3]), i64([2, 3]), False),
        ("add", i64([3]), i64([1, 3]), False), ("add", i64([2, 3]), i64([2]), False),
        ("add", i64([], []), i64([1]), False), ("add", i64([], []), i64([], [], 2), False),
        ("add", i64([3]), 2.5, False), ("add", i32([3]), i64([3]), False), ("add", b8([3]), u8([3]), False),
        ("add", f32([3]), f64([3]), False), ("add", i64([3]), f32([], []), False),
        ("add", i64([2, 3], [0, 1]), 1, False), ("add", i64([3], [0]), i64([3]), False),
        ("add", i64([1, 3], [0, 1]), 1, False), ("add", i64([0, 3]), 1, False),
        ("mul", f32([2, 3], [1, 2], 1), i64([2, 1]), False), ("sub", b8([3]), True, False),
        ("eq", i64([2, 3], [1, 2]), i64([2, 3]), False), ("eq", f32([3]), 1, False),
        ("eq", i64([3]), i64([2, 3]), False), ("add", i64([0]), i64([2, 0]), False),
    )]
    + [{"name": "add", "x": i64([16]), "y": None, "views": views, "meta": False} for views in (
        [[[4], [1], 0], [[4], [1], 0]], [[[4], [1], 0], [[4], [1], 4]], [[[4], [1], 4], [[4], [1], 0]],
        [[[4], [1], 1], [[4], [1], 0]], [[[4], [1], 0], [[4], [1], 1]], [[[4], [1], 0], [[4], [1], 3]],
        [[[2, 2], [2, 1], 0], [[2, 2], [1, 2], 0]], [[[2, 2], [2, 1], 0], [[2], [1], 0]],
        [[[2, 2], [2, 1], 0], [[2], [1], 4]], [[[2], [1], 0], [[2, 2], [2, 1], 4]],
        [[[2, 2], [0, 1], 0], [[2, 2], [2, 1], 4]],
    )],
    hint=lambda case, mine, theirs: (
        None
        if "error" not in theirs or "error" in mine
        else "on the device meta only `impl` is left out, and the checks run"
        if case["meta"]
        else next((hint for words, hint in _REFUSALS.items() if words in theirs["message"]), None)
    ),
)  # fmt: skip
def inplace(xp, name, x, y, views, meta):
    first, second = _view(xp, x, views[0], meta), _view(xp, x if y is None else y, views[1], meta)
    calls = []
    with _untouched(x, first):
        result = xp.structured.call_inplace(_kernel(xp, name, calls), _arguments(name, first, second))
    return _written(result, first, x, meta) | {"calls": _named(calls, first)}


def _written(result, target, storage, meta):
    return {"result": _observed(result, meta), "is the target": result is target, "storage": None if meta else storage}


@inplace.oracle
def _(torch, name, x, y, views, meta):  # torch refuses less on meta than on the CPU
    first, second = _view(torch, x, views[0], False), _view(torch, x if y is None else y, views[1], False)
    return _written(getattr(first, name + "_")(second), first, x, meta) | {
        "calls": ["meta"] if meta else ["meta", "impl"]
    }


_PRODUCTS = rows(
    "bias mat1 mat2",
    (i64([2, 2]), i64([2, 3]), i64([3, 2])), (i64([2, 2], [1, 2], 1), i64([2, 3], [1, 2]), i64([3, 2])),
    (i64([2]), i64([2, 3]), i64([3, 2])), (i64([1, 2]), i64([2, 3]), i64([3, 2])),
    (i64([2, 2], [0, 1]), i64([2, 3]), i64([3, 2])), (f64([2, 2]), i64([2, 3]), i64([3, 2])),
    (i64([2, 2]), i64([2, 3]), i64([2, 2])), (i64([2, 2]), i64([1, 3]), i64([3, 2])), (i64([0, 2]), i64([0, 3]), i64([3, 2])),
)  # fmt: skip


@program(
    "aten.structured.call_inplace.without_casts", cases=lambda st: products(st, forms=("inplace",)), edges=_PRODUCTS
)
def addmm_inplace(xp, bias, mat1, mat2):
    mm = xp.linear_algebra.mm  # `addmm` itself is made of later exercises

    def write(bias, mat1, mat2, out):
        product = xp.structured.allocate(mm.meta(mat1, mat2))
        mm.impl(mat1, mat2, product)
        out.numpy()[...] = bias.numpy() + product.numpy()

    addmm = xp.structured.Structured(lambda bias, mat1, mat2: mm.meta(mat1, mat2), write)
    return xp.structured.call_inplace(addmm, (bias, mat1, mat2))


@addmm_inplace.oracle
def _(torch, bias, mat1, mat2):
    return bias.addmm_(mat1, mat2)


@drawing
def _out_calls(draw, st):
    if draw(st.integers(0, 3)) == 0:
        name = draw(st.sampled_from(["add", "mul", "eq"]))
        views = draw(_views(st, 3))
        return {"name": name, "x": i64([16]), "y": None, "out": None, "views": views, "meta": False}
    case = draw(_calls(st))
    shapes = [operand["tensor"]["sizes"] for operand in (case["x"], case["y"]) if isinstance(operand, dict)]
    if draw(st.integers(0, 3)) == 0:
        shape = draw(sizes(st, (0, 2), 3))
    elif case["name"] == "mm":
        shape = [shapes[0][0], shapes[1][1]]
    else:
        shape = max(shapes, key=len)
    order = draw(st.permutations(range(len(shape))))
    strides = dense([max(size, 1) for size in shape], order)
    # torch's elementwise operators ask whether out overlaps with itself before they resize it, its mm afterwards
    if case["name"] != "mm" and draw(st.integers(0, 11)) == 0:
        strides = [0 for _ in strides]
    dtype = draw(st.sampled_from([*_ANY, case["x"]["tensor"]["dtype"], "float64"]))
    out = tensor(shape, strides, draw(st.integers(0, 1)), dtype)
    return case | {"out": out, "views": _OWN3, "meta": draw(st.integers(0, 7)) == 0}


@program(
    "aten.structured.call_out",
    cases=_out_calls,
    edges=[{"name": name, "x": x, "y": y, "out": out, "views": _OWN3, "meta": meta} for meta, name, x, y, out in (
        (False, "add", i64([2, 3]), i64([2, 3], [1, 2]), i64([2, 3])),
        (False, "add", i64([2, 3]), i64([2, 3]), i64([2, 3], [1, 2], 1)),
        (False, "add", i64([2, 3], [1, 2]), i64([2, 3], [1, 2]), i64([0])),
        (False, "add", i64([2, 3], [1, 2]), i64([2, 3], [1, 2]), i64([6], None, 1)),
        (False, "add", i64([2, 3]), 2.5, f64([2, 3])), (False, "add", i64([2, 3]), 2.5, i64([2, 3])),
        (False, "add", i64([2, 3]), 2.5, i64([2])), (False, "add", i64([2, 3]), 1, u8([2, 3])),
        (False, "add", i64([2, 3]), 1, b8([2, 3])), (False, "add", i64([2, 3]), 1, f32([0])),
        (False, "add", i64([2, 3]), i64([2]), i64([2, 3])), (False, "add", i64([2, 3]), 1, i64([2, 3], [0, 1])),
        (False, "add", i64([2, 3]), 1, i64([2, 3, 2], [0, 0, 0])), (False, "mul", i64([2, 3]), 1, i64([4], [0])),
        (False, "mul", f32([2, 3]), 1, i64([0])), (True, "mul", f32([2, 3]), 1, i64([2])),
        (False, "mm", i64([2, 3]), i64([3, 2]), f64([3])), (False, "add", i64([], []), 1, i64([1])),
        (False, "mul", i64([0, 3]), 1, i64([2])), (True, "add", i64([2, 3], [1, 2]), 1, i64([0])),
        (True, "add", i64([2, 3]), 1, i64([2, 3], [1, 2])), (True, "mm", i64([2, 3]), i64([3, 2]), i64([0])),
        (True, "mm", i64([2, 3]), i64([3, 2]), f32([2, 2])), (False, "eq", i64([2, 3]), 1, b8([2, 3])),
        (False, "eq", i64([2, 3]), 1, i32([2, 3])), (False, "eq", i64([2, 3]), 1, u8([2])),
        (False, "mm", i64([2, 3]), i64([3, 2]), i64([2, 2])),
        (False, "mm", i64([2, 3]), i64([3, 2]), i64([2, 2], [1, 2], 1)),
        (False, "mm", i64([2, 3]), i64([3, 2]), i64([0])), (False, "mm", i64([2, 3]), i64([3, 2]), f64([2, 2])),
        (False, "mm", i64([2, 3]), i64([3, 2]), i64([2, 2], [0, 0])),
        (False, "mm", i64([2, 3]), i64([2, 2]), i64([2, 2])), (False, "mm", f32([2, 3]), f32([3, 2]), f32([3])),
    )]
    + [{"name": "add", "x": i64([16]), "y": None, "out": None, "views": views, "meta": False} for views in (
        [[[4], [1], 0], [[4], [1], 4], [[4], [1], 8]], [[[4], [1], 0], [[4], [1], 4], [[4], [1], 0]],
        [[[4], [1], 0], [[4], [1], 4], [[4], [1], 4]], [[[4], [1], 0], [[4], [1], 4], [[4], [1], 5]],
        [[[4], [1], 1], [[4], [1], 8], [[4], [1], 0]], [[[4], [1], 8], [[4], [1], 1], [[4], [1], 0]],
        [[[4], [1], 0], [[4], [1], 8], [[2], [1], 3]], [[[2, 2], [1, 2], 0], [[2, 2], [2, 1], 8], [[2, 2], [2, 1], 0]],
    )],
)  # fmt: skip
def out_form(xp, name, x, y, out, views, meta):
    first, second, out = _out_operands(xp, x, y, out, views, meta)
    calls = []
    with warnings.catch_warnings(record=True) as warned, _untouched(x, out):
        warnings.simplefilter("always")
        result = xp.structured.call_out(_kernel(xp, name, calls), _arguments(name, first, second), out)
    return _written(result, out, x, meta) | {"calls": _named(calls, out), "warns": bool(warned)}


@out_form.oracle
def _(torch, name, x, y, out, views, meta):  # torch's mm resizes out before it sees that x and y differ in dtype
    first, second, out = _out_operands(torch, x, y, out, views, False)
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        result = getattr(torch, name)(first, second, out=out)
    calls = ["meta"] if meta else ["meta", "impl"]
    return _written(result, out, x, meta) | {"calls": calls, "warns": bool(warned)}


def _out_operands(xp, x, y, out, views, meta):
    operands = (x, x if y is None else y, x if out is None else out)
    return [_view(xp, operand, view, meta) for operand, view in zip(operands, views)]
