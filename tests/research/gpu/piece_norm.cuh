/* Instance norm in NHWC by two launches, so that many blocks share what one image has: sums of
 * pieces, then the norm. */
#pragma once

#include "hopper.cuh"
#include "measure.cuh"

enum { MOST_INNER = 128, MOST_PIECES = 32 };
/* x as [outer][length][inner], `pieces` blocks each. */
static __global__ void __launch_bounds__(256)
    piece_sums(const half* x, float2* sums, int length, int inner, int pieces) {
  __shared__ float2 partial[256 * 8];
  const int outer = blockIdx.x / pieces, piece = blockIdx.x % pieces, lanes = inner / 8,
            parts = 256 / lanes, lane = threadIdx.x % lanes, part = threadIdx.x / lanes,
            end = length * (piece + 1) / pieces;
  const half* from = x + (size_t)outer * length * inner + lane * 8;
  float2 sum[8] = {};
  wait_for_predecessor();
  release_dependents();
#pragma unroll 4
  for (int l = length * piece / pieces + part; l < end; l += parts) {
    const uint4 v = *(const uint4*)(from + (size_t)l * inner);
#pragma unroll
    for (int k = 0; k < 8; k++) {
      const float f = __half2float(((const half*)&v)[k]);
      sum[k].x += f;
      sum[k].y += f * f;
    }
  }
#pragma unroll
  for (int k = 0; k < 8; k++) {
    partial[part * inner + lane * 8 + k] = sum[k];
  }
  __syncthreads();
  if (threadIdx.x < inner) {
    float2 all = {0, 0};
    for (int i = 0; i < parts; i++) {
      all.x += partial[i * inner + threadIdx.x].x;
      all.y += partial[i * inner + threadIdx.x].y;
    }
    sums[(size_t)blockIdx.x * inner + threadIdx.x] = all;
  }
}
static __global__ void __launch_bounds__(256)
    piece_norm(const half* x, const float2* sums, const half* scale, const half* bias, half* y,
               int length, int inner, int pieces, int of_sums) {
  __shared__ float factors[MOST_INNER], shifts[MOST_INNER];
  const int outer = blockIdx.x / pieces, piece = blockIdx.x % pieces, lanes = inner / 8,
            parts = 256 / lanes, lane = threadIdx.x % lanes, part = threadIdx.x / lanes,
            end = length * (piece + 1) / pieces;
  wait_for_predecessor();
  release_dependents();
  if (threadIdx.x < inner) {
    float2 all = {0, 0};
    for (int i = 0; i < of_sums; i++) {
      const float2 s = sums[((size_t)outer * of_sums + i) * inner + threadIdx.x];
      all.x += s.x;
      all.y += s.y;
    }
    const float mean = all.x / length,
                factor = rsqrtf(fmaxf(all.y / length - mean * mean, 0.f) + 1e-5f) *
                         __half2float(scale[threadIdx.x]);
    factors[threadIdx.x] = factor;
    shifts[threadIdx.x] = __half2float(bias[threadIdx.x]) - mean * factor;
  }
  __syncthreads();
  float f[8], s[8];
#pragma unroll
  for (int k = 0; k < 8; k++) {
    f[k] = factors[lane * 8 + k];
    s[k] = shifts[lane * 8 + k];
  }
  const size_t base = (size_t)outer * length * inner + lane * 8;
#pragma unroll 4
  for (int l = length * piece / pieces + part; l < end; l += parts) {
    uint4 v = *(const uint4*)(x + base + (size_t)l * inner);
#pragma unroll
    for (int k = 0; k < 8; k++) {
      half* h = (half*)&v + k;
      *h = __float2half(fmaf(__half2float(*h), f[k], s[k]));
    }
    *(uint4*)(y + base + (size_t)l * inner) = v;
  }
}
