/*
 * LSTM and GRU layers. The input's part of all gates is one product over all times; then time after
 * time the state's part, a product with the packed recurrent weights, and the cell. Each direction
 * is a task of its own, which also packs those weights that are no constants.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "kernels.h"
#include "product.h"

typedef struct recurrent_t {
  const tenon__cpu_isa_t* isa;
  bool lstm;
  bool
      resets_after; /* GRU, linear_before_reset: the reset gate scales the product, not the state */
  bool reverse;     /* of a single direction */
  size_t directions;
  size_t gates; /* 4, or 3 */
  size_t input;
  size_t hidden;
  const float* w; /* packed, one direction after the other; NULL: in each run */
  const float* r;
  size_t w_size;
  size_t r_size;
  uint32_t arguments[7]; /* region inputs of the node's inputs; TENON_NONE */
  uint32_t outputs[3];
  size_t split;            /* gates of the recurrent weights that are packed first */
  size_t direction_floats; /* of scratch */
} recurrent_t;

typedef struct bound_t {
  size_t times;
  size_t batch;
} bound_t;

enum { X = 0, W = 1, R = 2, B = 3, INITIAL_H = 5, INITIAL_C = 6, PEEPHOLES = 7 };

static bool usual_activations(tenon__cpu_region_t region, bool lstm) {
  static const char* const usual[2][3] = {{"Sigmoid", "Tanh", NULL}, {"Sigmoid", "Tanh", "Tanh"}};
  const char* const* names = NULL;
  size_t count = 0;
  if (region.table->attribute_strings(region.handle, 0, "activations", &names, &count) !=
      TENON_OK) {
    return true;
  }
  const size_t each = lstm ? 3 : 2;
  for (size_t k = 0; k < count; k++) {
    if (strcmp(names[k], usual[lstm][k % each]) != 0) {
      return false;
    }
  }
  return true;
}

static bool is_lstm(tenon__cpu_region_t region) {
  return strcmp(region.table->node_operator(region.handle, 0), "standard.lstm/1") == 0;
}

static int32_t match(void* state, const tenon_region_t* handle, const tenon_region_table_t* table,
                     tenon_refusal_t* out_refusal) {
  (void)state;
  const tenon__cpu_region_t region = {handle, table};
  const tenon_value_info_t* x = tenon__cpu_region_input(region, X);
  const tenon_value_info_t* w = tenon__cpu_region_input(region, W);
  const tenon_value_info_t* r = tenon__cpu_region_input(region, R);
  if (x->dtype != TENON_DTYPE_FLOAT32) {
    return tenon__cpu_refuse(out_refusal, TENON_REFUSAL_DTYPE, NULL);
  }
  for (uint32_t k = 0; k < w->rank; k++) {
    if (w->dims_min[k] != w->dims_max[k] || r->dims_min[k] != r->dims_max[k]) {
      return tenon__cpu_refuse(out_refusal, TENON_REFUSAL_DYNAMIC_SHAPE, "weights");
    }
  }
  if (tenon__cpu_region_input(region, 4) != NULL ||
      tenon__cpu_region_input(region, PEEPHOLES) != NULL) {
    return tenon__cpu_refuse(out_refusal, TENON_REFUSAL_UNKNOWN_INPUT, "lengths or peepholes");
  }
  if (tenon__cpu_region_int(region, "layout", 0) != 0 ||
      tenon__cpu_region_int(region, "input_forget", 0) != 0 ||
      tenon__cpu_region_float(region, "clip", 0) != 0 ||
      !usual_activations(region, is_lstm(region))) {
    return tenon__cpu_refuse(out_refusal, TENON_REFUSAL_ATTRIBUTE, "an unusual cell");
  }
  if (x->dims_max[0] < 0 || x->dims_max[1] < 0) {
    return tenon__cpu_refuse(out_refusal, TENON_REFUSAL_DYNAMIC_SHAPE, "x has no bound");
  }
  return 1;
}

/* Which weights are packed when preparing. At load a constant's data may be gone, so the tactic
 * remembers. */
enum { PACKED_W = 1, PACKED_R = 2 };

static uint8_t constants_of(tenon__cpu_region_t region) {
  const bool w = tenon__cpu_region_input(region, W)->constant_data != NULL;
  const bool r = tenon__cpu_region_input(region, R)->constant_data != NULL;
  return (uint8_t)((w ? PACKED_W : 0) | (r ? PACKED_R : 0));
}

/* What follows from the weights' extents and the attributes. */
static void read_layer(recurrent_t* self, const tenon__cpu_isa_t* isa, tenon__cpu_region_t region) {
  const tenon_value_info_t* w = tenon__cpu_region_input(region, W);
  const tenon_value_info_t* r = tenon__cpu_region_input(region, R);
  self->isa = isa;
  self->lstm = is_lstm(region);
  self->gates = self->lstm ? 4 : 3;
  self->resets_after = tenon__cpu_region_int(region, "linear_before_reset", 0) != 0;
  self->reverse = strcmp(tenon__cpu_region_string(region, "direction"), "reverse") == 0;
  self->directions = (size_t)r->dims_max[0];
  self->hidden = (size_t)r->dims_max[2];
  self->input = (size_t)w->dims_max[2];
  self->split = self->lstm || self->resets_after ? self->gates : 2;
  const size_t rows = self->gates * self->hidden;
  const size_t first = self->split * self->hidden;
  self->w_size = tenon__cpu_packed_size(isa->tiles, self->input, rows);
  self->r_size = tenon__cpu_packed_size(isa->tiles, self->hidden, first) +
                 tenon__cpu_packed_size(isa->tiles, self->hidden, rows - first);
}

/* Floats of a direction: biases, gates of all times, gates of one time, states, a state reset;
 * behind them the weights that are packed in each run. */
static size_t direction_floats(const recurrent_t* self, size_t times, size_t batch,
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
  const tenon_value_info_t* x = tenon__cpu_region_input(region, X);
  const tenon_numerics_t numerics = {.reassociates = 1};
  const uint8_t constants = constants_of(region);
  recurrent_t layer = {0};
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

/* ---- Preparing ---- */

/* Packs the transpose of one direction's [rows][columns]; gates from `split` on apart. */
static void pack_direction(const recurrent_t* self, const float* from, size_t columns, size_t split,
                           float* to) {
  const size_t rows = self->gates * self->hidden;
  const size_t first = split * self->hidden;
  tenon__cpu_pack_strided(self->isa->tiles, self->isa->elements, from, 1, (int64_t)columns, columns,
                          first, to);
  tenon__cpu_pack_strided(self->isa->tiles, self->isa->elements, from + first * columns, 1,
                          (int64_t)columns, columns, rows - first,
                          to + tenon__cpu_packed_size(self->isa->tiles, columns, first));
}

/* Constant weights of all directions. */
static tenon_status_t pack_once(const recurrent_t* self, tenon__cpu_region_t region, uint32_t input,
                                const tenon__cpu_preparation_t* preparation,
                                const float** out_packed) {
  const uint32_t source = region.table->node_input(region.handle, 0, input);
  const tenon_value_info_t* info = tenon__cpu_region_input(region, input);
  const size_t columns = input == W ? self->input : self->hidden;
  const size_t split = input == W ? self->gates : self->split;
  const size_t size = input == W ? self->w_size : self->r_size;
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
    pack_direction(self,
                   (const float*)info->constant_data + d * self->gates * self->hidden * columns,
                   columns, split, (float*)data + d * size);
  }
  return TENON_OK;
}

static tenon_status_t prepare(const tenon_prepare_t* call, void** out_instance) {
  const tenon__cpu_state_t* cpu = call->state;
  const tenon__cpu_region_t region = {call->region, call->table};
  const tenon__cpu_preparation_t preparation = {call->preparation, call->host};
  recurrent_t* self = call->host->allocate(call->preparation, sizeof(*self));
  if (self == NULL) {
    return TENON_ERROR_OUT_OF_MEMORY;
  }
  read_layer(self, cpu->isa, region);
  for (uint32_t k = 0; k < 7; k++) {
    self->arguments[k] = tenon__cpu_region_argument(region, k);
  }
  for (uint32_t k = 0; k < 3; k++) {
    const tenon_value_info_t* output = tenon__cpu_region_output(region, k);
    self->outputs[k] = output != NULL ? output->output : TENON_NONE;
  }
  self->direction_floats = (size_t)(call->tactic->scratch_bytes / sizeof(float)) / self->directions;
  *out_instance = self;
  if (call->tactic->configuration_size != 1) { /* a plan may say so */
    return TENON_ERROR_INVALID_ARGUMENT;
  }
  const uint8_t constants = *(const uint8_t*)call->tactic->configuration;
  tenon_status_t status = TENON_OK;
  if ((constants & PACKED_W) != 0) {
    status = pack_once(self, region, W, &preparation, &self->w);
  }
  if (status == TENON_OK && (constants & PACKED_R) != 0) {
    status = pack_once(self, region, R, &preparation, &self->r);
  }
  return status;
}

static tenon_status_t bind(void* instance, tenon_binding_t* binding, const tenon_bind_table_t* host,
                           void** out_bound) {
  const recurrent_t* self = instance;
  const tenon_tensor_view_t* x = &host->input(binding, self->arguments[X])->tensor;
  bound_t* bound = host->allocate(binding, sizeof(*bound));
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

/* ---- Running ---- */

typedef struct job_t {
  const recurrent_t* self;
  const bound_t* bound;
  const tenon_argument_t* inputs;
  const tenon_argument_t* outputs;
  float* scratch;
  const tenon_enqueue_t* call;
} job_t;

/* A direction's weights: rows of `depth`, one for each gate of each unit, as they are or packed. */
typedef struct weights_t {
  size_t depth;
  const float* packed; /* NULL: read as they are */
  const float* rows;
} weights_t;

/* A direction at work. */
typedef struct lane_t {
  const job_t* job;
  size_t direction;
  weights_t w;
  weights_t r;
  float* input_bias; /* added to the input's part, and to the state's part */
  float* state_bias;
  float* gates; /* of all times */
  float* sums;  /* of one time */
  float* h;
  float* c;
  float* reset;
} lane_t;

static const float* input_at(const job_t* job, uint32_t input, size_t offset) {
  const uint32_t argument = job->self->arguments[input];
  const float* data = argument == TENON_NONE ? NULL : job->inputs[argument].tensor.data;
  return data == NULL ? NULL : data + offset; /* weights that were packed need not be there */
}
static float* output_at(const job_t* job, uint32_t output, size_t offset) {
  const uint32_t index = job->self->outputs[output];
  return index == TENON_NONE ? NULL : (float*)job->outputs[index].tensor.data + offset;
}

/* Columns [first, first + columns) of a product with a direction's weights; bias and addend may be
 * NULL. */
typedef struct factors_t {
  const float* a;
  size_t rows;
  const weights_t* weights;
  size_t first;
  size_t columns;
  const float* bias;
  const float* addend; /* in rows as far apart as c's */
  float* c;
  size_t c_stride;
} factors_t;

static void multiply(const lane_t* lane, const factors_t* factors) {
  const weights_t* weights = factors->weights;
  const tenon__cpu_tiles_t* tiles = lane->job->self->isa->tiles;
  const size_t depth = weights->depth;
  if (weights->packed == NULL) {
    const tenon__cpu_few_t few = {.tiles = tiles,
                                  .rows = factors->rows,
                                  .depth = depth,
                                  .a = factors->a,
                                  .a_stride = depth,
                                  .b = weights->rows + factors->first * depth,
                                  .b_stride = depth,
                                  .c = factors->c,
                                  .c_stride = factors->c_stride,
                                  .bias = factors->bias,
                                  .addend = factors->addend,
                                  .addend_stride = factors->c_stride,
                                  .low = -INFINITY,
                                  .high = INFINITY};
    tenon__cpu_product_few(&few, 0, factors->columns);
    return;
  }
  const tenon__cpu_product_t product = {
      .tiles = tiles,
      .rows = factors->rows,
      .columns = factors->columns,
      .depth = depth,
      .a = factors->a,
      .a_stride = depth,
      .b = weights->packed + tenon__cpu_packed_size(tiles, depth, factors->first),
      .panel_stride = depth * tenon__cpu_panel_width(tiles),
      .c = factors->c,
      .c_stride = factors->c_stride,
      .bias = factors->bias,
      .addend = factors->addend,
      .addend_stride = factors->c_stride,
      .low = -INFINITY,
      .high = INFINITY};
  tenon__cpu_product_rows(&product, 0, tenon__cpu_panel_count(tiles, factors->columns));
}

/* Weights that are no constants: packed now, into `scratch`, unless `rows` in all are too few to be
 * worth it. */
static void take_weights(const lane_t* lane, uint32_t input, size_t rows, float* scratch,
                         weights_t* out_weights) {
  const recurrent_t* self = lane->job->self;
  const bool is_w = input == W;
  const float* packed = is_w ? self->w : self->r;
  const size_t size = is_w ? self->w_size : self->r_size;
  const size_t depth = is_w ? self->input : self->hidden;
  *out_weights = (weights_t){
      .depth = depth,
      .packed = packed == NULL ? NULL : packed + lane->direction * size,
      .rows = input_at(lane->job, input, lane->direction * self->gates * self->hidden * depth)};
  if (packed == NULL && rows > TENON_CPU_FEW_ROWS) {
    pack_direction(self, out_weights->rows, depth, is_w ? self->gates : self->split, scratch);
    out_weights->packed = scratch;
  }
}

static void take_all_weights(lane_t* lane, float* scratch) {
  const bound_t* bound = lane->job->bound;
  take_weights(lane, W, bound->times * bound->batch, scratch, &lane->w);
  take_weights(lane, R, bound->times * bound->batch,
               scratch + (lane->job->self->w == NULL ? lane->job->self->w_size : 0), &lane->r);
}

static lane_t begin_lane(const job_t* job, size_t direction) {
  const recurrent_t* self = job->self;
  const size_t width = self->gates * self->hidden;
  const size_t state = job->bound->batch * self->hidden;
  lane_t lane = {.job = job, .direction = direction};
  lane.input_bias = job->scratch + direction * self->direction_floats;
  lane.state_bias = lane.input_bias + width;
  lane.gates = lane.state_bias + width;
  lane.sums = lane.gates + job->bound->times * job->bound->batch * width;
  lane.h = lane.sums + job->bound->batch * width;
  lane.c = lane.h + state;
  lane.reset = lane.c + state;
  const float* bias = input_at(job, B, direction * 2 * width);
  const float* h = input_at(job, INITIAL_H, direction * state);
  const float* c = self->lstm ? input_at(job, INITIAL_C, direction * state) : NULL;
  for (size_t k = 0; k < width; k++) {
    /* The state's bias goes with the input's, but for the gate whose state part is scaled first. */
    const bool apart = !self->lstm && self->resets_after && k >= 2 * self->hidden;
    const float own = bias != NULL ? bias[width + k] : 0.0F;
    lane.input_bias[k] = (bias != NULL ? bias[k] : 0.0F) + (apart ? 0.0F : own);
    lane.state_bias[k] = apart ? own : 0.0F;
  }
  for (size_t k = 0; k < state; k++) {
    lane.h[k] = h != NULL ? h[k] : 0.0F;
    lane.c[k] = c != NULL ? c[k] : 0.0F;
  }
  take_all_weights(&lane, lane.reset + state);
  return lane;
}

static void step_lstm(const lane_t* lane, const float* gates) {
  const recurrent_t* self = lane->job->self;
  const size_t batch = lane->job->bound->batch;
  const size_t width = 4 * self->hidden;
  multiply(lane, &(factors_t){.a = lane->h,
                              .rows = batch,
                              .weights = &lane->r,
                              .columns = width,
                              .addend = gates,
                              .c = lane->sums,
                              .c_stride = width});
  for (size_t b = 0; b < batch; b++) {
    self->isa->elements->lstm_cell(lane->sums + b * width, lane->c + b * self->hidden,
                                   lane->h + b * self->hidden, self->hidden);
  }
}

static void step_gru(const lane_t* lane, const float* gates) {
  const recurrent_t* self = lane->job->self;
  const size_t batch = lane->job->bound->batch;
  const size_t hidden = self->hidden;
  const size_t width = 3 * hidden;
  if (self->resets_after) {
    multiply(lane, &(factors_t){.a = lane->h,
                                .rows = batch,
                                .weights = &lane->r,
                                .columns = width,
                                .bias = lane->state_bias,
                                .c = lane->sums,
                                .c_stride = width});
    for (size_t b = 0; b < batch; b++) {
      self->isa->elements->gru_cell(gates + b * width, lane->sums + b * width, lane->h + b * hidden,
                                    hidden);
    }
    return;
  }
  multiply(lane, &(factors_t){.a = lane->h,
                              .rows = batch,
                              .weights = &lane->r,
                              .columns = 2 * hidden,
                              .addend = gates,
                              .c = lane->sums,
                              .c_stride = width});
  for (size_t b = 0; b < batch; b++) {
    self->isa->elements->gru_reset(lane->sums + b * width + hidden, lane->h + b * hidden,
                                   lane->reset + b * hidden, hidden);
  }
  multiply(lane, &(factors_t){.a = lane->reset,
                              .rows = batch,
                              .weights = &lane->r,
                              .first = 2 * hidden,
                              .columns = hidden,
                              .addend = gates + 2 * hidden,
                              .c = lane->sums + 2 * hidden,
                              .c_stride = width});
  for (size_t b = 0; b < batch; b++) {
    self->isa->elements->gru_blend(lane->sums + b * width, lane->sums + b * width + 2 * hidden,
                                   lane->h + b * hidden, hidden);
  }
}

static void run_direction(void* user, uint32_t index, uint32_t thread) {
  (void)thread;
  const job_t* job = user;
  const recurrent_t* self = job->self;
  const size_t times = job->bound->times;
  const size_t batch = job->bound->batch;
  const size_t width = self->gates * self->hidden;
  const size_t state = batch * self->hidden;
  const lane_t lane = begin_lane(job, index);
  const bool backwards = index == 1 || self->reverse;
  multiply(&lane, &(factors_t){.a = input_at(job, X, 0),
                               .rows = times * batch,
                               .weights = &lane.w,
                               .columns = width,
                               .bias = lane.input_bias,
                               .c = lane.gates,
                               .c_stride = width});
  for (size_t step = 0; step < times && !tenon__cpu_is_cancelled(job->call); step++) {
    const size_t t = backwards ? times - 1 - step : step;
    const float* gates = lane.gates + t * batch * width;
    if (self->lstm) {
      step_lstm(&lane, gates);
    } else {
      step_gru(&lane, gates);
    }
    float* y = output_at(job, 0, (t * self->directions + index) * state);
    if (y != NULL) {
      memcpy(y, lane.h, state * sizeof(float));
    }
  }
  float* y_h = output_at(job, 1, index * state);
  float* y_c = output_at(job, 2, index * state);
  if (y_h != NULL) {
    memcpy(y_h, lane.h, state * sizeof(float));
  }
  if (y_c != NULL) {
    memcpy(y_c, lane.c, state * sizeof(float));
  }
}

static tenon_status_t enqueue(const tenon_enqueue_t* call) {
  const recurrent_t* self = call->instance;
  job_t job = {self, call->bound, call->inputs, call->outputs, call->host->scratch(call->run),
               call};
  if (job.bound->batch > 0 && self->hidden > 0) {
    tenon__cpu_parallel(call, (uint32_t)self->directions, run_direction, &job);
  }
  return TENON_OK;
}

static const char* const lstm_operators[] = {"standard.lstm/1", NULL};
static const char* const gru_operators[] = {"standard.gru/1", NULL};
static const char* const attributes[] = {
    "direction", "activations",  "activation_alpha", "activation_beta",     "clip",
    "layout",    "input_forget", "hidden_size",      "linear_before_reset", NULL};

#define RECURRENT(kernel_name, identities)                                             \
  {                                                                                    \
    .size = sizeof(tenon_kernel_t), .name = (kernel_name), .device = "cpu",            \
    .operators = (identities), .attributes = attributes, .version = 1, .match = match, \
    .tactics = tactics, .prepare = prepare, .bind = bind, .enqueue = enqueue           \
  }
const tenon_kernel_t tenon__cpu_lstm_kernel = RECURRENT("lstm", lstm_operators);
const tenon_kernel_t tenon__cpu_gru_kernel = RECURRENT("gru", gru_operators);
