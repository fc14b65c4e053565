/* Comparison of the enumerations in a region with the version of the contract that a plugin was
 * built with. */
#include "core/kernel/known_values.h"

#include "core/region/node_program.h"

/* One row for each version that added a value. A value that is added here needs a new row: the
 * assertions below compare the newest one with the header. */
enum {
  OPCODES_0_7 = TENON_OPCODE_EXTENT + 1,
  DTYPES_0_7 = TENON_DTYPE_COMPLEX128 + 1,
  ARGUMENTS_0_7 = TENON_ARGUMENT_OPTIONAL_SEQUENCE + 1,
  OPERANDS_0_7 = TENON_OPERAND_SLOT_VALUE + 1
};
_Static_assert((int)OPCODES_0_7 == (int)TENON_OPCODE_COUNT,
               "a new opcode needs a row of its version");
_Static_assert((int)DTYPES_0_7 == (int)TENON_DTYPE_COUNT,
               "a new data type needs a row of its version");

static const tenon__known_values_t versions[] = {
    {TENON_ABI_VERSION(0, 7), OPCODES_0_7, DTYPES_0_7, ARGUMENTS_0_7, OPERANDS_0_7},
};
enum { VERSION_COUNT = sizeof versions / sizeof *versions };

const tenon__known_values_t* tenon__known_values_of(uint32_t built) {
  uint32_t row = VERSION_COUNT - 1;
  while (built != 0 && row > 0 && versions[row].version > built) {
    --row;
  }
  return &versions[row];
}

static bool refuse(uint32_t reason, const char* detail, tenon_refusal_t* out_refusal) {
  *out_refusal = (tenon_refusal_t){.reason = reason, .detail = detail};
  return false;
}

static bool is_program_known(const tenon_program_t* program, const tenon__known_values_t* known,
                             uint32_t reason, tenon_refusal_t* out_refusal) {
  for (uint32_t k = 0; k < program->instruction_count; ++k) {
    if (program->instructions[k].opcode >= known->opcode_count) {
      return refuse(reason, "an opcode that is newer than the plugin", out_refusal);
    }
    if (program->instructions[k].dtype >= known->dtype_count) {
      return refuse(TENON_REFUSAL_DTYPE, "a data type that is newer than the plugin", out_refusal);
    }
  }
  for (uint32_t k = 0; k < program->operand_count; ++k) {
    if (program->operands[k].kind >= known->operand_count) {
      return refuse(reason, "a kind of operand that is newer than the plugin", out_refusal);
    }
  }
  return true;
}

static bool are_values_known(const struct tenon_region_t* region,
                             const tenon__known_values_t* known, tenon_refusal_t* out_refusal) {
  for (uint32_t k = 0; k < region->value_count; ++k) {
    if (region->values[k].dtype >= known->dtype_count) {
      return refuse(TENON_REFUSAL_DTYPE, "a data type that is newer than the plugin", out_refusal);
    }
    if (region->values[k].kind >= known->argument_count) {
      return refuse(TENON_REFUSAL_OTHER, "a kind of value that is newer than the plugin",
                    out_refusal);
    }
  }
  return true;
}

static bool are_programs_known(const struct tenon_region_t* region,
                               const tenon__known_values_t* known, tenon_refusal_t* out_refusal) {
  bool known_all =
      region->kind != TENON_REGION_EXPRESSION ||
      is_program_known(&region->expression->program, known, TENON_REFUSAL_OTHER, out_refusal);
  for (uint32_t k = 0; known_all && k < region->slot_count; ++k) {
    known_all = is_program_known(&region->slots[k].expression.program, known, TENON_REFUSAL_SLOT,
                                 out_refusal);
  }
  for (uint32_t k = 0; known_all && k < region->node_count; ++k) {
    const tenon_program_t* program =
        tenon__node_program(region->network, region->graph, region->nodes[k]);
    known_all =
        program == NULL || is_program_known(program, known, TENON_REFUSAL_OTHER, out_refusal);
  }
  return known_all;
}

bool tenon__region_is_known(const struct tenon_region_t* region, const tenon__known_values_t* known,
                            tenon_refusal_t* out_refusal) {
  return known == &versions[VERSION_COUNT - 1] || (are_values_known(region, known, out_refusal) &&
                                                   are_programs_known(region, known, out_refusal));
}
