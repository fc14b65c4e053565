/*
 * A region of a convolution, read: its operands, its window, what stands in its slot. A product of
 * matrices is one too: its rows are pixels, the columns of the left factor are channels, and the
 * window is one pixel. So is a transposed convolution whose windows touch and do not overlap: each
 * pixel of x becomes a window of the result, so it has as many columns as outputs times taps.
 */
#ifndef PLUGINS_CUDA_CONVOLUTION_PROBLEM_H_
#define PLUGINS_CUDA_CONVOLUTION_PROBLEM_H_

#include <stdbool.h>

#include "tenon/plugin.h"

typedef enum tenon__cuda_padding_t {
  TENON_CUDA_PADDING_GIVEN,
  TENON_CUDA_PADDING_UPPER, /* by the extents, the odd one behind */
  TENON_CUDA_PADDING_LOWER
} tenon__cuda_padding_t;

/* Along y, then x. One spatial axis alone is x, of a single row. */
typedef struct tenon__cuda_window_t {
  tenon__cuda_padding_t padding;
  int64_t kernel[2];
  int64_t stride[2];
  int64_t dilation[2];
  int64_t begin[2];
} tenon__cuda_window_t;

/* What axes of images and results are. */
enum {
  TENON_CUDA_AXIS_IMAGE,
  TENON_CUDA_AXIS_CHANNEL,
  TENON_CUDA_AXIS_ROW,
  TENON_CUDA_AXIS_COLUMN,
  TENON_CUDA_AXIS_COUNT
};

typedef struct tenon__cuda_problem_t {
  const tenon_region_t* region;
  const tenon_region_table_t* table;
  const tenon_value_info_t* x;
  const tenon_value_info_t* w;
  const tenon_value_info_t* bias; /* NULL: none */
  const tenon_value_info_t* y;
  const tenon_program_t* program; /* NULL: the slot is empty */
  bool is_product;
  bool is_spread;                       /* transposed */
  uint32_t axes[TENON_CUDA_AXIS_COUNT]; /* where each is; TENON_NONE: there is none */
  int64_t groups;
  int64_t channels; /* all of them */
  int64_t outputs;
  int64_t columns; /* of the matrix of weights: outputs, for each tap where it is spread */
  tenon__cuda_window_t window;
} tenon__cuda_problem_t;

/* False, and a refusal: not a convolution in one or two axes of floats with constant weights, nor a
 * product with a constant matrix. */
bool tenon__cuda_problem_read(const tenon_region_t* region, const tenon_region_table_t* table,
                              tenon__cuda_problem_t* out_problem, tenon_refusal_t* out_refusal);
/* Padding in front along an axis of these extents. */
int64_t tenon__cuda_window_begin(const tenon__cuda_window_t* window, uint32_t axis, int64_t extent,
                                 int64_t results);
/* Elements that the window reaches over. */
int64_t tenon__cuda_window_reach(const tenon__cuda_window_t* window, uint32_t axis);
/* Of a tensor with the problem's axes; 1 where there is no such axis. */
int64_t tenon__cuda_extent_of(const tenon__cuda_problem_t* problem, const int64_t* dims,
                              uint32_t which);
/* Elements from one to the next; 0 where there is no such axis. */
int64_t tenon__cuda_stride_of(const tenon__cuda_problem_t* problem, const int64_t* strides,
                              uint32_t which);
/* Has it one element, whatever its rank? */
bool tenon__cuda_is_number(const tenon_value_info_t* value);
/* How a value lies to the result, whatever the extents. */
typedef enum tenon__cuda_operand_sort_t {
  TENON_CUDA_OPERAND_DENSE,  /* has its extents */
  TENON_CUDA_OPERAND_COMMON, /* one number, or one a channel, for all pixels */
  TENON_CUDA_OPERAND_OTHER
} tenon__cuda_operand_sort_t;
/* Of an input of the region. */
tenon__cuda_operand_sort_t tenon__cuda_operand_sort(const tenon__cuda_problem_t* problem,
                                                    uint32_t input);
/* Are these all of the result's pixels without a gap, channels innermost? Of its rank. */
bool tenon__cuda_is_dense(const tenon__cuda_problem_t* problem, const tenon_tensor_view_t* view,
                          int64_t channels);

#endif
