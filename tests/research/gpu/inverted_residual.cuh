/* MobileNet-v2's block at batch 1: expand 1x1 + ReLU6, depthwise 3x3 + ReLU6, project 1x1 +
 * residual, fp16 NHWC.
 *
 * fused_block: one launch. A block takes `rows` rows of the image and a share of the expanded
 * channels; the blocks of a cluster share the sum of the projection, each finishes some tiles of
 * it. All weights are fetched before the wait. The rows above and below are expanded again by each
 * block that needs them. pointwise and depthwise: the same in three launches. */
#pragma once

#include "attention128.cuh" /* ldmatrix and mma.sync */
#include "hopper.cuh"

struct block_arguments_t {
  const half *x, *expand, *depthwise,
      *project; /* expand and project packed by pack_tiles; depthwise [9][expanded] */
  const float *expand_bias, *depthwise_bias, *project_bias;
  half* y;
  int release_late;
};

__device__ __forceinline__ float relu6(float v) {
  return fminf(fmaxf(v, 0.f), 6.f);
}
__device__ __forceinline__ void copy16(uint32_t to, const void* from, int bytes) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(to), "l"(from), "r"(bytes)
               : "memory");
}
__device__ __forceinline__ void copies_wait() {
  asm volatile("cp.async.commit_group;\ncp.async.wait_group 0;" ::: "memory");
}
/* 16 rows by 16 channels from rows `pitch` bytes apart. */
__device__ __forceinline__ void load_tile(uint32_t (&a)[4], uint32_t at, int pitch, int lane) {
  load_matrices(a, at + (lane & 15) * pitch + (lane >> 4) * 16);
}

/* One block of fused_block: where its parts lie in shared memory, and its steps. */
template <int EXTENT, int CHANNELS, int EXPANDED, int TILE_ROWS, int SHARES>
struct fused_block_t {
  enum { SHARE = EXPANDED / SHARES, WARPS = 8, THREADS = 256 };
  enum { INPUTS = (TILE_ROWS + 2) * EXTENT, OUTPUTS = TILE_ROWS * EXTENT };
  enum { INPUT_TILES = (INPUTS + 15) / 16, OUTPUT_TILES = (OUTPUTS + 15) / 16 };
  enum { C16 = CHANNELS / 16, S16 = SHARE / 16, UNITS = OUTPUT_TILES * C16 };
  enum { OWN = (UNITS + SHARES - 1) / SHARES, TURNS = (UNITS + WARPS - 1) / WARPS };
  enum { X_PITCH = CHANNELS * 2 + 16, E_PITCH = SHARE * 2 + 16, E_WIDTH = EXTENT + 2 };
  enum {
    X_AT = 128,                               /* pixels of x, with the rows above and below */
    E_AT = X_AT + INPUT_TILES * 16 * X_PITCH, /* expanded, with a border of zeros */
    D_AT = E_AT + (TILE_ROWS + 2) * E_WIDTH * E_PITCH, /* filtered */
    W1_AT = (D_AT + OUTPUT_TILES * 16 * E_PITCH + 127) / 128 * 128,
    W2_AT = W1_AT + SHARE * CHANNELS * 2,
    F_AT = W2_AT + SHARE * CHANNELS * 2, /* taps [9][SHARE], then the two biases */
    INBOX_AT = F_AT + 11 * SHARE * 4,
    SIZE = INBOX_AT + (SHARES - 1) * OWN * 1024
  };
  static_assert(EXPANDED % SHARES == 0 && SHARE % 16 == 0 && CHANNELS % 16 == 0, "whole tiles");
  uint8_t* memory;
  float* taps;
  uint32_t base;
  int thread, warp, lane, quad, quad_lane, share, first_row, first_channel;

  __device__ explicit fused_block_t(uint8_t* memory)
      : memory(memory),
        taps((float*)(memory + F_AT)),
        base(shared_address(memory)),
        thread(threadIdx.x),
        warp(thread / 32),
        lane(thread % 32),
        quad(lane / 4),
        quad_lane(lane % 4),
        share(blockIdx.x),
        first_row(blockIdx.y * TILE_ROWS),
        first_channel(share * SHARE) {}
  __device__ uint32_t ready() const {
    return base;
  }
  __device__ uint32_t pushed() const {
    return base + 8;
  }

  /* One thread: barriers, and both products' weights. */
  __device__ void fetch_weights(const block_arguments_t& p) const {
    barrier_initialize(ready(), 1);
    barrier_initialize(pushed(), 1);
    barrier_publish();
    barrier_expect(ready(), 2 * SHARE * CHANNELS * 2);
    bulk_copy(base + W1_AT, p.expand + (size_t)first_channel * CHANNELS, SHARE * CHANNELS * 2,
              ready());
    for (int n = 0; n < C16; n++) {
      bulk_copy(base + W2_AT + n * S16 * 512,
                p.project + ((size_t)n * (EXPANDED / 16) + share * S16) * 256, S16 * 512, ready());
    }
    barrier_expect(pushed(), (UNITS - share + SHARES - 1) / SHARES * (SHARES - 1) * 1024);
  }
  __device__ void fetch_small(const block_arguments_t& p) const {
    for (int i = thread; i < 9 * SHARE; i += THREADS) {
      taps[i] = __half2float(p.depthwise[i / SHARE * EXPANDED + first_channel + i % SHARE]);
    }
    for (int i = thread; i < SHARE; i += THREADS) {
      taps[9 * SHARE + i] = p.expand_bias[first_channel + i];
      taps[10 * SHARE + i] = p.depthwise_bias[first_channel + i];
    }
    for (int i = thread; i < (TILE_ROWS + 2) * E_WIDTH * E_PITCH / 16; i += THREADS) {
      ((uint4*)(memory + E_AT))[i] = make_uint4(0, 0, 0, 0);
    }
  }
  __device__ void load_input(const block_arguments_t& p) const {
    for (int i = thread; i < INPUT_TILES * 16 * (CHANNELS / 8); i += THREADS) {
      const int pixel = i / (CHANNELS / 8), chunk = i % (CHANNELS / 8),
                row = first_row - 1 + pixel / EXTENT;
      const bool inside = pixel < INPUTS && row >= 0 && row < EXTENT;
      copy16(base + X_AT + pixel * X_PITCH + chunk * 16,
             p.x + (inside ? (row * EXTENT + pixel % EXTENT) * CHANNELS + chunk * 8 : 0),
             inside ? 16 : 0);
    }
    copies_wait();
  }
  /* 16 pixels by 16 columns over STEPS tiles of weights. */
  template <int STEPS>
  __device__ void tile_product(float (&sum)[2][4], int rows_at, int pitch, int weights_at) const {
#pragma unroll
    for (int k = 0; k < STEPS; k++) {
      uint32_t a[4];
      load_tile(a, base + rows_at + k * 32, pitch, lane);
      const uint4 b = *(const uint4*)(memory + weights_at + k * 512 + lane * 16);
      warp_product(sum[0], a, b.x, b.y);
      warp_product(sum[1], a, b.z, b.w);
    }
  }
  __device__ void expand() const {
    for (int u = warp; u < INPUT_TILES * S16; u += WARPS) {
      const int m = u % INPUT_TILES, n = u / INPUT_TILES;
      float sum[2][4] = {};
      tile_product<C16>(sum, X_AT + m * 16 * X_PITCH, X_PITCH, W1_AT + n * C16 * 512);
      const float4 bias = *(const float4*)(taps + 9 * SHARE + n * 16 + quad_lane * 4);
#pragma unroll
      for (int h = 0; h < 2; h++) {
        const int pixel = m * 16 + quad + 8 * h, row = first_row - 1 + pixel / EXTENT;
        if (pixel < INPUTS && row >= 0 &&
            row < EXTENT) { /* what lies outside of the image stays zero */
          const int at = (pixel / EXTENT * E_WIDTH + pixel % EXTENT + 1) * E_PITCH +
                         (n * 16 + quad_lane * 4) * 2;
          *(uint2*)(memory + E_AT + at) = make_uint2(
              pack_half(relu6(sum[0][2 * h] + bias.x), relu6(sum[0][2 * h + 1] + bias.y)),
              pack_half(relu6(sum[1][2 * h] + bias.z), relu6(sum[1][2 * h + 1] + bias.w)));
        }
      }
    }
  }
  /* A thread makes 8 channels of a pixel. */
  __device__ void filter() const {
    for (int i = thread; i < OUTPUT_TILES * 16 * (SHARE / 8); i += THREADS) {
      const int pixel = i / (SHARE / 8), c = i % (SHARE / 8) * 8;
      float sum[8];
      uint32_t out[4] = {0, 0, 0, 0};
      if (pixel < OUTPUTS) {
#pragma unroll
        for (int j = 0; j < 8; j++) {
          sum[j] = taps[10 * SHARE + c + j];
        }
#pragma unroll
        for (int t = 0; t < 9; t++) {
          const int at =
              ((pixel / EXTENT + t / 3) * E_WIDTH + pixel % EXTENT + t % 3) * E_PITCH + c * 2;
          const uint4 v = *(const uint4*)(memory + E_AT + at);
          const uint32_t e[4] = {v.x, v.y, v.z, v.w};
#pragma unroll
          for (int j = 0; j < 4; j++) {
            const float2 pair = unpack_half(e[j]);
            sum[2 * j] += pair.x * taps[t * SHARE + c + 2 * j];
            sum[2 * j + 1] += pair.y * taps[t * SHARE + c + 2 * j + 1];
          }
        }
#pragma unroll
        for (int j = 0; j < 4; j++) {
          out[j] = pack_half(relu6(sum[2 * j]), relu6(sum[2 * j + 1]));
        }
      }
      *(uint4*)(memory + D_AT + pixel * E_PITCH + c * 2) =
          make_uint4(out[0], out[1], out[2], out[3]);
    }
  }
  /* Tile u belongs to block u % SHARES of the cluster; what is another's is pushed to it. */
  __device__ void project(float (&own)[TURNS][2][4]) const {
#pragma unroll
    for (int i = 0; i < TURNS; i++) {
      const int u = warp + i * WARPS, m = u / C16, n = u % C16, owner = u % SHARES;
      if (u >= UNITS) {
        break;
      }
      float sum[2][4] = {};
      tile_product<S16>(sum, D_AT + m * 16 * E_PITCH, E_PITCH, W2_AT + n * S16 * 512);
      if (owner == share) {
#pragma unroll
        for (int j = 0; j < 8; j++) {
          own[i][j / 4][j % 4] = sum[j / 4][j % 4];
        }
      } else {
        const int sender = (share + SHARES - owner) % SHARES - 1;
        const uint32_t at =
            base + INBOX_AT + (u / SHARES * (SHARES - 1) + sender) * 1024 + lane * 16;
        const uint32_t to = map_to_block(at, owner), barrier = map_to_block(pushed(), owner);
        store_async(to, sum[0][0], sum[0][1], sum[0][2], sum[0][3], barrier);
        store_async(to + 512, sum[1][0], sum[1][1], sum[1][2], sum[1][3], barrier);
      }
    }
  }
  __device__ void finish(const block_arguments_t& p, float (&own)[TURNS][2][4]) const {
    barrier_wait(pushed(), 0);
#pragma unroll
    for (int i = 0; i < TURNS; i++) {
      const int u = warp + i * WARPS, m = u / C16, n = u % C16, column = n * 16 + quad_lane * 4;
      if (u >= UNITS || u % SHARES != share) {
        continue;
      }
      for (int s = 0; s < SHARES - 1; s++) {
        const float* in =
            (const float*)(memory + INBOX_AT + (u / SHARES * (SHARES - 1) + s) * 1024) + lane * 4;
#pragma unroll
        for (int j = 0; j < 8; j++) {
          own[i][j / 4][j % 4] += in[j / 4 * 128 + j % 4];
        }
      }
      const float4 bias = __ldg((const float4*)(p.project_bias + column));
#pragma unroll
      for (int h = 0; h < 2; h++) {
        const int pixel = m * 16 + quad + 8 * h, row = first_row + pixel / EXTENT;
        if (pixel < OUTPUTS && row < EXTENT) {
          const uint2 r = *(const uint2*)(memory + X_AT + (pixel + EXTENT) * X_PITCH + column * 2);
          const float2 r0 = unpack_half(r.x), r1 = unpack_half(r.y);
          *(uint2*)(p.y + (row * EXTENT + pixel % EXTENT) * CHANNELS + column) = make_uint2(
              pack_half(own[i][0][2 * h] + bias.x + r0.x, own[i][0][2 * h + 1] + bias.y + r0.y),
              pack_half(own[i][1][2 * h] + bias.z + r1.x, own[i][1][2 * h + 1] + bias.w + r1.y));
        }
      }
    }
  }
};

template <int EXTENT, int CHANNELS, int EXPANDED, int TILE_ROWS, int SHARES>
__global__ void __launch_bounds__(256) fused_block(const block_arguments_t p) {
  typedef fused_block_t<EXTENT, CHANNELS, EXPANDED, TILE_ROWS, SHARES> block_t;
  extern __shared__ __align__(128) uint8_t memory[];
  const block_t block(memory);
  if (block.thread == 0) {
    block.fetch_weights(p);
  }
  __syncwarp();
  cluster_arrive();
  block.fetch_small(p);
  if (!p.release_late) {
    release_dependents();
  }
  cluster_wait();
  wait_for_predecessor();
  if (p.release_late) {
    release_dependents();
  }
  block.load_input(p);
  __syncthreads(); /* also for the barriers, which one thread has made */
  barrier_wait(block.ready(), 0);
  block.expand();
  __syncthreads();
  block.filter();
  __syncthreads();
  float own[block_t::TURNS][2][4];
  block.project(own);
  block.finish(p, own);
}

/* ---- the same in three launches ---- */
struct pointwise_arguments_t {
  const half *x, *weights, *residual; /* residual NULL: ReLU6 instead */
  const float* bias;
  half* y;
  int pixels, columns, release_late;
};
/* A block makes 16 * TILES pixels by 16 * WARPS_N columns; the sum is split over WARPS_K warps.
 * Weights in registers. */
template <int TILES, int STEPS, int WARPS_K, int WARPS_N>
__global__ void __launch_bounds__(WARPS_K* WARPS_N * 32) pointwise(const pointwise_arguments_t p) {
  enum {
    CHANNELS = STEPS * WARPS_K * 16,
    PITCH = CHANNELS * 2 + 16,
    THREADS = WARPS_K * WARPS_N * 32
  };
  extern __shared__ __align__(128) uint8_t memory[];
  const uint32_t base = shared_address(memory);
  const int thread = threadIdx.x, warp = thread / 32, lane = thread % 32, quad = lane / 4,
            quad_lane = lane % 4;
  const int part = warp / WARPS_N, n = blockIdx.y * WARPS_N + warp % WARPS_N,
            first = blockIdx.x * TILES * 16;
  uint4 b[STEPS];
#pragma unroll
  for (int k = 0; k < STEPS; k++) {
    b[k] = __ldg((const uint4*)p.weights + ((size_t)n * (CHANNELS / 16) + part * STEPS + k) * 32 +
                 lane);
  }
  const float4 bias = __ldg((const float4*)(p.bias + n * 16 + quad_lane * 4));
  if (!p.release_late) {
    release_dependents();
  }
  wait_for_predecessor();
  if (p.release_late) {
    release_dependents();
  }
  for (int i = thread; i < TILES * 16 * (CHANNELS / 8); i += THREADS) {
    const int pixel = i / (CHANNELS / 8), chunk = i % (CHANNELS / 8);
    const bool inside = first + pixel < p.pixels;
    copy16(base + pixel * PITCH + chunk * 16,
           p.x + (inside ? (size_t)(first + pixel) * CHANNELS + chunk * 8 : 0), inside ? 16 : 0);
  }
  copies_wait();
  __syncthreads();
  float sum[TILES][2][4] = {};
#pragma unroll
  for (int k = 0; k < STEPS; k++) {
#pragma unroll
    for (int m = 0; m < TILES; m++) {
      uint32_t a[4];
      load_tile(a, base + m * 16 * PITCH + (part * STEPS + k) * 32, PITCH, lane);
      warp_product(sum[m][0], a, b[k].x, b[k].y);
      warp_product(sum[m][1], a, b[k].z, b[k].w);
    }
  }
  if (WARPS_K > 1) { /* the first warps add up */
    float4* parts = (float4*)(memory + TILES * 16 * PITCH);
    if (part > 0) {
#pragma unroll
      for (int j = 0; j < TILES * 2; j++) {
        const float* v = sum[j / 2][j % 2];
        parts[((part - 1) * WARPS_N + warp % WARPS_N) * TILES * 64 + j * 32 + lane] =
            make_float4(v[0], v[1], v[2], v[3]);
      }
    }
    __syncthreads();
    if (part > 0) {
      return;
    }
    for (int s = 0; s < WARPS_K - 1; s++) {
#pragma unroll
      for (int j = 0; j < TILES * 2; j++) {
        const float4 v = parts[(s * WARPS_N + warp % WARPS_N) * TILES * 64 + j * 32 + lane];
        float* to = sum[j / 2][j % 2];
        to[0] += v.x;
        to[1] += v.y;
        to[2] += v.z;
        to[3] += v.w;
      }
    }
  }
#pragma unroll
  for (int j = 0; j < TILES * 2; j++) {
    const int m = j / 2, h = j % 2, pixel = first + m * 16 + quad + 8 * h;
    if (pixel < p.pixels) {
      float v[4] = {sum[m][0][2 * h] + bias.x, sum[m][0][2 * h + 1] + bias.y,
                    sum[m][1][2 * h] + bias.z, sum[m][1][2 * h + 1] + bias.w};
      const size_t at = (size_t)pixel * p.columns + n * 16 + quad_lane * 4;
      if (p.residual) {
        const uint2 r = __ldcg((const uint2*)(p.residual + at));
        const float2 r0 = unpack_half(r.x), r1 = unpack_half(r.y);
        *(uint2*)(p.y + at) =
            make_uint2(pack_half(v[0] + r0.x, v[1] + r0.y), pack_half(v[2] + r1.x, v[3] + r1.y));
      } else {
        *(uint2*)(p.y + at) =
            make_uint2(pack_half(relu6(v[0]), relu6(v[1])), pack_half(relu6(v[2]), relu6(v[3])));
      }
    }
  }
}

/* A thread makes 8 channels of a pixel. */
static __global__ void __launch_bounds__(128)
    depthwise(const half* x, const half* weights, const float* bias, half* y, int extent,
              int channels, int release_late) {
  const int i = blockIdx.x * 128 + threadIdx.x, c = i % (channels / 8) * 8,
            pixel = i / (channels / 8);
  const bool inside = pixel < extent * extent;
  uint4 w[9];
  float sum[8];
#pragma unroll
  for (int t = 0; t < 9; t++) {
    w[t] = __ldg((const uint4*)(weights + t * channels + c));
  }
#pragma unroll
  for (int j = 0; j < 8; j++) {
    sum[j] = __ldg(bias + c + j);
  }
  if (!release_late) {
    release_dependents();
  }
  wait_for_predecessor();
  if (release_late) {
    release_dependents();
  }
  uint4 v[9];
#pragma unroll
  for (int t = 0; t < 9; t++) {
    const int row = pixel / extent + t / 3 - 1, column = pixel % extent + t % 3 - 1;
    v[t] = inside && row >= 0 && row < extent && column >= 0 && column < extent
               ? __ldcg((const uint4*)(x + (row * extent + column) * channels + c))
               : make_uint4(0, 0, 0, 0);
  }
#pragma unroll
  for (int t = 0; t < 9; t++) {
    const uint32_t a[4] = {v[t].x, v[t].y, v[t].z, v[t].w}, b[4] = {w[t].x, w[t].y, w[t].z, w[t].w};
#pragma unroll
    for (int j = 0; j < 4; j++) {
      const float2 p = unpack_half(a[j]), q = unpack_half(b[j]);
      sum[2 * j] += p.x * q.x;
      sum[2 * j + 1] += p.y * q.y;
    }
  }
  if (inside) {
    *(uint4*)(y + pixel * channels + c) = make_uint4(
        pack_half(relu6(sum[0]), relu6(sum[1])), pack_half(relu6(sum[2]), relu6(sum[3])),
        pack_half(relu6(sum[4]), relu6(sum[5])), pack_half(relu6(sum[6]), relu6(sum[7])));
  }
}

/* [columns][channels] to tiles of 16 by 16 in the order of mma.sync's fragments, 512 bytes each;
 * within 16 columns the order is such that a thread's sums are neighbours. */
static __global__ void pack_tiles(half* to, const half* from, int columns, int channels) {
  const size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
  if (i >= (size_t)columns * channels) {
    return;
  }
  const int e = i % 2, which = i / 2 % 4, lane = i / 8 % 32; /* which: the lane's four registers */
  const size_t tile = i / 256, n = tile / (channels / 16), k = tile % (channels / 16);
  const int physical = lane / 4, column = 4 * (physical / 2) + 2 * (which / 2) + physical % 2;
  const int channel = (lane % 4) * 2 + e + 8 * (which % 2);
  to[i] = from[(n * 16 + column) * channels + k * 16 + channel];
}
