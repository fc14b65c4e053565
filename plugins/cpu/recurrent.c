/* Kernels for LSTM, GRU and RNN layers: matching and packing of constant weights. recurrent_run.c
 * runs them. */
#include "recurrent.h"

#include <stdio.h>
#include <string.h>

#include "kernels.h"

enum { LENGTHS = 4, PEEPHOLES = 7 };

static tenon__cpu_cell_t cell_of(tenon__cpu_region_t region) {
  const char* op = region.table->node_operator(region.handle, 0);
  return strcmp(op, "standard.lstm/1") == 0  ? TENON_CPU_CELL_LSTM
         : strcmp(op, "standard.gru/1") == 0 ? TENON_CPU_CELL_GRU
                                             : TENON_CPU_CELL_RNN;
}

static bool usual_activations(tenon__cpu_region_t region) {
  static const char* const usual[][3] = {[TENON_CPU_CELL_RNN] = {"Tanh"},
                                         [TENON_CPU_CELL_GRU] = {"Sigmoid", "Tanh"},
                                         [TENON_CPU_CELL_LSTM] = {"Sigmoid", "Tanh", "Tanh"}};
  const char* const* names = NULL;
  size_t count = 0;
  if (region.table->attribute_strings(region.handle, 0, "activations", &names, &count) !=
      TENON_OK) {
    return true;
  }
  const tenon__cpu_cell_t cell = cell_of(region);
  const size_t each = (size_t)cell + 1;
  for (size_t k = 0; k < count; k++) {
    if (strcmp(names[k], usual[cell][k % each]) != 0) {
      return false;
    }
  }
  return true;
}

static int32_t match(void* state, const tenon_region_t* handle, const tenon_region_table_t* table,
                     tenon_refusal_t* out_refusal) {
  (void)state;
  const tenon__cpu_region_t region = {handle, table};
  const tenon_value_info_t* x = tenon__cpu_region_input(region, TENON_CPU_GATES_X);
  const tenon_value_info_t* w = tenon__cpu_region_input(region, TENON_CPU_GATES_W);
  const tenon_value_info_t* r = tenon__cpu_region_input(region, TENON_CPU_GATES_R);
  if (x->dtype != TENON_DTYPE_FLOAT32) {
    return tenon__cpu_refuse(out_refusal, TENON_REFUSAL_DTYPE, NULL);
  }
  for (uint32_t k = 0; k < w->rank; k++) {
    if (w->dims_min[k] != w->dims_max[k] || r->dims_min[k] != r->dims_max[k]) {
      return tenon__cpu_refuse(out_refusal, TENON_REFUSAL_DYNAMIC_SHAPE, "weights");
    }
  }
  if (tenon__cpu_region_input(region, LENGTHS) != NULL ||
      tenon__cpu_region_input(region, PEEPHOLES) != NULL) {
    return tenon__cpu_refuse(out_refusal, TENON_REFUSAL_UNKNOWN_INPUT, "lengths or peepholes");
  }
  if (tenon__cpu_region_int(region, "layout", 0) != 0 ||
      tenon__cpu_region_int(region, "input_forget", 0) != 0 ||
      tenon__cpu_region_float(region, "clip", 0) != 0 || !usual_activations(region)) {
    return tenon__cpu_refuse(out_refusal, TENON_REFUSAL_ATTRIBUTE, "an unusual cell");
  }
  if (x->dims_max[0] < 0 || x->dims_max[1] < 0) {
    return tenon__cpu_refuse(out_refusal, TENON_REFUSAL_DYNAMIC_SHAPE, "x has no bound");
  }
  return 1;
}

/* Flags: the weights that prepare packs. The tactic records them because a loaded plan may not have
 * the data of constants. */
enum { PACKED_W = 1, PACKED_R = 2 };

static uint8_t constants_of(tenon__cpu_region_t region) {
  const bool w = tenon__cpu_region_input(region, TENON_CPU_GATES_W)->constant_data != NULL;
  const bool r = tenon__cpu_region_input(region, TENON_CPU_GATES_R)->constant_data != NULL;
  return (uint8_t)((w ? PACKED_W : 0) | (r ? PACKED_R : 0));
}

/* Sets the members that depend on the weights' extents and the attributes. */
static void read_layer(tenon__cpu_recurrent_t* self, const tenon__cpu_isa_t* isa,
                       tenon__cpu_region_t region) {
  const tenon_value_info_t* w = tenon__cpu_region_input(region, TENON_CPU_GATES_W);
  const tenon_value_info_t* r = tenon__cpu_region_input(region, TENON_CPU_GATES_R);
  self->isa = isa;
  static const size_t gates[] = {
      [TENON_CPU_CELL_RNN] = 1, [TENON_CPU_CELL_GRU] = 3, [TENON_CPU_CELL_LSTM] = 4};
  self->cell = cell_of(region);
  self->gates = gates[self->cell];
  self->resets_after = tenon__cpu_region_int(region, "linear_before_reset", 0) != 0;
  self->reverse = strcmp(tenon__cpu_region_string(region, "direction"), "reverse") == 0;
  self->directions = (size_t)r->dims_max[0];
  self->hidden = (size_t)r->dims_max[2];
  self->input = (size_t)w->dims_max[2];
  self->split = self->cell == TENON_CPU_CELL_GRU && !self->resets_after ? 2 : self->gates;
  const size_t rows = self->gates * self->hidden;
  const size_t first = self->split * self->hidden;
  self->w_size = tenon__cpu_packed_size(isa->tiles, self->input, rows);
  self->r_size = tenon__cpu_packed_size(isa->tiles, self->hidden, first) +
                 tenon__cpu_packed_size(isa->tiles, self->hidden, rows - first);
}

/* Returns the number of floats of one direction: biases, gates of all times, gates of one time,
 * states, one reset state, and the weights that each run packs. */
static size_t direction_floats(const tenon__cpu_recurrent_t* self, size_t times, size_t batch,
                               uint8_t constants) {
  const size_t width = self->gates * self->hidden;
  const size_t floats =
      2 * width + times * batch * width + batch * width + 3 * batch * self->hidden;
  return (floats + 15) / 16 * 16 + ((constants & PACKED_W) != 0 ? 0 : self->w_size) +
         ((constants & PACKED_R) != 0 ? 0 : self->r_size);
}

static tenon_status_t tactics(void* state, const tenon_region_t* handle,
                              const tenon_region_table_t* table, tenon_emit_t* emit,
                              tenon_status_t (*add)(tenon_emit_t*, const tenon_tactic_t*)) {
  const tenon__cpu_state_t* cpu = state;
  const tenon__cpu_region_t region = {handle, table};
  const tenon_value_info_t* x = tenon__cpu_region_input(region, TENON_CPU_GATES_X);
  const tenon_numerics_t numerics = {.size = sizeof(numerics), .reassociates = 1};
  const uint8_t constants = constants_of(region);
  tenon__cpu_recurrent_t layer = {0};
  read_layer(&layer, cpu->isa, region);
  const size_t floats =
      direction_floats(&layer, (size_t)x->dims_max[0], (size_t)x->dims_max[1], constants);
  const tenon_tactic_t tactic = {.size = sizeof(tactic),
                                 .name = "packed",
                                 .configuration = &constants,
                                 .configuration_size = sizeof(constants),
                                 .numerics = &numerics,
                                 .scratch_bytes = layer.directions * floats * sizeof(float),
                                 .launches = 1};
  return add(emit, &tactic);
}

/* ---- Preparation ---- */

/* Packs the constant weights of all directions. */
static tenon_status_t pack_once(const tenon__cpu_recurrent_t* self, tenon__cpu_region_t region,
                                uint32_t input, const tenon__cpu_preparation_t* preparation,
                                const float** out_packed) {
  const uint32_t source = region.table->node_input(region.handle, 0, input);
  const tenon_value_info_t* info = tenon__cpu_region_input(region, input);
  const size_t columns = input == TENON_CPU_GATES_W ? self->input : self->hidden;
  const size_t split = input == TENON_CPU_GATES_W ? self->gates : self->split;
  const size_t size = input == TENON_CPU_GATES_W ? self->w_size : self->r_size;
  char parameters[64];
  void* data = NULL;
  int32_t ready = 0;
  (void)snprintf(parameters, sizeof(parameters), "%u floats, %zu gates first",
                 self->isa->tiles->vector_floats, split);
  const tenon_packing_t packing = {.size = sizeof(packing),
                                   .format = "cpu.gates/1",
                                   .parameters = parameters,
                                   .sources = &source,
                                   .source_count = 1,
                                   .size_bytes = self->directions * size * sizeof(float)};
  const tenon_status_t status =
      preparation->host->pack(preparation->handle, &packing, &data, &ready);
  *out_packed = data;
  if (status != TENON_OK || ready != 0) {
    return status;
  }
  if (info->constant_data == NULL) {
    return TENON_ERROR_INVALID_STATE;
  }
  for (size_t d = 0; d < self->directions; d++) {
    tenon__cpu_recurrent_pack(
        self, (const float*)info->constant_data + d * self->gates * self->hidden * columns, columns,
        split, (float*)data + d * size);
  }
  return TENON_OK;
}

static tenon_status_t prepare(const tenon_prepare_t* call, void** out_instance) {
  const tenon__cpu_state_t* cpu = call->state;
  const tenon__cpu_region_t region = {call->region, call->table};
  const tenon__cpu_preparation_t preparation = {call->preparation, call->host};
  tenon__cpu_recurrent_t* self = call->host->allocate(call->preparation, sizeof(*self));
  if (self == NULL) {
    return TENON_ERROR_OUT_OF_MEMORY;
  }
  read_layer(self, cpu->isa, region);
  for (uint32_t k = 0; k < TENON_CPU_GATES_INPUTS; k++) {
    self->arguments[k] = tenon__cpu_region_argument(region, k);
  }
  for (uint32_t k = 0; k < 3; k++) {
    const tenon_value_info_t* output = tenon__cpu_region_output(region, k);
    self->outputs[k] = output != NULL ? output->output : TENON_NONE;
  }
  self->direction_floats = (size_t)(call->tactic->scratch_bytes / sizeof(float)) / self->directions;
  *out_instance = self;
  if (call->tactic->configuration_size != 1) { /* damaged plan */
    return TENON_ERROR_INVALID_ARGUMENT;
  }
  const uint8_t constants = *(const uint8_t*)call->tactic->configuration;
  tenon_status_t status = TENON_OK;
  if ((constants & PACKED_W) != 0) {
    status = pack_once(self, region, TENON_CPU_GATES_W, &preparation, &self->w);
  }
  if (status == TENON_OK && (constants & PACKED_R) != 0) {
    status = pack_once(self, region, TENON_CPU_GATES_R, &preparation, &self->r);
  }
  return status;
}

static tenon_status_t bind(void* instance, tenon_binding_t* binding, const tenon_bind_table_t* host,
                           void** out_bound) {
  const tenon__cpu_recurrent_t* self = instance;
  const tenon_tensor_view_t* x = &host->input(binding, self->arguments[TENON_CPU_GATES_X])->tensor;
  tenon__cpu_bound_recurrent_t* bound = host->allocate(binding, sizeof(*bound));
  if (bound == NULL) {
    return TENON_ERROR_OUT_OF_MEMORY;
  }
  bound->times = (size_t)x->dims[0];
  bound->batch = (size_t)x->dims[1];
  *out_bound = bound;
  const uint8_t constants =
      (uint8_t)((self->w != NULL ? PACKED_W : 0) | (self->r != NULL ? PACKED_R : 0));
  return direction_floats(self, bound->times, bound->batch, constants) <= self->direction_floats
             ? TENON_OK
             : TENON_ERROR_INVALID_ARGUMENT;
}

static const char* const lstm_operators[] = {"standard.lstm/1", NULL};
static const char* const gru_operators[] = {"standard.gru/1", NULL};
static const char* const rnn_operators[] = {"standard.rnn/1", NULL};
static const char* const attributes[] = {
    "direction", "activations",  "activation_alpha", "activation_beta",     "clip",
    "layout",    "input_forget", "hidden_size",      "linear_before_reset", NULL};

#define RECURRENT(kernel_name, identities)                                                        \
  {                                                                                               \
    .size = sizeof(tenon_kernel_t), .name = (kernel_name), .device = "cpu",                       \
    .operators = (identities), .attributes = attributes, .version = 1, .match = match,            \
    .tactics = tactics, .prepare = prepare, .bind = bind, .enqueue = tenon__cpu_recurrent_enqueue \
  }
const tenon_kernel_t tenon__cpu_lstm_kernel = RECURRENT("lstm", lstm_operators);
const tenon_kernel_t tenon__cpu_gru_kernel = RECURRENT("gru", gru_operators);
const tenon_kernel_t tenon__cpu_rnn_kernel = RECURRENT("rnn", rnn_operators);
