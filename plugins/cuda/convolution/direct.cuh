/*
 * A window of one pixel: a product of matrices. Nothing but the sums goes through shared memory.
 *
 * A step is 64 bytes of a pixel, 32 channels or 16: a lane has 16 of them, neighbours, as its part of
 * two matrices; which channel is which place of the sum does not matter, as long as the weights are
 * packed so too. Weights of the first steps are in registers before the wait; those of later ones
 * come when their registers are free.
 */
enum { STEP = 4 * PIECE };

INLINE uint4 weights_at(const uint4* weights, const shape_t& s, int tile, int step) {
  if (!EXACT && step >= s.steps) {
    uint4 none;
    none.x = none.y = none.z = none.w = 0;
    return none;
  }
  return load_weights(weights + ((i64)tile * s.steps + step) * 32);
}
/* `from`: a pixel's channels, this lane's first; NULL: it is none. */
INLINE uint4 pixel_at(const element_t* from, const shape_t& s, int lane, int step) {
  uint4 x;
  x.x = x.y = x.z = x.w = 0;
  if (from != 0 && (EXACT || step * STEP + lane % 4 * PIECE < s.channels)) {
    x = load_fresh(from + step * STEP);
  }
  return x;
}

extern "C" __global__ void BOUNDS convolve(const __grid_constant__ parameters_t p) {
  SHARED_BYTES(memory);
  const shape_t& s = p.shape;
  const thread_t t = this_thread();
  const unsigned tile = quotient(s.column_tiles, blockIdx.x);
  const int first = (int)(blockIdx.x - tile * s.column_tiles.extent) * TILE_N;
  const uint4* weights = (const uint4*)s.weights + t.lane;
  const int own = first / 8 + t.along * NT;
  int step = t.part * STEPS;
  uint4 b[STEPS][NT];
#pragma unroll
  for (int k = 0; k < STEPS; ++k) {
#pragma unroll
    for (int n = 0; n < NT; ++n) {
      b[k][n] = weights_at(weights, s, own + n, step + k);
    }
  }
  release_dependents();
  const element_t* from[2 * MT];
#pragma unroll
  for (int i = 0; i < 2 * MT; ++i) {
    from[i] = source_of(s, tile * TILE_M + i * 8 + t.lane / 4, t.lane % 4 * PIECE);
  }
  ending_t ending;
#pragma unroll
  for (int k = 0; k < OWN; ++k) {
    const pixel_t pixel = pixel_of(s, tile * TILE_M + row_of(k));
    begin_ending(p, k, pixel.is_there, pixel.image, pixel.y, pixel.x, first, ending);
  }
  wait_for_predecessors();
  uint4 a[STEPS][2 * MT];
#pragma unroll
  for (int k = 0; k < STEPS; ++k) {
#pragma unroll
    for (int i = 0; i < 2 * MT; ++i) {
      a[k][i] = pixel_at(from[i], s, t.lane, step + k);
    }
  }
  read_all_operands(p, ending);
  float sums[MT][NT][4];
  clear(sums);
#pragma unroll 1
  for (;;) {
    const int next = step + WK * STEPS;
    const bool more = !ONCE && next < s.steps;
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
          multiply(sums[i][n], right, b[k][n].z, b[k][n].w);
        }
      }
      if (more) {
#pragma unroll
        for (int n = 0; n < NT; ++n) {
          b[k][n] = weights_at(weights, s, own + n, next + k);
        }
#pragma unroll
        for (int i = 0; i < 2 * MT; ++i) {
          a[k][i] = pixel_at(from[i], s, t.lane, next + k);
        }
      }
    }
    if (!more) {
      break;
    }
    step = next;
  }
  end_tile(p, t, memory, sums, ending);
}
