/* A 3x3 convolution with padding 1 and stride 1 whose input comes once for all nine taps (sm_90a,
 * fp16, NHWC): a box of `tile_rows` + 2 rows of the image, with its margins, 64 channels deep. A
 * tap is the same box read from another address, `extent + 2` pixels a row; the two pixels too many
 * at the end of each row are computed and thrown away. Blocks go on from tile to tile; where all of
 * their weights fit, these stay. */
#pragma once

#include "convolution_tiles.cuh"

enum { HALO_STAGES_MAX = 40, HALO_SLOTS_MAX = 8, HALO_USE_BASE_OFFSET = 8 };

struct halo_arguments_t {
  CUtensorMap boxes; /* 64 channels, extent + 2, tile_rows + 2, images */
  tile_arguments_t tile;
  int tile_rows, images; /* of a tile; several images: 64 rows of the product each */
  int tiles, tiles_an_image, slots, slot_bytes, resident;
};

template <int GROUPS, int HEIGHT, int N8>
__global__ void __launch_bounds__(GROUPS * 128 + 64)
    convolve_halo(const __grid_constant__ halo_arguments_t p) {
  enum { WEIGHT_BYTES = N8 * 1024 };
  extern __shared__ __align__(1024) uint8_t memory[];
  float* const bias = (float*)(memory + 1024);
  const uint32_t base = shared_address(memory), full = base, empty = full + 8 * HALO_STAGES_MAX,
                 in_full = empty + 8 * HALO_STAGES_MAX, in_empty = in_full + 8 * HALO_SLOTS_MAX,
                 slots = base + 2048, ring = slots + p.slots * p.slot_bytes;
  const int warp = __shfl_sync(~0u, (int)threadIdx.x / 32, 0), lane = threadIdx.x % 32;
  const int deep = p.tile.channels / 64, wide = p.tile.extent + 2,
            box_bytes = (p.tile_rows + 2) * wide * 128, first_column = blockIdx.y * N8 * 8;
  const bool is_consumer = warp < GROUPS * 4;
  if (threadIdx.x == GROUPS * 128) {
    for (int i = 0; i < p.tile.stages; i++) {
      barrier_initialize(full + i * 8, 1);
      barrier_initialize(empty + i * 8, GROUPS * 4);
    }
    for (int i = 0; i < p.slots; i++) {
      barrier_initialize(in_full + i * 8, 1);
      barrier_initialize(in_empty + i * 8, GROUPS * 4);
    }
    barrier_publish();
    prefetch_map(&p.boxes);
  }
  if (is_consumer) {
    for (int i = threadIdx.x; i < N8 * 8; i += GROUPS * 128) {
      bias[i] = __half2float(p.tile.bias[first_column + i]);
    }
  }
  __syncthreads();
  if (!p.tile.release_late) {
    release_dependents();
  }
  if (warp == GROUPS * 4) { /* weights */
    if (lane == 0) {
      int step = 0, slot = 0, phase = 1;
      for (int t = blockIdx.x; t < p.tiles; t += gridDim.x) {
        for (int i = 0; i < 9 * deep; i++, step++) {
          if (step >= p.tile.stages) {
            if (p.resident) {
              break;
            }
            barrier_wait(empty + slot * 8, phase);
          }
          barrier_expect(full + slot * 8, WEIGHT_BYTES);
          bulk_copy(ring + slot * WEIGHT_BYTES,
                    (const char*)p.tile.weights +
                        ((size_t)(i % 9 * deep + i / 9) * p.tile.columns + first_column) * 128,
                    WEIGHT_BYTES, full + slot * 8);
          if (++slot == p.tile.stages) {
            slot = 0;
            phase ^= 1;
          }
        }
      }
    }
    return;
  }
  wait_for_predecessor();
  if (p.tile.release_late) {
    release_dependents();
  }
  if (!is_consumer) {
    if (lane == 0) {
      int step = 0, slot = 0, phase = 1;
      for (int t = blockIdx.x; t < p.tiles; t += gridDim.x) {
        for (int block = 0; block < deep; block++, step++) {
          if (step >= p.slots) {
            barrier_wait(in_empty + slot * 8, phase);
          }
          barrier_expect(in_full + slot * 8, box_bytes * p.images);
          image_copy(slots + slot * p.slot_bytes, &p.boxes, block * 64, -1,
                     t % p.tiles_an_image * p.tile_rows - 1, t / p.tiles_an_image * p.images,
                     in_full + slot * 8);
          if (++slot == p.slots) {
            slot = 0;
            phase ^= 1;
          }
        }
      }
    }
    return;
  }

  int stage = 0, phase = 0, slot = 0, in_phase = 0, previous_stage = 0, previous_slot = 0;
  auto release = [&](bool box_too) { /* what the products before have read */
                                     if (lane == 0) {
                                       if (!p.resident) {
                                         barrier_arrive(empty + previous_stage * 8);
                                       }
                                       if (box_too) {
                                         barrier_arrive(in_empty + previous_slot * 8);
                                       }
                                     }
  };
  for (int t = blockIdx.x; t < p.tiles; t += gridDim.x) {
    float sum[HEIGHT][N8][4] = {};
    for (int i = 0; i < 9 * deep; i++) {
      const int tap = i % 9;
      if (tap == 0) {
        barrier_wait(in_full + slot * 8, in_phase);
      }
      barrier_wait(full + stage * 8, p.resident ? 0 : phase);
      const uint64_t right = matrix_descriptor(ring + stage * WEIGHT_BYTES, 1024);
      products_begin();
#pragma unroll
      for (int h = 0; h < HEIGHT; h++) {
        const int part = warp / 4 * HEIGHT + h;
        const uint32_t from = slots + slot * p.slot_bytes + (tap / 3 * wide + tap % 3) * 128 +
                              part * (p.images > 1 ? box_bytes : 8192);
        uint64_t left = matrix_descriptor(from, 1024);
        if (p.tile.skip & HALO_USE_BASE_OFFSET) {
          left |= (uint64_t)(from >> 7 & 7) << 49;
        }
#pragma unroll
        for (int k = 0; k < 4; k++) {
          product<N8>(sum[h], left + 2 * k, right + 2 * k);
        }
      }
      products_commit();
      if (i > 0) {
        products_wait<1>();
        release(tap == 0);
      }
      previous_stage = stage;
      previous_slot = slot;
      if (tap == 8 && ++slot == p.slots) {
        slot = 0;
        in_phase ^= 1;
      }
      if (++stage == p.tile.stages) {
        stage = 0;
        phase ^= 1;
      }
    }
    products_wait<0>();
    release(true);
#pragma unroll
    for (int h = 0; h < HEIGHT; h++) {
#pragma unroll
      for (int lower = 0; lower < 2; lower++) {
        const int part = warp / 4 * HEIGHT + h,
                  local = warp % 4 * 16 + lane / 4 + 8 * lower + (p.images > 1 ? 0 : part * 64),
                  y = local / wide, x = local % wide, row = t % p.tiles_an_image * p.tile_rows + y,
                  image = t / p.tiles_an_image * p.images + (p.images > 1 ? part : 0);
        const int at = (image * p.tile.extent + row) * p.tile.extent + x;
        if (y < p.tile_rows && row < p.tile.extent && x < p.tile.extent && at < p.tile.rows) {
          finish_row<N8>(p.tile, bias, first_column, 0, at, lower, lane % 4, sum[h]);
        }
      }
    }
  }
}
