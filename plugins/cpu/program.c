/* Analysing programs. */
#include "program.h"

#include <string.h>

bool tenon__cpu_type_of(tenon_dtype_t dtype, tenon__cpu_type_t* out_type) {
  switch (dtype) {
#define TYPE_CASE(name, c_type, dtype_name) \
  case TENON_DTYPE_##dtype_name:            \
    *out_type = TENON_CPU_TYPE_##name;      \
    return true;
    TENON_CPU_TYPES(TYPE_CASE)
#undef TYPE_CASE
    case TENON_DTYPE_FLOAT16:
    case TENON_DTYPE_BFLOAT16:
      *out_type = TENON_CPU_TYPE_F32;
      return true;
    default:
      return false;
  }
}

size_t tenon__cpu_type_bytes(tenon__cpu_type_t type) {
  static const uint8_t bytes[TENON_CPU_TYPE_COUNT] = {
#define TYPE_BYTES(name, c_type, dtype) sizeof(c_type),
      TENON_CPU_TYPES(TYPE_BYTES)
#undef TYPE_BYTES
  };
  return bytes[type];
}

bool tenon__cpu_opcode_reduces(uint32_t opcode) {
  return opcode >= TENON_OPCODE_SUM && opcode <= TENON_OPCODE_MEAN;
}

uint32_t tenon__cpu_opcode_operands(uint32_t opcode) {
  static const uint8_t counts[TENON_OPCODE_COUNT] = {
#define OPERANDS(name, spelling, operands, meaning) operands,
      TENON_OPCODES(OPERANDS)
#undef OPERANDS
  };
  return opcode < TENON_OPCODE_COUNT ? counts[opcode] : 0;
}

static bool makes_bool(uint32_t opcode) {
  return (opcode >= TENON_OPCODE_EQ && opcode <= TENON_OPCODE_GE) ||
         opcode == TENON_OPCODE_IS_NAN || opcode == TENON_OPCODE_IS_INF;
}

static tenon__cpu_type_t value_type(const tenon_instruction_t* instruction) {
  tenon__cpu_type_t type = TENON_CPU_TYPE_BOOL;
  if (!makes_bool(instruction->opcode)) {
    (void)tenon__cpu_type_of(instruction->dtype, &type);
  }
  return type;
}

/* Is there a block function? */
static bool has_function(const tenon__cpu_elements_t* elements, const tenon_instruction_t* in) {
  tenon__cpu_type_t type;
  if (in->opcode >= TENON_OPCODE_COUNT || !tenon__cpu_type_of(in->dtype, &type)) {
    return false;
  }
  switch (in->opcode) {
    case TENON_OPCODE_INPUT:
    case TENON_OPCODE_CONSTANT:
    case TENON_OPCODE_INDEX:
    case TENON_OPCODE_SIZE:
    case TENON_OPCODE_EXTENT:
    case TENON_OPCODE_LOAD:
    case TENON_OPCODE_CAST:
    case TENON_OPCODE_SELECT:
      return true;
    default:
      break;
  }
  if (tenon__cpu_opcode_reduces(in->opcode)) {
    return elements->fold[in->opcode][type] != NULL;
  }
  switch (tenon__cpu_opcode_operands(in->opcode)) {
    case 1:
      return elements->unary[in->opcode][type] != NULL;
    case 2:
      return elements->binary[in->opcode][type][TENON_CPU_VV] != NULL;
    default:
      return false;
  }
}

static bool refuse(tenon_refusal_t* out_refusal, uint32_t reason, uint32_t accepted,
                   const char* detail) {
  *out_refusal = (tenon_refusal_t){reason, accepted, detail};
  return false;
}

bool tenon__cpu_program_accepts(const tenon__cpu_elements_t* elements,
                                const tenon_program_t* program, tenon_refusal_t* out_refusal) {
  uint64_t reduced = 0;
  tenon__cpu_type_t type;
  for (uint32_t i = 0; i < program->instruction_count; i++) {
    const tenon_instruction_t* in = &program->instructions[i];
    if (!has_function(elements, in)) {
      return refuse(out_refusal, TENON_REFUSAL_DTYPE, i, "no block function for an instruction");
    }
    if (tenon__cpu_opcode_reduces(in->opcode)) {
      const uint64_t mask = (uint64_t)in->immediate.i;
      if (mask == 0 || (reduced != 0 && mask != reduced)) {
        return refuse(out_refusal, TENON_REFUSAL_OTHER, i, "reductions along different axes");
      }
      reduced |= mask;
    }
  }
  for (uint32_t k = 0; k < program->operand_count; k++) {
    if (!tenon__cpu_type_of(program->operands[k].dtype, &type)) {
      return refuse(out_refusal, TENON_REFUSAL_DTYPE, 0, "an operand's element type");
    }
  }
  for (uint32_t k = 0; k < program->output_count; k++) {
    if (!tenon__cpu_type_of(program->outputs[k].dtype, &type)) {
      return refuse(out_refusal, TENON_REFUSAL_DTYPE, 0, "an output's element type");
    }
  }
  return true;
}

static const void* copy_bytes(const void* source, size_t size, tenon__cpu_allocate_t allocate,
                              void* user) {
  void* copy = allocate(user, size > 0 ? size : 1);
  if (copy != NULL && size > 0) {
    memcpy(copy, source, size);
  }
  return copy;
}

static tenon_status_t copy_source(const tenon_program_t* source, tenon__cpu_allocate_t allocate,
                                  void* user, tenon_program_t* out_copy) {
  *out_copy = *source;
  out_copy->instructions =
      copy_bytes(source->instructions, source->instruction_count * sizeof(*source->instructions),
                 allocate, user);
  out_copy->operands = copy_bytes(
      source->operands, source->operand_count * sizeof(*source->operands), allocate, user);
  out_copy->outputs =
      copy_bytes(source->outputs, source->output_count * sizeof(*source->outputs), allocate, user);
  out_copy->coordinates = copy_bytes(
      source->coordinates, source->coordinate_count * sizeof(*source->coordinates), allocate, user);
  return out_copy->instructions != NULL && out_copy->operands != NULL &&
                 out_copy->outputs != NULL && out_copy->coordinates != NULL
             ? TENON_OK
             : TENON_ERROR_OUT_OF_MEMORY;
}

static uint32_t phase_of(const tenon_program_t* program, uint32_t instruction,
                         const uint32_t* phases) {
  const tenon_instruction_t* in = &program->instructions[instruction];
  uint32_t phase = 0;
  if (in->opcode == TENON_OPCODE_LOAD) {
    for (uint32_t k = 0; k < in->operands[1]; k++) {
      const uint32_t at = phases[program->coordinates[in->operands[0] + k]];
      phase = at > phase ? at : phase;
    }
    return phase;
  }
  for (uint32_t k = 0; k < tenon__cpu_opcode_operands(in->opcode); k++) {
    phase = phases[in->operands[k]] > phase ? phases[in->operands[k]] : phase;
  }
  return tenon__cpu_opcode_reduces(in->opcode) ? phase + 1 : phase;
}

tenon_status_t tenon__cpu_program_create(const tenon_program_t* source,
                                         tenon__cpu_allocate_t allocate, void* user,
                                         tenon__cpu_program_t** out_program) {
  tenon__cpu_program_t* program = allocate(user, sizeof(*program));
  const size_t count = source->instruction_count > 0 ? source->instruction_count : 1;
  uint8_t* types = allocate(user, count);
  uint32_t* phases = allocate(user, count * sizeof(*phases));
  if (program == NULL || types == NULL || phases == NULL ||
      copy_source(source, allocate, user, &program->source) != TENON_OK) {
    return TENON_ERROR_OUT_OF_MEMORY;
  }
  program->types = types;
  program->phases = phases;
  program->phase_count = 1;
  program->element_bytes = 1;
  for (uint32_t i = 0; i < source->instruction_count; i++) {
    const tenon_instruction_t* in = &source->instructions[i];
    types[i] = (uint8_t)value_type(in);
    phases[i] = phase_of(source, i, phases);
    const size_t bytes = tenon__cpu_type_bytes((tenon__cpu_type_t)types[i]);
    program->element_bytes = bytes > program->element_bytes ? bytes : program->element_bytes;
    if (tenon__cpu_opcode_reduces(in->opcode)) {
      program->reduces = true;
      program->reduced_axes |= (uint64_t)in->immediate.i;
    }
  }
  for (uint32_t k = 0; k < source->output_count; k++) {
    const uint32_t phase = phases[source->outputs[k].instruction];
    program->phase_count = phase + 1 > program->phase_count ? phase + 1 : program->phase_count;
  }
  *out_program = program;
  return TENON_OK;
}

uint32_t tenon__cpu_program_buffers(const tenon_program_t* program) {
  uint32_t count = 3; /* a conversion's, a widened operand's, one to spare */
  for (uint32_t i = 0; i < program->instruction_count; i++) {
    count += program->instructions[i].opcode != TENON_OPCODE_CONSTANT;
    count += tenon__cpu_opcode_reduces(program->instructions[i].opcode) ? 2U : 0U;
  }
  return count;
}
