/* The insides of the matrix product kernel, shared by the files that prepare and run it. */
#ifndef TENON_CPU_MAT_MUL_H_
#define TENON_CPU_MAT_MUL_H_

#include "epilogue.h"

enum { TENON_CPU_MATRIX_AXES = TENON_CPU_ROW_AXES };

typedef struct tenon__cpu_mat_mul_t {
  const tenon__cpu_isa_t* isa;
  bool transpose_a;
  bool transpose_b;
  const float* packed; /* NULL: b is packed in every call */
  size_t packed_batch; /* floats of one matrix, when packed */
  uint32_t a;          /* region inputs */
  uint32_t b;
  size_t slot_bytes;
  size_t gather_bytes;
  size_t shared_bytes; /* of scratch, before the slots: b, packed */
  tenon__cpu_epilogue_t epilogue;
} tenon__cpu_mat_mul_t;

/* An axis over which matrices are repeated, or M itself. */
typedef struct tenon__cpu_matrix_axis_t {
  int64_t extent;
  int64_t a;
  int64_t b;
  int64_t packed; /* in matrices */
  int64_t y;
} tenon__cpu_matrix_axis_t;

/* y[..., m, n] = sum_k a[..., m, k] b[..., k, n]; strides in elements. */
typedef struct tenon__cpu_bound_mat_mul_t {
  const tenon__cpu_mat_mul_t* product;
  uint32_t outer_rank;
  tenon__cpu_matrix_axis_t outer[TENON_CPU_MATRIX_AXES];
  size_t units; /* product of the outer extents */
  size_t rows;
  size_t columns;
  size_t depth;
  int64_t a_row;
  int64_t a_depth;
  int64_t b_depth;
  int64_t b_column;
  int64_t y_row;
  /* Matrices of b: their axes, for packing in every call. */
  uint32_t b_rank;
  int64_t b_extents[TENON_CPU_MATRIX_AXES];
  int64_t b_strides[TENON_CPU_MATRIX_AXES];
  size_t b_count;
  tenon__cpu_bound_epilogue_t* epilogue;
  tenon__cpu_grid_t grid;
} tenon__cpu_bound_mat_mul_t;

tenon_status_t tenon__cpu_mat_mul_enqueue(const tenon_enqueue_t* call);

#endif
