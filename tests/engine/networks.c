/* Small networks for tests of the whole engine. */
#include "tests/engine/networks.h"

#include <string.h>

enum { FLOAT = TENON_DTYPE_FLOAT32 };

static tenon_builder_t* builder_of(tenon_network_t* network) {
  return tenon_network_get_builder(network);
}

/* Weights without a pattern that arithmetic could hide: small, of both signs. */
static tenon_status_t add_weights(tenon_network_t* network, const char* name, uint32_t rank,
                                  const int64_t* dims, tenon_value_t* out_value) {
  float data[512];
  size_t count = 1;
  for (uint32_t k = 0; k < rank; ++k) {
    count *= (size_t)dims[k];
  }
  for (size_t k = 0; k < count && k < 512; ++k) {
    data[k] = (float)((int)(k * 37 % 101) - 50) / 64.0F;
  }
  return tenon_network_add_constant(network, name, FLOAT, rank, dims, data, out_value);
}

/* One layer with one output. */
static tenon_status_t layer(tenon_network_t* network, const char* op, const tenon_value_t* inputs,
                            uint32_t input_count, const tenon_attribute_t* attributes,
                            uint32_t attribute_count, tenon_value_t* out_value) {
  return tenon_network_add(network, op, NULL, inputs, input_count,
                           &(tenon_list_t){attributes, attribute_count, sizeof(tenon_attribute_t)},
                           out_value, 1);
}

static tenon_status_t arithmetic(tenon_network_t* network, const char* text,
                                 const tenon_value_t* inputs, uint32_t input_count,
                                 tenon_value_t* out_value) {
  return tenon_builder_get_table()->expression(builder_of(network), text,
                                               (const char* const[]){"a", "b", "c"}, inputs,
                                               input_count, NULL, out_value);
}

/* ---- Layers ---- */

/* Convolution with what fuses into it, pooling, a product and a softmax; the batch varies. */
static tenon_status_t make_layers(tenon_network_t* network) {
  tenon_value_t x;
  tenon_value_t w;
  tenon_value_t b;
  tenon_value_t y;
  TEST_TRY(tenon_network_add_input(network, "x", FLOAT, 4, (const int64_t[]){-1, 2, 8, 8}, &x));
  TEST_TRY(add_weights(network, "w", 4, (const int64_t[]){4, 2, 3, 3}, &w));
  TEST_TRY(add_weights(network, "b", 1, (const int64_t[]){4}, &b));
  TEST_TRY(layer(network, "standard.convolution/1", (const tenon_value_t[]){x, w, b}, 3,
                 (const tenon_attribute_t[]){TENON_INTS("pads", 1, 1, 1, 1)}, 1, &y));
  TEST_TRY(arithmetic(network, "y = max(a, 0) * 0.5 + 0.25", &y, 1, &y));
  TEST_TRY(layer(
      network, "standard.max_pool/1", &y, 1,
      (const tenon_attribute_t[]){TENON_INTS("kernel_shape", 2, 2), TENON_INTS("strides", 2, 2)}, 2,
      &y));
  TEST_TRY(layer(network, "standard.flatten/1", &y, 1,
                 (const tenon_attribute_t[]){TENON_INT("axis", 1)}, 1, &y));
  TEST_TRY(add_weights(network, "v", 2, (const int64_t[]){64, 5}, &w));
  TEST_TRY(layer(network, "standard.mat_mul/1", (const tenon_value_t[]){y, w}, 2, NULL, 0, &y));
  TEST_TRY(layer(network, "standard.softmax/1", &y, 1,
                 (const tenon_attribute_t[]){TENON_INT("axis", 1)}, 1, &y));
  return tenon_network_add_output(network, y, "y");
}

/* Two paths that meet in a concatenation, a transposition and a mean over rows. */
static tenon_status_t make_paths(tenon_network_t* network) {
  tenon_value_t x;
  tenon_value_t left;
  tenon_value_t right;
  tenon_value_t y;
  TEST_TRY(tenon_network_add_input(network, "x", FLOAT, 2, (const int64_t[]){-1, 6}, &x));
  TEST_TRY(arithmetic(network, "y = a * sigmoid(a)", &x, 1, &left));
  TEST_TRY(layer(network, "standard.reduce_mean/1", &left, 1,
                 (const tenon_attribute_t[]){TENON_INTS("fixed_axes", 1), TENON_INT("keepdims", 1)},
                 2, &right));
  TEST_TRY(arithmetic(network, "y = (a - b) / (abs(b) + 1)", (const tenon_value_t[]){x, right}, 2,
                      &right));
  TEST_TRY(layer(network, "standard.concatenate/1", (const tenon_value_t[]){left, right}, 2,
                 (const tenon_attribute_t[]){TENON_INT("axis", 1)}, 1, &y));
  TEST_TRY(layer(network, "standard.permute/1", &y, 1,
                 (const tenon_attribute_t[]){TENON_INTS("perm", 1, 0)}, 1, &y));
  return tenon_network_add_output(network, y, "y");
}

/* A recurrent layer, whose length varies. */
static tenon_status_t make_recurrent(tenon_network_t* network) {
  tenon_value_t x;
  tenon_value_t w;
  tenon_value_t r;
  tenon_value_t outputs[3];
  TEST_TRY(tenon_network_add_input(network, "x", FLOAT, 3, (const int64_t[]){-1, 2, 3}, &x));
  TEST_TRY(add_weights(network, "w", 3, (const int64_t[]){1, 16, 3}, &w));
  TEST_TRY(add_weights(network, "r", 3, (const int64_t[]){1, 16, 4}, &r));
  TEST_TRY(tenon_network_add(network, "standard.lstm/1", "lstm", (const tenon_value_t[]){x, w, r},
                             3, NULL, outputs, 3));
  TEST_TRY(tenon_network_add_output(network, outputs[0], "y"));
  return tenon_network_add_output(network, outputs[2], "cell");
}

/* ---- Control ---- */

static tenon_status_t make_branch_body(tenon_network_t* network, bool multiplies, tenon_value_t x,
                                       tenon_value_t w, uint32_t* out_body) {
  const tenon_builder_table_t* table = tenon_builder_get_table();
  tenon_builder_t* builder = builder_of(network);
  tenon_value_t v[2];
  tenon_value_t y;
  TEST_TRY(table->begin_body(builder, multiplies ? "then" : "else"));
  TEST_TRY(table->body_parameter_like(builder, "p", x, &v[0]));
  TEST_TRY(table->body_parameter_like(builder, "q", w, &v[1]));
  TEST_TRY(multiplies ? layer(network, "standard.mat_mul/1", v, 2, NULL, 0, &y)
                      : arithmetic(network, "y = max(a, 0) + 1", v, 1, &y));
  TEST_TRY(table->body_result(builder, y));
  return table->end_body(builder, out_body);
}

/* y = condition ? x * W : max(x, 0) + 1 */
static tenon_status_t make_branch(tenon_network_t* network) {
  const tenon_builder_table_t* table = tenon_builder_get_table();
  tenon_builder_t* builder = builder_of(network);
  tenon_value_t x;
  tenon_value_t condition;
  tenon_value_t w;
  tenon_value_t y;
  uint32_t bodies[2];
  TEST_TRY(tenon_network_add_input(network, "x", FLOAT, 2, (const int64_t[]){-1, 4}, &x));
  TEST_TRY(tenon_network_add_input(network, "condition", TENON_DTYPE_BOOL, 0, NULL, &condition));
  TEST_TRY(add_weights(network, "w", 2, (const int64_t[]){4, 4}, &w));
  TEST_TRY(make_branch_body(network, true, x, w, &bodies[0]));
  TEST_TRY(make_branch_body(network, false, x, w, &bodies[1]));
  TEST_TRY(table->begin(builder, "standard.branch/1", "branch"));
  TEST_TRY(table->add_input(builder, condition));
  TEST_TRY(table->add_input(builder, x));
  TEST_TRY(table->add_input(builder, w));
  TEST_TRY(table->add_body(builder, bodies[0]));
  TEST_TRY(table->add_body(builder, bodies[1]));
  TEST_TRY(table->output_count(builder, 1));
  TEST_TRY(table->end(builder, &y, 1));
  return tenon_network_add_output(network, y, "y");
}

/* y = condition ? what cannot be computed : max(x, 0) + 1; the condition never holds. */
static tenon_status_t make_fault(tenon_network_t* network) {
  const tenon_builder_table_t* table = tenon_builder_get_table();
  tenon_builder_t* builder = builder_of(network);
  tenon_value_t x;
  tenon_value_t limit;
  tenon_value_t v;
  tenon_value_t y;
  uint32_t bodies[2];
  TEST_TRY(tenon_network_add_input(network, "x", FLOAT, 2, (const int64_t[]){-1, 4}, &x));
  TEST_TRY(tenon_network_add_input(network, "limit", FLOAT, 0, NULL, &limit));
  TEST_TRY(arithmetic(network, "y = a * a < 0", &limit, 1, &limit));
  TEST_TRY(table->begin_body(builder, "then"));
  TEST_TRY(table->body_parameter_like(builder, "p", x, &v));
  TEST_TRY(table->fail_body(builder, TENON_ERROR_UNSUPPORTED, "nobody can", &bodies[0]));
  TEST_TRY(table->begin_body(builder, "else"));
  TEST_TRY(table->body_parameter_like(builder, "p", x, &v));
  TEST_TRY(arithmetic(network, "y = max(a, 0) + 1", &v, 1, &y));
  TEST_TRY(table->body_result(builder, y));
  TEST_TRY(table->end_body(builder, &bodies[1]));
  TEST_TRY(table->begin(builder, "standard.branch/1", "fault"));
  TEST_TRY(table->add_input(builder, limit));
  TEST_TRY(table->add_input(builder, x));
  TEST_TRY(table->add_body(builder, bodies[0]));
  TEST_TRY(table->add_body(builder, bodies[1]));
  TEST_TRY(table->end(builder, &y, 1));
  return tenon_network_add_output(network, y, "y");
}

/* The body of a repetition, with what it always takes: the iteration, and whether to go on. */
static tenon_status_t begin_iteration(tenon_network_t* network, tenon_value_t out_values[2]) {
  const tenon_builder_table_t* table = tenon_builder_get_table();
  tenon_builder_t* builder = builder_of(network);
  TEST_TRY(table->begin_body(builder, "body"));
  TEST_TRY(table->body_parameter(builder, "i", TENON_ARGUMENT_TENSOR, TENON_DTYPE_INT64, 0, NULL,
                                 &out_values[0]));
  return table->body_parameter(builder, "go", TENON_ARGUMENT_TENSOR, TENON_DTYPE_BOOL, 0, NULL,
                               &out_values[1]);
}

/* total' = total + iteration + 1 until it exceeds 6 or `trips` are done; what it was is collected.
 * Ends early, and with no trip at all, as the inputs say. */
static tenon_status_t make_loop(tenon_network_t* network) {
  const tenon_builder_table_t* table = tenon_builder_get_table();
  tenon_builder_t* builder = builder_of(network);
  tenon_value_t v[6];
  tenon_value_t trips;
  tenon_value_t total;
  uint32_t body = 0;
  TEST_TRY(tenon_network_add_input(network, "trips", TENON_DTYPE_INT64, 0, NULL, &trips));
  TEST_TRY(tenon_network_add_input(network, "total", FLOAT, 1, (const int64_t[]){1}, &total));
  TEST_TRY(begin_iteration(network, v));
  TEST_TRY(table->body_parameter_like(builder, "t", total, &v[2]));
  TEST_TRY(layer(network, "standard.cast/1", &v[0], 1,
                 (const tenon_attribute_t[]){TENON_TYPE("to", FLOAT)}, 1, &v[3]));
  TEST_TRY(arithmetic(network, "y = a + b + 1", (const tenon_value_t[]){v[2], v[3]}, 2, &v[3]));
  TEST_TRY(layer(network, "standard.squeeze/1", &v[3], 1, NULL, 0, &v[4]));
  TEST_TRY(arithmetic(network, "y = a <= 6", &v[4], 1, &v[5]));
  TEST_TRY(table->body_result(builder, v[5]));
  TEST_TRY(table->body_result(builder, v[3]));
  TEST_TRY(table->body_result(builder, v[2]));
  TEST_TRY(table->end_body(builder, &body));
  TEST_TRY(table->begin(builder, "standard.repetition/1", "loop"));
  TEST_TRY(table->attribute_int(builder, "carried_count", 1));
  TEST_TRY(table->add_input(builder, trips));
  TEST_TRY(table->add_input(builder, (tenon_value_t){0}));
  TEST_TRY(table->add_input(builder, total));
  TEST_TRY(table->add_body(builder, body));
  TEST_TRY(table->output_count(builder, 2));
  TEST_TRY(table->end(builder, v, 2));
  TEST_TRY(tenon_network_add_output(network, v[0], "last"));
  return tenon_network_add_output(network, v[1], "collected");
}

/* As often as the input says, and as many columns: h' = h + iteration. */
static tenon_status_t make_turns(tenon_network_t* network) {
  const tenon_builder_table_t* table = tenon_builder_get_table();
  tenon_builder_t* builder = builder_of(network);
  tenon_value_t v[5];
  tenon_value_t turns;
  tenon_value_t h;
  uint32_t body = 0;
  TEST_TRY(tenon_network_add_input(network, "turns", TENON_DTYPE_INT64, 0, NULL, &turns));
  TEST_TRY(tenon_network_add_input(network, "h", FLOAT, 1, (const int64_t[]){2}, &h));
  TEST_TRY(begin_iteration(network, v));
  TEST_TRY(table->body_parameter_like(builder, "p", h, &v[2]));
  TEST_TRY(layer(network, "standard.cast/1", &v[0], 1,
                 (const tenon_attribute_t[]){TENON_TYPE("to", FLOAT)}, 1, &v[3]));
  TEST_TRY(arithmetic(network, "y = a + b", (const tenon_value_t[]){v[2], v[3]}, 2, &v[4]));
  TEST_TRY(table->body_result(builder, v[1]));
  TEST_TRY(table->body_result(builder, v[4]));
  TEST_TRY(table->body_result(builder, v[2]));
  TEST_TRY(table->end_body(builder, &body));
  TEST_TRY(table->begin(builder, "standard.repetition/1", "loop"));
  TEST_TRY(table->attribute_int(builder, "carried_count", 1));
  TEST_TRY(table->attribute_ints(builder, "axes", (const int64_t[]){1}, 1));
  TEST_TRY(table->add_input(builder, turns));
  TEST_TRY(table->add_input(builder, (tenon_value_t){0}));
  TEST_TRY(table->add_input(builder, h));
  TEST_TRY(table->add_body(builder, body));
  TEST_TRY(table->output_count(builder, 2));
  TEST_TRY(table->end(builder, v, 2));
  TEST_TRY(tenon_network_add_output(network, v[0], "last"));
  return tenon_network_add_output(network, v[1], "columns");
}

/* A running product with a matrix, over the slices of x, whose number varies. */
static tenon_status_t make_scan(tenon_network_t* network) {
  const tenon_builder_table_t* table = tenon_builder_get_table();
  tenon_builder_t* builder = builder_of(network);
  tenon_value_t x;
  tenon_value_t first;
  tenon_value_t w;
  tenon_value_t v[7];
  uint32_t body = 0;
  TEST_TRY(tenon_network_add_input(network, "x", FLOAT, 3, (const int64_t[]){-1, 1, 4}, &x));
  TEST_TRY(tenon_network_add_input(network, "first", FLOAT, 2, (const int64_t[]){1, 4}, &first));
  TEST_TRY(add_weights(network, "w", 2, (const int64_t[]){4, 4}, &w));
  TEST_TRY(begin_iteration(network, v));
  TEST_TRY(table->body_parameter_like(builder, "h", first, &v[2]));
  TEST_TRY(table->body_parameter_like(builder, "slice", first, &v[3]));
  TEST_TRY(table->body_parameter_like(builder, "weights", w, &v[4]));
  TEST_TRY(
      layer(network, "standard.mat_mul/1", (const tenon_value_t[]){v[2], v[4]}, 2, NULL, 0, &v[5]));
  TEST_TRY(arithmetic(network, "y = tanh(a + b)", (const tenon_value_t[]){v[5], v[3]}, 2, &v[6]));
  TEST_TRY(table->body_result(builder, v[1]));
  TEST_TRY(table->body_result(builder, v[6]));
  TEST_TRY(table->body_result(builder, v[6]));
  TEST_TRY(table->end_body(builder, &body));
  TEST_TRY(table->begin(builder, "standard.repetition/1", "scan"));
  TEST_TRY(table->attribute_int(builder, "carried_count", 1));
  TEST_TRY(table->attribute_int(builder, "scanned_count", 1));
  TEST_TRY(table->add_input(builder, (tenon_value_t){0}));
  TEST_TRY(table->add_input(builder, (tenon_value_t){0}));
  TEST_TRY(table->add_input(builder, first));
  TEST_TRY(table->add_input(builder, x));
  TEST_TRY(table->add_input(builder, w));
  TEST_TRY(table->add_body(builder, body));
  TEST_TRY(table->output_count(builder, 2));
  TEST_TRY(table->end(builder, v, 2));
  TEST_TRY(tenon_network_add_output(network, v[0], "last"));
  return tenon_network_add_output(network, v[1], "all");
}

/* Each slice less its largest element. */
static tenon_status_t make_mapping(tenon_network_t* network) {
  const tenon_builder_table_t* table = tenon_builder_get_table();
  tenon_builder_t* builder = builder_of(network);
  tenon_value_t x;
  tenon_value_t p;
  tenon_value_t most;
  tenon_value_t y;
  uint32_t body = 0;
  TEST_TRY(tenon_network_add_input(network, "x", FLOAT, 2, (const int64_t[]){-1, 5}, &x));
  TEST_TRY(table->begin_body(builder, "body"));
  TEST_TRY(table->body_parameter(builder, "p", TENON_ARGUMENT_TENSOR, FLOAT, 1,
                                 (const int64_t[]){5}, &p));
  TEST_TRY(layer(network, "standard.reduce_max/1", &p, 1,
                 (const tenon_attribute_t[]){TENON_INTS("fixed_axes", 0), TENON_INT("keepdims", 1)},
                 2, &most));
  TEST_TRY(arithmetic(network, "y = a - b", (const tenon_value_t[]){p, most}, 2, &y));
  TEST_TRY(table->body_result(builder, y));
  TEST_TRY(table->end_body(builder, &body));
  TEST_TRY(table->begin(builder, "standard.mapping/1", "mapping"));
  TEST_TRY(table->add_input(builder, x));
  TEST_TRY(table->add_body(builder, body));
  TEST_TRY(table->output_count(builder, 1));
  TEST_TRY(table->end(builder, &y, 1));
  return tenon_network_add_output(network, y, "y");
}

/* ---- State and extents that only a run finds ---- */

/* Two states: a sum, and what x was; outputs read the old and the new. */
static tenon_status_t make_state(tenon_network_t* network) {
  const tenon_builder_table_t* table = tenon_builder_get_table();
  tenon_builder_t* builder = builder_of(network);
  const int64_t dims[] = {3};
  const float initial[] = {1, 2, 3};
  tenon_state_descriptor_t state = {.size = sizeof(state),
                                    .name = "sum",
                                    .dtype = FLOAT,
                                    .rank = 1,
                                    .dims = dims,
                                    .initial_data = initial};
  tenon_value_t x;
  tenon_value_t sum;
  tenon_value_t before;
  tenon_value_t y;
  TEST_TRY(tenon_network_add_input(network, "x", FLOAT, 1, dims, &x));
  TEST_TRY(table->add_state(builder, &state, &sum));
  state.name = "before";
  state.initial_data = NULL;
  TEST_TRY(table->add_state(builder, &state, &before));
  TEST_TRY(
      arithmetic(network, "y = a + b - 0.5 * c", (const tenon_value_t[]){sum, x, before}, 3, &y));
  TEST_TRY(table->write_state(builder, "sum", y));
  TEST_TRY(table->write_state(builder, "before", x));
  TEST_TRY(tenon_network_add_output(network, y, "y"));
  TEST_TRY(tenon_network_add_output(network, sum, "old_sum"));
  return tenon_network_add_output(network, before, "old_x");
}

/* Where x is not negative, and the elements there: how many, the run finds. */
static tenon_status_t make_found(tenon_network_t* network) {
  tenon_value_t x;
  tenon_value_t mask;
  tenon_value_t places;
  tenon_value_t y;
  TEST_TRY(tenon_network_add_input(network, "x", FLOAT, 1, (const int64_t[]){-1}, &x));
  TEST_TRY(arithmetic(network, "y = a >= 0", &x, 1, &mask));
  TEST_TRY(layer(network, "standard.nonzero/1", &mask, 1, NULL, 0, &places));
  TEST_TRY(layer(network, "standard.compress/1", (const tenon_value_t[]){x, mask}, 2,
                 (const tenon_attribute_t[]){TENON_INT("axis", 0)}, 1, &y));
  TEST_TRY(arithmetic(network, "y = a * 2 - 1", &y, 1, &y));
  TEST_TRY(tenon_network_add_output(network, places, "places"));
  return tenon_network_add_output(network, y, "y");
}

/* A sequence of the pieces of x, one of which comes out twice as large. */
static tenon_status_t make_sequence(tenon_network_t* network) {
  tenon_value_t x;
  tenon_value_t left;
  tenon_value_t pieces;
  tenon_value_t place;
  tenon_value_t y;
  const int64_t second = 1;
  TEST_TRY(tenon_network_add_input(network, "x", FLOAT, 1, (const int64_t[]){4}, &x));
  TEST_TRY(arithmetic(network, "y = a * 2", &x, 1, &left));
  TEST_TRY(layer(network, "standard.sequence_make/1", (const tenon_value_t[]){x, left}, 2, NULL, 0,
                 &pieces));
  TEST_TRY(
      tenon_network_add_constant(network, "second", TENON_DTYPE_INT64, 0, NULL, &second, &place));
  TEST_TRY(layer(network, "standard.sequence_at/1", (const tenon_value_t[]){pieces, place}, 2, NULL,
                 0, &y));
  return tenon_network_add_output(network, y, "y");
}

/* A deconvolution in groups, one filter for each channel, means of windows, and another size. */
static tenon_status_t make_windows(tenon_network_t* network) {
  tenon_value_t x;
  tenon_value_t w;
  tenon_value_t y;
  tenon_value_t sizes;
  const int64_t wanted[4] = {1, 4, 6, 6};
  TEST_TRY(tenon_network_add_input(network, "x", FLOAT, 4, (const int64_t[]){1, 4, 3, 3}, &x));
  TEST_TRY(add_weights(network, "w", 4, (const int64_t[]){4, 2, 2, 2}, &w));
  TEST_TRY(layer(network, "standard.deconvolution/1", (const tenon_value_t[]){x, w}, 2,
                 (const tenon_attribute_t[]){TENON_INT("groups", 2), TENON_INTS("strides", 2, 2)},
                 2, &y));
  TEST_TRY(arithmetic(network, "y = max(a, 0)", &y, 1, &y));
  TEST_TRY(add_weights(network, "v", 4, (const int64_t[]){4, 1, 3, 3}, &w));
  TEST_TRY(layer(network, "standard.convolution/1", (const tenon_value_t[]){y, w}, 2,
                 (const tenon_attribute_t[]){TENON_INT("groups", 4)}, 1, &y));
  TEST_TRY(layer(network, "standard.average_pool/1", &y, 1,
                 (const tenon_attribute_t[]){TENON_INTS("kernel_shape", 2, 2)}, 1, &y));
  TEST_TRY(tenon_network_add_constant(network, "sizes", TENON_DTYPE_INT64, 1, (const int64_t[]){4},
                                      wanted, &sizes));
  TEST_TRY(layer(network, "standard.resize/1", (const tenon_value_t[]){y, sizes}, 2, NULL, 0, &y));
  return tenon_network_add_output(network, y, "y");
}

/* Rows of a table, and the largest numbers of each: which and how many, the inputs say. */
static tenon_status_t make_choices(tenon_network_t* network) {
  tenon_value_t rows;
  tenon_value_t count;
  tenon_value_t table;
  tenon_value_t y[2];
  TEST_TRY(
      tenon_network_add_input(network, "rows", TENON_DTYPE_INT64, 1, (const int64_t[]){-1}, &rows));
  TEST_TRY(tenon_network_add_input(network, "count", TENON_DTYPE_INT64, 1, (const int64_t[]){1},
                                   &count));
  TEST_TRY(add_weights(network, "table", 2, (const int64_t[]){8, 7}, &table));
  TEST_TRY(
      layer(network, "standard.gather/1", (const tenon_value_t[]){table, rows}, 2, NULL, 0, &y[0]));
  TEST_TRY(tenon_network_add(network, "standard.top_k/1", "top",
                             (const tenon_value_t[]){y[0], count}, 2, NULL, y, 2));
  TEST_TRY(tenon_network_add_output(network, y[0], "values"));
  return tenon_network_add_output(network, y[1], "indices");
}

static const test_network_t networks[] = {
    {"layers", make_layers, 4},     {"paths", make_paths, 3},     {"recurrent", make_recurrent, 5},
    {"branch", make_branch, 3},     {"loop", make_loop, 0},       {"scan", make_scan, 5},
    {"mapping", make_mapping, 4},   {"state", make_state, 0},     {"found", make_found, 9},
    {"sequence", make_sequence, 0}, {"windows", make_windows, 0}, {"choices", make_choices, 4},
    {"turns", make_turns, 0},       {"fault", make_fault, 3},
};

uint32_t test_networks(const test_network_t** out_networks) {
  *out_networks = networks;
  return sizeof networks / sizeof networks[0];
}

const test_network_t* test_network_find(const char* name) {
  for (size_t k = 0; k < sizeof networks / sizeof networks[0]; ++k) {
    if (strcmp(networks[k].name, name) == 0) {
      return &networks[k];
    }
  }
  return NULL;
}

/* ---- Building ---- */

static tenon_status_t build(const test_network_t* test, tenon_network_t* network,
                            const tenon_build_options_t* options, tenon_plan_t** out_plan) {
  tenon_build_options_t own = options != NULL ? *options : TENON_OPTIONS(tenon_build_options_t);
  int64_t dims[3][8];
  tenon_io_info_t info = {.size = sizeof(info)};
  TEST_TRY(test->make(network));
  TEST_TRY(tenon_network_get_input(network, 0, &info));
  for (uint32_t k = 0; k < info.rank && k < 8; ++k) {
    dims[0][k] = dims[1][k] = dims[2][k] = info.dims[k];
  }
  dims[0][0] = 1;
  dims[1][0] = (test->most + 1) / 2;
  dims[2][0] = test->most;
  const tenon_profile_range_t range = {info.name, info.rank, dims[0], dims[1], dims[2]};
  const tenon_profile_t profile = {{&range, 1, sizeof(range)}};
  if (test->most > 0) {
    own.profiles = (tenon_list_t){&profile, 1, sizeof(profile)};
  }
  return tenon_build(network, &own, out_plan);
}

tenon_status_t test_network_build(const test_network_t* test, tenon_registry_t* registry,
                                  const tenon_build_options_t* options, tenon_plan_t** out_plan) {
  tenon_network_t* network = NULL;
  TEST_TRY(tenon_network_create(registry, &network));
  const tenon_status_t status = build(test, network, options, out_plan);
  tenon_network_destroy(network);
  return status;
}
