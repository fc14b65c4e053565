/* A region of a convolution, read: its operands, its window, what stands in its slot. */
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

typedef struct tenon__cuda_problem_t {
  const tenon_region_t* region;
  const tenon_region_table_t* table;
  const tenon_value_info_t* x;
  const tenon_value_info_t* w;
  const tenon_value_info_t* bias; /* NULL: none */
  const tenon_value_info_t* y;
  const tenon_program_t* program; /* NULL: the slot is empty */
  int64_t groups;
  int64_t channels; /* all of them */
  int64_t outputs;
  tenon__cuda_window_t window;
} tenon__cuda_problem_t;

/* False, and a refusal: not a convolution in one or two axes of floats with constant weights. */
bool tenon__cuda_problem_read(const tenon_region_t* region, const tenon_region_table_t* table,
                              tenon__cuda_problem_t* out_problem, tenon_refusal_t* out_refusal);
/* Padding in front along an axis of these extents. */
int64_t tenon__cuda_window_begin(const tenon__cuda_window_t* window, uint32_t axis, int64_t extent,
                                 int64_t results);
/* Elements that the window reaches over. */
int64_t tenon__cuda_window_reach(const tenon__cuda_window_t* window, uint32_t axis);
/* Extent `axis` (along y, x) of a value with one or two spatial axes. */
int64_t tenon__cuda_spatial(const int64_t* dims, uint32_t rank, uint32_t axis);
/* Channels innermost, for ranks 3 and 4. */
const tenon_layout_t* tenon__cuda_channels_last(uint32_t rank);

#endif
