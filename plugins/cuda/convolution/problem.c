/* Reading a region of a convolution. */
#include "problem.h"

#include <string.h>

static const tenon_value_info_t* operand(const tenon__cuda_problem_t* p, uint32_t index) {
  const uint32_t count = p->table->node_input_count(p->region, 0);
  const uint32_t value = index < count ? p->table->node_input(p->region, 0, index) : TENON_NONE;
  return value != TENON_NONE ? p->table->value(p->region, value) : NULL;
}

static int64_t number_of(const tenon__cuda_problem_t* p, const char* name, size_t index,
                         int64_t otherwise) {
  const int64_t* values = NULL;
  size_t count = 0;
  int64_t value = otherwise;
  if (p->table->attribute_ints(p->region, 0, name, &values, &count) == TENON_OK) {
    return index < count ? values[index] : otherwise;
  }
  return p->table->attribute_int(p->region, 0, name, &value) == TENON_OK ? value : otherwise;
}

/* False: padding is negative. */
static bool read_window(tenon__cuda_problem_t* p) {
  const uint32_t spatial = p->x->rank - 2;
  const uint32_t missing = 2 - spatial;
  const char* how = "explicit";
  (void)p->table->attribute_string(p->region, 0, "auto_pad", &how);
  const bool given = strcmp(how, "explicit") == 0;
  bool good = true;
  p->window =
      (tenon__cuda_window_t){.padding = strcmp(how, "same_upper") == 0   ? TENON_CUDA_PADDING_UPPER
                                        : strcmp(how, "same_lower") == 0 ? TENON_CUDA_PADDING_LOWER
                                                                         : TENON_CUDA_PADDING_GIVEN,
                             .kernel = {1, 1},
                             .stride = {1, 1},
                             .dilation = {1, 1}};
  for (uint32_t k = 0; k < spatial; k++) {
    const uint32_t axis = k + missing;
    p->window.kernel[axis] = p->w->dims_max[k + 2];
    p->window.stride[axis] = number_of(p, "strides", k, 1);
    p->window.dilation[axis] = number_of(p, "dilations", k, 1);
    p->window.begin[axis] = given ? number_of(p, "pads", k, 0) : 0;
    good =
        good && p->window.begin[axis] >= 0 && (!given || number_of(p, "pads", k + spatial, 0) >= 0);
  }
  return good;
}

static bool refuse(tenon_refusal_t* out_refusal, uint32_t reason, const char* detail) {
  *out_refusal = (tenon_refusal_t){.reason = reason, .detail = detail};
  return false;
}

/* Windows that touch and do not overlap, of the whole result. */
static bool read_spread(tenon__cuda_problem_t* p) {
  const uint32_t spatial = p->x->rank - 2;
  bool good = read_window(p) && p->window.padding == TENON_CUDA_PADDING_GIVEN;
  for (uint32_t axis = 0; axis < 2; axis++) {
    good = good && p->window.kernel[axis] == p->window.stride[axis] &&
           p->window.dilation[axis] == 1 && p->window.begin[axis] == 0;
  }
  for (uint32_t k = 0; k < spatial; k++) {
    good = good && number_of(p, "pads", k + spatial, 0) == 0 &&
           number_of(p, "output_padding", k, 0) == 0 && number_of(p, "output_shape", k, 0) == 0;
  }
  return good;
}

/* From the innermost outwards; false: too many axes, or too few. */
static bool find_axes(tenon__cuda_problem_t* p) {
  const uint32_t rank = p->x->rank;
  if (p->y == NULL || p->y->rank != rank || rank > 4 || rank < (p->is_product ? 2 : 3) ||
      (p->is_product && p->w->rank != 2)) {
    return false;
  }
  const uint32_t column = p->is_product ? rank - 2 : rank - 1;
  const uint32_t row_least = p->is_product ? 3 : 4;
  p->axes[TENON_CUDA_AXIS_CHANNEL] = p->is_product ? rank - 1 : 1;
  p->axes[TENON_CUDA_AXIS_COLUMN] = column;
  p->axes[TENON_CUDA_AXIS_ROW] = rank >= row_least ? column - 1 : TENON_NONE;
  p->axes[TENON_CUDA_AXIS_IMAGE] = p->is_product && rank < 4 ? TENON_NONE : 0;
  return true;
}

static bool is_constant(const tenon_value_info_t* value) {
  return (value->flags & TENON_VALUE_CONSTANT) != 0;
}

bool tenon__cuda_problem_read(const tenon_region_t* region, const tenon_region_table_t* table,
                              tenon__cuda_problem_t* out_problem, tenon_refusal_t* out_refusal) {
  static const tenon__cuda_window_t one_pixel = {
      .kernel = {1, 1}, .stride = {1, 1}, .dilation = {1, 1}};
  tenon__cuda_problem_t* p = out_problem;
  *p = (tenon__cuda_problem_t){.region = region, .table = table};
  p->is_product = strcmp(table->node_operator(region, 0), "standard.mat_mul/1") == 0;
  p->is_spread = strcmp(table->node_operator(region, 0), "standard.deconvolution/1") == 0;
  p->x = operand(p, 0);
  p->w = operand(p, 1);
  p->bias = operand(p, 2);
  const uint32_t y = table->node_output(region, 0, 0);
  p->y = y == TENON_NONE ? NULL : table->value(region, y);
  p->program = table->slot_program(region, 0);
  const tenon_dtype_t dtype = p->x->dtype;
  if ((dtype != TENON_DTYPE_FLOAT32 && dtype != TENON_DTYPE_FLOAT16 &&
       dtype != TENON_DTYPE_BFLOAT16) ||
      p->w->dtype != dtype || (p->bias != NULL && p->bias->dtype != dtype)) {
    return refuse(out_refusal, TENON_REFUSAL_DTYPE, NULL);
  }
  if (!find_axes(p)) {
    return refuse(out_refusal, TENON_REFUSAL_RANK, NULL);
  }
  if (!is_constant(p->w) || (p->bias != NULL && !is_constant(p->bias))) {
    return refuse(out_refusal, TENON_REFUSAL_CONSTANT_REQUIRED, "weights and bias");
  }
  p->groups = 1;
  if (p->is_product) {
    p->window = one_pixel;
    p->channels = p->w->dims_max[0];
    p->outputs = p->w->dims_max[1];
  } else if (p->is_spread) {
    if (!read_spread(p)) {
      return refuse(out_refusal, TENON_REFUSAL_ATTRIBUTE, "windows that overlap, or padding");
    }
    p->groups = number_of(p, "groups", 0, 1);
    p->channels = p->w->dims_max[0];
    p->outputs = p->w->dims_max[1] * p->groups;
  } else if (read_window(p)) {
    p->groups = number_of(p, "groups", 0, 1);
    p->channels = p->w->dims_max[1] * p->groups;
    p->outputs = p->w->dims_max[0];
  } else {
    return refuse(out_refusal, TENON_REFUSAL_ATTRIBUTE, "negative padding");
  }
  p->columns = p->outputs * (p->is_spread ? p->window.kernel[0] * p->window.kernel[1] : 1);
  if (p->channels <= 0 || p->outputs <= 0 || p->window.kernel[0] <= 0 || p->window.kernel[1] <= 0) {
    return refuse(out_refusal, TENON_REFUSAL_SHAPE, "weights without elements");
  }
  if (p->program != NULL && (p->program->rank != p->y->rank || p->program->output_count != 1)) {
    return refuse(out_refusal, TENON_REFUSAL_SLOT, "a space of another rank");
  }
  return true;
}

int64_t tenon__cuda_window_reach(const tenon__cuda_window_t* window, uint32_t axis) {
  return (window->kernel[axis] - 1) * window->dilation[axis] + 1;
}

int64_t tenon__cuda_window_begin(const tenon__cuda_window_t* window, uint32_t axis, int64_t extent,
                                 int64_t results) {
  if (window->padding == TENON_CUDA_PADDING_GIVEN) {
    return window->begin[axis];
  }
  const int64_t lacking =
      (results - 1) * window->stride[axis] + tenon__cuda_window_reach(window, axis) - extent;
  const int64_t total = lacking > 0 ? lacking : 0;
  return window->padding == TENON_CUDA_PADDING_UPPER ? total / 2 : total - total / 2;
}

int64_t tenon__cuda_extent_of(const tenon__cuda_problem_t* problem, const int64_t* dims,
                              uint32_t which) {
  return problem->axes[which] == TENON_NONE ? 1 : dims[problem->axes[which]];
}

int64_t tenon__cuda_stride_of(const tenon__cuda_problem_t* problem, const int64_t* strides,
                              uint32_t which) {
  return problem->axes[which] == TENON_NONE ? 0 : strides[problem->axes[which]];
}

bool tenon__cuda_is_number(const tenon_value_info_t* value) {
  bool is_one = true;
  for (uint32_t axis = 0; axis < value->rank; axis++) {
    is_one = is_one && value->dims_min[axis] == 1 && value->dims_max[axis] == 1;
  }
  return is_one;
}

tenon__cuda_operand_sort_t tenon__cuda_operand_sort(const tenon__cuda_problem_t* problem,
                                                    uint32_t input) {
  const tenon__cuda_problem_t* p = problem;
  const uint32_t number = p->table->input(p->region, input);
  const tenon_value_info_t* v = number == TENON_NONE ? NULL : p->table->value(p->region, number);
  if (v != NULL && tenon__cuda_is_number(v)) {
    return TENON_CUDA_OPERAND_COMMON;
  }
  if (v == NULL || v->rank != p->y->rank) {
    return TENON_CUDA_OPERAND_OTHER;
  }
  bool is_dense = true;
  bool is_common = true;
  for (uint32_t axis = 0; axis < v->rank; axis++) {
    const bool is_same = v->dims_min[axis] == p->y->dims_min[axis] &&
                         v->dims_opt[axis] == p->y->dims_opt[axis] &&
                         v->dims_max[axis] == p->y->dims_max[axis];
    const bool is_one = v->dims_min[axis] == 1 && v->dims_max[axis] == 1;
    is_dense = is_dense && is_same;
    is_common = is_common && (is_one || (is_same && axis == p->axes[TENON_CUDA_AXIS_CHANNEL]));
  }
  return is_dense    ? TENON_CUDA_OPERAND_DENSE
         : is_common ? TENON_CUDA_OPERAND_COMMON
                     : TENON_CUDA_OPERAND_OTHER;
}

bool tenon__cuda_is_dense(const tenon__cuda_problem_t* problem, const tenon_tensor_view_t* view,
                          int64_t channels) {
  static const uint32_t order[] = {TENON_CUDA_AXIS_CHANNEL, TENON_CUDA_AXIS_COLUMN,
                                   TENON_CUDA_AXIS_ROW, TENON_CUDA_AXIS_IMAGE};
  bool is_dense = tenon__cuda_extent_of(problem, view->dims, TENON_CUDA_AXIS_CHANNEL) == channels;
  int64_t step = 1;
  for (size_t k = 0; k < sizeof(order) / sizeof(*order); k++) {
    const int64_t extent = tenon__cuda_extent_of(problem, view->dims, order[k]);
    is_dense = is_dense &&
               (extent <= 1 || tenon__cuda_stride_of(problem, view->strides, order[k]) == step);
    step *= extent;
  }
  return is_dense;
}
