/*
 * Transposed convolution with channels last. The output pixels whose coordinates leave the same
 * remainder on division by the strides, a phase, are a convolution of the input with every
 * stride-th tap: so each phase is a product over lines of the input (as in band.c), and every
 * output pixel is written once.
 */
#include "deconvolution.h"

#include "kernels.h"

enum { MOST_PHASES = 16 };

static int32_t match(void* state, const tenon_region_t* handle, const tenon_region_table_t* table,
                     tenon_refusal_t* out_refusal) {
  const tenon__cpu_state_t* cpu = state;
  const tenon__cpu_region_t region = {handle, table};
  const tenon_value_info_t* x = tenon__cpu_region_input(region, 0);
  const tenon_value_info_t* w = tenon__cpu_region_input(region, 1);
  const tenon_program_t* program = table->slot_program(handle, 0);
  if (x->dtype != TENON_DTYPE_FLOAT32 || w->dtype != TENON_DTYPE_FLOAT32) {
    return tenon__cpu_refuse(out_refusal, TENON_REFUSAL_DTYPE, NULL);
  }
  if (x->rank < 3 || x->rank > 4) {
    return tenon__cpu_refuse(out_refusal, TENON_REFUSAL_RANK, "one or two spatial axes");
  }
  if (w->constant_data == NULL) {
    for (uint32_t k = 0; k < w->rank; k++) {
      if (w->dims_min[k] != w->dims_max[k]) {
        return tenon__cpu_refuse(out_refusal, TENON_REFUSAL_DYNAMIC_SHAPE, "weights");
      }
    }
  }
  for (uint32_t k = 0; k < x->rank; k++) {
    if (x->dims_max[k] < 0) {
      return tenon__cpu_refuse(out_refusal, TENON_REFUSAL_DYNAMIC_SHAPE, "x has no bound");
    }
  }
  int64_t phases = 1;
  for (size_t k = 0; k + 2 < x->rank; k++) {
    phases *= tenon__cpu_region_item(region, "strides", k, 1);
    if (tenon__cpu_region_item(region, "dilations", k, 1) != 1 || phases > MOST_PHASES) {
      return tenon__cpu_refuse(out_refusal, TENON_REFUSAL_ATTRIBUTE, "dilations or large strides");
    }
  }
  if (table->input_count(handle) > TENON_CPU_MAX_RULES) {
    return tenon__cpu_refuse(out_refusal, TENON_REFUSAL_SLOT, "too many operands");
  }
  return program == NULL || tenon__cpu_rows_accepts(cpu->isa->elements, program, out_refusal);
}

/* Room for the lines around at least one row of quotients. */
static size_t band_bytes(tenon__cpu_region_t region) {
  const tenon_value_info_t* x = tenon__cpu_region_input(region, 0);
  const tenon_value_info_t* y = tenon__cpu_region_output(region, 0);
  const tenon_value_info_t* w = tenon__cpu_region_input(region, 1);
  const int64_t channels = w->dims_max[0] / tenon__cpu_region_int(region, "groups", 1);
  const int64_t width = x->dims_max[x->rank - 1] > y->dims_max[y->rank - 1]
                            ? x->dims_max[x->rank - 1]
                            : y->dims_max[y->rank - 1];
  const int64_t taps = w->dims_max[w->rank - 1];
  const int64_t lines = w->rank == 4 ? w->dims_max[2] : 1;
  const size_t line = tenon__cpu_line_floats(width + 2 * taps, channels) * sizeof(float);
  const size_t least = (size_t)(2 * lines + 1) * line;
  const size_t bytes = least > TENON_CPU_BAND_BYTES ? least : TENON_CPU_BAND_BYTES;
  return least > TENON_CPU_LARGEST_BAND ? 0 : (bytes + 63) / 64 * 64;
}

/* Floats of one group's packed weights: its phases share the taps among them. */
static size_t packed_group(const tenon__cpu_isa_t* isa, tenon__cpu_region_t region) {
  const tenon_value_info_t* w = tenon__cpu_region_input(region, 1);
  const int64_t channels = w->dims_max[0] / tenon__cpu_region_int(region, "groups", 1);
  const int64_t taps = w->dims_max[2] * (w->rank == 4 ? w->dims_max[3] : 1);
  return tenon__cpu_packed_size(isa->tiles, (size_t)(channels * taps), (size_t)w->dims_max[1]);
}

static size_t packed_bytes(const tenon__cpu_isa_t* isa, tenon__cpu_region_t region) {
  const size_t groups = (size_t)tenon__cpu_region_int(region, "groups", 1);
  return (groups * packed_group(isa, region) * sizeof(float) + 63) / 64 * 64;
}

static tenon_status_t tactics(void* state, const tenon_region_t* handle,
                              const tenon_region_table_t* table, tenon_emit_t* emit,
                              tenon_status_t (*add)(tenon_emit_t*, const tenon_tactic_t*)) {
  const tenon__cpu_state_t* cpu = state;
  const tenon__cpu_region_t region = {handle, table};
  const uint8_t once = tenon__cpu_region_input(region, 1)->constant_data != NULL;
  const tenon_value_info_t* y = tenon__cpu_region_output(region, 0);
  const size_t band = band_bytes(region);
  tenon_argument_rule_t rules[TENON_CPU_MAX_RULES] = {{0}};
  if (band == 0) {
    return TENON_OK;
  }
  for (uint32_t k = 0; k < table->input_count(handle); k++) {
    tenon__cpu_image_rule(region, k, &rules[k]);
  }
  tenon_argument_rule_t output;
  tenon__cpu_output_rule(y->rank, &output);
  const tenon_numerics_t numerics = {.size = sizeof(numerics), .reassociates = 1};
  const size_t slot = band + tenon__cpu_rows_scratch(table->slot_program(handle, 0));
  const tenon_tactic_t tactic = {.size = sizeof(tactic),
                                 .name = "phases, channels last",
                                 .configuration = &once,
                                 .configuration_size = sizeof(once),
                                 .inputs = rules,
                                 .outputs = &output,
                                 .numerics = &numerics,
                                 .scratch_bytes = once ? 0 : packed_bytes(cpu->isa, region),
                                 .launches = 1,
                                 .scratch_bytes_per_thread = slot};
  return add(emit, &tactic);
}

/* ---- Preparing ---- */

static tenon_status_t prepare(const tenon_prepare_t* call, void** out_instance) {
  const tenon__cpu_state_t* cpu = call->state;
  const tenon__cpu_region_t region = {call->region, call->table};
  tenon__cpu_preparation_t preparation = {call->preparation, call->host};
  const tenon_value_info_t* w = tenon__cpu_region_input(region, 1);
  const uint32_t rank = w->rank - 2;
  tenon__cpu_deconvolution_t* self = call->host->allocate(call->preparation, sizeof(*self));
  if (self == NULL) {
    return TENON_ERROR_OUT_OF_MEMORY;
  }
  self->isa = cpu->isa;
  self->groups = tenon__cpu_region_int(region, "groups", 1);
  self->in_channels = w->dims_max[0] / self->groups;
  self->out_channels = w->dims_max[1];
  tenon__cpu_window_read(region, rank, w->dims_max + 2, &self->window);
  self->fits_pads = self->window.padding == TENON_CPU_PADDING_SAME_UPPER ||
                    self->window.padding == TENON_CPU_PADDING_SAME_LOWER ||
                    tenon__cpu_region_length(region, "output_shape") > 0;
  self->lower = self->window.padding != TENON_CPU_PADDING_SAME_UPPER;
  for (uint32_t k = 0; k < rank; k++) {
    self->output_padding[TENON_CPU_AXES - rank + k] =
        tenon__cpu_region_item(region, "output_padding", k, 0);
  }
  /* At load a constant's data may be gone, so the tactic remembers whether it is one. */
  const bool once =
      call->tactic->configuration_size == 1 && *(const uint8_t*)call->tactic->configuration != 0;
  self->packed_group = packed_group(cpu->isa, region);
  self->shared_bytes = once ? 0 : packed_bytes(cpu->isa, region);
  self->weights = tenon__cpu_region_argument(region, 1);
  self->bias = tenon__cpu_region_argument(region, 2);
  self->band_bytes = band_bytes(region);
  self->slot_bytes =
      self->band_bytes + tenon__cpu_rows_scratch(call->table->slot_program(call->region, 0));
  *out_instance = self;
  if (call->tactic->scratch_bytes < self->shared_bytes || /* a plan may say so */
      call->tactic->scratch_bytes_per_thread < self->slot_bytes) {
    return TENON_ERROR_INVALID_ARGUMENT;
  }
  const tenon_status_t status =
      once ? tenon__cpu_deconvolution_pack_once(self, region, &preparation) : TENON_OK;
  return status != TENON_OK ? status
                            : tenon__cpu_epilogue_prepare(cpu->isa->elements, region, 1,
                                                          tenon__cpu_allocate_prepared,
                                                          &preparation, &self->epilogue);
}

/* ---- Binding ---- */

static int64_t max_int(int64_t a, int64_t b) {
  return a > b ? a : b;
}

static void fit_axis(tenon__cpu_bound_deconvolution_t* bound, size_t axis) {
  const tenon__cpu_deconvolution_t* self = bound->self;
  const tenon__cpu_window_t* window = &self->window;
  bound->pad[axis] = window->pad_begin[axis];
  if (self->fits_pads) {
    const int64_t total = window->stride[axis] * (bound->x.extent[axis] - 1) +
                          self->output_padding[axis] + window->kernel[axis] - bound->y.extent[axis];
    const int64_t some = max_int(total, 0);
    bound->pad[axis] = self->lower ? some - some / 2 : some / 2;
  }
  bound->quotients[axis] =
      (bound->y.extent[axis] + window->stride[axis] - 1) / window->stride[axis];
  bool first = true;
  for (int64_t r = 0; r < window->stride[axis]; r++) {
    const tenon__cpu_phase_axis_t phase = tenon__cpu_phase_axis(window, axis, bound->pad[axis], r);
    if (phase.count > 0) {
      const int64_t after = phase.count - 1 - phase.pad;
      bound->before[axis] = first ? phase.pad : max_int(bound->before[axis], phase.pad);
      bound->after[axis] = first ? after : max_int(bound->after[axis], after);
      first = false;
    }
  }
}

static tenon_status_t bind(void* instance, tenon_binding_t* handle, const tenon_bind_table_t* host,
                           void** out_bound) {
  const tenon__cpu_deconvolution_t* self = instance;
  tenon__cpu_bound_deconvolution_t* bound = host->allocate(handle, sizeof(*bound));
  if (bound == NULL) {
    return TENON_ERROR_OUT_OF_MEMORY;
  }
  const tenon_tensor_view_t* y = &host->output(handle, 0)->tensor;
  bound->self = self;
  tenon__cpu_image_read(&host->input(handle, 0)->tensor, &bound->x);
  tenon__cpu_image_read(y, &bound->y);
  fit_axis(bound, 1);
  fit_axis(bound, 2);
  bound->copies = bound->x.channel_stride != 1 || bound->x.stride[2] != self->in_channels;
  for (size_t a = 1; a < TENON_CPU_AXES; a++) {
    bound->copies = bound->copies || bound->before[a] > 0 || bound->after[a] > 0 ||
                    bound->quotients[a] > bound->x.extent[a];
  }
  bound->band_pixels = bound->quotients[2] + bound->before[2] + bound->after[2];
  bound->band_line = tenon__cpu_line_floats(bound->band_pixels, self->in_channels);
  const int64_t lines = (int64_t)(self->band_bytes / (bound->band_line * sizeof(float)));
  bound->band_rows = bound->copies
                         ? lines - bound->before[1] - bound->after[1]
                         : max_int(1, TENON_CPU_ROW_BLOCK / max_int(1, bound->quotients[2]));
  *out_bound = bound;
  if (bound->band_rows < 1) {
    return TENON_ERROR_UNSUPPORTED;
  }
  const tenon__cpu_row_shape_t shape = {.rank = y->rank - 1,
                                        .axes = {0, 2, 3},
                                        .column_axis = 1,
                                        .c_stride = (size_t)bound->y.stride[2]};
  return tenon__cpu_epilogue_bind(&self->epilogue, &shape, false, self->bias != TENON_NONE, handle,
                                  host, &bound->epilogue);
}

static const char* const operators[] = {"standard.deconvolution/1", NULL};
static const char* const attributes[] = {"strides",  "dilations",      "pads",         "groups",
                                         "auto_pad", "output_padding", "output_shape", NULL};

const tenon_kernel_t tenon__cpu_deconvolution_kernel = {
    .size = sizeof(tenon_kernel_t),
    .name = "deconvolution",
    .device = "cpu",
    .operators = operators,
    .attributes = attributes,
    .slots = TENON_LIST(tenon__cpu_any_slot),
    .version = 2,
    .input_limit = 3,
    .match = match,
    .tactics = tactics,
    .prepare = prepare,
    .bind = bind,
    .enqueue = tenon__cpu_deconvolution_enqueue,
};
