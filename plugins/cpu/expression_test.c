/* Compares the expression kernel with the oracle for random programs and shapes. */
#include "expression_oracle.h"

/* Returns a random earlier instruction of a float type. */
static uint32_t pick(fake_t* fake, const draft_t* draft) {
  uint32_t i = 0;
  do {
    i = (uint32_t)fake_choice(&fake->seed, 0, draft->program.instruction_count - 1);
  } while (draft->instructions[i].opcode == TENON_OPCODE_LT);
  return i;
}

static void random_program(unsigned seed) {
  static const uint32_t opcodes[] = {TENON_OPCODE_ADD, TENON_OPCODE_SUB,  TENON_OPCODE_MUL,
                                     TENON_OPCODE_MIN, TENON_OPCODE_MAX,  TENON_OPCODE_NEG,
                                     TENON_OPCODE_ABS, TENON_OPCODE_TANH, TENON_OPCODE_SIGMOID};
  fake_t fake = {.seed = seed};
  draft_t draft = {0};
  const uint32_t rank = (uint32_t)fake_choice(&fake.seed, 1, 4);
  const uint64_t axes = (uint64_t)fake_choice(&fake.seed, 1, (1 << rank) - 1);
  random_space(&fake, rank, 12000);
  for (uint32_t k = 0; k < 3; k++) {
    random_input(&fake, rank, TENON_DTYPE_FLOAT32);
    (void)input(&draft, k, TENON_DTYPE_FLOAT32, TENON_DTYPE_FLOAT32);
  }
  (void)constant(&draft, 0.5);
  bool any_reduced = false;
  for (uint32_t k = 0; k < 10; k++) {
    const uint32_t last = draft.program.instruction_count - 1;
    const uint32_t a = fake_choice(&fake.seed, 0, 1) == 0 ? last : pick(&fake, &draft);
    const uint32_t b = pick(&fake, &draft);
    const int64_t what = fake_choice(&fake.seed, 0, 13);
    if (what <= 8) {
      (void)f32(&draft, opcodes[what], a, b);
    } else if (what <= 10) {
      /* The comparison reads exact inputs only, so that no rounding error decides it. */
      const uint32_t c = add(&draft, TENON_OPCODE_LT, TENON_DTYPE_FLOAT32, a % 3, b % 3, 0);
      (void)add(&draft, TENON_OPCODE_SELECT, TENON_DTYPE_FLOAT32, c, a, 3);
      k++;
    } else if (seed % 2 == 0) {
      const uint32_t kinds[] = {TENON_OPCODE_MEAN, TENON_OPCODE_REDUCE_MAX,
                                TENON_OPCODE_REDUCE_MIN};
      (void)with_axis(&draft, kinds[what - 11], TENON_DTYPE_FLOAT32, a, (int64_t)axes);
      any_reduced = true;
    }
  }
  /* Combines the last instruction with the first input, so that the output has the full shape. */
  (void)f32(&draft, TENON_OPCODE_ADD, draft.program.instruction_count - 1, 0);
  output(&draft, draft.program.instruction_count - 1, TENON_DTYPE_FLOAT32, 0);
  reduced_output(&fake, rank, TENON_DTYPE_FLOAT32, 0);
  if (any_reduced) {
    const uint32_t i = with_axis(&draft, TENON_OPCODE_MEAN, TENON_DTYPE_FLOAT32,
                                 draft.program.instruction_count - 1, (int64_t)axes);
    output(&draft, i, TENON_DTYPE_FLOAT32, axes);
    reduced_output(&fake, rank, TENON_DTYPE_FLOAT32, axes);
  }
  finish(&draft, rank);
  /* Ten instructions have an error of a few ulp of numbers below 10. Some of them subtract close
   * numbers. */
  check(&fake, &draft, 3e-5);
}

TENON_TEST(random_programs_equal_the_oracle) {
  fake_each_seed(300, random_program);
}

static void softmax(int64_t rows, int64_t columns, int64_t inner, uint64_t axes) {
  fake_t fake = {.seed = 7, .space = {rows, columns, inner}};
  draft_t draft = {0};
  (void)fake_input(&fake, TENON_DTYPE_FLOAT32, 3, fake.space, false, false);
  (void)fake_output(&fake, TENON_DTYPE_FLOAT32, 3, fake.space);
  const uint32_t x = input(&draft, 0, TENON_DTYPE_FLOAT32, TENON_DTYPE_FLOAT32);
  const uint32_t m =
      with_axis(&draft, TENON_OPCODE_REDUCE_MAX, TENON_DTYPE_FLOAT32, x, (int64_t)axes);
  const uint32_t e = f32(&draft, TENON_OPCODE_EXP, f32(&draft, TENON_OPCODE_SUB, x, m), 0);
  const uint32_t s = with_axis(&draft, TENON_OPCODE_SUM, TENON_DTYPE_FLOAT32, e, (int64_t)axes);
  output(&draft, f32(&draft, TENON_OPCODE_DIV, e, s), TENON_DTYPE_FLOAT32, 0);
  finish(&draft, 3);
  check(&fake, &draft, 1e-6);
}

TENON_TEST(softmax_along_any_axis_and_length) {
  softmax(3, 7, 1, 2);
  softmax(5, 128, 3, 2);
  softmax(5, 3, 128, 4);
  softmax(2, 3, 9000, 4);
  softmax(1, 20000, 1, 2);
  softmax(2, 9000, 3, 2);
  softmax(4, 33, 17, 6);
}

TENON_TEST(means_over_pixels_with_channels_last) {
  fake_t fake = {.seed = 3, .space = {2, 49, 300}};
  draft_t draft = {0};
  const int64_t dims[] = {2, 1, 300};
  (void)fake_input(&fake, TENON_DTYPE_FLOAT32, 3, fake.space, false, false);
  (void)fake_output(&fake, TENON_DTYPE_FLOAT32, 3, dims);
  const uint32_t x = input(&draft, 0, TENON_DTYPE_FLOAT32, TENON_DTYPE_FLOAT32);
  output(&draft, with_axis(&draft, TENON_OPCODE_MEAN, TENON_DTYPE_FLOAT32, x, 2),
         TENON_DTYPE_FLOAT32, 2);
  finish(&draft, 3);
  check(&fake, &draft, 1e-6);
}

TENON_TEST(converts_between_types) {
  static const tenon_dtype_t types[] = {TENON_DTYPE_FLOAT32, TENON_DTYPE_FLOAT64, TENON_DTYPE_INT64,
                                        TENON_DTYPE_INT32,   TENON_DTYPE_INT8,    TENON_DTYPE_UINT8,
                                        TENON_DTYPE_BFLOAT16};
  for (size_t from = 0; from < 7; from++) {
    for (size_t to = 0; to < 7; to++) {
      fake_t fake = {.seed = 5, .space = {3, 37}};
      draft_t draft = {0};
      fake_value_t* x = fake_input(&fake, types[from], 2, fake.space, false, false);
      for (int64_t k = 0; k < (int64_t)3 * 37; k++) {
        x->numbers[k] = (double)fake_choice(&fake.seed, 0, 100);
      }
      (void)fake_output(&fake, types[to], 2, fake.space);
      const uint32_t own = types[from] == TENON_DTYPE_BFLOAT16 ? TENON_DTYPE_FLOAT32 : types[from];
      const uint32_t i = input(&draft, 0, types[from], own);
      const uint32_t other = types[to] == TENON_DTYPE_BFLOAT16 ? TENON_DTYPE_FLOAT32 : types[to];
      output(&draft, add(&draft, TENON_OPCODE_CAST, other, i, 0, 0), types[to], 0);
      finish(&draft, 2);
      check(&fake, &draft, 0);
    }
  }
}

TENON_TEST(copies_and_transposes) {
  for (unsigned seed = 1; seed <= 60; seed++) {
    static const tenon_dtype_t types[] = {TENON_DTYPE_FLOAT32, TENON_DTYPE_INT64,
                                          TENON_DTYPE_UINT8};
    fake_t fake = {.seed = seed};
    draft_t draft = {0};
    const uint32_t rank = (uint32_t)fake_choice(&fake.seed, 1, 5);
    const tenon_dtype_t dtype = types[seed % 3];
    random_space(&fake, rank, 9000);
    fake_value_t* x = fake_input(&fake, dtype, rank, fake.space, false, false);
    for (int64_t k = 0; k < fake_count(rank, fake.space); k++) {
      x->numbers[k] = (double)(k % 251);
    }
    (void)fake_output(&fake, dtype, rank, fake.space);
    output(&draft, input(&draft, 0, dtype, dtype), dtype, 0);
    finish(&draft, rank);
    check(&fake, &draft, 0);
  }
}

TENON_TEST(sums_of_nothing_are_neutral) {
  fake_t fake = {.seed = 5, .space = {3, 0, 4}};
  draft_t draft = {0};
  const int64_t dims[] = {3, 1, 4};
  (void)fake_input(&fake, TENON_DTYPE_FLOAT32, 3, fake.space, false, false);
  (void)fake_output(&fake, TENON_DTYPE_FLOAT32, 3, dims);
  const uint32_t x = input(&draft, 0, TENON_DTYPE_FLOAT32, TENON_DTYPE_FLOAT32);
  output(&draft, with_axis(&draft, TENON_OPCODE_SUM, TENON_DTYPE_FLOAT32, x, 2),
         TENON_DTYPE_FLOAT32, 2);
  finish(&draft, 3);
  fake.values[1].numbers[5] = 1;
  check(&fake, &draft, 0);
  EXPECT_TEXT(fake.failure, "");
}
