/* The texts of generated elementwise kernels: relu(x * s + b) + r, and a transposition with an
 * expression. */
#pragma once

/* FORM of s and b: 0 scalar, 1 last axis (LAST), 2 a middle axis (i / LAST % MIDDLE), 3 first axes
 * (i / LAST), 4 dense, 5 any: four axes with strides, 6 any, for each element.
 * INDEX: 0 constants, 1 division by a parameter, 2 multiplication by a parameter, 3 division in 64
 * bits. */
static const char* const elementwise_text = R"(
struct axes { unsigned extent[4], stride[4], magic[4], shift[4]; };
typedef pack<T, VECTOR> pack_t;
#if INDEX == 3
typedef unsigned long long index_t;
#else
typedef unsigned index_t;
#endif
#if INDEX == 0
#define QUOTIENT(i, k, constant) ((i) / (constant))
#define EXTENT(k, constant) (constant)
#elif INDEX == 2
#define QUOTIENT(i, k, constant) ((__umulhi((i), a.magic[k]) + (i)) >> a.shift[k])
#define EXTENT(k, constant) a.extent[k]
#else
#define QUOTIENT(i, k, constant) ((i) / (index_t)a.extent[k])
#define EXTENT(k, constant) a.extent[k]
#endif
/* extents 3: LAST, 2: MIDDLE, 1: OUTER */
__device__ inline index_t place(index_t i, const axes& a) {
#if FORM == 0
  return 0;
#elif FORM == 1
  return i - QUOTIENT(i, 3, LAST) * EXTENT(3, LAST);
#elif FORM == 2
  index_t q = QUOTIENT(i, 3, LAST);
  return q - QUOTIENT(q, 2, MIDDLE) * EXTENT(2, MIDDLE);
#elif FORM == 3
  return QUOTIENT(i, 3, LAST);
#elif FORM == 4
  return i;
#else
  index_t q3 = QUOTIENT(i, 3, LAST), c3 = i - q3 * EXTENT(3, LAST);
  index_t q2 = QUOTIENT(q3, 2, MIDDLE), c2 = q3 - q2 * EXTENT(2, MIDDLE);
  index_t q1 = QUOTIENT(q2, 1, OUTER), c1 = q2 - q1 * EXTENT(1, OUTER);
#if INDEX == 0
  return c3 * STRIDE3 + c2 * STRIDE2 + c1 * STRIDE1 + q1 * STRIDE0;
#else
  return c3 * a.stride[3] + c2 * a.stride[2] + c1 * a.stride[1] + q1 * a.stride[0];
#endif
#endif
}
__device__ __noinline__ float heavy(float t) { return 0.5f * t * (1.f + erff(t * 0.70710678f)); }
__device__ inline float expression(float x, float s, float b, float r) {
#if HEAVY
  return heavy(x * s + b) + r;
#else
  return fmaxf(x * s + b, 0.f) + r;
#endif
}
extern "C" __global__ void __launch_bounds__(THREADS)
    generated(const T* x, const T* s, const T* b, const T* r, T* y, index_t n, const __grid_constant__ axes a) {
#if DEPENDENT
  wait_for_predecessor();
  release_dependents();
#endif
#if PERSISTENT
  for (index_t first = (index_t)blockIdx.x * (THREADS * UNROLL * VECTOR); first < n;
       first += (index_t)gridDim.x * (THREADS * UNROLL * VECTOR))
#else
  const index_t first = (index_t)blockIdx.x * (THREADS * UNROLL * VECTOR);
#endif
  {
    pack_t vx[UNROLL], vr[UNROLL];
#pragma unroll
    for (int u = 0; u < UNROLL; u++) {
      index_t i = first + (u * THREADS + threadIdx.x) * VECTOR;
      if (i < n) {
        vx[u] = *(const pack_t*)(x + i);
        vr[u] = *(const pack_t*)(r + i);
      }
    }
#pragma unroll
    for (int u = 0; u < UNROLL; u++) {
      index_t i = first + (u * THREADS + threadIdx.x) * VECTOR;
      if (i < n) {
        pack_t out;
#if FORM == 1 || FORM == 4 || FORM == 6 || (FORM == 5 && STRIDE3 == 1)
#if EACH || FORM == 6
#pragma unroll
        for (int k = 0; k < VECTOR; k++) {
          index_t p = place(i + k, a);
          out.v[k] = convert<T>::store(expression(load(vx[u].v[k]), load(s[p]), load(b[p]), load(vr[u].v[k])));
        }
#else
        index_t p = place(i, a);
        pack_t vs = *(const pack_t*)(s + p), vb = *(const pack_t*)(b + p);
#pragma unroll
        for (int k = 0; k < VECTOR; k++)
          out.v[k] = convert<T>::store(expression(load(vx[u].v[k]), load(vs.v[k]), load(vb.v[k]), load(vr[u].v[k])));
#endif
#elif EACH
#pragma unroll
        for (int k = 0; k < VECTOR; k++) {
          index_t p = place(i + k, a);
          out.v[k] = convert<T>::store(expression(load(vx[u].v[k]), load(s[p]), load(b[p]), load(vr[u].v[k])));
        }
#else
        index_t p = place(i, a);
        float os = load(s[p]), ob = load(b[p]);
#pragma unroll
        for (int k = 0; k < VECTOR; k++)
          out.v[k] = convert<T>::store(expression(load(vx[u].v[k]), os, ob, load(vr[u].v[k])));
#endif
        *(pack_t*)(y + i) = out;
      }
    }
  }
}
)";

/* y[b][c][r] = relu(x[b][r][c] * s[..] + b[..]): WAY 0 gathers, 1 scatters, 2 tiles of 32x32
 * through shared memory, 3 tiles of 64x64 with accesses of IN and OUT elements. CHANNEL: the axis
 * of s and b in the input, 1 rows or 2 columns. */
static const char* const transpose_text = R"(
__device__ inline T apply(T v, const T* s, const T* b, unsigned row, unsigned column) {
  const unsigned c = CHANNEL == 1 ? row : column;
  return convert<T>::store(fmaxf(load(v) * load(s[c]) + load(b[c]), 0.f));
}
extern "C" __global__ void __launch_bounds__(256)
    generated(const T* x, const T* s, const T* b, T* y) {
  x += (size_t)blockIdx.z * ROWS * COLUMNS;
  y += (size_t)blockIdx.z * ROWS * COLUMNS;
#if WAY == 0
  unsigned i = blockIdx.x * 256 + threadIdx.x;
  if (i < ROWS * COLUMNS) {
    unsigned column = i / ROWS, row = i - column * ROWS;
    y[i] = apply(x[row * COLUMNS + column], s, b, row, column);
  }
#elif WAY == 1
  unsigned i = blockIdx.x * 256 + threadIdx.x;
  if (i < ROWS * COLUMNS) {
    unsigned row = i / COLUMNS, column = i - row * COLUMNS;
    y[column * ROWS + row] = apply(x[i], s, b, row, column);
  }
#elif WAY == 2
  __shared__ T tile[32][33];
  unsigned tx = threadIdx.x % 32, ty = threadIdx.x / 32, r0 = blockIdx.y * 32, c0 = blockIdx.x * 32;
#pragma unroll
  for (int j = 0; j < 4; j++) {
    unsigned row = r0 + ty + j * 8, column = c0 + tx;
    if (row < ROWS && column < COLUMNS) tile[ty + j * 8][tx] = apply(x[row * COLUMNS + column], s, b, row, column);
  }
  __syncthreads();
#pragma unroll
  for (int j = 0; j < 4; j++) {
    unsigned column = c0 + ty + j * 8, row = r0 + tx;
    if (row < ROWS && column < COLUMNS) y[column * ROWS + row] = tile[tx][ty + j * 8];
  }
#else
  enum { PAD = 4 / sizeof(T) };
  __shared__ T tile[64][64 + PAD];
  unsigned r0 = blockIdx.y * 64, c0 = blockIdx.x * 64;
#pragma unroll
  for (int j = 0; j < 64 * 64 / IN / 256; j++) {
    unsigned t = j * 256 + threadIdx.x, tr = t / (64 / IN), tc = t % (64 / IN) * IN;
    unsigned row = r0 + tr, column = c0 + tc;
    if (row < ROWS && column < COLUMNS) {
      pack<T, IN> v = *(const pack<T, IN>*)(x + row * COLUMNS + column);
#pragma unroll
      for (int k = 0; k < IN; k++) tile[tr][tc + k] = apply(v.v[k], s, b, row, column + k);
    }
  }
  __syncthreads();
#pragma unroll
  for (int j = 0; j < 64 * 64 / OUT / 256; j++) {
    unsigned t = j * 256 + threadIdx.x, tc = t / (64 / OUT), tr = t % (64 / OUT) * OUT;
    unsigned row = r0 + tr, column = c0 + tc;
    if (row < ROWS && column < COLUMNS) {
      pack<T, OUT> v;
#pragma unroll
      for (int k = 0; k < OUT; k++) v.v[k] = tile[tr + k][tc];
      *(pack<T, OUT>*)(y + column * ROWS + row) = v;
    }
  }
#endif
}
)";
