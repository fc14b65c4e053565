/*
 * Elementary functions on vectors of floats, each within 4 ulp of the exact value where the
 * processor has a fused multiply-add, and without branches. Infinities and NaN behave as in C.
 *
 * exp, log, tanh, sin and cos follow S. Moshier's Cephes library (single precision); erf is N.
 * Juffa's pair of minimax polynomials.
 */
#ifndef TENON_CPU_VECTOR_MATH_H_
#define TENON_CPU_VECTOR_MATH_H_

#include <math.h>

#include "vector.h"

INLINE vint_t visplat(int32_t x) {
  return x - (vint_t){0};
}
INLINE vfloat_t vabs(vfloat_t x) {
  return (vfloat_t)((vint_t)x & visplat(INT32_MAX));
}
INLINE vfloat_t vcopysign(vfloat_t magnitude, vfloat_t sign) {
  const vint_t mask = visplat(INT32_MIN);
  return (vfloat_t)(((vint_t)magnitude & ~mask) | ((vint_t)sign & mask));
}
INLINE vfloat_t vtofloat(vint_t x) {
  return __builtin_convertvector(x, vfloat_t);
}

INLINE vfloat_t vsqrt(vfloat_t x) {
#if TENON_VECTOR_BYTES == 64 && defined(__AVX512F__)
  return (vfloat_t)_mm512_sqrt_ps((__m512)x);
#elif TENON_VECTOR_BYTES == 32 && defined(__AVX__)
  return (vfloat_t)_mm256_sqrt_ps((__m256)x);
#elif TENON_VECTOR_BYTES == 16 && defined(__SSE2__)
  return (vfloat_t)_mm_sqrt_ps((__m128)x);
#else
  vfloat_t y;
  UNROLL for (int i = 0; i < VECTOR_FLOATS; i++) {
    y[i] = sqrtf(x[i]);
  }
  return y;
#endif
}

/* Nearest, halves to even. From 2^23 on every float is whole. */
INLINE vfloat_t vround(vfloat_t x) {
#if TENON_VECTOR_BYTES == 64 && defined(__AVX512F__)
  return (vfloat_t)_mm512_roundscale_ps((__m512)x, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
#elif TENON_VECTOR_BYTES == 32 && defined(__AVX__)
  return (vfloat_t)_mm256_round_ps((__m256)x, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
#else
  const vfloat_t magic = vsplat(8388608.0F);
  const vfloat_t size = vabs(x);
  const vfloat_t rounded = vcopysign((size + magic) - magic, x);
  return vselect(size < magic, rounded, x);
#endif
}
INLINE vfloat_t vfloor(vfloat_t x) {
  const vfloat_t y = vround(x);
  return vcopysign(y - vselect(y > x, vsplat(1.0F), vsplat(0.0F)), x);
}
INLINE vfloat_t vceil(vfloat_t x) {
  const vfloat_t y = vround(x);
  return vcopysign(y + vselect(y < x, vsplat(1.0F), vsplat(0.0F)), x);
}
INLINE vfloat_t vtrunc(vfloat_t x) {
  return vcopysign(vfloor(vabs(x)), x);
}

/* 2^n for n in [-126, 127]. */
INLINE vfloat_t vpower_of_2(vint_t n) {
  return (vfloat_t)((n + 127) << 23);
}

/* e^x: x = n ln 2 + r, a polynomial for e^r, and 2^n in two factors, so that denormal results are
 * right. */
INLINE vfloat_t vexp(vfloat_t x) {
  x = vmin(vsplat(90.0F), vmax(vsplat(-105.0F), x));
  const vfloat_t magic = vsplat(12582912.0F); /* 1.5 * 2^23: adding it rounds to an integer */
  const vfloat_t shifted = vfma(x, vsplat(1.44269504F), magic);
  const vfloat_t n = shifted - magic;
  vfloat_t r = vfma(n, vsplat(-0.693359375F), x);
  r = vfma(n, vsplat(2.12194440e-4F), r);
  vfloat_t p = vsplat(1.9875691500e-4F);
  p = vfma(p, r, vsplat(1.3981999507e-3F));
  p = vfma(p, r, vsplat(8.3334519073e-3F));
  p = vfma(p, r, vsplat(4.1665795894e-2F));
  p = vfma(p, r, vsplat(1.6666665459e-1F));
  p = vfma(p, r, vsplat(5.0000001201e-1F));
  p = vfma(p, r * r, r) + vsplat(1.0F);
  const vint_t exponent = (vint_t)shifted - (vint_t)magic;
  const vint_t half = exponent >> 1;
  return p * vpower_of_2(half) * vpower_of_2(exponent - half);
}

/* ln x: x = 2^e m with m in [sqrt(1/2), sqrt(2)), and a polynomial for ln m. */
INLINE vfloat_t vlog(vfloat_t x) {
  const vint_t denormal = x < vsplat(1.17549435e-38F);
  const vfloat_t scaled = vselect(denormal, x * vsplat(8388608.0F), x);
  const vint_t bits = (vint_t)scaled;
  vint_t exponent = ((bits >> 23) & 255) - 126 - (denormal & 23);
  vfloat_t m = (vfloat_t)((bits & 0x007FFFFF) | 0x3F000000);
  const vint_t low = m < vsplat(0.707106781F);
  exponent += low; /* -1 where low */
  m = m + vselect(low, m, vsplat(0.0F)) - vsplat(1.0F);
  const vfloat_t e = vtofloat(exponent);
  vfloat_t p = vsplat(7.0376836292e-2F);
  p = vfma(p, m, vsplat(-1.1514610310e-1F));
  p = vfma(p, m, vsplat(1.1676998740e-1F));
  p = vfma(p, m, vsplat(-1.2420140846e-1F));
  p = vfma(p, m, vsplat(1.4249322787e-1F));
  p = vfma(p, m, vsplat(-1.6668057665e-1F));
  p = vfma(p, m, vsplat(2.0000714765e-1F));
  p = vfma(p, m, vsplat(-2.4999993993e-1F));
  p = vfma(p, m, vsplat(3.3333331174e-1F));
  const vfloat_t square = m * m;
  vfloat_t y = p * m * square;
  y = vfma(e, vsplat(-2.12194440e-4F), y);
  y = vfma(square, vsplat(-0.5F), y);
  y = vfma(e, vsplat(0.693359375F), m + y);
  y = vselect(x == vsplat(INFINITY), x, y);
  y = vselect(x == vsplat(0.0F), vsplat(-INFINITY), y);
  y = vselect(x < vsplat(0.0F), vsplat(NAN), y);
  /* NaN is not itself. NOLINTNEXTLINE(misc-redundant-expression) */
  return vselect(x == x, y, x);
}

/* 1 / (1 + e^-x), as e^x / (1 + e^x) where x < 0: small results keep their digits. */
INLINE vfloat_t vsigmoid(vfloat_t x) {
  const vfloat_t one = vsplat(1.0F);
  const vfloat_t e = vexp(-vabs(x));
  return vselect(x < vsplat(0.0F), e, one) / (one + e);
}

/* ln(1 + e^x) = max(x, 0) + ln(1 + u), u = e^-|x|; ln(1 + u) by Kahan's correction of ln(w), w = 1
 * + u. */
INLINE vfloat_t vsoftplus(vfloat_t x) {
  const vfloat_t one = vsplat(1.0F);
  const vfloat_t u = vexp(-vabs(x));
  const vfloat_t w = one + u;
  const vfloat_t rest = vselect(w == one, u, vlog(w) * (u / (w - one)));
  return vmax(vsplat(0.0F), x) + rest;
}

INLINE vfloat_t vtanh(vfloat_t x) {
  const vfloat_t size = vabs(x);
  const vfloat_t z = x * x;
  vfloat_t p = vsplat(-5.70498872745e-3F);
  p = vfma(p, z, vsplat(2.06390887954e-2F));
  p = vfma(p, z, vsplat(-5.37397155531e-2F));
  p = vfma(p, z, vsplat(1.33314422036e-1F));
  p = vfma(p, z, vsplat(-3.33332819422e-1F));
  const vfloat_t small = vfma(p * z, x, x);
  const vfloat_t e = vexp(size + size);
  const vfloat_t large = vsplat(1.0F) - vsplat(2.0F) / (e + vsplat(1.0F));
  return vselect(size < vsplat(0.625F), small, vcopysign(large, x));
}

INLINE vfloat_t verf(vfloat_t x) {
  const vfloat_t t = vabs(x);
  const vfloat_t s = x * x;
  vfloat_t r = vfma(vsplat(-1.72853470e-5F), t, vsplat(3.83197126e-4F));
  const vfloat_t u = vfma(vsplat(-3.88396438e-3F), t, vsplat(2.42546219e-2F));
  r = vfma(r, s, u);
  r = vfma(r, t, vsplat(-1.06777877e-1F));
  r = vfma(r, t, vsplat(-6.34846687e-1F));
  r = vfma(r, t, vsplat(-1.28717512e-1F));
  r = vfma(r, t, -t);
  /* Beyond 4 the polynomial is not defined, and erf is 1. */
  r = vselect(t > vsplat(4.0F), vsplat(-100.0F), r);
  const vfloat_t large = vcopysign(vsplat(1.0F) - vexp(r), x);
  vfloat_t p = vsplat(-5.96761703e-4F);
  p = vfma(p, s, vsplat(4.99119423e-3F));
  p = vfma(p, s, vsplat(-2.67681349e-2F));
  p = vfma(p, s, vsplat(1.12819925e-1F));
  p = vfma(p, s, vsplat(-3.76125336e-1F));
  p = vfma(p, s, vsplat(1.28379166e-1F));
  const vfloat_t small = vfma(p, x, x);
  return vselect(t > vsplat(0.927734375F), large, small);
}

/* The octant of |x| and what is left of it: |x| = j pi/4 + *rest. Good to |x| = 8192. */
INLINE vint_t voctant(vfloat_t size, vfloat_t* rest) {
  vint_t j = __builtin_convertvector(size * vsplat(1.27323954474F), vint_t);
  j = (j + 1) & ~1;
  const vfloat_t y = vtofloat(j);
  vfloat_t r = vfma(y, vsplat(-0.78515625F), size);
  r = vfma(y, vsplat(-2.4187564849853515625e-4F), r);
  *rest = vfma(y, vsplat(-3.77489497744594108e-8F), r);
  return j;
}
INLINE vfloat_t vsin_polynomial(vfloat_t r) {
  const vfloat_t z = r * r;
  vfloat_t p = vsplat(-1.9515295891e-4F);
  p = vfma(p, z, vsplat(8.3321608736e-3F));
  p = vfma(p, z, vsplat(-1.6666654611e-1F));
  return vfma(p * z, r, r);
}
INLINE vfloat_t vcos_polynomial(vfloat_t r) {
  const vfloat_t z = r * r;
  vfloat_t p = vsplat(2.443315711809948e-5F);
  p = vfma(p, z, vsplat(-1.388731625493765e-3F));
  p = vfma(p, z, vsplat(4.166664568298827e-2F));
  return vfma(p * z, z, vfma(z, vsplat(-0.5F), vsplat(1.0F)));
}
/* For |x| <= TENON_CPU_TRIGONOMETRIC_LIMIT alone; the caller takes the library's function beyond.
 */
#define TENON_CPU_TRIGONOMETRIC_LIMIT 1024.0F
INLINE vfloat_t vsin(vfloat_t x) {
  vfloat_t r;
  const vint_t j = voctant(vabs(x), &r);
  const vfloat_t y = vselect((j & 2) != 0, vcos_polynomial(r), vsin_polynomial(r));
  return (vfloat_t)((vint_t)y ^ ((j & 4) << 29) ^ ((vint_t)x & visplat(INT32_MIN)));
}
INLINE vfloat_t vcos(vfloat_t x) {
  vfloat_t r;
  const vint_t j = voctant(vabs(x), &r);
  const vfloat_t y = vselect((j & 2) != 0, vsin_polynomial(r), vcos_polynomial(r));
  return (vfloat_t)((vint_t)y ^ (((j + 2) & 4) << 29));
}

#endif
