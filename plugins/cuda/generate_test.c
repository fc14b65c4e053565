/* What programs become as texts, and that NVRTC takes them: it needs neither a device nor a driver,
 * and where it is absent nothing is compiled. */
#include "generate.h"

#include <string.h>

#include "compiler.h"
#include "core/base/allocator.h"
#include "core/base/test.h"

enum { CAPACITY = 128, F32 = TENON_DTYPE_FLOAT32 };

typedef struct made_t {
  tenon_program_t program;
  tenon_instruction_t instructions[CAPACITY];
  tenon_operand_t operands[4];
  tenon_program_output_t outputs[32];
  uint32_t coordinates[4];
} made_t;

static uint32_t add(made_t* made, uint16_t opcode, tenon_dtype_t dtype, uint32_t a, uint32_t b,
                    uint32_t c) {
  const uint32_t k = made->program.instruction_count++;
  made->instructions[k] =
      (tenon_instruction_t){.opcode = opcode, .dtype = (uint16_t)dtype, .operands = {a, b, c}};
  return k;
}
static uint32_t add_immediate(made_t* made, uint16_t opcode, tenon_dtype_t dtype, int64_t value) {
  const uint32_t k = add(made, opcode, dtype, 0, 0, 0);
  made->instructions[k].immediate.i = value;
  return k;
}
static uint32_t add_operand(made_t* made, tenon_dtype_t dtype) {
  made->operands[made->program.operand_count] =
      (tenon_operand_t){.index = made->program.operand_count, .dtype = dtype};
  return add_immediate(made, TENON_OPCODE_INPUT, dtype, made->program.operand_count++);
}
static void add_output(made_t* made, uint32_t instruction, tenon_dtype_t dtype, uint64_t axes) {
  const uint32_t k = made->program.output_count++;
  made->outputs[k] = (tenon_program_output_t){
      .instruction = instruction, .dtype = dtype, .index = k, .reduced_axes = axes};
}

static const char* analyse(made_t* made, uint32_t rank, tenon__cuda_analysis_t* out) {
  uint32_t reason = 0;
  made->program.instructions = made->instructions;
  made->program.operands = made->operands;
  made->program.outputs = made->outputs;
  made->program.coordinates = made->coordinates;
  made->program.rank = rank;
  return tenon__cuda_analyse(&made->program, out, &reason);
}

static void report(void* user, int32_t severity, const char* message) {
  (void)user, (void)severity;
  (void)fprintf(stderr, "%s\n", message);
}

/* Compiles the text for two architectures, with and without dependent launch. */
static void expect_compiles(made_t* made, uint32_t rank, const tenon__cuda_form_t* form) {
  static const int architectures[] = {80, 90};
  const tenon_sink_t sink = {NULL, report};
  static tenon__cuda_state_t state;
  static tenon__cuda_analysis_t analysis;
  state.allocator = tenon__allocator_default();
  EXPECT(analyse(made, rank, &analysis) == NULL);
  tenon__cuda_text_t text = {.allocator = state.allocator};
  tenon__cuda_generate(&analysis, form, &text);
  EXPECT(!text.failed);
  for (int k = 0; k < 2 && tenon__cuda_compiler_exists(&state); k++) {
    void* code = NULL;
    size_t size = 0;
    const tenon_status_t status =
        tenon__cuda_compile(&state, text.data, architectures[k], &sink, &code, &size);
    EXPECT_STATUS(status, TENON_OK);
    if (status == TENON_OK) {
      EXPECT(size > 0);
      (void)state.allocator.resize(state.allocator.user, code, size, 0);
    } else {
      EXPECT_CONTAINS(text.data, "nothing");
    }
  }
  tenon__cuda_text_free(&text);
}

TENON_TEST(writes_functions_of_all_types) {
  static const tenon_dtype_t types[] = {F32,
                                        TENON_DTYPE_FLOAT64,
                                        TENON_DTYPE_FLOAT16,
                                        TENON_DTYPE_INT8,
                                        TENON_DTYPE_UINT16,
                                        TENON_DTYPE_INT32,
                                        TENON_DTYPE_INT64,
                                        TENON_DTYPE_UINT64};
  for (size_t t = 0; t < sizeof(types) / sizeof(*types); t++) {
    const bool is_float = tenon__cuda_class(types[t]) == 'f';
    made_t made = {.program = {0}};
    const uint32_t a = add_operand(&made, types[t]);
    const uint32_t b = add_operand(&made, types[t]);
    uint32_t last = a;
    for (uint32_t number = TENON_OPCODE_CAST; number <= TENON_OPCODE_SHR; number++) {
      const uint16_t op = (uint16_t)number;
      const bool for_floats =
          (op >= TENON_OPCODE_SQRT && op <= TENON_OPCODE_SOFTPLUS && op != TENON_OPCODE_RECIP) ||
          op == TENON_OPCODE_ATAN2;
      const bool for_integers = op >= TENON_OPCODE_AND;
      if (is_float ? for_integers : for_floats) {
        continue;
      }
      const uint32_t value = add(&made, op, types[t], last, b, 0);
      last = tenon__cuda_result_type(&made.instructions[value]) == TENON_DTYPE_BOOL
                 ? add(&made, TENON_OPCODE_SELECT, types[t], value, last, b)
                 : value;
    }
    add_output(&made, last, types[t], 0);
    const tenon__cuda_form_t form = {.elements = 4, .batch = 1};
    expect_compiles(&made, 2, &form);
  }
}

/* Generates x f(x), or log(f(x)). Returns whether the source calls the near function. */
static bool is_near(uint16_t opcode, bool takes_logarithm, tenon_dtype_t stored) {
  static tenon__cuda_analysis_t analysis;
  const tenon__cuda_form_t form = {.elements = 4, .batch = 1};
  made_t made = {.program = {0}};
  const uint32_t x = add_operand(&made, TENON_DTYPE_FLOAT16);
  const uint32_t gate = add(&made, opcode, F32, x, 0, 0);
  const uint32_t value = takes_logarithm ? add(&made, TENON_OPCODE_LOG, F32, gate, 0, 0)
                                         : add(&made, TENON_OPCODE_MUL, F32, x, gate, 0);
  add_output(&made, value, stored, 0);
  EXPECT(analyse(&made, 2, &analysis) == NULL);
  tenon__cuda_text_t text = {.allocator = tenon__allocator_default()};
  tenon__cuda_generate(&analysis, &form, &text);
  EXPECT(!text.failed);
  const bool near = strstr(text.data, " = op_near_") != NULL;
  const char* right = opcode == TENON_OPCODE_SIGMOID ? " = op_sigmoid("
                      : opcode == TENON_OPCODE_TANH  ? " = op_tanh("
                      : opcode == TENON_OPCODE_ERF   ? " = op_erf("
                                                     : " = op_softplus(";
  EXPECT(near != (strstr(text.data, right) != NULL));
  tenon__cuda_text_free(&text);
  return near;
}

TENON_TEST(comes_near_a_function_where_nothing_shows_more_than_16_bits_of_it) {
  static const uint16_t opcodes[] = {TENON_OPCODE_SIGMOID, TENON_OPCODE_TANH, TENON_OPCODE_SOFTPLUS,
                                     TENON_OPCODE_ERF};
  for (int k = 0; k < 4; k++) {
    EXPECT(is_near(opcodes[k], false, TENON_DTYPE_FLOAT16));
    EXPECT(is_near(opcodes[k], false, TENON_DTYPE_BFLOAT16));
    EXPECT(!is_near(opcodes[k], false, F32));
    EXPECT(!is_near(opcodes[k], false, TENON_DTYPE_FLOAT8E4M3FN)); /* ties are far apart */
    EXPECT(!is_near(opcodes[k], true, TENON_DTYPE_FLOAT16));       /* the logarithm of 0 is -inf */
  }
}

/* Generates x / d with the bounds of f16. Returns whether the source calls the near function. */
static bool divides_near(tenon_dtype_t dtype, bool by_difference) {
  static tenon__cuda_analysis_t analysis;
  const tenon__cuda_form_t form = {.elements = 4, .batch = 1};
  made_t made = {.program = {0}};
  const uint32_t x = add_operand(&made, TENON_DTYPE_FLOAT16);
  const uint32_t y = add_operand(&made, TENON_DTYPE_FLOAT16);
  const uint32_t difference = add(&made, TENON_OPCODE_SUB, dtype, y, x, 0);
  const uint32_t value = add(&made, TENON_OPCODE_DIV, dtype, x, by_difference ? difference : y, 0);
  add_output(&made, value, TENON_DTYPE_FLOAT16, 0);
  EXPECT(analyse(&made, 2, &analysis) == NULL);
  tenon__cuda_text_t text = {.allocator = tenon__allocator_default()};
  tenon__cuda_generate(&analysis, &form, &text);
  const bool near = strstr(text.data, " = op_near_div(") != NULL;
  EXPECT(near != (strstr(text.data, " = op_div(") != NULL));
  tenon__cuda_text_free(&text);
  return near;
}

TENON_TEST(divides_near_by_operands_only) {
  EXPECT(divides_near(F32, false));
  EXPECT(!divides_near(F32, true)); /* an error of the difference would grow */
  EXPECT(!divides_near(TENON_DTYPE_FLOAT64, false));
}

enum { I64 = TENON_DTYPE_INT64 };

/* Returns whether `opcode` on a coordinate and `number` gives an int. */
static bool is_int(uint16_t opcode, int64_t number, bool finds_ranges) {
  static tenon__cuda_analysis_t analysis;
  const tenon__cuda_form_t form = {.elements = 4, .batch = 1};
  made_t made = {.program = {0}};
  char line[32];
  const uint32_t index = add_immediate(&made, TENON_OPCODE_INDEX, I64, 0);
  const uint32_t constant = add_immediate(&made, TENON_OPCODE_CONSTANT, I64, number);
  const uint32_t value = add(&made, opcode, I64, index, constant, 0);
  add_output(&made, value, I64, 0);
  EXPECT(analyse(&made, 1, &analysis) == NULL);
  if (finds_ranges) {
    tenon__cuda_find_ranges(&analysis);
  }
  tenon__cuda_text_t text = {.allocator = tenon__allocator_default()};
  tenon__cuda_generate(&analysis, &form, &text);
  (void)snprintf(line, sizeof(line), "const int v%u = ", value);
  const bool found = strstr(text.data, line) != NULL;
  tenon__cuda_text_free(&text);
  return found;
}

TENON_TEST(computes_coordinates_in_32_bits_if_they_fit) {
  EXPECT(is_int(TENON_OPCODE_SUB, 3, true));
  EXPECT(!is_int(TENON_OPCODE_SUB, 3, false));
  EXPECT(is_int(TENON_OPCODE_MOD, 20, true));
  EXPECT(is_int(TENON_OPCODE_FLOOR_DIV, -4, true));
  EXPECT(is_int(TENON_OPCODE_MAX, 7, true));
  EXPECT(is_int(TENON_OPCODE_MUL, 127, true));
  EXPECT(!is_int(TENON_OPCODE_MUL, 128, true)); /* 2^24 * 128 does not fit */
  EXPECT(!is_int(TENON_OPCODE_ADD, INT32_MAX, true));
  EXPECT(!is_int(TENON_OPCODE_MIN, (int64_t)1 << 40, true));
  EXPECT(!is_int(TENON_OPCODE_SHL, 1, true));
}

/* Adds values with coordinates of 32 bits, coordinates of 64 bits, and both. */
static void make_places(made_t* made) {
  const uint32_t given = add_operand(made, I64);
  const uint32_t table = made->program.operand_count;
  made->operands[made->program.operand_count++] =
      (tenon_operand_t){.index = table, .dtype = F32, .indexed = 1};
  const uint32_t index = add_immediate(made, TENON_OPCODE_INDEX, I64, 1);
  const uint32_t extent = add_immediate(made, TENON_OPCODE_EXTENT, I64, table);
  const uint32_t three = add_immediate(made, TENON_OPCODE_CONSTANT, I64, 3);
  const uint32_t before = add(made, TENON_OPCODE_SUB, I64, index, three, 0);
  const uint32_t place = add(made, TENON_OPCODE_MOD, I64, before, extent, 0);
  const uint32_t sum = add(made, TENON_OPCODE_ADD, I64, given, place, 0);
  const uint32_t is_more = add(made, TENON_OPCODE_GT, I64, sum, place, 0);
  const uint32_t chosen = add(made, TENON_OPCODE_SELECT, I64, is_more, sum, place);
  made->coordinates[0] = chosen;
  made->coordinates[1] = place;
  made->program.coordinate_count = 2;
  const uint32_t load = add(made, TENON_OPCODE_LOAD, F32, 0, 2, 0);
  made->instructions[load].immediate.i = table;
  add_output(made, load, F32, 0);
  add_output(made, add(made, TENON_OPCODE_CAST, F32, place, 0, 0), F32, 0);
}

TENON_TEST(mixes_coordinates_of_32_and_64_bits) {
  static tenon__cuda_analysis_t analysis;
  const tenon__cuda_form_t form = {.elements = 4, .batch = 1};
  const tenon_sink_t sink = {NULL, report};
  static tenon__cuda_state_t state;
  made_t made = {.program = {0}};
  void* code = NULL;
  size_t size = 0;
  make_places(&made);
  EXPECT(analyse(&made, 2, &analysis) == NULL);
  tenon__cuda_find_ranges(&analysis);
  state.allocator = tenon__allocator_default();
  tenon__cuda_text_t text = {.allocator = state.allocator};
  tenon__cuda_generate(&analysis, &form, &text);
  EXPECT(!text.failed);
  if (tenon__cuda_compiler_exists(&state)) {
    EXPECT_STATUS(tenon__cuda_compile(&state, text.data, 90, &sink, &code, &size), TENON_OK);
    (void)state.allocator.resize(state.allocator.user, code, size, 0);
  }
  tenon__cuda_text_free(&text);
}

/* x - max, exp, sum: two levels; the sum leaves too. */
static void make_rows(made_t* made) {
  const uint32_t x = add_operand(made, TENON_DTYPE_FLOAT16);
  const uint32_t wide = add(made, TENON_OPCODE_CAST, F32, x, 0, 0);
  const uint32_t most = add_immediate(made, TENON_OPCODE_REDUCE_MAX, F32, 2);
  made->instructions[most].operands[0] = wide;
  const uint32_t below = add(made, TENON_OPCODE_SUB, F32, wide, most, 0);
  const uint32_t power = add(made, TENON_OPCODE_EXP, F32, below, 0, 0);
  const uint32_t sum = add_immediate(made, TENON_OPCODE_SUM, F32, 2);
  made->instructions[sum].operands[0] = power;
  add_output(made, add(made, TENON_OPCODE_DIV, F32, power, sum, 0), TENON_DTYPE_FLOAT16, 0);
  add_output(made, sum, F32, 2);
}

TENON_TEST(writes_rows_in_every_form) {
  static const tenon__cuda_form_t forms[] = {
      {.elements = 8, .parts = 32, .rows = 4, .items = 4, .again = 1, .batch = 1},
      {.elements = 1, .parts = 256, .rows = 1, .items = 7},
      {.elements = 4, .parts = 1, .rows = 128, .again = 1, .batch = 4},
      {.elements = 1, .parts = 8, .rows = 32, .items = 3, .columns = 1},
      {.elements = 1, .parts = 1, .rows = 32, .again = 1, .columns = 1, .batch = 2},
      {.elements = 8, .parts = 8, .rows = 32, .items = 3, .columns = 1},
      {.elements = 4, .parts = 256, .rows = 16, .again = 1, .columns = 1, .batch = 4}};
  for (size_t k = 0; k < sizeof(forms) / sizeof(*forms); k++) {
    made_t made = {.program = {0}};
    make_rows(&made);
    expect_compiles(&made, 2, &forms[k]);
  }
}

TENON_TEST(finds_levels_and_what_a_row_has_in_common) {
  made_t made = {.program = {0}};
  tenon__cuda_analysis_t analysis;
  make_rows(&made);
  EXPECT(analyse(&made, 2, &analysis) == NULL);
  EXPECT_INT(analysis.levels, 2);
  EXPECT(analysis.reduced_axes == 2);
  EXPECT(analysis.uniform[2] && !analysis.uniform[3]); /* the maximum; what is below it */
  EXPECT_INT(analysis.level[4], 1);
  EXPECT_INT(analysis.level[5], 2);
  EXPECT_INT(analysis.walk_count, 3);
}

TENON_TEST(writes_loads_with_their_bounds) {
  made_t made = {.program = {0}};
  made.operands[0] = (tenon_operand_t){.dtype = TENON_DTYPE_BFLOAT16, .indexed = 1};
  made.program.operand_count = 1;
  const uint32_t index = add_immediate(&made, TENON_OPCODE_INDEX, TENON_DTYPE_INT64, 1);
  const uint32_t size = add_immediate(&made, TENON_OPCODE_SIZE, TENON_DTYPE_INT64, 0);
  const uint32_t extent = add_immediate(&made, TENON_OPCODE_EXTENT, TENON_DTYPE_INT64, 0);
  const uint32_t place = add(&made, TENON_OPCODE_SUB, TENON_DTYPE_INT64, index, size, 0);
  made.coordinates[0] = place;
  made.program.coordinate_count = 1;
  const uint32_t load = add_immediate(&made, TENON_OPCODE_LOAD, F32, 0);
  made.instructions[load].operands[1] = 1;
  const uint32_t inside = add(&made, TENON_OPCODE_LT, TENON_DTYPE_INT64, place, extent, 0);
  const uint32_t twice = add(&made, TENON_OPCODE_ADD, F32, load, load, 0);
  add_output(&made, add(&made, TENON_OPCODE_SELECT, F32, inside, twice, load), F32, 0);
  const tenon__cuda_form_t form = {.elements = 4, .batch = 2};
  expect_compiles(&made, 2, &form);
}

TENON_TEST(refuses_what_it_cannot_write) {
  tenon__cuda_analysis_t analysis;
  made_t made = {.program = {0}};
  const uint32_t x = add_operand(&made, F32);
  const uint32_t first = add_immediate(&made, TENON_OPCODE_SUM, F32, 1);
  made.instructions[first].operands[0] = x;
  const uint32_t second = add_immediate(&made, TENON_OPCODE_SUM, F32, 2);
  made.instructions[second].operands[0] = x;
  add_output(&made, first, F32, 1);
  EXPECT(analyse(&made, 2, &analysis) != NULL);
  made_t strings = {.program = {0}};
  add_output(&strings, add_operand(&strings, TENON_DTYPE_STRING), TENON_DTYPE_STRING, 0);
  EXPECT(analyse(&strings, 1, &analysis) != NULL);
  EXPECT(analyse(&strings, 9, &analysis) != NULL);
}
