/*
 * Convolution with channels last: a product of the image's patches with the packed weights, tile by
 * tile with the epilogue. 1 x 1 windows read the image itself. Groups of one channel each go
 * without products.
 */
#include "convolution.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "kernels.h"

enum { FEW_CHANNELS = 4 };

typedef struct problem_t {
  int64_t groups;
  int64_t in_channels;
  int64_t out_channels;
  int64_t kernel[TENON_CPU_AXES];
  uint32_t rank; /* spatial */
  bool depthwise;
} problem_t;

static problem_t read_problem(tenon__cpu_region_t region) {
  const tenon_value_info_t* w = tenon__cpu_region_input(region, 1);
  problem_t problem = {.groups = tenon__cpu_region_int(region, "groups", 1),
                       .in_channels = w->dims_max[1],
                       .rank = w->rank - 2};
  problem.out_channels = w->dims_max[0] / (problem.groups > 0 ? problem.groups : 1);
  memcpy(problem.kernel, w->dims_max + 2, problem.rank * sizeof(int64_t));
  problem.depthwise = problem.groups > 1 && problem.in_channels == 1 && problem.out_channels == 1 &&
                      problem.rank <= 2;
  return problem;
}

static int32_t match(void* state, const tenon_region_t* handle, const tenon_region_table_t* table,
                     tenon_refusal_t* out_refusal) {
  const tenon__cpu_state_t* cpu = state;
  const tenon__cpu_region_t region = {handle, table};
  const tenon_value_info_t* x = tenon__cpu_region_input(region, 0);
  const tenon_value_info_t* w = tenon__cpu_region_input(region, 1);
  const tenon_value_info_t* b = tenon__cpu_region_input(region, 2);
  const tenon_program_t* program = table->slot_program(handle, 0);
  if (x->dtype != TENON_DTYPE_FLOAT32 || w->dtype != TENON_DTYPE_FLOAT32 ||
      (b != NULL && b->dtype != TENON_DTYPE_FLOAT32)) {
    return tenon__cpu_refuse(out_refusal, TENON_REFUSAL_DTYPE, NULL);
  }
  if (x->rank < 3 || x->rank > 5) {
    return tenon__cpu_refuse(out_refusal, TENON_REFUSAL_RANK, NULL);
  }
  if (w->constant_data == NULL) {
    return tenon__cpu_refuse(out_refusal, TENON_REFUSAL_CONSTANT_REQUIRED, "weights");
  }
  if (table->input_count(handle) > TENON_CPU_MAX_RULES) {
    return tenon__cpu_refuse(out_refusal, TENON_REFUSAL_SLOT, "too many operands");
  }
  return program == NULL || tenon__cpu_epilogue_accepts(cpu->isa->elements, program, out_refusal);
}

/* Scratch of a thread for bands or patches. */
static size_t image_bytes(tenon__cpu_region_t region, const problem_t* problem) {
  const tenon_value_info_t* y = tenon__cpu_region_output(region, 0);
  tenon__cpu_window_t window;
  if (problem->depthwise) {
    return 0;
  }
  tenon__cpu_window_read(region, problem->rank, problem->kernel, &window);
  const size_t depth = (size_t)(problem->in_channels * tenon__cpu_window_taps(&window));
  size_t bytes = tenon__cpu_product_scratch((size_t)TENON_CPU_ROW_BLOCK * 2, depth) * sizeof(float);
  if (problem->rank <= 2) {
    const size_t band =
        tenon__cpu_band_bytes(&window, problem->in_channels,
                              problem->rank == 2 ? y->dims_max[2] : 1, y->dims_max[y->rank - 1]);
    bytes = band > bytes ? band : bytes;
  }
  return (bytes + 63) / 64 * 64;
}

static double estimate(const tenon__cpu_isa_t* isa, const tenon_value_info_t* y,
                       const problem_t* problem) {
  double work = 2.0 * (double)problem->in_channels;
  for (uint32_t k = 0; k < problem->rank; k++) {
    work *= (double)problem->kernel[k];
  }
  for (uint32_t k = 0; k < y->rank; k++) {
    work *= (double)y->dims_opt[k];
  }
  return work / (4e9 * isa->tiles->vector_floats * (problem->depthwise ? 0.3 : 1.0)) + 1e-6;
}

static tenon_status_t tactics(void* state, const tenon_region_t* handle,
                              const tenon_region_table_t* table, tenon_emit_t* emit,
                              tenon_status_t (*add)(tenon_emit_t*, const tenon_tactic_t*)) {
  const tenon__cpu_state_t* cpu = state;
  const tenon__cpu_region_t region = {handle, table};
  const problem_t problem = read_problem(region);
  const tenon_value_info_t* y = tenon__cpu_region_output(region, 0);
  const uint32_t x = tenon__cpu_region_argument(region, 0);
  tenon_argument_rule_t rules[TENON_CPU_MAX_RULES];
  tenon_argument_rule_t output;
  for (uint32_t k = 0; k < table->input_count(handle); k++) {
    tenon__cpu_image_rule(region, k, &rules[k]);
  }
  tenon__cpu_output_rule(y->rank, &output);
  const tenon_numerics_t numerics = {.reassociates = 1};
  const size_t slot =
      image_bytes(region, &problem) + tenon__cpu_epilogue_scratch(table->slot_program(handle, 0));
  tenon_tactic_t tactic = {.size = sizeof(tactic),
                           .name = problem.depthwise ? "depthwise, channels last" : "channels last",
                           .inputs = rules,
                           .outputs = &output,
                           .numerics = &numerics,
                           .scratch_bytes = (uint64_t)slot * tenon__cpu_slot_count(),
                           .estimate_seconds = estimate(cpu->isa, y, &problem),
                           .launches = 1};
  tenon_status_t status = add(emit, &tactic);
  if (status == TENON_OK && !problem.depthwise && problem.groups == 1 &&
      problem.in_channels <= FEW_CHANNELS) {
    rules[x] = (tenon_argument_rule_t){
        .kind = TENON_LAYOUT_ROW_MAJOR, .strided = 1, .in_place_input = TENON_NONE};
    tactic.name = "planes to channels last";
    status = add(emit, &tactic);
  }
  return status;
}

/* ---- Preparing ---- */

/* Where row k of a group's matrix, [taps][in], is in the group's weights, [out][in][taps]. */
static void fill_offsets(const tenon__cpu_convolution_t* c, size_t* out_offsets) {
  const size_t taps = (size_t)tenon__cpu_window_taps(&c->window);
  const size_t channels = (size_t)c->in_channels;
  for (size_t k = 0; k < c->depth; k++) {
    out_offsets[k] = k % channels * taps + k / channels;
  }
}

/* Behind the weights stands whether all are finite: 1, else 0. */
static void pack_depthwise(const float* w, size_t channels, size_t taps, float* out) {
  bool finite = true;
  for (size_t t = 0; t < taps; t++) {
    for (size_t c = 0; c < channels; c++) {
      const float weight = w[c * taps + t];
      out[t * channels + c] = weight;
      finite = finite && isfinite(weight);
    }
  }
  out[channels * taps] = finite ? 1.0F : 0.0F;
}

static tenon_status_t pack_weights(tenon__cpu_convolution_t* c, tenon__cpu_region_t region,
                                   tenon__cpu_preparation_t* preparation) {
  const uint32_t source = region.table->node_input(region.handle, 0, 1);
  const tenon_value_info_t* w = tenon__cpu_region_input(region, 1);
  const bool depthwise = c->depthwise;
  c->packed_group = depthwise
                        ? (size_t)tenon__cpu_window_taps(&c->window)
                        : tenon__cpu_packed_size(c->isa->tiles, c->depth, (size_t)c->out_channels);
  const size_t groups = (size_t)c->groups;
  const size_t floats = groups * c->packed_group + (depthwise ? 1 : 0);
  char parameters[64];
  void* data = NULL;
  int32_t ready = 0;
  (void)snprintf(parameters, sizeof(parameters), "%u floats, %zu groups",
                 c->isa->tiles->vector_floats, groups);
  const tenon_status_t status = preparation->host->pack(
      preparation->handle, depthwise ? "cpu.depthwise/2" : "cpu.patches/1",
      depthwise ? "" : parameters, &source, 1, floats * sizeof(float), &data, &ready);
  c->packed = data;
  if (status != TENON_OK || ready != 0) {
    return status;
  }
  if (w->constant_data == NULL) {
    return TENON_ERROR_INVALID_STATE;
  }
  if (depthwise) {
    pack_depthwise(w->constant_data, groups, c->packed_group, data);
    return TENON_OK;
  }
  size_t* offsets = tenon__cpu_allocate_prepared(preparation, c->depth * sizeof(size_t) + 1);
  if (offsets == NULL) {
    return TENON_ERROR_OUT_OF_MEMORY;
  }
  fill_offsets(c, offsets);
  for (size_t g = 0; g < groups; g++) {
    tenon__cpu_pack(c->isa->tiles,
                    (const float*)w->constant_data + g * (size_t)c->out_channels * c->depth,
                    offsets, 0, c->depth, c->depth, (size_t)c->out_channels,
                    (float*)data + g * c->packed_group);
  }
  return TENON_OK;
}

static tenon_status_t prepare(void* state, const tenon_region_t* handle,
                              const tenon_region_table_t* table, const tenon_tactic_t* tactic,
                              tenon_preparation_t* preparation_handle,
                              const tenon_prepare_table_t* host, void** out_instance) {
  const tenon__cpu_state_t* cpu = state;
  const tenon__cpu_region_t region = {handle, table};
  tenon__cpu_preparation_t preparation = {preparation_handle, host};
  tenon__cpu_convolution_t* c = host->allocate(preparation_handle, sizeof(*c));
  if (c == NULL) {
    return TENON_ERROR_OUT_OF_MEMORY;
  }
  const problem_t problem = read_problem(region);
  c->isa = cpu->isa;
  c->groups = problem.groups;
  c->in_channels = problem.in_channels;
  c->out_channels = problem.out_channels;
  tenon__cpu_window_read(region, problem.rank, problem.kernel, &c->window);
  c->depthwise = problem.depthwise;
  c->depth = (size_t)(problem.in_channels * tenon__cpu_window_taps(&c->window));
  c->x = tenon__cpu_region_argument(region, 0);
  c->bias = tenon__cpu_region_argument(region, 2);
  c->image_bytes = image_bytes(region, &problem);
  c->slot_bytes = c->image_bytes + tenon__cpu_epilogue_scratch(table->slot_program(handle, 0));
  c->slots = c->slot_bytes == 0 ? UINT32_MAX : (uint32_t)(tactic->scratch_bytes / c->slot_bytes);
  *out_instance = c;
  if (c->slots == 0) {
    return TENON_ERROR_INVALID_ARGUMENT;
  }
  const tenon_status_t status = pack_weights(c, region, &preparation);
  return status != TENON_OK ? status
                            : tenon__cpu_epilogue_prepare(cpu->isa->elements, region, 1,
                                                          tenon__cpu_allocate_prepared,
                                                          &preparation, &c->epilogue);
}

/* ---- Binding ---- */

/* The innermost axes along which both images advance evenly make a segment; `in_place`: the rows of
 * the product are the pixels of x. */
static void find_segments(tenon__cpu_bound_convolution_t* bound, bool in_place) {
  const tenon__cpu_image_t* y = &bound->y;
  const tenon__cpu_image_t* x = &bound->x;
  const int64_t extents[] = {y->batch, y->extent[0], y->extent[1], y->extent[2]};
  const int64_t y_strides[] = {y->batch_stride, y->stride[0], y->stride[1], y->stride[2]};
  const int64_t x_strides[] = {x->batch_stride, x->stride[0], x->stride[1], x->stride[2]};
  int64_t rows = 1;
  int64_t segments = 1;
  bound->y_step = (size_t)y->channels;
  bound->x_step = in_place ? (size_t)x->channels : 0;
  for (size_t k = 4; k-- > 0;) {
    if (extents[k] == 1) {
      continue;
    }
    const bool first = rows == 1 && segments == 1;
    const bool even = y_strides[k] == (int64_t)bound->y_step * rows &&
                      (!in_place || x_strides[k] == (int64_t)bound->x_step * rows);
    if (first) {
      bound->y_step = (size_t)y_strides[k];
      bound->x_step = in_place ? (size_t)x_strides[k] : 0;
    }
    if (segments == 1 && (first || even)) {
      rows *= extents[k];
    } else {
      segments *= extents[k];
    }
  }
  bound->segments = (size_t)segments;
  bound->segment_rows = (size_t)rows;
}

static bool reads_pixels(const tenon__cpu_bound_convolution_t* bound) {
  const tenon__cpu_window_t* w = &bound->window;
  bool plain = bound->x.channel_stride == 1;
  for (size_t a = 0; a < TENON_CPU_AXES; a++) {
    plain = plain && w->kernel[a] == 1 && w->stride[a] == 1 && w->pad_begin[a] == 0 &&
            bound->x.extent[a] == bound->y.extent[a];
  }
  return plain;
}

static void choose_path(tenon__cpu_bound_convolution_t* bound) {
  bound->path = TENON_CPU_PATH_PATCHES;
  if (bound->convolution->depthwise) {
    bound->path = TENON_CPU_PATH_DEPTHWISE;
    bound->y_step = (size_t)bound->y.stride[2];
    return;
  }
  if (reads_pixels(bound)) {
    bound->path = TENON_CPU_PATH_PIXELS;
  } else {
    tenon__cpu_band_plan(bound);
  }
  if (bound->path != TENON_CPU_PATH_LINES) {
    find_segments(bound, bound->path == TENON_CPU_PATH_PIXELS);
  }
}

static tenon_status_t bind(void* instance, tenon_binding_t* handle, const tenon_bind_table_t* host,
                           void** out_bound) {
  const tenon__cpu_convolution_t* c = instance;
  tenon__cpu_bound_convolution_t* bound = host->allocate(handle, sizeof(*bound));
  if (bound == NULL) {
    return TENON_ERROR_OUT_OF_MEMORY;
  }
  const tenon_tensor_view_t* y = &host->output(handle, 0)->tensor;
  bound->convolution = c;
  bound->window = c->window;
  tenon__cpu_image_read(&host->input(handle, c->x)->tensor, &bound->x);
  tenon__cpu_image_read(y, &bound->y);
  tenon__cpu_window_fit(&bound->window, bound->x.extent, bound->y.extent);
  choose_path(bound);
  const tenon__cpu_row_shape_t shape = {
      .rank = y->rank - 1, .axes = {0, 2, 3, 4}, .column_axis = 1, .c_stride = bound->y_step};
  *out_bound = bound;
  return tenon__cpu_epilogue_bind(&c->epilogue, &shape, !c->depthwise, c->bias != TENON_NONE,
                                  handle, host, &bound->epilogue);
}

/* ---- Running ---- */

void tenon__cpu_convolution_product(const tenon__cpu_convolution_call_t* call, size_t group,
                                    size_t first_row, const tenon__cpu_epilogue_task_t* finish,
                                    tenon__cpu_shifted_finish_t* out_shifted,
                                    tenon__cpu_product_t* inout_product) {
  const tenon__cpu_bound_convolution_t* bound = call->bound;
  const tenon__cpu_convolution_t* c = bound->convolution;
  const tenon__cpu_epilogue_call_t* epilogue = &call->epilogue;
  const tenon__cpu_pixel_t pixel = tenon__cpu_pixel_of(&bound->y, first_row);
  const size_t column = group * (size_t)c->out_channels;
  *out_shifted = (tenon__cpu_shifted_finish_t){finish, epilogue->finish, first_row, column};
  inout_product->tiles = c->isa->tiles;
  inout_product->columns = (size_t)c->out_channels;
  inout_product->depth = c->depth;
  inout_product->b = c->packed + group * c->packed_group;
  inout_product->panel_stride = c->depth * tenon__cpu_panel_width(c->isa->tiles);
  inout_product->c = call->y + tenon__cpu_pixel_offset(&bound->y, pixel) + column;
  inout_product->c_stride = bound->y_step;
  inout_product->bias = epilogue->bias != NULL ? epilogue->bias + column : NULL;
  inout_product->addend_stride = epilogue->addend_stride;
  inout_product->addend = epilogue->addend != NULL
                              ? epilogue->addend + first_row * epilogue->addend_stride + column
                              : NULL;
  inout_product->low = epilogue->low;
  inout_product->high = epilogue->high;
  inout_product->finish = epilogue->finish != NULL ? tenon__cpu_finish_shifted : NULL;
  inout_product->finish_user = out_shifted;
}

/* PIXELS and PATCHES. A task: a segment, a group, a part of the product's grid. */
static void product_task(void* user, uint32_t index, uint32_t thread) {
  const tenon__cpu_convolution_call_t* call = user;
  const tenon__cpu_bound_convolution_t* bound = call->bound;
  const tenon__cpu_convolution_t* c = bound->convolution;
  const size_t tasks = bound->grid.row_tasks * bound->grid.panel_tasks;
  const size_t unit = index / tasks;
  const size_t group = unit % (size_t)c->groups;
  const size_t first_row = unit / (size_t)c->groups * bound->segment_rows;
  char* scratch = call->scratch + thread * c->slot_bytes;
  const tenon__cpu_patches_t patches = {
      bound, call->x + (int64_t)group * c->in_channels * bound->x.channel_stride, first_row};
  const tenon__cpu_epilogue_task_t finish = {&call->epilogue, scratch + c->image_bytes};
  tenon__cpu_shifted_finish_t shifted;
  tenon__cpu_product_t product = {.rows = bound->segment_rows};
  if (bound->path == TENON_CPU_PATH_PIXELS) {
    const tenon__cpu_pixel_t pixel = tenon__cpu_pixel_of(&bound->y, first_row);
    product.a = patches.x + tenon__cpu_pixel_offset(&bound->x, pixel);
    product.a_stride = bound->x_step;
  } else {
    product.gather = tenon__cpu_gather_patches;
    product.gather_user = &patches;
  }
  tenon__cpu_convolution_product(call, group, first_row, &finish, &shifted, &product);
  tenon__cpu_product_task(&product, &bound->grid, index % tasks, (float*)(void*)scratch);
}

/* The contract counts the parameters. NOLINTNEXTLINE(readability-function-size) */
static tenon_status_t enqueue(void* instance, void* bound_handle, tenon_run_t* run,
                              const tenon_run_table_t* host, const tenon_argument_t* inputs,
                              uint32_t input_count, const tenon_argument_t* outputs,
                              uint32_t output_count) {
  (void)input_count, (void)output_count;
  const tenon__cpu_convolution_t* c = instance;
  tenon__cpu_bound_convolution_t* bound = bound_handle;
  tenon__cpu_convolution_call_t call = {.bound = bound,
                                        .x = inputs[c->x].tensor.data,
                                        .y = outputs[0].tensor.data,
                                        .scratch = host->scratch(run)};
  const float* bias = c->bias != TENON_NONE ? inputs[c->bias].tensor.data : NULL;
  const uint32_t threads = tenon__cpu_threads(run, host, c->slots);
  if (tenon__cpu_image_pixels(&bound->y) * bound->y.batch == 0 || bound->y.channels == 0) {
    return TENON_OK;
  }
  tenon__cpu_epilogue_start(bound->epilogue, inputs, bias, &call.epilogue);
  if (bound->path == TENON_CPU_PATH_DEPTHWISE) {
    const uint32_t tasks = tenon__cpu_depthwise_tasks(&call, threads);
    tenon__cpu_parallel(run, host, c->slots, tasks, tenon__cpu_depthwise_task, &call);
    return TENON_OK;
  }
  if (bound->path == TENON_CPU_PATH_LINES) {
    const uint32_t tasks = tenon__cpu_band_tasks(bound, threads);
    tenon__cpu_parallel(run, host, c->slots, tasks, tenon__cpu_band_task, &call);
    return TENON_OK;
  }
  const size_t units = bound->segments * (size_t)c->groups;
  tenon__cpu_product_grid(c->isa->tiles, bound->segment_rows, (size_t)c->out_channels, units,
                          threads, &bound->grid);
  tenon__cpu_parallel(run, host, c->slots,
                      (uint32_t)(units * bound->grid.row_tasks * bound->grid.panel_tasks),
                      product_task, &call);
  return TENON_OK;
}

static const char* const operators[] = {"standard.convolution/1", NULL};
static const char* const attributes[] = {"strides", "dilations", "pads",
                                         "groups",  "auto_pad",  NULL};
const tenon_slot_t tenon__cpu_any_slot = {
    .size = sizeof(tenon_slot_t),
    .kind = TENON_SLOT_EPILOGUE,
    .index = 0,
    .max_operands = 16,
    .broadcasts = TENON_BROADCAST_SCALAR | TENON_BROADCAST_CHANNEL | TENON_BROADCAST_ROW |
                  TENON_BROADCAST_FULL | TENON_BROADCAST_OTHER,
    .channel_axis = 1,
    .arithmetic = TENON_DTYPE_FLOAT32,
};

const tenon_kernel_t tenon__cpu_convolution_kernel = {
    .size = sizeof(tenon_kernel_t),
    .name = "convolution",
    .device = "cpu",
    .operators = operators,
    .attributes = attributes,
    .slots = &tenon__cpu_any_slot,
    .slot_count = 1,
    .slot_stride = sizeof(tenon_slot_t),
    .version = 1,
    .input_limit = 3,
    .match = match,
    .tactics = tactics,
    .prepare = prepare,
    .bind = bind,
    .enqueue = enqueue,
};
