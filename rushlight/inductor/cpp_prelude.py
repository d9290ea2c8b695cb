"""The head of every translation unit of kernels, and the compiler flags.

No `-ffast-math`, because it lets the compiler assume that there is no NaN and no infinity. The speed comes without it:
`#pragma omp simd reduction` allows sums in another order, and the compiler can vectorise the functions below: `exp`, `tanh` and
`erf` of float32 are polynomials with an error of a few units in the last place; for the other functions this file declares the
vector versions of glibc's `libmvec`, if there are any. In PyTorch: `torch/csrc/inductor/cpp_prefix.h`, `ATen/cpu/vec`, SLEEF.
"""

FLAGS = [
    "-std=c++17", "-O3", "-march=native", "-fno-math-errno", "-fno-trapping-math", "-fopenmp-simd", "-fPIC", "-shared",
]  # fmt: skip

PRELUDE = r"""
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>

#if defined(__GLIBC__) && defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__)
#if __GLIBC_PREREQ(2, 35)
#define VECTOR __attribute__((__simd__("notinbranch")))
#define DECLARE(f, ff) VECTOR double f(double) noexcept; VECTOR float ff(float) noexcept;
extern "C" {
DECLARE(exp, expf) DECLARE(expm1, expm1f) DECLARE(log, logf) DECLARE(log1p, log1pf) DECLARE(log2, log2f)
DECLARE(sin, sinf) DECLARE(cos, cosf) DECLARE(tan, tanf) DECLARE(tanh, tanhf) DECLARE(erf, erff)
VECTOR double pow(double, double) noexcept;
VECTOR float powf(float, float) noexcept;
}
#endif
#endif

// A forked process does not have the threads that OpenMP started before the fork, and would wait for them forever.
extern "C" { int after_fork = 0; }
static inline int team(int most) { return after_fork ? 1 : most; }

#define FUNCTION(name, f, ff) \
  static inline double name(double x) { return ::f(x); } \
  static inline float name(float x) { return ::ff(x); }
FUNCTION(expm1_, expm1, expm1f) FUNCTION(log_, log, logf) FUNCTION(log1p_, log1p, log1pf) FUNCTION(log2_, log2, log2f)
FUNCTION(sin_, sin, sinf) FUNCTION(cos_, cos, cosf) FUNCTION(tan_, tan, tanf)
FUNCTION(sqrt_, sqrt, sqrtf) FUNCTION(floor_, floor, floorf) FUNCTION(ceil_, ceil, ceilf)
FUNCTION(trunc_, trunc, truncf) FUNCTION(round_, nearbyint, nearbyintf)
static inline double pow_(double x, double y) { return ::pow(x, y); }
static inline float pow_(float x, float y) { return ::powf(x, y); }
static inline double exp_(double x) { return ::exp(x); }
static inline double tanh_(double x) { return ::tanh(x); }
static inline double erf_(double x) { return ::erf(x); }

// A polynomial in x, by Horner's rule; the coefficient of the highest power comes first
template <class T> static inline T polynomial(T, T sum) { return sum; }
template <class T, class... Rest> static inline T polynomial(T x, T sum, T next, Rest... rest) {
  return polynomial(x, sum * x + next, rest...);
}
// exp(x) = 2^n exp(r), |r| <= ln(2) / 2; 2^n in two factors, so that it can be as small as a denormal number
static inline float exp_(float x) {
  x = x > 89.0f ? 89.0f : x;
  x = x < -104.0f ? -104.0f : x;
  const float n = (x * 1.44269504088896341f + 12582912.0f) - 12582912.0f;
  const float r = (x - n * 0.693359375f) + n * 2.12194440e-4f;
  float p = polynomial(r, 1.9875691500e-4f, 1.3981999507e-3f, 8.3334519073e-3f, 4.1665795894e-2f, 1.6666665459e-1f,
                       5.0000001201e-1f);
  p = p * (r * r) + (r + 1.0f);
  const int32_t k = n == n ? static_cast<int32_t>(n) : 0, half = k >> 1;
  const int32_t a = (half + 127) << 23, b = (k - half + 127) << 23;
  float first, second;
  std::memcpy(&first, &a, 4);
  std::memcpy(&second, &b, 4);
  return p * first * second;
}
// quotients of polynomials
static inline float tanh_(float x) {
  const float c = x > 7.9053111f ? 7.9053111f : x < -7.9053111f ? -7.9053111f : x, q = c * c;
  const float p = polynomial(q, -2.76076847742355e-16f, 2.00018790482477e-13f, -8.60467152213735e-11f, 5.12229709037114e-08f,
                             1.48572235717979e-05f, 6.37261928875436e-04f, 4.89352455891786e-03f);
  const float d = polynomial(q, 1.19825839466702e-06f, 1.18534705686654e-04f, 2.26843463243900e-03f, 4.89352518554385e-03f);
  return c * p / d;
}
static inline float erf_(float x) {
  const float c = x > 4.0f ? 4.0f : x < -4.0f ? -4.0f : x, q = c * c;
  const float p = polynomial(q, -2.72614225801306e-10f, 2.77068142495902e-08f, -2.10102402082508e-06f, -5.69250639462346e-05f,
                             -7.34990630326855e-04f, -2.95459980854025e-03f, -1.60960333262415e-02f);
  const float d = polynomial(q, -1.45660718464996e-05f, -2.13374055278905e-04f, -1.68282697438203e-03f, -7.37332916720468e-03f,
                             -1.42647390514189e-02f);
  return c * p / d;
}

template <class T> static inline T sigmoid_(T x) { return T(1) / (T(1) + exp_(-x)); }
template <class T> static inline T rsqrt_(T x) { return T(1) / sqrt_(x); }
template <class T> static inline T reciprocal_(T x) { return T(1) / x; }
template <class T> static inline bool isnan_(T x) { return x != x; }
template <class T> static inline bool isinf_(T x) { return x == INFINITY || x == -INFINITY; }
template <class T> static inline T relu_(T x) { return x < T(0) ? T(0) : x; }
template <class T> static inline T abs_(T x) { return x < T(0) ? T(-x) : x; }
static inline float abs_(float x) { return __builtin_fabsf(x); }
static inline double abs_(double x) { return __builtin_fabs(x); }
template <class T> static inline T sign_(T x) { return T((x > T(0)) - (x < T(0))); }
// the larger, or the smaller, of two numbers; NaN if one of them is NaN
template <class T> static inline T maximum_(T x, T y) { return x != x || x > y ? x : y; }
template <class T> static inline T minimum_(T x, T y) { return x != x || x < y ? x : y; }
static inline float floordiv_(float x, float y) { return floor_(x / y); }
static inline double floordiv_(double x, double y) { return floor_(x / y); }
template <class T> static inline T truncdiv_(T x, T y) { return trunc_(x / y); }
static inline double mod_(double x, double y) {
  const double r = ::fmod(x, y);
  return r != 0 && (r < 0) != (y < 0) ? r + y : r;
}
static inline float mod_(float x, float y) {
  const float r = ::fmodf(x, y);
  return r != 0 && (r < 0) != (y < 0) ? r + y : r;
}
// an index that was read from memory: if it is out of range, `bad` is set and the index is 0
static inline int64_t inside(int64_t at, int64_t size, int64_t& bad) {
  const bool out = at < 0 || at >= size;
  bad |= out;
  return out ? 0 : at;
}
"""
