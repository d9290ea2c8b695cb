"""Wrong answers to lab 14c that a student might well give and that no mutant of the reference is: each fails on an edge.

A function's name is its exercise's, two underscores, and what is wrong.
"""

from rushlight.aten.native.cuda import blas
from rushlight.aten.native.cuda.blas import (
    LOAD_TILE,
    Matrix,
    addmm,
    bytes_of_product,
    fragment_position,
    occupancy,
    prepare_matrix,
)
from rushlight.course.predictions import faulty_line

from ..shared import copied, edited

_PRODUCT, _TRANSPOSE = blas.product_source(), blas.transpose_source()  # as long as the slots are empty
_TILED, _BLOCKED = blas.product_tiled_source(), blas.product_blocked_source()
_LOAD_A = "tile_a[y][x] = row < m && first + x < k ? a[row * k + first + x] : 0;"
_LOAD_B = "tile_b[y][x] = first + y < k && column < n ? b[(first + y) * n + column] : 0;"


def changed(text, *changes):
    for old, new in changes:
        assert old in text, old
        text = text.replace(old, new)
    return text


# What a product asks of memory


bytes_of_product__tiles_swapped = edited(
    bytes_of_product, ("-(-n // tile_n) + k * n * -(-m // tile_m)", "-(-m // tile_m) + k * n * -(-n // tile_n)")
)
bytes_of_product__rounds_down = edited(bytes_of_product, ("-(-n // tile_n)", "max(1, n // tile_n)"))
bytes_of_product__in_elements = edited(bytes_of_product, ("4 * (", "1 * ("))
bytes_of_product__without_stores = edited(bytes_of_product, (" + m * n)", ")"))
bytes_of_product__only_additions = edited(bytes_of_product, ("2 * m * n * k", "m * n * k"))


def bytes_of_product__whole_tiles(m, n, k, tile_m, tile_n):
    tiles = -(-m // tile_m) * -(-n // tile_n)
    nbytes = 4 * tiles * (tile_m * k + k * tile_n + tile_m * tile_n)
    return nbytes, 2 * m * n * k / nbytes


def bytes_of_product__a_share_of_the_naive_one(m, n, k, tile_m, tile_n):
    nbytes = 4 * (m * n * k / tile_n + m * n * k / tile_m + m * n)
    return nbytes, 2 * m * n * k / nbytes


def bytes_of_product__each_operand_once(m, n, k, tile_m, tile_n):
    nbytes = 4 * (m * k + k * n + m * n)
    return nbytes, 2 * m * n * k / nbytes


# A thread for each element


def product_source__x_along_the_rows():
    return changed(
        _PRODUCT,
        ("int column = blockIdx.x * blockDim.x + threadIdx.x", "int row = blockIdx.x * blockDim.x + threadIdx.x"),
        ("row = blockIdx.y * blockDim.y + threadIdx.y;", "column = blockIdx.y * blockDim.y + threadIdx.y;"),
    )


def product_source__x_along_the_rows_within_a_block():
    """The blocks are right, but in a block neighbouring threads compute neighbouring rows, if it is square."""
    return changed(
        _PRODUCT,
        (
            "int column = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y * blockDim.y + threadIdx.y;",
            "int t = threadIdx.y * blockDim.x + threadIdx.x;\n"
            "  int column = blockIdx.x * blockDim.x + t / blockDim.y, row = blockIdx.y * blockDim.y + t % blockDim.y;",
        ),
    )


def product_source__has_no_guard():
    return changed(_PRODUCT, ("  if (row >= m || column >= n) return;\n", ""))


def product_source__guards_the_rows_only():
    return changed(_PRODUCT, ("row >= m || column >= n", "row >= m"))


def product_source__guards_with_and():
    return changed(_PRODUCT, ("||", "&&"))


def product_source__one_too_many():
    return changed(_PRODUCT, ("row >= m", "row > m"))


def product_source__rows_of_n():
    return changed(_PRODUCT, ("a[row * k + i]", "a[row * n + i]"))


def product_source__b_is_transposed():
    return changed(_PRODUCT, ("b[i * n + column]", "b[column * k + i]"))


def product_source__output_in_rows_of_m():
    return changed(_PRODUCT, ("out[row * n", "out[row * m"))


def product_source__adds_in_memory():
    return changed(_PRODUCT, ("sum += ", "out[row * n + column] = sum += "), ("  out[row * n + column] = sum;\n", ""))


def product_source__adds_to_what_is_there():
    return changed(_PRODUCT, ("  out[row * n + column] = sum", "  out[row * n + column] += sum"))


def product_source__loads_twice():
    return changed(
        _PRODUCT,
        ("sum += a[row * k + i]", "sum += *(volatile const float*)&a[row * k + i] ? a[row * k + i] * 1 : 0, sum += 0"),
    )


def product_source__sum_is_not_initialised():
    return changed(_PRODUCT, ("float sum = 0;", "float sum = a[row * k];"))


def product_source__one_thread_for_a_row():
    return r"""
__global__ void product(const float* a, const float* b, float* out, int m, int n, int k) {
  int column = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y * blockDim.y + threadIdx.y;
  if (row >= m || column > 0) return;
  for (int j = 0; j < n; j++) {
    float sum = 0;
    for (int i = 0; i < k; i++) sum += a[row * k + i] * b[i * n + j];
    out[row * n + j] = sum;
  }
}
"""


def product_source__blocks_of_16():
    return changed(_PRODUCT, ("blockDim.x", "16"), ("blockDim.y", "16"))


def product_source__one_dimension():
    return changed(
        _PRODUCT,
        (", row = blockIdx.y * blockDim.y + threadIdx.y", ", row = column / n"),
        ("column >= n", "column >= n * m"),
    )


def product_source__in_whole_numbers():
    return changed(_PRODUCT, ("float sum", "int sum"))


def product_source__is_none():
    return None


# Tiles


def transpose_source__without_padding():
    return changed(_TRANSPOSE, ("[33]", "[32]"))


def transpose_source__padded_by_two():
    return changed(_TRANSPOSE, ("[33]", "[34]"))


def transpose_source__without_a_tile():
    return r"""
__global__ void transpose(const float* a, float* out, int rows, int columns) {
  int row = blockIdx.y * 32, column = blockIdx.x * 32 + threadIdx.x;
  for (int y = threadIdx.y; y < 32; y += 8)
    if (row + y < rows && column < columns) out[column * rows + row + y] = a[(row + y) * columns + column];
}
"""


def transpose_source__without_a_barrier():
    return changed(_TRANSPOSE, ("  __syncthreads();\n", ""))


def transpose_source__a_barrier_in_a_branch():
    return changed(_TRANSPOSE, ("  __syncthreads();\n", "  if (column + x < columns) __syncthreads();\n"))


def transpose_source__a_barrier_for_a_warp():
    return changed(_TRANSPOSE, ("__syncthreads()", "__syncwarp()"))


def transpose_source__returns_before_the_barrier():
    return changed(_TRANSPOSE, ("  __syncthreads();", "  if (row + x >= rows) return;\n  __syncthreads();"))


def transpose_source__one_guard_for_both():
    return changed(_TRANSPOSE, ("column + y < columns && row + x < rows", "row + y < rows && column + x < columns"))


def transpose_source__has_no_guard():
    return changed(_TRANSPOSE, ("    if (column + y < columns && row + x < rows) out", "    out"))


def transpose_source__tile_is_not_moved():
    return changed(_TRANSPOSE, ("out[(column + y) * rows + row + x]", "out[(row + y) * rows + column + x]"))


def transpose_source__tile_is_not_turned():
    return changed(_TRANSPOSE, ("tile[x][y]", "tile[y][x]"))


def transpose_source__turned_twice():
    return changed(_TRANSPOSE, ("tile[y][x] =", "tile[x][y] ="))


def transpose_source__stores_columns():
    return changed(
        _TRANSPOSE,
        ("column + y < columns && row + x < rows", "column + x < columns && row + y < rows"),
        ("out[(column + y) * rows + row + x] = tile[x][y]", "out[(column + x) * rows + row + y] = tile[y][x]"),
    )


def transpose_source__rows_of_the_input():
    return changed(_TRANSPOSE, ("out[(column + y) * rows", "out[(column + y) * columns"))


def transpose_source__a_quarter_of_the_tile():
    return changed(
        _TRANSPOSE, ("for (int y = threadIdx.y; y < 32; y += 8)", "for (int y = threadIdx.y; y < 8; y += 8)")
    )


def transpose_source__each_thread_a_row_of_four():
    return changed(
        _TRANSPOSE,
        ("for (int y = threadIdx.y; y < 32; y += 8)", "for (int y = 4 * threadIdx.y; y < 4 * threadIdx.y + 4; y++)"),
        ("tile[y][x] =", "tile[y][x ^ 0] ="),
        ("[33]", "[32]"),
    )


def transpose_source__a_larger_tile():
    return changed(_TRANSPOSE, ("tile[32][33]", "tile[64][65]"))


def transpose_source__a_barrier_for_each_row():
    return changed(
        _TRANSPOSE,
        (
            "    if (row + y < rows && column + x < columns) tile",
            "  {\n    if (row + y < rows && column + x < columns) tile",
        ),
        ("column + x];\n", "column + x];\n    __syncthreads();\n  }\n"),
    )


def product_tiled_source__without_the_first_barrier():
    return changed(_TILED, ("    __syncthreads();\n    for", "    for"))


def product_tiled_source__without_the_second_barrier():
    return changed(_TILED, ("    __syncthreads();\n  }", "  }"))


def product_tiled_source__without_barriers():
    return changed(_TILED, ("    __syncthreads();\n", ""))


def product_tiled_source__barriers_for_a_warp():
    return changed(_TILED, ("__syncthreads()", "__syncwarp()"))


def product_tiled_source__returns_early():
    return changed(_TILED, ("  float sum = 0;", "  if (row >= m || column >= n) return;\n  float sum = 0;"))


def product_tiled_source__waits_in_a_branch():
    return changed(
        _TILED,
        ("    __syncthreads();\n    for", "    if (row < m && column < n) {\n    __syncthreads();\n    for"),
        ("tile_b[i][x];\n", "tile_b[i][x];\n    }\n"),
    )


def product_tiled_source__no_zeros():
    return changed(
        _TILED,
        (_LOAD_A, "if (row < m && first + x < k) tile_a[y][x] = a[row * k + first + x];"),
    )


def product_tiled_source__old_elements_at_the_end():
    return changed(
        _TILED,
        ("float sum = 0;", "float sum = 0;\n  tile_a[y][x] = tile_b[y][x] = 0;"),
        (_LOAD_A, "if (row < m && first + x < k) tile_a[y][x] = a[row * k + first + x];"),
        (_LOAD_B, "if (first + y < k && column < n) tile_b[y][x] = b[(first + y) * n + column];"),
    )


def product_tiled_source__rows_of_a_have_no_end():
    return changed(_TILED, ("row < m && first + x < k ?", "row < m ?"))


def product_tiled_source__rows_of_b_have_no_end():
    return changed(_TILED, ("first + y < k && column < n ?", "column < n ?"))


def product_tiled_source__last_step_is_left_out():
    return changed(_TILED, ("first < k; first", "first + 16 <= k; first"))


def product_tiled_source__tile_of_b_is_turned():
    return changed(_TILED, ("tile_a[y][i] * tile_b[i][x]", "tile_a[y][i] * tile_b[x][i]"))


def product_tiled_source__turned_twice():
    return changed(_TILED, ("tile_b[y][x] =", "tile_b[x][y] ="), ("tile_b[i][x]", "tile_b[x][i]"))


def product_tiled_source__b_by_columns():
    return changed(
        _TILED,
        (
            _LOAD_B,
            "int other = blockIdx.x * 16 + y;\n    tile_b[x][y] = first + x < k && other < n ? b[(first + x) * n + other] : 0;",
        ),
    )


def product_tiled_source__padded():
    return changed(_TILED, ("tile_a[16][16], tile_b[16][16]", "tile_a[16][17], tile_b[16][17]"))


def product_tiled_source__without_a_tile_of_b():
    return changed(
        _TILED,
        (
            "tile_a[y][i] * tile_b[i][x];",
            "tile_a[y][i] * (first + i < k && column < n ? b[(first + i) * n + column] : 0);",
        ),
        ("    " + _LOAD_B + "\n", ""),
        (", tile_b[16][16]", ""),
    )


def product_tiled_source__is_product():
    return _PRODUCT.replace("void product(", "void product_tiled(")


def product_tiled_source__stores_in_each_step():
    store = "  if (row < m && column < n) out[row * n + column] = sum;\n"
    return changed(_TILED, ("  }\n" + store, "  " + store + "  }\n"))


def product_tiled_source__sums_in_shared_memory():
    return changed(
        _TILED,
        ("float sum = 0;", "__shared__ float sums[16][16];\n  sums[y][x] = 0;"),
        ("sum += tile_a", "sums[y][x] += tile_a"),
        ("= sum;", "= sums[y][x];"),
    )


def product_tiled_source__without_a_guard():
    return changed(_TILED, ("  if (row < m && column < n) out", "  out"))


def product_tiled_source__tiles_of_8():
    return changed(_TILED, ("first += 16", "first += 8"), ("i < 16", "i < 8"))


def product_tiled_source__columns_of_the_first_block():
    return changed(_TILED, ("column = blockIdx.x * 16 + x", "column = x"))


def product_tiled_source__waits_for_ever():
    return changed(_TILED, ("    __syncthreads();\n  }", "    while (tile_a[0][0] == tile_a[0][0]) {}\n  }"))


def product_tiled_source__writes_far_away():
    return changed(_TILED, ("= sum;", "= sum, out[1 << 20] = 1;"))


def product_tiled_source__asks_the_system():
    return "#include <fstream>\n" + _TILED


# Lines


def _with_line(name, line):
    return edited(faulty_line, (f'"{name}": {faulty_line(name)}', f'"{name}": {line}'))


faulty_line__a_product_has_a_conflict = _with_line("a product", 9)
faulty_line__padding_helps_always = _with_line("padded by two", None)
faulty_line__padding_does_not_help = _with_line("padded", 6)
faulty_line__rotation_does_not_help = _with_line("rotated", 6)
faulty_line__the_load_conflicts = _with_line("stored by columns", 6)
faulty_line__only_shared_memory_counts = _with_line("straight out", None)
faulty_line__the_store_of_the_next_step = _with_line("one barrier", 6)
faulty_line__the_store_races = _with_line("too early", 6)
faulty_line__padding_is_the_reason = _with_line("rows of b", 9)
faulty_line__the_store_of_b = _with_line("columns of b", 7)
faulty_line__two_buffers_race = _with_line("two buffers", 9)
faulty_line__counts_from_0 = _with_line("example", 5)


# What a multiprocessor has room for


def occupancy__threads_not_warps(threads, registers, shared_bytes):
    registers_of_warp, shared = -(-32 * registers // 256) * 256, -(-(shared_bytes + 1024) // 128) * 128
    blocks = min(2048 // threads, 32, 4 * (16384 // registers_of_warp) * 32 // threads, 233472 // shared)
    return blocks, blocks * threads // 32


occupancy__registers_of_a_thread = edited(occupancy, ("-(-32 * registers // 256) * 256", "32 * registers"))
occupancy__one_file_of_registers = edited(
    occupancy, ("4 * ((1 << 14) // registers_of_warp)", "(1 << 16) // registers_of_warp")
)
occupancy__warps_of_a_block_in_one_partition = edited(
    occupancy, ("4 * ((1 << 14) // registers_of_warp)", "((1 << 16) // (registers_of_warp * warps)) * warps")
)
occupancy__nothing_is_reserved = edited(occupancy, ("(shared_bytes + 1024)", "max(shared_bytes, 1)"))
occupancy__not_rounded = edited(occupancy, ("-(-(shared_bytes + 1024) // 128) * 128", "shared_bytes + 1024"))
occupancy__of_227_kib = edited(occupancy, ("228 << 10", "227 << 10"))
occupancy__any_number_of_blocks = edited(occupancy, ("64 // warps, 32,", "64 // warps,"))
occupancy__sixteen_blocks = edited(occupancy, ("64 // warps, 32,", "64 // warps, 16,"))
occupancy__at_least_one = edited(
    occupancy, ("blocks = min(", "blocks = max(1, min("), ("(228 << 10) // shared)", "(228 << 10) // shared))")
)
occupancy__48_warps = edited(occupancy, ("min(64 //", "min(48 //"))


# Blocks in registers


def product_blocked_source__without_the_first_barrier():
    return changed(_BLOCKED, ("    __syncthreads();\n    for (int j", "    for (int j"))


def product_blocked_source__without_the_second_barrier():
    return changed(_BLOCKED, ("    __syncthreads();\n  }", "  }"))


def product_blocked_source__barriers_for_a_warp():
    return changed(_BLOCKED, ("__syncthreads()", "__syncwarp()"))


def product_blocked_source__ignores_layouts():
    return changed(_BLOCKED, ("a, a.transposed, m", "a, false, m"), ("b, !b.transposed, n", "b, true, n"))


def product_blocked_source__layouts_of_a_and_b_alike():
    return changed(_BLOCKED, ("!b.transposed", "b.transposed"))


def product_blocked_source__sizes_swapped():
    return changed(_BLOCKED, ("b, !b.transposed, n, k, column", "b, !b.transposed, m, k, column"))


def product_blocked_source__row_of_the_thread():
    return changed(_BLOCKED, ("m, k, row, first", "m, k, row + y, first"))


def product_blocked_source__neighbouring_columns_one_by_one():
    return changed(
        _BLOCKED, ("tile_b[j][x + 16 * q]", "tile_b[j][4 * x + q]"), ("column + x + 16 * q", "column + 4 * x + q")
    )


def product_blocked_source__no_registers():
    return changed(
        _BLOCKED,
        ("      float4 u = *(const float4*)&tile_a[j][4 * y];\n      float of_a[4] = {u.x, u.y, u.z, u.w};\n", ""),
        ("        float of_b = tile_b[j][x + 16 * q];\n", ""),
        ("of_a[p] * of_b", "((volatile float*)tile_a[j])[4 * y + p] * ((volatile float*)tile_b[j])[x + 16 * q]"),
    )


def product_blocked_source__rows_of_64():
    return changed(
        _BLOCKED,
        ("tile_a[8][68], tile_b[8][68];", "tile_a[8][64], tile_b[8][64];"),
        ("float tile[8][68]", "float tile[8][64]"),
    )


def product_blocked_source__rows_of_65():
    return changed(
        _BLOCKED,
        ("tile_a[8][68], tile_b[8][68];", "tile_a[8][65], tile_b[8][65];"),
        ("float tile[8][68]", "float tile[8][65]"),
    )


def product_blocked_source__relu_before_the_bias():
    return changed(
        _BLOCKED,
        ("sum[p][q] + bias[j];", "(relu && sum[p][q] < 0 ? 0 : sum[p][q]) + bias[j];"),
        ("relu && result < 0 ? 0 : result", "result"),
    )


def product_blocked_source__always_relu():
    return changed(_BLOCKED, ("relu && result", "result"))


def product_blocked_source__relu_is_1():
    return changed(_BLOCKED, ("relu && result", "relu == 1 && result"))


def product_blocked_source__no_relu():
    return changed(_BLOCKED, ("relu && result < 0 ? 0 : result", "result"))


def product_blocked_source__bias_of_the_row():
    return changed(_BLOCKED, ("bias[j]", "bias[i % n]"))


def product_blocked_source__no_bias():
    return changed(_BLOCKED, (" + bias[j]", ""))


def product_blocked_source__bias_first():
    """Without a step along `k` it is not added."""
    return changed(
        _BLOCKED,
        (
            "        for (int p = 0; p < 4; p++) sum[p][q] += of_a[p] * of_b;",
            "        float more = first + j == 0 && column + x + 16 * q < n ? bias[column + x + 16 * q] : 0;\n"
            "        for (int p = 0; p < 4; p++) sum[p][q] += of_a[p] * of_b + more;",
        ),
        ("sum[p][q] + bias[j]", "sum[p][q]"),
    )


def product_blocked_source__one_guard_too_few():
    return changed(_BLOCKED, ("i >= m || j >= n", "i >= m"))


def product_blocked_source__ends_at_the_first_column():
    return changed(_BLOCKED, ("if (i >= m || j >= n) continue;", "if (i >= m || j >= n) return;"))


def product_blocked_source__returns_before_the_barriers():
    return changed(_BLOCKED, ("  float sum[4][4] = {};", "  if (row + 4 * y >= m) return;\n  float sum[4][4] = {};"))


def product_blocked_source__sixteen_times_one():
    """Each thread computes one element after the other, and loads the tiles for each."""
    return changed(
        _BLOCKED,
        ("  for (int first = 0;", "  for (int e = 0; e < 16; e++)\n  for (int first = 0;"),
        ("sum[p][q] +=", "if (4 * p + q == e) sum[p][q] +="),
    )


def product_blocked_source__steps_of_16():
    return changed(_BLOCKED, ("first += 8", "first += 16"))


def product_blocked_source__neighbours_along_k_always():
    loads = """for (int e = threadIdx.y * 16 + threadIdx.x; e < 512; e += 256) {
      int i = row + e / 8, j = first + e % 8;
      tile_a[e % 8][e / 8] = i < m && j < k ? a.elements[a.transposed ? j * a.ld + i : i * a.ld + j] : 0;
    }"""
    return changed(_BLOCKED, ("load_tile(tile_a, a, a.transposed, m, k, row, first);", loads))


def product_blocked_source__sum_is_not_initialised():
    return changed(
        _BLOCKED, ("float sum[4][4] = {};", "float sum[4][4];\n  for (int i = 0; i < 16; i++) sum[i / 4][i % 4] = i;")
    )


def product_blocked_source__without_load_tile():
    return _BLOCKED.removeprefix(LOAD_TILE)


# Fragments


fragment_position__in_order = edited(
    fragment_position, ("return row, column", "return (8 * lane + register) // 16, (8 * lane + register) % 16")
)
fragment_position__right_before_lower = edited(
    fragment_position, ("register // 2 % 2", "register // 4"), ("8 * (register // 4)\n", "8 * (register // 2 % 2)\n")
)
fragment_position__columns_before_rows = edited(fragment_position, ("return row, column", "return column, row"))
fragment_position__lanes_go_down = edited(fragment_position, ("lane // 4", "lane % 8"), ("lane % 4", "lane // 8"))
fragment_position__single_elements = edited(
    fragment_position, ("lane % 4 * 2 + register % 2", "lane % 4 + register % 2 * 4")
)
fragment_position__of_the_output = edited(fragment_position, (" + 8 * (register // 4)", ""))


# Products of tensors


_TRANSPOSED, _COPIED = "down == 1 and right >= rows", "right != 1 or down < columns"
prepare_matrix__always_copies = edited(
    prepare_matrix,
    ("if not x.is_contiguous()", "if True"),
    (_TRANSPOSED, "False"),
    (_COPIED, "True"),
    ("x.contiguous()", "x.clone()"),
)
prepare_matrix__only_contiguous_ones = edited(prepare_matrix, (_TRANSPOSED, "False"), (_COPIED, "True"))
prepare_matrix__never_transposed = edited(prepare_matrix, (_TRANSPOSED, "False"))
prepare_matrix__one_stride_is_enough = edited(prepare_matrix, (_TRANSPOSED, "down == 1"), (_COPIED, "right != 1"))
prepare_matrix__rows_may_overlap = edited(prepare_matrix, (_COPIED, "right != 1"))
prepare_matrix__columns_may_overlap = edited(prepare_matrix, (_TRANSPOSED, "down == 1"))
prepare_matrix__dense_ones_only = edited(
    prepare_matrix, ("right >= rows", "right == rows"), ("down < columns", "down != columns")
)
prepare_matrix__sizes_swapped = edited(
    prepare_matrix, ("right >= rows", "right >= columns"), ("down < columns", "down < rows")
)
prepare_matrix__ld_is_the_length = edited(prepare_matrix, ("Matrix(x, right, True)", "Matrix(x, rows, True)"))
prepare_matrix__ld_is_a_size_of_rows = edited(prepare_matrix, ("Matrix(x, down, False)", "Matrix(x, columns, False)"))
prepare_matrix__hands_out_the_transpose = edited(
    prepare_matrix, ("Matrix(x, right, True)", "Matrix(x.t(), right, True)")
)
prepare_matrix__columns_of_cublas = edited(
    prepare_matrix,
    ("right, True)", "right, False)"),
    ("columns, False)", "columns, True)"),
    ("down, False)", "down, True)"),
)
prepare_matrix__contiguous_ones_may_be_transposed = edited(prepare_matrix, ("if not x.is_contiguous()", "if True"))

_prepare = copied(prepare_matrix)


def prepare_matrix__changes_the_operand(x):
    if x.is_contiguous() and x.numel():
        x.zero_()
    return Matrix(*_prepare(x))


addmm__copies_both = edited(
    addmm, ("map(prepare_matrix, (a, b))", "map(prepare_matrix, (a.contiguous(), b.contiguous()))")
)
addmm__bias_of_any_stride = edited(addmm, ("bias.contiguous()", "bias"))
addmm__grid_turned = edited(addmm, ("-(-n // TILE), -(-m // TILE)", "-(-m // TILE), -(-n // TILE)"))
addmm__one_block_too_few = edited(addmm, ("-(-n // TILE), -(-m // TILE)", "max(1, n // TILE), max(1, m // TILE)"))
addmm__blocks_of_16 = edited(addmm, ("-(-n // TILE), -(-m // TILE)", "-(-n // 16), -(-m // 16)"))
addmm__launches_for_nothing = edited(addmm, ("if m * n == 0:", "if False:"))
addmm__nothing_without_k = edited(addmm, ("if m * n == 0:", "if m * n * k == 0:"))
addmm__operands_swapped = edited(addmm, ("(a, b))]", "(b, a))]"))
addmm__sizes_swapped = edited(addmm, ("m, n, k, relu)", "n, m, k, relu)"))
addmm__output_before_the_bias = edited(addmm, ("(bias.contiguous(), out)", "(out, bias.contiguous())"))
addmm__a_block_more = edited(addmm, ("-(-n // TILE), -(-m // TILE)", "n // TILE + 1, m // TILE + 1"))
addmm__no_relu = edited(addmm, ("k, relu)", "k, 0)"))
addmm__always_relu = edited(addmm, ("k, relu)", "k, 1)"))
addmm__ignores_layouts = edited(addmm, ("int(transposed))", "0)"))
addmm__returns_none = edited(addmm, ("    return out\n", "    return None\n"))


def addmm__by_the_framework(bias, a, b, relu=False):
    result = a @ b + bias
    return result.relu() if relu else result


def addmm__relu_by_another_operator(bias, a, b, relu=False):
    out = addmm_right(bias, a, b)
    return out.relu() if relu else out


def addmm__bias_by_another_operator(bias, a, b, relu=False):
    out = addmm_right(bias.new_zeros(bias.shape), a, b) + bias
    return out.relu() if relu else out


def addmm__into_an_operand(bias, a, b, relu=False):
    out = addmm_right(bias, a, b, relu)
    return a.copy_(out) if (a.shape, a.stride()) == (out.shape, out.stride()) else out


def addmm__relu_of_the_operand(bias, a, b, relu=False):
    if relu and a.numel():
        a.neg_()
    return addmm_right(bias, a, b, relu)


addmm_right = copied(addmm)
