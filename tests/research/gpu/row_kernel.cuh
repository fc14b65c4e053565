/* The text of a generated row kernel: a reduction of each row with what stands in front of it and
 * behind it. */
#pragma once

#include "reduction_text.cuh"

/* THREADS work on one row, ROWS rows in a block, CLUSTER blocks on one row; each thread keeps PER
 * accesses of VECTOR elements. KEEP 0: in registers; 1: in shared memory; 2: nowhere, the row is
 * read again. KIND 0: softmax(x * scale + mask); 1: layer norm of x + r, with scale and bias and a
 * GELU by sigmoid; 2: RMS norm of x + r with scale, and the sum as a second output. */
static const char* const row_text = R"(
#define SPAN (THREADS * VECTOR)
#define WARPS (THREADS / 32)
typedef pack<T, VECTOR> pack_t;
__device__ inline pair total(pair p) {
#pragma unroll
  for (int o = (THREADS < 32 ? THREADS : 32) / 2; o; o /= 2) {
    pair q = {__shfl_xor_sync(~0u, p.a, o), __shfl_xor_sync(~0u, p.b, o)};
    p = merge(p, q);
  }
#if THREADS > 32
  __shared__ pair partial[ROWS][WARPS];
  int in_row = threadIdx.x % THREADS, row = threadIdx.x / THREADS;
  if (in_row % 32 == 0) partial[row][in_row / 32] = p;
  __syncthreads();
  p = NEUTRAL;
  if (in_row % 32 < WARPS) p = partial[row][in_row % 32];
#pragma unroll
  for (int o = 16; o; o /= 2) {
    pair q = {__shfl_xor_sync(~0u, p.a, o), __shfl_xor_sync(~0u, p.b, o)};
    p = merge(p, q);
  }
#endif
#if CLUSTER > 1
  __shared__ pair of_block[CLUSTER];
  unsigned me = cluster_rank();
  cluster_wait(); /* all have begun */
  if (threadIdx.x < CLUSTER) {
    give(&of_block[me], threadIdx.x, p);
  }
  cluster_arrive();
  cluster_wait();
  p = of_block[0];
#pragma unroll
  for (int i = 1; i < CLUSTER; i++) p = merge(p, of_block[i]);
#endif
  return p;
}
/* What stands in front: one value of the row. */
#if KIND == 0
#define OTHER(i, n) (n)
__device__ inline float before(float x, float other) { return x * 0.125f + other; }
#else
__device__ inline float before(float x, float other) { return x + other; }
#endif
/* Elements c to c + VECTOR of a row; with SHIFT the accesses are aligned and the first and last of a row
 * are in part outside it. `single`: this operand is not aligned with the row. */
__device__ inline bool inside(int c) { return !SHIFT || (c >= 0 && c + VECTOR <= LENGTH); }
__device__ inline pack_t get(const T* p, int c, bool single) {
  if (!single && inside(c)) return *(const pack_t*)(p + c);
  pack_t v;
#pragma unroll
  for (int k = 0; k < VECTOR; k++) v.v[k] = c + k >= 0 && c + k < LENGTH ? p[c + k] : T{};
  return v;
}
__device__ inline void put(T* p, int c, const pack_t& v) {
  if (inside(c)) {
    *(pack_t*)(p + c) = v;
    return;
  }
#pragma unroll
  for (int k = 0; k < VECTOR; k++)
    if (c + k >= 0 && c + k < LENGTH) p[c + k] = v.v[k];
}
__device__ inline void values(const T* x, const T* other, int c, float* t) {
  pack_t a = get(x, c, false), b = get(other, c, SHIFT && KIND == 0);
#pragma unroll
  for (int k = 0; k < VECTOR; k++) {
    t[k] = before(load(a.v[k]), load(b.v[k]));
    if (SHIFT && (c + k < 0 || c + k >= LENGTH)) t[k] = KIND == 0 ? -1e30f : 0.f;
  }
}
extern "C" __global__ void __launch_bounds__(THREADS * ROWS)
    generated(const T* x, const T* other, const T* scale, const T* bias, T* y, T* second, unsigned rows) {
#if CLUSTER > 1
  cluster_arrive();
  unsigned row = blockIdx.x / CLUSTER, part = cluster_rank();
#else
  unsigned row = blockIdx.x * ROWS + threadIdx.x / THREADS, part = 0;
#endif
  unsigned lane = threadIdx.x % THREADS;
  wait_for_predecessor();
  release_dependents();
  bool live = row < rows;
  row = live ? row : rows - 1;
  const T* xr = x + (size_t)row * LENGTH;
#if KIND == 0
  const T* mr = other; /* one mask for all rows */
#else
  const T* mr = other + (size_t)row * LENGTH;
#endif
#if SHIFT
  const int shift = (unsigned)((size_t)row * LENGTH % VECTOR);
#else
  const int shift = 0;
#endif
  pair p = NEUTRAL;
#if KEEP == 0
  float v[PER][VECTOR];
#elif KEEP == 1
  extern __shared__ float kept[];
  float* mine = kept + (threadIdx.x / THREADS) * (PER * SPAN);
#endif
#if KEEP != 0
#pragma unroll 4
#else
#pragma unroll
#endif
  for (int j = 0; j < PER; j++) {
    int c = ((part * PER + j) * THREADS + lane) * VECTOR - shift;
    if (c < LENGTH) {
      float t[VECTOR];
      values(xr, mr, c, t);
#if KIND == 0
      float most = t[0];
#pragma unroll
      for (int k = 1; k < VECTOR; k++) most = fmaxf(most, t[k]);
#if KEEP == 0
      p.a = fmaxf(p.a, most);
#else
      float sum = 0;
      most = fmaxf(most, p.a);
#pragma unroll
      for (int k = 0; k < VECTOR; k++) sum += __expf(t[k] - most);
      p = {most, p.b * __expf(p.a - most) + sum};
#endif
#else
#pragma unroll
      for (int k = 0; k < VECTOR; k++) { p.a += t[k]; p.b += t[k] * t[k]; }
#endif
#pragma unroll
      for (int k = 0; k < VECTOR; k++) {
#if KEEP == 0
        v[j][k] = t[k];
#elif KEEP == 1
        mine[(j * VECTOR + k) * THREADS + lane] = t[k];
#endif
      }
    }
#if KEEP == 0
    else {
#pragma unroll
      for (int k = 0; k < VECTOR; k++) v[j][k] = KIND == 0 ? -1e30f : 0.f;
    }
#endif
  }
#if KIND == 0 && KEEP == 0
  /* the exponentials are kept: one each; the sum belongs to the thread's own maximum */
#pragma unroll
  for (int j = 0; j < PER; j++)
#pragma unroll
    for (int k = 0; k < VECTOR; k++) { v[j][k] = __expf(v[j][k] - p.a); p.b += v[j][k]; }
  float own = p.a;
#endif
  p = total(p);
#if KIND == 0 && KEEP == 0
  float factor = __expf(own - p.a) / p.b;
#elif KIND == 0
  float factor = 1.f / p.b;
#elif KIND == 1
  float mean = p.a / LENGTH, factor = rsqrtf(fmaxf(p.b / LENGTH - mean * mean, 0.f) + 1e-5f);
#else
  float mean = 0.f, factor = rsqrtf(p.b / LENGTH + 1e-5f);
#endif
#if KEEP != 0
#pragma unroll 4
#else
#pragma unroll
#endif
  for (int j = 0; j < PER; j++) {
    int c = ((part * PER + j) * THREADS + lane) * VECTOR - shift;
    if (c < LENGTH && live) {
      pack_t out, sum;
#if KIND != 0
      pack_t s = get(scale, c, SHIFT);
#endif
#if KIND == 1
      pack_t b = get(bias, c, SHIFT);
#endif
#if KEEP == 2
      float again[VECTOR];
      values(xr, mr, c, again);
#endif
#pragma unroll
      for (int k = 0; k < VECTOR; k++) {
#if KEEP == 0
        float t = v[j][k];
#elif KEEP == 1
        float t = mine[(j * VECTOR + k) * THREADS + lane];
#else
        float t = again[k];
#endif
#if KIND == 0
#if KEEP != 0
        t = __expf(t - p.a);
#endif
        out.v[k] = convert<T>::store(t * factor);
#elif KIND == 1
        t = (t - mean) * factor * load(s.v[k]) + load(b.v[k]);
        out.v[k] = convert<T>::store(__fdividef(t, 1.f + __expf(-1.702f * t)));
#else
        sum.v[k] = convert<T>::store(t);
        out.v[k] = convert<T>::store(t * factor * load(s.v[k]));
#endif
      }
      put(y + (size_t)row * LENGTH, c, out);
#if KIND == 2
      put(second + (size_t)row * LENGTH, c, sum);
#endif
    }
  }
}
)";
