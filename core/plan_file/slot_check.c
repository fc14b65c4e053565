/* Checks of slots in a plan: each program is compared with the operator's node, its inputs and its
 * outputs. */
#include "core/plan_file/slot_check.h"

#include "core/dimension/dimension_algebra.h"
#include "core/region/retype.h"

static const tenon__node_t* main_node(const struct tenon_region_t* region) {
  return &region->network->graphs[region->graph]->nodes[region->nodes[0]];
}

/* NULL where it is none, or no tensor whose rank is known. */
static const tenon__type_t* tensor_type(const struct tenon_region_t* region, uint32_t value) {
  const tenon__type_t* type =
      value == TENON_NONE ? NULL : &region->network->graphs[region->graph]->values[value].type;
  return type != NULL && type->kind == TENON_ARGUMENT_TENSOR && type->rank <= 64 ? type : NULL;
}

/* ---- One slot ---- */

bool tenon__slot_is_filled(const tenon__region_slot_t* slots, uint32_t count,
                           const tenon__region_slot_t* slot) {
  for (uint32_t k = 0; k < count; ++k) {
    const bool same_place = slots[k].kind == slot->kind && slots[k].index == slot->index;
    if (slots[k].slot == slot->slot || (same_place && slot->kind != TENON_SLOT_SIDE)) {
      return true;
    }
  }
  return false;
}

/* What reads the slot's own value reads it in this type. */
static bool reads_own_value_as(const tenon_program_t* program, tenon_dtype_t dtype) {
  for (uint32_t k = 0; k < program->operand_count; ++k) {
    if (program->operands[k].kind == TENON_OPERAND_SLOT_VALUE &&
        program->operands[k].dtype != dtype) {
      return false;
    }
  }
  return true;
}

/* A tensor whose shape is the program's space. */
static bool spans(const tenon__expression_t* expression, const tenon__type_t* type) {
  return type != NULL && type->rank == expression->program.rank &&
         tenon__dims_equal(type->dims, expression->space, type->rank);
}

/* One value of the whole space, at this place among the region's arguments. */
static bool makes_one(const tenon_program_t* program, uint32_t index) {
  return program->output_count == 1 && program->outputs[0].index == index &&
         program->outputs[0].reduced_axes == 0;
}

static bool prologue_fits(const struct tenon_region_t* region, const tenon__region_slot_t* slot) {
  const tenon__node_t* node = main_node(region);
  const tenon__expression_t* expression = &slot->expression;
  if (region->node_count != 1 || slot->index >= node->input_count ||
      slot->index >= region->input_count || region->inputs[slot->index].aligned ||
      !makes_one(&expression->program, slot->index)) {
    return false;
  }
  const tenon__type_t* own = tensor_type(region, region->inputs[slot->index].value);
  const tenon__type_t* made = tensor_type(region, node->inputs[slot->index]);
  return spans(expression, own) && spans(expression, made) &&
         expression->program.outputs[0].dtype == made->dtype &&
         reads_own_value_as(&expression->program,
                            tenon__region_input_dtype(region, slot->index, NULL));
}

static bool epilogue_fits(const struct tenon_region_t* region, const tenon__region_slot_t* slot) {
  const tenon__node_t* node = main_node(region);
  const tenon_program_t* program = &slot->expression.program;
  const tenon__type_t* own =
      slot->index < node->output_count ? tensor_type(region, node->outputs[slot->index]) : NULL;
  return makes_one(program, slot->index) &&
         (own == NULL || reads_own_value_as(program, own->dtype));
}

static bool side_fits(const struct tenon_region_t* region, const tenon__region_slot_t* slot) {
  const tenon__node_t* node = main_node(region);
  const tenon__expression_t* expression = &slot->expression;
  const uint32_t index = expression->program.outputs[0].index;
  if (region->node_count != 1 || slot->index >= node->output_count || index < node->output_count ||
      !makes_one(&expression->program, index)) {
    return false;
  }
  const tenon__type_t* own = tensor_type(region, node->outputs[slot->index]);
  return spans(expression, own) &&
         spans(expression, tensor_type(region, region->outputs[index].value)) &&
         reads_own_value_as(&expression->program, own->dtype);
}

bool tenon__slot_fits(const struct tenon_region_t* region, const tenon__region_slot_t* slot) {
  switch (slot->kind) {
    case TENON_SLOT_PROLOGUE:
      return prologue_fits(region, slot);
    case TENON_SLOT_EPILOGUE:
      return epilogue_fits(region, slot);
    case TENON_SLOT_SIDE:
      return side_fits(region, slot);
    default:
      return false;
  }
}

/* ---- All of them ---- */

static bool has_slot(const struct tenon_region_t* region, uint32_t kind, uint32_t index) {
  for (uint32_t k = 0; k < region->slot_count; ++k) {
    if (region->slots[k].kind == kind && region->slots[k].index == index) {
      return true;
    }
  }
  return false;
}

/* Sides make what stands behind the node's outputs, in their order, and nothing else does. */
static bool sides_fit(const struct tenon_region_t* region, uint32_t first) {
  for (uint32_t k = 0; k < region->slot_count; ++k) {
    const tenon__region_slot_t* slot = &region->slots[k];
    if (slot->kind == TENON_SLOT_SIDE && slot->expression.program.outputs[0].index != first++) {
      return false;
    }
  }
  return region->output_count == first;
}

bool tenon__slots_fit_node(const struct tenon_region_t* region) {
  if (region->node_count != 1) {
    return true;
  }
  const tenon__node_t* node = main_node(region);
  if (node->input_count > region->input_count || !sides_fit(region, node->output_count)) {
    return false;
  }
  for (uint32_t k = 0; k < node->input_count; ++k) {
    const tenon__region_input_t* input = &region->inputs[k];
    if (input->aligned ||
        (input->value != node->inputs[k] && !has_slot(region, TENON_SLOT_PROLOGUE, k))) {
      return false;
    }
  }
  for (uint32_t k = 0; k < node->output_count; ++k) {
    if (region->outputs[k].value != node->outputs[k] && !has_slot(region, TENON_SLOT_EPILOGUE, k)) {
      return false;
    }
  }
  return true;
}
