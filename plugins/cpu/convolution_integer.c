/* standard.convolution_integer/1 with channels last and fused expressions in the epilogue: the choice
 * of the algorithm and everything before a run (convolution_integer.h). */
#include "convolution_integer.h"

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
                     tenon__cpu_convolution_integer_t* out_integer) {
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
  tenon__cpu_convolution_integer_t self = {0};
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

static tenon_status_t prepare(const tenon_prepare_t* call, void** out_instance) {
  const tenon__cpu_region_t region = {call->region, call->table};
  const tenon__cpu_state_t* cpu = call->state;
  const tenon_value_info_t* w = tenon__cpu_region_input(region, TENON_CPU_INTEGER_B);
  tenon__cpu_convolution_integer_t* self = call->host->allocate(call->preparation, sizeof(*self));
  if (self == NULL) {
    return TENON_ERROR_OUT_OF_MEMORY;
  }
  const tenon_status_t status = tenon__cpu_integer_prepare(call, &self->common);
  describe(cpu->isa, region, self);
  *out_instance = self;
  if (status != TENON_OK || !tenon__cpu_integer_packs_once(call->tactic)) {
    return status;
  }
  if (self->depthwise) {
    return tenon__cpu_depthwise_integer_prepare(call, self);
  }
  const tenon__cpu_integer_constant_t constant = {
      .source = tenon__cpu_convolution_integer_source(self, w->dtype == TENON_DTYPE_INT8),
      .count = (size_t)self->groups,
      .stride = self->outputs * self->depth,
      .bytes = self->packed_group};
  return tenon__cpu_integer_pack_constant(call, &constant, &self->common);
}

/* ---- Binding ---- */

static tenon_status_t bind(void* instance, tenon_binding_t* binding, const tenon_bind_table_t* host,
                           void** out_bound) {
  const tenon__cpu_convolution_integer_t* self = instance;
  const tenon__cpu_integers_t* integers = self->common.isa->integers;
  const tenon_tensor_view_t* x =
      &host->input(binding, self->common.inputs[TENON_CPU_INTEGER_A])->tensor;
  const tenon_tensor_view_t* y = &host->output(binding, 0)->tensor;
  tenon__cpu_bound_convolution_integer_t* bound = host->allocate(binding, sizeof(*bound));
  if (bound == NULL) {
    return TENON_ERROR_OUT_OF_MEMORY;
  }
  *out_bound = bound;
  tenon__cpu_lines_t* lines = &bound->lines;
  lines->window = self->window;
  tenon__cpu_image_read(x, &lines->in);
  tenon__cpu_image_read(y, &lines->out);
  tenon__cpu_window_fit(&lines->window, lines->in.extent, lines->out.extent);
  bound->rows = (size_t)(lines->out.batch * tenon__cpu_image_pixels(&lines->out));
  const size_t outputs = (size_t)self->groups * self->outputs;
  const size_t columns = self->depthwise ? outputs : self->outputs;
  const tenon__cpu_integer_size_t size = {bound->rows, columns, self->depth,
                                          self->depthwise ? 1 : (size_t)self->groups};
  tenon__cpu_integer_grid(integers, &size, host->thread_count(binding), &bound->grid);
  if (self->depthwise && !tenon__cpu_depthwise_integer_bind(self, binding, host, bound)) {
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
    .enqueue = tenon__cpu_convolution_integer_enqueue,
};
