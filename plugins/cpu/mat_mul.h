/*
 * The insides of the matrix product kernel, shared by the files that prepare and run it: y[..., m,
 * n] = sum_k a[..., m, k] b[..., k, n], f32, any strides, leading axes broadcast. A vector a has no
 * m, a vector b no n.
 *
 * b is packed into panels (product.h): a constant once, any other at the beginning of each call.
 * With at most TENON_CPU_FEW_ROWS rows packing would take longer than the product: b is then read
 * where it is, in whole vectors if its rows lie together, by dot products if its columns do. Columns
 * that are left after the whole vectors are packed.
 */
#ifndef TENON_CPU_MAT_MUL_H_
#define TENON_CPU_MAT_MUL_H_

#include "epilogue.h"

/* Rank of an operand at most. */
enum { TENON_CPU_MATRIX_AXES = TENON_CPU_ROW_AXES };

/* What prepare makes; shared by contexts and not written. */
typedef struct tenon__cpu_mat_mul_t {
  const tenon__cpu_isa_t* isa;
  bool transpose_a;
  bool transpose_b;
  /* All matrices of b, packed_batch floats each; NULL: b is packed in every call. */
  const float* packed;
  size_t packed_batch; /* floats of one matrix, when packed */
  uint32_t a;          /* region inputs */
  uint32_t b;
  /* Of a thread's part of scratch: gather_bytes for rows of a that do not lie together, the rest
   * is the epilogue's. */
  size_t slot_bytes;
  size_t gather_bytes;
  /* Of scratch, before the slots: b, packed; 0 when it was packed once. */
  size_t shared_bytes;
  tenon__cpu_epilogue_t epilogue;
} tenon__cpu_mat_mul_t;

/* An axis over which matrices are repeated, or M itself. Strides in elements, 0 where an operand
 * broadcasts. */
typedef struct tenon__cpu_matrix_axis_t {
  int64_t extent;
  int64_t a;
  int64_t b;
  int64_t packed; /* in matrices of b */
  int64_t y;
} tenon__cpu_matrix_axis_t;

/* What bind makes. Leading axes along which the rows of a and y go on evenly, with one matrix of
 * b, are joined to M: a batch that shares its weights is one product. What remains is outer. */
typedef struct tenon__cpu_bound_mat_mul_t {
  const tenon__cpu_mat_mul_t* product;
  /* Axes of `outer`; `units` is their product, a product of matrices each. */
  uint32_t outer_rank;
  tenon__cpu_matrix_axis_t outer[TENON_CPU_MATRIX_AXES];
  size_t units; /* product of the outer extents */
  /* Of one unit; `columns` and `depth` are N and K. */
  size_t rows;
  size_t columns;
  size_t depth;
  /* Strides of the matrices, in elements; 1 where an extent is 1. */
  int64_t a_row;
  int64_t a_depth;
  int64_t b_depth;
  int64_t b_column;
  int64_t y_row;
  /* Matrices of b: their axes, for packing in every call; b_count of them. */
  uint32_t b_rank;
  int64_t b_extents[TENON_CPU_MATRIX_AXES];
  int64_t b_strides[TENON_CPU_MATRIX_AXES];
  size_t b_count;
  tenon__cpu_bound_epilogue_t* epilogue;
  /* Of one unit; set in each run, for its threads. */
  tenon__cpu_grid_t grid;
} tenon__cpu_bound_mat_mul_t;

tenon_status_t tenon__cpu_mat_mul_enqueue(const tenon_enqueue_t* call);

#endif
