/* The operator tensorrt.pooled_regions/1 and its kernel for the CPU. */
#include "pooled.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "offer.h"

static const tenon_attribute_descriptor_t attributes[] = {
    TENSORRT_INT("height", "7", "1..4096"), TENSORRT_INT("width", "7", "1..4096"),
    TENSORRT_INT("image_height", "1024", "1..16777216"),
    TENSORRT_INT("image_width", "1024", "1..16777216"), TENSORRT_FLOAT("first_area", "0.01"),
    TENSORRT_ATTRIBUTE("mode", TENON_ATTRIBUTE_STRING, "'pyramid'", "pyramid|multilevel"),
    /* -1: corners are aligned, 0: no offset, 1: half a bin, 2: half a bin and half a pixel */
    TENSORRT_INT("transform", "2", "-1..2"), TENSORRT_INT("sampling_ratio", "0", "0..4096"),
    TENSORRT_INT("absolute", "1", "0..1"), /* corners are in pixels of the image */
    TENSORRT_INT("swap", "0", "0..1"),     /* corners are y1, x1, y2, x2 */
    TENSORRT_INT("plus_one", "0", "0..1")  /* areas are those of extents with one pixel more */
};
static const tenon_port_t inputs[] = {
    TENSORRT_PORT_IN("rois", "f32", "[0,1]"),
    {.size = sizeof(tenon_port_t), .name = "maps", .type = "f32", .flags = TENON_PORT_VARIADIC}};
static const tenon_port_t outputs[] = {TENSORRT_PORT("y", "f32")};
static const tenon_check_t checks[] = {
    TENSORRT_CHECK("rank(rois) == 3 && dim(rois, 2) == 4",
                   "regions have rank {rank(rois)}, not 3 with 4 numbers each"),
    TENSORRT_CHECK("rank(maps) == 4", "maps have rank {rank(maps)}, not 4"),
    TENSORRT_CHECK("same_dim(maps, 0) == dim(rois, 0)",
                   "maps of {same_dim(maps, 0)} images, regions of {dim(rois, 0)}"),
    TENSORRT_CHECK("transform >= 0 || (height > 1 && width > 1)",
                   "transform -1 needs at least 2 x 2 bins, not {height} x {width}")};
static const tenon_operator_t operators[] = {
    {.size = sizeof(tenon_operator_t),
     .name = "tensorrt.pooled_regions/1",
     .summary = "regions of interest as bins, each from the level of a pyramid that fits its size",
     .attributes = TENON_LIST(attributes),
     .inputs = TENON_LIST(inputs),
     .outputs = TENON_LIST(outputs),
     .checks = TENON_LIST(checks),
     .shape = "y = [dim(rois, 0), dim(rois, 1), same_dim(maps, 1), height, width]",
     .traits = "pure"}};
const tenon_offering_t tensorrt_pooled_operators = TENON_OFFERING_OF("operator/1", operators);

/* ---- The kernel ---- */

typedef struct settings_t {
  int64_t bins[2]; /* rows, columns; so are all pairs */
  int64_t image[2];
  int64_t transform;
  int64_t sampling_ratio;
  int64_t absolute;
  int64_t swap;
  int64_t plus_one;
  float first_area;
  bool is_multilevel;
} settings_t;

/* Samples along an axis: bin k has `ratio` of them, at
 * start + step (k + (i + offset) / ratio), at most `last`. */
typedef struct samples_t {
  float start;
  float step;
  float offset;
  float last;
  int64_t ratio;
} samples_t;

typedef struct place_t {
  int64_t low;
  int64_t high;
  float share; /* of high */
} place_t;

static place_t place_of(const samples_t* samples, int64_t bin, int64_t index) {
  const float at = samples->start + samples->step * (float)bin +
                   samples->step * ((float)index + samples->offset) / (float)samples->ratio;
  const float inside = fminf(fmaxf(at, 0), samples->last);
  place_t place = {.low = (int64_t)inside};
  place.share = inside - (float)place.low;
  place.high = place.share == 0 ? place.low : place.low + 1;
  return place;
}

static float mean_of_bin(const float* plane, int64_t width, const samples_t samples[2], int64_t row,
                         int64_t column) {
  float sum = 0;
  for (int64_t i = 0; i < samples[0].ratio; ++i) {
    const place_t y = place_of(&samples[0], row, i);
    const float* low = plane + y.low * width;
    const float* high = plane + y.high * width;
    for (int64_t k = 0; k < samples[1].ratio; ++k) {
      const place_t x = place_of(&samples[1], column, k);
      const float above = low[x.low] * (1 - x.share) + low[x.high] * x.share;
      const float below = high[x.low] * (1 - x.share) + high[x.high] * x.share;
      sum += above * (1 - y.share) + below * y.share;
    }
  }
  return sum / (float)(samples[0].ratio * samples[1].ratio);
}

/* A region: corners by axis (rows, columns), and its area. */
typedef struct region_t {
  float low[2];
  float high[2];
  float area;
  bool is_valid;
} region_t;

static region_t region_of(const settings_t* settings, const float* roi) {
  region_t region = {.is_valid = true, .area = 1};
  for (int axis = 0; axis < 2; ++axis) {
    const int first = settings->is_multilevel || settings->swap ? axis : 1 - axis;
    const float a = roi[first];
    const float b = roi[first + 2];
    const float extent = (float)settings->image[axis];
    if (settings->is_multilevel) {
      region.is_valid = region.is_valid && a >= 0 && b <= extent && a < b;
      region.low[axis] = a;
      region.high[axis] = b;
      region.area *= b - a;
      continue;
    }
    const float most = settings->absolute ? extent : 1;
    const float unit = settings->absolute ? extent : 1;
    region.low[axis] = fmaxf(0, fminf(most, fminf(a, b))) / unit;
    region.high[axis] = fmaxf(0, fminf(most, fmaxf(a, b))) / unit;
    region.area *= region.high[axis] - region.low[axis] + (settings->plus_one ? 1 / extent : 0);
  }
  return region;
}

static void place_samples(const settings_t* settings, const region_t* region, uint32_t level,
                          const int64_t* dims, samples_t out_samples[2]) {
  for (int axis = 0; axis < 2; ++axis) {
    samples_t* samples = &out_samples[axis];
    const float extent = (float)dims[axis];
    const float bins = (float)settings->bins[axis];
    samples->last = extent - 1;
    if (settings->is_multilevel) {
      const float scale = ldexpf(1, -(int)level - 2);
      samples->start = region->low[axis] * scale;
      samples->step = (region->high[axis] * scale - samples->start) / bins;
      samples->offset = 0.5f;
      samples->ratio = 1;
      continue;
    }
    const float pixel = settings->transform == 2 ? 0.5f : 0;
    const float unit = settings->transform == -1 ? extent - 1 : extent;
    samples->start = region->low[axis] * unit - pixel;
    const float length = region->high[axis] * unit - pixel - samples->start;
    samples->step = length / (settings->transform == -1 ? bins - 1 : bins);
    samples->offset = settings->transform >= 1 ? 0.5f : 0;
    samples->ratio = settings->sampling_ratio;
    if (samples->ratio == 0) {
      samples->ratio = (int64_t)fmaxf(1, ceilf(length / bins));
    }
  }
}

static void pool_region(void* user, uint32_t index, uint32_t thread) {
  const tenon_enqueue_t* call = user;
  const settings_t* settings = call->instance;
  const tenon_tensor_view_t* rois = &call->inputs[0].tensor;
  const int64_t channels = call->outputs[0].tensor.dims[2];
  const int64_t bins = settings->bins[0] * settings->bins[1];
  float* y = (float*)call->outputs[0].tensor.data + index * channels * bins;
  const region_t region = region_of(settings, (const float*)rois->data + (size_t)index * 4);
  uint32_t level = 0;
  float area = settings->first_area;
  (void)thread;
  for (; level + 2 < call->input_count && region.area > area; ++level) {
    area *= 4;
  }
  const tenon_tensor_view_t* map = &call->inputs[level + 1].tensor;
  const int64_t* dims = map->dims + 2;
  if (!region.is_valid || dims[0] == 0 || dims[1] == 0) {
    memset(y, 0, (size_t)(channels * bins) * sizeof(*y));
    return;
  }
  samples_t samples[2];
  place_samples(settings, &region, level, dims, samples);
  const float* planes =
      (const float*)map->data + index / rois->dims[1] * channels * dims[0] * dims[1];
  for (int64_t channel = 0; channel < channels; ++channel) {
    const float* plane = planes + channel * dims[0] * dims[1];
    for (int64_t bin = 0; bin < bins; ++bin) {
      *y++ = mean_of_bin(plane, dims[1], samples, bin / settings->bins[1], bin % settings->bins[1]);
    }
  }
}

static tenon_status_t enqueue(const tenon_enqueue_t* call) {
  const int64_t* dims = call->inputs[0].tensor.dims;
  return tensorrt_each(call, dims[0] * dims[1], pool_region);
}

static int32_t match(void* state, const tenon_region_t* region, const tenon_region_table_t* table,
                     tenon_refusal_t* out_refusal) {
  const tenon_value_info_t* rois = table->value(region, table->node_input(region, 0, 0));
  (void)state;
  if (rois->dims_max[1] > 0 && rois->dims_max[0] > INT32_MAX / rois->dims_max[1]) {
    *out_refusal = (tenon_refusal_t){.reason = TENON_REFUSAL_DYNAMIC_SHAPE,
                                     .detail = "more than 2^31 regions"};
    return 0;
  }
  return 1;
}

static tenon_status_t tactics(void* state, const tenon_region_t* region,
                              const tenon_region_table_t* table, tenon_emit_t* emit,
                              tenon_status_t (*add)(tenon_emit_t*, const tenon_tactic_t*)) {
  const tenon_value_info_t* y = table->value(region, table->node_output(region, 0, 0));
  double elements = 1;
  (void)state;
  for (uint32_t axis = 0; axis < y->rank; ++axis) {
    elements *= (double)y->dims_opt[axis];
  }
  const tenon_tactic_t tactic = {.size = sizeof(tactic),
                                 .name = "bins",
                                 .estimate_seconds = 1e-6 + elements * 2e-8,
                                 .launches = 1};
  return add(emit, &tactic);
}

static tenon_status_t prepare(const tenon_prepare_t* call, void** out_instance) {
  settings_t* settings = call->host->allocate(call->preparation, sizeof(*settings));
  if (settings == NULL) {
    return TENON_ERROR_OUT_OF_MEMORY;
  }
  const struct {
    const char* name;
    int64_t* to;
  } ints[] = {{"height", &settings->bins[0]},        {"width", &settings->bins[1]},
              {"image_height", &settings->image[0]}, {"image_width", &settings->image[1]},
              {"transform", &settings->transform},   {"sampling_ratio", &settings->sampling_ratio},
              {"absolute", &settings->absolute},     {"swap", &settings->swap},
              {"plus_one", &settings->plus_one}};
  double area = 0;
  const char* mode = NULL;
  for (size_t k = 0; k < sizeof(ints) / sizeof(ints[0]); ++k) {
    (void)call->table->attribute_int(call->region, 0, ints[k].name, ints[k].to);
  }
  (void)call->table->attribute_float(call->region, 0, "first_area", &area);
  (void)call->table->attribute_string(call->region, 0, "mode", &mode);
  settings->first_area = (float)area;
  settings->is_multilevel = mode != NULL && strcmp(mode, "multilevel") == 0;
  *out_instance = settings;
  return TENON_OK;
}

TENSORRT_KERNEL(tensorrt_pooled_kernels, "pooled_regions");
