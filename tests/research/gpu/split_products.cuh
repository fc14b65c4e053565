/* A convolution in fp32 on the tensor cores (NHWC, window 1 or 3 with its padding, fp32 sums):
 *
 *   y[image, row, column][out] = relu(x around it . w[out] + bias[out])
 *
 * as an implicit product of BM pixels by BN channels a block, blocks of 32 of the sum through a
 * ring in shared memory. AS_TF32 rounds both operands to tf32. IN_THREE divides each value into a
 * tf32 number and the tf32 number nearest to the rest and adds up three products, which leaves out
 * only the product of the two rests. IN_THREE_PROMOTED starts each 32 of the sum at zero and adds
 * them up outside the tensor cores, which truncate. The SPLIT blocks of a cluster share the sum. */
#pragma once

#include <cooperative_groups.h>

#include "hopper.cuh"

enum precision_t { AS_TF32, IN_THREE, IN_THREE_PROMOTED };
enum { SPLIT_STAGES = 4 };

struct split_arguments_t {
  const float *x, *w, *bias; /* w[out][window][window][channels] */
  float* y;
  int channels, extent, output_extent, stride, window, columns, rows;
};

__device__ __forceinline__ void four_matrices(uint32_t (&to)[4], uint32_t address) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];"
               : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
               : "r"(address));
}
__device__ __forceinline__ uint32_t to_tf32(uint32_t bits) {
  uint32_t t;
  asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(t) : "f"(__uint_as_float(bits)));
  return t;
}
/* bits: high + low, both tf32 */
__device__ __forceinline__ void divide(uint32_t bits, uint32_t& high, uint32_t& low) {
  high = to_tf32(bits);
  low = to_tf32(__float_as_uint(__uint_as_float(bits) - __uint_as_float(high)));
}
__device__ __forceinline__ void multiply_tf32(float (&sum)[4], const uint32_t (&a)[4], uint32_t b0,
                                              uint32_t b1) {
  asm("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, "
      "{%0,%1,%2,%3};"
      : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

template <int BM, int BN, int WARPS_M, int WARPS_N, int SPLIT, int PRECISION>
struct split_tile_t {
  enum {
    THREADS = WARPS_M * WARPS_N * 32,
    PASS = THREADS / 8, /* rows that one pass of copies fills */
    WM = BM / WARPS_M,
    WN = BN / WARPS_N,
    MT = WM / 16,
    NT = WN / 8,
    X_BYTES = BM * 128,
    STAGE_BYTES = (BM + BN) * 128,
    SHARED_BYTES = SPLIT_STAGES * STAGE_BYTES
  };
  static_assert(BM * BN * 4 <= SHARED_BYTES, "the sums take the ring's place");
  uint32_t ring;
  int first_row, first_column, first, count; /* blocks of 32 of the sum */
  int at[BM / PASS];                         /* this thread's pixels: their middle in x */
  uint32_t inside[BM / PASS];                /* a bit a tap */

  __device__ split_tile_t(const split_arguments_t& p, void* memory)
      : ring((uint32_t)__cvta_generic_to_shared(memory)) {
    const int part = blockIdx.x, all = p.window * p.window * p.channels / 32;
    first_column = blockIdx.y * BN;
    first_row = blockIdx.z * BM;
    first = all * part / SPLIT;
    count = all * (part + 1) / SPLIT - first;
#pragma unroll
    for (int i = 0; i < BM / PASS; i++) {
      const int row = first_row + (int)threadIdx.x / 8 + i * PASS, e = p.output_extent;
      const int oy = row / e % e * p.stride, ox = row % e * p.stride, image = row / (e * e);
      at[i] = ((image * p.extent + oy) * p.extent + ox) * p.channels;
      inside[i] = 0;
      for (int tap = 0; tap < p.window * p.window; tap++) {
        const int iy = oy + tap / p.window - p.window / 2, ix = ox + tap % p.window - p.window / 2;
        inside[i] |=
            (uint32_t)(row < p.rows && iy >= 0 && ix >= 0 && iy < p.extent && ix < p.extent) << tap;
      }
    }
  }
  __device__ static uint32_t place(int row, int chunk) {
    return (uint32_t)(row * 128 + ((chunk ^ row) & 7) * 16);
  }
  __device__ void fetch_weights(const split_arguments_t& p, int s) const {
    const int chunk = threadIdx.x % 8, all = p.window * p.window * p.channels;
#pragma unroll
    for (int i = 0; i < (BN + PASS - 1) / PASS; i++) {
      const int row = threadIdx.x / 8 + i * PASS;
      if (BN % PASS == 0 || row < BN) {
        small_copy(ring + s % SPLIT_STAGES * STAGE_BYTES + X_BYTES + place(row, chunk),
                   p.w + (size_t)(first_column + row) * all + (first + s) * 32 + chunk * 4, true);
      }
    }
  }
  __device__ void fetch_input(const split_arguments_t& p, int s) const {
    const int chunk = threadIdx.x % 8, deep = p.channels / 32, tap = (first + s) / deep;
    const int shift =
        ((tap / p.window - p.window / 2) * p.extent + tap % p.window - p.window / 2) * p.channels +
        (first + s) % deep * 32 + chunk * 4;
#pragma unroll
    for (int i = 0; i < BM / PASS; i++) {
      const bool in = inside[i] >> tap & 1;
      small_copy(ring + s % SPLIT_STAGES * STAGE_BYTES + place(threadIdx.x / 8 + i * PASS, chunk),
                 p.x + (in ? at[i] + shift : 0), in);
    }
  }
  __device__ void multiply(int s, int warp_m, int warp_n, int lane, float (&sum)[MT][NT][4]) const {
    const uint32_t x = ring + s % SPLIT_STAGES * STAGE_BYTES, w = x + X_BYTES;
    const int id = lane / 8, row = lane % 8;
#pragma unroll
    for (int k = 0; k < 4; k++) {
      uint32_t a[MT][4], b[NT / 2][4], a_low[MT][4], b_low[NT / 2][4];
#pragma unroll
      for (int m = 0; m < MT; m++) {
        four_matrices(a[m], x + place(warp_m * WM + m * 16 + row + id % 2 * 8, k * 2 + id / 2));
      }
#pragma unroll
      for (int n = 0; n < NT / 2; n++) {
        four_matrices(b[n], w + place(warp_n * WN + n * 16 + row + id / 2 * 8, k * 2 + id % 2));
      }
#pragma unroll
      for (int i = 0; i < MT * 4; i++) {
        divide(a[i / 4][i % 4], a[i / 4][i % 4], a_low[i / 4][i % 4]);
      }
#pragma unroll
      for (int i = 0; i < NT * 2; i++) {
        divide(b[i / 4][i % 4], b[i / 4][i % 4], b_low[i / 4][i % 4]);
      }
#pragma unroll
      for (int m = 0; m < MT; m++) {
#pragma unroll
        for (int n = 0; n < NT; n++) {
          const int h = n % 2 * 2;
          if (PRECISION != AS_TF32) {
            multiply_tf32(sum[m][n], a_low[m], b[n / 2][h], b[n / 2][h + 1]);
            multiply_tf32(sum[m][n], a[m], b_low[n / 2][h], b_low[n / 2][h + 1]);
          }
          multiply_tf32(sum[m][n], a[m], b[n / 2][h], b[n / 2][h + 1]);
        }
      }
    }
  }
};

template <int BM, int BN, int WARPS_M, int WARPS_N, int SPLIT, int PRECISION>
__global__ void __launch_bounds__(WARPS_M* WARPS_N * 32) split_convolve(const split_arguments_t p) {
  typedef split_tile_t<BM, BN, WARPS_M, WARPS_N, SPLIT, PRECISION> my_tile_t;
  enum { MT = my_tile_t::MT, NT = my_tile_t::NT, THREADS = my_tile_t::THREADS };
  extern __shared__ __align__(1024) uint8_t memory[];
  const my_tile_t tile(p, memory);
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32, warp_m = warp / WARPS_N,
            warp_n = warp % WARPS_N;
  for (int s = 0; s < SPLIT_STAGES - 1 && s < tile.count; s++) {
    tile.fetch_weights(p, s);
  }
  wait_for_predecessor();
  release_dependents();
  for (int s = 0; s < SPLIT_STAGES - 1; s++) {
    if (s < tile.count) {
      tile.fetch_input(p, s);
    }
    small_copies_commit();
  }
  float sum[MT][NT][4] = {};
  for (int s = 0; s < tile.count; s++) {
    small_copies_wait<SPLIT_STAGES - 2>();
    __syncthreads();
    if (s + SPLIT_STAGES - 1 < tile.count) {
      tile.fetch_weights(p, s + SPLIT_STAGES - 1);
      tile.fetch_input(p, s + SPLIT_STAGES - 1);
    }
    small_copies_commit();
    if (PRECISION == IN_THREE_PROMOTED) {
      float part[MT][NT][4] = {};
      tile.multiply(s, warp_m, warp_n, lane, part);
#pragma unroll
      for (int i = 0; i < MT * NT * 4; i++) {
        sum[i / NT / 4][i / 4 % NT][i % 4] += part[i / NT / 4][i / 4 % NT][i % 4];
      }
    } else {
      tile.multiply(s, warp_m, warp_n, lane, sum);
    }
  }
  small_copies_wait<0>();
  __syncthreads();
  /* the sums take the ring's place, rows of BN */
  float* const sums = (float*)memory;
#pragma unroll
  for (int i = 0; i < MT * NT * 2; i++) {
    const int m = i / 2 / NT, n = i / 2 % NT, lower = i % 2;
    const int row = warp_m * my_tile_t::WM + m * 16 + lower * 8 + lane / 4,
              column = warp_n * my_tile_t::WN + n * 8 + lane % 4 * 2;
    *(float2*)(sums + row * BN + column) =
        make_float2(sum[m][n][lower * 2], sum[m][n][lower * 2 + 1]);
  }
  namespace cg = cooperative_groups;
  if (SPLIT > 1) {
    cg::this_cluster().sync();
  } else {
    __syncthreads();
  }
  constexpr int PIECES = BM * BN / 4 / SPLIT;
  for (int i = threadIdx.x; i < PIECES; i += THREADS) {
    const int piece = i + (SPLIT > 1 ? (int)blockIdx.x * PIECES : 0);
    float4 v = make_float4(0, 0, 0, 0);
#pragma unroll
    for (int r = 0; r < SPLIT; r++) {
      const float* from = SPLIT > 1 ? cg::this_cluster().map_shared_rank(sums, r) : sums;
      const float4 o = *(const float4*)(from + piece * 4);
      v = make_float4(v.x + o.x, v.y + o.y, v.z + o.z, v.w + o.w);
    }
    const int row = tile.first_row + piece * 4 / BN, column = tile.first_column + piece * 4 % BN;
    if (row < p.rows) {
      const float4 b = *(const float4*)(p.bias + column);
      *(float4*)(p.y + (size_t)row * p.columns + column) = make_float4(
          fmaxf(v.x + b.x, 0), fmaxf(v.y + b.y, 0), fmaxf(v.z + b.z, 0), fmaxf(v.w + b.w, 0));
    }
  }
  if (SPLIT > 1) {
    cg::this_cluster().sync();
  }
}
