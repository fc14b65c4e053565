/*
 * What is found: nonzero, compress. Chunks of 2048 are counted, a block adds up the counts, then each
 * chunk writes. scratch: 4 numbers (how many were found), then where each chunk begins. number: how
 * many are asked, chunks, and for compress x's extents around the axis.
 */
enum { CHUNK = 2048, EACH_OF_CHUNK = CHUNK / 256 };
#if OP_nonzero
#define ASKED(i) (IN0(i) != 0)
#else
#define ASKED(i) (IN1(i) != 0)
#endif
INLINE bool is_found(const parameters_t& p, i64 i) { return i < p.number[0] && ASKED(i); }
INLINE i64* starts_of(const parameters_t& p) { return (i64*)p.scratch + 4; }

/* The sum over the block, and, before it, what stands in front of this thread. */
INLINE int scan_block(int own, int* shared, int* out_before) {
  shared[threadIdx.x] = own;
  __syncthreads();
  for (unsigned distance = 1; distance < blockDim.x; distance *= 2) {
    const int before = threadIdx.x >= distance ? shared[threadIdx.x - distance] : 0;
    __syncthreads();
    shared[threadIdx.x] += before;
    __syncthreads();
  }
  const int total = shared[blockDim.x - 1];
  *out_before = shared[threadIdx.x] - own;
  __syncthreads();
  return total;
}
INLINE int count_own(const parameters_t& p, i64 chunk) {
  int own = 0;
  for (int k = 0; k < EACH_OF_CHUNK; ++k) {
    own += is_found(p, chunk * CHUNK + threadIdx.x * EACH_OF_CHUNK + k) ? 1 : 0;
  }
  return own;
}

KERNEL count(const __grid_constant__ parameters_t p) {
  __shared__ int shared[256];
  begin(p);
  EACH_BLOCK(chunk, p.number[1]) {
    int before = 0;
    const int total = scan_block(count_own(p, chunk), shared, &before);
    if (threadIdx.x == 0) {
      starts_of(p)[chunk] = total;
    }
  }
}

/* One block: counts become beginnings. */
KERNEL add_up(const __grid_constant__ parameters_t p) {
  __shared__ int shared[256];
  begin(p);
  i64 total = 0;
  for (i64 first = 0; first < p.number[1]; first += blockDim.x) {
    const i64 chunk = first + threadIdx.x;
    int before = 0;
    const int own = chunk < p.number[1] ? (int)starts_of(p)[chunk] : 0;
    const int all = scan_block(own, shared, &before);
    if (chunk < p.number[1]) {
      starts_of(p)[chunk] = total + before;
    }
    total += all;
  }
  if (threadIdx.x == 0) {
    ((i64*)p.scratch)[0] = total;
  }
}

#if OP_nonzero
INLINE void write_found(const parameters_t& p, i64 place, i64 rank) {
  i64 rest = place;
  for (int k = IN0_RANK - 1; k >= 0; --k) {
    OUT0(k * p.out[0].dims[1] + rank, rest % p.in[0].dims[k]);
    rest /= p.in[0].dims[k];
  }
}
INLINE void write_extents(const parameters_t& p) {
  p.extents[0][0] = IN0_RANK;
  p.extents[0][1] = ((const i64*)p.scratch)[0];
}
#else
enum { AXIS = A_flat ? 0 : A_axis < 0 ? A_axis + IN0_RANK : A_axis };
INLINE void write_found(const parameters_t& p, i64 at, i64 rank) {
  const i64 inner = p.number[4];
  if (at >= p.number[3]) {
    fail(p, 1, at);
    return;
  }
  for (i64 i = 0; i < p.number[2] * inner; ++i) {
    OUT0((i / inner * p.out[0].dims[AXIS] + rank) * inner + i % inner,
         IN0((i / inner * p.number[3] + at) * inner + i % inner));
  }
}
INLINE void write_extents(const parameters_t& p) {
  for (int k = 0; k < OUT0_RANK; ++k) {
    p.extents[0][k] = k == AXIS ? ((const i64*)p.scratch)[0] : p.in[0].dims[k];
  }
}
#endif

KERNEL write(const __grid_constant__ parameters_t p) {
  __shared__ int shared[256];
  begin(p);
  if (p.extents[0] != 0 && blockIdx.x == 0 && threadIdx.x == 0) {
    write_extents(p);
  }
  EACH_BLOCK(chunk, p.number[1]) {
    int before = 0;
    (void)scan_block(count_own(p, chunk), shared, &before);
    i64 rank = starts_of(p)[chunk] + before;
    for (int k = 0; k < EACH_OF_CHUNK; ++k) {
      const i64 i = chunk * CHUNK + threadIdx.x * EACH_OF_CHUNK + k;
      if (is_found(p, i)) {
        write_found(p, i, rank++);
      }
    }
  }
}
