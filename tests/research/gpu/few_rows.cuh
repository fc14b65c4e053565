/* Products of one to eight rows with weights of 16, 8 or 4 bits, as decoding has them:
 * y[row][column] = sum of x[row][channel] * w[column][channel]. The weights are the left operand of
 * m16n8k16, so one kernel serves every number of rows, and what is fetched is used as it lies. */
#pragma once

#include <cuda_fp8.h>

#include "hopper.cuh"
#include "measure.cuh"

/* Fp16 as the rows lie, or in the order in which lanes want it, as all others are. Int8 and float8
 * (e4m3) have a scale a column, int4 one for 128 channels of a column. */
enum weight_t { FP16_ROWS, FP16, INT8, FLOAT8, INT4, WEIGHT_TYPES };
static const char* const weight_names[] = {"fp16 as it lies", "fp16", "int8", "fp8", "int4"};
static constexpr __host__ __device__ int bits_of(int type) {
  return type == INT4 ? 4 : type >= INT8 ? 8 : 16;
}
/* Weights in 16 bytes; a lane has them of one column, four lanes a column: a step of channels. */
static constexpr __host__ __device__ int in_access(int type) {
  return 128 / bits_of(type);
}
static constexpr __host__ __device__ int in_step(int type) {
  return 4 * in_access(type);
}
enum { MOST_WARPS = 16, TILE = 16 };

/* What an array of weights holds, as a function of its place. */
static __host__ __device__ inline uint32_t mixed(uint32_t column, uint32_t channel, uint32_t seed) {
  uint32_t h = column * 2654435761u ^ channel * 0x9E3779B9u ^ seed * 0x85ebca6bu;
  h = (h ^ h >> 16) * 0x85ebca6bu;
  h = (h ^ h >> 13) * 0xc2b2ae35u;
  return h ^ h >> 16;
}
static __device__ inline half scale_of(int type, int column, int channel, uint32_t seed) {
  const uint32_t h =
      mixed((uint32_t)column, type == INT4 ? (uint32_t)channel / 128 : 0u, seed + 77);
  return type <= FP16 ? __float2half(1.f) : __float2half(0.001f + (h & 255) * 4e-6f);
}
/* The number itself and the bits that say it. */
static __device__ inline float plain_weight(int type, int column, int channel, uint32_t seed,
                                            uint32_t* out_bits) {
  const uint32_t h = mixed((uint32_t)column, (uint32_t)channel, seed);
  if (type <= FP16) {
    const half w = __float2half((float)(int)(h >> 8 & 0xffff) * (0.1f / 65536) - 0.05f);
    *out_bits = __half_as_ushort(w);
    return __half2float(w);
  }
  if (type == FLOAT8) {
    const __nv_fp8_e4m3 w((float)(int)(h >> 8 & 0xffff) * (40.f / 65536) - 20.f);
    *out_bits = w.__x;
    return (float)w;
  }
  const int w = type == INT8 ? (int)(h % 255) - 127 : (int)(h % 16) - 8;
  *out_bits = type == INT8 ? (uint32_t)w & 255 : (uint32_t)(w + 8);
  return (float)w;
}

/* Where 16 bytes of a column, beginning at a channel, lie. */
template <int TYPE>
static __device__ inline size_t place_of(int column, int channel, int channels) {
  if (TYPE == FP16_ROWS) {
    return ((size_t)column * channels + channel) / in_access(TYPE);
  }
  const int step = channel / in_step(TYPE), quarter = channel % in_step(TYPE) / in_access(TYPE);
  const size_t tile = (size_t)(column / TILE) * (channels / in_step(TYPE)) + step;
  return (tile * 2 + column % TILE / 8) * 32 + column % 8 * 4 + quarter;
}
template <int TYPE>
static __global__ void fill_weights(uint4* w, half* scales, int columns, int channels,
                                    uint32_t seed) {
  const int accesses = channels / in_access(TYPE);
  const size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
  const int column = (int)(i / accesses), channel = (int)(i % accesses) * in_access(TYPE);
  if (column >= (columns + TILE - 1) / TILE * TILE) {
    return;
  }
  uint32_t words[4] = {};
  for (int k = 0; k < in_access(TYPE) && column < columns; k++) {
    uint32_t bits;
    plain_weight(TYPE, column, channel + k, seed, &bits);
    const int number = k * bits_of(TYPE) / 32, within = k % (32 / bits_of(TYPE));
    /* four bits: neighbours four apart, so that one mask takes a pair */
    const int shift = TYPE == INT4 ? within / 2 * 4 + within % 2 * 16 : within * bits_of(TYPE);
    words[number] |= bits << shift;
  }
  if (TYPE != FP16_ROWS || column < columns) {
    w[place_of<TYPE>(column, channel, channels)] =
        make_uint4(words[0], words[1], words[2], words[3]);
  }
  if (TYPE == INT4 &&
      channel % 128 == 0) { /* the scales of columns c and c + 8 beside each other */
    scales[(((size_t)(column / TILE) * (channels / 128) + channel / 128) * 8 + column % 8) * 2 +
           column % TILE / 8] = scale_of(TYPE, column, channel, seed);
  } else if (TYPE != INT4 && channel == 0) {
    scales[column] = scale_of(TYPE, column, 0, seed);
  }
}
static __global__ void plain_product(int type, const half* x, double* y, int columns, int channels,
                                     uint32_t seed) {
  const int column = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y;
  double sum = 0;
  if (column < columns) {
    for (int c = 0; c < channels; c++) {
      uint32_t bits;
      sum += (double)plain_weight(type, column, c, seed, &bits) *
             (double)__half2float(scale_of(type, column, c, seed)) *
             (double)__half2float(x[(size_t)row * channels + c]);
    }
    y[(size_t)row * columns + column] = sum;
  }
}

static __device__ __forceinline__ uint4 fetch_once(const uint4* p) {
  uint4 v;
  asm volatile("ld.global.nc.L1::no_allocate.v4.u32 {%0, %1, %2, %3}, [%4];"
               : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w)
               : "l"(p));
  return v;
}
static __device__ __forceinline__ void multiply(float (&sum)[4], uint32_t a0, uint32_t a1,
                                                uint32_t a2, uint32_t a3, uint32_t b0,
                                                uint32_t b1) {
  asm volatile(
      "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, "
      "%9}, {%0, %1, %2, %3};"
      : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3])
      : "r"(a0), "r"(a1), "r"(a2), "r"(a3), "r"(b0), "r"(b1));
}
/* Pair `number` of the weights in 16 bytes as two halves: exact, by adding to a power of two. */
template <int TYPE>
static __device__ __forceinline__ uint32_t pair_of(const uint32_t (&words)[4], int number) {
  if (TYPE <= FP16) {
    return words[number];
  }
  half2 h;
  if (TYPE == INT8) {
    const uint32_t w = words[number / 2] ^ 0x80808080u;
    const uint32_t bits = __byte_perm(w, 0x64646464u, number % 2 ? 0x4342 : 0x4140);
    h = __hsub2(*(const half2*)&bits, __float2half2_rn(1152.f));
  } else if (TYPE == FLOAT8) {
    const uint32_t w = words[number / 2] >> (number % 2 * 16);
    const __half2_raw raw = __nv_cvt_fp8x2_to_halfraw2((__nv_fp8x2_storage_t)w, __NV_E4M3);
    h = *(const half2*)&raw;
  } else {
    const uint32_t bits = (words[number / 4] >> (number % 4 * 4) & 0x000f000fu) | 0x64006400u;
    h = __hsub2(*(const half2*)&bits, __float2half2_rn(1032.f));
  }
  return *(const uint32_t*)&h;
}

/* What stands around a product: layer normalisation of x whose scale is in the weights and whose
 * shift is in `norm` ({sum of the column's weights, shift} of each column), or a bias, then a GELU,
 * then a residual. */
struct around_t {
  const float2* norm;
  const half *bias, *residual;
  bool gelu;
  const void* next; /* weights of a later product, brought into L2 meanwhile; NULL: none */
  uint32_t next_bytes;
};

/* ACCESS values of a row of x, eight by eight; zeros where there is none. */
template <int ACCESS, class Read>
static __device__ __forceinline__ void fetch_row(uint32_t (&b)[ACCESS / 2], bool inside,
                                                 Read read) {
#pragma unroll
  for (int k = 0; k < ACCESS; k += 8) {
    *(uint4*)(b + k / 2) = inside ? read(k) : make_uint4(0, 0, 0, 0);
  }
}
/* One step of a tile of 16 columns: their weights `a`, the rows' values `b`. */
template <int TYPE>
static __device__ __forceinline__ void multiply_step(float (&sum)[4], const uint32_t (&a)[2][4],
                                                     half2 scale,
                                                     const uint32_t (&b)[in_access(TYPE) / 2]) {
  float part[4] = {};
#pragma unroll
  for (int m = 0; m < in_access(TYPE) / 4; m++) {
    multiply(TYPE == INT4 ? part : sum, pair_of<TYPE>(a[0], 2 * m), pair_of<TYPE>(a[1], 2 * m),
             pair_of<TYPE>(a[0], 2 * m + 1), pair_of<TYPE>(a[1], 2 * m + 1), b[2 * m],
             b[2 * m + 1]);
  }
  if (TYPE == INT4) {
    const float2 s = __half22float2(scale);
    sum[0] += part[0] * s.x;
    sum[1] += part[1] * s.x;
    sum[2] += part[2] * s.y;
    sum[3] += part[3] * s.y;
  }
}
template <int WORDS>
static __device__ __forceinline__ void add_moments(float2& moments, const uint32_t (&b)[WORDS]) {
#pragma unroll
  for (int k = 0; k < WORDS; k++) {
    const float2 f = unpack_half(b[k]);
    moments.x += f.x + f.y;
    moments.y += f.x * f.x + f.y * f.y;
  }
}
/* A sum of products with what stands around it; `moments` of the whole row. */
template <int TYPE, bool NORM>
static __device__ __forceinline__ float surround(const around_t& around, float value,
                                                 const half* scales, float2 moments, int channels,
                                                 int column, size_t at) {
  if (TYPE == INT8 || TYPE == FLOAT8) {
    value *= __half2float(scales[column]);
  }
  if (NORM) {
    const float mean = moments.x / channels;
    const float factor = rsqrtf(fmaxf(moments.y / channels - mean * mean, 0.f) + 1e-5f);
    const float2 norm = around.norm[column];
    value = (value - mean * norm.x) * factor + norm.y;
  } else if (around.bias) {
    value += __half2float(around.bias[column]);
  }
  if (around.gelu) {
    value = 0.5f * value * (1.f + erff(value * 0.70710678f));
  }
  return around.residual ? value + __half2float(around.residual[at]) : value;
}

/* A block has TILES * 16 columns, its warps share the channels; each fetches AHEAD steps at once,
 * the first of them before it waits for x. */
template <int TYPE, int TILES, int AHEAD, bool NORM>
static __global__ void __launch_bounds__(MOST_WARPS * 32)
    few_rows(const uint4* __restrict__ w, const half* __restrict__ scales, const half* x, half* y,
             int columns, int channels, int rows, int release_first, const around_t around) {
  enum { ACCESS = in_access(TYPE), STEP = in_step(TYPE) };
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, warps = blockDim.x / 32;
  const int group = lane / 4, quarter = lane % 4, steps = channels / STEP;
  const int first = blockIdx.x * TILES * TILE;
  float sum[TILES][4] = {};
  float2 moments = {0, 0}; /* of what this lane sees of its row */
  if (release_first) {
    release_dependents();
  }
  bool waited = false;
  for (int begin = warp; begin < steps; begin += warps * AHEAD) {
    uint32_t a[AHEAD][TILES][2][4];
    half2 scale[AHEAD][TILES];
#pragma unroll
    for (int i = 0; i < AHEAD; i++) {
#pragma unroll
      for (int t = 0; t < TILES; t++) {
#pragma unroll
        for (int h = 0; h < 2; h++) {
          const int column = first + t * TILE + h * 8 + group, step = begin + i * warps;
          const bool inside =
              step < steps && (TYPE == FP16_ROWS ? column < columns : first + t * TILE < columns);
          const size_t at = place_of<TYPE>(column, step * STEP + quarter * ACCESS, channels);
          *(uint4*)a[i][t][h] = inside ? fetch_once(w + at) : make_uint4(0, 0, 0, 0);
          if (TYPE == INT4 && h == 0) {
            const size_t s = ((size_t)(column / TILE) * steps + step) * 8 + group;
            scale[i][t] = inside ? ((const half2*)scales)[s] : __float2half2_rn(0.f);
          }
        }
      }
    }
    if (!waited) {
      if (around.next && threadIdx.x == 0) {
        const uint32_t share = (around.next_bytes / 16 + gridDim.x - 1) / gridDim.x * 16;
        const uint32_t at = blockIdx.x * share;
        if (at < around.next_bytes) {
          prefetch_to_l2((const char*)around.next + at, min(share, around.next_bytes - at));
        }
      }
      wait_for_predecessor();
      if (!release_first) {
        release_dependents();
      }
      waited = true;
    }
    /* x of several steps at once, so that they wait for it together */
    enum { TOGETHER = AHEAD < 64 / ACCESS ? AHEAD : 64 / ACCESS };
#pragma unroll
    for (int j = 0; j < AHEAD; j += TOGETHER) {
      uint32_t b[TOGETHER][ACCESS / 2];
#pragma unroll
      for (int i = 0; i < TOGETHER; i++) {
        const int step = begin + (j + i) * warps;
        fetch_row<ACCESS>(b[i], group < rows && step < steps, [&](int k) {
          return *(const uint4*)(x + (size_t)group * channels + step * STEP + quarter * ACCESS + k);
        });
      }
#pragma unroll
      for (int i = 0; i < TOGETHER; i++) {
        if (NORM) {
          add_moments(moments, b[i]);
        }
#pragma unroll
        for (int t = 0; t < TILES; t++) {
          multiply_step<TYPE>(sum[t], a[j + i][t], scale[j + i][t], b[i]);
        }
      }
    }
  }
  if (!waited) { /* a warp without a step: nothing of it may be missing when the next one goes */
    wait_for_predecessor();
    release_dependents();
  }
  __shared__ float parts[MOST_WARPS][TILES][8][TILE];
  __shared__ float2 row_moments[MOST_WARPS][8];
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
  for (int t = 0; t < TILES; t++) {
#pragma unroll
    for (int e = 0; e < 4; e++) {
      parts[warp][t][quarter * 2 + e % 2][group + e / 2 * 8] = sum[t][e];
    }
  }
  __syncthreads();
  for (int i = threadIdx.x; i < TILES * 8 * TILE; i += blockDim.x) {
    const int t = i / TILE % TILES, row = i / TILE / TILES, column = first + t * TILE + i % TILE;
    if (row < rows && column < columns) {
      float all = 0;
      for (int p = 0; p < warps; p++) {
        all += parts[p][t][row][i % TILE];
      }
      float2 m = {0, 0};
      for (int p = 0; NORM && p < warps; p++) {
        m.x += row_moments[p][row].x;
        m.y += row_moments[p][row].y;
      }
      const size_t at = (size_t)row * columns + column;
      const float value = surround<TYPE, NORM>(around, all, scales, m, channels, column, at);
      y[at] = __float2half(value);
    }
  }
}

typedef void (*few_rows_t)(const uint4*, const half*, const half*, half*, int, int, int, int,
                           const around_t);
struct few_rows_choice_t {
  int tiles, ahead;
  few_rows_t kernel;
};
template <int TYPE, bool NORM>
static const std::vector<few_rows_choice_t>& few_rows_choices() {
  static const std::vector<few_rows_choice_t> choices = {
      {1, 2, few_rows<TYPE, 1, 2, NORM>}, {1, 4, few_rows<TYPE, 1, 4, NORM>},
      {1, 8, few_rows<TYPE, 1, 8, NORM>}, {2, 1, few_rows<TYPE, 2, 1, NORM>},
      {2, 2, few_rows<TYPE, 2, 2, NORM>}, {2, 4, few_rows<TYPE, 2, 4, NORM>}};
  return choices;
}
