/*
 * non_max_suppression: a block has the boxes of one class of one image. It takes the best that is
 * left, and leaves out all that overlap it, until enough stay. scratch: 4 numbers, for each
 * line (image and class) how many stay and where its rows begin, the boxes that stay, and which
 * boxes are out. number: lines, boxes, classes.
 */
INLINE i64* kept_of(const parameters_t& p) { return (i64*)p.scratch + 4; }
INLINE i64* start_of(const parameters_t& p) { return kept_of(p) + p.number[0]; }
INLINE int* list_of(const parameters_t& p, i64 line) {
  return (int*)(start_of(p) + p.number[0]) + line * p.number[1];
}
INLINE u8* out_of(const parameters_t& p, i64 line) {
  return (u8*)list_of(p, p.number[0]) + line * p.number[1];
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
struct best_t {
  float score;
  int box; /* -1: none */
};
INLINE bool is_better(const best_t& a, const best_t& b) {
  return a.box >= 0 && (b.box < 0 || a.score > b.score || (a.score == b.score && a.box < b.box));
}

KERNEL select_boxes(const __grid_constant__ parameters_t p) {
  __shared__ best_t shared[256];
  begin(p);
  const i64 count = p.number[1];
  const i64 limit = HAS_IN2 && p.in[2].count > 0 ? (i64)IN2(0) : 0;
  const double threshold = HAS_IN3 && p.in[3].count > 0 ? (double)IN3(0) : 0.0;
  const double least = HAS_IN4 && p.in[4].count > 0 ? (double)IN4(0) : -(double)__uint_as_float(0x7F800000u);
  EACH_BLOCK(line, p.number[0]) {
    const i64 boxes = line / p.number[2] * count;
    u8* out = out_of(p, line);
    i64 kept = 0;
    EACH_THREAD(box, count) { out[box] = (double)IN1(line * count + box) > least ? 0 : 1; }
    __syncthreads();
    for (; kept < limit; ++kept) {
      best_t own = {0.0f, -1};
      EACH_THREAD(box, count) {
        const best_t here = {(float)IN1(line * count + box), (int)box};
        own = out[box] == 0 && is_better(here, own) ? here : own;
      }
      shared[threadIdx.x] = own;
      __syncthreads();
      for (unsigned half = blockDim.x / 2; half > 0; half /= 2) {
        if (threadIdx.x < half && is_better(shared[threadIdx.x + half], shared[threadIdx.x])) {
          shared[threadIdx.x] = shared[threadIdx.x + half];
        }
        __syncthreads();
      }
      const int best = shared[0].box;
      __syncthreads();
      if (best < 0) {
        break;
      }
      const box_t taken = box_of(p, boxes + best);
      EACH_THREAD(box, count) {
        if (box == best || (out[box] == 0 && overlap(taken, box_of(p, boxes + box), threshold))) {
          out[box] = 1;
        }
      }
      if (threadIdx.x == 0) {
        list_of(p, line)[kept] = best;
      }
      __syncthreads();
    }
    if (threadIdx.x == 0) {
      kept_of(p)[line] = kept;
    }
    __syncthreads();
  }
}
KERNEL add_up(const __grid_constant__ parameters_t p) {
  begin(p);
  if (blockIdx.x == 0 && threadIdx.x == 0) {
    i64 total = 0;
    for (i64 line = 0; line < p.number[0]; ++line) {
      start_of(p)[line] = total;
      total += kept_of(p)[line];
    }
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
      OUT0(row + 2, list_of(p, line)[k]);
    }
  }
  if (p.extents[0] != 0 && blockIdx.x == 0 && threadIdx.x == 0) {
    p.extents[0][0] = ((const i64*)p.scratch)[0];
    p.extents[0][1] = 3;
  }
}
