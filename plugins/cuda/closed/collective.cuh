/*
 * Building blocks of kernels whose threads work together, in front of the families that use them:
 * scans, values as unsigned keys, selection and sorting in a block, one pass of a radix sort over
 * many blocks. All threads of a block call each function together. A block has 32 to 1,024 threads
 * in whole warps.
 */
#define WIDE_KERNEL extern "C" __global__ void __launch_bounds__(1024)

INLINE unsigned lane_of() { return threadIdx.x % 32; }
INLINE unsigned lanes_before() { return (1u << lane_of()) - 1; }
struct add_t {
  template <class T>
  __device__ __forceinline__ T operator()(T a, T b) const {
    return a + b;
  }
};

/* ---- Scans ---- */

/* The join of the values of this lane and of those before it. */
template <class T, class F>
INLINE T scan_warp(T own, const F& join) {
#pragma unroll
  for (unsigned distance = 1; distance < 32; distance *= 2) {
    const T before = __shfl_up_sync(~0u, own, distance);
    own = lane_of() >= distance ? join(before, own) : own;
  }
  return own;
}
/* The join of the values of all threads before this one. `shared` has 32 entries. */
template <class T, class F>
INLINE T scan_block(T own, T neutral, const F& join, T* shared, T& out_total) {
  const unsigned warp = threadIdx.x / 32;
  const unsigned warps = blockDim.x / 32;
  const T through = scan_warp(own, join);
  if (lane_of() == 31) {
    shared[warp] = through;
  }
  __syncthreads();
  if (warp == 0) {
    const T of_warp = scan_warp(lane_of() < warps ? shared[lane_of()] : neutral, join);
    shared[lane_of()] = of_warp;
  }
  __syncthreads();
  out_total = shared[warps - 1];
  const T in_front = warp == 0 ? neutral : shared[warp - 1];
  const T before = __shfl_up_sync(~0u, through, 1);
  const T result = lane_of() == 0 ? in_front : join(in_front, before);
  __syncthreads();
  return result;
}

/* Flags of 2,048 elements of a block of 256 threads: flag k of thread t is element k * 256 + t. The
 * number of flags before each of them, and of all. `shared` has 65 entries. */
enum { FLAGS = 8, CHUNK = 2048 };
INLINE unsigned rank_flags(const bool (&flags)[FLAGS], unsigned* shared,
                           unsigned (&out_ranks)[FLAGS]) {
  const unsigned warp = threadIdx.x / 32;
#pragma unroll
  for (int k = 0; k < FLAGS; ++k) {
    const unsigned mask = __ballot_sync(~0u, flags[k]);
    out_ranks[k] = __popc(mask & lanes_before());
    if (lane_of() == 0) {
      shared[k * 8 + warp] = __popc(mask);
    }
  }
  __syncthreads();
  if (warp == 0) {
    const unsigned first = shared[2 * lane_of()];
    const unsigned both = first + shared[2 * lane_of() + 1];
    const unsigned through = scan_warp(both, add_t());
    shared[2 * lane_of()] = through - both;
    shared[2 * lane_of() + 1] = through - both + first;
    if (lane_of() == 31) {
      shared[64] = through;
    }
  }
  __syncthreads();
#pragma unroll
  for (int k = 0; k < FLAGS; ++k) {
    out_ranks[k] += shared[k * 8 + warp];
  }
  const unsigned total = shared[64];
  __syncthreads();
  return total;
}
/* One block turns `count` numbers into the sums of those before each, and returns the sum of all. */
INLINE i64 add_up_before(i64* numbers, i64 count, i64* shared) {
  i64 total = 0;
  for (i64 first = 0; first < count; first += blockDim.x) {
    const i64 at = first + threadIdx.x;
    i64 all = 0;
    const i64 before = scan_block(at < count ? numbers[at] : (i64)0, (i64)0, add_t(), shared, all);
    if (at < count) {
      numbers[at] = total + before;
    }
    total += all;
  }
  return total;
}

/* ---- Division in 32 bits if both numbers fit: a tenth of the time of 64 bits ---- */

INLINE i64 divide(i64 number, i64 by, i64& out_rest) {
  if (((u64)number | (u64)by) >> 32 == 0) {
    const unsigned quotient = (unsigned)number / (unsigned)by;
    out_rest = (i64)((unsigned)number - quotient * (unsigned)by);
    return (i64)quotient;
  }
  const i64 quotient = number / by;
  out_rest = number - quotient * by;
  return quotient;
}

/* ---- Keys: unsigned numbers in the order of values. Zeros are equal, and NaN is above all ---- */

#if IN0_i8
#define KEY_SIGN 0x80u
#elif IN0_i16
#define KEY_SIGN 0x8000u
#else
#define KEY_SIGN 0x80000000u
#endif
INLINE unsigned key_of(bool x) { return x ? 1 : 0; }
INLINE unsigned key_of(unsigned x) { return x; }
INLINE unsigned key_of(int x) { return (unsigned)x + KEY_SIGN; }
INLINE u64 key_of(u64 x) { return x; }
INLINE u64 key_of(i64 x) { return (u64)x + (1ull << 63); }
INLINE unsigned key_of(float x) {
  const unsigned bits = x == 0.0f ? 0u : __float_as_uint(x);
  return x != x ? ~0u : bits >> 31 ? ~bits : bits | 1u << 31;
}
INLINE u64 key_of(double x) {
  const u64 bits = x == 0.0 ? 0ull : (u64)__double_as_longlong(x);
  return x != x ? ~0ull : bits >> 63 ? ~bits : bits | 1ull << 63;
}

/* ---- Selection: the elements with the largest keys, of equal ones the first ---- */

enum { KEPT = 2048, DIGIT_BITS = 11, DIGITS = 1 << DIGIT_BITS, BATCH = 4 };
/* N elements at most; `places` are their positions in the line. */
template <class K, int N>
struct list_t {
  K keys[N];
  unsigned places[N];
  unsigned count;
};
template <class K>
struct selection_t : list_t<K, KEPT> {
  unsigned bins[DIGITS];
  unsigned sums[32];
  unsigned found_bin;
  unsigned found_before;
  unsigned found_count;
};
template <class K>
INLINE bool is_better(K a, unsigned a_place, K b, unsigned b_place) {
  return a > b || (a == b && a_place < b_place);
}

/* Calls use(key, place) for all elements that `from` has: from.count positions, and
 * from.get(position, key, place). */
template <class K, class S, class F>
INLINE void each_element(const S& from, const F& use) {
  for (unsigned first = threadIdx.x; first < from.count; first += BATCH * blockDim.x) {
    K keys[BATCH];
    unsigned places[BATCH];
    bool has[BATCH];
#pragma unroll
    for (int k = 0; k < BATCH; ++k) {
      const unsigned at = first + k * blockDim.x;
      has[k] = at < from.count && from.get(at, keys[k], places[k]);
    }
#pragma unroll
    for (int k = 0; k < BATCH; ++k) {
      if (has[k]) {
        use(keys[k], places[k]);
      }
    }
  }
}
/* Puts elements that pass into the list, as far as it has room, and returns how many they are. */
template <class K, int N, class S, class F>
INLINE unsigned collect(const S& from, list_t<K, N>& to, const F& passes) {
  __syncthreads();
  if (threadIdx.x == 0) {
    to.count = 0;
  }
  __syncthreads();
  each_element<K>(from, [&](K key, unsigned place) {
    if (passes(key, place)) {
      const unsigned at = atomicAdd(&to.count, 1u);
      if (at < N) {
        to.keys[at] = key;
        to.places[at] = place;
      }
    }
  });
  __syncthreads();
  return to.count;
}

/* Copies all elements of `from` to `to`. Each position of `from` must have an element. */
template <class K, int N, class S>
INLINE void take_all(const S& from, list_t<K, N>& to) {
  __syncthreads();
  for (unsigned at = threadIdx.x; at < from.count; at += blockDim.x) {
    (void)from.get(at, to.keys[at], to.places[at]);
  }
  if (threadIdx.x == 0) {
    to.count = from.count;
  }
  __syncthreads();
}

/* Of `bins`, from the last on: which has element `want` in it. */
template <class K>
INLINE void find_bin(selection_t<K>& to, unsigned want) {
  const unsigned each = DIGITS / blockDim.x;
  const unsigned last = DIGITS - 1 - threadIdx.x * each;
  unsigned own = 0;
  unsigned total = 0;
  for (unsigned k = 0; k < each; ++k) {
    own += to.bins[last - k];
  }
  unsigned before = scan_block(own, 0u, add_t(), to.sums, total);
  if (before < want && want <= before + own) {
    unsigned bin = last;
    while (before + to.bins[bin] < want) {
      before += to.bins[bin--];
    }
    to.found_bin = bin;
    to.found_before = before;
    to.found_count = to.bins[bin];
  }
  __syncthreads();
}
/* What is still open of a selection: elements between `low` and `high`, of which `want` are taken.
 * A digit is what counts of their distance from `low`. */
template <class W>
struct range_t {
  W low;
  W high;
  int shift;
};
template <class W>
INLINE bool lies_in(const range_t<W>& range, W x) { return x >= range.low && x <= range.high; }
template <class W>
INLINE void narrow_range(range_t<W>& range, unsigned bin) {
  range.low += (W)bin << range.shift;
  range.high = range.low + (((W)1 << range.shift) - 1);
  range.shift = range.shift > DIGIT_BITS ? range.shift - DIGIT_BITS : 0;
}
template <class K, class S, class W, class F>
INLINE void count_digits_of(const S& from, selection_t<K>& to, const range_t<W>& range,
                            const F& word) {
  __syncthreads();
  EACH_THREAD(bin, DIGITS) { to.bins[bin] = 0; }
  __syncthreads();
  each_element<K>(from, [&](K key, unsigned place) {
    W own = 0;
    if (word(key, place, own) && lies_in(range, own)) {
      atomicAdd(&to.bins[(unsigned)((own - range.low) >> range.shift)], 1u);
    }
  });
  __syncthreads();
}
/* The selection holds the best `want` elements of those that `from` has, and perhaps more, in no
 * order. want: at most KEPT, and at most the number of elements. */
template <class K, class S>
static __device__ void select_best(const S& from, unsigned want, selection_t<K>& to) {
  range_t<K> keys = {0, (K)~(K)0, (int)sizeof(K) * 8 - DIGIT_BITS};
  unsigned ahead = 0;
  for (bool more = true; more;) {
    const bool is_last = keys.shift == 0;
    count_digits_of(from, to, keys, [](K key, unsigned, K& own) { own = key; return true; });
    find_bin(to, want - ahead);
    ahead += to.found_before;
    narrow_range(keys, to.found_bin);
    more = !is_last && ahead + to.found_count > KEPT;
  }
  /* Too many equal keys: the first of them, by the same on the complement of their places. */
  range_t<unsigned> places = {0, ~0u, 32 - DIGIT_BITS};
  const bool has_ties = ahead + to.found_count > KEPT;
  for (bool more = has_ties; more;) {
    const bool is_last = places.shift == 0;
    count_digits_of(from, to, places, [&](K key, unsigned place, unsigned& own) {
      own = ~place;
      return key == keys.low;
    });
    find_bin(to, want - ahead);
    ahead += to.found_before;
    narrow_range(places, to.found_bin);
    more = !is_last && ahead + to.found_count > KEPT;
  }
  (void)collect(from, to, [&](K key, unsigned place) {
    return key > keys.high || (lies_in(keys, key) && (!has_ties || ~place >= places.low));
  });
}

/* One step of a bitonic sort. Keeps the better of two elements if `wants_better` is set, else the
 * worse one. */
template <class K>
INLINE void keep_one(K& key, unsigned& place, K other_key, unsigned other_place, bool wants_better) {
  if (is_better(other_key, other_place, key, place) == wants_better) {
    key = other_key;
    place = other_place;
  }
}
/* Runs the steps of `size` that compare elements up to 32 apart. A warp has the 64 elements from
 * `first` on, and lane k of the warp has elements k and k + 32 of them. */
template <class K>
INLINE void sort_within(K (&keys)[2], unsigned (&places)[2], unsigned first, unsigned size) {
  if (size >= 64) {
    const bool is_up = (first & size) == 0;
    if (is_better(keys[1], places[1], keys[0], places[0]) == is_up) {
      const K key = keys[0];
      const unsigned place = places[0];
      keys[0] = keys[1];
      places[0] = places[1];
      keys[1] = key;
      places[1] = place;
    }
  }
  for (unsigned stride = size < 64 ? size / 2 : 16; stride > 0; stride /= 2) {
#pragma unroll
    for (int e = 0; e < 2; ++e) {
      const K key = __shfl_xor_sync(~0u, keys[e], (int)stride);
      const unsigned place = __shfl_xor_sync(~0u, places[e], (int)stride);
      const bool is_first = (lane_of() & stride) == 0;
      const bool is_up = ((first + 32 * e + lane_of()) & size) == 0;
      keep_one(keys[e], places[e], key, place, is_first == is_up);
    }
  }
}
/* Calls use(keys, places, first) for each group of 64 elements. A warp loads a group into registers
 * before the call and stores it afterwards. */
template <class K, int N, class F>
INLINE void each_of_warp(list_t<K, N>& list, unsigned whole, const F& use) {
  for (unsigned first = threadIdx.x / 32 * 64; first < whole; first += blockDim.x * 2) {
    const unsigned at = first + lane_of();
    K keys[2] = {list.keys[at], list.keys[at + 32]};
    unsigned places[2] = {list.places[at], list.places[at + 32]};
    use(keys, places, first);
#pragma unroll
    for (int e = 0; e < 2; ++e) {
      list.keys[at + 32 * e] = keys[e];
      list.places[at + 32 * e] = places[e];
    }
  }
  __syncthreads();
}
/* Sorts the list, the best first. N is a power of two, at least 64. */
template <class K, int N>
static __device__ void sort_list(list_t<K, N>& to) {
  unsigned whole = 64;
  while (whole < to.count) {
    whole *= 2;
  }
  for (unsigned k = to.count + threadIdx.x; k < whole; k += blockDim.x) {
    to.keys[k] = 0;
    to.places[k] = ~0u;
  }
  __syncthreads();
  each_of_warp(to, whole, [](K(&keys)[2], unsigned(&places)[2], unsigned first) {
    for (unsigned size = 2; size <= 64; size *= 2) {
      sort_within(keys, places, first, size);
    }
  });
  for (unsigned size = 128; size <= whole; size *= 2) {
    for (unsigned stride = size / 2; stride > 32; stride /= 2) {
      for (unsigned pair = threadIdx.x; pair < whole / 2; pair += blockDim.x) {
        const unsigned a = 2 * pair - (pair & (stride - 1));
        const unsigned b = a + stride;
        const K key = to.keys[a];
        const unsigned place = to.places[a];
        if (is_better(to.keys[b], to.places[b], key, place) == ((a & size) == 0)) {
          to.keys[a] = to.keys[b];
          to.places[a] = to.places[b];
          to.keys[b] = key;
          to.places[b] = place;
        }
      }
      __syncthreads();
    }
    each_of_warp(to, whole, [size](K(&keys)[2], unsigned(&places)[2], unsigned first) {
      sort_within(keys, places, first, size);
    });
  }
}

/* ---- A radix sort: one pass is two launches of blocks of 256 threads, the first counts digits of
 * 8 bits, the second moves. Elements are keys and places, in lines, and a line in tiles. ---- */

enum { RADIX = 256, ROUNDS = 4, TILE_STEP = 256 * ROUNDS };
template <class K>
struct sorting_t {
  K* keys; /* two lists, `apart` elements each: an even pass reads the first, an odd one the second */
  unsigned* places;
  i64 apart;
  unsigned* counts;
  unsigned count;  /* of a line's elements */
  unsigned tiles;  /* of a line */
  unsigned length; /* of a tile, a multiple of TILE_STEP */
};
/* Where its parts are stored from `memory` on; sorting.c has the same. */
template <class K>
INLINE sorting_t<K> sorting_of(char* memory, i64 lines, i64 count, i64 tiles, i64 length) {
  const i64 all = lines * count;
  K* keys = (K*)memory;
  unsigned* places = (unsigned*)(keys + 2 * all);
  return {keys, places, all, places + 2 * all, (unsigned)count, (unsigned)tiles, (unsigned)length};
}
template <class K>
INLINE K* keys_in(const sorting_t<K>& s, i64 line, int pass) {
  return s.keys + (pass % 2) * s.apart + line * s.count;
}
template <class K>
INLINE unsigned* places_in(const sorting_t<K>& s, i64 line, int pass) {
  return s.places + (pass % 2) * s.apart + line * s.count;
}
/* The element at `at` of a line as a pass finds it. The first pass reads load(line, at) instead. */
template <class K, class F>
INLINE K sorted_key(const sorting_t<K>& s, i64 line, unsigned at, int pass, const F& load) {
  return pass == 0 ? load(line, at) : keys_in(s, line, pass)[at];
}
template <class K, class F>
static __device__ void count_digits(const sorting_t<K>& s, i64 line, unsigned tile, int pass,
                                    int shift, unsigned* bins, const F& load) {
  bins[threadIdx.x] = 0;
  __syncthreads();
  const unsigned begin = tile * s.length;
  const unsigned end = (unsigned)least_of((i64)begin + s.length, s.count);
  for (unsigned first = begin; first < end; first += blockDim.x) {
    const unsigned at = first + threadIdx.x;
    const unsigned digit =
        at < end ? (unsigned)(sorted_key(s, line, at, pass, load) >> shift) % RADIX : RADIX;
    const unsigned same = __match_any_sync(~0u, digit);
    if (at < end && (same & lanes_before()) == 0) {
      atomicAdd(&bins[digit], (unsigned)__popc(same));
    }
  }
  __syncthreads();
  s.counts[(line * s.tiles + tile) * RADIX + threadIdx.x] = bins[threadIdx.x];
  __syncthreads();
}
struct moving_t {
  unsigned next[8][RADIX]; /* of a warp and a digit: how many, then where the next one goes */
  unsigned sums[32];
};
template <class K, class F>
static __device__ void move_by_digit(const sorting_t<K>& s, i64 line, unsigned tile, int pass,
                                     int shift, moving_t& shared, const F& load) {
  const unsigned warp = threadIdx.x / 32;
  const unsigned* counts = s.counts + line * s.tiles * RADIX + threadIdx.x;
  unsigned before = 0;
  unsigned all = 0;
  unsigned unused = 0;
#pragma unroll 8
  for (unsigned k = 0; k < s.tiles; ++k) {
    const unsigned own = counts[k * RADIX];
    before += k < tile ? own : 0;
    all += own;
  }
  /* Where this thread's digit of this tile goes. */
  unsigned start = scan_block(all, 0u, add_t(), shared.sums, unused) + before;
  const unsigned end = (unsigned)least_of(((i64)tile + 1) * s.length, s.count);
  for (unsigned begin = tile * s.length; begin < end; begin += TILE_STEP) {
    K keys[ROUNDS];
    unsigned places[ROUNDS];
    unsigned ranks[ROUNDS];
#pragma unroll
    for (int k = 0; k < ROUNDS; ++k) {
      const unsigned at = begin + (warp * ROUNDS + k) * 32 + lane_of();
      keys[k] = at < end ? sorted_key(s, line, at, pass, load) : (K)0;
      places[k] = at < end && pass > 0 ? places_in(s, line, pass)[at] : at;
    }
    for (unsigned k = 0; k < 8; ++k) {
      shared.next[k][threadIdx.x] = 0;
    }
    __syncthreads();
#pragma unroll
    for (int k = 0; k < ROUNDS; ++k) {
      const bool has = begin + (warp * ROUNDS + k) * 32 + lane_of() < end;
      const unsigned digit = has ? (unsigned)(keys[k] >> shift) % RADIX : RADIX;
      const unsigned same = __match_any_sync(~0u, digit);
      ranks[k] = has ? shared.next[warp][digit] + __popc(same & lanes_before()) : 0;
      __syncwarp();
      if (has && (same & lanes_before()) == 0) {
        shared.next[warp][digit] += __popc(same);
      }
      __syncwarp();
    }
    __syncthreads();
    for (unsigned k = 0; k < 8; ++k) {
      const unsigned own = shared.next[k][threadIdx.x];
      shared.next[k][threadIdx.x] = start;
      start += own;
    }
    __syncthreads();
#pragma unroll
    for (int k = 0; k < ROUNDS; ++k) {
      if (begin + (warp * ROUNDS + k) * 32 + lane_of() < end) {
        const unsigned to = shared.next[warp][(unsigned)(keys[k] >> shift) % RADIX] + ranks[k];
        keys_in(s, line, pass + 1)[to] = keys[k];
        places_in(s, line, pass + 1)[to] = places[k];
      }
    }
    __syncthreads();
  }
}
