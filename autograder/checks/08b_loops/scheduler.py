"""Checks of lab 08: cases of a student for the rule by which the scheduler fuses loop nests."""

from ...engine.check import program
from ..cases import breaking, no_cases
from ..shared_08 import symbols

BREAKS, BODIES = "course.breaks.breaks_can_fuse", "08b.can_fuse"
_AT = {
    "[i, j]": [[3, 1], 0],
    "[j, i]": [[1, 2], 0],
    "[i, j + 1]": [[3, 1], 1],
    "[i]": [[1, 0], 0],
}  # strides and offset


@program(f"{BREAKS}.half", cases=no_cases, edges=[{}], examine=breaking(BODIES, "1/2"))
def breaks_half(xp):
    return xp.breaks.breaks_can_fuse()


@program(f"{BREAKS}.most", cases=no_cases, edges=[{}], examine=breaking(BODIES, "3/4"))
def breaks_most(xp):
    return xp.breaks.breaks_can_fuse()


@program(BREAKS, cases=no_cases, edges=[{}], examine=breaking(BODIES, "1"))
def breaks_can_fuse(xp, **case):
    """The cases, or whether `can_fuse` allows one of them."""
    if not case:
        return xp.breaks.breaks_can_fuse()
    ir, variables = xp.inductor.ir, symbols(xp, [2, 3])

    def index_of(access):
        index = xp.inductor.index.Index.of(access[2])
        for variable, stride in zip(variables, access[1]):
            index = index + xp.inductor.index.Index.of(variable) * stride
        return index

    nests = []
    for reads, write in _nests(**case):
        value = ir.constant(1.0, xp.float32)
        for read in reads:
            value = ir.op("add", value, ir.load(f"buffer_{read[0]}", index_of(read), xp.float32))
        kind = _kind(write)
        loops, reduced = (variables[:1], variables[1:]) if kind else (variables, [])
        nests.append(ir.ComputedBuffer(f"buffer_{write[0]}", loops, index_of(write), value, xp.float32, reduced, kind))
    return xp.inductor.scheduler.can_fuse(*nests)


@breaks_can_fuse.oracle
def torch_fusable(torch, first_reads, first_writes, second_reads, second_writes):
    import sympy
    from torch._inductor import config
    from torch._inductor.dependencies import MemoryDep
    from torch._inductor.scheduler import Scheduler

    variables = sympy.symbols("i0 i1", integer=True)

    def dep(access, loops=2):
        index = sum(variable * stride for variable, stride in zip(variables, access[1])) + access[2]
        sizes = sympy.Integer(2), sympy.Integer(3)
        return MemoryDep(access[0], sympy.sympify(index), variables[:loops], sizes[:loops])

    def within_iterations(reads, write):  # a reduction writes once for each row
        stub, written = Scheduler.__new__(Scheduler), dep(write, 1 if _kind(write) else 2)
        reads = [dep(read) for read in reads if read[0] == write[0]]
        with config.patch(loop_ordering_after_fusion=False):  # these loops are common loops already
            return all(stub.fusable_read_and_write(read, written) for read in reads)

    (reads, write), (later_reads, later_write) = _nests(first_reads, first_writes, second_reads, second_writes)
    if write[0] == later_write[0]:
        return False
    return within_iterations(later_reads, write) and within_iterations(reads, later_write)


def _nests(first_reads, first_writes, second_reads, second_writes):
    """Of each nest: the elements that it reads, and the element that it writes, each as a buffer, its strides and its offset."""
    pairs = (first_reads, first_writes), (second_reads, second_writes)
    return [([[read[0], *_AT[read[1:]]] for read in reads], [write[0], *_AT[write[1:]]]) for reads, write in pairs]


def _kind(write):
    """What a nest is that writes this element: a sum over the second loop if there is one element for each row."""
    return "sum" if write[1:] == _AT["[i]"] else None
