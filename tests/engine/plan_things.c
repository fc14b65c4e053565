/* What of a plan in memory can be set by name. Counts, ranks and what says of which form a thing is
 * cannot: the writer would read past its arrays. Those are changed in the file. */
#include "tests/engine/plan_things.h"

#include <string.h>

#include "core/base/allocator.h"
#include "core/base/arena.h"
#include "core/dimension/extents.h"
#include "core/language/scope.h"
#include "core/network/network.h"
#include "core/plan/plan.h"

#define COUNT_OF(array) (uint32_t)(sizeof(array) / sizeof((array)[0]))
#define FIELD(type, member) \
  { #member, offsetof(type, member), sizeof(((type*)NULL)->member), 0, 0, false }
#define LIST(type, member, counter)                                                           \
  {                                                                                           \
#member, offsetof(type, member), sizeof(*((type*)NULL)->member), offsetof(type, counter), \
        sizeof(((type*)NULL)->counter), false                                                 \
  }
/* A list that its owner frees. */
#define OWN_LIST(type, member, counter)                                                       \
  {                                                                                           \
#member, offsetof(type, member), sizeof(*((type*)NULL)->member), offsetof(type, counter), \
        sizeof(((type*)NULL)->counter), true                                                  \
  }

/* ---- Finding ---- */

/* One of `count` things. */
static uint32_t pick(const edit_id_t* id, uint32_t count) {
  return count == 0 ? 0 : (uint32_t)(id->number % count);
}

static uint32_t graph_of(const tenon__plan_t* plan, const edit_id_t* id) {
  return pick(id, plan->network->graph_count);
}

static void* find_plan(tenon__plan_t* plan, const edit_id_t* ids) {
  (void)ids;
  return plan;
}

static void* find_graph(tenon__plan_t* plan, const edit_id_t* ids) {
  return plan->network->graphs[graph_of(plan, &ids[0])];
}

static void* find_schedule(tenon__plan_t* plan, const edit_id_t* ids) {
  return &plan->schedules[graph_of(plan, &ids[0])];
}

tenon__value_node_t* edit_find_value(tenon__plan_t* plan, const edit_id_t* ids) {
  tenon__graph_t* graph = plan->network->graphs[graph_of(plan, &ids[0])];
  for (uint32_t k = 0; ids[1].name[0] != '\0' && k < graph->value_count; ++k) {
    if (graph->values[k].alive && strcmp(graph->values[k].name, ids[1].name) == 0) {
      return &graph->values[k];
    }
  }
  const uint32_t value = pick(&ids[1], graph->value_count);
  return graph->value_count > 0 && graph->values[value].alive ? &graph->values[value] : NULL;
}

static void* find_value(tenon__plan_t* plan, const edit_id_t* ids) {
  return edit_find_value(plan, ids);
}

static void* find_place(tenon__plan_t* plan, const edit_id_t* ids) {
  const uint32_t g = graph_of(plan, &ids[0]);
  tenon__schedule_t* schedule = &plan->schedules[g];
  const tenon__graph_t* graph = plan->network->graphs[g];
  for (uint32_t k = 0; ids[1].name[0] != '\0' && k < schedule->place_count; ++k) {
    const uint32_t value = schedule->places[k].value; /* an edit before this one may have set it */
    if (value < graph->value_count && strcmp(graph->values[value].name, ids[1].name) == 0) {
      return &schedule->places[k];
    }
  }
  return schedule->place_count == 0 ? NULL
                                    : &schedule->places[pick(&ids[1], schedule->place_count)];
}

static tenon__step_t* step_of(tenon__plan_t* plan, const edit_id_t* ids) {
  tenon__schedule_t* schedule = &plan->schedules[graph_of(plan, &ids[0])];
  for (uint32_t k = 0; ids[1].name[0] != '\0' && k < schedule->step_count; ++k) {
    if (strcmp(schedule->steps[k].name, ids[1].name) == 0) {
      return &schedule->steps[k];
    }
  }
  return schedule->step_count == 0 ? NULL : &schedule->steps[pick(&ids[1], schedule->step_count)];
}

static void* find_step(tenon__plan_t* plan, const edit_id_t* ids) {
  return step_of(plan, ids);
}

static struct tenon_region_t* region_of(tenon__plan_t* plan, const edit_id_t* ids) {
  const tenon__step_t* step = step_of(plan, ids);
  return step == NULL ? NULL : tenon__drop_const(step->region);
}

static void* find_region(tenon__plan_t* plan, const edit_id_t* ids) {
  return region_of(plan, ids);
}

static void* find_tactic(tenon__plan_t* plan, const edit_id_t* ids) {
  tenon__step_t* step = step_of(plan, ids);
  return step == NULL || step->kind != TENON_STEP_KERNEL ? NULL : &step->tactic;
}

static void* find_region_input(tenon__plan_t* plan, const edit_id_t* ids) {
  const struct tenon_region_t* region = region_of(plan, ids);
  tenon__region_input_t* inputs = region == NULL ? NULL : tenon__drop_const(region->inputs);
  return inputs == NULL || region->input_count == 0 ? NULL
                                                    : &inputs[pick(&ids[2], region->input_count)];
}

static void* find_region_output(tenon__plan_t* plan, const edit_id_t* ids) {
  const struct tenon_region_t* region = region_of(plan, ids);
  tenon__region_output_t* outputs = region == NULL ? NULL : tenon__drop_const(region->outputs);
  return outputs == NULL || region->output_count == 0
             ? NULL
             : &outputs[pick(&ids[2], region->output_count)];
}

static void* find_slot(tenon__plan_t* plan, const edit_id_t* ids) {
  const struct tenon_region_t* region = region_of(plan, ids);
  tenon__region_slot_t* slots = region == NULL ? NULL : tenon__drop_const(region->slots);
  return slots == NULL || region->slot_count == 0 ? NULL
                                                  : &slots[pick(&ids[2], region->slot_count)];
}

/* Of the region's own program, or of its first slot. */
static tenon_program_t* program_of(tenon__plan_t* plan, const edit_id_t* ids) {
  const struct tenon_region_t* region = region_of(plan, ids);
  const tenon__expression_t* expression = region == NULL ? NULL : region->expression;
  if (expression == NULL && region != NULL && region->slot_count > 0) {
    expression = &region->slots[0].expression;
  }
  return expression == NULL ? NULL : tenon__drop_const(&expression->program);
}

static void* find_instruction(tenon__plan_t* plan, const edit_id_t* ids) {
  const tenon_program_t* program = program_of(plan, ids);
  tenon_instruction_t* items = program == NULL ? NULL : tenon__drop_const(program->instructions);
  return items == NULL || program->instruction_count == 0
             ? NULL
             : &items[pick(&ids[2], program->instruction_count)];
}

static void* find_operand(tenon__plan_t* plan, const edit_id_t* ids) {
  const tenon_program_t* program = program_of(plan, ids);
  tenon_operand_t* items = program == NULL ? NULL : tenon__drop_const(program->operands);
  return items == NULL || program->operand_count == 0
             ? NULL
             : &items[pick(&ids[2], program->operand_count)];
}

static void* find_program_output(tenon__plan_t* plan, const edit_id_t* ids) {
  const tenon_program_t* program = program_of(plan, ids);
  tenon_program_output_t* items = program == NULL ? NULL : tenon__drop_const(program->outputs);
  return items == NULL || program->output_count == 0 ? NULL
                                                     : &items[pick(&ids[2], program->output_count)];
}

/* Of a step that moves. */
static void* find_source(tenon__plan_t* plan, const edit_id_t* ids) {
  const struct tenon_region_t* region = region_of(plan, ids);
  const tenon__index_map_t* map = region == NULL ? NULL : region->map;
  tenon__map_source_t* sources = map == NULL ? NULL : tenon__drop_const(map->sources);
  return sources == NULL || map->source_count == 0 ? NULL
                                                   : &sources[pick(&ids[2], map->source_count)];
}

static tenon__node_t* node_of(tenon__plan_t* plan, const edit_id_t* ids) {
  tenon__graph_t* graph = plan->network->graphs[graph_of(plan, &ids[0])];
  for (uint32_t k = 0; ids[1].name[0] != '\0' && k < graph->node_count; ++k) {
    if (graph->nodes[k].alive && strcmp(graph->nodes[k].name, ids[1].name) == 0) {
      return &graph->nodes[k];
    }
  }
  const uint32_t node = pick(&ids[1], graph->node_count);
  return graph->node_count > 0 && graph->nodes[node].alive ? &graph->nodes[node] : NULL;
}

static void* find_node(tenon__plan_t* plan, const edit_id_t* ids) {
  return node_of(plan, ids);
}

/* A copy of the node's own: some are the operator's. */
static void* find_attribute(tenon__plan_t* plan, const edit_id_t* ids) {
  tenon__node_t* node = node_of(plan, ids);
  if (node == NULL || node->attribute_count == 0) {
    return NULL;
  }
  tenon__scope_attribute_t* own = tenon__arena_copy(
      &plan->arena, node->attributes, node->attribute_count * sizeof *node->attributes);
  if (own == NULL) {
    return NULL;
  }
  node->attributes = own;
  for (uint32_t k = 0; ids[2].name[0] != '\0' && k < node->attribute_count; ++k) {
    if (strcmp(own[k].name, ids[2].name) == 0) {
      return &own[k];
    }
  }
  return &own[pick(&ids[2], node->attribute_count)];
}

static uint32_t weights_of(const tenon__plan_t* plan, const edit_id_t* id) {
  const tenon__network_t* network = plan->network;
  for (uint32_t k = 0; id->name[0] != '\0' && k < network->weights_count; ++k) {
    if (strcmp(network->weights[k].name, id->name) == 0) {
      return k;
    }
  }
  return pick(id, network->weights_count);
}

static void* find_kept(tenon__plan_t* plan, const edit_id_t* ids) {
  bool* kept = tenon__drop_const(plan->weights_kept);
  return kept == NULL || plan->network->weights_count == 0 ? NULL
                                                           : &kept[weights_of(plan, &ids[0])];
}

static void* find_weights(tenon__plan_t* plan, const edit_id_t* ids) {
  return plan->network->weights_count == 0 ? NULL
                                           : &plan->network->weights[weights_of(plan, &ids[0])];
}

static void* find_state(tenon__plan_t* plan, const edit_id_t* ids) {
  return plan->network->state_count == 0
             ? NULL
             : &plan->network->states[pick(&ids[0], plan->network->state_count)];
}

static void* find_handle(tenon__plan_t* plan, const edit_id_t* ids) {
  return plan->network->handle_count == 0
             ? NULL
             : &plan->network->handles[pick(&ids[0], plan->network->handle_count)];
}

static void* find_plugin(tenon__plan_t* plan, const edit_id_t* ids) {
  return plan->plugin_count == 0 ? NULL : &plan->plugins[pick(&ids[0], plan->plugin_count)];
}

static void* find_point(tenon__plan_t* plan, const edit_id_t* ids) {
  tenon__extents_t* points[3] = {&plan->profile.min, &plan->profile.optimum, &plan->profile.max};
  return points[pick(&ids[0], 3)];
}

/* ---- The list ---- */

static const edit_field_t plan_fields[] = {
    FIELD(tenon__plan_t, devices[0].scratch_bytes), FIELD(tenon__plan_t, devices[0].zeroed_bytes),
    FIELD(tenon__plan_t, devices[0].persistent_bytes), FIELD(tenon__plan_t, thread_count),
    FIELD(tenon__plan_t, flags)};
static const edit_field_t graph_fields[] = {
    FIELD(tenon__graph_t, parent), FIELD(tenon__graph_t, owner),
    FIELD(tenon__graph_t, fault_status), OWN_LIST(tenon__graph_t, inputs, input_count),
    OWN_LIST(tenon__graph_t, outputs, output_count)};
static const edit_field_t schedule_fields[] = {
    FIELD(tenon__schedule_t, memory_bytes[0]), FIELD(tenon__schedule_t, alive_bytes[0]),
    LIST(tenon__schedule_t, inputs, input_count), LIST(tenon__schedule_t, outputs, output_count)};
static const edit_field_t place_fields[] = {
    FIELD(tenon__place_t, value),      FIELD(tenon__place_t, storage), FIELD(tenon__place_t, index),
    FIELD(tenon__place_t, base),       FIELD(tenon__place_t, offset),  FIELD(tenon__place_t, alias),
    FIELD(tenon__place_t, size_bytes), FIELD(tenon__place_t, space)};
static const edit_field_t step_fields[] = {
    FIELD(tenon__step_t, kernel_version),     FIELD(tenon__step_t, node),
    FIELD(tenon__step_t, body_offset[0]),     FIELD(tenon__step_t, device),
    FIELD(tenon__step_t, zeroed_offset),      FIELD(tenon__step_t, persistent_offset),
    LIST(tenon__step_t, inputs, input_count), LIST(tenon__step_t, outputs, output_count)};
static const edit_field_t tactic_fields[] = {FIELD(tenon__step_tactic_t, scratch_bytes),
                                             FIELD(tenon__step_tactic_t, zeroed_bytes),
                                             FIELD(tenon__step_tactic_t, scratch_bytes_per_thread),
                                             FIELD(tenon__step_tactic_t, persistent_bytes),
                                             FIELD(tenon__step_tactic_t, flags),
                                             FIELD(tenon__step_tactic_t, launches)};
static const edit_field_t region_fields[] = {LIST(struct tenon_region_t, nodes, node_count),
                                             LIST(struct tenon_region_t, covered, covered_count)};
static const edit_field_t region_input_fields[] = {
    FIELD(tenon__region_input_t, value), FIELD(tenon__region_input_t, space),
    LIST(tenon__region_input_t, access.coordinates, access.rank)};
static const edit_field_t slot_fields[] = {FIELD(tenon__region_slot_t, slot),
                                           FIELD(tenon__region_slot_t, kind),
                                           FIELD(tenon__region_slot_t, index)};
static const edit_field_t region_output_fields[] = {FIELD(tenon__region_output_t, value),
                                                    LIST(tenon__region_output_t, axes, axis_count)};
static const edit_field_t instruction_fields[] = {
    FIELD(tenon_instruction_t, opcode),      FIELD(tenon_instruction_t, dtype),
    FIELD(tenon_instruction_t, operands[0]), FIELD(tenon_instruction_t, operands[1]),
    FIELD(tenon_instruction_t, operands[2]), FIELD(tenon_instruction_t, immediate)};
static const edit_field_t operand_fields[] = {
    FIELD(tenon_operand_t, kind), FIELD(tenon_operand_t, index), FIELD(tenon_operand_t, dtype),
    FIELD(tenon_operand_t, broadcast_axes)};
static const edit_field_t program_output_fields[] = {
    FIELD(tenon_program_output_t, instruction), FIELD(tenon_program_output_t, dtype),
    FIELD(tenon_program_output_t, index), FIELD(tenon_program_output_t, reduced_axes)};
static const edit_field_t source_fields[] = {FIELD(tenon__map_source_t, input),
                                             LIST(tenon__map_source_t, dims, rank),
                                             LIST(tenon__map_source_t, coordinates, rank)};
static const edit_field_t value_fields[] = {
    FIELD(tenon__value_node_t, flags),
    FIELD(tenon__value_node_t, type.kind),
    FIELD(tenon__value_node_t, type.dtype),
    FIELD(tenon__value_node_t, producer),
    FIELD(tenon__value_node_t, producer_output),
    FIELD(tenon__value_node_t, weights),
    FIELD(tenon__value_node_t, state),
    FIELD(tenon__value_node_t, handle),
    LIST(tenon__value_node_t, type.dims, type.rank),
    LIST(tenon__value_node_t, type.contents, type.content_count)};
static const edit_field_t node_fields[] = {
    FIELD(tenon__node_t, order), FIELD(tenon__node_t, contents_only),
    LIST(tenon__node_t, inputs, input_count), LIST(tenon__node_t, outputs, output_count),
    LIST(tenon__node_t, bodies, body_count)};
static const edit_field_t attribute_fields[] = {FIELD(tenon__scope_attribute_t, integer),
                                                FIELD(tenon__scope_attribute_t, number),
                                                LIST(tenon__scope_attribute_t, integers, count)};
static const edit_field_t kept_fields[] = {{"kept", 0, sizeof(bool), 0, 0, false}};
static const edit_field_t weights_fields[] = {LIST(tenon__weights_t, dims, rank)};
static const edit_field_t state_fields[] = {
    FIELD(tenon__state_node_t, dtype), FIELD(tenon__state_node_t, initial),
    FIELD(tenon__state_node_t, read), FIELD(tenon__state_node_t, update),
    LIST(tenon__state_node_t, dims, rank)};
static const edit_field_t handle_fields[] = {FIELD(tenon__value_handle_t, graph),
                                             FIELD(tenon__value_handle_t, value),
                                             FIELD(tenon__value_handle_t, axis)};
static const edit_field_t plugin_fields[] = {
    {"digest", offsetof(tenon__plan_plugin_t, digest), 1, 0, 0, false}};
static const edit_field_t point_fields[] = {LIST(tenon__extents_t, symbol_values, symbol_count),
                                            LIST(tenon__extents_t, symbol_known, symbol_count)};

#define THING(word, ids, finder, list) \
  { word, finder, list, COUNT_OF(list), ids }

const edit_thing_t edit_things[] = {
    THING("plan", 0, find_plan, plan_fields),
    THING("graph", 1, find_graph, graph_fields),
    THING("schedule", 1, find_schedule, schedule_fields),
    THING("place", 2, find_place, place_fields),
    THING("step", 2, find_step, step_fields),
    THING("tactic", 2, find_tactic, tactic_fields),
    THING("region", 2, find_region, region_fields),
    THING("region_input", 3, find_region_input, region_input_fields),
    THING("region_output", 3, find_region_output, region_output_fields),
    THING("slot", 3, find_slot, slot_fields),
    THING("instruction", 3, find_instruction, instruction_fields),
    THING("operand", 3, find_operand, operand_fields),
    THING("program_output", 3, find_program_output, program_output_fields),
    THING("source", 3, find_source, source_fields),
    THING("value", 2, find_value, value_fields),
    THING("node", 2, find_node, node_fields),
    THING("attribute", 3, find_attribute, attribute_fields),
    THING("kept", 1, find_kept, kept_fields),
    THING("weights", 1, find_weights, weights_fields),
    THING("state", 1, find_state, state_fields),
    THING("handle", 1, find_handle, handle_fields),
    THING("plugin", 1, find_plugin, plugin_fields),
    THING("profile", 1, find_point, point_fields),
};
const uint32_t edit_thing_count = COUNT_OF(edit_things);
