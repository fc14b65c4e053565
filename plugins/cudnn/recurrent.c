/*
 * LSTM, GRU and RNN by cuDNN's recurrent layers, one of a kind: forward or in both directions, with
 * constant weights, sequences of one length and the usual activations. What cuDNN computes else
 * than the operators say is refused: a GRU that resets before its product, peepholes, coupled
 * gates, bounds on sums, backwards alone.
 */
#include "recurrent.h"

#include <limits.h>
#include <string.h>

#include "kernels.h"

/* For the products of one direction. */
enum { PRODUCTS_BYTES = 32 << 20 };

static tenon__cudnn_layer_t read_layer(tenon__cudnn_region_t region) {
  const char* op = region.table->node_operator(region.handle, 0);
  const tenon_value_info_t* w = tenon__cudnn_operand(region, TENON_CUDNN_LAYER_W);
  const tenon_value_info_t* r = tenon__cudnn_operand(region, TENON_CUDNN_LAYER_R);
  tenon__cudnn_layer_t layer = {.mode = strcmp(op, "standard.lstm/1") == 0  ? CUDNN_LSTM
                                        : strcmp(op, "standard.gru/1") == 0 ? CUDNN_GRU
                                                                            : CUDNN_RNN_TANH,
                                .batch_first = tenon__cudnn_number_of(region, "layout", 0, 0) != 0,
                                .directions = w->dims_max[0],
                                .features = w->dims_max[2],
                                .hidden = r->dims_max[2]};
  layer.gates = layer.mode == CUDNN_LSTM ? 4 : layer.mode == CUDNN_GRU ? 3 : 1;
  return layer;
}

/* ---- Activations ---- */

/* "ReLU", "relu": letter case and underscores do not count. */
static bool is_named(const char* given, const char* name) {
  for (; *given != '\0'; given++) {
    const bool is_upper = *given >= 'A' && *given <= 'Z';
    if (*given == '_') {
      continue;
    }
    if ((is_upper ? *given - 'A' + 'a' : *given) != *name) {
      return false;
    }
    name++;
  }
  return *name == '\0';
}

/* The usual ones; of a plain layer either of two, alike in both directions. False: others. */
static bool read_activations(tenon__cudnn_region_t region, tenon__cudnn_layer_t* layer) {
  static const char* const usual[] = {"sigmoid", "tanh", "tanh"};
  const bool is_plain = layer->gates == 1;
  const size_t each = layer->mode == CUDNN_LSTM ? 3 : layer->mode == CUDNN_GRU ? 2 : 1;
  const char* const* names = NULL;
  size_t count = 0;
  size_t rectified = 0;
  bool known = true;
  if (region.table->attribute_strings(region.handle, 0, "activations", &names, &count) !=
      TENON_OK) {
    count = 0;
  }
  const size_t wanted = each * (size_t)layer->directions;
  for (size_t k = 0; known && k < count && k < wanted; k++) {
    rectified += is_plain && is_named(names[k], "relu") ? 1 : 0;
    known = is_named(names[k], is_plain ? "tanh" : usual[k % each]) ||
            (is_plain && is_named(names[k], "relu"));
  }
  layer->mode = rectified > 0 ? CUDNN_RNN_RELU : layer->mode;
  return known && (rectified == 0 || rectified == wanted);
}

/* ---- Matching ---- */

static bool is_constant(const tenon_value_info_t* value) {
  return value == NULL || (value->flags & TENON_VALUE_CONSTANT) != 0;
}

static const char* attribute_refusal(tenon__cudnn_region_t region,
                                     const tenon__cudnn_layer_t* layer) {
  const char* direction = "forward";
  double clip = 0;
  (void)region.table->attribute_string(region.handle, 0, "direction", &direction);
  (void)region.table->attribute_float(region.handle, 0, "clip", &clip);
  if (strcmp(direction, "reverse") == 0) {
    return "backwards alone";
  }
  if (clip > 0) {
    return "bounds on the sums (clip)";
  }
  if (layer->mode == CUDNN_LSTM && tenon__cudnn_number_of(region, "input_forget", 0, 0) != 0) {
    return "coupled gates (input_forget)";
  }
  if (layer->mode == CUDNN_GRU &&
      tenon__cudnn_number_of(region, "linear_before_reset", 0, 0) == 0) {
    return "a reset in front of the product (linear_before_reset 0)";
  }
  tenon__cudnn_layer_t activated = *layer;
  return read_activations(region, &activated) ? NULL : "activations other than the usual ones";
}

/* A state that is another operand too could have to lie in two ways. */
static bool is_apart(tenon__cudnn_region_t region, const tenon_value_info_t* state) {
  bool apart = state->rank == 3;
  for (uint32_t k = 0; apart && k <= TENON_CUDNN_LAYER_BIAS; k++) {
    const tenon_value_info_t* other = tenon__cudnn_operand(region, k);
    apart = other == NULL || other->input != state->input;
  }
  return apart;
}

static bool states_fit(tenon__cudnn_region_t region) {
  const tenon_value_info_t* h = tenon__cudnn_operand(region, TENON_CUDNN_LAYER_H);
  const tenon_value_info_t* c = tenon__cudnn_operand(region, TENON_CUDNN_LAYER_C);
  return (h == NULL || is_apart(region, h)) && (c == NULL || is_apart(region, c));
}

/* cuDNN counts in int, and has no sequences without steps. */
static bool extents_fit(const tenon_value_info_t* x, const tenon__cudnn_layer_t* layer) {
  const int64_t batch = x->dims_max[1] > 0 ? x->dims_max[1] : 1;
  return layer->features > 0 && layer->features <= INT_MAX && x->dims_max[0] <= INT_MAX / batch &&
         layer->hidden <= INT_MAX / (layer->directions * layer->gates) &&
         x->dims_min[layer->batch_first ? 1 : 0] > 0;
}

static int32_t match(void* state, const tenon_region_t* handle, const tenon_region_table_t* table,
                     tenon_refusal_t* out_refusal) {
  const tenon__cudnn_region_t region = {handle, table};
  const tenon_value_info_t* x = tenon__cudnn_operand(region, TENON_CUDNN_LAYER_X);
  const tenon__cudnn_layer_t layer = read_layer(region);
  cudnnDataType_t type = CUDNN_DATA_FLOAT;
  if (!tenon__cudnn_type_of(x->dtype, &type)) {
    return tenon__cudnn_refuse(out_refusal, TENON_REFUSAL_DTYPE, NULL);
  }
  for (uint32_t k = TENON_CUDNN_LAYER_W; k <= TENON_CUDNN_LAYER_BIAS; k++) {
    if (!is_constant(tenon__cudnn_operand(region, k))) {
      return tenon__cudnn_refuse(out_refusal, TENON_REFUSAL_CONSTANT_REQUIRED,
                                 "the weights and biases");
    }
  }
  if (tenon__cudnn_operand(region, TENON_CUDNN_LAYER_LENGTHS) != NULL) {
    return tenon__cudnn_refuse(out_refusal, TENON_REFUSAL_UNKNOWN_INPUT, "lengths of sequences");
  }
  if (tenon__cudnn_operand(region, TENON_CUDNN_LAYER_PEEPHOLES) != NULL) {
    return tenon__cudnn_refuse(out_refusal, TENON_REFUSAL_UNKNOWN_INPUT, "peepholes");
  }
  const char* why = attribute_refusal(region, &layer);
  if (why != NULL) {
    return tenon__cudnn_refuse(out_refusal, TENON_REFUSAL_ATTRIBUTE, why);
  }
  if (!states_fit(region)) {
    return tenon__cudnn_refuse(out_refusal, TENON_REFUSAL_OTHER,
                               "a state that is another operand too, or not of three axes");
  }
  if (x->dims_max[0] < 0 || x->dims_max[1] < 0) {
    return tenon__cudnn_refuse(out_refusal, TENON_REFUSAL_DYNAMIC_SHAPE, "steps without a bound");
  }
  if (!extents_fit(x, &layer)) {
    return tenon__cudnn_refuse(out_refusal, TENON_REFUSAL_SHAPE, NULL);
  }
  tenon__cudnn_state_t* cudnn = state;
  return tenon__cudnn_open(cudnn, NULL) == TENON_OK
             ? 1
             : tenon__cudnn_refuse(out_refusal, TENON_REFUSAL_LIBRARY, cudnn->why);
}

/* ---- Tactics ---- */

/* What cuDNN asks for is known when it is bound alone. Seen of 9.19: for each direction a block for
 * its products, the weights again, all gates of all steps, x, y up to four times in other orders,
 * and some vectors. `rows`: steps of all sequences; `element`: in bytes. */
static uint64_t workspace_bound(const tenon__cudnn_layer_t* layer, int64_t rows, int64_t batch,
                                size_t element) {
  const uint64_t one = (uint64_t)(layer->features + (layer->gates + 4) * layer->hidden) * element;
  const uint64_t states = (uint64_t)(batch * layer->hidden) * 16 * element;
  return (uint64_t)layer->directions * (PRODUCTS_BYTES + (uint64_t)rows * one + states) +
         tenon__cudnn_weights_size(layer, element) + (1U << 20);
}

/* In cuDNN's y the directions of a step lie beside one another, in its states each is apart: both
 * are the operator's order, but y with the batch behind the steps and the states with it first. */
static const tenon_layout_t* order_of(const tenon__cudnn_layer_t* layer, bool is_state) {
  static const uint32_t y_order[] = {0, 2, 1, 3};
  static const uint32_t state_order[] = {1, 0, 2};
  static const tenon_layout_t y = {.size = sizeof(tenon_layout_t),
                                   .name = "directions side by side",
                                   .order = y_order,
                                   .rank = 4};
  static const tenon_layout_t state = {
      .size = sizeof(tenon_layout_t), .name = "directions apart", .order = state_order, .rank = 3};
  return layer->directions == 1 || is_state != layer->batch_first ? NULL : is_state ? &state : &y;
}

static tenon_argument_rule_t rule_of(const tenon__cudnn_layer_t* layer, tenon_dtype_t narrow,
                                     bool is_state) {
  const tenon_layout_t* order = order_of(layer, is_state);
  /* cuDNN does not say what addresses it takes. */
  return (tenon_argument_rule_t){
      .kind = order != NULL ? TENON_LAYOUT_EXACT : TENON_LAYOUT_ROW_MAJOR,
      .layout = order,
      .dtype = narrow,
      .alignment = 16};
}

typedef struct emitter_t {
  tenon__cudnn_region_t region;
  tenon__cudnn_layer_t layer;
  tenon_emit_t* emit;
  tenon_status_t (*add)(tenon_emit_t*, const tenon_tactic_t*);
} emitter_t;

static void read_rules(const emitter_t* e, tenon_dtype_t narrow, tenon_argument_rule_t* inputs,
                       tenon_argument_rule_t* outputs) {
  const tenon_value_info_t* x = tenon__cudnn_operand(e->region, TENON_CUDNN_LAYER_X);
  memset(inputs, 0, TENON_CUDNN_LAYER_INPUTS * sizeof(*inputs));
  inputs[x->input] = (tenon_argument_rule_t){.dtype = narrow, .alignment = 16};
  for (uint32_t k = TENON_CUDNN_LAYER_H; k <= TENON_CUDNN_LAYER_C; k++) {
    const tenon_value_info_t* state = tenon__cudnn_operand(e->region, k);
    if (state != NULL) {
      inputs[state->input] = rule_of(&e->layer, narrow, true);
    }
  }
  memset(outputs, 0, TENON_CUDNN_LAYER_OUTPUTS * sizeof(*outputs));
  for (uint32_t k = 0; k < TENON_CUDNN_LAYER_OUTPUTS; k++) {
    const tenon_value_info_t* output = tenon__cudnn_result(e->region, k);
    if (output != NULL) {
      outputs[output->output] = rule_of(&e->layer, narrow, k > 0);
    }
  }
}

static tenon_status_t emit_one(const emitter_t* e, const char* name,
                               tenon__cudnn_recurrent_choice_t choice,
                               const tenon_numerics_t* numerics) {
  const tenon_value_info_t* x = tenon__cudnn_operand(e->region, TENON_CUDNN_LAYER_X);
  const size_t element =
      x->dtype == TENON_DTYPE_FLOAT32 && choice.narrow == TENON_DTYPE_UNDEFINED ? 4 : 2;
  const int64_t rows = x->dims_max[0] * x->dims_max[1];
  const int64_t batch = x->dims_max[e->layer.batch_first ? 0 : 1];
  const uint64_t unread = tenon__cudnn_result(e->region, 0) != NULL
                              ? 0
                              : tenon__cudnn_unread_bytes(&e->layer, rows, element);
  tenon_argument_rule_t inputs[TENON_CUDNN_LAYER_INPUTS];
  tenon_argument_rule_t outputs[TENON_CUDNN_LAYER_OUTPUTS];
  read_rules(e, choice.narrow, inputs, outputs);
  const int64_t steps = x->dims_opt[e->layer.batch_first ? 1 : 0];
  const tenon_tactic_t tactic = {
      .size = sizeof(tactic),
      .name = name,
      .configuration = &choice,
      .configuration_size = sizeof(choice),
      .inputs = inputs,
      .outputs = outputs,
      .numerics = numerics,
      .scratch_bytes = unread + workspace_bound(&e->layer, rows, batch, element),
      .flags = TENON_TACTIC_RECORDABLE,
      .launches = 2 * (uint32_t)(steps * e->layer.directions)};
  return e->add(e->emit, &tactic);
}

static tenon_status_t tactics(void* state, const tenon_region_t* handle,
                              const tenon_region_table_t* table, tenon_emit_t* emit,
                              tenon_status_t (*add)(tenon_emit_t*, const tenon_tactic_t*)) {
#define MULTIPLIES_IN(mantissa, exponent)                                  \
  {                                                                        \
    .size = sizeof(tenon_numerics_t), .product_mantissa_bits = (mantissa), \
    .product_exponent_bits = (exponent), .reassociates = 1                 \
  }
  static const struct {
    const char* name;
    tenon__cudnn_recurrent_choice_t choice;
    tenon_numerics_t numerics;
  } of_f32[] = {
      {"fp32", {TENON_DTYPE_UNDEFINED, 1}, MULTIPLIES_IN(0, 0)},
      {"tf32", {TENON_DTYPE_UNDEFINED, 0}, MULTIPLIES_IN(10, 8)},
      {"f16", {TENON_DTYPE_FLOAT16, 0}, MULTIPLIES_IN(10, 5)},
      {"bf16", {TENON_DTYPE_BFLOAT16, 0}, MULTIPLIES_IN(7, 8)},
  };
#undef MULTIPLIES_IN
  const tenon__cudnn_region_t region = {handle, table};
  const emitter_t e = {region, read_layer(region), emit, add};
  tenon_status_t status = TENON_OK;
  (void)state;
  if (tenon__cudnn_operand(region, TENON_CUDNN_LAYER_X)->dtype != TENON_DTYPE_FLOAT32) {
    const tenon__cudnn_recurrent_choice_t own = {TENON_DTYPE_UNDEFINED, 0};
    return emit_one(&e, "as it is", own, &of_f32[0].numerics);
  }
  for (size_t k = 0; status == TENON_OK && k < sizeof(of_f32) / sizeof(*of_f32); k++) {
    status = emit_one(&e, of_f32[k].name, of_f32[k].choice, &of_f32[k].numerics);
  }
  return status;
}

/* ---- Preparing ---- */

static void find_arguments(tenon__cudnn_region_t region, tenon__cudnn_recurrent_t* recurrent) {
  for (uint32_t k = 0; k < TENON_CUDNN_LAYER_INPUTS; k++) {
    const tenon_value_info_t* value = tenon__cudnn_operand(region, k);
    recurrent->inputs[k] = value == NULL ? TENON_NONE : value->input;
  }
  for (uint32_t k = 0; k < TENON_CUDNN_LAYER_OUTPUTS; k++) {
    const tenon_value_info_t* value = tenon__cudnn_result(region, k);
    recurrent->outputs[k] = value == NULL ? TENON_NONE : value->output;
  }
}

static tenon_status_t prepare(const tenon_prepare_t* call, void** out_instance) {
  const tenon__cudnn_region_t region = {call->region, call->table};
  const tenon_value_info_t* x = tenon__cudnn_operand(region, TENON_CUDNN_LAYER_X);
  tenon__cudnn_recurrent_t* recurrent = call->host->allocate(call->preparation, sizeof(*recurrent));
  if (recurrent == NULL) {
    return TENON_ERROR_OUT_OF_MEMORY;
  }
  if (call->tactic->configuration_size != sizeof(recurrent->choice)) {
    return TENON_ERROR_INVALID_ARGUMENT;
  }
  memcpy(&recurrent->choice, call->tactic->configuration, sizeof(recurrent->choice));
  const tenon_dtype_t narrow = recurrent->choice.narrow;
  if (!tenon__cudnn_may_narrow(x->dtype, narrow)) {
    return TENON_ERROR_INVALID_ARGUMENT;
  }
  recurrent->state = call->state;
  recurrent->layer = read_layer(region);
  (void)read_activations(region, &recurrent->layer); /* match has seen that they are known */
  (void)tenon__cudnn_type_of(narrow != TENON_DTYPE_UNDEFINED ? narrow : x->dtype, &recurrent->type);
  recurrent->scratch_bytes = call->tactic->scratch_bytes;
  find_arguments(region, recurrent);
  tenon_status_t status = tenon__cudnn_weights_pack(call, recurrent);
  if (status == TENON_OK) {
    status = tenon__cudnn_device_find(recurrent->state, call, &recurrent->device);
  }
  if (status == TENON_OK) {
    *out_instance = recurrent;
  }
  return status;
}

static const char* const operators[] = {"standard.lstm/1", "standard.gru/1", "standard.rnn/1",
                                        NULL};
static const char* const attributes[] = {
    "direction", "activations", "activation_alpha", "activation_beta",
    "clip",      "layout",      "input_forget",     "linear_before_reset",
    NULL};
static const tenon_kernel_t kernels[] = {{
    .size = sizeof(tenon_kernel_t),
    .name = "recurrent",
    .device = "cuda",
    .validity = tenon__cudnn_validity,
    .operators = operators,
    .attributes = attributes,
    .version = 1,
    .match = match,
    .tactics = tactics,
    .prepare = prepare,
    .bind = tenon__cudnn_recurrent_bind,
    .enqueue = tenon__cudnn_recurrent_enqueue,
    .unbind = tenon__cudnn_recurrent_unbind,
}};
const tenon_offering_t tenon__cudnn_layers = TENON_OFFERING_OF("kernel/1", kernels);
