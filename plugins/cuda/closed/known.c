/*
 * Data that are checked when a plan is built: constants, and arguments that are absent. A node all of
 * whose data are known to be right is taken by a kernel that reports no errors in data.
 */
#include <math.h>
#include <string.h>

#include "families.h"

static const tenon_value_info_t* info_of(const tenon__closed_work_t* work, uint32_t input) {
  return work->table->value(work->region, work->table->input(work->region, input));
}

/* The extents that every run has at least: in `work` are the largest. */
static int64_t least_extent(const tenon__closed_work_t* work, uint32_t input, uint32_t axis) {
  return info_of(work, input)->dims_min[axis];
}
static int64_t least_count(const tenon__closed_work_t* work, uint32_t input) {
  int64_t count = 1;
  for (uint32_t k = 0; k < work->in[input].rank; k++) {
    count *= least_extent(work, input, k);
  }
  return count;
}

/* Of an input that is there. NULL: no constant. */
static const void* constant_of(const tenon__closed_work_t* work, uint32_t input) {
  return info_of(work, input)->constant_data;
}

static int64_t whole_at(const tenon__closed_work_t* work, uint32_t input, int64_t index) {
  const void* data = constant_of(work, input);
  return work->in[input].dtype == TENON_DTYPE_INT64 ? ((const int64_t*)data)[index]
                                                    : ((const int32_t*)data)[index];
}

/* Absent, or constants of the interval [low, high). */
static bool lie_between(const tenon__closed_work_t* work, uint32_t input, int64_t low,
                        int64_t high) {
  const tenon__closed_shape_t* shape = &work->in[input];
  if (!shape->present) {
    return true;
  }
  const bool is_whole = shape->dtype == TENON_DTYPE_INT64 || shape->dtype == TENON_DTYPE_INT32;
  bool fit = is_whole && constant_of(work, input) != NULL;
  for (int64_t k = 0; fit && k < shape->count; k++) {
    const int64_t value = whole_at(work, input, k);
    fit = value >= low && value < high;
  }
  return fit;
}

const char* tenon__closed_refuse_data(const tenon__closed_work_t* work, bool is_known) {
  return work->row->knows == NULL || work->row->knows(work) == is_known ? NULL
         : is_known ? "data that are known in a run only"
                    : "its data are known: another kernel reports no errors in them";
}

tenon_status_t tenon__closed_finish_known(const tenon_prepare_t* call,
                                          tenon__closed_instance_t* instance, void** out_instance) {
  return instance->work.row->knows(&instance->work)
             ? tenon__closed_finish(call, instance, out_instance)
             : TENON_ERROR_UNSUPPORTED;
}

/* ---- Rows ---- */

bool tenon__closed_knows_axis(const tenon__closed_work_t* work) {
  const int64_t rank = work->in[0].rank;
  return work->in[1].count == 1 && lie_between(work, 1, -rank, rank);
}

bool tenon__closed_knows_transform_axis(const tenon__closed_work_t* work) {
  const int64_t rank = work->in[0].rank;
  const bool is_given = work->in[2].present && work->in[2].count > 0;
  if (is_given && !lie_between(work, 2, INT64_MIN, INT64_MAX)) {
    return false;
  }
  const int64_t axis = is_given ? whole_at(work, 2, 0) : tenon__closed_int(work, "fixed_axis");
  return axis >= -rank && axis < rank && axis != -1 && axis != rank - 1;
}

/* Filters of antialiasing widen with the scale, which then belongs to the extents: see resize.cuh. */
bool tenon__closed_knows_scales(const tenon__closed_work_t* work) {
  const tenon__closed_shape_t* scales = &work->in[2];
  const bool widens = tenon__closed_int(work, "antialias") != 0;
  const float* data = scales->present ? constant_of(work, 2) : NULL;
  bool fit = !scales->present || (data != NULL && scales->dtype == TENON_DTYPE_FLOAT32 && !widens);
  const int64_t count = data == NULL ? 0 : scales->count;
  for (int64_t k = 0; fit && k < count; k++) {
    fit = isfinite(data[k]) && data[k] > 0.0F;
  }
  for (uint32_t k = 0; fit && k < work->in[0].rank; k++) {
    fit = least_extent(work, 0, k) > 0;
  }
  return fit;
}

bool tenon__closed_knows_batches(const tenon__closed_work_t* work) {
  return lie_between(work, 2, 0, least_extent(work, 0, 0));
}

bool tenon__closed_knows_lengths(const tenon__closed_work_t* work) {
  const uint32_t time = tenon__closed_int(work, "layout") != 0 ? 1 : 0;
  return lie_between(work, 4, 0, least_extent(work, 0, time) + 1);
}

/* Each position is a row of the cosines; without positions each token has its own. */
bool tenon__closed_knows_positions(const tenon__closed_work_t* work) {
  const tenon__closed_shape_t* x = &work->in[0];
  const int64_t size =
      x->rank == 4 ? x->dims[3] : x->dims[2] / tenon__closed_int(work, "num_heads");
  const int64_t turned = tenon__closed_int(work, "rotary_dim");
  const int64_t half = (turned == 0 ? size : turned) / 2;
  const int64_t rows = half == 0 ? 0 : least_count(work, 1) / half;
  const int64_t tokens = x->dims[0] * x->dims[x->rank == 4 ? 2 : 1];
  return work->in[3].present ? lie_between(work, 3, 0, rows) : !x->open && tokens <= rows;
}

bool tenon__closed_knows_windows(const tenon__closed_work_t* work) {
  const tenon__closed_shape_t* y = &work->out[0];
  const tenon_value_info_t* image =
      work->table->value(work->region, work->table->output(work->region, 0));
  const uint32_t spatial = y->rank - 2;
  int64_t windows = 1;
  bool fit = work->in[2].count == (int64_t)spatial && lie_between(work, 2, 1, INT32_MAX);
  for (uint32_t k = 0; fit && k < spatial; k++) {
    const int64_t taps = whole_at(work, 2, k);
    const int64_t padding =
        tenon__closed_item(work, "pads", k, 0) + tenon__closed_item(work, "pads", k + spatial, 0);
    const int64_t dilation = tenon__closed_item(work, "dilations", k, 1);
    const int64_t stride = tenon__closed_item(work, "strides", k, 1);
    const int64_t room = y->dims[k + 2] + padding - (taps - 1) * dilation - 1;
    fit = image->dims_min[k + 2] == image->dims_max[k + 2] && room >= 0;
    windows *= fit ? room / stride + 1 : 0;
  }
  return fit && least_extent(work, 0, 2) == work->in[0].dims[2] && work->in[0].dims[2] == windows;
}

bool tenon__closed_knows_elements(const tenon__closed_work_t* work) {
  const uint32_t axis = tenon__closed_axis(tenon__closed_int(work, "axis"), work->in[0].rank);
  const int64_t extent = least_extent(work, 0, axis);
  return lie_between(work, 1, -extent, extent);
}

bool tenon__closed_knows_slices(const tenon__closed_work_t* work) {
  const tenon__closed_shape_t* indices = &work->in[1];
  const int64_t depth = indices->dims[indices->rank - 1];
  bool fit = lie_between(work, 1, INT64_MIN, INT64_MAX) && depth <= (int64_t)work->in[0].rank;
  for (int64_t k = 0; fit && k < indices->count; k++) {
    const int64_t extent = least_extent(work, 0, (uint32_t)(k % depth));
    const int64_t index = whole_at(work, 1, k);
    fit = index >= -extent && index < extent;
  }
  return fit;
}
