/* Stable sorting of rows by keys of 32 bits with their indices: least digit first, 8 bits a pass. A
 * warp ranks its 32 * EACH neighbours by ballots, the block adds up its warps; where a row has
 * several blocks they add up through memory between two barriers of the row's blocks. */
#pragma once

#include "row_order.cuh"

struct sort_arguments_t {
  const float* x;
  int n, largest;
  float* values; /* [rows][n] */
  uint32_t* indices;
  uint32_t* keys[2]; /* of several blocks a row: [rows][blocks * piece] */
  uint32_t* places[2];
  uint32_t* table;   /* [rows][blocks][256] */
  unsigned* arrived; /* [rows], 0 */
};

template <int THREADS, int EACH>
struct sort_block_t {
  enum { WARPS = THREADS / 32, PIECE = THREADS * EACH };
  struct shared_t {
    uint32_t keys[PIECE], places[PIECE];
    uint32_t counts[WARPS][256]; /* of a warp, then where its first goes */
    uint32_t begins[256];        /* where a digit's first goes within the block */
    uint32_t totals[256];        /* of the block */
    uint32_t sums[2][THREADS / 256][256];
    uint32_t bases[256]; /* where the block's first of a digit goes in the row */
    uint32_t by_warp[8];
  };

  /* Exclusive sum over 256 values, one of each of the first 256 threads; all threads call. */
  __device__ static uint32_t scan(uint32_t value, shared_t& s) {
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    uint32_t sum = value;
    for (int i = 1; i < 32; i *= 2) {
      const uint32_t before = __shfl_up_sync(~0u, sum, i);
      sum += lane >= i ? before : 0;
    }
    if (warp < 8 && lane == 31) {
      s.by_warp[warp] = sum;
    }
    __syncthreads();
    uint32_t base = 0;
    for (int i = 0; i < 8; i++) {
      base += i < warp ? s.by_warp[i] : 0;
    }
    __syncthreads();
    return base + sum - value;
  }

  /* Sorts the block's piece by one digit; key e of a thread is number
   * warp * 32 * EACH + e * 32 + lane, in and out. */
  __device__ static void pass(uint32_t (&key)[EACH], uint32_t (&place)[EACH], int shift,
                              shared_t& s) {
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    uint32_t rank[EACH];
    for (int i = lane; i < 256; i += 32) {
      s.counts[warp][i] = 0;
    }
    __syncwarp();
#pragma unroll
    for (int e = 0; e < EACH; e++) {
      const uint32_t digit = key[e] >> shift & 255;
      uint32_t peers = ~0u;
#pragma unroll
      for (int b = 0; b < 8; b++) {
        const uint32_t set = __ballot_sync(~0u, digit >> b & 1);
        peers &= digit >> b & 1 ? set : ~set;
      }
      const uint32_t before = peers & ((1u << lane) - 1);
      rank[e] = s.counts[warp][digit] + __popc(before);
      __syncwarp();
      if (before == 0) {
        s.counts[warp][digit] += __popc(peers);
      }
      __syncwarp();
    }
    __syncthreads();
    uint32_t total = 0;
    if (threadIdx.x < 256) {
#pragma unroll 8
      for (int w = 0; w < WARPS; w++) {
        const uint32_t count = s.counts[w][threadIdx.x];
        s.counts[w][threadIdx.x] = total;
        total += count;
      }
      s.totals[threadIdx.x] = total;
    }
    const uint32_t begin = scan(total, s);
    if (threadIdx.x < 256) {
      s.begins[threadIdx.x] = begin;
    }
    __syncthreads();
#pragma unroll
    for (int e = 0; e < EACH; e++) {
      const uint32_t digit = key[e] >> shift & 255,
                     to = s.begins[digit] + s.counts[warp][digit] + rank[e];
      s.keys[to] = key[e];
      s.places[to] = place[e];
    }
    __syncthreads();
#pragma unroll
    for (int e = 0; e < EACH; e++) {
      const int at = warp * 32 * EACH + e * 32 + lane;
      key[e] = s.keys[at];
      place[e] = s.places[at];
    }
  }
  /* Waits until all blocks of the row have arrived `round` times. */
  __device__ static void row_barrier(unsigned* arrived, unsigned round) {
    __syncthreads();
    if (threadIdx.x == 0) {
      asm volatile("red.release.gpu.global.add.u32 [%0], 1;" ::"l"(arrived) : "memory");
      unsigned seen;
      do {
        asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(seen) : "l"(arrived) : "memory");
      } while (seen < round * gridDim.x);
    }
    __syncthreads();
  }
  /* Where this block's keys of each digit go in the row; the row's table is complete. */
  __device__ static void find_bases(const uint32_t* table, shared_t& s) {
    const int digit = threadIdx.x % 256, part = threadIdx.x / 256, parts = THREADS / 256;
    uint32_t all = 0, before = 0;
    const int blocks = (int)gridDim.x, own = (int)blockIdx.x;
#pragma unroll 8
    for (int b = part; b < blocks; b += parts) {
      const uint32_t count = __ldcg(table + b * 256 + digit);
      all += count;
      before += b < own ? count : 0;
    }
    s.sums[0][part][digit] = all;
    s.sums[1][part][digit] = before;
    __syncthreads();
    all = before = 0;
    if (threadIdx.x < 256) {
      for (int i = 0; i < parts; i++) {
        all += s.sums[0][i][digit];
        before += s.sums[1][i][digit];
      }
    }
    const uint32_t begin = scan(all, s);
    if (threadIdx.x < 256) {
      s.bases[digit] = begin + before;
    }
    __syncthreads();
  }
};

/* One block a row. */
template <int THREADS, int EACH>
static __global__ void __launch_bounds__(THREADS) sort_rows(sort_arguments_t p) {
  typedef sort_block_t<THREADS, EACH> block_t;
  extern __shared__ __align__(16) uint8_t memory[];
  typename block_t::shared_t& s = *(typename block_t::shared_t*)memory;
  const float* const row = p.x + (size_t)blockIdx.x * p.n;
  uint32_t key[EACH], place[EACH];
  const int first = threadIdx.x / 32 * 32 * EACH + threadIdx.x % 32;
#pragma unroll
  for (int e = 0; e < EACH; e++) {
    const int i = first + e * 32;
    key[e] = i < p.n ? ~order_key(row[i], p.largest) : ~0u;
    place[e] = i;
  }
  for (int shift = 0; shift < 32; shift += 8) {
    block_t::pass(key, place, shift, s);
  }
#pragma unroll
  for (int e = 0; e < EACH; e++) {
    const int i = first + e * 32;
    if (i < p.n) {
      p.indices[(size_t)blockIdx.x * p.n + i] = place[e];
      p.values[(size_t)blockIdx.x * p.n + i] = row[place[e]];
    }
  }
}

/* Several blocks a row, all there at once: grid (blocks of a row, rows), a cooperative launch. */
template <int THREADS, int EACH>
static __global__ void __launch_bounds__(THREADS) sort_long_rows(sort_arguments_t p) {
  typedef sort_block_t<THREADS, EACH> block_t;
  extern __shared__ __align__(16) uint8_t memory[];
  typename block_t::shared_t& s = *(typename block_t::shared_t*)memory;
  const float* const row = p.x + (size_t)blockIdx.y * p.n;
  const size_t space = (size_t)gridDim.x * block_t::PIECE, begin = blockIdx.y * space;
  uint32_t* const table = p.table + (size_t)blockIdx.y * gridDim.x * 256;
  uint32_t key[EACH], place[EACH];
  const int local = threadIdx.x / 32 * 32 * EACH + threadIdx.x % 32,
            first = (int)blockIdx.x * block_t::PIECE + local;
#pragma unroll
  for (int e = 0; e < EACH; e++) {
    const int i = first + e * 32;
    key[e] = i < p.n ? ~order_key(row[i], p.largest) : ~0u;
    place[e] = i;
  }
  for (int turn = 0; turn < 4; turn++) {
    block_t::pass(key, place, turn * 8, s);
    if (threadIdx.x < 256) {
      table[blockIdx.x * 256 + threadIdx.x] = s.totals[threadIdx.x];
    }
    block_t::row_barrier(p.arrived + blockIdx.y, 2 * turn + 1);
    block_t::find_bases(table, s);
#pragma unroll
    for (int e = 0; e < EACH; e++) {
      const uint32_t digit = key[e] >> (turn * 8) & 255,
                     to = s.bases[digit] + (local + e * 32) - s.begins[digit];
      if (turn < 3) {
        p.keys[turn & 1][begin + to] = key[e];
        p.places[turn & 1][begin + to] = place[e];
      } else if (to < (uint32_t)p.n) {
        p.indices[(size_t)blockIdx.y * p.n + to] = place[e];
        p.values[(size_t)blockIdx.y * p.n + to] = row[place[e]];
      }
    }
    if (turn < 3) {
      block_t::row_barrier(p.arrived + blockIdx.y, 2 * turn + 2);
#pragma unroll
      for (int e = 0; e < EACH; e++) {
        key[e] = __ldcg(p.keys[turn & 1] + begin + first + e * 32);
        place[e] = __ldcg(p.places[turn & 1] + begin + first + e * 32);
      }
    }
  }
}
