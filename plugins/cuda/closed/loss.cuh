/* -weight[target] x[n, target, ...], as it is, or summed (over the weights) by one block, in an
 * order that is the same each time. number: x's extents around axis 1. */
struct part_t {
  sum_t loss;
  sum_t weight;
};
INLINE part_t part_of(const parameters_t& p, i64 place) {
  const i64 target = (i64)IN1(place);
  const bool counts = A_ignores == 0 || target != A_ignore_index;
  const i64 inner = p.number[2];
  part_t part = {(sum_t)0, (sum_t)0};
  if (counts && (target < 0 || target >= p.number[1])) {
    fail(p, 1, target);
  } else if (counts) {
    part.weight = HAS_IN2 ? (sum_t)IN2(target) : (sum_t)1;
    part.loss = -part.weight * (sum_t)IN0((place / inner * p.number[1] + target) * inner + place % inner);
  }
  return part;
}
KERNEL loss(const __grid_constant__ parameters_t p) {
  __shared__ part_t shared[256];
  begin(p);
#if A_reduction_none
  EACH(i, p.in[1].count) { OUT0(i, part_of(p, i).loss); }
#else
  part_t own = {(sum_t)0, (sum_t)0};
  EACH_THREAD(i, p.in[1].count) {
    const part_t part = part_of(p, i);
    own.loss += part.loss;
    own.weight += part.weight;
  }
  shared[threadIdx.x] = own;
  __syncthreads();
  for (unsigned half = blockDim.x / 2; half > 0; half /= 2) {
    if (threadIdx.x < half) {
      shared[threadIdx.x].loss += shared[threadIdx.x + half].loss;
      shared[threadIdx.x].weight += shared[threadIdx.x + half].weight;
    }
    __syncthreads();
  }
  if (threadIdx.x == 0) {
#if A_reduction_mean
    OUT0(0, shared[0].loss / shared[0].weight);
#else
    OUT0(0, shared[0].loss);
#endif
  }
#endif
}
