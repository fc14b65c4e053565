/* Contents through expressions: the arithmetic that models do on shapes. */
#include "core/program/contents.h"
#include "core/base/test.h"
#include "core/language/instantiate.h"
#include "core/language/test_scope.h"

static tenon_status_t contents_of(test_scope_t* t, const char* source, const tenon_dim_t** out,
                                  uint32_t* out_count) {
  tenon__text_t text = {0};
  tenon__expression_t e = {0};
  tenon__inferred_shape_t shape = {0};
  tenon__type_t operands[8];
  tenon__type_t made = {0};
  tenon_status_t status = tenon__text_parse(&t->arena, source, NULL, &text);
  if (status == TENON_OK) {
    const tenon__node_text_t node_text = {&t->scope, &text, &t->arena, NULL};
    status = tenon__expression_instantiate(&node_text, NULL, &e, &shape);
  }
  if (status != TENON_OK) {
    return status;
  }
  for (uint32_t k = 0; k < e.program.operand_count; ++k) {
    operands[k] = t->input_values[e.program.operands[k].index][0].type;
  }
  status = tenon__program_contents(t->scope.pool, &e, 0, operands, &t->arena, &made);
  *out = made.contents;
  *out_count = made.content_count;
  return status;
}

static void expect_contents(test_scope_t* t, const char* source, const char* expected, int line) {
  const tenon_dim_t* contents = NULL;
  uint32_t count = 0;
  const tenon_status_t status = contents_of(t, source, &contents, &count);
  const char* text = contents == NULL ? "unknown" : test_list_text(t, contents, count);
  if (status != TENON_OK || strcmp(text, expected) != 0) {
    tenon__test_fail(__FILE__, line, "%s gives %s, expected %s", source, text, expected);
  }
}

#define EXPECT_CONTENTS(source, expected) expect_contents(&t, source, expected, __LINE__)

TENON_TEST(integers) {
  test_scope_t t;
  REQUIRE(test_begin(&t, tenon__allocator_default()));
  test_contents(&t, "x", 1, "b s -1 64");
  test_contents(&t, "n", 0, "p");
  test_input(&t, "u", TENON_DTYPE_INT64, "4");
  test_output(&t, "y", TENON_DTYPE_INT64, 1);
  EXPECT_CONTENTS("y = x * 2 + n", "2*b + p, 2*s + p, p - 2, p + 128");
  EXPECT_CONTENTS("y = x == -1 ? n : x", "b, s, p, 64");
  EXPECT_CONTENTS("y = x / 2", "b/2, s/2, -1, 32");
  EXPECT_CONTENTS("y = div(x, 2)", "b/2, s/2, 0, 32");
  EXPECT_CONTENTS("y = max(x, 1)", "b, s, 1, 64");
  EXPECT_CONTENTS("y = prod(x, [0])", "-64*b*s");
  EXPECT_CONTENTS("y = sum(x, [0]) - x", "s + 63, b + 63, b + s + 64, b + s - 1");
  EXPECT_CONTENTS("y = cast(cast(x, i32), i64)", "b, s, -1, 64");
  EXPECT_CONTENTS("y = cast(cast(x, i8), i64)", "unknown");
  EXPECT_CONTENTS("y = cast(x > 5, i64)", "5 < b, 5 < s, 0, 1");
  EXPECT_CONTENTS("y = cast(x > 0 && !(x == 64), i64)", "(b == 64) == 0, (s == 64) == 0, 0, 0");
  EXPECT_CONTENTS("y = x + index(0) * size(0)", "b, s + 4, 7, 76");
  EXPECT_CONTENTS("y = x + u", "unknown");
  EXPECT_CONTENTS("y = abs(x)", "b, s, 1, 64");
  EXPECT_CONTENTS("y = max(x, [0])", "max(b, s, 64)");
  test_end(&t);
}

TENON_TEST(narrow_integers_wrap) {
  test_scope_t t;
  REQUIRE(test_begin(&t, tenon__allocator_default()));
  test_contents(&t, "x", 1, "100 100");
  test_output(&t, "y", TENON_DTYPE_INT64, 1);
  EXPECT_CONTENTS("y = cast(cast(x, i8) + cast(x, i8), i64)", "-56, -56");
  EXPECT_CONTENTS("y = cast(sum(cast(x, i8), [0]), i64)", "-56");
  EXPECT_CONTENTS("y = cast(prod(cast(x, u8), [0]), i64)", "16");
  test_end(&t);
}

TENON_TEST(unsigned_integers_that_contents_do_not_hold) {
  test_scope_t t;
  REQUIRE(test_begin(&t, tenon__allocator_default()));
  test_contents(&t, "x", 1, "b 2");
  test_output(&t, "y", TENON_DTYPE_UINT64, 1);
  EXPECT_CONTENTS("y = cast(x, u64) + 1", "b + 1, 3");
  EXPECT_CONTENTS("y = cast(x, u64) - 2", "unknown"); /* b may be 1 */
  EXPECT_CONTENTS("y = cast(x * 0, u64) - 1", "unknown");
  EXPECT_CONTENTS("y = shl(cast(x * 0 + 1, u64), 62)", "4611686018427387904, 4611686018427387904");
  EXPECT_CONTENTS("y = shl(cast(x * 0 + 1, u64), 63)", "unknown");
  test_end(&t);
}

/* An open extent may be beyond what half precision holds. */
TENON_TEST(floats_that_would_be_rounded) {
  test_scope_t t;
  REQUIRE(test_begin(&t, tenon__allocator_default()));
  test_contents(&t, "x", 1, "b 3");
  test_output(&t, "y", TENON_DTYPE_FLOAT16, 1);
  EXPECT_CONTENTS("y = cast(x, f16)", "unknown");
  EXPECT_CONTENTS("y = cast(x % 2048, f16)", "b%2048, 3");
  EXPECT_CONTENTS("y = cast(x * 0 + 2049, f16)", "2048, 2048");
  test_end(&t);
}

TENON_TEST(floats_that_stay_exact) {
  test_scope_t t;
  REQUIRE(test_begin(&t, tenon__allocator_default()));
  test_contents(&t, "x", 1, "b s 7");
  test_output(&t, "y", TENON_DTYPE_INT64, 1);
  EXPECT_CONTENTS("y = cast(cast(x, f32) * 2, i64)", "2*b, 2*s, 14");
  EXPECT_CONTENTS("y = cast(floor(cast(x, f32) * 1.5), i64)", "b + b/2, s + s/2, 10");
  EXPECT_CONTENTS("y = cast(ceil(cast(x, f32) / 4), i64)", "(b + 3)/4, (s + 3)/4, 2");
  EXPECT_CONTENTS("y = cast(cast(x, f32) / 2 * 2, i64)", "b, s, 7");
  EXPECT_CONTENTS("y = cast(floor(cast(x, f32) * 0.7), i64)", "unknown");
  EXPECT_CONTENTS("y = cast(mean(cast(x * 3, f32), [0]), i64)", "b + s + 7");
  EXPECT_CONTENTS("y = cast(round(cast(x, f32) * 0.5), i64)", "unknown");
  EXPECT_CONTENTS("y = cast(cast(x * 4, f32) / cast(x, f32), i64)", "4, 4, 4");
  test_end(&t);
}

static bool compute(tenon_allocator_t allocator, void* user) {
  (void)user;
  test_scope_t t;
  const tenon_dim_t* contents = NULL;
  uint32_t count = 0;
  bool fine = test_begin(&t, allocator);
  if (fine) {
    test_contents(&t, "x", 1, "b s 64");
    test_output(&t, "y", TENON_DTYPE_INT64, 1);
    fine = t.fine &&
           contents_of(&t, "y = prod(x, [0]) / x + index(0)", &contents, &count) == TENON_OK &&
           contents != NULL;
  }
  test_end(&t);
  return fine;
}

TENON_TEST(survives_failing_allocations) {
  tenon__test_each_allocation(compute, NULL);
}
