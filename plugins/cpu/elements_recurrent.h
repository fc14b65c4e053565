/* Cells of recurrent layers, by vectors. Included by elements_kernels.h. */
#ifndef TENON_CPU_ELEMENTS_RECURRENT_H_
#define TENON_CPU_ELEMENTS_RECURRENT_H_

#include "vector_math.h"

INLINE vfloat_t cell_load(const float* p, size_t lanes) {
  return lanes >= VECTOR_FLOATS ? vload(p) : vload_part(p, lanes);
}
INLINE void cell_store(float* p, vfloat_t x, size_t lanes) {
  if (lanes >= VECTOR_FLOATS) {
    vstore(p, x);
  } else {
    vstore_part(p, x, lanes);
  }
}

static void lstm_cell(const float* gates, float* c, float* h, size_t count) {
  for (size_t k = 0; k < count; k += VECTOR_FLOATS) {
    const size_t lanes = count - k;
    const vfloat_t i = vsigmoid(cell_load(gates + k, lanes));
    const vfloat_t o = vsigmoid(cell_load(gates + count + k, lanes));
    const vfloat_t f = vsigmoid(cell_load(gates + 2 * count + k, lanes));
    const vfloat_t candidate = vtanh(cell_load(gates + 3 * count + k, lanes));
    const vfloat_t state = vfma(f, cell_load(c + k, lanes), i * candidate);
    cell_store(c + k, state, lanes);
    cell_store(h + k, o * vtanh(state), lanes);
  }
}

/* (1 - z) n + z h */
INLINE vfloat_t gru_mix(vfloat_t z, vfloat_t n, vfloat_t h) {
  return vfma(z, h - n, n);
}

static void gru_cell(const float* gates, const float* recurrent, float* h, size_t count) {
  for (size_t k = 0; k < count; k += VECTOR_FLOATS) {
    const size_t lanes = count - k;
    const vfloat_t z = vsigmoid(cell_load(gates + k, lanes) + cell_load(recurrent + k, lanes));
    const vfloat_t r =
        vsigmoid(cell_load(gates + count + k, lanes) + cell_load(recurrent + count + k, lanes));
    const vfloat_t n = vtanh(vfma(r, cell_load(recurrent + 2 * count + k, lanes),
                                  cell_load(gates + 2 * count + k, lanes)));
    cell_store(h + k, gru_mix(z, n, cell_load(h + k, lanes)), lanes);
  }
}

static void gru_reset(const float* r, const float* h, float* out, size_t count) {
  for (size_t k = 0; k < count; k += VECTOR_FLOATS) {
    const size_t lanes = count - k;
    cell_store(out + k, vsigmoid(cell_load(r + k, lanes)) * cell_load(h + k, lanes), lanes);
  }
}

static void gru_blend(const float* z, const float* n, float* h, size_t count) {
  for (size_t k = 0; k < count; k += VECTOR_FLOATS) {
    const size_t lanes = count - k;
    const vfloat_t mixed = gru_mix(vsigmoid(cell_load(z + k, lanes)),
                                   vtanh(cell_load(n + k, lanes)), cell_load(h + k, lanes));
    cell_store(h + k, mixed, lanes);
  }
}

#endif
