/*
 * Each channel by itself: no products of matrices, only bytes. A thread has V neighbouring channels
 * of TY x TX pixels; neighbours have the next channels. Weights are in registers before the wait, in
 * f32. Each row of the image that the tile reads is read and widened once, for all of the tile's
 * rows that have it in their windows, while the next one is on its way; a row of the tile is done
 * as soon as its last one was added, so the sums of few are kept. The text in front defines KY, KX (the window), SY, SX, DY, DX
 * (its steps and its taps' distance), STORED_X and VALUE_X: the image's type and an element of it as
 * f32.
 */
enum {
  THREADS = 128,
  OWN = TY * TX,
  READ_Y = (TY - 1) * SY + (KY - 1) * DY + 1,
  READ_X = (TX - 1) * SX + (KX - 1) * DX + 1
};

/* A row or a column of the image: which, and which bits of it count. Outside of the image it is the
 * first, and none do: so all is read at once, without a branch. */
struct line_t {
  int offset; /* elements from the first */
  unsigned mask;
};

INLINE line_t line_at(int number, int count, int step) {
  const bool is_inside = number >= 0 && number < count;
  return {(is_inside ? number : 0) * step, is_inside ? ~0u : 0u};
}

INLINE unsigned masked(unsigned word, unsigned a, unsigned b) { return word & a & b; }
INLINE uint2 masked(uint2 word, unsigned a, unsigned b) {
  word.x = masked(word.x, a, b);
  word.y = masked(word.y, a, b);
  return word;
}
INLINE uint4 masked(uint4 word, unsigned a, unsigned b) {
  word.x = masked(word.x, a, b);
  word.y = masked(word.y, a, b);
  word.z = masked(word.z, a, b);
  word.w = masked(word.w, a, b);
  return word;
}

typedef words_t<STORED_X, V> read_t;
typedef typename word_t<read_t::WORD>::type word;

INLINE void read_row(const STORED_X* row, const line_t (&columns)[READ_X],
                     read_t (&out)[READ_X]) {
#pragma unroll
  for (int k = 0; k < READ_X; ++k) {
    const word* from = (const word*)(row + columns[k].offset);
#pragma unroll
    for (int n = 0; n < read_t::BYTES / read_t::WORD; ++n) {
      out[k].words[n] = from[n];
    }
  }
}

/* What row `r` of those that the tile reads adds to each of the tile's rows. */
INLINE void add_row(const read_t (&read)[READ_X], unsigned row_mask, int r,
                    const line_t (&columns)[READ_X], const float (&w)[KY][KX][V],
                    float (&sums)[TY][TX][V]) {
  float x[READ_X][V];
#pragma unroll
  for (int k = 0; k < READ_X; ++k) {
    read_t kept;
#pragma unroll
    for (int n = 0; n < read_t::BYTES / read_t::WORD; ++n) {
      kept.words[n] = (word)masked(read[k].words[n], row_mask, columns[k].mask);
    }
#pragma unroll
    for (int j = 0; j < V; ++j) {
      x[k][j] = VALUE_X(kept.elements[j]);
    }
  }
#pragma unroll
  for (int ty = 0; ty < TY; ++ty) {
    const int tap = r - ty * SY;
    const int ky = tap / DY;
    if (tap < 0 || tap % DY != 0 || ky >= KY) {
      continue;
    }
#pragma unroll
    for (int tx = 0; tx < TX; ++tx) {
#pragma unroll
      for (int kx = 0; kx < KX; ++kx) {
#pragma unroll
        for (int j = 0; j < V; ++j) {
          sums[ty][tx][j] = __fmaf_rn(x[tx * SX + kx * DX][j], w[ky][kx][j], sums[ty][tx][j]);
        }
      }
    }
  }
}

/* A row of the tile, whose sums are there. */
INLINE u64 end_row(const parameters_t& p, bool is_live, int image, int y, int x0, int channel,
                   const float (&sums)[TX][V]) {
  u64 fault = 0;
#pragma unroll
  for (int tx = 0; tx < TX; ++tx) {
    place_t at;
    operands_t operands;
    locate(p, is_live && y < p.shape.rows && x0 + tx < p.shape.columns, image, channel, y, x0 + tx,
           at);
    read_constants(p, at, operands);
    read_operands(p, at, operands);
    fault = worse(fault, finish(p, at, operands, sums[tx]));
  }
  return fault;
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
  float bias[V] = {};
#if ADDS_BIAS
  fetch(s.bias + channel, 1, 1, V, bias);
#endif
  line_t columns[READ_X];
#pragma unroll
  for (int k = 0; k < READ_X; ++k) {
    columns[k] = line_at(x0 * SX - s.begin_x + k, s.width, s.x_column);
  }
  wait_for_predecessors();
  release_dependents(); /* earlier, what follows would only be in the way */
  /* Of an image without pixels none is read: what is there instead counts for nothing. */
  const STORED_X* from = s.height == 0 || s.width == 0
                             ? (const STORED_X*)s.weights
                             : (const STORED_X*)s.x + (int)image * s.x_image + channel;
  const int height = is_live ? s.height : 0;
  line_t next = line_at(y0 * SY - s.begin_y, height, s.x_row);
  read_t ahead[READ_X];
  read_row(from + next.offset, columns, ahead);
  float sums[TY][TX][V];
  u64 fault = 0;
#pragma unroll
  for (int r = 0; r < READ_Y; ++r) {
    const unsigned mask = next.mask;
    read_t read[READ_X];
#pragma unroll
    for (int k = 0; k < READ_X; ++k) {
      read[k] = ahead[k];
    }
    if (r + 1 < READ_Y) {
      next = line_at(y0 * SY - s.begin_y + r + 1, height, s.x_row);
      read_row(from + next.offset, columns, ahead);
    }
    if (r % SY == 0 && r / SY < TY) {
#pragma unroll
      for (int k = 0; k < TX * V; ++k) {
        sums[r / SY][k / V][k % V] = bias[k % V];
      }
    }
    add_row(read, mask, r, columns, w, sums);
    const int ended = r - (KY - 1) * DY;
    if (ended >= 0 && ended % SY == 0 && ended / SY < TY) {
      const int ty = ended / SY;
      fault = worse(fault, end_row(p, is_live, (int)image, y0 + ty, x0, channel, sums[ty]));
    }
  }
  tell(p, fault);
}
