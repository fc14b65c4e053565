/* Attention over 128 tokens in heads of 64 channels, as a step of a chain of dependent launches:
 * qkv[128][3 * channels] to y[128][channels]. A block takes 16 queries of one head; its 8 warps
 * take 16 keys each for the scores and 8 channels each for the result. */
#pragma once

#include "hopper.cuh"

enum { ATTENTION_THREADS = 256, ATTENTION_QUERIES = 16 };

struct attention_arguments_t {
  CUtensorMap queries, keys; /* [128][3 * channels] in boxes of 16 and of 128 rows by 64 channels,
                                128-byte swizzle */
  half* y;
  int channels, release_late;
  unsigned long long* stamps; /* NULL, or 8 for each block */
};

__device__ __forceinline__ void load_matrices(uint32_t (&r)[4], uint32_t address) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
               : "r"(address));
}
__device__ __forceinline__ void load_matrices_transposed(uint32_t (&r)[4], uint32_t address) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
               : "r"(address));
}
__device__ __forceinline__ void warp_product(float (&c)[4], const uint32_t (&a)[4], uint32_t b0,
                                             uint32_t b1) {
  asm volatile(
      "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, "
      "%9}, {%0, %1, %2, %3};"
      : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}
/* 16 bytes `chunk` of a row of 128 bytes under the 128-byte swizzle. */
__device__ __forceinline__ uint32_t swizzled(uint32_t base, int row, int chunk) {
  return base + row * 128 + ((chunk ^ (row & 7)) << 4);
}

static __global__ void __launch_bounds__(ATTENTION_THREADS)
    attention128(const __grid_constant__ attention_arguments_t p) {
  enum { PITCH = 272 }; /* bytes of a row of weights, padded */
  __shared__ __align__(1024) uint8_t q[2048], k[16384], v[16384];
  __shared__ __align__(16) uint8_t weights[16 * PITCH];
  __shared__ float largest[8][16], total[8][16];
  __shared__ __align__(8) uint64_t barriers[2];
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32, quad = lane / 4, quad_lane = lane % 4;
  const int head = blockIdx.y, first = blockIdx.x * ATTENTION_QUERIES;
  unsigned long long time[6];
  time[0] = p.stamps ? global_time() : 0;
  const uint32_t scores_ready = shared_address(&barriers[0]),
                 values_ready = shared_address(&barriers[1]);
  if (threadIdx.x == 0) {
    barrier_initialize(scores_ready, 1);
    barrier_initialize(values_ready, 1);
    barrier_publish();
    barrier_expect(scores_ready, 2048 + 16384);
    barrier_expect(values_ready, 16384);
    prefetch_map(&p.queries);
    prefetch_map(&p.keys);
  }
  __syncthreads();
  if (!p.release_late) {
    release_dependents();
  }
  wait_for_predecessor();
  time[1] = p.stamps ? global_time() : 0;
  if (threadIdx.x == 0) {
    plane_copy(shared_address(k), &p.keys, p.channels + head * 64, 0, scores_ready);
    plane_copy(shared_address(q), &p.queries, head * 64, first, scores_ready);
    plane_copy(shared_address(v), &p.keys, 2 * p.channels + head * 64, 0, values_ready);
  }
  if (p.release_late) {
    release_dependents();
  }
  barrier_wait(scores_ready, 0);
  time[2] = p.stamps ? global_time() : 0;

  float score[2][4] = {};
#pragma unroll
  for (int step = 0; step < 4; step++) {
    uint32_t a[4], b[4];
    load_matrices(a, swizzled(shared_address(q), lane & 15, 2 * step + (lane >> 4)));
    load_matrices(b, swizzled(shared_address(k), warp * 16 + (lane & 7) + (lane >> 4) * 8,
                              2 * step + (lane >> 3 & 1)));
    warp_product(score[0], a, b[0], b[1]);
    warp_product(score[1], a, b[2], b[3]);
  }
  float most[2];
#pragma unroll
  for (int h = 0; h < 2; h++) {
    most[h] = fmaxf(fmaxf(score[0][2 * h], score[0][2 * h + 1]),
                    fmaxf(score[1][2 * h], score[1][2 * h + 1]));
    most[h] = fmaxf(most[h], __shfl_xor_sync(~0u, most[h], 1));
    most[h] = fmaxf(most[h], __shfl_xor_sync(~0u, most[h], 2));
    if (quad_lane == 0) {
      largest[warp][quad + 8 * h] = most[h];
    }
  }
  __syncthreads();
  time[3] = p.stamps ? global_time() : 0;
  const float scale = 0.125f * 1.44269504f; /* 1 / sqrt(64), for powers of two */
#pragma unroll
  for (int h = 0; h < 2; h++) {
    for (int w = 0; w < 8; w++) {
      most[h] = fmaxf(most[h], largest[w][quad + 8 * h]);
    }
    float sum = 0;
#pragma unroll
    for (int n = 0; n < 2; n++) {
      const float x = exp2f((score[n][2 * h] - most[h]) * scale),
                  y = exp2f((score[n][2 * h + 1] - most[h]) * scale);
      sum += x + y;
      *(uint32_t*)(weights + (quad + 8 * h) * PITCH + (warp * 16 + n * 8 + quad_lane * 2) * 2) =
          pack_half(x, y);
    }
    sum += __shfl_xor_sync(~0u, sum, 1);
    sum += __shfl_xor_sync(~0u, sum, 2);
    if (quad_lane == 0) {
      total[warp][quad + 8 * h] = sum;
    }
  }
  __syncthreads();
  time[4] = p.stamps ? global_time() : 0;
  barrier_wait(values_ready, 0);
  float result[2][4] = {};
#pragma unroll
  for (int step = 0; step < 4; step++) { /* of 32 keys */
    uint32_t a[4], b[4];
    load_matrices_transposed(b, swizzled(shared_address(v), step * 32 + lane, warp));
    load_matrices(a, shared_address(weights) + (lane & 15) * PITCH + (lane >> 4) * 16 + step * 64);
    warp_product(result[0], a, b[0], b[1]);
    load_matrices(
        a, shared_address(weights) + (lane & 15) * PITCH + (lane >> 4) * 16 + step * 64 + 32);
    warp_product(result[1], a, b[2], b[3]);
  }
#pragma unroll
  for (int h = 0; h < 2; h++) {
    float sum = 0;
    for (int w = 0; w < 8; w++) {
      sum += total[w][quad + 8 * h];
    }
    const float inverse = 1.f / sum;
    *(uint32_t*)(p.y + (first + quad + 8 * h) * p.channels + head * 64 + warp * 8 + quad_lane * 2) =
        pack_half((result[0][2 * h] + result[1][2 * h]) * inverse,
                  (result[0][2 * h + 1] + result[1][2 * h + 1]) * inverse);
  }
  if (p.stamps && threadIdx.x == 0) {
    unsigned long long* to = p.stamps + (blockIdx.y * gridDim.x + blockIdx.x) * 8;
    for (int i = 0; i < 5; i++) {
      to[i] = time[i];
    }
    to[5] = global_time();
    to[7] = 1;
  }
}
