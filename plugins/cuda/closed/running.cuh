/* Running sums and products. Many lines, or short ones, are a thread's each, in order; of a long
 * one a block makes 256 elements at a time. */
INLINE sum_t joined(sum_t a, sum_t b) {
#if OP_cumulative_prod
  return op_mul(a, b);
#else
  return op_add(a, b);
#endif
}
#if OP_cumulative_prod
#define NEUTRAL ((sum_t)1)
#else
#define NEUTRAL ((sum_t)0)
#endif

KERNEL running(const __grid_constant__ parameters_t p) {
  __shared__ sum_t shared[256];
  begin(p);
  const int rank = IN0_RANK;
  const i64 given = (i64)IN1(0);
  const int axis = (int)wrapped(given, rank);
  if (axis < 0 || axis >= rank) {
    fail(p, 1, given);
    return;
  }
  const i64 extent = p.in[0].dims[axis];
  const i64 inner = product(p.in[0], axis + 1, rank);
  const i64 lines = extent == 0 ? 0 : p.in[0].count / extent;
  if (lines >= 4096 || extent < 128) {
    EACH(line, lines) {
      sum_t total = NEUTRAL;
      for (i64 step = 0; step < extent; ++step) {
        const i64 at = A_reverse ? extent - 1 - step : step;
        const i64 place = (line / inner * extent + at) * inner + line % inner;
        const sum_t next = joined(total, (sum_t)IN0(place));
        OUT0(place, A_exclusive ? total : next);
        total = next;
      }
    }
    return;
  }
  EACH_BLOCK(line, lines) {
    sum_t total = NEUTRAL;
    for (i64 first = 0; first < extent; first += blockDim.x) {
      const i64 step = first + threadIdx.x;
      const i64 at = A_reverse ? extent - 1 - step : step;
      const i64 place = (line / inner * extent + at) * inner + line % inner;
      sum_t own = step < extent ? (sum_t)IN0(place) : NEUTRAL;
      shared[threadIdx.x] = own;
      __syncthreads();
      for (unsigned distance = 1; distance < blockDim.x; distance *= 2) {
        const sum_t before = threadIdx.x >= distance ? shared[threadIdx.x - distance] : NEUTRAL;
        __syncthreads();
        shared[threadIdx.x] = joined(before, shared[threadIdx.x]);
        __syncthreads();
      }
      const sum_t in_front = threadIdx.x == 0 ? NEUTRAL : shared[threadIdx.x - 1];
      if (step < extent) {
        OUT0(place, joined(total, A_exclusive ? in_front : shared[threadIdx.x]));
      }
      total = joined(total, shared[blockDim.x - 1]);
      __syncthreads();
    }
  }
}
