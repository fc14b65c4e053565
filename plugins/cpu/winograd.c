/*
 * standard.convolution/1 with windows of 3 x 3 and steps of 1, by Winograd's minimal filtering F(2 x 2,
 * 3 x 3) (Lavin and Gray 2015): 16 products of numbers in the place of 36 for 2 x 2 outputs. Channels
 * last, weights that are constants and finite.
 *
 * The weights are transformed once, to 16 matrices of in x out channels. A run takes tiles of 2 x 2
 * outputs in blocks. It transforms the 4 x 4 pixels of each tile to a row in each of 16 matrices,
 * multiplies these by the weights, and transforms the products back. The transforms add and subtract
 * only, so the error is at most about twice that of plain sums. They mix neighbouring pixels: an
 * infinite pixel would make all outputs of its tiles NaN. Tiles with such outputs are computed again,
 * by sums.
 */
#include "winograd.h"
#include "kernels.h"

enum {
  LEAST_CHANNELS = 16, /* with fewer, the transforms take longer than they save */
  MOST_TILES = 112,    /* of a block, a multiple of the rows of AVX-512's tiles */
  LEAST_TILES = 14,
  BLOCK_BYTES = 4 * 1024 * 1024
};

/* ---- Matching ---- */

static bool has_ones(tenon__cpu_region_t region, const char* name) {
  return tenon__cpu_region_item(region, name, 0, 1) == 1 &&
         tenon__cpu_region_item(region, name, 1, 1) == 1;
}

static bool is_finite(const float* w, size_t count) {
  float rest = 0;
  for (size_t k = 0; k < count; k++) {
    rest += w[k] - w[k]; /* NaN for infinities. NOLINT(misc-redundant-expression) */
  }
  return rest == 0;
}

static int32_t match(void* state, const tenon_region_t* handle, const tenon_region_table_t* table,
                     tenon_refusal_t* out_refusal) {
  const tenon__cpu_state_t* cpu = state;
  const tenon__cpu_region_t region = {handle, table};
  const tenon_value_info_t* x = tenon__cpu_region_input(region, 0);
  const tenon_value_info_t* w = tenon__cpu_region_input(region, 1);
  const tenon_value_info_t* b = tenon__cpu_region_input(region, 2);
  const tenon_program_t* program = table->slot_program(handle, TENON_CPU_EPILOGUE);
  if (x->dtype != TENON_DTYPE_FLOAT32 || w->dtype != TENON_DTYPE_FLOAT32 ||
      (b != NULL && b->dtype != TENON_DTYPE_FLOAT32)) {
    return tenon__cpu_refuse(out_refusal, TENON_REFUSAL_DTYPE, NULL);
  }
  if (x->rank != 4) {
    return tenon__cpu_refuse(out_refusal, TENON_REFUSAL_RANK, NULL);
  }
  if (w->constant_data == NULL) {
    return tenon__cpu_refuse(out_refusal, TENON_REFUSAL_OTHER, "the weights are not constant");
  }
  if (w->dims_max[2] != TENON_CPU_WINOGRAD_TAPS || w->dims_max[3] != TENON_CPU_WINOGRAD_TAPS ||
      w->dims_max[1] < LEAST_CHANNELS || w->dims_max[0] < LEAST_CHANNELS ||
      tenon__cpu_region_int(region, "groups", 1) != 1 || !has_ones(region, "strides") ||
      !has_ones(region, "dilations")) {
    return tenon__cpu_refuse(out_refusal, TENON_REFUSAL_ATTRIBUTE,
                             "windows of 3 x 3 with steps of 1 and 16 channels alone");
  }
  if (table->input_count(handle) > TENON_CPU_MAX_RULES) {
    return tenon__cpu_refuse(out_refusal, TENON_REFUSAL_SLOT, "too many operands");
  }
  if (program != NULL && !tenon__cpu_rows_accepts(cpu->isa->elements, program, out_refusal)) {
    return 0;
  }
  return is_finite(w->constant_data, (size_t)(w->dims_max[0] * w->dims_max[1]) *
                                         TENON_CPU_WINOGRAD_TAPS * TENON_CPU_WINOGRAD_TAPS)
             ? 1
             : tenon__cpu_refuse(out_refusal, TENON_REFUSAL_OTHER, "a weight is not finite");
}

/* ---- Tactics ---- */

/* Of one tile in all matrices. */
static size_t tile_bytes(size_t in, size_t out) {
  return TENON_CPU_WINOGRAD_MATRICES *
         (tenon__cpu_winograd_row(in) + tenon__cpu_winograd_row(out)) * sizeof(float);
}

static size_t block_tiles(size_t in, size_t out) {
  const size_t most = BLOCK_BYTES / tile_bytes(in, out) / LEAST_TILES * LEAST_TILES;
  return most < LEAST_TILES ? LEAST_TILES : most > MOST_TILES ? MOST_TILES : most;
}

/* Matrices of a block, and zeros for pixels outside of the image. */
static size_t block_bytes(size_t in, size_t out) {
  const size_t bytes = block_tiles(in, out) * tile_bytes(in, out) + in * sizeof(float);
  return (bytes + 63) / 64 * 64;
}

static tenon_status_t tactics(void* state, const tenon_region_t* handle,
                              const tenon_region_table_t* table, tenon_emit_t* emit,
                              tenon_status_t (*add)(tenon_emit_t*, const tenon_tactic_t*)) {
  const tenon__cpu_state_t* cpu = state;
  const tenon__cpu_region_t region = {handle, table};
  const tenon_value_info_t* w = tenon__cpu_region_input(region, 1);
  const tenon_value_info_t* y = tenon__cpu_region_output(region, 0);
  const size_t in = (size_t)w->dims_max[1];
  const size_t out = (size_t)w->dims_max[0];
  tenon_argument_rule_t rules[TENON_CPU_MAX_RULES];
  tenon_argument_rule_t output;
  for (uint32_t k = 0; k < table->input_count(handle); k++) {
    tenon__cpu_image_rule(region, k, &rules[k]);
  }
  tenon__cpu_output_rule(y->rank, &output);
  const int64_t lines = (y->dims_opt[2] + 1) / TENON_CPU_WINOGRAD_OUTPUTS;
  const int64_t columns = (y->dims_opt[3] + 1) / TENON_CPU_WINOGRAD_OUTPUTS;
  const double tiles = (double)(y->dims_opt[0] * lines * columns);
  const double products = 2.0 * TENON_CPU_WINOGRAD_MATRICES * tiles * (double)in * (double)out;
  const double moved = 2.0 * tiles * (double)tile_bytes(in, out);
  const tenon_numerics_t numerics = {.size = sizeof(numerics), .reassociates = 1};
  const tenon_tactic_t tactic = {
      .size = sizeof(tactic),
      .name = "2 x 2, channels last",
      .inputs = rules,
      .outputs = &output,
      .numerics = &numerics,
      .estimate_seconds = products / (4e9 * cpu->isa->tiles->vector_floats) + moved / 2e10 + 2e-6,
      .launches = 1,
      .scratch_bytes_per_thread =
          block_bytes(in, out) +
          tenon__cpu_rows_scratch(table->slot_program(handle, TENON_CPU_EPILOGUE))};
  return add(emit, &tactic);
}

/* ---- Preparing ---- */

static tenon_status_t prepare(const tenon_prepare_t* call, void** out_instance) {
  static const int64_t kernel[] = {TENON_CPU_WINOGRAD_TAPS, TENON_CPU_WINOGRAD_TAPS};
  const tenon__cpu_state_t* cpu = call->state;
  const tenon__cpu_region_t region = {call->region, call->table};
  tenon__cpu_preparation_t preparation = {call->preparation, call->host};
  const tenon_value_info_t* w = tenon__cpu_region_input(region, 1);
  tenon__cpu_winograd_t* self = call->host->allocate(call->preparation, sizeof(*self));
  if (self == NULL) {
    return TENON_ERROR_OUT_OF_MEMORY;
  }
  self->isa = cpu->isa;
  self->in = (size_t)w->dims_max[1];
  self->out = (size_t)w->dims_max[0];
  self->packed_matrix = tenon__cpu_packed_size(cpu->isa->tiles, self->in, self->out);
  tenon__cpu_window_read(region, 2, kernel, &self->window);
  self->x = tenon__cpu_region_argument(region, 0);
  self->bias = tenon__cpu_region_argument(region, 2);
  self->block_bytes = block_bytes(self->in, self->out);
  self->slot_bytes = self->block_bytes + tenon__cpu_rows_scratch(call->table->slot_program(
                                             call->region, TENON_CPU_EPILOGUE));
  *out_instance = self;
  if (call->tactic->scratch_bytes_per_thread < self->slot_bytes) { /* a plan may say so */
    return TENON_ERROR_INVALID_ARGUMENT;
  }
  const tenon_status_t status = tenon__cpu_winograd_pack(self, region, &preparation);
  return status != TENON_OK ? status
                            : tenon__cpu_epilogue_prepare(cpu->isa->elements, region, 1,
                                                          tenon__cpu_allocate_prepared,
                                                          &preparation, &self->epilogue);
}

/* ---- Binding ---- */

static tenon_status_t bind(void* instance, tenon_binding_t* handle, const tenon_bind_table_t* host,
                           void** out_bound) {
  const tenon__cpu_winograd_t* self = instance;
  const tenon_tensor_view_t* y = &host->output(handle, 0)->tensor;
  tenon__cpu_bound_winograd_t* bound = host->allocate(handle, sizeof(*bound));
  if (bound == NULL) {
    return TENON_ERROR_OUT_OF_MEMORY;
  }
  *out_bound = bound;
  bound->self = self;
  bound->window = self->window;
  tenon__cpu_image_read(&host->input(handle, self->x)->tensor, &bound->x);
  tenon__cpu_image_read(y, &bound->y);
  tenon__cpu_window_fit(&bound->window, bound->x.extent, bound->y.extent);
  bound->tile_lines = ((size_t)bound->y.extent[1] + 1) / TENON_CPU_WINOGRAD_OUTPUTS;
  bound->tile_columns = ((size_t)bound->y.extent[2] + 1) / TENON_CPU_WINOGRAD_OUTPUTS;
  bound->tiles = (size_t)bound->y.batch * bound->tile_lines * bound->tile_columns;
  /* Blocks of equal size, two for each thread if there are enough tiles. */
  const size_t threads = host->thread_count(handle);
  const size_t most = block_tiles(self->in, self->out);
  size_t blocks = (bound->tiles + most - 1) / most;
  const size_t wanted = threads > 1 ? 2 * threads : 1;
  const size_t possible = (bound->tiles + LEAST_TILES - 1) / LEAST_TILES;
  blocks = blocks < wanted ? (wanted < possible ? wanted : possible) : blocks;
  bound->block = blocks > 0 ? (bound->tiles + blocks - 1) / blocks : 1;
  const tenon__cpu_row_shape_t shape = {
      .rank = 3, .axes = {0, 2, 3}, .column_axis = 1, .c_stride = (size_t)bound->y.stride[2]};
  return tenon__cpu_epilogue_bind(&self->epilogue, &shape, true, self->bias != TENON_NONE, handle,
                                  host, &bound->epilogue);
}

static const char* const operators[] = {"standard.convolution/1", NULL};
static const char* const attributes[] = {"strides", "dilations", "pads",
                                         "groups",  "auto_pad",  NULL};

const tenon_kernel_t tenon__cpu_winograd_kernel = {
    .size = sizeof(tenon_kernel_t),
    .name = "winograd",
    .device = "cpu",
    .operators = operators,
    .attributes = attributes,
    .slots = {tenon__cpu_any_slot, 1, sizeof(tenon_slot_t)},
    .version = 1,
    .input_limit = 3,
    .match = match,
    .tactics = tactics,
    .prepare = prepare,
    .bind = bind,
    .enqueue = tenon__cpu_winograd_run,
};
