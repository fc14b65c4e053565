/* What a program must not be, whoever wrote it. */
#include "core/program/program_check.h"

#include "core/base/allocator.h"
#include "core/base/test.h"
#include "core/dimension/dimension_algebra.h"
#include "core/dimension/dimension_pool.h"
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

/* y = sum(x) over the axes in `mask`, of x [n, 3], as an output that lacks those in `reduced`. */
static tenon_status_t check_sum(uint64_t mask, uint64_t reduced) {
  tenon__dim_pool_t* pool = NULL;
  tenon__arena_t arena;
  tenon__arena_initialize(&arena, tenon__allocator_default());
  EXPECT_STATUS(tenon__dim_pool_create(tenon__allocator_default(), &pool), TENON_OK);
  const tenon__symbol_t symbol = {
      .kind = TENON_SYMBOL_INPUT, .name = "n", .max = INT64_MAX, .bound = TENON_DIM_INVALID};
  const tenon_dim_t space[] = {tenon__dim_symbol(pool, &symbol), tenon__dim_constant(pool, 3)};
  const tenon_dim_t point[] = {tenon__dim_coordinate(pool, 0, space[0]),
                               tenon__dim_coordinate(pool, 1, space[1])};
  const tenon__access_t access = {2, point};
  const tenon_operand_t operand = {.dtype = TENON_DTYPE_FLOAT32};
  const tenon_instruction_t instructions[] = {
      {.opcode = TENON_OPCODE_INPUT, .dtype = TENON_DTYPE_FLOAT32},
      {.opcode = TENON_OPCODE_SUM,
       .dtype = TENON_DTYPE_FLOAT32,
       .immediate = {.i = (int64_t)mask}}};
  const tenon_program_output_t output = {
      .instruction = 1, .dtype = TENON_DTYPE_FLOAT32, .reduced_axes = reduced};
  uint32_t axes[2] = {0};
  uint32_t rank = 0;
  for (uint32_t d = 0; d < 2; ++d) {
    if ((reduced >> d & 1) == 0) {
      axes[rank++] = d;
    }
  }
  const uint32_t* const output_axes = axes;
  const tenon__expression_t expression = {.program = {.instructions = instructions,
                                                      .operands = &operand,
                                                      .outputs = &output,
                                                      .instruction_count = 2,
                                                      .operand_count = 1,
                                                      .output_count = 1,
                                                      .rank = 2},
                                          .accesses = &access,
                                          .space = space,
                                          .output_axes = &output_axes,
                                          .output_ranks = &rank};
  const tenon_status_t status = tenon__expression_check_outputs(pool, &expression, &arena, NULL);
  tenon__arena_deinitialize(&arena);
  tenon__dim_pool_destroy(pool);
  return status;
}

TENON_TEST(outputs_have_the_axes_that_reductions_leave) {
  for (uint64_t mask = 0; mask < 4; ++mask) {
    for (uint64_t reduced = 0; reduced < 4; ++reduced) {
      EXPECT_STATUS(check_sum(mask, reduced),
                    (reduced & ~mask) == 0 ? TENON_OK : TENON_ERROR_INVALID_DATA);
    }
  }
}
