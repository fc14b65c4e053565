/* For tests: a plan with one instance of each feature, and its operators. It cannot run. */
#ifndef TENON_CORE_PLAN_FILE_SAMPLE_NETWORK_H_
#define TENON_CORE_PLAN_FILE_SAMPLE_NETWORK_H_

#include <string.h>

#include "core/base/allocator.h"
#include "core/base/status.h"
#include "core/dimension/dimension_algebra.h"
#include "core/dimension/dimension_arithmetic.h"
#include "core/dimension/dimension_pool.h"
#include "core/network/node.h"
#include "core/network/node_forms.h"
#include "core/operator/operator_admit.h"
#include "core/plan/plan.h"

/* ---- Operators ---- */

enum { SAMPLE_TWIST, SAMPLE_FOUND, SAMPLE_SHAPE_OF, SAMPLE_CHOOSE, SAMPLE_OPERATOR_COUNT };

typedef struct sample_library_t {
  tenon__arena_t arena;
  const tenon__operator_t* operators[SAMPLE_OPERATOR_COUNT];
} sample_library_t;

static const tenon_port_t sample_inputs[] = {
    {.size = sizeof(tenon_port_t), .name = "x", .type = "T"},
    {.size = sizeof(tenon_port_t), .name = "b", .type = "T", .flags = TENON_PORT_OPTIONAL}};
static const tenon_port_t sample_choose_inputs[] = {
    {.size = sizeof(tenon_port_t), .name = "condition", .type = "bool"},
    {.size = sizeof(tenon_port_t),
     .name = "values",
     .type = "T",
     .flags = TENON_PORT_VARIADIC | TENON_PORT_HETEROGENEOUS}};
static const tenon_port_t sample_outputs[] = {
    {.size = sizeof(tenon_port_t), .name = "y", .type = "T"}};
static const tenon_port_t sample_unbounded[] = {
    {.size = sizeof(tenon_port_t), .name = "y", .type = "T", .flags = TENON_PORT_UNBOUNDED}};
static const tenon_port_t sample_numbers[] = {
    {.size = sizeof(tenon_port_t), .name = "y", .type = "i64"}};
static const tenon_port_t sample_choose_outputs[] = {
    {.size = sizeof(tenon_port_t),
     .name = "y",
     .type = "T",
     .flags = TENON_PORT_VARIADIC | TENON_PORT_HETEROGENEOUS}};
static const tenon_type_variable_t sample_types[] = {
    {.size = sizeof(tenon_type_variable_t), .name = "T", .allowed = "any"}};
static const tenon_attribute_descriptor_t sample_attributes[] = {
    {.size = sizeof(tenon_attribute_descriptor_t),
     .name = "group",
     .default_text = "1",
     .kind = TENON_ATTRIBUTE_INT},
    {.size = sizeof(tenon_attribute_descriptor_t),
     .name = "pads",
     .default_text = "[]",
     .kind = TENON_ATTRIBUTE_INTS},
    {.size = sizeof(tenon_attribute_descriptor_t),
     .name = "mode",
     .default_text = "'fast'",
     .kind = TENON_ATTRIBUTE_STRING}};
static const tenon_control_t sample_control = {.size = sizeof(tenon_control_t),
                                               .form = TENON_CONTROL_CHOOSE};

static const tenon_operator_t sample_operators[SAMPLE_OPERATOR_COUNT] = {
    [SAMPLE_TWIST] = {.size = sizeof(tenon_operator_t),
                      .name = "test.twist/1",
                      .attributes = {sample_attributes, 3, sizeof(*sample_attributes)},
                      .types = {sample_types, 1, sizeof(*sample_types)},
                      .inputs = {sample_inputs, 2, sizeof(*sample_inputs)},
                      .outputs = {sample_outputs, 1, sizeof(*sample_outputs)},
                      .shape = "y = x"},
    [SAMPLE_FOUND] = {.size = sizeof(tenon_operator_t),
                      .name = "test.found/1",
                      .types = {sample_types, 1, sizeof(*sample_types)},
                      .inputs = {sample_inputs, 1, sizeof(*sample_inputs)},
                      .outputs = {sample_unbounded, 1, sizeof(*sample_unbounded)},
                      .shape = "y.rank = 1; y[d] = fresh()"},
    [SAMPLE_SHAPE_OF] = {.size = sizeof(tenon_operator_t),
                         .name = "test.dims_of/1",
                         .types = {sample_types, 1, sizeof(*sample_types)},
                         .inputs = {sample_inputs, 1, sizeof(*sample_inputs)},
                         .outputs = {sample_numbers, 1, sizeof(*sample_numbers)},
                         .shape = "y.rank = 1; y[d] = rank(x)",
                         .contents = "y[i] = dim(x, i)"},
    [SAMPLE_CHOOSE] = {.size = sizeof(tenon_operator_t),
                       .name = "test.choose/1",
                       .types = {sample_types, 1, sizeof(*sample_types)},
                       .inputs = {sample_choose_inputs, 2, sizeof(*sample_choose_inputs)},
                       .outputs = {sample_choose_outputs, 1, sizeof(*sample_choose_outputs)},
                       .control = &sample_control},
};

static inline bool sample_library_create(sample_library_t* library, const tenon_sink_t* sink) {
  tenon__arena_initialize(&library->arena, tenon__allocator_default());
  for (uint32_t k = 0; k < SAMPLE_OPERATOR_COUNT; ++k) {
    if (tenon__operator_admit(&library->arena, &sample_operators[k], "test", NULL, sink,
                              &library->operators[k]) != TENON_OK) {
      return false;
    }
  }
  return true;
}

static inline void sample_library_destroy(sample_library_t* library) {
  tenon__arena_deinitialize(&library->arena);
}

static inline const tenon__operator_t* sample_find(void* user, const char* name) {
  const sample_library_t* library = user;
  for (uint32_t k = 0; library != NULL && k < SAMPLE_OPERATOR_COUNT; ++k) {
    if (strcmp(library->operators[k]->name, name) == 0) {
      return library->operators[k];
    }
  }
  return NULL;
}

/* ---- Network ---- */

/* After a failure `failed` stays true, and nothing is added. */
typedef struct sample_t {
  const sample_library_t* library;
  const tenon_sink_t* sink;
  tenon__plan_t* plan;
  tenon__network_t* network;
  uint32_t graph;
  bool failed;
  tenon_dim_t batch;
  tenon_dim_t four;
} sample_t;

static inline void sample_try(sample_t* s, tenon_status_t status) {
  s->failed = s->failed || status != TENON_OK;
}

static inline void* sample_copy(sample_t* s, const void* data, size_t size_bytes) {
  void* copy = tenon__arena_copy(&s->plan->arena, data, size_bytes);
  s->failed = s->failed || copy == NULL;
  return copy;
}

static inline tenon__value_node_t* sample_value(sample_t* s, uint32_t value) {
  return &s->network->graphs[s->graph]->values[value];
}

static inline uint32_t sample_add_value(sample_t* s, const char* name, tenon_dtype_t dtype,
                                        uint32_t rank, const tenon_dim_t* dims) {
  uint32_t value = 0;
  if (s->failed) {
    return 0;
  }
  sample_try(s, tenon__graph_add_value(s->network, s->graph, name, &value));
  if (!s->failed) {
    sample_value(s, value)->type.dtype = dtype;
    sample_value(s, value)->type.rank = rank;
    sample_value(s, value)->type.dims = sample_copy(s, dims, rank * sizeof *dims);
  }
  return value;
}

static inline uint32_t sample_add_input(sample_t* s, const char* name, tenon_dtype_t dtype,
                                        uint32_t rank, const tenon_dim_t* dims) {
  const uint32_t value = sample_add_value(s, name, dtype, rank, dims);
  if (!s->failed) {
    sample_try(s, tenon__graph_add_input(s->network, s->graph, value));
  }
  return value;
}

static inline uint32_t sample_add_weights(sample_t* s, const tenon__weights_t* weights) {
  uint32_t index = 0;
  uint32_t value = 0;
  if (!s->failed) {
    sample_try(s, tenon__network_add_weights(s->network, weights, &index));
  }
  if (!s->failed) {
    sample_try(s, tenon__graph_add_constant(s->network, s->graph, NULL, index, &value));
  }
  return value;
}

/* Adds an operator's node and returns it. sample_output returns its first output. */
static inline uint32_t sample_add_node(sample_t* s, uint32_t op, const char* name,
                                       const uint32_t* inputs, uint32_t input_count,
                                       const uint32_t* bodies, uint32_t body_count) {
  uint32_t node = 0;
  static const int64_t pads[2] = {1, 2};
  const tenon__scope_attribute_t attribute = {
      .name = "pads", .kind = TENON_ATTRIBUTE_INTS, .defined = true, .integers = pads, .count = 2};
  const tenon__node_request_t request = {.op = s->library->operators[op],
                                         .name = name,
                                         .input_count = input_count,
                                         .inputs = inputs,
                                         .output_count = 1,
                                         .attribute_count = op == SAMPLE_TWIST ? 1 : 0,
                                         .attributes = &attribute,
                                         .body_count = body_count,
                                         .bodies = bodies};
  if (!s->failed) {
    sample_try(s, tenon__graph_add_node(s->network, s->graph, &request, s->sink, &node));
  }
  return node;
}

static inline uint32_t sample_output(const sample_t* s, uint32_t node) {
  return s->failed ? 0 : s->network->graphs[s->graph]->nodes[node].outputs[0];
}

/* a + b over the extents of a; b of rank 2 is broadcast along axis 0 when `broadcasts`. */
static inline tenon__expression_t* sample_sum(sample_t* s, const tenon_dim_t* dims, uint32_t rank,
                                              bool broadcasts, uint32_t first_kind) {
  tenon_dim_t straight[2] = {{0}, {0}};
  for (uint32_t k = 0; k < rank; ++k) {
    straight[k] = tenon__dim_coordinate(s->network->pool, k, dims[k]);
  }
  tenon_dim_t second[2] = {straight[0], straight[1]};
  if (broadcasts) {
    second[0] = tenon__dim_constant(s->network->pool, 0);
  }
  const uint32_t axes[2] = {0, 1};
  const tenon_instruction_t instructions[3] = {
      {.opcode = TENON_OPCODE_INPUT, .dtype = TENON_DTYPE_FLOAT32, .immediate.i = 0},
      {.opcode = TENON_OPCODE_INPUT, .dtype = TENON_DTYPE_FLOAT32, .immediate.i = 1},
      {.opcode = TENON_OPCODE_ADD, .dtype = TENON_DTYPE_FLOAT32, .operands = {0, 1, 0}}};
  const tenon_operand_t operands[2] = {
      {.kind = first_kind, .index = 0, .dtype = TENON_DTYPE_FLOAT32},
      {.kind = TENON_OPERAND_ARGUMENT,
       .index = 1,
       .dtype = TENON_DTYPE_FLOAT32,
       .broadcast_axes = broadcasts ? 1 : 0}};
  const tenon_program_output_t outputs[1] = {{.instruction = 2, .dtype = TENON_DTYPE_FLOAT32}};
  const tenon__access_t accesses[2] = {
      {.rank = rank, .coordinates = sample_copy(s, straight, sizeof straight)},
      {.rank = rank, .coordinates = sample_copy(s, second, sizeof second)}};
  const uint32_t* const output_axes[1] = {sample_copy(s, axes, sizeof axes)};
  const tenon__expression_t expression = {
      .program = {.instructions = sample_copy(s, instructions, sizeof instructions),
                  .operands = sample_copy(s, operands, sizeof operands),
                  .outputs = sample_copy(s, outputs, sizeof outputs),
                  .instruction_count = 3,
                  .operand_count = 2,
                  .output_count = 1,
                  .rank = rank},
      .accesses = sample_copy(s, accesses, sizeof accesses),
      .space = sample_copy(s, dims, rank * sizeof *dims),
      .output_axes = sample_copy(s, output_axes, sizeof output_axes),
      .output_ranks = sample_copy(s, &rank, sizeof rank)};
  return sample_copy(s, &expression, sizeof expression);
}

static inline uint32_t sample_add_sum(sample_t* s, const char* name, uint32_t a, uint32_t b,
                                      bool broadcasts) {
  uint32_t node = 0;
  if (s->failed) {
    return 0;
  }
  const uint32_t inputs[2] = {a, b};
  const tenon__inferred_shape_t shape = {.rank = sample_value(s, a)->type.rank,
                                         .dims = sample_value(s, a)->type.dims};
  const tenon__expression_t* sum =
      sample_sum(s, shape.dims, shape.rank, broadcasts, TENON_OPERAND_ARGUMENT);
  if (!s->failed) {
    const tenon__form_request_t request = {
        .name = name, .inputs = inputs, .input_count = 2, .expression = sum, .shapes = &shape};
    sample_try(s, tenon__graph_add_form(s->network, s->graph, &request, s->sink, &node));
  }
  return node;
}

/* The transposition of a square-ranked value, or [a; b] along axis 0. */
static inline uint32_t sample_add_move(sample_t* s, const char* name, uint32_t a, uint32_t b,
                                       bool concatenates) {
  uint32_t node = 0;
  if (s->failed) {
    return 0;
  }
  tenon__dim_pool_t* pool = s->network->pool;
  const tenon_dim_t* own = sample_value(s, a)->type.dims;
  const tenon_dim_t dims[2] = {concatenates ? tenon__dim_add(pool, own[0], own[0]) : own[1],
                               concatenates ? own[1] : own[0]};
  const tenon_dim_t c0 = tenon__dim_coordinate(pool, 0, dims[0]);
  const tenon_dim_t c1 = tenon__dim_coordinate(pool, 1, dims[1]);
  const tenon_dim_t before = tenon__dim_multiply(pool, own[0], tenon__dim_constant(pool, -1));
  const tenon_dim_t turned[2] = {c1, c0};
  const tenon_dim_t first[2] = {c0, c1};
  const tenon_dim_t second[2] = {tenon__dim_add(pool, c0, before), c1};
  const tenon__map_source_t sources[2] = {
      {.input = 0,
       .rank = 2,
       .dims = own,
       .coordinates = sample_copy(s, concatenates ? first : turned, sizeof first)},
      {.input = 1, .rank = 2, .dims = own, .coordinates = sample_copy(s, second, sizeof second)}};
  tenon__index_map_t map = {.rank = 2,
                            .dims = sample_copy(s, dims, sizeof dims),
                            .source_count = concatenates ? 2 : 1,
                            .sources = sample_copy(s, sources, sizeof sources)};
  tenon__index_map_classify(pool, &map);
  const uint32_t inputs[2] = {a, b};
  if (!s->failed) {
    const tenon__form_request_t request = {.name = name,
                                           .inputs = inputs,
                                           .input_count = map.source_count,
                                           .map = &map,
                                           .dtype = TENON_DTYPE_FLOAT32};
    sample_try(s, tenon__graph_add_form(s->network, s->graph, &request, s->sink, &node));
  }
  return node;
}

/* A body that returns its parameter twisted, or doubled. */
static inline uint32_t sample_add_body(sample_t* s, const char* name, bool doubles) {
  uint32_t body = 0;
  const tenon_dim_t dims[2] = {s->four, s->batch};
  if (s->failed) {
    return 0;
  }
  sample_try(s, tenon__network_add_graph(s->network, name, 0, &body));
  s->graph = body;
  const uint32_t parameter = sample_add_input(s, "p", TENON_DTYPE_FLOAT32, 2, dims);
  const uint32_t node = doubles ? sample_add_sum(s, "double", parameter, parameter, false)
                                : sample_add_node(s, SAMPLE_TWIST, "twist", &parameter, 1, NULL, 0);
  if (!s->failed) {
    sample_try(s, tenon__graph_add_output(s->network, body, sample_output(s, node), NULL));
  }
  s->graph = 0;
  return body;
}

typedef struct sample_nodes_t {
  uint32_t x, condition, w, labels, r;
  uint32_t bodies[2];
  uint32_t sum, twist, scale, turn, left, right, join, last, choose, dims_of, found, update;
} sample_nodes_t;

static inline void sample_make_sources(sample_t* s, sample_nodes_t* n) {
  static const float weights_data[4] = {1, 2, 3, 4};
  static const tenon_string_view_t label_views[3] = {{"cat", 3}, {"", 0}, {"sea otter", 9}};
  static const int64_t weights_dims[2] = {1, 4};
  static const int64_t labels_dims[1] = {3};
  static const int64_t state_dims[1] = {4};
  const tenon__weights_t weights = {.name = "w",
                                    .dtype = TENON_DTYPE_FLOAT32,
                                    .rank = 2,
                                    .dims = weights_dims,
                                    .data = weights_data,
                                    .size_bytes = sizeof weights_data};
  const tenon__weights_t labels = {.name = "labels",
                                   .dtype = TENON_DTYPE_STRING,
                                   .rank = 1,
                                   .dims = labels_dims,
                                   .data = label_views,
                                   .size_bytes = sizeof label_views};
  const tenon_dim_t dims[2] = {s->batch, s->four};
  n->x = sample_add_input(s, "x", TENON_DTYPE_FLOAT32, 2, dims);
  n->condition = sample_add_input(s, "condition", TENON_DTYPE_BOOL, 0, dims);
  n->w = sample_add_weights(s, &weights);
  n->labels = sample_add_weights(s, &labels);
  n->r = sample_add_value(s, "memory", TENON_DTYPE_FLOAT32, 1, dims + 1);
  const tenon__state_node_t state = {.name = "memory",
                                     .dtype = TENON_DTYPE_FLOAT32,
                                     .rank = 1,
                                     .dims = state_dims,
                                     .initial = TENON_NONE,
                                     .read = n->r,
                                     .update = TENON_NONE};
  uint32_t index = 0;
  if (!s->failed) {
    sample_try(s, tenon__network_add_state(s->network, &state, s->sink, &index));
  }
}

static inline void sample_make_nodes(sample_t* s, sample_nodes_t* n) {
  sample_make_sources(s, n);
  n->bodies[0] = sample_add_body(s, "then", true);
  n->bodies[1] = sample_add_body(s, "else", false);
  n->sum = sample_add_sum(s, "sum", n->x, n->w, true);
  const uint32_t a = sample_output(s, n->sum);
  n->twist = sample_add_node(s, SAMPLE_TWIST, "twist", &a, 1, NULL, 0);
  n->scale = sample_add_sum(s, "scale", sample_output(s, n->twist), n->x, false);
  const uint32_t d = sample_output(s, n->scale);
  n->turn = sample_add_move(s, "turn", d, d, false);
  n->left = sample_add_node(s, SAMPLE_TWIST, "left", &a, 1, NULL, 0);
  n->right = sample_add_node(s, SAMPLE_TWIST, "right", &d, 1, NULL, 0);
  n->join = sample_add_move(s, "join", sample_output(s, n->left), sample_output(s, n->right), true);
  const uint32_t joined = sample_output(s, n->join);
  n->last = sample_add_node(s, SAMPLE_TWIST, "last", &joined, 1, NULL, 0);
  const uint32_t chosen[2] = {n->condition, sample_output(s, n->turn)};
  n->choose = sample_add_node(s, SAMPLE_CHOOSE, "choose", chosen, 2, n->bodies, 2);
  n->dims_of = sample_add_node(s, SAMPLE_SHAPE_OF, "dims_of", &n->x, 1, NULL, 0);
  const uint32_t e = sample_output(s, n->choose);
  n->found = sample_add_node(s, SAMPLE_FOUND, "found", &e, 1, NULL, 0);
  n->update = sample_add_sum(s, "update", n->r, n->r, false);
  const uint32_t ends[4] = {n->last, n->choose, n->dims_of, n->found};
  for (uint32_t k = 0; k < 4 && !s->failed; ++k) {
    sample_try(s, tenon__graph_add_output(s->network, 0, sample_output(s, ends[k]), NULL));
  }
  if (!s->failed) {
    s->network->states[0].update = sample_output(s, n->update);
  }
}

#endif
