/*
 * What is found: nonzero, compress. Chunks of 2,048 are counted, a block adds up the counts, then each
 * chunk writes: nonzero its coordinates, compress a list of positions by which slices are copied.
 * scratch: 4 numbers (how many were found), where each chunk begins, the list. number: how many are
 * asked, chunks, and for compress x's extents around the axis.
 */
#if OP_nonzero
#define ASKED(i) (IN0(i) != 0)
#else
#define ASKED(i) (IN1(i) != 0)
#endif
INLINE i64* starts_of(const parameters_t& p) { return (i64*)p.scratch + 4; }
INLINE i64 found_of(const parameters_t& p) { return ((const i64*)p.scratch)[0]; }
INLINE void ask(const parameters_t& p, i64 chunk, bool (&flags)[FLAGS]) {
#pragma unroll
  for (int k = 0; k < FLAGS; ++k) {
    const i64 at = chunk * CHUNK + k * 256 + threadIdx.x;
    flags[k] = at < p.number[0] && ASKED(at);
  }
}

KERNEL count(const __grid_constant__ parameters_t p) {
  __shared__ unsigned shared[65];
  begin(p);
  EACH_BLOCK(chunk, p.number[1]) {
    bool flags[FLAGS];
    unsigned ranks[FLAGS];
    ask(p, chunk, flags);
    const unsigned total = rank_flags(flags, shared, ranks);
    if (threadIdx.x == 0) {
      starts_of(p)[chunk] = total;
    }
  }
}

/* One block: counts become beginnings. */
WIDE_KERNEL add_up(const __grid_constant__ parameters_t p) {
  __shared__ i64 shared[32];
  begin(p);
  const i64 total = add_up_before(starts_of(p), p.number[1], shared);
  if (threadIdx.x == 0) {
    ((i64*)p.scratch)[0] = total;
  }
}

#if OP_nonzero
INLINE void write_found(const parameters_t& p, i64 place, i64 rank) {
  i64 rest = place;
#pragma unroll
  for (int k = IN0_RANK - 1; k >= 0; --k) {
    i64 coordinate = rest;
    if (k > 0) {
      rest = divide(rest, p.in[0].dims[k], coordinate);
    }
    OUT0(k * p.out[0].dims[1] + rank, coordinate);
  }
}
INLINE void write_extents(const parameters_t& p) {
  p.extents[0][0] = IN0_RANK;
  p.extents[0][1] = found_of(p);
}
#else
enum { AXIS = A_flat ? 0 : A_axis < 0 ? A_axis + IN0_RANK : A_axis };
INLINE i64* list_of(const parameters_t& p) { return starts_of(p) + p.number[1]; }
INLINE void write_found(const parameters_t& p, i64 at, i64 rank) {
  if (at >= p.number[3]) {
    fail(p, 1, at);
    at = -1;
  }
  list_of(p)[rank] = at;
}
INLINE void write_extents(const parameters_t& p) {
  for (int k = 0; k < OUT0_RANK; ++k) {
    p.extents[0][k] = k == AXIS ? found_of(p) : p.in[0].dims[k];
  }
}
#endif

KERNEL write(const __grid_constant__ parameters_t p) {
  __shared__ unsigned shared[65];
  __shared__ u16 list[CHUNK];
  begin(p);
  if (p.extents[0] != 0 && blockIdx.x == 0 && threadIdx.x == 0) {
    write_extents(p);
  }
  EACH_BLOCK(chunk, p.number[1]) {
    bool flags[FLAGS];
    unsigned ranks[FLAGS];
    ask(p, chunk, flags);
    const unsigned total = rank_flags(flags, shared, ranks);
#pragma unroll
    for (int k = 0; k < FLAGS; ++k) {
      if (flags[k]) {
        list[ranks[k]] = (u16)(k * 256 + threadIdx.x);
      }
    }
    __syncthreads();
    const i64 start = starts_of(p)[chunk];
    EACH_THREAD(k, total) { write_found(p, chunk * CHUNK + list[k], start + k); }
    __syncthreads();
  }
}

#if OP_compress
/* Slices of which each has `inner` pieces of type T beside one another. */
template <class T>
INLINE void copy_slices(const parameters_t& p, i64 inner) {
  const i64 found = found_of(p);
  EACH(i, p.number[2] * found * inner) {
    i64 in_slice = 0;
    i64 rank = 0;
    const i64 outer = divide(divide(i, inner, in_slice), found, rank);
    const i64 at = list_of(p)[rank];
    if (at >= 0) {
      ((T*)p.out[0].data)[(outer * p.out[0].dims[AXIS] + rank) * inner + in_slice] =
          ((const T*)p.in[0].data)[(outer * p.number[3] + at) * inner + in_slice];
    }
  }
}
KERNEL copy(const __grid_constant__ parameters_t p) {
  begin(p);
  const i64 bytes = p.number[4] * (IN0_BITS / 8);
  const u64 all = (u64)p.in[0].data | (u64)p.out[0].data | (u64)bytes;
  if (bytes > 0 && all % 16 == 0) {
    copy_slices<uint4>(p, bytes / 16);
  } else if (bytes > 0 && all % 4 == 0) {
    copy_slices<unsigned>(p, bytes / 4);
  } else {
    copy_slices<IN0_STORED>(p, p.number[4]);
  }
}
#endif
