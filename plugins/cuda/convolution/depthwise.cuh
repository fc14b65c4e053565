/*
 * Each channel by itself: no products of matrices, only bytes. A thread has V neighbouring channels
 * of TY x TX pixels; neighbours have the next channels. Weights are in registers before the wait, in
 * f32. The text in front defines KY, KX (the window), SY, SX, DY, DX (its steps and its taps'
 * distance), STORED_X and VALUE_X: the image's type and an element of it as f32.
 */
enum { THREADS = 128, OWN = TY * TX, READ_Y = (TY - 1) * SY + 1, READ_X = (TX - 1) * SX + 1 };

/* One row of the image that the tile's row `ty` reads at tap `ky`. */
INLINE void add_row(const shape_t& s, const STORED_X* x, bool is_inside, int x0,
                    const float (&w)[KX][V], float (&sums)[TX][V]) {
  STORED_X read[READ_X + (KX - 1) * DX][V];
#pragma unroll
  for (int k = 0; k < READ_X + (KX - 1) * DX; ++k) {
    const int column = x0 + k;
    if (is_inside && column >= 0 && column < s.width) {
      fetch(x + column * s.x_column, 1, 1, V, read[k]);
    } else {
#pragma unroll
      for (int j = 0; j < V; ++j) {
        read[k][j] = 0;
      }
    }
  }
#pragma unroll
  for (int tx = 0; tx < TX; ++tx) {
#pragma unroll
    for (int kx = 0; kx < KX; ++kx) {
#pragma unroll
      for (int j = 0; j < V; ++j) {
        sums[tx][j] = __fmaf_rn(VALUE_X(read[tx * SX + kx * DX][j]), w[kx][j], sums[tx][j]);
      }
    }
  }
}

extern "C" __global__ void __launch_bounds__(THREADS) convolve(const __grid_constant__
                                                               parameters_t p) {
  const shape_t& s = p.shape;
  const unsigned number = blockIdx.x * THREADS + threadIdx.x;
  const bool is_live = number < (unsigned)s.pixels;
  const unsigned tile = quotient(s.by_pieces, is_live ? number : 0);
  const int channel = is_live ? (int)(number - tile * s.by_pieces.extent) * V : 0;
  const unsigned row_tile = quotient(s.tiles_x, tile);
  const unsigned image = quotient(s.tiles_y, row_tile);
  const int y0 = (int)(row_tile - image * s.tiles_y.extent) * TY;
  const int x0 = (int)(tile - row_tile * s.tiles_x.extent) * TX;
  float w[KY][KX][V];
#pragma unroll
  for (int ky = 0; ky < KY; ++ky) {
#pragma unroll
    for (int kx = 0; kx < KX; ++kx) {
      fetch((const float*)s.weights + (ky * KX + kx) * s.channels + channel, 1, 1, V, w[ky][kx]);
    }
  }
  float sums[TY][TX][V];
#pragma unroll
  for (int k = 0; k < OWN; ++k) {
#pragma unroll
    for (int j = 0; j < V; ++j) {
#if ADDS_BIAS
      sums[k / TX][k % TX][j] = s.bias[channel + j];
#else
      sums[k / TX][k % TX][j] = 0.0f;
#endif
    }
  }
  place_t at[OWN];
  operands_t operands[OWN];
#pragma unroll
  for (int k = 0; k < OWN; ++k) {
    const int y = y0 + k / TX;
    const int x = x0 + k % TX;
    locate(p, is_live && y < s.rows && x < s.columns, (int)image, channel, y, x, at[k]);
    read_constants(p, at[k], operands[k]);
  }
  wait_for_predecessors();
  release_dependents(); /* earlier, what follows would only be in the way */
  const STORED_X* from = (const STORED_X*)s.x + (int)image * s.x_image + channel;
  const int first = x0 * SX - s.begin_x;
#pragma unroll
  for (int ty = 0; ty < TY; ++ty) {
#pragma unroll
    for (int ky = 0; ky < KY; ++ky) {
      const int row = (y0 + ty) * SY - s.begin_y + ky * DY;
      add_row(s, from + row * s.x_row, is_live && row >= 0 && row < s.height, first, w[ky],
              sums[ty]);
    }
  }
  u64 fault = 0;
#pragma unroll
  for (int k = 0; k < OWN; ++k) {
    read_operands(p, at[k], operands[k]);
    fault = worse(fault, finish(p, at[k], operands[k], sums[k / TX][k % TX]));
  }
  tell(p, fault);
}
