/*
 * The tile functions for one vector width. Included by tile_baseline.c and its siblings.
 *
 * All accumulators live in registers: rows x vectors of them, one broadcast element of a and a row
 * of b. The row count is a constant in each function, so that the compiler unrolls over it; its
 * loop has one load for each b vector and each a element, and rows x vectors multiply-adds. Nothing
 * else is needed to reach the processor's peak from the first-level cache.
 */
#ifndef TENON_CPU_TILE_KERNELS_H_
#define TENON_CPU_TILE_KERNELS_H_

#include <math.h>

#include "tile.h"
#include "vector.h"

/* Elements of the depth in one turn of the loop. 14 rows need more addresses than there are
 * registers: two elements share the loading of each. */
enum { TILE_STEPS = TENON_VECTOR_BYTES == 64 ? 2 : 1 };

/* Where the last vector is not full: `sums` is rows x width. Out of line, since it is rare. */
static __attribute__((noinline, unused)) void tile_store_part(const tenon__cpu_tile_t* tile,
                                                              const float* sums, size_t rows,
                                                              size_t width) {
  for (size_t i = 0; i < rows; i++) {
    float* c = tile->c + i * tile->c_stride;
    const float* addend = tile->addend != NULL ? tile->addend + i * tile->addend_stride : NULL;
    for (size_t j = 0; j < tile->columns; j++) {
      float value = sums[i * width + j];
      value += tile->bias != NULL ? tile->bias[j] : 0.0F;
      value += addend != NULL ? addend[j] : 0.0F;
      value = value < tile->low ? tile->low : value;
      c[j] = value > tile->high ? tile->high : value;
    }
  }
}

INLINE void tile_store_full(const tenon__cpu_tile_t* tile, vfloat_t (*sums)[TENON_CPU_TILE_VECTORS],
                            int rows, int vectors) {
  if (tile->bias != NULL) {
    UNROLL for (int v = 0; v < vectors; v++) {
      const vfloat_t bias = vload(tile->bias + (size_t)v * VECTOR_FLOATS);
      UNROLL for (int i = 0; i < rows; i++) {
        sums[i][v] += bias;
      }
    }
  }
  if (tile->addend != NULL) {
    UNROLL for (int i = 0; i < rows; i++) {
      const float* addend = tile->addend + (size_t)i * tile->addend_stride;
      UNROLL for (int v = 0; v < vectors; v++) {
        sums[i][v] += vload(addend + (size_t)v * VECTOR_FLOATS);
      }
    }
  }
  if (tile->low > -INFINITY || tile->high < INFINITY) {
    const vfloat_t low = vsplat(tile->low);
    const vfloat_t high = vsplat(tile->high);
    UNROLL for (int i = 0; i < rows; i++) {
      UNROLL for (int v = 0; v < vectors; v++) {
        sums[i][v] = vmin(high, vmax(low, sums[i][v]));
      }
    }
  }
  UNROLL for (int i = 0; i < rows; i++) {
    UNROLL for (int v = 0; v < vectors; v++) {
      vstore(tile->c + (size_t)i * tile->c_stride + (size_t)v * VECTOR_FLOATS, sums[i][v]);
    }
  }
}

/* Adds the products of element k of each row of a with row k of b. */
INLINE void tile_step(const float* const* a, size_t k, const float* b, int rows, int vectors,
                      vfloat_t (*sums)[TENON_CPU_TILE_VECTORS]) {
  vfloat_t row[TENON_CPU_TILE_VECTORS];
  UNROLL for (int v = 0; v < vectors; v++) {
    row[v] = vload(b + (size_t)v * VECTOR_FLOATS);
  }
  UNROLL for (int i = 0; i < rows; i++) {
    const vfloat_t x = vsplat(a[i][k]);
    UNROLL for (int v = 0; v < vectors; v++) {
      sums[i][v] = vfma(x, row[v], sums[i][v]);
    }
  }
}

/* One line of the depth; returns where b goes on. `even`: rows of a lie a_stride apart. */
INLINE const float* tile_line(const tenon__cpu_tile_t* tile, const float* a, const float* b,
                              int rows, int vectors, int even,
                              vfloat_t (*sums)[TENON_CPU_TILE_VECTORS]) {
  const size_t b_stride = tile->b_stride;
  const size_t depth = tile->depth;
  const float* starts[TENON_CPU_TILE_MAX_ROWS];
  UNROLL for (int i = 0; i < rows; i++) {
    starts[i] = a + (even != 0 ? (size_t)i * tile->a_stride : tile->a_offsets[i]);
  }
  size_t k = 0;
  for (; k + TILE_STEPS <= depth; k += TILE_STEPS) {
    UNROLL for (size_t u = 0; u < TILE_STEPS; u++) {
      tile_step(starts, k + u, b, rows, vectors, sums);
      b += b_stride;
    }
  }
  for (; k < depth; k++, b += b_stride) {
    tile_step(starts, k, b, rows, vectors, sums);
  }
  return b;
}

/* Adds the products of one element of each row of a with a row of b, wherever the rows lie. */
INLINE void tile_element(const tenon__cpu_tile_t* tile, const float* a, const float* b, int rows,
                         int vectors, vfloat_t (*sums)[TENON_CPU_TILE_VECTORS]) {
  UNROLL for (int i = 0; i < rows; i++) {
    const size_t at = tile->a_offsets != NULL ? tile->a_offsets[i] : (size_t)i * tile->a_stride;
    const vfloat_t x = vsplat(a[at]);
    UNROLL for (int v = 0; v < vectors; v++) {
      sums[i][v] = vfma(x, vload(b + (size_t)v * VECTOR_FLOATS), sums[i][v]);
    }
  }
}

/* As tile_line where few sums wait for one another: several chains of them, each for its share of
 * the depth. */
INLINE const float* tile_line_chained(const tenon__cpu_tile_t* tile, const float* a, const float* b,
                                      int rows, int vectors, int chains,
                                      vfloat_t (*sums)[TENON_CPU_TILE_VECTORS]) {
  const size_t b_stride = tile->b_stride;
  const size_t most = tile->depth / (size_t)chains * (size_t)chains;
  for (size_t k = 0; k < tile->depth; k += (size_t)chains, b += (size_t)chains * b_stride) {
    if (k == most) {
      for (; k < tile->depth; k++, b += b_stride) {
        tile_element(tile, a + k, b, rows, vectors, sums);
      }
      break;
    }
    UNROLL for (int c = 0; c < chains; c++) {
      tile_element(tile, a + k + (size_t)c, b + (size_t)c * b_stride, rows, vectors,
                   sums + (size_t)(c * rows));
    }
  }
  return b;
}

INLINE void tile_compute(const tenon__cpu_tile_t* tile, int rows, int vectors) {
  const int chains = rows * vectors >= 6 ? 1 : rows * vectors >= 3 ? 2 : 4;
  vfloat_t sums[4 * TENON_CPU_TILE_MAX_ROWS][TENON_CPU_TILE_VECTORS];
  UNROLL for (int i = 0; i < chains * rows; i++) {
    UNROLL for (int v = 0; v < vectors; v++) {
      sums[i][v] = (vfloat_t){0};
    }
  }
  const float* a = tile->a;
  const float* b = tile->b;
  for (size_t line = tile->lines; line > 0; line--, a += tile->a_line) {
    if (chains > 1) {
      b = tile_line_chained(tile, a, b, rows, vectors, chains, sums);
    } else if (tile->a_offsets == NULL) {
      b = tile_line(tile, a, b, rows, vectors, 1, sums);
    } else {
      b = tile_line(tile, a, b, rows, vectors, 0, sums);
    }
  }
  UNROLL for (int c = 1; c < chains; c++) {
    UNROLL for (int i = 0; i < rows; i++) {
      UNROLL for (int v = 0; v < vectors; v++) {
        sums[i][v] += sums[c * rows + i][v];
      }
    }
  }
  if (tile->columns == (size_t)vectors * VECTOR_FLOATS) {
    tile_store_full(tile, sums, rows, vectors);
  } else {
    float buffer[TENON_CPU_TILE_MAX_ROWS * TENON_CPU_TILE_VECTORS * VECTOR_FLOATS];
    UNROLL for (int i = 0; i < rows; i++) {
      UNROLL for (int v = 0; v < vectors; v++) {
        vstore(buffer + (size_t)(i * vectors + v) * VECTOR_FLOATS, sums[i][v]);
      }
    }
    tile_store_part(tile, buffer, (size_t)rows, (size_t)vectors * VECTOR_FLOATS);
  }
}

#define TILE(rows, vectors)                                         \
  static void tile_##rows##x##vectors(const tenon__cpu_tile_t* t) { \
    tile_compute(t, rows, vectors);                                 \
  }
#define TILES_1_TO_4(vectors) TILE(1, vectors) TILE(2, vectors) TILE(3, vectors) TILE(4, vectors)
#define TILES_5_TO_6(vectors) TILE(5, vectors) TILE(6, vectors)
#define TILES_7_TO_9(vectors) TILE(7, vectors) TILE(8, vectors) TILE(9, vectors)
#define TILES_10_TO_12(vectors) TILE(10, vectors) TILE(11, vectors) TILE(12, vectors)
#define TILES_13_TO_14(vectors) TILE(13, vectors) TILE(14, vectors)

/* Rows of b at a time, which stay in the first-level cache while those of a pass; and sums of each
 * that do not wait for one another. */
enum { DOT_COLUMNS = 4, DOT_CHAINS = 2 };

INLINE void dot_columns(const tenon__cpu_dots_t* d, size_t row, size_t first, int columns) {
  const size_t step = (size_t)DOT_CHAINS * VECTOR_FLOATS;
  const float* a = d->a + row * d->a_stride;
  const float* b = d->b + first * d->b_stride;
  vfloat_t sums[DOT_COLUMNS][DOT_CHAINS] = {{{0}}};
  size_t k = 0;
  for (; k + step <= d->depth; k += step) {
    UNROLL for (int c = 0; c < DOT_CHAINS; c++) {
      const size_t at = k + (size_t)c * VECTOR_FLOATS;
      const vfloat_t x = vload(a + at);
      UNROLL for (int j = 0; j < columns; j++) {
        sums[j][c] = vfma(x, vload(b + (size_t)j * d->b_stride + at), sums[j][c]);
      }
    }
  }
  UNROLL for (int j = 0; j < columns; j++) {
    float sum = vsum(sums[j][0] + sums[j][1]);
    for (size_t rest = k; rest < d->depth; rest++) {
      sum += a[rest] * b[(size_t)j * d->b_stride + rest];
    }
    d->c[row * d->c_stride + first + (size_t)j] = sum;
  }
}

static void dots(const tenon__cpu_dots_t* d) {
  size_t column = 0;
  for (; column + DOT_COLUMNS <= d->columns; column += DOT_COLUMNS) {
    for (size_t row = 0; row < d->rows; row++) {
      dot_columns(d, row, column, DOT_COLUMNS);
    }
  }
  for (; column < d->columns; column++) {
    for (size_t row = 0; row < d->rows; row++) {
      dot_columns(d, row, column, 1);
    }
  }
}

#endif
