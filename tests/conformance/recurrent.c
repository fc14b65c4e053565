/*
 * Recurrent layers by a plugin's kernel on another plugin's device, compared with
 * plugins/reference: cells, directions, layouts and types, with what may be absent there or not, in
 * every tactic; and what must be refused.
 *
 *   device_recurrent DEVICE_PLUGIN.so DEVICE KERNEL_PLUGIN.so [COUNT]
 *
 * Exits with 77 where there is no such device.
 */
#include "kernel_case.h"

static uint32_t state = 1;
static uint32_t draw(uint32_t below) {
  state = state * 1664525u + 1013904223u;
  return (state >> 8) % below;
}

/* What makes a node one that cuDNN does not compute. */
typedef enum spoilt_t {
  SPOILT_NOT,
  SPOILT_BACKWARDS,
  SPOILT_CLIP,
  SPOILT_COUPLED,
  SPOILT_RESET_FIRST,
  SPOILT_ACTIVATION,
  SPOILT_MIXED, /* another activation backwards */
  SPOILT_PEEPHOLES,
  SPOILT_LENGTHS,
  SPOILT_WEIGHTS, /* no constants */
  SPOILT_EMPTY,   /* no steps */
} spoilt_t;

typedef enum cell_t { CELL_LSTM, CELL_GRU, CELL_RNN } cell_t;

typedef struct layer_t {
  cell_t cell;
  tenon_dtype_t dtype;
  spoilt_t spoilt;
  bool is_both_ways;
  bool is_batch_first;
  bool is_rectified; /* of the plain cell */
  bool is_open;      /* the profile has larger extents too */
  bool is_recorded;
  bool has_bias;
  bool has_h;
  bool has_c;
  bool reads[3]; /* y and the states */
  int64_t steps;
  int64_t batch;
  int64_t features;
  int64_t hidden;
} layer_t;

static int64_t gates_of(const layer_t* layer) {
  return layer->cell == CELL_LSTM ? 4 : layer->cell == CELL_GRU ? 3 : 1;
}

/* ---- The node ---- */

/* An operand of numbers up to `limit`, or a result. */
static void add_tensor(kernel_case_t* c, bool is_output, tenon_dtype_t dtype, uint32_t rank,
                       const int64_t* dims, const uint32_t* order, double limit) {
  const kernel_lie_t lie = {.step = 1, .order = order};
  const kernel_tensor_t* tensor = kernel_move_tensor(c, is_output, dtype, rank, dims, &lie);
  const int64_t count = is_output ? 0 : tenon__dims_product(tensor->view.dims, 0, rank);
  for (int64_t k = 0; k < count; k++) {
    const double part = (double)draw(1 << 20) / (double)(1 << 19) - 1.0;
    const tenon__number_t number = tenon__number_of(dtype, part * limit);
    tenon__number_store(tensor->view.data, 0, dtype, tenon__view_place(&tensor->view, k), number);
  }
}

static void add_absent(kernel_case_t* c, bool is_output) {
  const int64_t none = 0;
  const uint32_t value = c->fake.input_count + c->fake.output_count;
  (void)kernel_move_tensor(c, is_output, TENON_DTYPE_FLOAT32, 1, &none, NULL);
  c->fake.values[value].info.rank = FAKE_RANK;
  if (is_output) {
    c->fake.outputs[c->fake.output_count - 1].kind = TENON_ARGUMENT_ABSENT;
  } else {
    c->fake.inputs[c->fake.input_count - 1].kind = TENON_ARGUMENT_ABSENT;
  }
}

static void set_attributes(fake_t* fake, const layer_t* layer) {
  static const char* const rectified[] = {"ReLU", "relu"};
  static const char* const mixed[] = {"Tanh", "Relu"};
  static const char* const others[] = {"HardSigmoid", "Tanh", "Tanh"};
  const spoilt_t spoilt = layer->spoilt;
  fake_string(fake, "direction",
              spoilt == SPOILT_BACKWARDS ? "reverse"
              : layer->is_both_ways      ? "bidirectional"
                                         : "forward");
  fake_float(fake, "clip", spoilt == SPOILT_CLIP ? 1.5 : 0.0);
  fake_int(fake, "layout", layer->is_batch_first ? 1 : 0);
  fake_int(fake, "input_forget", spoilt == SPOILT_COUPLED ? 1 : 0);
  fake_int(fake, "linear_before_reset", spoilt == SPOILT_RESET_FIRST ? 0 : 1);
  if (spoilt == SPOILT_ACTIVATION) {
    fake_texts(fake, "activations", 3, others);
  } else if (spoilt == SPOILT_MIXED) {
    fake_texts(fake, "activations", 2, mixed);
  } else if (layer->is_rectified) {
    fake_texts(fake, "activations", layer->is_both_ways ? 2 : 1, rectified);
  }
}

/* How cuDNN has y and the states: NULL: as the operator has them. */
static const uint32_t* order_of(const layer_t* layer, bool is_state) {
  static const uint32_t y[] = {0, 2, 1, 3};
  static const uint32_t states[] = {1, 0, 2};
  return !layer->is_both_ways || is_state != layer->is_batch_first ? NULL : is_state ? states : y;
}

static void add_states(kernel_case_t* c, const layer_t* layer, const int64_t* dims) {
  const bool is_there[] = {layer->has_h, layer->has_c};
  for (uint32_t k = 0; k < (layer->cell == CELL_LSTM ? 2 : 1); k++) {
    if (is_there[k]) {
      add_tensor(c, false, layer->dtype, 3, dims, order_of(layer, true), 1);
    } else {
      add_absent(c, false);
    }
  }
}

static void make_inputs(kernel_case_t* c, const layer_t* layer, const int64_t* state_dims) {
  const int64_t sides = layer->is_both_ways ? 2 : 1;
  const int64_t rows = gates_of(layer) * layer->hidden;
  const bool first = layer->is_batch_first;
  const int64_t x[] = {first ? layer->batch : layer->steps, first ? layer->steps : layer->batch,
                       layer->features};
  const int64_t peepholes[] = {sides, 3 * layer->hidden};
  const tenon_dtype_t dtype = layer->dtype;
  add_tensor(c, false, dtype, 3, x, NULL, 2);
  add_tensor(c, false, dtype, 3, (const int64_t[]){sides, rows, layer->features}, NULL,
             1.5 / sqrt((double)layer->features));
  add_tensor(c, false, dtype, 3, (const int64_t[]){sides, rows, layer->hidden}, NULL,
             1.5 / sqrt((double)layer->hidden));
  if (layer->has_bias) {
    add_tensor(c, false, dtype, 2, (const int64_t[]){sides, 2 * rows}, NULL, 1);
  } else {
    add_absent(c, false);
  }
  if (layer->spoilt == SPOILT_LENGTHS) {
    add_tensor(c, false, TENON_DTYPE_INT32, 1, &layer->batch, NULL, 0);
  } else {
    add_absent(c, false);
  }
  add_states(c, layer, state_dims);
  if (layer->spoilt == SPOILT_PEEPHOLES) {
    add_tensor(c, false, dtype, 2, peepholes, NULL, 1);
  }
  for (uint32_t k = 1; k <= 3; k++) {
    c->fake.values[k].info.constant_data = c->tensors[k].view.data;
    c->fake.values[k].info.flags = layer->spoilt == SPOILT_WEIGHTS ? 0 : TENON_VALUE_CONSTANT;
  }
  c->fake.node_input_count = c->fake.input_count;
}

static void make_case(kernel_case_t* c, const layer_t* layer) {
  static const char* const operators[] = {"standard.lstm/1", "standard.gru/1", "standard.rnn/1"};
  const int64_t sides = layer->is_both_ways ? 2 : 1;
  const bool first = layer->is_batch_first;
  const int64_t y[] = {first ? layer->batch : layer->steps, first ? layer->steps : sides,
                       first ? sides : layer->batch, layer->hidden};
  const int64_t states[] = {first ? layer->batch : sides, first ? sides : layer->batch,
                            layer->hidden};
  kernel_case_begin(c, 0, NULL);
  c->fake.op = operators[layer->cell];
  c->fake.kind = TENON_REGION_OPERATOR;
  c->recorded = layer->is_recorded;
  set_attributes(&c->fake, layer);
  make_inputs(c, layer, states);
  for (uint32_t k = 0; k < (layer->cell == CELL_LSTM ? 3 : 2); k++) {
    if (layer->reads[k]) {
      add_tensor(c, true, layer->dtype, k == 0 ? 4 : 3, k == 0 ? y : states, order_of(layer, k > 0),
                 0);
    } else {
      add_absent(c, true);
    }
  }
  c->fake.value_count = c->fake.input_count + c->fake.output_count;
}

/* ---- Checking ---- */

/* Into the case's own outputs. */
static tenon_status_t run_reference(const kernel_case_t* c) {
  fake_t fake = c->fake;
  void* instance = NULL;
  void* bound = NULL;
  fake.block_count = 0;
  const tenon_prepare_t making = fake_prepare_call(&fake, NULL);
  tenon_status_t status = tenon__work_prepare(&making, &instance);
  if (status == TENON_OK) {
    status = tenon__work_bind(instance, (tenon_binding_t*)(void*)&fake, &fake_bind_table, &bound);
  }
  const tenon_enqueue_t call = fake_enqueue_call(&fake, instance, bound);
  status = status == TENON_OK ? tenon__work_enqueue(&call) : status;
  fake_done(&fake);
  return status;
}

static bool asks_for(const tenon_argument_rule_t* rule, const uint32_t* order, uint32_t rank) {
  return order == NULL ? rule->kind == TENON_LAYOUT_ROW_MAJOR
                       : rule->kind == TENON_LAYOUT_EXACT && rule->layout->rank == rank &&
                             memcmp(rule->layout->order, order, rank * sizeof(*order)) == 0;
}

/* The tensors of a case lie as they must: every tactic has to ask for that. */
static bool has_rules(kernel_case_t* c, const layer_t* layer) {
  const tenon_kernel_t* kernel = kernel_find(&c->fake);
  tenon_refusal_t refusal;
  bool good = kernel_takes(kernel, &c->fake, &refusal);
  const uint32_t count = good ? kernel_take_tactic(kernel, &c->fake, 0) : 0;
  for (uint32_t k = 0; k < count; k++) {
    (void)kernel_take_tactic(kernel, &c->fake, k);
    const tenon_tactic_t* tactic = &c->fake.tactic;
    for (uint32_t n = 0; n < c->fake.output_count; n++) {
      good = good && (!layer->reads[n] ||
                      asks_for(&tactic->outputs[n], order_of(layer, n > 0), n == 0 ? 4 : 3));
    }
    good = good && (!layer->has_h || asks_for(&tactic->inputs[5], order_of(layer, true), 3));
  }
  return good && count > 0;
}

static void check(const layer_t* layer, const char* name) {
  kernel_case_t c;
  make_case(&c, layer);
  const tenon_status_t status = run_reference(&c);
  const int64_t most[] = {layer->is_batch_first ? 9 : 40, layer->is_batch_first ? 40 : 9,
                          layer->features};
  if (layer->is_open) {
    c.fake.values[0].info.dims_max = most;
  }
  if (status != TENON_OK || !has_rules(&c, layer)) {
    (void)printf("FAILED %s: %s\n", name,
                 status != TENON_OK ? "the reference" : "an order that is not asked for");
    kernel_failures++;
  }
  /* Some roundings of sums near 1, which the next steps read: in the type of the state. */
  const double bits = layer->dtype == TENON_DTYPE_FLOAT16    ? 0x1p13
                      : layer->dtype == TENON_DTYPE_BFLOAT16 ? 0x1p16
                                                             : 1;
  kernel_check_given(&c, name, 16 * bits);
}

static layer_t plain(cell_t cell) {
  return (layer_t){.cell = cell,
                   .dtype = TENON_DTYPE_FLOAT32,
                   .has_bias = true,
                   .has_h = true,
                   .has_c = cell == CELL_LSTM,
                   .reads = {true, true, cell == CELL_LSTM},
                   .steps = 5,
                   .batch = 3,
                   .features = 7,
                   .hidden = 11};
}

static void check_named(void) {
  static const char* const names[] = {"lstm", "gru", "rnn"};
  for (int cell = CELL_LSTM; cell <= CELL_RNN; cell++) {
    for (uint32_t ways = 0; ways < 16; ways++) {
      char name[64];
      layer_t layer = plain((cell_t)cell);
      layer.is_both_ways = (ways & 1U) != 0;
      layer.is_batch_first = (ways & 2U) != 0;
      layer.is_recorded = (ways & 4U) != 0;
      layer.is_rectified = cell == CELL_RNN && (ways & 8U) != 0;
      layer.is_open = (ways & 8U) != 0;
      (void)snprintf(name, sizeof(name), "%s%s%s%s%s", names[cell],
                     layer.is_both_ways ? ", both ways" : "",
                     layer.is_batch_first ? ", batch first" : "",
                     layer.is_recorded ? ", recorded" : "", layer.is_open ? ", open" : "");
      check(&layer, name);
    }
  }
  layer_t layer = plain(CELL_LSTM);
  layer.reads[0] = layer.reads[2] = false;
  check(&layer, "lstm, the last state alone");
  layer = plain(CELL_GRU);
  layer.has_bias = layer.has_h = layer.reads[1] = false;
  check(&layer, "gru, nothing but x and the weights");
  layer = plain(CELL_LSTM);
  layer.steps = layer.batch = layer.features = layer.hidden = 1;
  check(&layer, "lstm, one of everything");
  layer = plain(CELL_LSTM);
  layer.batch = 0;
  check(&layer, "lstm, a batch of nothing");
}

static void check_refused(void) {
  static const struct {
    cell_t cell;
    spoilt_t spoilt;
    uint32_t reason;
  } all[] = {{CELL_LSTM, SPOILT_BACKWARDS, TENON_REFUSAL_ATTRIBUTE},
             {CELL_GRU, SPOILT_CLIP, TENON_REFUSAL_ATTRIBUTE},
             {CELL_LSTM, SPOILT_COUPLED, TENON_REFUSAL_ATTRIBUTE},
             {CELL_GRU, SPOILT_RESET_FIRST, TENON_REFUSAL_ATTRIBUTE},
             {CELL_LSTM, SPOILT_ACTIVATION, TENON_REFUSAL_ATTRIBUTE},
             {CELL_RNN, SPOILT_MIXED, TENON_REFUSAL_ATTRIBUTE},
             {CELL_LSTM, SPOILT_PEEPHOLES, TENON_REFUSAL_UNKNOWN_INPUT},
             {CELL_RNN, SPOILT_LENGTHS, TENON_REFUSAL_UNKNOWN_INPUT},
             {CELL_GRU, SPOILT_WEIGHTS, TENON_REFUSAL_CONSTANT_REQUIRED},
             {CELL_RNN, SPOILT_EMPTY, TENON_REFUSAL_SHAPE}};
  for (size_t k = 0; k < sizeof(all) / sizeof(*all); k++) {
    kernel_case_t c;
    tenon_refusal_t refusal;
    layer_t layer = plain(all[k].cell);
    layer.spoilt = all[k].spoilt;
    layer.is_both_ways = all[k].spoilt == SPOILT_MIXED;
    layer.steps = all[k].spoilt == SPOILT_EMPTY ? 0 : layer.steps;
    make_case(&c, &layer);
    kernel_runs++;
    if (kernel_takes(kernel_find(&c.fake), &c.fake, &refusal) || refusal.reason != all[k].reason) {
      (void)printf("FAILED refusal %zu: reason %u, not %u\n", k, refusal.reason, all[k].reason);
      kernel_failures++;
    }
    kernel_case_end(&c);
  }
}

static void check_random(unsigned number) {
  static const tenon_dtype_t types[] = {TENON_DTYPE_FLOAT32, TENON_DTYPE_FLOAT32,
                                        TENON_DTYPE_FLOAT16, TENON_DTYPE_BFLOAT16};
  static const char* const names[] = {"lstm", "gru", "rnn"};
  char name[64];
  state = number * 7919u + 13u;
  layer_t layer = plain((cell_t)draw(3));
  layer.dtype = types[draw(4)];
  layer.is_both_ways = draw(2) == 0;
  layer.is_batch_first = draw(2) == 0;
  layer.is_recorded = draw(2) == 0;
  layer.is_rectified = layer.cell == CELL_RNN && draw(2) == 0;
  layer.is_open = draw(3) == 0;
  layer.has_bias = draw(4) != 0;
  layer.has_h = draw(2) == 0;
  layer.has_c = layer.cell == CELL_LSTM && draw(2) == 0;
  const uint32_t kept = draw(layer.cell == CELL_LSTM ? 3 : 2);
  for (uint32_t k = 0; k < 3; k++) {
    layer.reads[k] = layer.reads[k] && (k == kept || draw(2) == 0);
  }
  layer.steps = 1 + draw(8);
  layer.batch = 1 + draw(5);
  layer.features = 1 + draw(40);
  layer.hidden = 1 + draw(40);
  (void)snprintf(name, sizeof(name), "case %u: %s, type %u%s%s, %lld of %lld", number,
                 names[layer.cell], layer.dtype, layer.is_both_ways ? ", both ways" : "",
                 layer.is_batch_first ? ", batch first" : "", (long long)layer.hidden,
                 (long long)layer.features);
  check(&layer, name);
}

int main(int argument_count, char** arguments) {
  if (argument_count < 4) {
    (void)fprintf(stderr, "device_recurrent DEVICE_PLUGIN.so DEVICE KERNEL_PLUGIN.so [COUNT]\n");
    return OPENED_FAILED;
  }
  const int status = opened_start(&kernel_device, arguments[1], arguments[2], 0);
  if (status != 0) {
    return status;
  }
  if (!opened_start_plugin(arguments[3], &kernel_plugin, &kernel_plugin_state)) {
    return OPENED_FAILED;
  }
  const unsigned count = argument_count > 4 ? (unsigned)strtoul(arguments[4], NULL, 10) : 60;
  check_named();
  check_refused();
  for (unsigned number = 1; number <= count; number++) {
    check_random(number);
  }
  kernel_free_scratch();
  opened_stop(&kernel_device);
  opened_stop_plugin(kernel_plugin, kernel_plugin_state);
  (void)printf("%d layers, %d failed\n", kernel_runs, kernel_failures);
  return kernel_failures == 0 && kernel_runs > 0 ? 0 : OPENED_FAILED;
}
