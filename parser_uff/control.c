/*
 * Switch and Merge. Where the condition is known, what lies behind the other side is dead and is
 * not converted. Where it is not, both sides are computed, which is what a network without effects
 * may do, and Merge takes the elements of one.
 *
 * A node belongs to the innermost branch among those of its inputs, so that a Merge finds the
 * condition that it ends: its inputs are of two sides of one.
 */
#include <string.h>

#include "program.h"

static const tenon__uff_branch_t* branch_of(const tenon__uff_input_t* input) {
  const tenon__uff_node_t* node = input->node;
  const bool is_switch = strcmp(node->operation, "Switch") == 0;
  /* A Switch's two outputs are of two branches, side by side. */
  return is_switch && node->branch != NULL ? &node->branch[input->index == 1 ? 1 : 0]
                                           : node->branch;
}

static bool is_dead(const tenon__uff_input_t* input) {
  return input->node->is_dead ||
         (input->node->outputs != NULL && strcmp(input->node->operation, "Switch") == 0 &&
          input->node->outputs[input->index].id == 0);
}

static bool is_merge(const tenon__uff_node_t* node) {
  return strcmp(node->operation, "Merge") == 0 || strcmp(node->operation, "RefMerge") == 0;
}

bool tenon__uff_control_is(const tenon__uff_program_t* program, const tenon__uff_node_t* node) {
  return program->graph.is_tensorflow && (is_merge(node) || strcmp(node->operation, "Switch") == 0);
}

tenon_status_t tenon__uff_control_enter(tenon__uff_program_t* program, tenon__uff_node_t* node) {
  if (!program->graph.is_tensorflow || is_merge(node)) {
    return TENON_OK;
  }
  for (uint32_t i = 0; i < node->input_count; ++i) {
    const tenon__uff_branch_t* branch = branch_of(&node->inputs[i]);
    node->is_dead = node->is_dead || is_dead(&node->inputs[i]);
    if (branch != NULL && (node->branch == NULL || branch->depth > node->branch->depth)) {
      node->branch = branch;
    }
  }
  return TENON_OK;
}

static tenon_value_t value_of(const tenon__uff_input_t* input) {
  return input->node->outputs[input->index];
}

/* 1, 0, or -1 when only the run knows it. */
static int known_condition(tenon__uff_program_t* program, tenon_value_t value) {
  const tenon_reader_t* reader = program->reader;
  tenon_value_type_t type = {.kind = TENON_ARGUMENT_ABSENT};
  int64_t content = 0;
  if (reader->build->type(reader->builder, value, &type) != TENON_OK ||
      type.kind != TENON_ARGUMENT_TENSOR) {
    return -1;
  }
  if (type.constant_data != NULL && type.dtype == TENON_DTYPE_BOOL) {
    return *(const uint8_t*)type.constant_data != 0;
  }
  return type.has_contents != 0 && reader->build->content(reader->builder, value, 0, &content) == 1
             ? content != 0
             : -1;
}

static tenon_status_t convert_switch(tenon__uff_program_t* program, tenon__uff_node_t* node) {
  tenon_reader_t* reader = program->reader;
  if (node->input_count != 2) {
    return TENON_READER_FAIL(reader, TENON_ERROR_INVALID_DATA, "%s: it has %u inputs, not 2",
                             tenon__uff_node_text(reader, node), node->input_count);
  }
  const tenon_value_t data = value_of(&node->inputs[0]);
  const tenon_value_t condition = value_of(&node->inputs[1]);
  const int known = known_condition(program, condition);
  if (known >= 0) {
    node->outputs[known] = data;
    node->branch = NULL;
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
  node->branch = branches;
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

static tenon_status_t select(tenon__uff_program_t* program, tenon__uff_node_t* node,
                             const tenon__uff_branch_t* branch) {
  static const char* const names[] = {"condition", "a", "b"};
  const tenon_reader_t* reader = program->reader;
  const tenon_value_t first = value_of(&node->inputs[0]);
  const tenon_value_t second = value_of(&node->inputs[1]);
  const tenon_value_t inputs[3] = {branch->condition, branch->side == 1 ? first : second,
                                   branch->side == 1 ? second : first};
  node->branch = branch->outer;
  return reader->build->expression(reader->builder, "y = condition ? a : b", names, inputs, 3,
                                   node->name, &node->outputs[0]);
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
                             "%s: its inputs are not the two sides of one Switch",
                             tenon__uff_node_text(reader, node));
  }
  return select(program, node, branch);
}

tenon_status_t tenon__uff_control_convert(tenon__uff_program_t* program, tenon__uff_node_t* node) {
  return is_merge(node) ? convert_merge(program, node) : convert_switch(program, node);
}
