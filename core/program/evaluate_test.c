/* The evaluator: the meaning of every opcode, types, strides, reductions, loads, empty spaces,
 * random numbers. */
#include "core/program/evaluate.h"

#include <float.h>

#include "core/base/allocator.h"
#include "core/base/test.h"
#include "core/program/scalar.h"

enum { MOST = 64 };

static tenon_tensor_view_t view_of(void* data, tenon_dtype_t dtype, uint32_t rank,
                                   const int64_t* dims, const int64_t* strides) {
  return (tenon_tensor_view_t){.data = data,
                               .dims = dims,
                               .strides = strides,
                               .rank = rank,
                               .dtype = dtype,
                               .layout = TENON_NONE};
}

/* The array `instructions` as a program. */
#define PROGRAM(rank_, operands_, operand_count_, outputs_, output_count_)                        \
  {                                                                                               \
    .instructions = instructions,                                                                 \
    .instruction_count = sizeof(instructions) / sizeof(instructions[0]), .operands = (operands_), \
    .operand_count = (operand_count_), .outputs = (outputs_), .output_count = (output_count_),    \
    .rank = (rank_)                                                                               \
  }

static void run(const tenon_program_t* program, const int64_t* space,
                const tenon_tensor_view_t* inputs, const tenon_tensor_view_t* outputs) {
  EXPECT_STATUS(
      tenon__program_evaluate(program, space, inputs, outputs, tenon__allocator_default(), NULL),
      TENON_OK);
}

/* One operation of up to three scalars of one type; the result as a double. */
static double apply(uint32_t opcode, tenon_dtype_t dtype, double a, double b) {
  const bool is_float = tenon__dtype_class(dtype) == 'f';
  tenon__scalar_t x = {.f = a};
  tenon__scalar_t y = {.f = b};
  if (!is_float) {
    x.i = (int64_t)a;
    y.i = (int64_t)b;
  }
  const tenon__scalar_t result = tenon__scalar_apply(opcode, dtype, dtype, x, y, y);
  return is_float && !tenon__opcode_is_comparison(opcode) ? result.f : (double)result.i;
}

TENON_TEST(integer_arithmetic_wraps_and_never_traps) {
  const tenon_dtype_t i8 = TENON_DTYPE_INT8;
  const tenon_dtype_t i64 = TENON_DTYPE_INT64;
  const tenon_dtype_t u8 = TENON_DTYPE_UINT8;
  EXPECT_NEAR(apply(TENON_OPCODE_ADD, i8, 127, 1), -128, 0);
  EXPECT_NEAR(apply(TENON_OPCODE_MUL, u8, 200, 2), 144, 0);
  EXPECT_NEAR(apply(TENON_OPCODE_SUB, u8, 0, 1), 255, 0);
  EXPECT_NEAR(apply(TENON_OPCODE_DIV, i8, -7, 2), -3, 0);
  EXPECT_NEAR(apply(TENON_OPCODE_DIV, i8, 5, 0), 0, 0);
  EXPECT_NEAR(apply(TENON_OPCODE_FLOOR_DIV, i8, -7, 2), -4, 0);
  EXPECT_NEAR(apply(TENON_OPCODE_MOD, i8, -7, 4), 1, 0);
  EXPECT_NEAR(apply(TENON_OPCODE_MOD, i8, 7, -4), -1, 0);
  EXPECT_NEAR(apply(TENON_OPCODE_MOD, i8, 7, 0), 0, 0);
  EXPECT_NEAR(apply(TENON_OPCODE_FMOD, i8, -7, 4), -3, 0);
  EXPECT_NEAR(apply(TENON_OPCODE_ABS, i8, -128, 0), -128, 0);
  EXPECT_NEAR(apply(TENON_OPCODE_NEG, u8, 1, 0), 255, 0);
  EXPECT_NEAR(apply(TENON_OPCODE_POW, i64, -2, 3), -8, 0);
  EXPECT_NEAR(apply(TENON_OPCODE_POW, i64, 2, -1), 0, 0);
  EXPECT_NEAR(apply(TENON_OPCODE_POW, i64, -1, -3), -1, 0);
  EXPECT_NEAR(apply(TENON_OPCODE_SHL, u8, 3, 9), 0, 0);
  EXPECT_NEAR(apply(TENON_OPCODE_SHR, i8, -8, 1), -4, 0);
  EXPECT_NEAR(apply(TENON_OPCODE_SHR, u8, 200, 3), 25, 0);
  EXPECT_NEAR(apply(TENON_OPCODE_NOT, u8, 5, 0), 250, 0);
  EXPECT_NEAR(apply(TENON_OPCODE_NOT, TENON_DTYPE_BOOL, 1, 0), 0, 0);
  EXPECT_NEAR(apply(TENON_OPCODE_SIGN, i8, -9, 0), -1, 0);
  const tenon__scalar_t least = {.i = INT64_MIN};
  const tenon__scalar_t minus = {.i = -1};
  EXPECT_INT(tenon__scalar_apply(TENON_OPCODE_DIV, i64, i64, least, minus, minus).i, INT64_MIN);
  EXPECT_INT(tenon__scalar_apply(TENON_OPCODE_MOD, i64, i64, least, minus, minus).i, 0);
  EXPECT_INT(tenon__scalar_apply(TENON_OPCODE_LT, TENON_DTYPE_UINT64, TENON_DTYPE_UINT64, minus,
                                 (tenon__scalar_t){.i = 1}, minus)
                 .i,
             0);
}

TENON_TEST(float_functions) {
  const tenon_dtype_t f32 = TENON_DTYPE_FLOAT32;
  const tenon_dtype_t f64 = TENON_DTYPE_FLOAT64;
  EXPECT_NEAR(apply(TENON_OPCODE_ROUND, f32, 2.5, 0), 2, 0);
  EXPECT_NEAR(apply(TENON_OPCODE_ROUND, f32, -1.5, 0), -2, 0);
  EXPECT_NEAR(apply(TENON_OPCODE_MOD, f32, -7.5, 2), 0.5, 0);
  EXPECT(signbit(apply(TENON_OPCODE_MOD, f32, 4, -2)) != 0);
  EXPECT(signbit(apply(TENON_OPCODE_MOD, f32, -4, 2)) == 0);
  EXPECT_NEAR(apply(TENON_OPCODE_FMOD, f32, -7.5, 2), -1.5, 0);
  EXPECT_NEAR(apply(TENON_OPCODE_FLOOR_DIV, f32, -7.5, 2), -4, 0);
  EXPECT_NEAR(apply(TENON_OPCODE_ADD, f32, 1, ldexp(1, -30)), 1, 0);
  EXPECT_NEAR(apply(TENON_OPCODE_ADD, f64, 1, ldexp(1, -30)), 1 + ldexp(1, -30), 0);
  EXPECT_NEAR(apply(TENON_OPCODE_EXP, f32, 100, 0), HUGE_VAL, 0);
  EXPECT_NEAR(apply(TENON_OPCODE_SIGMOID, f32, -200, 0), 0, 1e-30);
  EXPECT_NEAR(apply(TENON_OPCODE_SIGMOID, f64, 1, 0), 0.7310585786300049, 1e-16);
  EXPECT_NEAR(apply(TENON_OPCODE_SOFTPLUS, f32, 200, 0), 200, 0);
  EXPECT_NEAR(apply(TENON_OPCODE_SOFTPLUS, f64, -1, 0), 0.31326168751822286, 1e-16);
  EXPECT_NEAR(apply(TENON_OPCODE_RSQRT, f64, 4, 0), 0.5, 0);
  EXPECT_NEAR(apply(TENON_OPCODE_ERF, f64, 0.5, 0), 0.5204998778130465, 1e-16);
  EXPECT_NEAR(apply(TENON_OPCODE_ATAN2, f64, 1, -1), 2.356194490192345, 1e-15);
  EXPECT(isnan(apply(TENON_OPCODE_MAX, f32, (double)NAN, 1)));
  EXPECT(isnan(apply(TENON_OPCODE_MIN, f32, 1, (double)NAN)));
  EXPECT(isnan(apply(TENON_OPCODE_SIGN, f32, (double)NAN, 0)));
  EXPECT_NEAR(apply(TENON_OPCODE_IS_INF, f32, -HUGE_VAL, 0), 1, 0);
  EXPECT_NEAR(apply(TENON_OPCODE_NE, f32, (double)NAN, (double)NAN), 1, 0);
  EXPECT_NEAR(apply(TENON_OPCODE_LE, f32, (double)NAN, 1), 0, 0);
}

/* The vectors that the authors of Philox4x32-10 published. */
TENON_TEST(random_numbers_are_philox) {
  EXPECT_NEAR(tenon__random_uniform(TENON_DTYPE_FLOAT32, 0, 0),
              (double)(0x6627e8d5u >> 8) * ldexp(1, -24), 0);
  EXPECT_NEAR(tenon__random_uniform(TENON_DTYPE_FLOAT64, 0, 0),
              (double)(UINT64_C(0x6627e8d5e169c58d) >> 11) * ldexp(1, -53), 0);
}

static void expect_agreement(uint32_t opcode, tenon_dtype_t type) {
  static const double numbers[] = {0.0,  -0.0, 1.0, -1.0, 2.5, -3.5, 100.0, -128.0,
                                   1e30, 0.1,  7.0, 3.0,  4.0, 5.0,  6.0,   (double)NAN};
  const bool is_float = tenon__dtype_class(type) == 'f';
  const tenon_operand_t operands[2] = {{.dtype = type}, {.index = 1, .dtype = type}};
  const uint32_t arity = tenon__opcode_operand_count(opcode);
  const tenon_instruction_t instructions[3] = {
      {.opcode = TENON_OPCODE_INPUT, .dtype = (uint16_t)type},
      {.opcode = TENON_OPCODE_INPUT, .dtype = (uint16_t)type, .immediate = {.i = 1}},
      {.opcode = (uint16_t)opcode,
       .dtype = (uint16_t)type,
       .operands = {0, arity > 1 ? 1u : 0u, 0}}};
  const tenon_dtype_t result = tenon__instruction_type(&instructions[2]);
  const tenon_program_output_t output = {.instruction = 2, .dtype = result};
  const tenon_program_t program = PROGRAM(1, operands, 2, &output, 1);
  uint64_t left[16];
  uint64_t right[16];
  uint64_t out[16] = {0};
  const int64_t dims[1] = {16};
  const int64_t strides[1] = {1};
  for (uint64_t i = 0; i < 16; ++i) {
    const tenon__scalar_t a = {.f = numbers[i]};
    const tenon__scalar_t b = {.f = numbers[(i * 7 + 3) % 16]};
    tenon__element_store(left, type, i, a, TENON_DTYPE_FLOAT64);
    tenon__element_store(right, type, i, b, TENON_DTYPE_FLOAT64);
  }
  const tenon_tensor_view_t inputs[2] = {view_of(left, type, 1, dims, strides),
                                         view_of(right, type, 1, dims, strides)};
  const tenon_tensor_view_t made = view_of(out, result, 1, dims, strides);
  run(&program, dims, inputs, &made);
  for (uint64_t i = 0; i < 16; ++i) {
    const tenon__scalar_t a = tenon__element_load(left, type, i);
    const tenon__scalar_t b = tenon__element_load(right, type, i);
    const tenon__scalar_t expected =
        tenon__scalar_apply(opcode, type, type, a, arity > 1 ? b : a, b);
    const tenon__scalar_t found = tenon__element_load(out, result, i);
    const bool same = result != TENON_DTYPE_BOOL && is_float
                          ? found.f == expected.f || (isnan(found.f) && isnan(expected.f))
                          : found.i == expected.i;
    if (!same) {
      tenon__test_fail(__FILE__, __LINE__, "%s of %s, place %llu", tenon__opcode_name(opcode),
                       tenon__dtype_name(type), (unsigned long long)i);
    }
  }
}

/* The loops for blocks and the rules for scalars agree, on every opcode and type. */
TENON_TEST(blocks_agree_with_scalars) {
  static const tenon_dtype_t types[] = {TENON_DTYPE_FLOAT32, TENON_DTYPE_FLOAT64, TENON_DTYPE_INT64,
                                        TENON_DTYPE_INT8,    TENON_DTYPE_UINT64,  TENON_DTYPE_BOOL};
  for (uint32_t opcode = TENON_OPCODE_ADD; opcode < TENON_OPCODE_SELECT; ++opcode) {
    for (size_t k = 0; k < sizeof(types) / sizeof(types[0]); ++k) {
      expect_agreement(opcode, types[k]);
    }
  }
}

TENON_TEST(strides_broadcast_and_run_backwards) {
  float data[6] = {1, 2, 3, 4, 5, 6};
  float row[3] = {10, 20, 30};
  float out[6] = {0};
  const tenon_operand_t operands[2] = {{.dtype = TENON_DTYPE_FLOAT32},
                                       {.index = 1, .dtype = TENON_DTYPE_FLOAT32}};
  const uint16_t f32 = TENON_DTYPE_FLOAT32;
  const tenon_instruction_t instructions[] = {
      {.opcode = TENON_OPCODE_INPUT, .dtype = f32},
      {.opcode = TENON_OPCODE_INPUT, .dtype = f32, .immediate = {.i = 1}},
      {.opcode = TENON_OPCODE_ADD, .dtype = f32, .operands = {0, 1, 0}}};
  const tenon_program_output_t output = {.instruction = 2, .dtype = TENON_DTYPE_FLOAT32};
  const tenon_program_t program = PROGRAM(2, operands, 2, &output, 1);
  const int64_t space[2] = {2, 3};
  const int64_t backwards[2] = {-3, -1};
  const int64_t broadcast[2] = {0, 1};
  const int64_t turned[2] = {1, 2};
  const tenon_tensor_view_t inputs[2] = {
      view_of(data + 5, TENON_DTYPE_FLOAT32, 2, space, backwards),
      view_of(row, TENON_DTYPE_FLOAT32, 2, space, broadcast)};
  const tenon_tensor_view_t made = view_of(out, TENON_DTYPE_FLOAT32, 2, space, turned);
  run(&program, space, inputs, &made);
  static const float expected[6] = {16, 13, 25, 22, 34, 31};
  for (int i = 0; i < 6; ++i) {
    EXPECT_NEAR(out[i], expected[i], 0);
  }
}

/* in0 of 4 x 700 i32: mean along axis 1 as f64, then everything less its mean, summed along both.
 */
TENON_TEST(reductions_in_stages) {
  enum { ROWS = 4, COLUMNS = 700 };
  static int32_t data[ROWS * COLUMNS];
  double means[ROWS] = {0};
  double total = 1;
  double expected[ROWS] = {0};
  for (int i = 0; i < ROWS * COLUMNS; ++i) {
    data[i] = (i * 37) % 101;
    expected[i / COLUMNS] += (double)data[i] / COLUMNS;
  }
  const uint16_t f64 = TENON_DTYPE_FLOAT64;
  const tenon_operand_t operand = {.dtype = TENON_DTYPE_INT32};
  const tenon_instruction_t instructions[] = {
      {.opcode = TENON_OPCODE_INPUT, .dtype = TENON_DTYPE_INT32},
      {.opcode = TENON_OPCODE_CAST, .dtype = f64, .operands = {0, 0, 0}},
      {.opcode = TENON_OPCODE_MEAN, .dtype = f64, .operands = {1, 0, 0}, .immediate = {.i = 2}},
      {.opcode = TENON_OPCODE_SUB, .dtype = f64, .operands = {1, 2, 0}},
      {.opcode = TENON_OPCODE_SUM, .dtype = f64, .operands = {3, 0, 0}, .immediate = {.i = 3}}};
  const tenon_program_output_t outputs[2] = {
      {.instruction = 2, .dtype = TENON_DTYPE_FLOAT64, .reduced_axes = 2},
      {.instruction = 4, .dtype = TENON_DTYPE_FLOAT64, .reduced_axes = 3}};
  const tenon_program_t program = PROGRAM(2, &operand, 1, outputs, 2);
  const int64_t space[2] = {ROWS, COLUMNS};
  const int64_t strides[2] = {COLUMNS, 1};
  const int64_t dims[2][2] = {{ROWS, 1}, {1, 1}};
  const int64_t out_strides[2] = {1, 1};
  const tenon_tensor_view_t input = view_of(data, TENON_DTYPE_INT32, 2, space, strides);
  const tenon_tensor_view_t made[2] = {
      view_of(means, TENON_DTYPE_FLOAT64, 2, dims[0], out_strides),
      view_of(&total, TENON_DTYPE_FLOAT64, 2, dims[1], out_strides)};
  run(&program, space, &input, made);
  for (int i = 0; i < ROWS; ++i) {
    EXPECT_NEAR(means[i], expected[i], 1e-10);
  }
  EXPECT_NEAR(total, 0, 1e-9);
}

TENON_TEST(an_output_that_is_not_wanted_is_not_computed) {
  double data[3] = {1, 2, 6};
  double out[3] = {0};
  const uint16_t f64 = TENON_DTYPE_FLOAT64;
  const tenon_operand_t operand = {.dtype = TENON_DTYPE_FLOAT64};
  const tenon_instruction_t instructions[] = {
      {.opcode = TENON_OPCODE_INPUT, .dtype = f64},
      {.opcode = TENON_OPCODE_MEAN, .dtype = f64, .immediate = {.i = 1}},
      {.opcode = TENON_OPCODE_SUB, .dtype = f64, .operands = {0, 1, 0}}};
  const tenon_program_output_t outputs[3] = {
      {.instruction = 1, .dtype = TENON_DTYPE_FLOAT64, .reduced_axes = 1},
      {.instruction = 0, .dtype = TENON_DTYPE_FLOAT64},
      {.instruction = 2, .dtype = TENON_DTYPE_FLOAT64}};
  const tenon_program_t program = PROGRAM(1, &operand, 1, outputs, 3);
  const int64_t dims[1] = {3};
  const int64_t strides[1] = {1};
  const tenon_tensor_view_t input = view_of(data, TENON_DTYPE_FLOAT64, 1, dims, strides);
  const tenon_tensor_view_t made[3] = {
      {0}, {0}, view_of(out, TENON_DTYPE_FLOAT64, 1, dims, strides)};
  run(&program, dims, &input, made);
  EXPECT_NEAR(out[0], -2, 0);
  EXPECT_NEAR(out[2], 3, 0);
}

/* f32 sums are kept in f64: 2^24 + 1 + 1 + ... is exact. */
TENON_TEST(sums_of_f32_are_kept_in_f64) {
  static float data[1000];
  float sum = 0;
  float least = 0;
  for (int i = 0; i < 1000; ++i) {
    data[i] = i == 0 ? 16777216.0f : 1.0f;
  }
  data[500] = -3.0f;
  const uint16_t f32 = TENON_DTYPE_FLOAT32;
  const tenon_operand_t operand = {.dtype = TENON_DTYPE_FLOAT32};
  const tenon_instruction_t instructions[] = {
      {.opcode = TENON_OPCODE_INPUT, .dtype = f32},
      {.opcode = TENON_OPCODE_SUM, .dtype = f32, .operands = {0, 0, 0}, .immediate = {.i = 1}},
      {.opcode = TENON_OPCODE_REDUCE_MIN, .dtype = f32, .immediate = {.i = 1}}};
  const tenon_program_output_t outputs[2] = {
      {.instruction = 1, .dtype = TENON_DTYPE_FLOAT32, .reduced_axes = 1},
      {.instruction = 2, .dtype = TENON_DTYPE_FLOAT32, .reduced_axes = 1}};
  const tenon_program_t program = PROGRAM(1, &operand, 1, outputs, 2);
  const int64_t space[1] = {1000};
  const int64_t one[1] = {1};
  const tenon_tensor_view_t input = view_of(data, TENON_DTYPE_FLOAT32, 1, space, one);
  const tenon_tensor_view_t made[2] = {view_of(&sum, TENON_DTYPE_FLOAT32, 1, one, one),
                                       view_of(&least, TENON_DTYPE_FLOAT32, 1, one, one)};
  run(&program, space, &input, made);
  EXPECT_NEAR(sum, 16777216.0 + 998 - 3 + 1, 0.51);
  EXPECT_NEAR(least, -3, 0);
}

/* sum(x, [1]) + b over an empty axis is b; the largest of nothing is minus infinity. */
TENON_TEST(empty_axes) {
  float nothing[1] = {0};
  float bias[2] = {5, 6};
  float out[2] = {0};
  float most[2] = {0};
  const uint16_t f32 = TENON_DTYPE_FLOAT32;
  const tenon_operand_t operands[2] = {
      {.dtype = TENON_DTYPE_FLOAT32},
      {.index = 1, .dtype = TENON_DTYPE_FLOAT32, .broadcast_axes = 2}};
  const tenon_instruction_t instructions[] = {
      {.opcode = TENON_OPCODE_INPUT, .dtype = f32},
      {.opcode = TENON_OPCODE_SUM, .dtype = f32, .immediate = {.i = 2}},
      {.opcode = TENON_OPCODE_INPUT, .dtype = f32, .immediate = {.i = 1}},
      {.opcode = TENON_OPCODE_ADD, .dtype = f32, .operands = {1, 2, 0}},
      {.opcode = TENON_OPCODE_REDUCE_MAX, .dtype = f32, .immediate = {.i = 2}}};
  const tenon_program_output_t outputs[2] = {
      {.instruction = 3, .dtype = TENON_DTYPE_FLOAT32, .reduced_axes = 2},
      {.instruction = 4, .dtype = TENON_DTYPE_FLOAT32, .reduced_axes = 2}};
  const tenon_program_t program = PROGRAM(2, operands, 2, outputs, 2);
  const int64_t space[2] = {2, 0};
  const int64_t column[2] = {2, 1};
  const int64_t strides[2] = {1, 0};
  const tenon_tensor_view_t inputs[2] = {view_of(nothing, TENON_DTYPE_FLOAT32, 2, space, strides),
                                         view_of(bias, TENON_DTYPE_FLOAT32, 2, column, strides)};
  const tenon_tensor_view_t made[2] = {view_of(out, TENON_DTYPE_FLOAT32, 2, column, strides),
                                       view_of(most, TENON_DTYPE_FLOAT32, 2, column, strides)};
  run(&program, space, inputs, made);
  EXPECT_NEAR(out[0], 5, 0);
  EXPECT_NEAR(out[1], 6, 0);
  EXPECT_NEAR(most[1], -HUGE_VAL, 0);
}

/* in0[extent(in0, 1) - 1 - index(0)]: the operand's own extents, not the space's. */
TENON_TEST(extents_of_operands) {
  int64_t data[6] = {10, 11, 12, 13, 14, 15};
  int64_t out[2] = {0};
  const uint16_t i64 = TENON_DTYPE_INT64;
  const tenon_operand_t operand = {.dtype = TENON_DTYPE_INT64, .indexed = 1};
  tenon_instruction_t instructions[] = {
      {.opcode = TENON_OPCODE_EXTENT, .dtype = i64, .operands = {1, 0, 0}},
      {.opcode = TENON_OPCODE_CONSTANT, .dtype = i64, .immediate = {.i = 1}},
      {.opcode = TENON_OPCODE_SUB, .dtype = i64, .operands = {0, 1, 0}},
      {.opcode = TENON_OPCODE_INDEX, .dtype = i64},
      {.opcode = TENON_OPCODE_SUB, .dtype = i64, .operands = {2, 3, 0}},
      {.opcode = TENON_OPCODE_LOAD, .dtype = i64, .operands = {0, 2, 0}}};
  const uint32_t coordinates[2] = {1, 4};
  const tenon_program_output_t output = {.instruction = 5, .dtype = TENON_DTYPE_INT64};
  tenon_program_t program = PROGRAM(1, &operand, 1, &output, 1);
  program.coordinates = coordinates;
  program.coordinate_count = 2;
  const int64_t space[1] = {2};
  const int64_t one[1] = {1};
  int64_t dims[2] = {2, 3};
  const int64_t strides[2] = {3, 1};
  const tenon_tensor_view_t input = view_of(data, TENON_DTYPE_INT64, 2, dims, strides);
  const tenon_tensor_view_t made = view_of(out, TENON_DTYPE_INT64, 1, space, one);
  run(&program, space, &input, &made);
  EXPECT_INT(out[0], 15);
  EXPECT_INT(out[1], 14);
}

/* select(index(0) < limit, in0[index(0)] + 1, -1): what the condition excludes is no error. */
TENON_TEST(guarded_loads) {
  int64_t data[3] = {7, 8, 9};
  int64_t out[5] = {0};
  const uint16_t i64 = TENON_DTYPE_INT64;
  const tenon_operand_t operand = {.dtype = TENON_DTYPE_INT64, .indexed = 1};
  tenon_instruction_t instructions[] = {
      {.opcode = TENON_OPCODE_INDEX, .dtype = i64},
      {.opcode = TENON_OPCODE_CONSTANT, .dtype = i64, .immediate = {.i = 3}},
      {.opcode = TENON_OPCODE_LT, .dtype = i64, .operands = {0, 1, 0}},
      {.opcode = TENON_OPCODE_LOAD, .dtype = i64, .operands = {0, 1, 0}},
      {.opcode = TENON_OPCODE_CONSTANT, .dtype = i64, .immediate = {.i = 1}},
      {.opcode = TENON_OPCODE_ADD, .dtype = i64, .operands = {3, 4, 0}},
      {.opcode = TENON_OPCODE_NEG, .dtype = i64, .operands = {4, 0, 0}},
      {.opcode = TENON_OPCODE_SELECT, .dtype = i64, .operands = {2, 5, 6}}};
  const uint32_t coordinates[1] = {0};
  const tenon_program_output_t output = {.instruction = 7, .dtype = TENON_DTYPE_INT64};
  tenon_program_t program = PROGRAM(1, &operand, 1, &output, 1);
  program.coordinates = coordinates;
  program.coordinate_count = 1;
  const int64_t space[1] = {5};
  int64_t three[1] = {3};
  const int64_t one[1] = {1};
  tenon__test_messages_t messages;
  const tenon_sink_t* sink = tenon__test_listen(&messages);
  const tenon_tensor_view_t input = view_of(data, TENON_DTYPE_INT64, 1, three, one);
  const tenon_tensor_view_t made = view_of(out, TENON_DTYPE_INT64, 1, space, one);
  run(&program, space, &input, &made);
  EXPECT_INT(out[2], 10);
  EXPECT_INT(out[3], -1);
  instructions[1].immediate.i = 4;
  EXPECT_STATUS(
      tenon__program_evaluate(&program, space, &input, &made, tenon__allocator_default(), sink),
      TENON_ERROR_INVALID_DATA);
  EXPECT_CONTAINS(messages.text, "element 3 of axis 0 is read, whose extent is 3");
  three[0] = 0;
  EXPECT_STATUS(
      tenon__program_evaluate(&program, space, &input, &made, tenon__allocator_default(), sink),
      TENON_ERROR_INVALID_DATA);
}

TENON_TEST(packed_and_narrow_types) {
  uint8_t packed[2] = {0x7F, 0x08}; /* -1, 7, -8 */
  uint16_t halves[3] = {0};
  uint8_t out[2] = {0};
  const tenon_operand_t operand = {.dtype = TENON_DTYPE_INT4};
  const tenon_instruction_t instructions[] = {
      {.opcode = TENON_OPCODE_INPUT, .dtype = TENON_DTYPE_INT8},
      {.opcode = TENON_OPCODE_CAST, .dtype = TENON_DTYPE_FLOAT32, .operands = {0, 0, 0}},
      {.opcode = TENON_OPCODE_ADD, .dtype = TENON_DTYPE_FLOAT32, .operands = {1, 1, 0}}};
  const tenon_program_output_t outputs[2] = {{.instruction = 2, .dtype = TENON_DTYPE_FLOAT16},
                                             {.instruction = 2, .dtype = TENON_DTYPE_UINT4}};
  const tenon_program_t program = PROGRAM(1, &operand, 1, outputs, 2);
  const int64_t space[1] = {3};
  const int64_t one[1] = {1};
  const tenon_tensor_view_t input = view_of(packed, TENON_DTYPE_INT4, 1, space, one);
  const tenon_tensor_view_t made[2] = {view_of(halves, TENON_DTYPE_FLOAT16, 1, space, one),
                                       view_of(out, TENON_DTYPE_UINT4, 1, space, one)};
  run(&program, space, &input, made);
  EXPECT_INT(halves[0], 0xC000);
  EXPECT_INT(halves[1], 0x4B00);
  EXPECT_INT(halves[2], 0xCC00);
  EXPECT_INT(out[0], 0xE0);
  EXPECT_INT(out[1], 0);
}

static bool evaluate_sum(tenon_allocator_t allocator, void* user) {
  (void)user;
  float data[4] = {1, 2, 3, 4};
  float out = 0;
  const uint32_t coordinates[1] = {0};
  const tenon_operand_t operand = {.dtype = TENON_DTYPE_FLOAT32, .indexed = 1};
  const tenon_instruction_t instructions[] = {
      {.opcode = TENON_OPCODE_INDEX, .dtype = TENON_DTYPE_INT64},
      {.opcode = TENON_OPCODE_LOAD, .dtype = TENON_DTYPE_FLOAT32, .operands = {0, 1, 0}},
      {.opcode = TENON_OPCODE_SUM,
       .dtype = TENON_DTYPE_FLOAT32,
       .operands = {1, 0, 0},
       .immediate = {.i = 1}}};
  const tenon_program_output_t output = {
      .instruction = 2, .dtype = TENON_DTYPE_FLOAT32, .reduced_axes = 1};
  tenon_program_t program = PROGRAM(1, &operand, 1, &output, 1);
  program.coordinates = coordinates;
  program.coordinate_count = 1;
  const int64_t four[1] = {4};
  const int64_t one[1] = {1};
  const tenon_tensor_view_t input = view_of(data, TENON_DTYPE_FLOAT32, 1, four, one);
  const tenon_tensor_view_t made = view_of(&out, TENON_DTYPE_FLOAT32, 1, one, one);
  return tenon__program_evaluate(&program, four, &input, &made, allocator, NULL) == TENON_OK &&
         out == 10.0f;
}

TENON_TEST(survives_failing_allocations) {
  tenon__test_each_allocation(evaluate_sum, NULL);
}

TENON_TEST(refuses_spaces_that_overflow) {
  const tenon_program_t program = {.rank = 2};
  const int64_t space[2] = {INT64_MAX, 2};
  EXPECT_STATUS(
      tenon__program_evaluate(&program, space, NULL, NULL, tenon__allocator_default(), NULL),
      TENON_ERROR_INVALID_DATA);
}
