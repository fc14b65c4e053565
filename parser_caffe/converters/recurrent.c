/*
 * Recurrent layers, [time, streams, features]. A second bottom tells, for each time and stream,
 * whether the sequence goes on (1) or begins (0): what the layer remembers is multiplied by it. So
 * each is a repetition over time, of a body that is written here.
 */
#include <inttypes.h>

#include "families.h"

enum { STATE_LIMIT = 2 }; /* h, and c of an LSTM */

typedef struct recurrent_t {
  int64_t units;
  uint32_t state_count;
  uint32_t blob;       /* the next one */
  tenon_value_t steps; /* what x adds to each step */
  tenon_value_t also;  /* what the static bottom adds to all; absent */
  tenon_value_t goes_on;
  tenon_value_t first[STATE_LIMIT];
  tenon_value_t last[STATE_LIMIT]; /* found by the repetition */
  tenon_value_t outputs;
} recurrent_t;

/* rows W^T + b; W is [outputs, inputs]. */
static tenon_value_t product(tenon_make_t* make, tenon_value_t rows, uint32_t blob, int64_t outputs,
                             int64_t inputs, bool has_bias) {
  static const int64_t swapped[2] = {1, 0};
  const int64_t dims[2] = {outputs, inputs};
  const tenon_value_t w =
      tenon_make_permute(make, tenon__caffe_weight(make, blob, 2, dims), swapped, 2);
  const tenon_value_t y = tenon_make_2(make, "mat_mul", rows, w);
  return has_bias ? tenon_make_2(make, "add", y, tenon__caffe_vector(make, blob + 1, outputs)) : y;
}

/* [.., all the rest]: axes from `axis` on as one. */
static tenon_value_t flat_from(tenon_make_t* make, tenon_value_t value, uint32_t axis,
                               int64_t* out_extent) {
  static const int64_t copied[2] = {0, 0};
  const uint32_t rank = tenon_make_rank(make, value);
  *out_extent = rank < axis ? -1 : tenon_make_elements(make, value, axis, rank);
  if (*out_extent < 0) {
    tenon_make_fail(make, TENON_ERROR_UNSUPPORTED,
                    "a bottom of rank %u has no known features from axis %u on", rank, axis);
    *out_extent = 1;
    return value;
  }
  int64_t dims[3] = {copied[0], copied[1], 0};
  dims[axis] = *out_extent;
  return rank == axis + 1 ? value : tenon_make_reshape(make, value, dims, axis + 1);
}

/* Zeros, [streams, units], or what the layer's last bottoms say. */
static void read_states(tenon_make_t* make, recurrent_t* layer, bool is_exposed) {
  const tenon_value_t x = tenon_make_input(make, 0);
  const tenon_value_t streams = tenon_make_slice(make, tenon_make_shape(make, x), 0, 1, 2);
  const tenon_value_t dims[2] = {streams, tenon_make_int64s(make, &layer->units, 1)};
  const tenon_value_t zeros =
      tenon_make_2(make, "filled", tenon_make_number(make, TENON_DTYPE_FLOAT32, 0),
                   tenon_make_concat(make, 0, 2, dims));
  for (uint32_t i = 0; i < layer->state_count; ++i) {
    const uint32_t bottom = make->input_count - layer->state_count + i;
    layer->first[i] =
        is_exposed ? tenon_make_squeeze(make, tenon_make_input(make, bottom), 0) : zeros;
  }
}

/* Of `gates` products for each unit. Leaves `blob` at the weights of the remembered. */
static bool begin(tenon_make_t* make, int64_t gates, uint32_t state_count, recurrent_t* out) {
  const bool is_exposed = tenon_make_get_int(make, "recurrent_param.expose_hidden", 0) != 0;
  const uint32_t exposed = is_exposed ? state_count : 0;
  int64_t features = 0;
  *out = (recurrent_t){.units = tenon_make_get_int(make, "recurrent_param.num_output", 0),
                       .state_count = state_count,
                       .goes_on = tenon_make_input(make, 1)};
  if (out->units < 1 || make->input_count < 2 + exposed || make->input_count > 3 + exposed ||
      make->output_count != 1 + exposed) {
    tenon_make_fail(make, TENON_ERROR_INVALID_DATA,
                    "num_output %" PRId64
                    ", %u bottoms, %u tops: it needs an input, a sequence's "
                    "continuations, perhaps a static input, and as exposed %u states",
                    out->units, make->input_count, make->output_count, exposed);
    return false;
  }
  const tenon_value_t x = flat_from(make, tenon_make_input(make, 0), 2, &features);
  out->steps = product(make, x, 0, gates * out->units, features, true);
  out->blob = 2;
  if (make->input_count == 3 + exposed) {
    const tenon_value_t also = flat_from(make, tenon_make_input(make, 2), 1, &features);
    out->also = product(make, also, out->blob++, gates * out->units, features, false);
  }
  read_states(make, out, is_exposed);
  return tenon_make_ok(make);
}

/* A value whose type is that of one step: made for its type alone. */
static tenon_value_t step_like(tenon_make_t* make, tenon_value_t value) {
  return tenon_make_2(make, "gather", value, tenon_make_int64(make, 0));
}

static tenon_value_t parameter_like(tenon_make_t* make, const char* name, tenon_value_t like) {
  tenon_value_t value = {0};
  if (tenon_make_ok(make) && tenon_make_present(like)) {
    make->status = make->build->body_parameter_like(make->builder, name, like, &value);
  }
  return value;
}

static void result(tenon_make_t* make, tenon_value_t value) {
  if (tenon_make_ok(make)) {
    make->status = make->build->body_result(make->builder, value);
  }
}

/* One step: from its input (static part added), whether it goes on [streams, 1], and the states, to
 * new states and an output. */
typedef tenon_value_t (*step_t)(tenon_make_t* make, const recurrent_t* layer, tenon_value_t input,
                                tenon_value_t goes_on, tenon_value_t* inout_states);

/* The body's parameters and results; `likes` are the types of the two slices. */
static void write_body(tenon_make_t* make, const recurrent_t* layer, step_t step,
                       const tenon_value_t* likes) {
  static const char* const names[STATE_LIMIT] = {"h", "c"};
  static const int64_t column = 1;
  const tenon_builder_table_t* build = make->build;
  tenon_value_t iteration = {0};
  tenon_value_t condition = {0};
  tenon_value_t states[STATE_LIMIT] = {{0}};
  if (tenon_make_ok(make)) {
    make->status = build->body_parameter(make->builder, "iteration", TENON_ARGUMENT_TENSOR,
                                         TENON_DTYPE_INT64, 0, NULL, &iteration);
  }
  if (tenon_make_ok(make)) {
    make->status = build->body_parameter(make->builder, "condition", TENON_ARGUMENT_TENSOR,
                                         TENON_DTYPE_BOOL, 0, NULL, &condition);
  }
  for (uint32_t i = 0; i < layer->state_count; ++i) {
    /* NOLINTNEXTLINE(clang-analyzer-*): no more states than there are in the step */
    states[i] = parameter_like(make, names[i], layer->first[i]);
  }
  tenon_value_t input = parameter_like(make, "x", likes[0]);
  const tenon_value_t flags = parameter_like(make, "goes_on", likes[1]);
  const tenon_value_t also = parameter_like(make, "static", layer->also);
  if (tenon_make_present(also)) {
    input = tenon_make_2(make, "add", input, also);
  }
  const tenon_value_t goes_on = tenon_make_unsqueeze(make, flags, &column, 1);
  const tenon_value_t output = step(make, layer, input, goes_on, states);
  result(make, condition);
  for (uint32_t i = 0; i < layer->state_count; ++i) {
    result(make, states[i]);
  }
  result(make, output);
}

static void repeat(tenon_make_t* make, recurrent_t* layer, step_t step) {
  static const int64_t zeros[3] = {0, 0, 0};
  tenon_value_t found[STATE_LIMIT + 1] = {{0}};
  uint32_t body = 0;
  const tenon_value_t likes[2] = {step_like(make, layer->steps), step_like(make, layer->goes_on)};
  if (!tenon_make_ok(make)) {
    return;
  }
  make->status = make->build->begin_body(make->builder, make->table->name(make->source));
  if (!tenon_make_ok(make)) {
    return;
  }
  write_body(make, layer, step, likes);
  if (!tenon_make_ok(make)) {
    make->build->cancel_body(make->builder);
    return;
  }
  make->status = make->build->end_body(make->builder, &body);
  tenon_make_begin(make, "repetition");
  tenon_make_set_int(make, "carried_count", layer->state_count);
  tenon_make_set_int(make, "scanned_count", 2);
  tenon_make_set_ints(make, "axes", zeros, 3);
  tenon_make_set_ints(make, "directions", zeros, 3);
  tenon_make_add(make, (tenon_value_t){0}); /* as often as there are steps */
  tenon_make_add(make, (tenon_value_t){0});
  for (uint32_t i = 0; i < layer->state_count; ++i) {
    tenon_make_add(make, layer->first[i]);
  }
  tenon_make_add(make, layer->steps);
  tenon_make_add(make, layer->goes_on);
  if (tenon_make_present(layer->also)) {
    tenon_make_add(make, layer->also);
  }
  tenon_make_add_body(make, body);
  tenon_make_set_output_count(make, layer->state_count + 1);
  tenon_make_end_many(make, found, layer->state_count + 1);
  tenon_make_output(make, 0, found[layer->state_count]);
  static const int64_t front = 0;
  for (uint32_t i = 0; i + 1 < make->output_count; ++i) {
    tenon_make_output(make, i + 1, tenon_make_unsqueeze(make, found[i], &front, 1));
  }
}

/* c = goes_on sigmoid(f) c + sigmoid(i) tanh(g); h = sigmoid(o) tanh(c); gates i, f, o, g. */
static tenon_value_t lstm_step(tenon_make_t* make, const recurrent_t* layer, tenon_value_t input,
                               tenon_value_t goes_on, tenon_value_t* inout_states) {
  const int64_t units = layer->units;
  const tenon_value_t h = tenon_make_2(make, "mul", inout_states[0], goes_on);
  const tenon_value_t from_h = product(make, h, layer->blob, 4 * units, units, false);
  const tenon_value_t sum = tenon_make_2(make, "add", input, from_h);
  tenon_value_t values[6];
  for (int64_t gate = 0; gate < 4; ++gate) {
    values[gate] = tenon_make_slice(make, sum, 1, gate * units, (gate + 1) * units);
  }
  const tenon_value_t o = values[2];
  const tenon_value_t of_c[5] = {values[0], values[1], values[3], inout_states[1], goes_on};
  const tenon_value_t c = tenon_make_math(
      make, "y = (e == 0 ? 0 : e * sigmoid(b)) * d + sigmoid(a) * tanh(c)", 5, of_c);
  inout_states[1] = c;
  inout_states[0] = tenon_make_math_2(make, "y = sigmoid(a) * tanh(b)", o, c);
  return inout_states[0];
}

static void lstm(tenon_make_t* make) {
  recurrent_t layer;
  if (begin(make, 4, 2, &layer)) {
    repeat(make, &layer, lstm_step);
  }
}

/* h = tanh(x + W goes_on h); the output is tanh(W h + b). */
static tenon_value_t rnn_step(tenon_make_t* make, const recurrent_t* layer, tenon_value_t input,
                              tenon_value_t goes_on, tenon_value_t* inout_states) {
  const int64_t units = layer->units;
  const tenon_value_t remembered = tenon_make_2(make, "mul", inout_states[0], goes_on);
  const tenon_value_t from_h = product(make, remembered, layer->blob, units, units, false);
  inout_states[0] = tenon_make_math_2(make, "y = tanh(a + b)", input, from_h);
  return tenon_make_1(make, "tanh",
                      product(make, inout_states[0], layer->blob + 1, units, units, true));
}

static void rnn(tenon_make_t* make) {
  recurrent_t layer;
  if (begin(make, 1, 1, &layer)) {
    repeat(make, &layer, rnn_step);
  }
}

static TENON_MAKE_CONVERT(convert);
static const tenon_make_row_t rows[] = {
    TENON__CAFFE_ROW("", "LSTM", lstm, NULL, NULL),
    TENON__CAFFE_ROW("", "RNN", rnn, NULL, NULL),
};
TENON__CAFFE_FAMILY(recurrent);
