/* Block functions on floats, by vectors. Included by elements_kernels.h. */
#ifndef TENON_CPU_ELEMENTS_FLOAT_H_
#define TENON_CPU_ELEMENTS_FLOAT_H_

#include "elements.h"
#include "vector_math.h"

/* A function of vectors over a block; the tail through a part of a vector. */
#define UNARY_F32(name, expression)                                      \
  static void f32_block_##name(void* out, const void* a, size_t count) { \
    float* o = out;                                                      \
    const float* p = a;                                                  \
    size_t i = 0;                                                        \
    for (; i + VECTOR_FLOATS <= count; i += VECTOR_FLOATS) {             \
      const vfloat_t x = vload(p + i);                                   \
      vstore(o + i, expression);                                         \
    }                                                                    \
    if (i < count) {                                                     \
      const vfloat_t x = vload_part(p + i, count - i);                   \
      vstore_part(o + i, expression, count - i);                         \
    }                                                                    \
  }

#define BINARY_F32(name, expression)                                                         \
  static void f32_block_##name##_vv(void* out, const void* a, const void* b, size_t count) { \
    float* o = out;                                                                          \
    const float* p = a;                                                                      \
    const float* q = b;                                                                      \
    size_t i = 0;                                                                            \
    for (; i + VECTOR_FLOATS <= count; i += VECTOR_FLOATS) {                                 \
      const vfloat_t x = vload(p + i);                                                       \
      const vfloat_t y = vload(q + i);                                                       \
      vstore(o + i, expression);                                                             \
    }                                                                                        \
    if (i < count) {                                                                         \
      const vfloat_t x = vload_part(p + i, count - i);                                       \
      const vfloat_t y = vload_part(q + i, count - i);                                       \
      vstore_part(o + i, expression, count - i);                                             \
    }                                                                                        \
  }                                                                                          \
  static void f32_block_##name##_vs(void* out, const void* a, const void* b, size_t count) { \
    float* o = out;                                                                          \
    const float* p = a;                                                                      \
    const vfloat_t y = vsplat(*(const float*)b);                                             \
    size_t i = 0;                                                                            \
    for (; i + VECTOR_FLOATS <= count; i += VECTOR_FLOATS) {                                 \
      const vfloat_t x = vload(p + i);                                                       \
      vstore(o + i, expression);                                                             \
    }                                                                                        \
    if (i < count) {                                                                         \
      const vfloat_t x = vload_part(p + i, count - i);                                       \
      vstore_part(o + i, expression, count - i);                                             \
    }                                                                                        \
  }                                                                                          \
  static void f32_block_##name##_sv(void* out, const void* a, const void* b, size_t count) { \
    float* o = out;                                                                          \
    const vfloat_t x = vsplat(*(const float*)a);                                             \
    const float* q = b;                                                                      \
    size_t i = 0;                                                                            \
    for (; i + VECTOR_FLOATS <= count; i += VECTOR_FLOATS) {                                 \
      const vfloat_t y = vload(q + i);                                                       \
      vstore(o + i, expression);                                                             \
    }                                                                                        \
    if (i < count) {                                                                         \
      const vfloat_t y = vload_part(q + i, count - i);                                       \
      vstore_part(o + i, expression, count - i);                                             \
    }                                                                                        \
  }
#define BINARY_F32_FORMS(name) \
  { f32_block_##name##_vv, f32_block_##name##_vs, f32_block_##name##_sv }

/* NaN if either is: the processor's minimum gives its second operand then. */
INLINE vfloat_t vmin_nan(vfloat_t x, vfloat_t y) {
  /* NaN is not itself. NOLINTNEXTLINE(misc-redundant-expression) */
  return vselect(x != x, x, vmin(x, y));
}
INLINE vfloat_t vmax_nan(vfloat_t x, vfloat_t y) {
  /* NaN is not itself. NOLINTNEXTLINE(misc-redundant-expression) */
  return vselect(x != x, x, vmax(x, y));
}

BINARY_F32(add, x + y)
BINARY_F32(sub, x - y)
BINARY_F32(mul, x* y)
BINARY_F32(div, x / y)
BINARY_F32(min, vmin_nan(x, y))
BINARY_F32(max, vmax_nan(x, y))

UNARY_F32(neg, -x)
UNARY_F32(abs, vabs(x))
UNARY_F32(floor, vfloor(x))
UNARY_F32(ceil, vceil(x))
UNARY_F32(round, vround(x))
UNARY_F32(trunc, vtrunc(x))
UNARY_F32(sqrt, vsqrt(x))
UNARY_F32(rsqrt, vsplat(1.0F) / vsqrt(x))
UNARY_F32(recip, vsplat(1.0F) / x)
UNARY_F32(exp, vexp(x))
UNARY_F32(log, vlog(x))
UNARY_F32(erf, verf(x))
UNARY_F32(tanh, vtanh(x))
UNARY_F32(sigmoid, vsigmoid(x))
UNARY_F32(softplus, vsoftplus(x))
UNARY_F32(sign, vselect(x != x, x,
                        vselect(x > vsplat(0.0F), vsplat(1.0F),
                                vselect(x < vsplat(0.0F), vsplat(-1.0F), vsplat(0.0F)))))

INLINE int vwithin(vfloat_t x, float limit) {
  const vint_t outside = ~(vabs(x) <= vsplat(limit));
  int32_t any = 0;
  UNROLL for (int i = 0; i < VECTOR_FLOATS; i++) {
    any |= outside[i];
  }
  return any == 0;
}
/* The library's function where a vector holds a number too large for ours. */
INLINE vfloat_t vsin_any(vfloat_t x) {
  vfloat_t y = vsin(x);
  if (!vwithin(x, TENON_CPU_TRIGONOMETRIC_LIMIT)) {
    for (int i = 0; i < VECTOR_FLOATS; i++) {
      y[i] = sinf(x[i]);
    }
  }
  return y;
}
INLINE vfloat_t vcos_any(vfloat_t x) {
  vfloat_t y = vcos(x);
  if (!vwithin(x, TENON_CPU_TRIGONOMETRIC_LIMIT)) {
    for (int i = 0; i < VECTOR_FLOATS; i++) {
      y[i] = cosf(x[i]);
    }
  }
  return y;
}
UNARY_F32(sin, vsin_any(x))
UNARY_F32(cos, vcos_any(x))

/* Four partial results, so that additions need not wait for one another. */
#define FOLD_F32(name, start, combine)                                                \
  static void f32_fold_##name(void* inout_sum, const void* a, size_t count) {         \
    const float* p = a;                                                               \
    vfloat_t parts[4] = {vsplat(start), vsplat(start), vsplat(start), vsplat(start)}; \
    size_t i = 0;                                                                     \
    const size_t step = (size_t)4 * VECTOR_FLOATS;                                    \
    for (; i + step <= count; i += step) {                                            \
      UNROLL for (size_t k = 0; k < 4; k++) {                                         \
        const vfloat_t y = vload(p + i + k * VECTOR_FLOATS);                          \
        parts[k] = combine(parts[k], y);                                              \
      }                                                                               \
    }                                                                                 \
    for (; i + VECTOR_FLOATS <= count; i += VECTOR_FLOATS) {                          \
      parts[0] = combine(parts[0], vload(p + i));                                     \
    }                                                                                 \
    vfloat_t all = combine(combine(parts[0], parts[1]), combine(parts[2], parts[3])); \
    if (i < count) {                                                                  \
      float rest[VECTOR_FLOATS];                                                      \
      vstore(rest, vsplat(start));                                                    \
      memcpy(rest, p + i, (count - i) * sizeof(float));                               \
      all = combine(all, vload(rest));                                                \
    }                                                                                 \
    float lanes[VECTOR_FLOATS];                                                       \
    vstore(lanes, all);                                                               \
    vfloat_t result = vsplat(*(const float*)inout_sum);                               \
    UNROLL for (int width = VECTOR_FLOATS / 2; width > 0; width /= 2) {               \
      UNROLL for (int k = 0; k < width; k++) {                                        \
        lanes[k] = combine(vsplat(lanes[k]), vsplat(lanes[k + width]))[0];            \
      }                                                                               \
    }                                                                                 \
    result = combine(result, vsplat(lanes[0]));                                       \
    *(float*)inout_sum = result[0];                                                   \
  }
INLINE vfloat_t vadd(vfloat_t x, vfloat_t y) {
  return x + y;
}
INLINE vfloat_t vmul(vfloat_t x, vfloat_t y) {
  return x * y;
}
FOLD_F32(sum, 0.0F, vadd)
FOLD_F32(prod, 1.0F, vmul)
FOLD_F32(min, INFINITY, vmin_nan)
FOLD_F32(max, -INFINITY, vmax_nan)

/* Activations: in place on the rows of a tile. */
#define ACTIVATION(name, expression)                                                             \
  static void activate_##name(float* p, size_t stride, size_t rows, size_t columns, float alpha, \
                              float beta) {                                                      \
    const vfloat_t a = vsplat(alpha);                                                            \
    const vfloat_t b = vsplat(beta);                                                             \
    (void)a, (void)b;                                                                            \
    for (size_t i = 0; i < rows; i++, p += stride) {                                             \
      size_t j = 0;                                                                              \
      for (; j + VECTOR_FLOATS <= columns; j += VECTOR_FLOATS) {                                 \
        const vfloat_t x = vload(p + j);                                                         \
        vstore(p + j, expression);                                                               \
      }                                                                                          \
      if (j < columns) {                                                                         \
        const vfloat_t x = vload_part(p + j, columns - j);                                       \
        vstore_part(p + j, expression, columns - j);                                             \
      }                                                                                          \
    }                                                                                            \
  }
/* clamp(a x + b, 0, 1), NaN where x is. */
INLINE vfloat_t vhard_sigmoid(vfloat_t x, vfloat_t a, vfloat_t b) {
  return vmin(vsplat(1.0F), vmax(vsplat(0.0F), vfma(a, x, b)));
}
INLINE vfloat_t vgelu(vfloat_t x) {
  const vfloat_t half = vsplat(0.5F) * x;
  return vfma(half, verf(x * vsplat(0.70710678F)), half);
}
INLINE vfloat_t vgelu_tanh(vfloat_t x) {
  const vfloat_t half = vsplat(0.5F) * x;
  const vfloat_t inner = x * vfma(x * x, vsplat(0.0356774081F), vsplat(0.797884561F));
  return vfma(half, vtanh(inner), half);
}
ACTIVATION(none, x)
ACTIVATION(clamp, vmin(b, vmax(a, x)))
ACTIVATION(leaky, vselect(x < vsplat(0.0F), a* x, x))
ACTIVATION(sigmoid, vsigmoid(x))
ACTIVATION(swish, x* vsigmoid(a* x))
ACTIVATION(hard_sigmoid, vhard_sigmoid(x, a, b))
ACTIVATION(hard_swish, x* vhard_sigmoid(x, a, b))
ACTIVATION(tanh, vtanh(x))
ACTIVATION(gelu, vgelu(x))
ACTIVATION(gelu_tanh, vgelu_tanh(x))

#endif
