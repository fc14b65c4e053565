/*
 * Running sums and products. One thread computes a line sequentially if lines are very short, or
 * if they are adjacent and also many or short. Otherwise a part of a warp, a warp or a block
 * computes a line, and each thread adds 4 elements at a time. If lines are few and long, several
 * blocks share a line, and `sum_parts` first computes the sum of each block's part.
 * scratch: the sums of parts. p.number[0]: 1 if `sum_parts` is launched.
 */
struct join_t {
  __device__ __forceinline__ sum_t operator()(sum_t a, sum_t b) const {
#if OP_cumulative_prod
    return op_mul(a, b);
#else
    return op_add(a, b);
#endif
  }
};
#if OP_cumulative_prod
#define NEUTRAL ((sum_t)1)
#else
#define NEUTRAL ((sum_t)0)
#endif
enum {
  EACH_STEP = 4,
  MANY = 4096,
  SHORT = 256,
  SHORTEST = 16,
  LONG = 16384, /* as in indexing.c */
  PARTS = 256,
  PART_STEP = 1024
};
struct alignas(sizeof(IN0_STORED) * EACH_STEP) elements_t {
  IN0_STORED element[EACH_STEP];
};
/* Lines of `extent` elements, `inner` apart. */
struct lines_t {
  i64 count;
  i64 extent;
  i64 inner;
  bool wide; /* four elements are one access */
};
/* The place of a line's first element in the order of the sums. */
INLINE i64 base_of(const lines_t& lines, i64 line) {
  i64 rest = 0;
  const i64 outer = divide(line, lines.inner, rest);
  return (outer * lines.extent + (A_reverse ? lines.extent - 1 : 0)) * lines.inner + rest;
}
INLINE i64 step_of(const lines_t& lines) { return A_reverse ? -lines.inner : lines.inner; }

INLINE void load_step(const parameters_t& p, const lines_t& lines, i64 base, i64 first,
                      sum_t (&x)[EACH_STEP]) {
  if (lines.wide && first < lines.extent) {
    const i64 at = base + first * step_of(lines) - (A_reverse ? EACH_STEP - 1 : 0);
    const elements_t all = *(const elements_t*)((const IN0_STORED*)p.in[0].data + at);
#pragma unroll
    for (int k = 0; k < EACH_STEP; ++k) {
      x[k] = (sum_t)IN0_VALUE(all.element[A_reverse ? EACH_STEP - 1 - k : k]);
    }
    return;
  }
#pragma unroll
  for (int k = 0; k < EACH_STEP; ++k) {
    x[k] = first + k < lines.extent ? (sum_t)IN0(base + (first + k) * step_of(lines)) : NEUTRAL;
  }
}
INLINE void store_step(const parameters_t& p, const lines_t& lines, i64 base, i64 first,
                       const sum_t (&x)[EACH_STEP]) {
  if (lines.wide && first < lines.extent) {
    const i64 at = base + first * step_of(lines) - (A_reverse ? EACH_STEP - 1 : 0);
    elements_t all;
#pragma unroll
    for (int k = 0; k < EACH_STEP; ++k) {
      all.element[A_reverse ? EACH_STEP - 1 - k : k] = IN0_ELEMENT(x[k]);
    }
    *(elements_t*)((IN0_STORED*)p.out[0].data + at) = all;
    return;
  }
#pragma unroll
  for (int k = 0; k < EACH_STEP; ++k) {
    if (first + k < lines.extent) {
      OUT0(base + (first + k) * step_of(lines), x[k]);
    }
  }
}
/* Four elements become the sums that they contribute, and `total` the sum of all so far. */
INLINE void sum_step(sum_t (&x)[EACH_STEP], sum_t in_front) {
#pragma unroll
  for (int k = 0; k < EACH_STEP; ++k) {
    const sum_t through = join_t()(in_front, x[k]);
    x[k] = A_exclusive ? in_front : through;
    in_front = through;
  }
}
INLINE sum_t all_of(const sum_t (&x)[EACH_STEP]) {
  return join_t()(join_t()(x[0], x[1]), join_t()(x[2], x[3]));
}

INLINE void run_by_threads(const parameters_t& p, const lines_t& lines) {
  EACH(line, lines.count) {
    const i64 base = base_of(lines, line);
    sum_t total = NEUTRAL;
    for (i64 first = 0; first < lines.extent; first += EACH_STEP) {
      sum_t x[EACH_STEP];
      load_step(p, lines, base, first, x);
      const sum_t next = join_t()(total, all_of(x));
      sum_step(x, total);
      store_step(p, lines, base, first, x);
      total = next;
    }
  }
}
/* WIDTH lanes of a warp share a line. Short lines have a small WIDTH, so that no lane is idle. */
template <int WIDTH>
INLINE void run_by_lanes(const parameters_t& p, const lines_t& lines) {
  const i64 step = (i64)gridDim.x * blockDim.x / WIDTH;
  const unsigned lane = lane_of() % WIDTH;
  const i64 own_line = ((i64)blockIdx.x * blockDim.x + threadIdx.x) / WIDTH;
  /* The shuffles require all lanes of a warp, so all lanes run the same number of iterations. */
  for (i64 line = own_line; line - lane_of() / WIDTH < lines.count; line += step) {
    const bool has = line < lines.count;
    const i64 base = base_of(lines, has ? line : 0);
    sum_t total = NEUTRAL;
    for (i64 first = 0; first < lines.extent; first += WIDTH * EACH_STEP) {
      const i64 own = has ? first + lane * EACH_STEP : lines.extent;
      sum_t x[EACH_STEP];
      load_step(p, lines, base, own, x);
      sum_t through = all_of(x);
#pragma unroll
      for (unsigned distance = 1; distance < WIDTH; distance *= 2) {
        const sum_t before = __shfl_up_sync(~0u, through, distance);
        through = lane >= distance ? join_t()(before, through) : through;
      }
      const sum_t before = __shfl_up_sync(~0u, through, 1);
      sum_step(x, lane == 0 ? total : join_t()(total, before));
      store_step(p, lines, base, own, x);
      total = join_t()(total, __shfl_sync(~0u, through, (int)(lane_of() | (WIDTH - 1))));
    }
  }
}
/* Parts of `length` elements, `count` of a line. */
struct parts_t {
  i64 count;
  i64 length;
};
INLINE parts_t parts_of(const parameters_t& p, const lines_t& lines) {
  if (p.number[0] == 0 || lines.extent < LONG || lines.count * 4 > PARTS) {
    return {1, lines.extent};
  }
  const i64 most = least_of(PARTS / lines.count, lines.extent / (4 * PART_STEP));
  const i64 length = (lines.extent / most / PART_STEP + 1) * PART_STEP;
  return {(lines.extent + length - 1) / length, length};
}
INLINE void run_by_blocks(const parameters_t& p, const lines_t& lines, sum_t* shared) {
  const parts_t parts = parts_of(p, lines);
  EACH_BLOCK(block, lines.count * parts.count) {
    i64 part = 0;
    const i64 line = divide(block, parts.count, part);
    const i64 base = base_of(lines, line);
    const i64 end = least_of((part + 1) * parts.length, lines.extent);
    const sum_t* before = (const sum_t*)p.scratch + line * parts.count;
    sum_t total = NEUTRAL;
    if (parts.count > 1) {
      (void)scan_block(threadIdx.x < part ? before[threadIdx.x] : NEUTRAL, NEUTRAL, join_t(), shared,
                       total);
    }
    for (i64 first = part * parts.length; first < end; first += blockDim.x * EACH_STEP) {
      const i64 own = first + threadIdx.x * EACH_STEP;
      sum_t x[EACH_STEP];
      sum_t all = NEUTRAL;
      load_step(p, lines, base, own, x);
      const sum_t before_own = scan_block(all_of(x), NEUTRAL, join_t(), shared, all);
      sum_step(x, join_t()(total, before_own));
      store_step(p, lines, base, own, x);
      total = join_t()(total, all);
    }
  }
}
/* The axis, or -1 after a fault. */
INLINE int axis_of(const parameters_t& p, bool tells) {
  const i64 given = (i64)IN1(0);
  const i64 axis = wrapped(given, IN0_RANK);
  if (axis >= 0 && axis < IN0_RANK) {
    return (int)axis;
  }
  if (tells) {
    fail(p, 1, given);
  }
  return -1;
}
INLINE lines_t lines_along(const parameters_t& p, int axis) {
  const i64 extent = p.in[0].dims[axis];
  const u64 places = (u64)p.in[0].data | (u64)p.out[0].data;
  lines_t lines = {extent == 0 ? 0 : p.in[0].count / extent, extent,
                   product(p.in[0], axis + 1, IN0_RANK), false};
  lines.wide = lines.inner == 1 && extent % EACH_STEP == 0 && places % sizeof(elements_t) == 0;
  return lines;
}

KERNEL sum_parts(const __grid_constant__ parameters_t p) {
  __shared__ sum_t shared[32];
  begin(p);
  const int axis = axis_of(p, false);
  if (axis < 0) {
    return;
  }
  const lines_t lines = lines_along(p, axis);
  const parts_t parts = parts_of(p, lines);
  EACH_BLOCK(block, parts.count > 1 ? lines.count * parts.count : 0) {
    i64 part = 0;
    const i64 line = divide(block, parts.count, part);
    const i64 base = base_of(lines, line);
    const i64 end = least_of((part + 1) * parts.length, lines.extent);
    sum_t own = NEUTRAL;
    sum_t all = NEUTRAL;
    for (i64 first = part * parts.length; first < end; first += blockDim.x * EACH_STEP) {
      sum_t x[EACH_STEP];
      load_step(p, lines, base, first + threadIdx.x * EACH_STEP, x);
      own = join_t()(own, all_of(x));
    }
    (void)scan_block(own, NEUTRAL, join_t(), shared, all);
    if (threadIdx.x == 0) {
      ((sum_t*)p.scratch)[block] = all;
    }
  }
}
KERNEL running(const __grid_constant__ parameters_t p) {
  __shared__ sum_t shared[32];
  begin(p);
  const int axis = axis_of(p, true);
  if (axis < 0) {
    return;
  }
  const lines_t lines = lines_along(p, axis);
  if (lines.extent < SHORTEST ||
      (lines.inner > 1 && (lines.count >= MANY || lines.extent < SHORT / 2))) {
    run_by_threads(p, lines);
  } else if (lines.extent < SHORT || lines.count >= MANY) {
    if (lines.extent <= 8 * EACH_STEP) {
      run_by_lanes<8>(p, lines);
    } else if (lines.extent <= 16 * EACH_STEP) {
      run_by_lanes<16>(p, lines);
    } else {
      run_by_lanes<32>(p, lines);
    }
  } else {
    run_by_blocks(p, lines, shared);
  }
}
