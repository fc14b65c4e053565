/* Compares the steps of plans with the expected kinds. A lost fusion changes no result, so tests
 * that compare results do not find it. */
#include "fake_host.h"
#include "fake_program.h"

#include "block_plan.h"

enum { ROWS = 3, COLUMNS = 33, MAX_BLOCKS = 64 };

/* The iteration space is ROWS x COLUMNS. */
static const tenon__cpu_walk_t full = {COLUMNS, 1};
static const tenon__cpu_walk_t each_row = {1, 0};
static const tenon__cpu_walk_t each_column = {0, 1};

static const char* const names[] = {[STEP_VIEW] = "view",
                                    [STEP_READ] = "read",
                                    [STEP_INDEX] = "index",
                                    [STEP_GATHER] = "gather",
                                    [STEP_UNARY] = "unary",
                                    [STEP_BINARY] = "binary",
                                    [STEP_SELECT] = "select",
                                    [STEP_CAST] = "cast",
                                    [STEP_REDUCE] = "reduce",
                                    [STEP_WRITE] = "write",
                                    [STEP_SHIFTED_SUM] = "shifted_sum",
                                    [STEP_SCALED] = "scaled",
                                    [STEP_QUANTIZED] = "quantized",
                                    [STEP_REQUANTIZED] = "requantized",
                                    [STEP_DEQUANTIZED] = "dequantized",
                                    [STEP_FOUND] = "found",
                                    [STEP_AFFINE] = "affine",
                                    [STEP_GELU] = "gelu",
                                    [STEP_NONE] = "none"};

typedef struct memory_t {
  void* blocks[MAX_BLOCKS];
  uint32_t count;
} memory_t;

static void* allocate(void* user, size_t size_bytes) {
  memory_t* memory = user;
  void* block = memory->count < MAX_BLOCKS ? calloc(1, size_bytes + 1) : NULL;
  if (block != NULL) {
    memory->blocks[memory->count++] = block;
  }
  return block;
}

/* Checks the kinds of all steps of the draft's plan except VIEW, in their order. A division that
 * multiplies by the reciprocal is a "reciprocal". `walks` are those of the operands. */
static void expect_steps(draft_t* draft, const tenon__cpu_walk_t* walks, const char* expected) {
  static const int64_t extents[] = {ROWS, COLUMNS};
  const tenon__cpu_elements_t* elements = tenon__cpu_isa_find("baseline")->elements;
  memory_t memory = {.count = 0};
  tenon__cpu_program_t* program = NULL;
  tenon__cpu_block_t* block = NULL;
  tenon__cpu_walk_t outputs[4];
  char text[400] = "";
  finish(draft, 2);
  for (uint32_t k = 0; k < draft->program.output_count; k++) {
    outputs[k] = draft->outputs[k].reduced_axes != 0 ? each_row : full;
  }
  REQUIRE(tenon__cpu_program_create(&draft->program, allocate, &memory, &program) == TENON_OK);
  const tenon__cpu_block_shape_t shape = {.operands = walks,
                                          .outputs = outputs,
                                          .extents = extents,
                                          .row_axis = 0,
                                          .column_axis = 1,
                                          .columns_reduced = program->reduces,
                                          .whole = true,
                                          .capacity = TENON_CPU_BLOCK_ELEMENTS};
  REQUIRE(tenon__cpu_block_create(elements, program, &shape, allocate, &memory, &block) ==
          TENON_OK);
  for (uint32_t s = 0; s < block->step_count; s++) {
    const step_t* step = &block->steps[s];
    if (step->kind != STEP_VIEW) {
      (void)snprintf(text + strlen(text), sizeof(text) - strlen(text), "%s%s",
                     text[0] == '\0' ? "" : " ",
                     step->reciprocal ? "reciprocal" : names[step->kind]);
    }
  }
  EXPECT_TEXT(text, expected);
  while (memory.count > 0) {
    free(memory.blocks[--memory.count]);
  }
}

static uint32_t row_of(draft_t* draft, uint32_t index) {
  return input(draft, index, TENON_DTYPE_FLOAT32, TENON_DTYPE_FLOAT32);
}

static uint32_t along_row(draft_t* draft, uint32_t opcode, uint32_t a) {
  return with_axis(draft, opcode, TENON_DTYPE_FLOAT32, a, 2);
}

TENON_TEST(softmax_sums_while_it_computes_exponentials) {
  draft_t draft = {0};
  const uint32_t x = row_of(&draft, 0);
  const uint32_t m = along_row(&draft, TENON_OPCODE_REDUCE_MAX, x);
  const uint32_t e = f32(&draft, TENON_OPCODE_EXP, f32(&draft, TENON_OPCODE_SUB, x, m), 0);
  const uint32_t sum = along_row(&draft, TENON_OPCODE_SUM, e);
  output(&draft, f32(&draft, TENON_OPCODE_DIV, e, sum), TENON_DTYPE_FLOAT32, 0);
  expect_steps(&draft, &full, "reduce shifted_sum reciprocal");
}

TENON_TEST(layer_normalization_has_three_passes) {
  draft_t draft = {0};
  const tenon__cpu_walk_t walks[] = {full, each_column, each_column};
  const uint32_t x = row_of(&draft, 0);
  const uint32_t scale = row_of(&draft, 1);
  const uint32_t bias = row_of(&draft, 2);
  const uint32_t d = f32(&draft, TENON_OPCODE_SUB, x, along_row(&draft, TENON_OPCODE_MEAN, x));
  const uint32_t variance =
      along_row(&draft, TENON_OPCODE_MEAN, f32(&draft, TENON_OPCODE_MUL, d, d));
  const uint32_t number = f32(&draft, TENON_OPCODE_RSQRT, variance, 0);
  const uint32_t y = f32(&draft, TENON_OPCODE_MUL, f32(&draft, TENON_OPCODE_MUL, d, number), scale);
  output(&draft, f32(&draft, TENON_OPCODE_ADD, y, bias), TENON_DTYPE_FLOAT32, 0);
  expect_steps(&draft, walks, "reduce shifted_sum unary scaled");
}

/* Makes round(x) + z as a byte and returns the sum. */
static uint32_t add_byte(draft_t* draft, uint32_t x, uint32_t z) {
  const uint32_t whole = f32(draft, TENON_OPCODE_ROUND, x, 0);
  const uint32_t sum = f32(draft, TENON_OPCODE_ADD, whole, z);
  output(draft, add(draft, TENON_OPCODE_CAST, TENON_DTYPE_UINT8, sum, 0, 0), TENON_DTYPE_UINT8, 0);
  return sum;
}

TENON_TEST(quantisation_is_one_step) {
  draft_t draft = {0};
  const tenon__cpu_walk_t walks[] = {full, each_row};
  const uint32_t x = row_of(&draft, 0);
  const uint32_t scale = row_of(&draft, 1);
  (void)add_byte(&draft, f32(&draft, TENON_OPCODE_DIV, x, scale), constant(&draft, 128));
  expect_steps(&draft, walks, "quantized");
}

TENON_TEST(quantisation_keeps_a_sum_that_is_an_output) {
  draft_t draft = {0};
  const tenon__cpu_walk_t walks[] = {full, each_row};
  const uint32_t x = row_of(&draft, 0);
  const uint32_t scale = row_of(&draft, 1);
  const uint32_t sum =
      add_byte(&draft, f32(&draft, TENON_OPCODE_DIV, x, scale), constant(&draft, 128));
  output(&draft, sum, TENON_DTYPE_FLOAT32, 0);
  expect_steps(&draft, walks, "binary unary binary cast write");
}

TENON_TEST(requantisation_is_one_step) {
  draft_t draft = {0};
  const tenon__cpu_walk_t walks[] = {full, each_column};
  const uint32_t x = input(&draft, 0, TENON_DTYPE_INT32, TENON_DTYPE_INT32);
  const uint32_t scale = row_of(&draft, 1);
  const uint32_t number = f32(&draft, TENON_OPCODE_CAST, x, 0);
  (void)add_byte(&draft, f32(&draft, TENON_OPCODE_MUL, number, scale), constant(&draft, 3));
  expect_steps(&draft, walks, "requantized");
}

TENON_TEST(dequantisation_is_one_step) {
  draft_t draft = {0};
  const tenon__cpu_walk_t walks[] = {full, each_row};
  const uint32_t x = input(&draft, 0, TENON_DTYPE_INT8, TENON_DTYPE_INT8);
  const uint32_t scale = row_of(&draft, 1);
  const uint32_t number = f32(&draft, TENON_OPCODE_CAST, x, 0);
  const uint32_t d = f32(&draft, TENON_OPCODE_SUB, number, constant(&draft, 3));
  output(&draft, f32(&draft, TENON_OPCODE_MUL, d, scale), TENON_DTYPE_FLOAT32, 0);
  expect_steps(&draft, walks, "dequantized");
}

TENON_TEST(a_cast_is_stored_in_the_output) {
  draft_t draft = {0};
  const uint32_t x = row_of(&draft, 0);
  output(&draft, add(&draft, TENON_OPCODE_CAST, TENON_DTYPE_INT32, x, 0, 0), TENON_DTYPE_INT32, 0);
  expect_steps(&draft, &full, "cast");
}

TENON_TEST(a_cast_to_half_precision_is_rounded_in_a_buffer) {
  draft_t draft = {0};
  const uint32_t x = row_of(&draft, 0);
  output(&draft, add(&draft, TENON_OPCODE_CAST, TENON_DTYPE_FLOAT16, x, 0, 0), TENON_DTYPE_FLOAT32,
         0);
  expect_steps(&draft, &full, "cast write");
}

TENON_TEST(gelu_is_one_step) {
  draft_t draft = {0};
  const uint32_t x = row_of(&draft, 0);
  const uint32_t scaled = f32(&draft, TENON_OPCODE_DIV, x, constant(&draft, 1.41421356));
  const uint32_t gate =
      f32(&draft, TENON_OPCODE_ADD, f32(&draft, TENON_OPCODE_ERF, scaled, 0), constant(&draft, 1));
  const uint32_t half = f32(&draft, TENON_OPCODE_MUL, x, constant(&draft, 0.5));
  output(&draft, f32(&draft, TENON_OPCODE_MUL, half, gate), TENON_DTYPE_FLOAT32, 0);
  expect_steps(&draft, &full, "gelu");
}

TENON_TEST(an_affine_function_is_one_step) {
  draft_t draft = {0};
  const tenon__cpu_walk_t walks[] = {full, each_row, each_column};
  const uint32_t x = row_of(&draft, 0);
  const uint32_t shift = row_of(&draft, 1);
  const uint32_t bias = row_of(&draft, 2);
  const uint32_t d = f32(&draft, TENON_OPCODE_SUB, x, shift);
  const uint32_t product = f32(&draft, TENON_OPCODE_MUL, d, constant(&draft, 3));
  output(&draft, f32(&draft, TENON_OPCODE_ADD, product, bias), TENON_DTYPE_FLOAT32, 0);
  expect_steps(&draft, walks, "affine");
}

TENON_TEST(arg_max_compares_and_selects_in_one_step) {
  draft_t draft = {0};
  const uint32_t x = row_of(&draft, 0);
  const uint32_t m = along_row(&draft, TENON_OPCODE_REDUCE_MAX, x);
  const uint32_t nan = add(&draft, TENON_OPCODE_NE, TENON_DTYPE_FLOAT32, x, x, 0);
  const uint32_t equal = add(&draft, TENON_OPCODE_EQ, TENON_DTYPE_FLOAT32, x, m, 0);
  const uint32_t either = add(&draft, TENON_OPCODE_OR, TENON_DTYPE_BOOL, nan, equal, 0);
  const uint32_t index = with_axis(&draft, TENON_OPCODE_INDEX, TENON_DTYPE_INT64, 0, 1);
  const uint32_t last = with_axis(&draft, TENON_OPCODE_CONSTANT, TENON_DTYPE_INT64, 0, COLUMNS - 1);
  const uint32_t place = add(&draft, TENON_OPCODE_SELECT, TENON_DTYPE_INT64, either, index, last);
  output(&draft, with_axis(&draft, TENON_OPCODE_REDUCE_MIN, TENON_DTYPE_INT64, place, 2),
         TENON_DTYPE_INT64, 2);
  expect_steps(&draft, &full, "reduce index found write");
}
