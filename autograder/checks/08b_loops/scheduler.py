"""Checks of lab 08: which loop nests the scheduler may fuse."""

from ...engine.check import program
from ..cases import drawn
from ..shared_08 import symbols

_BUFFERS = ("a", "b", "c", "d")


def _pairs(st):
    """Two loop nests over the same loops. Each lists the elements of buffers that it reads and writes."""
    where = st.sampled_from([[[3, 1], 0], [[3, 1], 0], [[3, 1], 0], [[1, 2], 0], [[3, 1], 1], [[0, 1], 0], [[3, 0], 0]])
    access = st.tuples(st.sampled_from(_BUFFERS), where).map(lambda pair: [pair[0], *pair[1]])
    reads, row = st.lists(access, max_size=3), st.sampled_from([[[3, 0], 0], [[3, 0], 0], [[1, 0], 0]])
    of_row = st.tuples(st.sampled_from(_BUFFERS), row).map(lambda pair: [pair[0], *pair[1]])
    loops = drawn(reads=reads, writes=access, kind=st.none())(st)
    nest = st.one_of(loops, loops, drawn(reads=reads, writes=of_row, kind=["sum", "max"])(st))
    return drawn(first=nest, second=nest)(st)


# Where a nest reads or writes a buffer: strides and offset, by a mark after its name. Two are the rows of a reduction.
_AT = {"": [[3, 1], 0], "'": [[1, 2], 0], "+": [[3, 1], 1], "-": [[3, 0], 0], "|": [[1, 0], 0]}


def _nest(text):
    """A loop nest written as "reads -> write". The name of a reduction comes first: it reduces over the second loop."""
    before, _, write = text.partition("-> ")
    reads = [[word[0], *_AT[word[1:]]] for word in before.split() if word not in ("sum", "max")]
    kind = next((word for word in before.split() if word in ("sum", "max")), None)
    return {"reads": reads, "writes": [write[0], *_AT[write[1:]]], "kind": kind}


_NESTS = [
    ("-> a", "-> b"), ("-> b", "-> a"), ("-> b", "a+ -> c"), ("a+ -> c", "-> b"), ("c+ -> d", "-> b"), ("-> a", "-> a"),
    ("-> a", "-> a+"), ("c -> a", "a -> b"), ("c -> a", "a' -> b"), ("c -> a", "a a' -> b"), ("c -> a", "a' a -> b"),
    ("c -> a'", "a' -> b"), ("c -> a-", "a- -> b"), ("c -> a-", "a -> b"), ("c -> a", "a+ -> b"), ("c -> a", "c' -> b"),
    ("c -> a", "-> c"), ("c' -> a", "-> c"), ("c c+ -> a", "-> c"), ("c+ c -> a", "d -> c"), ("a -> a", "c -> b"),
    ("c -> a", "b' -> b"), ("c -> a", "a -> c"), ("sum c -> a-", "a- c -> b"), ("sum c -> a-", "a| c -> b"),
    ("c -> a", "sum a -> b-"), ("c -> a", "sum a' -> b-"), ("max c -> a-", "sum c a- -> b-"),
    ("sum c -> a-", "sum c -> b-"), ("b -> a", "sum c -> b-"), ("sum c -> a-", "sum b -> a-"),
]  # fmt: skip


@program(
    "inductor.scheduler.can_fuse",
    cases=_pairs,
    edges=[{"first": _nest(first), "second": _nest(second)} for first, second in _NESTS],
    hint=lambda case, mine, theirs: (
        "an earlier iteration of the second must not overwrite an element that the first reads later"
        if mine is True and any(read[0] == case["second"]["writes"][0] for read in case["first"]["reads"])
        else None
    ),
)
def fusable(xp, first, second):
    ir, variables = xp.inductor.ir, symbols(xp, [2, 3])

    def index_of(access):
        index = xp.inductor.index.Index.of(access[2])
        for variable, stride in zip(variables, access[1]):
            index = index + xp.inductor.index.Index.of(variable) * stride
        return index

    nests = []
    for nest in (first, second):
        value = ir.constant(1.0, xp.float32)
        for read in nest["reads"]:
            value = ir.op("add", value, ir.load(f"buffer_{read[0]}", index_of(read), xp.float32))
        loops, reduced = (variables[:1], variables[1:]) if nest["kind"] else (variables, [])
        index = index_of(nest["writes"])
        nests.append(
            ir.ComputedBuffer(f"buffer_{nest['writes'][0]}", loops, index, value, xp.float32, reduced, nest["kind"])
        )
    return xp.inductor.scheduler.can_fuse(*nests)


@fusable.oracle
def torch_fusable(torch, first, second):
    import sympy
    from torch._inductor import config
    from torch._inductor.dependencies import MemoryDep
    from torch._inductor.scheduler import Scheduler

    variables = sympy.symbols("i0 i1", integer=True)

    def dep(access, loops=2):
        index = sum(variable * stride for variable, stride in zip(variables, access[1])) + access[2]
        sizes = sympy.Integer(2), sympy.Integer(3)
        return MemoryDep(access[0], sympy.sympify(index), variables[:loops], sizes[:loops])

    def within_iterations(reads, writer):  # a reduction writes once for each row
        stub, write = Scheduler.__new__(Scheduler), dep(writer["writes"], 1 if writer["kind"] else 2)
        reads = [dep(read) for read in reads if read[0] == writer["writes"][0]]
        with config.patch(loop_ordering_after_fusion=False):  # these loops are common loops already
            return all(stub.fusable_read_and_write(read, write) for read in reads)

    if first["writes"][0] == second["writes"][0]:
        return False
    return within_iterations(second["reads"], first) and within_iterations(first["reads"], second)
