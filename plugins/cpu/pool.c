/*
 * Maximum and average pooling, row by row of output pixels. With channels last, vectors are channels.
 * In planes, a row of the output is combined from the rows of the window, then from shifts of that
 * row; with a stride, from shifts of its phases: elements 0, 2, 4, ... and 1, 3, 5, ... for 2.
 */
#include <math.h>
#include <string.h>

#include "convolution.h"
#include "copy.h"
#include "kernels.h"
#include "window.h"

/* Maximum columns of a window, with dilation, and of a step, for pools in planes. Buffers of threads
 * hold a row of steps. */
enum { MAX_PLANE_WINDOW = 64 };

typedef struct pool_t {
  const tenon__cpu_isa_t* isa;
  bool planes;
  tenon__cpu_window_t window;
  int64_t pad_end[TENON_CPU_AXES];
  bool average;
  bool counts_padding;
} pool_t;

typedef struct bound_t {
  const pool_t* pool;
  tenon__cpu_window_t window;
  int64_t pad_end[TENON_CPU_AXES];
  tenon__cpu_image_t x;
  tenon__cpu_image_t y;
  /* Of planes, for each thread: a padded row, its phases, and factors of the averages. */
  size_t row_floats; /* a multiple of the stride */
  size_t slot_floats;
  float* slots;
} bound_t;

static int32_t match(void* state, const tenon_region_t* handle, const tenon_region_table_t* table,
                     tenon_refusal_t* out_refusal) {
  (void)state;
  const tenon__cpu_region_t region = {handle, table};
  const tenon_value_info_t* x = tenon__cpu_region_input(region, 0);
  if (x->dtype != TENON_DTYPE_FLOAT32) {
    return tenon__cpu_refuse(out_refusal, TENON_REFUSAL_DTYPE, NULL);
  }
  if (x->rank < 3 || x->rank > 4) {
    return tenon__cpu_refuse(out_refusal, TENON_REFUSAL_RANK, "one or two spatial axes");
  }
  if (tenon__cpu_region_output(region, 1) != NULL) {
    return tenon__cpu_refuse(out_refusal, TENON_REFUSAL_OTHER, "gives no indices");
  }
  return 1;
}

static tenon_status_t tactics(void* state, const tenon_region_t* handle,
                              const tenon_region_table_t* table, tenon_emit_t* emit,
                              tenon_status_t (*add)(tenon_emit_t*, const tenon_tactic_t*)) {
  (void)state;
  const tenon__cpu_region_t region = {handle, table};
  const uint32_t rank = tenon__cpu_region_input(region, 0)->rank;
  tenon_argument_rule_t rules[2]; /* y, and the indices that are absent */
  tenon__cpu_output_rule(rank, &rules[0]);
  rules[1] = (tenon_argument_rule_t){0};
  const tenon_numerics_t numerics = {.size = sizeof(numerics), .reassociates = 1};
  tenon_tactic_t tactic = {.size = sizeof(tactic),
                           .name = "channels last",
                           .inputs = rules,
                           .outputs = rules,
                           .numerics = &numerics,
                           .launches = 1};
  const tenon_status_t status = add(emit, &tactic);
  const int64_t kernel = tenon__cpu_region_item(region, "kernel_shape", rank - 3, 1);
  const int64_t dilation = tenon__cpu_region_item(region, "dilations", rank - 3, 1);
  const int64_t stride = tenon__cpu_region_item(region, "strides", rank - 3, 1);
  if (status != TENON_OK || kernel > MAX_PLANE_WINDOW || dilation > MAX_PLANE_WINDOW ||
      kernel * dilation > MAX_PLANE_WINDOW || stride > MAX_PLANE_WINDOW) {
    return status;
  }
  const uint8_t planes = 1;
  tactic.name = "planes";
  tactic.configuration = &planes;
  tactic.configuration_size = sizeof(planes);
  rules[0] = (tenon_argument_rule_t){.kind = TENON_LAYOUT_ROW_MAJOR};
  return add(emit, &tactic);
}

static tenon_status_t prepare(const tenon_prepare_t* call, void** out_instance) {
  const tenon__cpu_state_t* cpu = call->state;
  const tenon__cpu_region_t region = {call->region, call->table};
  const uint32_t rank = tenon__cpu_region_input(region, 0)->rank - 2;
  pool_t* pool = call->host->allocate(call->preparation, sizeof(*pool));
  int64_t kernel[TENON_CPU_AXES] = {1, 1, 1};
  if (pool == NULL) {
    return TENON_ERROR_OUT_OF_MEMORY;
  }
  for (uint32_t k = 0; k < rank; k++) {
    kernel[k] = tenon__cpu_region_item(region, "kernel_shape", k, 1);
  }
  pool->isa = cpu->isa;
  pool->planes = call->tactic->configuration_size == 1;
  tenon__cpu_window_read(region, rank, kernel, &pool->window);
  for (uint32_t k = 0; k < rank; k++) {
    const bool padded = pool->window.padding == TENON_CPU_PADDING_EXPLICIT;
    pool->pad_end[TENON_CPU_AXES - rank + k] =
        padded ? tenon__cpu_region_item(region, "pads", rank + k, 0) : 0;
  }
  pool->average =
      strcmp(call->table->node_operator(call->region, 0), "standard.average_pool/1") == 0;
  pool->counts_padding = tenon__cpu_region_int(region, "count_include_pad", 0) != 0;
  *out_instance = pool;
  return TENON_OK;
}

static tenon_status_t bind_planes(bound_t* bound, tenon_binding_t* binding,
                                  const tenon_bind_table_t* host) {
  const tenon__cpu_window_t* w = &bound->window;
  const size_t stride = (size_t)w->stride[2];
  const size_t out_width = (size_t)bound->y.extent[2];
  const size_t reach = (size_t)((w->kernel[2] - 1) * w->dilation[2]) + 1;
  bound->row_floats = (out_width * stride + reach + stride - 1) / stride * stride;
  bound->slot_floats = 2 * bound->row_floats + out_width + 16;
  bound->slots =
      host->allocate(binding, host->thread_count(binding) * bound->slot_floats * sizeof(float));
  return bound->slots == NULL ? TENON_ERROR_OUT_OF_MEMORY : TENON_OK;
}

static tenon_status_t bind(void* instance, tenon_binding_t* binding, const tenon_bind_table_t* host,
                           void** out_bound) {
  const pool_t* pool = instance;
  bound_t* bound = host->allocate(binding, sizeof(*bound));
  if (bound == NULL) {
    return TENON_ERROR_OUT_OF_MEMORY;
  }
  bound->pool = pool;
  bound->window = pool->window;
  tenon__cpu_image_read(&host->input(binding, 0)->tensor, &bound->x);
  tenon__cpu_image_read(&host->output(binding, 0)->tensor, &bound->y);
  tenon__cpu_window_fit(&bound->window, bound->x.extent, bound->y.extent);
  for (size_t a = 0; a < TENON_CPU_AXES; a++) {
    const tenon__cpu_window_t* w = &bound->window;
    const int64_t reach =
        (bound->y.extent[a] - 1) * w->stride[a] + (w->kernel[a] - 1) * w->dilation[a];
    const int64_t same = reach + 1 - bound->x.extent[a] - w->pad_begin[a];
    bound->pad_end[a] = w->padding == TENON_CPU_PADDING_EXPLICIT ? pool->pad_end[a]
                        : same > 0                               ? same
                                                                 : 0;
  }
  *out_bound = bound;
  return pool->planes ? bind_planes(bound, binding, host) : TENON_OK;
}

/* Returns the number of taps of the window at output coordinate `at` in [low, high) of the input. */
static int64_t taps_between(const tenon__cpu_window_t* window, size_t axis, int64_t at, int64_t low,
                            int64_t high, int64_t* out_first) {
  const int64_t first = at * window->stride[axis] - window->pad_begin[axis];
  const int64_t end = tenon__cpu_taps_between(first, window->dilation[axis], window->kernel[axis],
                                              low, high, out_first);
  return end - *out_first;
}

typedef struct job_t {
  const bound_t* bound;
  const float* x;
  float* y;
} job_t;

/* Returns the rows that averages of output row `at` count. */
static int64_t counted_rows(const bound_t* bound, int64_t at) {
  const bool all = bound->pool->counts_padding;
  int64_t first = 0;
  return taps_between(&bound->window, 1, at, all ? -bound->window.pad_begin[1] : 0,
                      bound->x.extent[1] + (all ? bound->pad_end[1] : 0), &first);
}

/* Returns the factor of the average at column `at` if `rows` rows count. */
static float factor_of(const bound_t* bound, int64_t rows, int64_t at) {
  const bool all = bound->pool->counts_padding;
  int64_t first = 0;
  const int64_t taps =
      rows * taps_between(&bound->window, 2, at, all ? -bound->window.pad_begin[2] : 0,
                          bound->x.extent[2] + (all ? bound->pad_end[2] : 0), &first);
  return 1.0F / (float)(taps > 0 ? taps : 1);
}

static void divide_row(const bound_t* bound, const tenon__cpu_row_t* row, int64_t rows) {
  const pool_t* pool = bound->pool;
  const tenon__cpu_binary_t multiply =
      pool->isa->elements->binary[TENON_OPCODE_MUL][TENON_CPU_TYPE_F32][TENON_CPU_VS];
  for (int64_t pixel = 0; pixel < row->out_width; pixel++) {
    const float scale = factor_of(bound, rows, pixel);
    float* y = row->y + pixel * row->y_stride;
    multiply(y, y, &scale, row->channels);
  }
}

static void run_row(void* user, uint32_t index, uint32_t thread) {
  (void)thread;
  const job_t* job = user;
  const bound_t* bound = job->bound;
  const pool_t* pool = bound->pool;
  const tenon__cpu_window_t* window = &bound->window;
  const tenon__cpu_pixel_t pixel =
      tenon__cpu_pixel_of(&bound->y, (size_t)(index * bound->y.extent[2]));
  int64_t first = 0;
  const int64_t rows = taps_between(window, 1, pixel.at[1], 0, bound->x.extent[1], &first);
  const int64_t line =
      pixel.at[1] * window->stride[1] - window->pad_begin[1] + first * window->dilation[1];
  const tenon__cpu_pixel_t corner = {pixel.batch, {0, rows > 0 ? line : 0, 0}};
  const tenon__cpu_row_t row = {
      .x = job->x + tenon__cpu_pixel_offset(&bound->x, corner),
      .y = job->y + tenon__cpu_pixel_offset(&bound->y, pixel),
      .channels = (size_t)bound->y.channels,
      .rows = (size_t)rows,
      .columns = (size_t)window->kernel[2],
      .x_stride = bound->x.stride[2],
      .x_row_stride = bound->x.stride[1] * window->dilation[1],
      .y_stride = bound->y.stride[2],
      .width = bound->x.extent[2],
      .out_width = bound->y.extent[2],
      .stride = window->stride[2],
      .dilation = window->dilation[2],
      .pad = window->pad_begin[2],
  };
  if (!pool->average) {
    pool->isa->windows->max(&row);
    return;
  }
  pool->isa->windows->sum(&row);
  divide_row(bound, &row, counted_rows(bound, pixel.at[1]));
}

/* ---- Planes ---- */

/* Combines the rows of the window of output row `at` to row + pad. Returns their number. */
static int64_t combine_rows(const bound_t* bound, tenon__cpu_binary_t combine, const float* plane,
                            int64_t at, float* row) {
  const tenon__cpu_window_t* w = &bound->window;
  const int64_t width = bound->x.extent[2];
  const int64_t pad = w->pad_begin[2];
  const int64_t begin = pad < 0 ? -pad : 0;
  const int64_t room = (int64_t)bound->row_floats - pad;
  const int64_t end = width < room ? width : room;
  const size_t count = begin < end ? (size_t)(end - begin) : 0;
  int64_t first = 0;
  const int64_t rows = taps_between(w, 1, at, 0, bound->x.extent[1], &first);
  const int64_t line = at * w->stride[1] - w->pad_begin[1] + first * w->dilation[1];
  for (int64_t k = 0; k < rows; k++) {
    const float* x = plane + (line + k * w->dilation[1]) * width + begin;
    if (k == 0) {
      memcpy(row + pad + begin, x, count * sizeof(float));
    } else {
      combine(row + pad + begin, row + pad + begin, x, count);
    }
  }
  return rows;
}

/* Combines the columns of the window, which are shifts of the row or of its phases. */
static void combine_columns(const bound_t* bound, tenon__cpu_binary_t combine, const float* row,
                            float* phases, float* y) {
  const tenon__cpu_window_t* w = &bound->window;
  const size_t stride = (size_t)w->stride[2];
  const size_t length = bound->row_floats / stride;
  const size_t count = (size_t)bound->y.extent[2];
  const float* from = row;
  if (stride > 1) {
    const tenon__cpu_copy_2d_t transpose = {.element_bytes = sizeof(float),
                                            .rows = stride,
                                            .columns = length,
                                            .out_row = (int64_t)length,
                                            .out_column = 1,
                                            .in_row = 1,
                                            .in_column = (int64_t)stride};
    tenon__cpu_copy_2d(bound->pool->isa->elements, &transpose, phases, row);
    from = phases;
  }
  for (size_t k = 0; k < (size_t)w->kernel[2]; k++) {
    const size_t at = k * (size_t)w->dilation[2];
    const float* x = from + at % stride * length + at / stride;
    if (k == 0) {
      memcpy(y, x, count * sizeof(float));
    } else {
      combine(y, y, x, count);
    }
  }
}

/* Computes all rows of one plane. */
static void run_plane(void* user, uint32_t index, uint32_t thread) {
  const job_t* job = user;
  const bound_t* bound = job->bound;
  const pool_t* pool = bound->pool;
  const tenon__cpu_elements_t* elements = pool->isa->elements;
  const size_t width = (size_t)bound->y.extent[2];
  const float* plane = job->x + (int64_t)index * bound->x.extent[1] * bound->x.extent[2];
  float* y = job->y + (int64_t)index * bound->y.extent[1] * bound->y.extent[2];
  float* row = bound->slots + thread * bound->slot_floats;
  float* phases = row + bound->row_floats;
  float* factors = phases + bound->row_floats;
  const float neutral = pool->average ? 0.0F : -INFINITY;
  const uint32_t opcode = pool->average ? TENON_OPCODE_ADD : TENON_OPCODE_MAX;
  const tenon__cpu_binary_t combine = elements->binary[opcode][TENON_CPU_TYPE_F32][TENON_CPU_VV];
  int64_t known = -1; /* rows that the factors are for */
  tenon__cpu_fill(row, &neutral, sizeof(neutral), bound->row_floats);
  for (int64_t at = 0; at < bound->y.extent[1]; at++, y += width) {
    if (combine_rows(bound, combine, plane, at, row) == 0) {
      tenon__cpu_fill(row, &neutral, sizeof(neutral), bound->row_floats);
    }
    combine_columns(bound, combine, row, phases, y);
    if (!pool->average) {
      continue;
    }
    const int64_t counted = counted_rows(bound, at);
    const size_t changed = counted != known ? width : 0;
    for (size_t k = 0; k < changed; k++) {
      factors[k] = factor_of(bound, counted, (int64_t)k);
    }
    known = counted;
    elements->binary[TENON_OPCODE_MUL][TENON_CPU_TYPE_F32][TENON_CPU_VV](y, y, factors, width);
  }
}

static tenon_status_t enqueue(const tenon_enqueue_t* call) {
  const bound_t* bound = call->bound;
  job_t job = {bound, call->inputs[0].tensor.data, call->outputs[0].tensor.data};
  if (bound->y.extent[2] > 0 && bound->pool->planes) {
    tenon__cpu_parallel(call, (uint32_t)(bound->y.batch * bound->y.channels), run_plane, &job);
  } else if (bound->y.extent[2] > 0) {
    tenon__cpu_parallel(call, (uint32_t)(bound->y.batch * bound->y.extent[0] * bound->y.extent[1]),
                        run_row, &job);
  }
  return TENON_OK;
}

static const char* const max_operators[] = {"standard.max_pool/1", NULL};
static const char* const average_operators[] = {"standard.average_pool/1", NULL};
static const char* const attributes[] = {"kernel_shape",  "strides",           "dilations",
                                         "pads",          "auto_pad",          "ceil_mode",
                                         "storage_order", "count_include_pad", NULL};

#define POOL(kernel_name, identities)                                                  \
  {                                                                                    \
    .size = sizeof(tenon_kernel_t), .name = (kernel_name), .device = "cpu",            \
    .operators = (identities), .attributes = attributes, .version = 1, .match = match, \
    .tactics = tactics, .prepare = prepare, .bind = bind, .enqueue = enqueue           \
  }
const tenon_kernel_t tenon__cpu_max_pool_kernel = POOL("max_pool", max_operators);
const tenon_kernel_t tenon__cpu_average_pool_kernel = POOL("average_pool", average_operators);
