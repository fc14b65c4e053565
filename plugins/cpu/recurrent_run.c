/* Runs LSTM, GRU and RNN layers. */
#include <math.h>
#include <string.h>

#include "recurrent.h"

typedef struct job_t {
  const tenon__cpu_recurrent_t* self;
  const tenon__cpu_bound_recurrent_t* bound;
  const tenon_argument_t* inputs;
  const tenon_argument_t* outputs;
  float* scratch;
  const tenon_enqueue_t* call;
} job_t;

/* The weights of one direction, packed or as they are stored. There is one row of `depth` floats
 * for each gate of each unit. */
typedef struct weights_t {
  size_t depth;
  const float* packed; /* NULL: the kernel reads `rows` */
  const float* rows;
} weights_t;

/* The state of one direction during a run. */
typedef struct lane_t {
  const job_t* job;
  size_t direction;
  weights_t w;
  weights_t r;
  float* input_bias; /* biases of the input's part and of the state's part */
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
  return data == NULL ? NULL : data + offset; /* the data of packed weights may be absent */
}
static float* output_at(const job_t* job, uint32_t output, size_t offset) {
  const uint32_t index = job->self->outputs[output];
  return index == TENON_NONE ? NULL : (float*)job->outputs[index].tensor.data + offset;
}

/* A multiplication by columns [first, first + columns) of a direction's weights. `bias` and
 * `addend` may be NULL. */
typedef struct factors_t {
  const float* a;
  size_t rows;
  const weights_t* weights;
  size_t first;
  size_t columns;
  const float* bias;
  const float* addend; /* has the row stride of c */
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

/* Sets the weights of one input. If they are not constant, packs them into `scratch`, unless the
 * run has so few rows in total that packing costs more than it saves. */
static void take_weights(const lane_t* lane, uint32_t input, size_t rows, float* scratch,
                         weights_t* out_weights) {
  const tenon__cpu_recurrent_t* self = lane->job->self;
  const bool is_w = input == TENON_CPU_GATES_W;
  const float* packed = is_w ? self->w : self->r;
  const size_t size = is_w ? self->w_size : self->r_size;
  const size_t depth = is_w ? self->input : self->hidden;
  *out_weights = (weights_t){
      .depth = depth,
      .packed = packed == NULL ? NULL : packed + lane->direction * size,
      .rows = input_at(lane->job, input, lane->direction * self->gates * self->hidden * depth)};
  if (packed == NULL && rows > TENON_CPU_FEW_ROWS) {
    tenon__cpu_recurrent_pack(self, out_weights->rows, depth, is_w ? self->gates : self->split,
                              scratch);
    out_weights->packed = scratch;
  }
}

static void take_all_weights(lane_t* lane, float* scratch) {
  const tenon__cpu_bound_recurrent_t* bound = lane->job->bound;
  take_weights(lane, TENON_CPU_GATES_W, bound->times * bound->batch, scratch, &lane->w);
  take_weights(lane, TENON_CPU_GATES_R, bound->times * bound->batch,
               scratch + (lane->job->self->w == NULL ? lane->job->self->w_size : 0), &lane->r);
}

static lane_t begin_lane(const job_t* job, size_t direction) {
  const tenon__cpu_recurrent_t* self = job->self;
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
  const float* bias = input_at(job, TENON_CPU_GATES_B, direction * 2 * width);
  const float* h = input_at(job, TENON_CPU_GATES_INITIAL_H, direction * state);
  const bool has_c = self->cell == TENON_CPU_CELL_LSTM;
  const float* c = has_c ? input_at(job, TENON_CPU_GATES_INITIAL_C, direction * state) : NULL;
  for (size_t k = 0; k < width; k++) {
    /* The state's bias is added to the input's bias. If the reset gate scales the state's part of a
     * gate, both biases are separate. */
    const bool apart =
        self->cell == TENON_CPU_CELL_GRU && self->resets_after && k >= 2 * self->hidden;
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
  const tenon__cpu_recurrent_t* self = lane->job->self;
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

static void step_rnn(const lane_t* lane, const float* gates) {
  const tenon__cpu_recurrent_t* self = lane->job->self;
  const size_t batch = lane->job->bound->batch;
  multiply(lane, &(factors_t){.a = lane->h,
                              .rows = batch,
                              .weights = &lane->r,
                              .columns = self->hidden,
                              .addend = gates,
                              .c = lane->sums,
                              .c_stride = self->hidden});
  self->isa->elements->unary[TENON_OPCODE_TANH][TENON_CPU_TYPE_F32](lane->h, lane->sums,
                                                                    batch * self->hidden);
}

static void step_gru(const lane_t* lane, const float* gates) {
  const tenon__cpu_recurrent_t* self = lane->job->self;
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
  const tenon__cpu_recurrent_t* self = job->self;
  const size_t times = job->bound->times;
  const size_t batch = job->bound->batch;
  const size_t width = self->gates * self->hidden;
  const size_t state = batch * self->hidden;
  const lane_t lane = begin_lane(job, index);
  const bool backwards = index == 1 || self->reverse;
  multiply(&lane, &(factors_t){.a = input_at(job, TENON_CPU_GATES_X, 0),
                               .rows = times * batch,
                               .weights = &lane.w,
                               .columns = width,
                               .bias = lane.input_bias,
                               .c = lane.gates,
                               .c_stride = width});
  for (size_t step = 0; step < times && !tenon__cpu_is_cancelled(job->call); step++) {
    const size_t t = backwards ? times - 1 - step : step;
    const float* gates = lane.gates + t * batch * width;
    static void (*const steps[])(const lane_t*, const float*) = {[TENON_CPU_CELL_RNN] = step_rnn,
                                                                 [TENON_CPU_CELL_GRU] = step_gru,
                                                                 [TENON_CPU_CELL_LSTM] = step_lstm};
    steps[self->cell](&lane, gates);
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

tenon_status_t tenon__cpu_recurrent_enqueue(const tenon_enqueue_t* call) {
  const tenon__cpu_recurrent_t* self = call->instance;
  job_t job = {self, call->bound, call->inputs, call->outputs, call->host->scratch(call->run),
               call};
  if (job.bound->batch > 0 && self->hidden > 0) {
    tenon__cpu_parallel(call, (uint32_t)self->directions, run_direction, &job);
  }
  return TENON_OK;
}

void tenon__cpu_recurrent_pack(const tenon__cpu_recurrent_t* self, const float* from,
                               size_t columns, size_t split, float* to) {
  const size_t rows = self->gates * self->hidden;
  const size_t first = split * self->hidden;
  tenon__cpu_pack_strided(self->isa->tiles, self->isa->elements, from, 1, (int64_t)columns, columns,
                          first, to);
  tenon__cpu_pack_strided(self->isa->tiles, self->isa->elements, from + first * columns, 1,
                          (int64_t)columns, columns, rows - first,
                          to + tenon__cpu_packed_size(self->isa->tiles, columns, first));
}
