"""Correct answers to lab 14d in other styles than the reference's: every check must accept them.

A function's name is its exercise's, two underscores, and the style.
"""

import numpy as np

from rushlight.course.predictions import BLOCK_KERNELS
from rushlight.inductor import triton_templates

# Predictions


def block_load__from_elements(program):
    row, column = np.ogrid[:64, :64]
    elements = {
        "example": np.arange(256, 300), "one number": np.array([1]), "end of a row": np.arange(2524, 3000),
        "every second column": np.arange(1500, 2012, 2), "a column": np.arange(50) * 1500 + 1,
        "a tile": (row * 1500 + column)[:32, 32:64], "a tile of 16 rows": (row * 1500 + column)[:10, :48],
        "one row for all": (0 * row + column)[:16, :32], "beyond the end": np.arange(0), "a block pointer": np.arange(1024, 1500),
    }[program]  # fmt: skip
    return 4 * elements.size, len({*(elements // 8).reshape(-1).tolist()})


def block_load__by_cases(program):
    match program:
        case "example":
            return [44 * 4, 38 - 32]
        case "one number":
            return [4, 1]
        case "end of a row" | "a block pointer":
            return [476 * 4, 60]
        case "every second column":
            return [256 * 4, 65]
        case "a column":
            return [50 * 4, 50]
        case "a tile":
            return [1024 * 4, 16 * 4 + 16 * 5]
        case "a tile of 16 rows":
            return [480 * 4, 5 * 6 + 5 * 7]
        case "one row for all":
            return [512 * 4, 4]
    return [0, 0]


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
