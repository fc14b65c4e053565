/*
 * A normalisation in front of a product by warpgroups (warpgroup.cuh). A block has its part of the
 * channels of its rows in shared memory, so it computes their mean and deviation itself, while the
 * products run. The product multiplies the rows as they are, by weights that contain the scale. The
 * mean, the deviation and the bias are applied to the sums.
 *
 * Tensor cores add up a row's elements, and the squares of their differences to a number near the mean,
 * in f32. Moments of the blocks that share the sum are then merged by the formula of Chan, Golub and
 * LeVeque. So the squares that are subtracted from one another are of the size of the variance.
 *
 * The source before this file defines:
 *   NORM      1 if the rows are normalised. All functions are empty otherwise.
 *   CENTRED   1 if the mean is subtracted
 *   EPSILON   is added to the variance
 *   SHOWN     1 if the normalised rows are stored too
 */
#if NORM
#define SHIFTS (CENTRED && !BRAIN)
enum {
  MOMENT_ROWS = 4,                   /* of a thread */
  PARTIAL_BYTES = 16 * 64 * GROUPS   /* of one block of the sum */
};

INLINE float widened(element_t x) { return BRAIN ? value_bf16((u16)x) : value_f16((u16)x); }

/* Count of elements, their mean, and the sum of squares of their distances to it. */
struct moment_t {
  float count;
  float mean;
  float squares;
};
INLINE moment_t merged(const moment_t& a, const moment_t& b) {
  moment_t both;
  both.count = a.count + b.count;
  const float share = both.count > 0.0f ? __fdividef(b.count, both.count) : 0.0f;
  const float apart = b.mean - a.mean;
  both.mean = a.mean + apart * share;
  both.squares = a.squares + b.squares + apart * apart * (a.count * share);
  return both;
}

/* Of the channels of the block's part, of 16 rows of each warp. Products of 16 x 16 elements with ones
 * are sums of rows. Products with the same elements transposed have the squares of a row on their
 * diagonal. */
struct moments_t {
  const unsigned char* from; /* of the first step: the piece that the thread copied */
  shared_t matrices;         /* of the first step: the row that the lane names for ldmatrix */
  int channels;              /* of the block's part; negative if there are none */
  unsigned shifts[2];        /* of rows lane / 4 and + 8, in both halves */
  float sums[4];
  float low[4]; /* rows 0 to 7 */
  float high[4];
};

INLINE void begin_moments(const shape_t& s, const unsigned char* memory, shared_t pixels, int part,
                          moments_t& m) {
  const int lane = (int)threadIdx.x % 32;
  const int warp_row = (int)threadIdx.x / 32 * 16;
  const int row = warp_row + lane % 16;
  m.from = memory + (int)threadIdx.x / 8 * ROW_BYTES +
           place_in_row((int)threadIdx.x / 8, (int)threadIdx.x % 8);
  m.matrices = pixels + row * ROW_BYTES;
  m.channels = s.channels - part * STEPS * 8 * PIECE;
  m.shifts[0] = m.shifts[1] = 0;
#pragma unroll
  for (int k = 0; k < 4; ++k) {
    m.sums[k] = m.low[k] = m.high[k] = 0.0f;
  }
}

/* Adds the elements of step K. SHIFTS: squares are those of differences to the mean of the first step,
 * so that they are of the size of the variance, and a row of equal elements has none. Differences are
 * rounded to f16; bf16 would round them too much. Pieces that do not exist are zeros, from which
 * nothing is subtracted. */
template <int K>
INLINE void add_moments(moments_t& m) {
  const unsigned ones = BRAIN ? 0x3F803F80u : 0x3C003C00u;
  const int lane = (int)threadIdx.x % 32;
  unsigned x[4][4];
#pragma unroll
  for (int k = 0; k < 4; ++k) {
    load_matrices(x[k], m.matrices + K * TILE_M * ROW_BYTES +
                            place_in_row(lane % 8, 2 * k + lane / 16));
    multiply_fragments(m.sums, x[k], ones, ones);
  }
  if (K == 0 && SHIFTS) {
    const int count = m.channels < 8 * PIECE ? m.channels : 8 * PIECE;
    const float share = count > 0 ? __fdividef(1.0f, (float)count) : 0.0f;
    m.shifts[0] = narrow_pair(m.sums[0] * share, m.sums[0] * share);
    m.shifts[1] = narrow_pair(m.sums[2] * share, m.sums[2] * share);
  }
#pragma unroll
  for (int k = 0; k < 4; ++k) {
#pragma unroll
    for (int j = 0; j < 4; ++j) {
      const bool is_there = EXACT || (K * 8 + 2 * k + j / 2) * PIECE < m.channels;
      if (SHIFTS) {
        x[k][j] = is_there ? differences(x[k][j], m.shifts[j % 2]) : 0;
      }
    }
    multiply_fragments(m.low, x[k], x[k][0], x[k][2]);
    multiply_fragments(m.high, x[k], x[k][1], x[k][3]);
  }
}

/* Stores the moments of a row for each block of the sum: at `at` in the calling block (`own`) and in
 * the others, whose barriers are at `base`. */
INLINE void close_moments(const moments_t& m, unsigned char* own, shared_t base, shared_t at,
                          int part) {
  enum { MOST = STEPS * 8 * PIECE };
  const int lane = (int)threadIdx.x % 32;
  const int row = lane / 4;
  const int channels = m.channels < 0 ? 0 : m.channels < MOST ? m.channels : MOST;
  const float count = (float)channels;
  /* The diagonal: of row r, lane r / 2 of the four that have it. */
  const int has_it = (lane & ~3) | row / 2;
  const float low = __shfl_sync(~0u, row % 2 == 0 ? m.low[0] : m.low[1], has_it);
  const float high = __shfl_sync(~0u, row % 2 == 0 ? m.high[2] : m.high[3], has_it);
  if (lane % 4 < 2) {
    const int half = lane % 4;
    const float sum = half == 0 ? m.sums[0] : m.sums[2];
    const float squares = half == 0 ? low : high;
    const float shift = widened((element_t)((half == 0 ? m.shifts[0] : m.shifts[1]) & 0xFFFF));
    const float mean = count > 0.0f ? __fdividef(sum, count) : 0.0f;
    const float away = mean - shift;
    const float stored[4] = {count, mean, fmaxf(squares - count * away * away, 0.0f), 0.0f};
    const int place =
        part * PARTIAL_BYTES + ((int)threadIdx.x / 32 * 16 + row + half * 8) * 16;
    const float4 same = {stored[0], stored[1], stored[2], stored[3]};
    *(float4*)(own + place) = same;
#pragma unroll
    for (int to = 0; to < SPLIT; ++to) {
      if (to != part) {
        push(there(at + place, to), there(base, to), stored);
      }
    }
  }
}

/* The mean and 1 / deviation of a row of the block. The moments of all blocks are there. */
struct normal_t {
  float mean;
  float scale;
};
INLINE normal_t normal_of(const unsigned char* partials, int row) {
  moment_t all = {0.0f, 0.0f, 0.0f};
#pragma unroll
  for (int part = 0; part < SPLIT; ++part) {
    const float4 x = *(const float4*)(partials + part * PARTIAL_BYTES + row * 16);
    const moment_t one = {x.x, x.y, x.z};
    all = part == 0 ? one : merged(all, one);
  }
  const float variance = __fdividef(all.squares, all.count) + (CENTRED ? 0.0f : all.mean * all.mean);
  normal_t n;
  n.mean = CENTRED ? all.mean : 0.0f;
  n.scale = rsqrtf(variance + EPSILON);
  return n;
}

/* Stores normalised rows. The blocks of the column tiles divide the steps of their part among them.
 * Behind the sums of weights are scale and bias of each channel, both up to whole tiles. `rows` has
 * the thread's rows in x, NULL for those that do not exist. */
INLINE void show_rows(const shape_t& s, const unsigned char* partials, const moments_t& m, int part,
                      int column_tile, const element_t* const (&rows)[MOMENT_ROWS]) {
  const int padded = (s.channels + 63) / 64 * 64;
  const float* scales = s.bias + (s.outputs + 63) / 64 * 64 * 2;
  const int tiles = (int)s.column_tiles.extent;
  for (int k = column_tile; k < STEPS && (k * 8 + (int)threadIdx.x % 8) * PIECE < m.channels; k += tiles) {
    const int step = part * STEPS + k;
    const int channel = (step * 8 + (int)threadIdx.x % 8) * PIECE;
    float scale[PIECE];
    float bias[PIECE];
    fetch(scales + channel, 1, 1, PIECE, scale);
    fetch(scales + padded + channel, 1, 1, PIECE, bias);
#pragma unroll
    for (int i = 0; i < MOMENT_ROWS; ++i) {
      const normal_t n = normal_of(partials, (int)threadIdx.x / 8 + i * (16 * GROUPS));
      words_t<element_t, PIECE> read;
      read.words[0] = *(const uint4*)(m.from + (k * MOMENT_ROWS + i) * (16 * GROUPS) * ROW_BYTES);
      float x[PIECE];
#pragma unroll
      for (int j = 0; j < PIECE; ++j) {
        x[j] = (widened(read.elements[j]) - n.mean) * n.scale * scale[j] + bias[j];
      }
      const uint4 narrow = {narrow_pair(x[0], x[1]), narrow_pair(x[2], x[3]),
                            narrow_pair(x[4], x[5]), narrow_pair(x[6], x[7])};
      if (rows[i] != 0) {
        element_t* to = (element_t*)s.shown + (rows[i] - (const element_t*)s.x);
        *(uint4*)(to + step * 8 * PIECE) = narrow;
      }
    }
  }
}
#else
enum { PARTIAL_BYTES = 0 };
struct moments_t {};
INLINE void begin_moments(const shape_t&, const unsigned char*, shared_t, int, moments_t&) {}
template <int K>
INLINE void add_moments(moments_t&) {}
INLINE void close_moments(const moments_t&, unsigned char*, shared_t, shared_t, int) {}
#endif
