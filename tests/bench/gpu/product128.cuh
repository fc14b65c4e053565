/* One product of 128 rows as a step of a chain of dependent launches (sm_90a):
 *
 *   y[128][columns] = f(x[128][channels] w[columns][channels]^T + bias)        fp16 in, fp32 sums, fp16 out
 *
 * A block makes 64 * WARPGROUPS rows by COLUMNS columns from channels / SPLIT channels. Before the wait it fetches all of its
 * weights into shared memory; after it a producer warp feeds x through a ring of stages of 64 channels, each of the consumer
 * warpgroups multiplies 64 rows, and four helper warps add up the row statistics meanwhile. Blocks of a cluster may share the stages of x (`sharing`, neighbours in the
 * columns), share the weights (`weight_sharing`, the two halves of the rows), and split the sum (SPLIT): then each of them
 * finishes COLUMNS / SPLIT columns, and the others push their part into its shared memory.
 *
 * NORMALISE: x is normalised by row statistics: y = f(deviation^-1 (x w^T - mean * sum(w)) + bias), f GELU or nothing.
 * RESIDUAL: y = x w^T + bias + gamma * normalised(residual) + beta, and row statistics of y leave for the next product. */
#pragma once

#include "hopper.cuh"

enum { PRODUCT_ROWS = 128, PRODUCT_CHUNK = 4, PRODUCT_CHUNKS_MAX = 16, PRODUCT_STAGES_MAX = 24 };
enum { PRODUCT_HELPERS = 128, PRODUCT_STAMPS = 8 };
enum { PRODUCT_SKIP_PRODUCTS = 1, PRODUCT_SKIP_INPUT = 2, PRODUCT_SKIP_MOMENTS = 4, PRODUCT_SKIP_EXCHANGE = 8 };
enum product_mode_t { PRODUCT_NORMALISE, PRODUCT_RESIDUAL };

struct product_arguments_t {
  CUtensorMap input;   /* [128][channels], boxes of 64 channels by 64 * WARPGROUPS / sharing rows, 128-byte swizzle */
  const half* weights; /* packed: see pack_product_weights */
  const float *bias, *weight_sums, *gamma, *beta;
  const half* residual;
  const float2 *input_statistics, *residual_statistics; /* [statistics_count][128]: sum and sum of squares; NULL: none */
  float2* output_statistics;                            /* [columns / own columns of a block][128]; NULL: none */
  half* output;
  unsigned long long* stamps; /* NULL, or 8 for each block */
  int columns, channels, stages, sharing, weight_sharing, statistics_count, gelu, late_weights;
  int skip; /* parts left out to see what they cost: PRODUCT_SKIP_... */
};

/* Where things lie in a block's shared memory, in bytes; barriers are below `weights`. */
struct product_layout_t {
  int weights, ring, pushed, size;
};

template <int WARPGROUPS, int COLUMNS, int SPLIT>
__host__ __device__ inline product_layout_t product_layout(int channels, int stages) {
  product_layout_t layout;
  layout.weights = 2048; /* behind barriers and, from 1024 on, the sums of the rows */
  layout.ring = layout.weights + COLUMNS * (channels / SPLIT) * 2;
  layout.pushed = layout.ring + stages * WARPGROUPS * 64 * 128;
  layout.size = layout.pushed + (SPLIT - 1) * (COLUMNS / SPLIT / 8) * WARPGROUPS * 128 * 16;
  return layout;
}

/* Adds up partial sums of rows: thread i of the helpers takes row i % rows and every (helpers / rows)th part. */
__device__ __forceinline__ void add_partials(const float2* partial, int count, int rows, int first_row, int helper,
                                             float2* out) {
  const int row = helper % rows, step = PRODUCT_HELPERS / rows;
  float2 sum = {0, 0};
  for (int begin = helper / rows; begin < count; begin += 24 * step) {
    float2 v[24]; /* all on their way at once */
#pragma unroll
    for (int i = 0; i < 24; i++) {
      const int part = begin + i * step;
      v[i] = part < count ? __ldcg(partial + part * PRODUCT_ROWS + first_row + row) : make_float2(0, 0);
    }
#pragma unroll
    for (int i = 0; i < 24; i++) {
      sum.x += v[i].x;
      sum.y += v[i].y;
    }
  }
  out[helper] = sum;
}
/* Mean and inverse deviation of a row from what the helpers left. */
__device__ __forceinline__ float2 row_moments(const float2* sums, int rows, int row, int width) {
  float2 sum = sums[row];
  if (rows < PRODUCT_HELPERS) {
    sum.x += sums[row + rows].x;
    sum.y += sums[row + rows].y;
  }
  const float mean = sum.x / width;
  return {mean, rsqrtf(sum.y / width - mean * mean + 1e-12f)};
}

/* By Abramowitz and Stegun 7.1.26, off by at most 1.5e-7: half the instructions of erff. */
__device__ __forceinline__ float gelu_fast(float x) {
  const float z = fabsf(x) * 0.70710678f, t = __fdividef(1.f, 1.f + 0.3275911f * z);
  const float p =
      t * (0.254829592f + t * (-0.284496736f + t * (1.421413741f + t * (-1.453152027f + t * 1.061405429f))));
  const float half_tail = 0.5f * p * __expf(-z * z);
  return x * (x > 0 ? 1.f - half_tail : half_tail);
}

template <int WARPGROUPS, int COLUMNS, int SPLIT, int MODE>
__global__ void __launch_bounds__(WARPGROUPS * 128 + 32 + PRODUCT_HELPERS) product128(const __grid_constant__ product_arguments_t p) {
  constexpr int N8 = COLUMNS / 8, OWN8 = N8 / SPLIT, STAGE = WARPGROUPS * 64 * 128;
  constexpr int WIDTH = OWN8 % 2 == 0 ? 4 : 2, UNITS = OWN8 * 2 / WIDTH; /* neighbouring columns of a thread, how often */
  static_assert(OWN8 * SPLIT == N8, "columns must divide");
  extern __shared__ __align__(1024) uint8_t memory[];

  const int warp = __shfl_sync(~0u, (int)threadIdx.x / 32, 0); /* so that it is known to be uniform */
  const int lane = threadIdx.x % 32, group = warp / 4, quad = lane / 4, quad_lane = lane % 4;
  const bool is_consumer = warp < WARPGROUPS * 4, is_producer = warp == WARPGROUPS * 4;
  const int part = blockIdx.x, row_tile = blockIdx.z, first_group = blockIdx.y * N8 + part * OWN8;
  const int neighbour = blockIdx.y % p.sharing, half_rows = p.weight_sharing == 2 ? row_tile : 0;
  const int cluster_size = SPLIT * p.sharing * p.weight_sharing;
  const int blocks = p.channels / 64 / SPLIT, chunks = (blocks + PRODUCT_CHUNK - 1) / PRODUCT_CHUNK;
  const product_layout_t layout = product_layout<WARPGROUPS, COLUMNS, SPLIT>(p.channels, p.stages);
  const uint32_t base = shared_address(memory), full = base, empty = full + 8 * PRODUCT_STAGES_MAX,
                 ready = empty + 8 * PRODUCT_STAGES_MAX, pushed = ready + 8 * PRODUCT_CHUNKS_MAX, added = pushed + 8;
  float2* const sums = (float2*)(memory + 1024);
  const uint32_t weights = base + layout.weights, ring = base + layout.ring, inbox = base + layout.pushed;
  unsigned long long time[PRODUCT_STAMPS];
  if (p.stamps) {
    time[0] = global_time();
  }

  /* All weights of this block: groups of 8 columns, in chunks of 256 channels that have a barrier each. */
  auto fetch_weights = [&] {
    const char* from = (const char*)p.weights + ((size_t)blockIdx.y * N8 * (p.channels / 64) + part * blocks) * 1024;
    for (int c = 0; c < chunks; c++) {
      const int count = min(PRODUCT_CHUNK, blocks - c * PRODUCT_CHUNK), bytes = count * 1024;
      barrier_expect(ready + c * 8, N8 * bytes);
      for (int g = half_rows; g < N8; g += p.weight_sharing) {
        const uint32_t to = weights + (g * blocks + c * PRODUCT_CHUNK) * 1024;
        const char* source = from + ((size_t)g * (p.channels / 64) + c * PRODUCT_CHUNK) * 1024;
        if (p.weight_sharing == 1) {
          bulk_copy(to, source, bytes, ready + c * 8);
        } else {
          const int first = part + SPLIT * neighbour, stride = SPLIT * p.sharing;
          bulk_copy_multicast(to, source, bytes, ready + c * 8, (uint16_t)(1 << first | 1 << (first + stride)));
        }
      }
    }
  };

  if (is_producer && lane == 0) {
    for (int i = 0; i < p.stages; i++) {
      barrier_initialize(full + i * 8, 1);
      barrier_initialize(empty + i * 8, p.sharing * WARPGROUPS * 4);
    }
    for (int i = 0; i < chunks; i++) {
      barrier_initialize(ready + i * 8, 1);
    }
    barrier_initialize(pushed, 1);
    barrier_initialize(added, PRODUCT_HELPERS);
    barrier_publish();
    if (p.late_weights) {
      wait_for_predecessor();
    }
    if (p.weight_sharing == 1) {
      fetch_weights();
    }
    if (SPLIT > 1) {
      barrier_expect(pushed, (SPLIT - 1) * OWN8 * WARPGROUPS * 128 * 16);
    }
    release_dependents();
    prefetch_map(&p.input);
  }
  __syncwarp();
  if (cluster_size > 1) {
    cluster_arrive();
  }

  float bias[UNITS][WIDTH], scale[UNITS][WIDTH], shift[UNITS][WIDTH]; /* scale: sums of the weights, or gamma */
  int column[UNITS];
#pragma unroll
  for (int u = 0; u < UNITS; u++) {
    const int g = first_group + u * WIDTH / 2;
    column[u] = 16 * (g / 2) + 4 * quad_lane + 2 * (g % 2);
    if (is_consumer) {
#pragma unroll
      for (int i = 0; i < WIDTH; i++) {
        bias[u][i] = __ldg(p.bias + column[u] + i);
        scale[u][i] = MODE == PRODUCT_NORMALISE ? (p.input_statistics ? __ldg(p.weight_sums + column[u] + i) : 0.f)
                                                : (p.residual_statistics ? __ldg(p.gamma + column[u] + i) : 1.f);
        shift[u][i] = MODE == PRODUCT_RESIDUAL && p.residual_statistics ? __ldg(p.beta + column[u] + i) : 0.f;
      }
    }
  }
  __syncthreads();
  if (cluster_size > 1) {
    cluster_wait();
  }
  if (is_producer && lane == 0 && p.weight_sharing == 2) {
    fetch_weights();
  }
  wait_for_predecessor();
  if (p.stamps) {
    time[1] = global_time();
  }

  if (is_producer) {
    if (lane == 0) {
      const int rows = WARPGROUPS * 64 / p.sharing, row = row_tile * WARPGROUPS * 64 + neighbour * rows;
      uint16_t readers = 0;
      for (int i = 0; i < p.sharing; i++) {
        readers |= (uint16_t)(1 << (part + SPLIT * (i + p.sharing * half_rows)));
      }
      for (int b = 0; b < blocks; b++) {
        const int slot = b % p.stages;
        if (b >= p.stages) {
          barrier_wait(empty + slot * 8, (b / p.stages - 1) & 1);
        }
        if (p.skip & PRODUCT_SKIP_INPUT) {
          barrier_arrive(full + slot * 8);
          continue;
        }
        barrier_expect(full + slot * 8, STAGE);
        const uint32_t to = ring + slot * STAGE + neighbour * rows * 128;
        if (p.sharing == 1) {
          tile_copy(to, &p.input, (part * blocks + b) * 64, row, full + slot * 8);
        } else {
          tile_copy_multicast(to, &p.input, (part * blocks + b) * 64, row, full + slot * 8, readers);
        }
      }
    }
    return;
  }
  const float2* partial = MODE == PRODUCT_NORMALISE ? p.input_statistics : p.residual_statistics;
  if (!is_consumer) {
    if (partial && !(p.skip & PRODUCT_SKIP_MOMENTS)) {
      add_partials(partial, p.statistics_count, WARPGROUPS * 64, row_tile * WARPGROUPS * 64,
                   (int)threadIdx.x - WARPGROUPS * 128 - 32, sums);
    }
    barrier_arrive(added);
    return;
  }

  /* What the epilogue needs of the predecessor is on its way while the products run. */
  const int row = row_tile * WARPGROUPS * 64 + group * 64 + warp % 4 * 16 + quad; /* and row + 8 */
  uint32_t residual[UNITS][2][WIDTH / 2];
  if (MODE == PRODUCT_RESIDUAL) {
#pragma unroll
    for (int u = 0; u < UNITS; u++) {
#pragma unroll
      for (int h = 0; h < 2; h++) {
        const half* from = p.residual + (size_t)(row + 8 * h) * p.columns + column[u];
        if constexpr (WIDTH == 4) {
          const uint2 v = __ldcg((const uint2*)from);
          residual[u][h][0] = v.x;
          residual[u][h][1] = v.y;
        } else {
          residual[u][h][0] = __ldcg((const uint32_t*)from);
        }
      }
    }
  }
  float sum[N8][4];
#pragma unroll
  for (int i = 0; i < N8; i++) {
#pragma unroll
    for (int j = 0; j < 4; j++) {
      sum[i][j] = 0;
    }
  }
  for (int b = 0, slot = 0, phase = 0, previous = 0; b < blocks; b++) {
    if (b % PRODUCT_CHUNK == 0) {
      barrier_wait(ready + b / PRODUCT_CHUNK * 8, 0);
    }
    barrier_wait(full + slot * 8, phase);
    if (p.stamps && b == 0) {
      time[2] = global_time();
    }
    if (!(p.skip & PRODUCT_SKIP_PRODUCTS)) {
      products_begin();
      const uint64_t left = matrix_descriptor(ring + slot * STAGE + group * 64 * 128, 1024);
      const uint64_t right = matrix_descriptor(weights + b * 1024, blocks * 1024);
#pragma unroll
      for (int k = 0; k < 4; k++) {
        product<N8>(sum, left + 2 * k, right + 2 * k); /* 16 channels are 32 bytes */
      }
      products_commit();
    }
    if (b > 0) {
      products_wait<1>();
      if (b - 1 + p.stages < blocks && lane < p.sharing) { /* somebody waits for the previous stage */
        const int block = part + SPLIT * (lane + p.sharing * half_rows);
        barrier_arrive_remote(map_to_block(empty + previous * 8, block));
      }
    }
    previous = slot;
    if (++slot == p.stages) {
      slot = 0;
      phase ^= 1;
    }
  }
  products_wait<0>();
  if (p.stamps) {
    time[3] = global_time();
  }

  float own[OWN8][4];
  if constexpr (SPLIT == 1) {
#pragma unroll
    for (int i = 0; i < OWN8; i++) {
#pragma unroll
      for (int j = 0; j < 4; j++) {
        own[i][j] = sum[i][j];
      }
    }
  } else if (p.skip & PRODUCT_SKIP_EXCHANGE) {
#pragma unroll
    for (int i = 0; i < OWN8; i++) {
#pragma unroll
      for (int j = 0; j < 4; j++) {
        own[i][j] = sum[i][j];
      }
    }
  } else {
    const int first = SPLIT * (neighbour + p.sharing * half_rows);
#pragma unroll
    for (int to = 0; to < SPLIT; to++) {
      if (to == part) {
#pragma unroll
        for (int i = 0; i < OWN8; i++) {
#pragma unroll
          for (int j = 0; j < 4; j++) {
            own[i][j] = sum[to * OWN8 + i][j];
          }
        }
      } else {
        const int sender = (part + SPLIT - to) % SPLIT - 1;
        const uint32_t box = map_to_block(inbox, first + to), barrier = map_to_block(pushed, first + to);
#pragma unroll
        for (int i = 0; i < OWN8; i++) {
          const float* v = sum[to * OWN8 + i];
          store_async(box + ((sender * OWN8 + i) * WARPGROUPS * 128 + threadIdx.x) * 16, v[0], v[1], v[2], v[3],
                      barrier);
        }
      }
    }
    barrier_wait(pushed, 0);
#pragma unroll
    for (int sender = 0; sender < SPLIT - 1; sender++) {
#pragma unroll
      for (int i = 0; i < OWN8; i++) {
        const float4 v =
            *(const float4*)(memory + layout.pushed + ((sender * OWN8 + i) * WARPGROUPS * 128 + threadIdx.x) * 16);
        own[i][0] += v.x;
        own[i][1] += v.y;
        own[i][2] += v.z;
        own[i][3] += v.w;
      }
    }
  }
  if (p.stamps) {
    time[4] = global_time();
  }

  float2 moments[2] = {{0, 1}, {0, 1}};
  if (partial) {
    const int width = MODE == PRODUCT_NORMALISE ? p.channels : p.columns, local = group * 64 + warp % 4 * 16 + quad;
    barrier_wait(added, 0);
    moments[0] = row_moments(sums, WARPGROUPS * 64, local, width);
    moments[1] = row_moments(sums, WARPGROUPS * 64, local + 8, width);
  }
  if (p.stamps) {
    time[5] = global_time();
  }
#pragma unroll
  for (int h = 0; h < 2; h++) {
    float2 statistics = {0, 0};
#pragma unroll
    for (int u = 0; u < UNITS; u++) {
      float v[WIDTH];
#pragma unroll
      for (int i = 0; i < WIDTH; i++) {
        v[i] = own[u * WIDTH / 2 + i / 2][2 * h + i % 2];
        if (MODE == PRODUCT_NORMALISE) {
          v[i] = moments[h].y * (v[i] - moments[h].x * scale[u][i]) + bias[u][i];
          if (p.gelu) {
            v[i] = gelu_fast(v[i]);
          }
        } else {
          const float2 pair = unpack_half(residual[u][h][i / 2]);
          const float r = i % 2 ? pair.y : pair.x;
          v[i] += bias[u][i] + (r - moments[h].x) * moments[h].y * scale[u][i] + shift[u][i];
          statistics.x += v[i];
          statistics.y += v[i] * v[i];
        }
      }
      half* to = p.output + (size_t)(row + 8 * h) * p.columns + column[u];
      if constexpr (WIDTH == 4) {
        *(uint2*)to = make_uint2(pack_half(v[0], v[1]), pack_half(v[2], v[3]));
      } else {
        *(uint32_t*)to = pack_half(v[0], v[1]);
      }
    }
    if (MODE == PRODUCT_RESIDUAL && p.output_statistics) {
      for (int other = 1; other < 4; other *= 2) {
        statistics.x += __shfl_xor_sync(~0u, statistics.x, other);
        statistics.y += __shfl_xor_sync(~0u, statistics.y, other);
      }
      if (quad_lane == 0) {
        p.output_statistics[(blockIdx.y * SPLIT + part) * PRODUCT_ROWS + row + 8 * h] = statistics;
      }
    }
  }
  if (p.stamps && threadIdx.x == 0) {
    const int block = (blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x;
    for (int i = 0; i < 6; i++) {
      p.stamps[block * PRODUCT_STAMPS + i] = time[i];
    }
    p.stamps[block * PRODUCT_STAMPS + 6] = global_time();
    p.stamps[block * PRODUCT_STAMPS + 7] = 1;
  }
}

/* [columns][channels] to groups of 8 columns by 64 channels, 1024 bytes each, swizzled as the products read them; within 16
 * columns the order is such that a thread's sums are neighbours. */
static __global__ void pack_product_weights(half* to, const half* from, int columns, int channels) {
  const size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
  if (i >= (size_t)columns * channels) {
    return;
  }
  const int row = i / 64 % 8, chunk = (int)(i / 8 % 8) ^ row;
  const size_t tile = i / 512, g = tile / (channels / 64), block = tile % (channels / 64);
  const size_t column = 16 * (g / 2) + 4 * (row / 2) + 2 * (g % 2) + row % 2;
  to[i] = from[column * channels + block * 64 + chunk * 8 + i % 8];
}
