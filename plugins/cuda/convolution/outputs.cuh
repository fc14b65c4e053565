/*
 * Functions that warpgroup.cuh and repeated.cuh share: copies of a tile's weights, products of a chunk,
 * and results of the sums. Follows single.cuh if the window has one pixel, else window.cuh. The source
 * before this file defines the constants that warpgroup.cuh lists.
 */
enum {
  TILE_N = 8 * NT,
  OWN = NT / SPLIT,         /* tiles of 8 outputs that a block finishes */
  TILES = V / 2,            /* tiles with V adjacent outputs of a lane */
  RUNS = OWN / TILES,       /* groups of V outputs that a lane finishes for a pixel */
  WEIGHTS_AT = GROUP_BYTES  /* after the barrier */
};

/* Copies the weights in pieces of 16 bytes. They are packed by tile, then by step. Steps and
 * outputs that do not exist become 0. */
INLINE void copy_weights(const shape_t& s, shared_t to, int first, int part) {
  enum { PIECES = GROUP_BYTES / 16, ALL = STEPS * NT * PIECES };
  const char* from = s.weights + (i64)(first / 8) * s.steps * GROUP_BYTES;
#pragma unroll
  for (int k = 0; k < (ALL + THREADS - 1) / THREADS; ++k) {
    const int piece = k * THREADS + (int)threadIdx.x;
    if (ALL % THREADS != 0 && piece >= ALL) {
      continue;
    }
    const int tile = piece / PIECES % NT;
    const int step = part * STEPS + piece / PIECES / NT;
    const bool is_there = step < s.steps && first + tile / 2 * 16 < s.outputs;
    const i64 at = ((i64)tile * s.steps + step) * GROUP_BYTES + piece % PIECES * 16;
    copy_16(to + piece * 16, from + (is_there ? at : 0), is_there ? 16 : 0);
  }
}

/* Adds the products of a chunk, of all taps. */
INLINE void multiply_chunk(const shape_t& s, shared_t weights, shared_t pixels,
                           float (&sums)[NT][4]) {
  begin_products();
#pragma unroll
  for (int tap = 0; tap < TAPS; ++tap) {
    const shared_t at = pixels + tap_at(s, tap);
#pragma unroll
    for (int k = 0; k < PRODUCTS; ++k) {
      multiply_operands(sums, operand_at(at + k * PRODUCT_BYTES),
                        operand_at(weights + tap * STEP_BYTES + k * PRODUCT_BYTES));
    }
  }
  end_products();
}

/* The outputs that a lane computes: RUNS groups in each of two rows, their operands and their bias. */
struct results_t {
  place_t at[2][RUNS];
  operands_t operands[2][RUNS];
#if ADDS_BIAS
  float bias[RUNS][V];
#endif
};

/* `first` is the first output of the tile. The block computes OWN groups of 8 outputs of it, from group
 * `tile` on. */
INLINE void begin_results(const parameters_t& p, const origin_t& origin, int first, int tile,
                          results_t& r) {
  const int lane = (int)threadIdx.x % 32;
#pragma unroll
  for (int k = 0; k < 2 * RUNS; ++k) {
    const int half = k / RUNS;
    const int run = k % RUNS;
    const int row = (int)threadIdx.x / 32 * 16 + lane / 4 + half * 8;
    const int tile_n = tile + run * TILES;
    const int output = first + tile_n / 2 * 16 + lane % 4 * 4 + tile_n % 2 * 2;
    const pixel_t pixel = result_of(p.shape, origin, row);
    locate(p, pixel.is_there, pixel.image, output, pixel.y, pixel.x, r.at[half][run]);
    read_constants(p, r.at[half][run], r.operands[half][run]);
#if ADDS_BIAS
    fetch(p.shape.bias + (output < p.shape.outputs ? output : 0), 1, 1, V, r.bias[run]);
#endif
  }
}
INLINE void read_results(const parameters_t& p, results_t& r) {
#pragma unroll
  for (int k = 0; k < 2 * RUNS; ++k) {
    read_operands(p, r.at[k / RUNS][k % RUNS], r.operands[k / RUNS][k % RUNS]);
  }
}
INLINE void finish_results(const parameters_t& p, const results_t& r, const float (&own)[OWN][4]) {
  u64 fault = 0;
#pragma unroll
  for (int k = 0; k < 2 * RUNS; ++k) {
    const int half = k / RUNS;
    const int run = k % RUNS;
    float sum[V];
#pragma unroll
    for (int j = 0; j < V; ++j) {
      sum[j] = own[TILES * run + j / 2][2 * half + j % 2];
#if ADDS_BIAS
      sum[j] += r.bias[run][j];
#endif
    }
    fault = worse(fault, finish(p, r.at[half][run], r.operands[half][run], sum));
  }
  tell(p, fault);
}
