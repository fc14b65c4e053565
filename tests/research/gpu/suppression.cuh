/* Suppression of overlapping boxes that are sorted, best first: a box stays unless its overlap with
 * a better one that stays is above the threshold. By a matrix of bits and one block that walks over
 * it, or by one block a class that compares pieces with what stayed so far. */
#pragma once

#include "hopper.cuh"
#include "measure.cuh"

/* IN_DOUBLE: as the host does it. IN_FLOAT: may decide otherwise. BOUNDED: in fp32, and as the host
 * does it where that is too close to the threshold to tell. */
enum arithmetic_t { IN_DOUBLE, IN_FLOAT, BOUNDED };

/* A compiler for the device joins products and sums; the host's does not. */
#ifdef __CUDA_ARCH__
#define EXACT(operation, double_operation, a, b) double_operation(a, b)
#else
#define EXACT(operation, double_operation, a, b) ((a)operation(b))
#endif

/* Corners as fp32; min and max are exact. */
__host__ __device__ inline bool overlaps_in_double(float4 a, float4 b, double threshold) {
  const double width = (double)fminf(a.z, b.z) - (double)fmaxf(a.x, b.x),
               height = (double)fminf(a.w, b.w) - (double)fmaxf(a.y, b.y);
  if (!(width > 0 && height > 0)) {
    return false;
  }
  const double common = EXACT(*, __dmul_rn, width, height),
               area_a = EXACT(*, __dmul_rn, (double)a.z - (double)a.x, (double)a.w - (double)a.y),
               area_b = EXACT(*, __dmul_rn, (double)b.z - (double)b.x, (double)b.w - (double)b.y);
  const double both = EXACT(-, __dsub_rn, EXACT(+, __dadd_rn, area_a, area_b), common);
  return common / both > threshold;
}
__device__ inline bool overlaps_in_float(float4 a, float4 b, float threshold) {
  const float width = fminf(a.z, b.z) - fmaxf(a.x, b.x), height = fminf(a.w, b.w) - fmaxf(a.y, b.y);
  if (!(width > 0 && height > 0)) {
    return false;
  }
  const float common = width * height;
  return common / ((a.z - a.x) * (a.w - a.y) + (b.z - b.x) * (b.w - b.y) - common) > threshold;
}

template <int ARITHMETIC>
__device__ __forceinline__ bool overlaps(float4 a, float4 b, double threshold) {
  if (ARITHMETIC == IN_DOUBLE) {
    return overlaps_in_double(a, b, threshold);
  }
  if (ARITHMETIC == IN_FLOAT) {
    return overlaps_in_float(a, b, (float)threshold);
  }
  const float width = fminf(a.z, b.z) - fmaxf(a.x, b.x), height = fminf(a.w, b.w) - fmaxf(a.y, b.y);
  if (!(width > 0 && height > 0)) { /* the sign of a rounded difference is exact */
    return false;
  }
  const float common = width * height, both = (a.z - a.x) * (a.w - a.y) + (b.z - b.x) * (b.w - b.y),
              excess = common - (float)threshold * (both - common);
  /* each term is right to a few roundings of 6e-8; both bounds all of them */
  if (fabsf(excess) > 2e-6f * both) {
    return excess > 0;
  }
  return overlaps_in_double(a, b, threshold);
}

/* Bit j of word [i][j / 64]: box j > i overlaps box i. A block has 64 rows and 64 columns. */
template <int ARITHMETIC>
static __global__ void __launch_bounds__(64)
    overlap_matrix(const float4* boxes, int n, double threshold, unsigned long long* words) {
  const int words_in_row = (n + 63) / 64, row = blockIdx.y, column = blockIdx.x;
  wait_for_predecessor();
  release_dependents();
  if (column < row) {
    return;
  }
  __shared__ float4 theirs[64];
  const int i = row * 64 + threadIdx.x, first = column * 64;
  if (first + (int)threadIdx.x < n) {
    theirs[threadIdx.x] = boxes[first + threadIdx.x];
  }
  __syncthreads();
  if (i >= n) {
    return;
  }
  const float4 mine = boxes[i];
  unsigned long long word = 0;
  for (int k = row == column ? (int)threadIdx.x + 1 : 0; k < 64 && first + k < n; k++) {
    word |= (unsigned long long)overlaps<ARITHMETIC>(mine, theirs[k], threshold) << k;
  }
  words[(size_t)i * words_in_row + column] = word;
}

enum { WALKERS = 512 };
/* One block walks over the matrix, 64 boxes at a time. */
static __global__ void __launch_bounds__(WALKERS)
    walk_matrix(const unsigned long long* words, int n, int limit, int* kept, int* out_count) {
  extern __shared__ unsigned long long removed[];
  __shared__ unsigned long long own[64], staying;
  const int words_in_row = (n + 63) / 64;
  for (int i = threadIdx.x; i < words_in_row; i += WALKERS) {
    removed[i] = 0;
  }
  wait_for_predecessor();
  release_dependents();
  int count = 0;
  for (int piece = 0; piece < words_in_row && count < limit; piece++) {
    const int first = piece * 64;
    __syncthreads();
    if (threadIdx.x < 64 && first + (int)threadIdx.x < n) {
      own[threadIdx.x] = words[(size_t)(first + threadIdx.x) * words_in_row + piece];
    }
    __syncthreads();
    if (threadIdx.x == 0) {
      unsigned long long alive = ~removed[piece], stays = 0;
      if (n - first < 64) {
        alive &= (1ull << (n - first)) - 1;
      }
      for (int room = limit - count; alive && room > 0; room--) {
        const int i = __ffsll((long long)alive) - 1;
        stays |= 1ull << i;
        alive &= ~(own[i] | 1ull << i);
      }
      staying = stays;
    }
    __syncthreads();
    const unsigned long long stays = staying;
    if (threadIdx.x < 64 && stays >> threadIdx.x & 1) {
      kept[count + __popcll(stays & ((1ull << threadIdx.x) - 1))] = first + (int)threadIdx.x;
    }
    count += __popcll(stays);
    /* all rows at once: a thread that did them one after the other would wait for each */
    const int rest = words_in_row - piece - 1;
    for (int i = threadIdx.x; i < rest * 64; i += WALKERS) {
      const int row = i / rest, w = piece + 1 + i % rest;
      if (stays >> row & 1) {
        const unsigned long long gone = words[(size_t)(first + row) * words_in_row + w];
        if (gone) {
          atomicOr(&removed[w], gone);
        }
      }
    }
  }
  if (threadIdx.x == 0) {
    *out_count = count;
  }
}

/* One block a class: BOXES at a time are compared with all that stayed, by PARTS threads each, then
 * with one another. What stayed lies in shared memory up to `room`, beyond that in memory. */
template <int BOXES, int PARTS, int ARITHMETIC>
static __global__ void __launch_bounds__(BOXES* PARTS)
    suppress_pieces(const float4* all_boxes, int n, double threshold, int limit, int room,
                    int* all_kept, int* out_counts) {
  enum { WORDS = BOXES / 32, AHEAD = 4 };
  extern __shared__ float4 stayed[];
  __shared__ float4 piece[BOXES];
  __shared__ unsigned later[BOXES][WORDS + 1]; /* whom box i removes; one word of padding */
  __shared__ unsigned alive_words[WORDS], stays_words[WORDS];
  const int me = threadIdx.x % BOXES, part = threadIdx.x / BOXES, warp = me / 32, lane = me % 32;
  const float4* boxes = all_boxes + (size_t)blockIdx.x * n;
  int* kept = all_kept + (size_t)blockIdx.x * n;
  wait_for_predecessor();
  release_dependents();
  int count = 0;
  for (int first = 0; first < n && count < limit; first += BOXES) {
    const bool exists = first + me < n;
    const float4 mine = exists ? boxes[first + me] : make_float4(0, 0, 0, 0);
    bool alive = exists;
    for (int k = part * AHEAD; k < count && __any_sync(~0u, alive); k += PARTS * AHEAD) {
#pragma unroll
      for (int i = 0; i < AHEAD; i++) {
        if (k + i < count) {
          const float4 other = k + i < room ? stayed[k + i] : boxes[kept[k + i]];
          alive &= !overlaps<ARITHMETIC>(other, mine, threshold);
        }
      }
    }
    if (part == 0) {
      piece[me] = mine;
      if (lane == 0) {
        alive_words[warp] = ~0u;
      }
    }
    __syncthreads();
    const unsigned ballot = __ballot_sync(~0u, alive);
    if (lane == 0) {
      atomicAnd(&alive_words[warp], ballot);
    }
    __syncthreads();
    if (alive_words[warp] >> lane & 1) {
      for (int w = warp + part; w < WORDS; w += PARTS) {
        const unsigned others = alive_words[w] & (w == warp ? ~0u << lane << 1 : ~0u);
        unsigned word = 0;
        if (others) {
#pragma unroll 4
          for (int bit = 0; bit < 32; bit++) {
            word |= (unsigned)overlaps<ARITHMETIC>(mine, piece[w * 32 + bit], threshold) << bit;
          }
        }
        later[me][w] = word & others;
      }
    }
    __syncthreads();
    if (threadIdx.x < 32) { /* lane w has word w */
      unsigned left = lane < WORDS ? alive_words[lane] : 0, stays = 0;
      for (int space = limit - count; space > 0; space--) {
        const unsigned owners = __ballot_sync(~0u, left != 0);
        if (!owners) {
          break;
        }
        const int w = __ffs((int)owners) - 1,
                  i = w * 32 + __ffs((int)__shfl_sync(~0u, left, w)) - 1;
        if (lane == w) {
          stays |= 1u << (i % 32);
          left &= ~(1u << (i % 32));
        }
        if (lane >= w && lane < WORDS) {
          left &= ~later[i][lane];
        }
      }
      if (lane < WORDS) {
        stays_words[lane] = stays;
      }
    }
    __syncthreads();
    int before = count, total = 0;
    for (int w = 0; w < WORDS; w++) {
      before += w < warp ? __popc(stays_words[w]) : 0;
      total += __popc(stays_words[w]);
    }
    if (part == 0 && stays_words[warp] >> lane & 1) {
      before += __popc(stays_words[warp] & ((1u << lane) - 1));
      kept[before] = first + me;
      if (before < room) {
        stayed[before] = mine;
      }
    }
    count += total;
    __syncthreads();
  }
  if (threadIdx.x == 0) {
    out_counts[blockIdx.x] = count;
  }
}
