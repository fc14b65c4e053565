/* Faster functions of lower precision, for programs whose results are rounded to 16 bits. */
#include "generate.h"

const char* tenon__cuda_near_function(const tenon_instruction_t* in) {
  if (tenon__cuda_class(in->dtype) != 'f' || in->dtype == TENON_DTYPE_FLOAT64) {
    return NULL;
  }
  switch (in->opcode) {
    case TENON_OPCODE_SIGMOID:
      return "op_near_sigmoid(";
    case TENON_OPCODE_TANH:
      return "op_near_tanh(";
    case TENON_OPCODE_SOFTPLUS:
      return "op_near_softplus(";
    case TENON_OPCODE_ERF:
      return "op_near_erf(";
    case TENON_OPCODE_DIV:
      return "op_near_div(";
    default:
      return NULL;
  }
}

/* Returns whether the value is exact: an operand or a number, also if it is converted. */
static bool is_given(const tenon_program_t* program, uint32_t k) {
  while (program->instructions[k].opcode == TENON_OPCODE_CAST) {
    k = program->instructions[k].operands[0];
  }
  const uint32_t opcode = program->instructions[k].opcode;
  return opcode == TENON_OPCODE_INPUT || opcode == TENON_OPCODE_CONSTANT;
}

/* Returns whether the error of the result is not much larger than the error of an operand. A
 * conversion from float to integer is excluded, because a small error can change the result by 1.
 * Sums with cancellation are accepted: their absolute error is not larger, only their relative
 * error. They are not accepted as divisors. */
static bool is_plain(const tenon_program_t* program, const tenon_instruction_t* in) {
  switch (in->opcode) {
    case TENON_OPCODE_DIV:
      return tenon__cuda_class(in->dtype) == 'f' && is_given(program, in->operands[1]);
    case TENON_OPCODE_CAST:
      return tenon__cuda_class(tenon__cuda_result_type(in)) == 'f';
    case TENON_OPCODE_NOP:
    case TENON_OPCODE_INPUT:
    case TENON_OPCODE_CONSTANT:
    case TENON_OPCODE_ADD:
    case TENON_OPCODE_SUB:
    case TENON_OPCODE_MUL:
    case TENON_OPCODE_MIN:
    case TENON_OPCODE_MAX:
    case TENON_OPCODE_SIGMOID:
    case TENON_OPCODE_TANH:
    case TENON_OPCODE_SOFTPLUS:
    case TENON_OPCODE_ERF:
    case TENON_OPCODE_SUM:
    case TENON_OPCODE_MEAN:
      return true;
    default:
      return false;
  }
}

/* Not for floats of 8 bits and fewer: a small error at a tie changes the result by a whole step, and
 * numbers to be quantised are often ties. */
bool tenon__cuda_rounds(const tenon_program_t* program) {
  bool is_so = true;
  for (uint32_t k = 0; k < program->instruction_count; k++) {
    is_so = is_so && is_plain(program, &program->instructions[k]);
  }
  for (uint32_t k = 0; k < program->output_count; k++) {
    const tenon_dtype_t dtype = program->outputs[k].dtype;
    is_so = is_so && tenon__cuda_class(dtype) == 'f' && tenon__cuda_bytes(dtype) == 2;
  }
  return is_so;
}
