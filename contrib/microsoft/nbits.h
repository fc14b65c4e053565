/*
 * Matrix multiplication with weights of 2, 4 or 8 bits: packed weights, and functions for each
 * instruction set.
 *
 * Packed weights keep their bits. A panel has NBITS_PANEL columns. Its words of 32 bits follow each
 * other along the depth, one word of each column at a time. A word has the weights of 32 / bits
 * consecutive rows, the first one in its lowest bits, as signed numbers: the file's number less
 * 2^(bits - 1). Each block of a column has a scale and perhaps an offset:
 *
 *   weight = number * scale - offset
 */
#ifndef MICROSOFT_NBITS_H_
#define MICROSOFT_NBITS_H_

#include <stddef.h>
#include <stdint.h>

#include "tenon/plugin.h"

enum { NBITS_PANEL = 16 };

/* Arrays of floats have NBITS_PANEL entries for each block (scales, offsets) or panel (bias). */
typedef struct nbits_weights_t {
  size_t depth; /* whole blocks */
  size_t columns;
  size_t block;
  size_t bits;
  const uint32_t* words;
  const float* scales;
  const float* offsets; /* NULL: all are 0 */
  const float* bias;    /* NULL: none */
} nbits_weights_t;

/* Rows of a, as f32, zero beyond the true depth. */
typedef struct nbits_rows_t {
  const float* a;
  size_t stride;
  /* Sums of each block of each row; read if the weights have offsets. */
  const float* sums;
  size_t count;
  void* y; /* of row 0, column 0; rows are contiguous */
  tenon_dtype_t dtype;
} nbits_rows_t;

typedef struct nbits_functions_t {
  /* Writes a row as f32, and the sum of each block unless `sums` is NULL. `depth` elements are
   * followed by zeros up to whole blocks. */
  void (*load)(const void* a, tenon_dtype_t dtype, size_t depth, const nbits_weights_t* weights,
               float* out_row, float* out_sums);
  /* Multiplies for the columns of panels [begin, end). Unpacks in registers, once for each 4 rows. */
  void (*few)(const nbits_weights_t* weights, const nbits_rows_t* rows, size_t begin, size_t end);
  /* The same for many rows. Unpacks into `scratch`, which has NBITS_SCRATCH_BYTES. */
  void (*many)(const nbits_weights_t* weights, const nbits_rows_t* rows, size_t begin, size_t end,
               float* scratch);
} nbits_functions_t;

/* `many` takes at most so many rows at a time, and unpacks so many rows of weights. */
enum {
  NBITS_MAX_ROWS = 128,
  NBITS_DEPTH = 1024,
  NBITS_WIDTH = 2 * NBITS_PANEL,
  NBITS_SCRATCH_BYTES = (NBITS_DEPTH + NBITS_MAX_ROWS) * NBITS_WIDTH * 4
};

extern const nbits_functions_t nbits_functions_baseline;
extern const nbits_functions_t nbits_functions_avx2;
extern const nbits_functions_t nbits_functions_avx512;

/* For plugin.c. */
extern const tenon_offering_t microsoft_nbits_operators;
extern const tenon_offering_t microsoft_nbits_kernels;

#endif
