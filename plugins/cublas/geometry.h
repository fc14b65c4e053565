/*
 * From tensors with strides to what one call of cuBLASLt takes: y[m, n] = sum_k a[m, k] b[k, n] +
 * c[m, n] + bias[n], for each point of outer axes.
 *
 * cuBLASLt's matrices are columns after columns, so it is given the transposed product: its A is b,
 * its B is a, its D is y, of n rows and m columns. A matrix of which either direction is dense is
 * taken as it lies, turned or not. Where neither is, the rows (or columns) become an outer axis: a
 * vector may have any positive stride. One outer axis is cuBLASLt's batch, the others are calls.
 */
#ifndef PLUGINS_CUBLAS_GEOMETRY_H_
#define PLUGINS_CUBLAS_GEOMETRY_H_

#include <stdbool.h>

#include "tenon/plugin.h"

/* The operands, as indices of what is kept of each. */
enum {
  TENON_CUBLAS_A = 0,
  TENON_CUBLAS_B = 1,
  TENON_CUBLAS_C = 2,
  TENON_CUBLAS_BIAS = 3,
  TENON_CUBLAS_Y = 4,
  TENON_CUBLAS_OPERANDS = 5
};
enum { TENON_CUBLAS_RANK = 8 /* of an operand */, TENON_CUBLAS_AXES = TENON_CUBLAS_RANK + 2 };

/* Strides in elements; 0 where an operand does not vary, or is absent. */
typedef struct tenon__cublas_axis_t {
  int64_t extent;
  int64_t strides[TENON_CUBLAS_OPERANDS];
} tenon__cublas_axis_t;

typedef struct tenon__cublas_geometry_t {
  tenon__cublas_axis_t m;
  tenon__cublas_axis_t n;
  tenon__cublas_axis_t k;
  /* What is summed by one call after the other: k, where it runs backwards or stands still, which
   * no call takes. Extent 1: nothing is, and k is the sum. */
  tenon__cublas_axis_t sum;
  tenon__cublas_axis_t batch; /* extent 1: none */
  uint32_t outer_rank;
  tenon__cublas_axis_t outer[TENON_CUBLAS_AXES];
  /* Of a, b, c and y; whether a and b are turned, in cuBLASLt's sense. */
  int64_t leading[TENON_CUBLAS_OPERANDS];
  bool turned[2];
  /* Calls: the product of the outer extents; 0 where y has no elements. */
  uint64_t calls;
} tenon__cublas_geometry_t;

/* What a product is made of; `c` and `bias` are aligned to y's axes, or NULL. */
typedef struct tenon__cublas_views_t {
  const tenon_tensor_view_t* a;
  const tenon_tensor_view_t* b;
  const tenon_tensor_view_t* c;
  const tenon_tensor_view_t* bias;
  const tenon_tensor_view_t* y;
} tenon__cublas_views_t;

/* A sum over nothing becomes one over a single zero, dense for a and for b, of as many elements as
 * m and n have. */
void tenon__cublas_geometry_find(const tenon__cublas_views_t* views,
                                 tenon__cublas_geometry_t* out_geometry);

#endif
