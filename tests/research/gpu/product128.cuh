/* One product of 128 rows as a step of a chain of dependent launches (sm_90a):
 *
 *   y[128][columns] = f(x[128][channels] w[columns][channels]^T + bias)        fp16 in, fp32 sums,
 * fp16 out
 *
 * A block makes 64 * WARPGROUPS rows by COLUMNS columns from channels / SPLIT channels. Before the
 * wait it fetches all of its weights into shared memory; after it a producer warp feeds x through a
 * ring of stages of 64 channels or a multiple, each of the consumer warpgroups multiplies 64 rows,
 * and four helper warps add up the row statistics meanwhile. The two halves of the rows may share
 * the weights (`weight_sharing`: each block of a pair fetches half and sends it to both). Where
 * SPLIT blocks of a cluster share a sum, the first OWNERS of them finish COLUMNS / OWNERS columns
 * each, and all others push their part into the owners' shared memory.
 *
 * NORMALISE: x is normalised by row statistics: y = f(deviation^-1 (x w^T - mean * sum(w)) + bias),
 * f GELU or nothing. RESIDUAL: y = x w^T + bias + gamma * normalised(residual) + beta, and row
 * statistics of y leave for the next product. */
#pragma once

#include "product128_epilogue.cuh"

/* Where things lie in a block's shared memory, in bytes: barriers, at 1024 the sums of the rows,
 * then these. */
struct product_layout_t {
  int weights, ring, pushed, size;
};

template <int WARPGROUPS, int COLUMNS, int SPLIT, int OWNERS>
__host__ __device__ inline product_layout_t product_layout(int channels, int stages,
                                                           int stage_blocks) {
  product_layout_t layout;
  layout.weights = 2048;
  layout.ring = layout.weights + COLUMNS * (channels / SPLIT) * 2;
  layout.pushed = layout.ring + stages * stage_blocks * WARPGROUPS * 64 * 128;
  layout.size = layout.pushed + (SPLIT - 1) * (COLUMNS / OWNERS / 8) * WARPGROUPS * 128 * 16;
  return layout;
}

/* One block's place in the product. */
template <int WARPGROUPS, int COLUMNS, int SPLIT, int OWNERS>
struct product_block_t {
  enum { N8 = COLUMNS / 8, OWN8 = N8 / OWNERS, ROWS = WARPGROUPS * 64, BLOCK_BYTES = ROWS * 128 };
  enum {
    WIDTH = OWN8 % 2 == 0 ? 4 : 2,
    UNITS = OWN8 * 2 / WIDTH
  }; /* neighbouring columns of a thread, how often */
  static_assert(OWN8 * OWNERS == N8 && OWNERS <= SPLIT, "columns must divide among the owners");
  uint32_t full, empty, ready, pushed, added; /* barriers */
  uint32_t weights, ring, inbox;
  int part, row_tile, blocks,
      chunks; /* of the split; half of the rows; of 64 channels; of PRODUCT_CHUNK blocks */

  __device__ product_block_t(const product_arguments_t& p, const void* memory)
      : part(blockIdx.x), row_tile(blockIdx.z), blocks(p.channels / 64 / SPLIT) {
    const product_layout_t layout =
        product_layout<WARPGROUPS, COLUMNS, SPLIT, OWNERS>(p.channels, p.stages, p.stage_blocks);
    const uint32_t base = shared_address(memory);
    full = base;
    empty = full + 8 * PRODUCT_STAGES_MAX;
    ready = empty + 8 * PRODUCT_STAGES_MAX;
    pushed = ready + 8 * PRODUCT_CHUNKS_MAX;
    added = pushed + 8;
    weights = base + layout.weights;
    ring = base + layout.ring;
    inbox = base + layout.pushed;
    chunks = (blocks + PRODUCT_CHUNK - 1) / PRODUCT_CHUNK;
  }
  __device__ int chunk_blocks(int chunk) const {
    return min((int)PRODUCT_CHUNK, blocks - chunk * PRODUCT_CHUNK);
  }

  /* One thread: all barriers, and what can be promised before the wait. */
  __device__ void prepare(const product_arguments_t& p) const {
    for (int i = 0; i < p.stages; i++) {
      barrier_initialize(full + i * 8, 1);
      barrier_initialize(empty + i * 8, WARPGROUPS * 4);
    }
    for (int i = 0; i < chunks; i++) {
      barrier_initialize(ready + i * 8, 1);
    }
    barrier_initialize(pushed, 1);
    barrier_initialize(added, PRODUCT_HELPERS);
    barrier_publish();
    for (int i = 0; i < chunks; i++) {
      barrier_expect(ready + i * 8, N8 * chunk_blocks(i) * 1024);
    }
    if (SPLIT > 1) {
      barrier_expect(pushed, (SPLIT - 1) * OWN8 * WARPGROUPS * 128 * 16);
    }
    if (!(p.skip & PRODUCT_SKIP_INPUT)) {
      for (int i = 0; i < p.stages; i++) {
        barrier_expect(full + i * 8, p.stage_blocks * BLOCK_BYTES);
      }
    }
    prefetch_map(&p.input);
  }
  /* One thread of each helper warp: every fourth group of 8 columns. */
  __device__ void fetch_weights(const product_arguments_t& p, int helper_warp) const {
    const int all_blocks = p.channels / 64;
    const char* from =
        (const char*)p.weights + ((size_t)blockIdx.y * N8 * all_blocks + part * blocks) * 1024;
    for (int c = 0; c < chunks; c++) {
      for (int g = helper_warp; g < N8; g += 4) {
        const uint32_t to = weights + (g * blocks + c * PRODUCT_CHUNK) * 1024,
                       bytes = chunk_blocks(c) * 1024;
        const char* source = from + ((size_t)g * all_blocks + c * PRODUCT_CHUNK) * 1024;
        if (p.weight_sharing == 1) {
          bulk_copy(to, source, bytes, ready + c * 8);
        } else if (g % 2 == row_tile) {
          bulk_copy_multicast(to, source, bytes, ready + c * 8,
                              (uint16_t)((1 << SPLIT | 1) << part));
        }
      }
    }
  }
  __device__ static unsigned number() {
    return (blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x;
  }
  /* One thread: x through the ring. */
  __device__ void feed_input(const product_arguments_t& p) const {
    const int count = blocks / p.stage_blocks, bytes = p.stage_blocks * BLOCK_BYTES;
    for (int s = 0, slot = 0, phase = 1; s < count; s++) {
      if (s >= p.stages) {
        barrier_wait(empty + slot * 8, phase);
      }
      if (p.skip & PRODUCT_SKIP_INPUT) {
        barrier_arrive(full + slot * 8);
      } else {
        if (s >= p.stages) {
          barrier_expect(full + slot * 8, bytes);
        }
        tile_copy(ring + slot * bytes, &p.input, 0, row_tile * ROWS,
                  part * blocks + s * p.stage_blocks, full + slot * 8);
      }
      if (++slot == p.stages) {
        slot = 0;
        phase ^= 1;
      }
    }
  }
  /* A warpgroup's products; `first` is when the first stage was there. */
  __device__ void multiply(const product_arguments_t& p, int group, int lane, float (&sum)[N8][4],
                           unsigned long long* first) const {
    const int count = blocks / p.stage_blocks, bytes = p.stage_blocks * BLOCK_BYTES;
    int previous = 0;
    for (int s = 0, slot = 0, phase = 0, block = 0; s < count; s++) {
      barrier_wait(full + slot * 8, phase);
      if (s == 0 && p.stamps) {
        *first = global_time();
      }
      for (int k = 0; k < p.stage_blocks; k++, block++) {
        if (block % PRODUCT_CHUNK == 0) {
          barrier_wait(ready + block / PRODUCT_CHUNK * 8, 0);
        }
        if (!(p.skip & PRODUCT_SKIP_PRODUCTS)) {
          const uint64_t left =
              matrix_descriptor(ring + slot * bytes + k * BLOCK_BYTES + group * 64 * 128, 1024);
          const uint64_t right = matrix_descriptor(weights + block * 1024, blocks * 1024);
          products_begin();
#pragma unroll
          for (int i = 0; i < 4; i++) {
            product<N8>(sum, left + 2 * i, right + 2 * i); /* 16 channels are 32 bytes */
          }
          products_commit();
        }
        if (k == 0 && s > 0 &&
            s - 1 + p.stages < count) { /* somebody waits for the previous stage */
          products_wait<1>();
          if (lane == 0) {
            barrier_arrive(empty + previous * 8);
          }
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
  /* The sum of all parts of this block's own columns; false: it owns none. */
  __device__ bool exchange(const product_arguments_t& p, const float (&sum)[N8][4],
                           const uint8_t* memory, float (&own)[OWN8][4]) const {
    const int first = p.weight_sharing == 2 ? SPLIT * row_tile : 0;
#pragma unroll
    for (int to = 0; to < OWNERS; to++) {
      if (to == part || (p.skip & PRODUCT_SKIP_EXCHANGE)) {
#pragma unroll
        for (int i = 0; i < OWN8 * 4; i++) {
          own[i / 4][i % 4] = sum[to * OWN8 + i / 4][i % 4];
        }
      } else {
        const int sender = (part + SPLIT - to) % SPLIT - 1;
        const uint32_t box = map_to_block(inbox, first + to),
                       barrier = map_to_block(pushed, first + to);
#pragma unroll
        for (int i = 0; i < OWN8; i++) {
          const float* v = sum[to * OWN8 + i];
          store_async(box + ((sender * OWN8 + i) * WARPGROUPS * 128 + threadIdx.x) * 16, v[0], v[1],
                      v[2], v[3], barrier);
        }
      }
    }
    if (part >= OWNERS) {
      return false;
    }
    if (SPLIT > 1 && !(p.skip & PRODUCT_SKIP_EXCHANGE)) {
      barrier_wait(pushed, 0);
#pragma unroll
      for (int i = 0; i < (SPLIT - 1) * OWN8; i++) {
        const float4 v =
            *(const float4*)(memory + (inbox - full) + (i * WARPGROUPS * 128 + threadIdx.x) * 16);
        own[i % OWN8][0] += v.x;
        own[i % OWN8][1] += v.y;
        own[i % OWN8][2] += v.z;
        own[i % OWN8][3] += v.w;
      }
    }
    return true;
  }
};

template <int WARPGROUPS, int COLUMNS, int SPLIT, int OWNERS, int MODE>
__global__ void __launch_bounds__(WARPGROUPS * 128 + 32 + PRODUCT_HELPERS)
    product128(const __grid_constant__ product_arguments_t p) {
  typedef product_block_t<WARPGROUPS, COLUMNS, SPLIT, OWNERS> block_t;
  extern __shared__ __align__(1024) uint8_t memory[];
  float2* const sums = (float2*)(memory + 1024);
  const int warp =
      __shfl_sync(~0u, (int)threadIdx.x / 32, 0); /* so that it is known to be uniform */
  const int lane = threadIdx.x % 32, group = warp / 4, quad = lane / 4, quad_lane = lane % 4;
  const bool is_consumer = warp < WARPGROUPS * 4, is_producer = warp == WARPGROUPS * 4;
  const bool in_cluster = SPLIT * p.weight_sharing > 1;
  const float2* const partial =
      MODE == PRODUCT_NORMALISE ? p.input_statistics : p.residual_statistics;
  const block_t block(p, memory);
  unsigned long long time[PRODUCT_STAMPS];
  time[0] = p.stamps ? global_time() : 0;

  if (is_producer && lane == 0) {
    block.prepare(p);
  }
  __syncthreads();
  if (in_cluster) {
    cluster_arrive();
  }
  product_columns_t<block_t::UNITS, block_t::WIDTH, MODE> columns;
  if (is_consumer) {
    columns.prepare(p, blockIdx.y * block_t::N8 + min(block.part, OWNERS - 1) * block_t::OWN8,
                    quad_lane);
  }
  if (p.late_weights) {
    wait_for_predecessor();
  }
  const bool fetches = !is_consumer && !is_producer && lane == 0;
  if (fetches && p.weight_sharing == 1) {
    block.fetch_weights(p, warp - WARPGROUPS * 4 - 1);
  }
  if (in_cluster) {
    cluster_wait();
  }
  if (fetches && p.weight_sharing == 2) {
    block.fetch_weights(p, warp - WARPGROUPS * 4 - 1);
  }
  if (fetches && p.ahead && warp == WARPGROUPS * 4 + 1) {
    prefetch_to_l2(p.ahead + (size_t)block.number() * p.ahead_bytes, p.ahead_bytes);
  }
  if (!p.release_late) {
    release_dependents();
  }
  wait_for_predecessor();
  time[1] = p.stamps ? global_time() : 0;

  if (is_producer) {
    if (lane == 0) {
      block.feed_input(p);
    }
    if (p.release_late) {
      release_dependents();
    }
    if (p.stamps && lane == 0) {
      p.stamps[block.number() * PRODUCT_STAMPS + 8] = time[1];
      p.stamps[block.number() * PRODUCT_STAMPS + 9] = global_time();
    }
    return;
  }
  if (!is_consumer) {
    if (partial && !(p.skip & PRODUCT_SKIP_MOMENTS)) {
      add_partials(partial, p.statistics_count, block_t::ROWS, block.row_tile * block_t::ROWS,
                   (int)threadIdx.x - block_t::ROWS * 2 - 32, sums);
    }
    barrier_arrive(block.added);
    if (p.stamps && threadIdx.x % PRODUCT_HELPERS == 32) {
      p.stamps[block.number() * PRODUCT_STAMPS + 10] = time[1];
      p.stamps[block.number() * PRODUCT_STAMPS + 11] = global_time();
    }
    return;
  }

  const int local_row = group * 64 + warp % 4 * 16 + quad,
            row = block.row_tile * block_t::ROWS + local_row;
  if (MODE == PRODUCT_RESIDUAL) {
    columns.load_residual(p, row);
  }
  float sum[block_t::N8][4] = {}, own[block_t::OWN8][4];
  block.multiply(p, group, lane, sum, &time[2]);
  time[3] = p.stamps ? global_time() : 0;
  if (!block.exchange(p, sum, memory, own)) {
    return;
  }
  time[4] = p.stamps ? global_time() : 0;
  float2 moments[2] = {{0, 1}, {0, 1}};
  if (partial) {
    const float inverse_width = 1.f / (float)(MODE == PRODUCT_NORMALISE ? p.channels : p.columns);
    barrier_wait(block.added, 0);
    moments[0] = row_moments(sums, block_t::ROWS, local_row, inverse_width);
    moments[1] = row_moments(sums, block_t::ROWS, local_row + 8, inverse_width);
  }
  time[5] = p.stamps ? global_time() : 0;
#pragma unroll
  for (int h = 0; h < 2; h++) {
    float2 statistics = columns.finish(p, row, h, moments[h], own);
    if (MODE == PRODUCT_RESIDUAL && p.output_statistics) {
      for (int other = 1; other < 4; other *= 2) {
        statistics.x += __shfl_xor_sync(~0u, statistics.x, other);
        statistics.y += __shfl_xor_sync(~0u, statistics.y, other);
      }
      if (quad_lane == 0) {
        p.output_statistics[(blockIdx.y * OWNERS + block.part) * PRODUCT_ROWS + row + 8 * h] =
            statistics;
      }
    }
  }
  if (p.stamps && threadIdx.x == 0) {
    unsigned long long* to = p.stamps + block.number() * PRODUCT_STAMPS;
    for (int i = 0; i < 6; i++) {
      to[i] = time[i];
    }
    to[6] = global_time();
    to[7] = 1;
  }
}

/* [columns][channels] to groups of 8 columns by 64 channels, 1024 bytes each, swizzled as the
 * products read them; within 16 columns the order is such that a thread's sums are neighbours. One
 * packing serves every choice. */
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
