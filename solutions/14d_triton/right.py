"""Correct answers to lab 14d in other styles than the reference's: every check must accept them.

A function's name is its exercise's, two underscores, and the style.
"""

import math

from rushlight.course import predictions
from rushlight.course.predictions import BLOCK_KERNELS
from rushlight.inductor import triton_templates
from rushlight.inductor.simd import MOST_IN_BLOCK, next_power_of_two
from rushlight.inductor.triton_kernel import REDUCTIONS, TYPES, reduction_init

from ..shared import copied, edited

# Predictions


_block_load = copied(predictions.block_load)


def block_load__with_a_second_draw():
    right = _block_load()
    return {"h": [], "g": [], "f": [], "e": []} | {key: right[key] for key in reversed(right)}


def block_load__in_tuples():
    right = _block_load()
    return {key: value if key == "name" else tuple(value) for key, value in right.items()}


def masked_line__looked_up(program):
    wanted = {
        "example": "tl.load", "a maximum": "tl.load", "added": "tl.load", "a variance": "away =", "again": "value =",
        "stored": "tl.store", "one too many": "tl.load", "ones": "power =",
    }.get(program, "nothing")  # fmt: skip
    return next((number for number, line in enumerate(BLOCK_KERNELS[program].splitlines(), 1) if wanted in line), None)


def masked_line__by_cases(program):
    match program:
        case "example" | "a maximum" | "added" | "one too many":
            return 4
        case "stored" | "ones":
            return 5
        case "a variance" | "again":
            return 6
    return None


# Softmax


def softmax_source__with_a_block_pointer():
    return r"""
import triton
import triton.language as tl

@triton.jit
def softmax(x, out, columns, row_stride, column_stride, BLOCK: tl.constexpr):
    row = tl.program_id(axis=0)
    source = tl.make_block_ptr(x + row * row_stride, (columns,), (column_stride,), (0,), (BLOCK,), (0,))
    target = tl.make_block_ptr(out + row * columns, (columns,), (1,), (0,), (BLOCK,), (0,))
    values = tl.load(source, boundary_check=(0,), padding_option="zero")
    values = tl.where(tl.arange(0, BLOCK) < columns, values, float("-inf"))
    tl.store(target, tl.softmax(values), boundary_check=(0,))
"""


def softmax_source__in_powers_of_2():
    return r'''
from triton import jit, language as tl

LOG2_E: tl.constexpr = tl.constexpr(1.4426950408889634)

@jit
def load_row(pointer, columns, stride, BLOCK: tl.constexpr):
    """A row, and minus infinity behind it."""
    at = tl.arange(0, BLOCK)
    return tl.load(pointer + at * stride, mask=at < columns, other=-float("inf"))

@jit
def softmax(x, out, columns, row_stride, column_stride, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    values = load_row(x + row * row_stride, columns, column_stride, BLOCK)
    values = tl.exp2((values - values.max(axis=0)) * LOG2_E)
    values = values * (1.0 / values.sum(axis=0))
    at = tl.arange(0, BLOCK)
    tl.store(out + row * columns + at, values, at < columns)
'''


def softmax_source__a_block_of_one_row():
    return r"""
import triton
import triton.language as tl

@triton.jit
def softmax(x, out, columns, row_stride, column_stride, BLOCK: tl.constexpr):
    row, column = tl.program_id(0) + tl.arange(0, 1)[:, None], tl.arange(0, BLOCK)[None, :]
    assert BLOCK >= 1
    mask = column < columns
    values = tl.load(x + row * row_stride + column * column_stride, mask=mask)  # anything behind the row
    largest = tl.max(tl.where(mask, values, -float("inf")), axis=1, keep_dims=True)
    powers = tl.where(mask, tl.math.exp(values - largest), 0.0)
    result = powers / tl.sum(powers, axis=1, keep_dims=True)
    tl.store(out + row * columns + column, result, mask=mask)
"""


# The order of tiles


def grouped__by_a_list(instance, tiles_m, tiles_n, group):
    order = []
    for first in range(0, tiles_m, group):
        for column in range(tiles_n):
            order += [(row, column) for row in range(first, min(first + group, tiles_m))]
    return order[instance]


def grouped__as_the_tutorial(instance, tiles_m, tiles_n, group):
    num_pid_in_group = group * tiles_n
    group_id = instance // num_pid_in_group
    first_pid_m = group_id * group
    group_size_m = min(tiles_m - first_pid_m, group)
    pid_m = first_pid_m + ((instance % num_pid_in_group) % group_size_m)
    pid_n = (instance % num_pid_in_group) // group_size_m
    return pid_m, pid_n


def strips_loaded__by_a_loop(instances, tiles_m, tiles_n, group):
    seen = set()
    for instance in range(instances):
        first = instance // (group * tiles_n) * group
        within, rows = instance - first * tiles_n, min(group, tiles_m - first)
        seen |= {("a", first + within % rows), ("b", within // rows)}
    return len(seen)


def strips_loaded__by_arithmetic(instances, tiles_m, tiles_n, group):
    """Whole groups need all columns. The rest is a part of one group."""
    whole, rest = divmod(instances, group * tiles_n)
    rows = min(group, tiles_m - whole * group)
    of_rest = min(rest, rows) if rest else 0
    return (
        whole * group * (whole > 0)
        - max(0, whole * group - tiles_m)
        + of_rest
        + (tiles_n if whole else -(-rest // rows))
    )


def strips_loaded__by_the_largest(instances, tiles_m, tiles_n, group):
    """No row and no column before the largest is left out."""
    tiles = [triton_templates.grouped(instance, tiles_m, tiles_n, group) for instance in range(instances)]
    return max(row for row, _ in tiles) + max(column for _, column in tiles) + 2


# The product


def product_source__with_pointers_that_move():
    return r"""
import triton
import triton.language as tl

@triton.jit
def tile_of(pid, tiles_m, tiles_n, GROUP: tl.constexpr):
    in_group = GROUP * tiles_n
    first = (pid // in_group) * GROUP
    size = min(tiles_m - first, GROUP)
    return first + (pid % in_group) % size, (pid % in_group) // size

@triton.jit
def product(a, b, bias, out, m, n, k, a_row, a_column, b_row, b_column, RELU: tl.constexpr, GROUP: tl.constexpr,
            TILE_M: tl.constexpr, TILE_N: tl.constexpr, TILE_K: tl.constexpr):
    row, column = tile_of(tl.program_id(0), tl.cdiv(m, TILE_M), tl.cdiv(n, TILE_N), GROUP)
    offs_m = row * TILE_M + tl.arange(0, TILE_M)
    offs_n = column * TILE_N + tl.arange(0, TILE_N)
    offs_k = tl.arange(0, TILE_K)
    a_ptrs = a + offs_m[:, None] * a_row + offs_k[None, :] * a_column
    b_ptrs = b + offs_k[:, None] * b_row + offs_n[None, :] * b_column
    acc = tl.full((TILE_M, TILE_N), 0.0, dtype=tl.float32)
    for step in tl.range(0, tl.cdiv(k, TILE_K)):
        left = k - step * TILE_K
        x = tl.load(a_ptrs, mask=(offs_m[:, None] < m) & (offs_k[None, :] < left), other=0)
        y = tl.load(b_ptrs, mask=(offs_k[:, None] < left) & (offs_n[None, :] < n), other=0)
        acc += tl.dot(x, y, input_precision="ieee")
        a_ptrs += TILE_K * a_column
        b_ptrs += TILE_K * b_row
    acc = acc + tl.load(bias + offs_n, mask=offs_n < n)[None, :]
    if RELU:
        acc = tl.where(acc > 0, acc, 0.0)
    tl.store(out + offs_m[:, None] * n + offs_n[None, :], acc, mask=(offs_m[:, None] < m) & (offs_n[None, :] < n))
"""


def product_source__with_block_pointers():
    return r"""
import triton
import triton.language as tl

@triton.jit
def product(a, b, bias, out, m, n, k, a_row, a_column, b_row, b_column, RELU: tl.constexpr, GROUP: tl.constexpr,
            TILE_M: tl.constexpr, TILE_N: tl.constexpr, TILE_K: tl.constexpr):
    tiles_n = (n + TILE_N - 1) // TILE_N
    pid = tl.program_id(0)
    first = pid // (GROUP * tiles_n) * GROUP
    within = pid - first * tiles_n
    rows = tl.minimum(GROUP, tl.cdiv(m, TILE_M) - first)
    row, column = (first + within % rows) * TILE_M, within // rows * TILE_N
    of_a = tl.make_block_ptr(a, (m, k), (a_row, a_column), (row, 0), (TILE_M, TILE_K), (1, 0))
    of_b = tl.make_block_ptr(b, (k, n), (b_row, b_column), (0, column), (TILE_K, TILE_N), (1, 0))
    acc = tl.zeros([TILE_M, TILE_N], dtype=tl.float32)
    for _ in range(0, k, TILE_K):
        x = tl.load(of_a, boundary_check=(0, 1), padding_option="zero")
        y = tl.load(of_b, boundary_check=(0, 1), padding_option="zero")
        acc = tl.dot(x, y, acc, input_precision="tf32x3")
        of_a = tl.advance(of_a, (0, TILE_K))
        of_b = tl.advance(of_b, (TILE_K, 0))
    of_bias = tl.make_block_ptr(bias, (n,), (1,), (column,), (TILE_N,), (0,))
    acc += tl.load(of_bias, boundary_check=(0,), padding_option="zero")[None, :]
    if RELU:
        acc = tl.maximum(acc, 0.0)
    target = tl.make_block_ptr(out, (m, n), (n, 1), (row, column), (TILE_M, TILE_N), (1, 0))
    tl.store(target, acc, boundary_check=(0, 1))
"""


# Attention


def attention_source__in_powers_of_2():
    """As FlashAttention-2: the scale has the factor log2(e), and the blocks before the diagonal need no mask."""
    return r"""
import triton
import triton.language as tl

LN_2 = tl.constexpr(0.6931471805599453)

@triton.jit
def step(q, key, value, first, i, d, keys, largest, total, mixed, factor, MASKED: tl.constexpr, BLOCK_K: tl.constexpr,
         SIZE: tl.constexpr):
    j = first + tl.arange(0, BLOCK_K)
    inside = j < keys
    k = tl.load(key + d[:, None] + j[None, :] * SIZE, mask=inside[None, :], other=0.0)
    qk = tl.dot(q, k, input_precision="ieee") * factor
    qk = tl.where(inside[None, :], qk, -1.0e30)
    if MASKED:
        qk = tl.where(j[None, :] <= i[:, None], qk, -1.0e30)
    larger = tl.maximum(largest, tl.max(qk, 1))
    p = tl.math.exp2(qk - larger[:, None])
    alpha = tl.math.exp2(largest - larger)
    v = tl.load(value + j[:, None] * SIZE + d[None, :], mask=inside[:, None], other=0.0)
    mixed = tl.dot(p, v, mixed * alpha[:, None], input_precision="ieee")
    return larger, total * alpha + tl.sum(p, 1), mixed

@triton.jit
def attention(query, key, value, out, logsumexp, queries, keys, scale, CAUSAL: tl.constexpr, SIZE: tl.constexpr,
              BLOCK_Q: tl.constexpr, BLOCK_K: tl.constexpr):
    head = tl.program_id(1)
    key += head * keys * SIZE
    value += head * keys * SIZE
    begin = tl.program_id(0) * BLOCK_Q
    i, d = begin + tl.arange(0, BLOCK_Q), tl.arange(0, SIZE)
    place = query + (head * queries + i[:, None]) * SIZE + d[None, :]
    q = tl.load(place, mask=(i < queries)[:, None])
    largest = tl.zeros([BLOCK_Q], tl.float32) - 1.0e30
    total = tl.zeros([BLOCK_Q], tl.float32)
    mixed = tl.zeros([BLOCK_Q, SIZE], tl.float32)
    factor = scale * 1.44269504
    whole = keys
    if CAUSAL:
        whole = tl.minimum(keys, begin // BLOCK_K * BLOCK_K)
    for first in range(0, whole, BLOCK_K):
        largest, total, mixed = step(q, key, value, first, i, d, keys, largest, total, mixed, factor, False, BLOCK_K, SIZE)
    if CAUSAL:
        for first in range(whole, tl.minimum(keys, begin + BLOCK_Q), BLOCK_K):
            largest, total, mixed = step(q, key, value, first, i, d, keys, largest, total, mixed, factor, True, BLOCK_K, SIZE)
    tl.store(out + (head * queries + i[:, None]) * SIZE + d[None, :], mixed / total[:, None], mask=(i < queries)[:, None])
    tl.store(logsumexp + head * queries + i, (largest + tl.log2(total)) * LN_2, mask=i < queries)
"""


def attention_source__with_block_pointers():
    return r"""
import triton
import triton.language as tl

@triton.jit
def attention(query, key, value, out, logsumexp, queries, keys, scale, CAUSAL: tl.constexpr, SIZE: tl.constexpr,
              BLOCK_Q: tl.constexpr, BLOCK_K: tl.constexpr):
    start, head = tl.program_id(0) * BLOCK_Q, tl.program_id(1)
    q_ptr = tl.make_block_ptr(query + head * queries * SIZE, (queries, SIZE), (SIZE, 1), (start, 0), (BLOCK_Q, SIZE), (1, 0))
    k_ptr = tl.make_block_ptr(key + head * keys * SIZE, (SIZE, keys), (1, SIZE), (0, 0), (SIZE, BLOCK_K), (0, 1))
    v_ptr = tl.make_block_ptr(value + head * keys * SIZE, (keys, SIZE), (SIZE, 1), (0, 0), (BLOCK_K, SIZE), (1, 0))
    o_ptr = tl.make_block_ptr(out + head * queries * SIZE, (queries, SIZE), (SIZE, 1), (start, 0), (BLOCK_Q, SIZE), (1, 0))
    q = tl.load(q_ptr, boundary_check=(0,), padding_option="zero") * scale
    m = tl.full([BLOCK_Q], float("-inf"), dtype=tl.float32)
    l = tl.full([BLOCK_Q], 0.0, dtype=tl.float32)
    acc = tl.zeros([BLOCK_Q, SIZE], dtype=tl.float32)
    rows = start + tl.arange(0, BLOCK_Q)
    steps = tl.cdiv(min(keys, start + BLOCK_Q) if CAUSAL else keys, BLOCK_K)
    for number in range(steps):
        columns = number * BLOCK_K + tl.arange(0, BLOCK_K)
        k = tl.load(k_ptr, boundary_check=(1,), padding_option="zero")
        v = tl.load(v_ptr, boundary_check=(0,), padding_option="zero")
        s = tl.dot(q, k, input_precision="ieee") + tl.where(columns < keys, 0.0, float("-inf"))[None, :]
        if CAUSAL:
            s = tl.where(rows[:, None] >= columns[None, :], s, float("-inf"))
        m_new = tl.maximum(m, tl.max(s, axis=1))
        p = tl.exp(s - m_new[:, None])
        alpha = tl.exp(m - m_new)
        l = alpha * l + tl.sum(p, axis=1)
        acc = acc * alpha[:, None] + tl.dot(p, v, input_precision="ieee")
        m = m_new
        k_ptr = tl.advance(k_ptr, (0, BLOCK_K))
        v_ptr = tl.advance(v_ptr, (BLOCK_K, 0))
    tl.store(o_ptr, acc / l[:, None], boundary_check=(0,))
    l_ptr = tl.make_block_ptr(logsumexp + head * queries, (queries,), (1,), (start,), (BLOCK_Q,), (0,))
    tl.store(l_ptr, m + tl.log(l), boundary_check=(0,))
"""


# The Triton of the compiler ------------------------------------------------------------------------------------------


def axis_terms__joins_afterwards(sizes, coefficients):
    loops = []
    for number, size in enumerate(sizes):
        loops.insert(0, [math.prod(sizes[number + 1 :]), size, coefficients[number]])
    joined = []
    for loop in (loop for loop in loops if loop[2] != 0):
        last = joined[-1] if joined else None
        if last and last[0] * last[1] == loop[0] and last[1] * last[2] == loop[2]:
            last[1] *= loop[1]
        else:
            joined.append(loop)
    return [tuple(loop) for loop in joined]


def axis_terms__from_outside(sizes, coefficients):
    terms, divisor, i = [], math.prod(sizes), 0
    while i < len(sizes):
        length, step = sizes[i], coefficients[i]
        while i + 1 < len(sizes) and step and step == coefficients[i + 1] * sizes[i + 1]:
            i += 1
            length, step = length * sizes[i], coefficients[i]
        divisor //= length
        if step != 0:
            terms = [(divisor, length, step), *terms]
        i += 1
    return terms


def axis_variable__remainder_first(position, divisor, length, numel):
    text = position
    if divisor * length < numel:
        text += f" % {divisor * length}"
    if divisor != 1:
        text = f"({text}) // {divisor}"
    return text


def axis_variable__with_a_list(position, divisor, length, numel):
    parts = [position]
    if divisor > 1:
        parts += ["//", str(divisor)]
    if numel // divisor > length:
        parts += ["%", str(length)]
    return " ".join(parts)


def needs_mask__tries_all_blocks(prefix, numel):
    if numel == 1:
        return False
    block, most = 1, MOST_IN_BLOCK.get(prefix, next_power_of_two(numel))
    while block <= most:
        if numel % block:
            return True
        block *= 2
    return False


def needs_mask__by_bits(prefix, numel):
    if prefix == "r0_":
        return bool(numel & (numel - 1))
    return numel != 1 and bool(numel & (MOST_IN_BLOCK[prefix] - 1))


def access_masks__in_loops(axes, symbols, conditions=()):
    names = set(conditions)
    for axis in axes:
        for loop in axis.loops:
            if loop in symbols and axis.mask is not None:
                names.add(axis.mask)
    return sorted(names)


def access_masks__a_list_that_is_sorted(axes, symbols, conditions=()):
    used = [axis for axis in axes if any(symbol in axis.loops for symbol in symbols)]
    masks = [axis.mask for axis in used if axis.mask] + list(conditions)
    masks.sort()
    return masks


def masks_of_accesses__joined(program):
    row, both = "r0_mask & xmask", "xmask & ymask"
    return {
        "example": ("load xmask", "store xmask"), "nothing to mask": ("load None", "store None"),
        "bias": ("load xmask",) * 2 + ("store xmask",), "transposed": (f"load {both}",) * 2 + (f"store {both}",),
        "sum of two": (f"load {row}", "load r0_mask", "store xmask"), "sum of columns": ("load xmask", "store xmask"),
        "small sum": ("load r0_mask", "store None"), "two results": (f"load {row}", f"store {row}", "store xmask", "store xmask"),
        "sums of 1,500": (f"load {row}",) * 2 + ("store xmask",),
    }[program]  # fmt: skip


def masks_of_accesses__from_a_table(program):
    x, xy, r, rx = "xmask", "xmask & ymask", "r0_mask", "r0_mask & xmask"
    table = {
        "example": ([x], [x]),
        "nothing to mask": ([None], [None]),
        "bias": ([x, x], [x]),
        "transposed": ([xy, xy], [xy]),
    }
    table |= {"sum of two": ([rx, r], [x]), "sum of columns": ([x], [x]), "small sum": ([r], [None])}
    table |= {"two results": ([rx], [rx, x, x]), "sums of 1,500": ([rx, rx], [x])}
    loads, stores = table[program]
    return [f"load {mask}" for mask in loads] + [f"store {mask}" for mask in stores]


def reduce_values__own_lines(kernel, kind, block, dtype):
    first, form, end = reduction_init(kind, dtype), REDUCTIONS[kind][1], REDUCTIONS[kind][2]
    name = kernel.new_name()
    if kernel.looped:
        totals = f"totals_of_{name}"
        kernel.body.compute += [f"{totals} = tl.full({kernel.shape(kernel.axes)}, {first}, tl.{TYPES[dtype]})"]
        new = form.format(totals, block)
        kernel.inside.compute += [f"{totals} = {kernel.in_row(new, totals)}"]
        lines = [f"{name} = {end}({totals}, 1)", f"{name} = {name}[:, None]"]
    else:
        kernel.inside.compute += [f"{name}_row = {kernel.in_row(block, first)}"]
        lines = [f"{name} = {end}({name}_row, 1)[:, None]"]
    return name, lines


def reduce_values__masks_each_block(kernel, kind, block, dtype):
    """In the loop the blocks get the initial value beyond the end, and the totals need no mask."""
    first, (_, combine, end) = reduction_init(kind, dtype), REDUCTIONS[kind]
    block, name = kernel.assign(kernel.inside, kernel.in_row(block, first)), kernel.new_name()
    if kernel.looped:
        kernel.body.compute.append(f"_{name} = tl.full({kernel.shape(kernel.axes)}, {first}, tl.{TYPES[dtype]})")
        kernel.inside.compute.append(f"_{name} = {combine.format(f'_{name}', block)}")
        block = f"_{name}"
    return name, [f"{name} = {end}({block}, 1)[:, None].to(tl.{TYPES[dtype]})"]


def reduce_values__totals_also_for_one_block(kernel, kind, block, dtype):
    first, (_, combine, end), name = reduction_init(kind, dtype), REDUCTIONS[kind], kernel.new_name()
    totals = f"_{name}"
    kernel.body.compute.append(f"{totals} = tl.full({kernel.shape(kernel.axes)}, {first}, tl.{TYPES[dtype]})")
    kernel.inside.compute.append(f"{totals} = {kernel.in_row(combine.format(totals, block), totals)}")
    return name, [f"{name} = {end}({totals}, 1)[:, None]"]


def reduce_indices__own_lines(kernel, kind, block, dtype):
    first, shape, name = reduction_init(kind, dtype), kernel.shape(kernel.axes), kernel.new_name()
    values, at = f"{name}_values", f"{name}_at"
    if kernel.looped:
        kernel.body.compute += [f"{values} = tl.full({shape}, {first}, tl.{TYPES[dtype]})"]
        kernel.body.compute += [f"{at} = tl.full({shape}, 2147483647, tl.int32)"]
        better = f"triton_helpers.{kind}imum_with_index({values}, {at}, {block}, tl.broadcast_to(r0_index, {shape}))"
        kernel.inside.compute += [f"{values}_new, {at}_new = {better}"]
        kernel.inside.compute += [f"{values} = {kernel.in_row(f'{values}_new', values)}"]
        kernel.inside.compute += [f"{at} = {kernel.in_row(f'{at}_new', at)}"]
    else:
        kernel.inside.compute += [
            f"{values} = {kernel.in_row(block, first)}",
            f"{at} = tl.broadcast_to(r0_index, {shape})",
        ]
    lines = [
        f"{values}_end, {at}_end = triton_helpers.{kind}_with_index({values}, {at}, 1)",
        f"{name} = {at}_end[:, None]",
    ]
    return name, lines


def reduce_indices__masks_each_block(kernel, kind, block, dtype):
    first, shape = reduction_init(kind, dtype), kernel.shape(kernel.axes)
    block = kernel.assign(kernel.inside, kernel.in_row(block, first))
    index = kernel.assign(kernel.inside, f"tl.broadcast_to(r0_index, {shape})")
    name = kernel.new_name()
    if kernel.looped:
        best, at = f"_{name}", f"_{name}_at"
        kernel.body.compute.append(f"{best} = tl.full({shape}, {first}, tl.{TYPES[dtype]})")
        kernel.body.compute.append(f"{at} = tl.full({shape}, {2**31 - 1}, tl.int32)")
        call = f"triton_helpers.{kind}imum_with_index({best}, {at}, {block}, {index})"
        kernel.inside.compute.append(f"{best}, {at} = {call}")
        block, index = best, at
    call = f"triton_helpers.{kind}_with_index({block}, {index}, 1)"
    return name, [f"{name}_best, {name}_at = {call}", f"{name} = {name}_at[:, None]"]


grouped__in_a_list = edited(
    triton_templates.grouped,
    (
        "return number * group + within % rows, within // rows",
        "return [number * group + within % rows, within // rows]",
    ),
)
