"""Cases of a student for `as_strided`.

The kernel reads the sizes of a tensor and of its memory, and no element. So a tensor of the CPU stands for one of the device.
"""

from __future__ import annotations

from ...engine.check import program
from ..cases import breaking, no_cases

BREAKS, BODIES = "course.breaks.breaks_as_strided", "06c.as_strided"


@program(f"{BREAKS}.half", cases=no_cases, edges=[{}], examine=breaking(BODIES, "1/2"))
def breaks_half(xp):
    return xp.breaks.breaks_as_strided()


@program(BREAKS, cases=no_cases, edges=[{}], examine=breaking(BODIES, "1"))
def breaks_as_strided(xp, **case):
    """The cases, or the sizes, strides and offset of the view of one of them."""
    if not case:
        return xp.breaks.breaks_as_strided()
    assert _is_a_view(**case)
    module = xp.backend

    def as_strided(base, begin, *view):
        storage = base.untyped_storage()
        storage.memory = module.np.zeros(storage.nbytes(), module.np.uint8)
        return module.as_strided(base[begin:], *view)

    return _viewed(module.torch, as_strided, **case)


@breaks_as_strided.oracle
def _(torch, **case):
    if not _is_a_view(**case):
        raise TypeError("0 to 100 elements, a view that begins at one of them, and at most one offset are needed")
    return _viewed(torch, lambda base, begin, *view: base[begin:].as_strided(*view), **case)


def _is_a_view(elements, begin, storage_offset, **view):
    return 0 <= begin <= elements <= 100 and len(storage_offset) <= 1


def _viewed(torch, as_strided, elements, dtype, begin, size, stride, storage_offset):
    view = as_strided(torch.zeros(elements, dtype=getattr(torch, dtype)), begin, size, stride, *storage_offset)
    return [list(view.shape), list(view.stride()), view.storage_offset()]
