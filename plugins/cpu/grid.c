/*
 * Kernels for standard.grid_sample/1 of f32 images and for standard.affine_grid/1. grid_sample
 * computes the taps of a part of the grid once and uses them for all channels.
 */
#include "closed.h"

/* ---- grid_sample ---- */

typedef enum padding_t { ZEROS, BORDER, REFLECTION } padding_t;

enum { POINTS = 256, MAX_TAPS = 16 };

typedef struct sampler_t {
  tenon__cpu_closed_t closed;
  padding_t padding;
  bool aligned;
  int axis_taps; /* 1 nearest, 2 linear, 4 cubic */
} sampler_t;

static int32_t match_sample(void* state, const tenon_region_t* handle,
                            const tenon_region_table_t* table, tenon_refusal_t* out_refusal) {
  const tenon__cpu_region_t region = {handle, table};
  const tenon_value_info_t* grid = tenon__cpu_region_input(region, 1);
  if (tenon__cpu_region_input(region, 0)->rank != 4) {
    return tenon__cpu_refuse(out_refusal, TENON_REFUSAL_RANK, NULL);
  }
  return grid->dtype == TENON_DTYPE_FLOAT32
             ? tenon__cpu_closed_match_f32(state, handle, table, out_refusal)
             : tenon__cpu_refuse(out_refusal, TENON_REFUSAL_DTYPE, NULL);
}

static tenon_status_t prepare_sample(const tenon_prepare_t* call, void** out_instance) {
  const tenon__cpu_region_t region = {call->region, call->table};
  sampler_t* self = tenon__cpu_closed_create(call, sizeof(*self));
  if (self == NULL) {
    return TENON_ERROR_OUT_OF_MEMORY;
  }
  const char* mode = tenon__cpu_region_string(region, "mode");
  const char* padding = tenon__cpu_region_string(region, "padding_mode");
  self->axis_taps = strcmp(mode, "nearest") == 0 ? 1 : strcmp(mode, "cubic") == 0 ? 4 : 2;
  self->padding = strcmp(padding, "border") == 0       ? BORDER
                  : strcmp(padding, "reflection") == 0 ? REFLECTION
                                                       : ZEROS;
  self->aligned = tenon__cpu_region_int(region, "align_corners", 0) != 0;
  *out_instance = self;
  return TENON_OK;
}

/* Reflects a position at both ends until it is inside. */
static double reflect(const sampler_t* self, double place, double extent) {
  const double low = self->aligned ? 0.0 : -0.5;
  const double span = self->aligned ? extent - 1.0 : extent;
  if (span <= 0.0) {
    return low;
  }
  const double turned = fmod(fabs(place - low), 2.0 * span);
  return low + (turned <= span ? turned : 2.0 * span - turned);
}

static double place_of(const sampler_t* self, double coordinate, double extent) {
  const double place = self->aligned ? (coordinate + 1.0) / 2.0 * (extent - 1.0)
                                     : ((coordinate + 1.0) * extent - 1.0) / 2.0;
  const double whole = self->axis_taps == 1 ? nearbyint(place) : place;
  const double low = self->aligned ? 0.0 : -0.5;
  const bool is_inside = whole >= low && whole <= extent - 1.0 - low;
  if (self->axis_taps == 4 || is_inside || self->padding == ZEROS) {
    return whole; /* cubic: the padding applies to each tap */
  }
  return self->padding == BORDER ? fmin(fmax(whole, 0.0), extent - 1.0)
                                 : reflect(self, whole, extent);
}

/* Applies the padding to one pixel. Returns -1 if the pixel counts as zero. */
static int64_t pixel_of(const sampler_t* self, double at, int64_t extent) {
  if (at >= 0 && at < (double)extent) {
    return (int64_t)at;
  }
  if (self->padding == BORDER) {
    return at < 0 ? 0 : extent - 1;
  }
  return self->padding == REFLECTION ? (int64_t)reflect(self, at, (double)extent) : -1;
}

static double weight_of(const sampler_t* self, double distance) {
  const double a = -0.75;
  const double d = fabs(distance);
  if (self->axis_taps < 4) {
    return self->axis_taps == 1 ? 1.0 : 1.0 - d;
  }
  return d <= 1.0 ? ((a + 2.0) * d - (a + 3.0)) * d * d + 1.0
                  : ((a * d - 5.0 * a) * d + 8.0 * a) * d - 4.0 * a;
}

/* Computes the pixels and weights of a point along one axis. Pixels outside of the image have
 * weight 0. If the position is not finite, all weights are 0. */
static void axis_taps(const sampler_t* self, double coordinate, int64_t extent,
                      int64_t out_pixels[4], double out_weights[4]) {
  const double place = place_of(self, coordinate, (double)extent);
  const double first = floor(place) - (self->axis_taps == 4 ? 1.0 : 0.0);
  for (int k = 0; k < self->axis_taps; k++) {
    const double at = first + k;
    const int64_t pixel = isfinite(at) ? pixel_of(self, at, extent) : -1;
    const bool is_there = pixel >= 0 && pixel < extent;
    out_pixels[k] = is_there ? pixel : 0;
    out_weights[k] = is_there ? weight_of(self, place - at) : 0.0;
  }
}

typedef struct taps_t {
  int32_t index[MAX_TAPS * POINTS];
  float weights[MAX_TAPS * POINTS];
} taps_t;

static void find_taps(const sampler_t* self, const int64_t* plane, const float* grid, int64_t count,
                      taps_t* out) {
  const int n = self->axis_taps;
  for (int64_t k = 0; k < count; k++) {
    int64_t rows[4] = {0};
    int64_t columns[4] = {0};
    double row_weights[4] = {0};
    double column_weights[4] = {0};
    axis_taps(self, grid[2 * k + 1], plane[0], rows, row_weights);
    axis_taps(self, grid[2 * k], plane[1], columns, column_weights);
    for (int tap = 0; tap < n * n; tap++) {
      const int64_t at = tap * count + k;
      out->weights[at] = (float)(row_weights[tap / n] * column_weights[tap % n]);
      out->index[at] = (int32_t)(rows[tap / n] * plane[1] + columns[tap % n]);
    }
  }
}

typedef struct sampling_t {
  const sampler_t* self;
  const tenon_tensor_view_t* x;
  const float* grid;
  float* y;
  int64_t points; /* points of an image */
  int64_t parts;
} sampling_t;

static void run_samples(void* user, int64_t begin, int64_t end, uint32_t thread) {
  (void)thread;
  const sampling_t* job = user;
  const int64_t channels = job->x->dims[1];
  const int64_t plane = job->x->dims[2] * job->x->dims[3];
  taps_t taps;
  for (int64_t part = begin; part < end; part++) {
    const int64_t image = part / job->parts;
    const int64_t first = part % job->parts * POINTS;
    const int64_t count = job->points - first < POINTS ? job->points - first : POINTS;
    find_taps(job->self, job->x->dims + 2, job->grid + (image * job->points + first) * 2, count,
              &taps);
    const tenon__cpu_sums_t sums = {taps.index, taps.weights,
                                    (size_t)(job->self->axis_taps * job->self->axis_taps),
                                    (size_t)count};
    for (int64_t channel = image * channels; channel < (image + 1) * channels; channel++) {
      float* y = job->y + channel * job->points + first;
      job->self->closed.isa->elements->gather_sum(y, (const float*)job->x->data + channel * plane,
                                                  (size_t)plane, &sums);
    }
  }
}

static tenon_status_t enqueue_sample(const tenon_enqueue_t* call) {
  const sampler_t* self = call->instance;
  const tenon_tensor_view_t* y = tenon__cpu_closed_output(call, 0);
  sampling_t job = {
      self,    tenon__cpu_closed_input(call, 0), tenon__cpu_closed_input(call, 1)->data,
      y->data, y->dims[2] * y->dims[3],          0};
  job.parts = (job.points + POINTS - 1) / POINTS;
  const int64_t plane = job.x->dims[2] * job.x->dims[3];
  const tenon_status_t status =
      tenon__cpu_closed_check_count(call, plane, "elements of a plane of x");
  if (status != TENON_OK) {
    return status;
  }
  if (plane == 0) {
    memset(y->data, 0, (size_t)tenon__cpu_closed_count(y, 0, 4) * sizeof(float));
    return TENON_OK;
  }
  const double taps = self->axis_taps * self->axis_taps;
  tenon__cpu_closed_divide(call, y->dims[0] * job.parts,
                           POINTS * (10 + (double)job.x->dims[1] * taps / 2), run_samples, &job);
  return TENON_OK;
}

static const char* const sample_operators[] = {"standard.grid_sample/1", NULL};
static const char* const sample_attributes[] = {"mode", "padding_mode", "align_corners", NULL};
TENON_CPU_CLOSED(grid_sample, "grid_sample", sample_operators, sample_attributes, match_sample,
                 prepare_sample, NULL, enqueue_sample);

/* ---- affine_grid ---- */

typedef struct affine_t {
  tenon__cpu_closed_t closed;
  bool aligned;
} affine_t;

static tenon_status_t prepare_affine(const tenon_prepare_t* call, void** out_instance) {
  affine_t* self = tenon__cpu_closed_create(call, sizeof(*self));
  if (self == NULL) {
    return TENON_ERROR_OUT_OF_MEMORY;
  }
  self->aligned = tenon__cpu_region_int((tenon__cpu_region_t){call->region, call->table},
                                        "align_corners", 0) != 0;
  *out_instance = self;
  return TENON_OK;
}

typedef struct grid_job_t {
  const affine_t* self;
  const float* theta;
  const tenon_tensor_view_t* y;
  int64_t axes;
} grid_job_t;

static int32_t match_affine(void* state, const tenon_region_t* handle,
                            const tenon_region_table_t* table, tenon_refusal_t* out_refusal) {
  const uint32_t rank = tenon__cpu_region_output((tenon__cpu_region_t){handle, table}, 0)->rank;
  return rank == 4 || rank == 5 ? tenon__cpu_closed_match_f32(state, handle, table, out_refusal)
                                : tenon__cpu_refuse(out_refusal, TENON_REFUSAL_RANK, NULL);
}

/* Sets the line of coordinates along an axis: coordinate of point `at` = start + at * step. */
static void axis_line(bool aligned, int64_t extent, double* out_start, double* out_step) {
  *out_step = !aligned ? 2.0 / (double)extent : extent > 1 ? 2.0 / (double)(extent - 1) : 0.0;
  *out_start = aligned ? -1.0 : 1.0 / (double)extent - 1.0;
}

/* Writes rows of the innermost axis. */
static void run_grid(void* user, int64_t begin, int64_t end, uint32_t thread) {
  (void)thread;
  const grid_job_t* job = user;
  const int64_t axes = job->axes;
  const int64_t* extents = job->y->dims + 1;
  const int64_t width = extents[axes - 1];
  for (int64_t row = begin; row < end; row++) {
    double base[3] = {0};
    double slope[3] = {0};
    double starts[3] = {0};
    double steps[3] = {0};
    int64_t rest = row;
    for (int64_t axis = axes; axis-- > 0;) {
      axis_line(job->self->aligned, extents[axis], &starts[axis], &steps[axis]);
      if (axis + 1 < axes) {
        starts[axis] += (double)(rest % extents[axis]) * steps[axis];
        rest /= extents[axis];
      }
    }
    for (int64_t k = 0; k < axes; k++) {
      const float* theta = job->theta + (rest * axes + k) * (axes + 1);
      base[k] = theta[axes];
      for (int64_t axis = 0; axis < axes; axis++) { /* innermost first */
        base[k] += theta[axis] * starts[axes - 1 - axis];
      }
      slope[k] = theta[0] * steps[axes - 1];
    }
    float* y = (float*)job->y->data + row * width * axes;
    if (axes == 2) {
      for (int64_t at = 0; at < width; at++) {
        y[2 * at] = (float)(base[0] + (double)at * slope[0]);
        y[2 * at + 1] = (float)(base[1] + (double)at * slope[1]);
      }
      continue;
    }
    for (int64_t at = 0; at < width; at++, y += axes) {
      for (int64_t k = 0; k < axes; k++) {
        y[k] = (float)(base[k] + (double)at * slope[k]);
      }
    }
  }
}

static tenon_status_t enqueue_affine(const tenon_enqueue_t* call) {
  const tenon_tensor_view_t* y = tenon__cpu_closed_output(call, 0);
  grid_job_t job = {call->instance, tenon__cpu_closed_input(call, 0)->data, y, y->rank - 2};
  if (tenon__cpu_closed_count(y, 0, y->rank) > 0) {
    tenon__cpu_closed_divide(call, tenon__cpu_closed_count(y, 0, y->rank - 2),
                             (double)y->dims[y->rank - 2] * 2, run_grid, &job);
  }
  return TENON_OK;
}

static const char* const affine_operators[] = {"standard.affine_grid/1", NULL};
static const char* const affine_attributes[] = {"align_corners", NULL};
TENON_CPU_CLOSED(affine_grid, "affine_grid", affine_operators, affine_attributes, match_affine,
                 prepare_affine, NULL, enqueue_affine);
