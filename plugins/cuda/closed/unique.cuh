/*
 * Slices (or elements) that differ. Elements are sorted by a radix sort of their keys; slices of more
 * elements by merging their positions. Equal ones are then a group beside one another, of which the
 * first in x comes first. Groups are numbered in that order, or, where results are not sorted, by
 * where they begin in x.
 * scratch: 4 numbers (how many groups), where each chunk begins; for each slice its group, where each
 * group begins, the group of each number, whether a slice is the first of its group; what is sorted. number: x around the axis; chunks; tiles;
 * length of a tile; the first byte of keys that matters; where the order lies, 0 or 1.
 */
typedef decltype(key_of(IN0_OF(*(const tensor_t*)0, 0))) ordered_t;
INLINE i64* starts_of(const parameters_t& p) { return (i64*)p.scratch + 4; }
INLINE i64 found_of(const parameters_t& p) { return ((const i64*)p.scratch)[0]; }
INLINE unsigned* list_of(const parameters_t& p, i64 which) {
  return (unsigned*)(starts_of(p) + p.number[3]) + which * p.number[1];
}
INLINE unsigned* group_of(const parameters_t& p) { return list_of(p, 0); }
INLINE unsigned* begin_of(const parameters_t& p) { return list_of(p, 1); }
INLINE unsigned* number_of(const parameters_t& p) { return list_of(p, 2); }
INLINE unsigned* is_first_of(const parameters_t& p) { return list_of(p, 3); }
INLINE sorting_t<ordered_t> sorting_for(const parameters_t& p) {
  return sorting_of<ordered_t>((char*)list_of(p, 4), 1, p.number[1], p.number[4], p.number[5]);
}
INLINE const unsigned* order_of(const parameters_t& p) {
  return places_in(sorting_for(p), 0, (int)p.number[7]);
}

INLINE i64 item_place(const parameters_t& p, i64 at, i64 item) {
  i64 rest = 0;
  const i64 outer = divide(item, p.number[2], rest);
  return (outer * p.number[1] + at) * p.number[2] + rest;
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

/* ---- Order ---- */

KERNEL count_pass(const __grid_constant__ parameters_t p) {
  __shared__ unsigned bins[RADIX];
  begin(p);
  EACH_BLOCK(tile, p.number[4]) {
    count_digits(sorting_for(p), 0, (unsigned)tile, p.pass, 8 * ((int)p.number[6] + p.pass), bins,
                 [&](i64, unsigned at) { return key_of(IN0(at)); });
  }
}
KERNEL move_pass(const __grid_constant__ parameters_t p) {
  __shared__ moving_t shared;
  begin(p);
  EACH_BLOCK(tile, p.number[4]) {
    move_by_digit(sorting_for(p), 0, (unsigned)tile, p.pass, 8 * ((int)p.number[6] + p.pass),
                  shared, [&](i64, unsigned at) { return key_of(IN0(at)); });
  }
}
/* Runs of 2^pass slices in order become runs of twice as many: each slice counts those of the other
 * run that come before it. */
KERNEL merge_pass(const __grid_constant__ parameters_t p) {
  begin(p);
  const i64 count = p.number[1];
  const i64 width = (i64)1 << p.pass;
  const unsigned* from = places_in(sorting_for(p), 0, p.pass);
  unsigned* to = places_in(sorting_for(p), 0, p.pass + 1);
  EACH(i, count) {
    const i64 own = p.pass == 0 ? i : from[i];
    const i64 run = i >> p.pass;
    const bool is_left = run % 2 == 0;
    const i64 first = least_of((run ^ 1) << p.pass, count);
    i64 low = first;
    i64 high = least_of(first + width, count);
    while (low < high) {
      const i64 middle = (low + high) / 2;
      const int order = compare_slices(p, p.pass == 0 ? middle : from[middle], own);
      if (is_left ? order < 0 : order <= 0) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    to[(run >> 1 << (p.pass + 1)) + (i - (run << p.pass)) + (low - first)] = (unsigned)own;
  }
}

/* ---- Groups ---- */

/* Is the slice at `at` in the order another one than that in front of it? */
INLINE bool begins_group(const parameters_t& p, i64 at) {
  const unsigned* order = order_of(p);
  return at == 0 || compare_slices(p, order[at - 1], order[at]) != 0;
}
template <class F>
INLINE unsigned rank_chunk(const parameters_t& p, i64 chunk, const F& is_flagged, unsigned* shared,
                           bool (&flags)[FLAGS], unsigned (&ranks)[FLAGS]) {
#pragma unroll
  for (int k = 0; k < FLAGS; ++k) {
    const i64 at = chunk * CHUNK + k * 256 + threadIdx.x;
    flags[k] = at < p.number[1] && is_flagged(at);
  }
  return rank_flags(flags, shared, ranks);
}
template <class F>
INLINE void count_chunks(const parameters_t& p, const F& is_flagged, unsigned* shared) {
  EACH_BLOCK(chunk, p.number[3]) {
    bool flags[FLAGS];
    unsigned ranks[FLAGS];
    const unsigned total = rank_chunk(p, chunk, is_flagged, shared, flags, ranks);
    if (threadIdx.x == 0) {
      starts_of(p)[chunk] = total;
    }
  }
}
KERNEL count_groups(const __grid_constant__ parameters_t p) {
  __shared__ unsigned shared[65];
  begin(p);
  count_chunks(p, [&](i64 at) { return begins_group(p, at); }, shared);
}
/* One block. */
WIDE_KERNEL add_up(const __grid_constant__ parameters_t p) {
  __shared__ i64 shared[32];
  begin(p);
  const i64 total = add_up_before(starts_of(p), p.number[3], shared);
  if (threadIdx.x == 0) {
    ((i64*)p.scratch)[0] = total;
  }
}
KERNEL label(const __grid_constant__ parameters_t p) {
  __shared__ unsigned shared[65];
  begin(p);
  const unsigned* order = order_of(p);
  EACH_BLOCK(chunk, p.number[3]) {
    bool flags[FLAGS];
    unsigned ranks[FLAGS];
    (void)rank_chunk(p, chunk, [&](i64 at) { return begins_group(p, at); }, shared, flags, ranks);
    const i64 start = starts_of(p)[chunk];
#pragma unroll
    for (int k = 0; k < FLAGS; ++k) {
      const i64 at = chunk * CHUNK + k * 256 + threadIdx.x;
      if (at < p.number[1]) {
        const unsigned group = (unsigned)(start + ranks[k] + (flags[k] ? 1 : 0) - 1);
        group_of(p)[order[at]] = group;
        is_first_of(p)[order[at]] = flags[k] ? 1 : 0;
        if (flags[k]) {
          begin_of(p)[group] = (unsigned)at;
        }
      }
    }
  }
}
/* Numbers in the order of x: first slices of groups are counted as groups were. */
KERNEL count_firsts(const __grid_constant__ parameters_t p) {
  __shared__ unsigned shared[65];
  begin(p);
  count_chunks(p, [&](i64 at) { return is_first_of(p)[at] != 0; }, shared);
}
KERNEL number_firsts(const __grid_constant__ parameters_t p) {
  __shared__ unsigned shared[65];
  begin(p);
  EACH_BLOCK(chunk, p.number[3]) {
    bool flags[FLAGS];
    unsigned ranks[FLAGS];
    (void)rank_chunk(p, chunk, [&](i64 at) { return is_first_of(p)[at] != 0; }, shared, flags,
                     ranks);
    const i64 start = starts_of(p)[chunk];
#pragma unroll
    for (int k = 0; k < FLAGS; ++k) {
      if (flags[k]) {
        const i64 at = chunk * CHUNK + k * 256 + threadIdx.x;
        number_of(p)[group_of(p)[at]] = (unsigned)(start + ranks[k]);
      }
    }
  }
}

/* ---- Results ---- */

enum { AXIS = A_flat ? 0 : A_axis < 0 ? A_axis + IN0_RANK : A_axis };
INLINE i64 result_of(const parameters_t& p, i64 group) {
  return A_sorted ? group : (i64)number_of(p)[group];
}
KERNEL write(const __grid_constant__ parameters_t p) {
  begin(p);
  const i64 found = found_of(p);
  const i64 items = p.number[0] * p.number[2];
  EACH(i, p.number[1]) { OUT2(i, result_of(p, group_of(p)[i])); }
  EACH(group, found) {
    const i64 to = result_of(p, group);
    const i64 begins = begin_of(p)[group];
    OUT1(to, (i64)order_of(p)[begins]);
    OUT3(to, (group + 1 < found ? (i64)begin_of(p)[group + 1] : p.number[1]) - begins);
  }
#if HAS_OUT0
  EACH(i, found * items) {
    i64 item = 0;
    const i64 group = divide(i, items, item);
    i64 rest = 0;
    const i64 outer = divide(item, p.number[2], rest);
    OUT0((outer * p.out[0].dims[AXIS] + result_of(p, group)) * p.number[2] + rest,
         IN0(item_place(p, order_of(p)[begin_of(p)[group]], item)));
  }
#endif
  if (blockIdx.x == 0 && threadIdx.x == 0) {
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
