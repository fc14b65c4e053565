/* The texts of generated reductions whose axis is not the innermost one, and of rows that lie
 * somewhere inside a wider tensor. */
#pragma once

#include "reduction_text.cuh"

/* x as [OUTER][LENGTH][INNER], reduced over LENGTH. A thread has V neighbours of INNER; LANES such
 * threads lie beside one another, PARTS of them share the length in a block, CLUSTER blocks share
 * it again: a thread has every (PARTS * CLUSTER)th element, PER of them. KEEP 0: in registers; 2:
 * read again. KIND 0: softmax(x * 0.125); 1: layer norm of x + r with scale and bias along the
 * length; 2: RMS norm of x with scale; 3: instance norm, scale and bias along INNER. */
static const char* const column_text = R"(
#define THREADS (LANES * PARTS)
#define BESIDE (LANES < 32 ? 32 : LANES)
#define GROUPS (THREADS / BESIDE)
#define ALL (PARTS * CLUSTER)
typedef pack<T, V> pack_t;
__device__ inline void total(pair (&p)[V], unsigned lane) {
#pragma unroll
  for (int o = LANES; o < 32; o *= 2) {
#pragma unroll
    for (int k = 0; k < V; k++) {
      pair q = {__shfl_xor_sync(~0u, p[k].a, o), __shfl_xor_sync(~0u, p[k].b, o)};
      p[k] = merge(p[k], q);
    }
  }
#if GROUPS > 1
  __shared__ pair partial[GROUPS][V][LANES];
  if (threadIdx.x % BESIDE < LANES) {
#pragma unroll
    for (int k = 0; k < V; k++) partial[threadIdx.x / BESIDE][k][lane] = p[k];
  }
  __syncthreads();
#pragma unroll
  for (int k = 0; k < V; k++) {
    pair all = partial[0][k][lane];
#if KIND == 0
    float m = all.a;
#pragma unroll
    for (int g = 1; g < GROUPS; g++) m = fmaxf(m, partial[g][k][lane].a);
    all.b *= __expf(all.a - m);
    all.a = m;
#pragma unroll
    for (int g = 1; g < GROUPS; g++) all.b += partial[g][k][lane].b * __expf(partial[g][k][lane].a - m);
#else
#pragma unroll
    for (int g = 1; g < GROUPS; g++) all = merge(all, partial[g][k][lane]);
#endif
    p[k] = all;
  }
#endif
#if CLUSTER > 1
  __shared__ pair of_block[CLUSTER][V][LANES];
  const unsigned me = cluster_rank();
  cluster_wait(); /* all have begun */
  if (threadIdx.x < LANES) {
    for (unsigned to = 0; to < CLUSTER; to++) {
#pragma unroll
      for (int k = 0; k < V; k++) {
        give(&of_block[me][k][lane], to, p[k]);
      }
    }
  }
  cluster_arrive();
  cluster_wait();
#pragma unroll
  for (int k = 0; k < V; k++) {
    p[k] = of_block[0][k][lane];
#pragma unroll
    for (int i = 1; i < CLUSTER; i++) p[k] = merge(p[k], of_block[i][k][lane]);
  }
#endif
}
extern "C" __global__ void __launch_bounds__(THREADS)
    generated(const T* __restrict__ x, const T* __restrict__ r, const T* __restrict__ scale, const T* __restrict__ bias,
              T* __restrict__ y) {
#if CLUSTER > 1
  cluster_arrive();
  const unsigned first = cluster_rank() * PARTS + threadIdx.x / LANES;
#else
  const unsigned first = threadIdx.x / LANES;
#endif
  const unsigned lane = threadIdx.x % LANES, column = blockIdx.x / CLUSTER * LANES + lane;
  const bool live = column < OUTER * (INNER / V);
  const unsigned own = live ? column : 0, inner = own % (INNER / V) * V;
  const size_t base = (size_t)(own / (INNER / V)) * LENGTH * INNER + inner;
  wait_for_predecessor();
#if RELEASE
  release_dependents();
#endif
  pair p[V];
#pragma unroll
  for (int k = 0; k < V; k++) p[k] = NEUTRAL;
#if KEEP == 0
  float v[PER][V];
#pragma unroll
#else
#pragma unroll 4
#endif
  for (int j = 0; j < PER; j++) {
    const unsigned l = first + j * ALL;
    if (l < LENGTH) {
      const pack_t a = *(const pack_t*)(x + base + (size_t)l * INNER);
#if KIND == 1
      const pack_t b = *(const pack_t*)(r + base + (size_t)l * INNER);
#endif
#pragma unroll
      for (int k = 0; k < V; k++) {
#if KIND == 0
        const float t = load(a.v[k]) * 0.125f;
#if KEEP == 0
        p[k].a = fmaxf(p[k].a, t);
#else
        const float m = fmaxf(p[k].a, t);
        p[k] = {m, p[k].b * __expf(p[k].a - m) + __expf(t - m)};
#endif
#else
#if KIND == 1
        const float t = load(a.v[k]) + load(b.v[k]);
#else
        const float t = load(a.v[k]);
#endif
        p[k].a += t;
        p[k].b += t * t;
#endif
#if KEEP == 0
        v[j][k] = t;
#endif
      }
    }
#if KEEP == 0
    else {
#pragma unroll
      for (int k = 0; k < V; k++) v[j][k] = KIND == 0 ? -1e30f : 0.f;
    }
#endif
  }
#if KIND == 0 && KEEP == 0
  float most[V];
#pragma unroll
  for (int k = 0; k < V; k++) {
    most[k] = p[k].a;
#pragma unroll
    for (int j = 0; j < PER; j++) {
      v[j][k] = __expf(v[j][k] - most[k]);
      p[k].b += v[j][k];
    }
  }
#endif
  total(p, lane);
  float mean[V], factor[V];
#pragma unroll
  for (int k = 0; k < V; k++) {
#if KIND == 0 && KEEP == 0
    mean[k] = 0.f;
    factor[k] = __expf(most[k] - p[k].a) / p[k].b;
#elif KIND == 0
    mean[k] = p[k].a;
    factor[k] = 1.f / p[k].b;
#elif KIND == 2
    mean[k] = 0.f;
    factor[k] = rsqrtf(p[k].b / LENGTH + 1e-5f);
#else
    mean[k] = p[k].a / LENGTH;
    factor[k] = rsqrtf(fmaxf(p[k].b / LENGTH - mean[k] * mean[k], 0.f) + 1e-5f);
#endif
  }
#if KIND == 3
  const pack_t s = *(const pack_t*)(scale + inner), c = *(const pack_t*)(bias + inner);
#endif
  if (!live) return;
#if KEEP == 0
#pragma unroll
#else
#pragma unroll 4
#endif
  for (int j = 0; j < PER; j++) {
    const unsigned l = first + j * ALL;
    if (l < LENGTH) {
#if KEEP != 0
      const pack_t a = *(const pack_t*)(x + base + (size_t)l * INNER);
#if KIND == 1
      const pack_t b = *(const pack_t*)(r + base + (size_t)l * INNER);
#endif
#endif
#if KIND == 1 || KIND == 2
      const float s = load(scale[l]);
#endif
#if KIND == 1
      const float c = load(bias[l]);
#endif
      pack_t out;
#pragma unroll
      for (int k = 0; k < V; k++) {
#if KEEP == 0
        float t = v[j][k];
#elif KIND == 0
        float t = __expf(load(a.v[k]) * 0.125f - mean[k]);
#elif KIND == 1
        float t = load(a.v[k]) + load(b.v[k]);
#else
        float t = load(a.v[k]);
#endif
#if KIND == 0
        t *= factor[k];
#elif KIND == 1
        t = (t - mean[k]) * factor[k] * s + c;
#elif KIND == 2
        t = t * factor[k] * s;
#else
        t = (t - mean[k]) * factor[k] * load(s.v[k]) + load(c.v[k]);
#endif
        out.v[k] = convert<T>::store(t);
      }
      *(pack_t*)(y + base + (size_t)l * INNER) = out;
    }
  }
}
)";

/* RMS norm with scale of rows of LENGTH elements, row (t, h) at t * IN_T + h * IN_H of x and at t *
 * OUT_T + h * OUT_H of y: LANES threads a row, PER accesses of eight each. */
static const char* const placed_text = R"(
typedef pack<half, 8> pack_t;
extern "C" __global__ void __launch_bounds__(THREADS)
    generated(const half* __restrict__ x, const half* __restrict__ scale, half* __restrict__ y) {
  const unsigned row = (blockIdx.x * THREADS + threadIdx.x) / LANES, lane = threadIdx.x % LANES;
  const bool live = row < TOKENS * HEADS;
#if BY_HEAD
  const unsigned h = row / TOKENS % HEADS, t = row % TOKENS;
#else
  const unsigned t = row / HEADS % TOKENS, h = row % HEADS;
#endif
  pack_t s[PER];
#pragma unroll
  for (int j = 0; j < PER; j++) s[j] = *(const pack_t*)(scale + (j * LANES + lane) * 8);
  wait_for_predecessor();
#if RELEASE
  release_dependents();
#endif
  const half* from = x + t * IN_T + h * IN_H;
  pack_t v[PER];
  float sum = 0;
#pragma unroll
  for (int j = 0; j < PER; j++) {
    v[j] = *(const pack_t*)(from + (j * LANES + lane) * 8);
#pragma unroll
    for (int k = 0; k < 8; k++) sum += load(v[j].v[k]) * load(v[j].v[k]);
  }
#pragma unroll
  for (int o = LANES / 2; o; o /= 2) sum += __shfl_xor_sync(~0u, sum, o);
  const float factor = rsqrtf(sum / LENGTH + 1e-5f);
  if (!live) return;
  half* to = y + t * OUT_T + h * OUT_H;
#pragma unroll
  for (int j = 0; j < PER; j++) {
    pack_t out;
#pragma unroll
    for (int k = 0; k < 8; k++) out.v[k] = convert<half>::store(load(v[j].v[k]) * factor * load(s[j].v[k]));
    *(pack_t*)(to + (j * LANES + lane) * 8) = out;
  }
}
)";
