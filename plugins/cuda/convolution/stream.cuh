/*
 * A window of one pixel where there are many pixels and few channels: what they take is bytes and
 * instructions, not products. Each warp is by itself. Its weights, all steps of the sum for TILE_N
 * outputs, come into registers once, before the wait, and stay there while it goes over every so
 * many tiles of TILE_M pixels. The next tile is on its way while the slot's program is computed for
 * this one. Nothing goes through shared memory: weights are packed so that the sums that a lane ends
 * with are V neighbouring outputs, which it stores at once.
 *
 * The text in front defines MT, NT (tiles of 16 pixels and of 8 outputs), STEPS (the whole sum; each
 * as in direct.cuh), EXACT (1: the last is whole), WARPS (of a block), BLOCKS (of a multiprocessor,
 * at once), ADDS_BIAS, and what the slot does: operands_t, read_constants, read_common,
 * read_operands, finish.
 */
enum {
  STEP = 4 * PIECE,
  TILE_M = 16 * MT,
  TILE_N = 8 * NT,
  RUNS = TILE_N / (4 * V), /* of V outputs that a lane has of a pixel */
  ROWS = 2 * MT,           /* pixels of a lane, 8 from one to the next */
  THREADS = 32 * WARPS
};

/* What is not there stays as it is: 0 of channels, what nobody stores of pixels. */
INLINE void read_tile(const shape_t& s, int pixel, int channel, uint4 (&a)[STEPS][ROWS]) {
#pragma unroll
  for (int i = 0; i < ROWS; ++i) {
    const int number = pixel + 8 * i;
    const element_t* from = (const element_t*)s.x + (i64)number * s.channels + channel;
#pragma unroll
    for (int k = 0; k < STEPS; ++k) {
      const bool is_whole = EXACT || k + 1 < STEPS;
      load_fresh_where(number < s.pixels && (is_whole || k * STEP + channel < s.channels),
                       from + k * STEP, a[k][i]);
    }
  }
}

INLINE void multiply_tile(const uint4 (&a)[STEPS][ROWS], const uint4 (&b)[STEPS][NT],
                          float (&sums)[MT][NT][4]) {
#pragma unroll
  for (int k = 0; k < STEPS; ++k) {
#pragma unroll
    for (int i = 0; i < MT; ++i) {
      const uint4 upper = a[k][2 * i];
      const uint4 lower = a[k][2 * i + 1];
      const unsigned left[4] = {multiplied(upper.x), multiplied(lower.x), multiplied(upper.y),
                                multiplied(lower.y)};
      const unsigned right[4] = {multiplied(upper.z), multiplied(lower.z), multiplied(upper.w),
                                 multiplied(lower.w)};
#pragma unroll
      for (int n = 0; n < NT; ++n) {
        multiply(sums[i][n], left, b[k][n].x, b[k][n].y);
      }
#pragma unroll
      for (int n = 0; n < NT; ++n) {
        multiply(sums[i][n], right, b[k][n].z, b[k][n].w);
      }
    }
  }
}

extern "C" __global__ void __launch_bounds__(THREADS, BLOCKS)
    convolve(const __grid_constant__ parameters_t p) {
  const shape_t& s = p.shape;
  const int lane = threadIdx.x & 31;
  const unsigned warp = blockIdx.x * WARPS + (threadIdx.x >> 5);
  const int first = (int)quotient(s.column_tiles, warp); /* of the pixels' tiles */
  const int group = (int)(warp - first * s.column_tiles.extent);
  if (first >= s.warps) {
    return; /* of the last block */
  }
  const int output = group * TILE_N + lane % 4 * V;
  const uint4* weights = (const uint4*)s.weights + lane;
  uint4 b[STEPS][NT];
#pragma unroll
  for (int n = 0; n < NT; ++n) {
#pragma unroll
    for (int k = 0; k < STEPS; ++k) {
      b[k][n] = load_weights(weights + ((i64)(group * NT + n) * STEPS + k) * 32);
    }
  }
  /* The sums begin with the bias. */
  float bias[RUNS][V];
  operands_t common[RUNS];
#pragma unroll
  for (int r = 0; r < RUNS; ++r) {
    const int c = output + r * 4 * V;
#pragma unroll
    for (int j = 0; j < V; ++j) {
#if ADDS_BIAS
      bias[r][j] = s.bias[c + j];
#else
      bias[r][j] = 0.0f;
#endif
    }
    read_constants(p, place_of(p, 0, c < s.outputs ? c : 0), common[r]);
  }
  uint4 a[STEPS][ROWS];
#pragma unroll
  for (int k = 0; k < STEPS; ++k) {
#pragma unroll
    for (int i = 0; i < ROWS; ++i) {
      a[k][i].x = a[k][i].y = a[k][i].z = a[k][i].w = 0;
    }
  }
  release_dependents();
  wait_for_predecessors();
  int pixel = first * TILE_M + lane / 4;
  read_tile(s, pixel, lane % 4 * PIECE, a);
#pragma unroll
  for (int r = 0; r < RUNS; ++r) {
    const int c = output + r * 4 * V;
    read_common(p, place_of(p, 0, c < s.outputs ? c : 0), common[r]);
  }
#pragma unroll 1
  for (int tile = first; tile * TILE_M < s.pixels; tile += s.warps) {
    operands_t operands[ROWS][RUNS];
#pragma unroll
    for (int i = 0; i < ROWS; ++i) {
#pragma unroll
      for (int r = 0; r < RUNS; ++r) {
        const int c = output + r * 4 * V;
        operands[i][r] = common[r];
        if (pixel + 8 * i < s.pixels && c < s.outputs) {
          read_operands(p, place_of(p, pixel + 8 * i, c), operands[i][r]);
        }
      }
    }
    float sums[MT][NT][4];
#pragma unroll
    for (int k = 0; k < MT * NT * 4; ++k) {
      const int n = k / 4 % NT;
      sums[k / (4 * NT)][n][k % 4] = bias[n / (V / 2)][n % (V / 2) * 2 + k % 2];
    }
    multiply_tile(a, b, sums);
    read_tile(s, pixel + s.warps * TILE_M, lane % 4 * PIECE, a);
    u64 fault = 0;
#pragma unroll
    for (int i = 0; i < ROWS; ++i) {
#pragma unroll
      for (int r = 0; r < RUNS; ++r) {
        const int c = output + r * 4 * V;
        if (pixel + 8 * i < s.pixels && c < s.outputs) {
          float own[V];
#pragma unroll
          for (int j = 0; j < V; ++j) {
            own[j] = sums[i / 2][r * (V / 2) + j / 2][i % 2 * 2 + j % 2];
          }
          const place_t at = place_of(p, pixel + 8 * i, c);
          fault = worse(fault, finish(p, at, operands[i][r], own));
        }
      }
    }
    tell(p, fault);
    pixel += s.warps * TILE_M;
  }
}
