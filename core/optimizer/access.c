/* Accesses of expressions. */
#include "core/optimizer/access.h"

#include "core/dimension/dimension_algebra.h"
#include "core/dimension/dimension_pool.h"
#include "core/program/scalar.h"

bool tenon__access_is_identity(tenon__dim_pool_t* pool, const tenon__expression_t* expression,
                               uint32_t operand) {
  const tenon__access_t* access = &expression->accesses[operand];
  if (expression->program.operands[operand].indexed != 0 ||
      access->rank != expression->program.rank) {
    return false;
  }
  for (uint32_t d = 0; d < access->rank; ++d) {
    int64_t extent = 0;
    const bool is_one = tenon__dim_known(pool, expression->space[d], &extent) && extent == 1;
    if (!is_one && !tenon__dim_equal(access->coordinates[d],
                                     tenon__dim_coordinate(pool, d, expression->space[d]))) {
      return false;
    }
  }
  return true;
}

bool tenon__output_is_space(const tenon__expression_t* expression) {
  const tenon_program_t* program = &expression->program;
  if (program->output_count != 1 || program->outputs[0].reduced_axes != 0 ||
      expression->output_ranks[0] != program->rank) {
    return false;
  }
  for (uint32_t k = 0; k < program->rank; ++k) {
    if (expression->output_axes[0][k] != k) {
      return false;
    }
  }
  return true;
}

bool tenon__program_is_pointwise(const tenon_program_t* program) {
  for (uint32_t i = 0; i < program->instruction_count; ++i) {
    const uint32_t opcode = program->instructions[i].opcode;
    if (opcode == TENON_OPCODE_INDEX || opcode == TENON_OPCODE_SIZE ||
        opcode == TENON_OPCODE_EXTENT || opcode == TENON_OPCODE_LOAD ||
        opcode == TENON_OPCODE_RANDOM || tenon__opcode_is_reduction(opcode)) {
      return false;
    }
  }
  return true;
}

bool tenon__expression_is_identity(tenon__dim_pool_t* pool, const tenon__expression_t* expression) {
  const tenon_program_t* program = &expression->program;
  return program->instruction_count == 1 && program->operand_count == 1 &&
         program->instructions[0].opcode == TENON_OPCODE_INPUT &&
         program->outputs[0].dtype == program->operands[0].dtype &&
         tenon__output_is_space(expression) && tenon__access_is_identity(pool, expression, 0);
}

bool tenon__access_is_aligned(tenon__dim_pool_t* pool, const tenon__expression_t* expression,
                              uint32_t operand) {
  const tenon__access_t* access = &expression->accesses[operand];
  if (expression->program.operands[operand].indexed != 0 ||
      access->rank > expression->program.rank) {
    return false;
  }
  const uint32_t missing = expression->program.rank - access->rank;
  for (uint32_t d = 0; d < access->rank; ++d) {
    int64_t zero = 0;
    const tenon_dim_t own =
        tenon__dim_coordinate(pool, d + missing, expression->space[d + missing]);
    if (!tenon__dim_equal(access->coordinates[d], own) &&
        !(tenon__dim_known(pool, access->coordinates[d], &zero) && zero == 0)) {
      return false;
    }
  }
  return true;
}
