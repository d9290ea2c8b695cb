"""Correct answers to lab 08b in other styles than the reference's: every check must accept them.

A function's name is its exercise's, two underscores, and the style.
"""

import functools
import math

from rushlight.aten.native.views import broadcast_shapes
from rushlight.aten.strided import contiguous_strides
from rushlight.c10.dtypes import result_type
from rushlight.inductor import ir
from rushlight.inductor.index import ZERO, Index, element_index, quotient, remainder
from rushlight.inductor.ir import Pointwise, Reduction


def element_index__by_reduce(indices, strides, offset):
    pairs = zip(indices, strides)
    return functools.reduce(lambda total, pair: total + pair[0] * pair[1], pairs, Index((), offset))


def element_index__from_the_last_dimension(indices, strides, offset):
    where = Index.of(0)
    for dim in range(len(indices) - 1, -1, -1):
        if strides[dim]:
            where += strides[dim] * indices[dim]
    return where + offset


def review_quotient__with_two_loops():
    index = {"sizes": (2, 3), "coefficients": (4, 1), "offset": 2, "divisor": 4}
    backwards = dict(sizes=[3, 1], coefficients=[-2, 5], offset=1, divisor=5)
    return {"e": None, "d": index | {"offset": 0}, "c": backwards, "b": None, "a": index}


def review_quotient__from_a_table():
    table = {"a": ([4], [1], 3), "c": ([3], [-1], -4), "d": ([3, 4], [12, 1], 0)}
    names = "sizes", "coefficients", "offset"
    return {letter: dict(zip(names, table[letter])) | {"divisor": 4} if letter in table else None for letter in "abcde"}


def reshaped_indices__from_the_last_dimension(indices, sizes, new_sizes):
    position, step = ZERO, 1
    for index, size in list(zip(indices, new_sizes))[::-1]:
        position, step = position + index * step, step * size
    found, step = [], 1
    for dim in reversed(range(len(sizes))):
        here = quotient(position, step)
        found.insert(0, remainder(here, sizes[dim]) if dim else here)
        step *= sizes[dim]
    return [ZERO if size == 1 else index for index, size in zip(found, sizes)]


def reshaped_indices__from_the_outermost_dimension(indices, sizes, new_sizes):
    flat, answer = ZERO, []
    for index, size in zip(indices, new_sizes):
        flat = flat * size + index
    for dim in range(len(sizes)):
        stride = math.prod(sizes[dim + 1 :])
        answer.append(quotient(flat, stride))
        flat = remainder(flat, stride)
    return answer


def reshaped_indices__by_recursion(indices, sizes, new_sizes):
    strides = contiguous_strides(new_sizes)
    where = element_index(list(indices), strides, 0)

    def parts(where, sizes):
        if not sizes:
            return []
        *others, last = sizes
        return [*parts(quotient(where, last), others), remainder(where, last)]

    return parts(where, list(sizes))


def merge_dims__from_the_inside(sizes, strides):
    dims = [dim for dim in range(len(sizes)) if sizes[dim] != 1]
    groups = []
    for dim in reversed(dims):
        if groups and all(each[dim] == each[groups[0][0]] * sizes[groups[0][0]] for each in strides):
            groups[0].insert(0, dim)
        else:
            groups.insert(0, [dim])
    return groups


def merge_dims__by_where_to_cut(sizes, strides):
    dims = [dim for dim, size in enumerate(sizes) if size > 1]
    cuts = [
        n
        for n, (outer, inner) in enumerate(zip(dims, dims[1:]), 1)
        if not all(each[outer] - each[inner] * sizes[inner] == 0 for each in strides)
    ]
    borders = [0, *cuts, len(dims)]
    return [dims[start:end] for start, end in zip(borders, borders[1:])] if dims else []


def pointwise__with_a_function_for_each_operand(name, operands, dtype=None):
    common = result_type(*operands)
    sizes = broadcast_shapes(*[getattr(each, "sizes", ()) for each in operands])

    def value(operand, indices):
        if not hasattr(operand, "load"):
            return ir.constant(operand, common)
        skipped = len(sizes) - len(operand.sizes)
        chosen = [indices[skipped + dim] if size != 1 else ZERO for dim, size in enumerate(operand.sizes)]
        return ir.cast(operand.load(chosen), common)

    return Pointwise(
        sizes=list(sizes),
        dtype=common if dtype is None else dtype,
        inner=lambda indices: ir.op(name, *[value(each, indices) for each in operands], dtype=dtype or common),
    )


def pointwise__from_the_last_dimension(name, operands, dtype=None):
    common = result_type(*operands)
    tensors = [hasattr(each, "sizes") for each in operands]
    sizes = tuple(broadcast_shapes(*(each.sizes for each, known in zip(operands, tensors) if known)))

    def inner(indices):
        found = []
        for operand, is_tensor in zip(operands, tensors):
            if is_tensor:
                backwards = zip(reversed(operand.sizes), reversed(list(indices)))
                own = [ZERO if size == 1 else index for size, index in backwards]
                found += [ir.cast(operand.load(own[::-1]), common)]
            else:
                found += [ir.constant(operand, common)]
        return ir.op(name, *found, dtype=dtype)

    return Pointwise(sizes, dtype or common, inner)


def reduction__with_places(kind, operand, dims, keepdim, dtype=None):
    ndim = len(operand.sizes)
    gone = sorted(dim + ndim if dim < 0 else dim for dim in dims)
    sizes = []
    for dim, size in enumerate(operand.sizes):
        if dim not in gone:
            sizes.append(size)
        elif keepdim:
            sizes.append(1)

    def inner(indices, reduced):
        full = list(indices)
        for dim, index in zip(gone, reduced):
            if keepdim:
                full[dim] = index
            else:
                full.insert(dim, index)
        return ir.cast(operand.load(full), operand.dtype if dtype is None else dtype)

    return Reduction(
        sizes=sizes,
        dtype=operand.dtype if dtype is None else dtype,
        inner=inner,
        reduced_sizes=[operand.sizes[dim] for dim in gone],
        kind=kind,
    )


def reduction__with_dictionaries(kind, operand, dims, keepdim, dtype=None):
    sizes = dict(enumerate(operand.sizes))
    gone = [dim for dim in sizes if dim in dims or dim - len(sizes) in dims]
    shown = [dim for dim in sizes if keepdim or dim not in gone]
    into = dtype or operand.dtype

    def inner(indices, reduced):
        place = dict(zip(shown, indices)) | dict(zip(gone, reduced))
        return ir.cast(operand.load([place[dim] for dim in sizes]), into)

    kept = tuple(1 if dim in gone else sizes[dim] for dim in shown)
    return Reduction(kept, into, inner, tuple(map(sizes.get, gone)), kind)


def breaks_can_fuse__one_kind_of_arrow_in_each():
    rows = [
        ([], "b[j, i]", [], "b[i, j]"),
        (["c[j, i]"], "b[i]", [], "b[i]"),
        (["a[i, j]"], "c[i]", ["c[i]", "b[i, j]"], "b[j, i]"),
        (["a[i, j]"], "c[i, j]", ["a[j, i]"], "b[i, j]"),
        (["b[i, j]"], "a[i, j + 1]", ["a[i, j]", "a[i, j + 1]"], "b[i, j]"),
        (["a[i]", "b[j, i]"], "c[i, j]", [], "b[i, j]"),
    ]
    return [{**_nest("first", *row[:2]), **_nest("second", *row[2:])} for row in rows]


def _nest(which, reads, writes):
    return {f"{which}_reads": reads, f"{which}_writes": writes}


def breaks_can_fuse__many_arrows_in_each():
    row, last = ("b[i, j]", "b[j, i]", "c[i]", "c[i, j + 1]"), ["c[i, j]", "c[i, j + 1]"]
    return (
        _nest("first", [], "a[i]") | _nest("second", ["a[i]"], "a[j, i]"),
        _nest("first", ["a[i]"], "a[i]") | _nest("second", ["a[i]"], "a[i]"),
        _nest("first", row[:1], "a[i]") | _nest("second", ["a[i]", *row[1:]], "c[i, j]"),
        _nest("first", ["b[i, j]"], "c[i, j + 1]") | _nest("second", last, "b[i, j]"),
        _nest("first", ["a[j, i]"], "b[i, j + 1]") | _nest("second", last, "a[i, j]"),
    )


def generated_by__by_match(line):
    match line:
        case "sizes" | "product":
            function = {"sizes": "_codegen_assert_size_stride", "product": "_generate_extern_kernel_out_helper"}[line]
            return f"torch/_inductor/codegen/wrapper.py {function}"
        case "kernel" | "header" | "loop":
            function = {"kernel": "define_kernel", "header": "codegen_group", "loop": "gen_loop_at"}[line]
            return f"torch/_inductor/codegen/cpp.py {function}"
        case "round" | "refused":
            return "torch/_inductor/scheduler.py " + ("fuse_nodes" if line == "round" else "__call__")
        case "operators":
            return "torch/_inductor/compile_fx.py codegen_and_compile"
        case "program":
            return "torch/_inductor/graph.py _compile_to_module_lines"
    return "torch/_inductor/debug.py log_ir_pre_fusion"


def generated_by__in_a_table(line):
    table = """
    debug log_ir_pre_fusion example
    compile_fx codegen_and_compile operators
    scheduler fuse_nodes round
    scheduler __call__ refused
    graph _compile_to_module_lines program
    codegen/wrapper _codegen_assert_size_stride sizes
    codegen/wrapper _generate_extern_kernel_out_helper product
    codegen/cpp define_kernel kernel
    codegen/cpp codegen_group header
    codegen/cpp gen_loop_at loop"""
    rows = {name: (file, function) for file, function, name in (row.split() for row in table.strip().splitlines())}
    return "torch/_inductor/{}.py {}".format(*rows[line])
