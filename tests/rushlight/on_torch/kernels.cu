#include <cuda_fp16.h>
#include <cuda_bf16.h>

// Threads -------------------------------------------------------------------------------------------------------------

__global__ void add(const float* a, const float* b, float* c, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) c[i] = a[i] + b[i];
}

__global__ void add_half(const __half* a, const __half* b, __half* c, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) c[i] = __hadd(a[i], b[i]);
}

__global__ void scale_bfloat16(const __nv_bfloat16* a, __nv_bfloat16* c, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) c[i] = __float2bfloat16(__bfloat162float(a[i]) * 1.5f);
}

__global__ void add_grid_stride(const float* a, const float* b, float* c, int n) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) c[i] = a[i] + b[i];
}

struct OffsetCalculator {
  int sizes[4], strides[4];
  __device__ int get(int index) const {
    int offset = 0;
    for (int d = 3; d >= 0; d--) {
      offset += index % sizes[d] * strides[d];
      index /= sizes[d];
    }
    return offset;
  }
};

// c is contiguous; a and b have strides, in elements
__global__ void add_strided(const float* a, const float* b, float* c, int n, int s0, int s1, int s2, int s3, int a0, int a1, int a2, int a3, int b0, int b1, int b2, int b3) {
  OffsetCalculator of_a = {{s0, s1, s2, s3}, {a0, a1, a2, a3}};
  OffsetCalculator of_b = {{s0, s1, s2, s3}, {b0, b1, b2, b3}};
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) c[i] = a[of_a.get(i)] + b[of_b.get(i)];
}

// the first elements up to a multiple of 16 bytes, then four at a time, then the rest; a and c begin alike
__global__ void scale_vectorised(const float* a, float* c, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  int head = (int)((16 - (unsigned long long)a % 16) % 16 / 4);
  if (head > n) head = n;
  int vectors = (n - head) / 4;
  if (i < head) c[i] = a[i] * 2;
  if (i < vectors) {
    float4 v = ((const float4*)(a + head))[i];
    v.x *= 2; v.y *= 2; v.z *= 2; v.w *= 2;
    ((float4*)(c + head))[i] = v;
  }
  int tail = head + 4 * vectors + i;
  if (tail < n) c[tail] = a[tail] * 2;
}

// Together ------------------------------------------------------------------------------------------------------------

__global__ void sum_tree(const float* a, float* out, int n) {
  extern __shared__ float partial[];
  int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
  partial[t] = i < n ? a[i] : 0;
  __syncthreads();
  for (int k = blockDim.x / 2; k > 0; k /= 2) {
    if (t < k) partial[t] += partial[t + k];
    __syncthreads();
  }
  if (t == 0) out[blockIdx.x] = partial[0];
}

__device__ float warp_sum(float v) {
  for (int k = 16; k > 0; k /= 2) v += __shfl_xor_sync(0xffffffffu, v, k);
  return v;
}

__device__ float warp_max(float v) {
  for (int k = 16; k > 0; k /= 2) v = fmaxf(v, __shfl_xor_sync(0xffffffffu, v, k));
  return v;
}

__global__ void sum_shuffles(const float* a, float* out, int n) {
  __shared__ float warps[32];
  int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
  float v = warp_sum(i < n ? a[i] : 0);
  if (t % 32 == 0) warps[t / 32] = v;
  __syncthreads();
  if (t < 32) {
    v = warp_sum(t < blockDim.x / 32 ? warps[t] : 0);
    if (t == 0) out[blockIdx.x] = v;
  }
}

// a warp for each row of at most 32 * ELEMENTS columns, which stay in registers
template <int ELEMENTS> __global__ void softmax_warp(const float* a, float* out, int rows, int columns) {
  int row = blockIdx.x * blockDim.y + threadIdx.y, lane = threadIdx.x;
  if (row >= rows) return;
  float v[ELEMENTS], largest = -3.402823466e38f, sum = 0;
#pragma unroll
  for (int k = 0; k < ELEMENTS; k++) {
    int column = lane + 32 * k;
    v[k] = column < columns ? a[row * columns + column] : -3.402823466e38f;
    largest = fmaxf(largest, v[k]);
  }
  largest = warp_max(largest);
#pragma unroll
  for (int k = 0; k < ELEMENTS; k++) {
    v[k] = expf(v[k] - largest);
    sum += v[k];
  }
  sum = warp_sum(sum);
#pragma unroll
  for (int k = 0; k < ELEMENTS; k++) {
    int column = lane + 32 * k;
    if (column < columns) out[row * columns + column] = v[k] / sum;
  }
}

// a block for each row
__global__ void softmax_block(const float* a, float* out, int columns) {
  __shared__ float warps[32], result[2];
  const float* row = a + blockIdx.x * columns;
  float largest = -3.402823466e38f, sum = 0;
  for (int i = threadIdx.x; i < columns; i += blockDim.x) largest = fmaxf(largest, row[i]);
  largest = warp_max(largest);
  if (threadIdx.x % 32 == 0) warps[threadIdx.x / 32] = largest;
  __syncthreads();
  if (threadIdx.x < 32) {
    largest = warp_max(threadIdx.x < blockDim.x / 32 ? warps[threadIdx.x] : -3.402823466e38f);
    if (threadIdx.x == 0) result[0] = largest;
  }
  __syncthreads();
  largest = result[0];
  for (int i = threadIdx.x; i < columns; i += blockDim.x) sum += expf(row[i] - largest);
  sum = warp_sum(sum);
  if (threadIdx.x % 32 == 0) warps[threadIdx.x / 32] = sum;
  __syncthreads();
  if (threadIdx.x < 32) {
    sum = warp_sum(threadIdx.x < blockDim.x / 32 ? warps[threadIdx.x] : 0);
    if (threadIdx.x == 0) result[1] = sum;
  }
  __syncthreads();
  for (int i = threadIdx.x; i < columns; i += blockDim.x) out[blockIdx.x * columns + i] = expf(row[i] - largest) / result[1];
}

// a warp for each row; Welford's mean and sum of squared differences, combined by shuffles
__global__ void layer_norm(const float* a, const float* weight, const float* bias, float* out, int columns) {
  const float* row = a + blockIdx.x * columns;
  float mean = 0, squares = 0, count = 0;
  for (int i = threadIdx.x; i < columns; i += 32) {
    float x = row[i], delta = x - mean;
    count += 1;
    mean += delta / count;
    squares += delta * (x - mean);
  }
  for (int k = 16; k > 0; k /= 2) {
    float other_mean = __shfl_xor_sync(0xffffffffu, mean, k), other_squares = __shfl_xor_sync(0xffffffffu, squares, k);
    float other_count = __shfl_xor_sync(0xffffffffu, count, k), both = count + other_count, delta = other_mean - mean;
    if (both > 0) {
      squares += other_squares + delta * delta * count * other_count / both;
      mean = (count * mean + other_count * other_mean) / both;
    }
    count = both;
  }
  float scale = rsqrtf(squares / columns + 1e-5f);
  for (int i = threadIdx.x; i < columns; i += 32) out[blockIdx.x * columns + i] = (row[i] - mean) * scale * weight[i] + bias[i];
}

// a block for each source row
__global__ void index_add(float* out, const int* index, const float* source, int columns) {
  for (int i = threadIdx.x; i < columns; i += blockDim.x) atomicAdd(out + index[blockIdx.x] * columns + i, source[blockIdx.x * columns + i]);
}

__global__ void histogram(const int* a, int* bins, int n) {
  __shared__ int counts[64];
  if (threadIdx.x < 64) counts[threadIdx.x] = 0;
  __syncthreads();
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) atomicAdd(&counts[a[i]], 1);
  __syncthreads();
  if (threadIdx.x < 64) atomicAdd(&bins[threadIdx.x], counts[threadIdx.x]);
}

// Products ------------------------------------------------------------------------------------------------------------

__global__ void transpose_naive(const float* a, float* b, int n) {
  int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
  b[x * n + y] = a[y * n + x];
}

template <int PAD> __global__ void transpose(const float* a, float* b, int n) {
  __shared__ float tile[32][32 + PAD];
  int x = threadIdx.x, y = threadIdx.y;
  tile[y][x] = a[(blockIdx.y * 32 + y) * n + blockIdx.x * 32 + x];
  __syncthreads();
  b[(blockIdx.x * 32 + y) * n + blockIdx.y * 32 + x] = tile[x][y];
}

__global__ void product_naive(const float* a, const float* b, float* c, int n) {
  int column = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y * blockDim.y + threadIdx.y;
  if (row >= n || column >= n) return;
  float sum = 0;
  for (int k = 0; k < n; k++) sum += a[row * n + k] * b[k * n + column];
  c[row * n + column] = sum;
}

template <int T> __global__ void product_tiled(const float* a, const float* b, float* c, int n) {
  __shared__ float tile_a[T][T], tile_b[T][T];
  int x = threadIdx.x, y = threadIdx.y, column = blockIdx.x * T + x, row = blockIdx.y * T + y;
  float sum = 0;
  for (int k = 0; k < n; k += T) {
    tile_a[y][x] = row < n && k + x < n ? a[row * n + k + x] : 0;
    tile_b[y][x] = k + y < n && column < n ? b[(k + y) * n + column] : 0;
    __syncthreads();
    for (int j = 0; j < T; j++) sum += tile_a[y][j] * tile_b[j][x];
    __syncthreads();
  }
  if (row < n && column < n) c[row * n + column] = sum;
}

// a block of 16 x 16 threads computes 64 x 64 elements, each thread 4 x 4, with bias and relu; n is a multiple of 64
__global__ void product_registers(const float* a, const float* b, const float* bias, float* c, int n) {
  __shared__ float tile_a[16][64], tile_b[16][64];
  int x = threadIdx.x, y = threadIdx.y, t = y * 16 + x, row = blockIdx.y * 64, column = blockIdx.x * 64;
  float sum[4][4] = {};
  for (int k = 0; k < n; k += 16) {
    for (int i = t; i < 16 * 64; i += 256) {
      tile_a[i % 16][i / 16] = a[(row + i / 16) * n + k + i % 16];
      tile_b[i / 64][i % 64] = b[(k + i / 64) * n + column + i % 64];
    }
    __syncthreads();
    for (int j = 0; j < 16; j++) {
      float4 va = *(float4*)&tile_a[j][4 * y], vb = *(float4*)&tile_b[j][4 * x];
      float ra[4] = {va.x, va.y, va.z, va.w}, rb[4] = {vb.x, vb.y, vb.z, vb.w};
#pragma unroll
      for (int p = 0; p < 4; p++) {
#pragma unroll
        for (int q = 0; q < 4; q++) sum[p][q] += ra[p] * rb[q];
      }
    }
    __syncthreads();
  }
#pragma unroll
  for (int p = 0; p < 4; p++) {
    float4 v = make_float4(sum[p][0] + bias[column + 4 * x], sum[p][1] + bias[column + 4 * x + 1], sum[p][2] + bias[column + 4 * x + 2], sum[p][3] + bias[column + 4 * x + 3]);
    v.x = fmaxf(v.x, 0.0f); v.y = fmaxf(v.y, 0.0f); v.z = fmaxf(v.z, 0.0f); v.w = fmaxf(v.w, 0.0f);
    *(float4*)&c[(row + 4 * y + p) * n + column + 4 * x] = v;
  }
}

// What a warp asks of memory --------------------------------------------------------------------------------------------

template <typename T, int STRIDE, int OFFSET> __global__ void load(const T* in, T* out) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] = in[i * STRIDE + OFFSET];
}

template <typename T, int STRIDE, int OFFSET> __global__ void store(const T* in, T* out) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i * STRIDE + OFFSET] = in[i];
}

template <int KEEP> __global__ void masked(const float* in, float* out) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (threadIdx.x % 32 < KEEP) out[i] = in[i] + 1;
}

__global__ void same(const float* in, float* out) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] = in[0] + in[blockIdx.x];
}

__global__ void twice(volatile const float* in, float* out) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] = in[i] + in[i];
}

__global__ void divergent(const float* in, float* out) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (threadIdx.x & 1) out[i] = in[i] * 2;
  else out[i] = in[i] + 3;
}

template <typename T, int STRIDE> __global__ void shared_read(const T* in, T* out) {
  __shared__ __align__(16) T s[32 * STRIDE + 1];
  for (int k = threadIdx.x; k < 32 * STRIDE + 1; k += blockDim.x) s[k] = in[k];
  __syncthreads();
  out[blockIdx.x * blockDim.x + threadIdx.x] = s[threadIdx.x % 32 * STRIDE];
}

template <typename T, int STRIDE> __global__ void shared_write(const T* in, T* out) {
  __shared__ __align__(16) T s[32 * STRIDE + 1];
  T v = in[threadIdx.x % 32];
  if (threadIdx.x < 32) s[threadIdx.x * STRIDE] = v;
  __syncthreads();
  out[blockIdx.x * blockDim.x + threadIdx.x] = s[0];
}

template <int SPREAD> __global__ void atomics(float* out) { atomicAdd(out + (blockIdx.x * blockDim.x + threadIdx.x) % SPREAD, 1.0f); }

template <int SPREAD> __global__ void atomics_used(float* out, float* old) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  old[i] = atomicAdd(out + i % SPREAD, 1.0f);
}
