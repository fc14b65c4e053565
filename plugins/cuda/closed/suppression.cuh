/*
 * non_max_suppression: a block has the boxes of one class of one image. It takes candidates in
 * batches, the best first, sorted; of a batch 64 at a time, which are compared with all boxes that
 * stay so far and with one another.
 * scratch: 4 numbers, for each line (image and class) how many boxes stay, where its rows begin, and
 * the boxes that stay. number: lines, boxes, classes.
 */
typedef decltype(key_of(IN1_OF(*(const tensor_t*)0, 0))) ordered_t;
INLINE i64* kept_of(const parameters_t& p) { return (i64*)p.scratch + 4; }
INLINE i64* start_of(const parameters_t& p) { return kept_of(p) + p.number[0]; }
INLINE unsigned* list_of(const parameters_t& p, i64 line) {
  return (unsigned*)(start_of(p) + p.number[0]) + line * p.number[1];
}

struct box_t {
  double low[2];
  double high[2];
};
INLINE box_t box_of(const parameters_t& p, i64 box) {
  box_t result;
#pragma unroll
  for (int k = 0; k < 2; ++k) {
    const double a = (double)IN0(box * 4 + k);
    const double b = (double)IN0(box * 4 + k + 2);
    result.low[k] = A_center_point_box ? a - b / 2.0 : fmin(a, b);
    result.high[k] = A_center_point_box ? a + b / 2.0 : fmax(a, b);
  }
  return result;
}
INLINE bool overlap(const box_t& a, const box_t& b, double threshold) {
  double common = 1.0;
  double own = 1.0;
  double other = 1.0;
#pragma unroll
  for (int k = 0; k < 2; ++k) {
    const double low = fmax(a.low[k], b.low[k]);
    const double high = fmin(a.high[k], b.high[k]);
    if (high <= low) {
      return false;
    }
    common *= high - low;
    own *= a.high[k] - a.low[k];
    other *= b.high[k] - b.low[k];
  }
  const double whole = own + other - common;
  return own > 0.0 && other > 0.0 && whole > 0.0 && common / whole > threshold;
}

/* Boxes of a line whose score is above the least, and which come behind the last one taken. */
struct candidates_t {
  const parameters_t* parameters;
  i64 base;
  double least;
  bool continues;
  ordered_t last_key;
  unsigned last_place;
  unsigned count;
  __device__ __forceinline__ bool get(unsigned at, ordered_t& key, unsigned& place) const {
    const parameters_t& p = *parameters;
    const auto score = IN1(base + at);
    key = key_of(score);
    place = at;
    return (double)score > least && (!continues || is_better(last_key, last_place, key, place));
  }
};
enum { GROUP = 64, NEAR = 256 /* boxes that stay, in shared memory */, BATCHED = KEPT / 2 };
struct group_t {
  box_t boxes[GROUP];
  box_t kept[NEAR];
  unsigned out[2];            /* those that a kept box overlaps */
  unsigned overlaps[GROUP][2]; /* which ones behind it each overlaps */
};
INLINE u64 both_of(const unsigned (&halves)[2]) { return (u64)halves[1] << 32 | halves[0]; }

/* How many boxes of the line stay, when the `count` candidates at `places` have been looked at. */
static __device__ unsigned keep_group(const parameters_t& p, i64 line, const unsigned* places,
                                      unsigned count, unsigned kept, i64 limit, double threshold,
                                      group_t& shared) {
  const i64 boxes = line / p.number[2] * p.number[1];
  unsigned* list = list_of(p, line);
  if (threadIdx.x < count) {
    shared.boxes[threadIdx.x] = box_of(p, boxes + places[threadIdx.x]);
  }
  if (threadIdx.x < GROUP) {
    shared.overlaps[threadIdx.x][0] = 0;
    shared.overlaps[threadIdx.x][1] = 0;
  }
  if (threadIdx.x < 2) {
    shared.out[threadIdx.x] = 0;
  }
  __syncthreads();
  const unsigned own = threadIdx.x % GROUP;
  if (own < count) {
    const box_t box = shared.boxes[own];
    bool is_out = false;
    for (unsigned k = threadIdx.x / GROUP; k < kept && !is_out; k += blockDim.x / GROUP) {
      is_out = overlap(k < NEAR ? shared.kept[k] : box_of(p, boxes + list[k]), box, threshold);
    }
    if (is_out) {
      atomicOr(&shared.out[own / 32], 1u << own % 32);
    }
    for (unsigned k = threadIdx.x / GROUP; k < own; k += blockDim.x / GROUP) {
      if (overlap(shared.boxes[k], box, threshold)) {
        atomicOr(&shared.overlaps[k][own / 32], 1u << own % 32);
      }
    }
  }
  __syncthreads();
  /* Each thread goes through the candidates by itself: all come to the same. */
  u64 open = ~both_of(shared.out) & (~0ull >> (GROUP - count));
  u64 stay = 0;
  for (unsigned all = kept; open != 0 && all < limit; ++all) {
    const int best = __ffsll(open) - 1;
    stay |= 1ull << best;
    open &= ~(1ull << best) & ~both_of(shared.overlaps[best]);
  }
  if (threadIdx.x < count && (stay >> threadIdx.x & 1) != 0) {
    const unsigned before = kept + __popcll(stay & ((1ull << threadIdx.x) - 1));
    list[before] = places[threadIdx.x];
    if (before < NEAR) {
      shared.kept[before] = shared.boxes[threadIdx.x];
    }
  }
  __syncthreads();
  return kept + __popcll(stay);
}

WIDE_KERNEL select_boxes(const __grid_constant__ parameters_t p) {
  __shared__ selection_t<ordered_t> batch;
  __shared__ group_t group;
  begin(p);
  const i64 limit = HAS_IN2 && p.in[2].count > 0 ? (i64)IN2(0) : 0;
  const double threshold = HAS_IN3 && p.in[3].count > 0 ? (double)IN3(0) : 0.0;
  const double least = HAS_IN4 && p.in[4].count > 0 ? (double)IN4(0) : -(double)__uint_as_float(0x7F800000u);
  EACH_BLOCK(line, p.number[0]) {
    candidates_t from = {&p, line * p.number[1], least, false, 0, 0, (unsigned)p.number[1]};
    unsigned kept = 0;
    bool more = limit > 0;
    while (more) {
      const unsigned all = collect(from, batch, [](ordered_t, unsigned) { return true; });
      if (all > KEPT) {
        select_best(from, BATCHED, batch);
      }
      sort_list(batch);
      for (unsigned first = 0; first < batch.count && kept < limit; first += GROUP) {
        const unsigned count = (unsigned)least_of(GROUP, batch.count - first);
        kept = keep_group(p, line, batch.places + first, count, kept, limit, threshold, group);
      }
      more = all > KEPT && kept < limit;
      from.continues = true;
      from.last_key = batch.keys[batch.count > 0 ? batch.count - 1 : 0];
      from.last_place = batch.places[batch.count > 0 ? batch.count - 1 : 0];
    }
    if (threadIdx.x == 0) {
      kept_of(p)[line] = kept;
    }
    __syncthreads();
  }
}
/* One block. */
WIDE_KERNEL add_up(const __grid_constant__ parameters_t p) {
  __shared__ i64 shared[32];
  begin(p);
  EACH_THREAD(line, p.number[0]) { start_of(p)[line] = kept_of(p)[line]; }
  __syncthreads();
  const i64 total = add_up_before(start_of(p), p.number[0], shared);
  if (threadIdx.x == 0) {
    ((i64*)p.scratch)[0] = total;
  }
}
KERNEL write(const __grid_constant__ parameters_t p) {
  begin(p);
  EACH_BLOCK(line, p.number[0]) {
    EACH_THREAD(k, kept_of(p)[line]) {
      const i64 row = (start_of(p)[line] + k) * 3;
      OUT0(row, line / p.number[2]);
      OUT0(row + 1, line % p.number[2]);
      OUT0(row + 2, (i64)list_of(p, line)[k]);
    }
  }
  if (p.extents[0] != 0 && blockIdx.x == 0 && threadIdx.x == 0) {
    p.extents[0][0] = ((const i64*)p.scratch)[0];
    p.extents[0][1] = 3;
  }
}
