/*
 * Vectors of floats and integers of one width, chosen by the file that includes this: it defines
 * TENON_VECTOR_BYTES (16, 32 or 64) and TENON_ISA, the suffix of everything it makes visible.
 * Arithmetic is GCC's vector extension; only what that cannot say is an intrinsic. 64 bytes compile
 * without AVX-512 too, in halves, so that the widest code can be tested on any machine.
 */
#ifndef TENON_CPU_VECTOR_H_
#define TENON_CPU_VECTOR_H_

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#if defined(__SSE2__)
#include <immintrin.h>
#endif

#if !defined(TENON_VECTOR_BYTES) || !defined(TENON_ISA)
#error "the including file sets TENON_VECTOR_BYTES and TENON_ISA"
#endif

#define TENON_JOIN_(a, b) a##_##b
#define TENON_JOIN(a, b) TENON_JOIN_(a, b)
/* ISA(tenon__cpu_x) is tenon__cpu_x_avx2 and so on. */
#define ISA(name) TENON_JOIN(name, TENON_ISA)

#define INLINE static inline __attribute__((always_inline, unused))
#if defined(__clang__)
#define UNROLL _Pragma("clang loop unroll(full)")
#else
#define UNROLL _Pragma("GCC unroll 32")
#endif

enum { VECTOR_FLOATS = TENON_VECTOR_BYTES / 4, VECTOR_DOUBLES = TENON_VECTOR_BYTES / 8 };

typedef float vfloat_t __attribute__((vector_size(TENON_VECTOR_BYTES)));
typedef int32_t vint_t __attribute__((vector_size(TENON_VECTOR_BYTES)));
typedef uint32_t vuint_t __attribute__((vector_size(TENON_VECTOR_BYTES)));
typedef float vfloat_memory_t
    __attribute__((vector_size(TENON_VECTOR_BYTES), aligned(4), may_alias));

INLINE vfloat_t vload(const float* p) {
  return *(const vfloat_memory_t*)p;
}
INLINE void vstore(float* p, vfloat_t v) {
  *(vfloat_memory_t*)p = v;
}
INLINE vfloat_t vsplat(float x) {
  return x - (vfloat_t){0};
}

/* mask ? a : b, where a lane of mask is all ones or all zeros. */
INLINE vfloat_t vselect(vint_t mask, vfloat_t a, vfloat_t b) {
  return (vfloat_t)(((vint_t)a & mask) | ((vint_t)b & ~mask));
}

/* a * b + c, rounded once where the processor can. */
INLINE vfloat_t vfma(vfloat_t a, vfloat_t b, vfloat_t c) {
#if TENON_VECTOR_BYTES == 64 && defined(__AVX512F__)
  return (vfloat_t)_mm512_fmadd_ps((__m512)a, (__m512)b, (__m512)c);
#elif TENON_VECTOR_BYTES == 32 && defined(__FMA__)
  return (vfloat_t)_mm256_fmadd_ps((__m256)a, (__m256)b, (__m256)c);
#else
  return a * b + c;
#endif
}

/* NaN where b is NaN: vmax(low, x) keeps what is wrong with x. */
INLINE vfloat_t vmax(vfloat_t a, vfloat_t b) {
#if TENON_VECTOR_BYTES == 64 && defined(__AVX512F__)
  return (vfloat_t)_mm512_max_ps((__m512)a, (__m512)b);
#elif TENON_VECTOR_BYTES == 32 && defined(__AVX__)
  return (vfloat_t)_mm256_max_ps((__m256)a, (__m256)b);
#elif TENON_VECTOR_BYTES == 16 && defined(__SSE2__)
  return (vfloat_t)_mm_max_ps((__m128)a, (__m128)b);
#else
  return vselect(a > b, a, b);
#endif
}
INLINE vfloat_t vmin(vfloat_t a, vfloat_t b) {
#if TENON_VECTOR_BYTES == 64 && defined(__AVX512F__)
  return (vfloat_t)_mm512_min_ps((__m512)a, (__m512)b);
#elif TENON_VECTOR_BYTES == 32 && defined(__AVX__)
  return (vfloat_t)_mm256_min_ps((__m256)a, (__m256)b);
#elif TENON_VECTOR_BYTES == 16 && defined(__SSE2__)
  return (vfloat_t)_mm_min_ps((__m128)a, (__m128)b);
#else
  return vselect(a < b, a, b);
#endif
}

/* The first `count` lanes, zeros behind; 0 < count < VECTOR_FLOATS. Touches no byte beyond them. */
#if TENON_VECTOR_BYTES == 32 && defined(__AVX__)
INLINE __m256i vmask_of(size_t count) {
  static const int32_t lanes[16] = {-1, -1, -1, -1, -1, -1, -1, -1};
  return _mm256_loadu_si256((const __m256i*)(lanes + 8 - count));
}
#endif
INLINE vfloat_t vload_part(const float* p, size_t count) {
#if TENON_VECTOR_BYTES == 64 && defined(__AVX512F__)
  return (vfloat_t)_mm512_maskz_loadu_ps((__mmask16)((1u << count) - 1u), p);
#elif TENON_VECTOR_BYTES == 32 && defined(__AVX__)
  return (vfloat_t)_mm256_maskload_ps(p, vmask_of(count));
#else
  vfloat_t v = {0};
  memcpy(&v, p, count * sizeof(float));
  return v;
#endif
}
INLINE void vstore_part(float* p, vfloat_t v, size_t count) {
#if TENON_VECTOR_BYTES == 64 && defined(__AVX512F__)
  _mm512_mask_storeu_ps(p, (__mmask16)((1u << count) - 1u), (__m512)v);
#elif TENON_VECTOR_BYTES == 32 && defined(__AVX__)
  _mm256_maskstore_ps(p, vmask_of(count), (__m256)v);
#else
  memcpy(p, &v, count * sizeof(float));
#endif
}

INLINE float vsum(vfloat_t v) {
  typedef float quarter_t __attribute__((vector_size(16)));
  quarter_t parts[VECTOR_FLOATS / 4];
  memcpy(parts, &v, sizeof(v));
  quarter_t sum = parts[0];
  UNROLL for (int k = 1; k < VECTOR_FLOATS / 4; k++) {
    sum += parts[k];
  }
  return (sum[0] + sum[2]) + (sum[1] + sum[3]);
}

#endif
