// Attention in tiles, with the online softmax. `attention.py` compiles this file and calls its two functions.
//
// A tile is a block of queries by a block of keys. Its scores are in the cache of one core, and no array has the scores of all
// queries and keys. The forward pass keeps for each query the largest score so far, the sum of exp(score - largest), and the sum of
// the values with these weights. A larger score in a later tile scales both sums. The backward pass computes the weights of a tile
// again: exp(score - logsumexp). In PyTorch: aten/src/ATen/native/cpu/FlashAttentionKernel.cpp.

#include "prelude.h"

#include <algorithm>
#include <memory>

// A numpy array, as `PyArrayObject` begins. Strides are in bytes.
struct Array {
  char head[HEAD];
  char* data;
  int ndim;
  const intptr_t* sizes;
  const intptr_t* strides;
};

// One (batch, head) of an array: the element (i, j), with strides in elements.
template <class T> struct Matrix {
  T* data;
  int64_t row, column;
  Matrix(const Array* array, int64_t batch, int64_t head)
      : data(reinterpret_cast<T*>(array->data + batch * array->strides[0] + head * array->strides[1])),
        row(array->strides[2] / int64_t(sizeof(T))),
        column(array->ndim > 3 ? array->strides[3] / int64_t(sizeof(T)) : 0) {}
  T& operator()(int64_t i, int64_t j = 0) const { return data[i * row + j * column]; }
};

// Products of small matrices ---------------------------------------------------------------------------------------------------

#if defined(__AVX512F__)
constexpr int BYTES = 64, ROWS = 8;
#elif defined(__AVX__)
constexpr int BYTES = 32, ROWS = 4;
#else
constexpr int BYTES = 16, ROWS = 4;
#endif
template <class T> struct Register { typedef T type __attribute__((vector_size(BYTES), aligned(sizeof(T)), may_alias)); };
template <class T> using Vector = typename Register<T>::type;
template <class T> constexpr int64_t LANES = BYTES / sizeof(T);
template <class T> static inline int64_t padded(int64_t n) { return (n + LANES<T> - 1) / LANES<T> * LANES<T>; }

// `M` rows and `N` registers of c = (c +) a @ b. The sums are in registers. Only the rows of b and c must be contiguous.
template <class T, int M, int N>
static inline void multiply_tile(int64_t depth, const T* a, int64_t a_row, int64_t a_column, const T* b, int64_t b_row, T* c,
                                 int64_t c_row, bool add) {
  Vector<T> sums[M][N];
  for (int i = 0; i < M; i++)
    for (int j = 0; j < N; j++)
      sums[i][j] = add ? *reinterpret_cast<const Vector<T>*>(c + i * c_row + j * LANES<T>) : Vector<T>{};
  for (int64_t k = 0; k < depth; k++) {
    Vector<T> row[N];
    for (int j = 0; j < N; j++) row[j] = *reinterpret_cast<const Vector<T>*>(b + k * b_row + j * LANES<T>);
    for (int i = 0; i < M; i++)
      for (int j = 0; j < N; j++) sums[i][j] += a[i * a_row + k * a_column] * row[j];
  }
  for (int i = 0; i < M; i++)
    for (int j = 0; j < N; j++) *reinterpret_cast<Vector<T>*>(c + i * c_row + j * LANES<T>) = sums[i][j];
}

template <class T, int M, int N>
static inline void multiply_rows(int64_t rows, int64_t depth, const T* a, int64_t a_row, int64_t a_column, const T* b,
                                 int64_t b_row, T* c, int64_t c_row, bool add) {
  int64_t i = 0;
  for (; i + M <= rows; i += M)
    multiply_tile<T, M, N>(depth, a + i * a_row, a_row, a_column, b, b_row, c + i * c_row, c_row, add);
  if constexpr (M > 1)
    if (i < rows)
      multiply_rows<T, M / 2, N>(rows - i, depth, a + i * a_row, a_row, a_column, b, b_row, c + i * c_row, c_row, add);
}

// c = (c +) a @ b: (rows, depth) times (depth, columns). `columns` is a multiple of the lanes of a register.
template <class T>
static void multiply(int64_t rows, int64_t columns, int64_t depth, const T* a, int64_t a_row, int64_t a_column, const T* b,
                     int64_t b_row, T* c, int64_t c_row, bool add) {
  int64_t j = 0;
  for (; j + 2 * LANES<T> <= columns; j += 2 * LANES<T>)
    multiply_rows<T, ROWS, 2>(rows, depth, a, a_row, a_column, b + j, b_row, c + j, c_row, add);
  if (j < columns) multiply_rows<T, ROWS, 1>(rows, depth, a, a_row, a_column, b + j, b_row, c + j, c_row, add);
}

// Parts of an array, packed ----------------------------------------------------------------------------------------------------

template <class T> using Buffer = std::unique_ptr<T[]>;

// The rows [begin, end) times `scale`, one after the other, each padded with zeros.
template <class T> static void pack(Matrix<T> from, int64_t begin, int64_t end, int64_t size, T scale, T* to) {
  const int64_t wide = padded<T>(size);
  for (int64_t i = begin; i < end; i++, to += wide) {
    const T* row = &from(i);
    if (from.column == 1) for (int64_t e = 0; e < size; e++) to[e] = row[e] * scale;
    else for (int64_t e = 0; e < size; e++) to[e] = row[e * from.column] * scale;
    for (int64_t e = size; e < wide; e++) to[e] = 0;
  }
}

// The same rows as columns.
template <class T> static void pack_transposed(Matrix<T> from, int64_t begin, int64_t end, int64_t size, T* to) {
  const int64_t count = end - begin, wide = padded<T>(count);
  for (int64_t e = 0; e < size; e++) {
    const T* column = &from(begin, e);
    for (int64_t j = 0; j < count; j++) to[e * wide + j] = column[j * from.row];
    for (int64_t j = count; j < wide; j++) to[e * wide + j] = 0;
  }
}

// The inverse of `pack`: (count, size) packed rows, times a factor.
template <class T> static void unpack(const T* from, int64_t begin, int64_t count, int64_t size, T factor, Matrix<T> to) {
  const int64_t wide = padded<T>(size);
  for (int64_t i = 0; i < count; i++, from += wide) {
    T* row = &to(begin + i);
    if (to.column == 1) for (int64_t e = 0; e < size; e++) row[e] = from[e] * factor;
    else for (int64_t e = 0; e < size; e++) row[e * to.column] = from[e] * factor;
  }
}

// The scores of one query -----------------------------------------------------------------------------------------------------

template <class T> constexpr T NONE = -std::numeric_limits<T>::infinity();

template <class T> static inline T largest_of(const T* scores, int64_t wide) {
  Vector<T> most = Vector<T>{} + NONE<T>;
  for (int64_t j = 0; j < wide; j += LANES<T>) {
    const Vector<T> x = *reinterpret_cast<const Vector<T>*>(scores + j);
    most = x > most ? x : most;
  }
  T largest = most[0];
  for (int64_t j = 1; j < LANES<T>; j++) largest = most[j] > largest ? most[j] : largest;
  return largest;
}

// exp(x), but 0 below `least`, where the result is hardly a normal number. A processor takes a hundred times as long for denormal
// numbers, and half of the scores are minus infinity if `causal`.
template <class T> static inline T weight_of(T x) {
  const T least = std::log(std::numeric_limits<T>::min()) + 1, weight = exp_(x < least ? least : x);
  return x < least ? T(0) : weight;
}

// scores = exp(scores - shift), and their sum
template <class T> static inline T exponentials(T* scores, int64_t wide, T shift) {
  T sum = 0;
#pragma omp simd reduction(+ : sum)
  for (int64_t j = 0; j < wide; j++) sum += scores[j] = weight_of(scores[j] - shift);
  return sum;
}

// Add the mask, and exclude the keys that this query must not see and the padding.
template <class T>
static inline void restrict_keys(T* scores, int64_t query, int64_t begin, int64_t end, bool causal, const Matrix<T>* mask) {
  if (mask)
    for (int64_t j = begin; j < end; j++) scores[j - begin] += (*mask)(query, j);
  const int64_t seen = causal ? std::max<int64_t>(std::min(end, query + 1) - begin, 0) : end - begin;
  for (int64_t j = seen; j < padded<T>(end - begin); j++) scores[j] = NONE<T>;
}

constexpr int64_t KEYS = 128;  // of a tile
static inline int64_t queries_of_tile(int64_t queries) { return queries <= 256 ? 16 : 64; }

// The passes -------------------------------------------------------------------------------------------------------------------

template <class T>
static void forward(const Array* query, const Array* key, const Array* value, const Array* mask, Array* out, Array* logsumexp,
                    double scale, bool causal, int threads) {
  const int64_t heads = query->sizes[1], pairs = query->sizes[0] * heads, queries = query->sizes[2], keys = key->sizes[2];
  const int64_t size = query->sizes[3], wide = padded<T>(size), most = queries_of_tile(queries);
  const int64_t all_keys = padded<T>(keys), tile_keys = std::min(all_keys, KEYS);
#pragma omp parallel num_threads(team(threads))
  {
    Buffer<T> memory(new T[2 * all_keys * wide + 2 * most * wide + most * tile_keys + 2 * most]);
    T *k = memory.get(), *v = k + all_keys * wide, *q = v + all_keys * wide, *sums = q + most * wide;
    T *scores = sums + most * wide, *largest = scores + most * tile_keys, *total = largest + most;
#pragma omp for
    for (int64_t pair = 0; pair < pairs; pair++) {
      const int64_t batch = pair / heads, head = pair % heads;
      const Matrix<T> queries_of(query, batch, head), keys_of(key, batch, head), values_of(value, batch, head);
      const Matrix<T> result(out, batch, head), result_2(logsumexp, batch, head);
      const Matrix<T> added(mask ? mask : query, batch, head);
      for (int64_t j = 0; j < keys; j += KEYS)
        pack_transposed(keys_of, j, std::min(j + KEYS, keys), size, k + j * size);
      pack(values_of, 0, keys, size, T(1), v);
      for (int64_t begin = 0; begin < queries; begin += most) {
        const int64_t end = std::min(begin + most, queries), count = end - begin, seen = causal ? std::min(end, keys) : keys;
        pack(queries_of, begin, end, size, T(scale), q);
        std::fill(largest, largest + count, NONE<T>);
        std::fill(total, total + count, T(0));
        for (int64_t j = 0; j < seen; j += KEYS) {
          const int64_t last = std::min(j + KEYS, seen), across = padded<T>(last - j);
          const int64_t packed = padded<T>(std::min(j + KEYS, keys) - j);
          multiply(count, across, size, q, wide, 1, k + j * size, packed, scores, tile_keys, false);
          for (int64_t i = 0; i < count; i++) {
            T* row = scores + i * tile_keys;
            restrict_keys(row, begin + i, j, last, causal, mask ? &added : nullptr);
            const T before = largest[i], now = std::max(before, largest_of(row, across));
            const T sum = exponentials(row, across, now == NONE<T> ? T(0) : now);  // infinity - infinity is NaN
            const T factor = before == now ? T(1) : weight_of(before - now);
            largest[i] = now;
            total[i] = total[i] * factor + sum;
            if (j > 0 && factor != 1)
              for (int64_t e = 0; e < wide; e++) sums[i * wide + e] *= factor;
          }
          multiply(count, wide, last - j, scores, tile_keys, 1, v + j * wide, wide, sums, wide, j > 0);
        }
        for (int64_t i = 0; i < count; i++) {
          const bool empty = largest[i] == NONE<T> && total[i] == 0;  // no key: zeros
          unpack(sums + i * wide, begin + i, 1, size, empty ? T(0) : T(1) / total[i], result);
          result_2(begin + i) = empty ? T(0) : largest[i] + std::log(total[i]);
        }
      }
    }
  }
}

template <class T>
static void backward(const Array* grad, const Array* query, const Array* key, const Array* value, const Array* mask,
                     const Array* out, const Array* logsumexp, Array* grad_query, Array* grad_key, Array* grad_value,
                     double scale, bool causal, int threads) {
  const int64_t heads = query->sizes[1], pairs = query->sizes[0] * heads, queries = query->sizes[2], keys = key->sizes[2];
  const int64_t size = query->sizes[3], wide = padded<T>(size), most = queries_of_tile(queries);
  const int64_t tile_keys = std::min(padded<T>(keys), KEYS);
#pragma omp parallel num_threads(team(threads))
  {
    Buffer<T> memory(new T[(3 * queries + 5 * tile_keys) * wide + 2 * most * tile_keys + queries]);
    T *q = memory.get(), *of_out = q + queries * wide, *of_q = of_out + queries * wide, *k = of_q + queries * wide;
    T *k_columns = k + tile_keys * wide, *v_columns = k_columns + tile_keys * wide, *of_k = v_columns + tile_keys * wide;
    T *of_v = of_k + tile_keys * wide, *weights = of_v + tile_keys * wide, *slopes = weights + most * tile_keys;
    T* delta = slopes + most * tile_keys;
#pragma omp for
    for (int64_t pair = 0; pair < pairs; pair++) {
      const int64_t batch = pair / heads, head = pair % heads;
      const Matrix<T> keys_of(key, batch, head), values_of(value, batch, head), result(out, batch, head);
      const Matrix<T> result_2(logsumexp, batch, head), added(mask ? mask : query, batch, head);
      pack(Matrix<T>(query, batch, head), 0, queries, size, T(scale), q);
      pack(Matrix<T>(grad, batch, head), 0, queries, size, T(1), of_out);
      std::fill(of_q, of_q + queries * wide, T(0));
      for (int64_t i = 0; i < queries; i++) {  // the sum of grad_weights * weights of a query is that of grad * out
        delta[i] = 0;
        for (int64_t e = 0; e < size; e++) delta[i] += of_out[i * wide + e] * result(i, e);
      }
      for (int64_t j = 0; j < keys; j += KEYS) {
        const int64_t last = std::min(j + KEYS, keys), count_keys = last - j, across = padded<T>(count_keys);
        pack(keys_of, j, last, size, T(1), k);
        pack_transposed(keys_of, j, last, size, k_columns);
        pack_transposed(values_of, j, last, size, v_columns);
        std::fill(of_k, of_k + 2 * tile_keys * wide, T(0));
        for (int64_t begin = causal ? j / most * most : 0; begin < queries; begin += most) {
          const int64_t end = std::min(begin + most, queries), count = end - begin;
          const int64_t seen = causal ? std::min(end - j, count_keys) : count_keys, wide_seen = padded<T>(seen);
          multiply(count, wide_seen, size, q + begin * wide, wide, 1, k_columns, across, weights, tile_keys, false);
          multiply(count, wide_seen, size, of_out + begin * wide, wide, 1, v_columns, across, slopes, tile_keys, false);
          for (int64_t i = 0; i < count; i++) {
            T *row = weights + i * tile_keys, *slope = slopes + i * tile_keys;
            restrict_keys(row, begin + i, j, j + seen, causal, mask ? &added : nullptr);
            exponentials(row, wide_seen, result_2(begin + i));
            for (int64_t n = 0; n < wide_seen; n++) slope[n] = row[n] * (slope[n] - delta[begin + i]);
          }
          multiply(seen, wide, count, weights, 1, tile_keys, of_out + begin * wide, wide, of_v, wide, true);
          multiply(seen, wide, count, slopes, 1, tile_keys, q + begin * wide, wide, of_k, wide, true);
          multiply(count, wide, seen, slopes, tile_keys, 1, k, wide, of_q + begin * wide, wide, true);
        }
        unpack(of_k, j, count_keys, size, T(1), Matrix<T>(grad_key, batch, head));
        unpack(of_v, j, count_keys, size, T(1), Matrix<T>(grad_value, batch, head));
      }
      unpack(of_q, 0, queries, size, T(scale), Matrix<T>(grad_query, batch, head));
    }
  }
}

extern "C" {
void flash_forward(int is_double, const Array* query, const Array* key, const Array* value, const Array* mask, Array* out,
                   Array* logsumexp, double scale, int causal, int threads) {
  (is_double ? forward<double> : forward<float>)(query, key, value, mask, out, logsumexp, scale, causal, threads);
}
void flash_backward(int is_double, const Array* grad, const Array* query, const Array* key, const Array* value, const Array* mask,
                    const Array* out, const Array* logsumexp, Array* grad_query, Array* grad_key, Array* grad_value, double scale,
                    int causal, int threads) {
  (is_double ? backward<double> : backward<float>)(grad, query, key, value, mask, out, logsumexp, grad_query, grad_key,
                                                   grad_value, scale, causal, threads);
}
// Whether an array is as `Array` says, with these sizes and strides in bytes.
int is_known(const Array* array, intptr_t rows, intptr_t columns, intptr_t step, intptr_t next) {
  return array->ndim == 2 && array->sizes[0] == rows && array->sizes[1] == columns && array->strides[0] == step &&
         array->strides[1] == next;
}
}
