"""Checks of lab 03: products of matrices."""

import itertools

import numpy as np

from ...engine.check import program
from ..cases import attempt, drawing, field, rows, tensor
from ..shared_03 import FLOATING, NUMERIC, dense, f16, f32, f64, i32, i64, products, u8

_PRODUCTS = rows(
    "bias mat1 mat2",
    (f32([2]), f32([3, 4]), f32([4, 2])), (i64([3, 2]), i64([3, 4]), i64([4, 2])),
    (f64([3, 1]), f64([3, 4]), f64([4, 2])), (f16([1, 2]), f16([3, 4]), f16([4, 2])), (u8([1]), u8([3, 4]), u8([4, 2])),
    (i32([]), i32([3, 4]), i32([4, 2])), (f32([3]), f32([3, 4]), f32([4, 2])), (f32([4, 2]), f32([3, 4]), f32([4, 2])),
    (f32([1, 3, 2]), f32([3, 4]), f32([4, 2])), (f32([2, 2]), f32([1, 4]), f32([4, 2])),
    (f32([3, 2]), f32([3, 4]), f32([4, 1])), (f32([0]), f32([3, 4]), f32([4, 2])), (f32([2]), f32([3, 4]), f32([3, 2])),
    (f32([2]), f32([3, 2]), f32([3, 2])), (f32([2]), f32([4, 3]), f32([4, 2])), (f32([2]), f32([4]), f32([4, 2])),
    (f32([2]), f32([1, 3, 4]), f32([4, 2])), (f32([2]), f32([3, 4]), f32([4])), (f32([2]), f32([3, 4]), f32([1, 4, 2])),
    (f32([2]), f32([3, 0]), f32([0, 2])), (f32([2]), f32([0, 4]), f32([4, 2])), (f32([0, 0]), f32([0, 4]), f32([4, 0])),
    (f32([1]), f32([3, 4]), f32([4, 0])), (f64([2]), f32([3, 4]), f32([4, 2])), (f32([2]), f64([3, 4]), f32([4, 2])),
    (f32([2]), f32([3, 4]), f64([4, 2])), (f32([2]), f64([3, 4]), f64([4, 2])), (i64([2]), i32([3, 4]), i64([4, 2])),
    (f32([2]), f32([3, 300]), f32([300, 2])),
    (f32([2]), f32([3, 2**40], [0, 0]), f32([2**40, 2], [0, 0])),  # nothing is computed
)  # fmt: skip


def _about_operands(case, mine, theirs):
    """Why operands are refused that the answer accepts."""
    both = [field(tree, "beta 0, alpha 2") for tree in (mine, theirs)]
    if isinstance(both[0], str) or not isinstance(both[1], str):
        return None
    if len({spec["tensor"]["dtype"] for spec in case.values()}) > 1:
        return "the three dtypes are equal, also if they could be promoted to one"
    shapes = [case[name]["tensor"]["sizes"] for name in ("mat1", "mat2")]
    if [*map(len, shapes)] == [2, 2] and shapes[0][1] == shapes[1][0]:
        return "`self` is expanded to (rows, columns), and never makes the result larger"
    return None


@program(
    "aten.native.linear_algebra.meta_addmm",
    cases=lambda st: products(st, forms=("functional",)),
    edges=_PRODUCTS,
    hint=_about_operands,
)
def meta_of_addmm(xp, bias, mat1, mat2):
    def meta(beta, alpha):
        result = xp.structured.allocate(xp.linear_algebra.meta_addmm(bias, mat1, mat2, beta, alpha))
        return {"shape": result.shape, "stride": result.stride(), "dtype": result.dtype}

    return {"beta 0, alpha 2": attempt(meta, 0, 2), "beta 0.5, alpha 2.5": attempt(meta, 0.5, 2.5)}


@meta_of_addmm.oracle
def _(torch, bias, mat1, mat2):
    def meta(operands, beta, alpha):
        result = torch.addmm(*operands, beta=beta, alpha=alpha)
        return {"shape": result.shape, "stride": result.stride(), "dtype": result.dtype}

    given = bias, mat1, mat2
    on_meta = [torch.empty_strided(x.shape, x.stride(), dtype=x.dtype, device="meta") for x in given]
    small = on_meta if mat1.numel() > 2**30 else given
    # torch's kernel for integers refuses some fractions, and its meta function accepts them
    first = attempt(meta, small, 0, 2)  # on meta it accepts a bias of three dimensions
    return {
        "beta 0, alpha 2": first,
        "beta 0.5, alpha 2.5": first if isinstance(first, str) else meta(on_meta, 0.5, 2.5),
    }


@drawing
def _scaled_products(draw, st):
    case = draw(products(st, forms=("functional",), faults=False))
    dtype = case["bias"]["tensor"]["dtype"]
    floating, negative = dtype in FLOATING, [] if dtype == "uint8" else [-1, -1.5]
    number = st.sampled_from([1, 1, 0, 2, 0.5, *negative] + ([] if floating else [3, 2.75, True]))
    case |= {"beta": draw(number), "alpha": draw(number)}
    if not floating and case["mat1"]["tensor"]["sizes"][1] == 0:  # there torch takes integers only
        case["beta"] = int(case["beta"])
    case["bias_is_nan"] = floating and case["beta"] == 0 and draw(st.booleans())
    case |= {"out_is_transposed": draw(st.booleans()), "bias_is_out": draw(st.integers(0, 3)) == 0}
    return case | {"factor_of_mat1": 1}


def _addmm(bias, mat1, mat2, dtype, **more):
    operands = {"bias": bias, "mat1": mat1, "mat2": mat2}
    operands = {name: tensor(*operand, dtype=dtype) for name, operand in operands.items()}
    numbers = {"beta": 1, "alpha": 1, "factor_of_mat1": 1}
    return operands | numbers | {"bias_is_nan": False, "out_is_transposed": False, "bias_is_out": False} | more


def _addmm_edges():
    turned = [[2], None, 1], [[3, 4]], [[4, 2], [1, 4], 2]
    square = [[3, 2], [1, 3], 1], [[3, 4]], [[4, 2]]
    for dtype in NUMERIC:
        yield _addmm(*turned, dtype)
        yield _addmm([[3, 1]], [[3, 4], [1, 3], 1], [[4, 2]], dtype, beta=2, alpha=3)
    for beta, alpha in ((2.75, 1), (1, 2.75), (0.5, 0.5), (-1.5, -2.75), (True, 3), (0, 1), (1, 0), (2, 0), (0, 0)):
        yield _addmm(*turned, "int64", beta=beta, alpha=alpha)
    for beta, alpha in ((0.5, -1.5), (0, 1), (0, 2), (1, 0), (-1, 1), (1, -1), (1, 0.25), (0.25, 1)):
        yield _addmm(*square, "float64", beta=beta, alpha=alpha)
        yield _addmm(*square, "float16", beta=beta, alpha=alpha)
        yield _addmm(*square, "float64", beta=beta, alpha=alpha, out_is_transposed=True, bias_is_out=True)
    yield _addmm(*square, "float64", beta=0, bias_is_nan=True)
    yield _addmm(*square, "float16", beta=0, bias_is_nan=True, alpha=2)
    yield _addmm(*turned, "int64", bias_is_out=True)
    yield _addmm(*turned, "int64", beta=0, bias_is_out=True)
    yield _addmm(*turned, "bool")
    yield _addmm([[0]], [[3, 4]], [[4, 0]], "bool")
    yield _addmm([[2], None, 1], [[3, 0]], [[0, 2]], "float32", beta=3)
    yield _addmm([[2], None, 1], [[3, 0]], [[0, 2]], "float32", beta=0, bias_is_nan=True)
    yield _addmm([[1]], [[3, 4]], [[4, 0]], "float32")
    one = [[1], None, 1], [[1, 1], None, 1], [[1, 1], None, 1]
    yield _addmm(*one, "float64", beta=-(2**24) - 1, alpha=2**24)  # float32 has no such beta, and float64 not the next
    yield _addmm(*one, "int64", beta=-(2**53) - 1, alpha=2**53)
    # the sum before alpha is too large for float16
    yield _addmm([[1], None, 3], [[1, 70], None, 2], [[70, 1]], "float16", alpha=0.0625, beta=0.5)
    yield _addmm([[1], None, 3], [[1, 70], None, 2], [[70, 1]], "float16", beta=-30000)  # and so is each summand
    yield _addmm(*one, "float16", beta=1e5, alpha=-1e5)  # float16 has no such numbers
    yield _addmm(*one, "float16", beta=0, alpha=1e-8, factor_of_mat1=60000)
    yield _addmm([[1], None, 2000], [[1, 1]], [[1, 1]], "float16", beta=2.5e-8)
    yield _addmm([[1], None, 3], [[1, 3000], None, 2], [[3000, 1]], "int64")  # exact in no smaller dtype
    yield _addmm(*one, "int64", factor_of_mat1=2**53 + 1)  # float64 has no such number
    yield _addmm([[2, 2], [1, 2]], [[2, 3]], [[3, 2]], "int64")


@program(
    "aten.native.linear_algebra.addmm_out",
    cases=_scaled_products,
    edges=[*_addmm_edges()],
    hint=lambda case, mine, theirs: (
        "with beta 0 self is not read, not even multiplied by 0: NaN times 0 is NaN"
        if case["bias_is_nan"]
        else "self is out here: what is written before self is read is lost"
        if case["bias_is_out"]
        else None
    ),
)
def addmm(xp, bias, mat1, mat2, beta, alpha, bias_is_nan, out_is_transposed, bias_is_out, factor_of_mat1):
    bias, out = _written(xp, bias, mat1, mat2, bias_is_nan, out_is_transposed, bias_is_out)
    view = out.t()
    xp.linear_algebra.addmm_out(bias, mat1 if factor_of_mat1 == 1 else mat1 * factor_of_mat1, mat2, beta, alpha, out)
    return {"out": out, "a view of it": view}


@addmm.oracle
def _(torch, bias, mat1, mat2, beta, alpha, bias_is_nan, out_is_transposed, bias_is_out, factor_of_mat1):
    bias, out = _written(torch, bias, mat1, mat2, bias_is_nan, out_is_transposed, bias_is_out)
    torch.addmm(bias, mat1 if factor_of_mat1 == 1 else mat1 * factor_of_mat1, mat2, beta=beta, alpha=alpha, out=out)
    return {"out": out, "a view of it": out.t()}


def _written(xp, bias, mat1, mat2, nan, transposed, own):
    """The bias, all NaN if `nan`, and the result to write to: transposed in memory, or with the bias's values in it."""
    out, bias = _filled(xp, mat1, mat2, transposed), bias * float("nan") if nan else bias
    return (out.copy_(bias), out) if own else (bias, out)


def _filled(xp, a, b, transposed):
    """A tensor of the sizes of a product, full of NaN or sevens, perhaps transposed in memory."""
    rows, columns = a.shape[0], b.shape[1]
    content = float("nan") if a.dtype.is_floating_point else 7
    out = xp.full((columns, rows) if transposed else (rows, columns), content, dtype=a.dtype)
    return out.t() if transposed else out


@drawing
def _block_products(draw, st):
    rows, inner, columns = (draw(st.integers(0, 6)) for _ in range(3))
    dtype = draw(st.sampled_from(["float64", "float32", "int64"]))
    operands = []
    for shape in ([rows, inner], [inner, columns]):
        strides = dense([max(size, 1) for size in shape], draw(st.permutations(range(2))))
        operands.append(tensor(shape, strides, draw(st.integers(0, 2)), dtype))
    blocks = [draw(st.integers(1, 4)) for _ in range(3)]
    return {"a": operands[0], "b": operands[1], "blocks": blocks, "out_is_transposed": draw(st.booleans())}


def _about_blocks(case, mine, theirs):
    mine, theirs = dict(mine["dict"]), dict(theirs["dict"])
    if case["blocks"] is None and mine["blocks"] != theirs["blocks"]:
        return "this call gives no blocks, so the defaults of the signature count"
    if mine["blocks"] == theirs["blocks"]:
        return "out holds any numbers at first, also NaN, and multiply adds to them"
    if not all(are_views for *_, are_views in mine["blocks"]):
        return "pass views to multiply: a copy loses what it writes"
    return "every combination of a run of rows, a run of the inner dimension and a run of columns comes once"


@program(
    "aten.native.linear_algebra.blocked_mm",
    cases=_block_products,
    edges=[
        {"a": i64([n, k]), "b": i64([k, m], None, 1), "blocks": blocks, "out_is_transposed": transposed}
        for (n, k, m), blocks, transposed in (
            ((4, 4, 4), [2, 2, 2], False), ((5, 3, 4), [2, 2, 3], False), ((3, 5, 4), [3, 2, 4], False),
            ((5, 4, 3), [1, 3, 2], True), ((2, 6, 5), [2, 4, 1], False), ((6, 5, 2), [4, 1, 2], False),
            ((3, 2, 6), [1, 2, 5], False), ((2, 3, 4), [9, 9, 9], False), ((1, 1, 1), [1, 1, 1], False),
            ((6, 2, 3), [5, 1, 1], True), ((2, 0, 3), [2, 2, 2], False), ((0, 2, 3), [2, 2, 2], False),
            ((2, 3, 0), [2, 2, 2], False), ((65, 1, 1), None, False), ((1, 257, 1), None, False), ((1, 1, 65), None, False),
        )
    ]
    + [{"a": f32([3, 4], [1, 3], 2), "b": f32([4, 5], [1, 4], 1), "blocks": [2, 3, 2], "out_is_transposed": True}],
    hint=lambda case, mine, theirs: _about_blocks(case, mine, theirs) if "dict" in mine else None,
)  # fmt: skip
def block_by_block(xp, a, b, blocks, out_is_transposed):
    out = _filled(xp, a, b, out_is_transposed)
    whole, seen = (a.numpy(), b.numpy(), out.numpy()), []

    def multiply(*parts):
        a_block, b_block, out_block = parts
        are_views = all(np.may_share_memory(part, array) for part, array in zip(parts, whole))
        seen.append([*a_block.shape, b_block.shape[1], are_views])
        out_block += a_block @ b_block

    if blocks is not None:
        xp.linear_algebra.blocked_mm(*whole, list(blocks) if out_is_transposed else blocks, multiply)
        return {"product": out, "blocks": sorted(seen)}
    xp.linear_algebra.blocked_mm(*whole, multiply=multiply)
    product = out.clone()
    xp.linear_algebra.blocked_mm(*whole)
    return {"product": product, "blocks": sorted(seen), "product by the default `multiply`": out}


@block_by_block.oracle
def _(torch, a, b, blocks, out_is_transposed):
    longest = [64, 256, 64] if blocks is None else blocks
    rows, inner = ([part.shape[d] for part in a.split(longest[d], d)] for d in (0, 1))
    columns = [part.shape[1] for part in b.split(longest[2], 1)]
    runs = [list(sizes) for sizes in itertools.product(rows, inner, columns) if 0 not in sizes]
    out = _filled(torch, a, b, out_is_transposed).copy_(torch.mm(a, b))
    shown = {"product": out, "blocks": sorted([*run, True] for run in runs)}
    return shown if blocks is not None else shown | {"product by the default `multiply`": out}
