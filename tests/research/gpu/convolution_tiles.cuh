/* A 3x3 convolution with padding 1 as an implicit product (sm_90a, fp16, NHWC, fp32 sums):
 *
 *   y[image, row, column][out] = relu(x around it . w[out] + bias[out] (+ residual))
 *
 * A row of the product is a pixel of the output, its channels are the window's: 9 taps of
 * `channels` in blocks of 64. A block of threads makes GROUPS * HEIGHT * 64 pixels by 8 * N8
 * channels; the SPLIT blocks of a cluster share the taps and push their sums into the shared memory
 * of those that finish some columns each. The input comes by WINDOW_COPIES (the bulk copy engine's
 * im2col mode, asked for by one thread) or by SMALL_COPIES (128 threads, 16 bytes each, zeros by
 * predicate). The weights of the first stages are asked for before the wait.
 *
 * `diagonal` (window copies alone): 64 channels of the output see the same 64 of the input and no
 * others, as grouped convolutions do once their weights are filled up with zeros; `channels` is 64
 * then. */
#pragma once

#include "hopper.cuh"

enum input_source_t { WINDOW_COPIES, SMALL_COPIES };
enum { TILE_STAGES_MAX = 40, TILE_LAG = 2 };
/* Parts left out to see what they cost. */
enum { TILE_SKIP_PRODUCTS = 1, TILE_SKIP_INPUT = 2, TILE_SKIP_WEIGHTS = 4 };

struct tile_arguments_t {
  CUtensorMap input;                         /* of window copies */
  const half *x, *weights, *bias, *residual; /* weights: see pack_tile_weights; residual may miss */
  half* y;
  int channels, extent, output_extent, stride, columns, rows, stages, release_late, late_weights,
      skip, diagonal;
};

/* How many blocks of a cluster finish columns. */
constexpr int tile_owners(int n8, int split) {
  int owners = 1;
  while (owners * 2 <= split && n8 % (owners * 2) == 0) {
    owners *= 2;
  }
  return owners;
}

/* WORDS words as one access. */
template <int WORDS>
__device__ __forceinline__ void copy_words(uint32_t* to, const uint32_t* from) {
  if constexpr (WORDS == 4) {
    *(uint4*)to = *(const uint4*)from;
  } else if constexpr (WORDS == 2) {
    *(uint2*)to = *(const uint2*)from;
  } else {
    *to = *from;
  }
}

/* Bias, residual, ReLU of a thread's columns in one row of y: of its sums the upper or the `lower`
 * row's. `owned`: the block's first group of columns that is its own. */
template <int OWN8>
__device__ __forceinline__ void finish_row(const tile_arguments_t& p, const float* bias,
                                           int first_column, int owned, size_t row, int lower,
                                           int quad_lane, const float (&own)[OWN8][4]) {
  constexpr int WIDTH = OWN8 % 4 == 0 ? 8 : OWN8 % 2 == 0 ? 4 : 2; /* neighbouring columns */
#pragma unroll
  for (int u = 0; u < OWN8 * 2 / WIDTH; u++) {
    const int g = owned + u * WIDTH / 2, local = 32 * (g / 4) + 8 * quad_lane + 2 * (g % 4);
    const size_t at = row * p.columns + first_column + local;
    alignas(16) uint32_t residual[WIDTH / 2] = {}, packed[WIDTH / 2];
    if (p.residual) {
      copy_words<WIDTH / 2>(residual, (const uint32_t*)(p.residual + at));
    }
#pragma unroll
    for (int i = 0; i < WIDTH / 2; i++) {
      const float* v = own[u * WIDTH / 2 + i];
      const float2 r = unpack_half(residual[i]);
      packed[i] = pack_half(fmaxf((lower ? v[2] : v[0]) + bias[local + 2 * i] + r.x, 0.f),
                            fmaxf((lower ? v[3] : v[1]) + bias[local + 2 * i + 1] + r.y, 0.f));
    }
    copy_words<WIDTH / 2>((uint32_t*)(p.y + at), packed);
  }
}

template <int GROUPS, int HEIGHT, int N8, int SPLIT>
struct tile_t {
  enum {
    OWNERS = tile_owners(N8, SPLIT),
    OWN8 = N8 / OWNERS,
    ROWS = GROUPS * HEIGHT * 64,
    INPUT_BYTES = ROWS * 128,
    WEIGHT_BYTES = N8 * 1024,
    STAGE_BYTES = INPUT_BYTES + WEIGHT_BYTES,
    RING = 2048, /* in front of it barriers, at 1024 the bias */
    INBOX_BYTES = (SPLIT - 1) * OWN8 * GROUPS * 128 * 16
  };
  static_assert(SPLIT == 1 || HEIGHT == 1, "only low tiles are split");
  static int shared_bytes(int stages) {
    return RING + stages * STAGE_BYTES + INBOX_BYTES;
  }

  uint32_t full, empty, pushed, ring, inbox;
  int part, first_row, first_column, begin, count; /* blocks of 64 channels of the window */

  __device__ tile_t(const tile_arguments_t& p, const void* memory)
      : part(blockIdx.x), first_row(blockIdx.z * ROWS), first_column(blockIdx.y * N8 * 8) {
    const int all = 9 * p.channels / 64;
    begin = all * part / SPLIT;
    count = all * (part + 1) / SPLIT - begin;
    full = shared_address(memory);
    empty = full + 8 * TILE_STAGES_MAX;
    pushed = empty + 8 * TILE_STAGES_MAX;
    ring = full + RING;
    inbox = ring + p.stages * STAGE_BYTES;
  }
  __device__ void prepare(const tile_arguments_t& p, int arrivals) const {
    for (int i = 0; i < p.stages; i++) {
      barrier_initialize(full + i * 8, arrivals);
      barrier_initialize(empty + i * 8, GROUPS * 4);
    }
    barrier_initialize(pushed, 1);
    barrier_publish();
    if (SPLIT > 1) {
      barrier_expect(pushed, INBOX_BYTES);
    }
  }
  __device__ void fetch_weights(const tile_arguments_t& p, int s, int slot) const {
    if (p.skip & TILE_SKIP_WEIGHTS) {
      return;
    }
    bulk_copy(ring + slot * STAGE_BYTES + INPUT_BYTES,
              (const char*)p.weights + ((size_t)(begin + s) * p.columns + first_column) * 128,
              WEIGHT_BYTES, full + slot * 8);
  }
  __device__ static uint32_t expected(const tile_arguments_t& p, bool input) {
    return (p.skip & TILE_SKIP_WEIGHTS ? 0 : WEIGHT_BYTES) +
           (input && !(p.skip & TILE_SKIP_INPUT) ? INPUT_BYTES : 0);
  }
  /* One thread, before the wait. */
  __device__ void fetch_first_weights(const tile_arguments_t& p, bool input) const {
    for (int s = 0; s < min(p.stages, count); s++) {
      barrier_expect(full + s * 8, expected(p, input));
      fetch_weights(p, s, s);
    }
  }
  /* One thread, after the wait. */
  __device__ void feed_by_windows(const tile_arguments_t& p) const {
    const int pixel = first_row % (p.output_extent * p.output_extent),
              image = first_row / (p.output_extent * p.output_extent),
              x = pixel % p.output_extent * p.stride - 1,
              y = pixel / p.output_extent * p.stride - 1, deep = p.channels / 64;
    const int first_channel = p.diagonal ? first_column / 64 * 64 : 0;
    int block = begin % deep, tap = begin / deep;
    for (int s = 0, slot = 0, phase = 1; s < count; s++) {
      if (s >= p.stages) {
        barrier_wait(empty + slot * 8, phase);
        barrier_expect(full + slot * 8, expected(p, true));
        fetch_weights(p, s, slot);
      }
      if (!(p.skip & TILE_SKIP_INPUT)) {
        window_copy(ring + slot * STAGE_BYTES, &p.input, first_channel + block * 64, x, y, image,
                    tap % 3, tap / 3, full + slot * 8);
      }
      if (++block == deep) {
        block = 0;
        tap++;
      }
      if (++slot == p.stages) {
        slot = 0;
        phase ^= 1;
      }
    }
  }

  /* What one of 128 threads knows of its rows before the wait. */
  struct pixels_t {
    enum { EACH = ROWS / 16 };
    int at[EACH];          /* in elements, where the window begins */
    uint32_t inside[EACH]; /* a bit a tap */
    __device__ void prepare(const tile_arguments_t& p, int first_row, int thread) {
      const int area = p.output_extent * p.output_extent;
#pragma unroll
      for (int i = 0; i < EACH; i++) {
        const int row = first_row + i * 16 + thread / 8, image = row / area, pixel = row % area,
                  y = pixel / p.output_extent * p.stride - 1,
                  x = pixel % p.output_extent * p.stride - 1;
        at[i] = ((image * p.extent + y) * p.extent + x) * p.channels + thread % 8 * 8;
        inside[i] = 0;
        for (int tap = 0; tap < 9; tap++) {
          const bool in = row < p.rows && (unsigned)(y + tap / 3) < (unsigned)p.extent &&
                          (unsigned)(x + tap % 3) < (unsigned)p.extent;
          inside[i] |= (uint32_t)in << tap;
        }
      }
    }
  };
  /* 128 threads, after the wait; the first also asks for the weights. */
  __device__ void feed_by_small_copies(const tile_arguments_t& p, const pixels_t& pixels,
                                       int thread) const {
    const uint32_t to = thread / 8 * 128 + (thread % 8 ^ thread / 8 % 8) * 16;
    const int deep = p.channels / 64;
    int block = begin % deep, tap = begin / deep, done = 0;
    for (int s = 0, slot = 0, phase = 1; s < count; s++) {
      if (s >= p.stages) {
        barrier_wait(empty + slot * 8, phase);
        if (thread == 0) {
          barrier_expect(full + slot * 8, expected(p, false));
          fetch_weights(p, s, slot);
        }
      }
      if (!(p.skip & TILE_SKIP_INPUT)) {
        const int shift = (tap / 3 * p.extent + tap % 3) * p.channels + block * 64;
#pragma unroll
        for (int i = 0; i < pixels_t::EACH; i++) {
          const bool inside = pixels.inside[i] >> tap & 1;
          small_copy(ring + slot * STAGE_BYTES + i * 2048 + to,
                     p.x + (inside ? pixels.at[i] + shift : 0), inside);
        }
      }
      small_copies_commit();
      if (s >= TILE_LAG) {
        small_copies_wait<TILE_LAG>();
        publish_to_products();
        barrier_arrive(full + done * 8);
        done = done + 1 == p.stages ? 0 : done + 1;
      }
      if (++block == deep) {
        block = 0;
        tap++;
      }
      if (++slot == p.stages) {
        slot = 0;
        phase ^= 1;
      }
    }
    small_copies_wait<0>();
    publish_to_products();
    for (int i = 0; i < min(count, (int)TILE_LAG); i++) {
      barrier_arrive(full + done * 8);
      done = done + 1 == p.stages ? 0 : done + 1;
    }
  }

  /* Whether there are products is known to the compiler: a condition around them in the loop makes
   * it wait for each one (C7515). */
  template <bool PRODUCTS>
  __device__ void multiply_stages(const tile_arguments_t& p, int group, int lane,
                                  float (&sum)[HEIGHT][N8][4]) const {
    int previous = 0;
    for (int s = 0, slot = 0, phase = 0; s < count; s++) {
      barrier_wait(full + slot * 8, phase);
      if constexpr (PRODUCTS) {
        const uint32_t stage = ring + slot * STAGE_BYTES;
        const uint64_t right = matrix_descriptor(stage + INPUT_BYTES, 1024);
        products_begin();
#pragma unroll
        for (int h = 0; h < HEIGHT; h++) {
          const uint64_t left = matrix_descriptor(stage + (group * HEIGHT + h) * 8192, 1024);
#pragma unroll
          for (int i = 0; i < 4; i++) {
            product<N8>(sum[h], left + 2 * i, right + 2 * i);
          }
        }
        products_commit();
      }
      if (s > 0 && s - 1 + p.stages < count) { /* somebody waits for the previous stage */
        products_wait<1>();
        if (lane == 0) {
          barrier_arrive(empty + previous * 8);
        }
      }
      previous = slot;
      if (++slot == p.stages) {
        slot = 0;
        phase ^= 1;
      }
    }
    products_wait<0>();
  }
  __device__ void multiply(const tile_arguments_t& p, int group, int lane,
                           float (&sum)[HEIGHT][N8][4]) const {
    if (p.skip & TILE_SKIP_PRODUCTS) {
      multiply_stages<false>(p, group, lane, sum);
    } else {
      multiply_stages<true>(p, group, lane, sum);
    }
  }
  /* The sum of all parts of this block's own columns; false: it owns none. */
  __device__ bool exchange(const float (&sum)[N8][4], const uint8_t* memory,
                           float (&own)[OWN8][4]) const {
#pragma unroll
    for (int to = 0; to < OWNERS; to++) {
      if (to == part) {
#pragma unroll
        for (int i = 0; i < OWN8 * 4; i++) {
          own[i / 4][i % 4] = sum[to * OWN8 + i / 4][i % 4];
        }
      } else {
        const int sender = (part + SPLIT - to) % SPLIT - 1;
        const uint32_t box = map_to_block(inbox, to), barrier = map_to_block(pushed, to);
#pragma unroll
        for (int i = 0; i < OWN8; i++) {
          const float* v = sum[to * OWN8 + i];
          store_async(box + ((sender * OWN8 + i) * GROUPS * 128 + threadIdx.x) * 16, v[0], v[1],
                      v[2], v[3], barrier);
        }
      }
    }
    if (part >= OWNERS) {
      return false;
    }
    barrier_wait(pushed, 0);
#pragma unroll
    for (int i = 0; i < (SPLIT - 1) * OWN8; i++) {
      const float4 v =
          *(const float4*)(memory + (inbox - full) + (i * GROUPS * 128 + threadIdx.x) * 16);
      own[i % OWN8][0] += v.x;
      own[i % OWN8][1] += v.y;
      own[i % OWN8][2] += v.z;
      own[i % OWN8][3] += v.w;
    }
    return true;
  }
  /* 64 rows of a warpgroup from `row` of this thread on. */
  __device__ void finish(const tile_arguments_t& p, const float* bias, int row, int quad_lane,
                         const float (&own)[OWN8][4]) const {
#pragma unroll
    for (int lower = 0; lower < 2; lower++) {
      if (row + 8 * lower < p.rows) {
        finish_row<OWN8>(p, bias, first_column, min(part, OWNERS - 1) * OWN8, row + 8 * lower,
                         lower, quad_lane, own);
      }
    }
  }
};

template <int GROUPS, int HEIGHT, int N8, int SPLIT, int SOURCE>
__device__ __forceinline__ void convolve_tile(const tile_arguments_t& p) {
  typedef tile_t<GROUPS, HEIGHT, N8, SPLIT> my_tile_t;
  extern __shared__ __align__(1024) uint8_t memory[];
  float* const bias = (float*)(memory + 1024);
  const my_tile_t tile(p, memory);
  const int warp = __shfl_sync(~0u, (int)threadIdx.x / 32, 0), lane = threadIdx.x % 32;
  const int feeder = (int)threadIdx.x - GROUPS * 128; /* 0: the thread that asks */
  const bool is_consumer = warp < GROUPS * 4;

  if (feeder == 0) {
    tile.prepare(p, SOURCE == WINDOW_COPIES ? 1 : 129);
    if (SOURCE == WINDOW_COPIES) {
      prefetch_map(&p.input);
    }
    if (p.late_weights) {
      wait_for_predecessor();
    }
    tile.fetch_first_weights(p, SOURCE == WINDOW_COPIES);
  }
  if (is_consumer) {
    for (int i = threadIdx.x; i < N8 * 8; i += GROUPS * 128) {
      bias[i] = __half2float(p.bias[tile.first_column + i]);
    }
  }
  __syncthreads();
  if (SPLIT > 1) {
    cluster_arrive();
  }
  if (!p.release_late) {
    release_dependents();
  }
  if (!is_consumer) {
    if constexpr (SOURCE == WINDOW_COPIES) {
      wait_for_predecessor();
      if (p.release_late) {
        release_dependents();
      }
      if (feeder == 0) {
        tile.feed_by_windows(p);
      }
    } else {
      typename my_tile_t::pixels_t pixels;
      pixels.prepare(p, tile.first_row, feeder);
      wait_for_predecessor();
      if (p.release_late) {
        release_dependents();
      }
      tile.feed_by_small_copies(p, pixels, feeder);
    }
    __syncwarp();
    if (SPLIT > 1) {
      cluster_wait();
    }
    return;
  }
  wait_for_predecessor();
  if (p.release_late) {
    release_dependents();
  }
  float sum[HEIGHT][N8][4] = {};
  tile.multiply(p, warp / 4, lane, sum);
  const int row = tile.first_row + warp / 4 * HEIGHT * 64 + warp % 4 * 16 + lane / 4;
  if constexpr (SPLIT > 1) {
    cluster_wait();
    float own[my_tile_t::OWN8][4];
    if (tile.exchange(sum[0], memory, own)) {
      tile.finish(p, bias, row, lane % 4, own);
    }
  } else {
#pragma unroll
    for (int h = 0; h < HEIGHT; h++) {
      tile.finish(p, bias, row + h * 64, lane % 4, sum[h]);
    }
  }
}

template <int GROUPS, int HEIGHT, int N8, int SPLIT, int SOURCE>
__global__ void __launch_bounds__(GROUPS * 128 + (SOURCE == WINDOW_COPIES ? 32 : 128))
    convolve(const __grid_constant__ tile_arguments_t p) {
  convolve_tile<GROUPS, HEIGHT, N8, SPLIT, SOURCE>(p);
}

/* [out][3][3][in] to [9 * in / 64][out / 8] groups of 8 columns by 64 channels, 1024 bytes each,
 * swizzled as the products read them; within 32 columns the order is such that a thread's sums are
 * neighbours. One packing serves every tile. */
static __global__ void pack_tile_weights(half* to, const half* from, int columns, int channels) {
  const size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
  if (i >= (size_t)columns * channels * 9) {
    return;
  }
  const int row = i / 64 % 8, chunk = (int)(i / 8 % 8) ^ row;
  const size_t tile = i / 512, g = tile % (columns / 8), block = tile / (columns / 8);
  const size_t column = 32 * (g / 4) + 8 * (row / 2) + 2 * (g % 4) + row % 2;
  to[i] = from[column * channels * 9 + block * 64 + chunk * 8 + i % 8];
}
