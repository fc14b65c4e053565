/*
 * The network before the optimiser goes into the plan. Its structure is small; of its weights the
 * plan keeps those that the outputs need, so that weights that the optimiser derived can be made
 * again from them, and all of the plan when its plugins are others. Reading it: original.c.
 */
#include "core/builder/keep_original.h"

#include <string.h>

#include "core/base/bytes.h"
#include "core/base/status.h"
#include "core/dimension/dimension_pool.h"
#include "core/dimension/dimension_text.h"
#include "core/network/order.h"
#include "core/plan_file/network_file.h"
#include "core/plan_file/network_writer.h"

/* ---- What the outputs need ---- */

typedef struct marking_t {
  const tenon__network_t* network;
  tenon__arena_t* arena;
  bool** values; /* of each graph: is it needed? */
  bool* weights;
} marking_t;

static void mark_node(const marking_t* m, bool* values, const tenon__node_t* node) {
  bool is_needed = false;
  for (uint32_t k = 0; k < node->output_count; ++k) {
    is_needed = is_needed || (node->outputs[k] != TENON_NONE && values[node->outputs[k]]);
  }
  if (!is_needed) {
    return;
  }
  TENON_EACH_INPUT(k, node) {
    values[node->inputs[k]] = true;
  }
  for (uint32_t k = 0; k < node->body_count; ++k) {
    const tenon__graph_t* body = m->network->graphs[node->bodies[k]];
    for (uint32_t r = 0; r < body->output_count; ++r) {
      m->values[node->bodies[k]][body->outputs[r]] = true;
    }
  }
}

/* Backwards from what is needed already. Graphs come before the bodies of their nodes. */
static tenon_status_t mark_graph(const marking_t* m, uint32_t index) {
  const tenon__graph_t* graph = m->network->graphs[index];
  const uint32_t* order = NULL;
  uint32_t count = 0;
  TENON_TRY(tenon__graph_order(m->network, index, m->arena, NULL, &order, &count));
  while (count > 0) {
    mark_node(m, m->values[index], &graph->nodes[order[--count]]);
  }
  for (uint32_t v = 0; v < graph->value_count; ++v) {
    if (m->values[index][v] && graph->values[v].weights != TENON_NONE) {
      m->weights[graph->values[v].weights] = true;
    }
  }
  return TENON_OK;
}

tenon_status_t tenon__network_mark_needed(const tenon__network_t* network, tenon__arena_t* arena,
                                          bool* out_weights) {
  marking_t m = {.network = network, .arena = arena, .weights = out_weights};
  m.values = tenon__arena_allocate(arena, network->graph_count + 1u, sizeof *m.values);
  TENON_TRY_MEMORY(m.values != NULL);
  for (uint32_t g = 0; g < network->graph_count; ++g) {
    m.values[g] = tenon__arena_allocate(arena, network->graphs[g]->value_count + 1u, sizeof(bool));
    TENON_TRY_MEMORY(m.values[g] != NULL);
  }
  const tenon__graph_t* main = network->graphs[0];
  for (uint32_t k = 0; k < main->output_count; ++k) {
    m.values[0][main->outputs[k]] = true;
  }
  for (uint32_t k = 0; k < network->state_count; ++k) {
    if (network->states[k].update != TENON_NONE) {
      m.values[0][network->states[k].update] = true;
    }
  }
  for (uint32_t g = 0; g < network->graph_count; ++g) {
    TENON_TRY(mark_graph(&m, g));
  }
  return TENON_OK;
}

/* ---- The original ---- */

static tenon__names_t names_of(const char* const* items) {
  tenon__names_t names = {.items = items};
  while (items != NULL && items[names.count] != NULL) {
    names.count += 1;
  }
  return names;
}

tenon_status_t tenon__building_keep_original(tenon__building_t* b) {
  tenon__plan_t* plan = b->plan;
  tenon__byte_writer_t writer;
  tenon__arena_t arena;
  if (b->options->tuned_only) {
    return TENON_OK;
  }
  b->is_original = tenon__arena_allocate(&plan->arena, plan->network->weights_count + 1u,
                                         sizeof *b->is_original);
  TENON_TRY_MEMORY(b->is_original != NULL);
  b->original_count = plan->network->weights_count;
  tenon__arena_initialize(&arena, b->allocator);
  tenon__byte_writer_initialize(&writer, b->allocator);
  tenon_status_t status = tenon__network_mark_needed(plan->network, &arena, b->is_original);
  if (status == TENON_OK) {
    tenon__network_write(plan->network, &writer);
    plan->original = (tenon__plan_original_t){
        .data = writer.failed ? NULL : tenon__arena_copy(&plan->arena, writer.data, writer.size),
        .size_bytes = writer.size,
        .patch_limit = b->options->optimizer_limit,
        .workspace_limit_bytes = b->options->tuning.workspace_limit_bytes,
        .exclude = names_of(b->options->tuning.exclude),
        .node_devices = names_of(b->options->node_devices),
        .kept = names_of(b->options->kept)};
    status = plan->original.data == NULL ? TENON_ERROR_OUT_OF_MEMORY : TENON_OK;
  }
  tenon__byte_writer_deinitialize(&writer);
  tenon__arena_deinitialize(&arena);
  return status;
}

/* ---- Signatures ---- */

typedef struct hasher_t {
  const tenon__network_t* network;
  tenon__arena_t arena;
  tenon__digest_state_t state;
  bool failed;
} hasher_t;

static void add_text(hasher_t* hasher, const char* text) {
  hasher->failed = hasher->failed || text == NULL;
  if (text != NULL) {
    tenon__digest_add(&hasher->state, text, strlen(text) + 1);
  }
}

static void add_numbers(hasher_t* hasher, const uint32_t* numbers, uint32_t count) {
  tenon__digest_add(&hasher->state, &count, sizeof count);
  if (count > 0) {
    tenon__digest_add(&hasher->state, numbers, count * sizeof *numbers);
  }
}

/* Numbers that a fold found count, whatever symbol they were found for. */
static void add_dims(hasher_t* hasher, const tenon_dim_t* dims, uint32_t count) {
  if (dims == NULL) {
    return;
  }
  for (uint32_t k = 0; k < count; ++k) {
    int64_t number = 0;
    if (tenon__dim_known(hasher->network->pool, dims[k], &number)) {
      tenon__digest_add(&hasher->state, &number, sizeof number);
      continue;
    }
    add_text(hasher, tenon__dim_text(hasher->network->pool, dims[k], &hasher->arena));
  }
}

static void add_attributes(hasher_t* hasher, const tenon__node_t* node) {
  tenon__byte_writer_t writer;
  tenon__byte_writer_initialize(&writer, hasher->network->allocator);
  for (uint32_t k = 0; k < node->attribute_count; ++k) {
    tenon__attribute_write(&node->attributes[k], &writer);
  }
  hasher->failed = hasher->failed || writer.failed;
  if (!writer.failed && writer.size > 0) {
    tenon__digest_add(&hasher->state, writer.data, writer.size);
  }
  tenon__byte_writer_deinitialize(&writer);
}

static void add_expression(hasher_t* hasher, const tenon__expression_t* expression) {
  const tenon_program_t* program = &expression->program;
  for (uint32_t k = 0; k < program->instruction_count; ++k) {
    const tenon_instruction_t* in = &program->instructions[k];
    const uint32_t numbers[] = {in->opcode, in->dtype, in->operands[0], in->operands[1],
                                in->operands[2]};
    add_numbers(hasher, numbers, 5);
    tenon__digest_add(&hasher->state, &in->immediate, sizeof in->immediate);
  }
  for (uint32_t k = 0; k < program->operand_count; ++k) {
    add_numbers(hasher, &program->operands[k].index, 1);
    add_dims(hasher, expression->accesses[k].coordinates, expression->accesses[k].rank);
  }
  add_dims(hasher, expression->space, program->rank);
}

static void add_node(hasher_t* hasher, const tenon__node_t* node) {
  const uint32_t form[] = {(uint32_t)node->form, node->contents_only ? 1 : 0};
  add_text(hasher, node->op == NULL ? "" : node->op->name);
  add_numbers(hasher, form, 2);
  add_numbers(hasher, node->bodies, node->body_count);
  add_attributes(hasher, node);
  if (node->expression != NULL) {
    add_expression(hasher, node->expression);
  }
  add_numbers(hasher, node->inputs, node->input_count);
  add_numbers(hasher, node->outputs, node->output_count);
  for (uint32_t k = 0; node->maps != NULL && k < node->output_count; ++k) {
    const tenon__index_map_t* map = &node->maps[k];
    add_dims(hasher, map->dims, map->rank);
    for (uint32_t s = 0; s < map->source_count; ++s) {
      add_numbers(hasher, &map->sources[s].input, 1);
      add_dims(hasher, map->sources[s].dims, map->sources[s].rank);
      add_dims(hasher, map->sources[s].coordinates, map->sources[s].rank);
    }
  }
}

static void add_graph(hasher_t* hasher, const tenon__graph_t* graph) {
  for (uint32_t v = 0; v < graph->value_count; ++v) {
    const tenon__value_node_t* value = &graph->values[v];
    const uint32_t numbers[] = {
        v, value->type.kind, value->type.dtype, value->type.rank, value->state, value->weights};
    if (value->alive) {
      add_numbers(hasher, numbers, 6);
      add_dims(hasher, value->type.dims, value->type.rank);
    }
  }
  add_text(hasher, graph->fault == NULL ? "" : graph->fault);
  add_numbers(hasher, graph->inputs, graph->input_count);
  add_numbers(hasher, graph->outputs, graph->output_count);
  for (uint32_t n = 0; n < graph->node_count; ++n) {
    if (graph->nodes[n].alive) {
      add_numbers(hasher, &n, 1);
      add_node(hasher, &graph->nodes[n]);
    }
  }
}

tenon_status_t tenon__network_signature(const tenon__network_t* network,
                                        tenon__digest_t* out_digest) {
  hasher_t hasher = {.network = network};
  tenon__arena_initialize(&hasher.arena, network->allocator);
  tenon__digest_begin(&hasher.state);
  for (uint32_t k = 0; k < network->weights_count; ++k) {
    add_text(&hasher, network->weights[k].name);
    add_numbers(&hasher, &network->weights[k].dtype, 1);
  }
  for (uint32_t g = 0; g < network->graph_count; ++g) {
    add_graph(&hasher, network->graphs[g]);
  }
  *out_digest = tenon__digest_end(&hasher.state);
  tenon__arena_deinitialize(&hasher.arena);
  return hasher.failed ? TENON_ERROR_OUT_OF_MEMORY : TENON_OK;
}

tenon_status_t tenon__building_fingerprint(tenon__building_t* b) {
  return b->plan->original.data == NULL
             ? TENON_OK
             : tenon__network_signature(b->plan->network, &b->plan->original.optimised);
}
