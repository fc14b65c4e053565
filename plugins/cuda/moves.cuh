/*
 * Moves: boxes of elements from anywhere to anywhere. Behind this text stand the kernels that call
 * these functions with elements of 1, 2, 4, 8 or 16 bytes. One launch does up to PIECES boxes, its blocks divided among them.
 *
 * A thread of move_boxes has four elements a block apart, in the order of the result. move_tiles is for
 * boxes whose neighbours lie along one axis in the source and along another in the result: a block
 * turns a square of 32 in shared memory. fill_boxes writes one element everywhere.
 */
#define PIECES 16
#define AXES 8
#define THREADS 256
#define TILE 32

typedef long long i64;
typedef unsigned long long u64;

struct alignas(16) element16_t {
  u64 low, high;
};

struct piece_t {
  const char* from;
  char* to;
  unsigned first_block;
  unsigned count; /* elements; of tiles: what is in front of the two axes */
  int rank;
  unsigned across; /* of tiles: extents along the source's neighbours and the result's */
  unsigned down;
  int across_step; /* in the result, along the source's neighbours */
  int down_step;   /* in the source, along the result's */
  unsigned across_tiles;
  unsigned down_tiles;
  unsigned reserved;
  unsigned extent[AXES];
  unsigned multiplier[AXES]; /* as in frame.cuh */
  unsigned shift[AXES];
  int from_stride[AXES];
  int to_stride[AXES];
};

struct parameters_t {
  unsigned count;
  int release;
  piece_t pieces[PIECES];
};

static __device__ __forceinline__ void walk(const piece_t& piece, unsigned n, i64& from, i64& to) {
  unsigned rest = n;
#pragma unroll 1
  for (int k = piece.rank - 1; k > 0; --k) {
    const unsigned before = piece.extent[k] == 1
                                ? rest
                                : __umulhi(rest, piece.multiplier[k]) >> piece.shift[k];
    const int here = (int)(rest - before * piece.extent[k]);
    rest = before;
    from += (i64)here * piece.from_stride[k];
    to += (i64)here * piece.to_stride[k];
  }
  from += (i64)(int)rest * piece.from_stride[0];
  to += (i64)(int)rest * piece.to_stride[0];
}

static __device__ __forceinline__ const piece_t& piece_of(const parameters_t& p) {
  unsigned k = p.count - 1;
  while (k > 0 && blockIdx.x < p.pieces[k].first_block) {
    --k;
  }
  return p.pieces[k];
}

template <class T>
static __device__ __forceinline__ void move_boxes(const parameters_t& p) {
  begin(p);
  const piece_t& piece = piece_of(p);
  const unsigned first = (blockIdx.x - piece.first_block) * (4 * THREADS) + threadIdx.x;
  T elements[4];
  i64 to[4];
#pragma unroll
  for (int j = 0; j < 4; ++j) {
    const unsigned n = first + j * THREADS;
    i64 from = 0;
    to[j] = 0;
    if (n < piece.count) {
      walk(piece, n, from, to[j]);
      elements[j] = ((const T*)piece.from)[from];
    }
  }
#pragma unroll
  for (int j = 0; j < 4; ++j) {
    if (first + j * THREADS < piece.count) {
      ((T*)piece.to)[to[j]] = elements[j];
    }
  }
}

template <class T>
static __device__ __forceinline__ void fill_boxes(const parameters_t& p) {
  begin(p);
  const piece_t& piece = piece_of(p);
  const unsigned first = (blockIdx.x - piece.first_block) * (4 * THREADS) + threadIdx.x;
  T element = T();
  if (piece.from != 0) {
    element = *(const T*)piece.from;
  }
#pragma unroll
  for (int j = 0; j < 4; ++j) {
    const unsigned n = first + j * THREADS;
    i64 from = 0;
    i64 to = 0;
    if (n < piece.count) {
      walk(piece, n, from, to);
      ((T*)piece.to)[to] = element;
    }
  }
}

/* Neighbours are `across` in the source, `down` in the result. */
template <class T>
static __device__ __forceinline__ void move_tiles(const parameters_t& p) {
  __shared__ T tile[TILE][TILE + 1];
  begin(p);
  const piece_t& piece = piece_of(p);
  const unsigned block = blockIdx.x - piece.first_block;
  const unsigned tiles = piece.across_tiles * piece.down_tiles;
  const unsigned in_front = block / tiles;
  const unsigned number = block - in_front * tiles;
  const unsigned across = number % piece.across_tiles * TILE;
  const unsigned down = number / piece.across_tiles * TILE;
  const unsigned lane = threadIdx.x % TILE;
  i64 from = 0;
  i64 to = 0;
  walk(piece, in_front, from, to);
#pragma unroll
  for (unsigned row = threadIdx.x / TILE; row < TILE; row += THREADS / TILE) {
    if (down + row < piece.down && across + lane < piece.across) {
      tile[row][lane] =
          ((const T*)piece.from)[from + (i64)(down + row) * piece.down_step + across + lane];
    }
  }
  __syncthreads();
#pragma unroll
  for (unsigned row = threadIdx.x / TILE; row < TILE; row += THREADS / TILE) {
    if (across + row < piece.across && down + lane < piece.down) {
      ((T*)piece.to)[to + (i64)(across + row) * piece.across_step + down + lane] = tile[lane][row];
    }
  }
}
