"""Wrong answers to lab 14b that a student might well give and that no mutant of the reference is: each fails on an edge.

A function's name is its exercise's, two underscores, and what is wrong.
"""

from rushlight.aten.native.cuda import reduce
from rushlight.aten.native.cuda import softmax as softmaxes
from rushlight.aten.native.cuda.reduce import Moments, wavefronts, welford_combine
from rushlight.aten.native.cuda.softmax import softmax
from rushlight.course.predictions import unsynchronised_line

from ..shared import edited

_SUM, _REDUCE = reduce.block_sum_source(), reduce.block_reduce_source()  # as long as the slots are empty
_NORM, _WARP, _ADD = reduce.layer_norm_source(), softmaxes.softmax_warp_source(), reduce.index_add_source()


def changed(text, *changes):
    for old, new in changes:
        assert old in text, old
        text = text.replace(old, new)
    return text


# Banks


def wavefronts__the_stride(itemsize, stride, offset):
    return max(1, min(32, abs(stride)))


wavefronts__lanes_are_not_served_together = edited(
    wavefronts,
    (
        "{itemsize * (offset + lane * stride) // 4 for lane in range(lanes)}",
        "[itemsize * (offset + lane * stride) // 4 for lane in range(lanes)]",
    ),
)
wavefronts__of_wide_elements_all_at_once = edited(wavefronts, ("min(32, 128 // itemsize)", "32"))
wavefronts__a_bank_for_each_element = edited(
    wavefronts, ("itemsize * (offset + lane * stride) // 4", "offset + lane * stride")
)
wavefronts__sixteen_banks = edited(wavefronts, ("word % 32 for", "word % 16 for"))
wavefronts__conflicts_alone = edited(wavefronts, (".values())", ".values()) - groups"))
wavefronts__the_first_group = edited(wavefronts, ("return groups * ", "return "))
wavefronts__no_groups_together = edited(wavefronts, ("32 // lanes if stride else max(1, 16 // lanes)", "32 // lanes"))


def _with_line(name, line):
    return edited(unsynchronised_line, (f'"{name}": {unsynchronised_line(name)}', f'"{name}": {line}'))


unsynchronised_line__a_warp_runs_in_step = _with_line("neighbours", None)
unsynchronised_line__the_last_warp_runs_in_step = _with_line("the last warp", None)
unsynchronised_line__an_own_element_races = _with_line("own element", 5)
unsynchronised_line__the_addition_in_the_tree = _with_line("a tree", 8)
unsynchronised_line__ended_threads_do_not_count = _with_line("a tail", None)
unsynchronised_line__the_return = _with_line("a tail", 4)
unsynchronised_line__one_barrier_is_enough = _with_line("used again", None)
unsynchronised_line__the_store = _with_line("used again", 7)
unsynchronised_line__a_full_mask_is_always_right = _with_line("half a warp", None)
unsynchronised_line__a_part_of_a_mask_is_always_wrong = _with_line("half a mask", 5)
unsynchronised_line__the_mask_says_who_takes_part = _with_line("a whole warp", None)
unsynchronised_line__atomics_race = _with_line("counts", 6)
unsynchronised_line__counts_from_0 = _with_line("one total", 7)


# A tree of sums


def block_sum_source__no_barrier_in_the_tree():
    return changed(_SUM, ("partial[t + k];\n    __syncthreads();", "partial[t + k];"))


def block_sum_source__no_barrier_before_the_tree():
    return changed(_SUM, (": 0;\n  __syncthreads();", ": 0;"))


def block_sum_source__the_barrier_is_in_the_branch():
    return changed(
        _SUM,
        (
            "if (t < k) partial[t] += partial[t + k];\n    __syncthreads();",
            "if (t < k) {\n      partial[t] += partial[t + k];\n      __syncthreads();\n    }",
        ),
    )


def block_sum_source__the_last_warp_runs_in_step():
    return changed(_SUM, ("    __syncthreads();\n  }", "    if (k > 32) __syncthreads();\n  }"))


def block_sum_source__the_last_warp_is_volatile():
    """As in the tutorials of 2007."""
    return changed(
        _SUM,
        ("k > 0; k /= 2", "k > 32; k /= 2"),
        (
            "  if (t == 0)",
            """  volatile float* s = partial;
  if (t < 32) {
    for (int k = min(32, blockDim.x / 2); k > 0; k /= 2)
      if (t < k) s[t] += s[t + k];
  }
  if (t == 0)""",
        ),
    )


def block_sum_source__syncwarp_between_warps():
    return changed(_SUM, ("partial[t + k];\n    __syncthreads();", "partial[t + k];\n    __syncwarp();"))


def block_sum_source__fences_are_no_barriers():
    return changed(_SUM, ("__syncthreads();", "__threadfence_block();"))


def block_sum_source__threads_of_the_tail_return():
    return changed(_SUM, ("partial[t] = i < n ? a[i] : 0;", "if (i >= n) return;\n  partial[t] = a[i];"))


def block_sum_source__the_tail_is_not_stored():
    return changed(_SUM, ("partial[t] = i < n ? a[i] : 0;", "if (i < n) partial[t] = a[i];"))


def block_sum_source__no_guard():
    return changed(_SUM, ("i < n ? a[i] : 0", "a[i]"))


def block_sum_source__one_too_many():
    return changed(_SUM, ("i < n", "i <= n"))


def block_sum_source__interleaved():
    return changed(
        _SUM,
        ("int k = blockDim.x / 2; k > 0; k /= 2", "int k = 1; k < blockDim.x; k *= 2"),
        (
            "if (t < k) partial[t] += partial[t + k];",
            "if (2 * k * t < blockDim.x) partial[2 * k * t] += partial[2 * k * t + k];",
        ),
    )


def block_sum_source__every_second_thread():
    return changed(
        _SUM,
        ("int k = blockDim.x / 2; k > 0; k /= 2", "int k = 1; k < blockDim.x; k *= 2"),
        ("if (t < k)", "if (t % (2 * k) == 0)"),
    )


def block_sum_source__one_thread_adds():
    return changed(
        _SUM,
        (
            "for (int k = blockDim.x / 2; k > 0; k /= 2) {\n"
            "    if (t < k) partial[t] += partial[t + k];\n"
            "    __syncthreads();\n"
            "  }",
            "for (int k = 1; t == 0 && k < blockDim.x; k++) partial[0] += partial[k];",
        ),
    )


def block_sum_source__one_thread_does_all():
    return r"""
__global__ void block_sums(const float* a, float* sums, int n) {
  if (threadIdx.x != 0) return;
  float sum = 0;
  for (int i = blockIdx.x * blockDim.x; i < (blockIdx.x + 1) * blockDim.x && i < n; i++) sum += a[i];
  sums[blockIdx.x] = sum;
}
"""


def block_sum_source__every_thread_stores():
    return changed(_SUM, ("if (t == 0) sums", "sums"))


def block_sum_source__atomics():
    return r"""
__global__ void block_sums(const float* a, float* sums, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (threadIdx.x == 0) sums[blockIdx.x] = 0;
  __syncthreads();
  if (i < n) atomicAdd(&sums[blockIdx.x], a[i]);
}
"""


def block_sum_source__shared_atomics():
    return r"""
__global__ void block_sums(const float* a, float* sums, int n) {
  __shared__ float sum;
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (threadIdx.x == 0) sum = 0;
  __syncthreads();
  if (i < n) atomicAdd(&sum, a[i]);
  __syncthreads();
  if (threadIdx.x == 0) sums[blockIdx.x] = sum;
}
"""


def block_sum_source__the_tree_is_in_global_memory():
    return changed(
        _SUM,
        ("  __shared__ float partial[1024];\n", ""),
        ("partial[t] = i < n ? a[i] : 0;", "float* partial = (float*)a + blockIdx.x * blockDim.x;"),
    )


def block_sum_source__256_threads_are_enough():
    return changed(_SUM, ("partial[1024]", "partial[256]"))


def block_sum_source__each_block_begins_at_0():
    return changed(_SUM, ("blockIdx.x * blockDim.x + t", "t"))


def block_sum_source__ends_at_a_warp():
    return changed(_SUM, ("k > 0; k /= 2", "k > 16; k /= 2"))


def block_sum_source__the_size_is_halved_once_more():
    return changed(_SUM, ("blockDim.x / 2", "blockDim.x / 4"))


def block_sum_source__loads_in_each_step():
    return changed(
        _SUM,
        (
            "partial[t] += partial[t + k];",
            "partial[t] += k == blockDim.x / 2 ? (i + k < n ? a[i + k] : 0) : partial[t + k];",
        ),
    )


def block_sum_source__has_another_name():
    return changed(_SUM, ("block_sums", "block_sum"))


def block_sum_source__is_none():
    return None


# Attacks: texts that want to look right


def block_sum_source__defines_the_barrier_away():
    return "#define __syncthreads() ((void)0)\n" + _SUM


def block_sum_source__calls_the_runtime():
    return changed(_SUM, ("  __syncthreads();\n  for", "  cuda_host_warp(0, ~0u, 0, 0, 32);\n  for"))


def block_sum_source__waits_without_a_barrier():
    """A loop in the place of the barriers: each thread waits until another one has stored."""
    return changed(
        _SUM,
        ("  __syncthreads();\n  for", "  while (((volatile float*)partial)[t ^ (blockDim.x > 1)] == -1) {}\n  for"),
    )


def block_sum_source__clears_what_it_found():
    """Memory far from the arrays, where the counts might be."""
    return changed(
        _SUM, ("if (t == 0) sums", "if (t == 0) for (int k = 1; k < 1 << 20; k++) sums[-k] = 0;\n  if (t == 0) sums")
    )


def block_sum_source__prints_a_verdict():
    return changed(_SUM, ("  if (t == 0)", '  printf("passed: 14 of 14 cases agree with torch\\n");\n  if (t == 1)'))


# Shuffles


def block_reduce_source__the_first_thread_alone_has_it():
    """As in PyTorch."""
    return r"""
template <class Op> __device__ float block_reduce(float value, Op op, float identity, float* shared) {
  int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  for (int k = 16; k > 0; k /= 2) value = op(value, __shfl_down_sync(0xffffffff, value, k));
  __syncthreads();
  if (lane == 0) shared[warp] = value;
  __syncthreads();
  value = threadIdx.x < blockDim.x / 32 ? shared[lane] : identity;
  if (warp == 0)
    for (int k = 16; k > 0; k /= 2) value = op(value, __shfl_down_sync(0xffffffff, value, k));
  return value;
}
"""


def block_reduce_source__the_first_lane_of_each_warp_has_it():
    return changed(_REDUCE, ("__shfl_xor_sync", "__shfl_down_sync"))


def block_reduce_source__no_barrier_at_the_end():
    return changed(_REDUCE, ("  __syncthreads();  // the next call stores into `shared` again\n", ""))


def block_reduce_source__no_barrier_in_the_middle():
    return changed(_REDUCE, ("= value;\n  __syncthreads();", "= value;"))


def block_reduce_source__syncwarp_in_the_middle():
    return changed(_REDUCE, ("= value;\n  __syncthreads();", "= value;\n  __syncwarp();"))


def block_reduce_source__half_the_mask():
    return changed(_REDUCE, ("0xffffffff, value, k));\n  __sync", "0x0000ffff, value, k));\n  __sync"))


def block_reduce_source__the_full_mask_for_some_lanes():
    return changed(
        _REDUCE,
        (
            "  value = lane < warps ? shared[lane] : identity;\n  for",
            "  value = lane < warps ? shared[lane] : identity;\n  if (lane < warps)\n  for",
        ),
    )


def block_reduce_source__0_is_the_identity():
    return changed(_REDUCE, (": identity", ": 0"))


def block_reduce_source__all_32_values_are_loaded():
    return changed(_REDUCE, ("lane < warps ? shared[lane] : identity", "shared[lane]"))


def block_reduce_source__one_warp_too_many():
    return changed(_REDUCE, ("lane < warps", "lane <= warps"))


def block_reduce_source__the_first_warp_alone():
    return r"""
template <class Op> __device__ float block_reduce(float value, Op op, float identity, float* shared) {
  for (int k = 16; k > 0; k /= 2) value = op(value, __shfl_xor_sync(0xffffffff, value, k));
  return value;
}
"""


def block_reduce_source__a_power_of_two_of_warps():
    return changed(
        _REDUCE,
        (": identity;\n  for (int k = 16; k > 0; k /= 2)", ": identity;\n  for (int k = warps / 2; k > 0; k /= 2)"),
    )


def block_reduce_source__four_steps():
    return changed(_REDUCE, ("int k = 16", "int k = 8"))


def block_reduce_source__always_adds():
    return changed(
        _REDUCE, ("op(value, __shfl_xor_sync(0xffffffff, value, k))", "value + __shfl_xor_sync(0xffffffff, value, k)")
    )


def block_reduce_source__down_with_both_neighbours():
    return changed(
        _REDUCE,
        (
            "op(value, __shfl_xor_sync(0xffffffff, value, k))",
            "op(__shfl_up_sync(0xffffffff, value, k), __shfl_down_sync(0xffffffff, value, k))",
        ),
    )


def block_reduce_source__every_lane_stores():
    return changed(_REDUCE, ("if (lane == 0) shared", "shared"))


def block_reduce_source__a_tree_in_an_array_of_its_own():
    return r"""
template <class Op> __device__ float block_reduce(float value, Op op, float identity, float* shared) {
  __shared__ float all[1024];
  int t = threadIdx.x, size = blockDim.x;
  all[t] = value;
  __syncthreads();
  for (int k = 512; k > 0; k /= 2) {
    if (t < k && t + k < size) all[t] = op(all[t], all[t + k]);
    __syncthreads();
  }
  value = all[0];
  __syncthreads();
  return value;
}
"""


def block_reduce_source__each_thread_goes_through_the_warps():
    return changed(
        _REDUCE,
        (
            "  value = lane < warps ? shared[lane] : identity;\n"
            "  for (int k = 16; k > 0; k /= 2) value = op(value, __shfl_xor_sync(0xffffffff, value, k));\n",
            "  value = identity;\n  for (int k = 0; k < warps; k++) value = op(value, shared[k]);\n",
        ),
    )


def block_reduce_source__warps_take_turns():
    """Without shuffles: each warp adds to the 32 values of those before."""
    return r"""
template <class Op> __device__ float block_reduce(float value, Op op, float identity, float* shared) {
  int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  for (int k = 0; k < blockDim.x / 32; k++) {
    if (k == warp) shared[lane] = k == 0 ? value : op(shared[lane], value);
    __syncthreads();
  }
  value = shared[lane];
  for (int k = 16; k > 0; k /= 2) value = op(value, __shfl_xor_sync(0xffffffff, value, k));
  __syncthreads();
  return value;
}
"""


def block_reduce_source__the_barrier_is_in_the_first_warp():
    return r"""
template <class Op> __device__ float block_reduce(float value, Op op, float identity, float* shared) {
  int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  for (int k = 16; k > 0; k /= 2) value = op(value, __shfl_xor_sync(0xffffffff, value, k));
  if (lane == 0) shared[warp] = value;
  if (warp == 0) {
    __syncthreads();
    value = lane < blockDim.x / 32 ? shared[lane] : identity;
    for (int k = 16; k > 0; k /= 2) value = op(value, __shfl_xor_sync(0xffffffff, value, k));
    if (lane == 0) shared[0] = value;
  }
  __syncthreads();
  return shared[0];
}
"""


def block_reduce_source__has_no_operation():
    return changed(_REDUCE, ("float value, Op op, float identity", "Op op, float value, float identity"))


def block_reduce_source__is_a_kernel():
    return changed(
        _REDUCE,
        (
            "template <class Op> __device__ float block_reduce(float value, Op op, float identity, float* shared) {",
            "__global__ void block_reduce(float value, float identity, float* shared) {\n"
            "  auto op = [](float a, float b) { return a + b; };",
        ),
        ("  return value;\n", ""),
    )


# Moments


welford_combine__means_are_averaged = edited(
    welford_combine, ("a.mean + delta * b.count / count", "(a.mean + b.mean) / 2")
)
welford_combine__m2_are_added = edited(welford_combine, (" + delta * delta * a.count * b.count / count", ""))
welford_combine__the_other_share = edited(welford_combine, ("delta * b.count / count", "delta * a.count / count"))
welford_combine__m2_is_a_variance = edited(
    welford_combine, ("a.count * b.count / count)", "a.count * b.count / count / count)")
)
welford_combine__no_square = edited(welford_combine, ("delta * delta * a", "delta * a"))


def welford_combine__empty_groups_divide(a, b):
    n = a.count + b.count
    delta = b.mean - a.mean
    return Moments(n, a.mean + delta * b.count / n, a.m2 + b.m2 + delta**2 * a.count * b.count / n)


def welford_combine__by_squares(a, b):
    n = a.count + b.count
    if not n:
        return a
    mean = (a.count * a.mean + b.count * b.mean) / n
    squares = a.m2 + a.count * a.mean**2 + b.m2 + b.count * b.mean**2
    return Moments(n, mean, squares - n * mean**2)


def welford_combine__one_number(a, b):
    """As if the second group had one number."""
    if b.count == 0:
        return a
    delta = b.mean - a.mean
    mean = a.mean + delta / (a.count + b.count)
    return Moments(a.count + b.count, mean, a.m2 + delta * (b.mean - mean))


def layer_norm_source__mean_of_squares():
    return r"""
__device__ float block_sum(float v, float* s) {
  for (int k = 16; k > 0; k /= 2) v += __shfl_xor_sync(0xffffffff, v, k);
  __syncthreads();
  if (threadIdx.x % 32 == 0) s[threadIdx.x / 32] = v;
  __syncthreads();
  v = threadIdx.x % 32 < blockDim.x / 32 ? s[threadIdx.x % 32] : 0;
  for (int k = 16; k > 0; k /= 2) v += __shfl_xor_sync(0xffffffff, v, k);
  return v;
}
__global__ void layer_norm(const float* in, const float* weight, const float* bias, float* out, int columns, float eps) {
  __shared__ float s[32];
  in += (long long)blockIdx.x * columns, out += (long long)blockIdx.x * columns;
  float sum = 0, squares = 0;
  for (int c = threadIdx.x; c < columns; c += blockDim.x) sum += in[c], squares += in[c] * in[c];
  float mean = block_sum(sum, s) / columns, variance = block_sum(squares, s) / columns - mean * mean;
  float scale = rsqrtf(variance + eps);
  for (int c = threadIdx.x; c < columns; c += blockDim.x) out[c] = (in[c] - mean) * scale * weight[c] + bias[c];
}
"""


def layer_norm_source__three_passes():
    return changed(
        layer_norm_source__mean_of_squares(),
        ("sum += in[c], squares += in[c] * in[c];", "sum += in[c];"),
        (
            "mean = block_sum(sum, s) / columns, variance = block_sum(squares, s) / columns - mean * mean;",
            "mean = block_sum(sum, s) / columns;\n"
            "  for (int c = threadIdx.x; c < columns; c += blockDim.x) squares += (in[c] - mean) * (in[c] - "
            "mean);\n"
            "  float variance = block_sum(squares, s) / columns;",
        ),
    )


def layer_norm_source__bessel():
    return changed(_NORM, ("own.m2 / columns", "own.m2 / (columns - 1)"))


def layer_norm_source__eps_beside_the_root():
    return changed(_NORM, ("rsqrtf(own.m2 / columns + eps)", "1 / (sqrtf(own.m2 / columns) + eps)"))


def layer_norm_source__no_eps():
    return changed(_NORM, ("own.m2 / columns + eps", "own.m2 / columns"))


def layer_norm_source__m2_is_the_variance():
    return changed(_NORM, ("own.m2 / columns", "own.m2"))


def layer_norm_source__the_deviation_multiplies():
    return changed(_NORM, ("rsqrtf(", "sqrtf("))


def layer_norm_source__empty_threads_divide():
    return changed(_NORM, ("  if (count == 0) return a;\n", ""))


def layer_norm_source__warps_are_all_there():
    return changed(_NORM, ("lane < warps ? of_warps[lane] : none", "of_warps[lane]"))


def layer_norm_source__each_warp_alone():
    return changed(_NORM, ("  own = over_warp(lane < warps ? of_warps[lane] : none);\n", ""))


def layer_norm_source__no_barrier():
    return changed(_NORM, ("of_warps[warp] = own;\n  __syncthreads();", "of_warps[warp] = own;"))


def layer_norm_source__the_first_thread_alone_has_it():
    return changed(_NORM, ("__shfl_xor_sync", "__shfl_down_sync"))


def layer_norm_source__the_first_warp_alone_has_it():
    return changed(
        _NORM,
        (
            "own = over_warp(lane < warps ? of_warps[lane] : none);",
            "if (warp == 0) own = over_warp(lane < warps ? of_warps[lane] : none);",
        ),
    )


def layer_norm_source__half_the_mask():
    return changed(_NORM, ("0xffffffff", "0xffff"))


def layer_norm_source__the_barrier_is_in_the_branch():
    return changed(
        _NORM,
        (
            "if (lane == 0) of_warps[warp] = own;\n  __syncthreads();",
            "if (lane == 0) { of_warps[warp] = own; __syncthreads(); }",
        ),
    )


def layer_norm_source__a_column_for_each_thread():
    return changed(
        _NORM, ("for (int c = threadIdx.x; c < columns; c += blockDim.x)", "if (int c = threadIdx.x; c < columns)")
    )


def layer_norm_source__a_part_for_each_thread():
    return changed(
        _NORM,
        (
            "for (int c = threadIdx.x; c < columns; c += blockDim.x)",
            "for (int c = threadIdx.x * part; c < columns && c < (threadIdx.x + 1) * part; c++)",
        ),
        (
            "  Moments own = {0, 0, 0};\n",
            "  Moments own = {0, 0, 0};\n  int part = (columns + blockDim.x - 1) / blockDim.x;\n",
        ),
    )


def layer_norm_source__threads_without_an_element_return():
    return changed(
        _NORM, ("  Moments own = {0, 0, 0};\n", "  if (threadIdx.x >= columns) return;\n  Moments own = {0, 0, 0};\n")
    )


def layer_norm_source__weight_of_the_matrix():
    return changed(_NORM, ("weight[c]", "weight[row + c]"))


def layer_norm_source__bias_is_scaled():
    return changed(_NORM, ("* weight[c] + bias[c]", "* (weight[c] + bias[c])"))


def layer_norm_source__one_thread_for_the_moments():
    return changed(
        _NORM,
        (
            "for (int c = threadIdx.x; c < columns; c += blockDim.x) own",
            "for (int c = 0; threadIdx.x == 0 && c < columns; c++) own",
        ),
    )


def layer_norm_source__every_warp_goes_through_the_row():
    return r"""
__global__ void layer_norm(const float* in, const float* weight, const float* bias, float* out, int columns, float eps) {
  in += (long long)blockIdx.x * columns, out += (long long)blockIdx.x * columns;
  float mean = 0, m2 = 0;
  for (int c = 0; c < columns; c++) {
    float delta = in[c] - mean;
    mean += delta / (c + 1);
    m2 += delta * (in[c] - mean);
  }
  float scale = rsqrtf(m2 / columns + eps);
  for (int c = threadIdx.x; c < columns; c += blockDim.x) out[c] = (in[c] - mean) * scale * weight[c] + bias[c];
}
"""


def layer_norm_source__the_row_is_in_shared_memory():
    return changed(
        _NORM,
        ("__shared__ Moments of_warps[32];", "__shared__ Moments of_warps[32];\n  __shared__ float kept[1100];"),
        ("own = combined(own, {1, in[row + c], 0});", "own = combined(own, {1, kept[c] = in[row + c], 0});"),
        ("(in[row + c] - own.mean)", "(kept[c] - own.mean)"),
    )


# Softmax


def softmax_warp_source__no_maximum():
    return changed(_WARP, ("x[k] - largest", "x[k]"))


def softmax_warp_source__the_maximum_begins_at_0():
    return changed(
        _WARP, ("largest = -INFINITY, sum", "largest = 0, sum"), ("columns + c] : -INFINITY", "columns + c] : 0")
    )


def softmax_warp_source__the_smallest_positive_number():
    """FLT_MIN is no negative number."""
    return changed(_WARP, ("-INFINITY", "1.175494351e-38f"))


def softmax_warp_source__elements_beyond_the_row_are_0():
    return changed(_WARP, ("columns + c] : -INFINITY", "columns + c] : 0"))


def softmax_warp_source__elements_beyond_the_row_are_of_the_next():
    return changed(_WARP, ("x[k] = c < columns ? in[row * columns + c] : -INFINITY;", "x[k] = in[row * columns + c];"))


_MAXIMUM = "  for (int k = 16; k > 0; k /= 2) largest = fmaxf(largest, __shfl_xor_sync(0xffffffff, largest, k));\n"


def softmax_warp_source__the_smallest_of_the_row():
    return changed(_WARP, ("fmaxf", "fminf"), ("largest = -INFINITY, sum", "largest = INFINITY, sum"))


def softmax_warp_source__the_first_element():
    return changed(_WARP, (_MAXIMUM, "  largest = __shfl_sync(0xffffffff, x[0], 0);\n"))


def softmax_warp_source__the_largest_of_lane_0():
    return changed(_WARP, (_MAXIMUM, "  largest = __shfl_sync(0xffffffff, largest, 0);\n"))


def softmax_warp_source__the_largest_of_the_first_32():
    return changed(_WARP, ("    largest = fmaxf(largest, x[k]);", "    if (k == 0) largest = x[k];"))


def softmax_warp_source__the_maximum_begins_at_a_small_number():
    return changed(_WARP, ("largest = -INFINITY, sum", "largest = -1e20f, sum"))


def softmax_warp_source__elements_beyond_the_row_are_small():
    return changed(_WARP, ("columns + c] : -INFINITY", "columns + c] : -1e30f"))


def softmax_warp_source__the_maximum_of_a_lane():
    return changed(
        _WARP,
        ("  for (int k = 16; k > 0; k /= 2) largest = fmaxf(largest, __shfl_xor_sync(0xffffffff, largest, k));\n", ""),
    )


def softmax_warp_source__the_sum_of_a_lane():
    return changed(_WARP, ("  for (int k = 16; k > 0; k /= 2) sum += __shfl_xor_sync(0xffffffff, sum, k);\n", ""))


def softmax_warp_source__the_first_lane_alone_has_the_sum():
    return changed(_WARP, ("sum += __shfl_xor_sync(0xffffffff, sum, k)", "sum += __shfl_down_sync(0xffffffff, sum, k)"))


def softmax_warp_source__the_first_lane_alone_has_the_maximum():
    return changed(_WARP, ("__shfl_xor_sync(0xffffffff, largest, k)", "__shfl_down_sync(0xffffffff, largest, k)"))


def softmax_warp_source__loads_three_times():
    return r"""
__global__ void softmax_warp(const float* in, float* out, int rows, int columns) {
  int row = blockIdx.x * blockDim.y + threadIdx.y, lane = threadIdx.x;
  if (row >= rows) return;
  in += row * columns, out += row * columns;
  float largest = -INFINITY, sum = 0;
  for (int c = lane; c < columns; c += 32) largest = fmaxf(largest, in[c]);
  for (int k = 16; k > 0; k /= 2) largest = fmaxf(largest, __shfl_xor_sync(0xffffffff, largest, k));
  for (int c = lane; c < columns; c += 32) sum += expf(in[c] - largest);
  for (int k = 16; k > 0; k /= 2) sum += __shfl_xor_sync(0xffffffff, sum, k);
  for (int c = lane; c < columns; c += 32) out[c] = expf(in[c] - largest) / sum;
}
"""


def softmax_warp_source__the_output_keeps_exponentials():
    return r"""
__global__ void softmax_warp(const float* in, float* out, int rows, int columns) {
  int row = blockIdx.x * blockDim.y + threadIdx.y, lane = threadIdx.x;
  if (row >= rows) return;
  in += row * columns, out += row * columns;
  float x[32], largest = -INFINITY, sum = 0;
  for (int c = lane, k = 0; c < columns; c += 32) largest = fmaxf(largest, x[k++] = in[c]);
  for (int k = 16; k > 0; k /= 2) largest = fmaxf(largest, __shfl_xor_sync(0xffffffff, largest, k));
  for (int c = lane, k = 0; c < columns; c += 32) sum += out[c] = expf(x[k++] - largest);
  for (int k = 16; k > 0; k /= 2) sum += __shfl_xor_sync(0xffffffff, sum, k);
  __syncwarp();
  for (int c = lane; c < columns; c += 32) out[c] /= sum;
}
"""


def softmax_warp_source__the_row_is_in_shared_memory():
    return changed(
        _WARP,
        (
            "float x[32], largest",
            "__shared__ float all[32][32][32];\n"
            "  float (*rows_of_warp)[32] = all[threadIdx.y];\n"
            "  float x_0 = 0, largest",
        ),
        ("x[k]", "rows_of_warp[k][lane]"),
    )


def softmax_warp_source__waits_for_the_block():
    return changed(
        _WARP,
        (
            "  for (int k = 0; k < 32; k++) {\n    x[k] = expf",
            "  __syncthreads();\n  for (int k = 0; k < 32; k++) {\n    x[k] = expf",
        ),
    )


def softmax_warp_source__a_part_for_each_lane():
    return changed(_WARP, ("int c = lane + 32 * k;", "int c = 32 * lane + k;"))


def softmax_warp_source__lanes_without_an_element_leave():
    return changed(_WARP, ("if (row >= rows) return;", "if (row >= rows || lane >= columns) return;"))


def softmax_warp_source__the_mask_of_its_elements():
    """The lanes with an element, and all lanes come."""
    return changed(_WARP, ("0xffffffff", "columns < 32 ? (1u << columns) - 1 : 0xffffffff"))


def softmax_warp_source__half_a_warp():
    return changed(_WARP, ("int k = 16; k > 0", "int k = 8; k > 0"))


def softmax_warp_source__one_row_for_each_block():
    return changed(_WARP, ("blockIdx.x * blockDim.y + threadIdx.y", "blockIdx.x"))


def softmax_warp_source__no_guard_for_rows():
    return changed(_WARP, ("  if (row >= rows) return;\n", ""))


def softmax_warp_source__logarithms():
    return changed(_WARP, ("= x[k] / sum", "= logf(x[k] / sum)"))


def softmax_warp_source__of_the_negative():
    return changed(_WARP, ("expf(x[k] - largest)", "expf(largest - x[k])"))


def softmax_warp_source__sixteen_elements():
    return changed(_WARP, ("float x[32]", "float x[16]"), ("k < 32", "k < 16"))


def softmax_warp_source__columns_of_a_multiple_of_32():
    return changed(_WARP, ("row * columns + c", "row * (columns + 31) / 32 * 32 + c"))


# Atomic operations


def index_add_source__a_plain_addition():
    return changed(
        _ADD,
        (
            "atomicAdd(out + index[i / columns] * columns + i % columns, source[i]);",
            "out[index[i / columns] * columns + i % columns] += source[i];",
        ),
    )


def index_add_source__volatile():
    return changed(
        _ADD,
        (
            "atomicAdd(out + index[i / columns] * columns + i % columns, source[i]);",
            "((volatile float*)out)[index[i / columns] * columns + i % columns] += source[i];",
        ),
    )


def index_add_source__an_exchange():
    return changed(_ADD, ("atomicAdd", "atomicExch"))


def index_add_source__loads_before_it_exchanges():
    return changed(
        _ADD,
        (
            "atomicAdd(out + index[i / columns] * columns + i % columns, source[i]);",
            "{ float* to = out + index[i / columns] * columns + i % columns; atomicExch(to, *to + source[i]); }",
        ),
    )


def index_add_source__the_index_of_the_column():
    return changed(_ADD, ("index[i / columns]", "index[i % rows]"))


def index_add_source__the_row_is_not_scaled():
    return changed(_ADD, ("index[i / columns] * columns", "index[i / columns]"))


def index_add_source__transposed():
    return changed(_ADD, ("source[i]", "source[i % columns * rows + i / columns]"))


def index_add_source__no_guard():
    return changed(_ADD, ("if (i < rows * columns) ", ""))


def index_add_source__guard_by_rows():
    return changed(_ADD, ("i < rows * columns", "i < rows"))


def index_add_source__a_thread_for_each_row():
    return changed(
        _ADD,
        (
            "if (i < rows * columns) atomicAdd(out + index[i / columns] * columns + i % columns, source[i]);",
            "if (i < rows) for (int c = 0; c < columns; c++) atomicAdd(out + index[i] * columns + c, "
            "source[i * columns + c]);",
        ),
    )


def index_add_source__a_thread_for_each_column():
    """Deterministic, and without atomic operations, but neighbouring rows wait for each other."""
    return r"""
__global__ void index_add(float* out, const long long* index, const float* source, int rows, int columns) {
  int c = blockIdx.x * blockDim.x + threadIdx.x;
  for (int r = 0; c < columns && r < rows; r++) out[index[r] * columns + c] += source[r * columns + c];
}
"""


def index_add_source__indices_of_32_bits():
    return changed(_ADD, ("const long long* index", "const int* index"))


def index_add_source__adds_twice():
    return changed(
        _ADD,
        (
            "if (i < rows * columns) atomicAdd",
            "if (i % 32 == 0 && i < rows * columns) atomicAdd(out, 0.0f);\n  if (i < rows * columns) atomicAdd",
        ),
    )


# The choice


softmax__1023_is_the_border = edited(softmax, ("columns <= 1024", "columns < 1024"))
softmax__always_a_warp = edited(softmax, ("columns <= 1024", "True"))
softmax__always_a_block = edited(softmax, ("columns <= 1024", "False"))
softmax__the_other_dimension = edited(
    softmax,
    ("dim % len(sizes), empty_like(x)", "-1 - dim % len(sizes), empty_like(x)"),
    ("sizes[dim + 1 :]", "sizes[len(sizes) + dim + 1 :]"),
)
softmax__the_last_dimension_is_always_a_row = edited(softmax, ("if inner > 1:", "if dim != len(sizes) - 1:"))
softmax__a_block_for_each_row_of_a_warp = edited(softmax, ("-(-outer // WARPS)", "outer"))
softmax__rows_of_a_last_block_are_left_out = edited(softmax, ("-(-outer // WARPS)", "outer // WARPS"))
softmax__128_threads_in_one_dimension = edited(softmax, ("(32, WARPS)", "32 * WARPS"))
softmax__warps_first = edited(softmax, ("(32, WARPS)", "(WARPS, 32)"))
softmax__in_the_order_of_memory = edited(softmax, ("device_pointer(x.contiguous())", "device_pointer(x)"))
softmax__columns_first = edited(softmax, ("*pointers, outer, columns)", "*pointers, columns, outer)"))
softmax__a_thread_for_each_element = edited(softmax, ("outer * inner, *pointers", "outer * columns * inner, *pointers"))
softmax__launches_for_nothing = edited(softmax, ("if out.numel() == 0:", "if False:"))
softmax__modulo_accepts_any_dimension = edited(softmax, ("if not -len(sizes) <= dim < len(sizes):", "if False:"))
softmax__no_dimension_is_an_error = edited(softmax, ("tuple(x.shape) or (1,)", "tuple(x.shape)"))
softmax__of_blocks_of_256 = edited(softmax, ("outer, LARGEST_BLOCK", "outer, 256"))
softmax__input_and_output_are_swapped = edited(
    softmax,
    (
        "device_pointer(x.contiguous())[0], device_pointer(out)[0]",
        "device_pointer(out)[0], device_pointer(x.contiguous())[0]",
    ),
)


def softmax__in_place(x, dim):
    out = softmax_right(x, dim)
    return x.copy_(out) if x.is_contiguous() else out


def softmax__changes_its_operand(x, dim):
    out = softmax_right(x, dim)
    x.fill_(0)
    return out


def softmax__a_warp_that_loads_three_times(x, dim):
    kept = softmaxes.softmax_warp_source
    softmaxes.softmax_warp_source = softmax_warp_source__loads_three_times
    try:
        return softmax_right(x, dim)
    finally:
        softmaxes.softmax_warp_source = kept


def softmax__by_the_framework(x, dim):
    return x.softmax(dim)


def softmax__by_a_copy(x, dim):
    """The kernels never run."""
    return softmaxes.empty_like(x).copy_(x.softmax(dim))


softmax_right = edited(softmax, ("if out.numel() == 0:", "if not out.numel():"))
