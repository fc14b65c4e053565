/* Any bytes as a program of a plan; what is taken is normalised, printed and, on a small space,
 * evaluated. */
#include "core/base/allocator.h"
#include "core/base/arena.h"
#include "core/base/bytes.h"
#include "core/dimension/dimension.h"
#include "core/dimension/dimension_algebra.h"
#include "core/dimension/dimension_pool.h"
#include "core/plan_file/program_file.h"
#include "core/program/evaluate.h"
#include "core/program/linear.h"
#include "core/program/normalise.h"
#include "core/program/program_text.h"

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

enum { MOST_OPERANDS = 4, MOST_RANK = 4, ELEMENTS = 4096 };

/* Every operand is a cube of extent 2, every output likewise. */
static void evaluate(const tenon_program_t* program) {
  static uint64_t memory[ELEMENTS];
  static const int64_t dims[64] = {2, 2, 2, 2};
  static const int64_t strides[64] = {8, 4, 2, 1};
  tenon_tensor_view_t inputs[MOST_OPERANDS];
  tenon_tensor_view_t outputs[MOST_OPERANDS];
  if (program->rank > MOST_RANK || program->operand_count > MOST_OPERANDS ||
      program->output_count > MOST_OPERANDS || program->instruction_count > 256) {
    return;
  }
  const tenon_tensor_view_t view = {
      .data = memory, .dims = dims, .strides = strides, .rank = MOST_RANK, .layout = TENON_NONE};
  for (uint32_t i = 0; i < program->operand_count; ++i) {
    inputs[i] = view;
    inputs[i].dtype = program->operands[i].dtype;
  }
  for (uint32_t i = 0; i < program->output_count; ++i) {
    outputs[i] = view;
    outputs[i].dtype = program->outputs[i].dtype;
  }
  (void)tenon__program_evaluate(program, dims, inputs, outputs, tenon__allocator_default(), NULL);
}

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const tenon_allocator_t allocator = tenon__allocator_default();
  tenon__arena_t arena;
  tenon__dim_pool_t* pool = NULL;
  struct tenon__byte_reader_t reader;
  tenon__expression_t expression = {0};
  tenon__expression_t normal = {0};
  if (tenon__dim_pool_create(allocator, &pool) != TENON_OK) {
    return 0;
  }
  for (int64_t i = 0; i < 8; ++i) {
    (void)tenon__dim_coordinate(pool, (uint32_t)i, tenon__dim_constant(pool, i + 2));
  }
  tenon__arena_initialize(&arena, allocator);
  tenon__byte_reader_initialize(&reader, data, size);
  if (tenon__expression_read(&reader, pool, &arena, NULL, &expression) == TENON_OK) {
    tenon__expression_t parts[2] = {0};
    for (uint32_t i = 0; i < expression.program.output_count; ++i) {
      (void)tenon__program_text(&expression.program, i, &arena);
    }
    (void)tenon__program_cost(&expression.program);
    (void)tenon__expression_linear_in(&expression, 0, &arena, &parts[0], &parts[1]);
    if (tenon__expression_normalise(&expression, &arena, &normal) == TENON_OK) {
      evaluate(&normal.program);
    }
    evaluate(&expression.program);
  }
  tenon__arena_deinitialize(&arena);
  tenon__dim_pool_destroy(pool);
  return 0;
}
