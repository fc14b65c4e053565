/*
 * standard.convolution_integer/1. Zero points are subtracted from eight-bit numbers, and the differences
 * are widened to 16 bits. The processor adds two multiplications in one instruction (elements.h, pairs).
 * A row of the first matrix has the weights of an output channel. A column of the second one is the
 * patch of a pixel, and adjacent columns are adjacent pixels of the output.
 */
#include "closed.h"
#include "window.h"

enum { INPUT_X, INPUT_W, INPUT_X_ZERO, INPUT_W_ZERO };

typedef struct integer_t {
  tenon__cpu_closed_t closed;
  tenon__cpu_window_t window;
  int64_t groups;
  size_t depth; /* channels of a group x taps */
  size_t pairs;
} integer_t;

typedef struct bound_t {
  size_t taps;
  int16_t* weights; /* [outputs][2 pairs] */
  int16_t* panels;  /* of each thread: [pairs][pair_columns][2] */
  int32_t* places;  /* of each thread: [taps][pair_columns] in a plane; -1: outside */
} bound_t;

static bool is_byte(const tenon_value_info_t* value) {
  return value->dtype == TENON_DTYPE_INT8 || value->dtype == TENON_DTYPE_UINT8;
}

static int32_t match(void* state, const tenon_region_t* handle, const tenon_region_table_t* table,
                     tenon_refusal_t* out_refusal) {
  (void)state;
  const tenon__cpu_region_t region = {handle, table};
  const tenon_value_info_t* x = tenon__cpu_region_input(region, INPUT_X);
  const tenon_value_info_t* w = tenon__cpu_region_input(region, INPUT_W);
  if (!is_byte(x) || !is_byte(w)) {
    return tenon__cpu_refuse(out_refusal, TENON_REFUSAL_DTYPE, NULL);
  }
  if (x->rank < 3 || x->rank > 2 + TENON_CPU_AXES || w->rank != x->rank) {
    return tenon__cpu_refuse(out_refusal, TENON_REFUSAL_RANK, NULL);
  }
  for (uint32_t k = 0; k < w->rank; k++) {
    if (w->dims_min[k] != w->dims_max[k]) {
      return tenon__cpu_refuse(out_refusal, TENON_REFUSAL_DYNAMIC_SHAPE, "weights");
    }
  }
  return 1;
}

/* Eight-bit numbers. A list of one number serves all places. */
typedef struct bytes_t {
  const void* data; /* NULL: zeros */
  tenon_dtype_t dtype;
  bool is_single;
} bytes_t;

static int32_t byte_at(bytes_t bytes, size_t place) {
  const size_t at = bytes.is_single ? 0 : place;
  return bytes.data == NULL                ? 0
         : bytes.dtype == TENON_DTYPE_INT8 ? ((const int8_t*)bytes.data)[at]
                                           : ((const uint8_t*)bytes.data)[at];
}

static bytes_t bytes_of(const tenon_tensor_view_t* view) {
  return view == NULL ? (bytes_t){NULL, TENON_DTYPE_INT8, true}
                      : (bytes_t){view->data, view->dtype,
                                  tenon__cpu_closed_count(view, 0, view->rank) == 1};
}

static tenon_status_t prepare(const tenon_prepare_t* call, void** out_instance) {
  const tenon__cpu_region_t region = {call->region, call->table};
  const tenon_value_info_t* w = tenon__cpu_region_input(region, INPUT_W);
  integer_t* self = tenon__cpu_closed_create(call, sizeof(*self));
  if (self == NULL) {
    return TENON_ERROR_OUT_OF_MEMORY;
  }
  tenon__cpu_window_read(region, w->rank - 2U, w->dims_max + 2, &self->window);
  self->groups = tenon__cpu_region_int(region, "groups", 1);
  self->depth = (size_t)w->dims_max[1] * (size_t)tenon__cpu_window_taps(&self->window);
  self->pairs = (self->depth + 1) / 2;
  *out_instance = self;
  return TENON_OK;
}

static tenon_status_t bind(void* instance, tenon_binding_t* binding, const tenon_bind_table_t* host,
                           void** out_bound) {
  const integer_t* self = instance;
  const tenon_tensor_view_t* w = &host->input(binding, self->closed.inputs[INPUT_W])->tensor;
  const size_t threads = host->thread_count(binding);
  const size_t width = self->closed.isa->elements->pair_columns;
  bound_t* bound = host->allocate(binding, sizeof(*bound));
  if (bound == NULL) {
    return TENON_ERROR_OUT_OF_MEMORY;
  }
  *out_bound = bound;
  bound->taps = (size_t)tenon__cpu_window_taps(&self->window);
  bound->weights =
      host->allocate(binding, ((size_t)w->dims[0] * self->pairs + 1) * 2 * sizeof(int16_t));
  bound->panels =
      host->allocate(binding, threads * (self->pairs + 1) * width * 2 * sizeof(int16_t));
  bound->places = host->allocate(binding, threads * (bound->taps + 1) * width * sizeof(int32_t));
  return bound->weights == NULL || bound->panels == NULL || bound->places == NULL
             ? TENON_ERROR_OUT_OF_MEMORY
             : TENON_OK;
}

typedef struct job_t {
  const integer_t* self;
  const bound_t* bound;
  const tenon_tensor_view_t* x;
  const tenon_tensor_view_t* w;
  const tenon_tensor_view_t* y;
  tenon__cpu_window_t window;
  tenon__cpu_image_t in;
  tenon__cpu_image_t out;
  int32_t x_zero;
  bytes_t weights;
  bytes_t weight_zeros; /* one for each output, or one */
  int64_t points;       /* of an image */
  int64_t parts;
} job_t;

/* Rows [begin, end) of the weights. */
static void widen_rows(void* user, int64_t begin, int64_t end, uint32_t thread) {
  (void)thread;
  const job_t* job = user;
  const size_t depth = job->self->depth;
  for (size_t output = (size_t)begin; output < (size_t)end; output++) {
    int16_t* row = job->bound->weights + output * 2 * job->self->pairs;
    const int32_t zero = byte_at(job->weight_zeros, output);
    for (size_t k = 0; k < depth; k++) {
      row[k] = (int16_t)(byte_at(job->weights, output * depth + k) - zero);
    }
    if (depth % 2 != 0) {
      row[depth] = 0;
    }
  }
}

/* The place that each tap reads, for `count` points from `first` on. */
static void find_places(const job_t* job, int64_t first, int64_t count, int32_t* out_places) {
  const tenon__cpu_window_t* window = &job->window;
  const size_t width = job->self->closed.isa->elements->pair_columns;
  for (int64_t k = 0; k < count; k++) {
    int64_t begin[TENON_CPU_AXES];
    int64_t rest = first + k;
    for (size_t axis = TENON_CPU_AXES; axis-- > 0;) {
      begin[axis] = rest % job->out.extent[axis] * window->stride[axis] - window->pad_begin[axis];
      rest /= job->out.extent[axis];
    }
    for (size_t tap = 0; tap < job->bound->taps; tap++) {
      int64_t left = (int64_t)tap;
      int64_t place = 0;
      int64_t step = 1;
      bool inside = true;
      for (size_t axis = TENON_CPU_AXES; axis-- > 0;) {
        const int64_t at = begin[axis] + left % window->kernel[axis] * window->dilation[axis];
        left /= window->kernel[axis];
        inside = inside && at >= 0 && at < job->in.extent[axis];
        place += at * step;
        step *= job->in.extent[axis];
      }
      out_places[tap * width + (size_t)k] = inside ? (int32_t)place : -1;
    }
  }
}

/* One number of each patch, into every second place. */
static void pack_row(const job_t* job, const char* plane, const int32_t* places, size_t count,
                     int16_t* out) {
  const int32_t zero = job->x_zero;
  if (job->x->dtype == TENON_DTYPE_INT8) {
    const int8_t* x = (const int8_t*)plane;
    for (size_t k = 0; k < count; k++) {
      out[2 * k] = (int16_t)(places[k] < 0 ? 0 : x[places[k]] - zero);
    }
  } else {
    const uint8_t* x = (const uint8_t*)plane;
    for (size_t k = 0; k < count; k++) {
      out[2 * k] = (int16_t)(places[k] < 0 ? 0 : x[places[k]] - zero);
    }
  }
}

static void run_parts(void* user, int64_t begin, int64_t end, uint32_t thread) {
  const job_t* job = user;
  const bound_t* bound = job->bound;
  const integer_t* self = job->self;
  const tenon__cpu_elements_t* elements = self->closed.isa->elements;
  const size_t width = elements->pair_columns;
  const int64_t groups = self->groups;
  int64_t known = -1; /* the first point whose places are known */
  const int64_t channels = job->w->dims[1];
  const int64_t outputs = job->w->dims[0] / groups;
  const int64_t plane = job->in.extent[0] * job->in.extent[1] * job->in.extent[2];
  int16_t* panel = bound->panels + thread * (self->pairs + 1) * width * 2;
  int32_t* places = bound->places + thread * (bound->taps + 1) * width;
  memset(panel, 0, self->pairs * width * 2 * sizeof(*panel));
  for (int64_t at = begin; at < end; at++) {
    const int64_t group = at % groups;
    const int64_t first = at / groups % job->parts * (int64_t)width;
    const int64_t image = at / groups / job->parts;
    const int64_t count =
        job->points - first < (int64_t)width ? job->points - first : (int64_t)width;
    const char* x =
        (const char*)job->x->data + (image * job->in.channels + group * channels) * plane;
    if (first != known) {
      find_places(job, first, count, places);
      known = first;
    }
    for (size_t k = 0; k < self->depth; k++) {
      pack_row(job, x + (int64_t)(k / bound->taps) * plane, places + k % bound->taps * width,
               (size_t)count, panel + k / 2 * width * 2 + k % 2);
    }
    const tenon__cpu_pairs_t pairs = {
        .a = bound->weights + (size_t)(group * outputs) * 2 * self->pairs,
        .b = panel,
        .c = (int32_t*)job->y->data + (image * job->w->dims[0] + group * outputs) * job->points +
             first,
        .a_stride = 2 * self->pairs,
        .c_stride = (size_t)job->points,
        .rows = (size_t)outputs,
        .pairs = self->pairs,
        .columns = (size_t)count};
    elements->multiply_pairs(&pairs);
  }
}

static tenon_status_t enqueue(const tenon_enqueue_t* call) {
  const integer_t* self = call->instance;
  job_t job = {.self = self,
               .bound = call->bound,
               .x = tenon__cpu_closed_input(call, INPUT_X),
               .w = tenon__cpu_closed_input(call, INPUT_W),
               .y = tenon__cpu_closed_output(call, 0),
               .window = self->window};
  const int64_t width = (int64_t)self->closed.isa->elements->pair_columns;
  tenon__cpu_image_read(job.x, &job.in);
  tenon__cpu_image_read(job.y, &job.out);
  tenon__cpu_window_fit(&job.window, job.in.extent, job.out.extent);
  job.x_zero = byte_at(bytes_of(tenon__cpu_closed_input(call, INPUT_X_ZERO)), 0);
  job.weights = bytes_of(job.w);
  job.weight_zeros = bytes_of(tenon__cpu_closed_input(call, INPUT_W_ZERO));
  job.points = tenon__cpu_image_pixels(&job.out);
  job.parts = (job.points + width - 1) / width;
  const tenon_status_t status = tenon__cpu_closed_check_count(
      call, tenon__cpu_image_pixels(&job.in), "elements of a plane of x");
  if (status != TENON_OK) {
    return status;
  }
  tenon__cpu_closed_divide(call, job.w->dims[0], (double)self->depth, widen_rows, &job);
  const double products = (double)self->depth * (double)width;
  tenon__cpu_closed_divide(call, job.in.batch * job.parts * self->groups,
                           products * (1 + (double)job.w->dims[0] / (double)self->groups / 32),
                           run_parts, &job);
  return TENON_OK;
}

static const char* const operators[] = {"standard.convolution_integer/1", NULL};
static const char* const attributes[] = {"strides",  "dilations", "pads",
                                         "auto_pad", "groups",    NULL};
TENON_CPU_CLOSED(convolution_integer, "convolution_integer", operators, attributes, match, prepare,
                 bind, enqueue);
