/* The texts of generated elementwise kernels whose operands and results lie anywhere: slices,
 * steps, turned axes, pieces of a concatenation. y = relu(a * 0.75 + b) throughout. */
#pragma once

/* The iteration runs over the result's extents E0 x E1 x E2 x E3; a thread has V neighbours of the
 * last axis, EACH times a block apart. Operand X (A, B or Y) has strides X0..X3; its WAY: 0
 * accesses of XW elements (a stride of 1), 1 single elements, 2 aligned accesses shifted into place
 * by a constant XSHIFT, 3 the same by the address, 4 two accesses of which every second element is
 * taken (a stride of 2), 5 one access turned over (a stride of -1). INDEX: 0 shapes as constants, 1
 * as parameters with multipliers. YWAY 1: a thread has an aligned access of the result, wherever
 * that lies, and shifts what it reads by the address; the ends of a row go by single elements. */
static const char* const strided_text = R"(
struct place_t { unsigned extent[4], magic[4], shift[4]; int a[4], b[4], y[4]; };
#if INDEX == 0
#define QUOTIENT(i, k, constant) ((i) / (constant))
#define EXTENT(k, constant) (constant)
#define STRIDE(name, k, constant) (constant)
#else
#define QUOTIENT(i, k, constant) ((__umulhi((i), where.magic[k]) + (i)) >> where.shift[k])
#define EXTENT(k, constant) where.extent[k]
#define STRIDE(name, k, constant) where.name[k]
#endif
template <int WAY, int W, int STEP, int SHIFT>
__device__ inline void fetch(const T* p, T (&out)[V]) {
  if constexpr (WAY == 0) {
#pragma unroll
    for (int i = 0; i < V / W; i++) {
      const pack<T, W> q = *(const pack<T, W>*)(p + i * W);
#pragma unroll
      for (int k = 0; k < W; k++) out[i * W + k] = q.v[k];
    }
  } else if constexpr (WAY == 1) {
#pragma unroll
    for (int k = 0; k < V; k++) out[k] = p[k * STEP];
  } else if constexpr (WAY == 2) {
    const pack<T, V> low = *(const pack<T, V>*)(p - SHIFT), high = *(const pack<T, V>*)(p - SHIFT + V);
#pragma unroll
    for (int k = 0; k < V; k++) out[k] = k + SHIFT < V ? low.v[(k + SHIFT) % V] : high.v[(k + SHIFT) % V];
  } else if constexpr (WAY == 3) {
    const unsigned bytes = (unsigned)(unsigned long long)p & 15;
    const uint4 *base = (const uint4*)((const char*)p - bytes), low = base[0], high = bytes ? base[1] : low;
    unsigned w[8] = {low.x, low.y, low.z, low.w, high.x, high.y, high.z, high.w};
#pragma unroll
    for (int k = 0; k < 6; k++) w[k] = bytes & 8 ? w[k + 2] : w[k];
#pragma unroll
    for (int k = 0; k < 5; k++) w[k] = bytes & 4 ? w[k + 1] : w[k];
    unsigned r[4];
#pragma unroll
    for (int k = 0; k < 4; k++) r[k] = __funnelshift_r(w[k], w[k + 1], (bytes & 3) * 8);
    const pack<T, V> q = *(const pack<T, V>*)r;
#pragma unroll
    for (int k = 0; k < V; k++) out[k] = q.v[k];
  } else if constexpr (WAY == 4) {
    const pack<T, V> low = *(const pack<T, V>*)p, high = *(const pack<T, V>*)(p + V);
#pragma unroll
    for (int k = 0; k < V; k++) out[k] = 2 * k < V ? low.v[2 * k % V] : high.v[2 * k % V];
  } else {
    const pack<T, V> q = *(const pack<T, V>*)(p - (V - 1));
#pragma unroll
    for (int k = 0; k < V; k++) out[k] = q.v[V - 1 - k];
  }
}
#if YWAY == 1
enum { PACKS = E3 / V + 1 }; /* of a row, wherever it begins */
#else
enum { PACKS = E3 / V };
#endif
__device__ inline void one_access(unsigned t, const T* __restrict__ a, const T* __restrict__ b, T* __restrict__ y,
                                  const place_t& where) {
  const unsigned q3 = QUOTIENT(t, 3, (unsigned)PACKS), pack3 = t - q3 * EXTENT(3, (unsigned)PACKS);
  const unsigned q2 = QUOTIENT(q3, 2, E2), c2 = q3 - q2 * EXTENT(2, E2);
  const unsigned c0 = QUOTIENT(q2, 1, E1), c1 = q2 - c0 * EXTENT(1, E1);
#define AT(name, s0, s1, s2) \
  ((int)c0 * STRIDE(name, 0, s0) + (int)c1 * STRIDE(name, 1, s1) + (int)c2 * STRIDE(name, 2, s2))
  if (c0 >= EXTENT(0, E0)) return;
  T* const row = y + AT(y, Y0, Y1, Y2);
#if YWAY == 1
  const int c3 = (int)(pack3 * V) - (int)((unsigned)(unsigned long long)row / sizeof(T) % V);
#else
  const int c3 = (int)(pack3 * V);
#endif
  const T *from = a + AT(a, A0, A1, A2) + c3 * STRIDE(a, 3, A3), *with = b + AT(b, B0, B1, B2) + c3;
#if YWAY == 1
  if (c3 < 0 || c3 + V > (int)E3) {
    for (int k = max(0, -c3); k < V && c3 + k < (int)E3; k++) {
      row[c3 + k] = convert<T>::store(fmaxf(load(from[k]) * 0.75f + load(with[k]), 0.f));
    }
    return;
  }
#endif
  T va[V], vb[V], out[V];
  fetch<AWAY, AW, A3, ASHIFT>(from, va);
  fetch<YWAY ? 3 : 0, BW, 1, 0>(with, vb);
#pragma unroll
  for (int k = 0; k < V; k++) out[k] = convert<T>::store(fmaxf(load(va[k]) * 0.75f + load(vb[k]), 0.f));
  T* to = row + c3 * STRIDE(y, 3, Y3);
#if Y3 == 1
#pragma unroll
  for (int i = 0; i < V / YW; i++) {
    pack<T, YW> q;
#pragma unroll
    for (int k = 0; k < YW; k++) q.v[k] = out[i * YW + k];
    *(pack<T, YW>*)(to + i * YW) = q;
  }
#else
#pragma unroll
  for (int k = 0; k < V; k++) to[k * Y3] = out[k];
#endif
}
extern "C" __global__ void __launch_bounds__(THREADS)
    generated(const T* __restrict__ a, const T* __restrict__ b, T* __restrict__ y,
              const __grid_constant__ place_t where) {
  wait_for_predecessor();
#if RELEASE
  release_dependents();
#endif
#pragma unroll
  for (int i = 0; i < EACH; i++) one_access((blockIdx.x * EACH + i) * THREADS + threadIdx.x, a, b, y, where);
}
)";

/* a lies as [image][column][row], b and y as [image][row][column] (NCHW against NHWC: a row is a
 * pixel, a column a channel). WAY 0: a thread has V columns of one row and gathers a by single
 * elements; 1: V rows of one column, scatters y and gathers b; 2: R rows by V columns in registers,
 * a read by packs of R, LANES lanes of a warp beside one another along the columns; 3: tiles of
 * 64x64 through shared memory, 16 bytes on both sides of memory, single elements inside. */
static const char* const turned_text = R"(
__device__ inline T apply(T a, T b) { return convert<T>::store(fmaxf(load(a) * 0.75f + load(b), 0.f)); }
extern "C" __global__ void __launch_bounds__(THREADS)
    generated(const T* __restrict__ a, const T* __restrict__ b, T* __restrict__ y) {
#if WAY == 0 || WAY == 1
  const unsigned t = blockIdx.x * THREADS + threadIdx.x;
#if WAY == 0
  const unsigned c = t % (COLUMNS / V) * V, q = t / (COLUMNS / V), row = q % ROWS, image = q / ROWS;
#else
  const unsigned row = t % (ROWS / V) * V, q = t / (ROWS / V), c = q % COLUMNS, image = q / COLUMNS;
#endif
  wait_for_predecessor();
#if RELEASE
  release_dependents();
#endif
  if (image >= IMAGES) return;
  a += (size_t)image * ROWS * COLUMNS;
  b += (size_t)image * ROWS * COLUMNS;
  y += (size_t)image * ROWS * COLUMNS;
#if WAY == 0
  const pack<T, V> vb = *(const pack<T, V>*)(b + row * COLUMNS + c);
  pack<T, V> out;
#pragma unroll
  for (int k = 0; k < V; k++) out.v[k] = apply(a[(c + k) * ROWS + row], vb.v[k]);
  *(pack<T, V>*)(y + row * COLUMNS + c) = out;
#else
  const pack<T, V> va = *(const pack<T, V>*)(a + c * ROWS + row);
#pragma unroll
  for (int k = 0; k < V; k++) y[(row + k) * COLUMNS + c] = apply(va.v[k], b[(row + k) * COLUMNS + c]);
#endif
#elif WAY == 2
  /* a warp has LANES * V columns of 32 / LANES * R rows */
  enum { HIGH = 32 / LANES * R, BROAD = LANES * V, DOWN = (ROWS + HIGH - 1) / HIGH, ACROSS = (COLUMNS + BROAD - 1) / BROAD };
  const unsigned lane = threadIdx.x % 32, w = (blockIdx.x * THREADS + threadIdx.x) / 32;
  const unsigned row = w % DOWN * HIGH + lane / LANES * R, q = w / DOWN, c = q % ACROSS * BROAD + lane % LANES * V, image = q / ACROSS;
  wait_for_predecessor();
#if RELEASE
  release_dependents();
#endif
  if (image >= IMAGES || row >= ROWS || c >= COLUMNS) return;
  a += (size_t)image * ROWS * COLUMNS;
  b += (size_t)image * ROWS * COLUMNS;
  y += (size_t)image * ROWS * COLUMNS;
  pack<T, R> va[V];
  pack<T, V> vb[R];
#pragma unroll
  for (int k = 0; k < V; k++) va[k] = *(const pack<T, R>*)(a + (c + k) * ROWS + row);
#pragma unroll
  for (int r = 0; r < R; r++) vb[r] = *(const pack<T, V>*)(b + (row + r) * COLUMNS + c);
#pragma unroll
  for (int r = 0; r < R; r++) {
    pack<T, V> out;
#pragma unroll
    for (int k = 0; k < V; k++) out.v[k] = apply(va[k].v[r], vb[r].v[k]);
    *(pack<T, V>*)(y + (row + r) * COLUMNS + c) = out;
  }
#else
  enum { DOWN = (ROWS + 63) / 64, ACROSS = (COLUMNS + 63) / 64, PAD = 4 / sizeof(T) };
  __shared__ T tile[64][64 + PAD]; /* [column][row] */
  const unsigned row0 = blockIdx.x % DOWN * 64, q = blockIdx.x / DOWN, c0 = q % ACROSS * 64, image = q / ACROSS;
  wait_for_predecessor();
#if RELEASE
  release_dependents();
#endif
  a += (size_t)image * ROWS * COLUMNS;
  b += (size_t)image * ROWS * COLUMNS;
  y += (size_t)image * ROWS * COLUMNS;
#pragma unroll
  for (int j = 0; j < 64 * 64 / R / THREADS; j++) {
    const unsigned i = j * THREADS + threadIdx.x, c = i / (64 / R), r = i % (64 / R) * R;
    if (row0 + r < ROWS && c0 + c < COLUMNS) {
      const pack<T, R> v = *(const pack<T, R>*)(a + (c0 + c) * ROWS + row0 + r);
#pragma unroll
      for (int k = 0; k < R; k++) tile[c][r + k] = v.v[k];
    }
  }
  __syncthreads();
#pragma unroll
  for (int j = 0; j < 64 * 64 / V / THREADS; j++) {
    const unsigned i = j * THREADS + threadIdx.x, r = i / (64 / V), c = i % (64 / V) * V;
    if (row0 + r < ROWS && c0 + c < COLUMNS) {
      const pack<T, V> vb = *(const pack<T, V>*)(b + (row0 + r) * COLUMNS + c0 + c);
      pack<T, V> out;
#pragma unroll
      for (int k = 0; k < V; k++) out.v[k] = apply(tile[c + k][r], vb.v[k]);
      *(pack<T, V>*)(y + (row0 + r) * COLUMNS + c0 + c) = out;
    }
  }
#endif
}
)";

/* A concatenation of PIECES expressions over channels of widths WIDTHS, piece i from x[i] and z:
 * relu(x * 0.75 + z), x * sigmoid(x) + z, |x| - z, x + z in turn. WAY 0: a thread has V channels of
 * the result, whichever pieces they belong to; V divides every width; 1: the same, but elements are
 * fetched one by one, so that V only divides the sum; 2: blocks are divided among the pieces. */
static const char* const pieces_text = R"(
struct pieces_t { const half* x[PIECES]; };
template <int I> __device__ inline half apply(half xi, half zi) {
  const float x = load(xi), z = load(zi);
  if constexpr (I % 4 == 0) return convert<half>::store(fmaxf(x * 0.75f + z, 0.f));
  if constexpr (I % 4 == 1) return convert<half>::store(__fdividef(x, 1.f + __expf(-x)) + z);
  if constexpr (I % 4 == 2) return convert<half>::store(fabsf(x) - z);
  return convert<half>::store(x + z);
}
__device__ constexpr int width_of(int piece) {
  constexpr int widths[PIECES] = {WIDTHS};
  return widths[piece];
}
__device__ constexpr int before_of(int piece) { return piece == 0 ? 0 : before_of(piece - 1) + width_of(piece - 1); }
template <int I> struct piece_t { enum : unsigned { width = (unsigned)width_of(I), before = (unsigned)before_of(I) }; };
template <int I> __device__ inline void piece(const pieces_t& p, const half* z, half* y, unsigned pixel, unsigned c) {
  const pack<half, V> vx = *(const pack<half, V>*)(p.x[I] + (size_t)pixel * piece_t<I>::width + (c - piece_t<I>::before)),
                      vz = *(const pack<half, V>*)(z + (size_t)pixel * C + c);
  pack<half, V> out;
#pragma unroll
  for (int k = 0; k < V; k++) out.v[k] = apply<I>(vx.v[k], vz.v[k]);
  *(pack<half, V>*)(y + (size_t)pixel * C + c) = out;
}
template <int I> __device__ inline void by_channel(const pieces_t& p, const half* z, half* y, unsigned pixel, unsigned c) {
  if constexpr (I < PIECES) {
    if (c < piece_t<I>::before + piece_t<I>::width) piece<I>(p, z, y, pixel, c);
    else by_channel<I + 1>(p, z, y, pixel, c);
  }
}
template <int I> __device__ inline half element(const pieces_t& p, half z, unsigned pixel, unsigned c) {
  if constexpr (I + 1 < PIECES) {
    if (c >= piece_t<I>::before + piece_t<I>::width) return element<I + 1>(p, z, pixel, c);
  }
  return apply<I>(p.x[I][(size_t)pixel * piece_t<I>::width + (c - piece_t<I>::before)], z);
}
template <int I> __device__ inline void by_block(const pieces_t& p, const half* z, half* y, unsigned block) {
  if constexpr (I < PIECES) {
    const unsigned blocks = (PIXELS * (piece_t<I>::width / V) + THREADS - 1) / THREADS;
    if (block < blocks) {
      const unsigned t = block * THREADS + threadIdx.x, pixel = t / (piece_t<I>::width / V), c = t % (piece_t<I>::width / V) * V;
      if (pixel < PIXELS) piece<I>(p, z, y, pixel, piece_t<I>::before + c);
    } else {
      by_block<I + 1>(p, z, y, block - blocks);
    }
  }
}
extern "C" __global__ void __launch_bounds__(THREADS)
    generated(const pieces_t p, const half* __restrict__ z, half* __restrict__ y) {
  const unsigned t = blockIdx.x * THREADS + threadIdx.x, pixel = t / (C / V), c = t % (C / V) * V;
  wait_for_predecessor();
#if RELEASE
  release_dependents();
#endif
#if ONLY >= 0
  const unsigned own = t / (piece_t<ONLY>::width / V);
  if (own < PIXELS) piece<ONLY>(p, z, y, own, piece_t<ONLY>::before + t % (piece_t<ONLY>::width / V) * V);
#elif WAY == 2
  by_block<0>(p, z, y, blockIdx.x);
#else
  if (pixel >= PIXELS) return;
#if WAY == 0
  by_channel<0>(p, z, y, pixel, c);
#else
  const pack<half, V> vz = *(const pack<half, V>*)(z + (size_t)pixel * C + c);
  pack<half, V> out;
#pragma unroll
  for (int k = 0; k < V; k++) out.v[k] = element<0>(p, vz.v[k], pixel, c + k);
  *(pack<half, V>*)(y + (size_t)pixel * C + c) = out;
#endif
#endif
}
)";
