/*
 * What stands in front of every generated expression: elements of each type as values and back, and
 * the functions of the opcodes. Compiled at run time, without any header.
 *
 * Values: floats up to 32 bits are `float`, f64 is `double`; integers up to 32 bits are `int` or
 * `unsigned`, extended, the others `i64` and `u64`. wrap_X makes a result of integers one of type X
 * again. Overloads of one name serve all types.
 */
typedef signed char s8;
typedef unsigned char u8;
typedef unsigned short u16;
typedef long long i64;
typedef unsigned long long u64;

#define INLINE static __device__ __forceinline__
/* What is long is called, not repeated in each element. */
#define CALLED static __device__ __noinline__

/* ---- Elements in memory ---- */

typedef u8 stored_bool;
typedef s8 stored_i8;
typedef short stored_i16;
typedef int stored_i32;
typedef i64 stored_i64;
typedef u8 stored_u8;
typedef u16 stored_u16;
typedef unsigned stored_u32;
typedef u64 stored_u64;
typedef u16 stored_f16;
typedef u16 stored_bf16;
typedef float stored_f32;
typedef double stored_f64;
typedef u8 stored_f8e4m3fn;
typedef u8 stored_f8e4m3fnuz;
typedef u8 stored_f8e5m2;
typedef u8 stored_f8e5m2fnuz;
typedef u8 stored_f8e8m0;
/* Below a byte: the bits of one element, which whoever reads or writes memory takes apart. */
typedef u8 stored_i4;
typedef u8 stored_u4;
typedef u8 stored_i2;
typedef u8 stored_u2;
typedef u8 stored_f4e2m1;

INLINE bool value_bool(u8 x) { return x != 0; }
INLINE int value_i8(s8 x) { return x; }
INLINE int value_i16(short x) { return x; }
INLINE int value_i32(int x) { return x; }
INLINE i64 value_i64(i64 x) { return x; }
INLINE unsigned value_u8(u8 x) { return x; }
INLINE unsigned value_u16(u16 x) { return x; }
INLINE unsigned value_u32(unsigned x) { return x; }
INLINE u64 value_u64(u64 x) { return x; }
INLINE float value_f32(float x) { return x; }
INLINE double value_f64(double x) { return x; }
INLINE float value_f16(u16 x) {
  float y;
  asm("cvt.f32.f16 %0, %1;" : "=f"(y) : "h"(x));
  return y;
}
INLINE float value_bf16(u16 x) { return __uint_as_float((unsigned)x << 16); }

/* A float of eight bits: M bits of mantissa. FINITE 1: no infinity, NaN is all ones; 2: NaN is what
 * would be the negative zero. */
template <int M, int BIAS, int FINITE>
INLINE float decode8(unsigned x) {
  const unsigned magnitude = x & 127;
  const unsigned exponent = magnitude >> M;
  const unsigned mantissa = magnitude & ((1u << M) - 1);
  const float sign = x >> 7 ? -1.0f : 1.0f;
  if (FINITE == 2 ? x == 128 : FINITE == 1 ? magnitude == 127 : magnitude > (31u << M)) {
    return __uint_as_float(0x7FC00000u);
  }
  if (FINITE == 0 && magnitude == (31u << M)) {
    return sign * __uint_as_float(0x7F800000u);
  }
  const int power = (exponent == 0 ? 1 : (int)exponent) - BIAS - M;
  return sign * (float)(mantissa | (exponent == 0 ? 0u : 1u << M)) *
         __uint_as_float((unsigned)(power + 127) << 23);
}
/* The nearest, halves to even; what is too large becomes the largest number. */
template <int M, int BIAS, int FINITE>
INLINE u8 encode8(float x, float largest) {
  const unsigned sign = FINITE != 2 || x != 0.0f ? __float_as_uint(x) >> 31 << 7 : 0;
  if (x != x) {
    return (u8)(FINITE == 2 ? 128 : FINITE == 1 ? sign | 127 : sign | (31u << M) | 2);
  }
  const float magnitude = fminf(fabsf(x), largest);
  const int least = 1 - BIAS;
  int power = (int)(__float_as_uint(magnitude) >> 23) - 127;
  power = power < least ? least : power;
  const float steps =
      rintf(magnitude * __uint_as_float((unsigned)(M - power + 127) << 23));
  const unsigned bits = (unsigned)steps + ((unsigned)(power - least) << M);
  return (u8)(bits == 0 && FINITE == 2 ? 0 : sign | bits);
}
INLINE float value_f8e4m3fn(u8 x) { return decode8<3, 7, 1>(x); }
INLINE float value_f8e4m3fnuz(u8 x) { return decode8<3, 8, 2>(x); }
INLINE float value_f8e5m2(u8 x) { return decode8<2, 15, 0>(x); }
INLINE float value_f8e5m2fnuz(u8 x) { return decode8<2, 16, 2>(x); }

/* A power of two; 255 is NaN. */
INLINE float value_f8e8m0(u8 x) {
  return __uint_as_float(x == 255 ? 0x7FC00000u : x == 0 ? 0x00400000u : (unsigned)x << 23);
}
INLINE int value_i4(u8 x) { return (int)(x ^ 8u) - 8; }
INLINE unsigned value_u4(u8 x) { return x; }
INLINE int value_i2(u8 x) { return (int)(x ^ 2u) - 2; }
INLINE unsigned value_u2(u8 x) { return x; }
INLINE float value_f4e2m1(u8 x) {
  const unsigned power = x >> 1 & 3;
  const float one = (float)(x & 1) * 0.5f;
  const float magnitude = power == 0 ? one : (1.0f + one) * (float)(1u << power >> 1);
  return x >> 3 ? -magnitude : magnitude;
}

/* ---- Conversions: floats to integers truncate and saturate, NaN is 0; integers wrap ---- */

template <class T>
INLINE bool to_bool(T x) { return x != (T)0; }
INLINE float to_f32(bool x) { return x ? 1.0f : 0.0f; }
INLINE float to_f32(int x) { return (float)x; }
INLINE float to_f32(unsigned x) { return (float)x; }
INLINE float to_f32(i64 x) { return (float)x; }
INLINE float to_f32(u64 x) { return (float)x; }
INLINE float to_f32(float x) { return x; }
INLINE float to_f32(double x) { return (float)x; }
/* Narrower floats are computed with as f32. */
#define to_f16 to_f32
#define to_bf16 to_f32
#define to_f8e4m3fn to_f32
#define to_f8e4m3fnuz to_f32
#define to_f8e5m2 to_f32
#define to_f8e5m2fnuz to_f32
#define to_f8e8m0 to_f32
#define to_f4e2m1 to_f32
template <class T>
INLINE double to_f64(T x) { return (double)x; }

INLINE i64 saturated(double x, double least, double most) {
  return x != x ? 0 : (i64)fmin(fmax(trunc(x), least), most);
}
#define INTEGERS(name, type, wrapped, least, most)                                        \
  INLINE type to_##name(float x) { return (type)saturated((double)x, least, most); }      \
  INLINE type to_##name(double x) { return (type)saturated(x, least, most); }             \
  template <class T>                                                                      \
  INLINE type to_##name(T x) { return (type)(wrapped)x; }                                 \
  template <class T>                                                                      \
  INLINE type wrap_##name(T x) { return (type)(wrapped)x; }
INTEGERS(i8, int, s8, -128.0, 127.0)
INTEGERS(i16, int, short, -32768.0, 32767.0)
INTEGERS(u8, unsigned, u8, 0.0, 255.0)
INTEGERS(u16, unsigned, u16, 0.0, 65535.0)
INTEGERS(u32, unsigned, unsigned, 0.0, 4294967295.0)
#define PACKED(name, type, mask, sign, least, most)                                       \
  INLINE type to_##name(float x) { return (type)saturated((double)x, least, most); }      \
  INLINE type to_##name(double x) { return (type)saturated(x, least, most); }             \
  template <class T>                                                                      \
  INLINE type wrap_##name(T x) { return (type)((((unsigned)x & mask) ^ sign) - sign); }   \
  template <class T>                                                                      \
  INLINE type to_##name(T x) { return wrap_##name(x); }                                   \
  template <class T>                                                                      \
  INLINE u8 store_##name(T x) { return (u8)((unsigned)to_##name(x) & mask); }
PACKED(i4, int, 15u, 8u, -8.0, 7.0)
PACKED(u4, unsigned, 15u, 0u, 0.0, 15.0)
PACKED(i2, int, 3u, 2u, -2.0, 1.0)
PACKED(u2, unsigned, 3u, 0u, 0.0, 3.0)
template <class T>
INLINE int to_i32(T x) { return (int)x; }
INLINE int to_i32(float x) { return __float2int_rz(x); }
INLINE int to_i32(double x) { return x != x ? 0 : __double2int_rz(x); }
template <class T>
INLINE i64 to_i64(T x) { return (i64)x; }
INLINE i64 to_i64(double x) { return x != x ? 0 : __double2ll_rz(x); }
INLINE i64 to_i64(float x) { return to_i64((double)x); }
template <class T>
INLINE u64 to_u64(T x) { return (u64)(i64)x; }
INLINE u64 to_u64(u64 x) { return x; }
INLINE u64 to_u64(double x) { return x != x || x <= 0.0 ? 0 : __double2ull_rz(x); }
INLINE u64 to_u64(float x) { return to_u64((double)x); }

/* A value of any type as an element. */
template <class T>
INLINE u8 store_bool(T x) { return to_bool(x) ? 1 : 0; }
template <class T>
INLINE s8 store_i8(T x) { return (s8)to_i8(x); }
template <class T>
INLINE short store_i16(T x) { return (short)to_i16(x); }
template <class T>
INLINE int store_i32(T x) { return to_i32(x); }
template <class T>
INLINE i64 store_i64(T x) { return to_i64(x); }
template <class T>
INLINE u8 store_u8(T x) { return (u8)to_u8(x); }
template <class T>
INLINE u16 store_u16(T x) { return (u16)to_u16(x); }
template <class T>
INLINE unsigned store_u32(T x) { return to_u32(x); }
template <class T>
INLINE u64 store_u64(T x) { return to_u64(x); }
template <class T>
INLINE float store_f32(T x) { return to_f32(x); }
template <class T>
INLINE double store_f64(T x) { return to_f64(x); }
template <class T>
INLINE u16 store_f16(T x) {
  u16 y;
  asm("cvt.rn.f16.f32 %0, %1;" : "=h"(y) : "f"(to_f32(x)));
  return y;
}
template <class T>
INLINE u16 store_bf16(T x) {
  const unsigned bits = __float_as_uint(to_f32(x));
  const unsigned rounded = bits + 0x7FFFu + (bits >> 16 & 1);
  return (u16)((bits & 0x7FFFFFFFu) > 0x7F800000u ? bits >> 16 | 0x40u : rounded >> 16);
}
template <class T>
INLINE u8 store_f8e4m3fn(T x) { return encode8<3, 7, 1>(to_f32(x), 448.0f); }
template <class T>
INLINE u8 store_f8e4m3fnuz(T x) { return encode8<3, 8, 2>(to_f32(x), 240.0f); }
template <class T>
INLINE u8 store_f8e5m2(T x) { return encode8<2, 15, 0>(to_f32(x), 57344.0f); }
template <class T>
INLINE u8 store_f8e5m2fnuz(T x) { return encode8<2, 16, 2>(to_f32(x), 57344.0f); }

/* Rounds to the nearest power, saturates. */
template <class T>
INLINE u8 store_f8e8m0(T x) {
  const double value = to_f64(x);
  const u64 bits = (u64)__double_as_longlong(value);
  const int power = (int)(bits >> 52 & 2047) - 1023 + (int)(bits >> 51 & 1);
  return (u8)(value != value || value < 0.0      ? 255
              : value == 0.0 || power < -127 ? 0
              : power > 127                  ? 254
                                             : power + 127);
}
/* Halves to even; has neither infinity nor NaN. */
template <class T>
INLINE u8 store_f4e2m1(T x) {
  const float value = to_f32(x);
  const float magnitude = fminf(fabsf(value), 6.0f);
  const int power = magnitude < 2.0f ? 0 : magnitude < 4.0f ? 1 : 2;
  const float steps = rintf(magnitude * (power == 0 ? 2.0f : power == 1 ? 1.0f : 0.5f));
  return (u8)(value != value ? 0u
                             : (__float_as_uint(value) >> 31 << 3) |
                                   ((unsigned)steps + ((unsigned)power << 1)));
}

/* ---- Opcodes of all types ---- */

INLINE float op_add(float a, float b) { return a + b; }
INLINE double op_add(double a, double b) { return a + b; }
INLINE int op_add(int a, int b) { return (int)((unsigned)a + (unsigned)b); }
INLINE unsigned op_add(unsigned a, unsigned b) { return a + b; }
INLINE i64 op_add(i64 a, i64 b) { return (i64)((u64)a + (u64)b); }
INLINE u64 op_add(u64 a, u64 b) { return a + b; }
INLINE bool op_add(bool a, bool b) { return a || b; }
INLINE float op_sub(float a, float b) { return a - b; }
INLINE double op_sub(double a, double b) { return a - b; }
INLINE int op_sub(int a, int b) { return (int)((unsigned)a - (unsigned)b); }
INLINE unsigned op_sub(unsigned a, unsigned b) { return a - b; }
INLINE i64 op_sub(i64 a, i64 b) { return (i64)((u64)a - (u64)b); }
INLINE u64 op_sub(u64 a, u64 b) { return a - b; }
INLINE bool op_sub(bool a, bool b) { return a != b; }
INLINE float op_mul(float a, float b) { return a * b; }
INLINE double op_mul(double a, double b) { return a * b; }
INLINE int op_mul(int a, int b) { return (int)((unsigned)a * (unsigned)b); }
INLINE unsigned op_mul(unsigned a, unsigned b) { return a * b; }
INLINE i64 op_mul(i64 a, i64 b) { return (i64)((u64)a * (u64)b); }
INLINE u64 op_mul(u64 a, u64 b) { return a * b; }
INLINE bool op_mul(bool a, bool b) { return a && b; }

template <class T>
INLINE T op_min(T a, T b) { return a != a ? a : b != b ? b : a <= b ? a : b; }
template <class T>
INLINE T op_max(T a, T b) { return a != a ? a : b != b ? b : a >= b ? a : b; }
template <class T>
INLINE bool op_eq(T a, T b) { return a == b; }
template <class T>
INLINE bool op_ne(T a, T b) { return a != b; }
template <class T>
INLINE bool op_lt(T a, T b) { return a < b; }
template <class T>
INLINE bool op_le(T a, T b) { return a <= b; }
template <class T>
INLINE bool op_gt(T a, T b) { return a > b; }
template <class T>
INLINE bool op_ge(T a, T b) { return a >= b; }
template <class T>
INLINE bool op_is_nan(T a) { return a != a; }
template <class T>
INLINE bool op_is_inf(T) { return false; }
INLINE bool op_is_inf(float a) { return fabsf(a) == __uint_as_float(0x7F800000u); }
INLINE bool op_is_inf(double a) { return fabs(a) == __longlong_as_double(0x7FF0000000000000ll); }
template <class T>
INLINE T op_select(bool a, T b, T c) { return a ? b : c; }

/* ---- Opcodes of integers ---- */

template <class T>
INLINE bool is_minus_one(T b) { return (T)-1 < (T)0 && b == (T)-1; }
template <class T>
INLINE T op_div(T a, T b) { return b == 0 ? 0 : is_minus_one(b) ? op_sub((T)0, a) : a / b; }
template <class T>
INLINE T op_fmod(T a, T b) { return b == 0 || is_minus_one(b) ? 0 : a % b; }
template <class T>
INLINE T op_mod(T a, T b) {
  const T rest = op_fmod(a, b);
  return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
}
template <class T>
INLINE T op_floor_div(T a, T b) {
  const T rest = op_fmod(a, b);
  return rest != 0 && (rest < 0) != (b < 0) ? op_div(a, b) - 1 : op_div(a, b);
}
INLINE u64 power(u64 base, u64 exponent) {
  u64 result = 1;
  for (; exponent != 0; exponent >>= 1) {
    result *= (exponent & 1) != 0 ? base : 1;
    base *= base;
  }
  return result;
}
template <class T>
INLINE T op_pow(T a, T b) {
  if (b < 0) {
    return a == 1 || (is_minus_one(a) && b % 2 == 0) ? 1 : is_minus_one(a) ? (T)-1 : 0;
  }
  return (T)power((u64)(i64)a, (u64)b);
}
template <class T>
INLINE T op_neg(T a) { return op_sub((T)0, a); }
template <class T>
INLINE T op_abs(T a) { return a < 0 ? op_sub((T)0, a) : a; }
template <class T>
INLINE T op_sign(T a) { return (T)((a > 0) - (a < 0)); }
template <class T>
INLINE T op_recip(T a) { return op_div((T)1, a); }
template <class T>
INLINE T op_floor(T a) { return a; }
template <class T>
INLINE T op_ceil(T a) { return a; }
template <class T>
INLINE T op_round(T a) { return a; }
template <class T>
INLINE T op_trunc(T a) { return a; }
template <class T>
INLINE T op_and(T a, T b) { return a & b; }
template <class T>
INLINE T op_or(T a, T b) { return a | b; }
template <class T>
INLINE T op_xor(T a, T b) { return a ^ b; }
template <class T>
INLINE T op_not(T a) { return ~a; }
INLINE bool op_not(bool a) { return !a; }
template <class T>
INLINE T op_shl(T a, T b, int bits) {
  return b < 0 || b >= (T)bits ? 0 : (T)((u64)(i64)a << (int)b);
}
template <class T>
INLINE T op_shr(T a, T b, int bits) {
  return b < 0 || b >= (T)bits ? (a < 0 ? (T)-1 : 0) : a >> (int)b;
}

/* ---- Opcodes of floats ---- */

#define FLOATS(name, single, wide)               \
  INLINE float name(float a) { return single; }  \
  INLINE double name(double a) { return wide; }
#define CALLED_FLOATS(name, single, wide)        \
  CALLED float name(float a) { return single; }  \
  CALLED double name(double a) { return wide; }
FLOATS(op_neg, -a, -a)
FLOATS(op_abs, fabsf(a), fabs(a))
FLOATS(op_sign, a != a ? a : (float)((a > 0.0f) - (a < 0.0f)),
       a != a ? a : (double)((a > 0.0) - (a < 0.0)))
FLOATS(op_floor, floorf(a), floor(a))
FLOATS(op_ceil, ceilf(a), ceil(a))
FLOATS(op_round, rintf(a), rint(a))
FLOATS(op_trunc, truncf(a), trunc(a))
FLOATS(op_sqrt, sqrtf(a), sqrt(a))
FLOATS(op_rsqrt, rsqrtf(a), 1.0 / sqrt(a))
FLOATS(op_recip, 1.0f / a, 1.0 / a)
FLOATS(op_exp, expf(a), exp(a))
FLOATS(op_tanh, tanhf(a), tanh(a))
FLOATS(op_log, logf(a), log(a))
CALLED_FLOATS(op_expm1, expm1f(a), expm1(a))
CALLED_FLOATS(op_log1p, log1pf(a), log1p(a))
CALLED_FLOATS(op_erf, erff(a), erf(a))
CALLED_FLOATS(op_sin, sinf(a), sin(a))
CALLED_FLOATS(op_cos, cosf(a), cos(a))
CALLED_FLOATS(op_tan, tanf(a), tan(a))
CALLED_FLOATS(op_asin, asinf(a), asin(a))
CALLED_FLOATS(op_acos, acosf(a), acos(a))
CALLED_FLOATS(op_atan, atanf(a), atan(a))
CALLED_FLOATS(op_sinh, sinhf(a), sinh(a))
CALLED_FLOATS(op_cosh, coshf(a), cosh(a))
CALLED_FLOATS(op_asinh, asinhf(a), asinh(a))
CALLED_FLOATS(op_acosh, acoshf(a), acosh(a))
CALLED_FLOATS(op_atanh, atanhf(a), atanh(a))
/* e^-|a| does not overflow; below 0 it stands above the line. The line is from 1 to 2, where its
 * inverse is near enough after one step, and needs none of a division's care. */
INLINE float op_sigmoid(float a) {
  const float e = expf(-fabsf(a));
  const float line = 1.0f + e;
  const float near = __fdividef(1.0f, line);
  const float inverse = __fmaf_rn(near, __fmaf_rn(-line, near, 1.0f), near);
  return (a >= 0.0f ? 1.0f : e) * inverse;
}
INLINE double op_sigmoid(double a) {
  const double e = exp(-fabs(a));
  return (a >= 0.0 ? 1.0 : e) / (1.0 + e);
}
/* The near functions serve programs whose results are rounded to 16 bits. Their relative error is
 * about 2^-19, and they take a quarter of the instructions of the exact functions. If e^-a
 * overflows, op_near_sigmoid returns 0. */
#ifndef STAND_IN
INLINE float near_exp2(float a) {
  float power;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(power) : "f"(a));
  return power;
}
INLINE float near_reciprocal(float a) {
  float inverse;
  asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(inverse) : "f"(a));
  return inverse;
}
#endif
INLINE float op_near_sigmoid(float a) {
  return near_reciprocal(1.0f + near_exp2(-1.44269504f * a));
}
/* Near 0 a series is used, because 1 - e^-2a loses most of its bits there. */
INLINE float op_near_tanh(float a) {
  const float e = near_exp2(-2.88539008f * fabsf(a));
  const float far = (1.0f - e) * near_reciprocal(1.0f + e);
  const float s = a * a;
  const float rest = __fmaf_rn(s, __fmaf_rn(s, -0.0539682540f, 0.133333333f), -0.333333333f);
  const float near = __fmaf_rn(fabsf(a) * s, rest, fabsf(a));
  return copysignf(fabsf(a) < 0.25f ? near : far, a);
}
/* Up to 0.5 the Taylor series, above it Abramowitz and Stegun, 7.1.26, with an absolute error of
 * 1.5e-7. */
INLINE float op_near_erf(float a) {
  const float x = fabsf(a);
  const float s = a * a;
  const float t = near_reciprocal(__fmaf_rn(0.3275911f, x, 1.0f));
  const float third = __fmaf_rn(t, __fmaf_rn(t, 1.061405429f, -1.453152027f), 1.421413741f);
  const float tail = t * __fmaf_rn(t, __fmaf_rn(t, third, -0.284496736f), 0.254829592f);
  const float far = __fmaf_rn(-tail, near_exp2(-1.44269504f * s), 1.0f);
  const float fourth = __fmaf_rn(s, __fmaf_rn(s, 0.00522397762f, -0.0268661706f), 0.112837917f);
  const float near = x * __fmaf_rn(s, __fmaf_rn(s, fourth, -0.376126389f), 1.12837917f);
  return copysignf(x < 0.5f ? near : far, a);
}
/* The divisor is scaled, so that its inverse neither overflows nor underflows. If all elements have
 * the same divisor, the compiler computes the inverse once. */
INLINE float op_near_div(float a, float b) {
  const float large = 18446744073709551616.0f; /* 2^64 */
  const float small = 5.42101086242752217e-20f;
  const float size = fabsf(b);
  const float scale = size > large ? small : size < small ? large : 1.0f;
  return a * near_reciprocal(b * scale) * scale;
}
/* log(1 + e) = 2 atanh(e / (2 + e)). The argument is at most 1/3, so a short series gives atanh. */
INLINE float op_near_softplus(float a) {
  const float e = near_exp2(-1.44269504f * fabsf(a));
  const float s = e * near_reciprocal(2.0f + e);
  const float q = s * s;
  const float rest = __fmaf_rn(
      q, __fmaf_rn(q, __fmaf_rn(q, __fmaf_rn(q, 0.181818182f, 0.222222222f), 0.285714286f), 0.4f),
      0.666666667f);
  return fmaxf(a, 0.0f) + s * __fmaf_rn(q, rest, 2.0f);
}

CALLED_FLOATS(op_softplus, (a != a ? a : fmaxf(a, 0.0f)) + log1pf(expf(-fabsf(a))),
              (a != a ? a : fmax(a, 0.0)) + log1p(exp(-fabs(a))))

INLINE float op_div(float a, float b) { return a / b; }
INLINE double op_div(double a, double b) { return a / b; }
/* In double, for a quotient that is rounded up to a whole number has another floor. */
INLINE float op_floor_div(float a, float b) { return (float)floor((double)a / (double)b); }
INLINE double op_floor_div(double a, double b) { return floor(a / b); }
CALLED float op_fmod(float a, float b) { return fmodf(a, b); }
CALLED double op_fmod(double a, double b) { return fmod(a, b); }
INLINE float op_mod(float a, float b) {
  const float rest = op_fmod(a, b);
  if (rest == 0.0f) return copysignf(0.0f, b);
  return (rest < 0.0f) != (b < 0.0f) ? rest + b : rest;
}
INLINE double op_mod(double a, double b) {
  const double rest = op_fmod(a, b);
  if (rest == 0.0) return copysign(0.0, b);
  return (rest < 0.0) != (b < 0.0) ? rest + b : rest;
}
CALLED float op_pow(float a, float b) { return powf(a, b); }
CALLED double op_pow(double a, double b) { return pow(a, b); }
CALLED float op_atan2(float a, float b) { return atan2f(a, b); }
CALLED double op_atan2(double a, double b) { return atan2(a, b); }

/* ---- Random numbers: Philox4x32-10 of a key and a counter ---- */

CALLED u64 philox(u64 key, u64 counter) {
  unsigned a = (unsigned)counter;
  unsigned b = (unsigned)(counter >> 32);
  unsigned c = 0;
  unsigned d = 0;
  unsigned low = (unsigned)key;
  unsigned high = (unsigned)(key >> 32);
  for (int round = 0; round < 10; ++round) {
    const u64 x = (u64)0xD2511F53u * a;
    const u64 y = (u64)0xCD9E8D57u * c;
    a = (unsigned)(y >> 32) ^ b ^ low;
    c = (unsigned)(x >> 32) ^ d ^ high;
    b = (unsigned)y;
    d = (unsigned)x;
    low += 0x9E3779B9u;
    high += 0xBB67AE85u;
  }
  return (u64)a << 32 | b;
}
INLINE float random_f32(u64 key, u64 counter) {
  return (float)(philox(key, counter) >> 40) * 5.9604644775390625e-8f; /* 2^-24 */
}
INLINE double random_f64(u64 key, u64 counter) {
  return (double)(philox(key, counter) >> 11) * 1.1102230246251565e-16; /* 2^-53 */
}
