/*
 * A kernel for standard.roi_align/1 of f32. It computes the samples of a region's bins once and
 * uses them for all channels. Regions with many samples need several passes.
 */
#include "closed.h"

typedef struct align_t {
  tenon__cpu_closed_t closed;
  bool takes_max;
  double offset; /* offset of pixel centres */
  double scale;
  int64_t ratio;
} align_t;

/* The taps of one pass, for each thread. */
typedef struct bound_t {
  size_t capacity;
  int32_t* index;
  float* weights;
  float* sums;
} bound_t;

static tenon_status_t prepare(const tenon_prepare_t* call, void** out_instance) {
  const tenon__cpu_region_t region = {call->region, call->table};
  align_t* self = tenon__cpu_closed_create(call, sizeof(*self));
  if (self == NULL) {
    return TENON_ERROR_OUT_OF_MEMORY;
  }
  self->takes_max = strcmp(tenon__cpu_region_string(region, "mode"), "max") == 0;
  self->offset =
      strcmp(tenon__cpu_region_string(region, "coordinate_mode"), "half_pixel") == 0 ? 0.5 : 0.0;
  self->scale = tenon__cpu_region_float(region, "spatial_scale", 1.0);
  self->ratio = tenon__cpu_region_int(region, "sampling_ratio", 0);
  *out_instance = self;
  return TENON_OK;
}

static tenon_status_t bind(void* instance, tenon_binding_t* binding, const tenon_bind_table_t* host,
                           void** out_bound) {
  enum { LEAST_CAPACITY = 16384 };
  (void)instance;
  const tenon_tensor_view_t* y = &host->output(binding, 0)->tensor;
  const uint32_t threads = host->thread_count(binding);
  const size_t bins = (size_t)(y->dims[2] * y->dims[3]);
  bound_t* bound = host->allocate(binding, sizeof(*bound));
  if (bound == NULL) {
    return TENON_ERROR_OUT_OF_MEMORY;
  }
  bound->capacity = 4 * bins > LEAST_CAPACITY ? 4 * bins : LEAST_CAPACITY;
  bound->index = host->allocate(binding, threads * bound->capacity * sizeof(int32_t));
  bound->weights = host->allocate(binding, threads * bound->capacity * sizeof(float));
  bound->sums = host->allocate(binding, threads * (bins + 1) * sizeof(float));
  *out_bound = bound;
  return bound->index == NULL || bound->weights == NULL || bound->sums == NULL
             ? TENON_ERROR_OUT_OF_MEMORY
             : TENON_OK;
}

typedef struct job_t {
  const align_t* self;
  const bound_t* bound;
  const tenon_tensor_view_t* x;
  const float* regions;
  int64_t columns; /* floats of a region */
  const tenon_tensor_view_t* batches;
  const tenon_tensor_view_t* y;
} job_t;

static int64_t batch_of(const job_t* job, int64_t region) {
  return job->batches->dtype == TENON_DTYPE_INT32 ? ((const int32_t*)job->batches->data)[region]
                                                  : ((const int64_t*)job->batches->data)[region];
}

/* One axis of a region: the begin of the first bin, the size of a bin, the samples of each bin and
 * the extent of the image. */
typedef struct axis_t {
  double begin;
  double bin;
  int64_t samples;
  int64_t extent;
} axis_t;

static axis_t axis_of(const align_t* self, const float* ends, int64_t bins, int64_t extent) {
  const double begin = (double)ends[0] * self->scale - self->offset;
  const double length = (double)ends[2] * self->scale - self->offset - begin;
  const double bin = (self->offset == 0.0 ? fmax(length, 1.0) : length) / (double)bins;
  const double needed = fmin(fmax(ceil(bin), 0.0), 1e6);
  return (axis_t){begin, bin, self->ratio > 0 ? self->ratio : (int64_t)needed, extent};
}

/* Computes the two pixels around a sample. Returns false if the sample is too far outside the
 * image. */
static bool pixels_of(const axis_t* axis, int64_t bin, int64_t sample, int64_t out_pixels[2],
                      float out_weights[2]) {
  const double part = ((double)sample + 0.5) / (double)axis->samples;
  const double place = axis->begin + ((double)bin + part) * axis->bin;
  if (!(place >= -1.0 && place <= (double)axis->extent)) {
    return false;
  }
  const double inside = fmin(fmax(place, 0.0), (double)(axis->extent - 1));
  out_pixels[0] = (int64_t)inside;
  out_pixels[1] = out_pixels[0] + (out_pixels[0] + 1 < axis->extent ? 1 : 0);
  out_weights[1] = (float)(inside - (double)out_pixels[0]);
  out_weights[0] = 1.0F - out_weights[1];
  return true;
}

/* Computes the taps of samples [first, first + count) of each bin. The taps of one sample are
 * consecutive. */
static void find_taps(const axis_t axes[2], const int64_t* bins, int64_t first, int64_t count,
                      int32_t* out_index, float* out_weights) {
  const int64_t all = bins[0] * bins[1];
  for (int64_t bin = 0; bin < all; bin++) {
    for (int64_t k = 0; k < count; k++) {
      const int64_t sample = first + k;
      int64_t rows[2] = {0, 0};
      int64_t columns[2] = {0, 0};
      float row_weights[2] = {0, 0};
      float column_weights[2] = {0, 0};
      const bool is_there =
          pixels_of(&axes[0], bin / bins[1], sample / axes[1].samples, rows, row_weights) &&
          pixels_of(&axes[1], bin % bins[1], sample % axes[1].samples, columns, column_weights);
      for (int64_t corner = 0; corner < 4; corner++) {
        const int64_t at = (4 * k + corner) * all + bin;
        out_index[at] =
            is_there ? (int32_t)(rows[corner / 2] * axes[1].extent + columns[corner % 2]) : 0;
        out_weights[at] = is_there ? row_weights[corner / 2] * column_weights[corner % 2] : 0.0F;
      }
    }
  }
}

/* Takes the maximum over the weighted corners of all samples. */
static void take_max(float* y, const float* x, const tenon__cpu_sums_t* taps, bool is_first) {
  for (size_t tap = 0; tap < taps->taps; tap++) {
    for (size_t k = 0; k < taps->count; k++) {
      const size_t at = tap * taps->count + k;
      const float part = taps->weights[at] * x[taps->index[at]];
      y[k] = (is_first && tap == 0) || part > y[k] || isnan(y[k]) ? part : y[k];
    }
  }
}

/* Adds the taps of one pass for all channels. */
static void add_samples(const job_t* job, int64_t region, const tenon__cpu_sums_t* taps,
                        double divisor, bool is_first, float* sums) {
  const int64_t plane = job->x->dims[2] * job->x->dims[3];
  const int64_t channels = job->x->dims[1];
  const float* x = (const float*)job->x->data + batch_of(job, region) * channels * plane;
  float* y = (float*)job->y->data + region * channels * (int64_t)taps->count;
  for (int64_t c = 0; c < channels; c++, x += plane, y += taps->count) {
    if (job->self->takes_max) {
      take_max(y, x, taps, is_first);
      continue;
    }
    job->self->closed.isa->elements->gather_sum(sums, x, (size_t)plane, taps);
    for (size_t k = 0; k < taps->count; k++) {
      y[k] = (is_first ? 0.0F : y[k]) + sums[k] / (float)divisor;
    }
  }
}

static void run_regions(void* user, int64_t begin, int64_t end, uint32_t thread) {
  const job_t* job = user;
  const int64_t* bins = job->y->dims + 2;
  const int64_t all = bins[0] * bins[1];
  int32_t* index = job->bound->index + thread * job->bound->capacity;
  float* weights = job->bound->weights + thread * job->bound->capacity;
  float* sums = job->bound->sums + thread * (size_t)(all + 1);
  const int64_t most = (int64_t)job->bound->capacity / (4 * all);
  for (int64_t region = begin; region < end; region++) {
    const float* ends = job->regions + region * job->columns;
    const axis_t axes[2] = {axis_of(job->self, ends + 1, bins[0], job->x->dims[2]),
                            axis_of(job->self, ends, bins[1], job->x->dims[3])};
    const int64_t samples = axes[0].samples * axes[1].samples;
    if (samples == 0) {
      const size_t count = (size_t)(job->x->dims[1] * all);
      memset((float*)job->y->data + (size_t)region * count, 0, count * sizeof(float));
    }
    for (int64_t first = 0; first < samples; first += most) {
      const int64_t count = samples - first < most ? samples - first : most;
      find_taps(axes, bins, first, count, index, weights);
      const tenon__cpu_sums_t taps = {index, weights, (size_t)(4 * count), (size_t)all};
      add_samples(job, region, &taps, (double)samples, first == 0, sums);
    }
  }
}

static tenon_status_t enqueue(const tenon_enqueue_t* call) {
  const tenon_tensor_view_t* regions = tenon__cpu_closed_input(call, 1);
  job_t job = {.self = call->instance,
               .bound = call->bound,
               .x = tenon__cpu_closed_input(call, 0),
               .regions = regions->data,
               .columns = regions->dims[1],
               .batches = tenon__cpu_closed_input(call, 2),
               .y = tenon__cpu_closed_output(call, 0)};
  const int64_t bins = job.y->dims[2] * job.y->dims[3];
  if (tenon__cpu_closed_count(job.y, 0, 4) == 0) {
    return TENON_OK;
  }
  for (int64_t region = 0; region < job.y->dims[0]; region++) {
    const int64_t batch = batch_of(&job, region);
    if (batch < 0 || batch >= job.x->dims[0]) {
      return tenon__cpu_closed_fail(call, "batch index %lld is out of range for %lld images",
                                    (long long)batch, (long long)job.x->dims[0]);
    }
  }
  const int64_t plane = job.x->dims[2] * job.x->dims[3];
  const tenon_status_t status =
      tenon__cpu_closed_check_count(call, plane, "elements of a plane of x");
  if (status != TENON_OK) {
    return status;
  }
  tenon__cpu_closed_divide(call, job.y->dims[0], (double)(bins * job.x->dims[1]) * 8, run_regions,
                           &job);
  return TENON_OK;
}

static const char* const operators[] = {"standard.roi_align/1", NULL};
static const char* const attributes[] = {
    "mode", "output_height", "output_width", "sampling_ratio", "spatial_scale", "coordinate_mode",
    NULL};
TENON_CPU_CLOSED(roi_align, "roi_align", operators, attributes, tenon__cpu_closed_match_f32,
                 prepare, bind, enqueue);
