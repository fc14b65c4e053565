/* What a program must not be, whoever wrote it. */
#include "core/program/program_check.h"

#include "core/base/test.h"
#include "core/program/program.h"

static void expect_refused(tenon_program_t program, tenon_instruction_t instruction, int line) {
  const tenon_instruction_t list[3] = {{.opcode = TENON_OPCODE_INPUT, .dtype = TENON_DTYPE_FLOAT32},
                                       {.opcode = TENON_OPCODE_INDEX, .dtype = TENON_DTYPE_INT64},
                                       instruction};
  program.instructions = list;
  program.instruction_count = 3;
  if (tenon__program_check(&program, NULL) != TENON_ERROR_INVALID_DATA) {
    tenon__test_fail(__FILE__, line, "opcode %u was taken", instruction.opcode);
  }
}

TENON_TEST(broken_programs_are_refused) {
  const tenon_operand_t operand = {.dtype = TENON_DTYPE_FLOAT32};
  const uint32_t coordinates[1] = {0};
  const tenon_program_t program = {.operands = &operand,
                                   .operand_count = 1,
                                   .coordinates = coordinates,
                                   .coordinate_count = 1,
                                   .rank = 2};
  const uint16_t f32 = TENON_DTYPE_FLOAT32;
  const tenon_instruction_t broken[] = {
      {.opcode = TENON_OPCODE_NOP, .dtype = f32},
      {.opcode = TENON_OPCODE_COUNT, .dtype = f32},
      {.opcode = TENON_OPCODE_ADD, .dtype = f32, .operands = {0, 2, 0}},
      {.opcode = TENON_OPCODE_ADD, .dtype = f32, .operands = {0, 1, 0}},
      {.opcode = TENON_OPCODE_EXP, .dtype = TENON_DTYPE_FLOAT16, .operands = {0, 0, 0}},
      {.opcode = TENON_OPCODE_EXP, .dtype = TENON_DTYPE_INT64, .operands = {1, 0, 0}},
      {.opcode = TENON_OPCODE_AND, .dtype = f32, .operands = {0, 0, 0}},
      {.opcode = TENON_OPCODE_INPUT, .dtype = f32, .immediate = {.i = 1}},
      {.opcode = TENON_OPCODE_INPUT, .dtype = f32, .immediate = {.i = -1}},
      {.opcode = TENON_OPCODE_INDEX, .dtype = TENON_DTYPE_INT64, .immediate = {.i = 2}},
      {.opcode = TENON_OPCODE_SIZE, .dtype = f32},
      {.opcode = TENON_OPCODE_LOAD, .dtype = f32, .operands = {0, 1, 0}},
      {.opcode = TENON_OPCODE_EXTENT, .dtype = TENON_DTYPE_INT64}, /* of what is not indexed */
      {.opcode = TENON_OPCODE_SELECT, .dtype = f32, .operands = {0, 0, 0}},
      {.opcode = TENON_OPCODE_RANDOM, .dtype = f32, .operands = {0, 1, 0}},
      {.opcode = TENON_OPCODE_SUM, .dtype = f32, .operands = {0, 0, 0}, .immediate = {.i = 4}},
  };
  for (size_t i = 0; i < sizeof(broken) / sizeof(broken[0]); ++i) {
    expect_refused(program, broken[i], __LINE__);
  }
}

TENON_TEST(operands_and_outputs_have_types) {
  const tenon_instruction_t read = {.opcode = TENON_OPCODE_INPUT, .dtype = TENON_DTYPE_FLOAT32};
  tenon_operand_t operand = {.dtype = TENON_DTYPE_FLOAT32};
  tenon_program_output_t output = {.dtype = TENON_DTYPE_FLOAT32};
  const tenon_program_t program = {.instructions = &read,
                                   .operands = &operand,
                                   .outputs = &output,
                                   .instruction_count = 1,
                                   .operand_count = 1,
                                   .output_count = 1};
  EXPECT_STATUS(tenon__program_check(&program, NULL), TENON_OK);
  operand.dtype = TENON_DTYPE_UNDEFINED;
  EXPECT_STATUS(tenon__program_check(&program, NULL), TENON_ERROR_INVALID_DATA);
  operand.dtype = TENON_DTYPE_FLOAT32;
  output.dtype = TENON_DTYPE_UNDEFINED;
  EXPECT_STATUS(tenon__program_check(&program, NULL), TENON_ERROR_INVALID_DATA);
  output.dtype = TENON_DTYPE_COUNT;
  EXPECT_STATUS(tenon__program_check(&program, NULL), TENON_ERROR_INVALID_DATA);
  output.dtype = TENON_DTYPE_FLOAT16;
  output.reserved = TENON_OUTPUT_ROUNDS + 1;
  EXPECT_STATUS(tenon__program_check(&program, NULL), TENON_ERROR_INVALID_DATA);
}
