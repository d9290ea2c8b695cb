"""Shared by the checks of labs 03a and 03b: tensors of each dtype, dense strides, matrices that fit for a product."""

from functools import cache, partial

from .cases import drawing, tensor

FLOATING = ("float16", "float32", "float64")
NUMERIC = ("float32", "int64", "float64", "uint8", "float16", "int32")
f16, f32, f64 = (partial(tensor, dtype=dtype) for dtype in FLOATING)
i64, i32, u8, b8 = (partial(tensor, dtype=dtype) for dtype in ("int64", "int32", "uint8", "bool"))


def dense(sizes, order):
    """Strides of a tensor without gaps. `order` has its dimensions, the fastest first."""
    strides, step = [0] * len(sizes), 1
    for d in order:
        strides[d] = step
        step *= sizes[d]
    return strides


@cache
@drawing
def products(draw, st, forms, faults=True):
    """A bias and two matrices; sometimes of sizes, dimensions or dtypes that do not fit."""
    rows, inner, columns = (draw(st.integers(0, 4)) for _ in range(3))
    dtypes = [draw(st.sampled_from(NUMERIC))] * 3
    bias = [rows, columns]
    if "inplace" not in forms or draw(st.integers(0, 5)) == 0:
        bias = [1 if draw(st.integers(0, 2)) == 0 else size for size in bias][draw(st.sampled_from([0, 0, 1, 2])) :]
    shapes = [bias, [rows, inner], [inner, columns]]
    fault = draw(st.sampled_from(["none"] * 5 + ["dtype", "size", "dims"])) if faults else "none"
    at = draw(st.integers(0, 2))
    if fault == "dtype":
        dtypes[at] = draw(st.sampled_from(NUMERIC))
    elif fault == "size" and shapes[at]:
        shapes[at][draw(st.integers(0, len(shapes[at]) - 1))] += 1
    elif fault == "dims":
        shapes[at] = shapes[at][1:] if draw(st.booleans()) else [1, *shapes[at]]
    operands = []
    for shape, dtype in zip(shapes, dtypes):
        order = draw(st.permutations(range(len(shape))))
        strides = dense([max(size, 1) for size in shape], order)
        operands.append(tensor(shape, strides, draw(st.integers(0, 2)), dtype))
    return dict(zip(("bias", "mat1", "mat2"), operands))
