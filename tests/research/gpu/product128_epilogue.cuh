/* What product128 is told, and what it does with a finished sum: row moments, bias, GELU, residual,
 * statistics. */
#pragma once

#include "hopper.cuh"

enum {
  PRODUCT_ROWS = 128,
  PRODUCT_HELPERS = 128,
  PRODUCT_STAGES_MAX = 24,
  PRODUCT_CHUNKS_MAX = 8,
  PRODUCT_STAMPS = 12
};
enum { PRODUCT_CHUNK = 6 }; /* blocks of 64 channels of weights that have one barrier */
enum product_mode_t { PRODUCT_NORMALISE, PRODUCT_RESIDUAL };
/* Parts left out to see what they cost. */
enum {
  PRODUCT_SKIP_PRODUCTS = 1,
  PRODUCT_SKIP_INPUT = 2,
  PRODUCT_SKIP_MOMENTS = 4,
  PRODUCT_SKIP_EXCHANGE = 8
};

struct product_arguments_t {
  CUtensorMap input;   /* [channels / 64][128][64], boxes of stage_blocks by 64 * WARPGROUPS by 64,
                          128-byte swizzle */
  const half* weights; /* packed: see pack_product_weights */
  const float *bias, *weight_sums, *gamma, *beta;
  const half* residual;
  const float2 *input_statistics,
      *residual_statistics;  /* [statistics_count][128]: sum and sum of squares; NULL: none */
  float2* output_statistics; /* [columns / own columns of a block][128]; NULL: none */
  half* output;
  const char* ahead;          /* weights of a later launch, brought into L2 meanwhile; NULL: none */
  unsigned ahead_bytes;       /* a block's share */
  unsigned long long* stamps; /* NULL, or PRODUCT_STAMPS for each block */
  int columns, channels, stages, stage_blocks, weight_sharing, statistics_count, gelu;
  int release_late; /* dependents are released behind the wait, so that one launch at most runs
                       ahead */
  int late_weights, skip;
};

/* Adds up partial sums of rows: thread i of the helpers takes row i % rows and every (helpers /
 * rows)th part. */
__device__ __forceinline__ void add_partials(const float2* partial, int count, int rows,
                                             int first_row, int helper, float2* out) {
  const int row = helper % rows, step = PRODUCT_HELPERS / rows;
  float2 sum = {0, 0};
  for (int begin = helper / rows; begin < count; begin += 24 * step) {
    float2 v[24]; /* all on their way at once */
#pragma unroll
    for (int i = 0; i < 24; i++) {
      const int part = begin + i * step;
      v[i] = part < count ? __ldcg(partial + part * PRODUCT_ROWS + first_row + row)
                          : make_float2(0, 0);
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
__device__ __forceinline__ float2 row_moments(const float2* sums, int rows, int row,
                                              float inverse_width) {
  float2 sum = sums[row];
  if (rows < PRODUCT_HELPERS) {
    sum.x += sums[row + rows].x;
    sum.y += sums[row + rows].y;
  }
  const float mean = sum.x * inverse_width;
  return {mean, rsqrtf(sum.y * inverse_width - mean * mean + 1e-12f)};
}

/* By Abramowitz and Stegun 7.1.26, off by at most 1.5e-7: half the instructions of erff. */
__device__ __forceinline__ float gelu_fast(float x) {
  const float z = fabsf(x) * 0.70710678f, t = __fdividef(1.f, 1.f + 0.3275911f * z);
  const float p =
      t * (0.254829592f +
           t * (-0.284496736f + t * (1.421413741f + t * (-1.453152027f + t * 1.061405429f))));
  const float half_tail = 0.5f * p * __expf(-z * z);
  return x * (x > 0 ? 1.f - half_tail : half_tail);
}

/* A thread's columns and what is known of them before the wait; `scale` is the sums of the weights
 * or gamma. */
template <int UNITS, int WIDTH, int MODE>
struct product_columns_t {
  float bias[UNITS][WIDTH], scale[UNITS][WIDTH], shift[UNITS][WIDTH];
  int at[UNITS];
  uint32_t residual[2][UNITS][WIDTH / 2];

  __device__ void prepare(const product_arguments_t& p, int first_group, int quad_lane) {
#pragma unroll
    for (int u = 0; u < UNITS; u++) {
      const int g = first_group + u * WIDTH / 2;
      at[u] = 16 * (g / 2) + 4 * quad_lane + 2 * (g % 2);
#pragma unroll
      for (int i = 0; i < WIDTH; i++) {
        bias[u][i] = __ldg(p.bias + at[u] + i);
        if (MODE == PRODUCT_NORMALISE) {
          scale[u][i] = p.input_statistics ? __ldg(p.weight_sums + at[u] + i) : 0.f;
        } else {
          scale[u][i] = p.residual_statistics ? __ldg(p.gamma + at[u] + i) : 1.f;
          shift[u][i] = p.residual_statistics ? __ldg(p.beta + at[u] + i) : 0.f;
        }
      }
    }
  }
  __device__ void load_residual(const product_arguments_t& p, int row) {
#pragma unroll
    for (int h = 0; h < 2; h++) {
#pragma unroll
      for (int u = 0; u < UNITS; u++) {
        const uint32_t* from =
            (const uint32_t*)(p.residual + (size_t)(row + 8 * h) * p.columns + at[u]);
        if constexpr (WIDTH == 4) {
          const uint2 v = __ldcg((const uint2*)from);
          residual[h][u][0] = v.x;
          residual[h][u][1] = v.y;
        } else {
          residual[h][u][0] = __ldcg(from);
        }
      }
    }
  }
  /* Row `row` (h = 0) or 8 below (h = 1); `own` are the sums in the products' order. Returns the
   * row's statistics. */
  template <int OWN8>
  __device__ float2 finish(const product_arguments_t& p, int row, int h, float2 moments,
                           const float (&own)[OWN8][4]) {
    float2 statistics = {0, 0};
    float v[UNITS][WIDTH];
#pragma unroll
    for (int i = 0; i < UNITS * WIDTH; i++) {
      const int u = i / WIDTH, c = i % WIDTH;
      v[u][c] = own[u * WIDTH / 2 + c / 2][2 * h + c % 2];
      if (MODE == PRODUCT_NORMALISE) {
        v[u][c] = moments.y * (v[u][c] - moments.x * scale[u][c]) + bias[u][c];
      } else {
        const float2 pair = unpack_half(residual[h][u][c / 2]);
        v[u][c] += bias[u][c] + ((c % 2 ? pair.y : pair.x) - moments.x) * moments.y * scale[u][c] +
                   shift[u][c];
        statistics.x += v[u][c];
        statistics.y += v[u][c] * v[u][c];
      }
    }
    if (MODE == PRODUCT_NORMALISE && p.gelu) { /* one branch, so that all run abreast */
#pragma unroll
      for (int i = 0; i < UNITS * WIDTH; i++) {
        v[i / WIDTH][i % WIDTH] = gelu_fast(v[i / WIDTH][i % WIDTH]);
      }
    }
#pragma unroll
    for (int u = 0; u < UNITS; u++) {
      half* to = p.output + (size_t)(row + 8 * h) * p.columns + at[u];
      if constexpr (WIDTH == 4) {
        *(uint2*)to = make_uint2(pack_half(v[u][0], v[u][1]), pack_half(v[u][2], v[u][3]));
      } else {
        *(uint32_t*)to = pack_half(v[u][0], v[u][1]);
      }
    }
    return statistics;
  }
};
