"""Checks of lab 08: lowering an operator to a loop nest."""

from ...engine.check import program
from ..cases import apart, drawing, rows
from ..shared_08 import shapes, symbols, tensor_of


class Stored:
    """A tensor in memory, with the interface that lowering rules use: sizes, dtype, and the element at some indices."""

    def __init__(self, xp, name, tensor):
        self.xp, self.name, self.tensor = xp, name, tensor.contiguous()
        self.sizes, self.dtype = tuple(tensor.shape), tensor.dtype

    def dim(self):
        return len(self.sizes)

    def load(self, indices):
        assert len(indices) == len(self.sizes), "load takes one index for each dimension"
        where = self.xp.inductor.index.Index()
        for index, stride in zip(indices, self.tensor.stride()):
            where = where + index * stride
        return self.xp.inductor.ir.load(self.name, where, self.dtype)


def _computed(xp, loops, stored):
    """The tensor that loops compute, element by element, and the value of an element."""
    ir, Index = xp.inductor.ir, xp.inductor.index.Index
    variables, reduced = symbols(xp, loops.sizes), []
    indices = [Index.of(variable) for variable in variables]
    if hasattr(loops, "kind"):
        reduced = symbols(xp, loops.reduced_sizes, "r")
    reduced_indices = [[Index.of(variable) for variable in reduced]] if hasattr(loops, "kind") else []
    kind = list if reduced_indices or len(indices) != 2 else tuple
    loops.inner(
        kind(Index() for _ in indices), *([Index() for _ in some] for some in reduced_indices)
    )  # the first element
    value = loops.inner(kind(indices), *reduced_indices)
    out = xp.zeros(list(loops.sizes), dtype=loops.dtype)
    where = Index()
    for index, stride in zip(indices, out.stride()):
        where = where + index * stride
    memory = {buffer.name: buffer.tensor.reshape(-1).numpy() for buffer in stored} | {"out": out.reshape(-1).numpy()}
    kind = loops.kind if reduced or hasattr(loops, "kind") else None
    if out.numel():
        ir.run(ir.ComputedBuffer("out", variables, where, value, loops.dtype, reduced, kind), memory)
    return out, value


_BINARY = ["add", "mul", "maximum", "sub", "lt", "eq"]
_DTYPES = ("uint8", "int32", "int64", "float32", "float64")


@drawing
def _pointwise_cases(draw, st):
    sizes, operands = draw(shapes(st, 3, 3, 0)), []
    for _ in range(2):
        own = [1 if draw(st.integers(0, 3)) == 0 else size for size in sizes]
        own = own[draw(st.integers(0, len(own))) :] if draw(st.booleans()) else own
        operands.append([draw(st.sampled_from(_DTYPES)), own])
    number = st.sampled_from([2, -3, 0.5, 4])
    operands[1] = draw(st.one_of(st.just(operands[1]), st.just(operands[1]), number))
    if draw(st.integers(0, 4)) == 0:
        return {"name": draw(st.sampled_from(["neg", "abs"])), "operands": operands[:1]}
    if draw(st.integers(0, 4)) == 0:
        operands = operands[::-1]
    return {"name": draw(st.sampled_from(_BINARY)), "operands": operands}


def _operand(xp, operand, number):
    return tensor_of(xp, operand[1], operand[0], 3 * number) if isinstance(operand, (list, tuple)) else operand


_POINTWISE = rows(
    "name operands",
    ("add", [["float32", [2, 3]], ["float32", [2, 3]]]), ("add", [["float32", [2, 3]], ["float32", [3]]]),
    ("add", [["float32", [3]], ["float32", [2, 3]]]), ("mul", [["float32", [2, 1]], ["float32", [1, 3]]]),
    ("sub", [["float32", [2, 3]], ["float32", []]]), ("sub", [["int64", [2, 3]], 2]), ("sub", [["int64", [2, 3]], 0.5]),
    ("mul", [2, ["float64", [3]]]), ("add", [["uint8", [3, 4]], ["uint8", [3, 4]]]),
    ("add", [["uint8", [3]], ["int32", [3]]]), ("mul", [["int64", [3]], ["float32", [3]]]),
    ("mul", [["float32", [3]], ["float64", []]]), ("lt", [["int64", [3]], ["float32", [3]]]),
    ("lt", [["float32", [2, 3]], 0.5]), ("eq", [["int32", [2, 1]], ["int64", [3]]]),
    ("maximum", [["float32", [1]], ["float32", [0]]]), ("neg", [["float64", [2, 1, 3]]]), ("abs", [["int32", []]]),
    ("add", [["float64", [2, 3]], ["float64", [1, 2, 1]]]), ("eq", [["uint8", [3]], -3]),
    ("sub", [["float32", [1, 1]], ["int32", [2, 2]]]), ("sub", [2, ["float32", [3]]]),
)  # fmt: skip


def _first_of(**order):
    """A hint for the first of these entries that differs: what decides a dtype decides numbers too, so it comes before them."""

    def hint(case, mine, theirs):
        return next((words for name, words in order.items() if apart(name.replace("_", " "))(case, mine, theirs)), None)

    return hint


_ABOUT_POINTWISE = _first_of(
    dtypes_of_the_operands="each operand, a number too, is converted to the `result_type` of all before the operation",
    dtype_of_the_element="`ir.op` takes the dtype of the result; None means that of the computation",
    sizes="the sizes are those to which all operands broadcast; a number has none",
    operation="the element is that of `ir.op` with the name of the operation",
    result="dimensions are matched from the last one; a dimension of size 1 of an operand has the index ZERO",
)


@program("inductor.lowering.pointwise", cases=_pointwise_cases, edges=_POINTWISE, hint=_ABOUT_POINTWISE)
def pointwise_loops(xp, name, operands):
    stored = [_operand(xp, operand, number) for number, operand in enumerate(operands)]
    stored = [
        Stored(xp, f"in{i}", operand) if isinstance(operand, xp.Tensor) else operand for i, operand in enumerate(stored)
    ]
    dtype = [xp.bool] if name in ("lt", "eq") else []
    kind = tuple if name in ("add", "lt") else list
    loops = xp.inductor.lowering.pointwise(name, kind(stored), *dtype)
    result, value = _computed(xp, loops, [operand for operand in stored if isinstance(operand, Stored)])
    dtypes = [part.dtype for part in value.parts]
    shown = {"sizes": list(loops.sizes), "result": result.reshape(-1), "dtype of the element": value.dtype}
    return shown | {"operation": getattr(value, "name", None), "dtypes of the operands": dtypes}


@pointwise_loops.oracle
def _(torch, name, operands):
    values = [_operand(torch, operand, number) for number, operand in enumerate(operands)]
    common = torch.result_type(*values) if len(values) == 2 else values[0].dtype
    is_tensor = [isinstance(value, torch.Tensor) for value in values]
    if name == "maximum" or not is_tensor[0]:  # these take tensors only
        values = [torch.as_tensor(value, dtype=common) for value in values]
    result = getattr(torch, name)(*(value.to(common) if given else value for value, given in zip(values, is_tensor)))
    shown = {"sizes": list(result.shape), "result": result.reshape(-1), "dtype of the element": result.dtype}
    return shown | {"operation": name, "dtypes of the operands": [common] * len(values)}


@drawing
def _reduction_cases(draw, st):
    sizes = draw(st.lists(st.integers(1, 3), max_size=4))
    dims = [dim for dim in range(len(sizes)) if draw(st.booleans())]
    dims = draw(st.permutations([dim - len(sizes) if draw(st.booleans()) else dim for dim in dims]))
    kind = draw(st.sampled_from(["sum", "max", "min", "prod"]))
    dtype = draw(st.sampled_from([None, "int64", "float64"]))
    operand = [draw(st.sampled_from(["int32", "float32"])), sizes]
    return {"kind": kind, "operand": operand, "dims": dims, "keepdim": draw(st.booleans()), "into": dtype}


_REDUCTIONS = rows(
    "kind operand dims keepdim into",
    ("sum", ["float32", [2, 3]], [1], False, None), ("sum", ["float32", [2, 3]], [1], True, None),
    ("sum", ["float32", [2, 3]], [0], False, None), ("sum", ["float32", [2, 3]], [0], True, None),
    ("max", ["float32", [2, 3]], [-1], False, None), ("max", ["int32", [2, 3]], [1, 0], False, None),
    ("max", ["int32", [2, 3]], [0, 1], True, None), ("sum", ["int32", [2, 3, 2]], [2, 0], False, "int64"),
    ("sum", ["int32", [2, 3, 4]], [-1, 0], True, "float64"), ("min", ["float32", [2, 1, 3]], [1], False, None),
    ("prod", ["float32", [2, 3]], [1], False, "float64"), ("sum", ["float32", [2, 3]], [], False, None),
    ("sum", ["float32", []], [], True, None), ("sum", ["float32", [1, 2, *[1] * 6, 3]], [1, 8], False, None),
    ("max", ["int32", [2, 3]], [1], False, "float64"),
)  # fmt: skip


_ABOUT_REDUCTIONS = _first_of(
    dtype_of_the_element="each element is converted to `dtype` before it is reduced; None means the operand's",
    sizes="a reduced dimension is not in the sizes of the result, or has size 1 there with keepdim",
    reduced_sizes="the reduced sizes are in the order of the operand's dimensions, whatever the order of `dims`",
    kind="the kind of the loops is the one that is given",
    result="`load` takes an index for each dimension: the next of `reduced` for one that is reduced",
)


@program("inductor.lowering.reduction", cases=_reduction_cases, edges=_REDUCTIONS, hint=_ABOUT_REDUCTIONS)
def reduction_loops(xp, kind, operand, dims, keepdim, into):
    stored = Stored(xp, "in0", _operand(xp, operand, 0))
    dtype = [] if into is None else [getattr(xp, into)]
    dims = list(dims) if keepdim else tuple(dims)
    loops = xp.inductor.lowering.reduction(kind, stored, dims, keepdim, *dtype)
    result, value = _computed(xp, loops, [stored])
    shown = {"sizes": list(loops.sizes), "reduced sizes": list(loops.reduced_sizes), "kind": loops.kind}
    return shown | {"result": result, "dtype of the element": value.dtype}


@reduction_loops.oracle
def _(torch, kind, operand, dims, keepdim, into):
    x = _operand(torch, operand, 0)
    x = x.to(getattr(torch, into)) if into else x
    dims = sorted(dim % len(operand[1]) for dim in dims)
    result, reduce = x, {"sum": torch.sum, "prod": torch.prod, "max": torch.amax, "min": torch.amin}[kind]
    for dim in reversed(dims):
        result = reduce(result, dim, keepdim).to(x.dtype)
    shown = {"sizes": list(result.shape), "reduced sizes": [operand[1][dim] for dim in dims], "kind": kind}
    return shown | {"result": result.contiguous(), "dtype of the element": x.dtype}
