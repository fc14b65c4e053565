/*
 * A kernel for standard.deformable_convolution/1 of f32. It handles the output's points in parts.
 * For each part, each tap of each input channel gives one row of interpolated samples. Each output
 * channel is a weighted sum of these rows.
 */
#include "closed.h"
#include "window.h"

enum { POINTS = 64, CORNERS = 4 };

typedef struct deformable_t {
  tenon__cpu_closed_t closed;
  tenon__cpu_window_t window;
  int64_t groups;
  int64_t offset_groups;
} deformable_t;

/* Scratch memory of each thread. */
typedef struct bound_t {
  int64_t rows; /* channels of a group x taps */
  float* samples;
  const float** row_list;
} bound_t;

static int32_t match(void* state, const tenon_region_t* handle, const tenon_region_table_t* table,
                     tenon_refusal_t* out_refusal) {
  const tenon__cpu_region_t region = {handle, table};
  const tenon_value_info_t* w = tenon__cpu_region_input(region, 1);
  if (tenon__cpu_region_input(region, 0)->rank != 4) {
    return tenon__cpu_refuse(out_refusal, TENON_REFUSAL_RANK, NULL);
  }
  for (uint32_t k = 0; k < w->rank; k++) {
    if (w->dims_min[k] != w->dims_max[k]) {
      return tenon__cpu_refuse(out_refusal, TENON_REFUSAL_DYNAMIC_SHAPE, "weights");
    }
  }
  return tenon__cpu_closed_match_f32(state, handle, table, out_refusal);
}

static tenon_status_t prepare(const tenon_prepare_t* call, void** out_instance) {
  const tenon__cpu_region_t region = {call->region, call->table};
  deformable_t* self = tenon__cpu_closed_create(call, sizeof(*self));
  if (self == NULL) {
    return TENON_ERROR_OUT_OF_MEMORY;
  }
  tenon__cpu_window_read(region, 2, tenon__cpu_region_input(region, 1)->dims_max + 2,
                         &self->window);
  self->groups = tenon__cpu_region_int(region, "groups", 1);
  self->offset_groups = tenon__cpu_region_int(region, "offset_groups", 1);
  *out_instance = self;
  return TENON_OK;
}

static tenon_status_t bind(void* instance, tenon_binding_t* binding, const tenon_bind_table_t* host,
                           void** out_bound) {
  const deformable_t* self = instance;
  const tenon_tensor_view_t* w = &host->input(binding, self->closed.inputs[1])->tensor;
  const size_t threads = host->thread_count(binding);
  bound_t* bound = host->allocate(binding, sizeof(*bound));
  if (bound == NULL) {
    return TENON_ERROR_OUT_OF_MEMORY;
  }
  bound->rows = w->dims[1] * w->dims[2] * w->dims[3];
  const size_t rows = (size_t)bound->rows + 1;
  bound->samples = host->allocate(binding, threads * rows * POINTS * sizeof(float));
  /* The elements are pointers. NOLINTNEXTLINE(bugprone-sizeof-expression) */
  bound->row_list = host->allocate(binding, threads * rows * sizeof(*bound->row_list));
  *out_bound = bound;
  return bound->samples == NULL || bound->row_list == NULL ? TENON_ERROR_OUT_OF_MEMORY : TENON_OK;
}

typedef struct job_t {
  const deformable_t* self;
  const bound_t* bound;
  const tenon_tensor_view_t* x;
  const tenon_tensor_view_t* w;
  const tenon_tensor_view_t* y;
  const float* offsets;
  const float* bias; /* may be NULL */
  const float* mask;
  int64_t points; /* points of an image */
  int64_t parts;
} job_t;

/* Points [first, first + count) of one image. */
typedef struct part_t {
  int64_t image;
  int64_t first;
  int64_t count;
} part_t;

typedef struct taps_t {
  int32_t index[CORNERS * POINTS];
  float weights[CORNERS * POINTS];
} taps_t;

/* Finds the 4 pixels around each sample of one tap. Pixels outside of the image have weight 0. */
static void find_corners(const job_t* job, const part_t* part, int64_t offset_group, int64_t tap,
                         taps_t* out) {
  const tenon__cpu_window_t* window = &job->self->window;
  const int64_t taps = window->kernel[1] * window->kernel[2];
  const int64_t height = job->x->dims[2];
  const int64_t width = job->x->dims[3];
  const int64_t entry = (part->image * job->self->offset_groups + offset_group) * taps + tap;
  const float* down = job->offsets + entry * 2 * job->points + part->first;
  const float* across = down + job->points;
  const float* mask = job->mask == NULL ? NULL : job->mask + entry * job->points + part->first;
  for (int64_t k = 0; k < part->count; k++) {
    const int64_t point = part->first + k;
    const int64_t row = point / job->y->dims[3] * window->stride[1] - window->pad_begin[1] +
                        tap / window->kernel[2] * window->dilation[1];
    const int64_t column = point % job->y->dims[3] * window->stride[2] - window->pad_begin[2] +
                           tap % window->kernel[2] * window->dilation[2];
    const double at[2] = {fmin(fmax((double)row + down[k], -2.0), (double)height + 1.0),
                          fmin(fmax((double)column + across[k], -2.0), (double)width + 1.0)};
    const double low[2] = {floor(at[0]), floor(at[1])};
    const double scale = mask == NULL ? 1.0 : mask[k];
    for (int corner = 0; corner < CORNERS; corner++) {
      const double r = low[0] + (corner < 2 ? 0.0 : 1.0);
      const double c = low[1] + (corner % 2 == 0 ? 0.0 : 1.0);
      const bool inside = r >= 0 && r < (double)height && c >= 0 && c < (double)width;
      const double weight = (1.0 - fabs(at[0] - r)) * (1.0 - fabs(at[1] - c));
      out->index[corner * part->count + k] = inside ? (int32_t)(r * (double)width + c) : 0;
      out->weights[corner * part->count + k] = inside ? (float)(weight * scale) : 0.0F;
    }
  }
}

/* Writes one row of samples for each channel of a group and each tap. Rows are ordered by channel,
 * then by tap. */
static void sample(const job_t* job, const part_t* part, int64_t group, float* samples) {
  const tenon__cpu_window_t* window = &job->self->window;
  const int64_t taps = window->kernel[1] * window->kernel[2];
  const int64_t channels = job->w->dims[1];
  const int64_t plane = job->x->dims[2] * job->x->dims[3];
  const int64_t shared = job->x->dims[1] / job->self->offset_groups;
  for (int64_t tap = 0; tap < taps; tap++) {
    taps_t found;
    const tenon__cpu_sums_t sums = {found.index, found.weights, CORNERS, (size_t)part->count};
    int64_t known = -1;
    for (int64_t c = 0; c < channels; c++) {
      const int64_t channel = group * channels + c;
      if (channel / shared != known) {
        known = channel / shared;
        find_corners(job, part, known, tap, &found);
      }
      const float* x =
          (const float*)job->x->data + (part->image * job->x->dims[1] + channel) * plane;
      float* row = samples + (c * taps + tap) * POINTS;
      if (plane > 0) {
        job->self->closed.isa->elements->gather_sum(row, x, (size_t)plane, &sums);
      } else {
        memset(row, 0, (size_t)part->count * sizeof(float));
      }
    }
  }
}

static void run_parts(void* user, int64_t begin, int64_t end, uint32_t thread) {
  const job_t* job = user;
  const int64_t rows = job->bound->rows;
  const int64_t outputs = job->y->dims[1] / job->self->groups;
  float* samples = job->bound->samples + thread * (rows + 1) * POINTS;
  const float** list = job->bound->row_list + thread * (rows + 1);
  for (int64_t k = 0; k < rows; k++) {
    list[k] = samples + k * POINTS;
  }
  for (int64_t at = begin; at < end; at++) {
    const int64_t groups = job->self->groups;
    part_t part = {.image = at / groups / job->parts, .first = at / groups % job->parts * POINTS};
    part.count = job->points - part.first < POINTS ? job->points - part.first : POINTS;
    sample(job, &part, at % groups, samples);
    for (int64_t m = at % groups * outputs; m < (at % groups + 1) * outputs; m++) {
      float* y =
          (float*)job->y->data + (part.image * job->y->dims[1] + m) * job->points + part.first;
      const float start = job->bias == NULL ? 0.0F : job->bias[m];
      for (int64_t k = 0; k < part.count; k++) {
        y[k] = start;
      }
      if (rows > 0) {
        job->self->closed.isa->elements->blend(y, list, (const float*)job->w->data + m * rows,
                                               (size_t)rows, true, (size_t)part.count);
      }
    }
  }
}

static tenon_status_t enqueue(const tenon_enqueue_t* call) {
  const deformable_t* self = call->instance;
  const tenon_tensor_view_t* bias = tenon__cpu_closed_input(call, 3);
  const tenon_tensor_view_t* mask = tenon__cpu_closed_input(call, 4);
  job_t job = {.self = self,
               .bound = call->bound,
               .x = tenon__cpu_closed_input(call, 0),
               .w = tenon__cpu_closed_input(call, 1),
               .y = tenon__cpu_closed_output(call, 0),
               .offsets = tenon__cpu_closed_input(call, 2)->data,
               .bias = bias == NULL ? NULL : bias->data,
               .mask = mask == NULL ? NULL : mask->data};
  job.points = job.y->dims[2] * job.y->dims[3];
  job.parts = (job.points + POINTS - 1) / POINTS;
  const int64_t plane = job.x->dims[2] * job.x->dims[3];
  const tenon_status_t status =
      tenon__cpu_closed_check_count(call, plane, "elements of a plane of x");
  if (status != TENON_OK) {
    return status;
  }
  tenon__cpu_closed_divide(call, job.y->dims[0] * job.parts * self->groups,
                           (double)(job.bound->rows * POINTS) * 2, run_parts, &job);
  return TENON_OK;
}

static const char* const operators[] = {"standard.deformable_convolution/1", NULL};
static const char* const attributes[] = {"strides", "dilations",     "pads",
                                         "groups",  "offset_groups", NULL};
TENON_CPU_CLOSED(deformable, "deformable", operators, attributes, match, prepare, bind, enqueue);
