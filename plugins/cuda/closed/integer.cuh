/*
 * Products of bytes, summed in i32, by the units for matrices: mat_mul_integer,
 * convolution_integer. A block makes 64 rows and COLUMNS columns, of DEEP terms at a time: bytes
 * are loaded while the ones of two steps before are multiplied. Zero points are taken off in the
 * end,
 *
 *   sum (a - u)(b - v) = sum a b - v sum a - u sum b + terms u v,
 *
 * where sums of a row of a and of a column of b are products with ones. All wraps.
 *
 * mat_mul_integer: a is the left matrix. number as in matrices.cuh.
 * convolution_integer: a are the weights, a row for each channel of y; a column of b is the window
 * of a pixel; padding is x's zero point. number as in windows.cuh; 24: tiles.
 */
#if OP_mat_mul_integer
enum { COLUMNS = 64 };
#define LEFT_IS_SIGNED IN0_i8
#define RIGHT_IS_SIGNED IN1_i8
typedef IN0_STORED left_byte_t;
typedef IN1_STORED right_byte_t;
#define HAS_LEFT_ZERO HAS_IN2
#define HAS_RIGHT_ZERO HAS_IN3
#else
enum { COLUMNS = 32 };
#define LEFT_IS_SIGNED IN1_i8
#define RIGHT_IS_SIGNED IN0_i8
typedef IN1_STORED left_byte_t;
typedef IN0_STORED right_byte_t;
#define HAS_LEFT_ZERO HAS_IN3
#define HAS_RIGHT_ZERO HAS_IN2
#endif
#if LEFT_IS_SIGNED
#define LEFT_TYPE "s8"
#else
#define LEFT_TYPE "u8"
#endif
#if RIGHT_IS_SIGNED
#define RIGHT_TYPE "s8"
#else
#define RIGHT_TYPE "u8"
#endif
enum {
  TILE = 64,
  DEEP = 64,
  AHEAD = COLUMNS == 64 ? 4 : 2, /* windows take more registers */
  WORDS = DEEP / 4,
  PITCH = WORDS + 4,
  OWN = COLUMNS * WORDS / 256,
  STRIPS = COLUMNS / 16
};

/* c += a * b of 16 x 32 and 32 x 8 bytes. */
INLINE void multiply_bytes(int (&c)[4], const unsigned (&a)[4], unsigned b0, unsigned b1) {
#if !defined(STAND_IN) && __CUDA_ARCH__ >= 800
  asm("mma.sync.aligned.m16n8k32.row.col.s32." LEFT_TYPE "." RIGHT_TYPE
      ".s32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, "
      "{%8, %9}, {%0, %1, %2, %3};"
      : "+r"(c[0]), "+r"(c[1]), "+r"(c[2]), "+r"(c[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
#else
  const int lane = (int)threadIdx.x % 32;
#pragma unroll
  for (int k = 0; k < 8; ++k) {
    for (int e = 0; e < 4; ++e) {
      const unsigned left = __shfl_sync(0xFFFFFFFFu, a[k / 4 * 2 + e / 2], lane / 4 * 4 + k % 4);
      const unsigned right =
          __shfl_sync(0xFFFFFFFFu, k / 4 == 0 ? b0 : b1, (lane % 4 * 2 + e % 2) * 4 + k % 4);
      for (int byte = 0; byte < 32; byte += 8) {
        c[e] += (int)(left_byte_t)(left >> byte) * (int)(right_byte_t)(right >> byte);
      }
    }
  }
#endif
}

struct bytes_t {
  unsigned left[2][TILE][PITCH];     /* rows of words of four terms */
  unsigned right[2][COLUMNS][PITCH]; /* columns likewise */
};
/* Of a thread: 16 bytes of a row; words of rows of b, or bytes of windows. All as they were read:
 * what is made of them waits for them. */
#if OP_mat_mul_integer
typedef unsigned right_t[OWN];
#else
typedef u8 right_t[OWN][4];
#endif
struct loaded_t {
  unsigned left[4];
  right_t right;
};
/* Four bytes of a row from `at` on, zeros past the `count` that are there. */
INLINE unsigned word_of(const u8* row, i64 at, i64 count) {
  unsigned word = 0;
  for (int k = 0; k < 4; ++k) {
    word |= at + k < count ? (unsigned)row[at + k] << 8 * k : 0u;
  }
  return word;
}
/* Four words of `row`; NULL: there is none. `is_whole`: rows are multiples of 16 bytes. */
INLINE void load_row(const u8* row, i64 first, i64 terms, bool is_whole, unsigned (&out)[4]) {
  const i64 at = first + threadIdx.x % 4 * 16;
  if (is_whole) {
    const bool is_there = row != 0 && at < terms;
    const several_t<unsigned, 4> piece =
        is_there ? *(const several_t<unsigned, 4>*)(row + at) : several_t<unsigned, 4>{};
    for (int k = 0; k < 4; ++k) {
      out[k] = piece.item[k];
    }
    return;
  }
  for (int k = 0; k < 4; ++k) {
    out[k] = row == 0 ? 0u : word_of(row, at + 4 * k, terms);
  }
}
INLINE void keep_row(bytes_t& bytes, int now, const loaded_t& loaded) {
  *(several_t<unsigned, 4>*)&bytes.left[now][threadIdx.x / 4][threadIdx.x % 4 * 4] =
      several_t<unsigned, 4>{{loaded.left[0], loaded.left[1], loaded.left[2], loaded.left[3]}};
}

/* A lane's elements: rows lane / 4 and 8 below, columns 2 (lane % 4) and the next of each strip. */
struct sums_t {
  int products[STRIPS][4];
  int of_row[4];
  int of_column[STRIPS][4];
};
INLINE void multiply_kept(const bytes_t& bytes, int now, sums_t& sums) {
  const unsigned ones = 0x01010101u;
  const unsigned all_ones[4] = {ones, ones, ones, ones};
  const int warp = (int)threadIdx.x / 32;
  const int row = warp % 4 * 16 + (int)threadIdx.x % 32 / 4;
  const int column = warp / 4 * (COLUMNS / 2) + (int)threadIdx.x % 32 / 4;
  const int word = (int)threadIdx.x % 4;
#pragma unroll
  for (int k = 0; k < WORDS; k += 8) {
    const unsigned a[4] = {bytes.left[now][row][k + word], bytes.left[now][row + 8][k + word],
                           bytes.left[now][row][k + 4 + word],
                           bytes.left[now][row + 8][k + 4 + word]};
#if HAS_RIGHT_ZERO
    multiply_bytes(sums.of_row, a, ones, ones);
#endif
#pragma unroll
    for (int s = 0; s < STRIPS; ++s) {
      const unsigned b0 = bytes.right[now][column + 8 * s][k + word];
      const unsigned b1 = bytes.right[now][column + 8 * s][k + 4 + word];
      multiply_bytes(sums.products[s], a, b0, b1);
#if HAS_LEFT_ZERO
      multiply_bytes(sums.of_column[s], all_ones, b0, b1);
#endif
    }
  }
}
/* `load` reads terms from one on, `keep` stores the columns' ones, `zero_of` is the zero point of a
 * row (0) or column (1), `put` stores an element. Rows and columns are those that the tile has. */
template <class L, class K, class Z, class P>
INLINE void multiply_tile(bytes_t& bytes, i64 terms, i64 rows, i64 columns, L load, K keep,
                          Z zero_of, P put) {
  sums_t sums = {};
  loaded_t loaded[AHEAD];
#pragma unroll
  for (int k = 0; k < AHEAD; ++k) {
    load((i64)k * DEEP, loaded[k]);
  }
  for (i64 first = 0; first < terms; first += AHEAD * DEEP) {
#pragma unroll
    for (int k = 0; k < AHEAD; ++k) {
      const i64 own = first + k * DEEP;
      if (own < terms) {
        keep_row(bytes, k % 2, loaded[k]);
        keep(k % 2, loaded[k]);
        __syncthreads();
        if (own + AHEAD * DEEP < terms) {
          load(own + AHEAD * DEEP, loaded[k]);
        }
        multiply_kept(bytes, k % 2, sums);
      }
    }
  }
  const int warp = (int)threadIdx.x / 32;
  const int lane = (int)threadIdx.x % 32;
#pragma unroll
  for (int e = 0; e < 4; ++e) {
    const int row = warp % 4 * 16 + lane / 4 + e / 2 * 8;
    const unsigned u = HAS_LEFT_ZERO && row < rows ? (unsigned)zero_of(0, row) : 0u;
#pragma unroll
    for (int s = 0; s < STRIPS; ++s) {
      const int column = warp / 4 * (COLUMNS / 2) + 8 * s + lane % 4 * 2 + e % 2;
      if (row < rows && column < columns) {
        const unsigned v = HAS_RIGHT_ZERO ? (unsigned)zero_of(1, column) : 0u;
        put(row, column,
            (int)((unsigned)sums.products[s][e] - v * (unsigned)sums.of_row[e] -
                  u * (unsigned)sums.of_column[s][e] + (unsigned)terms * u * v));
      }
    }
  }
  __syncthreads();
}

#if OP_mat_mul_integer
/* One zero point, one for each row (a) or column (b), or one for each of every matrix. */
INLINE i64 zero_place(i64 count, i64 lines, i64 matrix, i64 line) {
  return count == 1 ? 0 : count == lines ? line : matrix * lines + line;
}
/* Four terms of four columns, as a word of each column. */
INLINE void turn_words(const unsigned (&row)[4], unsigned* out) {
  const unsigned low01 = __byte_perm(row[0], row[1], 0x5140);
  const unsigned high01 = __byte_perm(row[0], row[1], 0x7362);
  const unsigned low23 = __byte_perm(row[2], row[3], 0x5140);
  const unsigned high23 = __byte_perm(row[2], row[3], 0x7362);
  out[0] = __byte_perm(low01, low23, 0x5410);
  out[1] = __byte_perm(low01, low23, 0x7632);
  out[2] = __byte_perm(high01, high23, 0x5410);
  out[3] = __byte_perm(high01, high23, 0x7632);
}
KERNEL multiply(const __grid_constant__ parameters_t p) {
  __shared__ bytes_t bytes;
  begin(p);
  const i64 rows = p.number[1];
  const i64 inner = p.number[2];
  const i64 columns = p.number[3];
  const i64 down = (rows + TILE - 1) / TILE;
  const i64 across = (columns + COLUMNS - 1) / COLUMNS;
  const bool rows_are_whole = inner % 16 == 0 && is_aligned(p.in[0]);
  const bool columns_are_whole = columns % 4 == 0 && is_aligned(p.in[1]);
  /* Which four columns and terms a thread turns: eight neighbours of a warp read a row's 16 bytes.
   */
  const int own_column = ((int)threadIdx.x % 4 + (int)threadIdx.x / 32 % 4 * 4) * 4;
  const int own_word = (int)threadIdx.x / 4 % 8 + (int)threadIdx.x / 128 * 8;
  EACH_BLOCK(block, p.number[0] * down * across) {
    const i64 batch = block / across / down;
    const i64 first_row = block / across % down * TILE;
    const i64 first_column = block % across * COLUMNS;
    const matrices_t from = matrices_of(p, batch);
    const i64 row = first_row + threadIdx.x / 4;
    const u8* own_row = row < rows ? (const u8*)p.in[0].data + from.a + row * inner : 0;
    const u8* matrix = (const u8*)p.in[1].data + from.b;
    multiply_tile(
        bytes, inner, rows - first_row, columns - first_column,
        [&](i64 first, loaded_t& out) {
          load_row(own_row, first, inner, rows_are_whole, out.left);
#pragma unroll
          for (int k = 0; k < 4; ++k) {
            const i64 term = first + own_word * 4 + k;
            const i64 column = first_column + own_column;
            const u8* line = matrix + term * columns;
            out.right[k] = term >= inner        ? 0u
                           : !columns_are_whole ? word_of(line, column, columns)
                           : column < columns   ? *(const unsigned*)(line + column)
                                                : 0u;
          }
        },
        [&](int now, const loaded_t& loaded) {
          unsigned words[4];
          turn_words(loaded.right, words);
#pragma unroll
          for (int k = 0; k < 4; ++k) {
            bytes.right[now][own_column + k][own_word] = words[k];
          }
        },
        [&](int which, int line) {
          return which == 0
                     ? (i64)IN2(zero_place(p.in[2].count, rows, from.a / (rows * most_of(inner, 1)),
                                           first_row + line))
                     : (i64)IN3(zero_place(p.in[3].count, columns,
                                           from.b / (most_of(inner, 1) * columns), first_column + line));
        },
        [&](int r, int c, int sum) {
          ((int*)p.out[0].data)[(batch * rows + first_row + r) * columns + first_column + c] = sum;
        });
  }
}
#else
#define X_DIM(k) ((int)p.number[k])
#define Y_DIM(k) ((int)p.number[3 + (k)])
#define TAP_DIM(k) ((int)p.number[6 + (k)])
#define STRIDE(k) ((int)p.number[9 + (k)])
#define DILATION(k) ((int)p.number[12 + (k)])
#define BEFORE(k) ((int)p.number[15 + (k)])
#define X_CHANNELS p.number[21]
#define Y_CHANNELS p.number[22]
#define GROUPS p.number[23]
enum { KEPT_TAPS = 32 };
/* Where a tap of the window at `corner` lies in a plane of x; -1: in the padding. */
INLINE int tap_place(const parameters_t& p, const int (&corner)[3], int tap) {
  const int plane = TAP_DIM(1) * TAP_DIM(2);
  const int z = corner[0] + tap / plane * DILATION(0);
  const int y = corner[1] + tap % plane / TAP_DIM(2) * DILATION(1);
  const int x = corner[2] + tap % TAP_DIM(2) * DILATION(2);
  const bool is_inside = z >= 0 && z < X_DIM(0) && y >= 0 && y < X_DIM(1) && x >= 0 && x < X_DIM(2);
  return is_inside ? (z * X_DIM(1) + y) * X_DIM(2) + x : -1;
}
KERNEL convolve(const __grid_constant__ parameters_t p) {
  __shared__ bytes_t bytes;
  __shared__ int places[KEPT_TAPS][COLUMNS]; /* of the pixels' taps */
  begin(p);
  const int points = Y_DIM(0) * Y_DIM(1) * Y_DIM(2);
  const int plane = X_DIM(0) * X_DIM(1) * X_DIM(2);
  const int taps = TAP_DIM(0) * TAP_DIM(1) * TAP_DIM(2);
  const i64 channels = X_CHANNELS / GROUPS;
  const i64 outputs = Y_CHANNELS / GROUPS;
  const int terms = (int)channels * taps;
  const i64 down = (outputs + TILE - 1) / TILE;
  const i64 across = (points + COLUMNS - 1) / COLUMNS;
  const bool rows_are_whole = terms % 16 == 0 && is_aligned(p.in[1]);
  const int own = (int)threadIdx.x % COLUMNS;
  EACH_BLOCK(block, p.number[24]) {
    const i64 group = block / across / down % GROUPS;
    const i64 n = block / across / down / GROUPS;
    const i64 first_row = block / across % down * TILE;
    const int first_column = (int)(block % across) * COLUMNS;
    const i64 row = first_row + threadIdx.x / 4;
    const u8* own_row =
        row < outputs ? (const u8*)p.in[1].data + (group * outputs + row) * terms : 0;
    const u8* image = (const u8*)p.in[0].data + (n * X_CHANNELS + group * channels) * plane;
    const u8 padding = HAS_IN2 ? (u8)IN2(p.in[2].count > 1 ? n : 0) : (u8)0;
    const int at = first_column + own < points ? first_column + own : points - 1;
    const int corner[3] = {at / (Y_DIM(1) * Y_DIM(2)) * STRIDE(0) - BEFORE(0),
                           at / Y_DIM(2) % Y_DIM(1) * STRIDE(1) - BEFORE(1),
                           at % Y_DIM(2) * STRIDE(2) - BEFORE(2)};
    for (int tap = (int)threadIdx.x / COLUMNS; tap < taps && taps <= KEPT_TAPS;
         tap += 256 / COLUMNS) {
      places[tap][own] = tap_place(p, corner, tap);
    }
    __syncthreads();
    multiply_tile(
        bytes, terms, outputs - first_row, points - first_column,
        [&](i64 first, loaded_t& out) {
          load_row(own_row, first, terms, rows_are_whole, out.left);
#pragma unroll
          for (int k = 0; k < OWN; ++k) {
            const int term = (int)first + ((int)threadIdx.x / COLUMNS + k * (256 / COLUMNS)) * 4;
            const int channel = term / taps;
            const u8* from = image + (i64)channel * plane;
            int tap = term - channel * taps;
#pragma unroll
            for (int b = 0; b < 4; ++b) {
              const int place = taps <= KEPT_TAPS ? places[tap][own] : tap_place(p, corner, tap);
              out.right[k][b] = term + b < terms ? padding : (u8)0;
              if (term + b < terms && place >= 0) {
                out.right[k][b] = from[place];
              }
              ++tap;
              from += tap == taps ? plane : 0;
              tap = tap == taps ? 0 : tap;
            }
          }
        },
        [&](int now, const loaded_t& loaded) {
#pragma unroll
          for (int k = 0; k < OWN; ++k) {
            const u8(&four)[4] = loaded.right[k];
            bytes.right[now][own][(int)threadIdx.x / COLUMNS + k * (256 / COLUMNS)] =
                four[0] | four[1] << 8 | four[2] << 16 | (unsigned)four[3] << 24;
          }
        },
        [&](int which, int line) {
          return which == 0 ? (i64)IN3(p.in[3].count > 1 ? group * outputs + first_row + line : 0)
                            : (i64)IN2(p.in[2].count > 1 ? n : 0);
        },
        [&](int r, int c, int sum) {
          ((int*)p.out[0].data)[(n * Y_CHANNELS + group * outputs + first_row + r) * points +
                                first_column + c] = sum;
        });
  }
}
#endif
