/*
 * Moves copy boxes of elements between any strides. The kernels follow this source and call its
 * functions for elements of 1, 2, 4, 8 or 16 bytes. One launch copies up to PIECES boxes and
 * divides its blocks among them.
 *
 *   move_boxes  A thread copies up to EACH elements, a block apart, in the order of the result.
 *   move_tiles  The contiguous axes of source and result differ. A block transposes a square of 32
 *               elements in shared memory.
 *   fill_boxes  The kernel writes one element to the whole box.
 *
 * A thread waits for each cache line of parameters. Parameters that it reads sequentially are
 * therefore adjacent.
 */
#define PIECES 16
#define AXES 8
#define THREADS 256
#define EACH 4
#define TILE 32

typedef long long i64;
typedef unsigned long long u64;

struct alignas(16) element16_t {
  u64 low, high;
};

struct move_axis_t {
  unsigned extent;
  unsigned multiplier; /* as in frame.cuh */
  unsigned shift;
  int from_stride;
  int to_stride;
};
struct piece_t {
  const char* from;
  char* to;
  unsigned count; /* elements; of tiles: what is in front of the two axes */
  unsigned each;  /* elements per thread: 1 to EACH */
  int rank;
  move_axis_t axes[AXES];
  unsigned across; /* of tiles: extents along the source's neighbours and the result's */
  unsigned down;
  int across_step; /* in the result, along the source's neighbours */
  int down_step;   /* in the source, along the result's */
  unsigned across_tiles;
  unsigned down_tiles;
};

struct parameters_t {
  unsigned count;
  int release;
  unsigned first_block[PIECES];
  piece_t pieces[PIECES];
};

/* Computes the offsets of EACH elements. RANK is the number of axes, or 0 to use piece.rank. */
template <int RANK>
static __device__ __forceinline__ void walk_axes(const piece_t& piece, const unsigned (&n)[EACH],
                                                 i64 (&from)[EACH], i64 (&to)[EACH]) {
  unsigned rest[EACH];
#pragma unroll
  for (int j = 0; j < EACH; ++j) {
    rest[j] = n[j];
    from[j] = 0;
    to[j] = 0;
  }
#pragma unroll (RANK == 0 ? 1 : RANK)
  for (int k = (RANK == 0 ? piece.rank : RANK) - 1; k > 0; --k) {
    const move_axis_t axis = piece.axes[k];
#pragma unroll
    for (int j = 0; j < EACH; ++j) {
      const unsigned before =
          axis.extent == 1 ? rest[j] : __umulhi(rest[j], axis.multiplier) >> axis.shift;
      const int here = (int)(rest[j] - before * axis.extent);
      rest[j] = before;
      from[j] += (i64)here * axis.from_stride;
      to[j] += (i64)here * axis.to_stride;
    }
  }
#pragma unroll
  for (int j = 0; j < EACH; ++j) {
    from[j] += (i64)(int)rest[j] * piece.axes[0].from_stride;
    to[j] += (i64)(int)rest[j] * piece.axes[0].to_stride;
  }
}
static __device__ __forceinline__ void walk_all(const piece_t& piece, const unsigned (&n)[EACH],
                                                i64 (&from)[EACH], i64 (&to)[EACH]) {
  if (piece.rank == 1) {
    walk_axes<1>(piece, n, from, to);
  } else if (piece.rank == 2) {
    walk_axes<2>(piece, n, from, to);
  } else if (piece.rank == 3) {
    walk_axes<3>(piece, n, from, to);
  } else {
    walk_axes<0>(piece, n, from, to);
  }
}

/* Returns the index of the box that this block works on. */
static __device__ __forceinline__ unsigned find_piece(const parameters_t& p) {
  unsigned k = 0;
#pragma unroll
  for (unsigned n = 1; n < PIECES; ++n) {
    k += n < p.count && blockIdx.x >= p.first_block[n] ? 1 : 0;
  }
  return k;
}

/* Sets n to the indices of a thread's elements. Returns the end of the block's elements. */
static __device__ __forceinline__ unsigned find_elements(const piece_t& piece, unsigned block,
                                                         unsigned (&n)[EACH]) {
  const unsigned first = block * piece.each * THREADS;
#pragma unroll
  for (int j = 0; j < EACH; ++j) {
    n[j] = first + j * THREADS + threadIdx.x;
  }
  const unsigned left = piece.count - first;
  return first + (left < piece.each * THREADS ? left : piece.each * THREADS);
}

template <class T>
static __device__ __forceinline__ void move_boxes(const parameters_t& p) {
  begin(p);
  const unsigned number = find_piece(p);
  const piece_t& piece = p.pieces[number];
  T elements[EACH];
  unsigned n[EACH];
  i64 from[EACH];
  i64 to[EACH];
  const unsigned end = find_elements(piece, blockIdx.x - p.first_block[number], n);
  walk_all(piece, n, from, to);
#pragma unroll
  for (int j = 0; j < EACH; ++j) {
    if (n[j] < end) {
      elements[j] = ((const T*)piece.from)[from[j]];
    }
  }
#pragma unroll
  for (int j = 0; j < EACH; ++j) {
    if (n[j] < end) {
      ((T*)piece.to)[to[j]] = elements[j];
    }
  }
}

template <class T>
static __device__ __forceinline__ void fill_boxes(const parameters_t& p) {
  begin(p);
  const unsigned number = find_piece(p);
  const piece_t& piece = p.pieces[number];
  unsigned n[EACH];
  i64 from[EACH];
  i64 to[EACH];
  const unsigned end = find_elements(piece, blockIdx.x - p.first_block[number], n);
  T element = T();
  if (piece.from != 0) {
    element = *(const T*)piece.from;
  }
  walk_all(piece, n, from, to);
#pragma unroll
  for (int j = 0; j < EACH; ++j) {
    if (n[j] < end) {
      ((T*)piece.to)[to[j]] = element;
    }
  }
}

/* Neighbours are `across` in the source, `down` in the result. */
template <class T>
static __device__ __forceinline__ void move_tiles(const parameters_t& p) {
  __shared__ T tile[TILE][TILE + 1];
  begin(p);
  const unsigned own = find_piece(p);
  const piece_t& piece = p.pieces[own];
  const unsigned block = blockIdx.x - p.first_block[own];
  const unsigned tiles = piece.across_tiles * piece.down_tiles;
  const unsigned in_front = block / tiles;
  const unsigned number = block - in_front * tiles;
  const unsigned across = number % piece.across_tiles * TILE;
  const unsigned down = number / piece.across_tiles * TILE;
  const unsigned lane = threadIdx.x % TILE;
  const unsigned fronts[EACH] = {in_front, in_front, in_front, in_front};
  i64 from[EACH];
  i64 to[EACH];
  walk_all(piece, fronts, from, to);
#pragma unroll
  for (unsigned row = threadIdx.x / TILE; row < TILE; row += THREADS / TILE) {
    if (down + row < piece.down && across + lane < piece.across) {
      tile[row][lane] =
          ((const T*)piece.from)[from[0] + (i64)(down + row) * piece.down_step + across + lane];
    }
  }
  __syncthreads();
#pragma unroll
  for (unsigned row = threadIdx.x / TILE; row < TILE; row += THREADS / TILE) {
    if (across + row < piece.across && down + lane < piece.down) {
      ((T*)piece.to)[to[0] + (i64)(across + row) * piece.across_step + down + lane] = tile[lane][row];
    }
  }
}
