/*
 * Switch and Merge. Where the condition is known, what lies behind the other side is dead and is
 * not converted. Where it is not, both sides are computed, which is what a network without effects
 * may do, and Merge takes the elements of one.
 *
 * A node belongs to the innermost branch among those of its inputs, so that a Merge finds the
 * condition that it ends: its inputs are of two sides of one. A constant belongs to the side that
 * it waits for.
 */
#include <string.h>

#include "program.h"

static bool is_switch(const tenon__uff_node_t* node) {
  return strcmp(node->operation, "Switch") == 0;
}

static bool is_merge(const tenon__uff_node_t* node) {
  return strcmp(node->operation, "Merge") == 0;
}

static const tenon__uff_branch_t* branch_of(const tenon__uff_input_t* input) {
  const tenon__uff_node_t* node = input->node;
  return node->sides != NULL ? &node->sides[input->index == 1 ? 1 : 0] : node->branch;
}

static bool is_dead(const tenon__uff_input_t* input) {
  const tenon__uff_node_t* node = input->node;
  return node->is_dead || (is_switch(node) && node->outputs != NULL && !node->is_lacking &&
                           node->outputs[input->index].id == 0);
}

bool tenon__uff_control_is(const tenon__uff_program_t* program, const tenon__uff_node_t* node) {
  return program->graph.is_tensorflow && (is_merge(node) || is_switch(node));
}

void tenon__uff_control_count(const tenon__uff_program_t* program, tenon__uff_node_t* node) {
  uint32_t most = 0;
  for (uint32_t i = 0; i < node->input_count + node->control_count; ++i) {
    const tenon__uff_node_t* input = node->inputs[i].node;
    const uint32_t own = program->graph.is_tensorflow && is_switch(input) ? 1 : 0;
    most = input->switches + own > most ? input->switches + own : most;
  }
  node->switches = most - (program->graph.is_tensorflow && is_merge(node) && most > 0 ? 1 : 0);
}

void tenon__uff_control_enter(tenon__uff_program_t* program, tenon__uff_node_t* node) {
  if (!program->graph.is_tensorflow) {
    return;
  }
  const bool ends = is_merge(node); /* dead when all are, and of the branch around theirs */
  for (uint32_t i = 0; i < node->input_count + node->control_count; ++i) {
    const tenon__uff_input_t* input = &node->inputs[i];
    const tenon__uff_branch_t* branch = branch_of(input);
    node->is_lacking = node->is_lacking || input->node->is_lacking;
    node->is_dead = node->is_dead || (!ends && is_dead(input));
    if (!ends && branch != NULL && (node->branch == NULL || branch->depth > node->branch->depth)) {
      node->branch = branch;
    }
  }
}

static tenon_value_t value_of(const tenon__uff_input_t* input) {
  return input->node->outputs[input->index];
}

/* 1, 0, or -1 when only the run knows it. */
static tenon_status_t read_condition(tenon__uff_program_t* program, const tenon__uff_node_t* node,
                                     tenon_value_t value, int* out_known) {
  tenon_reader_t* reader = program->reader;
  tenon_value_type_t type = {.size = sizeof(type), .kind = TENON_ARGUMENT_ABSENT};
  int64_t content = 0;
  *out_known = -1;
  if (reader->build->type(reader->builder, value, &type) != TENON_OK ||
      type.kind != TENON_ARGUMENT_TENSOR) {
    return TENON_OK;
  }
  if (type.rank != 0) {
    return TENON_READER_FAIL(reader, TENON_ERROR_INVALID_DATA,
                             "%s: its condition has rank %u, it must be a scalar",
                             tenon__uff_node_text(reader, node), type.rank);
  }
  if (type.constant_data != NULL && type.dtype == TENON_DTYPE_BOOL) {
    *out_known = *(const uint8_t*)type.constant_data != 0;
  } else if (type.has_contents != 0 &&
             reader->build->content(reader->builder, value, 0, &content) == 1) {
    *out_known = content != 0;
  }
  return TENON_OK;
}

static tenon_status_t convert_switch(tenon__uff_program_t* program, tenon__uff_node_t* node) {
  tenon_reader_t* reader = program->reader;
  if (node->input_count != 2) {
    return TENON_READER_FAIL(reader, TENON_ERROR_INVALID_DATA, "%s: it has %u inputs, not 2",
                             tenon__uff_node_text(reader, node), node->input_count);
  }
  const tenon_value_t data = value_of(&node->inputs[0]);
  const tenon_value_t condition = value_of(&node->inputs[1]);
  int known = -1;
  TENON_READER_TRY(read_condition(program, node, condition, &known));
  if (known >= 0) {
    node->outputs[known] = data;
    return TENON_OK;
  }
  tenon__uff_branch_t* branches = tenon_reader_allocate(reader, 2, sizeof(*branches));
  if (branches == NULL) {
    return tenon_reader_fail_memory(reader);
  }
  const tenon__uff_branch_t* outer = node->branch;
  for (uint32_t side = 0; side < 2; ++side) {
    branches[side] =
        (tenon__uff_branch_t){outer, condition, side, outer == NULL ? 1 : outer->depth + 1};
    node->outputs[side] = data;
  }
  node->sides = branches;
  return TENON_OK;
}

/* The two branches, one inside of each input's, that are sides of one condition. */
static bool find_pair(const tenon__uff_branch_t* a, const tenon__uff_branch_t* b,
                      const tenon__uff_branch_t** out_a) {
  while (a != NULL && b != NULL) {
    if (a->condition.id == b->condition.id && a->side != b->side) {
      *out_a = a;
      return true;
    }
    if (a->depth > b->depth) {
      a = a->outer;
    } else if (b->depth > a->depth) {
      b = b->outer;
    } else {
      a = a->outer;
      b = b->outer;
    }
  }
  return false;
}

/* Whether both have the same extents, all of them known. */
static bool are_alike(const tenon_value_type_t* a, const tenon_value_type_t* b) {
  if (a->rank != b->rank || a->rank == TENON_NONE) {
    return false;
  }
  for (uint32_t i = 0; i < a->rank; ++i) {
    if (a->dims[i] < 0 || a->dims[i] != b->dims[i]) {
      return false;
    }
  }
  return true;
}

/* A body that takes both sides and gives one of them. */
static tenon_status_t add_side(tenon_reader_t* reader, const tenon_value_t sides[2],
                               uint32_t side) {
  tenon_value_t parameters[2];
  for (uint32_t i = 0; i < 2; ++i) {
    TENON_READER_TRY(reader->build->body_parameter_like(reader->builder, i == 0 ? "true" : "false",
                                                        sides[i], &parameters[i]));
  }
  return reader->build->body_result(reader->builder, parameters[side]);
}

/* Sides whose extents may differ: a choice of elements would repeat those of one. */
static tenon_status_t choose(tenon__uff_program_t* program, tenon__uff_node_t* node,
                             tenon_value_t condition, const tenon_value_t sides[2]) {
  const tenon_reader_t* reader = program->reader;
  const tenon_builder_table_t* build = reader->build;
  uint32_t bodies[2];
  for (uint32_t i = 0; i < 2; ++i) {
    TENON_READER_TRY(build->begin_body(reader->builder, node->name));
    const tenon_status_t status = add_side(program->reader, sides, i);
    if (status != TENON_OK) {
      build->cancel_body(reader->builder);
      return status;
    }
    TENON_READER_TRY(build->end_body(reader->builder, &bodies[i]));
  }
  TENON_READER_TRY(build->begin(reader->builder, "standard.branch/1", node->name));
  TENON_READER_TRY(build->add_input(reader->builder, condition));
  for (uint32_t i = 0; i < 2; ++i) {
    TENON_READER_TRY(build->add_input(reader->builder, sides[i]));
  }
  for (uint32_t i = 0; i < 2; ++i) {
    TENON_READER_TRY(build->add_body(reader->builder, bodies[i]));
  }
  TENON_READER_TRY(build->output_count(reader->builder, 1));
  return build->end(reader->builder, &node->outputs[0], 1);
}

static tenon_status_t select(tenon__uff_program_t* program, tenon__uff_node_t* node,
                             const tenon__uff_branch_t* branch) {
  static const char* const names[] = {"condition", "a", "b"};
  const tenon_reader_t* reader = program->reader;
  const tenon_value_t first = value_of(&node->inputs[0]);
  const tenon_value_t second = value_of(&node->inputs[1]);
  const tenon_value_t inputs[3] = {branch->condition, branch->side == 1 ? first : second,
                                   branch->side == 1 ? second : first};
  tenon_value_type_t types[2] = {{.size = sizeof(types[0])}, {.size = sizeof(types[1])}};
  node->branch = branch->outer;
  for (uint32_t i = 0; i < 2; ++i) {
    TENON_READER_TRY(reader->build->type(reader->builder, inputs[1 + i], &types[i]));
  }
  return are_alike(&types[0], &types[1])
             ? reader->build->expression(reader->builder, "y = condition ? a : b", names, inputs, 3,
                                         node->name, &node->outputs[0])
             : choose(program, node, inputs[0], inputs + 1);
}

static tenon_status_t convert_merge(tenon__uff_program_t* program, tenon__uff_node_t* node) {
  tenon_reader_t* reader = program->reader;
  const tenon__uff_input_t* alive = NULL;
  uint32_t count = 0;
  for (uint32_t i = 0; i < node->input_count; ++i) {
    if (!is_dead(&node->inputs[i])) {
      alive = &node->inputs[i];
      ++count;
    }
  }
  if (node->output_count > 1) {
    return TENON_READER_FAIL(reader, TENON_ERROR_UNSUPPORTED,
                             "%s: which of its inputs came is asked for, and is not converted",
                             tenon__uff_node_text(reader, node));
  }
  if (count == 0) {
    node->is_dead = true;
    return TENON_OK;
  }
  if (count == 1) {
    node->outputs[0] = value_of(alive);
    node->branch = branch_of(alive);
    return TENON_OK;
  }
  const tenon__uff_branch_t* branch = NULL;
  if (count != 2 || node->input_count != 2 ||
      !find_pair(branch_of(&node->inputs[0]), branch_of(&node->inputs[1]), &branch)) {
    return TENON_READER_FAIL(reader, TENON_ERROR_UNSUPPORTED,
                             "%s: the sides of a Switch for its inputs are unknown",
                             tenon__uff_node_text(reader, node));
  }
  return select(program, node, branch);
}

tenon_status_t tenon__uff_control_convert(tenon__uff_program_t* program, tenon__uff_node_t* node) {
  return is_merge(node) ? convert_merge(program, node) : convert_switch(program, node);
}
