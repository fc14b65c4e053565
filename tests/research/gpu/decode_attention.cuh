/* Attention of one new token over a key-value cache: a query row a head against as many rows of
 * keys and values as the cache holds, which only the device knows. */
#pragma once

#include <cooperative_groups.h>

#include "few_rows.cuh"
#include "measure.cuh"

/* How the parts of the past come together: a launch behind, the last block to finish, a cluster. */
enum combine_t { BY_LAUNCH, BY_LAST, BY_CLUSTER };
enum { MOST_PARTS = 64, STEP_ROWS = 16 };

/* Rows of WIDTH; GROUP heads of the query share a head of the cache; PAGE 0: [batch][head][room],
 * else pages [page][head][PAGE], found through a table. */
struct cache_t {
  const half* q;
  half *keys, *values, *y;
  float* partial;
  const int *lengths, *table;
  unsigned* arrived;
  int room, heads; /* heads of the cache; room: rows a sequence may have */
  int pitch;       /* from one query to the next */
  float scale;
  /* The newest row, `pitch` from one to the next too, which goes into the cache on the way; NULL:
   * it is there. */
  const half *new_keys = nullptr, *new_values = nullptr;
};

/* This block's part of what is there now: all parts have as much, whatever the length is. */
static __device__ __forceinline__ int2 range_of(int length, int part, int parts) {
  const int rows = parts * STEP_ROWS, each = (length + rows - 1) / rows * STEP_ROWS;
  const int begin = part * each;
  return make_int2(begin, min(length, begin + each));
}
template <int WIDTH, int PAGE>
static __device__ __forceinline__ size_t row_of(const cache_t& c, int batch, int head, int row) {
  if constexpr (PAGE != 0) {
    const int page = __ldg(c.table + (size_t)batch * (c.room / PAGE) + row / PAGE);
    return (((size_t)page * c.heads + head) * PAGE + row % PAGE) * WIDTH;
  } else {
    return (((size_t)batch * c.heads + head) * c.room + row) * WIDTH;
  }
}

/* What part `part` of `parts` left: WIDTH sums, their weight, their maximum. */
template <int WIDTH, class Read>
static __device__ void combine_parts(int parts, half* y, int first, int count, Read read) {
  for (int d = first + (int)threadIdx.x; d < first + count; d += (int)blockDim.x) {
    const int head = d / WIDTH, at = d % WIDTH;
    float most = -1e30f, weight = 0, sum = 0;
    for (int p = 0; p < parts; p++) {
      const float m = read(p, head, WIDTH + 1), now = fmaxf(most, m), old = __expf(most - now),
                  f = __expf(m - now);
      weight = weight * old + f * read(p, head, WIDTH);
      sum = sum * old + f * read(p, head, at);
      most = now;
    }
    y[d] = __float2half(sum / weight);
  }
}

/* What the rows of `all` found, together: the result if there is one part, else with all parts. */
template <int WIDTH, int GROUP, int COMBINE, int ROWS>
static __device__ __forceinline__ void finish(const cache_t& c,
                                              const float (&all)[ROWS][GROUP][WIDTH + 2],
                                              size_t number, int part, int parts) {
  enum { WORDS = WIDTH + 2 };
  half* const y = c.y + number * GROUP * WIDTH;
  float* const mine = c.partial + (number * MOST_PARTS + part) * GROUP * WORDS;
  __shared__ float own[GROUP][WORDS];
  __syncthreads();
  for (int i = threadIdx.x; i < GROUP * WIDTH; i += blockDim.x) {
    const int g = i / WIDTH, d = i % WIDTH;
    float m = all[0][g][WIDTH + 1], weight = 0, value = 0;
    for (int r = 1; r < ROWS; r++) {
      m = fmaxf(m, all[r][g][WIDTH + 1]);
    }
    for (int r = 0; r < ROWS; r++) {
      const float f = __expf(all[r][g][WIDTH + 1] - m);
      weight += f * all[r][g][WIDTH];
      value += f * all[r][g][d];
    }
    if (COMBINE != BY_CLUSTER && parts == 1) {
      y[i] = __float2half(value / weight);
    } else {
      float* const to = COMBINE == BY_CLUSTER ? own[g] : mine + g * WORDS;
      to[d] = value;
      if (d == 0) {
        to[WIDTH] = weight;
        to[WIDTH + 1] = m;
      }
    }
  }
  if (COMBINE == BY_CLUSTER) {
    auto cluster = cooperative_groups::this_cluster();
    cluster.sync();
    const int count = (GROUP * WIDTH + parts - 1) / parts, first = part * count;
    combine_parts<WIDTH>(
        parts, y, first, max(0, min(count, GROUP * WIDTH - first)),
        [&](int p, int g, int i) { return *cluster.map_shared_rank(&own[g][i], p); });
    cluster.sync();
  } else if (COMBINE == BY_LAST && parts > 1) {
    __shared__ bool is_last;
    __threadfence();
    __syncthreads();
    if (threadIdx.x == 0) {
      is_last = atomicAdd(c.arrived + number, 1) == (unsigned)parts - 1;
    }
    __syncthreads();
    if (is_last) {
      __threadfence();
      const float* from = c.partial + number * MOST_PARTS * GROUP * WORDS;
      combine_parts<WIDTH>(parts, y, 0, GROUP * WIDTH, [&](int p, int g, int i) {
        return __ldcg(from + (p * GROUP + g) * WORDS + i);
      });
      if (threadIdx.x == 0) {
        c.arrived[number] = 0;
      }
    }
  }
}

template <int WIDTH, int GROUP, int PAGE, int COMBINE, int AHEAD>
static __global__ void __launch_bounds__(128) decode(const cache_t c, bool old_first) {
  enum { LANES = WIDTH / 8, ROWS = 128 / LANES, WORDS = WIDTH + 2 };
  __shared__ float all[ROWS][GROUP][WORDS];
  const int head = (int)blockIdx.y, batch = (int)blockIdx.z;
  const int lane = threadIdx.x % LANES, row = threadIdx.x / LANES;
  const unsigned mask = LANES == 8 ? 0xffu << (threadIdx.x & 24) : 0xffffu << (threadIdx.x & 16);
  if (!old_first) {
    wait_for_predecessor();
  }
  const int length = *(volatile const int*)(c.lengths + batch);
  const int2 range = range_of(length, (int)blockIdx.x, (int)gridDim.x);
  const int begin = range.x, end = range.y;
  /* All rows but the newest were there before this step began: they need not wait. */
  uint4 k[AHEAD], v[AHEAD];
  auto fetch = [&](int from, int stop) {
#pragma unroll
    for (int i = 0; i < AHEAD; i++) {
      const int r = from + i * ROWS + row;
      if (r < stop) {
        const size_t at = row_of<WIDTH, PAGE>(c, batch, head, r) + lane * 8;
        k[i] = *(const uint4*)(c.keys + at);
        v[i] = *(const uint4*)(c.values + at);
      }
    }
  };
  if (old_first) {
    fetch(begin, min(end, length - 1));
    wait_for_predecessor();
    const int r = length - 1 - begin;
    if (end == length && r >= 0 && r < AHEAD * ROWS && r % ROWS == row) {
#pragma unroll
      for (int i = 0; i < AHEAD; i++) { /* registers have no run-time index */
        if (i == r / ROWS) {
          const size_t at = row_of<WIDTH, PAGE>(c, batch, head, length - 1) + lane * 8;
          k[i] = *(const uint4*)(c.keys + at);
          v[i] = *(const uint4*)(c.values + at);
        }
      }
    }
  }
  release_dependents();
  float q[GROUP][8], o[GROUP][8] = {}, most[GROUP], sum[GROUP];
#pragma unroll
  for (int g = 0; g < GROUP; g++) {
    const size_t at = (size_t)batch * c.pitch + (head * GROUP + g) * WIDTH + lane * 8;
    unpack_halves(*(const uint4*)(c.q + at), q[g]);
    most[g] = -1e30f;
    sum[g] = 0;
#pragma unroll
    for (int d = 0; d < 8; d++) {
      q[g][d] *= c.scale;
    }
  }
  for (int from = begin; from < end; from += AHEAD * ROWS) {
    if (!old_first || from > begin) {
      fetch(from, end);
    }
    float s[AHEAD][GROUP];
#pragma unroll
    for (int i = 0; i < AHEAD; i++) {
      float f[8];
      unpack_halves(k[i], f);
#pragma unroll
      for (int g = 0; g < GROUP; g++) {
        float t = 0;
#pragma unroll
        for (int d = 0; d < 8; d++) {
          t = fmaf(q[g][d], f[d], t);
        }
#pragma unroll
        for (int l = LANES / 2; l; l /= 2) {
          t += __shfl_xor_sync(mask, t, l);
        }
        s[i][g] = from + i * ROWS + row < end ? t : -INFINITY;
      }
    }
#pragma unroll
    for (int g = 0; g < GROUP; g++) {
      float now = most[g];
#pragma unroll
      for (int i = 0; i < AHEAD; i++) {
        now = fmaxf(now, s[i][g]);
      }
      const float old = __expf(most[g] - now);
      most[g] = now;
      sum[g] *= old;
#pragma unroll
      for (int d = 0; d < 8; d++) {
        o[g][d] *= old;
      }
#pragma unroll
      for (int i = 0; i < AHEAD; i++) {
        s[i][g] = __expf(s[i][g] - now);
        sum[g] += s[i][g];
      }
    }
#pragma unroll
    for (int i = 0; i < AHEAD; i++) {
      if (from + i * ROWS + row < end) { /* what was not fetched may be NaN */
        float f[8];
        unpack_halves(v[i], f);
#pragma unroll
        for (int g = 0; g < GROUP; g++) {
#pragma unroll
          for (int d = 0; d < 8; d++) {
            o[g][d] = fmaf(s[i][g], f[d], o[g][d]);
          }
        }
      }
    }
  }
#pragma unroll
  for (int g = 0; g < GROUP; g++) {
#pragma unroll
    for (int d = 0; d < 8; d++) {
      all[row][g][lane * 8 + d] = o[g][d];
    }
    if (lane == 0) {
      all[row][g][WIDTH] = sum[g];
      all[row][g][WIDTH + 1] = most[g];
    }
  }
  finish<WIDTH, GROUP, COMBINE>(c, all, (size_t)batch * c.heads + head, (int)blockIdx.x,
                                (int)gridDim.x);
}
/* The upper eight rows of m16n8k16; the lower ones are zero and forgotten. */
static __device__ __forceinline__ void multiply_top(float (&sum)[2], uint32_t a0, uint32_t a2,
                                                    uint32_t b0, uint32_t b1) {
  [[maybe_unused]] float low[2];
  asm("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %5}, {%7, "
      "%8}, {%9, %10, %11, %11};"
      : "=f"(sum[0]), "=f"(sum[1]), "=f"(low[0]), "=f"(low[1])
      : "r"(a0), "r"(0), "r"(a2), "r"(b0), "r"(b1), "f"(sum[0]), "f"(sum[1]), "f"(0.f));
}
/* By matrix instructions, everything in registers: a warp takes 16 rows of the cache at a time;
 * keys are the right operand as they lie, with channels in an order of their own, values too after
 * neighbours of two rows have been paired. With AHEAD 2 the next rows are on their way meanwhile.
 */
template <int WIDTH, int GROUP, int PAGE, int AHEAD, bool APPEND, int WARPS, class Wait>
static __device__ __forceinline__ void attend_rows(const cache_t& c, int head, int batch, int part,
                                                   int parts, bool old_first,
                                                   float (&all)[WARPS][GROUP][WIDTH + 2],
                                                   Wait wait) {
  enum { CHUNKS = WIDTH / 32, HALVES = WIDTH / 64, STRIDE = WARPS * STEP_ROWS };
  static_assert(GROUP <= 8, "a head of the cache serves at most eight of the query");
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, group = lane / 4, quarter = lane % 4;
  if (!old_first) {
    wait();
  }
  const int length = *(volatile const int*)(c.lengths + batch);
  const int2 range = range_of(length, part, parts);
  const int begin = range.x + warp * STEP_ROWS, end = range.y;
  uint32_t k[AHEAD][2][CHUNKS][4], v[AHEAD][HALVES][4][4];
  /* 16 bytes of a row; of the newest one from where it was made, and into the cache. */
  auto take = [&](half* cache, const half* fresh, size_t base, int from, int row, int at,
                  int stop) {
    uint4 bits = make_uint4(0, 0, 0, 0);
    if (from + row < stop) {
      half* const place = cache + base + row * WIDTH + at;
      const bool newest = APPEND && from + row == length - 1;
      bits = __ldcg(
          (const uint4*)(newest ? fresh + (size_t)batch * c.pitch + head * WIDTH + at : place));
      if (newest) {
        *(uint4*)place = bits;
      }
    }
    return bits;
  };
  auto fetch = [&](int to, int from, int stop) {
    const size_t base =
        row_of<WIDTH, PAGE>(c, batch, head, min(from, length - 1) / STEP_ROWS * STEP_ROWS);
#pragma unroll
    for (int t = 0; t < 2; t++) {
#pragma unroll
      for (int i = 0; i < CHUNKS; i++) {
        *(uint4*)k[to][t][i] =
            take(c.keys, c.new_keys, base, from, t * 8 + group, i * 32 + quarter * 8, stop);
      }
    }
#pragma unroll
    for (int r = 0; r < 4; r++) {
#pragma unroll
      for (int i = 0; i < HALVES; i++) {
        *(uint4*)v[to][i][r] = take(c.values, c.new_values, base, from,
                                    quarter * 2 + r % 2 + r / 2 * 8, i * 64 + group * 8, stop);
      }
    }
  };
  if (old_first) {
    fetch(0, begin, min(end, length - 1));
    wait();
  }
  if (!old_first || (begin < length && begin + STEP_ROWS >= length)) {
    fetch(0, begin, end);
  }
  uint32_t q[CHUNKS][4];
#pragma unroll
  for (int i = 0; i < CHUNKS; i++) {
    const size_t at =
        (size_t)batch * c.pitch + (head * GROUP + group) * WIDTH + i * 32 + quarter * 8;
    *(uint4*)q[i] = group < GROUP ? __ldcg((const uint4*)(c.q + at)) : make_uint4(0, 0, 0, 0);
  }
  float o[WIDTH / 8][2] = {}, most = -1e30f, sum = 0;
  auto step = [&](int at, int from) {
    float s[2][2] = {};
    float now = most;
#pragma unroll
    for (int t = 0; t < 2; t++) {
#pragma unroll
      for (int i = 0; i < CHUNKS; i++) {
#pragma unroll
        for (int m = 0; m < 2; m++) {
          multiply_top(s[t], q[i][2 * m], q[i][2 * m + 1], k[at][t][i][2 * m],
                       k[at][t][i][2 * m + 1]);
        }
      }
#pragma unroll
      for (int e = 0; e < 2; e++) {
        s[t][e] = from + t * 8 + quarter * 2 + e < end ? s[t][e] * c.scale : -INFINITY;
        now = fmaxf(now, s[t][e]);
      }
    }
    now = fmaxf(now, __shfl_xor_sync(~0u, now, 1));
    now = fmaxf(now, __shfl_xor_sync(~0u, now, 2));
    const float old = __expf(most - now);
    most = now;
    sum *= old;
#pragma unroll
    for (int t = 0; t < 2; t++) {
#pragma unroll
      for (int e = 0; e < 2; e++) {
        s[t][e] = __expf(s[t][e] - now);
        sum += s[t][e];
      }
    }
    const uint32_t p0 = pack_half(s[0][0], s[0][1]), p1 = pack_half(s[1][0], s[1][1]);
#pragma unroll
    for (int n = 0; n < WIDTH / 8; n++) {
      const uint32_t(&w)[4][4] = v[at][n / 8];
      const int word = n % 8 / 2, pick = n % 2 ? 0x7632 : 0x5410;
      o[n][0] *= old;
      o[n][1] *= old;
      multiply_top(o[n], p0, p1, __byte_perm(w[0][word], w[1][word], pick),
                   __byte_perm(w[2][word], w[3][word], pick));
    }
  };
  for (int from = begin; from < end; from += AHEAD * STRIDE) {
#pragma unroll
    for (int i = 0; i < AHEAD; i++) { /* registers have no run-time index */
      const int at = from + i * STRIDE, next = at + STRIDE;
      if (AHEAD == 2 && next < end) {
        fetch(1 - i, next, end);
      }
      if (at < end) {
        step(i, at);
      }
      if (AHEAD == 1 && next < end) {
        fetch(0, next, end);
      }
    }
  }
  sum += __shfl_xor_sync(~0u, sum, 1);
  sum += __shfl_xor_sync(~0u, sum, 2);
  if (group < GROUP) {
#pragma unroll
    for (int n = 0; n < WIDTH / 8; n++) {
#pragma unroll
      for (int e = 0; e < 2; e++) {
        all[warp][group][n / 8 * 64 + (quarter * 2 + e) * 8 + n % 8] = o[n][e];
      }
    }
    if (quarter == 0) {
      all[warp][group][WIDTH] = sum;
      all[warp][group][WIDTH + 1] = most;
    }
  }
}
template <int WIDTH, int GROUP, int PAGE, int COMBINE, int AHEAD, bool APPEND = false>
static __global__ void __launch_bounds__(128) decode_matrix(const cache_t c, bool old_first) {
  __shared__ float all[4][GROUP][WIDTH + 2];
  const int head = (int)blockIdx.y, batch = (int)blockIdx.z, part = (int)blockIdx.x,
            parts = (int)gridDim.x;
  attend_rows<WIDTH, GROUP, PAGE, AHEAD, APPEND>(c, head, batch, part, parts, old_first, all, [] {
    wait_for_predecessor();
    release_dependents();
  });
  finish<WIDTH, GROUP, COMBINE>(c, all, (size_t)batch * c.heads + head, part, parts);
}
template <int WIDTH, int GROUP>
static __global__ void __launch_bounds__(128) combine_behind(const cache_t c, int parts) {
  wait_for_predecessor();
  release_dependents();
  const size_t number = blockIdx.x;
  const float* from = c.partial + number * MOST_PARTS * GROUP * (WIDTH + 2);
  combine_parts<WIDTH>(
      parts, c.y + number * GROUP * WIDTH, 0, GROUP * WIDTH,
      [&](int p, int g, int i) { return __ldcg(from + (p * GROUP + g) * (WIDTH + 2) + i); });
}

/* The mean of values under softmax of the scores, in double. */
template <class Value>
static __device__ double plain_weighted(const double* scores, int length, Value value) {
  double most = -1e300, sum = 0, result = 0;
  for (int r = 0; r < length; r++) {
    most = fmax(most, scores[r]);
  }
  for (int r = 0; r < length; r++) {
    const double e = exp(scores[r] - most);
    sum += e;
    result += e * value(r);
  }
  return result / sum;
}
/* The same in double, a block a head of the query, one thread an element of the row. */
template <int WIDTH, int GROUP, int PAGE>
static __global__ void plain_decode(const cache_t c, double* y) {
  extern __shared__ double weight[];
  const int head = blockIdx.x / GROUP, batch = blockIdx.y, length = c.lengths[batch];
  const size_t query = ((size_t)batch * c.heads * GROUP + blockIdx.x) * WIDTH;
  for (int r = threadIdx.x; r < length; r += blockDim.x) {
    const half* key = c.keys + row_of<WIDTH, PAGE>(c, batch, head, r);
    double s = 0;
    for (int d = 0; d < WIDTH; d++) {
      s += (double)__half2float(c.q[query + d]) * (double)__half2float(key[d]);
    }
    weight[r] = s * (double)c.scale;
  }
  __syncthreads();
  y[query + threadIdx.x] = plain_weighted(weight, length, [&](int r) {
    return (double)__half2float(c.values[row_of<WIDTH, PAGE>(c, batch, head, r) + threadIdx.x]);
  });
}
