/* All layers of the decoder as one cooperative launch: a block on each multiprocessor goes from
 * product to attention to product, and meets the others at a barrier; what does not depend on the
 * step before, weights and old rows of the cache, is on its way before the barrier. */
#pragma once

#include "decoder_step.cuh"

enum { BLOCK_WARPS = 16 };
struct layer_t {
  const uint4* w[PARTS_OF_LAYER];
  const half* scales[PARTS_OF_LAYER];
  around_t around[PARTS_OF_LAYER];
};
struct whole_t {
  const layer_t* layers;
  int count, rows, attention_parts;
  cache_t c; /* of the first layer */
  size_t cache_stride;
  half *h, *qkv, *hidden, *attended;
  unsigned* barrier; /* 0 when the launch begins */
};

struct grid_barrier_t {
  unsigned* counter;
  unsigned target;
  __device__ void meet() {
    __syncthreads();
    if (threadIdx.x == 0) {
      __threadfence();
      atomicAdd(counter, 1);
      target += gridDim.x;
      unsigned seen;
      do {
        asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(seen) : "l"(counter) : "memory");
      } while (seen < target);
    }
    __syncthreads();
  }
};

/* The weights of one tile of 16 columns, shared by WARPS of the block: STEPS steps each. */
template <int TYPE, int CHANNELS_OF, int WARPS>
struct tile_t {
  enum { ALL = CHANNELS_OF / in_step(TYPE), STEPS = (ALL + WARPS - 1) / WARPS };
  uint32_t a[STEPS][2][4];
  half2 scale[STEPS];

  static __device__ int number() { /* of this warp's tile */
    return (int)(threadIdx.x / 32 / WARPS * gridDim.x + blockIdx.x);
  }
  __device__ void fetch(const uint4* w, const half* scales, int columns) {
    const int lane = threadIdx.x % 32, tile = number();
#pragma unroll
    for (int i = 0; i < STEPS; i++) {
      const int step = (int)(threadIdx.x / 32 % WARPS) + i * WARPS;
      const bool inside = step < ALL && tile * TILE < columns;
      const size_t at = ((size_t)tile * ALL + step) * 64 + lane;
      *(uint4*)a[i][0] = inside ? fetch_once(w + at) : make_uint4(0, 0, 0, 0);
      *(uint4*)a[i][1] = inside ? fetch_once(w + at + 32) : make_uint4(0, 0, 0, 0);
      if (TYPE == INT4) {
        const size_t s = ((size_t)tile * ALL + step) * 8 + lane / 4;
        scale[i] = inside ? ((const half2*)scales)[s] : __float2half2_rn(0.f);
      }
    }
  }
  /* `read(row, channel)` gives eight halves. */
  template <bool NORM, class Read>
  __device__ void multiply_by(Read read, const half* scales, const around_t& around, half* y,
                              int columns, int rows) {
    __shared__ float parts[BLOCK_WARPS][8][TILE];
    __shared__ float2 row_moments[BLOCK_WARPS][8];
    enum { ACCESS = in_access(TYPE) };
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, group = lane / 4,
              quarter = lane % 4, tile = number();
    float sum[4] = {};
    float2 moments = {0, 0};
    enum { TOGETHER = STEPS < 64 / ACCESS ? STEPS : 64 / ACCESS };
#pragma unroll
    for (int j = 0; j < STEPS; j += TOGETHER) {
      uint32_t b[TOGETHER][ACCESS / 2];
#pragma unroll
      for (int i = 0; i < TOGETHER; i++) {
        const int step = warp % WARPS + (j + i) * WARPS;
        fetch_row<ACCESS>(
            b[i], group < rows && j + i < STEPS && step < ALL && tile * TILE < columns,
            [&](int k) { return read(group, step * in_step(TYPE) + quarter * ACCESS + k); });
      }
#pragma unroll
      for (int i = 0; i < TOGETHER; i++) {
        if (j + i < STEPS) {
          if (NORM) {
            add_moments(moments, b[i]);
          }
          multiply_step<TYPE>(sum, a[j + i], scale[j + i], b[i]);
        }
      }
    }
    if (NORM) {
      for (int d = 1; d < 4; d *= 2) {
        moments.x += __shfl_xor_sync(~0u, moments.x, d);
        moments.y += __shfl_xor_sync(~0u, moments.y, d);
      }
      if (quarter == 0) {
        row_moments[warp][group] = moments;
      }
    }
#pragma unroll
    for (int e = 0; e < 4; e++) {
      parts[warp][quarter * 2 + e % 2][group + e / 2 * 8] = sum[e];
    }
    __syncthreads();
    const int i = threadIdx.x % (WARPS * 32), row = i / TILE, column = tile * TILE + i % TILE;
    const int first = warp / WARPS * WARPS;
    if (row < rows && row < 8 && column < columns) {
      float all = 0;
      float2 m = {0, 0};
      for (int p = first; p < first + WARPS; p++) {
        all += parts[p][row][i % TILE];
        if (NORM) {
          m.x += row_moments[p][row].x;
          m.y += row_moments[p][row].y;
        }
      }
      const size_t at = (size_t)row * columns + column;
      y[at] = __float2half(surround<TYPE, NORM>(around, all, scales, m, CHANNELS_OF, column, at));
    }
  }
};

template <int TYPE>
static __global__ void __launch_bounds__(BLOCK_WARPS * 32, 1) whole_layers(const whole_t w) {
  __shared__ float all[BLOCK_WARPS][1][WIDTH + 2];
  __shared__ __align__(16) half attended[8 * CHANNELS];
  grid_barrier_t barrier = {w.barrier, 0};
  tile_t<TYPE, CHANNELS, BLOCK_WARPS / 2> wide; /* qkv, up */
  tile_t<TYPE, CHANNELS, BLOCK_WARPS> out;
  tile_t<TYPE, HIDDEN, BLOCK_WARPS> down;
  auto from = [](const half* x, int channels) {
    return [=](int row,
               int channel) { /* other blocks wrote it: not through L1 */
                              return __ldcg((const uint4*)(x + (size_t)row * channels + channel));
    };
  };
  cache_t c = w.c;
  wide.fetch(w.layers[0].w[QKV], w.layers[0].scales[QKV], 3 * CHANNELS);
  for (int layer = 0; layer < w.count; layer++) {
    const layer_t& l = w.layers[layer];
    wide.template multiply_by<true>(from(w.h, CHANNELS), l.scales[QKV], l.around[QKV], w.qkv,
                                    3 * CHANNELS, w.rows);
    bool met = false;
    for (int unit = blockIdx.x; unit < w.rows * HEADS * w.attention_parts; unit += gridDim.x) {
      const int number = unit / w.attention_parts, part = unit % w.attention_parts;
      attend_rows<WIDTH, 1, 0, 1, true>(c, number % HEADS, number / HEADS, part, w.attention_parts,
                                        !met, all, [&] {
                                          if (!met) {
                                            barrier.meet();
                                          }
                                          met = true;
                                        });
      finish<WIDTH, 1, BY_LAUNCH>(c, all, (size_t)number, part, w.attention_parts);
      __syncthreads();
    }
    if (!met) {
      barrier.meet();
    }
    out.fetch(l.w[OUT], l.scales[OUT], CHANNELS);
    barrier.meet();
    if ((int)blockIdx.x * TILE < CHANNELS) {
      if (w.attention_parts > 1) {
        combine_parts<WIDTH>(
            w.attention_parts, attended, 0, w.rows * CHANNELS, [&](int p, int number, int i) {
              return __ldcg(c.partial + ((size_t)number * MOST_PARTS + p) * (WIDTH + 2) + i);
            });
      } else {
        for (int i = threadIdx.x * 8; i < w.rows * CHANNELS; i += blockDim.x * 8) {
          *(uint4*)(attended + i) = __ldcg((const uint4*)(w.attended + i));
        }
      }
      __syncthreads();
    }
    out.template multiply_by<false>(
        [&](int row, int channel) { return *(const uint4*)(attended + row * CHANNELS + channel); },
        l.scales[OUT], l.around[OUT], w.h, CHANNELS, w.rows);
    wide.fetch(l.w[UP], l.scales[UP], HIDDEN);
    barrier.meet();
    wide.template multiply_by<true>(from(w.h, CHANNELS), l.scales[UP], l.around[UP], w.hidden,
                                    HIDDEN, w.rows);
    down.fetch(l.w[DOWN], l.scales[DOWN], CHANNELS);
    barrier.meet();
    down.template multiply_by<false>(from(w.hidden, HIDDEN), l.scales[DOWN], l.around[DOWN], w.h,
                                     CHANNELS, w.rows);
    if (layer + 1 < w.count) {
      wide.fetch(w.layers[layer + 1].w[QKV], w.layers[layer + 1].scales[QKV], 3 * CHANNELS);
    }
    c.keys += w.cache_stride;
    c.values += w.cache_stride;
    barrier.meet();
  }
}
