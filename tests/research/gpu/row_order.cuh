/* The order of the reference's top_k on the device: NaN above all and all NaN equal, -0 like 0, of
 * equal values the lower index first, whichever end is wanted. A value becomes a key of 32 bits
 * without sign; key and index together become one of 64 whose order is total. */
#pragma once

#include <cstring>

#include "measure.cuh"

/* The greater the key, the earlier: `largest` keys grow with the value, else they fall. */
__host__ __device__ inline uint32_t order_key(float value, bool largest) {
  uint32_t bits;
  memcpy(&bits, &value, 4);
  const uint32_t size = bits & 0x7fffffffu;
  uint32_t key = size == 0            ? 0x80000000u
                 : size > 0x7f800000u ? 0xffffffffu
                 : bits >> 31         ? ~bits
                                      : bits | 0x80000000u;
  return largest ? key : ~key;
}
__host__ __device__ inline uint64_t order_pair(uint32_t key, uint32_t index) {
  return (uint64_t)key << 32 | (uint32_t)~index;
}
__host__ __device__ inline uint32_t pair_index(uint64_t pair) {
  return ~(uint32_t)pair;
}

/* Rows of values with duplicates, zeros of both signs, infinities and NaN of both signs and several
 * payloads in places that the seed decides; `odd` 0: none of these but duplicates. */
inline std::vector<float> test_rows(size_t count, unsigned seed, int odd) {
  static const uint32_t special[] = {0x80000000u, 0u,          0x7f800000u, 0xff800000u,
                                     0x7fc00000u, 0xffc00000u, 0x7f800001u, 1u,
                                     0x80000001u, 0x7fffffffu};
  std::vector<float> rows(count);
  uint64_t state = seed * 0x9E3779B97F4A7C15ull + 1;
  for (float& v : rows) {
    state = state * 6364136223846793005ull + 1442695040888963407ull;
    const uint32_t r = (uint32_t)(state >> 33);
    v = (float)(r >> 7) * (2.f / 16777216) - 1; /* 2^24 values */
    if (odd && r % 64 < (uint32_t)odd) {
      memcpy(&v, &special[(r >> 8) % 10], 4);
    }
  }
  return rows;
}

/* The indices of the first `k` of a row in order. */
inline std::vector<uint32_t> first_of_row(const float* row, size_t n, size_t k, bool largest) {
  std::vector<uint64_t> pairs(n);
  for (size_t i = 0; i < n; i++) {
    pairs[i] = order_pair(order_key(row[i], largest), (uint32_t)i);
  }
  std::partial_sort(pairs.begin(), pairs.begin() + k, pairs.end(), std::greater<uint64_t>());
  std::vector<uint32_t> indices(k);
  for (size_t i = 0; i < k; i++) {
    indices[i] = pair_index(pairs[i]);
  }
  return indices;
}
