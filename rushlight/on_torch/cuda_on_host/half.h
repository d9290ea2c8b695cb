// half.h: __half and __nv_bfloat16. Arithmetic is that of c10::Half and c10::BFloat16: in float, then rounded to the nearest, ties to even.
// In CUDA: cuda_fp16.h, cuda_bf16.h. In PyTorch: c10/util/Half.h, c10/util/BFloat16.h.
#pragma once

namespace cuda_host {
CUDA_INLINE float half_to_float(unsigned short h) {
  const unsigned sign = (h & 0x8000u) << 16, rest = h & 0x7fffu;
  if (rest >= 0x7c00) return bits<float>(sign | 0x7f800000u | (rest & 0x3ff) << 13);  // infinity, NaN
  if (rest >= 0x0400) return bits<float>(sign | ((rest << 13) + (112u << 23)));        // the exponent's bias is 127, not 15
  const float tiny = (float)rest * 0x1p-24f;                                           // subnormal, or 0
  return sign ? -tiny : tiny;
}
CUDA_INLINE unsigned short float_to_half(float f) {
  const unsigned sign = bits<unsigned>(f) >> 16 & 0x8000u, rest = bits<unsigned>(f) & 0x7fffffffu;
  if (rest > 0x7f800000u) return (unsigned short)(sign | 0x7fff);
  if (rest >= 0x477ff000u) return (unsigned short)(sign | 0x7c00);  // 65520 and more
  if (rest < 0x38800000u) {                                         // subnormal: this sum of floats rounds at 2**-24
    return (unsigned short)(sign | (bits<unsigned>(bits<float>(rest) + 0.5f) - bits<unsigned>(0.5f)));
  }
  return (unsigned short)(sign | ((rest - (112u << 23) + 0xfff + (rest >> 13 & 1)) >> 13));
}
CUDA_INLINE unsigned short float_to_bfloat16(float f) {
  const unsigned word = bits<unsigned>(f);
  return (unsigned short)(f != f ? 0x7fff : (word + 0x7fff + (word >> 16 & 1)) >> 16);
}
CUDA_INLINE float bfloat16_to_float(unsigned short b) { return bits<float>((unsigned)b << 16); }
}  // namespace cuda_host

#define CUDA_HALF(name, encode, decode, two, from, to) \
  struct name { \
    unsigned short word; \
    name() = default; \
    name(float f) : word(cuda_host::encode(f)) {} \
    name(double f) : name((float)f) {} \
    name(int i) : name((float)i) {} \
    operator float() const { return cuda_host::decode(word); } \
    name& operator+=(name b); \
    name& operator-=(name b); \
    name& operator*=(name b); \
    name& operator/=(name b); \
  }; \
  CUDA_INLINE name operator+(name a, name b) { return name((float)a + (float)b); } \
  CUDA_INLINE name operator-(name a, name b) { return name((float)a - (float)b); } \
  CUDA_INLINE name operator*(name a, name b) { return name((float)a * (float)b); } \
  CUDA_INLINE name operator/(name a, name b) { return name((float)a / (float)b); } \
  CUDA_INLINE name operator-(name a) { return name(-(float)a); } \
  inline name& name::operator+=(name b) { return *this = *this + b; } \
  inline name& name::operator-=(name b) { return *this = *this - b; } \
  inline name& name::operator*=(name b) { return *this = *this * b; } \
  inline name& name::operator/=(name b) { return *this = *this / b; } \
  CUDA_INLINE bool operator<(name a, name b) { return (float)a < (float)b; } \
  CUDA_INLINE bool operator>(name a, name b) { return (float)a > (float)b; } \
  CUDA_INLINE bool operator<=(name a, name b) { return (float)a <= (float)b; } \
  CUDA_INLINE bool operator>=(name a, name b) { return (float)a >= (float)b; } \
  CUDA_INLINE bool operator==(name a, name b) { return (float)a == (float)b; } \
  CUDA_INLINE bool operator!=(name a, name b) { return (float)a != (float)b; } \
  struct __align__(4) two { name x, y; }; \
  CUDA_INLINE name from(float f) { return name(f); } \
  CUDA_INLINE float to(name a) { return (float)a; } \
  CUDA_INLINE name __hadd(name a, name b) { return a + b; } \
  CUDA_INLINE name __hsub(name a, name b) { return a - b; } \
  CUDA_INLINE name __hmul(name a, name b) { return a * b; } \
  CUDA_INLINE name __hdiv(name a, name b) { return a / b; } \
  CUDA_INLINE name __hneg(name a) { return -a; } \
  CUDA_INLINE name __hmax(name a, name b) { return a < b ? b : a; } \
  CUDA_INLINE name __hmin(name a, name b) { return b < a ? b : a; } \
  CUDA_INLINE name __hfma(name a, name b, name c) { return name((float)((double)(float)a * (float)b + (float)c)); } \
  CUDA_INLINE two __hadd2(two a, two b) { return {a.x + b.x, a.y + b.y}; } \
  CUDA_INLINE two __hmul2(two a, two b) { return {a.x * b.x, a.y * b.y}; }

CUDA_HALF(__half, float_to_half, half_to_float, __half2, __float2half, __half2float)
CUDA_HALF(__nv_bfloat16, float_to_bfloat16, bfloat16_to_float, __nv_bfloat162, __float2bfloat16, __bfloat162float)
typedef __half half;
typedef __half2 half2;
typedef __nv_bfloat16 nv_bfloat16;
CUDA_INLINE __half2 __floats2half2_rn(float x, float y) { return {__half(x), __half(y)}; }
CUDA_INLINE float2 __half22float2(__half2 a) { return {(float)a.x, (float)a.y}; }
CUDA_INLINE __half __float2half_rn(float f) { return __half(f); }
