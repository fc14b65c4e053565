/* Reading a region with fewer words: its node's operands, attributes and window. */
#ifndef PLUGINS_CUDNN_REGION_H_
#define PLUGINS_CUDNN_REGION_H_

#include <stdbool.h>

#include "graph.h"

enum { TENON_CUDNN_AXES = 3 };

typedef struct tenon__cudnn_region_t {
  const tenon_region_t* handle;
  const tenon_region_table_t* table;
} tenon__cudnn_region_t;

/* Operand `index` of the node, or its output; NULL: absent. */
const tenon_value_info_t* tenon__cudnn_operand(tenon__cudnn_region_t region, uint32_t index);
const tenon_value_info_t* tenon__cudnn_result(tenon__cudnn_region_t region, uint32_t index);
/* The region's input of that number; NULL: absent. */
const tenon_value_info_t* tenon__cudnn_argument(tenon__cudnn_region_t region, uint32_t index);
/* Entry of a list attribute, or of one number under index 0; `otherwise` where there is none. */
int64_t tenon__cudnn_number_of(tenon__cudnn_region_t region, const char* name, size_t index,
                               int64_t otherwise);
/* Equal extents throughout the profile. */
bool tenon__cudnn_is_fixed(const tenon_value_info_t* value);
/* Does the profile know an image that may be without pixels, as padding alone? cuDNN takes none.
 * What only a run finds out may be any, and is refused by bind where it is one. */
bool tenon__cudnn_may_lack_pixels(const tenon_value_info_t* image);
int32_t tenon__cudnn_refuse(tenon_refusal_t* out_refusal, uint32_t reason, const char* detail);
/* False: not a type of cuDNN's that this plugin takes. */
bool tenon__cudnn_type_of(tenon_dtype_t dtype, cudnnDataType_t* out_type);

/* May a tactic keep values of `dtype` in `narrow`? UNDEFINED: as they are. A plan may say anything.
 */
bool tenon__cudnn_may_narrow(tenon_dtype_t dtype, tenon_dtype_t narrow);

typedef enum tenon__cudnn_padding_t {
  TENON_CUDNN_PADDING_GIVEN,
  TENON_CUDNN_PADDING_UPPER, /* by the extents, the odd one behind */
  TENON_CUDNN_PADDING_LOWER,
} tenon__cudnn_padding_t;

/* A window over `axes` spatial axes, which are two or three here: one alone is a line of height 1.
 */
typedef struct tenon__cudnn_window_t {
  uint32_t axes;
  uint32_t missing; /* axes in front that the tensors do not have: 0 or 1 */
  tenon__cudnn_padding_t padding;
  int64_t kernel[TENON_CUDNN_AXES];
  int64_t stride[TENON_CUDNN_AXES];
  int64_t dilation[TENON_CUDNN_AXES];
  int64_t begin[TENON_CUDNN_AXES];
  int64_t end[TENON_CUDNN_AXES];
  int64_t grown[TENON_CUDNN_AXES]; /* of a transposed one: output_padding */
} tenon__cudnn_window_t;

/* `kernel`: the window's extents, one for each of the node's spatial axes. */
void tenon__cudnn_window_read(tenon__cudnn_region_t region, uint32_t spatial, const int64_t* kernel,
                              tenon__cudnn_window_t* out_window);
/* Padding that follows from extents: those over which the window goes, and how many windows there
 * are. False: cuDNN would find another number of windows, padding is negative, or there are no
 * pixels. */
bool tenon__cudnn_window_fit(tenon__cudnn_window_t* window, const tenon__cudnn_shape_t* over,
                             const tenon__cudnn_shape_t* windows);
/* Extents of [N, C, spatial...] with strides by layout. */
void tenon__cudnn_shape_of(const int64_t* dims, uint32_t rank, bool channels_last,
                           tenon__cudnn_shape_t* out_shape);
int64_t tenon__cudnn_count(const int64_t* dims, uint32_t rank);

/* Channels last for ranks 3 to 5; NULL for others. */
const tenon_layout_t* tenon__cudnn_channels_last(uint32_t rank);

#endif
