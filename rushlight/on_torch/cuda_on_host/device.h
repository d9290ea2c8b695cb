// device.h: the language of CUDA, as far as a kernel needs it, for a C++ compiler without a GPU.
// It is included before the kernel's text. On a GPU, nvcc and NVRTC know all of this without any header.
#pragma once
#include <cmath>
#include <cstdint>
#include <type_traits>
#include <utility>

#define __global__ __attribute__((noinline))
#define __device__
#define __host__
#define __constant__ static const
#define __forceinline__ inline __attribute__((always_inline))
#define __noinline__ __attribute__((noinline))
#define __restrict__ __restrict
#define __launch_bounds__(...)
#define __align__(n) __attribute__((aligned(n)))
// One block runs at a time, so a variable of the library's thread-local section is the block's own. The section holds nothing else.
#if defined(__clang__)
#define CUDA_NOT_MERGED __attribute__((nomerge))  // calls in two branches are two calls
#define __shared__ static __thread __align__(16) __attribute__((used))  // not split into elements
#else
#define CUDA_NOT_MERGED
#define __shared__ static __constinit __thread __align__(16)  // it never has a guard
#endif
// `extern __shared__ float s[];` becomes `CUDA_DYNAMIC_SHARED(float, s);`
#define CUDA_DYNAMIC_SHARED(type, name) type* const name = (type*)cuda_host_dynamic_shared()
#define CUDA_INLINE static inline __attribute__((always_inline, unused))

// Vectors -------------------------------------------------------------------------------------------------------------

// A vector is assigned as a whole. Otherwise the compiler may assign its elements, or, of a function's result, insert no call.
template <class V> __attribute__((always_inline)) inline void cuda_assign(V* to, const V* from) {
  constexpr int size = sizeof(V) < 16 ? sizeof(V) : 16;
  typedef unsigned char part __attribute__((vector_size(size), may_alias));
  for (int i = 0; i < (int)sizeof(V) / size; i++) ((part*)to)[i] = ((const part*)from)[i];
}
#define CUDA_ASSIGN(V) \
  __attribute__((always_inline)) V& operator=(const V& from) { cuda_assign(this, &from); return *this; }
#if defined(__clang__)  // it would copy the elements of a new one
#define CUDA_COPY(V) V() = default; __attribute__((always_inline)) V(const V& from) { cuda_assign(this, &from); }
#define CUDA_OF_2(V, T) CUDA_ASSIGN(V) CUDA_COPY(V) constexpr V(T x, T y = {}) : x(x), y(y) {}
#define CUDA_OF_4(V, T) CUDA_ASSIGN(V) CUDA_COPY(V) constexpr V(T x, T y = {}, T z = {}, T w = {}) : x(x), y(y), z(z), w(w) {}
#else
#define CUDA_OF_2(V, T) CUDA_ASSIGN(V)
#define CUDA_OF_4(V, T) CUDA_ASSIGN(V)
#endif
#define CUDA_VECTORS(T, name) \
  struct name##1 { T x; }; \
  struct __align__(2 * sizeof(T)) name##2 { T x, y; CUDA_OF_2(name##2, T) }; \
  struct name##3 { T x, y, z; }; \
  struct __align__(sizeof(T) < 8 ? 4 * sizeof(T) : 16) name##4 { T x, y, z, w; CUDA_OF_4(name##4, T) }; \
  CUDA_INLINE name##1 make_##name##1(T x) { return {x}; } \
  CUDA_INLINE name##2 make_##name##2(T x, T y) { return {x, y}; } \
  CUDA_INLINE name##3 make_##name##3(T x, T y, T z) { return {x, y, z}; } \
  CUDA_INLINE name##4 make_##name##4(T x, T y, T z, T w) { return {x, y, z, w}; }
typedef unsigned char cuda_uchar;
typedef unsigned short cuda_ushort;
typedef unsigned int cuda_uint;
typedef unsigned long long cuda_ulonglong;
CUDA_VECTORS(signed char, char) CUDA_VECTORS(cuda_uchar, uchar) CUDA_VECTORS(short, short) CUDA_VECTORS(cuda_ushort, ushort)
CUDA_VECTORS(int, int) CUDA_VECTORS(cuda_uint, uint) CUDA_VECTORS(long long, longlong) CUDA_VECTORS(cuda_ulonglong, ulonglong)
CUDA_VECTORS(float, float) CUDA_VECTORS(double, double)

struct dim3 {
  unsigned x, y, z;
  constexpr dim3(unsigned x = 1, unsigned y = 1, unsigned z = 1) : x(x), y(y), z(z) {}
  constexpr dim3(uint3 of) : x(of.x), y(of.y), z(of.z) {}
};

// The runtime ---------------------------------------------------------------------------------------------------------
//
// `const`: a call may be merged with another, because a fiber is one thread for as long as its kernel runs.

extern "C" {
uint3 cuda_host_thread_index() __attribute__((const));
uint3 cuda_host_block_index() __attribute__((const));
uint3 cuda_host_block_dim() __attribute__((const));
uint3 cuda_host_grid_dim() __attribute__((const));
void* cuda_host_dynamic_shared() __attribute__((const));
CUDA_NOT_MERGED void __syncthreads();
int __syncthreads_count(int predicate);
void __threadfence();
long long clock64();
unsigned long long cuda_host_warp(int operation, unsigned mask, unsigned long long value, int lane, int width);
unsigned long long cuda_host_atomic(void* address, int type, int operation, unsigned long long value, unsigned long long compare);
int cuda_host_printf(const char* format, ...) __attribute__((format(printf, 1, 2)));
void cuda_host_assert(const char* condition) __attribute__((noreturn));
}

#define threadIdx cuda_host_thread_index()
#define blockIdx cuda_host_block_index()
#define blockDim cuda_host_block_dim()
#define gridDim cuda_host_grid_dim()
#define warpSize 32
#define printf cuda_host_printf
#define assert(condition) ((condition) ? (void)0 : cuda_host_assert(#condition))
#define __trap() cuda_host_assert("__trap()")
#define __threadfence_block __threadfence
#define __syncthreads_or(predicate) (__syncthreads_count(predicate) != 0)
#define __syncthreads_and(predicate) (__syncthreads_count(!(predicate)) == 0)

// Warps ---------------------------------------------------------------------------------------------------------------

namespace cuda_host {
enum Operation { SYNC, IDX, UP, DOWN, XOR, BALLOT, ACTIVE };  // of a warp
enum Atomic { ADD, SUB, MIN, MAX, AND, OR, XOR_BITS, EXCHANGE, SWAP_IF_EQUAL, INCREMENT, DECREMENT };
enum Type { INT, UNSIGNED, ULONGLONG, LONGLONG, FLOAT, DOUBLE };

template <class To, class From> CUDA_INLINE To bits(From value) {
  union { From from; To to; } u;
  u.to = 0;
  u.from = value;
  return u.to;
}
template <class T> CUDA_INLINE T value_of(unsigned long long word) {
  union { unsigned long long from; T to; } u;
  u.from = word;
  return u.to;
}
template <class T> CUDA_INLINE T shuffle(Operation operation, unsigned mask, T value, int lane, int width) {
  static_assert(sizeof(T) <= 8, "a shuffle exchanges at most 8 bytes");
  return value_of<T>(cuda_host_warp(operation, mask, bits<unsigned long long>(value), lane, width));
}
template <class T> constexpr int type_of = std::is_same_v<T, int> ? INT : std::is_same_v<T, unsigned> ? UNSIGNED : std::is_same_v<T, float> ? FLOAT
    : std::is_same_v<T, double> ? DOUBLE : std::is_signed_v<T> ? LONGLONG : ULONGLONG;
template <class T> CUDA_INLINE T atomic(T* address, int operation, T value, T compare = T()) {
  return value_of<T>(cuda_host_atomic(address, type_of<T>, operation, bits<unsigned long long>(value), bits<unsigned long long>(compare)));
}
}  // namespace cuda_host

template <class T> CUDA_INLINE T __shfl_sync(unsigned mask, T v, int lane, int width = 32) { return cuda_host::shuffle(cuda_host::IDX, mask, v, lane, width); }
template <class T> CUDA_INLINE T __shfl_up_sync(unsigned mask, T v, unsigned d, int width = 32) { return cuda_host::shuffle(cuda_host::UP, mask, v, (int)d, width); }
template <class T> CUDA_INLINE T __shfl_down_sync(unsigned mask, T v, unsigned d, int width = 32) { return cuda_host::shuffle(cuda_host::DOWN, mask, v, (int)d, width); }
template <class T> CUDA_INLINE T __shfl_xor_sync(unsigned mask, T v, int lanes, int width = 32) { return cuda_host::shuffle(cuda_host::XOR, mask, v, lanes, width); }
CUDA_INLINE void __syncwarp(unsigned mask = ~0u) { cuda_host_warp(cuda_host::SYNC, mask, 0, 0, 32); }
CUDA_INLINE unsigned __ballot_sync(unsigned mask, int v) { return (unsigned)cuda_host_warp(cuda_host::BALLOT, mask, v != 0, 0, 32); }
CUDA_INLINE int __any_sync(unsigned mask, int v) { return __ballot_sync(mask, v) != 0; }
CUDA_INLINE int __all_sync(unsigned mask, int v) { return __ballot_sync(mask, !v) == 0; }
CUDA_INLINE unsigned __activemask() { return (unsigned)cuda_host_warp(cuda_host::ACTIVE, ~0u, 0, 0, 32); }

// Atomics -------------------------------------------------------------------------------------------------------------

#define CUDA_ATOMIC(T, name, operation) CUDA_INLINE T name(T* address, T value) { return cuda_host::atomic(address, cuda_host::operation, value); }
#define CUDA_ATOMICS(T) \
  CUDA_ATOMIC(T, atomicAdd, ADD) CUDA_ATOMIC(T, atomicMin, MIN) CUDA_ATOMIC(T, atomicMax, MAX) CUDA_ATOMIC(T, atomicExch, EXCHANGE) \
  CUDA_ATOMIC(T, atomicAnd, AND) CUDA_ATOMIC(T, atomicOr, OR) CUDA_ATOMIC(T, atomicXor, XOR_BITS) \
  CUDA_INLINE T atomicCAS(T* address, T compare, T value) { return cuda_host::atomic(address, cuda_host::SWAP_IF_EQUAL, value, compare); }
CUDA_ATOMICS(int) CUDA_ATOMICS(unsigned) CUDA_ATOMICS(cuda_ulonglong)
CUDA_ATOMIC(float, atomicAdd, ADD) CUDA_ATOMIC(float, atomicExch, EXCHANGE) CUDA_ATOMIC(double, atomicAdd, ADD)
CUDA_ATOMIC(int, atomicSub, SUB) CUDA_ATOMIC(unsigned, atomicSub, SUB)
CUDA_ATOMIC(unsigned, atomicInc, INCREMENT) CUDA_ATOMIC(unsigned, atomicDec, DECREMENT)

#define CUDART_INF_F INFINITY
#define CUDART_NAN_F NAN
#define CUDART_INF ((double)INFINITY)

// Functions -----------------------------------------------------------------------------------------------------------

// The C library has other functions of these names.
#define __expf expf
#define __logf logf
#define __powf powf
#define __sinf sinf
#define __cosf cosf
template <class T> CUDA_INLINE T __ldg(const T* address) { return *address; }
template <class T> CUDA_INLINE T __ldcs(const T* address) { return *address; }
template <class T> CUDA_INLINE T __ldcg(const T* address) { return *address; }
template <class T> CUDA_INLINE void __stcs(T* address, T value) { *address = value; }
template <class T> CUDA_INLINE void __stcg(T* address, T value) { *address = value; }
template <class A, class B> CUDA_INLINE auto min(A a, B b) -> std::common_type_t<A, B> { return b < a ? b : a; }
template <class A, class B> CUDA_INLINE auto max(A a, B b) -> std::common_type_t<A, B> { return a < b ? b : a; }
CUDA_INLINE float rsqrtf(float x) { return 1 / sqrtf(x); }
CUDA_INLINE double rsqrt(double x) { return 1 / sqrt(x); }
CUDA_INLINE float rsqrt(float x) { return rsqrtf(x); }
CUDA_INLINE float __fdividef(float x, float y) { return x / y; }
CUDA_INLINE float __frcp_rn(float x) { return 1 / x; }
CUDA_INLINE float __fadd_rn(float x, float y) { return x + y; }
CUDA_INLINE float __fmul_rn(float x, float y) { return x * y; }
CUDA_INLINE float __fmaf_rn(float x, float y, float z) { return fmaf(x, y, z); }
CUDA_INLINE float __saturatef(float x) { return x > 0 ? (x < 1 ? x : 1) : 0; }
CUDA_INLINE int __float_as_int(float x) { return cuda_host::bits<int>(x); }
CUDA_INLINE unsigned __float_as_uint(float x) { return cuda_host::bits<unsigned>(x); }
CUDA_INLINE float __int_as_float(int x) { return cuda_host::bits<float>(x); }
CUDA_INLINE float __uint_as_float(unsigned x) { return cuda_host::bits<float>(x); }
CUDA_INLINE int __popc(unsigned x) { return __builtin_popcount(x); }
CUDA_INLINE int __ffs(int x) { return __builtin_ffs(x); }
CUDA_INLINE int __clz(int x) { return x ? __builtin_clz((unsigned)x) : 32; }
CUDA_INLINE int __mul24(int x, int y) { return (int)((long long)(x << 8 >> 8) * (y << 8 >> 8)); }
CUDA_INLINE unsigned __umul24(unsigned x, unsigned y) { return (x & 0xffffff) * (y & 0xffffff); }
CUDA_INLINE unsigned __umulhi(unsigned x, unsigned y) { return (unsigned)(((unsigned long long)x * y) >> 32); }

#include "half.h"

// The table of kernels, at the end of the text ------------------------------------------------------------------------

namespace cuda_host {
struct Parameter { char kind; int bytes; };  // p: pointer to elements of so many bytes, c: pointer to const, i, u, f: number, s: struct
struct Kernel { const char* name; void (*call)(void** arguments); const Parameter* parameters; int count; };

template <class T> constexpr Parameter parameter() {
  if constexpr (std::is_pointer_v<T>) {
    using E = std::remove_pointer_t<T>;
    if constexpr (std::is_void_v<E>) return {std::is_const_v<E> ? 'c' : 'p', 1};
    else return {std::is_const_v<E> ? 'c' : 'p', (int)sizeof(E)};
  } else {
    return {std::is_floating_point_v<T> ? 'f' : !std::is_integral_v<T> ? 's' : std::is_signed_v<T> ? 'i' : 'u', (int)sizeof(T)};
  }
}
template <auto kernel, class... A, std::size_t... I> __attribute__((no_sanitize("thread"), noinline)) void call_with(void (*)(A...), void** arguments, std::index_sequence<I...>) {
  kernel(*(std::remove_const_t<A>*)arguments[I]...);
}
template <auto kernel, class... A> void call(void (*type)(A...), void** arguments) { call_with<kernel>(type, arguments, std::index_sequence_for<A...>()); }
template <auto kernel> void call(void** arguments) { call<kernel>(kernel, arguments); }
template <class... A> constexpr Parameter parameters[] = {parameter<A>()..., {0, 0}};
template <auto kernel, class... A> Kernel entry(const char* name, void (*)(A...)) { return {name, call<kernel>, parameters<A...>, (int)sizeof...(A)}; }
}  // namespace cuda_host
