/*
 * Counting a step's work. Expressions are counted instruction by instruction over their space; an
 * operator without one says itself how much it does, in a text that is evaluated for the extents at
 * hand: in a scope and a pool of its own, so that nothing of the plan changes.
 */
#include "core/plan/work.h"

#include "core/base/status.h"
#include "core/dimension/dimension_pool.h"
#include "core/language/condition.h"
#include "core/language/scope.h"
#include "core/plan/place.h"

typedef struct counting_t {
  const tenon__graph_t* graph;
  const tenon__extents_t* extents;
  tenon__arena_t* arena;
  tenon__work_t work;
} counting_t;

/* ---- Bytes ---- */

static bool extents_of(const counting_t* c, uint32_t value, int64_t dims[TENON_RANK_LIMIT]) {
  const tenon__value_node_t* v = &c->graph->values[value];
  return v->type.kind == TENON_ARGUMENT_TENSOR && v->type.rank <= TENON_RANK_LIMIT &&
         tenon__extents_shape(c->extents, v->type.rank, v->type.dims, dims);
}

static double bytes_of(counting_t* c, uint32_t value) {
  int64_t dims[TENON_RANK_LIMIT];
  double bytes = tenon__dtype_bits(c->graph->values[value].type.dtype) / 8.0;
  if (!extents_of(c, value, dims)) {
    return 0;
  }
  for (uint32_t k = 0; k < c->graph->values[value].type.rank; ++k) {
    bytes *= (double)dims[k];
  }
  return bytes;
}

/* A move reads no more of a tensor than it writes: a row of a table, not the table. */
static void count_bytes(counting_t* c, const struct tenon_region_t* region) {
  for (uint32_t k = 0; k < region->output_count; ++k) {
    const uint32_t value = region->outputs[k].value;
    c->work.bytes_written += value == TENON_NONE ? 0 : bytes_of(c, value);
  }
  for (uint32_t k = 0; k < region->input_count; ++k) {
    const uint32_t value = region->inputs[k].value;
    bool again = value == TENON_NONE;
    for (uint32_t j = 0; j < k; ++j) {
      again = again || region->inputs[j].value == value;
    }
    if (again) {
      continue;
    }
    const double bytes = bytes_of(c, value);
    const bool is_part = region->kind == TENON_REGION_MOVE && bytes > c->work.bytes_written;
    c->work.bytes_read += is_part ? c->work.bytes_written : bytes;
  }
}

/* ---- Arithmetic ---- */

static uint32_t arithmetic_count(const tenon_program_t* program) {
  uint32_t count = 0;
  for (uint32_t k = 0; k < program->instruction_count; ++k) {
    switch (program->instructions[k].opcode) {
      case TENON_OPCODE_NOP:
      case TENON_OPCODE_INPUT:
      case TENON_OPCODE_CONSTANT:
      case TENON_OPCODE_INDEX:
      case TENON_OPCODE_SIZE:
      case TENON_OPCODE_EXTENT:
      case TENON_OPCODE_LOAD:
      case TENON_OPCODE_CAST:
        break;
      default:
        ++count;
        break;
    }
  }
  return count;
}

static bool is_elementwise(const struct tenon_region_t* region) {
  if (region->kind != TENON_REGION_EXPRESSION) {
    return false;
  }
  for (uint32_t k = 0; k < region->expression->program.instruction_count; ++k) {
    const uint16_t opcode = region->expression->program.instructions[k].opcode;
    if (opcode >= TENON_OPCODE_SUM && opcode <= TENON_OPCODE_MEAN) {
      return false;
    }
  }
  return true;
}

static void count_expression(counting_t* c, const tenon__expression_t* expression) {
  double points = 1;
  for (uint32_t k = 0; k < expression->program.rank; ++k) {
    int64_t extent = 0;
    if (!tenon__extents_get(c->extents, expression->space[k], &extent)) {
      c->work.operations_known = false;
    }
    points *= (double)extent;
  }
  c->work.operations += points * arithmetic_count(&expression->program);
}

/* ---- Operators that say it themselves ---- */

static tenon_status_t describe_value(counting_t* c, tenon__dim_pool_t* pool, uint32_t value,
                                     tenon__scope_value_t* out_value) {
  int64_t extents[TENON_RANK_LIMIT];
  *out_value = (tenon__scope_value_t){.type.rank = TENON_NONE};
  if (value == TENON_NONE) {
    return TENON_OK;
  }
  const tenon__value_node_t* v = &c->graph->values[value];
  out_value->present = true;
  out_value->type.dtype = v->type.dtype;
  if (!extents_of(c, value, extents)) {
    return TENON_OK;
  }
  tenon_dim_t* dims = tenon__arena_allocate(c->arena, v->type.rank, sizeof(*dims));
  TENON_TRY_MEMORY(dims != NULL);
  for (uint32_t k = 0; k < v->type.rank; ++k) {
    dims[k] = tenon__dim_constant(pool, extents[k]);
  }
  out_value->type = tenon__type_tensor(v->type.dtype, v->type.rank, dims);
  return TENON_OK;
}

/* The inputs or the outputs of a node, as its operator declares them and as they are. */
typedef struct node_ports_t {
  const tenon_port_t* ports;
  uint32_t port_count;
  uint32_t value_count;
  const uint32_t* values;
} node_ports_t;

/* Ports over the node's values; items past the end are absent. */
static tenon_status_t describe_ports(counting_t* c, tenon__dim_pool_t* pool,
                                     const node_ports_t* node,
                                     const tenon__scope_port_t** out_ports) {
  const uint32_t slots =
      node->value_count > node->port_count ? node->value_count : node->port_count;
  tenon__scope_value_t* values = tenon__arena_allocate(c->arena, slots, sizeof(*values));
  TENON_TRY_MEMORY(values != NULL);
  for (uint32_t k = 0; k < slots; ++k) {
    const uint32_t value = k < node->value_count ? node->values[k] : TENON_NONE;
    TENON_TRY(describe_value(c, pool, value, &values[k]));
    values[k].argument = k;
  }
  *out_ports =
      tenon__scope_ports(c->arena, node->ports, node->port_count, values, node->value_count);
  return *out_ports == NULL ? TENON_ERROR_OUT_OF_MEMORY : TENON_OK;
}

static tenon_status_t evaluate_operations(counting_t* c, tenon__dim_pool_t* pool,
                                          const tenon__node_t* node, int64_t* out_count) {
  static const tenon_sink_t silence = {NULL, NULL};
  const tenon__descriptor_t* op = &node->op->descriptor;
  tenon__scope_t scope = {.pool = pool,
                          .input_count = op->input_count,
                          .output_count = op->output_count,
                          .attribute_count = node->attribute_count,
                          .attributes = node->attributes};
  const node_ports_t inputs = {op->inputs, op->input_count, node->input_count, node->inputs};
  const node_ports_t outputs = {op->outputs, op->output_count, node->output_count, node->outputs};
  TENON_TRY(describe_ports(c, pool, &inputs, &scope.inputs));
  TENON_TRY(describe_ports(c, pool, &outputs, &scope.outputs));
  return tenon__count_evaluate(&scope, node->op->operations, &silence, out_count);
}

static tenon_status_t count_operator(counting_t* c, const tenon__node_t* node) {
  tenon__dim_pool_t* pool = NULL;
  int64_t count = 0;
  if (node->op == NULL || node->op->operations == NULL) {
    c->work.operations_known = false;
    return TENON_OK;
  }
  TENON_TRY(tenon__dim_pool_create(c->arena->allocator, &pool));
  const tenon_status_t status = evaluate_operations(c, pool, node, &count);
  tenon__dim_pool_destroy(pool);
  TENON_TRY_MEMORY(status != TENON_ERROR_OUT_OF_MEMORY);
  c->work.operations_known = c->work.operations_known && status == TENON_OK;
  c->work.operations += status == TENON_OK ? (double)count : 0;
  return TENON_OK;
}

static tenon_status_t count_node(counting_t* c, uint32_t index) {
  const tenon__node_t* node = &c->graph->nodes[index];
  if (node->expression != NULL) {
    count_expression(c, node->expression);
    return TENON_OK;
  }
  return node->maps != NULL ? TENON_OK : count_operator(c, node);
}

/* ---- Steps that could have been computed once ---- */

static bool is_pure(const tenon__graph_t* graph, const struct tenon_region_t* region) {
  for (uint32_t k = 0; k < region->covered_count; ++k) {
    const tenon__operator_t* op = graph->nodes[region->covered[k]].op;
    if (op != NULL && op->traits.impure) {
      return false;
    }
  }
  return true;
}

/* Are all the places that it reads known to be the same in each run? */
static bool reads_constants(const tenon__schedule_t* schedule, const tenon__step_t* step,
                            const bool* constant) {
  for (uint32_t k = 0; k < step->input_count; ++k) {
    const uint32_t root =
        step->inputs[k] == TENON_NONE ? TENON_NONE : tenon__place_root(schedule, step->inputs[k]);
    if (root != TENON_NONE && !constant[root]) {
      return false;
    }
  }
  return true;
}

static tenon_status_t find_constant(counting_t* c, const tenon__schedule_t* schedule,
                                    uint32_t step) {
  bool* constant = tenon__arena_allocate(c->arena, schedule->place_count, sizeof(*constant));
  TENON_TRY_MEMORY(constant != NULL);
  for (uint32_t p = 0; p < schedule->place_count; ++p) {
    constant[p] = schedule->places[p].storage == TENON_STORAGE_WEIGHTS;
  }
  for (uint32_t s = 0; s <= step; ++s) {
    const tenon__step_t* at = &schedule->steps[s];
    c->work.is_constant = at->kind == TENON_STEP_KERNEL && is_pure(c->graph, at->region) &&
                          reads_constants(schedule, at, constant);
    for (uint32_t k = 0; k < at->output_count; ++k) {
      if (at->outputs[k] != TENON_NONE && c->work.is_constant) {
        constant[tenon__place_root(schedule, at->outputs[k])] = true;
      }
    }
  }
  return TENON_OK;
}

/* ---- Numbers that shapes are made of ---- */

static bool is_content(const tenon__network_t* network, uint32_t graph, uint32_t value) {
  for (uint32_t k = 0; k < tenon__symbol_count(network->pool); ++k) {
    const tenon__symbol_t* symbol = tenon__symbol_get(network->pool, k);
    uint32_t of_graph = 0;
    uint32_t of_value = 0;
    uint32_t index = 0;
    if (symbol->kind == TENON_SYMBOL_CONTENT &&
        tenon__symbol_source(network, symbol, &of_graph, &of_value, &index) && of_graph == graph &&
        of_value == value) {
      return true;
    }
  }
  return false;
}

/* Are all the numbers of all its results read as numbers of shapes, while the network runs? */
static bool makes_shapes(const tenon__network_t* network, uint32_t graph,
                         const struct tenon_region_t* region) {
  bool makes = region->covered_count > 0;
  for (uint32_t k = 0; k < region->output_count && makes; ++k) {
    const uint32_t value = region->outputs[k].value;
    makes = value == TENON_NONE || is_content(network, graph, value);
  }
  return makes;
}

/* ---- A step ---- */

tenon_status_t tenon__step_work(const tenon__plan_t* plan, uint32_t graph, uint32_t step,
                                const tenon__extents_t* extents, tenon__work_t* out_work) {
  const tenon__step_t* s = &plan->schedules[graph].steps[step];
  tenon__arena_t arena;
  counting_t c = {.graph = plan->network->graphs[graph],
                  .extents = extents,
                  .arena = &arena,
                  .work = {.operations_known = s->kind == TENON_STEP_KERNEL}};
  tenon_status_t status = TENON_OK;
  if (s->kind == TENON_STEP_KERNEL) {
    tenon__arena_initialize(&arena, plan->allocator);
    count_bytes(&c, s->region);
    c.work.is_copy = s->region->covered_count == 0;
    c.work.is_elementwise = is_elementwise(s->region);
    c.work.is_shape = makes_shapes(plan->network, graph, s->region);
    status = find_constant(&c, &plan->schedules[graph], step);
    for (uint32_t k = 0; k < s->region->covered_count && status == TENON_OK; ++k) {
      status = count_node(&c, s->region->covered[k]);
    }
    tenon__arena_deinitialize(&arena);
  }
  if (status == TENON_OK) {
    *out_work = c.work;
  }
  return status;
}

tenon_status_t tenon__region_operations(tenon_allocator_t allocator,
                                        const struct tenon_region_t* region,
                                        const tenon__extents_t* extents, double* out_operations) {
  tenon__arena_t arena;
  counting_t c = {
      .graph = region->network->graphs[region->graph], .extents = extents, .arena = &arena};
  tenon_status_t status = TENON_OK;
  tenon__arena_initialize(&arena, allocator);
  for (uint32_t k = 0; k < region->covered_count && status == TENON_OK; ++k) {
    status = count_node(&c, region->covered[k]);
  }
  tenon__arena_deinitialize(&arena);
  *out_operations = c.work.operations;
  return status;
}
