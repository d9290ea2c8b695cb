"""Lab 14a, the choice of a kernel for the sum of two tensors."""

from __future__ import annotations

from ...engine.check import program
from ..cases import drawing, explained, field, first_of, tensor, tensors
from ..shared_14 import SECONDS, UNWRITTEN, about_kernels, asked, counted, grid_of, needs, threads_of
from .strides import of_strides
from .vectors import of_vectors

BLOCK = 128  # threads, in a launch of `loops.launch`


@drawing
def _pairs(draw, st):
    a, b = (draw(tensors(st, (0, 4), 5, ("float32",)))["tensor"] for _ in range(2))
    if len(a["sizes"]) == len(b["sizes"]) or draw(st.booleans()):
        b = {**a, "sizes": [1 if size and draw(st.integers(0, 3)) == 0 else size for size in a["sizes"]]}
    if any(1 not in pair and pair[0] != pair[1] for pair in zip(a["sizes"][::-1], b["sizes"][::-1])):
        b = tensor([], None, 1, "float32")["tensor"]
    return {"a": {"tensor": a}, "b": {"tensor": b}}


def _pair(a, b):
    return {name: tensor(*x, dtype="float32") for name, x in {"a": a, "b": b}.items()}


def _about_launches(case, mine, theirs):
    yours, wanted = field(mine, "kernels and blocks"), field(theirs, "kernels and blocks")
    if yours == wanted or yours is None:
        return None
    if len(yours) != len(wanted):
        return "one launch of one of your three kernels, or none if there are no elements"
    (kernel, _), (other, _) = yours[0], wanted[0]
    if "add_strided" in (kernel, other) and kernel != other:
        return "`add_strided`, unless the loop has one element, or one dimension in which each operand has the stride 4 in bytes"
    if kernel != other:
        return "`add_vectorised` needs addresses of all operands that are multiples of the size of 4 elements"
    return "in `add_vectorised` a thread has four elements, in the other kernels one; the last threads may have fewer"


@program(
    "aten.native.cuda.loops.add",
    cases=_pairs,
    edges=[
        _pair(([300],), ([300],)), _pair(([20, 15],), ([20, 15],)), _pair(([20, 15], [1, 20]), ([20, 15], [1, 20])),
        _pair(([20, 15], [1, 20]), ([20, 15],)), _pair(([64], None, 1), ([64], None, 5)), _pair(([64], None, 4), ([64], None, 8)),
        _pair(([64], None, 4), ([64], None, 2)), _pair(([40, 3],), ([3],)), _pair(([40, 1],), ([1, 3],)),
        _pair(([50], [2]), ([50],)), _pair(([50], [0]), ([50],)), _pair(([],), ([],)), _pair(([1, 1], [7, 5], 1), ([1], [3])),
        _pair(([0, 3],), ([3],)), _pair(([4, 1, 40], [40, 9, 1]), ([4, 1, 40],)), _pair(([1], [9], 4), ([1, 1],)),
        _pair(([3, 4, 5], [20, 1, 4], 3), ([3, 4, 5], [20, 1, 4], 3)), _pair(([6, 5], [8, 1]), ([6, 5], [8, 1])),
        _pair(([129],), ([1],)), _pair(([3],), ([0, 3],)), _pair(([2], [3]), ([2],)), _pair(([1540],), ([1540],)),
        _pair(([513], None, 1), ([513],)),
    ],
    hint=first_of(
        about_kernels,
        _about_launches,
        explained(
            memory="the result has memory of its own",
            operands_afterwards="the operands are only read",
            result="the kernel has run, but its values are others: which parameter of this kernel is the output, and which is `a`?",
        ),
    ),
    draws=6,
)  # fmt: skip
def sums_of_tensors(rl, a, b):
    import rushlight.on_torch.cuda_on_host  # noqa: F401  the device of `loops.launch`
    from rushlight.utils.child import run_in_child

    sizes, strides, _ = rl.aten.iterator.output_of(rl.float32, a, b)
    like = rl.empty_strided(sizes, strides).fill_(UNWRITTEN)  # the memory of the next tensor may be this one's
    needed = _needed(like, a, b)
    del like
    return run_in_child(_sum, rl.aten.native.cuda.loops, a, b, needed, seconds=SECONDS)


def _sum(loops, a, b, needed):
    loops.launches.clear()
    before, memory = [x.tolist() for x in (a, b)], [x.untyped_storage() for x in (a, b)]
    result = loops.add(a, b)
    kernels = [[launch.kernel, launch.blocks] for launch in loops.launches]
    shown = {"findings": [], "kernels and blocks": kernels, "result": result}
    new = all(result.untyped_storage() is not of for of in memory)
    shown |= {"memory": None if new else "an operand's"}
    after = [x.tolist() for x in (a, b)]
    shown |= {"operands afterwards": None if after == before else after}
    if len(kernels) != 1 or not needed:
        return shown
    findings, counts = counted("", loops.launches[0].result, needed)
    return shown | {"findings": findings} | counts


@sums_of_tensors.oracle
def _(torch, a, b):
    result = torch.add(a, b)
    kernel, n = _kernel(result, a, b), result.numel()
    kernels = [[kernel, grid_of(-(-n // 4) if kernel == "add_vectorised" else n, BLOCK, 0)]] if n else []
    shown = {"findings": [], "kernels and blocks": kernels, "result": result}
    shown |= {"memory": None, "operands afterwards": None}
    return shown | _needed(result, a, b)


def _in_order(out, *operands):
    """The sizes of the loop that computes a new tensor, the fastest dimension first, without those of size 1, and the strides of
    each operand."""
    dims = sorted((d for d in range(out.dim()) if out.shape[d] != 1), key=out.stride)
    strides = [x.expand(out.shape).stride() for x in (out, *operands)]
    return [out.shape[d] for d in dims], [[of[d] for d in dims] for of in strides]


def _kernel(out, a, b):
    of_out, of_a, of_b = _in_order(out, a, b)[1]  # a new tensor has no holes
    if not of_out == of_a == of_b:
        return "add_strided"
    return "add" if (a.storage_offset() | b.storage_offset()) % 4 else "add_vectorised"


def _needed(out, a, b):
    if out.numel() == 0:
        return {}
    n, offsets, kernel = out.numel(), [a.storage_offset(), b.storage_offset(), 0], _kernel(out, a, b)
    if kernel == "add_strided":
        return of_strides(*_in_order(out, a, b), BLOCK, [offsets[-1], *offsets[:-1]])
    if kernel == "add_vectorised":
        return of_vectors(n, offsets, grid_of(-(-n // 4), BLOCK, 0), BLOCK)
    warps = [threads[threads < n] for threads in threads_of(grid_of(n, BLOCK, 0), BLOCK)]
    a, b, out = (asked(4 * (offset + warp) for warp in warps) for offset in offsets)
    return needs(a + b, out)
