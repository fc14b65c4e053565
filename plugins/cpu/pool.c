/* Maximum and average pooling with channels last, row by row of output pixels. */
#include <string.h>

#include "convolution.h"
#include "kernels.h"
#include "window.h"

typedef struct pool_t {
  const tenon__cpu_isa_t* isa;
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
  const tenon_tactic_t tactic = {.size = sizeof(tactic),
                                 .name = "channels last",
                                 .inputs = rules,
                                 .outputs = rules,
                                 .numerics = &numerics,
                                 .launches = 1};
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
  return TENON_OK;
}

/* How many taps of the window at output coordinate `at` lie in [low, high) of the input. */
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

static void divide_row(const bound_t* bound, const tenon__cpu_row_t* row, int64_t rows) {
  const pool_t* pool = bound->pool;
  const tenon__cpu_binary_t multiply =
      pool->isa->elements->binary[TENON_OPCODE_MUL][TENON_CPU_TYPE_F32][TENON_CPU_VS];
  for (int64_t pixel = 0; pixel < row->out_width; pixel++) {
    const int64_t low = pool->counts_padding ? -bound->window.pad_begin[2] : 0;
    const int64_t high = bound->x.extent[2] + (pool->counts_padding ? bound->pad_end[2] : 0);
    int64_t first = 0;
    const int64_t taps = rows * taps_between(&bound->window, 2, pixel, low, high, &first);
    const float scale = 1.0F / (float)(taps > 0 ? taps : 1);
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
  int64_t counted = rows;
  if (pool->counts_padding) {
    counted = taps_between(window, 1, pixel.at[1], -window->pad_begin[1],
                           bound->x.extent[1] + bound->pad_end[1], &first);
  }
  divide_row(bound, &row, counted);
}

static tenon_status_t enqueue(const tenon_enqueue_t* call) {
  const bound_t* bound = call->bound;
  job_t job = {bound, call->inputs[0].tensor.data, call->outputs[0].tensor.data};
  if (bound->y.extent[2] > 0) {
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
