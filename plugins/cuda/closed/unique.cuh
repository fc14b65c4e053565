/*
 * Slices (or elements) that differ. Each looks for the first that equals it; those that are first
 * count how many first ones come before them. scratch: 4 numbers, then of each slice its first, and
 * of first ones their place. number: x around the axis. Quadratic in the number of slices.
 */
INLINE i64* first_of(const parameters_t& p) { return (i64*)p.scratch + 4; }
INLINE i64* rank_of(const parameters_t& p) { return (i64*)p.scratch + 4 + p.number[1]; }
INLINE i64 item_place(const parameters_t& p, i64 at, i64 item) {
  const i64 inner = p.number[2];
  return (item / inner * p.number[1] + at) * inner + item % inner;
}
INLINE int compare_slices(const parameters_t& p, i64 a, i64 b) {
  const i64 items = p.number[0] * p.number[2];
  for (i64 item = 0; item < items; ++item) {
    const int order = compare(IN0(item_place(p, a, item)), IN0(item_place(p, b, item)));
    if (order != 0) {
      return order;
    }
  }
  return 0;
}
KERNEL find_first(const __grid_constant__ parameters_t p) {
  begin(p);
  EACH(i, p.number[1]) {
    i64 first = 0;
    while (first < i && compare_slices(p, first, i) != 0) {
      ++first;
    }
    first_of(p)[i] = first;
  }
  EACH(i, 4) { ((i64*)p.scratch)[i] = 0; }
}
KERNEL rank_first(const __grid_constant__ parameters_t p) {
  begin(p);
  EACH(i, p.number[1]) {
    if (first_of(p)[i] == i) {
      i64 rank = 0;
      for (i64 k = 0; k < p.number[1]; ++k) {
        const bool is_before = A_sorted ? compare_slices(p, k, i) < 0 : k < i;
        rank += first_of(p)[k] == k && is_before ? 1 : 0;
      }
      rank_of(p)[i] = rank;
      atomicAdd((u64*)p.scratch, 1ull);
    }
  }
}
enum { AXIS = A_flat ? 0 : A_axis < 0 ? A_axis + IN0_RANK : A_axis };
KERNEL write(const __grid_constant__ parameters_t p) {
  begin(p);
  const i64 items = p.number[0] * p.number[2];
  const i64 inner = p.number[2];
  EACH(i, p.number[1]) {
    const i64 first = first_of(p)[i];
    const i64 rank = rank_of(p)[first];
    OUT2(i, rank);
    if (first != i) {
      continue;
    }
    OUT1(rank, i);
#if HAS_OUT0
    for (i64 item = 0; item < items; ++item) {
      OUT0((item / inner * p.out[0].dims[AXIS] + rank) * inner + item % inner,
           IN0(item_place(p, i, item)));
    }
#endif
#if HAS_OUT3
    i64 times = 0;
    for (i64 k = i; k < p.number[1]; ++k) {
      times += first_of(p)[k] == i ? 1 : 0;
    }
    OUT3(rank, times);
#endif
  }
  if (blockIdx.x == 0 && threadIdx.x == 0) {
    const i64 found = ((const i64*)p.scratch)[0];
    for (int k = 0; p.extents[0] != 0 && k < OUT0_RANK; ++k) {
      p.extents[0][k] = k == AXIS ? found : p.in[0].dims[k];
    }
    if (p.extents[1] != 0) {
      p.extents[1][0] = found;
    }
    if (p.extents[2] != 0) {
      p.extents[2][0] = p.number[1];
    }
    if (p.extents[3] != 0) {
      p.extents[3][0] = found;
    }
  }
}
