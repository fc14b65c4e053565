/* The texts of generated paddings and cubic resizings. */
#pragma once

/* y[plane][row][column][INNER], PAD more on each side of rows and columns; NCHW is INNER = 1. MODE:
 * 0 zeros, 1 reflected, 2 the edge. A thread has V neighbours: of INNER, or of columns where INNER
 * is 1; EACH accesses a block apart. FETCH (INNER = 1): 0 element by element, 1 two aligned
 * accesses shifted into place where all lies inside. */
static const char* const pad_text = R"(
typedef pack<T, V> pack_t;
enum { OUT_H = H + 2 * PAD, OUT_W = W + 2 * PAD };
__device__ inline int source(int at, int extent) {
#if MODE == 1
  at = at < 0 ? -at : at;
  return at >= extent ? 2 * (extent - 1) - at : at;
#elif MODE == 2
  return min(max(at, 0), extent - 1);
#else
  return at;
#endif
}
__device__ inline void one_access(unsigned e, const T* __restrict__ x, T* __restrict__ y) {
  pack_t out;
#if INNER > 1
  const unsigned c = e % INNER, q = e / INNER;
  const int column = source((int)(q % OUT_W) - PAD, W), row = source((int)(q / OUT_W % OUT_H) - PAD, H);
  const unsigned plane = q / (OUT_W * OUT_H);
#if MODE == 0
  if (row < 0 || row >= H || column < 0 || column >= W) {
#pragma unroll
    for (int k = 0; k < V; k++) out.v[k] = convert<T>::store(0.f);
  } else
#endif
    out = *(const pack_t*)(x + ((plane * H + row) * W + column) * INNER + c);
#else
  const int first = (int)(e % OUT_W) - PAD, row = source((int)(e / OUT_W % OUT_H) - PAD, H);
  const unsigned plane = e / (OUT_W * OUT_H);
  const T* from = x + (plane * H + row) * W;
#if FETCH == 1
  if (row >= 0 && row < H && first >= 0 && first + V <= W) {
    const unsigned long long place = (unsigned long long)(from + first);
    const unsigned bytes = (unsigned)place & (sizeof(pack_t) - 1);
    union { pack_t p[2]; unsigned w[2 * sizeof(pack_t) / 4 + 1]; } u;
    u.p[0] = *(const pack_t*)(place - bytes);
    u.p[1] = bytes ? *(const pack_t*)(place - bytes + sizeof(pack_t)) : u.p[0];
    enum { WORDS = sizeof(pack_t) / 4 };
    unsigned w[2 * WORDS];
#pragma unroll
    for (int k = 0; k < 2 * WORDS; k++) w[k] = u.w[k];
#pragma unroll
    for (int shift = WORDS / 2; shift; shift /= 2) {
#pragma unroll
      for (int k = 0; k + shift < 2 * WORDS; k++) w[k] = bytes & (shift * 4) ? w[k + shift] : w[k];
    }
    union { pack_t p; unsigned w[WORDS]; } r;
#pragma unroll
    for (int k = 0; k < WORDS; k++) r.w[k] = __funnelshift_r(w[k], w[k + 1], (bytes & 3) * 8);
    out = r.p;
  } else
#endif
  {
#pragma unroll
    for (int k = 0; k < V; k++) {
      const int column = source(first + k, W);
#if MODE == 0
      const bool in = row >= 0 && row < H && column >= 0 && column < W;
      out.v[k] = in ? from[column] : convert<T>::store(0.f);
#else
      out.v[k] = from[column];
#endif
    }
  }
#endif
  *(pack_t*)(y + e) = out;
}
extern "C" __global__ void __launch_bounds__(THREADS)
    generated(const T* __restrict__ x, T* __restrict__ y) {
  const unsigned first = blockIdx.x * THREADS * EACH + threadIdx.x;
  wait_for_predecessor();
#if RELEASE
  release_dependents();
#endif
#pragma unroll
  for (int i = 0; i < EACH; i++) {
    if (first + i * THREADS < COUNT / V) one_access((first + i * THREADS) * V, x, y);
  }
}
)";

/* Cubic resizing by half pixels, coefficient -0.75, edges repeated. WAY 0: sixteen taps, the
 * coefficients computed by each thread; 1: the same from a table; 2 and 3: rows alone and columns
 * alone, two launches with M (float or half) between them. */
static const char* const cubic_text = R"(
typedef pack<IN, V> in_t;
typedef pack<OUT, V> out_t;
struct taps_t { int first; float weight[4]; };
__device__ inline int inside(int at, int extent) { return min(max(at, 0), extent - 1); }
__device__ inline taps_t taps_of(int at, int in, int out, const taps_t* table) {
#if WAY == 1
  return table[at];
#else
  taps_t t;
  const double place = ((double)at + 0.5) * ((double)in / (double)out) - 0.5, below = floor(place);
  const float d = (float)(place - below), a = -0.75f;
  t.first = (int)below - 1;
  const float d1 = d + 1, e = 1 - d, e1 = 2 - d;
  t.weight[0] = ((a * d1 - 5 * a) * d1 + 8 * a) * d1 - 4 * a;
  t.weight[1] = ((a + 2) * d - (a + 3)) * d * d + 1;
  t.weight[2] = ((a + 2) * e - (a + 3)) * e * e + 1;
  t.weight[3] = ((a * e1 - 5 * a) * e1 + 8 * a) * e1 - 4 * a;
  return t;
#endif
}
/* ROWS_IN x COLUMNS_IN to ROWS_OUT x COLUMNS_OUT; of a pass one of the two stays. INNER channels last,
 * or 1: V neighbours are columns. */
extern "C" __global__ void __launch_bounds__(THREADS)
    generated(const IN* __restrict__ x, OUT* __restrict__ y, const taps_t* __restrict__ table) {
  const unsigned e = (blockIdx.x * THREADS + threadIdx.x) * V;
  wait_for_predecessor();
#if RELEASE
  release_dependents();
#endif
  if (e >= COUNT) return;
  const unsigned c = e % INNER, q = e / INNER;
  const int column = q % COLUMNS_OUT, row = q / COLUMNS_OUT % ROWS_OUT;
  const IN* from = x + (size_t)(q / (COLUMNS_OUT * ROWS_OUT)) * ROWS_IN * COLUMNS_IN * INNER + c;
  float sum[V] = {};
#if INNER > 1
#if WAY != 3
  const taps_t down = taps_of(row, ROWS_IN, ROWS_OUT, table);
#endif
#if WAY != 2
  const taps_t across = taps_of(column, COLUMNS_IN, COLUMNS_OUT, table + ROWS_OUT);
#endif
#pragma unroll
  for (int a = 0; a < (WAY == 3 ? 1 : 4); a++) {
#if WAY == 3
    const IN* line = from + row * (COLUMNS_IN * INNER);
#else
    const IN* line = from + inside(down.first + a, ROWS_IN) * (COLUMNS_IN * INNER);
#endif
    float part[V] = {};
#pragma unroll
    for (int b = 0; b < (WAY == 2 ? 1 : 4); b++) {
#if WAY == 2
      const in_t v = *(const in_t*)(line + column * INNER);
      const float w = 1;
#else
      const in_t v = *(const in_t*)(line + inside(across.first + b, COLUMNS_IN) * INNER);
      const float w = across.weight[b];
#endif
#pragma unroll
      for (int k = 0; k < V; k++) part[k] += load(v.v[k]) * w;
    }
#if WAY == 3
#pragma unroll
    for (int k = 0; k < V; k++) sum[k] = part[k];
#else
#pragma unroll
    for (int k = 0; k < V; k++) sum[k] += part[k] * down.weight[a];
#endif
  }
#else
#if WAY != 3
  const taps_t down = taps_of(row, ROWS_IN, ROWS_OUT, table);
#endif
#if WAY == 2
#pragma unroll
  for (int a = 0; a < 4; a++) {
    const in_t v = *(const in_t*)(from + inside(down.first + a, ROWS_IN) * COLUMNS_IN + column);
#pragma unroll
    for (int k = 0; k < V; k++) sum[k] += load(v.v[k]) * down.weight[a];
  }
#else
#pragma unroll
  for (int k = 0; k < V; k++) {
    const taps_t across = taps_of(column + k, COLUMNS_IN, COLUMNS_OUT, table + ROWS_OUT);
#pragma unroll
    for (int a = 0; a < (WAY == 3 ? 1 : 4); a++) {
#if WAY == 3
      const IN* line = from + row * COLUMNS_IN;
#else
      const IN* line = from + inside(down.first + a, ROWS_IN) * COLUMNS_IN;
#endif
      float part = 0;
#pragma unroll
      for (int b = 0; b < 4; b++) part += load(line[inside(across.first + b, COLUMNS_IN)]) * across.weight[b];
#if WAY == 3
      sum[k] = part;
#else
      sum[k] += part * down.weight[a];
#endif
    }
  }
#endif
#endif
  out_t out;
#pragma unroll
  for (int k = 0; k < V; k++) out.v[k] = convert<OUT>::store(sum[k]);
  *(out_t*)(y + e) = out;
}
)";

/* The same where the result has twice the extents: a thread makes two rows of V neighbours (of
 * INNER: 2x2 pixels; INNER = 1: V columns), so that the five rows and columns around them come
 * once. */
static const char* const cubic_twice_text = R"(
typedef pack<half, V> pack_t;
__device__ inline int inside(int at) { return min(max(at, 0), IN - 1); }
/* the coefficients of a place 1/4 and 3/4 behind a pixel */
constexpr float quarter[4] = {-0.10546875f, 0.87890625f, 0.26171875f, -0.03515625f};
extern "C" __global__ void __launch_bounds__(THREADS)
    generated(const half* __restrict__ x, half* __restrict__ y) {
  const unsigned t = blockIdx.x * THREADS + threadIdx.x;
  wait_for_predecessor();
#if RELEASE
  release_dependents();
#endif
  constexpr float near[4] = {quarter[0], quarter[1], quarter[2], quarter[3]},
                  far[4] = {quarter[3], quarter[2], quarter[1], quarter[0]};
#if INNER > 1
  const unsigned c = t % (INNER / V) * V, q = t / (INNER / V);
  const int j = q % IN, i = q / IN % IN;
  const unsigned plane = q / (IN * IN);
  if (plane >= PLANES) return;
  const half* from = x + (size_t)plane * IN * IN * INNER + c;
  float sum[2][2][V] = {};
#pragma unroll
  for (int r = 0; r < 5; r++) {
    const half* line = from + inside(i - 2 + r) * (IN * INNER);
    float left[V] = {}, right[V] = {};
#pragma unroll
    for (int b = 0; b < 5; b++) {
      const pack_t v = *(const pack_t*)(line + inside(j - 2 + b) * INNER);
#pragma unroll
      for (int k = 0; k < V; k++) {
        const float f = load(v.v[k]);
        if (b < 4) left[k] += f * far[b];
        if (b > 0) right[k] += f * near[b - 1];
      }
    }
#pragma unroll
    for (int k = 0; k < V; k++) {
      if (r < 4) { sum[0][0][k] += left[k] * far[r]; sum[0][1][k] += right[k] * far[r]; }
      if (r > 0) { sum[1][0][k] += left[k] * near[r - 1]; sum[1][1][k] += right[k] * near[r - 1]; }
    }
  }
#pragma unroll
  for (int a = 0; a < 4; a++) {
    pack_t out;
#pragma unroll
    for (int k = 0; k < V; k++) out.v[k] = convert<half>::store(sum[a / 2][a % 2][k]);
    *(pack_t*)(y + (((size_t)plane * 2 * IN + 2 * i + a / 2) * 2 * IN + 2 * j + a % 2) * INNER + c) = out;
  }
#else
  const unsigned column = t % (2 * IN / V) * V, q = t / (2 * IN / V), plane = q / IN;
  const int j = column / 2, i = q % IN;
  if (plane >= PLANES) return;
  const half* from = x + (size_t)plane * IN * IN;
  float sum[2][V] = {};
#pragma unroll
  for (int r = 0; r < 5; r++) {
    const half* line = from + inside(i - 2 + r) * IN;
    float f[V / 2 + 4];
#pragma unroll
    for (int b = 0; b < V / 2 + 4; b++) f[b] = load(line[inside(j - 2 + b)]);
#pragma unroll
    for (int k = 0; k < V; k++) {
      float part = 0;
#pragma unroll
      for (int b = 0; b < 4; b++) part += f[k / 2 + k % 2 + b] * (k % 2 ? near[b] : far[b]);
      if (r < 4) sum[0][k] += part * far[r];
      if (r > 0) sum[1][k] += part * near[r - 1];
    }
  }
#pragma unroll
  for (int a = 0; a < 2; a++) {
    pack_t out;
#pragma unroll
    for (int k = 0; k < V; k++) out.v[k] = convert<half>::store(sum[a][k]);
    *(pack_t*)(y + ((size_t)plane * 2 * IN + 2 * i + a) * 2 * IN + column) = out;
  }
#endif
}
)";
