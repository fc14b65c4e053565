/*
 * The k best of each line, in order; of equal ones the first comes first, NaN is above all numbers.
 * Up to KEPT of a line are selected and sorted by a block. Of long lines, blocks select the best of
 * parts, and one block those of the line. Beyond KEPT lines are sorted as a whole.
 * number: extents before the axis, along it, behind it; k; parts; length of a part; tiles of a
 * line; length of a tile; passes of the sort. scratch: of parts k keys and places each, or what is
 * sorted.
 */
enum { SHORT = 256 }; /* as in sorting.c */
typedef decltype(key_of(IN0_OF(*(const tensor_t*)0, 0))) ordered_t;

/* A line; the best have the largest keys. */
struct line_t {
  const parameters_t* p;
  i64 base;
  i64 step;
};
INLINE line_t line_of(const parameters_t& p, i64 line, i64 extent) {
  i64 inner = 0;
  const i64 outer = divide(line, p.number[2], inner);
  return {&p, outer * extent * p.number[2] + inner, p.number[2]};
}
INLINE ordered_t key_at(const line_t& line, unsigned at) {
  const parameters_t& p = *line.p;
  const ordered_t key = key_of(IN0(line.base + at * line.step));
  return A_largest != 0 ? key : (ordered_t)~key;
}
struct elements_t {
  line_t line;
  unsigned first;
  unsigned count;
  __device__ __forceinline__ bool get(unsigned at, ordered_t& key, unsigned& place) const {
    place = first + at;
    key = key_at(line, place);
    return true;
  }
};
/* What the parts of a line left. */
struct candidates_t {
  const ordered_t* keys;
  const unsigned* places;
  unsigned count;
  __device__ __forceinline__ bool get(unsigned at, ordered_t& key, unsigned& place) const {
    key = keys[at];
    place = places[at];
    return true;
  }
};
template <class S>
INLINE void select_and_sort(const S& from, unsigned want, selection_t<ordered_t>& to) {
  if (from.count <= KEPT) {
    take_all(from, to);
  } else {
    select_best(from, want, to);
  }
  sort_list(to);
}
INLINE void show(const parameters_t& p, i64 line, i64 rank, unsigned place) {
  const line_t from = line_of(p, line, p.number[1]);
  const i64 to = line_of(p, line, p.number[3]).base + rank * p.number[2];
#if HAS_OUT0
  OUT0(to, IN0(from.base + place * from.step));
#endif
#if HAS_OUT1
  OUT1(to, (i64)place);
#endif
}
template <int N>
INLINE void show_all(const parameters_t& p, i64 line, const list_t<ordered_t, N>& from) {
  EACH_THREAD(rank, p.number[3]) { show(p, line, rank, from.places[rank]); }
  __syncthreads();
}

/* Of short lines: without what selection needs, so that more blocks are at work at once. */
KERNEL select_short(const __grid_constant__ parameters_t p) {
  __shared__ list_t<ordered_t, SHORT> shared;
  begin(p);
  EACH_BLOCK(line, p.number[0] * p.number[2]) {
    const elements_t from = {line_of(p, line, p.number[1]), 0, (unsigned)p.number[1]};
    take_all(from, shared);
    sort_list(shared);
    show_all(p, line, shared);
  }
}
WIDE_KERNEL select_line(const __grid_constant__ parameters_t p) {
  __shared__ selection_t<ordered_t> shared;
  begin(p);
  EACH_BLOCK(line, p.number[0] * p.number[2]) {
    const elements_t from = {line_of(p, line, p.number[1]), 0, (unsigned)p.number[1]};
    select_and_sort(from, (unsigned)p.number[3], shared);
    show_all(p, line, shared);
  }
}

/* Of parts: the last one may have fewer elements than k, then the others of its places are worse
 * than all. */
INLINE ordered_t* keys_of(const parameters_t& p) { return (ordered_t*)p.scratch; }
INLINE unsigned* places_of(const parameters_t& p) {
  return (unsigned*)(keys_of(p) + p.number[0] * p.number[2] * p.number[4] * p.number[3]);
}
WIDE_KERNEL select_part(const __grid_constant__ parameters_t p) {
  __shared__ selection_t<ordered_t> shared;
  begin(p);
  const unsigned k = (unsigned)p.number[3];
  EACH_BLOCK(block, p.number[0] * p.number[2] * p.number[4]) {
    i64 part = 0;
    const i64 line = divide(block, p.number[4], part);
    const unsigned first = (unsigned)(part * p.number[5]);
    const unsigned end = (unsigned)least_of(p.number[1], first + p.number[5]);
    const elements_t from = {line_of(p, line, p.number[1]), first, end > first ? end - first : 0};
    select_and_sort(from, (unsigned)least_of(k, from.count), shared);
    EACH_THREAD(rank, k) {
      const bool has = rank < shared.count;
      keys_of(p)[block * k + rank] = has ? shared.keys[rank] : (ordered_t)0;
      places_of(p)[block * k + rank] = has ? shared.places[rank] : ~0u;
    }
    __syncthreads();
  }
}
WIDE_KERNEL select_of_parts(const __grid_constant__ parameters_t p) {
  __shared__ selection_t<ordered_t> shared;
  begin(p);
  const i64 each = p.number[4] * p.number[3];
  EACH_BLOCK(line, p.number[0] * p.number[2]) {
    const candidates_t from = {keys_of(p) + line * each, places_of(p) + line * each,
                               (unsigned)each};
    select_and_sort(from, (unsigned)p.number[3], shared);
    show_all(p, line, shared);
  }
}

INLINE sorting_t<ordered_t> sorting_for(const parameters_t& p) {
  return sorting_of<ordered_t>(p.scratch, p.number[0] * p.number[2], p.number[1], p.number[6],
                           p.number[7]);
}
/* Calls use(line, tile, shift, load) for each tile; `load` reads keys, the best are the smallest. */
template <class F>
INLINE void each_tile(const parameters_t& p, const F& use) {
  EACH_BLOCK(block, p.number[0] * p.number[2] * p.number[6]) {
    i64 tile = 0;
    const i64 line = divide(block, p.number[6], tile);
    const line_t from = line_of(p, line, p.number[1]);
    use(line, (unsigned)tile, 8 * ((int)p.number[8] + p.pass),
        [&](i64, unsigned at) { return (ordered_t)~key_at(from, at); });
  }
}
KERNEL count_pass(const __grid_constant__ parameters_t p) {
  __shared__ unsigned bins[RADIX];
  begin(p);
  each_tile(p, [&](i64 line, unsigned tile, int shift, const auto& load) {
    count_digits(sorting_for(p), line, tile, p.pass, shift, bins, load);
  });
}
KERNEL move_pass(const __grid_constant__ parameters_t p) {
  __shared__ moving_t shared;
  begin(p);
  each_tile(p, [&](i64 line, unsigned tile, int shift, const auto& load) {
    move_by_digit(sorting_for(p), line, tile, p.pass, shift, shared, load);
  });
}
/* Behind the last pass: p.pass of them. */
KERNEL show_sorted(const __grid_constant__ parameters_t p) {
  begin(p);
  const sorting_t<ordered_t> sorting = sorting_for(p);
  EACH(i, p.number[0] * p.number[2] * p.number[3]) {
    i64 rank = 0;
    const i64 line = divide(i, p.number[3], rank);
    show(p, line, rank, places_in(sorting, line, p.pass)[rank]);
  }
}
