/*
 * standard.convolution_integer/1 with channels last and fused expressions in the epilogue: products
 * of patches with weights (integer.h). A row of a is the patch of an output pixel, tap by tap. Taps
 * outside of the image hold the zero point of x. Rows of windows of one pixel are the image itself.
 * Each group is a product. If all groups have one channel and one output, vectors of channels are
 * multiplied instead.
 */
#include <string.h>

#include "integer_epilogue.h"
#include "window.h"

typedef struct integer_t {
  tenon__cpu_integer_kernel_t common;
  tenon__cpu_window_t window;
  int64_t groups;
  size_t channels; /* of a group; so are outputs */
  size_t outputs;
  size_t taps;
  size_t depth; /* channels x taps */
  size_t packed_group;
  bool depthwise;
} integer_t;

typedef struct bound_t {
  tenon__cpu_integer_bound_t common;
  tenon__cpu_window_t window;
  tenon__cpu_image_t in;
  tenon__cpu_image_t out;
  size_t rows; /* pixels of all images of y */
  tenon__cpu_integer_grid_t grid;
  /* Of a depthwise convolution: weights less their zero points, [pairs of taps][channels][2]; a
   * pixel of zero points; for each thread, the addresses of taps. */
  int16_t* weights;
  int32_t* start; /* of sums: the zero point of x times the weights of a channel */
  uint8_t* outside;
  const uint8_t** places;
} bound_t;

/* ---- Matching ---- */

static int32_t match(void* state, const tenon_region_t* handle, const tenon_region_table_t* table,
                     tenon_refusal_t* out_refusal) {
  const tenon__cpu_state_t* cpu = state;
  const tenon__cpu_region_t region = {handle, table};
  const tenon_value_info_t* x = tenon__cpu_region_input(region, TENON_CPU_INTEGER_A);
  const tenon_value_info_t* w = tenon__cpu_region_input(region, TENON_CPU_INTEGER_B);
  if (x->rank < 3 || x->rank > 2 + TENON_CPU_AXES || w->rank != x->rank) {
    return tenon__cpu_refuse(out_refusal, TENON_REFUSAL_RANK, NULL);
  }
  for (uint32_t k = 0; k < w->rank; k++) {
    if (w->dims_min[k] != w->dims_max[k]) {
      return tenon__cpu_refuse(out_refusal, TENON_REFUSAL_DYNAMIC_SHAPE, "weights");
    }
  }
  return tenon__cpu_integer_accepts(cpu->isa, region, out_refusal);
}

/* All but the common part. */
static void describe(const tenon__cpu_isa_t* isa, tenon__cpu_region_t region,
                     integer_t* out_integer) {
  const tenon_value_info_t* w = tenon__cpu_region_input(region, TENON_CPU_INTEGER_B);
  const int64_t groups = tenon__cpu_region_int(region, "groups", 1);
  tenon__cpu_window_read(region, w->rank - 2U, w->dims_max + 2, &out_integer->window);
  out_integer->groups = groups > 0 ? groups : 1;
  out_integer->channels = (size_t)w->dims_max[1];
  out_integer->outputs = (size_t)(w->dims_max[0] / out_integer->groups);
  out_integer->taps = (size_t)tenon__cpu_window_taps(&out_integer->window);
  out_integer->depth = out_integer->channels * out_integer->taps;
  out_integer->packed_group =
      tenon__cpu_integer_packed_bytes(isa->integers, out_integer->depth, out_integer->outputs);
  out_integer->depthwise =
      out_integer->groups > 1 && out_integer->channels == 1 && out_integer->outputs == 1;
}

static void full_rule(tenon__cpu_region_t region, uint32_t input, uint32_t rank,
                      tenon_argument_rule_t* out_rule) {
  tenon__cpu_image_rule(region, input, out_rule);
  if (out_rule->kind == TENON_LAYOUT_EXACT && input == tenon__cpu_region_argument(region, 0)) {
    *out_rule = (tenon_argument_rule_t){.kind = TENON_LAYOUT_EXACT,
                                        .layout = tenon__cpu_channels_last(rank)};
  }
}

static tenon_status_t tactics(void* state, const tenon_region_t* handle,
                              const tenon_region_table_t* table, tenon_emit_t* emit,
                              tenon_status_t (*add)(tenon_emit_t*, const tenon_tactic_t*)) {
  const tenon__cpu_state_t* cpu = state;
  const tenon__cpu_region_t region = {handle, table};
  const tenon_value_info_t* y = tenon__cpu_region_output(region, 0);
  const uint8_t once = tenon__cpu_region_input(region, TENON_CPU_INTEGER_B)->constant_data != NULL;
  tenon_argument_rule_t rules[TENON_CPU_MAX_RULES] = {0};
  const tenon_argument_rule_t output = {.kind = TENON_LAYOUT_EXACT,
                                        .layout = tenon__cpu_channels_last(y->rank)};
  integer_t self = {0};
  double products = 1;
  describe(cpu->isa, region, &self);
  for (uint32_t k = 0; k < table->input_count(handle); k++) {
    full_rule(region, k, y->rank, &rules[k]);
  }
  for (uint32_t port = 1; port < TENON_CPU_INTEGER_INPUTS; port++) {
    const uint32_t input = tenon__cpu_region_argument(region, port);
    if (input != TENON_NONE) {
      rules[input] = (tenon_argument_rule_t){0};
    }
  }
  for (uint32_t k = 0; k < y->rank; k++) {
    products *= (double)y->dims_opt[k];
  }
  const double each = self.depthwise                          ? 6e-11
                      : cpu->isa->integers->number_bytes == 1 ? 6e-12
                                                              : 3e-11;
  const tenon_tactic_t tactic = {
      .size = sizeof(tactic),
      .name = self.depthwise ? "integer depthwise, channels last" : "integer, channels last",
      .configuration = &once,
      .configuration_size = sizeof(once),
      .inputs = rules,
      .outputs = &output,
      .scratch_bytes = once != 0 || self.depthwise ? 0 : (size_t)self.groups * self.packed_group,
      .estimate_seconds = 1e-6 + products * (double)self.depth * each,
      .launches = 1,
      .scratch_bytes_per_thread = tenon__cpu_integer_thread_bytes(
          cpu->isa->integers, table->slot_program(handle, 0), self.depth)};
  return add(emit, &tactic);
}

/* Weights of a group are [outputs][channels][taps]. */
static tenon__cpu_integer_source_t source_of(const integer_t* self, bool is_signed) {
  return (tenon__cpu_integer_source_t){.is_signed = is_signed,
                                       .depth = self->depth,
                                       .columns = self->outputs,
                                       .inner = self->channels,
                                       .inner_stride = self->taps,
                                       .outer_stride = 1,
                                       .column_stride = self->depth};
}

static tenon_status_t prepare(const tenon_prepare_t* call, void** out_instance) {
  const tenon__cpu_region_t region = {call->region, call->table};
  const tenon__cpu_state_t* cpu = call->state;
  const tenon_value_info_t* w = tenon__cpu_region_input(region, TENON_CPU_INTEGER_B);
  integer_t* self = call->host->allocate(call->preparation, sizeof(*self));
  if (self == NULL) {
    return TENON_ERROR_OUT_OF_MEMORY;
  }
  const tenon_status_t status = tenon__cpu_integer_prepare(call, &self->common);
  describe(cpu->isa, region, self);
  *out_instance = self;
  if (status != TENON_OK || self->depthwise || !tenon__cpu_integer_packs_once(call->tactic)) {
    return status;
  }
  const tenon__cpu_integer_constant_t constant = {
      .source = source_of(self, w->dtype == TENON_DTYPE_INT8),
      .count = (size_t)self->groups,
      .stride = self->outputs * self->depth,
      .bytes = self->packed_group};
  return tenon__cpu_integer_pack_constant(call, &constant, &self->common);
}

/* ---- Binding ---- */

static bool allocate_depthwise(const integer_t* self, tenon_binding_t* binding,
                               const tenon_bind_table_t* host, bound_t* bound) {
  const size_t channels = (size_t)self->groups;
  bound->weights =
      host->allocate(binding, ((self->taps + 1) / 2 * channels * 2 + 1) * sizeof(int16_t));
  bound->start = host->allocate(binding, channels * sizeof(int32_t));
  bound->outside = host->allocate(binding, channels);
  /* NOLINTNEXTLINE(bugprone-sizeof-expression): the elements are pointers */
  bound->places = host->allocate(
      binding, host->thread_count(binding) * (self->taps + 1) * sizeof(*bound->places));
  return bound->weights != NULL && bound->start != NULL && bound->outside != NULL &&
         bound->places != NULL;
}

static tenon_status_t bind(void* instance, tenon_binding_t* binding, const tenon_bind_table_t* host,
                           void** out_bound) {
  const integer_t* self = instance;
  const tenon__cpu_integers_t* integers = self->common.isa->integers;
  const tenon_tensor_view_t* x =
      &host->input(binding, self->common.inputs[TENON_CPU_INTEGER_A])->tensor;
  const tenon_tensor_view_t* y = &host->output(binding, 0)->tensor;
  bound_t* bound = host->allocate(binding, sizeof(*bound));
  if (bound == NULL) {
    return TENON_ERROR_OUT_OF_MEMORY;
  }
  *out_bound = bound;
  bound->window = self->window;
  tenon__cpu_image_read(x, &bound->in);
  tenon__cpu_image_read(y, &bound->out);
  tenon__cpu_window_fit(&bound->window, bound->in.extent, bound->out.extent);
  bound->rows = (size_t)(bound->out.batch * tenon__cpu_image_pixels(&bound->out));
  const size_t outputs = (size_t)self->groups * self->outputs;
  const size_t columns = self->depthwise ? outputs : self->outputs;
  const tenon__cpu_integer_size_t size = {bound->rows, columns, self->depth,
                                          self->depthwise ? 1 : (size_t)self->groups};
  tenon__cpu_integer_grid(integers, &size, host->thread_count(binding), &bound->grid);
  if (self->depthwise && !allocate_depthwise(self, binding, host, bound)) {
    return TENON_ERROR_OUT_OF_MEMORY;
  }
  tenon__cpu_integer_request_t request = {
      .kernel = &self->common,
      .shape = {.rank = y->rank - 1U, .column_axis = 1, .c_stride = outputs},
      .depth = self->depth,
      .strip_columns = columns,
      .columns = outputs,
      .rows = 1,
      .packed_bytes = self->depthwise ? 0 : (size_t)self->groups * self->packed_group};
  for (uint32_t k = 1; k < request.shape.rank; k++) {
    request.shape.axes[k] = k + 1;
  }
  return tenon__cpu_integer_bind(&request, binding, host, &bound->common);
}

/* ---- Running ---- */

typedef struct job_t {
  const integer_t* self;
  const bound_t* bound;
  tenon__cpu_integer_call_t call;
  const uint8_t* x;
  bool x_signed;
  int32_t x_zero; /* encoded */
  tenon__cpu_integer_source_t weights;
  const char* packed;
} job_t;

/* An output pixel: its image, and where its window begins. */
typedef struct pixel_t {
  int64_t at[TENON_CPU_AXES];
  int64_t image;
} pixel_t;

static pixel_t pixel_of(const bound_t* bound, size_t row) {
  pixel_t pixel;
  int64_t rest = (int64_t)row;
  for (size_t axis = TENON_CPU_AXES; axis-- > 0;) {
    pixel.at[axis] = rest % bound->out.extent[axis];
    rest /= bound->out.extent[axis];
  }
  pixel.image = rest;
  return pixel;
}

static void next_pixel(const bound_t* bound, pixel_t* pixel) {
  for (size_t axis = TENON_CPU_AXES; axis-- > 0;) {
    if (++pixel->at[axis] < bound->out.extent[axis]) {
      return;
    }
    pixel->at[axis] = 0;
  }
  pixel->image++;
}

/* Taps [begin, end) of each line of a window are inside of the image, along the innermost axis.
 * `column` is what tap 0 would read. */
typedef struct span_t {
  int64_t column;
  int64_t begin;
  int64_t end;
} span_t;

static span_t span_of(const bound_t* bound, const pixel_t* pixel) {
  const tenon__cpu_window_t* w = &bound->window;
  const int64_t extent = bound->in.extent[2];
  span_t span = {.column = pixel->at[2] * w->stride[2] - w->pad_begin[2], .end = w->kernel[2]};
  if (span.column < 0 || span.column + (w->kernel[2] - 1) * w->dilation[2] >= extent) {
    span.end =
        tenon__cpu_taps_between(span.column, w->dilation[2], w->kernel[2], 0, extent, &span.begin);
  }
  return span;
}

/* The coordinate that tap `tap` reads along an axis; -1 outside of the image. */
static int64_t coordinate_of(const bound_t* bound, const pixel_t* pixel, size_t axis, int64_t tap) {
  const tenon__cpu_window_t* w = &bound->window;
  const int64_t at =
      pixel->at[axis] * w->stride[axis] - w->pad_begin[axis] + tap * w->dilation[axis];
  return at < bound->in.extent[axis] ? at : -1;
}

typedef void (*line_function_t)(void* user, const span_t* span, int64_t line, bool inside);

/* Calls a function for each line of the window of a pixel. `line` is the number of its first pixel
 * in the input. */
static void visit_lines(const bound_t* bound, const pixel_t* pixel, line_function_t visit,
                        void* user) {
  const tenon__cpu_window_t* w = &bound->window;
  const int64_t* extent = bound->in.extent;
  const span_t span = span_of(bound, pixel);
  for (int64_t i = 0; i < w->kernel[0]; i++) {
    const int64_t z = coordinate_of(bound, pixel, 0, i);
    for (int64_t j = 0; j < w->kernel[1]; j++) {
      const int64_t y = coordinate_of(bound, pixel, 1, j);
      const int64_t line = ((pixel->image * extent[0] + z) * extent[1] + y) * extent[2];
      visit(user, &span, line, z >= 0 && y >= 0);
    }
  }
}

/* Patches of a group. */
typedef struct patches_t {
  const job_t* job;
  size_t group;
  char* to; /* where the next line goes */
} patches_t;

static char* fill(const job_t* job, char* out, size_t count) {
  if (job->self->common.isa->integers->number_bytes == 1) {
    memset(out, job->x_zero, count);
    return out + count;
  }
  for (size_t k = 0; k < count; k++) {
    ((int16_t*)(void*)out)[k] = (int16_t)job->x_zero;
  }
  return out + count * sizeof(int16_t);
}

static char* encode(const job_t* job, char* out, const uint8_t* from, size_t count) {
  const tenon__cpu_integers_t* integers = job->self->common.isa->integers;
  if (integers->number_bytes == 1 && !job->x_signed) {
    memcpy(out, from, count);
  } else {
    integers->encode(out, from, count, job->x_signed);
  }
  return out + count * integers->number_bytes;
}

/* A line of a patch. */
static void gather_line(void* user, const span_t* span, int64_t line, bool inside) {
  patches_t* patches = user;
  const job_t* job = patches->job;
  const bound_t* bound = job->bound;
  const size_t channels = job->self->channels;
  const int64_t step = bound->in.channels;
  const int64_t dilation = bound->window.dilation[2];
  const size_t taps = (size_t)bound->window.kernel[2];
  const uint8_t* x = job->x + patches->group * channels + (line + span->column) * step;
  if (!inside) {
    patches->to = fill(job, patches->to, taps * channels);
    return;
  }
  char* to = span->begin > 0 ? fill(job, patches->to, (size_t)span->begin * channels) : patches->to;
  if (dilation == 1 && step == (int64_t)channels) {
    to = encode(job, to, x + span->begin * step, (size_t)(span->end - span->begin) * channels);
  } else {
    for (int64_t tap = span->begin; tap < span->end; tap++) {
      to = encode(job, to, x + tap * dilation * step, channels);
    }
  }
  patches->to =
      span->end < (int64_t)taps ? fill(job, to, (taps - (size_t)span->end) * channels) : to;
}

static void gather_patches(const void* user, size_t row, size_t rows, void* out, size_t stride) {
  patches_t patches = *(const patches_t*)user;
  const bound_t* bound = patches.job->bound;
  pixel_t pixel = pixel_of(bound, row);
  for (size_t i = 0; i < rows; i++) {
    patches.to = (char*)out + i * stride;
    visit_lines(bound, &pixel, gather_line, &patches);
    next_pixel(bound, &pixel);
  }
}

/* Is a row of patches the image itself? */
static bool reads_image(const integer_t* self, const bound_t* bound, bool is_signed) {
  bool is_so = self->taps == 1 && self->groups == 1 &&
               tenon__cpu_integer_in_place(self->common.isa->integers, self->depth, is_signed);
  for (size_t axis = 0; axis < TENON_CPU_AXES; axis++) {
    is_so = is_so && bound->window.stride[axis] == 1 && bound->window.pad_begin[axis] == 0 &&
            bound->in.extent[axis] == bound->out.extent[axis];
  }
  return is_so;
}

static void run_task(void* user, uint32_t index, uint32_t thread) {
  const job_t* job = user;
  const integer_t* self = job->self;
  const bound_t* bound = job->bound;
  const size_t tasks = bound->grid.row_tasks * bound->grid.panel_tasks;
  const size_t group = index / tasks;
  const patches_t patches = {.job = job, .group = group};
  tenon__cpu_integer_part_t part = {.column = group * self->outputs};
  tenon__cpu_integer_product_t product = {.columns = self->outputs,
                                          .depth = self->depth,
                                          .gather = gather_patches,
                                          .gather_user = &patches,
                                          .b = job->packed + group * self->packed_group};
  if (reads_image(self, bound, job->x_signed)) {
    product.a = job->x;
    product.a_stride = self->depth;
  }
  char* scratch = tenon__cpu_integer_part(&job->call, thread, &part, &product);
  tenon__cpu_integer_task(&product, &bound->grid, bound->rows, index % tasks, scratch);
}

static void pack_group(void* user, uint32_t index, uint32_t thread) {
  (void)thread;
  const job_t* job = user;
  const integer_t* self = job->self;
  const tenon__cpu_integers_t* integers = self->common.isa->integers;
  tenon__cpu_integer_source_t source = job->weights;
  source.data = (const char*)source.data + index * self->outputs * self->depth;
  tenon__cpu_integer_pack(integers, &source, 0, tenon__cpu_integer_panels(integers, self->outputs),
                          (char*)job->call.packed + index * self->packed_group);
}

/* ---- Depthwise ---- */

/* Weights in pairs of taps, and where sums start. An odd last tap has a weight of 0 beside it. */
static void pair_weights(const job_t* job, int32_t zero_x) {
  const integer_t* self = job->self;
  const size_t channels = (size_t)self->groups;
  const tenon__cpu_integers_t* integers = self->common.isa->integers;
  const int32_t shift = tenon__cpu_integer_b_zero(integers, 0, job->weights.is_signed);
  for (size_t c = 0; c < channels; c++) {
    const int32_t zero = job->bound->common.b_zeros[c] - shift;
    uint32_t sum = 0;
    for (size_t tap = 0; tap < self->taps; tap++) {
      const size_t at = c * self->taps + tap;
      const int32_t weight = job->weights.is_signed ? ((const int8_t*)job->weights.data)[at]
                                                    : ((const uint8_t*)job->weights.data)[at];
      job->bound->weights[(tap / 2 * channels + c) * 2 + tap % 2] = (int16_t)(weight - zero);
      sum += (uint32_t)(weight - zero);
    }
    job->bound->start[c] = (int32_t)(0U - (uint32_t)zero_x * sum);
  }
}

typedef struct places_t {
  const job_t* job;
  const uint8_t** next;
} places_t;

static void find_line(void* user, const span_t* span, int64_t line, bool inside) {
  places_t* places = user;
  const bound_t* bound = places->job->bound;
  for (int64_t tap = 0; tap < bound->window.kernel[2]; tap++) {
    const int64_t place = line + span->column + tap * bound->window.dilation[2];
    const bool is_there = inside && tap >= span->begin && tap < span->end;
    *places->next++ = is_there ? places->job->x + place * bound->in.channels : bound->outside;
  }
}

/* The addresses of all taps, and one beside an odd last tap. */
static void find_places(const job_t* job, const pixel_t* pixel, const uint8_t** out_places) {
  places_t places = {job, out_places};
  visit_lines(job->bound, pixel, find_line, &places);
  *places.next = job->bound->outside;
}

/* A thread's place in its task. */
typedef struct depthwise_t {
  const job_t* job;
  const uint8_t** places; /* of the taps of `row` */
  pixel_t pixel;
  size_t row;
  tenon__cpu_integer_depthwise_t numbers;
} depthwise_t;

static void compute_row(void* user, size_t row, size_t first, size_t count, int32_t* c) {
  depthwise_t* all = user;
  if (row != all->row) {
    if (row == all->row + 1) {
      next_pixel(all->job->bound, &all->pixel);
    } else {
      all->pixel = pixel_of(all->job->bound, row);
    }
    all->row = row;
    find_places(all->job, &all->pixel, all->places);
  }
  all->job->self->common.isa->integers->depthwise(&all->numbers, first, count, c);
}

static void run_depthwise(void* user, uint32_t index, uint32_t thread) {
  const job_t* job = user;
  const integer_t* self = job->self;
  const bound_t* bound = job->bound;
  const size_t row = index * bound->grid.rows_per_task;
  const size_t left = bound->rows - row;
  const size_t rows = left < bound->grid.rows_per_task ? left : bound->grid.rows_per_task;
  const uint8_t** places = bound->places + thread * (self->taps + 1);
  depthwise_t all = {.job = job,
                     .places = places,
                     .row = SIZE_MAX - 1,
                     .numbers = {.x = places,
                                 .weights = bound->weights,
                                 .pairs = (self->taps + 1) / 2,
                                 .channels = (size_t)self->groups,
                                 .start = bound->start,
                                 .is_signed = job->x_signed}};
  tenon__cpu_integer_part_t part = {0};
  tenon__cpu_integer_product_t product = {.columns = (size_t)self->groups, .depth = self->depth};
  char* scratch = tenon__cpu_integer_part(&job->call, thread, &part, &product);
  tenon__cpu_integer_run_rows(&product, row, row + rows, compute_row, &all, scratch);
}

/* ---- A run ---- */

static tenon_status_t enqueue(const tenon_enqueue_t* call) {
  const integer_t* self = call->instance;
  const bound_t* bound = call->bound;
  const tenon_tensor_view_t* x = &call->inputs[self->common.inputs[TENON_CPU_INTEGER_A]].tensor;
  const tenon_tensor_view_t* w = &call->inputs[self->common.inputs[TENON_CPU_INTEGER_B]].tensor;
  const size_t tasks = (self->depthwise ? 1 : (size_t)self->groups) * bound->grid.row_tasks *
                       (self->depthwise ? 1 : bound->grid.panel_tasks);
  if (tasks > UINT32_MAX) {
    return TENON_ERROR_UNSUPPORTED;
  }
  if (tasks == 0) {
    return TENON_OK;
  }
  job_t job = {.self = self,
               .bound = bound,
               .x = x->data,
               .x_signed = x->dtype == TENON_DTYPE_INT8,
               .weights = source_of(self, w->dtype == TENON_DTYPE_INT8)};
  job.weights.data = w->data;
  tenon__cpu_integer_start(call, &bound->common, &job.call);
  job.x_zero = bound->common.a_zeros[0];
  if (self->depthwise) {
    const int32_t shift = tenon__cpu_integer_a_zero(self->common.isa->integers, 0, job.x_signed);
    pair_weights(&job, job.x_zero - shift + (job.x_signed ? 128 : 0));
    memset(bound->outside, job.x_zero - shift, (size_t)self->groups);
    tenon__cpu_parallel(call, (uint32_t)tasks, run_depthwise, &job);
    return TENON_OK;
  }
  job.packed = self->common.packed != NULL ? self->common.packed : job.call.packed;
  if (self->common.packed == NULL) {
    tenon__cpu_parallel(call, (uint32_t)self->groups, pack_group, &job);
  }
  tenon__cpu_parallel(call, (uint32_t)tasks, run_task, &job);
  return TENON_OK;
}

static const char* const operators[] = {"standard.convolution_integer/1", NULL};
static const char* const attributes[] = {"strides",  "dilations", "pads",
                                         "auto_pad", "groups",    NULL};

const tenon_kernel_t tenon__cpu_convolution_integer_kernel = {
    .size = sizeof(tenon_kernel_t),
    .name = "convolution_integer",
    .device = "cpu",
    .operators = operators,
    .attributes = attributes,
    .slots = TENON_LIST(tenon__cpu_any_slot),
    .version = 2,
    .match = match,
    .tactics = tactics,
    .prepare = prepare,
    .bind = bind,
    .enqueue = enqueue,
};
