/* A decoder of GPT-2's size, its weights out of a function of their place: what it is made of, one
 * step in double, and the kernels around products and attention. */
#pragma once

#include "decode_attention.cuh"

enum { LAYERS = 12, HEADS = 12, WIDTH = 64, CHANNELS = HEADS * WIDTH, HIDDEN = 4 * CHANNELS };
enum { WORDS = 50257, ROOM = 1024, CACHE = HEADS * ROOM * WIDTH };
/* The products of a layer, and the one that ends the step. */
enum part_t { QKV, OUT, UP, DOWN, LAST, PARTS_OF_LAYER = LAST, PARTS };
static const struct {
  const char* name;
  int columns, channels;
  bool norm;
} part_shapes[PARTS] = {{"qkv", 3 * CHANNELS, CHANNELS, true},
                        {"out", CHANNELS, CHANNELS, false},
                        {"up", HIDDEN, CHANNELS, true},
                        {"down", CHANNELS, HIDDEN, false},
                        {"words", WORDS, CHANNELS, true}};

static __global__ void embed(const half* words, const half* positions, const int* tokens,
                             const int* lengths, half* h) {
  wait_for_predecessor();
  release_dependents();
  const int row = blockIdx.x;
  for (int c = threadIdx.x; c < CHANNELS; c += blockDim.x) {
    h[row * CHANNELS + c] =
        __float2half(__half2float(words[(size_t)tokens[row] * CHANNELS + c]) +
                     __half2float(positions[(size_t)(lengths[row] - 1) * CHANNELS + c]));
  }
}
static __global__ void advance(int* lengths, int rows) {
  wait_for_predecessor();
  if ((int)threadIdx.x < rows) {
    lengths[threadIdx.x] = min(lengths[threadIdx.x] + 1, (int)ROOM);
  }
}
/* For the library's chain: a block a row, its own norm and the append. */
static __global__ void __launch_bounds__(256) norm_rows(const half* x, half* y) {
  __shared__ float2 sums[8];
  float v[CHANNELS / 256];
  float2 s = {0, 0};
  for (int i = 0; i < CHANNELS / 256; i++) {
    v[i] = __half2float(x[blockIdx.x * CHANNELS + i * 256 + threadIdx.x]);
    s.x += v[i];
    s.y += v[i] * v[i];
  }
  for (int d = 16; d; d /= 2) {
    s.x += __shfl_xor_sync(~0u, s.x, d);
    s.y += __shfl_xor_sync(~0u, s.y, d);
  }
  if (threadIdx.x % 32 == 0) {
    sums[threadIdx.x / 32] = s;
  }
  __syncthreads();
  s = sums[0];
  for (int w = 1; w < 8; w++) {
    s.x += sums[w].x;
    s.y += sums[w].y;
  }
  const float mean = s.x / CHANNELS, factor = rsqrtf(s.y / CHANNELS - mean * mean + 1e-5f);
  for (int i = 0; i < CHANNELS / 256; i++) {
    y[blockIdx.x * CHANNELS + i * 256 + threadIdx.x] = __float2half((v[i] - mean) * factor);
  }
}

/* ---- in double ---- */
static __global__ void plain_sums(int type, float2* norm, const half* shift, int columns,
                                  int channels, uint32_t seed) {
  const int column = blockIdx.x * blockDim.x + threadIdx.x;
  if (column < columns) {
    double sum = 0;
    uint32_t bits;
    for (int c = 0; c < channels; c++) {
      sum += (double)plain_weight(type, column, c, seed, &bits) *
             (double)__half2float(scale_of(type, column, c, seed));
    }
    norm[column] = make_float2((float)sum, __half2float(shift[column]));
  }
}
static __global__ void plain_linear(int type, const double* x, double* y, int columns, int channels,
                                    uint32_t seed, bool norm, const half* bias,
                                    const double* residual, bool gelu) {
  const int column = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y;
  if (column >= columns) {
    return;
  }
  double mean = 0, square = 0, sum = 0;
  for (int c = 0; c < channels; c++) {
    mean += x[(size_t)row * channels + c];
    square += x[(size_t)row * channels + c] * x[(size_t)row * channels + c];
  }
  mean /= channels;
  const double factor = norm ? 1 / sqrt(square / channels - mean * mean + 1e-5) : 1;
  for (int c = 0; c < channels; c++) {
    uint32_t bits;
    sum += (double)plain_weight(type, column, c, seed, &bits) *
           (double)__half2float(scale_of(type, column, c, seed)) *
           (norm ? (x[(size_t)row * channels + c] - mean) * factor : x[(size_t)row * channels + c]);
  }
  sum += (double)__half2float(bias[column]);
  sum = gelu ? 0.5 * sum * (1 + erf(sum * 0.70710678118654752)) : sum;
  y[(size_t)row * columns + column] =
      sum + (residual ? residual[(size_t)row * columns + column] : 0);
}
/* Over the rows in the cache and the newest one out of qkv; a block a head, WIDTH threads. */
static __global__ void plain_attention(const double* qkv, const half* keys, const half* values,
                                       const int* lengths, double* y) {
  __shared__ double weight[ROOM];
  const int head = blockIdx.x, row = blockIdx.y, length = lengths[row];
  const double* q = qkv + (size_t)row * 3 * CHANNELS + head * WIDTH;
  const size_t base = ((size_t)row * HEADS + head) * ROOM * WIDTH;
  auto value = [&](const half* cache, int part, int r, int d) {
    return r == length - 1 ? q[part * CHANNELS + d]
                           : (double)__half2float(cache[base + (size_t)r * WIDTH + d]);
  };
  for (int r = threadIdx.x; r < length; r += WIDTH) {
    double s = 0;
    for (int d = 0; d < WIDTH; d++) {
      s += q[d] * value(keys, 1, r, d);
    }
    weight[r] = s / 8;
  }
  __syncthreads();
  y[(size_t)row * CHANNELS + head * WIDTH + threadIdx.x] =
      plain_weighted(weight, length, [&](int r) { return value(values, 2, r, (int)threadIdx.x); });
}
static __global__ void as_double(const half* x, double* y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    y[i] = (double)__half2float(x[i]);
  }
}
