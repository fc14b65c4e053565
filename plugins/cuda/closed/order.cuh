/*
 * The k best of each line, in order; of equal ones the first comes first, NaN is above all numbers.
 * number: lines' extents (outer, along, inner), k, blocks of a line. Where k is small a block has a line and finds the
 * best again and again, each behind the one before it. Else each element counts those in front of
 * it: that is its place.
 */
typedef decltype(IN0_OF(*(const tensor_t*)0, 0)) value_t;
struct ranked_t {
  value_t value;
  i64 index; /* -1: none */
};
INLINE bool precedes(value_t a, i64 a_index, value_t b, i64 b_index) {
  const int order = compare(a, b);
  return order == 0 ? a_index < b_index : A_largest != 0 ? order > 0 : order < 0;
}
INLINE bool is_better(const ranked_t& a, const ranked_t& b) {
  return a.index >= 0 && (b.index < 0 || precedes(a.value, a.index, b.value, b.index));
}
INLINE i64 place_of(const parameters_t& p, i64 line, i64 at, i64 extent) {
  return (line / p.number[2] * extent + at) * p.number[2] + line % p.number[2];
}
INLINE void show(const parameters_t& p, i64 line, i64 rank, const ranked_t& found) {
  const i64 to = place_of(p, line, rank, p.number[3]);
#if HAS_OUT0
  OUT0(to, found.value);
#endif
#if HAS_OUT1
  OUT1(to, found.index);
#endif
}

KERNEL best(const __grid_constant__ parameters_t p) {
  __shared__ ranked_t shared[256];
  begin(p);
  const i64 extent = p.number[1];
  EACH_BLOCK(line, p.number[0] * p.number[2]) {
    ranked_t last = {(value_t)0, -1};
    for (i64 rank = 0; rank < p.number[3]; ++rank) {
      ranked_t own = {(value_t)0, -1};
      EACH_THREAD(at, extent) {
        const ranked_t here = {IN0(place_of(p, line, at, extent)), at};
        const bool is_behind = last.index < 0 || precedes(last.value, last.index, here.value, at);
        own = is_behind && is_better(here, own) ? here : own;
      }
      shared[threadIdx.x] = own;
      __syncthreads();
      for (unsigned half = blockDim.x / 2; half > 0; half /= 2) {
        if (threadIdx.x < half && is_better(shared[threadIdx.x + half], shared[threadIdx.x])) {
          shared[threadIdx.x] = shared[threadIdx.x + half];
        }
        __syncthreads();
      }
      last = shared[0];
      __syncthreads();
      if (threadIdx.x == 0) {
        show(p, line, rank, last);
      }
    }
  }
}

KERNEL rank_all(const __grid_constant__ parameters_t p) {
  __shared__ value_t tile[256];
  begin(p);
  const i64 extent = p.number[1];
  EACH_BLOCK(block, p.number[0] * p.number[2] * p.number[4]) {
    const i64 line = block / p.number[4];
    const i64 own = block % p.number[4] * blockDim.x + threadIdx.x;
    const ranked_t mine = {IN0(place_of(p, line, own < extent ? own : 0, extent)), own};
    i64 rank = 0;
    for (i64 first = 0; first < extent; first += blockDim.x) {
      const i64 at = first + threadIdx.x;
      if (at < extent) {
        tile[threadIdx.x] = IN0(place_of(p, line, at, extent));
      }
      __syncthreads();
      const int count = (int)least_of(blockDim.x, extent - first);
      for (int k = 0; k < count; ++k) {
        rank += precedes(tile[k], first + k, mine.value, own) ? 1 : 0;
      }
      __syncthreads();
    }
    if (own < extent && rank < p.number[3]) {
      show(p, line, rank, mine);
    }
  }
}
