/* Programs and moves as the host hands them over. */
#include "fake_host.h"

#define F32 TENON_DTYPE_FLOAT32
#define I64 TENON_DTYPE_INT64
#define INSTRUCTION(name, type, ...) \
  { .opcode = TENON_OPCODE_##name, .dtype = (type), __VA_ARGS__ }
#define COUNT(array) (uint32_t)(sizeof(array) / sizeof((array)[0]))

/* softmax over axis 1 of a 2 x 2 space, and the maximum. */
TENON_TEST(reductions_broadcast_back) {
  static const tenon_instruction_t instructions[] = {
      INSTRUCTION(INPUT, F32, .immediate.i = 0),
      INSTRUCTION(REDUCE_MAX, F32, .operands = {0}, .immediate.i = 2),
      INSTRUCTION(SUB, F32, .operands = {0, 1}),
      INSTRUCTION(EXP, F32, .operands = {2}),
      INSTRUCTION(SUM, F32, .operands = {3}, .immediate.i = 2),
      INSTRUCTION(DIV, F32, .operands = {3, 4}),
  };
  static const tenon_operand_t operands[] = {{.dtype = F32}};
  static const tenon_program_output_t outputs[] = {
      {.instruction = 5, .dtype = F32, .index = 0},
      {.instruction = 1, .dtype = F32, .index = 1, .reduced_axes = 2},
  };
  const tenon_program_t program = {.instructions = instructions,
                                   .operands = operands,
                                   .outputs = outputs,
                                   .instruction_count = COUNT(instructions),
                                   .operand_count = COUNT(operands),
                                   .output_count = COUNT(outputs),
                                   .rank = 2};
  fake_t f = fake_of(NULL);
  f.program = &program;
  fake_set_space(&f, DIMS(2, 2));
  fake_input(&f, F32, DIMS(2, 2), NUMBERS(0, 0, 1000, 1000 - log(3)));
  fake_output(&f, F32, DIMS(2, 2));
  fake_output(&f, F32, DIMS(2, 1));
  EXPECT_STATUS(fake_run(&f), TENON_OK);
  EXPECT_NUMBERS(&f, 0, 1e-4, 0.5, 0.5, 0.75, 0.25);
  EXPECT_NUMBERS(&f, 1, 0.0, 0, 1000);
  fake_done(&f);
}

/* y[i] = i < limit ? x[i] : -1 over 4 points, x has 2: with the guard right, or with a wrong one.
 */
static tenon_status_t run_guarded(fake_t* f, int64_t limit) {
  tenon_instruction_t instructions[] = {
      INSTRUCTION(INDEX, I64, .immediate.i = 0),
      INSTRUCTION(CONSTANT, I64, .immediate.i = limit),
      INSTRUCTION(LT, I64, .operands = {0, 1}),
      INSTRUCTION(LOAD, F32, .operands = {0, 1}, .immediate.i = 0),
      INSTRUCTION(CONSTANT, F32, .immediate.f = -1.0),
      INSTRUCTION(SELECT, F32, .operands = {2, 3, 4}),
  };
  static const tenon_operand_t operands[] = {{.dtype = F32, .indexed = 1}};
  static const tenon_program_output_t outputs[] = {{.instruction = 5, .dtype = F32}};
  static const uint32_t coordinates[] = {0};
  const tenon_program_t program = {.instructions = instructions,
                                   .operands = operands,
                                   .outputs = outputs,
                                   .coordinates = coordinates,
                                   .instruction_count = COUNT(instructions),
                                   .operand_count = COUNT(operands),
                                   .output_count = COUNT(outputs),
                                   .coordinate_count = 1,
                                   .rank = 1};
  f->program = &program;
  fake_set_space(f, DIMS(4));
  fake_input(f, F32, DIMS(2), NUMBERS(5, 6));
  fake_output(f, F32, DIMS(4));
  tenon_status_t status = fake_run(f);
  f->program = NULL;
  return status;
}

TENON_TEST(a_guarded_load_may_be_out_of_range) {
  fake_t f = fake_of(NULL);
  EXPECT_STATUS(run_guarded(&f, 2), TENON_OK);
  EXPECT_NUMBERS(&f, 0, 0.0, 5, 6, -1, -1);
  fake_done(&f);
}

TENON_TEST(an_unguarded_load_out_of_range_fails_with_its_index) {
  fake_t f = fake_of(NULL);
  EXPECT_STATUS(run_guarded(&f, 3), TENON_ERROR_INVALID_DATA);
  EXPECT_TEXT(f.failure, "element 2 of axis 0 is read, whose extent is 2");
  fake_done(&f);
}

static int64_t apply(uint16_t opcode, tenon_dtype_t dtype, int64_t a, int64_t b) {
  const tenon_instruction_t instruction = {.opcode = opcode, .dtype = (uint16_t)dtype};
  const tenon__number_t operands[3] = {{.i = a}, {.i = b}, {.i = 0}};
  return tenon__opcode_apply(&instruction, dtype, operands).i;
}

TENON_TEST(integers_wrap_divide_and_shift) {
  EXPECT_INT(apply(TENON_OPCODE_ADD, TENON_DTYPE_INT8, 127, 1), -128);
  EXPECT_INT(apply(TENON_OPCODE_MUL, TENON_DTYPE_UINT8, 16, 17), 16);
  EXPECT_INT(apply(TENON_OPCODE_DIV, TENON_DTYPE_INT32, -7, 2), -3);
  EXPECT_INT(apply(TENON_OPCODE_FLOOR_DIV, TENON_DTYPE_INT32, -7, 2), -4);
  EXPECT_INT(apply(TENON_OPCODE_MOD, TENON_DTYPE_INT32, -7, 2), 1);
  EXPECT_INT(apply(TENON_OPCODE_FMOD, TENON_DTYPE_INT32, -7, 2), -1);
  EXPECT_INT(apply(TENON_OPCODE_DIV, TENON_DTYPE_INT64, INT64_MIN, -1), INT64_MIN);
  EXPECT_INT(apply(TENON_OPCODE_DIV, TENON_DTYPE_INT32, 7, 0), 0);
  EXPECT_INT(apply(TENON_OPCODE_POW, TENON_DTYPE_INT32, 3, 4), 81);
  EXPECT_INT(apply(TENON_OPCODE_SHL, TENON_DTYPE_UINT8, 255, 8), 0);
  EXPECT_INT(apply(TENON_OPCODE_SHR, TENON_DTYPE_INT8, -128, 9), -1);
  EXPECT_INT(apply(TENON_OPCODE_NOT, TENON_DTYPE_UINT8, 1, 0), 254);
  EXPECT_INT(apply(TENON_OPCODE_NOT, TENON_DTYPE_BOOL, 1, 0), 0);
}

TENON_TEST(moves_copy_boxes_and_fill_the_rest) {
  static const int64_t begin[] = {1};
  static const int64_t extent[] = {2};
  static const int64_t strides[] = {-1};
  static const tenon_move_piece_t piece = {
      .begin = begin, .extent = extent, .strides = strides, .offset = 1};
  const tenon_move_t move = {.rank = 1, .piece_count = 1, .fill_argument = 1, .pieces = &piece};
  fake_t f = fake_of(NULL);
  f.move = &move;
  fake_input(&f, TENON_DTYPE_INT4, DIMS(2), NUMBERS(5, 6));
  fake_input(&f, TENON_DTYPE_INT4, SCALAR, NUMBERS(-3));
  fake_output(&f, TENON_DTYPE_INT4, DIMS(4));
  EXPECT_STATUS(fake_run(&f), TENON_OK);
  EXPECT_NUMBERS(&f, 0, 0.0, -3, 6, 5, -3);
  fake_done(&f);
}
