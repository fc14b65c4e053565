/*
 * One tile of a product of matrices: what the innermost kernels of mat_mul and convolution compute.
 * All sums of a tile live in registers: 6 rows x 2 vectors of 8 are 12 of AVX2's 16, 14 x 2 vectors
 * of 16 are 28 of AVX-512's 32. Then a step of the depth is 2 loads of b, a broadcast a row, and
 * rows x 2 fused multiply-adds: the arithmetic is what takes the time. tile_kernels.inc has the
 * code, product.h the loops around it.
 */
#ifndef TENON_CPU_TILE_H_
#define TENON_CPU_TILE_H_

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* c[i][j] = clamp(sum_k a[i][k] * b[k][j] + bias[j] + addend[i][j]) for `rows` rows, a property
 * of the function, and `columns` columns. `b` holds whole vectors: columns are padded in memory;
 * c, bias and addend are not touched beyond `columns`. NaN passes the clamp. No alignment is
 * asked for. */
typedef struct tenon__cpu_tile_t {
  const float* a;
  const float* b;
  float* c;
  const float* bias; /* NULL: none */
  /* NULL: none; may be c, to go on where another block of the depth ended. */
  const float* addend;
  size_t depth; /* of a line: b has lines x depth rows */
  /* 1 or more: a goes on a_line further for each. */
  size_t lines;
  size_t a_line;
  /* Where each row of a begins, in floats, instead of a_stride; NULL: evenly. */
  const size_t* a_offsets;
  /* In floats, from row to row; so are the others. */
  size_t a_stride;
  size_t b_stride;
  size_t c_stride;
  size_t addend_stride;
  size_t columns;
  float low; /* -inf and inf: no clamp */
  float high;
} tenon__cpu_tile_t;

typedef void (*tenon__cpu_tile_function_t)(const tenon__cpu_tile_t* tile);

/* c[i][j] = sum_k a[i][k] * b[j][k]: a few rows times rows of a matrix as they lie, for where
 * packing the matrix would take longer than the products. Summed in vectors' lanes. */
typedef struct tenon__cpu_dots_t {
  const float* a;
  const float* b;
  float* c;
  size_t depth;
  size_t rows; /* of a and c */
  size_t a_stride;
  size_t columns; /* of c: rows of b */
  size_t b_stride;
  size_t c_stride;
} tenon__cpu_dots_t;

/* A tile of winograd.h: channels of 4 x 4 pixels, transformed to one row in each of 16 matrices. */
typedef struct tenon__cpu_winograd_in_t {
  const float* pixels[16]; /* by rows; those outside of the image are zeros */
  float* out;              /* the row in the first matrix */
  size_t matrix;           /* floats from matrix to matrix */
  size_t channels;
} tenon__cpu_winograd_in_t;

/* The way back: rows of 16 matrices to 2 x 2 pixels, with bias and addend, clamped. */
typedef struct tenon__cpu_winograd_out_t {
  const float* sums;
  size_t matrix;
  size_t channels;
  const float* bias;      /* NULL: none */
  float* y[4];            /* by rows; NULL: outside of the image */
  const float* addend[4]; /* NULL: none */
  float low;              /* -inf and inf: no clamp */
  float high;
} tenon__cpu_winograd_out_t;

/* A panel of columns is PANEL_VECTORS wide, save the last, which takes what is left: 1 to
 * TILE_VECTORS. Three, so that a single vector, whose tiles have few sums for each load, remains
 * only where it is all. */
enum { TENON_CPU_PANEL_VECTORS = 2, TENON_CPU_TILE_VECTORS = 3, TENON_CPU_TILE_MAX_ROWS = 16 };

/* The tile functions of one instruction set: `functions[v - 1][r - 1]` for v vectors of columns
 * and r rows, r <= max_rows[v - 1]. Constant. */
typedef struct tenon__cpu_tiles_t {
  uint32_t vector_floats;
  uint32_t max_rows[TENON_CPU_TILE_VECTORS];
  tenon__cpu_tile_function_t functions[TENON_CPU_TILE_VECTORS][TENON_CPU_TILE_MAX_ROWS];
  void (*dots)(const tenon__cpu_dots_t* dots);
  void (*winograd_in)(const tenon__cpu_winograd_in_t* in);
  /* Returns false if a sum is infinite or NaN. */
  bool (*winograd_out)(const tenon__cpu_winograd_out_t* out);
} tenon__cpu_tiles_t;

extern const tenon__cpu_tiles_t tenon__cpu_tiles_baseline;
extern const tenon__cpu_tiles_t tenon__cpu_tiles_avx2;
extern const tenon__cpu_tiles_t tenon__cpu_tiles_avx512;

#endif
