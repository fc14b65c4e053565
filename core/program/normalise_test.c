/* The normal form, by what it makes of texts. */
#include "core/program/normalise.h"
#include "core/base/allocator.h"
#include "core/language/test_program.h"
#include "core/program/program_check.h"
#include "core/program/program_text.h"

static const test_inputs_t plain = {{"a", "c", "e"}, {"b s 4", "b s 4", "4"}, TENON_DTYPE_FLOAT32};

static void expect_normal(const char* source, const test_inputs_t* inputs, const char* expected,
                          int line) {
  test_scope_t t;
  tenon__expression_t raw = {0};
  tenon__expression_t once = {0};
  tenon__expression_t twice = {0};
  tenon__inferred_shape_t shape = {0};
  REQUIRE(test_begin(&t, tenon__allocator_default()));
  if (test_build(&t, source, inputs, true, &raw, &shape) != TENON_OK ||
      tenon__expression_normalise(&raw, &t.arena, &once) != TENON_OK ||
      tenon__expression_normalise(&once, &t.arena, &twice) != TENON_OK) {
    tenon__test_fail(__FILE__, line, "%s cannot be built", source);
  } else {
    const char* text = tenon__program_text(&once.program, 0, &t.arena);
    const size_t size = once.program.instruction_count * sizeof(tenon_instruction_t);
    if (strcmp(text, expected) != 0) {
      tenon__test_fail(__FILE__, line, "%s gives %s, expected %s", source, text, expected);
    }
    if (once.program.instruction_count != twice.program.instruction_count ||
        memcmp(once.program.instructions, twice.program.instructions, size) != 0) {
      tenon__test_fail(__FILE__, line, "%s is not stable", source);
    }
    EXPECT_STATUS(tenon__program_check(&once.program, NULL), TENON_OK);
  }
  test_end(&t);
}

#define EXPECT_NORMAL(source, expected) expect_normal(source, &plain, expected, __LINE__)
#define EXPECT_NORMAL_OF(inputs, source, expected) expect_normal(source, inputs, expected, __LINE__)

TENON_TEST(commutative_operands_have_an_order) {
  EXPECT_NORMAL("y = c + a", "in0 + in1");
  EXPECT_NORMAL("y = e + (c * a)", "in0 * in1 + in2");
  EXPECT_NORMAL("y = sigmoid(a) * a", "in0 * sigmoid(in0)");
  EXPECT_NORMAL("y = 2 * a + 3", "in0 * 2 + 3");
  EXPECT_NORMAL("y = max(0, a)", "max(in0, 0)");
  EXPECT_NORMAL("y = a > c ? a : c", "in1 < in0 ? in0 : in1");
  EXPECT_NORMAL("y = a >= 0 ? a : c", "0 <= in0 ? in0 : in1");
}

TENON_TEST(what_is_needless_goes) {
  EXPECT_NORMAL("y = a * 1", "in0");
  EXPECT_NORMAL("y = a / 1 - 0", "in0");
  EXPECT_NORMAL("y = a + 0", "in0 + 0");
  EXPECT_NORMAL("y = - -a", "in0");
  EXPECT_NORMAL("y = a * -1 + c", "in1 - in0");
  EXPECT_NORMAL("y = a - 2", "in0 + -2");
  EXPECT_NORMAL("y = a / 4", "in0 * 0.25");
  EXPECT_NORMAL("y = a / 3", "in0 / 3");
  EXPECT_NORMAL("y = 1 / a", "recip(in0)");
  EXPECT_NORMAL("y = pow(a, 2)", "in0 * in0");
  EXPECT_NORMAL("y = max(max(a, 0), -1)", "max(in0, 0)");
  EXPECT_NORMAL("y = min(a, a)", "in0");
  EXPECT_NORMAL("y = cast(cast(a, f64), f32)", "in0");
  EXPECT_NORMAL("y = cast(cast(a, i32), f32)", "f32(i32(in0))");
  EXPECT_NORMAL("y = !(a == c) ? a : c", "in0 != in1 ? in0 : in1");
  EXPECT_NORMAL("y = !(a < c) ? a : c", "in0 < in1 ? in1 : in0");
  EXPECT_NORMAL("y = abs(-a) + floor(round(c))", "abs(in0) + round(in1)");
  EXPECT_NORMAL("let z = exp(c); y = a", "in0");
}

TENON_TEST(sigmoid_and_softplus_are_recognised) {
  EXPECT_NORMAL("y = 1 / (1 + exp(-a))", "sigmoid(in0)");
  EXPECT_NORMAL("y = recip(exp(a * -1) + 1)", "sigmoid(in0)");
  EXPECT_NORMAL("y = log(1 + exp(a))", "softplus(in0)");
  EXPECT_NORMAL("y = log1p(exp(a))", "softplus(in0)");
  EXPECT_NORMAL("y = a / (1 + exp(-a))", "in0 / (exp(-in0) + 1)");
}

TENON_TEST(integers_and_bools_simplify_more) {
  static const test_inputs_t integers = {{"a", "c"}, {"4", "4"}, TENON_DTYPE_INT32};
  static const test_inputs_t bools = {{"a", "c"}, {"4", "4"}, TENON_DTYPE_BOOL};
  EXPECT_NORMAL_OF(&integers, "y = a + 0 + (c - c) + a * 0", "in0");
  EXPECT_NORMAL_OF(&integers, "y = a | 0", "in0");
  EXPECT_NORMAL_OF(&integers, "y = shl(a ^ a, 3) + c", "in1");
  EXPECT_NORMAL_OF(&integers, "y = !(a < c) ? 1 : 2", "in1 <= in0 ? 1 : 2");
  EXPECT_NORMAL_OF(&integers, "y = cast(cast(a, i64), i16) == 3 ? a : c",
                   "i16(in0) == 3 ? in0 : in1");
  EXPECT_NORMAL_OF(&bools, "y = a && a || !!c", "in0 | in1");
  EXPECT_NORMAL_OF(&bools, "y = a ^ true", "not(in0)");
  EXPECT_NORMAL_OF(&bools, "y = cast(cast(a, f32), bool)", "in0");
}

TENON_TEST(constants_fold_as_they_are_computed) {
  EXPECT_NORMAL("y = a * (cast(2, f32) / cast(3, f32))", "in0 * 0.6666667");
  EXPECT_NORMAL("y = a + exp(cast(1, f32))", "in0 + 2.7182817");
  EXPECT_NORMAL("y = select(cast(1, f32) < cast(2, f32), a, c)", "in0");
}
