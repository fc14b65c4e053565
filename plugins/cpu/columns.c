/*
 * Kernels for standard.col2im/1 and standard.lp_pool/1 of f32. col2im adds each tap of the windows
 * to the image, row by row. lp_pool sums powers of the image's elements, also tap by tap.
 */
#include "closed.h"
#include "window.h"

/* The extents of the image and of the grid of windows. */
typedef struct plane_t {
  int64_t image[TENON_CPU_AXES];
  int64_t windows[TENON_CPU_AXES];
  const tenon__cpu_window_t* window;
} plane_t;

/* A function that is called for each tap and each row of windows if the tap has elements inside the
 * image. The tap of window `begin` in row `windows_row` is at offset `image_at` of the image. The
 * taps of the next windows, up to `end`, follow at the window's stride. */
typedef void (*visit_row_t)(void* user, int64_t windows_row, int64_t tap, int64_t begin,
                            int64_t end, int64_t image_at);

static int64_t place_along(const plane_t* plane, size_t axis, int64_t at, int64_t tap) {
  return at * plane->window->stride[axis] + tap * plane->window->dilation[axis] -
         plane->window->pad_begin[axis];
}

static void visit_rows(const plane_t* plane, visit_row_t visit, void* user) {
  const tenon__cpu_window_t* window = plane->window;
  const int64_t taps = tenon__cpu_window_taps(window);
  for (int64_t tap = 0; tap < taps; tap++) {
    const int64_t tap_2 = tap % window->kernel[2];
    const int64_t tap_1 = tap / window->kernel[2] % window->kernel[1];
    const int64_t tap_0 = tap / window->kernel[2] / window->kernel[1];
    int64_t begin = 0;
    const int64_t end = tenon__cpu_taps_between(place_along(plane, 2, 0, tap_2), window->stride[2],
                                                plane->windows[2], 0, plane->image[2], &begin);
    int64_t first_0 = 0;
    int64_t first_1 = 0;
    const int64_t end_0 =
        tenon__cpu_taps_between(place_along(plane, 0, 0, tap_0), window->stride[0],
                                plane->windows[0], 0, plane->image[0], &first_0);
    const int64_t end_1 =
        tenon__cpu_taps_between(place_along(plane, 1, 0, tap_1), window->stride[1],
                                plane->windows[1], 0, plane->image[1], &first_1);
    for (int64_t row_0 = begin < end ? first_0 : end_0; row_0 < end_0; row_0++) {
      const int64_t at_0 = place_along(plane, 0, row_0, tap_0);
      for (int64_t row_1 = first_1; row_1 < end_1; row_1++) {
        const int64_t at_1 = place_along(plane, 1, row_1, tap_1);
        visit(user, row_0 * plane->windows[1] + row_1, tap, begin, end,
              (at_0 * plane->image[1] + at_1) * plane->image[2] +
                  place_along(plane, 2, begin, tap_2));
      }
    }
  }
}

static int64_t product(const int64_t* extents) {
  return extents[0] * extents[1] * extents[2];
}

/* ---- col2im ---- */

typedef struct columns_t {
  tenon__cpu_closed_t closed;
  tenon__cpu_window_t window; /* its kernel extents are data */
  int64_t pad_end[TENON_CPU_AXES];
} columns_t;

static int32_t match_columns(void* state, const tenon_region_t* handle,
                             const tenon_region_table_t* table, tenon_refusal_t* out_refusal) {
  const tenon_value_info_t* y = tenon__cpu_region_output((tenon__cpu_region_t){handle, table}, 0);
  return y->rank >= 3 && y->rank <= 2 + TENON_CPU_AXES
             ? tenon__cpu_closed_match_f32(state, handle, table, out_refusal)
             : tenon__cpu_refuse(out_refusal, TENON_REFUSAL_RANK, NULL);
}

static tenon_status_t prepare_columns(const tenon_prepare_t* call, void** out_instance) {
  static const int64_t unknown[TENON_CPU_AXES] = {1, 1, 1};
  const tenon__cpu_region_t region = {call->region, call->table};
  columns_t* self = tenon__cpu_closed_create(call, sizeof(*self));
  if (self == NULL) {
    return TENON_ERROR_OUT_OF_MEMORY;
  }
  tenon__cpu_window_read(region, tenon__cpu_region_output(region, 0)->rank - 2U, unknown,
                         &self->window);
  const size_t axes = self->window.rank;
  for (size_t axis = 0; axis < axes; axis++) {
    self->pad_end[TENON_CPU_AXES - axes + axis] =
        tenon__cpu_region_item(region, "pads", axes + axis, 0);
  }
  *out_instance = self;
  return TENON_OK;
}

typedef struct columns_job_t {
  plane_t plane;
  const float* x;
  float* y;
  int64_t taps;
  tenon__cpu_binary_t add;
  const float* slice_x; /* input of the current slice */
  float* slice_y;
} columns_job_t;

static void add_row(void* user, int64_t row, int64_t tap, int64_t begin, int64_t end,
                    int64_t image_at) {
  const columns_job_t* job = user;
  const int64_t stride = job->plane.window->stride[2];
  const float* x = job->slice_x + tap * product(job->plane.windows) + row * job->plane.windows[2];
  float* y = job->slice_y + image_at;
  if (stride == 1) {
    job->add(y, y, x + begin, (size_t)(end - begin));
    return;
  }
  for (int64_t k = 0; k < end - begin; k++) {
    y[k * stride] += x[begin + k];
  }
}

static void run_columns(void* user, int64_t begin, int64_t end, uint32_t thread) {
  (void)thread;
  columns_job_t job = *(const columns_job_t*)user;
  const int64_t pixels = product(job.plane.image);
  for (int64_t slice = begin; slice < end; slice++) {
    job.slice_x = job.x + slice * job.taps * product(job.plane.windows);
    job.slice_y = job.y + slice * pixels;
    memset(job.slice_y, 0, (size_t)pixels * sizeof(float));
    visit_rows(&job.plane, add_row, &job);
  }
}

static tenon_status_t enqueue_columns(const tenon_enqueue_t* call) {
  const columns_t* self = call->instance;
  const tenon_tensor_view_t* x = tenon__cpu_closed_input(call, 0);
  const tenon_tensor_view_t* y = tenon__cpu_closed_output(call, 0);
  const tenon_tensor_view_t* block = tenon__cpu_closed_input(call, 2);
  tenon__cpu_window_t window = self->window;
  const tenon__cpu_elements_t* elements = self->closed.isa->elements;
  columns_job_t job = {.x = x->data, .y = y->data};
  job.add = elements->binary[TENON_OPCODE_ADD][TENON_CPU_TYPE_F32][TENON_CPU_VV];
  job.plane = (plane_t){{1, 1, 1}, {1, 1, 1}, &window};
  const uint32_t axes = y->rank - 2;
  for (uint32_t axis = 0; axis < axes; axis++) {
    const uint32_t at = TENON_CPU_AXES - axes + axis;
    window.kernel[at] = ((const int64_t*)block->data)[axis];
    const int64_t reach = (window.kernel[at] - 1) * window.dilation[at] + 1;
    const int64_t padded = y->dims[axis + 2] + window.pad_begin[at] + self->pad_end[at];
    job.plane.image[at] = y->dims[axis + 2];
    job.plane.windows[at] = (padded - reach) / window.stride[at] + 1;
  }
  job.taps = tenon__cpu_window_taps(&window);
  if (product(job.plane.windows) != x->dims[x->rank - 1]) {
    return tenon__cpu_closed_fail(call, "x has %lld windows, the image %lld",
                                  (long long)x->dims[x->rank - 1],
                                  (long long)product(job.plane.windows));
  }
  if (tenon__cpu_closed_count(y, 0, y->rank) > 0) {
    tenon__cpu_closed_divide(call, y->dims[0] * y->dims[1],
                             (double)(job.taps * product(job.plane.windows)) / 4, run_columns,
                             &job);
  }
  return TENON_OK;
}

static const char* const columns_operators[] = {"standard.col2im/1", NULL};
static const char* const columns_attributes[] = {"strides", "dilations", "pads", NULL};
TENON_CPU_CLOSED(col2im, "col2im", columns_operators, columns_attributes, match_columns,
                 prepare_columns, NULL, enqueue_columns);

/* ---- lp_pool ---- */

/* For usual numbers, higher powers overflow f32. */
enum { MOST_POWER = 4 };

typedef struct norms_t {
  tenon__cpu_closed_t closed;
  tenon__cpu_window_t window;
  int64_t power;
} norms_t;

static int32_t match_norms(void* state, const tenon_region_t* handle,
                           const tenon_region_table_t* table, tenon_refusal_t* out_refusal) {
  const tenon__cpu_region_t region = {handle, table};
  const tenon_value_info_t* x = tenon__cpu_region_input(region, 0);
  if (tenon__cpu_region_int(region, "p", 2) > MOST_POWER) {
    return tenon__cpu_refuse(out_refusal, TENON_REFUSAL_ATTRIBUTE, "a power above 4");
  }
  return x->rank >= 3 && x->rank <= 2 + TENON_CPU_AXES &&
                 tenon__cpu_region_length(region, "kernel_shape") + 2 == x->rank
             ? tenon__cpu_closed_match_f32(state, handle, table, out_refusal)
             : tenon__cpu_refuse(out_refusal, TENON_REFUSAL_RANK, NULL);
}

static tenon_status_t prepare_norms(const tenon_prepare_t* call, void** out_instance) {
  const tenon__cpu_region_t region = {call->region, call->table};
  const uint32_t axes = tenon__cpu_region_input(region, 0)->rank - 2U;
  int64_t kernel[TENON_CPU_AXES] = {1, 1, 1};
  norms_t* self = tenon__cpu_closed_create(call, sizeof(*self));
  if (self == NULL) {
    return TENON_ERROR_OUT_OF_MEMORY;
  }
  for (uint32_t axis = 0; axis < axes; axis++) {
    kernel[axis] = tenon__cpu_region_item(region, "kernel_shape", axis, 1);
  }
  tenon__cpu_window_read(region, axes, kernel, &self->window);
  self->power = tenon__cpu_region_int(region, "p", 2);
  *out_instance = self;
  return TENON_OK;
}

typedef struct norms_job_t {
  plane_t plane;
  int64_t power;
  const float* x;
  float* y;
  const float* slice_x;
  float* slice_y;
} norms_job_t;

static float power_of(float x, int64_t power) {
  return power == 1 ? fabsf(x) : power == 2 ? x * x : powf(fabsf(x), (float)power);
}

static void add_powers(void* user, int64_t row, int64_t tap, int64_t begin, int64_t end,
                       int64_t image_at) {
  (void)tap;
  const norms_job_t* job = user;
  const int64_t stride = job->plane.window->stride[2];
  const float* x = job->slice_x + image_at;
  float* y = job->slice_y + row * job->plane.windows[2] + begin;
  if (job->power == 2) {
    for (int64_t k = 0; k < end - begin; k++) {
      y[k] += x[k * stride] * x[k * stride];
    }
    return;
  }
  for (int64_t k = 0; k < end - begin; k++) {
    y[k] += power_of(x[k * stride], job->power);
  }
}

static void run_norms(void* user, int64_t begin, int64_t end, uint32_t thread) {
  (void)thread;
  norms_job_t job = *(const norms_job_t*)user;
  const int64_t points = product(job.plane.windows);
  for (int64_t slice = begin; slice < end; slice++) {
    job.slice_x = job.x + slice * product(job.plane.image);
    job.slice_y = job.y + slice * points;
    memset(job.slice_y, 0, (size_t)points * sizeof(float));
    visit_rows(&job.plane, add_powers, &job);
    const int64_t roots = job.power > 1 ? points : 0;
    for (int64_t k = 0; k < roots; k++) {
      float* y = &job.slice_y[k];
      *y = job.power == 2 ? sqrtf(*y) : powf(*y, 1.0F / (float)job.power);
    }
  }
}

static tenon_status_t enqueue_norms(const tenon_enqueue_t* call) {
  const norms_t* self = call->instance;
  const tenon_tensor_view_t* x = tenon__cpu_closed_input(call, 0);
  const tenon_tensor_view_t* y = tenon__cpu_closed_output(call, 0);
  tenon__cpu_image_t in;
  tenon__cpu_image_t out;
  tenon__cpu_window_t window = self->window;
  norms_job_t job = {.power = self->power, .x = x->data, .y = y->data};
  tenon__cpu_image_read(x, &in);
  tenon__cpu_image_read(y, &out);
  tenon__cpu_window_fit(&window, in.extent, out.extent);
  job.plane.window = &window;
  memcpy(job.plane.image, in.extent, sizeof(job.plane.image));
  memcpy(job.plane.windows, out.extent, sizeof(job.plane.windows));
  if (tenon__cpu_closed_count(y, 0, y->rank) > 0) {
    const double taps = (double)tenon__cpu_window_taps(&window);
    tenon__cpu_closed_divide(call, y->dims[0] * y->dims[1],
                             taps * (double)product(out.extent) / (self->power > 2 ? 0.1 : 2),
                             run_norms, &job);
  }
  return TENON_OK;
}

static const char* const norms_operators[] = {"standard.lp_pool/1", NULL};
static const char* const norms_attributes[] = {"kernel_shape", "strides",   "dilations", "pads",
                                               "auto_pad",     "ceil_mode", "p",         NULL};
TENON_CPU_CLOSED(lp_pool, "lp_pool", norms_operators, norms_attributes, match_norms, prepare_norms,
                 NULL, enqueue_norms);
