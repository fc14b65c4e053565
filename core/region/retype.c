/* A region in other types: its programs get conversions after loads and before stores, and its
 * signature changes. */
#include "core/region/retype.h"

#include "core/base/allocator.h"
#include "core/base/status.h"
#include "core/dimension/dimension_algebra.h"
#include "core/dimension/dimension_pool.h"
#include "core/program/program_builder.h"
#include "core/tensor/dtype.h"

/* ---- What may be converted ---- */

bool tenon__dtype_may_be_kept_as(tenon_dtype_t own, tenon_dtype_t kept) {
  const uint32_t bits = tenon__dtype_bits(kept);
  return tenon__dtype_class(own) == 'f' && tenon__dtype_class(kept) == 'f' && bits >= 8 &&
         bits < tenon__dtype_bits(own);
}

static bool is_operand(const tenon__expression_t* expression, uint32_t input) {
  for (uint32_t k = 0; k < expression->program.operand_count; ++k) {
    const tenon_operand_t* operand = &expression->program.operands[k];
    if (operand->kind == TENON_OPERAND_ARGUMENT && operand->index == input) {
      return true;
    }
  }
  return false;
}

/* Does a program alone read that input? Operators' own inputs come first, and are as they are. */
static bool a_program_reads(const struct tenon_region_t* region, uint32_t input) {
  bool is_read = region->kind == TENON_REGION_EXPRESSION;
  for (uint32_t k = 0; k < region->slot_count && !is_read; ++k) {
    is_read = is_operand(&region->slots[k].expression, input);
  }
  return is_read;
}

bool tenon__region_converts_input(const struct tenon_region_t* region, uint32_t input) {
  const uint32_t value = region->inputs[input].value;
  if (value == TENON_NONE ||
      region->network->graphs[region->graph]->values[value].weights != TENON_NONE) {
    return false;
  }
  if (region->kind == TENON_REGION_MOVE) {
    return region->map->fill != TENON_FILL_INPUT;
  }
  for (uint32_t k = 0; k < region->input_count; ++k) {
    if (region->inputs[k].value == value && !a_program_reads(region, k)) {
      return false;
    }
  }
  return true;
}

bool tenon__region_converts_output(const struct tenon_region_t* region, uint32_t output) {
  if (region->outputs[output].value == TENON_NONE || region->kind == TENON_REGION_MOVE) {
    return region->outputs[output].value != TENON_NONE && region->map->fill != TENON_FILL_INPUT;
  }
  bool is_made = region->kind == TENON_REGION_EXPRESSION;
  for (uint32_t k = 0; k < region->slot_count && !is_made; ++k) {
    is_made = region->slots[k].kind != TENON_SLOT_PROLOGUE &&
              region->slots[k].expression.program.outputs[0].index == output;
  }
  return is_made;
}

static tenon_dtype_t stored_as(const struct tenon_region_t* region, uint32_t value,
                               tenon_dtype_t said, const tenon_argument_rule_t* rule) {
  if (value == TENON_NONE || said != TENON_DTYPE_UNDEFINED) {
    return said;
  }
  return rule != NULL && rule->dtype != TENON_DTYPE_UNDEFINED
             ? rule->dtype
             : region->network->graphs[region->graph]->values[value].type.dtype;
}

tenon_dtype_t tenon__region_input_dtype(const struct tenon_region_t* region, uint32_t input,
                                        const tenon_argument_rule_t* rule) {
  const tenon__region_input_t* in = &region->inputs[input];
  return stored_as(region, in->value, in->dtype, rule);
}

tenon_dtype_t tenon__region_output_dtype(const struct tenon_region_t* region, uint32_t output,
                                         const tenon_argument_rule_t* rule) {
  const tenon__region_output_t* out = &region->outputs[output];
  return stored_as(region, out->value, out->dtype, rule);
}

/* ---- Converting ---- */

/* `makes_outputs`: what it makes are outputs of the region. */
static tenon_status_t retype_program(tenon__arena_t* arena, const struct tenon_region_t* region,
                                     bool makes_outputs, tenon_program_t* inout_program) {
  tenon_operand_t* operands =
      tenon__arena_allocate(arena, inout_program->operand_count + 1u, sizeof *operands);
  tenon_program_output_t* outputs =
      tenon__arena_allocate(arena, inout_program->output_count + 1u, sizeof *outputs);
  TENON_TRY_MEMORY(operands != NULL && outputs != NULL);
  for (uint32_t k = 0; k < inout_program->operand_count; ++k) {
    operands[k] = inout_program->operands[k];
    if (operands[k].kind == TENON_OPERAND_ARGUMENT) {
      operands[k].dtype = tenon__region_input_dtype(region, operands[k].index, NULL);
    }
  }
  for (uint32_t k = 0; k < inout_program->output_count; ++k) {
    outputs[k] = inout_program->outputs[k];
    if (makes_outputs) {
      outputs[k].dtype = tenon__region_output_dtype(region, outputs[k].index, NULL);
    }
  }
  inout_program->operands = operands;
  inout_program->outputs = outputs;
  return TENON_OK;
}

static tenon_status_t retype_programs(tenon__arena_t* arena, struct tenon_region_t* region) {
  if (region->expression != NULL) {
    tenon__expression_t* own = tenon__arena_copy(arena, region->expression, sizeof *own);
    TENON_TRY_MEMORY(own != NULL);
    region->expression = own;
    TENON_TRY(retype_program(arena, region, true, &own->program));
  }
  if (region->slot_count > 0) {
    tenon__region_slot_t* slots =
        tenon__arena_copy(arena, region->slots, region->slot_count * sizeof *slots);
    TENON_TRY_MEMORY(slots != NULL);
    region->slots = slots;
    for (uint32_t k = 0; k < region->slot_count; ++k) {
      TENON_TRY(retype_program(arena, region, slots[k].kind != TENON_SLOT_PROLOGUE,
                               &slots[k].expression.program));
    }
  }
  return TENON_OK;
}

static tenon_dtype_t kept_as(const struct tenon_region_t* region, uint32_t value,
                             tenon_dtype_t wanted) {
  const tenon_dtype_t own = region->network->graphs[region->graph]->values[value].type.dtype;
  return tenon__dtype_may_be_kept_as(own, wanted) ? wanted : (tenon_dtype_t)TENON_DTYPE_UNDEFINED;
}

tenon_status_t tenon__region_retype(tenon__arena_t* arena, const struct tenon_region_t* plain,
                                    const tenon_dtype_t* inputs, const tenon_dtype_t* outputs,
                                    struct tenon_region_t* out_region) {
  tenon__region_input_t* own_inputs =
      tenon__arena_allocate(arena, plain->input_count + 1u, sizeof *own_inputs);
  tenon__region_output_t* own_outputs =
      tenon__arena_allocate(arena, plain->output_count + 1u, sizeof *own_outputs);
  TENON_TRY_MEMORY(own_inputs != NULL && own_outputs != NULL);
  for (uint32_t k = 0; k < plain->input_count; ++k) {
    own_inputs[k] = plain->inputs[k];
    if (tenon__region_converts_input(plain, k)) {
      own_inputs[k].dtype = kept_as(plain, plain->inputs[k].value, inputs[k]);
    }
  }
  for (uint32_t k = 0; k < plain->output_count; ++k) {
    own_outputs[k] = plain->outputs[k];
    if (tenon__region_converts_output(plain, k)) {
      own_outputs[k].dtype = kept_as(plain, plain->outputs[k].value, outputs[k]);
    }
  }
  *out_region = *plain;
  out_region->inputs = own_inputs;
  out_region->outputs = own_outputs;
  return retype_programs(arena, out_region);
}

/* ---- A conversion alone ---- */

tenon_status_t tenon__region_of_cast(tenon__arena_t* arena, const tenon__network_t* network,
                                     uint32_t graph, uint32_t value, const tenon_dtype_t types[2],
                                     struct tenon_region_t* out_region) {
  const tenon_dtype_t from = types[0];
  const tenon_dtype_t to = types[1];
  const tenon__type_t* type = &network->graphs[graph]->values[value].type;
  const uint32_t rank = type->rank;
  const tenon_dtype_t arithmetic = tenon__dtype_arithmetic(type->dtype);
  tenon_dim_t* coordinates = tenon__arena_allocate(arena, rank + 1u, sizeof *coordinates);
  uint32_t* axes = tenon__arena_allocate(arena, rank + 1u, sizeof *axes);
  tenon__expression_t expression;
  tenon__program_builder_t builder;
  TENON_TRY_MEMORY(coordinates != NULL && axes != NULL);
  for (uint32_t k = 0; k < rank; ++k) {
    coordinates[k] = tenon__dim_coordinate(network->pool, k, type->dims[k]);
    axes[k] = k;
  }
  const tenon__access_t access = {.rank = rank, .coordinates = coordinates};
  const tenon_operand_t operand = {.kind = TENON_OPERAND_ARGUMENT, .index = value, .dtype = from};
  tenon__program_builder_initialize(&builder, arena);
  const uint32_t made = tenon__emit_operand(&builder, &operand, &access);
  const uint32_t read = tenon__emit_immediate(&builder, TENON_OPCODE_INPUT, arithmetic, 0, made);
  const tenon_program_output_t output = {.instruction = read, .dtype = to};
  const uint32_t* const output_axes[] = {axes};
  const tenon__program_outputs_t outputs = {
      .count = 1, .outputs = &output, .axes = output_axes, .ranks = &rank};
  TENON_TRY(tenon__program_builder_finish(&builder, rank, type->dims, &outputs, &expression));
  const tenon__graph_expression_t source = {.expression = &expression, .values = &value};
  TENON_TRY(tenon__region_of_expression(arena, network, graph, &source, out_region));
  tenon__region_input_t* inputs = tenon__drop_const(out_region->inputs);
  tenon__region_output_t* own = tenon__drop_const(out_region->outputs);
  inputs[0].dtype = from == type->dtype ? (tenon_dtype_t)TENON_DTYPE_UNDEFINED : from;
  own[0].dtype = to == type->dtype ? (tenon_dtype_t)TENON_DTYPE_UNDEFINED : to;
  return tenon__dim_pool_failed(network->pool) ? TENON_ERROR_OUT_OF_MEMORY : TENON_OK;
}
