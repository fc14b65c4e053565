/* Checks of a program in one pass over its instructions: opcodes, operands, types, coordinates. */
#include "core/program/program_check.h"

#include "core/base/status.h"
#include "core/dimension/dimension_algebra.h"
#include "core/dimension/dimension_pool.h"
#include "core/program/scalar.h"

/* The operand that an instruction reads; NULL where there is none of that number. */
static const tenon_operand_t* operand_of(const tenon_program_t* p, const tenon_instruction_t* i) {
  return i->immediate.i >= 0 && i->immediate.i < (int64_t)p->operand_count
             ? &p->operands[i->immediate.i]
             : NULL;
}

static bool coordinates_are_good(const tenon_program_t* p, uint32_t index) {
  const tenon_instruction_t* i = &p->instructions[index];
  if (i->operands[1] > TENON_RANK_LIMIT || i->operands[0] > p->coordinate_count ||
      i->operands[1] > p->coordinate_count - i->operands[0]) {
    return false;
  }
  for (uint32_t k = 0; k < i->operands[1]; ++k) {
    const uint32_t coordinate = p->coordinates[i->operands[0] + k];
    if (coordinate >= index ||
        tenon__dtype_class(tenon__instruction_type(&p->instructions[coordinate])) == 'f') {
      return false;
    }
  }
  return true;
}

static bool is_integer(tenon_dtype_t dtype) {
  return tenon__dtype_class(dtype) == 'i' || tenon__dtype_class(dtype) == 'u';
}

/* Earlier ones, of the types that the opcode takes. */
static bool operands_are_good(const tenon_program_t* p, uint32_t index) {
  const tenon_instruction_t* i = &p->instructions[index];
  for (uint32_t o = 0; o < tenon__opcode_operand_count(i->opcode); ++o) {
    if (i->operands[o] >= index) {
      return false;
    }
    const tenon_dtype_t type = tenon__instruction_type(&p->instructions[i->operands[o]]);
    const bool is_condition = i->opcode == TENON_OPCODE_SELECT && o == 0;
    const bool agrees = i->opcode == TENON_OPCODE_RANDOM ? is_integer(type)
                        : is_condition                   ? type == TENON_DTYPE_BOOL
                                                         : type == i->dtype;
    if (!agrees && i->opcode != TENON_OPCODE_CAST) {
      return false;
    }
  }
  return tenon__opcode_takes(i->opcode, i->dtype);
}

/* Axes of a reduction are axes of the space. */
static bool axes_are_good(const tenon_program_t* p, const tenon_instruction_t* i) {
  return !tenon__opcode_is_reduction(i->opcode) || p->rank >= TENON_RANK_LIMIT ||
         ((uint64_t)i->immediate.i >> p->rank) == 0;
}

static bool instruction_is_good(const tenon_program_t* p, uint32_t index) {
  const tenon_instruction_t* i = &p->instructions[index];
  const tenon_operand_t* operand = operand_of(p, i);
  if (i->opcode == TENON_OPCODE_NOP || i->opcode >= TENON_OPCODE_COUNT ||
      i->dtype == TENON_DTYPE_UNDEFINED || i->dtype >= TENON_DTYPE_COUNT ||
      tenon__dtype_arithmetic(i->dtype) != i->dtype) {
    return false;
  }
  switch (i->opcode) {
    case TENON_OPCODE_INPUT:
      return operand != NULL && operand->indexed == 0;
    case TENON_OPCODE_LOAD:
      return operand != NULL && operand->indexed != 0 && coordinates_are_good(p, index);
    case TENON_OPCODE_EXTENT:
      return operand != NULL && operand->indexed != 0 && i->operands[0] < TENON_RANK_LIMIT &&
             is_integer(i->dtype);
    case TENON_OPCODE_INDEX:
    case TENON_OPCODE_SIZE:
      return i->immediate.i >= 0 && i->immediate.i < (int64_t)p->rank &&
             tenon__dtype_class(i->dtype) != 'f';
    default:
      return operands_are_good(p, index) && axes_are_good(p, i);
  }
}

tenon_status_t tenon__program_check(const tenon_program_t* program, const tenon_sink_t* sink) {
  if (program->rank > TENON_RANK_LIMIT || program->instruction_count > TENON__MOST_INSTRUCTIONS) {
    return tenon__fail(sink, TENON_ERROR_INVALID_DATA,
                       "an expression is too large: rank %u, %u instructions", program->rank,
                       program->instruction_count);
  }
  for (uint32_t k = 0; k < program->operand_count; ++k) {
    if (tenon__dtype_bits(program->operands[k].dtype) == 0 || program->operands[k].kind > 1) {
      return tenon__fail(sink, TENON_ERROR_INVALID_DATA, "operand %u of an expression is invalid",
                         k);
    }
  }
  for (uint32_t k = 0; k < program->instruction_count; ++k) {
    if (!instruction_is_good(program, k)) {
      return tenon__fail(sink, TENON_ERROR_INVALID_DATA,
                         "instruction %u of an expression is invalid", k);
    }
  }
  for (uint32_t k = 0; k < program->output_count; ++k) {
    if (program->outputs[k].instruction >= program->instruction_count ||
        tenon__dtype_bits(program->outputs[k].dtype) == 0 ||
        program->outputs[k].reserved > TENON_OUTPUT_ROUNDS) {
      return tenon__fail(sink, TENON_ERROR_INVALID_DATA, "output %u of an expression is invalid",
                         k);
    }
  }
  return TENON_OK;
}

/* Axes of the space along which the operand is read. */
static uint64_t operand_axes(const tenon__dim_pool_t* pool, const tenon__access_t* access) {
  const uint32_t rank = access->rank == TENON_NONE ? 0 : access->rank;
  uint64_t axes = 0;
  for (uint32_t d = 0; d < rank; ++d) {
    axes |= tenon__dim_coordinate_axes(pool, access->coordinates[d]);
  }
  return axes;
}

/* Axes along which the value of an instruction varies; `earlier`: those of the ones before it. */
static uint64_t varying_axes(const tenon__dim_pool_t* pool, const tenon__expression_t* e,
                             uint32_t index, const uint64_t* earlier) {
  const tenon_program_t* p = &e->program;
  const tenon_instruction_t* i = &p->instructions[index];
  uint64_t axes = 0;
  if (i->opcode == TENON_OPCODE_INPUT) {
    return operand_axes(pool, &e->accesses[i->immediate.i]);
  }
  if (i->opcode == TENON_OPCODE_INDEX) {
    return (uint64_t)1 << i->immediate.i;
  }
  const uint32_t coordinate_count = i->opcode == TENON_OPCODE_LOAD ? i->operands[1] : 0;
  for (uint32_t k = 0; k < coordinate_count; ++k) {
    axes |= earlier[p->coordinates[i->operands[0] + k]];
  }
  for (uint32_t o = 0; o < tenon__opcode_operand_count(i->opcode); ++o) {
    axes |= earlier[i->operands[o]];
  }
  return tenon__opcode_is_reduction(i->opcode) ? axes & ~(uint64_t)i->immediate.i : axes;
}

tenon_status_t tenon__expression_check_outputs(const tenon__dim_pool_t* pool,
                                               const tenon__expression_t* expression,
                                               tenon__arena_t* arena, const tenon_sink_t* sink) {
  const tenon_program_t* p = &expression->program;
  uint64_t* axes = tenon__arena_allocate(arena, p->instruction_count + 1u, sizeof *axes);
  uint64_t long_axes = 0;
  TENON_TRY_MEMORY(axes != NULL);
  for (uint32_t d = 0; d < p->rank; ++d) {
    long_axes |= tenon__dim_is(pool, expression->space[d], 1) ? 0 : (uint64_t)1 << d;
  }
  for (uint32_t k = 0; k < p->instruction_count; ++k) {
    axes[k] = varying_axes(pool, expression, k, axes);
  }
  for (uint32_t k = 0; k < p->output_count; ++k) {
    const tenon_program_output_t* output = &p->outputs[k];
    uint64_t own = output->reduced_axes;
    for (uint32_t a = 0; a < expression->output_ranks[k]; ++a) {
      own |= (uint64_t)1 << expression->output_axes[k][a];
    }
    if ((axes[output->instruction] & output->reduced_axes & long_axes) != 0 ||
        (long_axes & ~own) != 0) {
      return tenon__fail(sink, TENON_ERROR_INVALID_DATA,
                         "output %u of an expression has other axes than its reductions leave", k);
    }
  }
  return TENON_OK;
}

bool tenon__program_loads_fit(const tenon_program_t* program, uint32_t operand, uint32_t rank) {
  bool fit = true;
  for (uint32_t k = 0; k < program->instruction_count && fit; ++k) {
    const tenon_instruction_t* i = &program->instructions[k];
    const bool is_other =
        !tenon__opcode_reads_operand(i->opcode) || i->immediate.i != (int64_t)operand;
    fit = is_other || (i->opcode == TENON_OPCODE_LOAD     ? i->operands[1] == rank
                       : i->opcode == TENON_OPCODE_EXTENT ? i->operands[0] < rank
                                                          : true);
  }
  return fit;
}
